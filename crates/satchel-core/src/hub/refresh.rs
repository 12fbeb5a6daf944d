//! Refreshes what servers offer: reads their lists when they connect and when they report a change. Never starts a
//! server; keeps the last known lists when reading fails.

use std::{
    pin::pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use satchel_mcp::RawObject;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    Hub, failures,
    fresh_lists::{self, DEBOUNCE},
    launch, publish,
    servers::Registered,
    sharing, watching,
};
use crate::{
    catalog::{Offer, disk, fetch, versions::Diff},
    model::{
        ServerName,
        audit::AuditKind,
        cause::FailureCause,
        event::HubEvent,
        server::REFRESH_INTERVAL,
        snapshot::{LastFailure, Phase},
    },
    tasks::{kept, may_fail_here},
    trust::clean,
    upstream::{
        Dirty, EndReason, Hello, Link, Reading, Seen, ServerNotification, Upstream,
        breaker::{Breaker, DISCOVERY},
        lifecycle::Failure,
    },
};

/// Maximum pause before reading the lists of a server that changes them constantly.
const SLOWEST: Duration = Duration::from_secs(15);
/// How long tools wait for the other lists before they become available; longer for one that was not declared, because such a
/// question may cost the server, and no call should wait in it then.
const OTHER_LISTS: Duration = Duration::from_secs(5);
const UNDECLARED_LISTS: Duration = Duration::from_secs(2 * fetch::UNDECLARED.as_secs() + 1);
/// The pause after a failure before the lists are read again, unless the breaker requires a longer one.
const AGAIN: Duration = Duration::from_secs(2);
/// How often lists are read again at once because the session expired meanwhile; each attempt is made in a new one.
const SESSIONS: usize = 3;

/// The result of reading lists: those that could not be read, with the last error.
type Read = Result<(), (u8, fetch::ListError)>;

/// Is the server usable? Its lists other than tools are optional.
fn usable(read: &Read) -> Result<(), Failure> {
    match read {
        Err((failed, error)) if failed & Dirty::bit("tools") != 0 => {
            let failure = Failure::new(error.code(), error.to_string());
            Err(Failure { cause: error.cause(), ..failure })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Did only the session expire? The connection goes on with a new one.
fn is_between_sessions(read: &Read) -> bool {
    let cause = read.as_ref().err().and_then(|(_, error)| error.cause());
    matches!(cause.as_deref(), Some(FailureCause::SessionExpired))
}

/// Starts the tasks that follow one server.
pub(super) fn follow(
    hub: &Hub,
    name: &ServerName,
    upstream: &Upstream,
    setup: String,
    end: CancellationToken,
) {
    follow_lists(hub, name, upstream, setup.clone(), end.clone());
    let (hub, name, mut seen) = (hub.clone(), name.clone(), upstream.watch());
    let tracker = hub.inner.life.tracker().clone();
    tracker.spawn(async move {
        let mut known = Outline::default();
        let mut failure = seen.borrow().last_failure.clone();
        loop {
            tokio::select! {
                changed = seen.changed() => if changed.is_err() { return },
                () = end.cancelled() => return,
            }
            let now = Outline::of(&seen.borrow(), hub.servers().get(&name), &known);
            if now.pid.is_some() && known.pid != now.pid {
                hub.inner.faces.measured.woke();
            }
            let before = std::mem::replace(&mut known, now);
            if before == known {
                // Only the number of calls changed, which happens twice for each call.
                hub.inner.faces.counted();
                continue;
            }
            hub.inner.faces.changed();
            let last = seen.borrow().last_failure.clone();
            if failure != last {
                failure.clone_from(&last);
                failures::keep_failure(&hub, &name, &setup, last).await;
            }
            // Callers that needed it have been told why it did not start.
            if hub.inner.review.holds_packages(&name) {
                launch::follow_launch(&hub, &name).await;
            }
            if before.state != known.state {
                let (server, state) = (name.to_string(), known.state.to_owned());
                hub.recorder().events().tell(HubEvent::ServerState { server, state });
            }
        }
    });
}

fn follow_lists(hub: &Hub, name: &ServerName, upstream: &Upstream, setup: String, end: CancellationToken) {
    let reader = ListReader::of(hub, name, upstream, setup);
    hub.inner.life.spawn(async move {
        let reading = kept("reading lists", || {
            // Read again what was being read when it failed.
            reader.upstream.dirty().mark(Dirty::ALL);
            reader.clone().run()
        });
        tokio::select! {
            () = reading => {}
            () = end.cancelled() => {}
        }
    });
}

/// The same for an instance that not all callers share. Its lists are the server's; its failures are its callers' alone.
pub(super) fn follow_instance(
    hub: &Hub,
    name: &ServerName,
    upstream: &Upstream,
    setup: String,
    end: CancellationToken,
) {
    follow_lists(hub, name, upstream, setup, end.clone());
    let (hub, mut seen) = (hub.clone(), upstream.watch());
    let tracker = hub.inner.life.tracker().clone();
    tracker.spawn(async move {
        let mut known = None;
        loop {
            tokio::select! {
                changed = seen.changed() => if changed.is_err() { return },
                () = end.cancelled() => return,
            }
            let pid = seen.borrow().pid;
            if pid.is_some() && pid != known {
                hub.inner.faces.measured.woke();
            }
            known = pid;
            hub.inner.faces.changed();
        }
    });
}

/// The parts of a server's state that are reported at once; the number of calls is not.
#[derive(Debug, Default, PartialEq)]
struct Outline {
    state: &'static str,
    pid: Option<u32>,
    fetches: bool,
    failures: u32,
    starts: u64,
    restarts: u64,
    wakes: usize,
    last_failure: Option<LastFailure>,
}

impl Outline {
    /// `server` is `None` if it was removed or is not registered yet.
    fn of(seen: &Seen, server: Option<&Registered>, before: &Self) -> Self {
        let state = |server: &Registered| super::state::state(seen, &server.config.transport).name();
        Self {
            state: server.map_or(before.state, state),
            pid: seen.pid,
            fetches: seen.phase == Phase::Downloading,
            failures: seen.failures,
            starts: seen.starts,
            restarts: seen.restarts,
            wakes: seen.wakes.len(),
            last_failure: seen.last_failure.clone(),
        }
    }
}

/// Reads a connected server's tools now. If that fails, the previous list remains.
pub(super) async fn read_tools_again(hub: &Hub, name: &ServerName, upstream: &Upstream) {
    let Some((link, hello)) = upstream.seen().connected else { return };
    let setup = hub.offers().get(name).map(|known| known.setup.clone());
    let Some(setup) = setup else { return };
    let reader = ListReader::of(hub, name, upstream, setup);
    upstream.dirty().mark(Dirty::bit("tools"));
    let reading = upstream.dirty().take();
    if let Err((failed, error)) = reader.read(&link, &hello, reading).await {
        upstream.dirty().fail(reading, failed, &error.to_string());
        upstream.log().hub(&format!("could not read its lists: {error}"));
    }
}

#[derive(Clone)]
struct ListReader {
    hub: Hub,
    name: ServerName,
    upstream: Upstream,
    setup: String,
    /// The start after which its list of tools was empty at first.
    emptied: Arc<AtomicU64>,
}

/// When a server whose first list of tools is empty is asked again: one that had tools, and one that says that it has some.
const FILLING: (&[u64], &[u64]) = (&[5], &[2, 5, 15]);

impl ListReader {
    fn of(hub: &Hub, name: &ServerName, upstream: &Upstream, setup: String) -> Self {
        let (hub, name, upstream) = (hub.clone(), name.clone(), upstream.clone());
        Self { hub, name, upstream, setup, emptied: Arc::default() }
    }

    /// Does the known list stay for now, because this first one after a start is empty? Some servers find their tools after they
    /// have said that they are ready, and do not announce them. Then the list is read again.
    fn fills_later(&self, known: Option<&Offer>, now: &Offer, declared: bool) -> bool {
        let starts = self.upstream.seen().starts;
        let had_some = known.is_some_and(|known| !known.tools.is_empty());
        let may_fill = now.tools.is_empty() && (had_some || declared);
        if !may_fill || self.emptied.swap(starts, Ordering::Relaxed) == starts {
            return false;
        }
        if had_some {
            self.upstream
                .log()
                .remark("its first list of tools is empty; the known one stays until it is read again");
        }
        let pauses = if had_some { FILLING.0 } else { FILLING.1 };
        let (upstream, end) = (self.upstream.clone(), self.hub.inner.life.end().clone());
        self.hub.inner.life.spawn(async move {
            for pause in pauses {
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_secs(*pause)) => upstream.dirty().mark(Dirty::bit("tools")),
                    () = end.cancelled() => return,
                }
            }
        });
        had_some
    }

    async fn run(self) {
        let (mut breaker, mut pace) = (Breaker::new(DISCOVERY), Pace::default());
        loop {
            self.marked().await;
            // Marks of a sleeping server remain until its next start.
            let mut seen = self.upstream.watch();
            if seen.wait_for(|seen| seen.connected.is_some()).await.is_err() {
                return;
            }
            if self.hub.offers().contains_key(&self.name) {
                // Calls that arrive meanwhile wait for the lists.
                tokio::select! {
                    () = tokio::time::sleep(pace.pause(Instant::now())) => {}
                    () = self.upstream.dirty().wanted() => {}
                }
            }
            while let Err(pause) = breaker.permit(Instant::now()) {
                tokio::time::sleep(pause).await;
            }
            may_fail_here("lists");
            let Some((link, hello)) = self.upstream.seen().connected else { continue };
            self.read_marked(&link, &hello, &mut breaker, &mut pace).await;
        }
    }

    /// Resolves when a list is to be read: a change was reported, or the refresh interval is over.
    async fn marked(&self) {
        loop {
            tokio::select! {
                () = self.upstream.dirty().marked() => return,
                () = tokio::time::sleep(refresh_interval(&self.hub, &self.name)) => {
                    // Do not start a server for this.
                    if self.upstream.seen().connected.is_some() {
                        self.upstream.dirty().mark(Dirty::ALL);
                    }
                }
            }
        }
    }

    /// Reads the marked lists, and reports the result to calls, clients and the server's state. Returns after a pause
    /// if a list could not be read.
    async fn read_marked(&self, link: &Link, hello: &Hello, breaker: &mut Breaker, pace: &mut Pace) {
        let reading = self.upstream.dirty().take();
        let told = self.upstream.dirty().take_told(reading.lists);
        let read = self.read_in_a_session(link, hello, reading).await;
        pace.read(Instant::now());
        if read.is_ok() {
            self.tell(told);
        }
        // A server that exited is reported elsewhere, and read again after its restart.
        let ends = link.is_ending();
        if !ends {
            self.upstream.lists_read(usable(&read));
        }
        breaker.record(read.is_ok() || ends, Instant::now());
        if let Err((failed, error)) = read {
            // The end is reported elsewhere, and callers continue with the next start.
            if !ends {
                self.upstream.dirty().fail(reading, failed, &error.to_string());
            }
            self.upstream.log().hub(&format!("could not read its lists: {error}"));
            tokio::select! {
                () = tokio::time::sleep(AGAIN), if !ends => self.upstream.dirty().mark(failed),
                _ = link.wait_ended() => {}
            }
        }
    }

    /// Reads, again if the session expires meanwhile, and records how long it took.
    async fn read_in_a_session(&self, link: &Link, hello: &Hello, reading: Reading) -> Read {
        let began = Instant::now();
        let mut read = self.read(link, hello, reading).await;
        for _ in 0..SESSIONS {
            if !is_between_sessions(&read) || link.is_ending() {
                break;
            }
            read = self.read(link, hello, reading).await;
        }
        let error = read
            .as_ref()
            .err()
            .map(|(_, error)| EndReason { message: error.to_string(), cause: error.cause() });
        self.hub.recorder().events().lists_read(&self.name, began.elapsed(), error);
        read
    }

    /// Tells clients that these lists changed.
    fn tell(&self, lists: u8) {
        for list in fetch::LISTS.into_iter().filter(|list| lists & Dirty::bit(list) != 0) {
            let method = format!("notifications/{list}/list_changed").into();
            // There may be no listener.
            let _ = self.hub.inner.around.notifications.send(ServerNotification {
                server: self.name.clone(),
                instance: None,
                method,
                params: None,
            });
        }
    }

    /// Reads the lists in `reading`, or all if none is known. Tools come first and do not wait for the others, which may
    /// fail.
    async fn read(&self, link: &Link, hello: &Hello, reading: Reading) -> Read {
        let lists = reading.lists;
        let known = self.hub.offers().get(&self.name).cloned().filter(|known| known.setup == self.setup);
        let lists = if known.is_some() { lists } else { Dirty::ALL };
        let mut offer = fetch::unread(hello, &self.setup);
        if let Some(known) = known.as_deref() {
            offer = Offer {
                title: offer.title,
                instructions: offer.instructions,
                hello: offer.hello,
                ..known.clone()
            };
            offer.tokens = OnceLock::new();
        }
        let hosted = self.hub.servers().get(&self.name).is_some_and(|known| {
            matches!(known.config.transport, crate::model::TransportConfig::Http { .. })
        });
        let reached = (fresh_lists::discovery_timeout(&self.hub, &self.name), hosted);
        let (mut failed, mut error, mut done) = (0, None, 0);
        for list in fetch::LISTS.into_iter().filter(|list| lists & Dirty::bit(list) != 0) {
            let before = offer.clone();
            let read = {
                let others = if hello.offers(list) { OTHER_LISTS } else { UNDECLARED_LISTS };
                let mut fetching = pin!(fetch::read(link, hello, list, reached, &mut offer));
                match tokio::time::timeout(others, &mut fetching).await {
                    Ok(read) => read,
                    Err(_) => {
                        if list != "tools" {
                            self.install(before.clone()).await;
                            self.upstream.dirty().read(reading, done);
                            done = 0;
                        }
                        fetching.await
                    }
                }
            };
            match read {
                Ok(())
                    if list == "tools"
                        && self.fills_later(known.as_deref(), &offer, hello.offers("tools")) =>
                {
                    offer = Offer {
                        hello: offer.hello,
                        title: offer.title,
                        instructions: offer.instructions,
                        ..before
                    };
                    done |= Dirty::bit(list);
                }
                Ok(()) => done |= Dirty::bit(list),
                // Without tools, nothing is worth showing.
                Err(why) if list == "tools" => {
                    if offer.fragile && !before.fragile {
                        self.install(Offer { fragile: true, ..before }).await;
                    }
                    return Err((lists, why));
                }
                Err(why) => {
                    failed |= Dirty::bit(list);
                    error = Some(why);
                    continue;
                }
            }
            // Callers that wait for this list need not wait for the others.
            if known.is_some() {
                self.install(offer.clone()).await;
                self.upstream.dirty().read(reading, done);
                done = 0;
            }
        }
        self.install(offer).await;
        self.upstream.dirty().read(reading, done);
        error.map_or(Ok(()), |error| Err((failed, error)))
    }

    async fn install(&self, mut offer: Offer) {
        let known = self.hub.offers().get(&self.name).cloned();
        if let Some(known) = known.as_deref() {
            // A list stored by an earlier version does not say since when its tools are known.
            if known.is_same(&offer) && known.versions.cover(&known.tools) {
                return;
            }
            offer.take_counts(known);
        }
        offer.versions = offer.versions.followed_by(&offer.tools, crate::clock::now_ms());
        self.tell_tools(known.as_deref(), &offer);
        self.tell_version(known.as_deref(), &offer);
        for reason in &offer.skipped {
            self.upstream.log().hub(&format!("left out {reason}"));
        }
        let offer = Arc::new(offer);
        install(&self.hub, &self.name, offer.clone()).await;
        keep(&self.hub, &self.name, offer);
    }

    /// Reports the differences between two offers.
    fn tell_tools(&self, before: Option<&Offer>, now: &Offer) {
        let diff = Diff::of(before.map(|before| before.tools.as_slice()).unwrap_or_default(), &now.tools);
        if diff.is_empty() {
            return;
        }
        // The first list is not a change.
        if before.is_some() {
            self.upstream.log().hub(&clean::visible(&format!("its tools changed: {diff}")));
        }
        self.hub.recorder().events().tools_changed(&self.name, &diff);
    }

    /// Reports that a server that runs the newest version has a new one.
    fn tell_version(&self, before: Option<&Offer>, now: &Offer) {
        let version = |offer: &Offer| {
            let info = RawObject::parse(&offer.hello.as_ref()?.server_info).ok()?;
            info.text("version")
        };
        let (Some(before), Some(now)) = (before.and_then(version), version(now)) else { return };
        if before != now {
            let told = clean::visible(&format!("says that it is version {now}; before it was {before}"));
            self.hub.did(AuditKind::Started, "", self.name.as_str(), &*told);
            self.upstream.log().hub(&told);
        }
    }
}

/// The pause before reading changed lists. A server that changes them after every read is read less and less often.
#[derive(Debug, Default)]
struct Pace {
    pause: Duration,
    last: Option<Instant>,
}

impl Pace {
    fn pause(&mut self, now: Instant) -> Duration {
        let restless = self.last.is_some_and(|last| now - last < self.pause.max(DEBOUNCE) * 2);
        self.pause = if restless { (self.pause * 2).clamp(DEBOUNCE, SLOWEST) } else { DEBOUNCE };
        self.pause
    }

    fn read(&mut self, now: Instant) {
        self.last = Some(now);
    }
}

/// Stores an offer for the next start. Tracked, so that a hub that stops right after reading still writes it.
pub(super) fn keep(hub: &Hub, name: &ServerName, offer: Arc<Offer>) {
    let keeping = Keeping { hub: hub.clone(), name: name.clone(), offer };
    hub.inner.life.spawn(async move { keeping.run().await });
}

/// Writes an offer immediately, and again when its tokens are counted.
struct Keeping {
    hub: Hub,
    name: ServerName,
    offer: Arc<Offer>,
}

impl Keeping {
    async fn run(self) {
        self.write().await;
        if self.hub.inner.options.passive {
            return;
        }
        let program = self.hub.inner.options.own_program.clone();
        let counting = async {
            let servers = &self.hub.inner.servers;
            servers.counter.count(&servers.counting, &program, &self.offer, || self.is_newest()).await
        };
        let counted = tokio::select! {
            counted = counting => counted,
            () = self.hub.inner.life.end().cancelled() => return,
        };
        match counted {
            Ok(()) => {
                // The published copy may predate the counts.
                publish::publish_catalog(&self.hub).await;
                self.hub.inner.faces.changed();
                self.write().await;
            }
            Err(error) => tracing::warn!(server = %self.name, %error, "its tools have no token counts"),
        }
    }

    /// Is it still the newest list?
    fn is_newest(&self) -> bool {
        self.hub.offers().get(&self.name).is_some_and(|known| Arc::ptr_eq(known, &self.offer))
    }

    async fn write(&self) {
        if !self.is_newest() {
            return;
        }
        let (path, offer) = (fresh_lists::catalog_file(&self.hub, &self.name), self.offer.clone());
        let written = tokio::task::spawn_blocking(move || disk::write(&path, &offer, true)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(server = %self.name, %error, "cannot keep the tool list");
        }
    }
}

async fn install(hub: &Hub, name: &ServerName, offer: Arc<Offer>) {
    hub.offers().insert(name.clone(), offer.clone());
    share_as_offered(hub, name, &offer);
    publish::publish_catalog(hub).await;
    watching::follow_watched(hub, name);
    hub.inner.faces.changed();
}

/// What a server offers may say that it keeps something open.
fn share_as_offered(hub: &Hub, name: &ServerName, offer: &Offer) {
    let known = hub.servers().get(name).map(|known| (known.sharing, sharing::of(&known.config, Some(offer))));
    let Some((_, now)) = known.filter(|(before, now)| before != now) else { return };
    hub.inner.servers.change(name, |known| known.sharing = now);
    if now.wants_folders() {
        hub.inner.clients.chosen();
    }
    let server = hub.servers().get(name).cloned();
    if let Some((server, keeps)) = server.zip(now.keeps.filter(|_| !now.chosen)) {
        let keeps = keeps.words();
        let log = server.upstream.log();
        log.hub(&format!(
            "each session gets an instance of its own, because its tools say that it keeps {keeps} open"
        ));
    }
}

/// The age at which the lists of a running server are read again.
fn refresh_interval(hub: &Hub, name: &ServerName) -> Duration {
    hub.servers().get(name).map_or(REFRESH_INTERVAL, |known| known.config.refresh_interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_never_rests_is_read_less_and_less_often() {
        let (mut pace, mut now) = (Pace::default(), Instant::now());
        let mut pauses = Vec::new();
        for _ in 0..9 {
            let pause = pace.pause(now);
            pauses.push(pause.as_millis());
            now += pause;
            pace.read(now);
        }
        assert_eq!(pauses, [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
        assert_eq!(pace.pause(now + SLOWEST * 2), DEBOUNCE, "one that rested is read soon");
    }
}
