//! Defines the arguments of the commands that run the hub and make this program known to the system.

use clap::{Args as Group, ValueEnum};

#[derive(Debug, Group)]
pub(crate) struct Serve {
    /// Port to listen on; 0 picks a free one
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Log format in the terminal
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Human)]
    pub(crate) log_format: LogFormat,
    /// Start every server in the configuration file as it stands there now, without asking a person. For scripts and
    /// containers that own the file
    #[arg(long)]
    pub(crate) trust_config: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Human,
    Json,
    /// Log to the file only
    None,
}

/// What to do with PATH.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SearchPathAct {
    /// Append the directory
    Add,
    /// Remove the directory
    Remove,
}
