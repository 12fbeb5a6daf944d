//! How many calls may be in flight, and whose. A call that finds no slot waits a moment for one; of those that wait, the
//! next is one of the client with the fewest calls in flight, so that one which floods keeps no other out.
//!
//! A client with next to nothing in flight gets a slot even where all are taken: calls that take minutes would otherwise
//! lock it out for as long. Each client can exceed the limit by [`Slots::new`]'s `least` at most.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::oneshot;

/// How long a call waits for a slot. A longer queue would only hide the wait.
const PATIENCE: Duration = Duration::from_secs(1);

/// The slots of one server, or of all. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Slots(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: usize,
    least: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    of: HashMap<Arc<str>, usize>,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    client: Arc<str>,
    granted: oneshot::Sender<Slot>,
}

/// One call in flight. Given back when dropped.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Slots,
    client: Arc<str>,
}

impl Slots {
    /// `most` in all, and `least` that each client can have whatever the others do.
    pub(super) fn new(most: usize, least: usize) -> Self {
        Self(Arc::new(Shared { most, least, state: Mutex::default() }))
    }

    /// A slot for a call of this client; `None` where none gets free within a moment.
    pub(super) async fn take(&self, client: &Arc<str>) -> Option<Slot> {
        let granted = {
            let mut state = self.state();
            if self.has_room(&state, client) {
                return Some(self.given(&mut state, client));
            }
            let (granted, waits) = oneshot::channel();
            state.waiting.push_back(Waiting { client: client.clone(), granted });
            waits
        };
        tokio::time::timeout(PATIENCE, granted).await.ok()?.ok()
    }

    /// Slots that nobody has.
    pub(super) fn free(&self) -> usize {
        self.0.most.saturating_sub(self.state().taken)
    }

    fn has_room(&self, state: &State, client: &str) -> bool {
        let own = state.of.get(client).copied().unwrap_or(0);
        own < self.0.least || state.taken < self.0.most && state.waiting.is_empty()
    }

    fn given(&self, state: &mut State, client: &Arc<str>) -> Slot {
        state.taken += 1;
        *state.of.entry(client.clone()).or_default() += 1;
        Slot { slots: self.clone(), client: client.clone() }
    }

    /// Hands free slots to those that wait.
    fn hand_out(&self) {
        loop {
            let (granted, slot) = {
                let mut state = self.state();
                state.waiting.retain(|waiting| !waiting.granted.is_closed());
                if state.taken >= self.0.most {
                    return;
                }
                let own = |waiting: &Waiting| state.of.get(&waiting.client).copied().unwrap_or(0);
                let next = state.waiting.iter().enumerate().min_by_key(|(at, waiting)| (own(waiting), *at));
                let Some(at) = next.map(|(at, _)| at) else { return };
                let Some(next) = state.waiting.remove(at) else { return };
                (next.granted, self.given(&mut state, &next.client))
            };
            // Whoever waited may have gone just now; the slot is then given back here.
            drop(granted.send(slot));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        {
            let mut state = self.slots.state();
            state.taken -= 1;
            if let Some(own) = state.of.get_mut(&self.client) {
                *own -= 1;
                if *own == 0 {
                    state.of.remove(&self.client);
                }
            }
        }
        self.slots.hand_out();
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    async fn taken(slots: &Slots, client: &Arc<str>, count: usize) -> Vec<Slot> {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(slots.take(client).await.expect("there is room"));
        }
        all
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_floods_keeps_no_other_out() {
        let (slots, a, b): (_, Arc<str>, Arc<str>) = (Slots::new(8, 2), "a".into(), "b".into());
        let mut of_a = taken(&slots, &a, 8).await;
        let began = Instant::now();
        assert!(slots.take(&a).await.is_none());
        assert_eq!(began.elapsed(), PATIENCE);
        let of_b = taken(&slots, &b, 2).await;
        assert!(slots.take(&b).await.is_none(), "it has what is its own");
        // Both wait; the one with less in flight is the next, though it came later.
        let (late_a, late_b, ()) = tokio::join!(slots.take(&a), slots.take(&b), async {
            tokio::task::yield_now().await;
            of_a.truncate(5);
        });
        assert!(late_a.is_none() && late_b.is_some());
        drop((of_a, of_b, late_b));
        let state = slots.state();
        assert_eq!((state.taken, state.of.len()), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_more_than_there_are_slots_waits_for_one() {
        let (slots, a): (_, Arc<str>) = (Slots::new(8, 2), "a".into());
        let mut of_a = taken(&slots, &a, 8).await;
        let (next, ()) = tokio::join!(slots.take(&a), async {
            tokio::time::sleep(PATIENCE / 2).await;
            of_a.pop();
        });
        assert!(next.is_some());
        // One that gave up waiting takes nothing with it.
        assert!(tokio::time::timeout(PATIENCE / 2, slots.take(&a)).await.is_err());
        of_a.pop();
        assert!(tokio::time::timeout(Duration::ZERO, slots.take(&a)).await.is_ok_and(|slot| slot.is_some()));
    }
}
