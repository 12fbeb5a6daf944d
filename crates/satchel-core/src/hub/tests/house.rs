//! A hub with a home of its own, for one test.

use std::{io, pin::Pin, sync::Arc, time::Duration};

use satchel_mcp::{Raw, RawObject};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::task::TaskTracker;

use crate::{
    bridge::Caller,
    files::Places,
    hub::{Failed, Handle, Hub, HubOptions},
    model::{
        Origin, ServerView, Snapshot,
        control::{Change, Refusal},
        oauth::RedirectHost,
    },
    upstream::oauth::sign_in::{Callbacks, Listening},
};

use super::server::TestServer;

/// Nothing here takes so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running hub. Dropping it removes its files.
pub(super) struct House {
    pub(super) hub: Hub,
    home: TempDir,
}

/// Nobody signs in.
#[derive(Debug)]
struct NoCallbacks;

impl Callbacks for NoCallbacks {
    fn listen(
        &self,
        _host: RedirectHost,
        _port: u16,
        _tracker: TaskTracker,
    ) -> Pin<Box<dyn Future<Output = io::Result<Listening>> + Send + '_>> {
        Box::pin(async { Err(io::ErrorKind::Unsupported.into()) })
    }
}

impl House {
    /// Opens a hub whose configuration has these servers, all approved.
    pub(super) async fn with(servers: &[(&str, &TestServer)]) -> Self {
        let entries = servers.iter().map(|(name, server)| ((*name).to_owned(), server.entry()));
        Self::open(json!({ "mcpServers": Value::Object(entries.collect()) })).await
    }

    /// Opens a hub with this configuration, all of it approved.
    pub(super) async fn open(config: Value) -> Self {
        Self::open_at(tempfile::tempdir().unwrap(), Some(config), true, false).await
    }

    /// Opens a hub with a configuration that nobody has approved.
    pub(super) async fn unapproved(config: Value) -> Self {
        Self::open_at(tempfile::tempdir().unwrap(), Some(config), false, false).await
    }

    /// Opens a hub on a computer that other people use too, with this configuration, all of it approved.
    pub(super) async fn among_others(config: Value) -> Self {
        Self::open_at(tempfile::tempdir().unwrap(), Some(config), true, true).await
    }

    /// Ends the hub and opens another one in the same home.
    pub(super) async fn again(self) -> Self {
        self.hub.shutdown().await;
        Self::open_at(self.home, None, false, false).await
    }

    /// The same with another configuration, written while no hub runs.
    pub(super) async fn again_with(self, config: &Value) -> Self {
        self.hub.shutdown().await;
        Self::open_at(self.home, Some(config.clone()), false, false).await
    }

    /// The same after a change of its files, made while no hub runs.
    pub(super) async fn again_after(self, change: impl FnOnce(&Places)) -> Self {
        self.hub.shutdown().await;
        change(self.hub.places());
        Self::open_at(self.home, None, false, false).await
    }

    async fn open_at(home: TempDir, config: Option<Value>, trust_config: bool, others: bool) -> Self {
        let places = Places::below(home.path());
        if let Some(config) = config {
            places.create().unwrap();
            std::fs::write(&places.config_file, config.to_string()).unwrap();
        }
        let hub = Hub::open(HubOptions {
            own_program: home.path().join("no-program"),
            places,
            passive: false,
            trust_config,
            others_see_arguments: others,
            callbacks: Arc::new(NoCallbacks),
        });
        Self { hub: hub.await.unwrap(), home }
    }

    /// A request of a person in the window.
    pub(super) async fn ask<R: Handle>(&self, request: R) -> Result<R::Answer, Refusal> {
        self.hub.request(request, &Origin::Window).await
    }

    /// The same of a program that asked nobody.
    pub(super) async fn ask_as_program<R: Handle>(&self, request: R) -> Result<R::Answer, Refusal> {
        let origin = Origin::Program { pid: None, name: "script".into(), parent: None };
        self.hub.request(request, &origin).await
    }

    /// A change that a person makes and that is accepted.
    #[track_caller]
    pub(super) fn change(&self, change: Change) -> impl Future<Output = ()> {
        let at = std::panic::Location::caller();
        async move {
            if let Err(refusal) = self.ask(change).await {
                panic!("{at}: {refusal}");
            }
        }
    }

    /// The configuration as it stands on the disk.
    pub(super) fn config(&self) -> Value {
        serde_json::from_slice(&std::fs::read(&self.hub.places().config_file).unwrap()).unwrap()
    }

    /// What faces show of a server, once `holds` of it.
    pub(super) async fn until(&self, server: &str, holds: impl Fn(&ServerView) -> bool) -> ServerView {
        let shown = |snapshot: &Snapshot| {
            snapshot.servers.iter().find(|view| view.name == server).filter(|view| holds(view)).cloned()
        };
        let mut watch = self.hub.watch();
        let found = async {
            loop {
                if let Some(view) = shown(&watch.borrow_and_update()) {
                    return view;
                }
                watch.changed().await.unwrap();
            }
        };
        let found = tokio::time::timeout(PATIENCE, found).await;
        found.unwrap_or_else(|_| panic!("{server} is not shown so: {:#?}", self.hub.snapshot().servers))
    }

    /// The paths of the tools that a client is offered.
    pub(super) fn tools_of(&self, client: &str) -> Vec<String> {
        let catalog = self.hub.seen_by(client).catalog();
        catalog.tools().map(|(server, tool)| format!("{server}:{}", tool.name)).collect()
    }

    /// Has a client call a tool, and gives the text of its result.
    ///
    /// # Errors
    /// What the client is told.
    pub(super) async fn call(&self, client: &str, path: &str, arguments: Value) -> Result<String, String> {
        let mut params = RawObject::new();
        params.set("arguments", Raw::from_string(arguments.to_string()).unwrap());
        let called = async {
            let running = self.hub.execute_tool(&Caller::alone(client), path, params).await;
            running.map_err(Failed::Hub)?.finish().await
        };
        let result = tokio::time::timeout(PATIENCE, called).await.expect("a call ends");
        let result: Value = serde_json::from_str(result.map_err(|failed| failed.to_string())?.get()).unwrap();
        Ok(result["content"][0]["text"].as_str().unwrap_or_default().to_owned())
    }
}
