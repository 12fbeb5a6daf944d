//! `add`, `remove`, `list`, `enable`, `disable`, `restart`.

use std::{process::ExitCode, time::Duration};

use anyhow::Context;
use satchel_core::{
    files::Places,
    model::{
        self, Code, Notice, ServerName, ServerState, ServerView, Snapshot, characters,
        control::{Change, Target},
        oauth::client_secret_name,
        request::{DismissFailure, GetStatus, ListOwnSecrets, OwnSecrets, RemoveSecret, Restart, SetSecret},
        shell,
        snapshot::ShareView,
    },
};
use serde_json::json;

use super::{done, import::waiting, now_ms, secrets::ask};
use crate::{
    args::{Add, OnOff, Remove, Sandbox, ShareArgs},
    output::{Lines, count, left_out, say, say_aside, say_json, state, table, troubles},
    reach::{Reached, once, reach, refusal, running},
};

/// Number and interval of checks on a newly added server.
const ADDING: usize = 30;
const TICK: Duration = Duration::from_millis(100);

pub(crate) async fn add(places: &Places, add: &Add, json: bool) -> anyhow::Result<ExitCode> {
    // Prompted before any change, so that cancelling changes nothing.
    let client_secret = add.client_secret.then(|| ask("Client secret")).transpose()?;
    let hub = reach(places).await?;
    let mut answer = hub.ask(change(add)).await;
    if let (Ok(_), Some(value)) = (&answer, client_secret) {
        let name = client_secret_name(&add.name);
        let stored = hub.ask(SetSecret { name: name.clone(), value }).await;
        answer = stored.with_context(|| {
            format!(
                "{} was added, but its client secret was not stored; `satchel secrets set {name}`",
                add.name
            )
        });
    }
    let start = match (&answer, &hub) {
        (Ok(_), Reached::Running(_)) if add.url.is_some() => first_start(&hub, add.name.as_str()).await,
        _ => FirstStart::Fine,
    };
    let snapshot = hub.ask(GetStatus {}).await.ok();
    hub.leave().await;
    let answer = answer?;
    let known = snapshot
        .as_ref()
        .and_then(|snapshot| snapshot.servers.iter().find(|server| server.name == add.name.as_str()));
    if known.is_some_and(|server| server.not_started.is_some()) {
        // A program may not accept for a person what replaces an entry.
        let name = add.name.to_string();
        return done(
            &format!("Wrote the entry of {name}. {}", waiting(std::slice::from_ref(&name))),
            &answer,
            json,
        );
    }
    let outside = snapshot.as_ref().map(|snapshot| outside_profile(snapshot, add.name.as_str()));
    let outside = outside.unwrap_or_default();
    let sentence = match start {
        FirstStart::WantsSignIn => {
            format!("Added {}. It needs a sign-in: run `satchel login {}`.", add.name, add.name.in_shell())
        }
        FirstStart::Failed => {
            format!("Added {}, but it cannot be used yet: `satchel list` shows why.", add.name)
        }
        FirstStart::Fine => {
            format!("Added {}. Try it with `satchel tools --server {}`.", add.name, add.name.in_shell())
        }
    };
    done(&format!("{sentence}{outside}"), &answer, json)
}

/// The new entry. It includes a user-registered app from the start, because changing an existing entry would need
/// approval.
fn change(add: &Add) -> Change {
    let (startup, era) = (add.startup.map(Into::into), add.era.map(Into::into));
    let (Some(client_id), Target::Url { url, headers }) = (&add.client_id, add.target()) else {
        return Change::Add {
            name: add.name.to_string(),
            target: add.target(),
            startup,
            era,
            replace: add.replace,
        };
    };
    let mut oauth = json!({ "clientId": client_id });
    if add.client_secret {
        oauth["clientSecret"] = format!("${{secret:{}}}", client_secret_name(&add.name)).into();
    }
    let mut entry = json!({ "url": url, "headers": headers, "startup": startup, "era": era, "oauth": oauth });
    if let Some(fields) = entry.as_object_mut() {
        fields
            .retain(|_, value| !value.is_null() && value.as_object().is_none_or(|fields| !fields.is_empty()));
    }
    Change::Put { name: add.name.to_string(), entry, replace: add.replace, rules: vec![] }
}

/// A hint if the active profile does not include the new server.
fn outside_profile(snapshot: &Snapshot, name: &str) -> String {
    let Some(active) = &snapshot.profiles.active else { return String::new() };
    let profile = snapshot.profiles.all.iter().find(|profile| profile.name == *active);
    match profile.is_some_and(|one| one.profile.servers.iter().any(|server| server == name)) {
        true => String::new(),
        false => format!(
            " Clients do not see it: it is not in the profile {active}. `satchel profile edit {} --add {}` puts it in.",
            shell::word(active),
            shell::word(name)
        ),
    }
}

/// The first start of a newly added hosted server.
enum FirstStart {
    Fine,
    WantsSignIn,
    Failed,
}

/// Waits for it for a short time.
async fn first_start(hub: &Reached, name: &str) -> FirstStart {
    for _ in 0..ADDING {
        tokio::time::sleep(TICK).await;
        let Ok(snapshot) = hub.ask(GetStatus {}).await else { break };
        let Some(server) = snapshot.servers.iter().find(|server| server.name == name) else { break };
        match server.state {
            ServerState::NeedsSignIn { .. } => return FirstStart::WantsSignIn,
            _ if server.is_troubled() => return FirstStart::Failed,
            ServerState::Asleep | ServerState::Starting { .. } if server.tools.is_none() => {}
            _ => break,
        }
    }
    FirstStart::Fine
}

pub(crate) async fn remove(
    places: &Places,
    Remove { name, secrets }: Remove,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let OwnSecrets { names: own } = once(places, ListOwnSecrets { server: name.to_string() }).await?;
    let answer = once(places, Change::Remove { name: name.to_string() }).await?;
    if own.is_empty() {
        return done(&format!("Removed {name}."), &answer, json);
    }
    let named = own.join(", ");
    if !secrets {
        let kept = format!("Removed {name}. Kept secrets that no other server uses: {named}.");
        return done(&format!("{kept} `satchel secrets rm NAME` removes one."), &answer, json);
    }
    for secret in own {
        match once(places, RemoveSecret { name: secret }).await {
            // One that was never stored counts as removed.
            Err(error) if refusal(&error).is_some_and(|refusal| refusal.code == Code::UnknownSecret) => {}
            removed => drop(removed?),
        }
    }
    done(&format!("Removed {name} and its secrets: {named}."), &answer, json)
}

pub(crate) async fn set_enabled(
    places: &Places,
    name: ServerName,
    enabled: bool,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let answer = once(places, Change::SetEnabled { name: name.to_string(), enabled }).await?;
    let sentence = match enabled {
        true => format!("{name} is on."),
        false => format!("{name} is off and hidden from clients."),
    };
    done(&sentence, &answer, json)
}

/// Sets or removes a server's sandbox.
pub(crate) async fn share(places: &Places, asked: ShareArgs, json: bool) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let name = asked.name.to_string();
    let answer = hub.ask(Change::SetShare { name: name.clone(), share: asked.who.into() }).await;
    let snapshot = hub.ask(GetStatus {}).await;
    hub.leave().await;
    let (answer, snapshot) = (answer?, snapshot?);
    let server = snapshot.servers.iter().find(|server| server.name == name);
    let said = server.and_then(|server| server.share.as_ref()).map(ShareView::sentence);
    let said = said.unwrap_or_else(|| "All clients share one instance".to_owned());
    done(&format!("{name}: {said}."), &answer, json)
}

pub(crate) async fn sandbox(places: &Places, asked: Sandbox, json: bool) -> anyhow::Result<ExitCode> {
    // Relative paths on the command line are relative to the present directory.
    let whole = |path: &String| match path.starts_with('~') {
        true => path.clone(),
        false => std::path::absolute(path)
            .map_or_else(|_| path.clone(), |path| path.to_string_lossy().into_owned()),
    };
    let sandbox = model::server::Sandbox {
        read: asked.read.iter().map(whole).collect(),
        write: asked.write.iter().map(whole).collect(),
        network: asked.network,
        container: asked
            .container
            .map(|image| model::server::ContainerSandbox { image, engine: asked.engine.into() }),
    };
    let on = asked.state == OnOff::On;
    let name = asked.name.to_string();
    let change = Change::SetSandbox { name: name.clone(), sandbox: on.then(|| sandbox.clone()) };
    let answer = once(places, change).await?;
    let listed = |places: &[String]| if places.is_empty() { "nothing".to_owned() } else { places.join(", ") };
    let mut sentence = match on {
        true => format!(
            "{name} runs in {}: of your files it may read {} and change {}; it may use {} network.",
            sandbox
                .container
                .as_ref()
                .map_or("a sandbox".to_owned(), |container| format!("a container of {}", container.image)),
            listed(&[sandbox.read.as_slice(), sandbox.write.as_slice()].concat()),
            listed(&sandbox.write),
            if sandbox.network { "the" } else { "no" },
        ),
        false => format!("{name} runs without a sandbox."),
    };
    match &sandbox.container {
        None if on && !cfg!(target_os = "linux") => sentence.push_str(
            " This system has no sandbox of its own, so it is not started while this is on; --container names an image \
             to run it in.",
        ),
        Some(container) if on && !container.is_pinned() => sentence.push_str(
            " Its name has no digest, so it is not fetched: it must be on this computer.",
        ),
        None | Some(_) => {}
    }
    done(&sentence, &answer, json)
}

pub(crate) async fn restart(places: &Places, name: ServerName, json: bool) -> anyhow::Result<ExitCode> {
    let answer = running(places).await?.ask(Restart { server: name.to_string() }).await?;
    done(&format!("Starting {name}."), &answer, json)
}

/// Dismisses a server's last failure.
pub(crate) async fn dismiss(places: &Places, name: ServerName, json: bool) -> anyhow::Result<ExitCode> {
    let hub = running(places).await?;
    let snapshot: Snapshot = hub.ask(GetStatus {}).await?;
    let known = snapshot.servers.iter().find(|server| server.name == name.as_str());
    let failed = known.is_some_and(|server| server.last_failure.is_some());
    let answer = hub.ask(DismissFailure { server: name.to_string() }).await?;
    let said = match failed {
        true => format!("Dismissed the last failure of {name}."),
        false => format!("{name} has no failure to dismiss."),
    };
    done(&said, &answer, json)
}

pub(crate) async fn list(places: &Places, json: bool) -> anyhow::Result<ExitCode> {
    let snapshot: Snapshot = once(places, GetStatus {}).await?;
    match json {
        true => say_json(&json!({"servers": snapshot.servers}))?,
        false if snapshot.servers.is_empty() && unread(&snapshot).is_some() => {}
        false => say(listed(&snapshot.servers, now_ms())),
    }
    Ok(unread_told(&snapshot))
}

/// Reports why the configuration cannot be read, in whole or in part; what was valid is shown then.
pub(super) fn unread_told(snapshot: &Snapshot) -> ExitCode {
    let in_part = [Code::RuleInvalid, Code::SettingInvalid];
    for notice in snapshot.notices.iter().filter(|notice| in_part.contains(&notice.code)) {
        say_aside(told(notice));
    }
    match unread(snapshot) {
        None => ExitCode::SUCCESS,
        Some(notice) => {
            say_aside(told(notice));
            ExitCode::FAILURE
        }
    }
}

fn told(notice: &Notice) -> Lines {
    Lines::line(format!("satchel: {}", notice.message)).and(format!("  {}", notice.action))
}

fn unread(snapshot: &Snapshot) -> Option<&Notice> {
    snapshot.notices.iter().find(|notice| notice.code == Code::ConfigInvalid)
}

fn listed(servers: &[ServerView], now_ms: u64) -> Lines {
    if servers.is_empty() {
        return "No servers yet. Add one with `satchel add NAME -- COMMAND ARGS…`.".into();
    }
    let row = |server: &ServerView| {
        [characters::spelled(&server.name), state(server, now_ms), count(server.tools), server.runs.clone()]
    };
    let rows: Vec<_> = servers.iter().map(row).collect();
    let rows = table(["NAME", "STATE", "TOOLS", "RUNS"], &rows);
    Lines::paragraphs([rows, troubles(servers, now_ms), left_out(servers)])
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use satchel_core::model::{
        Code, Place, ServerState, Startup,
        snapshot::{During, LastFailure},
    };

    /// A server in this state.
    pub(crate) fn server(name: &str, state: ServerState) -> ServerView {
        ServerView {
            name: name.into(),
            title: None,
            place: Place::Computer,
            enabled: state != ServerState::Off,
            startup: Startup::Lazy,
            state,
            pid: None,
            tools: Some(8),
            tokens: Some(1200),
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
            usage: Default::default(),
        }
    }

    #[test]
    fn tools_that_were_left_out_are_listed_with_the_reason() {
        let skipped = vec!["tool 2 of the list: bad: it has no inputSchema".to_owned()];
        let odd = ServerView { skipped, ..server("odd", ServerState::Asleep) };
        let said = listed(&[odd, server("git", ServerState::Asleep)], 0).to_string();
        assert!(
            said.ends_with("\n\nLeft out of odd: tool 2 of the list: bad: it has no inputSchema"),
            "{said}"
        );
    }

    #[test]
    fn servers_are_listed_with_their_state_in_words() {
        let broken = ServerState::BackingOff {
            code: Code::SpawnNotFound,
            message: "npx was not found".into(),
            cause: None,
            retry_at_ms: 130_000,
            failures: 1,
        };
        let mut unread = server("github", broken);
        unread.tools = None;
        let expected = "\
NAME    STATE                                                    TOOLS  RUNS
git     Asleep                                                   8      npx -y git
github  Did not start: npx was not found · trying again in 0:05  –      npx -y github
web     Off · hidden from clients                                8      npx -y web
key     Asleep; its last start failed 2 min ago: no API key      8      npx -y key
new     Not started yet                                          –      npx -y new

! github: Did not start: npx was not found · trying again in 0:05
  Install the program, or write its correct full path as \"command\".
! key: Asleep; its last start failed 2 min ago: no API key
  Read the last lines of its log, then correct its arguments or environment. `satchel dismiss key` hides this.";
        let mut failed = server("key", ServerState::Asleep);
        failed.last_failure = Some(LastFailure {
            code: Code::ExitedEarly,
            message: "no API key".into(),
            cause: None,
            at_ms: 0,
            during: During::Start,
        });
        let fresh = ServerView { tools: None, fresh: true, ..server("new", ServerState::Asleep) };
        let servers =
            [server("git", ServerState::Asleep), unread, server("web", ServerState::Off), failed, fresh];
        assert_eq!(listed(&servers, 125_000).to_string(), expected);
    }

    #[test]
    fn the_advice_for_a_hosted_server_differs_from_that_for_a_program() {
        let during = During::Start;
        let failure = LastFailure {
            code: Code::HandshakeRefused,
            message: "it redirects".into(),
            cause: None,
            at_ms: 0,
            during,
        };
        let hosted = ServerView {
            place: Place::Hosted,
            last_failure: Some(failure),
            ..server("docs", ServerState::Asleep)
        };
        let listed = listed(&[hosted], 125_000).to_string();
        assert!(listed.contains("Check that its \"url\" is the address of an MCP server."), "{listed}");
    }

    #[test]
    fn without_servers_it_is_said_how_to_get_one() {
        assert!(listed(&[], 0).to_string().contains("satchel add"));
    }
}
