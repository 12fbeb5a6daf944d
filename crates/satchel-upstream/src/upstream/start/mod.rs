//! One start of a server: resolves references, connects, shakes hands, and tries another way where one is refused.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use satchel_mcp::{Raw, RawObject};
use tokio::{
    sync::{broadcast, mpsc},
    time::Instant,
};

use super::{
    activity::{self, Launcher},
    connect::{Connection, Signs, http, sse, stdio},
    dirty::Dirty,
    fill::{Filled, fill},
    handle::Mail,
    handshake::{self, HandshakeRefused, Hello, failure},
    lifecycle::Failure,
    link::OnChange,
    log::ServerLog,
    oauth::account::Credential,
    preflight::Preflight,
    roots::Roots,
    setup::setup_of,
    surroundings::{ServerNotification, Surroundings},
    symptoms::{closer, cure, tell_trouble, unreached},
};
use crate::{
    clock::now_ms,
    model::{
        Code, ServerConfig, ServerName, TransportConfig, audit::AuditKind, cause::FailureCause, oauth::OAuth,
        server::EraSetting, snapshot::Phase,
    },
    stats::audit::AuditEvent,
};

mod program;

/// Timeout of a launcher's start while it downloads and produces output.
const DOWNLOAD: Duration = Duration::from_secs(600);
/// The same without output, as long as its processes make progress.
const SILENT_DOWNLOAD: Duration = Duration::from_secs(300);
/// Interval of sampling its processes.
const LOOKING: Duration = Duration::from_secs(2);
/// A start that takes longer than this is taken for a download.
const NOT_DOWNLOADED: Duration = Duration::from_secs(2);
/// How long an unknown server may take to reject `server/discover`, before `initialize` is tried.
const PROBE: Duration = Duration::from_secs(10);
/// Number of output lines searched for messages about a download.
const TAIL: usize = 20;

#[derive(Debug)]
struct Ears {
    server: ServerName,
    instance: Option<(u64, Roots)>,
    dirty: Arc<Dirty>,
    notifications: broadcast::Sender<ServerNotification>,
}

impl OnChange for Ears {
    fn list_changed(&self, list: &str) {
        self.dirty.tell(Dirty::bit(list));
    }

    fn told(&self, method: &str, params: Option<&Raw>) {
        let params = params.map(|params| params.get().into());
        // There may be no receiver.
        let _ = self.notifications.send(ServerNotification {
            server: self.server.clone(),
            instance: self.instance.as_ref().map(|(number, _)| *number),
            method: method.into(),
            params,
        });
    }

    fn roots(&self) -> Option<Vec<String>> {
        self.instance.as_ref().and_then(|(_, roots)| (roots.0)())
    }
}

/// How a server was reached last time, so that it is not probed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// `server/discover` and stateless requests.
    Modern,
    /// `initialize` and a session.
    Legacy,
    /// `initialize` over HTTP+SSE, the transport of 2024-11-05.
    Sse,
}

/// An address may support a newer revision later; a process does so only if the program changes.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);

pub(super) type Remembered = Arc<Mutex<Option<(Way, Instant)>>>;

/// A connection, the timeout of its handshake, and the launcher that started it.
type Connected = (Connection, Duration, Option<Launcher>);

/// One start: resolve references, connect, shake hands.
#[derive(Clone)]
pub(super) struct Start {
    pub(super) name: ServerName,
    /// Its number and its callers' folders, if it is an instance that not all callers share.
    pub(super) instance: Option<(u64, Roots)>,
    pub(super) way: Remembered,
    pub(super) config: ServerConfig,
    pub(super) preflight: Preflight,
    pub(super) mark: String,
    pub(super) around: Arc<Surroundings>,
    pub(super) dirty: Arc<Dirty>,
    pub(super) log: ServerLog,
    /// The channel for progress, and the generation.
    pub(super) told: (u64, mpsc::WeakUnboundedSender<Mail>),
}

impl Start {
    /// Tries the possible transports and eras, each at most once, until one works.
    pub(super) async fn run(self) -> Result<Box<(Connection, Hello)>, Failure> {
        let filled = fill(&self.name, &self.config.transport, &self.around, &self.log).await?;
        self.preflight.permits(filled.reveal()).await?;
        let hosted = matches!(filled.reveal(), TransportConfig::Http { .. });
        let usual = match self.config.era {
            EraSetting::Auto if hosted => Way::Modern,
            EraSetting::Auto | EraSetting::Legacy => Way::Legacy,
            EraSetting::Modern => Way::Modern,
        };
        let mut way = self.remembered(hosted).unwrap_or(usual);
        let (mut tried, mut first) = (vec![], None);
        loop {
            tried.push(way);
            let refused = match self.attempt(&filled, way).await {
                Ok(started) => {
                    let (started, way) = self.with_tools(started, &filled, way).await;
                    return self.admit(started, &filled, way).await;
                }
                Err(refused) => refused,
            };
            // A server that was merely slow to wake may be asked the same way again, if it speaks no other.
            if refused.failure.code == Code::HandshakeTimeout && way == Way::Modern && tried.len() == 1 {
                tried.clear();
            }
            let next = next_way(way, hosted, &refused, &tried);
            let failure = fitting(way, hosted, first, refused.failure);
            match next.filter(|next| !tried.contains(next) && self.may_speak(*next)) {
                Some(next) => way = next,
                None => return Err(failure),
            }
            first = Some(failure);
        }
    }

    /// A list of tools that is empty in one family of revisions is asked for in the other one before it is believed: a
    /// proxy of the newer family may not understand an older server behind it. One that declares no tools is believed.
    async fn with_tools(
        &self,
        started: Box<(Connection, Hello)>,
        filled: &Filled,
        way: Way,
    ) -> (Box<(Connection, Hello)>, Way) {
        let hosted = matches!(filled.reveal(), TransportConfig::Http { .. });
        let is_known = self.way.lock().is_some();
        let may_doubt = way == Way::Modern && hosted && !is_known && self.may_speak(Way::Legacy);
        let is_in_doubt = may_doubt && started.1.offers("tools");
        if !is_in_doubt || self.has_tools(&started.0).await != Some(false) {
            return (started, way);
        }
        let Ok(other) = self.attempt(filled, Way::Legacy).await else { return (started, way) };
        if self.has_tools(&other.0).await != Some(true) {
            other.0.stop().await;
            return (started, way);
        }
        let (newer, older) = (started.1.era.revision(), other.1.era.revision());
        self.log.remark(&format!(
            "its list of tools is empty in revision {newer} and not in {older}, which is used"
        ));
        started.0.stop().await;
        (other, Way::Legacy)
    }

    /// Does it list a tool? `None` if it does not say.
    async fn has_tools(&self, connection: &Connection) -> Option<bool> {
        let wait = self.config.discovery_timeout.min(PROBE);
        let list = connection.link.request("tools/list", None, wait).await.ok()?;
        let tools: Vec<Box<Raw>> = RawObject::parse(&list).ok()?.read("tools")?;
        Some(!tools.is_empty())
    }

    /// Checks once more that it may run, and remembers the way that worked.
    async fn admit(
        &self,
        started: Box<(Connection, Hello)>,
        filled: &Filled,
        way: Way,
    ) -> Result<Box<(Connection, Hello)>, Failure> {
        // Its launcher may have just fetched something.
        if let Err(failure) = self.preflight.permits(filled.reveal()).await {
            started.0.stop().await;
            return Err(failure);
        }
        // A process is recorded from its start on.
        if matches!(filled.reveal(), TransportConfig::Http { .. }) {
            self.did(AuditKind::Started, self.name.as_str(), format!("connected; {}", self.setup()));
        }
        let known = (way, Instant::now());
        *self.way.lock() = Some(known);
        Ok(started)
    }

    fn remembered(&self, hosted: bool) -> Option<Way> {
        let known = *self.way.lock();
        let (way, since) = known?;
        let fresh = !hosted || way == Way::Modern || since.elapsed() < REMEMBERED;
        (fresh && self.may_speak(way)).then_some(way)
    }

    /// Does the configuration allow this way?
    fn may_speak(&self, way: Way) -> bool {
        match (self.config.era, way) {
            (EraSetting::Auto, _)
            | (EraSetting::Modern, Way::Modern)
            | (EraSetting::Legacy, Way::Legacy | Way::Sse) => true,
            (EraSetting::Modern, Way::Legacy | Way::Sse) | (EraSetting::Legacy, Way::Modern) => false,
        }
    }

    /// Connects and shakes hands in one way.
    async fn attempt(&self, filled: &Filled, way: Way) -> Result<Box<(Connection, Hello)>, HandshakeRefused> {
        let connected = match filled.reveal().clone() {
            TransportConfig::Stdio { command, args, env, cwd } => {
                self.start_program(&command, args, env, cwd).await
            }
            TransportConfig::Http { url, headers, oauth } => self.open(url, headers, *oauth, way),
        };
        let (connection, patience, launcher) = connected.map_err(HandshakeRefused::final_one)?;
        let (hosted, noise_before) = (connection.pid.is_none(), self.log.noise_count());
        match self.greet(&connection, way, patience, launcher).await {
            Ok(hello) => Ok(Box::new((connection, hello))),
            Err(refused) => {
                connection.stop().await;
                let noisy = self.log.noise_count() > noise_before;
                let failure = self.explained(refused.failure, hosted, noisy);
                Err(HandshakeRefused { failure, ..refused })
            }
        }
    }

    /// Starts the program of a local server, in its container if it has one.
    async fn start_program(
        &self,
        command: &str,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        cwd: Option<String>,
    ) -> Result<Connected, Failure> {
        if let Some(failure) = program::joined_arguments(command, &args) {
            return Err(failure);
        }
        let (program, launcher) = match self.config.sandbox.as_ref().and_then(program::contained) {
            Some((sandbox, container)) => {
                let program = self.in_container(sandbox, container, command, &args, env, cwd);
                // The engine fetches an image, whatever runs in it.
                (program.await, Launcher::of("docker", &[]))
            }
            None => {
                let launcher = Launcher::of(command, &args);
                (self.program(command, args, env, cwd).await, launcher)
            }
        };
        let (program, patience) = (program?, patience_for(launcher, self.config.discovery_timeout));
        let count = program.args.len();
        let noun = if count == 1 { "argument" } else { "arguments" };
        let detail = format!("{}, {count} {noun}", program.program.display());
        let (watchdog, ending) = (self.around.watchdog.clone(), self.around.ending.clone());
        let (ears, log) = (self.ears(), self.log.clone());
        let connection = stdio::connect(program, ears, log, watchdog, ending, &self.around.tracker)?;
        self.did(AuditKind::Started, self.name.as_str(), format!("{detail}; {}", self.setup()));
        Ok((connection, patience, launcher))
    }

    /// Opens the connection to a hosted server.
    fn open(
        &self,
        url: String,
        headers: BTreeMap<String, String>,
        oauth: OAuth,
        way: Way,
    ) -> Result<Connected, Failure> {
        let (accounts, tracker) = (&self.around.accounts, &self.around.tracker);
        let credential = Credential::of(accounts, &self.name, &url, &headers, oauth, &self.log);
        let address = http::Address { url, headers, credential };
        let connection = match way {
            Way::Sse => sse::connect(&address, self.ears(), self.log.clone(), tracker),
            Way::Modern | Way::Legacy => http::connect(&address, self.ears(), self.log.clone(), tracker),
        };
        Ok((connection?, self.config.discovery_timeout, None))
    }

    fn ears(&self) -> Box<Ears> {
        Box::new(Ears {
            server: self.name.clone(),
            instance: self.instance.clone(),
            dirty: self.dirty.clone(),
            notifications: self.around.notifications.clone(),
        })
    }

    /// Shakes hands, as long as the server shows signs of life.
    async fn greet(
        &self,
        connection: &Connection,
        way: Way,
        patience: Duration,
        launcher: Option<Launcher>,
    ) -> Result<Hello, HandshakeRefused> {
        let quiet = self.config.discovery_timeout;
        let greeting = async {
            match way {
                Way::Modern if self.config.era == EraSetting::Modern => {
                    handshake::discover(&connection.link, patience).await
                }
                Way::Modern => handshake::discover(&connection.link, PROBE.min(patience)).await,
                Way::Legacy | Way::Sse => handshake::initialize(&connection.link, patience).await,
            }
        };
        tokio::select! {
            greeted = greeting => greeted,
            silent = silence(&connection.signs, quiet) => {
                let seconds = silent.as_secs();
                let message = format!("it gave no sign of life for {seconds} s before it was ready");
                let cause = FailureCause::Silent { seconds, wrote: None };
                let failure = failure(Code::HandshakeTimeout, message).because(cause);
                Err(HandshakeRefused::final_one(failure))
            }
            never = self.watch(connection, launcher, quiet) => match never {},
        }
    }

    /// The failure with what its circumstances say about its reason.
    fn explained(&self, failed: Failure, hosted: bool, noisy: bool) -> Failure {
        let Failure { code, mut message, mut cause, missing } = failed;
        let code = closer(code, &message, hosted, noisy);
        if hosted {
            tell_trouble(cause.as_deref_mut(), code);
            message = unreached(code, &message);
        } else if matches!(code, Code::HandshakeTimeout | Code::StdoutNoise)
            // The reason may be in its output.
            && let Some(line) = self.log.reason()
        {
            message = format!("{message}; it wrote last: {line}");
            if let Some(FailureCause::Silent { wrote, .. } | FailureCause::NoAnswer { wrote, .. }) =
                cause.as_deref_mut()
            {
                *wrote = Some(line);
            }
        }
        if let Some(cure) = cure(code, &message) {
            message = format!("{message}; {cure}");
        }
        Failure { code, message, cause, missing }
    }

    /// Counts the activity of a launcher's processes as signs of life, and reports the phase. Runs until dropped.
    async fn watch(
        &self,
        connection: &Connection,
        launcher: Option<Launcher>,
        quiet: Duration,
    ) -> std::convert::Infallible {
        let (Some(launcher), Some(root)) = (launcher, connection.pid) else {
            return std::future::pending().await;
        };
        let (began, pause) = (Instant::now(), LOOKING.min(quiet / 3));
        let (mut before, mut known) = (None, Phase::Starting);
        loop {
            tokio::time::sleep(pause).await;
            let ours = self.around.own_program.clone();
            let Ok(now) = tokio::task::spawn_blocking(move || activity::look(root, &ours)).await else {
                continue;
            };
            let fetches = launcher.fetches(&now, &self.log.tail(TAIL));
            if let Some((at, sample)) = before.replace((Instant::now(), now))
                && began.elapsed() < SILENT_DOWNLOAD
                && launcher.gets_on(&sample, &now, Instant::now() - at, fetches)
            {
                connection.signs.saw();
            }
            let phase = match fetches && began.elapsed() >= NOT_DOWNLOADED.min(quiet) {
                true => Phase::Downloading,
                false => Phase::Starting,
            };
            if std::mem::replace(&mut known, phase) != phase
                && let Some(mail) = self.told.1.upgrade()
            {
                let _ = mail.send(Mail::Phase(self.told.0, phase));
            }
        }
    }

    fn did(&self, kind: AuditKind, subject: &str, detail: String) {
        let (who, subject) = (self.name.to_string(), subject.to_owned());
        (self.around.audit.0)(AuditEvent { at_ms: now_ms(), kind, who, subject, detail });
    }

    /// A fingerprint of what runs; stays the same until the entry changes.
    fn setup(&self) -> String {
        format!("setup {}", setup_of(&self.config.transport).get(..16).unwrap_or_default())
    }
}

/// The way to try after `way` was refused.
fn next_way(way: Way, hosted: bool, refused: &HandshakeRefused, tried: &[Way]) -> Option<Way> {
    match way {
        Way::Legacy if hosted && refused.no_post && !tried.contains(&Way::Sse) => Some(Way::Sse),
        Way::Modern if refused.try_other => Some(Way::Legacy),
        Way::Legacy if refused.try_other => Some(Way::Modern),
        // What was remembered no longer applies.
        Way::Sse if tried.len() == 1 => Some(Way::Modern),
        _ => None,
    }
}

/// The failure that fits most servers, of the first and the present way. Over HTTP, the oldest transport is tried last.
fn fitting(way: Way, hosted: bool, first: Option<Failure>, failed: Failure) -> Failure {
    match way {
        Way::Modern if hosted => first.unwrap_or(failed),
        Way::Sse => match first {
            Some(first) => {
                let message = format!("{}; over HTTP+SSE {}", first.message, failed.message);
                Failure { message, ..first }
            }
            None => failed,
        },
        _ => failed,
    }
}

/// Resolves when the other side has been silent for too long.
async fn silence(signs: &Signs, quiet: Duration) -> Duration {
    loop {
        let due = signs.last() + quiet;
        if due <= Instant::now() {
            return quiet;
        }
        tokio::time::sleep_until(due).await;
    }
}

/// Timeout of this program's handshake, as long as it shows signs of life.
fn patience_for(launcher: Option<Launcher>, quiet: Duration) -> Duration {
    if launcher.is_some() { DOWNLOAD } else { quiet }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::link::Link;

    const QUIET: Duration = crate::model::server::DISCOVERY_TIMEOUT;

    /// The limit of 30 s: a start fails after exactly this time without output.
    #[tokio::test(start_paused = true)]
    async fn a_start_may_take_long_while_it_shows_signs_of_life() {
        let (begin, signs) = (Instant::now(), Signs::default());
        let silent = silence(&signs, QUIET);
        let working = async {
            for _ in 0..10 {
                tokio::time::sleep(QUIET - Duration::from_secs(1)).await;
                signs.saw();
            }
        };
        assert_eq!(tokio::join!(silent, working).0, QUIET);
        assert_eq!(begin.elapsed(), (QUIET - Duration::from_secs(1)) * 10 + QUIET);
    }

    /// 10 min for programs that may download first, 30 s for all others.
    #[tokio::test(start_paused = true)]
    async fn only_what_downloads_first_may_take_longer_than_its_handshake() {
        for (command, limit) in
            [("npx", DOWNLOAD), ("uvx.exe", DOWNLOAD), ("docker", DOWNLOAD), ("node", QUIET)]
        {
            let launcher = Launcher::of(command, &[]);
            assert_eq!(patience_for(launcher, QUIET), limit, "{command}");
            for (takes, good) in
                [(limit - Duration::from_secs(1), true), (limit + Duration::from_secs(1), false)]
            {
                let (link, mut outbox) = Link::new(Box::new(Ears::deaf()), ServerLog::nowhere());
                let answering = async {
                    let asked = outbox.recv().await.unwrap();
                    assert!(asked.sent.leaves());
                    tokio::time::sleep(takes).await;
                    let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#.to_owned();
                    let id = satchel_mcp::Id::from(asked.id.unwrap());
                    link.incoming(satchel_mcp::Message::result(id, Raw::from_string(hello).unwrap()));
                };
                let greeted = handshake::initialize(&link, limit);
                let greeted = tokio::join!(greeted, answering).0;
                assert_eq!(greeted.is_ok(), good, "{command} after {takes:?}");
                if let Err(refused) = greeted {
                    assert_eq!(refused.failure.code, Code::HandshakeTimeout);
                }
            }
        }
    }

    impl Ears {
        fn deaf() -> Self {
            let server = "x".parse().unwrap();
            Self { server, instance: None, dirty: Arc::default(), notifications: broadcast::channel(1).0 }
        }
    }
}
