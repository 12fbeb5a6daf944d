//! Names of servers, and the two paths clients use: `server:tool` and `server|uri`.
//!
//! A path is split at its first separator, so the separators may not occur in a server's name.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Separates server and tool in a [`ToolPath`].
pub const TOOL_SEPARATOR: char = ':';
/// Separates server and URI in a [`ResourcePath`].
pub const RESOURCE_SEPARATOR: char = '|';
const MAX_SERVER_NAME: usize = 64;

/// Why a name or path was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The name is empty or only blanks.
    #[error("a server name cannot be empty")]
    Empty,
    /// The name is longer than 64 characters.
    #[error("the server name is {0} characters long; at most {MAX_SERVER_NAME} are allowed")]
    TooLong(usize),
    /// The name has a character that paths or file names need for themselves.
    #[error("the server name \"{name}\" contains {character:?}, which is not allowed")]
    Character {
        /// The whole name.
        name: String,
        /// The offending character.
        character: char,
    },
    /// The path has no separator.
    #[error("\"{path}\" is not of the form {form}")]
    Form {
        /// What was given.
        path: String,
        /// What was expected.
        form: &'static str,
    },
}

/// The name of a configured server: 1 to 64 characters, none of `: | / \` or control characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServerName(String);

impl ServerName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ServerName {
    type Err = NameError;
    fn from_str(name: &str) -> Result<Self, NameError> {
        if name.trim().is_empty() {
            return Err(NameError::Empty);
        }
        let length = name.chars().count();
        if length > MAX_SERVER_NAME {
            return Err(NameError::TooLong(length));
        }
        let edge_blank = name.trim() != name;
        let forbidden =
            |c: &char| matches!(*c, TOOL_SEPARATOR | RESOURCE_SEPARATOR | '/' | '\\') || c.is_control();
        match name.chars().find(forbidden).or(edge_blank.then_some(' ')) {
            Some(character) => Err(NameError::Character { name: name.to_owned(), character }),
            None => Ok(Self(name.to_owned())),
        }
    }
}

impl TryFrom<String> for ServerName {
    type Error = NameError;
    fn try_from(name: String) -> Result<Self, NameError> {
        name.parse()
    }
}

impl From<ServerName> for String {
    fn from(name: ServerName) -> Self {
        name.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for ServerName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// `server:tool`, what the meta-tools speak.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolPath {
    /// The server that owns the tool.
    pub server: ServerName,
    /// The tool's own name, exactly as the server wrote it.
    pub tool: String,
}

impl FromStr for ToolPath {
    type Err = NameError;
    fn from_str(path: &str) -> Result<Self, NameError> {
        match path.split_once(TOOL_SEPARATOR) {
            Some((server, tool)) if !tool.is_empty() => {
                Ok(Self { server: server.parse()?, tool: tool.to_owned() })
            }
            _ => Err(NameError::Form { path: path.to_owned(), form: "server:tool" }),
        }
    }
}

impl fmt::Display for ToolPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{TOOL_SEPARATOR}{}", self.server, self.tool)
    }
}

/// `server|uri`, how a server's resource is named towards clients.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourcePath {
    /// The server that owns the resource.
    pub server: ServerName,
    /// The resource's own URI, exactly as the server wrote it.
    pub uri: String,
}

impl FromStr for ResourcePath {
    type Err = NameError;
    fn from_str(path: &str) -> Result<Self, NameError> {
        match path.split_once(RESOURCE_SEPARATOR) {
            Some((server, uri)) if !uri.is_empty() => {
                Ok(Self { server: server.parse()?, uri: uri.to_owned() })
            }
            _ => Err(NameError::Form { path: path.to_owned(), form: "server|uri" }),
        }
    }
}

impl fmt::Display for ResourcePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{RESOURCE_SEPARATOR}{}", self.server, self.uri)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_path_is_split_at_its_first_colon_and_prints_back() {
        for (path, server, tool) in [
            ("github:create_issue", "github", "create_issue"),
            ("My Server:a:b", "My Server", "a:b"),
            ("x:/y", "x", "/y"),
        ] {
            let parsed: ToolPath = path.parse().unwrap();
            assert_eq!((parsed.server.as_str(), parsed.tool.as_str()), (server, tool));
            assert_eq!(parsed.to_string(), path);
        }
    }

    #[test]
    fn a_resource_path_keeps_every_byte_of_the_uri() {
        let parsed: ResourcePath = "docs|file:///a|b?c=1#d".parse().unwrap();
        assert_eq!((parsed.server.as_str(), parsed.uri.as_str()), ("docs", "file:///a|b?c=1#d"));
    }

    #[test]
    fn names_that_would_break_paths_or_files_are_refused() {
        for bad in ["", "  ", "a:b", "a|b", "a/b", "a\\b", "a\nb", " a", "a ", &"x".repeat(65)] {
            assert!(bad.parse::<ServerName>().is_err(), "{bad:?}");
        }
        for good in ["github", "My Server", "日本語", "a.b-c_d@1"] {
            assert_eq!(good.parse::<ServerName>().unwrap().as_str(), good);
        }
    }

    #[test]
    fn a_path_without_both_halves_says_which_form_was_expected() {
        for bad in ["create_issue", "github:", ":x"] {
            assert!(bad.parse::<ToolPath>().is_err(), "{bad:?}");
        }
        assert_eq!(
            "nope".parse::<ToolPath>().unwrap_err().to_string(),
            "\"nope\" is not of the form server:tool"
        );
    }
}
