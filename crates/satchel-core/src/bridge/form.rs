//! Reads a server's elicitation request (`2026-07-28/client/elicitation.mdx`) as a form for a person and validates the
//! answer. Pure. A form that cannot be shown completely and plainly is declined.

use satchel_mcp::{Raw, RawObject};
use serde_json::{Map, Value, json};
use url::Url;

use crate::{
    model::asks::{FieldInput, FieldOption, FormField, ServerQuestion, TextFormat, Wanted},
    trust::{clean, secret},
};

/// Maximum number of fields.
const FIELDS: usize = 40;
const OPTIONS: usize = 200;
const MESSAGE: usize = 4_000;
const TITLE: usize = 200;
const DESCRIPTION: usize = 1_000;
const ADDRESS: usize = 8_000;

/// Why a question cannot be shown to a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unaskable {
    /// It must not be shown, by any interface or client.
    #[error("{0}")]
    Dangerous(String),
    /// Satchel cannot display it; the client may be able to.
    #[error("{0}")]
    Unknown(String),
}

/// Parses the parameters of `elicitation/create`.
///
/// # Errors
/// [`Unaskable`] with the reason.
pub fn read(params: Option<&Raw>) -> Result<ServerQuestion, Unaskable> {
    let params = params.and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default();
    let said = params.text("message").unwrap_or_default();
    let message = shown(&said, MESSAGE);
    let wants = match params.text("mode").as_deref() {
        Some("url") => page(&params.text("url").unwrap_or_default())?,
        None | Some("form") => form(&params.read("requestedSchema").unwrap_or(Value::Null), &said)?,
        Some(mode) => {
            return Err(Unaskable::Unknown(format!("it asks in an unknown mode ({mode:?})")));
        }
    };
    Ok(ServerQuestion { message, wants })
}

/// Only web pages are opened, and only if their owner is visible in the address.
fn page(address: &str) -> Result<Wanted, Unaskable> {
    let no = |why: &str| Err(Unaskable::Dangerous(format!("it wants a page opened whose address {why}")));
    let too_long = |address: &str| address.len() > ADDRESS;
    if too_long(address) {
        return no("is too long to be read");
    }
    if address.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return no("has characters that are not valid in an address");
    }
    let Ok(url) = Url::parse(address) else { return no("cannot be read") };
    // In the form in which it is opened, with non-ASCII characters encoded.
    if too_long(url.as_str()) {
        return no("is too long to be read");
    }
    if !matches!(url.scheme(), "https" | "http") {
        return no("is not a web address");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return no("names a user, which hides whose page it is");
    }
    match url.host_str() {
        Some(host) => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            Ok(Wanted::Page { host: format!("{host}{port}"), url: url.into() })
        }
        None => no("names no host"),
    }
}

fn form(schema: &Value, message: &str) -> Result<Wanted, Unaskable> {
    let properties = schema["properties"].as_object();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut fields = Vec::new();
    for (name, property) in properties.into_iter().flatten() {
        let required = required.contains(&name.as_str());
        match input(property) {
            Some(input) => fields.push(FormField {
                name: name.clone(),
                title: shown(titled(property).unwrap_or(name), TITLE),
                description: shown(property["description"].as_str().unwrap_or_default(), DESCRIPTION),
                required,
                input,
            }),
            // Optional fields that cannot be shown are left out.
            None if !required => {}
            None => {
                let name = shown(name, TITLE);
                return Err(Unaskable::Unknown(format!(
                    "its form has a field that cannot be shown ({name})"
                )));
            }
        }
    }
    let known = |name: &&str| fields.iter().any(|field| field.name == **name);
    if let Some(name) = required.iter().find(|name| !known(name)) {
        let name = shown(name, TITLE);
        return Err(Unaskable::Unknown(format!("its form wants a field that it does not describe ({name})")));
    }
    if fields.len() > FIELDS {
        return Err(Unaskable::Unknown(format!("its form has {} fields", fields.len())));
    }
    let secrets = secrets(&fields, properties, message);
    Ok(if secrets.is_empty() { Wanted::Form { fields } } else { Wanted::Secret { fields: secrets } })
}

/// The titles of fields that ask for a secret, judged by their own text or the form's.
fn secrets(fields: &[FormField], properties: Option<&Map<String, Value>>, message: &str) -> Vec<String> {
    let takes_words = |field: &&FormField| {
        matches!(field.input, FieldInput::Text { format: None, .. } | FieldInput::Number { .. })
    };
    let asks = |field: &&FormField| {
        let property = properties.and_then(|all| all.get(&field.name)).unwrap_or(&Value::Null);
        let masked = property["format"].as_str() == Some("password") || property["writeOnly"] == true;
        masked
            || secret::is_labelled(&field.name)
            || secret::is_labelled(&field.title)
            || secret::is_wanted(&field.description)
    };
    let open = fields.iter().filter(takes_words);
    let named: Vec<String> = open.clone().filter(asks).map(|field| field.title.clone()).collect();
    if named.is_empty() && secret::is_wanted(message) {
        return open.map(|field| field.title.clone()).collect();
    }
    named
}

fn titled(property: &Value) -> Option<&str> {
    property["title"].as_str().filter(|title| !title.trim().is_empty())
}

/// The field types that a form may have (`2026-07-28/client/elicitation.mdx#requested-schema`).
fn input(property: &Value) -> Option<FieldInput> {
    let number = |key: &str| property[key].as_f64();
    let count = |key: &str| property[key].as_u64();
    Some(match property["type"].as_str()? {
        "string" => match options(property, "oneOf")? {
            options if !options.is_empty() => {
                let initial = property["default"].as_str().map(ToOwned::to_owned);
                let initial = initial.filter(|initial| options.iter().any(|option| option.value == *initial));
                FieldInput::Choice { options, initial }
            }
            _ => FieldInput::Text {
                format: property["format"].as_str().and_then(text_format),
                min: count("minLength"),
                max: count("maxLength"),
                initial: property["default"].as_str().unwrap_or_default().to_owned(),
            },
        },
        kind @ ("number" | "integer") => FieldInput::Number {
            whole: kind == "integer",
            min: number("minimum"),
            max: number("maximum"),
            initial: number("default"),
        },
        "boolean" => FieldInput::Toggle { initial: property["default"].as_bool().unwrap_or_default() },
        "array" => {
            let options = options(&property["items"], "anyOf")?;
            if options.is_empty() {
                return None;
            }
            let given = property["default"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let initial = given.filter(|given| options.iter().any(|option| option.value == *given));
            let initial = initial.map(ToOwned::to_owned).collect();
            FieldInput::Several { initial, options, min: count("minItems"), max: count("maxItems") }
        }
        _ => return None,
    })
}

fn text_format(name: &str) -> Option<TextFormat> {
    match name {
        "email" => Some(TextFormat::Email),
        "uri" => Some(TextFormat::Uri),
        "date" => Some(TextFormat::Date),
        "date-time" => Some(TextFormat::DateTime),
        // An unknown format does not prevent input.
        _ => None,
    }
}

/// The options of a choice: with individual titles, with `enumNames` in the older form, or plain. Returns nothing for
/// options that cannot be shown: too many, or not strings.
fn options(property: &Value, titled: &str) -> Option<Vec<FieldOption>> {
    let option =
        |value: &str, title: &str| FieldOption { value: value.to_owned(), title: shown(title, TITLE) };
    let either = property[titled].as_array().or_else(|| property["oneOf"].as_array());
    let options: Option<Vec<_>> = match (either, property["enum"].as_array()) {
        (Some(all), _) => {
            let read = |one: &Value| {
                let value = one["const"].as_str()?;
                Some(option(value, one["title"].as_str().unwrap_or(value)))
            };
            all.iter().map(read).collect()
        }
        (None, Some(all)) => {
            let named = |at: usize| property["enumNames"].get(at).and_then(Value::as_str);
            let read =
                |(at, one): (usize, &Value)| Some(option(one.as_str()?, named(at).unwrap_or(one.as_str()?)));
            all.iter().enumerate().map(read).collect()
        }
        (None, None) => Some(vec![]),
    };
    options.filter(|options| options.len() <= OPTIONS)
}

/// Validates an answer and drops fields that the form does not have.
///
/// # Errors
/// What is wrong, naming the field.
pub fn checked(wants: &Wanted, mut content: Map<String, Value>) -> Result<Map<String, Value>, String> {
    let fields = match wants {
        Wanted::Form { fields } => fields,
        Wanted::Page { .. } => return Ok(Map::new()),
        Wanted::Secret { .. } => return Err("it asks for a secret and can only be declined".to_owned()),
        Wanted::Credential { .. } => return Err("what it wants is stored, and never an answer".to_owned()),
    };
    content.retain(|name, value| !value.is_null() && fields.iter().any(|field| field.name == *name));
    for field in fields {
        match content.get(&field.name) {
            None if field.required => return Err(format!("{}: it is required", field.title)),
            None => {}
            Some(value) => fits(&field.input, value).map_err(|why| format!("{}: {why}", field.title))?,
        }
    }
    Ok(content)
}

fn fits(input: &FieldInput, value: &Value) -> Result<(), String> {
    let schema = match input {
        FieldInput::Text { format, min, max, .. } => json!({
            "type": "string", "format": format, "minLength": min, "maxLength": max,
        }),
        FieldInput::Number { whole, min, max, .. } => json!({
            "type": if *whole { "integer" } else { "number" }, "minimum": min, "maximum": max,
        }),
        FieldInput::Toggle { .. } => json!({ "type": "boolean" }),
        FieldInput::Choice { options, .. } => json!({ "enum": values(options) }),
        FieldInput::Several { options, min, max, .. } => json!({
            "type": "array", "minItems": min, "maxItems": max, "uniqueItems": true,
            "items": { "enum": values(options) },
        }),
    };
    let said: Map<String, Value> = schema
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let options = jsonschema::options().should_validate_formats(true);
    let validator = options.build(&Value::Object(said)).map_err(|error| error.to_string())?;
    validator.validate(value).map_err(|error| clean::visible(&error.to_string()))
}

fn values(options: &[FieldOption]) -> Vec<&str> {
    options.iter().map(|option| option.value.as_str()).collect()
}

/// Escapes hidden characters and limits the length.
fn shown(text: &str, most: usize) -> String {
    let visible = clean::visible(text);
    match visible.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &visible[..end]),
        None => visible,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(value: &Value) -> Box<Raw> {
        serde_json::value::to_raw_value(value).unwrap()
    }

    fn of(properties: &Value) -> Result<ServerQuestion, Unaskable> {
        read(Some(&raw(
            &json!({ "message": "m", "requestedSchema": { "type": "object", "properties": properties } }),
        )))
    }

    fn only(property: Value) -> FieldInput {
        match of(&json!({ "f": property })).unwrap().wants {
            Wanted::Form { mut fields } => fields.remove(0).input,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_kind_of_field_is_read_with_its_bounds_and_what_stands_in_it() {
        let option = |value: &str, title: &str| FieldOption { value: value.into(), title: title.into() };
        let choice = |initial: Option<&str>| FieldInput::Choice {
            options: vec![option("a", "Ay"), option("b", "Bee")],
            initial: initial.map(Into::into),
        };
        for (property, expected) in [
            (
                json!({ "type": "string", "format": "email", "minLength": 3, "maxLength": 9, "default": "a@b" }),
                FieldInput::Text {
                    format: Some(TextFormat::Email),
                    min: Some(3),
                    max: Some(9),
                    initial: "a@b".into(),
                },
            ),
            (
                json!({ "type": "integer", "minimum": 1, "maximum": 5, "default": 2 }),
                FieldInput::Number { whole: true, min: Some(1.0), max: Some(5.0), initial: Some(2.0) },
            ),
            (json!({ "type": "boolean", "default": true }), FieldInput::Toggle { initial: true }),
            (
                json!({ "type": "string", "oneOf": [{ "const": "a", "title": "Ay" }, { "const": "b", "title": "Bee" }], "default": "b" }),
                choice(Some("b")),
            ),
            (
                json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["Ay", "Bee"], "default": "z" }),
                choice(None),
            ),
            (
                json!({ "type": "array", "minItems": 1, "items": { "anyOf": [{ "const": "a", "title": "Ay" }] }, "default": ["a", "z"] }),
                FieldInput::Several {
                    options: vec![option("a", "Ay")],
                    min: Some(1),
                    max: None,
                    initial: vec!["a".into()],
                },
            ),
            (
                json!({ "type": "array", "items": { "type": "string", "enum": ["a"] } }),
                FieldInput::Several {
                    options: vec![option("a", "a")],
                    min: None,
                    max: None,
                    initial: vec![],
                },
            ),
        ] {
            assert_eq!(only(property.clone()), expected, "{property}");
        }
    }

    #[test]
    fn fields_that_cannot_be_shown_are_omitted_or_the_form_is_not_asked() {
        let nested = json!({ "type": "object", "properties": {} });
        assert_eq!(of(&json!({ "x": nested })).unwrap().wants, Wanted::Form { fields: vec![] });
        let asked = |required: Value, properties: Value| {
            let schema = json!({ "type": "object", "required": required, "properties": properties });
            read(Some(&raw(&json!({ "message": "m", "requestedSchema": schema })))).map(|_| ())
        };
        assert!(matches!(asked(json!(["x"]), json!({ "x": nested })), Err(Unaskable::Unknown(_))));
        assert!(matches!(asked(json!(["y"]), json!({})), Err(Unaskable::Unknown(_))));
        let many: Map<String, Value> =
            (0..41).map(|at| (format!("f{at}"), json!({ "type": "boolean" }))).collect();
        assert!(matches!(of(&Value::Object(many)), Err(Unaskable::Unknown(_))));
        assert!(read(Some(&raw(&json!({ "mode": "dance" })))).is_err());
        assert_eq!(read(None).unwrap().wants, Wanted::Form { fields: vec![] });
    }

    #[test]
    fn fields_for_secrets_are_recognised() {
        let wants = |message: &str, properties: Value| {
            let schema = json!({ "type": "object", "properties": properties });
            let asked = read(Some(&raw(&json!({ "message": message, "requestedSchema": schema }))));
            matches!(asked.unwrap().wants, Wanted::Secret { .. })
        };
        let text = |more: Value| {
            let mut property = json!({ "type": "string" });
            property.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            property
        };
        for (message, properties) in [
            ("Session expired.", json!({ "password": text(json!({})), "note": text(json!({})) })),
            ("m", json!({ "api_key": text(json!({})) })),
            ("m", json!({ "githubToken": text(json!({})) })),
            ("m", json!({ "x": text(json!({ "title": "Your PIN" })) })),
            ("m", json!({ "x": text(json!({ "title": "Log-in phrase" })) })),
            ("m", json!({ "x": text(json!({ "title": "P a s s w о r d" })) })),
            ("m", json!({ "x": text(json!({ "format": "password" })) })),
            ("m", json!({ "x": text(json!({ "description": "Paste your access token here" })) })),
            ("Enter your password.", json!({ "value": text(json!({})) })),
        ] {
            assert!(wants(message, properties.clone()), "{message} {properties}");
        }
        for (message, properties) in [
            ("m", json!({ "max_tokens": { "type": "integer" }, "monkey": text(json!({})) })),
            ("m", json!({ "keyboard": text(json!({})), "author": text(json!({})) })),
            ("m", json!({ "passwordPolicy": { "type": "string", "enum": ["strict", "lax"] } })),
            ("Enter your name.", json!({ "value": text(json!({})) })),
            ("Your password will expire soon. Go on?", json!({ "sure": { "type": "boolean" } })),
        ] {
            assert!(!wants(message, properties.clone()), "{message} {properties}");
        }
    }

    #[test]
    fn only_pages_of_the_web_whose_host_can_be_seen_are_opened() {
        let page = |url: &str| {
            read(Some(&raw(&json!({ "mode": "url", "message": "m", "url": url })))).map(|asked| asked.wants)
        };
        let shown = |url: &str| match page(url) {
            Ok(Wanted::Page { url, host }) => (url, host),
            other => panic!("{other:?}"),
        };
        assert_eq!(shown("https://linear.app/a?b#c").1, "linear.app");
        assert_eq!(shown("http://127.0.0.1:8080/x").1, "127.0.0.1:8080");
        assert_eq!(
            shown("https://аpple.com/").1,
            "xn--pple-43d.com",
            "look-alikes are seen as what they are"
        );
        for url in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "ftp://h/x",
            "vbscript:x",
            "https:",
            "",
            "https://good.example@evil.example/",
            "https://u:p@h/",
            "https://h/a\nb",
            "https://h/\u{202e}x y",
            "//h/x",
            "ms-settings:",
            "smb://h/s",
            "--help",
            "https://",
        ] {
            assert!(matches!(page(url), Err(Unaskable::Dangerous(_))), "{url}");
        }
        for long in ["a".repeat(100_000), "ü".repeat(3_000)] {
            assert!(page(&format!("https://h/{long}")).is_err(), "as it is opened, it is too long");
        }
    }

    #[test]
    fn an_answer_matches_its_form_or_names_the_mismatch() {
        let schema = json!({ "type": "object", "required": ["mail"], "properties": {
            "mail": { "type": "string", "format": "email", "title": "Mail" },
            "day": { "type": "string", "format": "date" },
            "count": { "type": "integer", "minimum": 1, "maximum": 3 },
            "sure": { "type": "boolean" },
            "one": { "type": "string", "enum": ["a", "b"] },
            "some": { "type": "array", "maxItems": 1, "items": { "type": "string", "enum": ["a", "b"] } },
        } });
        let wants = read(Some(&raw(&json!({ "message": "m", "requestedSchema": schema })))).unwrap().wants;
        let check = |content: Value| checked(&wants, content.as_object().unwrap().clone());
        let good = json!({ "mail": "a@b.example", "day": "2026-07-28", "count": 2, "sure": false, "one": "b", "some": ["a"] });
        assert_eq!(Value::Object(check(good.clone()).unwrap()), good);
        assert_eq!(
            Value::Object(check(json!({ "mail": "a@b.example", "x": 1, "day": null })).unwrap()),
            json!({ "mail": "a@b.example" })
        );
        for (wrong, part) in [
            (json!({}), "Mail: it is required"),
            (json!({ "mail": "no" }), "Mail: "),
            (json!({ "mail": 3 }), "Mail: "),
            (json!({ "mail": "a@b.example", "day": "tomorrow" }), "day: "),
            (json!({ "mail": "a@b.example", "count": 4 }), "count: "),
            (json!({ "mail": "a@b.example", "count": 1.5 }), "count: "),
            (json!({ "mail": "a@b.example", "one": "c" }), "one: "),
            (json!({ "mail": "a@b.example", "some": ["a", "b"] }), "some: "),
            (json!({ "mail": "a@b.example", "some": ["a", "a"] }), "some: "),
            (json!({ "mail": "a@b.example", "sure": "yes" }), "sure: "),
        ] {
            let why = check(wrong.clone()).unwrap_err();
            assert!(why.starts_with(part), "{wrong}: {why}");
        }
        assert!(checked(&Wanted::Secret { fields: vec![] }, Map::new()).is_err());
        assert!(checked(&Wanted::Credential { name: "TOKEN".into() }, Map::new()).is_err());
    }

    #[test]
    fn a_file_is_asked_for_as_a_text_and_goes_out_as_its_address_or_as_it_stands() {
        // No revision has a field type for files: servers ask for a path, an address or the content.
        for (format, given) in [
            (Some("uri"), "file:///home/ada/notes.pdf"),
            (Some("file-path"), "/home/ada/notes.pdf"),
            (Some("data-url"), "data:text/plain;base64,aGk="),
            (None, "~/notes.pdf"),
        ] {
            let property = json!({ "type": "string", "format": format, "contentEncoding": "base64" });
            let schema =
                json!({ "type": "object", "required": ["file"], "properties": { "file": property } });
            let asked = read(Some(&raw(&json!({ "message": "Which file?", "requestedSchema": schema }))));
            let wants = asked.unwrap().wants;
            let content = json!({ "file": given }).as_object().unwrap().clone();
            assert_eq!(checked(&wants, content.clone()).unwrap(), content, "{format:?}");
        }
    }

    #[test]
    fn nothing_that_is_shown_hides_or_turns_anything() {
        let asked = read(Some(&raw(&json!({
            "message": "a\u{202e}b", "requestedSchema": { "properties": {
                "n": { "type": "string", "title": "t\u{200b}", "description": "\u{e0041}d", "enum": ["v"], "enumNames": ["\u{202e}n"] },
            } },
        }))))
        .unwrap();
        let text = serde_json::to_string(&asked).unwrap();
        assert!(!text.contains(['\u{202e}', '\u{200b}', '\u{e0041}']), "{text}");
        let long = read(Some(&raw(&json!({ "message": "m".repeat(100_000) })))).unwrap();
        assert!(long.message.chars().count() <= MESSAGE + 1);
    }
}
