//! What servers ask is text in the real window: nothing of it runs, leads anywhere, or fetches anything.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use satchel_tests::{Home, repository};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{app::until_offered, desktop::Desktop, page::Page};

/// A server of the hostile fixtures.
pub(crate) fn chaos(mode: &str) -> Value {
    let file = repository().join("tests/chaos/fixtures/chaos_server.py");
    json!({ "command": "python3", "args": [file, "--mode", mode, "--era", "legacy"] })
}

/// Counts whoever comes.
async fn visitors() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let port = listener.local_addr().expect("a listener has an address").port();
    let count = Arc::new(AtomicUsize::new(0));
    let counting = count.clone();
    #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counting.fetch_add(1, Ordering::Relaxed);
        }
    });
    (port, count)
}

/// Each would run, lead away or fetch where text were taken for more than text.
fn strings(port: u16) -> Vec<String> {
    let (host, run) = (format!("http://127.0.0.1:{port}"), "top.ran=(top.ran||0)+1");
    vec![
        format!("<script>{run}</script>"),
        format!("<img src=x onerror=\"{run}\">"),
        format!("<img src=\"{host}/a.png\">"),
        format!("<svg onload=\"{run}\"><image href=\"{host}/b\"/></svg>"),
        format!("<iframe src=\"{host}/c\" srcdoc=\"<script>{run}</script>\"></iframe>"),
        format!("<meta http-equiv=refresh content=\"0;url={host}/d\">"),
        format!("<link rel=stylesheet href=\"{host}/e.css\"><style>@import '{host}/f.css';</style>"),
        format!("<a href=\"javascript:{run}\" autofocus onfocus=\"{run}\">click</a>"),
        format!("<form action=\"{host}/g\"><button autofocus>go</button></form><base href=\"{host}/\">"),
        format!(
            "<object data=\"{host}/h\"></object><embed src=\"{host}/i\"><video src=\"{host}/j\" autoplay></video>"
        ),
        format!("![x]({host}/k.png) [click](javascript:{run})"),
        format!("javascript:{run}//{host}"),
        format!(
            "{{@html `<img src=x onerror={run}>`}} ${{{run}}} {{{{constructor.constructor('{run}')()}}}}"
        ),
        format!("\"'><details open ontoggle=\"{run}\"><input autofocus onfocus=\"{run}\">"),
        format!("data:text/html,<script>{run}</script>"),
        format!("\u{1b}]8;;{host}/l\u{7}link\u{1b}]8;;\u{7}"),
    ]
}

/// Sets up what notices that something ran or wanted to go somewhere.
async fn watch(page: &Page) {
    page.run(
        "window.ran = 0; window.stopped = []; window.asked = []; \
         addEventListener('securitypolicyviolation', (event) => window.stopped.push(event.effectiveDirective + ' ' + event.blockedURI)); \
         for (const name of ['alert', 'confirm', 'prompt', 'open']) window[name] = () => void window.asked.push(name); \
         window.here = location.origin;",
    )
    .await;
}

async fn nothing_happened(page: &Page, view: &str) {
    let seen = page
        .run("return [window.ran, window.stopped, window.asked, window.here === location.origin, document.querySelectorAll('iframe, object, embed, video, base, main img, meta[http-equiv=refresh]').length]")
        .await;
    assert_eq!(seen, json!([0, [], [], true, 0]), "{view}");
}

#[tokio::test]
async fn a_question_is_text_too_whatever_is_in_it() {
    let (port, visitors) = visitors().await;
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "asks": satchel_tests::fixture(satchel_tests::LEGACY) } }));
    let desktop = Desktop::around(home).await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "asks", true).await;
    let message = strings(port).join("\n");
    let calling = client.clone();
    #[expect(clippy::disallowed_methods, reason = "the test waits for it")]
    let called =
        tokio::spawn(
            async move { calling.execute("asks:test_elicitation", json!({ "message": message })).await },
        );
    page.to_questions().await;
    watch(&page).await;
    page.says("[role=alertdialog] blockquote", "onerror").await;
    page.says("[role=alertdialog] h1", "asks asks you something").await;
    page.settled().await;
    nothing_happened(&page, "the window of questions").await;
    assert_eq!(visitors.load(Ordering::Relaxed), 0);
    page.click("[role=alertdialog] [data-no]").await;
    called.await.expect("the call ends");
    page.to_first_and_only().await;
    page.close().await;
}
