//! Updates: what a newer release would change, and what stays. An update that names another package is none.

use std::collections::BTreeMap;

use satchel_entry::template::to_secret;
use serde_json::{Map, Value};

use crate::{
    clients::import::Moved,
    house::House,
    listings::{
        page::Release,
        registry_http::Url,
        shelf::{self, Shelf},
        versions,
    },
    model::{
        Code,
        caution::CautionCode,
        control::Refusal,
        listings::{InstallPlan, InstalledServer},
        shell,
    },
    provenance,
    registry::{
        plan::{self, Choice},
        server_json::{Answers, ServerDocument, Status},
    },
};

/// Placeholder for a credential that was given before.
const KEPT: &str = "satchel-keeps-this-credential";
/// The fields that an update rewrites; all others belong to the user.
const WRITTEN: [&str; 6] = ["command", "args", "env", "url", "headers", "type"];

/// An installed server as it is.
pub(crate) struct Before {
    pub(crate) server: String,
    pub(crate) source: provenance::Provenance,
    entry: Value,
}

/// Finds the server, if it came from a registry.
pub(crate) fn before(house: &dyn House, server: &str) -> Result<Before, Refusal> {
    let config = house.config();
    let all = provenance::all(&config);
    // Accept its local name and its registry name.
    let named = all.iter().find(|(name, _)| name == server).or_else(|| {
        let mut same = all.iter().filter(|(_, source)| source.name == server);
        same.next().filter(|_| same.next().is_none())
    });
    let Some((name, source)) = named else {
        if !config.servers().contains_key(server) {
            return Err(Refusal::unknown_server(server));
        }
        let why = CautionCode::NotFromRegistry.with([server]);
        return Err(Refusal::because(Code::NotFromARegistry, why, "`satchel pin` has it run one version."));
    };
    let entry = config.entry(name).cloned().ok_or_else(|| Refusal::unknown_server(server))?;
    Ok(Before { server: name.clone(), source: source.clone(), entry })
}

/// The release to update to.
pub(crate) fn source(
    shelf: &Shelf,
    before: &Before,
    version: Option<&str>,
) -> Result<shelf::Source, Refusal> {
    let Before { server, source, .. } = before;
    let found = shelf.source_at(&source.registry, &source.name, version).ok_or_else(|| {
        let why = CautionCode::NotListedAnyMore.with([&source.registry, &source.name]);
        Refusal::because(Code::UnknownListing, why, "")
    })?;
    let is_newer = versions::compare(&found.release.version, &source.version).is_gt();
    if version.is_none() && !is_newer {
        let why = CautionCode::UpToDate.with([server, &source.version]);
        return Err(Refusal::because(Code::UpToDate, why, ""));
    }
    let document = found.release.read();
    let runs = |document: &ServerDocument| {
        let ways = crate::listings::ways::ways(document);
        ways.into_iter().find(|(id, _)| *id == source.way).map(|(_, choice)| package(document, choice))
    };
    match document.as_ref().and_then(runs) {
        Some(package) if package == source.package => {}
        Some(other) => {
            let parts = [server, &found.release.version, &other, &source.package];
            let why = CautionCode::UpdateHeld.with(parts);
            let action =
                format!("If you trust it, `satchel uninstall {}` and install it anew.", shell::word(server));
            return Err(Refusal::because(Code::PackageSwapped, why, action));
        }
        None => {
            let why = CautionCode::WayIsGone.with([&found.release.version, server, &source.way]);
            return Err(Refusal::because(Code::WayGone, why, "Uninstall it, and install it anew."));
        }
    }
    if found.release.version == source.version && is_replaced(&found.release, source) {
        let why = CautionCode::ReleaseChanged.with([&source.version, &source.name]);
        return Err(Refusal::because(Code::ChangedInPlace, why, "A newer version would be."));
    }
    Ok(found)
}

/// What runs or is connected to, without its version.
pub(crate) fn package(document: &ServerDocument, choice: Choice) -> String {
    match choice {
        Choice::Package(at) => document.packages.get(at).map_or_else(String::new, |package| {
            let name = package
                .identifier
                .split('@')
                .next()
                .filter(|name| !name.is_empty() && package.registry_type == "oci");
            let name = name.map(|name| {
                name.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')).map_or(name, |(name, _)| name)
            });
            match package.registry_type.as_str() {
                // Every version of a bundle has its own address, below the same owner.
                "mcpb" => format!("mcpb {}", owner(&package.identifier)),
                kind => format!("{kind} {}", name.unwrap_or(&package.identifier)),
            }
        }),
        Choice::Remote(at) => {
            let url = document.remotes.get(at).map(|remote| remote.url.as_str()).unwrap_or_default();
            let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
            rest.split(['/', '?', '#']).next().unwrap_or_default().to_owned()
        }
    }
}

fn owner(address: &str) -> String {
    let Ok(url) = Url::parse(address) else { return address.to_owned() };
    let path: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).take(2).collect();
    format!("{}/{}", url.host_str().unwrap_or_default(), path.join("/"))
}

/// Stored and new inputs, with a placeholder for each kept credential.
pub(crate) fn answers(
    before: &Before,
    document: &ServerDocument,
    choice: Choice,
    given: &BTreeMap<String, Value>,
) -> BTreeMap<String, Value> {
    let prompts = plan::plan(document, choice, &Answers::new()).map(|plan| plan.prompts).unwrap_or_default();
    let known = |id: &str| prompts.iter().any(|prompt| prompt.id == id);
    let mut answers: BTreeMap<String, Value> = before
        .source
        .answers
        .iter()
        .filter(|(id, _)| known(id))
        .map(|(id, value)| (id.clone(), value.clone()))
        .collect();
    let is_given = |id: &str| {
        let last = id.rsplit('.').next().unwrap_or(id).trim_start_matches('-');
        given.keys().any(|key| key == id || key.trim_start_matches('-') == last)
    };
    for prompt in prompts.iter().filter(|prompt| prompt.secret && !is_given(&prompt.id)) {
        answers.insert(prompt.id.clone(), KEPT.into());
    }
    answers.retain(|id, _| !is_given(id));
    answers.extend(given.clone());
    answers
}

/// Puts kept credentials back, and lists the other changes.
pub(crate) fn carry_over(
    before: &Before,
    entry: &mut Map<String, Value>,
    moved: &mut Vec<Moved>,
    plan: &mut InstallPlan,
) -> Result<(), Refusal> {
    for kept in moved.extract_if(.., |moved| moved.value.contains(KEPT)).collect::<Vec<_>>() {
        if !keep(&before.entry, entry, &to_secret(&kept.name)) {
            let unanswered = plan.inputs.iter().filter(|input| input.secret).map(|input| input.id.clone());
            plan.missing.extend(unanswered.filter(|id| !plan.missing.contains(id)).collect::<Vec<_>>());
        }
    }
    plan.from = Some(before.source.version.clone());
    plan.changes = changes(&before.entry, entry);
    Ok(())
}

/// Replaces this reference in the new entry by the old value at its place; `false` if there was none.
fn keep(before: &Value, entry: &mut Map<String, Value>, reference: &str) -> bool {
    let mut all = true;
    for block in ["env", "headers"] {
        let fields = entry.get_mut(block).and_then(Value::as_object_mut).into_iter().flatten();
        for (name, value) in
            fields.filter(|(_, value)| value.as_str().is_some_and(|text| text.contains(reference)))
        {
            match before.get(block).and_then(|fields| fields.get(name)) {
                Some(old) => *value = old.clone(),
                None => all = false,
            }
        }
    }
    let old: Vec<&str> = before
        .get("args")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if let Some(args) = entry.get_mut("args").and_then(Value::as_array_mut) {
        for at in 0..args.len() {
            if !args[at].as_str().is_some_and(|text| text.contains(reference)) {
                continue;
            }
            let flag = at
                .checked_sub(1)
                .and_then(|before| args[before].as_str())
                .filter(|flag| flag.starts_with('-'));
            let there =
                flag.and_then(|flag| old.iter().position(|arg| *arg == flag)).and_then(|at| old.get(at + 1));
            match there {
                Some(value) => args[at] = (*value).into(),
                None => all = false,
            }
        }
    }
    all && entry.get("url").and_then(Value::as_str) != Some(reference)
}

/// The changes, one line each.
fn changes(before: &Value, after: &Map<String, Value>) -> Vec<String> {
    let words = |entry: &dyn Fn(&str) -> Option<Value>| -> Vec<String> {
        let text = |value: Value| value.as_str().unwrap_or_default().replace("$${", "${");
        let mut words: Vec<String> =
            ["url", "command"].iter().filter_map(|key| entry(key)).map(text).collect();
        if let Some(Value::Array(args)) = entry("args") {
            words.extend(args.into_iter().map(text));
        }
        for block in ["env", "headers"] {
            if let Some(Value::Object(fields)) = entry(block) {
                words.extend(fields.into_iter().map(|(name, value)| format!("{name}={}", text(value))));
            }
        }
        words
    };
    let (old, new) = (words(&|key| before.get(key).cloned()), words(&|key| after.get(key).cloned()));
    let gone = old.iter().filter(|word| !new.contains(word)).map(|word| format!("no longer {word}"));
    let came = new.iter().filter(|word| !old.contains(word)).map(|word| format!("now {word}"));
    gone.chain(came).collect()
}

/// Keeps the user's own settings.
pub(crate) fn keep_settings(before: &Value, entry: &mut Value) {
    let (Some(before), Some(entry)) = (before.as_object(), entry.as_object_mut()) else { return };
    let own = before.iter().filter(|(key, _)| !WRITTEN.contains(&key.as_str()) && *key != provenance::KEY);
    for (key, value) in own {
        entry.insert(key.clone(), value.clone());
    }
}

/// Did the registry replace the content of this version? The bundled list changes with Satchel, which is no such case.
fn is_replaced(release: &Release, source: &provenance::Provenance) -> bool {
    source.registry != shelf::OWN && provenance::digest(release) != source.digest
}

/// What a registry currently says about an installed server.
pub fn state(shelf: &Shelf, server: String, source: &provenance::Provenance) -> InstalledServer {
    let here = shelf.source_at(&source.registry, &source.name, Some(&source.version));
    let offered = shelf.source_at(&source.registry, &source.name, None);
    let newer = offered.filter(|offered| {
        offered.release.status != Status::Deleted
            && versions::compare(&offered.release.version, &source.version).is_gt()
    });
    let mut remarks = Vec::new();
    if let Some(here) = &here
        && is_replaced(&here.release, source)
    {
        remarks.push(CautionCode::ChangedInPlace.with([&source.version]));
    }
    if let Some(newer) = &newer {
        let runs = newer.release.read().and_then(|document| {
            let ways = crate::listings::ways::ways(&document);
            let (_, choice) = ways.into_iter().find(|(id, _)| *id == source.way)?;
            Some(package(&document, choice))
        });
        if runs.as_ref() != Some(&source.package) {
            remarks.push(CautionCode::HeldPackage.with([&newer.release.version]));
        }
    }
    InstalledServer {
        server,
        name: source.name.clone(),
        version: source.version.clone(),
        newer: newer.map(|newer| newer.release.version),
        status: here.as_ref().map_or("unknown", |here| shelf::status_word(here.release.status)).to_owned(),
        status_message: here.and_then(|here| here.shown.status_message),
        remarks,
        kept: source.keep,
    }
}
