//! Sessions of legacy clients: opened by `initialize`, named by `Mcp-Session-Id`, ended by DELETE or disuse. One that its
//! client has not ended is opened again when the client uses it ([`crate::kept_sessions`]).

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use satchel_core::{
    bridge::Caller,
    config::profiles::Lens,
    hub::{Hub, Scope, Watched},
    model::ServerName,
    stats::event::Visit,
};
use satchel_mcp::{ErrorObject, Id, Message, Raw, RawObject, era::Era};
use tokio::{sync::oneshot, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    http::Place,
    kept_sessions::{KeptSession, RecordKeeper},
    meta, observe,
    roots::Standing,
    stream::Outlet,
    surface::Surface,
};

/// Maximum number of sessions of one client. Another one replaces its oldest idle one; other clients' sessions are not
/// affected.
pub(crate) const PER_CLIENT: usize = 128;
/// Idle timeout of a session.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// Number of resumable response streams.
const STREAMS: usize = 32;
/// Maximum number of watched resources of one session.
const WATCHED: usize = 256;

/// The answer to a question to the client.
pub(crate) type Outcome = Result<Box<Raw>, ErrorObject>;

/// One session.
#[derive(Debug)]
pub(crate) struct Session {
    /// Its owner; no other client can use it.
    pub(crate) client: Arc<str>,
    /// The negotiated revision.
    pub(crate) era: Era,
    /// Its surface depends on the client, and may change.
    pub(crate) usual: bool,
    surface: Mutex<Surface>,
    /// Its scope.
    pub(crate) scope: Scope,
    /// What tool descriptions say about servers.
    menu: Mutex<Menu>,
    /// The state of asking for its roots.
    pub(crate) roots: Standing,
    /// The stream for unsolicited messages.
    pub(crate) notifications: Arc<Outlet>,
    /// Responses use the notification stream too: the transport of 2024-11-05.
    pub(crate) one_stream: bool,
    /// Cancelled when it ends.
    pub(crate) ended: CancellationToken,
    /// Notifications are being forwarded.
    pub(crate) follows: AtomicBool,
    /// Its identity in the ledger, as long as its view stays the same.
    visit: Mutex<Option<Arc<Visit>>>,
    capabilities: Arc<RawObject>,
    info: Option<Arc<Raw>>,
    log_from: AtomicU8,
    asks_logs: AtomicBool,
    running: Mutex<HashMap<Id, (u64, CancellationToken)>>,
    /// Number of requests without a response.
    in_flight: AtomicUsize,
    streams: Mutex<VecDeque<Arc<Outlet>>>,
    questions: Mutex<HashMap<Id, oneshot::Sender<Outcome>>>,
    watched: Mutex<HashMap<(ServerName, String), Watched>>,
    counted: AtomicU64,
    /// Keeps what has to survive the hub.
    keeper: OnceLock<RecordKeeper>,
}

/// What tool descriptions say about servers, fixed when a session opens or its profiles change, so that descriptions
/// do not change during the session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Menu {
    lens: Lens,
    servers: Vec<String>,
}

impl Menu {
    /// As visible through this handle.
    pub(crate) fn of(hub: &Hub) -> Self {
        Self { lens: hub.lens(), servers: meta::menu::servers(hub) }
    }
}

impl Session {
    pub(crate) fn new(
        client: String,
        era: Era,
        Place { surface, usual, scope }: Place,
        menu: Menu,
        hello: &RawObject,
        one_stream: bool,
    ) -> Self {
        scope.begin_session(false);
        let capabilities = hello.get("capabilities").and_then(|raw| RawObject::parse(raw).ok());
        let info = hello.get("clientInfo").map(|raw| Arc::from(raw.to_owned()));
        Self {
            client: client.into(),
            era,
            usual,
            surface: Mutex::new(surface),
            scope,
            menu: Mutex::new(menu),
            roots: Standing::default(),
            notifications: Outlet::new(0),
            one_stream,
            ended: CancellationToken::new(),
            follows: AtomicBool::new(false),
            visit: Mutex::default(),
            capabilities: Arc::new(capabilities.unwrap_or_default()),
            info,
            log_from: AtomicU8::new(0),
            asks_logs: AtomicBool::new(false),
            running: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            streams: Mutex::default(),
            questions: Mutex::default(),
            watched: Mutex::default(),
            counted: AtomicU64::new(1),
            keeper: OnceLock::new(),
        }
    }

    /// Opens a session again as it was.
    pub(crate) fn again(kept: &KeptSession, client: &str, era: Era, place: Place, menu: Menu) -> Self {
        place.scope.begin_session(true);
        let mut hello = RawObject::new();
        for (key, value) in [("capabilities", &kept.capabilities), ("clientInfo", &kept.info)] {
            if let Some(value) = value {
                hello.set(key, value.clone());
            }
        }
        let session = Self::new(client.to_owned(), era, place, menu, &hello, false);
        if let Some(from) = kept.log_from {
            session.heed_logs(from);
        }
        session
    }

    /// What it takes to open it again.
    pub(crate) fn record(&self, place: String) -> KeptSession {
        let mut kept = KeptSession::new(&self.client, self.era, place);
        kept.capabilities = Some(self.capabilities.to_raw());
        kept.info = self.info.as_deref().map(ToOwned::to_owned);
        kept
    }

    /// From now on, changes are kept.
    pub(crate) fn keep_with(&self, keeper: RecordKeeper) {
        let _ = self.keeper.set(keeper);
    }

    fn keep(&self, change: impl FnOnce(&mut KeptSession)) {
        if let Some(keeper) = self.keeper.get() {
            keeper.change(change);
        }
    }

    /// Replaces a session after `initialize`, if its stream existed before.
    pub(crate) fn in_place_of(mut self, before: &Self) -> Self {
        self.notifications = before.notifications.clone();
        self.ended = before.ended.clone();
        self
    }

    /// The hub from this client's view.
    pub(crate) fn hub(&self, hub: &Hub) -> Hub {
        hub.seen_by(&self.client).within(&self.scope)
    }

    /// The servers listed in the meta-tools' descriptions.
    pub(crate) fn servers(&self, hub: &Hub) -> Vec<String> {
        if lock(&self.menu).lens != hub.lens() {
            let menu = Menu::of(hub);
            *lock(&self.menu) = menu;
        }
        lock(&self.menu).servers.clone()
    }

    /// The caller of its calls.
    pub(crate) fn caller(&self) -> Caller {
        // A single server's surface receives the server's log messages; meta-tools receive none.
        let hears = !self.surface().is_ours();
        Caller {
            client: self.client.clone(),
            info: self.info.clone(),
            capabilities: self.capabilities.clone(),
            era: self.era,
            log_from: hears.then(|| self.log_from.load(Ordering::Relaxed)),
            asks_logs: self.asks_logs.load(Ordering::Relaxed),
        }
    }

    /// Its identity in the ledger.
    pub(crate) fn visit(&self, hub: &Hub) -> Arc<Visit> {
        let begin = || observe::visit(hub, &self.caller(), &self.surface());
        lock(&self.visit).get_or_insert_with(begin).clone()
    }

    /// Its present surface.
    pub(crate) fn surface(&self) -> Surface {
        lock(&self.surface).clone()
    }

    /// Looks up its client's surface.
    pub(crate) fn look(&self, hub: &Hub) -> Surface {
        if !self.usual {
            return self.surface();
        }
        self.sees(Surface::usual(hub, &self.client))
    }

    /// The same for a request there, which may have looked it up already.
    pub(crate) fn look_at(&self, hub: &Hub, place: &Place) -> Surface {
        match self.usual && place.usual {
            true => self.sees(place.surface.clone()),
            false => self.look(hub),
        }
    }

    fn sees(&self, now: Surface) -> Surface {
        let before = std::mem::replace(&mut *lock(&self.surface), now.clone());
        if before != now {
            // Its view changed, and with it the cost.
            lock(&self.visit).take();
        }
        now
    }

    /// Sets the lowest severity of log messages.
    pub(crate) fn set_log_level(&self, from: u8) {
        self.heed_logs(from);
        self.keep(|kept| kept.log_from = Some(from));
    }

    fn heed_logs(&self, from: u8) {
        self.log_from.store(from, Ordering::Relaxed);
        self.asks_logs.store(true, Ordering::Relaxed);
    }

    /// Opens a stream for one response and what precedes it.
    pub(crate) fn open_stream(&self) -> Arc<Outlet> {
        if self.one_stream {
            return self.notifications.clone();
        }
        let outlet = Outlet::new(self.counted.fetch_add(1, Ordering::Relaxed));
        let mut streams = lock(&self.streams);
        if streams.len() == STREAMS {
            streams.pop_front();
        }
        streams.push_back(outlet.clone());
        outlet
    }

    /// The stream of this number, if it is still available.
    pub(crate) fn stream(&self, number: u64) -> Option<Arc<Outlet>> {
        if number == 0 {
            return Some(self.notifications.clone());
        }
        lock(&self.streams).iter().find(|outlet| outlet.number == number).cloned()
    }

    /// A request to the client, and where its answer will arrive.
    pub(crate) fn ask(
        self: &Arc<Self>,
        method: &str,
        params: Option<Box<Raw>>,
    ) -> (Message, PendingQuestion) {
        let id = Id::Text(format!("satchel-{}", self.counted.fetch_add(1, Ordering::Relaxed)));
        let (answer, answered) = oneshot::channel();
        lock(&self.questions).insert(id.clone(), answer);
        let message = Message::Request { id: id.clone(), method: method.to_owned(), params };
        (message, PendingQuestion { session: self.clone(), id, answered })
    }

    /// Handles the client's answer to a request.
    pub(crate) fn answered(&self, id: Option<&Id>, outcome: Outcome) {
        let waiting = id.and_then(|id| lock(&self.questions).remove(id));
        if let Some(waiting) = waiting {
            // The call may be over.
            let _ = waiting.send(outcome);
        }
    }

    /// Subscribes to changes of a resource.
    ///
    /// # Errors
    /// If it has too many subscriptions.
    pub(crate) fn watch(&self, watched: Watched) -> Result<(), String> {
        let (server, uri) = watched.resource();
        let key = (server.clone(), uri.to_owned());
        let mut all = lock(&self.watched);
        if all.len() >= WATCHED && !all.contains_key(&key) {
            return Err(format!("at most {WATCHED} resources can be subscribed to"));
        }
        all.insert(key.clone(), watched);
        drop(all);
        self.keep(|kept| {
            kept.watched.insert(key);
        });
        Ok(())
    }

    /// Is it subscribed to this resource?
    pub(crate) fn watches(&self, server: &ServerName, uri: &str) -> bool {
        lock(&self.watched).contains_key(&(server.clone(), uri.to_owned()))
    }

    /// Unsubscribes from a resource.
    pub(crate) fn unwatch(&self, server: &ServerName, uri: &str) {
        let key = (server.clone(), uri.to_owned());
        let gone = lock(&self.watched).remove(&key);
        drop(gone);
        self.keep(|kept| {
            kept.watched.remove(&key);
        });
    }

    /// Unsubscribes from resources that are no longer visible.
    pub(crate) fn unwatch_hidden(&self, hub: &Hub) {
        let is_hidden = |(server, _): &(ServerName, String)| !hub.shows(server.as_str());
        let hidden: Vec<_> = lock(&self.watched).keys().filter(|key| is_hidden(key)).cloned().collect();
        hidden.iter().for_each(|(server, uri)| self.unwatch(server, uri));
    }

    /// Unsubscribes from everything, because its stream was abandoned.
    pub(crate) fn unwatch_all(&self) {
        let gone = std::mem::take(&mut *lock(&self.watched));
        drop(gone);
    }

    /// Ends what belongs to it.
    fn end(&self) {
        self.ended.cancel();
        self.scope.end_session();
        self.running().values().for_each(|(_, request)| request.cancel());
        lock(&self.watched).clear();
        lock(&self.questions).clear();
    }

    /// Registers a request, so that it can be cancelled, until the guard is dropped. `None` if one with the same id is
    /// running, because a cancellation or an answer would be ambiguous.
    pub(crate) fn begin(self: &Arc<Self>, id: &Id) -> Option<InFlight> {
        let number = self.counted.fetch_add(1, Ordering::Relaxed);
        // One that may take the place of another has its requests as well.
        let cancelled = if self.one_stream { self.ended.child_token() } else { CancellationToken::new() };
        let mut running = self.running();
        if running.contains_key(id) {
            return None;
        }
        running.insert(id.clone(), (number, cancelled.clone()));
        // Those that run are cancelled after it has ended.
        if self.ended.is_cancelled() {
            cancelled.cancel();
        }
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        Some(InFlight { session: self.clone(), id: id.clone(), number, cancelled })
    }

    /// Does one of its requests wait for a response?
    fn is_busy(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) > 0
    }

    /// Cancels a request.
    pub(crate) fn cancel(&self, id: &Id) {
        if let Some((_, running)) = self.running().remove(id) {
            running.cancel();
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<Id, (u64, CancellationToken)>> {
        self.running.lock()
    }
}

/// A question to the client. Dropping it withdraws it.
#[derive(Debug)]
pub(crate) struct PendingQuestion {
    session: Arc<Session>,
    id: Id,
    answered: oneshot::Receiver<Outcome>,
}

impl PendingQuestion {
    /// The answer; `None` if the session ended.
    pub(crate) async fn answer(mut self) -> Option<Outcome> {
        (&mut self.answered).await.ok()
    }
}

impl Drop for PendingQuestion {
    fn drop(&mut self) {
        lock(&self.session.questions).remove(&self.id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

/// A running request.
#[derive(Debug)]
pub(crate) struct InFlight {
    session: Arc<Session>,
    id: Id,
    number: u64,
    /// Cancelled when the client cancels the request.
    pub(crate) cancelled: CancellationToken,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut running = self.session.running();
        // After a cancellation the id may be reused.
        if running.get(&self.id).is_some_and(|(number, _)| *number == self.number) {
            running.remove(&self.id);
        }
        self.session.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why a session was not opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    /// All of the client's sessions have calls in flight.
    #[error("this client has {PER_CLIENT} sessions with calls in flight; open more when some are answered")]
    Busy,
    /// No random id is available.
    #[error("cannot open a session: {0}")]
    Random(#[from] getrandom::Error),
}

/// All sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<String, (Arc<Session>, Instant)>>,
}

impl Sessions {
    /// Opens a session and returns its id.
    ///
    /// # Errors
    /// [`OpenError`] if its client has the maximum number, and all are busy.
    pub(crate) fn open(&self, session: Session) -> Result<String, OpenError> {
        let mut random = [0u8; 24];
        getrandom::fill(&mut random)?;
        let id = URL_SAFE_NO_PAD.encode(random);
        self.open_as(&id, session)?;
        Ok(id)
    }

    /// Opens a session with an id that it had before. If another request has done so, returns that session, and false.
    ///
    /// # Errors
    /// [`OpenError::Busy`] if its client has the maximum number, and all are busy.
    pub(crate) fn open_as(&self, id: &str, session: Session) -> Result<(Arc<Session>, bool), OpenError> {
        let mut open = self.lock();
        let now = Instant::now();
        open.retain(|_, (session, used)| {
            let fresh = now - *used < IDLE || session.is_busy();
            if !fresh {
                session.end();
            }
            fresh
        });
        if let Some((known, _)) = open.get(id) {
            return Ok((known.clone(), false));
        }
        if open.values().filter(|(other, _)| other.client == session.client).count() >= PER_CLIENT {
            let oldest = first_to_go(&open, &session.client).ok_or(OpenError::Busy)?;
            if let Some((oldest, _)) = open.remove(&oldest) {
                oldest.end();
            }
        }
        let session = Arc::new(session);
        open.insert(id.to_owned(), (session.clone(), now));
        Ok((session, true))
    }

    /// The session of that id, if it belongs to this client.
    pub(crate) fn get(&self, id: &str, client: &str) -> Option<Arc<Session>> {
        let mut open = self.lock();
        let (session, used) = open.get_mut(id)?;
        if *session.client != *client || used.elapsed() >= IDLE {
            return None;
        }
        *used = Instant::now();
        session.scope.heard();
        Some(session.clone())
    }

    /// Replaces the session of that id, if it still exists.
    pub(crate) fn replace(&self, id: &str, session: Session) {
        if let Some((known, used)) = self.lock().get_mut(id) {
            *known = Arc::new(session);
            *used = Instant::now();
        }
    }

    /// Ends a session; false if this client has none of that id.
    pub(crate) fn close(&self, id: &str, client: &str) -> bool {
        let mut open = self.lock();
        if open.get(id).is_none_or(|(session, _)| *session.client != *client) {
            return false;
        }
        if let Some((session, _)) = open.remove(id) {
            session.end();
        }
        true
    }

    /// Ends all of them.
    pub(crate) fn close_all(&self) {
        for (_, (session, _)) in self.lock().drain() {
            session.end();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (Arc<Session>, Instant)>> {
        self.open.lock()
    }
}

/// The client's session to replace: idle, without a listener if possible, and unused for longest.
fn first_to_go(open: &HashMap<String, (Arc<Session>, Instant)>, client: &str) -> Option<String> {
    let idle = open.iter().filter(|(_, (session, _))| *session.client == *client && !session.is_busy());
    idle.min_by_key(|(_, (session, used))| (session.notifications.is_read(), *used)).map(|(id, _)| id.clone())
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    fn session(client: &str) -> Session {
        let place = Place { surface: Surface::Router, usual: false, scope: Scope::default() };
        Session::new(client.into(), Era::SESSION, place, Menu::default(), &RawObject::new(), false)
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_is_its_clients_alone_and_ends_by_disuse() {
        let sessions = Sessions::default();
        let id = sessions.open(session("a")).unwrap();
        assert!(sessions.get(&id, "b").is_none() && !sessions.close(&id, "b"));
        tokio::time::advance(IDLE - Duration::from_secs(1)).await;
        assert!(sessions.get(&id, "a").is_some());
        tokio::time::advance(IDLE).await;
        assert!(sessions.get(&id, "a").is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_would_hang_is_told_of_no_changed_list() {
        for (client, told) in [("semantic-kernel", 0), ("agent", 1)] {
            let session = session(client);
            crate::notifications::tell_changed(&session, "tools");
            session.notifications.end();
            let pieces = session.notifications.read(None, vec![]).collect::<Vec<_>>().await;
            let notified =
                |piece: &axum::body::Bytes| String::from_utf8_lossy(piece).contains("tools/list_changed");
            let count = pieces.into_iter().map(|Ok(piece)| piece).filter(notified).count();
            assert_eq!(count, told, "{client}");
        }
    }

    #[tokio::test]
    async fn an_id_means_one_request_at_a_time() {
        let (session, id) = (Arc::new(session("a")), Id::from(7));
        let first = session.begin(&id).unwrap();
        assert!(session.begin(&id).is_none(), "while the first one runs");
        assert!(session.begin(&Id::Text("7".into())).is_some(), "which is another id");
        session.cancel(&id);
        assert!(first.cancelled.is_cancelled());
        let second = session.begin(&id).unwrap();
        drop(first);
        session.cancel(&id);
        assert!(second.cancelled.is_cancelled(), "the end of the first one does not hide the second");
        drop(second);
        assert!(session.begin(&id).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_one_clients_sessions_ends_its_own_oldest_idle_ones() {
        let sessions = Sessions::default();
        let other = sessions.open(session("b")).unwrap();
        let mut own = Vec::new();
        for _ in 0..3 {
            own.push(sessions.open(session("a")).unwrap());
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        let (busy, listens, idle) = (&own[0], &own[1], &own[2]);
        let running = sessions.get(busy, "a").unwrap().begin(&Id::from(1));
        let reading = sessions.get(listens, "a").unwrap().notifications.read(None, vec![]);
        tokio::time::advance(Duration::from_secs(1)).await;
        for _ in 3..PER_CLIENT {
            sessions.open(session("a")).unwrap();
        }
        let ended = sessions.get(idle, "a").unwrap().ended.clone();
        tokio::time::advance(Duration::from_secs(1)).await;
        for _ in 0..300 {
            sessions.open(session("a")).unwrap();
        }
        assert!(ended.is_cancelled() && sessions.get(idle, "a").is_none());
        for (id, client) in [(busy, "a"), (listens, "a"), (&other, "b")] {
            assert!(sessions.get(id, client).is_some(), "{client}'s {id} is still there");
        }
        assert_eq!(sessions.lock().len(), PER_CLIENT + 1);
        drop((running, reading));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_whose_sessions_all_have_calls_in_flight_gets_no_other() {
        let sessions = Sessions::default();
        let mut running = Vec::new();
        for at in 0..PER_CLIENT {
            let id = sessions.open(session("a")).unwrap();
            running.push(sessions.get(&id, "a").unwrap().begin(&Id::from(at as u64)));
        }
        tokio::time::advance(IDLE * 2).await;
        assert!(matches!(sessions.open(session("a")), Err(OpenError::Busy)));
        assert!(sessions.open(session("b")).is_ok());
        running.pop();
        assert!(sessions.open(session("a")).is_ok());
    }
}
