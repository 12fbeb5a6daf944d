//! Grants leases while a server runs without a round trip to its task. All leases of one generation are kept in one
//! [`Hold`]; the task checks it a few times a second while it is used, and withdraws it when no caller has used it since
//! the last check.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use parking_lot::{Mutex, MutexGuard};

use tokio::{sync::mpsc, time::Instant};

use super::{handle::Mail, lease::Lease, link::Link};

/// Where callers take leases. Closed unless the server runs.
#[derive(Debug, Default)]
pub(super) struct Gate {
    open: Mutex<Option<Arc<Hold>>>,
}

/// The leases of one generation.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) link: Link,
    pub(super) generation: u64,
    leases: AtomicUsize,
    /// A lease was taken or returned since the task last checked.
    used: AtomicBool,
    /// The task waits for a notification of the next change.
    tell: AtomicBool,
    /// The task knows that the server answers.
    proved: AtomicBool,
    last: Mutex<Instant>,
}

/// The result of a check.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HoldUse {
    /// Unused since the last check; last used at this time. The gate is now closed.
    Unused(Instant),
    /// Leases were taken or returned.
    Used,
    /// Leases are held without a change; the task will be notified of the next one.
    Held,
    /// The gate is closed.
    Closed,
}

impl Gate {
    /// Takes a lease if the server runs and was recently in use.
    pub(super) fn enter(&self, mail: &mpsc::UnboundedSender<Mail>) -> Option<Lease> {
        let open = self.lock();
        let hold = open.as_ref()?.clone();
        // While the gate is locked, so that it cannot be closed as unused in between.
        hold.leases.fetch_add(1, Ordering::Relaxed);
        drop(open);
        hold.changed(mail);
        Some(Lease::new(hold, mail.clone()))
    }

    /// Opens the gate. Leases of an earlier generation remain with their holders.
    pub(super) fn open(&self, link: &Link, generation: u64) {
        let mut open = self.lock();
        if open.as_ref().is_none_or(|hold| hold.generation != generation) {
            *open = Some(Arc::new(Hold {
                link: link.clone(),
                generation,
                leases: AtomicUsize::new(0),
                used: AtomicBool::new(true),
                tell: AtomicBool::new(false),
                proved: AtomicBool::new(false),
                last: Mutex::new(Instant::now()),
            }));
        }
    }

    /// Closes the gate. Leases that are out stay valid as long as their connection.
    pub(super) fn close(&self) {
        *self.lock() = None;
    }

    /// Closes the gate if no lease is out, and returns the time of the last use.
    pub(super) fn close_unused(&self) -> Option<Instant> {
        close_unused(&mut self.lock())
    }

    /// Number of leases that are out.
    pub(super) fn leases(&self) -> usize {
        self.lock().as_ref().map_or(0, |hold| hold.leases.load(Ordering::Relaxed))
    }

    /// Closes the gate if no lease was taken or returned since the last check.
    pub(super) fn look(&self) -> HoldUse {
        let mut open = self.lock();
        let Some(hold) = open.as_ref() else { return HoldUse::Closed };
        // The next success should be reported again.
        hold.proved.store(false, Ordering::Relaxed);
        if hold.used.swap(false, Ordering::SeqCst) {
            return HoldUse::Used;
        }
        let hold = hold.clone();
        if let Some(last) = close_unused(&mut open) {
            return HoldUse::Unused(last);
        }
        hold.tell.store(true, Ordering::SeqCst);
        // A lease returned in between was not reported.
        if hold.used.load(Ordering::SeqCst) { HoldUse::Used } else { HoldUse::Held }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Hold>>> {
        self.open.lock()
    }
}

fn close_unused(open: &mut Option<Arc<Hold>>) -> Option<Instant> {
    let hold = open.take_if(|hold| hold.leases.load(Ordering::Acquire) == 0)?;
    let last = *hold.last.lock();
    Some(last)
}

impl Hold {
    /// Reports that a lease was taken or returned.
    fn changed(&self, mail: &mpsc::UnboundedSender<Mail>) {
        self.used.store(true, Ordering::SeqCst);
        if self.tell.swap(false, Ordering::SeqCst) {
            // The task may be gone; then nobody counts leases any more.
            let _ = mail.send(Mail::Used(self.generation));
        }
    }

    /// Returns a lease.
    pub(super) fn leave(&self, mail: &mpsc::UnboundedSender<Mail>) {
        *self.last.lock() = Instant::now();
        self.leases.fetch_sub(1, Ordering::AcqRel);
        self.changed(mail);
    }

    /// Records an answer of the server. Returns whether the task has to be told.
    pub(super) fn prove(&self) -> bool {
        !self.proved.swap(true, Ordering::Relaxed)
    }

    /// Records a timeout: the next answer has to be reported.
    pub(super) fn doubt(&self) {
        self.proved.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::upstream::lifecycle::Event;

    struct World {
        gate: Gate,
        mail: mpsc::UnboundedSender<Mail>,
        mailbox: mpsc::UnboundedReceiver<Mail>,
    }

    impl World {
        fn open() -> Self {
            let (mail, mailbox) = mpsc::unbounded_channel();
            let world = Self { gate: Gate::default(), mail, mailbox };
            let (link, _) = Link::unheard();
            world.gate.open(&link, 3);
            world
        }

        fn enter(&self) -> Option<Lease> {
            self.gate.enter(&self.mail)
        }

        /// Was the task notified of a change?
        fn told(&mut self) -> bool {
            matches!(self.mailbox.try_recv(), Ok(Mail::Used(3)))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_closes_if_no_caller_came_or_left_between_two_checks() {
        let mut world = World::open();
        let lease = world.enter().unwrap();
        assert_eq!((lease.generation(), world.gate.leases()), (3, 1));
        assert_eq!(world.gate.look(), HoldUse::Used);
        drop(lease);
        let last = Instant::now();
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(world.gate.look(), HoldUse::Used, "somebody left");
        assert_eq!(world.gate.look(), HoldUse::Unused(last));
        assert_eq!(world.gate.look(), HoldUse::Closed);
        assert!(world.enter().is_none() && !world.told(), "the task knew by itself");
    }

    #[tokio::test]
    async fn a_lease_that_is_held_long_wakes_the_task_only_when_another_comes_or_goes() {
        let mut world = World::open();
        let long = world.enter().unwrap();
        assert_eq!(world.gate.look(), HoldUse::Used);
        assert_eq!(world.gate.look(), HoldUse::Held);
        let short = world.enter().unwrap();
        assert!(world.told());
        drop(short);
        assert!(!world.told(), "it looks by itself again");
        assert_eq!([world.gate.look(), world.gate.look()], [HoldUse::Used, HoldUse::Held]);
        drop(long);
        assert!(world.told());
        assert_eq!(world.gate.look(), HoldUse::Used);
        assert!(matches!(world.gate.look(), HoldUse::Unused(_)));
    }

    #[tokio::test]
    async fn it_is_closed_at_once_where_no_lease_is_out() {
        let world = World::open();
        let lease = world.enter().unwrap();
        assert_eq!(world.gate.close_unused(), None);
        drop(lease);
        assert!(world.gate.close_unused().is_some());
        assert!(world.enter().is_none());
    }

    #[tokio::test]
    async fn leases_of_a_generation_that_ended_count_for_nothing_in_the_next() {
        let world = World::open();
        let old = world.enter().unwrap();
        let (link, _) = Link::unheard();
        world.gate.close();
        world.gate.open(&link, 4);
        let new = world.enter().unwrap();
        drop(old);
        assert_eq!((new.generation(), world.gate.leases()), (4, 1));
    }

    #[tokio::test]
    async fn that_the_server_answers_is_told_once_and_again_after_a_timeout() {
        let mut world = World::open();
        let (one, other) = (world.enter().unwrap(), world.enter().unwrap());
        let told = |world: &mut World| {
            let mut told = vec![];
            while let Ok(Mail::Happened(event)) = world.mailbox.try_recv() {
                told.push(event);
            }
            told
        };
        let proved = Event::Proved { generation: 3 };
        one.prove();
        other.prove();
        assert_eq!(told(&mut world), std::slice::from_ref(&proved));
        other.timed_out();
        one.prove();
        let late = Event::TimedOut { generation: 3, alone: true };
        assert_eq!(told(&mut world), [late, proved]);
    }
}
