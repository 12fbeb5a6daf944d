//! Sends one message to the hub and relays everything the hub answers to the client.
//!
//! Reports whether an unanswered message can have been executed; the caller decides whether to repeat it.

use std::{path::Path, sync::Arc};

use super::{
    headers,
    room::{LARGE, Out},
};
use crate::control::{Endpoint, HttpAnswer, PostError};
use satchel_mcp::{ErrorObject, Id, Message, errors, limits, sse};

/// The present connection to the hub.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// Increases each time the hub had to be found again.
    pub(super) generation: u64,
    pub(super) endpoint: Endpoint,
    /// The session id, in revisions with sessions.
    pub(super) session: Option<String>,
    /// The negotiated revision, in revisions that negotiate one.
    pub(super) revision: Option<String>,
    /// The file that has the client's token, for a client's own socket.
    pub(super) token_file: Option<Arc<Path>>,
}

impl Link {
    /// Why the hub does not know the client, and what to do.
    fn unknown_client(&self) -> String {
        match &self.token_file {
            None => "the hub no longer knows this client".to_owned(),
            Some(file) => format!(
                "the hub does not accept the token in {} at this socket; on the hub's computer, run `satchel connect \
                 --print --client NAME` with the name that the socket has under \"sockets\", and write its output to \
                 that file",
                file.display()
            ),
        }
    }
}

/// The result of sending a message.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It was answered, or needs no answer.
    Done(ExchangeReply),
    /// It was not executed and may be resent.
    NotExecuted(String),
    /// It may have been executed.
    Unknown(String),
}

/// Facts from a response.
#[derive(Debug, Default)]
pub(super) struct ExchangeReply {
    /// The session that the hub opened with it.
    pub(super) session: Option<String>,
    /// The response to the request.
    pub(super) answer: Option<Message>,
}

/// Sends `message` and writes what comes back.
pub(super) async fn exchange(link: &Link, message: &Message, out: &Out) -> Outcome {
    let sent_headers = headers::of(link, message);
    let answer = match link.endpoint.post(&sent_headers, message.to_json()).await {
        Ok(answer) => answer,
        Err(PostError::NotSent(why)) => return Outcome::NotExecuted(why),
        Err(PostError::Lost(why)) => return Outcome::Unknown(why),
    };
    let in_session = sent_headers.iter().any(|(name, _)| *name == "mcp-session-id");
    match answer.status() {
        401 => return Outcome::NotExecuted(link.unknown_client()),
        404 if in_session => {
            return Outcome::NotExecuted("the hub no longer knows this session".into());
        }
        _ => {}
    }
    let session = answer.header("mcp-session-id").map(str::to_owned);
    let read = match (answer.is_stream(), wanted(message)) {
        (true, wanted) => read_stream(answer, wanted, out).await,
        (false, Some(id)) => read_body(answer, id, out).await,
        (false, None) => read_receipt(answer).await,
    };
    match read {
        Ok(answer) => Outcome::Done(ExchangeReply { session, answer }),
        Err(why) => Outcome::Unknown(why),
    }
}

fn wanted(message: &Message) -> Option<&Id> {
    match message {
        Message::Request { id, .. } => Some(id),
        Message::Notification { .. } | Message::Response { .. } => None,
    }
}

/// Writes every message of a stream until the wanted response has arrived, or to its end if none is wanted.
pub(super) async fn read_stream(
    mut stream: HttpAnswer,
    wanted: Option<&Id>,
    out: &Out,
) -> Result<Option<Message>, String> {
    let (mut reader, mut events) = (sse::Reader::default(), Vec::new());
    // How much was read since the last event, and the turn to read a large one.
    let (mut read, mut turn) = (0, None);
    loop {
        let Some(piece) = stream.piece().await.map_err(|lost| lost.to_string())? else {
            return match wanted {
                Some(_) => Err("the hub's response ended early".into()),
                None => Ok(None),
            };
        };
        read += piece.len();
        if read > LARGE && turn.is_none() {
            turn = out.large().await;
        }
        reader.push(&piece, &mut events).map_err(|large| large.to_string())?;
        let any = !events.is_empty();
        for event in events.drain(..).filter(|event| !event.data.is_empty()) {
            match Message::parse(&event.data) {
                Ok(message) => {
                    out.write(&message).await;
                    if answers(&message, wanted) {
                        return Ok(Some(message));
                    }
                }
                Err(wrong) => tracing::warn!("the hub sent an event that is not a valid message: {wrong}"),
            }
        }
        if any {
            (read, turn) = (0, None);
        }
    }
}

fn answers(message: &Message, wanted: Option<&Id>) -> bool {
    matches!(message, Message::Response { id, .. } if wanted.is_some() && id.as_ref() == wanted)
}

/// Writes the message that is the whole body.
async fn read_body(answer: HttpAnswer, wanted: &Id, out: &Out) -> Result<Option<Message>, String> {
    let status = answer.status();
    // Held until the message is on its way to the client.
    let _turn = if answer.length().is_none_or(|length| length > LARGE) { out.large().await } else { None };
    let body = answer.whole(limits::MESSAGE_BYTES).await.map_err(|lost| lost.to_string())?;
    let message = match Message::parse(&String::from_utf8_lossy(&body)) {
        Ok(message @ Message::Response { .. }) if answers(&message, Some(wanted)) => message,
        // An error about a request whose id the hub could not read.
        Ok(Message::Response { outcome: Err(error), .. }) => Message::error(Some(wanted.clone()), error),
        Ok(Message::Response { outcome: Ok(_), .. })
        | Ok(Message::Request { .. } | Message::Notification { .. })
        | Err(_) => {
            let text = format!("the hub answered with HTTP {status} and no message");
            refused(wanted, text)
        }
    };
    out.write(&message).await;
    Ok(Some(message))
}

/// Handles the receipt of a notification or response.
async fn read_receipt(answer: HttpAnswer) -> Result<Option<Message>, String> {
    let status = answer.status();
    if !(200..300).contains(&status) {
        let body = answer.whole(limits::MESSAGE_BYTES).await.unwrap_or_default();
        tracing::warn!("the hub rejected a message: HTTP {status} {}", String::from_utf8_lossy(&body));
    }
    Ok(None)
}

/// The bridge's own response to a request that the hub did not answer.
pub(super) fn refused(id: &Id, text: impl Into<String>) -> Message {
    Message::error(Some(id.clone()), ErrorObject::new(errors::HUB_REFUSED, text))
}
