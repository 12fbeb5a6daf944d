//! Rules over tools, as the configuration has them: which tools they are for, and what becomes of those.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What becomes of the tools that `tool` names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolRule {
    /// A path in which `*` stands for anything and `?` for one character: `github:delete_*`, `*:search`.
    pub tool: String,
    /// Nobody sees it, and nobody can call it.
    #[serde(default)]
    pub hide: bool,
    /// Another name.
    #[serde(default)]
    pub rename: Option<String>,
    /// Another description.
    #[serde(default)]
    pub description: Option<String>,
    /// Annotations to add or replace, for example `{"readOnlyHint": true}`.
    #[serde(default)]
    pub annotations: Map<String, Value>,
    /// What kind of tool it is, in a word; stands in its `_meta` as `dev.satchel/category`.
    #[serde(default)]
    pub category: Option<String>,
}

impl ToolRule {
    /// Is it for the tool of this path?
    pub fn is_for(&self, path: &str) -> bool {
        matches(&self.tool, path)
    }
}

/// `*` is anything, `?` one character, and everything else itself.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    // Where the last star was, and how much it stands for so far.
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(c) if *c == '?' || *c == text[read] => {
                at += 1;
                read += 1;
            }
            _ => match star {
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    at = place + 1;
                    read = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_paths() {
        for (pattern, path, fits) in [
            ("github:*", "github:create_issue", true),
            ("*:delete_*", "github:delete_repo", true),
            ("*:delete_*", "github:undelete_repo", false),
            ("*delete*", "github:undelete_repo", true),
            ("a:?", "a:b", true),
            ("a:?", "a:bc", false),
            ("*", "", true),
            ("a", "ab", false),
            ("*a*b*c", "xxaxxbxxbxc", true),
            ("*a*b*c", "xxaxxbxxbx", false),
            ("ä*", "äöü", true),
        ] {
            assert_eq!(matches(pattern, path), fits, "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time() {
        assert!(!matches(&"*a".repeat(200), &"a".repeat(199)));
    }
}
