//! Composes the snapshot that faces render.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use tokio::time::Instant;

use super::{Hub, profiles, registry::Registered, usage};
use crate::{
    catalog::Offer,
    clock::epoch_ms,
    config::{ConfigError, expand::Template},
    model::{
        Code, Notice, Paused, Place, ServerName, ServerState, ServerView, Snapshot, Startup, TransportConfig,
        Usage, oauth::SignInView, snapshot::ClientView,
    },
    stats::usage::Tree,
    tasks::may_fail_here,
    trust::clean,
    upstream::{Seen, lifecycle::State},
};

/// What is not anybody else's to remember.
#[derive(Debug, Default)]
pub(super) struct Live {
    pub(super) endpoint: Option<String>,
    pub(super) notices: Vec<Notice>,
    pub(super) paused: Option<Paused>,
    clients: BTreeMap<String, ClientView>,
    calls: BTreeMap<ServerName, u64>,
}

impl Live {
    pub(super) fn called(&mut self, server: &ServerName) {
        *self.calls.entry(server.clone()).or_default() += 1;
    }

    pub(super) fn clients(&self) -> Vec<ClientView> {
        self.clients.values().cloned().collect()
    }

    pub(super) fn client_seen(&mut self, client: &str, call: Option<&str>) {
        let view = self.clients.entry(client.to_owned()).or_insert_with(|| ClientView {
            id: client.to_owned(),
            requests: 0,
            last_call: None,
            last_seen_ms: 0,
        });
        view.last_seen_ms = epoch_ms(SystemTime::now());
        match call {
            Some(call) => view.last_call = Some(call.to_owned()),
            None => view.requests += 1,
        }
    }
}

impl Hub {
    pub(super) async fn keep_composing(&self) {
        loop {
            tokio::select! {
                () = self.inner.faces.due() => {}
                () = self.inner.life.end().cancelled() => return,
            }
            may_fail_here("snapshot");
            self.renew_snapshot();
        }
    }

    /// Shows what is known now.
    pub(super) fn renew_snapshot(&self) {
        self.inner.faces.renew(|| self.compose());
    }

    /// The snapshot as of now.
    pub(super) fn compose(&self) -> Snapshot {
        let servers: Vec<(ServerName, Registered)> =
            self.servers().iter().map(|(name, server)| (name.clone(), server.clone())).collect();
        let offers = self.offers().clone();
        let view = self.view();
        let clients: Vec<ClientView> = view.clients.values().cloned().collect();
        let trees: BTreeMap<ServerName, Tree> = servers
            .iter()
            .filter_map(|(name, server)| {
                Some((name.clone(), self.inner.faces.measured.tree(server.upstream.seen().pid?)?))
            })
            .collect();
        let avoided = usage::avoided(&clients, trees.values().copied(), SystemTime::now());
        let (config, catalog) = (self.config(), self.inner.servers.catalog());
        // What clients are to see is shown when they see it.
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
                let (held, unseen) = self.inner.review.standing(&name);
                let not_started = self.inner.review.not_started(&name);
                let sign_in = self.inner.around.accounts.view(&name);
                let mut view = ServerView {
                    held,
                    not_started,
                    unseen,
                    sign_in,
                    ..show(&name, &server, offer, calls, trees.get(&name))
                };
                let most = self.inner.faces.measured.most(&name);
                view.usage.memory_most_bytes = most.map(|most| most.memory_bytes);
                view.usage.cpu_most_percent = most.map(|most| most.cpu_percent);
                let kept_out = view.sign_in.as_ref().is_some_and(SignInView::keeps_out);
                if kept_out && view.state == ServerState::Asleep && !server.held {
                    view.state = ServerState::NeedsSignIn { message: String::new() };
                }
                // It is not switched off: it sleeps until a person has looked at what it would run.
                if server.held && held > 0 && view.enabled && view.state == ServerState::Off {
                    view.state = ServerState::Asleep;
                }
                view
            })
            .chain(faults)
            .collect();
        servers.sort_by(|one, other| one.name.cmp(&other.name));
        Snapshot {
            version: self.inner.faces.snapshot().version,
            endpoint: view.endpoint.clone(),
            notices: view.notices.clone(),
            servers,
            clients,
            avoided,
            ledger: self.recorder().view(),
            paused: view.paused,
            asks: self.inner.prompts.waiting_asks(),
            profiles: profiles::view(self, &config),
        }
    }
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

/// An entry that cannot be used: there, with its reason.
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
        usage: Usage::default(),
    }
}

fn place(transport: &TransportConfig) -> Place {
    match transport {
        TransportConfig::Stdio { .. } => Place::Computer,
        TransportConfig::Http { .. } => Place::Hosted,
    }
}

/// As configured: references stand where secrets will be.
fn runs(transport: &TransportConfig) -> String {
    match transport {
        TransportConfig::Http { url, .. } => url.clone(),
        TransportConfig::Stdio { command, args, .. } => {
            let quote = |word: &String| {
                if word.is_empty() || word.contains(char::is_whitespace) {
                    format!("{word:?}")
                } else {
                    word.clone()
                }
            };
            [command].into_iter().chain(args).map(quote).collect::<Vec<_>>().join(" ")
        }
    }
}

pub(super) fn state(seen: &Seen, transport: &TransportConfig) -> ServerState {
    if let Some((code, message)) = unwelcome(seen) {
        return ServerState::NeedsCredential { names: vec![], variables: vec![], code, message };
    }
    match &seen.state {
        State::Off => ServerState::Off,
        State::Asleep => ServerState::Asleep,
        State::Starting { since, .. } => ServerState::Starting { since_ms: at_ms(*since), phase: seen.phase },
        State::Ready { leases, .. } => {
            ServerState::Ready { in_flight: *leases, sleeps_at_ms: seen.sleeps_at.map(at_ms) }
        }
        State::Stopping { .. } => ServerState::Stopping,
        State::BackingOff { until, failure, .. } => ServerState::BackingOff {
            code: failure.code,
            message: failure.message.clone(),
            retry_at_ms: at_ms(*until),
            failures: seen.failures,
        },
        State::Broken { until, failure } => ServerState::Broken {
            code: failure.code,
            message: failure.message.clone(),
            retry_at_ms: at_ms(*until),
            failures: seen.failures,
        },
        State::NeedsCredential { failure } if failure.code.is_sign_in() => {
            ServerState::NeedsSignIn { message: failure.message.clone() }
        }
        State::NeedsCredential { failure } => {
            let unset = failure.code == Code::NeedsCredential;
            ServerState::NeedsCredential {
                names: failure.missing.clone(),
                variables: variables(&failure.missing, transport),
                code: failure.code,
                message: if unset { String::new() } else { failure.message.clone() },
            }
        }
    }
}

/// What a hosted server said that wants a sign-in or another credential. Trying again does not help there.
fn unwelcome(seen: &Seen) -> Option<(Code, String)> {
    let (code, message) = match &seen.state {
        State::Asleep => seen.last_failure.as_ref().map(|failure| (failure.code, &failure.message))?,
        State::BackingOff { failure, .. } | State::Broken { failure, .. } => (failure.code, &failure.message),
        State::Off
        | State::Starting { .. }
        | State::Ready { .. }
        | State::Stopping { .. }
        | State::NeedsCredential { .. } => return None,
    };
    matches!(code, Code::Http401 | Code::Http403).then(|| (code, message.clone()))
}

/// Those of the missing names that no secret has.
pub(super) fn variables(missing: &[String], transport: &TransportConfig) -> Vec<String> {
    let templates: Vec<Template> = transport.texts().map(Template::parse).collect();
    let secret =
        |name: &&String| templates.iter().flat_map(Template::secrets).any(|secret| secret == name.as_str());
    missing.iter().filter(|name| !secret(name)).cloned().collect()
}

/// A moment as faces count it, rounded so that composing twice gives the same value.
fn at_ms(moment: Instant) -> u64 {
    let (now, system) = (Instant::now(), SystemTime::now());
    let at = if moment >= now { system + (moment - now) } else { system - (now - moment) };
    (epoch_ms(at) + 50) / 100 * 100
}

fn median(wakes: &[Duration]) -> Option<u64> {
    let mut sorted = wakes.to_vec();
    sorted.sort();
    sorted.get(sorted.len() / 2).map(|wake| u64::try_from(wake.as_millis()).unwrap_or(u64::MAX))
}
