//! Finds credentials within a text, whatever its name: keys of services, private keys, passwords and parameters in addresses,
//! settings such as `Password=…`, fields of JSON.

use std::ops::Range;

use serde_json::Value;

use super::{
    CredentialPart, CredentialSign, FieldKind, in_arguments,
    names::{self, NamedField},
    values::{self, Form, looks_like_key},
};

/// Longer texts are examined no further than this, in bytes.
const LONGEST: usize = 64 * 1024;
/// Nesting of JSON within JSON.
const DEPTH: usize = 8;
/// Hosts whose addresses contain the credential in their path.
const SECRET_PATHS: &[&str] = &[
    "hooks.slack.com/services/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "hooks.zapier.com/hooks/",
    "api.telegram.org/bot",
    "outlook.office.com/webhook",
    "webhook.office.com/",
    "maker.ifttt.com/trigger/",
    "hook.eu1.make.com/",
    "hook.us1.make.com/",
    "chat.googleapis.com/v1/spaces/",
    "open.feishu.cn/open-apis/bot/",
    "qyapi.weixin.qq.com/cgi-bin/webhook",
    "oapi.dingtalk.com/robot/",
    "mcp.zapier.com/api/mcp/s/",
    "mcp.composio.dev/",
    "mcp.pipedream.net/",
    "mcp.supermemory.ai/",
];
/// What stands before a colon and an `@` without being a login.
const NO_LOGINS: &[&str] = &[
    "npm",
    "jsr",
    "file",
    "pkg",
    "mailto",
    "sip",
    "sips",
    "xmpp",
    "oci",
    "docker",
    "git",
    "urn",
    "acct",
    "node",
    "workspace",
];

/// Why a text contains a credential, if it does.
pub(super) fn evidence(value: &str) -> Option<CredentialSign> {
    evidence_at(start_of(value), 0)
}

fn evidence_at(value: &str, depth: usize) -> Option<CredentialSign> {
    if value.contains("-----BEGIN") && value.contains("PRIVATE KEY") {
        return Some(CredentialSign::PrivateKey);
    }
    if words(value).any(|(_, word)| looks_like_key(word)) {
        return Some(CredentialSign::Key);
    }
    if let Some(part) = of_addresses(value).into_iter().next() {
        return Some(part.evidence);
    }
    if is_login(value) {
        return Some(CredentialSign::Password);
    }
    let in_options = || !in_arguments(&options(value).map(ToOwned::to_owned).collect::<Vec<_>>()).is_empty();
    (in_json(value, depth) || !settings(value).is_empty() || in_options()).then_some(CredentialSign::Setting)
}

/// The keys in a text, and the credentials in its addresses.
pub(super) fn of_keys(value: &str) -> Vec<CredentialPart> {
    let mut parts = of_addresses(value);
    for (at, word) in words(value).filter(|(_, word)| looks_like_key(word)) {
        let range = at..at + word.len();
        if !parts.iter().any(|part| part.range.start < range.end && range.start < part.range.end) {
            parts.push(CredentialPart { label: None, range, evidence: CredentialSign::Key });
        }
    }
    parts.sort_by_key(|part| part.range.start);
    parts
}

/// The words of a text with their positions; a word has no sign that separates values.
fn words(value: &str) -> impl Iterator<Item = (usize, &str)> {
    let separates = |c: char| c.is_whitespace() || ",;\"'=:/?&()<>@|".contains(c);
    value.split(separates).map(|word| (word.as_ptr() as usize - value.as_ptr() as usize, word))
}

fn start_of(value: &str) -> &str {
    let end = (0..=LONGEST.min(value.len())).rev().find(|end| value.is_char_boundary(*end)).unwrap_or(0);
    &value[..end]
}

/// The credentials in the addresses of a text.
pub(super) fn of_addresses(value: &str) -> Vec<CredentialPart> {
    let mut parts = Vec::new();
    let mut from = 0;
    while let Some(found) = value[from..].find("://") {
        let start = from + found + 3;
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`');
        let end = value[start..].find(ends).map_or(value.len(), |length| start + length);
        let before = &value[..from + found];
        let scheme = before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).next();
        in_address(value, scheme.unwrap_or_default(), start..end, &mut parts);
        from = end.max(start);
    }
    parts
}

/// `range` is the address without its scheme.
fn in_address(value: &str, scheme: &str, range: Range<usize>, parts: &mut Vec<CredentialPart>) {
    let (start, rest) = (range.start, &value[range]);
    let login = login_of(rest);
    if let Some(login) = login {
        let of_user = user_info(scheme, login);
        parts.extend(of_user.map(|(label, within)| CredentialPart {
            label: Some(label.into()),
            range: start + within.start..start + within.end,
            evidence: CredentialSign::Password,
        }));
    }
    let behind = login.map_or(0, |login| login.len() + 1);
    let address = &rest[behind..];
    let plain = address.split(['?', '#']).next().unwrap_or(address);
    if SECRET_PATHS.iter().any(|known| plain.starts_with(known) && plain.len() > known.len() + 8) {
        let path = plain.find('/').map_or(plain.len(), |slash| slash + 1);
        let range = start + behind + path..start + behind + plain.len();
        parts.push(CredentialPart { label: Some("path".into()), range, evidence: CredentialSign::Address });
    } else {
        let mut at = behind;
        for segment in plain.split('/') {
            if looks_like_key(segment) {
                let range = start + at..start + at + segment.len();
                parts.push(CredentialPart {
                    label: Some("path".into()),
                    range,
                    evidence: CredentialSign::Key,
                });
            }
            at += segment.len() + 1;
        }
    }
    // The first pair is empty: a separator follows the path.
    let mut at = behind + plain.len();
    for pair in address[plain.len()..].split(['?', '&', '#']) {
        if let Some((name, text)) = pair.split_once('=')
            && is_secret(name, text, FieldKind::Query)
        {
            let from = start + at + name.len() + 1;
            let range = from..from + text.len();
            parts.push(CredentialPart { label: Some(name.into()), range, evidence: CredentialSign::Address });
        }
        at += pair.len() + 1;
    }
}

/// The text before the `@` of an address.
fn login_of(rest: &str) -> Option<&str> {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    if let Some((login, _)) = authority.rsplit_once('@') {
        return Some(login);
    }
    // A password may contain `/`, `?` or `#`, though it should not.
    let (_, port) = authority.split_once(':').filter(|_| !authority.starts_with('['))?;
    let odd = !port.is_empty() && !port.bytes().all(|byte| byte.is_ascii_digit());
    rest.rsplit_once('@').map(|(login, _)| login).filter(|_| odd)
}

/// The credential in a login, and its position.
fn user_info(scheme: &str, login: &str) -> Option<(&'static str, Range<usize>)> {
    if let Some((user, password)) = login.split_once(':') {
        // `https://TOKEN:x-oauth-basic@host`
        if matches!(password, "" | "x-oauth-basic" | "x") && is_plain(user) && user.len() >= 8 {
            return Some(("userinfo", 0..user.len()));
        }
        return is_plain(password).then(|| ("password", user.len() + 1..login.len()));
    }
    let web = matches!(scheme, "http" | "https" | "ws" | "wss" | "git+https" | "git+http");
    let name =
        login.len() <= 12 && login.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '-' | '_' | '.'));
    let is_credential = web && is_plain(login) && !name && !login.contains("%40") || looks_like_key(login);
    is_credential.then_some(("userinfo", 0..login.len()))
}

fn is_plain(value: &str) -> bool {
    !matches!(values::form(value), Form::Empty | Form::Reference | Form::Placeholder)
}

/// Is the value one by its name in a list of settings, or by its own form?
fn is_secret(name: &str, value: &str, place: FieldKind) -> bool {
    let form = values::form(value);
    if matches!(form, Form::Empty | Form::Reference | Form::Placeholder) {
        return false;
    }
    looks_like_key(value) || super::by_name(names::of(name, place), form, value, place).is_credential()
}

/// `user:password@host`, without a scheme.
fn is_login(value: &str) -> bool {
    let Some((login, host)) = value.rsplit_once('@') else { return false };
    let Some((user, password)) = login.split_once(':') else { return false };
    let is_user = !user.is_empty() && user.chars().all(|c| c.is_alphanumeric() || "._-+".contains(c));
    let host = host.split(['/', '?', ':']).next().unwrap_or(host);
    let is_host = host == "localhost"
        || host.contains('(')
        || host.contains('.')
            && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c))
            && !host.starts_with(|c: char| c.is_ascii_digit() && host.len() < 7);
    is_user
        && is_host
        && !NO_LOGINS.contains(&user)
        && !password.contains(char::is_whitespace)
        && !password.starts_with("//")
        && is_plain(password)
}

/// The credentials within a text: in addresses, settings, options, logins, and keys of services. In order, without overlaps.
pub fn within(value: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = of_keys(value).into_iter().map(|part| part.range).collect();
    found.extend(settings(value));
    if is_login(value)
        && let (Some(start), Some(end)) = (value.find(':'), value.rfind('@'))
    {
        found.push(start + 1..end);
    }
    let words: Vec<&str> = options(value).collect();
    let owned: Vec<String> = words.iter().map(ToString::to_string).collect();
    found.extend(in_arguments(&owned).into_iter().map(|one| {
        let start = words[one.at].as_ptr() as usize - value.as_ptr() as usize;
        start + one.range.start..start + one.range.end
    }));
    found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut end = 0;
    found.retain(|range| {
        let after = range.start >= end && !range.is_empty();
        if after {
            end = range.end;
        }
        after
    });
    found
}

/// The words of a list of options. One word is none, so that looking into its words ends.
fn options(value: &str) -> impl Iterator<Item = &str> {
    let named = value.strip_prefix("--").is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    let several = named && value.contains(char::is_whitespace);
    value.split_whitespace().filter(move |_| several)
}

/// These, and those in fields of a JSON text.
pub fn inner(value: &str) -> Vec<Range<usize>> {
    let mut found = within(value);
    let mut texts = Vec::new();
    if let Some(document) = json(value) {
        secret_texts(&document, 0, &mut texts);
    }
    found.extend(texts.iter().filter_map(|text| value.find(text.as_str()).map(|at| at..at + text.len())));
    found
}

/// `Password=…;`, `password=… host=…`, `api-key=…,x=…`, and headers line by line: the values that are credentials.
fn settings(value: &str) -> Vec<Range<usize>> {
    if !value.contains(['=', ':']) || value.starts_with(['{', '[']) {
        return vec![];
    }
    let separators: &[char] = match value.contains(';') {
        true => &[';', '\n'],
        false => &[',', '&', '\n', ' '],
    };
    let range = |text: &str| {
        let start = text.as_ptr() as usize - value.as_ptr() as usize;
        start..start + text.len()
    };
    let is_name = |name: &str, further: &str| {
        !name.is_empty()
            && name.len() <= 48
            && name.chars().all(|c| c.is_alphanumeric() || further.contains(c))
    };
    let setting = |pair: &str| {
        let (name, text) = pair.split_once('=')?;
        let name = name.trim().trim_matches(['"', '\'']);
        let start = text.len() - text.trim_start_matches([' ', '"', '\'']).len();
        let text = text[start..].trim_end_matches([' ', '"', '\'']);
        (is_name(name, "_-. ") && is_named_secret(name) && is_secret(name, text, FieldKind::Field))
            .then_some(start)?;
        let from = pair.len() - pair.split_once('=')?.1.len() + start;
        Some(range(&pair[from..from + text.len()]))
    };
    let header = |line: &str| {
        let (name, text) = line.split_once(':')?;
        let secret = is_name(name.trim(), "_-") && is_named_secret(name) && !text.starts_with("//");
        (secret && is_secret(name, text.trim(), FieldKind::Header)).then_some(())?;
        let from = line.len() - text.len() + (text.len() - super::after_scheme(text.trim_start()).len());
        Some(range(line[from..].trim()))
    };
    // `Authorization=Bearer …` contains a space.
    let whole = (!value.contains([';', ',', '&', '\n'])).then(|| setting(value)).flatten();
    let settings = value.split(separators).filter_map(setting);
    whole.into_iter().chain(settings).chain(value.split(['\n', ';', ',']).filter_map(header)).collect()
}

fn is_named_secret(name: &str) -> bool {
    matches!(names::of(name, FieldKind::Field), NamedField::Secret { .. })
}

fn json(value: &str) -> Option<Value> {
    let text = value.trim();
    text.starts_with(['{', '[']).then(|| serde_json::from_str(text).ok()).flatten()
}

fn in_json(value: &str, depth: usize) -> bool {
    depth <= DEPTH && json(value).is_some_and(|value| holds(&value, depth))
}

fn holds(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(name, value)| match value {
            Value::String(text) => {
                is_secret(name, text, FieldKind::Field) || evidence_at(text, depth + 1).is_some()
            }
            other => holds(other, depth),
        }),
        Value::Array(items) => items.iter().any(|item| holds(item, depth)),
        Value::String(text) => evidence_at(text, depth + 1).is_some(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The texts of a document that are credentials by their names.
fn secret_texts(value: &Value, depth: usize, found: &mut Vec<String>) {
    match value {
        _ if depth > DEPTH => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if is_secret(name, text, FieldKind::Field) => {
                        found.push(super::after_scheme(text).to_owned());
                    }
                    other => secret_texts(other, depth + 1, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| secret_texts(item, depth + 1, found)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Does an address of the web have a user name?
pub(super) fn is_signed_in(value: &str) -> bool {
    let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
    rest.and_then(login_of).is_some_and(|login| !login.is_empty())
}

/// Does the path of an address contain something that nobody would guess?
pub(super) fn has_secret_path(value: &str) -> bool {
    let rest = value.split_once("://").map_or(value, |(_, rest)| rest);
    let path = rest.split_once('/').map_or("", |(_, path)| path);
    let guessed = |segment: &str| {
        let digits = segment.bytes().filter(u8::is_ascii_digit).count();
        segment.len() < 16 || digits == 0 || digits == segment.len()
    };
    path.split(['/', '?', '#', '=', '&']).any(|segment| !guessed(segment))
}

/// Percent-decoded, if it contains escapes.
pub fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok().filter(|plain| plain != text)
}
