//! Inspects one text in every way it can be read.

use std::ops::Range;

use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::{
    Passage, evidence,
    fold::Folded,
    learned::{self, Clause, Resemblance},
    patterns,
};
use crate::{
    clean,
    model::{
        approvals::Odd,
        characters::{look_alike, styled},
    },
};

/// Maximum length that is scanned; longer texts are not descriptions.
const BYTES: usize = 256 * 1024;
/// Maximum distance between related words, in bytes.
const LONGEST: usize = 400;
/// Orders in scripts or styles without blanks.
const COMPACT: [&str; 10] = [
    "ignoreall",
    "ignoreprevious",
    "ignorethe",
    "instructions",
    "donottell",
    "theuser",
    "systemprompt",
    "password",
    "privatekey",
    "secret",
];
/// Number of stray zero-width spaces tolerated in one text.
const LEFT_OVER: usize = 8;
/// Maximum nesting of encoded texts.
const DEPTH: usize = 2;

/// All suspicious passages of a text, in order.
pub(super) fn spots(text: &str) -> Vec<Passage> {
    let mut end = text.len().min(BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    let mut spots = Vec::new();
    // Names and the like: most texts of a definition.
    if text.len() < 4
        || (text.len() < 40
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')))
    {
        return spots;
    }
    hidden(text, &mut spots);
    letters(text, &mut spots);
    layout(text, &mut spots);
    words(text, &mut spots);
    encoded(text, 0, &mut spots);
    spots.sort_by_key(|spot| (spot.range.start, spot.range.end));
    spots.dedup();
    apart(spots)
}

/// Merges what several patterns find at one place.
fn apart(spots: Vec<Passage>) -> Vec<Passage> {
    let mut apart: Vec<Passage> = Vec::new();
    for spot in spots {
        match apart
            .iter_mut()
            .rev()
            .find(|known| known.about == spot.about && spot.range.start < known.range.end)
        {
            Some(known) => {
                known.range.end = known.range.end.max(spot.range.end);
                known.plain |= spot.plain;
            }
            None => apart.push(spot),
        }
    }
    apart
}

fn hidden(text: &str, spots: &mut Vec<Passage>) {
    let ranges = clean::hidden(text);
    // Texts copied from web pages have a few zero-width spaces between words. So few carry no message, and clients do
    // not receive them. Inside a word, they are there to split it.
    let left_over = |range: &Range<usize>| {
        let before = text[..range.start].chars().next_back().is_some_and(char::is_alphanumeric);
        let after = text[range.end..].chars().next().is_some_and(char::is_alphanumeric);
        !(before && after) && text[range.clone()].chars().all(is_widthless)
    };
    let count: usize = ranges.iter().map(|range| text[range.clone()].chars().count()).sum();
    let few = count <= LEFT_OVER && ranges.iter().all(left_over);
    for range in ranges {
        let controls = text[range.clone()].chars().all(char::is_control);
        let about = if controls { Odd::ControlCharacters } else { Odd::HiddenText };
        spots.push(Passage { plain: !few, ..Passage::of(about, range) });
    }
}

/// Zero-width spaces.
fn is_widthless(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{feff}' | '\u{2060}')
}

/// Scans the wording.
fn words(text: &str, spots: &mut Vec<Passage>) {
    let folded = Folded::of(text);
    let before = spots.len();
    match_all(&folded, spots);
    let said = learned::said(&folded);
    let resembles = matches!(said, Resemblance::Resembles(..));
    if let Some((range, alone)) = evidence::found(&folded.text) {
        let range = folded.original(range);
        let of = |part: &str| learned::of_clause(&Folded::of(part));
        let clause = of(clause(text, &range)).max(of(&text[range.clone()]));
        // Long descriptions contain several weak signs by accident, but seldom a strong one.
        if alone || resembles || clause >= Clause::Likely {
            let plain = alone || clause == Clause::Plain;
            spots.push(Passage { about: Odd::Instruction, range, plain, more: None });
        }
    }
    // A pattern may match harmless words.
    let of_clause = |spot: &Passage| learned::of_clause(&Folded::of(clause(text, &spot.range)));
    spots.retain_mut(|spot| {
        if !spot.about.is_by_words() {
            return true;
        }
        let clause = of_clause(spot);
        spot.plain &= resembles || clause >= Clause::Likely;
        clause > Clause::Harmless
    });
    if let Resemblance::Resembles(range, more) = said
        && !spots[before..].iter().any(|spot| touch(&spot.range, &range))
    {
        spots.push(Passage { more: Some(more), ..Passage::of(Odd::Resembles, range) });
    }
    if spots.len() > before {
        return;
    }
    for other in [folded.unmasked(), folded.joined()].into_iter().flatten() {
        match_all(&other, spots);
    }
    // Nobody writes whole sentences with spaced-out letters.
    if folded.joined().is_some_and(|joined| COMPACT.iter().any(|words| joined.text.contains(words))) {
        spots.push(Passage::of(Odd::Encoded, 0..text.len()));
    }
}

/// The clause around a range. Judged alone, because the author of an attack also controls the text around it.
fn clause<'a>(text: &'a str, range: &Range<usize>) -> &'a str {
    let ends = |c: char| matches!(c, '.' | '!' | '?' | ';' | '(' | ')' | '\n');
    let begin = text[..range.start].rfind(ends).map_or(0, |at| at + 1);
    let end = text[range.end..].find(ends).map_or(text.len(), |at| range.end + at + 1);
    text.get(begin..end).unwrap_or(text)
}

fn touch(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

fn match_all(folded: &Folded, spots: &mut Vec<Passage>) {
    for pattern in patterns::for_text(&folded.text) {
        for found in pattern.regex().find_iter(&folded.text) {
            if found.len() > LONGEST {
                continue;
            }
            if is_harmless(pattern.about, &folded.text, found.range()) {
                continue;
            }
            let range = folded.original(found.range());
            spots.push(Passage { about: pattern.about, range, plain: pattern.plain, more: None });
        }
    }
}

/// Public keys are not secrets, prohibitions are not orders, and tools that detect attacks name them.
fn is_harmless(about: Odd, text: &str, range: Range<usize>) -> bool {
    let found = &text[range.clone()];
    let sentence = text[..range.start].rfind(['.', '\n', '!', '?']).map_or(0, |at| at + 1);
    let before = &text[sentence..range.start];
    let after = text[range.end..].get(..24).unwrap_or(&text[range.end..]);
    let denied = |before: &str| NOT.iter().any(|word| before.trim_end().ends_with(word));
    match about {
        Odd::Instruction => {
            let without = found.starts_with("without");
            (without
                && ["never ", "not ", "n't ", "cannot ", "no ", "nothing "]
                    .iter()
                    .any(|word| before.contains(word)))
                || format!("{found}{after}").contains(".pub")
                || (denied(before) && !NOT.iter().any(|word| found.starts_with(word)))
                || forbids_giving(found)
                || warns(found, before)
                || looks_for_attacks(before)
                || (found == "you are now" && HARMLESS_NOW.iter().any(|word| after.starts_with(word)))
                || (found == "from now on" && HARMLESS_THEN.iter().any(|word| after.starts_with(word)))
                || (found.starts_with('<') && is_listed(before, found))
        }
        Odd::AsksForSecrets => format!("{found}{after}").contains(".pub") || denied(before),
        Odd::OtherTools => {
            after.starts_with(" of this server")
                || describes_itself(text, before)
                || names_successor(found, after)
        }
        Odd::ActiveContent => {
            ["such as ", "for example ", "e.g. ", "like "].iter().any(|word| before.ends_with(word))
        }
        Odd::HiddenText
        | Odd::ControlCharacters
        | Odd::LookAlike
        | Odd::Encoded
        | Odd::Layout
        | Odd::Resembles => false,
    }
}

/// Negations.
const NOT: [&str; 8] = ["do not", "don't", "never", "must not", "should not", "cannot", "may not", "not to"];
/// Harmless continuations of "you are now" and "from now on", as user interfaces write them.
const HARMLESS_NOW: [&str; 6] = [" able", " ready", " connected", " signed", " logged", " using"];
const HARMLESS_THEN: [&str; 8] = [
    " the parameter",
    " the field",
    " the endpoint",
    " the default",
    " the api",
    " the name",
    " the new",
    " new ",
];

/// `Set the key in the configuration; do not pass it as an argument`.
fn forbids_giving(found: &str) -> bool {
    const GIVE: [&str; 6] = [" pass ", " put ", " send ", " include ", " write ", " paste "];
    GIVE.iter().any(|give| {
        found.split_once(give).is_some_and(|(before, _)| NOT.iter().any(|word| before.ends_with(word)))
    })
}

/// `If you do not follow these instructions, …`: a consequence, not an order.
fn warns(found: &str, before: &str) -> bool {
    const WHEN: [&str; 8] = [
        "if you",
        "if they",
        "if the user",
        "if the caller",
        "if one",
        "unless you",
        "when you",
        "should you",
    ];
    NOT.iter().any(|word| found.starts_with(word))
        && WHEN.iter().any(|word| before.trim_end().ends_with(word))
}

/// `Detects phrases like …`: a sentence that says only what the tool looks for.
fn looks_for_attacks(before: &str) -> bool {
    const VERBS: [&str; 19] = [
        "detects ",
        "explains ",
        "describes ",
        "blocks ",
        "rejects ",
        "flags ",
        "finds ",
        "filters ",
        "identifies ",
        "recognises ",
        "recognizes ",
        "classifies ",
        "scans ",
        "checks ",
        "prevents ",
        "documentation",
        "returns true if",
        "guards against ",
        "tests ",
    ];
    let before = before.trim_start();
    VERBS.iter().any(|verb| before.starts_with(verb)) && !before.contains(" and ") && !before.contains(';')
}

/// `the tags <system>, <user> and <assistant>`.
fn is_listed(before: &str, found: &str) -> bool {
    let rest = found.split_once('>').map_or("", |(_, rest)| rest).trim_start();
    [",", "and ", "or ", ")"].iter().any(|sign| rest.starts_with(sign))
        && ["tag", "element", "placeholder", "such as"].iter().any(|word| before.contains(word))
}

/// `Searches the tools of all connected servers.`: the first sentence of a gateway, which gives no instructions.
fn describes_itself(text: &str, before: &str) -> bool {
    const VERBS: [&str; 10] = [
        "calls ",
        "searches ",
        "lists ",
        "returns ",
        "finds ",
        "describes ",
        "routes ",
        "shows ",
        "executes ",
        "forwards ",
    ];
    let begin = text.len() - text.trim_start().len();
    let first = text.get(begin..).is_some_and(|text| text.starts_with(before.trim_start()));
    first
        && VERBS.iter().any(|verb| before.trim_start().starts_with(verb) || text.starts_with(verb))
        && !["must", "always", "before", "instead", "every call"].iter().any(|word| before.contains(word))
}

/// `list_items is deprecated; use search_items`: names a tool's successor on the same server.
fn names_successor(found: &str, after: &str) -> bool {
    let both = format!("{found}{after}");
    let Some((_, rest)) = both.split_once("deprecated").or_else(|| both.split_once("removed")) else {
        return false;
    };
    let mut words =
        rest.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    let named = words.find(|word| matches!(*word, "use" | "call")).and(words.next());
    named.is_some_and(|word| word.contains('_'))
}

/// Is the decoded text suspicious?
fn says_something(text: &str) -> bool {
    const WORDS: [&str; 22] = [
        "curl ",
        "wget ",
        "http://",
        "https://",
        "bash",
        "/bin/",
        "rm -",
        "eval(",
        "powershell",
        "password",
        "secret",
        "token",
        ".ssh",
        ".env",
        "ignore",
        "instruction",
        "tool",
        "the user",
        "send ",
        "read ",
        "execute",
        "system",
    ];
    let folded = Folded::of(text);
    let mut spots = Vec::new();
    match_all(&folded, &mut spots);
    !spots.is_empty() || WORDS.iter().any(|word| folded.text.contains(word))
}

fn says_order(text: &str) -> bool {
    let mut spots = Vec::new();
    match_all(&Folded::of(text), &mut spots);
    spots.iter().any(|spot| spot.about != Odd::OtherTools)
}

/// Finds letters that imitate others.
fn letters(text: &str, spots: &mut Vec<Passage>) {
    if text.is_ascii() {
        return;
    }
    let latin = text.chars().filter(char::is_ascii_alphabetic).count();
    let own = text.chars().filter(|c| c.is_alphabetic() && !c.is_ascii() && look_alike(*c).is_none()).count();
    for word in words_of(text) {
        let letters: Vec<char> =
            text[word.clone()].chars().filter(|c| c.is_alphabetic() || styled(*c).is_some()).collect();
        let alike = letters.iter().filter(|c| look_alike(**c).is_some()).count();
        let ascii = letters.iter().filter(|c| c.is_ascii_alphabetic()).count();
        let dressed = letters.iter().filter(|c| styled(**c).is_some() && !is_wide(**c)).count();
        let wide = letters.iter().filter(|c| is_wide(**c)).count();
        let mixed = alike > 0
            && ascii > 0
            && letters.len() >= 3
            && alike + ascii == letters.len()
            && !is_formula(&letters);
        // A word that only looks Latin, in a Latin text.
        let posing = alike == letters.len()
            && letters.len() >= 3
            && latin > 3 * (own + alike)
            && !is_greek_name(&text[word.clone()]);
        let costume = dressed >= 4 || (wide >= 4 && latin > own);
        if mixed || posing || costume {
            spots.push(Passage::of(Odd::LookAlike, word));
        }
    }
}

/// Full-width letters are common in East Asian texts.
fn is_wide(c: char) -> bool {
    matches!(u32::from(c), 0xff21..=0xff5a)
}

/// Single Greek letters beside Latin ones are quantities: `ρgh`, `μs`.
fn is_formula(letters: &[char]) -> bool {
    let greek = |c: &char| matches!(u32::from(*c), 0x370..=0x3ff);
    letters.len() <= 4
        && letters.iter().filter(|c| greek(c)).count() == 1
        && (greek(&letters[0]) || letters.last().is_some_and(greek))
}

fn is_greek_name(word: &str) -> bool {
    ["τau", "ρι", "νυ", "χι"].contains(&word)
}

fn words_of(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let is_part = |c: char| c.is_alphanumeric() || styled(c).is_some();
        while rest.next_if(|(_, c)| !is_part(*c)).is_some() {}
        let (begin, first) = rest.next()?;
        let mut end = begin + first.len_utf8();
        while let Some((at, c)) = rest.next_if(|(_, c)| is_part(*c)) {
            end = at + c.len_utf8();
        }
        Some(begin..end)
    })
}

/// Finds text that is pushed out of sight.
fn layout(text: &str, spots: &mut Vec<Passage>) {
    let (mut begin, mut lines, mut blanks) = (None, 0, 0);
    for (at, c) in text.char_indices().chain([(text.len(), '\0')]) {
        if c.is_whitespace() || c == '\u{2800}' {
            begin.get_or_insert(at);
            if c == '\n' {
                lines += 1;
            } else {
                blanks += 1;
            }
            continue;
        }
        if let Some(begin) = begin.take()
            && (lines >= 15 || (lines == 0 && blanks >= 80) || blanks >= 400)
            && begin > 0
            && at < text.len()
        {
            spots.push(Passage::of(Odd::Layout, begin..at));
        }
        (lines, blanks) = (0, 0);
    }
}

/// Decodes and scans encoded texts inside the text.
fn encoded(text: &str, depth: usize, spots: &mut Vec<Passage>) {
    for (range, decoded) in decodings(text) {
        let mut inner = Vec::new();
        if depth < DEPTH {
            encoded(&decoded, depth + 1, &mut inner);
        }
        if says_something(&decoded) || !inner.is_empty() || !clean::hidden(&decoded).is_empty() {
            spots.push(Passage::of(Odd::Encoded, range));
        }
    }
    for (words, turn) in [(TURNED, turned as fn(&str) -> String), (SHIFTED, shifted)] {
        if words.iter().any(|word| text.contains(word)) && says_order(&turn(text)) && !says_order(text) {
            spots.push(Passage::of(Odd::Encoded, 0..text.len()));
        }
    }
}

/// Reversed endings of words that are typical of orders, and whole words in ROT13.
const TURNED: [&str; 8] = ["erong", "snoitcurtsn", "resu", "drowssap", "terces", "ton od", "daer", "loot"];
const SHIFTED: [&str; 8] =
    ["vtaber", "Vtaber", "vafgehpgvba", "hfre", "cnffjbeq", "frperg", "qb abg", "gbby"];

fn turned(text: &str) -> String {
    text.chars().rev().collect()
}

fn shifted(text: &str) -> String {
    text.chars().map(rot13).collect()
}

fn rot13(c: char) -> char {
    let turn = |c: char, base: u8| char::from((c as u8 - base + 13) % 26 + base);
    match c {
        'a'..='z' => turn(c, b'a'),
        'A'..='Z' => turn(c, b'A'),
        c => c,
    }
}

fn decodings(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    // Without `=`: padding is optional, and a preceding `key=` is not part of it.
    for (range, word) in runs(text, |c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_')) {
        if word.len() >= 16
            && let Some(decoded) = base64(word).or_else(|| hex(word))
        {
            found.push((range, decoded));
        }
    }
    for (range, word) in runs(text, |c| c.is_ascii_hexdigit() || matches!(c, ' ' | 'x' | ',')) {
        let digits: String = word.replace("0x", " ").chars().filter(char::is_ascii_hexdigit).collect();
        if word.trim().contains(' ')
            && digits.len() >= 24
            && word.split([' ', ',']).all(|part| matches!(part.trim_start_matches("0x").len(), 0 | 2))
            && let Some(decoded) = hex(&digits)
        {
            found.push((range, decoded));
        }
    }
    for (range, word) in runs(text, |c| matches!(c, '0' | '1' | ' ')) {
        let bits: String = word.chars().filter(|c| *c != ' ').collect();
        if bits.len() >= 64 && bits.len().is_multiple_of(8) {
            let bytes = bits
                .as_bytes()
                .chunks(8)
                .map(|byte| byte.iter().fold(0_u8, |sum, bit| sum << 1 | (bit - b'0')));
            if let Some(decoded) = readable(bytes.collect()) {
                found.push((range, decoded));
            }
        }
    }
    found.extend(escapes(text));
    found
}

/// Runs of such characters, with their ranges.
fn runs(text: &str, is_part: impl Fn(char) -> bool) -> Vec<(Range<usize>, &str)> {
    let (mut runs, mut begin) = (Vec::new(), None);
    for (at, c) in text.char_indices().chain([(text.len(), '\0')]) {
        match (is_part(c), begin) {
            (true, None) => begin = Some(at),
            (false, Some(from)) => {
                runs.push((from..at, &text[from..at]));
                begin = None;
            }
            _ => {}
        }
    }
    runs
}

fn base64(word: &str) -> Option<String> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let alphabet = if word.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    readable(GeneralPurpose::new(alphabet, config).decode(word).ok()?)
}

fn hex(word: &str) -> Option<String> {
    if word.len() < 24 || !word.len().is_multiple_of(2) || !word.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    let byte = |at: usize| u8::from_str_radix(word.get(at..at + 2)?, 16).ok();
    readable((0..word.len()).step_by(2).filter_map(byte).collect())
}

/// Bytes that are text: no control characters, and mostly letters. ASCII art is not.
fn readable(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t' | '\r');
    let letters = text.chars().filter(|c| c.is_alphanumeric() || *c == ' ').count();
    let drawing = text.trim_start().starts_with("<svg") || text.trim_start().starts_with("<?xml");
    let harmless =
        drawing && !text.contains("script") && !text.contains("onload") && !text.contains("foreignObject");
    (text.chars().count() >= 8 && text.chars().all(plain) && letters * 2 >= text.chars().count() && !harmless)
        .then_some(text)
}

/// Letters in escapes: `\x69`, `\u0069`, `&#105;`, `%69`.
fn escapes(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let (begin, mut decoded, mut plain) = (at, String::new(), 0);
        let mut count = 0;
        while let Some((c, length)) = escape(text, at) {
            // Only letters and blanks: everything else is escaped for a reason.
            plain += usize::from(c.is_ascii_alphabetic());
            decoded.push(c);
            count += 1;
            at += length;
        }
        if count >= 6 && plain * 2 >= count {
            found.push((begin..at, decoded));
        }
        if at == begin {
            at += 1;
        }
    }
    found
}

fn escape(text: &str, at: usize) -> Option<(char, usize)> {
    let rest = text.get(at..)?;
    let digits = |from: usize, count: usize, radix: u32| {
        let part = rest.get(from..from + count)?;
        char::from_u32(u32::from_str_radix(part, radix).ok()?).map(|c| (c, from + count))
    };
    if rest.starts_with("\\x") {
        return digits(2, 2, 16);
    }
    if rest.starts_with("\\u") {
        return digits(2, 4, 16);
    }
    if rest.starts_with('%') {
        return digits(1, 2, 16);
    }
    let inner = rest.strip_prefix("&#")?;
    let end = inner.find(';').filter(|end| *end <= 7)?;
    let number = &inner[..end];
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    Some((char::from_u32(code)?, end + 3))
}
