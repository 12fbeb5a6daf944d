//! Word-by-word difference of two texts, for a person to judge.

use similar::{ChangeTag, TextDiff};

use crate::model::approvals::{Mark, Part};

/// Longer texts are compared line by line, because comparing that many words takes too long.
const WORDS: usize = 20_000;

/// The diff, in order. The unchanged and added parts together are `now`.
pub fn words(before: &str, now: &str) -> Vec<Part> {
    let long = before.split_whitespace().count() + now.split_whitespace().count() > WORDS;
    let diff = match long {
        true => TextDiff::from_lines(before, now),
        false => TextDiff::from_words(before, now),
    };
    let mut parts: Vec<Part> = Vec::new();
    for change in diff.iter_all_changes() {
        let mark = match change.tag() {
            ChangeTag::Equal => Mark::Same,
            ChangeTag::Delete => Mark::Removed,
            ChangeTag::Insert => Mark::Added,
        };
        match parts.last_mut() {
            Some(last) if last.mark == mark => last.text.push_str(change.value()),
            _ => parts.push(Part { mark, risky: false, text: change.value().to_owned() }),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_came_and_went_are_marked() {
        let shown = |before: &str, now: &str| -> String {
            let mark = |part: &Part| match part.mark {
                Mark::Same => part.text.clone(),
                Mark::Removed => format!("[-{}-]", part.text),
                Mark::Added => format!("{{+{}+}}", part.text),
            };
            words(before, now).iter().map(mark).collect()
        };
        assert_eq!(shown("Find issues.", "Find all issues."), "Find {+all +}issues.");
        assert_eq!(shown("a b", "a c"), "a [-b-]{+c+}");
        assert_eq!(shown("", "new"), "{+new+}");
        assert_eq!(shown("same", "same"), "same");
    }
}
