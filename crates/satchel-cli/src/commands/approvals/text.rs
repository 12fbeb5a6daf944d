//! Formats what waits for approval for a terminal.

use satchel_core::model::{
    approvals::{ApprovalItem, Mark, Part, ServerApprovals, SettingsChange, Unseen, Why},
    shell,
};

use super::group::{Group, grouped};
use crate::output::harmless;

/// Number of unchanged characters shown around a change.
const AROUND: usize = 60;
/// Maximum length of each definition in a group.
const OF_EACH: usize = 160;
/// Maximum number of definitions in a group.
const OF_GROUP: usize = 50;

/// Whether groups are shown as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum As {
    Groups,
    Each,
}

pub(super) fn shown(server: &ServerApprovals, by: As) -> String {
    let mut lines = vec![match server.unseen {
        Some(Unseen::New) => format!("{}: new; not reviewed yet", server.server),
        Some(Unseen::Imported) => format!("{}: imported; its list counts as approved", server.server),
        None => format!("{}:", server.server),
    }];
    lines.push(items_shown(&server.server, &server.items, by));
    lines.retain(|line| !line.is_empty());
    let held = server.items.iter().any(|item| item.held.is_some());
    if held || server.unseen.is_some() {
        lines.push(format!("  Approve it with `satchel approve {}`.", shell::word(&server.server)));
    }
    lines.join("\n")
}

/// Groups first, then the others in full.
pub(super) fn items_shown<'a>(
    server: &str,
    items: impl IntoIterator<Item = &'a ApprovalItem>,
    by: As,
) -> String {
    let (groups, single) = match by {
        As::Groups => grouped(items),
        As::Each => (vec![], items.into_iter().collect()),
    };
    let groups = groups.iter().map(|group| group_shown(server, group));
    groups.chain(single.into_iter().map(described)).collect::<Vec<_>>().join("\n")
}

fn group_shown(server: &str, group: &Group<'_>) -> String {
    let mut lines = vec![format!("  {} (held back)", group.title())];
    for item in group.items.iter().take(OF_GROUP) {
        let text = words(&item.diff);
        // Its address is shown already.
        let is_address =
            |line: &str| line.strip_prefix("uri: ").or(line.strip_prefix("uriTemplate: ")).is_some();
        let parts = text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_address(line));
        let parts: Vec<&str> = parts.collect();
        let line = format!("{} · {}", harmless(&item.name), parts.join(" · "));
        lines.push(format!("    {}", cut(&line, OF_EACH)));
    }
    let more = group.items.len().saturating_sub(OF_GROUP);
    if more > 0 {
        lines.push(format!("    and {more} more"));
    }
    let server = shell::word(server);
    lines.push(format!("    `satchel approve {server} --resources` approves these, and `satchel approvals {server} --each` shows each in full."));
    lines.join("\n")
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

pub(super) fn settings_shown(change: &SettingsChange) -> String {
    let mut lines = vec!["settings in the configuration file that nobody has accepted:".to_owned()];
    lines.extend(words(&change.diff).lines().map(|line| format!("    {line}")));
    lines.push("  Accept them with `satchel approve --settings`.".to_owned());
    lines.join("\n")
}

fn described(item: &ApprovalItem) -> String {
    let why = match item.held {
        _ if item.kept => "kept back",
        Some(Why::Changed) => "held back: it changed",
        Some(Why::Added) => "held back: it came later",
        Some(Why::New) => "held back: it is new",
        Some(Why::Alarming) => "held back: its text may deceive a model",
        Some(Why::Lost) => "held back: its approval was lost",
        None => "on offer",
    };
    let mut lines = vec![format!("  {} {} ({why})", item.kind.as_str(), harmless(&item.name))];
    for finding in &item.findings {
        lines.push(format!(
            "    ! {} in {}, at {}: {}",
            finding.about.words(),
            harmless(&finding.place),
            finding.begin,
            harmless(&finding.text).replace('\n', " ")
        ));
    }
    for line in words(&item.diff).lines() {
        lines.push(format!("    {line}"));
    }
    lines.join("\n")
}

/// Additions in `{+…+}`, removals in `[-…-]`, risky passages in `!!…!!`.
fn words(parts: &[Part]) -> String {
    let changed = parts.iter().any(|part| part.mark == Mark::Removed || part.mark == Mark::Same);
    let mut text = String::new();
    for part in parts {
        let plain = harmless(&part.text);
        let marked = if part.risky { format!("!!{plain}!!") } else { plain };
        text.push_str(&match part.mark {
            Mark::Same if !part.risky => shortened(&marked),
            Mark::Same => marked,
            Mark::Removed => format!("[-{marked}-]"),
            Mark::Added if changed => format!("{{+{marked}+}}"),
            Mark::Added => marked,
        });
    }
    text
}

fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= 2 * AROUND + 5 {
        return text.to_owned();
    }
    let begin: String = text.chars().take(AROUND).collect();
    let end: String = text.chars().skip(count - AROUND).collect();
    format!("{begin} … {end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_word_by_word_with_what_is_risky_marked() {
        let part = |mark, risky, text: &str| Part { mark, risky, text: text.into() };
        let parts = [
            part(Mark::Same, false, &"long ".repeat(60)),
            part(Mark::Removed, false, "old "),
            part(Mark::Added, false, "new "),
            part(Mark::Added, true, "do not tell the user"),
        ];
        let shown = words(&parts);
        assert!(shown.ends_with("[-old -]{+new +}{+!!do not tell the user!!+}"), "{shown}");
        assert!(shown.contains(" … ") && shown.len() < 250, "{shown}");
        assert_eq!(words(&[part(Mark::Added, false, "all of it")]), "all of it");
    }
}
