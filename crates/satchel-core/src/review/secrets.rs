//! Decides which server may use which stored secret. A secret belongs to the first accepted entry that names it;
//! another entry, or the same one with another program or address, waits until a person approves that recipient.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{Accepted, Entry, Review, Table};
use crate::{
    model::ServerName,
    trust::{Item, clean},
};

impl Entry {
    /// Referenced secrets that it has not been granted.
    pub(super) fn ungranted(&self) -> impl Iterator<Item = &Item> {
        self.secrets.iter().filter(|item| !self.record.grants(item))
    }
}

/// The servers that were granted a secret, with the recipient approved for each.
pub(super) fn holders<'a>(table: &'a Table, secret: &str) -> Vec<(&'a ServerName, &'a str)> {
    table.iter().filter_map(|(name, entry)| Some((name, entry.record.recipient(secret)?))).collect()
}

/// The question to a person about a waiting secret: who has it, and who would receive it.
pub(super) fn question(server: &ServerName, item: &Item, holders: &[(&ServerName, &str)]) -> String {
    let mut text = format!("gives the secret {} to:\n  {server}: {}", item.name, clean::visible(&item.text));
    if !holders.is_empty() {
        text.push_str("\nuntil now only these have it:");
    }
    for (name, recipient) in holders {
        text.push_str(&format!("\n  {name}: {}", clean::visible(recipient)));
    }
    text
}

/// Why a server is not started because of a secret; `None` if it may start.
pub(super) fn because(table: &Table, server: &ServerName, entry: &Entry) -> Option<String> {
    let item = entry.ungranted().next()?;
    let others = holders(table, &item.name);
    let whose = match others.iter().find(|(name, _)| *name != server) {
        Some((name, _)) => format!("which belongs to \"{name}\""),
        None => "which it had for another program or address".to_owned(),
    };
    Some(format!("its entry refers to the secret {}, {whose}, and nobody has approved that", item.name))
}

impl Review {
    /// Grants accepted entries the secrets they reference, unless those belong to another recipient. `accepted` is
    /// what a person just accepted. Returns the servers with the audit subject of each grant.
    pub async fn settle_secrets(self: &Arc<Self>, accepted: Accepted<'_>) -> Vec<(ServerName, String)> {
        let whole = matches!(accepted, Accepted::File);
        // A person who just rewrote its program or address knows where its own secrets go.
        let rewritten = match accepted {
            Accepted::Entry { name, by_person: true } => Some(name.to_owned()),
            _ => None,
        };
        let room = self.clone();
        let settling = self.tracker.spawn(async move {
            let _turn = room.turn.lock().await;
            let table = room.table();
            let mut holders = Holders::of(&table);
            let (mut granted, mut given) = (Vec::new(), Vec::new());
            // One at a time: a secret granted to one server is not free for the next.
            for (name, entry) in table.iter().filter(|(_, entry)| entry.held_launch().is_none()) {
                let is_rewritten = rewritten.as_deref() == Some(name.as_str());
                let free = |item: &&Item| whole || holders.is_free(item, is_rewritten.then_some(name));
                let items: Vec<Item> = entry.ungranted().filter(free).cloned().collect();
                if items.is_empty() {
                    continue;
                }
                let mut changed = Entry::clone(entry);
                let record = Arc::make_mut(&mut changed.record);
                for item in &items {
                    holders.give(name, entry.record.recipient(&item.name), item);
                    record.approve(item);
                    granted.push((name.clone(), format!("secret {} for {}", item.name, item.text)));
                }
                given.push((name.clone(), changed));
            }
            // Release it first; a table in use would be copied.
            drop(table);
            room.replace_all(given).await;
            granted
        });
        settling.await.unwrap_or_default()
    }
}

/// For each secret its recipients, and the servers that a person granted it to.
struct Holders(BTreeMap<String, BTreeMap<String, BTreeSet<ServerName>>>);

impl Holders {
    fn of(table: &Table) -> Self {
        let mut holders = Self(BTreeMap::new());
        for (name, entry) in table {
            for (secret, recipient) in entry.record.recipients() {
                holders.add(name, secret, recipient);
            }
        }
        holders
    }

    fn add(&mut self, name: &ServerName, secret: &str, recipient: &str) {
        let recipients = self.0.entry(secret.to_owned()).or_default();
        recipients.entry(recipient.to_owned()).or_default().insert(name.clone());
    }

    /// Grants a server the secret, replacing its previous recipient.
    fn give(&mut self, name: &ServerName, before: Option<&str>, item: &Item) {
        if let (Some(before), Some(recipients)) = (before, self.0.get_mut(&item.name))
            && let Some(servers) = recipients.get_mut(before)
        {
            servers.remove(name);
            if servers.is_empty() {
                recipients.remove(before);
            }
        }
        self.add(name, &item.name, &item.text);
    }

    /// Does this secret belong to no other recipient? The entry that was just rewritten does not count.
    fn is_free(&self, item: &Item, rewritten: Option<&ServerName>) -> bool {
        let is_rewritten =
            |servers: &BTreeSet<ServerName>| servers.iter().all(|name| Some(name) == rewritten);
        let fits = |(recipient, servers): (&String, &BTreeSet<ServerName>)| {
            *recipient == item.text || is_rewritten(servers)
        };
        self.0.get(&item.name).is_none_or(|recipients| recipients.iter().all(fits))
    }
}
