//! The types that programs write where JSON Schema has seven: `int`, `List[str]`, `string | null`. Knows names, no
//! schemas.

use satchel_mcp::Raw;
use serde_json::value::to_raw_value;

/// What the value of `type` means.
#[derive(Debug)]
pub(super) enum TypeMeaning {
    /// One of the seven types, or a list of them.
    Right,
    /// This type, or list of types.
    Become(Box<Raw>),
    /// A list, and of what.
    List(Option<Box<Raw>>),
    /// Any value.
    Anything,
    /// No type that is known here.
    Unknown,
}

/// Types of JSON Schema 2020-12, and the names for them in other languages.
const NAMES: &[(&str, &[&str])] = &[
    (
        "string",
        &[
            "str",
            "text",
            "char",
            "character",
            "varchar",
            "uuid",
            "guid",
            "date",
            "datetime",
            "date-time",
            "timestamp",
            "time",
            "url",
            "uri",
            "email",
            "path",
            "file",
            "filepath",
            "bytes",
            "binary",
            "base64",
            "string literal",
            "literal",
        ],
    ),
    (
        "integer",
        &[
            "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "i32",
            "i64", "u32", "u64", "usize", "long", "short", "byte", "bigint", "smallint",
        ],
    ),
    (
        "number",
        &[
            "num", "numeric", "float", "float32", "float64", "f32", "f64", "double", "decimal", "real",
            "complex",
        ],
    ),
    ("boolean", &["bool", "bit", "flag"]),
    ("array", &["list", "tuple", "set", "frozenset", "sequence", "vector", "vec", "slice", "iterable"]),
    (
        "object",
        &["dict", "dictionary", "map", "hash", "hashmap", "mapping", "struct", "record", "class", "obj"],
    ),
    ("null", &["none", "nonetype", "nil", "void", "undefined"]),
];
/// Names for any value.
const ANYTHING: &[&str] = &["any", "*", "mixed", "unknown", "json", "value", "variant", "enum", "union", ""];

/// The type that a name means.
fn meant(name: &str) -> Option<&'static str> {
    let name = name.trim().to_ascii_lowercase();
    let known = NAMES.iter().find(|(kind, others)| *kind == name || others.contains(&name.as_str()));
    known.map(|(kind, _)| *kind)
}

fn is_anything(name: &str) -> bool {
    ANYTHING.contains(&name.trim().to_ascii_lowercase().as_str())
}

/// What this value of `type` means.
pub(super) fn of(raw: &Raw) -> TypeMeaning {
    if let Ok(name) = serde_json::from_str::<String>(raw.get()) {
        return match NAMES.iter().any(|(kind, _)| *kind == name) {
            true => TypeMeaning::Right,
            false => of_name(&name),
        };
    }
    match serde_json::from_str::<Vec<Option<String>>>(raw.get()) {
        Ok(names) => of_names(&names, true),
        Err(_) => TypeMeaning::Unknown,
    }
}

fn of_name(name: &str) -> TypeMeaning {
    let name = name.trim();
    if is_anything(name) {
        return TypeMeaning::Anything;
    }
    if let Some(kind) = meant(name) {
        return become_one(kind);
    }
    if let Some(items) = name.strip_suffix("[]") {
        return TypeMeaning::List(meant(items).and_then(|kind| to_raw_value(kind).ok()));
    }
    // `List[str]`, `Optional[int]`, `Dict<string, any>`.
    if let Some((outer, inner)) = name.split_once(['[', '<', '(']) {
        let inner = inner.trim_end_matches([']', '>', ')']);
        return match (outer.trim().to_ascii_lowercase().as_str(), meant(outer)) {
            ("optional", _) => of_names(&[Some(inner.to_owned()), None], false),
            ("union", _) => {
                of_names(&inner.split(',').map(|name| Some(name.to_owned())).collect::<Vec<_>>(), false)
            }
            (_, Some("array")) => TypeMeaning::List(meant(inner).and_then(|kind| to_raw_value(kind).ok())),
            (_, Some(kind)) => become_one(kind),
            (_, None) => TypeMeaning::Unknown,
        };
    }
    match name.split(['|', ',']).count() {
        1 => match name.strip_suffix('?').and_then(meant) {
            Some(kind) => of_names(&[Some(kind.to_owned()), None], false),
            None => TypeMeaning::Unknown,
        },
        _ => of_names(&name.split(['|', ',']).map(|name| Some(name.to_owned())).collect::<Vec<_>>(), false),
    }
}

fn become_one(kind: &str) -> TypeMeaning {
    to_raw_value(kind).map_or(TypeMeaning::Unknown, TypeMeaning::Become)
}

/// Several types, of which each stands once, written as a list or in one name. With one that is anything, they are
/// anything.
fn of_names(names: &[Option<String>], are_a_list: bool) -> TypeMeaning {
    let mut kinds: Vec<&str> = Vec::with_capacity(names.len());
    let mut right = are_a_list;
    for name in names {
        let Some(name) = name else {
            right = false;
            kinds.push("null");
            continue;
        };
        match meant(name) {
            Some(kind) => {
                right &= kind == name && !kinds.contains(&kind);
                kinds.push(kind);
            }
            None if is_anything(name) => return TypeMeaning::Anything,
            None => return TypeMeaning::Unknown,
        }
    }
    if kinds.is_empty() {
        return TypeMeaning::Anything;
    }
    if right {
        return TypeMeaning::Right;
    }
    let mut once: Vec<&str> = Vec::with_capacity(kinds.len());
    for kind in kinds {
        if !once.contains(&kind) {
            once.push(kind);
        }
    }
    to_raw_value(&once).map_or(TypeMeaning::Unknown, TypeMeaning::Become)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_another_language_is_a_type_of_json_schema() {
        let meaning = |json: &str| match of(&Raw::from_string(json.to_owned()).unwrap()) {
            TypeMeaning::Right => "right".to_owned(),
            TypeMeaning::Become(types) => types.get().to_owned(),
            TypeMeaning::List(items) => {
                format!("list of {}", items.map_or("anything".into(), |of| of.get().to_owned()))
            }
            TypeMeaning::Anything => "anything".to_owned(),
            TypeMeaning::Unknown => "unknown".to_owned(),
        };
        for (json, expected) in [
            (r#""string""#, "right"),
            (r#"["string","null"]"#, "right"),
            (r#""String""#, r#""string""#),
            (r#"" INT ""#, r#""integer""#),
            (r#""None""#, r#""null""#),
            (r#""Any""#, "anything"),
            (r#""""#, "anything"),
            (r#"[]"#, "anything"),
            (r#"["string","any"]"#, "anything"),
            (r#""string | null""#, r#"["string","null"]"#),
            (r#""string,int,str""#, r#"["string","integer"]"#),
            (r#""Optional[str]""#, r#"["string","null"]"#),
            (r#""Union[int, float]""#, r#"["integer","number"]"#),
            (r#""int?""#, r#"["integer","null"]"#),
            (r#""List[str]""#, r#"list of "string""#),
            (r#""array<Foo>""#, "list of anything"),
            (r#""number[]""#, r#"list of "number""#),
            (r#""Dict[str, Any]""#, r#""object""#),
            (r#""Foo""#, "unknown"),
            (r#""string|Foo""#, "unknown"),
            ("5", "unknown"),
            ("{}", "unknown"),
            (r#"[{"type":"string"}]"#, "unknown"),
        ] {
            assert_eq!(meaning(json), expected, "{json}");
        }
    }
}
