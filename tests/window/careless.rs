//! A stranger's server: gives pages that attack on his orders, and serves whatever else it is asked for as carelessly as
//! can be.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard},
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// Follows the orders of the server whose port is after the `#` in its address.
pub(crate) const PAGE: &str = concat!(
    "<!doctype html><title>page</title><body>of a stranger<script>function attack() {",
    include_str!("hostile_page.js"),
    "}\n",
    include_str!("orders.js"),
    "</script></body>"
);

/// A server on a port of its own that records what arrives.
pub(crate) struct Careless {
    pub(crate) port: u16,
    book: Arc<Mutex<Book>>,
    serving: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct Book {
    /// The ways by which requests arrived here.
    came: BTreeSet<String>,
    /// The page's next order.
    order: Option<Value>,
    /// The page's address when it asked last.
    at: Option<String>,
    /// The outcome of the page's last attack.
    found: Option<Value>,
}

impl Careless {
    #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("a listener has an address").port();
        let book: Arc<Mutex<Book>> = Arc::default();
        let shared = book.clone();
        let serving = tokio::spawn(async move {
            // They end with the accepting task: browsers keep connections open for later.
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, shared.clone()));
            }
        });
        Self { port, book, serving }
    }

    /// Releases the port.
    pub(crate) async fn stop(self) {
        self.serving.abort();
        let _ = self.serving.await;
    }

    /// The ways by which requests arrived here.
    pub(crate) fn came(&self) -> BTreeSet<String> {
        self.book().came.clone()
    }

    /// Does a page at this address ask for orders?
    pub(crate) fn has_page_at(&self, address: &str) -> bool {
        self.book().at.as_deref() == Some(address)
    }

    /// Orders the page to go to another address (`go`), or to try everything at one (`attack`).
    pub(crate) fn order(&self, order: Value) {
        self.book().order = Some(order);
    }

    /// The outcome of the page's last attack, once it has ended.
    pub(crate) fn found(&self) -> Option<Value> {
        self.book().found.take()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("no holder panics")
    }
}

impl Book {
    /// Records what a page reports, and returns its orders.
    fn ask(&mut self, said: &Value) -> String {
        self.at = said["at"].as_str().map(ToOwned::to_owned);
        if !said["found"].is_null() {
            self.found = Some(said["found"].clone());
        }
        self.order.take().unwrap_or_default().to_string()
    }
}

async fn serve(mut stream: TcpStream, book: Arc<Mutex<Book>>) -> Option<()> {
    let (head, body) = request(&mut stream).await?;
    let by = head.split_once("by=").map_or("page", |(_, rest)| rest.split(['&', ' ']).next().unwrap_or(rest));
    let (kind, answer) = {
        let mut book = book.lock().expect("no holder panics");
        if !body.is_empty() {
            book.came.insert(by.to_owned());
        }
        match by {
            "page" if head.starts_with("POST /orders ") => {
                ("application/json", book.ask(&serde_json::from_slice(&body).ok()?))
            }
            "page" => ("text/html", PAGE.to_owned()),
            "script" => ("text/javascript", "window.strange = 1".to_owned()),
            "style" => ("text/css", ":root { --strange: 1 }".to_owned()),
            "image" => {
                ("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>".to_owned())
            }
            "events" => ("text/event-stream", "data: x\n\n".to_owned()),
            _ => ("text/html", "<!doctype html><title>page</title><body>of a stranger</body>".to_owned()),
        }
    };
    let open = format!(
        "access-control-allow-origin: {}\r\naccess-control-allow-credentials: true\r\n\
         access-control-allow-headers: authorization, content-type\r\naccess-control-allow-methods: PUT, DELETE, PATCH",
        field(&head, "origin").unwrap_or("*")
    );
    let answer = format!(
        "HTTP/1.1 200 OK\r\n{open}\r\nconnection: close\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{answer}",
        answer.len()
    );
    stream.write_all(answer.as_bytes()).await.ok()
}

/// Headers and body of a request; `None` if the connection ends first.
async fn request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = field(&head, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        if bytes.len() - (end + 4) >= length {
            return Some((head, bytes.split_off(end + 4)));
        }
    }
}

fn field<'head>(head: &'head str, name: &str) -> Option<&'head str> {
    let mut fields = head.lines().filter_map(|line| line.split_once(": "));
    fields.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}
