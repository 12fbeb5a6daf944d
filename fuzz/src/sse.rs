//! Server-sent events: however they arrive, they are those that the standard's algorithm reads from the whole text
//! (WHATWG HTML section 9.2.6) and, of lines that are JSON, those that were meant; what we write is read again.

use satchel_mcp::sse::{Reader, SseEvent};

pub(crate) fn run(data: &[u8]) {
    let Some((whole, pieces)) = crate::pieces(data) else { return };
    let mut reader = Reader::default();
    let mut events = Vec::new();
    for piece in pieces {
        if reader.push(piece, &mut events).is_err() {
            return;
        }
    }
    assert_eq!(events, by_the_book(whole), "of {:?}", String::from_utf8_lossy(whole));
    for event in events {
        let mut again = Vec::new();
        Reader::default()
            .push(event.to_wire().as_bytes(), &mut again)
            .expect("it was small enough to be read");
        let plain = |text: &Option<String>| text.as_ref().map(|text| text.trim_start().to_owned());
        if !event.data.contains('\r') {
            let data: Vec<&str> = again.iter().map(|event| event.data.as_str()).collect();
            assert_eq!(data, [event.data.as_str()]);
            assert_eq!(again.first().map(|again| plain(&again.event)), Some(plain(&event.event)));
        }
    }
}

/// A reference parser that reads the whole text, line by line.
fn by_the_book(bytes: &[u8]) -> Vec<SseEvent> {
    // Lines are bytes: a piece of a character that a line end follows is no character.
    let mut lines = Vec::new();
    let mut line = Vec::new();
    let mut rest = bytes.iter().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'\r' | b'\n' => {
                if *byte == b'\r' && rest.peek() == Some(&&b'\n') {
                    rest.next();
                }
                lines.push(String::from_utf8_lossy(&std::mem::take(&mut line)).into_owned());
            }
            byte => line.push(*byte),
        }
    }
    let (mut events, mut event, mut data) = (Vec::new(), SseEvent::default(), Vec::<String>::new());
    for (at, line) in lines.iter().enumerate() {
        let line = if at == 0 { line.trim_start_matches('\u{feff}') } else { line };
        if line.is_empty() {
            let finished = SseEvent { data: data.join("\n"), ..std::mem::take(&mut event) };
            if !data.is_empty() || finished.id.is_some() || finished.retry.is_some() {
                events.push(finished);
            }
            data.clear();
            continue;
        }
        let (name, value) = match line.find(':') {
            // Beside the book: some servers write JSON without a field, and no field begins like that.
            _ if line.starts_with(['{', '[']) => ("data", line),
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, ""),
        };
        let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
        match name {
            "data" => data.push(value),
            "event" => event.event = Some(value),
            "id" if !value.contains('\0') => event.id = Some(value),
            "retry" => event.retry = value.parse().ok(),
            _ => {}
        }
    }
    events
}
