//! Looks through programs that start another one: `env A=1 …`, `cmd /c …`, `sh -c "…"`, `sudo`, `op run -- …`. A shell line
//! that does more than start one program stays code.

use super::program_name;

/// Nested deeper, a command line is not looked through.
const DEPTH: usize = 8;

/// A word of the command line that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NameWord {
    pub(super) text: String,
    /// Its position among the entry's arguments, if it is one of them as written.
    pub(super) at: Option<usize>,
}

/// A command line without wrappers.
#[derive(Debug, Default)]
pub(super) struct Unwrapped {
    pub(super) words: Vec<NameWord>,
    pub(super) through: Vec<String>,
    pub(super) variables: Vec<(String, String)>,
    /// A shell line that is a script of its own.
    pub(super) code: Option<String>,
}

/// Wrappers whose options end at the program: their options with a value.
const PREFIXES: &[(&str, &[&str])] = &[
    ("env", &["-u", "--unset", "-C", "--chdir"]),
    ("sudo", &["-u", "--user", "-g", "--group", "-h", "--host", "-p", "--prompt", "-C", "-D", "-r", "-t"]),
    ("doas", &["-u", "-C"]),
    ("nice", &["-n", "--adjustment"]),
    ("ionice", &["-c", "--class", "-n", "--classdata"]),
    ("nohup", &[]),
    ("time", &["-f", "-o"]),
    ("timeout", &["-s", "--signal", "-k", "--kill-after"]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("setsid", &[]),
    ("command", &[]),
    ("exec", &["-a"]),
    ("start", &[]),
    ("xvfb-run", &["-n", "-s", "-f", "-e"]),
    ("flatpak-spawn", &[]),
    ("dotenv", &["-f", "-e", "--file"]),
];
/// Wrappers with a subcommand, after which the program follows, perhaps behind `--`.
const WITH_SUBCOMMAND: &[(&str, &[&str])] = &[
    ("mise", &["exec", "x"]),
    ("rtx", &["exec", "x"]),
    ("asdf", &["exec"]),
    ("op", &["run"]),
    ("doppler", &["run"]),
    ("infisical", &["run"]),
    ("dotenvx", &["run"]),
    ("poetry", &["run"]),
    ("pdm", &["run"]),
    ("hatch", &["run"]),
    ("rye", &["run"]),
    ("pixi", &["run"]),
    ("volta", &["run"]),
    ("fnm", &["exec"]),
];
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "powershell", "pwsh"];

pub(super) fn of(command: &str, args: &[String]) -> Unwrapped {
    let mut unwrapped = Unwrapped::default();
    let first = NameWord { text: command.to_owned(), at: None };
    let rest = args.iter().enumerate().map(|(at, text)| NameWord { text: text.clone(), at: Some(at) });
    unwrapped.words = std::iter::once(first).chain(rest).collect();
    for _ in 0..DEPTH {
        if !unwrapped.step() {
            break;
        }
    }
    unwrapped
}

impl Unwrapped {
    /// Removes one wrapper. Was there one?
    fn step(&mut self) -> bool {
        let set = self.words.iter().take_while(|word| assignment(&word.text).is_some()).count();
        let taken: Vec<NameWord> = self.words.drain(..set).collect();
        self.variables.extend(taken.iter().filter_map(|word| assignment(&word.text)));
        let Some(first) = self.words.first() else { return false };
        let name = program_name(&first.text);
        let inner = match name.as_str() {
            "cmd" => self.after_cmd(),
            "busybox" => self.words.get(1).map(|_| WrappedLine::Rest(1)),
            _ if SHELLS.contains(&name.as_str()) => self.after_shell(),
            _ => self.after_prefix(&name).or_else(|| self.after_subcommand(&name)),
        };
        let Some(inner) = inner else { return set > 0 };
        self.through.push(name);
        match inner {
            WrappedLine::Rest(at) => drop(self.words.drain(..at.min(self.words.len()))),
            WrappedLine::Line(words) => {
                self.words = words.into_iter().map(|text| NameWord { text, at: None }).collect();
            }
            WrappedLine::Script(code) => {
                self.words.clear();
                self.code = Some(code);
                return false;
            }
        }
        true
    }

    fn after_cmd(&self) -> Option<WrappedLine> {
        let at = self.words.iter().position(|word| is_to_run(&word.text))?;
        let rest = &self.words[at + 1..];
        match rest {
            [line] if line.text.contains(' ') => Some(of_line(&line.text)),
            _ => Some(WrappedLine::Rest(at + 1)),
        }
    }

    fn after_shell(&self) -> Option<WrappedLine> {
        let is_command = |word: &NameWord| {
            let text = word.text.to_ascii_lowercase();
            let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-') && rest.len() <= 4);
            matches!(text.as_str(), "-command" | "-encodedcommand")
                || letters.is_some_and(|rest| rest.ends_with('c'))
        };
        let at =
            self.words.iter().skip(1).take_while(|word| word.text.starts_with('-')).position(is_command)? + 1;
        let line: Vec<&str> = match self.words.get(at + 1..)? {
            // PowerShell joins the rest.
            words if self.words[at].text.to_ascii_lowercase().starts_with("-co") => {
                words.iter().map(|word| word.text.as_str()).collect()
            }
            words => words.iter().take(1).map(|word| word.text.as_str()).collect(),
        };
        Some(of_line(&line.join(" ")))
    }

    fn after_prefix(&self, name: &str) -> Option<WrappedLine> {
        let (_, values) = PREFIXES.iter().find(|(known, _)| *known == name)?;
        let mut at = 1;
        while let Some(word) = self.words.get(at) {
            if word.text == "--" {
                at += 1;
                break;
            }
            let split = name == "env" && matches!(word.text.as_str(), "-S" | "--split-string");
            if split {
                return self.words.get(at + 1).map(|line| of_line(&line.text));
            }
            // `timeout 30s`, `nice 5`.
            let number = name == "timeout" && word.text.starts_with(|c: char| c.is_ascii_digit());
            if !word.text.starts_with('-') && !number {
                break;
            }
            at += if values.contains(&word.text.as_str()) { 2 } else { 1 };
        }
        (at < self.words.len()).then_some(WrappedLine::Rest(at))
    }

    fn after_subcommand(&self, name: &str) -> Option<WrappedLine> {
        let (_, commands) = WITH_SUBCOMMAND.iter().find(|(known, _)| *known == name)?;
        commands.contains(&self.words.get(1)?.text.as_str()).then_some(())?;
        let rest = &self.words[2..];
        let dashes = rest.iter().position(|word| word.text == "--").map(|at| at + 3);
        let plain = || {
            let first =
                rest.iter().position(|word| !word.text.starts_with('-') && !word.text.contains('@'))?;
            Some(first + 2)
        };
        dashes.or_else(plain).filter(|at| *at < self.words.len()).map(WrappedLine::Rest)
    }
}

/// The command line of Windows as other systems write it: without `cmd /c`, and launchers without their extension and
/// directory. `None` where it has neither, or runs more than one program.
pub fn command_of_windows(command: &str, args: &[String]) -> Option<(String, Vec<String>)> {
    let is_shell = program_name(command) == "cmd" && args.iter().any(|arg| is_to_run(arg));
    // A line that goes to a directory first would start elsewhere without it.
    if is_shell && args.iter().any(|arg| arg.contains("&&")) {
        return None;
    }
    let first = NameWord { text: command.to_owned(), at: None };
    let rest = args.iter().map(|text| NameWord { text: text.clone(), at: None });
    let mut line = Unwrapped { words: std::iter::once(first).chain(rest).collect(), ..Unwrapped::default() };
    if is_shell && (!line.step() || line.code.is_some()) {
        return None;
    }
    let mut words = line.words.into_iter().map(|word| word.text);
    let (program, args) = (words.next()?, words.collect());
    let plain = plain_launcher(&program);
    (is_shell || plain.is_some()).then(|| (plain.unwrap_or(program), args))
}

/// `npx` for `npx.cmd`, with or without a directory of Windows before it.
fn plain_launcher(program: &str) -> Option<String> {
    let of_windows = [".cmd", ".exe", ".bat"].iter().any(|end| program.to_ascii_lowercase().ends_with(end));
    let name = program_name(program);
    (of_windows && super::starts_servers(&name)).then_some(name)
}

/// The option of `cmd` that a command line follows.
fn is_to_run(arg: &str) -> bool {
    matches!(arg.to_ascii_lowercase().as_str(), "/c" | "/k")
}

enum WrappedLine {
    /// The words from this one on.
    Rest(usize),
    /// The words of a line.
    Line(Vec<String>),
    /// More than one program.
    Script(String),
}

fn of_line(line: &str) -> WrappedLine {
    match words(line) {
        Some(words) if !words.is_empty() => WrappedLine::Line(words),
        _ => WrappedLine::Script(line.to_owned()),
    }
}

fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| (name.to_owned(), value.to_owned()))
}

/// The words of a shell line that starts one program, perhaps in a directory; `None` for anything else.
pub fn words(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    let moved = line.strip_prefix("cd ").and_then(|rest| rest.split_once("&&"));
    let line = moved.filter(|(place, _)| split(place).is_some()).map_or(line, |(_, rest)| rest.trim());
    split(line)
}

/// The words of a line that starts one program as a shell reads it; `None` where it needs a shell.
pub fn split(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (_, '`') if quote != Some('\'') => return None,
            (Some('"'), '\\') | (None, '\\') => word.get_or_insert_default().push(chars.next()?),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ';' | '|' | '&' | '<' | '>' | '\n' | '(' | ')') => return None,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    (quote.is_none() && !line.contains("$(")).then_some(words)
}
