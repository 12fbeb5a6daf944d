//! What a source has on offer: each server that a client's file, a pasted text, a bundle or a description contains, what it
//! would run, and what a person should know before. Writes nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use satchel_entry::template::secrets_in;
use serde_json::{Map, Value, json};

use crate::{
    bundled::in_bundle,
    clients::{
        document::{Document, fingerprint, read_bytes},
        import::{
            self, Candidate, Existing, FoundEntry, Origin, ReadError, Source, Target, Words, into_config,
        },
        machine::Machine,
        table::{self, Client},
        template::Ourselves,
    },
    described::in_description,
    files,
    house::House,
    model::{
        Code, TransportConfig,
        caution::{self, Caution, CautionCode},
        clients::{Findings, From, Need},
        control::Refusal,
        left::Left,
    },
    platform::Platform,
    registry::{bundle, server_json::ServerDocument},
    remarks::{ACCEPT, coded, risks, told},
    shown::shown,
};

/// A server that can be imported.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) candidate: Candidate,
    pub(crate) needs: Vec<Need>,
    pub(crate) warnings: Vec<Caution>,
    /// A bundle that is unpacked first.
    pub(crate) bundle: Option<Vec<u8>>,
}

#[derive(Debug, Default)]
pub(crate) struct ImportOffers {
    pub(crate) offers: Vec<Offer>,
    pub(crate) skipped: Vec<Left>,
    pub(crate) troubles: Vec<Left>,
}

/// The servers that are here, to recognize those that are found again.
pub fn existing(house: &dyn House) -> Existing {
    let mut existing = Existing::default();
    for (name, server) in house.config().servers() {
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

/// The servers in a source, as they would be taken in.
///
/// # Errors
/// A [`Refusal`] if the source cannot be read.
pub fn find_servers(
    house: &dyn House,
    from: &From,
    answers: &BTreeMap<String, Value>,
    environment: &BTreeMap<String, String>,
) -> Result<Findings, Refusal> {
    let offers = offers_from(house, from, answers, environment)?;
    Ok(Findings {
        seen: seen(&offers.offers),
        servers: offers.offers.iter().map(shown).collect(),
        skipped: offers.skipped,
        troubles: offers.troubles,
    })
}

/// The fingerprint of what these servers run, as a person is shown it.
pub(crate) fn seen(offers: &[Offer]) -> String {
    let entries = offers.iter().map(|offer| {
        let Candidate { name, server, .. } = &offer.candidate;
        let (entry, moved, _) = into_config(server, name);
        let moved: Vec<&str> = moved.iter().map(|secret| secret.name.as_str()).collect();
        json!([name, entry, moved])
    });
    fingerprint(Value::from_iter(entries).to_string().as_bytes())
}

pub(crate) fn offers_from(
    house: &dyn House,
    from: &From,
    answers: &BTreeMap<String, Value>,
    environment: &BTreeMap<String, String>,
) -> Result<ImportOffers, Refusal> {
    let machine = Machine::here(environment);
    let mut offers = offers_on(house, &machine, from, answers)?;
    for offer in &mut offers.offers {
        offer.warnings.extend(import::left_behind(&offer.candidate, &machine).iter().flat_map(coded));
    }
    Ok(offers)
}

fn offers_on(
    house: &dyn House,
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
            Ok(in_sources(house, of_user.chain(in_project).collect()))
        }
        From::Client(id) => {
            let client = known_client(id)?;
            Ok(in_sources(house, Source::of_user(client, machine)))
        }
        From::ClientFile { client, path } => {
            let client = known_client(client)?;
            if !path.is_file() {
                let message = format!("{}: there is no such file", path.display());
                return Err(Refusal::new(Code::Unreadable, message, ""));
            }
            Ok(in_sources(house, Source::of_file(client, path)))
        }
        From::Text(text) => in_text(house, text, answers),
        From::File(path) => in_file(house, path, answers, machine),
    }
}

fn in_sources(house: &dyn House, sources: Vec<Source>) -> ImportOffers {
    let ourselves = house.ourselves();
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
        offers.skipped.extend(
            contents
                .skipped
                .into_iter()
                .map(|skipped| Left::because(format!("{place}: {}", skipped.name), skipped.cause())),
        );
        let servers = contents.servers.into_iter().filter(|server| !is_ourselves(server, &ourselves));
        found.extend(servers.map(|server| (origin(&source, &server), server)));
    }
    offers.offers = offered(house, found, &BTreeMap::new());
    offers
}

pub(crate) fn offered(
    house: &dyn House,
    found: Vec<(Origin, FoundEntry)>,
    answers: &BTreeMap<String, Value>,
) -> Vec<Offer> {
    let config = house.config();
    let taken = |name: &str| config.servers().keys().any(|known| import::is_same(known.as_str(), name));
    let candidates = import::candidates(found, &existing(house), taken).into_iter();
    let offer = |candidate: Candidate| {
        let (entry, _, placeholders) = into_config(&candidate.server, &candidate.name);
        let mut warnings: Vec<Caution> =
            placeholders.iter().map(|what| CautionCode::KnownThere.with([what])).collect();
        let exposed = secrets_in(entry.get("args"));
        if !exposed.is_empty() {
            let names: Vec<String> = exposed.into_iter().collect();
            warnings.push(CautionCode::SecretsInArguments.with([names.join(", ")]));
        }
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

fn in_text(
    house: &dyn House,
    text: &str,
    answers: &BTreeMap<String, Value>,
) -> Result<ImportOffers, Refusal> {
    if let Ok(document) = serde_json::from_str::<Value>(text)
        && let Ok(document) = ServerDocument::read(&document)
    {
        return in_description(house, &document, answers);
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
    let left = |one: import::Skipped| Left::because(one.name.clone(), one.cause());
    Ok(ImportOffers {
        offers: offered(house, found, answers),
        skipped: skipped.into_iter().map(left).collect(),
        ..ImportOffers::default()
    })
}

fn in_file(
    house: &dyn House,
    path: &Path,
    answers: &BTreeMap<String, Value>,
    machine: &Machine,
) -> Result<ImportOffers, Refusal> {
    let unreadable = |why: String| Refusal::new(Code::Unreadable, format!("{}: {why}", path.display()), "");
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if matches!(ending, "mcpb" | "dxt") {
        let bytes = files::read_plain(path, bundle::PACKED).map_err(|error| unreadable(error.to_string()))?;
        return in_bundle(house, bytes, answers, machine).map_err(|refusal| Refusal {
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
        return Ok(in_sources(house, own));
    }
    let bytes = read_bytes(path).map_err(|error| unreadable(error.to_string()))?;
    let Some(bytes) = bytes else { return Err(unreadable("there is no such file".into())) };
    let text = Document::decode(&bytes).map_err(|error| unreadable(error.to_string()))?.text;
    in_text(house, &text, answers)
}

fn known_client(id: &str) -> Result<&'static Client, Refusal> {
    table::client(id).ok_or_else(|| {
        let message = format!("there is no client \"{id}\"");
        Refusal::new(Code::UnknownClient, message, "See `satchel clients --all`.")
    })
}

/// The servers in a client's own files, without Satchel's entry.
pub fn own_servers(
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
