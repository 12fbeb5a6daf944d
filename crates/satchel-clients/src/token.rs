//! Bearer tokens: created once, shown once, stored only as hashes. A client may hold several, so connecting it again
//! does not lock out its existing configuration.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use parking_lot::{Mutex, MutexGuard};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::files;

/// Number of tokens per client; the oldest is dropped.
const KEPT: usize = 8;

/// Why a token could not be issued.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The id is invalid.
    #[error("\"{0}\" cannot be a client's id; use 1 to 64 letters, digits, _, - and .")]
    Id(String),
    /// The file cannot be written, or there are no random numbers.
    #[error("cannot keep the token: {0}")]
    Failed(String),
}

type Hash = [u8; 32];

/// All tokens.
#[derive(Debug)]
pub struct Tokens {
    file: PathBuf,
    /// Every request of a client reads it, so it is not held while the file is written.
    held: Mutex<Held>,
    /// Held while the file is written: one change at a time.
    writing: Mutex<()>,
}

#[derive(Debug, Default)]
struct Held {
    kept: BTreeMap<String, Vec<Hash>>,
    ephemeral: Vec<(String, Hash)>,
}

#[derive(Serialize, Deserialize, Default)]
struct TokenFile {
    clients: BTreeMap<String, Vec<String>>,
}

impl Tokens {
    /// Loads the stored tokens. A damaged file is moved aside; clients must then be connected again.
    pub fn open(data: &Path) -> (Self, Option<String>) {
        let file = data.join("clients.json");
        let read = match files::read_data(&file) {
            Ok(bytes) => serde_json::from_slice::<TokenFile>(&bytes).map_err(std::io::Error::from),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(TokenFile::default()),
            Err(error) => Err(error),
        };
        let (stored, trouble) = match read {
            Ok(stored) => (stored, None),
            // The next token would overwrite it, readable or not.
            Err(error) => {
                let place = match files::set_aside(&file) {
                    Ok(aside) => format!(" and set aside as {}", aside.display()),
                    // It was moved when it was read.
                    Err(gone) if gone.kind() == std::io::ErrorKind::NotFound => String::new(),
                    Err(error) => format!(" and could not be set aside ({error})"),
                };
                let trouble =
                    format!("the list of clients was damaged ({error}){place}; connect each client again");
                (TokenFile::default(), Some(trouble))
            }
        };
        let hash = |text: &String| -> Option<Hash> { URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok() };
        let kept = stored
            .clients
            .iter()
            .map(|(id, all)| (id.clone(), all.iter().filter_map(hash).collect()))
            .collect();
        let held = Mutex::new(Held { kept, ephemeral: vec![] });
        (Self { file, held, writing: Mutex::default() }, trouble)
    }

    /// Issues a token to a client. An ephemeral one is valid until this process exits and is never written.
    pub fn make(&self, client: &str, ephemeral: bool) -> Result<String, TokenError> {
        let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if client.is_empty() || client.len() > 64 || !client.chars().all(valid) {
            return Err(TokenError::Id(client.to_owned()));
        }
        let mut random = [0u8; 32];
        getrandom::fill(&mut random).map_err(|error| TokenError::Failed(error.to_string()))?;
        let token = format!("sat_{}", URL_SAFE_NO_PAD.encode(random));
        if ephemeral {
            let mut held = self.held();
            held.ephemeral.push((client.to_owned(), hash_of(&token)));
            // A bridge that is restarted over and over must not exhaust memory.
            let surplus = held.ephemeral.len().saturating_sub(1024);
            held.ephemeral.drain(..surplus);
            return Ok(token);
        }
        let _turn = self.writing.lock();
        let mut kept = self.held().kept.clone();
        let tokens = kept.entry(client.to_owned()).or_default();
        tokens.push(hash_of(&token));
        let surplus = tokens.len().saturating_sub(KEPT);
        tokens.drain(..surplus);
        self.write(&kept)?;
        self.held().kept = kept;
        Ok(token)
    }

    /// Revokes every token of a client.
    pub fn revoke(&self, client: &str) -> Result<(), TokenError> {
        let _turn = self.writing.lock();
        let mut kept = self.held().kept.clone();
        let had_one = kept.remove(client).is_some();
        if had_one {
            self.write(&kept)?;
        }
        let mut held = self.held();
        if had_one {
            held.kept = kept;
        }
        held.ephemeral.retain(|(owner, _)| owner != client);
        Ok(())
    }

    /// Clients with a valid token.
    pub fn holders(&self) -> BTreeSet<String> {
        let held = self.held();
        let kept = held.kept.iter().filter(|(_, all)| !all.is_empty()).map(|(id, _)| id);
        kept.chain(held.ephemeral.iter().map(|(owner, _)| owner)).cloned().collect()
    }

    /// Does a client have a valid token?
    pub fn holds(&self, client: &str) -> bool {
        let held = self.held();
        held.kept.get(client).is_some_and(|all| !all.is_empty())
            || held.ephemeral.iter().any(|(owner, _)| owner == client)
    }

    /// The client that a token belongs to, in constant time.
    pub fn owner(&self, token: &str) -> Option<String> {
        let asked = hash_of(token);
        let held = self.held();
        let kept = held.kept.iter().flat_map(|(id, all)| all.iter().map(move |hash| (id, hash)));
        let ephemeral = held.ephemeral.iter().map(|(id, hash)| (id, hash));
        let mut owner = None;
        for (id, hash) in kept.chain(ephemeral) {
            if bool::from(hash.ct_eq(&asked)) {
                owner = Some(id);
            }
        }
        owner.cloned()
    }

    fn write(&self, kept: &BTreeMap<String, Vec<Hash>>) -> Result<(), TokenError> {
        let text = |all: &Vec<Hash>| all.iter().map(|hash| URL_SAFE_NO_PAD.encode(hash)).collect();
        let stored = TokenFile { clients: kept.iter().map(|(id, all)| (id.clone(), text(all))).collect() };
        serde_json::to_vec_pretty(&stored)
            .map_err(std::io::Error::from)
            .and_then(|bytes| files::replace(&self.file, &bytes))
            .map_err(|error| TokenError::Failed(error.to_string()))
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock()
    }
}

fn hash_of(token: &str) -> Hash {
    Sha256::digest(token.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_let_in_while_the_disk_takes_its_time() {
        let dir = tempfile::tempdir().unwrap();
        let (tokens, _) = Tokens::open(dir.path());
        let token = tokens.make("cursor", false).unwrap();
        let _writing = tokens.writing.lock();
        assert_eq!(tokens.owner(&token).as_deref(), Some("cursor"));
        assert!(tokens.holds("cursor") && tokens.make("bridge", true).is_ok());
    }

    #[test]
    fn a_token_is_known_after_a_restart_and_never_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let (tokens, _) = Tokens::open(dir.path());
        let kept = tokens.make("cursor", false).unwrap();
        let ephemeral = tokens.make("bridge", true).unwrap();
        assert_eq!(tokens.owner(&kept).as_deref(), Some("cursor"));
        assert_eq!(tokens.owner(&ephemeral).as_deref(), Some("bridge"));
        let file = std::fs::read_to_string(dir.path().join("clients.json")).unwrap();
        assert!(!file.contains(&kept[4..]) && !file.contains("bridge"));
        let (again, _) = Tokens::open(dir.path());
        assert_eq!(again.owner(&kept).as_deref(), Some("cursor"));
        for wrong in ["", "sat_", &ephemeral, &kept[..kept.len() - 1]] {
            assert_eq!(again.owner(wrong), None);
        }
    }

    /// S5: a token has 256 bits, and a million guesses find none.
    #[test]
    fn neither_a_near_miss_nor_a_guess_finds_a_token() {
        let dir = tempfile::tempdir().unwrap();
        let (tokens, _) = Tokens::open(dir.path());
        let token = tokens.make("a", false).unwrap();
        let bits = URL_SAFE_NO_PAD.decode(token.strip_prefix("sat_").unwrap()).unwrap();
        assert_eq!(bits.len() * 8, 256);
        let found = |bits: &[u8]| tokens.owner(&format!("sat_{}", URL_SAFE_NO_PAD.encode(bits)));
        for bit in 0..256 {
            let mut near = bits.clone();
            near[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(found(&near), None, "bit {bit}");
        }
        let mut random = fastrand::Rng::with_seed(5);
        let mut guess = bits.clone();
        for _ in 0..10_000 {
            random.fill(&mut guess);
            assert_eq!(found(&guess), None);
        }
        assert_eq!(found(&bits).as_deref(), Some("a"), "the one that is meant is found");
        tokens.revoke("a").unwrap();
        assert!(tokens.owner(&token).is_none() && !tokens.holds("a"));
    }

    #[test]
    fn connecting_again_keeps_the_tokens_before_within_a_bound() {
        let dir = tempfile::tempdir().unwrap();
        let (tokens, _) = Tokens::open(dir.path());
        let all: Vec<String> = (0..=KEPT).map(|_| tokens.make("a", false).unwrap()).collect();
        assert_eq!(tokens.owner(&all[0]), None);
        assert!(all[1..].iter().all(|token| tokens.owner(token).is_some()));
        assert!(matches!(tokens.make("a b", false), Err(TokenError::Id(_))));
    }
}
