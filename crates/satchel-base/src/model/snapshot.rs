//! The snapshot: everything a face may show, as one immutable value. Faces render it and infer nothing.

use serde::{Deserialize, Serialize};

use super::{
    Code,
    approvals::{NotStarted, Unseen},
    cause::{FailureCause, if_known},
    ledger::LedgerView,
    oauth::{SignInState, SignInView},
    pinned::PinnedView,
    profiles::ProfilesView,
    server::{Share, Startup},
    shell,
};

/// The state of the hub at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Snapshot {
    /// Increases with every change.
    pub version: u64,
    /// The endpoint's URL, for example `http://127.0.0.1:7411/mcp`; `None` while nothing listens.
    pub endpoint: Option<String>,
    /// Notices about the hub itself.
    pub notices: Vec<Notice>,
    /// Every configured server, ordered by name.
    pub servers: Vec<ServerView>,
    /// Clients that have made a request since the hub started.
    pub clients: Vec<ClientView>,
    /// What sharing saves at present.
    pub avoided: Avoided,
    /// Set while the hub is paused: calls are refused and servers sleep.
    #[serde(default)]
    pub paused: Option<Paused>,
    /// Recent calls and today's savings.
    #[serde(default)]
    pub ledger: LedgerView,
    /// Calls that wait for a person's decision, in the order to answer them.
    #[serde(default)]
    pub asks: Vec<super::asks::Ask>,
    /// All profiles, and who uses them.
    #[serde(default)]
    pub profiles: ProfilesView,
    /// The pinned tools.
    #[serde(default)]
    pub pinned: Vec<PinnedView>,
    /// Whether servers' icons are displayed, and a mark that changes with them.
    #[serde(default)]
    pub pictures: PicturesView,
    /// Changes whenever registries may say something else of installed servers; callers then request `installed` again.
    #[serde(default)]
    pub listed: u64,
}

/// Whether and which icons of servers are displayed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PicturesView {
    /// The user allowed fetching them.
    pub shown: bool,
    /// Changes whenever the icons change; callers then request them again.
    pub mark: String,
}

/// A pause requested by a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Paused {
    /// When it ends by itself, in milliseconds since the Unix epoch; `None` if only a person ends it.
    pub until_ms: Option<u64>,
}

/// Something the user should know, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Notice {
    /// The kind of trouble.
    pub code: Code,
    /// What happened, in one sentence.
    pub message: String,
    /// What to do about it.
    pub action: String,
}

impl Notice {
    /// A notice with its code's standard action.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), action: code.action().to_owned() }
    }
}

/// Where a server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A process on this computer.
    Computer,
    /// On another computer, over HTTP.
    Hosted,
}

/// The state of one server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerView {
    /// Its name in the configuration.
    pub name: String,
    /// Its title or description from the handshake, if known.
    pub title: Option<String>,
    /// On this computer or hosted.
    pub place: Place,
    /// Is it enabled? This is the user's setting, not its state.
    pub enabled: bool,
    /// When it is started.
    pub startup: Startup,
    /// Its current state.
    #[serde(flatten)]
    pub state: ServerState,
    /// Process id while it runs locally.
    pub pid: Option<u32>,
    /// Number of tools; `None` until its list has been read once.
    pub tools: Option<usize>,
    /// Tokens (o200k_base) of its tool definitions as one list; `None` until counted.
    pub tokens: Option<usize>,
    /// Number of resources and templates; `None` until read once.
    pub resources: Option<usize>,
    /// Number of prompts; `None` until read once.
    #[serde(default)]
    pub prompts: Option<usize>,
    /// Tools that were left out, each with the reason.
    pub skipped: Vec<String>,
    /// Number of held definitions that nobody has reviewed.
    #[serde(default)]
    pub held: usize,
    /// Why it is not started until a person approves it, if so.
    #[serde(default)]
    pub not_started: Option<NotStarted>,
    /// Set while nobody has reviewed what it offers.
    #[serde(default)]
    pub unseen: Option<Unseen>,
    /// Its command line or address, with references instead of secrets, and dots in place of credentials that stand there plainly.
    pub runs: String,
    /// Idle time after which it is stopped, in seconds.
    pub idle_timeout_seconds: u64,
    /// Its sandbox, if it runs in one.
    #[serde(default)]
    pub sandbox: Option<super::server::Sandbox>,
    /// Number of starts since the hub started.
    pub starts: u64,
    /// Number of calls since the hub started.
    pub calls: u64,
    /// Median duration of its recent cold starts in milliseconds; `None` before the first.
    pub wake_ms: Option<u64>,
    /// It has never been started, and its lists are unknown.
    #[serde(default)]
    pub fresh: bool,
    /// Its last failure, until it works again or a person dismisses it.
    #[serde(default)]
    pub last_failure: Option<LastFailure>,
    /// Its sign-in state, if it requires one.
    #[serde(default)]
    pub sign_in: Option<SignInView>,
    /// Who shares an instance of it, where that is not simply all.
    #[serde(default)]
    pub share: Option<ShareView>,
    /// Its resource use on this computer, without instances that not all share.
    pub usage: Usage,
}

/// Who shares an instance of a server, and the instances that not all share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ShareView {
    /// Who shares one.
    pub share: Share,
    /// Its entry says so; otherwise Satchel decided.
    pub chosen: bool,
    /// What it keeps open for its connection, as far as known, in words: `a browser`.
    pub keeps: Option<String>,
    /// Its entry contains `${project}`, so each folder has an instance.
    #[serde(default)]
    pub project: bool,
    /// The instances, in the order of their first use.
    pub instances: Vec<InstanceView>,
}

impl ShareView {
    /// In a sentence without a full stop: who shares an instance, and why.
    pub fn sentence(&self) -> String {
        let said = match self.share {
            Share::All => "All clients share one instance",
            Share::Client => "Each client has an instance of its own",
            Share::Session => "Each session has an instance of its own",
            Share::Project => "Each project folder has an instance of its own",
        };
        if self.project && self.share == Share::Project {
            return format!("{said}, because its entry contains ${{project}}");
        }
        match (&self.keeps, self.chosen) {
            (Some(keeps), false) => format!("{said}, because it keeps {keeps} open"),
            (Some(keeps), true) if self.share == Share::All => {
                format!("{said}, although it keeps {keeps} open")
            }
            (Some(_) | None, _) => said.to_owned(),
        }
    }
}

/// One instance of a server that not all callers share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstanceView {
    /// Unique in this run of the hub; its lines in the log of a session's instance carry it.
    pub number: u64,
    /// The client it belongs to; none if all who work in its folder share it.
    pub client: Option<String>,
    /// The folder it runs for, if each folder has one.
    #[serde(default)]
    pub folder: Option<String>,
    /// Does it belong to one session of the client?
    pub session: bool,
    /// Its state.
    #[serde(flatten)]
    pub state: ServerState,
    /// Process id while it runs locally.
    pub pid: Option<u32>,
    /// Its measured memory, in bytes.
    pub memory_bytes: Option<u64>,
}

impl InstanceView {
    /// Whose it is, in words.
    pub fn whose(&self) -> String {
        let session = self.session.then(|| format!("session {}", self.number));
        let parts = self.client.iter().cloned().chain(session).chain(self.folder.clone());
        parts.collect::<Vec<_>>().join(", ")
    }
}

impl ServerView {
    /// Should a person act?
    pub fn needs_you(&self) -> bool {
        self.state.needs_you()
            || (self.enabled && (self.held > 0 || self.last_failure.is_some() || self.awaits_sign_in()))
    }

    /// Does it work, while a person still has to grant scopes or finish an open sign-in page?
    pub fn awaits_sign_in(&self) -> bool {
        let state = self.sign_in.as_ref().map(|view| &view.state);
        self.enabled
            && !self.state.needs_you()
            && matches!(state, Some(SignInState::NeedsMoreRights { .. } | SignInState::SigningIn { .. }))
    }

    /// Does it have an unresolved failure?
    pub fn is_troubled(&self) -> bool {
        if self.is_signing_in() {
            return false;
        }
        self.state.needs_you() || (self.enabled && (self.last_failure.is_some() || self.lacks_rights()))
    }

    /// Is a sign-in in progress?
    fn is_signing_in(&self) -> bool {
        let signs_in = |view: &SignInView| matches!(view.state, SignInState::SigningIn { .. });
        matches!(self.state, ServerState::NeedsSignIn { .. }) && self.sign_in.as_ref().is_some_and(signs_in)
    }

    /// Does a tool need scopes that were not granted?
    fn lacks_rights(&self) -> bool {
        let lacks = |view: &SignInView| matches!(view.state, SignInState::NeedsMoreRights { .. });
        self.sign_in.as_ref().is_some_and(lacks)
    }

    /// The code of its trouble, if any.
    pub fn code(&self) -> Option<Code> {
        match &self.state {
            ServerState::BackingOff { code, .. } | ServerState::Broken { code, .. } => Some(*code),
            ServerState::NeedsCredential { code, .. } => Some(*code),
            ServerState::Invalid { .. } => Some(Code::ConfigInvalid),
            ServerState::NeedsSignIn { .. } => Some(self.sign_in_code()),
            ServerState::Off
            | ServerState::Asleep
            | ServerState::Starting { .. }
            | ServerState::Ready { .. }
            | ServerState::Stopping
                if self.lacks_rights() =>
            {
                Some(Code::NeedsMoreRights)
            }
            ServerState::Off
            | ServerState::Asleep
            | ServerState::Starting { .. }
            | ServerState::Ready { .. }
            | ServerState::Stopping => self.last_failure.as_ref().map(|failure| failure.code),
        }
    }

    /// The code for its sign-in state.
    fn sign_in_code(&self) -> Code {
        match self.sign_in.as_ref().map(|view| &view.state) {
            Some(SignInState::NeedsMoreRights { .. }) => Code::NeedsMoreRights,
            Some(SignInState::NeedsClientId { .. }) => Code::NeedsClientId,
            _ => Code::NeedsSignIn,
        }
    }

    /// What a person can do about its trouble; empty if there is none.
    pub fn action(&self) -> String {
        let Some(code) = self.code() else { return String::new() };
        match self.place {
            _ if code.is_sign_in() => code.action_for(&self.name),
            _ if code == Code::NeedsCredential => self.credential_action(code),
            _ if matches!(self.state, ServerState::Invalid { .. }) => Code::INVALID_ENTRY.to_owned(),
            Place::Computer => code.action().to_owned(),
            Place::Hosted => code.action_at_address().to_owned(),
        }
    }

    /// The command that stores the missing secret, or where to set the variable.
    fn credential_action(&self, code: Code) -> String {
        let ServerState::NeedsCredential { names, variables, .. } = &self.state else {
            return code.action().to_owned();
        };
        let secrets = names.iter().filter(|name| !variables.contains(name));
        let mut ways: Vec<String> = secrets
            .map(|name| format!("Store it with `satchel secrets set {}`.", shell::word(name)))
            .collect();
        if !variables.is_empty() {
            let names = variables.join(", ");
            ways.push(format!("Set {names} in the environment that Satchel is started in."));
        }
        match ways.is_empty() {
            true => code.action().to_owned(),
            false => ways.join(" "),
        }
    }

    /// The credentials and variables that it lacks. A secret named after this server is shortened to the name of the
    /// variable or header it came from.
    pub fn lacks(&self) -> Vec<String> {
        let ServerState::NeedsCredential { names, .. } = &self.state else { return vec![] };
        let ours = format!("{}.", self.name);
        names.iter().map(|name| name.strip_prefix(&ours).unwrap_or(name).to_owned()).collect()
    }

    fn said_state(&self, now_ms: u64) -> String {
        let (mut state, lacks) = (self.state.clone(), self.lacks());
        if let ServerState::NeedsCredential { names, .. } = &mut state {
            *names = lacks;
        }
        state.sentence(self.place, now_ms)
    }

    /// A sentence for the interface: its state and its last failure.
    pub fn sentence(&self, now_ms: u64) -> String {
        if let Some(waits) = self.not_started.filter(|_| self.enabled) {
            return waits.sentence().into();
        }
        let state = || self.said_state(now_ms);
        if let Some(view) = self.sign_in.as_ref().filter(|_| self.enabled) {
            match (&self.state, &view.state) {
                (ServerState::NeedsSignIn { .. }, SignInState::SignedOut) => return "Needs a sign-in".into(),
                (ServerState::NeedsSignIn { .. }, _) => return view.sentence(),
                (_, SignInState::NeedsMoreRights { .. }) => {
                    return format!("{}; {}", state(), view.sentence());
                }
                _ => {}
            }
        }
        match (&self.state, &self.last_failure) {
            (ServerState::Asleep, Some(failure)) => {
                format!("Asleep; {}", failure.sentence(self.place, now_ms))
            }
            (ServerState::Ready { .. }, Some(failure)) => {
                format!("{}; {}", state(), failure.sentence(self.place, now_ms))
            }
            (ServerState::Asleep, None) if self.fresh => match self.place {
                Place::Computer => "Not started yet".into(),
                Place::Hosted => "Not connected yet".into(),
            },
            (ServerState::Ready { in_flight: 0, .. }, None) if self.is_unread() => {
                "Running · reading what it offers".into()
            }
            _ => state(),
        }
    }

    fn is_unread(&self) -> bool {
        self.tools.is_none() && self.resources.is_none()
    }
}

/// A server's last failure. Kept across restarts of the hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LastFailure {
    /// The kind of trouble.
    pub code: Code,
    /// What happened.
    pub message: String,
    /// The same in parts, where it has some.
    #[serde(default, deserialize_with = "if_known", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub cause: Option<FailureCause>,
    /// When it happened, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// What the server was doing.
    pub during: During,
}

/// What a server was doing when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum During {
    /// Starting or connecting.
    Start,
    /// It ended unexpectedly after a successful start.
    Run,
    /// Reading its lists.
    Lists,
}

impl LastFailure {
    /// The failure and its age, as a suffix to the current state.
    pub fn sentence(&self, place: Place, now_ms: u64) -> String {
        let (ago, message) = (ago(now_ms.saturating_sub(self.at_ms)), &self.message);
        match (self.during, place) {
            (During::Start, Place::Computer) => format!("its last start failed {ago}: {message}"),
            (During::Start, Place::Hosted) => format!("the last connection failed {ago}: {message}"),
            (During::Run, _) => format!("it ended by itself {ago}: {message}"),
            (During::Lists, _) => format!("its tools could not be read {ago}: {message}"),
        }
    }
}

fn ago(ms: u64) -> String {
    match ms / 1000 {
        ..5 => "just now".into(),
        seconds @ ..60 => format!("{seconds} s ago"),
        seconds @ ..3600 => format!("{} min ago", seconds / 60),
        seconds @ ..86_400 => format!("{} h ago", seconds / 3600),
        seconds @ ..172_800 => format!("{} day ago", seconds / 86_400),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}

/// The resource use of a server's process tree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Usage {
    /// Number of processes; `None` if none runs here or nothing was measured yet.
    pub processes: Option<usize>,
    /// Resident memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// CPU time since the last measurement, in percent of one core.
    pub cpu_percent: Option<f32>,
    /// Peak of the measured memory since the hub started, in bytes.
    #[serde(default)]
    pub memory_most_bytes: Option<u64>,
    /// Peak of the measured CPU time since the hub started, in percent of one core.
    #[serde(default)]
    pub cpu_most_percent: Option<f32>,
    /// Number of starts after a failure, since the hub started.
    pub restarts: u64,
    /// Number of non-protocol lines on its standard output since the hub started.
    pub noise: u64,
}

/// What sharing saves at this moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Avoided {
    /// Clients that made a request in the last half hour.
    pub clients: usize,
    /// Processes avoided.
    pub processes: usize,
    /// Memory avoided, in bytes.
    pub memory_bytes: u64,
    /// How both are computed.
    pub formula: String,
}

/// The phase of a server's start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The process runs, and has not completed the handshake.
    #[default]
    Starting,
    /// Its launcher is downloading the package, which may take minutes the first time.
    Downloading,
}

/// A server's state. Times are milliseconds since the Unix epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ServerState {
    /// Switched off, hidden from clients.
    Off,
    /// Not running; starts on the next call.
    Asleep,
    /// Being started.
    Starting {
        /// Since when.
        since_ms: u64,
        /// The phase.
        #[serde(default)]
        phase: Phase,
    },
    /// Running or connected.
    Ready {
        /// Calls in flight.
        in_flight: usize,
        /// When it will be stopped if it stays idle.
        sleeps_at_ms: Option<u64>,
    },
    /// Being stopped.
    Stopping,
    /// A start failed; the next attempt is at the given time.
    BackingOff {
        /// Why.
        code: Code,
        /// Why, in words.
        message: String,
        /// The same in parts, where it has some.
        #[serde(default, deserialize_with = "if_known", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        cause: Option<FailureCause>,
        /// The time.
        retry_at_ms: u64,
        /// Consecutive failed starts.
        failures: u32,
    },
    /// Too many starts failed; the next attempt is at the given time, or when a person starts it.
    Broken {
        /// Why.
        code: Code,
        /// Why, in words.
        message: String,
        /// The same in parts, where it has some.
        #[serde(default, deserialize_with = "if_known", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        cause: Option<FailureCause>,
        /// The time of the next attempt.
        retry_at_ms: u64,
        /// Consecutive failed starts.
        failures: u32,
    },
    /// Cannot start until these secrets and variables are set.
    NeedsCredential {
        /// Names of the missing secrets and variables.
        names: Vec<String>,
        /// Those of them that are environment variables; the others are secrets.
        #[serde(default)]
        variables: Vec<String>,
        /// Whether they are not set, or their store cannot be read.
        #[serde(default = "unset")]
        code: Code,
        /// Why they are unavailable, if not simply unset.
        message: String,
        /// The same in parts, where it has some.
        #[serde(default, deserialize_with = "if_known", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        cause: Option<FailureCause>,
    },
    /// It requires a sign-in. [`ServerView::sign_in`] has the details.
    NeedsSignIn {
        /// What is missing.
        message: String,
    },
    /// Its configuration entry is invalid. It is not used until the entry is corrected.
    Invalid {
        /// The fault and its line.
        message: String,
    },
}

/// The default for snapshots of earlier versions.
fn unset() -> Code {
    Code::NeedsCredential
}

impl ServerState {
    /// The state's name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            ServerState::Off => "off",
            ServerState::Asleep => "asleep",
            ServerState::Starting { .. } => "starting",
            ServerState::Ready { .. } => "ready",
            ServerState::Stopping => "stopping",
            ServerState::BackingOff { .. } => "backing_off",
            ServerState::Broken { .. } => "broken",
            ServerState::NeedsCredential { .. } => "needs_credential",
            ServerState::NeedsSignIn { .. } => "needs_sign_in",
            ServerState::Invalid { .. } => "invalid",
        }
    }

    /// Should a person act?
    pub fn needs_you(&self) -> bool {
        matches!(
            self,
            ServerState::BackingOff { .. }
                | ServerState::Broken { .. }
                | ServerState::NeedsCredential { .. }
                | ServerState::NeedsSignIn { .. }
                | ServerState::Invalid { .. }
        )
    }

    /// A short sentence for the interface.
    pub fn sentence(&self, place: Place, now_ms: u64) -> String {
        let wait = |until: u64| clock(until.saturating_sub(now_ms) / 1000);
        match (self, place) {
            (ServerState::Off, _) => "Off · hidden from clients".into(),
            (ServerState::Asleep, Place::Computer) => "Asleep".into(),
            (ServerState::Asleep, Place::Hosted) => "Ready · connects when called".into(),
            (ServerState::Starting { phase: Phase::Starting, .. }, _) => "Starting".into(),
            (ServerState::Starting { since_ms, phase: Phase::Downloading }, _) => {
                format!("Downloading for {}", clock(now_ms.saturating_sub(*since_ms) / 1000))
            }
            (ServerState::Ready { in_flight: 1, .. }, _) => "Running · 1 call".into(),
            (ServerState::Ready { in_flight: calls @ 2.., .. }, _) => format!("Running · {calls} calls"),
            (ServerState::Ready { sleeps_at_ms: Some(at), .. }, _) => {
                format!("Running · sleeps in {}", wait(*at))
            }
            (ServerState::Ready { sleeps_at_ms: None, .. }, _) => "Running".into(),
            (ServerState::Stopping, _) => "Stopping".into(),
            (ServerState::BackingOff { code, message, retry_at_ms, .. }, _) => {
                // Only one that was ready crashes, and one that was killed had begun.
                let ended = matches!(code, Code::Crashed | Code::OomKilled);
                let what = if ended { "Ended" } else { "Did not start" };
                format!("{what}: {message} · trying again in {}", wait(*retry_at_ms))
            }
            (ServerState::Broken { message, failures, .. }, _) => {
                let starts = if *failures == 1 { "start" } else { "starts" };
                format!("Paused after {failures} failed {starts}: {message}")
            }
            (ServerState::NeedsCredential { names, message, .. }, _) => match names.as_slice() {
                [] => format!("Needs a sign-in or a credential: {message}"),
                [one] if message.is_empty() => format!("Needs {one}"),
                many if message.is_empty() => {
                    format!("Needs {} credentials: {}", many.len(), many.join(", "))
                }
                many => format!("Needs {}: {message}", many.join(", ")),
            },
            (ServerState::NeedsSignIn { message }, _) if message.is_empty() => "Needs a sign-in".into(),
            (ServerState::NeedsSignIn { message }, _) => format!("Needs a sign-in: {message}"),
            (ServerState::Invalid { message }, _) => format!("Not used: {message}"),
        }
    }
}

/// A client that has made a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClientView {
    /// The id its token was issued for.
    pub id: String,
    /// Requests since the hub started.
    pub requests: u64,
    /// Its last tool call, as `server:tool`.
    pub last_call: Option<String>,
    /// When it made its last request, in milliseconds since the Unix epoch.
    pub last_seen_ms: u64,
}

fn clock(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_said_in_words() {
        let ready = |in_flight, sleeps_at_ms| ServerState::Ready { in_flight, sleeps_at_ms };
        let needs = |names: &[&str]| ServerState::NeedsCredential {
            names: names.iter().map(|n| n.to_string()).collect(),
            variables: vec![],
            code: Code::NeedsCredential,
            message: String::new(),
            cause: None,
        };
        let cases = [
            (ServerState::Off, "Off · hidden from clients"),
            (ServerState::Asleep, "Asleep"),
            (ServerState::Starting { since_ms: 0, phase: Phase::Starting }, "Starting"),
            (ServerState::Starting { since_ms: 0, phase: Phase::Downloading }, "Downloading for 0:01"),
            (ready(0, Some(135_000)), "Running · sleeps in 2:14"),
            (ready(1, None), "Running · 1 call"),
            (ready(3, Some(9_000)), "Running · 3 calls"),
            (ServerState::Stopping, "Stopping"),
            (needs(&["DATABASE_URL"]), "Needs DATABASE_URL"),
            (needs(&["A", "B"]), "Needs 2 credentials: A, B"),
            (
                ServerState::BackingOff {
                    code: Code::SpawnNotFound,
                    message: "npx was not found".into(),
                    cause: None,
                    retry_at_ms: 21_000,
                    failures: 1,
                },
                "Did not start: npx was not found · trying again in 0:20",
            ),
            (
                ServerState::BackingOff {
                    code: Code::Crashed,
                    message: "heap is full".into(),
                    cause: None,
                    retry_at_ms: 21_000,
                    failures: 1,
                },
                "Ended: heap is full · trying again in 0:20",
            ),
        ];
        for (state, sentence) in cases {
            assert_eq!(state.sentence(Place::Computer, 1_000), sentence);
        }
        assert_eq!(ServerState::Asleep.sentence(Place::Hosted, 0), "Ready · connects when called");
    }

    #[test]
    fn a_failure_of_another_version_is_read_by_its_sentence() {
        let beside = r#""code":"exited_early","message":"no key","at_ms":1,"during":"start""#;
        for text in [format!("{{{beside}}}"), format!(r#"{{{beside},"cause":{{"kind":"of_later"}}}}"#)] {
            let read: LastFailure = serde_json::from_str(&text).unwrap();
            assert_eq!((read.message.as_str(), read.cause), ("no key", None), "{text}");
        }
        let state = r#"{"state":"broken","code":"crashed","message":"m","cause":{"kind":"output_closed"},"retry_at_ms":1,"failures":3}"#;
        let state: ServerState = serde_json::from_str(state).unwrap();
        assert!(
            matches!(state, ServerState::Broken { cause: Some(FailureCause::OutputClosed), .. }),
            "{state:?}"
        );
    }

    #[test]
    fn the_name_of_a_state_is_its_tag_in_json() {
        let invalid = ServerState::Invalid { message: String::new() };
        for state in [ServerState::Off, ServerState::Asleep, ServerState::Stopping, invalid] {
            let json = serde_json::to_value(&state).unwrap();
            assert_eq!(json["state"], state.name());
        }
    }
}
