//! What every other part of Satchel stands on: the operating system as a value, the shared vocabulary, the time of day,
//! files, edits of texts, supervised tasks, and the configuration.
#![warn(missing_docs)]

pub mod clock;
pub mod config;
pub mod edit;
pub mod files;
pub mod model;
pub mod platform;
pub mod tasks;
