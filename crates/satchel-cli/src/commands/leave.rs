//! `leave`: removes Satchel from every client and from login items, and lists what remains. Deletes no server, secret or file of
//! ours; that is for whoever uninstalls the program.

use std::{io::ErrorKind, path::PathBuf, process::ExitCode};

use satchel_core::{
    files::Places,
    model::{
        clients::Departure,
        request::{GetStatus, LeaveClients, ListSecrets},
    },
    platform::{Environment, Platform},
};
use serde::Serialize;

use super::clients::{environment, tell};
use crate::{
    output::{say, say_aside, say_json},
    reach::once,
};

/// The registry key of programs that Windows starts at login.
const RUN_KEY: &str = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run";
/// The name of the app's entry.
const ENTRY: &str = "Satchel";

/// Where a system stores login items.
#[derive(Debug, PartialEq, Eq)]
enum Login {
    File(PathBuf),
    Registry,
}

/// What remains.
#[derive(Debug, Serialize)]
struct Stays {
    servers: usize,
    secrets: Vec<String>,
    configuration: PathBuf,
    data: PathBuf,
    logs: PathBuf,
}

#[derive(Debug, Serialize)]
struct LeaveReport {
    #[serde(flatten)]
    departure: Departure,
    start_at_login_removed: bool,
    stays: Stays,
}

pub(crate) async fn run(places: &Places, dry_run: bool, json: bool) -> anyhow::Result<ExitCode> {
    let departure = once(places, LeaveClients { dry_run, environment: environment() }).await?;
    let removed = start_at_login(&Environment::of_this_process(), dry_run);
    let (start_at_login_removed, trouble) = match removed {
        Ok(removed) => (removed, None),
        Err(error) => (false, Some(format!("Start at login could not be switched off: {error}"))),
    };
    let failed = !departure.troubles.is_empty() || trouble.is_some();
    let answer = LeaveReport { departure, start_at_login_removed, stays: stays(places).await? };
    match json {
        true => say_json(&answer)?,
        false => show(&answer, dry_run),
    }
    trouble.iter().for_each(say_aside);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn show(answer: &LeaveReport, dry_run: bool) {
    for change in &answer.departure.changes {
        tell(change, dry_run, "Removed our entry from");
    }
    for trouble in &answer.departure.troubles {
        say_aside(format!("Left unchanged: {}: {}", trouble.place, trouble.reason));
    }
    if answer.departure.changes.is_empty() && answer.departure.troubles.is_empty() {
        say("No client has a Satchel entry.");
    }
    match (answer.start_at_login_removed, dry_run) {
        (true, true) => say("Satchel would no longer start at login."),
        (true, false) => say("Satchel no longer starts at login."),
        (false, _) => {}
    }
    let Stays { servers, secrets, configuration, data, logs } = &answer.stays;
    let servers = format!("{servers} {}", if *servers == 1 { "server" } else { "servers" });
    say("\nWhat remains until you delete it:");
    say(format!("  {servers}, in {}", configuration.display()));
    say(format!("  what Satchel remembers, in {}", data.display()));
    say(format!("  logs, in {}", logs.display()));
    if !secrets.is_empty() {
        say(format!("  secrets: {}; `satchel secrets rm NAME` removes one", secrets.join(", ")));
    }
    say("`satchel logout NAME` signs out of a server. To stop the hub: `satchel quit`.");
}

async fn stays(places: &Places) -> anyhow::Result<Stays> {
    let snapshot = once(places, GetStatus {}).await?;
    // A locked keychain still lists names, and a missing one has none.
    let secrets = once(places, ListSecrets {}).await.map(|stored| stored.names).unwrap_or_default();
    Ok(Stays {
        servers: snapshot.servers.len(),
        secrets,
        configuration: places.config_file.clone(),
        data: places.data.clone(),
        logs: places.logs.clone(),
    })
}

/// Removes the login item; returns whether there was one.
fn start_at_login(environment: &Environment, dry_run: bool) -> std::io::Result<bool> {
    match login(environment) {
        None => Ok(false),
        Some(Login::File(file)) if dry_run => Ok(file.exists()),
        Some(Login::File(file)) => match std::fs::remove_file(file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        },
        Some(Login::Registry) => {
            let reg = |verb: &str, force: &[&str]| {
                let mut command = std::process::Command::new("reg");
                command.args([verb, RUN_KEY, "/v", ENTRY]).args(force);
                command.output().map(|output| output.status.success())
            };
            Ok(reg("query", &[])? && (dry_run || reg("delete", &["/f"])?))
        }
    }
}

/// Where the app writes its login item; `None` without a home directory.
fn login(environment: &Environment) -> Option<Login> {
    let below = |path: &[&str]| {
        Some(Login::File(path.iter().fold(environment.home()?, |home, part| home.join(part))))
    };
    match environment.platform() {
        Platform::Linux => below(&[".config", "autostart", "Satchel.desktop"]),
        Platform::MacOs => below(&["Library", "LaunchAgents", "Satchel.plist"]),
        Platform::Windows => Some(Login::Registry),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_login_entry_is_looked_for_where_the_app_writes_it() {
        let at = |platform, home: (&str, &str)| login(&Environment::new(platform, [home]));
        let file = |path: &str| Some(Login::File(PathBuf::from(path)));
        assert_eq!(at(Platform::Linux, ("HOME", "/h")), file("/h/.config/autostart/Satchel.desktop"));
        assert_eq!(at(Platform::MacOs, ("HOME", "/h")), file("/h/Library/LaunchAgents/Satchel.plist"));
        assert_eq!(at(Platform::Windows, ("USERPROFILE", "C:\\h")), Some(Login::Registry));
        assert_eq!(at(Platform::Linux, ("PATH", "/bin")), None);
    }

    #[test]
    fn start_at_login_is_switched_off_once_and_only_told_beforehand() {
        let home = tempfile::tempdir().unwrap();
        let entry = home.path().join(".config/autostart/Satchel.desktop");
        std::fs::create_dir_all(entry.parent().unwrap()).unwrap();
        std::fs::write(&entry, "[Desktop Entry]").unwrap();
        let environment = Environment::new(Platform::Linux, [("HOME", home.path().display().to_string())]);
        assert!(start_at_login(&environment, true).unwrap() && entry.exists());
        assert!(start_at_login(&environment, false).unwrap() && !entry.exists());
        assert!(!start_at_login(&environment, false).unwrap());
    }
}
