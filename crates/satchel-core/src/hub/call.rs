//! The spine: route, permit, lease, call, record. Every call to a server goes through here.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use satchel_mcp::{ErrorObject, Raw, RawObject};
use serde::Serialize;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use super::{Hub, registry::Registered, route::refused};
use crate::{
    model::{Code, ServerName, ToolPath},
    upstream::{
        CallError, Event, Lease, Outcome,
        breaker::{Breaker, EXECUTION},
        link,
    },
};

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

/// A call under way. Dropping it cancels it.
#[derive(Debug)]
pub struct Running {
    hub: Hub,
    server: ServerName,
    /// The tool, where it is one: timeouts and lost connections count for it alone.
    tool: Option<ToolPath>,
    registered: Registered,
    method: &'static str,
    params: Box<Raw>,
    attempt: Option<(link::Call, Lease)>,
    may_repeat: bool,
    quiet: Duration,
    deadline: Instant,
    _permits: (OwnedSemaphorePermit, OwnedSemaphorePermit),
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
    /// Its end.
    End(Result<Box<Raw>, Failed>),
}

impl Hub {
    /// Calls a tool by its path. `meta` is the client's `_meta`, forwarded as it is but for the progress token.
    ///
    /// # Errors
    /// A [`CallFailure`] where nothing was sent.
    pub async fn call_tool(
        &self,
        path: &str,
        arguments: Option<Box<Raw>>,
        meta: Option<Box<Raw>>,
    ) -> Result<Running, CallFailure> {
        let (registered, path) = self.route_tool(path).await?;
        self.permit_tool(&path)?;
        let mut params = RawObject::new();
        // Strings always serialize.
        let _ = params.put("name", &path.tool);
        params.set("arguments", arguments.unwrap_or_else(|| RawObject::new().to_raw()));
        if let Some(meta) = meta {
            params.set("_meta", meta);
        }
        let started = self.run(path.server.clone(), registered, "tools/call", params.to_raw()).await;
        match started {
            Ok(running) => Ok(Running { tool: Some(path), ..running }),
            // Why the server cannot be had is its lifecycle's to remember, not this tool's.
            Err(failure) => Err(failure),
        }
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

    /// Reads a resource by its path; never from a cache.
    ///
    /// # Errors
    /// A [`CallFailure`] where nothing was sent.
    pub async fn read_resource(&self, path: &str) -> Result<Running, CallFailure> {
        let (registered, path) = self.route_resource(path)?;
        let mut params = RawObject::new();
        let _ = params.put("uri", &path.uri);
        self.run(path.server, registered, "resources/read", params.to_raw()).await
    }

    async fn run(
        &self,
        server: ServerName,
        registered: Registered,
        method: &'static str,
        params: Box<Raw>,
    ) -> Result<Running, CallFailure> {
        let permits = (permit(&self.inner.calls, &server)?, permit(&registered.calls, &server)?);
        self.view().called(&server);
        self.inner.compose.notify_one();
        let quiet = registered.config.request_timeout;
        let mut running = Running {
            hub: self.clone(),
            server,
            tool: None,
            registered,
            method,
            params,
            attempt: None,
            may_repeat: true,
            quiet,
            deadline: Instant::now() + link::LONGEST_CALL,
            _permits: permits,
        };
        running.begin().await?;
        Ok(running)
    }
}

/// Refuses at once instead of queueing: a queue only moves the wait to where nobody can see it.
fn permit(semaphore: &Arc<Semaphore>, server: &ServerName) -> Result<OwnedSemaphorePermit, CallFailure> {
    semaphore.clone().try_acquire_owned().map_err(|_| {
        let message = format!("\"{server}\" is busy: too many calls are in flight");
        CallFailure::not_sent(Some(server), None, message, "Try again in a moment.".to_owned())
    })
}

impl Running {
    async fn begin(&mut self) -> Result<(), CallFailure> {
        let lease = self.registered.upstream.lease().await.map_err(|error| refused(&self.server, &error))?;
        match lease.link().start(self.method, Some(self.params.clone()), self.quiet).await {
            Ok(call) => {
                self.attempt = Some((call, lease));
                Ok(())
            }
            // Between lease and call the connection ended. Nothing was sent: once more, on a new one.
            Err(error) if error.outcome() == Outcome::NotSent && self.may_repeat => {
                self.may_repeat = false;
                drop(lease);
                Box::pin(self.begin()).await
            }
            Err(error) => Err(self.explain(&error)),
        }
    }

    /// The next thing that happens. After [`Step::End`] there is no other.
    pub async fn next(&mut self) -> Step {
        loop {
            let Some((call, lease)) = &mut self.attempt else {
                let message = "the call is over".to_owned();
                return Step::End(Err(Failed::Hub(CallFailure::not_sent(
                    Some(&self.server),
                    None,
                    message,
                    String::new(),
                ))));
            };
            match call.next_before(self.quiet, self.deadline).await {
                Event::Note { method, params } => return Step::Note { method, params },
                Event::Final(Ok(result)) => {
                    lease.prove();
                    self.attempt = None;
                    self.record(true, None);
                    return Step::End(Ok(result));
                }
                Event::Final(Err(CallError::Answered(error))) => {
                    lease.prove();
                    self.attempt = None;
                    self.record(true, None);
                    return Step::End(Err(Failed::Upstream(error)));
                }
                Event::Final(Err(error)) => {
                    let incident = lease.link().ended().map(|_| lease.generation());
                    self.attempt = None;
                    if !self.repeat(&error) {
                        self.record(false, incident);
                        return Step::End(Err(Failed::Hub(self.explain(&error))));
                    }
                    if let Err(failure) = self.begin().await {
                        return Step::End(Err(Failed::Hub(failure)));
                    }
                }
            }
        }
    }

    fn record(&self, good: bool, incident: Option<u64>) {
        if let Some(tool) = &self.tool {
            self.hub.record_tool(tool, good, incident);
        }
    }

    /// Waits for the end, passing over notes.
    pub async fn finish(mut self) -> Result<Box<Raw>, Failed> {
        loop {
            if let Step::End(end) = self.next().await {
                return end;
            }
        }
    }

    /// Only what provably did not run is sent again, and only once. What a tool says of itself
    /// (`idempotentHint`) is no licence.
    fn repeat(&mut self, error: &CallError) -> bool {
        let safe = matches!(error, CallError::Ended(_, Outcome::NotSent | Outcome::NotExecuted));
        safe && std::mem::take(&mut self.may_repeat)
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

    /// The server it runs on.
    pub fn server(&self) -> &ServerName {
        &self.server
    }
}
