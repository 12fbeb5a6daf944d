//! Trouble on purpose: servers that lie, die, flood and hide, hubs that are killed, files that are damaged. Each test
//! has one pass criterion, prints what it measured, and fails when it did no work.
//!
//! `cargo test` runs small numbers; `make soak` sets `SATCHEL_SOAK=1` for large ones, and `SATCHEL_SOAK=night` is for
//! those that take hours. `SATCHEL_SEED` replays a run.

#![allow(clippy::disallowed_methods, reason = "tests wait for their tasks by joining them")]

mod arena;
mod control;
mod journal;
mod processes;
mod storm;

mod backpressure;
#[cfg(target_os = "linux")]
mod both_write;
#[cfg(target_os = "linux")]
mod boundaries;
mod bounds;
mod canaries;
mod cancelled;
#[cfg(target_os = "linux")]
mod clock;
mod corpus;
mod corrupt_state;
mod cross_talk;
mod disk_full;
mod edited;
mod escapees;
mod golden_home;
mod hosted_once;
mod hub_killed;
mod idle;
mod instances;
mod isolation;
mod keychain;
mod kill_storm;
#[cfg(target_os = "linux")]
mod killed_edit;
#[cfg(target_os = "linux")]
mod killed_move;
mod knocking;
mod modes;
mod panics;
mod planted;
mod readings;
mod rebinding;
#[cfg(target_os = "linux")]
mod renamed;
mod restart_storm;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod spelled;
#[cfg(target_os = "linux")]
mod spied;
mod stopping;
mod strangers;
mod suspended;
mod torn_write;

use std::sync::LazyLock;

/// Are large numbers wanted?
fn soaking() -> bool {
    std::env::var_os("SATCHEL_SOAK").is_some_and(|value| !value.is_empty() && value != "0")
}

/// The size for every commit, or for a soak.
fn sized(commit: usize, soak: usize) -> usize {
    if soaking() { soak } else { commit }
}

/// The same, if a nightly run is larger than a soak.
fn nightly(commit: usize, soak: usize, night: usize) -> usize {
    match std::env::var_os("SATCHEL_SOAK") {
        Some(value) if value == "night" => night,
        _ => sized(commit, soak),
    }
}

/// Reproducible random decisions: the seed is printed with the measurements.
fn random() -> (u64, fastrand::Rng) {
    static SEED: LazyLock<u64> = LazyLock::new(|| {
        let chosen = std::env::var("SATCHEL_SEED").ok().map(|seed| seed.parse().expect("a seed is a number"));
        chosen.unwrap_or_else(|| if soaking() { fastrand::u64(1..1_000_000) } else { 1 })
    });
    (*SEED, fastrand::Rng::with_seed(*SEED))
}

/// A figure for readers of the output; `cargo test -- --nocapture` shows it.
macro_rules! measured {
    ($($part:tt)*) => { println!("measured: {}", format_args!($($part)*)) };
}
use measured;
