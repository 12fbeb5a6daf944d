//! `run_mcp_script`: its definition. What a call of it asks for is read by [`satchel_core::hub::Wanted`].

use satchel_core::hub::Wanted;
use serde_json::{Value, json};

use super::{DISCOVER, RUN_SCRIPT, definitions, menu::STAYS};

pub(crate) const INSTRUCTIONS: &str = "Tools of many servers are reached through here. Find them with discover_mcp_tools, then write one script for run_mcp_script that calls them and returns only what matters.";

/// The tools of a client that runs scripts: the usual search, and the tool that runs scripts.
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
                "timeout": { "type": "number", "description": "seconds", "default": Wanted::LONGEST, "maximum": Wanted::LONGEST }
            },
            "required": ["script"]
        },
        "_meta": { STAYS: true }
    }));
    Value::Array(listed)
}

#[cfg(test)]
mod tests {
    use satchel_core::tokens;

    use super::*;

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
