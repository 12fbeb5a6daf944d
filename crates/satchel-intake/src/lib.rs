//! How servers come in: from other programs' files, pasted texts, bundles, descriptions and registries.
//!
//! `offers` and `install` read a source and say what would run; `taking`, `install` and `entering` accept exactly what was
//! shown. `entry_secrets` names and stores the secrets of entries, and no other file does. What the hub lends for that is
//! the trait `House`, in `house`; nothing here knows the hub.
//! A test to copy: `entering.rs::only_references_to_the_variable_are_replaced`.
#![warn(missing_docs)]

mod bundled;
pub mod bundles;
pub mod cut;
mod described;
pub mod entering;
pub mod entry_secrets;
pub mod house;
pub mod install;
pub mod offers;
mod pinned_image;
pub mod preview;
pub mod provenance;
mod remarks;
mod shown;
pub mod taking;
pub mod update;

use satchel_base::{config, edit, files, model, platform};
use satchel_clients as clients;
use satchel_listings::{listings, registry};
use satchel_stats as stats;
use satchel_trust as trust;
use satchel_upstream::{secrets, upstream};
