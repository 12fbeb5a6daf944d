//! Every count is the one of the reference implementation.

use super::*;

/// Texts of many kinds: prose, code, JSON, digits, scripts, emoji, spaces, and what is on the border of the expression.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " ",
        "a",
        "  a",
        "\n\n \n x",
        "tabs\t\t\tand   spaces   \r\n\r\n",
        "don't DON'T we'll I'VE they'Re",
        "1234567890 12 3456",
        "https://example.com/a/b?c=d&e=%20//x",
        "CamelCaseWords and SHOUTING snake_case_words",
        "Straße Äpfel ÜBER naïve façade Ångström",
        "Привет мир",
        "こんにちは世界、これは試験です",
        "你好，世界",
        "שלום עולם",
        "مرحبا بالعالم",
        "नमस्ते दुनिया",
        "🙂👩‍👩‍👧‍👦🇩🇪",
        "e\u{301}\u{200b}\u{feff}\u{202e}",
        "<|endoftext|> <|endofprompt|>",
        "\u{0}\u{1}\u{7f}",
        r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#,
    ]
    .map(String::from)
    .to_vec();
    texts.extend([include_str!("lib.rs"), include_str!("../../../Cargo.lock")].map(String::from));
    texts.extend(["a", " ", "\n", "ab", "é", "=", "🙂", "aA", "1"].map(|part| part.repeat(3_000)));
    texts
}

/// Random texts from a fixed seed: letters, bytes of two, three and four, spaces and marks in any order.
fn random(seed: &mut u64, length: usize) -> String {
    const LETTERS: &[char] = &[
        'a', 'e', 't', 's', 'n', 'o', 'R', 'Q', 'é', 'ß', 'ж', '中', '文', '🙂', ' ', ' ', '\n', '\t', '\'',
        '"', '{', '/', '1', '9', '_', '-', '\u{301}', '\u{a0}',
    ];
    let mut next = || {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        LETTERS[(*seed >> 33) as usize % LETTERS.len()]
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn every_count_is_that_of_the_reference() {
    let (ours, reference) = (TokenEncoding::new().unwrap(), tiktoken_rs::o200k_base().unwrap());
    let mut seed = 7;
    let random = (0..600).map(|number| random(&mut seed, number));
    for text in texts().into_iter().chain(random) {
        let start: String = text.chars().take(80).collect();
        assert_eq!(ours.count(&text).unwrap(), reference.count_ordinary(&text), "{start:?}");
    }
}

#[test]
fn every_token_of_the_vocabulary_has_its_rank_and_nothing_else_has_one() {
    let reference = tiktoken_rs::o200k_base().unwrap();
    for rank in 0..199_998 {
        assert_eq!(vocabulary::rank(&reference.decode_bytes(&[rank]).unwrap()), Some(rank));
    }
    assert_eq!(vocabulary::rank(b""), None);
    assert_eq!(vocabulary::rank(b"<|endoftext|>"), None);
    assert_eq!(vocabulary::rank("neither one nor the other".as_bytes()), None);
}

#[test]
fn the_lowest_rank_is_merged_first_and_the_leftmost_of_equals() {
    let ranks = |bytes: &[u8]| match bytes {
        b"ab" => Some(1),
        b"bc" => Some(0),
        b"aa" => Some(2),
        b"aaa" => Some(3),
        _ => None,
    };
    assert_eq!(merge::parts(b"abc", ranks), 2, "a, bc");
    assert_eq!(merge::parts(b"aaaaa", ranks), 2, "aaa, aa");
    assert_eq!(merge::parts(b"xyz", ranks), 3);
}
