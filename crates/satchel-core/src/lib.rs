//! The core of Satchel: many MCP servers behind one hub. Contains no window and no HTTP server.
//!
//! Floors, lowest first; a module uses only lower ones:
//! 0 [`platform`] (the operating system as a value), below everything else;
//!   [`model`] (words), [`clock`] (the time of day), [`files`] (where things lie on disk), [`edit`] (one change in a text of JSON, TOML or YAML) and
//!   [`tasks`] (parts that fail and begin again);
//! 1 [`config`], [`secrets`], [`clients`], [`registry`], [`stats`];
//! 2 [`upstream`] (one live server), [`trust`] (what the user approved), [`export`] (the configuration of other engines) and
//!   [`setup`] (the whole setup as a file);
//! 3 [`catalog`] (what servers offer), [`icons`] (pictures of servers) and [`bridge`] (between the two families of revisions);
//! 4 [`review`] (what is held back, and what a person says about it), [`prompts`] (what people are asked), [`recorder`]
//!   (what happened), [`calls`] (what calls in flight share), [`scripts`] (scripts that models write), [`own_skills`] (skills of the person) and [`meaning`] (texts as vectors);
//! 5 [`hub`] (many servers, one spine) and [`updates`] (newer versions of the program itself).
//!
//! A test to copy: `hub/tests/calling.rs::arguments_that_do_not_fit_never_reach_the_server`.
#![warn(missing_docs)]

pub mod bridge;
pub mod calls;
pub mod export;
pub mod hub;
pub mod icons;
pub mod own_skills;
pub mod prompts;
pub mod recorder;
pub mod review;
pub mod scripts;
pub mod setup;
pub mod updates;

pub use satchel_base::{clock, config, edit, files, model, platform, tasks};
pub use satchel_catalog::{
    catalog::{self, tokens},
    meaning,
};
pub use satchel_clients as clients;
pub use satchel_intake as intake;
pub use satchel_listings::{listings, registry};
pub use satchel_stats as stats;
pub use satchel_trust as trust;
pub use satchel_upstream::{
    secrets,
    upstream::{self, ancestry, sandbox, sealed, subreaper, watchdog},
};
