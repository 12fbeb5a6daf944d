//! What servers offer: the tools, how they are found by words and by meaning, and how arguments are checked.
//!
//! `catalog` holds what servers offer: `fetch` reads it, `mending` and `repair` correct it, `search` finds it,
//! `arguments` checks calls against it. `meaning` compares texts by the sentence model. Begin with `catalog`.
//! Starts no server.
//! A test to copy: `catalog/arguments/mod.rs::unambiguous_mistakes_are_corrected`.
#![warn(missing_docs)]

pub mod catalog;
pub mod meaning;

use satchel_base::{config, files, model};
use satchel_stats as stats;
use satchel_trust as trust;
use satchel_upstream::upstream;
