//! Knows the programs that connect to Satchel: what they are, what their files contain, and how our entry gets in and
//! out.
#![warn(missing_docs)]

pub mod connect;
pub mod document;
pub mod import;
pub mod ledger;
pub mod machine;
pub mod masked;
pub mod references;
pub mod surface;
pub mod table;
pub mod template;
pub mod token;
pub mod told;

use satchel_base::{clock, edit, files, model, platform};
