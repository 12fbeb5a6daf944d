//! Where a test happens: a home of its own, a mark that every process started for its servers carries, and servers
//! that misbehave on request.
//!
//! The servers are the Python fixtures beside this file; their README is the catalogue of what they can do.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

pub(crate) use satchel_tests::python;
use satchel_tests::{Client, Home, Hub, eventually, repository, target_directory};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
    sync::{RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use crate::{
    control::Control,
    processes::{self, Process},
    soaking,
};

/// Every process started for a server has this in its environment.
pub(crate) const MARK: &str = "CHAOS_RUN_ID";
/// How long processes may take to disappear: a soak uses the hub's own limit of 5 s, every commit a longer one for
/// slow or busy machines.
pub(crate) fn gone_within() -> Duration {
    Duration::from_secs(if soaking() { 5 } else { 15 })
}

/// Tests that compare speeds run alone in this program.
static MACHINE: RwLock<()> = RwLock::const_new(());

#[expect(dead_code, reason = "held, never read")]
enum Turn {
    Shared(RwLockReadGuard<'static, ()>),
    Alone(RwLockWriteGuard<'static, ()>),
}

thread_local! {
    /// The turn of the test on this thread. A test with several arenas has one turn: a second one would wait for a
    /// test that waits to run alone, and that one for the first.
    static HELD: RefCell<Weak<Turn>> = RefCell::default();
}

/// The turn of this test, or a new one.
async fn turn(take: impl AsyncFnOnce() -> Turn) -> Arc<Turn> {
    if let Some(held) = HELD.with_borrow(Weak::upgrade) {
        return held;
    }
    let turn = Arc::new(take().await);
    HELD.set(Arc::downgrade(&turn));
    turn
}

/// The place of one test.
pub(crate) struct Arena {
    pub(crate) home: Home,
    /// The value of [`MARK`].
    pub(crate) run: String,
    servers: Map<String, Value>,
    _turn: Arc<Turn>,
}

/// A server of the fixtures, to be configured.
pub(crate) struct Chaos {
    arguments: Vec<String>,
    fields: Map<String, Value>,
    environment: Map<String, Value>,
}

/// What servers did, one JSON object per line, written before each answer.
#[derive(Clone)]
pub(crate) struct Ledger(PathBuf);

/// The fixtures' HTTP server. Killed when dropped.
pub(crate) struct HostedChaos {
    _process: Child,
    base: String,
    pub(crate) ledger: Ledger,
}

impl Arena {
    /// Runs beside other tests.
    pub(crate) async fn new() -> Self {
        Self::with(turn(async || Turn::Shared(MACHINE.read().await)).await)
    }

    /// Runs while no other test of this program does.
    pub(crate) async fn alone() -> Self {
        Self::with(turn(async || Turn::Alone(MACHINE.write().await)).await)
    }

    fn with(turn: Arc<Turn>) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let run = format!("chaos-{}-{number}", std::process::id());
        Self { home: Home::empty(), run, servers: Map::new(), _turn: turn }
    }

    /// Configures a server of the fixtures.
    pub(crate) fn add(&mut self, name: &str, chaos: Chaos) -> &mut Self {
        let entry = chaos.entry(&self.run);
        self.add_entry(name, entry)
    }

    /// Configures a server with this entry.
    pub(crate) fn add_entry(&mut self, name: &str, entry: Value) -> &mut Self {
        self.servers.insert(name.to_owned(), entry);
        self
    }

    /// A ledger of this home.
    pub(crate) fn ledger(&self, name: &str) -> Ledger {
        Ledger(self.home.file(&format!("{name}.jsonl")))
    }

    /// Writes the configuration.
    pub(crate) fn configure(&self) {
        self.home.write_config(&json!({ "mcpServers": self.servers }));
    }

    /// Writes the configuration and starts a hub.
    pub(crate) async fn open(&self) -> Hub<'_> {
        self.configure();
        self.home.start_hub().await
    }

    /// Every live process that was started for a server of this arena, wherever it has moved to.
    pub(crate) fn server_processes(&self) -> Vec<Process> {
        processes::of_run(&self.run)
    }

    /// Every live process of this arena: servers, hubs, and their helpers.
    pub(crate) fn everything(&self) -> Vec<Process> {
        let mut all = self.server_processes();
        let home = self.home.path().to_str().expect("temporary paths are UTF-8");
        all.extend(processes::with_variable("HOME", home));
        if let Some(run) = self.hub_run() {
            all.extend(processes::with_variable("SATCHEL_RUN", &run));
            all.extend(processes::with_variable_beginning("SATCHEL_TREE", &format!("{run}.")));
        }
        all.sort();
        all.dedup();
        all
    }

    /// The run id with which the latest hub marks what it starts.
    fn hub_run(&self) -> Option<String> {
        let bytes = std::fs::read(self.home.file("data/run.json")).ok()?;
        let run: Value = serde_json::from_slice(&bytes).ok()?;
        run["run"].as_str().map(str::to_owned)
    }

    /// Waits until `left` finds nothing, at most [`gone_within`]; panics with what it still finds.
    pub(crate) async fn gone(&self, when: &str, left: impl Fn(&Self) -> Vec<Process>) -> Duration {
        let begin = tokio::time::Instant::now();
        loop {
            let found = left(self);
            if found.is_empty() {
                return begin.elapsed();
            }
            assert!(begin.elapsed() < gone_within(), "still alive after {when}: {found:#?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Starts the fixtures' HTTP server. Its ledger and the requests to its second origin are files of this home.
    pub(crate) async fn host(&self) -> HostedChaos {
        let (ledger, sink) = (self.ledger("hosted"), self.ledger("sink"));
        let mut command = self.home.command(python());
        command.arg(fixture("chaos_http.py")).args(["--port", "0", "--life", "3600"]);
        command.arg("--ledger").arg(&ledger.0).arg("--capture").arg(&sink.0);
        command.env("CHAOS_MAX_LIFE_S", "3600");
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("python runs");
        let stdout = process.stdout.take().expect("its standard output is a pipe");
        let line = BufReader::new(stdout).lines().next_line().await.expect("it can be read");
        let ready: Value = serde_json::from_str(&line.expect("it says where it is")).expect("as JSON");
        let base = ready["base"].as_str().expect("with its address").to_owned();
        HostedChaos { _process: process, base, ledger }
    }
}

impl HostedChaos {
    /// The entry of a server whose mode is part of its address.
    pub(crate) fn entry(&self, mode: &str) -> Value {
        self.entry_of("legacy", mode)
    }

    /// The same, for a server of this era.
    pub(crate) fn entry_of(&self, era: &str, mode: &str) -> Value {
        json!({ "url": format!("{}/{era}/{mode}/mcp", self.base), "requestTimeout": 5 })
    }
}

impl Chaos {
    /// A well-behaved server of the older revisions.
    pub(crate) fn new() -> Self {
        Self::running("chaos_server.py").era("legacy")
    }

    /// Another program of the fixtures.
    pub(crate) fn running(script: &str) -> Self {
        let script = fixture(script).to_str().expect("the repository's path is UTF-8").to_owned();
        let fields = Map::from_iter([("requestTimeout".to_owned(), json!(5))]);
        Self { arguments: vec![script], fields, environment: Map::new() }
    }

    /// A server with this fault mode, or several, separated by commas.
    pub(crate) fn mode(mode: &str) -> Self {
        Self::new().arg("--mode", mode)
    }

    pub(crate) fn era(self, era: &str) -> Self {
        self.arg("--era", era)
    }

    /// Sets a parameter of the mode: `("ms", "300")`.
    pub(crate) fn with(self, name: &str, value: impl ToString) -> Self {
        let value = format!("{name}={}", value.to_string());
        self.arg("--param", &value)
    }

    /// Adds an argument and its value.
    pub(crate) fn arg(mut self, name: &str, value: &str) -> Self {
        self.arguments.extend([name.to_owned(), value.to_owned()]);
        self
    }

    /// Writes what it does to this ledger.
    pub(crate) fn writing(self, ledger: &Ledger) -> Self {
        let path = ledger.0.to_str().expect("temporary paths are UTF-8").to_owned();
        self.arg("--ledger", &path)
    }

    /// Sets a field of its entry.
    pub(crate) fn field(mut self, name: &str, value: Value) -> Self {
        self.fields.insert(name.to_owned(), value);
        self
    }

    /// Sets a variable of its environment.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), json!(value));
        self
    }

    pub(crate) fn entry(self, run: &str) -> Value {
        let mut environment = self.environment;
        environment.insert(MARK.to_owned(), json!(run));
        // A server that a test forgets exits by itself; a measured one does not.
        environment.entry("CHAOS_MAX_LIFE_S").or_insert(json!("3600"));
        for (name, value) in python_environment() {
            environment.insert(name.to_owned(), json!(value));
        }
        let mut entry = self.fields;
        entry.insert("command".to_owned(), json!(python()));
        // The fixtures need no other packages, and looking for some takes longer than everything else that starts.
        let arguments: Vec<String> = std::iter::once("-S".to_owned()).chain(self.arguments).collect();
        entry.insert("args".to_owned(), json!(arguments));
        entry.insert("env".to_owned(), Value::Object(environment));
        Value::Object(entry)
    }
}

impl Ledger {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Every line so far.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.0).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("a ledger has whole lines")).collect()
    }

    /// The lines that record this event.
    pub(crate) fn events(&self, event: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["ev"] == event).collect()
    }
}

/// Waits until the lists of these servers have been read.
pub(crate) async fn known(home: &Home, servers: &[String]) {
    let control = Control::of(home);
    eventually("the lists of every server are read", async || {
        let status = control.request(json!({ "do": "status" })).await.expect("the hub runs");
        let views = status["servers"].as_array().expect("a snapshot has servers");
        let read = |name: &String| views.iter().any(|view| view["name"] == **name && view["tools"].is_u64());
        servers.iter().all(read).then_some(())
    })
    .await;
}

/// A file of the fixtures.
pub(crate) fn fixture(name: &str) -> PathBuf {
    repository().join("tests/chaos/fixtures").join(name)
}

/// Compiled Python goes below the target directory, never beside the sources.
pub(crate) fn python_environment() -> [(&'static str, String); 1] {
    let cache = target_directory().join("tmp/python");
    [("PYTHONPYCACHEPREFIX", cache.to_str().expect("the target directory's path is UTF-8").to_owned())]
}

/// Runs a program of the fixtures and returns its exit code and output.
pub(crate) async fn run_fixture(script: &str, arguments: &[&str]) -> (i32, String) {
    let mut command = tokio::process::Command::new(python());
    command
        .arg(fixture(script))
        .args(arguments)
        .envs(python_environment())
        .env_remove("PYTHONDONTWRITEBYTECODE")
        .stdin(Stdio::null());
    let output = command.kill_on_drop(true).output().await.expect("python runs");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap_or(-1), said)
}

/// A hub started in an unusual way: below a shell, with its own bus, with limits. Killed when dropped.
pub(crate) struct Launched {
    pub(crate) process: Child,
    pub(crate) pid: u32,
}

impl Arena {
    /// Starts a hub; `prepare` may change the command, whose arguments are complete.
    pub(crate) async fn launch(
        &self,
        program: &Path,
        arguments: &[&str],
        prepare: impl FnOnce(&mut tokio::process::Command),
    ) -> Launched {
        let mut command = self.home.command(program);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
        prepare(&mut command);
        let mut process = command.spawn().expect("the program can be started");
        let stdout = process.stdout.take().expect("its standard output is a pipe");
        let line = BufReader::new(stdout).lines().next_line().await.expect("it can be read");
        let ready: Value =
            serde_json::from_str(&line.expect("the hub becomes ready")).expect("its line is JSON");
        let pid = ready["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).expect("with its process id");
        Launched { process, pid }
    }

    /// A client of the running hub.
    pub(crate) async fn client(&self, id: &str) -> Client {
        let request = json!({ "do": "connect", "client": id, "ephemeral": true });
        let connection = Control::of(&self.home).request(request).await.expect("the hub runs");
        Client::open(&serde_json::from_value(connection).expect("a connection"), "2025-11-25").await
    }
}
