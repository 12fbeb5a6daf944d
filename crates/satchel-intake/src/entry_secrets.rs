//! Stores the credentials of entries under names of their own and lets the entries refer to them. No other file names a secret
//! of an entry. Writes no entry.

use std::collections::{BTreeMap, BTreeSet};

use satchel_entry::template::{Piece, rewrite_all, secrets_in, to_secret};
use serde_json::{Map, Value};

use crate::{
    clients::import::Moved,
    house::House,
    model::{audit::AuditKind, control::Refusal},
    secrets::{Secret, SecretError},
    upstream,
};

/// Stores the credentials that were taken out of an entry. `stored` gets them under the names that they have now.
///
/// # Errors
/// A [`Refusal`] if one cannot be stored; `stored` has those before it.
pub(crate) async fn store_all(
    house: &dyn House,
    entry: &mut Map<String, Value>,
    moved: Vec<Moved>,
    stored: &mut Vec<Moved>,
) -> Result<(), Refusal> {
    // From the end: a new name of the first `password` may be the preferred one of the second.
    for secret in moved.into_iter().rev() {
        let name = store(house, &secret.name, &secret.value).await?;
        rename(entry, &secret.name, &name);
        stored.push(Moved { name, value: secret.value });
    }
    Ok(())
}

/// Stores those of these secrets that an entry refers to. `stored` gets the names that were not used before.
///
/// # Errors
/// A [`Refusal`] if one cannot be stored; `stored` has those before it.
pub async fn store_named(
    house: &dyn House,
    entry: &mut Map<String, Value>,
    values: &BTreeMap<String, Secret>,
    stored: &mut Vec<String>,
) -> Result<(), Refusal> {
    for name in secrets_in(entry.values()) {
        let Some(value) = values.get(&name) else { continue };
        let (_, there) = house.secrets().names().await?;
        let under = store(house, &name, value.reveal()).await?;
        rename(entry, &name, &under);
        stored.extend((!there.contains(&under)).then_some(under));
    }
    Ok(())
}

/// Gives the secrets of an entry that a stranger wrote unused names, so that it gains no access to existing credentials.
/// Those in `own` were stored for it.
pub(crate) async fn with_new_names(
    house: &dyn House,
    entry: &mut Map<String, Value>,
    own: &[String],
) -> Result<(), Refusal> {
    let config = house.config();
    let used: BTreeSet<String> =
        config.servers().values().flat_map(|server| upstream::secrets_of(&server.transport)).collect();
    // The names are known even if the store is unreachable.
    let (_, there) = house.secrets().names().await?;
    for name in secrets_in(entry.values()).into_iter().filter(|name| !own.contains(name)) {
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut wanted = std::iter::once(name.clone()).chain(numbered);
        let free = wanted.find(|name| !there.contains(name) && !used.contains(name));
        rename(entry, &name, &free.expect("numbers do not end"));
    }
    Ok(())
}

/// Stores a credential under an unused name. One with the same value is the same credential.
///
/// # Errors
/// [`SecretError`] if the store cannot be read or written.
pub async fn store(house: &dyn House, preferred: &str, value: &str) -> Result<String, SecretError> {
    let secrets = &house.secrets();
    let mut name = preferred.to_owned();
    for number in 2.. {
        let there = secrets.get(&name).await?;
        if there.is_some() {
            house.record(AuditKind::SecretRead, &name, "compared with what is imported");
        }
        match there {
            None => break,
            Some(there) if there.reveal() == value => return Ok(name),
            Some(_) => name = format!("{preferred}-{number}"),
        }
    }
    secrets.set(&name, Secret::new(value)).await?;
    house.record(AuditKind::SecretChanged, &name, "stored, from an import");
    Ok(name)
}

fn rename(entry: &mut Map<String, Value>, from: &str, to: &str) {
    if from != to {
        let renamed =
            |piece: &Piece| matches!(piece, Piece::Secret(name) if name == from).then(|| to_secret(to));
        entry.values_mut().for_each(|value| rewrite_all(value, &renamed));
    }
}
