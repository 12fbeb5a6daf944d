//! Limits calls in flight with fair queueing. A call without a slot waits as long as slots keep being released; the
//! next slot goes to the waiting client with the fewest calls in flight, so a flooding client cannot starve the others.
//!
//! A client with almost nothing in flight gets a slot even when all are taken, because calls may run for minutes. Each
//! client can exceed the limit by at most `least` of [`Slots::new`].

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};

use tokio::{sync::oneshot, time::Instant};

/// A call is refused if no slot is returned for this long: the server hangs, and waiting would hide that.
const STALL: Duration = Duration::from_secs(10);
/// Maximum wait of a call. Most clients time out after a minute without learning the reason.
const LONGEST_WAIT: Duration = Duration::from_secs(50);

/// The call slots of one server, or of all servers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Slots(Arc<SlotTable>);

#[derive(Debug)]
struct SlotTable {
    most: usize,
    least: usize,
    state: Mutex<Queues>,
}

#[derive(Debug, Default)]
struct Queues {
    taken: usize,
    of: HashMap<Arc<str>, usize>,
    waiting: VecDeque<Waiting>,
    /// When a slot was last returned.
    freed: Option<Instant>,
}

#[derive(Debug)]
struct Waiting {
    client: Arc<str>,
    granted: oneshot::Sender<Slot>,
}

/// A slot held by a call. Returned when dropped.
#[derive(Debug)]
pub struct Slot {
    slots: Slots,
    client: Arc<str>,
}

impl Slots {
    /// At most `most` in total; `least` are reserved for each client.
    pub fn new(most: usize, least: usize) -> Self {
        Self(Arc::new(SlotTable { most, least, state: Mutex::default() }))
    }

    /// Takes a slot for a call of this client; `None` if none becomes free in time.
    pub async fn take(&self, client: &Arc<str>) -> Option<Slot> {
        let mut granted = {
            let mut state = self.state();
            if self.has_room(&state, client) {
                return Some(self.given(&mut state, client));
            }
            let (granted, waits) = oneshot::channel();
            state.waiting.push_back(Waiting { client: client.clone(), granted });
            waits
        };
        let began = Instant::now();
        let mut until = began + STALL;
        loop {
            match tokio::time::timeout_at(until, &mut granted).await {
                Ok(slot) => return slot.ok(),
                Err(_) => {
                    let next = self.gives_up(began);
                    if next <= until {
                        return None;
                    }
                    until = next;
                }
            }
        }
    }

    /// When a call that has waited since `began` is refused, given the present state.
    fn gives_up(&self, began: Instant) -> Instant {
        let freed = self.state().freed.unwrap_or(began);
        (freed.max(began) + STALL).min(began + LONGEST_WAIT)
    }

    /// Number of free slots.
    pub fn free(&self) -> usize {
        self.0.most.saturating_sub(self.state().taken)
    }

    fn has_room(&self, state: &Queues, client: &str) -> bool {
        let own = state.of.get(client).copied().unwrap_or(0);
        own < self.0.least || state.taken < self.0.most && state.waiting.is_empty()
    }

    fn given(&self, state: &mut Queues, client: &Arc<str>) -> Slot {
        state.taken += 1;
        *state.of.entry(client.clone()).or_default() += 1;
        Slot { slots: self.clone(), client: client.clone() }
    }

    /// Assigns free slots to waiting calls.
    fn hand_out(&self) {
        loop {
            let (granted, slot) = {
                let mut state = self.state();
                state.waiting.retain(|waiting| !waiting.granted.is_closed());
                let own = |waiting: &Waiting| state.of.get(&waiting.client).copied().unwrap_or(0);
                let next = state.waiting.iter().map(own).enumerate().min_by_key(|&(at, own)| (own, at));
                let Some((at, own)) = next else { return };
                if state.taken >= self.0.most && own >= self.0.least {
                    return;
                }
                let Some(next) = state.waiting.remove(at) else { return };
                (next.granted, self.given(&mut state, &next.client))
            };
            // If the waiting call was just dropped, this returns the slot.
            drop(granted.send(slot));
        }
    }

    fn state(&self) -> MutexGuard<'_, Queues> {
        self.0.state.lock()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        {
            let mut state = self.slots.state();
            state.taken -= 1;
            state.freed = Some(Instant::now());
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
    use tokio::task::JoinSet;

    use super::*;

    async fn taken(slots: &Slots, client: &Arc<str>, count: usize) -> Vec<Slot> {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(slots.take(client).await.expect("there is room"));
        }
        all
    }

    /// Simultaneous calls of one client with a given duration; records which got a slot, and when.
    fn calls(slots: &Slots, client: &str, count: usize, each: Duration) -> JoinSet<(bool, Duration)> {
        let mut calls = JoinSet::new();
        let began = Instant::now();
        for _ in 0..count {
            let (slots, client): (_, Arc<str>) = (slots.clone(), client.into());
            calls.spawn(async move {
                let slot = slots.take(&client).await;
                let waited = began.elapsed();
                if slot.is_some() {
                    tokio::time::sleep(each).await;
                }
                (slot.is_some(), waited)
            });
        }
        calls
    }

    #[tokio::test(start_paused = true)]
    async fn a_queue_that_makes_progress_refuses_no_call() {
        let slots = Slots::new(64, 8);
        let mut all = JoinSet::new();
        for client in 0..10 {
            all.spawn(calls(&slots, &format!("client-{client}"), 50, Duration::from_secs(4)).join_all());
        }
        let answers: Vec<_> = all.join_all().await.into_iter().flatten().collect();
        assert_eq!(answers.iter().filter(|(served, _)| *served).count(), 500);
    }

    #[tokio::test(start_paused = true)]
    async fn one_with_a_few_calls_does_not_wait_behind_one_with_many() {
        let slots = Slots::new(8, 2);
        let many = calls(&slots, "many", 100, Duration::from_secs(2));
        tokio::time::sleep(Duration::from_secs(1)).await;
        let few = calls(&slots, "few", 6, Duration::from_secs(2)).join_all().await;
        assert!(few.iter().all(|(served, waited)| *served && *waited < Duration::from_secs(4)), "{few:?}");
        assert!(many.join_all().await.iter().all(|(served, _)| *served));
    }

    #[tokio::test(start_paused = true)]
    async fn no_call_waits_forever_in_a_slow_queue() {
        let slots = Slots::new(1, 0);
        let answers = calls(&slots, "a", 20, STALL / 2).join_all().await;
        let served = answers.iter().filter(|(served, _)| *served).count();
        assert_eq!(served, 10, "one every five seconds, and the tenth after 45");
        let refused = answers.iter().filter(|(served, _)| !served);
        assert!(refused.clone().all(|(_, waited)| *waited == LONGEST_WAIT), "{answers:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_floods_keeps_no_other_out() {
        let (slots, a, b): (_, Arc<str>, Arc<str>) = (Slots::new(8, 2), "a".into(), "b".into());
        let mut of_a = taken(&slots, &a, 8).await;
        let began = Instant::now();
        assert!(slots.take(&a).await.is_none());
        assert_eq!(began.elapsed(), STALL);
        let of_b = taken(&slots, &b, 2).await;
        assert!(slots.take(&b).await.is_none(), "it has what is its own");
        // Both wait; the one with fewer calls in flight is next, although it came later.
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
    async fn a_call_that_waits_gets_its_clients_own_slots_as_a_new_one_would() {
        let (slots, a, b): (_, Arc<str>, Arc<str>) = (Slots::new(8, 2), "a".into(), "b".into());
        let of_a = taken(&slots, &a, 8).await;
        let mut of_b = taken(&slots, &b, 2).await;
        let (late, ()) = tokio::join!(slots.take(&b), async {
            tokio::task::yield_now().await;
            of_b.pop();
        });
        assert!(late.is_some(), "though as many are taken as there are");
        drop(of_a);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_more_than_there_are_slots_waits_for_one() {
        let (slots, a): (_, Arc<str>) = (Slots::new(8, 2), "a".into());
        let mut of_a = taken(&slots, &a, 8).await;
        let (next, ()) = tokio::join!(slots.take(&a), async {
            tokio::time::sleep(STALL / 2).await;
            of_a.pop();
        });
        assert!(next.is_some());
        // A call that stopped waiting takes no slot.
        assert!(tokio::time::timeout(STALL / 2, slots.take(&a)).await.is_err());
        of_a.pop();
        assert!(tokio::time::timeout(Duration::ZERO, slots.take(&a)).await.is_ok_and(|slot| slot.is_some()));
    }
}
