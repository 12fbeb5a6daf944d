//! Defines the arguments of `skills`.

use clap::{Args as Group, Subcommand};

/// Subcommands of `skills`.
#[derive(Debug, Subcommand)]
pub(crate) enum SkillsAct {
    /// List your skills, the agents, and which of them have each
    List,
    /// Add a skill: a folder with a SKILL.md, an archive (.zip, .skill), or an approved skill of a server
    Add {
        /// Folder, archive, or SERVER|URI as `discover_mcp_tools` shows it
        from: String,
        /// Replace a skill of the same name; agents keep what they have until you give it again
        #[arg(long)]
        replace: bool,
    },
    /// Show everything about a skill: its files, what they say, and what is odd
    Show {
        /// Skill, as in `satchel skills list`
        name: String,
    },
    /// Give a skill to agents: copies it into their folders; shows it first and asks
    Give(GiveTo),
    /// Take a skill back from agents
    Take {
        #[command(flatten)]
        from: SkillAt,
        /// Remove nothing: what the agents have becomes your own
        #[arg(long)]
        leave: bool,
    },
    /// Remove a skill that no agent has
    Remove {
        /// Skill, as in `satchel skills list`
        name: String,
    },
}

/// A skill, and agents.
#[derive(Debug, Group)]
pub(crate) struct SkillAt {
    /// Skill, as in `satchel skills list`
    pub(crate) name: String,
    /// Agents, as in `satchel skills list`
    #[arg(value_name = "AGENT", required = true)]
    pub(crate) agents: Vec<String>,
}

#[derive(Debug, Group)]
pub(crate) struct GiveTo {
    #[command(flatten)]
    pub(crate) to: SkillAt,
    /// Give it without a question, if you approved it before
    #[arg(long, short)]
    pub(crate) yes: bool,
}
