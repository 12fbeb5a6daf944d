//! Keeps on disk which entry is about to be accepted while the configuration file is written. A hub that is killed
//! between the two accepts the entry at its next start, instead of holding back what a person has just written. Accepts
//! nothing but exactly that entry.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Review, launch, read};
use crate::{
    config::Config,
    files,
    model::{ServerConfig, ServerName},
    trust::Fingerprint,
};

/// An entry that was accepted before it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepting {
    /// Its server.
    pub name: String,
    /// Written by a person, not a program.
    pub by_person: bool,
    print: Fingerprint,
}

impl Review {
    /// No server's record has this name: they end in `.json`.
    fn accepting(&self) -> PathBuf {
        self.dir.join("accepting")
    }

    /// Records that this entry is accepted as soon as it is in the configuration file.
    ///
    /// # Errors
    /// If that cannot be written.
    pub async fn begin_accepting(
        &self,
        name: &ServerName,
        config: &ServerConfig,
        by_person: bool,
    ) -> Result<(), String> {
        let print = launch::item(name, config).print;
        let accepting = Accepting { name: name.to_string(), by_person, print };
        let text = serde_json::to_vec(&accepting).map_err(|error| error.to_string())?;
        let path = self.accepting();
        let written = read(move || files::replace(&path, &text)).await;
        written.map_err(|panicked| panicked.to_string())?.map_err(|error| error.to_string())
    }

    /// The entry of this configuration that was accepted and whose approval may not have been written.
    pub async fn unfinished(&self, config: &Config) -> Option<Accepting> {
        let path = self.accepting();
        let bytes = read(move || files::read_data(&path)).await.ok()?.ok()?;
        let accepting: Accepting = serde_json::from_slice(&bytes).ok()?;
        let (name, server) = config.servers().get_key_value(accepting.name.as_str())?;
        (launch::item(name, server).print == accepting.print).then_some(accepting)
    }

    /// The approval is written, or the entry was not.
    pub async fn end_accepting(&self) {
        let path = self.accepting();
        let _ = read(move || std::fs::remove_file(path)).await;
    }
}
