//! The command-line grammar. Parsing only; commands act.

use clap::{Args as Group, Parser, Subcommand, ValueEnum};
use satchel_core::model::{
    ServerName, Startup, ToolPath,
    asks::AskAnswer,
    audit::AuditHead,
    control::Target,
    ledger::{By, ReportAsk},
    nature::Permit,
    server::{ContainerEngine, Era},
};

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
    /// List the clients on this computer and their state
    Clients {
        /// Include clients that are not installed
        #[arg(long)]
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
    /// Manage profiles: named sets of servers for all clients, one client or a project folder
    Profile {
        #[command(subcommand)]
        act: ProfileAct,
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
        /// Reach a hub outside of this container, at a socket that "sockets" of its configuration names
        #[arg(long, value_name = "PATH", requires = "token_file")]
        socket: Option<std::path::PathBuf>,
        /// File with the client's token for the socket
        #[arg(long, value_name = "FILE", requires = "socket")]
        token_file: Option<std::path::PathBuf>,
    },
    /// Diagnose the configuration, the keychain, clients and servers
    Doctor,
    /// Stop the running hub
    Quit,
}

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

#[derive(Debug, Group)]
pub(crate) struct Approve {
    /// The server
    #[arg(required_unless_present_any = ["all", "settings"])]
    pub(crate) server: Option<String>,
    /// Everything that is held back, of all servers: for example every entry of a new configuration file
    #[arg(long, conflicts_with_all = ["server", "settings"])]
    pub(crate) all: bool,
    /// Settings in the configuration file that nobody has approved, tool rules included
    #[arg(long, conflicts_with = "server")]
    pub(crate) settings: bool,
    /// Only these definitions, by name; default: everything that is held back
    pub(crate) names: Vec<String>,
    /// Only new and added resources and templates, as one group; suspicious ones
    /// are not included
    #[arg(long, conflicts_with_all = ["names", "all", "settings"])]
    pub(crate) resources: bool,
    /// Keep them held back, and stop asking
    #[arg(long)]
    pub(crate) keep: bool,
    /// Approve without asking. Still prints what it approves, and works only in a terminal
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// An answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerWord {
    /// Allow once
    Yes,
    /// Refuse once
    No,
    /// Allow for this client until it has not used the tool for an hour
    Session,
    /// Always allow for this client; writes a rule
    Always,
    /// Refuse, and stop questions from this client about this server, or from this server
    Mute,
}

impl From<AnswerWord> for AskAnswer {
    fn from(word: AnswerWord) -> Self {
        match word {
            AnswerWord::Yes => AskAnswer::Once,
            AnswerWord::No => AskAnswer::No,
            AnswerWord::Session => AskAnswer::Session,
            AnswerWord::Always => AskAnswer::Always,
            AnswerWord::Mute => AskAnswer::Mute,
        }
    }
}

/// A number of items; none would be no question.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

#[derive(Debug, Group)]
pub(crate) struct Rule {
    /// `server:tool`; `*` matches anything: `github:delete_*`
    #[arg(value_parser = pattern)]
    pub(crate) tool: String,
    /// The permission
    #[arg(value_enum)]
    pub(crate) permit: Ruling,
    /// Only for this client
    #[arg(long, value_name = "CLIENT")]
    pub(crate) client: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ruling {
    Allow,
    /// Ask a person first
    Ask,
    /// Hide it and refuse calls
    Off,
    /// Remove the rule
    Usual,
}

impl From<Ruling> for Option<Permit> {
    fn from(ruling: Ruling) -> Self {
        match ruling {
            Ruling::Allow => Some(Permit::Allow),
            Ruling::Ask => Some(Permit::Ask),
            Ruling::Off => Some(Permit::Off),
            Ruling::Usual => None,
        }
    }
}

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

#[derive(Debug, Group)]
#[command(
    override_usage = "satchel add [OPTIONS] NAME -- COMMAND [ARGS]…\n       satchel add [OPTIONS] NAME --url URL"
)]
pub(crate) struct Add {
    /// Name of the server
    pub(crate) name: ServerName,
    /// URL of a hosted server
    #[arg(long, required_unless_present = "command", conflicts_with_all = ["command", "env", "cwd"])]
    pub(crate) url: Option<String>,
    /// Header for every request; write a secret as `Bearer ${secret:NAME}`
    #[arg(long, value_name = "K: V", value_parser = header, conflicts_with = "command")]
    header: Vec<(String, String)>,
    /// Client ID of an app you registered with the provider, where it supports no dynamic registration
    #[arg(long, value_name = "ID", requires = "url")]
    pub(crate) client_id: Option<String>,
    /// Prompt for the client secret, without echo; kept in the keychain
    #[arg(long, requires = "client_id")]
    pub(crate) client_secret: bool,
    /// Environment variable; write a secret as `KEY=${secret:NAME}`
    #[arg(long, value_name = "K=V", value_parser = variable)]
    env: Vec<(String, String)>,
    /// Working directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// When to start the server
    #[arg(long, value_enum)]
    pub(crate) startup: Option<When>,
    /// Protocol revisions to use; default: detected
    #[arg(long, value_enum)]
    pub(crate) era: Option<Spoken>,
    /// Replace an existing server of that name
    #[arg(long)]
    pub(crate) replace: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Add {
    /// The new server's target.
    pub(crate) fn target(&self) -> Target {
        match (&self.url, self.command.split_first()) {
            (Some(url), _) => {
                Target::Url { url: url.clone(), headers: self.header.iter().cloned().collect() }
            }
            (None, program) => Target::Command {
                command: program.map(|(command, _)| command.clone()).unwrap_or_default(),
                args: program.map(|(_, args)| args.to_vec()).unwrap_or_default(),
                env: self.env.iter().cloned().collect(),
                cwd: self.cwd.clone(),
            },
        }
    }
}

/// [`Startup`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On the first call; stops when idle
    Lazy,
    /// On the first call; keeps running
    KeepAlive,
    /// With the hub; keeps running
    Eager,
    /// Only by `satchel restart`
    Manual,
}

/// [`Era`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Spoken {
    /// Detect
    Auto,
    /// Up to 2025-11-25, with sessions
    Legacy,
    /// From 2026-07-28 on, without
    Modern,
}

impl From<Spoken> for Era {
    fn from(spoken: Spoken) -> Self {
        match spoken {
            Spoken::Auto => Era::Auto,
            Spoken::Legacy => Era::Legacy,
            Spoken::Modern => Era::Modern,
        }
    }
}

impl From<When> for Startup {
    fn from(when: When) -> Self {
        match when {
            When::Lazy => Startup::Lazy,
            When::KeepAlive => Startup::KeepAlive,
            When::Eager => Startup::Eager,
            When::Manual => Startup::Manual,
        }
    }
}

/// What to do with PATH.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SearchPathAct {
    /// Append the directory
    Add,
    /// Remove the directory
    Remove,
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
pub(crate) struct Tools {
    /// What to search for; default: list all tools
    pub(crate) query: Vec<String>,
    /// Only the tools of this server
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<ServerName>,
    /// Maximum number, at least 1; default for a search: 20
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) limit: Option<usize>,
    /// Also show why each tool was found
    #[arg(long)]
    pub(crate) explain: bool,
    /// Also show what each tool does, how complex its arguments are, and since when it is known
    #[arg(long, short)]
    pub(crate) long: bool,
    /// Show what each tool does and whether clients may call it
    #[arg(long, conflicts_with_all = ["explain", "long"])]
    pub(crate) rules: bool,
}

#[derive(Debug, Group)]
#[command(
    after_help = "Exit codes: 3 declined in the browser, 4 refused by a check or by the provider, 5 a client ID has to be entered, 6 nobody came back from the browser in time."
)]
pub(crate) struct Login {
    /// The server's name
    pub(crate) name: String,
    /// Print the page's address instead of opening it
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// For a browser on another computer: print the page's address, then paste the address it redirects to
    #[arg(long)]
    pub(crate) paste: bool,
    /// Register Satchel again with the provider, if it lost the registration
    #[arg(long)]
    pub(crate) register_again: bool,
    /// Client ID of an app you registered with the provider; kept in the configuration
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// Prompt for the client secret, without echo; kept in the keychain
    #[arg(long, requires = "client_id")]
    pub(crate) client_secret: bool,
}

#[derive(Debug, Group)]
pub(crate) struct CallArgs {
    /// The tool, as `server:tool`
    #[arg(value_name = "SERVER:TOOL")]
    pub(crate) tool_path: ToolPath,
    /// Arguments as a JSON object; `-` reads standard input
    #[arg(value_name = "JSON", default_value = "{}")]
    pub(crate) arguments: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// Store a secret; prompts for the value, or reads standard input
    Set { name: String },
    /// List the names of stored secrets
    List,
    /// Remove a secret
    Rm { name: String },
    /// Keep secrets in an encrypted file instead of the keychain; prompts for a passphrase
    UseFile,
    /// Unlock the encrypted file while the hub runs; prompts for the passphrase
    Unlock,
}

#[derive(Debug, Group)]
pub(crate) struct Remove {
    pub(crate) name: ServerName,
    /// Also remove secrets that only this server uses
    #[arg(long)]
    pub(crate) secrets: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Stats {
    /// What to group by
    #[arg(long, value_enum, default_value_t = Division::Server)]
    pub(crate) by: Division,
    /// Period: days including today (`7d`), hours (`12h`), `today`, or `all`
    #[arg(long, value_name = "TIME", value_parser = since, default_value = "all")]
    pub(crate) since: Since,
    /// Only calls through this profile
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Print CSV, for spreadsheets
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Explain how the figures are computed
    #[arg(long)]
    pub(crate) how: bool,
}

#[derive(Debug, Group)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) act: Option<AuditAct>,
    #[command(flatten)]
    pub(crate) table: Table,
}

/// The period and format of an export.
#[derive(Debug, Group)]
pub(crate) struct Table {
    /// Period: days (`7d`), hours (`12h`), `today` for 24 hours, or `all`
    #[arg(long, value_name = "TIME", value_parser = since, default_value = "all")]
    pub(crate) since: Since,
    /// Print CSV, for spreadsheets
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditAct {
    /// The former name of `satchel audit`
    #[command(hide = true)]
    Trail(Table),
    /// Verify that no record of the audit log was changed, moved or deleted
    Verify {
        /// Head of the audit log that an earlier run of this command printed
        #[arg(long, value_name = "NUMBER:HASH")]
        head: Option<AuditHead>,
    },
}

/// [`By`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Division {
    Client,
    Server,
    Tool,
    Day,
}

impl From<Division> for By {
    fn from(division: Division) -> Self {
        match division {
            Division::Client => By::Client,
            Division::Server => By::Server,
            Division::Tool => By::Tool,
            Division::Day => By::Day,
        }
    }
}

/// The start of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    All,
    Days(u32),
    Hours(u32),
}

impl Since {
    /// The start in milliseconds since the Unix epoch; `None` for all time.
    pub(crate) fn begins_at(self, now_ms: u64) -> Option<u64> {
        let hours = match self {
            Since::All => return None,
            Since::Days(days) => u64::from(days) * 24,
            Since::Hours(hours) => u64::from(hours),
        };
        Some(now_ms.saturating_sub(hours * 3_600_000))
    }
}

impl Stats {
    pub(crate) fn ask(&self) -> ReportAsk {
        let (days, hours) = match self.since {
            Since::All => (None, None),
            Since::Days(days) => (Some(days), None),
            Since::Hours(hours) => (None, Some(hours)),
        };
        ReportAsk { by: self.by.into(), days, hours, profile: self.profile.clone() }
    }
}

fn since(text: &str) -> Result<Since, &'static str> {
    let wrong = "write it as 7d, 12h, today or all";
    let number =
        |digits: &str| digits.parse().ok().filter(|number| (1..=36_500).contains(number)).ok_or(wrong);
    match (text, text.strip_suffix('d'), text.strip_suffix('h')) {
        ("all", ..) => Ok(Since::All),
        ("today", ..) => Ok(Since::Days(1)),
        (_, Some(days), _) => Ok(Since::Days(number(days)?)),
        (_, _, Some(hours)) => Ok(Since::Hours(number(hours)?)),
        _ => Err(wrong),
    }
}

#[derive(Debug, Group)]
pub(crate) struct Sandbox {
    /// The server
    pub(crate) name: ServerName,
    #[arg(value_enum, value_name = "ON|OFF")]
    pub(crate) state: OnOff,
    /// File or directory it may read; repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) read: Vec<String>,
    /// File or directory it may change; repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) write: Vec<String>,
    /// Allow network access
    #[arg(long)]
    pub(crate) network: bool,
    /// Run its command in a container of this image; fetched if its name has a digest
    #[arg(long, value_name = "IMAGE")]
    pub(crate) container: Option<String>,
    /// What runs the container
    #[arg(long, value_enum, value_name = "ENGINE", default_value = "auto", requires = "container")]
    pub(crate) engine: RunBy,
}

/// [`ContainerEngine`] as it is written on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunBy {
    /// podman where it is installed, else Docker
    Auto,
    Podman,
    Docker,
}

impl From<RunBy> for ContainerEngine {
    fn from(by: RunBy) -> Self {
        match by {
            RunBy::Auto => Self::Auto,
            RunBy::Podman => Self::Podman,
            RunBy::Docker => Self::Docker,
        }
    }
}

#[derive(Debug, Group)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct History {
    #[command(subcommand)]
    pub(crate) act: Option<HistoryAct>,
    /// Only failed calls
    #[arg(long)]
    pub(crate) problems: bool,
    /// Only this server
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Only this client
    #[arg(long, value_name = "ID")]
    pub(crate) client: Option<String>,
    /// Only calls through this profile
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Maximum number, at least 1
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryAct {
    /// Show one call in full
    Show { id: i64 },
    /// Call the tool again; the same rules apply
    Again {
        id: i64,
        /// Other arguments, as a JSON object
        #[arg(value_name = "JSON")]
        arguments: Option<String>,
    },
    /// Export every recorded call in order: client, tool, rule and result
    Export(Table),
    /// Delete all calls and what was learned from searches; keeps totals
    Clear {
        /// Also delete totals
        #[arg(long)]
        sums: bool,
    },
    /// Delete what was learned from searches; keeps calls
    Forget,
    /// Turn learning from searches on or off
    Learn {
        #[arg(value_enum, value_name = "ON|OFF")]
        state: OnOff,
    },
    /// Keep arguments and results of a server's calls from now on, with secrets removed
    Keep { server: ServerName },
    /// Stop keeping them
    Drop { server: ServerName },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnOff {
    On,
    Off,
}

#[derive(Debug, Group)]
pub(crate) struct Logs {
    pub(crate) name: ServerName,
    /// Number of lines, at least 1
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one, default_value_t = 50)]
    pub(crate) lines: usize,
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
    /// Create a token for any client, known or not, and show how to connect
    #[arg(long, value_name = "ID", conflicts_with_all = ["id", "dry_run", "over"])]
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
    /// Also remove the servers from the client's own configuration
    #[arg(long = "move", requires = "from", conflicts_with_all = ["dry_run", "source"])]
    pub(crate) take_out: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Search {
    /// What to search for; default: everything
    pub(crate) words: Vec<String>,
    /// Include servers that a registry has deleted, with the reason
    #[arg(long)]
    pub(crate) all: bool,
    /// Only servers that run there
    #[arg(long, value_enum, value_name = "PLACE")]
    pub(crate) place: Option<SearchPlace>,
    /// Only servers for this runtime
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub(crate) language: Option<SearchLanguage>,
    /// Only servers that need no account or key, by their description
    #[arg(long)]
    pub(crate) without_key: bool,
    /// Sort order
    #[arg(long, value_enum, default_value_t = SearchSort::Best)]
    pub(crate) sort: SearchSort,
    /// Maximum number, at least 1
    #[arg(long, value_name = "N", value_parser = at_least_one, default_value_t = 20)]
    pub(crate) limit: usize,
    /// Query the registries now; default: at most once an hour
    #[arg(long)]
    pub(crate) fresh: bool,
}

/// Where a registry's server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchPlace {
    Hosted,
    Computer,
}

impl From<SearchPlace> for satchel_core::model::listings::ListedPlace {
    fn from(place: SearchPlace) -> Self {
        match place {
            SearchPlace::Hosted => Self::Hosted,
            SearchPlace::Computer => Self::Computer,
        }
    }
}

/// The runtime of a registry's server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchLanguage {
    Javascript,
    Python,
    Dotnet,
    Container,
    Bundle,
}

impl From<SearchLanguage> for satchel_core::model::listings::ListedLanguage {
    fn from(language: SearchLanguage) -> Self {
        match language {
            SearchLanguage::Javascript => Self::Javascript,
            SearchLanguage::Python => Self::Python,
            SearchLanguage::Dotnet => Self::Dotnet,
            SearchLanguage::Container => Self::Container,
            SearchLanguage::Bundle => Self::Bundle,
        }
    }
}

/// The sort order of search results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchSort {
    Best,
    Newest,
    Name,
}

impl From<SearchSort> for satchel_core::model::listings::ListingSort {
    fn from(sort: SearchSort) -> Self {
        match sort {
            SearchSort::Best => Self::Best,
            SearchSort::Newest => Self::Newest,
            SearchSort::Name => Self::Name,
        }
    }
}

#[derive(Debug, Group)]
pub(crate) struct Info {
    /// Name, as in `satchel search`; NAME@VERSION for another version
    pub(crate) name: String,
}

#[derive(Debug, Group)]
pub(crate) struct Install {
    /// Name, as in `satchel search`; NAME@VERSION for another version than the latest
    pub(crate) name: String,
    /// Package type, if there are several: remote, npm, pypi, oci, mcpb, nuget
    #[arg(long, value_name = "WAY")]
    pub(crate) way: Option<String>,
    /// Value of an input, by its id or the id's last part; repeatable
    #[arg(long, value_name = "ID=VALUE", value_parser = variable)]
    pub(crate) set: Vec<(String, String)>,
    /// Show what would run, and fetch nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask; accept what --dry-run shows
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Outdated {
    /// Query the registries now; default: at most once an hour
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Update {
    /// Name here or in the registry; NAME@VERSION for another version than the latest
    pub(crate) name: String,
    /// Value of an input that the new version adds
    #[arg(long, value_name = "ID=VALUE", value_parser = variable)]
    pub(crate) set: Vec<(String, String)>,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask; accept what --dry-run shows
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Keep it running although its registry has deleted it
    #[arg(long, conflicts_with_all = ["set", "dry_run", "yes"])]
    pub(crate) keep: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Uninstall {
    /// Name here or in the registry
    pub(crate) name: String,
}

fn header(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().into(), value.trim().into())),
        _ => Err("write it as 'Name: value'"),
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

    fn parsed(line: &[&str]) -> Command {
        Args::try_parse_from([&["satchel"], line].concat()).unwrap().command
    }

    fn added(line: &[&str]) -> Add {
        match parsed(&[&["add"], line].concat()) {
            Command::Add(add) => add,
            other => panic!("{other:?}"),
        }
    }

    fn pairs(pairs: &[(&str, &str)]) -> std::collections::BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_program_is_taken_as_it_is_written_after_the_dashes() {
        let add = added(&[
            "git",
            "--env",
            "A=b=c",
            "--cwd",
            "/x",
            "--startup",
            "keep-alive",
            "--",
            "uvx",
            "-q",
            "--json",
        ]);
        assert_eq!(
            add.target(),
            Target::Command {
                command: "uvx".into(),
                args: vec!["-q".into(), "--json".into()],
                env: pairs(&[("A", "b=c")]),
                cwd: Some("/x".into()),
            }
        );
        assert_eq!((add.startup, add.replace), (Some(When::KeepAlive), false));
    }

    #[test]
    fn an_address_takes_headers() {
        let add = added(&[
            "x",
            "--url",
            "https://a/mcp",
            "--header",
            "Authorization: Bearer ${secret:T}",
            "--header",
            "X:1:2",
        ]);
        let headers = pairs(&[("Authorization", "Bearer ${secret:T}"), ("X", "1:2")]);
        assert_eq!(add.target(), Target::Url { url: "https://a/mcp".into(), headers });
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
    fn a_query_may_have_many_words_and_arguments_default_to_none() {
        match parsed(&["tools", "create", "issue", "--limit", "3"]) {
            Command::Tools(tools) => {
                assert_eq!((tools.query.join(" ").as_str(), tools.limit), ("create issue", Some(3)));
            }
            other => panic!("{other:?}"),
        }
        match parsed(&["call", "a:b"]) {
            Command::Call(call) => assert_eq!(call.arguments, "{}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_span_of_time_is_days_or_hours() {
        let of = |line: &[&str]| match parsed(&[&["stats"], line].concat()) {
            Command::Stats(stats) => stats.ask(),
            other => panic!("{other:?}"),
        };
        let ask = |by, days, hours| ReportAsk { by, days, hours, profile: None };
        assert_eq!(of(&[]), ask(By::Server, None, None));
        assert_eq!(of(&["--by", "tool", "--since", "7d"]), ask(By::Tool, Some(7), None));
        assert_eq!(of(&["--by", "day", "--since", "12h"]), ask(By::Day, None, Some(12)));
        assert_eq!(of(&["--since", "today"]), ask(By::Server, Some(1), None));
        assert_eq!(of(&["--profile", "work"]).profile.as_deref(), Some("work"));
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
