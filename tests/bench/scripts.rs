//! What a script costs: the start of its process beside the start of any program, and a call inside one beside the same
//! call from outside.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
    time::Duration,
};

use satchel_tests::{Home, Hub, program};
use serde_json::json;
use tokio::time::Instant;

const STARTS: usize = 30;
const SCRIPTS: usize = 20;
/// Calls per script; the limit is 200.
const CALLS: u32 = 150;

/// `direct`: the median of the same call without a hub; `through`: with one.
pub(crate) async fn costs(home: &Home, hub: &Hub<'_>, direct: Duration, through: Duration) {
    let bare = median((0..STARTS).map(|_| bare()).collect());
    let cold = median((0..STARTS).map(|_| cold()).collect());
    row("a program that only ends", bare);
    row("a script's process, until sealed", cold);
    println!("  that is {:>22.2} of a bare start", cold.as_secs_f64() / bare.as_secs_f64());
    hub.connection("bench-scripts").await;
    home.satchel(&["surface", "bench-scripts", "script"]).await.succeeded();
    let client = hub.client("bench-scripts").await;
    let run = async |script: &str| {
        let began = Instant::now();
        let said = client.call("run_mcp_script", json!({ "script": script })).await.text();
        (began.elapsed(), said)
    };
    let mut empty = Vec::new();
    for _ in 0..SCRIPTS {
        // The process for the next script starts outside the measurement.
        tokio::time::sleep(Duration::from_millis(100)).await;
        empty.push(run("return 1").await.0);
    }
    row("a script that does nothing", median(empty));
    let many = format!(
        "const began = Date.now(); for (let i = 0; i < {CALLS}; i++) await call('fake:echo', {{ text: 'x' }}); return Date.now() - began;"
    );
    let mut inside = Vec::new();
    for _ in 0..SCRIPTS {
        let took: f64 = run(&many).await.1.parse().expect("milliseconds");
        inside.push(Duration::from_secs_f64(took / 1000.0) / CALLS);
    }
    let inside = median(inside);
    row("a call inside a script", inside);
    let more = (inside.as_secs_f64() - direct.as_secs_f64()) * 1000.0;
    println!(
        "  that is {more:>22.3} ms more than directly, {:.2} of a call through the hub",
        inside.as_secs_f64() / through.as_secs_f64()
    );
}

fn bare() -> Duration {
    let began = Instant::now();
    let mut child = Command::new(program("satchel"));
    child.arg("--version").env_clear().stdout(Stdio::piped());
    let mut child = child.spawn().expect("it starts");
    let mut said = String::new();
    child.stdout.take().expect("it speaks").read_to_string(&mut said).expect("it speaks");
    let took = began.elapsed();
    child.wait().expect("it ends");
    took
}

fn cold() -> Duration {
    let began = Instant::now();
    let mut child = Command::new(program("satchel"));
    child.arg("script-runner").env_clear().stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().expect("it starts");
    let mut said = String::new();
    BufReader::new(child.stdout.take().expect("it speaks")).read_line(&mut said).expect("it speaks");
    assert_eq!(said, "\"ready\"\n");
    let took = began.elapsed();
    drop(child.stdin.take());
    child.wait().expect("it ends");
    took
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn row(what: &str, time: Duration) {
    println!("{what:<32}{:>9.3} ms", time.as_secs_f64() * 1000.0);
}
