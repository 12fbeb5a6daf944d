//! All sign-ins of one hub, and their state for faces. The state is also kept in a file without secrets, so that
//! starting the hub reads no keychain.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;

use sha2::{Digest, Sha256};
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{account::Account, request};
use crate::{
    clock::Clock,
    files,
    model::{
        ServerName,
        oauth::{SignInState, SignInView},
    },
    secrets::{SecretError, Secrets},
};

/// How long a sign-in page waits to be opened, and how many may wait.
const TICKET: Duration = Duration::from_secs(10 * 60);
const TICKETS: usize = 256;

/// What a provider answered to the scopes of a sign-in.
#[derive(Debug, Clone, Default)]
pub(super) struct ScopeAnswer {
    /// Those that were asked for and not granted.
    pub(super) refused: Vec<String>,
    /// Those that a call had lacked, if the sign-in was made to get them.
    pub(super) lacked: Option<Vec<String>>,
}

/// A change of a server's sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// Its displayed state.
    Shown(ServerName),
    /// A token is available again: what waited for it continues.
    SignedIn {
        /// The server.
        server: ServerName,
        /// A person has just signed in.
        by_person: bool,
    },
    /// A sign-in cannot be stored and ends with the hub, for this reason.
    Unstored(ServerName, String),
}

/// State shared by all accounts of a hub.
#[derive(Debug)]
pub struct Shared {
    pub(super) secrets: Secrets,
    pub(super) tracker: TaskTracker,
    /// Cancelled when the hub stops: nobody comes back from a browser any more.
    pub(super) end: CancellationToken,
    pub(super) clock: Clock,
    file: PathBuf,
    /// Distinguishes the keychain items of different data directories.
    home: String,
    shown: Mutex<BTreeMap<String, SignInView>>,
    saving: Mutex<Saving>,
    /// The [`Saving::wanted`] that is on disk.
    saved: watch::Sender<u64>,
    /// What each provider last answered to the scopes it was asked for.
    answers: Mutex<HashMap<ServerName, ScopeAnswer>>,
    /// Sign-in pages that someone was asked to open, by random ticket.
    tickets: Mutex<HashMap<String, (ServerName, Instant)>>,
    changed: mpsc::UnboundedSender<Changed>,
    /// Increases with every change, for those that wait for one account.
    pub(super) made: watch::Sender<u64>,
}

/// One task at a time writes the displayed state, without holding a lock.
#[derive(Debug, Default)]
struct Saving {
    /// Increases with every change.
    wanted: u64,
    running: bool,
}

/// The sign-ins of all servers.
#[derive(Debug)]
pub struct Accounts {
    shared: Arc<Shared>,
    accounts: Mutex<HashMap<ServerName, Arc<Account>>>,
}

impl Accounts {
    /// Loads the stored states, and returns the stream of changes, in order. Does not read the keychain.
    pub fn open(
        data: &Path,
        secrets: Secrets,
        tracker: TaskTracker,
    ) -> (Self, mpsc::UnboundedReceiver<Changed>) {
        Self::open_at(data, secrets, tracker, Clock::system())
    }

    pub(super) fn open_at(
        data: &Path,
        secrets: Secrets,
        tracker: TaskTracker,
        clock: Clock,
    ) -> (Self, mpsc::UnboundedReceiver<Changed>) {
        let file = data.join("accounts.json");
        let mut shown = read(&file);
        for view in shown.values_mut() {
            // The hub no longer waits for that browser.
            if matches!(view.state, SignInState::SigningIn { .. }) {
                view.state = SignInState::SignedOut;
            }
        }
        let home = Sha256::digest(data.to_string_lossy().as_bytes());
        let home = home.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        let (changed, changes) = mpsc::unbounded_channel();
        let (shown, answers, tickets) = (Mutex::new(shown), Mutex::default(), Mutex::default());
        let made = watch::Sender::new(0);
        let (saving, saved) = (Mutex::default(), watch::Sender::new(0));
        let shared = Arc::new(Shared {
            secrets,
            tracker,
            end: CancellationToken::new(),
            clock,
            file,
            home,
            shown,
            saving,
            saved,
            answers,
            tickets,
            changed,
            made,
        });
        (Self { shared, accounts: Mutex::default() }, changes)
    }

    /// The account of a server.
    pub fn of(&self, server: &ServerName) -> Arc<Account> {
        let mut accounts = self.accounts.lock();
        let account = accounts
            .entry(server.clone())
            .or_insert_with(|| Arc::new(Account::new(server.clone(), self.shared.clone())));
        account.clone()
    }

    /// Cancels every running sign-in, because the hub stops.
    pub fn end(&self) {
        self.shared.end.cancel();
    }

    /// A server's sign-in state; `None` if it never required one.
    pub fn view(&self, server: &ServerName) -> Option<SignInView> {
        self.shared.view(server)
    }

    /// A ticket for a page on which a person may begin a sign-in to this server, once. `None` without random numbers.
    pub fn ticket(&self, server: &ServerName) -> Option<String> {
        let ticket = request::random().ok()?.reveal().to_owned();
        let mut tickets = self.shared.tickets.lock();
        tickets.retain(|_, (_, since)| since.elapsed() < TICKET);
        if tickets.len() < TICKETS {
            tickets.insert(ticket.clone(), (server.clone(), Instant::now()));
            return Some(ticket);
        }
        None
    }

    /// The server of this ticket, which is used up.
    pub fn take_ticket(&self, ticket: &str) -> Option<ServerName> {
        let (server, since) = self.shared.tickets.lock().remove(ticket)?;
        (since.elapsed() < TICKET).then_some(server)
    }

    /// Deletes everything about a removed server's sign-in.
    pub async fn forget(&self, server: &ServerName) {
        let account = self.accounts.lock().remove(server);
        let account = account.unwrap_or_else(|| Arc::new(Account::new(server.clone(), self.shared.clone())));
        if self.shared.view(server).is_none() {
            return;
        }
        account.leave(false, None).await;
        self.shared.forget(server);
        self.shared.saved().await;
    }
}

/// The stored states. An unreadable one does not affect the others; its tokens remain in the keychain.
fn read(file: &Path) -> BTreeMap<String, SignInView> {
    let Ok(bytes) = files::read_data(file) else { return BTreeMap::new() };
    match serde_json::from_slice::<BTreeMap<String, serde_json::Value>>(&bytes) {
        Ok(all) => {
            let view = |(name, view)| Some((name, serde_json::from_value(view).ok()?));
            all.into_iter().filter_map(view).collect()
        }
        Err(error) => {
            tracing::warn!(%error, file = %file.display(), "what was shown of sign-ins cannot be read");
            if let Err(error) = files::set_aside(file) {
                tracing::warn!(%error, "it cannot be set aside either");
            }
            BTreeMap::new()
        }
    }
}

fn write(file: &Path, shown: &BTreeMap<String, SignInView>) -> std::io::Result<()> {
    files::replace(file, &serde_json::to_vec_pretty(shown).map_err(std::io::Error::other)?)
}

impl Shared {
    /// The name of a server's keychain item. No reference in a configuration can name it.
    pub(super) fn item(&self, server: &ServerName) -> String {
        format!("oauth/{}/{}", self.home, files::file_stem(server.as_str()))
    }

    pub(super) fn view(&self, server: &ServerName) -> Option<SignInView> {
        self.shown.lock().get(server.as_str()).cloned()
    }

    /// Does the keychain contain a usable sign-in?
    pub(super) fn is_signed_in(&self, server: &ServerName) -> bool {
        self.view(server).is_some_and(|view| match view.state {
            SignInState::SignedIn { .. }
            | SignInState::NeedsMoreRights { .. }
            | SignInState::SigningIn { .. }
            | SignInState::RenewalDelayed { .. } => true,
            SignInState::SignedOut | SignInState::NeedsSignIn { .. } | SignInState::NeedsClientId { .. } => {
                false
            }
        })
    }

    pub(super) fn show(
        self: &Arc<Self>,
        server: &ServerName,
        state: SignInState,
        with: impl FnOnce(&mut SignInView),
    ) {
        let mut shown = self.shown.lock();
        let before = shown.get(server.as_str()).cloned();
        let mut view = before.clone().unwrap_or(SignInView {
            state: SignInState::SignedOut,
            account: None,
            provider: None,
            scopes: vec![],
            since_ms: self.clock.now_ms(),
        });
        if std::mem::discriminant(&view.state) != std::mem::discriminant(&state) {
            view.since_ms = self.clock.now_ms();
        }
        view.state = state;
        with(&mut view);
        if before.as_ref() == Some(&view) {
            return;
        }
        let signed_in = matches!(view.state, SignInState::SignedIn { .. });
        let before = before.map(|before| before.state);
        shown.insert(server.to_string(), view);
        drop(shown);
        self.save();
        let server = server.clone();
        let change = match (&before, signed_in) {
            (Some(SignInState::SignedIn { .. }), true) | (_, false) => Changed::Shown(server),
            (before, true) => {
                let by_person = matches!(before, Some(SignInState::SigningIn { .. }));
                Changed::SignedIn { server, by_person }
            }
        };
        self.made.send_modify(|made| *made += 1);
        // At shutdown, nobody listens any more.
        let _ = self.changed.send(change);
    }

    fn forget(self: &Arc<Self>, server: &ServerName) {
        if self.shown.lock().remove(server.as_str()).is_some() {
            self.save();
        }
        self.answers.lock().remove(server);
        self.made.send_modify(|made| *made += 1);
        let _ = self.changed.send(Changed::Shown(server.clone()));
    }

    /// Writes the displayed state soon.
    fn save(self: &Arc<Self>) {
        let mut saving = self.saving.lock();
        saving.wanted += 1;
        if std::mem::replace(&mut saving.running, true) {
            return;
        }
        drop(saving);
        let shared = self.clone();
        self.tracker.spawn(async move {
            loop {
                let wanted = shared.saving.lock().wanted;
                let (shown, file) = (shared.shown.lock().clone(), shared.file.clone());
                let written = tokio::task::spawn_blocking(move || write(&file, &shown)).await;
                if let Err(error) = written.map_err(std::io::Error::other).flatten() {
                    tracing::warn!(%error, "cannot keep what is shown of sign-ins");
                }
                shared.saved.send_replace(wanted);
                let mut saving = shared.saving.lock();
                if saving.wanted == wanted {
                    saving.running = false;
                    return;
                }
            }
        });
    }

    /// Resolves when the present state is on disk, or writing failed.
    pub(super) async fn saved(&self) {
        let wanted = self.saving.lock().wanted;
        // The sender lives as long as `self`.
        let _ = self.saved.subscribe().wait_for(|saved| *saved >= wanted).await;
    }

    pub(super) fn unstored(&self, server: &ServerName, error: &SecretError) {
        let _ = self.changed.send(Changed::Unstored(server.clone(), error.to_string()));
    }

    /// Records what a provider answered to the scopes that it was asked for.
    pub(super) fn note_answer(&self, server: &ServerName, answer: ScopeAnswer) {
        self.answers.lock().insert(server.clone(), answer);
    }

    /// What the provider answered last.
    pub(super) fn last_answer(&self, server: &ServerName) -> ScopeAnswer {
        self.answers.lock().get(server).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_entry_that_cannot_be_read_hides_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("accounts.json");
        let good = r#"{"sign_in":"signed_in","ends_ms":null,"renews":true,"since_ms":1}"#;
        std::fs::write(&file, format!(r#"{{"a":{{"sign_in":"of a later version"}},"b":{good}}}"#)).unwrap();
        let (accounts, _) = Accounts::open(dir.path(), Secrets::open(dir.path()), TaskTracker::new());
        assert!(accounts.view(&"a".parse().unwrap()).is_none());
        assert!(accounts.view(&"b".parse().unwrap()).is_some());
        std::fs::write(&file, "[").unwrap();
        let (accounts, _) = Accounts::open(dir.path(), Secrets::open(dir.path()), TaskTracker::new());
        assert!(accounts.view(&"b".parse().unwrap()).is_none());
        let mut names = std::fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.file_name());
        assert!(names.any(|name| name.to_string_lossy().starts_with("accounts.json.damaged-")));
    }
}
