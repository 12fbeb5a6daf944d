//! Queues events for the recorder: bounded in number and in bytes of text. A full queue drops events and counts them,
//! so that no call waits for it. Does not look into the events.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use tokio::sync::mpsc;

use crate::stats::event::{Called, Event};

/// Capacity of the event queue. More than any machine produces while one batch is written.
const EVENTS: usize = 16 * 1024;
/// Maximum size of the queued texts in bytes. Beyond it, calls are recorded without texts.
const TEXTS: usize = 64 * 1024 * 1024;

/// Accepts events. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Outbox {
    events: mpsc::Sender<(Event, Weight)>,
    lost: Arc<AtomicU64>,
    texts: Arc<AtomicUsize>,
}

/// Accounts for the bytes of a queued event's texts.
#[derive(Debug)]
pub(super) struct Weight(usize, Arc<AtomicUsize>);

impl Drop for Weight {
    fn drop(&mut self) {
        self.1.fetch_sub(self.0, Ordering::Relaxed);
    }
}

impl Outbox {
    pub(super) fn new() -> (Self, mpsc::Receiver<(Event, Weight)>) {
        let (events, received) = mpsc::channel(EVENTS);
        (Self { events, lost: Arc::default(), texts: Arc::default() }, received)
    }

    /// Queues an event. If the queue is full, the event is lost and counted.
    pub(super) fn tell(&self, mut event: Event) {
        let weight = self.weigh(&mut event);
        if self.events.try_send((event, weight)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Number of events lost since the last call.
    pub(super) fn take_lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }

    fn weigh(&self, event: &mut Event) -> Weight {
        let bytes = match event {
            Event::Called(called) => texts_of(called),
            // The list is shared with clients and not copied per event.
            Event::Listed { .. } | Event::Measured(_) | Event::Audit(_) => 0,
        };
        let waiting = self.texts.fetch_add(bytes, Ordering::Relaxed);
        let weight = Weight(bytes, self.texts.clone());
        match event {
            Event::Called(called) if bytes > 0 && waiting + bytes > TEXTS => {
                without_texts(called);
                Weight(0, self.texts.clone())
            }
            _ => weight,
        }
    }
}

fn texts_of(called: &Called) -> usize {
    let bodies = [Some(&called.request), Some(&called.answer), called.direct.as_ref()];
    let counted = bodies.into_iter().flatten().filter_map(|body| body.text.as_ref());
    counted.chain([&called.arguments, &called.result].into_iter().flatten()).map(|text| text.len()).sum()
}

/// Drops the texts; keeps that it was called, its outcome, duration and size.
fn without_texts(called: &mut Called) {
    (called.request.text, called.answer.text, called.arguments, called.result) = (None, None, None, None);
    if let Some(direct) = &mut called.direct {
        direct.text = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::ledger::CallKind,
        stats::event::{Body, End, Offers, Split, Visit},
    };

    fn called(text: &Arc<str>) -> Event {
        let visit = Visit {
            session: None,
            client: "c".into(),
            program: String::new(),
            version: String::new(),
            era: String::new(),
            only: String::new(),
            profile: String::new(),
            face: false,
            defers: false,
        };
        Event::Called(Box::new(Called {
            visit: Arc::new(visit),
            at_ms: 0,
            offers: Offers::default(),
            kind: CallKind::Call,
            server: "s".into(),
            tool: "t".into(),
            end: End { outcome: "ok", code: None, message: None, cause: None },
            time: Split::default(),
            request: Body { bytes: text.len(), text: Some(text.clone()) },
            direct: None,
            answer: Body::default(),
            ours: false,
            rule: String::new(),
            asked: false,
            server_era: None,
            trace: None,
            arguments: None,
            result: Some(text.clone()),
            redact: None,
        }))
    }

    #[tokio::test]
    async fn texts_beyond_the_bound_are_left_out_and_their_calls_are_not() {
        let (outbox, mut received) = Outbox::new();
        let text: Arc<str> = "x".repeat(TEXTS / 8).into();
        (0..10).for_each(|_| outbox.tell(called(&text)));
        let mut with_texts = 0;
        for _ in 0..10 {
            let Some((Event::Called(called), _weight)) = received.recv().await else { panic!("it was told") };
            with_texts += usize::from(called.result.is_some() && called.request.text.is_some());
            assert_eq!(called.request.bytes, text.len(), "how large it was is known all the same");
        }
        assert_eq!((with_texts, outbox.take_lost()), (4, 0));
        outbox.tell(called(&text));
        let room = received.try_recv();
        assert!(
            matches!(room, Ok((Event::Called(called), _)) if called.result.is_some()),
            "there is room again"
        );
    }
}
