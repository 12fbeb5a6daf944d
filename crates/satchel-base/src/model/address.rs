//! Resource addresses as text: percent-encoding, and matching of URI templates.

/// Decodes percent-escapes (`%41`) into bytes. Invalid escapes stay as they are.
pub fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).filter(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        let hex = digits.filter(|_| bytes[at] == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    decoded
}

/// Can this address be an expansion of the template? Compares only the literal parts between variables, in order.
pub fn fits_template(template: &str, uri: &str) -> bool {
    let (mut rest, mut first) = (uri, true);
    for part in template.split('{') {
        let fixed = if first { part } else { part.split_once('}').map_or("", |(_, fixed)| fixed) };
        match rest.find(fixed) {
            Some(0) => rest = &rest[fixed.len()..],
            Some(at) if !first => rest = &rest[at + fixed.len()..],
            _ => return false,
        }
        first = false;
    }
    template.ends_with('}') || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_digits_behind_a_percent_sign_are_a_byte() {
        for (text, decoded) in
            [("a%20b", "a b"), ("%C3%A4", "ä"), ("100%", "100%"), ("%+1%4", "%+1%4"), ("%zz%2541", "%zz%41")]
        {
            assert_eq!(percent_decoded(text), decoded.as_bytes(), "{text}");
        }
    }
}
