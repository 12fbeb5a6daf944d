//! Creates and reads files and directories that belong to one user, and exports where they are and how they are
//! replaced, renamed and moved aside.

mod asides;
mod places;
mod rename;
mod replace;
mod spot;

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read},
    path::{Path, PathBuf},
};

pub use asides::{remove_asides, remove_with_asides, set_aside};
pub use places::{NoHome, Places};
pub use rename::rename;
pub use replace::{
    Access, bits_of, clear_temporaries, grant, remove_known, replace, replace_all, replace_known,
};

/// Makes everything this process creates from now on private to its user, including files created by libraries. To be
/// called first.
pub fn keep_new_files_private() {
    #[cfg(unix)]
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o077));
}

/// Creates a directory that only this user can access.
pub fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Creates a directory of Satchel's own below another, as [`create_private_dir`] does. Whatever else stands in its place is moved
/// aside.
///
/// # Errors
/// Any I/O error.
pub fn create_own_dir(dir: &Path) -> io::Result<()> {
    match create_private_dir(dir) {
        Err(_) if fs::symlink_metadata(dir).is_ok() && !dir.is_dir() => {
            set_aside(dir)?;
            create_private_dir(dir)
        }
        created => created,
    }
}

/// Encodes a name for a file name: letters, digits, `.`, `-` and `_` stay, everything else becomes `%XX`. Distinct
/// names never share a file, even on case-insensitive file systems.
pub fn file_stem(name: &str) -> String {
    use std::fmt::Write as _;
    let mut stem = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => stem.push(byte as char),
            b'.' if !stem.is_empty() => stem.push('.'),
            _ => {
                let _ = write!(stem, "%{byte:02x}");
            }
        }
    }
    stem
}

/// Maximum size of a data file of Satchel, in bytes.
const DATA: u64 = 512 * 1024 * 1024;

/// Reads a regular file of at most `most` bytes. Anything else, such as a pipe or an endless device, is refused without
/// blocking.
///
/// # Errors
/// Any I/O error; [`io::ErrorKind::FileTooLarge`], and [`io::ErrorKind::Unsupported`] for anything but a regular file.
pub fn read_plain(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_plain(path)?;
    if file.metadata()?.len() > most {
        return Err(too_large(most));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

/// Reads a data file of Satchel. Whatever else stands in its place is moved aside, so that the file can be written again.
///
/// # Errors
/// As for [`read_plain`].
pub fn read_data(path: &Path) -> io::Result<Vec<u8>> {
    let read = read_plain(path, DATA);
    match read {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Err(match set_odd_aside(path) {
            Ok(Some(aside)) => {
                io::Error::new(error.kind(), format!("{error}; it was moved to {}", aside.display()))
            }
            Ok(None) | Err(_) => error,
        }),
        read => read,
    }
}

/// Moves aside what stands in the place of a file and is neither one nor a link that leads, or may lead, to one. Returns the new
/// path, if so.
///
/// # Errors
/// Any I/O error.
pub fn set_odd_aside(path: &Path) -> io::Result<Option<PathBuf>> {
    match fs::metadata(path) {
        Ok(about) if !about.is_file() => set_aside(path).map(Some),
        // A link to itself.
        Err(error) if is_endless(&error) => set_aside(path).map(Some),
        _ => Ok(None),
    }
}

#[cfg(unix)]
fn is_endless(error: &io::Error) -> bool {
    error.raw_os_error() == Some(nix::libc::ELOOP)
}

#[cfg(not(unix))]
fn is_endless(_: &io::Error) -> bool {
    false
}

/// Opens a regular file for reading. Anything else is refused without blocking.
///
/// # Errors
/// Any I/O error; [`io::ErrorKind::Unsupported`] for anything but a regular file.
pub fn open_plain(path: &Path) -> io::Result<File> {
    let odd = || io::Error::new(io::ErrorKind::Unsupported, "it is not a regular file");
    let plain = |about: fs::Metadata| if about.is_file() { Ok(()) } else { Err(odd()) };
    // Opening a device may have side effects.
    plain(fs::metadata(path).map_err(|error| if is_endless(&error) { odd() } else { error })?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY,
    );
    let file = options.open(path)?;
    plain(file.metadata()?)?;
    Ok(file)
}

fn too_large(most: u64) -> io::Error {
    let text = format!("it is larger than {} MB", most / 1024 / 1024);
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

/// Opens one of Satchel's files for appending; creates it for this user only. Links and anything but regular files are
/// refused.
///
/// # Errors
/// Any I/O error.
pub fn append_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK);
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "it is not a regular file"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::io::Write;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn special_files_are_neither_waited_for_nor_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let kind = |path: &Path| read_plain(path, 10).unwrap_err().kind();
        let link = |name: &str, to: &str| {
            let path = dir.path().join(name);
            std::os::unix::fs::symlink(to, &path).unwrap();
            path
        };
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let piped = link("piped", pipe.to_str().unwrap());
        let endless = link("endless", "/dev/zero");
        for odd in [&pipe, &piped, &endless, dir.path()] {
            assert_eq!(kind(odd), io::ErrorKind::Unsupported, "{}", odd.display());
            assert!(append_private(odd).is_err(), "{}", odd.display());
        }
        let long = dir.path().join("long");
        fs::write(&long, "12345678901").unwrap();
        assert_eq!(kind(&long), io::ErrorKind::FileTooLarge);
        assert_eq!(kind(&dir.path().join("absent")), io::ErrorKind::NotFound);
        assert_eq!(read_plain(&long, 11).unwrap(), b"12345678901");
        let elsewhere = link("elsewhere", "long");
        assert!(append_private(&elsewhere).is_err(), "a log is never somewhere else");
        append_private(&dir.path().join("log")).unwrap().write_all(b"x").unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_stands_in_the_place_of_a_data_file_is_moved_aside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data.json");
        let there = || fs::symlink_metadata(&path).is_ok();
        for odd in ["pipe", "directory", "link", "itself"] {
            match odd {
                "pipe" => nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap(),
                "directory" => fs::create_dir(&path).unwrap(),
                "itself" => std::os::unix::fs::symlink(&path, &path).unwrap(),
                _ => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
            }
            let error = read_data(&path).unwrap_err();
            assert_eq!((error.kind(), there()), (io::ErrorKind::Unsupported, false), "{odd}: {error}");
            assert!(error.to_string().contains("moved to"), "{error}");
            replace(&path, b"new").unwrap();
            assert_eq!(read_data(&path).unwrap(), b"new");
            fs::remove_file(&path).unwrap();
        }
        fs::write(dir.path().join("elsewhere"), "kept").unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert_eq!(read_data(&path).unwrap(), b"kept", "a link to a file is one");
        assert!(set_odd_aside(&path).unwrap().is_none() && there());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 6, "nothing is lost");
    }

    #[test]
    fn what_stands_in_the_place_of_a_directory_is_moved_aside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("approvals");
        fs::write(&path, "kept").unwrap();
        create_own_dir(&path).unwrap();
        fs::write(path.join("one.json"), "{}").unwrap();
        create_own_dir(&path).unwrap();
        assert!(path.join("one.json").is_file(), "a directory stays");
        let kept = fs::read_dir(dir.path())
            .unwrap()
            .filter(|entry| fs::read(entry.as_ref().unwrap().path()).is_ok());
        assert_eq!(kept.count(), 1, "nothing is lost");
    }

    #[test]
    fn two_names_never_share_a_file() {
        let names = ["GitHub", "github", "git hub", "git%20hub", "..", "日本", "a.b"];
        let stems: std::collections::HashSet<_> =
            names.iter().map(|name| file_stem(name).to_lowercase()).collect();
        assert_eq!(stems.len(), names.len(), "{stems:?}");
        assert!(stems.iter().all(|stem| !stem.starts_with('.') && !stem.contains('/')));
    }
}
