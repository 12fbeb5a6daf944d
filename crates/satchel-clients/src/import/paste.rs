//! Parses what people paste: a block from a README, a command line, an address.

use std::sync::OnceLock;

use satchel_entry::{
    launcher::{Launch, program_name},
    slips::{Spoilt, is_curly},
};
use serde_json::{Map, Value, json};

use super::{Contents, FoundEntry, Words, any_format, badge, container, read_with};
use crate::table::{self, Client};

/// Why a pasted text contains no server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PasteError {
    /// There is nothing.
    #[error("there is nothing to add")]
    Empty,
    /// A damaged block.
    #[error("this block cannot be read: {0}")]
    Damaged(super::SyntaxError),
    /// Quotation marks of a text processor.
    #[error("{}", Spoilt::CurlyQuote.advice())]
    CurlyQuotes,
    /// Nothing in it is a server.
    #[error("there is no server in it{0}")]
    Nothing(String),
}

/// The keys of server containers in all known programs.
fn containers() -> &'static [Vec<String>] {
    static ALL: OnceLock<Vec<Vec<String>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all: Vec<Vec<String>> = Vec::new();
        for client in table::clients() {
            let further = client.also_read.iter().filter_map(|also| also.key.as_ref());
            for key in client.entry.alt_keys.iter().chain([&client.key]).chain(further) {
                if !all.contains(key) {
                    all.push(key.clone());
                }
            }
        }
        // The longest path first: `mcp.servers` contains servers, not a server called "servers".
        all.sort_by_key(|key| std::cmp::Reverse(key.len()));
        all
    })
}

/// A generic client whose entries may have any known form.
fn anybody() -> &'static Client {
    static ANYBODY: OnceLock<Client> = OnceLock::new();
    ANYBODY.get_or_init(|| {
        let http: Vec<&str> = vec!["http", "streamable-http", "streamableHttp", "streamable_http", "remote"];
        serde_json::from_value(json!({
            "id": "pasted", "name": "a pasted text", "tier": "C", "evidence": "unknown", "format": "json",
            "key": [], "connect": "paste", "transport": "http",
            "references": ["ghSecret", "input", "dollarEnvColon", "workspace", "bracedDefault", "braced", "curlyEnv"],
            "entry": {
                "type": "type", "stdioTypes": ["stdio", "local"], "httpTypes": http,
                "url": ["httpUrl", "serverUrl", "url", "uri"], "httpUrlKey": "httpUrl", "nestedCommand": true,
                "headers": ["headers", "http_headers", "requestInit.headers", "requestOptions.headers"],
                "bearerEnv": "bearer_token_env_var", "envHeaders": "env_http_headers", "envVars": "env_vars",
                "disabledField": "disabled", "enabledField": "enabled", "nestedTransport": "transport",
                "nameField": "name",
            },
        }))
        .expect("the description is checked by a test")
    })
}

/// Parses a pasted text: a JSON, TOML or YAML block, an address, or a command line.
///
/// # Errors
/// [`PasteError`] with the fault.
pub fn read_pasted(text: &str) -> Result<Vec<FoundEntry>, PasteError> {
    read_text(text).map(|contents| contents.servers)
}

/// The same, with what was left out.
///
/// # Errors
/// As for [`read_pasted`].
pub fn read_text(text: &str) -> Result<Contents, PasteError> {
    let text = text.trim().trim_start_matches('\u{feff}');
    let text = fenced(text);
    if text.is_empty() {
        return Err(PasteError::Empty);
    }
    if let Some(servers) = badge::servers_of(text) {
        return found(servers_in(&servers));
    }
    if (text.starts_with("http://") || text.starts_with("https://")) && !text.contains(char::is_whitespace) {
        if is_page_about_software(text) {
            return Err(nothing("; it is the address of a page about software, not of a server"));
        }
        return found(json!({ name_of_address(text): {"url": text} }));
    }
    let is_block = text.starts_with(['{', '[', '"']) || text.starts_with("//") || text.lines().count() > 1;
    if !is_block || !text.contains([':', '=', '{']) {
        return command_line(text);
    }
    let document = match any_format(text) {
        Ok(document) => document,
        // A multi-line command.
        Err(_) if !text.starts_with(['{', '[', '"']) => return command_line(text),
        Err(error) => return Err(PasteError::Damaged(error)),
    };
    if !document.is_object() {
        return command_line(text);
    }
    found(servers_in(&document))
}

/// The content of a code fence, wherever it stands in the text: the first that has an entry, otherwise the first.
fn fenced(text: &str) -> &str {
    let blocks: Vec<&str> = text.split("```").skip(1).step_by(2).collect();
    let inside = |block: &&str| block.split_once('\n').is_some();
    let has_entry = |block: &&&str| block.contains("command") || block.contains("url");
    let fences = || blocks.iter().filter(|block| inside(block));
    let Some(block) = fences().find(has_entry).or_else(|| fences().next()) else { return text };
    block.split_once('\n').map_or(text, |(_, inside)| inside.trim())
}

/// Where people read about software. A server there has an address of its own below another host.
fn is_page_about_software(url: &str) -> bool {
    let host = url.split("://").nth(1).unwrap_or(url).split(['/', '?', '#', ':']).next().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host).to_ascii_lowercase();
    matches!(
        host.as_str(),
        "github.com" | "gitlab.com" | "bitbucket.org" | "codeberg.org" | "npmjs.com" | "pypi.org"
    )
}

fn nothing(why: &str) -> PasteError {
    PasteError::Nothing(why.to_owned())
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
    let is_path = first.contains(['/', '\\', '.', '=']);
    let has_flags = rest.iter().any(|word| word.starts_with('-'));
    let capital = first.starts_with(|c: char| c.is_uppercase() || c == '#') && !has_flags;
    let ends_as_in_sentences = |word: &&str| word.ends_with([',', ':', ';', '!', '?']) || word.contains('`');
    !is_path
        && !rest.is_empty()
        && (capital
            || ends_as_in_sentences(first)
            || words.iter().filter(|word| ends_as_in_sentences(word)).count() > 1)
}

/// What stands before the last of several commands may only set variables, or go to a directory.
fn last_of_several<'words>(words: &[&'words str]) -> Result<Vec<&'words str>, PasteError> {
    let mut commands: Vec<&[&str]> = words.split(|word| matches!(*word, "&&" | ";")).collect();
    let last = commands.pop().unwrap_or_default();
    let mut set = Vec::new();
    for command in commands {
        match command {
            ["export", variables @ ..] if variables.iter().all(|word| is_assignment(word)) => {
                set.extend_from_slice(variables);
            }
            variables if variables.iter().all(|word| is_assignment(word)) => set.extend_from_slice(variables),
            _ => return Err(nothing("; it is several commands, and a server is started by one")),
        }
    }
    set.extend_from_slice(last);
    Ok(set)
}

/// `pip install x` and the like start nothing.
fn only_installs(words: &[&str]) -> bool {
    let installers = [
        "pip", "pip3", "npm", "pnpm", "yarn", "brew", "apt", "apt-get", "cargo", "uv", "pipx", "sudo", "gem",
        "go",
    ];
    let verb = words.iter().skip(1).find(|word| !word.starts_with('-') && !installers.contains(word));
    words.first().is_some_and(|first| installers.contains(first))
        && verb.is_some_and(|verb| matches!(*verb, "install" | "i" | "add"))
}

/// A map from names to entries, for any form of block.
fn servers_in(document: &Value) -> Value {
    for key in containers() {
        match container(document, key) {
            Some(Value::Object(map)) if !looks_like_entry(map) => return Value::Object(map.clone()),
            Some(Value::Array(items)) => return by_name(items),
            _ => {}
        }
    }
    match document {
        Value::Object(map) if looks_like_entry(map) => json!({ name_of_entry(map): map }),
        other => other.clone(),
    }
}

fn by_name(items: &[Value]) -> Value {
    let named = items.iter().filter_map(Value::as_object);
    named.map(|entry| (name_of_entry(entry), Value::Object(entry.clone()))).collect::<Map<_, _>>().into()
}

fn looks_like_entry(map: &Map<String, Value>) -> bool {
    let text = |key: &str| matches!(map.get(key), Some(Value::String(_) | Value::Array(_)));
    ["command", "url", "httpUrl", "serverUrl", "uri", "cmd"].into_iter().any(text)
}

fn name_of_entry(entry: &Map<String, Value>) -> String {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    if let Some(name) = text("name").or_else(|| text("label")) {
        return name.to_owned();
    }
    if let Some(url) = ["url", "httpUrl", "serverUrl", "uri"].into_iter().find_map(text) {
        return name_of_address(url);
    }
    let command = entry.get("command");
    let words: Vec<&str> = match (command, entry.get("args")) {
        (Some(Value::Array(words)), _) => words.iter().filter_map(Value::as_str).collect(),
        (command, args) => {
            let args = args.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            command.and_then(Value::as_str).into_iter().chain(args).collect()
        }
    };
    name_of_command(&words)
}

/// `https://mcp.linear.app/sse` becomes `linear`.
pub(super) fn name_of_address(url: &str) -> String {
    let host = url.split("://").nth(1).unwrap_or(url).split(['/', '?', '#', ':']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or(host);
    let parts: Vec<&str> =
        host.split('.').filter(|part| !matches!(*part, "mcp" | "api" | "www" | "")).collect();
    match parts.as_slice() {
        [.., name, _] => (*name).to_owned(),
        [name] => (*name).to_owned(),
        [] => "server".into(),
    }
}

/// `npx -y @modelcontextprotocol/server-filesystem /tmp` becomes `filesystem`.
fn name_of_command(words: &[&str]) -> String {
    let Some((command, args)) = words.split_first() else { return String::new() };
    let args: Vec<String> = args.iter().map(ToString::to_string).collect();
    let name = Launch::of(command, &args).name().unwrap_or_else(|| program_name(command));
    let plain = name.replace('_', "-");
    let short =
        plain.trim_start_matches("mcp-server-").trim_start_matches("server-").trim_start_matches("mcp-");
    let short = short.trim_end_matches("-mcp-server").trim_end_matches("-server").trim_end_matches("-mcp");
    // A name without such words stays as it is written.
    let short = if short == plain { name.as_str() } else { short };
    if short.is_empty() { name.clone() } else { short.to_owned() }
}

fn command_line(text: &str) -> Result<Contents, PasteError> {
    // Where they stand for quotes, a word or its value begins with one; elsewhere, they are apostrophes of a sentence.
    let value = |word: &'_ str| word.split_once('=').map_or(word, |(_, value)| value).starts_with(is_curly);
    if text.split_whitespace().any(|word| word.starts_with(is_curly) || value(word)) {
        return Err(PasteError::CurlyQuotes);
    }
    let joined = text.replace("\\\n", " ").replace("\\\r\n", " ").replace("`\n", " ");
    let joined = joined.trim_start_matches("$ ");
    let windows = joined.as_bytes().get(1..3) == Some(b":\\");
    let words = if windows {
        plain_words(joined)
    } else {
        shlex::split(joined).unwrap_or_else(|| plain_words(joined))
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(entry) = add_command(&words) {
        return found(entry);
    }
    if reads_like_prose(joined) {
        let quoted = quoted_command(joined)
            .ok_or_else(|| nothing("; it reads like a sentence, not like a command"))?;
        return command_line(quoted);
    }
    let words = last_of_several(&words)?;
    if only_installs(&words) {
        return Err(nothing("; it installs a program and starts none"));
    }
    let variables = words.iter().take_while(|word| is_assignment(word)).count();
    let start = if words.first() == Some(&"env") { 1 } else { 0 };
    let (before, rest) = words.split_at(variables.max(start));
    let Some((command, args)) = rest.split_first() else { return Err(PasteError::Empty) };
    if command.contains(['{', '}', '<', '>', ':']) && !windows {
        return Err(PasteError::Nothing(String::new()));
    }
    let env: Map<String, Value> = before
        .iter()
        .filter_map(|word| word.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect();
    found(json!({ name_of_command(rest): {"command": command, "args": args, "env": env} }))
}

/// The words of a command line; `None` where a quote is open.
pub(super) fn split(line: &str) -> Option<Vec<String>> {
    shlex::split(line).filter(|words| !words.is_empty())
}

/// On Windows, a backslash is part of a path.
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

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// `claude mcp add …`, `codex mcp add …`, `gemini mcp add …`, `code --add-mcp '{…}'`: other programs' commands.
fn add_command(words: &[&str]) -> Option<Value> {
    if let Some(at) = words.iter().position(|word| *word == "--add-mcp") {
        let entry: Value = serde_json::from_str(words.get(at + 1)?).ok()?;
        return Some(json!({ name_of_entry(entry.as_object()?): entry }));
    }
    let at = words.windows(2).position(|pair| pair[0] == "mcp" && matches!(pair[1], "add" | "add-json"))?;
    let json_form = words[at + 1] == "add-json";
    let mut rest = words[at + 2..].iter().copied().peekable();
    let (mut plain, mut env, mut headers, mut sse) = (Vec::new(), Map::new(), Map::new(), false);
    let mut url = None;
    while let Some(word) = rest.next() {
        match word {
            "--" => {
                plain.extend(rest.by_ref());
            }
            "-t" | "--transport" | "--type" => sse = rest.next() == Some("sse"),
            "-s" | "--scope" => drop(rest.next()),
            "--url" => url = rest.next(),
            "-e" | "--env" => {
                let (name, value) = rest.next()?.split_once('=')?;
                env.insert(name.to_owned(), value.into());
            }
            "-H" | "--header" => {
                let (name, value) = rest.next()?.split_once([':', '='])?;
                headers.insert(name.trim().to_owned(), value.trim().into());
            }
            _ if word.starts_with('-') && plain.len() < 2 => {}
            word => plain.push(word),
        }
    }
    let name = *plain.first()?;
    if json_form {
        let entry: Value = serde_json::from_str(plain.get(1)?).ok()?;
        return Some(json!({ name: entry }));
    }
    let entry = match url.or_else(|| plain.get(1).copied().filter(|word| word.starts_with("http"))) {
        Some(url) => json!({"type": if sse { "sse" } else { "http" }, "url": url, "headers": headers}),
        None => json!({"command": plain.get(1)?, "args": plain[2..], "env": env}),
    };
    Some(json!({ name: entry }))
}

fn found(entries: Value) -> Result<Contents, PasteError> {
    let mut contents = read_with(anybody(), anybody(), &entries);
    if contents.servers.is_empty() {
        let why = contents.skipped.first().map(|one| format!(" (\"{}\": {})", one.name, one.reason));
        return Err(PasteError::Nothing(why.unwrap_or_default()));
    }
    contents.servers.iter_mut().for_each(|server| server.words = Words::Pasted);
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Target;

    #[track_caller]
    fn check(text: &str, name: &str, line: &str) {
        let servers = read_pasted(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let server = &servers[0];
        let said = match &server.target {
            Target::Program { command, args, env, .. } => {
                let env = env.iter().map(|(key, value)| format!("{key}={} ", value.as_str().unwrap()));
                format!("{}{command} {}", env.collect::<String>(), args.join(" "))
            }
            Target::Address { url, headers } => format!("{url} {}", Value::Object(headers.clone())),
        };
        assert_eq!((server.name.as_str(), said.trim()), (name, line), "{text}");
    }

    #[test]
    fn everything_that_people_paste_is_understood() {
        check(r#"{"mcpServers": {"a": {"command": "npx", "args": ["x"]}}}"#, "a", "npx x");
        check(
            r#"{"servers": {"a": {"type": "http", "url": "https://x.example/mcp"}}}"#,
            "a",
            "https://x.example/mcp {}",
        );
        check(r#""a": {"command": "npx"},"#, "a", "npx");
        check(r#"{"a": {"command": "npx"}}"#, "a", "npx");
        check(r#"{"command": "uvx", "args": ["mcp-server-time"]}"#, "time", "uvx mcp-server-time");
        check("```json\n{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}\n```", "a", "x");
        check("[mcp_servers.docs]\nurl = \"https://d.example/mcp\"\n", "docs", "https://d.example/mcp {}");
        check("mcpServers:\n  - name: T\n    command: uvx\n    args: [a]\n", "T", "uvx a");
        check("extensions:\n  t:\n    type: stdio\n    command: uvx\n", "t", "uvx");
        check("https://mcp.linear.app/sse", "linear", "https://mcp.linear.app/sse {}");
        check(
            "npx -y @modelcontextprotocol/server-filesystem '/a b'",
            "filesystem",
            "npx -y @modelcontextprotocol/server-filesystem /a b",
        );
        check("A=1 uvx mcp-server-git@2.0", "git", "A=1 uvx mcp-server-git@2.0");
        check("uvx --with 'mcp<2' mcp-server-git==1", "git", "uvx --with mcp<2 mcp-server-git==1");
        check("uvx --python 3.12 my_tool", "my_tool", "uvx --python 3.12 my_tool");
        check("python -m mcp_server_time --local", "time", "python -m mcp_server_time --local");
        check(
            "cmd /c npx -y --registry https://r.example fs-mcp",
            "fs",
            if cfg!(windows) {
                "cmd /c npx -y --registry https://r.example fs-mcp"
            } else {
                "npx -y --registry https://r.example fs-mcp"
            },
        );
        check(
            "docker run -i --rm ghcr.io/github/github-mcp-server",
            "github",
            "docker run -i --rm ghcr.io/github/github-mcp-server",
        );
        check("C:\\tools\\fs-mcp.exe \"C:\\My Files\"", "fs", "C:\\tools\\fs-mcp.exe C:\\My Files");
        check(
            "claude mcp add --transport http gh https://g.example/mcp --header 'A: b'",
            "gh",
            "https://g.example/mcp {\"A\":\"b\"}",
        );
        check("claude mcp add fs -s user -- npx -y fs", "fs", "npx -y fs");
        check(r#"code --add-mcp '{"name":"x","command":"y"}'"#, "x", "y");
        check("npx -y \\\n  thing --flag", "thing", "npx -y thing --flag");
        // Whole passages of a README, and what a shell does before it.
        check(
            "## Install\n\nAdd this to your client:\n\n```json\n{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}\n```\nThen restart it.",
            "a",
            "x",
        );
        check(
            "First:\n```sh\npip install it\n```\nthen\n```json\n{\"a\": {\"command\": \"x\"}}\n```",
            "a",
            "x",
        );
        check("To install, run `npx -y some-mcp --flag`, and restart.", "some", "npx -y some-mcp --flag");
        check("export TOKEN=abc && npx -y some-mcp", "some", "TOKEN=abc npx -y some-mcp");
        check(
            "codex mcp add context7 -- npx -y @upstash/context7-mcp",
            "context7",
            "npx -y @upstash/context7-mcp",
        );
        check("MyServer --port 1", "MyServer", "MyServer --port 1");
        check("my-server --port 1", "my", "my-server --port 1");
        check("MyServer.exe --port 1", "MyServer", "MyServer.exe --port 1");
    }

    #[test]
    fn an_invalid_server_has_a_reason() {
        for (text, part) in [
            ("  ", "nothing to add"),
            ("{\"mcpServers\": {", "line 1, column "),
            ("{\"mcpServers\": {\"a\": {\"command\": \"C:\\Users\\x\"}}}", "has to be written twice"),
            ("{\u{201c}mcpServers\u{201d}: {}}", "curly quotes"),
            ("npx -y x \u{201c}/a b\u{201d}", "curly quotes"),
            ("npx -y x --dir=\u{201c}/a b\u{201d}", "curly quotes"),
            ("{\"theme\": 1}", "no server"),
            ("{\"mcpServers\": {\"a\": {}}}", "no-command-or-url"),
            ("Lorem ipsum dolor sit amet", "reads like a sentence"),
            ("Dear all, this is: a letter!", "reads like a sentence"),
            ("pip install mcp-server-time", "installs a program"),
            ("sudo npm install -g some-mcp", "installs a program"),
            ("curl -s https://x.example/i && sh i", "several commands"),
            ("https://github.com/modelcontextprotocol/servers", "a page about software"),
        ] {
            let error = read_pasted(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
