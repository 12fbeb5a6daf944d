//! Waits for the lists of servers: for the first ones, and for those that are known to be out of date.

use std::time::Duration;

use super::{Hub, failure::CallFailure, servers::Registered};
use crate::{
    clock::now_ms,
    files::file_stem,
    model::{
        Code, ServerName,
        oauth::SignInView,
        server::DISCOVERY_TIMEOUT,
        snapshot::{During, LastFailure},
    },
    upstream::{Lease, LeaseError, Upstream, lifecycle::Failure},
};

/// Changes within this interval count as one.
pub(super) const DEBOUNCE: Duration = Duration::from_millis(250);

/// How long a call waits for lists that cannot be read.
const UNREAD: Duration = Duration::from_secs(7);

/// Number of connection attempts for a server's first lists.
const FIRST_TRIES: usize = 4;

/// How long a caller waits for a server's first lists.
const FIRST_LISTS: Duration = Duration::from_secs(60);

pub(super) fn discovery_timeout(hub: &Hub, name: &ServerName) -> Duration {
    hub.servers().get(name).map_or(DISCOVERY_TIMEOUT, |known| known.config.discovery_timeout)
}

/// Waits until the cached lists match the server's, after its start or after a change notification. What differs is
/// then held back.
///
/// # Errors
/// If they cannot be read. Nothing was sent.
pub(super) async fn wait_for_lists(
    hub: &Hub,
    name: &ServerName,
    registered: &Registered,
    lease: &Lease,
    lists: u8,
) -> Result<(), CallFailure> {
    // Most calls wait for nothing.
    if registered.upstream.dirty().is_fresh(lists) {
        return Ok(());
    }
    let wait = discovery_timeout(hub, name);
    let fresh = tokio::time::timeout(wait, registered.upstream.dirty().fresh(lists));
    let why = tokio::select! {
        fresh = fresh => match fresh {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(why)) => why.to_string(),
            Err(_) => format!("that took longer than {} s", wait.as_secs()),
        },
        // The caller notices, and requests the next connection.
        _ = lease.link().wait_ended() => return Ok(()),
    };
    if let Some(failure) = lacks_sign_in(hub, name) {
        let action = failure.code.action_for(name.as_str());
        return Err(CallFailure::not_sent(Some(name), Some(failure.code), failure.message, action));
    }
    let message = format!(
        "\"{name}\" was not called: what it offers now has to be compared with what was approved, and its lists \
         could not be read: {why}"
    );
    let action = Code::ListFailed.action().to_owned();
    Err(CallFailure::not_sent(Some(name), Some(Code::ListFailed), message, action))
}

/// Waits until a server's lists have been read once, or until a timeout. Reconnects if the connection ends meanwhile,
/// for example because a session expired.
///
/// # Errors
/// If the server becomes unavailable.
pub(super) async fn first_lists(
    hub: &Hub,
    name: &ServerName,
    upstream: &Upstream,
    first: Lease,
) -> Result<(), LeaseError> {
    let mut lease = first;
    for again in (0..FIRST_TRIES).rev() {
        let ended = lease.link().clone();
        tokio::select! {
            _ = wait_for_offer(hub, name) => return Ok(()),
            failure = cannot_be_read(upstream) => return Err(LeaseError::Failed(failure)),
            _ = ended.wait_ended() => {}
        }
        if let Some(failure) = lacks_sign_in(hub, name) {
            return Err(LeaseError::Failed(failure));
        }
        if again > 0 {
            lease = upstream.lease().await?;
        }
    }
    Ok(())
}

/// The sign-in that a connected server requires before it lists anything.
fn lacks_sign_in(hub: &Hub, name: &ServerName) -> Option<Failure> {
    hub.inner.around.accounts.view(name).filter(SignInView::keeps_out)?;
    let message = format!("\"{name}\" needs a sign-in");
    Some(Failure::new(Code::NeedsSignIn, message))
}

/// Returns false on a timeout.
async fn wait_for_offer(hub: &Hub, name: &ServerName) -> bool {
    let mut catalog = hub.inner.servers.follow_catalog();
    let known = catalog.wait_for(|catalog| catalog.offer(name.as_str()).is_some());
    let wait = FIRST_LISTS.max(discovery_timeout(hub, name) + DEBOUNCE);
    tokio::time::timeout(wait, known).await.is_ok_and(|known| known.is_ok())
}

pub(super) fn catalog_file(hub: &Hub, name: &ServerName) -> std::path::PathBuf {
    hub.places().catalogs().join(format!("{}.json", file_stem(name.as_str())))
}

/// Resolves when a server's lists could not be read for a while despite repeated attempts.
async fn cannot_be_read(upstream: &Upstream) -> Failure {
    let began = now_ms();
    let fails = |failure: &LastFailure| failure.during == During::Lists && failure.at_ms >= began;
    let mut seen = upstream.watch();
    loop {
        if seen.wait_for(|seen| seen.last_failure.as_ref().is_some_and(fails)).await.is_err() {
            return std::future::pending().await;
        }
        tokio::time::sleep(UNREAD).await;
        let last = seen.borrow_and_update().last_failure.clone();
        if let Some(LastFailure { code, message, cause, .. }) = last.filter(fails) {
            let failure = Failure::new(code, format!("its tools cannot be read: {message}"));
            return Failure { cause: cause.map(Box::new), ..failure };
        }
    }
}
