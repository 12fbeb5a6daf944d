//! Rules over tools as the configuration has them: which tools they match, and what they do.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{
    ServerName,
    name::{TOOL_SEPARATOR, in_path},
    nature::Permit,
};

/// A rule for the tools that match `tool`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolRule {
    /// A path with `*` (anything) and `?` (one character): `github:delete_*`, `*:search`.
    pub tool: String,
    /// Exceptions: paths in the same syntax.
    #[serde(default)]
    pub except: Vec<String>,
    /// Hides the tool and refuses calls.
    #[serde(default)]
    pub hide: bool,
    /// Renames the tool.
    #[serde(default)]
    pub rename: Option<String>,
    /// Replaces the description.
    #[serde(default)]
    pub description: Option<String>,
    /// Annotations to add or replace, for example `{"readOnlyHint": true}`.
    #[serde(default)]
    pub annotations: Map<String, Value>,
    /// The category; added to `_meta` as `dev.satchel/category`.
    #[serde(default)]
    pub category: Option<String>,
    /// Only for clients whose name matches, with `*` and `?` as in `tool`. Such a rule can only set `permit`.
    #[serde(default)]
    pub client: Option<String>,
    /// The permission.
    #[serde(default)]
    pub permit: Option<Permit>,
}

impl ToolRule {
    /// Does it match the tool of this path?
    pub fn is_for(&self, path: &str) -> bool {
        matches(&self.tool, path) && !self.except.iter().any(|except| matches(except, path))
    }

    /// Does it match this client? A person's own call has no client.
    pub fn is_for_client(&self, client: Option<&str>) -> bool {
        match (&self.client, client) {
            (None, _) => true,
            (Some(pattern), Some(client)) => matches(pattern, client),
            (Some(_), None) => false,
        }
    }

    /// The rules, plus copies of those that contain this server's name unescaped, with the name escaped as in paths.
    pub(super) fn as_in_paths(rules: Vec<Self>, server: &ServerName) -> Vec<Self> {
        let meant = |rule: &Self| {
            let tool = rule.tool.strip_prefix(server.as_str())?.strip_prefix(TOOL_SEPARATOR)?;
            Some(Self { tool: format!("{}{TOOL_SEPARATOR}{tool}", server.in_path()), ..rule.clone() })
        };
        let both = |rule: Self| meant(&rule).into_iter().chain([rule]).collect::<Vec<_>>();
        rules.into_iter().flat_map(both).collect()
    }

    /// Could it match a tool and a client that these patterns match too?
    pub fn meets(&self, tool: &str, client: Option<&str>) -> bool {
        let clients = self.client.as_deref().zip(client);
        overlap(&self.tool, tool) && clients.is_none_or(|(ours, other)| overlap(ours, other))
    }

    /// Does it match every tool that this server could have?
    pub fn is_for_all_of(&self, server: &str) -> bool {
        let server = &in_path(server);
        match self.tool.split_once(TOOL_SEPARATOR) {
            Some((of, "*")) => matches(of, server) && self.except.is_empty(),
            Some(_) => false,
            None => self.tool == "*" && self.except.is_empty(),
        }
    }

    /// Could it match a tool of this server?
    pub fn may_be_for(&self, server: &str) -> bool {
        self.tool.split_once(TOOL_SEPARATOR).is_none_or(|(of, _)| matches(of, &in_path(server)))
    }

    /// The contradiction in it, if any.
    pub fn fault(&self) -> Option<&'static str> {
        let edits = self.hide
            || self.rename.is_some()
            || self.description.is_some()
            || !self.annotations.is_empty()
            || self.category.is_some();
        (self.client.is_some() && edits)
            .then_some("a rule with \"client\" may have no other key than \"permit\"")
    }
}

/// The permissions of tools that no rule matches, by their effect: the block `toolDefaults`. Without a value, reading
/// and writing are allowed, and dangerous tools ask a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Defaults {
    /// Read-only tools.
    #[serde(default)]
    pub reads: Option<Permit>,
    /// Tools that add or change.
    #[serde(default)]
    pub writes: Option<Permit>,
    /// Those of them that their server declares destructive; without a value, treated like the others.
    #[serde(default)]
    pub destructive: Option<Permit>,
    /// Tools that may delete.
    #[serde(default)]
    pub deletes: Option<Permit>,
    /// Tools of unknown effect.
    #[serde(default)]
    pub unstated: Option<Permit>,
}

impl Defaults {
    /// Does any of them switch tools off?
    pub fn hides(&self) -> bool {
        [self.reads, self.writes, self.destructive, self.deletes, self.unstated].contains(&Some(Permit::Off))
    }
}

/// Glob matching: `*` matches anything, `?` one character.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    // Position of the last star, and how much it matches so far.
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

/// Patterns whose combined length exceeds this are assumed to overlap.
const COMPARED: usize = 4_096;

/// Is there a text that matches both patterns?
fn overlap(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len() + other.len() > COMPARED {
        return true;
    }
    // Positions in the other pattern that are reachable after reading this much of the first.
    let mut reached = vec![false; other.len() + 1];
    reached[0] = true;
    for at in 0..=one.len() {
        let mut next = vec![false; other.len() + 1];
        for place in 0..=other.len() {
            if !reached[place] {
                continue;
            }
            let (ours, theirs) = (one.get(at), other.get(place));
            // A star matches nothing, or whatever the other pattern has next.
            if theirs == Some(&'*') || ours == Some(&'*') && theirs.is_some() {
                reached[place + 1] = true;
            }
            if ours == Some(&'*') || ours.is_some() && theirs == Some(&'*') {
                next[place] = true;
            }
            let both = ours.zip(theirs);
            if both.is_some_and(|(a, b)| a == b || *a == '?' && *b != '*' || *b == '?' && *a != '*') {
                next[place + 1] = true;
            }
        }
        if at == one.len() {
            return reached[other.len()];
        }
        reached = next;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_patterns_overlap_where_a_text_fits_both() {
        for (one, other, overlaps) in [
            ("git:push", "git:push", true),
            ("git:push", "git:pull", false),
            ("git:*", "git:push", true),
            ("git:pu*", "git:*sh", true),
            ("a*", "*b", true),
            ("a*", "b*", false),
            ("*", "", true),
            ("?", "", false),
            ("a:?", "a:bc", false),
            ("a:??", "a:b*", true),
            ("*:delete_*", "github:*", true),
            ("*x", "*y", false),
            ("**", "?", true),
        ] {
            assert_eq!(overlap(one, other), overlaps, "{one} {other}");
            assert_eq!(overlap(other, one), overlaps, "{other} {one}");
        }
        assert!(overlap(&"a".repeat(COMPARED), "b"));
    }

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
    fn a_rule_is_not_for_what_it_excepts() {
        let rule: ToolRule = serde_json::from_str(
            r#"{"tool": "git:*", "except": ["git:log", "git:show_*"], "permit": "off"}"#,
        )
        .unwrap();
        for (path, meant) in [
            ("git:push", true),
            ("git:log", false),
            ("git:show_file", false),
            ("git:logs", true),
            ("x:log", false),
        ] {
            assert_eq!(rule.is_for(path), meant, "{path}");
        }
        assert!(!rule.is_for_all_of("git"));
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time() {
        assert!(!matches(&"*a".repeat(200), &"a".repeat(199)));
    }
}
