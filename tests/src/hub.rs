//! A running hub: `satchel serve` in a test's home, started, asked, stopped and killed.

use std::{collections::BTreeMap, fs::File, process::Stdio};

use serde::Deserialize;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
};

use crate::{Client, Home, eventually, process, program};

/// The revision that most current clients negotiate.
const REVISION: &str = "2025-11-25";

/// Accepts every entry in the configuration file at that moment.
const TRUST: &str = "--trust-config";

/// How a client connects.
#[derive(Debug, Clone, Deserialize)]
pub struct Connection {
    /// The endpoint's address.
    pub url: String,
    /// Headers to send with every request.
    pub headers: BTreeMap<String, String>,
}

/// A hub that has reported that it is ready. Killed when dropped.
pub struct Hub<'home> {
    home: &'home Home,
    process: Child,
    /// The endpoint's address.
    pub url: String,
    /// The hub's own process.
    pub pid: u32,
}

#[derive(Deserialize)]
struct Ready {
    url: String,
    pid: u32,
}

impl Home {
    /// Starts a hub on a free port that accepts the configuration file, and waits until it is ready.
    pub async fn start_hub(&self) -> Hub<'_> {
        self.start_hub_with(&[]).await
    }

    /// Starts a hub as a person does: nothing that is only in the file starts before it is approved.
    pub async fn start_hub_asking(&self) -> Hub<'_> {
        self.start(0, &[], &[]).await
    }

    /// Starts a hub on this port.
    pub async fn start_hub_at(&self, port: u16) -> Hub<'_> {
        self.start(port, &[], &[TRUST]).await
    }

    /// Starts a hub with additional environment variables.
    pub async fn start_hub_with(&self, variables: &[(&str, &str)]) -> Hub<'_> {
        self.start(0, variables, &[TRUST]).await
    }

    /// Accepts the configuration file, for commands that run without a hub.
    pub async fn trust_config(&self) {
        self.start_hub().await.terminate().await;
    }

    async fn start(&self, port: u16, variables: &[(&str, &str)], more: &[&str]) -> Hub<'_> {
        let log = File::options().create(true).append(true).open(self.file("hub.stderr"));
        let mut command = self.command(program("satchel"));
        command.args(["serve", "--port", &port.to_string(), "--json"]).args(more).stdout(Stdio::piped());
        command.envs(variables.iter().copied());
        command.stderr(log.expect("the home can be written to"));
        let mut process = command.spawn().expect("satchel can be started");
        let stdout = process.stdout.take().expect("its standard output is a pipe");
        let line = BufReader::new(stdout).lines().next_line().await.expect("its standard output can be read");
        let said = || std::fs::read_to_string(self.file("hub.stderr")).unwrap_or_default();
        let line = line.unwrap_or_else(|| panic!("the hub ended before it was ready: {}", said()));
        let ready: Ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        Hub { home: self, process, url: ready.url, pid: ready.pid }
    }
}

impl Hub<'_> {
    /// Creates a token for a client, as a person does for an editor.
    pub async fn connection(&self, client: &str) -> Connection {
        let printed = self.home.satchel(&["connect", "--print", "--client", client, "--json"]).await.json();
        serde_json::from_value(printed).expect("connect prints url and headers")
    }

    /// A client with a token of its own and an open session.
    pub async fn client(&self, client: &str) -> Client {
        Client::open(&self.connection(client).await, REVISION).await
    }

    /// The output of `satchel status --json`.
    pub async fn status(&self) -> Value {
        self.home.satchel(&["status", "--json"]).await.json()
    }

    /// One server in `satchel status --json`. Waits for it: the hub reads a changed file a moment later, and an entry
    /// changed by another program is missing until it is reviewed.
    pub async fn server(&self, name: &str) -> Value {
        eventually(&format!("there is a server \"{name}\""), async || {
            let status = self.status().await;
            let mut servers = status["servers"].as_array().into_iter().flatten();
            servers.find(|server| server["name"] == name).cloned()
        })
        .await
    }

    /// Waits until a server is in this state, and returns its status.
    pub async fn until(&self, name: &str, state: &str) -> Value {
        let mut last = Value::Null;
        eventually(&format!("\"{name}\" is {state}"), async || {
            let server = self.server(name).await;
            if server["state"] != last["state"] {
                // The test harness shows this only if the test fails.
                eprintln!("{server}");
            }
            last = server;
            (last["state"] == state).then(|| last.clone())
        })
        .await
    }

    /// Waits until a server's entry has to be approved before it starts, and returns why.
    pub async fn waits(&self, name: &str) -> String {
        eventually(&format!("\"{name}\" waits for a person"), async || {
            let status = self.status().await;
            let mut servers = status["servers"].as_array().into_iter().flatten();
            let found = servers.find(|server| server["name"] == name)?;
            found["not_started"].as_str().map(ToOwned::to_owned)
        })
        .await
    }

    /// Kills the hub, like a power cut.
    pub async fn kill(mut self) {
        self.process.kill().await.expect("a child can be killed");
    }

    /// Asks the hub to exit, like a service manager; returns its exit code.
    pub async fn terminate(mut self) -> Option<i32> {
        process::signal(self.pid, process::Signal::TERM);
        self.process.wait().await.expect("a child can be waited for").code()
    }
}

/// The host and port of an address.
pub fn host_of(url: &str) -> &str {
    url.split('/').nth(2).expect("an address has a host")
}
