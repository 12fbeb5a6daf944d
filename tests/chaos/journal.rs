//! What callers issued and what they were told, for the fixtures' own checker (`ledger_check.py`), which compares it
//! with what servers did. The checker is proven to find faults by its self-test and by `planted.rs`.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    sync::Mutex,
};

use satchel_tests::Answer;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::arena::{Ledger, run_fixture};

/// The outcome of a call, in the checker's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// A good result.
    Result,
    /// The server's own error.
    Error,
    /// It may have run.
    Unknown,
    /// It did not run: not sent, or not executed.
    Refused,
}

impl Outcome {
    /// Reads the hub's answer to a call. A failure of the hub itself must say whether the call may have run.
    #[track_caller]
    pub(crate) fn of(answer: &Answer) -> Self {
        let result = match &answer.outcome {
            Ok(result) => result,
            // Refused before it was read.
            Err(error) if error.data["outcome"] == "not_sent" => return Outcome::Refused,
            Err(error) if error.data["outcome"] == "unknown" => return Outcome::Unknown,
            Err(_) => return Outcome::Error,
        };
        match own_words(result, "dev.satchel/outcome").as_deref() {
            Some("not_sent" | "not_executed") => Outcome::Refused,
            Some("unknown") => Outcome::Unknown,
            Some("upstream_error") => Outcome::Error,
            Some(other) => panic!("an outcome nobody knows, {other:?}: {result}"),
            None => Outcome::Result,
        }
    }

    /// The hub's code for its own failures, if it names one.
    pub(crate) fn code(answer: &Answer) -> Option<String> {
        own_words(answer.outcome.as_ref().ok()?, "dev.satchel/code")
    }

    fn word(self) -> &'static str {
        match self {
            Outcome::Result => "result",
            Outcome::Error => "error",
            Outcome::Unknown => "unknown",
            Outcome::Refused => "refused",
        }
    }
}

/// What the hub adds to a result. The rest is not parsed: a server's result may nest deeper than a parser allows.
fn own_words(result: &RawValue, key: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Result {
        #[serde(default, rename = "_meta")]
        meta: BTreeMap<String, Box<RawValue>>,
    }
    let result: Result = serde_json::from_str(result.get()).ok()?;
    serde_json::from_str(result.meta.get(key)?.get()).ok()
}

/// The callers' records.
pub(crate) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

/// The checker's findings.
#[derive(Debug, Deserialize)]
pub(crate) struct Verdict {
    pub(crate) ok: bool,
    pub(crate) issued: usize,
    pub(crate) executed: usize,
    pub(crate) outcomes: BTreeMap<String, usize>,
    pub(crate) lost: Vec<String>,
    pub(crate) answered_twice: Vec<String>,
    pub(crate) executed_twice: Vec<String>,
    pub(crate) invented: Vec<String>,
    pub(crate) refused_but_executed: Vec<String>,
    pub(crate) unasked: Vec<String>,
    pub(crate) misreported: Vec<String>,
}

impl Journal {
    pub(crate) fn new(path: PathBuf) -> Self {
        let file = OpenOptions::new().create(true).append(true).open(&path).expect("the home can be written");
        Self { path, file: Mutex::new(file) }
    }

    /// Records that a call with this key is about to be made.
    pub(crate) fn issue(&self, key: &str) {
        self.write(&json!({ "ev": "issue", "key": key, "ts": 0 }));
    }

    /// Records what its caller was told.
    pub(crate) fn done(&self, key: &str, outcome: Outcome) {
        self.write(&json!({ "ev": "done", "key": key, "ts": 0, "outcome": outcome.word() }));
    }

    fn write(&self, line: &Value) {
        let mut file = self.file.lock().expect("no writer panics");
        file.write_all(format!("{line}\n").as_bytes()).expect("the home can be written");
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Compares the journal with the servers' ledger.
    pub(crate) async fn judge(&self, ledger: &Ledger) -> Verdict {
        judge(ledger.path(), self.path()).await
    }
}

/// Runs the checker.
pub(crate) async fn judge(ledger: &Path, journal: &Path) -> Verdict {
    let (ledger, journal) = (ledger.to_str().expect("UTF-8"), journal.to_str().expect("UTF-8"));
    let (_, said) =
        run_fixture("ledger_check.py", &["--ledger", ledger, "--client", journal, "--json"]).await;
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("no verdict ({error}): {said}"))
}

impl Verdict {
    /// Nothing lost, duplicated, invented or misreported, and some work done.
    #[track_caller]
    pub(crate) fn clean(&self, at_least: usize) {
        assert!(self.issued >= at_least && self.executed > 0, "it did no work: {self:?}");
        let faults = [
            &self.lost,
            &self.answered_twice,
            &self.executed_twice,
            &self.invented,
            &self.refused_but_executed,
            &self.unasked,
            &self.misreported,
        ];
        assert!(self.ok && faults.iter().all(|fault| fault.is_empty()), "{self:?}");
    }

    /// How many calls had this outcome.
    pub(crate) fn count(&self, outcome: Outcome) -> usize {
        self.outcomes.get(outcome.word()).copied().unwrap_or(0)
    }
}
