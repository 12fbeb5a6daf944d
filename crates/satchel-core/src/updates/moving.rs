//! Moves the program's bundle from a disk image, or from where macOS runs a download, into a folder of programs.
//!
//! Needed because clients' files and the login item name the program's path, and that path disappears with the image.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use tokio::process::Command;

use super::place::{PROGRAM, Successor, beside, run, swap};

/// Copies a bundle whole, without the mark of a download: a program with that mark runs from a random path again. Its signature
/// stays, and macOS checked it before it ran this program.
pub const DITTO: [&str; 2] = ["/usr/bin/ditto", "--noqtn"];

/// Copies the bundle of `program` into the first of `folders` that takes it, and returns what to start there. A bundle of the
/// same name there is replaced. `copier` is the command that copies a directory into another, such as [`DITTO`].
///
/// # Errors
/// Why no folder took it; every folder is as it was then.
pub async fn into_programs(program: &Path, folders: &[PathBuf], copier: &[&str]) -> io::Result<Successor> {
    let Some(bundle) = bundle_of(program) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this program is not part of an app bundle"));
    };
    let mut refused = io::Error::new(io::ErrorKind::NotFound, "there is no folder of programs");
    for folder in folders {
        match into_folder(bundle, folder, copier).await {
            Ok(place) => return Ok(Successor { program: place.join(PROGRAM), arguments: vec![] }),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// The bundle of a program: `Name.app/Contents/MacOS/program`.
pub(super) fn bundle_of(program: &Path) -> Option<&Path> {
    program.ancestors().nth(3).filter(|dir| dir.extension().is_some_and(|end| end == "app"))
}

async fn into_folder(bundle: &Path, folder: &Path, copier: &[&str]) -> io::Result<PathBuf> {
    let name = bundle.file_name().unwrap_or_default();
    let place = folder.join(name);
    let fresh = beside(&place, "moved");
    let _ = fs::remove_dir_all(&fresh);
    fs::create_dir_all(&fresh)?;
    let moved = async {
        copy(bundle, &fresh.join(name), copier).await?;
        take_place(&fresh.join(name), &place)
    };
    let moved = moved.await;
    let _ = fs::remove_dir_all(&fresh);
    moved.map(|()| place)
}

async fn copy(from: &Path, to: &Path, copier: &[&str]) -> io::Result<()> {
    let [program, arguments @ ..] = copier else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no command copies the bundle"));
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(from).arg(to);
    run(command, "copy").await?;
    match to.join(PROGRAM).is_file() {
        true => Ok(()),
        false => Err(io::Error::other("cannot copy: a part is missing")),
    }
}

/// Moves the new bundle to `place`. The one that stood there is deleted only after that.
fn take_place(new: &Path, place: &Path) -> io::Result<()> {
    if !place.exists() {
        return fs::rename(new, place);
    }
    let replaced = beside(place, "replaced");
    let _ = fs::remove_dir_all(&replaced);
    swap(place, new, &replaced)?;
    let _ = fs::remove_dir_all(&replaced);
    Ok(())
}

#[cfg(test)]
#[cfg(unix)] // cp
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const CP: [&str; 2] = ["cp", "-a"];

    /// A bundle in a disk image below `home`; returns its program.
    fn image(home: &Path) -> PathBuf {
        let bundle = home.join("Volumes/Satchel/Satchel.app");
        let program = bundle.join(PROGRAM);
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, "new").unwrap();
        symlink("satchel-app", bundle.join("Contents/MacOS/link")).unwrap();
        program
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
    }

    #[tokio::test]
    async fn a_bundle_moves_whole_into_the_first_folder() {
        let home = tempfile::tempdir().unwrap();
        let folders = [home.path().join("Applications"), home.path().join("mine")];
        let next = into_programs(&image(home.path()), &folders, &CP).await.unwrap();
        let place = folders[0].join("Satchel.app");
        assert_eq!(next, Successor { program: place.join(PROGRAM), arguments: vec![] });
        assert_eq!(fs::read_to_string(place.join("Contents/MacOS/link")).unwrap(), "new");
        assert!(place.join("Contents/MacOS/link").is_symlink());
        assert_eq!(names(&folders[0]), ["Satchel.app"]);
        assert!(!folders[1].exists());
    }

    #[tokio::test]
    async fn an_older_bundle_there_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        let program = image(home.path());
        let folder = home.path().join("Applications");
        let old = folder.join("Satchel.app/Contents/MacOS");
        fs::create_dir_all(&old).unwrap();
        fs::write(old.join("satchel-app"), "old").unwrap();
        fs::write(old.join("gone"), "").unwrap();
        into_programs(&program, std::slice::from_ref(&folder), &CP).await.unwrap();
        assert_eq!(fs::read_to_string(old.join("satchel-app")).unwrap(), "new");
        assert!(!old.join("gone").exists());
        assert_eq!(names(&folder), ["Satchel.app"]);
    }

    #[tokio::test]
    async fn the_next_folder_takes_it_where_the_first_one_cannot() {
        let home = tempfile::tempdir().unwrap();
        let program = image(home.path());
        fs::write(home.path().join("file"), "").unwrap();
        let folders = [home.path().join("file/Applications"), home.path().join("mine")];
        let next = into_programs(&program, &folders, &CP).await.unwrap();
        assert_eq!(next.program, folders[1].join("Satchel.app").join(PROGRAM));
    }

    #[tokio::test]
    async fn a_copy_that_fails_or_is_not_whole_leaves_the_folder_as_it_was() {
        let home = tempfile::tempdir().unwrap();
        let program = image(home.path());
        let folder = home.path().join("Applications");
        let old = folder.join("Satchel.app").join(PROGRAM);
        fs::create_dir_all(old.parent().unwrap()).unwrap();
        fs::write(&old, "old").unwrap();
        for copier in [&["false"][..], &["true"], &["mkdir", "-p"], &["no-such-program"], &[]] {
            into_programs(&program, std::slice::from_ref(&folder), copier).await.unwrap_err();
            assert_eq!(fs::read_to_string(&old).unwrap(), "old", "{copier:?}");
            assert_eq!(names(&folder), ["Satchel.app"], "{copier:?}");
        }
        let loose = home.path().join("satchel-app");
        fs::write(&loose, "").unwrap();
        into_programs(&loose, &[folder], &CP).await.unwrap_err();
    }
}
