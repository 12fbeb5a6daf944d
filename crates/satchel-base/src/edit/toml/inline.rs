//! Edits entries of a TOML table written on one line: `mcp_servers = { a = { … } }`. A separate table `[mcp_servers.b]`
//! would make such a file invalid, so new entries go between the braces.

use serde_json::Value;
use toml_edit::{InlineTable, Item};

use super::{
    super::{EditError, Patch, Ways, wrong_shape},
    bare_key, inline,
};

/// Adds the entry to this table, inside the missing containers.
pub(super) fn put(
    mut table: &InlineTable,
    containers: &[String],
    name: &str,
    entry: &Value,
) -> Result<(Ways, usize), EditError> {
    for (depth, key) in containers.iter().enumerate() {
        match table.get(key) {
            Some(toml_edit::Value::InlineTable(inner)) => table = inner,
            Some(_) => return Err(wrong_shape(&containers[..=depth], "a table")),
            None => {
                let missing = &containers[depth + 1..];
                let wrap = |value: String, key: &str| format!("{{ {} = {value} }}", bare_key(key));
                let names = missing.iter().map(String::as_str).chain([name]);
                let value = names.rev().fold(inline(entry), wrap);
                return Ok((add(table, key, &value)?, containers.len() - depth));
            }
        }
    }
    match table.get(name) {
        Some(old) => {
            let range = old.span().ok_or(EditError::Unfaithful)?;
            Ok((vec![vec![Patch::new(range, inline(entry))]], 0))
        }
        None => Ok((add(table, name, &inline(entry))?, 0)),
    }
}

/// After the last entry, so that everything else stays in place.
fn add(table: &InlineTable, name: &str, value: &str) -> Result<Ways, EditError> {
    let entry = format!("{} = {value}", bare_key(name));
    let patch = match table.iter().filter_map(|(_, value)| Some(value.span()?.end)).max() {
        Some(end) => Patch::new(end..end, format!(", {entry}")),
        None => Patch::new(table.span().ok_or(EditError::Unfaithful)?, format!("{{ {entry} }}")),
    };
    Ok(vec![vec![patch]])
}

/// Removes an entry with its comma.
pub(super) fn take(table: &InlineTable, name: &str) -> Option<Vec<Patch>> {
    let mut members = Vec::new();
    for (key, value) in table.iter() {
        let start = table.key(key)?.span()?.start;
        members.push((key, start..value.span()?.end));
    }
    members.sort_by_key(|(_, range)| range.start);
    let at = members.iter().position(|(key, _)| *key == name)?;
    let own = members[at].1.clone();
    let range = match (at.checked_sub(1).map(|before| &members[before].1), members.get(at + 1)) {
        (Some(before), _) => before.end..own.end,
        (None, Some((_, next))) => own.start..next.start,
        (None, None) => return Some(vec![Patch::new(table.span()?, "{}")]),
    };
    Some(vec![Patch::new(range, "")])
}

/// The inline table of this item, if it is one.
pub(super) fn table_of(item: &Item) -> Option<&InlineTable> {
    item.as_value().and_then(toml_edit::Value::as_inline_table)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::edit::{Format, Spot};

    fn spot(container: &[String]) -> Spot<'_> {
        Spot { container, list: None, name: "satchel" }
    }

    /// Adds an entry, replaces it, and removes it again.
    fn check(container: &[&str], before: &str, with: &str) {
        let container: Vec<String> = container.iter().map(ToString::to_string).collect();
        let spot = spot(&container);
        let entry = json!({ "url": "http://x", "http_headers": { "A": "b" } });
        let put = Format::Toml.put(before, &spot, &entry).unwrap();
        assert_eq!(put.text, with);
        let other = Format::Toml.put(&put.text, &spot, &json!({ "url": "y" })).unwrap();
        let there = crate::edit::at(&Format::Toml.read(&other.text).unwrap(), &spot).cloned();
        assert_eq!(there, Some(json!({ "url": "y" })));
        let taken = Format::Toml.take(&put.text, &spot, put.created).unwrap().unwrap();
        let read = |text: &str| Format::Toml.read(text).unwrap();
        assert!(taken == before || read(&taken) == read(before), "{taken}");
    }

    #[test]
    fn an_entry_goes_between_the_braces_of_a_table_in_one_line() {
        let ours = r#"satchel = { "url" = "http://x", "http_headers" = { "A" = "b" } }"#;
        let line =
            |inside: &str| format!("model = \"o3\"\nmcp_servers = {inside} # mine\n\n[other]\nk = 1\n");
        check(
            &["mcp_servers"],
            &line(r#"{ a = { command = "x" }, "b c" = { command = "y" } }"#),
            &line(&format!(r#"{{ a = {{ command = "x" }}, "b c" = {{ command = "y" }}, {ours} }}"#)),
        );
        check(&["mcp_servers"], &line("{}"), &line(&format!("{{ {ours} }}")));
        check(
            &["mcp_servers"],
            &line("{a={command=\"}, \"}}"),
            &line(&format!("{{a={{command=\"}}, \"}}, {ours}}}")),
        );
        check(&["mcp_servers", "x"], &line("{ a = 1 }"), &line(&format!("{{ a = 1, x = {{ {ours} }} }}")));
        check(
            &["t", "servers"],
            "[t]\nservers = { a = { b = 1 } }\n",
            &format!("[t]\nservers = {{ a = {{ b = 1 }}, {ours} }}\n"),
        );
    }

    #[test]
    fn an_entry_that_stands_first_goes_without_its_comma() {
        let container = ["s".to_owned()];
        let text = "s = { satchel = { url = \"x\" }, a = 1 }\n";
        let taken = Format::Toml.take(text, &spot(&container), 0).unwrap();
        assert_eq!(taken.as_deref(), Some("s = { a = 1 }\n"));
        let taken = Format::Toml.take("s = { satchel = 1 }\n", &spot(&container), 0).unwrap();
        assert_eq!(taken.as_deref(), Some("s = {}\n"));
    }

    #[test]
    fn a_value_that_is_no_table_is_not_replaced() {
        let container = ["s".to_owned(), "t".to_owned()];
        for text in ["s = 1\n", "s = { t = [1] }\n", "s = [{ t = 1 }]\n"] {
            assert!(Format::Toml.put(text, &spot(&container), &json!({ "url": "y" })).is_err(), "{text}");
        }
    }
}
