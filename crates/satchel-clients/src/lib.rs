//! Knows the programs that connect to Satchel: what they are, what their files contain, and how our entry gets in and
//! out.
//!
//! `table` says what each client is, `seen` what it was seen to do, and `seen_page` says so to people; `document` reads
//! its file; `connect`, `template` and `ledger` put our entry in and take it out; `import` reads its servers and
//! `references` its placeholders; `token` and `surface` are about who calls. Starts nothing.
//! A test to copy: `references.rs::only_references_that_the_client_supports_are_translated`.
#![warn(missing_docs)]

pub mod connect;
pub mod document;
pub mod import;
pub mod ledger;
pub mod machine;
pub mod masked;
pub mod references;
pub mod seen;
pub mod seen_page;
pub mod surface;
pub mod table;
pub mod template;
pub mod token;
pub mod told;

use satchel_base::{clock, edit, files, model, platform};
