//! What discovery costs in tokens, over the lists of real servers: TOOLS_DIR, or `tools` beside RETRIEVAL_DIR, has one
//! `{"tools": […]}` a server.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use anyhow::{Context, Result};
use satchel_core::{
    catalog::{Aids, Catalog, Offer, answer::Asked, validate},
    model::ServerName,
    tokens,
};
use satchel_mcp::Raw;
use serde_json::value::to_raw_value;

use super::collection::Query;

/// Prints the table.
pub(crate) fn report(directory: &Path, queries: &[Query]) -> Result<()> {
    let catalog = read(directory)?;
    let tools = catalog.tools().count();
    let listed: Vec<String> = catalog.servers().values().map(|offer| offer.definitions()).collect();
    let everything: usize = count(&listed)?.iter().sum();
    let menu = count(&[satchel_endpoint::menu(&catalog).to_string()])?[0];
    // A few of the servers, as many as people have.
    let some = [1, 4, 8, 16].map(|size| {
        let servers = catalog.servers().iter().step_by((catalog.servers().len() / size).max(1)).take(size);
        Catalog::new(servers.map(|(name, offer)| (name.clone(), offer.clone())).collect())
    });
    let menus: Vec<String> = some.iter().map(|some| satchel_endpoint::menu(some).to_string()).collect();
    println!("tokens (o200k_base) over {} servers with {tools} tools", catalog.servers().len());
    println!("{:<38}{everything:>8}", "everything listed");
    for (some, tokens) in some.iter().zip(count(&menus)?) {
        println!("{:<38}{tokens:>8}", format!("menu, {} servers", some.servers().len()));
    }
    println!("{:<38}{menu:>8} (at most 450)", "menu, all of them");
    let mut median = 0;
    for (name, full, limit) in
        [("answer, 10 tools", false, 10), ("answer, 5 tools", false, 5), ("full, 3 tools", true, 3)]
    {
        let answer = |query: &Query| {
            let asked =
                Asked { query: &query.text, server: None, limit, full, types: false, aids: Aids::default() };
            serde_json::to_string(&catalog.answer(&asked)).unwrap_or_default()
        };
        let texts: Vec<String> = queries.iter().map(answer).collect();
        let mut counts = count(&texts)?;
        counts.sort_unstable();
        let at = |share: f64| counts[((counts.len() - 1) as f64 * share) as usize];
        println!("{name:<38}{:>8} median{:>8} p95{:>8} most", at(0.5), at(0.95), at(1.0));
        median = if median == 0 { at(0.5) } else { median };
    }
    println!(
        "{:<38}{:>8} searches cost as much",
        "break-even",
        everything.saturating_sub(menu) / median.max(1)
    );
    Ok(())
}

fn count(texts: &[String]) -> Result<Vec<usize>> {
    tokens::count_here(texts).context("the encoding")
}

fn read(directory: &Path) -> Result<Catalog> {
    let mut offers: BTreeMap<ServerName, Arc<Offer>> = BTreeMap::new();
    for file in fs::read_dir(directory).with_context(|| directory.display().to_string())? {
        let path = file?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let list: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
        let tools: Vec<Box<Raw>> = list["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|tool| to_raw_value(tool).ok())
            .collect();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        offers.insert(name.parse()?, Arc::new(Offer { tools: validate::tools(tools).0, ..Offer::default() }));
    }
    Ok(Catalog::new(offers))
}
