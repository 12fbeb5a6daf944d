//! From a query to a call without a model in between: the first tools found for each query are called with nothing, and
//! with a guess, as a model that did not look would; the arguments that our answer to that proposes are held against
//! the tool's own schema.

use std::collections::{BTreeMap, BTreeSet};

use satchel_core::catalog::ToolEntry;
use satchel_mcp::Raw;
use serde_json::{Value, json};

use super::collection::{Collection, Crowd};

/// Tools of one answer that are tried.
const DEPTHS: [usize; 3] = [1, 5, 10];
/// Causes that are told.
const CAUSES: usize = 12;

/// What came of one tool.
enum Outcome {
    Fits,
    /// Nobody can read its schema, so that nothing is proposed for it and nothing refused.
    Unreadable,
    /// What its schema says of what we proposed.
    Misfit(String),
}

/// Prints the table.
pub(crate) fn report(collection: &Collection) {
    let mut hubs: BTreeMap<&str, Crowd> = BTreeMap::new();
    let mut counts = DEPTHS.map(|depth| (depth, 0usize, 0usize));
    let mut known: BTreeMap<String, Outcome> = BTreeMap::new();
    for query in &collection.queries {
        let hub = hubs.entry(&query.corpus).or_insert_with(|| collection.hub(&query.corpus));
        for (rank, (server, tool)) in hub.catalog.find(&query.text, None).into_iter().take(10).enumerate() {
            let path = format!("{}/{server}:{}", query.corpus, tool.name);
            let outcome = known.entry(path).or_insert_with(|| tried(tool));
            for (depth, all, good) in &mut counts {
                if rank < *depth && !matches!(outcome, Outcome::Unreadable) {
                    *all += 1;
                    *good += usize::from(matches!(outcome, Outcome::Fits));
                }
            }
        }
    }
    println!("arguments proposed for the tools found, that fit their schemas");
    for (depth, all, good) in counts {
        let share = 100.0 * good as f64 / all.max(1) as f64;
        println!("{:<38}{good:>8} of {all:>6} {share:>8.2} %", format!("first {depth}"));
    }
    for tool in &collection.tools {
        let path = format!("{}/{}:{}", tool.corpus, tool.server_name(), tool.name);
        known.entry(path).or_insert_with(|| tried(&tool.entry()));
    }
    let good = known.values().filter(|outcome| matches!(outcome, Outcome::Fits)).count();
    println!("{:<38}{good:>8} of {:>6}", "every tool of the collection", known.len());
    let unreadable = known.values().filter(|outcome| matches!(outcome, Outcome::Unreadable)).count();
    println!("{:<38}{unreadable:>8}", "whose schema cannot be read");
    causes(&known);
}

fn causes(known: &BTreeMap<String, Outcome>) {
    let mut causes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, outcome) in known {
        if let Outcome::Misfit(cause) = outcome {
            causes.entry(cause).or_default().insert(path);
        }
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, tools)| std::cmp::Reverse(tools.len()));
    for (cause, tools) in causes.into_iter().take(CAUSES) {
        println!("  {:>4}  {cause}  ({})", tools.len(), tools.first().copied().unwrap_or_default());
    }
}

fn tried(tool: &ToolEntry) -> Outcome {
    let schema: Option<Value> = tool.input_schema().and_then(|raw| serde_json::from_str(raw.get()).ok());
    let Some(validator) = schema.and_then(|schema| jsonschema::options().offline().build(&schema).ok())
    else {
        return Outcome::Unreadable;
    };
    for given in [json!({}), json!({ "query": "something", "limit": "many" })] {
        let raw = Raw::from_string(given.to_string()).expect("JSON");
        let proposed = match tool.check(&raw) {
            Ok(checked) => serde_json::from_str(checked.arguments.get()).unwrap_or_default(),
            Err(misfit) => serde_json::from_str(&misfit.skeleton).unwrap_or_default(),
        };
        if let Err(error) = validator.validate(&proposed) {
            let keyword = error.schema_path().to_string();
            let keyword = keyword.rsplit('/').find(|part| part.parse::<usize>().is_err()).unwrap_or_default();
            return Outcome::Misfit(keyword.to_owned());
        }
    }
    Outcome::Fits
}
