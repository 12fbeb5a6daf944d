//! `serve`: runs the hub without a window until it is told to stop.

use std::{io, process::ExitCode, time::Duration};

use anyhow::{Context, anyhow};
use satchel_core::{
    files::Places,
    hub::{Hub, HubOptions, OpenError},
    tasks,
};
use satchel_endpoint::Endpoint;
use serde_json::json;

use crate::{
    args::Serve,
    logging,
    output::{Lines, say, say_json},
    reach,
};

/// Timeout for calls in flight and servers at shutdown.
const ENDING_TIME: Duration = Duration::from_secs(20);

pub(crate) async fn run(places: &Places, serve: &Serve, json: bool) -> anyhow::Result<ExitCode> {
    let _log = logging::for_hub(&places.logs, serve.log_format)?;
    tasks::report_panics();
    // Before anything is started, so that a signal from now on stops it.
    let mut stop = StopSignals::listen().context("cannot listen for signals")?;
    // Clients that connect while the hub is being opened wait.
    let port = satchel_endpoint::listen(serve.port, places);
    let hub = open(places, serve.trust_config).await?;
    let endpoint = match satchel_endpoint::serve(&hub, port).await {
        Ok(endpoint) => endpoint,
        Err(error) => {
            hub.shutdown().await;
            return Err(anyhow!(error));
        }
    };
    announce(endpoint.url(), json);
    tokio::select! {
        () = stop.next() => tracing::info!("shutting down: received a signal"),
        () = hub.quit_requested() => tracing::info!("shutting down: asked over the control channel"),
    }
    tokio::select! {
        () = end(endpoint, hub) => Ok(ExitCode::SUCCESS),
        () = stop.next() => {
            tracing::warn!("exited immediately: received a second signal");
            Ok(ExitCode::FAILURE)
        }
    }
}

async fn open(places: &Places, trust_config: bool) -> anyhow::Result<Hub> {
    let options = HubOptions { trust_config, ..reach::options(places, false)? };
    Hub::open(options).await.map_err(|error| match error {
        held @ OpenError::HeldBy { .. } => anyhow!("{held}; end it with `satchel quit`"),
        files @ OpenError::Files(_) => anyhow!(files),
    })
}

fn announce(url: &str, json: bool) {
    if json {
        // A value of two plain fields.
        let _ = say_json(&json!({"url": url, "pid": std::process::id()}));
        return;
    }
    say(Lines::line(format!("Satchel listens at {url}")).and(
        "\n\
        Connect a client:              satchel connect --client NAME\n\
        A client that starts programs: satchel bridge\n\
        What can be called:            satchel tools\n\
        Stop with Ctrl-C.",
    ));
}

/// Stops accepting, lets calls finish, and stops servers.
async fn end(endpoint: Endpoint, hub: Hub) {
    let ending = async {
        hub.begin_to_end();
        endpoint.shutdown().await;
        hub.shutdown().await;
    };
    if tokio::time::timeout(ENDING_TIME, ending).await.is_err() {
        tracing::warn!("the shutdown did not finish within {} seconds", ENDING_TIME.as_secs());
    }
}

/// The system's termination signals.
#[cfg(unix)]
struct StopSignals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl StopSignals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

/// The system's termination signals.
#[cfg(windows)]
struct StopSignals {
    interrupt: tokio::signal::windows::CtrlC,
    abort: tokio::signal::windows::CtrlBreak,
    close: tokio::signal::windows::CtrlClose,
    log_off: tokio::signal::windows::CtrlLogoff,
    shutdown: tokio::signal::windows::CtrlShutdown,
}

#[cfg(windows)]
impl StopSignals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};
        Ok(Self {
            interrupt: ctrl_c()?,
            abort: ctrl_break()?,
            close: ctrl_close()?,
            log_off: ctrl_logoff()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.abort.recv() => {}
            _ = self.close.recv() => {}
            _ = self.log_off.recv() => {}
            _ = self.shutdown.recv() => {}
        }
    }
}
