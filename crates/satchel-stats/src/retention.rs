//! Retention: how long history is kept, and which arguments and results may be kept at all.

use rusqlite::Connection;
use satchel_entry::credential::{self, CredentialSign, FieldKind, Verdict, looks_like_key};
use satchel_mcp::{Raw, object};
use serde_json::Value;

use super::{schema::StoreError, store::sql};

/// Maximum stored size of a call's arguments or result, in bytes.
pub const CAP: usize = 16 * 1024;
/// Longer texts are not parsed as JSON; only their beginning is scanned.
const READ: usize = 1024 * 1024;
/// Maximum nesting; deeper values are scanned as text.
const DEPTH: usize = 100;
/// Replaces a secret.
const HIDDEN: &str = "***";
/// Number of rows deleted at a time when the ledger is too large.
const STEP: i64 = 5_000;
/// Token counts of texts not seen for this long are deleted.
const TEXTS_DAYS: u64 = 30;

/// A JSON text in storable form: redacted, at most [`CAP`] bytes.
pub fn redacted(json: &str) -> String {
    if json.len() > READ {
        return cut(&words(&cut(json, 2 * CAP)), CAP);
    }
    cut(&redact(json, 0), CAP)
}

/// Numbers and the order of fields stay as written.
fn redact(json: &str, depth: usize) -> String {
    let json = json.trim();
    if depth > DEPTH {
        return words(json);
    }
    match json.as_bytes().first() {
        Some(b'{') => {
            let Ok(fields) = object::fields(json) else { return words(json) };
            let field = |(name, value): &(String, &Raw)| {
                let value = match value.get() {
                    value @ ("null" | "true" | "false") => value.to_owned(),
                    value if is_credential(name, value) => Value::from(HIDDEN).to_string(),
                    value => redact(value, depth + 1),
                };
                format!("{}:{value}", Value::from(name.as_str()))
            };
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
        }
        Some(b'[') => {
            let Ok(items) = serde_json::from_str::<Vec<&Raw>>(json) else { return words(json) };
            let items = items.iter().map(|item| redact(item.get(), depth + 1));
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        }
        Some(b'"') => {
            let Ok(text) = serde_json::from_str::<String>(json) else { return words(json) };
            // Results often contain JSON as text.
            let is_json =
                text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<&Raw>(&text).is_ok();
            let kept = if is_json { redact(&text, depth + 1) } else { words(&text) };
            Value::from(kept).to_string()
        }
        _ if serde_json::from_str::<&Raw>(json).is_ok() => json.to_owned(),
        _ => words(json),
    }
}

/// Is the value of this field one, written as JSON? A list or object of a secret is one too.
fn is_credential(name: &str, json: &str) -> bool {
    match serde_json::from_str::<Value>(json) {
        // What a text contains is taken out of it; the rest stays readable.
        Ok(Value::String(text)) => match credential::of(name, &text, FieldKind::Field) {
            Verdict::Credential(
                CredentialSign::Name | CredentialSign::PrivateKey | CredentialSign::Random,
            ) => true,
            Verdict::Credential(_) => {
                !text.trim_start().starts_with(['{', '[']) && credential::within(&text).is_empty()
            }
            Verdict::Plain(_) => false,
        },
        Ok(Value::Number(_)) => credential::of(name, json, FieldKind::Field).is_credential(),
        _ => credential::is_named(name),
    }
}

/// Redacts words that look like keys, and what follows the name of a secret, in any text.
pub fn without_keys(text: &str) -> String {
    words(text)
}

/// What a word implies for the next one.
#[derive(Clone, Copy)]
enum NextToken<'a> {
    Plain,
    /// It is the value of this secret, if a colon follows.
    Named(&'a str),
    Secret(&'a str),
}

impl NextToken<'_> {
    /// Is this word the value of a secret? A switch or a path is none.
    fn is(self, word: &str) -> bool {
        matches!(self, NextToken::Secret(name) if credential::of(name, word, FieldKind::Field).is_credential())
    }
}

/// Redacts words that look like keys, what follows "Bearer", and what follows the name of a secret and `:` or `=`:
/// text that is not JSON, or too large to parse, is often similar to it.
fn words(text: &str) -> String {
    let mut text = text.to_owned();
    for range in credential::within(&text).into_iter().rev() {
        text.replace_range(range, HIDDEN);
    }
    let mut hidden = String::with_capacity(text.len());
    let mut after_bearer = false;
    let mut next = NextToken::Plain;
    for piece in text.split_inclusive(|c: char| c.is_whitespace() || "\"',;=()<>".contains(c)) {
        let word = piece.trim_end_matches(|c: char| c.is_whitespace() || "\"',;=()<>".contains(c));
        let known = looks_like_key(word);
        let scheme = ["bearer", "basic"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
        let bare = word.trim_matches(|c: char| "\\:[]{}".contains(c));
        if !bare.is_empty() && (known || after_bearer || next.is(word) && !scheme) {
            hidden.push_str(HIDDEN);
            hidden.push_str(&piece[word.len()..]);
        } else {
            hidden.push_str(piece);
        }
        next = match next {
            // An object holds fields of its own, which are names again: the first is not the value.
            NextToken::Named(_) | NextToken::Secret(_) if bare.is_empty() && word.contains('{') => {
                NextToken::Plain
            }
            NextToken::Named(name) if bare.is_empty() && word.contains(':') => NextToken::Secret(name),
            NextToken::Named(_) | NextToken::Secret(_) if bare.is_empty() => next,
            _ if bare.is_empty() || !credential::is_of_a_secret(bare) => NextToken::Plain,
            _ if word.ends_with(':') || piece.ends_with('=') => NextToken::Secret(bare),
            _ if piece.ends_with(['"', '\'']) => NextToken::Named(bare),
            _ => NextToken::Plain,
        };
        if !word.is_empty() {
            after_bearer =
                word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic") && text.len() < 400;
        }
    }
    hidden
}

/// Cuts a text to at most this many bytes, at a character boundary.
pub fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = (0..=bytes).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end])
}

/// Deletes calls older than `days`, then the oldest until the file has at most `bytes`.
pub(super) fn retain(connection: &Connection, now_ms: u64, days: u32, bytes: u64) -> Result<(), StoreError> {
    const DAY: u64 = 24 * 3600 * 1000;
    let oldest = now_ms.saturating_sub(u64::from(days) * DAY);
    connection.execute("DELETE FROM calls WHERE time_ms < ?1", [sql(oldest)])?;
    let texts = now_ms.saturating_sub(TEXTS_DAYS * DAY);
    connection.execute("DELETE FROM texts WHERE counted_ms < ?1", [sql(texts)])?;
    let hours = super::store::hour(
        connection,
        now_ms.saturating_sub(u64::from(super::report::HOURS + 24) * 3_600_000),
    )?;
    connection.execute("DELETE FROM hours WHERE hour < ?1", [hours])?;
    connection.execute("DELETE FROM tool_costs WHERE hour < ?1", [hours])?;
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    loop {
        let used = (pragma("page_count")? - pragma("freelist_count")?) * pragma("page_size")?;
        if used.unsigned_abs() <= bytes {
            break;
        }
        let before = "DELETE FROM calls WHERE id <= (SELECT id FROM calls ORDER BY id LIMIT 1 OFFSET ?1)";
        // The last few remain: the totals alone may exceed the limit.
        if connection.execute(before, [STEP])? == 0 {
            break;
        }
    }
    // Returns free pages to the file system.
    let mut pages = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut freed = pages.query([])?;
    while freed.next()?.is_some() {}
    Ok(())
}

/// Deletes every call; with `sums`, everything else too. Leaves no traces in the file or beside it.
pub(super) fn delete(connection: &Connection, sums: bool) -> Result<(), StoreError> {
    connection.execute_batch("BEGIN; DELETE FROM calls; DELETE FROM texts;")?;
    let rest = "DELETE FROM sessions; DELETE FROM tool_costs; DELETE FROM tool_costs_days; DELETE FROM hours;
                DELETE FROM days; DELETE FROM baselines; DELETE FROM sharing;
                DELETE FROM baseline_tools; DELETE FROM facts;";
    if sums {
        connection.execute_batch(rest)?;
    }
    connection.execute_batch("COMMIT")?;
    connection.execute_batch("VACUUM")?;
    let mut emptied = connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)")?;
    let mut rows = emptied.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use satchel_entry::credential::{self, CredentialExample};

    /// The table that every room is tested with.
    #[test]
    fn what_is_kept_has_the_verdict_of_every_room() {
        let mut rows = 0;
        for CredentialExample { name, value, is_credential } in credential::examples() {
            // A random text in a tool's arguments is more often the identifier of a document.
            if name == "FOO" {
                continue;
            }
            rows += 1;
            let json = serde_json::json!({ name: value }).to_string();
            assert_eq!(redacted(&json) != json, is_credential, "{name}={value}: {}", redacted(&json));
        }
        assert!(rows >= 120, "{rows}");
    }

    #[test]
    fn behind_the_name_of_a_secret_its_value_is_hidden_in_any_text() {
        for (text, hidden) in [
            (r#"{""api_key":"plain-value"}"#, true),
            (r#"{"password": "plain-value""#, true),
            (r#"{\"password\":\"plain-value\""#, true),
            ("PASSWORD=plain-value and more", true),
            ("password: plain-value", true),
            ("{'client_secret' : 'plain-value'}", true),
            ("the password is plain-value", false),
            (r#"{"max_tokens":"plain-value"#, false),
            (r#""secret", "plain-value""#, false),
        ] {
            assert_eq!(words(text).contains("plain-value"), !hidden, "{text}: {}", words(text));
        }
        assert!(!words(r#"{""api_key":"plain-value"}"#).is_empty());
    }

    #[test]
    fn secrets_are_taken_out_of_what_is_kept() {
        for (json, expected) in [
            (r#"{"path":"/a","api_key":"x"}"#, r#"{"path":"/a","api_key":"***"}"#),
            (r#"{"headers":{"Authorization":["Bearer x"]}}"#, r#"{"headers":{"Authorization":"***"}}"#),
            (r#"{"max_tokens":5,"pageToken":"p"}"#, r#"{"max_tokens":5,"pageToken":"p"}"#),
            (
                r#"{"accessToken":"a","pin":1,"spinner":2}"#,
                r#"{"accessToken":"***","pin":"***","spinner":2}"#,
            ),
            (r#"["key ghp_0123456789abcdef end"]"#, r#"["key *** end"]"#),
            (r#"["curl -H 'Authorization: Bearer abc' x"]"#, r#"["curl -H 'Authorization: Bearer ***' x"]"#),
            (r#"["postgres://me:pw@host/db"]"#, r#"["postgres://me:***@host/db"]"#),
            (r#"["postgres://me@host/db"]"#, r#"["postgres://me@host/db"]"#),
            (r#"[{"text":"{\"password\":\"p\"}"}]"#, r#"[{"text":"{\"password\":\"***\"}"}]"#),
            (r#"["a plain sentence, nothing more"]"#, r#"["a plain sentence, nothing more"]"#),
            (
                r#"{"z": 1.10, "a":[12345678901234567890123, -0, 1E5],"t":"{\"n\":1.0}"}"#,
                r#"{"z":1.10,"a":[12345678901234567890123,-0,1E5],"t":"{\"n\":1.0}"}"#,
            ),
        ] {
            assert_eq!(redacted(json), expected);
        }
        assert!(redacted(&format!("[\"{}\"]", "x".repeat(2 * CAP))).len() <= CAP + 3);
        assert_eq!(cut("äöü", 3), "ä…");
    }
}
