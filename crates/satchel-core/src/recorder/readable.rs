//! Selects the part of a result that is counted in tokens: its text. The cost of a picture, a sound or a file depends
//! on the model, and is never that of its Base64 as text.

use satchel_mcp::{Raw, RawObject};

use crate::stats::event::{Body, LARGEST};

/// The body of a result's content. It has the size of the whole, and the text without data that no model reads as text.
pub(super) fn body_of(content: &str) -> Body {
    let mut body = Body::of(content);
    if let Some(text) = without_data(content).filter(|text| text.len() <= LARGEST) {
        body.text = Some(text.into());
    }
    body
}

/// `None` if it has no such data.
fn without_data(content: &str) -> Option<String> {
    if !content.contains("\"data\"") && !content.contains("\"blob\"") {
        return None;
    }
    let items: Vec<&Raw> = serde_json::from_str(content).ok()?;
    let shorter: Vec<_> = items.iter().map(|item| item_without_data(item)).collect();
    if shorter.iter().all(Option::is_none) {
        return None;
    }
    let texts = items.iter().zip(&shorter).map(|(item, shorter)| shorter.as_deref().unwrap_or(item).get());
    Some(format!("[{}]", texts.collect::<Vec<_>>().join(",")))
}

/// One item of `content` or `contents` (`2025-11-25/server/tools.mdx#tool-result`).
fn item_without_data(item: &Raw) -> Option<Box<Raw>> {
    let mut fields = RawObject::parse(item).ok()?;
    match fields.text("type").as_deref() {
        Some("image" | "audio") => {
            fields.remove("data")?;
        }
        Some("resource") => {
            let mut resource = RawObject::parse(fields.get("resource")?).ok()?;
            resource.remove("blob")?;
            fields.set("resource", resource.to_raw());
        }
        None => {
            fields.remove("blob")?;
        }
        Some(_) => return None,
    }
    Some(fields.to_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(content: &str) -> (usize, String) {
        let body = body_of(content);
        (body.bytes, body.text.as_deref().unwrap_or("(too large)").to_owned())
    }

    #[test]
    fn pictures_sounds_and_files_have_no_text_to_count() {
        for (content, text) in [
            (
                r#"[{"type":"text","text":"a"},{"type":"image","data":"AAAA","mimeType":"image/png"}]"#,
                r#"[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png"}]"#,
            ),
            (
                r#"[{"type":"resource","resource":{"uri":"x:","blob":"AAAA"}}]"#,
                r#"[{"type":"resource","resource":{"uri":"x:"}}]"#,
            ),
            (r#"[{"uri":"x:","blob":"AAAA"}]"#, r#"[{"uri":"x:"}]"#),
        ] {
            assert_eq!(counted(content), (content.len(), text.to_owned()));
        }
    }

    #[test]
    fn a_picture_larger_than_any_counted_text_leaves_the_text_beside_it_counted() {
        let content =
            format!(r#"[{{"type":"image","data":"{}"}},{{"type":"text","text":"a"}}]"#, "A".repeat(LARGEST));
        assert_eq!(counted(&content).1, r#"[{"type":"image"},{"type":"text","text":"a"}]"#);
    }

    #[test]
    fn all_other_content_is_counted_as_it_is() {
        for content in [
            "",
            r#"[{"type":"text","text":"\"data\""}]"#,
            r#"[{"type":"later","data":"AAAA"}]"#,
            r#"{"data": 1}"#,
            "\"data\" [",
        ] {
            assert_eq!(counted(content), (content.len(), content.to_owned()));
        }
    }
}
