//! Types for definitions that wait for approval: new, changed or held back, with findings.

use serde::{Deserialize, Serialize};

/// The kind of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "DefinitionKind"))]
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
    /// A skill: its frontmatter, and the digest of each of its files.
    Skill,
    /// The server's self-description: its name and related fields.
    Introduction,
    /// The server's instructions for models.
    Instructions,
    /// Fields beside the items of a list.
    Beside,
    /// The command line or address in the server's configuration entry.
    Launch,
    /// A package that its launcher fetched, by name and version.
    Package,
    /// A stored secret that its entry refers to, and where the secret would go.
    Secret,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 11] = [
        Kind::Tool,
        Kind::Prompt,
        Kind::Resource,
        Kind::Template,
        Kind::Skill,
        Kind::Introduction,
        Kind::Instructions,
        Kind::Beside,
        Kind::Launch,
        Kind::Package,
        Kind::Secret,
    ];

    /// The name used in JSON and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Tool => "tool",
            Kind::Prompt => "prompt",
            Kind::Resource => "resource",
            Kind::Template => "template",
            Kind::Skill => "skill",
            Kind::Introduction => "introduction",
            Kind::Instructions => "instructions",
            Kind::Beside => "beside",
            Kind::Launch => "launch",
            Kind::Package => "package",
            Kind::Secret => "secret",
        }
    }
}

/// Why a definition is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It differs from what was approved.
    Changed,
    /// It was added after the server's list was first read.
    Added,
    /// It is new, and the configuration holds new definitions until a person approves them.
    New,
    /// It is new, and inspection found text that may deceive a model.
    Alarming,
    /// Its stored approval cannot be read.
    Lost,
}

/// Why a server is not reviewed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Unseen {
    /// It was added here.
    New,
    /// It was imported from another program; its first lists count as approved.
    Imported,
}

/// A definition as a person reviewed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Seen {
    /// Its kind.
    pub kind: Kind,
    /// Its name or URI.
    pub name: String,
    /// Its fingerprint; any change to the definition changes it.
    pub fingerprint: String,
}

/// Everything that waits for review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ApprovalList {
    /// Servers with something to review, by name.
    pub servers: Vec<ServerApprovals>,
    /// Settings in the configuration file that nobody has accepted.
    #[serde(default)]
    pub settings: Option<SettingsChange>,
}

/// Rules and addresses that were written to the configuration file outside Satchel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SettingsChange {
    /// The fingerprint of exactly these settings. Approving others is refused.
    pub fingerprint: String,
    /// The difference from the accepted settings.
    pub diff: Vec<Part>,
}

/// Why a server is not started until a person approves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NotStarted {
    /// Its configuration entry was added outside Satchel.
    NewEntry,
    /// Its configuration entry was changed outside Satchel.
    ChangedEntry,
    /// Its stored approval was lost.
    Lost,
    /// The content of a package that it runs has changed.
    Package,
    /// It refers to a secret that belongs to another server, program or address.
    Secret,
}

impl NotStarted {
    /// A short sentence for lists.
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

/// What waits for review on one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerApprovals {
    /// The server.
    pub server: String,
    /// Set while nobody has reviewed its first lists.
    pub unseen: Option<Unseen>,
    /// Number of definitions that clients can use and nobody has reviewed.
    pub new: usize,
    /// Definitions that are held back, and available ones with findings.
    pub items: Vec<ApprovalItem>,
}

/// One definition to review. Hidden characters are escaped in the diff and the findings; the name is as the server
/// sent it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ApprovalItem {
    /// Its kind.
    pub kind: Kind,
    /// Its name or address.
    pub name: String,
    /// Its fingerprint, which an approval must name.
    pub fingerprint: String,
    /// Why it is held back; `None` if clients can use it.
    pub held: Option<Why>,
    /// A person reviewed it and decided to keep it held back.
    pub kept: bool,
    /// Set if clients go on with the definition that was there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub in_force: Option<InForce>,
    /// The difference from what was approved; everything if nothing was.
    pub diff: Vec<Part>,
    /// Where in the diff the rest begins, which may be folded: variables and headers of an entry. What comes before says
    /// what runs, where it goes and what it may reach, and is shown whole before a yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
    pub folds_from: Option<usize>,
    /// Suspicious passages.
    pub findings: Vec<Finding>,
}

/// How the earlier definition stays in force while a changed one waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum InForce {
    /// Until a person decides.
    Before,
    /// The server changes it all the time: keeping this one held back keeps the earlier one for good.
    Varies,
}

/// A run of text in a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "DiffPart"))]
pub struct Part {
    /// Whether it is in both versions, only the old or only the new one.
    pub mark: Mark,
    /// Does it overlap a finding?
    pub risky: bool,
    /// The words, including the white space between them.
    pub text: String,
}

/// Which versions contain a run of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// In both.
    Same,
    /// Only before.
    Removed,
    /// Only now.
    Added,
}

/// A suspicious passage in a definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Finding {
    /// Its category.
    pub about: Odd,
    /// Path of the value that contains it: `inputSchema.properties.city.description`.
    pub place: String,
    /// Start offset in that text, in characters.
    pub begin: usize,
    /// End offset in that text, in characters.
    pub end: usize,
    /// The passage itself, shortened.
    pub text: String,
}

/// Categories of suspicious text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Odd {
    /// Invisible characters, or characters that change the text direction.
    HiddenText,
    /// Terminal escape sequences or other control characters.
    ControlCharacters,
    /// Letters that look like letters of another script.
    LookAlike,
    /// Instructions to the model beyond using this tool, or to hide something from the user.
    Instruction,
    /// Claims about tools of other servers.
    OtherTools,
    /// Requests for secrets, or for files that contain them, as arguments.
    AsksForSecrets,
    /// Encoded text that people cannot read.
    Encoded,
    /// Markup or addresses that take effect when displayed.
    ActiveContent,
    /// A layout that hides part of the text.
    Layout,
    /// Matches no pattern, but its wording resembles texts that mislead models.
    Resembles,
}

impl Odd {
    /// Every category.
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

    /// A short description for people.
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

    /// Is it detected by meaning rather than by spelling?
    pub fn is_by_words(self) -> bool {
        matches!(self, Odd::Instruction | Odd::OtherTools | Odd::AsksForSecrets)
    }

    /// Does it make people see different text than models?
    pub fn hides(self) -> bool {
        matches!(self, Odd::HiddenText | Odd::ControlCharacters | Odd::LookAlike)
    }
}
