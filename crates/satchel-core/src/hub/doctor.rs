//! Examines everything that can be wrong from outside and says it in words, with what to do. Starts nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use satchel_entry::launcher::family;

use super::{Hub, USUAL_PORT, clients, clients::TokenFile, view};
use crate::{
    clients::{
        connect::open_to_others,
        import::slips::{self, Meant},
    },
    clock::now_ms,
    config::{
        Config, ConfigError,
        file::{OWN_COMMAND, SearchModel, text_of},
    },
    files::Places,
    meaning::{MODEL_VARIABLE, ModelFile, model_file, model_place},
    model::{
        Code, Notice, ServerConfig, ServerState, ServerView, Snapshot, TransportConfig,
        clients::{ClientState, KnownClient},
        control::Refusal,
        doctor::{Diagnosis, DoctorFinding, Examination, Examined, Health, ServerAside, Whereabouts},
        profiles::{ProfileView, ProfilesView},
        request::StoreKind,
        server::ContainerEngine,
        shell,
    },
    platform::{Environment, Platform},
    registry::{pinning, runtimes},
    secrets::{SecretError, Secrets},
    tasks::Panicked,
    upstream::{
        self,
        environment::{self, Located},
        installed_engine,
    },
};

/// The name of a secret that does not exist.
const PROBE: &str = "satchel-doctor";

/// Timeout for the keychain, which may wait for the user to unlock it.
const PATIENCE: Duration = Duration::from_secs(3);

/// Findings that need no hub: the configuration file and the search mode.
pub fn without_hub(places: &Places) -> Vec<DoctorFinding> {
    let (mut findings, config) = look_at_config(&places.config_file);
    findings.push(look_at_search(&config, &model_file(places, config.search_model()), places));
    findings
}

/// Runs every check. The caller's environment variables determine where other programs' files are.
pub(super) async fn examine(hub: &Hub, asker: BTreeMap<String, String>) -> Result<Examination, Refusal> {
    let around = &hub.inner.around;
    let secrets = look_at_secrets(&around.secrets).await;
    let stored = around.secrets.names().await.map(|(_, names)| names).ok();
    let dirs = around.search_path.dirs(&around.environment).await.to_vec();
    let looking = hub.clone();
    // Reads the files of the configuration and of other programs.
    let looked =
        hub.inner.life.tracker().spawn_blocking(move || Examination {
            findings: look(&looking, &asker, (secrets, stored), &dirs),
        });
    looked.await.map_err(|_| Refusal::new(Code::Panicked, Panicked.to_string(), ""))
}

fn look(
    hub: &Hub,
    asker: &BTreeMap<String, String>,
    (secrets, stored): (DoctorFinding, Option<BTreeSet<String>>),
    dirs: &[PathBuf],
) -> Vec<DoctorFinding> {
    let snapshot = view::compose(hub);
    let (mut findings, config) = look_at_config(&hub.places().config_file);
    let model = model_file(hub.places(), config.search_model());
    findings.push(look_at_search(&config, &model, hub.places()));
    findings.push(look_at_hub(&snapshot, hub.inner.options.passive));
    // Faults of the configuration were found in the file itself, and the port has a finding of its own.
    let said_elsewhere = [Code::ConfigInvalid, Code::RuleInvalid, Code::SettingInvalid, Code::PortTaken];
    for notice in snapshot.notices.iter().filter(|notice| !said_elsewhere.contains(&notice.code)) {
        let what = Diagnosis::Noticed { notice: notice.code, why: notice.message.clone() };
        let finding = DoctorFinding::new(Examined::Hub, "hub", Health::Note, what);
        findings.push(finding.with_action(&notice.action));
    }
    if !hub.inner.options.passive {
        let taken = snapshot.notices.iter().find(|notice| notice.code == Code::PortTaken);
        findings.push(look_at_port(snapshot.endpoint.as_deref(), taken));
    }
    let looking = SearchContext { dirs, environment: &hub.inner.around.environment };
    findings.extend(upstream::outgoing::faulty_roots(looking.environment).map(|why| {
        let what = Diagnosis::Noticed { notice: Code::Tls, why };
        DoctorFinding::new(Examined::Hub, "certificates", Health::Note, what)
    }));
    findings.push(search_path(dirs));
    findings.extend(runtimes::USUAL.iter().map(|program| look_at_runtime(program, looking)));
    findings.push(secrets);
    findings.extend(clients::list_clients(hub, asker).clients.iter().filter_map(look_at_client));
    findings.extend(clients::token_files(hub, asker).iter().filter_map(look_at_token_file));
    findings.extend(look_at_profiles(&snapshot.profiles));
    findings.extend(snapshot.servers.into_iter().map(|server| {
        let wanted = config.servers().get(server.name.as_str());
        let server = match (wanted, &stored) {
            (Some(wanted), Some(stored)) => known_to_lack(server, wanted, looking.environment, stored),
            _ => server,
        };
        look_at_server(&server, wanted, looking, now_ms())
    }));
    findings
}

/// The state of a server that lacks a credential, as its next start would leave it; derived without starting it.
fn known_to_lack(
    mut server: ServerView,
    wanted: &ServerConfig,
    environment: &Environment,
    stored: &BTreeSet<String>,
) -> ServerView {
    let missing = upstream::unset(&wanted.transport, environment, stored);
    if server.state != ServerState::Asleep || !server.enabled || missing.is_empty() {
        return server;
    }
    let secrets = upstream::secrets_of(&wanted.transport);
    server.state = ServerState::NeedsCredential {
        variables: missing.iter().filter(|name| !secrets.contains(*name)).cloned().collect(),
        names: missing.into_iter().collect(),
        code: Code::NeedsCredential,
        message: String::new(),
        cause: None,
    };
    server.last_failure = None;
    server
}

fn look_at_hub(snapshot: &Snapshot, passive: bool) -> DoctorFinding {
    let (verdict, what) = match passive {
        true => (Health::Note, Diagnosis::HubAbsent),
        false => {
            let pid = std::process::id();
            (Health::Fine, Diagnosis::HubRuns { pid, url: snapshot.endpoint.clone() })
        }
    };
    DoctorFinding::new(Examined::Hub, "hub", verdict, what)
}

/// Checks the port. Another one than the usual is a note where it was not chosen: where clients were told another one, their
/// own findings say so.
fn look_at_port(endpoint: Option<&str>, taken: Option<&Notice>) -> DoctorFinding {
    let of_port = |verdict, what| DoctorFinding::new(Examined::Port, "port", verdict, what);
    let Some(url) = endpoint else {
        return of_port(Health::Wrong, Diagnosis::PortClosed).with_action(Code::PortTaken.action());
    };
    let (usual, url) = (USUAL_PORT, url.to_owned());
    match (url.contains(&format!(":{usual}/")), taken) {
        (true, _) => of_port(Health::Fine, Diagnosis::PortUsual { port: usual, url }),
        (false, None) => of_port(Health::Fine, Diagnosis::PortOther { usual, url }),
        (false, Some(notice)) => {
            let what = Diagnosis::Noticed { notice: notice.code, why: notice.message.clone() };
            of_port(Health::Note, what).with_action(&notice.action)
        }
    }
}

/// Told once, and not again with every program that is missing.
fn search_path(dirs: &[PathBuf]) -> DoctorFinding {
    let dirs = dirs.iter().map(|dir| dir.display().to_string()).collect();
    DoctorFinding::new(Examined::SearchPath, "PATH", Health::Fine, Diagnosis::SearchPath { dirs })
}

fn look_at_runtime(program: &str, looking: SearchContext) -> DoctorFinding {
    let found = look_for(program, None, looking);
    let is_here = |name: &str| look_for(name, None, looking).is_there();
    let install = match found.is_there() {
        true => None,
        false => runtimes::how_to_install(program, looking.environment.platform(), is_here),
    };
    let verdict = if found.is_there() { Health::Fine } else { Health::Note };
    let way = install.as_ref().map(ToString::to_string).unwrap_or_default();
    let what = Diagnosis::Runtime { program: found, install };
    DoctorFinding::new(Examined::Runtime, format!("runtime {program}"), verdict, what).with_action(way)
}

/// Checks a client that has or had Satchel's entry.
fn look_at_client(client: &KnownClient) -> Option<DoctorFinding> {
    let file = client.file.clone().unwrap_or_default();
    let doubled: Vec<String> = client.duplicates.iter().map(|one| one.there.clone()).collect();
    let (verdict, what, action) = match &client.state {
        ClientState::NotConnected | ClientState::Paste => return None,
        ClientState::Added => {
            let next = client.after_connect.clone();
            let action = next.clone().unwrap_or_default();
            (Health::Note, Diagnosis::ClientWaits { file, next }, action)
        }
        ClientState::Connected { .. } if doubled.is_empty() => {
            (Health::Fine, Diagnosis::ClientConnected { file, doubled }, String::new())
        }
        ClientState::Connected { .. } => {
            let action = "Remove them from its file, under Clients.".to_owned();
            (Health::Note, Diagnosis::ClientConnected { file, doubled }, action)
        }
        ClientState::Unreadable { message } => {
            let (client, trouble, why) = (client.id.clone(), "unreadable".to_owned(), message.clone());
            let action = "Correct the file; until then it cannot be connected.".to_owned();
            (Health::Note, Diagnosis::ClientTroubled { client, trouble, why }, action)
        }
        ClientState::NeedsYou { what, message } => {
            let (client, trouble, why) = (client.id.clone(), what.clone(), message.clone());
            let action = format!("Connect it again with `satchel connect {}`.", shell::word(&client));
            (Health::Wrong, Diagnosis::ClientTroubled { client, trouble, why }, action)
        }
    };
    let subject = format!("client {}", client.name);
    Some(DoctorFinding::new(Examined::Client, subject, verdict, what).with_action(action))
}

/// Checks who can use a client's file that has a token. A file that always was private gets no finding.
fn look_at_token_file(found: &TokenFile) -> Option<DoctorFinding> {
    let file = found.path.display().to_string();
    let octal = |bits: u32| format!("{bits:04o}");
    let (verdict, what, action) = match (open_to_others(&found.path), found.bits_before) {
        (Some(bits), _) => {
            let (client, chosen) = (found.client.id.clone(), found.shared);
            let action = match chosen {
                true => String::new(),
                false => format!("Take it from them with `satchel connect {}`.", shell::word(&client)),
            };
            (Health::Note, Diagnosis::TokenReadable { file, mode: octal(bits), client, chosen }, action)
        }
        (None, Some(before)) => {
            (Health::Fine, Diagnosis::TokenPrivate { file, before: octal(before) }, String::new())
        }
        (None, None) => return None,
    };
    let subject = format!("token of {}", found.client.title());
    Some(DoctorFinding::new(Examined::Client, subject, verdict, what).with_action(action))
}

/// The configuration file, its invalid rules, and what of it can be read.
fn look_at_config(path: &Path) -> (Vec<DoctorFinding>, Config) {
    let file = path.display().to_string();
    let (verdict, what, config) = match text_of(path) {
        Ok(text) => match Config::parse(&text) {
            Ok(config) => {
                let (file, servers) = (file.clone(), config.servers().len());
                (Health::Fine, Diagnosis::ConfigRead { file, servers }, config)
            }
            Err(wrong) => {
                let (file, why) = (file.clone(), wrong.to_string());
                (Health::Wrong, Diagnosis::ConfigDamaged { file, why }, Config::default())
            }
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            (Health::Note, Diagnosis::ConfigAbsent { file: file.clone() }, Config::default())
        }
        Err(error) => {
            let (file, why) = (file.clone(), error.to_string());
            (Health::Wrong, Diagnosis::ConfigUnreadable { file, why }, Config::default())
        }
    };
    let found =
        |subject: &str, verdict, what| DoctorFinding::new(Examined::Configuration, subject, verdict, what);
    let mut findings = vec![found("configuration", verdict, what)];
    let why = |faults: &[ConfigError]| faults.iter().map(ToString::to_string).collect::<Vec<_>>();
    if !config.rule_faults().is_empty() {
        let what = Diagnosis::RulesInvalid { file: file.clone(), why: why(config.rule_faults()) };
        findings.push(found("rules", Health::Wrong, what).with_action(Code::RuleInvalid.action()));
    }
    if !config.setting_faults().is_empty() {
        let what = Diagnosis::SettingsInvalid { file, why: why(config.setting_faults()) };
        findings.push(found("settings", Health::Wrong, what).with_action(Code::SettingInvalid.action()));
    }
    (findings, config)
}

/// Does search use a model?
fn look_at_search(config: &Config, model: &ModelFile, places: &Places) -> DoctorFinding {
    let what = match (config.searches_by_meaning(), config.embedding(), model) {
        (false, _, _) => Diagnosis::SearchByWords,
        (true, Some(named), _) => {
            Diagnosis::SearchWithService { model: named.model.clone(), url: named.url.to_string() }
        }
        (true, None, ModelFile::At(file)) => Diagnosis::SearchWithModel { file: file.display().to_string() },
        (true, None, ModelFile::Off) => Diagnosis::SearchByWordsHere { variable: MODEL_VARIABLE.to_owned() },
        (true, None, ModelFile::Missing) if config.search_model() == SearchModel::Multilingual => {
            let file = model_place(places, SearchModel::Multilingual).display().to_string();
            let way = "Put the file of that name there. It is among the files of each release.";
            let what = Diagnosis::SearchWithoutMultilingual { file };
            return DoctorFinding::new(Examined::Search, "search", Health::Note, what).with_action(way);
        }
        (true, None, ModelFile::Missing) => {
            let way = "Satchel's installers include it.";
            let what = Diagnosis::SearchWithoutModel;
            return DoctorFinding::new(Examined::Search, "search", Health::Note, what).with_action(way);
        }
    };
    DoctorFinding::new(Examined::Search, "search", Health::Fine, what)
}

/// Reports profiles that are invalid or name missing servers. Valid profiles get no finding.
fn look_at_profiles(profiles: &ProfilesView) -> Vec<DoctorFinding> {
    let of_profile = |one: &ProfileView| {
        let (verdict, what) = match (&one.fault, one.unknown.as_slice()) {
            (Some(fault), _) => (Health::Wrong, Diagnosis::ProfileDamaged { why: fault.clone() }),
            (None, []) => return None,
            (None, names) => (Health::Note, Diagnosis::ProfileUnknown { servers: names.to_vec() }),
        };
        Some(DoctorFinding::new(Examined::Profile, format!("profile {}", one.name), verdict, what))
    };
    let folders = profiles.folders.iter().filter_map(|folder| {
        let what = Diagnosis::ProfileDamaged { why: folder.fault.clone()? };
        let subject = format!("folder {}", folder.folder);
        Some(DoctorFinding::new(Examined::Folder, subject, Health::Wrong, what))
    });
    profiles.all.iter().filter_map(of_profile).chain(folders).collect()
}

/// A missing keychain breaks nothing as long as no server needs a secret; a server that does gets a finding of its
/// own.
async fn look_at_secrets(secrets: &Secrets) -> DoctorFinding {
    let of_secrets = |verdict, what| DoctorFinding::new(Examined::Secrets, "secrets", verdict, what);
    let unusable = |error: &SecretError| {
        let what = Diagnosis::SecretsUnusable { trouble: error.code(), why: error.to_string() };
        of_secrets(Health::Note, what).with_action(error.code().map_or("", |code| code.action()))
    };
    let (store, names) = match secrets.names().await {
        Ok(known) => known,
        Err(error) => return unusable(&error),
    };
    // The names are stored beside the keychain, so only reading a value shows whether it is reachable.
    let used = async {
        secrets.get(PROBE).await?;
        secrets.try_writing().await
    };
    let asked = match store {
        StoreKind::Keychain => match tokio::time::timeout(PATIENCE, used).await {
            Ok(asked) => asked.err(),
            Err(_) => {
                let what = Diagnosis::SecretsSilent { seconds: PATIENCE.as_secs() };
                return of_secrets(Health::Note, what).with_action(Code::KeychainLocked.action());
            }
        },
        StoreKind::File => match secrets.is_locked().await {
            Ok(locked) => locked.then_some(SecretError::VaultLocked),
            Err(error) => Some(error),
        },
    };
    match asked {
        None => of_secrets(Health::Fine, Diagnosis::SecretsKept { store, count: names.len() }),
        Some(error) => unusable(&error),
    }
}

/// Where and under which names to look for programs.
#[derive(Clone, Copy)]
struct SearchContext<'a> {
    dirs: &'a [PathBuf],
    environment: &'a Environment,
}

fn look_at_server(
    server: &ServerView,
    wanted: Option<&ServerConfig>,
    looking: SearchContext,
    now_ms: u64,
) -> DoctorFinding {
    let program = program_of(server, wanted, looking);
    let verdict = match (server.is_troubled(), server.enabled, program.is_there()) {
        (true, _, _) | (false, true, false) => Health::Wrong,
        (false, false, false) => Health::Note,
        // Nothing is broken, but it does not run until a person approves it.
        (false, true, true) if server.not_started.is_some() => Health::Note,
        (false, _, true) => Health::Fine,
    };
    let of_server = |verdict, also, action: String| {
        let needed = if let ServerState::NeedsCredential { variables, .. } = &server.state {
            variables
        } else {
            &vec![]
        };
        let variables = needed.clone();
        let (doing, lacks) = (server.sentence(now_ms), server.lacks());
        let left_out = Some(server.skipped.clone()).filter(|reasons| !reasons.is_empty());
        let what = Diagnosis::ServerSeen { doing, lacks, variables, program, also, left_out };
        DoctorFinding::new(Examined::Server, format!("server {}", server.name), verdict, what)
            .with_action(action)
    };
    if verdict == Health::Fine && !server.skipped.is_empty() {
        return of_server(Health::Note, None, "Only the author of the server can correct them.".to_owned());
    }
    let offers = [server.tools, server.resources];
    if verdict == Health::Fine && offers.iter().all(|count| *count == Some(0)) {
        let also = Some(ServerAside::OffersNothing);
        return of_server(Health::Note, also, Code::NoTools.action().to_owned());
    }
    let exposed = wanted.map(|wanted| wanted.transport.secret_arguments()).unwrap_or_default();
    if verdict == Health::Fine && !exposed.is_empty() {
        let also = Some(ServerAside::SecretArguments(exposed.into_iter().map(ToOwned::to_owned).collect()));
        let way = "If it documents a variable for that, give the secret in \"env\" instead of \"args\".";
        return of_server(Health::Note, also, way.to_owned());
    }
    if verdict == Health::Fine
        && let Some(package) = wanted.and_then(|wanted| pinning::floating(&wanted.transport))
    {
        let also = Some(ServerAside::Floats(package));
        return of_server(
            Health::Note,
            also,
            format!("Pin one, with `satchel pin {}`.", shell::word(&server.name)),
        );
    }
    let here = match server.is_troubled() {
        true => variables_here(&server.sentence(now_ms), wanted, looking.environment),
        false => vec![],
    };
    if let Some(first) = here.first() {
        let action =
            format!("If it needs that, write \"env\": {{\"{first}\": \"${{env:{first}}}\"}} into its entry.");
        return of_server(verdict, Some(ServerAside::VariablesHere(here)), action);
    }
    let action = match &server.state {
        _ if verdict == Health::Note && server.not_started.is_some() => {
            format!(
                "Review it with `satchel approvals`, then `satchel approve {}`.",
                shell::word(&server.name)
            )
        }
        ServerState::NeedsCredential { .. } => server.action(),
        ServerState::Off
        | ServerState::Asleep
        | ServerState::Starting { .. }
        | ServerState::Ready { .. }
        | ServerState::Stopping
        | ServerState::BackingOff { .. }
        | ServerState::Broken { .. }
        | ServerState::NeedsSignIn { .. }
        | ServerState::Invalid { .. } => match server.is_troubled() {
            true => server.action(),
            false => String::new(),
        },
    };
    of_server(verdict, None, action)
}

/// The variables that a text names and this environment has, unless the server gets them.
fn variables_here(text: &str, wanted: Option<&ServerConfig>, environment: &Environment) -> Vec<String> {
    let Some(TransportConfig::Stdio { env, .. }) = wanted.map(|wanted| &wanted.transport) else {
        return vec![];
    };
    let passed = environment::passed_on(environment);
    let words = text.split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
    let is_name = |word: &&str| word.contains('_') && word.starts_with(|c: char| c.is_ascii_uppercase());
    let is_here = |word: &&str| environment.variable(word).is_some();
    let lacks = |word: &&str| passed.get(word).is_none() && !env.contains_key(*word);
    let found: BTreeSet<&str> = words.filter(is_name).filter(is_here).filter(lacks).collect();
    found.into_iter().map(ToOwned::to_owned).collect()
}

/// What has to be there for the server to run.
fn program_of(server: &ServerView, wanted: Option<&ServerConfig>, looking: SearchContext) -> Whereabouts {
    let sandbox = wanted.and_then(|wanted| wanted.sandbox.as_ref());
    if let Some(container) = sandbox.and_then(|sandbox| sandbox.container.as_ref()) {
        // The command is one of the image's.
        return match installed_engine(container.engine, looking.dirs, looking.environment) {
            Some(program) => Whereabouts::At(program.display().to_string()),
            None if container.engine == ContainerEngine::Docker => nowhere("docker", looking),
            None => nowhere("podman", looking),
        };
    }
    match wanted.map(|wanted| &wanted.transport) {
        Some(TransportConfig::Stdio { command, .. }) if command == OWN_COMMAND => Whereabouts::BuiltIn,
        // References are filled in at the start, and a server with its own PATH is looked up there.
        Some(TransportConfig::Stdio { command, env, .. })
            if command.contains("${") || looking.environment.platform().variable(env, "PATH").is_some() =>
        {
            Whereabouts::At(command.clone())
        }
        Some(TransportConfig::Stdio { command, args, cwd, .. }) => {
            let windows = looking.environment.platform() == Platform::Windows;
            match slips::meant(command, args, windows, |path| Path::new(path).is_file()) {
                Some((Meant::Program { command, .. }, _)) => look_for(&command, cwd.as_deref(), looking),
                Some((Meant::Address(_), _)) | None => look_for(command, cwd.as_deref(), looking),
            }
        }
        Some(transport @ TransportConfig::Http { .. }) => Whereabouts::At(view::runs(transport)),
        None => Whereabouts::At(server.runs.clone()),
    }
}

/// Searches for a program.
fn look_for(command: &str, cwd: Option<&str>, looking: SearchContext) -> Whereabouts {
    match environment::find_program(command, looking.dirs, cwd.map(Path::new), looking.environment) {
        Located::At(program) => Whereabouts::At(program.display().to_string()),
        Located::NotExecutable(file) => Whereabouts::NotExecutable(file.display().to_string()),
        Located::Nowhere => nowhere(command, looking),
    }
}

/// A missing program, with related ones that were found.
fn nowhere(command: &str, looking: SearchContext) -> Whereabouts {
    if environment::is_path(command) {
        return Whereabouts::Absent(command.to_owned());
    }
    let instead = family(command)
        .filter(|other| *other != command)
        .filter_map(|other| match environment::find_program(other, looking.dirs, None, looking.environment) {
            Located::At(place) => Some(place.display().to_string()),
            Located::NotExecutable(_) | Located::Nowhere => None,
        })
        .collect();
    Whereabouts::Missing { command: command.to_owned(), instead }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::model::{
        Place, Startup, Usage,
        approvals::NotStarted,
        clients::{Duplicate, Surface},
        snapshot::{During, LastFailure},
    };

    fn server(name: &str, state: ServerState) -> ServerView {
        ServerView {
            name: name.into(),
            title: None,
            place: Place::Computer,
            enabled: state != ServerState::Off,
            startup: Startup::Lazy,
            state,
            pid: None,
            tools: Some(8),
            tokens: None,
            resources: None,
            prompts: None,
            skipped: vec![],
            held: 0,
            not_started: None,
            unseen: None,
            runs: format!("npx -y {name}"),
            idle_timeout_seconds: 180,
            sandbox: None,
            starts: 0,
            fresh: false,
            last_failure: None,
            sign_in: None,
            share: None,
            calls: 0,
            wake_ms: None,
            usage: Usage::default(),
        }
    }

    fn view(name: &str) -> ProfileView {
        ProfileView { name: name.into(), ..ProfileView::default() }
    }

    #[test]
    fn a_variable_that_the_last_words_name_and_the_environment_has_is_told() {
        let variables = [("GITHUB_TOKEN", "x"), ("HOME", "/home/x"), ("NODE_EXTRA_CA_CERTS", "/x")];
        let environment = Environment::new(Platform::Linux, variables);
        let config = |entry: &str| {
            let config = Config::parse(&format!(r#"{{"mcpServers": {{"x": {entry}}}}}"#)).unwrap();
            config.servers()["x"].clone()
        };
        let (bare, given) =
            (config(r#"{"command": "x"}"#), config(r#"{"command": "x", "env": {"GITHUB_TOKEN": "y"}}"#));
        let said = "GITHUB_TOKEN and OTHER_TOKEN are required in HOME, see NODE_EXTRA_CA_CERTS";
        let here = |wanted| variables_here(said, Some(wanted), &environment);
        assert_eq!((here(&bare), here(&given)), (vec!["GITHUB_TOKEN".to_owned()], vec![]));
    }

    #[test]
    fn definitions_that_were_left_out_are_told() {
        let environment = Environment::new(crate::platform::Platform::Linux, [("", ""); 0]);
        let skipped = vec!["tool 2 of the list: bad: it has no inputSchema".to_owned()];
        let server = ServerView { skipped, ..server("odd", ServerState::Asleep) };
        let looking = SearchContext { dirs: &[], environment: &environment };
        let found = look_at_server(&server, None, looking, 0);
        assert_eq!(found.verdict, Health::Note);
        let said = found.sentence();
        assert!(
            said.contains("1 definition is left out: tool 2 of the list: bad: it has no inputSchema"),
            "{said}"
        );
    }

    #[test]
    fn only_profiles_with_something_wrong_are_told() {
        let broken = ProfileView { fault: Some("line 3, column 5: no".into()), ..view("broken") };
        let vague = ProfileView { unknown: vec!["a".into(), "b".into()], ..view("vague") };
        let profiles = ProfilesView { all: vec![broken, view("fine"), vague], ..ProfilesView::default() };
        let found: Vec<(String, Health, String)> = look_at_profiles(&profiles)
            .into_iter()
            .map(|found| (found.subject.clone(), found.verdict, found.sentence()))
            .collect();
        let expected = [
            ("profile broken".to_owned(), Health::Wrong, "line 3, column 5: no".to_owned()),
            ("profile vague".to_owned(), Health::Note, "names missing servers: a, b".to_owned()),
        ];
        assert_eq!(found, expected);
    }

    fn configured(entry: &str) -> ServerConfig {
        let config = Config::parse(&format!(r#"{{"mcpServers": {{"x": {entry}}}}}"#)).unwrap();
        config.servers()["x"].clone()
    }

    #[cfg(unix)]
    fn looked(entry: &str, state: ServerState, dirs: &[PathBuf]) -> (Health, String) {
        let looking = SearchContext { dirs, environment: &Environment::of_this_process() };
        let found = look_at_server(&server("x", state), Some(&configured(entry)), looking, 0);
        (found.verdict, found.sentence())
    }

    #[test]
    fn a_damaged_configuration_is_named_with_its_place() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("config.json");
        assert_eq!(look_at_config(&file).0[0].verdict, Health::Note);
        fs::write(&file, "{\n  \"mcpServers\": [}\n").unwrap();
        let found = look_at_config(&file).0.remove(0);
        assert_eq!(found.verdict, Health::Wrong);
        assert!(found.message.contains("config.json, line 2"), "{}", found.message);
        fs::write(&file, r#"{"mcpServers": {}}"#).unwrap();
        assert_eq!(look_at_config(&file).0[0].verdict, Health::Fine);
    }

    #[test]
    fn it_is_said_whether_searches_go_by_meaning() {
        let look = |config: &str, model: &ModelFile| {
            let found =
                look_at_search(&Config::parse(config).unwrap(), model, &Places::below(Path::new("/home")));
            (found.verdict, found.message)
        };
        let at = ModelFile::At("/m".into());
        let named = r#"{"embedding": {"url": "http://x", "model": "m"}}"#;
        for (config, model, verdict, part) in [
            ("", &at, Health::Fine, "by meaning, with the model /m"),
            ("", &ModelFile::Off, Health::Fine, "by words only; SATCHEL_MODEL turns search by meaning off"),
            ("", &ModelFile::Missing, Health::Note, "is missing"),
            (
                r#"{"search": {"model": "multilingual"}}"#,
                &ModelFile::Missing,
                Health::Note,
                "multilingual-e5-small.int8",
            ),
            (r#"{"search": {"model": "multilingual"}}"#, &at, Health::Fine, "with the model /m"),
            (named, &ModelFile::Missing, Health::Fine, "with m at http://x"),
            (r#"{"search": {"meaning": false}}"#, &at, Health::Fine, "by words only"),
        ] {
            let (found, message) = look(config, model);
            assert!(found == verdict && message.contains(part), "{config}: {message}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_cannot_be_found_is_wrong_only_while_its_server_is_on() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("known");
        fs::write(&program, "").unwrap();
        fs::write(directory.path().join("no-program"), "").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = [directory.path().join("missing"), directory.path().to_owned()];
        let shown = program.display();
        for (entry, state, verdict, message) in [
            (r#"{"command": "known"}"#, ServerState::Asleep, Health::Fine, format!("Asleep; {shown}")),
            (
                r#"{"command": "no-program"}"#,
                ServerState::Asleep,
                Health::Wrong,
                format!("Asleep; {} is not executable", directory.path().join("no-program").display()),
            ),
            (
                r#"{"command": "gone"}"#,
                ServerState::Off,
                Health::Note,
                "Off · hidden from clients; gone was not found in PATH".to_owned(),
            ),
            (
                r#"{"command": "satchel", "args": ["toolbox"]}"#,
                ServerState::Asleep,
                Health::Fine,
                "Asleep; part of Satchel".into(),
            ),
            (r#"{"command": "${X}/bin"}"#, ServerState::Asleep, Health::Fine, "Asleep; ${X}/bin".into()),
            (
                r#"{"url": "https://a/mcp"}"#,
                ServerState::Asleep,
                Health::Fine,
                "Asleep; https://a/mcp".into(),
            ),
        ] {
            assert_eq!(looked(entry, state, &path), (verdict, message), "{entry}");
        }
        let needs = ServerState::NeedsCredential {
            names: vec!["T".into()],
            variables: vec![],
            code: Code::VaultLocked,
            message: "the file is locked".into(),
            cause: None,
        };
        let known = r#"{"command": "satchel"}"#;
        let message =
            "Needs T: the file is locked; part of Satchel. Unlock it with `satchel secrets unlock`."
                .to_owned();
        assert_eq!(looked(known, needs, &path), (Health::Wrong, message));
    }

    #[test]
    fn a_missing_secret_is_told_by_its_header_and_stored_by_its_whole_name() {
        let needs = ServerState::NeedsCredential {
            names: vec!["x.Authorization".into(), "TOKEN".into()],
            variables: vec!["TOKEN".into()],
            code: Code::NeedsCredential,
            message: String::new(),
            cause: None,
        };
        let needs = server("x", needs);
        assert_eq!(needs.sentence(0), "Needs 2 credentials: Authorization, TOKEN");
        let action = "Store it with `satchel secrets set x.Authorization`. Set TOKEN in the environment that Satchel is \
                      started in.";
        assert_eq!(needs.action(), action);
    }

    #[test]
    fn a_missing_credential_is_reported_before_the_first_start() {
        let wanted =
            configured(r#"{"command": "satchel", "env": {"K": "${secret:key}", "V": "${SATCHEL_NOT_SET}"}}"#);
        let lacks = |state, stored: &[&str]| {
            let stored = stored.iter().map(ToString::to_string).collect();
            let environment = Environment::of_this_process();
            known_to_lack(server("x", state), &wanted, &environment, &stored).state
        };
        let needs = |names: &[&str]| ServerState::NeedsCredential {
            names: names.iter().map(ToString::to_string).collect(),
            variables: vec!["SATCHEL_NOT_SET".into()],
            code: Code::NeedsCredential,
            message: String::new(),
            cause: None,
        };
        assert_eq!(lacks(ServerState::Asleep, &["key"]), needs(&["SATCHEL_NOT_SET"]));
        assert_eq!(lacks(ServerState::Asleep, &["other"]), needs(&["SATCHEL_NOT_SET", "key"]));
        assert_eq!(lacks(ServerState::Off, &[]), ServerState::Off, "nobody wants to start it");
    }

    #[test]
    fn an_entry_that_waits_for_a_yes_is_a_note_that_says_how() {
        let mut waits = server("x", ServerState::Asleep);
        waits.not_started = Some(NotStarted::NewEntry);
        let wanted = configured(r#"{"command": "satchel", "args": ["toolbox"]}"#);
        let looking = SearchContext { dirs: &[], environment: &Environment::of_this_process() };
        let found = look_at_server(&waits, Some(&wanted), looking, 0);
        assert_eq!(found.verdict, Health::Note);
        assert!(found.action.ends_with("`satchel approve x`."), "{}", found.message);
    }

    #[test]
    fn a_failed_start_is_wrong_long_after_it_failed() {
        let mut asleep = server("x", ServerState::Asleep);
        asleep.last_failure = Some(LastFailure {
            code: Code::ExitedEarly,
            message: "no API key".into(),
            cause: None,
            at_ms: 1_000,
            during: During::Start,
        });
        let wanted = configured(r#"{"command": "satchel", "args": ["toolbox"]}"#);
        let looking = SearchContext { dirs: &[], environment: &Environment::of_this_process() };
        let found = look_at_server(&asleep, Some(&wanted), looking, 181_000);
        let message = "Asleep; its last start failed 3 min ago: no API key; part of Satchel";
        assert_eq!((found.verdict, found.message.as_str()), (Health::Wrong, message));

        let failed =
            LastFailure { message: "/opt/x does not exist".into(), ..asleep.last_failure.take().unwrap() };
        asleep.last_failure = Some(LastFailure { code: Code::SpawnNotFound, ..failed });
        let wanted = configured(r#"{"command": "/opt/x"}"#);
        let said = look_at_server(&asleep, Some(&wanted), looking, 181_000).message;
        assert_eq!(said, "Asleep; its last start failed 3 min ago: /opt/x does not exist", "said once");
    }

    #[cfg(unix)]
    #[test]
    fn a_missing_program_is_reported_with_its_installed_alternative() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let node = directory.path().join("node");
        fs::write(&node, "").unwrap();
        fs::set_permissions(&node, fs::Permissions::from_mode(0o755)).unwrap();
        let dirs = [directory.path().to_owned()];
        let looking = SearchContext { dirs: &dirs, environment: &Environment::of_this_process() };
        let said = nowhere("npx", looking).to_string();
        assert_eq!(said, format!("npx was not found in PATH; found instead: {}", node.display()));
        assert!(!nowhere("uvx", looking).to_string().contains("instead"));
    }

    #[test]
    fn a_path_that_leads_nowhere_is_not_searched_for() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("npx").display().to_string();
        let looking = SearchContext { dirs: &[], environment: &Environment::of_this_process() };
        let said = look_for(&file, None, looking);
        assert_eq!(said.to_string(), format!("{file} does not exist"));
        assert!(!said.is_there());
        fs::write(&file, "").unwrap();
        if cfg!(unix) {
            assert_eq!(look_for(&file, None, looking).to_string(), format!("{file} is not executable"));
        }
    }

    #[test]
    fn a_client_is_told_of_once_it_has_an_entry_of_ours() {
        let client = |state, duplicates| KnownClient {
            id: "cursor".into(),
            name: "Cursor".into(),
            tier: "A".into(),
            confidence: "doc".into(),
            installed: true,
            sign: None,
            file: Some("/f".into()),
            state,
            duplicates,
            surface: Surface::Auto,
            effective: Surface::Router,
            reason: String::new(),
            hidden: vec![],
            profile: None,
            after_connect: Some("Restart Cursor.".into()),
        };
        let told = |state, duplicates| {
            look_at_client(&client(state, duplicates)).map(|found| (found.verdict, found.sentence()))
        };
        let twice = || vec![Duplicate { there: "gh".into(), here: "github".into() }];
        assert_eq!(told(ClientState::NotConnected, twice()), None);
        let added = "connected in /f; no request from it yet. Restart Cursor.";
        assert_eq!(told(ClientState::Added, vec![]), Some((Health::Note, added.into())));
        let connected = || ClientState::Connected { since_ms: 1 };
        assert_eq!(told(connected(), vec![]), Some((Health::Fine, "connected in /f".into())));
        let doubled = told(connected(), twice()).unwrap();
        assert!(doubled.0 == Health::Note && doubled.1.contains("these servers itself: gh"), "{doubled:?}");
        let gone = ClientState::NeedsYou { what: "gone".into(), message: "the entry has gone".into() };
        let gone = told(gone, vec![]).unwrap();
        assert!(gone.0 == Health::Wrong && gone.1.contains("satchel connect cursor"), "{gone:?}");
    }

    #[test]
    fn another_port_and_none_are_told_and_a_taken_one_once() {
        let taken = Notice::new(Code::PortTaken, "port 7411 is taken by another program".to_owned());
        for (endpoint, taken, verdict, part) in [
            (Some("http://127.0.0.1:7411/mcp"), None, Health::Fine, "7411"),
            (Some("http://127.0.0.1:7412/mcp"), None, Health::Fine, "the usual port is 7411"),
            (Some("http://127.0.0.1:7412/mcp"), Some(&taken), Health::Note, "taken by another program"),
            (None, None, Health::Wrong, "reach"),
        ] {
            let found = look_at_port(endpoint, taken);
            assert!(found.verdict == verdict && found.message.contains(part), "{endpoint:?}: {found:?}");
            assert_eq!(found.action.is_empty(), verdict == Health::Fine, "{found:?}");
        }
    }
}
