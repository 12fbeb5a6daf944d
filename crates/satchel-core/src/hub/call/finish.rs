//! Finishes a result: makes all of it readable where its client is, notes what was corrected in its call, and cuts what is
//! too long for its client.

use satchel_mcp::{Raw, RawObject, era::Era, meta};

use super::{Attempt, fitted};
use crate::{
    bridge::Caller,
    catalog::result_shapes,
    hub::{
        Hub,
        failure::Failed,
        links::{self, Goes},
    },
};

/// The key in a result's `_meta` that lists corrections.
const CORRECTED: &str = "dev.satchel/corrected";

/// How to post-process a result.
#[derive(Debug)]
pub(in crate::hub) struct Finish {
    /// Corrections made in the call, a sentence each.
    pub(in crate::hub) corrected: Vec<String>,
    /// Whether long results are cut.
    pub(in crate::hub) capped: bool,
    /// Where it goes.
    pub(in crate::hub) goes: Goes,
}

impl Finish {
    /// For a result that goes out under the servers' own addresses.
    pub(in crate::hub) fn flat() -> Self {
        Self { corrected: vec![], capped: false, goes: Goes::Flat }
    }

    /// Adds corrections to the result's `_meta`. A short result without corrections, links, or data without a text stays
    /// unchanged.
    pub(super) fn applied(
        &self,
        hub: &Hub,
        caller: &Caller,
        attempt: &Attempt,
        end: Result<Box<Raw>, Failed>,
    ) -> Result<Box<Raw>, Failed> {
        let client = &*caller.client;
        match end {
            Ok(result) => {
                let facts = fits(attempt).then(|| caller.facts());
                let readable = self.readable(hub, client, attempt, result);
                let readable = facts.and_then(|facts| fitted::readable(facts, &readable)).unwrap_or(readable);
                let noted = self.with_notes(hub, client, readable);
                Ok(facts.and_then(|facts| fitted::arranged(facts, &noted)).unwrap_or(noted))
            }
            Err(Failed::Upstream(error)) if self.capped => {
                let cap = hub.result_cap(client);
                Err(Failed::Upstream(hub.calls().results.capped_error(client, cap, error)))
            }
            Err(failed) => Err(failed),
        }
    }

    /// Everything in it is text too, which is all that many clients show, and every link leads back.
    fn readable(&self, hub: &Hub, client: &str, attempt: &Attempt, result: Box<Raw>) -> Box<Raw> {
        let exact = attempt.registered.config.exact_results;
        let result = if exact { result } else { corrected(attempt, result) };
        let result = match attempt.tool.is_some() && !exact {
            true => with_text(&result).unwrap_or(result),
            false => result,
        };
        links::passed_out(hub, client, &attempt.server, (self.goes, exact), &result).unwrap_or(result)
    }

    fn with_notes(&self, hub: &Hub, client: &str, result: Box<Raw>) -> Box<Raw> {
        let result = match self.capped {
            true => hub.calls().results.capped(client, hub.result_cap(client), result),
            false => result,
        };
        if self.corrected.is_empty() {
            return result;
        }
        let Ok(mut fields) = RawObject::parse(&result) else { return result };
        let mut meta = fields.get("_meta").and_then(|meta| RawObject::parse(meta).ok()).unwrap_or_default();
        // Strings always serialize.
        meta.put(CORRECTED, &self.corrected);
        fields.set("_meta", meta.to_raw());
        fields.to_raw()
    }
}

/// Is it the result of a tool that may be fitted to its client?
fn fits(attempt: &Attempt) -> bool {
    attempt.tool.is_some() && !attempt.registered.config.exact_results
}

/// The result without what strict clients reject. At a server's own address it goes out as it came.
fn corrected(attempt: &Attempt, result: Box<Raw>) -> Box<Raw> {
    let (upstream, method) = (&attempt.registered.upstream, attempt.method.as_str());
    let era = upstream.seen().connected.map_or(Era::SESSION, |(_, hello)| hello.era);
    match result_shapes::corrected(method, era, &result) {
        Some(corrected) => {
            upstream
                .log()
                .remark(&format!("corrected the result of {method}, which strict clients would reject"));
            corrected
        }
        None => result,
    }
}

/// The result of a tool with its structured content as a text, if it has no other text: that is all that many clients
/// show. `None` if it stays.
fn with_text(result: &Raw) -> Option<Box<Raw>> {
    if !result.get().contains("structuredContent") || meta::asks_for_input(result) {
        return None;
    }
    let mut fields = RawObject::parse(result).ok()?;
    let structured = fields.get("structuredContent").filter(|value| value.get() != "null")?.get().to_owned();
    let mut content: Vec<Box<Raw>> = fields.read("content").unwrap_or_default();
    let is_text = |block: &RawObject| {
        let says_something = block.text("text").is_some_and(|text| !text.trim().is_empty());
        block.text("type").as_deref() == Some("text") && says_something
    };
    if content.iter().filter_map(|block| RawObject::parse(block).ok()).any(|block| is_text(&block)) {
        return None;
    }
    let mut block = RawObject::new();
    block.put("type", "text");
    block.put("text", &structured);
    content.push(block.to_raw());
    fields.put("content", &content);
    Some(fields.to_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structured_content_without_a_text_is_a_text_too() {
        let check = |result: &str| with_text(&Raw::from_string(result.to_owned()).unwrap());
        for (result, expected) in [
            (
                r#"{"content":[],"structuredContent":{"n":1.0}}"#,
                r#"{"content":[{"type":"text","text":"{\"n\":1.0}"}],"structuredContent":{"n":1.0}}"#,
            ),
            (
                r#"{"structuredContent":[1],"isError":true}"#,
                r#"{"structuredContent":[1],"isError":true,"content":[{"type":"text","text":"[1]"}]}"#,
            ),
            (
                r#"{"content":[{"type":"image","data":""},{"type":"text","text":" "}],"structuredContent":{}}"#,
                r#"{"content":[{"type":"image","data":""},{"type":"text","text":" "},{"type":"text","text":"{}"}],"structuredContent":{}}"#,
            ),
            (
                r#"{"content":null,"structuredContent":{}}"#,
                r#"{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}"#,
            ),
        ] {
            assert_eq!(check(result).unwrap().get(), expected);
        }
        for same in [
            r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"n":1.0}}"#,
            r#"{"content":[]}"#,
            r#"{"content":[],"structuredContent":null}"#,
            r#"{"content":[{"type":"text","text":"structuredContent"}]}"#,
        ] {
            assert!(check(same).is_none(), "{same}");
        }
    }
}
