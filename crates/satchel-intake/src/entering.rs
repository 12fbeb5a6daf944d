//! Moves credentials that a person enters into the keychain: those of a server that is added, found as an import finds
//! them, and the value of a variable that a server lacks. Reads no pasted text.

use std::collections::BTreeMap;

use satchel_entry::template::{Piece, rewrite_all, to_secret};
use serde_json::{Map, Value};

use crate::{
    clients::import::{
        secret_name,
        slips::{self, Meant},
        take_credentials,
    },
    config::{change, hidden::without_credentials},
    entry_secrets,
    house::House,
    model::{
        Code,
        control::{Change, Refusal, Target},
    },
};

/// The entry for editing, with secrets hidden.
///
/// # Errors
/// A [`Refusal`] if there is no such server.
pub fn entry_to_edit(house: &dyn House, server: &str) -> Result<Map<String, Value>, Refusal> {
    match house.config().entry(server).cloned().map(without_credentials) {
        Some(Value::Object(fields)) => Ok(fields),
        _ => Err(Refusal::unknown_server(server)),
    }
}

/// Applies a change that a person requests. The credentials of a new server go to the keychain first.
///
/// # Errors
/// A [`Refusal`] if a credential cannot be stored or the change is not applied.
pub async fn change(house: &dyn House, change: Change) -> Result<(), Refusal> {
    let change = match change {
        Change::Add { name, target, startup, era, replace } => {
            change::as_put(Change::Add { name, target: as_meant(target), startup, era, replace })
        }
        other => other,
    };
    let change = match change {
        Change::Put { name, entry: Value::Object(mut entry), replace, rules } => {
            let moved = take_credentials(&mut entry, &name);
            // What is refused anyway leaves nothing in the keychain.
            if replace || house.config().entry(&name).is_none() {
                entry_secrets::store_all(house, &mut entry, moved, &mut Vec::new()).await?;
            }
            Change::Put { name, entry: Value::Object(entry), replace, rules }
        }
        other => other,
    };
    house.change(change).await
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
///
/// # Errors
/// A [`Refusal`] if the entry does not name the variable, or the value cannot be stored.
pub async fn enter_variable(
    house: &dyn House,
    server: &str,
    variable: &str,
    value: &str,
) -> Result<(), Refusal> {
    if value.is_empty() {
        return Err(Refusal::new(Code::Empty, format!("the value of {variable} is empty"), ""));
    }
    let mut entry = Value::Object(entry_to_edit(house, server)?);
    let before = entry.clone();
    rewrite_all(&mut entry, &instead_of(variable, ""));
    if entry == before {
        let message = format!("the entry of \"{server}\" does not name the variable {variable}");
        return Err(Refusal::new(Code::BadRequest, message, ""));
    }
    let stored = entry_secrets::store(house, &secret_name(server, variable), value).await?;
    let mut entry = before;
    rewrite_all(&mut entry, &instead_of(variable, &stored));
    house.change(Change::Edit { name: server.to_owned(), entry }).await
}

/// `${NAME}` and `${env:NAME}` become the secret; with a default, the variable may stay unset.
fn instead_of<'a>(variable: &'a str, secret: &'a str) -> impl Fn(&Piece) -> Option<String> + 'a {
    move |piece| {
        matches!(piece, Piece::Variable { name, default: None } if name == variable)
            .then(|| to_secret(secret))
    }
}

#[cfg(test)]
mod tests {
    use satchel_entry::template::rewrite;

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
