//! Puts servers to sleep that no profile in use has.

use std::{collections::BTreeSet, sync::Arc};

use tokio::sync::watch;

use super::{Hub, instances, profiles::unused};
use crate::{
    model::{ServerName, Snapshot},
    tasks::may_fail_here,
    upstream::lifecycle::State,
};

/// Puts servers that became unavailable to all clients to sleep when their last call ends, while the hub runs. A
/// server that a person starts afterwards is left alone.
pub(super) async fn keep_resting(hub: &Hub) {
    let mut choices = hub.watch_choices();
    // Subscribed only while a server has to stop, because snapshots are composed only for subscribers.
    let mut shown = None;
    let mut before = unused_now(hub);
    let mut leaving = BTreeSet::new();
    loop {
        tokio::select! {
            chosen = choices.changed() => {
                if chosen.is_err() { return }
                let now = unused_now(hub);
                leaving.retain(|name| now.contains(name));
                leaving.extend(now.difference(&before).cloned());
                before = now;
            }
            open = next(&mut shown) => if !open { return },
            () = hub.inner.life.end().cancelled() => return,
        }
        may_fail_here("profiles");
        if !leaving.is_empty() {
            // Subscribe first, so that no later change is missed.
            shown.get_or_insert_with(|| hub.watch());
        }
        leaving.retain(|name| !has_left(hub, name));
        if leaving.is_empty() {
            shown = None;
        }
    }
}

/// Waits for the next snapshot if subscribed; false when the hub has stopped.
async fn next(shown: &mut Option<watch::Receiver<Arc<Snapshot>>>) -> bool {
    match shown {
        Some(shown) => shown.changed().await.is_ok(),
        None => std::future::pending().await,
    }
}

/// Has it stopped, or can it stop now?
fn has_left(hub: &Hub, name: &ServerName) -> bool {
    let Some(known) = hub.servers().get(name).cloned() else { return true };
    let seen = known.upstream.seen();
    match seen.state {
        State::Ready { .. } if seen.leases() > 0 => false,
        State::Ready { .. } | State::Starting { waiting: 0, .. } => {
            known.upstream.log().hub("put to sleep: it is in no profile in use");
            instances::rest(hub, &known.upstream, &known.instances);
            true
        }
        State::Starting { .. } => false,
        State::Off
        | State::Asleep
        | State::Stopping { .. }
        | State::BackingOff { .. }
        | State::Broken { .. }
        | State::NeedsCredential { .. } => true,
    }
}

fn unused_now(hub: &Hub) -> BTreeSet<ServerName> {
    let names: Vec<ServerName> = hub.servers().keys().cloned().collect();
    unused(hub, names.iter())
}
