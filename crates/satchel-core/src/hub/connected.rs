//! Holds what the hub knows of clients: their tokens, our edits in their files, and what each of them may see.

use std::collections::{BTreeSet, HashMap};

use parking_lot::{Mutex, MutexGuard};

use tokio::sync::watch;

use super::audience::Audiences;
use crate::{
    clients::{
        ledger::{Choices, Ledger},
        token::Tokens,
    },
    model::ServerName,
    own_skills::SkillStore,
    scripts::Scripts,
};

/// A server, the number of its instance if not all callers share it, and a URI.
pub(super) type WatchKey = (ServerName, Option<u64>, String);

/// Number of watchers by resource.
type Watching = HashMap<WatchKey, usize>;

/// What is known about clients.
#[derive(Debug)]
pub(super) struct Clients {
    pub(super) tokens: Tokens,
    /// What Satchel wrote into other programs' files.
    pub(super) edits: Ledger,
    /// The person's skills, and which of them Satchel copied into agents' folders.
    pub(super) own_skills: SkillStore,
    /// Increases with every change of what a client sees.
    choices: watch::Sender<u64>,
    /// Cached catalogs of clients that do not see everything.
    pub(super) audiences: Audiences,
    watching: Mutex<Watching>,
    /// Profiles named in an endpoint address since the hub started.
    named: Mutex<BTreeSet<String>>,
    /// Scripts of clients.
    pub(super) scripts: Scripts,
}

impl Clients {
    pub(super) fn new(tokens: Tokens, edits: Ledger, own_skills: SkillStore, scripts: Scripts) -> Self {
        let (choices, audiences) = (watch::Sender::new(0), Audiences::default());
        let (watching, named) = (Mutex::default(), Mutex::default());
        Self { tokens, edits, own_skills, choices, audiences, watching, named, scripts }
    }

    /// Stores a person's choice for a client and notifies every connected client.
    ///
    /// # Errors
    /// Why it could not be stored; it is then not in effect.
    pub(super) fn choose(&self, client: &str, change: impl FnOnce(&mut Choices)) -> std::io::Result<()> {
        self.edits.choose(client, change)?;
        self.chosen();
        Ok(())
    }

    /// Signals that what some client sees has changed.
    pub(super) fn chosen(&self) {
        self.choices.send_modify(|made| *made += 1);
    }

    pub(super) fn follow_choices(&self) -> watch::Receiver<u64> {
        self.choices.subscribe()
    }

    /// Records that a client's address names a profile, whose servers are then in use.
    pub(super) fn names_profile(&self, profile: &str) {
        let mut named = self.named.lock();
        if !named.contains(profile) {
            named.insert(profile.to_owned());
        }
    }

    pub(super) fn named_profiles(&self) -> BTreeSet<String> {
        self.named.lock().clone()
    }

    pub(super) fn watching(&self) -> MutexGuard<'_, Watching> {
        self.watching.lock()
    }
}
