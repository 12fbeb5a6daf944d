//! Corrects unambiguous mistakes in arguments: `"5"` where a number is expected, `null` for an optional value, a single
//! item for a list.

use jsonschema::{
    JsonType, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use satchel_mcp::{RawObject, exact};
use serde_json::Value;

/// Maximum number of rounds: a correction may uncover the next fault.
const ROUNDS: usize = 3;

/// Corrects arguments where possible, and lists the corrections. Everything else stays as written.
pub(super) fn all(validator: &Validator, schema: &Value, arguments: &str) -> (String, Vec<String>) {
    let (mut text, mut notes) = (arguments.to_owned(), Vec::new());
    for _ in 0..ROUNDS {
        let Ok(value) = serde_json::from_str::<Value>(&text) else { break };
        let errors: Vec<ValidationError<'static>> =
            validator.iter_errors(&value).map(ValidationError::to_owned).collect();
        let before = notes.len();
        for error in &errors {
            notes.extend(one(error, schema, &mut text));
        }
        if notes.len() == before {
            break;
        }
    }
    (text, notes)
}

fn one(error: &ValidationError, schema: &Value, text: &mut String) -> Option<String> {
    let path = error.instance_path().as_str().to_owned();
    let written = exact::at(text, &path)?.to_owned();
    let given: Value = serde_json::from_str(&written).ok()?;
    if given.is_null() && may_be_left_out(schema, &path) {
        let name = path.strip_prefix('/')?.replace("~1", "/").replace("~0", "~");
        let mut fields: RawObject = serde_json::from_str(text).ok()?;
        fields.remove(&name)?;
        *text = fields.to_raw().get().to_owned();
        return Some(format!("{name}: null was left out"));
    }
    // Another fault of this round may have been fixed by the same correction.
    let better = better(error, &given, &written).filter(|better| *better != written)?;
    let note = format!("{}: {written} was read as {better}", super::place(&path));
    *text = exact::with(text, &path, &better)?;
    Some(note)
}

/// An optional top-level parameter.
fn may_be_left_out(schema: &Value, path: &str) -> bool {
    let name = path.strip_prefix('/').filter(|name| !name.contains('/'));
    let required = schema.get("required").and_then(Value::as_array);
    name.is_some_and(|name| !required.into_iter().flatten().any(|required| required == name))
}

/// The intended value of `given`, written as `written`; as JSON.
fn better(error: &ValidationError, given: &Value, written: &str) -> Option<String> {
    match error.kind() {
        ValidationErrorKind::Type { kind: TypeKind::Single(wanted) } => converted(given, written, *wanted),
        ValidationErrorKind::Type { kind: TypeKind::Multiple(wanted) } => {
            wanted.iter().find_map(|wanted| converted(given, written, wanted))
        }
        ValidationErrorKind::Enum { options } => option(options.as_array()?, given, written),
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            // The alternative that fails only because of this value.
            let same = |errors: &&Vec<ValidationError<'static>>| matches!(errors.as_slice(), [only] if only.instance_path() == error.instance_path());
            context.iter().filter(same).find_map(|errors| better(&errors[0], given, written))
        }
        _ => None,
    }
}

fn converted(given: &Value, written: &str, wanted: JsonType) -> Option<String> {
    let quoted = |text: &str| Value::from(text).to_string();
    match (wanted, given) {
        (JsonType::Integer, Value::String(text)) => integer(text.trim()),
        (JsonType::Number, Value::String(text)) => number(text.trim()),
        (JsonType::Boolean, Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            text @ ("true" | "false") => Some(text.to_owned()),
            _ => None,
        },
        // Keep all digits: version 1.10 is not 1.1.
        (JsonType::String, Value::Number(_) | Value::Bool(_)) => Some(quoted(written)),
        (JsonType::Array, Value::String(text)) if text.trim_start().starts_with('[') => json(text),
        (JsonType::Object, Value::String(text)) if text.trim_start().starts_with('{') => json(text),
        (JsonType::Array, Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
            Some(format!("[{written}]"))
        }
        _ => None,
    }
}

/// A text that is JSON, unchanged.
fn json(text: &str) -> Option<String> {
    serde_json::from_str::<Value>(text).ok().map(|_| text.trim().to_owned())
}

/// A 64-bit integer in JSON form; `5.0` counts too.
fn integer(text: &str) -> Option<String> {
    let digits = match text.split_once('.') {
        Some((digits, rest)) if !rest.is_empty() && rest.bytes().all(|byte| byte == b'0') => digits,
        _ => text,
    };
    let exact = |number: String| (number == digits).then_some(number);
    let signed = digits.parse::<i64>().ok().map(|number| number.to_string());
    signed.or_else(|| digits.parse::<u64>().ok().map(|number| number.to_string())).and_then(exact)
}

/// A number that every JSON parser reads the same; without an exponent, which hides digits.
fn number(text: &str) -> Option<String> {
    if integer(text).is_some_and(|whole| whole == text) {
        return Some(text.to_owned());
    }
    let number: serde_json::Number = text.parse().ok()?;
    let plain = |text: &str| match text.split_once('.') {
        Some((whole, rest)) => format!("{whole}.{}", rest.trim_end_matches('0')),
        None => format!("{text}."),
    };
    let fits = !text.contains(['e', 'E']) && plain(&number.to_string()) == plain(text);
    fits.then(|| text.to_owned())
}

/// The only option that differs just in case, or in being written as text.
fn option(options: &[Value], given: &Value, written: &str) -> Option<String> {
    let plain = |value: &Value, written: &str| match value {
        Value::String(text) => text.trim().to_lowercase(),
        _ => written.to_owned(),
    };
    let wanted = plain(given, written);
    let mut fitting = options.iter().filter(|option| plain(option, &option.to_string()) == wanted);
    let only = fitting.next()?;
    fitting.next().is_none().then(|| only.to_string())
}
