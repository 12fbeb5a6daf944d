//! Edits the configuration and leaves every part of its text that was not changed as the user wrote it.

use serde_json::{Map, Value};

use super::{Config, ConfigError, SERVERS};
use crate::edit::{Format, Spot};

impl Config {
    /// Edits the servers as JSON and parses the result, which is refused if it is invalid.
    pub(in crate::config) fn edited(
        &self,
        edit: impl FnOnce(&mut Map<String, Value>),
    ) -> Result<Self, ConfigError> {
        self.edited_in(SERVERS, edit)
    }

    /// The same for another block.
    pub(in crate::config) fn edited_in(
        &self,
        block: &str,
        edit: impl FnOnce(&mut Map<String, Value>),
    ) -> Result<Self, ConfigError> {
        self.edited_whole(|root| {
            let block = root.entry(block).or_insert_with(|| Value::Object(Map::new()));
            if let Some(fields) = block.as_object_mut() {
                edit(fields);
            }
        })
    }

    /// The same for the whole document.
    pub(in crate::config) fn edited_whole(
        &self,
        edit: impl FnOnce(&mut Map<String, Value>),
    ) -> Result<Self, ConfigError> {
        let mut document = self.document.clone();
        if !document.is_object() {
            document = Value::Object(Map::new());
        }
        if let Some(root) = document.as_object_mut() {
            edit(root);
        }
        let mut after = Self::parse(&changed(&self.text, &mut Vec::new(), &self.document, &document)?)?;
        // Existing faults may remain in the file; a new or changed entry has to be valid.
        let is_new = |(name, fault): &(&String, &ConfigError)| {
            self.faults.get(*name).is_none_or(|known| known.message != fault.message)
                || self.entry(name) != after.entry(name)
        };
        let added = new_fault(&self.rule_faults, &after.rule_faults);
        if let Some(fault) = added.or_else(|| new_fault(&self.setting_faults, &after.setting_faults)) {
            return Err(fault.clone());
        }
        match after.faults.iter().find(is_new).map(|(name, _)| name.clone()) {
            Some(name) => Err(after.faults.remove(&name).expect("it was found there")),
            None => Ok(after),
        }
    }
}

/// The first fault that was not there before.
fn new_fault<'a>(before: &[ConfigError], after: &'a [ConfigError]) -> Option<&'a ConfigError> {
    let mut known: Vec<&str> = before.iter().map(|fault| fault.message.as_str()).collect();
    after.iter().find(|fault| {
        let same = known.iter().position(|message| *message == fault.message);
        same.map(|at| known.swap_remove(at)).is_none()
    })
}

/// Changes a text from meaning `old` to meaning `new` without touching anything else.
fn changed(text: &str, way: &mut Vec<String>, old: &Value, new: &Value) -> Result<String, ConfigError> {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return Ok(text.to_owned()) };
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mark = &text[..text.len() - bare.len()];
    let mut text = bare.to_owned();
    let cannot =
        |error: crate::edit::EditError| ConfigError { line: 1, column: 1, message: error.to_string() };
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        let spot = Spot { container: way, list: None, name: key };
        text = Format::Json.take(&text, &spot, 0).map_err(cannot)?.unwrap_or(text);
    }
    for (key, value) in new.iter().filter(|(key, value)| old.get(*key) != Some(value)) {
        match old.get(key).filter(|before| before.is_object() && value.is_object()) {
            Some(before) => {
                way.push(key.clone());
                text = changed(&text, way, before, value)?;
                way.pop();
            }
            None => {
                let spot = Spot { container: way, list: None, name: key };
                text = Format::Json.put(&text, &spot, value).map_err(cannot)?.text;
            }
        }
    }
    Ok(format!("{mark}{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_fault_in_a_setting_stays_and_keeps_nothing_from_being_edited() {
        let config =
            Config::parse(r#"{"resultCap": "lots", "mcpServers": {"x": {"command": "x"}}}"#).unwrap();
        let edited =
            config.edited(|servers| drop(servers.insert("y".into(), json!({ "command": "y" })))).unwrap();
        assert!(edited.to_text().contains(r#""resultCap": "lots""#) && edited.servers().len() == 2);
        let worse = config.edited_whole(|root| drop(root.insert("pictures".into(), json!("no"))));
        assert!(worse.unwrap_err().message.contains("must be true or false"));
    }

    #[test]
    fn nothing_unknown_is_lost_by_writing_back() {
        let text = r#"{"$schema":"x","z":[1.50,{"b":1,"a":2}],"mcpServers":{"b":{"command":"x","autoApprove":["y"]},"a":{"url":"http://y","note":null}},"other":true}"#;
        let config = Config::parse(text).unwrap();
        assert_eq!(config.to_text(), text);
        let edited = config.edited(|servers| drop(servers.insert("c".into(), json!({ "command": "x" }))));
        assert_eq!(edited.unwrap().to_text(), text.replace("null}}", r#"null}, "c": {"command": "x"}}"#));
        let marked = Config::parse(&format!("\u{feff}{text}")).unwrap();
        let edited = marked.edited(|servers| drop(servers.shift_remove("b"))).unwrap();
        assert!(edited.to_text().starts_with("\u{feff}{") && edited.servers().len() == 1);
    }
}
