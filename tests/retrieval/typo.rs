//! One slip of the fingers in a query: the same query always gets the same one.

/// Swaps, drops, doubles or replaces a letter, not the first, of one longer word.
pub(crate) fn in_one_word(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let long = |word: &str| word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let candidates: Vec<usize> = (0..words.len()).filter(|at| long(words[*at])).collect();
    // FNV-1a: the choice depends on the text alone.
    let mut chance = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut choose = |among: usize| {
        let chosen = (chance >> 20) as usize % among;
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        chosen
    };
    if candidates.is_empty() {
        return text.to_owned();
    }
    let at = candidates[choose(candidates.len())];
    let mut letters: Vec<char> = words[at].chars().collect();
    let place = 1 + choose(letters.len() - 2);
    match choose(4) {
        0 => letters.swap(place, place + 1),
        1 => drop(letters.remove(place)),
        2 => letters.insert(place, letters[place]),
        _ => letters[place] = NEIGHBOURS[(letters[place].to_ascii_lowercase() as u8 - b'a') as usize],
    }
    let wrong: String = letters.into_iter().collect();
    let mut words: Vec<&str> = words;
    words[at] = &wrong;
    words.join(" ")
}

/// A neighbour of each letter on the keyboard, from a to z.
const NEIGHBOURS: [char; 26] = [
    's', 'v', 'x', 'f', 'r', 'g', 'h', 'j', 'o', 'k', 'l', 'k', 'n', 'm', 'p', 'o', 'w', 't', 'd', 'y', 'i',
    'b', 'e', 'c', 'u', 'x',
];
