//! What happens around one sign-in: who may disturb it, how it is done from afar, what is kept of it, and that nothing
//! opens by itself.

use std::process::Stdio;

use satchel_tests::{Home, Hub, Protected, browse, eventually, plain_http, program, protected};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
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
        Self::begin_at(home, "a", more).await
    }

    async fn begin_at(home: &Home, server: &str, more: &[&str]) -> Self {
        let mut command = home.command(program("satchel"));
        command.args(["login", server]).args(more);
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

    /// Its exit code and final output.
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

/// A7: any web page can send requests to this computer; none of them ends or changes a sign-in.
#[tokio::test]
async fn a_sign_in_ends_only_with_its_own_redirect() {
    let (home, server) = world("plain").await;
    let _hub = home.start_hub().await;
    keep_secrets(&home).await;
    let login = Login::begin(&home, &["--no-browser"]).await;
    let redirect = login.parameter("redirect_uri");
    let http = plain_http();
    let state = login.parameter("state");
    let mut answered = std::collections::BTreeMap::<u16, usize>::new();
    let port = redirect.split([':', '/']).nth(4).expect("it has a port").to_owned();
    let mut slow = vec![];
    for _ in 0..20 {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).await.expect("it listens");
        stream.write_all(b"GET /callback?state=").await.expect("it reads");
        slow.push(stream);
    }
    for at in 0..250_u32 {
        let requests = [
            http.get(format!("{redirect}?state=evil{at}&code=evil")),
            http.get(format!("{redirect}?error=access_denied&state=evil{at}")),
            http.get(format!("{redirect}?state={state}&code=evil")).header("host", "evil.example"),
            // A refused POST may end its connection, so none is shared with other requests.
            http.post(format!("{redirect}?state={state}&code=evil"))
                .header("connection", "close")
                .body("x".repeat(1024)),
        ];
        for request in requests {
            let response = request.send().await.expect("it answers");
            *answered.entry(response.status().as_u16()).or_default() += 1;
        }
    }
    // A large body is refused, or cut off while it is being sent.
    let large = http.post(format!("{redirect}?state={state}&code=evil")).header("connection", "close");
    if let Ok(response) = large.body("x".repeat(1 << 20)).send().await {
        *answered.entry(response.status().as_u16()).or_default() += 1;
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

/// A7: each of two sign-ins takes its own response, whichever comes first.
#[tokio::test]
async fn two_sign_ins_at_once_end_each_by_its_own_answer() {
    let home = Home::empty();
    let server = protected(&home, "plain").await;
    home.write_config(
        &json!({ "mcpServers": { "a": { "url": server.url() }, "b": { "url": server.url() } } }),
    );
    let hub = home.start_hub().await;
    keep_secrets(&home).await;
    let first = Login::begin_at(&home, "a", &["--no-browser"]).await;
    let second = Login::begin_at(&home, "b", &["--no-browser"]).await;
    for (login, name) in [(second, "b"), (first, "a")] {
        let shown = browse(&home, &login.page, false).await;
        assert!(
            shown["body"].as_str().is_some_and(|body| body.contains(&format!("Signed in to {name}"))),
            "{shown}"
        );
        assert_eq!(login.end().await.0, Some(0));
    }
    let client = hub.client("one").await;
    let mut people = std::collections::BTreeSet::new();
    for name in ["a", "b"] {
        people.insert(client.execute(&format!("{name}:whoami"), json!({})).await.text());
    }
    assert_eq!((people.len(), server.pages().await), (2, 2), "{people:?}");
}

/// A7: if another program has the port the user chose, the error names it, and no page opens.
#[tokio::test]
async fn a_port_that_another_program_has_is_named() {
    let home = Home::empty();
    let server = protected(&home, "preregistered_public").await;
    let other = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let port = other.local_addr().expect("it has an address").port();
    home.write_config(&json!({ "mcpServers": { "a": { "url": server.url(), "oauth": { "port": port } } } }));
    let _hub = home.start_hub().await;
    keep_secrets(&home).await;
    // Entering an app at a terminal approves the entry it changes.
    let login = home.satchel_typing(&["login", "a", "--client-id", "app-1", "--no-browser"], "").await;
    login.failed_with(4);
    let named = login.stdout.contains(&format!("port {port}"));
    assert!(named && login.stdout.contains("stop the program that uses it"), "{login:?}");
    assert_eq!(server.pages().await, 0);
    drop(other);
    home.sign_in("a").await;
    assert!(!server.log().await.iter().any(|event| event["endpoint"] == "register"));
}

/// A7: a response can be used once.
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

/// A8: secrets are in the keychain, or here in the encrypted file, and nowhere else.
#[tokio::test]
async fn nothing_secret_is_found_anywhere() {
    let (home, server) = world("dcr_secret_post").await;
    let claims = "eyJlbWFpbCI6Im1lQGV4YW1wbGUuY29tIn0";
    let more = [("registration token", "canary-of-the-registration"), ("ID token", claims)];
    server
        .set(&json!({
            "dcr_patch": { "registration_access_token": more[0].1, "registration_client_uri": "http://127.0.0.1:1/me" },
            "token_patch": { "id_token": format!("h.{claims}.s") },
        }))
        .await;
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
    canaries.extend(more.map(|(_, canary)| canary.to_owned()));
    assert!(canaries.len() >= 9, "{canaries:?}");
    let mut told = format!("{said}{first}{second}{quoted}{complaint}{status}{accounts}");
    assert!(accounts.to_string().contains("me@example.com"), "the ID token was read: {accounts}");
    for words in [["doctor"].as_slice(), &["history", "export", "--json"], &["logs", "a"], &["list"]] {
        let output = home.satchel(words).await;
        told.extend([output.stdout, output.stderr]);
    }
    for canary in &canaries {
        assert!(!told.contains(canary.as_str()), "{canary} was told");
        for (path, bytes) in home.files() {
            // The files of the test's own browser do not count.
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

/// A12: expired tokens are refreshed by the first caller that needs them, also after the hub was down meanwhile.
#[tokio::test]
async fn a_restart_renews_the_sign_in_without_a_person() {
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

/// An unfinished page does not affect the present sign-in.
#[tokio::test]
async fn a_token_is_renewed_while_a_page_for_more_scopes_is_open() {
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

/// Removing a server signs out at the provider too.
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

/// An app that the user registered is entered while adding its server; its secret goes to the keychain, not into the
/// file.
#[tokio::test]
async fn an_app_is_entered_while_its_server_is_added() {
    let home = Home::empty();
    let server = protected(&home, "secret_post").await;
    let hub = home.start_hub().await;
    keep_secrets(&home).await;
    let words = ["add", "a", "--url", server.url(), "--client-id", "app-1", "--client-secret"];
    home.satchel_reading(&words, "s3cret\n").await.succeeded();
    let oauth = home.config()["mcpServers"]["a"]["oauth"].clone();
    assert_eq!(oauth, json!({ "clientId": "app-1", "clientSecret": "${secret:A_CLIENT_SECRET}" }));
    home.sign_in("a").await;
    call(&hub, "one").await;
    let log = server.log().await;
    assert!(!log.iter().any(|event| event["endpoint"] == "register"), "it is an app of the user's own");
    // Without a secret nothing changes.
    home.satchel_reading(&["add", "b", "--url", server.url(), "--client-id", "x", "--client-secret"], "\n")
        .await
        .failed_with(2);
    assert!(home.config()["mcpServers"]["b"].is_null());
}

/// A server from another program comes without that program's tokens: it needs a sign-in here, and Satchel names the
/// file with the tokens, but does not read it.
#[tokio::test]
async fn a_server_that_another_program_had_signed_in_to_comes_signed_out() {
    let home = Home::empty();
    let server = protected(&home, "plain").await;
    let gemini = home.file(".gemini");
    std::fs::create_dir_all(&gemini).expect("the home can be written");
    let settings = json!({ "mcpServers": { "hosted": { "httpUrl": server.url() } } });
    std::fs::write(gemini.join("settings.json"), settings.to_string()).expect("the home can be written");
    let tokens = gemini.join("mcp-oauth-tokens.json");
    std::fs::write(&tokens, r#"[{"serverName":"hosted","token":{"accessToken":"canary-of-gemini"}}]"#)
        .expect("the home can be written");
    let hub = home.start_hub().await;
    let came = home.satchel(&["import", "--from", "gemini-cli"]).await;
    came.succeeded();
    let told = format!("{}{}", came.stdout, came.stderr);
    assert!(told.contains("mcp-oauth-tokens.json, which Satchel does not read"), "{told}");
    let shown = hub.until("hosted", "needs_sign_in").await;
    assert_eq!(shown["sign_in"]["sign_in"], "signed_out", "{shown}");
    for (path, bytes) in home.files().into_iter().filter(|(path, _)| *path != tokens) {
        assert!(!bytes.windows(16).any(|window| window == b"canary-of-gemini"), "{}", path.display());
    }
    let log = server.log().await;
    assert!(log.iter().all(|event| event["auth"].as_str().is_none_or(str::is_empty)), "{log:?}");
    assert_eq!(server.pages().await, 0);
}
