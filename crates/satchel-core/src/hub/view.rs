//! Composes the snapshot that faces render.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, SystemTime},
};

use satchel_entry::template::ProjectUse;

use super::{
    Hub, instances::Instance, pinned_tools, profiles, servers::Registered, sharing::Sharing, state::state,
    usage,
};
use crate::{
    catalog::Offer,
    config::{Config, ConfigError, hidden},
    model::{
        Code, Notice, Place, ServerName, ServerState, ServerView, Snapshot, Startup, TransportConfig, Usage,
        oauth::SignInView,
        server::Share,
        snapshot::{ClientView, InstanceView, ShareView},
    },
    stats::usage::Tree,
    tasks::may_fail_here,
    trust::clean,
};

pub(super) async fn keep_composing(hub: &Hub) {
    loop {
        tokio::select! {
            () = hub.inner.faces.due() => {}
            () = hub.inner.life.end().cancelled() => return,
        }
        may_fail_here("snapshot");
        renew_snapshot(hub);
    }
}

/// Publishes a current snapshot.
pub(super) fn renew_snapshot(hub: &Hub) {
    hub.inner.faces.renew(|| compose(hub));
}

/// Composes a snapshot.
pub(super) fn compose(hub: &Hub) -> Snapshot {
    let servers: Vec<(ServerName, Registered)> =
        hub.servers().iter().map(|(name, server)| (name.clone(), server.clone())).collect();
    let offers = hub.offers().clone();
    let view = hub.view();
    let clients: Vec<ClientView> = view.clients.values().cloned().collect();
    let trees: BTreeMap<ServerName, Tree> = servers
        .iter()
        .filter_map(|(name, server)| {
            Some((name.clone(), hub.inner.faces.measured.tree(server.upstream.seen().pid?)?))
        })
        .collect();
    let avoided = usage::avoided(&clients, trees.values().copied(), SystemTime::now());
    let (config, catalog) = (hub.config(), hub.inner.servers.catalog());
    // Show only what has been published to clients.
    let is_published = |name: &ServerName, server: &Registered| {
        !server.config.enabled || server.held || catalog.offer(name.as_str()).is_some()
    };
    let faults = config.faults().iter().map(|(name, fault)| show_fault(name, fault));
    let mut servers: Vec<ServerView> = servers
        .into_iter()
        .map(|(name, server)| {
            let calls = view.calls.get(&name).copied().unwrap_or(0);
            let offer = offers.get(&name).filter(|_| is_published(&name, &server));
            let offer = offer.map(|offer| &**offer);
            let (held, unseen) = hub.inner.review.standing(&name);
            let not_started = hub.inner.review.not_started(&name);
            let sign_in = hub.inner.around.accounts.view(&name);
            let mut view = ServerView {
                held,
                not_started,
                unseen,
                sign_in,
                share: share(hub, &server),
                ..show(&name, &server, offer, calls, trees.get(&name))
            };
            let most = hub.inner.faces.measured.most(&name);
            view.usage.memory_most_bytes = most.map(|most| most.memory_bytes);
            view.usage.cpu_most_percent = most.map(|most| most.cpu_percent);
            let kept_out = view.sign_in.as_ref().is_some_and(SignInView::keeps_out);
            if kept_out && view.state == ServerState::Asleep && !server.held {
                view.state = ServerState::NeedsSignIn { message: String::new() };
            }
            // It is enabled, but sleeps until a person has reviewed what it would run.
            if server.held && held > 0 && view.enabled && view.state == ServerState::Off {
                view.state = ServerState::Asleep;
            }
            view
        })
        .chain(faults)
        .collect();
    servers.sort_by(|one, other| one.name.cmp(&other.name));
    Snapshot {
        version: hub.inner.faces.snapshot().version,
        endpoint: view.endpoint.clone(),
        notices: view.notices.iter().cloned().chain(invalid_parts(hub, &config)).collect(),
        servers,
        clients,
        avoided,
        ledger: hub.recorder().view(),
        paused: view.paused,
        asks: hub.inner.prompts.waiting_asks(),
        profiles: profiles::view(hub, &config),
        pinned: pinned_tools::view(hub, &config),
        pictures: super::icons::view(hub, config.shows_pictures()),
        listed: super::listings::mark(hub),
    }
}

/// A notice about invalid rules and one about other settings, if any are.
fn invalid_parts(hub: &Hub, config: &Config) -> impl Iterator<Item = Notice> {
    let said = |fault: &ConfigError| {
        let ConfigError { line, column, message } = fault;
        format!("{message} (line {line}, column {column} of {})", hub.places().config_file.display())
    };
    let notice = |(code, faults): (Code, &[ConfigError])| {
        let faults: Vec<String> = faults.iter().map(said).collect();
        (!faults.is_empty()).then(|| Notice::new(code, faults.join("; ")))
    };
    let parts = [(Code::RuleInvalid, config.rule_faults()), (Code::SettingInvalid, config.setting_faults())];
    parts.map(notice).into_iter().flatten()
}

fn show(
    name: &ServerName,
    server: &Registered,
    offer: Option<&Offer>,
    calls: u64,
    tree: Option<&Tree>,
) -> ServerView {
    let seen = server.upstream.seen();
    let config = &server.config;
    ServerView {
        name: name.to_string(),
        title: offer.and_then(|offer| offer.title.as_deref()).map(clean::visible),
        place: place(&config.transport),
        enabled: config.enabled,
        startup: config.startup,
        state: state(&seen, &config.transport),
        pid: seen.pid,
        tools: offer.map(|offer| offer.tools.len()),
        tokens: offer.and_then(|offer| offer.tokens.get().copied()),
        resources: offer.map(|offer| offer.resources.len() + offer.templates.len()),
        prompts: offer.map(|offer| offer.prompts.len()),
        skipped: offer.map(|offer| offer.skipped.clone()).unwrap_or_default(),
        held: 0,
        not_started: None,
        unseen: None,
        runs: runs(&config.transport),
        idle_timeout_seconds: config.idle_timeout.as_secs(),
        sandbox: config.sandbox.clone(),
        starts: seen.starts,
        fresh: seen.starts == 0 && offer.is_none() && seen.last_failure.is_none(),
        last_failure: seen.last_failure.clone(),
        sign_in: None,
        calls,
        wake_ms: median(&seen.wakes),
        share: None,
        usage: Usage {
            processes: tree.map(|tree| tree.processes),
            memory_bytes: tree.map(|tree| tree.memory_bytes),
            cpu_percent: tree.map(|tree| tree.cpu_percent),
            memory_most_bytes: None,
            cpu_most_percent: None,
            restarts: seen.restarts,
            noise: server.upstream.log().noise_count(),
        },
    }
}

/// `None` where all share one instance, as usual.
fn share(hub: &Hub, server: &Registered) -> Option<ShareView> {
    let Sharing { share, chosen, keeps, beside_others: _, project } = server.sharing;
    if share == Share::All && !chosen {
        return None;
    }
    let instance = |instance: &Arc<Instance>| {
        let seen = instance.upstream.seen();
        let tree = seen.pid.and_then(|pid| hub.inner.faces.measured.tree(pid));
        InstanceView {
            number: instance.number,
            client: instance.owner.client().map(|client| client.to_string()),
            folder: instance.owner.folder.as_deref().map(ToOwned::to_owned),
            session: instance.owner.is_session(),
            state: state(&seen, &server.config.transport),
            pid: seen.pid,
            memory_bytes: tree.map(|tree| tree.memory_bytes),
        }
    };
    let instances = server.instances.all().iter().map(instance).collect();
    let (keeps, project) = (keeps.map(|keeps| keeps.words().to_owned()), project != ProjectUse::None);
    Some(ShareView { share, chosen, keeps, project, instances })
}

/// A server with an invalid entry, shown with the reason.
fn show_fault(name: &str, fault: &ConfigError) -> ServerView {
    ServerView {
        name: name.to_owned(),
        title: None,
        place: Place::Computer,
        enabled: true,
        startup: Startup::Manual,
        state: ServerState::Invalid { message: fault.to_string() },
        pid: None,
        tools: None,
        tokens: None,
        resources: None,
        prompts: None,
        skipped: vec![],
        held: 0,
        not_started: None,
        unseen: None,
        runs: String::new(),
        idle_timeout_seconds: 0,
        sandbox: None,
        starts: 0,
        fresh: true,
        last_failure: None,
        sign_in: None,
        calls: 0,
        wake_ms: None,
        share: None,
        usage: Usage::default(),
    }
}

fn place(transport: &TransportConfig) -> Place {
    match transport {
        TransportConfig::Stdio { .. } => Place::Computer,
        TransportConfig::Http { .. } => Place::Hosted,
    }
}

/// As configured, with references instead of secrets. What stands there in plain text is hidden: this is shown, and pasted into
/// reports.
pub(super) fn runs(transport: &TransportConfig) -> String {
    match transport {
        TransportConfig::Http { url, .. } => hidden::address("url", url),
        TransportConfig::Stdio { command, args, .. } => {
            let quote = |word: &String| {
                if word.is_empty() || word.contains(char::is_whitespace) {
                    format!("{word:?}")
                } else {
                    word.clone()
                }
            };
            let args = hidden::arguments(args);
            [command].into_iter().chain(&args).map(quote).collect::<Vec<_>>().join(" ")
        }
    }
}

fn median(wakes: &[Duration]) -> Option<u64> {
    let mut sorted = wakes.to_vec();
    sorted.sort();
    sorted.get(sorted.len() / 2).map(|wake| u64::try_from(wake.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_that_stands_in_an_entry_is_not_shown() {
        let config = Config::parse(
            r#"{"mcpServers": {
                "args": {"command": "notes", "args": ["--db-pass", "argpass-4411", "a b", "${secret:kept}"]},
                "url": {"url": "https://x.example/mcp?key=urlkey-7744abcd&page=2"}
            }}"#,
        )
        .unwrap();
        let shown = |name: &str| runs(&config.servers()[name].transport);
        assert_eq!(shown("args"), "notes --db-pass •••••••• \"a b\" ${secret:kept}");
        assert_eq!(shown("url"), "https://x.example/mcp?key=••••••••&page=2");
    }
}
