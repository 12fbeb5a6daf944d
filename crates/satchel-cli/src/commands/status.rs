//! `status`: prints the current state of the hub, its servers and its clients.

use std::{collections::BTreeMap, process::ExitCode};

use satchel_core::{
    files::Places,
    model::{
        ServerView, Snapshot, characters,
        event::{DebugServer, DebugStatus},
        request::{GetDebugStatus, GetStatus},
        server::Share,
        shell,
        snapshot::{ClientView, InstanceView},
    },
};

use super::now_ms;
use crate::{
    output::{Lines, count, counted, say, say_json, shortened, state, table, troubles},
    reach::{self, Reached, reach},
};

pub(crate) async fn run(places: &Places, json: bool) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let pid = match &hub {
        Reached::Running(control) => Some(control.address.pid),
        Reached::Here(_) => None,
    };
    let answer = hub.ask(GetStatus {}).await;
    hub.leave().await;
    let snapshot = answer?;
    match json {
        true => say_json(&snapshot)?,
        false => say(in_words(&snapshot, pid, now_ms())),
    }
    Ok(ExitCode::SUCCESS)
}

/// The hub's internals.
pub(crate) async fn debug(places: &Places, json: bool) -> anyhow::Result<ExitCode> {
    let status: DebugStatus = reach::once(places, GetDebugStatus {}).await?;
    match json {
        true => say_json(&status)?,
        false => say(debug_in_words(&status)),
    }
    Ok(ExitCode::SUCCESS)
}

fn debug_in_words(status: &DebugStatus) -> Lines {
    let counts = |counts: &BTreeMap<String, usize>| {
        counts.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
    };
    let rows: Vec<_> = status.servers.iter().map(debug_row).collect();
    let head = format!(
        "Process {}. Tools by transport: {}. Servers by state: {}. {} more calls may be started at once.",
        status.pid,
        counts(&status.tools_by_transport),
        counts(&status.servers_by_state),
        status.free_calls
    );
    let headings = [
        "SERVER",
        "TRANSPORT",
        "STATE",
        "PID",
        "REVISION",
        "TOOLS",
        "STARTS",
        "LISTS READ",
        "FAILED",
        "LAST ERROR",
    ];
    Lines::paragraphs([head.into(), table(headings, &rows)])
}

fn debug_row(server: &DebugServer) -> [String; 10] {
    let discovery = &server.discovery;
    [
        server.name.clone(),
        server.transport.clone(),
        server.state.clone(),
        count(server.pid.map(|pid| pid as usize)),
        server.revision.clone().unwrap_or_else(|| "–".into()),
        count(server.tools),
        format!("{} ({} after failures)", server.starts, server.restarts),
        match discovery.last_took_ms {
            Some(took) => format!("{}, last in {took} ms", discovery.completed),
            None => discovery.completed.to_string(),
        },
        discovery.failed.to_string(),
        shortened(discovery.last_error.as_deref().unwrap_or("–"), 60),
    ]
}

fn in_words(snapshot: &Snapshot, pid: Option<u32>, now_ms: u64) -> Lines {
    let mut parts: Vec<Lines> = vec![match (&snapshot.endpoint, pid) {
        (Some(url), Some(pid)) => format!("The hub listens at {url} (process {pid}).").into(),
        (None, Some(pid)) => format!("The hub is running (process {pid}) but not listening.").into(),
        (_, None) => "No hub is running. Start one with `satchel serve`.".into(),
    }];
    parts.extend(snapshot.profiles.active.iter().map(|name| format!("Profile: {name}.").into()));
    parts.extend(
        snapshot
            .notices
            .iter()
            .map(|notice| Lines::line(format!("! {}", notice.message)).and(format!("  {}", notice.action))),
    );
    if !snapshot.servers.is_empty() {
        let rows: Vec<_> = snapshot.servers.iter().flat_map(|server| server_rows(server, now_ms)).collect();
        parts.push(table(["SERVER", "STATE", "PID", "TOOLS", "TOKENS", "CALLS", "MEMORY"], &rows));
    }
    parts.push(troubles(&snapshot.servers, now_ms));
    parts.extend(snapshot.servers.iter().filter_map(shared_by));
    if !snapshot.clients.is_empty() {
        let rows: Vec<_> = snapshot.clients.iter().map(|client| client_row(client, now_ms)).collect();
        parts.push(table(["CLIENT", "REQUESTS", "LAST SEEN", "LAST CALL"], &rows));
    }
    let avoided = &snapshot.avoided;
    if avoided.processes > 0 {
        parts.push(
            format!(
                "Sharing saves {} and {} now, with {}.",
                counted(avoided.processes as u64, "process", "processes"),
                megabytes(avoided.memory_bytes),
                counted(avoided.clients as u64, "client", "clients")
            )
            .into(),
        );
    }
    Lines::paragraphs(parts)
}

/// A server's row, and one below it for each instance that not all share.
fn server_rows(server: &ServerView, now_ms: u64) -> Vec<[String; 7]> {
    let instances = server.share.iter().flat_map(|share| &share.instances);
    let row = |instance: &InstanceView| {
        let none = || count(None);
        [
            format!("└ {}", characters::spelled(&instance.whose())),
            instance.state.sentence(server.place, now_ms),
            count(instance.pid.map(|pid| pid as usize)),
            none(),
            none(),
            none(),
            instance.memory_bytes.map_or_else(none, megabytes),
        ]
    };
    [server_row(server, now_ms)].into_iter().chain(instances.map(row)).collect()
}

/// Who shares an instance of a server, where that is not simply all.
fn shared_by(server: &ServerView) -> Option<Lines> {
    let share = server.share.as_ref()?;
    let (name, word) = (characters::spelled(&server.name), shell::word(&server.name));
    let other = if share.share == Share::All || share.project { "session" } else { "all" };
    Some(format!("{name}: {}. `satchel share {word} {other}` changes that.", share.sentence()).into())
}

fn server_row(server: &ServerView, now_ms: u64) -> [String; 7] {
    [
        characters::spelled(&server.name),
        state(server, now_ms),
        count(server.pid.map(|pid| pid as usize)),
        count(server.tools),
        count(server.tokens),
        server.calls.to_string(),
        server.usage.memory_bytes.map_or_else(|| count(None), megabytes),
    ]
}

pub(super) fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1024 * 1024))
}

fn client_row(client: &ClientView, now_ms: u64) -> [String; 4] {
    let last_call = client.last_call.clone().unwrap_or_else(|| "–".into());
    [client.id.clone(), client.requests.to_string(), ago(client.last_seen_ms, now_ms), last_call]
}

fn ago(then_ms: u64, now_ms: u64) -> String {
    match now_ms.saturating_sub(then_ms) / 1000 {
        seconds @ ..60 => format!("{seconds} s ago"),
        seconds @ 60..3600 => format!("{} min ago", seconds / 60),
        seconds => format!("{} h ago", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::servers::tests::server;
    use satchel_core::model::{Code, Notice, ServerState, profiles::ProfilesView, snapshot::Avoided};

    #[test]
    fn a_running_hub_is_told_with_everything_it_knows() {
        let mut ready = server("git", ServerState::Ready { in_flight: 1, sleeps_at_ms: None });
        ready.pid = Some(4711);
        ready.usage.memory_bytes = Some(62_000_000);
        let client = ClientView {
            id: "cursor".into(),
            requests: 12,
            last_call: Some("git:log".into()),
            last_seen_ms: 1_000,
        };
        let snapshot = Snapshot {
            version: 3,
            endpoint: Some("http://127.0.0.1:7411/mcp".into()),
            notices: vec![Notice::new(Code::PortTaken, "Port 7411 was taken.")],
            servers: vec![ready],
            clients: vec![client],
            avoided: Avoided { clients: 4, processes: 3, memory_bytes: 180 << 20, formula: String::new() },
            ledger: Default::default(),
            paused: None,
            asks: vec![],
            profiles: ProfilesView { active: Some("writing".into()), ..ProfilesView::default() },
            pinned: vec![],
            pictures: satchel_core::model::snapshot::PicturesView::default(),
            listed: 0,
        };
        let expected = "\
The hub listens at http://127.0.0.1:7411/mcp (process 99).

Profile: writing.

! Port 7411 was taken.
  Connect clients again with the new address, or free the port and restart.

SERVER  STATE             PID   TOOLS  TOKENS  CALLS  MEMORY
git     Running · 1 call  4711  8      1200    0      60 MB

CLIENT  REQUESTS  LAST SEEN  LAST CALL
cursor  12        2 min ago  git:log

Sharing saves 3 processes and 180 MB now, with 4 clients.";
        assert_eq!(in_words(&snapshot, Some(99), 125_000).to_string(), expected);
    }

    #[test]
    fn without_a_hub_it_is_said_how_to_start_one() {
        assert!(in_words(&Snapshot::default(), None, 0).to_string().contains("satchel serve"));
    }
}
