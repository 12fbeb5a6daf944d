//! Opens the hub and its endpoint, keeps them open, and ends them in order.
//!
//! Theory of operation: one task owns hub and endpoint. Window and tray hold [`Serving`], a cheap handle: they read
//! the state from a `watch`, ask the hub, and send orders. The task ends after [`Order::Quit`], after a
//! request to quit from another face, or when every handle is gone; then nothing of ours runs any more.

use std::{path::PathBuf, time::Duration};

use satchel_core::{
    files::Places,
    hub::{Hub, HubOptions, OpenError},
    model::{
        Code, Origin,
        control::{Change, Refusal},
        request::Request,
    },
};
use satchel_endpoint::Endpoint;
use serde_json::Value;
use tokio::sync::{broadcast::error::RecvError, mpsc, watch};

use crate::state::{HubState, Refused};

/// How long calls may continue after a request to quit.
const DRAIN: Duration = Duration::from_secs(5);
/// Timeout of stopping servers.
const END: Duration = Duration::from_secs(10);

/// Options for opening the hub.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) places: Places,
    /// This program, which the hub starts as `toolbox` and `watchdog`.
    pub(crate) own_program: PathBuf,
    pub(crate) port: Option<u16>,
    /// Accepts every entry in the configuration file.
    pub(crate) trust_config: bool,
}

enum Order {
    TryAgain,
    Quit,
}

/// A handle to the serving task.
#[derive(Clone)]
pub(crate) struct Serving {
    state: watch::Receiver<HubState>,
    hub: watch::Receiver<Option<Hub>>,
    refused: watch::Sender<Option<Refused>>,
    orders: mpsc::Sender<Order>,
}

/// The serving task. Runs when awaited.
pub(crate) struct ServingTask {
    options: Options,
    state: watch::Sender<HubState>,
    hub: watch::Sender<Option<Hub>>,
    refused: watch::Receiver<Option<Refused>>,
    orders: mpsc::Receiver<Order>,
}

impl Serving {
    pub(crate) fn new(options: Options) -> (Self, ServingTask) {
        let (state_sender, state) = watch::channel(HubState::Opening);
        let (hub_sender, hub) = watch::channel(None);
        let (refused, refused_receiver) = watch::channel(None);
        // A person can have at most two orders pending: retry and quit.
        let (orders, order_receiver) = mpsc::channel(2);
        let task = ServingTask {
            options,
            state: state_sender,
            hub: hub_sender,
            refused: refused_receiver,
            orders: order_receiver,
        };
        (Self { state, hub, refused, orders }, task)
    }

    /// Subscribes to the hub's state.
    pub(crate) fn state(&self) -> watch::Receiver<HubState> {
        self.state.clone()
    }

    /// Sends a request to the hub. A refused switch is remembered until one succeeds.
    pub(crate) async fn ask<R: Request>(&self, request: &R) -> Result<R::Answer, Refusal> {
        let unreadable = |error: serde_json::Error| Refusal::new(Code::Unreadable, error.to_string(), "");
        let answer = self.handle(request.to_message().map_err(unreadable)?).await?;
        serde_json::from_value(answer).map_err(unreadable)
    }

    /// The same for a request from the window.
    pub(crate) async fn handle(&self, message: Value) -> Result<Value, Refusal> {
        let switched = match Change::from_message(&message) {
            Some(Change::SetEnabled { name, .. }) => Some(name),
            _ => None,
        };
        let Some(hub) = self.hub.borrow().clone() else {
            return Err(Refusal::new(
                Code::NotOpen,
                "the hub is not open",
                "Wait until it serves, or start it again.",
            ));
        };
        let done = hub.handle(message, &Origin::Window).await;
        if let Some(server) = switched {
            let refused = done.as_ref().err().map(|refusal| Refused { server, refusal: refusal.clone() });
            self.refused.send_replace(refused);
        }
        done
    }

    /// Calls `show` whenever another start of the app asks for the window, with the link to show in it, if any.
    pub(crate) async fn follow_window_requests(self, show: impl Fn(Option<String>) + Send) {
        let mut hubs = self.hub.clone();
        loop {
            let requests = hubs.borrow_and_update().as_ref().map(Hub::window_requests);
            if let Some(mut requests) = requests {
                loop {
                    match requests.recv().await {
                        Ok(link) => show(link),
                        Err(RecvError::Lagged(_)) => show(None),
                        Err(RecvError::Closed) => break,
                    }
                }
            }
            if hubs.changed().await.is_err() {
                return;
            }
        }
    }

    /// Opens the hub again if it is not open.
    pub(crate) fn try_again(&self) {
        // A full channel means that this order is pending already.
        let _ = self.orders.try_send(Order::TryAgain);
    }

    /// Is the shutdown in progress?
    pub(crate) fn ends(&self) -> bool {
        self.hub.borrow().is_none() && matches!(*self.state.borrow(), HubState::Open { .. })
    }

    /// Shuts down in order.
    pub(crate) async fn quit(&self) {
        // An error means that it has ended already.
        let _ = self.orders.send(Order::Quit).await;
    }
}

impl ServingTask {
    pub(crate) async fn run(mut self) {
        loop {
            self.state.send_replace(HubState::Opening);
            match open(&self.options).await {
                Ok((hub, endpoint)) => return self.serve(hub, endpoint).await,
                Err(state) => {
                    tracing::error!(?state, "the hub is not open");
                    self.state.send_replace(state);
                }
            }
            match self.orders.recv().await {
                Some(Order::TryAgain) => {}
                Some(Order::Quit) | None => return,
            }
        }
    }

    async fn serve(&mut self, hub: Hub, endpoint: Endpoint) {
        self.hub.send_replace(Some(hub.clone()));
        // The window shows every question.
        hub.set_attended(true);
        let mut snapshots = hub.watch();
        loop {
            let snapshot = snapshots.borrow_and_update().clone();
            let refused = self.refused.borrow_and_update().clone();
            self.state.send_replace(HubState::Open { snapshot, refused });
            let going_on = tokio::select! {
                changed = snapshots.changed() => changed.is_ok(),
                changed = self.refused.changed() => changed.is_ok(),
                order = self.orders.recv() => matches!(order, Some(Order::TryAgain)),
                () = hub.quit_requested() => false,
            };
            if !going_on {
                break;
            }
        }
        self.hub.send_replace(None);
        end(hub, endpoint).await;
    }
}

async fn open(options: &Options) -> Result<(Hub, Endpoint), HubState> {
    // Clients that connect while the hub is being opened wait.
    let port = satchel_endpoint::listen(options.port, &options.places);
    let hub = Hub::open(HubOptions {
        callbacks: satchel_endpoint::callbacks(),
        places: options.places.clone(),
        own_program: options.own_program.clone(),
        passive: false,
        trust_config: options.trust_config,
        others_see_arguments: satchel_core::platform::people::others_see_arguments(),
    });
    let hub = match hub.await {
        Ok(hub) => hub,
        Err(OpenError::HeldBy { pid, url, .. }) => return Err(HubState::Held { pid, url }),
        Err(error) => return Err(HubState::Stopped { message: error.to_string() }),
    };
    match satchel_endpoint::serve(&hub, port).await {
        Ok(endpoint) => Ok((hub, endpoint)),
        Err(error) => {
            let message = error.to_string();
            if tokio::time::timeout(END, hub.shutdown()).await.is_err() {
                tracing::warn!("the hub did not end in time");
            }
            Err(HubState::Stopped { message })
        }
    }
}

/// First stops new calls, then the servers. Both are bounded; the watchdog kills what hangs.
async fn end(hub: Hub, endpoint: Endpoint) {
    tracing::info!("ending");
    hub.begin_to_end();
    if tokio::time::timeout(DRAIN, endpoint.shutdown()).await.is_err() {
        tracing::warn!("calls were still running and are cut off");
    }
    if tokio::time::timeout(END, hub.shutdown()).await.is_err() {
        tracing::warn!("servers did not end in time");
    }
    // Dropping the hub may block, for example in the keychain's connection, which must not happen on a runtime thread.
    let _ = tokio::task::spawn_blocking(move || drop(hub)).await;
}
