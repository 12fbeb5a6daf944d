//! Per-client quotas, so that a flooding client harms only itself.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum number of requests in flight per client.
pub(crate) const PER_CLIENT: usize = 128;

/// The shares of all clients.
#[derive(Debug)]
pub(crate) struct Shares {
    each: usize,
    of: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Shares {
    /// Gives each client this share.
    pub(crate) fn new(each: usize) -> Self {
        Self { each, of: Mutex::default() }
    }

    /// The share of each client.
    pub(crate) fn most(&self) -> usize {
        self.each
    }

    /// Takes a permit for this client; `None` if its share is used up.
    pub(crate) fn take(&self, client: &str) -> Option<OwnedSemaphorePermit> {
        self.of(client).try_acquire_owned().ok()
    }

    /// This client's share.
    pub(crate) fn of(&self, client: &str) -> Arc<Semaphore> {
        let mut of = self.of.lock();
        match of.get(client) {
            Some(share) => share.clone(),
            None => {
                of.entry(client.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(self.each))).clone()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_its_share_and_takes_nothing_from_others() {
        let shares = Shares::new(PER_CLIENT);
        let mut held: Vec<_> = (0..PER_CLIENT).map(|_| shares.take("a").unwrap()).collect();
        assert!(shares.take("a").is_none());
        assert!(shares.take("b").is_some());
        held.pop();
        assert!(shares.take("a").is_some());
    }
}
