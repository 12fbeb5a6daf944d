//! Reads a large response without copying its result: the line that it came on becomes the result. Everything else is read by
//! [`Message::parse`].

use std::{borrow::Cow, iter::once, ops::Range, string::FromUtf8Error, sync::LazyLock};

use serde::{
    Deserialize,
    de::value::{Error, MapDeserializer},
};
use serde_json::value::RawValue;

use crate::{ErrorObject, Id, Message, envelope::Envelope, errors, text::whole_pairs};

/// Size in bytes from which a line is tried.
pub(crate) const LARGE: usize = 256 * 1024;

/// The response on this line; the line itself if it is anything else.
pub(crate) fn response(line: Vec<u8>) -> Result<Message, Vec<u8>> {
    let mut text = String::from_utf8(line).map_err(FromUtf8Error::into_bytes)?;
    let Some((id, result)) = split(&text) else { return Err(text.into_bytes()) };
    text.truncate(result.end);
    text.drain(..result.start);
    if let Cow::Owned(whole) = whole_pairs(&text) {
        text = whole;
    }
    let unreadable = |why: String| ErrorObject::new(errors::INTERNAL_ERROR, why);
    Ok(Message::Response { id, outcome: raw(text).map_err(unreadable) })
}

/// The id of a successful response, and where its result stands.
fn split(text: &str) -> Option<(Option<Id>, Range<usize>)> {
    let mut fields: Envelope<'_> = serde_json::from_str(text).ok()?;
    let result = fields.result.filter(|result| result.get().starts_with('{'))?.get();
    let start = result.as_ptr().addr() - text.as_ptr().addr();
    // All other rules are the same, and what they read is small.
    fields.result = serde_json::from_str("{}").ok();
    match fields.message().map(|read| read.message) {
        Ok(Message::Response { id, outcome: Ok(_) }) => Some((id, start..start + result.len())),
        _ => None,
    }
}

/// A text that was parsed already.
fn raw(text: String) -> Result<Box<RawValue>, String> {
    if *TAKES_TEXTS {
        return as_it_is(text).map_err(|error| error.to_string());
    }
    RawValue::from_string(text).map_err(|error| error.to_string())
}

/// `serde_json` builds raw values this way from texts that it parsed itself.
fn as_it_is(text: String) -> Result<Box<RawValue>, Error> {
    Box::deserialize(MapDeserializer::new(once(("$serde_json::private::RawValue", text))))
}

/// Another version of `serde_json` may build them in another way; then texts are parsed once more.
static TAKES_TEXTS: LazyLock<bool> = LazyLock::new(|| as_it_is("{}".to_owned()).is_ok());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_taken_out_of_its_line_without_a_copy() {
        assert!(*TAKES_TEXTS);
        let result = r#"{"b":1.0,"a":[ 2 ],"text":"é\n"}"#;
        for (before, after) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":"#, "}"),
            (r#" {"result": "#, r#" ,"id":7,"x":{},"jsonrpc":"2.0"} "#),
        ] {
            let line = [before, result, after].concat();
            let Ok(Message::Response { id, outcome: Ok(taken) }) = response(line.into_bytes()) else {
                panic!()
            };
            assert_eq!((id, taken.get()), (Some(Id::from(7)), result));
        }
    }

    #[test]
    fn every_other_line_comes_back_as_it_was() {
        for line in [
            &br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#[..],
            br#"{"jsonrpc":"2.0","id":7,"result":[]}"#,
            br#"{"jsonrpc":"2.0","id":7,"result":{},"result":{}}"#,
            br#"{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"m"}}"#,
            br#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}"#,
            br#"{"id":7,"result":[1]}"#,
            br#"{"jsonrpc":"2.0","id":7,"result":{}} tail"#,
            br#"{"jsonrpc":"2.0","id":[],"result":{}}"#,
            b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":\"\xff\"}}",
            b"",
        ] {
            assert_eq!(response(line.to_vec()).unwrap_err(), line, "{:?}", String::from_utf8_lossy(line));
        }
    }
}
