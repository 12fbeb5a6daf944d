//! Finds messages in a server's standard output. Never fails: what is not a message is noise, which the caller counts
//! and logs.
//!
//! Real servers print banners, logs and byte order marks, glue text to a message, put two messages on a line
//! or spread one over many. The specification forbids all of it (`basic/transports/stdio.mdx`).

use serde_json::value::RawValue;

use crate::{
    Id, Message,
    bytes::find,
    envelope::{self, Departure, Members, Read},
    large, limits,
};

/// An item in a server's output.
#[derive(Debug)]
pub enum Frame {
    /// A message.
    Message(Message),
    /// How the message after it departs from the protocol.
    Departed(Departure),
    /// Text that is not a message.
    Noise(String),
    /// A line longer than the limit; its bytes were dropped. It may have contained a response.
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// Its beginning, for finding its id.
        head: String,
    },
    /// A response that is not valid JSON. Its text is reported as noise too.
    Broken {
        /// Its id.
        id: Id,
        /// The fault.
        reason: String,
    },
}

/// The id and the fault of a response that is not valid JSON: some servers write `NaN`, and the caller must not wait
/// forever.
pub fn broken_answer(text: &str) -> Option<(Id, String)> {
    let error = serde_json::from_str::<&RawValue>(text).err()?;
    let members = Members::of(text);
    let answers =
        members.has("jsonrpc") && !members.has("method") && (members.has("result") || members.has("error"));
    let reason =
        members.wrong.map_or_else(|| error.to_string(), |wrong| format!("{wrong} is not a JSON value"));
    members.id.filter(|_| answers).map(|id| (id, reason))
}

/// Splits a byte stream into [`Frame`]s. Bytes may arrive in pieces of any size.
#[derive(Debug)]
pub struct Framer {
    line: Vec<u8>,
    /// Lines of a multi-line message.
    open: String,
    /// The current line is too long: skip to its end.
    dropping: bool,
    limit: usize,
}

const MARK: &str = "\u{feff}";
const HEAD: usize = 256;
/// Capacity of the line buffer that is kept.
const ROOM: usize = 16 * 1024;
/// Maximum number of positions in a line that are searched for an invalid response: each may take as long as the line
/// is.
const BROKEN_TRIES: usize = 4;

impl Default for Framer {
    fn default() -> Self {
        Self::new(limits::MESSAGE_BYTES)
    }
}

impl Framer {
    /// A framer that drops lines longer than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { line: Vec::new(), open: String::new(), dropping: false, limit }
    }

    /// Processes the next bytes and returns complete frames.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut Vec<Frame>) {
        while let Some(end) = find(b'\n', bytes) {
            let (head, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            if self.take(head, out) {
                self.end_line(out);
            }
            self.dropping = false;
            self.line.clear();
            // Do not keep the buffer of a large message for as long as the server runs.
            self.line.shrink_to(ROOM);
        }
        self.take(bytes, out);
    }

    /// Handles the end of the stream as if a line end followed.
    pub fn finish(&mut self, out: &mut Vec<Frame>) {
        if !self.dropping {
            self.end_line(out);
        }
        self.line.clear();
        self.flush_open(out);
    }

    /// Appends to the current line; false if it is too long.
    fn take(&mut self, bytes: &[u8], out: &mut Vec<Frame>) -> bool {
        if self.dropping {
            return false;
        }
        if self.line.len() + bytes.len() > self.limit {
            let room = HEAD.saturating_sub(self.line.len()).min(bytes.len());
            self.line.extend_from_slice(&bytes[..room]);
            self.line.truncate(HEAD);
            let head = String::from_utf8_lossy(&self.line).into_owned();
            out.push(Frame::TooLong { bytes: self.limit, head });
            self.line = Vec::new();
            self.open.clear();
            self.dropping = true;
            return false;
        }
        self.line.extend_from_slice(bytes);
        true
    }

    fn end_line(&mut self, out: &mut Vec<Frame>) {
        if self.line.len() >= large::LARGE {
            match large::response(std::mem::take(&mut self.line)) {
                Ok(response) => {
                    self.flush_open(out);
                    out.push(Frame::Message(response));
                    return;
                }
                Err(line) => self.line = line,
            }
        }
        // Fast path for valid UTF-8, which nearly all output is.
        let line = str::from_utf8(&self.line)
            .map_or_else(|_| String::from_utf8_lossy(&self.line), std::borrow::Cow::Borrowed);
        let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        if line.is_empty() {
            return;
        }
        let read = match line.starts_with('[') {
            true => envelope::read_all(line),
            false => envelope::read(line).map(|read| vec![read]),
        };
        if let Ok(messages) = read {
            self.flush_open(out);
            messages.into_iter().for_each(|read| push_read(read, out));
            return;
        }
        let line = line.to_owned();
        if self.open.is_empty() {
            self.search(&line, out);
        } else {
            self.continue_open(&line, out);
        }
    }

    /// Searches for messages inside a line that is not one as a whole.
    fn search(&mut self, line: &str, out: &mut Vec<Frame>) {
        let mut noise = String::new();
        let mut rest = line;
        let mut tries = BROKEN_TRIES;
        while let Some(at) = rest.find('{') {
            noise.push_str(&rest[..at]);
            rest = &rest[at..];
            let mut values =
                serde_json::Deserializer::from_str(rest).into_iter::<Box<serde_json::value::RawValue>>();
            match values.next() {
                Some(Ok(value)) => {
                    let end = values.byte_offset();
                    match envelope::read(value.get()) {
                        Ok(read) => {
                            push_noise(&mut noise, out);
                            push_read(read, out);
                        }
                        Err(_) => noise.push_str(&rest[..end]),
                    }
                    rest = &rest[end..];
                }
                // Truncated in the middle of a possible message: the rest may follow on the next lines.
                Some(Err(error)) if error.is_eof() && looks_like_message(rest) => {
                    push_noise(&mut noise, out);
                    self.open = rest.to_owned();
                    return;
                }
                Some(Err(_)) | None => {
                    if tries > 0 {
                        tries -= 1;
                        push_broken(rest, out);
                    }
                    noise.push('{');
                    rest = &rest[1..];
                }
            }
        }
        noise.push_str(rest);
        push_noise(&mut noise, out);
    }

    fn continue_open(&mut self, line: &str, out: &mut Vec<Frame>) {
        if self.open.len() + line.len() > self.limit {
            let open = std::mem::take(&mut self.open);
            out.push(Frame::TooLong {
                bytes: open.len() + line.len(),
                head: open.chars().take(HEAD).collect(),
            });
            return;
        }
        let before = self.open.len();
        self.open.push('\n');
        self.open.push_str(line);
        // A multi-line message ends with a bracket; parsing after every other line would be quadratic for nothing.
        if !line.ends_with(['}', ']']) && !line.contains('}') {
            return;
        }
        let mut values =
            serde_json::Deserializer::from_str(&self.open).into_iter::<Box<serde_json::value::RawValue>>();
        match values.next() {
            Some(Err(error)) if error.is_eof() => {}
            Some(Ok(_)) => {
                let whole = std::mem::take(&mut self.open);
                self.search(&whole, out);
            }
            Some(Err(_)) | None => {
                // The new line may be another message, or cause the fault.
                let line_alone = Message::parse(line).is_ok();
                push_broken(if line_alone { &self.open[..before] } else { &self.open }, out);
                self.open.truncate(before);
                self.flush_open(out);
                self.search(line, out);
            }
        }
    }

    fn flush_open(&mut self, out: &mut Vec<Frame>) {
        let mut open = std::mem::take(&mut self.open);
        push_noise(&mut open, out);
    }
}

/// Does the line open an object that could be a multi-line message?
fn looks_like_message(text: &str) -> bool {
    let inside = text.trim_start_matches('{').trim_start();
    inside.is_empty() || inside.starts_with('"')
}

fn push_read(read: Read, out: &mut Vec<Frame>) {
    out.extend(read.departures.into_iter().map(Frame::Departed));
    out.push(Frame::Message(read.message));
}

fn push_broken(text: &str, out: &mut Vec<Frame>) {
    if let Some((id, reason)) = broken_answer(text) {
        out.push(Frame::Broken { id, reason });
    }
}

fn push_noise(noise: &mut String, out: &mut Vec<Frame>) {
    let text = noise.trim().trim_start_matches(MARK).trim();
    if !text.is_empty() {
        out.push(Frame::Noise(text.to_owned()));
    }
    noise.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const DONE: &str = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;

    fn shown(frames: &[Frame]) -> Vec<String> {
        let show = |frame: &Frame| match frame {
            Frame::Message(message) => message.to_json(),
            Frame::Departed(departure) => format!("{departure:?}"),
            Frame::Noise(text) => format!("noise {text}"),
            Frame::TooLong { bytes, .. } => format!("too long {bytes}"),
            Frame::Broken { id, reason } => format!("broken {:?}: {reason}", id.as_ours()),
        };
        frames.iter().map(show).collect()
    }

    /// The frames must not depend on how the bytes were split.
    fn check(input: &[u8], expected: &[&str]) {
        for piece in [1, 3, 7, input.len().max(1)] {
            let (mut framer, mut out) = (Framer::new(400), Vec::new());
            for bytes in input.chunks(piece) {
                framer.push(bytes, &mut out);
            }
            framer.finish(&mut out);
            assert_eq!(shown(&out), expected, "in pieces of {piece}: {:?}", String::from_utf8_lossy(input));
        }
    }

    #[test]
    fn messages_are_found_among_junk() {
        let lines = |parts: &[&str]| parts.join("\n").into_bytes();
        check(&lines(&[PING, DONE, ""]), &[PING, DONE]);
        check(format!("{PING}\r\n\r\n  \n{DONE}\r\n").as_bytes(), &[PING, DONE]);
        check(format!("\u{feff}{PING}\n").as_bytes(), &[PING]);
        check(&lines(&["> my-server@1.0 start", PING]), &["noise > my-server@1.0 start", PING]);
        check(format!("Starting…{PING}\n").as_bytes(), &["noise Starting…", PING]);
        check(format!("{PING}{DONE}\n").as_bytes(), &[PING, DONE]);
        check(format!("{PING} tail\n").as_bytes(), &[PING, "noise tail"]);
        check(&lines(&[r#"{"level":"info"}"#, "[]", PING]), &[r#"noise {"level":"info"}"#, "noise []", PING]);
        check(format!("cfg {{a: 1}} {PING}\n").as_bytes(), &["noise cfg {a: 1}", PING]);
        check(PING.as_bytes(), &[PING]);
    }

    #[test]
    fn a_large_response_is_read_as_a_small_one_is() {
        for length in [1, large::LARGE] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":3,"result":{{"text":"{}"}}}}"#, "é".repeat(length));
            let (mut framer, mut out) = (Framer::default(), Vec::new());
            framer.push(format!("{{\"half\": \n{line}\n{PING}\n").as_bytes(), &mut out);
            assert!(shown(&out) == ["noise {\"half\":", line.as_str(), PING], "{length}");
        }
    }

    #[test]
    fn a_message_spread_over_lines_is_put_together() {
        let spread = "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 2,\n  \"result\": {\n  }\n}\n";
        let (mut framer, mut out) = (Framer::default(), Vec::new());
        framer.push(spread.as_bytes(), &mut out);
        framer.push(PING.as_bytes(), &mut out);
        framer.push(b"\n", &mut out);
        assert!(matches!(out[0], Frame::Message(Message::Response { .. })), "{out:?}");
        assert_eq!(shown(&out)[1], PING);
    }

    #[test]
    fn what_departs_without_loss_is_read_on_a_line_too() {
        let null = r#"{"jsonrpc":"2.0","id":2,"result":{},"error":null}"#;
        check(format!("{null}\n").as_bytes(), &["NullMember", DONE]);
        check(
            format!("[{DONE}]\n[{PING},{DONE}]\n").as_bytes(),
            &["InList", DONE, "InList", PING, "InList", DONE],
        );
        check(format!("\u{feff}[INFO] {null}\n").as_bytes(), &["noise [INFO]", "NullMember", DONE]);
    }

    #[test]
    fn an_object_left_open_does_not_swallow_the_next_message() {
        check(format!("{{\"half\": \n{PING}\n").as_bytes(), &["noise {\"half\":", PING]);
    }

    #[test]
    fn an_answer_that_is_not_json_is_told_as_such() {
        let nan = r#"{"jsonrpc":"2.0","id":2,"result":{"x":NaN}}"#;
        let broken = "broken Some(2): NaN is not a JSON value";
        check(format!("{nan}\n{PING}\n").as_bytes(), &[broken, &format!("noise {nan}"), PING]);
        let behind = r#"{"jsonrpc":"2.0","result":{"x":[-Infinity]},"id":"2"}"#;
        let told = "broken Some(2): -Infinity is not a JSON value";
        check(format!("{behind}\n").as_bytes(), &[told, &format!("noise {behind}")]);
        // A request's id is the server's own, and a nested one belongs to nothing.
        for other in [
            r#"{"jsonrpc":"2.0","id":2,"method":"x","params":{"x":NaN}}"#,
            r#"{"jsonrpc":"2.0","result":{"id":2,"x":NaN}}"#,
            r#"{"id":2,"result":NaN}"#,
        ] {
            check(format!("{other}\n").as_bytes(), &[&format!("noise {other}")]);
        }
        let spread = "{\n\"jsonrpc\":\"2.0\",\n\"id\":2,\n\"result\":{\"x\":\nNaN}\n}\n";
        let (mut framer, mut out) = (Framer::default(), Vec::new());
        framer.push(spread.as_bytes(), &mut out);
        framer.finish(&mut out);
        assert_eq!(shown(&out)[0], broken);
    }

    #[test]
    fn invalid_utf8_is_replaced_and_the_message_kept() {
        let mut bytes = b"\xff\xfe junk\n".to_vec();
        bytes.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"t\":\"a\xffb\"}}\n");
        check(
            &bytes,
            &[
                "noise \u{fffd}\u{fffd} junk",
                "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"t\":\"a\u{fffd}b\"}}",
            ],
        );
    }

    #[test]
    fn a_line_at_the_limit_passes_and_one_over_it_is_dropped_alone() {
        let pad = |bytes: usize| {
            let frame = r#"{"jsonrpc":"2.0","id":2,"result":{"a":""}}"#;
            frame.replace(":\"\"}", &format!(":\"{}\"}}", "x".repeat(bytes - frame.len())))
        };
        let (fits, over) = (pad(400), pad(401));
        check(format!("{fits}\n{PING}\n").as_bytes(), &[&fits, PING]);
        check(format!("{over}\n{PING}\n").as_bytes(), &["too long 400", PING]);
    }
}
