//! Pauses a call until its user has signed in, when the client supports URL elicitation. The page is served by Satchel,
//! names the server and the provider, and opens nothing by itself.

use std::{sync::Arc, time::Duration};

use satchel_mcp::{Raw, RawObject};
use serde_json::{json, value::to_raw_value};
use tokio::time::Instant;

use super::CallFailure;
use crate::{
    bridge::{Caller, Question},
    model::{Code, ServerName, oauth::SignInState},
    upstream::oauth::{account::Account, accounts::Accounts},
};

/// Timeout for a person to sign in.
const PATIENCE: Duration = Duration::from_secs(5 * 60);

/// A call that waits for a sign-in.
#[derive(Debug)]
pub(super) struct Visit {
    account: Arc<Account>,
    question: Option<Question>,
    declined: bool,
    until: Instant,
    failure: CallFailure,
}

/// The next step.
pub(super) enum Visited {
    /// Ask the client.
    Ask(Question),
    /// Signed in: send the call.
    SignedIn,
    /// Fail as it would have without asking.
    Over(CallFailure),
}

impl Visit {
    /// `None` for any other failure, or if the client cannot open pages.
    pub(super) fn of(
        accounts: &Accounts,
        endpoint: Option<&str>,
        caller: &Caller,
        server: &ServerName,
        failure: &CallFailure,
    ) -> Option<Self> {
        if !matches!(failure.code, Some(Code::NeedsSignIn | Code::NeedsMoreRights)) {
            return None;
        }
        let page = Raw::from_string(r#"{"mode":"url"}"#.to_owned()).ok();
        caller.can_answer("elicitation/create", page.as_deref()).ok()?;
        let base = endpoint?.strip_suffix("/mcp")?;
        let ticket = accounts.ticket(server)?;
        let message = match failure.code {
            Some(Code::NeedsMoreRights) => {
                format!("{server} needs more rights for this. Open the page to allow it.")
            }
            _ => format!("{server} needs a sign-in. Open the page to sign in."),
        };
        let params = json!({
            "mode": "url",
            "elicitationId": ticket.get(..16),
            "url": format!("{base}/sign-in/{ticket}"),
            "message": message,
        });
        let params = to_raw_value(&params).ok();
        let question =
            Question { key: "sign_in".to_owned(), method: "elicitation/create".to_owned(), params };
        Some(Self {
            account: accounts.of(server),
            question: Some(question),
            declined: false,
            until: Instant::now() + PATIENCE,
            failure: failure.clone(),
        })
    }

    /// The next event. Cancel safe.
    pub(super) async fn next(&mut self) -> Visited {
        if let Some(question) = self.question.take() {
            return Visited::Ask(question);
        }
        let until = if self.declined { Instant::now() } else { self.until };
        // An answer of the client cancels this wait.
        let signed_in = self.account.wait_for(|state| matches!(state, SignInState::SignedIn { .. }));
        match tokio::time::timeout_at(until, signed_in).await {
            Ok(()) => Visited::SignedIn,
            Err(_) => Visited::Over(self.failure.clone()),
        }
    }

    /// Takes the client's answer. That the user opened the page does not mean that the sign-in succeeded.
    pub(super) fn answered(&mut self, result: Option<&Raw>) {
        let action = result.and_then(|result| RawObject::parse(result).ok()?.text("action"));
        self.declined = action.as_deref() != Some("accept");
    }
}
