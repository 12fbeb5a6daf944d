//! Unpacks a bundle (`.mcpb`, formerly `.dxt`) without trusting it: nothing outside its own directory, no links,
//! bounded in size, and completely or not at all.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{self, Cursor, Read, Write},
    path::{Component, Path, PathBuf},
};

use zip::{ZipArchive, read::ZipFile};

use super::{
    manifest::{Manifest, ManifestError},
    signature::{self, Signature},
};
use crate::files;

/// Maximum size of a bundle.
pub const PACKED: u64 = 512 * 1024 * 1024;
/// Maximum total size of its files.
const UNPACKED: u64 = 1024 * 1024 * 1024;
/// Maximum number of files, and of directories.
const FILES: usize = 50_000;
/// Maximum number of names in a path: deeper directories cannot be removed on every system.
const DEPTH: usize = 64;
/// Maximum size of the manifest.
const MANIFEST: u64 = 1024 * 1024;
/// Maximum compression ratio of large files and of all files together, against zip bombs.
const RATIO: u64 = 200;
const HARMLESS: u64 = 16 * 1024 * 1024;

/// An unpacked bundle.
#[derive(Debug, Clone, PartialEq)]
pub struct Unpacked {
    /// Its directory.
    pub directory: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// Its signature.
    pub signature: Signature,
}

/// Why a bundle was rejected. Nothing of it remains on disk.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// Not a bundle.
    #[error("this is not a valid bundle: {0}")]
    NotABundle(String),
    /// A file would be extracted outside its directory.
    #[error("the bundle is refused: its file \"{0}\" would be extracted outside of it")]
    Outside(String),
    /// It contains a link or device.
    #[error("the bundle is refused: \"{0}\" is a link or a device")]
    Special(String),
    /// It exceeds a size limit.
    #[error("the bundle is refused: unpacked it would be too large ({0})")]
    TooLarge(String),
    /// Its signature does not match its content.
    #[error("the bundle is refused: {0}; download it again from its source")]
    Altered(String),
    /// Its manifest is invalid.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// An I/O error.
    #[error("{0}")]
    Files(#[from] io::Error),
}

/// Unpacks a bundle into a new directory.
///
/// # Errors
/// [`BundleError`]; the directory does not exist then.
pub fn unpack(bytes: &[u8], directory: &Path) -> Result<Unpacked, BundleError> {
    let (bytes, signature) = unaltered(bytes)?;
    if bytes.len() as u64 > PACKED {
        return Err(BundleError::TooLarge(format!("{} MB packed", bytes.len() / 1024 / 1024)));
    }
    let mut archive = opened(bytes, FILES)?;
    let manifest = manifest(&mut archive)?;
    let parent = directory.parent().unwrap_or(Path::new("."));
    files::create_private_dir(parent)?;
    let unfinished = parent.join(format!(
        ".{}.{}.unpacking",
        directory.file_name().unwrap_or_default().to_string_lossy(),
        std::process::id()
    ));
    let _ = fs::remove_dir_all(&unfinished);
    let done = all(&mut archive, bytes.len() as u64, &unfinished)
        .and_then(|()| Ok(files::rename(&unfinished, directory)?));
    if done.is_err() {
        let _ = fs::remove_dir_all(&unfinished);
    }
    done.map(|()| Unpacked { directory: directory.to_owned(), manifest, signature })
}

/// The limits of an archive.
#[derive(Debug, Clone, Copy)]
pub struct Most {
    /// Maximum size of the archive, in bytes.
    pub packed: u64,
    /// Maximum total size of its files.
    pub unpacked: u64,
    /// Maximum number of files and directories.
    pub files: usize,
}

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedFile {
    /// Its path, which leads down only.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// May it be started as a program?
    pub program: bool,
}

/// The files of any archive in this format, which need not be a bundle, in memory.
///
/// # Errors
/// [`BundleError`]
pub fn files_of(archive: &[u8], most: &Most) -> Result<Vec<PackedFile>, BundleError> {
    let packed = archive.len() as u64;
    if packed > most.packed {
        return Err(BundleError::TooLarge(format!("{} MB packed", packed / 1024 / 1024)));
    }
    let mut archive = opened(archive, most.files)?;
    let (mut paths, mut files) = (Paths::default(), Vec::new());
    let mut left = most.unpacked.min(packed.saturating_mul(RATIO).max(HARMLESS));
    for index in 0..archive.len() {
        let mut entry = PackedEntry::at(&mut archive, index, &mut paths)?;
        if entry.file.is_dir() {
            continue;
        }
        let mut bytes = Vec::new();
        left = one(&mut entry.file, &mut bytes, &entry.name, left)?;
        files.push(PackedFile { path: entry.name, bytes, program: entry.program });
    }
    Ok(files)
}

/// The manifest of a bundle, without unpacking it.
///
/// # Errors
/// [`BundleError`]
pub fn look(bytes: &[u8]) -> Result<(Manifest, Signature), BundleError> {
    let (bytes, signature) = unaltered(bytes)?;
    let mut archive =
        ZipArchive::new(Cursor::new(bytes)).map_err(|error| BundleError::NotABundle(error.to_string()))?;
    Ok((manifest(&mut archive)?, signature))
}

/// The archive without its signature. Rejected if it was changed after signing, because it would carry the signer's
/// name.
fn unaltered(bytes: &[u8]) -> Result<(&[u8], Signature), BundleError> {
    let (archive, signature) = signature::apart(bytes);
    match (&signature, signature.caution()) {
        (Signature::Altered(_), Some(caution)) => Err(BundleError::Altered(caution.text)),
        _ => Ok((archive, signature)),
    }
}

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

fn opened(bytes: &[u8], files: usize) -> Result<Archive<'_>, BundleError> {
    let archive =
        ZipArchive::new(Cursor::new(bytes)).map_err(|error| BundleError::NotABundle(error.to_string()))?;
    match archive.len() > files {
        true => Err(BundleError::TooLarge(format!("{} files", archive.len()))),
        false => Ok(archive),
    }
}

/// A file or directory whose path was admitted.
struct PackedEntry<'a, R: Read> {
    file: ZipFile<'a, R>,
    name: String,
    below: PathBuf,
    program: bool,
}

impl<'a, 'b> PackedEntry<'a, Cursor<&'b [u8]>> {
    fn at(archive: &'a mut Archive<'b>, index: usize, paths: &mut Paths) -> Result<Self, BundleError> {
        let file = archive.by_index(index).map_err(|error| BundleError::NotABundle(error.to_string()))?;
        let name = file.name().map_err(|error| BundleError::NotABundle(error.to_string()))?.into_owned();
        let below = paths.admit(&name, file.is_dir())?;
        let mode = file.unix_mode().unwrap_or(0);
        // The file type in the upper bits, as in stat(2): regular files and directories only.
        if !matches!(mode & 0o170_000, 0 | 0o100_000 | 0o040_000) {
            return Err(BundleError::Special(name));
        }
        Ok(Self { file, name, below, program: mode & 0o111 != 0 })
    }
}

fn manifest(archive: &mut Archive<'_>) -> Result<Manifest, BundleError> {
    let mut file = archive.by_name("manifest.json").map_err(|error| {
        BundleError::NotABundle(format!("there is no manifest.json at its root ({error})"))
    })?;
    let mut bytes = Vec::new();
    file.by_ref().take(MANIFEST + 1).read_to_end(&mut bytes).map_err(damaged)?;
    if bytes.len() as u64 > MANIFEST {
        return Err(BundleError::TooLarge("its manifest".into()));
    }
    Ok(Manifest::read(&bytes)?)
}

fn damaged(error: io::Error) -> BundleError {
    BundleError::NotABundle(error.to_string())
}

fn all(archive: &mut Archive<'_>, packed: u64, into: &Path) -> Result<(), BundleError> {
    files::create_private_dir(into)?;
    let mut paths = Paths::default();
    let mut left = UNPACKED.min(packed.saturating_mul(RATIO).max(HARMLESS));
    for index in 0..archive.len() {
        let PackedEntry { mut file, name, below, program } = PackedEntry::at(archive, index, &mut paths)?;
        let path = into.join(below);
        if file.is_dir() {
            files::create_private_dir(&path)?;
            continue;
        }
        if let Some(parent) = path.parent() {
            files::create_private_dir(parent)?;
        }
        left = one(&mut file, &mut created(&path, program)?, &name, left)?;
    }
    Ok(())
}

/// The paths that were unpacked so far.
#[derive(Default)]
struct Paths {
    names: BTreeSet<String>,
    directories: BTreeSet<PathBuf>,
}

impl Paths {
    /// The path of another file or directory, below the bundle's own.
    fn admit(&mut self, name: &str, is_dir: bool) -> Result<PathBuf, BundleError> {
        let below = safe_path(name).ok_or_else(|| BundleError::Outside(name.to_owned()))?;
        // On many systems, names that differ only in case are one file.
        if !self.names.insert(name.to_lowercase()) {
            return Err(BundleError::NotABundle(format!("it contains \"{name}\" twice")));
        }
        if below.components().count() > DEPTH {
            return Err(BundleError::TooLarge(format!("it has more than {DEPTH} directories in each other")));
        }
        let inside = if is_dir { Some(below.as_path()) } else { below.parent() };
        for directory in inside.into_iter().flat_map(Path::ancestors) {
            if directory.as_os_str().is_empty() || !self.directories.insert(directory.to_owned()) {
                break;
            }
        }
        if self.directories.len() > FILES {
            return Err(BundleError::TooLarge(format!("more than {FILES} directories")));
        }
        Ok(below)
    }
}

fn created(path: &Path, program: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if program { 0o700 } else { 0o600 });
    #[cfg(not(unix))]
    let _ = program;
    options.open(path)
}

/// Writes one file and returns the remaining size limit. Sizes declared in the archive are not trusted.
fn one<R: Read + ?Sized>(
    file: &mut ZipFile<'_, R>,
    out: &mut impl Write,
    name: &str,
    left: u64,
) -> Result<u64, BundleError> {
    let most = left.min(file.compressed_size().saturating_mul(RATIO).max(HARMLESS));
    let mut written = 0u64;
    let mut buffer = vec![0u8; 64 * 1024];
    loop {
        let read = file.read(&mut buffer).map_err(damaged)?;
        if read == 0 {
            return Ok(left - written);
        }
        written += read as u64;
        if written > most {
            return Err(BundleError::TooLarge(format!("\"{name}\" alone")));
        }
        out.write_all(&buffer[..read])?;
    }
}

/// A path inside the bundle on every system: no root, drive, `..`, backslash, or name that is reserved on Windows.
pub fn safe_path(name: &str) -> Option<PathBuf> {
    if name.is_empty() || name.contains(['\\', ':', '\0']) {
        return None;
    }
    let kept = |part: &str| {
        let stem = part.split('.').next().unwrap_or(part).to_ascii_lowercase();
        let device = matches!(stem.as_str(), "con" | "prn" | "aux" | "nul")
            || (stem.len() == 4
                && (stem.starts_with("com") || stem.starts_with("lpt"))
                && stem.ends_with(|c: char| c.is_ascii_digit()));
        device || part.ends_with(['.', ' '])
    };
    let path = Path::new(name);
    let plain = path.components().all(|part| match part {
        Component::Normal(part) => part.to_str().is_some_and(|part| !kept(part)),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => false,
    });
    (plain && !name.starts_with('/')).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    const MANIFEST_TEXT: &str = r#"{
        "manifest_version": "0.3", "name": "x", "version": "1", "description": "d", "author": { "name": "a" },
        "server": { "type": "node", "entry_point": "s.js", "mcp_config": { "command": "node", "args": [] } }
    }"#;

    /// A bundle with these files; a name that ends in a slash is a directory.
    fn packed<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default();
        writer.start_file("manifest.json", options).unwrap();
        writer.write_all(MANIFEST_TEXT.as_bytes()).unwrap();
        for (name, bytes) in files {
            if name.ends_with('/') {
                writer.add_directory(name, options).unwrap();
                continue;
            }
            writer.start_file(name, options).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    /// The same bundle, with another type and mode of a file in its directory.
    fn with_mode(mut bundle: Vec<u8>, name: &str, mode: u32) -> Vec<u8> {
        let is_it = |at: &usize| {
            bundle[*at..].starts_with(b"PK\x01\x02") && bundle[at + 46..].starts_with(name.as_bytes())
        };
        let at = (0..bundle.len() - 46).find(is_it).unwrap();
        // Made on Unix, and the mode in the upper half of the external attributes.
        bundle[at + 5] = 3;
        bundle[at + 38..at + 42].copy_from_slice(&(mode << 16).to_le_bytes());
        bundle
    }

    /// Unpacks it. If it is refused, nothing remains.
    fn unpacked(bundle: &[u8]) -> Result<(tempfile::TempDir, Unpacked), BundleError> {
        let dir = tempfile::tempdir().unwrap();
        let done = unpack(bundle, &dir.path().join("in/bundle"));
        if done.is_err() {
            let left = fs::read_dir(dir.path().join("in")).map_or(0, Iterator::count);
            assert_eq!((left, fs::read_dir(dir.path()).unwrap().count() < 2), (0, true));
        }
        done.map(|done| (dir, done))
    }

    #[test]
    fn names_that_lead_out_or_meet_are_refused() {
        for name in ["../x", "/x", "a/../../x", "..\\x", "a\\x", "C:x", "nul", "a/COM1.txt", "a./x", "./x"] {
            let refused = unpacked(&packed([(name, &b"x"[..])])).unwrap_err();
            assert!(matches!(refused, BundleError::Outside(_)), "{name}: {refused}");
        }
        for names in [["a", "A"], ["a", "a/b"], ["d/x", "D/X"]] {
            unpacked(&packed(names.map(|name| (name, &b"x"[..])))).unwrap_err();
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_are_refused_and_nobody_gets_rights_from_a_bundle() {
        use std::os::unix::fs::PermissionsExt;
        let bundle = || packed([("s.js", &b"x"[..])]);
        for mode in [0o120_777, 0o020_666, 0o060_666, 0o010_644, 0o140_777] {
            let refused = unpacked(&with_mode(bundle(), "s.js", mode)).unwrap_err();
            assert!(matches!(refused, BundleError::Special(_)), "{mode:o}: {refused}");
        }
        for (mode, expected) in
            [(0o106_755, 0o700), (0o104_711, 0o700), (0o100_666, 0o600), (0o101_777, 0o700)]
        {
            let (_dir, done) = unpacked(&with_mode(bundle(), "s.js", mode)).unwrap();
            let now = fs::metadata(done.directory.join("s.js")).unwrap().permissions().mode();
            assert_eq!(now & 0o7777, expected, "{mode:o}");
        }
    }

    #[test]
    fn any_archive_is_read_into_memory_within_its_limits() {
        let most = Most { packed: 1_000_000, unpacked: 100_000, files: 4 };
        let archive = packed([("a/", &b""[..]), ("a/x", b"1"), ("b", b"22")]);
        let read: Vec<(String, usize)> = files_of(&archive, &most)
            .unwrap()
            .into_iter()
            .map(|file| (file.path, file.bytes.len()))
            .collect();
        assert_eq!(read[1..], [("a/x".to_owned(), 1), ("b".to_owned(), 2)]);
        let large = vec![0u8; 100_001];
        for archive in
            [packed([("x", &large[..])]), packed([("a", b"" as &[u8]), ("b", b""), ("c", b""), ("d", b"")])]
        {
            assert!(matches!(files_of(&archive, &most), Err(BundleError::TooLarge(_))));
        }
        assert!(matches!(files_of(&packed([("../x", &b""[..])]), &most), Err(BundleError::Outside(_))));
        assert!(matches!(files_of(b"no archive", &most), Err(BundleError::NotABundle(_))));
    }

    #[test]
    fn bombs_are_refused() {
        let refused = |bundle: &[u8]| {
            let refused = unpacked(bundle).unwrap_err();
            assert!(matches!(refused, BundleError::TooLarge(_)), "{refused}");
        };
        // Each file alone would be allowed.
        let zeros = vec![0u8; 4 * 1024 * 1024];
        let names = ["a", "b", "c", "d", "e"];
        refused(&packed(names.map(|name| (name, zeros.as_slice()))));
        refused(&packed([(format!("{}x", "d/".repeat(300)).as_str(), &b"x"[..])]));
        let nested =
            |number| format!("{}x", (0..60).map(|depth| format!("{number}-{depth}/")).collect::<String>());
        let nested: Vec<String> = (0..900).map(nested).collect();
        refused(&packed(nested.iter().map(|name| (name.as_str(), &b""[..]))));
    }

    #[test]
    fn what_a_bundle_contains_is_unpacked_as_it_is() {
        let files = [("server/lib/deep/s.js", &b"js"[..]), ("empty/", b""), ("é.txt", b"t")];
        let (_dir, done) = unpacked(&packed(files)).unwrap();
        assert_eq!(fs::read(done.directory.join("server/lib/deep/s.js")).unwrap(), b"js");
        assert!(done.directory.join("empty").is_dir() && done.directory.join("é.txt").is_file());
    }
}
