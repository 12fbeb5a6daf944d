//! Bounds the memory of messages on their way through the bridge, so that a client that does not read makes the hub and
//! itself wait, and nothing else. Drops nothing.

use std::sync::Arc;

use satchel_mcp::Message;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// The unit of the bounds, in bytes.
const UNIT: usize = 1024;
/// What a message costs beyond its text: its task and its connection, in units.
const TASK: usize = 8;
/// The messages of the client that wait, in units. One larger message takes all of it.
const INPUT: usize = 8 * 1024;
/// The lines that wait for standard output, in units. One larger line takes all of it.
const OUTPUT: usize = 4 * 1024;
/// Number of lines that wait.
const LINES: usize = 64;
/// How much of a response is read before it counts as a large one, in bytes. Of those one is read at a time.
pub(super) const LARGE: usize = 64 * 1024;

/// A line for standard output. It counts until it is written.
#[derive(Debug)]
pub(super) struct OutLine {
    pub(super) text: String,
    _room: OwnedSemaphorePermit,
}

/// The way to standard output.
#[derive(Debug, Clone)]
pub(super) struct Out {
    lines: mpsc::Sender<OutLine>,
    room: Arc<Semaphore>,
    large: Arc<Semaphore>,
}

impl Out {
    /// The way, and where it ends.
    pub(super) fn new() -> (Self, mpsc::Receiver<OutLine>) {
        let (lines, written) = mpsc::channel(LINES);
        let (room, large) = (Arc::new(Semaphore::new(OUTPUT)), Arc::new(Semaphore::new(1)));
        (Self { lines, room, large }, written)
    }

    /// Writes one message, as soon as there is room. If standard output is closed, the bridge is ending anyway.
    pub(super) async fn write(&self, message: &Message) {
        let text = message.to_json();
        let Ok(_room) = self.room.clone().acquire_many_owned(units(text.len(), 1, OUTPUT)).await else {
            return;
        };
        let _ = self.lines.send(OutLine { text, _room }).await;
    }

    /// The turn to read a large response.
    pub(super) async fn large(&self) -> Option<OwnedSemaphorePermit> {
        self.large.clone().acquire_owned().await.ok()
    }
}

/// The room for messages of the client.
#[derive(Debug, Clone)]
pub(super) struct ClientInput(Arc<Semaphore>);

impl Default for ClientInput {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(INPUT)))
    }
}

impl ClientInput {
    /// Waits until there is room for a message of this length in bytes. It is taken until the permit is dropped.
    pub(super) async fn take(&self, length: usize) -> Option<OwnedSemaphorePermit> {
        self.0.clone().acquire_many_owned(units(length, TASK, INPUT)).await.ok()
    }
}

fn units(length: usize, least: usize, most: usize) -> u32 {
    u32::try_from((least + length / UNIT).min(most)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use satchel_mcp::Id;
    use tokio_util::task::TaskTracker;

    use super::*;

    fn answer(bytes: usize) -> Message {
        let text =
            serde_json::value::to_raw_value(&serde_json::json!({ "text": "x".repeat(bytes) })).unwrap();
        Message::result(Id::from(1), text)
    }

    #[tokio::test(start_paused = true)]
    async fn lines_that_nobody_reads_are_bounded_in_bytes_and_none_is_lost() {
        let (out, mut lines) = Out::new();
        let writers = TaskTracker::new();
        for _ in 0..10 {
            let out = out.clone();
            writers.spawn(async move { out.write(&answer(1024 * 1024)).await });
        }
        writers.close();
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!((lines.len(), writers.len()), (3, 7));
        for _ in 0..10 {
            assert!(lines.recv().await.unwrap().text.len() > 1024 * 1024);
        }
        writers.wait().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_larger_than_the_bound_goes_out_alone() {
        let (out, mut lines) = Out::new();
        let large = answer(OUTPUT * UNIT * 2);
        let ((), line) = tokio::join!(out.write(&large), lines.recv());
        assert!(line.unwrap().text.len() > OUTPUT * UNIT);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_beyond_the_bound_wait() {
        let input = ClientInput::default();
        let mut taken = Vec::new();
        for _ in 0..INPUT / TASK {
            taken.push(input.take(10).await.unwrap());
        }
        assert!(tokio::time::timeout(Duration::from_secs(1), input.take(10)).await.is_err());
        drop(taken);
        assert!(input.take(usize::MAX / 2).await.is_some(), "a single large one is let through");
    }
}
