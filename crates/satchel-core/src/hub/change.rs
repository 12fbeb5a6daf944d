//! A change of the configuration with what follows from it: clients stay bound to a profile of another name, and a server
//! that was removed is signed out.

use super::{Hub, binding, route, sign_in};
use crate::model::control::{Change, Refusal};

/// Applies a change, whoever requests it.
///
/// # Errors
/// If it is invalid, cannot be written, or removes a profile that a client is bound to.
pub(super) async fn change(hub: &Hub, change: Change) -> Result<(), Refusal> {
    let change = route::by_own_name(hub, change);
    let removed = match &change {
        Change::Remove { name } => name.parse().ok(),
        _ => None,
    };
    binding::refuse_bound(hub, &change)?;
    hub.apply(change.clone()).await?;
    binding::follow_name(hub, &change)?;
    if let Some(name) = removed {
        sign_in::forget(hub, name);
    }
    Ok(())
}
