//! What is kept of strangers' texts: no secret, however it is mixed into them, and no command to a terminal.

use satchel_core::{secrets::Secret, stats::retention, upstream::log::ServerLog};

/// Realistic secrets; the last two overlap.
const SECRETS: [&str; 4] = ["hunter2-hunter2", "äöü-πß-secret", "tok_12345", "tok_1234567890"];

/// A character in one of the ways that programs escape it, selected by `way`.
fn escaped(c: char, way: u8) -> String {
    let code = u32::from(c);
    let mut units = [0; 2];
    let units = c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
    let bytes = |write: fn(u8) -> String| c.to_string().bytes().map(write).collect::<String>();
    match way % 12 {
        0 => units,
        1 => units.replace('\\', "\\\\"),
        2 => format!("&#{code};"),
        3 => format!("&#x{code:X}"),
        4 => bytes(|byte| format!("%{byte:02X}")),
        5 => bytes(|byte| format!("%25{byte:02x}")),
        6 => bytes(|byte| format!("\\x{byte:02x}")),
        7 => bytes(|byte| format!("\\{byte:03o}")),
        8 => format!("\\u{{{code:x}}}"),
        9 => format!("&amp;#{code};"),
        10 if c.is_ascii_punctuation() => format!("\\{c}"),
        _ => c.to_string(),
    }
}

/// Any mixture of escapes is recognised, whatever surrounds it.
fn in_escapes(data: &[u8], log: &ServerLog) {
    let Some((first, ways)) = data.split_first() else { return };
    if ways.is_empty() {
        return;
    }
    let secret = SECRETS[usize::from(*first) % SECRETS.len()];
    let spelled: String = secret.chars().zip(ways.iter().cycle()).map(|(c, way)| escaped(c, *way)).collect();
    let around = String::from_utf8_lossy(ways);
    let masked = log.redacted(&format!("{around}{spelled}{around}"));
    assert!(!masked.contains(&spelled) || around.contains(&spelled), "{spelled:?} is left in {masked:?}");
}

/// Every byte below 16 stands for a secret or part of one.
pub(crate) fn run(data: &[u8]) {
    let mut line = Vec::new();
    for byte in data {
        match byte {
            0..=3 => line.extend_from_slice(SECRETS[usize::from(*byte)].as_bytes()),
            4..=7 => line.extend_from_slice(&SECRETS[usize::from(*byte) - 4].as_bytes()[..5]),
            byte => line.push(*byte),
        }
    }
    let line = String::from_utf8_lossy(&line);
    let log = ServerLog::nowhere();
    log.redact(SECRETS.iter().map(|secret| Secret::new(*secret)).collect());
    in_escapes(data, &log);
    log.stderr(&line);
    for kept in log.tail(1).into_iter().chain([log.redacted(&line)]) {
        for secret in SECRETS {
            assert!(!kept.contains(secret), "{kept:?} holds a secret");
        }
    }
    // The longer of two overlapping ones is redacted first, so that nothing of it remains.
    let mut longest_first = SECRETS;
    longest_first.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    let whole = longest_first.iter().fold(line.to_string(), |line, secret| line.replace(secret, "***"));
    // Other spellings of them are redacted as well.
    let backwards = |secret: &&str| line.contains(&secret.chars().rev().collect::<String>());
    if log.redacted(&whole) == whole && !SECRETS.iter().any(backwards) {
        let masked = log.redacted(&line);
        for secret in SECRETS {
            let ends = (1..secret.len() - 4).filter_map(|from| secret.get(from..));
            for end in ends {
                assert!(!masked.contains(end) || whole.contains(end), "half of a secret is left: {masked:?}");
            }
        }
        // Another spelling may overlap with one: then more is redacted.
        assert!(masked == whole || masked.len() < whole.len(), "{masked:?} and not {whole:?}");
    }
    assert!(!log.tail(1).concat().chars().any(|c| c.is_control() && c != '\t'));
    for text in [line.into_owned(), format!("{{\"api_key\":{:?},\"x\":1}}", "tok_1234567890")] {
        let kept = retention::redacted(&text);
        assert!(kept.len() <= retention::CAP + '…'.len_utf8(), "more is kept than promised");
        assert!(!kept.starts_with('{') || !kept.contains("\"api_key\":\"tok_1234567890\""));
    }
}
