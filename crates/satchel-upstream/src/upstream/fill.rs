//! Fills in the references of an entry, as late as possible; the result is never written anywhere.

use std::collections::{BTreeSet, HashMap};

use super::{credentials, lifecycle::Failure, log::ServerLog, surroundings::Surroundings};
use crate::{
    clock::now_ms,
    config::expand::{Template, Values, fill_map},
    model::{Code, ServerName, TransportConfig, audit::AuditKind, cause::FailureCause},
    platform::Environment,
    secrets::Secret,
    stats::audit::AuditEvent,
};

/// Resolves every reference. Redacts the resolved secrets in the server's log from then on.
///
/// # Errors
/// A [`Failure`] that names what is missing or cannot be read.
pub async fn fill(
    name: &ServerName,
    transport: &TransportConfig,
    around: &Surroundings,
    log: &ServerLog,
) -> Result<TransportConfig, Failure> {
    let mut values = Known { environment: &around.environment, secrets: HashMap::new() };
    for secret in secrets_of(transport) {
        match around.secrets.get(&secret).await {
            Ok(Some(value)) => {
                let (kind, who) = (AuditKind::SecretRead, name.to_string());
                let event =
                    AuditEvent { at_ms: now_ms(), kind, who, subject: secret.clone(), detail: String::new() };
                (around.audit.0)(event);
                values.secrets.insert(secret, value);
            }
            Ok(None) => {}
            Err(error) => {
                let code = error.code().unwrap_or(Code::NeedsCredential);
                let message = format!("the secret {secret} cannot be read: {error}");
                return Err(Failure { missing: vec![secret], ..Failure::new(code, message) });
            }
        }
    }
    let mut missing = BTreeSet::new();
    let mut text = |text: &str| Template::parse(text).fill(&values, &mut missing);
    let filled = match transport {
        TransportConfig::Stdio { command, args, env, cwd } => TransportConfig::Stdio {
            command: text(command),
            args: args.iter().map(|arg| text(arg)).collect(),
            cwd: cwd.as_deref().map(&mut text),
            env: fill_map(env, &values, &mut missing),
        },
        TransportConfig::Http { url, headers, oauth } => {
            let mut oauth = oauth.clone();
            oauth.client_secret = oauth.client_secret.as_deref().map(&mut text);
            let url = text(url);
            TransportConfig::Http { url, headers: fill_map(headers, &values, &mut missing), oauth }
        }
    };
    let stored = values.secrets.values().cloned();
    log.redact(stored.chain(credentials::written_in(&filled)).collect());
    if missing.is_empty() {
        return Ok(filled);
    }
    let missing: Vec<String> = missing.into_iter().collect();
    let message = match missing.as_slice() {
        [one] => format!("{one} is not set"),
        several => format!("{} are not set", several.join(", ")),
    };
    let failure = Failure::new(Code::NeedsCredential, message);
    Err(Failure { missing: missing.clone(), ..failure.because(FailureCause::Unset { names: missing }) })
}

/// The references of an entry that have no value: secrets not among those `stored`, and unset variables. Reads no
/// secret.
pub fn unset(
    transport: &TransportConfig,
    environment: &Environment,
    stored: &BTreeSet<String>,
) -> BTreeSet<String> {
    let secrets = stored.iter().map(|name| (name.clone(), Secret::new(String::new()))).collect();
    let (values, mut missing) = (Known { environment, secrets }, BTreeSet::new());
    for text in transport.texts() {
        Template::parse(text).fill(&values, &mut missing);
    }
    missing
}

/// The secrets that an entry references.
pub fn secrets_of(transport: &TransportConfig) -> BTreeSet<String> {
    let names = |text: &str| Template::parse(text).secrets().map(ToOwned::to_owned).collect::<Vec<_>>();
    transport.texts().flat_map(names).collect()
}

struct Known<'a> {
    environment: &'a Environment,
    secrets: HashMap<String, Secret>,
}

impl Values for Known<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.environment.variable(name)
    }
    fn secret(&self, name: &str) -> Option<String> {
        self.secrets.get(name).map(|secret| secret.reveal().to_owned())
    }
}
