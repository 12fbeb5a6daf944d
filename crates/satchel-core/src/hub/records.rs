//! Tells the recorder who calls, where the call goes, how it ends, and who changed what. Secret values are never
//! recorded, and the audit log holds no arguments of calls.

use std::sync::{Arc, atomic::Ordering};

use satchel_mcp::{Raw, RawObject};
use serde_json::Value;
use tokio::time::Instant;

use super::{CallFailure, Failed, Hub, Step, registry::Registered, requests::tool_result};
use crate::{
    catalog::lists::List,
    model::{
        Code, Notice, ServerName,
        audit::AuditKind,
        control::{Change, Refusal},
        ledger::CallKind,
        name::in_path,
        request::ToolResult,
    },
    recorder::{self, Health, Observer, Program, Recorder},
    stats::event::Visit,
    upstream::{Lease, LeaseError},
};

impl Hub {
    /// Records what happens, and reads what was recorded.
    pub fn recorder(&self) -> &Recorder {
        &self.inner.recorder
    }

    /// Who asks. A session begins where `with_session` says so: in the revisions that have some, with `initialize`.
    pub fn visit(
        &self,
        client: &str,
        program: Program<'_>,
        era: &str,
        only: Option<&ServerName>,
        with_session: bool,
    ) -> Arc<Visit> {
        let session = with_session.then(|| self.recorder().session());
        Arc::new(Visit { session, ..recorder::visit(client, program, era, only) })
    }

    /// A client was given this list of tools.
    pub fn listed(&self, visit: &Arc<Visit>, list: &List) {
        self.recorder().listed(visit, || list.definitions(), || self.offers_to(visit));
    }

    /// Observes a call of a client, which wrote `request`: an object with a name and arguments.
    pub fn observe(&self, visit: &Arc<Visit>, kind: CallKind, tool: &str, request: &str) -> Observer {
        self.recorder().observe(visit, kind, tool, request, || self.offers_to(visit))
    }

    /// A handle whose calls this observer sees.
    #[must_use]
    pub fn observed(&self, observer: &Observer) -> Self {
        Self { observer: observer.clone(), ..self.clone() }
    }

    /// Where the configuration wants traces to go.
    pub fn otlp_endpoint(&self) -> Option<String> {
        self.config().otlp_endpoint().map(ToOwned::to_owned)
    }

    /// The parameters as the server gets them: in a trace that is collected, with the call's own span.
    pub(super) fn in_trace(&self, mut params: RawObject) -> RawObject {
        let Some(traceparent) = self.observer.traceparent() else { return params };
        let meta = params.get("_meta").and_then(|meta| RawObject::parse(meta).ok());
        let mut meta = meta.unwrap_or_default();
        // Strings always serialize.
        let _ = meta.put("traceparent", &traceparent);
        params.set("_meta", meta.to_raw());
        params
    }

    /// A call was refused before it was one.
    pub fn tell_failure(&self, failure: &CallFailure) {
        self.did_deny(failure);
        let CallFailure { outcome, server, code, message, .. } = failure;
        self.observer.failed(*outcome, *code, server.as_deref(), message);
    }

    /// What a call yielded; only its end matters.
    pub(super) fn tell_step(&self, step: &Step) {
        match step {
            Step::Note { .. } | Step::Question(_) => return,
            Step::End(Ok(result)) => self.observer.answered(result, false),
            Step::End(Err(Failed::Upstream(error))) => self.observer.refused(error),
            Step::End(Err(Failed::Hub(failure))) => self.tell_failure(failure),
        }
        if let Some((visit, tool)) = self.observer.used() {
            self.recorder().used(&visit, &tool);
        }
    }

    /// A lease, and how long it took. A start that takes longer than a call may wait goes on without it.
    pub(super) async fn lease_of(&self, registered: &Registered) -> Result<Lease, LeaseError> {
        let awake = registered.upstream.seen().connected.is_some();
        let asked = Instant::now();
        // A little less than the client waits, so that it gets to read why.
        let wait = registered.config.request_timeout.mul_f64(5.0 / 6.0);
        let leased = match tokio::time::timeout(wait, registered.upstream.lease()).await {
            Ok(leased) => leased,
            Err(_) => Err(LeaseError::StillStarting {
                phase: registered.upstream.seen().phase,
                seconds: asked.elapsed().as_secs(),
            }),
        };
        let connected = registered.upstream.seen().connected;
        let era = connected.map(|(_, hello)| hello.revision.clone());
        self.observer.leased(awake, asked.elapsed(), era, leased.is_ok());
        leased
    }

    /// Calls a tool again that was called before, with the arguments that were kept or with others. It goes the way of
    /// every call, and is recorded as one of a person.
    pub(super) async fn run_again(&self, id: i64, arguments: Option<Value>) -> Result<ToolResult, Refusal> {
        let call = self.recorder().call_detail(id).await?;
        if call.line.kind != CallKind::Call.as_str() || call.line.server.is_empty() {
            let message = format!("call {id} was not one of a server's tool");
            return Err(Refusal::new(Code::NotRepeatable, message, ""));
        }
        let kept = || {
            let text = call.arguments.as_deref()?;
            // What was hidden or cut is not what was called.
            Raw::from_string(text.to_owned()).ok().filter(|_| !text.contains("***"))
        };
        // As a text they keep every digit.
        let as_text = arguments.as_ref().is_some_and(Value::is_string);
        let given = arguments.map(|arguments| match arguments {
            Value::String(text) => Raw::from_string(text),
            arguments => Raw::from_string(arguments.to_string()),
        });
        let given =
            given.transpose().map_err(|error| Refusal::new(Code::BadArguments, error.to_string(), ""))?;
        let Some(arguments) = given.or_else(kept) else {
            let message = "the arguments of this call were not kept, or not all of them";
            return Err(Refusal::new(Code::ArgumentsNotKept, message, "Give the arguments."));
        };
        let path = format!("{}:{}", in_path(&call.line.server), call.line.tool);
        let result = self.call_for_face(&path, arguments).await?;
        tool_result(&result, as_text)
    }

    /// Observes the call of a person, who goes by this name.
    pub(super) fn observe_face(&self, name: &str, path: &str, arguments: &Raw) -> Observer {
        let visit = Visit { face: true, ..recorder::visit(name, Program::default(), "", None) };
        let named = self.read_path(path).ok();
        let name = named.as_ref().map_or(path, |path| path.tool.as_str());
        let request = format!(r#"{{"name":{},"arguments":{}}}"#, Value::from(name), arguments.get());
        self.observe(&Arc::new(visit), CallKind::Call, path, &request)
    }

    /// Something for the audit log.
    pub(super) fn did(&self, kind: AuditKind, who: &str, subject: &str, detail: impl Into<String>) {
        self.recorder().did(kind, who, subject, detail);
        self.count_records(1);
    }

    /// Something for the audit log that whoever makes the request did that this handle carries out.
    pub(super) fn did_here(&self, kind: AuditKind, subject: &str, detail: impl Into<String>) {
        self.did(kind, &self.actor(), subject, detail);
    }

    /// Who makes the request that this handle carries out, as the audit log says it.
    pub(super) fn actor(&self) -> String {
        self.origin.as_ref().map_or_else(|| "satchel".to_owned(), |origin| origin.to_string())
    }

    /// A request was turned away at the door, before it was anybody's.
    pub fn turned_away(&self, why: &str, path: &str) {
        self.turned_away_from("", why, path);
    }

    /// The same of somebody who is known.
    pub(super) fn turned_away_from(&self, who: &str, why: &str, path: &str) {
        self.count_records(self.recorder().turned_away(who, why, path));
    }

    /// What is said of a call, with the script that makes it.
    pub(super) fn with_cause(&self, said: &str) -> String {
        match self.observer.script() {
            Some(trace) => format!("{said} (in a script, trace {trace})"),
            None => said.to_owned(),
        }
    }

    fn count_records(&self, made: usize) {
        if let Some(recorded) = &self.recorded {
            recorded.fetch_add(made, Ordering::Relaxed);
        }
    }

    /// A call was refused because of what a person or a rule wants.
    fn did_deny(&self, failure: &CallFailure) {
        if matches!(failure.code, Some(Code::Denied | Code::HeldBack)) {
            let server = failure.server.as_deref().unwrap_or_default();
            let client = self.viewer.as_deref().filter(|_| !self.by_hand);
            let who = client.map_or_else(|| self.actor(), ToOwned::to_owned);
            self.did(AuditKind::Denied, &who, server, self.with_cause(&failure.message));
        }
    }

    /// The configuration was changed at a face. What a server is given in variables and headers is nobody's business.
    pub(super) fn did_change(&self, change: &Change) {
        let (subject, detail) = match change {
            Change::Add { name, replace, .. } | Change::Put { name, replace, .. } => (
                name.clone(),
                if *replace { "server put in, or replaced" } else { "server added" }.to_owned(),
            ),
            Change::Edit { name, .. } => (name.clone(), "server set up differently".to_owned()),
            Change::Duplicate { name, to } => (to.clone(), format!("server added, set up as \"{name}\" is")),
            Change::Remove { name } => (name.clone(), "server removed".to_owned()),
            Change::SetEnabled { name, enabled } => {
                (name.clone(), format!("server switched {}", if *enabled { "on" } else { "off" }))
            }
            Change::SetPermit { tool, client, permit } => {
                let permit =
                    permit.map_or("as usual".to_owned(), |permit| format!("{permit:?}").to_lowercase());
                let client = client.as_ref().map(|client| format!(" for {client}")).unwrap_or_default();
                (tool.clone(), format!("rule{client}: {permit}"))
            }
            Change::SetKeepCalls { name, keep } => {
                (name.clone(), format!("arguments and results kept: {keep}"))
            }
            Change::SetSandbox { name, sandbox } => {
                (name.clone(), format!("sandbox {}", if sandbox.is_some() { "on" } else { "off" }))
            }
            Change::SetLearning { learn } => (String::new(), format!("learning from searches: {learn}")),
            Change::UseProfile { name } => (
                name.clone().unwrap_or_default(),
                if name.is_some() { "profile in use" } else { "no profile in use" }.into(),
            ),
            Change::PutProfile { name, was, .. } => {
                (name.clone(), if was.is_some() { "profile changed" } else { "profile added" }.into())
            }
            Change::RemoveProfile { name } => (name.clone(), "profile removed".to_owned()),
            Change::BindFolder { folder, profile } => {
                let profile = profile.as_ref().map(|name| format!("the profile \"{name}\""));
                (folder.clone(), format!("folder bound to {}", profile.unwrap_or("no profile".into())))
            }
        };
        self.did_here(AuditKind::Policy, &subject, detail);
    }
}

/// Shows people how the recorder is doing, for as long as the hub lives.
pub(super) async fn follow_health(hub: Hub) {
    let mut health = hub.recorder().health();
    let mut shown = Health::default();
    loop {
        let now = health.borrow_and_update().clone();
        if let Some(aside) = now.damaged.as_ref().filter(|aside| shown.damaged.as_ref() != Some(aside)) {
            let message = format!("the history of calls was damaged and set aside as {}", aside.display());
            hub.notice(Notice::new(Code::SetAside, message));
        }
        match &now.unusable {
            Some(why) if shown.unusable.as_ref() != Some(why) => {
                hub.notice(Notice::new(Code::LedgerUnusable, format!("calls are not recorded: {why}")));
            }
            None if shown.unusable.is_some() => hub.clear_notice(Code::LedgerUnusable),
            Some(_) | None => {}
        }
        hub.inner.faces.changed();
        shown = now;
        tokio::select! {
            changed = health.changed() => if changed.is_err() { return },
            () = hub.inner.life.end().cancelled() => return,
        }
    }
}
