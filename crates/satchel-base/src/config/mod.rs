//! The user's configuration: one JSON file with the usual `mcpServers` block.

pub mod change;
pub mod expand;
pub mod file;
pub mod guarded;
mod profile_change;
pub mod profiles;
pub mod rules;
pub mod watch;

pub use file::{Config, ConfigError};
