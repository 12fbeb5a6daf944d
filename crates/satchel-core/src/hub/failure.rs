//! Errors of calls: those of the hub, and those that a server answered.

use satchel_mcp::ErrorObject;
use serde::Serialize;

use super::servers::Registered;
use crate::{
    model::{Code, ServerName, ToolPath, TransportConfig, cause::FailureCause, control::Refusal, how_to_set},
    trust::clean,
    upstream::{LeaseError, Outcome, secrets_of},
};

/// A call that failed in the hub. States whether the call may have been executed.
#[derive(Debug, Clone, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct CallFailure {
    /// What happened to the call.
    pub outcome: Outcome,
    /// The server, if the call got that far.
    pub server: Option<String>,
    /// The code of the cause, if it has one.
    pub code: Option<Code>,
    /// What happened.
    pub message: String,
    /// Why its server failed, in parts, where that is the reason. Clients read the message.
    #[serde(skip)]
    pub cause: Option<Box<FailureCause>>,
    /// What to do about it.
    pub action: String,
}

impl CallFailure {
    pub(super) fn not_sent(
        server: Option<&ServerName>,
        code: Option<Code>,
        message: String,
        action: String,
    ) -> Self {
        let server = server.map(ToString::to_string);
        Self { outcome: Outcome::NotSent, server, code, message, cause: None, action }
    }
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The server's error, passed through unchanged.
    #[error("{0}")]
    Upstream(ErrorObject),
    /// Any other failure.
    #[error("{0}")]
    Hub(CallFailure),
}

/// A refused call, with the reason.
pub(super) fn denied(path: &ToolPath, why: &str) -> CallFailure {
    let message = format!("{} was not called: {why}", clean::visible(&path.to_string()));
    CallFailure::not_sent(Some(&path.server), Some(Code::Denied), message, Code::Denied.action().to_owned())
}

/// Why a server cannot be used, and what to do about it.
pub(super) fn refused(server: &ServerName, registered: &Registered, error: &LeaseError) -> CallFailure {
    let hosted = matches!(registered.config.transport, TransportConfig::Http { .. });
    let mend = |code: Code| if hosted { code.action_at_address() } else { code.action() };
    let (code, action): (Option<Code>, String) = match error {
        LeaseError::Off => {
            (None, format!("Switch it on in Satchel, or with `satchel enable {}`.", server.in_shell()))
        }
        LeaseError::Manual => {
            (None, format!("Start it in Satchel, or with `satchel restart {}`.", server.in_shell()))
        }
        LeaseError::GivenUp => (None, "Call it again to restart it.".to_owned()),
        LeaseError::StillStarting { .. } => {
            (None, "It is still starting; call it again in a moment.".to_owned())
        }
        LeaseError::Failed(failure) | LeaseError::Waiting { failure, .. } => (
            Some(failure.code),
            match failure.code {
                code if code.is_sign_in() => code.action_for(server.as_str()),
                Code::NeedsCredential if !failure.missing.is_empty() => {
                    let secrets = secrets_of(&registered.config.transport);
                    let (secrets, variables) =
                        failure.missing.iter().cloned().partition::<Vec<_>, _>(|name| secrets.contains(name));
                    how_to_set(&secrets, &variables)
                }
                code => mend(code).to_owned(),
            },
        ),
        LeaseError::Closing => (None, "Try again when Satchel is running.".to_owned()),
    };
    let message = match error {
        // The message already names the server.
        LeaseError::Failed(failure) if failure.code.is_sign_in() => failure.message.clone(),
        error => format!("\"{server}\" cannot be used: {error}"),
    };
    let cause = match error {
        LeaseError::Failed(failure) | LeaseError::Waiting { failure, .. } => failure.cause.clone(),
        LeaseError::Off
        | LeaseError::Manual
        | LeaseError::GivenUp
        | LeaseError::StillStarting { .. }
        | LeaseError::Closing => None,
    };
    CallFailure { cause, ..CallFailure::not_sent(Some(server), code, message, action) }
}

impl From<Failed> for Refusal {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Upstream(error) => Refusal::new(Code::UpstreamError, error.to_string(), ""),
            Failed::Hub(failure) => failure.into(),
        }
    }
}

impl From<CallFailure> for Refusal {
    fn from(failure: CallFailure) -> Self {
        let code = failure.code.unwrap_or(Code::CallFailed);
        Refusal::new(code, failure.message, failure.action)
    }
}
