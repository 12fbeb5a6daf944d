//! Cuts results that exceed a client's limit and keeps the full text for a while, readable page by page or by JSONPath.
//! Non-text content is never changed.

use std::{borrow::Cow, collections::VecDeque, sync::Arc, time::Duration};

use parking_lot::{Mutex, MutexGuard};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use satchel_mcp::{ErrorObject, Raw, RawObject, exact, object::fields};
use serde::Deserialize;
use serde_json::{Value, json, value::to_raw_value};
use serde_json_path::{JsonPath, LocatedNode};
use tokio::time::Instant;

use crate::model::address::percent_decoded;

/// Prefix of the address of a stored result. It cannot collide with a server's resource path, because its URI has a
/// scheme of its own.
pub const ADDRESS: &str = "satchel|result://";
/// Limits of stored results in number and bytes; the oldest are dropped first. The newest is stored whatever its size.
const KEPT: usize = 64;
const KEPT_BYTES: usize = 16 * 1024 * 1024;
/// The largest part of one result that is stored, in bytes.
const LONGEST: usize = 64 * 1024 * 1024;
/// How long a result is stored.
const AGE: Duration = Duration::from_secs(30 * 60);
/// How far before the end of a page to search for a good place to cut, as a fraction of the page.
const SEARCHED: usize = 5;

/// The stored results.
#[derive(Debug, Default)]
pub struct Results(Mutex<VecDeque<KeptResult>>);

#[derive(Debug)]
struct KeptResult {
    id: String,
    client: String,
    text: Arc<String>,
    since: Instant,
}

/// A page of a stored result.
#[derive(Debug, PartialEq)]
pub struct ResultPage {
    /// The text.
    pub text: String,
    /// The address of the next page; `None` at the end.
    pub next: Option<String>,
    /// Total size in bytes.
    pub total: usize,
}

/// Why a page cannot be returned.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// Expired, another client's, or unknown.
    #[error("this result is no longer stored; call the tool again")]
    Gone,
    /// The address is invalid.
    #[error("\"{0}\" is not the address of a result; expected {ADDRESS}ID?offset=N or ?path=$.a.b")]
    Address(String),
    /// The JSONPath is invalid.
    #[error("the path is not a JSONPath ({0}); an example is $.items[0:5].name")]
    Path(String),
    /// The path refers to a result that is not JSON.
    #[error("this result is not JSON, so it has no paths; read it by offset")]
    NoJson,
}

impl Results {
    /// Cuts a result whose text exceeds `cap` bytes and stores it; otherwise returns it unchanged. 0 means no limit.
    pub fn capped(&self, client: &str, cap: usize, result: Box<Raw>) -> Box<Raw> {
        if cap == 0 || result.get().len() <= cap {
            return result;
        }
        match Long::read(&result) {
            Some(mut long) if long.length() > cap => {
                let document = Arc::new(long.take_document());
                let address = self.keep(client, &document);
                long.cut(cap, &address, &document)
            }
            _ => result,
        }
    }

    /// The same for an error. Most clients show only its message, so the message says where the remaining data is.
    pub fn capped_error(&self, client: &str, cap: usize, mut error: ErrorObject) -> ErrorObject {
        let data = error.data.as_deref().map_or("", Raw::get);
        if cap == 0 || error.message.len() + data.len() <= cap {
            return error;
        }
        let document =
            if data.is_empty() { error.message.clone() } else { format!("{}\n{data}", error.message) };
        let document = Arc::new(document);
        let address = self.keep(client, &document);
        let sentence = boundary(&error.message, 0, cap / 2);
        error.message.truncate(sentence);
        let shown = if sentence < document.len() { boundary(&document, 0, cap) } else { sentence };
        let next = format!("{address}?offset={sentence}");
        error.message.push_str(&format!(
            " [Cut by Satchel: the error has {} bytes. Read on with read_mcp_resource, uri {next:?}.]",
            document.len()
        ));
        let cut = json!({ "next": next, "shown": shown, "total": document.len() });
        error.with_data(&json!({ "dev.satchel/cut": cut, "head": document[sentence..shown.max(sentence)] }))
    }

    /// A page of a stored result, by address.
    ///
    /// # Errors
    /// [`PageError`] if it cannot be returned.
    pub fn page(&self, client: &str, cap: usize, address: &str) -> Result<ResultPage, PageError> {
        let wrong = || PageError::Address(address.to_owned());
        let asked = Address::parse(address).ok_or_else(wrong)?;
        let text = self.find(client, asked.id).ok_or(PageError::Gone)?;
        let cap = if cap == 0 { usize::MAX } else { cap };
        match &asked.path {
            None => Ok(page(&text, asked.offset, cap, |next| format!("{ADDRESS}{}?offset={next}", asked.id))),
            Some(path) => {
                let parsed = JsonPath::parse(path).map_err(|error| PageError::Path(error.to_string()))?;
                let document: Value = serde_json::from_str(&text).map_err(|_| PageError::NoJson)?;
                let found = parsed.query_located(&document);
                // In the original spelling: parsing a number could lose digits.
                let written = |found: &LocatedNode<'_>| {
                    let text = exact::at(&text, &found.location().to_json_pointer());
                    text.map_or_else(|| found.node().to_string(), ToOwned::to_owned)
                };
                let found: Vec<String> = found.iter().map(written).collect();
                let found = match found.as_slice() {
                    [one] => exact::pretty(one),
                    many => exact::pretty(&format!("[{}]", many.join(","))),
                };
                let next = |next| format!("{ADDRESS}{}?path={}&offset={next}", asked.id, encoded(path));
                Ok(page(&found, asked.offset, cap, next))
            }
        }
    }
}

impl Results {
    fn lock(&self) -> MutexGuard<'_, VecDeque<KeptResult>> {
        self.0.lock()
    }

    /// Stores a text, without copying it, and returns its address. Of a very long text, only the beginning is stored.
    fn keep(&self, client: &str, text: &Arc<String>) -> String {
        let mut random = [0u8; 9];
        // Without randomness the address could be guessed, but only by a client with a token, and results are bound to
        // clients anyway.
        let _ = getrandom::fill(&mut random);
        let id = URL_SAFE_NO_PAD.encode(random);
        let text = match text.floor_char_boundary(LONGEST) {
            end if end < text.len() => Arc::new(text[..end].to_owned()),
            _ => text.clone(),
        };
        let mut kept = self.lock();
        kept.push_back(KeptResult { id: id.clone(), client: client.to_owned(), text, since: Instant::now() });
        let too_much = |kept: &VecDeque<KeptResult>| {
            kept.len() > KEPT || kept.iter().map(|one| one.text.len()).sum::<usize>() > KEPT_BYTES
        };
        while kept.len() > 1 && too_much(&kept) {
            kept.pop_front();
        }
        format!("{ADDRESS}{id}")
    }

    fn find(&self, client: &str, id: &str) -> Option<Arc<String>> {
        let mut kept = self.lock();
        kept.retain(|one| one.since.elapsed() < AGE);
        kept.iter().find(|one| one.id == id && one.client == client).map(|one| one.text.clone())
    }
}

/// A parsed result; borrows from it where possible.
struct Long<'a> {
    fields: Vec<(String, &'a Raw)>,
    blocks: Vec<(&'a Raw, Option<Cow<'a, str>>)>,
    structured: Option<&'a str>,
    /// The block whose text became the document.
    taken: Option<usize>,
}

impl<'a> Long<'a> {
    fn read(result: &'a Raw) -> Option<Self> {
        let fields = fields(result.get()).ok()?;
        let get = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
        let blocks: Vec<&Raw> =
            get("content").and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        let blocks = blocks.into_iter().map(|block| (block, text_of(block))).collect();
        let structured = get("structuredContent").map(Raw::get);
        Some(Self { fields, blocks, structured, taken: None })
    }

    /// The length that counts against the limit. Structured content usually repeats the text.
    fn length(&self) -> usize {
        let texts: usize =
            self.blocks.iter().filter_map(|(_, text)| text.as_ref()).map(|text| text.len()).sum();
        texts.max(self.structured.map_or(0, str::len))
    }

    /// What to store: the structured content if there is some, otherwise the text, which is not copied if it stands in
    /// one block.
    fn take_document(&mut self) -> String {
        if let Some(structured) = self.structured.filter(|structured| structured.len() > 2) {
            return structured.to_owned();
        }
        let mut texts =
            self.blocks.iter_mut().enumerate().filter_map(|(at, (_, text))| Some((at, text.as_mut()?)));
        match (texts.next(), texts.next()) {
            (Some((at, text)), None) => {
                self.taken = Some(at);
                std::mem::take(text).into_owned()
            }
            _ => self.blocks.iter().filter_map(|(_, text)| text.as_deref()).collect::<Vec<_>>().join("\n"),
        }
    }

    fn cut(&self, cap: usize, address: &str, document: &str) -> Box<Raw> {
        let from_text = self.structured.is_none_or(|structured| structured.len() <= 2);
        let mut content: Vec<Box<Raw>> = Vec::new();
        let (mut shown, mut room) = (0, cap);
        let no_text = self.blocks.iter().all(|(_, text)| text.is_none());
        for (at, (block, text)) in self.blocks.iter().enumerate() {
            let block = *block;
            let Some(text) = text.as_deref().map(|text| if self.taken == Some(at) { document } else { text })
            else {
                content.push(block.to_owned());
                continue;
            };
            if room == 0 {
                continue;
            }
            let end = boundary(text, 0, room);
            room = if end < text.len() { 0 } else { room - text.len() };
            content.push(if end < text.len() { with_text(block, &text[..end]) } else { block.to_owned() });
            shown += end;
        }
        if no_text {
            shown = boundary(document, 0, cap);
            content.push(text_block(&document[..shown]));
        }
        let fits = self.structured.is_some_and(|structured| structured.len() <= cap);
        let mut kept = RawObject::new();
        for (key, value) in &self.fields {
            match key.as_str() {
                "structuredContent" if !fits => {}
                // Keeps its position; the value is set below.
                "content" => kept.set(key, Raw::NULL.to_owned()),
                _ => kept.set(key, (*value).to_owned()),
            }
        }
        // If the structured content is stored instead of the text, a text length is not a position in it.
        let offset = if from_text || no_text { shown } else { 0 };
        let next = format!("{address}?offset={offset}");
        content.push(text_block(&format!(
            "[Cut by Satchel: {shown} of {} bytes are shown. Read on with read_mcp_resource, uri {next:?}; \
             for a part of JSON, uri \"{address}?path=$.…\" with a JSONPath.]",
            document.len().max(shown)
        )));
        // Values that were just created always serialize.
        let _ = kept.put("content", &content);
        let mut meta = kept.get("_meta").and_then(|meta| RawObject::parse(meta).ok()).unwrap_or_default();
        let _ =
            meta.put("dev.satchel/cut", &json!({ "next": next, "shown": shown, "total": document.len() }));
        kept.set("_meta", meta.to_raw());
        kept.to_raw()
    }
}

/// The text of a text block.
fn text_of(block: &Raw) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Lent<'a>(#[serde(borrow)] Cow<'a, str>);
    let fields = fields(block.get()).ok()?;
    let get = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.get());
    let kind: String = serde_json::from_str(get("type")?).ok()?;
    (kind == "text").then(|| serde_json::from_str::<Lent<'_>>(get("text")?).ok().map(|Lent(text)| text))?
}

fn with_text(block: &Raw, text: &str) -> Box<Raw> {
    let mut block = RawObject::parse(block).unwrap_or_default();
    let _ = block.put("text", &text);
    block.to_raw()
}

fn text_block(text: &str) -> Box<Raw> {
    to_raw_value(&json!({ "type": "text", "text": text })).expect("a JSON value always serializes")
}

fn page(text: &str, offset: usize, cap: usize, address: impl Fn(usize) -> String) -> ResultPage {
    let from = text.floor_char_boundary(offset);
    let end = boundary(text, from, cap);
    let next = (end < text.len()).then(|| address(end));
    ResultPage { text: text[from..end].to_owned(), next, total: text.len() }
}

/// The best end for a page that starts at `from` and has at most `most` bytes: after a line, a record, a sentence or a
/// word. Always makes progress.
fn boundary(text: &str, from: usize, most: usize) -> usize {
    let end = text.floor_char_boundary(from.saturating_add(most));
    if end >= text.len() {
        return text.len();
    }
    if end <= from {
        return text.ceil_char_boundary(from + 1);
    }
    let least = text.ceil_char_boundary(end - (end - from) / SEARCHED);
    let piece = &text[least..end];
    for mark in ["\n", "},", "],", ". ", ",", " "] {
        if let Some(at) = piece.rfind(mark) {
            return least + at + mark.len();
        }
    }
    end
}

struct Address<'a> {
    id: &'a str,
    offset: usize,
    path: Option<String>,
}

impl<'a> Address<'a> {
    fn parse(address: &'a str) -> Option<Self> {
        let rest = address.trim().strip_prefix(ADDRESS)?;
        let (id, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut parsed = Self { id, offset: 0, path: None };
        // A path may contain an ampersand, so a plain split would be wrong.
        let (query, last) = match query.rsplit_once("&offset=") {
            Some((query, offset)) => (query, Some(offset)),
            None => (query, None),
        };
        if let Some(offset) = last.or_else(|| query.strip_prefix("offset=")) {
            let (offset, path) =
                offset.split_once("&path=").map_or((offset, None), |(offset, path)| (offset, Some(path)));
            parsed.offset = offset.parse().ok()?;
            parsed.path = path.map(decoded);
        }
        match query.strip_prefix("path=") {
            Some(path) => parsed.path = Some(decoded(path)),
            None if query.is_empty() || query.starts_with("offset=") => {}
            None => return None,
        }
        (!id.is_empty()).then_some(parsed)
    }
}

/// Decodes percent signs, which models encode inconsistently.
fn decoded(text: &str) -> String {
    String::from_utf8(percent_decoded(text)).unwrap_or_else(|_| text.to_owned())
}

fn encoded(text: &str) -> String {
    text.replace('%', "%25").replace('&', "%26").replace(' ', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(value: &Value) -> Box<Raw> {
        to_raw_value(value).unwrap()
    }

    fn read_whole(results: &Results, address: &str, most: usize) -> String {
        let asked = Address::parse(address).unwrap();
        let text = results.find("me", asked.id).unwrap();
        let (mut whole, mut offset) = (String::new(), 0);
        loop {
            let page = page(&text, offset, most, |next| next.to_string());
            assert!(page.text.len() <= most.max(4), "{}", page.text.len());
            whole.push_str(&page.text);
            match page.next {
                Some(next) => offset = next.parse().unwrap(),
                None => return whole,
            }
        }
    }

    #[test]
    fn pages_put_together_are_the_whole() {
        let results = Results::default();
        for text in [
            "line one\nline two\nline three\n".repeat(50),
            "ä€🧰".repeat(300),
            "x".repeat(1_000),
            r#"{"a":1},"#.repeat(99),
        ] {
            let text = Arc::new(text);
            let address = results.keep("me", &text);
            for most in [1, 7, 64, 5_000] {
                assert_eq!(read_whole(&results, &address, most), *text);
            }
        }
    }

    #[test]
    fn a_long_text_is_cut_and_everything_else_stays() {
        let image = json!({ "type": "image", "data": "A".repeat(500), "mimeType": "image/png" });
        let text = json!({ "type": "text", "text": "a line\n".repeat(100), "annotations": { "x": 1 } });
        let result = raw(
            &json!({ "content": [image, text, { "type": "text", "text": "last" }], "isError": false, "z": 1.5 }),
        );
        let mut long = Long::read(&result).unwrap();
        assert_eq!(long.length(), 704);
        let document = long.take_document();
        let cut = long.cut(100, "satchel|result://x", &document);
        let cut: Value = serde_json::from_str(cut.get()).unwrap();
        assert_eq!((&cut["content"][0], &cut["z"], &cut["isError"]), (&image, &json!(1.5), &json!(false)));
        assert_eq!(
            cut["content"][1],
            json!({ "type": "text", "text": "a line\n".repeat(14), "annotations": { "x": 1 } })
        );
        assert!(
            cut["content"][2]["text"]
                .as_str()
                .is_some_and(|note| note.contains("satchel|result://x?offset=98"))
        );
        assert_eq!(cut["content"].as_array().map(Vec::len), Some(3));
        assert_eq!(cut["_meta"]["dev.satchel/cut"]["total"], 705);
    }

    #[test]
    fn data_is_kept_rather_than_the_text_that_repeats_it() {
        let data = json!({ "items": (0..50).map(|at| json!({ "id": at })).collect::<Vec<_>>() });
        let result = raw(
            &json!({ "content": [{ "type": "text", "text": data.to_string() }], "structuredContent": data }),
        );
        let mut long = Long::read(&result).unwrap();
        let document = long.take_document();
        assert_eq!(document, data.to_string());
        let cut = long.cut(50, "satchel|result://x", &document);
        let cut: Value = serde_json::from_str(cut.get()).unwrap();
        assert!(cut.get("structuredContent").is_none());
        assert_eq!(cut["_meta"]["dev.satchel/cut"]["next"], "satchel|result://x?offset=0");
    }

    #[test]
    fn addresses_are_read_as_models_write_them() {
        let parse = |text: &str| Address::parse(text).map(|a| (a.id.to_owned(), a.offset, a.path));
        let some = |offset, path: Option<&str>| Some(("x".to_owned(), offset, path.map(str::to_owned)));
        for (address, expected) in [
            ("satchel|result://x", some(0, None)),
            ("satchel|result://x?offset=7", some(7, None)),
            ("satchel|result://x?path=$.a[?@.b%20==%201]", some(0, Some("$.a[?@.b == 1]"))),
            (
                "satchel|result://x?path=$.a[?@.b == 1 && @.c]&offset=9",
                some(9, Some("$.a[?@.b == 1 && @.c]")),
            ),
            ("satchel|result://x?offset=9&path=$.a", some(9, Some("$.a"))),
            ("satchel|result://x?offset=-1", None),
            ("satchel|result://x?what=1", None),
            ("satchel|result://", None),
            ("github|result://x", None),
        ] {
            assert_eq!(parse(address), expected, "{address}");
        }
    }

    #[test]
    fn results_are_bound_to_their_client_and_few_are_kept() {
        let results = Results::default();
        let keep = |text: &str| results.keep("me", &Arc::new(text.to_owned()));
        let first = keep("x");
        let id = |address: &str| address.strip_prefix(ADDRESS).unwrap().to_owned();
        assert!(results.find("me", &id(&first)).is_some() && results.find("other", &id(&first)).is_none());
        for _ in 0..KEPT {
            keep("y");
        }
        assert!(results.find("me", &id(&first)).is_none());
        let large = keep(&"z".repeat(KEPT_BYTES + 5));
        assert_eq!(results.find("me", &id(&large)).map(|text| text.len()), Some(KEPT_BYTES + 5));
        assert_eq!(results.lock().len(), 1);
        let longest = keep(&"z".repeat(LONGEST + 5));
        assert_eq!(results.find("me", &id(&longest)).map(|text| text.len()), Some(LONGEST));
        assert!(results.find("me", &id(&large)).is_none());
    }
}
