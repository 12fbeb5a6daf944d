//! Found in a few tokens, called although written carelessly, refused with a reason before anything is started.

use satchel_tests::{Fake, Home, eventually};
use serde_json::json;

#[tokio::test]
async fn a_careless_call_is_corrected_and_says_how() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    crate::offered(&client, "fake:sleep").await;
    for path in ["fake.sleep", "fake__sleep", "sleep"] {
        let result = client.execute(path, json!({ "ms": "1" })).await.value();
        let notes = result["_meta"]["dev.satchel/corrected"].clone();
        assert_eq!(
            notes,
            json!([format!("tool_path: {path} was read as fake:sleep"), "ms: \"1\" was read as 1"])
        );
    }
    let result = client.execute("fake:sleep", json!("{\"ms\": 1}")).await.value();
    assert!(result.get("_meta").is_none(), "an object as text is no fault: {result}");
    let near = client.execute("fake:sleeep", json!({})).await.complaint();
    assert!(near.contains("fake:sleep"), "{near}");
}

#[tokio::test]
async fn a_search_waits_for_lists_and_names_only_servers_with_tools() {
    let home = Home::empty();
    let slow = Fake::new(&home, "slow").behaving(&["--slow-start", "200"]);
    let bare = Fake::new(&home, "bare").behaving(&["--no-tools"]);
    home.write_config(&json!({ "mcpServers": { "slow": slow.entry(), "bare": bare.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    // A search waits for two seconds. It names servers that take longer, and the next search finds them.
    let found = eventually("the slow server's tool is found", async || {
        let said = client.call("discover_mcp_tools", json!({ "query": "echo" })).await.text();
        let found = said.contains("slow:echo");
        assert!(found || said.contains("slow ("), "{said}");
        found.then_some(said)
    });
    found.await;
    let nothing = client.call("discover_mcp_tools", json!({ "query": "qqq zzz" })).await.text();
    assert!(nothing.contains("servers: slow."), "{nothing}");
}

#[tokio::test]
async fn a_search_that_finds_nothing_may_name_one_server_of_the_catalog() {
    let searched = async |search: serde_json::Value| {
        let home = Home::empty();
        let bare = Fake::new(&home, "bare").behaving(&["--no-tools"]);
        home.write_config(&json!({ "mcpServers": { "bare": bare.entry() }, "search": search }));
        let hub = home.start_hub().await;
        let client = hub.client("one").await;
        let find =
            async |query: &str| client.call("discover_mcp_tools", json!({ "query": query })).await.text();
        (find("playwright browser").await, find("qqq zzz").await)
    };
    let (known, unknown) = searched(json!({})).await;
    assert!(known.contains("The user can add playwright from Satchel's catalog."), "{known}");
    assert!(!unknown.contains("catalog"), "{unknown}");
    let (switched_off, _) = searched(json!({ "suggest": false })).await;
    assert!(!switched_off.contains("catalog"), "{switched_off}");
}

#[tokio::test]
async fn a_product_that_no_server_is_for_may_be_named_beside_what_was_found() {
    let home = Home::empty();
    let servers = json!({
        "fake": Fake::new(&home, "fake").entry(), "work-gitlab": Fake::new(&home, "lab").entry(),
    });
    home.write_config(&json!({ "mcpServers": servers }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    crate::offered(&client, "fake:echo").await;
    let find = async |query: &str| client.call("discover_mcp_tools", json!({ "query": query })).await.text();
    let absent = find("echo an issue in Linear").await;
    assert!(absent.contains("fake:echo"), "{absent}");
    assert!(
        absent.contains("If none of these fits, the user can add linear from Satchel's catalog."),
        "{absent}"
    );
    for query in ["echo an issue in GitLab", "echo", "echo a linear equation"] {
        let told = find(query).await;
        assert!(!told.contains("catalog"), "{query}: {told}");
    }
}

#[tokio::test]
async fn arguments_that_cannot_be_right_start_nothing() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").with("idleTimeout", json!(1));
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    crate::offered(&client, "fake:sleep").await;
    hub.until("fake", "asleep").await;
    let starts = fake.ledger().starts().len();
    let complaint = client.execute("fake:sleep", json!({ "ms": "long" })).await.complaint();
    for said in ["\"ms\" must be an integer, not \"long\"", "sleep(ms?: int, until?: string)", "{\"ms\":0}"] {
        assert!(complaint.contains(said), "{said}: {complaint}");
    }
    assert_eq!((fake.ledger().starts().len(), fake.ledger().count("call sleep")), (starts, 0));
}

#[tokio::test]
async fn the_menu_describes_the_servers() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    crate::offered(&hub.client("one").await, "fake:echo").await;
    let client = hub.client("two").await;
    let listed = client.request("tools/list", json!({})).await.value();
    let description = listed["tools"][0]["description"].as_str().unwrap_or_default().to_owned();
    assert!(description.contains("Servers: fake (echo, "), "{description}");
    client.execute("fake:grow", json!({})).await.text();
    crate::approvals::approve_once_held(&home, "fake", "extra_1").await;
    crate::offered(&client, "fake:extra_1").await;
    let again = client.request("tools/list", json!({})).await.value();
    assert_eq!(again["tools"][0]["description"], description, "what a session was told stays as it was");
}

#[tokio::test]
async fn a_long_result_is_cut_and_read_on_page_by_page() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").entry();
    home.write_config(
        &json!({ "resultCap": { "default": 100_000, "small": 5_000 }, "mcpServers": { "fake": fake } }),
    );
    let hub = home.start_hub().await;
    let client = hub.client("small").await;
    crate::offered(&client, "fake:echo").await;
    let items: Vec<_> = (0..900).map(|at| json!({ "id": at, "name": format!("item {at}") })).collect();
    let text = json!({ "items": items }).to_string();
    let result = client.execute("fake:echo", json!({ "text": text })).await.value();
    let first = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    assert!(first.len() <= 5_000 && text.starts_with(&first), "{first}");
    let mut next = result["_meta"]["dev.satchel/cut"]["next"].as_str().map(str::to_owned);
    let (id, mut whole) = (next.clone().unwrap_or_default(), first);
    while let Some(uri) = next.take() {
        let page = client.call("read_mcp_resource", json!({ "uri": uri })).await.value();
        whole.push_str(page["content"][0]["text"].as_str().unwrap_or_default());
        let note = page["content"][1]["text"].as_str().unwrap_or_default();
        next = note.split('"').nth(1).map(str::to_owned);
    }
    assert_eq!(whole, text);
    let id = id.split('?').next().unwrap_or_default();
    let read = async |uri: String| client.call("read_mcp_resource", json!({ "uri": uri })).await;
    assert_eq!(read(format!("{id}?path=$.items[7].name")).await.text(), "\"item 7\"");
    assert!(read(format!("{id}?path=$$")).await.complaint().contains("JSONPath"));
    let stranger = hub.client("stranger").await;
    let refused = stranger.call("read_mcp_resource", json!({ "uri": id })).await.complaint();
    assert!(refused.contains("no longer stored"), "{refused}");
    let whole = stranger.execute("fake:echo", json!({ "text": text })).await.text();
    assert_eq!(whole, text, "another client takes more");
}

#[tokio::test]
async fn rules_over_tools_take_effect_when_the_file_is_saved_and_accepted() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").entry();
    home.write_config(&json!({ "mcpServers": { "fake": fake } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    crate::offered(&client, "fake:echo").await;
    let rules = json!([{ "tool": "*:crash", "hide": true }, { "tool": "fake:echo", "rename": "say" }]);
    home.write_config(&json!({ "toolRules": rules, "mcpServers": { "fake": fake } }));
    // A restriction applies at once; a rewrite waits for a person.
    eventually("it is hidden", async || client.paths("crash").await.is_empty().then_some(())).await;
    assert_eq!(client.execute("fake:echo", json!({ "text": "hello" })).await.text(), "hello");
    home.satchel_agreeing(&["approve", "--settings"]).await.succeeded();
    crate::offered(&client, "fake:say").await;
    assert_eq!(client.execute("fake:say", json!({ "text": "hello" })).await.text(), "hello");
    assert!(client.execute("fake:crash", json!({})).await.complaint().contains("has no tool"));
    home.write_config(&json!({ "mcpServers": { "fake": fake } }));
    eventually("the laxer rules are told", async || {
        hub.status().await["notices"].to_string().contains("settings_held").then_some(())
    })
    .await;
    home.satchel_agreeing(&["approve", "--settings"]).await.succeeded();
    crate::offered(&client, "fake:crash").await;
}
