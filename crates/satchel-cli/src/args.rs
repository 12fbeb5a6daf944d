//! What can be written behind `satchel`. Words only; nothing is done here.

use clap::{Args as Group, Parser, Subcommand, ValueEnum};
use satchel_core::model::{
    ServerName, Startup, ToolPath,
    asks::AskAnswer,
    audit::AuditHead,
    control::Target,
    ledger::{By, ReportAsk},
    nature::Permit,
    server::Era,
};

/// One hub for all MCP servers.
#[derive(Debug, Parser)]
#[command(name = "satchel", version, about, max_term_width = 100)]
pub(crate) struct Args {
    /// Answer in JSON, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the hub in this terminal, without a window
    Serve(Serve),
    /// Add a server: `satchel add NAME -- COMMAND ARGS…` or `satchel add NAME --url URL`
    Add(Add),
    /// Remove a server; its secrets stay unless you say otherwise
    Remove(Remove),
    /// List the servers
    List,
    /// Let clients use a server
    Enable { name: ServerName },
    /// Stop a server and hide it from clients
    Disable { name: ServerName },
    /// Start a server now, or again if it is running
    Restart { name: ServerName },
    /// Hide what went wrong last with a server, because you know of it
    Dismiss { name: ServerName },
    /// Run a server in a sandbox, or no longer: it reads and writes only what you name, and reaches no network. Linux only
    Sandbox(Sandbox),
    /// Have a server run one version of its package: the one that was fetched last, or the one you name
    Pin {
        name: ServerName,
        /// An exact version, or the digest of an image
        version: Option<String>,
    },
    /// Find servers in registries. Your words stay on this computer
    Search(Search),
    /// Show everything about a server that a registry lists
    Info(Info),
    /// Install a server from a registry: shows what would run, and asks
    Install(Install),
    /// List installed servers of which there is a newer version, or a warning
    Outdated(Outdated),
    /// Update a server that was installed from a registry: shows what would change, and asks
    Update(Update),
    /// Remove a server and the secrets that no other one names
    Uninstall(Uninstall),
    /// Search the tools of all servers, or list them
    Tools(Tools),
    /// Call a tool
    Call(Call),
    /// Keep credentials outside of the configuration
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
    /// Show where you are signed in, and as whom
    Accounts,
    /// Show what is new, changed or held back, word by word
    Approvals {
        /// Only of this server
        server: Option<String>,
        /// Show each added resource word by word, not all of a server's as one group
        #[arg(long)]
        each: bool,
    },
    /// Let clients use what was held back, after a look at it
    Approve(Approve),
    /// Show the calls that wait for your word
    Asks {
        /// Stay, and ask for each as it comes
        #[arg(long)]
        watch: bool,
    },
    /// Say whether a call that waits may be made, or answer what a server asks
    Answer {
        /// Its number, as in `satchel asks`
        id: u64,
        /// The word; `session` and `always` are about calls
        #[arg(value_enum)]
        word: Word,
        /// With `yes` to a server's form: its fields as a JSON object; without it, what stands in them at first
        #[arg(value_name = "FIELDS")]
        fields: Option<String>,
    },
    /// Say whether tools may be called, for all clients or one
    Rule(Rule),
    /// Show what the hub and its servers are doing
    Status {
        /// Show the hub's inside instead: tools by transport, how lists were read, process states
        #[arg(long)]
        debug: bool,
    },
    /// What was called, what it put before models, and what Satchel saved or cost
    Stats(Stats),
    /// The latest calls, or what happens to their history
    History(History),
    /// What was started, allowed, refused, approved, read and changed, in records bound to each other by hashes
    Audit(Audit),
    /// Show the last lines of a server's log
    Logs(Logs),
    /// Show the clients on this computer and how they stand
    Clients {
        /// Show those that are not installed too
        #[arg(long)]
        all: bool,
    },
    /// Choose what a client sees at its address; it is told at once
    Surface {
        /// The client, as in `satchel clients`
        client: String,
        /// What it sees from now on
        #[arg(value_enum)]
        surface: Seen,
    },
    /// Hide a server, or a single tool, from one client; it is told at once
    Hide {
        /// The client, as in `satchel clients`
        client: String,
        /// A server, or a tool as server:tool
        path: String,
    },
    /// Show a client again what was hidden from it
    Show {
        /// The client, as in `satchel clients`
        client: String,
        /// A server, or a tool as server:tool
        path: String,
    },
    /// Named sets of servers: switch between them, and bind clients and project folders to one
    Profile {
        #[command(subcommand)]
        act: ProfileAct,
    },
    /// Put our entry into a client's configuration, or show how a client connects
    Connect(Connect),
    /// Take our entry out of a client's configuration
    Disconnect {
        /// The client, as in `satchel clients`
        client: String,
        /// Only show what would be written
        #[arg(long)]
        dry_run: bool,
    },
    /// Take every entry and key of ours out of every client, and start at login off; says what is left
    ///
    /// For before you remove Satchel. Servers and secrets stay until you delete them. `satchel undo` puts the entries back,
    /// the last one first.
    Leave {
        /// Only show what would be written
        #[arg(long)]
        dry_run: bool,
    },
    /// Take back the last change of another program's configuration, or the last import
    Undo,
    /// Take over servers from other programs, a pasted block, a command line, an address or a bundle
    Import(Import),
    /// Write the enabled servers as the configuration of an engine for more than one person
    ///
    /// Secrets become names that the engine fills in. What has no counterpart there is said on standard error and in comments.
    Export {
        /// The engine
        #[arg(long, value_enum)]
        to: ExportTo,
        /// The file to write, which must not exist; standard output without it
        #[arg(long, short)]
        output: Option<std::path::PathBuf>,
    },
    /// Write what your shell needs to complete the words of this program, for example
    /// `satchel completions bash > ~/.local/share/bash-completion/completions/satchel`
    Completions {
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write the manual's pages into a directory
    Man { directory: std::path::PathBuf },
    /// Put the directory of this program on the search path, or take it off; for the installer of Windows
    #[command(hide = true)]
    SearchPath {
        #[arg(value_enum)]
        act: SearchPathAct,
    },
    /// Speak MCP on standard input and output, for clients that know nothing else
    Bridge {
        /// Who connects, as shown in `satchel status`
        #[arg(long, value_name = "ID", default_value = "bridge")]
        client: String,
    },
    /// Check the configuration, the keychain and every server
    Doctor,
    /// End the running hub
    Quit,
}

/// What is done with profiles.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileAct {
    /// List the profiles, who uses them, and which one is active
    List,
    /// Switch: clients without a profile of their own see this one from now on, and are told at once
    Use {
        /// The profile
        #[arg(required_unless_present = "everything")]
        name: Option<String>,
        /// No profile: every server that is on
        #[arg(long, conflicts_with = "name")]
        everything: bool,
    },
    /// Add a profile
    Add {
        /// What it is called
        name: String,
        /// Its servers, as in `satchel list`
        #[arg(value_name = "SERVER")]
        servers: Vec<String>,
        /// Of the servers that this could be for, only these tools: `github:get_*`
        #[arg(long, value_name = "TOOLS", value_parser = pattern)]
        only: Vec<String>,
        /// Not these tools: `*:delete_*`
        #[arg(long, value_name = "TOOLS", value_parser = pattern)]
        except: Vec<String>,
    },
    /// Change a profile
    Edit(ProfileEdit),
    /// Remove a profile that nobody uses; its servers stay
    Remove { name: String },
    /// Bind a client or a project folder to a profile, whichever one is active
    #[command(
        allow_missing_positional = true,
        override_usage = "satchel profile bind CLIENT NAME\n       satchel profile bind --folder DIR NAME"
    )]
    Bind {
        /// The client, as in `satchel clients`
        #[arg(required_unless_present = "folder")]
        client: Option<String>,
        /// A project folder: for clients that say they work in it
        #[arg(long, value_name = "DIR", conflicts_with = "client")]
        folder: Option<std::path::PathBuf>,
        /// The profile
        #[arg(required = true)]
        name: String,
    },
    /// Let a client or a project folder see whatever profile is active
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
    /// Put this server in
    #[arg(long = "add", value_name = "SERVER")]
    pub(crate) with: Vec<String>,
    /// Take this server out
    #[arg(long = "remove", value_name = "SERVER")]
    pub(crate) without: Vec<String>,
    /// Of the servers that this could be for, only these tools
    #[arg(long, value_name = "TOOLS", value_parser = pattern)]
    pub(crate) only: Vec<String>,
    /// Not these tools
    #[arg(long, value_name = "TOOLS", value_parser = pattern)]
    pub(crate) except: Vec<String>,
    /// Forget what was said with `--only` and `--except` before
    #[arg(long)]
    pub(crate) all_tools: bool,
    /// Call it otherwise
    #[arg(long, value_name = "NAME")]
    pub(crate) rename: Option<String>,
}

#[derive(Debug, Group)]
pub(crate) struct Approve {
    /// The server
    #[arg(required_unless_present_any = ["all", "settings"])]
    pub(crate) server: Option<String>,
    /// Everything that is held back, of all servers: the entries of a configuration file that is new here, for example
    #[arg(long, conflicts_with_all = ["server", "settings"])]
    pub(crate) all: bool,
    /// The settings in the configuration file that nobody has accepted, rules over tools among them
    #[arg(long, conflicts_with = "server")]
    pub(crate) settings: bool,
    /// Only these definitions, by name; without any, everything that is held back
    pub(crate) names: Vec<String>,
    /// Only resources and templates that are new or were added, as one group; those in which something odd was found
    /// are not among them
    #[arg(long, conflicts_with_all = ["names", "all", "settings"])]
    pub(crate) resources: bool,
    /// Keep them back instead, and ask no more
    #[arg(long)]
    pub(crate) keep: bool,
    /// Do not ask again. Shows what is approved all the same, and works only in a terminal
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// A person's word about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Word {
    /// This once
    Yes,
    /// Not this time
    No,
    /// Every time for this client, until it has not used it for an hour
    Session,
    /// Every time for this client; writes a rule
    Always,
    /// No, and no more questions of this client about this server, or no more of a server's own questions
    Mute,
}

impl From<Word> for AskAnswer {
    fn from(word: Word) -> Self {
        match word {
            Word::Yes => AskAnswer::Once,
            Word::No => AskAnswer::No,
            Word::Session => AskAnswer::Session,
            Word::Always => AskAnswer::Always,
            Word::Mute => AskAnswer::Mute,
        }
    }
}

#[derive(Debug, Group)]
pub(crate) struct Rule {
    /// `server:tool`, in which `*` stands for anything: `github:delete_*`
    #[arg(value_parser = pattern)]
    pub(crate) tool: String,
    /// May it be called?
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
    /// In no list, and refused
    Off,
    /// Take the rule away again
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
    /// Listen on this port; 0 means any free one
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// How the log is written to the terminal
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
    /// Only into the file
    None,
}

#[derive(Debug, Group)]
#[command(
    override_usage = "satchel add [OPTIONS] NAME -- COMMAND [ARGS]…\n       satchel add [OPTIONS] NAME --url URL"
)]
pub(crate) struct Add {
    /// What it is called from now on
    pub(crate) name: ServerName,
    /// The address of a hosted server
    #[arg(long, required_unless_present = "command", conflicts_with_all = ["command", "env", "cwd"])]
    pub(crate) url: Option<String>,
    /// A header sent with every request; write a secret as `Bearer ${secret:NAME}`
    #[arg(long, value_name = "K: V", value_parser = header, conflicts_with = "command")]
    header: Vec<(String, String)>,
    /// A variable for the program; write a secret as `KEY=${secret:NAME}`
    #[arg(long, value_name = "K=V", value_parser = variable)]
    env: Vec<(String, String)>,
    /// The program's working directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// When the server is started
    #[arg(long, value_enum)]
    pub(crate) startup: Option<When>,
    /// Which protocol revisions it is spoken to in; found out by itself without this
    #[arg(long, value_enum)]
    pub(crate) era: Option<Spoken>,
    /// Replace a server of that name
    #[arg(long)]
    pub(crate) replace: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Add {
    /// Where the new server is.
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

/// [`Startup`] as it is written on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// At the first call; stopped when idle
    Lazy,
    /// At the first call; then kept
    KeepAlive,
    /// With the hub; then kept
    Eager,
    /// Only by `satchel restart`
    Manual,
}

/// [`Era`] as it is written on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Spoken {
    /// Whichever it speaks
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

/// What happens to the search path.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SearchPathAct {
    /// Put our directory at its end
    Add,
    /// Take our directory off
    Remove,
}

/// [`Engine`](satchel_core::export::Engine) as it is written on the command line.
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

/// [`Surface`](satchel_core::model::clients::Surface) as it is written on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Seen {
    /// Whatever suits it
    Auto,
    /// Four tools that find and use all others
    Router,
    /// Every tool of every server
    Direct,
    /// One tool that runs scripts, which call all others, and one that finds them
    Script,
}

impl From<Seen> for satchel_core::model::clients::Surface {
    fn from(seen: Seen) -> Self {
        match seen {
            Seen::Auto => Self::Auto,
            Seen::Router => Self::Router,
            Seen::Direct => Self::Direct,
            Seen::Script => Self::Script,
        }
    }
}

#[derive(Debug, Group)]
pub(crate) struct Tools {
    /// What to look for; all tools without it
    pub(crate) query: Vec<String>,
    /// Only the tools of this server
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<ServerName>,
    /// At most so many; 20 for a search
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Also why each tool was found
    #[arg(long)]
    pub(crate) explain: bool,
    /// Also what each tool does, how hard it is to call, and since when it is known
    #[arg(long, short)]
    pub(crate) long: bool,
    /// What each tool does and whether clients may call it, instead
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
    /// Only print the page's address
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// For a browser on another computer: print the page's address, and paste where it led
    #[arg(long)]
    pub(crate) paste: bool,
    /// Register Satchel anew at the provider, where it has forgotten the last registration
    #[arg(long)]
    pub(crate) register_again: bool,
    /// The client ID of an app that you registered with the provider; kept in the configuration
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// Ask for the app's secret, unseen; kept in the keychain
    #[arg(long, requires = "client_id")]
    pub(crate) client_secret: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Call {
    /// The tool, as `server:tool`
    #[arg(value_name = "SERVER:TOOL")]
    pub(crate) tool_path: ToolPath,
    /// Its arguments as a JSON object; `-` reads them from standard input
    #[arg(value_name = "JSON", default_value = "{}")]
    pub(crate) arguments: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// Store a secret; its value is asked for, or read from standard input
    Set { name: String },
    /// List the names of the stored secrets
    List,
    /// Remove a secret
    Rm { name: String },
    /// Keep secrets in an encrypted file instead of the keychain; its passphrase is asked for
    UseFile,
    /// Open the encrypted file for as long as the hub runs; its passphrase is asked for
    Unlock,
}

#[derive(Debug, Group)]
pub(crate) struct Remove {
    pub(crate) name: ServerName,
    /// Remove the secrets too that no other server names
    #[arg(long)]
    pub(crate) secrets: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Stats {
    /// By what it is divided
    #[arg(long, value_enum, default_value_t = Division::Server)]
    pub(crate) by: Division,
    /// Only since then: so many days with today (`7d`), hours (`12h`), `today`, or `all`
    #[arg(long, value_name = "TIME", value_parser = since, default_value = "all")]
    pub(crate) since: Since,
    /// Answer as comma-separated values, for spreadsheets
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Say how it is counted
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

/// Which part of a record is written, and how.
#[derive(Debug, Group)]
pub(crate) struct Table {
    /// Only since then: so many days (`7d`), hours (`12h`), `today` for 24 hours, or `all`
    #[arg(long, value_name = "TIME", value_parser = since, default_value = "all")]
    pub(crate) since: Since,
    /// Answer as comma-separated values, for spreadsheets
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditAct {
    /// The former name of `satchel audit`
    #[command(hide = true)]
    Trail(Table),
    /// Check that no record of the audit log was altered, moved or deleted since it was written
    Verify {
        /// An end of the audit log that you noted earlier, as this command shows it
        #[arg(long, value_name = "NUMBER:HASH")]
        head: Option<AuditHead>,
    },
}

/// [`By`] as it is written on the command line.
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

/// From when on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    All,
    Days(u32),
    Hours(u32),
}

impl Since {
    /// The first moment, in milliseconds since the Unix epoch; `None` for everything.
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
        ReportAsk { by: self.by.into(), days, hours }
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
    /// It may read this file or directory; may be given several times
    #[arg(long, value_name = "PATH")]
    pub(crate) read: Vec<String>,
    /// It may change this file or directory; may be given several times
    #[arg(long, value_name = "PATH")]
    pub(crate) write: Vec<String>,
    /// It may reach the network
    #[arg(long)]
    pub(crate) network: bool,
}

#[derive(Debug, Group)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct History {
    #[command(subcommand)]
    pub(crate) act: Option<HistoryAct>,
    /// Only calls without a good result
    #[arg(long)]
    pub(crate) problems: bool,
    /// Only this server's
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Only this client's
    #[arg(long, value_name = "ID")]
    pub(crate) client: Option<String>,
    /// How many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u32,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryAct {
    /// Everything known of one call
    Show { id: i64 },
    /// Call the tool again, by the same rules
    Again {
        id: i64,
        /// Other arguments, as a JSON object
        #[arg(value_name = "JSON")]
        arguments: Option<String>,
    },
    /// Every call that is kept, in order: who asked what, by which rule, with which answer
    Export(Table),
    /// Delete every call for good, and what was learned from searches; sums stay
    Clear {
        /// Delete the sums too
        #[arg(long)]
        sums: bool,
    },
    /// Forget what was learned from searches; calls stay
    Forget,
    /// Find tools sooner that were used after similar searches, or no longer
    Learn {
        #[arg(value_enum, value_name = "ON|OFF")]
        state: OnOff,
    },
    /// Keep arguments and results of a server's calls from now on, without secrets
    Keep { server: ServerName },
    /// Keep them no longer
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
    /// How many lines
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub(crate) lines: usize,
}

#[derive(Debug, Group)]
pub(crate) struct Connect {
    /// Which client, as in `satchel clients`
    #[arg(value_name = "CLIENT", required_unless_present = "client")]
    id: Option<String>,
    /// Only make a token, and print the address and the headers
    #[arg(long)]
    pub(crate) print: bool,
    /// Only show what would be written
    #[arg(long, conflicts_with = "print")]
    pub(crate) dry_run: bool,
    /// What the client speaks to us over, if not over what suits it best
    #[arg(long, value_enum, conflicts_with = "print")]
    pub(crate) over: Option<ConnectOver>,
    /// Make a token for any client, known or not, and show how it connects
    #[arg(long, value_name = "ID", conflicts_with_all = ["id", "dry_run", "over"])]
    client: Option<String>,
}

impl Connect {
    /// Who connects.
    pub(crate) fn who(&self) -> &str {
        self.id.as_deref().or(self.client.as_deref()).unwrap_or_default()
    }

    /// Is only a token wanted, not a change of a file?
    pub(crate) fn by_hand(&self) -> bool {
        self.print || self.client.is_some()
    }
}

/// What a client speaks to us over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConnectOver {
    /// It asks the hub's address
    Http,
    /// It starts `satchel bridge`
    Bridge,
}

#[derive(Debug, Group)]
pub(crate) struct Import {
    /// A file, a block, a command line or an address; `-` reads standard input; every client's files without it
    #[arg(value_name = "SOURCE")]
    pub(crate) source: Option<String>,
    /// Only from this client: its own files, or the file named as SOURCE, read as it would read it
    #[arg(long, value_name = "CLIENT")]
    pub(crate) from: Option<String>,
    /// Look into this project's files too
    #[arg(long, value_name = "DIR", conflicts_with_all = ["source", "from"])]
    pub(crate) project: Option<std::path::PathBuf>,
    /// Only show what is there
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Only the server of this name; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// What a bundle or a description asks for; may be given several times
    #[arg(long, value_name = "ID=VALUE", value_parser = variable)]
    pub(crate) set: Vec<(String, String)>,
    /// Take the servers out of the client's own configuration too
    #[arg(long = "move", requires = "from", conflicts_with_all = ["dry_run", "source"])]
    pub(crate) take_out: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Search {
    /// What it should be about; everything without it
    pub(crate) words: Vec<String>,
    /// Also what a registry has deleted, with the reason
    #[arg(long)]
    pub(crate) all: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Ask the registries now; otherwise at most once an hour
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Info {
    /// Its name, as in `satchel search`; NAME@VERSION for another version
    pub(crate) name: String,
}

#[derive(Debug, Group)]
pub(crate) struct Install {
    /// Its name, as in `satchel search`; NAME@VERSION for another version than the one that is offered
    pub(crate) name: String,
    /// Which way of several, as in `satchel info`: remote, npm, pypi, oci, mcpb, nuget
    #[arg(long, value_name = "WAY")]
    pub(crate) way: Option<String>,
    /// What it asks for, by its id or the id's last part; may be given several times
    #[arg(long, value_name = "ID=VALUE", value_parser = variable)]
    pub(crate) set: Vec<(String, String)>,
    /// Only show what would run. Nothing is fetched
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask; say yes to what --dry-run shows
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Outdated {
    /// Ask the registries now; otherwise at most once an hour
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Update {
    /// The server's name here, or its name in the registry; NAME@VERSION for another version than the one that is offered
    pub(crate) name: String,
    /// What the new version asks for besides
    #[arg(long, value_name = "ID=VALUE", value_parser = variable)]
    pub(crate) set: Vec<(String, String)>,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask; say yes to what --dry-run shows
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Change nothing, and let it go on although its registry has deleted it
    #[arg(long, conflicts_with_all = ["set", "dry_run", "yes"])]
    pub(crate) keep: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Uninstall {
    /// The server's name here, or its name in the registry
    pub(crate) name: String,
}

fn header(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().into(), value.trim().into())),
        _ => Err("write it as 'Name: value'"),
    }
}

/// A rule without a server or a star is for no tool.
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
        let ask = |by, days, hours| ReportAsk { by, days, hours };
        assert_eq!(of(&[]), ask(By::Server, None, None));
        assert_eq!(of(&["--by", "tool", "--since", "7d"]), ask(By::Tool, Some(7), None));
        assert_eq!(of(&["--by", "day", "--since", "12h"]), ask(By::Day, None, Some(12)));
        assert_eq!(of(&["--since", "today"]), ask(By::Server, Some(1), None));
    }

    #[test]
    fn what_makes_no_sense_is_a_usage_error() {
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
