//! Rules over tools as the configuration has them: which tools they match, and what they do.

use satchel_mcp::{Raw, object::all_fields};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::model::{
    ServerName,
    name::{TOOL_SEPARATOR, in_path},
    nature::{AskedIn, Permit},
};

/// The keys of a rule.
const KEYS: [&str; 10] = [
    "tool",
    "except",
    "hide",
    "rename",
    "description",
    "annotations",
    "category",
    "client",
    "permit",
    "consent",
];

/// A rule for the tools that match `tool`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// Only for clients whose name matches, with `*` and `?` as in `tool`. Such a rule can only set `permit` and `consent`.
    #[serde(default)]
    pub client: Option<String>,
    /// The permission.
    #[serde(default)]
    pub permit: Option<Permit>,
    /// Where a person is asked, if the call needs one.
    #[serde(default)]
    pub consent: Option<AskedIn>,
    /// It stands in for a rule that is invalid. Such a rule only restricts: what it matches is permitted at most as much
    /// as the rules before it permit.
    #[serde(skip)]
    pub invalid: bool,
}

/// A key of an object that may be invalid.
enum Written<T> {
    Absent,
    Read(T),
    Unreadable,
}

fn written<T: DeserializeOwned>(fields: &[(String, &Raw)], key: &str) -> Written<T> {
    let mut all = fields.iter().filter(|(name, _)| name == key).map(|(_, value)| value.get());
    match (all.next(), all.next()) {
        (None, _) => Written::Absent,
        (Some(value), None) => serde_json::from_str(value).map_or(Written::Unreadable, Written::Read),
        // Which of the two counts is anybody's guess.
        (Some(_), Some(_)) => Written::Unreadable,
    }
}

impl ToolRule {
    /// The rule that stands in for an invalid one. It applies to every tool and client that the invalid one could be
    /// for. It switches tools off if the invalid rule names them and could have done that; otherwise, it asks.
    pub(super) fn in_place_of(rule: &Raw) -> Self {
        let fields = all_fields(rule.get()).unwrap_or_default();
        let (tool, is_named) = match written(&fields, "tool") {
            Written::Read(tool) => (tool, true),
            Written::Absent | Written::Unreadable => ("*".to_owned(), false),
        };
        let client = match written::<Option<String>>(&fields, "client") {
            Written::Read(client) => client,
            Written::Absent | Written::Unreadable => None,
        };
        let except = match written(&fields, "except") {
            Written::Read(except) => except,
            Written::Absent | Written::Unreadable => Vec::new(),
        };
        let hides = !matches!(written(&fields, "hide"), Written::Absent | Written::Read(false));
        let could_be_off = match written::<Option<Permit>>(&fields, "permit") {
            Written::Read(Some(permit)) => permit == Permit::Off,
            Written::Unreadable => true,
            // A key that is misspelled may be this one.
            Written::Absent | Written::Read(None) => {
                fields.iter().any(|(key, _)| !KEYS.contains(&key.as_str()))
            }
        };
        let permit = if is_named && (hides || could_be_off) { Permit::Off } else { Permit::Ask };
        // Only a person whom Satchel asks itself can allow what it could be about.
        let consent = Some(AskedIn::Window);
        Self { tool, except, client, permit: Some(permit), consent, invalid: true, ..Self::default() }
    }

    /// The rule that stands in for a list of rules that is none: every call asks.
    pub(super) fn in_place_of_all() -> Self {
        Self { tool: "*".to_owned(), permit: Some(Permit::Ask), invalid: true, ..Self::default() }
    }

    /// Does it match the tool of this path?
    pub fn is_for(&self, path: &str) -> bool {
        let fits =
            |path: &str| matches(&self.tool, path) && !self.except.iter().any(|except| matches(except, path));
        let restricts = self.hide || matches!(self.permit, Some(Permit::Off | Permit::Ask));
        fits(path) || (restricts && behind_separators(path).is_some_and(|path| fits(&path)))
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
            .then_some("a rule with \"client\" may have no other key than \"permit\" and \"consent\"")
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
    /// Where a person is asked. Without a value: in the client if it can, except for tools that delete or run something,
    /// as long as the client is not known to be able to.
    #[serde(default)]
    pub consent: Option<AskedIn>,
}

impl Defaults {
    /// The defaults that stand in for invalid ones: what cannot be read is off, and if a key is unknown, what is not set
    /// asks.
    pub(super) fn in_place_of(defaults: &Raw) -> Self {
        let fields = all_fields(defaults.get());
        let known = ["reads", "writes", "destructive", "deletes", "unstated"];
        let every = [&known[..], &["consent"]].concat();
        let is_unknown =
            |fields: &Vec<(String, &Raw)>| fields.iter().any(|(key, _)| !every.contains(&key.as_str()));
        let unset = fields.as_ref().map_or(true, is_unknown).then_some(Permit::Ask);
        let fields = fields.unwrap_or_default();
        let one = |key| match written(&fields, key) {
            Written::Read(permit) => Option::or(permit, unset),
            Written::Absent => unset,
            Written::Unreadable => Some(Permit::Off),
        };
        let [reads, writes, destructive, deletes, unstated] = known.map(one);
        let consent = match written(&fields, "consent") {
            Written::Read(consent) => consent,
            Written::Absent => None,
            Written::Unreadable => Some(AskedIn::Window),
        };
        Self { reads, writes, destructive, deletes, unstated, consent }
    }

    /// Does any of them switch tools off?
    pub fn hides(&self) -> bool {
        [self.reads, self.writes, self.destructive, self.deletes, self.unstated].contains(&Some(Permit::Off))
    }
}

/// The path of a tool that has separators in its name, as if what stands behind the last were its whole name: no server
/// evades a restriction by a prefix.
fn behind_separators(path: &str) -> Option<String> {
    let (server, tool) = path.split_once(TOOL_SEPARATOR)?;
    let (_, last) = tool.rsplit_once(TOOL_SEPARATOR)?;
    Some(format!("{server}{TOOL_SEPARATOR}{last}"))
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
    fn a_prefix_in_a_tools_name_evades_no_restriction() {
        let rule = |permit: &str| -> ToolRule {
            serde_json::from_value(serde_json::json!({ "tool": "a:delete_*", "permit": permit })).unwrap()
        };
        for permit in ["off", "ask"] {
            assert!(rule(permit).is_for("a:x:delete_q") && rule(permit).is_for("a:delete_q"));
            assert!(!rule(permit).is_for("a:x:get_q") && !rule(permit).is_for("b:a:delete_q"));
        }
        assert!(!rule("allow").is_for("a:x:delete_q"));
    }

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
    fn a_rule_does_not_apply_to_its_exceptions() {
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

    fn raw(text: &str) -> Box<Raw> {
        Raw::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn an_invalid_rule_restricts_everything_that_it_could_be_for() {
        use Permit::{Ask, Off};
        for (rule, tool, client, permit) in [
            (r#"{"tool": "git:*", "permit": "deny"}"#, "git:*", None, Off),
            (r#"{"tool": "git:*", "permit": 5, "client": "zed"}"#, "git:*", Some("zed"), Off),
            (r#"{"tool": "git:*", "permit": "off", "comment": "x"}"#, "git:*", None, Off),
            (r#"{"tool": "git:*", "permitt": "off"}"#, "git:*", None, Off),
            (r#"{"tool": "git:*", "hide": "yes"}"#, "git:*", None, Off),
            (r#"{"tool": "git:*", "hide": true, "client": "zed"}"#, "git:*", Some("zed"), Off),
            (r#"{"tool": "git:*", "permit": "ask", "client": 7}"#, "git:*", None, Ask),
            (r#"{"tool": "git:*", "permit": "allow", "comment": "x"}"#, "git:*", None, Ask),
            (r#"{"tool": "git:*", "rename": 5}"#, "git:*", None, Ask),
            (r#"{"tool": "git:*", "hide": false, "rename": 5}"#, "git:*", None, Ask),
            (r#"{"tools": "git:*", "permit": "off"}"#, "*", None, Ask),
            (r#"{"tool": ["git:*"], "permit": "off"}"#, "*", None, Ask),
            (r#"{"tool": "a:*", "tool": "b:*", "permit": "off"}"#, "*", None, Ask),
            (r#"{"tool": "a:*", "permit": "allow", "permit": "allow"}"#, "a:*", None, Off),
            (r#""git:* off""#, "*", None, Ask),
            ("null", "*", None, Ask),
        ] {
            assert!(
                serde_json::from_str::<ToolRule>(rule).map_or(true, |rule| rule.fault().is_some()),
                "{rule}"
            );
            let stand_in = ToolRule::in_place_of(&raw(rule));
            assert_eq!(
                (stand_in.tool.as_str(), stand_in.client.as_deref(), stand_in.permit, stand_in.invalid),
                (tool, client, Some(permit), true),
                "{rule}"
            );
        }
        let except = |rule: &str| ToolRule::in_place_of(&raw(rule)).except;
        assert_eq!(except(r#"{"tool": "*", "except": ["a:b"], "permit": "no"}"#), ["a:b"]);
        assert!(except(r#"{"tool": "*", "except": ["a:b", 7]}"#).is_empty());
        // Every key of a rule is known here.
        let Value::Object(fields) = serde_json::to_value(ToolRule::default()).unwrap() else { panic!() };
        assert!(fields.keys().all(|key| KEYS.contains(&key.as_str())) && fields.len() == KEYS.len());
    }

    #[test]
    fn invalid_defaults_restrict_every_tool_they_could_apply_to() {
        use Permit::{Allow, Ask, Off};
        let read = |text: &str| {
            let Defaults { reads, writes, destructive, deletes, unstated, consent: _ } =
                Defaults::in_place_of(&raw(text));
            [reads, writes, destructive, deletes, unstated]
        };
        assert_eq!(
            read(r#"{"reads": "allow", "deletes": "never"}"#),
            [Some(Allow), None, None, Some(Off), None]
        );
        assert_eq!(
            read(r#"{"writes": "off", "delets": "off"}"#),
            [Some(Ask), Some(Off), Some(Ask), Some(Ask), Some(Ask)]
        );
        assert_eq!(read("7"), [Some(Ask); 5]);
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time() {
        assert!(!matches(&"*a".repeat(200), &"a".repeat(199)));
    }
}
