//! Servers that can be installed: packages and their launchers, and the listings of registries.
//!
//! `registry` has the bundled list, documents of registries, bundles, and what would run; `listings` fetches,
//! stores and searches registries. Installs nothing: it says what an installation would do.
//! A test to copy: `listings/ways.rs::common_listings_become_a_command_line_or_an_address`.
#![warn(missing_docs)]

pub mod listings;
pub mod registry;

use satchel_base::{clock, config, files, model, platform};
use satchel_catalog::catalog;
use satchel_trust as trust;
use satchel_upstream::{secrets, upstream};
