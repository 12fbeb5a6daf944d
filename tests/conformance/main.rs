//! The official conformance suite against a hub with the fixture server behind it: clients of both eras, servers of
//! both eras, on both transports. `make conformance` runs it.
//!
//! It also looks at the other half of the hub, as a server to it: the lines `hub→REVISION`.
//!
//! Prints what passed as a table. Ends with 1 when something fails that `expected-failures.txt` does not name, and
//! when something passes that it does.
#![allow(clippy::disallowed_methods, reason = "the proxy lives as long as this program")]

mod driver;
mod expected;
mod outcome;
mod proxy;
mod suite;
mod table;

use std::{collections::BTreeMap, process::ExitCode};

use futures_util::{StreamExt, stream};
use satchel_tests::{FakeHttp, Home, Hub, LEGACY, MODERN, fixture};
use serde_json::json;

use expected::Expectations;
use outcome::{Cell, Outcome};
use suite::{Generation, Suite};

/// The fixtures of one home; they end with it.
struct Fixtures {
    _legacy: FakeHttp,
    _modern: FakeHttp,
}

/// The cells, in the order of the table.
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
    (HUB, "2025-11-25", Generation::Dated("2025-11-25")),
    (HUB, "2026-07-28", Generation::Dated("2026-07-28")),
];

/// Cells where the hub is the client and the suite the server.
const HUB: &str = "hub";

/// Concurrent runs: each starts programs of its own, and mostly waits.
const AT_ONCE: usize = 3;

/// What applies to the hub's own surface: the scenarios that need no tool, prompt or resource of the fixture.
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
    let mut words = std::env::args().skip(1);
    if words.next().as_deref() == Some(suite::DRIVER) {
        driver::run(&words.next_back().expect("the suite gives an address")).await;
        return ExitCode::SUCCESS;
    }
    // An argument selects cells, for example `modern→legacy-stdio`; cargo's own begin with a dash.
    let picked: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let home = Home::empty();
    let _fixtures = configure(&home).await;
    let hub = home.start_hub().await;
    let expectations = Expectations::read();
    let is_picked =
        |cell: &Cell| picked.is_empty() || picked.iter().any(|name| cell.to_string().contains(name.as_str()));
    // Runs against one server are sequential: its clients share the state they change.
    let mut lanes: BTreeMap<&str, Vec<(usize, Cell, Generation)>> = BTreeMap::new();
    for (at, (client, server, generation)) in CELLS.iter().enumerate() {
        let cell = Cell { client, server };
        if is_picked(&cell) {
            lanes.entry(server).or_default().push((at, cell, *generation));
        }
    }
    let lanes = lanes.into_values().map(async |lane| {
        let mut outcomes = Vec::new();
        for (at, cell, generation) in lane {
            outcomes.push((at, ask(&home, &hub, &expectations, cell, generation).await));
        }
        outcomes
    });
    let done: Vec<Vec<_>> = stream::iter(lanes).buffer_unordered(AT_ONCE).collect().await;
    let mut outcomes: Vec<_> = done.into_iter().flatten().collect();
    outcomes.sort_by_key(|(at, _)| *at);
    let outcomes: Vec<Outcome> = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
    print!("{}", table::of(&outcomes));
    let unexpected = expectations.differences(&outcomes);
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
async fn ask(
    home: &Home,
    hub: &Hub<'_>,
    expectations: &Expectations,
    cell: Cell,
    generation: Generation,
) -> Outcome {
    let suite = Suite { home, generation, place: format!("conformance-{cell}") };
    if cell.client == HUB {
        let required = generation.required("client");
        let scenarios = suite.run_clients(|scenario| expectations.is_not_asked(&cell, scenario)).await;
        return Outcome::new(cell, required, scenarios);
    }
    let mut connection = hub.connection(&format!("{}-{}", cell.client, cell.server)).await;
    if cell.server != "router" {
        connection.url = format!("{}/server/{}", connection.url, cell.server);
    }
    let url = proxy::start(&connection).await;
    let mut scenarios = suite.run(&url).await;
    if cell.server == "router" {
        scenarios.retain(|name, _| ROUTER.contains(&name.as_str()));
    }
    Outcome::new(cell, generation.required("server"), scenarios)
}
