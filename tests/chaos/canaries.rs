//! S20 and S21: what is secret is found nowhere but where it belongs, in none of eight spellings, after everything went
//! well and after much went wrong. And a server's environment has what it was given, and nothing of the hub's own.

use satchel_tests::{Client, Home, Hub, eventually};
use serde_json::{Value, json};

use crate::{
    arena::{Arena, Chaos, known, run_fixture},
    measured,
};

/// Each is improbable enough to be found only where it was put.
fn canary(name: &str) -> String {
    format!("canary-{name}-Zq7~{}-/+=", "k4Xw9".repeat(3))
}

/// Scans files, command lines and texts.
async fn scan(canaries: &[String], arguments: &[&str]) -> Value {
    let mut all: Vec<&str> = vec!["--json"];
    canaries.iter().for_each(|canary| all.extend(["--canary", canary]));
    all.extend(arguments);
    let (_, said) = run_fixture("canary_scan.py", &all).await;
    let line = said.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{said}"));
    serde_json::from_str(line).expect("it says what it found as JSON")
}

async fn told(home: &Home, hub: &Hub<'_>) -> String {
    let mut said = vec![hub.status().await.to_string()];
    for words in [
        &["history", "--json"][..],
        &["stats", "--json"],
        &["clients", "--json"],
        &["approvals", "--json"],
        &["asks", "--json"],
        &["secrets", "list", "--json"],
        &["list", "--json"],
        &["tools", "--json"],
        &["status", "--debug", "--json"],
        &["logs", "env", "--json"],
        &["logs", "dying", "--json"],
        &["doctor", "--json"],
    ] {
        let ran = home.satchel(words).await;
        said.push(ran.stdout);
        said.push(ran.stderr);
    }
    said.join("\n")
}

#[tokio::test]
async fn fourteen_secrets_are_found_nowhere_in_eight_spellings() {
    let names = [
        "environment",
        "header",
        "query",
        "userinfo",
        "dying",
        "argument",
        "result",
        "error",
        "client-token",
        "import",
        "passphrase",
        "hub-own",
        "form",
        "proxy",
    ];
    let mut secrets: Vec<(&str, String)> = names.iter().map(|name| (*name, canary(name))).collect();
    // Percent-encoded for an address.
    for (_, value) in secrets.iter_mut().filter(|(name, _)| *name == "proxy") {
        value.truncate(value.trim_end_matches(['-', '/', '+', '=']).len());
    }
    let of = |secrets: &[(&str, String)], name: &str| {
        secrets.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone()).expect("it is one")
    };
    let mut arena = Arena::new().await;
    let hosted = arena.host().await;
    arena.add("env", Chaos::new().env("CHAOS_CANARY_ENV", "${secret:ENVIRONMENT}"));
    // It exits at once, and prints its secret to standard error.
    let script = "import os,sys; sys.stderr.write(os.environ['CHAOS_CANARY_DYING']+'\\n'); sys.exit(3)";
    arena.add_entry(
        "dying",
        json!({ "command": crate::arena::python(), "args": ["-c", script], "env": { "CHAOS_CANARY_DYING": "${secret:DYING}" } }),
    );
    let mut far = hosted.entry("good");
    far["headers"] = json!({ "X-Key": "${secret:HEADER}" });
    arena.add_entry("far", far);
    arena.add_entry("nowhere", json!({ "url": "http://127.0.0.1:9/mcp?key=${secret:QUERY}" }));
    arena.add_entry("named", json!({ "url": "http://user:${secret:USERINFO}@127.0.0.1:9/mcp" }));
    arena.add_entry("behind", json!({ "url": "https://nowhere.invalid/mcp", "requestTimeout": 5 }));
    arena.add("asking", Chaos::mode("elicit_mid_call").with("wait", 60).field("requestTimeout", json!(60)));
    arena.configure();

    let proxy = format!("http://user:{}@127.0.0.1:9", of(&secrets, "proxy"));
    let own = of(&secrets, "hub-own");
    let hub = arena.home.start_hub_with(&[("HTTPS_PROXY", &proxy), ("SOME_API_KEY", &own)]).await;
    let home = &arena.home;
    let passphrase = of(&secrets, "passphrase");
    home.satchel_reading(&["secrets", "use-file"], &format!("{passphrase}\n")).await.succeeded();
    for (name, secret) in [
        ("ENVIRONMENT", "environment"),
        ("DYING", "dying"),
        ("HEADER", "header"),
        ("QUERY", "query"),
        ("USERINFO", "userinfo"),
    ] {
        let value = of(&secrets, secret);
        home.satchel_reading(&["secrets", "set", name], &format!("{value}\n")).await.succeeded();
    }
    // A client's token is another secret, made by the hub.
    let connection = hub.connection("one").await;
    let token = connection.headers["Authorization"].trim_start_matches("Bearer ").to_owned();
    for (name, value) in &mut secrets {
        if *name == "client-token" {
            value.clone_from(&token);
        }
    }
    known(home, &["env".to_owned()]).await;
    let client = Client::open(&connection, "2025-11-25").await;
    // The server gets its secrets, prints them, fails with them.
    let echoed = client.execute("env:secret_echo", json!({ "name": "CHAOS_CANARY_ENV" })).await.text();
    assert!(echoed.contains(&of(&secrets, "environment")), "the server has what it was given: {echoed}");
    let result = of(&secrets, "result");
    client.execute("env:echo", json!({ "text": result })).await.text();
    let argument = of(&secrets, "argument");
    let _ = client.execute("env:add", json!({ "a": argument, "b": [argument] })).await;
    let error = of(&secrets, "error");
    let _ = client.execute("env:echo", json!({ "wrong": error })).await;
    let _ = client.execute("env:no_such_tool", json!({ "x": error })).await;
    for path in ["dying:x", "nowhere:x", "named:x", "behind:x", "far:echo"] {
        let _ = client.execute(path, json!({ "text": "x" })).await;
    }
    // What a person types into a server's form goes to the server, and is not stored.
    let calling = {
        let client = client.clone();
        #[expect(clippy::disallowed_methods, reason = "the test waits for it")]
        tokio::spawn(async move { client.execute("asking:echo", json!({ "text": "x" })).await })
    };
    let ask = eventually("it is asked", async || {
        home.satchel(&["asks", "--json"]).await.json()["asks"].get(0).map(|ask| ask["id"].to_string())
    })
    .await;
    let form = json!({ "name": of(&secrets, "form") }).to_string();
    eventually("the answer is taken once the question could be read", async || {
        (home.satchel_agreeing(&["answer", &ask, "yes", &form]).await.code == Some(0)).then_some(())
    })
    .await;
    let _ = calling.await.expect("no panic");
    // Another program's file has one in plain text; it moves into the store.
    let import = of(&secrets, "import");
    let block = json!({ "mcpServers": { "taken": { "command": "npx", "args": ["-y", "x"], "env": { "API_KEY": import } } } });
    home.satchel(&["import", &block.to_string()]).await.succeeded();
    assert!(home.config_text().contains("${secret:"), "{}", home.config_text());
    eventually("the calls are written down", async || {
        let history = home.satchel(&["history", "--json"]).await.json();
        (history["calls"].as_array().map_or(0, Vec::len) >= 6).then_some(())
    })
    .await;

    let values: Vec<String> = secrets.iter().map(|(_, value)| value.clone()).collect();
    let shown = home.file("shown.txt");
    std::fs::write(&shown, told(home, &hub).await).expect("the home can be written to");
    let pids: Vec<String> = home.processes().iter().map(|process| process.pid.to_string()).collect();
    let mut arguments = vec!["--path", home.path().to_str().expect("it is plain"), "--environ-ok"];
    pids.iter().for_each(|pid| arguments.extend(["--pid", pid]));
    // Files that the fixture itself writes.
    let ledgers = ["*/hosted.jsonl", "*/sink.jsonl"];
    ledgers.iter().for_each(|ledger| arguments.extend(["--allow", ledger]));
    let found = scan(&values, &arguments).await;
    measured!(
        "{} secrets, {} files, {} bytes, hits {}",
        values.len(),
        found["files"],
        found["bytes"],
        found["hits"]
    );
    assert_eq!(found["hits"], json!([]), "{found}");
    assert_eq!(values.len(), 14);
    hub.terminate().await;
    let mut arguments = vec!["--path", home.path().to_str().expect("it is plain")];
    ledgers.iter().for_each(|ledger| arguments.extend(["--allow", ledger]));
    let found = scan(&values, &arguments).await;
    assert_eq!(found["hits"], json!([]), "after the end: {found}");
    // The scan itself: a planted secret is found, in each spelling.
    let planted = home.file("planted.txt");
    for (form, text) in [
        ("plain", values[0].clone()),
        ("hex", values[0].bytes().map(|byte| format!("{byte:02x}")).collect()),
        ("reversed", values[0].chars().rev().collect()),
    ] {
        std::fs::write(&planted, format!("before {text} after")).expect("the home can be written to");
        let found = scan(&values, &["--path", planted.to_str().expect("it is plain")]).await;
        assert!(found["hits"].to_string().contains(form), "{form}: {found}");
    }
}

/// S23: nothing that crashes leaves a core dump.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn neither_the_hub_nor_a_server_would_leave_a_core() {
    let limit = |pid: u32| {
        let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).expect("it runs");
        let line = limits.lines().find(|line| line.starts_with("Max core file size")).expect("it has one");
        line.split_whitespace().nth(4).expect("with a value").to_owned()
    };
    let mut arena = Arena::new().await;
    arena.add("one", Chaos::new());
    arena.configure();
    // As if the user had enabled core dumps, as far as we may set it.
    let wanting = format!(
        "ulimit -S -c hard; exec {} serve --port 0 --json --trust-config",
        satchel_tests::program("satchel").display()
    );
    let hub = arena.launch(std::path::Path::new("sh"), &["-c", &wanting], |_| {}).await;
    known(&arena.home, &["one".to_owned()]).await;
    let status = crate::control::Control::of(&arena.home)
        .request(json!({ "do": "status" }))
        .await
        .expect("the hub runs");
    let server = u32::try_from(status["servers"][0]["pid"].as_u64().expect("it runs")).expect("it is small");
    measured!(
        "core files: hub {}, server {}, this test {}",
        limit(hub.pid),
        limit(server),
        limit(std::process::id())
    );
    assert_eq!((limit(hub.pid), limit(server)), ("0".to_owned(), "0".to_owned()));
}

#[tokio::test]
async fn a_server_is_given_its_own_environment_and_nothing_of_the_hubs() {
    let mut arena = Arena::new().await;
    arena.add("env", Chaos::new().env("MINE", "x"));
    arena.add("other", Chaos::new().env("THEIRS", "y"));
    arena.configure();
    let secret = "canary-of-the-hubs-own-environment";
    let launched = arena
        .launch(
            &satchel_tests::program("satchel"),
            &["serve", "--port", "0", "--json", "--trust-config"],
            |command| {
                for name in [
                    "GITHUB_TOKEN",
                    "AWS_SECRET_ACCESS_KEY",
                    "OPENAI_API_KEY",
                    "SATCHEL_LOG_X",
                    "DATABASE_URL",
                    "NPM_TOKEN",
                ] {
                    command.env(name, secret);
                }
            },
        )
        .await;
    let control = crate::control::Control::of(&arena.home);
    known(&arena.home, &["env".to_owned(), "other".to_owned()]).await;
    let called = json!({ "do": "call", "tool_path": "env:env_names", "arguments": {} });
    let answer = control.request(called).await.expect("the hub runs");
    let environment =
        answer["structuredContent"]["env"].as_object().expect("it says its environment").clone();
    let allowed = [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TERM",
        "TMPDIR",
        "TEMP",
        "TMP",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XAUTHORITY",
        "DBUS_SESSION_BUS_ADDRESS",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "all_proxy",
        "MINE",
        crate::arena::MARK,
        "CHAOS_MAX_LIFE_S",
        "SATCHEL_TREE",
        "SATCHEL_RUN",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONPYCACHEPREFIX",
        "LC_CTYPE",
        // Needed on macOS and Windows, and to find certificates.
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "NODE_EXTRA_CA_CERTS",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "AWS_CA_BUNDLE",
        "GIT_SSL_CAINFO",
        "NIX_SSL_CERT_FILE",
    ];
    let foreign: Vec<&String> = environment
        .keys()
        .filter(|name| {
            !allowed.contains(&name.as_str()) && !name.starts_with("XDG_") && !name.starts_with("LC_")
        })
        .collect();
    measured!("{} variables reach a server: {:?}", environment.len(), environment.keys());
    assert!(foreign.is_empty(), "{foreign:?}");
    assert!(environment.contains_key("MINE") && !environment.contains_key("THEIRS"));
    let called = json!({ "do": "call", "tool_path": "env:whoami", "arguments": {} });
    let answer = control.request(called).await.expect("the hub runs");
    let who = &answer["structuredContent"];
    let open: Vec<i64> =
        who["fds"].as_array().into_iter().flatten().filter_map(|fd| fd[0].as_i64()).collect();
    measured!("descriptors of a server: {open:?}");
    assert!(open.starts_with(&[0, 1, 2]), "{who}");
    assert_eq!(open.len(), 3, "{who}");
    drop(launched);
}
