//! Authorizes requests of the control channel. Processes started by a server are refused everything; requests that
//! loosen a protection need a person, in the window or at a terminal; anybody who can open the channel may do the rest.

use std::collections::BTreeSet;

use super::{Hub, audit, binding, loosening::Loosening, route};
use crate::{
    clients::ledger::Step,
    config::rules::ToolRule,
    model::{
        Code, Origin,
        asks::QuestionAnswer,
        audit::AuditKind,
        control::{Change, Refusal},
        nature::Permit,
        request::{
            AnswerAsk, AnswerQuestion, Approve, ApproveSettings, DeleteHistory, FollowSetup, GiveSkill,
            KeepDeleted, KeepSetup, LookedAt, Resume, SetHidden, TakeSetup, Undo, WriteSetup,
        },
        server::{Sandbox, Share},
        setup::SetupSource,
        shell,
    },
    upstream::{
        ancestry::{Caller, Process},
        peer::{Holder, Peer},
    },
};

/// The audit log's subject for a rejected request on the control channel.
const CHANNEL: &str = "the control channel";
/// The same for a connection of a client.
const PORT: &str = "the port for clients";

/// Determines who sends the requests of a process on the control channel. `asked` is its claim that it asked a
/// person at its terminal; it counts only if the process has one. Blocks.
///
/// # Errors
/// A [`Refusal`] if an MCP server started the process, or if it has exited.
pub(super) fn origin_of(hub: &Hub, caller: Caller, asked: bool) -> Result<Origin, Refusal> {
    let process = match caller {
        Caller::Process(process) => process,
        Caller::Gone => return Err(turned_away_gone(hub)),
        Caller::Unknown => return Ok(unknown(asked)),
    };
    let is_server = |pid| hub.inner.around.watchdog.holds(pid);
    match process.is_of_a_server(Some(std::process::id()), is_server) {
        Some(false) => Ok(origin(process, asked)),
        Some(true) => {
            let program = program(process).to_string();
            audit::turned_away_from(hub, &program, "started by a server", CHANNEL);
            Err(of_a_server())
        }
        None => Err(turned_away_gone(hub)),
    }
}

/// Refuses clients that a server started: it would use a token that it read from a client's file, and answer the
/// questions about its own calls.
///
/// # Errors
/// A [`Refusal`] if a server started the process at the other end, or if it has closed the connection already.
pub(super) async fn admit_client(hub: &Hub, client: &str, peer: Peer) -> Result<(), Refusal> {
    let around = &hub.inner.around;
    let watchdog = around.watchdog.clone();
    match around.peers.holder(peer, std::process::id(), move |pid| watchdog.holds(pid)).await {
        Holder::Other => Ok(()),
        Holder::Server(process) => {
            let why = format!("started by a server, with the token of {client}");
            audit::turned_away_from(hub, &program(process).to_string(), &why, PORT);
            let message = "a process that an MCP server of Satchel started may not use Satchel as a client";
            Err(Refusal::new(
                Code::FromAServer,
                message,
                "Start the client yourself, outside of any MCP server.",
            ))
        }
        Holder::Gone => {
            let message = "the client closed its connection before it could be identified";
            Err(Refusal::new(Code::FromAServer, message, "Try again."))
        }
    }
}

fn turned_away_gone(hub: &Hub) -> Refusal {
    audit::turned_away_from(hub, "unknown program", "it exited before it could be identified", CHANNEL);
    Refusal::new(Code::FromAServer, "the caller exited before it could be identified", "Try again.")
}

/// Refuses a loosening that a program requests.
///
/// # Errors
/// A [`Refusal`] with the code [`Code::NeedsPerson`] that says how a person can do it.
pub(super) fn refuse_to_loosen(hub: &Hub, loosening: Option<Loosening>) -> Result<(), Refusal> {
    let Some(Loosening { what, command }) = loosening.filter(|_| !hub.context.is_for_a_person()) else {
        return Ok(());
    };
    hub.did_here(AuditKind::Denied, "", format!("{what} needs a person"));
    let action = match command.is_empty() {
        true => "Use the window.".to_owned(),
        false => format!("Run `{command}` in a terminal, or use the window."),
    };
    Err(Refusal::new(Code::NeedsPerson, format!("{what} needs a person's approval"), action))
}

/// For requests that loosen nothing.
pub(super) fn nothing<R>(_: &Hub, _: &R) -> Option<Loosening> {
    None
}

pub(super) fn of_approval(_: &Hub, Approve { server, items }: &Approve) -> Option<Loosening> {
    let count = items.len();
    let what = if count == 1 { "1 definition".to_owned() } else { format!("{count} definitions") };
    let what = format!("approving {what} of \"{server}\"");
    Some(Loosening::new(what, format!("satchel approve {}", shell::word(server))))
}

pub(super) fn of_look(_: &Hub, LookedAt { server }: &LookedAt) -> Option<Loosening> {
    let what = format!("approving what \"{server}\" offers");
    Some(Loosening::new(what, format!("satchel approve {}", shell::word(server))))
}

pub(super) fn of_settings(_: &Hub, _: &ApproveSettings) -> Option<Loosening> {
    let what = "accepting the settings of the configuration file";
    Some(Loosening::new(what, "satchel approve --settings"))
}

pub(super) fn of_answer(_: &Hub, AnswerAsk { id, answer }: &AnswerAsk) -> Option<Loosening> {
    let allowing =
        || Loosening::new(format!("allowing the call of question {id}"), format!("satchel answer {id} yes"));
    answer.is_yes().then(allowing)
}

pub(super) fn of_question(_: &Hub, AnswerQuestion { id, answer }: &AnswerQuestion) -> Option<Loosening> {
    match answer {
        QuestionAnswer::Accept { .. } => {
            let what = format!("answering question {id} of a server");
            Some(Loosening::new(what, format!("satchel answer {id} yes")))
        }
        QuestionAnswer::Decline | QuestionAnswer::Cancel | QuestionAnswer::Mute => None,
    }
}

pub(super) fn of_hidden(hub: &Hub, SetHidden { client, path, hidden }: &SetHidden) -> Option<Loosening> {
    let shows = !hidden && hub.inner.clients.edits.choices(client).hidden.contains(path);
    let what = || format!("showing \"{path}\" to {client} again");
    shows.then(|| {
        Loosening::new(what(), format!("satchel show {} {}", shell::word(client), shell::word(path)))
    })
}

pub(super) fn of_resume(_: &Hub, _: &Resume) -> Option<Loosening> {
    Some(Loosening::new("ending the pause", ""))
}

pub(super) fn of_undo(hub: &Hub, _: &Undo) -> Option<Loosening> {
    match hub.inner.clients.edits.last() {
        Some(Step::Updated { server, .. }) => {
            Some(Loosening::new(format!("undoing the update of \"{server}\""), "satchel undo"))
        }
        Some(Step::SkillTaken { skill, .. }) => {
            Some(Loosening::new(format!("giving the skill \"{skill}\" again"), "satchel undo"))
        }
        Some(Step::SetUp { .. }) => Some(Loosening::new(
            "undoing the changes that were taken over from another setup",
            "satchel undo",
        )),
        _ => None,
    }
}

pub(super) fn of_given_skill(_: &Hub, GiveSkill { name, agents, .. }: &GiveSkill) -> Option<Loosening> {
    let agents: Vec<_> = agents.iter().map(|agent| shell::word(agent)).collect();
    let command = format!("satchel skills give {} {}", shell::word(name), agents.join(" "));
    Some(Loosening::new(format!("giving the skill \"{name}\" to an agent"), command))
}

pub(super) fn of_written_setup(_: &Hub, WriteSetup { path, passphrase }: &WriteSetup) -> Option<Loosening> {
    let command = format!("satchel setup export {} --with-secrets", path.display());
    passphrase.is_some().then(|| Loosening::new("writing credentials into a file", command))
}

pub(super) fn of_taken_setup(_: &Hub, TakeSetup { from, parts, .. }: &TakeSetup) -> Option<Loosening> {
    let count = if parts.len() == 1 { "1 part".to_owned() } else { format!("{} parts", parts.len()) };
    let command = match from {
        SetupSource::File(path) => format!("satchel setup import {}", path.display()),
        SetupSource::Computer(computer) => format!("satchel setup take {computer}"),
    };
    Some(Loosening::new(format!("taking {count} of another setup over"), command))
}

pub(super) fn of_kept_setup(_: &Hub, KeepSetup { computer, .. }: &KeepSetup) -> Option<Loosening> {
    let what = format!("keeping what differs from the setup of {computer}");
    Some(Loosening::new(what, format!("satchel setup keep {computer}")))
}

pub(super) fn of_followed_setup(_: &Hub, FollowSetup { folder }: &FollowSetup) -> Option<Loosening> {
    let command = match folder {
        Some(folder) => format!("satchel setup follow {}", shell::word(&folder.to_string_lossy())),
        None => "satchel setup follow --stop".to_owned(),
    };
    Some(Loosening::new("choosing the folder that the setup follows", command))
}

pub(super) fn of_kept(_: &Hub, KeepDeleted { server }: &KeepDeleted) -> Option<Loosening> {
    let what = format!("keeping \"{server}\" running, which its registry has deleted");
    Some(Loosening::new(what, format!("satchel update {} --keep", shell::word(server))))
}

pub(super) fn of_history(_: &Hub, _: &DeleteHistory) -> Option<Loosening> {
    Some(Loosening::new("deleting the history", "satchel history clear"))
}

pub(super) fn of_change(hub: &Hub, change: &Change) -> Option<Loosening> {
    let config = hub.config();
    match &route::by_own_name(hub, change.clone()) {
        Change::SetPermit { tool, client, permit } => {
            let strictest = config.tool_defaults().hides();
            loosens(config.tool_rules(), strictest, tool, client.as_deref(), *permit).then(|| {
                let word = permit.map_or("usual", Permit::as_str);
                let of = client.as_ref().map(|client| format!(" --client {}", shell::word(client))).unwrap_or_default();
                let what = match permit {
                    Some(Permit::Allow) => format!("allowing calls of {tool} without a question"),
                    Some(Permit::Ask | Permit::Off) | None => format!("loosening the rule for {tool}"),
                };
                Loosening::new(what, format!("satchel rule {} {word}{of}", shell::word(tool)))
            })
        }
        Change::SetSandbox { name, sandbox } => {
            let before = config.servers().get(name.as_str())?.sandbox.as_ref();
            let wanted = sandbox.as_ref().and_then(|sandbox| sandbox.container.as_ref());
            // Another program runs then, with what the server is given.
            if let Some(container) = wanted.filter(|_| wanted != before.and_then(|before| before.container.as_ref())) {
                return Some(Loosening::new(
                    format!("running \"{name}\" in a container of {}", container.image),
                    format!("satchel sandbox {} on --container {} …", shell::word(name), shell::word(&container.image)),
                ));
            }
            let before = before?;
            match sandbox {
                Some(sandbox) if is_within(sandbox, before) => None,
                Some(_) => Some(Loosening::new(
                    format!("widening the sandbox of \"{name}\""),
                    format!("satchel sandbox {} on …", shell::word(name)),
                )),
                None => Some(Loosening::new(
                    format!("taking \"{name}\" out of its sandbox"),
                    format!("satchel sandbox {} off", shell::word(name)),
                )),
            }
        }
        // The complete entry, including its sandbox.
        Change::Edit { name, .. } => Some(Loosening::new(format!("changing the entry of \"{name}\""), "")),
        Change::Put { name, replace: true, .. } => config
            .entry(name)
            .map(|_| Loosening::new(format!("replacing the entry of \"{name}\""), "")),
        Change::SetPictures { show: true } => Some(Loosening::new("letting pictures be fetched", "")),
        Change::PutProfile { was: Some(was), profile, .. } => binding::of_wider(hub, was, profile),
        Change::SetShare { name, share } => {
            let before = config.servers().get(name.as_str())?.share;
            (Share::breadth(*share) > Share::breadth(before)).then(|| {
                let word = share.map_or("auto", Share::word);
                let what = format!("letting more callers share an instance of \"{name}\"");
                Loosening::new(what, format!("satchel share {} {word}", shell::word(name)))
            })
        }
        // The review holds it back if it changes what a person accepted.
        Change::Add { .. }
        | Change::Put { .. }
        | Change::Duplicate { .. }
        | Change::Remove { .. }
        // What it runs and offers is approved separately.
        | Change::SetEnabled { .. }
        | Change::SetKeepCalls { .. }
        | Change::SetLearning { .. }
        | Change::SetPictures { show: false }
        // Whatever is pinned was approved, and can be called without being pinned.
        | Change::PinTool { .. }
        // A profile only restricts, and its content was approved before.
        | Change::UseProfile { .. }
        | Change::PutProfile { was: None, .. }
        | Change::RemoveProfile { .. }
        | Change::BindFolder { .. }
        // Only sent for a person who saw it, by a separate request.
        | Change::TakeSetting { .. } => None,
    }
}

/// Determines the origin of requests that this process makes of its own hub. Blocks.
///
/// # Errors
/// A [`Refusal`] if an MCP server started this process.
pub fn origin_here(asked: bool) -> Result<Origin, Refusal> {
    let Some(process) = Process::own() else { return Ok(unknown(asked)) };
    match process.is_of_a_server(None, |_| false) {
        Some(false) => Ok(origin(process, asked)),
        Some(true) | None => Err(of_a_server()),
    }
}

fn of_a_server() -> Refusal {
    Refusal::new(
        Code::FromAServer,
        "an MCP server that Satchel runs, and any process that it started, may not use Satchel's command \
         line or control channel",
        "Run the command in a terminal of your own, or use the window.",
    )
}

fn origin(process: Process, asked: bool) -> Origin {
    match asked && process.is_at_a_terminal() {
        true => Origin::Terminal { pid: process.pid() },
        false => program(process),
    }
}

/// The origin of a process that the system cannot identify. On systems that never can, the caller's claim to have
/// asked a person is believed.
fn unknown(asked: bool) -> Origin {
    match asked && cfg!(windows) {
        true => Origin::Terminal { pid: 0 },
        false => Origin::Program { pid: None, name: String::new(), parent: None },
    }
}

fn program(process: Process) -> Origin {
    let name = process.name();
    // For Satchel's own command line, record who started it.
    let starter = name.starts_with("satchel").then(|| process.starter()).flatten();
    let parent = starter.map(|(name, pid)| format!("{name} (pid {pid})"));
    Origin::Program { pid: Some(process.pid()), name, parent }
}

/// Does this rule change allow calls that were refused before, or skip a question that was asked? `strictest`: by
/// default, some tools are off.
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
        // The later rule takes precedence, so it overrides every other rule for the same tool.
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
        && before.container == after.container
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::server::{ContainerEngine, ContainerSandbox};

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
            // Would override the rule for git:push.
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
            container: None,
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
        // Another program would run in it.
        let image = "node:22".to_owned();
        let container = Some(ContainerSandbox { image, engine: ContainerEngine::Auto });
        let contained = Sandbox { container, ..before.clone() };
        assert!(!is_within(&contained, &before) && !is_within(&before, &contained));
    }
}
