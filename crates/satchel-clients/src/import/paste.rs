//! Parses what people paste: a block from a README, a command line, an address.

use std::sync::OnceLock;

use satchel_entry::{
    launcher::{Launch, program_name},
    slips::Spoilt,
};
use serde_json::{Map, Value, json};

use super::{Contents, FoundEntry, Words, any_format, badge, command_line, container, read_with};
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
                "keychainEnv": "env_keys",
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
    let is_marked = text.starts_with(['{', '[', '"']) && !command_line::is_of_windows(text);
    let is_block = is_marked || text.starts_with("//") || text.lines().count() > 1;
    if !is_block || !text.contains([':', '=', '{']) {
        return line_or_inner_block(text);
    }
    let document = match any_format(text) {
        Ok(document) => document,
        // A multi-line command, if it is no block of YAML.
        Err(error) if !is_marked => {
            let is_block = ["command:", "cmd:", "url:", "mcpServers:"].iter().any(|key| text.contains(key));
            return line_or_inner_block(text).map_err(|fault| match is_block {
                true => PasteError::Damaged(error),
                false => fault,
            });
        }
        Err(error) => return Err(PasteError::Damaged(error)),
    };
    if !document.is_object() {
        return line_or_inner_block(text);
    }
    found(servers_in(&document))
}

/// A command line, or a block that stands in other text: in a sentence, or in a command that writes it into a file.
fn line_or_inner_block(text: &str) -> Result<Contents, PasteError> {
    let fault = match command_line::entries_of(text) {
        Ok(entries) => return found(entries),
        Err(fault) => fault,
    };
    let inner = text.find('{').zip(text.rfind('}')).and_then(|(from, to)| text.get(from..=to));
    let document = inner.and_then(|inner| any_format(inner).ok()).filter(Value::is_object);
    document.and_then(|document| found(servers_in(&document)).ok()).ok_or(fault)
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

pub(super) fn nothing(why: &str) -> PasteError {
    PasteError::Nothing(why.to_owned())
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

pub(super) fn name_of_entry(entry: &Map<String, Value>) -> String {
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
    let host = url.split("://").nth(1).unwrap_or(url).split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or(host).split(':').next().unwrap_or_default();
    let parts: Vec<&str> =
        host.split('.').filter(|part| !matches!(*part, "mcp" | "api" | "www" | "")).collect();
    match parts.as_slice() {
        [.., name, _] => (*name).to_owned(),
        [name] => (*name).to_owned(),
        [] => "server".into(),
    }
}

/// `npx -y @modelcontextprotocol/server-filesystem /tmp` becomes `filesystem`.
pub(super) fn name_of_command(words: &[&str]) -> String {
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

fn found(entries: Value) -> Result<Contents, PasteError> {
    let mut contents = read_with(anybody(), anybody(), &entries);
    if contents.servers.is_empty() {
        let why = contents.skipped.first().map(|one| format!(" (\"{}\": {})", one.name, one.cause()));
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
        check("env OPENAI_KEY=a DEBUG=1 npx -y some-mcp", "some", "OPENAI_KEY=a DEBUG=1 npx -y some-mcp");
        check("/usr/bin/env -i A=/b/env npx -y some-mcp", "some", "A=/b/env npx -y some-mcp");
        check("export TOKEN=abc\nnpx -y some-mcp", "some", "TOKEN=abc npx -y some-mcp");
        check("set TOKEN=abc&& npx -y some-mcp", "some", "TOKEN=abc npx -y some-mcp");
        check("$env:TOKEN = \"abc\"; npx -y some-mcp", "some", "TOKEN=abc npx -y some-mcp");
        check("PS C:\\Users\\me> npx -y some-mcp", "some", "npx -y some-mcp");
        check("C:\\Users\\me>npx -y some-mcp", "some", "npx -y some-mcp");
        check("\\\\host\\share\\some-mcp.exe --x", "some", "\\\\host\\share\\some-mcp.exe --x");
        check(r#"{"a": {"command": "x", "args": "-m y", "env": ["A=1", "B=2"]}}"#, "a", "A=1 B=2 x -m y");
        check(r#"{"a": {"command": "x", "env": [{"name": "A", "value": "1"}]}}"#, "a", "A=1 x");
        check("claude mcp add x -e A=1 B_TOKEN=abcd -- npx -y x-mcp", "x", "A=1 B_TOKEN=abcd npx -y x-mcp");
        check("$ npx -y some-mcp # starts it\n", "some", "npx -y some-mcp");
        check(
            "npx mcp-remote https://x.example/mcp?a=1&b=2",
            "remote",
            "npx mcp-remote https://x.example/mcp?a=1&b=2",
        );
        check("some-mcp --key <YOUR_KEY> 'a | b' \"c; d\"", "some", "some-mcp --key <YOUR_KEY> a | b c; d");
        check(
            "\"C:\\Program Files\\Acme\\acme-mcp.exe\" --root C:\\Docs",
            "acme",
            "C:\\Program Files\\Acme\\acme-mcp.exe --root C:\\Docs",
        );
        check("mcp.deepwiki.com/mcp", "deepwiki", "https://mcp.deepwiki.com/mcp {}");
        check(
            "https://me:pw@mcp.example.com:8443/mcp",
            "example",
            "https://me:pw@mcp.example.com:8443/mcp {}",
        );
        check(
            "gemini mcp add -s user -e API_KEY=a --timeout 10000 mine python server.py -e dev",
            "mine",
            "API_KEY=a python server.py -e dev",
        );
        check("cat > mcp.json <<'EOF'\n{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}\nEOF", "a", "x");
        check("MyServer --port 1", "MyServer", "MyServer --port 1");
        check("my-server --port 1", "my", "my-server --port 1");
        check("MyServer.exe --port 1", "MyServer", "MyServer.exe --port 1");
    }

    #[test]
    fn several_servers_of_one_text_are_all_read() {
        for (text, names) in [
            ("claude mcp add a -- npx -y a-mcp\nclaude mcp add b -- npx -y b-mcp --x", &["a", "b"][..]),
            (r#"{"mcp": {"servers": {"a": {"command": "x"}}}}"#, &["a"]),
        ] {
            let mut found: Vec<_> =
                read_pasted(text).unwrap().into_iter().map(|server| server.name).collect();
            found.sort();
            assert_eq!(found, names, "{text}");
        }
        let added =
            read_pasted("codex mcp add figma --url https://f.example/mcp --bearer-token-env-var TOKEN");
        let Target::Address { headers, .. } = &added.unwrap()[0].target else { panic!("an address") };
        assert!(headers["Authorization"].as_str().is_some_and(|text| text.contains("TOKEN")), "{headers:?}");
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
            ("{\"mcpServers\": {\"a\": {}}}", "neither a program nor an address"),
            ("Lorem ipsum dolor sit amet", "reads like a sentence"),
            ("Dear all, this is: a letter!", "reads like a sentence"),
            ("pip install mcp-server-time", "installs a program"),
            ("sudo npm install -g some-mcp", "installs a program"),
            ("curl -s https://x.example/i && sh i", "several commands"),
            ("npx -y a-mcp\nnpx -y b-mcp", "several commands"),
            ("npx -y good-mcp; rm -rf x", "several commands"),
            ("curl -fsSL https://x.example/i | sh", "a shell would be needed"),
            ("npx -y good-mcp $(cat x)", "a shell would be needed"),
            ("npx -y good-mcp > log", "a shell would be needed"),
            ("npx –y @a/mcp —api-key abc", "dash of a text processor"),
            ("source .env", "a word of a shell"),
            ("curl -X POST https://x.example/mcp", "starts no server"),
            ("sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH", "a credential"),
            ("null", "no server"),
            ("{\"mcpServers\": {\"a\": {\"command\": \"C:\\Projects\\app\"}}}", "has to be written twice"),
            ("mcpServers:\n  - name: a\n    command: \"C:\\Users\\x\"\n", "cannot be read"),
            ("npx -y x 'a", "not closed"),
            ("npx -y @smithery/cli@1 install x --client claude", "installs a program"),
            ("https://github.com/modelcontextprotocol/servers", "a page about software"),
        ] {
            let error = read_pasted(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
