//! `call`: calls one tool and prints its result as text or raw.

use std::process::ExitCode;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use satchel_core::{
    files::Places,
    model::request::{CallTool, ToolResult},
};
use satchel_mcp::exact;
use serde_json::Value;

use super::read_input;
use crate::{
    Usage,
    args::CallArgs,
    output::{Lines, say, say_json_text},
    reach::once,
};

pub(crate) async fn run(places: &Places, call: CallArgs, json: bool) -> anyhow::Result<ExitCode> {
    let arguments = arguments(call.arguments)?;
    let request = CallTool { tool_path: call.tool_path.to_string(), arguments };
    let ToolResult(answer) = once(places, request).await?;
    // A hub that does not support text arguments answers with the result itself.
    let text = answer.as_str().map_or_else(|| answer.to_string(), ToOwned::to_owned);
    let result: Value = serde_json::from_str(&text)?;
    match json {
        true => say_json_text(&text),
        false => say(Lines::block("", &in_words(&result, &text))),
    }
    Ok(if result["isError"] == true { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn arguments(text: String) -> anyhow::Result<Value> {
    let text = if text == "-" { read_input()? } else { text };
    match serde_json::from_str(&text) {
        // As text, its numbers keep every digit.
        Ok(Value::Object(_)) => Ok(Value::from(text)),
        Ok(_) => {
            Err(Usage("the arguments must be a JSON object, for example '{\"text\": \"hello\"}'".into())
                .into())
        }
        Err(wrong) => Err(Usage(format!("the arguments are not JSON: {wrong}")).into()),
    }
}

/// A result for people: the text of its content, and a mention of every other part. `written` is its original JSON.
fn in_words(result: &Value, written: &str) -> String {
    let blocks = result["content"].as_array().map_or(&[][..], Vec::as_slice);
    if blocks.is_empty() {
        return exact::pretty(exact::at(written, "/structuredContent").unwrap_or(written));
    }
    let block = |(at, block)| block_in_words(block, exact::at(written, &format!("/content/{at}")));
    blocks.iter().enumerate().map(block).collect::<Vec<_>>().join("\n")
}

fn block_in_words(block: &Value, written: Option<&str>) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let resource = &block["resource"];
    match block["type"].as_str() {
        Some("text") => text(&block["text"]),
        Some(kind @ ("image" | "audio")) => {
            let bytes = STANDARD.decode(text(&block["data"])).map_or(0, |bytes| bytes.len());
            format!("[{kind}, {}, {bytes} bytes; use --json to get it]", text(&block["mimeType"]))
        }
        Some("resource_link") => format!("[resource {}]", text(&block["uri"])),
        Some("resource") if resource["text"].is_string() => text(&resource["text"]),
        Some("resource") => format!("[resource {}; use --json to get it]", text(&resource["uri"])),
        _ => written.map_or_else(|| block.to_string(), ToOwned::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_result_is_told_in_words() {
        for (result, expected) in [
            (
                json!({"content": [{"type": "text", "text": "a\nb"}, {"type": "text", "text": "c"}]}),
                "a\nb\nc",
            ),
            (
                json!({"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}),
                "[image, image/png, 3 bytes; use --json to get it]",
            ),
            (json!({"content": [{"type": "resource", "resource": {"uri": "a:b", "text": "t"}}]}), "t"),
            (
                json!({"content": [{"type": "resource", "resource": {"uri": "a:b", "blob": "AA=="}}]}),
                "[resource a:b; use --json to get it]",
            ),
            (json!({"content": [{"type": "resource_link", "uri": "a:b", "name": "n"}]}), "[resource a:b]"),
            (json!({"content": [{"type": "video", "x": 1}]}), r#"{"type":"video","x":1}"#),
            (json!({"content": [], "structuredContent": {"a": 1}}), "{\n  \"a\": 1\n}"),
        ] {
            assert_eq!(in_words(&result, &result.to_string()), expected);
        }
        let written = r#"{"content":[],"structuredContent":{"a":1.10,"b":12345678901234567890123}}"#;
        let result = serde_json::from_str(written).unwrap();
        let expected = "{\n  \"a\": 1.10,\n  \"b\": 12345678901234567890123\n}";
        assert_eq!(in_words(&result, written), expected);
    }

    #[test]
    fn arguments_must_be_an_object() {
        assert_eq!(arguments(r#"{"a": 1.10}"#.into()).unwrap(), json!(r#"{"a": 1.10}"#));
        for bad in ["", "1", "[]", "\"x\"", "{", "{\"a\": 1} x"] {
            assert!(arguments(bad.into()).unwrap_err().is::<Usage>(), "{bad}");
        }
    }
}
