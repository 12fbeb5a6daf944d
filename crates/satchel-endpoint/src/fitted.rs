//! Fits the tools of `/mcp/direct`, and calls of them, to clients that would lose tools or arguments, as the table of clients
//! says. A schema keeps its meaning, but for a `format`, and a definition that refers to itself, which ends after one level.
//! Lists and calls of other clients stay.

use std::{borrow::Cow, collections::BTreeSet};

use satchel_core::clients::seen::{Fact, Facts, Omitted, SchemaPart};
use satchel_mcp::{Raw, RawObject};
use serde_json::{Map, Value, json, value::to_raw_value};

/// How deep schemas and arguments are followed.
const DEPTH: usize = 64;
/// Keywords whose value is a schema, a list of schemas, or schemas by name.
const ONE: [&str; 9] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
];
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const MAPS: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
/// Keywords that describe a value to people, whatever its type.
const WORDS: [&str; 4] = ["title", "description", "default", "examples"];
const TYPES: [&str; 6] = ["string", "number", "boolean", "object", "array", "null"];

/// What has to be changed for a client.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    parts: Vec<SchemaPart>,
    drops_nulls: bool,
}

impl Fit {
    /// `None` for clients that take everything.
    pub(crate) fn of(facts: Facts) -> Option<Self> {
        let parts: Vec<_> = facts.refused_schemas().cloned().collect();
        let drops_nulls = facts.has(&Fact::Omitted(Omitted::Null));
        (drops_nulls || !parts.is_empty()).then_some(Self { parts, drops_nulls })
    }

    /// A tool's definition.
    pub(crate) fn tool<'a>(&self, raw: &'a Raw) -> Cow<'a, Raw> {
        let fitted = || {
            let mut fields = RawObject::parse(raw).ok()?;
            let schema: Value = serde_json::from_str(fields.get("inputSchema")?.get()).ok()?;
            let mut fitted = schema.clone();
            self.schema(&mut fitted);
            if fitted == schema {
                return None;
            }
            fields.set("inputSchema", to_raw_value(&fitted).ok()?);
            Some(fields.to_raw())
        };
        fitted().map_or(Cow::Borrowed(raw), Cow::Owned)
    }

    /// The arguments of a call as the server's schema has them; `None` if they stay.
    pub(crate) fn arguments(&self, schema: &Raw, given: &Raw) -> Option<Box<Raw>> {
        let schema: Value = serde_json::from_str(schema.get()).ok()?;
        let named = self.with_own_names(&schema, &schema, given, DEPTH);
        let plain =
            self.drops_nulls.then(|| without_nulls(&schema, named.as_deref().unwrap_or(given))).flatten();
        plain.or(named)
    }

    fn refuses(&self, part: &SchemaPart) -> bool {
        self.parts.contains(part)
    }

    fn schema(&self, schema: &mut Value) {
        if self.refuses(&SchemaPart::Definitions) {
            with_defs(schema);
        }
        if self.refuses(&SchemaPart::Recursion) {
            without_recursion(schema);
        }
        if (self.refuses(&SchemaPart::ChoiceAtTop) || self.refuses(&SchemaPart::NoProperties))
            && let Some(properties) = of_choices(schema)
            && let Some(top) = schema.as_object_mut()
        {
            top.insert("properties".into(), Value::Object(properties));
        }
        self.below(schema, true, DEPTH);
    }

    /// Changes a schema and those in it.
    fn below(&self, schema: &mut Value, is_top: bool, depth: usize) {
        let Some(fields) = schema.as_object_mut().filter(|_| depth > 0) else { return };
        for key in ONE {
            if let Some(inner) = fields.get_mut(key) {
                self.below(inner, false, depth - 1);
            }
        }
        for key in LISTS {
            let inner = fields.get_mut(key).and_then(Value::as_array_mut);
            inner.into_iter().flatten().for_each(|inner| self.below(inner, false, depth - 1));
        }
        for key in MAPS {
            let inner = fields.get_mut(key).and_then(Value::as_object_mut);
            inner.into_iter().flatten().for_each(|(_, inner)| self.below(inner, false, depth - 1));
        }
        if self.refuses(&SchemaPart::NoType)
            && let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut)
        {
            properties.values_mut().for_each(with_type);
        }
        self.rename(fields);
        if (self.refuses(&SchemaPart::Format) || self.refuses(&SchemaPart::UnknownFormat))
            && fields.get("format").is_some_and(Value::is_string)
        {
            fields.remove("format");
        }
        if self.refuses(&SchemaPart::TypeList) && !is_top {
            with_single_types(fields);
        }
    }

    /// Gives the arguments of an object the names under which this client takes them.
    fn rename(&self, fields: &mut Map<String, Value>) {
        let Some(properties) = fields.get("properties").and_then(Value::as_object) else { return };
        let names = self.names(properties);
        if names.is_empty() {
            return;
        }
        let other = |own: &str| {
            let renamed = names.iter().find(|(known, _)| known == own);
            renamed.map_or(own, |(_, shown)| shown).to_owned()
        };
        let renamed: Map<String, Value> =
            properties.iter().map(|(own, value)| (other(own), value.clone())).collect();
        let required = fields.get("required").and_then(Value::as_array);
        let required = required.map(|all| {
            all.iter().map(|own| own.as_str().map_or_else(|| own.clone(), |own| other(own).into())).collect()
        });
        fields.insert("properties".into(), Value::Object(renamed));
        if let Some(required) = required {
            fields.insert("required".into(), Value::Array(required));
        }
    }

    /// The names of arguments that this client does not take, and those it gets; the same for the list and for calls.
    fn names(&self, properties: &Map<String, Value>) -> Vec<(String, String)> {
        let is_refused = |name: &str| {
            let underscore = self.refuses(&SchemaPart::Underscore) && name.starts_with('_');
            underscore || self.refuses(&SchemaPart::Argument(name.to_owned()))
        };
        let mut names: Vec<(String, String)> = Vec::new();
        for own in properties.keys().filter(|own| is_refused(own)) {
            let plain = own.trim_start_matches('_');
            let mut shown = if plain.is_empty() { "argument" } else { plain }.to_owned();
            while is_refused(&shown)
                || properties.contains_key(&shown)
                || names.iter().any(|(_, taken)| *taken == shown)
            {
                shown.push('_');
            }
            names.push((own.clone(), shown));
        }
        names
    }

    fn with_own_names(&self, root: &Value, schema: &Value, given: &Raw, depth: usize) -> Option<Box<Raw>> {
        let depth = depth.checked_sub(1)?;
        if let Some(meant) = schema.get("$ref").and_then(Value::as_str) {
            return self.with_own_names(root, root.pointer(meant.strip_prefix('#')?)?, given, depth);
        }
        let mut changed = None;
        for key in ["anyOf", "oneOf", "allOf"] {
            for choice in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
                let now = changed.as_deref().unwrap_or(given);
                changed = self.with_own_names(root, choice, now, depth).or(changed);
            }
        }
        let now = changed.as_deref().unwrap_or(given);
        let inside = match now.get().as_bytes().first() {
            Some(b'{') => self.object_with_own_names(root, schema, now, depth),
            Some(b'[') => {
                let items = schema.get("items")?;
                let mut all: Vec<Box<Raw>> = serde_json::from_str(now.get()).ok()?;
                let mut any = false;
                for item in &mut all {
                    if let Some(other) = self.with_own_names(root, items, item, depth) {
                        (*item, any) = (other, true);
                    }
                }
                any.then(|| to_raw_value(&all).ok()).flatten()
            }
            _ => None,
        };
        inside.or(changed)
    }

    fn object_with_own_names(
        &self,
        root: &Value,
        schema: &Value,
        given: &Raw,
        depth: usize,
    ) -> Option<Box<Raw>> {
        let properties = schema.get("properties")?.as_object()?;
        let (names, given) = (self.names(properties), RawObject::parse(given).ok()?);
        let mut any = false;
        let mut own = RawObject::new();
        for (key, value) in given.iter() {
            let renamed = names.iter().find(|(own, shown)| shown == key && given.get(own).is_none());
            let name = renamed.map_or(key, |(own, _)| own);
            let inner = properties.get(name).and_then(|of| self.with_own_names(root, of, value, depth));
            any |= renamed.is_some() || inner.is_some();
            own.set(name, inner.unwrap_or_else(|| value.to_owned()));
        }
        any.then(|| own.to_raw())
    }
}

/// The call that stands in its own `arguments`, where a client puts the whole call there.
pub(crate) fn unnested(arguments: RawObject) -> RawObject {
    let inner = arguments.get("arguments").and_then(|raw| RawObject::parse(raw).ok());
    match inner {
        Some(inner)
            if inner.text("tool_path").is_some()
                && inner.text("tool_path") == arguments.text("tool_path")
                && inner.iter().all(|(key, _)| matches!(key, "tool_path" | "arguments")) =>
        {
            inner
        }
        Some(_) | None => arguments,
    }
}

/// `definitions` under its newer name.
fn with_defs(schema: &mut Value) {
    let Some(Value::Object(older)) = schema.as_object_mut().and_then(|top| top.remove("definitions")) else {
        return;
    };
    if let Some(top) = schema.as_object_mut() {
        let newer = top.entry("$defs").or_insert_with(|| json!({}));
        if let Some(newer) = newer.as_object_mut() {
            for (name, of) in older {
                newer.entry(name).or_insert(of);
            }
        }
    }
    each_ref(schema, DEPTH, &mut |meant| {
        meant
            .as_str()?
            .strip_prefix("#/definitions/")
            .map(|name| json!({ "$ref": format!("#/$defs/{name}") }))
    });
}

/// References to a schema from within it become any value.
fn without_recursion(schema: &mut Value) {
    each_ref(schema, DEPTH, &mut |meant| (meant.as_str()? == "#").then(|| json!({})));
    for map in ["$defs", "definitions"] {
        let names: Vec<String> =
            schema[map].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        for name in names {
            let own = format!("#/{map}/{name}");
            let Some(mut of) = schema[map].get(&name).cloned() else { continue };
            let mut back = BTreeSet::new();
            for meant in refs(&of) {
                if leads_to(schema, &meant, &own) {
                    back.insert(meant);
                }
            }
            if back.is_empty() {
                continue;
            }
            each_ref(&mut of, DEPTH, &mut |meant| back.contains(meant.as_str()?).then(|| json!({})));
            schema[map][&name] = of;
        }
    }
}

/// Does a reference lead to another one, through any others?
fn leads_to(schema: &Value, from: &str, to: &str) -> bool {
    let (mut open, mut seen) = (vec![from.to_owned()], BTreeSet::new());
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if seen.insert(at.clone())
            && let Some(of) = at.strip_prefix('#').and_then(|pointer| schema.pointer(pointer))
        {
            open.extend(refs(of));
        }
    }
    false
}

fn refs(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut copy = schema.clone();
    each_ref(&mut copy, DEPTH, &mut |meant| {
        found.extend(meant.as_str().map(ToOwned::to_owned));
        None
    });
    found
}

/// Offers each `$ref` to `change`, which returns another schema or nothing.
fn each_ref(schema: &mut Value, depth: usize, change: &mut impl FnMut(&Value) -> Option<Value>) {
    if depth == 0 {
        return;
    }
    if let Some(other) = schema.get("$ref").and_then(&mut *change) {
        *schema = other;
        return;
    }
    match schema {
        Value::Object(fields) => {
            let data = |key: &String| matches!(key.as_str(), "const" | "enum" | "default" | "examples");
            fields
                .iter_mut()
                .filter(|(key, _)| !data(key))
                .for_each(|(_, of)| each_ref(of, depth - 1, change));
        }
        Value::Array(all) => all.iter_mut().for_each(|of| each_ref(of, depth - 1, change)),
        _ => {}
    }
}

/// The arguments of a schema and of the choices at its top; `None` if it has no others of its own.
fn of_choices(schema: &Value) -> Option<Map<String, Value>> {
    let own = schema.get("properties").and_then(Value::as_object);
    let mut all = own.cloned().unwrap_or_default();
    let choices = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    for choice in choices {
        let meant = choice.get("$ref").and_then(Value::as_str).and_then(|meant| meant.strip_prefix('#'));
        let choice = meant.and_then(|pointer| schema.pointer(pointer)).unwrap_or(choice);
        for (name, of) in choice.get("properties").and_then(Value::as_object).into_iter().flatten() {
            // Two choices may ask for two kinds of value; which one is right stands in the choice.
            let known = all.entry(name.clone()).or_insert_with(|| of.clone());
            if known != of && own.is_none_or(|own| !own.contains_key(name)) {
                *known = json!({});
            }
        }
    }
    (own.is_none() || own.is_some_and(|own| own.len() != all.len())).then_some(all)
}

/// Says of a value without a type that any is right.
fn with_type(schema: &mut Value) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Some(fields) = schema.as_object_mut() else { return };
    if ["type", "anyOf", "oneOf", "allOf", "$ref", "enum"].iter().any(|key| fields.contains_key(*key)) {
        return;
    }
    match fields.remove("const") {
        Some(only) => fields.insert("enum".into(), json!([only])),
        None => fields.insert("anyOf".into(), TYPES.iter().map(|of| json!({ "type": of })).collect()),
    };
}

/// One choice for each type of a list of types.
fn with_single_types(fields: &mut Map<String, Value>) {
    let Some(types) = fields.get("type").and_then(Value::as_array).cloned() else { return };
    let [first, others @ ..] = types.as_slice() else { return };
    if others.is_empty() || LISTS[..3].iter().any(|key| fields.contains_key(*key)) {
        fields.insert("type".into(), first.clone());
        return;
    }
    let (words, rules): (Map<_, _>, Map<_, _>) =
        std::mem::take(fields).into_iter().partition(|(key, _)| WORDS.contains(&key.as_str()));
    let of = |kind: &Value| {
        let mut choice = rules.clone();
        choice.insert("type".into(), kind.clone());
        Value::Object(choice)
    };
    *fields = words;
    fields.insert("anyOf".into(), types.iter().map(of).collect());
}

/// The arguments without null where it means that the model gave none: for optional ones that may not be null.
fn without_nulls(schema: &Value, given: &Raw) -> Option<Box<Raw>> {
    let mut arguments = RawObject::parse(given).ok()?;
    let properties = schema.get("properties")?.as_object()?;
    let required = |name: &str| {
        let all = schema.get("required").and_then(Value::as_array);
        all.is_some_and(|all| all.iter().any(|own| own == name))
    };
    let is_left_out = |(name, value): (&str, &Raw)| {
        let of = properties.get(name).filter(|_| value.get() == "null" && !required(name))?;
        (!may_be_null(schema, of, DEPTH)).then(|| name.to_owned())
    };
    let left_out: Vec<String> = arguments.iter().filter_map(is_left_out).collect();
    left_out.iter().for_each(|name| drop(arguments.remove(name)));
    (!left_out.is_empty()).then(|| arguments.to_raw())
}

fn may_be_null(root: &Value, schema: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    let Some(fields) = schema.as_object() else { return *schema != Value::Bool(false) };
    fields.iter().all(|(key, value)| match (key.as_str(), value) {
        ("type", Value::String(kind)) => kind == "null",
        ("type", Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        ("enum", Value::Array(all)) => all.contains(&Value::Null),
        ("const", only) => only.is_null(),
        ("anyOf" | "oneOf", Value::Array(all)) => all.iter().any(|of| may_be_null(root, of, depth)),
        ("allOf", Value::Array(all)) => all.iter().all(|of| may_be_null(root, of, depth)),
        ("$ref", Value::String(meant)) => {
            let of = meant.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
            of.is_none_or(|of| may_be_null(root, of, depth))
        }
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(client: &str) -> Fit {
        Fit::of(Facts::of_client(client)).unwrap()
    }

    fn shown(client: &str, schema: &Value) -> Value {
        let tool = json!({ "name": "t", "x": 1.0, "inputSchema": schema });
        let tool = Raw::from_string(tool.to_string()).unwrap();
        let fitted: Value = serde_json::from_str(fit(client).tool(&tool).get()).unwrap();
        fitted["inputSchema"].clone()
    }

    fn sent(client: &str, schema: &Value, given: &str) -> Option<String> {
        let [schema, given] =
            [schema.to_string(), given.to_owned()].map(|text| Raw::from_string(text).unwrap());
        fit(client).arguments(&schema, &given).map(|raw| raw.get().to_owned())
    }

    /// An object with these arguments.
    fn of(properties: Value) -> Value {
        json!({ "type": "object", "properties": properties })
    }

    #[test]
    fn other_clients_and_schemas_without_such_parts_stay() {
        for client in ["cursor", "claude-code", "openai-agents", "mcp", "an agent"] {
            assert!(Fit::of(Facts::of_client(client)).is_none(), "{client}");
        }
        let plain = r#"{ "name":"t", "inputSchema":{"type":"object", "properties":{"n":{"type":"integer","default":1.0}},"required":["n"]} }"#;
        let plain = Raw::from_string(plain.to_owned()).unwrap();
        for client in ["smolagents", "llama-index", "crewai", "autogen", "semantic-kernel", "ai-sdk", "dspy"]
        {
            assert!(matches!(fit(client).tool(&plain), Cow::Borrowed(_)), "{client}");
            assert_eq!(
                sent(client, &of(json!({ "n": { "type": "integer" } })), r#"{"n":1.0,"x":null}"#),
                None
            );
        }
    }

    #[test]
    fn a_schema_without_properties_gets_empty_ones() {
        let none = json!({ "type": "object" });
        assert_eq!(shown("smolagents", &none), of(json!({})));
        assert_eq!(shown("crewai", &none), none);
    }

    #[test]
    fn arguments_of_choices_at_the_top_are_named_there() {
        let id = of(json!({ "id": { "type": "integer" }, "kind": { "type": "string" } }));
        let name = of(json!({ "name": { "type": "string" }, "kind": { "type": "integer" } }));
        let schema =
            json!({ "type": "object", "oneOf": [id, { "$ref": "#/$defs/N" }], "$defs": { "N": name } });
        let mut expected = schema.clone();
        expected["properties"] =
            json!({ "id": { "type": "integer" }, "kind": {}, "name": { "type": "string" } });
        assert_eq!(shown("ai-sdk", &schema), expected);
        assert_eq!(shown("smolagents", &schema), expected);
        assert_eq!(shown("llama-index", &schema), schema);
    }

    #[test]
    fn a_recursion_ends_and_other_references_stay() {
        let node = of(json!({ "next": { "$ref": "#/$defs/Node" }, "leaf": { "$ref": "#/$defs/Leaf" } }));
        let schema = json!({ "type": "object", "properties": { "tree": { "$ref": "#/$defs/Node" } },
            "$defs": { "Node": node, "Leaf": { "type": "string" } } });
        let mut expected = schema.clone();
        expected["$defs"]["Node"]["properties"]["next"] = json!({});
        assert_eq!(shown("llama-index", &schema), expected);
        assert_eq!(shown("crewai", &schema), schema);
        // Through another definition, and the whole schema in itself.
        let both = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/A" }, "self": { "$ref": "#" } },
            "$defs": { "A": of(json!({ "b": { "$ref": "#/$defs/B" } })), "B": of(json!({ "a": { "$ref": "#/$defs/A" } })) } });
        let ended = shown("dspy", &both);
        assert_eq!(ended["properties"], json!({ "a": { "$ref": "#/$defs/A" }, "self": {} }));
        assert_eq!(ended["$defs"]["A"], of(json!({ "b": {} })));
        assert_eq!(ended["$defs"]["B"], both["$defs"]["B"]);
    }

    #[test]
    fn an_argument_has_another_name_for_the_client_and_its_own_for_the_server() {
        let inner = of(json!({ "_x": { "type": "integer" } }));
        let schema = json!({ "type": "object", "required": ["_since", "model_config"], "properties": {
            "_since": { "type": "string" }, "since": {}, "model_config": { "$ref": "#/$defs/I" },
            "all": { "type": "array", "items": { "anyOf": [{ "type": "null" }, inner] } } },
            "$defs": { "I": inner } });
        let listed = shown("llama-index", &schema);
        let names = |of: &Value| of.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        assert_eq!(
            names(&listed["properties"]),
            BTreeSet::from(["all", "model_config_", "since", "since_"].map(String::from))
        );
        assert_eq!(listed["required"], json!(["since_", "model_config_"]));
        assert_eq!(listed["$defs"]["I"], of(json!({ "x": { "type": "integer" } })));
        let given = r#"{"since_":"a","since":1.0,"model_config_":{"x":1.0},"all":[null,{"x":2},{"y":3}],"z":{"x":1}}"#;
        let own = r#"{"_since":"a","since":1.0,"model_config":{"_x":1.0},"all":[null,{"_x":2},{"y":3}],"z":{"x":1}}"#;
        assert_eq!(sent("llama-index", &schema, given).as_deref(), Some(own));
        assert_eq!(sent("llama-index", &schema, own), None, "what has its own name keeps it");
        // This client takes the other name.
        assert!(names(&shown("crewai", &schema)["properties"]).contains("model_config"));
    }

    #[test]
    fn what_one_client_cannot_read_is_said_in_another_way() {
        let schema = json!({ "type": "object", "definitions": { "A": { "type": "string" } }, "properties": {
            "a": { "$ref": "#/definitions/A" }, "b": { "type": ["array", "null"], "items": {}, "title": "B" },
            "c": { "description": "Any." }, "d": { "const": "x" }, "e": { "type": "string", "format": "uri" } } });
        let any: Vec<Value> = TYPES.iter().map(|of| json!({ "type": of })).collect();
        assert_eq!(
            shown("autogen", &schema),
            json!({ "type": "object", "$defs": { "A": { "type": "string" } }, "properties": {
            "a": { "$ref": "#/$defs/A" },
            "b": { "title": "B", "anyOf": [{ "type": "array", "items": {} }, { "type": "null", "items": {} }] },
            "c": { "description": "Any.", "anyOf": any }, "d": { "enum": ["x"] }, "e": { "type": "string" } } })
        );
        let mut without_format = schema.clone();
        without_format["properties"]["e"] = json!({ "type": "string" });
        assert_eq!(shown("crewai", &schema), without_format);
        assert_eq!(shown("smolagents", &schema), schema);
        // An argument may be called `format`.
        let named = of(json!({ "format": { "type": "string" } }));
        assert_eq!(shown("autogen", &named), named);
    }

    #[test]
    fn null_is_left_out_where_the_schema_forbids_it_for_a_client_that_sends_it_for_nothing() {
        let schema = json!({ "type": "object", "required": ["must"], "$defs": { "N": { "type": "integer" } }, "properties": {
            "must": { "type": "string" }, "text": { "type": "string" }, "free": {}, "other": { "$ref": "#/$defs/N" },
            "either": { "anyOf": [{ "type": "string" }, { "type": "null" }] }, "list": { "type": ["string", "null"] } } });
        let given = r#"{"must":null,"text":null,"free":null,"other":null,"either":null,"list":null,"more":null,"n":1.0}"#;
        let kept = r#"{"must":null,"free":null,"either":null,"list":null,"more":null,"n":1.0}"#;
        assert_eq!(sent("crewai", &schema, given).as_deref(), Some(kept));
        assert_eq!(sent("autogen", &schema, given), None);
    }

    #[test]
    fn a_call_in_its_own_arguments_is_found() {
        let check = |json: &str, expected: &str| {
            assert_eq!(unnested(serde_json::from_str(json).unwrap()).to_raw().get(), expected);
        };
        let call = r#"{"tool_path":"a:b","arguments":{"z":1.0}}"#;
        check(&format!(r#"{{"tool_path":"a:b","arguments":{call}}}"#), call);
        check(r#"{"tool_path":"a:b","arguments":{"tool_path":"a:b"}}"#, r#"{"tool_path":"a:b"}"#);
        for same in [
            call,
            r#"{"tool_path":"a:b"}"#,
            r#"{"tool_path":"a:b","arguments":{"tool_path":"c:d","arguments":{}}}"#,
            r#"{"tool_path":"a:b","arguments":{"tool_path":"a:b","more":1}}"#,
        ] {
            check(same, same);
        }
    }
}
