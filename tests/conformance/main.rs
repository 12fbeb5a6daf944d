//! The official conformance suite against a hub with the fixture server behind it: clients of both eras, servers of
//! both eras, on both transports. `make conformance` runs it.
//!
//! Prints what passed as a table. Ends with 1 when something fails that `expected-failures.txt` does not name, and
//! when something passes that it does.
#![allow(clippy::disallowed_methods, reason = "the proxy lives as long as this program")]

mod expected;
mod outcome;
mod proxy;
mod suite;
mod table;

use std::process::ExitCode;

use satchel_tests::{FakeHttp, Home, Hub, LEGACY, MODERN, fixture};
use serde_json::json;

use expected::Expectations;
use outcome::{Cell, Outcome};
use suite::{Generation, Suite};

/// The fixtures of one home; ended with it.
struct Fixtures {
    _legacy: FakeHttp,
    _modern: FakeHttp,
}

/// What is asked, in the order of the table.
const CELLS: &[(&str, &str, Generation)] = &[
    ("legacy", "legacy-stdio", Generation::Dated("2025-11-25")),
    ("legacy", "legacy-http", Generation::Dated("2025-11-25")),
    ("legacy", "modern-stdio", Generation::Dated("2025-11-25")),
    ("legacy", "modern-http", Generation::Dated("2025-11-25")),
    ("modern", "legacy-stdio", Generation::Dated("2026-07-28")),
    ("modern", "legacy-http", Generation::Dated("2026-07-28")),
    ("modern", "modern-stdio", Generation::Dated("2026-07-28")),
    ("modern", "modern-http", Generation::Dated("2026-07-28")),
    ("0.1.16", "legacy-stdio", Generation::Stable),
    ("0.1.16", "legacy-http", Generation::Stable),
    ("legacy", "router", Generation::Dated("2025-11-25")),
    ("modern", "router", Generation::Dated("2026-07-28")),
];

/// What can be asked of the hub's own face: the scenarios that need no tool, prompt or resource of the fixture.
const ROUTER: &[&str] = &[
    "caching",
    "dns-rebinding-protection",
    "http-header-validation",
    "input-required-result-unsupported-methods",
    "logging-set-level",
    "ping",
    "prompts-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "server-initialize",
    "server-session-lifecycle",
    "server-sse-multiple-streams",
    "server-sse-polling",
    "server-stateless",
    "tools-list",
];

#[tokio::main]
async fn main() -> ExitCode {
    // An argument picks cells, for example `modern→legacy-stdio`; cargo's own begin with a dash.
    let picked: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let home = Home::empty();
    let _fixtures = configure(&home).await;
    let hub = home.start_hub().await;
    let mut outcomes = Vec::new();
    for (client, server, generation) in CELLS {
        let cell = Cell { client, server };
        if picked.is_empty() || picked.iter().any(|name| cell.to_string().contains(name.as_str())) {
            outcomes.push(ask(&home, &hub, cell, *generation).await);
        }
    }
    print!("{}", table::of(&outcomes));
    let unexpected = Expectations::read().differences(&outcomes);
    for difference in &unexpected {
        println!("{difference}");
    }
    if unexpected.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn configure(home: &Home) -> Fixtures {
    let (legacy, modern) = (home.start_http_fixture(LEGACY).await, home.start_http_fixture(MODERN).await);
    home.write_config(&json!({ "mcpServers": {
        "legacy-stdio": fixture(LEGACY),
        "modern-stdio": fixture(MODERN),
        "legacy-http": { "url": legacy.url },
        "modern-http": { "url": modern.url },
    } }));
    Fixtures { _legacy: legacy, _modern: modern }
}

/// Runs the suite for one cell, as a client of its own.
async fn ask(home: &Home, hub: &Hub<'_>, cell: Cell, generation: Generation) -> Outcome {
    let mut connection = hub.connection(&format!("{}-{}", cell.client, cell.server)).await;
    if cell.server != "router" {
        connection.url = format!("{}/server/{}", connection.url, cell.server);
    }
    let url = proxy::start(&connection).await;
    let mut scenarios = Suite { home, generation }.run(&url).await;
    if cell.server == "router" {
        scenarios.retain(|name, _| ROUTER.contains(&name.as_str()));
    }
    Outcome::new(cell, generation, scenarios)
}
