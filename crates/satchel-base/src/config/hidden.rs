//! Hides the credentials of an entry for editing, and puts them back into the edited entry. Stores nothing.

use satchel_entry::credential::{self, FieldKind, in_arguments};
use serde_json::{Map, Value};

use crate::model::control::HIDDEN;

/// Keys of an entry's address.
const ADDRESSES: [&str; 4] = ["url", "serverUrl", "httpUrl", "uri"];

/// The entry with [`HIDDEN`] in place of every credential.
pub fn without_credentials(mut entry: Value) -> Value {
    for (block, place) in
        [("env", FieldKind::Variable), ("headers", FieldKind::Header), ("oauth", FieldKind::Field)]
    {
        let values = entry.get_mut(block).and_then(Value::as_object_mut).into_iter().flatten();
        for (name, value) in values {
            if value.as_str().is_some_and(|text| credential::of(name, text, place).is_credential()) {
                *value = HIDDEN.into();
            }
        }
    }
    for key in ADDRESSES {
        if let Some(Value::String(url)) = entry.get_mut(key) {
            *url = address(key, url);
        }
    }
    if let Some(Value::Array(items)) = entry.get_mut("args") {
        let args: Vec<String> = items.iter().map(|item| item.as_str().unwrap_or_default().into()).collect();
        for (item, shown) in items.iter_mut().zip(arguments(&args)) {
            if item.is_string() {
                *item = shown.into();
            }
        }
    }
    entry
}

/// The address under this key of an entry, with [`HIDDEN`] in place of every credential.
pub fn address(key: &str, url: &str) -> String {
    let mut shown = url.to_owned();
    for part in credential::parts(key, url, FieldKind::Field).into_iter().rev() {
        shown.replace_range(part.range, HIDDEN);
    }
    shown
}

/// The arguments of a program, with [`HIDDEN`] in place of every credential.
pub fn arguments(args: &[String]) -> Vec<String> {
    let mut shown = args.to_vec();
    for found in in_arguments(args).into_iter().rev() {
        if let Some(arg) = shown.get_mut(found.at) {
            arg.replace_range(found.range, HIDDEN);
        }
    }
    shown
}

/// Replaces [`HIDDEN`] in an edited entry by what it hid in the old one.
pub(super) fn unhidden(old: Option<&Value>, new: &Value) -> Result<Value, String> {
    let hidden = old.map(|old| without_credentials(old.clone()));
    restored(old, hidden.as_ref(), new)
}

fn restored(old: Option<&Value>, hidden: Option<&Value>, new: &Value) -> Result<Value, String> {
    match new {
        Value::String(text) if text.contains(HIDDEN) => {
            let old = old.and_then(Value::as_str);
            let shown = hidden.and_then(Value::as_str);
            let text = old.and_then(|old| with_values(text, old, shown.unwrap_or(HIDDEN)));
            text.map(Value::String).ok_or_else(|| {
                format!("\"{HIDDEN}\" stands for no hidden value here; write the value, or ${{secret:NAME}}")
            })
        }
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                let inner = |whole: Option<&'_ Value>| whole.and_then(|whole| whole.get(key)).cloned();
                Ok((key.clone(), restored(inner(old).as_ref(), inner(hidden).as_ref(), value)?))
            };
            fields.iter().map(field).collect::<Result<Map<_, _>, String>>().map(Value::Object)
        }
        Value::Array(items) => {
            let none = vec![];
            let list = |whole: Option<&Value>| whole.and_then(Value::as_array).unwrap_or(&none).clone();
            let (old, hidden) = (list(old), list(hidden));
            let item = |(at, item): (usize, &Value)| {
                let from = origin(items, at, &hidden);
                restored(old.get(from), hidden.get(from), item)
            };
            items.iter().enumerate().map(item).collect()
        }
        other => Ok(other.clone()),
    }
}

/// The position that an item of a list had before others were inserted or removed.
fn origin(items: &[Value], at: usize, hidden: &[Value]) -> usize {
    let same = |from: usize| hidden.get(from) == items.get(at);
    let follows = |from: usize| from > 0 && at > 0 && hidden.get(from - 1) == items.get(at - 1);
    if same(at) {
        return at;
    }
    let all = || (0..hidden.len()).filter(|from| same(*from));
    // An address of which something else was changed.
    let is_part = |item: Option<&Value>| {
        item.and_then(Value::as_str).is_some_and(|text| text != HIDDEN && text.contains(HIDDEN))
    };
    let parts = || (0..hidden.len()).filter(|from| is_part(hidden.get(*from)));
    let changed =
        is_part(items.get(at)).then(|| parts().find(|from| *from == at).or_else(|| parts().next())).flatten();
    all().find(|from| follows(*from)).or_else(|| all().next()).or(changed).unwrap_or(at)
}

/// `shown` is `old` with its credentials hidden. The new text has as many of them, in the same order.
fn with_values(new: &str, old: &str, shown: &str) -> Option<String> {
    if new == HIDDEN {
        return Some(old.to_owned());
    }
    let mut values = Vec::new();
    let mut pieces = shown.split(HIDDEN);
    let mut rest = old.strip_prefix(pieces.next()?)?;
    let pieces: Vec<&str> = pieces.collect();
    for (at, piece) in pieces.iter().enumerate() {
        let end = match at + 1 == pieces.len() {
            true => rest.strip_suffix(piece)?.len(),
            false => rest.find(piece)?,
        };
        values.push(&rest[..end]);
        rest = &rest[end + piece.len()..];
    }
    let parts: Vec<&str> = new.split(HIDDEN).collect();
    if parts.len() != values.len() + 1 {
        return None;
    }
    let mut whole = String::new();
    for (at, part) in parts.iter().enumerate() {
        whole.push_str(part);
        whole.push_str(values.get(at).copied().unwrap_or_default());
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use satchel_entry::credential::{self, CredentialExample};

    #[test]
    fn credentials_are_hidden_wherever_an_entry_has_them() {
        let entry = json!({
            "url": "https://me:pw@a.example/mcp?api_key=k&x=1",
            "headers": { "Authorization": "Bearer abc", "X-Team": "b" },
            "oauth": { "clientId": "app", "clientSecret": "in plain text" },
            "args": ["--token", "abc1", "--x=1", "postgres://me:pw@h/d"],
            "env": { "SSH_PASSPHRASE": "correct horse", "AUTHOR": "me", "REF": "${secret:A}" },
        });
        let shown = json!({
            "url": format!("https://me:{HIDDEN}@a.example/mcp?api_key={HIDDEN}&x=1"),
            "headers": { "Authorization": HIDDEN, "X-Team": "b" },
            "oauth": { "clientId": "app", "clientSecret": HIDDEN },
            "args": ["--token", HIDDEN, "--x=1", format!("postgres://me:{HIDDEN}@h/d")],
            "env": { "SSH_PASSPHRASE": HIDDEN, "AUTHOR": "me", "REF": "${secret:A}" },
        });
        assert_eq!(without_credentials(entry.clone()), shown);
        assert_eq!(unhidden(Some(&entry), &shown), Ok(entry));
    }

    /// The table that every room is tested with.
    #[test]
    fn an_entry_to_edit_hides_what_every_room_calls_a_credential() {
        let mut rows = 0;
        for CredentialExample { name, value, is_credential } in credential::examples() {
            rows += 1;
            let entry = json!({ "command": "x", "env": { name: value } });
            let shown = without_credentials(entry.clone());
            assert_eq!(shown["env"][name] == HIDDEN, is_credential, "{name}={value}");
            assert_eq!(unhidden(Some(&entry), &shown), Ok(entry));
        }
        assert!(rows >= 120, "{rows}");
    }

    #[test]
    fn hidden_values_return_where_the_rest_was_changed() {
        let old = json!({ "args": ["--token", "abc1", "postgres://me:pw@h/d"], "url": "https://h/?key=k" });
        let edit = |args: Value, url: &str| unhidden(Some(&old), &json!({ "args": args, "url": url }));
        let new = json!(["-v", "--token", HIDDEN, format!("postgres://you:{HIDDEN}@h/e")]);
        let edited = edit(new, &format!("https://other/?a=1&key={HIDDEN}")).unwrap();
        assert_eq!(
            edited,
            json!({ "args": ["-v", "--token", "abc1", "postgres://you:pw@h/e"], "url": "https://other/?a=1&key=k" })
        );
        assert!(edit(json!([format!("a{HIDDEN}b{HIDDEN}")]), "x").is_err());
        assert!(edit(json!([]), &format!("{HIDDEN}{HIDDEN}")).is_err());
    }
}
