//! A hub and its servers on Windows: started, called, stopped, killed.

use std::{
    fs,
    io::{BufRead, Read, Write},
    net::TcpStream,
    path::Path,
};

use serde_json::{Value, json};

use crate::{
    Case,
    home::{Home, Hub, eventually, is_good},
};

pub(crate) const CASES: &[Case] = &[
    ("it starts again after quit and after a kill", starts_again),
    ("the endpoint answers from outside, and only with a token", endpoint_answers),
    ("a server is found by its name in a search path called Path", found_by_name),
    ("a batch file is started with its arguments as they are", batch_file),
    ("an idle server is stopped and started again by the next call", idle_stop),
    ("a killed hub leaves no process, helpers of servers included", killed_hub),
    ("the end of a server is seen while its helper goes on", helper_goes_on),
    ("a bridge starts the hub, which outlives it", bridge),
    ("without a home of its own it lives in AppData", app_data),
    ("credentials of any size are kept in the Credential Manager", credentials),
];

fn starts_again(home: &Home) {
    let called = || {
        let said = home.does(&["call", "toolbox:hash_text", r#"{"text": "a"}"#]);
        assert!(said.contains("ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"), "{said}");
    };
    let hub = home.serve(&[]);
    called();
    assert!(home.does(&["status"]).contains("toolbox"));
    assert!(home.does(&["doctor"]).contains("toolbox"));
    hub.quit(home);
    home.has_no("satchel.exe");
    let hub = home.serve(&[]);
    called();
    let pipe = home.pipe();
    hub.kill();
    home.has_no("satchel.exe serve");
    home.has_no("satchel.exe toolbox");
    let hub = home.serve(&[]);
    called();
    assert_ne!(home.pipe(), pipe, "nobody can know the name beforehand");
    hub.quit(home);
}

fn endpoint_answers(home: &Home) {
    let hub = home.serve(&[]);
    let address = hub.url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
    let address = address.expect("it is an address of this computer");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("it listens");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    hub.quit(home);
}

fn found_by_name(home: &Home) {
    let path = format!("C:\\windows\\system32;{}", home.programs());
    let hub = home.serve_with_path(&path, &[]);
    let odd = ["two words", "ünï 日本", "a\"b", "50%", "c:\\x\\", ""];
    home.does(&[&["add", "mine", "--", "my-server"], &odd[..]].concat());
    let around = home.around("mine");
    assert_eq!(around["arguments"], json!(odd));
    let variables = around["variables"].as_object().expect("they are an object");
    let named = |name: &str| variables.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
    let value = |name: &str| named(name).and_then(|(_, value)| value.as_str()).unwrap_or_default();
    assert!(value("Path").contains(&home.programs()), "{around}");
    assert_eq!(variables.keys().filter(|name| name.eq_ignore_ascii_case("path")).count(), 1, "{around}");
    for name in ["SystemRoot", "PROCESSOR_ARCHITECTURE", "NUMBER_OF_PROCESSORS", "USERPROFILE", "TEMP"] {
        assert!(named(name).is_some(), "{name}: {around}");
    }
    assert!(named("SATCHEL_HOME").is_none(), "{around}");
    assert_eq!(around["directory"], value("USERPROFILE"), "a server begins at home");
    hub.quit(home);
    home.has_no("my-server");
}

fn batch_file(home: &Home) {
    let (programs, server) = (home.dir.join("Program Files (ä)"), "my-server.exe");
    fs::write(programs.join("shim.cmd"), format!("@echo off\r\n\"%~dp0{server}\" %*\r\n"))
        .expect("it is written");
    let hub = home.serve_with_path(&format!("C:\\windows\\system32;{}", home.programs()), &[]);
    let words = ["two words", "ünï 日本", "a&b|c^d", "--x=(1)"];
    home.does(&[&["add", "shim", "--", "shim"], &words[..]].concat());
    assert_eq!(home.around("shim")["arguments"], json!(words));
    hub.quit(home);
    home.has_no("my-server");
}

/// A hub with one server that its configuration names.
pub(crate) fn configured(home: &Home, settings: &Value) -> Hub {
    let mut entry = json!({"command": home.server(), "args": []});
    let (Value::Object(entry), Value::Object(settings)) = (&mut entry, settings) else { unreachable!() };
    entry.extend(settings.clone());
    let config = json!({"mcpServers": {"mine": entry}}).to_string();
    let directory = home.dir.join("däta here");
    fs::create_dir_all(&directory).expect("a directory can be made");
    fs::write(directory.join("config.json"), config).expect("it is written");
    home.serve(&["--trust-config"])
}

fn idle_stop(home: &Home) {
    let hub = configured(home, &json!({"idleTimeout": "1s"}));
    home.around("mine");
    home.has_no("my-server");
    home.around("mine");
    hub.quit(home);
}

fn killed_hub(home: &Home) {
    let hub = configured(home, &json!({}));
    home.calls("mine:helper");
    eventually("a server and its helper run", || (home.processes("my-server").len() == 2).then_some(()));
    hub.kill();
    home.has_no("my-server");
}

fn helper_goes_on(home: &Home) {
    let hub = configured(home, &json!({}));
    home.calls("mine:helper");
    let crashed = home.satchel(&["call", "mine:crash", "{}"]);
    assert!(!crashed.ok && crashed.err.contains("exit code 3"), "{crashed:?}");
    home.around("mine");
    hub.quit(home);
    home.has_no("my-server");
}

fn bridge(home: &Home) {
    let (mut child, mut stdout) = home.bridge("cursor");
    let mut stdin = child.stdin.take().expect("it is piped");
    let mut ask = |id: u32, method: &str, params: Value| -> Value {
        writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .expect("it reads");
        loop {
            let mut line = String::new();
            assert!(stdout.read_line(&mut line).expect("it is text") > 0, "the bridge ended");
            let message: Value = serde_json::from_str(&line).expect("it is JSON");
            if message["id"] == id {
                return message;
            }
        }
    };
    let about = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let hello = ask(1, "initialize", about);
    assert!(hello["result"]["serverInfo"]["name"].is_string(), "{hello}");
    let tools = ask(2, "tools/list", json!({}));
    assert!(tools["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{tools}");
    drop(stdin);
    let status = eventually("the bridge ends", || child.try_wait().expect("it can be waited for"));
    assert!(is_good(status, ""), "the bridge ended with {status}");
    assert!(home.does(&["status"]).contains("The hub listens"), "the hub goes on");
    home.does(&["quit"]);
    home.has_no("satchel.exe");
}

fn app_data(home: &Home) {
    home.data.borrow_mut().clear();
    let users = home.prefix.join("drive_c/users");
    let user = std::env::var("USER").unwrap_or_else(|_| "root".to_owned());
    let (roaming, local) =
        (users.join(&user).join("AppData/Roaming"), users.join(&user).join("AppData/Local"));
    let clear = || {
        for dir in [&roaming, &local] {
            let _ = fs::remove_dir_all(dir.join("satchel"));
        }
    };
    clear();
    let hub = home.serve(&[]);
    let config = roaming.join("satchel/config/config.json");
    assert!(config.is_file(), "{} is missing", config.display());
    assert!(local.join("satchel/data/hub.json").is_file());
    hub.quit(home);
    clear();
}

fn credentials(home: &Home) {
    let long = format!("ünï-{}", "0123456789".repeat(1_500));
    let values = [("SHORT", "k3y-öf-mine"), ("LONG", long.as_str())];
    let env = values.map(|(name, _)| (name.to_owned(), Value::from(format!("${{secret:W_{name}}}"))));
    let hub = configured(home, &json!({"env": serde_json::Map::from_iter(env)}));
    for (name, value) in values {
        let stored = home.satchel_told(value, &["secrets", "set", &format!("W_{name}")]);
        assert!(stored.ok, "{stored:?}");
    }
    let around = home.around("mine");
    for (name, value) in values {
        assert_eq!(around["variables"][name], value);
    }
    hub.quit(home);
    for (_, value) in values {
        assert!(!holds(&home.dir.join("däta here"), value.as_bytes()), "a value lies in a plain file");
    }
    // Another process reads the stored value, and deletes it.
    let hub = home.serve(&["--trust-config"]);
    assert_eq!(home.around("mine")["variables"]["LONG"], long);
    for (name, _) in values {
        home.does(&["secrets", "rm", &format!("W_{name}")]);
    }
    home.does(&["restart", "mine"]);
    let missing = home.satchel(&["call", "mine:around", "{}"]);
    assert!(!missing.ok && missing.err.contains("W_LONG"), "{missing:?}");
    hub.quit(home);
}

fn holds(directory: &Path, wanted: &[u8]) -> bool {
    fs::read_dir(directory).into_iter().flatten().flatten().any(|entry| match entry.path() {
        path if path.is_dir() => holds(&path, wanted),
        path => fs::read(path).is_ok_and(|bytes| bytes.windows(wanted.len()).any(|part| part == wanted)),
    })
}
