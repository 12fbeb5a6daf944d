//! Defines the arguments of the commands that move servers and setups between programs, gateways and computers.

use clap::{Args as Group, Subcommand, ValueEnum};

use super::variable;

#[derive(Debug, Subcommand)]
pub(crate) enum SetupAct {
    /// Export the whole setup into a file
    Export {
        /// The file; its name ends in `.json`, better in `.satchel.json`
        file: std::path::PathBuf,
        /// Include secrets, encrypted with a passphrase that is asked for
        #[arg(long)]
        with_secrets: bool,
    },
    /// Show how a file differs, and import it after a yes; `satchel undo` reverts it
    Import {
        /// The file
        file: std::path::PathBuf,
        #[command(flatten)]
        parts: SetupParts,
    },
    /// Follow a folder: while a hub runs, write this setup there after every change, without secrets, and show what other computers write; without a hub, `satchel setup` does both
    Follow {
        /// The folder
        #[arg(required_unless_present = "stop")]
        folder: Option<std::path::PathBuf>,
        /// Stop following; the files stay
        #[arg(long, conflicts_with = "folder")]
        stop: bool,
    },
    /// Apply what differs on another computer that uses the followed folder
    Take {
        /// The computer, as in `satchel setup`
        computer: String,
        #[command(flatten)]
        parts: SetupParts,
    },
    /// Keep the local version until the other computer changes it again
    Keep {
        /// The computer, as in `satchel setup`
        computer: String,
        #[command(flatten)]
        parts: SetupParts,
    },
}

#[derive(Debug, Group)]
pub(crate) struct SetupParts {
    /// Only these parts, by name; default: all that differ
    #[arg(value_name = "PART")]
    pub(crate) parts: Vec<String>,
    /// Show what differs, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// [`Engine`](satchel_core::export::Engine) on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportTo {
    /// agentgateway: one YAML file with programs and addresses
    Agentgateway,
    /// The operator of ToolHive: resources of Kubernetes for images and addresses
    Toolhive,
    /// Docker Compose: one file that runs Docker's MCP gateway for images and addresses
    Compose,
}

impl From<ExportTo> for satchel_core::export::Engine {
    fn from(to: ExportTo) -> Self {
        match to {
            ExportTo::Agentgateway => Self::AgentGateway,
            ExportTo::Toolhive => Self::ToolHive,
            ExportTo::Compose => Self::Compose,
        }
    }
}

#[derive(Debug, Group)]
pub(crate) struct Import {
    /// File, block, command line or address; `-` reads standard input; default: every client's files
    #[arg(value_name = "SOURCE")]
    pub(crate) source: Option<String>,
    /// Only this client: its own files, or SOURCE read by that client's rules
    #[arg(long, value_name = "CLIENT")]
    pub(crate) from: Option<String>,
    /// Also read this project's files
    #[arg(long, value_name = "DIR", conflicts_with_all = ["source", "from"])]
    pub(crate) project: Option<std::path::PathBuf>,
    /// Show what was found, and import nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Only this server; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Value of an input of a bundle or description; repeatable
    #[arg(long, value_name = "ID=VALUE", value_parser = variable)]
    pub(crate) set: Vec<(String, String)>,
    /// Show what would run and do not ask; has no effect without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
    /// Also remove the servers from the client's own configuration
    #[arg(long = "move", requires = "from", conflicts_with_all = ["dry_run", "source"])]
    pub(crate) take_out: bool,
}
