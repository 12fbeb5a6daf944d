//! The snapshot: everything a face may show, as one immutable value. Faces render it and infer nothing.

use serde::{Deserialize, Serialize};

use super::{
    Code,
    approvals::{NotStarted, Unseen},
    ledger::LedgerView,
    oauth::{SignInState, SignInView},
    profiles::ProfilesView,
    server::Startup,
};

/// The hub at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Snapshot {
    /// Grows with every change.
    pub version: u64,
    /// Where clients connect, for example `http://127.0.0.1:7411/mcp`; `None` while nothing listens.
    pub endpoint: Option<String>,
    /// What a person should know about the hub itself.
    pub notices: Vec<Notice>,
    /// Every configured server, ordered by name.
    pub servers: Vec<ServerView>,
    /// The clients that have made a request since the hub started.
    pub clients: Vec<ClientView>,
    /// What sharing saves now.
    pub avoided: Avoided,
    /// A person paused the hub: calls are refused and servers sleep.
    #[serde(default)]
    pub paused: Option<Paused>,
    /// What was called lately and saved today.
    #[serde(default)]
    pub ledger: LedgerView,
    /// Calls that wait for a person's word, in the order in which they are answered.
    #[serde(default)]
    pub asks: Vec<super::asks::Ask>,
    /// Named sets of servers, and which one counts for whom.
    #[serde(default)]
    pub profiles: ProfilesView,
    /// Whether servers' pictures are shown, and what they are asked again by.
    #[serde(default)]
    pub pictures: PicturesView,
}

/// Pictures of servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PicturesView {
    /// A person allowed them.
    pub shown: bool,
    /// Another one when there are others.
    pub mark: String,
}

/// A pause that a person asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Paused {
    /// When it ends by itself, in milliseconds since the Unix epoch; `None`: when a person ends it.
    pub until_ms: Option<u64>,
}

/// Something a person should know, with what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Notice {
    /// Which kind of trouble.
    pub code: Code,
    /// What happened, in one sentence.
    pub message: String,
    /// What to do about it.
    pub action: String,
}

impl Notice {
    /// A notice with the action its code always has.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), action: code.action().to_owned() }
    }
}

/// Where a server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A process on this computer.
    Computer,
    /// Somebody else's computer, over HTTP.
    Hosted,
}

/// One server as faces show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ServerView {
    /// Its name in the configuration.
    pub name: String,
    /// Its own title or description, where it has told one.
    pub title: Option<String>,
    /// On this computer or hosted.
    pub place: Place,
    /// The user's intent: may clients use it?
    pub enabled: bool,
    /// When it is started.
    pub startup: Startup,
    /// What it is doing now.
    #[serde(flatten)]
    pub state: ServerState,
    /// Process id of the running server, where it has one.
    pub pid: Option<u32>,
    /// How many tools it offers; `None` until its list has been read once.
    pub tools: Option<usize>,
    /// Tokens (o200k_base) of its tool definitions as one list; `None` until counted.
    pub tokens: Option<usize>,
    /// How many resources and templates it offers; `None` until read once.
    pub resources: Option<usize>,
    /// How many prompts it offers; `None` until read once.
    #[serde(default)]
    pub prompts: Option<usize>,
    /// Tools that were left out, each with a reason a person can read.
    pub skipped: Vec<String>,
    /// Definitions that are held back and that nobody has looked at.
    #[serde(default)]
    pub held: usize,
    /// Why it is not started before a person has approved it, where it is not.
    #[serde(default)]
    pub not_started: Option<NotStarted>,
    /// Nobody has looked at what it offers.
    #[serde(default)]
    pub unseen: Option<Unseen>,
    /// What runs, or where it connects: one line, with references instead of secrets.
    pub runs: String,
    /// How long it may be unused before it is stopped, in seconds.
    pub idle_timeout_seconds: u64,
    /// Its sandbox, if it runs in one, and what that allows.
    #[serde(default)]
    pub sandbox: Option<super::server::Sandbox>,
    /// How often its process was started since the hub started.
    pub starts: u64,
    /// Calls made through it since the hub started.
    pub calls: u64,
    /// Median of its last cold starts in milliseconds; `None` before the first.
    pub wake_ms: Option<u64>,
    /// It was never started, and nothing is known of what it offers.
    #[serde(default)]
    pub fresh: bool,
    /// What went wrong last, until it works again or a person dismisses it.
    #[serde(default)]
    pub last_failure: Option<LastFailure>,
    /// How it stands with the sign-in, for a server that wants one.
    #[serde(default)]
    pub sign_in: Option<SignInView>,
    /// What it costs this computer.
    pub usage: Usage,
}

impl ServerView {
    /// Should a person act?
    pub fn needs_you(&self) -> bool {
        self.state.needs_you()
            || (self.enabled && (self.held > 0 || self.last_failure.is_some() || self.awaits_sign_in()))
    }

    /// Does it work, and yet a person should allow more, or finish at a page that is open?
    pub fn awaits_sign_in(&self) -> bool {
        let state = self.sign_in.as_ref().map(|view| &view.state);
        self.enabled
            && !self.state.needs_you()
            && matches!(state, Some(SignInState::NeedsMoreRights { .. } | SignInState::SigningIn { .. }))
    }

    /// Did something go wrong with it that nobody has mended?
    pub fn is_troubled(&self) -> bool {
        if self.is_signing_in() {
            return false;
        }
        self.state.needs_you() || (self.enabled && (self.last_failure.is_some() || self.lacks_rights()))
    }

    /// Does a person sign in to it right now?
    fn is_signing_in(&self) -> bool {
        let signs_in = |view: &SignInView| matches!(view.state, SignInState::SigningIn { .. });
        matches!(self.state, ServerState::NeedsSignIn { .. }) && self.sign_in.as_ref().is_some_and(signs_in)
    }

    /// Does a tool want more than the sign-in was granted?
    fn lacks_rights(&self) -> bool {
        let lacks = |view: &SignInView| matches!(view.state, SignInState::NeedsMoreRights { .. });
        self.sign_in.as_ref().is_some_and(lacks)
    }

    /// What went wrong, as a code.
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

    /// What of the sign-in is missing.
    fn sign_in_code(&self) -> Code {
        match self.sign_in.as_ref().map(|view| &view.state) {
            Some(SignInState::NeedsMoreRights { .. }) => Code::NeedsMoreRights,
            Some(SignInState::NeedsClientId { .. }) => Code::NeedsClientId,
            _ => Code::NeedsSignIn,
        }
    }

    /// What a person can do about what went wrong; nothing where nothing did.
    pub fn action(&self) -> String {
        let Some(code) = self.code() else { return String::new() };
        match self.place {
            _ if code.is_sign_in() => code.action_for(&self.name),
            _ if code == Code::NeedsCredential => self.credential_action(code),
            Place::Computer => code.action().to_owned(),
            Place::Hosted => code.action_at_address().to_owned(),
        }
    }

    /// The command that stores what it needs, and where a variable is set.
    fn credential_action(&self, code: Code) -> String {
        let ServerState::NeedsCredential { names, variables, .. } = &self.state else {
            return code.action().to_owned();
        };
        let secrets = names.iter().filter(|name| !variables.contains(name));
        let mut ways: Vec<String> =
            secrets.map(|name| format!("Store it with `satchel secrets set {name}`.")).collect();
        if !variables.is_empty() {
            let names = variables.join(", ");
            ways.push(format!("Set {names} in the environment that Satchel is started in."));
        }
        match ways.is_empty() {
            true => code.action().to_owned(),
            false => ways.join(" "),
        }
    }

    /// The credentials and variables that it lacks: a secret that is named after this server goes by the rest of its
    /// name, which is the variable or header that it was found in.
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

    /// One sentence in the words of the interface: what it is doing, and what went wrong last.
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

/// What went wrong with a server last. Kept over a restart of the hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LastFailure {
    /// Which kind of trouble.
    pub code: Code,
    /// What happened, in words.
    pub message: String,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// What it was doing.
    pub during: During,
}

/// What a server was doing when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum During {
    /// It was being started or connected to.
    Start,
    /// It had just been started, and ended by itself.
    Run,
    /// Its lists were read.
    Lists,
}

impl LastFailure {
    /// What happened and when, to stand behind what the server is doing now.
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

/// What a server costs this computer, its whole process tree taken together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Usage {
    /// Processes now; `None` where none runs here or nothing was measured yet.
    pub processes: Option<usize>,
    /// Resident memory now, in bytes.
    pub memory_bytes: Option<u64>,
    /// Processor time since the last measurement, in percent of one core.
    pub cpu_percent: Option<f32>,
    /// The most memory that was measured since the hub started, in bytes.
    #[serde(default)]
    pub memory_most_bytes: Option<u64>,
    /// The most processor time that was measured since the hub started, in percent of one core.
    #[serde(default)]
    pub cpu_most_percent: Option<f32>,
    /// Starts that followed a failure, since the hub started.
    pub restarts: u64,
    /// Stretches of text on its standard output that were no protocol, since the hub started.
    pub noise: u64,
}

/// What sharing saves at this moment, measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Avoided {
    /// Clients that spoke to the hub in the last half hour.
    pub clients: usize,
    /// Processes that do not run.
    pub processes: usize,
    /// Memory that is not used, in bytes.
    pub memory_bytes: u64,
    /// How the two are worked out.
    pub formula: String,
}

/// What the start of a server is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The server was started, and has not said yet what it is.
    #[default]
    Starting,
    /// Its launcher fetches what it runs, which may take minutes the first time.
    Downloading,
}

/// What a server is doing now. Times are milliseconds since the Unix epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ServerState {
    /// Switched off, hidden from clients.
    Off,
    /// Not running; wakes when called.
    Asleep,
    /// Being started.
    Starting {
        /// Since when.
        since_ms: u64,
        /// What its start is doing.
        #[serde(default)]
        phase: Phase,
    },
    /// Running or connected.
    Ready {
        /// Calls in flight.
        in_flight: usize,
        /// When it goes to sleep if nothing happens.
        sleeps_at_ms: Option<u64>,
    },
    /// Being stopped.
    Stopping,
    /// A start failed; the next may be made at the time named.
    BackingOff {
        /// Why.
        code: Code,
        /// Why, in words.
        message: String,
        /// When.
        retry_at_ms: u64,
        /// Failed starts in a row.
        failures: u32,
    },
    /// Failed too often; left alone until the time named or until a person starts it.
    Broken {
        /// Why.
        code: Code,
        /// Why, in words.
        message: String,
        /// When it may be tried again.
        retry_at_ms: u64,
        /// Failed starts in a row.
        failures: u32,
    },
    /// Cannot start before these names are set.
    NeedsCredential {
        /// Names of secrets and variables that are not set.
        names: Vec<String>,
        /// Those of them that are variables of the environment; the others are secrets.
        #[serde(default)]
        variables: Vec<String>,
        /// Why: nobody set them, or where they are kept cannot be read.
        #[serde(default = "unset")]
        code: Code,
        /// Why they cannot be had, where it is not just that nobody set them.
        message: String,
    },
    /// Nobody is signed in to it, or not as it wants. What exactly, [`ServerView::sign_in`] says.
    NeedsSignIn {
        /// What is missing, in words.
        message: String,
    },
    /// Its entry in the configuration is wrong. It is not used before somebody corrects it.
    Invalid {
        /// What is wrong with it, and in which line.
        message: String,
    },
}

/// What hubs of before meant.
fn unset() -> Code {
    Code::NeedsCredential
}

impl ServerState {
    /// The state's name as in JSON.
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

    /// One short sentence in the words of the interface.
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
            (ServerState::BackingOff { message, retry_at_ms, .. }, _) => {
                format!("Did not start: {message} · trying again in {}", wait(*retry_at_ms))
            }
            (ServerState::Broken { message, failures, .. }, _) => {
                let starts = if *failures == 1 { "start" } else { "starts" };
                format!("Stopped after {failures} failed {starts}: {message}")
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

/// A client that has spoken to the endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ClientView {
    /// The id its token was made for.
    pub id: String,
    /// Requests since the hub started.
    pub requests: u64,
    /// Its last tool call, as `server:tool`, where there was one.
    pub last_call: Option<String>,
    /// When it last spoke, in milliseconds since the Unix epoch.
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
                    retry_at_ms: 21_000,
                    failures: 1,
                },
                "Did not start: npx was not found · trying again in 0:20",
            ),
        ];
        for (state, sentence) in cases {
            assert_eq!(state.sentence(Place::Computer, 1_000), sentence);
        }
        assert_eq!(ServerState::Asleep.sentence(Place::Hosted, 0), "Ready · connects when called");
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
