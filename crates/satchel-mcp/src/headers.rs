//! Request metadata that 2026-07-28 repeats in HTTP headers (`basic/transports/streamable-http.mdx#request-metadata`).

use base64::{Engine, engine::general_purpose::STANDARD};

const START: &str = "=?base64?";
const END: &str = "?=";

/// The parameter that `Mcp-Name` repeats; `None` if the method needs none.
pub fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        // The extension io.modelcontextprotocol/tasks.
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// Decodes a header value. Text that is not valid in a header is sent as `=?base64?…?=`. `None` if that is not base64
/// of UTF-8.
pub fn decode(value: &str) -> Option<String> {
    let Some(inner) = value.strip_prefix(START).and_then(|rest| rest.strip_suffix(END)) else {
        return Some(value.to_owned());
    };
    String::from_utf8(STANDARD.decode(inner).ok()?).ok()
}

/// Encodes a value for a header.
pub fn encode(value: &str) -> String {
    let plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let padded = value.trim() != value;
    let sentinel = value.starts_with(START) && value.ends_with(END);
    if plain && !padded && !sentinel {
        value.to_owned()
    } else {
        format!("{START}{}{END}", STANDARD.encode(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specifications_examples_are_written_and_read() {
        for (value, header) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("", ""),
        ] {
            assert_eq!(encode(value), header);
            assert_eq!(decode(header).as_deref(), Some(value));
        }
        assert_eq!(decode("=?base64?%%%?="), None);
        assert_eq!(decode("=?base64?/w==?="), None);
    }
}
