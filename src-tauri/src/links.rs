//! Opens web pages that a person chose to visit, and Satchel's own files and folders. The window cannot invent an
//! address: it names one that the hub or a result contained; files are named by what they are, not by path. Never goes
//! through a shell.

use std::{collections::VecDeque, path::Path};

use parking_lot::{Mutex, MutexGuard};

use satchel_core::model::{
    Code,
    asks::{QuestionAnswer, Wanted},
    control::Refusal,
    oauth::SignInPage,
    request::{AnswerQuestion, BeginSignIn, ReadLog, Request},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{commands::About, opening, serving::Serving};

/// Number of results whose addresses are remembered, and maximum text size searched in each.
const RESULTS: usize = 8;
const RESULT_BYTES: usize = 1024 * 1024;
/// Maximum length of an address.
const ADDRESS: usize = 4096;

/// The texts of the last tool results that the window showed, which may contain addresses.
#[derive(Default)]
pub(crate) struct Shown(Mutex<VecDeque<Vec<String>>>);

impl Shown {
    /// Remembers a tool result that the window receives: its pages may be opened.
    pub(crate) fn remember(&self, answer: &Value) {
        let text = answer["result"].as_str();
        let Some(result) = text.and_then(|text| serde_json::from_str(text).ok()) else { return };
        self.remember_texts(&result);
    }

    /// The same for the hub's own texts.
    pub(crate) fn remember_texts(&self, said: &Value) {
        let (mut texts, mut left) = (vec![], RESULT_BYTES);
        collect(said, &mut texts, &mut left);
        let mut shown = self.shown();
        shown.truncate(RESULTS - 1);
        shown.push_front(texts);
    }

    /// Opens a page named in one of them.
    ///
    /// # Errors
    /// If none contains this address, it is not a web address, or the browser cannot be started.
    pub(crate) fn open(&self, page: &str) -> Result<(), Refusal> {
        let is_address =
            page.len() <= ADDRESS && !page.contains(|c: char| c.is_control() || c.is_whitespace());
        let said = self.shown().iter().flatten().any(|text| text.contains(page));
        if !is_address || !said {
            return Err(Refusal::new(Code::NotOpened, "no result names this address", ""));
        }
        open(page)
    }

    /// Does one of them name this origin, such as `https://example.com`?
    pub(crate) fn names(&self, origin: &str) -> bool {
        self.shown().iter().flatten().any(|text| has_origin(text, origin))
    }

    fn shown(&self) -> MutexGuard<'_, VecDeque<Vec<String>>> {
        self.0.lock()
    }
}

/// Does this origin stand in the text, and not as the beginning of another one?
pub(crate) fn has_origin(text: &str, origin: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '@');
    text.match_indices(origin).any(|(at, _)| !text[at + origin.len()..].starts_with(goes_on))
}

/// The origin of an address of the web; `None` where it is no such address, or has a name or password in it.
pub(crate) fn origin_of(page: &str) -> Option<&str> {
    let is_address = page.len() <= ADDRESS && !page.contains(|c: char| c.is_control() || c.is_whitespace());
    let scheme = ["https://", "http://"].into_iter().find(|scheme| page.starts_with(scheme))?;
    let place = &page[scheme.len()..];
    let end = place.find(['/', '?', '#', '\\']).unwrap_or(place.len());
    let is_plain = is_address && end > 0 && !place[..end].contains('@');
    is_plain.then(|| &page[..scheme.len() + end])
}

/// Collects texts that may contain an address, up to the limit.
fn collect(value: &Value, texts: &mut Vec<String>, left: &mut usize) {
    match value {
        Value::String(text) if text.contains("http") && text.len() <= *left => {
            *left -= text.len();
            texts.push(text.clone());
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, texts, left)),
        Value::Object(fields) => fields.iter().for_each(|(_, value)| collect(value, texts, left)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Handles a request of the window; opens the page if the request was consent to it.
pub(crate) async fn handle(serving: &Serving, message: Value) -> Result<Value, Refusal> {
    if let Some(begin) = BeginSignIn::from_message(&message) {
        // A person clicked, and the hub has checked the page's address.
        let page = serving.ask(&begin).await?;
        let not_opened = open(&page.url).err();
        return Ok(json!(SignInPage { not_opened, ..page }));
    }
    let page = AnswerQuestion::from_message(&message).and_then(|answer| agreed(serving, &answer));
    let done = serving.handle(message).await?;
    if let Some(page) = page {
        open(&page)?;
    }
    Ok(done)
}

/// The page that this answer agrees to open, from the hub's question rather than the window.
fn agreed(serving: &Serving, answer: &AnswerQuestion) -> Option<String> {
    let AnswerQuestion { id, answer: QuestionAnswer::Accept { .. } } = answer else { return None };
    let state = serving.state();
    let state = state.borrow();
    let ask = state.snapshot()?.asks.iter().find(|ask| ask.id == *id)?;
    match &ask.question.as_ref()?.wants {
        Wanted::Page { url, .. } => Some(url.clone()),
        Wanted::Form { .. } | Wanted::Secret { .. } | Wanted::Credential { .. } => None,
    }
}

/// One of Satchel's own files or folders.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub(crate) enum OwnPlace {
    /// The configuration file.
    Configuration,
    /// The log folder.
    Logs,
    /// The log of one server.
    ServerLog(String),
}

/// Opens it with the desktop's default program.
///
/// # Errors
/// If there is no such server, the file does not exist yet, or no program opens it.
pub(crate) async fn open_place(serving: &Serving, about: &About, place: OwnPlace) -> Result<(), Refusal> {
    let path = match place {
        OwnPlace::Configuration => about.config_file.clone(),
        OwnPlace::Logs => about.logs.clone(),
        OwnPlace::ServerLog(server) => serving.ask(&ReadLog { server, lines: 0 }).await?.path,
    };
    let message =
        |why: String| Refusal::new(Code::NotOpened, format!("{path} could not be opened: {why}"), "");
    if !Path::new(&path).exists() {
        return Err(message("it is not there yet".to_owned()));
    }
    opening::open(&path).map_err(|error| message(error.to_string()))
}

pub(crate) fn open(page: &str) -> Result<(), Refusal> {
    let of_the_web = ["https://", "http://"].iter().any(|scheme| page.starts_with(scheme));
    if !of_the_web {
        return Err(Refusal::new(Code::NotOpened, "only web pages are opened", ""));
    }
    opening::open(page).map_err(|error| {
        let message = format!("the browser could not be started: {error}");
        Refusal::new(Code::NotOpened, message, "Open the address in a browser yourself.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_web_are_opened() {
        for page in ["file:///etc/passwd", "javascript:alert(1)", "/bin/sh", ""] {
            assert_eq!(open(page).unwrap_err().message, "only web pages are opened", "{page}");
        }
    }

    #[test]
    fn an_origin_is_read_and_found_as_a_whole() {
        for (page, origin) in [
            ("https://example.com/a?b#c", Some("https://example.com")),
            ("http://example.com:8080", Some("http://example.com:8080")),
            ("https://example.com\\@evil.example", Some("https://example.com")),
            ("https://good.example@evil.example/", None),
            ("https:///a", None),
            ("https://example.com/a b", None),
            ("file:///etc/passwd", None),
        ] {
            assert_eq!(origin_of(page), origin, "{page}");
        }
        let text = "see https://example.com/a and https://example.community";
        assert!(has_origin(text, "https://example.com"));
        for other in ["https://example.comm", "https://exam", "http://example.com"] {
            assert!(!has_origin(text, other), "{other}");
        }
        let shown = Shown::default();
        shown.remember_texts(&json!({ "text": text }));
        assert!(shown.names("https://example.community") && !shown.names("https://example"));
    }

    #[test]
    fn only_addresses_that_a_result_named_are_opened() {
        let shown = Shown::default();
        let result = |text: &str| json!({ "result": json!({ "content": [{ "text": text }] }).to_string() });
        shown.remember(&result("see file:///etc/passwd and (https://example.com/a)"));
        let refused = |page: &str| shown.open(page).unwrap_err().message;
        for page in ["https://example.com/b", "http://other.example", "https://example.com/a) x", ""] {
            assert!(refused(page).contains("no result") || page.is_empty(), "{page}");
        }
        assert_eq!(refused("file:///etc/passwd"), "only web pages are opened");
        for _ in 0..RESULTS {
            shown.remember(&result("nothing"));
        }
        assert!(refused("https://example.com/a").contains("no result"), "it was long ago");
    }
}
