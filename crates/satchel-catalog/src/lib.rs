//! What servers offer: the tools, how they are found by words and by meaning, and how arguments are checked.
#![warn(missing_docs)]

pub mod catalog;
pub mod meaning;

use satchel_base::{config, files, model};
use satchel_stats as stats;
use satchel_trust as trust;
use satchel_upstream::upstream;
