//! Tracks which lists of a server must be read, and whether the known ones are current.
//!
//! A list is stale from the server's start, and from its word that the list changed, until it has been read and compared
//! with what was approved. A call waits for that: what changed is not used before it was looked at. A server that says
//! all the time that its lists changed does not keep its callers out: what was the same in several readings, one after the
//! other, may be used.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use tokio::sync::{Notify, watch};

/// This many consecutive reads since a caller arrived count as an unchanged list, even if changes keep being
/// announced.
const ENOUGH: u64 = 3;

/// The state of one server's lists. Changes in quick succession are merged.
#[derive(Debug)]
pub struct Dirty {
    state: Mutex<ListState>,
    wake: Notify,
    moved: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct ListState {
    /// The server's generation; reports about an older one are ignored.
    start: u64,
    /// Lists to read.
    marked: u8,
    /// Those of them that the server itself announced.
    told: u8,
    /// Lists whose cached content may be outdated.
    stale: u8,
    /// Outdated lists that are being read.
    reading: u8,
    /// Number of reads of each list.
    reads: [u64; LISTS],
    /// Lists that could not be read, and why.
    failed: (u8, Arc<str>),
    /// Number of waiting callers.
    waiting: usize,
}

const LISTS: usize = 3;

/// Lists could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unread(Arc<str>);

/// Lists that are being read.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// The lists.
    pub lists: u8,
    start: u64,
}

impl Default for Dirty {
    fn default() -> Self {
        Self { state: Mutex::default(), wake: Notify::new(), moved: watch::Sender::new(()) }
    }
}

impl Dirty {
    /// All lists.
    pub const ALL: u8 = 0b111;

    /// The bit of a list; 0 for an unknown one.
    pub fn bit(list: &str) -> u8 {
        match list {
            "tools" => 0b001,
            "resources" => 0b010,
            "prompts" => 0b100,
            _ => 0,
        }
    }

    /// The server was started, possibly with different lists.
    pub fn begin(&self) {
        let mut state = self.state();
        state.start += 1;
        (state.marked, state.stale, state.reading) = (Self::ALL, Self::ALL, 0);
        state.failed = (0, "".into());
        drop(state);
        self.wake.notify_one();
    }

    /// Marks lists for reading.
    pub fn mark(&self, lists: u8) {
        if lists != 0 {
            self.state().marked |= lists;
            self.wake.notify_one();
        }
    }

    /// The server announced a change. Clients are notified after it has been read.
    pub fn tell(&self, lists: u8) {
        if lists != 0 {
            let mut state = self.state();
            state.told |= lists;
            state.stale |= lists;
            state.marked |= lists;
            drop(state);
            self.wake.notify_one();
        }
    }

    /// Waits until a list is marked.
    pub async fn marked(&self) {
        while self.state().marked == 0 {
            self.wake.notified().await;
        }
    }

    /// Waits until a caller waits.
    pub async fn wanted(&self) {
        while self.state().waiting == 0 {
            self.wake.notified().await;
        }
    }

    /// Takes the announcements for these lists.
    pub fn take_told(&self, lists: u8) -> u8 {
        let mut state = self.state();
        let told = state.told & lists;
        state.told &= !lists;
        told
    }

    /// Takes the marks, to read these lists now.
    pub fn take(&self) -> Reading {
        let mut state = self.state();
        let lists = std::mem::take(&mut state.marked);
        state.reading |= state.stale & lists;
        state.stale &= !lists;
        state.failed.0 &= !lists;
        Reading { lists, start: state.start }
    }

    /// Records that these lists were read and judged.
    pub fn read(&self, reading: Reading, lists: u8) {
        let mut state = self.state();
        if state.start != reading.start {
            return;
        }
        state.reading &= !lists;
        state.failed.0 &= !lists;
        for (at, reads) in state.reads.iter_mut().enumerate() {
            *reads += u64::from(lists >> at & 1);
        }
        drop(state);
        self.moved.send_replace(());
    }

    /// Records that these lists could not be read.
    pub fn fail(&self, reading: Reading, lists: u8, why: &str) {
        let mut state = self.state();
        if state.start != reading.start {
            return;
        }
        let unread = state.reading & lists;
        state.stale |= unread;
        state.reading &= !unread;
        state.failed = (state.failed.0 | unread, why.into());
        drop(state);
        self.moved.send_replace(());
    }

    /// Waits until the cached lists match the server's. Reads outdated ones immediately.
    ///
    /// # Errors
    /// If they are outdated and could not be read.
    pub async fn fresh(&self, lists: u8) -> Result<(), Unread> {
        if self.is_fresh(lists) {
            return Ok(());
        }
        let (mut moved, since) = (self.moved.subscribe(), self.state().reads);
        let mut waits = None;
        loop {
            {
                let state = self.state();
                let often = |at: usize| lists >> at & 1 == 0 || state.reads[at] >= since[at] + ENOUGH;
                if (state.stale | state.reading) & lists == 0 || (0..LISTS).all(often) {
                    return Ok(());
                }
                if state.failed.0 & (state.stale | state.reading) & lists != 0 {
                    return Err(Unread(state.failed.1.clone()));
                }
            }
            waits.get_or_insert_with(|| WaitingReader::begin(self));
            // The sender is owned by `self`.
            let _ = moved.changed().await;
        }
    }

    /// Is what is known of these lists what the server has?
    pub fn is_fresh(&self, lists: u8) -> bool {
        let state = self.state();
        (state.stale | state.reading) & lists == 0
    }

    fn state(&self) -> MutexGuard<'_, ListState> {
        self.state.lock()
    }
}

/// A waiting caller, until dropped.
struct WaitingReader<'a>(&'a Dirty);

impl<'a> WaitingReader<'a> {
    fn begin(dirty: &'a Dirty) -> Self {
        dirty.state().waiting += 1;
        dirty.wake.notify_one();
        Self(dirty)
    }
}

impl Drop for WaitingReader<'_> {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: u8 = 0b001;
    const OTHERS: u8 = 0b110;

    /// The result for a caller at this moment; `None` while it waits.
    fn now(
        fresh: &mut std::pin::Pin<Box<impl Future<Output = Result<(), Unread>>>>,
    ) -> Option<Result<(), Unread>> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match fresh.as_mut().poll(&mut context) {
            std::task::Poll::Ready(fresh) => Some(fresh),
            std::task::Poll::Pending => None,
        }
    }

    #[test]
    fn a_call_waits_for_its_list_after_a_start_and_after_a_change_was_announced() {
        let dirty = Dirty::default();
        assert_eq!(now(&mut Box::pin(dirty.fresh(Dirty::ALL))), Some(Ok(())), "nothing runs yet");
        dirty.begin();
        let mut tools = Box::pin(dirty.fresh(TOOLS));
        let mut others = Box::pin(dirty.fresh(OTHERS));
        assert_eq!((now(&mut tools), now(&mut others)), (None, None));
        let reading = dirty.take();
        dirty.read(reading, TOOLS);
        assert_eq!((now(&mut tools), now(&mut others)), (Some(Ok(())), None), "each waits for its own");
        dirty.read(reading, OTHERS);
        assert_eq!(now(&mut others), Some(Ok(())));

        dirty.tell(TOOLS);
        let mut tools = Box::pin(dirty.fresh(TOOLS));
        assert_eq!(now(&mut tools), None);
        let reading = dirty.take();
        // It changed again while it was read.
        dirty.tell(TOOLS);
        dirty.read(reading, TOOLS);
        assert_eq!(now(&mut tools), None);
        let reading = dirty.take();
        // Another process: earlier reports do not apply.
        dirty.begin();
        dirty.read(reading, TOOLS);
        assert_eq!(now(&mut tools), None);
        dirty.read(dirty.take(), Dirty::ALL);
        assert_eq!(now(&mut tools), Some(Ok(())));
    }

    #[test]
    fn a_server_that_announces_changes_all_the_time_does_not_keep_its_callers_out() {
        let dirty = Dirty::default();
        dirty.tell(TOOLS);
        let mut tools = Box::pin(dirty.fresh(TOOLS));
        for _ in 0..ENOUGH {
            assert_eq!(now(&mut tools), None);
            let reading = dirty.take();
            dirty.tell(TOOLS);
            dirty.read(reading, TOOLS);
        }
        assert_eq!(now(&mut tools), Some(Ok(())));
        assert_eq!(now(&mut Box::pin(dirty.fresh(TOOLS))), None, "the next caller waits as well");
    }

    #[test]
    fn a_failed_list_read_is_reported_until_it_succeeds() {
        let dirty = Dirty::default();
        dirty.begin();
        let mut tools = Box::pin(dirty.fresh(TOOLS));
        assert_eq!(now(&mut tools), None);
        dirty.fail(dirty.take(), TOOLS, "no answer");
        assert_eq!(now(&mut tools), Some(Err(Unread("no answer".into()))));
        assert_eq!(now(&mut Box::pin(dirty.fresh(OTHERS))), None);
        dirty.mark(TOOLS);
        dirty.read(dirty.take(), TOOLS);
        assert_eq!(now(&mut Box::pin(dirty.fresh(TOOLS))), Some(Ok(())));
    }

    #[test]
    fn an_unneeded_read_delays_no_caller() {
        let dirty = Dirty::default();
        dirty.mark(Dirty::ALL);
        assert_eq!(now(&mut Box::pin(dirty.fresh(TOOLS))), Some(Ok(())));
        dirty.fail(dirty.take(), TOOLS, "no answer");
        assert_eq!(now(&mut Box::pin(dirty.fresh(TOOLS))), Some(Ok(())), "nothing says that it changed");
    }
}
