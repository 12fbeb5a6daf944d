//! The bridge between a script's engine and the hub: words from the process, which the hub believes nothing, and words
//! to it; values of results, and what a script's end is to its client.

use std::collections::VecDeque;

use satchel_core::scripts::{Blocks, Finished, Logs, answer};
use satchel_mcp::Raw;
use satchel_script::{
    Bounds, Host,
    protocol::{CallRequest, FromScript, Settlement, Task, ToScript, put_line},
    speak,
};

/// The first byte selects the format of the rest.
pub(crate) fn run(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else { return };
    match kind % 4 {
        0 => heard(rest),
        1 => told(rest),
        2 => result(rest),
        _ => script(rest),
    }
}

/// A line from the process: a parsed line survives a round trip.
fn heard(line: &[u8]) {
    let Ok(word) = serde_json::from_slice::<FromScript>(line) else { return };
    let written = line_of(&word);
    let again: FromScript = serde_json::from_str(&written).expect("what was written can be read");
    assert_eq!(written, line_of(&again));
    if let FromScript::Done(end) = word {
        let finished = Finished { outcome: end.outcome, logs: end.logs, calls: 1, left: end.left };
        is_a_result(&answer(&finished, &Blocks::default(), 4096), 4096);
    }
}

/// Lines to the process: it ends by itself, and writes whole lines until then.
fn told(lines: &[u8]) {
    let mut said = Vec::new();
    // It may end with an error, if the hub sends what does not belong there.
    let _ = speak(lines, &mut said);
    for line in said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        serde_json::from_slice::<FromScript>(line).expect("it says whole words");
    }
}

/// A result of a tool, as a value and back.
fn result(text: &[u8]) {
    let Ok(result) = serde_json::from_slice::<Box<Raw>>(text) else { return };
    let mut blocks = Blocks::default();
    let outcome = match blocks.value(&result) {
        Settlement::Value(value) => {
            let word = ToScript::Settled { id: 1, end: Settlement::Value(value.clone()) };
            let heard = serde_json::from_str(&line_of(&word));
            assert!(
                matches!(heard, Ok(ToScript::Settled { id: 1, .. })),
                "the process hears what it is told"
            );
            Ok(Some(value))
        }
        Settlement::Failure(words) => {
            assert!(!words.is_empty() || result.get().contains("isError"), "a failure says why");
            Ok(None)
        }
    };
    let finished = Finished { outcome, logs: Logs::default(), calls: 0, left: 0 };
    is_a_result(&answer(&finished, &blocks, 1000), 1000);
}

/// A script with its own limits ends within them.
fn script(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let bounds = Bounds {
        memory: 8 * 1024 * 1024,
        computing: std::time::Duration::from_millis(50),
        calls: 8,
        output: 64 * 1024,
        logs: 1024,
        ..Bounds::default()
    };
    let input = Raw::from_string("{\"n\":1}".to_owned()).expect("it is JSON");
    let task = Task { script: text.to_owned(), input };
    let mut host = Echo::default();
    let end = satchel_script::run(&task, &bounds, &mut host).expect("the host is there");
    assert!(host.made <= 8, "calls are bounded");
    assert!(end.logs.lines.iter().map(String::len).sum::<usize>() <= 1024, "lines are bounded");
    if let Ok(Some(value)) = &end.outcome {
        assert!(value.get().len() <= 64 * 1024, "values are bounded");
    }
    line_of(&FromScript::Done(end));
}

/// Answers each call with what was called.
#[derive(Default)]
struct Echo {
    open: VecDeque<CallRequest>,
    made: usize,
}

impl Host for Echo {
    fn call(&mut self, call: CallRequest) -> std::io::Result<()> {
        let said = line_of(&FromScript::Call(call.clone()));
        serde_json::from_str::<FromScript>(&said).expect("a call is heard as it was said");
        self.made += 1;
        self.open.push_back(call);
        Ok(())
    }

    fn wait(&mut self) -> std::io::Result<(u32, Settlement)> {
        let Some(CallRequest { id, path, arguments }) = self.open.pop_front() else {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        };
        let end = match path.len() % 2 {
            0 => Settlement::Value(arguments),
            _ => Settlement::Failure(path),
        };
        let word = ToScript::Settled { id, end };
        let said = line_of(&word);
        match serde_json::from_str(&said) {
            Ok(ToScript::Settled { id, end }) => Ok((id, end)),
            Ok(ToScript::Run(_)) | Err(_) => panic!("it is heard as it was said: {said}"),
        }
    }
}

/// A message on the wire, which is one line.
fn line_of(word: &impl serde::Serialize) -> String {
    let mut line = Vec::new();
    put_line(word, &mut line).expect("it can be said");
    let line = String::from_utf8(line).expect("it is a text");
    assert_eq!(line.lines().count(), 1, "{line}");
    line
}

fn is_a_result(result: &Raw, cap: usize) {
    let result: serde_json::Value = serde_json::from_str(result.get()).expect("a result is JSON");
    let blocks = result["content"].as_array().expect("it has content");
    assert!(!blocks.is_empty() && result["isError"].is_boolean());
    for text in blocks.iter().filter_map(|block| block["text"].as_str()).take(2) {
        // The note about truncation comes on top.
        assert!(text.len() <= cap + 200, "{} bytes", text.len());
    }
}
