//! Texts as they are printed: lines in which nothing can hide, and tables of them. Prints nothing.
//!
//! Whatever is made into a [`Lines`] has its control characters, terminal sequences and invisible characters written out.
//! Only this program begins a line; a line end within a value is shown as [`LINE_END`]. So no value can repaint the terminal,
//! overwrite a line or pretend to be the next one, and callers need not know where a value comes from.

use std::{borrow::Cow, fmt};

use satchel_core::model::hidden;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A line end within a value.
const LINE_END: &str = " ⏎ ";
/// Longer runs of blanks are counted instead of shown: they would push what follows to the next line of the terminal.
const BLANKS: usize = 24;
/// Maximum number of marks on one letter. More would cover the lines around it.
const MARKS: usize = 4;

/// Lines as they are printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lines(Vec<String>);

impl Lines {
    /// One line.
    pub(crate) fn line(text: impl AsRef<str>) -> Self {
        Self(vec![one_shown(text.as_ref())])
    }

    /// A value of several lines, each behind this indentation.
    pub(crate) fn block(indent: &'static str, text: &str) -> Self {
        let text = text.replace("\r\n", "\n");
        Self(text.lines().map(|line| format!("{indent}{}", shown(line))).collect())
    }

    /// Parts with an empty line between them.
    pub(crate) fn paragraphs(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        for part in parts.into_iter().filter(|part| !part.0.is_empty()) {
            if !all.0.is_empty() {
                all.0.push(String::new());
            }
            all.0.extend(part.0);
        }
        all
    }

    /// Appends lines.
    pub(crate) fn push(&mut self, more: impl Into<Self>) {
        self.0.extend(more.into().0);
    }

    /// The same with lines appended.
    #[must_use]
    pub(crate) fn and(mut self, more: impl Into<Self>) -> Self {
        self.push(more);
        self
    }

    /// Each line behind this indentation.
    #[must_use]
    pub(crate) fn indented(self, indent: &'static str) -> Self {
        Self(self.0.into_iter().map(|line| format!("{indent}{line}")).collect())
    }

    /// The first lines, and how many more there are.
    pub(crate) fn folded(mut self, most: usize) -> (Self, usize) {
        let more = self.0.len().saturating_sub(most);
        self.0.truncate(most);
        (self, more)
    }

    /// Is there no line?
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Our own words: their line ends count.
impl From<&'static str> for Lines {
    fn from(text: &'static str) -> Self {
        Self(text.split('\n').map(one_shown).collect())
    }
}

impl From<String> for Lines {
    fn from(text: String) -> Self {
        Self::line(text)
    }
}

impl From<&String> for Lines {
    fn from(text: &String) -> Self {
        Self::line(text)
    }
}

impl<T: Into<Lines>> FromIterator<T> for Lines {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        Self(all.into_iter().flat_map(|one| one.into().0).collect())
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

/// A value on one line.
pub(crate) fn one_shown(text: &str) -> String {
    let ends = text.replace("\r\n", "\n");
    let line: Vec<&str> = ends.trim_end_matches('\n').split('\n').collect();
    shown(&line.join(LINE_END)).into_owned()
}

/// Makes visible what hides in a line: controls, terminal sequences, invisible characters, marks piled up on one letter,
/// long runs of blanks.
pub(crate) fn shown(line: &str) -> Cow<'_, str> {
    let line = hidden::shown(line);
    if !line.chars().any(|c| is_mark(c) || is_blank(c)) {
        return line;
    }
    let (mut shown, mut marks, mut blanks) = (String::with_capacity(line.len()), 0, String::new());
    for c in line.chars() {
        if is_blank(c) {
            blanks.push(c);
            continue;
        }
        shown.push_str(&few(&std::mem::take(&mut blanks)));
        marks = if is_mark(c) { marks + 1 } else { 0 };
        match marks > MARKS {
            true => shown.push_str(&hidden::code_point(c)),
            false => shown.push(c),
        }
    }
    shown.push_str(&few(&blanks));
    Cow::Owned(shown)
}

fn few(blanks: &str) -> Cow<'_, str> {
    match blanks.chars().count() {
        0..=BLANKS => Cow::Borrowed(blanks),
        many => Cow::Owned(format!("⟨{many} blanks⟩")),
    }
}

/// Does it take no place of its own?
fn is_mark(c: char) -> bool {
    !c.is_ascii() && c.width() == Some(0) && !matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// The empty braille pattern is drawn like a blank.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{2800}'
}

/// Aligned columns with headings; the last column is not padded.
pub(crate) fn table<const N: usize>(headings: [&'static str; N], rows: &[[String; N]]) -> Lines {
    let clean: Vec<[String; N]> = rows.iter().map(|row| row.each_ref().map(|cell| cell_of(cell))).collect();
    let mut widths = headings.map(UnicodeWidthStr::width);
    for row in &clean {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let mut lines = vec![line(&headings.map(str::to_owned), &widths)];
    lines.extend(clean.iter().map(|row| line(row, &widths)));
    Lines(lines)
}

/// A value as a cell: blanks and line ends become one blank.
fn cell_of(text: &str) -> String {
    shown(&one_line(text)).into_owned()
}

fn line<const N: usize>(cells: &[String; N], widths: &[usize; N]) -> String {
    let mut line = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        line.push_str(cell);
        line.push_str(&" ".repeat(width - cell.width() + 2));
    }
    line.truncate(line.trim_end().len());
    line
}

/// The text with single blanks, and none for a line end, for a place that has one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text on one line, cut to `width` characters.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_displayed_width() {
        let rows = [
            ["toolbox".to_owned(), "Asleep".to_owned(), "8".to_owned()],
            ["日本".to_owned(), "Running · sleeps in 2:14".to_owned(), "–".to_owned()],
            ["x".to_owned(), String::new(), String::new()],
        ];
        let expected = "\
NAME     STATE                     TOOLS
toolbox  Asleep                    8
日本     Running · sleeps in 2:14  –
x";
        assert_eq!(table(["NAME", "STATE", "TOOLS"], &rows).to_string(), expected);
    }

    /// What strangers write into names, descriptions and values.
    pub(crate) const STRANGE: &[&str] = &[
        "\u{1b}[2J\u{1b}[Hall good\u{1b}[8m",
        "\u{1b}]0;title\u{7}",
        "\u{9b}31m\u{9d}x\u{9c}",
        "good\r  runs  npx good",
        "x\n  runs       npx -y good",
        "x\r\n  runs       npx -y good",
        "x\u{85}y\u{2028}z\u{2029}",
        "\u{8}\u{8}\u{8}\u{7f}",
        "\u{202e}gpj\u{2066}x\u{200b}\u{ad}\u{e0041}\u{3164}\u{feff}",
        "a\u{b}b\u{c}c",
    ];

    #[test]
    fn no_value_steers_the_terminal_hides_or_begins_a_line() {
        for strange in STRANGE {
            for text in [
                Lines::line(format!("needs {strange}")),
                Lines::from(format!("needs {strange}")),
                table(["A", "B"], &[[(*strange).to_owned(), (*strange).to_owned()]]),
                Lines::block("  | ", strange),
                ["a".to_owned(), (*strange).to_owned()].into_iter().collect(),
            ] {
                let printed = text.to_string();
                assert!(hidden::unseen(&printed).is_empty(), "{strange:?}: {printed:?}");
                assert!(!printed.contains("\n  runs"), "{strange:?}: {printed:?}");
            }
        }
        assert_eq!(Lines::line("a\u{1b}[31mb\r\nc").to_string(), "a⟨U+001B⟩[31mb ⏎ c");
        assert_eq!(Lines::block("| ", "a\u{7}\r\n\tb\n").to_string(), "| a⟨U+0007⟩\n| \tb");
        assert_eq!(
            table(["A"], &[["two\nlines \u{1b}]0;x".to_owned()]]).to_string(),
            "A\ntwo lines ⟨U+001B⟩]0;x"
        );
    }

    #[test]
    fn blanks_and_marks_do_not_push_or_cover_other_text() {
        let pushed = Lines::line(format!("name{}runs npx good", " \u{2800}\u{a0}".repeat(40))).to_string();
        assert_eq!(pushed, "name⟨120 blanks⟩runs npx good");
        let piled = Lines::line(format!("a{}b", "\u{301}".repeat(9))).to_string();
        assert_eq!(piled, format!("a{}{}b", "\u{301}".repeat(4), "⟨U+0301⟩".repeat(5)));
        let usual = "  needs      ключ ไม่ क्‍ष á 👩‍👩‍👧 ❤️‍🔥";
        assert_eq!(Lines::line(usual).to_string(), usual);
    }

    #[test]
    fn our_own_line_ends_stay() {
        assert_eq!(Lines::from("one\ntwo").to_string(), "one\ntwo");
        let parts = [Lines::from("one"), Lines::default(), Lines::line("two")];
        assert_eq!(Lines::paragraphs(parts).to_string(), "one\n\ntwo");
        assert_eq!(Lines::from("a\nb\nc").folded(1), (Lines::from("a"), 2));
    }
}
