//! Collects the facts of one call and queues its record when the last handle is dropped.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use parking_lot::{Mutex, MutexGuard};

use satchel_mcp::{ErrorObject, Raw, RawObject, object::fields};
use tokio::{sync::mpsc, time::Instant};

use super::{Outbox, Recorder, readable};
use crate::{
    model::{Code, ResourcePath, ToolPath, cause::FailureCause, ledger::CallKind, nature::UsualRule},
    stats::{
        event::{Body, Called, End, Event, Offers, Redact, Split, Visit},
        retention,
        trace::{CallSpan, TraceContext},
    },
    upstream::{Outcome, log::ServerLog},
};

/// Observes one call. Cheap to clone; [`Default`] observes nothing.
#[derive(Debug, Clone, Default)]
pub struct Observer(Option<Arc<CallFacts>>);

/// Why a call failed in the hub.
#[derive(Debug, Clone, Copy)]
pub struct CallTrouble<'a> {
    /// The code of the cause, if it has one.
    pub code: Option<Code>,
    /// What happened.
    pub message: &'a str,
    /// Why its server failed, in parts, where that is the reason.
    pub cause: Option<&'a FailureCause>,
}

#[derive(Debug)]
struct CallFacts {
    outbox: Outbox,
    began: Instant,
    /// The tracing span (`SATCHEL_LOG=debug`), which lasts as long as the call.
    span: tracing::Span,
    /// The span queue, if a collector is attached.
    spans: Option<mpsc::Sender<CallSpan>>,
    draft: Mutex<Draft>,
}

#[derive(Debug)]
struct Draft {
    context: Option<TraceContext>,
    called: Option<Box<Called>>,
    /// Since when the server has been working on it.
    upstream_since: Option<Instant>,
    /// The part of that time spent waiting for a person.
    idle: Duration,
    over: Option<Instant>,
    ended: bool,
    /// Whether its arguments and result are stored.
    keep: bool,
    /// No model reads its request and result.
    unread: bool,
}

impl Observer {
    pub(super) fn begin(
        recorder: &Recorder,
        visit: &Arc<Visit>,
        kind: CallKind,
        tool: &str,
        request: &str,
        offers: Offers,
    ) -> Self {
        let called = Called {
            visit: visit.clone(),
            at_ms: crate::clock::now_ms(),
            offers,
            kind,
            server: String::new(),
            tool: retention::cut(tool, 200),
            end: End { outcome: "cancelled", code: None, message: None, cause: None },
            time: Split::default(),
            request: Body::of(request),
            direct: None,
            answer: Body::default(),
            ours: false,
            rule: String::new(),
            asked: false,
            server_era: None,
            trace: None,
            arguments: None,
            result: None,
            redact: None,
        };
        let spans = recorder.0.spans.get().cloned();
        let draft = Draft {
            context: spans.as_ref().and_then(|_| TraceContext::begun()),
            called: Some(Box::new(called)),
            upstream_since: None,
            idle: Duration::ZERO,
            over: None,
            ended: false,
            keep: false,
            unread: false,
        };
        Self(Some(Arc::new(CallFacts {
            outbox: recorder.0.outbox.clone(),
            began: Instant::now(),
            span: tracing::debug_span!(
                "call",
                client = visit.client,
                kind = kind.as_str(),
                server = tracing::field::Empty,
                tool = tracing::field::Empty,
                traceparent = tracing::field::Empty,
                outcome = tracing::field::Empty,
            ),
            spans,
            draft: Mutex::new(draft),
        })))
    }

    fn draft(&self) -> Option<MutexGuard<'_, Draft>> {
        self.0.as_ref().map(|inner| inner.draft())
    }

    fn write(&self, write: impl FnOnce(&mut Called)) {
        if let Some(mut draft) = self.draft()
            && let Some(called) = &mut draft.called
        {
            write(called);
        }
    }

    /// No model reads its request and result, so they are not counted as tokens: a page is drawn, for example.
    pub fn unread(&self) {
        let Some(mut draft) = self.draft() else { return };
        draft.unread = true;
        if let Some(called) = &mut draft.called {
            called.request = called.request.uncounted();
        }
    }

    /// Sets the trace context from `_meta`.
    pub fn trace(&self, traceparent: &str) {
        let Some(inner) = &self.0 else { return };
        inner.span.record("traceparent", traceparent);
        let mut draft = inner.draft();
        if inner.spans.is_some() {
            // Invalid or unsampled contexts are forwarded unchanged.
            draft.context = TraceContext::within(traceparent);
        }
        if let Some(called) = &mut draft.called {
            called.trace = Some(retention::cut(traceparent, 64));
        }
    }

    /// The trace shared by the call and what it causes. Without one, a new id is generated, which no collector
    /// receives.
    pub fn cause(&self) -> String {
        let Some(mut draft) = self.draft() else { return String::new() };
        let collected = draft.context.as_ref().map(ToString::to_string);
        let Some(called) = &mut draft.called else { return String::new() };
        let cause = collected.or_else(|| within(called.trace.as_deref()?)).unwrap_or_else(made_up);
        called.trace = Some(cause.clone());
        cause
    }

    /// The trace of the script that makes the call, if any.
    pub fn script(&self) -> Option<String> {
        let draft = self.draft()?;
        let called = draft.called.as_ref().filter(|called| called.kind == CallKind::Inside)?;
        called.trace.clone()
    }

    /// The server it went to, whether its calls are stored, and how to redact its secrets; `None` if it went to none.
    pub fn keeping(&self) -> Option<(String, bool, Redact)> {
        let draft = self.draft()?;
        let called = draft.called.as_ref()?;
        Some((called.server.clone(), draft.keep, called.redact.clone()?))
    }

    /// Records the result of a script; `fault` is the error, if it failed. `kept` is its input, if input and result
    /// are stored.
    pub fn ran(&self, result: &Raw, fault: Option<String>, kept: Option<(String, Redact)>) {
        let Some(mut draft) = self.draft() else { return };
        let outcome = if fault.is_some() { "tool_error" } else { "ok" };
        draft.end(End { outcome, code: None, message: fault, cause: None });
        let fields = RawObject::parse(result).unwrap_or_default();
        if let Some(called) = &mut draft.called {
            called.answer = readable::body_of(fields.get("content").map_or("", Raw::get));
            if let Some((given, redact)) = kept {
                called.arguments = Some(given.into());
                called.result = Some(Arc::from(result.get()));
                called.redact = Some(redact);
            }
        }
    }

    /// The trace context for the server, if a collector is attached.
    pub fn traceparent(&self) -> Option<String> {
        self.draft()?.context.as_ref().map(ToString::to_string)
    }

    /// Records the deciding rule.
    pub fn decided(&self, rule: &str) {
        self.write(|called| called.rule = rule.to_owned());
    }

    /// Records that a person was asked whether it may be made, whatever they say, or nothing.
    pub fn asked(&self) {
        self.write(|called| called.asked = true);
    }

    /// Records how long it waited for that decision.
    pub fn decision_took(&self, time: Duration) {
        self.write(|called| called.time.wait += time);
    }

    /// Records the tool it goes to, redacting with the server's log. Computes how much shorter a direct call would
    /// have been. `keep`: its arguments and result are stored.
    pub fn routed(&self, path: &ToolPath, arguments: Option<&Raw>, keep: bool, log: &ServerLog) {
        let Some(mut draft) = self.draft() else { return };
        let given = arguments.map_or("{}", Raw::get);
        let direct = format!(r#"{{"name":{},"arguments":{given}}}"#, quoted(&path.tool));
        draft.keep = keep;
        let Some(called) = &mut draft.called else { return };
        called.server = path.server.to_string();
        called.tool = path.tool.clone();
        called.direct = Some(Body::of(&direct));
        called.arguments = keep.then(|| Arc::from(given));
        let log = log.clone();
        called.redact = Some(Redact(Arc::new(move |text| log.redacted(text))));
        if called.rule.is_empty() {
            called.rule = UsualRule::EVERY.to_string();
        }
    }

    /// Records the resource it goes to.
    pub fn routed_to_resource(&self, path: &ResourcePath) {
        self.write(|called| {
            called.server = path.server.to_string();
            called.tool = retention::cut(&path.uri, 200);
            called.direct = Some(Body::of(&format!(r#"{{"uri":{}}}"#, quoted(&path.uri))));
            called.rule = UsualRule::EVERY.to_string();
        });
    }

    /// Records how long obtaining the server took; `awake` means that it was already running.
    pub fn leased(&self, awake: bool, took: Duration, era: Option<String>, good: bool) {
        let Some(mut draft) = self.draft() else { return };
        draft.pause();
        draft.upstream_since = good.then(Instant::now);
        if let Some(called) = &mut draft.called {
            called.server_era = era;
            let part = if awake { &mut called.time.wait } else { &mut called.time.start };
            *part += took;
        }
    }

    /// Records how long the server waited for the client's answer.
    pub fn waited(&self, waited: Duration) {
        let Some(mut draft) = self.draft() else { return };
        draft.idle += waited;
        if let Some(called) = &mut draft.called {
            called.time.wait += waited;
            called.asked = true;
        }
    }

    /// Records the server's JSON-RPC error.
    pub fn refused(&self, error: &ErrorObject) {
        let Some(mut draft) = self.draft() else { return };
        let text = serde_json::to_string(error).unwrap_or_default();
        let code = Some(error.code.to_string());
        draft.end(End { outcome: "upstream_error", code, message: None, cause: None });
        let keep = draft.keep;
        if let Some(called) = &mut draft.called {
            called.answer = Body::of(&text);
            called.result = keep.then(|| text.into());
        }
    }

    /// The visit and tool, if the call succeeded.
    pub fn used(&self) -> Option<(Arc<Visit>, ToolPath)> {
        let draft = self.draft()?;
        let called = draft.called.as_ref()?;
        let of_tool = matches!(called.kind, CallKind::Call | CallKind::Inside);
        let is_over = draft.ended && of_tool && called.end.outcome == "ok";
        let server = called.server.parse().ok().filter(|_| is_over)?;
        Some((called.visit.clone(), ToolPath { server, tool: called.tool.clone() }))
    }

    /// Records a failure in the hub.
    pub fn failed(&self, outcome: Outcome, server: Option<&str>, why: CallTrouble<'_>) {
        let Some(mut draft) = self.draft() else { return };
        let outcome = match outcome {
            Outcome::NotSent => "not_sent",
            Outcome::NotExecuted => "not_executed",
            Outcome::Unknown => "unknown",
            Outcome::UpstreamError => "upstream_error",
        };
        let CallTrouble { code, message, cause } = why;
        let (code, message) = (code.map(|code| code.as_str().to_owned()), Some(message.to_owned()));
        draft.end(End { outcome, code, message, cause: cause.cloned().map(Box::new) });
        if let (Some(called), Some(server)) = (&mut draft.called, server)
            && called.server.is_empty()
        {
            called.server = server.to_owned();
        }
    }

    /// Records the result sent to the client. `ours`: written by the hub, not by the server.
    pub fn answered(&self, result: &Raw, ours: bool) {
        let Some(mut draft) = self.draft() else { return };
        let fields = fields(result.get()).unwrap_or_default();
        let get = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
        let content = get("content").or(get("contents")).map_or("", Raw::get);
        let is_error = get("isError").is_some_and(|value| value.get() == "true");
        // A server's text is stored only if its results are; Satchel's own text always.
        let message = (is_error && ours).then(|| text_in(content)).flatten();
        let outcome = match (is_error, ours) {
            (false, _) => "ok",
            (true, false) => "tool_error",
            (true, true) => "not_sent",
        };
        draft.end(End { outcome, code: None, message, cause: None });
        let (keep, unread) = (draft.keep, draft.unread);
        if let Some(called) = &mut draft.called {
            let answer = readable::body_of(content);
            called.answer = if unread { answer.uncounted() } else { answer };
            called.ours = ours;
            called.result = keep.then(|| Arc::from(result.get()));
        }
    }
}

impl CallFacts {
    fn draft(&self) -> MutexGuard<'_, Draft> {
        self.draft.lock()
    }
}

impl Draft {
    /// The server stopped working on it.
    fn pause(&mut self) {
        if let (Some(since), Some(called)) = (self.upstream_since.take(), &mut self.called) {
            called.time.upstream += since.elapsed().saturating_sub(self.idle);
            self.idle = Duration::ZERO;
        }
    }

    /// Records the end; the first one counts.
    fn end(&mut self, end: End) {
        self.pause();
        self.over.get_or_insert_with(Instant::now);
        if !std::mem::replace(&mut self.ended, true)
            && let Some(called) = &mut self.called
        {
            called.end = end;
        }
    }
}

impl Drop for CallFacts {
    fn drop(&mut self) {
        let draft = self.draft.get_mut();
        draft.pause();
        let whole = draft.over.unwrap_or_else(Instant::now) - self.began;
        let Some(mut called) = draft.called.take() else { return };
        let time = called.time;
        called.time.ours = whole.saturating_sub(time.wait + time.start + time.upstream);
        self.span.record("server", &called.server);
        self.span.record("tool", &called.tool);
        self.span.record("outcome", called.end.outcome);
        self.span.in_scope(|| tracing::debug!(took = ?whole, upstream = ?time.upstream, "called"));
        if let (Some(spans), Some(context)) = (&self.spans, draft.context.take()) {
            let ended = SystemTime::now();
            // A collector that falls behind misses calls instead of delaying them.
            let _ = spans.try_send(CallSpan {
                context,
                kind: called.kind.as_str(),
                client: called.visit.client.clone(),
                server: called.server.clone(),
                tool: called.tool.clone(),
                time: (ended.checked_sub(whole).unwrap_or(ended), ended),
                split: called.time,
                outcome: called.end.outcome,
            });
        }
        self.outbox.tell(Event::Called(called));
    }
}

/// A span id of its own within a client's trace, sampled or not, so that two scripts in one trace differ.
fn within(traceparent: &str) -> Option<String> {
    let (before, flags) = traceparent.rsplit_once('-')?;
    let (before, parent) = before.rsplit_once('-')?;
    let is_one = traceparent.is_ascii() && parent.len() == 16 && before.len() == 35 && flags.len() == 2;
    is_one.then(|| format!("{before}-{}-{flags}", &made_up()[36..52]))
}

/// A generated, unsampled `traceparent`.
fn made_up() -> String {
    let mut random = [0u8; 24];
    // Without randomness, all are the same.
    let _ = getrandom::fill(&mut random);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("00-{}-{}-00", hex(&random[..16]), hex(&random[16..]))
}

/// The first text block of the content.
fn text_in(content: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Block {
        text: Option<String>,
    }
    let blocks: Vec<Block> = serde_json::from_str(content).ok()?;
    blocks.into_iter().find_map(|block| block.text)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
