//! Inspects texts that models read for what should not be there: hidden characters, instructions, requests for secrets,
//! references to other servers' tools.
//!
//! Decides by fixed patterns and by learned weights over a folded form of the text, so that look-alike letters, spacing
//! and common encodings make no difference. Always the same answer, no network, time linear in the length of the text.
//! It finds what is written like an attack; a text can be harmful without being found, and odd without being harmful.

mod acts;
mod arguments;
mod behaviour;
mod evidence;
mod fold;
mod learned;
mod ordinary;
mod patterns;
mod scan;

use std::{collections::BTreeSet, ops::Range};

use super::{clean, fingerprint::Tree};
use crate::model::approvals::{Finding, Odd};
pub(crate) use fold::label;
use fold::skeleton;

/// Maximum number of findings per definition.
const MOST: usize = 40;
/// Maximum length of a finding's text, in characters.
const WORDS: usize = 160;

/// The context of a definition.
#[derive(Debug)]
pub struct Around<'a> {
    /// Its server.
    pub server: &'a str,
    /// The server's own tools, which its texts may mention.
    pub own: &'a BTreeSet<&'a str>,
    /// All servers.
    pub servers: &'a BTreeSet<&'a str>,
}

/// A suspicious passage, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Passage {
    about: Odd,
    range: Range<usize>,
    /// Is it clearly an attack? Merely unusual passages are only marked.
    plain: bool,
    /// For passages found by weights alone: the excess over the threshold, in hundredths.
    more: Option<u16>,
}

impl Passage {
    fn of(about: Odd, range: Range<usize>) -> Self {
        Self { about, range, plain: about.hides(), more: None }
    }
}

/// Must this be reviewed before it becomes available? Only hidden text and clear attacks count: good servers'
/// definitions contain much that is unusual, and people who have to review that every day stop looking.
pub fn is_alarming(tree: &Tree) -> bool {
    let mut alarming = false;
    tree.texts(&mut |_, text| {
        alarming = alarming || scan::spots(text).iter().any(|spot| spot.plain);
    });
    alarming
}

/// All findings in a definition, in order.
pub fn findings(tree: &Tree, around: &Around<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut stretches = 0;
    tree.texts(&mut |_, text| stretches += learned::stretches(text));
    let wanted = learned::wanted_of(stretches);
    tree.texts(&mut |place, text| {
        if findings.len() >= MOST {
            return;
        }
        let mut spots = scan::spots(text);
        spots.retain(|spot| spot.more.is_none_or(|more| more >= wanted));
        let about_own = |spot: &Passage| {
            let end = text[spot.range.end..].find(['.', '\n']).map_or(text.len(), |end| spot.range.end + end);
            spot.about == Odd::OtherTools && names_own(&text[spot.range.start..end], around.own)
        };
        findings.extend(spots.iter().filter(|spot| !about_own(spot)).map(|spot| finding(spot, place, text)));
    });
    for (place, name, range) in arguments::secrets(tree) {
        let spot = Passage::of(Odd::AsksForSecrets, range);
        findings.push(finding(&spot, &place, &name));
    }
    if let Some(other) = look_alike(tree, around) {
        findings.push(other);
    }
    findings.truncate(MOST);
    findings
}

/// The findings already reported for a server.
#[derive(Debug, Default)]
pub struct Told(BTreeSet<(&'static str, String)>);

impl Told {
    /// Is any of them new? A sentence that a server repeats in each tool is reported once.
    pub fn adds(&mut self, findings: &[Finding]) -> bool {
        let mut new = false;
        for finding in findings {
            new |= self.0.insert((finding.about.words(), finding.text.clone())) || finding.about.hides();
        }
        new
    }
}

/// The suspicious ranges of a displayed text with escaped hidden characters: in bytes, in order, not overlapping.
pub fn risky(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = scan::spots(text).into_iter().map(|spot| spot.range).collect();
    let mut at = 0;
    while let Some(begin) = text[at..].find("⟨U+") {
        let end = text[at + begin..].find('⟩').map_or(text.len(), |end| at + begin + end + '⟩'.len_utf8());
        ranges.push(at + begin..end);
        at = end;
    }
    ranges.sort_by_key(|range| range.start);
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match apart.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

fn finding(spot: &Passage, place: &str, text: &str) -> Finding {
    let chars = |end: usize| text[..end].chars().count();
    let words: String = clean::visible(&text[spot.range.clone()]).chars().take(WORDS).collect();
    Finding {
        about: spot.about,
        place: clean::visible(place),
        begin: chars(spot.range.start),
        end: chars(spot.range.end),
        text: words,
    }
}

/// A server may explain when to use which of its own tools.
fn names_own(text: &str, own: &BTreeSet<&str>) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    text.split(|c: char| !is_word(c)).any(|word| own.contains(word.trim_matches(['.', '-', '/'])))
}

/// A server with a name confusingly similar to another's.
fn look_alike(tree: &Tree, around: &Around<'_>) -> Option<Finding> {
    let Tree::Object(fields) = tree else { return None };
    let (_, Tree::Object(info)) = fields.iter().find(|(key, _)| key == "serverInfo")? else { return None };
    for key in ["name", "title"] {
        let Some((_, Tree::Text(name))) = info.iter().find(|(known, _)| known == key) else { continue };
        let other = around
            .servers
            .iter()
            .find(|other| **other != around.server && *other != name && skeleton(other) == skeleton(name));
        if other.is_some() {
            let spot = Passage::of(Odd::LookAlike, 0..name.len());
            return Some(finding(&spot, &format!("serverInfo.{key}"), name));
        }
    }
    None
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod tests;
