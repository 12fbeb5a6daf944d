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
        server::REQUEST_TIMEOUT,
    },
    prompts::Said,
    secrets::Secret,
    upstream::{Lease, LeaseError},
};

/// Leases a server. If it needs a missing secret and someone can be asked, asks once for each secret; the call waits.
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
        // Another call may have asked for it in the meantime.
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

/// Asks for a secret. `None` if nobody answered or could be asked.
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

/// Stores the secret that a person entered for a question.
///
/// # Errors
/// If the question is no longer open, or storing fails. In the latter case it stays open.
pub(super) async fn answer_secret(hub: &Hub, id: u64, value: Secret) -> Result<(), Refusal> {
    let name = hub.inner.prompts.wanted_secret(id)?;
    store_secret(hub, &name, value).await
}

/// Stores a secret and resumes the servers and calls that waited for it.
///
/// # Errors
/// If it cannot be stored.
pub(super) async fn store_secret(hub: &Hub, name: &str, value: Secret) -> Result<(), Refusal> {
    hub.inner.around.secrets.set(name, value).await?;
    hub.did_here(AuditKind::SecretChanged, name, "stored");
    launch::renew(hub);
    hub.inner.prompts.secret_came(name);
    Ok(())
}

/// Leases a server and measures how long that takes. A start that outlasts the call continues without it.
async fn lease_of(hub: &Hub, registered: &Registered) -> Result<Lease, LeaseError> {
    let awake = registered.upstream.is_connected();
    let asked = Instant::now();
    // Slightly less than the client's own timeout, so that it receives the reason.
    let wait = registered.config.request_timeout.unwrap_or(REQUEST_TIMEOUT).mul_f64(5.0 / 6.0);
    let leased = match tokio::time::timeout(wait, registered.upstream.lease()).await {
        Ok(leased) => leased,
        Err(_) => Err(LeaseError::StillStarting {
            phase: registered.upstream.seen().phase,
            seconds: asked.elapsed().as_secs(),
        }),
    };
    let era = registered.upstream.connected().map(|(_, hello)| hello.era.revision().to_owned());
    hub.context.observer.leased(awake, asked.elapsed(), era, leased.is_ok());
    leased
}

/// The secret to ask for: the first one, if only secrets are missing. Environment variables cannot be supplied this
/// way.
fn lacking(leased: &Result<Lease, LeaseError>, registered: &Registered) -> Option<String> {
    let Err(LeaseError::Failed(failure)) = leased else { return None };
    let transport = &registered.config.transport;
    let unset = failure.code == Code::NeedsCredential && variables(&failure.missing, transport).is_empty();
    failure.missing.first().filter(|_| unset).cloned()
}
