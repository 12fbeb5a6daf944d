//! What is meant without doubt: `"5"` where a number is wanted, `null` for what may be left out, one item for a list.

use jsonschema::{
    JsonType, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

/// A correction can uncover the next fault; so often it is looked again.
const ROUNDS: usize = 3;

/// Corrects what it can, and says what it did.
pub(super) fn all(validator: &Validator, schema: &Value, arguments: &mut Value) -> Vec<String> {
    let mut notes = Vec::new();
    for _ in 0..ROUNDS {
        let errors: Vec<ValidationError<'static>> =
            validator.iter_errors(arguments).map(ValidationError::to_owned).collect();
        let before = notes.len();
        for error in &errors {
            notes.extend(one(error, schema, arguments));
        }
        if notes.len() == before {
            break;
        }
    }
    notes
}

fn one(error: &ValidationError, schema: &Value, arguments: &mut Value) -> Option<String> {
    let path = error.instance_path().as_str().to_owned();
    let given = arguments.pointer(&path)?.clone();
    if given.is_null() && may_be_left_out(schema, &path) {
        let name = path.strip_prefix('/')?.to_owned();
        arguments.as_object_mut()?.shift_remove(&name)?;
        return Some(format!("{name}: null was left out"));
    }
    let better = better(error, &given)?;
    let note = format!("{}: {given} was read as {better}", super::place(&path));
    *arguments.pointer_mut(&path)? = better;
    Some(note)
}

/// A parameter at the top that is not required.
fn may_be_left_out(schema: &Value, path: &str) -> bool {
    let name = path.strip_prefix('/').filter(|name| !name.contains('/'));
    let required = schema.get("required").and_then(Value::as_array);
    name.is_some_and(|name| !required.into_iter().flatten().any(|required| required == name))
}

fn better(error: &ValidationError, given: &Value) -> Option<Value> {
    match error.kind() {
        ValidationErrorKind::Type { kind: TypeKind::Single(wanted) } => converted(given, *wanted),
        ValidationErrorKind::Type { kind: TypeKind::Multiple(wanted) } => {
            wanted.iter().find_map(|wanted| converted(given, wanted))
        }
        ValidationErrorKind::Enum { options } => option(options.as_array()?, given),
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            // Of the ways it may be given, one that fails for nothing but this value.
            let same = |errors: &&Vec<ValidationError<'static>>| matches!(errors.as_slice(), [only] if only.instance_path() == error.instance_path());
            context.iter().filter(same).find_map(|errors| better(&errors[0], given))
        }
        _ => None,
    }
}

fn converted(given: &Value, wanted: JsonType) -> Option<Value> {
    match (wanted, given) {
        (JsonType::Integer | JsonType::Number, Value::String(text)) => {
            let number: serde_json::Number = text.trim().parse().ok()?;
            let whole =
                number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|x| x.fract() == 0.0);
            (whole || wanted == JsonType::Number).then_some(Value::Number(number))
        }
        (JsonType::Boolean, Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        (JsonType::String, Value::Number(_) | Value::Bool(_)) => Some(Value::String(given.to_string())),
        (JsonType::Array, Value::String(text)) if text.trim_start().starts_with('[') => {
            serde_json::from_str(text).ok()
        }
        (JsonType::Object, Value::String(text)) if text.trim_start().starts_with('{') => {
            serde_json::from_str(text).ok()
        }
        (JsonType::Array, Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
            Some(Value::Array(vec![given.clone()]))
        }
        _ => None,
    }
}

/// The one option that differs in nothing but case, or in being written as text.
fn option(options: &[Value], given: &Value) -> Option<Value> {
    let plain = |value: &Value| match value {
        Value::String(text) => text.trim().to_lowercase(),
        other => other.to_string(),
    };
    let wanted = plain(given);
    let mut fitting = options.iter().filter(|option| plain(option) == wanted);
    let only = fitting.next()?;
    fitting.next().is_none().then(|| only.clone())
}
