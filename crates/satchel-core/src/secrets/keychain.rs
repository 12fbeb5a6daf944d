//! The operating system's keychain. Its errors are classified here, once.
//!
//! The stores are used directly over `keyring-core`, not through the `keyring` crate: that one looks for a store
//! once in a process's life, so a keychain that starts or is unlocked later would never be found.

use std::sync::{Arc, Mutex};

use keyring_core::{CredentialStore, Entry, Error};

use super::{Secret, SecretError, lock};

/// Items are stored under this service, with the secret's name as the user name.
const SERVICE: &str = "satchel";

/// Opened at first use, and again after it failed.
#[derive(Debug, Default)]
pub(super) struct Keychain {
    store: Mutex<Option<Arc<CredentialStore>>>,
}

impl Keychain {
    pub(super) fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        self.with_entry(name, |entry| match entry.get_password() {
            Ok(value) => Ok(Some(Secret::new(value))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(error),
        })
    }

    pub(super) fn set(&self, name: &str, value: &Secret) -> Result<(), SecretError> {
        self.with_entry(name, |entry| entry.set_password(value.reveal()))
    }

    pub(super) fn remove(&self, name: &str) -> Result<bool, SecretError> {
        self.with_entry(name, |entry| match entry.delete_credential() {
            Ok(()) => Ok(true),
            Err(Error::NoEntry) => Ok(false),
            Err(error) => Err(error),
        })
    }

    fn with_entry<T>(&self, name: &str, work: impl Fn(&Entry) -> Result<T, Error>) -> Result<T, SecretError> {
        let known = lock(&self.store).clone();
        let was_open = known.is_some();
        let attempt = |store: Arc<CredentialStore>| work(&store.build(SERVICE, name, None)?);
        let result = match known {
            Some(store) => attempt(store),
            None => self.open().and_then(attempt),
        };
        match result {
            // The service may have been restarted since it was opened.
            Err(Error::PlatformFailure(_)) if was_open => {
                *lock(&self.store) = None;
                self.open().and_then(attempt).map_err(|error| classify(&error))
            }
            other => other.map_err(|error| classify(&error)),
        }
    }

    fn open(&self) -> Result<Arc<CredentialStore>, Error> {
        let store = platform_store()?;
        *lock(&self.store) = Some(store.clone());
        Ok(store)
    }
}

/// The Linux store owns a runtime of its own, which panics where it is dropped inside another. A plain thread has none.
fn let_go(store: Option<Arc<CredentialStore>>) {
    if let Some(store) = store {
        // Nobody waits for it: a bus that does not answer must not hold up the end of the hub.
        let _ = std::thread::Builder::new().name("keychain".to_owned()).spawn(move || drop(store));
    }
}

impl Drop for Keychain {
    fn drop(&mut self) {
        let_go(lock(&self.store).take());
    }
}

#[cfg(target_os = "linux")]
fn platform_store() -> Result<Arc<CredentialStore>, Error> {
    Ok(zbus_secret_service_keyring_store::Store::new()?)
}

#[cfg(target_os = "macos")]
fn platform_store() -> Result<Arc<CredentialStore>, Error> {
    Ok(apple_native_keyring_store::keychain::Store::new()?)
}

#[cfg(windows)]
fn platform_store() -> Result<Arc<CredentialStore>, Error> {
    Ok(windows_native_keyring_store::Store::new()?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
fn platform_store() -> Result<Arc<CredentialStore>, Error> {
    Err(Error::NoDefaultStore)
}

/// keyring-core says "platform failure" for a missing service as well as for a failing one; the cause's text is the
/// only thing that tells them apart.
fn classify(error: &Error) -> SecretError {
    let text = match error {
        Error::PlatformFailure(cause) | Error::NoStorageAccess(cause) => cause.to_string(),
        other => other.to_string(),
    };
    let lower = text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match error {
        _ if says(&["locked", "dismissed", "prompt"]) => SecretError::Locked(text),
        Error::NoDefaultStore => SecretError::Absent(text),
        Error::PlatformFailure(_) | Error::NoStorageAccess(_)
            if says(&[
                "serviceunknown",
                "not provided",
                "no such file",
                "connection refused",
                "not activatable",
                "address",
                "dbus_session_bus",
                "autolaunch",
                "i/o error",
                "zbus error",
            ]) =>
        {
            SecretError::Absent(text)
        }
        _ => SecretError::Failed(text),
    }
}
