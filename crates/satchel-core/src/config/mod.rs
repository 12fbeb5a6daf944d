//! What the user wants: one JSON file with the `mcpServers` block that everyone knows.

pub mod change;
pub mod expand;
pub mod file;
pub mod guarded;
mod profile_change;
pub mod profiles;
pub mod rules;
pub mod watch;

pub use file::{Config, ConfigError};
