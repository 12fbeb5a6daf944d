//! Handles requests about the person's skills: lists and shows them, adds one, gives it to agents and takes it from them.
//! The room `own_skills` reads, keeps and writes the files; this file decides when, and records it. Runs nothing of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{Hub, offered, skill_entries, skill_entries::NoSkill, skills};
use crate::{
    catalog::skills::SkillFiles,
    clients::{
        ledger::Step,
        machine::Machine,
        table::{self, Client},
    },
    files,
    model::{
        Code, ResourcePath,
        address::percent_decoded,
        audit::AuditKind,
        clients::Undone,
        control::Refusal,
        left::Left,
        offered::OfferedThing,
        own_skills::{
            OwnSkill, OwnSkillDetails, OwnSkillFile, OwnSkills, SkillAgent, SkillChange, SkillRemark,
            SkillStanding, SkillState,
        },
    },
    own_skills::{CopyState, KeptSkill, PlaceError, SkillFile, SkillFolder},
    trust::{
        clean,
        fingerprint::Tree,
        inspect::{self, Around},
    },
};

/// Maximum size of an archive, in bytes.
const ARCHIVE: u64 = 16 * 1024 * 1024;
/// Timeout for all files of a server's skill.
const PATIENCE: Duration = Duration::from_secs(300);
/// How much of a file's text is shown, and of all files together, in bytes.
const SHOWN: usize = 64 * 1024;
const SHOWN_OF_ALL: usize = 512 * 1024;
/// Fields of a frontmatter by which some agents permit tools or run programs.
const PERMITTING: [&str; 2] = ["allowed-tools", "hooks"];
/// Endings of scripts.
const SCRIPTS: [&str; 12] = ["sh", "bash", "zsh", "ps1", "bat", "cmd", "py", "js", "mjs", "ts", "rb", "pl"];

type Environment = BTreeMap<String, String>;

/// An agent, and the folder that skills are given to.
struct Agent {
    client: &'static Client,
    folder: PathBuf,
}

/// All skills, and all agents.
pub(super) fn list(hub: &Hub, environment: &Environment) -> OwnSkills {
    let machine = Machine::here(environment);
    let agents = agents(&machine);
    let skills = hub.own_skills().all();
    let skills = skills.iter().map(|(name, skill)| view(hub, name, skill, &agents)).collect();
    let shown = |agent: &Agent| SkillAgent {
        id: agent.client.id.clone(),
        name: agent.client.title().to_owned(),
        installed: is_installed(agent.client, &machine),
        folder: agent.folder.display().to_string(),
        also_reads: also_reads(agent.client, &machine),
    };
    let mut agents: Vec<SkillAgent> = agents.iter().map(shown).collect();
    agents.sort_by_key(|agent| !agent.installed);
    OwnSkills { skills, agents }
}

fn agents(machine: &Machine) -> Vec<Agent> {
    let agent = |client: &'static Client| {
        let folder = machine.all_paths(&client.skills.as_ref()?.folder).into_iter().next()?;
        Some(Agent { client, folder })
    };
    table::clients().iter().filter_map(agent).collect()
}

fn is_installed(client: &Client, machine: &Machine) -> bool {
    machine.sign(&client.detect).is_some()
        || machine.all_paths(&client.paths).iter().any(|path| path.exists())
}

fn also_reads(client: &Client, machine: &Machine) -> Vec<String> {
    let read = client.skills.iter().flat_map(|skills| &skills.also_reads);
    read.filter_map(|template| machine.fill(template)).collect()
}

fn view(hub: &Hub, name: &str, skill: &KeptSkill, agents: &[Agent]) -> OwnSkill {
    let standing = |agent: &Agent| {
        let directory = agent.folder.join(name);
        let (state, changed) =
            match (skill.given.get(&agent.folder), hub.own_skills().standing(name, &agent.folder)) {
                (Some(given), Some(CopyState::AsGiven)) if skill.differs_from(given) => {
                    (SkillState::Older, vec![])
                }
                (Some(_), Some(CopyState::AsGiven)) => (SkillState::Given, vec![]),
                (Some(_), Some(CopyState::Gone)) => (SkillState::Gone, vec![]),
                (Some(_), Some(CopyState::Changed(paths))) => (SkillState::Changed, paths),
                (Some(_) | None, _) if std::fs::symlink_metadata(&directory).is_ok() => {
                    (SkillState::Own, vec![])
                }
                (Some(_) | None, _) => return None,
            };
        let changed = changed.iter().map(|path| clean::visible(path)).collect();
        let folder = directory.display().to_string();
        Some(SkillStanding { agent: agent.client.id.clone(), folder, state, changed })
    };
    OwnSkill {
        name: name.to_owned(),
        description: clean::visible(&skill.description),
        from: clean::visible(&skill.from),
        added_ms: skill.added_ms,
        files: skill.files.len(),
        bytes: skill.files.iter().map(|file| file.size).sum(),
        fingerprint: skill.fingerprint(),
        approved: skill.is_approved(),
        standings: agents.iter().filter_map(standing).collect(),
    }
}

/// Everything about one skill, for a person to review.
///
/// # Errors
/// A [`Refusal`] if there is no such skill, or another program changed its files.
pub(super) fn details(hub: &Hub, name: &str, environment: &Environment) -> Result<OwnSkillDetails, Refusal> {
    let skill = known(hub, name)?;
    let folder = hub.own_skills().files(name, &skill).map_err(|error| {
        let action =
            format!("Add it again: `satchel skills add FOLDER --replace`. It came from {}.", skill.from);
        Refusal::new(Code::Changed, error.to_string(), action)
    })?;
    let agents = agents(&Machine::here(environment));
    let mut left = SHOWN_OF_ALL;
    let files = folder.files.iter().map(|file| file_view(name, file, &mut left)).collect();
    let skill = view(hub, name, &skill, &agents);
    Ok(OwnSkillDetails { skill, files, remarks: remarks(&folder), left_out: vec![] })
}

fn file_view(skill: &str, file: &SkillFile, left: &mut usize) -> OwnSkillFile {
    let row = file.row();
    let whole = file.text();
    let most = SHOWN.min(*left);
    let text = whole.map(|text| {
        let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        &text[..end]
    });
    *left -= text.map_or(0, str::len);
    let cut = whole.map(str::len) != text.map(str::len);
    let findings = whole.filter(|_| is_for_models(&file.path)).map(|text| findings(skill, text));
    OwnSkillFile {
        path: row.path,
        size: row.size,
        sha256: row.sha256,
        program: file.program,
        text: text.map(clean::visible),
        cut,
        findings: findings.unwrap_or_default(),
    }
}

/// Programs are full of what would be odd in a text for models.
fn is_for_models(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    [".md", ".txt", ".mdx"].iter().any(|ending| lower.ends_with(ending))
}

fn findings(skill: &str, text: &str) -> Vec<crate::model::approvals::Finding> {
    let (own, servers) = (BTreeSet::new(), BTreeSet::new());
    let around = Around { server: skill, own: &own, servers: &servers };
    inspect::findings(&Tree::Text(text.to_owned()), &around)
}

fn remarks(folder: &SkillFolder) -> Vec<SkillRemark> {
    let commands = folder.main().split("!`").skip(1);
    let command = commands.filter_map(|rest| rest.split_once('`')).map(|(command, _)| command).next();
    let command = command.map(|command| SkillRemark::RunsCommands {
        command: clean::visible(&command.chars().take(200).collect::<String>()),
    });
    let fields: Vec<String> =
        folder.fields.iter().filter(|field| PERMITTING.contains(&field.as_str())).cloned().collect();
    let permits = (!fields.is_empty()).then_some(SkillRemark::Permits { fields });
    let is_script = |path: &str| {
        let ending = Path::new(path).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        SCRIPTS.iter().any(|known| known.eq_ignore_ascii_case(ending))
    };
    let programs = folder.files.iter().filter(|file| file.program || is_script(&file.path));
    let files: Vec<String> = programs.map(|file| file.path.clone()).collect();
    let programs = (!files.is_empty()).then_some(SkillRemark::HasPrograms { files });
    command.into_iter().chain(permits).chain(programs).collect()
}

/// Adds a skill from a directory, an archive or a server. It has no effect before it is given.
///
/// # Errors
/// A [`Refusal`] that says which rule it breaks, or that there is one of that name.
pub(super) async fn add(
    hub: &Hub,
    from: String,
    replace: bool,
    environment: Environment,
) -> Result<OwnSkillDetails, Refusal> {
    let of_server = match from.parse::<ResourcePath>() {
        Ok(path) if !Path::new(&from).is_absolute() => Some(read_of_server(hub, &path).await?),
        Ok(_) | Err(_) => None,
    };
    let owned = hub.clone();
    let add = move || {
        let folder = match of_server {
            Some(folder) => folder,
            None => read_of_disk(&from)?,
        };
        keep(&owned, &folder, &from, replace, &environment)
    };
    hub.inner.life.blocking(add).await?
}

fn bad(from: &str, why: impl std::fmt::Display) -> Refusal {
    let message = format!("{} is not a skill that can be added: {why}", clean::visible(from));
    Refusal::new(Code::BadSkill, message, "")
}

fn read_of_disk(from: &str) -> Result<SkillFolder, Refusal> {
    let path = Path::new(from);
    if !path.is_absolute() {
        let message =
            format!("\"{}\" is neither an absolute path nor a server's skill", clean::visible(from));
        return Err(Refusal::new(Code::BadSkill, message, ""));
    }
    if path.is_dir() {
        return SkillFolder::read(path).map_err(|error| bad(from, error));
    }
    let archive = files::read_plain(path, ARCHIVE).map_err(|error| {
        Refusal::new(Code::Unreadable, format!("{} cannot be read: {error}", clean::visible(from)), "")
    })?;
    SkillFolder::unpack(&archive).map_err(|error| bad(from, error))
}

/// Reads every file of an approved skill, each of which is checked against its digest.
async fn read_of_server(hub: &Hub, path: &ResourcePath) -> Result<SkillFolder, Refusal> {
    let from = path.to_string();
    let skill = skill_entries::skill(hub, &path.server, &path.uri).await.map_err(|none| match none {
        NoSkill::Unknown(why) => bad(&from, why),
        NoSkill::Answered(error) => bad(&from, error.message),
        NoSkill::Failed(failure) => failure.into(),
    })?;
    let SkillFiles::Fixed(files) = &skill.files else {
        return Err(bad(&from, "its server makes its files up, so none can be verified"));
    };
    let reading = async {
        let mut read = Vec::new();
        for file in files {
            let below = file.uri.strip_prefix(skill.root()).unwrap_or(&file.uri);
            let below = String::from_utf8_lossy(&percent_decoded(below)).into_owned();
            let result =
                offered::fetch(hub, path.server.as_str(), OfferedThing::Resource(file.uri.clone())).await?;
            let bytes = skills::content(&result, &file.uri).map_err(|why| bad(&from, why))?;
            read.push(SkillFile { path: below, bytes, program: false });
        }
        Ok::<_, Refusal>(read)
    };
    let late = |_| bad(&from, format!("its files did not come within {} s", PATIENCE.as_secs()));
    let read = tokio::time::timeout(PATIENCE, Box::pin(reading)).await.map_err(late)??;
    SkillFolder::of(read, vec![]).map_err(|error| bad(&from, error))
}

fn keep(
    hub: &Hub,
    folder: &SkillFolder,
    from: &str,
    replace: bool,
    environment: &Environment,
) -> Result<OwnSkillDetails, Refusal> {
    if hub.own_skills().get(&folder.name).is_some() && !replace {
        let message = format!("there is already a skill \"{}\"", folder.name);
        let action = "Replace it with `--replace`; what agents have stays as it is until you give it again.";
        return Err(Refusal::new(Code::SkillExists, message, action));
    }
    hub.own_skills().keep(folder, from).map_err(Refusal::unwritable)?;
    hub.did_here(AuditKind::Policy, &folder.name, format!("skill added from {}", clean::visible(from)));
    let left_out = folder.left_out.iter().map(|path| clean::visible(path)).collect();
    Ok(OwnSkillDetails { left_out, ..details(hub, &folder.name, environment)? })
}

/// Gives a skill to agents. `fingerprint` is what the person saw.
///
/// # Errors
/// A [`Refusal`] if there is no such skill, or it is another one by now. What one agent refuses is in the answer.
pub(super) fn give(
    hub: &Hub,
    name: &str,
    wanted: &[String],
    fingerprint: &str,
    environment: &Environment,
) -> Result<SkillChange, Refusal> {
    let skill = known(hub, name)?;
    if skill.fingerprint() != fingerprint {
        let message = format!("\"{name}\" changed after it was shown");
        return Err(Refusal::new(Code::ChangedMeanwhile, message, "Look at it again."));
    }
    if !skill.is_approved() {
        hub.own_skills().approve(name, fingerprint).map_err(Refusal::unwritable)?;
        hub.did_here(AuditKind::Approval, name, format!("skill, {fingerprint}"));
    }
    let machine = Machine::here(environment);
    each(hub, name, wanted, &machine, |agent| {
        if !is_installed(agent.client, &machine) {
            let message = format!("{} is not on this computer", agent.client.title());
            return Err(Refusal::new(Code::NotInstalled, message, ""));
        }
        give_into(hub, name, &agent.folder)?;
        let step = Step::SkillGiven { skill: name.to_owned(), folder: agent.folder.clone() };
        hub.inner.clients.edits.noted(step).map_err(Refusal::unwritable)
    })
}

fn give_into(hub: &Hub, name: &str, folder: &Path) -> Result<(), Refusal> {
    hub.own_skills().give(name, folder).map_err(|error| match &error {
        PlaceError::Taken(_) => {
            let was_given = known(hub, name).is_ok_and(|skill| skill.given.contains_key(folder));
            let message = match was_given {
                true => format!(
                    "{} was changed by another program since Satchel wrote it",
                    folder.join(name).display()
                ),
                false => error.to_string(),
            };
            Refusal::new(
                Code::Changed,
                message,
                "Satchel leaves it alone. Rename or remove it yourself first.",
            )
        }
        PlaceError::Unapproved => {
            Refusal::new(Code::ChangedMeanwhile, format!("\"{name}\": {error}"), "Look at it again.")
        }
        PlaceError::Files { .. } => Refusal::unwritable(&error),
    })?;
    hub.did_here(AuditKind::Policy, name, format!("skill given to {}", folder.display()));
    Ok(())
}

/// Takes a skill from agents. `leave`: what they have becomes the person's own.
///
/// # Errors
/// As for [`give`].
pub(super) fn take(
    hub: &Hub,
    name: &str,
    wanted: &[String],
    leave: bool,
    environment: &Environment,
) -> Result<SkillChange, Refusal> {
    known(hub, name)?;
    let machine = Machine::here(environment);
    each(hub, name, wanted, &machine, |agent| {
        if !known(hub, name)?.given.contains_key(&agent.folder) {
            let message = format!("{} has no \"{name}\" that Satchel gave it", agent.client.title());
            return Err(Refusal::new(Code::UnknownSkill, message, ""));
        }
        take_from(hub, name, &agent.folder, leave)?;
        let edits = &hub.inner.clients.edits;
        let noted = match leave {
            true => edits.forget_skill(name, Some(&agent.folder)),
            false => edits.noted(Step::SkillTaken { skill: name.to_owned(), folder: agent.folder.clone() }),
        };
        noted.map_err(Refusal::unwritable)
    })
}

fn take_from(hub: &Hub, name: &str, folder: &Path, leave: bool) -> Result<(), Refusal> {
    if let (Some(CopyState::Changed(paths)), false) = (hub.own_skills().standing(name, folder), leave) {
        let paths: Vec<String> = paths.iter().map(|path| clean::visible(path)).collect();
        let message =
            format!("{} was changed by another program: {}", folder.join(name).display(), paths.join(", "));
        let action =
            format!("Nothing was removed. `satchel skills take {name} AGENT --leave` makes it your own.");
        return Err(Refusal::new(Code::Changed, message, action));
    }
    hub.own_skills().take(name, folder, leave).map_err(Refusal::unwritable)?;
    let done = if leave { "left to" } else { "taken from" };
    hub.did_here(AuditKind::Policy, name, format!("skill {done} {}", folder.display()));
    Ok(())
}

/// Does something for each agent; what one refuses stops no other.
fn each(
    hub: &Hub,
    name: &str,
    wanted: &[String],
    machine: &Machine,
    act: impl Fn(&Agent) -> Result<(), Refusal>,
) -> Result<SkillChange, Refusal> {
    let agents = agents(machine);
    let mut refused = Vec::new();
    for id in wanted {
        let done = match agents.iter().find(|agent| agent.client.id == *id) {
            Some(agent) => act(agent),
            None => {
                let message = format!("Satchel knows no folder of skills of \"{}\"", clean::visible(id));
                Err(Refusal::new(Code::UnknownClient, message, "`satchel skills list` shows the agents."))
            }
        };
        refused.extend(done.err().map(|refusal| Left::refused(id.clone(), refusal)));
    }
    hub.inner.faces.changed();
    Ok(SkillChange { skill: view(hub, name, &known(hub, name)?, &agents), refused })
}

/// Removes a skill that no agent has.
///
/// # Errors
/// A [`Refusal`] if Satchel keeps no such skill, or an agent has it.
pub(super) fn remove(hub: &Hub, name: &str) -> Result<(), Refusal> {
    let skill = known(hub, name)?;
    if !skill.given.is_empty() {
        let folders: Vec<String> = skill.given.keys().map(|folder| folder.display().to_string()).collect();
        let message = format!("\"{name}\" is in {}", folders.join(" and "));
        return Err(Refusal::new(
            Code::SkillExists,
            message,
            "Take it from these agents first: `satchel skills take`.",
        ));
    }
    hub.own_skills().remove(name).map_err(Refusal::unwritable)?;
    hub.inner.clients.edits.forget_skill(name, None).map_err(Refusal::unwritable)?;
    hub.did_here(AuditKind::Policy, name, "skill removed");
    Ok(())
}

/// Undoes that a skill was given, or taken.
///
/// # Errors
/// A [`Refusal`] if another program changed what was given.
pub(super) fn undo(hub: &Hub, name: &str, folder: &Path, given: bool) -> Result<Undone, Refusal> {
    let undone = |what: String| Ok(Undone { what, remarks: vec![] });
    let Some(skill) = hub.own_skills().get(name) else {
        return undone(format!("The skill {name} is not kept any more."));
    };
    match given {
        true => {
            take_from(hub, name, folder, false)?;
            undone(format!("Took the skill {name} from {}.", folder.display()))
        }
        // No person has approved the present files.
        false if !skill.is_approved() => {
            undone(format!("The skill {name} is another one by now; `satchel skills give` shows it."))
        }
        false => {
            give_into(hub, name, folder)?;
            undone(format!("Gave the skill {name} to {} again.", folder.display()))
        }
    }
}

fn known(hub: &Hub, name: &str) -> Result<KeptSkill, Refusal> {
    hub.own_skills().get(name).ok_or_else(|| {
        let message = format!("there is no skill \"{}\"", clean::visible(name));
        Refusal::new(Code::UnknownSkill, message, "`satchel skills list` shows them.")
    })
}
