//! Removes invisible characters from what servers return during and at the end of a call, because a model reads results
//! and a terminal prints them. `exactResults` in a server's entry turns this off.

use std::borrow::Cow;

use satchel_mcp::{ErrorObject, Raw, RawObject};

use super::servers::Registered;
use crate::{bridge::Question, trust::clean};

/// Cleans the text blocks of a result. Everything else is data and stays byte for byte.
pub(super) fn result(registered: &Registered, result: Box<Raw>) -> Box<Raw> {
    // Most results contain nothing to remove.
    if registered.config.exact_results || changed(&result).is_none() {
        return result;
    }
    let Some(clean) = with_clean_texts(&result) else { return result };
    let why = "removed invisible characters from a result; \"exactResults\" passes them through";
    registered.upstream.log().hub(why);
    clean
}

fn with_clean_texts(result: &Raw) -> Option<Box<Raw>> {
    let mut fields = RawObject::parse(result).ok()?;
    let mut any = false;
    let blocks: Vec<Box<Raw>> = fields
        .read::<Vec<Box<Raw>>>("content")?
        .into_iter()
        .map(|block| {
            let Ok(mut inside) = RawObject::parse(&block) else { return block };
            let text = (inside.text("type").as_deref() == Some("text")).then(|| inside.get("text")).flatten();
            let Some(clean) = text.and_then(changed) else { return block };
            any = true;
            inside.set("text", clean);
            inside.to_raw()
        })
        .collect();
    any.then(|| {
        fields.put("content", &blocks);
        fields.to_raw()
    })
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

/// Cleans a question for a client.
pub(super) fn question(question: Question) -> Question {
    Question { params: question.params.map(said), ..question }
}

fn changed(raw: &Raw) -> Option<Box<Raw>> {
    match clean::answer(raw) {
        Cow::Borrowed(_) => None,
        Cow::Owned(clean) => Some(clean),
    }
}
