//! Asks a person for a credential that a server needs to start, while the call waits. The value goes into the keychain
//! and nowhere else. When no face is open, the call fails at once and says what to do.

use std::collections::BTreeSet;

use tokio::time::Instant;

use super::{Hub, launch, question::ask_of, servers::Registered, state::variables};
use crate::{
    model::{
        Code, ServerName, ToolPath,
        asks::{QuestionAnswer, ServerQuestion, Wanted},
        audit::AuditKind,
        control::Refusal,
    },
    prompts::Said,
    secrets::Secret,
    upstream::{Lease, LeaseError},
};

/// A lease. Where the server cannot start without a value and somebody is there to be asked, they are, once for each
/// value; the call waits meanwhile.
pub(super) async fn lease_with_credentials(
    hub: &Hub,
    server: &ServerName,
    registered: &Registered,
) -> Result<Lease, LeaseError> {
    let since = Instant::now();
    let mut asked = BTreeSet::new();
    let mut leased = lease_of(hub, registered).await;
    while let Some(name) = lacking(&leased, registered).filter(|_| hub.inner.prompts.is_attended()) {
        let mut declined = registered.declined.lock().await;
        // Somebody may have been asked for it already, for another call.
        leased = lease_of(hub, registered).await;
        let Some(lacks) = lacking(&leased, registered) else { continue };
        if declined.is_some_and(|declined| declined >= since) || lacks == name && !asked.insert(name) {
            break;
        }
        match ask_for_secret(hub, server, &lacks).await {
            Some(true) => {}
            Some(false) => {
                *declined = Some(Instant::now());
                break;
            }
            None => break,
        }
        drop(declined);
        leased = lease_of(hub, registered).await;
    }
    leased
}

/// Was it given? `None` where nobody said anything, or could be asked.
async fn ask_for_secret(hub: &Hub, server: &ServerName, name: &str) -> Option<bool> {
    let path = ToolPath { server: server.clone(), tool: String::new() };
    let wants = Wanted::Credential { name: name.to_owned() };
    let question = ServerQuestion { message: String::new(), wants };
    let ask = ask_of(hub.context.client().unwrap_or("Satchel"), &path, question);
    let mut ticket = hub.inner.prompts.queue_question(ask, &path).ok()?;
    match ticket.said().await.ok()? {
        Said::OfQuestion(QuestionAnswer::Accept { .. }) => Some(true),
        Said::OfQuestion(_) | Said::OfCall(_) => Some(false),
    }
}

/// Stores what a person gave to this question.
///
/// # Errors
/// Where it is not asked any more, or cannot be stored. It is still asked then.
pub(super) async fn answer_secret(hub: &Hub, id: u64, value: Secret) -> Result<(), Refusal> {
    let name = hub.inner.prompts.wanted_secret(id)?;
    store_secret(hub, &name, value).await
}

/// Stores a value; the servers and the calls that waited for it go on.
///
/// # Errors
/// Where it cannot be stored.
pub(super) async fn store_secret(hub: &Hub, name: &str, value: Secret) -> Result<(), Refusal> {
    hub.inner.around.secrets.set(name, value).await?;
    hub.did_here(AuditKind::SecretChanged, name, "stored");
    launch::renew(hub);
    hub.inner.prompts.secret_came(name);
    Ok(())
}

/// A lease, and how long it took. A start that takes longer than a call may wait goes on without it.
async fn lease_of(hub: &Hub, registered: &Registered) -> Result<Lease, LeaseError> {
    let awake = registered.upstream.is_connected();
    let asked = Instant::now();
    // A little less than the client waits, so that it gets to read why.
    let wait = registered.config.request_timeout.mul_f64(5.0 / 6.0);
    let leased = match tokio::time::timeout(wait, registered.upstream.lease()).await {
        Ok(leased) => leased,
        Err(_) => Err(LeaseError::StillStarting {
            phase: registered.upstream.seen().phase,
            seconds: asked.elapsed().as_secs(),
        }),
    };
    let era = registered.upstream.connected().map(|(_, hello)| hello.revision.clone());
    hub.context.observer.leased(awake, asked.elapsed(), era, leased.is_ok());
    leased
}

/// The value to be asked for: where secrets alone are missing, the first of them. What the environment has to say, nobody
/// can give here.
fn lacking(leased: &Result<Lease, LeaseError>, registered: &Registered) -> Option<String> {
    let Err(LeaseError::Failed(failure)) = leased else { return None };
    let transport = &registered.config.transport;
    let unset = failure.code == Code::NeedsCredential && variables(&failure.missing, transport).is_empty();
    failure.missing.first().filter(|_| unset).cloned()
}
