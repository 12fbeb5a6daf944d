//! One call from its route to its result: permit, send, answer, record. Every call to a server goes through here.
//!
//! Theory of operation: whoever asked drives a [`Running`] call step by step through its [`Stage`]s. [`attempt`] sends it,
//! and once more what provably did not run; [`conversation`] has answered what the server asks in the middle, which comes
//! out as a [`Step::Question`] where its client has to answer.

mod attempt;
mod conversation;
mod finish;
mod fitted;

use attempt::{Attempt, Task, Woken, patience};
use conversation::{Asked, Conversation, Next};
use satchel_mcp::{ErrorObject, Raw, RawObject, era::Era, errors, meta};
use serde_json::{json, value::to_raw_value};

use super::{
    Hub, hygiene,
    permission::{Permission, Permitted, Word},
    question,
    route::Route,
    servers::Registered,
    visit::{Visit, Visited},
};
use crate::{
    bridge::{Caller, Question, Round, pages},
    catalog::ToolEntry,
    hub::{
        approved,
        failure::{CallFailure, Failed},
        links::Goes,
        pause, permission, refresh, route, search, skills,
    },
    model::{Code, ServerName, ToolPath, audit::AuditKind, nature::Consent},
    recorder::Observer,
    tasks::on_message,
    upstream::{CallError, Event, Lease, Outcome, link},
};

pub(super) use attempt::ask_for_logs;
pub(super) use finish::Finish;

/// A running call. Dropping it cancels it.
#[derive(Debug)]
pub struct Running {
    hub: Hub,
    caller: Caller,
    attempt: Attempt,
    conversation: Conversation,
    stage: Stage,
    /// Post-processing of its result; `None` passes it through.
    finish: Option<Finish>,
    /// How it was allowed, if that was necessary.
    allowed: Option<Consent>,
    /// The sign-in pages its user was sent to, each once: after signing in, further consent may be necessary.
    visited: Vec<Code>,
}

/// The stage of a running call.
#[derive(Debug)]
enum Stage {
    /// To be sent.
    Begin,
    /// Waiting for permission.
    Permission(Box<Permission>),
    /// Waiting for a sign-in.
    SignIn(Box<Visit>),
    /// Sent.
    Sent(link::Call, Lease),
    /// A stateless server needs input first. The lease keeps it running meanwhile.
    Asking { round: Round, _awake: Lease },
    /// Rejected without being executed: the headers did not match the tool's current definition. Resent once after
    /// reading the list again (`2026-07-28/basic/transports/streamable-http.mdx`).
    Stale,
    /// Ended.
    Over,
}

/// An event of a running call.
#[derive(Debug)]
pub enum Step {
    /// A notification that belongs to it.
    Note {
        /// Its method.
        method: String,
        /// Its parameters, with the hub's progress token.
        params: Option<Box<Raw>>,
    },
    /// A question from the server; it waits for [`Running::answer`].
    Question(Question),
    /// The result.
    End(Result<Box<Raw>, Failed>),
}

/// Calls a tool by its path. `params` are the caller's parameters without the name; they are forwarded unchanged,
/// except for what concerns only caller and hub.
///
/// # Errors
/// A [`CallFailure`] if nothing was sent.
pub(super) async fn call_tool_for(
    hub: &Hub,
    caller: &Caller,
    path: &str,
    params: RawObject,
) -> Result<Running, CallFailure> {
    let hub = hub.seen_by(&caller.client);
    let route = route::route_tool(&hub, path).await.inspect_err(|failure| hub.tell_failure(failure))?;
    call_route(&hub, caller, route, params).await
}

/// The same for a path that needs no reading.
///
/// # Errors
/// As [`Hub::call_tool_for`].
pub(super) async fn call_tool_at(
    hub: &Hub,
    caller: &Caller,
    path: ToolPath,
    params: RawObject,
) -> Result<Running, CallFailure> {
    let hub = hub.seen_by(&caller.client);
    let route = route::route_path(&hub, None, path).await.inspect_err(|failure| hub.tell_failure(failure))?;
    Ok(call_route(&hub, caller, route, params).await?.finished(Finish::flat()))
}

/// The same for a tool that was already looked up through this handle.
///
/// # Errors
/// As for [`Hub::call_tool_for`].
pub(super) async fn call_route(
    hub: &Hub,
    caller: &Caller,
    route: Route,
    params: RawObject,
) -> Result<Running, CallFailure> {
    begin_call(hub, caller, route, params).await.inspect_err(|failure| hub.tell_failure(failure))
}

async fn begin_call(
    hub: &Hub,
    caller: &Caller,
    route: Route,
    mut params: RawObject,
) -> Result<Running, CallFailure> {
    let (keep, log) = (route.server.config.keep_calls, route.server.upstream.log());
    hub.context.observer.routed(&route.path, params.get("arguments"), keep, log);
    permit_tool(hub, &route.path)?;
    let permission = permission::permission(hub, caller, &route, &params)?;
    // Strings always serialize.
    params.put_first("name", &route.tool().map_or(route.path.tool.as_str(), ToolEntry::name_there));
    let whose = (route.path.server.clone(), Some(route.path));
    run(hub, caller, whose, route.server, "tools/call", params, permission).await
}

/// Sends any request to one server.
///
/// # Errors
/// A [`CallFailure`] if nothing was sent.
pub(super) async fn ask(
    hub: &Hub,
    caller: &Caller,
    server: &ServerName,
    method: &str,
    params: RawObject,
) -> Result<Running, CallFailure> {
    if method == "tools/call" {
        let tool = params.text("name").unwrap_or_default();
        return call_tool_for(hub, caller, &format!("{}:{tool}", server.in_path()), params).await;
    }
    let hub = hub.seen_by(&caller.client);
    let registered = route::route_known_server(&hub, server)?;
    approved::refuse_held_request(&hub, server, method, &params)?;
    run(&hub, caller, (server.clone(), None), registered, method, params, Permitted::Freely).await
}

/// Refuses a tool that timed out or lost its server several times in a row.
fn permit_tool(hub: &Hub, path: &ToolPath) -> Result<(), CallFailure> {
    hub.calls().breakers.permit(path).map_err(|wait| {
        let seconds = wait.as_secs_f64().ceil();
        let message =
            format!("{path} failed several times in a row and is not called for another {seconds} s");
        let action = Code::ToolPaused.action().to_owned();
        CallFailure::not_sent(Some(&path.server), Some(Code::ToolPaused), message, action)
    })
}

/// Reads a resource by its path, never from a cache. `params` are the caller's parameters without the URI.
///
/// # Errors
/// A [`CallFailure`] if nothing was sent.
pub(super) async fn read_resource(
    hub: &Hub,
    caller: &Caller,
    path: &str,
    mut params: RawObject,
) -> Result<Running, CallFailure> {
    let hub = hub.seen_by(&caller.client);
    let (registered, path) =
        route::route_resource(&hub, &caller.client, path).inspect_err(|failure| hub.tell_failure(failure))?;
    hub.context.observer.routed_to_resource(&path);
    params.put("uri", &path.uri);
    let read =
        run(&hub, caller, (path.server, None), registered, "resources/read", params, Permitted::Freely);
    let running = read.await.inspect_err(|failure| hub.tell_failure(failure))?;
    Ok(running.finished(Finish { corrected: vec![], capped: false, goes: Goes::ByPath }))
}

async fn run(
    hub: &Hub,
    caller: &Caller,
    whose: (ServerName, Option<ToolPath>),
    registered: Registered,
    method: &str,
    params: RawObject,
    permission: Permitted,
) -> Result<Running, CallFailure> {
    pause::refuse_while_paused(hub, &whose.0)?;
    let tool = whose.1.as_ref().map(|path| path.tool.as_str());
    let quiet = patience(&params, &registered.config, tool);
    let mut running = Running {
        hub: hub.clone(),
        caller: caller.clone(),
        attempt: Attempt::new(whose, registered, method, hub.context.in_trace(params), quiet),
        conversation: Conversation::default(),
        stage: Stage::Begin,
        finish: None,
        allowed: None,
        visited: vec![],
    };
    if let Permitted::Again(consent) = permission {
        running.allowed = Some(consent);
    }
    match permission {
        // Start and send nothing until a person has allowed it.
        Permitted::Asking(permission) => running.stage = Stage::Permission(permission),
        Permitted::Freely | Permitted::Again(_) => {
            running.attempt.take_instance(hub).await?;
            // Otherwise the progress of the start is reported.
            if !running.attempt.is_slow()
                && let Err(failure) = running.begin().await
            {
                running.visit(failure)?;
            }
        }
    }
    Ok(running)
}

/// The key in a result's `_meta` that says that the server was started anew.
const ANEW_META: &str = "dev.satchel/startedAnew";

/// A result that says that what its caller had open is gone.
fn told_anew(server: &ServerName, result: Box<Raw>) -> Box<Raw> {
    let Ok(mut fields) = RawObject::parse(&result) else { return result };
    let text = format!(
        "Satchel: the session with \"{server}\" was started anew, so what earlier calls had opened in it is gone."
    );
    if let Some(mut content) = fields.read::<Vec<Box<Raw>>>("content") {
        content.extend(to_raw_value(&json!({ "type": "text", "text": text })).ok());
        fields.put("content", &content);
    }
    let mut meta = meta::of(&fields);
    meta.put(ANEW_META, &true);
    fields.set("_meta", meta.to_raw());
    fields.to_raw()
}

/// The length of a result, in bytes.
fn length_of(step: &Step) -> usize {
    match step {
        Step::End(Ok(result)) => result.get().len(),
        Step::End(Err(_)) | Step::Note { .. } | Step::Question(_) => 0,
    }
}

/// Records an event; only the end matters.
fn tell_step(hub: &Hub, step: &Step) {
    match step {
        Step::Note { .. } | Step::Question(_) => return,
        Step::End(Ok(result)) => hub.context.observer.answered(result, false),
        Step::End(Err(Failed::Upstream(error))) => hub.context.observer.refused(error),
        Step::End(Err(Failed::Hub(failure))) => hub.tell_failure(failure),
    }
    if let Some((visit, tool)) = hub.context.observer.used() {
        hub.recorder().used(&visit, &tool);
    }
}

impl Running {
    /// The next event. [`Step::End`] is the last one. Cancel safe.
    pub async fn next(&mut self) -> Step {
        let step = self.step().await;
        on_message(length_of(&step), || tell_step(&self.hub, &step));
        step
    }

    async fn step(&mut self) -> Step {
        loop {
            let step = match &mut self.stage {
                Stage::Permission(_) => self.ask_permission().await,
                Stage::Begin => self.wake_and_send().await,
                Stage::SignIn(_) => self.sign_in().await,
                Stage::Stale => self.read_again().await,
                Stage::Asking { .. } => self.next_of_round().await,
                Stage::Sent(..) => self.listen().await,
                Stage::Over => {
                    let message = "the call is over".to_owned();
                    let server = Some(&self.attempt.server);
                    let failure = CallFailure::not_sent(server, None, message, String::new());
                    return Step::End(Err(Failed::Hub(failure)));
                }
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// Waits for a person's decision.
    async fn ask_permission(&mut self) -> Option<Step> {
        let Stage::Permission(permission) = &mut self.stage else { return None };
        let (consent, rule, waited) = match permission.next(&self.hub).await {
            Word::Ask(question) => return Some(Step::Question(question)),
            Word::No(failure, waited) => {
                self.hub.context.observer.decision_took(waited);
                return Some(self.fail(failure));
            }
            Word::Yes(consent, rule, waited) => (consent, rule, waited),
        };
        self.allowed = Some(consent);
        self.hub.context.observer.decided(&rule);
        self.hub.context.observer.decision_took(waited);
        let path = self.attempt.tool_called().map(|path| path.to_string()).unwrap_or_default();
        self.hub.did(AuditKind::Consent, &self.caller.client, &path, self.hub.context.with_cause(&rule));
        self.hub.recorder().written().await;
        self.attempt.deadline += waited;
        self.stage = Stage::Begin;
        // Much may have changed while the person decided.
        self.attempt.still_possible(&self.hub).err().map(|failure| self.fail(failure))
    }

    async fn wake_and_send(&mut self) -> Option<Step> {
        if let Err(failure) = self.attempt.take_instance(&self.hub).await {
            return Some(self.fail(failure));
        }
        let sent = match self.attempt.wake().await {
            Woken::Told(step) => return Some(step),
            Woken::Failed(failure) => Err(failure),
            Woken::Ready => self.begin().await,
        };
        self.visit(sent.err()?).err().map(|failure| self.fail(failure))
    }

    async fn begin(&mut self) -> Result<(), CallFailure> {
        let (call, lease) = self.attempt.send(&self.hub, &self.caller).await?;
        self.stage = Stage::Sent(call, lease);
        Ok(())
    }

    /// Asks the user to sign in or grant more, if that is what is missing and the client can open a page.
    ///
    /// # Errors
    /// Any other failure, unchanged.
    fn visit(&mut self, failure: CallFailure) -> Result<(), CallFailure> {
        let endpoint = self.hub.view().endpoint.clone();
        let accounts = &self.hub.inner.around.accounts;
        let visit = Visit::of(accounts, endpoint.as_deref(), &self.caller, &self.attempt.server, &failure);
        let code = failure.code.filter(|code| !self.visited.contains(code));
        match visit.zip(code) {
            Some((visit, code)) => {
                self.visited.push(code);
                self.conversation.wait();
                self.stage = Stage::SignIn(Box::new(visit));
                Ok(())
            }
            None => Err(failure),
        }
    }

    async fn sign_in(&mut self) -> Option<Step> {
        let Stage::SignIn(visit) = &mut self.stage else { return None };
        match visit.next().await {
            Visited::Ask(question) => return Some(Step::Question(question)),
            Visited::Over(failure) => return Some(self.fail(failure)),
            Visited::SignedIn => {}
        }
        self.had_answer();
        self.stage = Stage::Begin;
        None
    }

    /// Reads the list of tools again, for a call that was rejected because of it.
    async fn read_again(&mut self) -> Option<Step> {
        let again =
            refresh::read_tools_again(&self.hub, &self.attempt.server, &self.attempt.registered.upstream);
        Box::pin(again).await;
        // The tool may have changed and need approval.
        if let Err(failure) = self.attempt.still_possible(&self.hub) {
            return Some(self.fail(failure));
        }
        self.attempt.repeat_once();
        self.stage = Stage::Begin;
        None
    }

    /// The next question of a round, or the repeated request when all are answered.
    async fn next_of_round(&mut self) -> Option<Step> {
        let Stage::Asking { round, .. } = &mut self.stage else { return None };
        let next = self.conversation.next_of_round(&self.hub, &self.caller, &self.attempt, round).await;
        let is_over = round.is_answered() || round.refusal().is_some();
        match next {
            Next::Ask(question) => return Some(Step::Question(question)),
            Next::GoOn if is_over => self.had_answer(),
            Next::GoOn => {}
            Next::Retry => {
                self.attempt.params = round.retry(&self.attempt.params);
                self.stage = Stage::Begin;
            }
            Next::Over(why) => return Some(self.fail(self.attempt.failed(why))),
        }
        None
    }

    /// Waits for the server and for people.
    async fn listen(&mut self) -> Option<Step> {
        let Stage::Sent(call, _) = &mut self.stage else { return None };
        let (quiet, deadline) = self.conversation.patience(&self.attempt);
        let event = tokio::select! {
            event = call.next_before(quiet, deadline) => event,
            answered = self.conversation.faces.next(&self.attempt.server) => {
                self.answer(&answered.key, Ok(answered.result));
                return None;
            }
        };
        match event {
            Event::Note { method, params } => {
                let log = method == "notifications/message";
                let is_wanted = !log || self.caller.wants_log(params.as_deref());
                is_wanted.then(|| Step::Note { method, params: params.map(hygiene::said) })
            }
            Event::Silent => {
                let what = self.attempt.tool.as_ref().map_or(&self.attempt.method, |path| &path.tool);
                let seconds = link::SUSPECT.as_secs();
                let log = self.attempt.registered.upstream.log();
                log.hub(&format!("has said nothing about {what} for {seconds} s; still waiting for it"));
                None
            }
            Event::Question { id, method, params } => {
                let asked = (id, method, params);
                match self.conversation.questioned(&self.hub, &self.caller, &self.attempt, call, asked) {
                    Asked::Client(question) => return Some(Step::Question(question)),
                    Asked::Answered(key, result) => self.answer(&key, Ok(result)),
                    Asked::Settled => {}
                }
                None
            }
            Event::Final(Ok(result)) => self.answered(result).await,
            Event::Final(Err(error)) => self.not_answered(error),
        }
    }

    /// Handles a result.
    async fn answered(&mut self, result: Box<Raw>) -> Option<Step> {
        let Stage::Sent(call, lease) = &self.stage else { return None };
        lease.prove();
        let era = call.era();
        let for_client = || self.caller.era.is_stateless() && question::all_for_client(&self.caller, &result);
        if era.is_stateless() && meta::asks_for_input(&result) && !for_client() {
            return self.begin_round(&result);
        }
        if matches!(self.attempt.task, Some(Task::Asked)) {
            return self.wait_for_task(&result).await;
        }
        self.attempt.task = None;
        Some(on_message(result.get().len(), || self.ended(result, era)))
    }

    /// Handles an error or a missing response.
    fn not_answered(&mut self, error: CallError) -> Option<Step> {
        let Stage::Sent(call, lease) = &self.stage else { return None };
        let era = call.era();
        let error = match error {
            CallError::Answered(error)
                if error.code == errors::HEADER_MISMATCH
                    && era.is_stateless()
                    && self.attempt.may_repeat() =>
            {
                self.stage = Stage::Stale;
                return None;
            }
            CallError::Answered(error) | CallError::Rejected(error, _) => {
                lease.prove();
                self.record(true, None);
                return Some(self.refused(error, era));
            }
            error => error,
        };
        let counts = match &error {
            CallError::TimedOut(_, Outcome::Unknown) => self.attempt.is_patient(),
            // One that reports progress until then is alive.
            CallError::Overdue(Outcome::Unknown) => call.is_suspect(),
            _ => false,
        };
        if counts {
            lease.timed_out();
        }
        let incident = lease.link().ended().map(|_| lease.generation());
        if self.attempt.repeat(&error) {
            self.stage = Stage::Begin;
            return None;
        }
        // A missing sign-in does not count against the tool.
        if !matches!(error, CallError::SignIn(_)) {
            self.record(false, incident);
        }
        let failure = self.attempt.explain(&error);
        self.visit(failure).err().map(|failure| self.fail(failure))
    }

    /// Waits for the result of a task.
    async fn wait_for_task(&mut self, begun: &Raw) -> Option<Step> {
        let Stage::Sent(_, lease) = std::mem::replace(&mut self.stage, Stage::Over) else { return None };
        self.hub.calls().owned.begun(None, &self.attempt.server, begun);
        match self.attempt.wait_for_task(&self.caller, begun, &lease).await {
            Ok(call) => {
                self.stage = Stage::Sent(call, lease);
                None
            }
            Err(failure) => Some(self.fail(failure)),
        }
    }

    fn begin_round(&mut self, result: &Raw) -> Option<Step> {
        let round = self.conversation.begin_round(result);
        match (round, std::mem::replace(&mut self.stage, Stage::Over)) {
            (Some(round), Stage::Sent(_, lease)) => {
                self.stage = Stage::Asking { round, _awake: lease };
                None
            }
            _ => {
                let message =
                    format!("\"{}\" asked for input in a way that leads nowhere", self.attempt.server);
                Some(self.fail(self.attempt.failed(message)))
            }
        }
    }

    fn ended(&mut self, result: Box<Raw>, era: Era) -> Step {
        self.record(true, None);
        let anew = !meta::asks_for_input(&result) && self.has_begun_anew();
        if !self.attempt.method.starts_with("tasks/") {
            self.hub.calls().owned.begun(Some(&self.caller.client), &self.attempt.server, &result);
        }
        if let Some(path) = &self.attempt.tool {
            search::learn_shape(&self.hub, path, &result, self.attempt.registered.upstream.log());
        }
        if let Some((tool, consent)) = self.attempt.tool.as_ref().zip(self.allowed)
            && meta::asks_for_input(&result)
        {
            permission::remember_round(&self.hub, &self.caller, tool, &self.attempt.params, consent);
        }
        let failed = || RawObject::parse(&result).is_ok_and(|fields| fields.read("isError") == Some(true));
        if self.caller.era.is_stateless()
            && failed()
            && let Some(error) = self.conversation.lacking()
        {
            return self.end(Err(Failed::Upstream(error)));
        }
        let result = meta::result_between(result, era, self.caller.era);
        if meta::asks_for_input(&result) {
            return self.end(Ok(result));
        }
        let result = self.conversation.faces.told(result);
        self.end(Ok(if anew { told_anew(&self.attempt.server, result) } else { result }))
    }

    /// Has the server lost what this caller had open, since it last answered a call of the caller?
    fn has_begun_anew(&self) -> bool {
        let Stage::Sent(_, lease) = &self.stage else { return false };
        let server = &self.attempt.registered;
        match &server.instance {
            _ if self.attempt.tool.is_none() => false,
            Some(instance) => instance.has_answered(lease.beginning()),
            // A person chose that all share it, although it keeps something open.
            None if server.sharing.keeps.is_some() => {
                server.instances.shared_has_answered(&self.caller.client, lease.beginning())
            }
            None => false,
        }
    }

    fn refused(&mut self, error: ErrorObject, era: Era) -> Step {
        // The hub declares completions for all, and a server that has none has no values.
        if self.attempt.method == "completion/complete"
            && error.code == errors::METHOD_NOT_FOUND
            && let Ok(none) = to_raw_value(&json!({ "completion": { "values": [] } }))
        {
            return self.end(Ok(none));
        }
        self.hub.calls().owned.pages_of(&self.caller.client, &self.attempt.server, &error);
        let page = Raw::from_string(r#"{"mode":"url"}"#.to_owned()).ok();
        let shows_pages = self.caller.can_answer("elicitation/create", page.as_deref()).is_ok();
        if !era.is_stateless()
            && !shows_pages
            && self.attempt.tool.is_some()
            && let Some(result) = pages::in_words(&self.attempt.server, &error)
        {
            return self.end(Ok(result));
        }
        if self.caller.era.is_stateless() && !era.is_stateless() {
            if let Some(error) = self.conversation.lacking() {
                return self.end(Err(Failed::Upstream(error)));
            }
            if let Some(result) = pages::as_question(&error) {
                return self.end(Ok(result));
            }
        }
        let error = meta::error_between(&self.attempt.method, error, era, self.caller.era);
        self.end(Err(Failed::Upstream(error)))
    }

    fn end(&mut self, end: Result<Box<Raw>, Failed>) -> Step {
        self.stage = Stage::Over;
        self.conversation.faces.forget();
        let end = end.and_then(|result| self.checked(result));
        let end = match end {
            Ok(result) => Ok(hygiene::result(&self.attempt.registered, &self.attempt.method, result)),
            Err(Failed::Upstream(error)) => Err(Failed::Upstream(hygiene::error(error))),
            Err(failed @ Failed::Hub(_)) => Err(failed),
        };
        let end = match &self.finish {
            Some(finish) => finish.applied(&self.hub, &self.caller, &self.attempt, end),
            None => end,
        };
        Step::End(end.map(|result| meta::blocks_for(self.caller.era, result)))
    }

    /// A file of a skill is passed on only as its approved entry describes it.
    fn checked(&self, result: Box<Raw>) -> Result<Box<Raw>, Failed> {
        if self.attempt.method != "resources/read" || meta::asks_for_input(&result) {
            return Ok(result);
        }
        let uri = self.attempt.params.text("uri").unwrap_or_default();
        let of = (&self.attempt.server, &self.attempt.registered);
        skills::check(&self.hub, of, &uri, &result).map_err(Failed::Hub)?;
        Ok(result)
    }

    fn fail(&mut self, failure: CallFailure) -> Step {
        self.end(Err(Failed::Hub(failure)))
    }

    /// Its result goes to a client of all servers' own addresses.
    #[must_use]
    pub fn under_own_addresses(self) -> Self {
        self.finished(Finish::flat())
    }

    /// Adds post-processing of the result.
    pub(super) fn finished(mut self, finish: Finish) -> Self {
        self.finish = Some(finish);
        self
    }

    /// Cuts a result that was composed of the server's, if it is too long for the client, and records that.
    pub fn cut(&self, result: Box<Raw>) -> Box<Raw> {
        let (client, long) = (&self.caller.client, result.get().len());
        let result = self.hub.calls().results.capped(client, self.hub.result_cap(client), result);
        if result.get().len() != long {
            self.observer().answered(&result, false);
        }
        result
    }

    /// Records that the client left to find an answer, or returned: what the server asks meanwhile concerns other
    /// calls.
    pub fn park(&self, parked: bool) {
        if let Stage::Sent(call, _) = &self.stage {
            call.park(parked);
        }
    }

    /// Does it wait for people rather than the server?
    pub(super) fn waits_for_people(&self) -> bool {
        matches!(self.stage, Stage::Permission(_) | Stage::SignIn(_)) || self.conversation.is_waiting()
    }

    /// Answers a [`Step::Question`]. Any other answer is ignored.
    pub fn answer(&mut self, key: &str, outcome: Result<Box<Raw>, ErrorObject>) {
        let is_all = match &mut self.stage {
            Stage::Sent(call, _) => self.conversation.answer(call, key, outcome),
            Stage::Asking { round, .. } => {
                round.answer(key, outcome);
                round.is_answered() || round.refusal().is_some()
            }
            Stage::Permission(permission) => {
                permission.answered(&self.hub, outcome.ok().as_deref());
                false
            }
            Stage::SignIn(visit) => {
                visit.answered(outcome.ok().as_deref());
                false
            }
            Stage::Begin | Stage::Stale | Stage::Over => false,
        };
        if is_all {
            self.had_answer();
        }
    }

    /// The time people take to answer does not count as the server's.
    fn had_answer(&mut self) {
        if let Some(waited) = self.conversation.waited() {
            self.attempt.deadline += waited;
            self.hub.context.observer.waited(waited);
        }
    }

    fn record(&self, good: bool, incident: Option<u64>) {
        if let Some(tool) = &self.attempt.tool {
            self.hub.calls().breakers.record(tool, good, incident);
        }
    }

    /// Waits for the end, ignoring notifications. Questions cannot be answered.
    pub async fn finish(self) -> Result<Box<Raw>, Failed> {
        self.finish_hearing(|_, _| {}).await
    }

    /// The same with a callback for notifications: method and parameters.
    pub(super) async fn finish_hearing(
        mut self,
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

    /// Its observer.
    pub fn observer(&self) -> &Observer {
        &self.hub.context.observer
    }

    /// Its server.
    pub fn server(&self) -> &ServerName {
        &self.attempt.server
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Cancelling the request that waits for a task does not stop the task.
        if let (Some(Task::Running(id)), Stage::Sent(call, _)) = (&self.attempt.task, &self.stage) {
            call.cancel_task(id);
        }
        // Its caller lost patience, and the server showed no sign of life: that counts as a timeout.
        if matches!(&self.stage, Stage::Sent(call, _) if call.is_suspect())
            && let Stage::Sent(call, lease) = std::mem::replace(&mut self.stage, Stage::Over)
        {
            drop(call);
            lease.timed_out();
            self.record(false, None);
        }
    }
}
