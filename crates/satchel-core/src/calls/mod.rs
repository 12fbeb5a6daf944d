//! State shared by calls in flight: concurrency limits, circuit breakers, ownership of tasks, results too long for a
//! client, and what a person tries. Each part guards its state with one short lock; none is held across an `await`.

pub mod breakers;
pub mod owned;
pub mod results;
pub mod slots;
pub mod tries;

use breakers::Breakers;
use owned::Owned;
use results::Results;
use slots::Slots;
use tries::Tries;

/// Calls in flight over all servers, and how many of them each client can always have.
const CALLS: usize = 1024;
const CALLS_OF_CLIENT: usize = 16;

/// What calls share.
#[derive(Debug)]
pub struct Calls {
    /// Calls in flight over all servers.
    pub slots: Slots,
    /// Tools that are not called for a while.
    pub breakers: Breakers,
    /// Whose tasks and pages are.
    pub owned: Owned,
    /// Results that were too long for a client.
    pub results: Results,
    /// What a person tries in the window.
    pub tries: Tries,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            slots: Slots::new(CALLS, CALLS_OF_CLIENT),
            breakers: Breakers::default(),
            owned: Owned::default(),
            results: Results::default(),
            tries: Tries::default(),
        }
    }
}
