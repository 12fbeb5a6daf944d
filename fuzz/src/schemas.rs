//! A tool's schema and the arguments for it, both by strangers: judged in bounded time, and what is corrected is right.

use satchel_core::catalog::validate;
use satchel_mcp::Raw;
use serde_json::Value;

/// A line is the schema, the next one the arguments.
pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some((schema, arguments)) = text.split_once('\n') else { return };
    let Ok(arguments) = serde_json::from_str::<Box<Raw>>(arguments) else { return };
    let definition = format!("{{\"name\":\"t\",\"inputSchema\":{schema}}}");
    let Ok(raw) = Raw::from_string(definition) else { return };
    let (tools, _) = validate::tools(vec![raw]);
    let Some(tool) = tools.first() else { return };
    let _ = (tool.signature(), tool.shorter_signature(120), tool.needs_schema(), tool.skeleton());
    match tool.check(&arguments) {
        Ok(checked) if checked.notes.is_empty() => assert_eq!(checked.arguments.get(), arguments.get()),
        Ok(checked) => {
            assert!(serde_json::from_str::<Value>(checked.arguments.get()).is_ok());
            let again = tool.check(&checked.arguments).expect("what was corrected fits");
            assert!(again.notes.is_empty(), "it was not corrected at once: {:?}", again.notes);
        }
        Err(misfit) => assert!(!misfit.faults.is_empty(), "refused without a reason"),
    }
}
