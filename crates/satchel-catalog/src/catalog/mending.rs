//! Mends JSON schemas at every depth, so that they are JSON Schema 2020-12: model interfaces refuse a whole request for
//! one keyword of one tool. Only what is wrong changes, and only to what its author must have meant; a schema without a
//! fault keeps its bytes. Keywords that nobody here knows stay.

use satchel_mcp::{Raw, RawObject, limits};
use serde_json::value::to_raw_value;

use super::types::{self, TypeMeaning};

/// What a schema becomes.
#[derive(Debug)]
pub(super) enum Mended {
    Right,
    Changed(Box<Raw>),
}

/// What a keyword's value is (JSON Schema 2020-12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keyword {
    /// A text that people read.
    Words,
    /// Any other text.
    Text,
    Number,
    /// A number above 0.
    Step,
    /// A whole number from 0.
    Count,
    Flag,
    Type,
    /// Any values, of which there must be one.
    Values,
    Examples,
    /// Names of properties.
    Required,
    Schema,
    Items,
    /// A list of schemas, of which there must be one.
    Schemas,
    /// Schemas by name.
    Map,
    /// By name, lists of names.
    Requirements,
}

const KEYWORDS: &[(&str, Keyword)] = &[
    ("description", Keyword::Words),
    ("title", Keyword::Words),
    ("$comment", Keyword::Words),
    ("format", Keyword::Text),
    ("pattern", Keyword::Text),
    ("$ref", Keyword::Text),
    ("$id", Keyword::Text),
    ("$schema", Keyword::Text),
    ("$anchor", Keyword::Text),
    ("$dynamicRef", Keyword::Text),
    ("$dynamicAnchor", Keyword::Text),
    ("contentEncoding", Keyword::Text),
    ("contentMediaType", Keyword::Text),
    ("minimum", Keyword::Number),
    ("maximum", Keyword::Number),
    ("exclusiveMinimum", Keyword::Number),
    ("exclusiveMaximum", Keyword::Number),
    ("multipleOf", Keyword::Step),
    ("minLength", Keyword::Count),
    ("maxLength", Keyword::Count),
    ("minItems", Keyword::Count),
    ("maxItems", Keyword::Count),
    ("minProperties", Keyword::Count),
    ("maxProperties", Keyword::Count),
    ("minContains", Keyword::Count),
    ("maxContains", Keyword::Count),
    ("uniqueItems", Keyword::Flag),
    ("readOnly", Keyword::Flag),
    ("writeOnly", Keyword::Flag),
    ("deprecated", Keyword::Flag),
    ("type", Keyword::Type),
    ("enum", Keyword::Values),
    ("examples", Keyword::Examples),
    ("required", Keyword::Required),
    ("items", Keyword::Items),
    ("additionalItems", Keyword::Schema),
    ("additionalProperties", Keyword::Schema),
    ("unevaluatedItems", Keyword::Schema),
    ("unevaluatedProperties", Keyword::Schema),
    ("propertyNames", Keyword::Schema),
    ("contains", Keyword::Schema),
    ("contentSchema", Keyword::Schema),
    ("not", Keyword::Schema),
    ("if", Keyword::Schema),
    ("then", Keyword::Schema),
    ("else", Keyword::Schema),
    ("anyOf", Keyword::Schemas),
    ("oneOf", Keyword::Schemas),
    ("allOf", Keyword::Schemas),
    ("prefixItems", Keyword::Schemas),
    ("properties", Keyword::Map),
    ("patternProperties", Keyword::Map),
    ("dependentSchemas", Keyword::Map),
    ("$defs", Keyword::Map),
    ("definitions", Keyword::Map),
    ("dependentRequired", Keyword::Requirements),
];

/// Mends a schema.
///
/// # Errors
/// What cannot be mended, as the rest of a sentence that begins with the schema's name.
pub(super) fn mend(raw: &Raw) -> Result<Mended, String> {
    let schema = SchemaReader { lists_are_tuples: is_older(raw) };
    let mended = schema.object(raw, 0)?;
    Ok(mended.schema.map_or(Mended::Right, Mended::Changed))
}

/// Does the schema name a draft in which `items` may be a list?
fn is_older(raw: &Raw) -> bool {
    let named = RawObject::parse(raw).ok().and_then(|fields| fields.text("$schema")).unwrap_or_default();
    ["draft-06", "draft-07", "2019-09"].iter().any(|draft| named.contains(draft))
}

/// One schema inside of another.
#[derive(Default)]
struct MendedPart {
    /// If it changed.
    schema: Option<Box<Raw>>,
    /// `"required": true` in the schema of a property, which belongs to the schema around it.
    required: Option<bool>,
}

/// What becomes of a keyword.
enum Edit {
    Stays,
    Becomes(Box<Raw>),
    Goes,
    /// It goes, and these take its place.
    Instead(Vec<(&'static str, Box<Raw>)>),
}

struct SchemaReader {
    lists_are_tuples: bool,
}

impl SchemaReader {
    /// Mends the schema in a place where only an object is allowed.
    fn object(&self, raw: &Raw, depth: usize) -> Result<MendedPart, String> {
        if depth > limits::SCHEMA_DEPTH {
            return Err(format!("nests deeper than {} levels", limits::SCHEMA_DEPTH));
        }
        // One with a key twice is read by every client in some way.
        let Ok(mut fields) = RawObject::parse(raw) else { return Ok(MendedPart::default()) };
        let mut changed = limits_of_draft_4(&mut fields);
        let mut part = MendedPart::default();
        let mut needed = Vec::new();
        for (name, keyword) in KEYWORDS {
            let Some(value) = fields.get(name) else { continue };
            if *keyword == Keyword::Required
                && let Some(required) = flag(value)
            {
                part.required = Some(required);
                fields.remove(name);
                changed = true;
                continue;
            }
            let edit = match keyword {
                Keyword::Map => self.map(name, value, depth, &mut needed)?,
                keyword => self.keyword(*keyword, name, value, depth)?,
            };
            match edit {
                Edit::Stays => continue,
                Edit::Becomes(value) => fields.set(name, value),
                Edit::Goes => drop(fields.remove(name)),
                Edit::Instead(others) => {
                    fields.remove(name);
                    for (name, value) in others {
                        if name_is_free(&fields, name) {
                            fields.set(name, value);
                        }
                    }
                }
            }
            changed = true;
        }
        changed |= require(&mut fields, &needed);
        part.schema = changed.then(|| fields.to_raw());
        Ok(part)
    }

    /// Mends what stands where a schema belongs.
    fn schema(&self, raw: &Raw, depth: usize) -> Result<MendedPart, String> {
        let written = |json: &str| Raw::from_string(json.to_owned()).ok();
        let schema = match raw.get().as_bytes().first() {
            Some(b'{') => return self.object(raw, depth),
            Some(b't' | b'f') => None,
            Some(b'n') => written("{}"),
            Some(b'[') if is_empty(raw) => written("{}"),
            // A type, or a list of types, instead of a schema.
            Some(b'"' | b'[') => match types::of(raw) {
                TypeMeaning::Right => Some(type_alone(raw.to_owned())),
                TypeMeaning::Become(types) => Some(type_alone(types)),
                TypeMeaning::List(items) => Some(list_of(items)),
                TypeMeaning::Anything => written("{}"),
                TypeMeaning::Unknown if raw.get().starts_with('"') => {
                    let mut schema = RawObject::new();
                    schema.set("description", raw.to_owned());
                    Some(schema.to_raw())
                }
                TypeMeaning::Unknown => return Err("has a list where a schema belongs".to_owned()),
            },
            _ => return Err(format!("has {} where a schema belongs", shown(raw))),
        };
        Ok(MendedPart { schema, required: None })
    }

    fn keyword(&self, keyword: Keyword, name: &str, value: &Raw, depth: usize) -> Result<Edit, String> {
        if value.get() == "null" {
            return Ok(Edit::Goes);
        }
        Ok(match keyword {
            Keyword::Words => words(value),
            Keyword::Text => keep_if(value.get().starts_with('"')),
            Keyword::Number => number(value, |_| true),
            Keyword::Step => number(value, |number| number > 0.0),
            Keyword::Count => number(value, |number| number >= 0.0 && number.fract() == 0.0),
            Keyword::Flag => match (value.get(), flag(value)) {
                ("true" | "false", _) => Edit::Stays,
                (_, Some(flag)) => becomes(&flag),
                (_, None) => Edit::Goes,
            },
            Keyword::Type => match types::of(value) {
                TypeMeaning::Right => Edit::Stays,
                TypeMeaning::Become(types) => Edit::Becomes(types),
                TypeMeaning::List(items) => match RawObject::parse(&list_of(items)) {
                    Ok(mut list) => Edit::Instead(
                        ["type", "items"]
                            .into_iter()
                            .filter_map(|name| Some((name, list.remove(name)?)))
                            .collect(),
                    ),
                    Err(_) => Edit::Goes,
                },
                TypeMeaning::Anything | TypeMeaning::Unknown => Edit::Goes,
            },
            Keyword::Values => values(value),
            Keyword::Examples => match value.get().starts_with('[') {
                true => Edit::Stays,
                false => becomes(&[value]),
            },
            Keyword::Required => names(value),
            Keyword::Items if value.get().starts_with('[') && !is_empty(value) => self.tuple(value, depth)?,
            // An empty list is anything, and not anything is nothing.
            Keyword::Schema if name == "not" && is_empty(value) => Edit::Goes,
            Keyword::Items | Keyword::Schema => match flag(value) {
                Some(_) if value.get().starts_with(['t', 'f']) => Edit::Stays,
                Some(flag) => becomes(&flag),
                None => self.schema(value, depth + 1)?.schema.map_or(Edit::Stays, Edit::Becomes),
            },
            Keyword::Schemas => self.schemas(name, value, depth)?,
            Keyword::Requirements => requirements(value),
            Keyword::Map => Edit::Stays,
        })
    }

    /// A list in `items`: its first, second and further items, as earlier drafts wrote them.
    fn tuple(&self, value: &Raw, depth: usize) -> Result<Edit, String> {
        if let TypeMeaning::Become(_) | TypeMeaning::Right = types::of(value) {
            // Names of types, of any of which the items may be.
            return Ok(self.schema(value, depth + 1)?.schema.map_or(Edit::Stays, Edit::Becomes));
        }
        let mended = self.schemas("items", value, depth)?;
        if self.lists_are_tuples {
            return Ok(mended);
        }
        Ok(match mended {
            Edit::Stays => Edit::Instead(vec![("prefixItems", value.to_owned())]),
            Edit::Becomes(list) => Edit::Instead(vec![("prefixItems", list)]),
            other => other,
        })
    }

    fn schemas(&self, name: &str, value: &Raw, depth: usize) -> Result<Edit, String> {
        let (items, mut changed) = match list(value) {
            Some(items) => (items, !value.get().starts_with('[')),
            None if value.get().starts_with('{') => (vec![value.to_owned()], true),
            None => return Err(format!("has {} in \"{name}\", which is a list of schemas", shown(value))),
        };
        if items.is_empty() {
            return Ok(Edit::Goes);
        }
        let mut schemas = Vec::with_capacity(items.len());
        for item in items {
            // One alternative that is null means that null is one.
            let item = match item.get() {
                "null" => type_alone(to_raw("null")),
                _ => item,
            };
            let mended = self.schema(&item, depth + 1)?.schema;
            changed |= mended.is_some();
            schemas.push(mended.unwrap_or(item));
        }
        // An alternative that was null has changed too.
        changed |= value.get().contains("null") && list(value).is_some_and(|items| has_null(&items));
        Ok(if changed { becomes(&schemas) } else { Edit::Stays })
    }

    /// Schemas by name. Adds the names that say of themselves that they are required.
    fn map(
        &self,
        name: &str,
        value: &Raw,
        depth: usize,
        needed: &mut Vec<(String, bool)>,
    ) -> Result<Edit, String> {
        let (mut schemas, mut changed) = match value.get().as_bytes().first() {
            Some(b'n') => return Ok(Edit::Goes),
            Some(b'{') => match RawObject::parse(value) {
                Ok(schemas) => (schemas, false),
                Err(_) => return Ok(Edit::Stays),
            },
            _ => match by_name(value) {
                Some(schemas) => (schemas, true),
                None => return Err(format!("has {} in \"{name}\", which is an object", shown(value))),
            },
        };
        let names: Vec<String> = schemas.iter().map(|(name, _)| name.to_owned()).collect();
        for own in names {
            let Some(schema) = schemas.get(&own) else { continue };
            let part = match (name, schema.get()) {
                // These are schemas too, but few clients know them: anything, and nothing.
                ("properties", "true") => {
                    MendedPart { schema: Raw::from_string("{}".to_owned()).ok(), required: None }
                }
                ("properties", "false") => {
                    MendedPart { schema: Raw::from_string(r#"{"not":{}}"#.to_owned()).ok(), required: None }
                }
                _ => self.schema(schema, depth + 1).map_err(|fault| format!("{fault} (at {own:?})"))?,
            };
            if let Some(schema) = part.schema {
                schemas.set(&own, schema);
                changed = true;
            }
            if let Some(required) = part.required.filter(|_| name == "properties") {
                needed.push((own, required));
            }
        }
        Ok(if changed { Edit::Becomes(schemas.to_raw()) } else { Edit::Stays })
    }
}

fn name_is_free(fields: &RawObject, name: &str) -> bool {
    fields.get(name).is_none_or(|value| value.get() == "null")
}

/// In draft 4, `exclusiveMinimum` says whether `minimum` itself is excluded.
fn limits_of_draft_4(fields: &mut RawObject) -> bool {
    let mut changed = false;
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        let Some(excluded) = fields.get(exclusive).and_then(flag) else { continue };
        changed = true;
        match fields.get(bound).map(ToOwned::to_owned).filter(|_| excluded) {
            Some(value) => {
                fields.remove(bound);
                fields.set(exclusive, value);
            }
            None => drop(fields.remove(exclusive)),
        }
    }
    // The draft in which numbers there would be wrong.
    if fields.text("$schema").is_some_and(|named| named.contains("draft-04") || named.contains("draft-03"))
        && changed
    {
        fields.remove("$schema");
    }
    changed
}

/// Adds to the required names those whose schemas say so.
fn require(fields: &mut RawObject, needed: &[(String, bool)]) -> bool {
    let mut names: Vec<String> = fields.read("required").unwrap_or_default();
    let new = needed.iter().filter(|(name, required)| *required && !names.contains(name));
    let new: Vec<String> = new.map(|(name, _)| name.clone()).collect();
    if new.is_empty() {
        return false;
    }
    names.extend(new);
    fields.put("required", &names);
    true
}

/// Schemas that stand in a list with their names: `[]` for `{}`, or `[{"name": "a", "type": "string"}]`.
fn by_name(value: &Raw) -> Option<RawObject> {
    let items: Vec<Box<Raw>> = serde_json::from_str(value.get()).ok()?;
    let mut schemas = RawObject::new();
    for item in items {
        let mut schema = RawObject::parse(&item).ok()?;
        let name = schema.text("name").filter(|name| !name.is_empty() && schemas.get(name).is_none())?;
        schema.remove("name");
        schemas.set(&name, schema.to_raw());
    }
    Some(schemas)
}

/// A list; also one that PHP wrote as an object because its keys had gaps. `None` for anything else.
fn list(value: &Raw) -> Option<Vec<Box<Raw>>> {
    if value.get().starts_with('[') {
        return serde_json::from_str(value.get()).ok();
    }
    let fields = RawObject::parse(value).ok()?;
    let is_place = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let all = fields.iter().all(|(name, _)| is_place(name));
    all.then(|| fields.iter().map(|(_, value)| value.to_owned()).collect())
}

fn has_null(items: &[Box<Raw>]) -> bool {
    items.iter().any(|item| item.get() == "null")
}

fn is_empty(value: &Raw) -> bool {
    value.get().trim_matches(['[', ']']).trim().is_empty()
}

/// `true`, `"true"` and the like.
fn flag(value: &Raw) -> Option<bool> {
    match value.get().trim_matches('"').to_ascii_lowercase().as_str() {
        "true" | "yes" => Some(true),
        "false" | "no" => Some(false),
        _ => None,
    }
}

fn words(value: &Raw) -> Edit {
    match value.get().as_bytes().first() {
        Some(b'"') => Edit::Stays,
        Some(b'[') => match serde_json::from_str::<Vec<String>>(value.get()) {
            Ok(lines) if !lines.is_empty() => becomes(&lines.join("\n")),
            Ok(_) | Err(_) => Edit::Goes,
        },
        Some(b'{') | None => Edit::Goes,
        Some(_) => becomes(&value.get()),
    }
}

fn keep_if(right: bool) -> Edit {
    if right { Edit::Stays } else { Edit::Goes }
}

/// A number that fits; also one that is written as a text.
fn number(value: &Raw, fits: impl Fn(f64) -> bool) -> Edit {
    // One beyond a float's range is a number too.
    let is_number = |text: &str| match serde_json::from_str::<f64>(text) {
        Ok(number) => fits(number),
        Err(_) => text.starts_with(|c: char| c == '-' || c.is_ascii_digit()),
    };
    let read = |text: &str| Raw::from_string(text.to_owned()).ok().filter(|_| is_number(text));
    match serde_json::from_str::<String>(value.get()) {
        Ok(text) => read(text.trim()).map_or(Edit::Goes, Edit::Becomes),
        Err(_) => keep_if(read(value.get()).is_some()),
    }
}

/// The values of an enumeration, each once.
fn values(value: &Raw) -> Edit {
    let (items, mut changed) = match list(value) {
        Some(items) => (items, !value.get().starts_with('[')),
        None => match RawObject::parse(value) {
            // The values of a map of constants.
            Ok(fields) => (fields.iter().map(|(_, value)| value.to_owned()).collect(), true),
            Err(_) => (vec![value.to_owned()], true),
        },
    };
    let mut seen: Vec<Box<Raw>> = Vec::with_capacity(items.len());
    let mut known = std::collections::HashSet::new();
    for item in items {
        match known.insert(item.get().to_owned()) {
            true => seen.push(item),
            false => changed = true,
        }
    }
    match (seen.is_empty(), changed) {
        (true, _) => Edit::Goes,
        (false, true) => becomes(&seen),
        (false, false) => Edit::Stays,
    }
}

/// Names of properties, each once.
fn names(value: &Raw) -> Edit {
    let (items, mut changed): (Vec<Box<Raw>>, bool) = match list(value) {
        Some(items) => (items, !value.get().starts_with('[')),
        None => match RawObject::parse(value) {
            // By name, whether it is required.
            Ok(fields) => {
                let required = fields.iter().filter(|(_, value)| flag(value) == Some(true));
                (required.map(|(name, _)| to_raw(name)).collect(), true)
            }
            Err(_) => (vec![value.to_owned()], true),
        },
    };
    let mut names: Vec<String> = Vec::with_capacity(items.len());
    for item in items {
        match serde_json::from_str::<String>(item.get()) {
            Ok(name) if !names.contains(&name) => names.push(name),
            Ok(_) | Err(_) => changed = true,
        }
    }
    if changed { becomes(&names) } else { Edit::Stays }
}

fn requirements(value: &Raw) -> Edit {
    if is_empty(value) {
        return Edit::Becomes(RawObject::new().to_raw());
    }
    let Ok(fields) = RawObject::parse(value) else { return Edit::Goes };
    let (mut lists, mut changed) = (fields.clone(), false);
    for (name, value) in fields.iter() {
        match names(value) {
            Edit::Becomes(names) => lists.set(name, names),
            Edit::Stays => continue,
            Edit::Goes | Edit::Instead(_) => drop(lists.remove(name)),
        }
        changed = true;
    }
    if changed { Edit::Becomes(lists.to_raw()) } else { Edit::Stays }
}

/// `{"type": …}`
fn type_alone(types: Box<Raw>) -> Box<Raw> {
    let mut schema = RawObject::new();
    schema.set("type", types);
    schema.to_raw()
}

/// `{"type": "array", "items": {"type": …}}`
fn list_of(items: Option<Box<Raw>>) -> Box<Raw> {
    let mut schema = RawObject::new();
    schema.put("type", "array");
    if let Some(items) = items {
        schema.set("items", type_alone(items));
    }
    schema.to_raw()
}

fn becomes(value: &(impl serde::Serialize + ?Sized)) -> Edit {
    to_raw_value(value).map_or(Edit::Goes, Edit::Becomes)
}

fn to_raw(text: &str) -> Box<Raw> {
    to_raw_value(text).expect("texts always serialize")
}

/// The beginning of a value.
fn shown(value: &Raw) -> String {
    value.get().chars().take(40).flat_map(char::escape_default).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(json: &str) -> Result<Option<String>, String> {
        match mend(&Raw::from_string(json.to_owned()).unwrap())? {
            Mended::Right => Ok(None),
            Mended::Changed(schema) => Ok(Some(schema.get().to_owned())),
        }
    }

    /// What each becomes, and that it is right then. Inside of every place where a schema may stand.
    fn check(cases: &[(&str, &str)]) {
        for (wrong, right) in cases {
            assert_eq!(mended(wrong), Ok(Some((*right).to_owned())), "{wrong}");
            assert_eq!(mended(right), Ok(None), "{right}");
            for (before, after) in [
                (r#"{"properties":{"x":"#, "}}"),
                (r#"{"items":"#, "}"),
                (r#"{"anyOf":["#, r#",{"type":"null"}]}"#),
                (r#"{"$defs":{"a":{"additionalProperties":"#, "}}}"),
                (r#"{"allOf":[{"not":{"patternProperties":{"^x":"#, "}}}]}"),
                (r#"{"prefixItems":["#, "]}"),
                (r#"{"if":{"definitions":{"a":{"then":"#, "}}}}"),
            ] {
                let inside = |schema: &str| [before, schema, after].concat();
                assert_eq!(mended(&inside(wrong)), Ok(Some(inside(right))), "{}", inside(wrong));
            }
        }
    }

    #[test]
    fn an_empty_list_is_an_object_and_the_other_way_round() {
        check(&[
            (r#"{"properties":[]}"#, r#"{"properties":{}}"#),
            (r#"{"properties":[ ],"required":{}}"#, r#"{"properties":{},"required":[]}"#),
            (r#"{"items":[]}"#, r#"{"items":{}}"#),
            (r#"{"additionalProperties":[]}"#, r#"{"additionalProperties":{}}"#),
            (r#"{"$defs":[],"patternProperties":[]}"#, r#"{"$defs":{},"patternProperties":{}}"#),
            (r#"{"properties":{"a":[]}}"#, r#"{"properties":{"a":{}}}"#),
            (r#"{"anyOf":[[]]}"#, r#"{"anyOf":[{}]}"#),
            (r#"{"anyOf":{},"title":"t"}"#, r#"{"title":"t"}"#),
            (r#"{"oneOf":{"type":"string"}}"#, r#"{"oneOf":[{"type":"string"}]}"#),
            (r#"{"enum":{"0":"a","2":"b"}}"#, r#"{"enum":["a","b"]}"#),
            (r#"{"required":{"0":"a","2":"b"}}"#, r#"{"required":["a","b"]}"#),
            (r#"{"required":{"a":true,"b":false}}"#, r#"{"required":["a"]}"#),
            (r#"{"dependentRequired":[]}"#, r#"{"dependentRequired":{}}"#),
            (r#"{"properties":[{"name":"a","type":"string"}]}"#, r#"{"properties":{"a":{"type":"string"}}}"#),
        ]);
    }

    #[test]
    fn a_name_that_is_no_type_becomes_the_type_that_is_meant() {
        check(&[
            (r#"{"type":"int"}"#, r#"{"type":"integer"}"#),
            (r#"{"type":"Integer"}"#, r#"{"type":"integer"}"#),
            (r#"{"type":"float"}"#, r#"{"type":"number"}"#),
            (r#"{"type":"str","x":1.0}"#, r#"{"type":"string","x":1.0}"#),
            (r#"{"type":"bool"}"#, r#"{"type":"boolean"}"#),
            (r#"{"type":"list"}"#, r#"{"type":"array"}"#),
            (r#"{"type":"dict"}"#, r#"{"type":"object"}"#),
            (r#"{"type":"any","title":"t"}"#, r#"{"title":"t"}"#),
            (r#"{"type":"ServerConfig"}"#, "{}"),
            (r#"{"type":["int",null]}"#, r#"{"type":["integer","null"]}"#),
            (r#"{"type":"string|null"}"#, r#"{"type":["string","null"]}"#),
            (r#"{"type":[]}"#, "{}"),
            (r#"{"type":null}"#, "{}"),
            (r#"{"type":["string","string"]}"#, r#"{"type":["string"]}"#),
            (r#"{"type":"string[]"}"#, r#"{"type":"array","items":{"type":"string"}}"#),
            (r#"{"type":"list[int]","items":{"type":"x"}}"#, r#"{"items":{},"type":"array"}"#),
            (r#"{"properties":{"a":"int"}}"#, r#"{"properties":{"a":{"type":"integer"}}}"#),
            (
                r#"{"properties":{"a":["string","null"]}}"#,
                r#"{"properties":{"a":{"type":["string","null"]}}}"#,
            ),
            (r#"{"properties":{"a":"the city"}}"#, r#"{"properties":{"a":{"description":"the city"}}}"#),
            (r#"{"items":"str"}"#, r#"{"items":{"type":"string"}}"#),
        ]);
    }

    #[test]
    fn what_earlier_drafts_and_other_programs_write_is_written_as_today() {
        check(&[
            (r#"{"minimum":1.50,"exclusiveMinimum":true}"#, r#"{"exclusiveMinimum":1.50}"#),
            (r#"{"maximum":5,"exclusiveMaximum":false}"#, r#"{"maximum":5}"#),
            (r#"{"exclusiveMaximum":true,"title":"t"}"#, r#"{"title":"t"}"#),
            (r#"{"minLength":"3","maximum":"1e2"}"#, r#"{"minLength":3,"maximum":1e2}"#),
            (r#"{"minLength":-1,"maxItems":1.5,"multipleOf":0,"minimum":"much"}"#, "{}"),
            (r#"{"uniqueItems":"true","deprecated":"maybe"}"#, r#"{"uniqueItems":true}"#),
            (r#"{"additionalProperties":"false"}"#, r#"{"additionalProperties":false}"#),
            (r#"{"enum":[]}"#, "{}"),
            (r#"{"enum":["a","a",1,1.0]}"#, r#"{"enum":["a",1,1.0]}"#),
            (r#"{"enum":"a"}"#, r#"{"enum":["a"]}"#),
            (r#"{"description":null,"title":5,"pattern":[],"format":true}"#, r#"{"title":"5"}"#),
            (r#"{"description":["one","two"]}"#, r#"{"description":"one\ntwo"}"#),
            (r#"{"items":null,"anyOf":null,"enum":null,"$ref":null,"required":null}"#, "{}"),
            (r#"{"anyOf":[{"type":"string"},null]}"#, r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#),
            (r#"{"anyOf":[]}"#, "{}"),
            (r#"{"examples":"a"}"#, r#"{"examples":["a"]}"#),
            (r#"{"items":[{"type":"int"},{}]}"#, r#"{"prefixItems":[{"type":"integer"},{}]}"#),
            (r#"{"required":["a",5,"a"]}"#, r#"{"required":["a"]}"#),
            (r#"{"required":"a"}"#, r#"{"required":["a"]}"#),
        ]);
    }

    #[test]
    fn required_at_a_property_goes_into_the_list_of_the_schema_around_it() {
        check(&[
            (
                r#"{"properties":{"a":{"type":"string","required":true},"b":{"required":false}}}"#,
                r#"{"properties":{"a":{"type":"string"},"b":{}},"required":["a"]}"#,
            ),
            (
                r#"{"required":["b"],"properties":{"a":{"required":"true"},"b":{"required":true}}}"#,
                r#"{"required":["b","a"],"properties":{"a":{},"b":{}}}"#,
            ),
            (
                r#"{"properties":{"o":{"type":"object","required":true,"properties":{"i":{"required":true}}}}}"#,
                r#"{"properties":{"o":{"type":"object","properties":{"i":{}},"required":["i"]}},"required":["o"]}"#,
            ),
            // A property may be called so.
            (
                r#"{"properties":{"required":{"type":"bool"},"type":{"type":"str"}}}"#,
                r#"{"properties":{"required":{"type":"boolean"},"type":{"type":"string"}}}"#,
            ),
        ]);
    }

    #[test]
    fn a_schema_without_a_fault_keeps_its_bytes() {
        for right in [
            "{}",
            r#"{ "type" : "object", "properties": {"a": {"type": ["string", "null"], "default": null, "const": null}}, "own": null }"#,
            r#"{"maximum":1e400,"minimum":-0.0,"multipleOf":0.10}"#,
            r#"{"properties":{"a":{"enum":[null,1,"x"],"minimum":1.0,"maxLength":5.0,"multipleOf":0.5}},"required":[]}"#,
            r#"{"additionalProperties":false,"unevaluatedProperties":true,"items":true,"not":{}}"#,
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}"#,
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"array"}},"nullable":true,"example":5}"##,
            r#"{"a":1,"a":2,"type":"int"}"#,
            r#"{"default":[],"const":{"type":"int","properties":[]},"examples":[{"required":true}]}"#,
        ] {
            assert_eq!(mended(right), Ok(None), "{right}");
        }
    }

    #[test]
    fn what_cannot_be_mended_is_told() {
        for (wrong, part) in [
            (r#"{"properties":"none"}"#, "in \"properties\""),
            (r#"{"properties":[1,2]}"#, "in \"properties\""),
            (r#"{"properties":{"a":5}}"#, "has 5 where a schema belongs (at \"a\")"),
            (r#"{"anyOf":5}"#, "in \"anyOf\""),
        ] {
            let told = mended(wrong).unwrap_err();
            assert!(told.contains(part), "{wrong}: {told}");
        }
        let deep = format!("{}{{}}{}", r#"{"items":"#.repeat(100), "}".repeat(100));
        assert!(mended(&deep).unwrap_err().contains("deeper"));
    }
}
