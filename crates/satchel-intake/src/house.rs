//! What the hub lends to those who take servers in: the configuration and its one writer, the keychain, the steps that
//! can be undone, the audit log, and the surroundings of a command.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
};

use parking_lot::Mutex;
use serde_json::Value;

use crate::{
    clients::{ledger::Ledger, template::Ourselves},
    config::Config,
    files::Places,
    listings::Listings,
    model::{
        audit::AuditKind,
        control::{Change, Refusal},
    },
    platform::Environment,
    secrets::Secrets,
    upstream::environment::SearchPath,
};

/// What is not done yet.
pub type Doing<'a, Done> = Pin<Box<dyn Future<Output = Done> + Send + 'a>>;

/// Whose change it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    /// A person's, who accepts what runs after it, or the hub's own.
    Person,
    /// A program's. It loosens nothing that needs a person, except what the review of entries holds back.
    Program,
    /// From another setup: what it loosens waits like a change of the file by another program.
    Setup,
    /// From a text that no person was shown: what runs after it waits.
    Unseen,
}

/// Lends the parts of the hub, for the caller of one request.
pub trait House: Send + Sync {
    /// The configuration in force.
    fn config(&self) -> Arc<Config>;
    /// Where the files are.
    fn places(&self) -> &Places;
    /// The keychain, or what stands in for it.
    fn secrets(&self) -> &Secrets;
    /// What was written into other programs' files, and the steps that can be undone.
    fn edits(&self) -> &Ledger;
    /// Where entries come from and go to besides the configuration.
    fn entries(&self) -> &Entries;
    /// The environment of the hub.
    fn environment(&self) -> &Environment;
    /// Where programs are looked for.
    fn search_path(&self) -> &SearchPath;
    /// How clients reach Satchel.
    fn ourselves(&self) -> Ourselves;
    /// Does a person make this request, or the hub itself?
    fn is_for_a_person(&self) -> bool;
    /// Is what this server runs approved as its entry is now?
    fn is_accepted(&self, server: &str) -> bool;
    /// Writes an audit record with the caller as the actor.
    fn record(&self, kind: AuditKind, subject: &str, detail: &str);
    /// Takes the first lists of an imported server for approved, because it ran on this computer before.
    fn trust_imported<'a>(&'a self, server: &'a str) -> Doing<'a, ()>;
    /// Applies a change of the configuration.
    fn apply(&self, change: Change, hand: Hand) -> Doing<'_, Result<(), Refusal>>;
    /// Applies a change as the caller's, with all that follows from it.
    fn change(&self, change: Change) -> Doing<'_, Result<(), Refusal>>;
}

impl Hand {
    /// The hand of this caller.
    pub fn of(house: &dyn House) -> Self {
        if house.is_for_a_person() { Self::Person } else { Self::Program }
    }
}

/// Sources and destinations of entries besides the configuration.
#[derive(Debug)]
pub struct Entries {
    /// Removed entries since the hub started, by name. They may contain values that are stored nowhere else.
    pub removed: Mutex<BTreeMap<String, Value>>,
    /// The registries' lists.
    pub listings: Listings,
    /// The directories of bundles that are being imported and that no entry names yet.
    pub(crate) arriving: Mutex<BTreeSet<PathBuf>>,
}

impl Entries {
    /// Those of the hub with this data directory.
    pub fn new(data: &Path) -> Self {
        Self { removed: Mutex::default(), arriving: Mutex::default(), listings: Listings::new(data) }
    }
}
