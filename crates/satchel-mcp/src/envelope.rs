//! Reads the envelope of a message: strictly where a reading would lose something, and otherwise as it was meant. Real
//! servers and clients write members that are null, lists for objects, and one answer in a list; each departure is told
//! once, so that somebody can correct it there. Parameters and results stay as written, but half surrogate pairs.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, Error as _, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{ErrorObject, Id, Message, ParseError, RawObject, errors, exact, text};

/// A departure from the protocol in which nothing is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Departure {
    /// A member is null that should be absent.
    NullMember,
    /// A result has an empty error beside it, or an error an empty result.
    EmptyMember,
    /// `[]` stands for `{}`.
    ListForObject,
    /// A single message is wrapped in a list, or several are sent as one where that is not allowed.
    InList,
    /// A response does not say `"jsonrpc": "2.0"`.
    NoVersion,
    /// A text has half of a surrogate pair.
    HalfPair,
}

impl Departure {
    /// What the sender does, for a log: `the server …`.
    pub fn told(self) -> &'static str {
        match self {
            Departure::NullMember => "writes null for members of its messages that should be absent",
            Departure::EmptyMember => {
                "writes an empty error beside a result, or an empty result beside an error"
            }
            Departure::ListForObject => "writes [] for an empty object in its messages",
            Departure::InList => "wraps its messages in lists",
            Departure::NoVersion => "does not write \"jsonrpc\": \"2.0\" in its answers",
            Departure::HalfPair => "writes halves of surrogate pairs; they are replaced by U+FFFD",
        }
    }
}

/// A message, and how its sender departed from the protocol.
#[derive(Debug, Clone)]
pub struct Read {
    /// The message.
    pub message: Message,
    /// Mostly none.
    pub departures: Vec<Departure>,
}

/// Reads a text that is one message, or a list of them.
///
/// # Errors
/// [`ParseError`] if it is neither, or nothing in the list is a message.
pub fn read_all(json: &str) -> Result<Vec<Read>, ParseError> {
    let json = json.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if !json.starts_with('[') {
        return Ok(vec![read(json)?]);
    }
    let items: Vec<&RawValue> =
        serde_json::from_str(json).map_err(|error| ParseError::Json(error.to_string()))?;
    let mut first = None;
    let mut messages = Vec::with_capacity(items.len());
    for item in items {
        match read(item.get()) {
            Ok(mut read) => {
                read.departures.push(Departure::InList);
                messages.push(read);
            }
            Err(error) => first = first.or(Some(error)),
        }
    }
    match first {
        _ if !messages.is_empty() => Ok(messages),
        Some(error) => Err(error),
        None => Err(ParseError::Shape("an empty array is no message")),
    }
}

/// Reads one message.
///
/// # Errors
/// See [`Message::parse`].
pub fn read(json: &str) -> Result<Read, ParseError> {
    let fields: Envelope<'_> = serde_json::from_str(json).map_err(|error| match error.classify() {
        serde_json::error::Category::Data if json.trim_start().starts_with('[') => {
            ParseError::Shape("an array of messages is not supported by this protocol revision")
        }
        serde_json::error::Category::Data if !json.trim_start().starts_with('{') => {
            ParseError::Shape("a message must be an object")
        }
        _ => ParseError::Json(error.to_string()),
    })?;
    fields.message()
}

/// The id under which the sender of an invalid message waits, if that can be read: a request's own. Answers are not
/// answered.
pub fn id_of_request(json: &str) -> Option<Id> {
    let members = Members::of(json.get(json.find('{')?..)?);
    let is_request = members.has("method") || members.has("params");
    members.id.filter(|_| is_request)
}

/// Is this a notification, though an invalid one? Those get no answer.
pub fn is_notification(json: &str) -> bool {
    let members = json.find('{').and_then(|start| json.get(start..)).map(Members::of);
    members.is_some_and(|members| members.has("method") && !members.has("id"))
}

/// The members of an object that may be invalid JSON further inside.
#[derive(Debug, Default)]
pub(crate) struct Members {
    names: Vec<String>,
    /// The id, if it is one.
    pub(crate) id: Option<Id>,
    /// The first piece that is no JSON.
    pub(crate) wrong: Option<String>,
}

impl Members {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Reads the text up to the end of its first object.
    pub(crate) fn of(text: &str) -> Self {
        let (mut members, mut depth, mut key, mut is_value) = (Self::default(), 0, None, false);
        for piece in exact::pieces(text).filter(|piece| !piece.trim_start().is_empty()) {
            match piece {
                "{" | "[" => depth += 1,
                "}" | "]" => depth -= 1,
                ":" => is_value = true,
                "," => is_value = false,
                piece => {
                    let is_json = serde_json::from_str::<&RawValue>(piece).is_ok();
                    if !is_json && members.wrong.is_none() {
                        members.wrong = Some(piece.chars().take(40).collect::<String>());
                    }
                    if depth == 1 && !is_value && is_json {
                        key = serde_json::from_str::<String>(piece).ok();
                        members.names.extend(key.clone());
                    } else if depth == 1 && is_value && key.as_deref() == Some("id") {
                        members.id = serde_json::from_str(piece).ok();
                    }
                }
            }
            if depth == 0 {
                break;
            }
        }
        members
    }
}

/// The fields of a message that mean something, as they stand in its text.
#[derive(Default)]
pub(crate) struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    pub(crate) result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl Envelope<'_> {
    /// The message that these fields are.
    pub(crate) fn message(mut self) -> Result<Read, ParseError> {
        let mut departures = self.without_nulls();
        self.one_outcome(&mut departures);
        self.version(&mut departures)?;
        let id = match self.id {
            None => None,
            Some(raw) if raw.get() == "null" => Some(None),
            Some(raw) => {
                Some(Some(Id::read(raw).ok_or(ParseError::Shape("an id must be a string or a number"))?))
            }
        };
        let method = match self.method {
            None => None,
            Some(raw) => Some(string(raw).ok_or(ParseError::Shape("a method must be a string"))?),
        };
        let params = match self.params {
            None => None,
            Some(raw) => {
                Some(object(raw, &mut departures).ok_or(ParseError::Shape("params must be an object"))?)
            }
        };
        let wrong = |message: &str| Err(ErrorObject::new(errors::INTERNAL_ERROR, message));
        let message = match (method, id, self.result, self.error) {
            (Some(method), Some(Some(id)), None, None) => Message::Request { id, method, params },
            (Some(method), None, None, None) => Message::Notification { method, params },
            (Some(method), Some(None), None, None) if method.starts_with("notifications/") => {
                departures.push(Departure::NullMember);
                Message::Notification { method, params }
            }
            (Some(_), Some(None), None, None) => {
                return Err(ParseError::Shape("a request's id may not be null"));
            }
            (None, id, Some(result), None) => {
                // Every MCP result is an object; clients reject anything else, with a less clear message.
                let outcome = object(result, &mut departures)
                    .map_or_else(|| wrong("the response's result is not an object"), Ok);
                Message::Response { id: id.flatten(), outcome }
            }
            (None, id, None, Some(error)) => {
                let error = read_error(&whole(error, &mut departures));
                Message::Response { id: id.flatten(), outcome: Err(error) }
            }
            (None, id, Some(_), Some(error)) => {
                let mut error = read_error(&whole(error, &mut departures));
                error.message = format!("the response had a result and an error: {}", error.message);
                Message::Response { id: id.flatten(), outcome: Err(error) }
            }
            (None, Some(Some(id)), None, None) => Message::Response {
                id: Some(id),
                outcome: wrong("the response had neither a result nor an error"),
            },
            _ => {
                return Err(ParseError::Shape("a message must be a request, a notification or a response"));
            }
        };
        Ok(Read { message, departures })
    }

    /// A member that is null is absent; an id that is null has a meaning.
    fn without_nulls(&mut self) -> Vec<Departure> {
        let mut departures = Vec::new();
        for member in [&mut self.method, &mut self.params, &mut self.result, &mut self.error] {
            if member.is_some_and(|raw| raw.get() == "null") {
                *member = None;
                departures.push(Departure::NullMember);
            }
        }
        departures.dedup();
        departures
    }

    /// Of a result and an error, the one that says something.
    fn one_outcome(&mut self, departures: &mut Vec<Departure>) {
        let (Some(result), Some(error)) = (self.result, self.error) else { return };
        if says_nothing(error) && result.get().starts_with('{') {
            self.error = None;
        } else if says_nothing(result) {
            self.result = None;
        } else {
            return;
        }
        departures.push(Departure::EmptyMember);
    }

    /// A response is one without its version too: nothing else has these members.
    fn version(&self, departures: &mut Vec<Departure>) -> Result<(), ParseError> {
        let right = |raw: &RawValue| raw.get() == "\"2.0\"" || string(raw).as_deref() == Some("2.0");
        if self.jsonrpc.is_some_and(right) {
            return Ok(());
        }
        let has_id = self.id.and_then(Id::read).is_some();
        let outcome = self.result.xor(self.error).is_some_and(|raw| raw.get().starts_with('{'));
        let unsaid = self.jsonrpc.is_none_or(|raw| matches!(raw.get(), "null" | "2.0" | "2"));
        if self.method.is_none() && has_id && outcome && unsaid {
            departures.push(Departure::NoVersion);
            return Ok(());
        }
        Err(ParseError::Shape("a message must have \"jsonrpc\": \"2.0\""))
    }
}

fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// An empty value of any type.
fn says_nothing(raw: &RawValue) -> bool {
    matches!(exact::compact(raw.get()).as_str(), "{}" | "[]" | "\"\"" | "false" | "0")
}

/// An object as written; `{}` for an empty list. `None` for anything else.
fn object(raw: &RawValue, departures: &mut Vec<Departure>) -> Option<Box<RawValue>> {
    if raw.get().starts_with('{') {
        return Some(whole(raw, departures));
    }
    let is_empty_list = raw.get().strip_prefix('[').is_some_and(|rest| rest.trim_start() == "]");
    is_empty_list.then(|| {
        departures.push(Departure::ListForObject);
        RawObject::new().to_raw()
    })
}

/// The value with every half of a surrogate pair replaced.
fn whole(raw: &RawValue, departures: &mut Vec<Departure>) -> Box<RawValue> {
    let Cow::Owned(text) = text::whole_pairs(raw.get()) else { return raw.to_owned() };
    departures.push(Departure::HalfPair);
    // Only strings were rewritten.
    RawValue::from_string(text).unwrap_or_else(|_| raw.to_owned())
}

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadEnvelope)
    }
}

struct ReadEnvelope;

impl<'de> Visitor<'de> for ReadEnvelope {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
        let (mut fields, mut others) = (Envelope::default(), HashSet::<Cow<'de, str>>::new());
        while let Some(EnvelopeKey(key)) = map.next_key()? {
            // Two readers could take different ones of two.
            let twice = |key: &str| A::Error::custom(format_args!("the key {key:?} occurs twice"));
            let field = match &*key {
                "jsonrpc" => &mut fields.jsonrpc,
                "id" => &mut fields.id,
                "method" => &mut fields.method,
                "params" => &mut fields.params,
                "result" => &mut fields.result,
                "error" => &mut fields.error,
                _ if others.contains(&key) => return Err(twice(&key)),
                _ => {
                    others.insert(key);
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if field.is_some() {
                return Err(twice(&key));
            }
            *field = Some(map.next_value()?);
        }
        Ok(fields)
    }
}

/// A key, where it stands unless it is written with escapes.
struct EnvelopeKey<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for EnvelopeKey<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(ReadEnvelopeKey).map(EnvelopeKey)
    }
}

struct ReadEnvelopeKey;

impl<'de> Visitor<'de> for ReadEnvelopeKey {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: de::Error>(self, key: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

/// Parses an error object as servers really write it: the code may be a float, or the error just a string.
fn read_error(raw: &RawValue) -> ErrorObject {
    if let Ok(error) = serde_json::from_str::<ErrorObject>(raw.get()) {
        return error;
    }
    let fields = RawObject::parse(raw).unwrap_or_default();
    let written = fields.get("code").map(RawValue::get).filter(|code| *code != "null");
    let code = written.and_then(|code| crate::message::whole(code.trim_matches('"')));
    let message = fields.text("message").or_else(|| string(raw)).unwrap_or_else(|| undescribed(&fields));
    // Another code would look like the server's own.
    let message = match written.filter(|_| code.is_none()) {
        Some(written) => {
            format!(
                "{message} (the server's code, {}, is not an integer)",
                written.chars().take(40).collect::<String>()
            )
        }
        None => message,
    };
    let code = code.unwrap_or(errors::INTERNAL_ERROR);
    ErrorObject { code, message, data: fields.get("data").map(ToOwned::to_owned) }
}

/// An error without a message, with whatever else it has.
fn undescribed(fields: &RawObject) -> String {
    /// Enough for a sentence.
    const CHARS: usize = 300;
    let mut fields = fields.clone();
    fields.remove("code");
    fields.remove("data");
    if fields.get("message").is_some_and(|message| message.get() == "null") {
        fields.remove("message");
    }
    let plain = "the server answered with an error it did not describe";
    match fields.is_empty() {
        true => plain.to_owned(),
        false => {
            let said: String = exact::compact(fields.to_raw().get()).chars().take(CHARS).collect();
            format!("{plain}, except as {said}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(json: &str) -> (String, Vec<Departure>) {
        let read = read_all(json).unwrap_or_else(|error| panic!("{json}: {error}"));
        let departures = read.iter().flat_map(|read| read.departures.clone()).collect();
        (read.iter().map(|read| read.message.to_json()).collect::<Vec<_>>().join(" "), departures)
    }

    #[test]
    fn what_departs_without_loss_is_read_as_it_was_meant() {
        use Departure::*;
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#;
        let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"m"}}"#;
        let empty = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#;
        let with_params = r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{}}"#;
        let note = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
        let cases: &[(&str, &str, &[Departure])] = &[
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":null}"#, result, &[NullMember]),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":null,"method":null,"params": null,"result":{"a":1}}"#,
                result,
                &[NullMember],
            ),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":{ }}"#, result, &[EmptyMember]),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":""}"#, result, &[EmptyMember]),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":false}"#, result, &[EmptyMember]),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-32000,"message":"m"}}"#,
                error,
                &[NullMember],
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-32000,"message":"m"}}"#,
                error,
                &[EmptyMember],
            ),
            (r#"{"jsonrpc":"2.0","id":1,"result":[]}"#, empty, &[ListForObject]),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":[]}"#, empty, &[EmptyMember]),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":null}"#, request, &[NullMember]),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[ ]}"#, with_params, &[ListForObject]),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","result":null,"error":null}"#, request, &[NullMember]),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"notifications/x","params":null}"#,
                note,
                &[NullMember, NullMember],
            ),
            (r#" [{"jsonrpc":"2.0","id":1,"result":{"a":1}}]"#, result, &[InList]),
            (r#"{"id":1,"result":{"a":1}}"#, result, &[NoVersion]),
            (r#"{"id":1,"jsonrpc":2.0,"error":{"code":-32000,"message":"m"}}"#, error, &[NoVersion]),
            ("\u{feff}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}\n", result, &[]),
            (result, result, &[]),
            (error, error, &[]),
            (with_params, with_params, &[]),
        ];
        for (json, expected, departures) in cases {
            assert_eq!(shown(json), ((*expected).to_owned(), departures.to_vec()), "{json}");
        }
    }

    #[test]
    fn of_a_list_every_message_is_read() {
        let list = format!(
            "[{},5,{}]",
            r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#
        );
        let (written, _) = shown(&list);
        assert_eq!(
            written,
            r#"{"jsonrpc":"2.0","method":"notifications/x"} {"jsonrpc":"2.0","id":1,"result":{}}"#
        );
        for nothing in ["[]", "[5]", "[[]]", "5", "{}", "[", ""] {
            assert!(read_all(nothing).is_err(), "{nothing}");
        }
    }

    #[test]
    fn a_result_and_an_error_that_both_say_something_are_an_error_with_its_words() {
        let (written, _) =
            shown(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":{"code":7,"message":"m"}}"#);
        assert_eq!(
            written,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"the response had a result and an error: m"}}"#
        );
    }

    #[test]
    fn an_error_keeps_its_words_however_it_is_written() {
        let said = |error: &str| match read(&format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#))
            .unwrap()
            .message
        {
            Message::Response { outcome: Err(error), .. } => error.to_string(),
            other => panic!("{other:?}"),
        };
        for (error, expected) in [
            (r#"{"code":-1,"message":"half \ud83d here","data":{"a":"\udee0"}}"#, "half \u{fffd} here (-1)"),
            (r#"{"code":-1,"message":"\ud83d\ude00"}"#, "\u{1f600} (-1)"),
            (r#"{"code":"-5","message":"m"}"#, "m (-5)"),
            (r#"{"code":null,"message":"m"}"#, "m (-32603)"),
            (r#"{"message":"m"}"#, "m (-32603)"),
            (r#""\ud83d broken""#, "\u{fffd} broken (-32603)"),
            (
                r#"{"code":-1,"detail":"full"}"#,
                "the server answered with an error it did not describe, except as {\"detail\":\"full\"} (-1)",
            ),
            (r#"{"code":-1,"message":null}"#, "the server answered with an error it did not describe (-1)"),
        ] {
            assert_eq!(said(error), expected, "{error}");
        }
    }

    #[test]
    fn nothing_read_has_half_of_a_surrogate_pair() {
        let (written, departures) =
            shown(r#"{"jsonrpc":"2.0","id":1,"result":{"a":"\udee0","n":1.0,"k\ud83d":["\ud83d\ude00"]}}"#);
        assert_eq!(
            written,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"\u{fffd}\",\"n\":1.0,\"k\u{fffd}\":[\"\\ud83d\\ude00\"]}}"
        );
        assert_eq!(departures, [Departure::HalfPair]);
    }

    #[test]
    fn the_id_of_an_invalid_request_is_found() {
        for (json, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"x","params":3}"#, Some(Id::from(7))),
            (r#"{"id":"a","method":"x"}"#, Some(Id::Text("a".into()))),
            (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, Some(Id::from(7))),
            (r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":NaN}}"#, Some(Id::from(7))),
            (r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"#, Some(Id::from(7))),
            (r#"{"jsonrpc":"2.0","params":{"id":7},"method":"x"}"#, None),
            (r#"{"jsonrpc":"2.0","id":7,"result":5}"#, None),
            (r#"{"id":7}"#, None),
            (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, None),
            ("hello", None),
            ("5", None),
        ] {
            assert_eq!(id_of_request(json), expected, "{json}");
        }
        assert!(is_notification(r#"{"jsonrpc":"2.0","method":"notifications/x","params":3}"#));
        assert!(
            !is_notification(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":3}"#) && !is_notification("x")
        );
    }
}
