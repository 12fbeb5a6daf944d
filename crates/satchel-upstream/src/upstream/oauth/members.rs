//! The members of the JSON documents of a sign-in. Null and the empty text mean that a member is absent, as programs in
//! languages without optional values write it; a member of another type than its own is a fault of that document.

use serde_json::{Map, Value};

use super::address::shown;

/// A JSON object without its empty members.
#[derive(Debug, Clone)]
pub(super) struct Members(Map<String, Value>);

/// A member that cannot be read, in words: `"issuer" is 5 instead of a text`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{member}\" is {found} instead of {wanted}")]
pub(super) struct Unreadable {
    member: &'static str,
    found: String,
    wanted: &'static str,
}

impl Members {
    /// Parses a document; `None` if it is not a JSON object.
    pub(super) fn of(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}');
        let Ok(Value::Object(mut members)) = serde_json::from_str(text) else { return None };
        members.retain(|_, value| !is_absent(value));
        Some(Self(members))
    }

    /// Is there such a member?
    pub(super) fn has(&self, member: &str) -> bool {
        self.0.contains_key(member)
    }

    /// A text; numbers are texts too, because some write ids so.
    pub(super) fn text(&self, member: &'static str) -> Result<Option<String>, Unreadable> {
        match self.0.get(member) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(fault(member, other, "a text")),
        }
    }

    /// A list of texts; one text is a list, of which blanks separate the items.
    pub(super) fn texts(&self, member: &'static str) -> Result<Option<Vec<String>>, Unreadable> {
        let item = |value: &Value| match value {
            Value::String(text) => Ok(text.clone()),
            other => Err(fault(member, other, "a list of texts")),
        };
        match self.0.get(member) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.split_whitespace().map(ToOwned::to_owned).collect())),
            Some(Value::Array(items)) => {
                items.iter().filter(|value| !is_absent(value)).map(item).collect::<Result<_, _>>().map(Some)
            }
            // What PHP writes for a list without items.
            Some(Value::Object(items)) if items.is_empty() => Ok(Some(Vec::new())),
            Some(other) => Err(fault(member, other, "a list of texts")),
        }
    }

    /// A truth value; absent ones are false.
    pub(super) fn flag(&self, member: &'static str) -> Result<bool, Unreadable> {
        match self.0.get(member) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => Err(fault(member, other, "true or false")),
        }
    }

    /// A time in seconds.
    pub(super) fn seconds(&self, member: &'static str) -> Result<Option<u64>, Unreadable> {
        let number = match self.0.get(member) {
            None => return Ok(None),
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        match (number.filter(|number: &f64| number.is_finite()), self.0.get(member)) {
            // Saturates, so neither fractional nor negative.
            (Some(number), _) => Ok(Some(number as u64)),
            (None, Some(other)) => Err(fault(member, other, "a number of seconds")),
            (None, None) => Ok(None),
        }
    }
}

fn is_absent(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn fault(member: &'static str, value: &Value, wanted: &'static str) -> Unreadable {
    const CHARS: usize = 60;
    let found: String = value.to_string().chars().take(CHARS).collect();
    Unreadable { member, found: shown(&found), wanted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_and_the_empty_text_are_absent() {
        let members = Members::of(
            "\u{feff}{\"a\":null,\"b\":\"\",\"c\":\" \",\"list\":[\"x\",null,\"\"],\"none\":null,\"f\":null,\"s\":\"\"}",
        )
        .unwrap();
        for member in ["a", "b", "c", "d"] {
            assert_eq!(members.text(member), Ok(None), "{member}");
            assert_eq!((members.texts(member), members.has(member)), (Ok(None), false));
        }
        assert_eq!(members.texts("list"), Ok(Some(vec!["x".to_owned()])));
        assert_eq!(
            (members.texts("none"), members.flag("f"), members.seconds("s")),
            (Ok(None), Ok(false), Ok(None))
        );
        assert!(
            Members::of("<html>").is_none() && Members::of("[]").is_none() && Members::of("null").is_none()
        );
    }

    #[test]
    fn what_can_be_meant_is_read_and_anything_else_names_the_member() {
        let members = Members::of(
            r#"{"id":5,"one":"a b","flag":"True","end":"12.5","none":{},"bad":{"x":1},"mixed":["a",1]}"#,
        )
        .unwrap();
        assert_eq!(members.text("id"), Ok(Some("5".to_owned())));
        assert_eq!(members.texts("one"), Ok(Some(vec!["a".to_owned(), "b".to_owned()])));
        assert_eq!((members.flag("flag"), members.seconds("end")), (Ok(true), Ok(Some(12))));
        assert_eq!(members.texts("none"), Ok(Some(vec![])));
        let told = |unreadable: Unreadable| unreadable.to_string();
        assert_eq!(
            members.text("bad").map_err(told),
            Err(r#""bad" is {"x":1} instead of a text"#.to_owned())
        );
        assert_eq!(
            members.texts("mixed").map_err(told),
            Err(r#""mixed" is 1 instead of a list of texts"#.to_owned())
        );
        assert_eq!(members.flag("id").map_err(told), Err(r#""id" is 5 instead of true or false"#.to_owned()));
        assert!(members.seconds("one").is_err() && members.seconds("bad").is_err());
    }
}
