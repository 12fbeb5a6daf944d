//! A change of the configuration with what follows from it: clients stay bound to a profile of another name, and a server
//! that was removed is signed out.

use super::{Hub, apply, binding, route, sign_in};
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
