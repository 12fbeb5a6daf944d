//! Secrets sealed under a passphrase, as one piece of JSON. Knows no file.
//!
//! Argon2id makes a key of the passphrase, XChaCha20-Poly1305 seals all names and values together. Every sealing uses a
//! new nonce.

use std::collections::BTreeMap;

use argon2::{Algorithm, Argon2, Params, Version};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use chacha20poly1305::{
    XChaCha20Poly1305, XNonce,
    aead::{Aead, KeyInit},
};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{Secret, SecretError};

const FORMAT: u32 = 1;
/// OWASP's first recommendation for Argon2id: 46 MiB, one pass, one lane.
const COSTS: Costs = Costs { memory_kib: 47_104, passes: 1, lanes: 1 };
/// Maximum passes and lanes for files that others may have written.
const MOST_WORK: u32 = 16;

/// Encrypted names and values, as written to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedSecrets {
    format: u32,
    kdf: String,
    #[serde(flatten)]
    costs: Costs,
    salt: String,
    nonce: String,
    sealed: String,
}

/// A derived key. A file keeps its original parameters, so they are written back unchanged.
pub(super) struct Key {
    costs: Costs,
    salt: [u8; 16],
    bytes: Zeroizing<[u8; 32]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Costs {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

/// Why decryption failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsealError {
    /// Wrong passphrase.
    #[error("the passphrase is wrong")]
    WrongPassphrase,
    /// The data are damaged.
    #[error("the sealed secrets are damaged: {0}")]
    Damaged(&'static str),
}

impl SealedSecrets {
    /// Maximum memory for decrypting another computer's file, in KiB.
    const FOREIGN: u32 = 256 * 1024;

    /// Encrypts secrets under a new key from this passphrase. CPU-bound: not for an async worker.
    ///
    /// # Errors
    /// If the system provides no random numbers.
    pub fn seal(values: &BTreeMap<String, Secret>, passphrase: &Secret) -> Result<Self, SecretError> {
        Self::of(values, &Key::new(passphrase)?)
    }

    /// Decrypts the secrets. CPU-bound too.
    ///
    /// # Errors
    /// [`UnsealError`], also if the parameters cost more than Satchel's own.
    pub fn unseal(&self, passphrase: &Secret) -> Result<BTreeMap<String, Secret>, UnsealError> {
        self.open(passphrase, Self::FOREIGN).map(|(_, values)| values)
    }

    pub(super) fn of(values: &BTreeMap<String, Secret>, key: &Key) -> Result<Self, SecretError> {
        let plain: BTreeMap<&str, &str> =
            values.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
        let plain = Zeroizing::new(serde_json::to_vec(&plain).map_err(failed)?);
        let nonce = random::<24>()?;
        let sealed = cipher(&key.bytes)
            .encrypt(&XNonce::from(nonce), plain.as_slice())
            .map_err(|_| SecretError::Failed("cannot encrypt".into()))?;
        Ok(Self {
            format: FORMAT,
            kdf: "argon2id".into(),
            costs: key.costs,
            salt: BASE64.encode(key.salt),
            nonce: BASE64.encode(nonce),
            sealed: BASE64.encode(sealed),
        })
    }

    pub(super) fn open(
        &self,
        passphrase: &Secret,
        most_kib: u32,
    ) -> Result<(Key, BTreeMap<String, Secret>), UnsealError> {
        let Costs { memory_kib, passes, lanes } = self.costs;
        let too_much = memory_kib > most_kib || passes > MOST_WORK || lanes > MOST_WORK;
        if self.format != FORMAT || self.kdf != "argon2id" || too_much {
            return Err(UnsealError::Damaged("it was written by another version"));
        }
        let decode = |text: &str| BASE64.decode(text).map_err(|_| UnsealError::Damaged("not base64"));
        let salt = decode(&self.salt)?.try_into().map_err(|_| UnsealError::Damaged("its salt"))?;
        let nonce: [u8; 24] =
            decode(&self.nonce)?.try_into().map_err(|_| UnsealError::Damaged("its nonce"))?;
        let bytes = derive(passphrase, &salt, self.costs).map_err(|_| UnsealError::Damaged("its costs"))?;
        let key = Key { costs: self.costs, salt, bytes };
        let plain = cipher(&key.bytes)
            .decrypt(&XNonce::from(nonce), decode(&self.sealed)?.as_slice())
            .map(Zeroizing::new)
            .map_err(|_| UnsealError::WrongPassphrase)?;
        let values: BTreeMap<String, String> =
            serde_json::from_slice(&plain).map_err(|_| UnsealError::Damaged("its content"))?;
        Ok((key, values.into_iter().map(|(name, value)| (name, Secret::new(value))).collect()))
    }
}

impl Key {
    pub(super) fn new(passphrase: &Secret) -> Result<Self, SecretError> {
        let salt = random::<16>()?;
        Ok(Self { costs: COSTS, salt, bytes: derive(passphrase, &salt, COSTS)? })
    }
}

fn derive(passphrase: &Secret, salt: &[u8; 16], costs: Costs) -> Result<Zeroizing<[u8; 32]>, SecretError> {
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

pub(super) fn failed(error: impl std::fmt::Display) -> SecretError {
    SecretError::Failed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_secrets_open_with_their_passphrase_alone_and_cost_no_more_than_is_spent() {
        let values = BTreeMap::from([("KEY".to_owned(), Secret::new("canary-3391"))]);
        let sealed = SealedSecrets::seal(&values, &Secret::new("horse")).unwrap();
        assert!(!serde_json::to_string(&sealed).unwrap().contains("canary"));
        assert_eq!(sealed.unseal(&Secret::new("horse")).unwrap()["KEY"].reveal(), "canary-3391");
        assert_eq!(sealed.unseal(&Secret::new("cow")), Err(UnsealError::WrongPassphrase));
        for costs in [Costs { memory_kib: 1 << 20, ..COSTS }, Costs { passes: 1 << 20, ..COSTS }] {
            let greedy = SealedSecrets { costs, ..sealed.clone() };
            assert!(matches!(greedy.unseal(&Secret::new("horse")), Err(UnsealError::Damaged(_))));
        }
        let cut = SealedSecrets { sealed: "!".into(), ..sealed };
        assert!(matches!(cut.unseal(&Secret::new("horse")), Err(UnsealError::Damaged(_))));
    }
}
