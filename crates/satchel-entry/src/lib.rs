//! How a server is run, pure: what a command line launches, which references its texts contain, which of them are
//! credentials, which addresses lead inside. Reads no files, starts nothing and knows no format of any program.
//!
//! `launcher` reads command lines, `template` references, `credential` finds secrets in names and values, `zone` places
//! addresses, `placeholder` and `slips` know what people and other programs write, `source` where secrets are read from, `stateful` which programs keep something
//! open.
//! A test to copy: `zone.rs::an_address_lies_where_its_packets_go`.
#![warn(missing_docs)]

pub mod credential;
pub mod launcher;
pub mod name_words;
pub mod placeholder;
pub mod slips;
pub mod source;
pub mod stateful;
pub mod template;
pub mod zone;
