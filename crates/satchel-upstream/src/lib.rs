//! One live server: its process or connection, its sign-in, its sandbox, and the secrets it gets.
//!
//! `upstream::lifecycle` decides when a server runs, `upstream::actor` does it; `upstream::connect` and
//! `upstream::start` reach it, `upstream::link` calls it, `upstream::reason` says why it failed, `upstream::oauth`
//! signs in. `secrets` is the keychain. Knows one server, not what others offer.
//! A test to copy: `upstream/reason.rs::python_ends_with_the_right_line`.
#![warn(missing_docs)]

pub mod secrets;
pub mod upstream;

use satchel_base::{clock, config, files, model, platform, tasks};
use satchel_stats as stats;
