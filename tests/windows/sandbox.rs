//! Sandboxes on Windows, which has none of its own: refused where no container is named, or no engine is installed; otherwise an
//! engine is started with Windows' paths and arguments. The engine is our server under its name, which writes its arguments down.

use std::fs;

use serde_json::{Value, json};

use crate::{
    Case,
    cases::configured,
    home::{Home, Hub, eventually},
};

pub(crate) const CASES: &[Case] = &[
    ("a sandbox is refused where there is none of the system's own", refused),
    ("a container has Windows' directories and ends by its name", contained),
];

const IMAGE: &str = "localhost/fake@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn refused(home: &Home) {
    let said = |settings: Value| {
        let hub = configured(home, &settings);
        let called = home.satchel(&["call", "mine:around", "{}"]);
        assert!(!called.ok, "it runs outside of its sandbox: {called:?}");
        assert!(home.processes("my-server").is_empty(), "nothing was started");
        hub.quit(home);
        called.err
    };
    let own = said(json!({"sandbox": {}}));
    assert!(own.contains("this system has no sandbox of its own; name a \"container\" in it"), "{own}");
    let without = said(json!({"sandbox": {"container": IMAGE}}));
    assert!(without.contains("neither podman nor docker is installed"), "{without}");
}

/// A hub that finds podman on its search path, and one server that is to run in a container.
fn with_an_engine(home: &Home) -> Hub {
    let directory = home.dir.join("Program Files (ä)");
    fs::copy(directory.join("my-server.exe"), directory.join("podman.exe")).expect("it can be copied");
    let sandbox = json!({"container": IMAGE, "write": ["C:\\windows\\temp"], "read": ["~/notes"]});
    let entry = json!({
        "command": "inside", "args": ["two words", "ünï 日本", "a\"b"], "env": {"TOKEN": "canary"}, "sandbox": sandbox
    });
    let config = json!({"mcpServers": {"mine": entry}}).to_string();
    let data = home.dir.join("däta here");
    fs::create_dir_all(&data).expect("a directory can be made");
    fs::write(data.join("config.json"), config).expect("it is written");
    home.serve_with_path(&format!("C:\\windows\\system32;{}", home.programs()), &["--trust-config"])
}

/// The words of every start of the engine.
fn told(home: &Home) -> Vec<Vec<String>> {
    let log = home.dir.join("Program Files (ä)").join("podman.log");
    let log = fs::read_to_string(log).unwrap_or_default();
    log.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

fn contained(home: &Home) {
    let hub = with_an_engine(home);
    let around = home.around("mine");
    assert_eq!(around["variables"]["TOKEN"], "canary", "the engine's client has the server's variables");
    let told = self::told(home);
    let run = told.iter().find(|words| words[0] == "run").expect("it was started");
    let has = |words: &[&str]| run.windows(words.len()).any(|part| part == words);
    assert!(has(&["--network", "none"]) && has(&["--read-only"]) && has(&["--env", "TOKEN"]), "{run:?}");
    assert!(has(&["--mount", "type=bind,source=C:\\windows\\temp,target=/c/windows/temp"]), "{run:?}");
    let notes = run.iter().find(|word| word.ends_with(",readonly")).expect("notes can be read");
    assert!(notes.contains("source=C:\\users\\") && notes.contains("target=/c/users/"), "{notes}");
    assert!(has(&[IMAGE, "inside", "two words", "ünï 日本", "a\"b"]), "{run:?}");
    assert!(!run.iter().any(|word| word.contains("canary")), "no value is among its arguments: {run:?}");
    assert!(!has(&["--user"]) && !run.iter().any(|word| word.starts_with("--user")), "{run:?}");
    let name = run.iter().skip_while(|word| *word != "--name").nth(1).expect("it has a name").clone();
    home.does(&["disable", "mine"]);
    eventually("the container is ended by its name", || {
        self::told(home).contains(&vec!["kill".to_owned(), name.clone()]).then_some(())
    });
    hub.quit(home);
    home.has_no("podman.exe");
}
