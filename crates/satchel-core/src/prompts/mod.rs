//! Queues what people are asked at Satchel's own faces: permissions for calls, servers' questions, and credentials. No
//! answer, or no open face, means no.
//!
//! Remembers answers for a session and limits how much clients and servers may ask. The room knows no server and makes
//! no call; whoever asks waits with a [`Ticket`].

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::{
    sync::{Notify, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    bridge::form,
    clock::now_ms,
    model::{
        Code, ServerName, ToolPath,
        asks::{Ask, AskAnswer, AskList, QuestionAnswer, Wanted},
        control::Refusal,
    },
};

/// Silence of a person is a no after so long.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Where nobody is known to look, somebody may still come within this time.
const GRACE: Duration = Duration::from_secs(10);
/// A yes that comes sooner was no answer to this question.
const GUARD: Duration = Duration::from_millis(800);
/// Whoever asked for questions within this time is there to be shown the next one.
const ATTENTION: Duration = Duration::from_secs(30);
/// Calls that may wait at the same time: of one server, of one client.
const WAITING_OF_SERVER: usize = 5;
const WAITING_OF_CLIENT: usize = 10;
/// Questions about one client's calls within [`MINUTE`]; more are a no without being asked.
const QUESTIONS: usize = 20;
const MINUTE: Duration = Duration::from_secs(60);
/// Whoever reads a question has at least so long from then on, up to a limit in all.
const READING: Duration = Duration::from_secs(30);
const READING_AT_MOST: Duration = Duration::from_secs(10 * 60);
/// A wait for a person is cut into pieces of this length. One that took longer than its length and this much was interrupted:
/// the computer slept. Windows counts that time, and silence of a person who was not there would be a no.
const PIECE: Duration = Duration::from_secs(5);
const NAP: Duration = Duration::from_secs(30);
/// Questions of one server to people within [`MINUTE`]; more are answered with an error without being asked.
const QUESTIONS_OF_SERVER: usize = 120;
/// Of those, at our own faces.
const QUESTIONS_AT_FACES: usize = 10;
/// How long a yes for a session outlives its last use.
const SESSION: Duration = Duration::from_secs(60 * 60);
/// A call that its server answered with a question is the same call when it comes back within this time.
const COMES_BACK: Duration = Duration::from_secs(10 * 60);
/// So many of those are remembered.
const ROUNDS: usize = 64;

/// The room that owns what waits for a person, and knows whether somebody looks.
#[derive(Debug)]
pub struct Prompts {
    state: Mutex<QueueState>,
    came: Notify,
    /// Faces that show every question by themselves.
    faces: AtomicUsize,
    /// Told whenever something else waits.
    changed: Arc<Notify>,
    /// Nobody waits for questions any more.
    end: CancellationToken,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: VecDeque<Waiting>,
    /// Whose questions nobody wants to see: client and server.
    muted: BTreeSet<(String, String)>,
    /// Servers whose questions nobody wants to see at our faces.
    muted_servers: BTreeSet<String>,
    /// When servers' questions came to our faces.
    faced: HashMap<String, VecDeque<Instant>>,
    /// Allowed for a session, with the last use: client and tool.
    granted: HashMap<(String, ToolPath), Instant>,
    /// When questions were asked, by client.
    asked: HashMap<String, VecDeque<Instant>>,
    /// When servers asked something themselves.
    questions: HashMap<String, VecDeque<Instant>>,
    /// Calls that were allowed and that come back with an answer to their server.
    rounds: VecDeque<(Instant, String, ToolPath, Value)>,
    last_look: Option<Instant>,
    number: u64,
}

#[derive(Debug)]
struct Waiting {
    ask: Ask,
    path: ToolPath,
    since: Instant,
    /// Since when it can be seen; of one server's questions one at a time.
    offered: Option<Instant>,
    /// When silence becomes a no, once it can be seen.
    until: Instant,
    answer: oneshot::Sender<Said>,
}

/// A person's word.
#[derive(Debug, Clone)]
pub enum Said {
    /// About a call.
    OfCall(AskAnswer),
    /// To a server's question.
    OfQuestion(QuestionAnswer),
}

impl Prompts {
    /// An empty queue. `changed` is told whenever something else waits; `end` lets go of whoever looks.
    pub fn new(changed: Arc<Notify>, end: CancellationToken) -> Arc<Self> {
        let (state, came, faces) = (Mutex::default(), Notify::new(), AtomicUsize::new(0));
        Arc::new(Self { state, came, faces, changed, end })
    }

    /// What waits is not what it was.
    fn tell(&self) {
        self.came.notify_waiters();
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    /// May this server ask another question? Counts it, where it may.
    fn bear(&mut self, server: &str, now: Instant) -> bool {
        counted(self.questions.entry(server.to_owned()).or_default(), QUESTIONS_OF_SERVER, now)
    }

    /// May this server ask another question at our faces? Counts it, where it may.
    fn face(&mut self, server: &str, now: Instant) -> Result<(), &'static str> {
        if self.muted_servers.contains(server) {
            return Err("the user muted its questions");
        }
        let bearable = counted(self.faced.entry(server.to_owned()).or_default(), QUESTIONS_AT_FACES, now);
        bearable.then_some(()).ok_or("it asked too many questions within a minute")
    }

    /// Lets be seen what may be: calls at once, and of each server the first question.
    fn offer(&mut self, now: Instant) {
        let mut busy = BTreeSet::new();
        for waiting in &mut self.waiting {
            let first = waiting.ask.question.is_none() || busy.insert(waiting.ask.server.clone());
            if first && waiting.offered.is_none() {
                waiting.offered = Some(now);
                waiting.until = now + PATIENCE;
                waiting.ask.until_ms = now_ms() + millis(PATIENCE);
            }
        }
    }

    /// Gives so much more time for an answer.
    fn extend(&mut self, id: u64, more: Duration) {
        if let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.ask.id == id) {
            waiting.until += more;
            waiting.ask.until_ms += millis(more);
        }
    }

    /// What waits under this number and can be seen; a yes must not come before anybody could have read it.
    fn offered(&mut self, id: u64, yes: bool) -> Result<&Waiting, Refusal> {
        self.last_look = Some(Instant::now());
        let waiting = self.waiting.iter().find(|waiting| waiting.ask.id == id);
        let seen = waiting.and_then(|waiting| Some((waiting, waiting.offered?)));
        let (waiting, since) = seen.ok_or_else(|| gone(id))?;
        if yes && since.elapsed() < GUARD {
            let message = "this approval came before anyone could have read the question";
            return Err(Refusal::new(Code::TooSoon, message, "Read it, then answer again."));
        }
        Ok(waiting)
    }

    fn asked_about(&mut self, id: u64, answer: AskAnswer) -> Result<(String, ToolPath), Refusal> {
        let waiting = self.offered(id, answer.is_yes())?;
        if waiting.ask.question.is_some() {
            let message = format!("question {id} comes from a server, and takes another kind of answer");
            return Err(Refusal::new(Code::OtherQuestion, message, "See `satchel answer --help`."));
        }
        Ok((waiting.ask.client.clone(), waiting.path.clone()))
    }

    /// Gives one answer to all that it is meant for. Was there any?
    fn answer(&mut self, meant: impl Fn(&Waiting) -> bool, said: &Said) -> bool {
        let (answered, waiting): (VecDeque<_>, _) = self.waiting.drain(..).partition(meant);
        self.waiting = waiting;
        self.offer(Instant::now());
        let any = !answered.is_empty();
        for waiting in answered {
            // Whoever asked may be gone.
            let _ = waiting.answer.send(said.clone());
        }
        any
    }

    /// Is there room for a question more? The reason, where there is none.
    fn admit(&mut self, client: &str, server: &str, now: Instant) -> Result<(), &'static str> {
        if self.muted.contains(&(client.to_owned(), server.to_owned())) {
            return Err("the user muted questions about it");
        }
        let bearable = counted(self.asked.entry(client.to_owned()).or_default(), QUESTIONS, now);
        bearable
            .then_some(())
            .ok_or("this client made too many calls that a person has to allow within a minute")
    }
}

/// Is another one within the minute bearable? Counts it, where it is.
fn counted(times: &mut VecDeque<Instant>, most: usize, now: Instant) -> bool {
    while times.front().is_some_and(|time| now - *time >= MINUTE) {
        times.pop_front();
    }
    let bearable = times.len() < most;
    if bearable {
        times.push_back(now);
    }
    bearable
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A place in the queue. Given back, the question is not asked any more.
#[derive(Debug)]
pub struct Ticket {
    prompts: Arc<Prompts>,
    id: u64,
    since: Instant,
    answer: oneshot::Receiver<Said>,
}

impl Ticket {
    /// A person's word about a call, or why there is none. May be given up and called again.
    pub async fn word(&mut self) -> Result<AskAnswer, &'static str> {
        match self.said().await? {
            Said::OfCall(answer) => Ok(answer),
            Said::OfQuestion(_) => Err(SILENT),
        }
    }

    /// The same about whatever was asked.
    pub async fn said(&mut self) -> Result<Said, &'static str> {
        let looked = self.since + GRACE;
        while Instant::now() < looked {
            if let Some(said) = self.piece(looked).await {
                return said;
            }
        }
        if !self.prompts.is_attended() {
            return Err(NOBODY);
        }
        loop {
            // Whoever reads it has more time.
            let until = self.until();
            if Instant::now() >= until {
                return Err(SILENT);
            }
            if let Some(said) = self.piece(until).await {
                return said;
            }
        }
    }

    /// Waits for a while, at most until then. What the computer slept through does not count.
    async fn piece(&mut self, until: Instant) -> Option<Result<Said, &'static str>> {
        let end = until.min(Instant::now() + PIECE);
        match tokio::time::timeout_at(end, &mut self.answer).await {
            Ok(answer) => Some(answer.map_err(|_| SILENT)),
            Err(_) => {
                let slept = end.elapsed();
                if slept > NAP {
                    self.prompts.lock().extend(self.id, slept);
                }
                None
            }
        }
    }

    fn until(&self) -> Instant {
        let state = self.prompts.lock();
        match state.waiting.iter().find(|waiting| waiting.ask.id == self.id) {
            Some(waiting) if waiting.offered.is_some() => waiting.until,
            // Its time begins when it can be seen.
            Some(_) => Instant::now() + PATIENCE,
            None => self.since + PATIENCE,
        }
    }
}

/// Why there is no answer: a person could see the question and did not say anything.
pub const SILENT: &str = "the user did not answer";
/// Why there is no answer: nobody looks.
pub const NOBODY: &str = "a person has to allow it, and no user is there to be asked";

impl Drop for Ticket {
    fn drop(&mut self) {
        {
            let mut state = self.prompts.lock();
            state.waiting.retain(|waiting| waiting.ask.id != self.id);
            state.offer(Instant::now());
        }
        self.prompts.tell();
    }
}

impl Prompts {
    /// From now on, or no longer, a face shows every question by itself.
    pub fn set_attended(&self, attended: bool) {
        let faces = &self.faces;
        if attended {
            faces.fetch_add(1, Ordering::Relaxed);
        } else {
            let _ = faces.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_sub(1));
        }
    }

    /// Does somebody look, or has a moment ago?
    pub fn is_attended(&self) -> bool {
        self.faces.load(Ordering::Relaxed) > 0
            || self.lock().last_look.is_some_and(|look| look.elapsed() < ATTENTION)
    }

    /// Is another question about a client's calls of a server bearable? Counts it, where it is.
    ///
    /// # Errors
    /// The reason, where it is not.
    pub fn admit_question(&self, client: &str, server: &str) -> Result<(), &'static str> {
        self.lock().admit(client, server, Instant::now())
    }

    /// Why another question of a server to people is not bearable. Counts it, where it is.
    pub fn bear_question(&self, server: &ServerName) -> Option<&'static str> {
        let bearable = self.lock().bear(server.as_str(), Instant::now());
        (!bearable).then_some("too many questions within a minute; nobody was asked this one")
    }

    /// Puts a question to whoever looks at Satchel. The fields that only the queue knows are filled in here.
    ///
    /// # Errors
    /// The reason, where too many wait already.
    pub fn queue_ask(self: &Arc<Self>, mut ask: Ask, path: &ToolPath) -> Result<Ticket, &'static str> {
        let (answer, answered) = oneshot::channel();
        let since = Instant::now();
        let id = {
            let mut state = self.lock();
            let of =
                |is: &dyn Fn(&Ask) -> bool| state.waiting.iter().filter(|waiting| is(&waiting.ask)).count();
            if of(&|other| other.server == ask.server) >= WAITING_OF_SERVER
                || of(&|other| other.client == ask.client) >= WAITING_OF_CLIENT
            {
                return Err("too many calls are already waiting for the user");
            }
            state.number += 1;
            ask.id = state.number;
            ask.since_ms = now_ms();
            ask.until_ms = ask.since_ms + millis(PATIENCE);
            let until = since + PATIENCE;
            let waiting = Waiting { ask, path: path.clone(), since, offered: None, until, answer };
            state.waiting.push_back(waiting);
            state.offer(since);
            state.number
        };
        self.tell();
        Ok(Ticket { prompts: self.clone(), id, since, answer: answered })
    }

    /// Puts a server's question to whoever looks at Satchel.
    ///
    /// # Errors
    /// The reason, where it has asked too much, or nobody wants to hear more of it.
    pub fn queue_question(self: &Arc<Self>, ask: Ask, path: &ToolPath) -> Result<Ticket, &'static str> {
        self.lock().face(path.server.as_str(), Instant::now())?;
        self.queue_ask(ask, path)
    }

    /// Somebody is reading this question right now.
    pub fn reading_ask(&self, id: u64) {
        let mut state = self.lock();
        state.last_look = Some(Instant::now());
        let Some(waiting) = state.waiting.iter_mut().find(|waiting| waiting.ask.id == id) else { return };
        let until = (Instant::now() + READING).min(waiting.since + READING_AT_MOST);
        if until > waiting.until {
            waiting.ask.until_ms += millis(until - waiting.until);
            waiting.until = until;
        }
    }

    /// What waits, fairest first.
    pub fn waiting_asks(&self) -> Vec<Ask> {
        let now = Instant::now();
        let state = self.lock();
        let seen = state.waiting.iter().filter(|waiting| waiting.offered.is_some() && waiting.until > now);
        fair(seen.map(|waiting| waiting.ask.clone()))
    }

    /// The same for somebody who looks. With `wait` the answer comes when something waits, or after some seconds.
    pub async fn asks(&self, wait: bool) -> AskList {
        let until = Instant::now() + ATTENTION / 2;
        loop {
            let came = self.came.notified();
            self.lock().last_look = Some(Instant::now());
            let asks = self.waiting_asks();
            if !wait || !asks.is_empty() {
                return AskList { asks };
            }
            tokio::select! {
                () = came => {}
                () = tokio::time::sleep_until(until) => return AskList::default(),
                () = self.end.cancelled() => return AskList::default(),
            }
        }
    }

    /// Which client's call of which tool this question is about.
    ///
    /// # Errors
    /// Where it is not asked any more, or a yes came too soon to be one. It is still asked then.
    pub fn asked_about(&self, id: u64, answer: AskAnswer) -> Result<(String, ToolPath), Refusal> {
        self.lock().asked_about(id, answer)
    }

    /// A person's word about a call. One word answers every question that it makes needless.
    ///
    /// # Errors
    /// Where it is not asked any more, or a yes came too soon to be one. It is still asked then.
    pub fn answer_ask(&self, id: u64, answer: AskAnswer) -> Result<(), Refusal> {
        let mut state = self.lock();
        let (client, path) = state.asked_about(id, answer)?;
        match answer {
            AskAnswer::Session => {
                state.granted.insert((client.clone(), path.clone()), Instant::now());
            }
            AskAnswer::Mute => {
                state.muted.insert((client.clone(), path.server.to_string()));
            }
            AskAnswer::Once | AskAnswer::Always | AskAnswer::No => {}
        }
        let meant = |waiting: &Waiting| match answer {
            _ if waiting.ask.id == id => true,
            _ if waiting.ask.question.is_some() => false,
            AskAnswer::Once | AskAnswer::No => false,
            AskAnswer::Session | AskAnswer::Always => waiting.ask.client == client && waiting.path == path,
            AskAnswer::Mute => waiting.ask.client == client && waiting.path.server == path.server,
        };
        let said = state.answer(meant, &Said::OfCall(answer));
        drop(state);
        self.changed.notify_one();
        if said { Ok(()) } else { Err(gone(id)) }
    }

    /// A person's answer to a server's question.
    ///
    /// # Errors
    /// Where it is not asked any more, does not fit the question, or a yes came too soon to be one. It is still asked
    /// then.
    pub fn answer_question(&self, id: u64, answer: QuestionAnswer) -> Result<(), Refusal> {
        let mut state = self.lock();
        let waiting = state.offered(id, matches!(answer, QuestionAnswer::Accept { .. }))?;
        let server = waiting.ask.server.clone();
        let Some(question) = &waiting.ask.question else {
            let message = format!("question {id} is about a call, and takes another kind of answer");
            return Err(Refusal::new(Code::OtherQuestion, message, "See `satchel answer --help`."));
        };
        let answer = match answer {
            QuestionAnswer::Accept { content } => {
                let content = form::checked(&question.wants, content);
                let content = content.map_err(|why| Refusal::new(Code::BadAnswer, why, ""))?;
                QuestionAnswer::Accept { content }
            }
            QuestionAnswer::Mute => {
                state.muted_servers.insert(server.clone());
                QuestionAnswer::Mute
            }
            other @ (QuestionAnswer::Decline | QuestionAnswer::Cancel) => other,
        };
        let muted = answer == QuestionAnswer::Mute;
        let meant = |waiting: &Waiting| {
            waiting.ask.id == id || muted && waiting.ask.question.is_some() && waiting.ask.server == server
        };
        let said = state.answer(meant, &Said::OfQuestion(answer));
        drop(state);
        self.tell();
        if said { Ok(()) } else { Err(gone(id)) }
    }

    /// Which value this question wants stored.
    ///
    /// # Errors
    /// Where it is not asked any more, wants something else, or was answered before anybody could have read it.
    pub fn wanted_secret(&self, id: u64) -> Result<String, Refusal> {
        let mut state = self.lock();
        let waiting = state.offered(id, true)?;
        match waiting.ask.question.as_ref().map(|question| &question.wants) {
            Some(Wanted::Credential { name }) => Ok(name.clone()),
            Some(Wanted::Form { .. } | Wanted::Secret { .. } | Wanted::Page { .. }) | None => {
                let message = format!("question {id} asks for no credential");
                Err(Refusal::new(Code::OtherQuestion, message, "See `satchel answer --help`."))
            }
        }
    }

    /// A value was stored: whoever waits for it goes on.
    pub fn secret_came(&self, name: &str) {
        let wants = |waiting: &Waiting| {
            let question = waiting.ask.question.as_ref();
            question.is_some_and(|question| question.wants == Wanted::Credential { name: name.to_owned() })
        };
        let given = Said::OfQuestion(QuestionAnswer::Accept { content: serde_json::Map::new() });
        self.lock().answer(wants, &given);
        self.tell();
    }

    /// Did a person allow this client's calls of the tool for now?
    pub fn is_granted(&self, client: &str, path: &ToolPath) -> bool {
        let mut state = self.lock();
        let now = Instant::now();
        state.granted.retain(|_, used| now - *used < SESSION);
        match state.granted.get_mut(&(client.to_owned(), path.clone())) {
            Some(used) => {
                *used = now;
                true
            }
            None => false,
        }
    }

    /// A person allowed this client's calls of the tool through the client itself.
    pub fn grant(&self, client: &str, path: &ToolPath) {
        self.lock().granted.insert((client.to_owned(), path.clone()), Instant::now());
    }

    /// A call that was allowed ended with a question of its server: it comes back once, and is not asked about again.
    pub fn expect_back(&self, client: &str, path: &ToolPath, arguments: Value) {
        let mut state = self.lock();
        if state.rounds.len() >= ROUNDS {
            state.rounds.pop_front();
        }
        state.rounds.push_back((Instant::now(), client.to_owned(), path.clone(), arguments));
    }

    /// Is it such a call?
    pub fn is_back(&self, client: &str, path: &ToolPath, arguments: &Value) -> bool {
        let mut state = self.lock();
        state.rounds.retain(|(since, ..)| since.elapsed() < COMES_BACK);
        let meant = |(_, of, tool, given): &(Instant, String, ToolPath, Value)| {
            of == client && tool == path && given == arguments
        };
        match state.rounds.iter().position(meant) {
            Some(at) => state.rounds.remove(at).is_some(),
            None => false,
        }
    }
}

fn gone(id: u64) -> Refusal {
    Refusal::new(Code::NotAsked, format!("question {id} is no longer open"), "")
}

/// One of each client, in the order in which they came, before the second of any.
fn fair(asks: impl Iterator<Item = Ask>) -> Vec<Ask> {
    let mut turns: BTreeMap<String, usize> = BTreeMap::new();
    let mut all: Vec<(usize, u64, Ask)> = asks
        .map(|ask| {
            let turn = turns.entry(ask.client.clone()).or_default();
            *turn += 1;
            (*turn, ask.id, ask)
        })
        .collect();
    all.sort_by_key(|(turn, id, _)| (*turn, *id));
    all.into_iter().map(|(_, _, ask)| ask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{asks::ServerQuestion, nature::Effect};

    fn ask(id: u64, client: &str) -> Ask {
        Ask {
            id,
            client: client.into(),
            server: "s".into(),
            tool: "t".into(),
            effect: Effect::Deletes,
            stated: true,
            arguments: vec![],
            json: "{}".into(),
            rule: String::new(),
            since_ms: 0,
            until_ms: 0,
            question: None,
        }
    }

    #[test]
    fn every_client_has_its_turn() {
        let asks = [ask(1, "a"), ask(2, "a"), ask(3, "a"), ask(4, "b"), ask(5, "c"), ask(6, "b")];
        let order: Vec<u64> = fair(asks.into_iter()).into_iter().map(|ask| ask.id).collect();
        assert_eq!(order, [1, 4, 5, 2, 6, 3]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_one_servers_questions_is_not_asked_and_others_are() {
        let mut state = QueueState::default();
        let asked = (0..2_000).filter(|_| state.bear("flood", Instant::now())).count();
        assert_eq!(asked, QUESTIONS_OF_SERVER);
        assert!(state.bear("other", Instant::now()));
        tokio::time::advance(MINUTE).await;
        assert!(state.bear("flood", Instant::now()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_one_client_is_a_no_and_others_are_still_asked() {
        let mut state = QueueState::default();
        for _ in 0..QUESTIONS {
            assert_eq!(state.admit("a", "s", Instant::now()), Ok(()));
        }
        assert!(state.admit("a", "s", Instant::now()).is_err());
        assert_eq!(state.admit("b", "s", Instant::now()), Ok(()));
        tokio::time::advance(MINUTE).await;
        assert_eq!(state.admit("a", "s", Instant::now()), Ok(()));
        state.muted.insert(("a".into(), "s".into()));
        assert!(state.admit("a", "s", Instant::now()).is_err());
        assert_eq!(state.admit("a", "other", Instant::now()), Ok(()));
    }

    fn room() -> Arc<Prompts> {
        Prompts::new(Arc::default(), CancellationToken::new())
    }

    fn tool(name: &str) -> ToolPath {
        ToolPath { server: "s".parse().unwrap(), tool: name.into() }
    }

    /// A question that somebody could read by now.
    async fn asked(room: &Arc<Prompts>, client: &str, question: Option<Wanted>) -> Ticket {
        let question = question.map(|wants| ServerQuestion { message: "?".into(), wants });
        let ticket = room.queue_ask(Ask { question, ..ask(0, client) }, &tool("t")).unwrap();
        tokio::time::advance(GUARD).await;
        ticket
    }

    fn credential() -> Option<Wanted> {
        Some(Wanted::Credential { name: "KEY".into() })
    }

    #[tokio::test(start_paused = true)]
    async fn silence_means_no_and_sooner_where_nobody_looks() {
        let room = room();
        let began = Instant::now();
        assert_eq!(asked(&room, "a", None).await.word().await, Err(NOBODY));
        assert_eq!(began.elapsed(), GRACE);
        room.set_attended(true);
        let (began, mut ticket) = (Instant::now(), asked(&room, "a", None).await);
        assert_eq!(ticket.word().await, Err(SILENT));
        assert_eq!(began.elapsed(), PATIENCE);
        drop(ticket);
        // Whoever reads has more time, within a limit.
        let (began, mut ticket) = (Instant::now(), asked(&room, "a", None).await);
        let (id, reader) = (ticket.id, room.clone());
        let reading = async {
            loop {
                tokio::time::sleep(READING / 2).await;
                reader.reading_ask(id);
            }
        };
        tokio::select! {
            said = ticket.word() => assert_eq!(said, Err(SILENT)),
            () = reading => {}
        }
        assert_eq!(began.elapsed(), READING_AT_MOST);
        room.set_attended(false);
        tokio::time::advance(ATTENTION).await;
        assert!(!room.is_attended());
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_computer_slept_through_is_no_silence() {
        let room = room();
        room.set_attended(true);
        for awake in [GUARD, GRACE + GUARD] {
            let (began, mut ticket) = (Instant::now(), asked(&room, "a", None).await);
            let lid = async {
                tokio::time::sleep(awake).await;
                // As Windows counts it: all at once.
                tokio::time::advance(SESSION).await;
                std::future::pending::<()>().await;
            };
            tokio::select! {
                said = ticket.word() => assert_eq!(said, Err(SILENT)),
                () = lid => {}
            }
            let waited = began.elapsed().saturating_sub(SESSION);
            assert!(waited > PATIENCE - PIECE && waited <= PATIENCE + PIECE, "{waited:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_early_yes_is_none_and_a_session_is_remembered_while_it_is_used() {
        let room = room();
        let mut ticket = room.queue_ask(ask(0, "a"), &tool("t")).unwrap();
        assert_eq!(room.answer_ask(ticket.id, AskAnswer::Session).unwrap_err().code, Code::TooSoon);
        tokio::time::advance(GUARD).await;
        // One word answers what it makes needless, and nothing else.
        let (mut same, mut other) = (asked(&room, "a", None).await, asked(&room, "b", None).await);
        room.answer_ask(ticket.id, AskAnswer::Session).unwrap();
        assert_eq!(ticket.word().await, Ok(AskAnswer::Session));
        assert_eq!(same.word().await, Ok(AskAnswer::Session));
        assert_eq!(room.waiting_asks().len(), 1);
        room.answer_ask(other.id, AskAnswer::No).unwrap();
        assert_eq!(other.word().await, Ok(AskAnswer::No));
        assert_eq!(room.answer_ask(other.id, AskAnswer::No).unwrap_err().code, Code::NotAsked);
        for _ in 0..3 {
            tokio::time::advance(SESSION / 2).await;
            assert!(room.is_granted("a", &tool("t")));
        }
        assert!(!room.is_granted("a", &tool("u")) && !room.is_granted("b", &tool("t")));
        tokio::time::advance(SESSION).await;
        assert!(!room.is_granted("a", &tool("t")));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_is_seen_with_one_question_at_a_time_and_can_be_muted() {
        let room = room();
        let mut first = asked(&room, "a", credential()).await;
        let mut second = asked(&room, "a", credential()).await;
        assert_eq!(room.waiting_asks().len(), 1, "the second is shown after the first");
        let refused = room.answer_question(second.id, QuestionAnswer::Decline).unwrap_err();
        assert_eq!(refused.code, Code::NotAsked);
        assert_eq!(room.answer_ask(first.id, AskAnswer::No).unwrap_err().code, Code::OtherQuestion);
        assert_eq!(room.wanted_secret(first.id).unwrap(), "KEY");
        room.secret_came("KEY");
        for ticket in [&mut first, &mut second] {
            assert!(matches!(ticket.said().await, Ok(Said::OfQuestion(QuestionAnswer::Accept { .. }))));
        }
        let mut muted = asked(&room, "a", credential()).await;
        room.answer_question(muted.id, QuestionAnswer::Mute).unwrap();
        assert!(matches!(muted.said().await, Ok(Said::OfQuestion(QuestionAnswer::Mute))));
        assert!(room.queue_question(ask(0, "a"), &tool("t")).is_err());
        assert!(room.queue_ask(ask(0, "a"), &tool("t")).is_ok(), "its calls are still asked about");
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_nobody_waits_for_is_gone_and_room_is_bounded() {
        let room = room();
        let mut tickets: Vec<Ticket> =
            (0..WAITING_OF_SERVER).map(|_| room.queue_ask(ask(0, "a"), &tool("t")).unwrap()).collect();
        assert!(room.queue_ask(ask(0, "b"), &tool("t")).is_err());
        drop(tickets.pop());
        assert!(room.queue_ask(ask(0, "b"), &tool("t")).is_ok());
        drop(tickets);
        assert_eq!(room.asks(false).await, AskList::default());
        assert!(room.is_attended(), "whoever asked for questions a moment ago is there");
    }

    #[tokio::test(start_paused = true)]
    async fn an_allowed_call_comes_back_once() {
        let (room, arguments) = (room(), serde_json::json!({ "a": 1 }));
        room.expect_back("a", &tool("t"), arguments.clone());
        assert!(!room.is_back("b", &tool("t"), &arguments));
        assert!(!room.is_back("a", &tool("t"), &serde_json::json!({ "a": 2 })));
        assert!(room.is_back("a", &tool("t"), &arguments));
        assert!(!room.is_back("a", &tool("t"), &arguments));
        room.expect_back("a", &tool("t"), arguments.clone());
        tokio::time::advance(COMES_BACK).await;
        assert!(!room.is_back("a", &tool("t"), &arguments));
    }
}
