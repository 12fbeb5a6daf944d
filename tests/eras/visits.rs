//! A call whose server wants a sign-in, by a client that shows its user pages: it goes on when the user has signed in.

use satchel_tests::{Home, browse, plain_http, protected};
use serde_json::json;

use crate::client::{Client, Era};

/// The target of our page's link.
fn link(page: &str) -> String {
    let begins = page.find("href=\"").expect("the page has a link") + "href=\"".len();
    let end = page[begins..].find('"').expect("the link ends") + begins;
    page[begins..end].replace("&amp;", "&")
}

/// Does what a person does with our page: opens it, follows it to the provider, accepts.
async fn visit(home: &Home, page: &str) {
    let shown = plain_http().get(page).send().await.expect("it answers");
    let policy = shown.headers()["content-security-policy"].to_str().expect("it is text").to_owned();
    assert!(policy.contains("default-src 'none'"), "{policy}");
    let shown = shown.text().await.expect("it can be read");
    assert!(shown.contains("Sign in to a") && !shown.contains("<script"), "{shown}");
    browse(home, &link(&shown), false).await;
    let again = plain_http().get(page).send().await.expect("it answers");
    assert_eq!(again.status().as_u16(), 400, "it counts once");
}

/// A9: in both eras.
#[tokio::test]
async fn a_call_waits_for_its_user_to_sign_in_and_continues() {
    let home = Home::empty();
    let server = protected(&home, "step_up").await;
    home.write_config(&json!({ "mcpServers": { "a": { "url": server.url() } } }));
    let hub = home.start_hub().await;
    home.satchel_reading(&["secrets", "use-file"], "correct horse\n").await.succeeded();
    home.sign_in("a").await;
    for era in [Era::Legacy, Era::Modern] {
        let (shown, mut pages) = tokio::sync::mpsc::unbounded_channel();
        let mut client = Client::new(hub.connection("shows").await, era).showing(shown);
        client.open().await;
        // The first needs more rights, the second a sign-in.
        for (tool, text) in [("write", "write:x"), ("echo", "echo:x")] {
            if tool == "echo" || era == Era::Modern {
                home.satchel(&["logout", "a"]).await.succeeded();
            }
            let before = server.pages().await;
            let call = json!({ "tool_path": format!("a:{tool}"), "arguments": { "text": "x" } });
            let visiting = async {
                while let Some(page) = pages.recv().await {
                    visit(&home, &page).await;
                }
            };
            let told = tokio::select! {
                told = client.call("execute_mcp_tool", call) => told,
                () = visiting => panic!("the client shows pages as long as it is there"),
            };
            assert!(told.result().to_string().contains(text), "{era:?} {tool}: {told:?}");
            assert!(server.pages().await > before, "{era:?} {tool}");
        }
    }
}

#[tokio::test]
async fn a_call_whose_user_declines_gets_instructions() {
    let home = Home::empty();
    let server = protected(&home, "plain").await;
    home.write_config(&json!({ "mcpServers": { "a": { "url": server.url() } } }));
    let hub = home.start_hub().await;
    home.satchel_reading(&["secrets", "use-file"], "correct horse\n").await.succeeded();
    home.sign_in("a").await;
    home.satchel(&["logout", "a"]).await.succeeded();
    let mut client = Client::new(hub.connection("shows").await, Era::Legacy).that_declines();
    client.open().await;
    let call = json!({ "tool_path": "a:echo", "arguments": { "text": "x" } });
    let told = client.call("execute_mcp_tool", call).await;
    assert!(format!("{told:?}").contains("satchel login a"), "{told:?}");
    assert_eq!(server.pages().await, 1);
}
