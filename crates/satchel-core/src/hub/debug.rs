//! Reports the hub's internal state for debugging.

use super::{Hub, state};
use crate::model::{
    Code, TransportConfig,
    control::Refusal,
    event::{DebugServer, DebugStatus},
};

/// Internals of the hub.
///
/// # Errors
/// A [`Refusal`] if the configuration disables this.
pub(super) fn debug_status(hub: &Hub) -> Result<DebugStatus, Refusal> {
    if !hub.config().debug_status() {
        let message = "the debug status is switched off";
        let action = "Set \"debugStatus\": true in the configuration, or remove it.";
        return Err(Refusal::new(Code::SwitchedOff, message, action));
    }
    let mut status = DebugStatus {
        pid: std::process::id(),
        free_calls: hub.calls().slots.free(),
        ..DebugStatus::default()
    };
    let servers: Vec<_> = hub.servers().iter().map(|(name, server)| (name.clone(), server.clone())).collect();
    let discoveries = hub.recorder().events().discoveries();
    for (name, server) in servers {
        let seen = server.upstream.seen();
        let offer = hub.offers().get(&name).cloned();
        let transport = match &server.config.transport {
            TransportConfig::Stdio { .. } => "stdio",
            TransportConfig::Http { .. } => "http",
        };
        let tools = offer.as_ref().map(|offer| offer.tools.len());
        let state = state::state(&seen, &server.config.transport).name().to_owned();
        if server.config.enabled {
            *status.tools_by_transport.entry(transport.to_owned()).or_default() += tools.unwrap_or(0);
        }
        *status.servers_by_state.entry(state.clone()).or_default() += 1;
        status.servers.push(DebugServer {
            name: name.to_string(),
            transport: transport.to_owned(),
            state,
            pid: seen.pid,
            revision: seen.connected.as_ref().map(|(_, hello)| hello.era.revision().to_owned()),
            tools,
            skipped: offer.as_ref().map_or(0, |offer| offer.skipped.len()),
            starts: seen.starts,
            restarts: seen.restarts,
            failures: seen.failures,
            discovery: discoveries.get(&name).cloned().unwrap_or_default(),
        });
    }
    Ok(status)
}
