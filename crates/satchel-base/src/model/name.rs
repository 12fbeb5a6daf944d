//! Server names, and the two kinds of path that clients use: `server:tool` and `server|uri`.
//!
//! A path is split at its first separator. Where a server's name has one itself, the path has it as `%3A` or `%7C`:
//! the tool `x` of the server `a:b` is `a%3Ab:x`, and nothing else is.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{characters, shell};

/// Separates server and tool in a [`ToolPath`].
pub const TOOL_SEPARATOR: char = ':';
/// Separates server and URI in a [`ResourcePath`].
pub const RESOURCE_SEPARATOR: char = '|';
/// Maximum length in characters.
const MAX_SERVER_NAME: usize = 255;
/// Separators, and their escapes inside a server's name.
const ESCAPES: [(char, &str); 3] = [(TOOL_SEPARATOR, "%3A"), (RESOURCE_SEPARATOR, "%7C"), ('%', "%25")];

/// Why a name or path is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The name is empty or all whitespace.
    #[error("a server name cannot be empty")]
    Empty,
    /// The name is longer than 255 characters.
    #[error("the server name is {0} characters long; at most {MAX_SERVER_NAME} are allowed")]
    TooLong(usize),
    /// The name contains a control character.
    #[error("the server name {name:?} contains the control character {character:?}")]
    Control {
        /// The whole name.
        name: String,
        /// The offending character.
        character: char,
    },
    /// The name contains a character that cannot be seen, or a blank that is not the usual one.
    #[error("the server name \"{}\" contains a character that is not seen; write it without", characters::spelled(.0))]
    Unseen(String),
    /// Letters of the name look like Latin ones, beside Latin ones.
    #[error(
        "the server name \"{}\" has letters beside Latin ones that only look like Latin ones; write it with one alphabet",
        characters::spelled(.0)
    )]
    LookAlike(String),
    /// The name begins or ends with whitespace.
    #[error("the server name {0:?} begins or ends with a blank")]
    Blank(String),
    /// The name begins with a hyphen: in a command that advice quotes, it would be an option.
    #[error("the server name {0:?} begins with a hyphen, as options of commands do; write it without")]
    Option(String),
    /// The path has no separator.
    #[error("\"{path}\" is not of the form {form}")]
    Form {
        /// The text that was given.
        path: String,
        /// The expected form.
        form: &'static str,
    },
}

/// The name of a configured server: 1 to 255 characters, no control characters, nothing that cannot be seen, no word in
/// which another alphabet imitates Latin, no whitespace at its ends, no hyphen before it. So two names that look the same are the same. Allows
/// names such as `@scope/package` and `io.github.user/server`, which are in common use.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServerName(String);

impl ServerName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as a word of a command, quoted where a shell needs it.
    pub fn in_shell(&self) -> Cow<'_, str> {
        shell::word(&self.0)
    }

    /// Is it written with letters that only look like those of the other name? Upper and lower case do not count.
    pub fn looks_like(&self, other: &Self) -> bool {
        let plain = |name: &str| name.to_lowercase();
        plain(&self.0) != plain(&other.0) && characters::skeleton(&self.0) == characters::skeleton(&other.0)
    }

    /// The name with separators escaped, for use in a path.
    pub fn in_path(&self) -> Cow<'_, str> {
        in_path(&self.0)
    }
}

/// Escapes a server's name for use in a path. A `%` is escaped only where it would read as the start of an escape.
pub fn in_path(name: &str) -> Cow<'_, str> {
    let escape = |at: usize, c: char| {
        let (_, escape) = ESCAPES.iter().find(|(separator, _)| *separator == c)?;
        (c != '%' || escaped_at(&name[at..]).is_some()).then_some(*escape)
    };
    if !name.char_indices().any(|(at, c)| escape(at, c).is_some()) {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(name.len() + 8);
    for (at, c) in name.char_indices() {
        match escape(at, c) {
            Some(escape) => text.push_str(escape),
            None => text.push(c),
        }
    }
    Cow::Owned(text)
}

/// Reverses [`in_path`].
fn from_path(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let escaped = escaped_at(rest);
        name.push(escaped.unwrap_or(c));
        rest = &rest[escaped.map_or(c.len_utf8(), |_| 3)..];
    }
    name
}

/// Decodes the escape at the start of a text, if there is one.
fn escaped_at(text: &str) -> Option<char> {
    let begin = text.get(..3)?;
    let escape = ESCAPES.iter().find(|(_, escape)| begin.eq_ignore_ascii_case(escape));
    escape.map(|(character, _)| *character)
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
        if let Some(character) = name.chars().find(|c| c.is_control()) {
            return Err(NameError::Control { name: name.to_owned(), character });
        }
        if name.trim() != name {
            return Err(NameError::Blank(name.to_owned()));
        }
        if name.starts_with('-') {
            return Err(NameError::Option(name.to_owned()));
        }
        if characters::hides(name) {
            return Err(NameError::Unseen(name.to_owned()));
        }
        if !characters::posing(name).is_empty() {
            return Err(NameError::LookAlike(name.to_owned()));
        }
        Ok(Self(name.to_owned()))
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

/// A tool as `server:tool`, the form that the meta-tools use.
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
                Ok(Self { server: from_path(server).parse()?, tool: tool.to_owned() })
            }
            _ => Err(NameError::Form { path: path.to_owned(), form: "server:tool" }),
        }
    }
}

impl fmt::Display for ToolPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{TOOL_SEPARATOR}{}", self.server.in_path(), self.tool)
    }
}

impl ToolPath {
    /// All ways to split a path whose separators may be unescaped, the shortest server name first.
    pub fn readings(path: &str) -> impl Iterator<Item = Self> {
        path.match_indices(TOOL_SEPARATOR).filter_map(|(at, _)| {
            let (server, tool) = (&path[..at], &path[at + 1..]);
            let server = from_path(server).parse().ok().filter(|_| !tool.is_empty())?;
            Some(Self { server, tool: tool.to_owned() })
        })
    }
}

/// A resource as `server|uri`, the form that clients see.
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
                Ok(Self { server: from_path(server).parse()?, uri: uri.to_owned() })
            }
            _ => Err(NameError::Form { path: path.to_owned(), form: "server|uri" }),
        }
    }
}

impl fmt::Display for ResourcePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{RESOURCE_SEPARATOR}{}", self.server.in_path(), self.uri)
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
    fn names_as_people_have_them_are_accepted_and_lead_back_from_every_path() {
        for bad in ["", "  ", "a\nb", "a\u{7f}", " a", "a ", "-", "--all", &"x".repeat(256)] {
            assert!(bad.parse::<ServerName>().is_err(), "{bad:?}");
        }
        for (name, path) in [
            ("github", "github:t"),
            ("My Server", "My Server:t"),
            ("日本語", "日本語:t"),
            ("a.b-c_d@1", "a.b-c_d@1:t"),
            ("@scope/pkg", "@scope/pkg:t"),
            ("io.github.user/server", "io.github.user/server:t"),
            ("a\\b", "a\\b:t"),
            ("a:b", "a%3Ab:t"),
            ("a|b", "a%7Cb:t"),
            ("100%", "100%:t"),
            ("a%3ab", "a%253ab:t"),
            ("%%3A:", "%%253A%3A:t"),
            ("é%", "é%:t"),
        ] {
            let server: ServerName = name.parse().unwrap();
            let tool = ToolPath { server: server.clone(), tool: "t".into() };
            assert_eq!(tool.to_string(), path);
            assert_eq!(path.parse::<ToolPath>().unwrap(), tool);
            let resource = ResourcePath { server, uri: "x://a|b:c".into() };
            assert_eq!(resource.to_string().parse::<ResourcePath>().unwrap(), resource);
        }
        assert!("x".repeat(255).parse::<ServerName>().is_ok());
    }

    #[test]
    fn a_name_that_reads_like_another_is_refused_and_spelled_out() {
        for (name, spelled) in [
            ("github\u{200b}", "github⟨U+200B⟩"),
            ("\u{202e}gbuh", "⟨U+202E⟩gbuh"),
            ("git\u{ad}hub", "git⟨U+00AD⟩hub"),
            ("git\u{2060}hub", "git⟨U+2060⟩hub"),
            ("github\u{e0041}", "github⟨U+E0041⟩"),
            ("1\u{fe0f}", "1⟨U+FE0F⟩"),
            ("my\u{a0}files", "my⟨U+00A0⟩files"),
            ("my\u{2800}files", "my⟨U+2800⟩files"),
            ("g\u{456}thub", "g⟨U+0456⟩thub"),
            ("погода s\u{441}ope", "погода s⟨U+0441⟩ope"),
            ("gith\u{ff55}b", "gith⟨U+FF55⟩b"),
            ("pay\u{3c1}al", "pay⟨U+03C1⟩al"),
            // Armenian, Lisu, Coptic, a Latin letter of phonetics, an Arabic digit, a loose accent, signs, nothing.
            ("git\u{570}ub", "git⟨U+0570⟩ub"),
            ("\u{a4d6}ithub", "⟨U+A4D6⟩ithub"),
            ("\u{2c9f}pen", "⟨U+2C9F⟩pen"),
            ("\u{262}ithub", "⟨U+0262⟩ithub"),
            ("files\u{663}", "files⟨U+0663⟩"),
            ("git\u{338}hub", "git⟨U+0338⟩hub"),
            ("git\u{2215}hub", "git⟨U+2215⟩hub"),
            ("github\u{a789}tool", "github⟨U+A789⟩tool"),
            ("git\u{e000}hub", "git⟨U+E000⟩hub"),
            ("\u{fb01}les", "⟨U+FB01⟩les"),
            ("git\u{fffd}hub", "git⟨U+FFFD⟩hub"),
        ] {
            let refused = name.parse::<ServerName>().unwrap_err().to_string();
            assert!(refused.contains(&format!("\"{spelled}\"")), "{refused}");
        }
        for kept in [
            "погода",
            "погода weather",
            "東京天気",
            "größe",
            "日本 ＡＢＣ",
            "東京API",
            "café-fırın",
            "Đà Nẵng",
            "Łódź",
            "fișiere",
            "m² – plan",
            "it’s",
            "Δ-server",
            "🗄\u{fe0f} files",
            "می\u{200c}خواهم",
        ] {
            assert!(kept.parse::<ServerName>().is_ok(), "{kept}");
        }
    }

    #[test]
    fn names_that_differ_only_by_alphabet_look_alike() {
        let name = |name: &str| name.parse::<ServerName>().unwrap();
        for (one, other, alike) in [
            ("ѕсоре", "scope", true),
            ("ｇｉｔｈｕｂ", "GitHub", true),
            ("caf\u{e9}", "cafe\u{301}", true),
            ("scope", "Scope", false),
            ("погода", "pogoda", false),
            ("scope", "scope", false),
        ] {
            assert_eq!(name(one).looks_like(&name(other)), alike, "{one} {other}");
            assert_eq!(name(other).looks_like(&name(one)), alike, "{other} {one}");
        }
    }

    #[test]
    fn a_path_with_several_separators_has_several_readings() {
        let read = |path: &str| ToolPath::readings(path).map(|path| path.to_string()).collect::<Vec<_>>();
        assert_eq!(read("a:b:c"), ["a:b:c", "a%3Ab:c"]);
        assert_eq!(read("a:"), Vec::<String>::new());
        assert_eq!(read("nothing"), Vec::<String>::new());
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
