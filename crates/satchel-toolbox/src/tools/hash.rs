//! Digests of text or bytes.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::Digest;

use super::{Complaint, Tool, ToolAnswer, parse, schema};

pub(super) const TOOL: Tool = Tool {
    name: "hash_text",
    title: "Hash",
    description: "Hashes text, or bytes given as base64, with SHA-256, SHA-512, SHA-1 or MD5. Answers in lower-case hex.",
    example: r#"{"text": "hello", "algorithm": "sha256"}"#,
    input_schema,
    output_schema,
    repeatable: true,
    slow: false,
    call,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    text: String,
    #[serde(default)]
    algorithm: Algorithm,
    #[serde(default)]
    encoding: Encoding,
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
enum Algorithm {
    #[default]
    Sha256,
    Sha512,
    Sha1,
    Md5,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    #[default]
    Utf8,
    Base64,
}

fn input_schema() -> Value {
    schema(
        &["text"],
        json!({
            "text": {"type": "string", "description": "What to hash."},
            "algorithm": {"type": "string", "enum": ["sha256", "sha512", "sha1", "md5"], "default": "sha256"},
            "encoding": {
                "type": "string", "enum": ["utf8", "base64"], "default": "utf8",
                "description": "utf8: hash the text itself. base64: decode it first and hash the bytes.",
            },
        }),
    )
}

fn output_schema() -> Value {
    schema(
        &["hex", "bytes"],
        json!({
            "hex": {"type": "string", "description": "The digest."},
            "bytes": {"type": "integer", "description": "How many bytes were hashed."},
        }),
    )
}

fn call(arguments: Value) -> Result<ToolAnswer, Complaint> {
    let Arguments { text, algorithm, encoding } = parse(arguments)?;
    let bytes = match encoding {
        Encoding::Utf8 => text.into_bytes(),
        Encoding::Base64 => STANDARD.decode(text.trim()).map_err(|wrong| {
            Complaint(format!(
                "\"text\" is not standard base64: {wrong}. Use \"encoding\": \"utf8\" for plain text."
            ))
        })?,
    };
    let hex = match algorithm {
        Algorithm::Sha256 => hex(&sha2::Sha256::digest(&bytes)),
        Algorithm::Sha512 => hex(&sha2::Sha512::digest(&bytes)),
        Algorithm::Sha1 => hex(&sha1::Sha1::digest(&bytes)),
        Algorithm::Md5 => hex(&md5::Md5::digest(&bytes)),
    };
    Ok(ToolAnswer { text: hex.clone(), structured: json!({"hex": hex, "bytes": bytes.len()}) })
}

/// Bytes as lower-case hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_published_test_vectors() {
        let cases = [
            (json!({"text": ""}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (
                json!({"text": "abc", "algorithm": "sha256"}),
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (json!({"text": "abc", "algorithm": "sha1"}), "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (json!({"text": "abc", "algorithm": "md5"}), "900150983cd24fb0d6963f7d28e17f72"),
            (
                json!({"text": "YWJj", "encoding": "base64", "algorithm": "md5"}),
                "900150983cd24fb0d6963f7d28e17f72",
            ),
            (
                json!({"text": "abc", "algorithm": "sha512"}),
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                 2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
        ];
        for (arguments, expected) in cases {
            assert_eq!(call(arguments).unwrap().text, expected);
        }
    }

    #[test]
    fn an_error_suggests_a_valid_argument() {
        for (arguments, part) in [
            (json!({"text": "a", "algorithm": "sha3"}), "expected one of `sha256`, `sha512`, `sha1`, `md5`"),
            (json!({"text": "%%", "encoding": "base64"}), "Use \"encoding\": \"utf8\""),
        ] {
            let Complaint(text) = call(arguments).unwrap_err();
            assert!(text.contains(part), "{text}");
        }
    }
}
