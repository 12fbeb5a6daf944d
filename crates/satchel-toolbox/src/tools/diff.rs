//! The difference of two texts, as a unified diff.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use super::{Complaint, Tool, ToolAnswer, at_most, parse, schema};

const TEXT_LIMIT: usize = 1024 * 1024;
const MOST_CONTEXT: usize = 100;
/// After this time the rest of the difference may be longer than necessary, but is still correct.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) const TOOL: Tool = Tool {
    name: "diff_text",
    title: "Compare texts",
    description: "Compares two texts line by line and answers with a unified diff; empty when they are equal.",
    example: r#"{"before": "a\nb\n", "after": "a\nc\n"}"#,
    input_schema,
    output_schema,
    repeatable: true,
    slow: true,
    call,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    before: String,
    after: String,
    #[serde(default = "three")]
    context_lines: usize,
}

fn three() -> usize {
    3
}

fn input_schema() -> Value {
    schema(
        &["before", "after"],
        json!({
            "before": {"type": "string"},
            "after": {"type": "string"},
            "context_lines": {
                "type": "integer", "minimum": 0, "maximum": MOST_CONTEXT, "default": 3,
                "description": "Unchanged lines shown around each change.",
            },
        }),
    )
}

fn output_schema() -> Value {
    schema(
        &["equal", "diff", "inserted", "deleted"],
        json!({
            "equal": {"type": "boolean"},
            "diff": {"type": "string", "description": "Unified diff."},
            "inserted": {"type": "integer", "description": "Lines only in \"after\"."},
            "deleted": {"type": "integer", "description": "Lines only in \"before\"."},
        }),
    )
}

fn call(arguments: Value) -> Result<ToolAnswer, Complaint> {
    let Arguments { before, after, context_lines } = parse(arguments)?;
    at_most("before", &before, TEXT_LIMIT)?;
    at_most("after", &after, TEXT_LIMIT)?;
    if context_lines > MOST_CONTEXT {
        return Err(Complaint(format!(
            "\"context_lines\" is {context_lines}; at most {MOST_CONTEXT} are shown."
        )));
    }
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(&before, &after);
    let unified = diff.unified_diff().context_radius(context_lines).header("before", "after").to_string();
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let (inserted, deleted) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let equal = before == after;
    let text = if equal { "The texts are equal.".into() } else { unified.clone() };
    let structured = json!({"equal": equal, "diff": unified, "inserted": inserted, "deleted": deleted});
    Ok(ToolAnswer { text, structured })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_diff_is_unified_and_counted() {
        let before = "one\ntwo\nthree\nfour\nfive\n";
        let after = "one\n2\nthree\nfour\nfive\nsix\n";
        let answer = call(json!({"before": before, "after": after, "context_lines": 1})).unwrap();
        assert_eq!(
            answer.text,
            "--- before\n+++ after\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n@@ -5 +5,2 @@\n five\n+six\n"
        );
        assert_eq!(answer.structured["inserted"], 2);
        assert_eq!(answer.structured["deleted"], 1);
    }

    #[test]
    fn equal_texts_and_a_missing_final_newline_are_reported() {
        assert_eq!(call(json!({"before": "x", "after": "x"})).unwrap().text, "The texts are equal.");
        let newline = call(json!({"before": "x\n", "after": "x"})).unwrap();
        assert!(newline.text.contains("\\ No newline at end of file"), "{}", newline.text);
    }

    #[test]
    fn texts_that_share_nothing_are_compared_all_the_same() {
        let lines = |prefix: &str| {
            (0..60_000).map(|n| format!("{prefix}{}\n", n * 7919 % 60_013)).collect::<String>()
        };
        let answer = call(json!({"before": lines("a"), "after": lines("b")})).unwrap();
        assert_eq!(
            (answer.structured["inserted"].clone(), answer.structured["deleted"].clone()),
            (json!(60_000), json!(60_000))
        );
    }

    #[test]
    fn too_much_text_and_too_much_context_are_refused() {
        let long = "x".repeat(TEXT_LIMIT + 1);
        for arguments in [
            json!({"before": long, "after": ""}),
            json!({"before": "", "after": long}),
            json!({"before": "", "after": "", "context_lines": 101}),
        ] {
            let Complaint(text) = call(arguments).unwrap_err();
            assert!(text.contains("at most"), "{text}");
        }
    }
}
