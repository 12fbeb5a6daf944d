//! What was left out of a list, a file or a setup, and why.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{cause::if_known, control::Refusal};

/// Something that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Left {
    /// Where it is.
    pub place: String,
    /// Why, as a sentence for the terminal.
    pub reason: String,
    /// The refusal behind it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub refusal: Option<Refusal>,
    /// The reason in parts, where there is no refusal and Satchel itself knows the reason.
    #[serde(default, deserialize_with = "if_known", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub cause: Option<LeftCause>,
}

impl Left {
    /// Left out for this reason, which only a parser, the system or an engine can say.
    pub fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { place: place.into(), reason: reason.into(), refusal: None, cause: None }
    }

    /// Left out because of a refusal.
    pub fn refused(place: impl Into<String>, refusal: Refusal) -> Self {
        Self { reason: refusal.sentence(), refusal: Some(refusal), ..Self::new(place, "") }
    }

    /// Left out for a reason that can be said in any language.
    pub fn because(place: impl Into<String>, cause: LeftCause) -> Self {
        Self { reason: cause.to_string(), cause: Some(cause), ..Self::new(place, "") }
    }
}

/// Why something was left out. [`fmt::Display`] is the sentence for the terminal, without capital and full stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum LeftCause {
    /// The entry in Satchel's own configuration is invalid.
    Faulty,
    /// The credentials in the file are encrypted, and no passphrase was given.
    Encrypted,
    /// The file was written by a newer version of Satchel.
    Newer,
    /// Another file exists at the path.
    PathTaken,
    /// The entry is not an object.
    NotAnObject,
    /// The entry has neither a command nor a URL.
    NoTarget,
    /// The entry has both a command and a URL.
    TwoTargets,
    /// The entry has a URL and no transport type, and the client ignores such entries.
    NoType,
    /// The URL of the entry is not an HTTP URL.
    NotHttp,
    /// The transport of the entry is not supported.
    Transport {
        /// Its name in the entry.
        name: String,
    },
    /// The scheme of the entry's URL is not supported.
    Scheme {
        /// The scheme, without the colon.
        scheme: String,
    },
    /// The entry names a part of the client itself.
    Internal {
        /// The part, as the entry names it.
        part: String,
    },
    /// The entry only switches a server on or off that is defined elsewhere.
    SwitchOnly,
    /// The entry only has settings for a server that is defined elsewhere.
    SettingsOnly {
        /// The code of the client's kind of entry.
        entry: String,
    },
}

impl fmt::Display for LeftCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Faulty => f.write_str("its entry has to be corrected first"),
            Self::Encrypted => f.write_str("they need the passphrase of the file"),
            Self::Newer => f.write_str("it was written by a newer version of Satchel; update this one first"),
            Self::PathTaken => f.write_str("another file has this name; choose another name"),
            Self::NotAnObject => f.write_str("its entry is not an object"),
            Self::NoTarget => f.write_str("its entry names neither a program nor an address"),
            Self::TwoTargets => f.write_str("its entry names both a program and an address"),
            Self::NoType => f.write_str(
                "its entry has an address and no type, and the other program leaves such entries out",
            ),
            Self::NotHttp => f.write_str("its address does not begin with http:// or https://"),
            Self::Transport { name } => {
                write!(f, "it uses the transport \"{name}\", which Satchel does not support")
            }
            Self::Scheme { scheme } => {
                write!(f, "its address begins with {scheme}://, which Satchel does not support")
            }
            Self::Internal { part } => write!(f, "it is a part of the other program itself (\"{part}\")"),
            Self::SwitchOnly => {
                f.write_str("its entry only switches on or off a server that is defined elsewhere")
            }
            Self::SettingsOnly { entry } => {
                write!(f, "its entry only has settings for a server that is defined elsewhere ({entry})")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_of_a_newer_version_leaves_its_sentence() {
        let text = r#"{"place":"a","reason":"of later","cause":{"kind":"of_later"}}"#;
        assert_eq!(serde_json::from_str::<Left>(text).unwrap(), Left::new("a", "of later"));
        let known = Left::because("a", LeftCause::Transport { name: "ws".into() });
        assert_eq!(known.reason, "it uses the transport \"ws\", which Satchel does not support");
        let read: Left = serde_json::from_str(&serde_json::to_string(&known).unwrap()).unwrap();
        assert_eq!(read, known);
    }
}
