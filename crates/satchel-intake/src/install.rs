//! Turns a registry entry into an entry of the configuration: plans it, shows the plan, and carries out exactly what
//! was shown. Fetches and starts nothing before that.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use satchel_mcp::Raw;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::{
    bundled::bundle_found,
    bundles::{self, UnpackedBundle},
    clients::{
        import::{self, FoundEntry, Moved, Target, into_config},
        machine::Machine,
    },
    config::{Config, file::RegistrySource},
    described::{described, described_nothing},
    entry_secrets,
    house::{Hand, House},
    listings::{
        Registry, judge,
        registry_http::{self, Url},
        shelf::{Shelf, Source, afterwards},
        ways::{self, Reasons, Reviewed},
    },
    model::{
        Code,
        audit::AuditKind,
        caution::CautionCode,
        control::{Change, Refusal},
        listings::{Consent, InstallAsk, InstallPlan, Installed, MissingRuntime},
    },
    pinned_image, provenance,
    registry::{
        bundle,
        plan::{Choice, Way},
        runtimes,
        server_json::{Package, ServerDocument, Status},
    },
    trust::Fingerprint,
    update,
};

/// Everything needed to execute the plan.
struct Prepared {
    plan: InstallPlan,
    source: Source,
    package: Option<Package>,
    reviewed: Option<Reviewed>,
    entry: Map<String, Value>,
    moved: Vec<Moved>,
    provenance: provenance::Provenance,
}

/// The plan of an installation or update.
pub async fn plan(house: &dyn House, ask: &InstallAsk) -> Result<InstallPlan, Refusal> {
    Ok(prepare(house, ask).await?.plan)
}

pub(crate) fn refused(name: &str, why: impl Into<Reasons>) -> Refusal {
    let action = "If you know its authors and want exactly that, add it by hand with `satchel add`.";
    let why = why.into();
    let message = format!("\"{name}\" is not installed: it {why}");
    Refusal { why: why.0, ..Refusal::new(Code::BadDescription, message, action) }
}

async fn prepare(house: &dyn House, ask: &InstallAsk) -> Result<Prepared, Refusal> {
    let before = match &ask.server {
        Some(server) => Some(update::before(house, server)?),
        None => None,
    };
    let source = match &before {
        Some(before) => update::source(&shelf(house), before, ask.version.as_deref())?,
        None => {
            let name = ask.name.as_str();
            let version = ask.version.as_deref();
            shelf(house).source(name, version).map_err(|near| unknown_listing(name, version, &near))?
        }
    };
    let document = source.release.read().ok_or_else(|| refused(&source.shown.name, CautionCode::LacksWay))?;
    refuse_deleted(&source)?;
    let mut plan = InstallPlan { server: source.shown.clone(), ..InstallPlan::default() };
    plan.afterwards = afterwards(&source.release);
    let wanted = before.as_ref().map(|before| before.source.way.clone()).or_else(|| ask.way.clone());
    let Some((way, choice)) = choose(&source, &document, wanted.as_deref())? else {
        plan.missing = vec!["way".to_owned()];
        return Ok(Prepared {
            plan,
            source,
            package: None,
            reviewed: None,
            entry: Map::new(),
            moved: vec![],
            provenance: provenance::Provenance::default(),
        });
    };
    let engine = pinned_image::engine(house).await;
    let answers = match &before {
        Some(before) => update::answers(before, &document, choice, &ask.answers),
        None => ask.answers.clone(),
    };
    let mut reviewed =
        ways::review(&document, choice, &answers, engine).map_err(|why| refused(&source.shown.name, why))?;
    plan.consents = consents(&source, &answers);
    plan.consents.append(&mut reviewed.consents);
    plan.server.remarks.append(&mut reviewed.remarks);
    plan.inputs.clone_from(&reviewed.inputs);
    plan.missing.clone_from(&reviewed.plan.missing);
    plan.way = way;
    let package = match choice {
        Choice::Package(at) => document.packages.get(at).cloned(),
        Choice::Remote(_) => None,
    };
    plan.runtime = runtime(house, &reviewed.plan.precheck, engine).await;
    let provenance = provenance::Provenance {
        registry: source.registry.clone(),
        name: source.release.name.clone(),
        version: source.release.version.clone(),
        way: plan.way.clone(),
        package: update::package(&document, choice),
        digest: provenance::digest(&source.release),
        answers: given(&reviewed, &answers),
        keep: false,
    };
    let mut prepared = Prepared {
        plan,
        source,
        package,
        reviewed: Some(reviewed),
        entry: Map::new(),
        moved: vec![],
        provenance,
    };
    prepared.write(house, before.as_ref())?;
    prepared.plan.seen = prepared.fingerprint();
    Ok(prepared)
}

impl Prepared {
    /// Writes the resulting entry and the plan that is shown.
    fn write(&mut self, house: &dyn House, before: Option<&update::Before>) -> Result<(), Refusal> {
        let Some(reviewed) = &self.reviewed else { return Ok(()) };
        let name = &self.source.release.name;
        if let Way::Bundle { url, sha256 } = &reviewed.plan.way {
            "stdio".clone_into(&mut self.plan.transport);
            self.plan.runs = vec![url.clone()];
            self.plan.server.remarks.push(CautionCode::BundleChecked.with([sha256]));
            self.plan.called =
                before.map_or_else(|| called(house, name, None), |before| before.server.clone());
            return Ok(());
        }
        let found = described(name, &reviewed.plan).ok_or_else(|| refused(name, CautionCode::LacksWay))?;
        self.plan.called =
            before.map_or_else(|| called(house, name, Some(&found)), |before| before.server.clone());
        let (mut entry, mut moved, _) = into_config(&found, &self.plan.called);
        // Missing inputs have to be given first; the server is not added switched off.
        entry.shift_remove("enabled");
        if let Some(before) = before {
            update::carry_over(before, &mut entry, &mut moved, &mut self.plan)?;
        }
        show(&entry, &found, &mut self.plan);
        if let Some(image) = self.image() {
            self.plan.server.remarks.push(CautionCode::ImagePinned.with([image]));
        }
        (self.entry, self.moved) = (entry, moved);
        Ok(())
    }

    /// The image, if it is referenced by a movable tag.
    fn image(&self) -> Option<String> {
        let package = self.package.as_ref().filter(|package| package.registry_type == "oci")?;
        let args = self.plan.runs.get(1..)?;
        let at = ways::package_at(args, package)?;
        Some(args[at].clone()).filter(|image| !image.contains("@sha256:"))
    }

    /// The fingerprint of everything a person sees.
    fn fingerprint(&self) -> String {
        let secrets: Vec<&str> = self.moved.iter().map(|moved| moved.name.as_str()).collect();
        let seen = json!([
            self.provenance,
            self.plan.called,
            self.entry,
            secrets,
            self.plan.runs,
            self.plan.changes
        ]);
        let raw: Box<Raw> = serde_json::value::to_raw_value(&seen).expect("a JSON value always serializes");
        Fingerprint::of("installation", &raw).to_string()
    }
}

/// The servers that the configured registries list, as far as they were read.
pub fn shelf(house: &dyn House) -> Arc<Shelf> {
    house.entries().listings.shelf(&registries(&house.config()))
}

/// The configured registries; tokens are read only when a registry is queried.
pub fn registries(config: &Config) -> Vec<Registry> {
    let url = |source: &RegistrySource| Url::parse(&source.url).ok();
    config.registries().iter().filter_map(url).map(|url| Registry { url, token: None }).collect()
}

/// No registry lists this server, or this version of it.
pub fn unknown_listing(name: &str, version: Option<&str>, near: &[String]) -> Refusal {
    let why = match version {
        Some(version) => CautionCode::VersionNotListed.with([name, version]),
        None => CautionCode::NotListed.with([name]),
    };
    let action = match near {
        [] => "`satchel search` finds servers by what they are about.".to_owned(),
        names => format!("Did you mean {}?", names.join(" or ")),
    };
    Refusal::because(Code::UnknownListing, why, action)
}

fn refuse_deleted(source: &Source) -> Result<(), Refusal> {
    if source.release.status != Status::Deleted {
        return Ok(());
    }
    let name = &source.shown.name;
    let why = match &source.shown.status_message {
        Some(text) => CautionCode::DeletedFor.with([name, text]),
        None => CautionCode::DeletedThere.with([name]),
    };
    Err(Refusal::because(Code::Deleted, why, ""))
}

/// The chosen way; `None` if there are several and none was chosen.
fn choose(
    source: &Source,
    document: &ServerDocument,
    wanted: Option<&str>,
) -> Result<Option<(String, Choice)>, Refusal> {
    let all = ways::ways(document);
    if let Some(wanted) = wanted {
        let found = all.iter().find(|(id, _)| id == wanted).cloned();
        let ids = || all.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>().join(", ");
        let message = || format!("\"{}\" has no way \"{wanted}\"; it has {}", source.shown.name, ids());
        return found.map(Some).ok_or_else(|| Refusal::new(Code::UnknownWay, message(), ""));
    }
    if let [only] = all.as_slice() {
        return Ok(Some(only.clone()));
    }
    let good = |(id, _): &&(String, Choice)| {
        source.shown.ways.iter().any(|way| way.id == *id && way.refused.is_none())
    };
    let mut good = all.iter().filter(good);
    match (good.next(), good.next()) {
        (Some(only), None) => Ok(Some(only.clone())),
        (Some(_), Some(_)) => Ok(None),
        (None, _) => {
            let why = source
                .shown
                .ways
                .iter()
                .filter_map(|way| Some(format!("{}: {}", way.id, way.refused.as_ref()?)));
            let message = format!(
                "\"{}\" is not installed, because no way of installing it works here: {}",
                source.shown.name,
                why.collect::<Vec<_>>().join("; ")
            );
            let why = source.shown.ways.iter().flat_map(|way| way.why.clone()).collect();
            Err(Refusal { why, ..Refusal::new(Code::BadDescription, message, "") })
        }
    }
}

/// Consents required by the registry's status or by a confusable name.
fn consents(source: &Source, answers: &BTreeMap<String, Value>) -> Vec<Consent> {
    let mut consents = Vec::new();
    if source.release.status == Status::Deprecated {
        let said = match &source.shown.status_message {
            Some(text) => CautionCode::DeprecatedFor.with([text]),
            None => CautionCode::Deprecated.into(),
        };
        consents.push(ways::consent("deprecated", said));
    }
    let twin = source.shown.remarks.iter().find(|remark| remark.code == CautionCode::NameInOtherCase);
    consents.extend(twin.map(|twin| ways::consent("name", twin.clone())));
    consents.retain(|consent| answers.get(&consent.id).and_then(Value::as_str) != Some("yes"));
    consents
}

/// The launcher to install first, as a sentence.
async fn runtime(house: &dyn House, needed: &[String], engine: Option<&str>) -> Option<MissingRuntime> {
    let dirs = house.search_path().dirs(house.environment()).await;
    let is_here = |name: &str| pinned_image::is_program(dirs, name);
    let is_missing = |name: &&String| match name.as_str() {
        "docker" => engine.is_none(),
        other => !is_here(other),
    };
    let missing = needed.iter().find(is_missing)?;
    runtimes::how_to_install(missing, house.environment().platform(), is_here)
}

/// Inputs other than credentials, stored for updates.
fn given(reviewed: &Reviewed, answers: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let plain = reviewed.inputs.iter().filter(|input| !input.secret);
    let answer = |id: &str| {
        let last = id.rsplit('.').next().unwrap_or(id).trim_start_matches('-');
        answers.get(id).or_else(|| {
            answers.iter().find(|(given, _)| given.trim_start_matches('-') == last).map(|(_, value)| value)
        })
    };
    plain.filter_map(|input| Some((input.id.clone(), answer(&input.id)?.clone()))).collect()
}

/// The name of a new entry.
fn called(house: &dyn House, name: &str, found: Option<&FoundEntry>) -> String {
    let config = house.config();
    let taken = |name: &str| config.servers().keys().any(|known| import::is_same(known.as_str(), name));
    let found = found.cloned().unwrap_or_else(|| described_nothing(name));
    let origin = import::Origin {
        client: "registry".into(),
        path: PathBuf::new(),
        scope: "registry".into(),
        name: name.to_owned(),
    };
    let mut all = import::candidates(vec![(origin, found)], &import::Existing::default(), taken);
    all.pop().map(|candidate| candidate.name).unwrap_or_default()
}

/// The visible parts of an entry: everything except credentials.
fn show(entry: &Map<String, Value>, found: &FoundEntry, plan: &mut InstallPlan) {
    let plain = |value: &Value| value.as_str().unwrap_or_default().replace("$${", "${");
    let map = |key: &str| -> BTreeMap<String, String> {
        let fields = entry.get(key).and_then(Value::as_object).into_iter().flatten();
        fields.map(|(name, value)| (name.clone(), plain(value))).collect()
    };
    plan.env = map("env");
    plan.headers = map("headers");
    let list = entry.get("args").and_then(Value::as_array).into_iter().flatten().map(plain);
    plan.runs = match &found.target {
        Target::Program { .. } => entry.get("command").map(plain).into_iter().chain(list).collect(),
        Target::Address { .. } => entry.get("url").map(plain).into_iter().collect(),
    };
    plan.transport = match found.transport {
        import::TransportKind::Stdio => "stdio",
        import::TransportKind::Http => "http",
        import::TransportKind::Sse => "sse",
    }
    .to_owned();
}

/// Executes exactly the plan that was shown.
pub async fn carry_out(house: &dyn House, ask: &InstallAsk, seen: &str) -> Result<Installed, Refusal> {
    let mut prepared = prepare(house, ask).await?;
    let name = prepared.source.shown.name.clone();
    if !prepared.plan.missing.is_empty() {
        let why = CautionCode::StillNeeds.with([name, prepared.plan.missing.join(", ")]);
        return Err(Refusal::because(Code::Needs, why, "Say them with --set ID=VALUE, or a way with --way."));
    }
    if let Some(Consent { id, says, .. }) = prepared.plan.consents.first() {
        let why = CautionCode::WantsConsent.with([&name, says]);
        return Err(Refusal::because(Code::NeedsConsent, why, format!("`--set {id}=yes` says so.")));
    }
    if prepared.plan.seen != seen {
        let why = CautionCode::ShownBefore.with([name]);
        return Err(Refusal::because(Code::ChangedMeanwhile, why, "Look at it again."));
    }
    // Removed again where the installation fails.
    let _unpacked = fetch(house, &mut prepared, ask).await?;
    let mut entry = std::mem::take(&mut prepared.entry);
    let moved = std::mem::take(&mut prepared.moved);
    let mut stored = Vec::new();
    entry_secrets::store_all(house, &mut entry, moved, &mut stored).await?;
    let stored = stored.into_iter().map(|secret| secret.name).collect();
    entry.insert(provenance::KEY.into(), json!(prepared.provenance));
    put(house, ask, &prepared.plan, entry, stored).await
}

/// Fetches what completes the entry: a bundle, or the digest of an image referenced by tag.
async fn fetch<'a>(
    house: &'a dyn House,
    prepared: &mut Prepared,
    ask: &InstallAsk,
) -> Result<Option<UnpackedBundle<'a>>, Refusal> {
    if let Some(image) = prepared.image() {
        let engine = prepared.plan.runs.first().cloned().unwrap_or_default();
        let pinned = pinned_image::pinned(house, &engine, &image).await?;
        let args = prepared.entry.get_mut("args").and_then(Value::as_array_mut);
        if let Some(arg) = args.into_iter().flatten().find(|arg| arg.as_str() == Some(&image)) {
            *arg = pinned.into();
        }
    }
    let Some(Way::Bundle { url, sha256 }) = prepared.reviewed.as_ref().map(|reviewed| &reviewed.plan.way)
    else {
        return Ok(None);
    };
    let bad = |why: String| Refusal::new(Code::BadBundle, format!("{url}: {why}"), "");
    let parsed = Url::parse(url).map_err(|error| bad(error.to_string()))?;
    let largest = usize::try_from(bundle::PACKED).unwrap_or(usize::MAX);
    let bytes = registry_http::bundle(&parsed, largest).await.map_err(|fault| bad(fault.to_string()))?;
    is_as_named(&bytes, sha256).map_err(bad)?;
    let machine = Machine::here(&house.environment().clone().into_variables());
    let (found, directory, needs) = bundle_found(house, &bytes, &ask.answers, &machine)?;
    if !needs.is_empty() {
        let why = CautionCode::StillNeeds.with([&prepared.source.shown.name, &needs.join(", ")]);
        return Err(Refusal::because(Code::Needs, why, "Say them with --set ID=VALUE."));
    }
    let unpacked = match bundles::is_used(house, &directory) {
        // The same bundle with the same settings is a server here already.
        true => None,
        false => Some(bundles::unpack(house, &bytes, &directory)?),
    };
    let (entry, moved, _) = into_config(&found, &prepared.plan.called);
    (prepared.entry, prepared.moved) = (entry, moved);
    Ok(unpacked)
}

/// Nothing of a bundle is looked at before it is the one that was named.
fn is_as_named(bytes: &[u8], sha256: &str) -> Result<(), String> {
    let is: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    match is.eq_ignore_ascii_case(sha256) {
        true => Ok(()),
        false => Err(format!("what came is not what its description names (SHA-256 {is}, not {sha256})")),
    }
}

async fn put(
    house: &dyn House,
    ask: &InstallAsk,
    plan: &InstallPlan,
    entry: Map<String, Value>,
    stored: Vec<String>,
) -> Result<Installed, Refusal> {
    let server = plan.called.clone();
    let secrets = stored.len();
    let config = house.config();
    let edits = &house.edits();
    // Recorded before the change, so that it can be undone after a crash.
    match (&ask.server, config.entry(&server)) {
        (Some(_), Some(before)) => edits.updated(server.clone(), before.clone(), stored),
        _ => edits.imported(vec![server.clone()], stored, vec![]),
    }
    .map_err(Refusal::unwritable)?;
    let mut entry = Value::Object(entry);
    if let (Some(_), Some(before)) = (&ask.server, config.entry(&server)) {
        update::keep_settings(before, &mut entry);
    }
    let change = Change::Put { name: server.clone(), entry, replace: ask.server.is_some(), rules: vec![] };
    house.apply(change, Hand::of(house)).await?;
    let version = plan.server.version.clone();
    let (name, _) = judge::plain(&plan.server.name);
    let named = format!("{name} {version}");
    let said = format!("{} was installed from {}", named.trim_end(), plan.server.registry);
    house.record(AuditKind::Policy, &server, &said);
    Ok(Installed { server, version, secrets, held: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_that_is_not_the_one_that_was_named_is_not_unpacked() {
        let named = "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD";
        assert_eq!(is_as_named(b"abc", named), Ok(()));
        let why = is_as_named(b"abd", named).unwrap_err();
        assert!(why.contains("not what its description names") && why.contains(named), "{why}");
    }
}
