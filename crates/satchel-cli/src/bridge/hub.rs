//! Finds the running hub, or starts one without a window.

use std::{process::Stdio, time::Duration};

use anyhow::{Context, bail};
use satchel_core::{
    files::Places,
    model::control::{Connection, Wish},
};
use tokio::process::{Child, Command};

use crate::control::{Control, Endpoint};

/// How long a hub may take to start.
const STARTING_TIME: Duration = Duration::from_secs(30);
/// How long another hub, one that was faster than ours, may take until it answers.
const RIVAL_TIME: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(50);

/// The endpoint of the hub that runs now, with a token that lasts as long as that hub.
pub(super) async fn arrive(places: &Places, client: &str) -> anyhow::Result<Endpoint> {
    let control = match Control::find(places).await? {
        Some(control) => control,
        None => start(places).await?,
    };
    let wish = Wish::Connect { client: client.to_owned(), ephemeral: true };
    let Connection { url, headers } = serde_json::from_value(control.fulfil(&wish).await?)?;
    Ok(Endpoint::at(url, &headers)?)
}

async fn start(places: &Places) -> anyhow::Result<Control> {
    tracing::info!("no hub runs; starting one");
    let mut hub = spawn().context("cannot start a hub")?;
    let mut waited = Duration::ZERO;
    while waited < STARTING_TIME {
        if let Some(control) = Control::find(places).await? {
            return Ok(control);
        }
        // When another bridge was faster, our hub gave way to theirs, which answers soon.
        if let Some(status) = hub.try_wait()?
            && waited >= RIVAL_TIME
        {
            bail!("the hub ended while starting ({status}); its log is in {}", places.logs.display());
        }
        tokio::time::sleep(TICK).await;
        waited += TICK;
    }
    bail!(
        "the hub did not start within {} seconds; its log is in {}",
        STARTING_TIME.as_secs(),
        places.logs.display()
    )
}

/// The hub serves other clients too, so it must survive us, our terminal and our client.
fn spawn() -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("serve").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    detach(&mut command);
    command.spawn()
}

#[cfg(unix)]
fn detach(command: &mut Command) {
    command.process_group(0);
}

#[cfg(windows)]
fn detach(command: &mut Command) {
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
}
