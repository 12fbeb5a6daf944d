//! Limits on what is accepted from the other side.

/// Maximum size of a message from a server, in bytes.
pub const MESSAGE_BYTES: usize = 16 * 1024 * 1024;
/// Default maximum size of a request body from a client, in bytes.
pub const BODY_BYTES: usize = 4 * 1024 * 1024;
/// Upper limit of the configured maximum.
pub const BODY_BYTES_MOST: usize = 64 * 1024 * 1024;
/// Maximum nesting of arrays and objects.
pub const JSON_DEPTH: usize = 128;
/// Maximum number of tools per server.
pub const TOOLS_PER_SERVER: usize = 10_000;
/// Maximum total size of one server's definitions, in bytes.
pub const DEFINITIONS_BYTES: usize = 32 * 1024 * 1024;
/// Maximum size of a tool definition, in bytes.
pub const TOOL_BYTES: usize = 256 * 1024;
/// Maximum nesting of a tool definition.
pub const SCHEMA_DEPTH: usize = 64;
/// Maximum number of pages of a list.
pub const LIST_PAGES: usize = 500;

/// The nesting depth of a JSON text. Brackets inside strings do not count. The text need not be valid; only bytes are
/// examined, so it is safe on hostile input.
pub fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0usize, 0usize);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(inside) = bytes.next() {
                    match inside {
                        b'\\' => {
                            bytes.next();
                        }
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::depth;

    #[test]
    fn depth_counts_brackets_but_not_those_in_strings() {
        for (json, expected) in [
            ("1", 0),
            ("{}", 1),
            (r#"{"a":[{}]}"#, 3),
            (r#"{"a":"[[[[\"[["}"#, 1),
            (r#"["\\",[]]"#, 2),
            ("]]]][", 1),
        ] {
            assert_eq!(depth(json.as_bytes()), expected, "{json}");
        }
    }
}
