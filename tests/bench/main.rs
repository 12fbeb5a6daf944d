//! What a call costs through the hub, beside the same call made directly. Figures for people; nothing is judged.

mod inspection;
mod ledger;
mod scripts;
mod sign_in;

use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
    time::Duration,
};

use satchel_tests::{Client, Fake, Home, program};
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::Instant};

const CALLS: usize = 2_000;
const CALLERS: usize = 16;

#[tokio::main]
async fn main() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake");
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let started = Instant::now();
    let hub = home.start_hub().await;
    println!("hub ready                      {:>9.1} ms", millis(started.elapsed()));
    let client = hub.client("bench").await;
    let woken = Instant::now();
    client.execute("fake:echo", json!({ "text": "x" })).await.text();
    println!("first call, server started     {:>9.1} ms", millis(woken.elapsed()));

    let (direct, through) = (directly(), one_after_the_other(&client).await);
    report("direct, standard input/output", direct.clone());
    report("through the hub", through.clone());
    let (spent, times) = side_by_side(&client).await;
    report(&format!("through the hub, {CALLERS} at once"), times);
    println!("calls a second, {CALLERS} at once     {:>9.0}", CALLS as f64 / spent.as_secs_f64());
    println!("memory of the hub              {:>9.1} MB", memory(hub.pid));
    scripts::costs(&home, &hub, scripts::median(direct), scripts::median(through)).await;
    drop(hub);
    sign_in::overhead().await;
    ledger::recording().await;
    ledger::million();
    inspection::definitions();
}

async fn one_after_the_other(client: &Client) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let start = Instant::now();
        client.execute("fake:echo", json!({ "text": "x" })).await.text();
        times.push(start.elapsed());
    }
    times
}

async fn side_by_side(client: &Client) -> (Duration, Vec<Duration>) {
    let start = Instant::now();
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        let client = client.clone();
        callers.spawn(async move {
            let mut times = Vec::new();
            for _ in 0..CALLS / CALLERS {
                let start = Instant::now();
                client.execute("fake:echo", json!({ "text": "x" })).await.text();
                times.push(start.elapsed());
            }
            times
        });
    }
    let times = callers.join_all().await.concat();
    (start.elapsed(), times)
}

/// The same calls over the server's own pipe, without a hub.
fn directly() -> Vec<Duration> {
    let mut command = std::process::Command::new(program("fake-mcp-server"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = command.spawn().expect("the fake server can be started");
    let mut stdin = server.stdin.take().expect("its standard input is a pipe");
    let mut lines = BufReader::new(server.stdout.take().expect("its standard output is a pipe")).lines();
    let mut ask = |id: usize, method: &str, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        stdin.write_all(format!("{message}\n").as_bytes()).expect("the server reads");
        lines.next().expect("the server answers").expect("its answer can be read");
    };
    ask(0, "initialize", json!({ "protocolVersion": "2025-11-25" }));
    let mut times = Vec::new();
    for id in 1..=CALLS {
        let start = Instant::now();
        ask(id, "tools/call", json!({ "name": "echo", "arguments": { "text": "x" } }));
        times.push(start.elapsed());
    }
    drop(stdin);
    server.wait().expect("the server ends with its input");
    times
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: f64| millis(times[(times.len() as f64 * part) as usize]);
    println!("{what:<30} {:>9.3} ms median {:>9.3} ms p95", at(0.5), at(0.95));
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// Resident memory in megabytes.
fn memory(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the hub runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux tells it");
    let kilobytes = line.trim().trim_end_matches(" kB").parse::<f64>().expect("it is a number");
    kilobytes / 1_024.0
}
