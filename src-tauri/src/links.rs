//! Pages that a person agreed to visit are opened here and nowhere else: of the web alone, by the address that was shown,
//! and never through a shell.

use satchel_core::model::{
    Code,
    asks::{QuestionAnswer, Wanted},
    control::Refusal,
    oauth::SignInPage,
    request::{AnswerQuestion, BeginSignIn, Request},
};
use serde_json::{Value, json};

use crate::serving::Serving;

/// Has the hub answer a request of the window; where that was consent to visit a page, opens it.
pub(crate) async fn handle(serving: &Serving, message: Value) -> Result<Value, Refusal> {
    if let Some(begin) = BeginSignIn::from_message(&message) {
        // A person clicked, and the hub has checked where the page is.
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

/// The page that this answer agrees to visit: the one that the hub asked about, whatever the window says.
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

fn open(page: &str) -> Result<(), Refusal> {
    let of_the_web = ["https://", "http://"].iter().any(|scheme| page.starts_with(scheme));
    if !of_the_web {
        return Err(Refusal::new(Code::NotOpened, "only pages of the web are opened", ""));
    }
    open::that_detached(page).map_err(|error| {
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
            assert_eq!(open(page).unwrap_err().message, "only pages of the web are opened", "{page}");
        }
    }
}
