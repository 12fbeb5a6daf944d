//! Takes in what was offered and shown: stores the credentials, writes the entries, and remembers the step. What has never run
//! here waits for approval unless a person was asked.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    bundles,
    clients::{
        connect::write,
        import::{self, Candidate, Moved, Source, Words, into_config},
        machine::Machine,
        table,
    },
    cut::to_take_out,
    entry_secrets,
    files::Access,
    house::{Hand, House},
    model::{
        Code,
        clients::{From, Imported, Need},
        control::{Change, Refusal},
        left::Left,
        remark::{Remark, RemarkKind},
    },
    offers::{Offer, offers_from, seen},
    remarks::{ACCEPT, rules_of},
    upstream,
};

/// The selection to import.
#[derive(Debug)]
pub struct Selection {
    /// Where they are.
    pub from: From,
    /// The names of the offers to take; all without it.
    pub names: Option<Vec<String>>,
    /// The values that were asked for.
    pub answers: BTreeMap<String, Value>,
    /// The fingerprint of what a person was shown.
    pub seen: Option<String>,
    /// Remove them from the client's file.
    pub take_out: bool,
    /// Only show the change to the client's file.
    pub dry_run: bool,
    /// Other names, by those of the offers.
    pub named: BTreeMap<String, String>,
    /// Those that replace a server that has their name, by the names of the offers.
    pub replace: Vec<String>,
    /// Add them switched off.
    pub off: bool,
}

/// Takes in the servers that were selected. Those that are here already are named, and what fails says why; the others are
/// taken in all the same.
///
/// # Errors
/// A [`Refusal`] if the source cannot be read, shows something else than before, or may not lose its entries.
pub async fn import_servers(
    house: &dyn House,
    wanted: Selection,
    environment: &BTreeMap<String, String>,
) -> Result<Imported, Refusal> {
    let client = match (&wanted.from, wanted.take_out) {
        (From::Client(id), true) => {
            if !wanted.dry_run && house.edits().record(id).is_none() {
                let message = format!("\"{id}\" is not connected, so it would lose these servers");
                return Err(Refusal::new(
                    Code::NotConnected,
                    message,
                    format!("Run `satchel connect {id}` first."),
                ));
            }
            table::client(id)
        }
        (_, true) => {
            return Err(Refusal::new(
                Code::WhichClient,
                "servers can be removed from one client's file only",
                "",
            ));
        }
        (_, false) => None,
    };
    let machine = Machine::here(environment);
    let offers = offers_from(house, &wanted.from, &wanted.answers, environment)?;
    if wanted.seen.as_ref().is_some_and(|shown| *shown != seen(&offers.offers)) {
        let message = "what would be imported changed after it was shown";
        return Err(Refusal::new(Code::ChangedMeanwhile, message, "Review it again."));
    }
    let left = offers.troubles.into_iter().chain(offers.skipped).collect();
    let mut imported = Imported { left, ..Imported::default() };
    // One that replaced another is not taken back: the other would be gone, too.
    let (mut stored, mut here, mut fresh, mut left_files) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let selected = |name: &str| wanted.names.as_ref().is_none_or(|names| names.iter().any(|one| one == name));
    for mut offer in offers.offers.into_iter().filter(|offer| selected(&offer.candidate.name)) {
        let how = AddedHow { replace: wanted.replace.contains(&offer.candidate.name), off: wanted.off };
        if let Some(name) = wanted.named.get(&offer.candidate.name) {
            offer.candidate.name.clone_from(name);
        }
        let name = offer.candidate.name.clone();
        if offer.candidate.known.is_some() || wanted.dry_run {
            imported.known.extend(offer.candidate.known.clone());
            if wanted.take_out && !wanted.dry_run {
                left_files.extend(keep_credentials(house, &offer.candidate, &mut stored).await?);
            }
            here.push(offer.candidate);
            continue;
        }
        match import_one(house, &offer, how, &machine, &mut stored).await {
            Ok(moved) => {
                left_files.extend(moved);
                let omitted = import::omitted(&offer.candidate.server);
                let left_behind = import::left_behind(&offer.candidate, &machine);
                let lacking = lacking(house, &name).await;
                let said =
                    offer.candidate.renamed.iter().cloned().chain(omitted).chain(left_behind).chain(lacking);
                imported.remarks.extend(said.map(|what| Remark::on(&name, what)));
                if !how.replace {
                    fresh.push(name.clone());
                }
                if !house.is_accepted(&name) {
                    imported.waiting.push(name.clone());
                }
                imported.added.push(name);
                here.push(offer.candidate);
            }
            Err(refusal) => imported.left.push(Left::refused(name, refusal)),
        }
    }
    imported.secrets = stored.len();
    let mut cuts = Vec::new();
    if let Some(client) = client {
        cuts = to_take_out(client, &machine, &here)?;
        imported.taken_out = cuts.iter().flat_map(|cut| cut.names.clone()).collect();
        imported.changes = cuts.iter().map(|cut| cut.shown(client)).collect();
    }
    if wanted.dry_run {
        return Ok(imported);
    }
    if !fresh.is_empty() || !cuts.is_empty() {
        // Recorded before the change, so that it can be undone after a crash.
        let kept = cuts.iter().map(|cut| cut.keep(house, client, &left_files));
        let taken_out = kept.collect::<Result<_, Refusal>>()?;
        let remembered = house.edits().imported(fresh, stored, taken_out);
        remembered.map_err(Refusal::unwritable)?;
    }
    for cut in cuts {
        write(&cut.path, Some(&cut.before), &cut.after, Access::Kept).map_err(Refusal::unwritable)?;
    }
    Ok(imported)
}

/// What an imported server still needs before it can start.
async fn lacking(house: &dyn House, name: &str) -> Vec<RemarkKind> {
    let config = house.config();
    let Some(server) = config.servers().get(name) else { return vec![] };
    // If the names cannot be read, the first start reports what is missing.
    let Ok((_, stored)) = house.secrets().names().await else { return vec![] };
    let secrets = upstream::secrets_of(&server.transport);
    let missing = upstream::unset(&server.transport, house.environment(), &stored);
    let kind = |name: String| match secrets.contains(&name) {
        true => RemarkKind::NeedsSecret { name },
        false => RemarkKind::NeedsVariable { name },
    };
    missing.into_iter().map(kind).collect()
}

/// How one server is added.
#[derive(Debug, Clone, Copy)]
struct AddedHow {
    replace: bool,
    off: bool,
}

/// Imports a server. Returns its credentials as they are stored.
async fn import_one(
    house: &dyn House,
    offer: &Offer,
    how: AddedHow,
    machine: &Machine,
    stored: &mut Vec<String>,
) -> Result<Vec<Moved>, Refusal> {
    // What is refused anyway leaves nothing in the keychain.
    if !how.replace && house.config().entry(&offer.candidate.name).is_some() {
        let message = format!("there is already a server \"{}\"", offer.candidate.name);
        return Err(Refusal::new(
            Code::ServerExists,
            message,
            "Give it another name, or let it replace that one.",
        ));
    }
    let runs_here = runs_here(&offer.candidate, machine);
    let hand = match (house.is_for_a_person(), runs_here) {
        (true, _) => Hand::Person,
        (false, true) => Hand::Program,
        (false, false) => Hand::Unseen,
    };
    // What waits is accepted with its review, which names its risks.
    let is_due = |need: &&Need| hand != Hand::Unseen || !need.id.starts_with(ACCEPT);
    let needs: Vec<&Need> = offer.needs.iter().filter(is_due).collect();
    if !needs.is_empty() {
        if let Some(risk) = needs.iter().find(|need| need.id.starts_with(ACCEPT)) {
            let means = risk.description.trim_end_matches(". Type yes to accept that");
            let message = format!("{means}; `--set '{}=yes'` accepts that", risk.id);
            return Err(Refusal::new(Code::Needs, message, ""));
        }
        let ids: Vec<&str> = needs.iter().map(|need| need.id.as_str()).collect();
        let message = format!("it needs {}; set them with --set ID=VALUE", ids.join(", "));
        return Err(Refusal::new(Code::Needs, message, ""));
    }
    let unpack = |bytes: &Vec<u8>| bundles::unpack(house, bytes, &offer.candidate.origins[0].path);
    // Removed again where the import fails.
    let _unpacked = offer.bundle.as_ref().map(unpack).transpose()?;
    let (mut entry, moved, _) = into_config(&offer.candidate.server, &offer.candidate.name);
    let mut credentials = Vec::new();
    let complete = entry_secrets::store_all(house, &mut entry, moved, &mut credentials).await;
    stored.extend(credentials.iter().map(|one| one.name.clone()));
    complete?;
    if offer.candidate.server.words != Words::Own {
        entry_secrets::with_new_names(house, &mut entry, stored).await?;
    }
    if how.off {
        entry.insert("enabled".into(), false.into());
    }
    if runs_here {
        house.trust_imported(&offer.candidate.name).await;
    }
    let change = Change::Put {
        name: offer.candidate.name.clone(),
        entry: Value::Object(entry),
        replace: how.replace,
        rules: rules_of(&offer.candidate.server, &offer.candidate.name),
    };
    house.apply(change, hand).await?;
    Ok(credentials)
}

/// Stores the credentials of a server that is here already and leaves another program's file: undoing needs them.
async fn keep_credentials(
    house: &dyn House,
    candidate: &Candidate,
    stored: &mut Vec<String>,
) -> Result<Vec<Moved>, Refusal> {
    let (_, moved, _) = into_config(&candidate.server, &candidate.name);
    let mut credentials = Vec::new();
    for Moved { name, value } in moved {
        let (_, there) = house.secrets().names().await.map_err(Refusal::from)?;
        let name = entry_secrets::store(house, &name, &value).await?;
        stored.extend((!there.contains(&name)).then(|| name.clone()));
        credentials.push(Moved { name, value });
    }
    Ok(credentials)
}

/// Is it in a file that one of this user's clients starts servers from? A pasted text, a link, a bundle, a file of a project or
/// one named by hand has not run here.
fn runs_here(candidate: &Candidate, machine: &Machine) -> bool {
    candidate.origins.iter().any(|origin| {
        let client = table::client(&origin.client);
        let sources = client.into_iter().flat_map(|client| Source::of_user(client, machine));
        sources.into_iter().any(|source| source.path == origin.path)
    })
}
