//! Judges definitions: fingerprints pin what the user approved, inspection marks what is suspicious, and changes wait.
//!
//! Pure but for one file a server. Knows definitions only as raw texts; what is done with a verdict is others' matter.
//!
//! `fingerprint` and `approvals` decide what is new or changed, `inspect` what is suspicious, `nature` what a tool
//! does, `rules` whether it may be called, `clean` what no person could see. `grants` and `secret` are about
//! credentials.
//! A test to copy: `clean.rs::a_person_sees_what_hides`.
#![warn(missing_docs)]

pub mod approvals;
pub mod clean;
pub mod diff;
pub mod fingerprint;
pub mod grants;
pub mod inspect;
pub mod nature;
pub mod reach;
pub mod rules;
pub mod secret;
mod stands;
pub mod uri;

use satchel_base::{config, files, model};

pub use approvals::{First, Item, Record, Verdict};
pub use fingerprint::Fingerprint;
