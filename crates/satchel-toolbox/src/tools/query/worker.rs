//! The body of `<program> toolbox query`: evaluates one task from standard input and reports on standard output.
//!
//! Theory of operation: a thread with a large stack evaluates; the main thread looks at the clock and at the
//! memory of this process, and ends the process when either is used up. A stack that overflows all the same
//! ends this process too, which is why it is one of its own.

use std::{
    io::{self, Read, Write},
    process::ExitCode,
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

use super::{QueryTask, Report, TIME_LIMIT, evaluate};

/// How much memory this process may use, in bytes.
pub(super) const MEMORY_LIMIT: usize = 256 * 1024 * 1024;
/// The longest report that is read, in bytes; results are limited well below it.
pub(super) const REPORT_LIMIT: u64 = 4 * 1024 * 1024;
/// How often memory use is checked.
const TICK: Duration = Duration::from_millis(20);
const STACK: usize = 64 * 1024 * 1024;

pub(crate) fn main() -> ExitCode {
    match read_task().and_then(|task| watch(task, TIME_LIMIT)).and_then(|report| say(&report)) {
        // The evaluating thread may still be running; returning from `main` ends it.
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn read_task() -> io::Result<QueryTask> {
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

fn say(report: &Report) -> io::Result<()> {
    let mut output = io::stdout().lock();
    serde_json::to_writer(&mut output, report)?;
    output.flush()
}

fn watch(task: QueryTask, limit: Duration) -> io::Result<Report> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().stack_size(STACK).spawn(move || {
        // The receiver is gone after the timeout.
        let _ = sender.send(evaluate::evaluate(&task.program, task.document.as_bytes()));
    })?;
    await_report(&receiver, limit)
}

fn await_report(receiver: &Receiver<Report>, limit: Duration) -> io::Result<Report> {
    let mut waited = Duration::ZERO;
    while waited < limit {
        match receiver.recv_timeout(TICK) {
            Ok(report) => return Ok(report),
            // The thread panicked, for example because a value was too large to allocate.
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the evaluation failed")),
            Err(RecvTimeoutError::Timeout) => waited += TICK,
        }
        if memory_stats::memory_stats().is_some_and(|used| used.physical_mem > MEMORY_LIMIT) {
            return Ok(Report::OutOfMemory);
        }
    }
    Ok(Report::OutOfTime)
}
