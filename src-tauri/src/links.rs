//! Pages that a person agreed to visit are opened here and nowhere else: of the web alone, by the address that was shown,
//! and never through a shell.

use satchel_core::model::{
    asks::{QuestionAnswer, Wanted},
    control::{Refusal, Wish},
};
use serde_json::Value;

use crate::serving::Serving;

/// Lets the hub fulfil a wish; where that was consent to visit a page, opens it.
pub(crate) async fn fulfil(serving: &Serving, wish: Wish) -> Result<Value, Refusal> {
    let page = agreed(serving, &wish);
    let done = serving.fulfil(wish).await?;
    if let Some(page) = page {
        open(&page)?;
    }
    Ok(done)
}

/// The page that this wish agrees to visit: the one that the hub asked about, whatever the window says.
fn agreed(serving: &Serving, wish: &Wish) -> Option<String> {
    let Wish::AnswerQuestion { id, answer: QuestionAnswer::Accept { .. } } = wish else { return None };
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
        return Err(Refusal::new("not_opened", "only pages of the web are opened", ""));
    }
    open::that_detached(page).map_err(|error| {
        let message = format!("the browser could not be started: {error}");
        Refusal::new("not_opened", message, "Open the address in a browser yourself.")
    })
}
