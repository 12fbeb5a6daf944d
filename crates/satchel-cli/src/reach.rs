//! Selects the hub that answers a request: the running one, or one opened in this process for a single command.

use std::time::Duration;

use anyhow::{Context, anyhow};
use satchel_core::{
    files::Places,
    hub::{Handle, Hub, HubOptions, OpenError, origin_here},
    model::{Code, control::Refusal},
};

use crate::{
    control::{Control, ControlError},
    terminal,
};

/// How long to wait for a hub that holds the data directory but does not answer yet.
const STARTING_TIME: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(100);

/// A reachable hub.
pub(crate) enum Reached {
    /// In another process.
    Running(Control),
    /// In this process, for the duration of the command.
    Here(Hub),
}

/// Connects to the running hub, or opens a passive one in this process.
pub(crate) async fn reach(places: &Places) -> anyhow::Result<Reached> {
    let mut waited = Duration::ZERO;
    loop {
        if let Some(control) = Control::find(places).await? {
            return Ok(Reached::Running(control));
        }
        match Hub::open(options(places, true)?).await {
            Ok(hub) => return Ok(Reached::Here(hub)),
            // A starting hub holds the directory before it listens, and a stopping one after.
            Err(OpenError::HeldBy { .. }) if waited < STARTING_TIME => tokio::time::sleep(TICK).await,
            Err(error) => return Err(anyhow!(error)),
        }
        waited += TICK;
    }
}

/// Connects to the running hub, for commands that need one.
pub(crate) async fn running(places: &Places) -> anyhow::Result<Reached> {
    let control = Control::find(places).await?;
    control.map(Reached::Running).ok_or_else(|| anyhow!("no hub is running; start one with `satchel serve`"))
}

/// The options for opening a hub in this program.
pub(crate) fn options(places: &Places, passive: bool) -> anyhow::Result<HubOptions> {
    let own_program = std::env::current_exe().context("cannot locate this program")?;
    Ok(HubOptions {
        places: places.clone(),
        own_program,
        passive,
        trust_config: false,
        others_see_arguments: satchel_core::platform::people::others_see_arguments(),
        callbacks: satchel_endpoint::callbacks(),
    })
}

impl Reached {
    /// Sends a request. If it needs a person's approval and one is at the terminal, asks.
    ///
    /// # Errors
    /// A [`Refusal`] if the hub or the person refuses, another error if the hub is unreachable.
    pub(crate) async fn ask<R: Handle + Clone>(&self, request: R) -> anyhow::Result<R::Answer> {
        match self.send(request.clone(), false).await {
            Err(error) if needs_person(&error) && terminal::is_there() => {
                let what = error.to_string();
                let mut letters = what.chars();
                let first = letters.next().map(char::to_uppercase).into_iter().flatten();
                let sentence: String = first.chain(letters).collect();
                match terminal::agrees(&format!("{sentence}. Continue?"))? {
                    true => self.send(request, true).await,
                    false => Err(anyhow!("nothing was changed")),
                }
            }
            done => done,
        }
    }

    /// Sends a request that a person at this terminal has confirmed.
    ///
    /// # Errors
    /// As for [`Self::ask`].
    pub(crate) async fn ask_for_person<R: Handle>(&self, request: R) -> anyhow::Result<R::Answer> {
        self.send(request, terminal::is_there()).await
    }

    async fn send<R: Handle>(&self, request: R, asked: bool) -> anyhow::Result<R::Answer> {
        match self {
            Reached::Running(control) => control.ask(&request, asked).await.map_err(plain),
            Reached::Here(hub) => Ok(hub.request(request, &origin_here(asked)?).await?),
        }
    }

    /// Shuts the hub down if it was opened for this command.
    pub(crate) async fn leave(self) {
        match self {
            Reached::Running(_) => {}
            Reached::Here(hub) => hub.shutdown().await,
        }
    }
}

/// Keeps a refusal recognizable, so that its action is shown.
fn plain(error: ControlError) -> anyhow::Error {
    match error {
        ControlError::Refused(refusal) => anyhow::Error::from(refusal),
        other @ (ControlError::Unreachable(_) | ControlError::Failed(_)) => anyhow!(other),
    }
}

/// Sends one request to the hub.
pub(crate) async fn once<R: Handle + Clone>(places: &Places, request: R) -> anyhow::Result<R::Answer> {
    let hub = reach(places).await?;
    let answer = hub.ask(request).await;
    hub.leave().await;
    answer
}

fn needs_person(error: &anyhow::Error) -> bool {
    refusal(error).is_some_and(|refusal| refusal.code == Code::NeedsPerson)
}

/// The hub's refusal, if this error is one.
pub(crate) fn refusal(error: &anyhow::Error) -> Option<&Refusal> {
    error.downcast_ref()
}
