//! One attempt at a call: a slot, a lease, the server's lists, then the request; and once more what provably did not run.

use std::time::Duration;

use satchel_mcp::{Raw, RawObject, meta, param_headers};
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
        lists, pause, route,
        servers::Registered,
    },
    model::{Code, ServerConfig, ServerName, ToolPath, server::REQUEST_TIMEOUT_FLOOR, snapshot::Phase},
    upstream::{CallError, Dirty, Lease, LeaseError, Link, Outcome, link},
};

/// Where a caller says in `_meta` how many seconds without progress its call may take.
const TIMEOUT_META: &str = "dev.satchel/timeout";
/// The least a caller can say there.
const SHORTEST_PATIENCE: Duration = Duration::from_secs(1);
/// How often what provably did not run is sent again. A session may expire just when it was made anew.
const REPEATS: usize = 3;
/// How long after the end of a connection another is asked for.
const AFTER_END: Duration = Duration::from_millis(10);
/// How long a server may take to take in how much it should log.
const LEVEL_TIME: Duration = Duration::from_secs(5);
/// How long a server is to keep a task that we wait for, in milliseconds.
const TASK_TTL_MS: u64 = 30 * 60 * 1000;

/// A request to one server, and what it takes to have it answered.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) server: ServerName,
    /// The tool, where it is one: timeouts and lost connections count for it alone.
    pub(super) tool: Option<ToolPath>,
    pub(super) registered: Registered,
    pub(super) method: String,
    /// As the caller wrote them.
    pub(super) params: RawObject,
    /// The tool runs only as a task (`2025-11-25/basic/utilities/tasks.mdx`) and the caller did not ask for one, so we
    /// keep it: begun, then waited for.
    pub(super) task: Option<Task>,
    /// How often it may still be sent again, where it provably did not run.
    repeats: usize,
    quiet: Duration,
    pub(super) deadline: Instant,
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
pub(super) enum Task {
    /// The call asks for it.
    Asked,
    /// It runs; its result is waited for.
    Running(String),
}

/// What came of waiting for a start.
pub(super) enum Woken {
    /// It can be sent.
    Ready,
    /// The caller is told how the start gets on.
    Told(Step),
    /// It cannot be had.
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

    /// Must its server be started, and does the caller want to be told how that gets on?
    pub(super) fn is_slow(&self) -> bool {
        !self.registered.upstream.is_connected() && self.wants_progress()
    }

    /// Until when the next word of the server is waited for, without and with progress.
    pub(super) fn patience(&self) -> (Duration, Instant) {
        (self.quiet, self.deadline)
    }

    /// Does a timeout say something about the server? Not where a caller waited for less.
    pub(super) fn is_patient(&self) -> bool {
        self.quiet >= REQUEST_TIMEOUT_FLOOR
    }

    fn wants_progress(&self) -> bool {
        let meta = self.params.get("_meta").and_then(|meta| RawObject::parse(meta).ok());
        meta.is_some_and(|meta| meta.get("progressToken").is_some())
    }

    /// Waits for the server's start, where the caller wants to be told how it gets on.
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
            // Somebody may be asked for what is missing.
            Err(LeaseError::Failed(failure)) if !failure.missing.is_empty() => {}
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
        // The caller's own token takes the place of this one.
        let params = json!({ "progressToken": 0, "progress": told, "message": message });
        let method = "notifications/progress".to_owned();
        Step::Note { method, params: to_raw_value(&params).ok() }
    }

    /// Sends it.
    ///
    /// # Errors
    /// A [`CallFailure`] where that cannot be done.
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
            let lease = leased.map_err(|error| refused(&self.server, &self.registered, &error))?;
            let lists = lists_of(&self.method);
            if lists != 0 {
                lists::wait_for_lists(hub, &self.server, &self.registered, &lease, lists).await?;
                self.still_offered(hub)?;
            }
            let request = self.request(hub, caller, &lease).await;
            match lease.link().begin(request, self.quiet).await {
                Ok(call) => {
                    self.waking = Waking::default();
                    return Ok((call, lease));
                }
                // Between lease and call the connection ended. Nothing was sent: again, on a new one.
                Err(error) if error.outcome() == Outcome::NotSent && self.repeats > 0 => {
                    self.repeats -= 1;
                    drop(lease);
                    // Its lifecycle learns of the end at the same moment as we do.
                    tokio::time::sleep(AFTER_END).await;
                }
                Err(error) => return Err(self.explain(&error)),
            }
        }
    }

    /// The request in the words of the server's revision. A legacy server logs from one level on for everybody; it is
    /// asked for more first where this caller wants more.
    async fn request(&mut self, hub: &Hub, caller: &Caller, lease: &Lease) -> link::Request {
        let modern = lease.link().is_modern();
        if let Some(from) = caller.log_from.filter(|_| caller.asks_logs && !modern) {
            ask_for_logs(&self.registered, lease.link(), from).await;
        }
        let mut params = caller.parameters(&self.params, modern);
        let needs_task = !modern && params.get("task").is_none() && self.needs_task(hub);
        if needs_task {
            let _ = params.to_mut().put("task", &json!({ "ttl": TASK_TTL_MS }));
        }
        let request = link::Request {
            method: self.method.clone(),
            headers: if modern { self.param_headers(hub, &params) } else { vec![] },
            params: Some(params.to_raw()),
            owner: Some(caller.client.clone()),
        };
        if needs_task {
            self.task = Some(Task::Asked);
        }
        request
    }

    /// The server's slot first: whoever waits for it takes nothing from calls of other servers.
    async fn take_slots(&self, hub: &Hub, caller: &Caller) -> Result<(Slot, Slot), CallFailure> {
        let client = &caller.client;
        let busy = || {
            let message = format!("\"{}\" is busy: too many calls are in flight", self.server);
            let action = "Try again in a moment.".to_owned();
            CallFailure::not_sent(Some(&self.server), None, message, action)
        };
        // No longer than this caller waits for an answer.
        let take =
            async |slots: &Slots| tokio::time::timeout(self.quiet, slots.take(client)).await.ok().flatten();
        let of_server = take(&self.registered.calls).await.ok_or_else(busy)?;
        let of_all = take(&hub.calls().slots).await.ok_or_else(busy)?;
        Ok((of_server, of_all))
    }

    /// The arguments that the tool wants repeated in headers.
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

    /// The server began the task: its result is asked for on the same connection, which is where the server asks, too.
    ///
    /// # Errors
    /// A [`CallFailure`] where the result cannot be asked for.
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
        let _ = params.put("taskId", &id);
        if let Some(own) = caller.parameters(&self.params, false).get("_meta") {
            params.set("_meta", own.to_owned());
        }
        let request = link::Request {
            method: "tasks/result".to_owned(),
            headers: vec![],
            params: Some(params.to_raw()),
            owner: Some(caller.client.clone()),
        };
        // A task may take as long as it takes, up to what any call may, unless the caller says otherwise.
        self.quiet = asked_patience(&self.params).unwrap_or(link::LONGEST_CALL);
        self.task = Some(Task::Running(id));
        lease.link().begin(request, self.quiet).await.map_err(|error| self.explain(&error))
    }

    pub(super) fn tool_called(&self) -> Option<ToolPath> {
        let named = || self.params.text("name").filter(|_| self.method == "tools/call");
        self.tool.clone().or_else(|| Some(ToolPath { server: self.server.clone(), tool: named()? }))
    }

    /// Is it still on offer as it was when it was asked for?
    fn still_offered(&self, hub: &Hub) -> Result<(), CallFailure> {
        let Some(tool) = &self.tool else {
            return approved::refuse_held_request(hub, &self.server, &self.method, &self.params);
        };
        hub.refuse_hidden_tool(tool)?;
        if hub.catalog().tool(tool).is_some() {
            return Ok(());
        }
        let message = format!("{tool} cannot be called: \"{}\" has no such tool any more", self.server);
        let action = "Use discover_mcp_tools to find tools.".to_owned();
        Err(CallFailure::not_sent(Some(&self.server), None, message, action))
    }

    /// May it still be sent, now that a person has allowed it?
    pub(super) fn still_possible(&self, hub: &Hub) -> Result<(), CallFailure> {
        pause::refuse_while_paused(hub, &self.server)?;
        route::route_known_server(hub, &self.server)?;
        match &self.tool {
            Some(tool) => hub.refuse_hidden_tool(tool),
            None => Ok(()),
        }
    }

    /// It may be sent once more, and not again after that.
    pub(super) fn repeat_once(&mut self) {
        self.repeats = 0;
    }

    pub(super) fn may_repeat(&self) -> bool {
        self.repeats > 0
    }

    /// Only what provably did not run is sent again, and not for ever. What a tool says of itself
    /// (`idempotentHint`) is no licence.
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

    /// The server asked, and it led to nothing.
    pub(super) fn failed(&self, message: String) -> CallFailure {
        CallFailure {
            outcome: Outcome::NotExecuted,
            server: Some(self.server.to_string()),
            code: None,
            message,
            action: "Call it again, and answer what it asks.".to_owned(),
        }
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
pub(super) fn patience(params: &RawObject, config: &ServerConfig, tool: Option<&str>) -> Duration {
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
        for (asked, expected) in
            [("120", 120), ("0.5", 1), ("3", 3), ("600", 600), ("601", 600), ("-1", 300), ("\"x\"", 300)]
        {
            let params = format!(r#"{{"_meta": {{"dev.satchel/timeout": {asked}}}}}"#);
            assert_eq!(seconds(&params, "slow"), expected, "{asked}");
        }
    }
}
