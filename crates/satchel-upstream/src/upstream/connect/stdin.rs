//! Writes to the standard input of a server's process. The sender of a message writes it itself while nothing waits; one
//! task writes what the process did not take at once, and what waits in the queue.
//!
//! Theory of operation: only the holder of the lock writes. A sender that finds it taken hands its message over, and the holder
//! writes that too, so no thread waits for another's system call, and what came meanwhile is one system call. After letting
//! go of the lock, everybody looks for messages that were handed over just before.
//!
//! A waiting message holds a [`QueuedWrite`], and no sender writes while one exists. What was accepted and not taken waits
//! here, before the messages of the queue.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind, IoSlice},
    mem,
    pin::Pin,
    sync::{Arc, atomic::AtomicUsize, atomic::Ordering},
    task::{Context, Poll, Waker, ready},
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

/// How many messages one system call takes.
const TOGETHER: usize = 16;
/// How many times a sender writes for others before the task does.
const ROUNDS: usize = 8;

/// The input of one process. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct ServerInput(Arc<InputShared>);

#[derive(Debug)]
struct InputShared {
    state: Mutex<InputState>,
    /// Messages of senders that found the lock taken; they belong behind those that are unwritten.
    handed_over: Mutex<Vec<Outgoing>>,
    /// Something waits in here.
    left: Notify,
}

#[derive(Debug, Default)]
struct InputState {
    /// Closed where it is gone.
    pipe: Option<ChildStdin>,
    /// Accepted, and not taken so far; the first one perhaps in part.
    unwritten: VecDeque<Outgoing>,
    /// The task writes; what senders write would take the process's readiness away from it.
    task_writes: bool,
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
        let state = Mutex::new(InputState { pipe: Some(pipe), ..InputState::default() });
        Ok(Self(Arc::new(InputShared { state, handed_over: Mutex::default(), left: Notify::new() })))
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
                        self.state().unwritten.push_back(line(outgoing));
                        self.finish().await?;
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
        (state.pipe, state.unwritten) = (None, VecDeque::new());
        self.0.handed_over.lock().clear();
    }

    /// Writes everything that was accepted.
    async fn finish(&self) -> Result<(), InputRefused> {
        let finished = std::future::poll_fn(|context| self.poll_finish(context)).await;
        self.look_again();
        if finished.is_err()
            && let Some(first) = self.state().unwritten.pop_front()
        {
            return Err(InputRefused(first));
        }
        Ok(())
    }

    fn poll_finish(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.state();
        loop {
            state.unwritten.append(&mut self.take_handed_over());
            let written = state.poll_unwritten(context);
            state.task_writes = written.is_pending();
            ready!(written)?;
            if self.0.handed_over.lock().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }

    fn take_handed_over(&self) -> VecDeque<Outgoing> {
        mem::take(&mut *self.0.handed_over.lock()).into()
    }

    /// The task looks for what was handed over while the lock was held.
    fn look_again(&self) {
        if !self.0.handed_over.lock().is_empty() {
            self.0.left.notify_one();
        }
    }

    /// Writes the messages that other senders handed over, unless another thread holds the lock: that one writes them.
    fn write_handed_over(&self, waiting: &Arc<AtomicUsize>) {
        for _ in 0..ROUNDS {
            if self.0.handed_over.lock().is_empty() {
                return;
            }
            let Some(mut state) = self.0.state.try_lock() else { return };
            self.write_all(&mut state, waiting);
        }
        self.look_again();
    }

    /// Writes what was accepted, in order. What the process does not take now is left to the task.
    fn write_all(&self, state: &mut InputState, waiting: &Arc<AtomicUsize>) {
        if state.task_writes {
            return;
        }
        state.unwritten.append(&mut self.take_handed_over());
        if let Poll::Ready(Ok(())) = state.poll_unwritten(&mut Context::from_waker(Waker::noop())) {
            return;
        }
        for outgoing in &mut state.unwritten {
            outgoing._turn.get_or_insert_with(|| QueuedWrite::of(waiting));
        }
        self.0.left.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, InputState> {
        self.0.state.lock()
    }
}

impl InputState {
    /// Writes all of it, and counts how much was taken of what is left.
    fn poll_unwritten(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let together = self.leave();
            if together == 0 {
                return Poll::Ready(Ok(()));
            }
            let taken = self.poll_write(together, context);
            let mut left = together;
            if let Poll::Ready(Ok(bytes)) = taken {
                left -= self.count(bytes);
            }
            for outgoing in self.unwritten.iter().take(left).filter(|outgoing| outgoing.begun == 0) {
                outgoing.sent.stays();
            }
            ready!(taken)?;
        }
    }

    /// How many of the first ones are written at once, without those that were given up.
    fn leave(&mut self) -> usize {
        let mut together = 0;
        while together < TOGETHER
            && let Some(outgoing) = self.unwritten.get(together)
        {
            if outgoing.begun > 0 || outgoing.sent.leaves() {
                together += 1;
            } else {
                self.unwritten.remove(together);
            }
        }
        together
    }

    fn poll_write(&mut self, together: usize, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Self { pipe: Some(pipe), unwritten, .. } = self else {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        };
        let mut rests = [IoSlice::new(&[]); TOGETHER];
        for (rest, outgoing) in rests.iter_mut().zip(unwritten.iter().take(together)) {
            *rest = IoSlice::new(outgoing.rest());
        }
        let rests = rests.get(..together).unwrap_or_default();
        match ready!(Pin::new(pipe).poll_write_vectored(context, rests))? {
            0 => Poll::Ready(Err(ErrorKind::WriteZero.into())),
            bytes => Poll::Ready(Ok(bytes)),
        }
    }

    /// So many bytes were taken; returns how many messages are complete.
    fn count(&mut self, mut bytes: usize) -> usize {
        let mut complete = 0;
        while bytes > 0
            && let Some(first) = self.unwritten.front_mut()
        {
            let of_it = bytes.min(first.rest().len());
            first.begun += of_it;
            bytes -= of_it;
            if first.rest().is_empty() {
                self.unwritten.pop_front();
                complete += 1;
            }
        }
        complete
    }
}

impl Outgoing {
    fn rest(&self) -> &[u8] {
        self.json.as_bytes().get(self.begun..).unwrap_or_default()
    }
}

impl AtOnce for ServerInput {
    fn write(&self, outgoing: Outgoing, waiting: &Arc<AtomicUsize>) -> Option<Outgoing> {
        let somebody_waits = || waiting.load(Ordering::SeqCst) > 0;
        // What fails on purpose fails in the task.
        if cfg!(windows) || faults_are_planted() || somebody_waits() {
            return Some(outgoing);
        }
        match self.0.state.try_lock() {
            Some(state) if somebody_waits() || state.task_writes || state.pipe.is_none() => {
                return Some(outgoing);
            }
            Some(mut state) => {
                state.unwritten.append(&mut self.take_handed_over());
                state.unwritten.push_back(line(outgoing));
                self.write_all(&mut state, waiting);
            }
            None => self.0.handed_over.lock().push(line(outgoing)),
        }
        self.write_handed_over(waiting);
        None
    }
}

fn line(mut outgoing: Outgoing) -> Outgoing {
    outgoing.json.push('\n');
    outgoing
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Stdio;

    use tokio::{
        io::AsyncReadExt,
        process::{Child, ChildStdout, Command},
        sync::mpsc,
    };

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

    /// A process that writes what it reads.
    fn cat() -> (Child, ChildStdin, ChildStdout) {
        let mut cat = Command::new("cat");
        cat.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut cat = cat.spawn().expect("cat is installed");
        let pipes = cat.stdin.take().zip(cat.stdout.take());
        let (pipe, output) = pipes.expect("both were asked for");
        (cat, pipe, output)
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
        let (_cat, pipe, mut output) = cat();
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

    #[tokio::test(flavor = "multi_thread")]
    async fn messages_of_many_senders_arrive_whole_and_each_senders_in_its_order() {
        const SENDERS: usize = 8;
        const EACH: usize = 2_000;
        let (_cat, pipe, mut output) = cat();
        let input = ServerInput::open(pipe, b"").await.unwrap();
        let (waiting, (queue, mut outbox)) = (Arc::default(), mpsc::channel(64));
        let mut senders = tokio::task::JoinSet::new();
        for sender in 0..SENDERS {
            let (input, waiting, queue) = (input.clone(), Arc::clone(&waiting), queue.clone());
            senders.spawn(async move {
                for number in 0..EACH {
                    // Some larger than what a pipe takes at once.
                    let filling = "x".repeat(if number % 100 == sender { 100_000 } else { 10 });
                    send(&input, &waiting, &queue, &format!("{sender} {number} {filling}")).await;
                }
            });
        }
        drop(queue);
        let sent = async {
            let carried = input.carry(&mut outbox).await;
            senders.join_all().await;
            // A sender whose last message needed no queue ends after the queue was closed.
            assert!(carried.is_ok() && input.finish().await.is_ok());
            assert_eq!(waiting.load(Ordering::SeqCst), 0);
            input.close();
        };
        let mut read = String::new();
        let (_, count) = tokio::join!(sent, output.read_to_string(&mut read));
        count.unwrap();
        let mut next = [0; SENDERS];
        for line in read.lines() {
            let mut words = line.split(' ');
            let [sender, number] = [(); 2].map(|()| words.next().unwrap().parse::<usize>().unwrap());
            assert_eq!(number, next[sender], "of sender {sender}");
            assert!(words.next().unwrap().bytes().all(|byte| byte == b'x'));
            next[sender] += 1;
        }
        assert_eq!(next, [EACH; SENDERS]);
    }

    #[tokio::test]
    async fn a_message_that_a_closed_process_did_not_read_is_refused_as_not_begun() {
        let mut gone = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
        let input = ServerInput::open(gone.stdin.take().unwrap(), b"").await.unwrap();
        gone.wait().await.unwrap();
        let waiting: Arc<AtomicUsize> = Arc::default();
        let (queue, mut outbox) = mpsc::channel(1);
        // A process that another test starts may keep the pipe open until it has begun.
        while waiting.load(Ordering::SeqCst) == 0 {
            send(&input, &waiting, &queue, "lost").await;
            tokio::task::yield_now().await;
        }
        let refused = input.carry(&mut outbox).await;
        assert!(
            refused.is_err_and(|InputRefused(outgoing)| outgoing.json == "lost\n" && outgoing.begun == 0)
        );
        input.close();
        let left = input.write(message("late"), &waiting).expect("a closed input returns the message");
        assert_eq!((left.json.as_str(), left.begun), ("late", 0));
    }
}
