//! Records our changes to other programs' files, so that they can be shown and undone, and the user's choices per
//! client. Backups of the files lie beside it, readable by this user only.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

use parking_lot::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};

use super::{connect::Written, table::Transport};
use crate::{clock::now_ms, files, model::clients::Surface};

/// Number of steps that can be undone; older ones are deleted with their copies.
const STEPS: usize = 100;

/// The record of a connected client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionRecord {
    /// The transport.
    pub over: Transport,
    /// When it was connected, in milliseconds since the Unix epoch.
    pub added_ms: u64,
    /// When it made its first request since.
    #[serde(default)]
    pub seen_ms: Option<u64>,
    /// The files that contain Satchel's entry.
    pub files: Vec<Written>,
}

/// A file from which servers were removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenOut {
    /// The file.
    pub path: PathBuf,
    /// A copy of the original file, with the names of `secrets` in place of their values.
    pub backup: PathBuf,
    /// The fingerprint of the file as written.
    pub after: String,
    /// The fingerprint of the original file.
    #[serde(default)]
    pub before: String,
    /// The secrets that left the file, by their names in the keychain.
    #[serde(default)]
    pub secrets: Vec<String>,
}

/// A step that can be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Satchel's entry was added to a client's files.
    Connected {
        /// The client's id.
        client: String,
    },
    /// Satchel's entry was removed.
    Disconnected {
        /// The client's id.
        client: String,
        /// The previous transport.
        over: Transport,
    },
    /// Servers were imported.
    Imported {
        /// Their names in Satchel.
        servers: Vec<String>,
        /// The secrets stored for them.
        secrets: Vec<String>,
        /// The files from which they were removed.
        #[serde(default)]
        taken_out: Vec<TakenOut>,
    },
    /// A server was updated.
    Updated {
        /// Its name in Satchel.
        server: String,
        /// Its previous entry.
        before: serde_json::Value,
        /// The secrets stored for it.
        secrets: Vec<String>,
    },
    /// A skill of the person was copied into an agent's folder.
    SkillGiven {
        /// Its name.
        skill: String,
        /// The folder.
        folder: PathBuf,
    },
    /// A skill of the person was removed from an agent's folder.
    SkillTaken {
        /// Its name.
        skill: String,
        /// The folder.
        folder: PathBuf,
    },
    /// Parts of another setup were applied.
    SetUp {
        /// The previous parts by id; null for a part that did not exist.
        before: BTreeMap<String, serde_json::Value>,
        /// The secrets stored for them.
        secrets: Vec<String>,
    },
}

/// The user's choices for one client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Choices {
    /// Its surface.
    pub surface: Surface,
    /// Hidden servers, and tools as `server:tool`.
    pub hidden: BTreeSet<String>,
    /// The profile it is bound to; if that does not exist, it sees nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Book {
    records: BTreeMap<String, ConnectionRecord>,
    steps: Vec<Step>,
    choices: BTreeMap<String, Choices>,
    /// When each client first said that it can ask its user, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    asks: BTreeMap<String, u64>,
}

/// The client ledger of a data directory.
#[derive(Debug)]
pub struct Ledger {
    file: PathBuf,
    copies: PathBuf,
    /// What the file says. Every request of a client reads it, so it is not held while the file is written.
    book: Mutex<Book>,
    /// Held while the file is written: one change at a time.
    writing: Mutex<()>,
    /// Clients that made their first request, and when, until the file says so.
    seen: Mutex<BTreeMap<String, u64>>,
    /// The same for clients that said that they can ask their users.
    asks: Mutex<BTreeMap<String, u64>>,
}

impl Ledger {
    /// Opens the ledger. A damaged one is moved aside: entries are then recognized by their content.
    pub fn open(data: &Path) -> (Self, Option<String>) {
        let file = data.join("connections.json");
        let (book, trouble) = match files::read_data(&file).map(|bytes| serde_json::from_slice(&bytes)) {
            Ok(Ok(book)) => (book, None),
            Ok(Err(error)) => {
                let _ = files::rename(&file, &file.with_extension("damaged"));
                let text =
                    format!("the list of what was written into other programs' files was damaged ({error})");
                (Book::default(), Some(text))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Book::default(), None),
            Err(error) => {
                let text = format!(
                    "the list of what was written into other programs' files cannot be read ({error})"
                );
                (Book::default(), Some(text))
            }
        };
        let (copies, book) = (data.join("copies"), Mutex::new(book));
        (
            Self {
                file,
                copies,
                book,
                writing: Mutex::default(),
                seen: Mutex::default(),
                asks: Mutex::default(),
            },
            trouble,
        )
    }

    /// The record of a client.
    pub fn record(&self, client: &str) -> Option<ConnectionRecord> {
        let mut record = self.book().records.get(client).cloned()?;
        record.seen_ms = record.seen_ms.or_else(|| self.seen.lock().get(client).copied());
        Some(record)
    }

    /// The user's choices for a client.
    pub fn choices(&self, client: &str) -> Choices {
        self.choice(client, Choices::clone).unwrap_or_default()
    }

    /// A part of it; `None` where nothing was chosen.
    pub fn choice<T>(&self, client: &str, read: impl FnOnce(&Choices) -> T) -> Option<T> {
        self.book().choices.get(client).map(read)
    }

    /// The bound clients with their profiles.
    pub fn bound(&self) -> BTreeMap<String, String> {
        let book = self.book();
        let bound = book.choices.iter().filter_map(|(id, of)| Some((id.clone(), of.profile.clone()?)));
        bound.collect()
    }

    /// The user's choices for all clients.
    pub fn all_choices(&self) -> BTreeMap<String, Choices> {
        self.book().choices.clone()
    }

    /// Changes the user's choices.
    pub fn choose(&self, client: &str, change: impl FnOnce(&mut Choices)) -> io::Result<()> {
        self.change(|book| change(book.choices.entry(client.to_owned()).or_default()))
    }

    /// Records that Satchel's entry is, or is about to be, in these files. Recorded first, so that it can be removed
    /// after a crash.
    pub fn connected(&self, client: &str, record: ConnectionRecord) -> io::Result<()> {
        self.seen.lock().remove(client);
        self.change(|book| {
            book.records.insert(client.to_owned(), record);
            let step = Step::Connected { client: client.to_owned() };
            if book.steps.last() != Some(&step) {
                book.steps.push(step);
            }
        })
    }

    /// Records that the files were not written. `record` is what applies instead.
    pub fn not_connected(&self, client: &str, record: Option<ConnectionRecord>) -> io::Result<()> {
        match record {
            Some(record) => self.change(|book| drop(book.records.insert(client.to_owned(), record))),
            None => self.disconnected(client, false),
        }
    }

    /// Every file that Satchel has written to.
    pub fn files(&self) -> BTreeSet<PathBuf> {
        let book = self.book();
        let of_records = book.records.values().flat_map(|record| &record.files).map(|file| &file.path);
        let of_steps = book.steps.iter().flat_map(|step| match step {
            Step::Imported { taken_out, .. } => taken_out.as_slice(),
            Step::Connected { .. }
            | Step::Disconnected { .. }
            | Step::Updated { .. }
            | Step::SkillGiven { .. }
            | Step::SkillTaken { .. }
            | Step::SetUp { .. } => &[],
        });
        of_records.chain(of_steps.map(|file| &file.path)).cloned().collect()
    }

    /// Records that no file of this client contains the entry any more. `again`: connecting it again can be undone.
    pub fn disconnected(&self, client: &str, again: bool) -> io::Result<()> {
        self.change(|book| {
            let record = book.records.remove(client);
            book.steps.retain(|step| !matches!(step, Step::Connected { client: known } if known == client));
            if let (Some(record), true) = (record, again) {
                book.steps.push(Step::Disconnected { client: client.to_owned(), over: record.over });
            }
        })
    }

    /// Records an import.
    pub fn imported(
        &self,
        servers: Vec<String>,
        secrets: Vec<String>,
        taken_out: Vec<TakenOut>,
    ) -> io::Result<()> {
        self.change(|book| book.steps.push(Step::Imported { servers, secrets, taken_out }))
    }

    /// Records an update before it is made.
    pub fn updated(&self, server: String, before: serde_json::Value, secrets: Vec<String>) -> io::Result<()> {
        self.change(|book| book.steps.push(Step::Updated { server, before, secrets }))
    }

    /// Records parts of another setup before they are applied.
    pub fn set_up(
        &self,
        before: BTreeMap<String, serde_json::Value>,
        secrets: Vec<String>,
    ) -> io::Result<()> {
        self.change(|book| book.steps.push(Step::SetUp { before, secrets }))
    }

    /// Records a step that was made.
    pub fn noted(&self, step: Step) -> io::Result<()> {
        self.change(|book| book.steps.push(step))
    }

    /// Removes the steps of a skill, which cannot be undone any more: all, or those in one folder.
    pub fn forget_skill(&self, name: &str, only: Option<&Path>) -> io::Result<()> {
        let is_meant = |step: &Step| match step {
            Step::SkillGiven { skill, folder } | Step::SkillTaken { skill, folder } => {
                skill == name && only.is_none_or(|only| folder == only)
            }
            Step::Connected { .. }
            | Step::Disconnected { .. }
            | Step::Imported { .. }
            | Step::Updated { .. }
            | Step::SetUp { .. } => false,
        };
        self.change(|book| book.steps.retain(|step| !is_meant(step)))
    }

    /// The last step.
    pub fn last(&self) -> Option<Step> {
        self.book().steps.last().cloned()
    }

    /// The steps that can be undone, as they are stored.
    pub fn steps_as_text(&self) -> String {
        serde_json::to_string(&self.book().steps).unwrap_or_default()
    }

    /// Removes the last step after it was undone.
    pub fn forget(&self, step: &Step) -> io::Result<()> {
        self.change(|book| {
            if let Some(at) = book.steps.iter().rposition(|known| known == step) {
                book.steps.remove(at);
            }
        })
    }

    /// Notes a request of a client, in memory. Returns whether it is the first; [`Self::write_seen`] is due then.
    pub fn saw(&self, client: &str) -> bool {
        let unseen = self.book().records.get(client).is_some_and(|record| record.seen_ms.is_none());
        if !unseen {
            return false;
        }
        let mut seen = self.seen.lock();
        let first = !seen.contains_key(client);
        if first {
            seen.insert(client.to_owned(), now_ms());
        }
        first
    }

    /// Notes, in memory, that a client says it can ask its user. Returns whether it is the first time;
    /// [`Self::write_seen`] is due then.
    pub fn saw_asking(&self, client: &str) -> bool {
        if self.book().asks.contains_key(client) {
            return false;
        }
        let mut asks = self.asks.lock();
        let first = !asks.contains_key(client);
        if first {
            asks.insert(client.to_owned(), now_ms());
        }
        first
    }

    /// Since when a client says that it can ask its user, in milliseconds since the Unix epoch.
    pub fn asks_since(&self, client: &str) -> Option<u64> {
        let written = self.book().asks.get(client).copied();
        written.or_else(|| self.asks.lock().get(client).copied())
    }

    /// Writes down which clients have made a request, and which say that they can ask. Waits for the disk.
    pub fn write_seen(&self) {
        if let Err(error) = self.change(|_| ()) {
            // The next change writes them too.
            tracing::warn!(%error, "cannot remember that a client is connected");
        }
    }

    /// Stores a copy of a file.
    pub fn keep(&self, client: &str, path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
        files::create_own_dir(&self.copies)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = files::file_stem(&format!("{client}.{}.{name}", now_ms()));
        let mut copy = self.copies.join(&name);
        let mut number = 2;
        while copy.exists() {
            copy = self.copies.join(format!("{name}.{number}"));
            number += 1;
        }
        files::replace(&copy, bytes)?;
        Ok(copy)
    }

    /// Changes the copies of a file from which servers were removed, and deletes other copies of it: they contain
    /// credentials that have left the file.
    pub fn change_copies(&self, path: &Path, change: impl Fn(&[u8]) -> Option<Vec<u8>>) -> io::Result<()> {
        let steps = self.book().steps.clone();
        let copies = steps.iter().flat_map(|step| match step {
            Step::Imported { taken_out, .. } => taken_out.as_slice(),
            Step::Connected { .. }
            | Step::Disconnected { .. }
            | Step::Updated { .. }
            | Step::SkillGiven { .. }
            | Step::SkillTaken { .. }
            | Step::SetUp { .. } => &[],
        });
        for copy in copies.filter(|copy| copy.path == path) {
            if let Some(changed) = files::read_data(&copy.backup).ok().and_then(|bytes| change(&bytes)) {
                files::replace(&copy.backup, &changed)?;
            }
        }
        let mut outdated = Vec::new();
        self.change(|book| {
            let written = book.records.values_mut().flat_map(|record| &mut record.files);
            outdated.extend(written.filter(|file| file.path == path).filter_map(|file| file.backup.take()));
        })?;
        for copy in outdated {
            match std::fs::remove_file(copy) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut Book)) -> io::Result<()> {
        let _turn = self.writing.lock();
        let (mut next, seen) = (self.book().clone(), self.seen.lock().clone());
        let asks = self.asks.lock().clone();
        change(&mut next);
        for (client, first_ms) in &seen {
            if let Some(record) = next.records.get_mut(client) {
                record.seen_ms.get_or_insert(*first_ms);
            }
        }
        for (client, first_ms) in &asks {
            next.asks.entry(client.clone()).or_insert(*first_ms);
        }
        let surplus = next.steps.len().saturating_sub(STEPS);
        next.steps.drain(..surplus);
        let bytes = serde_json::to_vec_pretty(&next).map_err(io::Error::from)?;
        files::replace(&self.file, &bytes)?;
        *self.book() = next;
        self.seen.lock().retain(|client, _| !seen.contains_key(client));
        self.asks.lock().retain(|client, _| !asks.contains_key(client));
        Ok(())
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_connected_when_it_asked_and_that_is_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let (ledger, _) = Ledger::open(dir.path());
        assert!(!ledger.saw("cursor"), "nothing was added");
        let record = ConnectionRecord { over: Transport::Http, added_ms: 1, seen_ms: None, files: vec![] };
        ledger.connected("cursor", record).unwrap();
        assert!(ledger.saw("cursor") && !ledger.saw("cursor"));
        assert!(ledger.record("cursor").unwrap().seen_ms.is_some(), "known before it is written");
        ledger.write_seen();
        let (again, trouble) = Ledger::open(dir.path());
        assert!(trouble.is_none() && again.record("cursor").unwrap().seen_ms.is_some());
        again.disconnected("cursor", true).unwrap();
        let gone = Step::Disconnected { client: "cursor".into(), over: Transport::Http };
        assert_eq!((again.last(), again.record("cursor")), (Some(gone.clone()), None));
        again.forget(&gone).unwrap();
        assert_eq!(again.last(), None);
    }

    #[test]
    fn since_when_a_client_can_ask_its_user_is_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let (ledger, _) = Ledger::open(dir.path());
        assert_eq!(ledger.asks_since("cursor"), None);
        assert!(ledger.saw_asking("cursor") && !ledger.saw_asking("cursor"));
        let since = ledger.asks_since("cursor");
        assert!(since.is_some(), "known before it is written");
        ledger.write_seen();
        let (again, _) = Ledger::open(dir.path());
        assert_eq!(again.asks_since("cursor"), since);
        assert!(!again.saw_asking("cursor") && again.asks_since("zed").is_none());
    }

    #[test]
    fn requests_read_the_ledger_while_the_disk_takes_its_time() {
        let dir = tempfile::tempdir().unwrap();
        let (ledger, _) = Ledger::open(dir.path());
        let record = ConnectionRecord { over: Transport::Http, added_ms: 1, seen_ms: None, files: vec![] };
        ledger.connected("cursor", record).unwrap();
        ledger.choose("cursor", |choices| choices.profile = Some("work".into())).unwrap();
        let _writing = ledger.writing.lock();
        assert!(ledger.saw("cursor"));
        assert_eq!(ledger.choices("cursor").profile.as_deref(), Some("work"));
        assert!(ledger.record("cursor").unwrap().seen_ms.is_some());
    }

    #[test]
    fn copies_are_private_and_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let (ledger, _) = Ledger::open(dir.path());
        let path = Path::new("/x/mcp.json");
        let first = ledger.keep("cursor", path, b"1").unwrap();
        let second = ledger.keep("cursor", path, b"2").unwrap();
        assert_eq!(
            (std::fs::read(&first).unwrap(), std::fs::read(&second).unwrap()),
            (b"1".into(), b"2".into())
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&first).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
