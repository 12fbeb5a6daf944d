//! HTTP+SSE, the transport of 2024-11-05, on both sides of the hub: clients that know nothing newer, and servers that
//! do not.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use reqwest::header::ACCEPT;
use satchel_tests::{Connection, Events, Home, Hub, LEGACY, eventually, fixture, plain_http};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{Notify, mpsc},
};

use crate::{
    client::Era,
    pairs::client_at,
    station::{Asked, Speaks, Station},
};

/// A client that only supports the oldest transport.
struct Old {
    http: reqwest::Client,
    connection: Connection,
    messages: String,
    events: Events,
}

impl Old {
    async fn open(hub: &Hub<'_>, name: &str) -> Self {
        let mut connection = hub.connection(name).await;
        let base = connection.url.strip_suffix("/mcp").expect("the endpoint's path").to_owned();
        connection.url = format!("{base}/sse");
        let http = plain_http();
        let mut request = http.get(&connection.url).header(ACCEPT, "text/event-stream");
        for (name, value) in &connection.headers {
            request = request.header(name, value);
        }
        let response = request.send().await.expect("the endpoint answers");
        assert_eq!(response.status(), 200);
        let mut events = Events::new(response);
        let place = events.next().await.expect("it says where messages go");
        let mut old = Self { http, connection, messages: format!("{base}{place}"), events };
        let hello = json!({
            "protocolVersion": "2024-11-05", "capabilities": { "sampling": {}, "roots": {} },
            "clientInfo": { "name": "old", "version": "1" },
        });
        let opened = old.request("initialize", hello).await;
        assert_eq!(opened["result"]["protocolVersion"], "2024-11-05", "{opened}");
        assert_eq!(old.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await, 202);
        old
    }

    async fn post(&self, message: &Value) -> u16 {
        self.post_as(&self.connection, message.to_string()).await
    }

    async fn post_as(&self, whose: &Connection, body: String) -> u16 {
        let mut request = self.http.post(&self.messages).header("content-type", "application/json");
        for (name, value) in &whose.headers {
            request = request.header(name, value);
        }
        request.body(body).send().await.expect("the endpoint answers").status().as_u16()
    }

    async fn next(&mut self) -> Value {
        let event = self.events.next().await.expect("the stream stays open");
        serde_json::from_str(&event).unwrap_or_else(|error| panic!("{error}: {event}"))
    }

    /// The next request or response; notifications, which may come at any time, are skipped.
    async fn next_but_notifications(&mut self) -> Value {
        loop {
            let message = self.next().await;
            if !message["id"].is_null() {
                return message;
            }
        }
    }

    /// Sends a request and returns its response, whatever comes first.
    async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = format!("{method}-1");
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        assert_eq!(self.post(&request).await, 202);
        loop {
            let message = self.next().await;
            if message["id"] == *id {
                return message;
            }
        }
    }
}

fn tools(list: &Value) -> Vec<&str> {
    let tools = list["result"]["tools"].as_array().expect("a list of tools");
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[tokio::test]
async fn an_old_client_lists_and_calls_on_one_stream() {
    let home = Home::with_servers(json!({ "fx": fixture(LEGACY) }));
    let hub = home.start_hub().await;
    let mut old = Old::open(&hub, "old").await;
    let listed = old.request("tools/list", json!({})).await;
    assert_eq!(tools(&listed).len(), 4, "{listed}");
    let call = json!({ "name": "execute_mcp_tool", "arguments": {
        "tool_path": "fx:test_simple_text", "arguments": {} } });
    let said = old.request("tools/call", call).await;
    assert!(
        said["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("simple")),
        "{said}"
    );
    let unknown = old.request("no/such", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601);

    // Nobody else can use its session, and a body that is not a message is refused.
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let other = hub.connection("other").await;
    assert_eq!(old.post_as(&other, ping.to_string()).await, 404);
    assert_eq!(old.post_as(&old.connection, "{".to_owned()).await, 400);
    old.messages.push('x');
    assert_eq!(old.post(&ping).await, 404);
}

#[tokio::test]
async fn an_old_client_gets_questions_and_notifications_during_a_call() {
    let home = Home::with_servers(json!({ "fx": fixture(LEGACY) }));
    let hub = home.start_hub().await;
    hub.connection("old").await;
    home.satchel(&["surface", "old", "direct"]).await.succeeded();
    let mut old = Old::open(&hub, "old").await;
    eventually("all tools are listed", async || {
        let listed = old.request("tools/list", json!({})).await;
        tools(&listed).contains(&"fx-test_sampling").then_some(())
    })
    .await;

    let call = json!({ "name": "fx-test_sampling", "arguments": { "prompt": "What is new?" } });
    let request = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call });
    assert_eq!(old.post(&request).await, 202);
    let question = old.next_but_notifications().await;
    assert_eq!(question["method"], "sampling/createMessage", "{question}");
    assert_eq!(question["params"]["messages"][0]["content"]["text"], "What is new?");
    let answer = json!({ "role": "assistant", "content": { "type": "text", "text": "said by the model" },
        "model": "a model", "stopReason": "endTurn" });
    assert_eq!(old.post(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await, 202);
    let said = old.next_but_notifications().await;
    assert_eq!(said["id"], 7, "{said}");
    assert_eq!(said["result"]["content"][0]["text"], "LLM response: said by the model");

    let call = json!({ "name": "fx-test_trigger_tool_change", "arguments": {} });
    let request = json!({ "jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": call });
    assert_eq!(old.post(&request).await, 202);
    loop {
        if old.next().await["method"] == "notifications/tools/list_changed" {
            break;
        }
    }
}

/// A server that only supports the oldest transport, with one tool that asks the client's model.
struct OldServer {
    url: String,
    shared: Arc<OldShared>,
}

#[derive(Default)]
struct OldShared {
    stream: Mutex<Option<mpsc::UnboundedSender<String>>>,
    answered: Mutex<Option<Value>>,
    answer: Notify,
    /// The URL for messages that it names; if empty, its own.
    elsewhere: String,
    headers: Mutex<Vec<HeaderMap>>,
}

impl OldServer {
    async fn start(elsewhere: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/sse", listener.local_addr().expect("a listener has an address"));
        let shared = Arc::new(OldShared { elsewhere: elsewhere.to_owned(), ..OldShared::default() });
        let router = Router::new().fallback(old_server).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }
}

async fn old_server(State(shared): State<Arc<OldShared>>, request: Request) -> Response {
    shared.headers.lock().expect("nobody panics while it holds this").push(request.headers().clone());
    match (request.method().clone(), request.uri().path()) {
        (Method::GET, "/sse") => {
            let (sender, receiver) = mpsc::unbounded_channel();
            let place = if shared.elsewhere.is_empty() { "/post?session=1" } else { &shared.elsewhere };
            let _ = sender.send(format!("event: endpoint\ndata: {place}\n\n"));
            *shared.stream.lock().expect("nobody panics while it holds this") = Some(sender);
            let events = stream::unfold(receiver, |mut receiver| async {
                let event = receiver.recv().await?;
                Some((Ok::<_, Infallible>(Bytes::from(event)), receiver))
            });
            ([("content-type", "text/event-stream")], Body::from_stream(events)).into_response()
        }
        (Method::POST, "/post") => {
            let body = to_bytes(request.into_body(), 1 << 20).await.expect("a body");
            let message: Value = serde_json::from_slice(&body).expect("JSON");
            tokio::spawn(old_answer(shared, message));
            StatusCode::ACCEPTED.into_response()
        }
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

async fn old_answer(shared: Arc<OldShared>, message: Value) {
    let say = |message: Value| {
        let stream = shared.stream.lock().expect("nobody panics while it holds this");
        let _ = stream.as_ref().expect("a stream").send(format!("event: message\ndata: {message}\n\n"));
    };
    let answer = |result: Value| say(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
    match message["method"].as_str() {
        Some("initialize") => answer(json!({
            "protocolVersion": "2024-11-05", "capabilities": { "tools": {} },
            "serverInfo": { "name": "old", "version": "1" },
        })),
        Some("tools/list") => {
            answer(json!({ "tools": [{ "name": "ask", "inputSchema": { "type": "object" } }] }));
        }
        Some("tools/call") => {
            let token = &message["params"]["_meta"]["progressToken"];
            say(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {
                "progressToken": token, "progress": 1, "total": 2 } }));
            let content = json!({ "type": "text", "text": "What is new?" });
            say(json!({ "jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": {
                "messages": [{ "role": "user", "content": content }], "maxTokens": 10 } }));
            shared.answer.notified().await;
            let answered =
                shared.answered.lock().expect("nobody panics while it holds this").take().expect("an answer");
            answer(json!({ "content": [{ "type": "text", "text": answered["content"]["text"] }] }));
        }
        Some("ping") => answer(json!({})),
        Some(_) => {}
        None if message["id"] == "q" => {
            *shared.answered.lock().expect("nobody panics while it holds this") =
                Some(message["result"].clone());
            shared.answer.notify_one();
        }
        None => {}
    }
}

#[tokio::test]
async fn a_server_of_the_oldest_transport_is_detected_and_asks_clients_of_both_families() {
    let server = OldServer::start("").await;
    let headers = json!({ "Authorization": "Bearer mine" });
    let home = Home::with_servers(json!({ "old": { "url": server.url, "headers": headers } }));
    let hub = home.start_hub().await;
    for era in [Era::Legacy, Era::Modern] {
        let mut client = client_at(&hub, "/server/old", era).await;
        client.open().await;
        let params = json!({ "name": "ask", "arguments": {}, "_meta": { "progressToken": "how far" } });
        let told = client.request("tools/call", params).await;
        assert_eq!(told.text(), "said by the model", "{era:?}");
        assert_eq!(told.questions.len(), 1, "{era:?}: {told:?}");
        assert_eq!(told.notes[0]["params"]["progressToken"], "how far", "{era:?}: {told:?}");
    }
    let headers = server.shared.headers.lock().expect("nobody panics while it holds this");
    assert!(headers.iter().all(|headers| headers["authorization"] == "Bearer mine"), "with every request");
}

#[tokio::test]
async fn messages_for_a_server_of_the_oldest_transport_go_to_no_other_origin() {
    let elsewhere = Station::start(Speaks::Both, |_: &Asked| None).await;
    let server = OldServer::start(&elsewhere.url).await;
    let home = Home::with_servers(json!({ "old": { "url": server.url } }));
    let hub = home.start_hub().await;
    let complaint = hub.client("one").await.execute("old:ask", json!({})).await.complaint();
    assert!(complaint.contains("origin"), "{complaint}");
    assert!(elsewhere.asked().is_empty());
}
