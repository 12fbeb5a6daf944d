//! Moves credentials that a person enters into the keychain: those of a server that is added, found as an import finds
//! them, and the value of a variable that a server lacks. What a pasted text says is read by the window.

use std::collections::BTreeMap;

use satchel_entry::template::{Piece, rewrite, rewrite_all, to_secret};
use serde_json::{Map, Value};

use super::{
    Hub, change,
    import::{rename_reference, store},
    server_entry::entry_to_edit,
};
use crate::{
    clients::import::{
        self, Moved, hide_credentials, secret_name,
        slips::{self, Meant},
        take_credentials,
    },
    model::{
        Code,
        control::{Change, HiddenTarget, NewServer, Refusal, Target},
    },
};

/// The servers as they would be stored.
pub(super) fn find_credentials(servers: Vec<NewServer>) -> Vec<HiddenTarget> {
    let hidden = servers.into_iter().map(|server| {
        let (target, moved) = without_credentials(server.target, &server.name, &[]);
        HiddenTarget { target, credentials: moved.into_iter().map(|(label, _)| label).collect() }
    });
    hidden.collect()
}

/// Stores the credentials, except those with a label in `plain`, then adds the server.
pub(super) async fn add_server(
    hub: &Hub,
    server: NewServer,
    plain: &[String],
    replace: bool,
) -> Result<(), Refusal> {
    let NewServer { name, target } = server;
    let target = stored(hub, &name, target, plain, replace).await?;
    change::change(hub, Change::Add { name, target, startup: None, era: None, replace }).await
}

/// Applies a change that a person requests. The credentials of a new server go to the keychain first.
pub(super) async fn change(hub: &Hub, change: Change) -> Result<(), Refusal> {
    let change = match change {
        Change::Add { name, target, startup, era, replace } => {
            let target = stored(hub, &name, target, &[], replace).await?;
            Change::Add { name, target, startup, era, replace }
        }
        Change::Put { name, entry: Value::Object(mut entry), replace, rules } => {
            let moved = take_credentials(&mut entry, &name);
            for secret in moved.iter().rev().filter(|_| replace || hub.config().entry(&name).is_none()) {
                let stored = store(hub, &secret.name, &secret.value).await.map_err(Refusal::from)?;
                rename_reference(&mut entry, &secret.name, &stored);
            }
            Change::Put { name, entry: Value::Object(entry), replace, rules }
        }
        other => other,
    };
    change::change(hub, change).await
}

/// The target with its credentials in the keychain, except those with a label in `plain`.
async fn stored(
    hub: &Hub,
    name: &str,
    target: Target,
    plain: &[String],
    replace: bool,
) -> Result<Target, Refusal> {
    let taken = hub.config().entry(name).is_some();
    let target = as_meant(target);
    let (mut target, moved) = without_credentials(target, name, plain);
    // What is refused anyway leaves nothing in the keychain.
    // From the end: a new name of the first `password` may be the preferred one of the second.
    for (_, secret) in moved.iter().rev().filter(|_| replace || !taken) {
        let stored = store(hub, &secret.name, &secret.value).await.map_err(Refusal::from)?;
        refer_to(&mut target, &secret.name, &stored);
    }
    Ok(target)
}

/// A whole line as command is a program with its arguments, and an address as command is an address.
fn as_meant(target: Target) -> Target {
    let Target::Command { command, args, env, cwd } = target else { return target };
    let is_file = |path: &str| std::path::Path::new(path).is_file();
    match slips::meant(&command, &args, cfg!(windows), is_file) {
        Some((Meant::Program { command, args }, _)) => Target::Command { command, args, env, cwd },
        Some((Meant::Address(url), _)) if args.is_empty() && env.is_empty() => {
            Target::Url { url, headers: BTreeMap::new() }
        }
        Some((Meant::Address(_), _)) | None => Target::Command { command, args, env, cwd },
    }
}

/// Stores the value of an environment variable that an entry names, and lets the entry name the secret instead.
pub(super) async fn enter_variable(
    hub: &Hub,
    server: &str,
    variable: &str,
    value: &str,
) -> Result<(), Refusal> {
    if value.is_empty() {
        return Err(Refusal::new(Code::Empty, format!("the value of {variable} is empty"), ""));
    }
    let mut entry = Value::Object(entry_to_edit(hub, server)?);
    let before = entry.clone();
    rewrite_all(&mut entry, &instead_of(variable, ""));
    if entry == before {
        let message = format!("the entry of \"{server}\" does not name the variable {variable}");
        return Err(Refusal::new(Code::BadRequest, message, ""));
    }
    let stored = store(hub, &secret_name(server, variable), value).await.map_err(Refusal::from)?;
    let mut entry = before;
    rewrite_all(&mut entry, &instead_of(variable, &stored));
    change::change(hub, Change::Edit { name: server.to_owned(), entry }).await
}

/// `${NAME}` and `${env:NAME}` become the secret; with a default, the variable may stay unset.
fn instead_of<'a>(variable: &'a str, secret: &'a str) -> impl Fn(&Piece) -> Option<String> + 'a {
    move |piece| {
        matches!(piece, Piece::Variable { name, default: None } if name == variable)
            .then(|| to_secret(secret))
    }
}

fn without_credentials(target: Target, name: &str, plain: &[String]) -> (Target, Vec<(String, Moved)>) {
    let mut target = as_found(target);
    let moved = hide_credentials(&mut target, name, plain);
    (as_typed(target), moved)
}

fn as_found(target: Target) -> import::Target {
    let values = |texts: BTreeMap<String, String>| -> Map<String, Value> {
        texts.into_iter().map(|(name, text)| (name, text.into())).collect()
    };
    match target {
        Target::Command { command, args, env, cwd } => {
            import::Target::Program { command, args, env: values(env), cwd, env_file: None }
        }
        Target::Url { url, headers } => import::Target::Address { url, headers: values(headers) },
    }
}

fn as_typed(target: import::Target) -> Target {
    let texts = |values: Map<String, Value>| {
        let text = |value: Value| value.as_str().unwrap_or_default().to_owned();
        values.into_iter().map(|(name, value)| (name, text(value))).collect()
    };
    match target {
        import::Target::Program { command, args, env, cwd, env_file: _ } => {
            Target::Command { command, args, env: texts(env), cwd }
        }
        import::Target::Address { url, headers } => Target::Url { url, headers: texts(headers) },
    }
}

/// Another credential may be stored under the preferred name.
fn refer_to(target: &mut Target, preferred: &str, stored: &str) {
    if preferred == stored {
        return;
    }
    let renamed =
        |piece: &Piece| matches!(piece, Piece::Secret(name) if name == preferred).then(|| to_secret(stored));
    let rename = |text: &mut String| *text = rewrite(text, &renamed);
    match target {
        Target::Command { args, env, .. } => args.iter_mut().chain(env.values_mut()).for_each(rename),
        Target::Url { url, headers } => std::iter::once(url).chain(headers.values_mut()).for_each(rename),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_or_an_address_as_command_is_what_was_meant() {
        let command = |command: &str, args: &[&str]| Target::Command {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: BTreeMap::new(),
            cwd: None,
        };
        assert_eq!(as_meant(command("npx -y x", &["--a"])), command("npx", &["-y", "x", "--a"]));
        assert_eq!(as_meant(command("/opt/My App/run", &[])), command("/opt/My App/run", &[]));
        let url = Target::Url { url: "https://x.example/mcp".into(), headers: BTreeMap::new() };
        assert_eq!(as_meant(command("https://x.example/mcp", &[])), url);
    }

    #[test]
    fn only_references_to_the_variable_are_replaced() {
        for (text, new) in [
            ("${env:X}", "${secret:s.X}"),
            ("Bearer ${X}", "Bearer ${secret:s.X}"),
            ("${X}${Y}${X", "${secret:s.X}${Y}${X"),
            ("$${X} ${X:-1} ${secret:X} $X", "$${X} ${X:-1} ${secret:X} $X"),
            ("${", "${"),
        ] {
            assert_eq!(rewrite(text, &instead_of("X", "s.X")), new, "{text}");
        }
    }
}
