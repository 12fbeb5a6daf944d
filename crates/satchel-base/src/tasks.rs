//! Panic isolation: a task that panics is logged and restarted alone; its callers get an error.
//!
//! The log names the source location and nothing else: a panic's message may quote the data it worked on, secrets
//! included.

use std::{
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
    time::Duration,
};

use tokio::runtime::{Handle, RuntimeFlavor};

/// The first pause before a panicked task is restarted; doubled each time, up to [`MOST`].
const FIRST: Duration = Duration::from_millis(100);
const MOST: Duration = Duration::from_secs(60);

/// A task of the hub panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an internal error occurred in Satchel; see the log")]
pub struct Panicked;

/// Runs a future to completion, or to its panic.
///
/// # Errors
/// [`Panicked`]. The future's data may be inconsistent: discard or rebuild it.
pub async fn caught<F: Future>(future: F) -> Result<F::Output, Panicked> {
    let mut future = pin!(future);
    poll_fn(move |context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(_) => Poll::Ready(Err(Panicked)),
    })
    .await
}

/// Runs the future that `make` creates to completion; creates and runs it again if it panics.
pub async fn kept<F: Future<Output = ()>>(what: &str, mut make: impl FnMut() -> F) {
    let mut pause = FIRST;
    while caught(make()).await.is_err() {
        tracing::error!(what, "a task of the hub panicked; restarting it");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MOST);
    }
}

/// From this many bytes on, work on a message may hold up other tasks.
const LARGE: usize = 256 * 1024;

/// Does work that grows with a message of this length in bytes. Where that is much, other tasks of this thread go on
/// elsewhere meanwhile.
pub fn on_message<T>(length: usize, work: impl FnOnce() -> T) -> T {
    let several = || {
        let runtime = Handle::try_current();
        runtime.is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
    };
    if length >= LARGE && several() { tokio::task::block_in_place(work) } else { work() }
}

/// From now on, logs the location of a panic, but not its message.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "Satchel panicked here; please report it");
    }));
}

/// A fault injection point: panics once if the directory `SATCHEL_FAULTS` contains a file of this name, which is
/// removed. Release builds have no such points.
#[inline]
pub fn may_fail_here(name: &str) {
    #[cfg(debug_assertions)]
    if let Some(faults) = std::env::var_os("SATCHEL_FAULTS")
        && std::fs::remove_file(std::path::Path::new(&faults).join(name)).is_ok()
    {
        panic!("planted");
    }
    #[cfg(not(debug_assertions))]
    let _ = name;
}

/// May a test make parts fail?
#[inline]
pub fn faults_are_planted() -> bool {
    cfg!(debug_assertions) && std::env::var_os("SATCHEL_FAULTS").is_some()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_panicking_task_is_restarted_until_it_ends() {
        let times = AtomicUsize::new(0);
        kept("test", async || {
            tokio::task::yield_now().await;
            assert!(times.fetch_add(1, Ordering::Relaxed) == 3, "not yet");
        })
        .await;
        assert_eq!(times.into_inner(), 4);
        assert_eq!(caught(async { 7 }).await, Ok(7));
    }

    #[test]
    fn work_on_a_large_message_leaves_the_thread_to_other_tasks() {
        let one = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        // The only worker waits for a task that it has to run itself.
        let waits = || {
            let (send, receive) = std::sync::mpsc::channel();
            #[expect(clippy::disallowed_methods, reason = "the work waits for it")]
            tokio::spawn(async move { send.send(()) });
            receive.recv().is_ok()
        };
        #[expect(clippy::disallowed_methods, reason = "the test waits for it")]
        let worked = one.block_on(async { tokio::spawn(async move { on_message(LARGE, waits) }).await });
        assert!(worked.unwrap());
        assert_eq!(on_message(LARGE, || 7), 7, "without a runtime");
    }
}
