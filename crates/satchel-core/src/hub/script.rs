//! Runs a script for a client: each of its calls takes the way of every call of that client, and questions of servers or
//! rules go to that client. [`crate::scripts`] limits what a script may use.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};

use satchel_mcp::{ErrorObject, Raw, RawObject, era::Era, errors};
use serde_json::{json, value::to_raw_value};
use tokio::{sync::mpsc, time::Instant};

use super::{CallFailure, Failed, Hub, Running, Step, execute};
use crate::{
    bridge::{Caller, Question},
    model::{Code, ledger::CallKind, trying::ScriptCall},
    recorder::Observer,
    scripts::{
        self, Blocks, CallRequest, Carry, Finished, Pending, Run, Settlement, StartError, Task, Wrong,
    },
    stats::event::{Redact, Visit},
    tasks::on_message,
    trust::clean,
};

/// How often to check whether a call waits for people.
const TICK: Duration = Duration::from_secs(1);
/// Capacity of the event queue: when it is full, questions wait and notifications are dropped.
const STEPS: usize = 32;
const PROGRESS: &str = "notifications/progress";
/// Capacity of the queue of messages to one call.
const WORDS: usize = 32;
/// Maximum size of a script, in bytes; larger data belongs in `input`.
const SCRIPT: usize = 256 * 1024;
/// The tool that runs scripts.
pub(super) const TOOL: &str = "run_mcp_script";

/// A client's running request. Dropping it cancels it.
#[derive(Debug)]
pub enum Underway {
    /// One call.
    Call(Box<Running>),
    /// A script with its calls.
    Script(Box<Script>),
}

impl Underway {
    /// The next event. [`Step::End`] is the last one. Cancel safe.
    pub async fn next(&mut self) -> Step {
        match self {
            Underway::Call(running) => running.next().await,
            Underway::Script(script) => script.next().await,
        }
    }

    /// Answers a [`Step::Question`]. Any other answer is ignored.
    pub fn answer(&mut self, key: &str, outcome: Result<Box<Raw>, ErrorObject>) {
        match self {
            Underway::Call(running) => running.answer(key, outcome),
            Underway::Script(script) => script.answer(key, outcome),
        }
    }

    /// Records that the client left to find an answer, or returned with it.
    pub fn park(&self, parked: bool) {
        match self {
            Underway::Call(running) => running.park(parked),
            Underway::Script(script) => script.hands.tell_all(|| Word::Park(parked)),
        }
    }

    /// Its observer.
    pub fn observer(&self) -> &Observer {
        match self {
            Underway::Call(running) => running.observer(),
            Underway::Script(script) => &script.hub.context.observer,
        }
    }
}

/// A script as requested by a client.
#[derive(Debug)]
pub struct Wanted {
    /// The body of an async function.
    pub script: String,
    /// The value of `input`.
    pub input: Box<Raw>,
    /// Its timeout.
    pub patience: Duration,
}

impl Wanted {
    /// Maximum timeout of a script, in seconds.
    pub const LONGEST: f64 = 120.0;

    /// Parses the arguments of `run_mcp_script`.
    ///
    /// # Errors
    /// What is wrong with them, and what to write instead.
    pub fn of(arguments: &RawObject) -> Result<Self, String> {
        let most = Self::LONGEST;
        let script = arguments.text("script").ok_or(
            "run_mcp_script needs a script: the body of an async function in JavaScript, as a string",
        )?;
        if script.len() > SCRIPT {
            let bytes = script.len();
            return Err(format!(
                "the script has {bytes} bytes of at most {SCRIPT}; give data as \"input\" instead"
            ));
        }
        let script = without_fence(script);
        let patience = match arguments.get("timeout") {
            None => most,
            Some(raw) if raw.get() == "null" => most,
            Some(raw) => serde_json::from_str::<f64>(raw.get())
                .ok()
                .filter(|seconds| *seconds > 0.0)
                .ok_or_else(|| format!("\"timeout\" must be a number of seconds up to {most}"))?,
        };
        let patience = Duration::from_secs_f64(patience.min(most));
        let nothing = || Raw::from_string("null".to_owned()).expect("it is JSON");
        let input = arguments.get("input").map_or_else(nothing, ToOwned::to_owned);
        Ok(Self { script, input, patience })
    }

    /// The arguments of `run_mcp_script`, as JSON text.
    fn written(&self) -> String {
        format!(r#"{{"script":{},"input":{}}}"#, json!(self.script), self.input.get())
    }
}

/// Removes the Markdown fence that models put around code, keeping line numbers.
fn without_fence(script: String) -> String {
    let trimmed = script.trim();
    let Some(inner) = trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else {
        return script;
    };
    match inner.split_once('\n') {
        Some((language, body)) if language.trim().chars().all(char::is_alphanumeric) => format!("\n{body}"),
        Some(_) | None => script,
    }
}

/// A running script. Dropping it cancels it and its calls.
#[derive(Debug)]
pub struct Script {
    hub: Hub,
    client: Arc<str>,
    run: Run,
    hands: Hands,
    steps: mpsc::Receiver<Step>,
    over: bool,
    /// Its input, for the history.
    given: String,
}

impl Script {
    /// Starts a script. The handle observes the run itself.
    pub(super) fn begin(
        hub: &Hub,
        caller: &Caller,
        visit: &Arc<Visit>,
        wanted: Wanted,
    ) -> Result<Self, CallFailure> {
        let given = wanted.written();
        let task = Task { script: wanted.script, input: wanted.input };
        let run = hub.inner.clients.scripts.begin(&caller.client, &task, wanted.patience);
        let run = run.map_err(|error| refused(&error))?;
        let (told, steps) = mpsc::channel(STEPS);
        let hands = Hands {
            hub: hub.clone(),
            // Servers' questions surface as the script's own, whatever revision its client speaks; servers' log
            // messages have no place in a value.
            caller: Caller { era: Era::SESSION, log_from: None, ..caller.clone() },
            visit: visit.clone(),
            cause: hub.context.observer.cause(),
            told,
            words: HashMap::new(),
            blocks: Arc::default(),
            made: Arc::default(),
            asking: Arc::default(),
            count: Arc::default(),
        };
        Ok(Self { hub: hub.clone(), client: caller.client.clone(), run, hands, steps, over: false, given })
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
        let blocks = self.hands.blocks.lock();
        let result = scripts::answer(finished, &blocks, self.hub.result_cap(&self.client));
        let fault = finished.outcome.as_ref().err().map(|wrong| match wrong {
            // The message is a server's or the script's own text, which the history must not store.
            Wrong::Thrown(_) => "the script threw an error that it did not catch".to_owned(),
            Wrong::Stuck | Wrong::Bound(_) => wrong.to_string(),
        });
        self.hub.context.observer.ran(
            &result,
            fault,
            self.hands.made().kept().map(|redact| (self.given.clone(), redact)),
        );
        result
    }

    /// Runs to the end, reporting its calls. Only Satchel itself can answer questions.
    pub(super) async fn finish_hearing(
        &mut self,
        mut hear: impl FnMut(&str, Option<&Raw>),
    ) -> Result<Box<Raw>, Failed> {
        loop {
            match self.next().await {
                Step::End(end) => return end,
                Step::Question(question) => {
                    let message = format!("nobody is there to answer {}", question.method);
                    self.answer(&question.key, Err(ErrorObject::new(errors::METHOD_NOT_FOUND, message)));
                }
                Step::Note { method, params } => hear(&method, params.as_deref()),
            }
        }
    }

    /// The calls it has made so far.
    pub(super) fn calls(&self) -> Vec<ScriptCall> {
        self.hands.made().calls.clone()
    }

    fn answer(&mut self, key: &str, outcome: Result<Box<Raw>, ErrorObject>) {
        let Some((id, key)) = key.split_once('.') else { return };
        if let Some(call) = id.parse().ok().and_then(|id: u32| self.hands.words.get(&id)) {
            // The call may be over.
            let _ = call.try_send(Word::Answer(key.to_owned(), outcome));
        }
    }
}

fn refused(error: &StartError) -> CallFailure {
    let (code, action) = match error {
        StartError::TooMany(_) => (Some(Code::TooMany), "Run it again when one of them has finished."),
        StartError::Process(_) => (None, "Call the tools one by one instead."),
    };
    CallFailure::not_sent(None, code, error.to_string(), action.to_owned())
}

/// Executes a script's calls for its client.
#[derive(Debug)]
struct Hands {
    hub: Hub,
    caller: Caller,
    visit: Arc<Visit>,
    /// The trace shared by the run and its calls.
    cause: String,
    told: mpsc::Sender<Step>,
    /// Channels to the open calls, by number.
    words: HashMap<u32, mpsc::Sender<Word>>,
    blocks: Arc<Mutex<Blocks>>,
    made: Arc<Mutex<Made>>,
    /// Number of calls that wait for people.
    asking: Arc<AtomicUsize>,
    /// Number of progress notifications sent.
    count: Arc<AtomicU64>,
}

/// The calls of a script.
#[derive(Debug, Default)]
struct Made {
    calls: Vec<ScriptCall>,
    /// By called server: whether its calls are stored, and how to redact its secrets.
    keeping: HashMap<String, (bool, Redact)>,
}

impl Made {
    /// Records the start of a call and returns its index.
    fn begin(&mut self, path: &str) -> usize {
        self.calls.push(ScriptCall { path: clean::visible(path), took_ms: None, failed: false });
        self.calls.len() - 1
    }

    fn end(&mut self, at: usize, took: Duration, failed: bool, observer: &Observer) {
        if let Some(call) = self.calls.get_mut(at) {
            (call.took_ms, call.failed) = (Some(took.as_secs_f64() * 1000.0), failed);
        }
        if let Some((server, keep, redact)) = observer.keeping() {
            // If storage was on only part of the time, it counts as off.
            let keep = keep && self.keeping.get(&server).is_none_or(|(keep, _)| *keep);
            self.keeping.insert(server, (keep, redact));
        }
    }

    /// The redaction for the secrets of every called server, if all of them store calls: a script's text may contain
    /// data of any of them.
    fn kept(&self) -> Option<Redact> {
        if self.keeping.is_empty() || self.keeping.values().any(|(keep, _)| !keep) {
            return None;
        }
        let all: Vec<Redact> = self.keeping.values().map(|(_, redact)| redact.clone()).collect();
        let hide = move |text: &str| all.iter().fold(text.to_owned(), |text, redact| (redact.0)(&text));
        Some(Redact(Arc::new(hide)))
    }
}

/// A message to a call of a script.
enum Word {
    Answer(String, Result<Box<Raw>, ErrorObject>),
    Park(bool),
}

impl Hands {
    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock()
    }

    fn tell_all(&self, word: impl Fn() -> Word) {
        for call in self.words.values() {
            // The call may be over.
            let _ = call.try_send(word());
        }
    }
}

impl Carry for Hands {
    fn carry(&mut self, call: CallRequest) -> Pending {
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
        let (made, at) = (self.made.clone(), self.made().begin(&call.path));
        let began = Instant::now();
        let end = async move {
            hub.client_seen(&caller.client, Some(&call.path));
            let mut params = RawObject::new();
            params.set("arguments", call.arguments);
            let mut meta = RawObject::new();
            // Numbers always serialize.
            meta.put("progressToken", &0);
            params.set("_meta", meta.to_raw());
            match execute::execute_whole(&hub, &caller, &call.path, params).await {
                Ok(running) => one.drive(running).await,
                Err(failure) => Settlement::Failure(words_of(&failure)),
            }
        };
        Box::pin(async move {
            let end = end.await;
            let failed = matches!(end, Settlement::Failure(_));
            made.lock().end(at, began.elapsed(), failed, &observer);
            end
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
                    // If nobody listens any more, this is dropped with the rest.
                    let _ = self.told.send(Step::Question(question)).await;
                }
                Step::End(Ok(result)) => {
                    return on_message(result.get().len(), || self.blocks.lock().value(&result));
                }
                Step::End(Err(Failed::Upstream(error))) => return Settlement::Failure(error.to_string()),
                Step::End(Err(Failed::Hub(failure))) => return Settlement::Failure(words_of(&failure)),
            }
        }
    }
}

/// The progress of a script: increases with each call that starts or progresses.
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
        // If the queue is full, a later notification conveys the same.
        let _ = self
            .told
            .try_send(Step::Note { method: PROGRESS.to_owned(), params: to_raw_value(&progress).ok() });
    }
}

fn words_of(failure: &CallFailure) -> String {
    let mark = if failure.message.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{}{mark} {}", failure.message, failure.action).trim().to_owned()
}

/// Marks a call that waits for people, for the count.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_request_are_reported() {
        let check = |json: &str, expected: Result<(&str, u64), &str>| {
            let got = Wanted::of(&serde_json::from_str(json).unwrap());
            match (&got, expected) {
                (Ok(got), Ok((input, seconds))) => {
                    assert_eq!((got.input.get(), got.patience.as_secs()), (input, seconds), "{json}");
                }
                (Err(said), Err(part)) => assert!(said.contains(part), "{json}: {said}"),
                _ => panic!("{json}: {got:?}"),
            }
        };
        check(r#"{"script":"1"}"#, Ok(("null", 120)));
        check(r#"{"script":"1","input":{"a":1.0},"timeout":2}"#, Ok((r#"{"a":1.0}"#, 2)));
        check(r#"{"script":"1","timeout":1e9}"#, Ok(("null", 120)));
        check(r#"{"script":"1","timeout":0}"#, Err("a number of seconds"));
        check(r#"{"script":"1","timeout":"soon"}"#, Err("a number of seconds"));
        check(r#"{"script":1}"#, Err("needs a script"));
        check("{}", Err("needs a script"));
        check(&format!(r#"{{"script":"{}"}}"#, "x".repeat(SCRIPT + 1)), Err("as \"input\""));
    }

    #[test]
    fn marks_around_code_are_no_part_of_it() {
        for (script, expected) in [
            ("```js\nreturn 1\n```", "\nreturn 1\n"),
            (" ```\nreturn `a`\n``` ", "\nreturn `a`\n"),
            ("return 1", "return 1"),
            ("``` ` ```", "``` ` ```"),
            ("```", "```"),
        ] {
            assert_eq!(without_fence(script.to_owned()), expected);
        }
    }

    #[test]
    fn a_script_is_kept_where_every_server_it_called_keeps_calls() {
        let hides = |word: &'static str| Redact(Arc::new(move |text: &str| text.replace(word, "***")));
        let kept = |keeping: Vec<(bool, Redact)>| {
            let keeping = keeping.into_iter().enumerate().map(|(at, one)| (at.to_string(), one)).collect();
            Made { calls: vec![], keeping }.kept().map(|redact| (redact.0)("one two three"))
        };
        assert_eq!(kept(vec![]), None);
        assert_eq!(kept(vec![(true, hides("one")), (false, hides("two"))]), None);
        assert_eq!(kept(vec![(true, hides("one")), (true, hides("three"))]).unwrap(), "*** two ***");
    }
}
