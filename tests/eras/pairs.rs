//! Every pair of a client and a server: two eras each, and two ways to reach the server.

use std::collections::BTreeMap;

use satchel_tests::{Connection, FakeHttp, Home, Hub, LEGACY, MODERN, fixture};
use serde_json::json;
use tokio::task::{JoinError, LocalSet, spawn_local};

use crate::client::{Client, Era};

/// A client that is connected to one server.
pub(crate) struct Pair {
    /// For failure messages.
    pub(crate) name: String,
    pub(crate) client: Client,
    /// The era of the server.
    pub(crate) server: Era,
}

const SERVERS: [(&str, Era); 4] = [
    ("legacy-stdio", Era::Legacy),
    ("legacy-http", Era::Legacy),
    ("modern-stdio", Era::Modern),
    ("modern-http", Era::Modern),
];

/// Runs something with every pair; reports all that failed, and how.
pub(crate) async fn with_every_pair<F>(what: impl Fn(Pair) -> F)
where
    F: Future<Output = ()> + 'static,
{
    let home = Home::empty();
    let [legacy, modern] = configure(&home).await;
    let hub = home.start_hub().await;
    let mut failed = Vec::new();
    // One client after the other: some tools count over all clients.
    for era in [Era::Legacy, Era::Modern] {
        let mut pairs = Vec::new();
        for (slug, server) in SERVERS {
            let connection = connection(&hub, slug, &format!("{era:?}-{slug}")).await;
            let client = Client::new(connection, era);
            pairs.push(Pair { name: format!("{era:?} client, {slug}"), client, server });
        }
        // Without a hub between them: a failure here is the fixture's or the test's.
        let itself = if era == Era::Legacy { &legacy } else { &modern };
        let connection = Connection { url: itself.url.clone(), headers: BTreeMap::new() };
        let client = Client::new(connection, era);
        pairs.push(Pair { name: format!("{era:?} client, the fixture itself"), client, server: era });
        failed.extend(LocalSet::new().run_until(failures(pairs, &what)).await);
    }
    let log = std::fs::read_to_string(home.file("hub.stderr")).unwrap_or_default();
    assert!(failed.is_empty(), "\n{}\n{log}", failed.join("\n"));
}

async fn failures<F>(pairs: Vec<Pair>, what: &impl Fn(Pair) -> F) -> Vec<String>
where
    F: Future<Output = ()> + 'static,
{
    let mut running = Vec::new();
    for pair in pairs {
        running.push((pair.name.clone(), spawn_local(what(pair))));
    }
    let mut failed = Vec::new();
    for (name, pair) in running {
        if let Err(error) = pair.await {
            failed.push(format!("{name}: {}", words(error)));
        }
    }
    failed
}

async fn configure(home: &Home) -> [FakeHttp; 2] {
    let (legacy, modern) = (home.start_http_fixture(LEGACY).await, home.start_http_fixture(MODERN).await);
    home.write_config(&json!({ "mcpServers": {
        "legacy-stdio": fixture(LEGACY),
        "modern-stdio": fixture(MODERN),
        "legacy-http": { "url": legacy.url },
        "modern-http": { "url": modern.url },
    } }));
    [legacy, modern]
}

/// A client of a path below the endpoint, for example `/direct`, that has sent nothing yet.
pub(crate) async fn client_at(hub: &Hub<'_>, path: &str, era: Era) -> Client {
    let connection = hub.connection(&format!("{era:?}").to_lowercase()).await;
    Client::new(Connection { url: format!("{}{path}", connection.url), ..connection }, era)
}

/// The address of one server's own surface.
async fn connection(hub: &Hub<'_>, slug: &str, client: &str) -> Connection {
    let mut connection = hub.connection(client).await;
    connection.url = format!("{}/server/{slug}", connection.url);
    connection
}

fn words(error: JoinError) -> String {
    let panic = match error.try_into_panic() {
        Ok(panic) => panic,
        Err(error) => return error.to_string(),
    };
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}
