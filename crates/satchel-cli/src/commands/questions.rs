//! Answers servers' elicitations at the terminal, field by field. An empty line accepts a field's default and never means yes.
//! Refuses forms that ask for anything like a secret.

use satchel_core::model::{
    asks::{Ask, FieldInput, FormField, QuestionAnswer, ServerQuestion, Wanted},
    request::{AnswerQuestion, AnswerSecret, Done},
};
use serde_json::{Map, Value};

use super::{asks::Prompt, secrets};
use crate::{Usage, args::AnswerWord, keyboard::Typed, output::Lines, reach::Reached};

/// A question as listed: the server's name from the configuration, its own text below.
pub(crate) fn shown(ask: &Ask, question: &ServerQuestion) -> Lines {
    let call = if ask.tool.is_empty() { String::new() } else { format!(" in {}", ask.tool) };
    let asks = match &question.wants {
        Wanted::Form { fields } if fields.is_empty() => "asks for a yes",
        Wanted::Form { .. } => "asks",
        Wanted::Secret { .. } => "asks for what looks like a secret; it can only be declined",
        Wanted::Credential { .. } => "cannot start without a credential",
        Wanted::Page { .. } => "asks you to open a page",
    };
    let mut lines =
        Lines::line(format!("{}: {}{call}, called by {}, {asks}", ask.id, ask.server, ask.client));
    lines.push(Lines::block("   | ", &question.message));
    match &question.wants {
        Wanted::Form { fields } => {
            lines.push(fields.iter().map(|field| format!("   {}", described(field))).collect::<Lines>());
        }
        Wanted::Credential { name } => {
            lines.push(format!("   {name}: it is stored only in your keychain"));
        }
        Wanted::Secret { fields } => lines.push(format!("   fields: {}", fields.join(", "))),
        Wanted::Page { url, host } => {
            lines.push(format!("   host: {}", host));
            lines.push(format!("   address: {}", url));
        }
    }
    lines
}

fn described(field: &FormField) -> String {
    let bounds = |min: Option<String>, max: Option<String>| match (min, max) {
        (None, None) => String::new(),
        (min, max) => format!(", {} to {}", min.unwrap_or_default(), max.unwrap_or_default()),
    };
    let number = |number: &Option<u64>| number.map(|number| number.to_string());
    let options = |options: &[satchel_core::model::asks::FieldOption]| {
        let each = options.iter().map(|option| match option.title == option.value {
            true => option.value.clone(),
            false => format!("{} ({})", option.value, option.title),
        });
        each.collect::<Vec<_>>().join(", ")
    };
    let kind = match &field.input {
        FieldInput::Text { format, min, max, .. } => {
            let format = format.and_then(|format| serde_json::to_value(format).ok());
            let format = format.and_then(|format| format.as_str().map(ToOwned::to_owned));
            format!("{}{}", format.unwrap_or_else(|| "text".to_owned()), bounds(number(min), number(max)))
        }
        FieldInput::Number { whole, min, max, .. } => {
            let text = |number: &Option<f64>| number.map(|number| number.to_string());
            format!("{}{}", if *whole { "whole number" } else { "number" }, bounds(text(min), text(max)))
        }
        FieldInput::Toggle { .. } => "true or false".to_owned(),
        FieldInput::Choice { options: all, .. } => format!("one of {}", options(all)),
        FieldInput::Several { options: all, min, max, .. } => {
            format!("any of {}{}", options(all), bounds(number(min), number(max)))
        }
    };
    let initial = field.input.initial().map(|initial| format!(" [{initial}]")).unwrap_or_default();
    let needed = if field.required { "" } else { ", optional" };
    let about = if field.description.is_empty() { String::new() } else { format!(": {}", field.description) };
    format!("{} ({}): {kind}{needed}{initial}{about}", field.title, field.name)
}

/// The meaning of an answer word.
pub(crate) fn meant(
    question: &ServerQuestion,
    word: AnswerWord,
    fields: Option<&str>,
) -> anyhow::Result<QuestionAnswer> {
    if fields.is_some() && !matches!(word, AnswerWord::Yes) {
        return Err(Usage("fields go with yes".into()).into());
    }
    Ok(match word {
        AnswerWord::Yes => QuestionAnswer::Accept { content: given(question, fields)? },
        AnswerWord::No => QuestionAnswer::Decline,
        AnswerWord::Mute => QuestionAnswer::Mute,
        AnswerWord::Session | AnswerWord::Always => {
            return Err(Usage("a server's question is answered with yes, no or mute".into()).into());
        }
    })
}

fn given(question: &ServerQuestion, fields: Option<&str>) -> anyhow::Result<Map<String, Value>> {
    let mut content = match &question.wants {
        Wanted::Form { fields } => initial(fields),
        Wanted::Secret { .. } | Wanted::Credential { .. } | Wanted::Page { .. } => Map::new(),
    };
    if let Some(text) = fields {
        let given: Map<String, Value> = serde_json::from_str(text)
            .map_err(|error| Usage(format!("the fields are not a JSON object: {error}")))?;
        content.extend(given);
    }
    Ok(content)
}

fn initial(fields: &[FormField]) -> Map<String, Value> {
    fields.iter().filter_map(|field| Some((field.name.clone(), field.input.initial()?))).collect()
}

/// Sends the answer. Prompts for a credential's value without echo; it is never part of an answer. `asked`: the person
/// at this terminal just confirmed.
///
/// # Errors
/// If nothing was entered, or the answer is refused.
pub(crate) async fn bring(
    hub: &Reached,
    id: u64,
    question: &ServerQuestion,
    answer: QuestionAnswer,
    asked: bool,
) -> anyhow::Result<Done> {
    match (&question.wants, answer) {
        (Wanted::Credential { name }, QuestionAnswer::Accept { .. }) => {
            let value = secrets::ask(&format!("Value of {name}"))?;
            hub.ask(AnswerSecret { id, value }).await
        }
        (_, answer) if asked => hub.ask_for_person(AnswerQuestion { id, answer }).await,
        (_, answer) => hub.ask(AnswerQuestion { id, answer }).await,
    }
}

/// What was done, in a sentence.
pub(crate) fn done(question: &ServerQuestion, answer: &QuestionAnswer) -> String {
    match (answer, &question.wants) {
        (QuestionAnswer::Accept { .. }, Wanted::Page { url, .. }) => {
            format!("Agreed. Open it in your browser: {}", url)
        }
        (QuestionAnswer::Accept { .. }, Wanted::Credential { name }) => format!("Stored {name}."),
        (QuestionAnswer::Accept { .. }, _) => "Answered.".to_owned(),
        (QuestionAnswer::Decline | QuestionAnswer::Cancel, _) => "Declined.".to_owned(),
        (QuestionAnswer::Mute, _) => "Declined. This server's questions are muted.".to_owned(),
    }
}

/// Asks a person at the terminal. Only a typed word counts as approval, not an empty line.
///
/// # Errors
/// If the terminal or the hub fails.
pub(super) async fn asked(
    question: &ServerQuestion,
    prompt: &mut Prompt<'_>,
) -> anyhow::Result<Typed<QuestionAnswer>> {
    let mut content = match &question.wants {
        Wanted::Form { fields } => initial(fields),
        Wanted::Secret { .. } => return Ok(Typed::Said(QuestionAnswer::Decline)),
        Wanted::Credential { .. } | Wanted::Page { .. } => Map::new(),
    };
    let word = match prompt.line("   Answer it? yes, mute, or no: [no]").await? {
        Typed::Said(word) => word,
        unsaid => return Ok(unsaid.map(|_| QuestionAnswer::Decline)),
    };
    match word.to_lowercase().as_str() {
        "y" | "yes" => {}
        "mute" => return Ok(Typed::Said(QuestionAnswer::Mute)),
        _ => return Ok(Typed::Said(QuestionAnswer::Decline)),
    }
    if let Wanted::Form { fields } = &question.wants {
        for field in fields {
            let text = match prompt.line(&format!("   {}:", field.title)).await? {
                Typed::Said(text) => text,
                unsaid => return Ok(unsaid.map(|_| QuestionAnswer::Decline)),
            };
            if !text.is_empty() {
                content.insert(field.name.clone(), typed(&field.input, &text));
            }
        }
    }
    Ok(Typed::Said(QuestionAnswer::Accept { content }))
}

/// Converts input to the field's type; the hub refuses invalid values, naming the field.
fn typed(input: &FieldInput, text: &str) -> Value {
    match input {
        FieldInput::Text { .. } | FieldInput::Choice { .. } => text.into(),
        FieldInput::Number { .. } => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        FieldInput::Toggle { .. } => matches!(text.to_lowercase().as_str(), "y" | "yes" | "true").into(),
        FieldInput::Several { .. } => text.split(',').map(str::trim).filter(|one| !one.is_empty()).collect(),
    }
}
