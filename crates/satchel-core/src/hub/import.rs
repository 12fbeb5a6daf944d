//! Imports servers from other programs' files, pasted text, bundles and registry descriptions: previews them, then adds
//! them and moves their credentials into the keychain. What has never run here waits for approval unless a person was
//! asked.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use satchel_entry::template::names_secret;
use serde_json::{Map, Value, json};

use super::{
    Hub,
    apply::{self, Hand},
    approved, bundles, entry_secrets,
    failure::unwritable,
    ourselves,
    preview::Changed,
    registry,
};
use crate::{
    clients::{
        connect::{format_of, write},
        document::{Document, fingerprint, read_bytes},
        import::{
            self, Candidate, Existing, FoundEntry, Moved, Origin, ReadError, Source, Target, TransportKind,
            Words, credentials_in, into_config,
        },
        ledger::TakenOut,
        machine::Machine,
        masked,
        table::{self, Client},
        template::Ourselves,
    },
    edit::Spot,
    files::{self, Access},
    model::{
        Code, TransportConfig,
        audit::AuditKind,
        caution::{self, Caution, CautionCode},
        clients::{FileChange, Findings, FoundServer, From, Imported, Need},
        control::{Change, Refusal},
        left::{Left, LeftCause},
        name::in_path,
        remark::{NameFault, Remark, RemarkKind},
        shell,
    },
    platform::Platform,
    registry::{
        bundle, launch_risks,
        manifest::{Around, Manifest, ManifestError, Setting},
        plan::{self, Choice, Way},
        server_json::ServerDocument,
    },
    upstream,
};

/// The selection to import.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) from: From,
    pub(super) names: Option<Vec<String>>,
    pub(super) answers: BTreeMap<String, Value>,
    /// The fingerprint of what a person was shown.
    pub(super) seen: Option<String>,
    pub(super) take_out: bool,
    /// Only show the change to the client's file.
    pub(super) dry_run: bool,
    /// Other names, by those of the offers.
    pub(super) named: BTreeMap<String, String>,
    /// Those that replace a server that has their name, by the names of the offers.
    pub(super) replace: Vec<String>,
    /// Add them switched off.
    pub(super) off: bool,
}

/// A server that can be imported.
#[derive(Debug)]
struct Offer {
    candidate: Candidate,
    needs: Vec<Need>,
    warnings: Vec<Caution>,
    /// A bundle that is unpacked first.
    bundle: Option<Vec<u8>>,
}

/// Another program's file, as it is and without the removed entries.
struct Cut {
    path: PathBuf,
    before: Vec<u8>,
    after: Vec<u8>,
    /// The entries to remove.
    names: Vec<String>,
}

#[derive(Debug, Default)]
struct ImportOffers {
    offers: Vec<Offer>,
    skipped: Vec<Left>,
    troubles: Vec<Left>,
}

/// The servers that are here, to recognize those that are found again.
pub(super) fn existing(hub: &Hub) -> Existing {
    let mut existing = Existing::default();
    for (name, server) in hub.config().servers() {
        existing.add(name.as_str(), &target_of(&server.transport));
    }
    existing
}

fn target_of(transport: &TransportConfig) -> Target {
    let values = |texts: &BTreeMap<String, String>| -> Map<String, Value> {
        texts.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect()
    };
    match transport {
        TransportConfig::Stdio { command, args, env, cwd } => Target::Program {
            command: command.clone(),
            args: args.clone(),
            env: values(env),
            cwd: cwd.clone(),
            env_file: None,
        },
        TransportConfig::Http { url, headers, oauth: _ } => {
            Target::Address { url: url.clone(), headers: values(headers) }
        }
    }
}

pub(super) fn find_servers(
    hub: &Hub,
    from: &From,
    answers: &BTreeMap<String, Value>,
    environment: &BTreeMap<String, String>,
) -> Result<Findings, Refusal> {
    let offers = offers_from(hub, from, answers, environment)?;
    Ok(Findings {
        seen: seen(&offers.offers),
        servers: offers.offers.iter().map(shown).collect(),
        skipped: offers.skipped,
        troubles: offers.troubles,
    })
}

/// The fingerprint of what these servers run, as a person is shown it.
fn seen(offers: &[Offer]) -> String {
    let entries = offers.iter().map(|offer| {
        let Candidate { name, server, .. } = &offer.candidate;
        let (entry, moved, _) = into_config(server, name);
        let moved: Vec<&str> = moved.iter().map(|secret| secret.name.as_str()).collect();
        json!([name, entry, moved])
    });
    fingerprint(Value::from_iter(entries).to_string().as_bytes())
}

fn offers_from(
    hub: &Hub,
    from: &From,
    answers: &BTreeMap<String, Value>,
    environment: &BTreeMap<String, String>,
) -> Result<ImportOffers, Refusal> {
    let machine = Machine::here(environment);
    let mut offers = offers_on(hub, &machine, from, answers)?;
    for offer in &mut offers.offers {
        offer.warnings.extend(import::left_behind(&offer.candidate, &machine).iter().flat_map(coded));
    }
    Ok(offers)
}

fn offers_on(
    hub: &Hub,
    machine: &Machine,
    from: &From,
    answers: &BTreeMap<String, Value>,
) -> Result<ImportOffers, Refusal> {
    match from {
        From::Everywhere { project } => {
            let of_user = table::clients().iter().flat_map(|client| Source::of_user(client, machine));
            let in_project = project.iter().flat_map(|project| {
                table::clients().iter().flat_map(move |client| Source::of_project(client, project))
            });
            Ok(in_sources(hub, of_user.chain(in_project).collect()))
        }
        From::Client(id) => {
            let client = known_client(id)?;
            Ok(in_sources(hub, Source::of_user(client, machine)))
        }
        From::ClientFile { client, path } => {
            let client = known_client(client)?;
            if !path.is_file() {
                let message = format!("{}: there is no such file", path.display());
                return Err(Refusal::new(Code::Unreadable, message, ""));
            }
            Ok(in_sources(hub, Source::of_file(client, path)))
        }
        From::Text(text) => in_text(hub, text, answers),
        From::File(path) => in_file(hub, path, answers, machine),
    }
}

fn in_sources(hub: &Hub, sources: Vec<Source>) -> ImportOffers {
    let ourselves = ourselves::ourselves(hub);
    let (mut found, mut offers) = (Vec::new(), ImportOffers::default());
    let mut read = BTreeSet::new();
    for source in sources {
        let place = format!("{}: {}", source.client.id, source.path.display());
        // Several clients may share a file.
        if !read.insert((source.path.clone(), source.key.clone())) {
            continue;
        }
        let contents = match source.read(Platform::current()) {
            Ok(contents) => contents,
            Err(error) => {
                offers.troubles.push(Left::new(place, error.to_string()));
                continue;
            }
        };
        // An entry that is no object is skipped and warned about; once is enough.
        let said: BTreeSet<String> =
            contents.skipped.iter().map(|skipped| import::not_an_object(&skipped.name)).collect();
        let warnings = contents.warnings.into_iter().filter(|warning| !said.contains(warning));
        offers.troubles.extend(warnings.map(|reason| Left::new(place.clone(), reason)));
        offers.skipped.extend(contents.skipped.into_iter().map(|skipped| {
            Left::because(format!("{place}: {}", skipped.name), skipped_because(&skipped.reason))
        }));
        let servers = contents.servers.into_iter().filter(|server| !is_ourselves(server, &ourselves));
        found.extend(servers.map(|server| (origin(&source, &server), server)));
    }
    offers.offers = offered(hub, found, &BTreeMap::new());
    offers
}

fn offered(hub: &Hub, found: Vec<(Origin, FoundEntry)>, answers: &BTreeMap<String, Value>) -> Vec<Offer> {
    let config = hub.config();
    let taken = |name: &str| config.servers().keys().any(|known| import::is_same(known.as_str(), name));
    let candidates = import::candidates(found, &existing(hub), taken).into_iter();
    let offer = |candidate: Candidate| {
        let (_, _, placeholders) = into_config(&candidate.server, &candidate.name);
        let mut warnings: Vec<Caution> =
            placeholders.iter().map(|what| CautionCode::KnownThere.with([what])).collect();
        warnings.extend(candidate.renamed.iter().flat_map(coded));
        warnings.extend(told(&candidate.server));
        let risks = risks(&candidate.server, answers);
        let mut needs = vec![];
        match candidate.server.words {
            Words::Own => warnings.extend(risks.into_iter().map(Caution::whole)),
            Words::Pasted | Words::Described if risks.is_empty() => {}
            Words::Pasted | Words::Described => {
                let id = format!("{ACCEPT}{}", candidate.name);
                let means = format!("it {}", caution::joined(&risks));
                if answers.get(&id).and_then(Value::as_str) != Some("yes") {
                    let description = format!("{means}. Type yes to accept that");
                    needs.push(Need { id, description, ..Need::default() });
                }
                warnings.extend(risks.into_iter().map(Caution::whole));
            }
        }
        Offer { candidate, needs, warnings, bundle: None }
    };
    candidates.map(offer).collect()
}

fn in_text(hub: &Hub, text: &str, answers: &BTreeMap<String, Value>) -> Result<ImportOffers, Refusal> {
    if let Ok(document) = serde_json::from_str::<Value>(text)
        && let Ok(document) = ServerDocument::read(&document)
    {
        return in_description(hub, &document, answers);
    }
    let import::Contents { servers, skipped, .. } = import::read_text(text).map_err(|error| {
        Refusal::new(Code::NotAServer, error.to_string(), "Paste a block, a command line or an address.")
    })?;
    let origin = |server: &FoundEntry| Origin {
        client: "pasted".into(),
        path: PathBuf::new(),
        scope: "pasted".into(),
        name: server.name.clone(),
    };
    let found = servers.into_iter().map(|server| (origin(&server), server)).collect();
    let left = |one: import::Skipped| Left::because(one.name, skipped_because(&one.reason));
    Ok(ImportOffers {
        offers: offered(hub, found, answers),
        skipped: skipped.into_iter().map(left).collect(),
        ..ImportOffers::default()
    })
}

fn in_file(
    hub: &Hub,
    path: &Path,
    answers: &BTreeMap<String, Value>,
    machine: &Machine,
) -> Result<ImportOffers, Refusal> {
    let unreadable = |why: String| Refusal::new(Code::Unreadable, format!("{}: {why}", path.display()), "");
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if matches!(ending, "mcpb" | "dxt") {
        let bytes = files::read_plain(path, bundle::PACKED).map_err(|error| unreadable(error.to_string()))?;
        return in_bundle(hub, bytes, answers, machine).map_err(|refusal| Refusal {
            message: format!("{}: {}", path.display(), refusal.message),
            ..refusal
        });
    }
    // A client's own file is parsed by that client's rules.
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let sources = table::clients().iter().flat_map(|client| Source::of_user(client, machine));
    let own: Vec<Source> =
        sources.filter(|source| real(&source.path).is_some_and(|own| real(path) == Some(own))).collect();
    if !own.is_empty() {
        return Ok(in_sources(hub, own));
    }
    let bytes = read_bytes(path).map_err(|error| unreadable(error.to_string()))?;
    let Some(bytes) = bytes else { return Err(unreadable("there is no such file".into())) };
    let text = Document::decode(&bytes).map_err(|error| unreadable(error.to_string()))?.text;
    in_text(hub, &text, answers)
}

fn in_description(
    hub: &Hub,
    document: &ServerDocument,
    answers: &BTreeMap<String, Value>,
) -> Result<ImportOffers, Refusal> {
    let wrong = |message: String| Refusal::new(Code::BadDescription, message, "");
    let remotes = (0..document.remotes.len()).map(Choice::Remote);
    let packages = (0..document.packages.len()).map(Choice::Package);
    let mut plans = remotes.chain(packages).map(|choice| plan::plan(document, choice, answers));
    let mut last = None;
    let plan = plans.find_map(|plan| match plan {
        // A bundle has to be downloaded and imported as a file; Satchel starts no separate server process for an
        // address.
        Ok(plan) if matches!(plan.way, Way::Stdio(_) | Way::Http { spawn: None, .. }) => Some(plan),
        Ok(_) => None,
        Err(error) => {
            last = Some(error.to_string());
            None
        }
    });
    let plan = plan.ok_or_else(|| {
        wrong(last.unwrap_or_else(|| "none of the ways to run this server is supported".into()))
    })?;
    let name = document.name.clone();
    let server = described(&name, &plan).ok_or_else(|| wrong("bundles are imported as files".into()))?;
    refuse_risks(&name, &server, answers)?;
    let origin = Origin { client: "pasted".into(), path: PathBuf::new(), scope: "pasted".into(), name };
    let mut offers =
        ImportOffers { offers: offered(hub, vec![(origin, server)], answers), ..ImportOffers::default() };
    let needs: Vec<Need> = plan
        .prompts
        .iter()
        .filter(|prompt| plan.missing.contains(&prompt.id))
        .map(|prompt| Need {
            id: prompt.id.clone(),
            description: prompt.description.clone().unwrap_or_default(),
            secret: prompt.secret,
            format: prompt.format.clone().unwrap_or_default(),
            choices: prompt.choices.clone(),
            default: prompt.default.clone().filter(|_| !prompt.secret),
        })
        .collect();
    for offer in &mut offers.offers {
        offer.needs.clone_from(&needs);
        offer.warnings.extend(plan.warnings.iter().cloned());
    }
    Ok(offers)
}

fn in_bundle(
    hub: &Hub,
    bytes: Vec<u8>,
    answers: &BTreeMap<String, Value>,
    machine: &Machine,
) -> Result<ImportOffers, Refusal> {
    let refused = |error: bundle::BundleError| Refusal::new(Code::BadBundle, error.to_string(), "");
    let (manifest, signature) = bundle::look(&bytes).map_err(refused)?;
    let directory = bundle_directory(hub, &bytes, &manifest, answers, machine);
    let (server, needs) = bundled(&manifest, &directory, answers, machine)?;
    refuse_risks(&manifest.name, &without_own_paths(&server, &directory), answers)?;
    let origin = Origin {
        client: "bundle".into(),
        path: directory,
        scope: "bundle".into(),
        name: manifest.name.clone(),
    };
    let mut offers =
        ImportOffers { offers: offered(hub, vec![(origin, server)], answers), ..ImportOffers::default() };
    for offer in &mut offers.offers {
        offer.needs.clone_from(&needs);
        offer.warnings.clear();
        offer.bundle = Some(bytes.clone());
        offer.warnings.extend(signature.caution());
    }
    Ok(offers)
}

/// The server in a bundle, the directory to unpack it to, and its missing inputs.
pub(super) fn bundle_found(
    hub: &Hub,
    bytes: &[u8],
    answers: &BTreeMap<String, Value>,
    machine: &Machine,
) -> Result<(FoundEntry, PathBuf, Vec<String>), Refusal> {
    let refused = |error: bundle::BundleError| Refusal::new(Code::BadBundle, error.to_string(), "");
    let (manifest, _) = bundle::look(bytes).map_err(refused)?;
    let directory = bundle_directory(hub, bytes, &manifest, answers, machine);
    let (server, needs) = bundled(&manifest, &directory, answers, machine)?;
    refuse_risks(&manifest.name, &without_own_paths(&server, &directory), answers)?;
    Ok((server, directory, needs.into_iter().map(|need| need.id).collect()))
}

fn bundle_directory(
    hub: &Hub,
    bytes: &[u8],
    manifest: &Manifest,
    answers: &BTreeMap<String, Value>,
    machine: &Machine,
) -> PathBuf {
    let here = existing(hub);
    let is_known = |directory: &Path| {
        let found = bundled(manifest, directory, answers, machine);
        found.is_ok_and(|(server, _)| here.known(&server).is_some())
    };
    bundles::directory(hub, bytes, is_known)
}

pub(super) async fn import_servers(
    hub: &Hub,
    wanted: Wanted,
    environment: &BTreeMap<String, String>,
) -> Result<Imported, Refusal> {
    let client = match (&wanted.from, wanted.take_out) {
        (From::Client(id), true) => {
            if !wanted.dry_run && hub.inner.clients.edits.record(id).is_none() {
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
    let offers = offers_from(hub, &wanted.from, &wanted.answers, environment)?;
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
                left_files.extend(keep_credentials(hub, &offer.candidate, &mut stored).await?);
            }
            here.push(offer.candidate);
            continue;
        }
        match import_one(hub, &offer, how, &machine, &mut stored).await {
            Ok(moved) => {
                left_files.extend(moved);
                let omitted = import::omitted(&offer.candidate.server);
                let left_behind = import::left_behind(&offer.candidate, &machine);
                let lacking = lacking(hub, &name).await;
                let said =
                    offer.candidate.renamed.iter().cloned().chain(omitted).chain(left_behind).chain(lacking);
                imported.remarks.extend(said.map(|what| Remark::on(&name, what)));
                if !how.replace {
                    fresh.push(name.clone());
                }
                if !registry::is_accepted(hub, &hub.config(), &name) {
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
        let kept = cuts.iter().map(|cut| cut.keep(hub, client, &left_files));
        let taken_out = kept.collect::<Result<_, Refusal>>()?;
        let remembered = hub.inner.clients.edits.imported(fresh, stored, taken_out);
        remembered.map_err(unwritable)?;
    }
    for cut in cuts {
        write(&cut.path, Some(&cut.before), &cut.after, Access::Kept).map_err(unwritable)?;
    }
    Ok(imported)
}

/// What an imported server still needs before it can start.
async fn lacking(hub: &Hub, name: &str) -> Vec<RemarkKind> {
    let config = hub.config();
    let Some(server) = config.servers().get(name) else { return vec![] };
    // If the names cannot be read, the first start reports what is missing.
    let Ok((_, stored)) = hub.inner.around.secrets.names().await else { return vec![] };
    let secrets = upstream::secrets_of(&server.transport);
    let missing = upstream::unset(&server.transport, &hub.inner.around.environment, &stored);
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
    hub: &Hub,
    offer: &Offer,
    how: AddedHow,
    machine: &Machine,
    stored: &mut Vec<String>,
) -> Result<Vec<Moved>, Refusal> {
    // What is refused anyway leaves nothing in the keychain.
    if !how.replace && hub.config().entry(&offer.candidate.name).is_some() {
        let message = format!("there is already a server \"{}\"", offer.candidate.name);
        return Err(Refusal::new(
            Code::ServerExists,
            message,
            "Give it another name, or let it replace that one.",
        ));
    }
    let runs_here = runs_here(&offer.candidate, machine);
    let hand = match (hub.context.is_for_a_person(), runs_here) {
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
    let unpack = |bytes: &Vec<u8>| bundles::unpack(hub, bytes, &offer.candidate.origins[0].path);
    // Removed again where the import fails.
    let _unpacked = offer.bundle.as_ref().map(unpack).transpose()?;
    let (mut entry, moved, _) = into_config(&offer.candidate.server, &offer.candidate.name);
    let mut credentials = Vec::new();
    let complete = entry_secrets::store_all(hub, &mut entry, moved, &mut credentials).await;
    stored.extend(credentials.iter().map(|one| one.name.clone()));
    complete?;
    if offer.candidate.server.words != Words::Own {
        entry_secrets::with_new_names(hub, &mut entry, stored).await?;
    }
    if how.off {
        entry.insert("enabled".into(), false.into());
    }
    if runs_here {
        approved::trust_imported(hub, &offer.candidate.name).await;
    }
    let change = Change::Put {
        name: offer.candidate.name.clone(),
        entry: Value::Object(entry),
        replace: how.replace,
        rules: rules_of(&offer.candidate.server, &offer.candidate.name),
    };
    apply::ask(hub, change, hand).await?;
    Ok(credentials)
}

/// Stores the credentials of a server that is here already and leaves another program's file: undoing needs them.
async fn keep_credentials(
    hub: &Hub,
    candidate: &Candidate,
    stored: &mut Vec<String>,
) -> Result<Vec<Moved>, Refusal> {
    let (_, moved, _) = into_config(&candidate.server, &candidate.name);
    let mut credentials = Vec::new();
    for Moved { name, value } in moved {
        let (_, there) = hub.inner.around.secrets.names().await.map_err(Refusal::from)?;
        let name = entry_secrets::store(hub, &name, &value).await?;
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

impl Cut {
    fn shown(&self, client: &Client) -> FileChange {
        let (before, after) = (Some(self.before.as_slice()), self.after.as_slice());
        Changed { client, path: &self.path, before, after }.shown("removed", &self.names.join(", "))
    }

    /// The credentials that the file says it has.
    fn credentials_there(&self, client: Option<&Client>, text: &str) -> Vec<String> {
        let document = client.and_then(|client| format_of(client, &self.path).read(text).ok());
        document.map(|document| credentials_in(&document)).unwrap_or_default()
    }

    /// Stores a copy of the original file, without the credentials that leave it. Earlier copies lose them too.
    fn keep(&self, hub: &Hub, client: Option<&Client>, credentials: &[Moved]) -> Result<TakenOut, Refusal> {
        let edits = &hub.inner.clients.edits;
        let text = Document::decode(&self.before).map_err(unwritable)?.text;
        let known = self.credentials_there(client, &text);
        let (here, elsewhere): (Vec<Moved>, Vec<Moved>) = credentials
            .iter()
            .cloned()
            .partition(|one| masked::masked(&self.before, std::slice::from_ref(one)).is_some());
        let remains = elsewhere.iter().any(|one| known.contains(&one.value));
        let credentials = here;
        let copy = masked::masked(&self.before, &credentials).filter(|_| !remains).ok_or_else(|| {
            let message = format!(
                "{}: a credential in it is written so that no copy without it can be made; remove the servers there by hand",
                self.path.display()
            );
            Refusal::new(Code::Unreadable, message, "")
        })?;
        edits
            .change_copies(&self.path, |earlier| masked::masked_further(earlier, &credentials))
            .map_err(unwritable)?;
        Ok(TakenOut {
            path: self.path.clone(),
            backup: edits
                .keep(client.map_or("", |client| &client.id), &self.path, &copy)
                .map_err(unwritable)?,
            after: fingerprint(&self.after),
            before: fingerprint(&self.before),
            secrets: credentials.into_iter().map(|secret| secret.name).collect(),
        })
    }
}

/// The client's own files without the imported servers.
fn to_take_out(client: &'static Client, machine: &Machine, here: &[Candidate]) -> Result<Vec<Cut>, Refusal> {
    let mut cuts = Vec::new();
    for source in Source::of_user(client, machine).into_iter().filter(|source| source.scope == "user") {
        let from_here = here.iter().flat_map(|candidate| &candidate.origins);
        let there: Vec<&str> = from_here
            .filter(|origin| origin.path == source.path && origin.client == client.id)
            .map(|origin| origin.name.as_str())
            .collect();
        if there.is_empty() || source.key != client.key {
            continue;
        }
        let Ok(Some(before)) = read_bytes(&source.path) else { continue };
        let document = Document::decode(&before).map_err(unwritable)?;
        let format = format_of(client, &source.path);
        let (mut text, mut names) = (document.text.clone(), Vec::new());
        for name in there {
            let spot = Spot { container: &client.key, list: client.list(), name };
            if let Ok(Some(without)) = format.take(&text, &spot, 0) {
                text = without;
                names.push(name.to_owned());
            }
        }
        let after = document.encode(&text);
        cuts.push(Cut { path: source.path.clone(), before, after, names });
    }
    Ok(cuts)
}

fn known_client(id: &str) -> Result<&'static Client, Refusal> {
    table::client(id).ok_or_else(|| {
        let message = format!("there is no client \"{id}\"");
        Refusal::new(Code::UnknownClient, message, "See `satchel clients --all`.")
    })
}

/// Restores servers that were removed from a file, with their credentials from the keychain.
pub(super) async fn put_back(hub: &Hub, file: &TakenOut) -> Result<Option<String>, Refusal> {
    let path = &file.path;
    let now = read_bytes(path).map_err(unwritable)?;
    let copy = files::read_data(&file.backup).map_err(unwritable)?;
    let mut credentials = Vec::new();
    for name in &file.secrets {
        if let Some(value) = hub.inner.around.secrets.get(name).await.map_err(Refusal::from)? {
            hub.did_here(AuditKind::SecretRead, name, "written back into another program's file");
            credentials.push(Moved { name: name.clone(), value: value.reveal().to_owned() });
        }
    }
    let before = masked::completed(&copy, &credentials).unwrap_or(copy);
    if now.as_ref() == Some(&before) {
        return Ok(None);
    }
    if now.as_deref().map(fingerprint).as_deref() != Some(file.after.as_str()) {
        let text = format!(
            "{} was changed since; its previous content is in {}",
            path.display(),
            file.backup.display()
        );
        return Ok(Some(text));
    }
    if !file.before.is_empty() && fingerprint(&before) != file.before {
        let text = format!(
            "{}: a credential that was in it ({}) was changed or removed since; its previous content without them is in {}",
            path.display(),
            file.secrets.join(", "),
            file.backup.display()
        );
        return Ok(Some(text));
    }
    write(path, now.as_deref(), &before, Access::Kept).map_err(unwritable)?;
    hub.inner
        .clients
        .edits
        .change_copies(path, |earlier| masked::completed(earlier, &credentials))
        .map_err(unwritable)?;
    Ok(None)
}

/// The servers in a client's own files, without Satchel's entry.
pub(super) fn own_servers(
    client: &'static Client,
    machine: &Machine,
    ourselves: &Ourselves,
) -> Vec<(Source, FoundEntry)> {
    let sources = Source::of_user(client, machine).into_iter().filter(|source| source.scope == "user");
    let read = |source: Source| {
        let contents = source.read(Platform::current()).map_err(|_: ReadError| ()).unwrap_or_default();
        contents.servers.into_iter().map(move |server| (source.clone(), server))
    };
    sources.flat_map(read).filter(|(_, server)| !is_ourselves(server, ourselves)).collect()
}

fn origin(source: &Source, server: &FoundEntry) -> Origin {
    Origin {
        client: source.client.id.clone(),
        path: source.path.clone(),
        scope: server.scope.clone().unwrap_or_else(|| source.scope.clone()),
        name: server.name.clone(),
    }
}

/// Is this Satchel's own entry?
fn is_ourselves(server: &FoundEntry, ourselves: &Ourselves) -> bool {
    match &server.target {
        Target::Program { command, args, .. } => {
            let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
            *command == ourselves.bridge
                || (matches!(name, "satchel" | "satchel.exe")
                    && args.first().is_some_and(|word| word == "bridge"))
        }
        Target::Address { url, .. } => {
            let plain =
                |url: &str| url.replacen("://localhost", "://127.0.0.1", 1).trim_end_matches('/').to_owned();
            plain(url) == plain(&ourselves.url)
        }
    }
}

/// Prefix of the answer `yes` that accepts a risky launch, followed by the server's name.
const ACCEPT: &str = "accept.";

/// Side effects of the server's launch or address that someone else may have written.
fn risks(server: &FoundEntry, answers: &BTreeMap<String, Value>) -> Vec<Caution> {
    let chosen: Vec<String> = answers.values().filter_map(Value::as_str).map(ToOwned::to_owned).collect();
    match &server.target {
        Target::Program { command, args, env, .. } => {
            // As the entry will say it.
            let args: Vec<String> = args.iter().map(|arg| arg.replace("${host:", "${")).collect();
            launch_risks::of_program(command, &args, env, &chosen)
        }
        // What a person pastes or has configured may be on this computer.
        Target::Address { url, headers } if server.words == Words::Described => {
            launch_risks::of_address(url, headers)
        }
        Target::Address { .. } => vec![],
    }
}

/// A description may do nothing but run the server it names.
fn refuse_risks(name: &str, server: &FoundEntry, answers: &BTreeMap<String, Value>) -> Result<(), Refusal> {
    let risks = risks(server, answers);
    if risks.is_empty() {
        return Ok(());
    }
    let message = format!("\"{name}\" is not imported: its description {}", caution::joined(&risks));
    let action = "If you know its authors and want exactly that, add it by hand with `satchel add`.";
    Err(Refusal { why: risks, ..Refusal::new(Code::BadDescription, message, action) })
}

/// Remarks that matter before an import; others are listed beside it.
fn coded(remark: &RemarkKind) -> Vec<Caution> {
    match remark {
        RemarkKind::Renamed { given, name, because } => {
            because.iter().map(|fault| renamed(given, name, fault)).collect()
        }
        RemarkKind::PlainSignIns { who, file } => vec![CautionCode::KeepsSignIns.with([who, file])],
        RemarkKind::NeedsSecret { .. }
        | RemarkKind::NeedsVariable { .. }
        | RemarkKind::EnvFile { .. }
        | RemarkKind::OtherSandbox { .. }
        | RemarkKind::NotTaken { .. }
        | RemarkKind::HoldsSecret { .. }
        | RemarkKind::NoEffect { .. }
        | RemarkKind::AppSecret
        | RemarkKind::AgentSwitches
        | RemarkKind::OffWithMore { .. }
        | RemarkKind::OfWindows
        | RemarkKind::WholeLine
        | RemarkKind::AddressAsCommand
        | RemarkKind::ControlCharacters { .. }
        | RemarkKind::Unfilled { .. } => vec![],
    }
}

fn renamed(given: &str, name: &str, fault: &NameFault) -> Caution {
    let (code, what) = match fault {
        NameFault::Path => (CautionCode::RenamedPath, String::new()),
        NameFault::Control => (CautionCode::RenamedControl, String::new()),
        NameFault::Blank => (CautionCode::RenamedBlank, String::new()),
        NameFault::Unseen => (CautionCode::RenamedUnseen, String::new()),
        NameFault::Nothing => (CautionCode::RenamedNothing, String::new()),
        NameFault::Long(most) => (CautionCode::RenamedLong, most.to_string()),
        NameFault::LookAlikes(letters) => (CautionCode::RenamedAlike, letters.clone()),
        NameFault::Taken(other) => (CautionCode::RenamedTaken, other.clone()),
    };
    code.with([given, name, &what])
}

/// Libraries in a bundle are its own code.
fn without_own_paths(server: &FoundEntry, directory: &Path) -> FoundEntry {
    let mut server = server.clone();
    if let Target::Program { env, .. } = &mut server.target {
        let directory = format!("{}{}", directory.display(), std::path::MAIN_SEPARATOR);
        let separator = if cfg!(windows) { ';' } else { ':' };
        env.retain(|name, value| {
            let paths = matches!(name.as_str(), "PYTHONPATH" | "NODE_PATH");
            let is_inside = |path: &str| path.starts_with(&directory) && !path.contains("..");
            !(paths && value.as_str().is_some_and(|value| value.split(separator).all(is_inside)))
        });
    }
    server
}

/// The server of a description, as far as it is answered; `None` for a bundle.
pub(super) fn described(name: &str, plan: &plan::Plan) -> Option<FoundEntry> {
    let (transport, target) = match &plan.way {
        Way::Stdio(run) => (
            TransportKind::Stdio,
            Target::Program {
                command: run.command.clone(),
                args: run.args.clone(),
                env: run.env.clone(),
                cwd: None,
                env_file: None,
            },
        ),
        Way::Http { url, headers, sse, .. } => (
            if *sse { TransportKind::Sse } else { TransportKind::Http },
            Target::Address { url: url.clone(), headers: headers.clone() },
        ),
        Way::Bundle { .. } => return None,
    };
    let fields = plan.secrets.iter().filter_map(|id| match id.split_once('.') {
        Some(("env", name)) => Some(format!("env.{name}")),
        Some(("header", name)) => Some(format!("headers.{name}")),
        // A credential within the address makes the whole address one.
        None if id == "url" => Some(id.clone()),
        _ => None,
    });
    let fields = fields.chain(plan.secret_args.iter().map(|at| format!("args[{at}]")));
    Some(FoundEntry {
        enabled: plan.missing.is_empty(),
        secret_fields: fields.collect(),
        ..bare(name.to_owned(), transport, target)
    })
}

/// A server of which only the name is known.
pub(super) fn described_nothing(name: &str) -> FoundEntry {
    let target =
        Target::Program { command: String::new(), args: vec![], env: Map::new(), cwd: None, env_file: None };
    bare(name.to_owned(), TransportKind::Stdio, target)
}

/// A server from a description or bundle: how to reach it, without client-specific settings.
fn bare(name: String, transport: TransportKind, target: Target) -> FoundEntry {
    FoundEntry {
        name,
        transport,
        enabled: true,
        target,
        secret_fields: vec![],
        timeout_ms: None,
        tools_allow: None,
        tools_deny: vec![],
        auto_approve: vec![],
        refs: vec![],
        unwrap: None,
        keychain_env: vec![],
        scope: None,
        project: None,
        disabled_in_projects: vec![],
        unknown: Map::new(),
        remarks: vec![],
        words: Words::Described,
    }
}

/// Remarks on an imported entry: where its references go, and how its restrictions are translated.
fn told(server: &FoundEntry) -> Vec<Caution> {
    let goes_to = match &server.target {
        Target::Address { url, .. } => url.split('?').next().unwrap_or(url),
        Target::Program { command, .. } => command,
    };
    let refs = server.refs.iter().filter(|reference| !reference.starts_with("${host:"));
    let mut told: Vec<Caution> = match server.words {
        Words::Own => refs.map(|reference| of_reference(reference, goes_to)).collect(),
        Words::Pasted => {
            refs.map(|reference| CautionCode::GetsStored.with([reference.as_str(), goes_to])).collect()
        }
        Words::Described => vec![],
    };
    told.extend(server.tools_allow.as_ref().map(|tools| match tools.as_slice() {
        [] => CautionCode::NoToolThere.into(),
        tools => CautionCode::OnlyToolsThere.with([tools.join(", ")]),
    }));
    if !server.tools_deny.is_empty() {
        told.push(CautionCode::ToolsOffThere.with([server.tools_deny.join(", ")]));
    }
    if !server.auto_approve.is_empty() {
        told.push(CautionCode::ToolsUnaskedThere.with([server.auto_approve.join(", ")]));
    }
    told
}

/// The use of a reference in a client's own file. What only the other program can resolve becomes a secret.
fn of_reference(reference: &str, goes_to: &str) -> Caution {
    match reference.trim_start_matches("${").split(':').next() {
        Some("input") => CautionCode::AskedThere.with([reference]),
        Some("cmd") => CautionCode::CommandThere.with([reference]),
        Some("file") => CautionCode::FileThere.with([reference]),
        _ => CautionCode::GoesTo.with([reference, goes_to]),
    }
}

/// The restrictions on its tools, as Satchel rules.
fn rules_of(server: &FoundEntry, name: &str) -> Vec<Value> {
    let path = |tool: &str| format!("{}:{tool}", in_path(name));
    let allow = server.tools_allow.iter().map(|tools| {
        let except: Vec<String> = tools.iter().map(|tool| path(tool)).collect();
        match except.is_empty() {
            true => json!({ "tool": path("*"), "permit": "off" }),
            false => json!({ "tool": path("*"), "except": except, "permit": "off" }),
        }
    });
    let deny = server.tools_deny.iter().map(|tool| json!({ "tool": path(tool), "permit": "off" }));
    allow.chain(deny).collect()
}

/// The reason for leaving out an entry, as a sentence.
fn skipped_because(reason: &str) -> LeftCause {
    let (word, what) = reason.split_once(':').unwrap_or((reason, ""));
    match word {
        "not-an-object" => LeftCause::NotAnObject,
        "no-command-or-url" => LeftCause::NoTarget,
        "command-and-url" => LeftCause::TwoTargets,
        "url-without-type" => LeftCause::NoType,
        "invalid-url" => LeftCause::NotHttp,
        "unsupported-transport" => LeftCause::Transport { name: what.into() },
        "unsupported-url-scheme" => LeftCause::Scheme { scheme: what.into() },
        "host-internal" => LeftCause::Internal { part: what.into() },
        "enablement-only" => LeftCause::SwitchOnly,
        other => LeftCause::SettingsOnly { entry: other.into() },
    }
}

fn shown(offer: &Offer) -> FoundServer {
    let Candidate { name, server, origins, known, renamed: _ } = &offer.candidate;
    let (entry, moved, _) = into_config(server, name);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let words = match entry.get("url") {
        Some(url) => vec![text(Some(url))],
        None => {
            let args =
                entry.get("args").and_then(Value::as_array).into_iter().flatten().map(|arg| text(Some(arg)));
            std::iter::once(text(entry.get("command"))).chain(args).collect::<Vec<_>>()
        }
    };
    FoundServer {
        name: name.clone(),
        // An address stays as it is; words show where each begins and ends.
        runs: match entry.contains_key("url") {
            true => words.concat(),
            false => words.iter().map(|word| apart(word)).collect::<Vec<_>>().join(" "),
        },
        words,
        sets: ["env", "headers"]
            .iter()
            .filter_map(|key| entry.get(*key)?.as_object())
            .flat_map(set)
            .collect(),
        transport: match server.transport {
            TransportKind::Stdio => "stdio",
            TransportKind::Http => "http",
            TransportKind::Sse => "sse",
        }
        .into(),
        enabled: server.enabled,
        switched_off: is_switched_off(server, &entry).then_some(true),
        places: origins
            .iter()
            .map(|origin| format!("{}: {}", origin.client, origin.path.display()))
            .collect(),
        known: known.clone(),
        secrets: moved.into_iter().map(|secret| secret.name).collect(),
        needs: offer.needs.clone(),
        remote: server.unwrap.as_ref().map(|remote| remote.url.clone()),
        warnings: offer.warnings.clone(),
        omitted: import::omitted(server).into_iter().map(|what| Remark::on(name, what)).collect(),
    }
}

/// A word of a command line, quoted where it would read like several or none.
fn apart(word: &str) -> String {
    match word.is_empty() || word.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'')) {
        true => shell::word(word).into_owned(),
        false => word.to_owned(),
    }
}

/// Is it on there, and off as this entry?
fn is_switched_off(server: &FoundEntry, entry: &Map<String, Value>) -> bool {
    server.enabled && entry.get("enabled") == Some(&Value::Bool(false))
}

/// Each variable with its value; what goes to the keychain, by name.
fn set(values: &Map<String, Value>) -> impl Iterator<Item = String> {
    values.iter().map(|(name, value)| match value.as_str() {
        Some(text) if !names_secret(text) => format!("{name}={text}"),
        _ => name.clone(),
    })
}

/// The server in a bundle as it will be after unpacking.
fn bundled(
    manifest: &Manifest,
    directory: &Path,
    answers: &BTreeMap<String, Value>,
    machine: &Machine,
) -> Result<(FoundEntry, Vec<Need>), Refusal> {
    let home = machine.variable("HOME").unwrap_or_default();
    let separator = if machine.platform() == Platform::Windows { '\\' } else { '/' };
    let below = |name: &str| format!("{home}{separator}{name}");
    let around = Around {
        platform: match machine.platform() {
            Platform::Linux => "linux",
            Platform::MacOs => "darwin",
            Platform::Windows => "win32",
        }
        .into(),
        bundle: directory.display().to_string(),
        directories: [
            ("HOME".to_owned(), home.clone()),
            ("DESKTOP".to_owned(), below("Desktop")),
            ("DOCUMENTS".to_owned(), below("Documents")),
            ("DOWNLOADS".to_owned(), below("Downloads")),
        ]
        .into(),
    };
    let mut given: Map<String, Value> = answers.clone().into_iter().collect();
    let run = match manifest.run(&around, &given) {
        Ok(run) => (run, vec![]),
        Err(ManifestError::Missing(names)) => {
            // Shown with its missing inputs; it cannot be imported like this.
            for name in &names {
                given.insert(name.clone(), format!("({name})").into());
            }
            let run = manifest
                .run(&around, &given)
                .map_err(|error| Refusal::new(Code::BadBundle, error.to_string(), ""))?;
            (run, names)
        }
        Err(error) => return Err(Refusal::new(Code::BadBundle, error.to_string(), "")),
    };
    let (run, missing) = run;
    let mut env = run.env;
    // A credential that the bundle declares under a harmless name is treated as one too.
    env.retain(|_, value| value.as_str().is_some_and(|value| !value.is_empty()));
    let settings = manifest.user_config.as_ref().map(|settings| settings.0.as_slice()).unwrap_or_default();
    let needs = missing
        .into_iter()
        .map(|id| {
            let setting = settings.iter().find(|(name, _)| *name == id).map(|(_, setting)| setting);
            Need {
                description: setting.map(|setting| setting.description.clone()).unwrap_or_default(),
                secret: setting.is_some_and(|setting| setting.sensitive),
                format: setting.map(Setting::format).unwrap_or_default().to_owned(),
                choices: vec![],
                default: None,
                id,
            }
        })
        .collect();
    let target = Target::Program {
        command: run.command,
        args: run.args,
        env,
        cwd: run.cwd.or_else(|| Some(around.bundle.clone())),
        env_file: None,
    };
    let name = manifest.display_name.clone().unwrap_or_else(|| manifest.name.clone());
    let found = FoundEntry { secret_fields: run.secret_fields, ..bare(name, TransportKind::Stdio, target) };
    Ok((found, needs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_will_be_switched_off_is_not_shown_as_on() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mcp.json");
        let text = r#"{"mcpServers": {"a": {"command": "x", "args": ["${workspaceFolder}"]}, "b": {"command": "x"}}}"#;
        std::fs::write(&file, text).unwrap();
        let sources = import::Source::of_file(table::client("cursor").unwrap(), &file);
        let servers = sources[0].read(crate::platform::Platform::Linux).unwrap().servers;
        let off = |server: &FoundEntry| {
            let (entry, ..) = into_config(server, &server.name);
            (server.name.clone(), is_switched_off(server, &entry))
        };
        let off: Vec<_> = servers.iter().map(off).collect();
        assert_eq!(off, [("a".to_owned(), true), ("b".to_owned(), false)]);
    }

    #[test]
    fn the_environment_is_shown_with_values_except_credentials() {
        let entry = json!({ "URL": "https://a.example", "API_KEY": "${secret:a-api-key}", "PORT": 1 });
        let shown: Vec<String> = set(entry.as_object().unwrap()).collect();
        assert_eq!(shown, ["URL=https://a.example", "API_KEY", "PORT"]);
    }
}
