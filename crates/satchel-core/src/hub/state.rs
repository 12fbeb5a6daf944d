//! The state of a server as faces show it.

use std::time::SystemTime;

use satchel_entry::template::Template;
use tokio::time::Instant;

use crate::{
    clock::epoch_ms,
    model::{Code, ServerState, TransportConfig, cause::FailureCause},
    upstream::{
        Seen,
        lifecycle::{Failure, State},
    },
};

pub(super) fn state(seen: &Seen, transport: &TransportConfig) -> ServerState {
    if let Some((code, message, cause)) = unwelcome(seen) {
        return ServerState::NeedsCredential { names: vec![], variables: vec![], code, message, cause };
    }
    match &seen.state {
        State::Off => ServerState::Off,
        State::Asleep => ServerState::Asleep,
        State::Starting { since, .. } => ServerState::Starting { since_ms: at_ms(*since), phase: seen.phase },
        State::Ready { .. } => {
            ServerState::Ready { in_flight: seen.leases(), sleeps_at_ms: seen.sleeps_at.map(at_ms) }
        }
        State::Stopping { .. } => ServerState::Stopping,
        State::BackingOff { until, failure, .. } => ServerState::BackingOff {
            code: failure.code,
            message: failure.message.clone(),
            cause: part(failure),
            retry_at_ms: at_ms(*until),
            failures: seen.failures,
        },
        State::Broken { until, failure } => ServerState::Broken {
            code: failure.code,
            message: failure.message.clone(),
            cause: part(failure),
            retry_at_ms: at_ms(*until),
            failures: seen.failures,
        },
        State::NeedsCredential { failure } if failure.code.is_sign_in() => {
            ServerState::NeedsSignIn { message: failure.message.clone() }
        }
        State::NeedsCredential { failure } => {
            let unset = failure.code == Code::NeedsCredential;
            ServerState::NeedsCredential {
                names: failure.missing.clone(),
                variables: variables(&failure.missing, transport),
                code: failure.code,
                message: if unset { String::new() } else { failure.message.clone() },
                cause: part(failure),
            }
        }
    }
}

/// A hosted server's demand for a sign-in or another credential. Retrying does not help then.
fn unwelcome(seen: &Seen) -> Option<(Code, String, Option<FailureCause>)> {
    let (code, message, cause) = match &seen.state {
        State::Asleep => {
            let failure = seen.last_failure.as_ref()?;
            (failure.code, &failure.message, failure.cause.clone())
        }
        State::BackingOff { failure, .. } | State::Broken { failure, .. } => {
            (failure.code, &failure.message, part(failure))
        }
        State::Off
        | State::Starting { .. }
        | State::Ready { .. }
        | State::Stopping { .. }
        | State::NeedsCredential { .. } => return None,
    };
    matches!(code, Code::Http401 | Code::Http403).then(|| (code, message.clone(), cause))
}

fn part(failure: &Failure) -> Option<FailureCause> {
    failure.cause.as_deref().cloned()
}

/// Those of the missing names that are not secrets.
pub(super) fn variables(missing: &[String], transport: &TransportConfig) -> Vec<String> {
    let templates: Vec<Template> = transport.texts().map(Template::parse).collect();
    let secret =
        |name: &&String| templates.iter().flat_map(Template::secrets).any(|secret| secret == name.as_str());
    missing.iter().filter(|name| !secret(name)).cloned().collect()
}

/// A moment in milliseconds, rounded so that composing twice yields the same value.
pub(super) fn at_ms(moment: Instant) -> u64 {
    let (now, system) = (Instant::now(), SystemTime::now());
    let at = if moment >= now { system + (moment - now) } else { system - (now - moment) };
    (epoch_ms(at) + 50) / 100 * 100
}
