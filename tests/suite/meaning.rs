//! Models that help to find tools by what they mean: the built-in one, and one that the user names. Nobody waits for either.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use satchel_tests::{Fake, Home, eventually};
use serde_json::{Value, json};

/// A source of embeddings that knows one thing: parrots relate to echoes. Supports both APIs.
struct Model {
    url: String,
    asked: Arc<AtomicUsize>,
    silent: Arc<AtomicBool>,
}

impl Model {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it has an address"));
        let model = Self { url, asked: Arc::default(), silent: Arc::default() };
        let (asked, silent) = (model.asked.clone(), model.silent.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (asked, silent) = (asked.clone(), silent.clone());
                std::thread::spawn(move || answer(stream, &asked, &silent));
            }
        });
        model
    }
}

fn answer(mut stream: std::net::TcpStream, asked: &AtomicUsize, silent: &AtomicBool) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream can be read"));
    loop {
        let (mut length, mut first) = (0, String::new());
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if first.is_empty() {
                first.clone_from(&line);
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        if silent.load(Ordering::SeqCst) {
            // Longer than the hub waits; the connection is closed meanwhile.
            let mut rest = Vec::new();
            let _ = reader.read_to_end(&mut rest);
            return;
        }
        let request: Value = serde_json::from_slice(&body).unwrap_or_default();
        let texts = request["input"].as_array().cloned().unwrap_or_default();
        // A query is sent again if the machine was too busy to wait for it; no tool contains this word.
        let of_tools = texts.iter().filter(|text| !text.as_str().unwrap_or_default().contains("parrot"));
        asked.fetch_add(of_tools.count(), Ordering::SeqCst);
        let vectors: Vec<Value> = texts
            .iter()
            .map(|text| {
                let text = text.as_str().unwrap_or_default().to_lowercase();
                if text.contains("echo") || text.contains("parrot") {
                    json!([1.0, 0.1])
                } else {
                    json!([0.1, 1.0])
                }
            })
            .collect();
        let answer = if first.contains("/v1/embeddings") {
            let data: Vec<Value> = (0..)
                .zip(vectors)
                .map(|(at, vector): (usize, Value)| json!({ "index": at, "embedding": vector }))
                .collect();
            json!({ "data": data })
        } else {
            json!({ "embeddings": vectors })
        };
        let answer = answer.to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(answer.as_bytes())).is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn a_model_finds_what_words_do_not_and_search_works_without_it() {
    let home = Home::empty();
    let servers = json!({ "fake": Fake::new(&home, "fake").entry() });
    home.write_config(&json!({ "mcpServers": servers }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    crate::offered(&client, "fake:echo").await;
    assert_eq!(client.paths("parrot").await, Vec::<String>::new(), "no word of it is anywhere");
    let model = Model::start();
    for url in [model.url.clone(), format!("{}/v1", model.url)] {
        home.edit_config(|config| config["embedding"] = json!({ "url": url, "model": "birds" }));
        // Another program set the address that texts are sent to.
        eventually("it waits for a person", async || {
            hub.status().await["notices"].to_string().contains("settings_held").then_some(())
        })
        .await;
        home.satchel_agreeing(&["approve", "--settings"]).await.succeeded();
        eventually("the model finds it", async || {
            (client.paths("parrot").await.first()? == "fake:echo").then_some(())
        })
        .await;
        assert_eq!(client.paths("sleep").await[0], "fake:sleep", "words still count");
        eventually("what it says of tools is kept", async || {
            let kept = std::fs::read_to_string(home.file("data/vectors.json")).ok()?;
            kept.contains(&format!("{url}\"")).then_some(())
        })
        .await;
    }

    // Vectors of tools are cached and not requested again.
    hub.terminate().await;
    let tools = model.asked.load(Ordering::SeqCst);
    let hub = home.start_hub().await;
    let client = hub.client("two").await;
    eventually("the model is used again", async || {
        (client.paths("a parrot").await.first()? == "fake:echo").then_some(())
    })
    .await;
    let more = model.asked.load(Ordering::SeqCst) - tools;
    assert!(more < 8, "{more} tools were asked for again, and there are eight");

    // It hangs: the search falls back to words, and soon.
    model.silent.store(true, Ordering::SeqCst);
    for query in ["echo again", "sleep long"] {
        let found = tokio::time::timeout(Duration::from_secs(30), client.paths(query)).await;
        assert!(found.is_ok_and(|found| !found.is_empty()), "{query}");
    }
    home.edit_config(|config| config["embedding"] = Value::Null);
    eventually("it is off", async || client.paths("a parrot").await.is_empty().then_some(())).await;
}

#[tokio::test]
async fn the_built_in_model_is_taken_in_when_it_is_there_and_left_out_when_it_is_switched_off() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let file = home.file("model");
    let variables = [("SATCHEL_MODEL", file.to_str().expect("temporary paths are UTF-8"))];
    std::fs::write(&file, satchel_embed::toy(&[&["echo", "parrot"], &["sleep", "nap"]]))
        .expect("the home can be written to");
    let hub = home.start_hub_with(&variables).await;
    let client = hub.client("one").await;
    crate::offered(&client, "fake:echo").await;
    eventually("the model finds it", async || {
        (client.paths("parrot").await.first()? == "fake:echo").then_some(())
    })
    .await;
    assert_eq!(client.paths("sleep").await[0], "fake:sleep", "words still count");
    let explained = home.satchel(&["tools", "parrot", "--explain"]).await;
    explained.succeeded();
    assert!(explained.stdout.contains("words 0.00, meaning 1.00"), "{}", explained.stdout);
    eventually("vectors are kept", async || {
        std::fs::read_to_string(home.file("data/vectors.json"))
            .ok()?
            .contains("all-MiniLM-L6-v2")
            .then_some(())
    })
    .await;
    home.edit_config(|config| config["search"] = json!({ "meaning": false }));
    eventually("it is off", async || client.paths("a parrot").await.is_empty().then_some(())).await;

    // The cached vectors are enough; only the query is computed.
    hub.terminate().await;
    home.edit_config(|config| config["search"] = json!({}));
    let kept = std::fs::metadata(home.file("data/vectors.json")).and_then(|kept| kept.modified()).ok();
    let hub = home.start_hub_with(&variables).await;
    let client = hub.client("two").await;
    eventually("it is used again", async || {
        (client.paths("my parrot").await.first()? == "fake:echo").then_some(())
    })
    .await;
    let now = std::fs::metadata(home.file("data/vectors.json")).and_then(|kept| kept.modified()).ok();
    assert_eq!(kept, now, "nothing was computed again");
}
