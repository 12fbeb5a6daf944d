//! Results that a typed model would change: the fake server sends them, and a test compares every byte.

/// Name and text of each result.
pub const RESULTS: &[(&str, &str)] = &[
    (
        "unknown block",
        r#"{"content":[{"type":"hologram","shape":{"z":1,"a":[true,null]}},{"type":"text","text":"after it"}]}"#,
    ),
    ("unknown field", r#"{"content":[],"futureField":{"b":[],"a":{}},"isError":false}"#),
    (
        "metadata",
        r#"{"_meta":{"vendor.example/trace":"x","a":{"b":null}},"content":[{"type":"text","text":"t","_meta":{"k":[1]},"annotations":{"priority":0.3,"mood":"calm"}}]}"#,
    ),
    (
        "big integers",
        r#"{"content":[{"type":"text","text":"numbers"}],"structuredContent":{"id":123456789012345678901234567890,"below":-9223372036854775809,"above":18446744073709551616,"exact":9007199254740993}}"#,
    ),
    (
        "numbers as written",
        r#"{"content":[{"type":"text","text":"data"}],"structuredContent":{"one":1.0,"hundred":1e2,"cents":0.10,"cold":-0.0,"tiny":1E-7,"third":0.3333333333333333333333}}"#,
    ),
    (
        "order of keys",
        r#"{"structuredContent":{"zebra":1,"apple":2,"Mango":3,"10":4,"9":5,"":6},"isError":false,"content":[{"type":"text","text":"data"}]}"#,
    ),
    (
        "escapes",
        r#"{"content":[{"text":"caf\u00e9 \/ \ud83d\ude00 é \u2028","type":"text"}],"structuredContent":{"\u006bey":"\""}}"#,
    ),
    ("structured null", r#"{"content":[{"type":"text","text":"null"}],"structuredContent":null}"#),
    ("structured list", r#"{"content":[{"type":"text","text":"data"}],"structuredContent":[1,[2],{"c":3}]}"#),
    (
        "failure",
        r#"{"isError":true,"content":[{"type":"text","text":"it did not work"}],"structuredContent":{"code":7}}"#,
    ),
    ("blanks", r#"{ "content" : [ { "type" : "text" , "text" : "  spaced  " } ] }"#),
];
