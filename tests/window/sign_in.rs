//! Signing in to a hosted server: nothing opens before a click, one click opens one page, and another signs out.

use satchel_tests::{Home, eventually, kit, protected, python, target_directory};
use serde_json::json;

use crate::desktop::Desktop;

const SIGN_IN: &str = ".row button[aria-label='Sign in: a']";
const SIGN_OUT: &str =
    "[...document.querySelectorAll('.pane h3 button')].find((one) => one.innerText === 'Sign out').click()";

/// A browser whose user accepts everything.
fn install_browser(desktop: &Desktop) {
    let cache = target_directory().join("tmp/python");
    let browse = format!(
        "#!/bin/sh\nPYTHONPYCACHEPREFIX='{}' FAKE_USER=approve exec {} '{}' \"$1\"\n",
        cache.display(),
        python(),
        kit("browser.py")
    );
    desktop.home.write_program("bin/xdg-open", &browse);
}

/// A15: one click from an added server to its tools; A5: no page before it.
#[tokio::test]
async fn a_click_signs_in_and_another_signs_out() {
    let home = Home::empty();
    let server = protected(&home, "plain").await;
    home.write_config(&json!({ "mcpServers": { "a": { "url": server.url() } } }));
    let desktop = Desktop::around(home).await;
    let _keyring = desktop.start_keyring().await;
    install_browser(&desktop);
    let page = desktop.open_window(&[]).await;
    page.says(".row", "Needs a sign-in").await;
    assert_eq!(server.pages().await, 0, "nothing opens before a click");
    page.click(SIGN_IN).await;
    eventually("it is signed in", async || {
        let accounts = desktop.home.satchel(&["accounts", "--json"]).await.json();
        (accounts[0]["sign_in"] == "signed_in").then_some(())
    })
    .await;
    page.says(".pane .overview", "Sign out").await;
    page.says(".row .holds", "tool").await;
    assert_eq!(server.pages().await, 1, "one click is one page");

    page.run(SIGN_OUT).await;
    page.says(".row", "Needs a sign-in").await;
    eventually("the provider is told", async || {
        server.log().await.iter().any(|event| event["endpoint"] == "revoke").then_some(())
    })
    .await;
    page.close().await;
}
