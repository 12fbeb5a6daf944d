//! What a source states of a server beside its description: licence, stars, downloads; and its icon. Pure. Nothing of it
//! is checked, and nothing is ranked by it.

use serde_json::{Map, Value, json};

use super::judge;
use crate::model::listings::ListedFigures;

/// Objects lie within each other no deeper than this.
const DEPTH: usize = 5;
/// Fields that are looked at, over all.
const FIELDS: usize = 400;
/// The longest name of a licence, in characters.
const LICENSE: usize = 60;
/// The longest address of an icon, in bytes.
const ADDRESS: usize = 500;
/// Icons that are kept of one server.
const ICONS: usize = 4;

/// The names that sources give to these figures, in lower case and without `_`.
const STARS: [&str; 6] =
    ["stars", "stargazercount", "stargazerscount", "githubstars", "starcount", "stargazers"];
const DOWNLOADS: [&str; 7] = [
    "downloads",
    "pulls",
    "pullcount",
    "downloadcount",
    "totaldownloads",
    "weeklydownloads",
    "monthlydownloads",
];

/// Of an item of a list: what its registry says (`_meta`), and what its publisher says within the description.
pub fn of(item: &Value) -> ListedFigures {
    let mut figures = ListedFigures::default();
    let server = item.get("server").unwrap_or(item);
    let mut fields = FIELDS;
    for said in [item.get("_meta"), server.get("_meta"), server.get("repository")].into_iter().flatten() {
        collect(said, &mut figures, DEPTH, &mut fields);
    }
    for one in [server.get("license"), server.get("licence")] {
        figures.license = figures.license.take().or_else(|| one.and_then(license));
    }
    figures
}

fn collect(said: &Value, figures: &mut ListedFigures, depth: usize, fields: &mut usize) {
    let Some(object) = said.as_object().filter(|_| depth > 0) else { return };
    for (name, value) in object {
        if *fields == 0 {
            return;
        }
        *fields -= 1;
        let plain: String = name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect();
        match plain.as_str() {
            known if STARS.contains(&known) => figures.stars = figures.stars.or_else(|| value.as_u64()),
            known if DOWNLOADS.contains(&known) => {
                figures.downloads = figures.downloads.or_else(|| value.as_u64());
            }
            "license" | "licence" => figures.license = figures.license.take().or_else(|| license(value)),
            _ => collect(value, figures, depth - 1, fields),
        }
    }
}

/// `MIT`, or `{ "spdx_id": "MIT", "name": "MIT License" }`.
fn license(value: &Value) -> Option<String> {
    let named = ["spdx_id", "spdxId", "spdx", "name", "key"];
    let text = value.as_str().or_else(|| named.iter().find_map(|key| value.get(*key)?.as_str()))?;
    let (plain, _) = judge::plain(text);
    let is_one = !plain.is_empty() && plain.chars().count() <= LICENSE && plain != "NOASSERTION";
    is_one.then_some(plain)
}

/// The icons of a description that may be fetched: https and nothing else, a few of them.
pub fn icons(server: &Value) -> Option<Value> {
    let all = server.get("icons")?.as_array()?;
    let usable = |icon: &&Value| {
        let source = icon.get("src").and_then(Value::as_str).unwrap_or_default();
        source.starts_with("https://") && source.len() <= ADDRESS
    };
    let kept = |icon: &Value| {
        let of = ["src", "mimeType", "sizes"].into_iter();
        let fields = of.filter_map(|key| Some((key.to_owned(), icon.get(key)?.clone())));
        Value::Object(fields.collect::<Map<_, _>>())
    };
    let icons: Vec<Value> = all.iter().filter(usable).take(ICONS).map(kept).collect();
    (!icons.is_empty()).then(|| json!(icons))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_every_place_that_sources_use() {
        let provided = "io.modelcontextprotocol.registry/publisher-provided";
        let figures = |license: Option<&str>, stars, downloads| ListedFigures {
            license: license.map(ToOwned::to_owned),
            stars,
            downloads,
        };
        for (item, expected) in [
            (json!({ "server": {} }), figures(None, None, None)),
            (
                json!({ "server": { "_meta": { provided: { "github": { "stargazer_count": 1200, "license": "MIT" } } } } }),
                figures(Some("MIT"), Some(1200), None),
            ),
            (
                json!({ "server": {}, "_meta": { provided: { "io.github.stacklok": { "ghcr.io/a/b:1": {
                    "metadata": { "stars": 7, "pulls": 90, "last_updated": "2026-01-01" } } } } } }),
                figures(None, Some(7), Some(90)),
            ),
            (
                json!({ "server": { "_meta": { "x": { "license": { "name": "Apache License 2.0", "spdx_id": "Apache-2.0" } } } } }),
                figures(Some("Apache-2.0"), None, None),
            ),
            // Values that are neither numbers nor licence names are ignored.
            (
                json!({ "server": { "license": "x".repeat(100), "_meta": { "x": { "stars": "many", "downloads": -1 } } } }),
                figures(None, None, None),
            ),
            (
                json!({ "server": { "_meta": { "x": { "license": "MI\u{202e}T\u{1b}[1m" } } } }),
                figures(Some("MIT"), None, None),
            ),
        ] {
            assert_eq!(of(&item), expected, "{item}");
        }
    }

    #[test]
    fn deep_or_wide_values_are_not_searched() {
        let mut deep = json!({ "stars": 1 });
        for _ in 0..100 {
            deep = json!({ "a": deep });
        }
        assert_eq!(of(&json!({ "_meta": deep })), ListedFigures::default());
        let wide: Map<String, Value> = (0..10_000).map(|at| (format!("a{at}"), json!({}))).collect();
        assert_eq!(of(&json!({ "_meta": { "a": wide, "stars": 1 } })).stars, None);
    }

    #[test]
    fn only_icons_from_https_are_kept() {
        let icon = |src: &str| json!({ "src": src, "mimeType": "image/png", "theme": "dark" });
        let kept = |icons: Value| icons_of(&icons);
        fn icons_of(icons: &Value) -> Option<Value> {
            super::icons(&json!({ "icons": icons }))
        }
        assert_eq!(
            kept(json!([icon("https://a.example/x.png")])),
            Some(json!([{ "src": "https://a.example/x.png", "mimeType": "image/png" }]))
        );
        for none in [
            json!([
                icon("http://a.example/x.png"),
                icon("file:///etc/passwd"),
                icon("data:image/png;base64,AAAA")
            ]),
            json!([icon(&format!("https://a.example/{}", "x".repeat(600)))]),
            json!("https://a.example/x.png"),
            json!([]),
        ] {
            assert_eq!(kept(none.clone()), None, "{none}");
        }
    }
}
