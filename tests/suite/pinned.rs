//! An entry that runs whichever version is newest: `satchel pin` has it run one, and another one than before is told. One
//! version with other contents than before is run by nobody, pinned or not.

use std::{fs, os::unix::fs::PermissionsExt};

use satchel_tests::{Client, Fake, Home, Hub, eventually, program};
use serde_json::{Value, json};

use crate::offered;

#[tokio::test]
async fn what_floats_is_pinned_to_what_was_fetched_last() {
    let home = Home::empty();
    let npx = |args: serde_json::Value| json!({ "command": "npx", "args": args, "env": { "API_KEY": "s3cr3t-value" } });
    home.write_config(&json!({ "mcpServers": {
        "floats": npx(json!(["-y", "@scope/server", "--port", "3"])),
        "exact": npx(json!(["-y", "@scope/server@1.0.0"])),
        "unknown": npx(json!(["-y", "other"])),
    } }));
    let write = |path: &str, text: &str| {
        let path = home.file(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("the home can be written to");
        fs::write(path, text).expect("the home can be written to");
    };
    write(".npm/_npx/ab12/package.json", r#"{"_npx":{"packages":["@scope/server"]}}"#);
    let came = r#"{"packages":{"node_modules/@scope/server":{"version":"1.2.3"}}}"#;
    write(".npm/_npx/ab12/node_modules/.package-lock.json", came);
    let _hub = home.start_hub().await;

    let pinned = home.satchel(&["pin", "floats"]).await;
    assert!(pinned.succeeded().stdout.contains("runs 1.2.3 of @scope/server"), "{pinned:?}");
    let entry = &home.config()["mcpServers"]["floats"];
    assert_eq!(*entry, npx(json!(["-y", "@scope/server@1.2.3", "--port", "3"])));
    let again = home.satchel(&["pin", "floats"]).await;
    assert!(again.failed_with(1).stderr.contains("exactly already"), "{again:?}");
    let exact = home.satchel(&["pin", "exact"]).await;
    assert!(exact.failed_with(1).stderr.contains("exactly already"), "{exact:?}");

    let unknown = home.satchel(&["pin", "unknown"]).await;
    assert!(unknown.failed_with(1).stderr.contains("`satchel pin unknown VERSION`"), "{unknown:?}");
    let range = home.satchel(&["pin", "unknown", "^2.0.0"]).await;
    assert!(range.failed_with(1).stderr.contains("no exact version"), "{range:?}");
    home.satchel(&["pin", "unknown", "2.0.1"]).await.succeeded();
    assert_eq!(home.config()["mcpServers"]["unknown"]["args"], json!(["-y", "other@2.0.1"]));
}

#[tokio::test]
async fn a_server_that_is_another_version_than_before_is_told_of() {
    let home = Home::empty();
    let version = home.file("version");
    fs::write(&version, "1.2.0").expect("the home can be written to");
    let fake = Fake::new(&home, "fake").behaving(&["--version", version.to_str().expect("it is plain")]);
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let client = Client::open(&hub.connection("one").await, "2025-11-25").await;
    offered(&client, "fake:echo").await;
    let told = async || {
        let trail = home.satchel(&["audit", "trail", "--json"]).await.json();
        let records = trail.as_array().expect("a list of records").clone();
        records
            .into_iter()
            .find(|record| record["detail"].as_str().is_some_and(|detail| detail.contains("version")))
    };
    assert_eq!(told().await, None, "the first is no other");
    fs::write(&version, "1.3.0").expect("the home can be written to");
    home.satchel(&["restart", "fake"]).await.succeeded();
    let record = eventually("it is told", told).await;
    assert_eq!(record["subject"], "fake", "{record}");
    assert_eq!(record["detail"], "says that it is version 1.3.0; before it was 1.2.0", "{record}");
    let log = home.satchel(&["logs", "fake"]).await;
    assert!(log.succeeded().stdout.contains("says that it is version 1.3.0"), "{log:?}");
}

/// Launchers that fetch like `npx` and `uvx`: once what is asked for, as the registry has it then, and from then on from
/// the disk. What they run is the fake server.
struct Registry<'a> {
    home: &'a Home,
}

impl<'a> Registry<'a> {
    fn of(home: &'a Home) -> Self {
        let npx = r#"#!/bin/sh
place="$HOME/.npm/_npx/$(printf %s "$2" | sha512sum | cut -c1-16)"
if [ ! -d "$place" ]; then
  mkdir -p "$place/node_modules"
  printf '{"_npx":{"packages":["%s"]}}' "$2" >"$place/package.json"
  cp "$HOME/registry.json" "$place/node_modules/.package-lock.json"
fi
shift 2
exec "$FAKE" "$@"
"#;
        let uvx = "#!/bin/sh\nshift\nexec \"$FAKE\" \"$@\"\n";
        fs::create_dir(home.file("bin")).expect("the home can be written to");
        for (name, text) in [("npx", npx), ("uvx", uvx)] {
            let file = home.file(&format!("bin/{name}"));
            fs::write(&file, text).expect("the home can be written to");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        Self { home }
    }

    async fn hub(&self) -> Hub<'a> {
        let path = std::env::var("PATH").expect("there is one");
        let path = format!("{}:{path}", self.home.file("bin").display());
        self.home.start_hub_with(&[("PATH", &path)]).await
    }

    /// The entry of a server that such a launcher starts.
    fn entry(&self, fake: Fake, launcher: &str, before: &[&str]) -> Value {
        let mut entry = fake.env("FAKE", program("fake-mcp-server").to_str().expect("it is plain")).entry();
        let given = entry["args"].as_array().cloned().unwrap_or_default();
        entry["args"] = before.iter().map(|word| json!(word)).chain(given).collect();
        entry["command"] = json!(launcher);
        entry
    }

    /// What it delivers from now on: names, versions and contents.
    fn has(&self, packages: &[(&str, &str, &str)]) {
        let package = |(name, version, contents): &(&str, &str, &str)| {
            let about = json!({ "version": version, "integrity": format!("sha512-{contents}") });
            (format!("node_modules/{name}"), about)
        };
        let packages: serde_json::Map<String, Value> = packages.iter().map(package).collect();
        let list = json!({ "lockfileVersion": 3, "packages": packages }).to_string();
        fs::write(self.home.file("registry.json"), list).expect("the home can be written to");
    }

    /// Nothing is on the disk any more: the next start fetches.
    fn empty(&self) {
        fs::remove_dir_all(self.home.file(".npm")).expect("something was fetched");
    }

    /// What was fetched is replaced by what it delivers now, before anything is started.
    fn fetch_now(&self) {
        let fetched = fs::read_dir(self.home.file(".npm/_npx")).expect("something was fetched").flatten();
        for place in fetched {
            let list = place.path().join("node_modules/.package-lock.json");
            fs::copy(self.home.file("registry.json"), list).expect("the home can be written to");
        }
    }
}

const TOP: &str = "@scope/server";

async fn works(client: &Client) {
    eventually("it works", async || {
        let answer = client.execute("fake:echo", json!({ "text": "works" })).await;
        answer.raw().contains("\"works\"").then_some(())
    })
    .await;
}

/// The server is held back, does not run, and everybody is told why, in these words.
async fn is_held(home: &Home, hub: &Hub<'_>, client: &Client, words: &[&str]) {
    eventually("it is held back", async || {
        let server = hub.server("fake").await;
        (server["held"] == 1 && server["pid"].is_null() && server["state"] == "asleep").then_some(())
    })
    .await;
    let complaint = client.execute("fake:echo", json!({ "text": "x" })).await.complaint();
    let log = home.satchel(&["logs", "fake"]).await.stdout;
    let trail = home.satchel(&["audit", "trail", "--json"]).await.stdout;
    let refused = home.satchel(&["restart", "fake"]).await;
    refused.failed_with(1);
    for text in [&complaint, &log, &trail, &refused.stderr] {
        for word in words {
            assert!(text.contains(word), "{word} in {text}");
        }
    }
    assert!(complaint.contains("held back") && complaint.contains("satchel approve"), "{complaint}");
}

/// S33.
#[tokio::test]
async fn the_same_version_with_other_contents_does_not_run_before_a_person_has_looked() {
    let home = Home::empty();
    let registry = Registry::of(&home);
    let fake = Fake::new(&home, "fake");
    let starts = || Fake::new(&home, "fake").ledger().starts().len();
    let entry = registry.entry(fake, "npx", &["-y", "@scope/server@1.2.3"]);
    home.write_config(&json!({ "mcpServers": { "fake": entry } }));
    registry.has(&[(TOP, "1.2.3", "first"), ("zod", "3.0.0", "zod")]);
    let hub = registry.hub().await;
    let client = hub.client("one").await;
    offered(&client, "fake:echo").await;
    works(&client).await;
    let log = home.satchel(&["logs", "fake"]).await.stdout;
    assert!(log.contains("@scope/server 1.2.3 was fetched for it, sha512-first"), "{log}");

    // What it needs may be newer, and is remembered as well.
    registry.has(&[(TOP, "1.2.3", "first"), ("zod", "3.1.0", "newer")]);
    registry.empty();
    home.satchel(&["restart", "fake"]).await.succeeded();
    works(&client).await;

    // Other contents lie there before it is started: they do not run, also after a restart of the hub.
    let words = ["@scope/server 1.2.3 has other contents than before", "sha512-other, before sha512-first"];
    let before = starts();
    registry.has(&[(TOP, "1.2.3", "other"), ("zod", "3.1.0", "newer")]);
    registry.fetch_now();
    home.satchel(&["restart", "fake"]).await;
    is_held(&home, &hub, &client, &words).await;
    assert!(client.paths("fake:echo").await.is_empty(), "nor is it on offer");
    hub.terminate().await;
    let hub = registry.hub().await;
    let client = hub.client("one").await;
    is_held(&home, &hub, &client, &words).await;
    assert_eq!(starts(), before, "nothing of it ran");

    // A person who looks sees both, and a yes starts it.
    let shown = home.satchel(&["approvals", "fake"]).await.stdout;
    assert!(shown.contains("package @scope/server 1.2.3 (held back: it changed)"), "{shown}");
    assert!(shown.contains("sha512-first") && shown.contains("sha512-other"), "{shown}");
    home.satchel(&["approve", "fake", "--yes"]).await.succeeded();
    works(&client).await;

    // Where it is fetched during the start, it ends before anybody can use it.
    registry.has(&[(TOP, "1.2.3", "other"), ("zod", "3.0.0", "third")]);
    registry.empty();
    home.satchel(&["restart", "fake"]).await;
    let words = ["zod 3.0.0 has other contents than before", "sha512-third, before sha512-zod"];
    is_held(&home, &hub, &client, &words).await;
    assert!(home.processes().iter().all(|process| !process.command.contains("fake-mcp-server")));

    // What is put right needs nobody.
    registry.has(&[(TOP, "1.2.3", "other"), ("zod", "3.1.0", "newer")]);
    registry.empty();
    home.satchel(&["restart", "fake"]).await.succeeded();
    works(&client).await;
    assert_eq!(hub.server("fake").await["held"], 0);
}

/// S33. Another version is what such an entry is for; the same one with other contents is not.
#[tokio::test]
async fn what_floats_may_have_another_version_and_no_other_contents_of_one() {
    let home = Home::empty();
    let registry = Registry::of(&home);
    let entry = registry.entry(Fake::new(&home, "fake"), "npx", &["-y", TOP]);
    home.write_config(&json!({ "mcpServers": { "fake": entry } }));
    registry.has(&[(TOP, "1.2.3", "first")]);
    let hub = registry.hub().await;
    let client = hub.client("one").await;
    offered(&client, "fake:echo").await;

    registry.has(&[(TOP, "1.3.0", "newer")]);
    registry.empty();
    home.satchel(&["restart", "fake"]).await.succeeded();
    works(&client).await;
    let trail = home.satchel(&["audit", "trail", "--json"]).await.stdout;
    assert!(trail.contains("@scope/server 1.3.0 was fetched for it, sha512-newer"), "{trail}");

    registry.has(&[(TOP, "1.2.3", "other")]);
    registry.empty();
    home.satchel(&["restart", "fake"]).await;
    is_held(&home, &hub, &client, &["@scope/server 1.2.3 has other contents", "before sha512-first"]).await;
    // A person may also leave it so, and pin it to what was seen.
    home.satchel(&["approve", "fake", "--keep", "--yes"]).await.succeeded();
    assert_eq!(hub.server("fake").await["pid"], Value::Null);
}

/// S33.
#[tokio::test]
async fn a_wheel_with_other_contents_does_not_run_either() {
    let home = Home::empty();
    let registry = Registry::of(&home);
    let entry = registry.entry(Fake::new(&home, "fake"), "uvx", &["my-server==1.0.0"]);
    home.write_config(&json!({ "mcpServers": { "fake": entry } }));
    let about = home.file(".cache/uv/archive-v0/a/my_server-1.0.0.dist-info");
    fs::create_dir_all(&about).expect("the home can be written to");
    let unpacked = |list: &str| fs::write(about.join("RECORD"), list).expect("the home can be written to");
    unpacked("server.py,sha256=first,1\n");
    let hub = registry.hub().await;
    let client = hub.client("one").await;
    offered(&client, "fake:echo").await;
    unpacked("server.py,sha256=other,1\n");
    let before = Fake::new(&home, "fake").ledger().starts().len();
    home.satchel(&["restart", "fake"]).await;
    is_held(&home, &hub, &client, &["my_server 1.0.0 has other contents than before"]).await;
    assert_eq!(Fake::new(&home, "fake").ledger().starts().len(), before);
}
