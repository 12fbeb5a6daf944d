//! One client connection: timeouts for requests and idling, its owner, and the limit on connections.
//!
//! Theory of operation: the time for a request's head begins with its first byte and ends when the head is whole; the
//! time between two requests is another, much longer one, because clients keep connections for later. [`Heard`] sees
//! the first byte, [`Served`] the whole head, and the end of an answer's body the end of the request. Where all places
//! are taken, a newcomer gets that of the oldest connection on which nobody has shown a token yet, so that whoever only
//! holds connections open keeps no client out. What came on a connection is looked at before it gives way: in a flood of
//! connections that come and go, a newcomer waits for that, and nobody who has asked something goes unheard. Where a
//! client has all of its own, the oldest on which nothing goes on gives way to the new one, which waits a moment for it.
//!
//! A request sets no timer and wakes nobody: everything that it changes happens while its connection is polled, which
//! looks at the time afterwards. The timer of a connection is moved when it has run down, or has to run down earlier.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    future::{Future, poll_fn},
    io,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{Request, Response},
};
use futures_util::task::AtomicWaker;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper_util::rt::TokioIo;
use satchel_core::{hub::Hub, model::control::Refusal, upstream::peer::Peer};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf},
    sync::{Notify, OnceCell, OwnedSemaphorePermit},
    time::{Instant, Sleep, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    busy::Shares,
    serve::{HEADER_BYTES, HEADERS},
};

/// Maximum number of connections, where the system allows enough open files.
pub(crate) const CONNECTIONS: usize = 512;
/// Minimum number of them, however few files may be open.
const FEWEST: usize = 16;
/// Open files that are not connections of clients: servers' pipes, the hub's own files. Half of the others are for
/// connections to servers.
const OTHER_FILES: u64 = 64;
/// Maximum number of connections per client.
pub(crate) const PER_CLIENT: usize = 64;
/// The part of all connections that one client can have.
const SHARE: usize = CONNECTIONS / PER_CLIENT;
/// Timeout for a request's head.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// Idle timeout of a connection. Longer than that of clients (90 s is common), so that clients close first, and no
/// request meets a closing connection.
const IDLE_TIME: Duration = Duration::from_secs(120);
/// A connection that became idle more recently may be about to be reused.
const RESTING: Duration = Duration::from_secs(1);
/// How long a rejected connection has to read the reason.
const REFUSING: Duration = Duration::from_secs(1);

/// All connections.
#[derive(Debug)]
pub(crate) struct Connections {
    state: Mutex<ConnectionState>,
    places: usize,
    shares: Shares,
    /// Signalled when a place may have become free.
    moved: Notify,
    /// How many wait for that.
    newcomers: AtomicUsize,
}

impl Default for Connections {
    fn default() -> Self {
        Self::new(CONNECTIONS)
    }
}

impl Connections {
    /// So many at a time.
    pub(crate) fn new(places: usize) -> Self {
        Self {
            state: Mutex::default(),
            places,
            shares: Shares::new((places / SHARE).max(1)),
            moved: Notify::new(),
            newcomers: AtomicUsize::new(0),
        }
    }
}

#[derive(Debug, Default)]
struct ConnectionState {
    open: BTreeMap<u64, Arc<ClientConnection>>,
    last: u64,
    ending: bool,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct ClientConnection {
    number: u64,
    all: Arc<Connections>,
    peer: Peer,
    /// Whether the process at the other end may act as a client; found out with the first valid token.
    admitted: OnceCell<Result<(), Refusal>>,
    stage: Mutex<Stage>,
    /// Cancelled when its place is needed.
    give_way: CancellationToken,
    /// The endpoint ends.
    ending: AtomicBool,
    /// Whoever carries it, to be told of both.
    carrier: AtomicWaker,
}

#[derive(Debug)]
struct Stage {
    now: Doing,
    since: Instant,
    /// Everything received has been read.
    looked_at: bool,
    /// The client has closed its side. Its requests are still answered if there is room.
    ended: bool,
    /// The clients that used it, each with a permit from its share.
    clients: BTreeMap<String, OwnedSemaphorePermit>,
}

impl Stage {
    /// No client has authenticated, and nothing received is unread.
    fn is_unclaimed(&self) -> bool {
        let idle = matches!(self.now, Doing::Idle | Doing::ReadingHead);
        self.clients.is_empty() && self.looked_at && idle
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Idle,
    ReadingHead,
    Answering,
    /// Its client has reached its maximum. It waits for another connection to end, or is rejected.
    BeyondItsShare,
}

/// Why a connection has to end.
#[derive(Debug, Clone, Copy)]
enum EndReason {
    /// Its place is needed.
    Place,
    /// The endpoint ends.
    End,
}

/// Why there is no place.
#[derive(Debug, PartialEq, Eq)]
enum Full {
    /// Every place is used by a client.
    OfClients,
    /// Some connections have unread input.
    ForNow,
}

/// A place for a connection; returned when dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot(Arc<ClientConnection>);

/// How many connections fit under the limit of open files.
pub(crate) fn places(limit: Option<u64>) -> usize {
    let fit =
        limit.map(|limit| usize::try_from(limit.saturating_sub(OTHER_FILES) / 2).unwrap_or(CONNECTIONS));
    fit.map_or(CONNECTIONS, |fit| fit.clamp(FEWEST, CONNECTIONS))
}

impl Connections {
    /// Maximum number of connections.
    pub(crate) fn places(&self) -> usize {
        self.places
    }

    /// Takes a place; `None` if all are used by clients.
    pub(crate) async fn enter(self: &Arc<Self>, peer: Peer) -> Option<ConnectionSlot> {
        let _waiting = Newcomer::of(self);
        loop {
            let mut moved = pin!(self.moved.notified());
            moved.as_mut().enable();
            match self.enter_now(peer) {
                Ok(place) => return Some(place),
                Err(Full::OfClients) => return None,
                Err(Full::ForNow) => moved.await,
            }
        }
    }

    fn enter_now(self: &Arc<Self>, peer: Peer) -> Result<ConnectionSlot, Full> {
        let mut state = self.state();
        if state.open.len() >= self.places {
            let number = state.first_to_go()?;
            if let Some(gone) = state.open.remove(&number) {
                gone.gives_way();
            }
        }
        state.last += 1;
        let stage = Stage {
            now: Doing::Idle,
            since: Instant::now(),
            looked_at: false,
            ended: false,
            clients: BTreeMap::new(),
        };
        let connection = Arc::new(ClientConnection {
            number: state.last,
            all: self.clone(),
            peer,
            admitted: OnceCell::new(),
            stage: Mutex::new(stage),
            give_way: CancellationToken::new(),
            ending: AtomicBool::new(state.ending),
            carrier: AtomicWaker::new(),
        });
        state.open.insert(connection.number, connection.clone());
        Ok(ConnectionSlot(connection))
    }

    /// Closes a client's oldest idle connection in favor of another one of the same client.
    fn make_room_for(&self, client: &str) {
        self.state().open.values().any(|other| other.gives_way_to(client));
    }

    /// Each ends after what is under way on it, those that come from now on too.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.ending = true;
        for connection in state.open.values() {
            connection.ending.store(true, Ordering::Release);
            connection.carrier.wake();
        }
    }

    /// There may be a place now.
    fn moved(&self) {
        if self.newcomers.load(Ordering::SeqCst) > 0 {
            self.moved.notify_waiters();
        }
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock()
    }
}

impl ConnectionState {
    /// The oldest unused connection, or the newest one beyond its client's share.
    fn first_to_go(&self) -> Result<u64, Full> {
        let mut beyond = None;
        let mut unknown = false;
        for (number, connection) in &self.open {
            let stage = connection.stage();
            if stage.is_unclaimed() {
                return Ok(*number);
            } else if stage.now == Doing::BeyondItsShare {
                beyond = Some(*number);
            } else if stage.clients.is_empty() {
                unknown = true;
            }
        }
        // Those waiting for their client's share go last: most unauthenticated ones finish soon.
        if unknown { Err(Full::ForNow) } else { beyond.ok_or(Full::OfClients) }
    }
}

/// Somebody waits for a place. Counted before it is looked for one, so that whoever makes one knows.
struct Newcomer<'a>(&'a Connections);

impl<'a> Newcomer<'a> {
    fn of(all: &'a Connections) -> Self {
        all.newcomers.fetch_add(1, Ordering::SeqCst);
        Self(all)
    }
}

impl Drop for Newcomer<'_> {
    fn drop(&mut self) {
        self.0.newcomers.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.0.all.state().open.remove(&self.0.number);
        self.0.stage().clients.clear();
        self.0.all.moved();
    }
}

impl ClientConnection {
    /// Maximum number of connections of one client.
    pub(crate) fn per_client(&self) -> usize {
        self.all.shares.most()
    }

    /// May the process at the other end act as a client? Looked at once per connection.
    pub(crate) async fn admitted(&self, hub: &Hub, client: &str) -> Result<(), Refusal> {
        if self.peer == Peer::Unknown {
            return Ok(());
        }
        self.admitted.get_or_init(async || hub.admit_client(client, self.peer).await).await.clone()
    }

    /// Assigns the connection to this client; false if the client has reached its maximum and all its connections stay
    /// busy for a while.
    pub(crate) async fn is_of(&self, client: &str) -> bool {
        if self.stage().clients.contains_key(client) {
            return true;
        }
        let part = match self.all.shares.take(client) {
            Some(part) => Some(part),
            None => self.wait_for_a_part(client).await,
        };
        let known = part.is_some();
        if let Some(part) = part {
            self.stage().clients.insert(client.to_owned(), part);
        }
        known
    }

    /// Takes a permit from the client's share.
    async fn wait_for_a_part(&self, client: &str) -> Option<OwnedSemaphorePermit> {
        self.goes_on_to(Doing::BeyondItsShare);
        if self.stage().ended {
            // The sender has probably left, and others waiting for responses come first.
            return None;
        }
        // Its request came just before it gave way: it is served once more, where another connection can give way.
        let gave_way = self.give_way.is_cancelled();
        self.all.make_room_for(client);
        let share = self.all.shares.of(client);
        let part = tokio::select! {
            part = timeout(RESTING, share.acquire_owned()) => match part {
                Ok(part) => part.ok(),
                Err(_) => {
                    // A connection that became idle when this wait began has rested long enough now.
                    self.all.make_room_for(client);
                    self.all.shares.take(client)
                }
            },
            () = self.give_way.cancelled(), if !gave_way => None,
        }?;
        self.goes_on_to(Doing::Answering);
        Some(part)
    }

    /// Closes if idle and used only by this client, in favor of another connection.
    fn gives_way_to(&self, client: &str) -> bool {
        let mut stage = self.stage();
        let resting = stage.now == Doing::Idle && stage.since.elapsed() >= RESTING;
        let idle = resting && stage.clients.len() == 1 && stage.clients.remove(client).is_some();
        drop(stage);
        if idle {
            self.gives_way();
        }
        idle
    }

    fn gives_way(&self) {
        self.give_way.cancel();
        self.carrier.wake();
    }

    fn goes_on_to(&self, next: Doing) {
        let mut stage = self.stage();
        if stage.now != next {
            (stage.now, stage.since) = (next, Instant::now());
            drop(stage);
            self.all.moved();
        }
    }

    fn nothing_more_came(&self) {
        if !std::mem::replace(&mut self.stage().looked_at, true) {
            self.all.moved();
        }
    }

    fn nothing_more_will_come(&self) {
        self.stage().ended = true;
    }

    fn heard(&self) {
        if self.stage().now == Doing::Idle {
            self.goes_on_to(Doing::ReadingHead);
        }
    }

    /// The deadline for the next event; responses have none.
    fn deadline(&self) -> Option<Instant> {
        let stage = self.stage();
        match stage.now {
            Doing::Idle => Some(stage.since + IDLE_TIME),
            Doing::ReadingHead => Some(stage.since + HEADER_TIME),
            Doing::Answering | Doing::BeyondItsShare => None,
        }
    }

    /// Ready when what has to happen did not in time.
    fn poll_overdue(&self, mut timer: Pin<&mut Sleep>, context: &mut Context<'_>) -> Poll<()> {
        while let Some(deadline) = self.deadline() {
            if deadline < timer.deadline() {
                timer.as_mut().reset(deadline);
            }
            ready!(timer.as_mut().poll(context));
            if deadline <= Instant::now() {
                return Poll::Ready(());
            }
            timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }

    /// What it has to end for, where it has to.
    fn wanted(&self) -> Option<EndReason> {
        let ending = || self.ending.load(Ordering::Acquire).then_some(EndReason::End);
        self.give_way.is_cancelled().then_some(EndReason::Place).or_else(ending)
    }

    /// A request has begun, and it is not known whose.
    fn is_unclaimed_and_reading(&self) -> bool {
        let stage = self.stage();
        stage.is_unclaimed() && stage.now == Doing::ReadingHead
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock()
    }
}

/// Handles the requests of all connections.
pub(crate) type Answers = Arc<dyn Fn(Request<Body>) -> Answering + Send + Sync>;
/// A response in the making.
pub(crate) type Answering = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// Serves a connection.
pub(crate) async fn carry<S>(stream: S, answers: Answers, place: ConnectionSlot)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = place.0.clone();
    let io = TokioIo::new(Heard { stream, connection: connection.clone() });
    let mut http = hyper::server::conn::http1::Builder::new()
        // The own deadline also covers the time between requests.
        .header_read_timeout(None)
        .max_headers(HEADERS)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(io, Served { answers, connection: connection.clone() });
    let mut timer = pin!(sleep_until(Instant::now() + IDLE_TIME));
    let mut ending = false;
    let overdue = poll_fn(|context| {
        connection.carrier.register(context.waker());
        loop {
            // The latest input counts: a connection gives way only if nothing arrived. A client that disconnects or sends
            // garbage harms only itself.
            if Pin::new(&mut http).poll(context).is_ready() {
                return Poll::Ready(false);
            }
            match connection.wanted() {
                Some(EndReason::Place) if !ending && connection.is_unclaimed_and_reading() => {
                    return Poll::Ready(false);
                }
                // A request that arrived at this very moment is still answered.
                Some(_) if !ending => {
                    ending = true;
                    Pin::new(&mut http).graceful_shutdown();
                }
                _ => return connection.poll_overdue(timer.as_mut(), context).map(|()| true),
            }
        }
    });
    if overdue.await && connection.stage().now == Doing::ReadingHead {
        let seconds = HEADER_TIME.as_secs();
        let message = format!("the head of a request must arrive within {seconds} s");
        refuse(http.into_parts().io.into_inner().stream, "408 Request Timeout", &message).await;
    }
}

/// Sends why a connection is rejected, without reading its request.
pub(crate) async fn refuse(mut stream: impl AsyncWrite + Unpin, status: &str, message: &str) {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{},"message":"{message}","data":{{"outcome":"not_sent"}}}}}}"#,
        satchel_mcp::errors::HUB_REFUSED
    );
    let answer = format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let saying = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    };
    // The client has gone.
    let _ = tokio::time::timeout(REFUSING, saying).await;
}

/// A stream that records when data arrives.
struct Heard<S> {
    stream: S,
    connection: Arc<ClientConnection>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Heard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(context, buffer) else {
            self.connection.nothing_more_came();
            return Poll::Pending;
        };
        read?;
        let after = buffer.filled().len();
        if after > before {
            self.connection.heard();
            // The end often arrives together with the last bytes.
            let ended = buffer.remaining() > 0
                && Pin::new(&mut self.stream).poll_read(context, buffer).is_ready()
                && buffer.filled().len() == after;
            if ended {
                self.connection.nothing_more_will_come();
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Heard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// A service that knows its connection.
struct Served {
    answers: Answers,
    connection: Arc<ClientConnection>,
}

impl hyper::service::Service<Request<Incoming>> for Served {
    type Response = Response<CountedBody>;
    type Error = Infallible;
    type Future = Serving;

    fn call(&self, mut request: Request<Incoming>) -> Serving {
        self.connection.goes_on_to(Doing::Answering);
        request.extensions_mut().insert(self.connection.clone());
        Serving { answering: (self.answers)(request.map(Body::new)), connection: self.connection.clone() }
    }
}

/// An answer as it is made.
struct Serving {
    answering: Answering,
    connection: Arc<ClientConnection>,
}

impl Future for Serving {
    type Output = Result<Response<CountedBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(self.answering.as_mut().poll(context));
        let connection = self.connection.clone();
        Poll::Ready(Ok(response.map(|body| CountedBody { body, connection })))
    }
}

/// A response body; its end marks the end of the request.
struct CountedBody {
    body: Body,
    connection: Arc<ClientConnection>,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for CountedBody {
    fn drop(&mut self) {
        self.connection.goes_on_to(Doing::Idle);
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, DuplexStream};

    use super::*;

    const ASKS: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";

    fn open(all: &Arc<Connections>) -> (DuplexStream, tokio::task::JoinHandle<()>) {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let answers: Answers = Arc::new(|_| Box::pin(async { Response::new("served".into()) }));
        let place = all.enter_now(Peer::Unknown).unwrap();
        #[expect(clippy::disallowed_methods, reason = "the test waits for it")]
        let carried = tokio::spawn(carry(theirs, answers, place));
        (ours, carried)
    }

    async fn answer(stream: &mut DuplexStream) -> String {
        let mut answer = Vec::new();
        while !answer.ends_with(b"served") {
            let mut some = [0; 1024];
            let count = stream.read(&mut some).await.unwrap();
            assert!(count > 0, "it was closed: {}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&some[..count]);
        }
        String::from_utf8(answer).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_may_lie_idle_far_longer_than_a_head_may_take() {
        let all = Arc::default();
        let (mut stream, _carried) = open(&all);
        for _ in 0..3 {
            tokio::time::sleep(IDLE_TIME - Duration::from_secs(1)).await;
            // A head that takes almost all of its time.
            stream.write_all(&ASKS[..9]).await.unwrap();
            tokio::time::sleep(HEADER_TIME - Duration::from_secs(1)).await;
            stream.write_all(&ASKS[9..]).await.unwrap();
            assert!(answer(&mut stream).await.starts_with("HTTP/1.1 200"));
        }
        let mut rest = String::new();
        tokio::time::timeout(IDLE_TIME * 2, stream.read_to_string(&mut rest)).await.unwrap().unwrap();
        assert_eq!(rest, "", "closed without a word when nobody used it");
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_never_ends_is_refused_with_a_reason_first_or_later() {
        for later in [false, true] {
            let all = Arc::default();
            let (mut stream, carried) = open(&all);
            if later {
                stream.write_all(ASKS).await.unwrap();
                answer(&mut stream).await;
            }
            // One byte a second: active, but never complete.
            for byte in &ASKS[..12] {
                let _ = stream.write_all(&[*byte]).await;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            let mut rest = String::new();
            stream.read_to_string(&mut rest).await.unwrap();
            assert!(rest.starts_with("HTTP/1.1 408") && rest.contains("within 10 s"), "{rest}");
            carried.await.unwrap();
            assert!(all.state().open.is_empty());
        }
    }

    fn places(all: &Arc<Connections>, count: usize) -> Vec<ConnectionSlot> {
        (0..count).map(|_| all.enter_now(Peer::Unknown).unwrap()).collect()
    }

    #[tokio::test]
    async fn idle_connections_give_way_and_those_of_clients_do_not() {
        let all: Arc<Connections> = Arc::default();
        let places = places(&all, CONNECTIONS);
        for (at, place) in places.iter().enumerate().skip(1) {
            assert!(place.0.is_of(&format!("client-{}", at / PER_CLIENT)).await);
        }
        places[0].0.nothing_more_came();
        assert!(!places[0].0.give_way.is_cancelled());
        let newcomer = all.enter(Peer::Unknown).await.unwrap();
        assert!(places[0].0.give_way.is_cancelled(), "nobody's is the first to go");
        assert!(newcomer.0.is_of("client-0").await);
        assert!(all.enter(Peer::Unknown).await.is_none(), "clients keep theirs");
        drop(newcomer);
        assert!(all.enter(Peer::Unknown).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_keeps_its_place_until_its_first_bytes_are_read() {
        let all: Arc<Connections> = Arc::default();
        let (mut streams, _carried): (Vec<_>, Vec<_>) = (0..CONNECTIONS).map(|_| open(&all)).unzip();
        // Sent before anything was read.
        streams[0].write_all(ASKS).await.unwrap();
        assert_eq!(all.enter_now(Peer::Unknown).unwrap_err(), Full::ForNow);
        for newcomer in 0..CONNECTIONS {
            let place = timeout(HEADER_TIME, all.enter(Peer::Unknown)).await.expect("there is room soon");
            std::mem::forget(place.unwrap_or_else(|| panic!("newcomer {newcomer} is let in")));
        }
        assert!(answer(&mut streams[0]).await.starts_with("HTTP/1.1 200"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_has_so_many_connections_and_others_have_theirs() {
        let all: Arc<Connections> = Arc::default();
        let mut places = places(&all, PER_CLIENT + 1);
        for place in &places[..PER_CLIENT] {
            assert!(place.0.is_of("a").await);
        }
        places.iter().for_each(|place| place.0.goes_on_to(Doing::Answering));
        assert!(places[0].0.is_of("a").await, "one it has already");
        assert!(!places[PER_CLIENT].0.is_of("a").await);
        assert!(places[PER_CLIENT].0.is_of("b").await);
        places.remove(0);
        assert!(places[PER_CLIENT - 1].0.is_of("a").await, "one was given back");
        // The next one has to wait for another to end.
        let newcomer = all.enter(Peer::Unknown).await.unwrap();
        let ended = places.pop().unwrap();
        let ending = async {
            tokio::time::sleep(RESTING / 2).await;
            drop(ended);
        };
        let (known, ()) = tokio::join!(newcomer.0.is_of("a"), ending);
        assert!(known && !places[7].0.give_way.is_cancelled());
        // Now one of them is idle, and may be about to be reused, but not for long.
        places[7].0.goes_on_to(Doing::Idle);
        let newcomer = all.enter(Peer::Unknown).await.unwrap();
        assert!(newcomer.0.is_of("a").await && places[7].0.give_way.is_cancelled());
        // Asked on at this very moment, it takes the place of another idle one, and is refused where there is none.
        places[9].0.goes_on_to(Doing::Idle);
        assert!(places[7].0.is_of("a").await && places[9].0.give_way.is_cancelled());
        assert!(!places[9].0.is_of("a").await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_over_its_limit_does_not_block_other_clients() {
        let all: Arc<Connections> = Arc::default();
        let mut others = places(&all, CONNECTIONS);
        others.iter().for_each(|place| place.0.goes_on_to(Doing::Answering));
        let mut share = Vec::new();
        for place in others.drain(..PER_CLIENT) {
            assert!(place.0.is_of("a").await);
            share.push(place);
        }
        others[0].0.nothing_more_will_come();
        let gone = timeout(Duration::ZERO, others[0].0.is_of("a"));
        assert!(!gone.await.unwrap(), "nobody waits for its answer");
        let mut beyond: Vec<_> = others[1..3].iter().map(|place| Box::pin(place.0.is_of("a"))).collect();
        for waiting in &mut beyond {
            assert!(timeout(Duration::ZERO, waiting).await.is_err());
        }
        assert_eq!(
            all.enter_now(Peer::Unknown).unwrap_err(),
            Full::ForNow,
            "nobody knows yet whose the others are"
        );
        for (at, place) in others.iter().enumerate().skip(3) {
            assert!(place.0.is_of(&format!("client-{}", at / PER_CLIENT)).await);
        }
        let newcomer = all.enter(Peer::Unknown).await.unwrap();
        assert!(newcomer.0.is_of("b").await);
        let last = beyond.pop().unwrap();
        assert!(!timeout(Duration::ZERO, last).await.unwrap(), "it is told at once");
        let first = beyond.pop().unwrap();
        share.pop();
        assert!(timeout(Duration::ZERO, first).await.unwrap(), "who waited longest is the next");
    }
}
