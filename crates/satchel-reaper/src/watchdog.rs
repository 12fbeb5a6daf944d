//! The watchdog: tracks process groups that begin and end, and ends those that remain when the hub is gone.

use std::{collections::BTreeSet, io::BufRead, process::ExitCode};

use crate::processes::{kill_below, kill_group, kill_marked};

/// The environment variable that tells the watchdog which processes to end.
pub const RUN: &str = "SATCHEL_RUN";

/// Main function of `<program> watchdog`.
pub fn main() -> ExitCode {
    let run = std::env::var(RUN).unwrap_or_default();
    let mut groups = BTreeSet::new();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        match (line.get(..1), line.get(1..).and_then(|group| group.parse::<u32>().ok())) {
            (Some("+"), Some(group)) => {
                groups.insert(group);
            }
            (Some("-"), Some(group)) => {
                groups.remove(&group);
            }
            _ => {}
        }
    }
    for group in groups {
        kill_below(group, None);
        kill_group(group);
    }
    // An empty run would match every mark.
    if !run.is_empty() {
        kill_marked(&format!("{run}."));
    }
    ExitCode::SUCCESS
}
