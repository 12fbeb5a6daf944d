//! The four meta-tools. Their names, parameters and separators are fixed; their descriptions are short, because every
//! client carries them all the time.
//!
//! `menu` is what clients list, `discover`, `execute` and `resources` answer their calls. A client that runs scripts has
//! two instead: the same search, and `script`.

mod discover;
mod execute;
pub(crate) mod menu;
mod resources;
mod script;

use satchel_core::{hub::CallFailure, model::ServerName};
use satchel_mcp::{ErrorObject, Raw};
use serde_json::{Value, json, value::to_raw_value};

pub(crate) use discover::discover;
pub(crate) use execute::{execute_arguments, wanted_tool};
pub(crate) use menu::{STAYS, definitions, take_arguments_as_text};
pub(crate) use resources::{list_resources, resource_content, result_page};
pub(crate) use script::{INSTRUCTIONS as SCRIPT_INSTRUCTIONS, script_definitions};

pub(crate) const DISCOVER: &str = "discover_mcp_tools";
pub(crate) const EXECUTE: &str = "execute_mcp_tool";
pub(crate) const LIST_RESOURCES: &str = "list_mcp_resources";
pub(crate) const READ_RESOURCE: &str = "read_mcp_resource";
pub(crate) const RUN_SCRIPT: &str = "run_mcp_script";

pub(crate) const INSTRUCTIONS: &str = "Tools of many servers are reached through here. Find one with discover_mcp_tools, then call it with execute_mcp_tool.";

/// Added where servers have skills.
pub(crate) const ABOUT_SKILLS: &str = " Some servers have skills, instructions for whole tasks: they are found the same way, and read with read_mcp_resource.";

/// Default and maximum number of results.
const LIMIT: usize = 10;
const MOST: usize = 50;

/// A call that failed in the hub, as text for the model and as data for programs.
pub(crate) fn failure(failure: &CallFailure) -> Box<Raw> {
    let message = format!("{}. {}", failure.message.trim_end_matches('.'), failure.action);
    let mut meta = json!({ "dev.satchel/outcome": failure.outcome });
    if let Some(server) = &failure.server {
        meta["dev.satchel/server"] = json!(server);
    }
    if let Some(code) = failure.code {
        meta["dev.satchel/code"] = json!(code);
    }
    raw(&json!({ "content": [{ "type": "text", "text": message.trim() }], "isError": true, "_meta": meta }))
}

/// A resource that its server could not return.
pub(crate) fn unreadable(server: &ServerName, error: &ErrorObject) -> Box<Raw> {
    let message = format!("\"{server}\" could not read this resource: {error}");
    let meta = json!({ "dev.satchel/outcome": "upstream_error", "dev.satchel/server": server });
    raw(&json!({ "content": [{ "type": "text", "text": message }], "isError": true, "_meta": meta }))
}

/// An invalid request to a meta-tool. Nothing was sent.
pub(crate) fn fault(message: &str) -> Box<Raw> {
    let meta = json!({ "dev.satchel/outcome": "not_sent" });
    raw(&json!({ "content": [{ "type": "text", "text": message }], "isError": true, "_meta": meta }))
}

/// The answer to a call that was not made, without the mark of an error: for a client whose agent ends at the second one.
/// Other results stay.
pub(crate) fn not_called(result: Box<Raw>) -> Box<Raw> {
    let mut fields: Value = serde_json::from_str(result.get()).unwrap_or_default();
    if fields["isError"] != true || fields["_meta"]["dev.satchel/outcome"] != "not_sent" {
        return result;
    }
    fields["isError"] = json!(false);
    if let Some(message) = fields["content"][0]["text"].as_str() {
        fields["content"][0]["text"] = json!(format!("No tool was called. {message}"));
    }
    raw(&fields)
}

fn text(text: &str, is_error: bool) -> Box<Raw> {
    raw(&json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }))
}

fn raw(value: &Value) -> Box<Raw> {
    to_raw_value(value).expect("a JSON value always serializes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_called_can_be_said_without_an_error() {
        let said: Value = serde_json::from_str(not_called(fault("it needs a path")).get()).unwrap();
        assert_eq!(said["isError"], false);
        assert_eq!(said["content"][0]["text"], "No tool was called. it needs a path");
        for same in [text("it failed", true), text("fine", false)] {
            assert_eq!(not_called(same.clone()).get(), same.get());
        }
    }
}
