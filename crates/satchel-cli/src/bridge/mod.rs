//! `bridge`: connects standard input and output to the running hub's endpoint, for clients that can only start programs.
//! Standard output carries the protocol and nothing else.
//!
//! Theory of operation: this task reads standard input and ends with it. Each request is a task, so slow ones delay no others;
//! [`keeper`] owns and restores the connection; one task owns standard output, so lines never interleave. A request is repeated
//! only if the hub cannot have executed it.

mod exchange;
mod headers;
mod hub;
mod keeper;
mod room;

use std::{collections::HashMap, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use exchange::{Outcome, exchange, refused};
use keeper::Keeper;
use room::{ClientInput, Out, OutLine};
use satchel_core::files::Places;
use satchel_mcp::{
    ErrorObject, Id, Message, ParseError, RawObject, envelope, errors,
    framing::{Frame, Framer},
    limits,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::{Semaphore, mpsc},
    task::AbortHandle,
};
use tokio_util::task::TaskTracker;

/// Number of attempts to send a message while hubs exit.
const TRIES: usize = 3;
/// Maximum number of requests in flight. The hub rejects far more of one client; here they just wait.
const REQUESTS: usize = 64;
/// How long requests may take after the input ended. Scripts close it right after the last request.
const DRAIN_TIME: Duration = Duration::from_secs(30);
/// How long the last output may take.
const FLUSH_TIME: Duration = Duration::from_secs(5);

/// The connecting client.
#[derive(Debug, Clone)]
pub(crate) struct Connecting {
    /// Its id.
    pub(crate) client: String,
    /// The requested profile.
    pub(crate) profile: Option<String>,
    /// The folder to work in; without it, the one that the bridge was started in counts.
    pub(crate) project: Option<PathBuf>,
    /// The socket of a hub outside of this container, instead of the hub here.
    pub(crate) socket: Option<ClientSocket>,
}

/// A socket for this client alone.
#[derive(Debug, Clone)]
pub(crate) struct ClientSocket {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The file that has the client's token.
    pub(crate) token_file: PathBuf,
}

pub(crate) async fn run(places: &Places, caller: Connecting) -> anyhow::Result<ExitCode> {
    let tracker = TaskTracker::new();
    let (out, lines) = Out::new();
    let mut writer = tracker.spawn(write_lines(lines));
    let keeper = Keeper::start(&tracker, places.clone(), caller, out.clone());
    let places_left = Arc::new(Semaphore::new(REQUESTS));
    let bridge = Bridge {
        requests: TaskTracker::new(),
        room: ClientInput::default(),
        answers_room: ClientInput::default(),
        places_left,
        keeper,
        out,
        modern: HashMap::new(),
        listening: vec![],
        invalid: 0,
    };
    tokio::select! {
        () = bridge.read(tokio::io::stdin()) => {
            // After the bridge has ended nothing more is written, but the rest must still go out.
            let _ = tokio::time::timeout(FLUSH_TIME, writer).await;
        }
        // The client closed standard output.
        _ = &mut writer => {}
    }
    Ok(ExitCode::SUCCESS)
}

async fn write_lines(mut lines: mpsc::Receiver<OutLine>) {
    let mut stdout = crate::output::messages();
    while let Some(mut line) = lines.recv().await {
        line.text.push('\n');
        if stdout.write_all(line.text.as_bytes()).await.is_err() || stdout.flush().await.is_err() {
            return;
        }
    }
}

/// How many invalid messages of a client are told.
const TOLD: usize = 50;

struct Bridge {
    requests: TaskTracker,
    /// For requests that are not answered yet.
    room: ClientInput,
    /// For the client's answers on their way to the hub, which requests may wait for.
    answers_room: ClientInput,
    /// A permit per request in flight.
    places_left: Arc<Semaphore>,
    keeper: Keeper,
    out: Out,
    /// Requests in flight in revisions where closing the HTTP request cancels it.
    modern: HashMap<Id, AbortHandle>,
    /// Requests that are never answered.
    listening: Vec<AbortHandle>,
    /// How many messages were invalid. Only some are told: a client that does not read what is told would stop it all.
    invalid: usize,
}

impl Bridge {
    /// Forwards the input until it ends and everything is answered.
    async fn read(mut self, mut input: impl tokio::io::AsyncRead + Unpin) {
        let (mut framer, mut frames) = (Framer::new(limits::BODY_BYTES), Vec::new());
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let length = match input.read(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(length) => length,
            };
            framer.push(&buffer[..length], &mut frames);
            for frame in frames.drain(..) {
                self.take(frame).await;
            }
        }
        framer.finish(&mut frames);
        for frame in frames {
            self.take(frame).await;
        }
        // These never end by themselves.
        self.listening.iter().for_each(AbortHandle::abort);
        self.requests.close();
        if tokio::time::timeout(DRAIN_TIME, self.requests.wait()).await.is_err() {
            tracing::warn!("the client disconnected before every request was answered");
        }
        self.keeper.end().await;
    }

    async fn take(&mut self, frame: Frame) {
        match frame {
            Frame::Message(message) => self.pass(message).await,
            Frame::Departed(departure) => tracing::debug!("the client {}", departure.told()),
            Frame::Noise(text) => {
                self.invalid += 1;
                match self.invalid {
                    TOLD => tracing::warn!("the client sent {TOLD} invalid messages; no more are told"),
                    ..TOLD => tracing::warn!("the client sent an invalid message: {}", shortened(&text)),
                    _ => {}
                }
                if let Some(answer) = answer_to_invalid(&text) {
                    self.out.write(&answer).await;
                }
            }
            // Its text is reported as noise too.
            Frame::Broken { .. } => {}
            Frame::TooLong { bytes, head } => {
                let text = format!("a message may be at most {bytes} bytes long");
                let error = ErrorObject::new(errors::INVALID_REQUEST, text);
                self.out.write(&Message::error(id_in(&head), error)).await;
            }
        }
    }

    async fn pass(&mut self, message: Message) {
        let length = message.length();
        match &message {
            // Everything after it depends on its response.
            Message::Request { id, .. } if headers::is_opening(&message) => {
                let id = id.clone();
                self.keeper.open(message, id).await;
            }
            Message::Request { id, .. } => {
                let (id, modern) = (id.clone(), headers::own_revision(&message).is_some());
                let listens = is_listening(&message);
                let request = request(self.keeper.clone(), message, id.clone(), self.out.clone());
                let places_left = self.places_left.clone();
                // Until there is room, nothing more is read from the client.
                let room = self.room.take(length).await;
                let in_turn = async move {
                    let (_room, _place) = (room, places_left.acquire().await);
                    request.await;
                };
                let task = self.requests.spawn(in_turn).abort_handle();
                if listens {
                    self.listening.retain(|task| !task.is_finished());
                    self.listening.push(task.clone());
                }
                if modern {
                    self.modern.retain(|_, task| !task.is_finished());
                    self.modern.insert(id, task);
                }
            }
            Message::Notification { method, .. } => {
                if method == "notifications/cancelled" && self.abort(&message) {
                    return;
                }
                let ready = (method == "notifications/initialized").then(|| message.clone());
                // In order, one at a time: the next message may depend on it.
                tell(self.keeper.clone(), message, self.out.clone()).await;
                if let Some(ready) = ready {
                    self.keeper.ready(ready).await;
                }
            }
            Message::Response { .. } => {
                let room = self.answers_room.take(length).await;
                let telling = tell(self.keeper.clone(), message, self.out.clone());
                self.requests.spawn(async move {
                    let _room = room;
                    telling.await;
                });
            }
        }
    }

    /// Aborts the request that a notification cancels, in revisions where that is the cancellation.
    fn abort(&mut self, cancelled: &Message) -> bool {
        let Message::Notification { params: Some(params), .. } = cancelled else { return false };
        let id = RawObject::parse(params).ok().and_then(|params| params.read::<Id>("requestId"));
        let task = id.and_then(|id| self.modern.remove(&id));
        task.inspect(AbortHandle::abort).is_some()
    }
}

/// Handles one request. It always gets a response.
async fn request(keeper: Keeper, message: Message, id: Id, out: Out) {
    if let Err(why) = deliver(keeper, &message, &out).await {
        out.write(&refused(&id, why)).await;
    }
}

/// Sends a message without a response.
async fn tell(keeper: Keeper, message: Message, out: Out) {
    if let Err(why) = deliver(keeper, &message, &out).await {
        tracing::warn!("a message did not reach the hub: {why}");
    }
}

async fn deliver(mut keeper: Keeper, message: &Message, out: &Out) -> Result<(), String> {
    let mut failed = None;
    let mut last = String::new();
    let tries = if is_listening(message) { usize::MAX } else { TRIES };
    for _ in 0..tries {
        let link = keeper.link(failed).await?;
        match exchange(&link, message, out).await {
            Outcome::Done(_) => return Ok(()),
            Outcome::NotExecuted(why) => (failed, last) = (Some(link.generation), why),
            // The client must not notice that another hub answers. Listening continues across hubs.
            Outcome::Unknown(why) if repeatable(message) => (failed, last) = (Some(link.generation), why),
            Outcome::Unknown(why) => {
                return Err(format!(
                    "the connection to the hub closed before the response arrived ({why}); the request \
                     may or may not have been carried out"
                ));
            }
        }
    }
    Err(format!("the request was not carried out: {last}"))
}

/// Read-only requests, which are safe to repeat.
fn repeatable(message: &Message) -> bool {
    const READING: &[&str] = &[
        "ping",
        "server/discover",
        "tools/list",
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "completion/complete",
    ];
    let reads = matches!(message, Message::Request { method, .. } if READING.contains(&method.as_str()));
    reads || is_listening(message)
}

/// A request that is answered only when the client cancels it (2026-07-28).
fn is_listening(message: &Message) -> bool {
    matches!(message, Message::Request { method, .. } if method == "subscriptions/listen")
}

/// The response to a text that is no message, under the id of its request if that can be read; `None` if it is what a
/// notification would be, or only brackets of a list.
fn answer_to_invalid(text: &str) -> Option<Message> {
    let is_bracket = |c: char| c.is_whitespace() || matches!(c, '[' | ']' | ',');
    if envelope::is_notification(text) || text.chars().all(is_bracket) {
        return None;
    }
    let object = text.find('{').map_or(text, |start| &text[start..]);
    let (code, why) = match Message::parse_bounded(object) {
        Err(why @ ParseError::Shape(_)) if object.starts_with('{') => (why.code(), format!(": {why}")),
        Err(ParseError::Json(_) | ParseError::Shape(_) | ParseError::Depth) | Ok(_) => {
            (errors::PARSE_ERROR, String::new())
        }
    };
    let error = ErrorObject::new(code, format!("this is not a valid MCP message{why}"));
    Some(Message::error(envelope::id_of_request(text), error))
}

/// The id of a truncated request, if it is near the start.
fn id_in(head: &str) -> Option<Id> {
    let (before, after) = head.split_once("\"id\"")?;
    // A nested id would be something else's.
    if before.matches('{').count() != 1 {
        return None;
    }
    let value = after.trim_start().strip_prefix(':')?;
    serde_json::Deserializer::from_str(value).into_iter().next()?.ok()
}

fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_message_is_answered_under_its_id_and_a_notification_never() {
        let answered = |text: &str| answer_to_invalid(text).map(|answer| answer.to_json());
        let error = |id: &str, code: i64, why: &str| {
            let message = format!("this is not a valid MCP message{why}");
            Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#))
        };
        for (text, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":2,"method":"x","params":3}"#,
                error("2", errors::INVALID_REQUEST, ": params must be an object"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"x","params":{"n":NaN}}"#,
                error("\"a\"", errors::PARSE_ERROR, ""),
            ),
            (
                r#"noise {"id":3,"method":5,"jsonrpc":"2.0"}"#,
                error("3", errors::INVALID_REQUEST, ": a method must be a string"),
            ),
            ("hello", error("null", errors::PARSE_ERROR, "")),
            (r#"{"jsonrpc":"2.0","method":"notifications/x","params":3}"#, None),
            ("[ ,", None),
        ] {
            assert_eq!(answered(text), expected, "{text}");
        }
    }

    #[test]
    fn the_id_of_a_message_that_is_too_long_is_found_only_where_it_is_the_messages_own() {
        for (head, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"aaa"#, Some(Id::from(7))),
            (r#"{"id" : "a", "params":{"#, Some(Id::Text("a".into()))),
            (r#"{"method":"x","params":{"arguments":{"id":7,"#, None),
            (r#"{"method":"x"#, None),
            (r#"{"id":"cut o"#, None),
        ] {
            assert_eq!(id_in(head), expected, "{head}");
        }
    }
}
