//! The house: real processes, real HTTP, no window. Few tests, each a story.

mod approvals;
mod audit;
mod bridge;
mod catalog;
mod cli;
mod clients;
mod config;
mod containers;
mod costs;
mod discovery;
mod doors;
mod features;
mod fitted;
mod floors;
mod hosted;
mod hubs;
mod hygiene;
mod learning;
mod ledger;
mod limits;
mod meaning;
mod mishaps;
mod origin;
mod paths;
mod permissions;
mod pinned;
mod preflight;
mod projects;
mod questions;
mod resources;
mod results;
mod reviews;
mod scripts;
mod secrets;
mod setups;
mod sharing;
mod sleeping;
mod toggling;
mod troubles;
mod unapproved;

use satchel_tests::{Client, eventually};

/// Waits until a server's tools are offered.
async fn offered(client: &Client, tool_path: &str) {
    eventually(&format!("{tool_path} is found"), async || {
        client.paths(tool_path).await.iter().any(|path| path == tool_path).then_some(())
    })
    .await;
}
