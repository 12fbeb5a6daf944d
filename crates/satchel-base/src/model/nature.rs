//! Types for a tool's effect, its risk, and whether it may be called.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Whether a tool may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Permit {
    /// Yes.
    Allow,
    /// Only after asking a person.
    Ask,
    /// No; it is also hidden.
    Off,
}

impl Permit {
    /// The name used in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Permit::Allow => "allow",
            Permit::Ask => "ask",
            Permit::Off => "off",
        }
    }
}

/// The tools that a default is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum UsualTools {
    /// Every tool, where nothing else was decided.
    Every,
    /// Those that read.
    Reads,
    /// Those that write.
    Writes,
    /// Those that write and are called destructive by their server.
    Destructive,
    /// Those that delete.
    Deletes,
    /// Those that run commands.
    Commands,
    /// Those that do not say whether they delete.
    Unstated,
}

/// A default: it decides about tools that no rule of the user is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct UsualRule {
    /// The tools it is for.
    pub tools: UsualTools,
    /// Whether they may be called.
    pub permit: Permit,
}

impl UsualRule {
    /// What is recorded of calls that nothing was decided about.
    pub const EVERY: Self = Self { tools: UsualTools::Every, permit: Permit::Allow };

    /// The default that a text begins with, as written by this version or an earlier one. Records keep the text.
    pub fn read(text: &str) -> Option<Self> {
        use UsualTools::{Commands, Deletes, Destructive, Every, Reads, Unstated, Writes};
        let rule = text.split_once("; ").map_or(text, |(rule, _)| rule);
        let permits = [Permit::Allow, Permit::Ask, Permit::Off];
        let tools = [Every, Reads, Writes, Destructive, Deletes, Commands, Unstated].into_iter();
        let mut all = tools.flat_map(|tools| permits.map(|permit| Self { tools, permit }));
        all.find(|usual| usual.to_string() == rule || usual.earlier().as_deref() == Some(rule))
    }

    /// The same in the words of earlier versions.
    fn earlier(self) -> Option<String> {
        let what = match self.tools {
            UsualTools::Every => return None,
            UsualTools::Reads => "what reads",
            UsualTools::Writes => "what writes",
            UsualTools::Destructive => "what writes, and its server calls destructive,",
            UsualTools::Deletes => "what deletes",
            UsualTools::Commands => "what carries out commands",
            UsualTools::Unstated => "what does not say whether it deletes",
        };
        let done = match self.permit {
            Permit::Allow => "is allowed",
            Permit::Ask => "is asked",
            Permit::Off => "is off",
        };
        Some(format!("{what} {done}"))
    }
}

impl fmt::Display for UsualRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools = match self.tools {
            UsualTools::Every => "every tool of a server that is on",
            UsualTools::Reads => "tools that read",
            UsualTools::Writes => "tools that write",
            UsualTools::Destructive => "tools that write and that their server calls destructive",
            UsualTools::Deletes => "tools that delete",
            UsualTools::Commands => "tools that run commands",
            UsualTools::Unstated => "tools that do not say whether they delete",
        };
        let permit = match (self.tools, self.permit) {
            (UsualTools::Every, Permit::Allow) => return f.write_str(tools),
            (_, Permit::Allow) => "allowed",
            (_, Permit::Ask) => "ask first",
            (_, Permit::Off) => "off",
        };
        write!(f, "{tools}: {permit}")
    }
}

/// Where a person is asked about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskedIn {
    /// In the client, if it can ask its user.
    Client,
    /// In Satchel's own window, or at its command line.
    Window,
}

/// How a call was allowed: by a person whom Satchel asked, or by the word of a client that says it asked one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "CallConsent"))]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// This call only.
    Once,
    /// For this session.
    Session,
    /// From now on.
    Always,
    /// This call only, as the client says.
    ClientOnce,
    /// For this session, as the client says.
    ClientSession,
}

impl Consent {
    const ALL: [Self; 5] = [Self::Once, Self::Session, Self::Always, Self::ClientOnce, Self::ClientSession];

    /// In a record, after the rule.
    pub fn as_str(self) -> &'static str {
        match self {
            Consent::Once => "allowed once",
            Consent::Session => "allowed for this session",
            Consent::Always => "allowed from now on",
            Consent::ClientOnce => "allowed once, as the client says",
            Consent::ClientSession => "allowed for this session, as the client says",
        }
    }

    /// Is it only the client that says so?
    pub fn is_the_clients_word(self) -> bool {
        match self {
            Consent::ClientOnce | Consent::ClientSession => true,
            Consent::Once | Consent::Session | Consent::Always => false,
        }
    }

    /// The consent that the text of a record ends with.
    pub fn read(text: &str) -> Option<Self> {
        let (_, consent) = text.rsplit_once("; ")?;
        Self::ALL.into_iter().find(|one| one.as_str() == consent)
    }
}

/// A tool's effect on its data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Read-only.
    Reads,
    /// Adds or changes.
    Writes,
    /// May delete, or do something irreversible.
    Deletes,
    /// Neither declared by the server nor evident from its definition.
    #[default]
    Unstated,
}

/// How much care a tool needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Safety {
    /// Read-only.
    Safe,
    /// It changes something, or declares nothing and shows no sign of danger.
    #[default]
    Moderate,
    /// It may delete, executes its input, or changes things without declaring how.
    Dangerous,
}

/// What is known about a tool before a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Nature {
    /// What it does.
    pub effect: Effect,
    /// The server declares this itself; otherwise it is derived from name, description and schema.
    pub stated: bool,
    /// How much care it needs.
    pub safety: Safety,
    /// It executes commands, code or statements from its arguments.
    pub commands: bool,
    /// Repeating a call has no further effect.
    pub idempotent: bool,
    /// It interacts with the world beyond its own server.
    pub open_world: bool,
    /// It requires a signed-in user.
    pub needs_auth: bool,
    /// It is deprecated.
    pub deprecated: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_behind_a_record_is_known_in_the_words_of_every_version() {
        let usual = |tools, permit| Some(UsualRule { tools, permit });
        for (text, rule, consent) in [
            (
                "tools that delete: ask first; allowed once",
                usual(UsualTools::Deletes, Permit::Ask),
                Some(Consent::Once),
            ),
            (
                "what deletes is asked; allowed from now on",
                usual(UsualTools::Deletes, Permit::Ask),
                Some(Consent::Always),
            ),
            ("what reads is allowed", usual(UsualTools::Reads, Permit::Allow), None),
            (
                "what writes, and its server calls destructive, is off",
                usual(UsualTools::Destructive, Permit::Off),
                None,
            ),
            ("every tool of a server that is on", Some(UsualRule::EVERY), None),
            ("git:*: ask; allowed for this session", None, Some(Consent::Session)),
            ("git:*: ask; allowed once, as the client says", None, Some(Consent::ClientOnce)),
            ("git:push for cur*: allow", None, None),
            ("", None, None),
        ] {
            assert_eq!((UsualRule::read(text), Consent::read(text)), (rule, consent), "{text}");
        }
        assert_eq!(UsualRule::EVERY.to_string(), "every tool of a server that is on");
    }
}
