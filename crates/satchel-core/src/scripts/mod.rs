//! Scripts that models write: where they run, what they may use up, and what their calls come to as values. How a call
//! is carried out, and whether it may be, is not decided here: whoever runs a script hands in a [`Carry`].
//!
//! Theory of operation: each script has a process of its own ([`process`]), which ends with it. A [`Run`] is driven by
//! whoever waits for its end; dropping it ends the process and gives up the calls that are open. One process is kept
//! warm for the next script while scripts are run; a task lets it go when none was for a while.

pub mod process;
mod run;
mod value;

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};

use parking_lot::Mutex;

use tokio_util::{sync::CancellationToken, task::TaskTracker};

use process::Runner;
pub use process::main;
pub use run::{Carry, Finished, Pending, Run, StartError};
pub use satchel_script::protocol::{CallRequest, Logs, Settlement, Task, Wrong};
pub use value::{Blocks, answer};

/// How long an unused warm process is kept.
const WARM: Duration = Duration::from_secs(60);
/// Maximum number of concurrent scripts: per client, and in total.
const OF_CLIENT: usize = 4;
const ALL: usize = 16;

/// State shared by scripts. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Scripts(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    program: PathBuf,
    tracker: TaskTracker,
    end: CancellationToken,
    warm: Mutex<Warm>,
    running: Mutex<HashMap<Arc<str>, usize>>,
}

/// The warm process, and the number of those kept before it.
#[derive(Debug, Default)]
struct Warm {
    process: Option<Runner>,
    number: u64,
}

/// A permit to run a script. Returned when dropped.
#[derive(Debug)]
pub struct Turn {
    scripts: Scripts,
    client: Arc<str>,
}

impl Scripts {
    /// `program` is this program. Warm processes end with `end`.
    pub fn new(program: PathBuf, tracker: TaskTracker, end: CancellationToken) -> Self {
        let (warm, running) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Inner { program, tracker, end, warm, running }))
    }

    /// Starts a script for this client.
    ///
    /// # Errors
    /// [`StartError`] if too many are running, or no process can be started.
    pub fn begin(&self, client: &Arc<str>, task: &Task, patience: Duration) -> Result<Run, StartError> {
        let turn = self.turn(client)?;
        let warm = self.0.warm.lock().process.take();
        let warm = warm.and_then(|mut process| process.is_there().then_some(process));
        let process = warm.map_or_else(|| Runner::start(&self.0.program), Ok)?;
        self.keep_warm();
        Run::new(process, turn, task, patience)
    }

    fn turn(&self, client: &Arc<str>) -> Result<Turn, StartError> {
        let mut running = self.0.running.lock();
        if running.values().sum::<usize>() >= ALL {
            return Err(StartError::TooMany(ALL));
        }
        let own = running.entry(client.clone()).or_default();
        if *own >= OF_CLIENT {
            return Err(StartError::TooMany(OF_CLIENT));
        }
        *own += 1;
        Ok(Turn { scripts: self.clone(), client: client.clone() })
    }

    /// Starts a process for the next script, and stops it if it stays unused for a while.
    fn keep_warm(&self) {
        let (inner, end) = (Arc::downgrade(&self.0), self.0.end.clone());
        self.0.tracker.spawn(async move {
            let Some(number) = inner.upgrade().and_then(|inner| inner.warm_up()) else { return };
            tokio::select! {
                () = tokio::time::sleep(WARM) => {}
                () = end.cancelled() => {}
            }
            let Some(inner) = inner.upgrade() else { return };
            let mut warm = inner.warm.lock();
            let gone = if warm.number == number { warm.process.take() } else { None };
            drop(warm);
            drop(gone);
        });
    }
}

impl Inner {
    /// Starts the process for the next script, and returns how many were kept so far.
    fn warm_up(&self) -> Option<u64> {
        // If it cannot be started, the next script reports why.
        let process = Runner::start(&self.program).ok()?;
        let mut warm = self.warm.lock();
        warm.number += 1;
        warm.process = Some(process);
        Some(warm.number)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut running = self.scripts.0.running.lock();
        if let Some(own) = running.get_mut(&self.client) {
            *own -= 1;
            if *own == 0 {
                running.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell writes it: a process that another test starts meanwhile would inherit the file open for writing, and Linux
    /// refuses to run such a file.
    #[cfg(unix)]
    pub(super) fn write_program(program: &std::path::Path, text: &str) {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "printf %s \"$1\" > \"$0\" && chmod 700 \"$0\""]).arg(program).arg(text);
        assert!(shell.status().unwrap().success());
    }

    /// The clock is paused except while waiting.
    #[cfg(unix)]
    #[tokio::test(start_paused = true)]
    async fn one_process_is_kept_warm_for_the_next_script_and_goes_when_there_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("process");
        write_program(&program, "#!/bin/sh\nexec cat > /dev/null\n");
        let scripts = Scripts::new(program, TaskTracker::new(), CancellationToken::new());
        let input = satchel_mcp::Raw::from_string("1".to_owned()).unwrap();
        let task = Task { script: String::new(), input };
        let begin = || scripts.begin(&"a".into(), &task, WARM).unwrap();
        let number = || {
            let warm = scripts.0.warm.lock();
            warm.process.is_some().then_some(warm.number)
        };
        assert_eq!(number(), None, "none before the first script");
        let first = begin();
        while number().is_none() {
            tokio::task::yield_now().await;
        }
        assert_eq!(number(), Some(1));
        // It is taken, and replaced.
        let second = begin();
        assert_eq!(number(), None);
        while number().is_none() {
            tokio::task::yield_now().await;
        }
        assert_eq!(number(), Some(2));
        tokio::time::sleep(WARM + WARM / 2).await;
        assert_eq!(number(), None, "it goes when nobody needs it");
        drop((first, second));
        assert!(scripts.0.running.lock().is_empty());
    }

    #[test]
    fn a_client_takes_no_turn_from_another_and_gives_its_own_back() {
        let scripts = Scripts::new(PathBuf::new(), TaskTracker::new(), CancellationToken::new());
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let mut turns: Vec<Turn> = (0..OF_CLIENT).map(|_| scripts.turn(&a).unwrap()).collect();
        assert!(matches!(scripts.turn(&a), Err(StartError::TooMany(OF_CLIENT))));
        assert!(scripts.turn(&b).is_ok());
        turns.pop();
        assert!(scripts.turn(&a).is_ok());
        drop(turns);
        assert!(scripts.0.running.lock().is_empty());
    }
}
