//! Derives our name for a server that another program named, and says why it differs.

use super::Words;
use crate::model::{
    characters::{hides, is_format, is_selector, posing},
    remark::{NameFault, RemarkKind},
};

/// Maximum length in characters; leaves room for a number.
const LONGEST: usize = 240;
/// Maximum length of a quoted name.
const SAID: usize = 60;

/// A valid name, and why it differs from the given one.
pub(super) fn plain(given: &str, words: Words) -> (String, Vec<NameFault>) {
    let mut why = Vec::new();
    let mut name = given.to_owned();
    if words == Words::Described {
        name = last_part(given, &mut why);
    }
    if name.contains(char::is_control) {
        why.push(NameFault::Control);
        name = name.replace(char::is_control, "-");
    }
    name = readable(&name, &mut why);
    if name.trim() != name {
        why.push(NameFault::Blank);
    }
    // Advice quotes names in commands, where this one would say something else.
    let name = match name.trim().strip_prefix('-') {
        Some(rest) => {
            why.push(NameFault::Option);
            rest.trim_start_matches(|c: char| c == '-' || c.is_whitespace())
        }
        None => name.trim(),
    };
    if name.chars().count() > LONGEST {
        why.push(NameFault::Long(LONGEST));
    }
    let name: String = name.chars().take(LONGEST).collect();
    match name.trim_end() {
        "" => {
            why.push(NameFault::Nothing);
            ("server".into(), why)
        }
        name => (name.to_owned(), why),
    }
}

/// The remark on a changed name.
pub(super) fn renamed(given: &str, name: &str, why: Vec<NameFault>) -> Option<RemarkKind> {
    let said: String = given.chars().take(SAID).collect();
    let more = if said.len() < given.len() { "…" } else { "" };
    let given = format!("{}{more}", said.escape_debug());
    (!why.is_empty()).then(|| RemarkKind::Renamed { given, name: name.to_owned(), because: why })
}

/// Descriptions are called `namespace/name`, and their servers `name`. Anything longer is a path.
fn last_part(given: &str, why: &mut Vec<NameFault>) -> String {
    let parts: Vec<&str> = given.split(['/', '\\']).collect();
    let is_part = |part: &&&str| !matches!(part.trim(), "" | "." | "..");
    let usual = parts.len() <= 2 && !given.contains('\\') && parts.iter().all(|part| is_part(&part));
    if !usual {
        why.push(NameFault::Path);
    }
    parts.iter().rfind(is_part).map_or_else(String::new, |part| (*part).to_owned())
}

/// Removes invisible characters, and non-Latin letters that imitate Latin ones: such a name is indistinguishable from
/// another.
fn readable(name: &str, why: &mut Vec<NameFault>) -> String {
    let mut seen = name.to_owned();
    if hides(name) {
        why.push(NameFault::Unseen);
        let blank = |c: char| if c.is_whitespace() || c == '\u{2800}' { ' ' } else { c };
        seen = name.chars().filter(|c| !is_format(*c) && !is_selector(*c)).map(blank).collect();
    }
    let posing = posing(&seen);
    if posing.is_empty() {
        return seen;
    }
    let shown = |c: &char| format!("{c} (U+{:04X})", u32::from(*c));
    let shown: Vec<String> = posing.iter().take(3).map(shown).collect();
    why.push(NameFault::LookAlikes(shown.join(", ")));
    seen.chars().map(|c| if posing.contains(&c) { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: Words, given: &str, name: &str, said: Option<&str>) {
        let (plain, why) = plain(given, words);
        assert_eq!(plain, name, "{given}");
        let said = said.map(|why| format!("the name {given:?} was changed to {name:?} because {why}"));
        assert_eq!(renamed(given, &plain, why).map(|remark| remark.to_string()), said);
    }

    #[test]
    fn a_name_that_was_not_taken_as_it_is_says_why() {
        use Words::{Described, Own, Pasted};
        for usual in ["io.github.user/server", "server"] {
            check(Described, usual, "server", None);
        }
        for path in
            ["io.x/../server", "a/b/server", "a\\server", "../server", "/server", "server/", "server/.."]
        {
            check(Described, path, "server", Some("it is a path"));
        }
        check(Described, "../..", "server", Some("it is a path and no other part of it can be a name"));
        let alike = "it has letters that look like others: і (U+0456)";
        check(Described, "io.x/gіthub", "g-thub", Some(alike));
        check(Pasted, "gіthub", "g-thub", Some(alike));
        check(Pasted, "git\u{200b}hub", "github", Some("it has invisible characters"));
        check(Pasted, "a\nb", "a-b", Some("it has control characters"));
        check(Pasted, " a", "a", Some("it begins or ends with a blank"));
        let option = "it begins as an option of a command does";
        check(Pasted, "--all", "all", Some(option));
        check(Described, "io.x/-- -y", "y", Some(option));
        check(Pasted, "-", "server", Some(&format!("{option} and no other part of it can be a name")));
        for kept in ["@scope/package", "東京天気", "погода", "größe", "погода weather"] {
            check(Pasted, kept, kept, None);
        }
        check(Own, "gіthub", "g-thub", Some(alike));
        check(Own, "❤\u{fe0f} notes", "❤\u{fe0f} notes", None);
        let long = "x".repeat(300);
        let (name, why) = plain(&long, Words::Described);
        assert_eq!(name.len(), LONGEST);
        let said = renamed(&long, &name, why).unwrap().to_string();
        assert!(said.contains(&format!("\"{}…\" was", "x".repeat(SAID))), "{said}");
        assert!(said.ends_with("because it is longer than 240 characters"), "{said}");
    }
}
