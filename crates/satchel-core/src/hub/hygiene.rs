//! Removes invisible characters from what servers return during and at the end of a call, because a model reads results
//! and a terminal prints them. `exactResults` in a server's entry turns this off.

use std::borrow::Cow;

use satchel_mcp::{
    ErrorObject, Raw, RawObject,
    methods::{Cleaned, KnownMethod},
};
use serde_json::value::to_raw_value;

use super::servers::Registered;
use crate::{bridge::Question, catalog::result_shapes, trust::clean};

/// Cleans the texts of a result, as the table of methods says. Everything else is data and stays byte for byte.
pub(super) fn result(registered: &Registered, method: &str, result: Box<Raw>) -> Box<Raw> {
    // Most results contain nothing to remove.
    let Some(all) = changed(&result).filter(|_| !registered.config.exact_results) else { return result };
    let clean = match KnownMethod::cleaned_of(method) {
        Cleaned::Nothing => None,
        Cleaned::Content => with_clean_content(&result),
        Cleaned::Messages => with_clean_messages(&result),
        Cleaned::All => Some(all),
    };
    let Some(clean) = clean else { return result };
    let why = "removed invisible characters from a result; \"exactResults\" passes them through";
    registered.upstream.log().hub(why);
    clean
}

/// The object with clean text blocks in `content`, a list of blocks or one; `None` if there is nothing to remove.
fn with_clean_content(object: &Raw) -> Option<Box<Raw>> {
    let mut fields = RawObject::parse(object).ok()?;
    let clean = match fields.read::<Vec<Box<Raw>>>("content") {
        Some(blocks) => each(blocks, clean_block)?,
        None => clean_block(fields.get("content")?)?,
    };
    fields.set("content", clean);
    Some(fields.to_raw())
}

/// The same for the messages of a prompt.
fn with_clean_messages(result: &Raw) -> Option<Box<Raw>> {
    let mut fields = RawObject::parse(result).ok()?;
    let messages = each(fields.read::<Vec<Box<Raw>>>("messages")?, with_clean_content)?;
    fields.set("messages", messages);
    Some(fields.to_raw())
}

fn clean_block(block: &Raw) -> Option<Box<Raw>> {
    let mut inside = RawObject::parse(block).ok()?;
    let text = (inside.text("type").as_deref() == Some("text")).then(|| inside.get("text")).flatten();
    let clean = changed(text?)?;
    inside.set("text", clean);
    Some(inside.to_raw())
}

/// The list with what `clean` changes; `None` if it changes nothing.
fn each(items: Vec<Box<Raw>>, clean: impl Fn(&Raw) -> Option<Box<Raw>>) -> Option<Box<Raw>> {
    let mut any = false;
    let items: Vec<Box<Raw>> = items
        .into_iter()
        .map(|item| match clean(&item) {
            Some(clean) => {
                any = true;
                clean
            }
            None => item,
        })
        .collect();
    any.then(|| to_raw_value(&items).ok()).flatten()
}

/// Cleans the message of an error; its data stay unchanged.
pub(super) fn error(mut error: ErrorObject) -> ErrorObject {
    if let Cow::Owned(message) = clean::text(&error.message) {
        error.message = message;
    }
    error
}

/// Cleans the parameters of a notification.
pub(super) fn said(params: Box<Raw>) -> Box<Raw> {
    changed(&params).unwrap_or(params)
}

/// Cleans a question for a client, and corrects what it asks for.
pub(super) fn question(question: Question) -> Question {
    let corrected =
        |params: Box<Raw>| result_shapes::corrected_question(&question.method, &params).unwrap_or(params);
    let params = question.params.map(|params| said(corrected(params)));
    Question { params, ..question }
}

fn changed(raw: &Raw) -> Option<Box<Raw>> {
    match clean::answer(raw) {
        Cow::Borrowed(_) => None,
        Cow::Owned(clean) => Some(clean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<Raw> {
        Raw::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn texts_of_results_and_prompts_are_cleaned_and_everything_else_stays() {
        let hidden = "a\u{200b}b";
        let check = |clean: fn(&Raw) -> Option<Box<Raw>>, written: &str| {
            let cleaned = clean(&raw(&written.replace("HIDDEN", hidden).replace("TEXT", hidden)));
            let expected = written.replace("HIDDEN", hidden).replace("TEXT", "ab");
            assert_eq!(cleaned.map(|raw| raw.get().to_owned()), Some(expected), "{written}");
        };
        check(
            with_clean_content,
            r#"{"content":[{"type":"text","text":"TEXT"},{"type":"x","text":"HIDDEN"}],"v":1.0}"#,
        );
        check(
            with_clean_messages,
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"TEXT"}}]}"#,
        );
        check(
            with_clean_messages,
            r#"{"messages":[{"content":[{"type":"text","text":"TEXT"}]},{"content":{"type":"resource","text":"HIDDEN"}}]}"#,
        );
        for clean in [with_clean_content, with_clean_messages] {
            assert!(clean(&raw(r#"{"content":[{"type":"text","text":"a"}],"messages":[7]}"#)).is_none());
        }
    }
}
