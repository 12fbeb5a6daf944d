//! One attempt at a call: takes a slot, a lease and the server's lists, then sends the request; repeats a request that
//! provably did not run.

use std::time::Duration;

use satchel_mcp::{Raw, RawObject, era::Era, meta, param_headers};
use serde_json::{Value, json, value::to_raw_value};
use tokio::{sync::oneshot, time::Instant};

use super::Step;
use crate::{
    bridge::{Caller, caller},
    calls::slots::{Slot, Slots},
    catalog::ToolEntry,
    hub::{
        Hub, approved, credential,
        failure::{CallFailure, refused},
        fresh_lists, instantiate, pause, route,
        servers::Registered,
    },
    model::{
        Code, ServerConfig, ServerName, ToolPath,
        server::{REQUEST_TIMEOUT_FLOOR, Share},
        snapshot::Phase,
    },
    upstream::{CallError, Dirty, Lease, LeaseError, Link, Outcome, link},
};

/// The `_meta` key with which a caller sets its call's timeout without progress, in seconds.
const TIMEOUT_META: &str = "dev.satchel/timeout";
/// Minimum of that timeout.
const SHORTEST_PATIENCE: Duration = Duration::from_secs(1);
/// How often a request that was provably not executed is resent. A session may expire just after it was opened.
const REPEATS: usize = 3;
/// The pause before reconnecting after a connection ended.
const AFTER_END: Duration = Duration::from_millis(10);
/// Timeout for setting a server's log level.
const LEVEL_TIME: Duration = Duration::from_secs(5);
/// How long a server should retain a task, in milliseconds.
const TASK_TTL_MS: u64 = 30 * 60 * 1000;

/// A request to one server, and the state needed to complete it.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) server: ServerName,
    /// The tool, if it is a tool call: timeouts and lost connections count per tool.
    pub(super) tool: Option<ToolPath>,
    pub(super) registered: Registered,
    pub(super) method: String,
    /// As the caller wrote them.
    pub(super) params: RawObject,
    /// A tool that runs only as a task (`2025-11-25/basic/utilities/tasks.mdx`) while the caller did not request one:
    /// the hub creates the task and waits for its result.
    pub(super) task: Option<Task>,
    /// How many more times it may be resent, if provably not executed.
    repeats: usize,
    quiet: Duration,
    pub(super) deadline: Instant,
    /// Acquired when it is sent, so that a pending question occupies no slot.
    slots: Option<(Slot, Slot)>,
    /// The server's start that it waits for.
    waking: Waking,
}

/// The start of a server, for a call that reports progress.
#[derive(Debug, Default)]
struct Waking {
    asked: Option<oneshot::Receiver<Result<Lease, LeaseError>>>,
    /// Keeps the server running until the call is sent.
    awake: Option<Lease>,
    told: u32,
}

/// How often progress is reported while the server starts.
const TELLING: Duration = Duration::from_secs(3);

/// A task that the hub manages for a caller without task support.
#[derive(Debug)]
pub(super) enum Task {
    /// Requested in the call.
    Asked,
    /// Running; waiting for its result.
    Running(String),
}

/// The result of waiting for a start.
pub(super) enum Woken {
    /// Ready to send.
    Ready,
    /// A progress report for the caller.
    Told(Step),
    /// The server is unavailable.
    Failed(CallFailure),
}

impl Attempt {
    pub(super) fn new(
        (server, tool): (ServerName, Option<ToolPath>),
        registered: Registered,
        method: &str,
        params: RawObject,
        quiet: Duration,
    ) -> Self {
        Self {
            server,
            tool,
            registered,
            method: method.to_owned(),
            params,
            task: None,
            repeats: REPEATS,
            quiet,
            deadline: Instant::now() + link::LONGEST_CALL,
            slots: None,
            waking: Waking::default(),
        }
    }

    /// Takes the instance that this caller uses.
    ///
    /// # Errors
    /// A [`CallFailure`] if there is none for it.
    pub(super) async fn take_instance(&mut self, hub: &Hub) -> Result<(), CallFailure> {
        let is_shared = self.registered.instance.is_none() && self.registered.sharing.share == Share::All;
        let known = || hub.servers().get(&self.server).cloned();
        if !is_shared && let Some(known) = known() {
            self.registered = Box::pin(instantiate::own(hub, &self.server, &known)).await?;
        }
        Ok(())
    }

    /// The caller's instance ended between lookup and lease, for another caller's.
    fn has_lost_instance(&self, error: &LeaseError) -> bool {
        let is_over = matches!(error, LeaseError::Off | LeaseError::Closing);
        is_over && self.registered.instance.as_ref().is_some_and(|instance| instance.end.is_cancelled())
    }

    /// Does the server have to start, and does the caller want progress?
    pub(super) fn is_slow(&self) -> bool {
        !self.registered.upstream.is_connected() && self.wants_progress()
    }

    /// The timeout without progress, and the absolute deadline.
    pub(super) fn patience(&self) -> (Duration, Instant) {
        (self.quiet, self.deadline)
    }

    /// How long it waits for its turn: no longer than for an answer.
    fn queueing(&self) -> Duration {
        self.quiet.min(link::SUSPECT)
    }

    /// Does a timeout count against the server? Not if the caller set a shorter one.
    pub(super) fn is_patient(&self) -> bool {
        self.quiet >= REQUEST_TIMEOUT_FLOOR
    }

    fn wants_progress(&self) -> bool {
        let meta = self.params.get("_meta").and_then(|meta| RawObject::parse(meta).ok());
        meta.is_some_and(|meta| meta.get("progressToken").is_some())
    }

    /// Waits for the server's start, reporting progress if the caller wants it.
    pub(super) async fn wake(&mut self) -> Woken {
        if !self.wants_progress() || self.waking.awake.is_some() {
            return Woken::Ready;
        }
        let upstream = &self.registered.upstream;
        if self.waking.asked.is_none() && upstream.is_connected() {
            return Woken::Ready;
        }
        let asked = self.waking.asked.get_or_insert_with(|| upstream.ask());
        let leased = tokio::select! {
            leased = asked => leased.unwrap_or(Err(LeaseError::Closing)),
            () = tokio::time::sleep(TELLING) => return Woken::Told(self.told()),
        };
        self.waking.asked = None;
        match leased {
            Ok(lease) => self.waking.awake = Some(lease),
            // A person may be asked for the missing value.
            Err(LeaseError::Failed(failure)) if !failure.missing.is_empty() => {}
            // Another one is taken when it is sent.
            Err(error) if self.has_lost_instance(&error) => {}
            Err(error) => return Woken::Failed(refused(&self.server, &self.registered, &error)),
        }
        Woken::Ready
    }

    fn told(&mut self) -> Step {
        self.waking.told += 1;
        let what = match self.registered.upstream.seen().phase {
            Phase::Starting => "starting",
            Phase::Downloading => "downloading",
        };
        let (told, server) = (self.waking.told, &self.server);
        let message = format!("{server} is {what}, for {} s so far", TELLING.as_secs() * u64::from(told));
        // Replaced by the caller's own token.
        let params = json!({ "progressToken": 0, "progress": told, "message": message });
        let method = "notifications/progress".to_owned();
        Step::Note { method, params: to_raw_value(&params).ok() }
    }

    /// Sends the request.
    ///
    /// # Errors
    /// A [`CallFailure`] if it cannot be sent.
    pub(super) async fn send(
        &mut self,
        hub: &Hub,
        caller: &Caller,
    ) -> Result<(link::Call, Lease), CallFailure> {
        if self.slots.is_none() {
            self.slots = Some(self.take_slots(hub, caller).await?);
            hub.view().called(&self.server);
            hub.inner.faces.counted();
        }
        loop {
            let leased = credential::lease_with_credentials(hub, &self.server, &self.registered).await;
            if self.repeats > 0 && leased.as_ref().is_err_and(|error| self.has_lost_instance(error)) {
                self.repeats -= 1;
                self.take_instance(hub).await?;
                continue;
            }
            let lease = leased.map_err(|error| match self.has_lost_instance(&error) {
                true => instantiate::busy(&self.server),
                false => refused(&self.server, &self.registered, &error),
            })?;
            let lists = lists_of(&self.method);
            if lists != 0 {
                fresh_lists::wait_for_lists(hub, &self.server, &self.registered, &lease, lists).await?;
                self.still_offered(hub)?;
            }
            let request = self.request(hub, caller, &lease).await;
            match lease.link().begin(request, self.queueing()).await {
                Ok(call) => {
                    self.waking = Waking::default();
                    return Ok((call, lease));
                }
                // The connection ended between lease and send. Nothing was sent, so retry on a new one.
                Err(error) if error.outcome() == Outcome::NotSent && self.repeats > 0 => {
                    self.repeats -= 1;
                    drop(lease);
                    // The lifecycle learns of the end at the same time.
                    tokio::time::sleep(AFTER_END).await;
                }
                Err(error) => return Err(self.explain(&error)),
            }
        }
    }

    /// The request in the server's revision. A legacy server has one log level for all callers; it is raised first if
    /// this caller wants more.
    async fn request(&mut self, hub: &Hub, caller: &Caller, lease: &Lease) -> link::Request {
        let era = lease.link().era();
        if let Some(from) = caller.log_from.filter(|_| caller.asks_logs && !era.is_stateless()) {
            ask_for_logs(&self.registered, lease.link(), from).await;
        }
        let mut params = caller.parameters(&self.params, era);
        let needs_task = !era.is_stateless() && params.get("task").is_none() && self.needs_task(hub);
        if needs_task {
            params.to_mut().put("task", &json!({ "ttl": TASK_TTL_MS }));
        }
        let request = link::Request {
            method: self.method.clone(),
            headers: if era.is_stateless() { self.param_headers(hub, &params) } else { vec![] },
            params: Some(params.to_raw()),
            owner: Some(caller.client.clone()),
        };
        if needs_task {
            self.task = Some(Task::Asked);
        }
        request
    }

    /// The server's slot first, so that waiting for it blocks no calls of other servers.
    async fn take_slots(&self, hub: &Hub, caller: &Caller) -> Result<(Slot, Slot), CallFailure> {
        let client = &caller.client;
        let busy = || {
            let message = format!("\"{}\" is busy: too many calls are in flight", self.server);
            let action = "Try again in a moment.".to_owned();
            CallFailure::not_sent(Some(&self.server), None, message, action)
        };
        // At most as long as this caller waits for a response.
        let wait = self.queueing();
        let take = async |slots: &Slots| tokio::time::timeout(wait, slots.take(client)).await.ok().flatten();
        let of_server = take(&self.registered.calls).await.ok_or_else(busy)?;
        let of_all = take(&hub.calls().slots).await.ok_or_else(busy)?;
        Ok((of_server, of_all))
    }

    /// The arguments to repeat in headers.
    fn param_headers(&self, hub: &Hub, params: &RawObject) -> Vec<(String, String)> {
        let Some(path) = &self.tool_called() else { return vec![] };
        let wanted = hub.catalog().tool(path).map(ToolEntry::param_headers).unwrap_or_default();
        if wanted.is_empty() {
            return vec![];
        }
        param_headers::of_call(&wanted, &params.read::<Value>("arguments").unwrap_or_default())
    }

    /// Can the tool only be called as a task?
    fn needs_task(&self, hub: &Hub) -> bool {
        let Some(path) = self.tool_called() else { return false };
        let catalog = hub.catalog();
        let raw = catalog.tool(&path).map(|tool| &tool.raw).filter(|raw| raw.get().contains("taskSupport"));
        let execution =
            raw.and_then(|raw| RawObject::parse(RawObject::parse(raw).ok()?.get("execution")?).ok());
        execution.and_then(|execution| execution.text("taskSupport")).as_deref() == Some("required")
    }

    /// Waits for a task's result, on the connection where the server also asks questions.
    ///
    /// # Errors
    /// A [`CallFailure`] if the result cannot be requested.
    pub(super) async fn wait_for_task(
        &mut self,
        caller: &Caller,
        begun: &Raw,
        lease: &Lease,
    ) -> Result<link::Call, CallFailure> {
        let id = RawObject::parse(begun)
            .ok()
            .and_then(|fields| RawObject::parse(fields.get("task")?).ok()?.text("taskId"));
        let Some(id) = id else {
            return Err(self.failed(format!("\"{}\" did not say which task it began", self.server)));
        };
        let mut params = RawObject::new();
        params.put("taskId", &id);
        if let Some(own) = caller.parameters(&self.params, Era::SESSION).get("_meta") {
            params.set("_meta", own.to_owned());
        }
        let request = link::Request {
            method: "tasks/result".to_owned(),
            headers: vec![],
            params: Some(params.to_raw()),
            owner: Some(caller.client.clone()),
        };
        // A task may take as long as any call, unless the caller sets a timeout.
        self.quiet = asked_patience(&self.params).unwrap_or(link::LONGEST_CALL);
        self.task = Some(Task::Running(id));
        lease.link().begin(request, self.queueing()).await.map_err(|error| self.explain(&error))
    }

    pub(super) fn tool_called(&self) -> Option<ToolPath> {
        let named = || self.params.text("name").filter(|_| self.method == "tools/call");
        self.tool.clone().or_else(|| Some(ToolPath { server: self.server.clone(), tool: named()? }))
    }

    /// Is the tool still available as it was when the call was made?
    fn still_offered(&self, hub: &Hub) -> Result<(), CallFailure> {
        let Some(tool) = &self.tool else {
            return approved::refuse_held_request(hub, &self.server, &self.method, &self.params);
        };
        hub.refuse_hidden_tool(tool)?;
        if hub.catalog().tool(tool).is_some() {
            return Ok(());
        }
        let message = format!("{tool} cannot be called: \"{}\" has no such tool any more", self.server);
        let action = route::how_to_find(hub).to_owned();
        Err(CallFailure::not_sent(Some(&self.server), None, message, action))
    }

    /// Can it still be sent, after a person has allowed it?
    pub(super) fn still_possible(&self, hub: &Hub) -> Result<(), CallFailure> {
        pause::refuse_while_paused(hub, &self.server)?;
        route::route_known_server(hub, &self.server)?;
        match &self.tool {
            Some(tool) => hub.refuse_hidden_tool(tool),
            None => Ok(()),
        }
    }

    /// Allows one more attempt, and no further ones.
    pub(super) fn repeat_once(&mut self) {
        self.repeats = 0;
    }

    pub(super) fn may_repeat(&self) -> bool {
        self.repeats > 0
    }

    /// Resends only requests that were provably not executed, and only a few times. A tool's `idempotentHint` does not
    /// permit resending.
    pub(super) fn repeat(&mut self, error: &CallError) -> bool {
        let safe = matches!(error, CallError::Ended(_, Outcome::NotSent | Outcome::NotExecuted));
        let repeated = safe && self.repeats > 0;
        self.repeats -= usize::from(repeated);
        repeated
    }

    pub(super) fn explain(&self, error: &CallError) -> CallFailure {
        if let CallError::SignIn(need) = error {
            let action = need.code.action_for(self.server.as_str());
            return CallFailure::not_sent(Some(&self.server), Some(need.code), need.message.clone(), action);
        }
        let outcome = error.outcome();
        let action = match outcome {
            Outcome::NotSent | Outcome::NotExecuted => "It was not run; you may call it again.".to_owned(),
            Outcome::Unknown => {
                format!("It may have run; check before you call it again.{}", self.way_to_wait_longer(error))
            }
            Outcome::UpstreamError => String::new(),
        };
        let code = matches!(error, CallError::Ended(..)).then_some(Code::Crashed);
        CallFailure {
            outcome,
            server: Some(self.server.to_string()),
            code,
            message: format!("\"{}\" did not answer: {error}", self.server),
            cause: error.cause(),
            action,
        }
    }

    /// The setting that ended the call, and how to change it.
    fn way_to_wait_longer(&self, error: &CallError) -> String {
        if !matches!(error, CallError::TimedOut(..)) || self.quiet >= link::LONGEST_CALL {
            return String::new();
        }
        if asked_patience(&self.params).is_some() {
            return format!(" The client asked for this limit (\"{TIMEOUT_META}\").");
        }
        let setting = match &self.tool {
            Some(tool) => format!("\"toolTimeouts\": {{{:?}: \"9m\"}}", tool.tool),
            None => "\"requestTimeout\": \"9m\"".to_owned(),
        };
        format!(
            " The user can have Satchel wait longer (up to 10 min) with {setting} in the entry of \"{}\", or without a \
             limit of its own by removing \"requestTimeout\" there.",
            self.server
        )
    }

    /// The server asked a question that could not be answered.
    pub(super) fn failed(&self, message: String) -> CallFailure {
        CallFailure {
            outcome: Outcome::NotExecuted,
            server: Some(self.server.to_string()),
            code: None,
            message,
            cause: None,
            action: "Call it again, and answer what it asks.".to_owned(),
        }
    }
}

/// The lists that a request depends on.
fn lists_of(method: &str) -> u8 {
    match method {
        "tools/call" => Dirty::bit("tools"),
        "prompts/get" => Dirty::bit("prompts"),
        "resources/read" => Dirty::bit("resources"),
        "completion/complete" => Dirty::bit("prompts") | Dirty::bit("resources"),
        _ => 0,
    }
}

/// The call's timeout without progress: the caller's (`_meta`, in seconds), otherwise the configured one of the tool,
/// otherwise that of the server, otherwise as long as the caller waits.
pub(super) fn patience(params: &RawObject, config: &ServerConfig, tool: Option<&str>) -> Duration {
    let configured = || tool.and_then(|tool| config.tool_timeouts.get(tool)).copied();
    match asked_patience(params) {
        Some(asked) => asked,
        None => {
            let configured = configured().or(config.request_timeout).unwrap_or(link::LONGEST_CALL);
            configured.clamp(REQUEST_TIMEOUT_FLOOR, link::LONGEST_CALL)
        }
    }
}

/// The caller's timeout.
fn asked_patience(params: &RawObject) -> Option<Duration> {
    let asked = meta::of(params).read::<f64>(TIMEOUT_META)?;
    Some(Duration::try_from_secs_f64(asked).ok()?.clamp(SHORTEST_PATIENCE, link::LONGEST_CALL))
}

/// Raises the log level of a legacy server if it is lower than this severity requires.
pub(in crate::hub) async fn ask_for_logs(registered: &Registered, link: &Link, from: u8) {
    if !registered.upstream.connected().is_some_and(|(_, hello)| hello.offers("logging"))
        || !link.lower_log(from)
    {
        return;
    }
    let params = to_raw_value(&json!({ "level": caller::level(from) })).ok();
    let _ = link.request("logging/setLevel", params, LEVEL_TIME).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

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
        let unset =
            Config::parse(r#"{"mcpServers": {"s": {"command": "x"}}}"#).unwrap().servers()["s"].clone();
        assert_eq!(patience(&RawObject::new(), &unset, Some("slow")), link::LONGEST_CALL);
        for (asked, expected) in
            [("120", 120), ("0.5", 1), ("3", 3), ("600", 600), ("601", 600), ("-1", 300), ("\"x\"", 300)]
        {
            let params = format!(r#"{{"_meta": {{"dev.satchel/timeout": {asked}}}}}"#);
            assert_eq!(seconds(&params, "slow"), expected, "{asked}");
        }
    }
}
