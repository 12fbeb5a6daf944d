//! Renders a tool as a one-line signature: `create_issue(owner: string, title: string, labels?: string[]) -> {number,
//! url}`.
//!
//! What does not fit in one line is left out, and the signature says that it misleads: then the caller needs the schema.

use std::{cell::Cell, fmt::Write};

use satchel_mcp::{Raw, RawObject};
use serde_json::Value;

use super::shape::Shape;

/// Objects nested deeper are written as `object`.
const NESTING: usize = 3;
/// Maximum number of listed values.
const VALUES: usize = 12;
/// Length in bytes above which optional parameters are left out.
const LONG: usize = 900;
/// Maximum length of an output type; a longer one is reduced to names.
const OUTPUT: usize = 400;
/// Maximum length of a pattern.
const PATTERN: usize = 32;
/// Maximum nesting, and total number, of schemas: a recursive one has no end.
const DEPTH: usize = 16;
const SCHEMAS: usize = 1_000;
/// Maximum length of a chain of references.
const HOPS: usize = 8;

/// A call signature on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The line.
    pub line: String,
    /// May a correct call require something that the line does not say?
    pub misleads: bool,
}

/// The signature of a tool from its complete definition.
pub fn of(name: &str, definition: &Raw) -> Signature {
    written_in(name, definition, LONG, true)
}

/// The same without some optional parameters, of about this length, and without the result.
pub fn shorter(name: &str, definition: &Raw, bytes: usize) -> Signature {
    written_in(name, definition, bytes, false)
}

/// The same for a script that uses the result: of about this length, with output types from the schema or from earlier
/// results.
pub fn typed(name: &str, definition: &Raw, bytes: usize, seen: Option<&Shape>) -> Signature {
    let mut signature = written_in(name, definition, bytes, false);
    let fields = RawObject::parse(definition).unwrap_or_default();
    let schema = fields.get("outputSchema").and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    if let Some(schema) = schema {
        let writer = Writer::new(&schema);
        let types = writer.kind(&schema, 1);
        let shape = if types.len() <= OUTPUT { types } else { writer.shape() };
        if shape.len() <= LONG {
            signature.line.push_str(" -> ");
            signature.line.push_str(&shape);
        }
    } else if let Some(seen) = seen {
        let _ = write!(signature.line, " -> {} (seen)", seen.line(OUTPUT));
    }
    signature
}

fn written_in(name: &str, definition: &Raw, most: usize, output: bool) -> Signature {
    let fields = RawObject::parse(definition).unwrap_or_default();
    let schema = |key: &str| fields.get(key).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    let input = schema("inputSchema").unwrap_or_default();
    let writer = Writer::new(&input);
    let mut line = format!("{name}({})", writer.parameters(most));
    if let Some(output) = schema("outputSchema").filter(|_| output) {
        // The caller sees the result anyway; abbreviating its type misleads nobody.
        let shape = Writer::new(&output).shape();
        if shape.len() <= LONG {
            line.push_str(" -> ");
            line.push_str(&shape);
        }
    }
    Signature { line, misleads: writer.misleads.get() }
}

/// Writes one schema, and notes when something is lost.
struct Writer<'a> {
    root: &'a Value,
    misleads: Cell<bool>,
    depth: Cell<usize>,
    written: Cell<usize>,
}

impl<'a> Writer<'a> {
    fn new(root: &'a Value) -> Self {
        Self { root, misleads: Cell::new(false), depth: Cell::new(0), written: Cell::new(0) }
    }

    fn lost(&self, instead: &str) -> String {
        self.misleads.set(true);
        instead.to_owned()
    }

    fn parameters(&self, most: usize) -> String {
        let input = self.resolve(self.root);
        // Alternatives and conditions cannot be expressed in a parameter list.
        if conditions(input) {
            self.misleads.set(true);
        }
        let (needed, mut rest) = self.members(input, 1);
        let mut all = needed;
        let mut length: usize = all.iter().map(|member| member.len() + 2).sum();
        rest.retain(|member| {
            length += member.len() + 2;
            length <= most || {
                self.misleads.set(true);
                false
            }
        });
        all.append(&mut rest);
        if length > most && self.misleads.get() {
            all.push("…".to_owned());
        }
        if all.is_empty()
            && let Some(any) = self.any_names(input, 1)
        {
            all.push(any);
        }
        all.join(", ")
    }

    /// Required and optional parameters.
    fn members(&self, schema: &'a Value, level: usize) -> (Vec<String>, Vec<String>) {
        let properties: Vec<(&String, &Value)> =
            schema.get("properties").and_then(Value::as_object).into_iter().flatten().collect();
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let (mut needed, mut rest) = (Vec::new(), Vec::new());
        for (name, schema) in &properties {
            if required.contains(&name.as_str()) {
                needed.push(format!("{}: {}", written(name), self.kind(schema, level)));
            } else {
                let default = schema.get("default").or_else(|| self.resolve(schema).get("default"));
                let default = default.filter(|value| is_short(value));
                let default = default.map(|value| format!(" = {value}")).unwrap_or_default();
                rest.push(format!("{}?: {}{default}", written(name), self.kind(schema, level)));
            }
        }
        let unknown =
            required.iter().filter(|name| !properties.iter().any(|(known, _)| known.as_str() == **name));
        needed.extend(unknown.map(|name| format!("{}: any", written(name))));
        (needed, rest)
    }

    /// An object whose keys the caller chooses.
    fn any_names(&self, schema: &'a Value, level: usize) -> Option<String> {
        match schema.get("additionalProperties") {
            Some(Value::Bool(true)) => Some("[name]: any".to_owned()),
            Some(values @ Value::Object(_)) => Some(format!("[name]: {}", self.kind(values, level + 1))),
            _ => None,
        }
    }

    /// An output as a list of its field names.
    fn shape(&self) -> String {
        match self.resolve(self.root).get("properties").and_then(Value::as_object) {
            Some(properties) => {
                let names: Vec<String> = properties.keys().map(|name| written(name)).collect();
                format!("{{{}}}", names.join(", "))
            }
            None => self.kind(self.root, 1),
        }
    }

    fn kind(&self, schema: &'a Value, level: usize) -> String {
        if self.depth.get() >= DEPTH || self.written.get() >= SCHEMAS {
            return self.lost("any");
        }
        self.written.set(self.written.get() + 1);
        self.depth.set(self.depth.get() + 1);
        let kind = self.kind_within(schema, level);
        self.depth.set(self.depth.get() - 1);
        kind
    }

    fn kind_within(&self, schema: &'a Value, level: usize) -> String {
        let schema = self.resolve(schema);
        if let Some(value) = schema.get("const") {
            return value.to_string();
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return self.values(values);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(choices) = schema.get(key).and_then(Value::as_array) {
                return self.choices(schema, choices, level);
            }
        }
        match schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
            // How some generators write a reference with a description.
            Some([only]) if schema.get("properties").is_none() => return self.kind(only, level),
            Some(_) => return self.lost("object"),
            None => {}
        }
        let kind = match schema.get("type") {
            Some(Value::String(name)) => self.one(name, schema, level),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                names.map(|name| self.one(name, schema, level)).collect::<Vec<_>>().join(" | ")
            }
            _ if schema.get("properties").is_some() => self.one("object", schema, level),
            _ if schema.get("items").is_some() => self.one("array", schema, level),
            _ if says_nothing(schema) => "any".to_owned(),
            _ => self.lost("any"),
        };
        if schema.get("nullable") == Some(&Value::Bool(true)) { format!("{kind} | null") } else { kind }
    }

    fn values(&self, values: &[Value]) -> String {
        let mut shown: Vec<String> = values.iter().take(VALUES).map(Value::to_string).collect();
        if values.len() > VALUES {
            shown.push(self.lost("…"));
        }
        shown.join(" | ")
    }

    fn choices(&self, schema: &'a Value, choices: &'a [Value], level: usize) -> String {
        if schema.get("properties").is_some() {
            return self.lost("object");
        }
        let mut kinds: Vec<String> = Vec::new();
        for choice in choices {
            let kind = self.kind(choice, level);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds.join(" | ")
    }

    fn one(&self, name: &str, schema: &'a Value, level: usize) -> String {
        match name {
            "array" => self.array(schema, level),
            "object" => self.object(schema, level),
            "integer" => format!("int{}", range(schema)),
            "number" => format!("number{}", range(schema)),
            "string" => self.string(schema),
            other => other.to_owned(),
        }
    }

    fn array(&self, schema: &'a Value, level: usize) -> String {
        if let Some(items) = schema.get("prefixItems").and_then(Value::as_array) {
            let items: Vec<String> = items.iter().map(|item| self.kind(item, level)).collect();
            return format!("[{}]", items.join(", "));
        }
        let item = schema.get("items").map_or_else(|| "any".to_owned(), |items| self.kind(items, level));
        if item.contains(" | ") && !item.starts_with('{') {
            format!("({item})[]")
        } else {
            format!("{item}[]")
        }
    }

    fn object(&self, schema: &'a Value, level: usize) -> String {
        if conditions(schema) {
            self.misleads.set(true);
        }
        let named =
            schema.get("properties").and_then(Value::as_object).is_some_and(|names| !names.is_empty());
        if level > NESTING {
            let open = !named && schema.get("additionalProperties").is_none_or(Value::is_boolean);
            return if open { "object".to_owned() } else { self.lost("object") };
        }
        if !named {
            return self
                .any_names(schema, level)
                .map_or_else(|| "object".to_owned(), |names| format!("{{{names}}}"));
        }
        let (needed, rest) = self.members(schema, level + 1);
        format!("{{{}}}", [needed, rest].concat().join(", "))
    }

    fn string(&self, schema: &Value) -> String {
        let mut kind = "string".to_owned();
        if let Some(format) = schema.get("format").and_then(Value::as_str) {
            let _ = write!(kind, "<{format}>");
        }
        match schema.get("pattern").and_then(Value::as_str) {
            Some(pattern) if pattern.len() <= PATTERN => {
                let _ = write!(kind, " /{pattern}/");
            }
            Some(_) => self.misleads.set(true),
            None => {}
        }
        kind
    }

    /// Follows a local, non-circular reference.
    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let mut current = schema;
        for _ in 0..HOPS {
            let Some(reference) = current.get("$ref").and_then(Value::as_str) else { return current };
            match reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) {
                Some(next) => current = next,
                None => break,
            }
        }
        if current.get("$ref").is_some() {
            self.misleads.set(true);
        }
        current
    }
}

/// Does a schema have constraints besides its properties?
fn conditions(schema: &Value) -> bool {
    const CONDITIONS: [&str; 10] = [
        "oneOf",
        "anyOf",
        "allOf",
        "not",
        "if",
        "dependentRequired",
        "dependentSchemas",
        "dependencies",
        "minProperties",
        "patternProperties",
    ];
    CONDITIONS.iter().any(|key| schema.get(key).is_some())
}

/// Does it accept any value?
fn says_nothing(schema: &Value) -> bool {
    const WORDS: [&str; 6] = ["description", "title", "default", "examples", "deprecated", "$comment"];
    match schema {
        Value::Object(fields) => {
            fields.keys().all(|key| WORDS.contains(&key.as_str()) || key.starts_with("x-"))
        }
        Value::Bool(_) | Value::Null => true,
        Value::Number(_) | Value::String(_) | Value::Array(_) => false,
    }
}

/// `(1..100)`; empty if there is no practical bound.
fn range(schema: &Value) -> String {
    /// Bounds of machine integers, which generators write.
    const MACHINE: f64 = 2_000_000_000.0;
    let bound =
        |key: &str| schema.get(key).filter(|bound| bound.as_f64().is_some_and(|bound| bound.abs() < MACHINE));
    match (bound("minimum"), bound("maximum")) {
        (None, None) => String::new(),
        (Some(least), None) => format!("({least}..)"),
        (None, Some(most)) => format!("(..{most})"),
        (Some(least), Some(most)) => format!("({least}..{most})"),
    }
}

/// A name in readable form.
fn written(name: &str) -> String {
    let plain = !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.' | '@'));
    if plain { name.to_owned() } else { Value::from(name).to_string() }
}

fn is_short(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => text.len() <= 24,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[track_caller]
    fn check(definition: Value, expected: &str, misleads: bool) {
        let raw = serde_json::value::to_raw_value(&definition).unwrap();
        assert_eq!(of("t", &raw), Signature { line: expected.to_owned(), misleads });
    }

    fn input(properties: Value, required: Value) -> Value {
        json!({"inputSchema": {"type": "object", "properties": properties, "required": required}})
    }

    #[test]
    fn a_program_is_told_the_types_of_what_comes_back() {
        let told = |output: Value| {
            let definition = json!({ "inputSchema": { "type": "object" }, "outputSchema": output });
            typed("t", &serde_json::value::to_raw_value(&definition).unwrap(), 100, None).line
        };
        let issue = json!({ "type": "object", "properties": { "id": { "type": "integer" }, "by": { "type": "string" } }, "required": ["id"] });
        let list = json!({ "type": "object", "properties": { "all": { "type": "array", "items": issue } }, "required": ["all"] });
        assert_eq!(told(list), "t() -> {all: {id: int, by?: string}[]}");
        let long: Map<String, Value> =
            (0..30).map(|at| (format!("field_{at}"), json!({ "type": "string" }))).collect();
        let long = told(json!({ "type": "object", "properties": long }));
        assert!(long.starts_with("t() -> {field_0, field_1, "), "{long}");
        let raw = serde_json::value::to_raw_value(&json!({ "inputSchema": {} })).unwrap();
        assert_eq!(typed("t", &raw, 100, None).line, "t()");
        let seen = Shape::of(&json!([{ "id": 1 }]));
        assert_eq!(typed("t", &raw, 100, Some(&seen)).line, "t() -> {id: int}[] (seen)");
    }

    #[test]
    fn a_signature_says_what_a_call_needs() {
        check(json!({"inputSchema": {"type": "object"}}), "t()", false);
        check(
            input(json!({"b": {"type": "boolean", "default": true}, "a": {"type": "string"}}), json!(["a"])),
            "t(a: string, b?: boolean = true)",
            false,
        );
        check(
            input(
                json!({"s": {"enum": ["open", "all"]}, "n": {"type": ["integer", "null"]}, "l": {"type": "array", "items": {"type": "string"}}}),
                json!([]),
            ),
            r#"t(s?: "open" | "all", n?: int | null, l?: string[])"#,
            false,
        );
        check(
            json!({"inputSchema": {"type": "object", "properties": {"p": {"$ref": "#/$defs/P"}}, "$defs": {"P": {"type": "string", "default": "x"}}},
                   "outputSchema": {"type": "object", "properties": {"number": {}, "url": {}}}}),
            r#"t(p?: string = "x") -> {number, url}"#,
            false,
        );
        check(
            input(
                json!({"u": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "m": {"type": "array", "items": {"enum": [1, 2]}}}),
                json!(["u"]),
            ),
            "t(u: string | null, m?: (1 | 2)[])",
            false,
        );
    }

    #[test]
    fn formats_bounds_and_free_names_are_written() {
        check(
            input(
                json!({
                    "id": {"type": "string", "format": "uuid"}, "day": {"type": "string", "pattern": "^\\d{4}$"},
                    "n": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}, "x": {"type": "number", "minimum": 0},
                    "h": {"type": "object", "additionalProperties": {"type": "string"}},
                    "two": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]},
                    "a b": {"type": "string", "nullable": true}, "free": {"description": "anything"},
                    "one": {"allOf": [{"type": "boolean"}], "description": "…"}
                }),
                json!(["id"]),
            ),
            "t(id: string<uuid>, day?: string /^\\d{4}$/, n?: int(1..100) = 10, x?: number(0..), h?: {[name]: string}, \
             two?: [number, string], \"a b\"?: string | null, free?: any, one?: boolean)",
            false,
        );
        check(
            json!({"inputSchema": {"type": "object", "additionalProperties": true}}),
            "t([name]: any)",
            false,
        );
        check(input(json!({}), json!(["hidden"])), "t(hidden: any)", false);
    }

    #[test]
    fn a_signature_that_leaves_something_out_says_so() {
        let deep = json!({"type": "object", "properties": {"b": {"type": "object", "properties": {"c": {"type": "object",
            "properties": {"d": {"type": "object", "properties": {"e": {"type": "string"}}}}}}}}});
        check(input(json!({"a": deep}), json!(["a"])), "t(a: {b?: {c?: {d?: object}}})", true);
        let either = json!({"inputSchema": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}});
        check(either, "t(a?: string, b?: string)", true);
        check(input(json!({"p": {"$ref": "#/nowhere"}}), json!([])), "t(p?: any)", true);
        check(input(json!({"p": {"$ref": "#/properties/p"}}), json!([])), "t(p?: any)", true);
        let endless = json!({"inputSchema": {"type": "object", "properties": {"p": {"$ref": "#/$defs/L"}},
            "$defs": {"L": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/L"}}, {"$ref": "#/$defs/L"}]}}}});
        let raw = serde_json::value::to_raw_value(&endless).unwrap();
        assert!(of("t", &raw).misleads);
        check(input(json!({"p": {"not": {"type": "string"}}}), json!([])), "t(p?: any)", true);
        let many: Vec<String> = (0..20).map(|at| format!("v{at}")).collect();
        let raw =
            serde_json::value::to_raw_value(&input(json!({"e": {"enum": many}}), json!(["e"]))).unwrap();
        let signature = of("t", &raw);
        assert!(signature.misleads && signature.line.ends_with(r#""v11" | …)"#), "{signature:?}");
    }

    #[test]
    fn a_long_signature_keeps_what_must_be_given() {
        let mut properties: Map<String, Value> =
            (0..90).map(|at| (format!("option_{at}"), json!({"type": "string"}))).collect();
        properties.insert("needed".into(), json!({"type": "string"}));
        let raw = serde_json::value::to_raw_value(&input(properties.into(), json!(["needed"]))).unwrap();
        let signature = of("t", &raw);
        assert!(signature.line.starts_with("t(needed: string, option_0?: string,"), "{signature:?}");
        assert!(signature.line.ends_with(", …)") && signature.line.len() < LONG + 20 && signature.misleads);
    }
}
