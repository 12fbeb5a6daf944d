//! A script that a client runs: each of its calls goes the way of every call of that client, and what a server or a rule
//! asks meanwhile is asked of that client. What a script may use up is the matter of [`crate::scripts`].

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use satchel_mcp::{ErrorObject, Raw, RawObject};
use serde_json::{json, value::to_raw_value};
use tokio::sync::mpsc;

use super::{CallFailure, Failed, Hub, Running, Step};
use crate::{
    bridge::{Caller, Question},
    model::{Code, ledger::CallKind},
    recorder::Observer,
    scripts::{self, Blocks, Call, Carry, Finished, Pending, Run, Settlement, StartError, Task, Wrong},
    stats::event::Visit,
};

/// How often a call is asked whether it waits for people.
const TICK: Duration = Duration::from_secs(1);
/// What is to be told and not heard yet: questions wait, notes are dropped.
const STEPS: usize = 32;
const PROGRESS: &str = "notifications/progress";
/// Words to one call that it has not taken in yet.
const WORDS: usize = 32;

/// What a client asked for that is under way. Dropping it takes it back.
#[derive(Debug)]
pub enum Underway {
    /// One call.
    Call(Box<Running>),
    /// A script, with its calls.
    Script(Box<Script>),
}

impl Underway {
    /// The next thing that happens. After [`Step::End`] there is no other. May be given up and called again.
    pub async fn next(&mut self) -> Step {
        match self {
            Underway::Call(running) => running.next().await,
            Underway::Script(script) => script.next().await,
        }
    }

    /// Answers a [`Step::Question`]. An answer to anything else is dropped.
    pub fn answer(&mut self, key: &str, outcome: Result<Box<Raw>, ErrorObject>) {
        match self {
            Underway::Call(running) => running.answer(key, outcome),
            Underway::Script(script) => script.answer(key, outcome),
        }
    }

    /// Its client has gone to find an answer, or is back with it.
    pub fn park(&self, parked: bool) {
        match self {
            Underway::Call(running) => running.park(parked),
            Underway::Script(script) => script.hands.tell_all(|| Word::Park(parked)),
        }
    }

    /// Who observes it.
    pub fn observer(&self) -> &Observer {
        match self {
            Underway::Call(running) => running.observer(),
            Underway::Script(script) => &script.hub.observer,
        }
    }
}

/// What is to be run, as its client wrote it.
#[derive(Debug)]
pub struct Wanted {
    /// The body of an async function.
    pub script: String,
    /// What it gets as `input`.
    pub input: Box<Raw>,
    /// How long it may take.
    pub patience: Duration,
}

/// A script under way. Dropping it ends it and its calls.
#[derive(Debug)]
pub struct Script {
    hub: Hub,
    client: Arc<str>,
    run: Run,
    hands: Hands,
    steps: mpsc::Receiver<Step>,
    over: bool,
}

impl Script {
    /// Begins one. The handle observes the run itself.
    pub(super) fn begin(
        hub: &Hub,
        caller: &Caller,
        visit: &Arc<Visit>,
        wanted: Wanted,
    ) -> Result<Self, CallFailure> {
        let task = Task { script: wanted.script, input: wanted.input };
        let run = hub.inner.clients.scripts.begin(&caller.client, &task, wanted.patience);
        let run = run.map_err(|error| refused(&error))?;
        let (told, steps) = mpsc::channel(STEPS);
        let hands = Hands {
            hub: hub.clone(),
            // What a server asks comes out as a question of the script's, whatever revision its client speaks; and a
            // server's own log has no place in a value.
            caller: Caller { modern: false, log_from: None, ..caller.clone() },
            visit: visit.clone(),
            cause: hub.observer.cause(),
            told,
            words: HashMap::new(),
            blocks: Arc::default(),
            asking: Arc::default(),
            count: Arc::default(),
        };
        Ok(Self { hub: hub.clone(), client: caller.client.clone(), run, hands, steps, over: false })
    }

    async fn next(&mut self) -> Step {
        if self.over {
            let message = "the script is over".to_owned();
            return Step::End(Err(Failed::Hub(CallFailure::not_sent(None, None, message, String::new()))));
        }
        tokio::select! {
            Some(step) = self.steps.recv() => step,
            finished = self.run.end(&mut self.hands) => {
                self.over = true;
                Step::End(Ok(self.answered(&finished)))
            }
        }
    }

    fn answered(&self, finished: &Finished) -> Box<Raw> {
        let blocks = self.hands.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let result = scripts::answer(finished, &blocks, self.hub.result_cap(&self.client));
        let fault = finished.outcome.as_ref().err().map(|wrong| match wrong {
            // A server's words, or the script's own: the history keeps neither.
            Wrong::Thrown(_) => "the script ended with an error that it did not catch".to_owned(),
            Wrong::Stuck | Wrong::Bound(_) => wrong.to_string(),
        });
        self.hub.observer.ran(&result, fault);
        result
    }

    fn answer(&mut self, key: &str, outcome: Result<Box<Raw>, ErrorObject>) {
        let Some((id, key)) = key.split_once('.') else { return };
        if let Some(call) = id.parse().ok().and_then(|id: u32| self.hands.words.get(&id)) {
            // Nobody listens where the call is over.
            let _ = call.try_send(Word::Answer(key.to_owned(), outcome));
        }
    }
}

fn refused(error: &StartError) -> CallFailure {
    let (code, action) = match error {
        StartError::TooMany(_) => (Some(Code::TooMany), "Run it again when one of them has ended."),
        StartError::Process(_) => (None, "Call the tools one by one instead."),
    };
    CallFailure::not_sent(None, code, error.to_string(), action.to_owned())
}

/// Carries out a script's calls on behalf of its client.
#[derive(Debug)]
struct Hands {
    hub: Hub,
    caller: Caller,
    visit: Arc<Visit>,
    /// The trace that the run and its calls have in common.
    cause: String,
    told: mpsc::Sender<Step>,
    /// To the calls that are open, by their numbers.
    words: HashMap<u32, mpsc::Sender<Word>>,
    blocks: Arc<Mutex<Blocks>>,
    /// How many calls wait for people.
    asking: Arc<AtomicUsize>,
    /// How much progress was told.
    count: Arc<AtomicU64>,
}

/// What is told to a call of a script.
enum Word {
    Answer(String, Result<Box<Raw>, ErrorObject>),
    Park(bool),
}

impl Hands {
    fn tell_all(&self, word: impl Fn() -> Word) {
        for call in self.words.values() {
            // Nobody listens where the call is over.
            let _ = call.try_send(word());
        }
    }
}

impl Carry for Hands {
    fn carry(&mut self, call: Call) -> Pending {
        let progress =
            Progress { told: self.told.clone(), count: self.count.clone(), path: call.path.clone() };
        progress.tell(None);
        let (word, words) = mpsc::channel(WORDS);
        self.words.retain(|_, call| !call.is_closed());
        self.words.insert(call.id, word);
        let one = One {
            id: call.id,
            told: self.told.clone(),
            progress,
            words,
            asking: Asking { count: self.asking.clone(), now: false },
            blocks: self.blocks.clone(),
        };
        let request = format!(r#"{{"name":{},"arguments":{}}}"#, json!(call.path), call.arguments.get());
        let observer = self.hub.observe(&self.visit, CallKind::Inside, &call.path, &request);
        observer.trace(&self.cause);
        let (hub, caller) = (self.hub.observed(&observer), self.caller.clone());
        Box::pin(async move {
            hub.client_seen(&caller.client, Some(&call.path));
            let mut params = RawObject::new();
            params.set("arguments", call.arguments);
            let mut meta = RawObject::new();
            // Numbers always serialize.
            let _ = meta.put("progressToken", &0);
            params.set("_meta", meta.to_raw());
            match hub.execute_whole(&caller, &call.path, params).await {
                Ok(running) => one.drive(running).await,
                Err(failure) => Settlement::Failure(words_of(&failure)),
            }
        })
    }

    fn is_asking(&self) -> bool {
        self.asking.load(Ordering::Relaxed) > 0
    }
}

/// One call of a script.
struct One {
    id: u32,
    told: mpsc::Sender<Step>,
    progress: Progress,
    words: mpsc::Receiver<Word>,
    asking: Asking,
    blocks: Arc<Mutex<Blocks>>,
}

impl One {
    async fn drive(mut self, mut running: Running) -> Settlement {
        loop {
            let step = tokio::select! {
                step = running.next() => step,
                Some(word) = self.words.recv() => {
                    match word {
                        Word::Answer(key, outcome) => running.answer(&key, outcome),
                        Word::Park(parked) => running.park(parked),
                    }
                    continue;
                }
                () = tokio::time::sleep(TICK) => {
                    self.asking.set(running.waits_for_people());
                    continue;
                }
            };
            match step {
                Step::Note { method, params } => {
                    if method == PROGRESS {
                        let said = params.and_then(|params| RawObject::parse(&params).ok()?.text("message"));
                        self.progress.tell(said.as_deref());
                    }
                }
                Step::Question(question) => {
                    self.asking.set(true);
                    let question = Question { key: format!("{}.{}", self.id, question.key), ..question };
                    // Where nobody listens any more, this is dropped with the rest.
                    let _ = self.told.send(Step::Question(question)).await;
                }
                Step::End(Ok(result)) => {
                    return self.blocks.lock().unwrap_or_else(PoisonError::into_inner).value(&result);
                }
                Step::End(Err(Failed::Upstream(error))) => return Settlement::Failure(error.to_string()),
                Step::End(Err(Failed::Hub(failure))) => return Settlement::Failure(words_of(&failure)),
            }
        }
    }
}

/// How far a script is, for whoever waits for it: one more with each call that begins or gets on.
#[derive(Debug)]
struct Progress {
    told: mpsc::Sender<Step>,
    count: Arc<AtomicU64>,
    path: String,
}

impl Progress {
    fn tell(&self, said: Option<&str>) {
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let message = said.map_or_else(|| self.path.clone(), |said| format!("{}: {said}", self.path));
        let progress = json!({ "progressToken": 0, "progress": count, "message": message });
        // Where nobody listens so fast, a later one says as much.
        let _ = self
            .told
            .try_send(Step::Note { method: PROGRESS.to_owned(), params: to_raw_value(&progress).ok() });
    }
}

fn words_of(failure: &CallFailure) -> String {
    format!("{}. {}", failure.message.trim_end_matches('.'), failure.action).trim().to_owned()
}

/// Whether a call waits for people, as one of those that are counted.
#[derive(Debug)]
struct Asking {
    count: Arc<AtomicUsize>,
    now: bool,
}

impl Asking {
    fn set(&mut self, now: bool) {
        match (std::mem::replace(&mut self.now, now), now) {
            (false, true) => drop(self.count.fetch_add(1, Ordering::Relaxed)),
            (true, false) => drop(self.count.fetch_sub(1, Ordering::Relaxed)),
            (true, true) | (false, false) => {}
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.set(false);
    }
}
