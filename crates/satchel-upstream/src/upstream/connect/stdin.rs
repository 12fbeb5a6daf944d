//! Writes to the standard input of a server's process. The sender of a message writes it itself while nothing waits; one
//! task writes what the process did not take at once, and what waits in the queue.
//!
//! Theory of operation: a waiting message holds a [`QueuedWrite`], and no sender writes while one exists. The rest of a
//! message that was taken in part waits here, before those of the queue.

use std::{
    io::{self, ErrorKind},
    pin::Pin,
    sync::{Arc, atomic::AtomicUsize, atomic::Ordering},
    task::{Context, Poll, Waker},
};

use parking_lot::{Mutex, MutexGuard};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    process::ChildStdin,
    sync::Notify,
};

use crate::{
    tasks::{faults_are_planted, may_fail_here},
    upstream::link::{AtOnce, Outbox, Outgoing, QueuedWrite},
};

/// The input of one process. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct ServerInput(Arc<InputShared>);

#[derive(Debug)]
struct InputShared {
    state: Mutex<InputState>,
    /// Something waits in here.
    left: Notify,
}

#[derive(Debug, Default)]
struct InputState {
    /// Closed where it is gone.
    pipe: Option<ChildStdin>,
    /// What was begun and not finished.
    begun: Option<Outgoing>,
}

/// The process takes nothing more; how much it took of this message.
pub(super) struct InputRefused(pub(super) Outgoing);

impl ServerInput {
    /// Nothing may be written before `orders` are.
    ///
    /// # Errors
    /// Where the process takes nothing.
    pub(super) async fn open(mut pipe: ChildStdin, orders: &[u8]) -> io::Result<Self> {
        pipe.write_all(orders).await?;
        let state = Mutex::new(InputState { pipe: Some(pipe), begun: None });
        Ok(Self(Arc::new(InputShared { state, left: Notify::new() })))
    }

    /// Writes what waits, until there will be nothing more. Dropping this closes nothing ([`Self::close`] does).
    ///
    /// # Errors
    /// [`InputRefused`] where the process takes nothing more.
    pub(super) async fn carry(&self, outbox: &mut Outbox) -> Result<(), InputRefused> {
        loop {
            tokio::select! {
                outgoing = outbox.recv() => match outgoing {
                    Some(outgoing) => {
                        self.finish().await?;
                        may_fail_here("input");
                        if outgoing.sent.leaves() {
                            self.whole(line(outgoing)).await?;
                        }
                    }
                    None => return self.finish().await,
                },
                () = self.0.left.notified() => self.finish().await?,
            }
        }
    }

    /// The process finds the end of its input.
    pub(super) fn close(&self) {
        let mut state = self.state();
        (state.pipe, state.begun) = (None, None);
    }

    /// Writes the rest of what was begun.
    async fn finish(&self) -> Result<(), InputRefused> {
        let begun = self.state().begun.take();
        match begun {
            Some(begun) => self.whole(begun).await,
            None => Ok(()),
        }
    }

    async fn whole(&self, mut outgoing: Outgoing) -> Result<(), InputRefused> {
        let written = std::future::poll_fn(|context| self.poll_whole(&mut outgoing, context)).await;
        written.map_err(|_| InputRefused(outgoing))
    }

    fn poll_whole(&self, outgoing: &mut Outgoing, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.state();
        let pipe = state.pipe.as_mut().ok_or(ErrorKind::BrokenPipe)?;
        poll_whole(pipe, outgoing, context)
    }

    fn state(&self) -> MutexGuard<'_, InputState> {
        self.0.state.lock()
    }
}

impl AtOnce for ServerInput {
    fn write(&self, outgoing: Outgoing, waiting: &Arc<AtomicUsize>) -> Option<Outgoing> {
        // What fails on purpose fails in the task.
        if cfg!(windows) || faults_are_planted() {
            return Some(outgoing);
        }
        let mut state = self.state();
        if waiting.load(Ordering::SeqCst) > 0 {
            return Some(outgoing);
        }
        let Some(pipe) = &mut state.pipe else { return Some(outgoing) };
        if !outgoing.sent.leaves() {
            return None;
        }
        let mut outgoing = line(outgoing);
        // The task waits for room where there is none.
        match poll_whole(pipe, &mut outgoing, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) => None,
            Poll::Pending | Poll::Ready(Err(_)) if outgoing.begun == 0 => {
                outgoing.sent.stays();
                outgoing.json.pop();
                Some(outgoing)
            }
            Poll::Pending | Poll::Ready(Err(_)) => {
                state.begun = Some(Outgoing { _turn: Some(QueuedWrite::of(waiting)), ..outgoing });
                self.0.left.notify_one();
                None
            }
        }
    }
}

fn line(mut outgoing: Outgoing) -> Outgoing {
    outgoing.json.push('\n');
    outgoing
}

/// Writes all of it, and counts how much was taken.
fn poll_whole(
    pipe: &mut ChildStdin,
    outgoing: &mut Outgoing,
    context: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    while let Some(rest) = outgoing.json.as_bytes().get(outgoing.begun..).filter(|rest| !rest.is_empty()) {
        match std::task::ready!(Pin::new(&mut *pipe).poll_write(context, rest))? {
            0 => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
            more => outgoing.begun += more,
        }
    }
    Pin::new(pipe).poll_flush(context)
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Stdio;

    use tokio::{io::AsyncReadExt, process::Command, sync::mpsc};

    use super::*;
    use crate::upstream::link::Sent;

    fn message(json: &str) -> Outgoing {
        let (sent, headers) = (Sent::default(), vec![]);
        Outgoing {
            json: json.into(),
            id: None,
            method: None,
            named: None,
            headers,
            sent,
            begun: 0,
            _turn: None,
        }
    }

    /// As a link does it: what cannot be written at once waits in the queue.
    async fn send(
        input: &ServerInput,
        waiting: &Arc<AtomicUsize>,
        queue: &mpsc::Sender<Outgoing>,
        json: &str,
    ) {
        if let Some(left) = input.write(message(json), waiting) {
            let waits = Outgoing { _turn: Some(QueuedWrite::of(waiting)), ..left };
            queue.send(waits).await.expect("the queue is read");
        }
    }

    #[tokio::test]
    async fn messages_that_a_process_reads_slowly_arrive_whole_and_in_order() {
        let mut cat = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (pipe, mut output) = (cat.stdin.take().unwrap(), cat.stdout.take().unwrap());
        let input = ServerInput::open(pipe, b"orders\n").await.unwrap();
        let (waiting, (queue, mut outbox)) = (Arc::default(), mpsc::channel(64));
        let messages: Vec<String> =
            (b'a'..=b'h').map(|letter| char::from(letter).to_string().repeat(90_000)).collect();
        send(&input, &waiting, &queue, "small").await;
        assert_eq!(waiting.load(Ordering::SeqCst), 0, "it was taken at once");
        // Nobody reads so far: the first one that is too large is begun, and the others wait behind it.
        for message in &messages {
            send(&input, &waiting, &queue, message).await;
        }
        assert!(waiting.load(Ordering::SeqCst) > 1);
        drop(queue);
        let writing = async {
            assert!(input.carry(&mut outbox).await.is_ok());
            assert_eq!(waiting.load(Ordering::SeqCst), 0);
            input.close();
        };
        let mut read = String::new();
        let (_, count) = tokio::join!(writing, output.read_to_string(&mut read));
        let expected = format!("orders\nsmall\n{}\n", messages.join("\n"));
        assert_eq!(count.unwrap(), expected.len());
        assert!(read == expected, "each line whole, in the order in which it was sent");
    }

    #[tokio::test]
    async fn a_message_that_a_closed_process_did_not_read_is_returned_unchanged() {
        let mut gone = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
        let input = ServerInput::open(gone.stdin.take().unwrap(), b"").await.unwrap();
        gone.wait().await.unwrap();
        let waiting = Arc::default();
        let left = input.write(message("lost"), &waiting).expect("nobody takes it");
        assert_eq!((left.json.as_str(), left.begun), ("lost", 0));
        let (queue, mut outbox) = mpsc::channel(1);
        queue.send(left).await.unwrap();
        let refused = input.carry(&mut outbox).await;
        assert!(refused.is_err_and(|InputRefused(outgoing)| outgoing.begun == 0));
    }
}
