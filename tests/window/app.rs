//! The desktop app under test: started, spoken to as a client, and ended.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::LazyLock,
    time::{Duration, SystemTime},
};

use satchel_tests::{Client, Connection, eventually, process, program, repository};
use serde_json::Value;
use tokio::process::{Child, Command};

use crate::desktop::Desktop;

/// A running app.
pub(crate) struct App {
    process: Child,
    /// Its process id.
    pub(crate) pid: u32,
}

/// The program; `SATCHEL_APP` names another, for example an installed one.
pub(crate) fn satchel_app() -> PathBuf {
    std::env::var_os("SATCHEL_APP").map_or_else(built, PathBuf::from)
}

/// The program of this workspace. Its pages are compiled in: old ones would show what no source says any more.
fn built() -> PathBuf {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        let (program, pages) = (program("satchel-app"), repository().join("ui/dist/index.html"));
        let newest = newest(&repository().join("ui/src"));
        assert!(newest <= changed(&pages), "ui/dist is older than ui/src: run `make build`");
        assert!(changed(&pages) <= changed(&program), "satchel-app is older than ui/dist: run `make build`");
        program
    });
    BUILT.clone()
}

fn changed(path: &Path) -> SystemTime {
    let about = std::fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    about.modified().expect("this system records when a file was changed")
}

/// When a source of the pages was last changed; their own tests are not among them.
fn newest(directory: &Path) -> SystemTime {
    let entries =
        std::fs::read_dir(directory).expect("ui/src can be read").flatten().map(|entry| entry.path());
    let is_test = |path: &PathBuf| path.to_string_lossy().ends_with(".test.ts");
    let times = entries
        .filter(|path| !is_test(path))
        .map(|path| if path.is_dir() { newest(&path) } else { changed(&path) });
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

impl Desktop {
    /// The app's command, with its output written to a file in the home.
    pub(crate) fn app(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(satchel_app());
        command.args(arguments).stdout(self.output()).stderr(self.output());
        command
    }

    /// The file with the app's output.
    pub(crate) fn output(&self) -> File {
        let log = File::options().create(true).append(true).open(self.home.file("app.output"));
        log.expect("the home can be written to")
    }

    /// Starts the app on a free port and waits until it serves.
    pub(crate) async fn start(&self, arguments: &[&str]) -> App {
        let process = self
            .app(&[&["--port", "0", "--trust-config"], arguments].concat())
            .spawn()
            .expect("the app can be started");
        let app = App { pid: process.id().expect("it has just been started"), process };
        self.serves().await;
        app
    }

    /// Waits until a hub of this home answers.
    pub(crate) async fn serves(&self) {
        eventually("a hub serves", async || self.status().await).await;
    }

    /// The output of `satchel status --json`, once a running hub answers it.
    async fn status(&self) -> Option<Value> {
        let running = self.home.file("data/hub.json").exists();
        let ran = if running { self.home.satchel(&["status", "--json"]).await } else { return None };
        let status: Value = serde_json::from_str(&ran.stdout).ok()?;
        status["endpoint"].is_string().then_some(status)
    }

    /// A client of the hub that serves here, like an editor.
    pub(crate) async fn client(&self, id: &str) -> Client {
        let printed = self.home.satchel(&["connect", "--print", "--client", id, "--json"]).await.json();
        let connection: Connection = serde_json::from_value(printed).expect("connect prints url and headers");
        Client::open(&connection, "2025-11-25").await
    }

    /// The app's output so far, for messages of failing tests.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(self.home.file("app.output")).unwrap_or_default()
    }
}

impl App {
    /// Waits until it has exited by itself.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let ended = tokio::time::timeout(Duration::from_secs(120), self.process.wait()).await;
        ended.expect("the app ends").expect("the app can be waited for")
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: process::Signal) {
        process::signal(self.pid, signal);
    }
}

/// Waits until a client can, or cannot, find a tool of this server.
pub(crate) async fn until_offered(client: &Client, server: &str, offered: bool) {
    let wanted = if offered { "sees" } else { "does not see" };
    eventually(&format!("a client {wanted} {server}"), async || {
        let prefix = format!("{server}:");
        let sees = client.paths("").await.iter().any(|path| path.starts_with(&prefix));
        (sees == offered).then_some(())
    })
    .await;
}
