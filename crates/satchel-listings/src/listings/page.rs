//! Parses one page of a registry's answer entry by entry, so that a malformed entry hides no other. Pure.

use std::collections::BTreeMap;

use satchel_mcp::Raw;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{figures, reading::Fault};
use crate::{
    model::listings::ListedFigures,
    registry::server_json::{ServerDocument, Status},
};

/// Maximum length of a name by the schema, in characters.
const NAME: usize = 200;
/// The same for title and description.
const TEXT: usize = 100;
/// The same for a status message.
const MESSAGE: usize = 500;
/// Maximum length of a version.
const VERSION: usize = 255;
/// Maximum size of an entry with its texts cut, in bytes.
const ENTRY: usize = 64 * 1024;
/// The key of the registry's own metadata.
const OFFICIAL: &str = "io.modelcontextprotocol.registry/official";
/// The fields of a description that Satchel uses.
const FIELDS: [&str; 8] =
    ["name", "title", "description", "version", "websiteUrl", "repository", "packages", "remotes"];

/// A version of a server in a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// `namespace/name`.
    pub name: String,
    /// The publisher's version number.
    pub version: String,
    /// Its status in the registry.
    #[serde(default)]
    pub status: Status,
    /// The reason for the status: foreign text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The registry calls it the latest.
    pub latest: bool,
    /// When it was published, as RFC 3339; empty if unknown.
    #[serde(default)]
    pub published: String,
    /// When it was last changed.
    #[serde(default)]
    pub updated: String,
    /// Further facts from its source.
    #[serde(default, skip_serializing_if = "ListedFigures::is_empty")]
    pub figures: ListedFigures,
    /// The description, as JSON text.
    pub document: Box<str>,
}

impl Release {
    /// Parses the description.
    pub fn read(&self) -> Option<ServerDocument> {
        ServerDocument::read(&self.value()).ok()
    }

    /// The description including fields that [`ServerDocument`] does not have.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.document).unwrap_or_default()
    }
}

/// A page of a list.
#[derive(Debug, Default, PartialEq)]
pub struct Page {
    /// Usable entries.
    pub releases: Vec<Release>,
    /// Unusable entries, by name and version as far as known, and why.
    pub refused: BTreeMap<String, String>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    servers: Vec<&'a Raw>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default, rename = "nextCursor", alias = "next_cursor")]
    next: Option<String>,
}

impl Page {
    /// Parses a body.
    ///
    /// # Errors
    /// [`Fault::NoList`] if it is not a page.
    pub fn read(body: &[u8]) -> Result<Self, Fault> {
        let body: Body<'_> = serde_json::from_slice(body).map_err(|_| Fault::NoList)?;
        let mut page = Self { next: body.metadata.next.filter(|next| !next.is_empty()), ..Self::default() };
        for raw in body.servers {
            match release(raw) {
                Ok(release) => page.releases.push(release),
                Err((name, why)) => drop(page.refused.insert(name, why)),
            }
        }
        Ok(page)
    }
}

fn release(raw: &Raw) -> Result<Release, (String, String)> {
    let item: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    let server = item.get("server").unwrap_or(&item);
    let text = |key: &str| server.get(key).and_then(Value::as_str).unwrap_or_default();
    let (name, version) = (text("name"), text("version"));
    let refused = |why: &str| (cut(&format!("{name}@{version}"), NAME), why.to_owned());
    if !is_name(name) {
        return Err(refused("its name is not valid for a registry"));
    }
    if version.is_empty() || version.chars().count() > VERSION || version.chars().any(char::is_control) {
        return Err(refused("it has no version"));
    }
    let document = trimmed(server);
    ServerDocument::read(&document).map_err(|error| refused(&error.to_string()))?;
    let document = document.to_string();
    if document.len() > ENTRY {
        return Err(refused("it is larger than 64 KiB"));
    }
    let about = item.get("_meta").and_then(|meta| meta.get(OFFICIAL));
    let said = |key: &str| about.and_then(|about| about.get(key));
    let time = |key: &str| {
        said(key).and_then(Value::as_str).filter(|text| is_time(text)).unwrap_or_default().to_owned()
    };
    let (status, message) = status(said("status"), said("statusMessage").and_then(Value::as_str));
    Ok(Release {
        name: name.to_owned(),
        version: version.to_owned(),
        status,
        message,
        latest: said("isLatest").and_then(Value::as_bool).unwrap_or(true),
        published: time("publishedAt"),
        updated: time("updatedAt"),
        figures: figures::of(&item),
        document: document.into(),
    })
}

/// An unknown status does not recommend a server.
fn status(status: Option<&Value>, message: Option<&str>) -> (Status, Option<String>) {
    let message = message.map(|text| cut(text, MESSAGE));
    match status.map(Value::as_str) {
        None | Some(Some("active")) => (Status::Active, message),
        Some(Some("deprecated")) => (Status::Deprecated, message),
        Some(Some("deleted")) => (Status::Deleted, message),
        Some(other) => {
            let word = other.unwrap_or("something that is no word");
            let said = format!("the registry says \"{}\" of it", cut(word, TEXT));
            (Status::Deprecated, Some(message.map_or(said.clone(), |message| format!("{said}: {message}"))))
        }
    }
}

/// `namespace/name`, in the characters that the schema allows.
pub fn is_name(name: &str) -> bool {
    let plain = |part: &str, more: &[u8]| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
    };
    name.len() <= NAME
        && name
            .split_once('/')
            .is_some_and(|(space, own)| plain(space, b".-") && plain(own, b"._-") && !own.starts_with('.'))
}

/// `2025-09-08T12:10:00Z` and the like, which can be compared as text.
fn is_time(text: &str) -> bool {
    let at = |index: usize| text.as_bytes().get(index).copied().unwrap_or_default();
    (20..=40).contains(&text.len()) && text.is_ascii() && (at(4), at(7), at(10)) == (b'-', b'-', b'T')
}

/// The description without unused fields, and with its texts cut.
fn trimmed(server: &Value) -> Value {
    let mut kept = Map::new();
    for key in FIELDS {
        let Some(value) = server.get(key).filter(|value| !value.is_null()) else { continue };
        let value = match (key, value) {
            ("title" | "description", Value::String(text)) => cut(text, TEXT).into(),
            (_, value) => value.clone(),
        };
        kept.insert(key.to_owned(), value);
    }
    kept.extend(figures::icons(server).map(|icons| ("icons".to_owned(), icons)));
    Value::Object(kept)
}

/// Cuts a text to this many characters, with an ellipsis.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(servers: Value) -> Page {
        Page::read(json!({ "servers": servers, "metadata": { "nextCursor": "c" } }).to_string().as_bytes())
            .unwrap()
    }

    fn server(change: impl FnOnce(&mut Value)) -> Value {
        let mut server = json!({
            "name": "io.github.a/b", "version": "1.0.0", "description": "d",
            "packages": [{ "registryType": "npm", "identifier": "b", "version": "1.0.0" }],
        });
        change(&mut server);
        json!({ "server": server })
    }

    #[test]
    fn an_entry_that_is_wrong_hides_no_other_and_is_counted() {
        let wrong: Vec<Value> = [
            json!("io.github.g\u{456}t/x"),
            json!("io.github.a/../../etc"),
            json!("noslash"),
            json!("a/.."),
            json!("/x"),
            json!(format!("io.github.a/{}", "n".repeat(400))),
            json!(7),
        ]
        .into_iter()
        .map(|name| server(|server| server["name"] = name))
        .chain([
            server(|server| server["version"] = json!(1)),
            server(|server| server["version"] = json!("1\n2")),
            server(|server| server["packages"] = json!({ "registryType": "npm" })),
            server(|server| server["packages"] = Value::Null),
            server(|server| server["packages"][0]["identifier"] = json!("x".repeat(100_000))),
            json!(null),
            json!([]),
            json!("text"),
        ])
        .collect();
        for one in &wrong {
            let page = page(json!([one, server(|_| ())]));
            assert_eq!((page.releases.len(), page.refused.len()), (1, 1), "{one}");
        }
    }

    #[test]
    fn texts_are_cut_and_everything_else_is_kept_as_it_came() {
        let page = page(json!([server(|server| {
            server["description"] = json!("ö".repeat(3_000_000));
            server["unknown"] = json!("x".repeat(3_000_000));
            server["title"] = Value::Null;
        })]));
        let [release] = &page.releases[..] else { panic!("{:?}", page.refused) };
        assert!(release.document.len() < 500, "{}", release.document.len());
        assert_eq!(release.read().unwrap().description.chars().count(), 101);
        assert_eq!(page.next.as_deref(), Some("c"));
    }

    #[test]
    fn registry_metadata_is_read_and_may_be_missing() {
        let with = |about: Value| {
            let mut item = server(|_| ());
            item["_meta"][OFFICIAL] = about;
            page(json!([item])).releases.remove(0)
        };
        let bare = page(json!([server(|_| ())])).releases.remove(0);
        assert_eq!((bare.status, bare.latest, bare.published.as_str()), (Status::Active, true, ""));
        let old = with(json!({ "status": "deleted", "statusMessage": "malware", "isLatest": false,
            "publishedAt": "2025-09-08T12:10:00Z", "updatedAt": "2099" }));
        assert_eq!(
            (old.status, old.latest, old.message.as_deref()),
            (Status::Deleted, false, Some("malware"))
        );
        assert_eq!((old.published.as_str(), old.updated.as_str()), ("2025-09-08T12:10:00Z", ""));
        for unknown in [json!("suspended"), json!(7)] {
            assert_eq!(with(json!({ "status": unknown })).status, Status::Deprecated);
        }
    }

    #[test]
    fn a_body_without_a_list_of_servers_is_a_fault() {
        for body in
            ["", "<html></html>", "{\"servers\": [0,0", "{}", "[]", "{\"servers\": {}}", "\u{1f}\u{8b}"]
        {
            assert!(matches!(Page::read(body.as_bytes()), Err(Fault::NoList)), "{body}");
        }
    }
}
