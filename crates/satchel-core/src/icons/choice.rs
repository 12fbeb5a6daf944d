//! Selects which of a server's icons to show. Pure.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde_json::Value;

/// Maximum number of a server's icons that are considered.
const MOST: usize = 16;
/// Maximum length of an address, in bytes.
const ADDRESS: usize = 2048;
/// Maximum length of a data URL, in bytes.
const DATA: usize = 256 * 1024;
/// Formats that can be re-encoded; SVG is excluded, because it can contain programs.
const TYPES: [&str; 5] = ["image/png", "image/jpeg", "image/jpg", "image/webp", "image/x-icon"];

/// The chosen icon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IconSource {
    /// To be fetched from this address.
    Address(String),
    /// Included as a data URL.
    Data {
        /// The data URL.
        source: String,
        /// Its content.
        bytes: Vec<u8>,
    },
}

impl IconSource {
    /// The source as the server sent it.
    pub fn source(&self) -> &str {
        match self {
            IconSource::Address(source) | IconSource::Data { source, .. } => source,
        }
    }
}

/// The icon in `serverInfo` that best suits a small square; `None` if none can be displayed.
pub fn choose(info: &Value) -> Option<IconSource> {
    let icons = info.get("icons")?.as_array()?.iter().take(MOST);
    let usable = icons.filter_map(|icon| Some((rank(icon), read(icon)?)));
    usable.min_by_key(|(rank, _)| *rank).map(|(_, chosen)| chosen)
}

fn read(icon: &Value) -> Option<IconSource> {
    let source = icon.get("src")?.as_str()?;
    let told = icon.get("mimeType").and_then(Value::as_str);
    let fits = |kind: &str| TYPES.contains(&kind);
    if let Some(data) = source.strip_prefix("data:") {
        let (kind, text) = data.split_once(";base64,")?;
        let bytes = BASE64.decode(text).ok().filter(|_| source.len() <= DATA && fits(kind))?;
        return Some(IconSource::Data { source: source.to_owned(), bytes });
    }
    let path = source.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let is_drawing = path.ends_with(".svg");
    // Without a declared type, the content decides.
    let allowed = source.len() <= ADDRESS && source.contains("://") && told.map_or(!is_drawing, fits);
    allowed.then(|| IconSource::Address(source.to_owned()))
}

/// Lower is better: slightly larger than displayed, then larger, then smaller, then unknown.
fn rank(icon: &Value) -> u64 {
    let sizes = icon.get("sizes");
    let list = sizes.and_then(Value::as_array).into_iter().flatten().chain(sizes).filter_map(Value::as_str);
    let side =
        list.flat_map(str::split_whitespace).filter_map(|size| size.split('x').next()?.parse::<u64>().ok());
    let best = side.map(|side| if side >= 48 { side - 48 } else { 10_000 + (48 - side) }).min();
    best.unwrap_or(20_000)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_icon_that_suits_a_small_square_is_chosen_and_what_cannot_be_shown_is_not() {
        let icon = |src: &str, sizes: Value| json!({ "src": src, "sizes": sizes });
        let chosen = |icons: Value| choose(&json!({ "icons": icons })).map(|one| one.source().to_owned());
        let png = "data:image/png;base64,AAAA";
        for (icons, expected) in [
            (json!([]), None),
            (json!("x"), None),
            (json!([{ "src": 7 }, { "src": "/relative.png" }, { "src": "javascript:alert(1)" }]), None),
            (json!([icon("https://a/x.svg", json!(["any"]))]), None),
            (json!([{ "src": "https://a/x", "mimeType": "image/svg+xml" }]), None),
            (json!([{ "src": "data:image/svg+xml;base64,AAAA" }, { "src": "data:text/html,x" }]), None),
            (
                json!([
                    icon("https://a/16.png", json!(["16x16"])),
                    icon("https://a/512.png", json!("512x512")),
                    icon("https://a/64.png", json!(["64x64"]))
                ]),
                Some("https://a/64.png"),
            ),
            (json!([icon("https://a/?.png", json!(null)), icon(png, json!(["32x32"]))]), Some(png)),
        ] {
            assert_eq!(chosen(icons.clone()).as_deref(), expected, "{icons}");
        }
        assert_eq!(choose(&json!({})), None);
    }
}
