//! The same small stdio MCP server behind every hub: one thread, blocking, some microseconds a call.
//! `peers-upstream [--tools N] [--pad BYTES] [--name NAME]`

use std::io::{BufRead, BufReader, BufWriter, Write};

use clap::Parser;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

const BUFFER: usize = 64 * 1024;
const KNOWN: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const VERBS: [&str; 8] = ["get", "list", "search", "read", "count", "describe", "find", "show"];
const NOUNS: [&str; 12] = [
    "invoice", "meeting", "branch", "ticket", "photo", "recipe", "train", "contract", "sensor", "playlist",
    "parcel", "patient",
];

#[derive(Parser)]
struct Options {
    /// Number of its tools; `echo` and `big` are always among them.
    #[arg(long, default_value_t = 2)]
    tools: usize,
    /// Minimum length of a description, in bytes.
    #[arg(long, default_value_t = 0)]
    pad: usize,
    /// Its name.
    #[arg(long, default_value = "echo")]
    name: String,
}

#[derive(Deserialize)]
struct Incoming<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Call<'a> {
    name: &'a str,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

fn tool(name: &str, description: &str, properties: &Value, required: &str) -> Value {
    json!({
        "name": name, "description": description,
        "inputSchema": { "type": "object", "properties": properties, "required": [required] },
        "annotations": { "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false },
    })
}

/// A tool that is listed and never called.
fn listed(at: usize, options: &Options) -> Value {
    let (verb, noun) = (VERBS[at % VERBS.len()], NOUNS[(at / VERBS.len()) % NOUNS.len()]);
    let server = &options.name;
    let mut description = format!(
        "{verb} the {noun} entries of {server} that fit the filter, newest first, number {at}. Returns name, state and time of each."
    );
    while description.len() < options.pad {
        description.push_str(" It looks at every entry once and keeps what fits the filter, in order.");
    }
    let properties = json!({
        "filter": { "type": "string", "description": format!("Which {noun} entries, as words") },
        "limit": { "type": "integer", "description": "How many at most", "minimum": 1, "maximum": 100 },
        "order": { "type": "string", "enum": ["newest", "oldest", "name"] },
    });
    tool(&format!("{verb}_{noun}_{at}"), &description, &properties, "filter")
}

fn tools(options: &Options) -> String {
    let echo =
        tool("echo", "Returns the text that it is given.", &json!({ "text": { "type": "string" } }), "text");
    let big =
        tool("big", "Returns a text of so many bytes.", &json!({ "bytes": { "type": "integer" } }), "bytes");
    let rest = (2..options.tools).map(|at| listed(at, options));
    let tools: Vec<Value> = [echo, big].into_iter().chain(rest).collect();
    json!({ "tools": tools }).to_string()
}

fn initialize(params: Option<&RawValue>, name: &str) -> String {
    let asked: Value =
        params.map_or(Value::Null, |params| serde_json::from_str(params.get()).unwrap_or_default());
    let asked = asked["protocolVersion"].as_str().filter(|asked| KNOWN.contains(asked));
    json!({
        "protocolVersion": asked.unwrap_or(KNOWN[3]), "capabilities": { "tools": {} },
        "serverInfo": { "name": name, "version": "1.0.0" },
    })
    .to_string()
}

fn call(params: Option<&RawValue>) -> Option<String> {
    let call: Call<'_> = serde_json::from_str(params?.get()).ok()?;
    let given: Value =
        call.arguments.map_or(Value::Null, |given| serde_json::from_str(given.get()).unwrap_or_default());
    if call.name != "big" {
        let text = given["text"].as_str().unwrap_or("no text");
        return Some(json!({ "content": [{ "type": "text", "text": text }] }).to_string());
    }
    let bytes = given["bytes"].as_u64().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
    let mut text = "0123456789abcdef".repeat(bytes / 16 + 1);
    text.truncate(bytes);
    Some(format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#))
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let list = tools(&options);
    let mut out = BufWriter::with_capacity(BUFFER, std::io::stdout().lock());
    let mut input = BufReader::with_capacity(BUFFER, std::io::stdin().lock());
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let message = serde_json::from_str::<Incoming<'_>>(&line).ok();
        if let Some((id, method, params)) = message.and_then(|it| Some((it.id?, it.method?, it.params))) {
            let result = match method {
                "initialize" => Some(initialize(params, &options.name)),
                "ping" => Some("{}".to_owned()),
                "tools/list" => Some(list.clone()),
                "tools/call" => call(params),
                _ => None,
            };
            let refusal = r#""error":{"code":-32601,"message":"Method not found"}"#;
            let answer = result.map_or_else(|| refusal.to_owned(), |result| format!("\"result\":{result}"));
            writeln!(out, r#"{{"jsonrpc":"2.0","id":{},{answer}}}"#, id.get())?;
            out.flush()?;
        }
        line.clear();
    }
    Ok(())
}
