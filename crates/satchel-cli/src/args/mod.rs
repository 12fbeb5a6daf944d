//! The command-line grammar. Parsing only; commands act.

mod clients;
mod consent;
mod credentials;
mod listings;
mod program;
mod records;
mod servers;
mod skills;
mod tools;
mod transfer;

use clap::{Parser, Subcommand, ValueEnum};
use satchel_core::model::ServerName;

pub(crate) use clients::{Connect, ConnectOver, ProfileAct, ProfileEdit, SurfaceArg};
#[cfg(test)]
pub(crate) use consent::Ruling;
pub(crate) use consent::{AnswerWord, Approve, Rule};
pub(crate) use credentials::{Login, Secrets};
pub(crate) use listings::{Info, Install, Outdated, Search, Uninstall, Update};
pub(crate) use program::{LogFormat, SearchPathAct, Serve};
pub(crate) use records::{Audit, AuditAct, History, HistoryAct, Logs, Stats, Table};
pub(crate) use servers::{Add, Remove, Sandbox, ShareArgs};
pub(crate) use skills::{GiveTo, SkillAt, SkillsAct};
pub(crate) use tools::{CallArgs, PinTool, Tools, UnpinTool, Whose};
pub(crate) use transfer::{ExportTo, Import, SetupAct, SetupParts};

/// One hub for all MCP servers.
#[derive(Debug, Parser)]
#[command(name = "satchel", version, about, max_term_width = 100)]
pub(crate) struct Args {
    /// Print JSON, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the hub in the foreground, without a window
    Serve(Serve),
    /// Add a server: `satchel add NAME -- COMMAND ARGS…` or `satchel add NAME --url URL`
    Add(Add),
    /// Remove a server; keeps its secrets unless told otherwise
    #[command(alias = "rm")]
    Remove(Remove),
    /// List servers
    #[command(alias = "ls")]
    List,
    /// Enable a server
    Enable { name: ServerName },
    /// Disable a server: stop it and hide it from clients
    Disable { name: ServerName },
    /// Start a server now, or restart it if it is running
    Restart { name: ServerName },
    /// Dismiss the last failure of a server
    Dismiss { name: ServerName },
    /// Set who shares an instance of a server: all clients, one client's sessions, those in one folder, or none
    Share(ShareArgs),
    /// Run a server in a sandbox: it can access only the files you name, and no network. Linux's own, or a container
    Sandbox(Sandbox),
    /// Pin a server to one version of its package: the last one fetched, or the one you name
    Pin {
        name: ServerName,
        /// Exact version, or the digest of an image
        version: Option<String>,
    },
    /// Search registries for servers. The search runs on this computer
    Search(Search),
    /// Show everything a registry says about a server
    Info(Info),
    /// Install a server from a registry; shows what would run and asks first
    Install(Install),
    /// List installed servers with a newer version or a warning
    Outdated(Outdated),
    /// Update a server installed from a registry; shows what would change and asks first
    Update(Update),
    /// Remove a server and the secrets that only it uses
    Uninstall(Uninstall),
    /// Search or list the tools of all servers
    #[command(alias = "tool")]
    Tools(Tools),
    /// Call a tool
    Call(CallArgs),
    /// Manage credentials, which are kept outside the configuration
    #[command(subcommand)]
    Secrets(Secrets),
    /// Sign in to a hosted server with your browser
    Login(Login),
    /// Sign out of a hosted server
    Logout {
        /// Its name
        name: String,
        /// Keep the registration at the provider for the next sign-in
        #[arg(long)]
        keep_registration: bool,
    },
    /// List sign-ins: where, and as whom
    Accounts,
    /// Show what is new, changed or held back, with the changes
    Approvals {
        /// Only this server
        server: Option<String>,
        /// Show each added resource in full instead of one group for each server
        #[arg(long)]
        each: bool,
    },
    /// Approve what is held back, after showing it
    Approve(Approve),
    /// Show calls that wait for your permission
    Asks {
        /// Keep running, and ask about each call as it comes
        #[arg(long)]
        watch: bool,
    },
    /// Allow or refuse a waiting call, or answer a server's question
    Answer {
        /// Number, as in `satchel asks`
        id: u64,
        /// The answer; `session` and `always` apply to calls only
        #[arg(value_enum)]
        word: AnswerWord,
        /// With `yes` to a server's form: its fields as a JSON object; default: the form's defaults
        #[arg(value_name = "FIELDS")]
        fields: Option<String>,
    },
    /// Set whether tools may be called, for all clients or one
    Rule(Rule),
    /// Show the state of the hub and its servers
    Status {
        /// Show internals instead: tools by transport, how lists were read, process states
        #[arg(long)]
        debug: bool,
    },
    /// Show calls, tokens sent to models, and net token savings
    Stats(Stats),
    /// Show recent calls, or manage the history
    History(History),
    /// Show or verify the audit log: starts, permissions, approvals, secret reads and changes, chained by hashes
    Audit(Audit),
    /// Show the end of a server's log
    #[command(alias = "log")]
    Logs(Logs),
    /// List the clients on this computer and their state, or show what one does and what Satchel does about it
    Clients {
        /// Client or library, as in docs/clients.md
        client: Option<String>,
        /// Include clients that are not installed
        #[arg(long, conflicts_with = "client")]
        all: bool,
    },
    /// Choose what a client sees at its address; takes effect at once
    Surface {
        /// Client, as in `satchel clients`
        client: String,
        /// The surface
        #[arg(value_enum)]
        surface: SurfaceArg,
    },
    /// Hide a server or tool from a client; takes effect at once
    Hide {
        /// Client, as in `satchel clients`
        client: String,
        /// Server, or tool as server:tool
        path: String,
    },
    /// Show a hidden server or tool to a client again
    Show {
        /// Client, as in `satchel clients`
        client: String,
        /// Server, or tool as server:tool
        path: String,
    },
    /// Keep tools visible beside the four meta-tools, without a search; takes effect at once
    PinTool(PinTool),
    /// List a tool no longer beside the four meta-tools
    UnpinTool(UnpinTool),
    /// Manage profiles: named sets of servers for all clients, one client or a project folder
    Profile {
        #[command(subcommand)]
        act: ProfileAct,
    },
    /// Keep your own skills and give them to agents: folders with a SKILL.md
    Skills {
        #[command(subcommand)]
        act: SkillsAct,
    },
    /// Add Satchel to a client's configuration, or show how to connect
    Connect(Connect),
    /// Remove Satchel from a client's configuration
    Disconnect {
        /// Client, as in `satchel clients`
        client: String,
        /// Show what would be written, and write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Remove Satchel from every client and from login items; lists what remains
    ///
    /// Use it before you uninstall Satchel. Servers and secrets stay until you delete them. `satchel undo` restores the entries,
    /// last one first.
    Leave {
        /// Show what would be written, and write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Undo the last change to another program's configuration, or the last import
    Undo,
    /// Import servers from other programs, a pasted block, a command line, an address or a bundle
    Import(Import),
    /// Export the enabled servers as the configuration of a gateway for a team
    ///
    /// Secrets become references that the gateway resolves. What has no counterpart there is listed on standard error and in comments.
    Export {
        /// The gateway
        #[arg(long, value_enum)]
        to: ExportTo,
        /// File to write, which must not exist; default: standard output
        #[arg(long, short)]
        output: Option<std::path::PathBuf>,
    },
    /// Move the whole setup to another computer: as one file, or through a synced folder
    ///
    /// Without a subcommand: shows the followed folder and what differs there. A setup is servers, profiles, rules, settings and
    /// what you chose for clients. Secrets stay here, unless you export them under a passphrase.
    Setup {
        #[command(subcommand)]
        act: Option<SetupAct>,
    },
    /// Print the completion script of a shell, for example
    /// `satchel completions bash > ~/.local/share/bash-completion/completions/satchel`
    Completions {
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a directory
    Man { directory: std::path::PathBuf },
    /// Add the directory of this program to PATH, or remove it; for the Windows installer
    #[command(hide = true)]
    SearchPath {
        #[arg(value_enum)]
        act: SearchPathAct,
    },
    /// Speak MCP on standard input and output, for clients that cannot use HTTP
    Bridge {
        /// Name of the client, as shown in `satchel status`
        #[arg(long, value_name = "ID", default_value = "bridge")]
        client: String,
        /// Use this profile, as at `/mcp/profile/NAME`
        #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
        profile: Option<String>,
        /// Folder to work in, instead of the one that the client starts it in
        #[arg(long, value_name = "DIR")]
        project: Option<std::path::PathBuf>,
        /// Reach a hub outside of this container, at a socket that "sockets" of its configuration names
        #[arg(long, value_name = "PATH", requires = "token_file")]
        socket: Option<std::path::PathBuf>,
        /// File with the client's token for the socket
        #[arg(long, value_name = "FILE", requires = "socket")]
        token_file: Option<std::path::PathBuf>,
    },
    /// Check that the servers and tools that a job names are there, approved, signed in and switched on
    Preflight {
        /// File with a server or `server:tool` on each line, or a JSON list of them; `-` for standard input; or a profile
        #[arg(value_name = "FILE|PROFILE")]
        what: String,
    },
    /// Diagnose the configuration, the keychain, clients and servers
    Doctor,
    /// Stop the running hub
    Quit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnOff {
    On,
    Off,
}

/// A number of items; none would be no question.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

/// A pattern without a server or `*` matches no tool.
fn pattern(text: &str) -> Result<String, &'static str> {
    match text.contains([':', '*']) && !text.starts_with(':') && !text.ends_with(':') {
        true => Ok(text.to_owned()),
        false => Err("write it as server:tool; `*` stands for anything"),
    }
}

fn variable(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("write it as NAME=value"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, error::ErrorKind};

    pub(super) fn parsed(line: &[&str]) -> Command {
        Args::try_parse_from([&["satchel"], line].concat()).unwrap().command
    }

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn json_is_understood_before_and_after_the_command() {
        for line in [["--json", "status"], ["status", "--json"]] {
            assert!(Args::try_parse_from([&["satchel"], &line[..]].concat()).unwrap().json);
        }
        assert!(!Args::try_parse_from(["satchel", "add", "x", "--", "y", "--json"]).unwrap().json);
    }

    #[test]
    fn a_limit_of_nothing_is_refused_everywhere() {
        for words in [&["tools", "--limit"][..], &["history", "--limit"], &["logs", "x", "--lines"]] {
            for (number, accepted) in [("0", false), ("1", true)] {
                let line = ["satchel"].iter().chain(words).chain([&number]);
                assert_eq!(Args::try_parse_from(line).is_ok(), accepted, "{words:?} {number}");
            }
        }
    }

    #[test]
    fn contradictory_arguments_are_a_usage_error() {
        for line in [
            &["add", "x"][..],
            &["add", "x", "--url", "https://a", "--", "y"],
            &["add", "x", "--header", "A: b", "--", "y"],
            &["add", "x", "--url", "https://a", "--env", "A=b"],
            &["add", "x", "--url", "https://a", "--header", "nonsense"],
            &["add", "x", "--env", "nonsense", "--", "y"],
            &["add", " a", "--", "y"],
            &["remove", ""],
            &["call", "no-colon"],
            &["call"],
            &["connect"],
            &["serve", "--port", "70000"],
            &["secrets", "set", "NAME", "value"],
            &["stats", "--since", "7"],
            &["stats", "--since", "0d"],
            &["stats", "--csv", "--json"],
            &["history", "show"],
            &["nonsense"],
        ] {
            let error = Args::try_parse_from([&["satchel"], line].concat()).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line:?}");
            assert_ne!(error.kind(), ErrorKind::DisplayHelp, "{line:?}");
        }
    }
}
