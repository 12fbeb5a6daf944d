//! `skills`: keeps the person's skills and gives them to agents.

use std::{path::Path, process::ExitCode};

use anyhow::anyhow;
use satchel_core::{
    files::Places,
    model::{
        left::Left,
        own_skills::{
            OwnSkill, OwnSkillDetails, OwnSkillFile, OwnSkills, SkillChange, SkillRemark, SkillStanding,
            SkillState,
        },
        request::{AddSkill, GetSkill, GiveSkill, ListOwnSkills, RemoveSkill, TakeSkill},
    },
};

use super::{clients::environment, done};
use crate::{
    Usage,
    args::{GiveTo, SkillAt, SkillsAct},
    output::{Lines, say, say_aside, say_json, table},
    reach::{once, reach},
    terminal,
};

pub(crate) async fn run(places: &Places, act: SkillsAct, json: bool) -> anyhow::Result<ExitCode> {
    match act {
        SkillsAct::List => {
            let list = once(places, ListOwnSkills { environment: environment() }).await?;
            match json {
                true => say_json(&list)?,
                false => say(listed(&list)),
            }
            Ok(ExitCode::SUCCESS)
        }
        SkillsAct::Add { from, replace } => {
            let from = whole(&from)?;
            let added = once(places, AddSkill { from, replace, environment: environment() }).await?;
            let left_out = match added.left_out.as_slice() {
                [] => String::new(),
                names => format!(" Not taken, because no skill consists of it: {}.", names.join(", ")),
            };
            let name = &added.skill.name;
            let sentence =
                format!("Added {name}.{left_out} No agent has it yet: `satchel skills give {name} AGENT…`.");
            done(&sentence, &added, json)
        }
        SkillsAct::Show { name } => {
            let details = once(places, GetSkill { name, environment: environment() }).await?;
            match json {
                true => say_json(&details)?,
                false => say(shown(&details)),
            }
            Ok(ExitCode::SUCCESS)
        }
        SkillsAct::Give(give) => given(places, give, json).await,
        SkillsAct::Take { from: SkillAt { name, agents }, leave } => {
            let take =
                TakeSkill { name: name.clone(), agents: agents.clone(), leave, environment: environment() };
            let change = once(places, take).await?;
            let verb = if leave { "Left" } else { "Took" };
            let way = if leave { "to" } else { "from" };
            changed(&format!("{verb} {name} {way}"), &agents, &change, json)
        }
        SkillsAct::Remove { name } => {
            let answer = once(places, RemoveSkill { name: name.clone() }).await?;
            done(&format!("Removed {name}."), &answer, json)
        }
    }
}

async fn given(
    places: &Places,
    GiveTo { to: SkillAt { name, agents }, yes }: GiveTo,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let answer = async {
        let details = hub.ask(GetSkill { name: name.clone(), environment: environment() }).await?;
        let seen = yes && details.skill.approved;
        // Without an interactive terminal, the hub refuses.
        if terminal::is_there() && !seen {
            say_aside(shown(&details));
            if !terminal::agrees(&format!("Give \"{name}\" to {}?", agents.join(", ")))? {
                return Ok(None);
            }
        }
        let fingerprint = details.skill.fingerprint;
        let give =
            GiveSkill { name: name.clone(), agents: agents.clone(), fingerprint, environment: environment() };
        anyhow::Ok(Some(hub.ask_for_person(give).await?))
    };
    let answer = answer.await;
    hub.leave().await;
    match answer? {
        Some(change) => changed(&format!("Gave {name} to"), &agents, &change, json),
        None => Err(anyhow!("nothing was changed")),
    }
}

/// A server's skill as it is, and every path as a whole one.
fn whole(from: &str) -> anyhow::Result<String> {
    let is_of_a_server = from.contains('|') && !Path::new(from).exists();
    if is_of_a_server {
        return Ok(from.to_owned());
    }
    let path = std::path::absolute(from)?;
    let text = path.to_str().map(ToOwned::to_owned);
    text.ok_or_else(|| Usage(format!("the path {} is not valid Unicode", path.display())).into())
}

fn changed(done: &str, agents: &[String], change: &SkillChange, json: bool) -> anyhow::Result<ExitCode> {
    let is_refused = |agent: &&String| change.refused.iter().any(|left| left.place == **agent);
    let others: Vec<&str> = agents.iter().filter(|agent| !is_refused(agent)).map(String::as_str).collect();
    if json {
        say_json(change)?;
    } else if !others.is_empty() {
        say(Lines::line(format!("{done} {}.", others.join(", "))));
    }
    for Left { place, reason, .. } in &change.refused {
        say_aside(Lines::line(format!("{place}: {reason}")));
    }
    Ok(if change.refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn listed(list: &OwnSkills) -> Lines {
    let mut lines = Lines::default();
    match list.skills.as_slice() {
        [] => lines.push("No skills. `satchel skills add FOLDER` adds one."),
        skills => {
            let rows: Vec<[String; 4]> = skills.iter().map(row).collect();
            lines.push(table(["SKILL", "AGENTS", "FILES", "FROM"], &rows));
        }
    }
    let of_skill = |skill: &OwnSkill| {
        let told = |standing: &SkillStanding| Some(format!("{}: {}", skill.name, trouble(standing)?));
        skill.standings.iter().filter_map(told).collect::<Vec<_>>()
    };
    for trouble in list.skills.iter().flat_map(of_skill) {
        lines.push(trouble);
    }
    let rows: Vec<[String; 2]> = list
        .agents
        .iter()
        .filter(|agent| agent.installed)
        .map(|agent| [agent.id.clone(), agent.folder.clone()])
        .collect();
    match rows.is_empty() {
        true => lines.push("Satchel found no agent here whose folder of skills it knows."),
        false => lines.push(table(["AGENT", "FOLDER"], &rows)),
    }
    lines
}

fn row(skill: &OwnSkill) -> [String; 4] {
    let has = |standing: &&SkillStanding| {
        matches!(standing.state, SkillState::Given | SkillState::Older | SkillState::Changed)
    };
    let agents: Vec<&str> =
        skill.standings.iter().filter(has).map(|standing| standing.agent.as_str()).collect();
    let agents = if agents.is_empty() { "-".to_owned() } else { agents.join(", ") };
    [skill.name.clone(), agents, skill.files.to_string(), skill.from.clone()]
}

/// What a person should know of a folder, if anything.
fn trouble(standing: &SkillStanding) -> Option<String> {
    let SkillStanding { agent, folder, state, changed } = standing;
    match state {
        SkillState::Given => None,
        SkillState::Older => {
            Some(format!("{agent} has what was kept before; `satchel skills give` brings the new one"))
        }
        SkillState::Changed => {
            Some(format!("{folder} was changed by another program: {}", changed.join(", ")))
        }
        SkillState::Gone => Some(format!("{folder} was removed by another program")),
        SkillState::Own => Some(format!("{folder} is not Satchel's; it stays as it is")),
    }
}

/// Everything that a person should see before giving it.
fn shown(details: &OwnSkillDetails) -> Lines {
    let skill = &details.skill;
    let mut lines = Lines::line(&skill.name);
    lines.push(Lines::line(format!("  {}", skill.description)));
    lines.push(Lines::line(format!("  from       {}", skill.from)));
    lines.push(Lines::line(format!("  approved   {}", if skill.approved { "yes" } else { "no" })));
    for remark in &details.remarks {
        lines.push(Lines::line(format!("  ! {}", remarked(remark))));
    }
    for trouble in skill.standings.iter().filter_map(trouble) {
        lines.push(Lines::line(format!("  ! {trouble}")));
    }
    for file in &details.files {
        let OwnSkillFile { path, size, program, text, cut, findings, .. } = file;
        let kind = match (program, text) {
            (true, _) => ", a program",
            (false, None) => ", no text",
            (false, Some(_)) => "",
        };
        lines.push(Lines::line(format!("  {path} ({size} bytes{kind})")));
        for finding in findings {
            lines.push(Lines::line(format!("    ! {}: {}", finding.about.words(), finding.text)));
        }
        if let Some(text) = text {
            lines.push(Lines::block("    | ", text));
        }
        if *cut {
            lines.push("    … more; open the file to see the rest");
        }
    }
    lines
}

fn remarked(remark: &SkillRemark) -> String {
    match remark {
        SkillRemark::RunsCommands { command } => {
            format!("some agents run commands when they load it, beginning with: {command}")
        }
        SkillRemark::Permits { fields } => {
            format!(
                "some agents heed these fields, which permit tools or run programs: {}",
                fields.join(", ")
            )
        }
        SkillRemark::HasPrograms { files } => {
            format!("has programs, which agents may run: {}", files.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use satchel_core::model::own_skills::SkillAgent;

    use super::*;

    #[test]
    fn skills_are_listed_with_who_has_them_and_what_is_wrong() {
        let standing = |agent: &str, state, changed: &[&str]| SkillStanding {
            agent: agent.into(),
            folder: format!("/home/me/.{agent}/skills/plants"),
            state,
            changed: changed.iter().map(|path| (*path).to_owned()).collect(),
        };
        let skill = OwnSkill {
            name: "plants".into(),
            description: "Counts.".into(),
            from: "/home/me/plants".into(),
            added_ms: 0,
            files: 2,
            bytes: 30,
            fingerprint: "ab".into(),
            approved: true,
            standings: vec![
                standing("codex", SkillState::Given, &[]),
                standing("kiro", SkillState::Changed, &["SKILL.md"]),
                standing("amp", SkillState::Own, &[]),
            ],
        };
        let agent = SkillAgent {
            id: "codex".into(),
            name: "OpenAI Codex".into(),
            installed: true,
            folder: "/home/me/.agents/skills".into(),
            also_reads: vec![],
        };
        let list = OwnSkills { skills: vec![skill], agents: vec![agent] };
        let expected = "\
SKILL   AGENTS       FILES  FROM
plants  codex, kiro  2      /home/me/plants
plants: /home/me/.kiro/skills/plants was changed by another program: SKILL.md
plants: /home/me/.amp/skills/plants is not Satchel's; it stays as it is
AGENT  FOLDER
codex  /home/me/.agents/skills";
        assert_eq!(listed(&list).to_string(), expected);
    }
}
