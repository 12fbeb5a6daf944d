//! The operating system's keychain, with its errors classified once.
//!
//! The stores are used directly over `keyring-core`, not through the `keyring` crate: that one looks for a store
//! once in a process's life, so a keychain that starts or is unlocked later would never be found.

use std::sync::Arc;

use parking_lot::Mutex;

use keyring_core::{CredentialStore, Entry, Error};

use super::{
    Secret, SecretError, lock,
    parts::{self, Items, Parted},
};
use crate::platform::Platform;

/// Items are stored under this service, with the secret's name as the user name.
const SERVICE: &str = "satchel";

/// Opened at first use, and again after a failure.
#[derive(Debug, Default)]
pub(super) struct Keychain {
    store: Mutex<Option<Arc<CredentialStore>>>,
}

impl Keychain {
    pub(super) fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        match limit(Platform::current()) {
            Some(limit) => Parted { items: self, limit }.get(name),
            None => self.read(name),
        }
    }

    pub(super) fn set(&self, name: &str, value: &Secret) -> Result<(), SecretError> {
        match limit(Platform::current()) {
            Some(limit) => Parted { items: self, limit }.set(name, value),
            None => self.write(name, value),
        }
    }

    pub(super) fn remove(&self, name: &str) -> Result<bool, SecretError> {
        match limit(Platform::current()) {
            Some(limit) => Parted { items: self, limit }.remove(name),
            None => self.delete(name),
        }
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

impl Items for Keychain {
    fn read(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        self.with_entry(name, |entry| match entry.get_password() {
            Ok(value) => Ok(Some(Secret::new(value))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(error),
        })
    }

    fn write(&self, name: &str, value: &Secret) -> Result<(), SecretError> {
        let written = || self.with_entry(name, |entry| entry.set_password(value.reveal()));
        match written() {
            // A person is asked for the password of the new one, in the service's own dialog.
            Err(SecretError::NotCreated(why)) => match create_keyring() {
                Ok(()) => written(),
                Err(error) => {
                    tracing::info!(%error, "no keyring was created");
                    Err(SecretError::NotCreated(why))
                }
            },
            other => other,
        }
    }

    fn delete(&self, name: &str) -> Result<bool, SecretError> {
        self.with_entry(name, |entry| match entry.delete_credential() {
            Ok(()) => Ok(true),
            Err(Error::NoEntry) => Ok(false),
            Err(error) => Err(error),
        })
    }
}

/// Maximum size of an item in UTF-16 units, on platforms where it is less than a credential may need.
fn limit(platform: Platform) -> Option<usize> {
    match platform {
        Platform::Windows => Some(parts::WINDOWS_ITEM),
        Platform::Linux | Platform::MacOs => None,
    }
}

/// May a write ask a person for a password where a read does not?
pub(super) fn may_ask(platform: Platform) -> bool {
    match platform {
        Platform::Linux | Platform::MacOs => true,
        Platform::Windows => false,
    }
}

/// The Linux store owns a runtime, which panics when dropped inside another one; on a plain thread it does not.
fn let_go(store: Option<Arc<CredentialStore>>) {
    if let Some(store) = store {
        // Not joined: an unresponsive bus must not delay the shutdown.
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

/// The name that a person sees of a keyring that Satchel had created.
#[cfg(target_os = "linux")]
const KEYRING: &str = "Default keyring";

/// Asks the service for its first keyring: new users, and those who are logged in without a password, have none.
#[cfg(target_os = "linux")]
fn create_keyring() -> Result<(), Error> {
    use secret_service::{EncryptionType, blocking::SecretService};
    // A test must not ask the person who runs it.
    if cfg!(test) {
        return Err(Error::NoDefaultStore);
    }
    let create = || {
        let service = SecretService::connect(EncryptionType::Dh)?;
        service.create_collection(KEYRING, "default").map(drop)
    };
    // Its connection has a runtime, which panics when dropped inside another one.
    let thread = std::thread::Builder::new().name("keyring".to_owned()).spawn(create);
    let created = thread.map_err(|error| Error::NoStorageAccess(Box::new(error)))?.join();
    created.map_err(|_| Error::NoDefaultStore)?.map_err(|error| Error::NoStorageAccess(Box::new(error)))
}

#[cfg(not(target_os = "linux"))]
fn create_keyring() -> Result<(), Error> {
    Err(Error::NoDefaultStore)
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

/// The meaning of a system error code. Messages are localized; codes are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ErrorMeaning {
    Locked,
    Absent,
}

/// Codes of Apple's Security framework and of Windows' Credential Manager.
fn said(platform: Platform, code: i64) -> Option<ErrorMeaning> {
    match (platform, code) {
        // errSecInteractionNotAllowed (nobody could be asked), errSecUserCanceled, errSecAuthFailed, errSecInteractionRequired.
        (Platform::MacOs, -25308 | -128 | -25293 | -25315) => Some(ErrorMeaning::Locked),
        // errSecNotAvailable, errSecNoSuchKeychain, errSecInvalidKeychain, errSecNoDefaultKeychain.
        (Platform::MacOs, -25291 | -25294 | -25295 | -25307) => Some(ErrorMeaning::Absent),
        // ERROR_NO_SUCH_LOGON_SESSION: started by a service or over the network, without an interactive logon.
        (Platform::Windows, 1312) => Some(ErrorMeaning::Absent),
        (Platform::MacOs | Platform::Windows | Platform::Linux, _) => None,
    }
}

/// The system's error code, if there is one.
#[cfg(target_os = "macos")]
fn code(cause: &(dyn std::error::Error + Send + Sync + 'static)) -> Option<i64> {
    cause.downcast_ref::<security_framework::base::Error>().map(|error| i64::from(error.code()))
}

/// The system's error code. Its type is private; its text contains the code, or the one constant that matters.
#[cfg(not(target_os = "macos"))]
fn code(cause: &(dyn std::error::Error + Send + Sync + 'static)) -> Option<i64> {
    let text = cause.to_string();
    match text.strip_prefix("Windows ")? {
        "ERROR_NO_SUCH_LOGON_SESSION" => Some(1312),
        other => other.strip_prefix("error code ")?.parse().ok(),
    }
}

/// keyring-core reports "platform failure" both for a missing and for a failing service. On systems without codes,
/// only the cause's text distinguishes them.
fn classify(error: &Error) -> SecretError {
    let cause = match error {
        Error::PlatformFailure(cause) | Error::NoStorageAccess(cause) => Some(cause),
        _ => None,
    };
    let text = cause.map_or_else(|| error.to_string(), ToString::to_string);
    let code = cause.and_then(|cause| code(cause.as_ref()));
    match code.and_then(|code| said(Platform::current(), code)) {
        Some(ErrorMeaning::Locked) => return SecretError::Locked(text),
        Some(ErrorMeaning::Absent) => return SecretError::Absent(text),
        None => {}
    }
    let lower = text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let unreachable = [
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
    ];
    match error {
        // Of kwalletd, which encrypts nothing without it.
        _ if says(&["libqca", "createdlgroup"]) => SecretError::LacksPackage(text),
        // "Result not returned": the service has no keyring that counts as the default one.
        _ if says(&["result not returned"]) => SecretError::NotCreated(text),
        _ if says(&["locked", "dismissed", "prompt"]) => SecretError::Locked(text),
        Error::NoDefaultStore => SecretError::Absent(text),
        Error::PlatformFailure(_) | Error::NoStorageAccess(_) if says(&unreachable) => {
            SecretError::Absent(text)
        }
        _ => SecretError::Failed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_apple_and_windows_are_recognised_by_code() {
        let check =
            |platform, code, expected| assert_eq!(said(platform, code), expected, "{platform:?} {code}");
        for locked in [-25308, -128, -25293, -25315] {
            check(Platform::MacOs, locked, Some(ErrorMeaning::Locked));
            check(Platform::Linux, locked, None);
        }
        for absent in [-25291, -25294, -25307] {
            check(Platform::MacOs, absent, Some(ErrorMeaning::Absent));
        }
        check(Platform::MacOs, -25299, None);
        check(Platform::Windows, 1312, Some(ErrorMeaning::Absent));
        check(Platform::Windows, 5, None);
    }

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn a_code_is_read_where_there_is_one() {
        let read = |text: &'static str| code(std::io::Error::other(text).into_inner().unwrap().as_ref());
        assert_eq!(read("Windows ERROR_NO_SUCH_LOGON_SESSION"), Some(1312));
        assert_eq!(read("Windows error code 5"), Some(5));
        assert_eq!(read("zbus error: error code 5"), None);
    }

    #[test]
    fn errors_without_a_code_are_recognised_by_text() {
        let said = |text: &'static str| classify(&Error::PlatformFailure(text.into()));
        assert!(matches!(said("the collection is locked"), SecretError::Locked(_)));
        assert!(matches!(said("SS error: result not returned from SS API"), SecretError::NotCreated(_)));
        assert!(matches!(said("SS error: prompt dismissed"), SecretError::Locked(_)));
        assert!(matches!(
            said("createDLGroup failed: maybe libqca-ossl is missing"),
            SecretError::LacksPackage(_)
        ));
        assert!(matches!(said("zbus error: ServiceUnknown"), SecretError::Absent(_)));
        assert!(matches!(said("something else"), SecretError::Failed(_)));
        assert!(matches!(classify(&Error::NoDefaultStore), SecretError::Absent(_)));
    }

    #[cfg(not(windows))]
    #[tokio::test]
    async fn a_keychain_that_can_be_read_but_not_written_is_known_after_the_first_attempt() {
        let dir = tempfile::tempdir().unwrap();
        let secrets = super::super::Secrets::open(dir.path());
        let store: Arc<CredentialStore> = keyring_core::mock::Store::new().unwrap();
        *secrets.inner.keychain.store.lock() = Some(store.clone());
        assert_eq!(secrets.try_writing().await, Ok(()));
        let locked = || Error::NoStorageAccess("SS error: result not returned from SS API".into());
        let entry = store.build(SERVICE, "KEY", None).unwrap();
        entry.as_any().downcast_ref::<keyring_core::mock::Cred>().unwrap().set_error(locked());
        let refused = secrets.set("KEY", Secret::new("x")).await;
        assert_eq!(refused, Err(classify(&locked())));
        assert_eq!(secrets.get("KEY").await, Ok(None), "it can be read");
        assert_eq!(secrets.try_writing().await, refused);
        secrets.set("KEY", Secret::new("x")).await.unwrap();
        assert_eq!(secrets.try_writing().await, Ok(()));
    }

    #[test]
    fn only_windows_has_small_items() {
        assert_eq!(limit(Platform::Windows), Some(1280));
        assert_eq!([limit(Platform::Linux), limit(Platform::MacOs)], [None, None]);
    }
}
