//! Reads the manifest of a bundle and how its server is run. Specification:
//! <https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md>.

use std::collections::BTreeMap;

use satchel_entry::{
    placeholder::{setting_in, without_unset},
    template::{Scanned, scan},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::server_json::Ordered;

/// Supported manifest versions.
const VERSIONS: &[&str] = &["0.1", "0.2", "0.3", "0.4"];

/// A bundle's manifest.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Manifest {
    #[serde(default, alias = "dxt_version")]
    manifest_version: Option<String>,
    /// Its name.
    pub name: String,
    /// Its display name.
    #[serde(default)]
    pub display_name: Option<String>,
    /// Its version.
    pub version: String,
    /// Its description.
    #[serde(default)]
    pub description: String,
    /// The server.
    pub server: Server,
    /// Its inputs.
    #[serde(default)]
    pub user_config: Option<Ordered<Setting>>,
    #[serde(default)]
    compatibility: Option<Compatibility>,
}

/// The server in a bundle.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Server {
    /// `node`, `python`, `binary` or `uv`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The path of its main file in the bundle.
    #[serde(default)]
    pub entry_point: String,
    #[serde(default)]
    mcp_config: Option<McpConfig>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct McpConfig {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Map<String, Value>,
    #[serde(default)]
    platform_overrides: BTreeMap<String, Override>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Override {
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<Map<String, Value>>,
}

/// An input of the server.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Setting {
    /// `string`, `number`, `boolean`, `directory` or `file`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its title.
    pub title: String,
    /// Its description.
    pub description: String,
    /// It is required.
    pub required: bool,
    /// It is a credential.
    pub sensitive: bool,
    /// It takes several values.
    pub multiple: bool,
    /// Its default.
    pub default: Option<Value>,
}

impl Setting {
    /// The format of the input, in the terms of [`crate::model::clients::Need`].
    pub fn format(&self) -> &'static str {
        match self.kind.as_str() {
            "file" => "filepath",
            "directory" => "directory",
            "number" => "number",
            "boolean" => "boolean",
            _ => "",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Compatibility {
    platforms: Option<Vec<String>>,
}

/// Why a manifest is invalid, or its server cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// Not a manifest.
    #[error("manifest.json cannot be read: {0}")]
    Unreadable(String),
    /// Its version is not supported.
    #[error("the bundle's manifest has version {0}, which this version of Satchel does not understand")]
    Version(String),
    /// It does not support this system.
    #[error("the bundle does not run on {0}")]
    Platform(String),
    /// Required inputs are missing.
    #[error("values are missing: {}", .0.join(", "))]
    Missing(Vec<String>),
    /// Its server type is unknown.
    #[error("servers of the kind \"{0}\" cannot be run")]
    Kind(String),
}

/// How to run the server of a bundle.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment variables.
    pub env: Map<String, Value>,
    /// Its working directory, if paths are relative to it.
    pub cwd: Option<String>,
    /// Where credentials were inserted, for example `env.API_KEY`.
    pub secret_fields: Vec<String>,
}

/// The environment in which a bundle runs.
#[derive(Debug, Clone)]
pub struct Around {
    /// `linux`, `darwin` or `win32`.
    pub platform: String,
    /// The bundle's directory.
    pub bundle: String,
    /// `HOME`, `DESKTOP`, `DOCUMENTS` and `DOWNLOADS`.
    pub directories: BTreeMap<String, String>,
}

impl Manifest {
    /// Parses a manifest. Unknown fields are ignored.
    ///
    /// # Errors
    /// [`ManifestError::Unreadable`], [`ManifestError::Version`]
    pub fn read(bytes: &[u8]) -> Result<Self, ManifestError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let value: Value =
            serde_json::from_slice(bytes).map_err(|error| ManifestError::Unreadable(error.to_string()))?;
        let version = ["manifest_version", "dxt_version"].iter().find_map(|key| value.get(*key)?.as_str());
        match version {
            Some(version) if !VERSIONS.contains(&version) => {
                return Err(ManifestError::Version(version.to_owned()));
            }
            Some(_) => {}
            None => return Err(ManifestError::Unreadable("it does not say its version".into())),
        }
        let manifest: Self =
            Self::deserialize(&value).map_err(|error| ManifestError::Unreadable(error.to_string()))?;
        match manifest.name.is_empty() {
            true => Err(ManifestError::Unreadable("it has no name".into())),
            false => Ok(manifest),
        }
    }

    /// The command line.
    ///
    /// # Errors
    /// [`ManifestError`] if it cannot be run here, or not with these answers.
    pub fn run(&self, around: &Around, answers: &Map<String, Value>) -> Result<Run, ManifestError> {
        let platforms = self.compatibility.as_ref().and_then(|about| about.platforms.as_ref());
        if platforms.is_some_and(|all| !all.contains(&around.platform)) {
            return Err(ManifestError::Platform(around.platform.clone()));
        }
        let settings = self.user_config.as_ref().map(|settings| settings.0.as_slice()).unwrap_or_default();
        let given = |name: &str| answers.get(name).filter(|value| !is_empty(value));
        let missing: Vec<String> = settings
            .iter()
            .filter(|(name, setting)| setting.required && given(name).is_none())
            .map(|(name, _)| name.clone())
            .collect();
        if !missing.is_empty() {
            return Err(ManifestError::Missing(missing));
        }
        let values: BTreeMap<&str, &Value> = settings
            .iter()
            .filter_map(|(name, setting)| Some((name.as_str(), given(name).or(setting.default.as_ref())?)))
            .collect();
        let config = self.config(around)?;
        let filling = Filling { around, values };
        let secret: Vec<String> = settings
            .iter()
            .filter(|(name, setting)| setting.sensitive && given(name).is_some())
            .map(|(name, _)| format!("${{user_config.{name}}}"))
            .collect();
        let is_secret = |text: &str| secret.iter().any(|reference| text.contains(reference.as_str()));
        let unset = |text: &str| filling.is_unset(text);
        let given_args =
            config.args.iter().map(|arg| if unset(arg) { Err(arg.clone()) } else { Ok(arg.clone()) });
        let args: Vec<(bool, String)> = without_unset(given_args.collect())
            .iter()
            .flat_map(|arg| filling.arguments(arg).into_iter().map(|word| (is_secret(arg), word)))
            .collect();
        let mut secret_fields: Vec<String> = Vec::new();
        let mut env = Map::new();
        for (name, value) in &config.env {
            let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            if unset(&text) {
                continue;
            }
            if is_secret(&text) {
                secret_fields.push(format!("env.{name}"));
            }
            env.insert(name.clone(), filling.text(&text).into());
        }
        let in_args = args.iter().enumerate().filter(|(_, (secret, _))| *secret);
        secret_fields.extend(in_args.map(|(index, _)| format!("args[{index}]")));
        let (command, cwd) = self.program(&config.command, &filling);
        let args = args.into_iter().map(|(_, word)| word).collect();
        Ok(Run { command, args, env, cwd, secret_fields })
    }

    /// The configuration for this system.
    fn config(&self, around: &Around) -> Result<McpConfig, ManifestError> {
        let Some(config) = self.server.mcp_config.clone() else {
            // The specification makes it optional for uv.
            if self.server.kind != "uv" {
                return Err(ManifestError::Kind(self.server.kind.clone()));
            }
            let words = ["run", "--directory", "${__dirname}", &self.server.entry_point];
            return Ok(McpConfig {
                command: "uv".into(),
                args: words.map(ToOwned::to_owned).to_vec(),
                env: Map::new(),
                platform_overrides: BTreeMap::new(),
            });
        };
        // Overrides replace values completely.
        let own = config.platform_overrides.get(&around.platform).cloned().unwrap_or_default();
        Ok(McpConfig {
            command: own.command.unwrap_or(config.command),
            args: own.args.unwrap_or(config.args),
            env: own.env.unwrap_or(config.env),
            platform_overrides: BTreeMap::new(),
        })
    }

    /// A program in the bundle, with the extension that Windows requires.
    fn program(&self, command: &str, filling: &Filling<'_>) -> (String, Option<String>) {
        let filled = filling.text(command);
        let windows = filling.around.platform == "win32";
        let absolute = filled.starts_with(['/', '\\']) || filled.as_bytes().get(1) == Some(&b':');
        let inside = filled.contains(['/', '\\']) && !absolute;
        let ended = |path: String| {
            let file = path.rsplit(['/', '\\']).next().unwrap_or(&path);
            if windows && self.server.kind == "binary" && !file.contains('.') { path + ".exe" } else { path }
        };
        let bundle = filling.around.bundle.clone();
        match inside {
            true => (ended(format!("{bundle}/{}", filled.trim_start_matches("./"))), Some(bundle)),
            false if absolute => (ended(filled), None),
            false => (filled, None),
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

struct Filling<'a> {
    around: &'a Around,
    values: BTreeMap<&'a str, &'a Value>,
}

impl Filling<'_> {
    /// One argument, or several for a list.
    fn arguments(&self, word: &str) -> Vec<String> {
        let name = word.strip_prefix("${user_config.").and_then(|rest| rest.strip_suffix('}'));
        match name.and_then(|name| self.values.get(name)) {
            Some(Value::Array(items)) => items.iter().map(|item| self.plain(&plain(item))).collect(),
            _ => vec![self.text(word)],
        }
    }

    /// Is the text nothing but a setting that nobody filled in? In a longer text, that part is empty.
    fn is_unset(&self, text: &str) -> bool {
        let name = setting_in(text);
        name.is_some_and(|name| self.values.get(name).is_none_or(|value| is_empty(value)))
    }

    /// Substitutes every name once; substituted values are not expanded again.
    fn text(&self, template: &str) -> String {
        self.replaced(template, true)
    }

    /// A default may contain a directory name; an answer is literal.
    fn plain(&self, value: &str) -> String {
        self.replaced(value, false)
    }

    fn replaced(&self, template: &str, answers: bool) -> String {
        let filled = scan(template, |_| true).into_iter().map(|part| match part {
            Scanned::Text(text) => text.to_owned(),
            Scanned::Placeholder { whole, inside } => {
                self.value(inside, answers).unwrap_or_else(|| whole.to_owned())
            }
        });
        filled.collect()
    }

    fn value(&self, name: &str, answers: bool) -> Option<String> {
        match name {
            "__dirname" => Some(self.around.bundle.clone()),
            "/" | "pathSeparator" => {
                Some(if self.around.platform == "win32" { "\\" } else { "/" }.to_owned())
            }
            "HOME" | "DESKTOP" | "DOCUMENTS" | "DOWNLOADS" => self.around.directories.get(name).cloned(),
            name if answers => {
                let Some(value) = self.values.get(name.strip_prefix("user_config.")?) else {
                    return Some(String::new());
                };
                // A list inside a longer argument has no meaning.
                (!value.is_array()).then(|| plain(value))
            }
            _ => None,
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(config: &Value, args: &Value, env: &Value, answers: &Value) -> Run {
        let manifest = json!({
            "manifest_version": "0.3", "name": "a", "version": "1", "user_config": config,
            "server": { "type": "node", "mcp_config": { "command": "node", "args": args, "env": env } },
        });
        let manifest = Manifest::read(manifest.to_string().as_bytes()).unwrap();
        let around = Around { platform: "linux".into(), bundle: "/b".into(), directories: BTreeMap::new() };
        manifest.run(&around, answers.as_object().unwrap()).unwrap()
    }

    #[test]
    fn a_setting_that_nobody_filled_in_is_left_out_with_its_option() {
        let config = json!({
            "proxy": { "type": "string" }, "level": { "type": "string", "default": "info" },
            "dirs": { "type": "directory", "multiple": true },
        });
        let args = json!([
            "main.js",
            "--proxy",
            "${user_config.proxy}",
            "--via=${user_config.proxy}",
            "--level",
            "${user_config.level}",
            "x${user_config.proxy}y",
            "--dirs",
            "${user_config.dirs}",
            "${user_config.gone}"
        ]);
        let env = json!({ "PROXY": "${user_config.proxy}", "LEVEL": "${user_config.level}", "FIXED": "1" });
        let run_with = |answers: Value| run(&config, &args, &env, &answers);
        let bare = run_with(json!({}));
        assert_eq!(bare.args, ["main.js", "--level", "info", "xy"]);
        assert_eq!(bare.env, json!({ "LEVEL": "info", "FIXED": "1" }).as_object().unwrap().clone());
        let filled = run_with(json!({ "proxy": "http://p", "dirs": ["/a", "/b"] }));
        assert_eq!(
            filled.args,
            [
                "main.js",
                "--proxy",
                "http://p",
                "--via=http://p",
                "--level",
                "info",
                "xhttp://py",
                "--dirs",
                "/a",
                "/b"
            ]
        );
        assert_eq!(filled.env["PROXY"], "http://p");
    }
}
