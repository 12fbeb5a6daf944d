//! Keeps what was approved of every server: its definitions, its launch, its fetched packages, and the secrets it may
//! have. Judges what is new, withholds what nobody approved, and records decisions.
//!
//! Theory of operation: readers take the whole immutable [`Table`] without waiting. There is one writer at a time. It
//! judges and inspects before its turn; within its turn it writes the file first and then replaces the table. No lock
//! is held over a file or over the inspection of a text.

mod accepting;
mod judge;
mod launch;
mod list;
mod packages;
mod secrets;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use parking_lot::RwLock;

use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

use crate::{
    catalog::Offer,
    config::file::OWN_COMMAND,
    files::file_stem,
    model::{
        ServerConfig, ServerName, TransportConfig,
        approvals::{Kind, NotStarted, Seen, Unseen, Why},
    },
    tasks::Panicked,
    trust::{First, Item, Record, approvals, clean, grants},
};
pub use accepting::Accepting;
use judge::{Judged, defined, has_address};
pub use packages::Looked;

/// The state of all servers at one moment.
pub type Table = BTreeMap<ServerName, Arc<Entry>>;

/// Which entries of a configuration a person has accepted implicitly.
#[derive(Debug, Clone, Copy)]
pub enum Accepted<'a> {
    /// None: each may have been written outside Satchel.
    Nothing,
    /// The entry of this server, which was just written through Satchel by a person or a program.
    Entry {
        /// The server.
        name: &'a str,
        /// Written by a person, not a program.
        by_person: bool,
    },
    /// The whole file, because the one who started the hub said so.
    File,
}

impl Accepted<'_> {
    /// Was this server's entry accepted?
    pub fn covers(self, name: &ServerName) -> bool {
        match self {
            Accepted::Nothing => false,
            Accepted::Entry { name: accepted, .. } => accepted == name.as_str(),
            Accepted::File => true,
        }
    }
}

/// The state of one server.
#[derive(Debug, Clone)]
pub struct Entry {
    record: Arc<Record>,
    /// It is Satchel itself, whose definitions are trusted.
    ours: bool,
    /// The record could not be written; retried later.
    unwritten: bool,
    /// The last judgement of its offer, possibly by an earlier record.
    judged: Option<Arc<Judged>>,
    /// The record changed since: what is held back stays so until the offer is judged again.
    stale: bool,
    /// Its command line or address; `None` if it is Satchel itself.
    launch: Option<Item>,
    /// Fetched packages whose content differs from what was recorded for the same version.
    packages: Vec<Item>,
    /// Secrets that its entry references, with the recipient of each.
    secrets: Vec<Item>,
}

impl Entry {
    /// A server that was never opened: nothing about it is trusted.
    fn unknown() -> Self {
        Self {
            record: Arc::new(Record::lost()),
            ours: false,
            unwritten: false,
            judged: None,
            stale: false,
            launch: None,
            packages: Vec::new(),
            secrets: Vec::new(),
        }
    }

    /// Its launch, if held back, and why.
    fn held_launch(&self) -> Option<(&Item, Why)> {
        let launch = self.launch.as_ref()?;
        Some((launch, self.record.holds_launch(launch)?))
    }

    /// Packages whose present content nobody approved.
    fn held_packages(&self) -> impl Iterator<Item = &Item> {
        self.packages.iter().filter(|item| self.record.holds_package(item))
    }

    /// Everything that keeps it from starting. Secrets matter only once it may run at all.
    fn held(&self) -> impl Iterator<Item = (&Item, Why)> {
        let launch = self.held_launch();
        let secrets = self.ungranted().filter(move |_| launch.is_none()).map(|item| (item, Why::Added));
        launch.into_iter().chain(self.held_packages().map(|item| (item, Why::Changed))).chain(secrets)
    }

    /// Everything that its entry runs, fetches and receives.
    fn launched(&self) -> impl Iterator<Item = &Item> {
        self.launch.iter().chain(&self.packages).chain(&self.secrets)
    }
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// There is no such server.
    #[error("there is no server \"{0}\"")]
    Unknown(String),
    /// Its definitions have not been read.
    #[error("what \"{0}\" offers has not been read yet")]
    Unread(String),
    /// It changed after it was shown.
    #[error("{what} of \"{server}\" changed after it was shown")]
    ChangedMeanwhile {
        /// The server.
        server: String,
        /// The definition.
        what: String,
    },
    /// The record could not be written.
    #[error("{0}")]
    Unwritable(String),
    /// An internal error.
    #[error(transparent)]
    Panicked(#[from] Panicked),
}

/// A server whose record is to be opened.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The server.
    pub name: ServerName,
    /// Its entry.
    pub config: ServerConfig,
    /// Whether its lists are cached, and whether a record existed when they were.
    pub kept: Option<bool>,
    /// A person wrote the entry through Satchel, or accepted the whole file.
    pub accepted: bool,
}

/// The result of opening a server's record.
#[derive(Debug, Default)]
pub struct Opened {
    /// The server may not be started.
    pub waits: bool,
    /// What was lost.
    pub lost: Option<String>,
    /// The held launch, for the audit log.
    pub held: Option<String>,
}

/// A definition that is newly held back.
#[derive(Debug)]
pub struct HeldBack {
    /// The line for the server's log.
    pub line: String,
    /// The subject for the audit log.
    pub entry: String,
}

/// What to do with a change that cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unwritten {
    /// Reject it.
    Refused,
    /// Apply it in memory, and write it with the next one.
    Kept,
}

/// The owner of all approvals.
#[derive(Debug)]
pub struct Review {
    /// One file per server.
    dir: PathBuf,
    /// Locked only to read or replace the pointer.
    table: RwLock<Arc<Table>>,
    /// Serializes writers.
    turn: Mutex<()>,
    lists: list::Lists,
    /// Finishes a change even if its caller goes away.
    tracker: TaskTracker,
}

impl Review {
    /// Stores its files in this directory. `tracker` waits for writes.
    pub fn new(dir: PathBuf, tracker: TaskTracker) -> Arc<Self> {
        let (table, turn, lists) = (RwLock::default(), Mutex::default(), list::Lists::default());
        Arc::new(Self { dir, table, turn, lists, tracker })
    }

    /// The present state.
    pub fn table(&self) -> Arc<Table> {
        self.table.read().clone()
    }

    fn entry(&self, name: &ServerName) -> Option<Arc<Entry>> {
        self.table().get(name).cloned()
    }

    /// Only while holding the writer's turn.
    fn put(&self, name: &ServerName, entry: Option<Entry>) {
        let mut table = self.table.write();
        let table = Arc::make_mut(&mut table);
        match entry {
            Some(entry) => table.insert(name.clone(), Arc::new(entry)),
            None => table.remove(name),
        };
    }

    /// The same for many, replacing the table once.
    fn put_all(&self, entries: impl Iterator<Item = (ServerName, Entry)>) {
        let mut table = self.table.write();
        Arc::make_mut(&mut table).extend(entries.map(|(name, entry)| (name, Arc::new(entry))));
    }

    /// The file with this server's approvals.
    pub fn file(&self, name: &ServerName) -> PathBuf {
        self.dir.join(format!("{}.json", file_stem(name.as_str())))
    }

    /// Changes the state of one server: on disk first, then in memory.
    async fn change<T: Send + 'static>(
        self: &Arc<Self>,
        name: &ServerName,
        unwritten: Unwritten,
        change: impl FnOnce(&mut Entry) -> T + Send + 'static,
    ) -> Result<T, ReviewError> {
        let (room, name) = (self.clone(), name.clone());
        let changing = self.tracker.spawn(async move {
            let _turn = room.turn.lock().await;
            let entry = room.entry(&name).ok_or_else(|| ReviewError::Unknown(name.to_string()))?;
            let mut changed = Entry::clone(&entry);
            let came = change(&mut changed);
            changed.stale |= differs(&entry, &changed);
            room.replace(&name, &entry, changed, unwritten).await?;
            Ok(came)
        });
        changing.await.map_err(|_| Panicked)?
    }

    /// Replaces an entry and its file. Only while holding the writer's turn.
    async fn replace(
        &self,
        name: &ServerName,
        before: &Entry,
        mut changed: Entry,
        unwritten: Unwritten,
    ) -> Result<(), ReviewError> {
        if differs(before, &changed) || changed.unwritten {
            let written = write(self.file(name), changed.record.clone()).await;
            changed.unwritten = written.is_err();
            match (written, unwritten) {
                (Err(error), Unwritten::Refused) => return Err(ReviewError::Unwritable(error)),
                (Err(error), Unwritten::Kept) => {
                    tracing::warn!(server = %name, %error, "cannot store its approvals");
                }
                (Ok(()), _) => {}
            }
        }
        self.put(name, Some(changed));
        Ok(())
    }

    /// Replaces entries and their files; unwritable ones apply in memory. Only while holding the writer's turn.
    async fn replace_all(&self, mut changed: Vec<(ServerName, Entry)>) {
        let records = changed.iter().map(|(name, entry)| (self.file(name), entry.record.clone())).collect();
        for ((name, entry), written) in changed.iter_mut().zip(write_all(records).await) {
            entry.unwritten = written.is_err();
            if let Err(error) = written {
                tracing::warn!(server = %name, %error, "cannot store its approvals");
            }
        }
        self.put_all(changed.into_iter());
    }

    /// Opens the records of servers in one turn; results are in the same order.
    pub async fn open(self: &Arc<Self>, openings: Vec<Opening>) -> Vec<Opened> {
        let (room, number) = (self.clone(), openings.len());
        let opening = self.tracker.spawn(async move {
            let _turn = room.turn.lock().await;
            let reader = room.clone();
            let opened = read(move || openings.iter().map(|one| reader.opened(one)).collect::<Vec<_>>());
            let opened = opened.await?;
            let (mut came, mut settled, mut others) = (Vec::new(), Vec::new(), Vec::new());
            for (name, entry, is_settled, lost) in opened {
                let held = entry.held_launch().map(|(item, _)| format!("what it runs, {}", item.print));
                came.push(Opened { waits: entry.held().next().is_some(), lost, held });
                if is_settled { settled.push((name, entry)) } else { others.push((name, entry)) }
            }
            room.put_all(others.into_iter());
            room.replace_all(settled).await;
            Ok::<_, Panicked>(came)
        });
        // On an internal error, nothing is started.
        let nothing = || (0..number).map(|_| Opened { waits: true, ..Opened::default() }).collect();
        opening.await.map_err(|_| Panicked).flatten().unwrap_or_else(|Panicked| nothing())
    }

    fn opened(&self, opening: &Opening) -> (ServerName, Entry, bool, Option<String>) {
        let Opening { name, config, kept, accepted } = opening;
        let path = self.file(name);
        // A panic while reading one record loses only that record.
        let read = std::panic::catch_unwind(|| approvals::read(&path));
        let read = read.unwrap_or_else(|_| Err(Panicked.to_string()));
        let (entry, settled, lost) = opened(name, config, read, *kept, *accepted);
        (name.clone(), entry, settled, lost)
    }

    /// Accepts an entry that a person wrote through Satchel.
    ///
    /// # Errors
    /// If that cannot be written.
    pub async fn accept_launch(self: &Arc<Self>, name: &ServerName) -> Result<(), ReviewError> {
        self.change(name, Unwritten::Refused, |entry| {
            if let Some(launch) = &entry.launch {
                Arc::make_mut(&mut entry.record).approve(launch);
            }
        })
        .await
    }

    /// Treats the first lists of an imported server as approved, because it already ran on this computer.
    pub async fn trust_imported(self: &Arc<Self>, name: &ServerName) {
        let path = self.file(name);
        let _turn = self.turn.lock().await;
        if path.exists() {
            return;
        }
        if let Err(error) = write(path, Arc::new(Record::imported())).await {
            tracing::warn!(%error, "cannot store that a server was imported");
        }
    }

    /// Forgets a removed server: the next one of that name is a different server.
    pub async fn forget(self: &Arc<Self>, name: &ServerName) {
        let _turn = self.turn.lock().await;
        self.put(name, None);
        let path = self.file(name);
        let _ = tokio::task::spawn_blocking(move || std::fs::remove_file(path)).await;
    }

    /// Judges an offer: returns its visible part, cleaned, and what is newly held back.
    pub async fn judge(
        self: &Arc<Self>,
        name: &ServerName,
        offer: &Arc<Offer>,
        first: First,
    ) -> (Arc<Offer>, Vec<HeldBack>) {
        loop {
            let entry = self.entry(name);
            if let Some(entry) = &entry {
                if entry.ours {
                    return (offer.clone(), Vec::new());
                }
                let judged = entry.judged.as_ref().filter(|_| !entry.stale && !entry.unwritten);
                if let Some(judged) = judged.filter(|judged| judged.answers_for(offer, first)) {
                    return (judged.seen.clone(), Vec::new());
                }
            }
            let (room, name, offer) = (self.clone(), name.clone(), offer.clone());
            let judging =
                self.tracker.spawn(async move { room.judge_once(&name, entry, &offer, first).await });
            match judging.await {
                Ok(Some(judged)) => return judged,
                // Approvals changed in the meantime.
                Ok(None) => {}
                // What cannot be judged is not available.
                Err(_) => return (Arc::default(), Vec::new()),
            }
        }
    }

    /// `None` if another writer was faster.
    async fn judge_once(
        &self,
        name: &ServerName,
        entry: Option<Arc<Entry>>,
        offer: &Arc<Offer>,
        first: First,
    ) -> Option<(Arc<Offer>, Vec<HeldBack>)> {
        let before = entry.clone().unwrap_or_else(|| Arc::new(Entry::unknown()));
        let mut record = Record::clone(&before.record);
        let judging = {
            let (name, offer) = (name.clone(), offer.clone());
            tokio::task::spawn_blocking(move || {
                let (judged, changed) = judge::judge(&mut record, &name, &offer, first);
                (judged, changed.then_some(record))
            })
        };
        // What cannot be judged is not available.
        let Ok((judged, record)) = judging.await else { return Some((Arc::default(), Vec::new())) };
        let _turn = self.turn.lock().await;
        let now = self.entry(name);
        if now.as_ref().map(Arc::as_ptr) != entry.as_ref().map(Arc::as_ptr) {
            return None;
        }
        let (judged, mut changed) = (Arc::new(judged), Entry::clone(&before));
        if let Some(record) = record {
            changed.record = Arc::new(record);
        }
        let held_now = newly_held(before.judged.as_deref(), &judged);
        let seen = judged.seen.clone();
        changed.judged = Some(judged);
        changed.stale = false;
        // Never rejected.
        let _ = self.replace(name, &before, changed, Unwritten::Kept).await;
        Some((seen, held_now))
    }
}

/// Queries on the present state.
impl Review {
    /// Why a server is not started, as text: its entry, a package or a secret. `None` if it may start.
    pub fn refuses_start(&self, name: &ServerName) -> Option<String> {
        let table = self.table();
        let entry = table.get(name)?;
        let held = entry.held_launch().map(|(_, why)| launch::because(why).to_owned());
        held.or_else(|| packages::because(entry)).or_else(|| secrets::because(&table, name, entry))
    }

    /// The same, if its entry alone is the reason.
    pub fn refuses_entry(&self, name: &ServerName) -> Option<&'static str> {
        let entry = self.entry(name)?;
        let (_, why) = entry.held_launch()?;
        Some(launch::because(why))
    }

    /// Is this entry held back?
    pub fn holds_start(&self, name: &ServerName, config: &ServerConfig) -> bool {
        let Some(entry) = self.entry(name) else { return false };
        let launch =
            entry.launch.is_some() && entry.record.holds_launch(&launch::item(name, config)).is_some();
        launch || entry.held_packages().next().is_some() || entry.ungranted().next().is_some()
    }

    /// Is it held back because of a fetched package?
    pub fn holds_packages(&self, name: &ServerName) -> bool {
        self.entry(name).is_some_and(|entry| entry.held_packages().next().is_some())
    }

    /// Is the server, or anything it offers, held back?
    pub fn holds_any(&self, name: &ServerName) -> bool {
        self.entry(name).is_some_and(|entry| {
            entry.held().next().is_some() || entry.judged.iter().any(|judged| !judged.held.is_empty())
        })
    }

    /// Are there approvals for a server of this name?
    pub fn has_record(&self, name: &ServerName) -> bool {
        approvals::is_known(&self.file(name))
    }

    /// Why a server waits for a person before it starts; `None` if it does not.
    pub fn not_started(&self, name: &ServerName) -> Option<NotStarted> {
        let entry = self.entry(name)?;
        let (item, why) = entry.held().next()?;
        Some(match (item.kind, why) {
            (Kind::Package, _) => NotStarted::Package,
            (Kind::Secret, _) => NotStarted::Secret,
            (_, Why::Lost) => NotStarted::Lost,
            (_, Why::New | Why::Alarming) => NotStarted::NewEntry,
            (_, Why::Changed | Why::Added) => NotStarted::ChangedEntry,
        })
    }

    /// The number of definitions that wait for review, and whether nobody has reviewed the server at all.
    pub fn standing(&self, name: &ServerName) -> (usize, Option<Unseen>) {
        let Some(entry) = self.entry(name).filter(|entry| !entry.ours) else { return (0, None) };
        let waits = |kind: Kind, name: &str, held: &judge::Held| {
            !entry.record.is_kept(kind, name, &held.print, held.stands)
        };
        let waiting = entry.judged.iter().flat_map(|judged| &judged.held);
        let waiting = waiting.filter(|((kind, name), held)| waits(*kind, name, held));
        // Resources may be many, so they are reviewed as one group.
        let (added, others): (Vec<_>, Vec<_>) =
            waiting.partition(|((kind, _), held)| held.is_added_resource(*kind));
        let held = others.len() + usize::from(!added.is_empty());
        let is_kept = |item: &Item| entry.record.is_kept(item.kind, &item.name, &item.print, false);
        let held = held + entry.held().filter(|(item, _)| !is_kept(item)).count();
        (held, entry.record.unseen().filter(|_| entry.judged.is_some()))
    }

    /// Why a definition is refused, if it is. Only for definitions that are not available.
    pub fn refuses(&self, server: &ServerName, kind: Kind, name: &str) -> Option<&'static str> {
        let entry = self.entry(server)?;
        let judged = entry.judged.as_ref()?;
        let held = match has_address(kind) {
            true => judged.held_address(kind, name),
            false => judged.held(kind, name),
        };
        held.filter(|held| !held.stands).map(|held| because(held.why))
    }

    /// Did a person approve the definition that is in force under this name?
    pub fn has_approved(&self, server: &ServerName, kind: Kind, name: &str) -> bool {
        self.entry(server).is_some_and(|entry| entry.ours || entry.record.has_approved(kind, name))
    }

    /// The held tools, for explaining why they are missing.
    pub fn held_tools(&self) -> Vec<crate::model::ToolPath> {
        let of = |(server, entry): (&ServerName, &Arc<Entry>)| {
            let held = entry.judged.iter().flat_map(|judged| &judged.held);
            held.filter(|((kind, _), held)| *kind == Kind::Tool && !held.stands)
                .map(|((_, name), _)| crate::model::ToolPath { server: server.clone(), tool: name.clone() })
                .collect::<Vec<_>>()
        };
        self.table().iter().flat_map(of).collect()
    }
}

/// Decisions of a person.
impl Review {
    /// Approves exactly these definitions, or keeps them held back. Returns the audit subject of each.
    ///
    /// # Errors
    /// If one of them changed after it was shown, or the server was never read; nothing is changed then.
    pub async fn decide(
        self: &Arc<Self>,
        name: &ServerName,
        offer: Option<Arc<Offer>>,
        items: Vec<Seen>,
        approve: bool,
    ) -> Result<Vec<String>, ReviewError> {
        let server = name.clone();
        let defined = read(move || {
            let of =
                |offer: Arc<Offer>| -> Vec<Item> { defined(&offer, &server).map(|one| one.item()).collect() };
            offer.map(of).unwrap_or_default()
        });
        let defined = defined.await?;
        let server = name.clone();
        let decide = move |entry: &mut Entry| {
            let launched: Vec<Item> = entry.launched().cloned().collect();
            let now: BTreeMap<(Kind, &str), &Item> =
                defined.iter().chain(&launched).map(|item| ((item.kind, item.name.as_str()), item)).collect();
            if now.is_empty() {
                return Err(ReviewError::Unread(server.to_string()));
            }
            let meant = |seen: &Seen| {
                let item = now.get(&(seen.kind, seen.name.as_str())).copied();
                item.filter(|item| item.print.as_str() == seen.fingerprint).ok_or_else(|| {
                    let what = format!("{} \"{}\"", seen.kind.as_str(), clean::visible(&seen.name));
                    ReviewError::ChangedMeanwhile { server: server.to_string(), what }
                })
            };
            let meant = items.iter().map(meant).collect::<Result<Vec<_>, _>>()?;
            let record = Arc::make_mut(&mut entry.record);
            for item in &meant {
                if approve { record.approve(item) } else { record.keep(item) }
            }
            Ok(meant.into_iter().map(words_of).collect())
        };
        self.change(name, Unwritten::Refused, decide).await?
    }

    /// Marks all available definitions of a server as reviewed. Returns their number.
    ///
    /// # Errors
    /// If that cannot be written.
    pub async fn look(self: &Arc<Self>, name: &ServerName, offer: Arc<Offer>) -> Result<usize, ReviewError> {
        let server = name.clone();
        let items = read(move || defined(&offer, &server).map(|one| one.item()).collect::<Vec<Item>>());
        let items = items.await?;
        let look = move |entry: &mut Entry| {
            let record = Arc::make_mut(&mut entry.record);
            record.look(&items);
            // The reviewer saw what runs; from now on it changes only with a person's consent.
            if let Some(launch) = &entry.launch
                && record.holds_launch(launch).is_none()
            {
                record.approve(launch);
            }
            items.len()
        };
        self.change(name, Unwritten::Refused, look).await
    }
}

/// Runs a blocking read on a separate thread.
async fn read<T: Send + 'static>(read: impl FnOnce() -> T + Send + 'static) -> Result<T, Panicked> {
    tokio::task::spawn_blocking(read).await.map_err(|_| Panicked)
}

async fn write(path: PathBuf, record: Arc<Record>) -> Result<(), String> {
    let written = read(move || approvals::write(&path, &record)).await;
    written.map_err(|panicked| panicked.to_string())?.map_err(|error| error.to_string())
}

async fn write_all(records: Vec<(PathBuf, Arc<Record>)>) -> Vec<Result<(), String>> {
    let number = records.len();
    let written = read(move || approvals::write_all(&records)).await;
    let failed = |_| (0..number).map(|_| Err(Panicked.to_string())).collect();
    let told = |written: Vec<std::io::Result<()>>| {
        written.into_iter().map(|one| one.map_err(|error| error.to_string())).collect()
    };
    written.map_or_else(failed, told)
}

fn differs(before: &Entry, changed: &Entry) -> bool {
    !Arc::ptr_eq(&before.record, &changed.record) && before.record != changed.record
}

/// The entry of an opened server, whether its launch is settled, and what was lost.
fn opened(
    name: &ServerName,
    config: &ServerConfig,
    read: Result<Option<Record>, String>,
    kept: Option<bool>,
    accepted: bool,
) -> (Entry, bool, Option<String>) {
    // With foreign variables it would no longer be Satchel's own program.
    let ours = matches!(&config.transport, TransportConfig::Stdio { command, args, env, .. }
        if command == OWN_COMMAND && args.first().is_some_and(|word| word == "toolbox") && env.is_empty());
    let (mut record, lost) = match read {
        Ok(Some(record)) => (record, None),
        Ok(None) if kept == Some(true) && !ours => {
            (Record::lost(), Some(format!("the approvals of \"{name}\" are lost")))
        }
        // Its lists were cached by a version without approvals: clients have been using them.
        Ok(None) if kept == Some(false) => (Record::imported(), None),
        Ok(None) => (Record::new(), None),
        Err(trouble) => (Record::lost(), Some(format!("\"{name}\": {trouble}"))),
    };
    // Written with the next list: otherwise a server whose lists are lost too would count as new.
    let mut unwritten = record.is_lost();
    let launch = launch::item(name, config);
    // Reviewed before entries were pinned: the present entry is what was reviewed.
    let settled = record.unseen().is_none() && !record.knows(Kind::Launch, name.as_str());
    let settled = !ours && (accepted || settled);
    if settled {
        record.approve(&launch);
    }
    let launch = (!ours).then_some(launch);
    let secrets = if ours { Vec::new() } else { grants::of(&config.transport) };
    if !record.asks_about_secrets() {
        // It ran with these secrets under a version that did not ask.
        if launch.as_ref().is_some_and(|item| record.holds_launch(item).is_none()) && !accepted {
            secrets.iter().for_each(|item| record.approve(item));
        }
        record.ask_about_secrets();
        unwritten |= !ours;
    }
    let record = Arc::new(record);
    let entry = Entry { record, ours, unwritten, launch, secrets, ..Entry::unknown() };
    (entry, settled, lost)
}

/// What is held back now and was not before.
fn newly_held(before: Option<&Judged>, now: &Judged) -> Vec<HeldBack> {
    let is_new = |key: &(Kind, String)| before.is_none_or(|before| !before.held.contains_key(key));
    let told = now.held.iter().filter(|(key, _)| is_new(key)).map(|((kind, name), held)| {
        let what = format!("{} \"{}\"", kind.as_str(), clean::visible(name));
        HeldBack {
            line: match held.stands {
                true => format!(
                    "{what} changed; what was seen of it before stays in force until somebody approves it"
                ),
                false => format!("holds back {what}: {}", because(held.why)),
            },
            entry: format!("{what}, {}", held.print),
        }
    });
    told.collect()
}

/// The audit subject; includes the fingerprint, because names can be reused.
fn words_of(item: &Item) -> String {
    format!("{} \"{}\", {}", item.kind.as_str(), clean::visible(&item.name), item.print)
}

fn because(why: Why) -> &'static str {
    match why {
        Why::Changed => "its definition changed, and nobody has approved the change",
        Why::Added => "it was added after the server's list was first read, and nobody has approved it",
        Why::New => "it is new, and nobody has approved it",
        Why::Alarming => "its text may deceive a model, and nobody has approved it",
        Why::Lost => "the approvals of this server were lost",
    }
}
