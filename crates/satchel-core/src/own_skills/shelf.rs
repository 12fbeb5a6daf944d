//! Keeps the person's skills: their files below the data directory, and beside them one record of where each came from, what a
//! person approved of it, and which agents' folders have it. What is recorded is written first, so that a crash leaves
//! nothing that Satchel does not know as its own.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{
    folder::{SkillFile, SkillFolder, is_name},
    place::{self, CopyState, PlaceError},
};
use crate::{clock::now_ms, files};

/// Maximum number of skills.
const SKILLS: usize = 500;

/// A file of a skill as it was when Satchel wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its path in the skill's folder.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// The SHA-256 of its bytes.
    pub sha256: String,
    /// May it be started as a program?
    #[serde(default)]
    pub program: bool,
}

/// A skill in an agent's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenCopy {
    /// What was written.
    pub files: Vec<Row>,
    /// When.
    pub at_ms: u64,
    /// The directories that were created for it, the outermost first.
    #[serde(default)]
    pub made: Vec<PathBuf>,
}

/// A skill that Satchel keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSkill {
    /// Its description.
    pub description: String,
    /// Where it came from: a directory, an archive, or a server's skill.
    pub from: String,
    /// When it was added.
    pub added_ms: u64,
    /// Its files.
    pub files: Vec<Row>,
    /// The fingerprint that a person approved.
    #[serde(default)]
    pub approved: Option<String>,
    /// The agents' folders that have it.
    #[serde(default)]
    pub given: BTreeMap<PathBuf, GivenCopy>,
}

impl KeptSkill {
    /// A fingerprint of all its names and bytes.
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.files)
    }

    /// Has a person approved what it is now?
    pub fn is_approved(&self) -> bool {
        self.approved.as_ref() == Some(&self.fingerprint())
    }

    /// Does this folder have an older or newer one than the one that is kept?
    pub fn differs_from(&self, given: &GivenCopy) -> bool {
        self.files != given.files
    }
}

/// The person's skills of a data directory.
#[derive(Debug)]
pub struct SkillStore {
    directory: PathBuf,
    file: PathBuf,
    record: Mutex<BTreeMap<String, KeptSkill>>,
    /// Held while something changes: one change at a time.
    turn: Mutex<()>,
}

impl SkillStore {
    /// Opens it. A damaged record is moved aside: then nothing counts as given, and no folder of an agent is changed.
    pub fn open(data: &Path) -> (Self, Option<String>) {
        let file = data.join("skills.json");
        let (record, trouble) = match files::read_data(&file).map(|bytes| serde_json::from_slice(&bytes)) {
            Ok(Ok(record)) => (record, None),
            Ok(Err(error)) => {
                let _ = files::rename(&file, &file.with_extension("damaged"));
                let told = format!("the list of your skills was damaged ({error})");
                (BTreeMap::new(), Some(told))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => (BTreeMap::new(), None),
            Err(error) => {
                (BTreeMap::new(), Some(format!("the list of your skills cannot be read ({error})")))
            }
        };
        let (directory, record) = (data.join("skills"), Mutex::new(record));
        (Self { directory, file, record, turn: Mutex::default() }, trouble)
    }

    /// All skills, by name.
    pub fn all(&self) -> BTreeMap<String, KeptSkill> {
        self.record.lock().clone()
    }

    /// A skill.
    pub fn get(&self, name: &str) -> Option<KeptSkill> {
        self.record.lock().get(name).cloned()
    }

    /// Keeps a skill, in place of one of the same name. What agents have stays as it is.
    ///
    /// # Errors
    /// Any I/O error; then nothing has changed.
    pub fn keep(&self, skill: &SkillFolder, from: &str) -> io::Result<KeptSkill> {
        let _turn = self.turn.lock();
        let known = self.get(&skill.name);
        if known.is_none() && self.record.lock().len() >= SKILLS {
            return Err(io::Error::other(format!("at most {SKILLS} skills are kept; remove one first")));
        }
        let files: Vec<Row> = skill.files.iter().map(SkillFile::row).collect();
        let directory = self.directory_of(&skill.name, &files)?;
        if !self.holds(&directory, &files) {
            place::remove_all(&directory)?;
            let parent = directory.parent().unwrap_or(&self.directory);
            let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
            place::write(parent, &name, &skill.files).map_err(io::Error::other)?;
        }
        let kept = KeptSkill {
            description: skill.description.clone(),
            from: from.to_owned(),
            added_ms: now_ms(),
            files,
            approved: known.as_ref().and_then(|known| known.approved.clone()),
            given: known.as_ref().map(|known| known.given.clone()).unwrap_or_default(),
        };
        self.put(&skill.name, kept.clone())?;
        if let Some(before) = known.filter(|before| before.files != kept.files)
            && let Ok(old) = self.directory_of(&skill.name, &before.files)
        {
            let _ = place::remove_all(&old);
        }
        Ok(kept)
    }

    /// The files of a skill, as they were added.
    ///
    /// # Errors
    /// If another program changed them.
    pub fn files(&self, name: &str, skill: &KeptSkill) -> io::Result<SkillFolder> {
        let directory = self.directory_of(name, &skill.files)?;
        let read = SkillFolder::read(&directory).map_err(io::Error::other)?;
        match read.files.iter().map(SkillFile::row).eq(skill.files.iter().cloned()) {
            true => Ok(read),
            false => Err(io::Error::other(format!("{} was changed by another program", directory.display()))),
        }
    }

    /// Notes that a person has approved what the skill is.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn approve(&self, name: &str, fingerprint: &str) -> io::Result<()> {
        let _turn = self.turn.lock();
        self.change(name, |skill| skill.approved = Some(fingerprint.to_owned()))
    }

    /// Removes a skill that no agent has.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let _turn = self.turn.lock();
        let Some(skill) = self.get(name) else { return Ok(()) };
        let directory = self.directory_of(name, &skill.files)?;
        let mut next = self.all();
        next.remove(name);
        self.write(next)?;
        place::remove_all(&directory)?;
        // Empty, unless another program has put something there.
        let _ = std::fs::remove_dir(self.directory.join(name));
        Ok(())
    }

    /// Writes an approved skill into an agent's folder. One that was given before must stand there as it was given, or be gone.
    ///
    /// # Errors
    /// [`PlaceError`]; then the folder is as it was before.
    pub fn give(&self, name: &str, agents: &Path) -> Result<(), PlaceError> {
        let _turn = self.turn.lock();
        let told = |error| PlaceError::Files { path: agents.join(name), error };
        // It may have been replaced since a person approved it.
        let Some(skill) = self.get(name).filter(KeptSkill::is_approved) else {
            return Err(PlaceError::Unapproved);
        };
        let folder = self.files(name, &skill).map_err(told)?;
        let before = skill.given.get(agents).cloned();
        let target = agents.join(name);
        let mut made = place::missing(agents);
        if let Some(before) = &before {
            match place::standing(&target, &before.files) {
                CopyState::AsGiven if before.files == skill.files => return Ok(()),
                CopyState::AsGiven => place::take(&target, &before.files, &[]).map_err(told)?,
                CopyState::Gone => {}
                CopyState::Changed(_) => return Err(PlaceError::Taken(target)),
            }
            made = before.made.iter().cloned().chain(made).collect();
            made.dedup();
        } else if std::fs::symlink_metadata(&target).is_ok() {
            return Err(PlaceError::Taken(target));
        }
        let given = GivenCopy { files: skill.files.clone(), at_ms: now_ms(), made };
        self.change(name, |skill| drop(skill.given.insert(agents.to_owned(), given))).map_err(told)?;
        let written = place::write(agents, name, &folder.files);
        if written.is_err() {
            // What is there is not ours.
            self.change(name, |skill| drop(skill.given.remove(agents))).map_err(told)?;
        }
        written
    }

    /// What lies in an agent's folder that was given the skill.
    pub fn standing(&self, name: &str, agents: &Path) -> Option<CopyState> {
        let skill = self.get(name)?;
        Some(place::standing(&agents.join(name), &skill.given.get(agents)?.files))
    }

    /// Takes a skill out of an agent's folder, where it must stand as it was given, or be gone. `leave`: only forgets it.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn take(&self, name: &str, agents: &Path, leave: bool) -> io::Result<()> {
        let _turn = self.turn.lock();
        let Some(given) = self.get(name).and_then(|skill| skill.given.get(agents).cloned()) else {
            return Ok(());
        };
        let directory = agents.join(name);
        if !leave {
            match place::standing(&directory, &given.files) {
                CopyState::AsGiven => place::take(&directory, &given.files, &given.made)?,
                CopyState::Gone => {}
                CopyState::Changed(_) => return Err(io::Error::other("it was changed meanwhile")),
            }
        }
        self.change(name, |skill| drop(skill.given.remove(agents)))
    }

    /// Where the files of a skill lie: the name of the directory is not the record's to choose.
    fn directory_of(&self, name: &str, rows: &[Row]) -> io::Result<PathBuf> {
        if !is_name(name) {
            return Err(io::Error::other(format!("\"{name}\" is no name of a skill")));
        }
        Ok(self.directory.join(name).join(&fingerprint(rows)[..16]))
    }

    fn holds(&self, directory: &Path, rows: &[Row]) -> bool {
        place::standing(directory, rows) == CopyState::AsGiven
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut KeptSkill)) -> io::Result<()> {
        let mut next = self.all();
        let Some(skill) = next.get_mut(name) else { return Ok(()) };
        change(skill);
        self.write(next)
    }

    fn put(&self, name: &str, skill: KeptSkill) -> io::Result<()> {
        let mut next = self.all();
        next.insert(name.to_owned(), skill);
        self.write(next)
    }

    fn write(&self, next: BTreeMap<String, KeptSkill>) -> io::Result<()> {
        let bytes = serde_json::to_vec_pretty(&next).map_err(io::Error::from)?;
        files::replace(&self.file, &bytes)?;
        *self.record.lock() = next;
        Ok(())
    }
}

impl SkillFile {
    /// Its row in a record.
    pub fn row(&self) -> Row {
        row(&self.path, &self.bytes, self.program)
    }
}

pub(super) fn row(path: &str, bytes: &[u8], program: bool) -> Row {
    Row { path: path.to_owned(), size: bytes.len() as u64, sha256: hex(&Sha256::digest(bytes)), program }
}

fn fingerprint(rows: &[Row]) -> String {
    let mut hash = Sha256::new();
    for row in rows {
        hash.update(format!("{}\0{}\0{}\n", row.path, row.sha256, row.program));
    }
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(text: &str) -> SkillFolder {
        let main = format!("---\nname: plants\ndescription: Counts.\n---\n{text}");
        let main = SkillFile { path: "SKILL.md".into(), bytes: main.into(), program: false };
        SkillFolder::of(vec![main], vec![]).unwrap()
    }

    #[test]
    fn what_took_the_place_of_an_approved_skill_is_not_given() {
        let (data, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (store, trouble) = SkillStore::open(data.path());
        assert_eq!(trouble, None);
        let first = store.keep(&skill("One"), "/one").unwrap();
        let agents = home.path().join("skills");
        assert!(matches!(store.give("plants", &agents), Err(PlaceError::Unapproved)));
        store.approve("plants", &first.fingerprint()).unwrap();
        store.keep(&skill("Two"), "/two").unwrap();
        assert!(matches!(store.give("plants", &agents), Err(PlaceError::Unapproved)));
        assert!(!agents.exists());
        store.keep(&skill("One"), "/one").unwrap();
        store.give("plants", &agents).unwrap();
        assert_eq!(store.standing("plants", &agents), Some(CopyState::AsGiven));
    }

    #[test]
    fn a_damaged_record_knows_nothing_and_no_folder_as_its_own() {
        let (data, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = SkillStore::open(data.path()).0;
        let kept = store.keep(&skill("One"), "/one").unwrap();
        store.approve("plants", &kept.fingerprint()).unwrap();
        store.give("plants", home.path()).unwrap();
        std::fs::write(data.path().join("skills.json"), "{").unwrap();
        let (store, trouble) = SkillStore::open(data.path());
        assert!(trouble.is_some() && store.all().is_empty());
        let kept = store.keep(&skill("Two"), "/two").unwrap();
        store.approve("plants", &kept.fingerprint()).unwrap();
        assert!(matches!(store.give("plants", home.path()), Err(PlaceError::Taken(_))));
        store.take("plants", home.path(), false).unwrap();
        assert!(home.path().join("plants/SKILL.md").exists());
    }
}
