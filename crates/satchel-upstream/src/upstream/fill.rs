//! Fills in the references of an entry, as late as possible; the result is never written anywhere.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::MAIN_SEPARATOR_STR,
};

use satchel_entry::placeholder::{PROJECT_FOLDER, Placeholder};

use satchel_entry::{
    source::SecretSource,
    template::{Template, Values, fill_map},
};

use super::{credentials, lifecycle::Failure, log::ServerLog, source, surroundings::Surroundings};
use crate::{
    clock::now_ms,
    model::{Code, ServerName, TransportConfig, audit::AuditKind, cause::FailureCause},
    platform::Environment,
    secrets::Secret,
    stats::audit::AuditEvent,
};

/// Why a start without a session fails.
const NO_FOLDER: &str = "${project} stands for the folder of a session; it is started by a call of a client that works in a \
    folder, and a program to start (\"command\") cannot have it";

/// An entry with the values of its references. It cannot be printed, copied or written, only read where something is started
/// with it.
pub struct Filled(TransportConfig);

impl Filled {
    /// The values.
    pub fn reveal(&self) -> &TransportConfig {
        &self.0
    }
}

/// Resolves every reference. Redacts the resolved secrets in the server's log from then on.
///
/// # Errors
/// A [`Failure`] that names what is missing or cannot be read.
pub async fn fill(
    name: &ServerName,
    transport: &TransportConfig,
    around: &Surroundings,
    log: &ServerLog,
) -> Result<Filled, Failure> {
    let (environment, cwd) = (&around.environment, cwd_of(transport));
    let is_program = is_program(transport);
    let mut values =
        Known { environment, secrets: HashMap::new(), sources: BTreeMap::new(), cwd, is_program };
    let did = |subject: String| {
        let (kind, who, detail) = (AuditKind::SecretRead, name.to_string(), String::new());
        (around.audit.0)(AuditEvent { at_ms: now_ms(), kind, who, subject, detail });
    };
    // One after another: each may have a person unlock something.
    for source in sources_of(transport) {
        let value = source::read(&source, around, log).await?;
        did(source.to_string());
        values.sources.insert(source, value);
    }
    for secret in secrets_of(transport) {
        match around.secrets.get(&secret).await {
            Ok(Some(value)) => {
                did(secret.clone());
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
    let stored = values.secrets.values().chain(values.sources.values()).cloned();
    log.redact(stored.chain(credentials::written_in(&filled)).collect());
    if missing.is_empty() {
        return Ok(Filled(filled));
    }
    let (others, missing): (Vec<String>, Vec<String>) =
        missing.into_iter().partition(|name| Placeholder::of(name).is_some());
    if others.iter().any(|name| name == PROJECT_FOLDER) {
        return Err(Failure::new(Code::EntryWrong, NO_FOLDER));
    }
    if !others.is_empty() {
        return Err(other_placeholders(others));
    }
    let message = match missing.as_slice() {
        [one] => format!("{one} is not set"),
        several => format!("{} are not set", several.join(", ")),
    };
    let failure = Failure::new(Code::NeedsCredential, message);
    Err(Failure { missing: missing.clone(), ..failure.because(FailureCause::Unset { names: missing }) })
}

/// The placeholders of editors and bundles are no variables that a person could set.
fn other_placeholders(names: Vec<String>) -> Failure {
    let said = names.iter().filter_map(|name| {
        let meaning = Placeholder::of(name)?.meaning()?;
        Some(format!("${{{name}}} stands for {meaning}"))
    });
    let said = said.collect::<Vec<_>>().join(", ");
    let message = format!("{said}, which Satchel does not know; write the folder or the value itself");
    Failure::new(Code::EntryWrong, message).because(FailureCause::OtherPlaceholders { names })
}

fn is_program(transport: &TransportConfig) -> bool {
    matches!(transport, TransportConfig::Stdio { .. })
}

/// The working directory of an entry, where that is written without references.
fn cwd_of(transport: &TransportConfig) -> Option<&str> {
    match transport {
        TransportConfig::Stdio { cwd, .. } => cwd.as_deref().filter(|cwd| !cwd.contains("${")),
        TransportConfig::Http { .. } => None,
    }
}

/// The references of an entry that have no value: secrets not among those `stored`, and unset variables. Placeholders of
/// other programs are none. Reads no secret.
pub fn unset(
    transport: &TransportConfig,
    environment: &Environment,
    stored: &BTreeSet<String>,
) -> BTreeSet<String> {
    let secrets = stored.iter().map(|name| (name.clone(), Secret::new(String::new()))).collect();
    let is_program = is_program(transport);
    let empty = |source| (source, Secret::new(String::new()));
    let sources = sources_of(transport).into_iter().map(empty).collect();
    let (values, mut missing) =
        (Known { environment, secrets, sources, cwd: None, is_program }, BTreeSet::new());
    for text in transport.texts() {
        Template::parse(text).fill(&values, &mut missing);
    }
    missing.retain(|name| Placeholder::of(name).is_none());
    missing
}

/// The secrets that an entry references.
pub fn secrets_of(transport: &TransportConfig) -> BTreeSet<String> {
    let names = |text: &str| Template::parse(text).secrets().map(ToOwned::to_owned).collect::<Vec<_>>();
    transport.texts().flat_map(names).collect()
}

/// The places outside of the keychain that an entry reads secrets from.
pub fn sources_of(transport: &TransportConfig) -> BTreeSet<SecretSource> {
    let sources = |text: &str| Template::parse(text).sources().cloned().collect::<Vec<_>>();
    transport.texts().flat_map(sources).collect()
}

struct Known<'a> {
    environment: &'a Environment,
    secrets: HashMap<String, Secret>,
    sources: BTreeMap<SecretSource, Secret>,
    /// The working directory of the entry.
    cwd: Option<&'a str>,
    is_program: bool,
}

impl Values for Known<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        match Placeholder::of(name) {
            None => self.environment.variable(name),
            Some(Placeholder::Home) => Some(self.environment.home()?.to_string_lossy().into_owned()),
            Some(Placeholder::Separator) => Some(MAIN_SEPARATOR_STR.to_owned()),
            Some(Placeholder::Directory) => self.cwd.map(ToOwned::to_owned),
            // In a program's entry it was replaced, where its instance has a folder.
            Some(Placeholder::Folder) if self.is_program => None,
            Some(Placeholder::Folder) => self.environment.variable(name),
            Some(Placeholder::Variable(name)) => self.environment.variable(name),
            Some(
                Placeholder::Project | Placeholder::Package | Placeholder::Setting(_) | Placeholder::Editor,
            ) => None,
        }
    }
    fn secret(&self, name: &str) -> Option<String> {
        self.secrets.get(name).map(|secret| secret.reveal().to_owned())
    }
    fn source(&self, source: &SecretSource) -> Option<String> {
        self.sources.get(source).map(|secret| secret.reveal().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        platform::Platform,
        upstream::connect::{http::Address, stdio::Program},
    };

    #[test]
    fn placeholders_of_other_programs_are_no_variables() {
        let variables =
            [("HOME", "/home/ada"), ("PWD", "/"), ("workspaceFolder", "/x"), ("KEY", "k"), ("project", "/p")];
        let environment = Environment::new(Platform::Linux, variables);
        let fill = |text: &str, cwd: Option<&str>| {
            let (secrets, sources) = (HashMap::new(), BTreeMap::new());
            let values = Known { environment: &environment, secrets, sources, cwd, is_program: true };
            let mut missing = BTreeSet::new();
            (Template::parse(text).fill(&values, &mut missing), missing.into_iter().collect::<Vec<_>>())
        };
        assert_eq!(fill("${userHome}${/}a", None).0, format!("/home/ada{MAIN_SEPARATOR_STR}a"));
        assert_eq!(fill("${PWD}/a", None).1, ["PWD"]);
        assert_eq!(fill("${PWD}/a", Some("/srv")).0, "/srv/a");
        assert_eq!(fill("${workspaceFolder}:${user_config.x}", None).1, ["user_config.x", "workspaceFolder"]);
        assert_eq!(fill("${KEY}", None).0, "k");
        assert_eq!(fill("${project}/a", None).1, ["project"]);
        assert_eq!(fill("${project:-/srv}/a", None).0, "/srv/a");
        let transport = TransportConfig::Stdio {
            command: "x".into(),
            args: vec!["${workspaceFolder}".into(), "${NONE}".into()],
            env: std::collections::BTreeMap::new(),
            cwd: None,
        };
        assert_eq!(unset(&transport, &environment, &BTreeSet::new()), ["NONE".to_owned()].into());
        let failure = other_placeholders(vec!["workspaceFolder".to_owned()]);
        assert_eq!(
            (failure.code, failure.message.as_str()),
            (
                Code::EntryWrong,
                "${workspaceFolder} stands for the folder of the project that is open in an editor, which Satchel does not \
                 know; write the folder or the value itself"
            )
        );
        assert!(failure.missing.is_empty());
    }

    /// Does not compile for a type that has one of the traits: two implementations fit then.
    trait Unless<Has> {
        fn lacks() {}
    }
    impl<T: ?Sized> Unless<()> for T {}
    impl<T: ?Sized + std::fmt::Debug> Unless<[(); 1]> for T {}
    impl<T: ?Sized + std::fmt::Display> Unless<[(); 2]> for T {}
    impl<T: ?Sized + serde::Serialize> Unless<[(); 3]> for T {}
    impl<T: Clone> Unless<[(); 4]> for T {}

    #[test]
    fn nothing_with_the_values_of_an_entry_can_be_printed_copied_or_written() {
        <Filled as Unless<_>>::lacks();
        <Program as Unless<_>>::lacks();
        <Address as Unless<_>>::lacks();
    }
}
