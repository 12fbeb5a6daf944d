//! The fake server from a test's side: its configuration entry, and the ledger it writes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::{Home, program};

/// A fake stdio server to be configured. Its ledger is `NAME.ledger` in the home.
pub struct Fake {
    entry: Map<String, Value>,
    arguments: Vec<String>,
    ledger: PathBuf,
}

/// What the fake server did, in order; each of its processes writes before each answer.
pub struct Ledger {
    path: PathBuf,
}

/// A running fake server for Streamable HTTP. Killed when dropped.
pub struct FakeHttp {
    _process: Child,
    /// Its address.
    pub url: String,
}

impl Fake {
    /// A well-behaved server of this name.
    pub fn new(home: &Home, name: &str) -> Self {
        let ledger = home.file(&format!("{name}.ledger"));
        let mut entry = Map::new();
        entry.insert("command".into(), json!(program("fake-mcp-server")));
        entry.insert("env".into(), json!({}));
        let arguments = vec!["--name".into(), name.into(), "--ledger".into(), text(&ledger)];
        Self { entry, arguments, ledger }
    }

    /// Adds arguments of the fake server.
    pub fn behaving(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    /// Adds a field of the configuration entry.
    pub fn with(mut self, field: &str, value: Value) -> Self {
        self.entry.insert(field.into(), value);
        self
    }

    /// Adds a variable to its environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.entry["env"][name] = json!(value);
        self
    }

    /// Its entry for `mcpServers`.
    pub fn entry(&self) -> Value {
        let mut entry = self.entry.clone();
        entry.insert("args".into(), json!(self.arguments));
        Value::Object(entry)
    }

    /// Where it records what it does.
    pub fn ledger(&self) -> Ledger {
        Ledger { path: self.ledger.clone() }
    }
}

impl Ledger {
    /// Every line so far.
    pub fn lines(&self) -> Vec<String> {
        fs::read_to_string(&self.path).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// The process ids of all starts so far.
    pub fn starts(&self) -> Vec<u32> {
        let lines = self.lines();
        let pids = lines.iter().filter_map(|line| line.strip_prefix("start "));
        pids.map(|pid| pid.parse().expect("the ledger has process ids")).collect()
    }

    /// How often a line was written.
    pub fn count(&self, line: &str) -> usize {
        self.lines().iter().filter(|written| *written == line).count()
    }
}

impl Home {
    /// Starts a fake server for Streamable HTTP on a free port.
    pub async fn start_http_server(&self, arguments: &[&str]) -> FakeHttp {
        let mut command = self.command(program("fake-mcp-server"));
        command.arg("--http").args(arguments).stderr(Stdio::null());
        listening(command).await
    }
}

/// Starts a server that prints its address on its first line.
pub(crate) async fn listening(mut command: Command) -> FakeHttp {
    #[derive(Deserialize)]
    struct Ready {
        url: String,
    }
    let mut process = command.stdout(Stdio::piped()).spawn().expect("the server can be started");
    let stdout = process.stdout.take().expect("its standard output is a pipe");
    let line = BufReader::new(stdout).lines().next_line().await;
    let line = line.expect("its standard output can be read").expect("it says where it listens");
    let ready: Ready = serde_json::from_str(&line).expect("it says so as JSON");
    FakeHttp { _process: process, url: ready.url }
}

fn text(path: &Path) -> String {
    path.to_str().expect("temporary paths are UTF-8").to_owned()
}
