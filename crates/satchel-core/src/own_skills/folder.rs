//! One skill in memory: every file of it, with its bytes. Reads a directory or an archive, without following a link, and
//! checks the rules that every agent has. Changes no byte and writes nothing.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    edit::frontmatter,
    files,
    registry::bundle::{self, BundleError, Most},
    trust::clean,
};

/// What a skill's folder has.
const MAIN: &str = "SKILL.md";
/// What every agent bears of one skill: its files, and their size in bytes; and the names in a path.
const FILES: usize = 512;
const SIZE: u64 = 16 * 1024 * 1024;
const DEPTH: usize = 16;
/// Maximum size of an archive, in bytes.
const PACKED: u64 = SIZE;
/// Maximum length of a name and of a description, in characters.
const NAME: usize = 64;
const DESCRIPTION: usize = 1_024;
/// What tools and systems leave behind, and files of credentials: no part of a skill.
const LEFT_OUT: [&str; 9] =
    [".git", ".hg", ".svn", "__pycache__", "node_modules", ".DS_Store", "Thumbs.db", "__MACOSX", ".env"];
/// Maximum number of left-out names that are told.
const TOLD: usize = 20;

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFolder {
    /// Its name, which its folder has wherever it lies.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The names of the other fields of its frontmatter.
    pub fields: Vec<String>,
    /// Its files, by path.
    pub files: Vec<SkillFile>,
    /// What lies beside them and is no part of it.
    pub left_out: Vec<String>,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// Its path in the skill's folder, with `/` on every system.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// May it be started as a program?
    pub program: bool,
}

/// Why something is no skill that Satchel keeps.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It breaks a rule: which.
    #[error("{0}")]
    Rule(String),
    /// A file of it leads elsewhere, or is none.
    #[error("\"{0}\" is a link or no ordinary file; put a copy in its place")]
    Special(String),
    /// A name in it would lead out of its folder, or means something else on another system.
    #[error("it has a file \"{0}\", a name that cannot be used in every folder and on every system")]
    Name(String),
    /// It exceeds a limit.
    #[error("it is too large: {0}")]
    TooLarge(String),
    /// A text has characters that nobody sees.
    #[error("{file} has a character that is not shown, in line {line}: {shown}")]
    Hidden {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The beginning of the line, with such characters written out.
        shown: String,
    },
    /// The archive cannot be used.
    #[error(transparent)]
    Archive(#[from] BundleError),
    /// A file cannot be read.
    #[error("{path} cannot be read: {error}")]
    Files {
        /// Its path.
        path: String,
        /// Why.
        error: io::Error,
    },
}

impl SkillFolder {
    /// Reads a directory. Links in it are refused, wherever they lead.
    ///
    /// # Errors
    /// [`FolderError`]
    pub fn read(directory: &Path) -> Result<Self, FolderError> {
        let mut reading =
            FolderReading { root: directory, files: Vec::new(), left_out: Vec::new(), bytes: 0 };
        reading.directory(Path::new(""), 1)?;
        Self::of(reading.files, reading.left_out)
    }

    /// Reads an archive (`.zip`, `.skill`), in which the skill lies at the root or in the only directory there.
    ///
    /// # Errors
    /// [`FolderError`]
    pub fn unpack(archive: &[u8]) -> Result<Self, FolderError> {
        let most = Most { packed: PACKED, unpacked: SIZE, files: FILES * 2 };
        let (mut files, mut left_out) = (Vec::new(), BTreeSet::new());
        for bundle::PackedFile { path, bytes, program } in bundle::files_of(archive, &most)? {
            match path.split('/').find(|part| is_left_out(part)) {
                Some(part) => drop(left_out.insert(part.to_owned())),
                None => files.push(SkillFile { path, bytes, program }),
            }
        }
        if !files.iter().any(|file| file.path == MAIN) {
            let top = |file: &SkillFile| Some(file.path.split_once('/')?.0.to_owned());
            let tops: BTreeSet<Option<String>> = files.iter().map(top).collect();
            if let (1, Some(Some(top))) = (tops.len(), tops.first()) {
                for file in &mut files {
                    file.path.drain(..=top.len());
                }
            }
        }
        Self::of(files, left_out.into_iter().collect())
    }

    /// Checks files that were read elsewhere.
    ///
    /// # Errors
    /// [`FolderError`]
    pub fn of(mut files: Vec<SkillFile>, left_out: Vec<String>) -> Result<Self, FolderError> {
        let rule = |text: String| Err(FolderError::Rule(text));
        files.sort_by(|one, other| one.path.cmp(&other.path));
        if files.len() > FILES {
            return Err(FolderError::TooLarge(format!("more than {FILES} files")));
        }
        if files.iter().map(|file| file.bytes.len() as u64).sum::<u64>() > SIZE {
            return Err(too_many_bytes());
        }
        let mut seen = BTreeSet::new();
        for file in &files {
            if bundle::safe_path(&file.path).is_none() || clean::visible(&file.path) != file.path {
                return Err(FolderError::Name(clean::visible(&file.path)));
            }
            if file.path.split('/').count() > DEPTH {
                return Err(FolderError::TooLarge(format!("more than {DEPTH} folders in each other")));
            }
            // On many systems, names that differ only in case are one file.
            if !seen.insert(file.path.to_lowercase()) {
                return rule(format!("it has \"{}\" twice, in another case", file.path));
            }
        }
        let Some(main) = files.iter().find(|file| file.path == MAIN) else {
            return rule(format!("there is no {MAIN}, written like this, at its top"));
        };
        let Ok(text) = std::str::from_utf8(&main.bytes) else {
            return rule(format!("{MAIN} is not UTF-8"));
        };
        let mut fields =
            frontmatter::texts(text).map_err(|why| FolderError::Rule(format!("{MAIN}: {why}")))?;
        let mut text_of = |key: &str| fields.remove(key).flatten().unwrap_or_default();
        let (name, description) = (text_of("name"), text_of("description"));
        if !is_name(&name) {
            return rule(format!(
                "the name in {MAIN} must be 1 to {NAME} of the characters a-z, 0-9 and - between them, but is \"{}\"",
                clean::visible(&name)
            ));
        }
        if description.trim().is_empty() || description.chars().count() > DESCRIPTION {
            return rule(format!("the description in {MAIN} must have 1 to {DESCRIPTION} characters"));
        }
        files.iter().try_for_each(hides_nothing)?;
        let fields = fields.into_keys().collect();
        Ok(Self { name, description, fields, files, left_out: left_out.into_iter().take(TOLD).collect() })
    }

    /// Its `SKILL.md`.
    pub fn main(&self) -> &str {
        let main = self.files.iter().find(|file| file.path == MAIN);
        main.and_then(SkillFile::text).unwrap_or_default()
    }
}

impl SkillFile {
    /// Its content, if it is a text.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok().filter(|text| !text.contains('\0'))
    }
}

/// Nothing can be removed from it, because agents get every byte as it is.
fn hides_nothing(file: &SkillFile) -> Result<(), FolderError> {
    let Some(text) = file.text() else { return Ok(()) };
    let Some(range) = clean::hidden(text).into_iter().next() else { return Ok(()) };
    let line = text[..range.start].matches('\n').count();
    let shown: String = text.lines().nth(line).unwrap_or_default().chars().take(60).collect();
    Err(FolderError::Hidden { file: file.path.clone(), line: line + 1, shown: clean::visible(&shown) })
}

/// May a skill have this name?
pub(super) fn is_name(name: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    name.len() <= NAME && name.split('-').all(is_part) && bundle::safe_path(name).is_some()
}

fn is_left_out(name: &str) -> bool {
    LEFT_OUT.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn too_many_bytes() -> FolderError {
    FolderError::TooLarge(format!("more than {} MiB", SIZE / 1024 / 1024))
}

/// A directory that is being read.
struct FolderReading<'a> {
    root: &'a Path,
    files: Vec<SkillFile>,
    left_out: Vec<String>,
    bytes: u64,
}

impl FolderReading<'_> {
    fn directory(&mut self, below: &Path, depth: usize) -> Result<(), FolderError> {
        if depth > DEPTH {
            return Err(FolderError::TooLarge(format!("more than {DEPTH} folders in each other")));
        }
        let path = self.root.join(below);
        let told = |error| FolderError::Files { path: path.display().to_string(), error };
        // What counts has fewer names, so that what is left out is bounded too.
        for (number, entry) in fs::read_dir(&path).map_err(told)?.enumerate() {
            if number > FILES * 2 {
                return Err(FolderError::TooLarge(format!("more than {FILES} files")));
            }
            let entry = entry.map_err(told)?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                return Err(FolderError::Name(name.to_string_lossy().into_owned()));
            };
            let below = below.join(name);
            if is_left_out(name) {
                self.left_out.push(slashes(&below));
                continue;
            }
            // Of the name itself: a link is not followed.
            let about = fs::symlink_metadata(entry.path()).map_err(told)?;
            if about.is_dir() {
                self.directory(&below, depth + 1)?;
            } else if about.is_file() {
                self.file(&below, &about)?;
            } else {
                return Err(FolderError::Special(clean::visible(&slashes(&below))));
            }
        }
        Ok(())
    }

    fn file(&mut self, below: &Path, about: &fs::Metadata) -> Result<(), FolderError> {
        if self.files.len() >= FILES {
            return Err(FolderError::TooLarge(format!("more than {FILES} files")));
        }
        let path = self.root.join(below);
        let bytes = match files::read_plain(&path, SIZE - self.bytes) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Err(too_many_bytes()),
            read => read.map_err(|error| FolderError::Files { path: path.display().to_string(), error })?,
        };
        // It may have become a link since.
        if fs::symlink_metadata(&path).is_ok_and(|about| !about.is_file()) {
            return Err(FolderError::Special(clean::visible(&slashes(below))));
        }
        self.bytes += bytes.len() as u64;
        self.files.push(SkillFile { path: slashes(below), bytes, program: is_program(about) });
        Ok(())
    }
}

fn slashes(below: &Path) -> String {
    let parts: Vec<String> =
        below.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    parts.join("/")
}

#[cfg(unix)]
fn is_program(about: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn is_program(_: &fs::Metadata) -> bool {
    false
}

/// Where a file of a skill lies below a directory. Its path was checked.
pub(super) fn below(directory: &Path, path: &str) -> PathBuf {
    path.split('/').fold(directory.to_owned(), |base, part| base.join(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SkillFile {
        SkillFile { path: path.into(), bytes: text.into(), program: false }
    }

    fn skill(name: &str) -> SkillFile {
        file(MAIN, &format!("---\nname: {name}\ndescription: Counts plants.\n---\nText.\n"))
    }

    fn write(directory: &Path, path: &str, text: &str) {
        let path = below(directory, path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_directory_is_read_byte_for_byte_and_what_is_no_part_of_it_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let main = "---\r\nname: plants\r\ndescription: Counts.\r\nallowed-tools: Bash\r\n---\r\nText";
        write(dir.path(), MAIN, main);
        write(dir.path(), "scripts/count.py", "print(12)\n");
        write(dir.path(), "scripts/__pycache__/count.pyc", "x");
        write(dir.path(), ".git/config", "x");
        write(dir.path(), ".env", "KEY=1");
        let read = SkillFolder::read(dir.path()).unwrap();
        assert_eq!((read.name.as_str(), read.description.as_str()), ("plants", "Counts."));
        assert_eq!(read.fields, ["allowed-tools"]);
        assert_eq!(read.files, [file(MAIN, main), file("scripts/count.py", "print(12)\n")]);
        let mut left_out = read.left_out;
        left_out.sort();
        assert_eq!(left_out, [".env", ".git", "scripts/__pycache__"]);
    }

    #[test]
    fn an_archive_may_have_the_skill_in_its_only_directory() {
        const ZIP: &str = "UEsDBBQAAAAAAAAAIVzPV2UuKgAAACoAAAAPAAAAcGxhbnRzL1NLSUxMLm1kLS0tCm5hbWU6IHBsYW50cwpkZXNjcmlwdGlvbjogQ291bnRzLgotLS0KUEsDBBQAAAAAAAAAIVwjUxf6BQAAAAUAAAANAAAAcGxhbnRzL3J1bi5zaGVjaG8KUEsDBBQAAAAAAAAAIVyDFtyMAQAAAAEAAAAKAAAAX19NQUNPU1gveHhQSwECFAMUAAAAAAAAACFcz1dlLioAAAAqAAAADwAAAAAAAAAAAAAApIEAAAAAcGxhbnRzL1NLSUxMLm1kUEsBAhQDFAAAAAAAAAAhXCNTF/oFAAAABQAAAA0AAAAAAAAAAAAAAO2BVwAAAHBsYW50cy9ydW4uc2hQSwECFAMUAAAAAAAAACFcgxbcjAEAAAABAAAACgAAAAAAAAAAAAAApIGHAAAAX19NQUNPU1gveFBLBQYAAAAAAwADALAAAACwAAAAAAA=";
        let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, ZIP).unwrap();
        let read = SkillFolder::unpack(&bytes).unwrap();
        let files: Vec<_> = read.files.iter().map(|file| (file.path.as_str(), file.program)).collect();
        assert_eq!(files, [(MAIN, false), ("run.sh", true)]);
        assert_eq!((read.name.as_str(), read.left_out.as_slice()), ("plants", &["__MACOSX".to_owned()][..]));
        assert!(matches!(SkillFolder::unpack(&bytes[..300]), Err(FolderError::Archive(_))));
    }

    #[test]
    fn what_breaks_a_rule_is_refused_with_it() {
        let refused = |files: Vec<SkillFile>| SkillFolder::of(files, vec![]).unwrap_err().to_string();
        for name in ["Plants", "-a", "a--b", "a/b", "..", "nul", &"a".repeat(65), ""] {
            let told = refused(vec![skill(name)]);
            assert!(told.contains("name"), "{name}: {told}");
        }
        for (text, why) in [
            ("no frontmatter", "no frontmatter"),
            ("---\nname: a\n---\n", "description"),
            ("---\nname: a\ndescription: x\nname: b\n---\n", "twice"),
            ("---\n- a\n---\n", "not a map"),
        ] {
            assert!(refused(vec![file(MAIN, text)]).contains(why), "{text}");
        }
        assert!(refused(vec![file("skill.md", "x")]).contains("no SKILL.md"));
        assert!(
            refused(vec![skill("a"), file("x/SKILL.MD", "x"), file("X/skill.md", "x")]).contains("twice")
        );
        for name in ["../x", "/x", "a/../../x", "a\\x", "C:x", "nul", "a./x", "a\u{200b}b", "a\u{202e}b"] {
            let error = SkillFolder::of(vec![skill("a"), file(name, "x")], vec![]).unwrap_err();
            assert!(matches!(error, FolderError::Name(_)), "{name:?}: {error}");
        }
        let deep = vec!["d"; DEPTH + 1].join("/");
        let error = SkillFolder::of(vec![skill("a"), file(&deep, "x")], vec![]).unwrap_err();
        assert!(matches!(error, FolderError::TooLarge(_)), "{error}");
    }

    #[test]
    fn a_text_that_hides_something_is_refused_with_its_line() {
        for hidden in ["one\ntwo\u{200b}", "one\ntw\u{e0041}o", "one\n\u{1b}[8mtwo", "one\n\u{202e}two"] {
            let error = SkillFolder::of(vec![skill("a"), file("notes.md", hidden)], vec![]).unwrap_err();
            let FolderError::Hidden { file, line, shown } = &error else { panic!("{hidden:?}: {error}") };
            assert_eq!((file.as_str(), *line), ("notes.md", 2), "{shown}");
        }
        let ordinary = file("a.md", "caf\u{e9} \u{1f468}\u{200d}\u{1f4bb}\r\n\tx");
        let bytes = SkillFile { path: "a.png".into(), bytes: vec![0, 255, 254], program: false };
        assert!(SkillFolder::of(vec![skill("a"), ordinary, bytes], vec![]).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_in_a_directory_are_refused_wherever_they_lead() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "secret").unwrap();
        for target in [outside.path().join("secret"), outside.path().to_owned(), PathBuf::from(MAIN)] {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join(MAIN), skill("a").bytes).unwrap();
            std::os::unix::fs::symlink(&target, dir.path().join("link")).unwrap();
            let error = SkillFolder::read(dir.path()).unwrap_err();
            assert!(matches!(&error, FolderError::Special(name) if name == "link"), "{error}");
        }
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret"), dir.path().join(MAIN)).unwrap();
        assert!(matches!(SkillFolder::read(dir.path()), Err(FolderError::Special(_))));
    }

    #[test]
    fn a_directory_is_bounded_in_files_bytes_and_depth() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), MAIN, "x");
        let large = fs::File::create(dir.path().join("large")).unwrap();
        // Sparse: nothing of it is on the disk.
        large.set_len(1 << 40).unwrap();
        assert!(matches!(SkillFolder::read(dir.path()), Err(FolderError::TooLarge(_))));
        fs::remove_file(dir.path().join("large")).unwrap();
        write(dir.path(), &vec!["d"; DEPTH + 3].join("/"), "x");
        assert!(matches!(SkillFolder::read(dir.path()), Err(FolderError::TooLarge(_))));
        fs::remove_dir_all(dir.path().join("d")).unwrap();
        for at in 0..=FILES {
            fs::write(dir.path().join(format!("f{at}")), "").unwrap();
        }
        assert!(matches!(SkillFolder::read(dir.path()), Err(FolderError::TooLarge(_))));
    }
}
