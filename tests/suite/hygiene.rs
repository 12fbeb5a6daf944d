//! What servers say reaches clients, logs and faces without what nobody sees: control characters, commands to a terminal,
//! tags, signs that turn or hide text. What people write stays as it is.

use std::path::Path;

use satchel_tests::{Answer, Home, program};
use serde_json::{Value, json};

/// Texts that must stay unchanged: composed emoji, joined scripts, tag flags, direction marks, line breaks.
const PLAIN: [&str; 10] = [
    "👩‍👩‍👧 👍🏽 ❤️ 1️⃣",
    "می‌خواهم",
    "क्‍ष",
    "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "שלום\u{200f} (ok)",
    "葛\u{e0100}城",
    "line one\r\nline two\r\n\ttab\n",
    "Ünïcödé — “quotes” … ½ €",
    "ไทย 한국어 日本語",
    "e\u{301} \u{a0}x",
];

/// Every control and format character, tag, selector and terminal escape sequence, in 2,000 texts.
fn hostile() -> Vec<String> {
    let ranges = [
        0x00..=0x08,
        0x0b..=0x0c,
        0x0e..=0x1f,
        0x7f..=0x9f,
        0xad..=0xad,
        0x34f..=0x34f,
        0x61c..=0x61c,
        0x115f..=0x1160,
        0x17b4..=0x17b5,
        0x180b..=0x180f,
        0x200b..=0x200f,
        0x202a..=0x202e,
        0x2060..=0x206f,
        0x3164..=0x3164,
        0xfe00..=0xfe0f,
        0xfeff..=0xfeff,
        0xffa0..=0xffa0,
        0xfff9..=0xfffb,
        0x1d173..=0x1d17a,
        0xe0001..=0xe0001,
        0xe0020..=0xe007f,
        0xe0100..=0xe01ef_u32,
    ];
    let mut texts: Vec<String> = ranges
        .into_iter()
        .flatten()
        .filter_map(char::from_u32)
        .flat_map(|c| [format!("a{c}b"), format!("see {c}{c} this"), format!("{c}x")])
        .collect();
    for number in 0.. {
        if texts.len() >= 2_000 {
            break;
        }
        texts.push(match number % 8 {
            0 => format!("\u{1b}[{number}m red \u{1b}[0m"),
            1 => format!("\u{1b}]8;;http://127.0.0.1/{number}\u{7}link\u{1b}]8;;\u{7}"),
            2 => format!("\u{1b}]52;c;{number}\u{1b}\\ copied"),
            3 => format!("\u{1b}P{number}q#0\u{1b}\\ drawn"),
            4 => format!("\u{9b}{number}A up \u{9d}0;t\u{9c}"),
            5 => format!("done {number}%\r nothing"),
            6 => format!("\u{1b}c\u{1b}(0\u{1b}[2J{number}"),
            _ => format!("\u{202e}{number}\u{2066}x\u{2069}\u{200b}\u{200c}\u{200d}"),
        });
    }
    texts
}

/// Finds a forbidden character by another method than the one that removes it.
fn hidden(text: &str) -> Option<char> {
    let text = text.replace("\r\n", "\n");
    text.chars().find(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(u32::from(*c), 0x200b | 0x202a..=0x202e | 0x2060..=0x206f | 0xfeff | 0xe0000..=0xe007f)
    })
}

fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(all) => all.iter().flat_map(strings).collect(),
        Value::Object(all) => {
            all.iter().flat_map(|(key, value)| [vec![key.as_str()], strings(value)].concat()).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => vec![],
    }
}

fn file(home: &Home, name: &str, texts: &[String]) -> std::path::PathBuf {
    let blocks: Vec<Value> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
    let all = texts.join("|");
    let tools = ["good", "bad"].map(|name| {
        let annotations = json!({ "readOnlyHint": true });
        json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": annotations })
    });
    let answers = json!([
        { "method": "initialize", "key": null, "result": {
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "odd", "version": "1" },
        } },
        { "method": "tools/list", "key": null, "result": { "tools": tools } },
        { "method": "tools/call", "key": "good", "result": { "content": blocks, "structuredContent": { "all": texts } } },
        { "method": "tools/call", "key": "bad", "error": { "code": -1, "message": all } },
    ]);
    let file = home.file(name);
    std::fs::write(&file, answers.to_string()).expect("the home can be written to");
    file
}

fn entry(file: &Path, exact: bool) -> Value {
    json!({ "command": program("verbatim-mcp-server"), "args": [file], "exactResults": exact, "keepCalls": true })
}

fn whole(answer: &Answer) -> Value {
    serde_json::from_str(answer.raw()).expect("a result is JSON")
}

#[tokio::test]
async fn invisible_characters_reach_no_client_log_or_screen_unless_a_server_is_exact() {
    let home = Home::empty();
    let texts = hostile();
    assert!(
        texts.len() >= 2_000
            && texts.iter().all(|text| hidden(text).is_some() || text.contains(|c: char| !c.is_ascii()))
    );
    let plain: Vec<String> = PLAIN.map(ToOwned::to_owned).into();
    let (odd, fine) = (file(&home, "odd.json", &texts), file(&home, "fine.json", &plain));
    home.write_config(&json!({ "mcpServers": {
        "odd": entry(&odd, false), "exact": entry(&odd, true), "fine": entry(&fine, false),
    } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;

    let result = whole(&client.execute("odd:good", json!({})).await);
    assert_eq!(result["content"].as_array().expect("blocks").len(), texts.len());
    for text in strings(&result["content"]) {
        assert_eq!(hidden(text), None, "{text:?}");
    }
    let failed = client.execute("odd:bad", json!({})).await;
    let failed = format!("{:?}", failed.outcome);
    assert!(!failed.contains("\\u{1b}") && !failed.contains("\\u{202e}"), "{failed}");

    // Planted: the same, passed on unchanged.
    let exact = whole(&client.execute("exact:good", json!({})).await);
    let sent: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(strings(&exact["structuredContent"]["all"]), sent);
    assert!(strings(&exact).iter().any(|text| hidden(text).is_some()));
    // Data stays unchanged, whatever it contains.
    assert_eq!(result["structuredContent"], exact["structuredContent"]);
    // Ordinary text is never touched.
    let fine = whole(&client.execute("fine:good", json!({})).await);
    let blocks = fine["content"].as_array().expect("blocks").iter();
    assert_eq!(blocks.map(|block| block["text"].as_str().expect("a text")).collect::<Vec<_>>(), PLAIN);

    // Logs, stored records, and what the command line shows of all of it.
    for server in ["odd", "exact"] {
        let log = home.satchel(&["logs", server]).await.stdout;
        assert_eq!(hidden(&log), None, "{log:?}");
    }
    let log = home.satchel(&["logs", "odd"]).await.stdout;
    assert!(log.contains("removed invisible characters from a result"), "{log}");
    assert_eq!(hidden(&home.satchel(&["history"]).await.stdout), None);
    for text in strings(&hub.status().await) {
        assert_eq!(hidden(text), None, "{text:?}");
    }
}
