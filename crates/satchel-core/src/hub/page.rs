//! Reads what a server says of a page of MCP Apps (`docs/extensions/apps/overview.mdx`, SEP-1865): its HTML, and what it
//! declares to reach. Pure; shows nothing.

use base64::{Engine, prelude::BASE64_STANDARD};
use satchel_mcp::{Raw, RawObject};
use serde::Deserialize;

use crate::{
    model::{
        Code,
        control::Refusal,
        trying::{AppPage, PageReach},
    },
    trust::reach,
};

/// The scheme of a page's address.
const SCHEME: &str = "ui://";
/// The only type of content there is.
const TYPE: &str = "text/html;profile=mcp-app";
/// Larger pages are not shown: bytes of HTML.
const LARGEST: usize = 8 * 1024 * 1024;

/// What a page declares, in the field names of the specification. Whatever does not fit is left out.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Declared {
    csp: DeclaredReach,
    prefers_border: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DeclaredReach {
    connect_domains: Vec<String>,
    resource_domains: Vec<String>,
    frame_domains: Vec<String>,
    base_uri_domains: Vec<String>,
}

/// Can a page have this address?
pub(super) fn is_address(uri: &str) -> bool {
    uri.strip_prefix(SCHEME).is_some_and(|rest| !rest.is_empty())
}

/// The page in the result of `resources/read`.
pub(super) fn of_result(result: &Raw) -> Result<AppPage, Refusal> {
    let contents = RawObject::parse(result).ok().and_then(|fields| fields.read::<Vec<Box<Raw>>>("contents"));
    let first = contents.and_then(|contents| contents.into_iter().next());
    let content = first.and_then(|content| RawObject::parse(&content).ok());
    let content = content.ok_or_else(|| refused("the server answered without a page"))?;
    let kind = content.text("mimeType").unwrap_or_default();
    if kind.to_ascii_lowercase().split_whitespace().collect::<String>() != TYPE {
        return Err(refused(format!("the page is of the type \"{kind}\", not {TYPE}")));
    }
    let html = html(&content)?;
    let declared = declared(&content);
    let (connect, mut refused) = reach::allowed(&declared.csp.connect_domains, &["https", "wss"]);
    let (load, more) = reach::allowed(&declared.csp.resource_domains, &["https"]);
    refused.extend(more);
    // Pages within a page are not shown, and its addresses stand for themselves.
    refused.extend(declared.csp.frame_domains);
    refused.extend(declared.csp.base_uri_domains);
    Ok(AppPage { html, reach: PageReach { connect, load }, refused, border: declared.prefers_border })
}

fn html(content: &RawObject) -> Result<String, Refusal> {
    let too_large = || refused(format!("the page is larger than {} MiB", LARGEST / 1024 / 1024));
    let html = match (content.text("text"), content.text("blob")) {
        (Some(text), _) => text,
        (None, Some(blob)) if blob.len() / 4 * 3 > LARGEST => return Err(too_large()),
        (None, Some(blob)) => {
            let bytes = BASE64_STANDARD.decode(blob).map_err(|_| refused("the page is no Base64"))?;
            String::from_utf8(bytes).map_err(|_| refused("the page is no UTF-8"))?
        }
        (None, None) => return Err(refused("the server answered without a page")),
    };
    if html.len() > LARGEST { Err(too_large()) } else { Ok(html) }
}

/// What `_meta.ui` says; the strictest of all where it cannot be read.
fn declared(content: &RawObject) -> Declared {
    let meta = content.get("_meta").and_then(|meta| RawObject::parse(meta).ok());
    let ui = meta.as_ref().and_then(|meta| meta.get("ui"));
    ui.and_then(|ui| serde_json::from_str(ui.get()).ok()).unwrap_or_default()
}

pub(super) fn refused(why: impl Into<String>) -> Refusal {
    Refusal::new(Code::CallFailed, why, "The tool's result is shown without it.")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(content: Value) -> Result<AppPage, Refusal> {
        of_result(&Raw::from_string(json!({ "contents": [content] }).to_string()).unwrap())
    }

    #[test]
    fn a_page_is_read_with_the_origins_it_may_reach() {
        let page = read(json!({
            "uri": "ui://a/b", "mimeType": "text/html; profile=mcp-app", "text": "<p>\u{feff}</p>",
            "_meta": { "ui": { "prefersBorder": false, "csp": {
                "connectDomains": ["https://api.example.com", "http://127.0.0.1:7411"],
                "resourceDomains": ["https://cdn.example.com"], "frameDomains": ["https://video.example.com"],
            } } },
        }));
        let expected = AppPage {
            html: "<p>\u{feff}</p>".into(),
            reach: PageReach {
                connect: vec!["https://api.example.com".into()],
                load: vec!["https://cdn.example.com".into()],
            },
            refused: vec!["http://127.0.0.1:7411".into(), "https://video.example.com".into()],
            border: Some(false),
        };
        assert_eq!(page, Ok(expected));
        let kind = "text/html;profile=mcp-app";
        assert_eq!(read(json!({ "mimeType": kind, "blob": "PHA+" })).unwrap().html, "<p>");
        // Without a declaration, or with one that cannot be read, it reaches nothing.
        let odd =
            json!({ "mimeType": kind, "text": "", "_meta": { "ui": { "csp": { "connectDomains": "*" } } } });
        assert_eq!(read(odd), Ok(AppPage::default()));
    }

    #[test]
    fn an_invalid_page_is_refused() {
        let kind = "text/html;profile=mcp-app";
        for (content, why) in [
            (json!({ "mimeType": "text/html", "text": "x" }), "of the type"),
            (json!({ "mimeType": kind }), "without a page"),
            (json!({ "mimeType": kind, "blob": "?" }), "no Base64"),
            (json!({ "mimeType": kind, "blob": "/w==" }), "no UTF-8"),
            (json!({ "mimeType": kind, "text": "x".repeat(LARGEST + 1) }), "larger than"),
        ] {
            let refusal = read(content).unwrap_err();
            assert!(refusal.code == Code::CallFailed && refusal.message.contains(why), "{refusal:?}");
        }
        assert!(of_result(&Raw::from_string("[]".to_owned()).unwrap()).is_err());
        assert!(is_address("ui://a") && !is_address("ui://") && !is_address("file:///etc/passwd"));
    }
}
