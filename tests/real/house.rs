//! A hub with the seven reference servers, and things for them to work on.

use std::{path::PathBuf, process::Stdio};

use satchel_tests::{Connection, Home, Hub, eventually, target_directory};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
};

/// The data for the servers in this home.
pub(crate) struct House {
    pub(crate) home: Home,
    /// A page on a web server of this home.
    pub(crate) page: String,
    _web: Child,
}

/// One tool of each server, to check that all are available.
const ONE_OF_EACH: [&str; 7] = [
    "everything:echo",
    "fetch:fetch",
    "filesystem:read_text_file",
    "git:git_log",
    "memory:create_entities",
    "sequential-thinking:sequentialthinking",
    "time:convert_time",
];

impl House {
    /// Configures all seven servers; starts only the web server.
    pub(crate) async fn build() -> Self {
        let home = Home::empty();
        std::fs::create_dir(home.file("files")).expect("the home can be written to");
        std::fs::write(home.file("files/hello.txt"), "hello from a file\n")
            .expect("the home can be written to");
        std::fs::write(home.file("files/page.html"), "<h1>Hello</h1><p>a page of this test</p>")
            .expect("the home can be written to");
        let repository = home.file("repository");
        for arguments in [
            &["init", "--quiet", "repository"][..],
            &["-C", "repository", "-c", "user.name=Ada", "-c", "user.email=ada@example.com"],
        ] {
            let mut git = home.command("git");
            git.args(arguments);
            if arguments[0] == "-C" {
                git.args(["commit", "--quiet", "--allow-empty", "-m", "first entry"]);
            }
            assert!(git.status().await.expect("git can be started").success(), "git {arguments:?}");
        }
        let (web, page) = serve_files(&home).await;
        let script = |name: &str| installed(&format!("node_modules/.bin/{name}"));
        let python = |name: &str| installed(&format!("python/bin/{name}"));
        let mut servers = json!({
            "everything": { "command": script("mcp-server-everything"), "args": ["stdio"] },
            "filesystem": { "command": script("mcp-server-filesystem"), "args": [home.file("files")] },
            "memory": { "command": script("mcp-server-memory"),
                        "env": { "MEMORY_FILE_PATH": home.file("memory.jsonl") } },
            "sequential-thinking": { "command": script("mcp-server-sequential-thinking") },
            "git": { "command": python("mcp-server-git"), "args": ["--repository", repository] },
            "time": { "command": python("mcp-server-time"), "args": ["--local-timezone", "UTC"] },
            "fetch": { "command": python("mcp-server-fetch"), "args": ["--ignore-robots-txt", "--allow-private-ips"] },
        });
        // Some need seconds of a processor before they answer, and a busy machine has none to spare.
        for entry in servers.as_object_mut().into_iter().flat_map(|servers| servers.values_mut()) {
            entry["discoveryTimeout"] = json!("3m");
        }
        home.write_config(&json!({ "mcpServers": servers }));
        Self { home, page, _web: web }
    }

    /// Starts a hub and waits until it knows the tools of all servers.
    pub(crate) async fn open(&self) -> Hub<'_> {
        let hub = self.home.start_hub().await;
        let client = hub.client("first").await;
        for tool_path in ONE_OF_EACH {
            eventually(&format!("{tool_path} is found"), async || {
                client.paths(tool_path).await.iter().any(|path| path == tool_path).then_some(())
            })
            .await;
        }
        hub
    }
}

/// A file of the installation, which must exist.
pub(crate) fn installed(name: &str) -> PathBuf {
    let path = target_directory().join("real").join(name);
    assert!(path.exists(), "{} is not installed: run `make test`", path.display());
    path
}

/// The Node that every client here supports: the pinned one if it exists for this computer.
pub(crate) fn node() -> PathBuf {
    let pinned = ["x64", "arm64"].map(|cpu| format!("real/node_modules/node-linux-{cpu}/bin/node"));
    let mut pinned = pinned.iter().map(|path| target_directory().join(path));
    pinned.find(|path| path.exists()).unwrap_or_else(|| "node".into())
}

/// The negotiated revision of a client, from the hub's own history; also printed.
pub(crate) async fn negotiated(home: &Home, client: &str) -> String {
    let session = eventually(&format!("{client} is in the history"), async || {
        let history = home.satchel(&["history", "--client", client, "--json"]).await.json();
        history["sessions"].as_array().and_then(|sessions| sessions.first()).cloned()
    })
    .await;
    let text = |key: &str| session[key].as_str().unwrap_or_default().to_owned();
    println!("{client}: {} speaks {}", text("program"), text("era"));
    text("era")
}

/// The value of the `Authorization` header, for clients that want it alone.
pub(crate) fn authorization(connection: &Connection) -> &str {
    let mut headers = connection.headers.iter();
    let (_, value) =
        headers.find(|(name, _)| name.eq_ignore_ascii_case("authorization")).expect("a token is given");
    value
}

/// A web server for the files of this home, and the address of its page.
async fn serve_files(home: &Home) -> (Child, String) {
    let mut command = home.command(installed("python/bin/python"));
    command
        .args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory"])
        .arg(home.file("files"));
    let mut web =
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("python can be started");
    let stdout = web.stdout.take().expect("its standard output is a pipe");
    let line = BufReader::new(stdout).lines().next_line().await.ok().flatten();
    let line = line.expect("python's web server says where it listens");
    let port = line.split("port ").nth(1).and_then(|rest| rest.split(' ').next());
    let port = port.unwrap_or_else(|| panic!("no port in {line}")).to_owned();
    (web, format!("http://127.0.0.1:{port}/page.html"))
}
