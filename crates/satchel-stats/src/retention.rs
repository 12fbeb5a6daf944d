//! Retention: how long history is kept, and which arguments and results may be kept at all.

use rusqlite::Connection;
use satchel_mcp::{Raw, object};
use serde_json::Value;

use super::{schema::StoreError, store::sql};
use crate::model::secret::is_named_within;

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

/// Prefixes of keys of well-known services.
const SECRET_STARTS: &[&str] = &[
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "eyJ",
    "npm_",
    "pypi-",
    "hf_",
    "sat_",
    "ntn_",
    "secret_",
    "lin_api_",
];

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
                    _ if is_named_within(name) => Value::from(HIDDEN).to_string(),
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

/// Redacts words that look like keys, and what follows the name of a secret, in any text.
pub fn without_keys(text: &str) -> String {
    words(text)
}

/// What a word implies for the next one.
#[derive(Clone, Copy, PartialEq)]
enum NextToken {
    Plain,
    /// It is the value of a secret, if a colon follows.
    Named,
    Secret,
}

/// Redacts words that look like keys, what follows "Bearer", and what follows the name of a secret and `:` or `=`:
/// text that is not JSON, or too large to parse, is often similar to it.
fn words(text: &str) -> String {
    let mut hidden = String::with_capacity(text.len());
    let mut after_bearer = false;
    let mut next = NextToken::Plain;
    for piece in text.split_inclusive(|c: char| c.is_whitespace() || "\"',;=()<>".contains(c)) {
        let word = piece.trim_end_matches(|c: char| c.is_whitespace() || "\"',;=()<>".contains(c));
        let known = looks_like_key(word);
        // user:password@host
        let login =
            word.split_once("://").and_then(|(_, rest)| rest.split('/').next()?.split_once('@')).is_some();
        let scheme = ["bearer", "basic"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
        let bare = word.trim_matches(|c: char| "\\:[]{}".contains(c));
        if !bare.is_empty() && (known || after_bearer || next == NextToken::Secret && !scheme) {
            hidden.push_str(HIDDEN);
            hidden.push_str(&piece[word.len()..]);
        } else if login
            && let Some((start, (_, rest))) =
                word.split_once("://").and_then(|(s, r)| Some((s, r.split_once('@')?)))
        {
            hidden.push_str(&format!("{start}://{HIDDEN}@{rest}"));
            hidden.push_str(&piece[word.len()..]);
        } else {
            hidden.push_str(piece);
        }
        next = match next {
            // An object holds fields of its own, which are names again: the first is not the value.
            NextToken::Named | NextToken::Secret if bare.is_empty() && word.contains('{') => NextToken::Plain,
            NextToken::Named if bare.is_empty() && word.contains(':') => NextToken::Secret,
            NextToken::Named | NextToken::Secret if bare.is_empty() => next,
            _ if bare.is_empty() || !is_named_within(bare) => NextToken::Plain,
            _ if word.ends_with(':') || piece.ends_with('=') => NextToken::Secret,
            _ if piece.ends_with(['"', '\'']) => NextToken::Named,
            _ => NextToken::Plain,
        };
        if !word.is_empty() {
            after_bearer =
                word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic") && text.len() < 400;
        }
    }
    hidden
}

/// Does it start like a key of a well-known service?
pub fn looks_like_key(word: &str) -> bool {
    word.len() >= 16 && SECRET_STARTS.iter().any(|start| word.starts_with(start))
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
            (r#"["postgres://me:pw@host/db"]"#, r#"["postgres://***@host/db"]"#),
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
