//! One running script: its process, its pending calls and its limits. Trusts nothing the process says: calls and time are counted
//! here.

use std::{pin::Pin, process::ExitStatus, task::Poll, time::Duration};

use satchel_mcp::Raw;
use satchel_script::{
    Bounds,
    protocol::{Bound, CallRequest, FromScript, Logs, Settlement, Task, ToScript, Wrong},
};
use tokio::time::Instant;

use super::{
    Turn,
    process::{Runner, RunnerMessage},
};
use crate::{
    tasks::on_message,
    upstream::sealed::{self, Limit},
};

/// Maximum number of concurrent calls of one script.
const AT_ONCE: usize = 8;
/// Maximum duration of a script, excluding the time people take to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);
/// How often to check whether people are being asked.
const TICK: Duration = Duration::from_secs(1);
/// Maximum size of one call's value, in bytes.
const VALUE: usize = 8 * 1024 * 1024 + 64 * 1024;

/// A call in flight.
pub type Pending = Pin<Box<dyn Future<Output = Settlement> + Send>>;

/// Executes calls.
pub trait Carry {
    /// Starts a call.
    fn carry(&mut self, call: CallRequest) -> Pending;

    /// Does a call wait for people? That time does not count as the script's.
    fn is_asking(&self) -> bool;
}

/// Why a script was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// This many are running.
    #[error("{0} scripts are already running")]
    TooMany(usize),
    /// Its process could not be started.
    #[error("the script's process cannot be started: {0}")]
    Process(#[from] std::io::Error),
}

/// The result of a script.
#[derive(Debug)]
pub struct Finished {
    /// Its return value, if any.
    pub outcome: Result<Option<Box<Raw>>, Wrong>,
    /// What it logged.
    pub logs: Logs,
    /// Number of calls it made.
    pub calls: u32,
    /// Number of calls it did not await.
    pub left: usize,
}

/// A running script. Dropping it stops it and cancels its calls.
pub struct Run {
    process: Runner,
    _turn: Turn,
    open: Vec<(u32, Pending)>,
    queue: std::collections::VecDeque<CallRequest>,
    made: u32,
    patience: Duration,
    deadline: Instant,
    looked: Instant,
    asking: bool,
    ready: bool,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("made", &self.made)
            .field("open", &self.open.len())
            .finish_non_exhaustive()
    }
}

impl Run {
    pub(super) fn new(
        mut process: Runner,
        turn: Turn,
        task: &Task,
        patience: Duration,
    ) -> Result<Self, StartError> {
        process.say(&ToScript::Run(task.clone()));
        let (now, patience) = (Instant::now(), patience.clamp(TICK, PATIENCE));
        Ok(Self {
            process,
            _turn: turn,
            open: Vec::new(),
            queue: std::collections::VecDeque::new(),
            made: 0,
            patience,
            deadline: now + patience,
            looked: now,
            asking: false,
            ready: false,
        })
    }

    /// Runs until the script ends. Cancel safe.
    pub async fn end(&mut self, carry: &mut (dyn Carry + Send)) -> Finished {
        loop {
            while self.open.len() < AT_ONCE
                && let Some(call) = self.queue.pop_front()
            {
                let id = call.id;
                self.open.push((id, carry.carry(call)));
            }
            // A finished call waits until earlier results are sent, so that results do not pile up.
            let quiet = self.process.is_quiet();
            let next = (self.looked + TICK).min(self.deadline);
            tokio::select! {
                heard = self.process.exchange() => match heard {
                    RunnerMessage::Word(word) => if let Some(finished) = self.take(word) {
                        return finished;
                    },
                    RunnerMessage::Said => {}
                    RunnerMessage::Ended(status) => return self.finished(Err(self.broken(status))),
                    RunnerMessage::Nonsense => return self.finished(Err(Wrong::Thrown("the script's process broke".to_owned()))),
                },
                (id, end) = first_to_end(&mut self.open), if quiet => {
                    let length = match &end {
                        Settlement::Value(value) => value.get().len(),
                        Settlement::Failure(words) => words.len(),
                    };
                    on_message(length, || self.process.say(&ToScript::Settled { id, end: bounded(end) }));
                }
                () = tokio::time::sleep_until(next) => {}
            }
            let now = Instant::now();
            // Someone may have just answered; the time until then was theirs.
            let asking = std::mem::replace(&mut self.asking, carry.is_asking());
            if asking || self.asking {
                self.deadline += now - self.looked;
            }
            self.looked = now;
            if now >= self.deadline {
                return self.finished(Err(Wrong::Bound(Bound::Time(self.patience.as_secs()))));
            }
        }
    }

    fn take(&mut self, word: FromScript) -> Option<Finished> {
        match word {
            FromScript::Ready => self.ready = true,
            FromScript::Call(call) => {
                let most = Bounds::default().calls;
                if self.made == most {
                    return Some(self.finished(Err(Wrong::Bound(Bound::Calls(most)))));
                }
                self.made += 1;
                self.queue.push_back(call);
            }
            FromScript::Done(end) => {
                return Some(Finished {
                    outcome: end.outcome,
                    logs: end.logs,
                    calls: self.made,
                    left: end.left,
                });
            }
        }
        None
    }

    fn finished(&self, outcome: Result<Option<Box<Raw>>, Wrong>) -> Finished {
        Finished { outcome, logs: Logs::default(), calls: self.made, left: 0 }
    }

    /// Why the process exited without a message.
    fn broken(&self, status: Option<ExitStatus>) -> Wrong {
        let bounds = Bounds::default();
        if !self.ready {
            return Wrong::Thrown("the script's process could not be sealed, so nothing was run".to_owned());
        }
        match status.and_then(sealed::limit_of) {
            Some(Limit::Computing) => Wrong::Bound(Bound::Computing(bounds.computing.as_secs())),
            Some(Limit::Memory) => Wrong::Bound(Bound::Memory(bounds.memory)),
            None => Wrong::Thrown("the script's process ended unexpectedly".to_owned()),
        }
    }
}

/// The next call to finish; pending if none is open. Polls all of them, because they are few.
async fn first_to_end(open: &mut Vec<(u32, Pending)>) -> (u32, Settlement) {
    std::future::poll_fn(|context| {
        for at in 0..open.len() {
            if let Poll::Ready(end) = open[at].1.as_mut().poll(context) {
                let (id, _) = open.swap_remove(at);
                return Poll::Ready((id, end));
            }
        }
        Poll::Pending
    })
    .await
}

fn bounded(end: Settlement) -> Settlement {
    match end {
        Settlement::Value(value) if value.get().len() > VALUE => Settlement::Failure(format!(
            "the result has {} bytes, and a script accepts at most {VALUE} bytes; ask the tool for less",
            value.get().len()
        )),
        end => end,
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use tokio_util::{sync::CancellationToken, task::TaskTracker};

    use super::*;
    use crate::scripts::{Scripts, tests::write_program};

    /// Executes nothing: calls finish when a given number is open, and people are asked a given number of times.
    #[derive(Default)]
    struct Hands {
        open: Arc<AtomicUsize>,
        most: Arc<AtomicUsize>,
        together: usize,
        asked: AtomicUsize,
    }

    impl Carry for Hands {
        fn carry(&mut self, call: CallRequest) -> Pending {
            let (open, most, together) = (self.open.clone(), self.most.clone(), self.together);
            let now = open.fetch_add(1, Ordering::Relaxed) + 1;
            most.fetch_max(now, Ordering::Relaxed);
            Box::pin(async move {
                while most.load(Ordering::Relaxed) < together {
                    tokio::task::yield_now().await;
                }
                open.fetch_sub(1, Ordering::Relaxed);
                Settlement::Failure(call.path)
            })
        }

        fn is_asking(&self) -> bool {
            self.asked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
        }
    }

    /// The result of a process that does this instead of running its script.
    async fn outcome(process: &str, hands: &mut Hands) -> (String, u32) {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("process");
        write_program(&program, &format!("#!/bin/sh\n{process}\n"));
        let scripts = Scripts::new(program, TaskTracker::new(), CancellationToken::new());
        let input = Raw::from_string("1".to_owned()).unwrap();
        let task = Task { script: String::new(), input };
        let mut run = scripts.begin(&"a".into(), &task, Duration::from_secs(30)).unwrap();
        let finished = run.end(hands).await;
        (finished.outcome.unwrap_err().to_string(), finished.calls)
    }

    const CALL: &str = r#"{"call":{"id":'$i',"path":"a:b","arguments":{}}}"#;

    fn calls(count: u32, after: &str) -> String {
        format!(
            "echo '\"ready\"'; i=0; while [ $i -lt {count} ]; do i=$((i+1)); echo '{CALL}'; done; {after}"
        )
    }

    #[tokio::test]
    async fn a_process_that_does_not_count_its_calls_is_counted_here() {
        let mut hands = Hands::default();
        let (told, made) = outcome(&calls(300, "cat > /dev/null"), &mut hands).await;
        assert_eq!((told.as_str(), made), ("the script made more than 200 calls", 200));
    }

    #[tokio::test]
    async fn eight_calls_are_open_at_once_and_the_others_wait() {
        let mut hands = Hands { together: AT_ONCE, ..Hands::default() };
        // It ends after it has received all results.
        let (told, made) = outcome(&calls(40, "head -n 41 > /dev/null"), &mut hands).await;
        assert_eq!((told.as_str(), made), ("the script's process ended unexpectedly", 40));
        assert_eq!((hands.most.load(Ordering::Relaxed), hands.open.load(Ordering::Relaxed)), (AT_ONCE, 0));
    }

    #[tokio::test]
    async fn invalid_output_or_a_signal_ends_the_script() {
        for (said, expected) in [
            ("echo hello; cat > /dev/null", "the script's process broke"),
            ("echo '\"ready\"'; echo '{\"call\":{}}'; cat > /dev/null", "the script's process broke"),
            ("exit 1", "the script's process could not be sealed, so nothing was run"),
            ("echo '\"ready\"'; kill -XCPU $$; cat > /dev/null", "the script computed for more than 5 s"),
            (
                "echo '\"ready\"'; kill -ABRT $$; cat > /dev/null",
                "the script used more than 64 MiB of memory",
            ),
        ] {
            assert_eq!(outcome(said, &mut Hands::default()).await.0, expected, "{said}");
        }
    }

    /// The clock is paused except while waiting.
    #[tokio::test(start_paused = true)]
    async fn the_time_that_people_take_is_not_the_scripts() {
        let took = async |asked: usize| {
            let began = Instant::now();
            let mut hands = Hands { asked: AtomicUsize::new(asked), ..Hands::default() };
            let (told, _) = outcome("cat > /dev/null", &mut hands).await;
            assert_eq!(told, "the script took more than 30 s");
            began.elapsed().as_secs()
        };
        let alone = took(0).await;
        assert!(took(90).await >= alone + 90);
    }
}
