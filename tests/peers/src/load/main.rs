//! Clients that call, wait for the answer, check it and count: one thread and one connection each. Prints one line of JSON;
//! times are in milliseconds.

#![allow(clippy::disallowed_methods, reason = "blocking threads measure real time")]

mod client;
mod http;

use std::{
    sync::{Arc, Barrier},
    time::{Duration, Instant},
};

use anyhow::Context;
use clap::{Parser, ValueEnum};
use serde_json::json;

use client::{Client, Found};

/// A thread needs little, and there may be 500.
const STACK: usize = 256 * 1024;
/// A client that fails more often than this stops.
const FAULTS: usize = 20;

#[derive(Clone, Copy, ValueEnum)]
enum Transport {
    /// Streamable HTTP.
    Http,
    /// HTTP with SSE, of 2024-11-05.
    Sse,
    /// Parameters as a plain POST.
    Rest,
    /// The command after `--`, one for each client.
    Stdio,
}

#[derive(Clone, Parser)]
struct Plan {
    #[arg(long, value_enum, default_value = "http")]
    transport: Transport,
    #[arg(long, default_value = "http://localhost/mcp")]
    url: String,
    /// `Name: value`, for each request.
    #[arg(long)]
    header: Vec<String>,
    /// A value of `Authorization`; clients take these in turn.
    #[arg(long)]
    auth: Vec<String>,
    #[arg(long, default_value = "tools/call")]
    method: String,
    /// Parameters; requests take these in turn.
    #[arg(long)]
    params: Vec<String>,
    /// What each answer must contain.
    #[arg(long, default_value = "\"result\"")]
    expect: String,
    #[arg(long, default_value = "2025-06-18")]
    version: String,
    #[arg(long, default_value_t = 1)]
    clients: usize,
    /// Requests of each client; 0: until the time is over.
    #[arg(long, default_value_t = 0)]
    calls: usize,
    /// 0: no limit.
    #[arg(long, default_value_t = 0.0)]
    seconds: f64,
    /// Requests of each client before the measured ones.
    #[arg(long, default_value_t = 0)]
    warm: usize,
    /// Seconds a client waits for an answer.
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// Reads all pages of a list.
    #[arg(long)]
    pages: bool,
    #[arg(last = true)]
    command: Vec<String>,
}

impl Plan {
    /// Host with port, and path.
    fn address(&self) -> anyhow::Result<(String, String)> {
        let rest = self.url.strip_prefix("http://").context("the address must begin with http://")?;
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        Ok((host.to_owned(), format!("/{path}")))
    }
}

/// What one client counted.
#[derive(Default)]
struct Counted {
    /// Nanoseconds of each right answer.
    times: Vec<u64>,
    errors: usize,
    fault: Option<String>,
    found: Found,
}

impl Counted {
    fn take(&mut self, outcome: anyhow::Result<Found>, since: Instant) {
        match outcome {
            Ok(found) => {
                self.times.push(u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX));
                self.found = found;
            }
            Err(error) => {
                self.errors += 1;
                self.fault = Some(format!("{error:#}"));
            }
        }
    }

    fn join(mut self, other: Self) -> Self {
        self.times.extend(other.times);
        self.errors += other.errors;
        self.fault = self.fault.or(other.fault);
        self.found.bytes = self.found.bytes.max(other.found.bytes);
        self.found.many = self.found.many.max(other.found.many);
        self
    }

    /// Milliseconds that this part of the requests did not exceed.
    fn quantile(&self, part: f64) -> Option<f64> {
        let rank = (self.times.len() as f64 * part) as usize;
        self.times.get(rank.min(self.times.len().saturating_sub(1))).map(|&nanos| nanos as f64 / 1e6)
    }
}

fn opened(plan: &Plan, at: usize) -> anyhow::Result<Client> {
    let mut client = Client::open(plan, at)?;
    for _ in 0..plan.warm {
        client.measure()?;
    }
    Ok(client)
}

fn work(plan: &Plan, at: usize, together: &Barrier) -> Counted {
    let client = opened(plan, at);
    together.wait();
    let mut counted = Counted::default();
    let mut client = match client {
        Ok(client) => client,
        Err(error) => {
            counted.take(Err(error.context("open")), Instant::now());
            return counted;
        }
    };
    let begun = Instant::now();
    let is_over = |counted: &Counted| {
        let done = plan.calls > 0 && counted.times.len() + counted.errors >= plan.calls;
        let late = plan.seconds > 0.0 && begun.elapsed() >= Duration::from_secs_f64(plan.seconds);
        done || late || counted.errors > FAULTS
    };
    while !is_over(&counted) {
        let since = Instant::now();
        counted.take(client.measure(), since);
    }
    counted
}

fn main() -> anyhow::Result<()> {
    let plan = Plan::parse();
    let together = Arc::new(Barrier::new(plan.clients + 1));
    let mut workers = Vec::with_capacity(plan.clients);
    for at in 0..plan.clients {
        let (plan, together) = (plan.clone(), together.clone());
        let thread = std::thread::Builder::new().stack_size(STACK);
        workers.push(thread.spawn(move || work(&plan, at, &together))?);
    }
    together.wait();
    let begun = Instant::now();
    let mut all = Counted::default();
    for worker in workers {
        let counted = worker.join().map_err(|_| anyhow::anyhow!("a client panicked"))?;
        all = all.join(counted);
    }
    let seconds = begun.elapsed().as_secs_f64();
    all.times.sort_unstable();
    let figures = json!({
        "n": all.times.len(), "errors": all.errors, "fault": all.fault, "seconds": seconds,
        "rps": all.times.len() as f64 / seconds, "bytes": all.found.bytes, "many": all.found.many,
        "p50": all.quantile(0.5), "p95": all.quantile(0.95), "p99": all.quantile(0.99), "max": all.quantile(1.0),
    });
    println!("{figures}");
    Ok(())
}
