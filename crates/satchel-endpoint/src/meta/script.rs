//! `run_mcp_script`: its definition, and what a call of it asks for.

use std::time::Duration;

use satchel_core::hub::Wanted;
use satchel_mcp::{Raw, RawObject};
use serde_json::{Value, json};

use super::{DISCOVER, RUN_SCRIPT, definitions, menu::STAYS};

/// The longest script, in bytes; what is longer is data, and goes into `input`.
const SCRIPT: usize = 256 * 1024;
/// How long a script may take, in seconds.
const MOST: f64 = 120.0;

pub(crate) const INSTRUCTIONS: &str = "Tools of many servers are reached through here. Find them with discover_mcp_tools, then write one script for run_mcp_script that calls them and returns only what matters.";

/// What a client that runs scripts lists: the search as other clients have it, and the tool that runs scripts.
pub(crate) fn script_definitions(servers: &[String]) -> Value {
    let mut listed: Vec<Value> = match definitions(servers) {
        Value::Array(all) => all.into_iter().filter(|one| one["name"] == DISCOVER).collect(),
        _ => vec![],
    };
    for search in &mut listed {
        let said = search["description"].as_str().unwrap_or_default();
        let said = said.replacen(super::EXECUTE, RUN_SCRIPT, 1);
        search["description"] = json!(said);
    }
    listed.push(json!({
        "name": RUN_SCRIPT,
        "title": "Run a script",
        "description": format!(
            "Run JavaScript that calls tools found with {DISCOVER}; only what it returns or logs comes back. \
             The script is the body of an async function: `const all = await servers.NAME.TOOL({{…}}); return all.length`. \
             Also call(\"server:tool\", {{…}}) and Promise.all. Results are values (structured content, parsed JSON or \
             text); failed calls throw. No imports, files, network or timers."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "script": { "type": "string" },
                "input": { "description": "given to the script as `input`" },
                "timeout": { "type": "number", "description": "seconds", "default": MOST, "maximum": MOST }
            },
            "required": ["script"]
        },
        "_meta": { STAYS: true }
    }));
    Value::Array(listed)
}

/// What is to be run.
///
/// # Errors
/// What is wrong with the arguments, and what to write instead.
pub(crate) fn script_arguments(arguments: &RawObject) -> Result<Wanted, String> {
    let script = arguments
        .text("script")
        .ok_or("run_mcp_script needs a script: the body of an async function in JavaScript, as a string")?;
    if script.len() > SCRIPT {
        let bytes = script.len();
        return Err(format!(
            "the script has {bytes} bytes of at most {SCRIPT}; give data as \"input\" instead"
        ));
    }
    let patience = match arguments.get("timeout") {
        None => MOST,
        Some(raw) if raw.get() == "null" => MOST,
        Some(raw) => serde_json::from_str::<f64>(raw.get())
            .ok()
            .filter(|seconds| *seconds > 0.0)
            .ok_or_else(|| format!("\"timeout\" must be a number of seconds up to {MOST}"))?,
    };
    let patience = Duration::from_secs_f64(patience.min(MOST));
    let nothing = || Raw::from_string("null".to_owned()).expect("it is JSON");
    let input = arguments.get("input").map_or_else(nothing, ToOwned::to_owned);
    Ok(Wanted { script, input, patience })
}

#[cfg(test)]
mod tests {
    use satchel_core::tokens;

    use super::*;

    #[test]
    fn what_is_wrong_with_a_request_is_said() {
        let check = |json: &str, expected: Result<(&str, u64), &str>| {
            let got = script_arguments(&serde_json::from_str(json).unwrap());
            match (&got, expected) {
                (Ok(got), Ok((input, seconds))) => {
                    assert_eq!((got.input.get(), got.patience.as_secs()), (input, seconds), "{json}");
                }
                (Err(said), Err(part)) => assert!(said.contains(part), "{json}: {said}"),
                _ => panic!("{json}: {got:?}"),
            }
        };
        check(r#"{"script":"1"}"#, Ok(("null", 120)));
        check(r#"{"script":"1","input":{"a":1.0},"timeout":2}"#, Ok((r#"{"a":1.0}"#, 2)));
        check(r#"{"script":"1","timeout":1e9}"#, Ok(("null", 120)));
        check(r#"{"script":"1","timeout":0}"#, Err("a number of seconds"));
        check(r#"{"script":"1","timeout":"soon"}"#, Err("a number of seconds"));
        check(r#"{"script":1}"#, Err("needs a script"));
        check("{}", Err("needs a script"));
        check(&format!(r#"{{"script":"{}"}}"#, "x".repeat(SCRIPT + 1)), Err("as \"input\""));
    }

    #[test]
    fn two_tools_are_listed_and_stay_small() {
        let listed = script_definitions(&["git".to_owned()]);
        let names: Vec<&str> =
            listed.as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
        assert_eq!(names, [DISCOVER, RUN_SCRIPT]);
        let search = &listed[0]["description"];
        assert_eq!(search, "Find tools by what they do, to call with run_mcp_script. Servers: git.");
        let tokens = tokens::count_here(&[listed.to_string()]).unwrap();
        assert!(tokens[0] <= 450, "{tokens:?}");
    }
}
