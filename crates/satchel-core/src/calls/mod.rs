//! State shared by calls in flight: concurrency limits, circuit breakers, ownership of tasks, results too long for a
//! client, and what a person tries. Each part guards its state with one short lock; none is held across an `await`.

pub mod breakers;
pub mod given;
pub mod owned;
pub mod results;
pub mod slots;
pub mod tries;

use breakers::Breakers;
use given::Given;
use owned::Owned;
use results::Results;
use slots::Slots;
use tries::Tries;

/// Concurrent calls over all servers, and the share reserved for each client.
const CALLS: usize = 1024;
const CALLS_OF_CLIENT: usize = 16;

/// State shared by calls.
#[derive(Debug)]
pub struct Calls {
    /// Slots for calls over all servers.
    pub slots: Slots,
    /// Tools that are temporarily not called.
    pub breakers: Breakers,
    /// The addresses in results.
    pub given: Given,
    /// The owners of tasks and pages.
    pub owned: Owned,
    /// Results that exceeded a client's limit.
    pub results: Results,
    /// Calls that a person makes in the window.
    pub tries: Tries,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            slots: Slots::new(CALLS, CALLS_OF_CLIENT),
            breakers: Breakers::default(),
            given: Given::default(),
            owned: Owned::default(),
            results: Results::default(),
            tries: Tries::default(),
        }
    }
}
