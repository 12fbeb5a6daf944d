//! `asks` and `answer`: calls that wait for permission, and servers' questions ([`super::questions`]).

use std::{process::ExitCode, time::Duration};

use anyhow::{Context, anyhow};
use satchel_core::{
    clock::now_ms,
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
    keyboard::{Keyboard, Typed},
    output::{self, Lines, say, say_aside, say_json},
    reach::{Reached, running},
    terminal,
};

/// How often an open question is looked for in the hub's list.
const LOOK: Duration = Duration::from_millis(500);

pub(crate) async fn run(places: &Places, watch: bool, json: bool) -> anyhow::Result<ExitCode> {
    let hub = running(places).await?;
    if watch && (json || !terminal::is_there()) {
        return Err(Usage("--watch needs an interactive terminal".into()).into());
    }
    if watch {
        return watched(&hub).await;
    }
    let list: AskList = hub.ask(ListAsks { wait: false }).await?;
    if json {
        say_json(&list)?;
        return Ok(ExitCode::SUCCESS);
    }
    if list.asks.is_empty() {
        say("Nothing waits.");
    }
    list.asks.iter().for_each(|ask| say(shown(ask)));
    how_to_answer(&list.asks).into_iter().for_each(say);
    Ok(ExitCode::SUCCESS)
}

/// Calls and servers' questions take different words.
fn how_to_answer(asks: &[Ask]) -> Vec<&'static str> {
    let calls = "Answer a call with `satchel answer NUMBER yes|no|session|always|mute`.";
    let questions = "Answer a server's question with `satchel answer NUMBER yes|no|mute`; after yes, FIELDS fills \
                     in a form, as a JSON object.";
    let has = |question: bool| asks.iter().any(|ask| ask.question.is_some() == question);
    [(false, calls), (true, questions)]
        .into_iter()
        .filter(|(kind, _)| has(*kind))
        .map(|(_, how)| how)
        .collect()
}

async fn watched(hub: &Reached) -> anyhow::Result<ExitCode> {
    let mut keyboard = Keyboard::new();
    loop {
        let list: AskList = hub.ask(ListAsks { wait: true }).await?;
        let Some(ask) = list.asks.first() else { continue };
        say(shown(ask));
        let mut prompt = Prompt { hub, ask, keyboard: &mut keyboard };
        let said = match &ask.question {
            Some(question) => match questions::asked(question, &mut prompt).await? {
                Typed::Said(answer) => questions::bring(hub, ask.id, question, answer, true).await,
                Typed::Over(why) => Err(over(ask.id, why)),
                Typed::End => return Ok(ExitCode::SUCCESS),
            },
            None => match asked(&mut prompt).await? {
                Typed::Said(answer) => hub.ask_for_person(AnswerAsk { id: ask.id, answer }).await,
                Typed::Over(why) => Err(over(ask.id, why)),
                Typed::End => return Ok(ExitCode::SUCCESS),
            },
        };
        if let Err(refused) = said {
            say("");
            say(format!("{refused:#}"));
        }
    }
}

fn over(id: u64, why: &str) -> anyhow::Error {
    anyhow!("{id}: {why}")
}

/// Prompts for a question while it is open.
pub(super) struct Prompt<'a> {
    hub: &'a Reached,
    ask: &'a Ask,
    keyboard: &'a mut Keyboard,
}

impl Prompt<'_> {
    /// A line typed for this question.
    ///
    /// # Errors
    /// If the terminal or the hub fails.
    pub(super) async fn line(&mut self, prompt: &str) -> anyhow::Result<Typed<String>> {
        if self.keyboard.owes() {
            show("   Press Enter first: what was typed before this question does not count.")?;
            match self.keyboard.line(gone(self.hub, self.ask)).await? {
                Typed::Said(_) => {}
                other => return Ok(other),
            }
        }
        show(prompt)?;
        self.keyboard.line(gone(self.hub, self.ask)).await
    }
}

fn show(prompt: &str) -> anyhow::Result<()> {
    output::prompt(prompt).context("cannot write to the terminal")
}

/// Waits until the question is over.
async fn gone(hub: &Reached, ask: &Ask) -> anyhow::Result<&'static str> {
    loop {
        tokio::time::sleep(LOOK).await;
        let list: AskList = hub.ask(ListAsks { wait: false }).await?;
        if list.asks.iter().all(|open| open.id != ask.id) {
            return Ok(match now_ms() >= ask.until_ms {
                true => "expired",
                false => "answered elsewhere, or the call ended",
            });
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
        say_aside(shown(ask));
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

fn shown(ask: &Ask) -> Lines {
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
    let wants = format!("{}: {} wants to call {}:{} ({does})", ask.id, ask.client, ask.server, ask.tool);
    let arguments = ask.arguments.iter().map(|argument| format!("   {}: {}", argument.title, argument.value));
    Lines::line(wants).and(arguments.collect::<Lines>()).and(format!("   asked because of: {}", ask.rule))
}

/// Only a typed word counts as approval, not an empty line.
async fn asked(prompt: &mut Prompt<'_>) -> anyhow::Result<Typed<AskAnswer>> {
    let heard = prompt.line("   Allow it? yes (this once), session, always, mute, or no: [no]").await?;
    Ok(heard.map(|line| match line.to_lowercase().as_str() {
        "y" | "yes" => AskAnswer::Once,
        "session" => AskAnswer::Session,
        "always" => AskAnswer::Always,
        "mute" => AskAnswer::Mute,
        _ => AskAnswer::No,
    }))
}
