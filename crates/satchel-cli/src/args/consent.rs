//! Defines the arguments of the commands by which a person approves definitions, answers questions and sets rules.

use clap::{Args as Group, ValueEnum};
use satchel_core::model::{asks::AskAnswer, nature::Permit};

use super::pattern;

#[derive(Debug, Group)]
pub(crate) struct Approve {
    /// The server
    #[arg(required_unless_present_any = ["all", "settings"])]
    pub(crate) server: Option<String>,
    /// Everything that is held back, of all servers: for example every entry of a new configuration file
    #[arg(long, conflicts_with_all = ["server", "settings"])]
    pub(crate) all: bool,
    /// Settings in the configuration file that are not approved yet, tool rules included
    #[arg(long, conflicts_with = "server")]
    pub(crate) settings: bool,
    /// Only these definitions, by name; default: everything that is held back
    pub(crate) names: Vec<String>,
    /// Only new and added resources and templates, as one group; suspicious ones
    /// are not included
    #[arg(long, conflicts_with_all = ["names", "all", "settings"])]
    pub(crate) resources: bool,
    /// Keep them held back, and stop asking
    #[arg(long)]
    pub(crate) keep: bool,
    /// Approve without asking. Still prints what it approves, and works only in a terminal
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// An answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerWord {
    /// Allow once
    Yes,
    /// Refuse once
    No,
    /// Allow for this client until it has not used the tool for an hour
    Session,
    /// Always allow for this client; writes a rule
    Always,
    /// Refuse, and stop questions from this client about this server, or from this server
    Mute,
}

impl From<AnswerWord> for AskAnswer {
    fn from(word: AnswerWord) -> Self {
        match word {
            AnswerWord::Yes => AskAnswer::Once,
            AnswerWord::No => AskAnswer::No,
            AnswerWord::Session => AskAnswer::Session,
            AnswerWord::Always => AskAnswer::Always,
            AnswerWord::Mute => AskAnswer::Mute,
        }
    }
}

#[derive(Debug, Group)]
pub(crate) struct Rule {
    /// `server:tool`; `*` matches anything: `github:delete_*`
    #[arg(value_parser = pattern)]
    pub(crate) tool: String,
    /// The permission
    #[arg(value_enum)]
    pub(crate) permit: Ruling,
    /// Only for this client
    #[arg(long, value_name = "CLIENT")]
    pub(crate) client: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ruling {
    Allow,
    /// Ask a person first
    Ask,
    /// Hide it and refuse calls
    Off,
    /// Remove the rule
    Usual,
}

impl From<Ruling> for Option<Permit> {
    fn from(ruling: Ruling) -> Self {
        match ruling {
            Ruling::Allow => Some(Permit::Allow),
            Ruling::Ask => Some(Permit::Ask),
            Ruling::Off => Some(Permit::Off),
            Ruling::Usual => None,
        }
    }
}
