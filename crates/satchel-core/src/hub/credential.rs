//! Asks a person for a credential that a server needs to start, while the call waits. The value goes into the keychain
//! and nowhere else. When no face is open, the call fails at once and says what to do.

use std::{collections::BTreeSet, sync::Arc};

use tokio::time::Instant;

use super::{Hub, question::ask_of, registry::Registered, view::variables};
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

/// One question at a time for a server, and when a person last said no to one: who waited meanwhile takes it as well.
pub(super) type Declined = Arc<tokio::sync::Mutex<Option<Instant>>>;

impl Hub {
    /// A lease. Where the server cannot start without a value and somebody is there to be asked, they are, once for each
    /// value; the call waits meanwhile.
    pub(super) async fn lease_with_credentials(
        &self,
        server: &ServerName,
        registered: &Registered,
    ) -> Result<Lease, LeaseError> {
        let since = Instant::now();
        let mut asked = BTreeSet::new();
        let mut leased = self.lease_of(registered).await;
        while let Some(name) = lacking(&leased, registered).filter(|_| self.inner.prompts.is_attended()) {
            let mut declined = registered.declined.lock().await;
            // Somebody may have been asked for it already, for another call.
            leased = self.lease_of(registered).await;
            let Some(lacks) = lacking(&leased, registered) else { continue };
            if declined.is_some_and(|declined| declined >= since) || lacks == name && !asked.insert(name) {
                break;
            }
            match self.ask_for_secret(server, &lacks).await {
                Some(true) => {}
                Some(false) => {
                    *declined = Some(Instant::now());
                    break;
                }
                None => break,
            }
            drop(declined);
            leased = self.lease_of(registered).await;
        }
        leased
    }

    /// Was it given? `None` where nobody said anything, or could be asked.
    async fn ask_for_secret(&self, server: &ServerName, name: &str) -> Option<bool> {
        let path = ToolPath { server: server.clone(), tool: String::new() };
        let wants = Wanted::Credential { name: name.to_owned() };
        let question = ServerQuestion { message: String::new(), wants };
        let ask = ask_of(self.viewer.as_deref().unwrap_or("Satchel"), &path, question);
        let mut ticket = self.inner.prompts.queue_question(ask, &path).ok()?;
        match ticket.said().await.ok()? {
            Said::OfQuestion(QuestionAnswer::Accept { .. }) => Some(true),
            Said::OfQuestion(_) | Said::OfCall(_) => Some(false),
        }
    }

    /// Stores what a person gave to this question.
    ///
    /// # Errors
    /// Where it is not asked any more, or cannot be stored. It is still asked then.
    pub(super) async fn answer_secret(&self, id: u64, value: Secret) -> Result<(), Refusal> {
        let name = self.inner.prompts.wanted_secret(id)?;
        self.store_secret(&name, value).await
    }

    /// Stores a value; the servers and the calls that waited for it go on.
    ///
    /// # Errors
    /// Where it cannot be stored.
    pub(super) async fn store_secret(&self, name: &str, value: Secret) -> Result<(), Refusal> {
        self.inner.around.secrets.set(name, value).await?;
        self.did_here(AuditKind::SecretChanged, name, "stored");
        self.renew();
        self.inner.prompts.secret_came(name);
        Ok(())
    }
}

/// The value to be asked for: where secrets alone are missing, the first of them. What the environment has to say, nobody
/// can give here.
fn lacking(leased: &Result<Lease, LeaseError>, registered: &Registered) -> Option<String> {
    let Err(LeaseError::Failed(failure)) = leased else { return None };
    let transport = &registered.config.transport;
    let unset = failure.code == Code::NeedsCredential && variables(&failure.missing, transport).is_empty();
    failure.missing.first().filter(|_| unset).cloned()
}
