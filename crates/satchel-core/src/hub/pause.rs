//! Pauses all servers at a person's request: running calls end, servers stop, new calls are refused with the reason. A
//! pause does not survive a restart of the hub.

use std::time::Duration;

use super::{CallFailure, Hub, instances};
use crate::{
    clock::now_ms,
    model::{Paused, ServerName, Startup},
};

/// Pauses until the given time, in milliseconds since the Unix epoch, or until [`Hub::resume`].
pub(super) fn pause(hub: &Hub, until_ms: Option<u64>) {
    let paused = Paused { until_ms };
    hub.view().paused = Some(paused);
    let servers: Vec<_> = hub.servers().values().cloned().collect();
    for server in servers {
        instances::rest(hub, &server.upstream, &server.instances);
    }
    hub.inner.faces.changed();
    if let Some(until_ms) = until_ms {
        let owned = hub.clone();
        hub.inner.life.spawn(async move {
            let left = Duration::from_millis(until_ms.saturating_sub(now_ms()));
            tokio::select! {
                () = tokio::time::sleep(left) => {}
                () = owned.inner.life.end().cancelled() => return,
            }
            // Another pause may have replaced it.
            let ours = owned.view().paused == Some(paused);
            if ours {
                resume(&owned);
            }
        });
    }
}

/// Ends a pause, and starts the servers that start with the hub.
pub(super) fn resume(hub: &Hub) {
    if hub.view().paused.take().is_none() {
        return;
    }
    let eager = hub.servers();
    for server in eager.values().filter(|server| server.config.startup == Startup::Eager) {
        server.upstream.configure(server.config.clone());
    }
    drop(eager);
    hub.inner.faces.changed();
}

/// Refuses calls during a pause. Checks the time, because the computer may have slept past the end of the pause.
pub(super) fn refuse_while_paused(hub: &Hub, server: &ServerName) -> Result<(), CallFailure> {
    let Some(paused) = hub.view().paused else { return Ok(()) };
    let left = paused.until_ms.map(|until| until.saturating_sub(now_ms()));
    if left == Some(0) {
        resume(hub);
        return Ok(());
    }
    let message = match left {
        Some(left) => {
            format!(
                "Satchel is paused for another {} min, so \"{server}\" was not called",
                left.div_ceil(60_000)
            )
        }
        None => format!("Satchel is paused, so \"{server}\" was not called"),
    };
    let action = "The user can resume it in Satchel's tray menu or window.".to_owned();
    Err(CallFailure::not_sent(Some(server), None, message, action))
}
