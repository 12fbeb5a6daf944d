//! Decides which tools of a server can be offered. A malformed tool is left out with a reason; the others stay.

use std::collections::HashSet;

use satchel_mcp::{Raw, RawObject, limits};

use super::{
    ToolEntry,
    mending::{Mended, mend},
};
use crate::model::characters::{self, look_alike, styled};

/// Valid tools, and the reason for each one left out.
pub fn tools(items: Vec<Box<Raw>>) -> (Vec<ToolEntry>, Vec<String>) {
    let (mut tools, mut skipped) = (Vec::new(), Vec::new());
    let (mut names, mut bytes) = (HashSet::new(), 0);
    for (at, raw) in items.into_iter().enumerate() {
        if tools.len() >= limits::TOOLS_PER_SERVER {
            skipped
                .push(format!("everything after tool {at}: at most {} are kept", limits::TOOLS_PER_SERVER));
            break;
        }
        match tool(raw) {
            Err(reason) => skipped.push(format!("tool {} of the list: {reason}", at + 1)),
            Ok(entry) if !names.insert(entry.name.clone()) => {
                skipped.push(format!(
                    "{} (tool {} of the list): another tool has this name",
                    entry.name,
                    at + 1
                ));
            }
            Ok(entry) => {
                bytes += entry.raw.get().len();
                if bytes > limits::DEFINITIONS_BYTES {
                    let most = limits::DEFINITIONS_BYTES / 1024 / 1024;
                    skipped
                        .push(format!("{} and everything after it: at most {most} MiB are kept", entry.name));
                    break;
                }
                tools.push(entry);
            }
        }
    }
    (tools, skipped)
}

/// What begins the reason for leaving out a prompt.
pub(super) const PROMPT: &str = "prompt ";

/// Prompts whose names are what they look like, and the reason for each one left out.
pub(super) fn prompts(items: Vec<Box<Raw>>) -> (Vec<Box<Raw>>, Vec<String>) {
    let (mut prompts, mut skipped) = (Vec::new(), Vec::new());
    for raw in items {
        let name = RawObject::parse(&raw).ok().and_then(|fields| fields.text("name")).unwrap_or_default();
        let why = match (characters::hides(&name), characters::posing(&name).is_empty()) {
            (true, _) => "a character that is not seen",
            (false, false) => "letters that only look like Latin ones",
            (false, true) => {
                prompts.push(raw);
                continue;
            }
        };
        skipped.push(format!("{PROMPT}\"{}\": its name has {why}", characters::spelled(&name)));
    }
    (prompts, skipped)
}

fn tool(raw: Box<Raw>) -> Result<ToolEntry, String> {
    let size = raw.get().len();
    if size > limits::TOOL_BYTES {
        return Err(format!("its definition has {size} bytes; at most {} are accepted", limits::TOOL_BYTES));
    }
    if limits::depth(raw.get().as_bytes()) > limits::SCHEMA_DEPTH {
        return Err(format!("its definition nests deeper than {} levels", limits::SCHEMA_DEPTH));
    }
    let fields =
        RawObject::parse(&raw).map_err(|error| format!("it is not a usable object ({})", reason(&error)))?;
    let name = fields.text("name").ok_or("it has no name")?;
    name_fault(&name)?;
    let named = |fault: &str| format!("{name}: {fault}");
    let schema = fields.get("inputSchema").ok_or_else(|| named("it has no inputSchema"))?;
    let schema = RawObject::parse(schema).map_err(|_| named("its inputSchema is not an object"))?;
    if schema.text("type").as_deref() != Some("object") {
        return Err(named("its inputSchema is not of type \"object\""));
    }
    if let Err(fault) = fields.get("inputSchema").map_or(Ok(Mended::Right), mend) {
        return Err(named(&format!("its inputSchema {fault}")));
    }
    if schema.get("properties").is_some_and(|properties| RawObject::parse(properties).is_err()) {
        return Err(named("the properties of its inputSchema are not an object"));
    }
    if schema.get("required").is_some() && schema.read::<Vec<String>>("required").is_none() {
        return Err(named("\"required\" of its inputSchema is not a list of names"));
    }
    Ok(ToolEntry::new(name, &fields, raw))
}

/// Any text that a person can read is a name: clients that take only some characters get others
/// ([`super::flat`]), and the server gets its own.
fn name_fault(name: &str) -> Result<(), String> {
    let shown: String = name.chars().take(40).flat_map(char::escape_default).collect();
    if name.trim().is_empty() {
        return Err("its name is empty".to_owned());
    }
    if name.chars().count() > LONGEST_NAME {
        return Err(format!("its name \"{shown}…\" is longer than {LONGEST_NAME} characters"));
    }
    if characters::hides(name) || name.chars().any(char::is_control) {
        return Err(format!("its name \"{shown}\" has characters that are not shown"));
    }
    if reads_as_another(name) {
        return Err(format!("its name \"{shown}\" reads like another one"));
    }
    Ok(())
}

/// Would a person, and a rule that a person wrote, take it for another name? Latin letters in another style or with
/// letters of another script among them, and accents that stand apart from their letters.
fn reads_as_another(name: &str) -> bool {
    let has_latin = name.chars().any(|c| c.is_ascii_alphabetic());
    let apart = |c: char| matches!(u32::from(c), 0x300..=0x36f);
    name.chars().any(|c| styled(c).is_some() || (has_latin && (look_alike(c).is_some() || apart(c))))
}

/// Longer than any real name.
const LONGEST_NAME: usize = 256;

fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(list: &str) -> (Vec<String>, Vec<String>) {
        let (tools, skipped) = tools(serde_json::from_str(list).unwrap());
        (tools.into_iter().map(|tool| tool.name).collect(), skipped)
    }

    #[test]
    fn a_bad_tool_never_hides_a_good_one() {
        let good = r#"{"name":"good","inputSchema":{"type":"object"},"execution":{"x":1}}"#;
        let bad = [
            "null",
            "5",
            "[]",
            "{}",
            r#"{"name":7,"inputSchema":{"type":"object"}}"#,
            r#"{"name":"a"}"#,
            r#"{"name":"a","inputSchema":null}"#,
            r#"{"name":"a","inputSchema":true}"#,
            r#"{"name":"a","inputSchema":{}}"#,
            r#"{"name":"a","inputSchema":{"type":"array"}}"#,
            r#"{"name":"a","inputSchema":{"type":["object","null"]}}"#,
            r#"{"name":"a","inputSchema":{"type":"object","properties":[]}}"#,
            r#"{"name":"a","inputSchema":{"type":"object","required":"a"}}"#,
            r#"{"name":"","inputSchema":{"type":"object"}}"#,
            r#"{"name":"  ","inputSchema":{"type":"object"}}"#,
            r#"{"name":"a\u202eb","inputSchema":{"type":"object"}}"#,
            r#"{"name":"a\u00adb","inputSchema":{"type":"object"}}"#,
            r#"{"name":"1\ufe0f","inputSchema":{"type":"object"}}"#,
            r#"{"name":"a\u200bb","inputSchema":{"type":"object"}}"#,
            r#"{"name":"a\nb","inputSchema":{"type":"object"}}"#,
            r#"{"name":"\uff44elete","inputSchema":{"type":"object"}}"#,
            r#"{"name":"d\u0435lete","inputSchema":{"type":"object"}}"#,
            r#"{"name":"e\u0301","inputSchema":{"type":"object"}}"#,
            r#"{"name":"a","inputSchema":{"type":"object","properties":{"x":{"anyOf":7}}}}"#,
        ];
        let (names, skipped) = check(&format!("[{},{good}]", bad.join(",")));
        assert_eq!((names, skipped.len()), (vec!["good".to_owned()], bad.len()), "{skipped:#?}");
        assert!(skipped.iter().all(|reason| reason.chars().all(|c| !c.is_control() && c != '\u{202e}')));
    }

    #[test]
    fn any_text_that_a_person_can_read_is_a_name() {
        for name in [
            "a b",
            "../../etc/passwd",
            "<b>",
            "a:b",
            "\u{67e5}\u{8be2}",
            "Größe",
            "a/b",
            "\u{441}\u{43e}\u{437}\u{434}\u{430}\u{442}\u{44c}",
            "\u{1f50d} find",
        ] {
            let list = format!(r#"[{{"name":"{name}","inputSchema":{{"type":"object"}}}}]"#);
            assert_eq!(check(&list), (vec![name.to_owned()], vec![]));
        }
    }

    #[test]
    fn a_prompt_whose_name_reads_like_another_is_left_out() {
        let (kept, skipped) = prompts(
            serde_json::from_str("[{\"name\":\"sum up\"},{\"name\":\"sum\u{200b}up\"},{\"name\":\"s\u{443}m\"},{\"name\":\"итоги\"}]").unwrap(),
        );
        assert_eq!(
            kept.iter().map(|raw| raw.get()).collect::<Vec<_>>(),
            ["{\"name\":\"sum up\"}", "{\"name\":\"итоги\"}"]
        );
        assert_eq!(
            skipped,
            [
                "prompt \"sum⟨U+200B⟩up\": its name has a character that is not seen",
                "prompt \"s⟨U+0443⟩m\": its name has letters that only look like Latin ones",
            ]
        );
    }

    #[test]
    fn of_two_tools_with_one_name_the_first_stays() {
        let (names, skipped) = check(
            r#"[{"name":"a/b","inputSchema":{"type":"object"}},{"name":"a/b","inputSchema":{"type":"object"}}]"#,
        );
        assert_eq!(names, ["a/b"]);
        assert_eq!(skipped, ["a/b (tool 2 of the list): another tool has this name"]);
    }

    #[test]
    fn limits_hold_on_both_sides() {
        let sized = |bytes: usize| {
            let frame = r#"{"name":"a","inputSchema":{"type":"object"},"description":""}"#;
            frame.replace(":\"\"}", &format!(":\"{}\"}}", "x".repeat(bytes - frame.len())))
        };
        assert_eq!(check(&format!("[{}]", sized(limits::TOOL_BYTES))).0.len(), 1);
        assert_eq!(check(&format!("[{}]", sized(limits::TOOL_BYTES + 1))).1.len(), 1);
        let nested = |depth: usize| {
            let inner = depth - 2;
            format!(
                r#"[{{"name":"a","inputSchema":{{"type":"object","x":{}{}}}}}]"#,
                "[".repeat(inner),
                "]".repeat(inner)
            )
        };
        assert_eq!(check(&nested(limits::SCHEMA_DEPTH)).0.len(), 1);
        assert_eq!(check(&nested(limits::SCHEMA_DEPTH + 1)).1.len(), 1);
        let many = |count: usize| {
            let all: Vec<String> = (0..count)
                .map(|at| format!(r#"{{"name":"t{at}","inputSchema":{{"type":"object"}}}}"#))
                .collect();
            check(&format!("[{}]", all.join(",")))
        };
        assert_eq!(many(limits::TOOLS_PER_SERVER).1.len(), 0);
        let (names, skipped) = many(limits::TOOLS_PER_SERVER + 5);
        assert_eq!((names.len(), skipped.len()), (limits::TOOLS_PER_SERVER, 1));
        // As many of the largest size as fit, and one more.
        let most = limits::DEFINITIONS_BYTES / limits::TOOL_BYTES;
        let largest = |count: usize| {
            let one = |at: usize| sized(limits::TOOL_BYTES - 2).replace("\"a\"", &format!("\"{at:03x}\""));
            let all: Vec<String> = (0..count).map(one).collect();
            check(&format!("[{}]", all.join(",")))
        };
        assert_eq!(largest(most - 1).1.len(), 0);
        let (names, skipped) = largest(most + 2);
        assert!(names.len() <= most && names.len() >= most - 1 && !skipped.is_empty(), "{}", names.len());
        assert!(skipped[0].contains("32 MiB"), "{}", skipped[0]);
    }
}
