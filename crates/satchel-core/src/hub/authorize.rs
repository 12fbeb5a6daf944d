//! Who may have what done: nothing that a server started may ask the hub for anything, and what loosens a protection
//! needs a person, in the window or asked at a terminal. Everything else is open to whoever may open the control channel.

use std::{collections::BTreeSet, sync::Arc};

use super::Hub;
use crate::{
    config::rules::ToolRule,
    model::{
        Origin,
        asks::QuestionAnswer,
        clients::ClientsWish,
        control::{Change, Refusal, Wish},
        nature::Permit,
        server::Sandbox,
        trail::DeedKind,
    },
    upstream::ancestry::{Caller, Process},
};

/// The code of a refusal that a person's yes at a terminal would have prevented.
pub const NEEDS_PERSON: &str = "needs_person";
/// The code of a refusal of whatever a server started.
pub const FROM_A_SERVER: &str = "from_a_server";
/// Where in the trail a request stands that came over the control channel and was turned away.
const CHANNEL: &str = "the control channel";

/// What is loosened, and how a person has it done.
#[derive(Debug, PartialEq, Eq)]
struct Loosening {
    /// What is done, as the beginning of a sentence.
    what: String,
    /// The command; empty where there is none.
    command: String,
}

impl Loosening {
    fn new(what: impl Into<String>, command: impl Into<String>) -> Self {
        Self { what: what.into(), command: command.into() }
    }
}

impl Hub {
    /// Where the requests of a process come from that has connected to the control channel. `asked` says that it asked a
    /// person at its terminal, which is believed where it has one. Blocks.
    ///
    /// # Errors
    /// A [`Refusal`] for whatever a server started, and for what is gone already.
    pub fn origin_of(&self, caller: Caller, asked: bool) -> Result<Origin, Refusal> {
        let process = match caller {
            Caller::Process(process) => process,
            Caller::Gone => return Err(self.turned_away_gone()),
            Caller::Unknown => return Ok(unknown(asked)),
        };
        let is_server = |pid| self.inner.around.warden.holds(pid);
        match process.is_of_a_server(Some(std::process::id()), is_server) {
            Some(false) => Ok(origin(process, asked)),
            Some(true) => {
                let program = program(process).to_string();
                self.turned_away_from(&program, "started by a server", CHANNEL);
                Err(of_a_server())
            }
            None => Err(self.turned_away_gone()),
        }
    }

    fn turned_away_gone(&self) -> Refusal {
        self.turned_away_from("unknown program", "it ended before it could be looked at", CHANNEL);
        Refusal::new(FROM_A_SERVER, "whoever asked was gone before it could be told who it was", "Try again.")
    }

    /// The same handle, for a request that comes from there.
    pub(super) fn on_behalf_of(&self, origin: &Origin) -> Self {
        Self { origin: Some(Arc::new(origin.clone())), ..self.clone() }
    }

    /// Does a person make the request that this handle carries out, or the hub itself?
    pub(super) fn is_for_a_person(&self) -> bool {
        self.origin.as_ref().is_none_or(|origin| origin.is_person())
    }

    /// Refuses a program what only a person may have done.
    ///
    /// # Errors
    /// A [`Refusal`] with the code [`NEEDS_PERSON`] that says what to do.
    pub(super) fn refuse_to_loosen(&self, wish: &Wish) -> Result<(), Refusal> {
        if self.is_for_a_person() {
            return Ok(());
        }
        let Some(Loosening { what, command }) = self.loosening(wish) else { return Ok(()) };
        self.did_here(DeedKind::Denied, "", format!("{what} needs a person"));
        let action = match command.is_empty() {
            true => "Use the window.".to_owned(),
            false => format!("Run `{command}` in a terminal, or use the window."),
        };
        Err(Refusal::new(NEEDS_PERSON, format!("{what} needs a person's yes"), action))
    }

    /// What a request loosens, where it does. Each is decided here.
    fn loosening(&self, wish: &Wish) -> Option<Loosening> {
        match wish {
            Wish::Approve { server, items } => {
                let count = items.len();
                let what = if count == 1 { "1 definition".to_owned() } else { format!("{count} definitions") };
                Some(Loosening::new(
                    format!("approving {what} of \"{server}\""),
                    format!("satchel approve {server}"),
                ))
            }
            Wish::LookedAt { server } => Some(Loosening::new(
                format!("approving what \"{server}\" offers"),
                format!("satchel approve {server}"),
            )),
            Wish::ApproveSettings { .. } => Some(Loosening::new(
                "accepting the settings of the configuration file",
                "satchel approve --settings",
            )),
            Wish::AnswerAsk { id, answer } => answer.is_yes().then(|| {
                Loosening::new(format!("allowing the call of question {id}"), format!("satchel answer {id} yes"))
            }),
            Wish::AnswerQuestion { id, answer } => match answer {
                QuestionAnswer::Accept { .. } => Some(Loosening::new(
                    format!("answering question {id} of a server"),
                    format!("satchel answer {id} yes"),
                )),
                QuestionAnswer::Decline | QuestionAnswer::Cancel | QuestionAnswer::Mute => None,
            },
            Wish::Change(change) => self.loosening_change(&self.by_own_name(change.clone())),
            Wish::Clients(ClientsWish::SetHidden { client, path, hidden: false }) => {
                self.inner.edits.choices(client).hidden.contains(path).then(|| {
                    Loosening::new(
                        format!("showing \"{path}\" to {client} again"),
                        format!("satchel show {client} {path}"),
                    )
                })
            }
            // A person paused it, and knows why.
            Wish::Resume => Some(Loosening::new("ending the pause", "")),
            // It says what was done, and by whom.
            Wish::DeleteHistory { .. } => Some(Loosening::new("deleting the history", "satchel history clear")),
            // Reads.
            Wish::Status
            | Wish::Tools { .. }
            | Wish::Entry { .. }
            | Wish::OwnSecrets { .. }
            | Wish::Package { .. }
            | Wish::Listing { .. }
            | Wish::SecretNames
            | Wish::Log { .. }
            | Wish::Report(_)
            | Wish::Activity(_)
            | Wish::LastDay
            | Wish::Audit(_)
            | Wish::Trail(_)
            | Wish::VerifyTrail { .. }
            | Wish::CallDetail { .. }
            | Wish::Approvals { .. }
            | Wish::Asks { .. }
            | Wish::ReadingAsk { .. }
            | Wish::DebugStatus
            // Calls, as scripts make them.
            | Wish::Call { .. }
            | Wish::RunAgain { .. }
            // What runs goes on, or ends.
            | Wish::Restart { .. }
            | Wish::Rest { .. }
            | Wish::Pause { .. }
            | Wish::Quit
            // Credentials come in, and none goes out. Which server is given one is decided elsewhere.
            | Wish::SetSecret { .. }
            | Wish::RemoveSecret { .. }
            | Wish::UseVault { .. }
            | Wish::UnlockVault { .. }
            | Wish::AnswerSecret { .. }
            // What a program changes of a server that a person accepted is held back (`apply`).
            | Wish::Pin { .. }
            | Wish::PutBack { .. }
            | Wish::DismissFailure { .. }
            // Access, as scripts and the bridge make it.
            | Wish::Connect { .. }
            | Wish::Clients(_)
            // Stricter than before.
            | Wish::KeepHeld { .. }
            | Wish::ForgetHabits => None,
        }
    }

    fn loosening_change(&self, change: &Change) -> Option<Loosening> {
        let config = self.inner.config.borrow().clone();
        match change {
            Change::SetPermit { tool, client, permit } => {
                let strictest = config.tool_defaults().hides();
                loosens(config.tool_rules(), strictest, tool, client.as_deref(), *permit).then(|| {
                    let word = permit.map_or("usual", Permit::as_str);
                    let of = client.as_ref().map(|client| format!(" --client {client}")).unwrap_or_default();
                    let what = match permit {
                        Some(Permit::Allow) => format!("allowing calls of {tool} without a question"),
                        Some(Permit::Ask | Permit::Off) | None => format!("loosening the rule for {tool}"),
                    };
                    Loosening::new(what, format!("satchel rule {tool} {word}{of}"))
                })
            }
            Change::SetSandbox { name, sandbox } => {
                let before = config.servers().get(name.as_str())?.sandbox.as_ref()?;
                match sandbox {
                    Some(sandbox) if is_within(sandbox, before) => None,
                    Some(_) => Some(Loosening::new(
                        format!("widening the sandbox of \"{name}\""),
                        format!("satchel sandbox {name} on …"),
                    )),
                    None => Some(Loosening::new(
                        format!("taking \"{name}\" out of its sandbox"),
                        format!("satchel sandbox {name} off"),
                    )),
                }
            }
            // The whole entry, with its sandbox and everything else in it.
            Change::Edit { name, .. } => Some(Loosening::new(format!("changing the entry of \"{name}\""), "")),
            Change::Put { name, replace: true, .. } => config
                .entry(name)
                .map(|_| Loosening::new(format!("replacing the entry of \"{name}\""), "")),
            // Held back where it changes what a person accepted.
            Change::Add { .. }
            | Change::Put { .. }
            | Change::Duplicate { .. }
            | Change::Remove { .. }
            // What it runs and offers has its own approval.
            | Change::SetEnabled { .. }
            | Change::SetKeepCalls { .. }
            | Change::SetLearning { .. } => None,
        }
    }
}

/// Where a request comes from that this very process makes of a hub of its own. Blocks.
///
/// # Errors
/// A [`Refusal`] where a server started us.
pub fn origin_here(asked: bool) -> Result<Origin, Refusal> {
    let Some(process) = Process::own() else { return Ok(unknown(asked)) };
    match process.is_of_a_server(None, |_| false) {
        Some(false) => Ok(origin(process, asked)),
        Some(true) | None => Err(of_a_server()),
    }
}

fn of_a_server() -> Refusal {
    Refusal::new(
        FROM_A_SERVER,
        "an MCP server that Satchel runs may not use its command line or its control channel, and nothing that it started \
         may",
        "Run the command in a terminal of your own, or use the window.",
    )
}

fn origin(process: Process, asked: bool) -> Origin {
    match asked && process.is_at_a_terminal() {
        true => Origin::Terminal { pid: process.pid() },
        false => program(process),
    }
}

/// A program that the system does not name. Where it never does, whoever says that a person was asked is believed.
fn unknown(asked: bool) -> Origin {
    match asked && cfg!(windows) {
        true => Origin::Terminal { pid: 0 },
        false => Origin::Program { pid: None, name: String::new(), parent: None },
    }
}

fn program(process: Process) -> Origin {
    let name = process.name();
    // Of our own command line it matters who started it.
    let starter = name.starts_with("satchel").then(|| process.starter()).flatten();
    let parent = starter.map(|(name, pid)| format!("{name} (pid {pid})"));
    Origin::Program { pid: Some(process.pid()), name, parent }
}

/// Can more be called after this change of the rules than before, or without a question that was asked before?
/// `strictest`: without a rule, some tools are off.
fn loosens(
    rules: &[ToolRule],
    strictest: bool,
    tool: &str,
    client: Option<&str>,
    permit: Option<Permit>,
) -> bool {
    let same = rules.iter().filter(|rule| rule.tool == tool && rule.client.as_deref() == client);
    let now = same.filter_map(|rule| rule.permit).next_back();
    match permit {
        Some(Permit::Allow) => now != permit,
        // The later rule counts, so it takes every other one out of force that is for the same tool.
        Some(Permit::Ask) => {
            let is_off = |rule: &ToolRule| rule.permit == Some(Permit::Off) && rule.meets(tool, client);
            now != permit && (strictest || rules.iter().any(is_off))
        }
        Some(Permit::Off) => false,
        None => matches!(now, Some(Permit::Ask | Permit::Off)),
    }
}

fn is_within(after: &Sandbox, before: &Sandbox) -> bool {
    let writable: BTreeSet<&String> = before.write.iter().collect();
    let readable: BTreeSet<&String> = before.read.iter().chain(&before.write).collect();
    after.read.iter().all(|place| readable.contains(place))
        && after.write.iter().all(|place| writable.contains(place))
        && (before.network || !after.network)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rule_that_lets_more_through_needs_a_person_and_a_stricter_one_does_not() {
        use Permit::{Allow, Ask, Off};
        let rules: Vec<ToolRule> = serde_json::from_value(json!([
            { "tool": "git:*", "permit": "ask" },
            { "tool": "git:push", "permit": "off" },
            { "tool": "git:log", "permit": "allow" },
            { "tool": "mail:*", "client": "zed", "permit": "off" },
        ]))
        .unwrap();
        for (tool, client, permit, needs) in [
            ("git:push", None, Some(Allow), true),
            ("git:push", None, Some(Ask), true),
            ("git:push", None, None, true),
            ("git:push", None, Some(Off), false),
            ("git:*", None, None, true),
            ("git:*", None, Some(Off), false),
            ("git:*", None, Some(Ask), false),
            // Would take the rule about git:push out of force.
            ("git:pu*", None, Some(Ask), true),
            ("*", Some("cursor"), Some(Ask), true),
            ("git:log", None, None, false),
            ("git:log", None, Some(Ask), false),
            ("git:log", None, Some(Allow), false),
            ("never:seen", None, Some(Allow), true),
            ("never:seen", None, Some(Ask), false),
            ("never:seen", None, None, false),
            ("mail:send", Some("zed"), Some(Ask), true),
            ("mail:send", Some("z*"), Some(Ask), true),
            ("mail:send", Some("cursor"), Some(Ask), false),
            ("mail:*", Some("zed"), None, true),
            ("mail:*", None, None, false),
        ] {
            assert_eq!(loosens(&rules, false, tool, client, permit), needs, "{tool} {client:?} {permit:?}");
        }
        assert!(loosens(&[], true, "a:b", None, Some(Ask)), "it may be off by what it does");
    }

    #[test]
    fn a_sandbox_is_widened_by_any_place_more_and_by_the_network() {
        let sandbox = |read: &[&str], write: &[&str], network| Sandbox {
            read: read.iter().map(ToString::to_string).collect(),
            write: write.iter().map(ToString::to_string).collect(),
            network,
        };
        let before = sandbox(&["/r"], &["/w"], false);
        for (after, within) in [
            (before.clone(), true),
            (sandbox(&[], &[], false), true),
            (sandbox(&["/w"], &[], false), true),
            (sandbox(&["/r"], &["/r"], false), false),
            (sandbox(&["/r", "/"], &["/w"], false), false),
            (sandbox(&["/r"], &["/w"], true), false),
        ] {
            assert_eq!(is_within(&after, &before), within, "{after:?}");
        }
        assert!(is_within(&before, &sandbox(&["/r"], &["/w"], true)));
    }
}
