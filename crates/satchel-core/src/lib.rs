//! The heart of Satchel: many MCP servers behind one hub. No window, no HTTP server.
//!
//! Floors, lowest first; a module uses only lower ones:
//! 0 [`model`] (words), [`clock`] (the time of day), [`files`] (where things lie on disk), [`edit`] (one change in a text of JSON, TOML or YAML) and
//!   [`tasks`] (parts that fail and begin again);
//! 1 [`config`], [`secrets`], [`clients`], [`registry`], [`stats`];
//! 2 [`upstream`] (one live server) and [`trust`] (what the user approved);
//! 3 [`catalog`] (what servers offer) and [`bridge`] (between the two families of revisions);
//! 4 [`review`] (what is held back, and what a person says about it) and [`prompts`] (what people are asked);
//! 5 [`hub`] (many servers, one spine).
#![warn(missing_docs)]

pub mod bridge;
pub mod catalog;
pub mod clients;
pub mod clock;
pub mod config;
pub mod edit;
pub mod files;
pub mod hub;
pub mod model;
pub mod prompts;
pub mod registry;
pub mod review;
pub mod secrets;
pub mod stats;
pub mod tasks;
pub mod trust;
pub mod upstream;

pub use catalog::tokens;
pub use upstream::{ancestry, leash, walls, warden};
