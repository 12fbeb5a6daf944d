//! What the page may not do, whatever got into it.

use serde_json::json;

use crate::{desktop::Desktop, page::switch};

#[tokio::test]
async fn the_page_may_only_do_what_its_face_needs() {
    let desktop = Desktop::new().await;
    let page = desktop.open_window(&[]).await;
    page.find(&switch("toolbox")).await;

    let ask = |request| page.invoke("request", json!({ "request": request }));
    ask(json!({ "do": "status" })).await.expect("the hub's state is for windows");
    for other in [
        json!({ "do": "connect", "client": "thief", "ephemeral": true }),
        json!({ "do": "call", "tool_path": "toolbox:generate_uuid", "arguments": {} }),
        json!({ "do": "quit" }),
    ] {
        let refusal = ask(other).await.expect_err("the window may not request this");
        assert_eq!(refusal["code"], "not_for_windows", "{refusal}");
    }
    for command in
        ["plugin:app|version", "plugin:window|close", "plugin:autostart|enable", "plugin:event|emit"]
    {
        let denied = page.invoke(command, json!({})).await.expect_err("the window has no such right");
        assert!(denied.to_string().contains("not allowed"), "{command}: {denied}");
    }
    page.close().await;
}

#[tokio::test]
async fn the_pages_policy_stops_strange_scripts_and_strange_hosts() {
    let desktop = Desktop::new().await;
    let page = desktop.open_window(&[]).await;
    page.find(&switch("toolbox")).await;
    page.run(
        "const image = new Image(); image.src = 'http://127.0.0.1:9/x.png'; \
         const script = document.createElement('script'); script.textContent = 'window.strange = 1'; \
         window.stopped = []; \
         addEventListener('securitypolicyviolation', (event) => window.stopped.push(event.effectiveDirective)); \
         document.body.append(image, script); \
         fetch('http://127.0.0.1:9/').catch(() => {});",
    )
    .await;
    let stopped = satchel_tests::eventually("the policy stopped all three", async || {
        let stopped = page.run("return window.stopped").await;
        (stopped.as_array()?.len() >= 3).then_some(stopped)
    })
    .await;
    for directive in ["img-src", "script-src-elem", "connect-src"] {
        assert!(stopped.to_string().contains(directive), "{directive} in {stopped}");
    }
    assert!(page.run("return window.strange ?? null").await.is_null());
    page.run("location.href = 'http://127.0.0.1:9/'").await;
    page.find(&switch("toolbox")).await;
    page.close().await;
}
