//! State that a call and its connection share while the call is in flight: the events that arrived for it, in order, and
//! whether the request was sent. One allocation per call.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use parking_lot::{Mutex, MutexGuard};

use tokio_util::sync::CancellationToken;

use super::link::{CallError, Event, Outcome};

/// Progress notes kept for a caller that does not read them; older ones would only be overtaken.
pub(super) const NOTES_KEPT: usize = 256;
/// Questions of one call that wait for an answer; a server that asks more is refused.
pub(super) const QUESTIONS_OPEN: usize = 16;

/// A call in flight.
#[derive(Debug, Default)]
pub(super) struct Flight {
    inbox: Mutex<FlightInbox>,
    notes: AtomicUsize,
    questions: AtomicUsize,
    sent: AtomicU8,
    /// Its client has been told what the server asks and may come back, or not.
    parked: AtomicBool,
    given_up: AtomicBool,
    /// Made where a transport wants to be told that nobody waits any more.
    gone: OnceLock<CancellationToken>,
}

#[derive(Debug, Default)]
struct FlightInbox {
    events: VecDeque<Event>,
    /// Nothing comes after it.
    end: Option<Event>,
    reader: Option<Waker>,
    /// Nobody reads any more.
    closed: bool,
}

impl Flight {
    const WAITING: u8 = 0;
    const LEFT: u8 = 1;
    const WITHDRAWN: u8 = 2;

    /// Something came; false where nobody reads it.
    pub(super) fn tell(&self, event: Event) -> bool {
        let mut inbox = self.inbox();
        if inbox.closed {
            return false;
        }
        match event {
            Event::Final(_) => drop(inbox.end.get_or_insert(event)),
            event => inbox.events.push_back(event),
        }
        let reader = inbox.reader.take();
        drop(inbox);
        if let Some(reader) = reader {
            reader.wake();
        }
        true
    }

    /// A note came. Of a flood only so many are kept.
    pub(super) fn note(&self, note: Event) {
        if self.notes.fetch_add(1, Ordering::Relaxed) >= NOTES_KEPT || !self.tell(note) {
            self.notes.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// What came next. May be given up.
    pub(super) async fn next(&self) -> Event {
        let event = poll_fn(|context| self.poll_next(context)).await;
        if matches!(event, Event::Note { .. }) {
            self.notes.fetch_sub(1, Ordering::Relaxed);
        }
        event
    }

    fn poll_next(&self, context: &mut Context<'_>) -> Poll<Event> {
        let mut inbox = self.inbox();
        let next = inbox.events.pop_front();
        if let Some(event) = next.or_else(|| inbox.end.take()) {
            return Poll::Ready(event);
        }
        if !inbox.reader.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
            inbox.reader = Some(context.waker().clone());
        }
        Poll::Pending
    }

    /// A question more is open; false where there are too many.
    pub(super) fn may_ask(&self) -> bool {
        let room = self.questions.fetch_add(1, Ordering::Relaxed) < QUESTIONS_OPEN;
        if !room {
            self.questions.fetch_sub(1, Ordering::Relaxed);
        }
        room
    }

    /// A question was answered.
    pub(super) fn was_answered(&self) {
        self.questions.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn park(&self, parked: bool) {
        self.parked.store(parked, Ordering::Relaxed);
    }

    pub(super) fn is_parked(&self) -> bool {
        self.parked.load(Ordering::Relaxed)
    }

    /// It is given up. What that means for whoever asks what became of it.
    pub(super) fn withdrawn(&self) -> Outcome {
        match self.decide(Self::WITHDRAWN) {
            Self::LEFT => Outcome::Unknown,
            _ => Outcome::NotSent,
        }
    }

    /// Its connection ended, or it failed alone.
    pub(super) fn fail(&self, error: CallError) {
        self.tell(Event::Final(Err(error)));
    }

    /// Nobody waits for it any more.
    pub(super) fn give_up(&self) {
        let mut inbox = self.inbox();
        inbox.closed = true;
        (inbox.events, inbox.end) = (VecDeque::new(), None);
        drop(inbox);
        self.given_up.store(true, Ordering::SeqCst);
        if let Some(gone) = self.gone.get() {
            gone.cancel();
        }
    }

    fn gone(&self) -> CancellationToken {
        let gone = self.gone.get_or_init(CancellationToken::new).clone();
        // It may have been given up just before there was anything to cancel.
        if self.given_up.load(Ordering::SeqCst) {
            gone.cancel();
        }
        gone
    }

    fn decide(&self, wanted: u8) -> u8 {
        match self.sent.compare_exchange(Self::WAITING, wanted, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => wanted,
            Err(decided) => decided,
        }
    }

    fn inbox(&self) -> MutexGuard<'_, FlightInbox> {
        self.inbox.lock()
    }
}

/// Has it left? Decided once, by whoever is first: the transport that is about to send it, or the caller who gives it
/// up. So what a caller was told has not been sent never is. What nobody waits for leaves in any case.
#[derive(Debug, Clone, Default)]
pub struct Sent(Option<Arc<Flight>>);

impl Sent {
    /// Of this call.
    pub(super) fn of(flight: &Arc<Flight>) -> Self {
        Self(Some(flight.clone()))
    }

    /// Said by the transport before the first byte leaves; where it is false, none may.
    #[must_use]
    pub fn leaves(&self) -> bool {
        self.0.as_ref().is_none_or(|flight| flight.decide(Flight::LEFT) == Flight::LEFT)
    }

    /// Not a byte of it could leave yet; it may still be given up.
    pub(super) fn stays(&self) {
        if let Some(flight) = &self.0 {
            // Whoever gave it up meanwhile was told that it may have left, which is so.
            let _ = flight.sent.compare_exchange(
                Flight::LEFT,
                Flight::WAITING,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
        }
    }

    /// Cancelled when nobody waits for the answer any more.
    pub fn gone(&self) -> CancellationToken {
        self.0.as_ref().map_or_else(CancellationToken::new, |flight| flight.gone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_comes_after_everything_else_and_once() {
        let flight = Arc::new(Flight::default());
        let note = |method: &str| Event::Note { method: method.to_owned(), params: None };
        flight.fail(CallError::Ended("first".into(), Outcome::Unknown));
        flight.fail(CallError::Ended("second".into(), Outcome::Unknown));
        flight.note(note("late"));
        assert!(matches!(flight.next().await, Event::Note { .. }));
        let Event::Final(Err(error)) = flight.next().await else { panic!("it failed") };
        assert_eq!(error.to_string(), "first");
        let (reader, teller) = (flight.clone(), flight.clone());
        let waiting = async move { reader.next().await };
        let telling = async move { teller.note(note("a")) };
        assert!(matches!(tokio::join!(waiting, telling).0, Event::Note { .. }), "who waits is woken");
    }

    #[test]
    fn a_cancelled_request_gets_no_more_events_and_its_sender_is_told() {
        let (early, late) = (Arc::new(Flight::default()), Arc::new(Flight::default()));
        let gone = Sent::of(&early).gone();
        assert!(!gone.is_cancelled());
        for flight in [&early, &late] {
            flight.give_up();
            assert!(!flight.tell(Event::Note { method: "x".to_owned(), params: None }));
        }
        assert!(gone.is_cancelled() && Sent::of(&late).gone().is_cancelled());
    }

    #[test]
    fn an_unsent_request_can_be_withdrawn_and_a_sent_one_has_an_unknown_outcome() {
        let flight = Arc::new(Flight::default());
        let sent = Sent::of(&flight);
        assert!(sent.leaves());
        sent.stays();
        assert_eq!(flight.withdrawn(), Outcome::NotSent);
        assert!(!sent.leaves(), "what was given up unsent is never sent");
        let flight = Arc::new(Flight::default());
        assert!(Sent::of(&flight).leaves());
        assert_eq!(flight.withdrawn(), Outcome::Unknown);
        assert!(Sent::default().leaves());
    }
}
