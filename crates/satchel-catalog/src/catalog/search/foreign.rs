//! Recognises requests in another language than the tools' descriptions. What looks like typos there is not: a word that no
//! tool has is a word of that language, and one that a tool has by chance says nothing.

use super::words::{self, Word};

/// A request with fewer unknown words may be a misspelt one.
const LEAST: usize = 3;
/// In English requests, two of five words are stop words, and hardly one of ten is unknown. In other languages, at least
/// one of this many is unknown, and there are hardly any English stop words.
const SHARE: usize = 4;

/// Frequent short words of German, French, Spanish, Portuguese, Italian and Dutch that are hardly ever written in English.
/// Sorted.
const FRAMES: &[&str] = &[
    "alla", "alle", "aller", "allez", "als", "ao", "au", "auf", "aus", "aux", "avec", "bei", "bis", "bitte",
    "ce", "ces", "cette", "che", "como", "cual", "da", "dal", "dans", "das", "dass", "de", "dei", "del",
    "della", "delle", "dem", "den", "der", "des", "di", "dir", "du", "een", "ein", "eine", "einem", "einen",
    "einer", "eines", "el", "elle", "entre", "er", "es", "est", "esta", "este", "et", "eu", "gibt", "gli",
    "het", "hoe", "ich", "ihr", "ik", "il", "ist", "je", "kann", "la", "las", "le", "les", "lo", "los",
    "mais", "meine", "mia", "mijn", "mio", "mir", "mit", "moi", "mon", "nach", "ne", "nel", "nos", "nur",
    "oder", "ou", "par", "para", "por", "pour", "qu", "que", "qui", "se", "si", "sich", "sie", "sind",
    "sobre", "su", "sua", "sur", "sus", "te", "tes", "toutes", "tu", "um", "uma", "un", "una", "und", "une",
    "uno", "vom", "von", "voor", "vous", "wat", "wie", "wir", "zu", "zum", "zur",
];

/// Whether a request is in another language. Only words outside of its values count. Unknown words are not enough: where a
/// hub has few tools, most words of an English request are unknown. Nor are frames, because names have some.
pub(super) fn is_foreign<'a>(
    text: &str,
    plain: impl Iterator<Item = &'a Word>,
    knows: impl Fn(&Word) -> bool,
) -> bool {
    let (mut known, mut unknown, mut evident) = (0, 0, 0);
    for word in plain.filter(|word| word.written.chars().all(char::is_alphabetic)) {
        let (frames, size) = (is_frame(&word.written), size(&word.written));
        if frames || size > 1 {
            evident += size;
        }
        if knows(word) && !frames {
            known += 1;
        } else {
            unknown += size;
        }
    }
    let all = text.split(|c: char| !c.is_alphabetic());
    let stops = all.filter(|word| words::is_stop_word(&word.to_lowercase())).count();
    evident > 0 && evident >= stops && unknown >= LEAST && unknown * SHARE > unknown + known + stops
}

/// How many words it counts as. Some scripts have no spaces, so what looks like one word is a sentence.
fn size(word: &str) -> usize {
    let is_latin = |c: char| c < '\u{370}';
    if word.chars().all(is_latin) { 1 } else { word.chars().count().div_ceil(2) }
}

/// Whether a word only frames a request in another language.
pub(super) fn is_frame(word: &str) -> bool {
    FRAMES.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where nothing is known but "repository", "file" and "weather".
    fn foreign(text: &str) -> bool {
        let all = words::words(text);
        is_foreign(text, all.iter(), |word| ["repository", "file", "weather"].contains(&&*word.written))
    }

    #[test]
    fn frames_are_sorted_and_no_english_words() {
        assert!(FRAMES.is_sorted());
        assert!(!FRAMES.iter().any(|word| words::is_stop_word(word) || words::is_chatter(word)));
    }

    #[test]
    fn requests_in_other_languages_are_recognised() {
        for text in [
            "Zeige mir die neuesten Fehler im Repository",
            "Wie wird das Wetter morgen in Hamburg?",
            "Crée un ticket pour le problème de connexion",
            "Busca los archivos del proyecto",
            "Envia uma mensagem para o grupo",
            "Mostra il meteo di domani",
            "Zoek het weerbericht voor morgen",
            "查询明天的天气",
            "リポジトリの一覧を表示して",
            "Покажи последние ошибки",
        ] {
            assert!(foreign(text), "{text}");
        }
    }

    #[test]
    fn english_requests_are_not_even_if_no_tool_has_their_words() {
        for text in [
            "parrots overwinter southwards",
            "summarize quarterly revenue per region",
            "serch the repositry for flaky testz",
            "what is the weather in São Paulo?",
            "find the file of El Niño in Rio de Janeiro that I saved with the others",
            "show the file",
            "",
        ] {
            assert!(!foreign(text), "{text}");
        }
    }
}
