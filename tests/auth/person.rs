//! What happens around one sign-in: who may disturb it, how it is done from afar, what is kept of it, and that nothing
//! opens by itself.

use std::process::Stdio;

use satchel_tests::{Home, Hub, Protected, browse, eventually, plain_http, program, protected};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin},
};

/// A sign-in that waits for its browser.
struct Login {
    process: Child,
    stdin: Option<ChildStdin>,
    page: String,
}

impl Login {
    async fn begin(home: &Home, more: &[&str]) -> Self {
        let mut command = home.command(program("satchel"));
        command.args(["login", "a"]).args(more);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("satchel can be started");
        let mut said = BufReader::new(process.stderr.take().expect("its standard error is a pipe")).lines();
        let page = loop {
            let line = said.next_line().await.expect("it can be read").expect("it says where the page is");
            if let Some(url) = line.split_whitespace().find(|word| word.starts_with("http://127.0.0.1")) {
                break url.to_owned();
            }
        };
        tokio::spawn(async move { while let Ok(Some(_)) = said.next_line().await {} });
        let stdin = process.stdin.take();
        Self { process, stdin, page }
    }

    /// The parameter of the page.
    fn parameter(&self, name: &str) -> String {
        let query = self.page.split_once('?').expect("the page has a query").1;
        let pair = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
        percent_decoded(pair.expect("the page has the parameter"))
    }

    async fn type_in(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it still reads");
        stdin.write_all(format!("{line}\n").as_bytes()).await.expect("it reads");
    }

    /// Its exit code and what it said at the end.
    async fn end(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        let mut said = String::new();
        let mut stdout = self.process.stdout.take().expect("its standard output is a pipe");
        stdout.read_to_string(&mut said).await.expect("it can be read");
        (self.process.wait().await.expect("it can be waited for").code(), said)
    }
}

fn percent_decoded(text: &str) -> String {
    let (mut decoded, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                rest = &after[2..];
            }
            None => {
                decoded.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(decoded).expect("it is text")
}

async fn world(case: &str) -> (Home, Protected) {
    let home = Home::empty();
    let server = protected(&home, case).await;
    home.write_config(&json!({ "mcpServers": { "a": { "url": server.url() } } }));
    (home, server)
}

async fn keep_secrets(home: &Home) {
    home.satchel_reading(&["secrets", "use-file"], "correct horse\n").await.succeeded();
}

async fn call(hub: &Hub<'_>, client: &str) -> Value {
    hub.client(client).await.execute("a:echo", json!({ "text": "x" })).await.value()
}

/// A7: a page anywhere can send requests to this computer; none of them ends or changes a sign-in.
#[tokio::test]
async fn nobody_else_ends_a_sign_in() {
    let (home, server) = world("plain").await;
    let _hub = home.start_hub().await;
    keep_secrets(&home).await;
    let login = Login::begin(&home, &["--no-browser"]).await;
    let redirect = login.parameter("redirect_uri");
    let http = plain_http();
    let state = login.parameter("state");
    let mut answered = std::collections::BTreeMap::<u16, usize>::new();
    for at in 0..250_u32 {
        let requests = [
            http.get(format!("{redirect}?state=evil{at}&code=evil")),
            http.get(format!("{redirect}?error=access_denied&state=evil{at}")),
            http.get(format!("{redirect}?state={state}&code=evil")).header("host", "evil.example"),
            http.post(format!("{redirect}?state={state}&code=evil")).body("x".repeat(1024)),
        ];
        for request in requests {
            let response = request.send().await.expect("it answers");
            *answered.entry(response.status().as_u16()).or_default() += 1;
        }
    }
    assert!(answered.keys().all(|status| (400..500).contains(status)), "{answered:?}");
    let other = redirect.replace("/callback", "/other");
    assert_eq!(http.get(other).send().await.expect("it answers").status().as_u16(), 404);

    let shown = browse(&home, &login.page, false).await;
    assert_eq!(login.end().await.0, Some(0));
    assert!(shown["body"].as_str().is_some_and(|body| body.contains("Signed in to a")), "{shown}");
    let policy = shown["csp"].as_str().unwrap_or_default();
    assert!(policy.contains("default-src 'none'") && !policy.contains("script"), "{policy}");
    eventually("nothing listens there any more", async || http.get(&redirect).send().await.err().map(drop))
        .await;
    let exchanges = server.log().await;
    let exchanges = exchanges.iter().filter(|event| event["grant"] == "authorization_code").count();
    println!("measured: 1,000 foreign requests, {exchanges} code redeemed");
    assert_eq!(exchanges, 1);
}

/// A7: a spent page is spent.
#[tokio::test]
async fn an_answer_counts_once() {
    let (home, server) = world("plain").await;
    let _hub = home.start_hub().await;
    keep_secrets(&home).await;
    let mut login = Login::begin(&home, &["--paste"]).await;
    let back = browse(&home, &login.page, true).await["paste"].as_str().expect("it came back").to_owned();
    login.type_in(&back).await;
    assert_eq!(login.end().await.0, Some(0));
    let mut again = Login::begin(&home, &["--paste"]).await;
    for _ in 0..3 {
        again.type_in(&back).await;
    }
    assert_ne!(again.end().await.0, Some(0), "a replayed answer is of no sign-in that waits");
    let exchanges = server.log().await;
    assert_eq!(exchanges.iter().filter(|event| event["grant"] == "authorization_code").count(), 1);
}

/// A10: a browser on another computer.
#[tokio::test]
async fn a_sign_in_can_be_pasted() {
    let (home, server) = world("plain").await;
    let hub = home.start_hub().await;
    keep_secrets(&home).await;
    for way in ["address", "query", "quoted"] {
        let mut login = Login::begin(&home, &["--paste"]).await;
        let back = browse(&home, &login.page, true).await["paste"].as_str().expect("it came back").to_owned();
        let query = back.split_once('?').expect("it has a query").1.to_owned();
        login.type_in("what is this").await;
        login
            .type_in(&match way {
                "address" => back,
                "query" => query,
                _ => format!("  \"{back}\"  "),
            })
            .await;
        assert_eq!(login.end().await.0, Some(0), "{way}");
        home.satchel(&["logout", "a", "--keep-registration"]).await.succeeded();
    }
    let mut login = Login::begin(&home, &["--paste"]).await;
    let state = login.parameter("state");
    for line in ["junk", "http://127.0.0.1:1/callback?state=other&code=x", "code=x"] {
        login.type_in(line).await;
    }
    let (code, _) = login.end().await;
    assert!(code.is_some_and(|code| code != 0), "{code:?}");
    assert!(!state.is_empty());
    assert_eq!(server.log().await.iter().filter(|event| event["endpoint"] == "register").count(), 1);
    drop(hub);
}

/// A8: what is secret lies in the keychain, or here in the encrypted file, and nowhere else.
#[tokio::test]
async fn nothing_secret_is_found_anywhere() {
    let (home, server) = world("dcr_secret_post").await;
    let hub = home.start_hub().await;
    keep_secrets(&home).await;
    let login = Login::begin(&home, &["--no-browser"]).await;
    browse(&home, &login.page, false).await;
    let (code, said) = login.end().await;
    assert_eq!(code, Some(0));
    let first = call(&hub, "one").await;
    server.tell("expire").await;
    let second = call(&hub, "two").await;
    let quoted = hub.client("two").await.execute("a:forbidden", json!({})).await.complaint();
    assert!(quoted.contains("cannot serve"), "{quoted}");
    server.tell("forget").await;
    server.tell("expire").await;
    let complaint = hub.client("three").await.execute("a:echo", json!({ "text": "x" })).await.complaint();
    let status = hub.status().await;
    let accounts = home.satchel(&["accounts", "--json"]).await.json();

    let log = server.log().await;
    let mut canaries = std::collections::BTreeSet::new();
    for event in &log {
        for (place, key) in [
            ("form", "code"),
            ("form", "code_verifier"),
            ("form", "refresh_token"),
            ("form", "client_secret"),
            ("query", "state"),
        ] {
            canaries.extend(event[place][key].as_str().map(ToOwned::to_owned));
        }
        canaries.extend(
            event["auth"].as_str().and_then(|auth| auth.strip_prefix("Bearer ")).map(ToOwned::to_owned),
        );
    }
    assert!(canaries.len() >= 7, "{canaries:?}");
    let told = format!("{said}{first}{second}{quoted}{complaint}{status}{accounts}");
    for canary in &canaries {
        assert!(!told.contains(canary.as_str()), "{canary} was told");
        for (path, bytes) in home.files() {
            // What the test itself keeps of the browser is no file of ours.
            let found = bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
            assert!(!found, "{canary} stands in {}", path.display());
        }
        let mine = std::fs::read(format!("/proc/{}/environ", hub.pid)).unwrap_or_default();
        assert!(
            !mine.windows(canary.len()).any(|window| window == canary.as_bytes()),
            "{canary} is in the environment"
        );
    }
    println!("measured: {} secret values, 0 found", canaries.len());
}

/// A12: what is due is renewed by whoever needs it first, also after the hub was gone meanwhile.
#[tokio::test]
async fn a_restart_asks_nobody() {
    let (home, server) = world("plain").await;
    let hub = home.start_hub().await;
    keep_secrets(&home).await;
    home.sign_in("a").await;
    hub.terminate().await;
    server.tell("expire").await;
    let hub = home.start_hub().await;
    let shown = hub.server("a").await;
    assert_eq!(shown["sign_in"]["sign_in"], "signed_in", "{shown}");
    home.satchel_reading(&["secrets", "unlock"], "correct horse\n").await.succeeded();
    call(&hub, "one").await;
    assert_eq!(server.pages().await, 1);
}

/// A page that nobody has finished yet leaves the sign-in there is as it was.
#[tokio::test]
async fn what_is_signed_in_is_renewed_while_a_page_for_more_is_open() {
    let (home, server) = world("step_up").await;
    let hub = home.start_hub().await;
    keep_secrets(&home).await;
    home.sign_in("a").await;
    hub.client("one").await.execute("a:write", json!({ "text": "x" })).await.complaint();
    let more = Login::begin(&home, &["--no-browser"]).await;
    server.tell("expire").await;
    let said = hub.client("one").await.execute("a:echo", json!({ "text": "x" })).await;
    assert_eq!(said.text(), "echo:x");
    browse(&home, &more.page, false).await;
    assert_eq!(more.end().await.0, Some(0));
    let said = hub.client("one").await.execute("a:write", json!({ "text": "x" })).await;
    assert_eq!(said.text(), "write:x");
}

/// The server goes, and so does its sign-in, at the provider too.
#[tokio::test]
async fn a_server_that_is_removed_is_signed_out() {
    let (home, server) = world("plain").await;
    let hub = home.start_hub().await;
    keep_secrets(&home).await;
    home.sign_in("a").await;
    home.satchel(&["remove", "a"]).await.succeeded();
    eventually("the tokens are taken back", async || {
        let log = server.log().await;
        log.iter().any(|event| event["endpoint"] == "revoke").then_some(())
    })
    .await;
    assert_eq!(home.satchel(&["accounts", "--json"]).await.json(), json!([]));
    drop(hub);
}
