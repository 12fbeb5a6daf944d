//! The body of one answer: decoded, and judged by its first bytes instead of its `Content-Type`, because servers and
//! what stands before them get that wrong. What is in it is for its readers.

use reqwest::Response;
use satchel_mcp::{
    Message, ParseError,
    envelope::{self, Read},
    framing::{Frame, Framer},
    limits,
};

use super::http::plain;
use crate::upstream::{decode::Decoding, log::ServerLog};

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looks {
    Nothing,
    Json,
    Events,
    /// A page, or something else that is no message.
    Other,
}

/// A body that is being read.
#[derive(Debug)]
pub(super) struct AnswerBody {
    response: Response,
    decoding: Decoding,
    /// What was read to see what it is.
    ahead: Vec<u8>,
    ended: bool,
}

impl AnswerBody {
    pub(super) fn of(response: Response) -> Self {
        let header = |name: &str| {
            let values = response.headers().get_all(name).iter().filter_map(|value| value.to_str().ok());
            values.collect::<Vec<_>>().join(",")
        };
        let decoding = Decoding::of(&header("content-encoding"));
        Self { response, decoding, ahead: Vec::new(), ended: false }
    }

    fn says_events(&self) -> bool {
        kind_of(&self.response) == "text/event-stream"
    }

    /// What the first bytes are; waits for them.
    pub(super) async fn looks(&mut self) -> Result<Looks, String> {
        loop {
            if let Some(looks) = looks_like(&self.ahead, self.says_events(), self.ended) {
                return Ok(looks);
            }
            match self.read().await? {
                Some(piece) => self.ahead.extend(piece),
                None => self.ended = true,
            }
        }
    }

    /// Notes where the header and the body contradict each other.
    pub(super) fn remark(&self, looks: Looks, log: &ServerLog) {
        match looks {
            Looks::Json if self.says_events() => log.remark("it says text/event-stream and sends plain JSON"),
            Looks::Events if !self.says_events() => {
                let kind = kind_of(&self.response).chars().take(60).collect::<String>();
                log.remark(&format!("it sends events and says {kind:?} instead of text/event-stream"));
            }
            Looks::Json | Looks::Events | Looks::Other | Looks::Nothing => {}
        }
        if self.decoding.was_undeclared() {
            log.remark("it compresses its answers without saying so");
        }
    }

    /// The next bytes; `None` at the end.
    pub(super) async fn piece(&mut self) -> Result<Option<Vec<u8>>, String> {
        if !self.ahead.is_empty() {
            return Ok(Some(std::mem::take(&mut self.ahead)));
        }
        if self.ended {
            return Ok(None);
        }
        self.read().await
    }

    async fn read(&mut self) -> Result<Option<Vec<u8>>, String> {
        let undecodable = |why: String| format!("its answer {why}");
        loop {
            if self.ended {
                return Ok(None);
            }
            let chunk = self.response.chunk().await;
            let chunk = chunk.map_err(|error| format!("its answer broke off: {}", plain(&error)))?;
            let piece = match chunk {
                Some(chunk) => self.decoding.push(chunk.into()).map_err(undecodable)?,
                None => {
                    self.ended = true;
                    self.decoding.finish().map_err(undecodable)?
                }
            };
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
        }
    }

    /// The whole body up to the limit, or up to where `done` says that nothing more is needed.
    pub(super) async fn bytes(mut self, mut done: impl FnMut(&[u8]) -> bool) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.piece().await? {
            if bytes.len() + piece.len() > limits::MESSAGE_BYTES {
                return Err(format!(
                    "its answer was larger than {} MiB and was dropped",
                    limits::MESSAGE_BYTES / 1024 / 1024
                ));
            }
            match bytes.is_empty() {
                true => bytes = piece,
                false => bytes.extend(piece),
            }
            if done(&bytes) {
                break;
            }
        }
        Ok(bytes)
    }

    /// The messages of a body that looks like JSON.
    ///
    /// # Errors
    /// Why there are none, in one sentence.
    pub(super) async fn messages(self) -> Result<Vec<Read>, String> {
        let encoding = self.decoding.unknown().map(ToOwned::to_owned);
        // Some keep such a stream open after the answer.
        let mut whole = Whole { endless: self.says_events(), ..Whole::default() };
        let bytes = self.bytes(|bytes| whole.is(bytes)).await?;
        all_messages(&String::from_utf8_lossy(&bytes)).map_err(|error| {
            let encoding = encoding.map(|named| format!(" (it says Content-Encoding: {named})"));
            format!("its answer is {error}{}", encoding.unwrap_or_default())
        })
    }
}

/// The messages in a body: one, a list, or several below one another.
fn all_messages(text: &str) -> Result<Vec<Read>, ParseError> {
    let error = match envelope::read_all(text) {
        Ok(messages) => return Ok(messages),
        Err(error) => error,
    };
    let (mut framer, mut frames) = (Framer::default(), Vec::new());
    framer.push(text.as_bytes(), &mut frames);
    framer.finish(&mut frames);
    let read = |frame| match frame {
        Frame::Message(message) => Some(Read { message, departures: Vec::new() }),
        Frame::Departed(_) | Frame::Noise(_) | Frame::TooLong { .. } | Frame::Broken { .. } => None,
    };
    let messages: Vec<Read> = frames.into_iter().filter_map(read).collect();
    if messages.is_empty() { Err(error) } else { Ok(messages) }
}

/// Is JSON in a stream that need not end whole? Looks at each byte once.
#[derive(Debug, Default)]
struct Whole {
    endless: bool,
    /// How far it looked.
    read: usize,
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl Whole {
    fn is(&mut self, bytes: &[u8]) -> bool {
        if !self.endless {
            return false;
        }
        bytes.get(self.read..).unwrap_or_default().iter().for_each(|byte| self.see(*byte));
        self.read = bytes.len();
        let ends = matches!(bytes.trim_ascii_end().last(), Some(b'}' | b']'));
        ends && self.depth == 0 && !self.in_text && has_answer(bytes)
    }

    fn see(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.in_text => self.escaped = true,
            b'"' => self.in_text = !self.in_text,
            b'{' | b'[' if !self.in_text => self.depth += 1,
            b'}' | b']' if !self.in_text => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

fn has_answer(bytes: &[u8]) -> bool {
    let all = all_messages(&String::from_utf8_lossy(bytes)).unwrap_or_default();
    all.iter().any(|read| matches!(read.message, Message::Response { .. }))
}

/// What a body is that begins with these bytes; `None` if more are needed.
fn looks_like(bytes: &[u8], says_events: bool, ended: bool) -> Option<Looks> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes).trim_ascii_start();
    match bytes.first() {
        None if ended => return Some(if says_events { Looks::Events } else { Looks::Nothing }),
        None => return None,
        Some(b'{' | b'[') => return Some(Looks::Json),
        Some(_) if says_events => return Some(Looks::Events),
        Some(_) => {}
    }
    // The longest name of a field, and what follows it.
    const FIELD: usize = 6;
    let begins = |field: &str| {
        let rest = bytes.strip_prefix(field.as_bytes())?;
        matches!(rest.first(), Some(b':' | b'\n' | b'\r')).then_some(())
    };
    let is_event = ["", "data", "event", "id", "retry"].iter().any(|field| begins(field).is_some());
    match is_event {
        true => Some(Looks::Events),
        false if bytes.len() >= FIELD || ended => Some(Looks::Other),
        false => None,
    }
}

/// The media type without parameters.
pub(super) fn kind_of(response: &Response) -> String {
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_decide_what_a_body_is() {
        for (bytes, says_events, expected) in [
            ("{", true, Some(Looks::Json)),
            ("\u{feff} \r\n[", true, Some(Looks::Json)),
            ("{\"a\"", false, Some(Looks::Json)),
            ("data: {", false, Some(Looks::Events)),
            ("event: message\n", false, Some(Looks::Events)),
            ("id:1\n", false, Some(Looks::Events)),
            (": ping\n\n", false, Some(Looks::Events)),
            ("retry: 5", false, Some(Looks::Events)),
            ("dat", false, None),
            ("dat", true, Some(Looks::Events)),
            ("database", false, Some(Looks::Other)),
            ("<html>", false, Some(Looks::Other)),
            (" \n", false, None),
        ] {
            assert_eq!(looks_like(bytes.as_bytes(), says_events, false), expected, "{bytes:?}");
        }
        assert_eq!(looks_like(b"  ", false, true), Some(Looks::Nothing));
        assert_eq!(looks_like(b"", true, true), Some(Looks::Events));
        assert_eq!(looks_like(b"ok", false, true), Some(Looks::Other));
    }

    #[test]
    fn the_messages_of_a_body_are_one_a_list_or_several_lines() {
        const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#;
        const DONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let shown = |text: &str| {
            all_messages(text).map(|all| all.iter().map(|read| read.message.to_json()).collect::<Vec<_>>())
        };
        for text in [format!("[{NOTE},{DONE}]"), format!("{NOTE}\n{DONE}\n"), format!("{NOTE}{DONE}")] {
            assert_eq!(shown(&text), Ok(vec![NOTE.to_owned(), DONE.to_owned()]), "{text}");
        }
        assert_eq!(shown(&format!("\u{feff} [ {DONE} ]\n")), Ok(vec![DONE.to_owned()]));
        assert!(shown("<html>").is_err() && shown("{\"a\":1}").is_err());
    }

    #[test]
    fn json_in_a_stream_that_stays_open_is_taken_when_it_is_whole() {
        let mut whole = Whole { endless: true, ..Whole::default() };
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"a":{},"b":"}\"}"}}"#;
        let at: Vec<usize> = (1..=text.len()).filter(|at| whole.is(&text.as_bytes()[..*at])).collect();
        assert_eq!(at, [text.len()]);
        let mut finite = Whole::default();
        assert!(!finite.is(text.as_bytes()), "its end is waited for");
    }
}
