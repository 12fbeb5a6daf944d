//! Reads the values that entries and settings are made of, and reports each error by line and column.

use std::{collections::BTreeMap, fmt, time::Duration};

use satchel_entry::slips::Spoilt;
use satchel_mcp::{Raw, object::fields};
use serde_json::Value;

use super::file::{ConfigError, SERVERS};

/// What was read, or a cautious value and a line in the list of faults.
pub(super) trait OrListed<T> {
    fn or_listed(self, faults: &mut Vec<ConfigError>, cautious: T) -> T;
}

impl<T> OrListed<T> for Result<T, ConfigError> {
    fn or_listed(self, faults: &mut Vec<ConfigError>, cautious: T) -> T {
        self.unwrap_or_else(|fault| {
            faults.push(fault);
            cautious
        })
    }
}

/// Holds the text, to turn a byte position into line and column.
pub(super) struct ConfigReader<'a> {
    pub(super) text: &'a str,
}

type Fields<'a> = Vec<(String, &'a Raw)>;

impl<'a> ConfigReader<'a> {
    /// Other programs use other keys; a file with one of those would otherwise be silently ignored.
    pub(super) fn has_its_block(&self, root: &Fields<'a>) -> Result<(), ConfigError> {
        if root.iter().any(|(key, _)| key == SERVERS) {
            return Ok(());
        }
        let letters = |key: &str| key.replace(['_', '-'], "").to_lowercase();
        let is_meant = |key: &str| {
            ["servers", "contextservers", &SERVERS.to_lowercase()].contains(&letters(key).as_str())
        };
        match root.iter().find(|(key, value)| is_meant(key) && value.get().starts_with('{')) {
            Some((key, value)) => {
                let message = format!(
                    "the servers are under \"{key}\", as in other programs' files; rename it to \"{SERVERS}\""
                );
                Err(self.at(value.get(), message))
            }
            None => Ok(()),
        }
    }

    pub(super) fn object(&self, json: &'a str, what: &str) -> Result<Fields<'a>, ConfigError> {
        fields(json).map_err(|error| {
            if json.trim_start().starts_with('{') {
                // The syntax has been checked, so only duplicate keys get here.
                let message = error.to_string();
                let reason = message.split(" at line").next().unwrap_or(&message);
                self.at(json, format!("{what}: {reason}"))
            } else {
                self.at(json, format!("{what} must be an object, but is {}", kind(json)))
            }
        })
    }

    pub(super) fn text_of(&self, key: &str, value: &Raw) -> Result<String, ConfigError> {
        serde_json::from_str(value.get()).map_err(|_| {
            self.at(value.get(), format!("\"{key}\" must be a string, but is {}", kind(value.get())))
        })
    }

    pub(super) fn switch(&self, key: &str, value: &Raw) -> Result<bool, ConfigError> {
        serde_json::from_str(value.get()).map_err(|_| {
            self.at(value.get(), format!("\"{key}\" must be true or false, but is {}", kind(value.get())))
        })
    }

    /// A string, or an unquoted number or boolean: `"PORT": 3000` is common and unambiguous.
    fn scalar(&self, what: &str, value: &Raw) -> Result<String, ConfigError> {
        match serde_json::from_str::<Value>(value.get()) {
            Ok(Value::String(text)) => Ok(text),
            Ok(Value::Number(_) | Value::Bool(_)) => Ok(value.get().to_owned()),
            _ => Err(self.at(value.get(), format!("{what} must be a string, but is {}", kind(value.get())))),
        }
    }

    pub(super) fn list(&self, key: &str, value: &'a Raw) -> Result<Vec<String>, ConfigError> {
        let items: Vec<&Raw> = serde_json::from_str(value.get()).map_err(|_| {
            self.at(value.get(), format!("\"{key}\" must be a list of strings, but is {}", kind(value.get())))
        })?;
        items.into_iter().map(|item| self.scalar(&format!("each item of \"{key}\""), item)).collect()
    }

    pub(super) fn map(&self, key: &str, value: &'a Raw) -> Result<BTreeMap<String, String>, ConfigError> {
        self.object(value.get(), &format!("\"{key}\""))?
            .into_iter()
            .map(|(name, value)| Ok((name.clone(), self.scalar(&format!("\"{name}\" in \"{key}\""), value)?)))
            .collect()
    }

    /// Seconds as a number, or a text such as `"90s"`, `"3m"`, `"1h"`, `"500ms"`.
    pub(super) fn duration(&self, key: &str, value: &Raw) -> Result<Duration, ConfigError> {
        let wrong = || {
            let message =
                format!("\"{key}\" must be a number of seconds, or a text such as \"90s\", \"3m\" or \"1h\"");
            self.at(value.get(), message)
        };
        let seconds = match serde_json::from_str::<Value>(value.get()) {
            Ok(Value::Number(number)) => number.as_f64().ok_or_else(wrong)?,
            Ok(Value::String(text)) => {
                let text = text.trim();
                let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
                let number: f64 = text[..digits].parse().map_err(|_| wrong())?;
                number
                    * match text[digits..].trim() {
                        "ms" => 0.001,
                        "s" | "" => 1.0,
                        "m" | "min" => 60.0,
                        "h" => 3600.0,
                        _ => return Err(wrong()),
                    }
            }
            _ => return Err(wrong()),
        };
        Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|d| *d <= Duration::from_secs(31_536_000))
            .ok_or_else(wrong)
    }

    /// An error at `part`, which must be a slice of the text.
    pub(super) fn at(&self, part: &str, message: String) -> ConfigError {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let before = self.text.get(..offset).unwrap_or("");
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        ConfigError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message,
        }
    }

    pub(super) fn syntax(&self, error: &serde_json::Error) -> ConfigError {
        let message = error.to_string();
        let (line, column) = (error.line().max(1), error.column());
        let start: usize = self.text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let spoilt = Spoilt::of(self.text, start + column);
        let reason = match spoilt {
            Some(spoilt) => spoilt.advice(),
            None => message.split(" at line").next().unwrap_or(&message),
        };
        ConfigError { line, column: column.max(1), message: reason.to_owned() }
    }
}

pub(super) fn kind(json: &str) -> impl fmt::Display {
    match json.trim_start().bytes().next() {
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        Some(_) => "a number",
        None => "nothing",
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    #[test]
    fn errors_name_line_and_column() {
        let check = |text: &str, place: (usize, usize), part: &str| {
            let error = match Config::parse(text) {
                Ok(config) => config.faults().values().next().cloned().unwrap(),
                Err(error) => error,
            };
            assert_eq!((error.line, error.column), place, "{error}");
            assert!(error.message.contains(part), "{error}");
        };
        check(
            "{\n  \"mcpServers\": {\n    \"a\": 3\n  }\n}",
            (3, 10),
            "\"a\" must be an object, but is a number",
        );
        check(
            "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"args\": \"y\"}}}",
            (2, 9),
            "\"args\" must be a list of strings, but is a string",
        );
        check(
            "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [\"é\", {}]}}}",
            (1, 53),
            "each item of \"args\"",
        );
        check("{\"mcpServers\": {\"a\": {}}}", (1, 22), "neither \"command\" nor \"url\"");
        check("{\"mcpServers\": {\"a\": {\"command\": \"x\", \"url\": \"http://y\"}}}", (1, 22), "both");
        check("{\"mcpServers\": {\"a\": {\"url\": \"ftp://y\"}}}", (1, 22), "http://");
        check("{\"mcpServers\": {\"a\\n\": {\"command\": \"x\"}}}", (1, 24), "control character");
        check("{\"mcpServers\": {\"\": {\"command\": \"x\"}}}", (1, 21), "cannot be empty");
        check("{\n// mine\n\"mcpServers\": {},\n\"x\": }", (4, 6), "expected value");
        check(
            "{\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"a\": {\"command\": \"y\"}}}",
            (1, 45),
            "occurs twice",
        );
        check("{\"mcpServers\": {\"a\": {\"command\": \"x\", \"startup\": \"now\"}}}", (1, 50), "keep-alive");
        check("{\"mcpServers\": {\"a\": {\"command\": \"x\", \"command\": \"y\"}}}", (1, 22), "occurs twice");
        check(
            "{\"mcpServers\": {\"a\": {\"command\": \"C:\\Users\\x\"}}}",
            (1, 38),
            "has to be written twice",
        );
        check("{\"mcpServers\": {\u{201c}a\u{201d}: {}}}", (1, 17), "curly quotes");
        check("[]", (1, 1), "must be an object, but is a list");
        check("{\"mcpServers\": []}", (1, 16), "must be an object, but is a list");
        check("{\"mcpServers\": {}, \"mcpServers\": {}}", (1, 1), "occurs twice");
        check("{\"servers\": {\"a\": {}}}", (1, 13), "rename it to \"mcpServers\"");
        check("{\"mcp_servers\": {}}", (1, 17), "rename it to \"mcpServers\"");
    }
}
