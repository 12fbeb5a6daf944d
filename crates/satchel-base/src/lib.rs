//! What every other part of Satchel stands on: the operating system as a value, the shared vocabulary, the time of day,
//! files, edits of texts, supervised tasks, and the configuration.
//!
//! `platform` is below everything else; `model` has the words that all share; `files`, `edit` and `tasks` do one
//! thing each; `config` is the user's file. Begin with `model`.
//! A test to copy: `files/mod.rs::two_names_never_share_a_file`.
#![warn(missing_docs)]

pub mod clock;
pub mod config;
pub mod edit;
pub mod files;
pub mod model;
pub mod platform;
pub mod tasks;
