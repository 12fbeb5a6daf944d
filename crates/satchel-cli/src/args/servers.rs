//! Defines the arguments of the commands that add, remove and sandbox servers.

use clap::{Args as Group, ValueEnum};
use satchel_core::model::{
    ServerName, Startup,
    control::Target,
    server::{ContainerEngine, EraSetting, Share},
};

use super::{OnOff, variable};

#[derive(Debug, Group)]
#[command(
    override_usage = "satchel add [OPTIONS] NAME -- COMMAND [ARGS]…\n       satchel add [OPTIONS] NAME --url URL"
)]
pub(crate) struct Add {
    /// Name of the server
    pub(crate) name: ServerName,
    /// URL of a hosted server
    #[arg(long, required_unless_present = "command", conflicts_with_all = ["command", "env", "cwd"])]
    pub(crate) url: Option<String>,
    /// Header for every request; write a secret as `Bearer ${secret:NAME}`
    #[arg(long, value_name = "K: V", value_parser = header, conflicts_with = "command")]
    header: Vec<(String, String)>,
    /// Client ID of an app you registered with the provider, where it supports no dynamic registration
    #[arg(long, value_name = "ID", requires = "url")]
    pub(crate) client_id: Option<String>,
    /// Prompt for the client secret, without echo; kept in the keychain
    #[arg(long, requires = "client_id")]
    pub(crate) client_secret: bool,
    /// Environment variable; write a secret as `KEY=${secret:NAME}`
    #[arg(long, value_name = "K=V", value_parser = variable)]
    env: Vec<(String, String)>,
    /// Working directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// When to start the server
    #[arg(long, value_enum)]
    pub(crate) startup: Option<When>,
    /// Protocol revisions to use; default: detected
    #[arg(long, value_enum)]
    pub(crate) era: Option<Spoken>,
    /// Replace an existing server of that name
    #[arg(long)]
    pub(crate) replace: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Add {
    /// The new server's target.
    pub(crate) fn target(&self) -> Target {
        match (&self.url, self.command.split_first()) {
            (Some(url), _) => {
                Target::Url { url: url.clone(), headers: self.header.iter().cloned().collect() }
            }
            (None, program) => Target::Command {
                command: program.map(|(command, _)| command.clone()).unwrap_or_default(),
                args: program.map(|(_, args)| args.to_vec()).unwrap_or_default(),
                env: self.env.iter().cloned().collect(),
                cwd: self.cwd.clone(),
            },
        }
    }
}

/// [`Startup`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On the first call; stops when idle
    Lazy,
    /// On the first call; keeps running
    KeepAlive,
    /// With the hub; keeps running
    Eager,
    /// Only by `satchel restart`
    Manual,
}

/// [`EraSetting`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Spoken {
    /// Detect
    Auto,
    /// Up to 2025-11-25, with sessions
    Legacy,
    /// From 2026-07-28 on, without
    Modern,
}

impl From<Spoken> for EraSetting {
    fn from(spoken: Spoken) -> Self {
        match spoken {
            Spoken::Auto => EraSetting::Auto,
            Spoken::Legacy => EraSetting::Legacy,
            Spoken::Modern => EraSetting::Modern,
        }
    }
}

impl From<When> for Startup {
    fn from(when: When) -> Self {
        match when {
            When::Lazy => Startup::Lazy,
            When::KeepAlive => Startup::KeepAlive,
            When::Eager => Startup::Eager,
            When::Manual => Startup::Manual,
        }
    }
}

#[derive(Debug, Group)]
pub(crate) struct Remove {
    pub(crate) name: ServerName,
    /// Also remove secrets that only this server uses
    #[arg(long)]
    pub(crate) secrets: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Sandbox {
    /// The server
    pub(crate) name: ServerName,
    #[arg(value_enum, value_name = "ON|OFF")]
    pub(crate) state: OnOff,
    /// File or directory it may read; repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) read: Vec<String>,
    /// File or directory it may change; repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) write: Vec<String>,
    /// Allow network access
    #[arg(long)]
    pub(crate) network: bool,
    /// Run its command in a container of this image; fetched if its name has a digest
    #[arg(long, value_name = "IMAGE")]
    pub(crate) container: Option<String>,
    /// What runs the container
    #[arg(long, value_enum, value_name = "ENGINE", default_value = "auto", requires = "container")]
    pub(crate) engine: RunBy,
}

#[derive(Debug, Group)]
pub(crate) struct ShareArgs {
    /// The server
    pub(crate) name: ServerName,
    #[arg(value_enum, value_name = "WHO")]
    pub(crate) who: SharedBy,
}

/// [`Share`] as it is written on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SharedBy {
    /// All clients share one instance
    All,
    /// Each client has an instance of its own
    Client,
    /// Each session of a client has an instance of its own
    Session,
    /// Each project folder has an instance of its own
    Project,
    /// Satchel decides: all, or session where the server keeps something open
    Auto,
}

impl From<SharedBy> for Option<Share> {
    fn from(by: SharedBy) -> Self {
        match by {
            SharedBy::All => Some(Share::All),
            SharedBy::Client => Some(Share::Client),
            SharedBy::Session => Some(Share::Session),
            SharedBy::Project => Some(Share::Project),
            SharedBy::Auto => None,
        }
    }
}

/// [`ContainerEngine`] as it is written on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunBy {
    /// podman where it is installed, else Docker
    Auto,
    Podman,
    Docker,
}

impl From<RunBy> for ContainerEngine {
    fn from(by: RunBy) -> Self {
        match by {
            RunBy::Auto => Self::Auto,
            RunBy::Podman => Self::Podman,
            RunBy::Docker => Self::Docker,
        }
    }
}

fn header(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().into(), value.trim().into())),
        _ => Err("write it as 'Name: value'"),
    }
}

#[cfg(test)]
mod tests {
    use crate::args::{Command, tests::parsed};

    use super::*;

    fn added(line: &[&str]) -> Add {
        match parsed(&[&["add"], line].concat()) {
            Command::Add(add) => add,
            other => panic!("{other:?}"),
        }
    }

    fn pairs(pairs: &[(&str, &str)]) -> std::collections::BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn a_program_is_taken_as_it_is_written_after_the_dashes() {
        let add = added(&[
            "git",
            "--env",
            "A=b=c",
            "--cwd",
            "/x",
            "--startup",
            "keep-alive",
            "--",
            "uvx",
            "-q",
            "--json",
        ]);
        assert_eq!(
            add.target(),
            Target::Command {
                command: "uvx".into(),
                args: vec!["-q".into(), "--json".into()],
                env: pairs(&[("A", "b=c")]),
                cwd: Some("/x".into()),
            }
        );
        assert_eq!((add.startup, add.replace), (Some(When::KeepAlive), false));
    }

    #[test]
    fn an_address_takes_headers() {
        let add = added(&[
            "x",
            "--url",
            "https://a/mcp",
            "--header",
            "Authorization: Bearer ${secret:T}",
            "--header",
            "X:1:2",
        ]);
        let headers = pairs(&[("Authorization", "Bearer ${secret:T}"), ("X", "1:2")]);
        assert_eq!(add.target(), Target::Url { url: "https://a/mcp".into(), headers });
    }
}
