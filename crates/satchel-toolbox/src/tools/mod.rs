//! The built-in tools: name, input and output. A tool is one line in [`ALL`].

mod base64;
mod diff;
mod hash;
pub(crate) mod query;
mod time;
mod uuid;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Result of a tool: the same for people and for programs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolAnswer {
    pub(crate) text: String,
    pub(crate) structured: Value,
}

/// Why a tool failed, and what the caller should do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint(pub(crate) String);

impl Complaint {
    fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// A tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Valid arguments, for the resource `toolbox://about` and the tests.
    example: &'static str,
    input_schema: fn() -> Value,
    output_schema: fn() -> Value,
    /// The same arguments always give the same result.
    repeatable: bool,
    /// It can take seconds.
    pub(crate) slow: bool,
    pub(crate) call: fn(Value) -> Result<ToolAnswer, Complaint>,
}

/// All tools, in the order in which they are listed.
pub(crate) const ALL: [Tool; 8] = [
    time::CURRENT,
    time::CONVERT,
    hash::TOOL,
    uuid::TOOL,
    base64::ENCODE,
    base64::DECODE,
    query::TOOL,
    diff::TOOL,
];

/// The tool with that name.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    ALL.iter().find(|tool| tool.name == name)
}

/// The tools as in the result of `tools/list`.
pub(crate) fn list() -> Vec<Value> {
    let describe = |tool: &Tool| {
        json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": (tool.input_schema)(),
            "outputSchema": (tool.output_schema)(),
            "annotations": {
                "readOnlyHint": true,
                "idempotentHint": tool.repeatable,
                "openWorldHint": false,
            },
        })
    };
    ALL.iter().map(describe).collect()
}

/// The text of `toolbox://about`.
pub(crate) fn about() -> String {
    let entry =
        |tool: &Tool| format!("## {}\n\n{}\n\n```json\n{}\n```\n", tool.name, tool.description, tool.example);
    let entries: Vec<_> = ALL.iter().map(entry).collect();
    format!("# Toolbox\n\nSmall exact tools that run on this computer.\n\n{}", entries.join("\n"))
}

/// Parses arguments into a tool's own type; the error names the field and what was expected.
fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, Complaint> {
    serde_json::from_value(arguments)
        .map_err(|wrong| Complaint(format!("The arguments do not fit: {wrong}. See the tool's inputSchema.")))
}

/// Rejects a text longer than the tool accepts.
fn at_most(what: &str, text: &str, limit: usize) -> Result<(), Complaint> {
    if text.len() <= limit {
        return Ok(());
    }
    Err(Complaint(format!(
        "\"{what}\" has {} bytes; at most {limit} are taken. Send a part of it.",
        text.len()
    )))
}

/// An object schema with exactly these properties.
fn schema(required: &[&str], properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_in_the_documentation_works_and_fits_the_output_schema() {
        for tool in ALL.iter().filter(|tool| tool.name != "query_json") {
            let answer = (tool.call)(serde_json::from_str(tool.example).unwrap()).unwrap();
            let schema = (tool.output_schema)();
            let given = answer.structured.as_object().unwrap();
            for required in schema["required"].as_array().unwrap() {
                assert!(given.contains_key(required.as_str().unwrap()), "{}: {required}", tool.name);
            }
            for key in given.keys() {
                assert!(schema["properties"].get(key).is_some(), "{}: {key}", tool.name);
            }
        }
    }

    #[test]
    fn arguments_that_are_not_in_the_schema_are_refused_by_name() {
        for tool in &ALL {
            let mut arguments: Value = serde_json::from_str(tool.example).unwrap();
            arguments["surprise"] = json!(1);
            let Complaint(text) = (tool.call)(arguments).unwrap_err();
            assert!(text.contains("unknown field `surprise`"), "{}: {text}", tool.name);
        }
    }

    #[test]
    fn a_missing_argument_is_named() {
        for tool in &ALL {
            let schema = (tool.input_schema)();
            for required in schema["required"].as_array().unwrap() {
                let required = required.as_str().unwrap();
                let mut arguments: Value = serde_json::from_str(tool.example).unwrap();
                arguments.as_object_mut().unwrap().remove(required);
                let Complaint(text) = (tool.call)(arguments).unwrap_err();
                assert!(text.contains(&format!("missing field `{required}`")), "{}: {text}", tool.name);
            }
        }
    }

    #[test]
    fn arguments_of_any_other_shape_are_a_complaint_and_never_a_panic() {
        let shapes = [json!(null), json!(1), json!("x"), json!([]), json!([[]]), json!({"": {}})];
        for tool in &ALL {
            for shape in &shapes {
                let _ = (tool.call)(shape.clone());
            }
        }
    }
}
