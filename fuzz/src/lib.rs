//! What strangers write, in every form a machine can think of: each target takes any bytes and panics where the product
//! would lose something, let something in, or contradict itself. `cargo test` gives every target the texts kept in
//! `corpus` and mutations of them; `make fuzz` looks for new ones, guided by coverage.

#![warn(missing_docs)]

mod cleaner;
mod configurations;
mod door;
mod framer;
mod installs;
mod lists;
mod messages;
mod questions;
mod records;
mod redact;
mod requests;
mod schemas;
mod scripts;
mod searches;
mod sse;

/// A target: its name, which is also its corpus's, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("cleaner", cleaner::run),
    ("configurations", configurations::run),
    ("door", door::run),
    ("framer", framer::run),
    ("installs", installs::run),
    ("lists", lists::run),
    ("redact", redact::run),
    ("messages", messages::run),
    ("questions", questions::run),
    ("records", records::run),
    ("requests", requests::run),
    ("schemas", schemas::run),
    ("scripts", scripts::run),
    ("searches", searches::run),
    ("sse", sse::run),
];

/// The bytes after the first, in chunks whose size the first byte decides; `None` without bytes.
fn pieces(data: &[u8]) -> Option<(&[u8], impl Iterator<Item = &[u8]>)> {
    let (size, rest) = data.split_first()?;
    Some((rest, rest.chunks(usize::from(*size).max(1))))
}
