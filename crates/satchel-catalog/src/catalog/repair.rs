//! Corrects definitions that strict clients reject: many parse a whole list at once, so that one wrong optional field of
//! one server would hide the items of all. Touches only fields that the protocol defines, and only where they are wrong:
//! a definition without a fault keeps its bytes, and unknown fields stay. Whether a tool can be offered is decided in
//! [`super::validate`].

use satchel_mcp::{Raw, RawObject, era::Era, limits};

use super::{
    ResourceEntry,
    mending::{Mended, mend},
};

/// What the protocol says of a value (`2025-11-25/schema.mdx`).
enum Shape {
    Text,
    Flag,
    /// A whole number.
    Whole,
    /// From 0 to 1.
    Share,
    /// ISO 8601, with the time of day.
    Moment,
    OneOf(&'static [&'static str]),
    Object(&'static [Field]),
    /// An object that needs this text.
    Having(&'static str, &'static [Field]),
    List(&'static Shape),
    /// A list of texts, which was one text in earlier drafts.
    Sizes,
    /// A JSON schema of an object: what a tool takes.
    Input,
    /// The same for what it gives, which it need not have.
    Output,
}

type Field = (&'static str, Shape);

const ICONS: Shape = Shape::List(&Shape::Having(
    "src",
    &[("mimeType", Shape::Text), ("sizes", Shape::Sizes), ("theme", Shape::OneOf(&["light", "dark"]))],
));
const ANNOTATIONS: Shape = Shape::Object(&[
    ("audience", Shape::List(&Shape::OneOf(&["user", "assistant"]))),
    ("priority", Shape::Share),
    ("lastModified", Shape::Moment),
]);
const TOOL: &[Field] = &[
    ("title", Shape::Text),
    ("description", Shape::Text),
    ("inputSchema", Shape::Input),
    ("outputSchema", Shape::Output),
    (
        "annotations",
        Shape::Object(&[
            ("title", Shape::Text),
            ("readOnlyHint", Shape::Flag),
            ("destructiveHint", Shape::Flag),
            ("idempotentHint", Shape::Flag),
            ("openWorldHint", Shape::Flag),
        ]),
    ),
    ("execution", Shape::Object(&[("taskSupport", Shape::OneOf(&["forbidden", "optional", "required"]))])),
    ("icons", ICONS),
    ("_meta", Shape::Object(&[])),
];
const RESOURCE: &[Field] = &[
    ("title", Shape::Text),
    ("description", Shape::Text),
    ("mimeType", Shape::Text),
    ("size", Shape::Whole),
    ("annotations", ANNOTATIONS),
    ("icons", ICONS),
    ("_meta", Shape::Object(&[])),
];
const PROMPT: &[Field] = &[
    ("title", Shape::Text),
    ("description", Shape::Text),
    (
        "arguments",
        Shape::List(&Shape::Having(
            "name",
            &[("title", Shape::Text), ("description", Shape::Text), ("required", Shape::Flag)],
        )),
    ),
    ("icons", ICONS),
    ("_meta", Shape::Object(&[])),
];

/// Corrects tools. Returns a line for each corrected one.
///
/// An output schema of an unknown revision may be of any type.
pub(super) fn tools(items: &mut [Box<Raw>], era: Option<Era>) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, raw) in items.iter_mut().enumerate() {
        let Ok(mut fields) = RawObject::parse(raw) else { continue };
        let any_schema = era.is_none_or(Era::has_any_output).then(|| fields.remove("outputSchema")).flatten();
        let mut corrected = correct(&mut fields, TOOL);
        if fields.get("inputSchema").is_none() && fields.text("name").is_some() {
            fields.set("inputSchema", any_object());
            corrected.push("inputSchema");
        }
        if let Some(schema) = any_schema {
            let kept = any_output(schema);
            corrected.extend((!kept.1).then_some("outputSchema"));
            kept.0.into_iter().for_each(|schema| fields.set("outputSchema", schema));
        }
        if corrected.is_empty() {
            continue;
        }
        lines.push(line("tool", at, fields.text("name"), &corrected));
        *raw = fields.to_raw();
    }
    lines
}

/// An output schema that may be of any type, and whether it was right. `None` if nothing can be made of it.
fn any_output(schema: Box<Raw>) -> (Option<Box<Raw>>, bool) {
    match schema.get().as_bytes().first() {
        Some(b't' | b'f') => (Some(schema), true),
        Some(b'{') => match mend(&schema) {
            Ok(Mended::Right) => (Some(schema), true),
            Ok(Mended::Changed(mended)) => (Some(mended), false),
            Err(_) => (None, false),
        },
        _ => (None, false),
    }
}

/// Corrects resources or templates. Returns a line for each corrected one.
pub(super) fn resources(entries: &mut [ResourceEntry]) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, entry) in entries.iter_mut().enumerate() {
        let Ok(mut fields) = RawObject::parse(&entry.raw) else { continue };
        let mut corrected = correct(&mut fields, RESOURCE);
        if fields.text("name").is_none() {
            // Strings always serialize.
            fields.put("name", &fields.text("title").unwrap_or_else(|| entry.uri.clone()));
            corrected.push("name");
        }
        if corrected.is_empty() {
            continue;
        }
        lines.push(line("resource", at, Some(entry.uri.clone()), &corrected));
        entry.raw = fields.to_raw();
    }
    lines
}

/// Corrects prompts, and leaves out those without a name, which nobody could get. Returns a line for each.
pub(super) fn prompts(items: &mut Vec<Box<Raw>>) -> Vec<String> {
    let (mut lines, mut at) = (Vec::new(), 0);
    items.retain_mut(|raw| {
        at += 1;
        let fields = RawObject::parse(raw).ok();
        let Some((mut fields, name)) =
            fields.and_then(|fields| fields.text("name").map(|name| (fields, name)))
        else {
            lines.push(format!("left out prompt {at} of the list: it has no name"));
            return false;
        };
        let corrected = correct(&mut fields, PROMPT);
        if !corrected.is_empty() {
            lines.push(line("prompt", at - 1, Some(name), &corrected));
            *raw = fields.to_raw();
        }
        true
    });
    lines
}

fn line(what: &str, at: usize, name: Option<String>, corrected: &[&str]) -> String {
    let name = name.unwrap_or_else(|| format!("{} of the list", at + 1));
    format!("corrected {what} {name}, whose {} clients would reject", corrected.join(", "))
}

/// Corrects these fields of an object. Returns the names of those that were wrong.
fn correct(object: &mut RawObject, fields: &'static [Field]) -> Vec<&'static str> {
    let mut corrected = Vec::new();
    for (name, shape) in fields {
        let Some(raw) = object.get(name) else { continue };
        match checked(raw, shape) {
            Checked::Right => continue,
            Checked::Corrected(raw) => object.set(name, raw),
            // Whether a tool can do without is decided later, with the reason.
            Checked::Wrong if *name == "inputSchema" => continue,
            Checked::Wrong => drop(object.remove(name)),
        }
        corrected.push(*name);
    }
    corrected
}

enum Checked {
    Right,
    Corrected(Box<Raw>),
    Wrong,
}

impl Checked {
    fn of(right: bool) -> Self {
        if right { Checked::Right } else { Checked::Wrong }
    }
}

fn checked(raw: &Raw, shape: &Shape) -> Checked {
    match shape {
        Shape::Text => Checked::of(raw.get().starts_with('"')),
        Shape::Flag => Checked::of(matches!(raw.get(), "true" | "false")),
        Shape::Whole => Checked::of(number(raw).is_some_and(|number| number.fract() == 0.0)),
        Shape::Share => Checked::of(number(raw).is_some_and(|number| (0.0..=1.0).contains(&number))),
        Shape::Moment => Checked::of(text(raw).is_some_and(|text| is_moment(&text))),
        Shape::OneOf(words) => Checked::of(text(raw).is_some_and(|text| words.contains(&text.as_str()))),
        Shape::Object(fields) => object(raw, None, fields),
        Shape::Having(needed, fields) => object(raw, Some(needed), fields),
        Shape::List(item) => list(raw, item),
        Shape::Sizes => match text(raw) {
            Some(text) => serde_json::value::to_raw_value(&text.split_whitespace().collect::<Vec<_>>())
                .map_or(Checked::Wrong, Checked::Corrected),
            None => list(raw, &Shape::Text),
        },
        // Anything, by PHP or by a boolean: an object in any case.
        Shape::Input if matches!(raw.get(), "null" | "true") || is_empty_list(raw) => {
            Checked::Corrected(any_object())
        }
        Shape::Input | Shape::Output => schema(raw),
    }
}

fn number(raw: &Raw) -> Option<f64> {
    serde_json::from_str(raw.get()).ok()
}

fn text(raw: &Raw) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// `2026-01-31T10:00Z`, with or without seconds, and with a zone.
fn is_moment(text: &str) -> bool {
    let digits = |text: &str, form: &str| {
        text.len() == form.len()
            && text.bytes().zip(form.bytes()).all(|(byte, form)| match form {
                b'0' => byte.is_ascii_digit(),
                form => byte == form,
            })
    };
    let Some((day, time)) = text.split_once('T') else { return false };
    let Some(zone) = time.find(['Z', '+', '-']) else { return false };
    let (time, zone) = time.split_at(zone);
    let (time, fraction) = time.split_once('.').map_or((time, None), |(time, rest)| (time, Some(rest)));
    let seconds = digits(time, "00:00:00");
    let fraction = fraction.is_none_or(|digits| {
        seconds && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    let zone = zone == "Z" || digits(zone, "+00:00") || digits(zone, "-00:00");
    digits(day, "0000-00-00") && (seconds || digits(time, "00:00")) && fraction && zone
}

fn object(raw: &Raw, needed: Option<&str>, fields: &'static [Field]) -> Checked {
    if !raw.get().starts_with('{') {
        return Checked::Wrong;
    }
    // One with a key twice is read by every client in some way.
    let Ok(mut object) = RawObject::parse(raw) else { return Checked::Right };
    if needed.is_some_and(|needed| object.text(needed).is_none()) {
        return Checked::Wrong;
    }
    match correct(&mut object, fields).is_empty() {
        true => Checked::Right,
        false => Checked::Corrected(object.to_raw()),
    }
}

/// Wrong items are left out.
fn list(raw: &Raw, item: &Shape) -> Checked {
    let Ok(items) = serde_json::from_str::<Vec<Box<Raw>>>(raw.get()) else { return Checked::Wrong };
    let mut right = true;
    let mut keep = |raw: Box<Raw>| match checked(&raw, item) {
        Checked::Right => Some(raw),
        Checked::Corrected(raw) => {
            right = false;
            Some(raw)
        }
        Checked::Wrong => {
            right = false;
            None
        }
    };
    let items: Vec<_> = items.into_iter().filter_map(&mut keep).collect();
    if right {
        return Checked::Right;
    }
    serde_json::value::to_raw_value(&items).map_or(Checked::Wrong, Checked::Corrected)
}

/// Clients demand `"type": "object"`, and right schemas inside.
fn schema(raw: &Raw) -> Checked {
    // Some write the schema as a text.
    if let Some(inner) = text(raw).and_then(|text| Raw::from_string(text).ok()) {
        return match schema(&inner) {
            Checked::Right if inner.get().starts_with('{') => Checked::Corrected(inner),
            checked => checked,
        };
    }
    if !raw.get().starts_with('{') || limits::depth(raw.get().as_bytes()) > limits::SCHEMA_DEPTH {
        return Checked::Wrong;
    }
    let mended = match mend(raw) {
        Ok(Mended::Right) => None,
        Ok(Mended::Changed(schema)) => Some(schema),
        Err(_) => return Checked::Wrong,
    };
    let Ok(mut fields) = RawObject::parse(mended.as_deref().unwrap_or(raw)) else { return Checked::Right };
    let is_object = |kind: &str| kind == "object";
    match fields.text("type") {
        Some(kind) if is_object(&kind) => match mended {
            Some(schema) => Checked::Corrected(schema),
            None => Checked::Right,
        },
        None if fields.get("type").is_none() => {
            // Strings always serialize.
            fields.put_first("type", "object");
            Checked::Corrected(fields.to_raw())
        }
        None if fields
            .read::<Vec<String>>("type")
            .is_some_and(|kinds| kinds.iter().any(|kind| is_object(kind))) =>
        {
            fields.put("type", "object");
            Checked::Corrected(fields.to_raw())
        }
        Some(_) | None => Checked::Wrong,
    }
}

pub(super) fn is_empty_list(raw: &Raw) -> bool {
    raw.get().strip_prefix('[').is_some_and(|rest| rest.trim_start() == "]")
}

/// The schema of any object.
fn any_object() -> Box<Raw> {
    let mut schema = RawObject::new();
    schema.put("type", "object");
    schema.to_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEGACY: Option<Era> = Some(Era::SESSION);
    const STATELESS: Option<Era> = Some(Era::STATELESS);

    #[test]
    fn an_output_schema_of_the_newest_revision_may_be_of_any_type() {
        for schema in [r#"{"type":"array"}"#, "{}", "true"] {
            let text = format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
            let mut items = vec![raw(&text)];
            assert_eq!((tools(&mut items, STATELESS).len(), items[0].get()), (0, text.as_str()));
            let mut items = vec![raw(&text.replace("{\"name", "{\"title\":null,\"name"))];
            assert_eq!((tools(&mut items, STATELESS).len(), items[0].get()), (1, text.as_str()));
        }
    }

    fn raw(json: &str) -> Box<Raw> {
        Raw::from_string(json.to_owned()).unwrap()
    }

    /// The tool with these fields beside its name.
    fn tool(fields: &str) -> (String, usize) {
        const BEFORE: &str = r#"{"name":"t","inputSchema":{"type":"object"},"#;
        let mut items = vec![raw(&format!("{BEFORE}{fields}}}"))];
        let lines = tools(&mut items, LEGACY);
        let text = items[0].get().to_owned();
        (text.strip_prefix(BEFORE).unwrap_or(&text).trim_end_matches('}').to_owned(), lines.len())
    }

    fn resource(fields: &str) -> (String, usize) {
        let raw = raw(&format!(r#"{{"uri":"x://y"{fields}}}"#));
        let mut entries = vec![ResourceEntry { uri: "x://y".into(), raw }];
        let lines = resources(&mut entries);
        (entries[0].raw.get().to_owned(), lines.len())
    }

    #[test]
    fn a_sloppy_tool_becomes_one_that_every_client_reads() {
        const INPUT: &str = r#""inputSchema":{"type":"object"}"#;
        let schemas = [
            (r#"{}"#, r#"{"type":"object"}"#),
            (r#"{"type":null,"x":1.0}"#, r#"{"type":"object","x":1.0}"#),
            (r#"{"properties":{"a":{}}}"#, r#"{"type":"object","properties":{"a":{}}}"#),
            (r#"{"type":"object","properties":null,"required":null}"#, r#"{"type":"object"}"#),
            (
                r#"{"type":"object","properties":{"a":true,"b":false,"c":{"n":1.0},"d":null}}"#,
                r#"{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{"n":1.0},"d":{}}}"#,
            ),
        ];
        for (schema, expected) in schemas {
            for key in ["inputSchema", "outputSchema"] {
                let beside = if key == "outputSchema" { format!("{INPUT},") } else { String::new() };
                let expected = format!(r#"{{"name":"t",{beside}"{key}":{expected}}}"#);
                let mut items = vec![raw(&format!(r#"{{"name":"t",{beside}"{key}":{schema}}}"#))];
                assert_eq!(tools(&mut items, LEGACY).len(), 1, "{schema}");
                assert_eq!(items[0].get(), expected);
            }
        }
        let inputs = [
            ("null", r#"{"type":"object"}"#),
            ("[]", r#"{"type":"object"}"#),
            (r#"{"type":["object","null"]}"#, r#"{"type":"object"}"#),
            (r#"{"type":"dict","properties":[]}"#, r#"{"type":"object","properties":{}}"#),
            (r#""{\"type\":\"object\"}""#, r#"{"type":"object"}"#),
            (
                r#"{"type":"object","properties":{"n":{"type":"int"}},"required":"n"}"#,
                r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#,
            ),
        ];
        for (schema, expected) in inputs {
            let mut items = vec![raw(&format!(r#"{{"name":"t","inputSchema":{schema}}}"#))];
            assert_eq!(tools(&mut items, LEGACY).len(), 1, "{schema}");
            assert_eq!(items[0].get(), format!(r#"{{"name":"t","inputSchema":{expected}}}"#));
        }
        let mut items = vec![raw(r#"{"name":"t"}"#)];
        assert_eq!(tools(&mut items, LEGACY).len(), 1);
        assert_eq!(items[0].get(), r#"{"name":"t","inputSchema":{"type":"object"}}"#);
        for wrong in [
            r#""description":null"#,
            r#""description":5"#,
            r#""title":null"#,
            r#""annotations":null"#,
            r#""outputSchema":null"#,
            r#""outputSchema":true"#,
            r#""outputSchema":[]"#,
            r#""outputSchema":{"type":"array"}"#,
            r#""icons":null"#,
            r#""_meta":null"#,
            r#""_meta":[]"#,
            r#""execution":null"#,
            r#""execution":"optional""#,
        ] {
            let mut items = vec![raw(&format!(r#"{{"name":"t",{INPUT},{wrong}}}"#))];
            assert_eq!(tools(&mut items, LEGACY).len(), 1, "{wrong}");
            assert_eq!(items[0].get(), format!(r#"{{"name":"t",{INPUT}}}"#), "{wrong}");
        }
        let within = [
            (
                r#""annotations":{"title":null,"own":1.0,"readOnlyHint":"true"}"#,
                r#""annotations":{"own":1.0}"#,
            ),
            (r#""execution":{"taskSupport":"always","own":1}"#, r#""execution":{"own":1}"#),
            (
                r#""icons":[{"src":"data:,","sizes":"48x48 96x96"},{"sizes":[]},7],"x":1"#,
                r#""icons":[{"src":"data:,","sizes":["48x48","96x96"]}],"x":1"#,
            ),
        ];
        for (wrong, right) in within {
            assert_eq!(tool(wrong), (right.trim_end_matches('}').to_owned(), 1), "{wrong}");
        }
    }

    #[test]
    fn a_tool_that_clients_read_keeps_its_bytes() {
        let fields = r#""inputSchema": {"b":[ ],"type": "object","required":["a"],"properties":{"a":{"k":true}}},
            "own":null,"title":"T","annotations":{"readOnlyHint":true,"own":null},"execution":{"x":1,"taskSupport":"optional"},
            "icons":[{"src":"data:,","sizes":["1x1"],"theme":"dark"}],"outputSchema":{"type":"object"},"_meta":{"a":null}"#;
        let mut items = vec![raw(&format!(r#"{{"name":"t",{fields}}}"#)), raw("null"), raw("[]")];
        let before: Vec<_> = items.iter().map(|raw| raw.get().to_owned()).collect();
        assert_eq!(tools(&mut items, LEGACY), Vec::<String>::new());
        assert_eq!(items.iter().map(|raw| raw.get()).collect::<Vec<_>>(), before);
    }

    #[test]
    fn an_input_schema_that_cannot_be_completed_is_left_to_the_check() {
        for schema in ["5", "false", r#"{"type":"array"}"#, r#"{"type":"object","properties":{"a":5}}"#] {
            let text = format!(r#"{{"name":"t","inputSchema":{schema}}}"#);
            let mut items = vec![raw(&text)];
            assert_eq!((tools(&mut items, LEGACY).len(), items[0].get()), (0, text.as_str()));
        }
    }

    #[test]
    fn sloppy_resources_and_prompts_are_corrected_and_others_keep_their_bytes() {
        for (fields, expected, lines) in [
            (r#","name":"n","mimeType":null,"size":"12","own":null"#, r#","name":"n","own":null"#, 1),
            (r#","name":"n","size":1.5"#, r#","name":"n""#, 1),
            (r#","title":"T""#, r#","title":"T","name":"T""#, 1),
            ("", r#","name":"x://y""#, 1),
            (r#","name":null"#, r#","name":"x://y""#, 1),
            (
                r#","name":"n","annotations":{"priority":5,"audience":["robot","user"],"lastModified":"today"}"#,
                r#","name":"n","annotations":{"audience":["user"]}"#,
                1,
            ),
            (
                r#","name":"n", "size":12345678901234567890,"annotations":{"priority":1.0,"lastModified":"2025-01-12T15:00:58.1+02:00"}"#,
                r#","name":"n", "size":12345678901234567890,"annotations":{"priority":1.0,"lastModified":"2025-01-12T15:00:58.1+02:00"}"#,
                0,
            ),
        ] {
            assert_eq!(resource(fields), (format!(r#"{{"uri":"x://y"{expected}}}"#), lines), "{fields}");
        }
        let mut items = vec![
            raw(r#"{"name":"a","arguments":null}"#),
            raw(r#"{"description":"nameless"}"#),
            raw(r#"{"name":"b","arguments":[{"name":"x","required":"yes","own":1},{"required":true}]}"#),
            raw(r#"{"name":"c", "arguments":[{"name":"x","schema":{"z":1}}],"icons":[]}"#),
        ];
        assert_eq!(
            prompts(&mut items),
            [
                "corrected prompt a, whose arguments clients would reject",
                "left out prompt 2 of the list: it has no name",
                "corrected prompt b, whose arguments clients would reject",
            ]
        );
        assert_eq!(
            items.iter().map(|raw| raw.get()).collect::<Vec<_>>(),
            [
                r#"{"name":"a"}"#,
                r#"{"name":"b","arguments":[{"name":"x","own":1}]}"#,
                r#"{"name":"c", "arguments":[{"name":"x","schema":{"z":1}}],"icons":[]}"#,
            ]
        );
    }
}
