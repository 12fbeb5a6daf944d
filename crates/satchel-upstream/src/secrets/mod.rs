//! Stores credentials in the operating system's keychain, or in an encrypted file if the user chose that. Only names
//! are stored in plain text.

mod escapes;
mod keychain;
mod parts;
pub mod redact;
mod sealed;
mod spellings;
mod vault;

use std::{
    collections::BTreeSet,
    fmt,
    ops::Deref,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use zeroize::{Zeroize, Zeroizing};

use crate::{
    files,
    model::{Code, control::Refusal, request::StoreKind},
    platform::Platform,
};
use keychain::Keychain;
pub use sealed::{SealedSecrets, UnsealError};
use vault::Vault;

/// A credential. Prints as `***`; its memory is cleared when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(Zeroizing::new(value.into()))
    }

    /// The value, for the environment or header that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A message that may contain secrets. Its memory is cleared when dropped.
pub struct Cleared(Value);

impl Cleared {
    /// Wraps a message.
    pub fn new(message: Value) -> Self {
        Self(message)
    }
}

impl Deref for Cleared {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl Drop for Cleared {
    fn drop(&mut self) {
        clear(&mut self.0);
    }
}

/// Clears the memory of a text that may contain a secret.
pub fn clear_text(text: &mut String) {
    text.zeroize();
}

fn clear(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(clear),
        Value::Object(fields) => fields.values_mut().for_each(clear),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Minimum number of characters of a new passphrase. Nothing limits how many an attacker who has the file can try.
pub const SHORTEST_PASSPHRASE: usize = 8;

/// Is this passphrase good enough to encrypt a new file?
///
/// # Errors
/// [`SecretError::Empty`] or [`SecretError::ShortPassphrase`].
pub fn check_new_passphrase(passphrase: &Secret) -> Result<(), SecretError> {
    match passphrase.reveal().chars().count() {
        0 => Err(SecretError::Empty("passphrase")),
        1..SHORTEST_PASSPHRASE => Err(SecretError::ShortPassphrase),
        _ => Ok(()),
    }
}

/// Why a secret could not be read or stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// No keychain service is running.
    #[error("no keychain is running, so secrets cannot be stored safely ({0})")]
    Absent(String),
    /// The keychain is locked, or the user declined to unlock it.
    #[error("the keychain is locked ({0})")]
    Locked(String),
    /// There is no keyring, and none was created.
    #[error("there is no keyring yet, and its dialog was closed or could not be shown ({0})")]
    NotCreated(String),
    /// The keychain's service runs without a package that it needs.
    #[error(
        "the keychain lacks a package that it needs to be used ({0}); kwalletd needs libqca's OpenSSL plugin"
    )]
    LacksPackage(String),
    /// The encrypted file is locked.
    #[error("the encrypted secrets file is locked")]
    VaultLocked,
    /// The passphrase does not open the encrypted file.
    #[error("this passphrase does not open the encrypted secrets file")]
    WrongPassphrase,
    /// Names are letters, digits, `_`, `-` and `.`.
    #[error("\"{0}\" cannot be the name of a secret; use letters, digits, _, - and .")]
    Name(String),
    /// An empty passphrase or value.
    #[error("the {0} is empty")]
    Empty(&'static str),
    /// A new passphrase that programs would guess.
    #[error("the passphrase is shorter than {SHORTEST_PASSPHRASE} characters")]
    ShortPassphrase,
    /// Any other error, with the store's message.
    #[error("the secret store failed: {0}")]
    Failed(String),
}

impl SecretError {
    /// The corresponding code, if there is one.
    pub fn code(&self) -> Option<Code> {
        match self {
            SecretError::Absent(_) | SecretError::LacksPackage(_) => Some(Code::KeychainAbsent),
            SecretError::Locked(_) | SecretError::NotCreated(_) => Some(Code::KeychainLocked),
            SecretError::VaultLocked => Some(Code::VaultLocked),
            SecretError::WrongPassphrase
            | SecretError::Name(_)
            | SecretError::Empty(_)
            | SecretError::ShortPassphrase
            | SecretError::Failed(_) => None,
        }
    }
}

impl From<SecretError> for Refusal {
    fn from(error: SecretError) -> Self {
        let code = match &error {
            SecretError::WrongPassphrase => Code::WrongPassphrase,
            SecretError::Name(_) => Code::BadName,
            SecretError::Empty(_) => Code::Empty,
            SecretError::ShortPassphrase => Code::ShortPassphrase,
            SecretError::Absent(_)
            | SecretError::Locked(_)
            | SecretError::NotCreated(_)
            | SecretError::LacksPackage(_)
            | SecretError::VaultLocked
            | SecretError::Failed(_) => error.code().unwrap_or(Code::SecretStore),
        };
        Refusal::new(code, error.to_string(), code.action())
    }
}

/// The item that is written to see whether the keychain can be. No reference can name it.
const WRITTEN: &str = "satchel/written";

/// The plain-text index: names, because not every keychain can list them, and the chosen store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SecretIndex {
    #[serde(default)]
    store: StoreKind,
    #[serde(default)]
    names: BTreeSet<String>,
}

/// The user's secrets. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Secrets {
    inner: Arc<Store>,
}

#[derive(Debug)]
struct Store {
    index_file: PathBuf,
    vault_file: PathBuf,
    keychain: Keychain,
    vault: Mutex<Option<Vault>>,
    /// Serializes changes of the index and of keychain items.
    writing: Mutex<()>,
    /// Why the last write into the keychain failed, if it did.
    unwritten: Mutex<Option<SecretError>>,
    /// Number of reads from a store.
    #[cfg(test)]
    reads: std::sync::atomic::AtomicUsize,
}

impl Secrets {
    /// Opens the secrets of this data directory. Reads nothing yet, so it can neither fail nor prompt.
    pub fn open(data: &Path) -> Self {
        Self {
            inner: Arc::new(Store {
                index_file: data.join("secrets.json"),
                vault_file: data.join("secrets.vault"),
                keychain: Keychain::default(),
                vault: Mutex::new(None),
                writing: Mutex::new(()),
                unwritten: Mutex::new(None),
                #[cfg(test)]
                reads: Default::default(),
            }),
        }
    }

    /// The value of a secret; `None` if there is none of that name.
    pub async fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        if is_name(name) { self.get_item(name).await } else { Ok(None) }
    }

    /// An internal item. Its name contains a slash, so that no reference can name it and no list shows it.
    pub async fn get_item(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        let name = name.to_owned();
        #[cfg(test)]
        self.inner.reads.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        self.blocking(move |inner| match inner.index()?.store {
            StoreKind::Keychain => inner.keychain.get(&name),
            StoreKind::File => inner.with_vault(|vault| Ok(vault.get(&name))),
        })
        .await
    }

    /// Number of reads from a store so far.
    #[cfg(test)]
    pub(crate) fn reads(&self) -> usize {
        self.inner.reads.load(std::sync::atomic::Ordering::SeqCst)
    }

    /// Stores or replaces an internal item.
    pub async fn set_item(&self, name: &str, value: Secret) -> Result<(), SecretError> {
        let name = name.to_owned();
        self.blocking(move |inner| {
            let _one = lock(&inner.writing);
            match inner.index()?.store {
                StoreKind::Keychain => inner.write(&name, &value),
                StoreKind::File => inner.with_vault(|vault| vault.set(&name, &value)),
            }
        })
        .await
    }

    /// Removes an internal item, if it exists.
    pub async fn remove_item(&self, name: &str) -> Result<(), SecretError> {
        let name = name.to_owned();
        self.blocking(move |inner| {
            let _one = lock(&inner.writing);
            match inner.index()?.store {
                StoreKind::Keychain => inner.keychain.remove(&name),
                StoreKind::File => inner.with_vault(|vault| vault.remove(&name)),
            }
            .map(|_| ())
        })
        .await
    }

    /// Stores or replaces a secret.
    pub async fn set(&self, name: &str, value: Secret) -> Result<(), SecretError> {
        if !is_name(name) {
            return Err(SecretError::Name(name.to_owned()));
        }
        if value.reveal().is_empty() {
            return Err(SecretError::Empty("value"));
        }
        let name = name.to_owned();
        self.blocking(move |inner| {
            let _one = lock(&inner.writing);
            let mut index = inner.index()?;
            match index.store {
                StoreKind::Keychain => inner.write(&name, &value)?,
                StoreKind::File => inner.with_vault(|vault| vault.set(&name, &value))?,
            }
            index.names.insert(name);
            inner.write_index(&index)
        })
        .await
    }

    /// Removes a secret; false if there was none.
    pub async fn remove(&self, name: &str) -> Result<bool, SecretError> {
        if !is_name(name) {
            return Ok(false);
        }
        let name = name.to_owned();
        self.blocking(move |inner| {
            let _one = lock(&inner.writing);
            let mut index = inner.index()?;
            let existed = match index.store {
                StoreKind::Keychain => inner.keychain.remove(&name)?,
                StoreKind::File => inner.with_vault(|vault| vault.remove(&name))?,
            };
            let known = index.names.remove(&name);
            inner.write_index(&index)?;
            Ok(existed || known)
        })
        .await
    }

    /// The names of all stored secrets, and their store.
    pub async fn names(&self) -> Result<(StoreKind, BTreeSet<String>), SecretError> {
        self.blocking(|inner| inner.index().map(|index| (index.store, index.names))).await
    }

    /// Can the keychain be written to? Many keychains can be read but not written, for example one that was never created.
    /// Where a write may ask a person for a password, nothing is written and the last write counts.
    ///
    /// # Errors
    /// Why not.
    pub async fn try_writing(&self) -> Result<(), SecretError> {
        self.blocking(|inner| {
            if keychain::may_ask(Platform::current()) {
                return inner.unwritten.lock().clone().map_or(Ok(()), Err);
            }
            let _one = lock(&inner.writing);
            inner.write(WRITTEN, &Secret::new("written"))?;
            inner.keychain.remove(WRITTEN).map(|_| ())
        })
        .await
    }

    /// Is the encrypted file in use and locked? A locked keychain shows only when it is accessed.
    ///
    /// # Errors
    /// If the list of names cannot be read.
    pub async fn is_locked(&self) -> Result<bool, SecretError> {
        self.blocking(|inner| {
            let in_file = inner.index()?.store == StoreKind::File;
            Ok(in_file && lock(&inner.vault).is_none())
        })
        .await
    }

    /// Switches to the encrypted file: creates it, or unlocks an existing one. Secrets in the keychain stay there but
    /// are no longer used.
    pub async fn use_vault(&self, passphrase: Secret) -> Result<(), SecretError> {
        if passphrase.reveal().is_empty() {
            return Err(SecretError::Empty("passphrase"));
        }
        self.blocking(move |inner| {
            let _one = lock(&inner.writing);
            let vault = Vault::open_or_create(&inner.vault_file, &passphrase)?;
            let index = SecretIndex {
                store: StoreKind::File,
                names: vault.names().into_iter().filter(|name| is_name(name)).collect(),
            };
            *lock(&inner.vault) = Some(vault);
            inner.write_index(&index)
        })
        .await
    }

    /// Unlocks the encrypted file until this process exits.
    pub async fn unlock(&self, passphrase: Secret) -> Result<(), SecretError> {
        self.blocking(move |inner| {
            if !inner.vault_file.exists() {
                return Err(SecretError::Failed("there is no encrypted secrets file".into()));
            }
            let vault = Vault::open(&inner.vault_file, &passphrase)?;
            *lock(&inner.vault) = Some(vault);
            Ok(())
        })
        .await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, SecretError> + Send + 'static,
    ) -> Result<T, SecretError> {
        let inner = self.inner.clone();
        // A keychain may show a dialog and wait for a person; that must not block the hub, nor last forever.
        let task = tokio::task::spawn_blocking(move || work(&inner));
        match tokio::time::timeout(std::time::Duration::from_secs(120), task).await {
            Ok(Ok(result)) => result,
            Ok(Err(failed)) => Err(SecretError::Failed(failed.to_string())),
            Err(_) => Err(SecretError::Locked("it did not answer for two minutes".into())),
        }
    }
}

/// Maximum size of the list of names, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;

impl Store {
    fn index(&self) -> Result<SecretIndex, SecretError> {
        match files::read_plain(&self.index_file, LARGEST) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_else(|error| self.rebuilt(&error))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(SecretIndex::default()),
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => Ok(self.rebuilt(&error)),
            Err(error) => {
                Err(SecretError::Failed(format!("cannot read {}: {error}", self.index_file.display())))
            }
        }
    }

    /// A new index without names: the secrets are stored elsewhere and remain accessible by name.
    fn rebuilt(&self, error: &dyn std::error::Error) -> SecretIndex {
        let aside = files::set_aside(&self.index_file)
            .map_or_else(|error| error.to_string(), |aside| aside.display().to_string());
        tracing::warn!(%error, aside, "the list of secret names was damaged and set aside");
        let store = if self.vault_file.exists() { StoreKind::File } else { StoreKind::Keychain };
        SecretIndex { store, names: BTreeSet::new() }
    }

    fn write_index(&self, index: &SecretIndex) -> Result<(), SecretError> {
        let bytes =
            serde_json::to_vec_pretty(index).map_err(|error| SecretError::Failed(error.to_string()))?;
        files::replace(&self.index_file, &bytes).map_err(|error| SecretError::Failed(error.to_string()))
    }

    fn write(&self, name: &str, value: &Secret) -> Result<(), SecretError> {
        let written = self.keychain.set(name, value);
        *self.unwritten.lock() = written.as_ref().err().cloned();
        written
    }

    fn with_vault<T>(
        &self,
        work: impl FnOnce(&mut Vault) -> Result<T, SecretError>,
    ) -> Result<T, SecretError> {
        work(lock(&self.vault).as_mut().ok_or(SecretError::VaultLocked)?)
    }
}

/// Can a reference name it?
fn is_name(name: &str) -> bool {
    let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !name.is_empty() && name.len() <= 128 && name.chars().all(valid)
}

/// Ignores poisoning: the data behind these locks is always consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_encrypted_file_keeps_secrets_and_shows_none() {
        let dir = tempfile::tempdir().unwrap();
        let secrets = Secrets::open(dir.path());
        secrets.use_vault(Secret::new("correct horse")).await.unwrap();
        secrets.set("API_KEY", Secret::new("canary-7719")).await.unwrap();
        assert_eq!(secrets.get("API_KEY").await.unwrap().unwrap().reveal(), "canary-7719");

        let again = Secrets::open(dir.path());
        assert_eq!(again.get("API_KEY").await, Err(SecretError::VaultLocked));
        assert_eq!(again.unlock(Secret::new("wrong")).await, Err(SecretError::WrongPassphrase));
        again.unlock(Secret::new("correct horse")).await.unwrap();
        assert_eq!(again.get("API_KEY").await.unwrap().unwrap().reveal(), "canary-7719");
        assert_eq!(again.names().await.unwrap(), (StoreKind::File, ["API_KEY".to_owned()].into()));
        for file in std::fs::read_dir(dir.path()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            assert!(!bytes.windows(11).any(|window| window == b"canary-7719"));
        }
        assert!(again.remove("API_KEY").await.unwrap());
        assert!(!again.remove("API_KEY").await.unwrap());
        assert_eq!(again.get("API_KEY").await, Ok(None));
    }

    #[tokio::test]
    async fn names_that_no_reference_could_hold_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let secrets = Secrets::open(dir.path());
        for name in ["", "a b", "a}", "ä"] {
            assert_eq!(secrets.set(name, Secret::new("x")).await, Err(SecretError::Name(name.into())));
        }
    }

    #[tokio::test]
    async fn a_damaged_list_of_names_costs_no_secret() {
        let dir = tempfile::tempdir().unwrap();
        let secrets = Secrets::open(dir.path());
        secrets.use_vault(Secret::new("correct horse")).await.unwrap();
        secrets.set("API_KEY", Secret::new("canary-7719")).await.unwrap();
        std::fs::write(dir.path().join("secrets.json"), "{\"store\": 7").unwrap();
        assert_eq!(secrets.get("API_KEY").await.unwrap().unwrap().reveal(), "canary-7719");
        let set_aside = std::fs::read_dir(dir.path()).unwrap().flatten();
        let mut names = set_aside.filter_map(|entry| entry.file_name().into_string().ok());
        assert!(names.any(|name| name.starts_with("secrets.json.damaged-")));
    }

    #[test]
    fn a_secret_never_prints() {
        assert_eq!(format!("{:?} {:#?}", Secret::new("x"), Some(Secret::new("x"))), "*** Some(\n    ***,\n)");
    }
}
