//! Finds the running hub, or starts one without a window.

use std::{path::Path, process::Stdio, time::Duration};

use anyhow::{Context, bail};
use satchel_core::{
    files::Places,
    model::{control::Connection, request::MakeToken},
};
use tokio::process::{Child, Command};

use super::{ClientSocket, Connecting};
use crate::control::{Control, ControlError, Endpoint};

/// Timeout of a hub's start.
const STARTING_TIME: Duration = Duration::from_secs(30);
/// How long a hub that another process started first may take to answer.
const RIVAL_TIME: Duration = Duration::from_secs(2);
/// How long a stopping hub may take to exit.
const ENDING_TIME: Duration = Duration::from_secs(5);
/// Maximum number of starts of a hub that exits before it answers.
const STARTS: usize = 3;
const TICK: Duration = Duration::from_millis(50);

/// The endpoint of the running hub, with a token that lasts as long as it.
pub(super) async fn arrive(places: &Places, caller: &Connecting) -> anyhow::Result<Endpoint> {
    let profile =
        caller.profile.as_ref().map(|name| format!("/profile/{}", encoded(name))).unwrap_or_default();
    if let Some(socket) = &caller.socket {
        return at_socket(socket, &profile, folder_header(caller)).await;
    }
    let (mut waited, mut starts) = (Duration::ZERO, 0);
    let connected = loop {
        match connect(places, &caller.client).await {
            // A stopping hub still accepts connections without answering.
            Err(ControlError::Failed(_)) if waited < ENDING_TIME => tokio::time::sleep(TICK).await,
            Ok(None) if starts < STARTS => {
                starts += 1;
                start(places).await?;
            }
            Ok(None) => bail!("the hub keeps exiting; its log is in {}", places.logs.display()),
            Ok(Some(connected)) => break connected,
            Err(error) => return Err(error.into()),
        }
        waited += TICK;
    };
    let Connection { url, mut headers } = connected;
    headers.extend(folder_header(caller));
    Ok(Endpoint::at(format!("{url}{profile}"), &headers)?)
}

/// The endpoint of a hub that cannot be started from here, and that may be starting.
async fn at_socket(
    socket: &ClientSocket,
    profile: &str,
    folder: Option<(String, String)>,
) -> anyhow::Result<Endpoint> {
    let ClientSocket { path, token_file } = socket;
    let text = std::fs::read_to_string(token_file)
        .with_context(|| format!("cannot read the token in {}", token_file.display()))?;
    let token = ("authorization".to_owned(), format!("Bearer {}", token_in(&text)));
    let headers = [token].into_iter().chain(folder).collect();
    let endpoint = Endpoint::at_socket(path, format!("http://localhost/mcp{profile}"), &headers)?;
    let mut waited = Duration::ZERO;
    while let Err(error) = crate::control::probe(path).await {
        if waited >= ENDING_TIME {
            bail!("no hub answers at {}: {error}", path.display());
        }
        tokio::time::sleep(TICK).await;
        waited += TICK;
    }
    Ok(endpoint)
}

/// The token, alone or among what `satchel connect --print` prints.
fn token_in(text: &str) -> &str {
    let printed = text.lines().find_map(|line| line.strip_prefix("Authorization: Bearer "));
    printed.unwrap_or(text).trim()
}

/// The header that names the folder to work in, or the one that the client started the bridge in. The folders of a container
/// are no folders of the hub's computer, so at a socket only one that was named counts.
fn folder_header(caller: &Connecting) -> Option<(String, String)> {
    let header = |name: &str, path: &Path| Some((name.to_owned(), encoded(path.to_str()?)));
    match (&caller.project, &caller.socket) {
        (Some(project), Some(_)) => header("satchel-project", project),
        (Some(project), None) => header("satchel-project", &std::path::absolute(project).ok()?),
        (None, Some(_)) => None,
        (None, None) => header("satchel-directory", &std::env::current_dir().ok()?),
    }
}

/// A text, percent-encoded for a path segment or a header.
fn encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~');
    name.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Connects to a running hub as this client; `None` if none is running.
async fn connect(places: &Places, client: &str) -> Result<Option<Connection>, ControlError> {
    let Some(control) = Control::find(places).await? else { return Ok(None) };
    let request = MakeToken { client: client.to_owned(), ephemeral: true };
    match control.ask(&request, false).await {
        Ok(connected) => Ok(Some(connected)),
        Err(ControlError::Unreachable(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn start(places: &Places) -> anyhow::Result<()> {
    tracing::info!("no hub is running; starting one");
    let mut hub = spawn().context("cannot start a hub")?;
    let (mut waited, mut alone) = (Duration::ZERO, Duration::ZERO);
    while waited < STARTING_TIME {
        if let Ok(Some(_)) = Control::find(places).await {
            return Ok(());
        }
        if hub.try_wait()?.is_some() {
            alone += TICK;
        }
        if alone > RIVAL_TIME {
            bail!("the hub exited during startup: {}", last_words(hub).await);
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

async fn last_words(hub: Child) -> String {
    match hub.wait_with_output().await {
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Starts a hub that survives this process, its terminal and its client, because other clients use it too. On Windows,
/// editors put their children in a job; if the job permits no breakaway, the hub ends with the editor.
fn spawn() -> std::io::Result<Child> {
    spawn_in(true).or_else(|_| spawn_in(false))
}

fn spawn_in(leaves_job: bool) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    // Standard error is only used for why it cannot start.
    command.args(["serve", "--log-format", "none"]).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::piped());
    detach(&mut command, leaves_job);
    command.spawn()
}

#[cfg(unix)]
fn detach(command: &mut Command, _leaves_job: bool) {
    command.process_group(0);
}

#[cfg(windows)]
fn detach(command: &mut Command, leaves_job: bool) {
    const CREATE_BREAKAWAY_FROM_JOB: u32 = 0x0100_0000;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    let leaving = if leaves_job { CREATE_BREAKAWAY_FROM_JOB } else { 0 };
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW | leaving);
}

#[cfg(test)]
mod tests {
    use super::{encoded, token_in};

    #[test]
    fn a_token_is_found_in_what_connect_prints() {
        for text in ["t0ken\n", "http://127.0.0.1:7411/mcp\nAuthorization: Bearer t0ken\n"] {
            assert_eq!(token_in(text), "t0ken");
        }
    }

    #[test]
    fn the_name_of_a_profile_is_one_part_of_an_address() {
        assert_eq!(encoded("work"), "work");
        assert_eq!(encoded("a/b ü?"), "a%2Fb%20%C3%BC%3F");
        assert_eq!(encoded(".."), "%2E%2E");
    }
}
