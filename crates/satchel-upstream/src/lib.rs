//! One live server: its process or connection, its sign-in, its sandbox, and the secrets it gets.
#![warn(missing_docs)]

pub mod secrets;
pub mod upstream;

use satchel_base::{clock, config, files, model, platform, tasks};
use satchel_stats as stats;
