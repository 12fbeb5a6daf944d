//! What waits for a person at one of Satchel's own faces: calls that a rule asks about, and what servers want to know.
//! Silence is a no, and so is a hub that nobody looks at.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::{
    sync::{Notify, oneshot},
    time::Instant,
};

use super::{CallFailure, Hub, view::now_ms};
use crate::{
    bridge::form,
    model::{
        Code, ServerName, ToolPath,
        asks::{Ask, AskAnswer, AskList, QuestionAnswer, Wanted},
        control::{Change, Refusal},
    },
    trust::clean,
};

/// Silence of a person is a no after so long.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
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

/// What waits, and whether somebody looks.
#[derive(Debug, Default)]
pub(super) struct Asking {
    state: Mutex<State>,
    came: Notify,
    /// Faces that show every question by themselves.
    faces: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
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
pub(super) enum Said {
    /// About a call.
    OfCall(AskAnswer),
    /// To a server's question.
    OfQuestion(QuestionAnswer),
}

impl Asking {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// May this server ask another question? Counts it, where it may.
    fn bear(&mut self, server: &str, now: Instant) -> bool {
        counted(self.questions.entry(server.to_owned()).or_default(), QUESTIONS_OF_SERVER, now)
    }

    /// May this server ask another question at our faces? Counts it, where it may.
    fn face(&mut self, server: &str, now: Instant) -> Result<(), &'static str> {
        if self.muted_servers.contains(server) {
            return Err("the user wants to hear no more questions of it");
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

    /// What waits under this number and can be seen; a yes must not come before anybody could have read it.
    fn offered(&mut self, id: u64, yes: bool) -> Result<&Waiting, Refusal> {
        self.last_look = Some(Instant::now());
        let waiting = self.waiting.iter().find(|waiting| waiting.ask.id == id);
        let seen = waiting.and_then(|waiting| Some((waiting, waiting.offered?)));
        let (waiting, since) = seen.ok_or_else(|| gone(id))?;
        if yes && since.elapsed() < GUARD {
            let message = "this yes came before anybody could have read the question";
            return Err(Refusal::new("too_soon", message, "Read it, then answer again."));
        }
        Ok(waiting)
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
            return Err("the user wants to hear no more questions about it");
        }
        let bearable = counted(self.asked.entry(client.to_owned()).or_default(), QUESTIONS, now);
        bearable
            .then_some(())
            .ok_or("this client asked for too much that a person has to allow within a minute")
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
pub(super) struct Ticket {
    hub: Hub,
    id: u64,
    since: Instant,
    answer: oneshot::Receiver<Said>,
}

impl Ticket {
    /// A person's word about a call, or why there is none. May be given up and called again.
    pub(super) async fn word(&mut self) -> Result<AskAnswer, &'static str> {
        match self.said().await? {
            Said::OfCall(answer) => Ok(answer),
            Said::OfQuestion(_) => Err(SILENT),
        }
    }

    /// The same about whatever was asked.
    pub(super) async fn said(&mut self) -> Result<Said, &'static str> {
        let looked = self.since + GRACE;
        tokio::select! {
            answer = &mut self.answer => return answer.map_err(|_| SILENT),
            () = tokio::time::sleep_until(looked) => {}
        }
        if !self.hub.is_attended() {
            return Err(NOBODY);
        }
        loop {
            let until = self.until();
            match tokio::time::timeout_at(until, &mut self.answer).await {
                Ok(answer) => return answer.map_err(|_| SILENT),
                // Whoever reads it has more time.
                Err(_) if self.until() > until => {}
                Err(_) => return Err(SILENT),
            }
        }
    }

    fn until(&self) -> Instant {
        let state = self.hub.inner.asking.lock();
        match state.waiting.iter().find(|waiting| waiting.ask.id == self.id) {
            Some(waiting) if waiting.offered.is_some() => waiting.until,
            // Its time begins when it can be seen.
            Some(_) => Instant::now() + PATIENCE,
            None => self.since + PATIENCE,
        }
    }
}

pub(super) const SILENT: &str = "the user did not answer";
pub(super) const NOBODY: &str = "a person has to allow it, and nobody is there to be asked";

impl Drop for Ticket {
    fn drop(&mut self) {
        {
            let mut state = self.hub.inner.asking.lock();
            state.waiting.retain(|waiting| waiting.ask.id != self.id);
            state.offer(Instant::now());
        }
        self.hub.inner.asking.came.notify_waiters();
        self.hub.inner.compose.notify_one();
    }
}

impl Hub {
    /// From now on, or no longer, a face shows every question by itself.
    pub fn set_attended(&self, attended: bool) {
        let faces = &self.inner.asking.faces;
        if attended {
            faces.fetch_add(1, Ordering::Relaxed);
        } else {
            let _ = faces.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_sub(1));
        }
    }

    pub(super) fn is_attended(&self) -> bool {
        let asking = &self.inner.asking;
        asking.faces.load(Ordering::Relaxed) > 0
            || asking.lock().last_look.is_some_and(|look| look.elapsed() < ATTENTION)
    }

    /// Is another question about a client's calls of a server bearable? Counts it, where it is.
    ///
    /// # Errors
    /// The reason, where it is not.
    pub(super) fn admit_question(&self, client: &str, server: &str) -> Result<(), &'static str> {
        self.inner.asking.lock().admit(client, server, Instant::now())
    }

    /// Why another question of a server to people is not bearable. Counts it, where it is.
    pub(super) fn bear_question(&self, server: &ServerName) -> Option<&'static str> {
        let bearable = self.inner.asking.lock().bear(server.as_str(), Instant::now());
        (!bearable).then_some("too many questions within a minute; nobody was asked this one")
    }

    /// Puts a question to whoever looks at Satchel. The fields that only the queue knows are filled in here.
    ///
    /// # Errors
    /// The reason, where too many wait already.
    pub(super) fn queue_ask(&self, mut ask: Ask, path: &ToolPath) -> Result<Ticket, &'static str> {
        let (answer, answered) = oneshot::channel();
        let since = Instant::now();
        let id = {
            let mut state = self.inner.asking.lock();
            let of =
                |is: &dyn Fn(&Ask) -> bool| state.waiting.iter().filter(|waiting| is(&waiting.ask)).count();
            if of(&|other| other.server == ask.server) >= WAITING_OF_SERVER
                || of(&|other| other.client == ask.client) >= WAITING_OF_CLIENT
            {
                return Err("too many calls wait for the user already");
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
        self.inner.asking.came.notify_waiters();
        self.inner.compose.notify_one();
        Ok(Ticket { hub: self.clone(), id, since, answer: answered })
    }

    /// Puts a server's question to whoever looks at Satchel.
    ///
    /// # Errors
    /// The reason, where it has asked too much, or nobody wants to hear more of it.
    pub(super) fn queue_question(&self, ask: Ask, path: &ToolPath) -> Result<Ticket, &'static str> {
        self.inner.asking.lock().face(path.server.as_str(), Instant::now())?;
        self.queue_ask(ask, path)
    }

    /// Somebody is reading this question right now.
    pub(super) fn reading_ask(&self, id: u64) {
        let mut state = self.inner.asking.lock();
        state.last_look = Some(Instant::now());
        let Some(waiting) = state.waiting.iter_mut().find(|waiting| waiting.ask.id == id) else { return };
        let until = (Instant::now() + READING).min(waiting.since + READING_AT_MOST);
        if until > waiting.until {
            waiting.ask.until_ms += millis(until - waiting.until);
            waiting.until = until;
        }
    }

    /// What waits, fairest first.
    pub(super) fn waiting_asks(&self) -> Vec<Ask> {
        let now = Instant::now();
        let state = self.inner.asking.lock();
        let seen = state.waiting.iter().filter(|waiting| waiting.offered.is_some() && waiting.until > now);
        fair(seen.map(|waiting| waiting.ask.clone()))
    }

    /// The same for somebody who looks. With `wait` the answer comes when something waits, or after some seconds.
    pub(super) async fn asks(&self, wait: bool) -> AskList {
        let until = Instant::now() + ATTENTION / 2;
        loop {
            let came = self.inner.asking.came.notified();
            self.inner.asking.lock().last_look = Some(Instant::now());
            let asks = self.waiting_asks();
            if !wait || !asks.is_empty() {
                return AskList { asks };
            }
            tokio::select! {
                () = came => {}
                () = tokio::time::sleep_until(until) => return AskList::default(),
                () = self.inner.end.cancelled() => return AskList::default(),
            }
        }
    }

    /// A person's word about a call.
    ///
    /// # Errors
    /// Where it is not asked any more, a yes came too soon to be one, or the rule cannot be written. It is still asked
    /// then.
    pub(super) async fn answer_ask(&self, id: u64, answer: AskAnswer) -> Result<(), Refusal> {
        let (client, path) = {
            let mut state = self.inner.asking.lock();
            let waiting = state.offered(id, answer.is_yes())?;
            if waiting.ask.question.is_some() {
                let message = format!("question {id} is a server's, and wants another kind of answer");
                return Err(Refusal::new("other_question", message, "See `satchel answer --help`."));
            }
            (waiting.ask.client.clone(), waiting.path.clone())
        };
        if answer == AskAnswer::Always {
            self.always_allow(&client, &path).await?;
        }
        let mut state = self.inner.asking.lock();
        match answer {
            AskAnswer::Session => {
                state.granted.insert((client.clone(), path.clone()), Instant::now());
            }
            AskAnswer::Mute => {
                state.muted.insert((client.clone(), path.server.to_string()));
            }
            AskAnswer::Once | AskAnswer::Always | AskAnswer::No => {}
        }
        // One word answers every question that it makes needless.
        let meant = |waiting: &Waiting| match answer {
            _ if waiting.ask.id == id => true,
            _ if waiting.ask.question.is_some() => false,
            AskAnswer::Once | AskAnswer::No => false,
            AskAnswer::Session | AskAnswer::Always => waiting.ask.client == client && waiting.path == path,
            AskAnswer::Mute => waiting.ask.client == client && waiting.path.server == path.server,
        };
        let said = state.answer(meant, &Said::OfCall(answer));
        drop(state);
        self.inner.compose.notify_one();
        if said { Ok(()) } else { Err(gone(id)) }
    }

    /// A person's answer to a server's question.
    ///
    /// # Errors
    /// Where it is not asked any more, does not fit the question, or a yes came too soon to be one. It is still asked
    /// then.
    pub(super) fn answer_question(&self, id: u64, answer: QuestionAnswer) -> Result<(), Refusal> {
        let mut state = self.inner.asking.lock();
        let waiting = state.offered(id, matches!(answer, QuestionAnswer::Accept { .. }))?;
        let server = waiting.ask.server.clone();
        let Some(question) = &waiting.ask.question else {
            let message = format!("question {id} is about a call, and wants another kind of answer");
            return Err(Refusal::new("other_question", message, "See `satchel answer --help`."));
        };
        let answer = match answer {
            QuestionAnswer::Accept { content } => {
                let content = form::checked(&question.wants, content);
                let content = content.map_err(|why| Refusal::new("bad_answer", why, ""))?;
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
        self.inner.asking.came.notify_waiters();
        self.inner.compose.notify_one();
        if said { Ok(()) } else { Err(gone(id)) }
    }

    /// Which value this question wants stored.
    ///
    /// # Errors
    /// Where it is not asked any more, wants something else, or was answered before anybody could have read it.
    pub(super) fn wanted_secret(&self, id: u64) -> Result<String, Refusal> {
        let mut state = self.inner.asking.lock();
        let waiting = state.offered(id, true)?;
        match waiting.ask.question.as_ref().map(|question| &question.wants) {
            Some(Wanted::Credential { name }) => Ok(name.clone()),
            Some(Wanted::Form { .. } | Wanted::Secret { .. } | Wanted::Page { .. }) | None => {
                let message = format!("question {id} wants no credential");
                Err(Refusal::new("other_question", message, "See `satchel answer --help`."))
            }
        }
    }

    /// A value was stored: whoever waits for it goes on.
    pub(super) fn secret_came(&self, name: &str) {
        let wants = |waiting: &Waiting| {
            let question = waiting.ask.question.as_ref();
            question.is_some_and(|question| question.wants == Wanted::Credential { name: name.to_owned() })
        };
        let given = Said::OfQuestion(QuestionAnswer::Accept { content: serde_json::Map::new() });
        self.inner.asking.lock().answer(wants, &given);
        self.inner.asking.came.notify_waiters();
        self.inner.compose.notify_one();
    }

    async fn always_allow(&self, client: &str, path: &ToolPath) -> Result<(), Refusal> {
        let all = self.inner.catalog.borrow().clone();
        let own = all.tool(path).map_or_else(|| path.tool.clone(), |tool| tool.name_there().to_owned());
        let tool = format!("{}:{own}", path.server.in_path());
        if tool.contains(['*', '?']) || client.contains(['*', '?']) {
            let message =
                format!("no rule can be for {tool} alone: its name has a sign that stands for others");
            return Err(Refusal::new("bad_rule", message, "Allow it once, or write a wider rule yourself."));
        }
        let permit = Some(crate::model::nature::Permit::Allow);
        self.apply(Change::SetPermit { tool, client: Some(client.to_owned()), permit }).await?;
        Ok(())
    }

    /// Did a person allow this client's calls of the tool for now?
    pub(super) fn is_granted(&self, client: &str, path: &ToolPath) -> bool {
        let mut state = self.inner.asking.lock();
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
    pub(super) fn grant(&self, client: &str, path: &ToolPath) {
        self.inner.asking.lock().granted.insert((client.to_owned(), path.clone()), Instant::now());
    }

    /// A call that was allowed ended with a question of its server: it comes back once, and is not asked about again.
    pub(super) fn expect_back(&self, client: &str, path: &ToolPath, arguments: Value) {
        let mut state = self.inner.asking.lock();
        if state.rounds.len() >= ROUNDS {
            state.rounds.pop_front();
        }
        state.rounds.push_back((Instant::now(), client.to_owned(), path.clone(), arguments));
    }

    /// Is it such a call?
    pub(super) fn is_back(&self, client: &str, path: &ToolPath, arguments: &Value) -> bool {
        let mut state = self.inner.asking.lock();
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
    Refusal::new("not_asked", format!("question {id} is not asked any more"), "")
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

/// A call that is not made, with the reason.
pub(super) fn denied(path: &ToolPath, why: &str) -> CallFailure {
    let message = format!("{} was not called: {why}", clean::visible(&path.to_string()));
    CallFailure::not_sent(Some(&path.server), Some(Code::Denied), message, Code::Denied.action().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::nature::Effect;

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
        let mut state = State::default();
        let asked = (0..2_000).filter(|_| state.bear("flood", Instant::now())).count();
        assert_eq!(asked, QUESTIONS_OF_SERVER);
        assert!(state.bear("other", Instant::now()));
        tokio::time::advance(MINUTE).await;
        assert!(state.bear("flood", Instant::now()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_one_client_is_a_no_and_others_are_still_asked() {
        let mut state = State::default();
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
}
