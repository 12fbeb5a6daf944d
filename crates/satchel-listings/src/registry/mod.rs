//! Sources of servers: the bundled list with its search, documents of the MCP registry, and bundles. Everything is
//! shown before it first runs; nothing here runs anything.
//!
//! `bundled.json` is data: what runs, pinned to a version; what it needs; and its tools and tokens as Satchel counted
//! them when that version ran. What could not be measured without an account is not there.

pub mod bundle;
pub mod fetched;
pub(crate) mod find;
pub mod launch_risks;
pub mod manifest;
pub mod pinning;
pub mod plan;
pub mod runtimes;
pub mod server_json;
pub mod signature;
mod written_code;

use crate::model::listing::Listing;

/// Servers that match the query, best first; an empty query lists all in order.
pub fn find(query: &str) -> Listing {
    let mut listing = bundled();
    find::rank(&mut listing.entries, query);
    listing
}

fn bundled() -> Listing {
    serde_json::from_str(include_str!("bundled.json")).expect("the list is checked by a test")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::{
        ServerName,
        control::Target,
        listing::{Listed, NeedKind},
    };

    fn texts(target: &Target) -> Vec<&String> {
        match target {
            Target::Command { args, env, .. } => args.iter().chain(env.values()).collect(),
            Target::Url { url, headers } => std::iter::once(url).chain(headers.values()).collect(),
        }
    }

    #[test]
    fn every_entry_is_whole() {
        let entries = bundled().entries;
        assert!(entries.len() >= 20);
        let ids: BTreeSet<_> = entries.iter().map(|entry| &entry.id).collect();
        assert_eq!(ids.len(), entries.len(), "every id is there once");
        for entry in &entries {
            check(entry);
        }
    }

    #[track_caller]
    fn check(entry: &Listed) {
        let id = &entry.id;
        id.parse::<ServerName>().unwrap();
        for texts in entry.needs.iter().map(|need| &need.label).chain([&entry.about]) {
            for language in ["en", "de"] {
                assert!(texts.get(language).is_some_and(|text| text.len() > 3), "{id} in {language}");
            }
        }
        let written = texts(&entry.target);
        for need in &entry.needs {
            let reference = format!("{{{}}}", need.name);
            assert!(written.iter().any(|text| text.contains(&reference)), "{id} uses {reference}");
            assert!(
                need.kind != NeedKind::Secret || need.get.is_some(),
                "{id} says where {reference} comes from"
            );
        }
        if let Some(measured) = &entry.measured {
            assert_eq!(measured.tools, entry.tools.len(), "{id}");
            assert!(
                written.iter().any(|text| text.ends_with(&format!("@{}", measured.version))),
                "{id} is pinned"
            );
        } else {
            assert!(entry.tools.is_empty(), "{id} has no tools that nobody saw");
        }
    }
}
