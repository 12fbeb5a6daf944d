//! How much one client may have in flight, so that one which floods harms only itself.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests in flight of one client.
pub(crate) const PER_CLIENT: usize = 128;

/// All clients' shares.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    of: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Shares {
    /// A place for one more request of this client; `None` where it has all of its share in flight.
    pub(crate) fn take(&self, client: &str) -> Option<OwnedSemaphorePermit> {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let share = of.entry(client.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(PER_CLIENT)));
        share.clone().try_acquire_owned().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_its_share_and_takes_nothing_from_others() {
        let shares = Shares::default();
        let mut held: Vec<_> = (0..PER_CLIENT).map(|_| shares.take("a").unwrap()).collect();
        assert!(shares.take("a").is_none());
        assert!(shares.take("b").is_some());
        held.pop();
        assert!(shares.take("a").is_some());
    }
}
