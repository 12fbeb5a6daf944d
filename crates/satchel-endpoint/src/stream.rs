//! A resumable event stream: sent events are numbered and kept for a while, so that a reconnecting client continues
//! where it was (`2025-11-25/basic/transports.mdx#resumability-and-redelivery`).

use std::{collections::VecDeque, sync::Arc, time::Duration};

use parking_lot::{Mutex, MutexGuard};

use axum::body::Bytes;
use futures_util::{Stream, stream};
use satchel_mcp::sse;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The interval of comments that keep proxies and clients from closing a quiet stream.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(25);
/// How long a call may take before its response begins as a stream, where the client accepts one: the HTTP libraries of
/// Node.js and Bun give up after five minutes without a byte.
pub(crate) const FIRST_BYTE: Duration = Duration::from_secs(5);
/// That comment.
pub(crate) const STILL_HERE: Bytes = Bytes::from_static(b": still here\n\n");
/// How long a stream without a reader continues.
const ABANDONED: Duration = Duration::from_secs(60);
/// Maximum number of events ahead of a slow reader; then the writer waits.
const AHEAD: usize = 64;
/// Number and size of sent events that are kept for resumption.
const KEPT: usize = 32;
const KEPT_BYTES: usize = 64 * 1024;
/// Maximum number of events without a waiter; the oldest are dropped.
const MAX_EVENTS: usize = 256;

/// The writing end.
#[derive(Debug)]
pub(crate) struct Outlet {
    /// Its number within its session.
    pub(crate) number: u64,
    state: Mutex<StreamState>,
    changed: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct StreamState {
    events: VecDeque<(u64, String)>,
    last: u64,
    taken: u64,
    /// The active reader; earlier ones are only kept open.
    reader: u64,
    reading: bool,
    over: bool,
}

impl Outlet {
    pub(crate) fn new(number: u64) -> Arc<Self> {
        Arc::new(Self { number, state: Mutex::default(), changed: watch::Sender::new(0) })
    }

    /// Sends an event without blocking.
    pub(crate) fn push(&self, json: String) {
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        let event = sse::SseEvent { id: Some(self.id(number)), ..sse::SseEvent::message(json) };
        state.events.push_back((number, event.to_wire()));
        if state.events.len() > MAX_EVENTS {
            state.events.pop_front();
        }
        drop(state);
        self.bump();
    }

    /// An event that only carries the id for resumption.
    pub(crate) fn prime(&self) {
        self.push(String::new());
    }

    /// Ends the stream.
    pub(crate) fn end(&self) {
        self.state().over = true;
        self.bump();
    }

    /// Waits until a reader has caught up.
    pub(crate) async fn room(&self) {
        let mut changed = self.changed.subscribe();
        loop {
            let ahead = {
                let state = self.state();
                state.events.iter().filter(|(number, _)| *number > state.taken).count()
            };
            if ahead < AHEAD || changed.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until the stream had no reader for too long.
    pub(crate) async fn abandoned(&self) {
        let mut changed = self.changed.subscribe();
        loop {
            if self.state().reading {
                if changed.changed().await.is_err() {
                    return;
                }
                continue;
            }
            tokio::select! {
                () = tokio::time::sleep(ABANDONED) => if !self.state().reading { return },
                _ = changed.changed() => {}
            }
        }
    }

    /// Does it have a reader?
    pub(crate) fn is_read(&self) -> bool {
        self.state().reading
    }

    /// Reads from the event after this number; ends with the stream or with one of `ends`.
    pub(crate) fn read(
        self: &Arc<Self>,
        after: Option<u64>,
        ends: Vec<CancellationToken>,
    ) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> + use<> {
        let mut state = self.state();
        state.reader += 1;
        state.reading = true;
        // A number beyond the last one is of a stream that an earlier hub had under this name.
        let at = after.filter(|after| *after <= state.last).unwrap_or(state.taken);
        let reader = Reader { outlet: self.clone(), number: state.reader, at, ends, first: true };
        drop(state);
        self.bump();
        stream::unfold(reader, |mut reader| async {
            let piece = reader.next().await?;
            Some((Ok(piece), reader))
        })
    }

    fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.number)
    }

    fn bump(&self) {
        self.changed.send_modify(|times| *times = times.wrapping_add(1));
    }

    fn state(&self) -> MutexGuard<'_, StreamState> {
        self.state.lock()
    }
}

/// The stream and the event of an event id.
pub(crate) fn place(id: &str) -> Option<(u64, u64)> {
    let (stream, number) = id.split_once('-')?;
    Some((stream.parse().ok()?, number.parse().ok()?))
}

struct Reader {
    outlet: Arc<Outlet>,
    number: u64,
    at: u64,
    ends: Vec<CancellationToken>,
    first: bool,
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        // Headers are sent with the first piece, and clients wait for them.
        if std::mem::take(&mut self.first) {
            return Some(Bytes::from_static(b": open\n\n"));
        }
        let mut changed = self.outlet.changed.subscribe();
        loop {
            if let Some(event) = self.take() {
                self.outlet.bump();
                return Some(event);
            }
            if self.outlet.state().over {
                return None;
            }
            let ended =
                futures_util::future::select_all(self.ends.iter().map(|end| Box::pin(end.cancelled())));
            tokio::select! {
                changed = changed.changed() => if changed.is_err() { return None },
                () = tokio::time::sleep(KEEP_ALIVE) => return Some(STILL_HERE),
                _ = ended => return None,
            }
        }
    }

    fn take(&mut self) -> Option<Bytes> {
        let mut state = self.outlet.state();
        if state.reader != self.number {
            return None;
        }
        let (number, event) = state.events.iter().find(|(number, _)| *number > self.at)?;
        let (number, event) = (*number, Bytes::from(event.clone()));
        self.at = number;
        state.taken = state.taken.max(number);
        let taken = state.taken;
        let mut sent: Vec<usize> = state
            .events
            .iter()
            .filter(|(number, _)| *number <= taken)
            .map(|(_, event)| event.len())
            .collect();
        let mut bytes: usize = sent.iter().sum();
        while sent.len() > KEPT || bytes > KEPT_BYTES {
            bytes -= sent.remove(0);
            state.events.pop_front();
        }
        Some(event)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.outlet.state();
        if state.reader == self.number {
            state.reading = false;
        }
        drop(state);
        self.outlet.bump();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt;

    async fn texts(stream: impl Stream<Item = Result<Bytes, std::convert::Infallible>>) -> Vec<String> {
        let pieces: Vec<_> = stream.collect().await;
        pieces
            .into_iter()
            .map(|piece| String::from_utf8(piece.unwrap().to_vec()).unwrap())
            .filter(|text| !text.starts_with(':'))
            .collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_broken_stream_is_taken_up_where_it_was() {
        let outlet = Outlet::new(7);
        for text in ["a", "b"] {
            outlet.push(text.into());
        }
        let never = || vec![CancellationToken::new()];
        let mut first = Box::pin(outlet.read(None, never()));
        first.next().await;
        assert!(first.next().await.is_some());
        drop(first);
        outlet.push("c".into());
        outlet.end();
        assert_eq!(place("7-1"), Some((7, 1)));
        let rest = texts(outlet.read(Some(1), never())).await;
        assert_eq!(rest, ["id: 7-2\ndata: b\n\n", "id: 7-3\ndata: c\n\n"]);
        assert_eq!(texts(outlet.read(Some(2), never())).await.len(), 1, "again, as long as it is kept");
    }

    #[tokio::test(start_paused = true)]
    async fn a_number_of_an_earlier_hub_hides_nothing() {
        let outlet = Outlet::new(0);
        outlet.push("a".into());
        outlet.end();
        let rest = texts(outlet.read(Some(40), vec![CancellationToken::new()])).await;
        assert_eq!(rest, ["id: 0-1\ndata: a\n\n"]);
    }

    #[tokio::test(start_paused = true)]
    async fn of_two_readers_the_later_one_receives_the_events() {
        let outlet = Outlet::new(0);
        let end = CancellationToken::new();
        let first = outlet.read(None, vec![end.clone()]);
        let second = outlet.read(None, vec![end.clone()]);
        outlet.push("x".into());
        let (both, ()) = tokio::join!(async { tokio::join!(texts(first), texts(second)) }, async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            end.cancel();
        });
        assert_eq!((both.0.len(), both.1.len()), (0, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn an_unread_stream_is_closed_and_one_that_is_read_is_not() {
        let outlet = Outlet::new(0);
        let reader = outlet.read(None, vec![CancellationToken::new()]);
        let waiting = tokio::time::timeout(ABANDONED * 2, outlet.abandoned()).await;
        assert!(waiting.is_err());
        drop(reader);
        outlet.abandoned().await;
    }
}
