//! Messages on their way through: read, given another id, written. Everything else stays as it was, and what is read
//! here is what other readers of JSON read.

use satchel_mcp::{Id, Message};
use serde_json::Value;

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(message) = Message::parse_bounded(text) else { return };
    let written = message.to_json();
    let again = Message::parse(&written).expect("what was written is a message");
    assert_eq!(again.to_json(), written, "written twice, it is the same");
    // A number that no float represents, or an unpaired surrogate, is passed on and cannot be checked here.
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let seen: Value = serde_json::from_str(&written).expect("a message is JSON");
    // What is null is absent, and an empty list stands for an empty object.
    let meant = |member: &str| match value.get(member) {
        None | Some(Value::Null) => None,
        Some(Value::Array(items)) if items.is_empty() => Some(Value::Object(Default::default())),
        Some(other) => Some(other.clone()),
    };
    let says_nothing = |member: &str| match meant(member) {
        None => true,
        Some(Value::Object(fields)) => fields.is_empty(),
        Some(other) => [Value::from(""), Value::from(false), Value::from(0)].contains(&other),
    };
    match message {
        Message::Request { id: _, method, params } => {
            assert_eq!(value.get("method").and_then(Value::as_str), Some(method.as_str()));
            let moved = Message::request(7, &method, params).to_json();
            let moved = Message::parse(&moved).expect("another id makes no other message");
            let Message::Request { id, params, .. } = moved else { panic!("a request stays one") };
            assert_eq!(id, Id::from(7));
            assert_eq!(params.map(|raw| parsed(raw.get())), meant("params"));
        }
        Message::Notification { method, .. } => {
            assert_eq!(value.get("method").and_then(Value::as_str), Some(method.as_str()));
            assert_eq!(seen.get("params").cloned(), meant("params"));
            assert!(meant("id").is_none(), "what has an id wants an answer");
        }
        Message::Response { outcome: Ok(result), .. } => {
            assert_eq!(Some(parsed(result.get())), meant("result"));
            assert!(says_nothing("error") && meant("method").is_none());
        }
        Message::Response { outcome: Err(_), .. } => assert!(meant("method").is_none()),
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("a part of a message is JSON")
}
