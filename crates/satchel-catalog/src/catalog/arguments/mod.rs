//! Validates arguments against a tool's schema before anything starts. Unambiguous mistakes are corrected and noted;
//! anything else is refused with all errors and a corrected skeleton.
//!
//! A schema that nobody can read, or that is too much work to check, refuses nothing: then it is the server's to judge.

mod bound;
mod correct;
mod skeleton;

use std::{collections::BTreeMap, sync::Arc};

use jsonschema::{PatternOptions, ValidationError, Validator, error::ValidationErrorKind};
use satchel_mcp::{Raw, RawObject, exact};
use serde_json::{Map, Value};

use super::{ToolEntry, search};

/// Maximum number of faults listed.
const FAULTS: usize = 8;
/// Maximum length of a quoted value in an error.
const SHOWN: usize = 120;
/// Maximum number of patterns in a schema, and maximum compiled size of one in bytes: a server's patterns must not
/// slow down the hub.
const PATTERNS: usize = 64;
const PATTERN_BYTES: usize = 256 * 1024;

/// A schema of more bytes is compiled for each call, and not kept; likewise one with patterns, whose tables can be large.
const KEPT: usize = 16 * 1024;

/// The validator of one tool's arguments.
#[derive(Debug)]
pub(super) struct Checker {
    schema: Value,
    validator: Option<Validator>,
}

impl Checker {
    fn of(schema: Value) -> Self {
        Self { validator: validator(schema.clone()), schema }
    }
}

/// Arguments to send.
#[derive(Debug)]
pub struct Checked {
    /// Byte for byte as given, unless corrected.
    pub arguments: Box<Raw>,
    /// The corrections, one sentence each.
    pub notes: Vec<String>,
}

/// Invalid arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Misfit {
    /// All faults, one sentence each.
    pub faults: Vec<String>,
    /// The same without quoting values, for the history.
    pub plain_faults: Vec<String>,
    /// The arguments with placeholders in place of faults: a JSON object.
    pub skeleton: String,
}

impl ToolEntry {
    /// Checks arguments for this tool.
    ///
    /// # Errors
    /// [`Misfit`] if its server could only reject them.
    pub fn check(&self, given: &Raw) -> Result<Checked, Misfit> {
        let unchanged = || Checked { arguments: given.to_owned(), notes: vec![] };
        let Some(checker) = self.checker() else { return Ok(unchanged()) };
        let Ok(arguments) = serde_json::from_str::<Value>(given.get()) else { return Ok(unchanged()) };
        if !bound::is_small(&checker.schema, &arguments) {
            return Ok(unchanged());
        }
        let Checker { schema, validator: Some(validator) } = &*checker else { return Ok(unchanged()) };
        if validator.is_valid(&arguments) {
            return Ok(unchanged());
        }
        let text = with_each_key_once(given);
        let (corrected, notes) = correct::all(validator, schema, &text);
        let after = serde_json::from_str(&corrected).unwrap_or_else(|_| arguments.clone());
        if !notes.is_empty()
            && validator.is_valid(&after)
            && let Ok(arguments) = Raw::from_string(corrected.clone())
        {
            return Ok(Checked { arguments, notes });
        }
        let faults_with = |given: Given<'_>| faults(validator, schema, &arguments, given);
        let (faults, plain_faults) = (faults_with(Given::Shown(&text)), faults_with(Given::LeftOut));
        let skeleton = skeleton::filled(schema, &after, validator);
        let skeleton = with_numbers_as_given(&skeleton, &after, &corrected);
        Err(Misfit { faults, plain_faults, skeleton })
    }

    /// Arguments that its schema accepts, with placeholders for what only a caller knows.
    pub fn skeleton(&self) -> Value {
        self.schema().map_or_else(|| Value::Object(Map::new()), |schema| skeleton::of(&schema))
    }

    /// Made when the tool is first called, and kept where it takes little room.
    fn checker(&self) -> Option<Arc<Checker>> {
        if let Some(kept) = self.checker.get() {
            return kept.clone();
        }
        let made = || self.schema().map(|schema| Arc::new(Checker::of(schema)));
        // A key can be written with escapes.
        let is_plain = |schema: &str| !schema.contains("pattern") && !schema.contains('\\');
        let is_kept = |schema: Box<Raw>| schema.get().len() <= KEPT && is_plain(schema.get());
        match self.input_schema().is_some_and(is_kept) {
            true => self.checker.get_or_init(made).clone(),
            false => made(),
        }
    }

    fn schema(&self) -> Option<Value> {
        serde_json::from_str(self.input_schema()?.get()).ok()
    }
}

/// `None` if the schema is invalid or refers outside itself. Only linear-time patterns are used; others are left out.
fn validator(mut schema: Value) -> Option<Validator> {
    let patterns = || PatternOptions::regex().size_limit(PATTERN_BYTES);
    let build =
        |schema: &Value| jsonschema::options().offline().with_pattern_options(patterns()).build(schema);
    let mut count = 0;
    each_pattern(&mut schema, &mut |_| {
        count += 1;
        true
    });
    if count > PATTERNS {
        return None;
    }
    if let Ok(validator) = build(&schema) {
        return Some(validator);
    }
    each_pattern(&mut schema, &mut |pattern| {
        let alone = serde_json::json!({ "pattern": pattern });
        // A pattern that no engine accepts is a fault of the schema.
        build(&alone).is_ok() || jsonschema::options().offline().build(&alone).is_err()
    });
    build(&schema).ok()
}

/// Visits every pattern in a schema, and removes those that are rejected.
fn each_pattern(schema: &mut Value, stays: &mut dyn FnMut(&str) -> bool) {
    match schema {
        Value::Object(keywords) => {
            if let Some(Value::String(pattern)) = keywords.get("pattern")
                && !stays(pattern)
            {
                keywords.shift_remove("pattern");
            }
            if let Some(Value::Object(patterns)) = keywords.get("patternProperties") {
                for pattern in patterns.keys() {
                    stays(pattern);
                }
            }
            keywords.values_mut().for_each(|value| each_pattern(value, stays));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each_pattern(item, stays)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// As written; of a duplicate key, the last value, which is the one that was checked.
fn with_each_key_once(given: &Raw) -> String {
    let twice = RawObject::parse(given).is_err();
    let once = || serde_json::from_str::<BTreeMap<String, &Raw>>(given.get()).ok();
    let text = twice.then(once).flatten().and_then(|fields| serde_json::to_string(&fields).ok());
    text.unwrap_or_else(|| given.get().to_owned())
}

/// A skeleton in which values from the arguments keep their original spelling.
fn with_numbers_as_given(skeleton: &Value, arguments: &Value, text: &str) -> String {
    let Some(fields) = skeleton.as_object() else { return skeleton.to_string() };
    let field = |(name, value): (&String, &Value)| {
        let place = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        let given = exact::at(text, &place).filter(|_| arguments.get(name) == Some(value));
        format!("{}:{}", Value::from(name.as_str()), given.map_or_else(|| value.to_string(), exact::compact))
    };
    format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
}

/// Whether errors quote given values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given<'a> {
    /// Quoted as written in this text.
    Shown(&'a str),
    LeftOut,
}

fn faults(validator: &Validator, schema: &Value, arguments: &Value, values: Given<'_>) -> Vec<String> {
    let mut faults: Vec<String> = Vec::new();
    for error in validator.iter_errors(arguments) {
        for fault in sentences(&error, schema, values) {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        if faults.len() > FAULTS {
            faults.truncate(FAULTS);
            faults.push("and more".to_owned());
            break;
        }
    }
    faults
}

/// An error as a sentence that names its place.
fn sentences(error: &ValidationError, schema: &Value, values: Given<'_>) -> Vec<String> {
    let place = place(error.instance_path().as_str());
    let within = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
    let here = if place.is_empty() { "the arguments".to_owned() } else { format!("\"{place}\"") };
    let given = match values {
        Given::Shown(text) => {
            let written = exact::at(text, error.instance_path().as_str()).map(exact::compact);
            format!(", not {}", shown(&written.unwrap_or_else(|| error.instance().to_string())))
        }
        Given::LeftOut => String::new(),
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            vec![format!("\"{}\" is missing", within(property.as_str().unwrap_or_default()))]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            // Each is compared with every known parameter, so only a few are examined.
            let some = unexpected.iter().take(FAULTS + 1);
            some.map(|name| unknown(name, &within(name), &place, schema)).collect()
        }
        ValidationErrorKind::Type { kind } => {
            vec![format!("{here} must be {}{given}", types(kind))]
        }
        ValidationErrorKind::Enum { options } => {
            let options: Vec<String> =
                options.as_array().into_iter().flatten().take(20).map(Value::to_string).collect();
            vec![format!("{here} must be one of {}{given}", options.join(", "))]
        }
        ValidationErrorKind::Constant { expected_value } => {
            vec![format!("{here} must be {expected_value}{given}")]
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            let ways: Vec<String> = context
                .iter()
                .map(|errors| {
                    let ways = errors.iter().flat_map(|error| sentences(error, schema, values));
                    ways.collect::<Vec<_>>().join(" and ")
                })
                .filter(|way| !way.is_empty())
                .take(4)
                .collect();
            vec![format!("{here} matches none of its allowed forms: {}", ways.join("; or "))]
        }
        _ if values == Given::LeftOut => vec![format!("{here}: {}", shown(&error.masked().to_string()))],
        _ => vec![format!("{here}: {}", shown(&error.to_string()))],
    }
}

fn types(kind: &jsonschema::error::TypeKind) -> String {
    let named = |name: String| match name.as_str() {
        "null" => "null".to_owned(),
        "integer" | "array" | "object" => format!("an {name}"),
        _ => format!("a {name}"),
    };
    match kind {
        jsonschema::error::TypeKind::Single(one) => named(one.to_string()),
        jsonschema::error::TypeKind::Multiple(many) => {
            many.iter().map(|one| named(one.to_string())).collect::<Vec<_>>().join(" or ")
        }
    }
}

/// An unknown parameter, and the one that may be meant.
fn unknown(name: &str, whole: &str, place: &str, schema: &Value) -> String {
    let known = if place.is_empty() { schema.get("properties").and_then(Value::as_object) } else { None };
    let names = known.into_iter().flatten().map(|(name, _)| name.as_str());
    match search::near(name, names, 1).first() {
        Some(near) => format!("there is no parameter \"{whole}\"; did you mean \"{near}\"?"),
        None => format!("there is no parameter \"{whole}\""),
    }
}

/// `/a/0/b` → `a[0].b`.
fn place(pointer: &str) -> String {
    let mut place = String::new();
    for part in pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")) {
        if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            place.push_str(&format!("[{part}]"));
        } else {
            place.push_str(if place.is_empty() { "" } else { "." });
            place.push_str(&part);
        }
    }
    place
}

fn shown(text: &str) -> String {
    super::entry::shorten(text, SHOWN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(properties: Value, required: Value) -> ToolEntry {
        entry(
            json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false }),
        )
    }

    fn entry(schema: Value) -> ToolEntry {
        let definition = json!({ "name": "t", "inputSchema": schema });
        let raw = Raw::from_string(definition.to_string()).unwrap();
        ToolEntry::new("t".into(), &RawObject::parse(&raw).unwrap(), raw)
    }

    fn check(tool: &ToolEntry, given: &str) -> Result<(String, usize), Vec<String>> {
        let given = Raw::from_string(given.to_owned()).unwrap();
        match tool.check(&given) {
            Ok(checked) => Ok((checked.arguments.get().to_owned(), checked.notes.len())),
            Err(misfit) => Err(misfit.faults),
        }
    }

    fn issues() -> ToolEntry {
        tool(
            json!({ "owner": { "type": "string" }, "title": { "type": "string" }, "limit": { "type": "integer" },
                "draft": { "type": "boolean" }, "labels": { "type": "array", "items": { "type": "string" } },
                "state": { "enum": ["open", "closed"] }, "since": { "anyOf": [{ "type": "integer" }, { "type": "null" }] } }),
            json!(["owner", "title"]),
        )
    }

    #[test]
    fn arguments_that_fit_the_schema_stay_as_they_are() {
        let given = r#"{"title":"x", "owner":"me","limit": 5.0,"since":null}"#;
        assert_eq!(check(&issues(), given), Ok((given.to_owned(), 0)));
    }

    #[test]
    fn of_a_key_that_occurs_twice_the_last_is_corrected() {
        let given = r#"{"owner":"o","title":"t","limit":"4","limit":"5"}"#;
        let corrected = r#"{"owner":"o","title":"t","limit":5}"#;
        let (arguments, notes) = check(&issues(), given).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&arguments).unwrap(),
            serde_json::from_str::<Value>(corrected).unwrap()
        );
        assert_eq!(notes, 1);
        assert_eq!(check(&issues(), &arguments).unwrap().1, 0);
    }

    #[test]
    fn unambiguous_mistakes_are_corrected() {
        let base = |rest: &str| format!(r#"{{"owner":"me","title":"x",{rest}}}"#);
        for (given, sent) in [
            (r#""limit":"5""#, r#""limit":5"#),
            (r#""draft":"true""#, r#""draft":true"#),
            (r#""labels":"[\"a\",\"b\"]""#, r#""labels":["a","b"]"#),
            (r#""labels":"bug""#, r#""labels":["bug"]"#),
            (r#""state":"OPEN""#, r#""state":"open""#),
            (r#""since":"12""#, r#""since":12"#),
            (r#""labels":[1, "b"]"#, r#""labels":["1", "b"]"#),
        ] {
            assert_eq!(check(&issues(), &base(given)), Ok((base(sent), 1)), "{given}");
        }
        assert_eq!(
            check(&issues(), r#"{"owner":7,"title":"x","limit":null}"#),
            Ok((r#"{"owner":"7","title":"x"}"#.to_owned(), 2))
        );
        let number =
            check(&issues(), r#"{"owner":"me","title":"x","limit":"5","since":12345678901234567890}"#);
        assert!(number.is_ok_and(|(sent, _)| sent.contains("12345678901234567890")));
    }

    #[test]
    fn every_fault_is_named() {
        let faults =
            check(&issues(), r#"{"titel":"x","limit":"many","state":"new","labels":{"a":1}}"#).unwrap_err();
        for said in [
            "there is no parameter \"titel\"; did you mean \"title\"?",
            "\"owner\" is missing",
            "\"limit\" must be an integer, not \"many\"",
            "\"state\" must be one of \"open\", \"closed\", not \"new\"",
            "\"labels\" must be an array, not {\"a\":1}",
        ] {
            assert!(faults.iter().any(|fault| fault == said), "{said}: {faults:#?}");
        }
    }

    #[test]
    fn a_skeleton_keeps_the_valid_arguments() {
        let given = Raw::from_string(r#"{"titel":"x","owner":"me","limit":"many"}"#.into()).unwrap();
        let misfit = issues().check(&given).unwrap_err();
        assert_eq!(misfit.skeleton, r#"{"owner":"me","limit":0,"title":"…"}"#);
    }

    /// A string keeps its digits, and a number its value; a lossy correction is refused.
    #[test]
    fn a_number_is_corrected_only_without_loss() {
        let tool = tool(
            json!({ "version": { "type": "string" }, "n": { "type": "integer" }, "f": { "type": "number" },
                "d": { "enum": ["1.10", "1.1"] }, "l": { "type": "array" }, "o": { "type": "object" },
                "deep": { "type": "object", "properties": { "n": { "type": "integer" } } } }),
            json!([]),
        );
        for (given, sent) in [
            (r#""version":1.10"#, Some(r#""version":"1.10""#)),
            (r#""version":3.0"#, Some(r#""version":"3.0""#)),
            (r#""version":1e3"#, Some(r#""version":"1e3""#)),
            (r#""version":12345678901234567890123"#, Some(r#""version":"12345678901234567890123""#)),
            (r#""version":-0"#, Some(r#""version":"-0""#)),
            (r#""version":true"#, Some(r#""version":"true""#)),
            (r#""d":1.10"#, Some(r#""d":"1.10""#)),
            (r#""d":1.1"#, Some(r#""d":"1.1""#)),
            (r#""d":1.100"#, None),
            (r#""n":" 5 ""#, Some(r#""n":5"#)),
            (r#""n":"-5""#, Some(r#""n":-5"#)),
            (r#""n":"5.0""#, Some(r#""n":5"#)),
            (r#""n":"9007199254740993""#, Some(r#""n":9007199254740993"#)),
            (r#""n":"18446744073709551615""#, Some(r#""n":18446744073709551615"#)),
            (r#""n":"12345678901234567890123""#, None),
            (r#""n":"1e3""#, None),
            (r#""n":"0x10""#, None),
            (r#""n":"5.7""#, None),
            (r#""n":"-0""#, None),
            (r#""n":"05""#, None),
            (r#""f":"1.50""#, Some(r#""f":1.50"#)),
            (r#""f":"0.1""#, Some(r#""f":0.1"#)),
            (r#""f":"0.1000000000000000055511""#, None),
            (r#""f":"1e400""#, None),
            (r#""f":"12345678901234567890123""#, None),
            (r#""l":1.10"#, Some(r#""l":[1.10]"#)),
            (r#""l":"[1.10, 12345678901234567890123]""#, Some(r#""l":[1.10, 12345678901234567890123]"#)),
            (r#""o":"{\"a\":1.10}""#, Some(r#""o":{"a":1.10}"#)),
            (
                r#""deep":{"n":"5","other":1.10,"big":12345678901234567890123}"#,
                Some(r#""deep":{"n":5,"other":1.10,"big":12345678901234567890123}"#),
            ),
        ] {
            let answer = check(&tool, &format!("{{{given}}}"));
            assert_eq!(
                answer.as_ref().ok().map(|(sent, _)| sent.as_str()),
                sent.map(|sent| format!("{{{sent}}}")).as_deref(),
                "{given}: {answer:?}"
            );
        }
        let raw = Raw::from_string(r#"{"version":1.10}"#.into()).unwrap();
        assert_eq!(tool.check(&raw).unwrap().notes, [r#"version: 1.10 was read as "1.10""#]);
        let both = entry(json!({ "properties": { "d": { "type": "string", "enum": ["1.10", "1.1"] } } }));
        let raw = Raw::from_string(r#"{"d":1.10}"#.into()).unwrap();
        assert_eq!(both.check(&raw).unwrap().notes, [r#"d: 1.10 was read as "1.10""#]);
        let raw = Raw::from_string(r#"{"n":"x","f":1.10,"o":{"a":12345678901234567890123}}"#.into()).unwrap();
        let misfit = tool.check(&raw).unwrap_err();
        assert_eq!(misfit.skeleton, r#"{"n":0,"f":1.10,"o":{"a":12345678901234567890123}}"#);
        let raw = Raw::from_string(r#"{"o":12345678901234567890123}"#.into()).unwrap();
        assert_eq!(
            tool.check(&raw).unwrap_err().faults,
            ["\"o\" must be an object, not 12345678901234567890123"]
        );
    }

    #[test]
    fn a_schema_that_cannot_be_read_refuses_nothing() {
        for schema in [
            json!({ "type": "object", "properties": { "a": { "$ref": "https://example.com/x.json" } } }),
            json!({ "type": "object", "properties": { "a": { "$ref": "#/nowhere" } } }),
            json!({ "type": "object", "properties": { "a": { "type": "strange" } } }),
            json!({ "type": "object", "properties": { "a": { "pattern": "(" } } }),
            json!({ "type": "object", "properties": { "a": { "minimum": "0" } } }),
        ] {
            assert_eq!(check(&entry(schema.clone()), r#"{"a":1}"#), Ok((r#"{"a":1}"#.into(), 0)), "{schema}");
        }
    }

    #[test]
    fn schemas_without_end_and_slow_patterns_do_no_harm() {
        let given = format!(r#"{{"a":"{}!"}}"#, "a".repeat(2_000));
        for schema in [
            json!({ "type": "object", "$ref": "#" }),
            json!({ "type": "object", "allOf": [{ "$ref": "#" }] }),
            json!({ "type": "object", "properties": { "a": { "$ref": "#/properties/a" } } }),
            json!({ "type": "object", "anyOf": [{ "$ref": "#/$defs/x" }], "$defs": { "x": { "anyOf": [{ "$ref": "#" }] } } }),
            json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "^(a+)+$" } } }),
            json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "^(?=(a+)+$)(\\1)*b" } } }),
        ] {
            let tool = entry(schema);
            let _ = check(&tool, &given);
            tool.skeleton();
        }
    }

    /// S39: checks that would take too long are left to the server, and cost nothing here.
    #[test]
    fn arguments_too_complex_to_check_are_passed_on_unchecked() {
        let mut definitions = Map::new();
        for level in 0..60 {
            let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
            let two = json!({ "anyOf": [next, next], "properties": { "x": next, "y": next }, "required": ["x", "y"] });
            definitions.insert(format!("d{level}"), two);
        }
        definitions.insert("d60".into(), json!({ "type": "string" }));
        let endless = json!({ "type": "object", "required": ["a"], "$defs": definitions,
            "properties": { "a": { "$ref": "#/$defs/d0" }, "n": { "type": "integer" } } });
        let tool = entry(endless);
        assert_eq!(check(&tool, r#"{"a":1}"#), Ok((r#"{"a":1}"#.to_owned(), 0)), "not checked");
        assert!(check(&tool, r#"{"n":"five"}"#).is_err(), "what is little to check is checked");
        assert!(tool.skeleton().to_string().len() < 100_000);

        // As wide, as long and as deep as a definition may be.
        let wide: Map<String, Value> =
            (0..4_000).map(|at| (format!("p{at}"), json!({ "type": "string", "maxLength": at }))).collect();
        let tool = entry(json!({ "type": "object", "properties": wide, "additionalProperties": false }));
        assert!(check(&tool, r#"{"p1":"a"}"#).is_ok() && check(&tool, r#"{"q":1}"#).is_err());
        let deep =
            (0..60).fold(json!({ "type": "string" }), |inner, _| json!({ "properties": { "x": inner } }));
        assert!(
            check(&entry(json!({ "type": "object", "properties": { "x": deep } })), r#"{"x":{"x":1}}"#)
                .is_ok()
        );
        let patterns: Map<String, Value> = (0..2_000)
            .map(|at| (format!("p{at}"), json!({ "pattern": format!("\\\\w{{1,{}}}x", at + 1) })))
            .collect();
        assert!(check(&entry(json!({ "type": "object", "properties": patterns })), r#"{"p1":"a"}"#).is_ok());
    }

    #[test]
    fn a_pattern_that_no_linear_engine_knows_is_left_out_alone() {
        let tool = tool(
            json!({ "a": { "type": "string", "pattern": "^(?=.*x)(a+)+$" }, "b": { "type": "string", "pattern": "^b+$" } }),
            json!([]),
        );
        assert!(check(&tool, r#"{"a":"not it","b":"bb"}"#).is_ok());
        assert!(check(&tool, r#"{"a":"not it","b":"x"}"#).is_err(), "the other one is checked as ever");
    }

    #[test]
    fn skeletons_fit_their_schema() {
        for schema in [
            json!({ "type": "object" }),
            json!({ "type": "object", "required": ["a", "b", "c", "d", "e", "f"], "properties": {
                "a": { "type": "string", "minLength": 4 }, "b": { "type": "integer", "minimum": 3, "multipleOf": 2 },
                "c": { "type": "array", "items": { "$ref": "#/$defs/p" }, "minItems": 2 }, "d": { "enum": ["x", "y"] },
                "e": { "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, { "type": "null" }] }, "f": { "const": 3 } },
                "$defs": { "p": { "type": "object", "properties": { "q": { "type": "boolean" } }, "required": ["q"] } } }),
            json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "string" } },
                "oneOf": [{ "required": ["a"] }, { "required": ["b"] }] }),
            json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "string", "pattern": "^x\\d+$", "examples": ["x1"] } } }),
            json!({ "type": "object", "required": ["hidden"] }),
            json!({ "type": "object", "minProperties": 1, "additionalProperties": { "type": "integer" } }),
        ] {
            let tool = entry(schema.clone());
            let skeleton = tool.skeleton();
            assert!(validator(schema.clone()).unwrap().is_valid(&skeleton), "{schema}: {skeleton}");
        }
    }
}
