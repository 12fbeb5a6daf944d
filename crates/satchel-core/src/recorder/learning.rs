//! Learns which tools were used after which searches, to rank them higher for similar searches, and what results of
//! tools look like, to tell it to those who write scripts. Nothing leaves the computer; `history.learn` turns it off, and
//! deleting the history deletes it.
//!
//! Theory of operation: searches stay in memory until a tool they showed is used successfully; then their words and the
//! tool become a habit ([`Habits`]). One task writes the habits to a file shortly after they change and once more at
//! the end; deleting them removes the file and holds the task off meanwhile.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;

use super::Recorder;
use crate::{
    catalog::{ToolEntry, search::Habits, shape::Shapes},
    clock::now_ms,
    files,
    model::{Code, ToolPath, control::Refusal},
    stats::event::Visit,
    tasks::may_fail_here,
};

const FORMAT: u32 = 1;
/// Number of recent searches, over all clients, whose tools may still be used.
const SEARCHES: usize = 256;
/// A search expires after this time: a later use has another reason.
const LATELY: Duration = Duration::from_secs(30 * 60);
/// Maximum number of uses credited to one search.
const CREDIT: u32 = 3;
/// Maximum length of a stored search, in bytes.
const QUERY: usize = 1_000;
/// A habit that is unused for this many days is dropped.
const DAYS: u32 = 90;
/// Changes within this interval are written together.
const MOMENT: Duration = Duration::from_secs(2);
/// The pause before a failed write is repeated.
const AGAIN: Duration = Duration::from_secs(60);

/// The learned habits, and the recent searches.
#[derive(Debug)]
pub(super) struct Learning {
    path: PathBuf,
    habits: Mutex<Arc<Habits>>,
    /// The learned shapes of tools' results.
    shapes: Mutex<Arc<Shapes>>,
    searches: Mutex<VecDeque<Search>>,
    changed: Notify,
    /// The file is out of date.
    unwritten: AtomicBool,
    /// The last write failed.
    failed: AtomicBool,
    /// Held while the file is written or deleted.
    file: Mutex<()>,
}

#[derive(Debug)]
struct Search {
    by: Searcher,
    query: String,
    shown: Vec<String>,
    at: Instant,
    credit: u32,
}

/// Who searched: a session, or a client's program in the revision without sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Searcher {
    session: Option<u64>,
    client: String,
    program: String,
}

impl Searcher {
    fn of(visit: &Visit) -> Self {
        Self { session: visit.session, client: visit.client.clone(), program: visit.program.clone() }
    }
}

#[derive(Serialize, Deserialize)]
struct HabitFile {
    format: u32,
    #[serde(flatten)]
    habits: Habits,
    #[serde(default)]
    shapes: Shapes,
}

impl Learning {
    /// Loads what was learned. A damaged file is moved aside, and its new path returned.
    pub(super) fn open(data: &Path) -> (Self, Option<String>) {
        let path = data.join("habits.json");
        let ((habits, shapes), trouble) = match read(&path) {
            Ok(learned) => (learned, None),
            Err(trouble) => (<(Habits, Shapes)>::default(), Some(trouble)),
        };
        let learning = Self {
            path,
            habits: Mutex::new(Arc::new(habits)),
            shapes: Mutex::new(Arc::new(shapes)),
            searches: Mutex::default(),
            changed: Notify::new(),
            unwritten: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            file: Mutex::default(),
        };
        (learning, trouble)
    }

    fn habits(&self) -> MutexGuard<'_, Arc<Habits>> {
        self.habits.lock()
    }

    fn shapes(&self) -> MutexGuard<'_, Arc<Shapes>> {
        self.shapes.lock()
    }

    fn searches(&self) -> MutexGuard<'_, VecDeque<Search>> {
        self.searches.lock()
    }

    fn searched(&self, visit: &Visit, query: &str, shown: Vec<String>) {
        let query = crate::stats::retention::cut(query, QUERY);
        let search = Search { by: Searcher::of(visit), query, shown, at: Instant::now(), credit: CREDIT };
        let mut searches = self.searches();
        searches.push_back(search);
        while searches.len() > SEARCHES || searches.front().is_some_and(|first| first.at.elapsed() > LATELY) {
            searches.pop_front();
        }
    }

    /// Credits the client's latest search that returned the tool.
    fn used(&self, visit: &Visit, tool: &ToolPath) {
        let mut searches = self.searches();
        // Most clients call what they know.
        if searches.is_empty() {
            return;
        }
        let (by, path) = (Searcher::of(visit), tool.to_string());
        let mut latest = searches.iter_mut().rev().take_while(|search| search.at.elapsed() <= LATELY);
        let Some(search) = latest.find(|search| search.by == by && search.shown.contains(&path)) else {
            return;
        };
        if search.credit == 0 {
            return;
        }
        search.credit -= 1;
        let query = search.query.clone();
        drop(searches);
        let today = today();
        self.change(|habits| {
            habits.used(&query, tool, today);
            habits.forget_before(today.saturating_sub(DAYS));
        });
    }

    fn change(&self, change: impl FnOnce(&mut Habits)) {
        change(Arc::make_mut(&mut self.habits()));
        self.changed();
    }

    fn change_shapes(&self, change: impl FnOnce(&mut Shapes)) {
        change(Arc::make_mut(&mut self.shapes()));
        self.changed();
    }

    fn changed(&self) {
        self.unwritten.store(true, Ordering::Release);
        self.changed.notify_one();
    }

    fn write(&self) {
        let _file = self.file.lock();
        if !self.unwritten.swap(false, Ordering::AcqRel) {
            return;
        }
        let (habits, shapes) = (Habits::clone(&self.habits()), Shapes::clone(&self.shapes()));
        let stored = HabitFile { format: FORMAT, habits, shapes };
        let written = serde_json::to_vec(&stored)
            .map_err(Into::into)
            .and_then(|bytes| files::replace(&self.path, &bytes));
        self.failed.store(written.is_err(), Ordering::Release);
        if let Err(error) = written {
            // Retried with the next change, and at the end.
            self.unwritten.store(true, Ordering::Release);
            tracing::warn!(%error, "what was learned from searches cannot be kept");
        }
    }

    fn forget(&self) -> std::io::Result<()> {
        let _file = self.file.lock();
        self.searches().clear();
        *self.habits() = Arc::default();
        *self.shapes() = Arc::default();
        self.unwritten.store(false, Ordering::Release);
        files::remove_with_asides(&self.path)
    }
}

/// Days since the Unix epoch.
fn today() -> u32 {
    u32::try_from(now_ms() / (24 * 3600 * 1000)).unwrap_or(u32::MAX)
}

fn read(path: &Path) -> Result<(Habits, Shapes), String> {
    let bytes = match files::read_data(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Default::default()),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    match serde_json::from_slice::<HabitFile>(&bytes) {
        Ok(stored) if stored.format == FORMAT => Ok((stored.habits.checked(), stored.shapes.checked())),
        // Written by another version; learning starts again.
        Ok(_) => Ok(Default::default()),
        Err(error) => {
            let place = match files::set_aside(path) {
                Ok(aside) => format!("set aside as {}", aside.display()),
                Err(error) => format!("could not be set aside ({error})"),
            };
            Err(format!("what was learned from searches was damaged ({error}) and {place}"))
        }
    }
}

impl Recorder {
    /// Records a client's search and the tools it returned, until one of them is used.
    pub fn searched(&self, visit: &Visit, query: &str, shown: impl FnOnce() -> Vec<String>) {
        if self.learns() && !visit.face && !query.trim().is_empty() {
            self.0.learning.searched(visit, query, shown());
        }
    }

    /// Records a successful use of a tool.
    pub fn used(&self, visit: &Visit, tool: &ToolPath) {
        if self.learns() && !visit.face {
            self.0.learning.used(visit, tool);
        }
    }

    /// The habits for ranking; `None` if learning is off.
    pub fn habits(&self) -> Option<Arc<Habits>> {
        self.learns().then(|| self.0.learning.habits().clone())
    }

    /// Is learning enabled in the configuration?
    pub fn learns(&self) -> bool {
        let history = self.0.settings.config.borrow().history();
        history.record && history.learn
    }

    /// Deletes everything learned, on disk too.
    ///
    /// # Errors
    /// A [`Refusal`] if the file cannot be deleted.
    pub async fn forget_habits(&self) -> Result<(), Refusal> {
        let recorder = self.clone();
        let forgotten = tokio::task::spawn_blocking(move || recorder.0.learning.forget()).await;
        let forgotten = forgotten.map_err(std::io::Error::other).and_then(|forgotten| forgotten);
        forgotten.map_err(|error| {
            let message = format!("what was learned from searches could not be deleted: {error}");
            Refusal::new(Code::Unwritable, message, "")
        })
    }

    /// Deletes what was learned about a removed server.
    pub fn forget_habits_of(&self, server: &str) {
        self.0.learning.change(|habits| habits.forget_server(server));
        self.0.learning.change_shapes(|shapes| shapes.forget_server(server));
    }

    /// The learned shapes; `None` if learning is off.
    pub fn shapes(&self) -> Option<Arc<Shapes>> {
        self.learns().then(|| self.0.learning.shapes().clone())
    }

    /// Learns the shape of a result whose tool declares none.
    pub fn learn_shape(&self, path: &ToolPath, tool: &ToolEntry, value: &serde_json::Value) {
        if self.learns() {
            self.0.learning.change_shapes(|shapes| shapes.learn(path, tool, value));
        }
    }

    /// Writes changes to the file until `end`, and once more then.
    pub async fn keep_habits(&self, end: &CancellationToken) {
        let learning = &self.0.learning;
        loop {
            // A notification that a panicked task consumed is not repeated.
            let behind = learning.unwritten.load(Ordering::Acquire);
            let ending = tokio::select! {
                () = end.cancelled() => true,
                () = learning.changed.notified(), if !behind => false,
                () = std::future::ready(()), if behind => false,
            };
            may_fail_here("learning");
            if !ending {
                wait(MOMENT, end).await;
            }
            let recorder = self.clone();
            if tokio::task::spawn_blocking(move || recorder.0.learning.write()).await.is_err() {
                tracing::error!("what was learned from searches could not be written");
            }
            if ending {
                return;
            }
            if learning.failed.load(Ordering::Acquire) {
                wait(AGAIN, end).await;
            }
        }
    }
}

async fn wait(time: Duration, end: &CancellationToken) {
    tokio::select! {
        () = tokio::time::sleep(time) => {}
        () = end.cancelled() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(client: &str, session: Option<u64>) -> Visit {
        Visit {
            session,
            client: client.into(),
            program: "p".into(),
            version: "1".into(),
            era: "2025-11-25".into(),
            only: String::new(),
            profile: String::new(),
            face: false,
            defers: false,
        }
    }

    fn fresh() -> (tempfile::TempDir, PathBuf, Learning) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("habits.json");
        let (learned, trouble) = Learning::open(dir.path());
        assert_eq!(trouble, None);
        (dir, path, learned)
    }

    #[test]
    fn only_tools_shown_in_the_same_session_are_learned_and_each_search_counts_a_few_times() {
        let (_dir, _, learned) = fresh();
        let (one, other) = (visit("a", Some(1)), visit("a", Some(2)));
        let tool: ToolPath = "s:t".parse().unwrap();
        learned.searched(&one, "create issue", vec!["s:t".into()]);
        learned.used(&other, &tool);
        learned.used(&one, &"s:unseen".parse().unwrap());
        assert!(learned.habits().is_empty());
        let mut before = learned.habits().clone();
        for use_number in 1..=CREDIT + 2 {
            learned.used(&one, &tool);
            let after = learned.habits().clone();
            assert_eq!(after != before, use_number <= CREDIT, "{use_number}");
            before = after;
        }
    }

    #[test]
    fn learned_habits_survive_a_restart_and_forgotten_ones_do_not() {
        let (dir, path, learned) = fresh();
        learned.searched(&visit("a", None), "create issue", vec!["s:t".into()]);
        learned.used(&visit("a", None), &"s:t".parse().unwrap());
        learned.write();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("issu") && !text.contains("creat"), "words are not kept as such: {text}");
        let (again, _) = Learning::open(dir.path());
        assert_eq!(*again.habits(), *learned.habits());
        assert!(!again.habits().is_empty());
        std::fs::write(dir.path().join("habits.json.damaged-1"), "{").unwrap();
        again.change(|_| {});
        again.forget().unwrap();
        // The task was about to write.
        again.write();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(again.habits().is_empty());
    }

    #[test]
    fn shapes_of_results_are_kept_beside_habits_and_forgotten_with_them() {
        let (dir, path, learned) = fresh();
        let raw = satchel_mcp::Raw::from_string(r#"{"name":"t","inputSchema":{}}"#.into()).unwrap();
        let tool = ToolEntry::new("t".into(), &satchel_mcp::RawObject::parse(&raw).unwrap(), raw);
        let value = serde_json::json!({ "title": "a secret plan" });
        learned.change_shapes(|shapes| shapes.learn(&"s:t".parse().unwrap(), &tool, &value));
        learned.write();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("title") && !text.contains("plan"), "{text}");
        let (again, _) = Learning::open(dir.path());
        assert_eq!(*again.shapes(), *learned.shapes());
        assert!(!again.shapes().is_empty());
        // Files of an earlier version have none.
        std::fs::write(&path, r#"{"format":1,"habits":[]}"#).unwrap();
        let (earlier, trouble) = Learning::open(dir.path());
        assert!(earlier.shapes().is_empty() && trouble.is_none(), "{trouble:?}");
        again.forget().unwrap();
        assert!(again.shapes().is_empty());
    }

    #[test]
    fn a_damaged_file_is_set_aside() {
        let (dir, path, _) = fresh();
        std::fs::write(&path, r#"{"format":1,"habits":[{"words"#).unwrap();
        let (learned, trouble) = Learning::open(dir.path());
        assert!(
            learned.habits().is_empty() && trouble.is_some_and(|said| said.contains("habits.json.damaged-"))
        );
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
