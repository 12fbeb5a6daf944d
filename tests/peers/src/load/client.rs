//! One MCP client: its handshake, and requests over one of the transports.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use crate::{
    Plan, Transport,
    http::{Events, Http, Reply},
};

enum Wire {
    Http { http: Http, session: String },
    Rest(Http),
    Sse { http: Http, path: String, events: Events },
    Stdio { child: Child, out: BufReader<ChildStdout> },
}

/// A client after its handshake.
pub(crate) struct Client {
    plan: Plan,
    /// The host and the path of the address.
    path: String,
    headers: String,
    wire: Wire,
    id: u64,
}

/// What a measured request found.
#[derive(Default)]
pub(crate) struct Found {
    /// Bytes of the answer, or of all pages.
    pub(crate) bytes: usize,
    /// Number of entries of a list.
    pub(crate) many: usize,
}

impl Client {
    /// Opens a client; `at` is its number, by which it takes one of the tokens.
    pub(crate) fn open(plan: &Plan, at: usize) -> anyhow::Result<Self> {
        let (host, path) = plan.address()?;
        let mut headers: String = plan.header.iter().map(|header| format!("{header}\r\n")).collect();
        if !plan.auth.is_empty() {
            headers += &format!("Authorization: {}\r\n", plan.auth[at % plan.auth.len()]);
        }
        let http = || Http::new(&host, Duration::from_secs(plan.timeout));
        let wire = match plan.transport {
            Transport::Http => Wire::Http { http: http(), session: String::new() },
            Transport::Rest => Wire::Rest(http()),
            Transport::Stdio => started(&plan.command)?,
            Transport::Sse => {
                let mut events = http().listen(&path, &headers)?;
                let path = endpoint(&mut events)?;
                Wire::Sse { http: http(), path, events }
            }
        };
        let mut client = Self { plan: plan.clone(), path, headers, wire, id: 0 };
        client.shake_hands()?;
        Ok(client)
    }

    fn shake_hands(&mut self) -> anyhow::Result<()> {
        if matches!(self.wire, Wire::Rest(_)) {
            return Ok(());
        }
        let client = json!({ "name": "perf", "version": "1" });
        let params =
            json!({ "protocolVersion": self.plan.version, "capabilities": {}, "clientInfo": client });
        let said = self.request("initialize", &params.to_string())?;
        let said: Value = serde_json::from_str(&said)?;
        let version = said["result"]["protocolVersion"].as_str().with_context(|| said.to_string())?;
        if let Wire::Http { session, .. } = &mut self.wire {
            *session += &format!("mcp-protocol-version: {version}\r\n");
        }
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
    }

    /// Sends a message that has no answer.
    fn send(&mut self, body: &str) -> anyhow::Result<()> {
        match &mut self.wire {
            Wire::Http { http, session } => {
                http.post(&self.path, &format!("{}{session}", self.headers), body)?;
            }
            Wire::Sse { http, path, .. } => {
                http.post(path, &self.headers, body)?;
            }
            Wire::Stdio { child, .. } => {
                let stdin = child.stdin.as_mut().context("the server has no standard input")?;
                stdin.write_all(format!("{body}\n").as_bytes())?;
            }
            Wire::Rest(_) => {}
        }
        Ok(())
    }

    fn request(&mut self, method: &str, params: &str) -> anyhow::Result<String> {
        self.id += 1;
        let id = self.id;
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}");
        match &mut self.wire {
            Wire::Http { http, session } => {
                let reply = http.post(&self.path, &format!("{}{session}", self.headers), &body)?;
                if let Some(name) = reply.session.as_deref().filter(|_| method == "initialize") {
                    *session += &format!("mcp-session-id: {name}\r\n");
                }
                answer(&reply, id)
            }
            Wire::Rest(http) => answer(&http.post(&self.path, &self.headers, params)?, id),
            Wire::Sse { http, path, events } => {
                let reply = http.post(path, &self.headers, &body)?;
                if reply.status >= 400 {
                    bail!("HTTP {}", reply.status);
                }
                loop {
                    if let Some(found) = pick(&events.next()?, id) {
                        return Ok(found);
                    }
                }
            }
            Wire::Stdio { child, out } => {
                let stdin = child.stdin.as_mut().context("the server has no standard input")?;
                stdin.write_all(format!("{body}\n").as_bytes())?;
                let mut line = String::new();
                out.read_line(&mut line)?;
                Ok(line)
            }
        }
    }

    /// One measured request, or all pages of a list. A wrong answer is an error.
    pub(crate) fn measure(&mut self) -> anyhow::Result<Found> {
        if self.plan.pages { self.list() } else { self.call() }
    }

    fn call(&mut self) -> anyhow::Result<Found> {
        let turn = usize::try_from(self.id)? % self.plan.params.len().max(1);
        let params = self.plan.params.get(turn).cloned().unwrap_or_else(|| "{}".to_owned());
        let said = self.request(&self.plan.method.clone(), &params)?;
        let failed = ["\"isError\":true", "\"isError\": true"].iter().any(|mark| said.contains(mark));
        if failed || !said.contains(&self.plan.expect) {
            bail!("unexpected answer: {}", said.chars().take(400).collect::<String>());
        }
        Ok(Found { bytes: said.len(), many: 0 })
    }

    fn list(&mut self) -> anyhow::Result<Found> {
        let method = self.plan.method.clone();
        let key = method.split('/').next().unwrap_or_default();
        let (mut found, mut params) = (Found::default(), "{}".to_owned());
        loop {
            let said = self.request(&method, &params)?;
            found.bytes += said.len();
            let page: Value = serde_json::from_str(&said)?;
            found.many += page["result"][key].as_array().map_or(0, Vec::len);
            let Some(cursor) = page["result"]["nextCursor"].as_str() else { return Ok(found) };
            params = json!({ "cursor": cursor }).to_string();
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Wire::Stdio { child, .. } = &mut self.wire {
            drop(child.stdin.take());
            // It ends by itself when its standard input does.
            let _ = child.wait();
        }
    }
}

fn started(command: &[String]) -> anyhow::Result<Wire> {
    let (program, arguments) = command.split_first().context("stdio needs a command after --")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let out = child.stdout.take().context("the server has no standard output")?;
    Ok(Wire::Stdio { child, out: BufReader::new(out) })
}

/// The path that the transport of 2024-11-05 tells first.
fn endpoint(events: &mut Events) -> anyhow::Result<String> {
    loop {
        let event = events.next()?;
        if !event.lines().any(|line| line.replace(' ', "") == "event:endpoint") {
            continue;
        }
        let data = event.lines().find_map(|line| line.strip_prefix("data:")).context("no endpoint")?.trim();
        let after_host =
            |(_, rest): (&str, &str)| format!("/{}", rest.split_once('/').map_or("", |(_, path)| path));
        return Ok(data.split_once("://").map_or_else(|| data.to_owned(), after_host));
    }
}

/// The JSON text of the response to this id.
fn answer(reply: &Reply, id: u64) -> anyhow::Result<String> {
    let body = String::from_utf8_lossy(&reply.body);
    if reply.status >= 400 {
        bail!("HTTP {}: {}", reply.status, body.chars().take(300).collect::<String>());
    }
    if !reply.events {
        return Ok(body.into_owned());
    }
    let events = body.split("\n\n").flat_map(|event| event.split("\r\n\r\n"));
    events
        .into_iter()
        .find_map(|event| pick(event, id))
        .with_context(|| format!("no answer in {} bytes", body.len()))
}

/// The data of an event, if it answers this id.
fn pick(event: &str, id: u64) -> Option<String> {
    let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
    let data: String = lines.map(|data| data.strip_prefix(' ').unwrap_or(data)).collect();
    let answers = data.contains("\"result\"") || data.contains("\"error\"");
    let is_ours = [format!("\"id\":{id}"), format!("\"id\": {id}")].iter().any(|mark| data.contains(mark));
    (answers && is_ours).then_some(data)
}
