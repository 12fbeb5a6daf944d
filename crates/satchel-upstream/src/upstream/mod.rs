//! One MCP server that we are a client of: when it runs, how it is reached, how it is called.

mod activity;
mod actor;
pub mod ancestry;
pub mod breaker;
pub mod connect;
mod container;
mod credentials;
mod dirty;
mod ending;
pub mod environment;
mod fill;
mod flight;
mod handle;
mod handshake;
mod hold;
pub mod lease;
pub mod lifecycle;
#[cfg(test)]
mod lifecycle_model;
pub mod link;
mod listen;
pub mod log;
pub mod oauth;
mod preflight;
pub mod reaper;
mod reason;
pub mod sandbox;
pub mod sealed;
mod setup;
mod start;
pub mod subreaper;
mod surroundings;
mod symptoms;
pub mod watchdog;

pub use container::{Engines, installed_engine};
pub use dirty::{Dirty, Reading, Unread};
pub use ending::Ending;
pub use fill::{fill, secrets_of, unset};
pub use handle::{Seen, Upstream};
pub use handshake::Hello;
pub use handshake::answered_status;
pub use lease::{Lease, LeaseError};
pub use link::{CallError, EndReason, Event, Link, Outcome};
pub use preflight::Preflight;
pub use setup::setup_of;
pub use surroundings::{ServerNotification, Surroundings};
