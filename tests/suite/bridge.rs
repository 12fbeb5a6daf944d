//! `satchel bridge`: the endpoint for clients that speak only over standard input and output.

use std::process::Stdio;

use satchel_tests::{Home, eventually, program};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

/// A client at the bridge's other end.
pub(crate) struct Bridge {
    process: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    next_id: u64,
}

impl Bridge {
    fn start(home: &Home) -> Self {
        let mut command = home.command(program("satchel"));
        command.arg("bridge");
        Self::of(command)
    }

    /// Starts it in this folder, with these arguments.
    pub(crate) fn start_in(home: &Home, folder: &std::path::Path, arguments: &[String]) -> Self {
        let mut command = home.command(program("satchel"));
        command.arg("bridge").args(arguments).current_dir(folder);
        Self::of(command)
    }

    /// Starts it behind another machine's shell, as `ssh HOST WORDS` does: the words are one text for that shell, and
    /// the environment has only what a login sets. A shell stands in for ssh.
    fn start_remotely(home: &Home, client: &str) -> Self {
        let words = format!("\"{}\" bridge --client {client}", program("satchel").display());
        let mut login = home.command("env");
        login.args(["-i", "PATH=/usr/bin:/bin"]);
        for name in ["HOME", "SATCHEL_HOME", "SATCHEL_MODEL", "DBUS_SESSION_BUS_ADDRESS"] {
            let value =
                login.as_std().get_envs().find(|(other, _)| *other == name).and_then(|(_, value)| value);
            let value = value.expect("every home sets it").to_owned();
            let mut set = std::ffi::OsString::from(format!("{name}="));
            set.push(value);
            login.arg(set);
        }
        // The shell is not replaced by the program, and neither is a connection.
        login.args(["sh", "-c", &format!("sh -c '{words}'; exit $?")]);
        Self::of(login)
    }

    fn of(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("satchel can be started");
        let stdin = process.stdin.take().expect("its standard input is a pipe");
        let stdout = process.stdout.take().expect("its standard output is a pipe");
        Self { process, stdin, lines: BufReader::new(stdout).lines(), next_id: 1 }
    }

    async fn send(&mut self, message: &Value) {
        self.stdin.write_all(format!("{message}\n").as_bytes()).await.expect("the bridge reads");
    }

    /// Returns the response to a request; every line before it must be protocol, too.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        loop {
            let line = self.lines.next_line().await.expect("the bridge can be read");
            let line = line.expect("the bridge stays");
            let message: Value =
                serde_json::from_str(&line).expect("nothing but protocol on standard output");
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Reads until this notification comes; the subscription must not have ended before.
    async fn heard(&mut self, method: &str) {
        let hearing = async {
            loop {
                let line = self.lines.next_line().await.expect("the bridge can be read");
                let line = line.expect("the bridge stays");
                let message: Value =
                    serde_json::from_str(&line).expect("nothing but protocol on standard output");
                assert_ne!(message["id"], "ear", "{line}");
                if message["method"] == method {
                    return;
                }
            }
        };
        let bound = std::time::Duration::from_secs(60);
        tokio::time::timeout(bound, hearing).await.unwrap_or_else(|_| panic!("{method} was not heard"));
    }

    pub(crate) async fn open(&mut self) {
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
                            "clientInfo": { "name": "stdio", "version": "1" } });
        let opened = self.ask("initialize", hello).await;
        assert_eq!(opened["result"]["protocolVersion"], "2025-11-25", "{opened}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    }

    async fn hash(&mut self) -> Value {
        let arguments = json!({ "tool_path": "toolbox:hash_text", "arguments": { "text": "hello" } });
        self.ask("tools/call", json!({ "name": "execute_mcp_tool", "arguments": arguments })).await
    }
}

#[tokio::test]
async fn a_stdio_client_works_through_the_bridge_and_survives_a_restart_of_the_hub() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let mut bridge = Bridge::start(&home);
    bridge.open().await;
    let tools = bridge.ask("tools/list", json!({})).await;
    assert_eq!(tools["result"]["tools"].as_array().map(Vec::len), Some(4), "{tools}");
    assert!(bridge.hash().await.to_string().contains("2cf24dba5fb0"));

    hub.terminate().await;
    let hub = home.start_hub().await;
    eventually("the bridge finds the new hub", async || {
        bridge.hash().await.to_string().contains("2cf24dba5fb0").then_some(())
    })
    .await;
    hub.kill().await;
    let _hub = home.start_hub().await;
    eventually("and the next one", async || {
        bridge.hash().await.to_string().contains("2cf24dba5fb0").then_some(())
    })
    .await;

    drop(bridge.stdin);
    assert_eq!(bridge.process.wait().await.unwrap().code(), Some(0), "it ends with its client");
}

/// docs/remote.md: a container, WSL, or a host behind SSH.
#[tokio::test]
async fn a_client_elsewhere_reaches_the_hub_through_another_shell_and_a_cut_connection_leaves_nothing() {
    let home = Home::empty();
    let _hub = home.start_hub().await;
    let mut bridge = Bridge::start_remotely(&home, "laptop");
    bridge.open().await;
    assert!(bridge.hash().await.to_string().contains("2cf24dba5fb0"));
    let clients = async || home.satchel(&["status", "--json"]).await.json()["clients"].to_string();
    assert!(clients().await.contains("laptop"), "{}", clients().await);
    let bridges = || home.processes().iter().filter(|one| one.command.contains(" bridge --client")).count();
    assert!(bridges() > 0);

    // The connection breaks: its process here is killed, its pipes are closed.
    bridge.process.kill().await.expect("it runs");
    drop((bridge.stdin, bridge.lines));
    eventually("the bridge there ends", async || (bridges() == 0).then_some(())).await;
    let mut again = Bridge::start_remotely(&home, "laptop");
    again.open().await;
    assert!(again.hash().await.to_string().contains("2cf24dba5fb0"), "the hub goes on");
}

#[tokio::test]
async fn the_bridge_starts_a_hub_when_none_runs() {
    let home = Home::empty();
    let mut bridge = Bridge::start(&home);
    bridge.open().await;
    assert!(bridge.hash().await.to_string().contains("2cf24dba5fb0"));
    let status = home.satchel(&["status", "--json"]).await.json();
    assert!(status["endpoint"].as_str().is_some_and(|url| url.starts_with("http://127.0.0.1:")), "{status}");
}

#[tokio::test]
async fn a_client_of_the_stateless_revision_does_not_notice_that_the_hub_was_killed() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let mut bridge = Bridge::start(&home);
    let with_meta = |mut params: Value| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "stdio", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        params
    };
    let discovered = bridge.ask("server/discover", with_meta(json!({}))).await;
    assert_eq!(discovered["result"]["supportedVersions"], json!(["2026-07-28"]), "{discovered}");
    let listening = with_meta(json!({ "notifications": { "toolsListChanged": true } }));
    bridge
        .send(
            &json!({ "jsonrpc": "2.0", "id": "ear", "method": "subscriptions/listen", "params": listening }),
        )
        .await;
    bridge.heard("notifications/subscriptions/acknowledged").await;
    let arguments = json!({ "tool_path": "toolbox:hash_text", "arguments": { "text": "hello" } });
    let call = with_meta(json!({ "name": "execute_mcp_tool", "arguments": arguments }));
    let said = bridge.ask("tools/call", call.clone()).await;
    assert!(said.to_string().contains("2cf24dba5fb0"), "{said}");

    hub.kill().await;
    // The bridge starts a hub by itself and repeats the request there.
    bridge.heard("notifications/subscriptions/acknowledged").await;
    let said = bridge.ask("tools/call", call).await;
    assert!(said.to_string().contains("2cf24dba5fb0"), "{said}");
}

/// docs/remote.md: a client in a container, which has nothing of the hub but a socket and a token.
#[tokio::test]
async fn a_client_in_a_container_has_a_socket_that_serves_only_that_client() {
    let home = Home::empty();
    let (socket, inside) = (home.file("box/hub.sock"), Home::empty());
    let servers = json!({ "toolbox": { "command": "satchel", "args": ["toolbox"] } });
    home.write_config(&json!({ "mcpServers": servers, "sockets": { "box": socket } }));
    let hub = home.start_hub().await;
    for client in ["box", "other"] {
        let printed = home.satchel(&["connect", "--print", "--client", client]).await;
        std::fs::write(inside.file(client), &printed.succeeded().stdout).expect("the home can be written to");
    }
    let start = |token: &str| {
        let mut command = inside.command(program("satchel"));
        command.arg("bridge").arg("--socket").arg(&socket).arg("--token-file").arg(inside.file(token));
        Bridge::of(command)
    };
    let mut bridge = start("box");
    bridge.open().await;
    assert!(bridge.hash().await.to_string().contains("2cf24dba5fb0"));
    assert!(!inside.file("data/hub.sock").exists(), "no hub was started inside");
    let refused = start("other").ask("tools/list", json!({})).await;
    let why = refused["error"]["message"].to_string();
    let says = |words: &str| why.contains(words);
    assert!(says("does not accept the token in") && says("satchel connect --print --client"), "{refused}");
    assert!(!says("restarting"), "{refused}");

    let token = std::fs::read_to_string(inside.file("box")).expect("it was written");
    let token = token.trim().rsplit('\n').next().expect("its last line is the header");
    for (line, host, header, expected) in [
        ("POST /mcp", "localhost", "Accept: */*", "401"),
        ("POST /request", "localhost", "Accept: */*", "404"),
        ("POST /request", "localhost", token, "404"),
        ("GET /sign-in/x", "localhost", token, "404"),
        ("POST /mcp", "localhost", "Origin: http://evil.example", "403"),
        ("POST /mcp", "evil.example", token, "403"),
    ] {
        let said = raw(&socket, &format!("{line} HTTP/1.1\r\nHost: {host}\r\n{header}\r\n")).await;
        assert!(said.starts_with(&format!("HTTP/1.1 {expected}")), "{line} {host} {header}: {said}");
    }

    hub.kill().await;
    let _hub = home.start_hub().await;
    eventually("the bridge finds the new hub", async || {
        bridge.hash().await.to_string().contains("2cf24dba5fb0").then_some(())
    })
    .await;
    home.write_config(&json!({ "mcpServers": servers }));
    eventually("the socket is closed", async || (!socket.exists()).then_some(())).await;
}

/// What a socket answers to a request with this head and no body.
async fn raw(socket: &std::path::Path, head: &str) -> String {
    use tokio::io::AsyncReadExt;
    let mut stream = tokio::net::UnixStream::connect(socket).await.expect("it is listened at");
    let request = format!("{head}Connection: close\r\nContent-Length: 0\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said).await;
    String::from_utf8_lossy(&said).into_owned()
}
