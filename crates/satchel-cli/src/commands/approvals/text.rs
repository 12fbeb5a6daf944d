//! Formats what waits for approval for a terminal.

use satchel_core::model::{
    approvals::{ApprovalItem, InForce, Kind, Mark, Part, ServerApprovals, SettingsChange, Unseen, Why},
    shell,
};

use super::group::{Group, grouped};
use crate::output::{Lines, one_line};

/// Number of unchanged characters shown around a change.
const AROUND: usize = 60;
/// Maximum length of each definition in a group.
const OF_EACH: usize = 160;
/// Maximum number of lines of variables and headers.
const REST: usize = 20;
/// Maximum number of definitions in a group.
const OF_GROUP: usize = 50;

/// Whether what decides nothing may be folded if it is long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    Folded,
    Whole,
}

/// Whether passages that stay as they are may be shortened around what changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unchanged {
    Shortened,
    Whole,
}

/// What runs, where it goes and what it may reach is read as a whole before a yes.
fn unchanged(kind: Kind) -> Unchanged {
    match kind {
        Kind::Launch | Kind::Package | Kind::Secret => Unchanged::Whole,
        Kind::Tool
        | Kind::Prompt
        | Kind::Resource
        | Kind::Template
        | Kind::Skill
        | Kind::Introduction
        | Kind::Instructions
        | Kind::Beside => Unchanged::Shortened,
    }
}

/// Whether groups are shown as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum As {
    Groups,
    Each,
}

pub(super) fn shown(server: &ServerApprovals, by: As, rest: Rest) -> Lines {
    let mut lines = Lines::line(match server.unseen {
        Some(Unseen::New) => format!("{}: new; not reviewed yet", server.server),
        Some(Unseen::Imported) => format!("{}: imported; its list counts as approved", server.server),
        None => format!("{}:", server.server),
    });
    lines.push(items_shown(&server.server, &server.items, by, rest));
    let held = server.items.iter().any(|item| item.held.is_some());
    if held || server.unseen.is_some() {
        lines.push(format!("  Approve it with `satchel approve {}`.", shell::word(&server.server)));
    }
    lines
}

/// Groups first, then the others in full.
pub(super) fn items_shown<'a>(
    server: &str,
    items: impl IntoIterator<Item = &'a ApprovalItem>,
    by: As,
    rest: Rest,
) -> Lines {
    let (groups, single) = match by {
        As::Groups => grouped(items),
        As::Each => (vec![], items.into_iter().collect()),
    };
    let groups = groups.iter().map(|group| group_shown(server, group));
    groups.chain(single.into_iter().map(|item| described(server, item, rest))).collect()
}

fn group_shown(server: &str, group: &Group<'_>) -> Lines {
    let mut lines = Lines::line(format!("  {} (held back)", group.title()));
    for item in group.items.iter().take(OF_GROUP) {
        let text = words(&item.diff, Unchanged::Shortened);
        // Its address is shown already.
        let is_address =
            |line: &str| line.strip_prefix("uri: ").or(line.strip_prefix("uriTemplate: ")).is_some();
        let parts = text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_address(line));
        let parts: Vec<&str> = parts.collect();
        let line = format!("{} · {}", item.name, parts.join(" · "));
        lines.push(format!("    {}", cut(&line, OF_EACH)));
    }
    let more = group.items.len().saturating_sub(OF_GROUP);
    if more > 0 {
        lines.push(format!("    and {more} more"));
    }
    let server = shell::word(server);
    lines.push(format!("    `satchel approve {server} --resources` approves these, and `satchel approvals {server} --each` shows each in full."));
    lines
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} … ({} characters more)", &text[..end], text[end..].chars().count()),
        None => text.to_owned(),
    }
}

pub(super) fn settings_shown(change: &SettingsChange) -> Lines {
    Lines::from("settings in the configuration file that nobody has accepted:")
        .and(Lines::block("    ", &words(&change.diff, Unchanged::Shortened)))
        .and("  Accept them with `satchel approve --settings`.")
}

fn described(server: &str, item: &ApprovalItem, rest: Rest) -> Lines {
    let why = match item.held {
        _ if item.kept => "kept back",
        Some(Why::Changed) => "held back: it changed",
        Some(Why::Added) => "held back: it came later",
        Some(Why::New) => "held back: it is new",
        Some(Why::Alarming) => "held back: its text may deceive a model",
        Some(Why::Lost) => "held back: its approval was lost",
        None => "on offer",
    };
    let mut lines = Lines::line(format!("  {} {} ({why})", item.kind.as_str(), item.name));
    match item.in_force.filter(|_| !item.kept) {
        Some(InForce::Before) => lines.push("    clients go on with what was there before"),
        Some(InForce::Varies) => {
            lines.push("    it changes all the time; --keep keeps what was there before for good");
        }
        None => {}
    }
    for finding in &item.findings {
        lines.push(format!(
            "    ! {} in {}, at {}: {}",
            finding.about.words(),
            finding.place,
            finding.begin,
            one_line(&finding.text)
        ));
    }
    let all = format!("`satchel approvals {}`", shell::word(server));
    lines.and(diff_shown(&item.diff, item.folds_from, unchanged(item.kind), rest, &all).indented("    "))
}

/// What decides, never cut; below it the rest, of which it is said how much is folded and where `all` of it is shown.
pub(crate) fn diff_shown(
    parts: &[Part],
    folds_from: Option<usize>,
    unchanged: Unchanged,
    rest: Rest,
    all: &str,
) -> Lines {
    let (first, others) = parts.split_at(folds_from.unwrap_or(parts.len()).min(parts.len()));
    let others = Lines::block("", words(others, unchanged).trim_start_matches('\n'));
    let (mut others, more) = match rest {
        Rest::Folded => others.folded(REST),
        Rest::Whole => (others, 0),
    };
    if more > 0 {
        others.push(format!("… {more} more lines of variables and headers; {all} shows them"));
    }
    Lines::block("", &words(first, unchanged)).and(others)
}

/// Additions in `{+…+}`, removals in `[-…-]`, risky passages in `!!…!!`.
fn words(parts: &[Part], unchanged: Unchanged) -> String {
    let changed = parts.iter().any(|part| part.mark == Mark::Removed || part.mark == Mark::Same);
    let mut text = String::new();
    for part in parts {
        let plain = &part.text;
        let marked = if part.risky { format!("!!{plain}!!") } else { plain.clone() };
        text.push_str(&match part.mark {
            Mark::Same if !part.risky && unchanged == Unchanged::Shortened => shortened(&marked),
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
        let shown = words(&parts, Unchanged::Shortened);
        assert!(shown.ends_with("[-old -]{+new +}{+!!do not tell the user!!+}"), "{shown}");
        assert!(shown.contains(" … ") && shown.len() < 250, "{shown}");
        assert_eq!(words(&[part(Mark::Added, false, "all of it")], Unchanged::Shortened), "all of it");
        let whole = words(&parts, unchanged(Kind::Launch));
        assert!(whole.starts_with(&"long ".repeat(60)), "what runs is shown whole: {whole}");
    }

    #[test]
    fn what_decides_is_never_cut_and_the_rest_folds_below_it() {
        let part = |text: String| Part { mark: Mark::Added, risky: false, text };
        let lines =
            |what: &str, count: usize| -> String { (0..count).map(|at| format!("\n{what} {at}")).collect() };
        let parts = [part(format!("runs: sh{}", lines("arg", 300))), part(lines("env", 50))];
        let shown = |rest| diff_shown(&parts, Some(1), Unchanged::Whole, rest, "`x`").to_string();
        let folded = shown(Rest::Folded);
        assert!(folded.contains("arg 299\nenv 0\n"), "{folded}");
        assert!(
            folded.ends_with("env 19\n… 30 more lines of variables and headers; `x` shows them"),
            "{folded}"
        );
        assert!(shown(Rest::Whole).ends_with("env 48\nenv 49"));
    }
}
