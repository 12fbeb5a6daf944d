//! Limits on what is accepted from the other side.

/// Largest message from a server, in bytes.
pub const MESSAGE_BYTES: usize = 16 * 1024 * 1024;
/// Largest request body from a client, in bytes, unless the configuration says otherwise.
pub const BODY_BYTES: usize = 4 * 1024 * 1024;
/// The most that the configuration may say.
pub const BODY_BYTES_MOST: usize = 64 * 1024 * 1024;
/// Deepest nesting of arrays and objects.
pub const JSON_DEPTH: usize = 128;
/// Most tools kept of one server.
pub const TOOLS_PER_SERVER: usize = 10_000;
/// Most bytes of definitions kept of one server.
pub const DEFINITIONS_BYTES: usize = 32 * 1024 * 1024;
/// Largest single tool definition, in bytes.
pub const TOOL_BYTES: usize = 256 * 1024;
/// Deepest nesting of one tool's definition.
pub const SCHEMA_DEPTH: usize = 64;
/// Most pages read of one list.
pub const LIST_PAGES: usize = 500;

/// How deep arrays and objects nest in a JSON text. Brackets inside strings do not count.
/// The text need not be valid; this only ever looks at bytes, so it is safe on hostile input.
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
