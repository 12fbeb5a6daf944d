//! Whatever servers write, in every view of the real window: nothing of it runs, leads anywhere, or fetches anything.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use satchel_tests::{Client, Home, eventually, program, repository};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{app::until_offered, desktop::Desktop, page::Page};

/// Modes of the hostile fixture that write into views.
const MODES: [&str; 6] =
    ["poison", "poison_fields", "poison_instructions", "poison_output", "shadow_names", "bad_tool_names"];
const VIEWS: [&str; 12] = [
    "/servers",
    "/catalog",
    "/activity",
    "/savings",
    "/savings/server",
    "/savings/tool",
    "/clients",
    "/settings",
    "/welcome/1",
    "/welcome/2",
    "/welcome/3",
    "/no such place",
];

/// A server of the hostile fixtures.
pub(crate) fn chaos(mode: &str) -> Value {
    let file = repository().join("tests/chaos/fixtures/chaos_server.py");
    json!({ "command": "python3", "args": [file, "--mode", mode, "--era", "legacy"] })
}

/// Counts connections.
pub(crate) async fn visitors() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let port = listener.local_addr().expect("a listener has an address").port();
    let count = Arc::new(AtomicUsize::new(0));
    let counting = count.clone();
    #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counting.fetch_add(1, Ordering::Relaxed);
        }
    });
    (port, count)
}

/// Each would run, navigate or load something if it were treated as more than text.
pub(crate) fn strings(port: u16) -> Vec<String> {
    let (host, run) = (format!("http://127.0.0.1:{port}"), "top.ran=(top.ran||0)+1");
    vec![
        format!("<script>{run}</script>"),
        format!("<img src=x onerror=\"{run}\">"),
        format!("<img src=\"{host}/a.png\">"),
        format!("<svg onload=\"{run}\"><image href=\"{host}/b\"/></svg>"),
        format!("<iframe src=\"{host}/c\" srcdoc=\"<script>{run}</script>\"></iframe>"),
        format!("<meta http-equiv=refresh content=\"0;url={host}/d\">"),
        format!("<link rel=stylesheet href=\"{host}/e.css\"><style>@import '{host}/f.css';</style>"),
        format!("<a href=\"javascript:{run}\" autofocus onfocus=\"{run}\">click</a>"),
        format!("<form action=\"{host}/g\"><button autofocus>go</button></form><base href=\"{host}/\">"),
        format!(
            "<object data=\"{host}/h\"></object><embed src=\"{host}/i\"><video src=\"{host}/j\" autoplay></video>"
        ),
        format!("![x]({host}/k.png) [click](javascript:{run})"),
        format!("javascript:{run}//{host}"),
        format!(
            "{{@html `<img src=x onerror={run}>`}} ${{{run}}} {{{{constructor.constructor('{run}')()}}}}"
        ),
        format!("\"'><details open ontoggle=\"{run}\"><input autofocus onfocus=\"{run}\">"),
        format!("data:text/html,<script>{run}</script>"),
        format!("\u{1b}]8;;{host}/l\u{7}link\u{1b}]8;;\u{7}"),
    ]
}

/// A server whose texts are all such strings.
fn hostile(home: &Home, port: u16) -> Value {
    let strings = strings(port);
    let all = strings.join(" ");
    let icons: Vec<Value> = strings
        .iter()
        .map(|src| json!({ "src": src, "mimeType": "image/svg+xml" }))
        .chain([json!({ "src": format!("http://127.0.0.1:{port}/icon.png") })])
        .collect();
    let schema = |text: &str| json!({ "type": "object", "properties": { text: { "type": "string", "title": text, "description": text, "enum": [text], "default": text } } });
    let tools: Vec<Value> = strings
        .iter()
        .enumerate()
        .map(|(at, text)| {
            json!({
                "name": format!("tool_{at}"), "title": text, "description": text, "icons": icons,
                "annotations": { "title": text, "readOnlyHint": true }, "inputSchema": schema(text),
            })
        })
        .chain([json!({ "name": "fails", "description": all, "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } })])
        .chain(strings.iter().map(|text| json!({ "name": text, "description": "d", "inputSchema": { "type": "object" } })))
        .collect();
    let prompts: Vec<Value> = strings.iter().enumerate().map(|(at, text)| json!({ "name": format!("p{at}"), "title": text, "description": text, "icons": icons })).collect();
    let resources: Vec<Value> = strings.iter().map(|text| json!({ "uri": format!("x://{text}"), "name": text, "title": text, "description": text, "icons": icons })).collect();
    let result = json!({ "content": [{ "type": "text", "text": all }, { "type": "image", "data": all, "mimeType": all }, { "type": "resource_link", "uri": strings[11], "name": all }] });
    let mut answers = vec![
        json!({ "method": "initialize", "key": null, "result": {
            "protocolVersion": "2025-11-25", "instructions": all,
            "capabilities": { "tools": {}, "prompts": {}, "resources": {} },
            "serverInfo": { "name": all, "title": all, "version": all, "icons": icons, "websiteUrl": strings[11] },
        } }),
        json!({ "method": "tools/list", "key": null, "result": { "tools": tools } }),
        json!({ "method": "prompts/list", "key": null, "result": { "prompts": prompts } }),
        json!({ "method": "resources/list", "key": null, "result": { "resources": resources } }),
        json!({ "method": "tools/call", "key": "fails", "error": { "code": -1, "message": all, "data": all } }),
    ];
    answers.extend(
        (0..strings.len())
            .map(|at| json!({ "method": "tools/call", "key": format!("tool_{at}"), "result": result })),
    );
    let file = home.file("hostile.json");
    std::fs::write(&file, json!(answers).to_string()).expect("the home can be written to");
    json!({ "command": program("verbatim-mcp-server"), "args": [file], "keepCalls": true })
}

/// Installs detectors for anything that runs or navigates.
pub(crate) async fn watch(page: &Page) {
    page.run(
        "window.ran = 0; window.stopped = []; window.asked = []; \
         addEventListener('securitypolicyviolation', (event) => window.stopped.push(event.effectiveDirective + ' ' + event.blockedURI)); \
         for (const name of ['alert', 'confirm', 'prompt', 'open']) window[name] = () => void window.asked.push(name); \
         window.here = location.origin;",
    )
    .await;
}

pub(crate) async fn nothing_happened(page: &Page, view: &str) {
    let seen = page
        .run(
            "const ours = (image) => !image.matches('[onerror]') && !/^http:|\\/x$/.test(image.getAttribute('src')); \
             const planted = [...document.querySelectorAll('iframe, object, embed, video, base, meta[http-equiv=refresh]'), \
                              ...[...document.images].filter((image) => !ours(image))]; \
             return [window.ran, window.stopped, window.asked, window.here === location.origin, planted.length]",
        )
        .await;
    assert_eq!(seen, json!([0, [], [], true, 0]), "{view}");
}

pub(crate) async fn visit(page: &Page, view: &str) {
    page.run(&format!("location.hash = {}", json!(format!("#{view}")))).await;
    page.settled().await;
    // Opens everything that can be opened.
    page.run("document.querySelectorAll('main details').forEach((one) => (one.open = true))").await;
    page.settled().await;
    nothing_happened(page, view).await;
}

pub(crate) async fn call(client: &Client, tool: &str) {
    // The result does not matter here; the call must be visible in the window.
    let _ = tokio::time::timeout(std::time::Duration::from_secs(60), client.execute(tool, json!({}))).await;
}

#[tokio::test]
async fn nothing_that_servers_write_runs_leads_anywhere_or_fetches_anything_in_any_view() {
    let (port, visitors) = visitors().await;
    let home = Home::empty();
    let mut servers = serde_json::Map::new();
    servers.insert("hostile".into(), hostile(&home, port));
    for mode in MODES {
        servers.insert(mode.replace('_', "-"), chaos(mode));
    }
    // Its error is such a text, too, and so is its output.
    let noise = format!("printf '%s\\n' '{}' >&2; exit 1", strings(port).join(" ").replace('\'', "'\\''"));
    servers.insert("breaks".into(), json!({ "command": "sh", "args": ["-c", noise], "startup": "eager" }));
    servers.insert(format!("<img src=x onerror={}>", "top.ran=9"), json!({ "command": strings(port)[0] }));
    home.write_config(&json!({ "mcpServers": servers }));
    let desktop = Desktop::around(home).await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    watch(&page).await;
    eventually("what all of them offer is known", async || {
        let status = desktop.home.satchel(&["status", "--json"]).await.json();
        let known = status["servers"].as_array()?.iter().filter(|server| server["tools"].is_u64()).count();
        (known > MODES.len()).then_some(())
    })
    .await;
    let count = strings(port).len();
    for tool in (0..count)
        .map(|at| format!("hostile:tool_{at}"))
        .chain(["hostile:fails".into(), "poison-output:echo".into()])
    {
        call(&client, &tool).await;
    }

    let names: Vec<String> = servers.keys().map(|name| percent(name)).collect();
    let tabs = ["", "/tools", "/log", "/setup"];
    let panes = names.iter().flat_map(|name| tabs.map(|tab| format!("/servers/{name}{tab}")));
    let calls = eventually("the calls are written down", async || {
        let history = desktop.home.satchel(&["history", "--json"]).await.json();
        let calls = history["calls"].as_array()?.iter();
        let calls: Vec<String> = calls.map(|call| format!("/activity/{}", call["id"])).collect();
        (calls.len() > count).then_some(calls)
    })
    .await;
    let mut seen = 0;
    for view in VIEWS.map(ToOwned::to_owned).into_iter().chain(panes).chain(calls) {
        visit(&page, &view).await;
        seen += 1;
    }
    // Tools have pages, and are tried: their results are such text, too.
    for tool in ["hostile/tools/tool_3", "hostile/tools/tool_10", "poison-output/tools/echo"] {
        visit(&page, &format!("/servers/{tool}")).await;
    }
    page.write("main .form .box", &strings(port)[0]).await;
    page.click("[data-run]").await;
    page.find("[data-out]").await;
    nothing_happened(&page, "a result").await;
    page.run("dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))").await;
    page.write("[role=dialog] input, dialog input", "tool_").await;
    page.settled().await;
    nothing_happened(&page, "the palette").await;
    let text = page.run("location.hash = '#/servers/hostile/tools'; return ''").await;
    assert_eq!(text, "");
    page.says("main", "onerror").await;
    assert_eq!(visitors.load(Ordering::Relaxed), 0, "nobody was fetched from in {seen} views");

    // The detectors work: planted as more than text, the same strings are blocked, and detected.
    let planted =
        format!("document.body.insertAdjacentHTML('beforeend', {})", json!(strings(port).join(" ")));
    page.run(&planted).await;
    eventually("what is planted is noticed", async || {
        let stopped = page.run("return window.stopped.length").await;
        (stopped.as_u64()? > 3).then_some(())
    })
    .await;
    assert_eq!(page.run("return window.ran").await, 0, "and even then it does not run");
    assert_eq!(visitors.load(Ordering::Relaxed), 0);
    page.close().await;
}

pub(crate) fn percent(name: &str) -> String {
    name.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[tokio::test]
async fn a_question_is_text_too_whatever_is_in_it() {
    let (port, visitors) = visitors().await;
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "asks": satchel_tests::fixture(satchel_tests::LEGACY) } }));
    let desktop = Desktop::around(home).await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "asks", true).await;
    let message = strings(port).join("\n");
    let calling = client.clone();
    #[expect(clippy::disallowed_methods, reason = "the test waits for it")]
    let called =
        tokio::spawn(
            async move { calling.execute("asks:test_elicitation", json!({ "message": message })).await },
        );
    page.to_questions().await;
    watch(&page).await;
    page.says("[role=alertdialog] blockquote", "onerror").await;
    page.says("[role=alertdialog] h1", "asks asks you something").await;
    page.settled().await;
    nothing_happened(&page, "the window of questions").await;
    assert_eq!(visitors.load(Ordering::Relaxed), 0);
    page.click("[role=alertdialog] [data-no]").await;
    called.await.expect("the call ends");
    page.to_first_and_only().await;
    page.close().await;
}
