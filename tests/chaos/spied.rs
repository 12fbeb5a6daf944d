//! S10: a hub that looks at hostile files under the eyes of a spy on its system calls: before a person says yes nothing is
//! started, looked up, connected to or opened elsewhere, and nothing is waited for.

use std::{fs, os::unix::fs::symlink, path::Path, time::Duration};

use satchel_tests::{Home, eventually, program};
use serde_json::{Value, json};

use crate::{arena::Arena, control::Control, edited::hostile, measured, random};

/// The system calls that are traced.
const SPIED: &str = "trace=execve,execveat,connect,socket,openat,open,openat2";
/// Maximum time for one review.
const PATIENCE: Duration = Duration::from_secs(60);

/// Traced calls that looking at a file does not need: programs, connections, name lookups, network paths.
fn acts(spied: &str) -> Vec<&str> {
    let names = ["resolv.conf", "nsswitch.conf", "/etc/hosts", "/etc/gai.conf", "/etc/passwd"];
    let is_act = |line: &&str| {
        let call = line.split_once(' ').map_or(*line, |(_, rest)| rest.trim_start());
        let path = line.split('"').nth(1).unwrap_or_default();
        call.starts_with("exec")
            || call.starts_with("connect")
            || call.starts_with("socket(AF_INET")
            || call.starts_with("open")
                && (path.starts_with("\\\\") || names.iter().any(|name| path.contains(name)))
    };
    spied.lines().filter(is_act).collect()
}

/// Puts something that is not a readable file in its place. Returns its name, for messages.
fn odd(number: usize, file: &Path, home: &Home) -> &'static str {
    let linked = |to: &Path| symlink(to, file).expect("a link can be made");
    match number % 8 {
        0 => {
            let made = std::process::Command::new("mkfifo").arg(file).status();
            assert!(made.is_ok_and(|made| made.success()), "mkfifo runs");
            "a pipe"
        }
        1 => {
            linked(Path::new("/dev/zero"));
            "a device that never ends"
        }
        2 => {
            fs::create_dir(file).expect("the home can be written to");
            "a directory"
        }
        3 => {
            linked(file);
            "a link to itself"
        }
        4 => {
            let large = fs::File::create(file).and_then(|file| file.set_len(100 << 30));
            large.expect("a file of holes can be made");
            "a hundred gigabytes of nothing"
        }
        5 => {
            linked(Path::new("/proc/self/mem"));
            "somebody's memory"
        }
        6 => {
            drop(std::os::unix::net::UnixListener::bind(file).expect("a socket can be made"));
            "a socket"
        }
        _ => {
            let pipe = home.file("pipe");
            let _ = fs::remove_file(&pipe);
            let _ = std::process::Command::new("mkfifo").arg(&pipe).status();
            linked(&pipe);
            "a link to a pipe"
        }
    }
}

fn clear(file: &Path) {
    let _ = fs::remove_file(file);
    let _ = fs::remove_dir(file);
}

#[tokio::test]
async fn before_approval_no_request_leaves_the_hub() {
    const FILES: usize = 200;
    let arena = Arena::new().await;
    let home = &arena.home;
    home.write_config(&json!({ "mcpServers": {} }));
    let (spied, satchel) = (home.file("spied"), program("satchel"));
    let spy = ["-f", "-qqq", "-s", "4096", "-e", SPIED, "-o", spied.to_str().expect("it is plain"), "--"];
    let served = [satchel.to_str().expect("it is plain"), "serve", "--port", "0", "--json", "--trust-config"];
    let hub = arena.launch(Path::new("strace"), &[&spy[..], &served].concat(), |_| {}).await;
    let control = Control::of(home);
    let place = home.path().to_str().expect("it is plain").to_owned();
    let request = |method: &str, more: Value| {
        let mut request = json!({ "do": method, "environment": { "HOME": place } });
        for (key, value) in more.as_object().into_iter().flatten() {
            request[key] = value.clone();
        }
        request
    };
    let ask = async |request: Value, about: &str| {
        let asked = tokio::time::timeout(PATIENCE, control.request(request)).await;
        asked.unwrap_or_else(|_| panic!("{about} is waited for")).expect("the hub runs")
    };
    // The first look has one-time costs that no file causes.
    ask(request("list_clients", json!({})), "nothing").await;
    let before = fs::read_to_string(&spied).expect("the spy writes").len();

    let (seed, mut random) = random();
    let files = [
        home.file("project/.cursor/mcp.json"),
        home.file(".cursor/mcp.json"),
        home.file(".codex/config.toml"),
    ];
    for file in &files {
        fs::create_dir_all(file.parent().expect("it has one")).expect("the home can be written to");
    }
    let canary = home.file("canary");
    let canary = canary.to_str().expect("it is plain");
    let everywhere = json!({ "from": { "everywhere": { "project": home.file("project") } } });
    let mut servers = 0;
    for number in 0..FILES {
        let mut kind = "a text";
        for (at, file) in files.iter().enumerate() {
            clear(file);
            if number % 4 == 3 && at == number / 4 % files.len() {
                kind = odd(number / 4, file, home);
                continue;
            }
            // Names to look up, beside addresses.
            let url =
                if number % 2 == 0 { "http://look-me-up.invalid/mcp" } else { "https://127.0.0.1:9/mcp" };
            fs::write(file, hostile(number + at, canary, url, &mut random))
                .expect("the home can be written to");
        }
        let found = ask(request("find_servers", everywhere.clone()), kind).await;
        servers += found["servers"].as_array().map_or(0, Vec::len);
        ask(request("list_clients", json!({})), kind).await;
    }
    // A file of the user's choice, and the hub's own file, which it watches.
    for number in 0..8 {
        for name in ["chosen.json", "chosen.mcpb"] {
            let file = home.file(name);
            clear(&file);
            let kind = odd(number, &file, home);
            let words = ["import", "--dry-run", file.to_str().expect("it is plain")];
            let found = tokio::time::timeout(PATIENCE, home.satchel(&words)).await;
            let found = found.unwrap_or_else(|_| panic!("{kind} is waited for"));
            // If there is no file, its name is taken as pasted text.
            let there = !matches!(kind, "a directory" | "a link to itself");
            assert!(!there || found.code == Some(1) && found.stdout.is_empty(), "{kind}: {found:?}");
        }
        let own = home.file("config.json");
        fs::rename(&own, home.file("kept.json")).expect("the home can be written to");
        let kind = odd(number, &own, home);
        ask(json!({ "do": "status" }), kind).await;
        let refused = tokio::time::timeout(PATIENCE, home.satchel(&["add", "x", "--", "x"]));
        refused.await.unwrap_or_else(|_| panic!("{kind} is waited for"));
        clear(&own);
        fs::rename(home.file("kept.json"), &own).expect("the home can be written to");
    }
    let text = fs::read_to_string(&spied).expect("the spy writes");
    let seen = acts(&text[before..]);
    measured!(
        "{FILES} times three files, seed {seed}: {servers} servers shown, {} calls spied, acts {}",
        text[before..].lines().count(),
        seen.len()
    );
    assert!(servers > FILES && !Path::new(canary).exists());
    assert_eq!(seen, Vec::<&str>::new());

    // Once approved, the same trace shows all of it.
    let yes = fs::read_to_string(&spied).expect("the spy writes").len();
    home.satchel(&["add", "starts", "--", "touch", canary]).await.succeeded();
    home.satchel(&["add", "calls", "--url", "http://look-me-up.invalid/mcp"]).await.succeeded();
    home.satchel(&["add", "reaches", "--url", "http://127.0.0.1:9/mcp"]).await.succeeded();
    eventually("the spy sees what is done", async || {
        let text = fs::read_to_string(&spied).ok()?;
        let seen = acts(text.get(yes..)?).join("\n");
        ["exec", "connect", "resolv.conf"].iter().all(|act| seen.contains(act)).then_some(())
    })
    .await;
    drop(hub);
}
