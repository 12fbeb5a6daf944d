//! The spine: route, permit, lease, call, record. Every call to a server goes through here.
//!
//! Theory of operation: a [`Running`] call is driven by whoever asked, step by step. What the server asks in the middle
//! of it comes out as a [`Step::Question`], whichever family of revisions the server speaks: a legacy server's question
//! is answered on its connection, a stateless server's by making the request again with all answers.

use std::{sync::PoisonError, time::Duration};

use std::collections::HashMap;

use satchel_mcp::{ErrorObject, Id, Raw, RawObject, errors, meta, param_headers};
use serde::Serialize;
use serde_json::{Value, json, value::to_raw_value};
use tokio::{sync::oneshot, time::Instant};

use super::{
    Hub,
    execute::Finish,
    hygiene,
    permission::{Permission, Permitted, Word},
    question::{self, Answered, AtFaces, Turn, Whose},
    registry::Registered,
    route::refused,
    slots::{Slot, Slots},
};
use crate::{
    bridge::{Caller, Question, Round, caller},
    catalog::ToolEntry,
    model::{
        Code, ServerConfig, ServerName, ToolPath, asks::ServerQuestion, server::REQUEST_TIMEOUT_FLOOR,
        snapshot::Phase, trail::DeedKind,
    },
    trust::clean,
    upstream::{
        CallError, Dirty, Event, Lease, LeaseError, Link, Outcome,
        breaker::{Breaker, EXECUTION},
        link,
    },
};

/// Where a caller says in `_meta` how many seconds without progress its call may take.
const TIMEOUT_META: &str = "dev.satchel/timeout";
/// The least a caller can say there.
const SHORTEST_PATIENCE: Duration = Duration::from_secs(1);

/// A failure that the hub has to explain. It says whether the call may have run.
#[derive(Debug, Clone, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct CallFailure {
    /// What the call did.
    pub outcome: Outcome,
    /// Which server, where it got so far.
    pub server: Option<String>,
    /// The class of the cause, where it has one.
    pub code: Option<Code>,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub action: String,
}

impl CallFailure {
    pub(super) fn not_sent(
        server: Option<&ServerName>,
        code: Option<Code>,
        message: String,
        action: String,
    ) -> Self {
        let server = server.map(ToString::to_string);
        Self { outcome: Outcome::NotSent, server, code, message, action }
    }
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The server answered with an error; it goes to the client as it came.
    #[error("{0}")]
    Upstream(ErrorObject),
    /// Everything else.
    #[error("{0}")]
    Hub(CallFailure),
}

/// How long a client may take to answer what a server asked.
const ANSWER_TIME: Duration = Duration::from_secs(10 * 60);
/// How often one request may ask for input.
const ROUNDS: usize = 10;
/// How often what provably did not run is sent again. A session may expire just when it was made anew.
const REPEATS: usize = 3;
/// How long after the end of a connection another is asked for.
const AFTER_END: Duration = Duration::from_millis(10);
/// How long a server may take to take in how much it should log.
const LEVEL_TIME: Duration = Duration::from_secs(5);

/// A call under way. Dropping it cancels it.
#[derive(Debug)]
pub struct Running {
    hub: Hub,
    caller: Caller,
    server: ServerName,
    /// The tool, where it is one: timeouts and lost connections count for it alone.
    tool: Option<ToolPath>,
    registered: Registered,
    method: String,
    /// As the caller wrote them.
    params: RawObject,
    stage: Stage,
    /// How often it may still be sent again, where it provably did not run.
    repeats: usize,
    rounds: usize,
    /// The server's own ids of what it asked, by the keys we gave them.
    asked: HashMap<String, Id>,
    asked_in_all: usize,
    /// What people are asked at our own faces.
    faces: AtFaces,
    /// Since when an answer is waited for.
    waiting_since: Option<Instant>,
    /// The tool runs only as a task (`2025-11-25/basic/utilities/tasks.mdx`) and the caller did not ask for one, so we
    /// keep it: begun, then waited for.
    task: Option<Task>,
    /// What the server asked for and the caller cannot do.
    lacking: serde_json::Map<String, Value>,
    /// What is done with its result; nothing where it goes on as it came.
    finish: Option<Finish>,
    quiet: Duration,
    deadline: Instant,
    /// A person was asked, and allowed it.
    allowed: bool,
    /// Taken when it is sent; while a person is asked it is nobody's turn.
    slots: Option<(Slot, Slot)>,
    /// The start that it waits for.
    waking: Waking,
}

/// The start of a server, as a call waits for it that wants to be told of progress.
#[derive(Debug, Default)]
struct Waking {
    asked: Option<oneshot::Receiver<Result<Lease, LeaseError>>>,
    /// Keeps the server awake until the call is sent.
    awake: Option<Lease>,
    told: u32,
}

/// How often a caller is told that its server is still being started.
const TELLING: Duration = Duration::from_secs(3);

/// A task that we keep for a caller that knows none.
#[derive(Debug)]
enum Task {
    /// The call asks for it.
    Asked,
    /// It runs; its result is waited for.
    Running(String),
}

/// How long a server is to keep a task that we wait for, in milliseconds.
const TASK_TTL_MS: u64 = 30 * 60 * 1000;

/// Where a running call stands.
#[derive(Debug)]
enum Stage {
    /// To be sent.
    Begin,
    /// To be sent once a person has allowed it.
    Permission(Box<Permission>),
    /// Sent.
    Sent(link::Call, Lease),
    /// A stateless server wants to know something first. The lease keeps it from being put to sleep meanwhile.
    Asking { round: Round, _awake: Lease },
    /// Refused without being run: what the tool wants repeated in headers is no longer what we know of it. To be sent
    /// once more when its list was read again (`2026-07-28/basic/transports/streamable-http.mdx`).
    Stale,
    /// Ended.
    Over,
}

/// What comes while a sent call is waited for.
enum Came {
    Event(Event),
    Answered(Answered),
}

/// What a running call yields.
#[derive(Debug)]
pub enum Step {
    /// A note that belongs to it.
    Note {
        /// Its method.
        method: String,
        /// Its parameters, with the hub's progress token.
        params: Option<Box<Raw>>,
    },
    /// The server wants to know something; it waits for [`Running::answer`].
    Question(Question),
    /// Its end.
    End(Result<Box<Raw>, Failed>),
}

impl Hub {
    /// Calls a tool by its path. `params` are those of the caller's request without the name; they travel on as they
    /// are, but for what is between the caller and us alone.
    ///
    /// # Errors
    /// A [`CallFailure`] where nothing was sent.
    pub async fn call_tool_for(
        &self,
        caller: &Caller,
        path: &str,
        params: RawObject,
    ) -> Result<Running, CallFailure> {
        let hub = self.seen_by(&caller.client);
        let begun = hub.begin_call(caller, path, params).await;
        hub.tell_refusal(&begun);
        begun
    }

    async fn begin_call(
        &self,
        caller: &Caller,
        path: &str,
        params: RawObject,
    ) -> Result<Running, CallFailure> {
        let (registered, path) = self.route_tool(path).await?;
        self.tell_route(&path, params.get("arguments"), &registered);
        self.permit_tool(&path)?;
        let permission = self.permission(caller, &path, &params)?;
        let mut named = RawObject::new();
        let own_name = self.catalog().tool(&path).and_then(|tool| tool.own_name.clone());
        // Strings always serialize.
        let _ = named.put("name", own_name.as_ref().unwrap_or(&path.tool));
        for (key, value) in params.iter().filter(|(key, _)| *key != "name") {
            named.set(key, value.to_owned());
        }
        let whose = (path.server.clone(), Some(path));
        self.run(caller, whose, registered, "tools/call", named, permission).await
    }

    /// Makes any request to one server.
    ///
    /// # Errors
    /// A [`CallFailure`] where nothing was sent.
    pub async fn ask(
        &self,
        caller: &Caller,
        server: &ServerName,
        method: &str,
        params: RawObject,
    ) -> Result<Running, CallFailure> {
        if method == "tools/call" {
            let tool = params.text("name").unwrap_or_default();
            return self.call_tool_for(caller, &format!("{}:{tool}", server.in_path()), params).await;
        }
        let hub = self.seen_by(&caller.client);
        let registered = hub.route_known_server(server)?;
        hub.refuse_held_request(server, method, &params)?;
        hub.run(caller, (server.clone(), None), registered, method, params, Permitted::Freely).await
    }

    /// Refuses a tool that timed out or lost its server several times in a row.
    fn permit_tool(&self, path: &ToolPath) -> Result<(), CallFailure> {
        let mut breakers = self.inner.breakers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(breaker) = breakers.get_mut(path) else { return Ok(()) };
        breaker.permit(Instant::now()).map_err(|wait| {
            let seconds = wait.as_secs_f64().ceil();
            let message =
                format!("{path} failed several times in a row and is not called for another {seconds} s");
            let action = Code::ToolPaused.action().to_owned();
            CallFailure::not_sent(Some(&path.server), Some(Code::ToolPaused), message, action)
        })
    }

    /// How a call ended. The end of the server's process fails every call in it and is one `incident`.
    fn record_tool(&self, path: &ToolPath, good: bool, incident: Option<u64>) {
        let mut breakers = self.inner.breakers.lock().unwrap_or_else(PoisonError::into_inner);
        if good && !breakers.contains_key(path) {
            return;
        }
        let breaker = breakers.entry(path.clone()).or_insert_with(|| Breaker::new(EXECUTION));
        match incident.filter(|_| !good) {
            Some(incident) => breaker.record_incident(incident, Instant::now()),
            None => breaker.record(good, Instant::now()),
        }
        if breaker.is_pristine() {
            breakers.remove(path);
        }
    }

    /// Reads a resource by its path; never from a cache. `params` are those of the caller's request without the URI.
    ///
    /// # Errors
    /// A [`CallFailure`] where nothing was sent.
    pub async fn read_resource(
        &self,
        caller: &Caller,
        path: &str,
        mut params: RawObject,
    ) -> Result<Running, CallFailure> {
        let hub = self.seen_by(&caller.client);
        let (registered, path) = hub.route_resource(path).inspect_err(|failure| hub.tell_failure(failure))?;
        hub.tell_resource(&path);
        let _ = params.put("uri", &path.uri);
        let begun = hub
            .run(caller, (path.server, None), registered, "resources/read", params, Permitted::Freely)
            .await;
        hub.tell_refusal(&begun);
        begun
    }

    async fn run(
        &self,
        caller: &Caller,
        (server, tool): (ServerName, Option<ToolPath>),
        registered: Registered,
        method: &str,
        params: RawObject,
        permission: Permitted,
    ) -> Result<Running, CallFailure> {
        self.refuse_while_paused(&server)?;
        let quiet = patience(&params, &registered.config, tool.as_ref().map(|path| path.tool.as_str()));
        let mut running = Running {
            hub: self.clone(),
            caller: caller.clone(),
            server,
            tool,
            registered,
            method: method.to_owned(),
            params: self.in_trace(params),
            stage: Stage::Begin,
            repeats: REPEATS,
            rounds: 0,
            asked: HashMap::new(),
            asked_in_all: 0,
            faces: AtFaces::default(),
            waiting_since: None,
            task: None,
            lacking: serde_json::Map::new(),
            finish: None,
            quiet,
            deadline: Instant::now() + link::LONGEST_CALL,
            allowed: !matches!(permission, Permitted::Freely),
            slots: None,
            waking: Waking::default(),
        };
        let slow = running.registered.upstream.seen().connected.is_none() && running.wants_progress();
        match permission {
            // Nothing is started, and nothing is sent, before a person has said yes.
            Permitted::Asking(permission) => running.stage = Stage::Permission(permission),
            // It is told how its start gets on.
            Permitted::Freely | Permitted::Again if slow => {}
            Permitted::Freely | Permitted::Again => running.begin().await?,
        }
        Ok(running)
    }
}

/// The lists that say what a request uses.
fn lists_of(method: &str) -> u8 {
    match method {
        "tools/call" => Dirty::bit("tools"),
        "prompts/get" => Dirty::bit("prompts"),
        "resources/read" => Dirty::bit("resources"),
        "completion/complete" => Dirty::bit("prompts") | Dirty::bit("resources"),
        _ => 0,
    }
}

/// How long this call may take without progress: what the caller says (`_meta`, in seconds), else what the
/// configuration says of the tool, else of the server.
fn patience(params: &RawObject, config: &ServerConfig, tool: Option<&str>) -> Duration {
    let configured = || tool.and_then(|tool| config.tool_timeouts.get(tool)).copied();
    match asked_patience(params) {
        Some(asked) => asked,
        None => {
            configured().unwrap_or(config.request_timeout).clamp(REQUEST_TIMEOUT_FLOOR, link::LONGEST_CALL)
        }
    }
}

/// What the caller says.
fn asked_patience(params: &RawObject) -> Option<Duration> {
    let asked = meta::of(params).read::<f64>(TIMEOUT_META)?;
    Some(Duration::try_from_secs_f64(asked).ok()?.clamp(SHORTEST_PATIENCE, link::LONGEST_CALL))
}

/// Asks a legacy server to log from this severity on, where it logs less so far.
pub(super) async fn ask_for_logs(registered: &Registered, link: &Link, from: u8) {
    let seen = registered.upstream.seen();
    if !seen.connected.is_some_and(|(_, hello)| hello.offers("logging")) || !link.lower_log(from) {
        return;
    }
    let params = to_raw_value(&json!({ "level": caller::level(from) })).ok();
    let _ = link.request("logging/setLevel", params, LEVEL_TIME).await;
}

impl Running {
    fn wants_progress(&self) -> bool {
        let meta = self.params.get("_meta").and_then(|meta| RawObject::parse(meta).ok());
        meta.is_some_and(|meta| meta.get("progressToken").is_some())
    }

    /// What to tell the caller while its server is being started; nothing once it runs, or where the caller wants to know
    /// nothing.
    async fn start_gets_on(&mut self) -> Option<Step> {
        if !self.wants_progress() || self.waking.awake.is_some() {
            return None;
        }
        let upstream = &self.registered.upstream;
        if self.waking.asked.is_none() && upstream.seen().connected.is_some() {
            return None;
        }
        let asked = self.waking.asked.get_or_insert_with(|| upstream.ask());
        let leased = tokio::select! {
            leased = asked => leased.unwrap_or(Err(LeaseError::Closing)),
            () = tokio::time::sleep(TELLING) => {
                self.waking.told += 1;
                let what = match upstream.seen().phase {
                    Phase::Starting => "starting",
                    Phase::Downloading => "downloading",
                };
                let (told, server) = (self.waking.told, &self.server);
                let message = format!("{server} is {what}, for {} s so far", TELLING.as_secs() * u64::from(told));
                // The caller's own token takes the place of this one.
                let params = json!({ "progressToken": 0, "progress": told, "message": message });
                let method = "notifications/progress".to_owned();
                return Some(Step::Note { method, params: to_raw_value(&params).ok() });
            }
        };
        self.waking.asked = None;
        match leased {
            Ok(lease) => self.waking.awake = Some(lease),
            // Somebody may be asked for what is missing.
            Err(LeaseError::Failed(failure)) if !failure.missing.is_empty() => {}
            Err(error) => {
                return Some(self.end(Err(Failed::Hub(refused(&self.server, &self.registered, &error)))));
            }
        }
        None
    }

    async fn begin(&mut self) -> Result<(), CallFailure> {
        if self.slots.is_none() {
            self.slots = Some(self.take_slots().await?);
            self.hub.view().called(&self.server);
            self.hub.inner.compose.notify_one();
        }
        let leased = self.hub.lease_with_credentials(&self.server, &self.registered).await;
        let lease = leased.map_err(|error| refused(&self.server, &self.registered, &error))?;
        let lists = lists_of(&self.method);
        if lists != 0 {
            self.hub.wait_for_lists(&self.server, &self.registered, &lease, lists).await?;
            self.still_offered()?;
        }
        let modern = lease.link().is_modern();
        if self.caller.asks_logs && !modern {
            self.ask_for_logs(&lease).await;
        }
        let mut params = self.caller.parameters(&self.params, modern);
        if !modern && params.get("task").is_none() && self.needs_task() {
            let _ = params.put("task", &json!({ "ttl": TASK_TTL_MS }));
            self.task = Some(Task::Asked);
        }
        let request = link::Request {
            method: self.method.clone(),
            headers: if modern { self.param_headers(&params) } else { vec![] },
            params: Some(params.to_raw()),
            owner: Some(self.caller.client.clone()),
        };
        match lease.link().begin(request, self.quiet).await {
            Ok(call) => {
                self.stage = Stage::Sent(call, lease);
                self.waking = Waking::default();
                Ok(())
            }
            // Between lease and call the connection ended. Nothing was sent: again, on a new one.
            Err(error) if error.outcome() == Outcome::NotSent && self.repeats > 0 => {
                self.repeats -= 1;
                drop(lease);
                // Its lifecycle learns of the end at the same moment as we do.
                tokio::time::sleep(AFTER_END).await;
                Box::pin(self.begin()).await
            }
            Err(error) => Err(self.explain(&error)),
        }
    }

    /// The server's slot first: whoever waits for it takes nothing from calls of other servers.
    async fn take_slots(&self) -> Result<(Slot, Slot), CallFailure> {
        let client = &self.caller.client;
        let busy = || {
            let message = format!("\"{}\" is busy: too many calls are in flight", self.server);
            let action = "Try again in a moment.".to_owned();
            CallFailure::not_sent(Some(&self.server), None, message, action)
        };
        // No longer than this caller waits for an answer.
        let take =
            async |slots: &Slots| tokio::time::timeout(self.quiet, slots.take(client)).await.ok().flatten();
        let of_server = take(&self.registered.calls).await.ok_or_else(busy)?;
        let of_all = take(&self.hub.inner.calls).await.ok_or_else(busy)?;
        Ok((of_server, of_all))
    }

    /// A legacy server logs from one level on for everybody; it is asked for more where this caller wants more.
    async fn ask_for_logs(&self, lease: &Lease) {
        let Some(from) = self.caller.log_from else { return };
        ask_for_logs(&self.registered, lease.link(), from).await;
    }

    /// The arguments that the tool wants repeated in headers.
    fn param_headers(&self, params: &RawObject) -> Vec<(String, String)> {
        let Some(path) = &self.tool_called() else { return vec![] };
        let wanted = self.hub.catalog().tool(path).map(ToolEntry::param_headers).unwrap_or_default();
        if wanted.is_empty() {
            return vec![];
        }
        param_headers::of_call(&wanted, &params.read::<Value>("arguments").unwrap_or_default())
    }

    /// Can the tool only be called as a task?
    fn needs_task(&self) -> bool {
        let Some(path) = self.tool_called() else { return false };
        let catalog = self.hub.catalog();
        let raw = catalog.tool(&path).map(|tool| &tool.raw).filter(|raw| raw.get().contains("taskSupport"));
        let execution =
            raw.and_then(|raw| RawObject::parse(RawObject::parse(raw).ok()?.get("execution")?).ok());
        execution.and_then(|execution| execution.text("taskSupport")).as_deref() == Some("required")
    }

    /// The server began the task: waits for its result on the same connection, which is where it asks, too.
    async fn wait_for_task(&mut self, begun: &Raw) -> Option<Step> {
        let id = RawObject::parse(begun)
            .ok()
            .and_then(|fields| RawObject::parse(fields.get("task")?).ok()?.text("taskId"));
        let (Some(id), Stage::Sent(_, lease)) = (id, std::mem::replace(&mut self.stage, Stage::Over)) else {
            let message = format!("\"{}\" did not say which task it began", self.server);
            return Some(self.end(Err(Failed::Hub(self.failed_round(message)))));
        };
        self.hub.own_begun_task(None, &self.server, begun);
        let mut params = RawObject::new();
        let _ = params.put("taskId", &id);
        if let Some(own) = self.caller.parameters(&self.params, false).get("_meta") {
            params.set("_meta", own.to_owned());
        }
        let request = link::Request {
            method: "tasks/result".to_owned(),
            headers: vec![],
            params: Some(params.to_raw()),
            owner: Some(self.caller.client.clone()),
        };
        // A task may take as long as it takes, up to what any call may, unless the caller says otherwise.
        self.quiet = asked_patience(&self.params).unwrap_or(link::LONGEST_CALL);
        self.task = Some(Task::Running(id));
        match lease.link().begin(request, self.quiet).await {
            Ok(call) => {
                self.stage = Stage::Sent(call, lease);
                None
            }
            Err(error) => {
                let failure = self.explain(&error);
                Some(self.end(Err(Failed::Hub(failure))))
            }
        }
    }

    fn tool_called(&self) -> Option<ToolPath> {
        let named = || self.params.text("name").filter(|_| self.method == "tools/call");
        self.tool.clone().or_else(|| Some(ToolPath { server: self.server.clone(), tool: named()? }))
    }

    /// The next thing that happens. After [`Step::End`] there is no other. May be given up and called again.
    pub async fn next(&mut self) -> Step {
        let step = self.step().await;
        self.hub.tell_step(&step);
        step
    }

    async fn step(&mut self) -> Step {
        loop {
            match &mut self.stage {
                Stage::Over => {
                    let message = "the call is over".to_owned();
                    let failure = CallFailure::not_sent(Some(&self.server), None, message, String::new());
                    return Step::End(Err(Failed::Hub(failure)));
                }
                Stage::Permission(permission) => match permission.next(&self.hub).await {
                    Word::Ask(question) => return Step::Question(question),
                    Word::Yes(rule, waited) => {
                        self.hub.tell_rule(&rule, Some(waited));
                        let path = self.tool_called().map(|path| path.to_string()).unwrap_or_default();
                        self.hub.did(DeedKind::Consent, &self.caller.client, &path, &rule);
                        self.hub.written().await;
                        self.deadline += waited;
                        self.stage = Stage::Begin;
                        // Much may have happened while a person thought about it.
                        if let Err(failure) = self.still_possible() {
                            return self.end(Err(Failed::Hub(failure)));
                        }
                    }
                    Word::No(failure) => return self.end(Err(Failed::Hub(failure))),
                },
                Stage::Begin => {
                    if let Some(step) = self.start_gets_on().await {
                        return step;
                    }
                    if let Err(failure) = self.begin().await {
                        return self.end(Err(Failed::Hub(failure)));
                    }
                }
                Stage::Stale => {
                    let again = self.hub.read_tools_again(&self.server, &self.registered.upstream);
                    Box::pin(again).await;
                    // It may be another tool now, that nobody has approved.
                    if let Err(failure) = self.still_possible() {
                        return self.end(Err(Failed::Hub(failure)));
                    }
                    self.repeats = 0;
                    self.stage = Stage::Begin;
                }
                Stage::Asking { .. } => {
                    if let Some(step) = self.next_of_round().await {
                        return step;
                    }
                }
                Stage::Sent(call, lease) => {
                    let (quiet, deadline) = match self.waiting_since {
                        None => (self.quiet, self.deadline),
                        Some(since) => (ANSWER_TIME, since + ANSWER_TIME),
                    };
                    let modern = call.is_modern();
                    let came = tokio::select! {
                        event = call.next_before(quiet, deadline) => Came::Event(event),
                        answered = self.faces.next(&self.server) => Came::Answered(answered),
                    };
                    let event = match came {
                        Came::Event(event) => event,
                        Came::Answered(Answered { key, result, .. }) => {
                            self.answer(&key, Ok(result));
                            continue;
                        }
                    };
                    match event {
                        Event::Note { method, params } => {
                            let log = method == "notifications/message";
                            if !log || self.caller.wants_log(params.as_deref()) {
                                return Step::Note { method, params: params.map(hygiene::said) };
                            }
                        }
                        Event::Question { id, method, params } => {
                            let turn = question::turn(&self.caller, &method, params.as_deref());
                            if let Turn::Lacks(lacks) = turn {
                                let message = format!("the client cannot answer {method}");
                                call.answer(id, Err(ErrorObject::new(errors::METHOD_NOT_FOUND, message)));
                                self.lacking.extend(lacks.as_object().cloned().unwrap_or_default());
                                continue;
                            }
                            let of_people = method == "elicitation/create";
                            if let Some(why) = of_people
                                .then(|| self.hub.inner.prompts.bear_question(&self.server))
                                .flatten()
                            {
                                call.answer(id, Err(ErrorObject::new(errors::INTERNAL_ERROR, why)));
                                continue;
                            }
                            self.asked_in_all += 1;
                            let key = format!("question_{}", self.asked_in_all);
                            self.asked.insert(key.clone(), id);
                            self.waiting_since.get_or_insert_with(Instant::now);
                            match turn {
                                Turn::Client | Turn::Lacks(_) => {
                                    self.hub.own_page(&self.caller.client, &self.server, params.as_deref());
                                    return Step::Question(hygiene::question(Question {
                                        key,
                                        method,
                                        params,
                                    }));
                                }
                                Turn::People(question) => {
                                    if let Some(answered) = self.pose(&key, *question) {
                                        self.answer(&key, Ok(answered.result));
                                    }
                                }
                                Turn::Nobody(why) => {
                                    let result = self.faces.refused(&self.server, &why);
                                    self.answer(&key, Ok(result));
                                }
                            }
                        }
                        Event::Final(Ok(result)) => {
                            lease.prove();
                            if modern
                                && meta::asks_for_input(&result)
                                && !(self.caller.modern && question::all_for_client(&self.caller, &result))
                            {
                                if let Some(step) = self.begin_round(&result) {
                                    return step;
                                }
                                continue;
                            }
                            if matches!(self.task, Some(Task::Asked)) {
                                if let Some(step) = self.wait_for_task(&result).await {
                                    return step;
                                }
                                continue;
                            }
                            self.task = None;
                            return self.ended(result, modern);
                        }
                        Event::Final(Err(CallError::Answered(error)))
                            if error.code == errors::HEADER_MISMATCH && modern && self.repeats > 0 =>
                        {
                            self.stage = Stage::Stale;
                        }
                        Event::Final(Err(CallError::Answered(error))) => {
                            lease.prove();
                            self.record(true, None);
                            return self.refused(error, modern);
                        }
                        Event::Final(Err(error)) => {
                            let timed_out = matches!(error, CallError::TimedOut(_, Outcome::Unknown));
                            // Where a caller waited for less, its patience says nothing about the server.
                            if timed_out && self.quiet >= REQUEST_TIMEOUT_FLOOR {
                                lease.timed_out();
                            }
                            let incident = lease.link().ended().map(|_| lease.generation());
                            if !self.repeat(&error) {
                                self.record(false, incident);
                                let failure = self.explain(&error);
                                return self.end(Err(Failed::Hub(failure)));
                            }
                            self.stage = Stage::Begin;
                        }
                    }
                }
            }
        }
    }

    /// Puts a server's question to people at our own faces.
    fn pose(&mut self, key: &str, question: ServerQuestion) -> Option<Answered> {
        let tool = self.tool.as_ref().map(|path| path.tool.as_str());
        let whose = Whose { server: &self.server, tool };
        self.faces.pose(&self.hub, &self.caller, whose, key, question)
    }

    /// Is it still on offer as it was when it was asked for?
    fn still_offered(&self) -> Result<(), CallFailure> {
        let Some(tool) = &self.tool else {
            return self.hub.refuse_held_request(&self.server, &self.method, &self.params);
        };
        self.hub.refuse_hidden_tool(tool)?;
        if self.hub.catalog().tool(tool).is_some() {
            return Ok(());
        }
        let message = format!("{tool} cannot be called: \"{}\" has no such tool any more", self.server);
        let action = "Use discover_mcp_tools to find tools.".to_owned();
        Err(CallFailure::not_sent(Some(&self.server), None, message, action))
    }

    /// May it still be sent, now that a person has allowed it?
    fn still_possible(&self) -> Result<(), CallFailure> {
        self.hub.refuse_while_paused(&self.server)?;
        self.hub.route_known_server(&self.server)?;
        match &self.tool {
            Some(tool) => self.hub.refuse_hidden_tool(tool),
            None => Ok(()),
        }
    }

    fn ended(&mut self, result: Box<Raw>, modern: bool) -> Step {
        self.record(true, None);
        if !self.method.starts_with("tasks/") {
            self.hub.own_begun_task(Some(&self.caller.client), &self.server, &result);
        }
        if let Some(tool) = self.tool.as_ref().filter(|_| self.allowed && meta::asks_for_input(&result)) {
            self.hub.remember_round(&self.caller, tool, &self.params);
        }
        let failed = !self.lacking.is_empty()
            && self.caller.modern
            && RawObject::parse(&result).is_ok_and(|fields| fields.read("isError") == Some(true));
        if failed {
            let error = caller::lacking(&Value::Object(std::mem::take(&mut self.lacking)));
            return self.end(Err(Failed::Upstream(error)));
        }
        let result = if modern && !self.caller.modern { meta::legacy_result(&result) } else { result };
        let result = if meta::asks_for_input(&result) { result } else { self.faces.told(result) };
        self.end(Ok(result))
    }

    fn refused(&mut self, error: ErrorObject, modern: bool) -> Step {
        self.hub.own_pages_of(&self.caller.client, &self.server, &error);
        let page = Raw::from_string(r#"{"mode":"url"}"#.to_owned()).ok();
        let shows_pages = self.caller.can_answer("elicitation/create", page.as_deref()).is_ok();
        if !modern
            && !shows_pages
            && self.tool.is_some()
            && let Some(result) = to_visit(&self.server, &error)
        {
            return self.end(Ok(result));
        }
        if self.caller.modern && !modern {
            if !self.lacking.is_empty() {
                let error = caller::lacking(&Value::Object(std::mem::take(&mut self.lacking)));
                return self.end(Err(Failed::Upstream(error)));
            }
            if let Some(result) = must_visit(&error) {
                return self.end(Ok(result));
            }
            return self.end(Err(Failed::Upstream(meta::modern_error(error))));
        }
        let error =
            if modern && !self.caller.modern { meta::legacy_error(&self.method, error) } else { error };
        self.end(Err(Failed::Upstream(error)))
    }

    fn end(&mut self, end: Result<Box<Raw>, Failed>) -> Step {
        self.stage = Stage::Over;
        self.faces.forget();
        let end = match end {
            Ok(result) => Ok(hygiene::result(&self.registered, result)),
            Err(Failed::Upstream(error)) => Err(Failed::Upstream(hygiene::error(error))),
            Err(failed @ Failed::Hub(_)) => Err(failed),
        };
        Step::End(match &self.finish {
            Some(finish) => finish.applied(&self.hub, &self.caller.client, end),
            None => end,
        })
    }

    /// The same call, whose result is finished for its caller.
    pub(super) fn finished(mut self, finish: Finish) -> Self {
        self.finish = Some(finish);
        self
    }

    fn begin_round(&mut self, result: &Raw) -> Option<Step> {
        self.rounds += 1;
        let round = Round::read(result).filter(|_| self.rounds <= ROUNDS);
        match (round, std::mem::replace(&mut self.stage, Stage::Over)) {
            (Some(round), Stage::Sent(_, lease)) => {
                self.stage = Stage::Asking { round, _awake: lease };
                None
            }
            _ => {
                let message = format!("\"{}\" asked for input in a way that leads nowhere", self.server);
                Some(self.end(Err(Failed::Hub(self.failed_round(message)))))
            }
        }
    }

    /// The next question of a round, or the request once more when all are answered.
    async fn next_of_round(&mut self) -> Option<Step> {
        let Stage::Asking { round, .. } = &mut self.stage else { return None };
        if let Some(question) = round.ask() {
            let turn = question::turn(&self.caller, &question.method, question.params.as_deref());
            let of_people = question.method == "elicitation/create";
            let turn = match of_people.then(|| self.hub.inner.prompts.bear_question(&self.server)).flatten() {
                Some(why) => Turn::Nobody(why.to_owned()),
                None => turn,
            };
            match turn {
                Turn::Client => {
                    self.waiting_since.get_or_insert_with(Instant::now);
                    return Some(Step::Question(hygiene::question(question)));
                }
                Turn::People(asked) => {
                    self.waiting_since.get_or_insert_with(Instant::now);
                    if let Some(answered) = self.pose(&question.key, *asked) {
                        self.take_answer(answered);
                    }
                }
                Turn::Nobody(why) => {
                    let result = self.faces.refused(&self.server, &why);
                    self.answer(&question.key, Ok(result));
                }
                Turn::Lacks(_) => {
                    let message = format!("the client cannot answer {}", question.method);
                    let error = ErrorObject::new(errors::METHOD_NOT_FOUND, message);
                    self.answer(&question.key, Err(error));
                }
            }
            return None;
        }
        if let Some(refusal) = round.refusal() {
            let message =
                format!("\"{}\" needed an answer that it did not get: {}", self.server, refusal.message);
            let failure = self.failed_round(message);
            return Some(self.end(Err(Failed::Hub(failure))));
        }
        if round.is_answered() {
            self.params = round.retry(&self.params);
            self.stage = Stage::Begin;
            return None;
        }
        // Driven on by the answer, which gives this wait up.
        let until = self.waiting_since.unwrap_or_else(Instant::now) + ANSWER_TIME;
        if let Ok(answered) = tokio::time::timeout_at(until, self.faces.next(&self.server)).await {
            self.take_answer(answered);
            return None;
        }
        let message = format!("\"{}\" asked something that was not answered in time", self.server);
        let failure = self.failed_round(message);
        Some(self.end(Err(Failed::Hub(failure))))
    }

    /// What became of a question of a round.
    fn take_answer(&mut self, Answered { key, result, unseen_page }: Answered) {
        let outcome = match unseen_page {
            // Whoever called can be told where to go.
            Some(page) => {
                let message = format!("open {page} in a browser, then call it again");
                Err(ErrorObject::new(errors::METHOD_NOT_FOUND, message))
            }
            None => Ok(result),
        };
        self.answer(&key, outcome);
    }

    fn failed_round(&self, message: String) -> CallFailure {
        CallFailure {
            outcome: Outcome::NotExecuted,
            server: Some(self.server.to_string()),
            code: None,
            message,
            action: "Call it again, and answer what it asks.".to_owned(),
        }
    }

    /// Its client has gone to find an answer, or is back with it: what the server asks meanwhile is about other calls.
    pub fn park(&self, parked: bool) {
        if let Stage::Sent(call, _) = &self.stage {
            call.park(parked);
        }
    }

    /// Answers a [`Step::Question`]. An answer to anything else is dropped.
    pub fn answer(&mut self, key: &str, outcome: Result<Box<Raw>, ErrorObject>) {
        match &mut self.stage {
            Stage::Sent(call, _) => {
                if let Some(id) = self.asked.remove(key) {
                    call.answer(id, outcome);
                }
                if !self.asked.is_empty() {
                    return;
                }
            }
            Stage::Asking { round, .. } => {
                round.answer(key, outcome);
                if !round.is_answered() && round.refusal().is_none() {
                    return;
                }
            }
            Stage::Permission(permission) => {
                permission.answered(&self.hub, outcome.ok().as_deref());
                return;
            }
            Stage::Begin | Stage::Stale | Stage::Over => return,
        }
        // The time people take to answer is not the server's.
        if let Some(since) = self.waiting_since.take() {
            self.deadline += since.elapsed();
            self.hub.tell_wait(since.elapsed());
        }
    }

    fn record(&self, good: bool, incident: Option<u64>) {
        if let Some(tool) = &self.tool {
            self.hub.record_tool(tool, good, incident);
        }
    }

    /// Waits for the end, passing over notes. Nobody is there to answer questions.
    pub async fn finish(mut self) -> Result<Box<Raw>, Failed> {
        loop {
            match self.next().await {
                Step::End(end) => return end,
                Step::Question(question) => {
                    let message = format!("nobody is there to answer {}", question.method);
                    self.answer(&question.key, Err(ErrorObject::new(errors::METHOD_NOT_FOUND, message)));
                }
                Step::Note { .. } => {}
            }
        }
    }

    /// Only what provably did not run is sent again, and not for ever. What a tool says of itself
    /// (`idempotentHint`) is no licence.
    fn repeat(&mut self, error: &CallError) -> bool {
        let safe = matches!(error, CallError::Ended(_, Outcome::NotSent | Outcome::NotExecuted));
        let repeated = safe && self.repeats > 0;
        self.repeats -= usize::from(repeated);
        repeated
    }

    fn explain(&self, error: &CallError) -> CallFailure {
        let outcome = error.outcome();
        let action = match outcome {
            Outcome::NotSent | Outcome::NotExecuted => "It was not run; you may call it again.",
            Outcome::Unknown => "It may have run; check before you call it again.",
            Outcome::UpstreamError => "",
        };
        let code = matches!(error, CallError::Ended(..)).then_some(Code::Crashed);
        CallFailure {
            outcome,
            server: Some(self.server.to_string()),
            code,
            message: format!("\"{}\" did not answer: {error}", self.server),
            action: action.to_owned(),
        }
    }

    /// What accompanies it.
    pub fn tally(&self) -> Option<&super::Tally> {
        self.hub.tally.as_ref()
    }

    /// The server it runs on.
    pub fn server(&self) -> &ServerName {
        &self.server
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A task goes on when the request that waits for it is taken back.
        if let (Some(Task::Running(id)), Stage::Sent(call, _)) = (&self.task, &self.stage) {
            call.cancel_task(id);
        }
    }
}

/// What older revisions say by an error, a stateless one says by a question: the user has to visit some addresses first
/// (`2025-11-25/client/elicitation.mdx#url-elicitation-required-error`).
fn must_visit(error: &ErrorObject) -> Option<Box<Raw>> {
    if error.code != errors::URL_ELICITATION_REQUIRED {
        return None;
    }
    let data: Value = serde_json::from_str(error.data.as_deref()?.get()).ok()?;
    let mut requests = serde_json::Map::new();
    for (at, elicitation) in data.get("elicitations")?.as_array()?.iter().enumerate() {
        let mut params = elicitation.as_object()?.clone();
        params.remove("elicitationId");
        params.insert("mode".to_owned(), json!("url"));
        let request = json!({ "method": "elicitation/create", "params": params });
        requests.insert(format!("visit_{}", at + 1), request);
    }
    let asks = !requests.is_empty();
    let result = json!({ "resultType": "input_required", "inputRequests": requests });
    asks.then(|| to_raw_value(&result).ok()).flatten()
}

/// The same for a client that can show no pages: in words, so that its user can go there.
fn to_visit(server: &ServerName, error: &ErrorObject) -> Option<Box<Raw>> {
    let visits: Value = serde_json::from_str(must_visit(error)?.get()).ok()?;
    let requests = visits.get("inputRequests")?.as_object()?;
    let mut text = format!("{server} did not do it: an address has to be visited first. Then call again.");
    for request in requests.values() {
        let said = |key: &str| request["params"][key].as_str().map(clean::visible).unwrap_or_default();
        text.push_str(&format!("\n{}: {}", said("url"), said("message")));
    }
    to_raw_value(&json!({ "content": [{ "type": "text", "text": text }], "isError": true })).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn what_has_to_be_visited_is_said_in_words_where_no_page_can_be_shown() {
        let data = json!({ "elicitations": [
            { "mode": "url", "elicitationId": "1", "url": "https://a.example/x", "message": "Sign\u{202e} in" },
        ] });
        let error = ErrorObject::new(errors::URL_ELICITATION_REQUIRED, "visit").with_data(&data);
        let result = to_visit(&"docs".parse().unwrap(), &error).unwrap();
        let result: Value = serde_json::from_str(result.get()).unwrap();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && text.contains("https://a.example/x: Sign"), "{text}");
        assert!(!text.contains('\u{202e}'), "{text}");
        assert!(to_visit(&"docs".parse().unwrap(), &ErrorObject::new(-32000, "x")).is_none());
    }

    #[test]
    fn the_caller_the_tool_and_the_server_say_how_long_a_call_may_take_in_this_order() {
        let text =
            r#"{"mcpServers": {"s": {"command": "x", "requestTimeout": 30, "toolTimeouts": {"slow": 300}}}}"#;
        let config = Config::parse(text).unwrap().servers()["s"].clone();
        let seconds = |params: &str, tool: &str| {
            let params = RawObject::parse(&Raw::from_string(params.to_owned()).unwrap()).unwrap();
            patience(&params, &config, Some(tool)).as_secs()
        };
        assert_eq!((seconds("{}", "usual"), seconds("{}", "slow")), (30, 300));
        for (asked, expected) in
            [("120", 120), ("0.5", 1), ("3", 3), ("600", 600), ("601", 600), ("-1", 300), ("\"x\"", 300)]
        {
            let params = format!(r#"{{"_meta": {{"dev.satchel/timeout": {asked}}}}}"#);
            assert_eq!(seconds(&params, "slow"), expected, "{asked}");
        }
    }
}
