//! New identifiers.

use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Complaint, Tool, ToolAnswer, parse, schema};

const MOST: usize = 100;

pub(super) const TOOL: Tool = Tool {
    name: "generate_uuid",
    title: "New UUIDs",
    description: "Makes new UUIDs: v4 (random) or v7 (ordered by time).",
    example: r#"{"version": "v7", "count": 2}"#,
    input_schema,
    output_schema,
    repeatable: false,
    slow: false,
    call,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default)]
    version: Version,
    #[serde(default = "one")]
    count: usize,
}

fn one() -> usize {
    1
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
enum Version {
    #[default]
    V4,
    V7,
}

fn input_schema() -> Value {
    schema(
        &[],
        json!({
            "version": {"type": "string", "enum": ["v4", "v7"], "default": "v4"},
            "count": {"type": "integer", "minimum": 1, "maximum": MOST, "default": 1},
        }),
    )
}

fn output_schema() -> Value {
    schema(&["uuids"], json!({"uuids": {"type": "array", "items": {"type": "string"}}}))
}

fn call(arguments: Value) -> Result<ToolAnswer, Complaint> {
    let Arguments { version, count } = parse(arguments)?;
    if !(1..=MOST).contains(&count) {
        return Err(Complaint(format!("\"count\" is {count}; it must be from 1 to {MOST}.")));
    }
    let make = || match version {
        Version::V4 => Uuid::new_v4(),
        Version::V7 => Uuid::now_v7(),
    };
    let uuids: Vec<String> = std::iter::repeat_with(|| make().to_string()).take(count).collect();
    Ok(ToolAnswer { text: uuids.join("\n"), structured: json!({"uuids": uuids}) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_different_uuids_of_that_version_as_asked_for() {
        for (arguments, version, count) in [
            (json!({}), 4, 1),
            (json!({"version": "v4", "count": 100}), 4, 100),
            (json!({"version": "v7", "count": 50}), 7, 50),
        ] {
            let answer = call(arguments).unwrap();
            let mut uuids: Vec<Uuid> = answer.text.lines().map(|line| line.parse().unwrap()).collect();
            assert!(uuids.iter().all(|uuid| uuid.get_version_num() == version));
            if version == 7 {
                assert!(uuids.is_sorted());
            }
            uuids.sort();
            uuids.dedup();
            assert_eq!(uuids.len(), count);
        }
    }

    #[test]
    fn a_count_out_of_range_is_refused_with_the_range() {
        for count in [0, 101, 1_000_000_000] {
            let Complaint(text) = call(json!({"count": count})).unwrap_err();
            assert!(text.contains("from 1 to 100"), "{text}");
        }
    }
}
