//! Normalizes a text to what a reader sees, whatever letters it uses, and keeps where each part came from.

use std::ops::Range;

use crate::{
    clean,
    model::characters::{look_alike, styled},
};

/// A text in lower-case Latin letters without accents, with normalized white space.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) text: String,
    /// For each byte of `text`, the start of its character in the original.
    at: Vec<usize>,
    end: usize,
}

impl Folded {
    pub(super) fn of(text: &str) -> Self {
        let hidden = clean::hidden(text);
        let mut hidden = hidden.iter().peekable();
        let mut folded = Self { end: text.len(), ..Self::default() };
        for (at, c) in text.char_indices() {
            while hidden.next_if(|range| range.end <= at).is_some() {}
            if hidden.peek().is_some_and(|range| range.contains(&at)) {
                continue;
            }
            folded.push(at, c);
        }
        folded
    }

    fn push(&mut self, at: usize, c: char) {
        if c == '\n' || c.is_whitespace() {
            let last = self.text.as_bytes().last().copied();
            match (c, last) {
                ('\n', Some(b' ')) => {
                    self.text.pop();
                    self.at.pop();
                    self.put(at, '\n');
                }
                ('\n', last) if last != Some(b'\n') => self.put(at, '\n'),
                (c, last) if c != '\n' && !matches!(last, Some(b' ' | b'\n') | None) => self.put(at, ' '),
                _ => {}
            }
            return;
        }
        match plain(c) {
            Some("") => {}
            Some(letters) => letters.chars().for_each(|c| self.put(at, c)),
            None => c.to_lowercase().for_each(|c| self.put(at, c)),
        }
    }

    fn put(&mut self, at: usize, c: char) {
        self.text.push(c);
        self.at.resize(self.text.len(), at);
    }

    /// Maps a range of the folded text to the original.
    pub(super) fn original(&self, range: Range<usize>) -> Range<usize> {
        let place = |at: usize| self.at.get(at).copied().unwrap_or(self.end);
        let begin = place(range.start);
        let end = if range.end >= self.text.len() { self.end } else { place(range.end) };
        begin..end.max(begin)
    }

    /// With digits and symbols read as letters (`1gn0re`), if several words are written that way.
    pub(super) fn unmasked(&self) -> Option<Self> {
        let masked = |word: &str| {
            let letters = word.chars().filter(char::is_ascii_alphabetic).count();
            let signs = word.chars().filter(|c| letter_of(*c).is_some()).count();
            let inside = word.trim_matches(|c: char| !c.is_ascii_alphabetic());
            letters >= 2 && signs >= 1 && inside.chars().any(|c| letter_of(c).is_some())
        };
        if self.text.split([' ', '\n']).filter(|word| masked(word)).count() < 2 {
            return None;
        }
        let text = self.text.chars().map(|c| letter_of(c).unwrap_or(c)).collect();
        Some(Self { text, at: self.at.clone(), end: self.end })
    }

    /// With spaced-out letters joined (`i g n o r e`), if there is such a run.
    pub(super) fn joined(&self) -> Option<Self> {
        let chars: Vec<(usize, char)> = self.text.char_indices().collect();
        let mut joined = Self { end: self.end, ..Self::default() };
        let (mut at, mut any) = (0, false);
        while at < chars.len() {
            let length = spread(&chars[at..]);
            if length >= 9 && (at == 0 || !chars[at - 1].1.is_alphanumeric()) {
                any = true;
                for (place, c) in chars[at..at + length].iter().step_by(2) {
                    joined.put(self.at[*place], *c);
                }
                at += length;
                continue;
            }
            joined.put(self.at[chars[at].0], chars[at].1);
            at += 1;
        }
        any.then_some(joined)
    }
}

/// Number of characters in runs of single letters with one separator between them.
fn spread(chars: &[(usize, char)]) -> usize {
    let is_sign = |c: char| matches!(c, ' ' | '.' | '-' | '_' | '*' | '/' | '|' | ',');
    let Some(sign) = chars.get(1).map(|(_, c)| *c).filter(|c| is_sign(*c)) else { return 0 };
    let mut length = 0;
    while chars.get(length).is_some_and(|(_, c)| c.is_alphabetic()) {
        match chars.get(length + 1) {
            Some((_, c)) if *c == sign => length += 2,
            Some((_, c)) if c.is_alphanumeric() => return length.saturating_sub(1),
            _ => return length + 1,
        }
    }
    length.saturating_sub(1)
}

fn letter_of(c: char) -> Option<char> {
    Some(match c {
        '0' => 'o',
        '1' | '!' | '|' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' | '+' => 't',
        _ => return None,
    })
}

/// A letter as it occurs in folded texts.
pub(super) fn plain_letter(c: char) -> Option<&'static str> {
    plain(c)
}

/// The Latin letters that a character looks like; `None` if it stays as it is.
fn plain(c: char) -> Option<&'static str> {
    if c.is_ascii() {
        return None;
    }
    if let Some(letter) = look_alike(c) {
        return Some(letter);
    }
    if let Some(letter) = styled(c) {
        return Some(letter);
    }
    Some(match c {
        'à'..='å' | 'À'..='Å' | 'ā' | 'ă' | 'ą' | 'Ā' | 'Ă' | 'Ą' | 'ǎ' => "a",
        'ç' | 'Ç' | 'ć' | 'č' | 'Ć' | 'Č' => "c",
        'ď' | 'đ' | 'Ď' | 'Đ' => "d",
        'è'..='ë' | 'È'..='Ë' | 'ē' | 'ę' | 'ě' | 'ė' | 'Ę' | 'Ě' => "e",
        'ğ' | 'Ğ' | 'ģ' => "g",
        'ì'..='ï' | 'Ì'..='Ï' | 'ı' | 'İ' | 'ī' => "i",
        'ł' | 'Ł' | 'ľ' | 'ļ' => "l",
        'ñ' | 'Ñ' | 'ń' | 'ň' | 'Ń' => "n",
        'ò'..='ö' | 'Ò'..='Ö' | 'ø' | 'Ø' | 'ő' | 'ō' | 'ơ' => "o",
        'ř' | 'ŕ' | 'Ř' => "r",
        'ś' | 'š' | 'ş' | 'ș' | 'Ś' | 'Š' | 'Ş' => "s",
        'ß' => "ss",
        'ť' | 'ţ' | 'ț' => "t",
        'ù'..='ü' | 'Ù'..='Ü' | 'ů' | 'ű' | 'ū' | 'ư' => "u",
        'ý' | 'ÿ' | 'Ý' => "y",
        'ź' | 'ż' | 'ž' | 'Ź' | 'Ż' | 'Ž' => "z",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        '\u{1ea0}'..='\u{1eb7}' => "a",
        '\u{1eb8}'..='\u{1ec7}' => "e",
        '\u{1ec8}'..='\u{1ecb}' => "i",
        '\u{1ecc}'..='\u{1ee3}' => "o",
        '\u{1ee4}'..='\u{1ef1}' => "u",
        '\u{1ef2}'..='\u{1ef9}' => "y",
        '‘' | '’' | '‚' | '′' | '`' | '´' => "'",
        '“' | '”' | '„' | '«' | '»' | '″' => "\"",
        '‐'..='―' | '−' => "-",
        '…' => "...",
        '\u{300}'..='\u{36f}' => "",
        _ => return None,
    })
}

/// The skeleton of a name: names with equal skeletons are easily confused.
pub(super) fn skeleton(name: &str) -> String {
    let folded = Folded::of(name).text;
    let letters = folded.replace("rn", "m").replace("vv", "w").replace("cl", "d");
    letters
        .chars()
        .map(|c| letter_of(c).unwrap_or(c))
        .map(|c| if c == 'l' { 'i' } else { c })
        .filter(|c| c.is_alphanumeric())
        .collect()
}

/// A short label as it is read: in plain letters, whatever stands for them, and with letters that stand alone as one word.
pub(crate) fn label(text: &str) -> String {
    let letters: String = Folded::of(text).text.chars().map(|c| letter_of(c).unwrap_or(c)).collect();
    let mut read = String::with_capacity(letters.len());
    let mut alone = false;
    for word in letters.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let is_one = word.chars().nth(1).is_none();
        let belongs_to_last = alone && is_one;
        if !read.is_empty() && !belongs_to_last {
            read.push(' ');
        }
        read.push_str(word);
        alone = is_one;
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_read_whatever_stands_for_its_letters() {
        for (text, read) in [
            ("Pаsswоrd", "password"),
            ("P a s s w 0 r d", "password"),
            ("Your P.I.N.", "your pin"),
            ("pa\u{200b}ss", "pass"),
            ("Number of seats", "number of seats"),
        ] {
            assert_eq!(label(text), read, "{text}");
        }
    }

    #[test]
    fn other_letters_fold_to_the_ones_they_look_like() {
        for (text, folded) in [
            ("Ignore  ALL\r\n\n rules", "ignore all\nrules"),
            ("Ιgnоrе", "ignore"),
            ("𝗶𝗴𝗻𝗼𝗿𝗲 ｒｕｌｅｓ", "ignore rules"),
            ("ig\u{200b}no\u{e0041}re", "ignore"),
            ("Überprüfe naïve", "uberprufe naive"),
            ("日本語", "日本語"),
        ] {
            assert_eq!(Folded::of(text).text, folded);
        }
    }

    #[test]
    fn places_lead_back() {
        let text = "é Ιgn\u{200b}оrе x";
        let folded = Folded::of(text);
        let at = folded.text.find("ignore").unwrap();
        assert_eq!(&text[folded.original(at..at + 6)], "Ιgn\u{200b}оrе ".trim_end());
    }

    #[test]
    fn masked_and_spread_letters_are_read() {
        let unmasked = |text: &str| Folded::of(text).unmasked().map(|folded| folded.text);
        assert_eq!(unmasked("1gn0re pr3v10us rul3s").as_deref(), Some("ignore previous rules"));
        assert_eq!(unmasked("use utf8 and base64 in 3 steps"), None);
        let joined = |text: &str| Folded::of(text).joined().map(|folded| folded.text);
        assert_eq!(joined("say i g n o r e now").as_deref(), Some("say ignore now"));
        assert_eq!(joined("a b c and d"), None);
    }

    #[test]
    fn names_that_are_easily_confused_look_the_same() {
        assert_eq!(skeleton("github"), skeleton("git-hub"));
        assert_eq!(skeleton("paypal"), skeleton("pаypa1"));
        assert_eq!(skeleton("modern"), skeleton("modem"));
        assert_ne!(skeleton("github"), skeleton("gitlab"));
    }
}
