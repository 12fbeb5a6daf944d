//! Where a text of an entry reads a secret from at each start: a file, or what a command prints. Reads and runs nothing.

use std::fmt;

use crate::launcher::split;

/// A place that a secret is read from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretSource {
    /// `${file:PATH}`.
    File(String),
    /// `${cmd:COMMAND}`: what it prints.
    Command(String),
    /// `${op:VAULT/ITEM/FIELD}`: what 1Password's program prints.
    OnePassword(String),
    /// `${bw:ITEM}`: the password that Bitwarden's program prints.
    Bitwarden(String),
}

impl SecretSource {
    /// What the text within `${…}` names; `None` for anything else, such as a variable with a default (`cmd:-x`).
    pub fn of(inside: &str) -> Option<Self> {
        let (kind, rest) = inside.split_once(':')?;
        let rest = rest.trim();
        if rest.is_empty() || rest.starts_with('-') {
            return None;
        }
        match kind {
            "file" => Some(Self::File(rest.to_owned())),
            "cmd" => Some(Self::Command(rest.to_owned())),
            "op" => Some(Self::OnePassword(rest.trim_start_matches("//").to_owned())),
            "bw" => Some(Self::Bitwarden(rest.to_owned())),
            _ => None,
        }
    }

    /// The words of its command; `None` for a file. The words are `None` where the line needs a shell.
    pub fn command(&self) -> Option<Option<Vec<String>>> {
        let words = |words: [&str; 3], last: &str| {
            let words = words.into_iter().filter(|word| !word.is_empty()).chain([last]);
            Some(Some(words.map(ToOwned::to_owned).collect()))
        };
        match self {
            Self::File(_) => None,
            Self::Command(line) => Some(split(line).filter(|words| !words.is_empty())),
            Self::OnePassword(path) => words(["op", "read", ""], &format!("op://{path}")),
            Self::Bitwarden(item) => words(["bw", "get", "password"], item),
        }
    }
}

/// As it is written, without the braces.
impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "file:{path}"),
            Self::Command(line) => write!(f, "cmd:{line}"),
            Self::OnePassword(path) => write!(f, "op:{path}"),
            Self::Bitwarden(item) => write!(f, "bw:{item}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_would_and_run_by_none() {
        for (inside, expected) in [
            ("cmd:pass show 'my key'", Some(&["pass", "show", "my key"][..])),
            ("op://Work/GitHub/token", Some(&["op", "read", "op://Work/GitHub/token"])),
            ("op:Work/GitHub/token", Some(&["op", "read", "op://Work/GitHub/token"])),
            ("bw:GitHub token", Some(&["bw", "get", "password", "GitHub token"])),
            ("cmd:pass show x | head -1", None),
            ("cmd:echo $(id)", None),
            ("cmd:'open", None),
        ] {
            let words = SecretSource::of(inside).unwrap().command().unwrap();
            let words = words.as_ref().map(|words| words.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(words.as_deref(), expected, "{inside}");
        }
        assert_eq!(SecretSource::of("file:~/key").unwrap().command(), None);
        for other in ["cmd:-x", "bw:", "secret:x", "HOME", "env:cmd", "input:file"] {
            assert_eq!(SecretSource::of(other), None, "{other}");
        }
    }
}
