//! Holds what the hub knows of clients: their tokens, our edits in their files, and what each of them may see.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use super::audience::Audiences;
use crate::{
    clients::{
        ledger::{Choices, Ledger},
        token::Tokens,
    },
    model::ServerName,
    scripts::Scripts,
};

/// Who watches which resources, counted.
type Watching = HashMap<(ServerName, String), usize>;

/// What is known of clients.
#[derive(Debug)]
pub(super) struct Clients {
    pub(super) tokens: Tokens,
    /// What was written into other programs' files.
    pub(super) edits: Ledger,
    /// How many choices of what a client sees were made.
    choices: watch::Sender<u64>,
    /// What clients see that do not see everything.
    pub(super) audiences: Audiences,
    watching: Mutex<Watching>,
    /// Profiles that were named in an address since the hub started.
    named: Mutex<BTreeSet<String>>,
    /// Scripts that they run.
    pub(super) scripts: Scripts,
}

impl Clients {
    pub(super) fn new(tokens: Tokens, edits: Ledger, scripts: Scripts) -> Self {
        let (choices, audiences) = (watch::Sender::new(0), Audiences::default());
        let (watching, named) = (Mutex::default(), Mutex::default());
        Self { tokens, edits, choices, audiences, watching, named, scripts }
    }

    /// A person chooses what a client sees; every client that is connected hears of it.
    ///
    /// # Errors
    /// Why the choice could not be kept; it is not in force then.
    pub(super) fn choose(&self, client: &str, change: impl FnOnce(&mut Choices)) -> std::io::Result<()> {
        self.edits.choose(client, change)?;
        self.chosen();
        Ok(())
    }

    /// What some client may see is different from before.
    pub(super) fn chosen(&self) {
        self.choices.send_modify(|made| *made += 1);
    }

    pub(super) fn follow_choices(&self) -> watch::Receiver<u64> {
        self.choices.subscribe()
    }

    /// A client named a profile in its address: what that has is in use.
    pub(super) fn names_profile(&self, profile: &str) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if !named.contains(profile) {
            named.insert(profile.to_owned());
        }
    }

    pub(super) fn named_profiles(&self) -> BTreeSet<String> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn watching(&self) -> MutexGuard<'_, Watching> {
        self.watching.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
