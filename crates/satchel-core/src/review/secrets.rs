//! Which server may have which stored secret. A secret belongs to the servers that a person gave it to: the first accepted
//! entry that names it receives it; another entry, or the same one with another program or address, waits until a person
//! has approved that recipient.

use std::sync::Arc;

use super::{Accepted, Entry, Review, Table, Unwritten};
use crate::{
    model::ServerName,
    trust::{Item, clean},
};

impl Entry {
    /// Secrets that its entry names and that it may not have yet.
    pub(super) fn ungranted(&self) -> impl Iterator<Item = &Item> {
        self.secrets.iter().filter(|item| !self.record.grants(item))
    }
}

/// Who has a secret already: servers, with the recipient that was approved for each.
pub(super) fn holders<'a>(table: &'a Table, secret: &str) -> Vec<(&'a ServerName, &'a str)> {
    table.iter().filter_map(|(name, entry)| Some((name, entry.record.recipient(secret)?))).collect()
}

/// The question behind a secret that waits, as a person reads it: who has it, and who would receive it.
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

/// Why a server is not started, where that is because of a secret it may not have.
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
    /// Gives entries that a person accepted the secrets they name, where no other recipient has them. `accepted` says what
    /// a person has just accepted with everything in it. The servers that were given one, each with the words for the
    /// audit log.
    pub async fn settle_secrets(self: &Arc<Self>, accepted: Accepted<'_>) -> Vec<(ServerName, String)> {
        let whole = matches!(accepted, Accepted::File);
        // Who has just written its program or address anew knows where its own secrets go.
        let rewritten = match accepted {
            Accepted::Entry { name, by_person: true } => Some(name.to_owned()),
            _ => None,
        };
        let room = self.clone();
        let settling = self.tracker.spawn(async move {
            let _turn = room.turn.lock().await;
            let mut granted = Vec::new();
            for name in room.table().keys() {
                // Anew for each: what one was given, the next may not have.
                let table = room.table();
                let Some(entry) = table.get(name).filter(|entry| entry.held_launch().is_none()) else {
                    continue;
                };
                let is_rewritten = rewritten.as_deref() == Some(name.as_str());
                let items: Vec<Item> = entry
                    .ungranted()
                    .filter(|item| whole || is_free(&table, item, is_rewritten.then_some(name)))
                    .cloned()
                    .collect();
                if items.is_empty() {
                    continue;
                }
                let mut changed = Entry::clone(entry);
                let record = Arc::make_mut(&mut changed.record);
                for item in &items {
                    record.approve(item);
                    granted.push((name.clone(), format!("secret {} for {}", item.name, item.text)));
                }
                // Never refused.
                let _ = room.replace(name, entry, changed, Unwritten::Kept).await;
            }
            granted
        });
        settling.await.unwrap_or_default()
    }
}

/// Has no other recipient this secret? The one that has just been written anew does not count.
fn is_free(table: &Table, item: &Item, rewritten: Option<&ServerName>) -> bool {
    let fits =
        |(holder, recipient): &(&ServerName, &str)| *recipient == item.text || rewritten == Some(*holder);
    holders(table, &item.name).iter().all(fits)
}
