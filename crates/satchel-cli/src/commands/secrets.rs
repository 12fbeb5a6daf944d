//! `secrets`: manages credentials outside the configuration. Values are never arguments, which other programs and the shell's
//! history could read.

use std::{
    io::{ErrorKind, IsTerminal, stdin},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, anyhow};
use satchel_core::{
    files::Places,
    hub::Handle,
    model::{
        Code,
        request::{ListSecrets, RemoveSecret, SetSecret, UnlockVault, UseVault},
    },
};

use super::{done, read_input};
use crate::{
    Usage,
    args::Secrets,
    output::{self, Lines, say, say_aside, say_json},
    reach::{Reached, once, reach, refusal, running},
};

/// A file is unlocked only while a hub runs.
const UNLOCK_WITHOUT_HUB: &str = "No hub is running: start one with `satchel serve`, then unlock the file with \
                                  `satchel secrets unlock`; or repeat this at a terminal, which asks for the passphrase.";

/// How long a command waits in silence for the keychain.
const UNTIL_SAID: Duration = Duration::from_secs(2);

pub(crate) async fn run(places: &Places, secrets: Secrets, json: bool) -> anyhow::Result<ExitCode> {
    match secrets {
        Secrets::Set { name } => {
            let value = ask(&format!("Value of {name}"))?;
            let answer = unlocking(places, SetSecret { name: name.clone(), value }).await?;
            done(&format!("Stored {name}. Use it as ${{secret:{name}}} in the configuration."), &answer, json)
        }
        Secrets::Rm { name } => {
            let answer = unlocking(places, RemoveSecret { name: name.clone() }).await?;
            done(&format!("Removed {name}."), &answer, json)
        }
        Secrets::List => list(places, json).await,
        Secrets::UseFile => {
            let passphrase = ask_twice("Passphrase of the file")?;
            let answer = once(places, UseVault { passphrase }).await?;
            done("Secrets are kept in an encrypted file from now on.", &answer, json)
        }
        Secrets::Unlock => unlock(places, json).await,
    }
}

async fn list(places: &Places, json: bool) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let is_running = matches!(hub, Reached::Running(_));
    let names = hub.ask(ListSecrets {}).await;
    hub.leave().await;
    let names = names?;
    match (json, names.names.as_slice()) {
        (true, _) => say_json(&names)?,
        (false, []) => say("No secrets are stored. Store one with `satchel secrets set NAME`."),
        (false, stored) => say(stored.iter().collect::<Lines>()),
    }
    if names.locked && !json {
        let action = if is_running { Code::VaultLocked.action() } else { UNLOCK_WITHOUT_HUB };
        say(format!("The encrypted secrets file is locked. {action}"));
    }
    Ok(ExitCode::SUCCESS)
}

async fn unlock(places: &Places, json: bool) -> anyhow::Result<ExitCode> {
    let hub = running(places).await?;
    let passphrase = ask("Passphrase of the file")?;
    let answer = hub.ask(UnlockVault { passphrase }).await?;
    done("The file stays unlocked while the hub runs.", &answer, json)
}

/// Sends a request; first unlocks the encrypted file if it is locked and a person can be asked.
async fn unlocking<R: Handle + Clone>(places: &Places, request: R) -> anyhow::Result<R::Answer> {
    let hub = reach(places).await?;
    let mut answer = or_say(hub.ask(request.clone())).await;
    if answer.as_ref().is_err_and(is_locked) && stdin().is_terminal() {
        answer = match ask("Passphrase of the file") {
            Ok(passphrase) => match hub.ask(UnlockVault { passphrase }).await {
                Ok(_) => hub.ask(request).await,
                Err(refused) => Err(refused),
            },
            Err(error) => Err(error),
        };
    }
    let is_running = matches!(hub, Reached::Running(_));
    hub.leave().await;
    match answer {
        // Unlocked for this command alone, it would be of no use.
        Err(error) if is_locked(&error) && !is_running => Err(anyhow!("{error}. {UNLOCK_WITHOUT_HUB}")),
        answer => answer,
    }
}

/// A keychain that is locked waits for a person, in a window that may be behind others.
async fn or_say<T>(asked: impl Future<Output = T>) -> T {
    let mut asked = std::pin::pin!(asked);
    match tokio::time::timeout(UNTIL_SAID, &mut asked).await {
        Ok(answer) => answer,
        Err(_) => {
            say_aside(
                "The keychain has not answered yet; it may wait for you to unlock it in a window of its own.",
            );
            asked.await
        }
    }
}

fn is_locked(error: &anyhow::Error) -> bool {
    refusal(error).is_some_and(|refusal| refusal.code == Code::VaultLocked)
}

/// Prompts for a value without echo, or reads it from standard input.
pub(super) fn ask(what: &str) -> anyhow::Result<String> {
    let value = match stdin().is_terminal() {
        true => hidden(what)?,
        false => trimmed(&read_input()?).to_owned(),
    };
    if value.is_empty() {
        return Err(Usage(format!("{what}: nothing was entered")).into());
    }
    Ok(value)
}

/// The same, allowing an empty value. Only for a terminal.
pub(super) fn ask_unless_empty(what: &str) -> anyhow::Result<String> {
    hidden(what)
}

/// A value that is not seen while it is typed.
fn hidden(what: &str) -> anyhow::Result<String> {
    let held = HiddenPrompt::interrupts();
    let value = output::hidden_answer(what);
    held.release(value.as_ref().err().is_some_and(|error| error.kind() == ErrorKind::Interrupted));
    value.context("cannot read from the terminal")
}

/// What a shell calls the end by Ctrl-C.
const INTERRUPTED: i32 = 130;
#[cfg(unix)]
const GRACE: std::time::Duration = std::time::Duration::from_millis(300);

/// Keeps Ctrl-C from ending the program while the terminal shows nothing of what is typed: ended there and then, it would
/// leave the terminal like that.
struct HiddenPrompt {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl HiddenPrompt {
    fn interrupts() -> Self {
        Self {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).ok(),
        }
    }

    /// The terminal is as it was: Ctrl-C ends the program from now on, and now where it was pressed.
    fn release(self, pressed: bool) {
        if pressed {
            std::process::exit(INTERRUPTED);
        }
        #[cfg(unix)]
        if let Some(mut signal) = self.signal {
            let runtime = tokio::runtime::Handle::current();
            std::thread::spawn(move || {
                if runtime.block_on(signal.recv()).is_some() {
                    // Who waits for the signal as well, as a sign-in does, ends in its own way first.
                    runtime.block_on(tokio::time::sleep(GRACE));
                    std::process::exit(INTERRUPTED);
                }
            });
        }
    }
}

/// Prompts for a new value twice, because it is not echoed.
pub(super) fn ask_twice(what: &str) -> anyhow::Result<String> {
    let value = ask(what)?;
    if stdin().is_terminal() && ask(&format!("{what}, again"))? != value {
        return Err(Usage("the two entries differ".into()).into());
    }
    Ok(value)
}

/// Removes the line end that `echo` adds; other white space may be part of the value.
fn trimmed(input: &str) -> &str {
    let input = input.strip_suffix('\n').unwrap_or(input);
    input.strip_suffix('\r').unwrap_or(input)
}

#[cfg(test)]
mod tests {
    use super::trimmed;

    #[test]
    fn only_one_line_end_is_taken_from_a_value() {
        for (input, value) in
            [("a", "a"), ("a\n", "a"), ("a\r\n", "a"), (" a \n\n", " a \n"), ("\n", ""), ("", "")]
        {
            assert_eq!(trimmed(input), value);
        }
    }
}
