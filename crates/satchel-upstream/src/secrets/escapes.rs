//! Reads the escape sequences at a position of a text: JSON, programming languages, shells, YAML, HTML, XML and URLs,
//! also nested. Returns every possible reading and does not choose.

use crate::model::characters::is_format;

/// Maximum nesting of escapes. Backslashes do not count: a run of them is read at every level.
const DEPTH: u8 = 3;
/// The longest run of backslashes before a character: JSON nested four times.
const RUN: usize = 16;
/// Maximum indentation after a line break that belongs to it.
const INDENT: usize = 64;
/// Maximum number of readings at one position; further ones are dropped.
const READINGS: usize = 48;
/// Maximum number of bytes that a reading covers.
pub(super) const SPAN: usize = 256;

/// Characters that may start an escape.
const INTRODUCERS: &[u8] = b"\\&%='\"$`^+\x1b";

/// HTML entities for ASCII characters; no order is needed where one is a prefix of another.
const ENTITIES: &[(&str, char)] = &[
    ("amp", '&'),
    ("AMP", '&'),
    ("lt", '<'),
    ("LT", '<'),
    ("gt", '>'),
    ("GT", '>'),
    ("quot", '"'),
    ("QUOT", '"'),
    ("apos", '\''),
    ("sol", '/'),
    ("bsol", '\\'),
    ("plus", '+'),
    ("equals", '='),
    ("percnt", '%'),
    ("num", '#'),
    ("dollar", '$'),
    ("excl", '!'),
    ("quest", '?'),
    ("commat", '@'),
    ("colon", ':'),
    ("semi", ';'),
    ("comma", ','),
    ("period", '.'),
    ("lpar", '('),
    ("rpar", ')'),
    ("lsqb", '['),
    ("lbrack", '['),
    ("rsqb", ']'),
    ("rbrack", ']'),
    ("lcub", '{'),
    ("lbrace", '{'),
    ("rcub", '}'),
    ("rbrace", '}'),
    ("verbar", '|'),
    ("vert", '|'),
    ("VerticalLine", '|'),
    ("lowbar", '_'),
    ("UnderBar", '_'),
    ("grave", '`'),
    ("Hat", '^'),
    ("ast", '*'),
    ("midast", '*'),
    ("Tab", '\t'),
    ("NewLine", '\n'),
    ("euro", '€'),
];

/// HTML entities for U+00A0 and the following characters.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 \
    acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig \
    Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave \
    Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave \
    iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

/// One way to read a position: the bytes it stands for, possibly none, and where the text continues.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EscapeReading {
    bytes: [u8; 4],
    len: u8,
    pub(super) end: usize,
}

impl EscapeReading {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The character, if it is ASCII.
    fn ascii(&self) -> Option<char> {
        (self.len == 1 && self.bytes[0].is_ascii()).then(|| char::from(self.bytes[0]))
    }
}

/// Can this byte start anything other than itself?
pub(super) fn may_escape(byte: u8) -> bool {
    INTRODUCERS.contains(&byte)
}

/// All readings at `at`, which must be a character boundary.
pub(super) fn readings(text: &str, at: usize, found: &mut Vec<EscapeReading>) {
    found.clear();
    EscapeReader { text, from: at, found }.read(at, DEPTH);
}

struct EscapeReader<'a> {
    text: &'a str,
    from: usize,
    found: &'a mut Vec<EscapeReading>,
}

impl EscapeReader<'_> {
    fn read(&mut self, at: usize, depth: u8) {
        if let Some(c) = self.at(at) {
            self.push(c, at + c.len_utf8());
            self.introduced(c, at + c.len_utf8(), depth);
        }
    }

    fn at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    fn add(&mut self, bytes: &[u8], end: usize) {
        let mut reading = EscapeReading { bytes: [0; 4], len: bytes.len() as u8, end };
        reading.bytes[..bytes.len()].copy_from_slice(bytes);
        if end - self.from < SPAN && self.found.len() < READINGS && !self.found.contains(&reading) {
            self.found.push(reading);
        }
    }

    fn push(&mut self, c: char, end: usize) {
        self.add(c.encode_utf8(&mut [0; 4]).as_bytes(), end);
        match c {
            '\n' | '\r' => {
                let rest = &self.text.as_bytes()[end..];
                let blank = rest.iter().take(INDENT).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                self.add(&[], end);
                self.add(&[], end + blank);
            }
            // A color sequence.
            '\u{1b}' => {
                let rest = &self.text.as_bytes()[end..];
                if rest.first() == Some(&b'[') {
                    let within =
                        rest[1..].iter().take(32).take_while(|byte| (b' '..=b'?').contains(byte)).count();
                    if rest.get(1 + within).is_some_and(|byte| (b'@'..=b'~').contains(byte)) {
                        self.add(&[], end + within + 2);
                    }
                }
            }
            c if is_format(c) => self.add(&[], end),
            _ => {}
        }
    }

    /// A decoded character, which may start another escape.
    fn decoded(&mut self, c: char, end: usize, depth: u8) {
        self.push(c, end);
        if depth > 1 {
            self.introduced(c, end, depth - 1);
        }
    }

    /// A byte of a character's UTF-8, or the character of that number.
    fn byte(&mut self, byte: u8, end: usize, depth: u8) {
        if byte.is_ascii() {
            self.decoded(char::from(byte), end, depth);
        } else {
            self.add(&[byte], end);
            self.push(char::from(byte), end);
        }
    }

    /// What `c` starts, if the text continues at `next`.
    fn introduced(&mut self, c: char, next: usize, depth: u8) {
        if depth == 0 {
            return;
        }
        match c {
            '\\' => self.backslash(next, depth),
            '&' => self.entity(next, depth),
            '%' => self.percent(next, depth),
            '\'' => {
                self.sequence(c, next, "'", depth);
                self.sequence(c, next, "\\''", depth);
                self.sequence(c, next, "\"'\"'", depth);
            }
            '"' => {
                self.sequence(c, next, "\"", depth);
                self.sequence(c, next, "'\"'\"", depth);
            }
            '$' => self.sequence(c, next, "$", depth),
            '=' => match self.hex(next, 2, 2) {
                Some((byte, end)) => self.byte(byte as u8, end, depth),
                None => self.continued(next),
            },
            // PowerShell and the Windows command line.
            '`' | '^' => {
                if let Some(c) = self.at(next).filter(char::is_ascii_punctuation) {
                    self.decoded(c, next + 1, depth);
                }
            }
            '+' => self.add(b" ", next),
            _ => {}
        }
    }

    /// `c`, if these characters follow, escaped or not.
    fn sequence(&mut self, c: char, next: usize, following: &str, depth: u8) {
        let mut ends = vec![next];
        for wanted in following.chars() {
            let mut after = Vec::new();
            for end in ends {
                let mut inner = Vec::new();
                EscapeReader { text: self.text, from: end, found: &mut inner }.read(end, (depth - 1).min(1));
                let fitting = inner.iter().filter(|reading| reading.ascii() == Some(wanted));
                after.extend(fitting.map(|reading| reading.end));
            }
            after.sort_unstable();
            after.dedup();
            ends = after;
        }
        ends.into_iter().for_each(|end| self.push(c, end));
    }

    fn backslash(&mut self, next: usize, depth: u8) {
        let rest = &self.text.as_bytes()[next.min(self.text.len())..];
        let run = rest.iter().take(RUN).take_while(|byte| **byte == b'\\').count();
        (1..=run).for_each(|more| self.push('\\', next + more));
        if run == RUN {
            return;
        }
        let at = next + run;
        let Some(c) = self.at(at) else { return };
        let end = at + c.len_utf8();
        let control = match c {
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'v' => Some('\u{b}'),
            'a' => Some('\u{7}'),
            'e' | 'E' => Some('\u{1b}'),
            _ => None,
        };
        if let Some(control) = control {
            self.push(control, end);
        }
        match c {
            'u' => self.unit(end, depth),
            'U' => {
                if let Some((code, end)) = self.hex(end, 8, 8) {
                    self.code(code, end, depth);
                }
            }
            'x' => {
                for digits in 1..=2 {
                    if let Some((code, end)) = self.hex(end, digits, digits) {
                        self.byte(code as u8, end, depth);
                    }
                }
                self.braced(end, depth);
            }
            '\n' | '\r' => self.continued(at),
            c if c.is_ascii_alphanumeric() => {}
            c => {
                self.decoded(c, end, depth);
                if depth > 1 && may_escape(c as u8) && c.is_ascii() {
                    let mut inner = Vec::new();
                    EscapeReader { text: self.text, from: at, found: &mut inner }.read(at, depth - 1);
                    let of_one = inner.iter().filter(|reading| reading.ascii().is_some());
                    of_one.for_each(|reading| self.add(reading.bytes(), reading.end));
                }
            }
        }
        for digits in 1..=3 {
            let octal =
                self.text.get(at..at + digits).filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
            if let Some(code) = octal.and_then(|text| u8::from_str_radix(text, 8).ok()) {
                self.byte(code, at + digits, depth);
            }
        }
        // CSS, and LDAP with two digits.
        for digits in 2..=6 {
            if let Some((code, end)) = self.hex(at, digits, digits) {
                if digits == 2 {
                    self.byte(code as u8, end, depth);
                }
                self.code(code, end, depth);
                if self.at(end) == Some(' ') {
                    self.code(code, end + 1, depth);
                }
            }
        }
    }

    /// After `\u` or `%u`: four digits, possibly the first half of a surrogate pair, or any number of digits in
    /// braces.
    fn unit(&mut self, at: usize, depth: u8) {
        self.braced(at, depth);
        let Some((unit, end)) = self.hex(at, 4, 4) else { return };
        if !(0xd800..0xdc00).contains(&unit) {
            self.code(unit, end, depth);
            return;
        }
        let rest = &self.text[end..];
        // However the second half's backslash is written, the first `u` after it belongs to it.
        let Some(u) = rest.bytes().take(SPAN / 4).position(|byte| byte == b'u') else { return };
        if u > 0
            && let Some((second, end)) = self.hex(end + u + 1, 4, 4)
            && (0xdc00..0xe000).contains(&second)
        {
            self.code(0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00), end, depth);
        }
    }

    fn braced(&mut self, at: usize, depth: u8) {
        if self.at(at) == Some('{')
            && let Some((code, end)) = self.hex(at + 1, 1, 6)
            && self.at(end) == Some('}')
        {
            self.code(code, end + 1, depth);
        }
    }

    fn code(&mut self, code: u32, end: usize, depth: u8) {
        if let Some(c) = char::from_u32(code) {
            self.decoded(c, end, depth);
        }
    }

    fn percent(&mut self, next: usize, depth: u8) {
        match self.at(next) {
            Some('%') => self.push('%', next + 1),
            Some('u') => self.unit(next + 1, depth),
            _ => {
                if let Some((byte, end)) = self.hex(next, 2, 2) {
                    self.byte(byte as u8, end, depth);
                }
            }
        }
    }

    /// With or without the final semicolon.
    fn entity(&mut self, next: usize, depth: u8) {
        let text = self.text;
        let mut with = |c: char, end: usize| {
            self.decoded(c, end, depth);
            if text[end..].starts_with(';') {
                self.decoded(c, end + 1, depth);
            }
        };
        let rest = &text[next.min(text.len())..];
        let Some(number) = rest.strip_prefix('#') else {
            let latin = LATIN.split_whitespace().zip('\u{a0}'..);
            for (name, c) in ENTITIES.iter().copied().chain(latin) {
                if rest.starts_with(name) {
                    with(c, next + name.len());
                }
            }
            return;
        };
        let (digits, base, at) = match number.strip_prefix(['x', 'X']) {
            Some(digits) => (digits, 16, next + 2),
            None => (number, 10, next + 1),
        };
        let many = digits.chars().take(8).take_while(|c| c.is_digit(base)).count();
        // Without the semicolon, a following digit may or may not belong to it.
        for digits in 1..=many {
            let code = u32::from_str_radix(&text[at..at + digits], base).ok();
            if let Some(c) = code.and_then(char::from_u32) {
                with(c, at + digits);
            }
        }
    }

    /// An escaped line end: the text continues on the next line.
    fn continued(&mut self, at: usize) {
        let rest = &self.text[at.min(self.text.len())..];
        if let Some(len) =
            ["\r\n", "\n", "\r"].iter().find(|end| rest.starts_with(**end)).map(|end| end.len())
        {
            self.add(&[], at + len);
        }
    }

    /// Up to this many hexadecimal digits.
    fn hex(&self, at: usize, least: usize, most: usize) -> Option<(u32, usize)> {
        let rest = self.text.as_bytes().get(at..)?;
        let digits = rest.iter().take(most).take_while(|byte| byte.is_ascii_hexdigit()).count();
        if digits < least {
            return None;
        }
        u32::from_str_radix(self.text.get(at..at + digits)?, 16).ok().map(|code| (code, at + digits))
    }
}
