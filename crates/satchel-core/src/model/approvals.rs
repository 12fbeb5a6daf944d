//! Types for definitions that wait for approval: new, changed or held back, with findings.

use serde::{Deserialize, Serialize};

/// What kind of thing a definition defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "DefinitionKind"))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource.
    Resource,
    /// A template of resources.
    Template,
    /// How the server introduces itself: its name and what goes with it.
    Introduction,
    /// What the server tells models about itself.
    Instructions,
    /// What stands beside the items of a list.
    Beside,
    /// What its entry in the configuration says is started, or connected to.
    Launch,
    /// A package that its launcher fetched, by name and version.
    Package,
    /// A stored secret that its entry refers to, and where the secret would go.
    Secret,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 10] = [
        Kind::Tool,
        Kind::Prompt,
        Kind::Resource,
        Kind::Template,
        Kind::Introduction,
        Kind::Instructions,
        Kind::Beside,
        Kind::Launch,
        Kind::Package,
        Kind::Secret,
    ];

    /// As it is written in JSON and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Tool => "tool",
            Kind::Prompt => "prompt",
            Kind::Resource => "resource",
            Kind::Template => "template",
            Kind::Introduction => "introduction",
            Kind::Instructions => "instructions",
            Kind::Beside => "beside",
            Kind::Launch => "launch",
            Kind::Package => "package",
            Kind::Secret => "secret",
        }
    }
}

/// Why something is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It is not what it was.
    Changed,
    /// It was not there when the server's list was first read.
    Added,
    /// It is new, and new things wait for a person.
    New,
    /// It is new, and inspection found what may deceive a model.
    Alarming,
    /// What was approved cannot be read any more.
    Lost,
}

/// A server that nobody has looked at yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Unseen {
    /// It was added here.
    New,
    /// It ran on this computer before; its first lists count as approved.
    Imported,
}

/// A definition, named together with what it was when a person looked at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Seen {
    /// Its kind.
    pub kind: Kind,
    /// Its name or address.
    pub name: String,
    /// Its fingerprint. Another one is another definition.
    pub fingerprint: String,
}

/// What there is to look at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ApprovalList {
    /// Servers with anything to look at, by name.
    pub servers: Vec<ServerApprovals>,
    /// Settings in the configuration file that nobody has accepted.
    #[serde(default)]
    pub settings: Option<SettingsChange>,
}

/// Rules and addresses in the configuration file that another hand wrote there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SettingsChange {
    /// Names exactly these settings; an approval of others is refused.
    pub fingerprint: String,
    /// What is different from the accepted ones.
    pub diff: Vec<Part>,
}

/// Why nothing of a server is started before a person has approved it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NotStarted {
    /// Its entry came into the configuration file by another hand.
    NewEntry,
    /// Its entry was changed by another hand.
    ChangedEntry,
    /// What was approved of it got lost.
    Lost,
    /// A package that it runs has other contents than before.
    Package,
    /// It refers to a secret that belongs to another server, program or address.
    Secret,
}

impl NotStarted {
    /// As a list shows it.
    pub fn sentence(self) -> &'static str {
        match self {
            NotStarted::NewEntry => "New in the file; approve it first",
            NotStarted::ChangedEntry => "Changed in the file; approve it first",
            NotStarted::Lost => "Approval lost; approve it again",
            NotStarted::Package => "A package changed; approve it first",
            NotStarted::Secret => "Wants another's secret; approve it first",
        }
    }
}

/// What there is to look at of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ServerApprovals {
    /// The server.
    pub server: String,
    /// Nobody has looked at its first lists.
    pub unseen: Option<Unseen>,
    /// Definitions on offer that nobody has looked at.
    pub new: usize,
    /// What is held back, and what is on offer and odd.
    pub items: Vec<ApprovalItem>,
}

/// One definition to look at. Hidden characters are written out in what is different and in what was found; its name is
/// as the server wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ApprovalItem {
    /// Its kind.
    pub kind: Kind,
    /// Its name or address.
    pub name: String,
    /// Its fingerprint, to approve exactly this.
    pub fingerprint: String,
    /// Why it is held back; `None` where it is on offer.
    pub held: Option<Why>,
    /// A person looked at it and wants it held back.
    pub kept: bool,
    /// What is different from what was approved, or all of it where nothing was.
    pub diff: Vec<Part>,
    /// What is odd about it.
    pub findings: Vec<Finding>,
}

/// A stretch of text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "DiffPart"))]
pub struct Part {
    /// In both, only before, or only now.
    pub mark: Mark,
    /// Does it hold something that was found odd?
    pub risky: bool,
    /// The words, with the white space between them.
    pub text: String,
}

/// Where a stretch of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// In both.
    Same,
    /// Only before.
    Removed,
    /// Only now.
    Added,
}

/// Something odd in a definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Finding {
    /// What it is.
    pub about: Odd,
    /// Where it stands, as the way to the value: `inputSchema.properties.city.description`.
    pub place: String,
    /// Where it begins in that text, in characters.
    pub begin: usize,
    /// Where it ends, in characters.
    pub end: usize,
    /// The words themselves, shortened.
    pub text: String,
}

/// What can be odd about a text that models read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Odd {
    /// Characters that nobody sees, or that turn text around.
    HiddenText,
    /// Commands to a terminal, or other control characters.
    ControlCharacters,
    /// Letters of one script that look like those of another.
    LookAlike,
    /// It tells the model what to do beyond using this tool, or to keep something from the user.
    Instruction,
    /// It says something about tools of other servers.
    OtherTools,
    /// It wants secrets, or files that have some, as arguments.
    AsksForSecrets,
    /// Something in it is encoded so that nobody can read it.
    Encoded,
    /// Markup or addresses that act when they are shown.
    ActiveContent,
    /// It is laid out so that a part is not seen.
    Layout,
    /// No pattern fits it, but in its words it resembles texts that mislead models.
    Resembles,
}

impl Odd {
    /// Everything that can be odd.
    pub const ALL: [Odd; 10] = [
        Odd::HiddenText,
        Odd::ControlCharacters,
        Odd::LookAlike,
        Odd::Instruction,
        Odd::OtherTools,
        Odd::AsksForSecrets,
        Odd::Encoded,
        Odd::ActiveContent,
        Odd::Layout,
        Odd::Resembles,
    ];

    /// In a person's words.
    pub fn words(self) -> &'static str {
        match self {
            Odd::HiddenText => "hidden text",
            Odd::ControlCharacters => "control characters",
            Odd::LookAlike => "look-alike letters",
            Odd::Instruction => "tells the model what to do",
            Odd::OtherTools => "talks about other servers' tools",
            Odd::AsksForSecrets => "asks for secrets",
            Odd::Encoded => "encoded text",
            Odd::ActiveContent => "markup or links that act by themselves",
            Odd::Layout => "laid out so that a part is not seen",
            Odd::Resembles => "resembles texts that mislead models",
        }
    }

    /// Is it found by what a text says, and not by how it is written?
    pub(crate) fn is_by_words(self) -> bool {
        matches!(self, Odd::Instruction | Odd::OtherTools | Odd::AsksForSecrets)
    }

    /// Is it there so that a person reads something else than a model?
    pub(crate) fn hides(self) -> bool {
        matches!(self, Odd::HiddenText | Odd::ControlCharacters | Odd::LookAlike)
    }
}
