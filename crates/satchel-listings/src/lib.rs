//! Servers that can be installed: packages and their launchers, and the listings of registries.
#![warn(missing_docs)]

pub mod listings;
pub mod registry;

use satchel_base::{clock, config, files, model, platform};
use satchel_catalog::catalog;
use satchel_trust as trust;
use satchel_upstream::{secrets, upstream};
