//! How a server is run, pure: what a command line launches, which of its texts are credentials, which addresses lead
//! inside. Reads no files, starts nothing and knows no format of any program.
#![warn(missing_docs)]

pub mod credential;
pub mod launcher;
pub mod name_words;
pub mod placeholder;
pub mod slips;
pub mod zone;
