//! The followed folder: every computer writes one file of its own there and reads those of the others, so that whatever
//! syncs the folder never has two writers of one file. Decides nothing about what others wrote.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, Semaphore};

use super::{Agreed, ENDING, PartId, Parts, SetupError, SetupFile};
use crate::{
    clock::now_ms,
    files,
    model::left::{Left, LeftCause},
};

/// Maximum number of other computers' files.
const COMPUTERS: usize = 32;
/// Maximum number of directory entries.
const ENTRIES: usize = 4096;
/// Maximum size of the state file, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;

/// The followed folder, and the common state with each computer there.
#[derive(Debug)]
pub struct Following {
    file: PathBuf,
    known: Mutex<FollowState>,
    /// Serializes operations.
    pub turn: tokio::sync::Mutex<()>,
    /// Signalled when the folder, what is followed there, or what may be written there has changed.
    pub due: Notify,
    /// Limits visits of the folder to one at a time.
    pub visits: Arc<Semaphore>,
}

/// The stored state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FollowState {
    /// The folder; `None` if none is followed.
    pub folder: Option<PathBuf>,
    /// This computer's name there.
    pub computer: String,
    /// The common state, by computer.
    pub agreed: BTreeMap<String, Agreed>,
}

/// The content of the folder.
#[derive(Debug, Default)]
pub struct FolderContents {
    /// Other computers' setups, the newest of each.
    pub others: BTreeMap<String, SetupFile>,
    /// Files that cannot be read or written.
    pub troubles: Vec<Left>,
}

impl Following {
    /// Loads the state from this data directory.
    pub fn open(data: &Path) -> Self {
        let file = data.join("setup.json");
        let read = files::read_plain(&file, LARGEST).ok();
        let known = read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let (turn, due) = (tokio::sync::Mutex::default(), Notify::new());
        Self { file, known: Mutex::new(known), turn, due, visits: Arc::new(Semaphore::new(1)) }
    }

    /// The present state.
    pub fn known(&self) -> FollowState {
        self.lock().clone()
    }

    /// Replaces the state. Only while holding the turn.
    ///
    /// # Errors
    /// If it cannot be written; the previous state remains.
    pub fn remember(&self, next: FollowState) -> io::Result<()> {
        if *self.lock() == next {
            return Ok(());
        }
        files::replace(&self.file, &serde_json::to_vec(&next).map_err(io::Error::from)?)?;
        *self.lock() = next;
        Ok(())
    }

    /// This computer's name in setups. Only while holding the turn.
    ///
    /// # Errors
    /// If a new name cannot be stored.
    pub fn name(&self) -> io::Result<String> {
        let mut known = self.known();
        known.be_named();
        let name = known.computer.clone();
        self.remember(known)?;
        Ok(name)
    }

    fn lock(&self) -> MutexGuard<'_, FollowState> {
        self.known.lock()
    }
}

impl FollowState {
    /// Follows this folder. Common states of another folder are dropped.
    pub fn follow(&mut self, folder: PathBuf) {
        if self.folder.as_ref() != Some(&folder) {
            self.agreed.clear();
        }
        self.folder = Some(folder);
        self.be_named();
    }

    fn be_named(&mut self) {
        if self.computer.is_empty() {
            self.computer = name_of_this_computer();
        }
    }

    /// Updates this computer's file if its content changed, and reads the others'. Parts in `held` have not been
    /// accepted yet: for these, the previous version stays in the file. Blocks.
    pub fn visit(&self, folder: &Path, mut parts: Parts, held: &[PartId]) -> FolderContents {
        let mut found = FolderContents::default();
        let own = folder.join(format!("{}{ENDING}", self.computer));
        let before = SetupFile::read(&own).ok();
        for id in held {
            match before.as_ref().and_then(|before| before.parts.get(id)) {
                Some(value) => drop(parts.insert(id.clone(), value.clone())),
                None => drop(parts.remove(id)),
            }
        }
        if before.is_none_or(|before| before.parts != parts) {
            let setup =
                SetupFile { computer: self.computer.clone(), written_ms: now_ms(), parts, sealed: None };
            if let Err(error) = setup.write(&own) {
                found.troubles.push(left(&own, &error));
            }
        }
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                found.troubles.push(left(folder, &error.into()));
                return found;
            }
        };
        let ours = own.file_name().map(ToOwned::to_owned);
        let names = entries.take(ENTRIES).flatten().map(|entry| entry.file_name());
        let mut names: Vec<_> = names
            .filter(|name| Some(name) != ours.as_ref())
            .filter(|name| name.to_str().is_some_and(|name| name.ends_with(ENDING) && !name.starts_with('.')))
            .collect();
        names.sort();
        for name in names.into_iter().take(COMPUTERS) {
            let path = folder.join(name);
            match SetupFile::read(&path) {
                // A copy of this computer's own file, made by the sync program.
                Ok(setup) if setup.computer == self.computer || setup.computer.is_empty() => {}
                Ok(setup) => {
                    let newest = found
                        .others
                        .get(&setup.computer)
                        .is_none_or(|other| other.written_ms < setup.written_ms);
                    if newest {
                        found.others.insert(setup.computer.clone(), setup);
                    }
                }
                Err(error) => found.troubles.push(left(&path, &error)),
            }
        }
        found
    }
}

fn left(path: &Path, error: &SetupError) -> Left {
    let place = path.display().to_string();
    match error {
        SetupError::Newer => Left::because(place, LeftCause::Newer),
        SetupError::Taken => Left::because(place, LeftCause::PathTaken),
        SetupError::File(_) | SetupError::Other(_) => Left::new(place, error.to_string()),
    }
}

/// The host name, sanitized for a file name, with a unique suffix.
fn name_of_this_computer() -> String {
    let told = crate::platform::Environment::of_this_process();
    let named = ["HOSTNAME", "COMPUTERNAME"].iter().find_map(|name| told.get(name).map(ToOwned::to_owned));
    let host =
        named.or_else(|| String::from_utf8(files::read_plain(Path::new("/etc/hostname"), 256).ok()?).ok());
    let host: String = host
        .unwrap_or_default()
        .trim()
        .chars()
        .take_while(|c| *c != '.')
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .take(32)
        .collect::<String>()
        .to_lowercase();
    let mut bytes = [0u8; 2];
    // Without random numbers, use the time.
    if getrandom::fill(&mut bytes).is_err() {
        bytes = [now_ms().to_le_bytes()[0], now_ms().to_le_bytes()[1]];
    }
    let host = if host.is_empty() { "computer" } else { &host };
    format!("{host}-{:02x}{:02x}", bytes[0], bytes[1])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parts(value: &str) -> Parts {
        Parts::from([("server:a".parse().unwrap(), json!({ "command": value }))])
    }

    fn computer(name: &str) -> FollowState {
        FollowState { computer: name.into(), ..FollowState::default() }
    }

    #[test]
    fn each_computer_writes_its_own_file_and_reads_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let (desk, lap) = (computer("desk"), computer("lap"));
        assert!(desk.visit(dir.path(), parts("x"), &[]).others.is_empty());
        let found = lap.visit(dir.path(), parts("y"), &[]);
        assert_eq!(found.others["desk"].parts, parts("x"));
        std::fs::copy(dir.path().join("desk.satchel.json"), dir.path().join("desk (conflict).satchel.json"))
            .unwrap();
        std::fs::write(dir.path().join("odd.satchel.json"), "{").unwrap();
        let found = desk.visit(dir.path(), parts("z"), &[]);
        assert_eq!(found.others.keys().collect::<Vec<_>>(), ["lap"], "its own copy is no other computer");
        assert_eq!(found.troubles.len(), 1);
        assert_eq!(lap.visit(dir.path(), parts("y"), &[]).others["desk"].parts, parts("z"), "the newest");
    }

    #[test]
    fn parts_that_were_not_approved_here_are_not_shared() {
        let dir = tempfile::tempdir().unwrap();
        let (desk, lap) = (computer("desk"), computer("lap"));
        let held = ["server:a".parse().unwrap()];
        desk.visit(dir.path(), parts("x"), &held);
        assert!(lap.visit(dir.path(), Parts::new(), &[]).others["desk"].parts.is_empty());
        desk.visit(dir.path(), parts("x"), &[]);
        desk.visit(dir.path(), parts("evil"), &held);
        assert_eq!(lap.visit(dir.path(), Parts::new(), &[]).others["desk"].parts, parts("x"));
    }

    #[test]
    fn a_folder_is_remembered_and_another_one_begins_anew() {
        let dir = tempfile::tempdir().unwrap();
        let following = Following::open(dir.path());
        let mut known = following.known();
        known.follow("/a".into());
        known.agreed.insert("lap".into(), Agreed::default());
        following.remember(known.clone()).unwrap();
        let again = Following::open(dir.path()).known();
        assert_eq!(again, known);
        let name = again.computer.clone();
        known.follow("/b".into());
        assert!(known.agreed.is_empty() && known.computer == name && !name.is_empty());
    }
}
