//! Finds bytes in texts, many at a time. Knows nothing of JSON.

/// Block size, which compilers turn into a few vector instructions.
const AT_ONCE: usize = 64;

/// The position of the first `wanted`.
pub fn find(wanted: u8, bytes: &[u8]) -> Option<usize> {
    memchr::memchr(wanted, bytes)
}

/// The position of the first `one` or `other`.
pub fn find_either(one: u8, other: u8, bytes: &[u8]) -> Option<usize> {
    memchr::memchr2(one, other, bytes)
}

/// Is each byte below `limit`?
pub fn all_below(limit: u8, bytes: &[u8]) -> bool {
    bytes.chunks(AT_ONCE).all(|chunk| chunk.iter().fold(true, |below, byte| below & (*byte < limit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_that_is_not_below_is_found_wherever_it_stands() {
        for length in [0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE] {
            let mut bytes = vec![b'a'; length];
            assert!(all_below(0x7f, &bytes), "{length} bytes");
            for at in 0..length {
                bytes[at] = 0x7f;
                assert!(!all_below(0x7f, &bytes) && all_below(0x80, &bytes), "{at} of {length} bytes");
                bytes[at] = b'a';
            }
        }
    }
}
