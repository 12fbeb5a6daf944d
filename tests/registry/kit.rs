//! A registry on loopback that bends every rule (`server.py`), and launchers that fetch nothing.

use std::{fs, process::Stdio};

use satchel_tests::{Home, Hub, Ran, python, repository};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
};

/// The mock of a registry; ends with it.
pub(crate) struct Mock {
    _process: Child,
    pub(crate) url: String,
}

impl Mock {
    pub(crate) async fn start(home: &Home) -> Self {
        let mut command = home.command(python());
        command.arg(repository().join("tests/registry/server.py")).stdout(Stdio::piped());
        let mut process = command.spawn().expect("python starts");
        let stdout = process.stdout.take().expect("its output is a pipe");
        let line = BufReader::new(stdout).lines().next_line().await.expect("it can be read");
        let ready: Value =
            serde_json::from_str(&line.expect("it says where it listens")).expect("it is JSON");
        Self { _process: process, url: ready["url"].as_str().expect("it has an address").to_owned() }
    }

    /// Turns on a fault, or changes the data.
    pub(crate) async fn does(&self, what: Value) {
        let client = reqwest::Client::builder().no_proxy().build().expect("a client can be made");
        let sent = client.post(format!("{}/_test", self.url)).body(what.to_string()).send().await;
        assert!(sent.expect("it answers").status().is_success());
    }

    /// Every request so far.
    pub(crate) async fn requests(&self) -> Vec<Value> {
        let client = reqwest::Client::builder().no_proxy().build().expect("a client can be made");
        let answer = client.get(format!("{}/_test/requests", self.url)).send().await.expect("it answers");
        serde_json::from_slice(&answer.bytes().await.expect("it answers")).expect("it is JSON")
    }
}

/// A home whose registry is the mock, with launchers that log their requests and run a fake server.
pub(crate) struct Kit {
    pub(crate) home: Home,
    pub(crate) mock: Mock,
}

impl Kit {
    pub(crate) async fn new() -> Self {
        // The client needs it before it is built, though it uses plain HTTP only.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let home = Home::empty();
        let mock = Mock::start(&home).await;
        home.write_config(&json!({ "mcpServers": {}, "registries": [{ "url": mock.url }] }));
        let fake = satchel_tests::program("fake-mcp-server");
        let script = format!(
            "#!/bin/sh\nfor word in \"$(basename \"$0\")\" \"$@\"; do printf '%s\\0' \"$word\"; done >>\"$HOME/launched\"\n\
             printf '\\n' >>\"$HOME/launched\"\nfor word in \"$@\"; do case \"$word\" in -*) ;; *) break ;; esac; done\n\
             exec {} --words \"$HOME/words/$word\"\n",
            fake.display()
        );
        for name in ["bin/npx", "bin/uvx", "bin/dnx"] {
            home.write_program(name, &script);
        }
        Self { home, mock }
    }

    pub(crate) async fn hub(&self) -> Hub<'_> {
        let path = std::env::var("PATH").expect("there is one");
        let path = format!("{}:{path}", self.home.file("bin").display());
        self.home.start_hub_with(&[("PATH", &path)]).await
    }

    pub(crate) async fn search(&self, words: &[&str]) -> Value {
        let words: Vec<&str> = ["search", "--json"].into_iter().chain(words.iter().copied()).collect();
        self.home.satchel(&words).await.json()
    }

    /// The names found, best first.
    pub(crate) async fn names(&self, words: &[&str]) -> Vec<String> {
        let found = self.search(words).await;
        let servers = found["servers"].as_array().expect("it is a list").iter();
        servers.map(|server| server["name"].as_str().expect("it has a name").to_owned()).collect()
    }

    pub(crate) async fn plan(&self, words: &[&str]) -> Ran {
        let words: Vec<&str> =
            ["install", "--dry-run", "--json"].into_iter().chain(words.iter().copied()).collect();
        self.home.satchel(&words).await
    }

    pub(crate) async fn install(&self, words: &[&str]) -> Ran {
        let words: Vec<&str> =
            ["install", "--yes", "--json"].into_iter().chain(words.iter().copied()).collect();
        self.home.satchel(&words).await
    }

    /// The exact launches.
    pub(crate) fn launched(&self) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.home.file("launched")).unwrap_or_default();
        let words = |line: &str| line.split_terminator('\0').map(ToOwned::to_owned).collect();
        text.split_terminator("\0\n").map(|line| words(&format!("{line}\0"))).collect()
    }

    /// Sets the description of this package's tool.
    pub(crate) fn says(&self, package: &str, words: &str) {
        let file = self.home.file("words").join(package);
        fs::create_dir_all(file.parent().expect("it has one")).expect("the home can be written to");
        fs::write(file, words).expect("the home can be written to");
    }
}
