//! Fits the result of a tool to a client that would lose a part of it, as the table of clients says. Results for other
//! clients stay.

use std::borrow::Cow;

use satchel_mcp::{Raw, RawObject};

use crate::{
    clients::seen::{Blocks, Cut, Fact, Facts, Structured},
    trust::clean,
};

/// The result before it is cut: a text in place of each link that the client would lose, and no invisible characters in
/// structured content that is all its model gets. `None` if it stays.
pub(super) fn readable(facts: Facts, result: &Raw) -> Option<Box<Raw>> {
    let cleans = facts.has(&Fact::Structured(Structured::Only));
    let links = facts.loses_links() && result.get().contains("\"resource_link\"");
    if !cleans && !links {
        return None;
    }
    let mut fields = RawObject::parse(result).ok()?;
    let mut changed = false;
    if cleans
        && let Some(structured) = fields.get("structuredContent")
        && let Cow::Owned(clean) = clean::answer(structured)
    {
        fields.set("structuredContent", clean);
        changed = true;
    }
    if links && let Some(mut blocks) = fields.read::<Vec<Box<Raw>>>("content") {
        for block in &mut blocks {
            if let Some(text) = link_as_text(block) {
                *block = text;
                changed = true;
            }
        }
        fields.put("content", &blocks);
    }
    changed.then(|| fields.to_raw())
}

/// The result after it was cut: where the rest is, said at the beginning too, or all texts as one. `None` if it stays.
pub(super) fn arranged(facts: Facts, result: &Raw) -> Option<Box<Raw>> {
    let notes_first = facts.cut().is_some_and(Cut::hides_the_end);
    let joins = facts.has(&Fact::Blocks(Blocks::First));
    if !notes_first && !joins {
        return None;
    }
    let mut fields = RawObject::parse(result).ok()?;
    let mut blocks: Vec<Box<Raw>> = fields.read("content")?;
    if blocks.len() < 2 {
        return None;
    }
    match joins {
        true => blocks = joined(blocks)?,
        false => {
            let meta = fields.get("_meta").filter(|meta| meta.get().contains("\"dev.satchel/cut\""))?;
            RawObject::parse(meta).ok()?.get("dev.satchel/cut")?;
            // The note is the last block of a result that was cut.
            blocks.insert(0, blocks.last()?.clone());
        }
    }
    fields.put("content", &blocks);
    Some(fields.to_raw())
}

/// All texts as one block, where the first of them was; `None` if there are not several.
fn joined(blocks: Vec<Box<Raw>>) -> Option<Vec<Box<Raw>>> {
    let texts: Vec<Option<String>> = blocks.iter().map(|block| text_of(block)).collect();
    let first = texts.iter().position(Option::is_some)?;
    if texts.iter().flatten().count() < 2 {
        return None;
    }
    let all = texts.iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n");
    let mut one = RawObject::parse(&blocks[first]).ok()?;
    one.put("text", &all);
    let mut kept = Vec::new();
    for (at, (block, text)) in blocks.into_iter().zip(texts).enumerate() {
        match text {
            _ if at == first => kept.push(one.to_raw()),
            Some(_) => {}
            None => kept.push(block),
        }
    }
    Some(kept)
}

fn text_of(block: &Raw) -> Option<String> {
    let block = RawObject::parse(block).ok()?;
    block.text("text").filter(|_| block.text("type").as_deref() == Some("text"))
}

/// A link as a text, with what its author says about it.
fn link_as_text(block: &Raw) -> Option<Box<Raw>> {
    let link = RawObject::parse(block).ok()?;
    if link.text("type").as_deref() != Some("resource_link") {
        return None;
    }
    let uri = link.text("uri")?;
    let name = link.text("title").or_else(|| link.text("name")).filter(|name| *name != uri);
    let mut said = match name {
        Some(name) => format!("Resource {name}: {uri}"),
        None => format!("Resource: {uri}"),
    };
    if let Some(kind) = link.text("mimeType") {
        said.push_str(&format!(" ({kind})"));
    }
    if let Some(description) = link.text("description") {
        said.push_str(&format!(". {description}"));
    }
    let mut text = RawObject::new();
    text.put("type", "text");
    text.put("text", &clean::text(&said));
    // For whom it is stays.
    if let Some(annotations) = link.get("annotations") {
        text.set("annotations", annotations.to_owned());
    }
    Some(text.to_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fit: fn(Facts, &Raw) -> Option<Box<Raw>>, client: &str, result: &str, expected: Option<&str>) {
        let result = Raw::from_string(result.to_owned()).unwrap();
        let fitted = fit(Facts::of_client(client), &result);
        assert_eq!(fitted.as_deref().map(Raw::get), expected, "{client}: {}", result.get());
    }

    #[test]
    fn a_link_is_a_text_for_clients_that_would_lose_it() {
        let result = r#"{"content":[{"type":"text","text":"a"},{"type":"resource_link","uri":"s|note://1","name":"one","mimeType":"text/plain","description":"The first."},{"type":"resource_link","uri":"b://2","name":"b://2"}],"x":1.0}"#;
        let fitted = r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"Resource one: s|note://1 (text/plain). The first."},{"type":"text","text":"Resource: b://2"}],"x":1.0}"#;
        for client in ["opencode", "kilo-code", "copilot-cli", "mistral-vibe", "langchain", "autogen"] {
            check(readable, client, result, Some(fitted));
        }
        for client in ["gemini-cli", "codex", "cline", "cursor", "an agent"] {
            check(readable, client, result, None);
        }
        check(readable, "opencode", r#"{"content":[{"type":"text","text":"\"resource_link\""}]}"#, None);
    }

    #[test]
    fn structured_content_is_cleaned_where_it_is_all_that_a_model_gets() {
        let result = "{\"content\":[{\"type\":\"text\",\"text\":\"ab\"}],\"structuredContent\":{\"t\":\"a\u{200b}b\",\"n\":1.0}}";
        let clean = r#"{"content":[{"type":"text","text":"ab"}],"structuredContent":{"t":"ab","n":1.0}}"#;
        for client in ["claude-code", "codex", "pydantic-ai", "mastra"] {
            check(readable, client, result, Some(clean));
            check(readable, client, clean, None);
        }
        check(readable, "qwen-code", result, None);
    }

    #[test]
    fn a_client_that_shows_one_block_gets_all_texts_in_it() {
        let result = r#"{"content":[{"type":"text","text":"page 1"},{"type":"image","data":""},{"type":"text","text":"page 2"}],"x":1.0}"#;
        let one =
            r#"{"content":[{"type":"text","text":"page 1\npage 2"},{"type":"image","data":""}],"x":1.0}"#;
        check(arranged, "smolagents", result, Some(one));
        check(arranged, "smolagents", one, None);
        check(arranged, "opencode", result, None);
    }

    #[test]
    fn a_client_that_hides_the_end_is_told_at_the_beginning_what_is_missing() {
        let cut = r#"{"content":[{"type":"text","text":"aaa"},{"type":"text","text":"[Cut]"}],"_meta":{"dev.satchel/cut":{"shown":3}}}"#;
        let told = r#"{"content":[{"type":"text","text":"[Cut]"},{"type":"text","text":"aaa"},{"type":"text","text":"[Cut]"}],"_meta":{"dev.satchel/cut":{"shown":3}}}"#;
        for client in ["opencode", "qwen-code", "copilot-cli", "mistral-vibe"] {
            check(arranged, client, cut, Some(told));
        }
        for client in ["gemini-cli", "codex", "claude-code", "an agent"] {
            check(arranged, client, cut, None);
        }
        let whole = r#"{"content":[{"type":"text","text":"aaa"},{"type":"text","text":"b"}],"_meta":{"x":"\"dev.satchel/cut\""}}"#;
        check(arranged, "opencode", whole, None);
    }
}
