//! Keeps what a session was opened with until its client ends it. Most client libraries never send `initialize` a second
//! time: without this, a restart of the hub, or half an hour of disuse, would end their sessions for good.
//!
//! Does not keep calls, streams or questions, which end with the hub, nor any token: a record serves only the client that
//! opened the session, with its token of today.

use std::{
    collections::{BTreeSet, HashMap},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use satchel_core::{clock::now_ms, files, model::ServerName};
use satchel_mcp::{Raw, era::Era};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::session::PER_CLIENT;

/// The name of the file in the data directory: one line of JSON for each change, the last one about a session counts.
pub(crate) const FILE_NAME: &str = "sessions.jsonl";
/// How long a record is kept after its session was opened or opened again.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Maximum number of records.
const MOST: usize = 2_048;
/// Maximum size of one record in bytes. A session with a larger one is not kept.
const LARGEST: usize = 32 * 1024;
/// Maximum size of the file in bytes. A larger one is not ours.
const FILE: u64 = 128 * 1024 * 1024;
/// Number of lines that are out of date when the file is written anew.
const STALE: usize = 1_024;
/// How long a client waits for a slow disk.
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum number of lines written together.
const TOGETHER: usize = 256;

/// What a session was opened with, and what its client has set since.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct KeptSession {
    client: String,
    revision: String,
    /// Where it was opened.
    place: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) capabilities: Option<Box<Raw>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) info: Option<Box<Raw>>,
    /// The lowest severity of log messages, if its client has set one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) log_from: Option<u8>,
    /// Resources whose changes it wants to hear of: server and URI.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) watched: BTreeSet<(ServerName, String)>,
    /// When it was opened, in milliseconds since the Unix epoch.
    since: u64,
}

impl KeptSession {
    pub(crate) fn new(client: &str, era: Era, place: String) -> Self {
        Self {
            client: client.to_owned(),
            revision: era.revision().to_owned(),
            place,
            capabilities: None,
            info: None,
            log_from: None,
            watched: BTreeSet::new(),
            since: now_ms(),
        }
    }

    /// The negotiated revision, if this hub still has it.
    pub(crate) fn era(&self) -> Option<Era> {
        Era::of(&self.revision)
    }

    fn is_fresh(&self, now: u64) -> bool {
        now.saturating_sub(self.since) < u64::try_from(KEPT.as_millis()).unwrap_or(u64::MAX)
    }
}

/// One line of the file. Of several lines about a session the last one counts.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum RecordLine {
    Open { id: String, session: KeptSession },
    Gone { id: String },
}

type Records = HashMap<String, KeptSession>;

/// What the writing task is asked for.
#[derive(Debug)]
enum WriteOrder {
    Write(RecordLine),
    /// Says when everything before it is written.
    Tell(oneshot::Sender<()>),
}

/// All records. A clone is another handle.
#[derive(Debug, Clone)]
pub(crate) struct KeptSessions {
    records: Arc<Mutex<Records>>,
    lines: mpsc::UnboundedSender<WriteOrder>,
}

impl KeptSessions {
    /// Reads the file and begins to follow changes. A file that cannot be read is replaced at the next change.
    pub(crate) fn open(path: PathBuf, tracker: &TaskTracker, stop: CancellationToken) -> Self {
        let records = Arc::new(Mutex::new(read(&path)));
        let (lines, changes) = mpsc::unbounded_channel();
        tracker.spawn(write(path, records.clone(), changes, stop));
        Self { records, lines }
    }

    /// The record of this session id, if it was this client's, and opened at this place.
    pub(crate) fn find(&self, id: &str, client: &str, place: &str) -> Option<KeptSession> {
        let records = self.records.lock();
        let kept = records.get(&digest(id))?;
        (kept.client == client && kept.place == place && kept.is_fresh(now_ms())).then(|| kept.clone())
    }

    /// Keeps a session, and returns the handle that keeps what changes in it.
    pub(crate) fn keep(&self, id: &str, mut session: KeptSession) -> RecordKeeper {
        session.since = now_ms();
        let keeper = RecordKeeper { id: digest(id), sessions: self.clone() };
        let size = [&session.capabilities, &session.info].into_iter().flatten().map(|raw| raw.get().len());
        if size.sum::<usize>() <= LARGEST {
            let gone = {
                let mut records = self.records.lock();
                records.insert(keeper.id.clone(), session.clone());
                make_room(&mut records, &session.client)
            };
            self.write(RecordLine::Open { id: keeper.id.clone(), session });
            gone.into_iter().for_each(|id| self.write(RecordLine::Gone { id }));
        }
        keeper
    }

    /// Forgets a session that its client has ended; false if this client has none of that id.
    pub(crate) fn forget(&self, id: &str, client: &str) -> bool {
        let id = digest(id);
        let mut records = self.records.lock();
        if records.get(&id).is_none_or(|kept| kept.client != client) {
            return false;
        }
        records.remove(&id);
        drop(records);
        self.write(RecordLine::Gone { id });
        true
    }

    /// Waits until every change so far is written, so that a hub that is killed right afterwards has lost none.
    pub(crate) async fn written(&self) {
        let (tell, told) = oneshot::channel();
        // The task ends with the hub; then nothing is kept any more.
        if self.lines.send(WriteOrder::Tell(tell)).is_ok() {
            let _ = tokio::time::timeout(PATIENCE, told).await;
        }
    }

    fn write(&self, line: RecordLine) {
        let _ = self.lines.send(WriteOrder::Write(line));
    }
}

/// Keeps what changes in one session.
#[derive(Debug)]
pub(crate) struct RecordKeeper {
    id: String,
    sessions: KeptSessions,
}

impl RecordKeeper {
    /// Changes the record, if there is one.
    pub(crate) fn change(&self, change: impl FnOnce(&mut KeptSession)) {
        let changed = self.sessions.records.lock().get_mut(&self.id).map(|kept| {
            change(kept);
            kept.clone()
        });
        if let Some(session) = changed {
            self.sessions.write(RecordLine::Open { id: self.id.clone(), session });
        }
    }
}

/// The file does not contain session ids that could be used.
fn digest(id: &str) -> String {
    let digest = Sha256::digest(id.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Removes the oldest records of a client that has too many, or of all; returns their ids.
fn make_room(records: &mut Records, client: &str) -> Vec<String> {
    let oldest = |records: &Records, of: Option<&str>| {
        let of_it = records.iter().filter(|(_, kept)| of.is_none_or(|client| kept.client == client));
        of_it.min_by_key(|(_, kept)| kept.since).map(|(id, _)| id.clone())
    };
    let mut gone = Vec::new();
    if records.values().filter(|kept| kept.client == client).count() > PER_CLIENT {
        gone.extend(oldest(records, Some(client)));
    } else if records.len() > MOST {
        gone.extend(oldest(records, None));
    }
    gone.iter().for_each(|id| {
        records.remove(id);
    });
    gone
}

fn read(path: &Path) -> Records {
    let bytes = match files::read_plain(path, FILE) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Records::new(),
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "cannot read the sessions of the last run; clients open new ones");
            return Records::new();
        }
    };
    let now = now_ms();
    let mut records = Records::new();
    // A line that was cut off by a crash is left out.
    for line in bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()) {
        match line {
            RecordLine::Open { id, session } if session.is_fresh(now) => drop(records.insert(id, session)),
            RecordLine::Open { id, .. } | RecordLine::Gone { id } => drop(records.remove(&id)),
        }
    }
    records
}

/// Writes each change at once, so that it survives a killed hub.
async fn write(
    path: PathBuf,
    records: Arc<Mutex<Records>>,
    mut changes: mpsc::UnboundedReceiver<WriteOrder>,
    stop: CancellationToken,
) {
    // The first change writes the file anew: what a crash left in it does not matter then.
    let mut written = usize::MAX;
    let mut orders = Vec::new();
    loop {
        tokio::select! {
            biased;
            count = changes.recv_many(&mut orders, TOGETHER) => if count == 0 { return },
            () = stop.cancelled() => return,
        }
        let (mut lines, mut waiting) = (Vec::new(), Vec::new());
        for order in orders.drain(..) {
            match order {
                WriteOrder::Write(line) => lines.push(line),
                WriteOrder::Tell(tell) => waiting.push(tell),
            }
        }
        if !lines.is_empty() {
            let live = records.lock().len();
            let anew = written > live + STALE;
            if anew {
                lines = all(&records.lock());
                written = 0;
            }
            written += lines.len();
            let path = path.clone();
            let writing = tokio::task::spawn_blocking(move || write_lines(&path, &lines, anew));
            if let Ok(Err(error)) = writing.await {
                tracing::warn!(%error, "cannot keep sessions; after a restart, clients have to open new ones");
            }
        }
        for tell in waiting {
            // Its client may have gone.
            let _ = tell.send(());
        }
    }
}

fn all(records: &Records) -> Vec<RecordLine> {
    let line = |(id, session): (&String, &KeptSession)| RecordLine::Open {
        id: id.clone(),
        session: session.clone(),
    };
    records.iter().map(line).collect()
}

fn write_lines(path: &Path, lines: &[RecordLine], anew: bool) -> io::Result<()> {
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
    }
    match anew {
        true => files::replace(path, &text),
        false => files::append_private(path)?.write_all(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(client: &str) -> KeptSession {
        KeptSession {
            info: Raw::from_string(r#"{"name":"x"}"#.into()).ok(),
            ..KeptSession::new(client, Era::SESSION, "hub".into())
        }
    }

    /// Opens the file, lets something happen, and waits until it is written.
    async fn opened(path: &Path, happens: impl FnOnce(&KeptSessions)) -> KeptSessions {
        let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
        let sessions = KeptSessions::open(path.to_owned(), &tracker, stop.clone());
        happens(&sessions);
        stop.cancel();
        tracker.close();
        tracker.wait().await;
        sessions
    }

    #[tokio::test]
    async fn a_session_and_what_changed_in_it_are_there_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions.jsonl");
        opened(&path, |sessions| {
            let keeper = sessions.keep("one", record("a"));
            keeper.change(|kept| kept.log_from = Some(3));
            keeper.change(|kept| assert!(kept.watched.insert(("notes".parse().unwrap(), "note://1".into()))));
            sessions.keep("two", record("a"));
            assert!(!sessions.forget("two", "b") && sessions.forget("two", "a"));
        })
        .await;
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("one"), "an id that could be used is not in the file: {text}");
        let sessions = opened(&path, |_| ()).await;
        let one = sessions.find("one", "a", "hub").unwrap();
        assert_eq!(
            (one.log_from, one.watched.len(), one.info.unwrap().get()),
            (Some(3), 1, r#"{"name":"x"}"#)
        );
        for (id, client, place) in
            [("one", "b", "hub"), ("one", "a", "server/x"), ("two", "a", "hub"), ("three", "a", "hub")]
        {
            assert!(sessions.find(id, client, place).is_none(), "{id} {client} {place}");
        }
    }

    #[tokio::test]
    async fn damaged_lines_are_left_out_and_old_sessions_are_not_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions.jsonl");
        let old = KeptSession { since: 0, ..record("a") };
        let lines = [
            serde_json::to_string(&RecordLine::Open { id: digest("old"), session: old }).unwrap(),
            "not JSON".into(),
            serde_json::to_string(&RecordLine::Open { id: digest("new"), session: record("a") }).unwrap(),
            r#"{"open":{"id":"cut o"#.into(),
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let sessions = opened(&path, |sessions| drop(sessions.keep("newer", record("a")))).await;
        assert!(sessions.find("old", "a", "hub").is_none());
        let sessions = opened(&path, |_| ()).await;
        assert!(sessions.find("new", "a", "hub").is_some() && sessions.find("newer", "a", "hub").is_some());
    }

    #[tokio::test]
    async fn the_number_of_records_is_limited_for_each_client() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions.jsonl");
        let fill = |sessions: &KeptSessions| {
            sessions.keep("other", record("b"));
            for at in 0..PER_CLIENT * 3 {
                sessions.keep(&at.to_string(), record("a"));
            }
        };
        opened(&path, fill).await;
        let sessions = opened(&path, |_| ()).await;
        assert_eq!(sessions.records.lock().len(), PER_CLIENT + 1);
        assert!(sessions.find("other", "b", "hub").is_some());
    }

    #[tokio::test]
    async fn what_is_out_of_date_does_not_stay_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions.jsonl");
        let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
        let sessions = KeptSessions::open(path.clone(), &tracker, stop.clone());
        for at in 0..STALE * 4 {
            let id = at.to_string();
            sessions.keep(&id, record("a"));
            sessions.forget(&id, "a");
            tokio::task::yield_now().await;
        }
        stop.cancel();
        tracker.close();
        tracker.wait().await;
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= STALE + TOGETHER + 1, "{lines}");
    }
}
