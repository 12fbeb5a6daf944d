//! `asks` and `answer`: calls that wait for permission, and servers' questions ([`super::questions`]).

use std::{
    io::{BufRead, Write, stdin, stdout},
    process::ExitCode,
};

use anyhow::Context;
use satchel_core::{
    files::Places,
    model::{
        asks::{Ask, AskAnswer, AskList},
        nature::Effect,
        request::{AnswerAsk, ListAsks},
    },
};

use super::{done, questions};
use crate::{
    Usage,
    args::AnswerWord,
    output::{harmless, say, say_aside, say_json},
    reach::running,
    terminal,
};

pub(crate) async fn run(places: &Places, watch: bool, json: bool) -> anyhow::Result<ExitCode> {
    let hub = running(places).await?;
    if watch && (json || !terminal::is_there()) {
        return Err(Usage("--watch needs an interactive terminal".into()).into());
    }
    loop {
        let list: AskList = hub.ask(ListAsks { wait: watch }).await?;
        if json {
            say_json(&list)?;
            return Ok(ExitCode::SUCCESS);
        }
        if !watch {
            match list.asks.as_slice() {
                [] => say("Nothing waits."),
                asks => {
                    asks.iter().for_each(|ask| say(shown(ask)));
                    say("Answer with `satchel answer NUMBER yes|no|session|always|mute`.");
                }
            }
            return Ok(ExitCode::SUCCESS);
        }
        for ask in &list.asks {
            say(shown(ask));
            let said = match &ask.question {
                Some(question) => {
                    questions::bring(&hub, ask.id, question, questions::asked(question)?, true).await
                }
                None => hub.ask_for_person(AnswerAsk { id: ask.id, answer: asked()? }).await,
            };
            if let Err(refused) = said {
                say(format!("{refused:#}"));
            }
        }
    }
}

pub(crate) async fn answer(
    places: &Places,
    id: u64,
    word: AnswerWord,
    fields: Option<&str>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let hub = running(places).await?;
    let list: AskList = hub.ask(ListAsks { wait: false }).await?;
    let ask = list.asks.iter().find(|ask| ask.id == id);
    // A person who is asked has to see what for.
    if let Some(ask) = ask.filter(|_| terminal::is_there()) {
        say_aside(&shown(ask));
    }
    if let Some(question) = ask.and_then(|ask| ask.question.as_ref()) {
        let answer = questions::meant(question, word, fields)?;
        let said = questions::bring(&hub, id, question, answer.clone(), false).await?;
        return done(&questions::done(question, &answer), &said, json);
    }
    if fields.is_some() {
        return Err(Usage("only a server's form takes fields; this question is about a call".into()).into());
    }
    let answer = word.into();
    let said = hub.ask(AnswerAsk { id, answer }).await?;
    let words = match answer {
        AskAnswer::Once => "Allowed, this once.",
        AskAnswer::Session => "Allowed for this session.",
        AskAnswer::Always => "Allowed from now on; the rule is in the configuration.",
        AskAnswer::No => "Not allowed.",
        AskAnswer::Mute => "Not allowed. This client's questions about this server are muted.",
    };
    done(words, &said, json)
}

fn shown(ask: &Ask) -> String {
    if let Some(question) = &ask.question {
        return questions::shown(ask, question);
    }
    let does = match (ask.effect, ask.stated) {
        (Effect::Deletes, true) => "its server says that it may delete or overwrite",
        (Effect::Deletes, false) => "its name suggests that it may delete",
        (Effect::Reads, _) => "it reads",
        (Effect::Writes, _) => "it writes",
        (Effect::Unstated, _) => "its effects are not declared",
    };
    let mut lines = vec![format!(
        "{}: {} wants to call {}:{} ({does})",
        ask.id,
        harmless(&ask.client),
        ask.server,
        harmless(&ask.tool)
    )];
    lines.extend(
        ask.arguments
            .iter()
            .map(|argument| format!("   {}: {}", harmless(&argument.title), harmless(&argument.value))),
    );
    lines.push(format!("   asked because of: {}", harmless(&ask.rule)));
    lines.join("\n")
}

/// Only a typed word counts as approval, not an empty line.
fn asked() -> anyhow::Result<AskAnswer> {
    print!("   Allow it? yes (this once), session, always, mute, or no: [no] ");
    stdout().flush().context("cannot write to the terminal")?;
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer).context("cannot read from the terminal")?;
    Ok(match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => AskAnswer::Once,
        "session" => AskAnswer::Session,
        "always" => AskAnswer::Always,
        "mute" => AskAnswer::Mute,
        _ => AskAnswer::No,
    })
}
