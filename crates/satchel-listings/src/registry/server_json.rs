//! Reads `server.json`, the MCP registry's description of a server, in its current and earlier forms. Schema:
//! <https://github.com/modelcontextprotocol/registry/tree/main/docs/reference/server-json>.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A server description (`server.json`).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerDocument {
    /// `namespace/name`.
    pub name: String,
    /// The title.
    #[serde(default)]
    pub title: Option<String>,
    /// The description.
    #[serde(default)]
    pub description: String,
    /// The server's version, not that of its packages.
    #[serde(default)]
    pub version: String,
    /// Packages to run locally.
    #[serde(default, deserialize_with = "or_default")]
    pub packages: Vec<Package>,
    /// Hosted instances.
    #[serde(default, deserialize_with = "or_default")]
    pub remotes: Vec<Remote>,
}

/// A package.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Package {
    /// `npm`, `pypi`, `oci`, `nuget` or `mcpb`.
    #[serde(alias = "registry_type", alias = "registry_name")]
    pub registry_type: String,
    /// The package's name, or the bundle's URL.
    #[serde(alias = "name")]
    pub identifier: String,
    /// The exact version.
    #[serde(default)]
    pub version: Option<String>,
    /// The package registry, if not the default one.
    #[serde(default, alias = "registry_base_url")]
    pub registry_base_url: Option<String>,
    /// The SHA-256 of a bundle.
    #[serde(default, alias = "file_sha256")]
    pub file_sha256: Option<String>,
    /// The launcher.
    #[serde(default, alias = "runtime_hint")]
    pub runtime_hint: Option<String>,
    /// Its transport.
    #[serde(default)]
    pub transport: PackageTransport,
    /// Arguments of the launcher.
    #[serde(default, alias = "runtime_arguments", deserialize_with = "or_default")]
    pub runtime_arguments: Vec<Argument>,
    /// Arguments of the server.
    #[serde(default, alias = "package_arguments", deserialize_with = "or_default")]
    pub package_arguments: Vec<Argument>,
    /// Environment variables of the server.
    #[serde(default, alias = "environment_variables", deserialize_with = "or_default")]
    pub environment_variables: Vec<Named>,
}

/// The transport of a package.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct PackageTransport {
    /// `stdio`, `streamable-http` or `sse`; `stdio` by default.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    /// The address where it listens.
    #[serde(default)]
    pub url: Option<String>,
    /// Headers of every request.
    #[serde(default, deserialize_with = "or_default")]
    pub headers: Vec<Named>,
}

/// A hosted instance.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Remote {
    /// `streamable-http` or `sse`.
    #[serde(rename = "type", alias = "transport_type")]
    pub kind: String,
    /// The URL, with `{name}` for inputs.
    pub url: String,
    /// The inputs in the URL.
    #[serde(default, deserialize_with = "or_default")]
    pub variables: Variables,
    /// Headers of every request.
    #[serde(default, deserialize_with = "or_default")]
    pub headers: Vec<Named>,
}

/// Inputs by name, in document order.
pub type Variables = Ordered<Input>;

/// A value, fixed or to be given.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Input {
    /// Its description.
    pub description: Option<String>,
    /// It is required.
    #[serde(alias = "is_required")]
    pub is_required: bool,
    /// It is a credential.
    #[serde(alias = "is_secret")]
    pub is_secret: bool,
    /// `string`, `number`, `boolean` or `filepath`.
    pub format: Option<String>,
    /// Its default.
    #[serde(deserialize_with = "text")]
    pub default: Option<String>,
    /// A sample value.
    pub placeholder: Option<String>,
    /// The allowed values.
    #[serde(deserialize_with = "or_default")]
    pub choices: Vec<String>,
    /// Its value, with `{name}` for inputs.
    #[serde(deserialize_with = "text")]
    pub value: Option<String>,
    /// Inputs to ask for.
    #[serde(deserialize_with = "or_default")]
    pub variables: Variables,
}

/// An input with a name: a variable or a header.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its value.
    #[serde(flatten)]
    pub input: Input,
}

/// A word, or a pair of words, of a command line.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Argument {
    /// `positional` or `named`.
    #[serde(rename = "type")]
    pub kind: String,
    /// With its dashes.
    pub name: Option<String>,
    /// The label of a positional argument.
    #[serde(alias = "value_hint")]
    pub value_hint: Option<String>,
    /// It may be there several times.
    #[serde(alias = "is_repeated")]
    pub is_repeated: bool,
    /// Its value.
    #[serde(flatten)]
    pub input: Input,
}

/// A map that keeps the document's order.
#[derive(Debug, Clone, PartialEq)]
pub struct Ordered<T>(pub Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(vec![])
    }
}

impl<'de, T: serde::de::DeserializeOwned> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let map = serde_json::Map::deserialize(from)?;
        let read = |(key, value)| serde_json::from_value(value).map(|value| (key, value));
        map.into_iter().map(read).collect::<Result<_, _>>().map(Self).map_err(serde::de::Error::custom)
    }
}

/// `null` where something could be.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

/// A number or a switch where a text is meant.
fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(match Option::<Value>::deserialize(from)? {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text),
        Some(other) => Some(other.to_string()),
    })
}

/// A document that is none.
#[derive(Debug, thiserror::Error)]
#[error("this is not a description of an MCP server: {0}")]
pub struct DocumentError(String);

impl ServerDocument {
    /// Reads a document, alone or as the registry wraps it.
    ///
    /// # Errors
    /// [`DocumentError`]
    pub fn read(document: &Value) -> Result<Self, DocumentError> {
        let inside = document.get("server").filter(|inside| inside.is_object()).unwrap_or(document);
        let read: Self = Self::deserialize(inside).map_err(|error| DocumentError(error.to_string()))?;
        if read.packages.is_empty() && read.remotes.is_empty() {
            return Err(DocumentError("it names neither a package nor a remote address".into()));
        }
        Ok(read)
    }
}

/// The status of a document in its registry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Good.
    #[default]
    Active,
    /// Show a warning.
    Deprecated,
    /// Do not offer it.
    Deleted,
}

/// One page of the registry's list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The valid entries, each with its status and whether it is the newest version.
    pub servers: Vec<(ServerDocument, Status, bool)>,
    /// The number of entries that could not be parsed.
    pub skipped: usize,
    /// Where the list goes on.
    pub next: Option<String>,
}

impl Page {
    /// Reads a page. An entry that makes no sense is counted, not fatal.
    pub fn read(page: &Value) -> Self {
        let official = "io.modelcontextprotocol.registry/official";
        let mut read = Self { servers: vec![], skipped: 0, next: None };
        for item in page.get("servers").and_then(Value::as_array).into_iter().flatten() {
            let about = item.get("_meta").and_then(|meta| meta.get(official)).cloned().unwrap_or_default();
            let status = about.get("status").cloned().unwrap_or_default();
            let status = Status::deserialize(&status).unwrap_or_default();
            let latest = about.get("isLatest").and_then(Value::as_bool).unwrap_or(true);
            match ServerDocument::read(item) {
                Ok(document) => read.servers.push((document, status, latest)),
                Err(_) => read.skipped += 1,
            }
        }
        let metadata = page.get("metadata");
        let next = metadata.and_then(|about| about.get("nextCursor").or_else(|| about.get("next_cursor")));
        read.next = next.and_then(Value::as_str).filter(|next| !next.is_empty()).map(ToOwned::to_owned);
        read
    }
}

/// Answers to what was asked, by the prompt's id.
pub type Answers = BTreeMap<String, Value>;
