//! Events as the hub and the endpoint report them: texts, times and names; tokens are counted later.

use std::{sync::Arc, time::Duration};

use super::{audit::AuditEvent, definitions::Definitions, sharing::Measured};
use crate::model::ledger::CallKind;

/// Who asks, for as long as one session lasts.
///
/// A legacy session begins with `initialize`. The ledger counts as one session all that a client asks with pauses of at
/// most half an hour ([`super::store::PAUSE`]), however often it initializes, as in the stateless revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// Names a legacy session, unique in this run of the hub; `None` in the stateless revision.
    pub session: Option<u64>,
    /// The id of the client's token.
    pub client: String,
    /// What the program calls itself, where it does.
    pub program: String,
    /// Its version.
    pub version: String,
    /// The protocol revision it speaks.
    pub era: String,
    /// The one server it sees; empty where it sees all.
    pub only: String,
    /// The profile it looks through, where there is one; of several the one that it cannot leave.
    pub profile: String,
    /// One of Satchel's own faces: a person's calls, which neither cost nor save a model anything.
    pub face: bool,
}

/// One server's tools as a client would have received them; `None` where they were never read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// The server.
    pub server: String,
    /// Name and definition of each tool.
    pub tools: Option<Vec<(String, Arc<str>)>>,
}

/// What the servers that a client may use offer.
pub type Offers = Arc<Vec<Offered>>;

/// Something that is recorded.
#[derive(Debug)]
pub enum Event {
    /// A client was given the hub's list of tools.
    Listed {
        /// Who.
        visit: Arc<Visit>,
        /// When, in milliseconds since the Unix epoch.
        at_ms: u64,
        /// What it was given.
        definitions: Arc<Definitions>,
        /// What it would have been given without the hub.
        offers: Offers,
    },
    /// A client called something, and it is over.
    Called(Box<Called>),
    /// Servers ran, and clients shared them.
    Measured(Measured),
    /// Something for the audit log.
    Audit(AuditEvent),
}

/// A call that is over. Bodies are empty where nothing is to be counted.
#[derive(Debug)]
pub struct Called {
    /// Who asked.
    pub visit: Arc<Visit>,
    /// When it began.
    pub at_ms: u64,
    /// What could have been called directly.
    pub offers: Offers,
    /// What was asked for.
    pub kind: CallKind,
    /// The server, where it got so far; else empty.
    pub server: String,
    /// The tool, or what was asked for instead of one.
    pub tool: String,
    /// How it ended.
    pub end: End,
    /// Where its time went.
    pub time: Split,
    /// `{"name":…,"arguments":…}` as the client wrote it.
    pub request: Body,
    /// The same for a direct call; `None` where a direct call would not have been made.
    pub direct: Option<Body>,
    /// The `content` of the answer as it was sent.
    pub answer: Body,
    /// Whether the hub wrote the answer, and not the server.
    pub ours: bool,
    /// The rule that allowed it.
    pub rule: String,
    /// Was a person asked?
    pub asked: bool,
    /// The revision the server speaks.
    pub server_era: Option<String>,
    /// The trace it belongs to.
    pub trace: Option<String>,
    /// Its arguments, where they are kept; as they came.
    pub arguments: Option<Arc<str>>,
    /// Its result, or the server's words about its failure, likewise.
    pub result: Option<Arc<str>>,
    /// Hides the secrets that its server was given.
    pub redact: Option<Redact>,
}

/// Hides known secrets in a text.
#[derive(Clone)]
pub struct Redact(pub Arc<dyn Fn(&str) -> String + Send + Sync>);

impl std::fmt::Debug for Redact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redact")
    }
}

impl Called {
    /// What is said about its end, as it may be kept.
    pub(super) fn told(&self) -> Option<String> {
        let message = self.end.message.as_deref()?;
        Some(self.redact.as_ref().map_or_else(|| message.to_owned(), |redact| (redact.0)(message)))
    }

    /// A text of it as it may be kept.
    pub(super) fn redacted(&self, text: &str) -> String {
        // Before it is cut: half of a secret would not be known.
        let text = self.redact.as_ref().map_or_else(|| text.to_owned(), |redact| (redact.0)(text));
        super::retention::redacted(&text)
    }
}

/// A text that may be too large to be kept for counting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Body {
    /// Its bytes.
    pub bytes: usize,
    /// The text itself; `None` beyond [`LARGEST`].
    pub text: Option<Arc<str>>,
}

/// Longer texts are not counted: their number would say little, and memory is finite.
pub const LARGEST: usize = 2 * 1024 * 1024;

impl Body {
    /// A body of this text.
    pub fn of(text: &str) -> Self {
        Self { bytes: text.len(), text: (text.len() <= LARGEST).then(|| Arc::from(text)) }
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// `ok`, `tool_error`, `upstream_error`, `not_sent`, `not_executed`, `unknown` or `cancelled`.
    pub outcome: &'static str,
    /// The class of the failure, or the error's number.
    pub code: Option<String>,
    /// The failure, in words.
    pub message: Option<String>,
}

/// Where the time of a call went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Split {
    /// Waiting for a person or a turn.
    pub wait: Duration,
    /// Starting the server.
    pub start: Duration,
    /// In the server.
    pub upstream: Duration,
    /// In the hub.
    pub ours: Duration,
}

impl Split {
    /// All of it.
    pub fn whole(&self) -> Duration {
        self.wait + self.start + self.upstream + self.ours
    }
}
