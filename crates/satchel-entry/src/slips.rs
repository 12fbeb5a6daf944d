//! What people write into an entry and mean otherwise: the wrapper of another system, a whole line as command, an address as
//! command, single backslashes, curly quotes. Looks at no files and changes nothing: callers decide.

use crate::launcher::{Launch, Launcher, command_of_windows, program_name, words};

/// What was written instead of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slip {
    /// `cmd /c` or the file extension of a program of Windows, on another system.
    OfWindows,
    /// A program with its arguments.
    WholeLine,
    /// The address of a hosted server.
    Address,
}

/// What an entry means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meant {
    /// A program and its arguments.
    Program {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// An address.
    Address(String),
}

/// What was meant by a command that is none; `None` where it stands as it should. `is_file` says whether the whole text is a
/// program; `windows`, whether programs of Windows run here.
pub fn meant(
    command: &str,
    args: &[String],
    windows: bool,
    is_file: impl Fn(&str) -> bool,
) -> Option<(Meant, Slip)> {
    let text = command.trim();
    if is_address(text) {
        return Some((Meant::Address(text.to_owned()), Slip::Address));
    }
    if !windows && let Some((command, args)) = command_of_windows(text, args) {
        return Some((Meant::Program { command, args }, Slip::OfWindows));
    }
    let (command, more) = whole_line(text, &is_file)?;
    let args = more.into_iter().chain(args.iter().cloned()).collect();
    Some((Meant::Program { command, args }, Slip::WholeLine))
}

/// Is this an address instead of a program?
pub fn is_address(command: &str) -> bool {
    let lower = command.to_ascii_lowercase();
    let rest = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
}

/// Does this begin at a drive of Windows: `C:\x`?
pub fn is_path_of_windows(text: &str) -> bool {
    let mut chars = text.chars();
    let begins = chars.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && chars.next() == Some(':');
    begins && chars.next() == Some('\\')
}

/// The program and the arguments of a text that is no path of a program as a whole. A path may have blanks in it.
fn whole_line(text: &str, is_file: &impl Fn(&str) -> bool) -> Option<(String, Vec<String>)> {
    if !text.contains(char::is_whitespace) || is_file(text) {
        return None;
    }
    let mut words = words(text)?.into_iter();
    let (program, args) = (words.next()?, words.collect::<Vec<_>>());
    let is_path = program.contains(['/', '\\']);
    let is_program = if is_path { is_file(&program) } else { is_plain(&program) };
    (is_program && !args.is_empty()).then_some((program, args))
}

/// A bare name, as programs have.
fn is_plain(program: &str) -> bool {
    program.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && program.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+'))
}

/// The arguments, variables and paths with control characters, by these names: a single backslash before a letter makes a
/// tab or a line end in JSON, as in `"c:\temp\new"`. Code in the command line may have line ends.
pub fn with_control_characters(command: &str, args: &[String], cwd: Option<&str>) -> Vec<String> {
    let odd = |text: &str| text.contains(|c: char| c.is_control());
    let mut found: Vec<String> = [("command", Some(command)), ("cwd", cwd)]
        .into_iter()
        .filter(|(_, text)| text.is_some_and(odd))
        .map(|(name, _)| name.to_owned())
        .collect();
    let launch = Launch::of(command, args);
    let is_code = launch.runs_what_is_written() || launch.launcher == Some(Launcher::Shell);
    let of_code = |at: usize| at > 0 && is_code_flag(&args[at - 1]);
    if !is_code {
        let odd = args.iter().enumerate().filter(|(at, arg)| odd(arg) && !of_code(*at));
        found.extend(odd.map(|(at, _)| format!("args[{at}]")));
    }
    found
}

fn is_code_flag(arg: &str) -> bool {
    matches!(arg, "-c" | "-e" | "-p" | "--eval" | "--print" | "-Command")
}

/// What spoils the text of a configuration so that it cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoilt {
    /// A single backslash in a string.
    Backslash,
    /// A quotation mark of a text processor.
    CurlyQuote,
}

impl Spoilt {
    /// What to write instead.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Backslash => {
                "a backslash has to be written twice in a string: write \\\\ for each \\, as in \"C:\\\\Users\\\\me\""
            }
            Self::CurlyQuote => {
                "it has curly quotes, as text processors write them; write straight quotes (\") instead"
            }
        }
    }

    /// Why this text cannot be read, where it has one of these up to `offset`, where a parser stopped, or on the line there.
    pub fn of(text: &str, offset: usize) -> Option<Self> {
        let offset = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at))?;
        let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
        let line = &text[start..end];
        match has_single_backslash(line) {
            true => Some(Self::Backslash),
            false => has_curly_quotes(line).then_some(Self::CurlyQuote),
        }
    }
}

/// The line and column of the first backslash in a string of JSON that begins no escape.
pub fn single_backslash(text: &str) -> Option<(usize, usize)> {
    let at = text.lines().position(has_single_backslash)?;
    let column = text.lines().nth(at).and_then(|line| line.find('\\')).unwrap_or_default();
    Some((at + 1, column + 1))
}

/// Is this a quotation mark that text processors put in place of a straight one?
pub fn is_curly(c: char) -> bool {
    matches!(c, '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2018}' | '\u{2019}' | '\u{201a}')
}

/// Does this line have curly quotes outside its strings?
fn has_curly_quotes(line: &str) -> bool {
    let mut parts = line.replace("\\\\", "").replace("\\\"", "");
    parts.retain(|c| c == '"' || is_curly(c));
    parts.split('"').step_by(2).any(|outside| !outside.is_empty())
}

/// Does a string on this line have a backslash that begins no escape?
fn has_single_backslash(line: &str) -> bool {
    let mut chars = line.chars().peekable();
    let mut inside = false;
    while let Some(c) = chars.next() {
        match c {
            '"' => inside = !inside,
            '\\' if inside => match chars.next() {
                Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => {}
                Some('u') => {
                    let digits: String = chars.clone().take(4).collect();
                    if digits.len() < 4 || !digits.chars().all(|c| c.is_ascii_hexdigit()) {
                        return true;
                    }
                }
                _ => return true,
            },
            _ => {}
        }
    }
    // `"C:\tools\"`: the last one escapes the quote, so that the string has no end.
    inside && line.contains("\\\"")
}

/// The name of the program that a whole line would start.
pub fn program_of(line: &str) -> Option<String> {
    words(line)?.first().map(|first| program_name(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(meant: &Meant) -> String {
        match meant {
            Meant::Program { command, args } => format!("{command} {}", args.join("|")),
            Meant::Address(url) => url.clone(),
        }
    }

    #[track_caller]
    fn check(command: &str, args: &[&str], expected: Option<(&str, Slip)>) {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let is_file = |text: &str| matches!(text, "/opt/My App/run" | "/opt/run");
        let meant = meant(command, &args, false, is_file);
        let meant = meant.as_ref().map(|(meant, slip)| (line(meant), *slip));
        assert_eq!(meant, expected.map(|(line, slip)| (line.to_owned(), slip)), "{command} {args:?}");
    }

    #[test]
    fn what_was_meant_by_a_command_that_is_none() {
        use Slip::{Address, OfWindows, WholeLine};
        check("npx", &["-y", "x"], None);
        check("cmd", &["/c", "npx", "-y", "x"], Some(("npx -y|x", OfWindows)));
        check("cmd.exe", &["/d", "/s", "/C", "npx.cmd", "-y", "x y"], Some(("npx -y|x y", OfWindows)));
        check("C:\\Windows\\System32\\cmd.exe", &["/c", "npx -y x"], Some(("npx -y|x", OfWindows)));
        check("cmd", &["/c", "cd x && y | z"], None);
        check("npx.cmd", &["x"], Some(("npx x", OfWindows)));
        check("C:\\Program Files\\nodejs\\npx.cmd", &["x"], Some(("npx x", OfWindows)));
        check("my-server.exe", &[], None);
        check("npx -y x --stdio", &[], Some(("npx -y|x|--stdio", WholeLine)));
        check("uvx 'a b'", &["--x"], Some(("uvx a b|--x", WholeLine)));
        check("/opt/My App/run", &[], None);
        check("/opt/Other App/run", &[], None);
        check("/opt/run --flag", &[], Some(("/opt/run --flag", WholeLine)));
        check("C:\\Program Files\\x.exe", &[], None);
        check("https://x.example/mcp", &[], Some(("https://x.example/mcp", Address)));
        check("https://", &[], None);
    }

    #[test]
    fn on_windows_its_own_wrapper_stands() {
        let args = ["/c".to_owned(), "npx".to_owned()];
        assert_eq!(meant("cmd", &args, true, |_| false), None);
    }

    #[test]
    fn a_spoilt_text_is_told_by_what_spoils_it() {
        for (text, expected) in [
            (r#"{"command": "C:\Users\me"}"#, Some(Spoilt::Backslash)),
            (r#"{"command": "C:\users"}"#, Some(Spoilt::Backslash)),
            (r#"{"a": "C:\tools\", "b": "x"}"#, Some(Spoilt::Backslash)),
            (r#"{"a": "C:\tools\"}"#, Some(Spoilt::Backslash)),
            ("{\u{201c}command\u{201d}: 1}", Some(Spoilt::CurlyQuote)),
            (r#"{"command": "C:\\Users" "x"}"#, None),
            (r#"{"command": }"#, None),
            ("{\"about\": \"it\u{2019}s\", \"command\": }", None),
        ] {
            assert_eq!(Spoilt::of(text, text.len()), expected, "{text}");
        }
        assert_eq!(Spoilt::of("{\"a\": \"C:\\x\",\n \"b\" }", 18), None, "another line is not to blame");
    }

    #[test]
    fn control_characters_are_found_where_no_code_is() {
        let check = |command: &str, args: &[&str], expected: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            assert_eq!(with_control_characters(command, &args, None), expected, "{args:?}");
        };
        check("uvx", &["git", "--repository", "c:\temp\new"], &["args[2]"]);
        check("C:\tools\run", &[], &["command"]);
        check("python3", &["-c", "import x\nx.run()"], &[]);
        check("sh", &["-c", "a\nb"], &[]);
    }
}
