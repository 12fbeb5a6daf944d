//! The encrypted file, for computers without a keychain, used only if the user chose it.
//!
//! All names and values are sealed as one piece (`sealed`), anew with every write.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{
    Secret, SecretError,
    sealed::{Key, SealedSecrets, UnsealError, failed},
};
use crate::files;

/// Maximum size of the file, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;
/// Maximum memory of the key derivation in files of older versions, in KiB.
const COSTLIEST: u32 = 4 * 1024 * 1024;

/// An unlocked file.
pub(super) struct Vault {
    file: PathBuf,
    key: Key,
    values: BTreeMap<String, Secret>,
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vault").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Vault {
    pub(super) fn open_or_create(file: &Path, passphrase: &Secret) -> Result<Self, SecretError> {
        if file.exists() {
            return Self::open(file, passphrase);
        }
        super::check_new_passphrase(passphrase)?;
        let vault = Self { file: file.to_owned(), key: Key::new(passphrase)?, values: BTreeMap::new() };
        vault.write()?;
        Ok(vault)
    }

    pub(super) fn open(file: &Path, passphrase: &Secret) -> Result<Self, SecretError> {
        let damaged = |what: String| SecretError::Failed(format!("{} is damaged: {what}", file.display()));
        let bytes = files::read_plain(file, LARGEST).map_err(failed)?;
        let sealed: SealedSecrets =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        let (key, values) = sealed.open(passphrase, COSTLIEST).map_err(|error| match error {
            UnsealError::WrongPassphrase => SecretError::WrongPassphrase,
            UnsealError::Damaged(what) => damaged(what.to_owned()),
        })?;
        Ok(Self { file: file.to_owned(), key, values })
    }

    pub(super) fn names(&self) -> BTreeSet<String> {
        self.values.keys().cloned().collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<Secret> {
        self.values.get(name).cloned()
    }

    pub(super) fn set(&mut self, name: &str, value: &Secret) -> Result<(), SecretError> {
        let old = self.values.insert(name.to_owned(), value.clone());
        self.write().inspect_err(|_| {
            match old {
                Some(old) => self.values.insert(name.to_owned(), old),
                None => self.values.remove(name),
            };
        })
    }

    pub(super) fn remove(&mut self, name: &str) -> Result<bool, SecretError> {
        let Some(old) = self.values.remove(name) else { return Ok(false) };
        if let Err(error) = self.write() {
            self.values.insert(name.to_owned(), old);
            return Err(error);
        }
        Ok(true)
    }

    fn write(&self) -> Result<(), SecretError> {
        let sealed = SealedSecrets::of(&self.values, &self.key)?;
        files::replace(&self.file, &serde_json::to_vec_pretty(&sealed).map_err(failed)?).map_err(failed)
    }
}
