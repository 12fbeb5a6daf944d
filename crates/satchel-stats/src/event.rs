//! Events as the hub and the endpoint report them: texts, times and names; tokens are counted later.

use std::{sync::Arc, time::Duration};

use super::{audit::AuditEvent, definitions::Definitions, sharing::Measured};
use crate::model::{cause::FailureCause, ledger::CallKind};

/// A client during one session.
///
/// A legacy session begins with `initialize`. The ledger counts everything a client requests with pauses of at most
/// half an hour ([`super::store::PAUSE`]) as one session, however often it initializes, as in the stateless revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// The id of a legacy session, unique in this run of the hub; `None` in the stateless revision.
    pub session: Option<u64>,
    /// The id of the client's token.
    pub client: String,
    /// The client program's name, self-reported.
    pub program: String,
    /// Its version.
    pub version: String,
    /// Its protocol revision.
    pub era: String,
    /// The only server it sees; empty if it sees all.
    pub only: String,
    /// Its profile; of several, the one it cannot leave.
    pub profile: String,
    /// One of Satchel's own interfaces: a person's calls, which neither cost nor save model tokens.
    pub face: bool,
    /// The program loads definitions of tools only when they are needed.
    pub defers: bool,
}

/// One server's tools as a client would have received them; `None` if they were never read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// The server.
    pub server: String,
    /// Name and definition of each tool.
    pub tools: Option<Vec<(String, Arc<str>)>>,
}

/// The tool lists of the servers that a client may use.
pub type Offers = Arc<Vec<Offered>>;

/// An event to record.
#[derive(Debug)]
pub enum Event {
    /// A client received the hub's list of tools.
    Listed {
        /// The client.
        visit: Arc<Visit>,
        /// When, in milliseconds since the Unix epoch.
        at_ms: u64,
        /// What it received.
        definitions: Arc<Definitions>,
        /// What it would have received without the hub.
        offers: Offers,
    },
    /// A call finished.
    Called(Box<Called>),
    /// A measurement of running servers and their clients.
    Measured(Measured),
    /// An audit event.
    Audit(AuditEvent),
}

/// A finished call. Bodies are empty if nothing is to be counted.
#[derive(Debug)]
pub struct Called {
    /// The client.
    pub visit: Arc<Visit>,
    /// When it began, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// What could have been called directly.
    pub offers: Offers,
    /// The kind of request.
    pub kind: CallKind,
    /// The server; empty if unknown.
    pub server: String,
    /// The tool, or what was requested instead.
    pub tool: String,
    /// Its result.
    pub end: End,
    /// Its durations.
    pub time: Split,
    /// `{"name":…,"arguments":…}` as the client wrote it.
    pub request: Body,
    /// The same for a direct call; `None` if none would have been made.
    pub direct: Option<Body>,
    /// The `content` of the result as it was sent.
    pub answer: Body,
    /// Written by the hub, not by the server.
    pub ours: bool,
    /// The rule that allowed it.
    pub rule: String,
    /// Was a person asked?
    pub asked: bool,
    /// The server's protocol revision.
    pub server_era: Option<String>,
    /// Its trace.
    pub trace: Option<String>,
    /// Its arguments unchanged, if they are stored.
    pub arguments: Option<Arc<str>>,
    /// Its result, or the server's error message, under the same condition.
    pub result: Option<Arc<str>>,
    /// Redacts the secrets of its server.
    pub redact: Option<Redact>,
}

/// Redacts known secrets in a text.
#[derive(Clone)]
pub struct Redact(pub Arc<dyn Fn(&str) -> String + Send + Sync>);

impl std::fmt::Debug for Redact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redact")
    }
}

impl Called {
    /// The error message in storable form.
    pub(super) fn told(&self) -> Option<String> {
        self.end.message.as_deref().map(|message| self.without_secrets(message))
    }

    /// Why its server failed in storable form, with texts of at most `longest` characters.
    pub(super) fn cause(&self, longest: usize) -> Option<String> {
        let cause = self.end.cause.as_deref()?.clone();
        let cause = cause.with_texts(|text| super::retention::cut(&self.without_secrets(text), longest));
        serde_json::to_string(&cause).ok()
    }

    fn without_secrets(&self, text: &str) -> String {
        self.redact.as_ref().map_or_else(|| text.to_owned(), |redact| (redact.0)(text))
    }

    /// A text in storable form.
    pub(super) fn redacted(&self, text: &str) -> String {
        // Redact before cutting: half of a secret would not be recognized.
        let text = self.redact.as_ref().map_or_else(|| text.to_owned(), |redact| (redact.0)(text));
        super::retention::redacted(&text)
    }
}

/// A text that may be too large to keep for counting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Body {
    /// Its size in bytes.
    pub bytes: usize,
    /// The text; `None` beyond [`LARGEST`].
    pub text: Option<Arc<str>>,
}

/// Longer texts are not counted: the figure would say little, and memory is limited.
pub const LARGEST: usize = 2 * 1024 * 1024;

impl Body {
    /// Creates a body from this text.
    pub fn of(text: &str) -> Self {
        Self { bytes: text.len(), text: (text.len() <= LARGEST).then(|| Arc::from(text)) }
    }

    /// The same size without tokens: no model reads it.
    #[must_use]
    pub fn uncounted(&self) -> Self {
        Self { bytes: self.bytes, text: Some(Arc::from("")) }
    }
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// `ok`, `tool_error`, `upstream_error`, `not_sent`, `not_executed`, `unknown` or `cancelled`.
    pub outcome: &'static str,
    /// The failure's code, or the JSON-RPC error code.
    pub code: Option<String>,
    /// The failure's message.
    pub message: Option<String>,
    /// Why its server failed, in parts, where that is the reason.
    pub cause: Option<Box<FailureCause>>,
}

/// The durations of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Split {
    /// Waiting for a person or for a free slot.
    pub wait: Duration,
    /// Starting the server.
    pub start: Duration,
    /// In the server.
    pub upstream: Duration,
    /// In the hub.
    pub ours: Duration,
}

impl Split {
    /// The total.
    pub fn whole(&self) -> Duration {
        self.wait + self.start + self.upstream + self.ours
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_no_model_reads_has_a_size_and_no_text_to_count() {
        let page = Body::of("<p>hello</p>").uncounted();
        assert_eq!((page.bytes, page.text.as_deref()), (12, Some("")));
    }
}
