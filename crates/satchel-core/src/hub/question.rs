//! Routes a server's question in the middle of a call: to the client if it can ask its user, else to a person at one of
//! Satchel's faces. An unanswered question is declined with the reason.

use satchel_mcp::{Raw, RawObject, methods::KnownMethod};
use serde_json::{Value, json, value::to_raw_value};

use super::Hub;
use crate::{
    bridge::{
        Caller,
        form::{self, Unaskable},
    },
    model::{
        ServerName, ToolPath,
        asks::{Ask, QuestionAnswer, ServerQuestion, Wanted},
        nature::Effect,
    },
    prompts::{NOBODY, PATIENCE, SILENT, Said, Ticket},
    trust::clean,
};

const ELICITATION: &str = "elicitation/create";
/// The key under which an answer states why it was declined.
const REASON: &str = "dev.satchel/reason";

/// Why a field that looks like a secret is declined, whatever a person entered. The specification forbids servers to
/// ask for secrets in a form (`2026-07-28/client/elicitation.mdx`): the value would come back in results that a model
/// reads.
const NO_SECRETS: &str = "it looks like a secret, and Satchel never passes on secrets from a form; ask \
    for it on a page (mode \"url\"), or have it stored as a credential that the server starts with";

/// The reason if no user could see the question.
const ABSENT: &str = "no user is there to be asked";

/// Who answers a question.
pub(super) enum Turn {
    /// The calling client.
    Client,
    /// A person, through Satchel.
    People(Box<ServerQuestion>),
    /// Nobody, for this reason.
    Nobody(String),
    /// The client, but it lacks these capabilities.
    Lacks(Value),
}

/// Decides who answers a question. A question for a secret never goes to a client, where a model might read the
/// answer.
pub(super) fn turn(caller: &Caller, method: &str, params: Option<&Raw>) -> Turn {
    let can = caller.can_answer(method, params);
    if method != ELICITATION {
        return can.map_or_else(Turn::Lacks, |()| Turn::Client);
    }
    match (form::read(params), can) {
        (Err(Unaskable::Dangerous(why)), _) => Turn::Nobody(why),
        (Ok(question), _) if matches!(question.wants, Wanted::Secret { .. }) => {
            Turn::People(Box::new(question))
        }
        (_, Ok(())) => Turn::Client,
        (Ok(question), Err(_)) => Turn::People(Box::new(question)),
        (Err(Unaskable::Unknown(why)), Err(_)) => Turn::Nobody(why),
    }
}

/// May all questions of a round go to the client unchanged?
pub(super) fn all_for_client(caller: &Caller, result: &Raw) -> bool {
    let requests =
        RawObject::parse(result).ok().and_then(|fields| RawObject::parse(fields.get("inputRequests")?).ok());
    requests.is_none_or(|requests| {
        requests.iter().all(|(_, request)| {
            let Ok(request) = RawObject::parse(request) else { return true };
            let method = request.text("method").unwrap_or_default();
            KnownMethod::question(&method).is_some()
                && matches!(turn(caller, &method, request.get("params")), Turn::Client | Turn::Lacks(_))
        })
    })
}

/// A question for Satchel's queue, which assigns its number and time.
pub(super) fn ask_of(client: &str, path: &ToolPath, question: ServerQuestion) -> Ask {
    Ask {
        id: 0,
        client: shown(client, 100),
        server: path.server.to_string(),
        tool: shown(&path.tool, 200),
        effect: Effect::Unstated,
        stated: false,
        arguments: vec![],
        json: String::new(),
        rule: String::new(),
        usual: None,
        since_ms: 0,
        until_ms: u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX),
        question: Some(question),
    }
}

/// A question that waits for a person.
#[derive(Debug)]
struct Posed {
    key: String,
    ticket: Ticket,
    page: Option<String>,
    /// It can only be declined.
    secret: bool,
}

/// The questions of one call that wait for people.
#[derive(Debug, Default)]
pub(super) struct AtFaces {
    posed: Vec<Posed>,
    /// Why questions were not answered, for the caller.
    unanswered: Vec<String>,
    /// Nobody answered an earlier question of the call, so the next one is not queued.
    nobody: bool,
}

/// The result of a question.
pub(super) struct Answered {
    pub(super) key: String,
    /// The result of the server's request.
    pub(super) result: Box<Raw>,
    /// The page that it was about, if nobody saw it.
    pub(super) unseen_page: Option<String>,
}

impl AtFaces {
    /// Queues a question for people. If the queue is full, it is answered immediately.
    pub(super) fn pose(
        &mut self,
        hub: &Hub,
        caller: &Caller,
        whose: Whose<'_>,
        key: &str,
        question: ServerQuestion,
    ) -> Option<Answered> {
        let Whose { server, tool } = whose;
        let path = ToolPath { server: server.clone(), tool: tool.unwrap_or_default().to_owned() };
        let page = match &question.wants {
            Wanted::Page { url, .. } => Some(url.clone()),
            Wanted::Form { .. } | Wanted::Secret { .. } | Wanted::Credential { .. } => None,
        };
        let secret = matches!(question.wants, Wanted::Secret { .. });
        if self.nobody && !hub.inner.prompts.is_attended() {
            let result = self.refused(server, ABSENT);
            return Some(Answered { key: key.to_owned(), result, unseen_page: page });
        }
        match hub.inner.prompts.queue_question(ask_of(&caller.client, &path, question), &path) {
            Ok(ticket) => {
                self.posed.push(Posed { key: key.to_owned(), ticket, page, secret });
                None
            }
            Err(why) => {
                Some(Answered { key: key.to_owned(), result: self.refused(server, why), unseen_page: None })
            }
        }
    }

    /// Declines, and states the reason to the server and the caller.
    pub(super) fn refused(&mut self, server: &ServerName, why: &str) -> Box<Raw> {
        self.unanswered.push(format!("\"{server}\" asked a question that was not answered: {why}"));
        declined("decline", why)
    }

    /// The next answer, or the reason why there is none; pending forever if nothing waits. Cancel safe.
    pub(super) async fn next(&mut self, server: &ServerName) -> Answered {
        // They share one queue, and each has its own timeout.
        let (at, said) = match self.posed.len() {
            0 => std::future::pending().await,
            _ => first(&mut self.posed).await,
        };
        let Posed { key, page, secret, .. } = self.posed.swap_remove(at);
        let mut unseen_page = None;
        let result = match said {
            said if secret => {
                self.nobody |= matches!(said, Err(why) if why == NOBODY);
                self.refused(server, NO_SECRETS)
            }
            Ok(Said::OfQuestion(answer)) => answered(answer, page.is_some()),
            Ok(Said::OfCall(_)) => declined("decline", "the user did not allow it"),
            Err(why) if why == NOBODY => {
                unseen_page = page;
                self.nobody = true;
                self.refused(server, ABSENT)
            }
            Err(why) => {
                self.refused(server, why);
                declined(if why == SILENT { "cancel" } else { "decline" }, why)
            }
        };
        Answered { key, result, unseen_page }
    }

    /// Adds the unanswered questions to a tool's result.
    pub(super) fn told(&mut self, result: Box<Raw>) -> Box<Raw> {
        let notes = std::mem::take(&mut self.unanswered);
        if notes.is_empty() {
            return result;
        }
        let Ok(mut fields) = RawObject::parse(&result) else { return result };
        let Some(mut content) = fields.read::<Vec<Box<Raw>>>("content") else { return result };
        content.extend(notes.iter().filter_map(|note| {
            to_raw_value(&json!({ "type": "text", "text": format!("Satchel: {note}") })).ok()
        }));
        fields.put("content", &content);
        fields.to_raw()
    }

    /// Drops all waiting questions.
    pub(super) fn forget(&mut self) {
        self.posed.clear();
    }
}

/// The origin of a question.
#[derive(Clone, Copy)]
pub(super) struct Whose<'a> {
    pub(super) server: &'a ServerName,
    pub(super) tool: Option<&'a str>,
}

async fn first(posed: &mut [Posed]) -> (usize, Result<Said, &'static str>) {
    let waits = posed
        .iter_mut()
        .enumerate()
        .map(|(at, posed)| Box::pin(async move { (at, posed.ticket.said().await) }));
    let mut waits: Vec<_> = waits.collect();
    std::future::poll_fn(|context| {
        let ready = waits.iter_mut().find_map(|wait| match wait.as_mut().poll(context) {
            std::task::Poll::Ready(ready) => Some(ready),
            std::task::Poll::Pending => None,
        });
        ready.map_or(std::task::Poll::Pending, std::task::Poll::Ready)
    })
    .await
}

fn answered(answer: QuestionAnswer, page: bool) -> Box<Raw> {
    let said = match answer {
        // Consent to open a page has no content (`2025-11-25/client/elicitation.mdx#url-mode`).
        QuestionAnswer::Accept { .. } if page => json!({ "action": "accept" }),
        QuestionAnswer::Accept { content } => json!({ "action": "accept", "content": content }),
        QuestionAnswer::Decline | QuestionAnswer::Mute => json!({ "action": "decline" }),
        QuestionAnswer::Cancel => json!({ "action": "cancel" }),
    };
    to_raw_value(&said).unwrap_or_else(|_| declined("cancel", SILENT))
}

fn declined(action: &str, why: &str) -> Box<Raw> {
    let mut said = RawObject::new();
    // Strings always serialize.
    said.put("action", &action);
    said.put("_meta", &json!({ REASON: why }));
    said.to_raw()
}

/// Escapes hidden characters and limits the length.
pub(super) fn shown(text: &str, most: usize) -> String {
    let visible = clean::visible(text);
    match visible.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &visible[..end]),
        None => visible,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn raw(json: &str) -> Box<Raw> {
        Raw::from_string(json.to_owned()).unwrap()
    }

    fn whose_turn(capabilities: &str, params: &str) -> &'static str {
        let capabilities = Arc::new(RawObject::parse(&raw(capabilities)).unwrap());
        let caller = Caller { capabilities, ..Caller::alone("c") };
        match turn(&caller, ELICITATION, Some(&raw(params))) {
            Turn::Client => "client",
            Turn::People(_) => "people",
            Turn::Nobody(_) => "nobody",
            Turn::Lacks(_) => "lacks",
        }
    }

    #[test]
    fn the_clients_capabilities_and_the_question_decide_who_answers() {
        let (none, forms, both) = ("{}", r#"{"elicitation":{}}"#, r#"{"elicitation":{"form":{},"url":{}}}"#);
        let form =
            r#"{"message":"m","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#;
        let odd = r#"{"message":"m","requestedSchema":{"type":"object","required":["x"],"properties":{"x":{"type":"object"}}}}"#;
        let secret = r#"{"message":"m","requestedSchema":{"type":"object","properties":{"password":{"type":"string"}}}}"#;
        let page = r#"{"mode":"url","message":"m","url":"https://a.example/"}"#;
        let script = r#"{"mode":"url","message":"m","url":"javascript:alert(1)"}"#;
        for (params, expected) in [
            (form, ["people", "client", "client"]),
            (odd, ["nobody", "client", "client"]),
            (secret, ["people", "people", "people"]),
            (page, ["people", "people", "client"]),
            (script, ["nobody", "nobody", "nobody"]),
        ] {
            assert_eq!([none, forms, both].map(|can| whose_turn(can, params)), expected, "{params}");
        }
    }

    #[test]
    fn a_result_names_the_questions_that_went_unanswered() {
        let mut faces = AtFaces::default();
        let as_it_came = raw(r#"{"content":[{"type":"text","text":"a"}],"x":1.0}"#);
        assert_eq!(faces.told(as_it_came.clone()).get(), as_it_came.get());
        let said = faces.refused(&"s".parse::<ServerName>().unwrap(), "no user is there to be asked");
        assert_eq!(
            said.get(),
            r#"{"action":"decline","_meta":{"dev.satchel/reason":"no user is there to be asked"}}"#
        );
        let told = faces.told(as_it_came);
        assert!(
            told.get()
                .starts_with(r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"Satchel: "#),
            "{}",
            told.get()
        );
        assert!(told.get().ends_with(r#""x":1.0}"#));
    }

    #[test]
    fn shown_text_has_no_hidden_characters_and_a_limit() {
        assert_eq!(shown("a\u{202e}b", 100), clean::visible("a\u{202e}b"));
        assert!(!shown("a\u{202e}b", 100).contains('\u{202e}'));
        assert_eq!(shown("abcdef", 3), "abc…");
    }
}
