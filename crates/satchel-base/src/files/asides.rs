//! Moves damaged files aside and removes what was moved aside.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::rename::rename;

/// Moves a damaged file aside, never overwriting an earlier one, and returns the new path.
///
/// # Errors
/// Any I/O error; `path` is unchanged then.
pub fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    let seconds =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut aside = path.with_file_name(format!("{name}.damaged-{seconds}"));
    let mut again = 2;
    while fs::symlink_metadata(&aside).is_ok() {
        aside = path.with_file_name(format!("{name}.damaged-{seconds}-{again}"));
        again += 1;
    }
    rename(path, &aside)?;
    Ok(aside)
}

/// Removes a file, and everything moved aside under its name.
///
/// # Errors
/// Any I/O error; a part may remain.
pub fn remove_with_asides(path: &Path) -> io::Result<()> {
    let gone = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    };
    gone(fs::remove_file(path))?;
    remove_asides(path)
}

/// Removes everything moved aside under this file's name.
///
/// # Errors
/// Any I/O error; a part may remain.
pub fn remove_asides(path: &Path) -> io::Result<()> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Ok(());
    };
    let is_aside = |other: &str| {
        let number = other.strip_prefix(name).and_then(|rest| rest.strip_prefix(".damaged-"));
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
    };
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(is_aside) && !entry.file_type()?.is_dir() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_set_aside_replaces_no_earlier_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        let mut places = std::collections::BTreeSet::new();
        for text in ["one", "two", "three"] {
            fs::write(&path, text).unwrap();
            let aside = set_aside(&path).unwrap();
            assert_eq!(fs::read_to_string(&aside).unwrap(), text);
            places.insert(aside);
        }
        assert_eq!((places.len(), path.exists()), (3, false));
        fs::write(dir.path().join("a.json.damaged-by-hand"), "").unwrap();
        fs::write(dir.path().join("ba.json.damaged-1"), "").unwrap();
        remove_with_asides(&path).unwrap();
        assert!(places.iter().all(|place| !place.exists()));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "what others named is not ours");
        assert!(set_aside(&path).is_err(), "there is nothing to move");
    }
}
