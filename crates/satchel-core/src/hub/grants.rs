//! Which server may have which stored secret. A secret belongs to the servers that a person gave it to: the first accepted
//! entry that names it receives it; another entry, or the same one with another program or address, waits until a person
//! has approved that recipient.

use std::collections::BTreeMap;

use super::{Hub, registry::Accepted, trusted::Entry};
use crate::{
    model::{ServerName, trail::DeedKind},
    trust::{Item, approvals, clean},
};

impl Entry {
    /// Secrets that its entry names and that it may not have yet.
    pub(super) fn ungranted(&self) -> impl Iterator<Item = &Item> {
        self.secrets.iter().filter(|item| !self.record.grants(item))
    }
}

/// Who has a secret already: servers, with the recipient that was approved for each.
pub(super) fn holders<'a>(
    trusted: &'a BTreeMap<ServerName, Entry>,
    secret: &str,
) -> Vec<(&'a ServerName, &'a str)> {
    trusted.iter().filter_map(|(name, entry)| Some((name, entry.record.recipient(secret)?))).collect()
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
pub(super) fn because(
    trusted: &BTreeMap<ServerName, Entry>,
    server: &ServerName,
    entry: &Entry,
) -> Option<String> {
    let item = entry.ungranted().next()?;
    let others = holders(trusted, &item.name);
    let whose = match others.iter().find(|(name, _)| *name != server) {
        Some((name, _)) => format!("which belongs to \"{name}\""),
        None => "which it had for another program or address".to_owned(),
    };
    Some(format!("its entry refers to the secret {}, {whose}, and nobody has approved that", item.name))
}

impl Hub {
    /// Gives entries that a person accepted the secrets they name, where no other recipient has them. `accepted` says what
    /// a person has just accepted with everything in it. The servers that may be started with them now.
    pub(super) fn settle_secrets(&self, accepted: Accepted<'_>) -> Vec<ServerName> {
        let mut granted: Vec<(ServerName, String)> = Vec::new();
        {
            let mut trusted = self.trusted();
            let names: Vec<ServerName> = trusted.keys().cloned().collect();
            for name in names {
                let Some(entry) = trusted.get(&name).filter(|entry| entry.held_launch().is_none()) else {
                    continue;
                };
                let whole = matches!(accepted, Accepted::File);
                // Who has just written its program or address anew knows where its own secrets go.
                let rewritten = matches!(accepted, Accepted::Entry { name: written, by_person: true } if written == name.as_str());
                let is_free = |item: &&Item| {
                    let held_by = holders(&trusted, &item.name);
                    let fits = |(holder, recipient): &(&ServerName, &str)| {
                        *recipient == item.text || (rewritten && **holder == name)
                    };
                    whole || held_by.iter().all(fits)
                };
                let items: Vec<Item> = entry.ungranted().filter(is_free).cloned().collect();
                let Some(entry) = trusted.get_mut(&name).filter(|_| !items.is_empty()) else { continue };
                for item in &items {
                    entry.record.approve(item);
                    granted.push((name.clone(), format!("secret {} for {}", item.name, item.text)));
                }
                let written = approvals::write(&self.approvals_file(&name), &entry.record);
                entry.unwritten = written.is_err();
                if let Err(error) = written {
                    tracing::warn!(server = %name, %error, "cannot keep which secrets it was given");
                }
            }
        }
        let mut names = Vec::new();
        for (name, detail) in granted {
            self.did(DeedKind::Approval, "satchel", name.as_str(), detail);
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Is it not started because of a secret it may not have?
    pub(super) fn holds_secrets(&self, name: &ServerName) -> bool {
        self.trusted().get(name).is_some_and(|entry| entry.ungranted().next().is_some())
    }
}
