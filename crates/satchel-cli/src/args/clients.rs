//! Defines the arguments of the commands that connect clients and choose what they see: a surface, a profile.

use clap::{Args as Group, Subcommand, ValueEnum};

use super::pattern;

/// Subcommands of `profile`.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileAct {
    /// List profiles, who uses them, and which one is active
    List,
    /// Switch the active profile, for every client without one of its own; takes effect at once
    Use {
        /// The profile
        #[arg(required_unless_present = "everything")]
        name: Option<String>,
        /// No profile: every enabled server
        #[arg(long, conflicts_with = "name")]
        everything: bool,
    },
    /// Add a profile
    Add {
        /// Name
        name: String,
        /// Servers, as in `satchel list`
        #[arg(value_name = "SERVER")]
        servers: Vec<String>,
        /// Only these tools of the servers they name: `github:get_*`
        #[arg(long, value_name = "TOOLS", value_parser = pattern)]
        only: Vec<String>,
        /// Without these tools: `*:delete_*`
        #[arg(long, value_name = "TOOLS", value_parser = pattern)]
        except: Vec<String>,
    },
    /// Change a profile
    Edit(ProfileEdit),
    /// Remove an unused profile; its servers stay
    Remove { name: String },
    /// Bind a client or a project folder to a profile, regardless of the active one
    #[command(
        allow_missing_positional = true,
        override_usage = "satchel profile bind CLIENT NAME\n       satchel profile bind --folder DIR NAME"
    )]
    Bind {
        /// Client, as in `satchel clients`
        #[arg(required_unless_present = "folder")]
        client: Option<String>,
        /// Project folder: for clients that report it as a root
        #[arg(long, value_name = "DIR", conflicts_with = "client")]
        folder: Option<std::path::PathBuf>,
        /// The profile
        #[arg(required = true)]
        name: String,
    },
    /// Unbind a client or a project folder: the active profile applies again
    #[command(override_usage = "satchel profile unbind CLIENT\n       satchel profile unbind --folder DIR")]
    Unbind {
        /// The client
        #[arg(required_unless_present = "folder")]
        client: Option<String>,
        /// The project folder
        #[arg(long, value_name = "DIR", conflicts_with = "client")]
        folder: Option<std::path::PathBuf>,
    },
}

#[derive(Debug, Group)]
pub(crate) struct ProfileEdit {
    /// The profile
    pub(crate) name: String,
    /// Add this server
    #[arg(long = "add", value_name = "SERVER")]
    pub(crate) with: Vec<String>,
    /// Remove this server
    #[arg(long = "remove", value_name = "SERVER")]
    pub(crate) without: Vec<String>,
    /// Only these tools of the servers they name
    #[arg(long, value_name = "TOOLS", value_parser = pattern)]
    pub(crate) only: Vec<String>,
    /// Without these tools
    #[arg(long, value_name = "TOOLS", value_parser = pattern)]
    pub(crate) except: Vec<String>,
    /// Clear earlier `--only` and `--except`
    #[arg(long)]
    pub(crate) all_tools: bool,
    /// Rename it
    #[arg(long, value_name = "NAME")]
    pub(crate) rename: Option<String>,
}

/// [`Surface`](satchel_core::model::clients::Surface) on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SurfaceArg {
    /// Whatever suits the client
    Auto,
    /// Four meta-tools that find and call all others
    Router,
    /// Every tool of every server
    Direct,
    /// One tool that runs scripts, and one that finds the tools they can call
    Script,
}

impl From<SurfaceArg> for satchel_core::model::clients::Surface {
    fn from(seen: SurfaceArg) -> Self {
        match seen {
            SurfaceArg::Auto => Self::Auto,
            SurfaceArg::Router => Self::Router,
            SurfaceArg::Direct => Self::Direct,
            SurfaceArg::Script => Self::Script,
        }
    }
}

#[derive(Debug, Group)]
pub(crate) struct Connect {
    /// Client, as in `satchel clients`
    #[arg(value_name = "CLIENT", required_unless_present = "client")]
    id: Option<String>,
    /// Create a token and print the address and headers; change no file
    #[arg(long)]
    pub(crate) print: bool,
    /// Show what would be written, and write nothing
    #[arg(long, conflicts_with = "print")]
    pub(crate) dry_run: bool,
    /// Transport; default: what suits the client best
    #[arg(long, value_enum, conflicts_with = "print")]
    pub(crate) over: Option<ConnectOver>,
    /// Leave its file as readable as it is now; by default, only your account can use a file with a token
    #[arg(long, conflicts_with = "print")]
    pub(crate) keep_mode: bool,
    /// Create a token for any client, known or not, and show how to connect
    #[arg(long, value_name = "ID", conflicts_with_all = ["id", "dry_run", "over", "keep_mode"])]
    client: Option<String>,
}

impl Connect {
    /// The client's id.
    pub(crate) fn who(&self) -> &str {
        self.id.as_deref().or(self.client.as_deref()).unwrap_or_default()
    }

    /// Is only a token requested, without changing a file?
    pub(crate) fn by_hand(&self) -> bool {
        self.print || self.client.is_some()
    }
}

/// The transport of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConnectOver {
    /// Streamable HTTP at the hub's address
    Http,
    /// The client starts `satchel bridge`
    Bridge,
}
