//! Handles the operating system's signals to end, in the same order as Quit.

use crate::{serving::Serving, updates::Updates};

/// Waits for a termination signal and shuts down.
pub(crate) async fn end_in_order(serving: Serving, updates: Updates) {
    if let Err(error) = received().await {
        tracing::warn!("cannot listen for signals: {error}");
        return;
    }
    updates.hurry();
    serving.quit().await;
}

#[cfg(unix)]
async fn received() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = hangup.recv() => {}
    }
    Ok(())
}

#[cfg(windows)]
async fn received() -> std::io::Result<()> {
    use tokio::signal::windows::{ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};
    let (mut c, mut close, mut logoff, mut shutdown) =
        (ctrl_c()?, ctrl_close()?, ctrl_logoff()?, ctrl_shutdown()?);
    tokio::select! {
        _ = c.recv() => {}
        _ = close.recv() => {}
        _ = logoff.recv() => {}
        _ = shutdown.recv() => {}
    }
    Ok(())
}
