//! Records our changes to other programs' files, so that they can be shown and undone, and the user's choices per
//! client. Backups of the files lie beside it, readable by this user only.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use super::{connect::Written, table::Transport};
use crate::{clock::now_ms, files, model::clients::Surface};

/// Steps that can be taken back; older ones are forgotten with their copies.
const STEPS: usize = 100;

/// A client that we are connected to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionRecord {
    /// How it speaks to us.
    pub over: Transport,
    /// When, in milliseconds since the Unix epoch.
    pub added_ms: u64,
    /// When it asked us something for the first time since.
    #[serde(default)]
    pub seen_ms: Option<u64>,
    /// Every file our entry is in.
    pub files: Vec<Written>,
}

/// A file that servers were taken out of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenOut {
    /// The file.
    pub path: PathBuf,
    /// A copy of it as it was.
    pub backup: PathBuf,
    /// The fingerprint of what we left.
    pub after: String,
}

/// Something that can be taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Our entry went into a client's files.
    Connected {
        /// The client's id.
        client: String,
    },
    /// It came out again.
    Disconnected {
        /// The client's id.
        client: String,
        /// How it spoke to us.
        over: Transport,
    },
    /// Servers came in.
    Imported {
        /// Their names with us.
        servers: Vec<String>,
        /// Credentials that were stored for them.
        secrets: Vec<String>,
        /// Files they were taken out of.
        #[serde(default)]
        taken_out: Vec<TakenOut>,
    },
    /// A server was updated.
    Updated {
        /// Its name with us.
        server: String,
        /// Its entry as it was.
        before: serde_json::Value,
        /// Credentials that were stored for it.
        secrets: Vec<String>,
    },
    /// Parts of another setup were taken.
    SetUp {
        /// The parts by their ids, as they were; null for what was not there.
        before: BTreeMap<String, serde_json::Value>,
        /// Credentials that were stored for them.
        secrets: Vec<String>,
    },
}

/// What a user chose for one client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Choices {
    /// What it sees of us.
    pub surface: Surface,
    /// Servers, and tools as `server:tool`, that it does not see.
    pub hidden: BTreeSet<String>,
    /// The profile that it is bound to; of a name that there is none of, it sees nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Book {
    records: BTreeMap<String, ConnectionRecord>,
    steps: Vec<Step>,
    choices: BTreeMap<String, Choices>,
}

/// The ledger of one data directory.
#[derive(Debug)]
pub struct Ledger {
    file: PathBuf,
    copies: PathBuf,
    book: Mutex<Book>,
}

impl Ledger {
    /// Opens the ledger. A damaged one is set aside: our entries are then known by what is in them.
    pub fn open(data: &Path) -> (Self, Option<String>) {
        let file = data.join("connections.json");
        let (book, trouble) = match std::fs::read(&file).map(|bytes| serde_json::from_slice(&bytes)) {
            Ok(Ok(book)) => (book, None),
            Ok(Err(error)) => {
                let _ = files::rename(&file, &file.with_extension("damaged"));
                let text =
                    format!("the list of what was written into other programs' files was damaged ({error})");
                (Book::default(), Some(text))
            }
            Err(_) => (Book::default(), None),
        };
        (Self { file, copies: data.join("copies"), book: Mutex::new(book) }, trouble)
    }

    /// What was written for a client.
    pub fn record(&self, client: &str) -> Option<ConnectionRecord> {
        self.book().records.get(client).cloned()
    }

    /// What a user chose for a client.
    pub fn choices(&self, client: &str) -> Choices {
        self.choice(client, Choices::clone).unwrap_or_default()
    }

    /// A part of it; `None` where nothing was chosen.
    pub fn choice<T>(&self, client: &str, read: impl FnOnce(&Choices) -> T) -> Option<T> {
        self.book().choices.get(client).map(read)
    }

    /// The clients that are bound to a profile, each with its name.
    pub fn bound(&self) -> BTreeMap<String, String> {
        let book = self.book();
        let bound = book.choices.iter().filter_map(|(id, of)| Some((id.clone(), of.profile.clone()?)));
        bound.collect()
    }

    /// What a user chose for every client.
    pub fn all_choices(&self) -> BTreeMap<String, Choices> {
        self.book().choices.clone()
    }

    /// Changes what a user chose.
    pub fn choose(&self, client: &str, change: impl FnOnce(&mut Choices)) -> io::Result<()> {
        self.change(|book| change(book.choices.entry(client.to_owned()).or_default()))
    }

    /// Our entry is in these files now, or will be in a moment: written down before they are, so that it can be taken out
    /// whatever happens in between.
    pub fn connected(&self, client: &str, record: ConnectionRecord) -> io::Result<()> {
        self.change(|book| {
            book.records.insert(client.to_owned(), record);
            let step = Step::Connected { client: client.to_owned() };
            if book.steps.last() != Some(&step) {
                book.steps.push(step);
            }
        })
    }

    /// What was to be written was not. `record` is what holds instead.
    pub fn not_connected(&self, client: &str, record: Option<ConnectionRecord>) -> io::Result<()> {
        match record {
            Some(record) => self.change(|book| drop(book.records.insert(client.to_owned(), record))),
            None => self.disconnected(client, false),
        }
    }

    /// Every file that something was written into.
    pub fn files(&self) -> BTreeSet<PathBuf> {
        let book = self.book();
        let of_records = book.records.values().flat_map(|record| &record.files).map(|file| &file.path);
        let of_steps = book.steps.iter().flat_map(|step| match step {
            Step::Imported { taken_out, .. } => taken_out.as_slice(),
            Step::Connected { .. }
            | Step::Disconnected { .. }
            | Step::Updated { .. }
            | Step::SetUp { .. } => &[],
        });
        of_records.chain(of_steps.map(|file| &file.path)).cloned().collect()
    }

    /// Our entry is in no file of this client any more. `again` says that it may come back.
    pub fn disconnected(&self, client: &str, again: bool) -> io::Result<()> {
        self.change(|book| {
            let record = book.records.remove(client);
            book.steps.retain(|step| !matches!(step, Step::Connected { client: known } if known == client));
            if let (Some(record), true) = (record, again) {
                book.steps.push(Step::Disconnected { client: client.to_owned(), over: record.over });
            }
        })
    }

    /// Servers came in.
    pub fn imported(
        &self,
        servers: Vec<String>,
        secrets: Vec<String>,
        taken_out: Vec<TakenOut>,
    ) -> io::Result<()> {
        self.change(|book| book.steps.push(Step::Imported { servers, secrets, taken_out }))
    }

    /// A server is about to be updated.
    pub fn updated(&self, server: String, before: serde_json::Value, secrets: Vec<String>) -> io::Result<()> {
        self.change(|book| book.steps.push(Step::Updated { server, before, secrets }))
    }

    /// Parts of another setup are about to be taken.
    pub fn set_up(
        &self,
        before: BTreeMap<String, serde_json::Value>,
        secrets: Vec<String>,
    ) -> io::Result<()> {
        self.change(|book| book.steps.push(Step::SetUp { before, secrets }))
    }

    /// The last step.
    pub fn last(&self) -> Option<Step> {
        self.book().steps.last().cloned()
    }

    /// The last step was taken back.
    pub fn forget(&self, step: &Step) -> io::Result<()> {
        self.change(|book| {
            if let Some(at) = book.steps.iter().rposition(|known| known == step) {
                book.steps.remove(at);
            }
        })
    }

    /// A client asked us something. Returns whether that is news.
    pub fn saw(&self, client: &str) -> bool {
        let unseen = self.book().records.get(client).is_some_and(|record| record.seen_ms.is_none());
        if unseen {
            let seen = self.change(|book| {
                if let Some(record) = book.records.get_mut(client) {
                    record.seen_ms = Some(now_ms());
                }
            });
            if let Err(error) = seen {
                tracing::warn!(%error, client, "cannot remember that a client is connected");
            }
        }
        unseen
    }

    /// Keeps a copy of a file as it is now.
    pub fn keep(&self, client: &str, path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
        files::create_private_dir(&self.copies)?;
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

    fn change(&self, change: impl FnOnce(&mut Book)) -> io::Result<()> {
        let mut book = self.book();
        let mut next = book.clone();
        change(&mut next);
        let surplus = next.steps.len().saturating_sub(STEPS);
        next.steps.drain(..surplus);
        let bytes = serde_json::to_vec_pretty(&next).map_err(io::Error::from)?;
        files::replace(&self.file, &bytes)?;
        *book = next;
        drop(book);
        Ok(())
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
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
        let (again, trouble) = Ledger::open(dir.path());
        assert!(trouble.is_none() && again.record("cursor").unwrap().seen_ms.is_some());
        again.disconnected("cursor", true).unwrap();
        let gone = Step::Disconnected { client: "cursor".into(), over: Transport::Http };
        assert_eq!((again.last(), again.record("cursor")), (Some(gone.clone()), None));
        again.forget(&gone).unwrap();
        assert_eq!(again.last(), None);
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
