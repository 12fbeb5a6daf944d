//! The list: how often it is asked for, what of it is found, and what is left of it where nothing can be read.

use satchel_tests::{Hub, eventually};
use serde_json::{Value, json};

use crate::kit::Kit;

#[tokio::test]
async fn it_is_read_once_and_then_only_what_has_changed() {
    let kit = Kit::new().await;
    let hub = kit.hub().await;
    assert_eq!(kit.mock.requests().await, Vec::<Value>::new(), "nobody is asked before somebody looks");
    let found = kit.search(&["--limit", "500"]).await;
    assert_eq!((&found["refused"], found["registries"][0]["trouble"].is_null()), (&json!(6), true));
    let listed = found["servers"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|one| one["registry"] == json!(kit.mock.url));
    assert_eq!(listed.count(), 262 - 1 - 6);
    let first = kit.mock.requests().await;
    assert_eq!(first.len(), 4, "every page, and no more");
    for request in &first {
        assert!(
            request["path"]
                .as_str()
                .is_some_and(|path| path.contains("limit=100") && !path.contains("search="))
        );
        let headers = request["headers"].as_object().expect("it has some");
        let names: Vec<String> = headers.keys().map(|name| name.to_lowercase()).collect();
        assert!(
            names.iter().all(|name| ["host", "accept", "user-agent"].contains(&name.as_str())),
            "{names:?}"
        );
        assert_eq!(headers["user-agent"], json!(concat!("satchel/", env!("CARGO_PKG_VERSION"))));
    }
    for words in [&["filesystem"][..], &["something", "private"], &["ledger"]] {
        kit.search(words).await;
    }
    assert_eq!(kit.mock.requests().await.len(), 4, "not again within the hour, and no words of a person");
    kit.mock
        .does(json!({ "publish": { "server": { "name": "io.github.adalovelace/ledger", "version": "1.3.0",
            "description": "Bookkeeping", "packages": [{ "registryType": "npm", "identifier": "ada-ledger-mcp",
            "version": "1.3.0", "transport": { "type": "stdio" } }] } } }))
        .await;
    let later = kit.search(&["ledger", "--fresh"]).await;
    assert_eq!(later["servers"][0]["version"], "1.3.0");
    let requests = kit.mock.requests().await;
    assert!(
        requests.len() == 5 && requests[4]["path"].to_string().contains("updated_since="),
        "{requests:?}"
    );
    hub.terminate().await;
    // Another program of the same home knows it, too.
    assert_eq!(kit.search(&["ledger"]).await["servers"][0]["version"], "1.3.0");
    assert_eq!(kit.mock.requests().await.len(), 5);
}

/// An unchanged list is not transferred again; a changed one is.
#[tokio::test]
async fn an_unchanged_list_is_asked_for_by_its_tag() {
    let kit = Kit::new().await;
    let _hub = kit.hub().await;
    let tag_of = |request: &Value| {
        let headers = request["headers"].as_object().expect("it has some");
        headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("if-none-match"))
            .map(|(_, tag)| tag.clone())
    };
    let all = kit.search(&["--limit", "500"]).await;
    // The first read of changes gets the tag, the second one uses it.
    for _ in 0..2 {
        let again = kit.search(&["--limit", "500", "--fresh"]).await;
        assert_eq!((&again["servers"], again["registries"][0]["trouble"].is_null()), (&all["servers"], true));
    }
    let requests = kit.mock.requests().await;
    let [.., changes, unchanged] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(changes["path"], unchanged["path"]);
    assert!(tag_of(changes).is_none() && tag_of(unchanged).is_some(), "{unchanged}");
    kit.mock
        .does(json!({ "publish": { "server": { "name": "io.github.adalovelace/ledger", "version": "1.3.0",
            "description": "Bookkeeping", "packages": [{ "registryType": "npm", "identifier": "ada-ledger-mcp",
            "version": "1.3.0", "transport": { "type": "stdio" } }] } } }))
        .await;
    assert_eq!(kit.search(&["ledger", "--fresh"]).await["servers"][0]["version"], "1.3.0");
    let requests = kit.mock.requests().await;
    assert_eq!(tag_of(&requests[requests.len() - 1]), tag_of(&requests[requests.len() - 2]));
}

#[tokio::test]
async fn the_intended_server_comes_first() {
    let kit = Kit::new().await;
    let _hub = kit.hub().await;
    let filesystem = kit.names(&["filesystem"]).await;
    assert_eq!(
        filesystem[..2],
        ["io.github.modelcontextprotocol/filesystem", "io.github.modelcontextprotocol-servers/filesystem"]
    );
    let both = kit.search(&["filesystem"]).await;
    let said = both["servers"][1]["remarks"].to_string();
    assert!(said.contains("other_owner") && said.contains("are not the same"), "{said}");
    for (typed, topic) in [("postgress", "/postgres"), ("kubernets", "/kubernetes")] {
        let first = kit.names(&[typed]).await.remove(0);
        assert!(format!("/{first}").ends_with(topic), "{typed}: {first}");
    }
    let ledger = kit.search(&["ledger"]).await;
    assert_eq!(
        (&ledger["servers"][0]["name"], &ledger["servers"][0]["version"]),
        (&json!("io.github.adalovelace/ledger"), &json!("1.2.0"))
    );
    let twin = ledger["servers"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|one| one["name"] == "io.github.AdaLovelace/ledger");
    assert!(twin.expect("it is there")["remarks"].to_string().contains("in upper and lower case"));
    assert_eq!(kit.names(&["gone"]).await, [""; 0]);
    let gone = kit.search(&["gone", "--all"]).await;
    assert_eq!(
        (&gone["servers"][0]["status"], &gone["servers"][0]["status_message"]),
        (&json!("deleted"), &json!("Removed: malware in 1.0.0"))
    );
    let old = kit.search(&["old", "mail"]).await;
    assert_eq!(old["servers"][0]["status"], "deprecated");
    let mail = kit.names(&["mail", "--limit", "100"]).await;
    assert_eq!(
        mail.last().map(String::as_str),
        Some("io.github.brook-tools/old-mail"),
        "below those that are not"
    );
    let plain = kit.home.satchel(&["search", "h-status"]).await;
    assert!(
        plain.succeeded().stdout.contains("<script>alert(1)</script>") && !plain.stdout.contains('\u{202e}')
    );
}

/// Whatever a registry does, stored data stays, and no other host is contacted.
#[tokio::test]
async fn no_fault_removes_the_known_list() {
    const FAULTS: [&str; 8] = ["down", "500", "html", "cut", "empty", "huge", "loop", "moved"];
    let kit = Kit::new().await;
    let _hub = kit.hub().await;
    for fault in ["html", "cut", "down"] {
        kit.mock.does(json!({ "fault": fault })).await;
        let found = kit.search(&["github", "--fresh"]).await;
        assert_eq!(found["servers"][0]["name"], "github", "{fault}: the list that comes along is there");
        assert!(
            found["registries"][0]["trouble"].is_string() && found["registries"][0]["read_ms"].is_null(),
            "{fault}"
        );
    }
    let said = kit.home.satchel(&["search", "github"]).await;
    assert_eq!(said.succeeded().stderr.lines().count(), 1, "one calm line: {said:?}");
    kit.mock.does(json!({ "fault": "none" })).await;
    let all = kit.search(&["--limit", "500", "--fresh"]).await;
    assert!(
        all["registries"][0]["trouble"].is_null() && all["known"].as_u64().is_some_and(|known| known > 250)
    );
    for fault in FAULTS {
        kit.mock.does(json!({ "fault": fault })).await;
        let before = kit.mock.requests().await.len();
        let found = kit.search(&["--limit", "500", "--fresh"]).await;
        assert!(kit.mock.requests().await.len() - before <= 3, "{fault}: at most three tries");
        assert_eq!(
            (&found["servers"], &found["registries"][0]["read_ms"]),
            (&all["servers"], &all["registries"][0]["read_ms"]),
            "{fault}"
        );
        assert!(found["registries"][0]["trouble"].is_string(), "{fault}");
    }
}

/// A busy registry is asked again no earlier than it said, and three times at most. Its own clock counts.
#[tokio::test]
async fn a_busy_registry_is_given_the_time_it_asks_for() {
    let kit = Kit::new().await;
    let _hub = kit.hub().await;
    let pauses = |requests: &[Value]| -> Vec<f64> {
        let at = |request: &Value| request["at"].as_f64().expect("it has a time");
        requests.windows(2).map(|pair| at(&pair[1]) - at(&pair[0])).collect()
    };
    kit.mock.does(json!({ "fault": "429", "times": 1 })).await;
    let all = kit.search(&["--limit", "500"]).await;
    assert!(all["registries"][0]["trouble"].is_null() && all["known"].as_u64() > Some(250), "{all}");
    let requests = kit.mock.requests().await;
    assert_eq!(requests[0]["path"], requests[1]["path"], "the same page again");
    assert!(
        requests.len() == 5 && pauses(&requests)[0] >= 2.0,
        "Retry-After says 2: {:?}",
        pauses(&requests)
    );

    kit.mock.does(json!({ "fault": "429" })).await;
    let busy = kit.search(&["--limit", "500", "--fresh"]).await;
    let tries = kit.mock.requests().await.split_off(requests.len());
    assert!(tries.len() == 3 && pauses(&tries).iter().all(|pause| *pause >= 2.0), "{:?}", pauses(&tries));
    assert_eq!(busy["servers"], all["servers"]);
    assert!(busy["registries"][0]["trouble"].to_string().contains("is busy"), "{}", busy["registries"]);
}

/// The schema allows 100 characters; somebody writes 20 MB.
#[tokio::test]
async fn a_huge_description_is_cut_and_leaves_nothing_behind() {
    let kit = Kit::new().await;
    let hub = kit.hub().await;
    kit.search(&["--limit", "500"]).await;
    let before = heap_bytes(&hub);
    let huge = json!({ "server": { "name": "io.github.adalovelace/huge", "version": "1.0.0",
        "description": "huge ".repeat(4 << 20), "packages": [{ "registryType": "npm",
        "identifier": "ada-huge-mcp", "version": "1.0.0", "transport": { "type": "stdio" } }] } });
    kit.mock.does(json!({ "publish": huge })).await;
    let found = kit.search(&["io.github.adalovelace/huge", "--fresh"]).await;
    assert!(found["registries"][0]["trouble"].is_null(), "{}", found["registries"]);
    assert_eq!(found["servers"][0]["name"], "io.github.adalovelace/huge");
    let description = found["servers"][0]["description"].as_str().expect("it has one");
    assert!(description.chars().count() <= 101, "100 and an ellipsis: {}", description.len());
    let grown = || heap_bytes(&hub).saturating_sub(before);
    eventually("the memory that it took is given back", async || (grown() < 20 << 20).then_some(())).await;
    let files = kit.home.files();
    let lists =
        files.iter().filter(|(path, _)| path.parent().is_some_and(|parent| parent.ends_with("listings")));
    let stored: usize = lists.map(|(_, bytes)| bytes.len()).sum();
    assert!((1..2 << 20).contains(&stored), "{stored} bytes on disk");
}

/// Without pages of the program, which come and go with what it does.
fn heap_bytes(hub: &Hub<'_>) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", hub.pid)).expect("Linux tells it");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("Linux tells it");
    line.trim().trim_end_matches("kB").trim().parse::<usize>().expect("it is a number") * 1024
}

/// A byte per second is too slow.
#[tokio::test]
async fn a_registry_that_takes_too_long_is_given_up() {
    let kit = Kit::new().await;
    kit.home.trust_config().await;
    kit.mock.does(json!({ "fault": "slow" })).await;
    let found = kit.search(&["github"]).await;
    assert_eq!(found["servers"][0]["name"], "github");
    assert!(found["registries"][0]["trouble"].to_string().contains("in time"), "{}", found["registries"]);
}

/// Another program writes an address: it is not contacted before a person approves it.
#[tokio::test]
async fn a_registry_that_was_not_accepted_is_not_asked() {
    let kit = Kit::new().await;
    let _hub = kit.home.start_hub_asking().await;
    let found = kit.search(&["github"]).await;
    assert_eq!(found["servers"][0]["name"], "github");
    assert!(
        found["registries"].to_string().contains("satchel approve --settings"),
        "{}",
        found["registries"]
    );
    assert_eq!(kit.mock.requests().await, Vec::<Value>::new());
}
