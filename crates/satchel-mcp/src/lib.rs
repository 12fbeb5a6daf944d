//! The Model Context Protocol, pure: messages, revisions, framing. No servers, tasks or sockets.
//!
//! Messages travel as they were written: only what routing needs is parsed, the rest stays raw JSON text
//! ([`serde_json::value::RawValue`]), so nothing is lost that this program does not understand.
//!
//! `era` has the revisions and how they differ, `methods` every method with who may send it, `message`, `envelope`
//! and `object` read, `meta` translates between the families, `framing` and `sse` find messages in streams. Begin
//! with `era`.
//! A test to copy: `era.rs::of_what_a_server_speaks_the_newest_stateless_revision_is_taken`.
#![warn(missing_docs)]

pub mod bytes;
pub mod envelope;
pub mod era;
pub mod errors;
pub mod exact;
pub mod framing;
pub mod headers;
mod large;
pub mod limits;
pub mod message;
pub mod meta;
pub mod methods;
pub mod object;
pub mod param_headers;
pub mod sse;
pub mod text;

pub use errors::ErrorObject;
pub use message::{Id, Message, ParseError};
pub use object::{Plain, RawObject};
/// Unparsed JSON, exactly as it was written.
pub use serde_json::value::RawValue as Raw;
