//! A server's own page for a tool (MCP Apps), in a real window of its own: it is told what its tool was asked and answered,
//! calls what is its own, reaches nothing else, and freezes nothing but itself.

use std::sync::atomic::Ordering;

use satchel_tests::{Home, eventually, program};
use serde_json::{Value, json};

use crate::{app::until_offered, desktop::Desktop, hostile::visitors, page::Page, watching::installed};

const PAGE: &str = "ui://panel/main";
const CLOSE: &str = "[data-close-page]";

/// A page that tries to reach this port.
fn attacker(port: u16) -> String {
    include_str!("app_page.html").replace("HOST", &port.to_string())
}

/// A page that is written with the official SDK for apps, as its own bundle has it.
fn official() -> String {
    let sdk = installed("node_modules/@modelcontextprotocol/ext-apps/dist/src/app-with-deps.js");
    let sdk =
        json!(std::fs::read_to_string(sdk).expect("the SDK is text")).to_string().replace('<', "\\u003c");
    format!(
        r#"<!doctype html><p id=result>waiting</p><p id=called></p><script type="module">
        const {{ App }} = await import(URL.createObjectURL(new Blob([{sdk}], {{ type: "text/javascript" }})));
        const app = new App({{ name: "official", version: "1" }}, {{}});
        app.ontoolresult = (result) => (document.querySelector("p").textContent = result.content[0].text);
        app.onteardown = async () => ({{}});
        await app.connect();
        const {{ content }} = await app.callServerTool({{ name: "beside", arguments: {{}} }});
        document.querySelectorAll("p")[1].textContent = `${{content[0].text}} ${{app.getHostVersion().name}}`;
        </script>"#
    )
}

/// A page that does this once it knows the tool's result, and answers nothing any more.
fn told(then: &str) -> String {
    format!(
        "<!doctype html><h1>page</h1><script>
        const say = (message) => parent.postMessage({{ jsonrpc: '2.0', ...message }}, '*');
        addEventListener('message', ({{ data }}) => {{
            if (data.id === 1) say({{ method: 'ui/notifications/initialized' }});
            if (data.method === 'ui/notifications/tool-result') {{ {then} }}
        }});
        say({{ id: 1, method: 'ui/initialize', params: {{}} }});
        </script>"
    )
}

/// A server with this page.
fn server(home: &Home, name: &str, port: u16, html: &str) -> Value {
    let tool = |name: &str, ui: Value| {
        json!({ "name": name, "description": "Shows", "inputSchema": { "type": "object" },
                "annotations": { "readOnlyHint": true }, "_meta": { "ui": ui } })
    };
    let csp = json!({ "connectDomains": [format!("http://127.0.0.1:{port}"), "https://api.example.com"] });
    let content = json!({ "uri": PAGE, "mimeType": "text/html;profile=mcp-app", "text": html, "_meta": { "ui": { "csp": csp } } });
    let said = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
    let answers = json!([
        { "method": "initialize", "key": null, "result": {
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {}, "resources": {} },
            "serverInfo": { "name": "panel", "version": "1" } } },
        { "method": "tools/list", "key": null, "result": { "tools": [
            tool("show", json!({ "resourceUri": PAGE })), tool("beside", json!({ "visibility": ["app"] })),
            tool("models_only", json!({ "visibility": ["model"] })) ] } },
        { "method": "resources/list", "key": null, "result": { "resources": [{ "uri": "note://1", "name": "Note" }] } },
        { "method": "resources/read", "key": PAGE, "result": { "contents": [content] } },
        { "method": "resources/read", "key": "note://1", "result": { "contents": [{ "uri": "note://1", "text": "noted" }] } },
        { "method": "tools/call", "key": "show", "result": said("shown") },
        { "method": "tools/call", "key": "beside", "result": said("beside it") },
        { "method": "tools/call", "key": "models_only", "result": said("never") },
    ]);
    let file = home.file(&format!("{name}.json"));
    std::fs::write(&file, answers.to_string()).expect("the home can be written to");
    json!({ "command": program("verbatim-mcp-server"), "args": [file] })
}

/// The desktop with the window of the page, and the driver in it.
async fn shown(port: u16, html: &str) -> (Desktop, Page) {
    let home = Home::empty();
    let entry = server(&home, "panel", port, html);
    home.write_config(&json!({ "mcpServers": { "panel": entry, "toolbox": { "command": "satchel", "args": ["toolbox"] } } }));
    let desktop = Desktop::around(home).await;
    let page = desktop.open_window(&[]).await;
    until_offered(&desktop.client("editor").await, "panel", true).await;
    show(&page, "panel").await;
    page.to_own_page().await;
    page.find("iframe[data-page]").await;
    (desktop, page)
}

/// Runs the tool that has the page.
async fn show(page: &Page, server: &str) {
    page.run(&format!("location.hash = '#/servers/{server}/tools/show'")).await;
    page.click("[data-run]").await;
    page.find("[data-page=shown]").await;
}

#[tokio::test]
async fn a_page_is_shown_with_its_call_and_reaches_only_its_own_server() {
    let (desktop, page) = shown(9, &attacker(9)).await;
    page.says("header", "Page of panel").await;
    page.to_main().await;
    page.says(
        ".reach",
        "It can reach https://api.example.com and nothing else. Not allowed: http://127.0.0.1:9",
    )
    .await;
    page.to_own_page().await;
    page.enter_frame_at("iframe[data-page]").await;
    page.says("#result", "shown {}").await;
    page.run("press()").await;
    page.says("#called", "-32601").await;
    let said = page.run("return called.textContent.split('\\n')").await;
    for (line, part) in [
        (0, r#""text":"beside it""#),
        (1, "is for models only"),
        (2, "-32000"),
        (3, r#""text":"noted""#),
        (4, "outside of any conversation"),
        (5, r#"{"mode":"inline"}"#),
        (6, "-32601"),
    ] {
        assert!(said[line].as_str().is_some_and(|text| text.contains(part)), "{line}: {said:#}");
    }
    page.run("link('https://example.com/docs')").await;
    page.out_of_frame().await;
    eventually("the frame is as high as the page says", async || {
        let height = page.run("return document.querySelector('iframe[data-page]').offsetHeight").await;
        (333..=334).contains(&height.as_u64()?).then_some(())
    })
    .await;
    // A person is asked in our own window, where the page cannot draw.
    page.to_main().await;
    page.says("[role=group]", "https://example.com/docs").await;
    page.click("[role=group] .tail > button").await;
    page.to_own_page().await;
    page.enter_frame_at("iframe[data-page]").await;
    page.says("#asked", "the person did not open it").await;
    page.to_main().await;
    // Its calls are calls as any other.
    eventually("the call of the page is written down", async || {
        let history = desktop.home.satchel(&["history", "--json"]).await.json();
        let tools: Vec<&str> =
            history["calls"].as_array()?.iter().filter_map(|call| call["tool"].as_str()).collect();
        (tools.contains(&"beside") && tools.contains(&"show") && !tools.contains(&"models_only"))
            .then_some(())
    })
    .await;
    for address in ["https://other.example/", "file:///etc/passwd", "https://example.community/"] {
        let asked = json!({ "id": "x", "address": address });
        assert_eq!(page.invoke("open_page_link", asked).await.expect_err("refused")["code"], "not_opened");
    }
    page.close().await;
}

#[tokio::test]
async fn a_page_reaches_neither_the_window_nor_the_network_nor_this_program() {
    let (port, visitors) = visitors().await;
    let (desktop, page) = shown(port, &attacker(port)).await;
    page.enter_frame_at("iframe[data-page]").await;
    page.says("#result", "shown").await;
    let found = page.run_until_done("attack()").await;
    let reached: Vec<_> =
        found.as_object().expect("a report").iter().filter(|(_, what)| !what.is_null()).collect();
    assert!(found.as_object().is_some_and(|found| found.len() > 15) && reached.is_empty(), "{found:#}");
    assert_eq!(visitors.load(Ordering::Relaxed), 0, "nobody was fetched from");
    page.out_of_frame().await;
    let here = "return [location.protocol, document.querySelectorAll('iframe').length]";
    assert_eq!(page.run(here).await, json!(["tauri:", 1]));
    // Even our part of its window may only pass messages on.
    for command in
        ["request", "hub_state", "show_page", "tell_page", "raise", "quit", "copy", "plugin:event|emit"]
    {
        let denied = page.invoke(command, json!({})).await.expect_err("this window has no such right");
        assert!(denied.to_string().contains("not allowed"), "{command}: {denied}");
    }
    // The program is still there, and its windows are its own.
    let client = desktop.client("other").await;
    until_offered(&client, "toolbox", true).await;
    // What was served once is served to nobody again.
    let again = page.run("return document.querySelector('iframe[data-page]').src").await;
    let again = format!(
        "const frame = document.createElement('iframe'); frame.id = 'again'; frame.src = {again}; document.body.append(frame)"
    );
    page.run(&again).await;
    page.enter_frame_at("#again").await;
    page.settled().await;
    assert_eq!(page.run("return document.body.innerText.trim()").await, "");
    page.to_main().await;
    assert_eq!(page.run(here).await, json!(["tauri:", 0]));
    page.says("main h2", "show").await;
    page.close().await;
}

#[tokio::test]
async fn a_page_written_with_the_official_sdk_works() {
    let (_desktop, page) = shown(9, &official()).await;
    page.enter_frame_at("iframe[data-page]").await;
    page.says("#result", "shown").await;
    page.says("#called", "beside it Satchel").await;
    page.to_main().await;
    page.says("main ol", "Called beside").await;
    page.click(CLOSE).await;
    page.find("[data-page=closed]").await;
    page.close().await;
}

#[tokio::test]
async fn a_page_that_never_ends_freezes_nothing_and_can_be_closed() {
    let pages = [
        ("loads", "<!doctype html><h1>page</h1><script>for (;;);</script>".to_owned()),
        ("told", told("for (;;);")),
        // It never stops talking.
        (
            "talks",
            told(
                "const go = () => { for (let at = 0; at < 2000; at++) say({ method: 'notifications/message', \
                 params: { level: 'info', data: 'x'.repeat(1000) } }); setTimeout(go); }; go();",
            ),
        ),
    ];
    let home = Home::empty();
    let servers: serde_json::Map<String, Value> =
        pages.iter().map(|(name, html)| ((*name).to_owned(), server(&home, name, 9, html))).collect();
    home.write_config(&json!({ "mcpServers": servers }));
    let desktop = Desktop::around(home).await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    for (name, _) in &pages {
        until_offered(&client, name, true).await;
        show(&page, name).await;
        eventually("the page has a process of its own", async || {
            (page.page_processes().len() > 1).then_some(())
        })
        .await;
        // The window takes clicks and draws.
        page.click("main details.schemas > summary").await;
        page.settled().await;
        assert_eq!(page.run("return 1 + 1").await, json!(2), "{name}");
        page.click(CLOSE).await;
        page.find("[data-page=closed]").await;
        // WebKit waits for it, but not for ever.
        eventually("its process is ended", async || (page.page_processes().len() == 1).then_some(())).await;
    }
    // Going elsewhere closes it, too.
    show(&page, "loads").await;
    page.run("location.hash = '#/servers'").await;
    eventually("its process is ended", async || (page.page_processes().len() == 1).then_some(())).await;
    page.find("[data-server=loads]").await;
    page.close().await;
}
