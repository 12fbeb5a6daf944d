//! Decides whether a call may be made: by rule, and where the rule says "ask", by asking a person, through the client
//! if it supports elicitation, else at one of Satchel's own faces.

use std::{sync::Arc, time::Duration};

use satchel_mcp::{Raw, RawObject};
use serde_json::{Value, json, value::to_raw_value};
use tokio::time::Instant;

use super::{CallFailure, Hub, failure::denied, question::shown, route::Route, ruled};
use crate::{
    bridge::{Caller, Question},
    catalog::ToolEntry,
    clock::now_ms,
    model::{
        Code, ToolPath,
        asks::{Ask, AskAnswer, AskArgument},
        control::{Change, Refusal},
        nature::{AskedIn, Consent, Effect, Nature, Permit, Safety, UsualRule},
    },
    prompts::{NOBODY, PATIENCE, SILENT, Ticket},
    trust::{clean, rules::Decision},
};

/// Timeout for clients, which show questions in their own way.
const CLIENT_PATIENCE: Duration = Duration::from_secs(120);
/// Nobody reads a question and declines it so fast: the client did, without asking.
const BY_ITSELF: Duration = Duration::from_millis(400);
/// How long a client has to have been able to ask its user before its word counts for what deletes or runs something. A
/// program that reads a token may say that it can, in the name of a client that cannot.
const KNOWN_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// Why a call was not allowed, where the client declined by itself.
const NOT_ASKED: &str =
    "the client declined without asking its user, and no user is there to be asked otherwise";
/// The same where the client says that its user declined.
const DECLINED_THERE: &str = "the client says that its user did not allow it";
/// Maximum length of the arguments in a client's question, in characters. Clients cut longer messages, so Satchel asks then.
const IN_A_MESSAGE: usize = 8_000;
/// Maximum length of each argument, and of all together, in Satchel's own question.
const ONE_ARGUMENT: usize = 32_000;
const ALL_ARGUMENTS: usize = 64_000;
/// Maximum number of arguments that are listed individually; the others are one.
const SHOWN_ARGUMENTS: usize = 40;

/// A call that waits for a person's decision.
#[derive(Debug)]
pub(super) struct Permission {
    client: Arc<str>,
    path: ToolPath,
    rule: String,
    ask: Ask,
    began: Instant,
    /// The client can ask its user, but its word does not count.
    discounted: bool,
    asked: Asked,
}

#[derive(Debug)]
enum Asked {
    /// The client asks its own user, since then.
    Client { question: Option<Question>, since: Instant },
    /// Satchel asks; queued once there is a ticket.
    Faces(Option<Ticket>),
    /// A person's decision, or the reason why there is none.
    Said(Result<AskAnswer, &'static str>),
    /// The decision of a person, as the client says.
    ClientSaid(AskAnswer),
}

/// The rules' decision on a call.
pub(super) enum Permitted {
    /// Allowed without asking.
    Freely,
    /// A repeated call with an answer for its server, already allowed in this way.
    Again(Consent),
    /// Allowed only after asking.
    Asking(Box<Permission>),
}

/// The decision on a call that needs permission.
pub(super) enum Word {
    /// Ask the client.
    Ask(Question),
    /// Allowed in this way, by this rule and after this wait.
    Yes(Consent, String, Duration),
    /// Refused, after this wait.
    No(CallFailure, Duration),
}

impl Permission {
    /// The next event. Cancel safe.
    pub(super) async fn next(&mut self, hub: &Hub) -> Word {
        loop {
            match &mut self.asked {
                Asked::Client { question, since } => {
                    if let Some(question) = question.take() {
                        *since = Instant::now();
                        hub.context.observer.asked();
                        return Word::Ask(question);
                    }
                    tokio::time::sleep_until(*since + CLIENT_PATIENCE).await;
                    self.asked = Asked::Said(Err(SILENT));
                }
                Asked::Faces(None) => {
                    self.asked = match hub.inner.prompts.queue_ask(self.ask.clone(), &self.path) {
                        Ok(ticket) => {
                            hub.context.observer.asked();
                            Asked::Faces(Some(ticket))
                        }
                        Err(why) => Asked::Said(Err(why)),
                    };
                }
                Asked::Faces(Some(ticket)) => {
                    let said = ticket.word().await;
                    self.asked = Asked::Said(said);
                }
                Asked::Said(said) => {
                    let consent = |answer| match answer {
                        AskAnswer::Session => Consent::Session,
                        AskAnswer::Always => Consent::Always,
                        AskAnswer::Once | AskAnswer::No | AskAnswer::Mute => Consent::Once,
                    };
                    return match *said {
                        Ok(answer) if answer.is_yes() => self.yes(consent(answer)),
                        Ok(_) => self.no("the user did not allow it"),
                        Err(why) => self.no(why),
                    };
                }
                Asked::ClientSaid(answer) => {
                    return match answer {
                        AskAnswer::Session => self.yes(Consent::ClientSession),
                        AskAnswer::Once | AskAnswer::Always => self.yes(Consent::ClientOnce),
                        AskAnswer::No | AskAnswer::Mute => self.no(DECLINED_THERE),
                    };
                }
            }
        }
    }

    fn yes(&self, consent: Consent) -> Word {
        Word::Yes(consent, format!("{}; {}", self.rule, consent.as_str()), self.began.elapsed())
    }

    fn no(&self, why: &str) -> Word {
        let hint = "; a rule with \"consent\": \"client\" lets this client ask its own user";
        let hint = if self.discounted && why == NOBODY { hint } else { "" };
        Word::No(denied(&self.path, &format!("{why}{hint}")), self.began.elapsed())
    }

    /// Takes the client's answer. Only explicit consent counts as approval; if the client cannot ask, or declines without
    /// asking, Satchel asks.
    pub(super) fn answered(&mut self, hub: &Hub, result: Option<&Raw>) {
        let Asked::Client { since, .. } = self.asked else { return };
        let took = since.elapsed();
        self.asked = match result.map(consent) {
            None => Asked::Faces(None),
            Some(_) if took > CLIENT_PATIENCE => Asked::Said(Err(SILENT)),
            Some(AskAnswer::No) if took < BY_ITSELF && hub.inner.prompts.is_attended() => Asked::Faces(None),
            Some(AskAnswer::No) if took < BY_ITSELF => Asked::Said(Err(NOT_ASKED)),
            Some(answer) => {
                if answer == AskAnswer::Session {
                    hub.inner.prompts.grant(&self.client, &self.path);
                }
                Asked::ClientSaid(answer)
            }
        };
    }
}

/// Notes that a client says it can ask its user.
pub(super) fn note_asking(hub: &Hub, caller: &Caller) {
    let asks = caller.capabilities.get("elicitation").is_some_and(|modes| modes.get().starts_with('{'));
    if asks && hub.inner.clients.edits.saw_asking(&caller.client) {
        let hub = hub.clone();
        hub.clone().inner.life.tracker().spawn_blocking(move || hub.inner.clients.edits.write_seen());
    }
}

/// Does the client's word count, if it says that it asked its user about a call of this tool?
fn counts(hub: &Hub, client: &str, path: &ToolPath, tool: Option<&ToolEntry>) -> bool {
    let acts = |nature: &Nature| {
        nature.commands || nature.effect == Effect::Deletes || nature.safety == Safety::Dangerous
    };
    match ruled::asked_in(hub, path, tool) {
        Some(AskedIn::Client) => true,
        Some(AskedIn::Window) => false,
        None if !tool.is_some_and(|tool| acts(tool.nature())) => true,
        None => {
            hub.inner.clients.edits.asks_since(client).is_some_and(|since_ms| {
                Duration::from_millis(now_ms().saturating_sub(since_ms)) >= KNOWN_AFTER
            })
        }
    }
}

/// `accept` is the user's explicit consent (`2025-11-25/client/elicitation.mdx#response-actions`).
fn consent(result: &Raw) -> AskAnswer {
    let fields = RawObject::parse(result).unwrap_or_default();
    let content = fields.get("content").and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default();
    match (fields.text("action").as_deref(), content.get("allow").map(Raw::get)) {
        (Some("accept"), Some("\"session\"")) => AskAnswer::Session,
        (Some("accept"), None | Some("\"once\"" | "true" | "null")) => AskAnswer::Once,
        _ => AskAnswer::No,
    }
}

/// Decides on a call.
///
/// # Errors
/// A [`CallFailure`] if it is refused.
pub(super) fn permission(
    hub: &Hub,
    caller: &Caller,
    route: &Route,
    params: &RawObject,
) -> Result<Permitted, CallFailure> {
    let path = &route.path;
    let Decision { permit, rule } = ruled::decision_about(hub, path, route.tool());
    hub.context.observer.decided(&rule);
    match permit {
        Permit::Allow => return Ok(Permitted::Freely),
        Permit::Off => return Err(denied(path, &format!("it is switched off ({rule})"))),
        Permit::Ask => {}
    }
    let client = &caller.client;
    let counts = counts(hub, client, path, route.tool());
    if let Some(permitted) = consented(hub, client, path, params, (&rule, counts)) {
        return Ok(permitted);
    }
    let admitted = hub.inner.prompts.admit_question(client, path.server.as_str());
    admitted.map_err(|why| denied(path, why))?;
    let given = params.get("arguments").map_or("{}", Raw::get);
    let ask = ask_about(client, route, given, &rule);
    let question = question(&ask);
    let fits = ask.json.chars().count() <= IN_A_MESSAGE;
    let can_ask = caller.can_answer(&question.method, question.params.as_deref());
    let discounted = can_ask.is_ok() && !counts;
    let asked = match can_ask {
        Ok(()) if counts && fits => Asked::Client { question: Some(question), since: Instant::now() },
        Ok(()) | Err(_) => Asked::Faces(None),
    };
    let (client, path) = (client.clone(), path.clone());
    let began = Instant::now();
    Ok(Permitted::Asking(Box::new(Permission { client, path, rule, ask, began, discounted, asked })))
}

/// The consent that a call already has: a person makes it, or allowed it before. `counts`: the client's word is one.
fn consented(
    hub: &Hub,
    client: &str,
    path: &ToolPath,
    params: &RawObject,
    (rule, counts): (&str, bool),
) -> Option<Permitted> {
    let decided = |by: &str| hub.context.observer.decided(&format!("{rule}; {by}"));
    // A person who makes a call has consented to it.
    if hub.context.is_by_hand() {
        decided("called by hand");
        return Some(Permitted::Freely);
    }
    let is_enough = |consent: &Consent| counts || !consent.is_the_clients_word();
    if let Some(granted) = hub.inner.prompts.is_granted(client, path).filter(is_enough) {
        decided(granted.as_str());
        return Some(Permitted::Freely);
    }
    let answers = params.get("requestState").is_some() || params.get("inputResponses").is_some();
    let back = || hub.inner.prompts.is_back(client, path, &arguments(params)).filter(is_enough);
    answers.then(back).flatten().map(|consent| {
        decided(consent.as_str());
        Permitted::Again(consent)
    })
}

/// Applies a person's decision on a call.
///
/// # Errors
/// If the question is no longer open, was approved too soon, or the rule cannot be written. It stays open in the
/// last two cases.
pub(super) async fn answer_ask(hub: &Hub, id: u64, answer: AskAnswer) -> Result<(), Refusal> {
    if answer == AskAnswer::Always {
        let (client, path) = hub.inner.prompts.asked_about(id, answer)?;
        always_allow(hub, &client, &path).await?;
    }
    hub.inner.prompts.answer_ask(id, answer)
}

async fn always_allow(hub: &Hub, client: &str, path: &ToolPath) -> Result<(), Refusal> {
    let all = hub.inner.servers.catalog();
    let own = all.tool(path).map_or_else(|| path.tool.clone(), |tool| tool.name_there().to_owned());
    let tool = format!("{}:{own}", path.server.in_path());
    if tool.contains(['*', '?']) || client.contains(['*', '?']) {
        let message = format!("no rule can be for {tool} alone: its name has a wildcard character");
        return Err(Refusal::new(Code::BadRule, message, "Allow it once, or write a wider rule yourself."));
    }
    let permit = Some(Permit::Allow);
    hub.apply(Change::SetPermit { tool, client: Some(client.to_owned()), permit }).await?;
    Ok(())
}

/// Remembers an allowed call that its server answered with a question, so that its repetition needs no permission.
pub(super) fn remember_round(
    hub: &Hub,
    caller: &Caller,
    path: &ToolPath,
    params: &RawObject,
    consent: Consent,
) {
    hub.inner.prompts.expect_back(&caller.client, path, arguments(params), consent);
}

/// The question about a call.
fn ask_about(client: &str, route: &Route, given: &str, rule: &str) -> Ask {
    let (path, tool) = (&route.path, route.tool());
    let schema: Value =
        tool.and_then(|tool| serde_json::from_str(tool.input_schema()?.get()).ok()).unwrap_or_default();
    let titled = |key: &str| {
        let title = schema["properties"][key]["title"].as_str().filter(|title| !title.is_empty());
        shown(title.unwrap_or(key), 100)
    };
    let fields: Value = serde_json::from_str(given).unwrap_or_default();
    let fields: Vec<(&String, &Value)> = fields.as_object().into_iter().flatten().collect();
    let (listed, others) = fields.split_at(fields.len().min(SHOWN_ARGUMENTS));
    let listed = listed.iter().map(|(key, value)| AskArgument {
        title: titled(key),
        value: whole_or_told(
            &value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned),
            ONE_ARGUMENT,
        ),
    });
    let of = |fields: &[(&String, &Value)]| -> Value {
        fields.iter().map(|(key, value)| ((*key).clone(), (*value).clone())).collect()
    };
    let others = (!others.is_empty()).then(|| AskArgument {
        title: format!("{} more", others.len()),
        value: whole_or_told(&of(others).to_string(), ONE_ARGUMENT),
    });
    let arguments = listed.chain(others);
    let nature = tool.map(|tool| tool.nature());
    Ask {
        id: 0,
        client: shown(client, 100),
        server: path.server.to_string(),
        tool: shown(&path.tool, 200),
        effect: nature.map_or(Effect::Unstated, |nature| nature.effect),
        stated: nature.is_some_and(|nature| nature.stated),
        arguments: arguments.collect(),
        json: whole_or_told(given, ALL_ARGUMENTS),
        rule: rule.to_owned(),
        usual: UsualRule::read(rule),
        since_ms: 0,
        until_ms: u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX),
        question: None,
    }
}

/// A text with hidden characters escaped. Of one that no face can show, it is said how much is not seen.
fn whole_or_told(text: &str, most: usize) -> String {
    let visible = clean::visible(text);
    match visible.char_indices().nth(most) {
        Some((end, _)) => {
            format!("{}… ({} characters more are not shown)", &visible[..end], visible[end..].chars().count())
        }
        None => visible,
    }
}

fn arguments(params: &RawObject) -> Value {
    params.read("arguments").unwrap_or_default()
}

/// Text of the question in Satchel's words; hidden characters in foreign text are escaped.
fn question(ask: &Ask) -> Question {
    let does = match ask.effect {
        Effect::Deletes => ", which may delete or overwrite something",
        Effect::Reads | Effect::Writes => "",
        Effect::Unstated => ", which may do anything",
    };
    let message = format!(
        "Satchel asks: may {} call {}:{}{does}? Arguments: {}",
        ask.client, ask.server, ask.tool, ask.json
    );
    let params = json!({
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {
                "allow": {
                    "type": "string",
                    "title": "Allow it",
                    "description": "once: only this call; session: all calls of this tool for now",
                    "enum": ["once", "session"],
                },
            },
        },
    });
    let params = to_raw_value(&params).ok();
    Question { key: "satchel_permission".to_owned(), method: "elicitation/create".to_owned(), params }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shown_of_an_argument_is_counted() {
        assert_eq!(whole_or_told("a\u{202e}b", 20), "a⟨U+202E⟩b");
        assert_eq!(
            whole_or_told(&"x".repeat(30), 20),
            format!("{}… (10 characters more are not shown)", "x".repeat(20))
        );
    }

    #[test]
    fn only_a_persons_consent_is_a_yes() {
        for (answer, expected) in [
            (r#"{"action":"accept","content":{"allow":"once"}}"#, AskAnswer::Once),
            (r#"{"action":"accept","content":{"allow":"session"}}"#, AskAnswer::Session),
            (r#"{"action":"accept","content":{}}"#, AskAnswer::Once),
            (r#"{"action":"accept"}"#, AskAnswer::Once),
            (r#"{"action":"accept","content":{"allow":"no"}}"#, AskAnswer::No),
            (r#"{"action":"accept","content":{"allow":false}}"#, AskAnswer::No),
            (r#"{"action":"accept","content":{"allow":true}}"#, AskAnswer::Once),
            (r#"{"action":"decline","content":{"allow":"once"}}"#, AskAnswer::No),
            (r#"{"action":"cancel"}"#, AskAnswer::No),
            (r#"{"content":{"allow":"session"}}"#, AskAnswer::No),
            ("{}", AskAnswer::No),
            ("[]", AskAnswer::No),
        ] {
            assert_eq!(consent(&Raw::from_string(answer.to_owned()).unwrap()), expected, "{answer}");
        }
    }
}
