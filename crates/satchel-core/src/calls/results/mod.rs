//! Cuts results that exceed a client's limit and keeps the full text for a while, readable page by page or by JSONPath.
//! Non-text content is never changed. `long` takes a result apart, `paths` evaluates JSONPaths.

mod long;
mod paths;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use parking_lot::{Mutex, MutexGuard};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use satchel_mcp::{ErrorObject, Raw};
use serde_json::json;
use tokio::time::Instant;

use crate::model::address::percent_decoded;
use long::Long;
pub use paths::PathError;
use paths::{Excerpt, Paths};

/// Prefix of the address of a stored result. It cannot collide with a server's resource path, because its URI has a
/// scheme of its own.
pub const ADDRESS: &str = "satchel|result://";
/// Limits of stored results in number and bytes; the oldest are dropped first. The newest is stored whatever its size.
const KEPT: usize = 64;
const KEPT_BYTES: usize = 8 * 1024 * 1024;
/// The largest part of one result that is stored, in bytes.
const LONGEST: usize = 64 * 1024 * 1024;
/// How long a result is stored.
const AGE: Duration = Duration::from_secs(30 * 60);
/// How far before the end of a page to search for a good place to cut, as a fraction of the page.
const SEARCHED: usize = 5;

/// The stored results.
#[derive(Debug, Default)]
pub struct Results {
    kept: Mutex<VecDeque<KeptResult>>,
    paths: Paths,
}

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
    /// The JSONPath cannot be evaluated.
    #[error(transparent)]
    Path(#[from] PathError),
}

impl Results {
    /// Cuts a result whose text exceeds `cap` bytes and stores it; otherwise returns it unchanged. 0 means no limit.
    pub fn capped(&self, client: &str, cap: usize, result: Box<Raw>) -> Box<Raw> {
        if cap == 0 || result.get().len() <= cap {
            return result;
        }
        match Long::read(&result) {
            Some(mut long) if long.length() > cap => {
                let text = long.take_text(cap).map(Arc::new);
                let structured = long.structured_to_store(cap, text.as_ref().map(|text| text.as_str()));
                let structured = structured.map(|structured| Arc::new(structured.to_owned()));
                let both: Vec<&Arc<String>> = text.iter().chain(&structured).collect();
                let mut stored = self.keep_all(client, &both).into_iter();
                let mut addressed = |whole: &Arc<String>| Some((stored.next()?, Arc::clone(whole)));
                let text = text.as_ref().and_then(&mut addressed);
                let structured = structured.as_ref().and_then(&mut addressed);
                long.cut(cap, text.as_ref().map(lent), structured.as_ref().map(lent))
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
    pub async fn page(&self, client: &str, cap: usize, address: &str) -> Result<ResultPage, PageError> {
        let wrong = || PageError::Address(address.to_owned());
        let Address { id, offset, path } = Address::parse(address).ok_or_else(wrong)?;
        let text = self.find(client, id).ok_or(PageError::Gone)?;
        let cap = if cap == 0 { usize::MAX } else { cap };
        let Some(path) = path else {
            return Ok(page(&text, offset, cap, |next| format!("{ADDRESS}{id}?offset={next}")));
        };
        let next = format!("{ADDRESS}{id}?path={}", encoded(&path));
        // A character more than the page has, to know whether there is a next one.
        let asked = (offset, offset.saturating_add(cap).saturating_add(char::MAX.len_utf8()));
        let Excerpt { text, start, total } = self.paths.excerpt(text, path, asked).await?;
        let found =
            page(&text, offset.saturating_sub(start), cap, |end| format!("{next}&offset={}", start + end));
        Ok(ResultPage { total, ..found })
    }
}

impl Results {
    fn lock(&self) -> MutexGuard<'_, VecDeque<KeptResult>> {
        self.kept.lock()
    }

    /// Stores a text, without copying it, and returns its address.
    fn keep(&self, client: &str, text: &Arc<String>) -> String {
        self.keep_all(client, &[text]).into_iter().next().unwrap_or_default()
    }

    /// Stores the texts of one result, which are dropped one by one but not for each other, and returns their addresses.
    /// Of a very long text, only the beginning is stored.
    fn keep_all(&self, client: &str, texts: &[&Arc<String>]) -> Vec<String> {
        let store = |text: &&Arc<String>| {
            let text = match text.floor_char_boundary(LONGEST) {
                end if end < text.len() => Arc::new(text[..end].to_owned()),
                _ => Arc::clone(text),
            };
            KeptResult { id: random_id(), client: client.to_owned(), text, since: Instant::now() }
        };
        let new: Vec<KeptResult> = texts.iter().map(store).collect();
        let addresses = new.iter().map(|one| format!("{ADDRESS}{}", one.id)).collect();
        let mut kept = self.lock();
        kept.extend(new);
        let too_much = |kept: &VecDeque<KeptResult>| {
            kept.len() > KEPT || kept.iter().map(|one| one.text.len()).sum::<usize>() > KEPT_BYTES
        };
        while kept.len() > texts.len() && too_much(&kept) {
            kept.pop_front();
        }
        addresses
    }

    fn find(&self, client: &str, id: &str) -> Option<Arc<String>> {
        let mut kept = self.lock();
        kept.retain(|one| one.since.elapsed() < AGE);
        kept.iter().find(|one| one.id == id && one.client == client).map(|one| one.text.clone())
    }
}

fn lent((address, whole): &(String, Arc<String>)) -> (&str, &str) {
    (address, whole)
}

fn random_id() -> String {
    let mut random = [0u8; 9];
    // Without randomness the address could be guessed, but only by a client with a token, and results are bound to
    // clients anyway.
    let _ = getrandom::fill(&mut random);
    URL_SAFE_NO_PAD.encode(random)
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
    use serde_json::{Value, value::to_raw_value};

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

    fn capped(results: &Results, cap: usize, result: &Value) -> Value {
        serde_json::from_str(results.capped("me", cap, raw(result)).get()).unwrap()
    }

    fn cut_of(result: &Value) -> &Value {
        &result["_meta"]["dev.satchel/cut"]
    }

    /// The text that a cut result shows, without the note.
    fn shown(result: &Value) -> String {
        let blocks = result["content"].as_array().unwrap();
        let text = |block: &Value| {
            let text = block.get("text").or_else(|| block["resource"].get("text"));
            text.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        blocks[..blocks.len() - 1].iter().map(text).collect::<Vec<_>>().join("\n")
    }

    async fn read_on(results: &Results, cap: usize, address: &str) -> String {
        let (mut whole, mut next) = (String::new(), Some(address.to_owned()));
        while let Some(address) = next {
            let page = results.page("me", cap, &address).await.unwrap();
            assert!(page.text.len() <= cap.max(4), "{}", page.text.len());
            whole.push_str(&page.text);
            next = page.next;
        }
        whole
    }

    #[tokio::test]
    async fn pages_put_together_are_the_whole_of_many_blocks() {
        let results = Results::default();
        for texts in [
            vec!["twenty bytes of text".to_owned(); 200],
            (0..200).map(|at| "ä€🧰 ".repeat(at % 5)).collect(),
            vec!["one line\nand one more".to_owned(), String::new(), "x".repeat(500)],
        ] {
            let whole = texts.join("\n");
            for (cap, first) in [7, 64, 100, 1_000].into_iter().flat_map(|cap| [(cap, "text"), (cap, "file")])
            {
                let block = |(at, text): (usize, &String)| match (at, first) {
                    (0, "file") => json!({ "type": "resource", "resource": { "uri": "f:x", "text": text } }),
                    _ => json!({ "type": "text", "text": text }),
                };
                let content: Vec<Value> = texts.iter().enumerate().map(block).collect();
                let result = capped(&results, cap, &json!({ "content": content }));
                if texts.iter().map(String::len).sum::<usize>() <= cap {
                    assert!(cut_of(&result).is_null());
                    continue;
                }
                let next = cut_of(&result)["next"].as_str().unwrap();
                assert_eq!(shown(&result) + &read_on(&results, cap, next).await, whole, "{cap} {first}");
                assert_eq!(cut_of(&result)["total"], whole.len());
            }
        }
    }

    #[test]
    fn a_long_text_is_cut_and_everything_else_stays() {
        let image = json!({ "type": "image", "data": "A".repeat(500), "mimeType": "image/png" });
        let text = json!({ "type": "text", "text": "a line\n".repeat(100), "annotations": { "x": 1 } });
        let result = json!({ "content": [image, text, { "type": "text", "text": "last" }], "isError": false, "z": 1.5 });
        let results = Results::default();
        assert_eq!(capped(&results, 704, &result), result, "the texts have 704 bytes");
        let cut = capped(&results, 100, &result);
        assert_eq!((&cut["content"][0], &cut["z"], &cut["isError"]), (&image, &json!(1.5), &json!(false)));
        assert_eq!(
            cut["content"][1],
            json!({ "type": "text", "text": "a line\n".repeat(14), "annotations": { "x": 1 } })
        );
        let next = cut_of(&cut)["next"].as_str().unwrap();
        assert!(next.ends_with("?offset=98") && cut["content"][2]["text"].as_str().unwrap().contains(next));
        assert_eq!(cut["content"].as_array().map(Vec::len), Some(3));
        assert_eq!(cut_of(&cut)["total"], 705);
    }

    #[tokio::test]
    async fn text_that_repeats_the_data_is_stored_once_and_read_on_after_what_is_shown() {
        let data = json!({ "items": (0..50).map(|at| json!({ "id": at })).collect::<Vec<_>>() });
        let list = json!(["a, b ".repeat(40)]);
        let line = "a line\n".repeat(40);
        for (text, structured) in [
            (data.to_string(), data.clone()),
            (serde_json::to_string_pretty(&data).unwrap(), data.clone()),
            (list.to_string(), json!({ "result": list })),
            (line.clone(), json!({ "result": line })),
        ] {
            let results = Results::default();
            let result =
                json!({ "content": [{ "type": "text", "text": text }], "structuredContent": structured });
            let cut = capped(&results, 50, &result);
            assert!(cut.get("structuredContent").is_none() && cut_of(&cut).get("structured").is_none());
            let next = cut_of(&cut)["next"].as_str().unwrap();
            assert!(!next.ends_with("offset=0"), "{next}");
            assert_eq!(shown(&cut) + &read_on(&results, 50, next).await, text);
            assert_eq!(results.lock().len(), 1);
        }
    }

    #[tokio::test]
    async fn text_and_data_that_differ_are_both_there() {
        let results = Results::default();
        let text = "a row\n".repeat(100);
        let content = json!([{ "type": "text", "text": text }]);
        let few = json!({ "rows": 100 });
        let cut = capped(&results, 60, &json!({ "content": content, "structuredContent": few }));
        assert_eq!((&cut["structuredContent"], &cut_of(&cut)["total"]), (&few, &json!(600)));
        assert_eq!(shown(&cut) + &read_on(&results, 60, cut_of(&cut)["next"].as_str().unwrap()).await, text);

        let many = json!({ "rows": (0..50).collect::<Vec<_>>() });
        let cut = capped(&results, 60, &json!({ "content": content, "structuredContent": many }));
        assert!(cut.get("structuredContent").is_none());
        assert_eq!(shown(&cut) + &read_on(&results, 60, cut_of(&cut)["next"].as_str().unwrap()).await, text);
        let data = cut_of(&cut)["structured"].as_str().unwrap();
        assert_eq!(read_on(&results, 60, data).await, many.to_string());
        assert!(cut["content"][1]["text"].as_str().unwrap().contains(data));

        let summary = json!([{ "type": "text", "text": "50 rows" }]);
        let cut = capped(&results, 60, &json!({ "content": summary, "structuredContent": many }));
        assert!(cut.get("structuredContent").is_none() && cut["content"][0] == summary[0]);
        assert_eq!(read_on(&results, 60, cut_of(&cut)["next"].as_str().unwrap()).await, many.to_string());

        let cut = capped(&results, 60, &json!({ "content": [], "structuredContent": many }));
        assert_eq!(
            shown(&cut) + &read_on(&results, 60, cut_of(&cut)["next"].as_str().unwrap()).await,
            many.to_string()
        );
    }

    #[tokio::test]
    async fn text_of_an_embedded_file_is_cut_and_its_address_stays() {
        let results = Results::default();
        let file = |uri: &str, text: &str| json!({ "type": "resource", "resource": { "uri": uri, "mimeType": "text/plain", "text": text } });
        let blob = json!({ "type": "resource", "resource": { "uri": "f:b", "blob": "A".repeat(900) } });
        let (long, note) = ("a line\n".repeat(100), json!({ "type": "text", "text": "downloaded" }));
        let result = json!({ "content": [note, file("f:a", &long), blob, file("f:c", "more")] });
        let cut = capped(&results, 120, &result);
        let shorter = file("f:a", &"a line\n".repeat(15));
        assert_eq!(
            cut["content"].as_array().unwrap()[..4],
            [note.clone(), shorter, blob.clone(), file("f:c", "")]
        );
        let next = cut_of(&cut)["next"].as_str().unwrap();
        let rest = read_on(&results, 120, next).await;
        assert_eq!(rest, format!("{}\nmore", "a line\n".repeat(85)));
        let short = json!({ "content": [note, file("f:a", "short"), blob] });
        assert_eq!(capped(&results, 120, &short), short);
    }

    #[tokio::test]
    async fn what_a_path_finds_is_read_page_by_page() {
        let results = Results::default();
        let items: Vec<String> =
            (0..20).map(|at| format!(r#"{{"t":"{} ä€🧰",  "n":{at}.10}}"#, at % 7)).collect();
        let address = results.keep("me", &Arc::new(format!(r#"{{"items":[{}]}}"#, items.join(", "))));
        let path = format!("{address}?path=$.items[*]");
        let whole = results.page("me", 0, &path).await.unwrap();
        assert_eq!((whole.next, whole.total), (None, whole.text.len()));
        assert!(
            whole.text.starts_with("[\n  {\n    \"t\": \"0 ä€🧰\",\n    \"n\": 0.10\n  },"),
            "{}",
            whole.text
        );
        for cap in [1, 64, 5_000] {
            assert_eq!(read_on(&results, cap, &path).await, whole.text, "{cap}");
        }
        assert_eq!(results.page("me", 9, &format!("{path}&offset=9999999")).await.unwrap().text, "");
        assert!(matches!(
            results.page("me", 9, &format!("{address}?path=$$")).await,
            Err(PageError::Path(PathError::Invalid(_)))
        ));
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
        let half = Arc::new("z".repeat(KEPT_BYTES));
        for address in results.keep_all("me", &[&half, &half]) {
            assert!(
                results.find("me", &id(&address)).is_some(),
                "one result's parts are not dropped for each other"
            );
        }
        let longest = keep(&"z".repeat(LONGEST + 5));
        assert_eq!(results.find("me", &id(&longest)).map(|text| text.len()), Some(LONGEST));
        assert!(results.find("me", &id(&large)).is_none());
    }
}
