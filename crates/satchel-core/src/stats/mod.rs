//! What is measured: what servers cost this computer, what was called, what that put before models, and what was saved.
//!
//! Theory of operation: [`event`]s say what happened, as texts and times. The [`recorder`] turns them into rows at
//! once, without numbers of tokens; it keeps the texts that nobody has counted yet in memory, gives them out to be
//! counted, and adds the numbers when they come. All of that blocks and is run beside the calls, by the hub's ledger
//! task. Readers ([`report`], [`activity`]) have a connection of their own and never wait for the writer.

pub mod activity;
pub mod audit;
pub mod deferring;
pub mod event;
#[cfg(test)]
mod fixture;
pub mod keep;
pub mod recorder;
pub mod report;
mod schema;
pub mod sharing;
mod succession;
pub mod trace;
pub mod trail;
pub mod usage;

pub use schema::{Damaged, StoreError};
