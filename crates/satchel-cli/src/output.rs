//! Prints answers: aligned columns for people, JSON for programs. Decides nothing.

use std::{
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use satchel_core::model::{ServerView, shell};
use satchel_mcp::exact;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

/// Maximum width of a state; `satchel doctor` shows all of it.
const STATE_WIDTH: usize = 72;

/// A number with its noun: `1 process`, `2 processes`.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Set if output could not be written. Global like standard output itself, so that commands need not pass it along.
static UNWRITTEN: AtomicBool = AtomicBool::new(false);

/// Prints text and a line end. A closed pipe (`satchel tools | head`) is not an error; any other failure makes the
/// command fail, see [`all_written`].
pub(crate) fn say(text: impl AsRef<str>) {
    written(writeln!(io::stdout().lock(), "{}", text.as_ref()));
}

/// Records whether writing to standard output succeeded.
pub(crate) fn written(outcome: io::Result<()>) {
    match outcome.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            UNWRITTEN.store(true, Ordering::Relaxed);
            say_aside(&format!("satchel: cannot write to standard output: {error}"));
        }
        _ => {}
    }
}

/// Was all output written, or the pipe closed by its reader?
pub(crate) fn all_written() -> bool {
    !UNWRITTEN.load(Ordering::Relaxed)
}

/// Prints text on standard error.
pub(crate) fn say_aside(text: &str) {
    // The other side may have closed the pipe.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints JSON like [`say_json`], preserving every digit.
pub(crate) fn say_json_text(json: &str) {
    say(match io::stdout().is_terminal() {
        true => exact::pretty(json),
        false => exact::compact(json),
    });
}

/// Prints a value as JSON: one line for programs, indented on a terminal.
pub(crate) fn say_json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = match io::stdout().is_terminal() {
        true => serde_json::to_string_pretty(value)?,
        false => serde_json::to_string(value)?,
    };
    say(text);
    Ok(())
}

/// Prints foreign text. On a terminal, it may not move the cursor or change settings.
pub(crate) fn say_foreign(text: &str) {
    match io::stdout().is_terminal() {
        true => say(harmless(text)),
        false => say(text),
    }
}

/// Makes control characters visible, except line ends and tabs.
pub(crate) fn harmless(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

/// Aligned columns with headings; the last column is not padded.
pub(crate) fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let clean: Vec<[String; N]> = rows.iter().map(|row| row.each_ref().map(|cell| one_line(cell))).collect();
    let mut widths = headings.map(UnicodeWidthStr::width);
    for row in &clean {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let mut lines = vec![line(&headings.map(str::to_owned), &widths)];
    lines.extend(clean.iter().map(|row| line(row, &widths)));
    lines.join("\n")
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

/// The text on one line, for a table.
pub(crate) fn one_line(text: &str) -> String {
    harmless(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text on one line, cut to `width` characters.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// A server's state, short enough for a table.
pub(crate) fn state(server: &ServerView, now_ms: u64) -> String {
    shortened(&server.sentence(now_ms), STATE_WIDTH)
}

/// The troubles of servers in full sentences, with what to do; `None` if there are none.
pub(crate) fn troubles(servers: &[ServerView], now_ms: u64) -> Option<String> {
    let lines: Vec<String> = servers
        .iter()
        .filter(|server| server.is_troubled())
        .map(|server| {
            let action = server.action();
            let dismiss = match server.last_failure {
                Some(_) => format!(" `satchel dismiss {}` hides this.", shell::word(&server.name)),
                None => String::new(),
            };
            format!("! {}: {}\n  {action}{dismiss}", server.name, one_line(&server.sentence(now_ms)))
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The tools of servers that were left out, with the reasons; `None` if there are none.
pub(crate) fn left_out<'a>(servers: impl IntoIterator<Item = &'a ServerView>) -> Option<String> {
    let lines: Vec<String> = servers
        .into_iter()
        .flat_map(|server| server.skipped.iter().map(move |why| (server, why)))
        .map(|(server, why)| format!("Left out of {}: {}", server.name, one_line(why)))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A count, or a dash if unknown.
pub(crate) fn count(number: Option<usize>) -> String {
    number.map_or_else(|| "–".into(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_displayed_width() {
        let rows = [
            ["toolbox".to_owned(), "Asleep".to_owned(), "8".to_owned()],
            ["日本".to_owned(), "Running · sleeps in 2:14".to_owned(), count(None)],
            ["x".to_owned(), String::new(), String::new()],
        ];
        let expected = "\
NAME     STATE                     TOOLS
toolbox  Asleep                    8
日本     Running · sleeps in 2:14  –
x";
        assert_eq!(table(["NAME", "STATE", "TOOLS"], &rows), expected);
    }

    #[test]
    fn foreign_text_cannot_steer_the_terminal_or_break_a_row() {
        assert_eq!(harmless("a\x1b[31mb\u{7}\r\nc\td\u{9b}"), "a\u{fffd}[31mb\u{fffd}\nc\td\u{fffd}");
        assert_eq!(one_line("two\nlines \x1b]0;x"), "two lines \u{fffd}]0;x");
    }
}
