//! An MCP server whose behaviour is chosen by its arguments. Speaks stdio, or Streamable HTTP with `--http`.
//!
//! Plain blocking code without a runtime: what the hub sees must not depend on a library the hub uses too.
#![allow(clippy::disallowed_methods)] // sleeping threads are what this program is for; it has no runtime

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Command, ExitCode, Stdio, exit},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use satchel_tests::odd;
use serde_json::{Value, json};

const USAGE: &str =
    "fake-mcp-server [--name NAME] [--ledger FILE] [--tools N] [--no-tools] [--resources] [--slow-start MS]
  [--exit-early CODE] [--crash-after CALLS] [--banner] [--needs-roots] [--ignore-eof] [--grandchild]
  [--words FILE] [--version FILE] [--http [--require-header 'NAME: VALUE']]";

/// The options in the arguments.
#[derive(Default)]
struct Options {
    name: String,
    ledger: Option<String>,
    /// A file with the description of `echo`, if it exists.
    words: Option<String>,
    /// A file with its version.
    version: Option<String>,
    tools: usize,
    no_tools: bool,
    resources: bool,
    slow_start: Duration,
    exit_early: Option<i32>,
    crash_after: Option<usize>,
    banner: bool,
    needs_roots: bool,
    ignore_eof: bool,
    grandchild: bool,
    http: bool,
    require_header: Option<(String, String)>,
}

/// Sends messages to the client.
type Out = Arc<dyn Fn(&str) + Send + Sync>;

struct Server {
    options: Options,
    ledger: Option<Mutex<File>>,
    calls: AtomicUsize,
    grown: AtomicUsize,
    roots: Mutex<Option<Value>>,
    roots_came: Condvar,
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(wrong) => {
            eprintln!("{wrong}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let server = Arc::new(Server::new(options));
    server.note(&format!("start {}", std::process::id()));
    eprintln!("fake server {} started", server.options.name);
    thread::sleep(server.options.slow_start);
    if let Some(code) = server.options.exit_early {
        eprintln!("fatal: told to exit early");
        exit(code);
    }
    if server.options.grandchild {
        start_grandchild();
    }
    if server.options.http {
        serve_http(&server)
    } else {
        serve_stdio(&server)
    }
    ExitCode::SUCCESS
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { name: "fake".into(), ..Self::default() };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            let number = |text: String| text.parse().map_err(|_| format!("not a number: {text}"));
            match argument.as_str() {
                "--name" => options.name = value()?,
                "--ledger" => options.ledger = Some(value()?),
                "--tools" => options.tools = number(value()?)?,
                "--words" => options.words = Some(value()?),
                "--version" => options.version = Some(value()?),
                "--no-tools" => options.no_tools = true,
                "--resources" => options.resources = true,
                "--slow-start" => options.slow_start = Duration::from_millis(number(value()?)? as u64),
                "--exit-early" => options.exit_early = Some(number(value()?)? as i32),
                "--crash-after" => options.crash_after = Some(number(value()?)?),
                "--banner" => options.banner = true,
                "--needs-roots" => options.needs_roots = true,
                "--ignore-eof" => options.ignore_eof = true,
                "--grandchild" => options.grandchild = true,
                "--http" => options.http = true,
                "--require-header" => {
                    let header = value()?;
                    let (name, value) = header.split_once(": ").ok_or("a header is NAME: VALUE")?;
                    options.require_header = Some((name.to_ascii_lowercase(), value.to_owned()));
                }
                // Everything else is for the tool `about` to report, like a server's own arguments.
                other if !other.starts_with("--") => {}
                other => return Err(format!("unknown: {other}")),
            }
        }
        Ok(options)
    }
}

/// A helper that ignores SIGTERM, has lost its parent and would outlive us, like browsers and daemons.
fn start_grandchild() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "(trap '' TERM HUP INT; exec sleep 600) &"]);
    // Without a pipe of ours it cannot notice when we exit.
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.status().expect("sh can be started");
}

fn serve_stdio(server: &Arc<Server>) {
    if server.options.banner {
        println!("\n  fake server {}\n  {{not json}}\n[1, 2]\n", server.options.name);
    }
    let out: Out = Arc::new(|message| {
        let mut stdout = io::stdout().lock();
        // If the client is gone, the end of standard input ends us too.
        let _ = writeln!(stdout, "{message}").and_then(|()| stdout.flush());
    });
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let (server, out) = (server.clone(), out.clone());
        // One thread per message, so that a sleeping call does not delay the next.
        thread::spawn(move || server.handle(&message, &out));
    }
    server.note("end of input");
    if server.options.ignore_eof {
        loop {
            thread::park();
        }
    }
}

fn serve_http(server: &Arc<Server>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port can be had");
    let address = listener.local_addr().expect("a listener has an address");
    println!("{}", json!({ "url": format!("http://{address}/mcp"), "pid": std::process::id() }));
    for stream in listener.incoming().flatten() {
        let server = server.clone();
        thread::spawn(move || serve_connection(&server, stream));
    }
}

/// One request, one response, then the connection is closed: enough for a fake.
fn serve_connection(server: &Server, stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut request = String::new();
    reader.read_line(&mut request).ok()?;
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (status, body) = server.answer_http(&request, &headers, &body);
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    let mut stream = stream;
    stream.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes()).ok()
}

impl Server {
    fn new(options: Options) -> Self {
        let open = |path: &String| File::options().create(true).append(true).open(path);
        let ledger =
            options.ledger.as_ref().map(|path| Mutex::new(open(path).expect("the ledger can be written")));
        Self {
            options,
            ledger,
            calls: AtomicUsize::new(0),
            grown: AtomicUsize::new(0),
            roots: Mutex::new(None),
            roots_came: Condvar::new(),
        }
    }

    /// Writes one line to the ledger, atomically even with several processes.
    fn note(&self, line: &str) {
        if let Some(ledger) = &self.ledger {
            let mut file = ledger.lock().expect("no thread panics while it writes");
            file.write_all(format!("{line}\n").as_bytes()).expect("the ledger can be written");
        }
    }

    fn answer_http(
        &self,
        request: &str,
        headers: &BTreeMap<String, String>,
        body: &[u8],
    ) -> (&'static str, String) {
        if let Some((name, value)) = &self.options.require_header
            && headers.get(name) != Some(value)
        {
            return ("401 Unauthorized", json!({ "error": "the header is missing" }).to_string());
        }
        if !request.starts_with("POST") {
            return ("405 Method Not Allowed", String::new());
        }
        let Ok(message) = serde_json::from_slice::<Value>(body) else {
            return ("400 Bad Request", String::new());
        };
        let answer = Arc::new(Mutex::new(String::new()));
        let sink = answer.clone();
        // Only the response: notifications would need a stream, which this fake does not offer.
        let out: Out = Arc::new(move |text| {
            if serde_json::from_str::<Value>(text).is_ok_and(|message| message.get("method").is_none()) {
                *sink.lock().expect("no thread panics while it writes") = text.to_owned();
            }
        });
        self.handle(&message, &out);
        let answer = answer.lock().expect("no thread panics while it writes").clone();
        if answer.is_empty() { ("202 Accepted", answer) } else { ("200 OK", answer) }
    }

    fn handle(&self, message: &Value, out: &Out) {
        let Some(method) = message["method"].as_str() else { return self.take_answer(message) };
        match message.get("id") {
            None => self.take_note(method, message, out),
            Some(id) => {
                let answer = self.answer(method, &message["params"], out);
                let (kind, text) = match answer {
                    Ok(result) => ("result", result),
                    Err((code, words)) => ("error", json!({ "code": code, "message": words }).to_string()),
                };
                out(&format!(r#"{{"jsonrpc":"2.0","id":{id},"{kind}":{text}}}"#));
            }
        }
    }

    fn words(&self) -> Option<String> {
        std::fs::read_to_string(self.options.words.as_ref()?).ok()
    }

    fn take_answer(&self, message: &Value) {
        if message["id"] == "roots" {
            *self.roots.lock().expect("no thread panics while it writes") = Some(message.clone());
            self.roots_came.notify_all();
        }
    }

    fn take_note(&self, method: &str, message: &Value, out: &Out) {
        match method {
            "notifications/initialized" if self.options.needs_roots => {
                out(&json!({ "jsonrpc": "2.0", "id": "roots", "method": "roots/list" }).to_string());
            }
            "notifications/cancelled" => self.note(&format!("cancelled {}", message["params"]["requestId"])),
            _ => {}
        }
    }

    /// The result as text, so that odd ones are sent exactly as written.
    fn answer(&self, method: &str, params: &Value, out: &Out) -> Result<String, (i64, String)> {
        match method {
            "tools/call" => return self.call(params, out),
            _ => self.note(method),
        }
        let result = match method {
            "initialize" => {
                let mut capabilities = json!({ "tools": { "listChanged": true } });
                if self.options.resources {
                    capabilities["resources"] = json!({});
                }
                let version =
                    self.options.version.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
                let version = version.unwrap_or_else(|| "1".into());
                json!({
                    "protocolVersion": params["protocolVersion"], "capabilities": capabilities,
                    "serverInfo": { "name": self.options.name, "version": version },
                })
            }
            "ping" => json!({}),
            "tools/list" if self.options.no_tools => json!({ "tools": [] }),
            "tools/list" => json!({ "tools": self.tools() }),
            "resources/list" if self.options.resources => json!({ "resources": [
                { "uri": "fake://note/1", "name": "first note", "mimeType": "text/plain" },
                { "uri": "ui://fake/view", "name": "view", "_meta": { "ui": { "resourceUri": "ui://fake/view" } } },
            ] }),
            "resources/templates/list" if self.options.resources => json!({ "resourceTemplates": [
                { "uriTemplate": "fake://note/{id}", "name": "a note" },
            ] }),
            "resources/read" if self.options.resources => {
                let uri = params["uri"].as_str().unwrap_or_default();
                let reads = self.calls.fetch_add(1, Ordering::SeqCst);
                json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": format!("read {reads} of {uri}") }] })
            }
            other => return Err((-32601, format!("Method not found: {other}"))),
        };
        Ok(result.to_string())
    }

    fn tools(&self) -> Vec<Value> {
        let tool = |name: &str, description: &str, properties: Value| {
            json!({ "name": name, "description": description,
                    "inputSchema": { "type": "object", "properties": properties } })
        };
        let text = || json!({ "type": "string" });
        let mut tools = vec![
            tool("echo", self.words().as_deref().unwrap_or("Says a text back."), json!({ "text": text() })),
            tool(
                "sleep",
                "Answers after a while, or when a file exists.",
                json!({ "ms": { "type": "integer" }, "until": text() }),
            ),
            tool("about", "Tells of its process.", json!({ "env": { "type": "array", "items": text() } })),
            tool("progress", "Reports three steps.", json!({})),
            tool("odd", "Answers with an unusual result.", json!({ "which": text() })),
            tool("grow", "Adds one tool.", json!({})),
            tool("crash", "Ends without an answer.", json!({})),
            tool("roots", "Tells which roots it was given.", json!({})),
        ];
        let more = self.options.tools + self.grown.load(Ordering::SeqCst);
        tools.extend((1..=more).map(|n| tool(&format!("extra_{n}"), "One of many.", json!({}))));
        tools
    }

    fn call(&self, params: &Value, out: &Out) -> Result<String, (i64, String)> {
        let name = params["name"].as_str().unwrap_or_default();
        let arguments = &params["arguments"];
        let before = self.calls.fetch_add(1, Ordering::SeqCst);
        if self.options.crash_after.is_some_and(|allowed| before >= allowed) || name == "crash" {
            self.note(&format!("crash in {name}"));
            eprintln!("fatal: told to crash");
            exit(9);
        }
        self.note(&format!("call {name}"));
        let said = match name {
            "echo" => arguments["text"].as_str().unwrap_or_default().to_owned(),
            "sleep" => {
                sleep(arguments);
                self.note("slept");
                format!("pid {}", std::process::id())
            }
            "about" => {
                let mut about = about(arguments);
                about["meta"] = params["_meta"].clone();
                about.to_string()
            }
            "progress" => {
                let token = &params["_meta"]["progressToken"];
                for step in 1..=3 {
                    let params =
                        json!({ "progressToken": token, "progress": step, "total": 3, "message": "on it" });
                    out(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
                        .to_string());
                }
                "done".into()
            }
            "odd" => {
                let found = odd::RESULTS.iter().find(|(name, _)| arguments["which"] == *name);
                return found.map(|(_, text)| (*text).to_owned()).ok_or((-32602, "no such result".into()));
            }
            "grow" => {
                self.grown.fetch_add(1, Ordering::SeqCst);
                out(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }).to_string());
                "grown".into()
            }
            "roots" => self.wait_for_roots(),
            extra if extra.starts_with("extra_") => extra.to_owned(),
            other => return Err((-32602, format!("Unknown tool: {other}"))),
        };
        Ok(json!({ "content": [{ "type": "text", "text": said }] }).to_string())
    }

    fn wait_for_roots(&self) -> String {
        let roots = self.roots.lock().expect("no thread panics while it writes");
        let limit = Duration::from_secs(30);
        let (roots, _) = self
            .roots_came
            .wait_timeout_while(roots, limit, |roots| roots.is_none())
            .expect("no thread panics while it writes");
        roots.as_ref().map_or("nobody answered".into(), Value::to_string)
    }
}

/// Sleeps for `ms` milliseconds, less if the file `until` exists earlier.
fn sleep(arguments: &Value) {
    let end = Instant::now() + Duration::from_millis(arguments["ms"].as_u64().unwrap_or(0));
    let until = arguments["until"].as_str().map(Path::new);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || until.is_some_and(Path::exists) {
            return;
        }
        thread::sleep(if until.is_some() { left.min(Duration::from_millis(20)) } else { left });
    }
}

fn about(arguments: &Value) -> Value {
    let names = arguments["env"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let env: BTreeMap<&str, Option<String>> = names.map(|name| (name, std::env::var(name).ok())).collect();
    let directory = std::env::current_dir().unwrap_or_default();
    json!({ "pid": std::process::id(), "args": std::env::args().collect::<Vec<_>>(), "cwd": directory, "env": env })
}
