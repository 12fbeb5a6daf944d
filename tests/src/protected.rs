//! Servers that want a sign-in, and a browser that nobody looks at: the programs of `tests/auth/kit`.

use std::process::Stdio;

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout},
};

use crate::{Home, plain_http, program, python, repository};

/// A protected server with its authorization servers.
#[derive(Debug)]
pub struct Protected {
    _process: Child,
    _said: Lines<BufReader<ChildStdout>>,
    at: Value,
}

/// A program of the kit.
pub fn kit(name: &str) -> String {
    repository().join("tests/auth/kit").join(name).to_str().expect("the path is UTF-8").to_owned()
}

/// Starts a server that plays a case.
pub async fn protected(home: &Home, case: &str) -> Protected {
    let mut command = home.command(python());
    command.args([&kit("mock_as.py"), "--case", case, "--plugin", &kit("quoting.py")]);
    command.stdout(Stdio::piped());
    let mut process = command.spawn().expect("python3 is installed; scripts/setup.sh does that");
    let stdout = process.stdout.take().expect("its standard output is a pipe");
    let mut said = BufReader::new(stdout).lines();
    let line = said.next_line().await.expect("it can be read").expect("it says where it is");
    Protected { _process: process, _said: said, at: serde_json::from_str(&line).expect("it says so in JSON") }
}

/// The command of a browser whose user accepts every page; the page is its last argument.
pub fn browser() -> [String; 2] {
    [python().to_owned(), kit("browser.py")]
}

/// Opens this page in a browser whose user accepts; with `paste`, the browser does not follow the redirect back.
pub async fn browse(home: &Home, page: &str, paste: bool) -> Value {
    let mut command = home.command(python());
    command.args([&kit("browser.py"), page]);
    command.env("FAKE_USER", if paste { "paste" } else { "approve" });
    let output = command.output().await.expect("python3 is installed; scripts/setup.sh does that");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

impl Protected {
    /// The server's address.
    pub fn url(&self) -> &str {
        self.at["url"].as_str().expect("it says where it is")
    }

    /// Every request it received.
    pub async fn log(&self) -> Vec<Value> {
        let control = self.at["control"].as_str().expect("it says where it is");
        let response = plain_http().get(format!("{control}/log")).send().await.expect("it answers");
        serde_json::from_str(&response.text().await.expect("it can be read")).expect("its log is JSON")
    }

    /// Makes it do something: `expire`, `forget`.
    pub async fn tell(&self, what: &str) {
        let control = self.at["control"].as_str().expect("it says where it is");
        let post = plain_http().post(format!("{control}/{what}")).body("{}");
        post.send().await.expect("it answers");
    }

    /// Changes how it behaves from now on: the knobs of a case.
    pub async fn set(&self, knobs: &Value) {
        let control = self.at["control"].as_str().expect("it says where it is");
        // Without a content type the body would not be read.
        let post = plain_http().post(format!("{control}/set")).header("content-type", "application/json");
        post.body(knobs.to_string()).send().await.expect("it answers");
    }

    /// How many pages were opened.
    pub async fn pages(&self) -> usize {
        self.log().await.iter().filter(|event| event["endpoint"] == "authorize").count()
    }
}

impl Home {
    /// Signs in to a server of the running hub, like a person whose browser accepts.
    pub async fn sign_in(&self, server: &str) {
        let mut command = self.command(program("satchel"));
        command.args(["login", server, "--no-browser"]).stderr(Stdio::piped());
        let mut login = command.spawn().expect("satchel can be started");
        let mut said = BufReader::new(login.stderr.take().expect("its standard error is a pipe")).lines();
        let page = loop {
            let line = said.next_line().await.expect("it can be read").expect("it says where the page is");
            if let Some(url) = line.split_whitespace().find(|word| word.starts_with("http://127.0.0.1")) {
                break url.to_owned();
            }
        };
        browse(self, &page, false).await;
        assert_eq!(
            login.wait().await.expect("it can be waited for").code(),
            Some(0),
            "{server} is signed in to"
        );
    }
}
