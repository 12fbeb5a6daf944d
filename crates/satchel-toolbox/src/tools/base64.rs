//! Base64, standard and URL-safe.

use ::base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Complaint, Tool, ToolAnswer, hash::hex, parse, schema};

pub(super) const ENCODE: Tool = Tool {
    name: "encode_base64",
    title: "Encode base64",
    description: "Encodes text (UTF-8) as base64.",
    example: r#"{"text": "hello", "url_safe": true}"#,
    input_schema: encode_input,
    output_schema: encode_output,
    repeatable: true,
    slow: false,
    call: encode,
};

pub(super) const DECODE: Tool = Tool {
    name: "decode_base64",
    title: "Decode base64",
    description: "Decodes base64, standard or URL-safe, padded or not. Answers with text, or hex when it is not text.",
    example: r#"{"base64": "aGVsbG8="}"#,
    input_schema: decode_input,
    output_schema: decode_output,
    repeatable: true,
    slow: false,
    call: decode,
};

/// Reads with and without padding; URL-safe characters are translated first.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    text: String,
    #[serde(default)]
    url_safe: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Encoded {
    base64: String,
}

fn encode_input() -> Value {
    schema(
        &["text"],
        json!({
            "text": {"type": "string"},
            "url_safe": {
                "type": "boolean", "default": false,
                "description": "Use - and _ instead of + and /, and no padding.",
            },
        }),
    )
}

fn encode_output() -> Value {
    schema(&["base64"], json!({"base64": {"type": "string"}}))
}

fn decode_input() -> Value {
    schema(&["base64"], json!({"base64": {"type": "string", "description": "White space is ignored."}}))
}

fn decode_output() -> Value {
    schema(
        &["bytes"],
        json!({
            "bytes": {"type": "integer", "description": "How many bytes it stood for."},
            "text": {"type": "string", "description": "The bytes as text, when they are UTF-8."},
            "hex": {"type": "string", "description": "The bytes as hex, when they are not UTF-8."},
        }),
    )
}

fn encode(arguments: Value) -> Result<ToolAnswer, Complaint> {
    let Plain { text, url_safe } = parse(arguments)?;
    let encoded = match url_safe {
        true => general_purpose::URL_SAFE_NO_PAD.encode(text),
        false => general_purpose::STANDARD.encode(text),
    };
    Ok(ToolAnswer { text: encoded.clone(), structured: json!({"base64": encoded}) })
}

fn decode(arguments: Value) -> Result<ToolAnswer, Complaint> {
    let Encoded { base64 } = parse(arguments)?;
    let translate = |character| match character {
        '-' => '+',
        '_' => '/',
        other => other,
    };
    let packed: String = base64.chars().filter(|c| !c.is_whitespace()).map(translate).collect();
    let bytes = LENIENT.decode(packed).map_err(|wrong| {
        Complaint(format!("This is not base64: {wrong}. Check that nothing was cut off or added."))
    })?;
    let length = bytes.len();
    Ok(match String::from_utf8(bytes) {
        Ok(text) => ToolAnswer { structured: json!({"bytes": length, "text": text}), text },
        Err(not_text) => {
            let hex = hex(not_text.as_bytes());
            ToolAnswer {
                text: format!("Not text. As hex: {hex}"),
                structured: json!({"bytes": length, "hex": hex}),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back_through_either_alphabet() {
        for (text, standard, url_safe) in [
            ("", "", ""),
            ("hello", "aGVsbG8=", "aGVsbG8"),
            ("ÿ?>~", "w78/Pn4=", "w78_Pn4"),
            ("日本語", "5pel5pys6Kqe", "5pel5pys6Kqe"),
        ] {
            assert_eq!(encode(json!({"text": text})).unwrap().text, standard);
            assert_eq!(encode(json!({"text": text, "url_safe": true})).unwrap().text, url_safe);
            for encoded in [standard, url_safe] {
                assert_eq!(decode(json!({"base64": encoded})).unwrap().text, text);
            }
        }
    }

    #[test]
    fn wrapped_lines_and_bytes_that_are_not_text_are_read() {
        assert_eq!(decode(json!({"base64": "aGVs\r\n bG8="})).unwrap().text, "hello");
        assert_eq!(decode(json!({"base64": "/wA="})).unwrap().structured, json!({"bytes": 2, "hex": "ff00"}));
    }

    #[test]
    fn invalid_base64_is_an_error() {
        for bad in ["a", "a=b=", "*", "aGVsbG8==="] {
            let Complaint(text) = decode(json!({"base64": bad})).unwrap_err();
            assert!(text.starts_with("This is not base64"), "{bad}: {text}");
        }
    }
}
