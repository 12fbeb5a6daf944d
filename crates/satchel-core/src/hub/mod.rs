//! Many servers, one spine. The [`Hub`] is the handle that faces hold: they fulfil wishes through it and render the
//! [`Snapshot`] it publishes.
//!
//! Theory of operation: one task applies changes of the configuration, from whichever face or from the file; one task
//! a server reads its lists when they changed; one task composes the snapshot. All end with [`Hub::shutdown`].

mod apply;
mod audience;
mod authorize;
mod call;
mod clients;
mod credential;
mod entry;
mod execute;
mod failures;
mod fulfil;
mod habits;
mod happenings;
mod hygiene;
mod import;
mod keep;
mod ledger;
mod meaning;
mod owned;
mod packages;
mod pause;
mod permission;
mod publish;
mod question;
mod refresh;
mod registry;
pub mod results;
mod review;
mod route;
mod ruled;
mod sentences;
mod settings;
mod slots;
mod surface;
mod trail;
mod usage;
mod view;

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, atomic::AtomicUsize},
    time::Duration,
};

use tokio::{
    sync::{Notify, Semaphore, mpsc, watch},
    task::JoinHandle,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    catalog::{Catalog, Offer},
    clients::{ledger::Ledger as Edits, token::Tokens},
    config::Config,
    files::Places,
    model::{Notice, Origin, ServerName, Snapshot, control::Change},
    prompts::Prompts,
    review::{Accepted, Review},
    secrets::Secrets,
    tasks::kept,
    upstream::{Ending, Surroundings, breaker::Breaker, environment::SearchPath},
};

pub use apply::ApplyError;
pub use authorize::{FROM_A_SERVER, NEEDS_PERSON, origin_here};
pub use call::{CallFailure, Failed, Running, Step};
pub use keep::{OpenError, RunningHub};
pub use ledger::{Program, Tally};
use registry::Registered;
pub use sentences::{MODEL_VARIABLE, ModelFile, model_file};
pub use surface::Watched;

/// The port clients expect us at.
pub const USUAL_PORT: u16 = 7411;
/// Servers that are started at the same time only to learn what they offer.
const LEARNING: usize = 4;
/// Calls in flight over all servers, and how many of them each client can always have.
const CALLS: usize = 1024;
const CALLS_OF_CLIENT: usize = 16;
/// News of servers kept for a listener that is slow.
const NEWS: usize = 512;
/// How long a shutdown may take in all.
const SHUTDOWN: Duration = Duration::from_secs(15);

/// How a hub is opened.
#[derive(Debug, Clone)]
pub struct HubOptions {
    /// Where its files are.
    pub places: Places,
    /// Our own program: started as `toolbox` for the embedded server, as `warden` and as `tokens`.
    pub own_program: PathBuf,
    /// For one command: nothing is started that the command does not need, and the file is not watched.
    pub passive: bool,
    /// Accept every entry that stands in the configuration file now, as if a person had looked at each.
    pub trust_config: bool,
}

/// The handle of a running hub. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Hub {
    inner: Arc<Inner>,
    /// Accompanies the calls made through this handle.
    tally: Option<Tally>,
    /// The client that looks through this handle, where it is one's.
    viewer: Option<Arc<str>>,
    /// A person calls through it, and need not be asked.
    by_hand: bool,
    /// Where the request comes from that is carried out through it; `None` where the hub acts by itself.
    origin: Option<Arc<Origin>>,
    /// How many records of the trail came from it, where somebody waits for them.
    recorded: Option<Arc<AtomicUsize>>,
}

#[derive(Debug)]
struct Inner {
    options: HubOptions,
    around: Arc<Surroundings>,
    tokens: Tokens,
    /// What was written into other programs' files.
    edits: Edits,
    /// How many choices of what a client sees were made.
    choices: watch::Sender<u64>,
    /// What clients see that do not see everything.
    audiences: audience::Audiences,
    /// Written by the apply task only.
    config: watch::Sender<Arc<Config>>,
    changes: mpsc::Sender<apply::Asked>,
    servers: RwLock<BTreeMap<ServerName, Registered>>,
    /// Everything ever read, of servers that are off too. Written by `refresh` and at start.
    offers: Mutex<BTreeMap<ServerName, Arc<Offer>>>,
    /// What was approved of every server.
    review: Arc<Review>,
    /// Settings that a person accepted.
    settings: settings::AcceptedSettings,
    /// What waits for a person.
    prompts: Arc<Prompts>,
    gates: credential::Gates,
    /// What was removed, to be put back.
    removed: entry::Removed,
    /// Replaced by the publisher only.
    catalog: watch::Sender<Catalog>,
    publisher: publish::Publisher,
    snapshot: watch::Sender<Arc<Snapshot>>,
    view: view::Sources,
    measured: usage::Measured,
    ledger: ledger::Ledger,
    learned: habits::Learned,
    meanings: meaning::Meanings,
    happenings: happenings::Happenings,
    door: trail::Door,
    compose: Arc<Notify>,
    learning: Semaphore,
    looking: Semaphore,
    /// Faces that have approvals listed.
    listing: Semaphore,
    counting: Semaphore,
    calls: slots::Slots,
    owned: owned::Owned,
    watching: surface::Watching,
    results: results::Results,
    breakers: Mutex<HashMap<crate::model::ToolPath, Breaker>>,
    numbers: std::sync::atomic::AtomicU64,
    tracker: TaskTracker,
    /// Ends the hub's own tasks.
    end: CancellationToken,
    /// Ends the warden, last of all.
    end_warden: CancellationToken,
    quit: CancellationToken,
    /// Held until the hub is gone.
    lock: Mutex<Option<File>>,
}

impl Hub {
    /// Opens the hub of these places and starts what is to run from the start.
    ///
    /// # Errors
    /// [`OpenError`] where another hub has the data directory, or the directories cannot be made.
    pub async fn open(options: HubOptions) -> Result<Self, OpenError> {
        options.places.create().map_err(OpenError::Files)?;
        let lock = keep::lock(&options).await?;
        keep::clear_leftovers(&options.places);
        let run = keep::begin_run(&options.places)?;
        let (tracker, end, end_warden) =
            (TaskTracker::new(), CancellationToken::new(), CancellationToken::new());
        let warden = crate::warden::Warden::start(&options.own_program, &run, &tracker, end_warden.clone());
        // A variable that is not valid Unicode cannot be referred to, and servers are not given it.
        let environment: HashMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        if !options.passive {
            crate::upstream::reaper::start(&tracker, end.clone());
        }
        let (tokens, trouble) = Tokens::open(&options.places.data);
        let (edits, edits_trouble) = Edits::open(&options.places.data);
        keep::clear_leftovers_of_others(edits.files());
        let secrets = Secrets::open(&options.places.data);
        let (ledger, records) = ledger::Ledger::new();
        let compose = Arc::<Notify>::default();
        let around = Arc::new(Surroundings {
            trail: ledger.trail(),
            places: options.places.clone(),
            secrets,
            own_program: options.own_program.clone(),
            warden,
            environment,
            search_path: SearchPath::default(),
            news: tokio::sync::broadcast::channel(NEWS).0,
            tracker: tracker.clone(),
            ending: Ending::default(),
        });
        let (changes, asked) = mpsc::channel(16);
        let (learned, learned_trouble) = habits::Learned::open(&habits::habits_file(&options.places));
        let inner = Arc::new(Inner {
            around,
            tokens,
            edits,
            choices: watch::Sender::new(0),
            audiences: audience::Audiences::default(),
            config: watch::Sender::new(Arc::default()),
            changes,
            servers: RwLock::default(),
            offers: Mutex::default(),
            review: Review::new(options.places.approvals(), tracker.clone()),
            settings: settings::AcceptedSettings::default(),
            prompts: Prompts::new(compose.clone(), end.clone()),
            gates: credential::Gates::default(),
            removed: entry::Removed::default(),
            catalog: watch::Sender::new(Catalog::default()),
            publisher: publish::Publisher::default(),
            snapshot: watch::Sender::new(Arc::default()),
            view: view::Sources::default(),
            measured: usage::Measured::default(),
            ledger,
            learned,
            meanings: meaning::Meanings::default(),
            happenings: happenings::Happenings::default(),
            door: trail::Door::default(),
            compose,
            learning: Semaphore::new(LEARNING),
            looking: Semaphore::new(1),
            listing: Semaphore::new(1),
            counting: Semaphore::new(1),
            calls: slots::Slots::new(CALLS, CALLS_OF_CLIENT),
            owned: owned::Owned::default(),
            watching: surface::Watching::default(),
            results: results::Results::default(),
            breakers: Mutex::default(),
            numbers: Default::default(),
            tracker,
            end,
            end_warden,
            quit: CancellationToken::new(),
            lock: Mutex::new(Some(lock)),
            options,
        });
        let hub = Self { inner, tally: None, viewer: None, by_hand: false, origin: None, recorded: None };
        for trouble in [trouble, edits_trouble, learned_trouble].into_iter().flatten() {
            hub.notice(Notice::new(crate::model::Code::SetAside, trouble));
        }
        keep::open_vault(&hub).await;
        hub.begin(asked, records).await;
        Ok(hub)
    }

    async fn begin(&self, asked: mpsc::Receiver<apply::Asked>, records: mpsc::Receiver<ledger::Mail>) {
        let accepted = if self.inner.options.trust_config { Accepted::File } else { Accepted::Nothing };
        let first = apply::first_config(self, accepted);
        let publishing = self.clone();
        self.inner.tracker.spawn(async move { publishing.keep_publishing().await });
        self.reconcile(first, accepted).await;
        self.inner.snapshot.send_replace(Arc::new(self.compose()));
        let (applying, composing, measuring) = (self.clone(), self.clone(), self.clone());
        self.inner.tracker.spawn(async move { apply::run(applying, asked).await });
        self.inner.tracker.spawn(async move {
            kept("the snapshot", async || composing.keep_composing().await).await;
        });
        self.inner.tracker.spawn(async move {
            kept("measuring", async || measuring.keep_measuring().await).await;
        });
        let learning = self.clone();
        self.inner.tracker.spawn(async move {
            kept("learning from searches", async || learning.keep_habits().await).await;
        });
        let meaning = self.clone();
        self.inner.tracker.spawn(async move {
            kept("embeddings", async || meaning.keep_meanings().await).await;
        });
        self.inner.tracker.spawn(ledger::run(self.clone(), records));
    }

    /// Everything a face may show, now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.snapshot.borrow().clone()
    }

    /// Follows the snapshot.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.inner.snapshot.subscribe()
    }

    /// Where this hub's files are.
    pub fn places(&self) -> &Places {
        &self.inner.options.places
    }

    /// The largest request of a client, in bytes.
    pub fn request_bytes(&self) -> usize {
        self.inner.config.borrow().request_bytes()
    }

    /// Whose token this is, where it is anybody's.
    pub fn client_of(&self, token: &str) -> Option<String> {
        self.inner.tokens.owner(token)
    }

    /// The endpoint listens at `url`, or no longer.
    pub fn set_endpoint(&self, url: Option<String>) {
        self.view().endpoint = url;
        self.inner.compose.notify_one();
    }

    /// Tells people something about the hub itself; replaces what was said under the same code.
    pub fn notice(&self, notice: Notice) {
        let mut view = self.view();
        view.notices.retain(|known| known.code != notice.code);
        view.notices.push(notice);
        drop(view);
        self.inner.compose.notify_one();
    }

    /// Takes back what was said under a code.
    pub fn clear_notice(&self, code: crate::model::Code) {
        self.view().notices.retain(|known| known.code != code);
        self.inner.compose.notify_one();
    }

    /// A client made a request; or, within one it has made, called the tool named by `call`.
    pub fn client_seen(&self, client: &str, call: Option<&str>) {
        self.view().client_seen(client, call);
        self.inner.edits.saw(client);
        self.inner.compose.notify_one();
    }

    /// Resolves when a face wants the hub to end.
    pub async fn quit_wished(&self) {
        self.inner.quit.cancelled().await;
    }

    /// The hub is about to end: servers without calls end from now on, the others when their calls have ended, or soon.
    /// For faces that give calls their time before they call [`Hub::shutdown`].
    pub fn begin_to_end(&self) {
        drop(self.end_servers());
    }

    fn end_servers(&self) -> Vec<JoinHandle<()>> {
        self.inner.around.ending.begin();
        let end = |server: &Registered| {
            let upstream = server.upstream.clone();
            self.inner.tracker.spawn(async move { upstream.close().await })
        };
        self.servers().values().map(end).collect()
    }

    /// Ends every server and every task. Bounded: what resists is left to the warden.
    pub async fn shutdown(&self) {
        let all = async {
            self.inner.end.cancel();
            for closed in self.end_servers() {
                let _ = closed.await;
            }
            self.inner.around.warden.sweep().await;
            // Nobody calls any more; what they did is all told.
            self.close_door();
            self.inner.ledger.end.cancel();
            self.inner.end_warden.cancel();
            self.inner.tracker.close();
            self.inner.tracker.wait().await;
        };
        if tokio::time::timeout(SHUTDOWN, all).await.is_err() {
            tracing::warn!("not everything ended in time");
            self.inner.ledger.end.cancel();
            self.inner.end_warden.cancel();
        }
        self.inner.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Carries out one change of the configuration, from whichever face.
    ///
    /// # Errors
    /// [`ApplyError`] where it makes no sense or cannot be written; nothing has changed then.
    pub async fn apply(&self, change: Change) -> Result<(), ApplyError> {
        let accepts = self.is_for_a_person();
        apply::ask(self, change, accepts).await
    }

    fn view(&self) -> MutexGuard<'_, view::Live> {
        self.inner.view.lock()
    }

    fn servers(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<ServerName, Registered>> {
        self.inner.servers.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn offers(&self) -> MutexGuard<'_, BTreeMap<ServerName, Arc<Offer>>> {
        self.inner.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
