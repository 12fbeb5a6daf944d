//! Server-sent events: an incremental reader and a writer (WHATWG HTML, §9.2.5 and §9.2.6).

use crate::limits;

/// An event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The event type; `None` means `message`.
    pub event: Option<String>,
    /// The data, with lines joined by line feeds.
    pub data: String,
    /// The id to resume after, if present.
    pub id: Option<String>,
    /// The reconnection time in milliseconds, if present.
    pub retry: Option<u64>,
}

impl SseEvent {
    /// A `message` event with this data.
    pub fn message(data: impl Into<String>) -> Self {
        Self { data: data.into(), ..Self::default() }
    }

    /// The event in wire format.
    pub fn to_wire(&self) -> String {
        let mut wire = String::with_capacity(self.data.len() + 32);
        for (field, value) in [("event", self.event.as_deref()), ("id", self.id.as_deref())] {
            if let Some(value) = value {
                wire.push_str(&format!("{field}: {}\n", value.replace(['\n', '\r'], " ")));
            }
        }
        if let Some(retry) = self.retry {
            wire.push_str(&format!("retry: {retry}\n"));
        }
        for line in self.data.split('\n') {
            wire.push_str("data: ");
            wire.push_str(line.trim_end_matches('\r'));
            wire.push('\n');
        }
        wire.push('\n');
        wire
    }
}

/// The data of an event exceeded the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {} bytes", limits::MESSAGE_BYTES)]
pub struct TooLarge;

/// Parses events from bytes that arrive in pieces of any size.
#[derive(Debug, Default)]
pub struct Reader {
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    after_cr: bool,
    started: bool,
}

impl Reader {
    /// Processes the next bytes and returns complete events. An event without data is returned only if it says how to
    /// resume the stream.
    ///
    /// # Errors
    /// [`TooLarge`] if a line or event exceeds the limit; the stream cannot be read further then.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<SseEvent>) -> Result<(), TooLarge> {
        for byte in bytes {
            match byte {
                b'\n' if self.after_cr => self.after_cr = false,
                b'\n' | b'\r' => {
                    self.after_cr = *byte == b'\r';
                    self.end_line(out);
                }
                _ => {
                    self.after_cr = false;
                    self.line.push(*byte);
                    if self.line.len() + self.event.data.len() > limits::MESSAGE_BYTES + HEADROOM {
                        return Err(TooLarge);
                    }
                }
            }
        }
        Ok(())
    }

    /// Handles the end of the stream: what stands in the buffer is an event if it is whole JSON. Anything else was cut
    /// off, and is dropped.
    pub fn finish(&mut self, out: &mut Vec<SseEvent>) {
        if !self.line.is_empty() {
            self.end_line(out);
        }
        let event = std::mem::take(&mut self.event);
        let is_whole = |data: &str| serde_json::from_str::<&serde_json::value::RawValue>(data).is_ok();
        if std::mem::take(&mut self.has_data) && is_whole(&event.data) {
            out.push(event);
        }
    }

    fn end_line(&mut self, out: &mut Vec<SseEvent>) {
        let line = String::from_utf8_lossy(&self.line).into_owned();
        self.line.clear();
        let line = if self.started { &line[..] } else { line.trim_start_matches('\u{feff}') };
        self.started = true;
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            let places = event.id.is_some() || event.retry.is_some();
            if std::mem::take(&mut self.has_data) || places {
                out.push(event);
            }
            return;
        }
        // No field has such a name: some servers write JSON without one.
        let (field, value) = match line.starts_with(['{', '[']) {
            true => ("data", line),
            false => line.split_once(':').unwrap_or((line, "")),
        };
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(value);
            }
            "event" => self.event.event = Some(value.to_owned()),
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" => self.event.retry = value.parse().ok(),
            // A comment, or a field of a later version.
            _ => {}
        }
    }
}

/// Space for the field name before the data.
const HEADROOM: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wire: &str, expected: &[SseEvent]) {
        for piece in [1, 2, 5, wire.len()] {
            let (mut reader, mut out) = (Reader::default(), Vec::new());
            for bytes in wire.as_bytes().chunks(piece) {
                reader.push(bytes, &mut out).unwrap();
            }
            assert_eq!(out, expected, "in pieces of {piece}: {wire:?}");
        }
    }

    #[test]
    fn events_are_read_however_the_bytes_are_cut() {
        check("data: a\n\n", &[SseEvent::message("a")]);
        check("\u{feff}data:a\r\n\r\ndata: b\r\rdata: c\n\n", &["a", "b", "c"].map(SseEvent::message));
        check(": comment\n\nevent: x\n\ndata\ndata: y\n\n", &[SseEvent::message("\ny")]);
        check(
            "event: e\nid: 7\nretry: 10\ndata: {\"a\":1}\n\n",
            &[SseEvent {
                event: Some("e".into()),
                data: "{\"a\":1}".into(),
                id: Some("7".into()),
                retry: Some(10),
            }],
        );
        check("data: cut off", &[]);
    }

    #[test]
    fn what_stands_in_the_buffer_at_the_end_is_an_event_if_it_is_whole_json() {
        for (wire, expected) in [
            ("data: {\"a\":1}", Some("{\"a\":1}")),
            ("data: {\"a\":1}\n", Some("{\"a\":1}")),
            ("event: message\ndata: {\ndata: \"a\":1}\n", Some("{\n\"a\":1}")),
            ("event: message\n{\"a\":1}", Some("{\"a\":1}")),
            ("data: {\"a\":", None),
            ("data: cut off", None),
            ("id: 7\n", None),
            ("", None),
        ] {
            let (mut reader, mut out) = (Reader::default(), Vec::new());
            reader.push(wire.as_bytes(), &mut out).unwrap();
            assert_eq!(out, [], "{wire:?}");
            reader.finish(&mut out);
            let read: Vec<&str> = out.iter().map(|event| event.data.as_str()).collect();
            assert_eq!(read, expected.into_iter().collect::<Vec<_>>(), "{wire:?}");
        }
        check("{\"a\":1}\n\n", &[SseEvent::message("{\"a\":1}")]);
    }

    #[test]
    fn a_written_event_is_parsed_back() {
        let event =
            SseEvent { event: Some("x".into()), data: "a\nb".into(), id: Some("1".into()), retry: None };
        check(&event.to_wire(), &[event]);
    }

    #[test]
    fn an_event_over_the_limit_is_refused() {
        let (mut reader, mut out) = (Reader::default(), Vec::new());
        let wire = format!("data: {}\n\n", "x".repeat(limits::MESSAGE_BYTES));
        assert_eq!(reader.push(wire.as_bytes(), &mut out), Ok(()));
        assert_eq!(out.len(), 1);
        let over = format!("data: {}\n\n", "x".repeat(limits::MESSAGE_BYTES + HEADROOM));
        assert_eq!(reader.push(over.as_bytes(), &mut out), Err(TooLarge));
    }
}
