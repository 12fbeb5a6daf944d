//! Converts a tool's result to the script's value, and a script's outcome to the client's result.

use satchel_mcp::{Raw, RawObject};
use satchel_script::protocol::{Bound, Logs, Settlement, Wrong};
use serde_json::{Value, json, value::to_raw_value};

use super::Finished;

/// The key of a handle, which represents content that does not enter the script.
const HANDLE: &str = "$content";
/// Maximum number and size of such content blocks for one script.
const BLOCKS: usize = 64;
const BYTES: usize = 32 * 1024 * 1024;

/// Content that a script can return but not inspect: images, audio, files.
#[derive(Debug, Default)]
pub struct Blocks {
    kept: Vec<Box<Raw>>,
    bytes: usize,
}

impl Blocks {
    /// A tool's result as a script value: its structured content, otherwise its text parsed as JSON, otherwise its
    /// text.
    pub fn value(&mut self, result: &Raw) -> Settlement {
        let fields = RawObject::parse(result).unwrap_or_default();
        let content: Vec<Box<Raw>> = fields.read("content").unwrap_or_default();
        if fields.read("isError") == Some(true) {
            let texts: Vec<String> = content.iter().filter_map(|block| text_of(block)).collect();
            let words = if texts.is_empty() {
                "the tool failed and did not say why".into()
            } else {
                texts.join("\n")
            };
            return Settlement::Failure(words);
        }
        if let Some(structured) = fields.get("structuredContent").filter(|raw| raw.get() != "null") {
            return Settlement::Value(structured.to_owned());
        }
        let texts: Option<Vec<String>> = content.iter().map(|block| text_of(block)).collect();
        let value = match texts {
            Some(texts) => return Settlement::Value(as_value(&texts.join("\n"))),
            None => content.into_iter().map(|block| self.part(block)).collect::<Result<Vec<_>, _>>(),
        };
        match value.as_deref() {
            Ok([only]) => Settlement::Value(only.clone()),
            Ok(parts) => Settlement::Value(raw(&parts)),
            Err(words) => Settlement::Failure(words.clone()),
        }
    }

    /// A block as a part of a value: text as a string, a link unchanged, everything else as a handle.
    fn part(&mut self, block: Box<Raw>) -> Result<Box<Raw>, String> {
        if let Some(text) = text_of(&block) {
            return Ok(as_value(&text));
        }
        let fields = RawObject::parse(&block).unwrap_or_default();
        let kind = fields.text("type").unwrap_or_default();
        if kind == "resource_link" {
            return Ok(block);
        }
        let resource = fields.get("resource").and_then(|raw| RawObject::parse(raw).ok());
        let of = |key: &str| fields.text(key).or_else(|| resource.as_ref()?.text(key));
        let bytes = block.get().len();
        if self.kept.len() == BLOCKS || self.bytes + bytes > BYTES {
            let most = BYTES / (1024 * 1024);
            return Err(format!(
                "a script can hold {BLOCKS} images and files of {most} MiB together, and this would be more"
            ));
        }
        self.bytes += bytes;
        self.kept.push(block);
        let mut handle = json!({ HANDLE: self.kept.len(), "type": kind, "bytes": bytes });
        for key in ["mimeType", "uri"] {
            if let Some(word) = of(key) {
                handle[key] = json!(word);
            }
        }
        Ok(raw(&handle))
    }

    /// The blocks whose handles occur in a value, each once, in order.
    fn named_in(&self, value: &Value) -> Vec<&Raw> {
        let mut named = std::collections::BTreeSet::new();
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            match value {
                Value::Object(fields) => {
                    let number = fields.get(HANDLE).and_then(Value::as_u64);
                    named.extend(number.and_then(|number| usize::try_from(number).ok()));
                    open.extend(fields.values());
                }
                Value::Array(items) => open.extend(items),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        named
            .into_iter()
            .filter_map(|number| self.kept.get(number.checked_sub(1)?).map(|block| &**block))
            .collect()
    }
}

/// The text of a block: its own, or that of the embedded file.
fn text_of(block: &Raw) -> Option<String> {
    let fields = RawObject::parse(block).ok()?;
    match fields.text("type")?.as_str() {
        "text" => fields.text("text"),
        "resource" => RawObject::parse(fields.get("resource")?).ok()?.text("text"),
        _ => None,
    }
}

/// Parses a text that is a JSON object or array; numbers and words stay strings, because they may be names.
fn as_value(text: &str) -> Box<Raw> {
    let trimmed = text.trim();
    if trimmed.starts_with(['{', '['])
        && let Ok(value) = Raw::from_string(trimmed.to_owned())
    {
        return value;
    }
    raw(&text)
}

/// The tool result for a finished script. Texts are cut at `cap` bytes in total; 0 means no limit.
pub fn answer(finished: &Finished, blocks: &Blocks, cap: usize) -> Box<Raw> {
    let made = match finished.calls {
        0 => "No call was made.".to_owned(),
        1 => "1 call was made before that; what it did is done.".to_owned(),
        calls => format!("{calls} calls were made before that; what they did is done."),
    };
    let (text, failed) = match &finished.outcome {
        Ok(Some(value)) => {
            let own = serde_json::from_str::<String>(value.get()).ok();
            (own.unwrap_or_else(|| value.get().to_owned()), false)
        }
        Ok(None) => ("The script returned nothing; end it with `return value`.".to_owned(), false),
        Err(wrong) => (format!("{} {made}{}", sentence(&wrong.to_string()), advice(wrong)), true),
    };
    let mut content = vec![json!({ "type": "text", "text": cut(text, cap) })];
    if let (Ok(_), Some(left)) = (&finished.outcome, left(finished.left)) {
        content.push(json!({ "type": "text", "text": left }));
    }
    if let Some(logged) = logged(&finished.logs) {
        content.push(json!({ "type": "text", "text": cut(logged, cap) }));
    }
    let mut content: Vec<Box<Raw>> = content.iter().map(raw).collect();
    if let Ok(Some(value)) = &finished.outcome {
        let value: Value = serde_json::from_str(value.get()).unwrap_or_default();
        content.extend(blocks.named_in(&value).into_iter().map(ToOwned::to_owned));
    }
    let mut result = RawObject::new();
    result.set("content", raw(&content));
    result.set("isError", raw(&failed));
    result.set("_meta", raw(&json!({ "dev.satchel/script": { "calls": finished.calls } })));
    result.to_raw()
}

/// Adds a final punctuation mark if there is none.
fn sentence(words: &str) -> String {
    let is_one = words.ends_with(['.', '?', '!']);
    if is_one { words.to_owned() } else { format!("{words}.") }
}

/// What to do about it.
fn advice(wrong: &Wrong) -> &'static str {
    match wrong {
        Wrong::Thrown(_) => "",
        Wrong::Stuck => " Only calls of tools settle promises here; there are no timers.",
        Wrong::Bound(Bound::Memory(_)) => " Keep less of what calls return, or do it in parts.",
        Wrong::Bound(Bound::Computing(_)) => " Compute less, or do it in parts.",
        Wrong::Bound(Bound::Time(_)) => " Give it a longer \"timeout\" (at most 120), or do it in parts.",
        Wrong::Bound(Bound::Calls(_)) => " Do the rest in another script.",
        Wrong::Bound(Bound::Output(_)) => " Return less: filter or sum up in the script.",
    }
}

fn left(calls: usize) -> Option<String> {
    match calls {
        0 => None,
        1 => Some("[1 call was not awaited and was cancelled; write `await` before it.]".to_owned()),
        calls => {
            Some(format!("[{calls} calls were not awaited and were cancelled; write `await` before them.]"))
        }
    }
}

fn logged(logs: &Logs) -> Option<String> {
    if logs.lines.is_empty() {
        return None;
    }
    let more = if logs.cut { "\n[More was logged.]" } else { "" };
    Some(format!("Logged:\n{}{more}", logs.lines.join("\n")))
}

fn cut(mut text: String, cap: usize) -> String {
    if cap > 0 && text.len() > cap {
        let whole = text.len();
        text.truncate(text.floor_char_boundary(cap));
        text.push_str(&format!("\n[Cut by Satchel: {whole} bytes in all. Filter or sum up in the script.]"));
    }
    text
}

fn raw(value: &(impl serde::Serialize + ?Sized)) -> Box<Raw> {
    to_raw_value(value).expect("a JSON value always serializes")
}

#[cfg(test)]
mod tests {
    use satchel_script::protocol::{Bound, Wrong};

    use super::*;

    fn parse(json: &Value) -> Box<Raw> {
        Raw::from_string(json.to_string()).unwrap()
    }

    #[test]
    fn a_result_is_the_value_that_a_program_would_expect() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        let image = json!({ "type": "image", "mimeType": "image/png", "data": "AAAA" });
        let link = json!({ "type": "resource_link", "uri": "a://b", "name": "b" });
        let file = json!({ "type": "resource", "resource": { "uri": "a://b", "text": "[1]" } });
        for (result, expected) in [
            (json!({ "content": [text("x")], "structuredContent": { "a": 1 } }), json!({ "a": 1 })),
            (json!({ "content": [text(" {\"a\":[1.0]}\n")] }), json!({ "a": [1.0] })),
            (json!({ "content": [text("7")] }), json!("7")),
            (json!({ "content": [text("{a}"), text("b")] }), json!("{a}\nb")),
            (json!({ "content": [] }), json!("")),
            (json!({ "content": [file] }), json!([1])),
            (json!({ "content": [link] }), link),
            (
                json!({ "content": [image] }),
                json!({ "$content": 1, "type": "image", "bytes": 53, "mimeType": "image/png" }),
            ),
        ] {
            let Settlement::Value(value) = Blocks::default().value(&parse(&result)) else {
                panic!("{result} fails");
            };
            assert_eq!(serde_json::from_str::<Value>(value.get()).unwrap(), expected, "{result}");
        }
        let failed = json!({ "content": [text("no"), text("way")], "isError": true });
        assert!(
            matches!(Blocks::default().value(&parse(&failed)), Settlement::Failure(words) if words == "no\nway")
        );
    }

    #[test]
    fn an_answer_has_what_was_returned_and_the_content_that_it_names() {
        let image = json!({ "type": "image", "mimeType": "image/png", "data": "AAAA" });
        let mut blocks = Blocks::default();
        for _ in 0..2 {
            blocks.value(&parse(&json!({ "content": [image] })));
        }
        let finished = |outcome| Finished { outcome, logs: Logs::default(), calls: 2, left: 0 };
        let read = |finished: &Finished, cap| {
            serde_json::from_str::<Value>(answer(finished, &blocks, cap).get()).unwrap()
        };
        let value = parse(&json!({ "x": [{ "$content": 2 }, { "$content": 9 }] }));
        let got = read(&finished(Ok(Some(value))), 0);
        assert_eq!((got["content"].as_array().unwrap().len(), &got["content"][1]), (2, &image));
        let got = read(&finished(Ok(Some(parse(&json!("äöü"))))), 3);
        let cut = "ä\n[Cut by Satchel: 6 bytes in all. Filter or sum up in the script.]";
        assert_eq!(got["content"][0]["text"], cut);
        let got = read(&finished(Err(Wrong::Bound(Bound::Calls(200)))), 0);
        assert_eq!(got["isError"], true);
        let said = "the script made more than 200 calls. 2 calls were made before that; what they did is done. Do the rest in another script.";
        assert_eq!(got["content"][0]["text"], said);
    }
}
