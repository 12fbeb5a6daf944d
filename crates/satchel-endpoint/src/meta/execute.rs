//! `execute_mcp_tool`: parses the path and arguments of a call.

use satchel_mcp::{Raw, RawObject};

/// The path of the wanted tool. Search results call it `tool`, so that key is accepted too.
pub(crate) fn wanted_tool(arguments: &RawObject) -> Option<String> {
    arguments.text("tool_path").or_else(|| arguments.text("tool"))
}

/// The path and arguments of `execute_mcp_tool`. Models often write the arguments as a JSON string, which is accepted.
pub(crate) fn execute_arguments(arguments: &RawObject) -> Result<(String, Box<Raw>), String> {
    let path = wanted_tool(arguments).ok_or(
        "execute_mcp_tool needs a tool_path of the form server:tool; find one with discover_mcp_tools",
    )?;
    let fault = || "\"arguments\" must be an object that fits the tool's signature".to_owned();
    let given = match arguments.get("arguments") {
        None => return Ok((path, RawObject::new().to_raw())),
        // PHP writes an object without fields as a list.
        Some(raw) if raw.get() == "null" || is_empty_list(raw) => {
            return Ok((path, RawObject::new().to_raw()));
        }
        Some(raw) => raw.to_owned(),
    };
    if given.get().starts_with('{') {
        return Ok((path, given));
    }
    let text: String = serde_json::from_str(given.get()).map_err(|_| fault())?;
    if text.trim().is_empty() {
        return Ok((path, RawObject::new().to_raw()));
    }
    let inner = Raw::from_string(text.trim().to_owned()).map_err(|_| fault())?;
    if inner.get().starts_with('{') { Ok((path, inner)) } else { Err(fault()) }
}

fn is_empty_list(raw: &Raw) -> bool {
    raw.get().strip_prefix('[').is_some_and(|rest| rest.trim_start() == "]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(json: &str) -> RawObject {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn arguments_are_taken_as_an_object_or_as_its_text() {
        let check = |json: &str, expected: Result<&str, ()>| {
            let got = execute_arguments(&object(json));
            assert_eq!(got.as_ref().map(|(_, raw)| raw.get()).map_err(|_| ()), expected, "{json}");
        };
        check(r#"{"tool_path":"a:b","arguments":{"z":1.0,"a":2}}"#, Ok(r#"{"z":1.0,"a":2}"#));
        check(r#"{"tool_path":"a:b","arguments":" {\"z\":1.0} "}"#, Ok(r#"{"z":1.0}"#));
        check(r#"{"tool_path":"a:b"}"#, Ok("{}"));
        check(r#"{"tool_path":"a:b","arguments":null}"#, Ok("{}"));
        check(r#"{"tool":"a:b","arguments":{"z":1.0}}"#, Ok(r#"{"z":1.0}"#));
        check(r#"{"tool_path":"a:b","arguments":[ ]}"#, Ok("{}"));
        check(r#"{"tool_path":"a:b","arguments":[1]}"#, Err(()));
        check(r#"{"tool_path":"a:b","arguments":"not json"}"#, Err(()));
        check(r#"{"arguments":{}}"#, Err(()));
    }
}
