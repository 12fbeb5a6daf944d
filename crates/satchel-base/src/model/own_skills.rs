//! Types for the person's skills as faces show them: folders with a `SKILL.md` that Satchel keeps and gives to agents.

use serde::{Deserialize, Serialize};

use super::{approvals::Finding, left::Left};

/// The skills that Satchel keeps, and the agents that they can be given to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OwnSkills {
    /// The skills, by name.
    pub skills: Vec<OwnSkill>,
    /// The agents whose folders are known, installed ones first.
    pub agents: Vec<SkillAgent>,
}

/// An agent that reads skills from a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SkillAgent {
    /// The id of the client.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Is it on this computer?
    pub installed: bool,
    /// The folder that skills are given to. Several agents may share one.
    pub folder: String,
    /// Other folders that it reads.
    pub also_reads: Vec<String>,
}

/// A skill that Satchel keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OwnSkill {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Where it came from.
    pub from: String,
    /// When it was added, in milliseconds since the Unix epoch.
    pub added_ms: u64,
    /// The number of its files.
    pub files: usize,
    /// Their size in bytes.
    pub bytes: u64,
    /// A mark of all its names and bytes.
    pub fingerprint: String,
    /// A person has approved exactly this.
    pub approved: bool,
    /// What lies under its name in agents' folders. An agent without a line has nothing of that name.
    pub standings: Vec<SkillStanding>,
}

/// What lies under a skill's name in an agent's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SkillStanding {
    /// The agent.
    pub agent: String,
    /// The skill's own folder there.
    pub folder: String,
    /// What it is.
    pub state: SkillState,
    /// What differs from what was given, if anything.
    pub changed: Vec<String>,
}

/// What a folder of a skill's name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SkillState {
    /// Given by Satchel, as it is kept.
    Given,
    /// Given by Satchel; another one is kept since.
    Older,
    /// Given by Satchel, and changed by another program since.
    Changed,
    /// Given by Satchel, and removed by another program since.
    Gone,
    /// Not given by Satchel. It is never replaced.
    Own,
}

/// All details of a skill, for a person to review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OwnSkillDetails {
    /// The skill.
    pub skill: OwnSkill,
    /// Its files.
    pub files: Vec<OwnSkillFile>,
    /// What agents do with it besides reading.
    pub remarks: Vec<SkillRemark>,
    /// What lay beside its files and was not taken.
    pub left_out: Vec<String>,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OwnSkillFile {
    /// Its path in the skill's folder.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// The SHA-256 of its bytes.
    pub sha256: String,
    /// It may be started as a program.
    pub program: bool,
    /// The text, or its beginning; `None` if it is none.
    pub text: Option<String>,
    /// Is there more of it?
    pub cut: bool,
    /// Suspicious passages.
    pub findings: Vec<Finding>,
}

/// What agents do with a skill besides reading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "remark", rename_all = "snake_case")]
pub enum SkillRemark {
    /// Its text has commands that some agents run when they load it.
    RunsCommands {
        /// The first of them.
        command: String,
    },
    /// Its frontmatter permits tools or runs programs, in agents that heed that.
    Permits {
        /// The names of the fields.
        fields: Vec<String>,
    },
    /// It has programs and scripts.
    HasPrograms {
        /// Their paths.
        files: Vec<String>,
    },
}

/// What became of giving a skill to agents, or of taking it from them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SkillChange {
    /// The skill afterwards.
    pub skill: OwnSkill,
    /// The agents for which nothing was changed, and why.
    pub refused: Vec<Left>,
}
