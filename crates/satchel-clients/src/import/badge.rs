//! Parses the install links of README badges: an address that another program opens, with an entry of a server within it
//! as JSON, plain or in base64. Pure. Nothing is opened or fetched: the entry is read out of the link itself.

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde_json::{Map, Value, json};
use url::Url;

/// The longest link that is read, in bytes.
const LONGEST: usize = 64 * 1024;
/// A link leads to another one (`…/redirect?url=vscode:…`) no more often than this.
const DEEP: usize = 3;
/// Where editors look for the fields of an entry that is not JSON.
const CONFIG: [&str; 3] = ["config", "mcp", "server"];

/// The servers that a link describes, by name, as a block would have them; `None` where the text is no such link. A badge
/// in Markdown or HTML counts by the first link in it that is one.
pub(super) fn servers_of(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.len() > LONGEST || text.starts_with(['{', '"']) || !text.contains(':') {
        return None;
    }
    let is_badge = text.starts_with(['[', '<', '!']);
    if !is_badge {
        return (!text.contains(char::is_whitespace)).then(|| of_link(text, DEEP)).flatten();
    }
    let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | '\'' | '<' | '>' | '[' | ']');
    text.split(ends).filter(|part| part.contains(':')).find_map(|part| of_link(part, DEEP))
}

fn of_link(link: &str, deep: usize) -> Option<Value> {
    // An address within HTML.
    let link = link.replace("&amp;", "&");
    let url = Url::parse(&link).ok()?;
    let query = url.query()?;
    let said =
        |wanted: &str| url.query_pairs().find(|(key, _)| key == wanted).map(|(_, value)| value.into_owned());
    if let Some(next) = said("url").filter(|next| deep > 0 && !next.starts_with("http")) {
        return of_link(&next, deep - 1);
    }
    let address = said("url").filter(|next| next.starts_with("http") && url.scheme() == "satchel");
    if let Some(address) = address {
        let name = said("name").unwrap_or_else(|| super::paste::name_of_address(&address));
        return Some(json!({ "mcpServers": { name: { "url": address } } }));
    }
    let name = said("name").or_else(|| said("id")).filter(|name| !name.trim().is_empty());
    let config = CONFIG.iter().find_map(|key| said(key)).and_then(|text| object(&text));
    // `vscode:mcp/install?{…}`: the query is the entry.
    let config = config.or_else(|| object(&decoded(query)));
    let config = config.or_else(|| (url.scheme() == "goose").then(|| words_of(&url)).flatten())?;
    let is_map = |key: &str| config.get(key).is_some_and(Value::is_object);
    if ["mcpServers", "servers"].into_iter().any(is_map) {
        return Some(Value::Object(config));
    }
    let is_server = ["command", "url", "serverUrl", "httpUrl", "uri", "cmd"];
    if !is_server.iter().any(|key| config.get(*key).is_some()) {
        // A map of servers without the block around it.
        let only_objects = !config.is_empty() && config.values().all(Value::is_object);
        return only_objects.then(|| json!({ "mcpServers": config }));
    }
    let own = config.get("name").and_then(Value::as_str).map(ToOwned::to_owned);
    let name = name.or(own).unwrap_or_else(|| "server".to_owned());
    Some(json!({ "mcpServers": { name: whole(config) } }))
}

/// `goose://extension?cmd=npx&arg=-y&arg=…`
fn words_of(url: &Url) -> Option<Map<String, Value>> {
    let all = |wanted: &str| -> Vec<String> {
        let pairs = url.query_pairs().filter(|(key, _)| key == wanted);
        pairs.map(|(_, value)| value.into_owned()).collect()
    };
    let command = all("cmd").into_iter().next()?;
    let Value::Object(entry) = json!({ "command": command, "args": all("arg") }) else { return None };
    Some(entry)
}

/// The entry with its command in one word: links often have the whole line as the command.
fn whole(mut entry: Map<String, Value>) -> Value {
    let line = entry.get("command").and_then(Value::as_str).filter(|line| line.contains(' '));
    let is_line = line
        .filter(|line| !line.contains(['/', '\\']) || line.starts_with("npx ") || line.starts_with("uvx "));
    if let Some(words) = is_line.and_then(super::command_line::split) {
        let mut words = words.into_iter();
        let command = words.next().unwrap_or_default();
        let more = entry.get("args").and_then(Value::as_array).cloned().unwrap_or_default();
        let args: Vec<Value> = words.map(Value::from).chain(more).collect();
        entry.insert("command".into(), command.into());
        entry.insert("args".into(), args.into());
    }
    Value::Object(entry)
}

/// A JSON object, plain or in base64 of either alphabet, with or without its padding.
fn object(text: &str) -> Option<Map<String, Value>> {
    let read = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(object)) => Some(object),
        // As a text within JSON.
        Ok(Value::String(inner)) => serde_json::from_str(&inner).ok(),
        _ => None,
    };
    let text = text.trim();
    if let Some(object) = read(text) {
        return Some(object);
    }
    // A `+` of base64 that nobody escaped is a blank in a query.
    let plain: String = text
        .chars()
        .map(|c| match c {
            ' ' | '-' => '+',
            '_' => '/',
            c => c,
        })
        .collect();
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let bytes = GeneralPurpose::new(&alphabet::STANDARD, lenient).decode(plain.as_bytes()).ok()?;
    let inner = String::from_utf8(bytes).ok()?;
    read(&inner).or_else(|| read(&decoded(&inner)))
}

/// With `%22` and the like read.
fn decoded(query: &str) -> String {
    let whole = format!("x={}", query.replace('&', "%26").replace('=', "%3D").replace('+', "%2B"));
    let decoded = url::form_urlencoded::parse(whole.as_bytes()).next();
    decoded.map(|(_, value)| value.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(link: &str, name: &str, entry: Value) {
        let servers = servers_of(link).unwrap_or_else(|| panic!("no link: {link}"));
        assert_eq!(servers, json!({ "mcpServers": { name: entry } }), "{link}");
    }

    #[test]
    fn badges_of_editors_say_what_they_would_add() {
        check(
            "https://cursor.com/en/install-mcp?name=betterstack&config=eyJ0eXBlIjoiaHR0cCIsInVybCI6Imh0dHBzOi8vbWNwLmJldHRlcnN0YWNrLmNvbSJ9",
            "betterstack",
            json!({ "type": "http", "url": "https://mcp.betterstack.com" }),
        );
        check(
            "https://cursor.com/en-US/install-mcp?name=registry&config=eyJjb21tYW5kIjoibnB4IC15IG1jcC1yZWdpc3RyeS1tY3Atc2VydmVyIn0%3D",
            "registry",
            json!({ "command": "npx", "args": ["-y", "mcp-registry-mcp-server"] }),
        );
        check(
            "cursor://anysphere.cursor-deeplink/mcp/install?name=neurarch&config=eyJjb21tYW5kIjoibnB4IiwiYXJncyI6WyIteSIsIm5ldXJhcmNoLW1jcCIsIi4vbW9kZWwucHkiXX0=",
            "neurarch",
            json!({ "command": "npx", "args": ["-y", "neurarch-mcp", "./model.py"] }),
        );
        check(
            "https://insiders.vscode.dev/redirect/mcp/install?name=fossil&config=%7B%22command%22%3A%22fossil-mcp%22%7D",
            "fossil",
            json!({ "command": "fossil-mcp" }),
        );
        check(
            "vscode:mcp/install?%7B%22name%22%3A%22ca%22%2C%22command%22%3A%22npx%22%2C%22args%22%3A%5B%22-y%22%2C%22x%22%5D%7D",
            "ca",
            json!({ "name": "ca", "command": "npx", "args": ["-y", "x"] }),
        );
        check(
            "https://vscode.dev/redirect?url=vscode%3Amcp%2Finstall%3F%257B%2522name%2522%253A%2522a%2522%252C%2522url%2522%253A%2522https%253A%252F%252Fa.example%252Fmcp%2522%257D",
            "a",
            json!({ "name": "a", "url": "https://a.example/mcp" }),
        );
        check(
            "https://lmstudio.ai/install-mcp?name=exa&config=eyJ1cmwiOiJodHRwczovL21jcC5leGEuYWkvbWNwIn0%3D",
            "exa",
            json!({ "url": "https://mcp.exa.ai/mcp" }),
        );
        check(
            "lmstudio://add_mcp?name=trend&config=eyJjb21tYW5kIjoidXZ4IiwiYXJncyI6WyJtY3AtdHJlbmRwdWxzZSJdfQ",
            "trend",
            json!({ "command": "uvx", "args": ["mcp-trendpulse"] }),
        );
        check(
            "goose://extension?cmd=npx&arg=-y&arg=%40a%2Fmcp&id=a&name=A",
            "A",
            json!({ "command": "npx", "args": ["-y", "@a/mcp"] }),
        );
        check(
            "satchel://install?name=a&url=https%3A%2F%2Fa.example%2Fmcp",
            "a",
            json!({ "url": "https://a.example/mcp" }),
        );
        check(
            "satchel://install?name=a&config=%7B%22command%22%3A%22uvx%22%7D",
            "a",
            json!({ "command": "uvx" }),
        );
    }

    #[test]
    fn a_badge_counts_by_the_link_in_it() {
        check(
            "[![Install MCP Server](https://cursor.com/deeplink/mcp-install-dark.svg)](https://cursor.com/en/install-mcp?name=numertel&config=eyJ1cmwiOiJodHRwczovL251bWVydGVsLnBsL2FwaS9tY3AifQ==)",
            "numertel",
            json!({ "url": "https://numertel.pl/api/mcp" }),
        );
        check(
            "<a href=\"https://lmstudio.ai/install-mcp?name=web&amp;config=eyJjb21tYW5kIjoidXZ4IiwiYXJncyI6WyJ3ZWItcmVzZWFyY2hlci1tY3AiXX0%3D\"><img src=\"https://img.shields.io/badge/LM_Studio-Add_MCP-4A2DB8?style=flat-square\"></a>",
            "web",
            json!({ "command": "uvx", "args": ["web-researcher-mcp"] }),
        );
        let whole = servers_of(
            "https://cursor.com/install-mcp?name=SDK&config=eyJtY3BTZXJ2ZXJzIjp7IlNESyI6eyJ1cmwiOiJodHRwczovL3guZXhhbXBsZSJ9fX0=",
        );
        assert_eq!(whole, Some(json!({ "mcpServers": { "SDK": { "url": "https://x.example" } } })));
    }

    #[test]
    fn an_address_of_a_server_and_any_other_text_is_no_such_link() {
        for text in [
            "https://mcp.linear.app/sse",
            "https://mcp.example.com/mcp?config=prod&name=a",
            "https://mcp.example.com/mcp?key=e30",
            "npx -y thing --url https://a.example/?config=eyJ1cmwiOiJ4In0",
            "C:\\tools\\fs-mcp.exe",
            "https://cursor.com/en/install-mcp?name=a&config=%%%",
            "https://cursor.com/en/install-mcp?name=a&config=W10=",
            "",
        ] {
            assert_eq!(servers_of(text), None, "{text}");
        }
        assert_eq!(servers_of(&format!("x:?config={}", "a".repeat(LONGEST))), None);
    }
}
