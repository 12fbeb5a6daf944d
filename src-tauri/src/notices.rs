//! Desktop notifications: few, and complete in themselves, because not every desktop reports clicks.
//!
//! Theory of operation: one task compares what the hub is with what it was ([`Teller`], pure) and shows what came of it.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::Duration,
};

use satchel_core::{
    model::{
        ServerView, Snapshot,
        asks::{Ask, Wanted},
    },
    platform::Platform,
};
use tauri::{AppHandle, Manager};
use tokio::time::Instant;

use crate::{
    choices::{Chosen, Notify},
    language::Language,
    prompt, quoted,
    serving::Serving,
    tasks::Tasks,
    tray, window,
};

#[cfg(target_os = "linux")]
mod freedesktop;

/// A question answered sooner needs no notification.
const PATIENCE: Duration = Duration::from_secs(3);
/// After a start, servers take their time to start; what they need by then is shown in the tray.
const SETTLING: Duration = Duration::from_secs(12);
/// Minimum interval of notifications about one server.
const QUIET: Duration = Duration::from_secs(5 * 60);
/// Minimum interval of notifications about the same sign-in.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// From this number on, notifications are combined.
const TOGETHER: usize = 3;

/// Where a click leads.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Destination {
    Question,
    Window(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Notice {
    title: String,
    text: String,
    place: Destination,
    /// The questions it is about: it goes when none of them waits any more.
    asks: Vec<u64>,
}

/// Which notifications were shown already.
#[derive(Debug)]
struct Teller {
    language: Language,
    began: Instant,
    /// Waiting questions, and since when.
    waiting: BTreeMap<u64, Instant>,
    told: HashSet<u64>,
    /// What each server needed, as a sentence, and how much of it was held back.
    servers: HashMap<String, (Option<String>, usize)>,
    last: HashMap<String, Instant>,
    /// When each server's sign-in needs were last shown.
    sign_ins: HashMap<(String, String), Instant>,
}

impl Teller {
    fn new(now: Instant) -> Self {
        let (waiting, told) = (BTreeMap::new(), HashSet::new());
        let (servers, last, sign_ins) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { language: Language::default(), began: now, waiting, told, servers, last, sign_ins }
    }

    /// The notifications to show now. None while the user looks at the window.
    fn notices(&mut self, snapshot: &Snapshot, which: Notify, looking: bool, now: Instant) -> Vec<Notice> {
        let questions = self.questions(&snapshot.asks, now);
        let servers = self.changes(&snapshot.servers, now);
        let shown = match which {
            Notify::All => [questions, servers],
            Notify::Questions => [questions, vec![]],
            Notify::None => return vec![],
        };
        if looking {
            vec![]
        } else {
            shown.into_iter().flat_map(|notices| together(notices, self.language)).collect()
        }
    }

    fn questions(&mut self, asks: &[Ask], now: Instant) -> Vec<Notice> {
        self.waiting.retain(|id, _| asks.iter().any(|ask| ask.id == *id));
        self.told.retain(|id| asks.iter().any(|ask| ask.id == *id));
        let mut notices = vec![];
        for ask in asks {
            let since = *self.waiting.entry(ask.id).or_insert(now);
            if now.saturating_duration_since(since) >= PATIENCE && self.told.insert(ask.id) {
                notices.push(question(ask, self.language));
            }
        }
        notices
    }

    fn changes(&mut self, servers: &[ServerView], now: Instant) -> Vec<Notice> {
        self.servers.retain(|name, _| servers.iter().any(|server| server.name == *name));
        self.sign_ins.retain(|_, told| now.saturating_duration_since(*told) < DAY);
        let language = self.language;
        let mut notices = vec![];
        for server in servers {
            let seen = (tray::needs(server, language), server.held);
            let before = self.servers.insert(server.name.clone(), seen.clone());
            let settled = now.saturating_duration_since(self.began) >= SETTLING;
            let Some(before) = before.filter(|_| settled && server.enabled) else { continue };
            let came = if seen.1 > before.1 && server.unseen.is_none() {
                let held = match seen.1 {
                    1 => language
                        .pick(
                            "1 definition is held back until you look at it.",
                            "1 Definition ist zurückgehalten, bis du sie dir ansiehst.",
                        )
                        .to_owned(),
                    many => language.pick(
                        format!("{many} definitions are held back until you look at them."),
                        format!("{many} Definitionen sind zurückgehalten, bis du sie dir ansiehst."),
                    ),
                };
                let place = Destination::Window(format!("{}/tools", tray::place_of(&server.name)));
                let changed = language.pick("changed what it offers", "bietet anderes an als bisher");
                Some(Notice { title: format!("{} {changed}", server.name), text: held, place, asks: vec![] })
            } else {
                let need = seen.0.filter(|need| before.0.is_none() && !self.was_told(server, need, now));
                need.map(|need| Notice {
                    title: format!("{} {}", server.name, language.pick("needs you", "braucht dich")),
                    text: format!("{}.", capital(&need)),
                    place: Destination::Window(tray::place_of(&server.name)),
                    asks: vec![],
                })
            };
            let quiet =
                self.last.get(&server.name).is_some_and(|last| now.saturating_duration_since(*last) < QUIET);
            if let Some(came) = came.filter(|_| !quiet) {
                self.last.insert(server.name.clone(), now);
                notices.push(came);
            }
        }
        notices
    }

    /// Was this server's sign-in need shown today? If not, records it as shown.
    fn was_told(&mut self, server: &ServerView, need: &str, now: Instant) -> bool {
        if !tray::needs_sign_in(server) {
            return false;
        }
        let key = (server.name.clone(), need.to_owned());
        let told = self.sign_ins.contains_key(&key);
        self.sign_ins.entry(key).or_insert(now);
        told
    }

    /// When to check again without a change.
    fn next(&self) -> Option<Instant> {
        self.waiting
            .iter()
            .filter(|(id, _)| !self.told.contains(id))
            .map(|(_, since)| *since + PATIENCE)
            .min()
    }
}

fn question(ask: &Ask, language: Language) -> Notice {
    let title = match ask.question.as_ref().map(|question| &question.wants) {
        Some(Wanted::Credential { name }) => {
            format!("{} {} {name}", ask.server, language.pick("needs", "braucht"))
        }
        Some(Wanted::Form { .. } | Wanted::Secret { .. } | Wanted::Page { .. }) => {
            format!("{} {}", ask.server, language.pick("asks you something", "fragt dich etwas"))
        }
        None => {
            let wants = language.pick("wants to run", "möchte ausführen:");
            format!("{} {wants} {}:{}", language.client(&ask.client), ask.server, ask.tool)
        }
    };
    let text = language.pick(
        "Satchel is waiting for you. Without an answer it says no.",
        "Satchel wartet auf dich. Ohne Antwort sagt es nein.",
    );
    Notice { title, text: text.to_owned(), place: Destination::Question, asks: vec![ask.id] }
}

fn together(notices: Vec<Notice>, language: Language) -> Vec<Notice> {
    match notices.as_slice() {
        [first, ..] if notices.len() >= TOGETHER => {
            let (what, place) = match &first.place {
                Destination::Question => {
                    (language.pick("questions wait for you", "Fragen warten auf dich"), Destination::Question)
                }
                Destination::Window(_) => (
                    language.pick("servers need you", "Server brauchen dich"),
                    Destination::Window("/servers".into()),
                ),
            };
            let title = format!("{} {what}", notices.len());
            let text = language.pick("Satchel shows them one by one.", "Satchel zeigt sie nacheinander.");
            let asks = notices.iter().flat_map(|notice| notice.asks.clone()).collect();
            vec![Notice { title, text: text.to_owned(), place, asks }]
        }
        _ => notices,
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Runs until the hub has stopped.
pub(crate) async fn carry(app: AppHandle, serving: Serving) {
    let mut states = serving.state();
    let mut teller = Teller::new(Instant::now());
    loop {
        let state = states.borrow_and_update().clone();
        if let Some(snapshot) = state.snapshot() {
            let looking = [window::LABEL, prompt::LABEL].iter().any(|label| {
                app.get_webview_window(label).is_some_and(|window| window.is_focused().unwrap_or_default())
            });
            let which = app.state::<Chosen>().get().notifications;
            teller.language = Language::of(&app);
            for notice in teller.notices(snapshot, which, looking, Instant::now()) {
                app.state::<Tasks>().spawn(show(app.clone(), serving.clone(), notice));
            }
        }
        let changed = match teller.next() {
            Some(at) => tokio::select! {
                changed = states.changed() => changed.is_ok(),
                () = tokio::time::sleep_until(at) => true,
            },
            None => states.changed().await.is_ok(),
        };
        if !changed {
            return;
        }
    }
}

/// Shows a notification, follows a click on it, and withdraws it when its questions are answered.
#[cfg(target_os = "linux")]
async fn show(app: AppHandle, serving: Serving, notice: Notice) {
    let (title, text) = written(&notice, Platform::Linux);
    let open = Language::of(&app).pick("Open", "Öffnen");
    match freedesktop::clicked(&title, &text, open, answered(&serving, &notice.asks)).await {
        Ok(true) => match &notice.place {
            Destination::Question => prompt::raise(&app).await,
            Destination::Window(place) => window::show(&app, Some(place)),
        },
        Ok(false) => {}
        Err(error) => tracing::info!("this desktop shows no notifications: {error}"),
    }
}

/// Ends when none of these questions waits any more; never, if there are none.
#[cfg(target_os = "linux")]
async fn answered(serving: &Serving, asks: &[u64]) {
    if asks.is_empty() {
        return std::future::pending().await;
    }
    let mut states = serving.state();
    let waits = |snapshot: &Snapshot| snapshot.asks.iter().any(|ask| asks.contains(&ask.id));
    while states.borrow_and_update().snapshot().is_some_and(waits) {
        if states.changed().await.is_err() {
            return;
        }
    }
}

/// Shows a notification. Clicks are not reported here.
#[cfg(not(target_os = "linux"))]
async fn show(app: AppHandle, _: Serving, notice: Notice) {
    let (title, text) = written(&notice, Platform::current());
    let mut notification = notify_rust::Notification::new();
    notification.appname("Satchel").summary(&title).body(&text);
    name_sender(&app, &mut notification);
    let shown = tokio::task::spawn_blocking(move || notification.show().map(|_| ())).await;
    if let Ok(Err(error)) = shown {
        tracing::info!("this desktop shows no notifications: {error}");
    }
}

/// Sets the sender: Windows shows "PowerShell" otherwise. The installer registers the identifier; a local build has
/// none.
#[cfg(windows)]
fn name_sender(app: &AppHandle, notification: &mut notify_rust::Notification) {
    if !tauri::is_dev() {
        notification.app_id(&app.config().identifier);
    }
}

#[cfg(not(any(target_os = "linux", windows)))]
fn name_sender(app: &AppHandle, _: &mut notify_rust::Notification) {
    // Once per process; further calls fail without effect.
    let _ = notify_rust::set_application(&app.config().identifier);
}

/// Title and text. Linux desktops may interpret the text as markup, so it is escaped there. Others show it literally.
fn written(notice: &Notice, platform: Platform) -> (String, String) {
    let text = quoted::line(&notice.text);
    let text = match platform {
        Platform::Linux => text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"),
        Platform::MacOs | Platform::Windows => text,
    };
    (quoted::line(&notice.title), text)
}

#[cfg(test)]
pub(crate) mod tests {
    use satchel_core::model::{Code, ServerState, nature::Effect, oauth::SignInState};

    use super::*;
    use crate::tray::testing;

    /// A waiting call.
    pub(crate) fn ask(id: u64) -> Ask {
        Ask {
            id,
            client: "cursor".into(),
            server: "git".into(),
            tool: "push".into(),
            effect: Effect::Deletes,
            stated: true,
            arguments: vec![],
            json: "{}".into(),
            rule: String::new(),
            usual: None,
            since_ms: 0,
            until_ms: 0,
            question: None,
        }
    }

    fn titles(notices: &[Notice]) -> Vec<&str> {
        notices.iter().map(|notice| notice.title.as_str()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiting_question_is_notified_once_and_not_to_a_user_who_is_looking() {
        let now = Instant::now();
        let mut teller = Teller::new(now);
        let one = Snapshot { asks: vec![ask(1)], ..Snapshot::default() };
        assert!(teller.notices(&one, Notify::All, false, now).is_empty(), "it may be answered at once");
        assert_eq!(teller.next(), Some(now + PATIENCE));
        let later = now + PATIENCE;
        assert_eq!(
            titles(&teller.notices(&one, Notify::All, false, later)),
            ["cursor wants to run git:push"]
        );
        assert!(teller.notices(&one, Notify::All, false, later).is_empty() && teller.next().is_none());
        let three = Snapshot { asks: vec![ask(2), ask(3), ask(4)], ..Snapshot::default() };
        teller.notices(&three, Notify::All, false, later);
        let much_later = later + PATIENCE;
        assert_eq!(
            titles(&teller.notices(&three, Notify::Questions, false, much_later)),
            ["3 questions wait for you"]
        );
        for (which, looking) in [(Notify::None, false), (Notify::All, true)] {
            let mut teller = Teller::new(now);
            teller.notices(&one, which, looking, now);
            assert!(teller.notices(&one, which, looking, later).is_empty(), "{which:?} {looking}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_servers_need_is_notified_when_it_appears_and_not_repeated_at_once() {
        let now = Instant::now();
        let mut teller = Teller::new(now);
        let of = |held: usize, broken: bool| {
            let state = if broken { testing::broken(Code::SpawnNotFound) } else { ServerState::Asleep };
            let server = ServerView { held, ..testing::server("git", state) };
            Snapshot { servers: vec![server], ..Snapshot::default() }
        };
        assert!(teller.notices(&of(0, false), Notify::All, false, now).is_empty());
        assert!(teller.notices(&of(1, false), Notify::All, false, now).is_empty(), "it has just started");
        assert!(teller.notices(&of(0, false), Notify::All, false, now).is_empty());
        let settled = now + SETTLING;
        assert!(teller.notices(&of(2, false), Notify::Questions, false, settled).is_empty());
        teller.last.clear();
        assert!(teller.notices(&of(0, false), Notify::All, false, settled).is_empty());
        let notices = teller.notices(&of(2, false), Notify::All, false, settled);
        assert_eq!(titles(&notices), ["git changed what it offers"]);
        assert_eq!(notices[0].place, Destination::Window("/servers/git/tools".into()));
        assert!(teller.notices(&of(0, false), Notify::All, false, settled).is_empty());
        assert!(
            teller.notices(&of(0, true), Notify::All, false, settled).is_empty(),
            "told about it just now"
        );
        teller.notices(&of(0, false), Notify::All, false, settled);
        let later = settled + QUIET;
        assert_eq!(titles(&teller.notices(&of(0, true), Notify::All, false, later)), ["git needs you"]);
    }

    /// A5 of the sign-in: one notification per server and need.
    #[tokio::test(start_paused = true)]
    async fn a_needed_sign_in_is_notified_once_a_day_and_not_during_a_sign_in() {
        let now = Instant::now();
        let mut teller = Teller::new(now);
        let of = |state, sign_in| Snapshot {
            servers: vec![testing::signed("linear", state, sign_in)],
            ..Snapshot::default()
        };
        let inside = || of(ServerState::Asleep, SignInState::SignedIn { ends_ms: None, renews: true });
        let lost = || {
            let state = ServerState::NeedsSignIn { message: String::new() };
            of(state, SignInState::NeedsSignIn { reason: "revoked".into() })
        };
        let page = || of(ServerState::Asleep, SignInState::SigningIn { until_ms: 0 });
        let settled = now + SETTLING;
        assert!(teller.notices(&inside(), Notify::All, false, settled).is_empty());
        let notices = teller.notices(&lost(), Notify::All, false, settled);
        assert_eq!(titles(&notices), ["linear needs you"]);
        assert_eq!(
            (notices[0].text.as_str(), &notices[0].place),
            ("Sign in.", &Destination::Window("/servers/linear".into()))
        );
        for minutes in 1..20 {
            let later = settled + Duration::from_secs(60 * minutes);
            assert!(teller.notices(&lost(), Notify::All, false, later).is_empty(), "after {minutes} min");
        }
        let later = settled + Duration::from_secs(60 * 60);
        assert!(teller.notices(&page(), Notify::All, false, later).is_empty(), "its page is open");
        assert!(teller.notices(&lost(), Notify::All, false, later).is_empty(), "the page was closed");
        assert!(teller.notices(&inside(), Notify::All, false, later).is_empty());
        let rights = SignInState::NeedsMoreRights { missing: vec![], wanted_by: "write".into() };
        let notices = teller.notices(&of(ServerState::Asleep, rights), Notify::All, false, later);
        assert_eq!(notices.first().map(|notices| notices.text.as_str()), Some("Allow more."), "another need");
        assert!(teller.notices(&inside(), Notify::All, false, later).is_empty());
        let next_day = settled + DAY;
        assert_eq!(titles(&teller.notices(&lost(), Notify::All, false, next_day)), ["linear needs you"]);
    }

    #[test]
    fn signs_of_markup_are_written_out_where_they_are_read() {
        let notices =
            Notice { title: "t".into(), text: "<b>&</b>".into(), place: Destination::Question, asks: vec![] };
        let body = |platform| written(&notices, platform).1;
        assert_eq!(body(Platform::Linux), "&lt;b&gt;&amp;&lt;/b&gt;");
        assert_eq!([body(Platform::Windows), body(Platform::MacOs)], ["<b>&</b>", "<b>&</b>"]);
    }

    #[tokio::test(start_paused = true)]
    async fn notifications_speak_the_language_of_the_window() {
        let now = Instant::now();
        let mut teller = Teller { language: Language::De, ..Teller::new(now) };
        let one = Snapshot { asks: vec![ask(1)], ..Snapshot::default() };
        teller.notices(&one, Notify::All, false, now);
        let notices = teller.notices(&one, Notify::All, false, now + PATIENCE);
        assert_eq!(titles(&notices), ["cursor möchte ausführen: git:push"]);
        assert_eq!(notices[0].text, "Satchel wartet auf dich. Ohne Antwort sagt es nein.");
        let of = |state| Snapshot { servers: vec![testing::server("git", state)], ..Snapshot::default() };
        let settled = now + SETTLING;
        teller.notices(&of(ServerState::Asleep), Notify::All, false, settled);
        let notices = teller.notices(&of(testing::broken(Code::SpawnNotFound)), Notify::All, false, settled);
        assert_eq!(
            (titles(&notices), notices[0].text.as_str()),
            (vec!["git braucht dich"], "Konnte nicht starten.")
        );
    }
}
