//! Keeps the files of bundles: each in a directory named by the digest of the bundle, until no server uses it and no undo
//! could bring one back that does. Nothing that a bundle says chooses a name here.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::{
    config::{Config, file::text_of},
    house::House,
    model::{Code, control::Refusal},
    registry::bundle,
};

/// An unpacked bundle. Dropping it removes its directory, unless an entry names it by then.
pub(crate) struct UnpackedBundle<'a> {
    house: &'a dyn House,
    directory: PathBuf,
}

impl Drop for UnpackedBundle<'_> {
    fn drop(&mut self) {
        arriving(self.house).lock().remove(&self.directory);
        remove_unused(self.house);
    }
}

fn arriving(house: &dyn House) -> &Mutex<BTreeSet<PathBuf>> {
    &house.entries().arriving
}

fn root(house: &dyn House) -> PathBuf {
    house.places().data.join("bundles")
}

/// Where the files of this bundle belong: a directory that no server uses, or that of the server that `is_known`
/// recognizes as the same one.
pub(crate) fn directory(house: &dyn House, bytes: &[u8], is_known: impl Fn(&Path) -> bool) -> PathBuf {
    let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let (root, named) = (root(house), named(house));
    let mut directory = root.join(&digest);
    for number in 2.. {
        if is_known(&directory) || !is_named(&named, &directory) {
            break;
        }
        directory = root.join(format!("{digest}-{number}"));
    }
    directory
}

/// Unpacks a bundle into its [`directory`]. What is there already was left by another program, and is replaced.
///
/// # Errors
/// A [`Refusal`]; nothing of the bundle remains then.
pub(crate) fn unpack<'a>(
    house: &'a dyn House,
    bytes: &[u8],
    directory: &Path,
) -> Result<UnpackedBundle<'a>, Refusal> {
    let refused = |why: String| Refusal::new(Code::BadBundle, why, "");
    let busy = || {
        let message = "the same bundle is being imported, or was a moment ago";
        Refusal::new(Code::ChangedMeanwhile, message, "Import it again.")
    };
    if is_used(house, directory) || !arriving(house).lock().insert(directory.to_owned()) {
        return Err(busy());
    }
    let unpacked = UnpackedBundle { house, directory: directory.to_owned() };
    remove(directory).map_err(|error| refused(format!("cannot remove {}: {error}", directory.display())))?;
    bundle::unpack(bytes, directory).map_err(|error| refused(error.to_string()))?;
    Ok(unpacked)
}

/// Does an entry, or what can be undone, name this directory?
pub(crate) fn is_used(house: &dyn House, directory: &Path) -> bool {
    is_named(&named(house), directory)
}

/// Removes the files of bundles that no server uses. Without a configuration that can be read, it removes nothing.
pub fn remove_unused(house: &dyn House) {
    let Ok(text) = text_of(&house.places().config_file) else { return };
    if Config::parse(&text).is_err() {
        return;
    }
    let named = [text, named(house)].concat();
    for entry in fs::read_dir(root(house)).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let arrives = arriving(house).lock().iter().any(|other| name.contains(&*file_name(other)));
        if arrives || is_named(&named, &path) {
            continue;
        }
        if let Err(error) = remove(&path) {
            tracing::warn!(%error, path = %path.display(), "cannot remove the files of a bundle that no server uses");
        }
    }
}

/// All texts that may name a directory: the entries, those that can be put back, and the steps that can be undone.
fn named(house: &dyn House) -> String {
    let mut text = house.config().to_text().to_owned();
    text.extend(house.entries().removed.lock().values().map(ToString::to_string));
    text.push_str(&house.edits().steps_as_text());
    text
}

fn is_named(named: &str, directory: &Path) -> bool {
    named.contains(&*file_name(directory))
}

fn file_name(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// Removes a directory, a file or a link, if there is one.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}
