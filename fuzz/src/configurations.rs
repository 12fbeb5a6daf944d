//! Files of editors and our own: what cannot be read is refused with a place, and an entry put in and taken out again
//! leaves everything else as it was.

use satchel_core::{
    clients::{document::Document, import::Source, table},
    config::Config,
    edit::{self, Format, Spot},
    platform::Platform,
};
use serde_json::json;

/// The first byte selects the format of the rest.
pub(crate) fn run(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let Ok(document) = Document::decode(bytes) else { return };
    let format = [Format::Json, Format::Toml, Format::Yaml][usize::from(choice % 3)];
    if let Err(error) = Config::parse(&document.text) {
        assert!(!error.to_string().is_empty());
    }
    let before = match format.read(&document.text) {
        Err(error) => {
            assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty());
            return;
        }
        Ok(value) => value,
    };
    for client in table::clients().iter().filter(|client| client.format == format) {
        let source = Source {
            client,
            path: "settings".into(),
            scope: "user".into(),
            key: client.key.clone(),
            like: client,
        };
        let _ = source.contents(&before, Platform::Linux);
    }
    let container = ["mcpServers".to_owned()];
    let spot = Spot { container: &container, list: None, name: "satchel" };
    let entry = json!({ "url": "http://127.0.0.1:7411/mcp", "headers": { "Authorization": "Bearer x" } });
    let Ok(edited) = format.put(&document.text, &spot, &entry) else { return };
    let after = format.read(&edited.text).expect("what was edited can be read");
    assert_eq!(edit::at(&after, &spot), Some(&entry));
    let again = format.put(&edited.text, &spot, &entry).expect("it can be put in twice");
    assert_eq!(again.text, edited.text, "put in twice, it is the same");
    // A null container counts as none, and stays as an empty one.
    if edit::container(&before, &container).is_none_or(|there| !there.is_null())
        && edit::at(&before, &spot).is_none()
        && let Ok(Some(taken)) = format.take(&edited.text, &spot, edited.created)
    {
        let back = format.read(&taken).expect("what was edited back can be read");
        let nothing = json!({});
        let same =
            back == before || (back.is_null() || back == nothing) && (before.is_null() || before == nothing);
        assert!(same, "{before} became {back}");
    }
}
