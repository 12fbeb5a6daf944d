//! Reads command lines that people paste: what a shell would run, with the variables and the directory that it sets before,
//! and what other programs' own commands add. Runs nothing, and takes nothing for a server that a shell alone can run.

use satchel_entry::{
    credential::{self, FieldKind},
    launcher::program_name,
    slips::is_curly,
};
use serde_json::{Map, Value, json};

use super::paste::{PasteError, name_of_address, name_of_command, name_of_entry, nothing};

/// Entries by name, as a block would have them.
///
/// # Errors
/// [`PasteError`] with the reason why the text starts no server.
pub(super) fn entries_of(text: &str) -> Result<Value, PasteError> {
    // Where they stand for quotes, a word or its value begins with one; elsewhere, they are apostrophes of a sentence.
    let value = |word: &'_ str| word.split_once('=').map_or(word, |(_, value)| value).starts_with(is_curly);
    if text.split_whitespace().any(|word| word.starts_with(is_curly) || value(word)) {
        return Err(PasteError::CurlyQuotes);
    }
    let text = without_prompts(text);
    let windows = is_of_windows(&text);
    let commands = if windows { Ok(vec![plain_words(&text)]) } else { commands(&text) };
    if let Ok(commands) = &commands {
        let added: Vec<_> = commands.iter().map(|words| add_command(words)).collect();
        if !added.is_empty() && added.iter().all(Option::is_some) {
            return Ok(Value::Object(added.into_iter().flatten().flatten().collect()));
        }
    }
    if reads_like_prose(&text) {
        let quoted =
            quoted_command(&text).ok_or_else(|| nothing("; it reads like a sentence, not like a command"))?;
        return entries_of(quoted);
    }
    server_of(commands?, windows)
}

/// What only a shell can do.
const OF_SHELLS: [&str; 9] = ["source", ".", "eval", "set", "export", "alias", "unset", "if", "for"];

/// The one command of several that starts a server. The others may only set variables, or go to a directory.
fn server_of(commands: Vec<Vec<String>>, windows: bool) -> Result<Value, PasteError> {
    let (mut env, mut cwd, mut server) = (Map::new(), None, None);
    for mut words in commands {
        if let Some(variables) = only_sets(&words) {
            env.extend(variables);
        } else if let [go, directory] = &words[..]
            && matches!(go.as_str(), "cd" | "pushd")
        {
            cwd = Some(directory.clone());
        } else if server.is_some() {
            return Err(nothing("; it is several commands, and a server is started by one"));
        } else if OF_SHELLS.contains(&words[0].as_str()) {
            return Err(nothing(&format!("; \"{}\" is a word of a shell and no program", words[0])));
        } else {
            env.extend(take_variables(&mut words));
            server = Some(words);
        }
    }
    let words = server.unwrap_or_default();
    let Some((command, args)) = words.split_first() else { return Err(PasteError::Empty) };
    if let Some(word) = words.iter().find(|word| word.starts_with(['–', '—', '−'])) {
        return Err(nothing(&format!(
            "; \"{word}\" begins with a dash of a text processor: write - or -- instead"
        )));
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let [word] = words[..]
        && credential::of("", word, FieldKind::Field).is_credential()
    {
        return Err(nothing("; it is a credential: add the server, and it asks for what it needs"));
    }
    if matches!(program_name(command).as_str(), "curl" | "wget" | "http" | "invoke-webrequest" | "git") {
        return Err(nothing("; it fetches something and starts no server"));
    }
    if only_installs(&words) {
        return Err(nothing("; it installs a program and starts none"));
    }
    if let ([address], true) = (&words[..], env.is_empty() && cwd.is_none())
        && let Some(url) = as_address(address)
    {
        return Ok(json!({ name_of_address(&url): {"url": url} }));
    }
    if command.contains(['{', '}', '<', '>', ':', '(', ')', '=']) && !windows || *command == "null" {
        return Err(nothing(""));
    }
    let mut entry = json!({"command": command, "args": args, "env": env});
    if let Some(cwd) = cwd {
        entry["cwd"] = cwd.into();
    }
    Ok(json!({ name_of_command(&words): entry }))
}

/// A shell's prompt before a command, and lines that are continued.
fn without_prompts(text: &str) -> String {
    let continued = ["\\\r\n", "\\\n", "`\r\n", "`\n", "^\r\n", "^\n"];
    let joined = continued.iter().fold(text.to_owned(), |text, end| text.replace(end, " "));
    let plain = |line: &str| {
        let line = line.trim();
        let prompt = ["$ ", "% ", "> "].iter().find_map(|prompt| line.strip_prefix(prompt));
        // `PS C:\Users\me> npx` and `C:\Users\me>npx`.
        let of_windows = || {
            let (path, command) = line.strip_prefix("PS ").unwrap_or(line).split_once('>')?;
            (is_of_windows(path) && !path.contains('"') && !path.contains(" -")).then_some(command)
        };
        prompt.or_else(of_windows).unwrap_or(line).trim_start().to_owned()
    };
    joined.lines().map(plain).collect::<Vec<_>>().join("\n")
}

/// Does it begin with a path of Windows? There, a backslash is part of a path.
pub(super) fn is_of_windows(text: &str) -> bool {
    let path = text.strip_prefix('"').unwrap_or(text).as_bytes();
    let drive =
        path.first().is_some_and(u8::is_ascii_alphabetic) && matches!(path.get(1..3), Some(b":\\" | b":/"));
    drive || path.starts_with(br"\\")
}

/// The words of a command line; `None` where a quote is open.
pub(super) fn split(line: &str) -> Option<Vec<String>> {
    shlex::split(line).filter(|words| !words.is_empty())
}

fn plain_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(String::new()),
            c => words.last_mut().expect("there is one from the start").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The simple commands of a text, each with its words, as a shell takes them apart (POSIX.1-2024, section 2.10). A `$NAME` that
/// the shell would fill in becomes `${NAME}`.
///
/// # Errors
/// Why a shell is needed for it.
fn commands(text: &str) -> Result<Vec<Vec<String>>, PasteError> {
    let mut reader = ShellReader { rest: text, commands: vec![vec![]], word: None };
    reader.read()?;
    let mut commands = reader.commands;
    commands.retain(|words| !words.is_empty());
    Ok(commands)
}

struct ShellReader<'a> {
    rest: &'a str,
    commands: Vec<Vec<String>>,
    /// The word that is being read.
    word: Option<String>,
}

impl ShellReader<'_> {
    fn read(&mut self) -> Result<(), PasteError> {
        let needs_a_shell =
            |what: &str| Err(nothing(&format!("; it {what}, for which a shell would be needed")));
        while let Some(c) = self.rest.chars().next() {
            let after = &self.rest[c.len_utf8()..];
            let begins = self.word.is_none();
            match c {
                '\n' => self.end_command(),
                c if c.is_whitespace() => self.end_word(),
                '#' if begins => {
                    self.rest = after.find('\n').map_or("", |at| &after[at..]);
                    continue;
                }
                '\'' => {
                    let Some((inside, rest)) = after.split_once('\'') else { return Err(open_quote()) };
                    self.word.get_or_insert_default().push_str(inside);
                    self.rest = rest;
                    continue;
                }
                '"' => {
                    self.rest = after;
                    self.in_quotes()?;
                    continue;
                }
                '\\' => {
                    let Some(next) = after.chars().next() else { break };
                    self.word.get_or_insert_default().push(next);
                    self.rest = &after[next.len_utf8()..];
                    continue;
                }
                '$' if after.starts_with('(') => {
                    return needs_a_shell("puts the output of another command in");
                }
                '`' => return needs_a_shell("puts the output of another command in"),
                '$' => {
                    self.rest = after;
                    self.variable();
                    continue;
                }
                '&' if after.starts_with('&') => {
                    self.end_command();
                    self.rest = &after[1..];
                    continue;
                }
                ';' if begins || after.is_empty() || after.starts_with(char::is_whitespace) => {
                    self.end_command()
                }
                '|' => return needs_a_shell("hands the output of one command to another"),
                '&' if begins || after.is_empty() || after.starts_with(char::is_whitespace) => {
                    return needs_a_shell("runs a command beside another");
                }
                '<' | '>' if self.redirects(after) => return needs_a_shell("reads or writes a file"),
                c => self.word.get_or_insert_default().push(c),
            }
            self.rest = after;
        }
        self.end_command();
        Ok(())
    }

    /// What stands in double quotes, up to the closing one.
    fn in_quotes(&mut self) -> Result<(), PasteError> {
        self.word.get_or_insert_default();
        while let Some(c) = self.rest.chars().next() {
            let after = &self.rest[c.len_utf8()..];
            match c {
                '"' => {
                    self.rest = after;
                    return Ok(());
                }
                '\\' if after.starts_with(['"', '\\', '$', '`']) => {
                    self.word.get_or_insert_default().push_str(&after[..1]);
                    self.rest = &after[1..];
                }
                '$' if !after.starts_with('(') => {
                    self.rest = after;
                    self.variable();
                }
                c => {
                    self.word.get_or_insert_default().push(c);
                    self.rest = after;
                }
            }
        }
        Err(open_quote())
    }

    /// `$NAME`, after the dollar.
    fn variable(&mut self) {
        // Of PowerShell; what sets one keeps its form.
        let rest = match self.rest.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("env:")) {
            true => &self.rest[4..],
            false => self.rest,
        };
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let sets = rest.len() < self.rest.len() && after.trim_start().starts_with('=');
        let word = self.word.get_or_insert_default();
        match name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            true if sets => {
                word.push_str("$env:");
                self.rest = rest;
            }
            true => {
                word.push_str(&format!("${{{name}}}"));
                self.rest = after;
            }
            false => word.push('$'),
        }
    }

    /// Is this `<` or `>` no part of a word? `<TOKEN>` is what the reader of a text shall replace.
    fn redirects(&self, after: &str) -> bool {
        let is_number = |word: &String| word.chars().all(|c| c.is_ascii_digit());
        let begins = self.word.as_ref().is_none_or(is_number);
        let is_placeholder = self.rest.starts_with('<')
            && after.starts_with(|c: char| c.is_alphabetic())
            && after.split(char::is_whitespace).next().is_some_and(|word| word.contains('>'));
        begins && !is_placeholder
    }

    fn end_word(&mut self) {
        if let (Some(word), Some(command)) = (self.word.take(), self.commands.last_mut()) {
            command.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.commands.push(vec![]);
    }
}

fn open_quote() -> PasteError {
    nothing("; a quotation mark in it is not closed")
}

/// A command in backticks within a sentence.
fn quoted_command(text: &str) -> Option<&str> {
    let quoted = text.split('`').skip(1).step_by(2).map(str::trim);
    quoted.into_iter().find(|quoted| quoted.contains(' ') && !reads_like_prose(quoted))
}

/// Sentences, not a command: a capital letter begins them, or their words end as words of sentences do.
fn reads_like_prose(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some((first, rest)) = words.split_first() else { return false };
    let is_path = first.contains(['/', '\\', '.', '=', '$']);
    let has_flags = rest.iter().any(|word| word.starts_with('-'));
    let capital = first.starts_with(|c: char| c.is_uppercase() || c == '#') && !has_flags;
    let ends_as_in_sentences = |word: &&str| word.ends_with([',', ':', ';', '!', '?']) || word.contains('`');
    !is_path
        && !rest.is_empty()
        && (capital
            || ends_as_in_sentences(first)
            || words.iter().filter(|word| ends_as_in_sentences(word)).count() > 1)
}

/// The variables that a command sets which does nothing else.
fn only_sets(words: &[String]) -> Option<Vec<(String, Value)>> {
    let (first, rest) = words.split_first()?;
    let set = match first.as_str() {
        "export" | "set" | "setenv" | "declare" | "typeset" => rest,
        _ => words,
    };
    let set: Vec<&String> = set.iter().filter(|word| !word.starts_with('-')).collect();
    // PowerShell has blanks around the sign.
    let joined = match &set[..] {
        [name, sign, value] if *sign == "=" => vec![format!("{name}={value}")],
        words => words.iter().map(|word| (*word).clone()).collect(),
    };
    let set: Option<Vec<_>> = joined.iter().map(|word| assignment(word)).collect();
    set.filter(|set| !set.is_empty())
}

/// Takes the variables that stand before a command, and the programs that only set them.
fn take_variables(words: &mut Vec<String>) -> Vec<(String, Value)> {
    let mut set = Vec::new();
    loop {
        let Some(first) = words.first() else { return set };
        let program = first.rsplit('/').next().filter(|_| !first.contains('=')).unwrap_or_default();
        match program {
            "env" | "cross-env" | "exec" | "-i" | "-" | "--ignore-environment" | "--" => {
                drop(words.remove(0))
            }
            "-u" | "--unset" if words.len() > 2 => drop(words.drain(..2)),
            _ => match assignment(first) {
                Some(one) => {
                    set.push(one);
                    words.remove(0);
                }
                None => return set,
            },
        }
    }
}

/// `NAME=value`, also as PowerShell has it.
fn assignment(word: &str) -> Option<(String, Value)> {
    let word = word.strip_prefix("$env:").unwrap_or(word);
    let (name, value) = word.split_once('=')?;
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_name = starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| (name.to_owned(), value.trim_matches('"').into()))
}

/// `pip install x` and the like start nothing, and neither do programs that add servers to other clients.
fn only_installs(words: &[&str]) -> bool {
    let installers = [
        "pip", "pip3", "npm", "pnpm", "yarn", "brew", "apt", "apt-get", "cargo", "uv", "pipx", "sudo", "gem",
        "go",
    ];
    let of_servers = ["@smithery/cli", "mcp-get", "@michaellatman/mcp-get", "install-mcp", "add-mcp", "mcpm"];
    let plain = |word: &str| match word.rfind('@') {
        Some(at) if at > 0 => word[..at].to_owned(),
        _ => word.to_owned(),
    };
    let is_verb = |word: &&str| matches!(*word, "install" | "i" | "add");
    let verb = words.iter().skip(1).find(|word| !word.starts_with('-') && !installers.contains(word));
    let by_system =
        words.first().is_some_and(|first| installers.contains(first)) && verb.is_some_and(is_verb);
    let of_others = words.iter().position(|word| of_servers.contains(&plain(word).as_str()));
    by_system || of_others.is_some_and(|at| words[at + 1..].iter().any(is_verb))
}

/// The address that a single word is without its scheme: `mcp.example.com/mcp`.
fn as_address(word: &str) -> Option<String> {
    let (host, path) = word.split_once('/')?;
    let host_name = host.split(':').next().unwrap_or(host);
    let mut labels = host_name.rsplit('.');
    let top = labels.next().filter(|top| top.len() >= 2 && top.chars().all(|c| c.is_ascii_alphabetic()))?;
    let is_label = |label: &str| {
        !label.is_empty()
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
            && !label.starts_with('-')
    };
    let mut rest = labels.peekable();
    let is_host = rest.peek().is_some() && rest.all(is_label);
    let is_file = matches!(top, "sh" | "py" | "js" | "mjs" | "ts" | "exe" | "bat" | "cmd" | "rb" | "jar");
    (is_host && !is_file && !path.is_empty()).then(|| format!("https://{word}"))
}

/// Flags of `mcp add` that take a value which is no part of an entry here.
const ASIDE: [&str; 10] = [
    "-s",
    "--scope",
    "--description",
    "--client-id",
    "--callback-port",
    "--oauth-client-id",
    "--agent",
    "--profile",
    "--alias",
    "-c",
];
/// Flags whose value is a field of the entry, as other programs call it.
const FIELDS: [(&str, &str); 7] = [
    ("--timeout", "timeout"),
    ("--cwd", "cwd"),
    ("--include-tools", "includeTools"),
    ("--exclude-tools", "excludeTools"),
    ("--tools", "tools"),
    ("--bearer-token-env-var", "bearer_token_env_var"),
    ("--url", "url"),
];

/// `claude mcp add …`, `codex mcp add …`, `gemini mcp add …`, `code --add-mcp '{…}'`: other programs' commands.
fn add_command(words: &[String]) -> Option<Map<String, Value>> {
    let named = |name: String, entry: Value| Some(Map::from_iter([(name, entry)]));
    if let Some(at) = words.iter().position(|word| word == "--add-mcp") {
        let entry: Value = serde_json::from_str(words.get(at + 1)?).ok()?;
        return named(name_of_entry(entry.as_object()?), entry);
    }
    let is_add = |word: &str| matches!(word, "add" | "add-json");
    let at = words.windows(2).position(|pair| pair[0] == "mcp" && is_add(&pair[1]))?;
    let added = Added::read(&words[at + 2..])?;
    if words[at + 1] == "add-json" {
        let entry: Value = serde_json::from_str(added.plain.get(1)?).ok()?;
        return named(added.plain.first()?.clone(), entry);
    }
    let (name, entry) = added.entry()?;
    named(name, entry)
}

/// What the words after `mcp add` say.
#[derive(Default)]
struct Added {
    plain: Vec<String>,
    env: Map<String, Value>,
    headers: Map<String, Value>,
    fields: Map<String, Value>,
    transport: Option<String>,
    args: Vec<String>,
    name: Option<String>,
    command: Option<String>,
}

impl Added {
    fn read(words: &[String]) -> Option<Self> {
        let mut added = Self::default();
        let mut rest = words.iter().cloned().peekable();
        while let Some(word) = rest.next() {
            if word == "--" {
                added.plain.extend(rest);
                break;
            }
            let (flag, given) = match word.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => (flag.to_owned(), Some(value.to_owned())),
                _ => (word.clone(), None),
            };
            let mut value = |given: Option<String>| given.or_else(|| rest.next());
            match flag.as_str() {
                "-t" | "--transport" | "--type" => added.transport = value(given),
                "-e" | "--env" => {
                    let text = value(given)?;
                    let Some((name, set)) = assignment(&text) else {
                        // An argument of the server.
                        added.plain.extend([word, text]);
                        continue;
                    };
                    added.env.insert(name, set);
                    // Some programs take several after one flag.
                    while let Some((name, set)) = rest.peek().and_then(|word| assignment(word)) {
                        added.env.insert(name, set);
                        rest.next();
                    }
                }
                "-H" | "--header" => {
                    let header = value(given)?;
                    let Some((name, text)) = header.split_once([':', '=']) else {
                        added.plain.extend([word, header]);
                        continue;
                    };
                    added.headers.insert(name.trim().to_owned(), text.trim().into());
                }
                "--name" => added.name = value(given),
                "--command" => added.command = value(given),
                "--args" => added.args.extend(split(&value(given)?)?),
                flag if ASIDE.contains(&flag) => drop(value(given)),
                flag if FIELDS.iter().any(|(known, _)| *known == flag) => {
                    let (_, field) = FIELDS.iter().find(|(known, _)| *known == flag)?;
                    let text = value(given)?;
                    let parsed = match *field {
                        "timeout" => text.parse::<u64>().ok()?.into(),
                        "includeTools" | "excludeTools" | "tools" => text.split(',').map(str::trim).collect(),
                        _ => Value::from(text),
                    };
                    added.fields.insert((*field).to_owned(), parsed);
                }
                _ if word.starts_with('-') && added.plain.len() < 2 => {}
                _ => added.plain.push(word),
            }
        }
        Some(added)
    }

    fn entry(self) -> Option<(String, Value)> {
        let mut plain = self.plain.into_iter();
        let name = match self.name {
            Some(name) => name,
            None => plain.next()?,
        };
        let mut rest: Vec<String> = plain.collect();
        let mut entry = self.fields;
        let is_address = |word: &String| word.starts_with("http://") || word.starts_with("https://");
        if rest.first().is_some_and(is_address) && !entry.contains_key("url") && self.command.is_none() {
            entry.insert("url".into(), rest.remove(0).into());
        }
        if entry.contains_key("url") {
            let kind = if self.transport.as_deref() == Some("sse") { "sse" } else { "http" };
            entry.insert("type".into(), kind.into());
            entry.insert("headers".into(), self.headers.into());
        } else {
            let command = match self.command {
                Some(command) => command,
                None if rest.is_empty() => return None,
                None => rest.remove(0),
            };
            rest.extend(self.args);
            entry.insert("command".into(), command.into());
            entry.insert("args".into(), rest.into());
            entry.insert("env".into(), self.env.into());
        }
        Some((name, entry.into()))
    }
}
