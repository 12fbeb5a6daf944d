//! What a person should know of a server that comes from another program: a code with parameters, so that a face can say
//! it in its own language, and the English sentence. Names fields and files, never their values.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A remark on a server's entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Remark {
    /// The name of the server.
    pub place: String,
    /// The remark in English, starting in lower case.
    pub reason: String,
    /// The remark as data.
    #[serde(flatten)]
    pub what: RemarkKind,
}

impl Remark {
    /// Creates a remark on the server of this name.
    pub fn on(place: impl Into<String>, what: RemarkKind) -> Self {
        Self { place: place.into(), reason: what.to_string(), what }
    }
}

/// The kinds of remarks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum RemarkKind {
    /// Its name was changed.
    Renamed {
        /// The name in the other program, shortened.
        given: String,
        /// The name in Satchel.
        name: String,
        /// The reasons.
        because: Vec<NameFault>,
    },
    /// A secret is not stored yet.
    NeedsSecret {
        /// Its name in the secret store.
        name: String,
    },
    /// An environment variable is not set.
    NeedsVariable {
        /// Its name.
        name: String,
    },
    /// Variables from a file are not read.
    EnvFile {
        /// The file.
        file: String,
    },
    /// The other program's sandbox is not carried over.
    OtherSandbox {
        /// The fields that configure it.
        fields: Vec<String>,
    },
    /// Satchel settings that an imported entry may not set.
    NotTaken {
        /// The fields.
        fields: Vec<String>,
    },
    /// Fields that were left out because they contain a secret.
    HoldsSecret {
        /// The fields.
        fields: Vec<String>,
    },
    /// Fields that have no effect in Satchel.
    NoEffect {
        /// The fields.
        fields: Vec<String>,
    },
    /// The client secret is not carried over.
    AppSecret,
    /// Individual agents of the other program have tools switched on or off.
    AgentSwitches,
    /// A tool is off here because something broader is off there.
    OffWithMore {
        /// The tool that is on there.
        tool: String,
        /// What is off there.
        with: String,
    },
    /// Its command was the one of Windows, which other systems do not have.
    OfWindows,
    /// Its command was a whole line.
    WholeLine,
    /// Its command was an address.
    AddressAsCommand,
    /// Paths or arguments have control characters.
    ControlCharacters {
        /// Where, for example `args[1]`.
        fields: Vec<String>,
    },
    /// What had only a setting that nobody filled in was left out.
    Unfilled {
        /// The placeholders.
        fields: Vec<String>,
    },
    /// Another program stores sign-ins in plain text.
    PlainSignIns {
        /// The program.
        who: String,
        /// The file.
        file: String,
    },
}

/// Why a name was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NameFault {
    /// It is a path.
    Path,
    /// It has control characters.
    Control,
    /// It begins or ends with whitespace.
    Blank,
    /// It begins with a hyphen, as options of commands do.
    Option,
    /// It has invisible characters.
    Unseen,
    /// No other part of it can be a name.
    Nothing,
    /// It is longer than this many characters.
    Long(usize),
    /// It has these letters, which look like others.
    LookAlikes(String),
    /// Another server has this name.
    Taken(String),
}

impl fmt::Display for RemarkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Renamed { given, name, because } => {
                let because: Vec<String> = because.iter().map(ToString::to_string).collect();
                write!(f, "the name \"{given}\" was changed to \"{name}\" because {}", because.join(" and "))
            }
            Self::NeedsSecret { name } => {
                write!(f, "it needs {name}; store it with `satchel secrets set {name}`")
            }
            Self::NeedsVariable { name } => {
                write!(f, "it needs {name}; set it in the environment that Satchel is started in")
            }
            Self::EnvFile { file } => write!(
                f,
                "\"envFile\" was left out: Satchel does not read the variables in {file}; write those it needs into \"env\" \
                 of its entry, secrets as ${{secret:NAME}}"
            ),
            Self::OtherSandbox { fields } => write!(
                f,
                "{} left out, so it runs here without that sandbox; Satchel's own is \"sandbox\": true in its entry",
                were(fields)
            ),
            Self::NotTaken { fields } => {
                write!(f, "{} left out; set it in the configuration if you want it here", were(fields))
            }
            Self::HoldsSecret { fields } => write!(
                f,
                "{} left out, because it contains a secret; store that with `satchel secrets set NAME`, and write {} \
                 with ${{secret:NAME}} into its entry",
                were(fields),
                quoted(fields)
            ),
            Self::NoEffect { fields } => {
                let have = if fields.len() == 1 { "has" } else { "have" };
                write!(f, "{} {have} no effect in Satchel", quoted(fields))
            }
            Self::AppSecret => f.write_str(
                "its client secret was left out; enter it with `satchel login NAME --client-id ID --client-secret`",
            ),
            Self::AgentSwitches => f.write_str(
                "single agents there have tools of it switched on or off; here each tool is on or off for all of them",
            ),
            Self::OffWithMore { tool, with } => {
                write!(f, "{tool:?} is off here, because \"{with}\" is switched off there")
            }
            Self::OfWindows => f.write_str("its command is one of Windows; it runs here without that wrapper"),
            Self::WholeLine => f.write_str(
                "its whole command line stood in \"command\"; what follows the program is in \"args\" here",
            ),
            Self::AddressAsCommand => {
                f.write_str("its \"command\" was an address, so Satchel connects to that and starts nothing")
            }
            Self::ControlCharacters { fields } => write!(
                f,
                "{} contains a control character, such as the tab that \"\\t\" means; if it is a path of Windows, write each \
                 backslash twice",
                fields.join(", ")
            ),
            Self::Unfilled { fields } => write!(
                f,
                "{} has no value here, so what consisted of it alone was left out",
                fields.join(", ")
            ),
            Self::PlainSignIns { who, file } => write!(
                f,
                "{who} keeps sign-ins in plain text in {file}, which Satchel does not read; once you have signed in here, \
                 sign out there"
            ),
        }
    }
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path => f.write_str("it is a path"),
            Self::Control => f.write_str("it has control characters"),
            Self::Blank => f.write_str("it begins or ends with a blank"),
            Self::Option => f.write_str("it begins as an option of a command does"),
            Self::Unseen => f.write_str("it has invisible characters"),
            Self::Nothing => f.write_str("no other part of it can be a name"),
            Self::Long(most) => write!(f, "it is longer than {most} characters"),
            Self::LookAlikes(letters) => write!(f, "it has letters that look like others: {letters}"),
            Self::Taken(name) => write!(f, "another server is called \"{name}\", ignoring case"),
        }
    }
}

fn were(fields: &[String]) -> String {
    format!("{} {}", quoted(fields), if fields.len() == 1 { "was" } else { "were" })
}

fn quoted(fields: &[String]) -> String {
    fields.iter().map(|field| format!("{field:?}")).collect::<Vec<_>>().join(", ")
}
