//! The encrypted file, for computers without a keychain, used only if the user chose it.
//!
//! Argon2id makes a key of the passphrase, XChaCha20-Poly1305 seals all names and values as one piece. Every write
//! uses a new nonce.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use argon2::{Algorithm, Argon2, Params, Version};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use chacha20poly1305::{
    XChaCha20Poly1305, XNonce,
    aead::{Aead, KeyInit},
};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{Secret, SecretError};
use crate::files;

const FORMAT: u32 = 1;

/// An open file.
pub(super) struct Vault {
    file: PathBuf,
    /// What the key was made with. A file keeps the costs it was made with, so they are written back as read.
    costs: Costs,
    salt: [u8; 16],
    key: Zeroizing<[u8; 32]>,
    values: BTreeMap<String, Secret>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Costs {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

/// OWASP's first recommendation for Argon2id: 46 MiB, one pass, one lane.
const COSTS: Costs = Costs { memory_kib: 47_104, passes: 1, lanes: 1 };

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vault").field("file", &self.file).finish_non_exhaustive()
    }
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    format: u32,
    kdf: String,
    #[serde(flatten)]
    costs: Costs,
    salt: String,
    nonce: String,
    sealed: String,
}

impl Vault {
    pub(super) fn open_or_create(file: &Path, passphrase: &Secret) -> Result<Self, SecretError> {
        if file.exists() {
            return Self::open(file, passphrase);
        }
        let salt = random::<16>()?;
        let key = derive(passphrase, &salt, COSTS)?;
        let vault = Self { file: file.to_owned(), costs: COSTS, salt, key, values: BTreeMap::new() };
        vault.write()?;
        Ok(vault)
    }

    pub(super) fn open(file: &Path, passphrase: &Secret) -> Result<Self, SecretError> {
        let damaged = |what: &str| SecretError::Failed(format!("{} is damaged: {what}", file.display()));
        let bytes = std::fs::read(file).map_err(failed)?;
        let sealed: Sealed = serde_json::from_slice(&bytes).map_err(|error| damaged(&error.to_string()))?;
        if sealed.format != FORMAT || sealed.kdf != "argon2id" || sealed.costs.memory_kib > 4 * 1024 * 1024 {
            return Err(damaged("it was written by another version"));
        }
        let decode = |text: &str| BASE64.decode(text).map_err(|_| damaged("not base64"));
        let salt: [u8; 16] = decode(&sealed.salt)?.try_into().map_err(|_| damaged("its salt"))?;
        let nonce: [u8; 24] = decode(&sealed.nonce)?.try_into().map_err(|_| damaged("its nonce"))?;
        let key = derive(passphrase, &salt, sealed.costs)?;
        let plain = cipher(&key)
            .decrypt(&XNonce::from(nonce), decode(&sealed.sealed)?.as_slice())
            .map(Zeroizing::new)
            .map_err(|_| SecretError::WrongPassphrase)?;
        let values: BTreeMap<String, String> =
            serde_json::from_slice(&plain).map_err(|_| damaged("its content"))?;
        let values = values.into_iter().map(|(name, value)| (name, Secret::new(value))).collect();
        Ok(Self { file: file.to_owned(), costs: sealed.costs, salt, key, values })
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
        let plain: BTreeMap<&str, &str> =
            self.values.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
        let plain = Zeroizing::new(serde_json::to_vec(&plain).map_err(failed)?);
        let nonce = random::<24>()?;
        let sealed = cipher(&self.key)
            .encrypt(&XNonce::from(nonce), plain.as_slice())
            .map_err(|_| SecretError::Failed("cannot encrypt".into()))?;
        let sealed = Sealed {
            format: FORMAT,
            kdf: "argon2id".into(),
            costs: self.costs,
            salt: BASE64.encode(self.salt),
            nonce: BASE64.encode(nonce),
            sealed: BASE64.encode(sealed),
        };
        files::replace(&self.file, &serde_json::to_vec_pretty(&sealed).map_err(failed)?).map_err(failed)
    }
}

fn derive(passphrase: &Secret, salt: &[u8], costs: Costs) -> Result<Zeroizing<[u8; 32]>, SecretError> {
    let params = Params::new(costs.memory_kib, costs.passes, costs.lanes, Some(32)).map_err(failed)?;
    let mut key = Zeroizing::new([0u8; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.reveal().as_bytes(), salt, key.as_mut())
        .map_err(failed)?;
    Ok(key)
}

fn cipher(key: &[u8; 32]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.into())
}

fn random<const N: usize>() -> Result<[u8; N], SecretError> {
    let mut bytes = [0u8; N];
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn failed(error: impl std::fmt::Display) -> SecretError {
    SecretError::Failed(error.to_string())
}
