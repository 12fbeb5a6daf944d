//! A change of the configuration with what follows from it: clients stay bound to a profile of another name, and a server
//! that was removed is signed out.

use super::{Hub, apply, binding, clients, route, sign_in};
use crate::{
    intake::house::Hand,
    model::control::{Change, Refusal},
};

/// Applies a change, whoever requests it.
///
/// # Errors
/// If it is invalid, cannot be written, or removes a profile that a client is bound to.
pub(super) async fn change(hub: &Hub, change: Change) -> Result<(), Refusal> {
    made(hub, change, Hand::of(hub)).await
}

/// The same for a change that comes from another setup.
///
/// # Errors
/// As for [`change`].
pub(super) async fn take(hub: &Hub, change: Change) -> Result<(), Refusal> {
    made(hub, change, Hand::Setup).await
}

async fn made(hub: &Hub, change: Change, hand: Hand) -> Result<(), Refusal> {
    refuse_unknown_pin(hub, &change)?;
    let change = route::by_own_name(hub, change);
    let removed = match &change {
        Change::Remove { name } => name.parse().ok(),
        _ => None,
    };
    binding::refuse_bound(hub, &change)?;
    apply::ask(hub, change.clone(), hand).await?;
    binding::follow_name(hub, &change)?;
    if let Some(name) = removed {
        sign_in::forget(hub, name);
    }
    Ok(())
}

/// Refuses to pin a tool that does not exist, or for a client that is unknown.
fn refuse_unknown_pin(hub: &Hub, change: &Change) -> Result<(), Refusal> {
    let Change::PinTool { pin, pinned: true } = change else { return Ok(()) };
    let meant = route::read_path(hub, &pin.tool).ok();
    let offered = meant.as_ref().is_some_and(|path| hub.inner.servers.catalog().tool(path).is_some());
    if !offered {
        clients::is_there(hub, &meant.map_or_else(|| pin.tool.clone(), |path| path.to_string()))?;
    }
    pin.client.as_ref().map_or(Ok(()), |client| clients::is_a_client(hub, client))
}
