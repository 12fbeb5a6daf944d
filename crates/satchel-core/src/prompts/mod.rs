//! Queues what people are asked at Satchel's own faces: permissions for calls, servers' questions, and credentials. No
//! answer, or no open face, means no.
//!
//! Remembers answers for a session and limits how much clients and servers may ask. The room knows no server and makes
//! no call; whoever asks waits with a [`Ticket`].

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};

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
        nature::Consent,
    },
};

/// A question without an answer counts as declined after this time.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// If nobody is known to watch, someone may still appear within this time.
const GRACE: Duration = Duration::from_secs(10);
/// Approvals earlier than this are ignored, to catch accidental clicks.
const GUARD: Duration = Duration::from_millis(800);
/// Whoever requested the questions within this time counts as watching.
const ATTENTION: Duration = Duration::from_secs(30);
/// Maximum number of waiting calls of one server, and of one client.
const WAITING_OF_SERVER: usize = 5;
const WAITING_OF_CLIENT: usize = 10;
/// Maximum number of questions about one client's calls within [`MINUTE`]; further ones are declined without asking.
const QUESTIONS: usize = 20;
const MINUTE: Duration = Duration::from_secs(60);
/// A person who is reading a question has at least this long from then on, within a total limit.
const READING: Duration = Duration::from_secs(30);
const READING_AT_MOST: Duration = Duration::from_secs(10 * 60);
/// Waits are cut into pieces of this length. A piece that took considerably longer was interrupted by sleep of the
/// computer. Windows counts that time, and the absence of a person must not decline the question.
const PIECE: Duration = Duration::from_secs(5);
const NAP: Duration = Duration::from_secs(30);
/// Maximum number of a server's questions to people within [`MINUTE`]; further ones fail without asking.
const QUESTIONS_OF_SERVER: usize = 120;
/// The share of those that Satchel itself may ask.
const QUESTIONS_AT_FACES: usize = 10;
/// How long a session's permission lasts after its last use.
const SESSION: Duration = Duration::from_secs(60 * 60);
/// How long a call that its server answered with a question may take to be repeated as the same call.
const COMES_BACK: Duration = Duration::from_secs(10 * 60);
/// How many of those are remembered.
const ROUNDS: usize = 64;

/// The queue of everything that waits for a person. Knows whether someone is watching.
#[derive(Debug)]
pub struct Prompts {
    state: Mutex<QueueState>,
    came: Notify,
    /// Number of interfaces that show every question by themselves.
    faces: AtomicUsize,
    /// Signalled when the queue changes.
    changed: Arc<Notify>,
    /// Cancelled when nobody waits for questions any more.
    end: CancellationToken,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: VecDeque<Waiting>,
    /// Muted pairs of client and server.
    muted: BTreeSet<(String, String)>,
    /// Servers whose own questions are muted.
    muted_servers: BTreeSet<String>,
    /// When servers' questions were queued.
    faced: HashMap<String, VecDeque<Instant>>,
    /// Session permissions with the time of their last use and who gave them, by client and tool.
    granted: HashMap<(String, ToolPath), (Instant, Consent)>,
    /// When questions were asked, by client.
    asked: HashMap<String, VecDeque<Instant>>,
    /// When servers asked questions.
    questions: HashMap<String, VecDeque<Instant>>,
    /// Allowed calls that are expected back with an answer to their server.
    rounds: VecDeque<AllowedRound>,
    last_look: Option<Instant>,
    number: u64,
}

/// An allowed call that its server answered with a question.
#[derive(Debug)]
struct AllowedRound {
    since: Instant,
    client: String,
    path: ToolPath,
    arguments: Value,
    consent: Consent,
}

#[derive(Debug)]
struct Waiting {
    ask: Ask,
    path: ToolPath,
    since: Instant,
    /// Since when it is visible; one question per server at a time.
    offered: Option<Instant>,
    /// When it times out, once visible.
    until: Instant,
    answer: oneshot::Sender<Said>,
}

/// A person's answer.
#[derive(Debug, Clone)]
pub enum Said {
    /// To a permission question.
    OfCall(AskAnswer),
    /// To a server's question.
    OfQuestion(QuestionAnswer),
}

impl Prompts {
    /// An empty queue. Signals `changed` when it changes; `end` releases all waiters.
    pub fn new(changed: Arc<Notify>, end: CancellationToken) -> Arc<Self> {
        let (state, came, faces) = (Mutex::default(), Notify::new(), AtomicUsize::new(0));
        Arc::new(Self { state, came, faces, changed, end })
    }

    /// Signals a change.
    fn tell(&self) {
        self.came.notify_waiters();
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock()
    }
}

impl QueueState {
    /// May this server ask another question? If so, counts it.
    fn bear(&mut self, server: &str, now: Instant) -> bool {
        counted(self.questions.entry(server.to_owned()).or_default(), QUESTIONS_OF_SERVER, now)
    }

    /// May this server ask another question through Satchel? If so, counts it.
    fn face(&mut self, server: &str, now: Instant) -> Result<(), &'static str> {
        if self.muted_servers.contains(server) {
            return Err("the user muted its questions");
        }
        let bearable = counted(self.faced.entry(server.to_owned()).or_default(), QUESTIONS_AT_FACES, now);
        bearable.then_some(()).ok_or("it asked too many questions within a minute")
    }

    /// Makes questions visible: about calls at once, and the first question of each server.
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

    /// Extends a question's timeout.
    fn extend(&mut self, id: u64, more: Duration) {
        if let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.ask.id == id) {
            waiting.until += more;
            waiting.ask.until_ms += millis(more);
        }
    }

    /// The visible question with this number; an approval must not come before anyone could have read it.
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

    /// Answers all matching questions. Returns whether there was one.
    fn answer(&mut self, meant: impl Fn(&Waiting) -> bool, said: &Said) -> bool {
        let (answered, waiting): (VecDeque<_>, _) = self.waiting.drain(..).partition(meant);
        self.waiting = waiting;
        self.offer(Instant::now());
        let any = !answered.is_empty();
        for waiting in answered {
            // The asker may be gone.
            let _ = waiting.answer.send(said.clone());
        }
        any
    }

    /// Is there room for another question? Returns the reason if not.
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

/// Is another event within the minute allowed? If so, counts it.
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

/// A place in the queue. Dropping it withdraws the question.
#[derive(Debug)]
pub struct Ticket {
    prompts: Arc<Prompts>,
    id: u64,
    since: Instant,
    answer: oneshot::Receiver<Said>,
}

impl Ticket {
    /// A person's decision about a call, or why there is none. Cancel safe.
    pub async fn word(&mut self) -> Result<AskAnswer, &'static str> {
        match self.said().await? {
            Said::OfCall(answer) => Ok(answer),
            Said::OfQuestion(_) => Err(SILENT),
        }
    }

    /// The same for any kind of question.
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
            // A reader has more time.
            let until = self.until();
            if Instant::now() >= until {
                return Err(SILENT);
            }
            if let Some(said) = self.piece(until).await {
                return said;
            }
        }
    }

    /// Waits for one piece, at most until the deadline. Time during which the computer slept does not count.
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
            // The time starts when the question becomes visible.
            Some(_) => Instant::now() + PATIENCE,
            None => self.since + PATIENCE,
        }
    }
}

/// The reason if a person could see the question and did not answer.
pub const SILENT: &str = "the user did not answer";
/// The reason if nobody is watching.
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
    /// Sets whether some interface shows every question by itself.
    pub fn set_attended(&self, attended: bool) {
        let faces = &self.faces;
        if attended {
            faces.fetch_add(1, Ordering::Relaxed);
        } else {
            let _ = faces.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_sub(1));
        }
    }

    /// Is someone watching, or was a moment ago?
    pub fn is_attended(&self) -> bool {
        self.faces.load(Ordering::Relaxed) > 0
            || self.lock().last_look.is_some_and(|look| look.elapsed() < ATTENTION)
    }

    /// May another question about this client's calls of this server be asked? If so, counts it.
    ///
    /// # Errors
    /// The reason, if not.
    pub fn admit_question(&self, client: &str, server: &str) -> Result<(), &'static str> {
        self.lock().admit(client, server, Instant::now())
    }

    /// Why this server may not ask another question, if so. Otherwise counts it.
    pub fn bear_question(&self, server: &ServerName) -> Option<&'static str> {
        let bearable = self.lock().bear(server.as_str(), Instant::now());
        (!bearable).then_some("too many questions within a minute; nobody was asked this one")
    }

    /// Queues a permission question. Fills in the fields that only the queue knows.
    ///
    /// # Errors
    /// The reason, if too many are waiting.
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

    /// Queues a server's question.
    ///
    /// # Errors
    /// The reason, if it asked too much or is muted.
    pub fn queue_question(self: &Arc<Self>, ask: Ask, path: &ToolPath) -> Result<Ticket, &'static str> {
        self.lock().face(path.server.as_str(), Instant::now())?;
        self.queue_ask(ask, path)
    }

    /// A person is reading this question.
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

    /// The waiting questions in fair order.
    pub fn waiting_asks(&self) -> Vec<Ask> {
        let now = Instant::now();
        let state = self.lock();
        let seen = state.waiting.iter().filter(|waiting| waiting.offered.is_some() && waiting.until > now);
        fair(seen.map(|waiting| waiting.ask.clone()))
    }

    /// The same for an interface that shows them. With `wait`, answers when something waits, or after some seconds.
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

    /// The client and tool that this question is about.
    ///
    /// # Errors
    /// If it is no longer open, or was approved too soon. In the latter case it stays open.
    pub fn asked_about(&self, id: u64, answer: AskAnswer) -> Result<(String, ToolPath), Refusal> {
        self.lock().asked_about(id, answer)
    }

    /// Applies a person's decision to every question that it settles.
    ///
    /// # Errors
    /// If the question is no longer open, or was approved too soon. In the latter case it stays open.
    pub fn answer_ask(&self, id: u64, answer: AskAnswer) -> Result<(), Refusal> {
        let mut state = self.lock();
        let (client, path) = state.asked_about(id, answer)?;
        match answer {
            AskAnswer::Session => {
                let granted = (Instant::now(), Consent::Session);
                state.granted.insert((client.clone(), path.clone()), granted);
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

    /// Applies a person's answer to a server's question.
    ///
    /// # Errors
    /// If the question is no longer open, the answer does not fit, or it was approved too soon. In the last two cases it
    /// stays open.
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

    /// The secret that this question asks for.
    ///
    /// # Errors
    /// If it is no longer open, asks for something else, or was answered before anyone could have read it.
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

    /// A secret was stored: resumes those that wait for it.
    pub fn secret_came(&self, name: &str) {
        let wants = |waiting: &Waiting| {
            let question = waiting.ask.question.as_ref();
            question.is_some_and(|question| question.wants == Wanted::Credential { name: name.to_owned() })
        };
        let given = Said::OfQuestion(QuestionAnswer::Accept { content: serde_json::Map::new() });
        self.lock().answer(wants, &given);
        self.tell();
    }

    /// How this client's calls of the tool were allowed for the session, if they were.
    pub fn is_granted(&self, client: &str, path: &ToolPath) -> Option<Consent> {
        let mut state = self.lock();
        let now = Instant::now();
        state.granted.retain(|_, (used, _)| now - *used < SESSION);
        let (used, consent) = state.granted.get_mut(&(client.to_owned(), path.clone()))?;
        *used = now;
        Some(*consent)
    }

    /// Records that the client says its user allowed its calls of the tool for this session.
    pub fn grant(&self, client: &str, path: &ToolPath) {
        let granted = (Instant::now(), Consent::ClientSession);
        self.lock().granted.insert((client.to_owned(), path.clone()), granted);
    }

    /// Expects an allowed call back once, because its server answered with a question; it needs no further permission.
    pub fn expect_back(&self, client: &str, path: &ToolPath, arguments: Value, consent: Consent) {
        let (since, client, path) = (Instant::now(), client.to_owned(), path.clone());
        let mut state = self.lock();
        if state.rounds.len() >= ROUNDS {
            state.rounds.pop_front();
        }
        state.rounds.push_back(AllowedRound { since, client, path, arguments, consent });
    }

    /// How such a call was allowed; `None` if it is none.
    pub fn is_back(&self, client: &str, path: &ToolPath, arguments: &Value) -> Option<Consent> {
        let mut state = self.lock();
        state.rounds.retain(|round| round.since.elapsed() < COMES_BACK);
        let meant = |round: &AllowedRound| {
            round.client == client && round.path == *path && round.arguments == *arguments
        };
        let at = state.rounds.iter().position(meant)?;
        state.rounds.remove(at).map(|round| round.consent)
    }
}

fn gone(id: u64) -> Refusal {
    Refusal::new(Code::NotAsked, format!("question {id} is no longer open"), "")
}

/// Round-robin by client, in order of arrival.
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
            usual: None,
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

    /// A question that has been readable long enough.
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
    async fn silence_means_no_and_sooner_if_no_person_can_answer() {
        let room = room();
        let began = Instant::now();
        assert_eq!(asked(&room, "a", None).await.word().await, Err(NOBODY));
        assert_eq!(began.elapsed(), GRACE);
        room.set_attended(true);
        let (began, mut ticket) = (Instant::now(), asked(&room, "a", None).await);
        assert_eq!(ticket.word().await, Err(SILENT));
        assert_eq!(began.elapsed(), PATIENCE);
        drop(ticket);
        // A reader has more time, within a limit.
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
    async fn time_asleep_does_not_count_as_silence() {
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
        // One answer settles what it covers, and nothing else.
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
            assert_eq!(room.is_granted("a", &tool("t")), Some(Consent::Session));
        }
        assert!(room.is_granted("a", &tool("u")).is_none() && room.is_granted("b", &tool("t")).is_none());
        tokio::time::advance(SESSION).await;
        assert!(room.is_granted("a", &tool("t")).is_none());
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
    async fn a_question_without_a_waiting_caller_is_removed_and_the_queue_is_bounded() {
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
        room.expect_back("a", &tool("t"), arguments.clone(), Consent::Once);
        assert!(room.is_back("b", &tool("t"), &arguments).is_none());
        assert!(room.is_back("a", &tool("t"), &serde_json::json!({ "a": 2 })).is_none());
        assert_eq!(room.is_back("a", &tool("t"), &arguments), Some(Consent::Once));
        assert!(room.is_back("a", &tool("t"), &arguments).is_none());
        room.expect_back("a", &tool("t"), arguments.clone(), Consent::Once);
        tokio::time::advance(COMES_BACK).await;
        assert!(room.is_back("a", &tool("t"), &arguments).is_none());
    }
}
