//! `doctor`: looks at everything that can be wrong from outside and says it in words. Starts nothing.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use satchel_core::{
    config::{
        Config,
        file::{OWN_COMMAND, text_of},
    },
    files::Places,
    meaning::{MODEL_VARIABLE, ModelFile, model_file},
    model::{
        Code, ServerConfig, ServerState, ServerView, Snapshot, TransportConfig,
        profiles::{ProfileView, ProfilesView},
        request::{GetStatus, ListSecrets, StoreKind, StoredSecrets},
    },
    platform::Environment,
    registry::pinning,
    secrets::{SecretError, Secrets},
    upstream::environment::{self, Found, SearchPath},
};
use serde::Serialize;
use serde_json::json;

use super::now_ms;
use crate::{
    output::{harmless, say, say_json},
    reach::{Reached, reach},
};

/// The name of a secret that nobody has.
const PROBE: &str = "satchel-doctor";

/// Programs that come together or replace each other: one that is there tells where the missing one should be.
const FAMILIES: [&[&str]; 4] = [
    &["node", "npx", "npm", "pnpm", "yarn", "bun", "bunx", "deno"],
    &["uv", "uvx", "pipx"],
    &["python", "python3"],
    &["docker", "podman"],
];

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    subject: String,
    verdict: Verdict,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Fine,
    /// Worth knowing, but nothing is broken by it.
    Note,
    Wrong,
}

fn finding(subject: impl Into<String>, verdict: Verdict, message: impl Into<String>) -> Finding {
    Finding { subject: subject.into(), verdict, message: message.into() }
}

pub(crate) async fn run(places: &Places, json: bool) -> anyhow::Result<ExitCode> {
    let (configuration, config) = look_at_config(&places.config_file);
    let mut findings = vec![configuration, look_at_search(&config, &model_file(places))];
    match reach(places).await {
        Ok(hub) => {
            let looked = look_at_hub(&hub, &config, places, &mut findings).await;
            hub.leave().await;
            looked?;
        }
        Err(error) => findings.push(finding("hub", Verdict::Wrong, format!("{error:#}"))),
    }
    match json {
        true => say_json(&json!({"findings": findings}))?,
        false => say(in_words(&findings)),
    }
    let wrong = findings.iter().any(|finding| finding.verdict == Verdict::Wrong);
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn look_at_config(file: &Path) -> (Finding, Config) {
    let shown = file.display();
    let (verdict, message, config) = match text_of(file) {
        Ok(text) => match Config::parse(&text) {
            Ok(config) => (Verdict::Fine, format!("{shown}; servers: {}", config.servers().len()), config),
            Err(wrong) => (Verdict::Wrong, format!("{shown}, {wrong}"), Config::default()),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => (
            Verdict::Note,
            format!("{shown} does not exist yet; it is made at the first start"),
            Config::default(),
        ),
        Err(error) => (Verdict::Wrong, format!("cannot read {shown}: {error}"), Config::default()),
    };
    (finding("configuration", verdict, message), config)
}

/// Does a model help searches by what they mean?
fn look_at_search(config: &Config, model: &ModelFile) -> Finding {
    let (verdict, message) = match (config.searches_by_meaning(), config.embedding(), model) {
        (false, _, _) => (Verdict::Fine, "by words alone; meaning is switched off in the configuration".to_owned()),
        (true, Some(named), _) => {
            (Verdict::Fine, format!("by words and by meaning, with {} at {}", named.model, named.url))
        }
        (true, None, ModelFile::At(file)) => {
            (Verdict::Fine, format!("by words and by meaning, with the model {}", file.display()))
        }
        (true, None, ModelFile::Off) => {
            (Verdict::Fine, format!("by words alone; meaning is switched off by {MODEL_VARIABLE}"))
        }
        (true, None, ModelFile::Missing) => (
            Verdict::Note,
            "by words alone; the model that helps by meaning is missing. It comes with the installers; `make model` makes \
             it for a build of your own"
                .to_owned(),
        ),
    };
    finding("search", verdict, message)
}

async fn look_at_hub(
    hub: &Reached,
    config: &Config,
    places: &Places,
    findings: &mut Vec<Finding>,
) -> anyhow::Result<()> {
    let snapshot: Snapshot = hub.ask(GetStatus {}).await?;
    findings.push(match hub {
        Reached::Running(control) => finding(
            "hub",
            Verdict::Fine,
            format!("runs as process {} at {}", control.address.pid, control.address.url),
        ),
        Reached::Here(_) => finding("hub", Verdict::Note, "none runs; start one with `satchel serve`"),
    });
    // What is wrong with the configuration was found in the file itself.
    for notice in snapshot.notices.iter().filter(|notice| notice.code != Code::ConfigInvalid) {
        findings.push(finding("hub", Verdict::Note, format!("{}. {}", notice.message, notice.action)));
    }
    findings.extend(look_at_profiles(&snapshot.profiles));
    findings.push(look_at_secrets(hub, places).await);
    let (search_path, environment) = (SearchPath::default(), Environment::of_this_process());
    let dirs = search_path.dirs(&environment).await;
    findings.extend(snapshot.servers.iter().map(|server| {
        let wanted = config.servers().get(server.name.as_str());
        look_at_server(server, wanted, Looking { dirs, environment: &environment }, now_ms())
    }));
    Ok(())
}

/// Profiles that cannot be used, or name what is not there. Good ones are not worth a line.
fn look_at_profiles(profiles: &ProfilesView) -> Vec<Finding> {
    let of_profile = |one: &ProfileView| {
        let subject = format!("profile {}", one.name);
        match (&one.fault, one.unknown.as_slice()) {
            (Some(fault), _) => Some(finding(subject, Verdict::Wrong, fault.clone())),
            (None, []) => None,
            (None, names) => {
                let message = format!("names servers that are not here: {}", names.join(", "));
                Some(finding(subject, Verdict::Note, message))
            }
        }
    };
    let folders = profiles.folders.iter().filter_map(|folder| {
        Some(finding(format!("folder {}", folder.folder), Verdict::Wrong, folder.fault.clone()?))
    });
    profiles.all.iter().filter_map(of_profile).chain(folders).collect()
}

/// Without a server that wants a secret nothing is broken by a missing keychain; one that does is wrong itself.
async fn look_at_secrets(hub: &Reached, places: &Places) -> Finding {
    let StoredSecrets { names, store, locked } = match hub.ask(ListSecrets {}).await {
        Ok(known) => known,
        Err(error) => return finding("secrets", Verdict::Note, format!("{error:#}")),
    };
    // The names are remembered beside the store, so only asking for a value shows whether it can be reached.
    let asked = match store {
        StoreKind::Keychain => Secrets::open(&places.data).get(PROBE).await.err(),
        StoreKind::File => locked.then_some(SecretError::VaultLocked),
    };
    match asked {
        None => {
            finding("secrets", Verdict::Fine, format!("{} stored in the {}", names.len(), store.as_str()))
        }
        Some(error) => {
            let action = error.code().map_or("", |code| code.action());
            finding("secrets", Verdict::Note, format!("{error}. {action}"))
        }
    }
}

/// Where programs are looked for, and by which names.
#[derive(Clone, Copy)]
struct Looking<'a> {
    dirs: &'a [PathBuf],
    environment: &'a Environment,
}

fn look_at_server(
    server: &ServerView,
    wanted: Option<&ServerConfig>,
    looking: Looking,
    now_ms: u64,
) -> Finding {
    let state = server.sentence(now_ms);
    let (found, place) = match wanted.map(|wanted| &wanted.transport) {
        Some(TransportConfig::Stdio { command, .. }) if command == OWN_COMMAND => {
            (true, "part of Satchel".into())
        }
        // References are filled in at the start, and a server with its own PATH is looked up there.
        Some(TransportConfig::Stdio { command, env, .. })
            if command.contains("${") || looking.environment.platform().variable(env, "PATH").is_some() =>
        {
            (true, command.clone())
        }
        Some(TransportConfig::Stdio { command, cwd, .. }) => look_for(command, cwd.as_deref(), looking),
        Some(TransportConfig::Http { url, .. }) => (true, url.clone()),
        None => (true, server.runs.clone()),
    };
    let verdict = match (server.is_troubled(), server.enabled, found) {
        (true, _, _) | (false, true, false) => Verdict::Wrong,
        (false, false, false) => Verdict::Note,
        // Nothing is wrong, and nothing of it works before a person has said yes.
        (false, true, true) if server.not_started.is_some() => Verdict::Note,
        (false, _, true) => Verdict::Fine,
    };
    let offers = [server.tools, server.resources];
    if verdict == Verdict::Fine && offers.iter().all(|count| *count == Some(0)) {
        let message = format!(
            "{state}; {place}; it offers neither tools nor resources ({}). {}",
            Code::NoTools.as_str(),
            Code::NoTools.action()
        );
        return finding(format!("server {}", server.name), Verdict::Note, message);
    }
    if verdict == Verdict::Fine
        && let Some(package) = wanted.and_then(|wanted| pinning::floating(&wanted.transport))
    {
        let message = format!(
            "{state}; {place}; whichever version of {package} is newest runs, also one that nobody has looked at: name \
             one exactly, with `satchel pin {}`",
            server.name
        );
        return finding(format!("server {}", server.name), Verdict::Note, message);
    }
    let action = match &server.state {
        _ if verdict == Verdict::Note && server.not_started.is_some() => {
            format!(". Look at it with `satchel approvals`, then `satchel approve {}`", server.name)
        }
        ServerState::NeedsCredential { .. } => format!(". {}", server.action()),
        ServerState::Off
        | ServerState::Asleep
        | ServerState::Starting { .. }
        | ServerState::Ready { .. }
        | ServerState::Stopping
        | ServerState::BackingOff { .. }
        | ServerState::Broken { .. }
        | ServerState::NeedsSignIn { .. }
        | ServerState::Invalid { .. } => String::new(),
    };
    finding(format!("server {}", server.name), verdict, format!("{state}; {place}{action}"))
}

/// Is the program there, and where?
fn look_for(command: &str, cwd: Option<&str>, looking: Looking) -> (bool, String) {
    match environment::find_program(command, looking.dirs, cwd.map(Path::new), looking.environment) {
        Found::At(program) => (true, program.display().to_string()),
        Found::NotExecutable(file) => (false, format!("{} may not be executed", file.display())),
        Found::Nowhere => (false, nowhere(command, looking)),
    }
}

/// Where was looked, and what is there instead: another program of the same family.
fn nowhere(command: &str, looking: Looking) -> String {
    let looked: Vec<String> = looking.dirs.iter().map(|dir| dir.display().to_string()).collect();
    let family = FAMILIES.iter().find(|family| family.contains(&command)).copied().unwrap_or_default();
    let instead: Vec<String> = family
        .iter()
        .filter(|other| **other != command)
        .filter_map(|other| match environment::find_program(other, looking.dirs, None, looking.environment) {
            Found::At(place) => Some(place.display().to_string()),
            Found::NotExecutable(_) | Found::Nowhere => None,
        })
        .collect();
    let instead = match instead.is_empty() {
        true => String::new(),
        false => format!("; found instead: {}", instead.join(", ")),
    };
    format!("{command} was not found in PATH{instead}; looked in {}", looked.join(", "))
}

fn in_words(findings: &[Finding]) -> String {
    let line = |finding: &Finding| {
        let mark = match finding.verdict {
            Verdict::Fine => "ok   ",
            Verdict::Note => "note ",
            Verdict::Wrong => "WRONG",
        };
        harmless(&format!("{mark}  {}: {}", finding.subject, finding.message.trim_end()))
    };
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::commands::servers::tests::server;
    use satchel_core::model::{
        approvals::NotStarted,
        snapshot::{During, LastFailure},
    };

    fn view(name: &str) -> ProfileView {
        ProfileView { name: name.into(), ..ProfileView::default() }
    }

    #[test]
    fn only_profiles_with_something_wrong_are_told() {
        let broken = ProfileView { fault: Some("line 3, column 5: no".into()), ..view("broken") };
        let vague = ProfileView { unknown: vec!["a".into(), "b".into()], ..view("vague") };
        let profiles = ProfilesView { all: vec![broken, view("fine"), vague], ..ProfilesView::default() };
        let expected = [
            finding("profile broken", Verdict::Wrong, "line 3, column 5: no"),
            finding("profile vague", Verdict::Note, "names servers that are not here: a, b"),
        ];
        assert_eq!(look_at_profiles(&profiles), expected);
    }

    fn configured(entry: &str) -> ServerConfig {
        let config = Config::parse(&format!(r#"{{"mcpServers": {{"x": {entry}}}}}"#)).unwrap();
        config.servers()["x"].clone()
    }

    fn looked(entry: &str, state: ServerState, dirs: &[PathBuf]) -> (Verdict, String) {
        let looking = Looking { dirs, environment: &Environment::of_this_process() };
        let found = look_at_server(&server("x", state), Some(&configured(entry)), looking, 0);
        (found.verdict, found.message)
    }

    #[test]
    fn a_damaged_configuration_is_named_with_its_place() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("config.json");
        assert_eq!(look_at_config(&file).0.verdict, Verdict::Note);
        fs::write(&file, "{\n  \"mcpServers\": [}\n").unwrap();
        let (found, _) = look_at_config(&file);
        assert_eq!(found.verdict, Verdict::Wrong);
        assert!(found.message.contains("config.json, line 2"), "{}", found.message);
        fs::write(&file, r#"{"mcpServers": {}}"#).unwrap();
        assert_eq!(look_at_config(&file).0.verdict, Verdict::Fine);
    }

    #[test]
    fn it_is_said_whether_searches_go_by_meaning() {
        let look = |config: &str, model: &ModelFile| {
            let found = look_at_search(&Config::parse(config).unwrap(), model);
            (found.verdict, found.message)
        };
        let at = ModelFile::At("/m".into());
        let named = r#"{"embedding": {"url": "http://x", "model": "m"}}"#;
        for (config, model, verdict, part) in [
            ("", &at, Verdict::Fine, "by meaning, with the model /m"),
            ("", &ModelFile::Off, Verdict::Fine, "by words alone; meaning is switched off by SATCHEL_MODEL"),
            ("", &ModelFile::Missing, Verdict::Note, "is missing"),
            (named, &ModelFile::Missing, Verdict::Fine, "with m at http://x"),
            (r#"{"search": {"meaning": false}}"#, &at, Verdict::Fine, "by words alone"),
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
            (r#"{"command": "known"}"#, ServerState::Asleep, Verdict::Fine, format!("Asleep; {shown}")),
            (
                r#"{"command": "no-program"}"#,
                ServerState::Asleep,
                Verdict::Wrong,
                format!("Asleep; {} may not be executed", directory.path().join("no-program").display()),
            ),
            (
                r#"{"command": "gone"}"#,
                ServerState::Off,
                Verdict::Note,
                format!(
                    "Off · hidden from clients; gone was not found in PATH; looked in {}, {}",
                    path[0].display(),
                    path[1].display()
                ),
            ),
            (
                r#"{"command": "satchel", "args": ["toolbox"]}"#,
                ServerState::Asleep,
                Verdict::Fine,
                "Asleep; part of Satchel".into(),
            ),
            (r#"{"command": "${X}/bin"}"#, ServerState::Asleep, Verdict::Fine, "Asleep; ${X}/bin".into()),
            (
                r#"{"url": "https://a/mcp"}"#,
                ServerState::Asleep,
                Verdict::Fine,
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
        };
        let known = r#"{"command": "satchel"}"#;
        let message =
            "Needs T: the file is locked; part of Satchel. Unlock it with `satchel secrets unlock`."
                .to_owned();
        assert_eq!(looked(known, needs, &path), (Verdict::Wrong, message));
    }

    #[test]
    fn a_missing_secret_is_told_by_its_header_and_stored_by_its_whole_name() {
        let needs = ServerState::NeedsCredential {
            names: vec!["x.Authorization".into(), "TOKEN".into()],
            variables: vec!["TOKEN".into()],
            code: Code::NeedsCredential,
            message: String::new(),
        };
        let needs = server("x", needs);
        assert_eq!(needs.sentence(0), "Needs 2 credentials: Authorization, TOKEN");
        let action = "Store it with `satchel secrets set x.Authorization`. Set TOKEN in the environment that Satchel is \
                      started in.";
        assert_eq!(needs.action(), action);
    }

    #[test]
    fn an_entry_that_waits_for_a_yes_is_a_note_that_says_how() {
        let mut waits = server("x", ServerState::Asleep);
        waits.not_started = Some(NotStarted::NewEntry);
        let wanted = configured(r#"{"command": "satchel", "args": ["toolbox"]}"#);
        let looking = Looking { dirs: &[], environment: &Environment::of_this_process() };
        let found = look_at_server(&waits, Some(&wanted), looking, 0);
        assert_eq!(found.verdict, Verdict::Note);
        assert!(found.message.ends_with("`satchel approve x`"), "{}", found.message);
    }

    #[test]
    fn a_failed_start_is_wrong_long_after_it_failed() {
        let mut asleep = server("x", ServerState::Asleep);
        asleep.last_failure = Some(LastFailure {
            code: Code::ExitedEarly,
            message: "no API key".into(),
            at_ms: 1_000,
            during: During::Start,
        });
        let wanted = configured(r#"{"command": "satchel", "args": ["toolbox"]}"#);
        let looking = Looking { dirs: &[], environment: &Environment::of_this_process() };
        let found = look_at_server(&asleep, Some(&wanted), looking, 181_000);
        let message = "Asleep; its last start failed 3 min ago: no API key; part of Satchel";
        assert_eq!((found.verdict, found.message.as_str()), (Verdict::Wrong, message));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_there_instead_of_a_missing_program_is_named() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let node = directory.path().join("node");
        fs::write(&node, "").unwrap();
        fs::set_permissions(&node, fs::Permissions::from_mode(0o755)).unwrap();
        let dirs = [directory.path().to_owned()];
        let looking = Looking { dirs: &dirs, environment: &Environment::of_this_process() };
        let said = nowhere("npx", looking);
        assert_eq!(
            said,
            format!(
                "npx was not found in PATH; found instead: {}; looked in {}",
                node.display(),
                directory.path().display()
            )
        );
        assert!(!nowhere("uvx", looking).contains("instead"));
    }

    #[test]
    fn findings_are_one_line_each() {
        let findings = [
            finding("configuration", Verdict::Fine, "a"),
            finding("secrets", Verdict::Note, "b. "),
            finding("server x", Verdict::Wrong, "c"),
        ];
        assert_eq!(in_words(&findings), "ok     configuration: a\nnote   secrets: b.\nWRONG  server x: c");
    }
}
