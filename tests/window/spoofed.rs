//! A hundred and fifty texts that want to be more than text, or other text than they are, wherever servers are quoted: as
//! names, tools, descriptions, logs, errors, commands and questions. Few views, all texts in each.

use std::sync::atomic::Ordering;

use satchel_core::model::ServerName;
use satchel_tests::{Home, LEGACY, eventually, fixture, program};
use serde_json::{Value, json};

use crate::{
    app::until_offered,
    asking,
    desktop::Desktop,
    hostile::{call, nothing_happened, percent, strings, visit, visitors, watch},
    page::Page,
};

const TEXTS: usize = 150;

/// Each begins with a unique mark, to find it again.
fn texts(port: u16) -> Vec<String> {
    let (host, run) = (format!("http://127.0.0.1:{port}"), "top.ran=(top.ran||0)+1");
    let mut texts = strings(port);
    for tag in
        ["a", "audio", "body", "details", "div", "form", "input", "marquee", "math", "p", "svg", "textarea"]
    {
        for event in ["onerror", "onfocus", "onpointerover", "onanimationstart"] {
            texts.push(format!("<{tag} src=x tabindex=0 autofocus {event}={run}>x</{tag}>"));
        }
    }
    for scheme in [
        "JaVaScRiPt:",
        "java\tscript:",
        "\u{1}javascript:",
        "vbscript:",
        "blob:",
        "tauri://localhost/",
        "ipc://localhost/",
        "file:///",
    ] {
        texts.push(format!("[press]({scheme}{run}) {scheme}{run}"));
        texts.push(format!("<a href='{scheme}{run}' target=_blank>press</a>"));
    }
    // Bidirectional, invisible and joining characters, by code point.
    for code in [
        0x200b, 0x200d, 0x200e, 0x200f, 0x202a, 0x202d, 0x202e, 0x2066, 0x2067, 0x2069, 0x2060, 0xfeff, 0xad,
        0x34f, 0x61c, 0x3164, 0xfe0f, 0xe0041, 0xe0101, 0x2028_u32,
    ] {
        let sign = char::from_u32(code).expect("a character");
        texts.push(format!("allow{sign}ed by Sat{sign}chel {sign}gpj.exe"));
    }
    for command in [
        "[2J",
        "[1;1H",
        "[31m",
        "]0;Satchel\u{7}",
        "]8;;http://127.0.0.1/\u{7}",
        "]52;c;eA==\u{7}",
        "Pq\u{1b}\\\\",
        "c",
        "(0",
        "[8m",
    ] {
        texts.push(format!("\u{1b}{command}all is well"));
        texts.push(format!("done\r\u{8}\u{8}\u{8}\u{1b}{command}"));
    }
    for alike in [
        "Sаtchel",
        "ѕatchel",
        "Satcheӏ",
        "Ｓatchel",
        "𝐒𝐚𝐭𝐜𝐡𝐞𝐥",
        "Satchеl asks",
        "gіthub",
        "ɡithub",
        "gıthub",
        "раypal",
    ] {
        texts.push(format!("{alike} wants you to press Allow"));
    }
    for long in
        ["<b>", "x", "\u{202e}", "A ", "<img src=x onerror=1>", "\u{0301}", "\n", "&lt;", "${1}", "{{1}}"]
    {
        texts.push(long.repeat(4_000 / long.len()));
    }
    for number in 0.. {
        if texts.len() >= TEXTS {
            break;
        }
        texts.push(format!(
            "\"'`>{number}</script><img src={host}/{number} onerror={run}>${{{run}}}{{@html {run}}}"
        ));
    }
    texts.truncate(TEXTS);
    texts.into_iter().enumerate().map(|(at, text)| format!("mark{at}; {text}")).collect()
}

/// A server with these texts everywhere.
fn server(home: &Home, texts: &[String]) -> Value {
    let all = texts.join(" ");
    let tools: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| {
            let annotations = json!({ "title": text, "readOnlyHint": true });
            // Half of them have it in their name as well.
            let name = if at % 2 == 0 { format!("tool_{at}") } else { text.chars().take(100).collect() };
            json!({ "name": name, "title": text, "description": text, "inputSchema": { "type": "object" }, "annotations": annotations })
        })
        .collect();
    let answers = json!([
        { "method": "initialize", "key": null, "result": {
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "instructions": all,
            "serverInfo": { "name": texts[0], "title": all, "version": texts[1] },
        } },
        { "method": "tools/list", "key": null, "result": { "tools": tools } },
        { "method": "tools/call", "key": "tool_0", "error": { "code": -1, "message": all, "data": texts } },
    ]);
    let file = home.file("spoofed.json");
    std::fs::write(&file, answers.to_string()).expect("the home can be written to");
    json!({ "command": program("verbatim-mcp-server"), "args": [file], "keepCalls": true })
}

/// Counts the marks that are shown; and no visible text hides, reorders or controls anything.
async fn marks(page: &Page, view: &str) -> usize {
    let seen = page
        .run(
            "const text = document.body.innerText; \
             const hides = text.match(/[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u200b\\u202a-\\u202e\\u2066-\\u2069\\u2060\\ufeff\\u{e0000}-\\u{e007f}]/u); \
             const all = document.body.textContent; \
             return [hides && hides[0].codePointAt(0), [...Array(150).keys()].filter((at) => all.includes(`mark${at};`)).length]",
        )
        .await;
    assert_eq!(seen[0], Value::Null, "{view}: something hides");
    usize::try_from(seen[1].as_u64().expect("a count")).expect("a small one")
}

#[tokio::test]
async fn a_hundred_and_fifty_texts_stay_text_wherever_servers_are_quoted() {
    let (port, visitors) = visitors().await;
    let texts = texts(port);
    assert_eq!(texts.len(), TEXTS);
    let home = Home::empty();
    let mut servers = serde_json::Map::new();
    servers.insert("spoofed".into(), server(&home, &texts));
    servers.insert("asks".into(), fixture(LEGACY));
    // The command is shown whole, and the output is its log.
    let print = home.file("print");
    std::fs::write(&print, texts.join("\n")).expect("the home can be written to");
    let noise = format!("cat '{}' >&2; exit 1", print.display());
    servers.insert("prints".into(), json!({ "command": "sh", "args": ["-c", noise], "startup": "eager" }));
    let off = |args: &[String]| json!({ "command": "none", "args": args, "enabled": false });
    servers.insert("long".into(), off(&texts));
    let mut named = 0;
    for text in &texts {
        let name: String = text.chars().take(60).filter(|c| !matches!(c, ':' | '|' | '/' | '\\')).collect();
        if name.trim().parse::<ServerName>().is_ok() {
            servers.insert(name.trim().to_owned(), off(&[]));
            named += 1;
        }
    }
    // Names with characters that hide are refused.
    assert!(named >= 90, "{named} can be names");
    home.write_config(&json!({ "mcpServers": servers }));
    let desktop = Desktop::around(home).await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    watch(&page).await;
    until_offered(&client, "asks", true).await;
    until_offered(&client, "spoofed", true).await;
    call(&client, "spoofed:tool_0").await;

    let failed = eventually("the failed call is written down", async || {
        let history = desktop.home.satchel(&["history", "--json"]).await.json();
        let failed = history["calls"].as_array()?.iter().find(|call| call["tool"] == "tool_0")?;
        Some(format!("/activity/{}", failed["id"]))
    })
    .await;
    // A list shows what fits; a log its last lines; a command all of it.
    for (view, at_least) in [
        ("/servers", 5),
        ("/servers/spoofed/tools", 10),
        ("/servers/spoofed", 1),
        ("/servers/prints/log", 5),
        ("/servers/long", 1),
        (failed.as_str(), 1),
        ("/catalog", 0),
    ] {
        visit(&page, view).await;
        eventually(&format!("{view} shows {at_least} of them"), async || {
            (marks(&page, view).await >= at_least).then_some(())
        })
        .await;
        nothing_happened(&page, view).await;
    }
    let name = servers.keys().find(|name| name.starts_with("mark1;")).expect("it is a server");
    visit(&page, &format!("/servers/{}", percent(name))).await;
    eventually("a server by its name is shown", async || {
        (marks(&page, "a server by its name").await >= 1).then_some(())
    })
    .await;

    // Questions: as many as fit into one message each time.
    let mut asked = 0;
    for some in texts.iter().filter(|text| text.len() < 1_000).collect::<Vec<_>>().chunks(40) {
        let message = some.iter().map(|text| text.as_str()).collect::<Vec<_>>().join("\n");
        let called = asking::call(&client, "asks:test_elicitation", json!({ "message": message }));
        page.to_questions().await;
        watch(&page).await;
        page.says("[role=alertdialog] h1", "asks asks you something").await;
        page.settled().await;
        // What is between the beginning and the end is there by a press.
        page.run("document.querySelectorAll('.between').forEach((one) => one.click())").await;
        page.settled().await;
        let marks = marks(&page, "a question").await;
        assert!(marks >= 10, "{marks}");
        asked += marks;
        nothing_happened(&page, "the window of questions").await;
        page.click("[role=alertdialog] [data-no]").await;
        called.await.expect("the call ends");
        page.to_first_and_only().await;
    }
    assert!(asked >= 80, "{asked} were read as questions");
    nothing_happened(&page, "at the end").await;
    assert_eq!(visitors.load(Ordering::Relaxed), 0, "nobody was fetched from");

    // The detectors work: planted as more than text, the same strings are blocked, and detected.
    let planted =
        format!("document.body.insertAdjacentHTML('beforeend', {})", json!(strings(port).join(" ")));
    page.run(&planted).await;
    eventually("what is planted is noticed", async || {
        (page.run("return window.stopped.length").await.as_u64()? > 0).then_some(())
    })
    .await;
    page.close().await;
}
