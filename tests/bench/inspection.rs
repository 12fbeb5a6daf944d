//! How long it takes to look through the definitions of very many tools for what should not be in them.

use std::collections::BTreeSet;

use satchel_core::trust::{fingerprint::Tree, inspect};
use satchel_mcp::Raw;
use serde_json::json;
use tokio::time::Instant;

const DEFINITIONS: usize = 5_000;

/// Definitions of ordinary length, all different.
pub(crate) fn definitions() {
    let words =
        ["the issues", "a branch", "all commits", "the labels of a project", "one release", "a deployment"];
    let text = |number: usize| {
        let what = words[number % words.len()];
        format!(
            "Returns {what} of a repository. Use it after list_repositories_{number}; results are sorted by date, and \
             at most 100 are returned. You must give the owner. If the user has not said which repository, ask."
        )
    };
    let trees: Vec<Tree> = (0..DEFINITIONS)
        .map(|number| {
            let property = json!({ "type": "string", "description": format!("Name of {} (number {number}).", words[number % 6]) });
            let tool = json!({
                "name": format!("tool_{number}"),
                "description": text(number),
                "inputSchema": { "type": "object", "properties": { "owner": property, "repository": property, "q": property } },
            });
            Tree::of(&Raw::from_string(tool.to_string()).expect("it is JSON"))
        })
        .collect();
    let (own, servers) = (BTreeSet::new(), BTreeSet::new());
    let around = inspect::Around { server: "s", own: &own, servers: &servers };
    let start = Instant::now();
    let found: usize = trees.iter().map(|tree| inspect::findings(tree, &around).len()).sum();
    println!(
        "{DEFINITIONS} definitions inspected   {:>9.1} ms ({found} findings)",
        super::millis(start.elapsed())
    );
}
