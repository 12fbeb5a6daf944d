//! Measures what servers cost this computer, what was called, how many tokens that put before models, and what was
//! saved.
//!
//! Theory of operation: [`event`]s report what happened, as texts and times. The [`store`] writes them as rows at once,
//! without token counts; it keeps uncounted texts in memory, hands them out for counting, and adds the counts when they
//! arrive. All of that blocks; the room `recorder` runs it beside the calls. Readers ([`report`], [`activity`]) have a
//! connection of their own and never wait for the writer.
//!
//! A test to copy: `report.rs::percentiles_come_from_steps_that_double`.
#![warn(missing_docs)]

pub mod activity;
pub mod audit;
pub mod call_log;
pub mod deferring;
pub mod definitions;
pub mod event;
#[cfg(test)]
mod fixture;
pub mod report;
pub mod retention;
mod schema;
pub mod sharing;
pub mod store;
mod succession;
mod sums;
pub mod trace;
pub mod usage;

use satchel_base::{files, model};

pub use schema::{Damaged, StoreError};
