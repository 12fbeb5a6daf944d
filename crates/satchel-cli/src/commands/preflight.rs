//! `preflight`: says whether what a job names is there and may be used, before the job begins. Starts no server and changes
//! nothing.

use std::{collections::BTreeMap, process::ExitCode};

use anyhow::Context;
use satchel_core::{
    files::{self, Places},
    model::{
        ServerState, ServerView, Snapshot, ToolPath,
        control::{ToolLine, ToolList},
        nature::Permit,
        oauth::SignInState,
        request::{GetStatus, ListTools},
        shell,
    },
};
use serde::Serialize;

use super::read_input;
use crate::{
    Usage,
    output::{Lines, say, say_json},
    reach::reach,
};

/// More tools than anyone has.
const ALL: usize = 1_000_000;
/// Maximum length of a file with names, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// What is wrong with one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Problem {
    /// The server, or `server:tool`.
    name: String,
    /// Why it cannot be used, and what helps.
    reason: String,
}

pub(crate) async fn run(places: &Places, what: String, json: bool) -> anyhow::Result<ExitCode> {
    let named = from_file(&what)?;
    let hub = reach(places).await?;
    let (snapshot, tools) = (
        hub.ask(GetStatus {}).await,
        hub.ask(ListTools { query: String::new(), server: None, limit: ALL }).await,
    );
    hub.leave().await;
    let (snapshot, tools): (Snapshot, ToolList) = (snapshot?, tools?);
    let named = match named {
        Some(named) => named,
        None => of_profile(&what, &snapshot)?,
    };
    let problems = problems(&named, &snapshot, &tools.tools);
    match (json, problems.as_slice()) {
        (true, problems) => say_json(&problems)?,
        (false, []) => say(format!("Ready: {}.", counted(named.len()))),
        (false, problems) => problems.iter().for_each(|one| {
            say(Lines::line(format!("{}: {}", one.name, one.reason)));
        }),
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn counted(names: usize) -> String {
    if names == 1 { "1 name".to_owned() } else { format!("{names} names") }
}

/// The names in a file; `None` if there is no such file.
fn from_file(what: &str) -> anyhow::Result<Option<Vec<String>>> {
    let text = match what {
        "-" => read_input()?,
        path if std::path::Path::new(path).is_file() => {
            let bytes = files::read_plain(std::path::Path::new(path), LARGEST);
            let bytes = bytes.with_context(|| format!("cannot read {path}"))?;
            String::from_utf8(bytes).map_err(|_| Usage(format!("{path} has something other than text")))?
        }
        _ => return Ok(None),
    };
    let named = names_in(&text).map_err(|why| Usage(format!("{what}: {why}")))?;
    Ok(Some(named))
}

/// A name on each line, without empty ones and comments after `#`, or a JSON list of texts.
fn names_in(text: &str) -> Result<Vec<String>, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let named: Vec<String> = match text.starts_with('[') {
        true => {
            serde_json::from_str(text).map_err(|error| format!("expected a JSON list of texts: {error}"))?
        }
        false => text
            .lines()
            .filter_map(|line| line.split(" #").next())
            .map(|line| line.trim().to_owned())
            .collect(),
    };
    let is_name = |line: &String| !line.is_empty() && !line.starts_with('#');
    let named: Vec<String> = named.into_iter().filter(is_name).collect();
    match named.is_empty() {
        true => Err("it names no server and no tool".to_owned()),
        false => Ok(named),
    }
}

/// The servers of a profile, and the tools that it names one by one.
fn of_profile(what: &str, snapshot: &Snapshot) -> anyhow::Result<Vec<String>> {
    let known = snapshot.profiles.all.iter().find(|known| known.name == what);
    let Some(known) = known else {
        let why =
            format!("there is no file and no profile \"{what}\"; `satchel profile list` shows the profiles");
        return Err(Usage(why).into());
    };
    let tools = known.profile.only.iter().filter(|path| !path.contains(['*', '?']));
    Ok(known.profile.servers.iter().chain(tools).cloned().collect())
}

fn problems(named: &[String], snapshot: &Snapshot, tools: &[ToolLine]) -> Vec<Problem> {
    let servers: BTreeMap<&str, &ServerView> =
        snapshot.servers.iter().map(|server| (server.name.as_str(), server)).collect();
    let problem = |name: &String| {
        let reason = match (servers.get(name.as_str()), name.parse::<ToolPath>()) {
            (Some(server), _) => of_server(server),
            (None, Ok(path)) => match servers.get(path.server.as_str()) {
                Some(server) => of_server(server).or_else(|| of_tool(name, server, tools)),
                None => Some(format!("there is no server \"{}\"; `satchel list` shows them", path.server)),
            },
            (None, Err(_)) => Some("there is no such server; `satchel list` shows them".to_owned()),
        };
        reason.map(|reason| Problem { name: name.clone(), reason })
    };
    named.iter().filter_map(problem).collect()
}

/// Why a server cannot be used now.
fn of_server(server: &ServerView) -> Option<String> {
    let name = shell::word(&server.name);
    if let ServerState::Invalid { message } = &server.state {
        return Some(format!("its entry is invalid: {message}"));
    }
    if !server.enabled {
        return Some(format!("it is switched off; `satchel enable {name}` switches it on"));
    }
    if server.not_started.is_some() {
        return Some(format!("what it runs is not approved; `satchel approve {name}` shows it"));
    }
    if let Some(sign_in) = &server.sign_in
        && let SignInState::SignedOut
        | SignInState::NeedsSignIn { .. }
        | SignInState::SigningIn { .. }
        | SignInState::NeedsMoreRights { .. }
        | SignInState::NeedsClientId { .. } = &sign_in.state
    {
        return Some(format!("it needs a sign-in; `satchel login {name}` begins it"));
    }
    match &server.state {
        ServerState::NeedsSignIn { message } => Some(format!("{message}; `satchel login {name}` signs in")),
        ServerState::NeedsCredential { names, .. } => Some(format!("it needs {}", names.join(", "))),
        ServerState::Broken { message, .. } | ServerState::BackingOff { message, .. } => {
            Some(format!("it could not start: {message}"))
        }
        ServerState::Off
        | ServerState::Asleep
        | ServerState::Starting { .. }
        | ServerState::Ready { .. }
        | ServerState::Stopping
        | ServerState::Invalid { .. } => None,
    }
}

/// Why a tool of a usable server cannot be used.
fn of_tool(path: &str, server: &ServerView, tools: &[ToolLine]) -> Option<String> {
    let name = shell::word(&server.name);
    match tools.iter().find(|tool| tool.tool_path == path) {
        Some(tool) if tool.permit == Permit::Off => Some(format!("it is switched off ({})", tool.rule)),
        Some(_) => None,
        None if server.tools.is_none() => {
            Some(format!("the tools of the server are not known yet; `satchel restart {name}` reads them"))
        }
        None if server.held > 0 => Some(format!(
            "it is not offered; {} definitions wait for approval: `satchel approvals {name}`",
            server.held
        )),
        None => Some(format!("the server has no such tool; `satchel tools --server {name}` lists them")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_names_servers_and_tools_in_lines_or_a_list() {
        let expected = Ok(vec!["files".to_owned(), "git:log".to_owned()]);
        for text in [
            "files\n\n# why\ngit:log # read only\n",
            "[\"files\", \"git:log\"]",
            "\u{feff}files\r\ngit:log\r\n",
        ] {
            assert_eq!(names_in(text), expected, "{text:?}");
        }
        for text in ["", "# nothing", "[]", "[1]", "[\"a\""] {
            assert!(names_in(text).is_err(), "{text:?}");
        }
    }
}
