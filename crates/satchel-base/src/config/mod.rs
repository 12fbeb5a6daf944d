//! The user's configuration: one JSON file with the usual `mcpServers` block.

pub mod change;
pub mod file;
pub mod guarded;
pub mod hidden;
pub mod keys;
pub mod pinned_tools;
mod profile_change;
pub mod profiles;
mod reader;
pub mod rules;
mod server_entries;
mod settings;
mod tool_lists;
pub mod watch;

pub use file::{Config, ConfigError};
