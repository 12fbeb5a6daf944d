//! What crosses the borders of the hub, and what does not: where it listens (S1), what a program is started with (S12),
//! what of a client's request reaches a server (S18), and when secrets are read (S24).

use std::{collections::BTreeSet, sync::Arc};

use satchel_tests::{Client, Fake, host_of};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Mutex,
};

use crate::{
    arena::{Arena, fixture, known, python},
    measured, random, sized,
};

/// The addresses a process listens on according to the kernel, except loopback ones.
fn listens_beyond_this_computer(pid: u32) -> (usize, Vec<String>) {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("it is ours");
    let sockets: BTreeSet<String> = descriptors
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.path()).ok()?.to_str().map(ToOwned::to_owned))
        .filter_map(|target| target.strip_prefix("socket:[")?.strip_suffix(']').map(ToOwned::to_owned))
        .collect();
    let (mut listening, mut beyond) = (0, Vec::new());
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let udp = table.starts_with("udp");
            // 0A is listening.
            if !sockets.contains(fields[9]) || (!udp && fields[3] != "0A") {
                continue;
            }
            listening += 1;
            let address = fields[1].split(':').next().expect("with a port");
            let local = ["0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"];
            if udp || !local.contains(&address) {
                beyond.push(format!("{table} {}", fields[1]));
            }
        }
    }
    (listening, beyond)
}

#[tokio::test]
async fn the_hub_listens_on_this_computer_alone() {
    let mut arena = Arena::new().await;
    let hosted = arena.host().await;
    arena.add_entry("far", hosted.entry("good"));
    let hub = arena.open().await;
    let client = hub.client("one").await;
    let _ = client.execute("far:echo", json!({ "text": "x" })).await;
    let (listening, beyond) = listens_beyond_this_computer(hub.pid);
    measured!("{listening} listeners, beyond this computer {}", beyond.len());
    assert!(listening >= 1, "the endpoint listens");
    assert_eq!(beyond, Vec::<String>::new());
    // One that listens everywhere is found.
    let everywhere = std::net::TcpListener::bind("0.0.0.0:0").expect("there is a port");
    let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    assert_eq!(listens_beyond_this_computer(std::process::id()).1.len(), 2);
    drop((everywhere, datagrams));
}

/// Arguments that shells, batch files and careless splitting would change.
fn arguments(random: &mut fastrand::Rng, canary: &str) -> Vec<String> {
    let nasty = [
        String::new(),
        " ".into(),
        "a b".into(),
        "\"".into(),
        "'".into(),
        "\\".into(),
        "a\\".into(),
        "\\\"".into(),
        "%PATH%".into(),
        "^&|<>".into(),
        "line\nline".into(),
        "\t".into(),
        "ä€😀".into(),
        "$HOME".into(),
        "$(id)".into(),
        "~".into(),
        "*".into(),
        "--".into(),
        "-c".into(),
        "!x".into(),
        "#x".into(),
        format!("$(touch {canary})"),
        format!("`touch {canary}`"),
        format!("; touch {canary}"),
        format!("| touch {canary}"),
        format!("&& touch {canary} &&"),
        format!("\n touch {canary}\n"),
    ];
    let pool: Vec<char> = "ab \"'\\%^&|<>$`!*?~#;()[]{}=,\n\té€😀\u{202e}-".chars().collect();
    (0..random.usize(1..4))
        .map(|_| match random.bool() {
            true => nasty[random.usize(0..nasty.len())].clone(),
            false => {
                let text: String =
                    (0..random.usize(0..12)).map(|_| pool[random.usize(0..pool.len())]).collect();
                // This syntax is a reference, which is meant to be expanded.
                text.replace("${", "$(")
            }
        })
        .collect()
}

#[tokio::test]
async fn arguments_reach_a_program_byte_for_byte_and_no_shell() {
    const VECTORS: usize = 2_000;
    let servers = sized(10, 40);
    let mut arena = Arena::new().await;
    let canary = arena.home.file("canary");
    let (seed, mut random) = random();
    let mut given: Vec<Vec<String>> = Vec::new();
    for number in 0..servers {
        let vectors =
            (0..VECTORS / servers).flat_map(|_| arguments(&mut random, canary.to_str().expect("plain")));
        let vectors: Vec<String> = vectors.collect();
        let script = fixture("argv_echo.py").to_str().expect("plain").to_owned();
        let args: Vec<&String> = [&script].into_iter().chain(&vectors).collect();
        arena.add_entry(&format!("s{number}"), json!({ "command": python(), "args": args }));
        given.push(vectors);
    }
    // The user configured a shell here, which changes some of them: that this is noticed proves that the rest is
    // compared.
    let planted = arena.home.file("planted");
    let words = ["a b".to_owned(), "%PATH%".to_owned(), format!("$(touch {})", planted.display())];
    let line = format!("exec {} {} {}", python(), fixture("argv_echo.py").display(), words.join(" "));
    arena.add_entry("careless", json!({ "command": "sh", "args": ["-c", line] }));
    let hub = arena.open().await;
    let client = hub.client("one").await;
    known(&arena.home, &["careless".to_owned()]).await;
    let text = client.execute("careless:argv", json!({})).await.text();
    assert_ne!(serde_json::from_str::<Vec<String>>(&text).expect("a list"), words);
    assert!(planted.exists());
    let names: Vec<String> = (0..servers).map(|number| format!("s{number}")).collect();
    known(&arena.home, &names).await;
    let mut compared = 0;
    for (name, given) in names.iter().zip(&given) {
        let text = client.execute(&format!("{name}:argv"), json!({})).await.text();
        let got: Vec<String> = serde_json::from_str(&text).expect("a list");
        assert_eq!(&got, given, "{name}, seed {seed}");
        compared += got.len();
    }
    measured!("{VECTORS} argument vectors with {compared} arguments, seed {seed}: all as given");
    assert!(compared >= VECTORS && !canary.exists());
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the recording proxy ends with the test's runtime")]
async fn nothing_of_a_clients_own_headers_reaches_a_server() {
    let arena = Arena::new().await;
    let hosted = arena.home.start_http_server(&[]).await;
    let target = host_of(&hosted.url).to_owned();
    let proxy = TcpListener::bind("127.0.0.1:0").await.expect("there is a port");
    let port = proxy.local_addr().expect("it has one").port();
    let recorded: Arc<Mutex<Vec<u8>>> = Arc::default();
    let record = recorded.clone();
    tokio::spawn(async move {
        while let Ok((client, _)) = proxy.accept().await {
            let Ok(server) = TcpStream::connect(&target).await else { return };
            let ((mut from, mut back), (mut answers, mut to)) = (client.into_split(), server.into_split());
            let record = record.clone();
            tokio::spawn(async move {
                let mut buffer = vec![0; 16 * 1024];
                while let Ok(count) = from.read(&mut buffer).await {
                    if count == 0 || to.write_all(&buffer[..count]).await.is_err() {
                        return;
                    }
                    record.lock().await.extend(&buffer[..count]);
                }
            });
            tokio::spawn(async move { tokio::io::copy(&mut answers, &mut back).await });
        }
    });
    let path =
        hosted.url.split_once("//").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    arena.home.write_config(
        &json!({ "mcpServers": { "far": { "url": format!("http://127.0.0.1:{port}/{path}") } } }),
    );
    let hub = arena.home.start_hub().await;
    let mut connection = hub.connection("one").await;
    let token = connection.headers["Authorization"].trim_start_matches("Bearer ").to_owned();
    let canary = "canary-of-an-inbound-header";
    for name in
        ["Cookie", "X-Api-Key", "X-Forwarded-For", "Proxy-Authorization", "X-Custom", "Forwarded", "From"]
    {
        connection.headers.insert(name.into(), canary.into());
    }
    let client = Client::open(&connection, "2025-11-25").await;
    known(&arena.home, &["far".to_owned()]).await;
    assert_eq!(client.execute("far:echo", json!({ "text": "passed on" })).await.text(), "passed on");
    let bytes = std::mem::take(&mut *recorded.lock().await);
    let said = String::from_utf8_lossy(&bytes);
    // Planted: the same headers, sent past the hub, are found.
    let mut past = satchel_tests::plain_http().post(format!("http://127.0.0.1:{port}/{path}"));
    for (name, value) in &connection.headers {
        past = past.header(name, value);
    }
    let _ = past.body("{}").send().await;
    let planted = recorded.lock().await.clone();
    let planted = String::from_utf8_lossy(&planted).into_owned();
    assert!(planted.contains(canary) && planted.contains(&token), "{planted}");
    measured!("{} bytes went to the server", bytes.len());
    assert!(said.contains("passed on"), "the call itself was recorded");
    assert!(!said.contains(canary) && !said.contains(&token), "{said}");
    assert!(
        !said.to_ascii_lowercase().contains("\r\ncookie:")
            && !said.to_ascii_lowercase().contains("\r\nauthorization:")
    );
}

#[tokio::test]
async fn a_secret_is_read_when_its_server_starts_and_never_before() {
    let arena = Arena::new().await;
    let home = &arena.home;
    let servers: serde_json::Map<String, Value> = (0..5)
        .map(|number| {
            let fake = Fake::new(home, &format!("s{number}")).env("TOKEN", &format!("${{secret:S{number}}}"));
            (format!("s{number}"), fake.with("startup", json!("manual")).entry())
        })
        .collect();
    home.write_config(&json!({ "mcpServers": servers }));
    let hub = home.start_hub().await;
    home.satchel_reading(&["secrets", "use-file"], "correct horse\n").await.succeeded();
    for number in 0..5 {
        let value = format!("canary-of-secret-{number}\n");
        home.satchel_reading(&["secrets", "set", &format!("S{number}")], &value).await.succeeded();
    }
    let reads = async || {
        let log = home.satchel(&["audit", "--json"]).await.json();
        let records = log.as_array().expect("records").iter();
        let reads = records.filter(|record| record["kind"] == "secret_read");
        reads.map(|record| (record["who"].clone(), record["subject"].clone())).collect::<Vec<_>>()
    };
    // Every command that displays something works without reading the store.
    for words in [
        &["list", "--json"][..],
        &["status", "--json"],
        &["secrets", "list", "--json"],
        &["doctor", "--json"],
    ] {
        let shown = home.satchel(words).await;
        assert!(!shown.stdout.contains("canary-of-secret"), "{shown:?}");
    }
    assert_eq!(reads().await, []);
    home.satchel(&["restart", "s3"]).await.succeeded();
    hub.until("s3", "ready").await;
    assert_eq!(reads().await, [(json!("s3"), json!("S3"))]);
}
