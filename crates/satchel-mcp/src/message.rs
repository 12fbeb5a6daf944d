//! One JSON-RPC message, parsed only as far as routing needs. Parameters and results stay as written.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;

use crate::{ErrorObject, bytes::find_either, envelope, errors, limits};

/// A request id. Its type is significant: `1` and `"1"` are different.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Id {
    /// A number as written: 2^64 and more have no exact integer type.
    Number(Box<str>),
    /// A string.
    Text(String),
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Id::Number(number.to_string().into())
    }
}

impl Id {
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        match raw.get().as_bytes().first()? {
            b'"' => serde_json::from_str(raw.get()).map(Id::Text).ok(),
            b'-' | b'0'..=b'9' => Some(Id::Number(raw.get().into())),
            _ => None,
        }
    }

    /// The value of an id that Satchel generated. Some servers return a numeric id as a string.
    pub fn as_ours(&self) -> Option<u64> {
        match self {
            Id::Number(number) => whole(number).and_then(|number| number.try_into().ok()),
            // Only in the original spelling: "03" is not 3.
            Id::Text(text) => text.parse().ok().filter(|number: &u64| number.to_string() == *text),
        }
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Id::Number(number) => {
                RawValue::from_string(number.to_string()).map_err(ser::Error::custom)?.serialize(serializer)
            }
            Id::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Id::read(&raw).ok_or_else(|| de::Error::custom("an id must be a string or a number"))
    }
}

/// The integer value of a number, also of `3.0`; `None` if it is not a 64-bit integer.
pub(crate) fn whole(number: &str) -> Option<i64> {
    let digits = match number.split_once('.') {
        Some((digits, rest)) if !rest.is_empty() && rest.bytes().all(|byte| byte == b'0') => digits,
        _ => number,
    };
    digits.parse().ok()
}

/// A JSON-RPC message.
#[derive(Debug, Clone)]
pub enum Message {
    /// Requires a response.
    Request {
        /// The id of the response.
        id: Id,
        /// The method.
        method: String,
        /// The parameters, unparsed.
        params: Option<Box<RawValue>>,
    },
    /// Requires no response.
    Notification {
        /// The method.
        method: String,
        /// The parameters, unparsed.
        params: Option<Box<RawValue>>,
    },
    /// A response.
    Response {
        /// The request's id; `None` if the sender could not read it.
        id: Option<Id>,
        /// The unparsed result, or the error.
        outcome: Result<Box<RawValue>, ErrorObject>,
    },
}

/// Why a text is not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    Json(String),
    /// JSON, but not a valid message.
    #[error("{0}")]
    Shape(&'static str),
    /// Nested deeper than [`limits::JSON_DEPTH`].
    #[error("nested deeper than {} levels", limits::JSON_DEPTH)]
    Depth,
}

impl ParseError {
    /// The JSON-RPC error code for the response.
    pub fn code(&self) -> i64 {
        match self {
            ParseError::Json(_) => errors::PARSE_ERROR,
            ParseError::Shape(_) | ParseError::Depth => errors::INVALID_REQUEST,
        }
    }
}

impl Message {
    /// Like [`Self::parse`], for clients' messages: rejects nesting beyond [`limits::JSON_DEPTH`].
    pub fn parse_bounded(json: &str) -> Result<Self, ParseError> {
        if limits::depth(json.as_bytes()) > limits::JSON_DEPTH {
            return Err(ParseError::Depth);
        }
        Self::parse(json)
    }

    /// Parses a message. Accepts any nesting without recursion: a list with one tool that is nested too deeply must still
    /// be readable, so that the others are kept.
    ///
    /// # Errors
    /// [`ParseError`] if the text is not JSON, not an object with `"jsonrpc": "2.0"`, or a request and a response at the
    /// same time.
    pub fn parse(json: &str) -> Result<Self, ParseError> {
        envelope::read(json).map(|read| read.message)
    }

    /// The parameters of a request or notification.
    pub fn params(&self) -> Option<&RawValue> {
        match self {
            Message::Request { params, .. } | Message::Notification { params, .. } => params.as_deref(),
            Message::Response { .. } => None,
        }
    }

    /// Without its parameters, where they have been read: large ones would be kept twice while it is answered.
    #[must_use]
    pub fn without_params(self) -> Self {
        match self {
            Message::Request { id, method, .. } => Message::Request { id, method, params: None },
            Message::Notification { method, .. } => Message::Notification { method, params: None },
            response @ Message::Response { .. } => response,
        }
    }

    /// Creates a request.
    pub fn request(id: impl Into<Id>, method: &str, params: Option<Box<RawValue>>) -> Self {
        Message::Request { id: id.into(), method: method.to_owned(), params }
    }

    /// Creates a notification.
    pub fn notification(method: &str, params: Option<Box<RawValue>>) -> Self {
        Message::Notification { method: method.to_owned(), params }
    }

    /// Creates a successful response.
    pub fn result(id: Id, result: Box<RawValue>) -> Self {
        Message::Response { id: Some(id), outcome: Ok(result) }
    }

    /// Creates an error response.
    pub fn error(id: Option<Id>, error: ErrorObject) -> Self {
        Message::Response { id, outcome: Err(error) }
    }

    /// Serializes the message on one line, without a line end.
    pub fn to_json(&self) -> String {
        let mut json = String::with_capacity(self.length());
        json.push_str(r#"{"jsonrpc":"2.0""#);
        let mut field = |key: &str, value: &str| {
            json.push_str(key);
            json.push_str(value);
        };
        match self {
            Message::Request { id, method, params } => {
                field(r#","id":"#, &id_written(Some(id)));
                field(r#","method":"#, &written(method));
                if let Some(params) = params {
                    field(r#","params":"#, params.get());
                }
            }
            Message::Notification { method, params } => {
                field(r#","method":"#, &written(method));
                if let Some(params) = params {
                    field(r#","params":"#, params.get());
                }
            }
            Message::Response { id, outcome } => {
                field(r#","id":"#, &id_written(id.as_ref()));
                match outcome {
                    Ok(result) => field(r#","result":"#, result.get()),
                    Err(error) => field(r#","error":"#, &written(error)),
                }
            }
        }
        json.push('}');
        one_line(json)
    }

    /// About how long its text is, in bytes.
    pub fn length(&self) -> usize {
        ENVELOPE + self.body().map_or(0, |body| body.get().len())
    }

    /// Its largest part.
    fn body(&self) -> Option<&RawValue> {
        match self {
            Message::Request { params, .. } | Message::Notification { params, .. } => params.as_deref(),
            Message::Response { outcome, .. } => outcome.as_deref().ok(),
        }
    }
}

/// Buffer space for everything around the largest part.
const ENVELOPE: usize = 128;

fn id_written(id: Option<&Id>) -> Cow<'_, str> {
    match id {
        Some(Id::Number(number)) => Cow::Borrowed(number),
        Some(Id::Text(text)) => Cow::Owned(written(text)),
        None => Cow::Borrowed("null"),
    }
}

fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("ids, names and errors always serialize")
}

/// Raw values keep their line breaks, which a line-framed transport does not allow.
fn one_line(json: String) -> String {
    if find_either(b'\n', b'\r', json.as_bytes()).is_some() {
        // Outside strings a line break is just white space, and inside it is always escaped.
        json.replace(['\n', '\r'], " ")
    } else {
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_written_as_it_was_read() {
        for json in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"z":1.0,"a":123456789012345678901}}"#,
            r#"{"jsonrpc":"2.0","id":"1","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"video","x":{"b":1,"a":2}}],"v":0.7}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"m","data":[1]}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1.50e3,"method":"ping"}"#,
        ] {
            assert_eq!(Message::parse(json).unwrap().to_json(), json);
        }
    }

    #[test]
    fn an_invalid_message_has_a_reason() {
        let check = |json: &str, code: i64, part: &str| {
            let error = Message::parse_bounded(json).unwrap_err();
            assert!(error.code() == code && error.to_string().contains(part), "{json}: {error}");
        };
        check("{", errors::PARSE_ERROR, "not JSON");
        check("hello", errors::PARSE_ERROR, "not JSON");
        check("[]", errors::INVALID_REQUEST, "array");
        check("3", errors::INVALID_REQUEST, "object");
        check(r#"{"id":1,"method":"x"}"#, errors::INVALID_REQUEST, "jsonrpc");
        check(r#"{"jsonrpc":"2.0"}"#, errors::INVALID_REQUEST, "must be a request");
        check(r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, errors::INVALID_REQUEST, "null");
        check(r#"{"jsonrpc":"2.0","id":[],"method":"x"}"#, errors::INVALID_REQUEST, "id must");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":3}"#, errors::INVALID_REQUEST, "params");
        check(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#, errors::PARSE_ERROR, "twice");
        let deep =
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}1{}}}"#, "{\"a\":".repeat(200), "}".repeat(200));
        check(&deep, errors::INVALID_REQUEST, "deeper");
        assert!(Message::parse(&deep).is_ok());
    }

    #[test]
    fn answers_that_are_not_quite_right_become_errors_and_not_silence() {
        let outcome = |json: &str| match Message::parse(json).unwrap() {
            Message::Response { outcome, .. } => outcome.unwrap_err().to_string(),
            other => panic!("{other:?}"),
        };
        assert!(
            outcome(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":{"code":1,"message":"m"}}"#)
                .contains("and an error")
        );
        assert!(outcome(r#"{"jsonrpc":"2.0","id":1}"#).contains("neither"));
        assert!(outcome(r#"{"jsonrpc":"2.0","id":1,"result":null}"#).contains("neither"));
        for result in ["5", "[1]", "\"x\""] {
            let json = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
            assert!(outcome(&json).contains("not an object"), "{json}");
        }
        assert_eq!(
            outcome(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000.0,"message":"m"}}"#),
            "m (-32000)"
        );
        assert_eq!(outcome(r#"{"jsonrpc":"2.0","id":1,"error":"broken"}"#), "broken (-32603)");
        for code in ["1e99", "1.5", "18446744073709551616", "\"x\""] {
            let said =
                outcome(&format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"m"}}}}"#));
            assert_eq!(said, format!("m (the server's code, {code}, is not an integer) (-32603)"));
        }
    }

    #[test]
    fn only_equal_ids_are_recognised_as_our_own() {
        let read = |json: &str| serde_json::from_str::<Id>(json).ok().and_then(|id| id.as_ours());
        for ours in ["3", "\"3\"", "3.0", "3.000"] {
            assert_eq!(read(ours), Some(3), "{ours}");
        }
        for other in [
            "\"03\"",
            "\"+3\"",
            "\" 3\"",
            "\"3.0\"",
            "3.1",
            "3e0",
            "-3",
            "18446744073709551619",
            "null",
            "[3]",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn line_breaks_inside_raw_values_never_break_a_line() {
        let json = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\n\"a\":\"x\\ny\"\r\n}}";
        assert_eq!(
            Message::parse(json).unwrap().to_json(),
            r#"{"jsonrpc":"2.0","id":1,"result":{ "a":"x\ny"  }}"#
        );
    }
}
