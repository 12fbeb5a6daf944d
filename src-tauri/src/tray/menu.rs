//! The tray's menu as a value. Pure and deterministic.

use std::fmt;

use satchel_core::model::{
    Code, Place, ServerState, ServerView, Snapshot,
    oauth::SignInState,
    profiles::ProfilesView,
    snapshot::{During, LastFailure, Phase},
};

use crate::{language::Language, state::HubState};

/// Maximum number of servers; further ones are in the window only.
pub(crate) const SERVERS: usize = 12;
/// Maximum number of profiles; further ones are in the window only.
pub(crate) const PROFILES: usize = 12;
/// Maximum number of items that need a person; further ones are in the window only.
pub(crate) const NEEDS: usize = 4;

/// The whole menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MenuModel {
    /// The language of all texts.
    pub(crate) language: Language,
    /// The hub's state, as text.
    pub(crate) status: String,
    /// Today's token savings.
    pub(crate) saved: Option<String>,
    /// Is the hub paused? `None` if there is no hub to pause.
    pub(crate) paused: Option<bool>,
    /// Calls that wait for a person; opens the window.
    pub(crate) asks: Option<String>,
    /// What needs a person; opens the window, never acts.
    pub(crate) needs: Vec<MenuNeed>,
    /// The number of further ones.
    pub(crate) more_needs: Option<String>,
    /// Every server with a check mark if it is enabled.
    pub(crate) servers: Vec<Line>,
    /// The number of further servers.
    pub(crate) more_servers: Option<String>,
    /// The profiles; `None` if there are none.
    pub(crate) profiles: Option<Choice>,
    /// Can the endpoint's address be copied?
    pub(crate) can_copy: bool,
    /// The window's page does not answer, and can be made anew.
    pub(crate) silent: bool,
}

/// A server that needs a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MenuNeed {
    pub(crate) server: String,
    pub(crate) label: String,
    /// Definitions of it are held back.
    pub(crate) held: bool,
}

/// A server with its switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) server: String,
    pub(crate) label: String,
    pub(crate) enabled: bool,
}

/// The choice of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The submenu's title.
    pub(crate) title: String,
    /// No profile is active.
    pub(crate) everything: bool,
    /// Each with a check mark if active.
    pub(crate) profiles: Vec<ProfileLine>,
    /// The number of further ones.
    pub(crate) more: Option<String>,
}

/// A profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProfileLine {
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) active: bool,
}

impl Choice {
    fn of(view: &ProfilesView, language: Language) -> Option<Self> {
        let words = Words::of(language);
        let active = view.active.as_deref();
        let is_active = |name: &str| active == Some(name);
        let lost = active.filter(|active| view.all.iter().all(|profile| profile.name != *active));
        let known = view.all.iter().map(|profile| match profile.fault.is_some() {
            true => (
                profile.name.as_str(),
                format!("{} — {}", profile.name, language.pick("cannot be used", "ist fehlerhaft")),
            ),
            false => (profile.name.as_str(), profile.name.clone()),
        });
        let lost =
            lost.map(|name| (name, format!("{name} — {}", language.pick("is not there", "gibt es nicht"))));
        let mut all: Vec<(&str, String)> = lost.into_iter().chain(known).collect();
        if all.is_empty() {
            return None;
        }
        // The active one is always included.
        all.sort_by_key(|(name, _)| !is_active(name));
        let more = more(all.len(), PROFILES).map(|count| in_the_window(count, language));
        all.truncate(PROFILES);
        all.sort_by_key(|(name, _)| *name);
        let line = |(name, label): (&str, String)| ProfileLine {
            name: name.to_owned(),
            label,
            active: is_active(name),
        };
        Some(Self {
            title: format!("{}: {}", words.profile, active.unwrap_or(words.everything)),
            everything: active.is_none(),
            profiles: all.into_iter().map(line).collect(),
            more,
        })
    }
}

/// The menu's texts in this operating system's style.
pub(crate) struct Words {
    pub(crate) needs_you: &'static str,
    pub(crate) servers: &'static str,
    pub(crate) profile: &'static str,
    pub(crate) everything: &'static str,
    pub(crate) copy: &'static str,
    pub(crate) pause: &'static str,
    pub(crate) hour: &'static str,
    pub(crate) tomorrow: &'static str,
    pub(crate) until_resumed: &'static str,
    pub(crate) resume: &'static str,
    pub(crate) renew: &'static str,
    pub(crate) open: &'static str,
    pub(crate) settings: &'static str,
    pub(crate) quit: &'static str,
}

impl Words {
    pub(crate) fn of(language: Language) -> &'static Self {
        language.pick(&ENGLISH, &GERMAN)
    }
}

const GERMAN: Words = Words {
    needs_you: "Braucht dich",
    servers: "Server",
    profile: "Profil",
    everything: "Alles",
    copy: "Adresse für Clients kopieren",
    pause: "Pause",
    hour: "Für eine Stunde",
    tomorrow: "Bis morgen",
    until_resumed: "Bis ich fortsetze",
    resume: "Fortsetzen",
    renew: "Fenster antwortet nicht: neu beginnen",
    open: "Satchel öffnen",
    settings: if cfg!(windows) { "Einstellungen" } else { "Einstellungen…" },
    quit: if cfg!(windows) { "Beenden" } else { "Satchel beenden" },
};

/// Windows uses sentence case and says Exit; others use title case and say Quit.
const ENGLISH: Words = if cfg!(windows) {
    Words {
        needs_you: "Needs you",
        servers: "Servers",
        profile: "Profile",
        everything: "Everything",
        copy: "Copy endpoint address",
        pause: "Pause",
        hour: "For one hour",
        tomorrow: "Until tomorrow",
        until_resumed: "Until I resume",
        resume: "Resume",
        renew: "Window does not answer: start it anew",
        open: "Open Satchel",
        settings: "Settings",
        quit: "Exit",
    }
} else {
    Words {
        needs_you: "Needs you",
        servers: "Servers",
        profile: "Profile",
        everything: "Everything",
        copy: "Copy Endpoint Address",
        pause: "Pause",
        hour: "For One Hour",
        tomorrow: "Until Tomorrow",
        until_resumed: "Until I Resume",
        resume: "Resume",
        renew: "Window Does Not Answer: Start It Anew",
        open: "Open Satchel",
        settings: "Settings…",
        quit: "Quit Satchel",
    }
};

impl MenuModel {
    /// The menu for this state.
    pub(crate) fn of(state: &HubState, language: Language) -> Self {
        let none = Self {
            language,
            status: String::new(),
            saved: None,
            paused: None,
            asks: None,
            needs: vec![],
            more_needs: None,
            servers: vec![],
            more_servers: None,
            profiles: None,
            can_copy: state.endpoint().is_some(),
            silent: false,
        };
        match state {
            HubState::Opening => {
                Self { status: language.pick("Satchel is starting", "Satchel startet").into(), ..none }
            }
            HubState::Held { pid, .. } => {
                let other = language.pick("Another Satchel is serving", "Ein anderes Satchel läuft schon");
                let process = language.pick("process", "Prozess");
                let of = pid.map(|pid| format!(" ({process} {pid})")).unwrap_or_default();
                Self { status: format!("{other}{of}"), ..none }
            }
            HubState::Stopped { .. } => {
                Self { status: language.pick("Satchel has stopped", "Satchel ist beendet").into(), ..none }
            }
            HubState::Open { snapshot, .. } => {
                Self { status: status(snapshot, language), ..none.with_servers(snapshot) }
            }
        }
    }

    fn with_servers(self, snapshot: &Snapshot) -> Self {
        let language = self.language;
        let mut needing: Vec<&ServerView> =
            snapshot.servers.iter().filter(|server| server.needs_you()).collect();
        needing.sort_by_key(|server| severity(server));
        let needs = needing.iter().take(NEEDS).map(|server| MenuNeed {
            server: server.name.clone(),
            label: match is_held_only(server) {
                true => format!("{}: {}…", server.name, held(server.held, language)),
                false => format!("{}: {}…", server.name, need(server, language)),
            },
            held: is_held_only(server),
        });
        let servers = snapshot.servers.iter().take(SERVERS).map(|server| Line {
            server: server.name.clone(),
            label: label(server, language),
            enabled: server.enabled,
        });
        let asks = match snapshot.asks.as_slice() {
            [] => None,
            [ask] if ask.question.is_some() => {
                Some(format!("{} {}…", ask.server, language.pick("asks you something", "fragt dich etwas")))
            }
            [ask] => {
                let asks = language.pick("wants to run", "möchte ausführen:");
                Some(format!("{} {asks} {}:{}…", language.client(&ask.client), ask.server, ask.tool))
            }
            many => {
                let wait = language.pick("calls wait for your answer", "Aufrufe warten auf deine Antwort");
                Some(format!("{} {wait}…", many.len()))
            }
        };
        Self {
            saved: saved(snapshot.ledger.net_today, language),
            paused: Some(snapshot.paused.is_some()),
            asks,
            needs: needs.collect(),
            more_needs: more(needing.len(), NEEDS)
                .map(|count| format!("{count} {}…", language.pick("more", "weitere"))),
            servers: servers.collect(),
            more_servers: more(snapshot.servers.len(), SERVERS).map(|count| in_the_window(count, language)),
            profiles: Choice::of(&snapshot.profiles, language),
            ..self
        }
    }
}

fn more(all: usize, shown: usize) -> Option<usize> {
    all.checked_sub(shown).filter(|rest| *rest > 0)
}

fn in_the_window(count: usize, language: Language) -> String {
    format!("{count} {}…", language.pick("more in the window", "weitere im Fenster"))
}

fn status(snapshot: &Snapshot, language: Language) -> String {
    if snapshot.paused.is_some() {
        return language.pick("Satchel is paused", "Satchel macht Pause").into();
    }
    if snapshot.servers.is_empty() {
        return language.pick("Satchel is on · no servers yet", "Satchel läuft · noch keine Server").into();
    }
    let count =
        |is: fn(&ServerState) -> bool| snapshot.servers.iter().filter(|server| is(&server.state)).count();
    let awake = count(|state| matches!(state, ServerState::Ready { .. } | ServerState::Starting { .. }));
    let asleep = count(|state| matches!(state, ServerState::Asleep));
    let needs = snapshot.servers.iter().filter(|server| server.needs_you()).count() + snapshot.asks.len();
    match language {
        Language::En => {
            let needs = match needs {
                0 => String::new(),
                1 => ", 1 needs you".to_owned(),
                many => format!(", {many} need you"),
            };
            format!("Satchel is on · {awake} awake, {asleep} asleep{needs}")
        }
        Language::De => {
            let needs = match needs {
                0 => String::new(),
                1 => ", 1 braucht dich".to_owned(),
                many => format!(", {many} brauchen dich"),
            };
            let sleep = if asleep == 1 { "schläft" } else { "schlafen" };
            format!("Satchel läuft · {awake} wach, {asleep} {sleep}{needs}")
        }
    }
}

/// Nothing for a day without savings.
fn saved(net: i64, language: Language) -> Option<String> {
    let today =
        |tokens: &str| language.pick(format!("{tokens} saved today"), format!("heute {tokens} gespart"));
    let tokens = language.pick("tokens", "Token");
    match net {
        ..=0 => None,
        1 => Some(today(language.pick("1 token", "1 Token"))),
        2..1_000 => Some(today(&format!("{net} {tokens}"))),
        _ => Some(today(&format!("{} k {tokens}", net / 1_000))),
    }
}

fn label(server: &ServerView, language: Language) -> String {
    match word(server, language) {
        Some(word) => format!("{} — {word}", server.name),
        None => server.name.clone(),
    }
}

/// The state in one or two words; off is shown by the missing check mark.
fn word(server: &ServerView, language: Language) -> Option<&'static str> {
    Some(match &server.state {
        ServerState::Off => return None,
        ServerState::Asleep if server.last_failure.is_some() || server.awaits_sign_in() => {
            need(server, language)
        }
        ServerState::Asleep if server.fresh => language.pick("not started yet", "noch nie gestartet"),
        ServerState::Asleep if server.place == Place::Hosted => language.pick("ready", "bereit"),
        ServerState::Asleep => language.pick("asleep", "schläft"),
        ServerState::Starting { phase: Phase::Downloading, .. } => {
            language.pick("downloading", "lädt herunter")
        }
        ServerState::Starting { phase: Phase::Starting, .. } => language.pick("starting", "startet"),
        ServerState::Ready { in_flight: 1.., .. } => language.pick("working", "arbeitet"),
        ServerState::Ready { .. } => language.pick("awake", "wach"),
        ServerState::Stopping => language.pick("stopping", "endet"),
        ServerState::BackingOff { .. }
        | ServerState::Broken { .. }
        | ServerState::NeedsCredential { .. }
        | ServerState::NeedsSignIn { .. }
        | ServerState::Invalid { .. } => need(server, language),
    })
}

fn need(server: &ServerView, language: Language) -> &'static str {
    match (&server.state, &server.last_failure) {
        (ServerState::Invalid { .. }, _) => language.pick("correct its entry", "Eintrag berichtigen"),
        (ServerState::NeedsCredential { names, .. }, _) if names.is_empty() => {
            language.pick("sign in", "anmelden")
        }
        (ServerState::NeedsCredential { code: Code::VaultLocked | Code::KeychainLocked, .. }, _) => {
            language.pick("unlock the secrets", "Zugangsdaten aufschließen")
        }
        (ServerState::NeedsCredential { .. }, _) => {
            language.pick("add a credential", "Zugangsdaten eintragen")
        }
        (ServerState::NeedsSignIn { .. }, _) => sign_in(server, language),
        (ServerState::BackingOff { .. } | ServerState::Broken { .. }, _) => did_not_start(server, language),
        (_, Some(LastFailure { during: During::Start, .. })) => did_not_start(server, language),
        (_, Some(LastFailure { during: During::Run, .. })) => {
            language.pick("keeps exiting", "endet immer wieder")
        }
        (_, Some(LastFailure { during: During::Lists, .. })) => {
            language.pick("cannot be read", "ist nicht zu lesen")
        }
        (
            ServerState::Off
            | ServerState::Asleep
            | ServerState::Starting { .. }
            | ServerState::Ready { .. }
            | ServerState::Stopping,
            None,
        ) => match server.sign_in.as_ref().map(|view| &view.state) {
            Some(SignInState::NeedsMoreRights { .. } | SignInState::SigningIn { .. }) => {
                sign_in(server, language)
            }
            _ => language.pick("needs you", "braucht dich"),
        },
    }
}

fn sign_in(server: &ServerView, language: Language) -> &'static str {
    match server.sign_in.as_ref().map(|view| &view.state) {
        Some(SignInState::SigningIn { .. }) => {
            language.pick("finish in the browser", "im Browser abschließen")
        }
        Some(SignInState::NeedsClientId { .. }) => language.pick("enter a client ID", "Client-ID eingeben"),
        Some(SignInState::NeedsMoreRights { .. }) => language.pick("allow more", "mehr erlauben"),
        _ => language.pick("sign in", "anmelden"),
    }
}

fn did_not_start(server: &ServerView, language: Language) -> &'static str {
    match (server.code(), server.place) {
        (Some(Code::Unreachable), _) => language.pick("does not answer", "antwortet nicht"),
        (_, Place::Hosted) => language.pick("could not connect", "war nicht erreichbar"),
        (_, Place::Computer) => language.pick("could not start", "konnte nicht starten"),
    }
}

/// What a server needs from a person before it can be used, as a sentence without its name. Nothing while it is
/// retried automatically, or while someone is at its sign-in page.
pub(crate) fn needs(server: &ServerView, language: Language) -> Option<String> {
    let needs = matches!(
        server.state,
        ServerState::Broken { .. } | ServerState::NeedsCredential { .. } | ServerState::Invalid { .. }
    ) || needs_sign_in(server);
    (needs && server.enabled).then(|| need(server, language).to_owned())
}

/// Does it need a sign-in or more rights?
pub(crate) fn needs_sign_in(server: &ServerView) -> bool {
    match server.sign_in.as_ref().map(|view| &view.state) {
        Some(SignInState::SigningIn { .. }) => false,
        _ => server.awaits_sign_in() || matches!(server.state, ServerState::NeedsSignIn { .. }),
    }
}

/// Is there nothing to do but to review what it offers?
fn is_held_only(server: &ServerView) -> bool {
    !server.is_troubled() && !server.awaits_sign_in()
}

/// The number of definitions that wait for review.
fn held(count: usize, language: Language) -> String {
    match count {
        1 => language.pick("look at 1 change", "1 Änderung ansehen").to_owned(),
        many => language.pick(format!("look at {many} changes"), format!("{many} Änderungen ansehen")),
    }
}

fn severity(server: &ServerView) -> u8 {
    match &server.state {
        ServerState::Broken { .. } | ServerState::Invalid { .. } => 0,
        ServerState::BackingOff { .. } => 1,
        ServerState::NeedsCredential { .. } | ServerState::NeedsSignIn { .. } => 2,
        _ if server.awaits_sign_in() => 2,
        _ if server.is_troubled() => 1,
        ServerState::Off
        | ServerState::Asleep
        | ServerState::Starting { .. }
        | ServerState::Ready { .. }
        | ServerState::Stopping => 3,
    }
}

/// The menu as text, for tests and logs.
impl fmt::Display for MenuModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = Words::of(self.language);
        writeln!(f, "  {}", self.status)?;
        for saved in self.saved.iter() {
            writeln!(f, "  {saved}")?;
        }
        if !self.needs.is_empty() || self.asks.is_some() {
            writeln!(f, "---\n  {}", words.needs_you)?;
        }
        for asks in self.asks.iter() {
            writeln!(f, "  {asks}")?;
        }
        for need in &self.needs {
            writeln!(f, "  {}", need.label)?;
        }
        for more in self.more_needs.iter() {
            writeln!(f, "  {more}")?;
        }
        if !self.servers.is_empty() {
            writeln!(f, "---\n  {}", words.servers)?;
        }
        for line in &self.servers {
            writeln!(f, "{} {}", if line.enabled { '✓' } else { ' ' }, line.label)?;
        }
        for more in self.more_servers.iter() {
            writeln!(f, "  {more}")?;
        }
        for choice in self.profiles.iter() {
            writeln!(f, "  {} ▸", choice.title)?;
        }
        writeln!(f, "---\n  {}{}", words.copy, if self.can_copy { "" } else { " (disabled)" })?;
        match self.paused {
            Some(true) => writeln!(f, "  {}", words.resume)?,
            Some(false) => writeln!(f, "  {} ▸", words.pause)?,
            None => {}
        }
        writeln!(f, "---")?;
        if self.silent {
            writeln!(f, "  {}", words.renew)?;
        }
        writeln!(f, "  {}\n  {}\n  {}", words.open, words.settings, words.quit)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use satchel_core::model::{Paused, Startup, oauth::SignInView};

    use super::*;
    use crate::notices::tests::ask;

    pub(crate) fn server(name: &str, state: ServerState) -> ServerView {
        ServerView {
            name: name.into(),
            title: None,
            place: Place::Computer,
            enabled: state != ServerState::Off,
            startup: Startup::Lazy,
            state,
            pid: None,
            tools: None,
            tokens: None,
            resources: None,
            prompts: None,
            skipped: vec![],
            held: 0,
            not_started: None,
            unseen: None,
            runs: String::new(),
            idle_timeout_seconds: 180,
            sandbox: None,
            starts: 0,
            fresh: false,
            last_failure: None,
            sign_in: None,
            share: None,
            calls: 0,
            wake_ms: None,
            usage: Default::default(),
        }
    }

    /// A hosted server in this sign-in state.
    pub(crate) fn signed(name: &str, state: ServerState, sign_in: SignInState) -> ServerView {
        let sign_in =
            SignInView { state: sign_in, account: None, provider: None, scopes: vec![], since_ms: 0 };
        ServerView { place: Place::Hosted, sign_in: Some(sign_in), ..server(name, state) }
    }

    fn ready(in_flight: usize) -> ServerState {
        ServerState::Ready { in_flight, sleeps_at_ms: None }
    }

    pub(crate) fn broken(code: Code) -> ServerState {
        ServerState::Broken { code, message: String::new(), cause: None, retry_at_ms: 0, failures: 3 }
    }

    #[track_caller]
    fn check(servers: Vec<ServerView>, expected: &str) {
        let endpoint = Some("http://127.0.0.1:7411/mcp".to_owned());
        let snapshot = Snapshot { endpoint, servers, ..Snapshot::default() }.into();
        assert_eq!(text(&HubState::Open { snapshot, refused: None }), expected.trim_start_matches('\n'));
    }

    /// The menu above the fixed items.
    fn text(state: &HubState) -> String {
        let menu = MenuModel::of(state, Language::En).to_string();
        menu.split_once("---\n  Copy").map(|(above, _)| above.to_owned()).unwrap_or(menu)
    }

    #[test]
    fn an_empty_hub_says_so() {
        check(vec![], "  Satchel is on · no servers yet\n");
    }

    #[test]
    fn a_pause_is_said_and_can_be_ended() {
        let snapshot = Snapshot { paused: Some(Paused { until_ms: None }), ..Snapshot::default() };
        let menu = |snapshot: Snapshot| {
            MenuModel::of(&HubState::Open { snapshot: snapshot.into(), refused: None }, Language::En)
                .to_string()
        };
        let paused = menu(snapshot);
        assert!(paused.starts_with("  Satchel is paused\n") && paused.contains("\n  Resume\n"), "{paused}");
        let on = menu(Snapshot::default());
        assert!(on.contains("\n  Pause ▸\n") && !on.contains("Resume"), "{on}");
    }

    #[test]
    fn profiles_can_be_chosen_and_the_one_that_counts_is_always_there() {
        use satchel_core::model::profiles::ProfileView;
        let view = |active: Option<&str>, names: &[&str]| ProfilesView {
            active: active.map(Into::into),
            all: names
                .iter()
                .map(|name| ProfileView { name: (*name).into(), ..ProfileView::default() })
                .collect(),
            folders: vec![],
        };
        let shown = |view: &ProfilesView| {
            let choice = Choice::of(view, Language::En).unwrap();
            let ticks = choice.profiles.iter().filter(|line| line.active).map(|line| line.label.clone());
            (
                choice.title.clone(),
                choice.everything,
                ticks.collect::<Vec<_>>(),
                choice.profiles.len(),
                choice.more,
            )
        };
        assert_eq!(Choice::of(&view(None, &[]), Language::En), None);
        assert_eq!(shown(&view(None, &["a", "b"])), ("Profile: Everything".into(), true, vec![], 2, None));
        let lost = shown(&view(Some("gone"), &["a"]));
        assert_eq!((lost.0.as_str(), lost.2), ("Profile: gone", vec!["gone — is not there".to_owned()]));
        let many: Vec<String> = (0..15).map(|at| format!("p{at:02}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let last = shown(&view(Some("p14"), &many));
        assert_eq!(
            (last.2, last.3, last.4),
            (vec!["p14".to_owned()], PROFILES, Some("3 more in the window…".into()))
        );
        let snapshot = Snapshot { profiles: view(Some("a"), &["a"]), ..Snapshot::default() }.into();
        let menu = MenuModel::of(&HubState::Open { snapshot, refused: None }, Language::En).to_string();
        assert!(menu.contains("\n  Profile: a ▸\n---\n  Copy"), "{menu}");
    }

    #[test]
    fn only_a_gain_is_told() {
        let told = |net| saved(net, Language::En).unwrap_or_default();
        assert_eq!(
            [told(-5), told(0), told(999), told(83_400)],
            ["", "", "999 tokens saved today", "83 k tokens saved today"]
        );
    }

    #[test]
    fn one_server_has_its_tick_and_its_state() {
        check(
            vec![server("github", ServerState::Asleep)],
            "
  Satchel is on · 0 awake, 1 asleep
---
  Servers
✓ github — asleep
",
        );
    }

    #[test]
    fn a_server_that_is_off_has_no_tick_and_no_word() {
        check(
            vec![server("github", ready(1)), server("slack", ServerState::Off)],
            "
  Satchel is on · 1 awake, 0 asleep
---
  Servers
✓ github — working
  slack
",
        );
    }

    #[test]
    fn servers_needing_attention_come_first_by_severity() {
        let needs = ServerState::NeedsCredential {
            names: vec!["URL".into()],
            variables: vec![],
            code: Code::NeedsCredential,
            message: String::new(),
            cause: None,
        };
        let locked = ServerState::NeedsCredential {
            names: vec!["URL".into()],
            variables: vec![],
            code: Code::VaultLocked,
            message: "the file is locked".into(),
            cause: None,
        };
        assert_eq!(need(&server("db", locked), Language::En), "unlock the secrets");
        let mut hosted = server("sentry", broken(Code::Unreachable));
        hosted.place = Place::Hosted;
        check(
            vec![server("postgres", needs), server("puppeteer", broken(Code::SpawnNotFound)), hosted],
            "
  Satchel is on · 0 awake, 0 asleep, 3 need you
---
  Needs you
  puppeteer: could not start…
  sentry: does not answer…
  postgres: add a credential…
---
  Servers
✓ postgres — add a credential
✓ puppeteer — could not start
✓ sentry — does not answer
",
        );
    }

    #[test]
    fn a_server_that_needs_a_sign_in_says_what_to_do_and_opens_its_pane() {
        let rights = || SignInState::NeedsMoreRights { missing: vec!["write".into()], wanted_by: "t".into() };
        let client =
            || SignInState::NeedsClientId { redirect: String::new(), page: None, hint: String::new() };
        let needs = || ServerState::NeedsSignIn { message: String::new() };
        let servers = || {
            vec![
                signed("a", needs(), SignInState::SignedOut),
                signed("b", needs(), client()),
                signed("c", ServerState::Asleep, SignInState::SigningIn { until_ms: 0 }),
                signed("d", ready(0), rights()),
            ]
        };
        check(
            servers(),
            "
  Satchel is on · 1 awake, 1 asleep, 4 need you
---
  Needs you
  a: sign in…
  b: enter a client ID…
  c: finish in the browser…
  d: allow more…
---
  Servers
✓ a — sign in
✓ b — enter a client ID
✓ c — finish in the browser
✓ d — awake
",
        );
        let snapshot = Snapshot { servers: servers(), ..Snapshot::default() }.into();
        let menu = MenuModel::of(&HubState::Open { snapshot, refused: None }, Language::En);
        assert!(menu.needs.iter().all(|need| !need.held), "{:?}", menu.needs);
    }

    #[test]
    fn calls_that_wait_for_a_word_come_first() {
        let shown = |asks| {
            let servers = vec![server("git", ServerState::Asleep)];
            let snapshot = Snapshot { servers, asks, ..Snapshot::default() }.into();
            text(&HubState::Open { snapshot, refused: None })
        };
        let expected = "  Satchel is on · 0 awake, 1 asleep, 1 needs you
---
  Needs you
  cursor wants to run git:push…
---
  Servers
✓ git — asleep
";
        assert_eq!(shown(vec![ask(1)]), expected);
        assert!(shown(vec![ask(1), ask(2)]).contains("  2 calls wait for your answer…\n"));
    }

    #[test]
    fn many_servers_end_in_the_window() {
        let servers = (0..15).map(|at| server(&format!("s{at:02}"), broken(Code::Crashed))).collect();
        check(
            servers,
            "
  Satchel is on · 0 awake, 0 asleep, 15 need you
---
  Needs you
  s00: could not start…
  s01: could not start…
  s02: could not start…
  s03: could not start…
  11 more…
---
  Servers
✓ s00 — could not start
✓ s01 — could not start
✓ s02 — could not start
✓ s03 — could not start
✓ s04 — could not start
✓ s05 — could not start
✓ s06 — could not start
✓ s07 — could not start
✓ s08 — could not start
✓ s09 — could not start
✓ s10 — could not start
✓ s11 — could not start
  3 more in the window…
",
        );
    }

    #[test]
    fn without_a_hub_the_menu_says_why_and_offers_no_address() {
        let held = HubState::Held { pid: Some(5123), url: None };
        assert_eq!(text(&held), "  Another Satchel is serving (process 5123)\n");
        assert!(!MenuModel::of(&held, Language::En).can_copy);
        assert_eq!(text(&HubState::Opening), "  Satchel is starting\n");
        assert_eq!(text(&HubState::Stopped { message: "x".into() }), "  Satchel has stopped\n");
    }

    #[test]
    fn everything_is_said_in_german_too() {
        let sign_in = SignInState::NeedsSignIn { reason: String::new() };
        let held = ServerView { held: 2, ..server("notes", ServerState::Asleep) };
        let servers = vec![
            server("git", ready(1)),
            held,
            server("puppeteer", broken(Code::SpawnNotFound)),
            signed("linear", ServerState::NeedsSignIn { message: String::new() }, sign_in),
        ];
        let ledger = satchel_core::model::ledger::LedgerView { net_today: 83_400, ..Default::default() };
        let snapshot = Snapshot { servers, ledger, asks: vec![ask(1)], ..Snapshot::default() }.into();
        let menu = MenuModel::of(&HubState::Open { snapshot, refused: None }, Language::De).to_string();
        let expected = "  Satchel läuft · 1 wach, 1 schläft, 4 brauchen dich
  heute 83 k Token gespart
---
  Braucht dich
  cursor möchte ausführen: git:push…
  puppeteer: konnte nicht starten…
  linear: anmelden…
  notes: 2 Änderungen ansehen…
---
  Server
✓ git — arbeitet
✓ notes — schläft
✓ puppeteer — konnte nicht starten
✓ linear — anmelden
---
  Adresse für Clients kopieren (disabled)
  Pause ▸
---
  Satchel öffnen
";
        assert!(menu.starts_with(expected), "{menu}");
    }

    #[test]
    fn a_window_that_does_not_answer_is_offered_to_be_started_anew() {
        let quiet = MenuModel::of(&HubState::Opening, Language::En);
        assert!(!quiet.to_string().contains(Words::of(Language::En).renew));
        let silent = MenuModel { silent: true, ..quiet };
        assert!(silent.to_string().contains(Words::of(Language::En).renew));
    }
}
