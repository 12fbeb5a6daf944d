//! Everything that this program prints, in one place: a [`Lines`] for people, JSON for programs. Decides nothing.
//!
//! JSON has its own way out: there what would hide is an escape. Style that we add is typed too: clap's for its help, the
//! log's for levels. It never comes out of a text.

use std::{
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use satchel_core::model::{ServerView, characters, hidden, shell};
use satchel_mcp::exact;
use serde::Serialize;

pub(crate) use crate::lines::{Lines, one_line, shortened, table};
use crate::lines::{one_shown, shown};

/// Maximum width of a state; `satchel doctor` shows all of it.
const STATE_WIDTH: usize = 72;

/// A number with its noun: `1 process`, `2 processes`.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Set if output could not be written. Global like standard output itself, so that commands need not pass it along.
static UNWRITTEN: AtomicBool = AtomicBool::new(false);

/// Prints a text on standard output. A closed pipe (`satchel tools | head`) is not an error; any other failure makes the
/// command fail, see [`all_written`].
pub(crate) fn say(text: impl Into<Lines>) {
    written(writeln!(io::stdout().lock(), "{}", text.into()));
}

/// Prints a text on standard error.
pub(crate) fn say_aside(text: impl Into<Lines>) {
    // The other side may have closed the pipe.
    let _ = writeln!(io::stderr().lock(), "{}", text.into());
}

/// Asks on standard error, because standard output may be redirected. What is typed stands behind it.
///
/// # Errors
/// If the terminal cannot be written to.
pub(crate) fn prompt(question: &str) -> io::Result<()> {
    let mut shown = io::stderr().lock();
    write!(shown, "{} ", one_shown(question))?;
    shown.flush()
}

/// Asks at the terminal, wherever output goes, for a line that is not seen while it is typed.
///
/// # Errors
/// If there is no terminal, or Ctrl-C was pressed.
pub(crate) fn hidden_answer(question: &str) -> io::Result<String> {
    rpassword::prompt_password(format!("{}: ", one_shown(question)))
}

/// Prints clap's message: help and version on standard output, mistakes on standard error. Its style is clap's own
/// unless `words`, which a mistake repeats, have something to hide.
pub(crate) fn say_usage(told: &clap::Error, words: &[String]) {
    let styled = words.iter().all(|word| shown(word) == *word && !word.contains('\n'));
    match (told.use_stderr(), styled) {
        (true, true) => drop(told.print()),
        (true, false) => say_aside(Lines::block("", &told.render().to_string())),
        (false, _) => written(told.print()),
    }
}

/// Standard error for the log, whose values are each a [`Lines`] already.
pub(crate) fn aside() -> io::Stderr {
    io::stderr()
}

/// Standard error for the log as JSON.
pub(crate) fn json_aside() -> JsonAside {
    JsonAside
}

/// Writes records of JSON, one in each call.
pub(crate) struct JsonAside;

impl Write for JsonAside {
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(escaped(&String::from_utf8_lossy(record)).as_bytes())?;
        Ok(record.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Standard output for the bridge, which writes JSON-RPC there and nothing else.
pub(crate) fn messages() -> tokio::io::Stdout {
    tokio::io::stdout()
}

/// Records whether writing to standard output succeeded.
fn written(outcome: io::Result<()>) {
    match outcome.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            UNWRITTEN.store(true, Ordering::Relaxed);
            say_aside(format!("satchel: cannot write to standard output: {error}"));
        }
        _ => {}
    }
}

/// Was all output written, or the pipe closed by its reader?
pub(crate) fn all_written() -> bool {
    !UNWRITTEN.load(Ordering::Relaxed)
}

/// Prints JSON like [`say_json`], preserving every digit.
pub(crate) fn say_json_text(json: &str) {
    let text = match io::stdout().is_terminal() {
        true => exact::pretty(json),
        false => exact::compact(json),
    };
    written(writeln!(io::stdout().lock(), "{}", escaped(&text)));
}

/// Prints a value as JSON: one line for programs, indented on a terminal.
pub(crate) fn say_json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = match io::stdout().is_terminal() {
        true => serde_json::to_string_pretty(value)?,
        false => serde_json::to_string(value)?,
    };
    written(writeln!(io::stdout().lock(), "{}", escaped(&text)));
    Ok(())
}

/// Prints a value as JSON on standard error, on one line.
pub(crate) fn say_json_aside(value: &serde_json::Value) {
    let _ = writeln!(io::stderr().lock(), "{}", escaped(&value.to_string()));
}

/// The same JSON, in which hidden characters are escapes. They occur in strings only.
fn escaped(json: &str) -> String {
    let (mut text, mut copied) = (String::with_capacity(json.len()), 0);
    for range in hidden::unseen(json) {
        text.push_str(&json[copied..range.start]);
        for unit in json[range.clone()].encode_utf16() {
            text.push_str(&format!("\\u{unit:04x}"));
        }
        copied = range.end;
    }
    text + &json[copied..]
}

/// A server's state, short enough for a table.
pub(crate) fn state(server: &ServerView, now_ms: u64) -> String {
    shortened(&server.sentence(now_ms), STATE_WIDTH)
}

/// The troubles of servers in full sentences, with what to do; empty if there are none.
pub(crate) fn troubles(servers: &[ServerView], now_ms: u64) -> Lines {
    let troubled = servers.iter().filter(|server| server.is_troubled());
    troubled
        .flat_map(|server| {
            let action = server.action();
            let dismiss = match server.last_failure {
                Some(_) => format!(" `satchel dismiss {}` hides this.", shell::word(&server.name)),
                None => String::new(),
            };
            let sentence = one_line(&server.sentence(now_ms));
            [format!("! {}: {sentence}", characters::spelled(&server.name)), format!("  {action}{dismiss}")]
        })
        .collect()
}

/// The tools of servers that were left out, with the reasons; empty if there are none.
pub(crate) fn left_out<'a>(servers: impl IntoIterator<Item = &'a ServerView>) -> Lines {
    let skipped = servers.into_iter().flat_map(|server| server.skipped.iter().map(move |why| (server, why)));
    skipped.map(|(server, why)| format!("Left out of {}: {}", server.name, one_line(why))).collect()
}

/// A count, or a dash if unknown.
pub(crate) fn count(number: Option<usize>) -> String {
    number.map_or_else(|| "–".into(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::tests::STRANGE;

    #[test]
    fn json_keeps_its_value_and_shows_what_hides() {
        for strange in STRANGE {
            let json = serde_json::json!({ *strange: strange }).to_string();
            let printed = escaped(&json);
            assert!(hidden::unseen(&printed).is_empty(), "{printed:?}");
            let value: serde_json::Value = serde_json::from_str(&printed).unwrap();
            assert_eq!(value, serde_json::from_str::<serde_json::Value>(&json).unwrap());
        }
    }
}
