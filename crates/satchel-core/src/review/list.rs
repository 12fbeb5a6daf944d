//! Lists what a person has to review: what is held back, what is suspicious about it, and how it differs from what was
//! approved.
//!
//! Inspection reads every text of a definition. Findings are cached by fingerprint, and a server's whole list until
//! something of the server changes. No lock held here is needed by a call.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use parking_lot::Mutex;

use super::{Entry, Review, Table, judge::defined, launch::decisive_first, secrets};
use crate::{
    catalog::Offer,
    model::{
        ServerName,
        approvals::{ApprovalItem, Finding, InForce, Kind, Mark, Part, ServerApprovals},
    },
    trust::{Fingerprint, Item, diff, inspect},
};

type Offers = BTreeMap<ServerName, Arc<Offer>>;

/// The last list shown for each server.
#[derive(Debug, Default)]
pub(super) struct Lists(Mutex<BTreeMap<ServerName, ListedItems>>);

/// The list of one server, and its inputs, for caching.
#[derive(Debug, Clone)]
struct ListedItems {
    entry: Arc<Entry>,
    offer: Arc<Offer>,
    servers: Arc<BTreeSet<String>>,
    findings: Arc<HashMap<Fingerprint, Vec<Finding>>>,
    items: Arc<Vec<ApprovalItem>>,
}

impl Review {
    /// Everything to review, of one server or all. Inspects new texts, which may take a while: not for an async
    /// worker.
    pub fn list(&self, offers: &Offers, server: Option<&str>) -> Vec<ServerApprovals> {
        let table = self.table();
        self.lists.forget_others(&table);
        let servers = Arc::new(offers.keys().map(ToString::to_string).collect());
        let wanted = |(name, entry): &(&ServerName, &Arc<Entry>)| {
            let is_known = offers.contains_key(*name) || entry.held().next().is_some();
            !entry.ours && is_known && server.is_none_or(|server| name.as_str() == server)
        };
        table
            .iter()
            .filter(wanted)
            .filter_map(|(name, entry)| self.shown(name, entry, &table, offers.get(name), &servers))
            .collect()
    }

    fn shown(
        &self,
        name: &ServerName,
        entry: &Arc<Entry>,
        table: &Table,
        offer: Option<&Arc<Offer>>,
        servers: &Arc<BTreeSet<String>>,
    ) -> Option<ServerApprovals> {
        let mut items: Vec<ApprovalItem> = launch_items(name, entry, table);
        let judged = entry.judged.as_ref().zip(offer);
        let unseen = judged.and_then(|_| entry.record.unseen());
        let new = judged.map_or(0, |(judged, _)| judged.new);
        if let Some((_, offer)) = judged {
            items.extend(self.lists.items(name, entry, offer, servers).iter().cloned());
        }
        let any = unseen.is_some() || !items.is_empty();
        any.then(|| ServerApprovals { server: name.to_string(), unseen, new, items })
    }
}

impl Lists {
    fn forget_others(&self, table: &Table) {
        self.0.lock().retain(|name, _| table.contains_key(name));
    }

    /// The definitions of a server that need attention.
    pub(super) fn items(
        &self,
        name: &ServerName,
        entry: &Arc<Entry>,
        offer: &Arc<Offer>,
        servers: &Arc<BTreeSet<String>>,
    ) -> Arc<Vec<ApprovalItem>> {
        let known = self.0.lock().get(name).cloned();
        let around_is_same =
            |known: &ListedItems| Arc::ptr_eq(&known.offer, offer) && known.servers == *servers;
        if let Some(known) = &known
            && around_is_same(known)
            && Arc::ptr_eq(&known.entry, entry)
        {
            return known.items.clone();
        }
        // Findings depend on the surrounding names, not on the approvals.
        let found = known.filter(around_is_same).map(|known| known.findings).unwrap_or_default();
        let (items, findings) = inspected(name, entry, offer, servers, &found);
        let (items, findings) = (Arc::new(items), Arc::new(findings));
        let shown = ListedItems {
            entry: entry.clone(),
            offer: offer.clone(),
            servers: servers.clone(),
            findings,
            items: items.clone(),
        };
        self.0.lock().insert(name.clone(), shown);
        items
    }
}

/// The held parts of its entry.
fn launch_items(name: &ServerName, entry: &Entry, table: &Table) -> Vec<ApprovalItem> {
    let text = |item: &Item| match item.kind {
        Kind::Secret => {
            let holders = secrets::holders(table, &item.name);
            (marked("", &secrets::question(name, item, &holders)), None)
        }
        Kind::Launch => {
            let (before, rest_before) = decisive_first(entry.record.before(item).unwrap_or_default());
            let (now, rest_now) = decisive_first(&item.text);
            let (first, rest) = (marked(&before, &now), marked(&rest_before, &rest_now));
            let folds_from = (!rest.is_empty()).then_some(first.len());
            ([first, rest].concat(), folds_from)
        }
        _ => (marked(entry.record.before(item).unwrap_or_default(), &item.text), None),
    };
    let item = |(item, why): (&Item, _)| {
        let (diff, folds_from) = text(item);
        ApprovalItem {
            kind: item.kind,
            name: item.name.clone(),
            fingerprint: item.print.to_string(),
            held: Some(why),
            kept: entry.record.is_kept(item.kind, &item.name, &item.print, false),
            in_force: None,
            diff,
            folds_from,
            findings: Vec::new(),
        }
    };
    entry.held().map(item).collect()
}

fn inspected(
    name: &ServerName,
    entry: &Entry,
    offer: &Offer,
    servers: &BTreeSet<String>,
    known: &HashMap<Fingerprint, Vec<Finding>>,
) -> (Vec<ApprovalItem>, HashMap<Fingerprint, Vec<Finding>>) {
    let own: BTreeSet<&str> = offer.tools.iter().map(|tool| tool.name.as_str()).collect();
    let others: BTreeSet<&str> = servers.iter().map(String::as_str).collect();
    let around = inspect::Around { server: name.as_str(), own: &own, servers: &others };
    let (mut items, mut found, mut told) = (Vec::new(), HashMap::new(), inspect::Told::default());
    for one in defined(offer, name) {
        let key = (one.kind, one.name.clone());
        let held = entry.judged.as_ref().and_then(|judged| judged.held.get(&key));
        if held.is_none() && entry.record.unseen().is_none() {
            continue;
        }
        let item = one.item();
        let findings = known.get(&item.print).cloned();
        let findings = findings.unwrap_or_else(|| inspect::findings(one.words(), &around));
        found.insert(item.print.clone(), findings.clone());
        if !told.adds(&findings) && held.is_none() {
            continue;
        }
        items.push(ApprovalItem {
            kind: one.kind,
            name: one.name.clone(),
            fingerprint: item.print.to_string(),
            held: held.map(|held| held.why),
            kept: entry.record.is_kept(
                one.kind,
                &one.name,
                &item.print,
                held.is_some_and(|held| held.stands),
            ),
            in_force: held.filter(|held| held.stands).map(|_| {
                match entry.record.varies(one.kind, &one.name) {
                    true => InForce::Varies,
                    false => InForce::Before,
                }
            }),
            diff: marked(entry.record.before(&item).unwrap_or_default(), &item.text),
            folds_from: None,
            findings,
        });
    }
    (items, found)
}

/// The diff, with risky passages as separate parts.
fn marked(before: &str, now: &str) -> Vec<Part> {
    let risky = inspect::risky(now);
    let mut marked = Vec::new();
    let mut at = 0;
    for part in diff::words(before, now) {
        if part.mark == Mark::Removed {
            marked.push(part);
            continue;
        }
        let (begin, end) = (at, at + part.text.len());
        at = end;
        let mut cuts: Vec<usize> = risky
            .iter()
            .flat_map(|range| [range.start, range.end])
            .filter(|cut| *cut > begin && *cut < end)
            .collect();
        cuts.extend([begin, end]);
        cuts.sort_unstable();
        cuts.dedup();
        for cut in cuts.windows(2) {
            let is_risky = risky.iter().any(|range| range.start < cut[1] && cut[0] < range.end);
            marked.push(Part { mark: part.mark, risky: is_risky, text: now[cut[0]..cut[1]].to_owned() });
        }
    }
    marked
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn risky_characters_are_parts_of_their_own() {
        let parts = marked("Find a.", "Find ⟨U+200B⟩a.");
        let text: String = parts.iter().map(|part| part.text.as_str()).collect();
        assert!(parts.iter().any(|part| part.risky && part.text == "⟨U+200B⟩"), "{parts:?}");
        assert!(text.contains("Find "), "{parts:?}");
    }
}
