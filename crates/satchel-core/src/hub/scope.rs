//! The scope of a handle: its client, the profile that its address names, its session, the folders the client works in, the
//! one that counts as its project, and what a person hid from it.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

use super::Hub;
use crate::{
    config::{
        Config,
        profiles::{Lens, Looking},
    },
    model::name::in_path,
};

/// How long a session may send nothing before it counts as ended. No sooner than it can no longer be used.
const SILENCE: Duration = Duration::from_secs(30 * 60);

/// A client's scope: the profile in its address, its session, and its folders. Cheap to clone; clones share the session and
/// the folders.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    profile: Option<Arc<str>>,
    shared: Arc<SharedScope>,
}

#[derive(Debug, Default)]
struct SharedScope {
    /// Made where somebody tells or follows them: most requests stand for themselves.
    folders: OnceLock<watch::Sender<Vec<String>>>,
    /// Set where it is a session's.
    session: OnceLock<Arc<SessionMark>>,
    named: OnceLock<NamedFolder>,
    /// Does the hub wait for the client to name its folders? Unset until the hub asks.
    asking: OnceLock<watch::Sender<bool>>,
    /// What the client named last, and the folder that this is.
    project: Mutex<Option<(String, Arc<str>)>>,
}

/// A folder that a request names, as its client wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedFolder {
    /// The one to work in.
    Project(String),
    /// The one that its program was started in, which counts where the client names no other.
    StartedIn(String),
}

/// The folders that a client lists. Does not keep its session.
#[derive(Debug, Clone)]
pub(super) struct ListedFolders(Weak<SharedScope>);

impl ListedFolders {
    /// As far as the client has named them, and while its session lasts.
    pub(super) fn get(&self) -> Option<Vec<String>> {
        let shared = self.0.upgrade()?;
        let folders = shared.folders.get()?.borrow().clone();
        (!folders.is_empty()).then_some(folders)
    }
}

impl Drop for SharedScope {
    fn drop(&mut self) {
        if let Some(session) = self.session.get() {
            session.ended.cancel();
        }
    }
}

/// Tells one session from others, and when it ends.
#[derive(Debug)]
pub(super) struct SessionMark {
    /// It was opened again after a break: servers may have ended what it had open.
    pub(super) reopened: bool,
    ended: CancellationToken,
    heard: Mutex<Instant>,
}

impl SessionMark {
    fn new(reopened: bool) -> Self {
        Self { reopened, ended: CancellationToken::new(), heard: Mutex::new(Instant::now()) }
    }

    /// Resolves when its client has ended it, or has sent nothing for a long time.
    pub(super) async fn ended(&self) {
        loop {
            let silent_at = *self.heard.lock() + SILENCE;
            if silent_at <= Instant::now() {
                return;
            }
            tokio::select! {
                () = self.ended.cancelled() => return,
                () = tokio::time::sleep_until(silent_at) => {}
            }
        }
    }
}

impl Scope {
    /// The scope of an address, with or without a profile.
    pub fn of(profile: Option<&str>) -> Self {
        Self { profile: profile.map(Into::into), shared: Arc::default() }
    }

    /// From now on it is that of a session. `reopened`: the session had been opened before.
    pub fn begin_session(&self, reopened: bool) {
        self.shared.session.get_or_init(|| Arc::new(SessionMark::new(reopened)));
    }

    /// The session sent something.
    pub fn heard(&self) {
        if let Some(session) = self.session() {
            *session.heard.lock() = Instant::now();
        }
    }

    /// The session has ended: what servers keep open for it ends too.
    pub fn end_session(&self) {
        if let Some(session) = self.session() {
            session.ended.cancel();
        }
    }

    pub(super) fn session(&self) -> Option<&Arc<SessionMark>> {
        self.shared.session.get()
    }

    /// The profile in the address.
    pub fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// The same with a folder that the request names.
    #[must_use]
    pub fn naming(self, folder: Option<NamedFolder>) -> Self {
        if let Some(folder) = folder {
            // It is new, so none is named yet.
            let _ = self.shared.named.set(folder);
        }
        self
    }

    /// The folder to work in that the request names.
    pub(super) fn named_folder(&self) -> Option<&str> {
        match self.shared.named.get()? {
            NamedFolder::Project(folder) => Some(folder),
            NamedFolder::StartedIn(_) => None,
        }
    }

    /// Can a request of this scope belong to the session of that one? Not if it names another profile or folder.
    pub fn continues(&self, session: &Self) -> bool {
        let folder = self.named_folder();
        self.profile() == session.profile() && (folder.is_none() || folder == session.named_folder())
    }

    /// The folder that counts as the project, as the client wrote it: of those that it lists, the first one.
    pub(super) fn claimed_folder(&self) -> Option<String> {
        let first = || self.shared.folders.get()?.borrow().first().cloned();
        let any = || match self.shared.named.get()? {
            NamedFolder::Project(folder) | NamedFolder::StartedIn(folder) => Some(folder.clone()),
        };
        self.named_folder().map(ToOwned::to_owned).or_else(first).or_else(any)
    }

    /// The folder that this is, if it was looked up.
    pub(super) fn project(&self, named: &str) -> Option<Arc<str>> {
        self.shared
            .project
            .lock()
            .as_ref()
            .filter(|(known, _)| known == named)
            .map(|(_, folder)| folder.clone())
    }

    /// The folder that was looked up for what the client names now.
    pub(super) fn known_project(&self) -> Option<Arc<str>> {
        self.project(&self.claimed_folder()?)
    }

    /// Remembers what folder that is.
    pub(super) fn works_in_project(&self, named: String, folder: Arc<str>) {
        *self.shared.project.lock() = Some((named, folder));
    }

    /// The client is being asked for its folders.
    pub(super) fn ask_folders(&self) {
        self.shared.asking.get_or_init(watch::Sender::default).send_replace(true);
    }

    /// Waits until a client that is being asked has named its folders. False if it does not in time; then no other call
    /// waits for it.
    pub(super) async fn asked(&self, patience: Duration) -> bool {
        let Some(asking) = self.shared.asking.get() else { return true };
        let mut is_asking = asking.subscribe();
        let answered = tokio::time::timeout(patience, is_asking.wait_for(|asking| !asking)).await.is_ok();
        if !answered {
            asking.send_replace(false);
        }
        answered
    }

    /// Sets the client's folders, as absolute paths. Did they change?
    pub(super) fn works_in(&self, folders: Vec<String>) -> bool {
        let changed = self.folders().send_if_modified(|before| {
            let differs = *before != folders;
            *before = folders;
            differs
        });
        if let Some(asking) = self.shared.asking.get() {
            asking.send_replace(false);
        }
        changed
    }

    /// The folders of the client, for what may live longer than the session.
    pub(super) fn listed(&self) -> ListedFolders {
        ListedFolders(Arc::downgrade(&self.shared))
    }

    /// Subscribes to the folders.
    pub(super) fn watch_folders(&self) -> watch::Receiver<Vec<String>> {
        self.folders().subscribe()
    }

    fn folders(&self) -> &watch::Sender<Vec<String>> {
        self.shared.folders.get_or_init(watch::Sender::default)
    }
}

/// The profiles that apply to this handle's caller.
pub(super) fn lens(hub: &Hub) -> Lens {
    lens_of(hub, &hub.config())
}

pub(super) fn lens_of(hub: &Hub, config: &Config) -> Lens {
    // Profiles do not restrict people.
    let Some(client) = hub.context.ruled() else { return Lens::default() };
    let bound = hub.inner.clients.edits.choice(client, |chosen| chosen.profile.clone()).flatten();
    let scope = &hub.context.scope;
    let folders = scope.shared.folders.get().map(watch::Sender::borrow);
    let folders = folders.as_deref().map_or(&[][..], Vec::as_slice);
    let who = Looking { bound: bound.as_deref(), named: scope.profile(), folders };
    config.profiles().lens(&who)
}

/// Is the server visible to this handle's caller? It may still be switched off.
pub(super) fn knows(hub: &Hub, server: &str) -> bool {
    hidden(hub).is_none_or(|hidden| !hidden.contains(&*in_path(server)))
}

/// Is the tool visible to this handle's caller? Its server may be hidden as a whole.
pub(super) fn shows_tool(hub: &Hub, server: &str, tool: &str) -> bool {
    let hides =
        |hidden: BTreeSet<String>| hidden.contains(&*in_path(server)) || hidden.contains(&path(server, tool));
    !hidden(hub).is_some_and(hides)
}

/// What is hidden from this handle's caller; `None` for nothing.
pub(super) fn hidden(hub: &Hub) -> Option<BTreeSet<String>> {
    let some = |hidden: &BTreeSet<String>| (!hidden.is_empty()).then(|| hidden.clone());
    hub.inner.clients.edits.choice(hub.context.client()?, |chosen| some(&chosen.hidden)).flatten()
}

pub(super) fn path(server: &str, tool: &str) -> String {
    format!("{}:{tool}", in_path(server))
}
