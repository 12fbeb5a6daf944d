//! Characters that act on a text and are not seen in it.

/// Characters without a shape of their own (Unicode `Cf` and `Default_Ignorable_Code_Point`), but for those that
/// are seen: the Arabic, Syriac and Kaithi signs that stand around numbers.
pub fn is_format(c: char) -> bool {
    matches!(u32::from(c),
        0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f
        | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
        | 0x13430..=0x1343f | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a
        | 0xe0000..=0xe00ff | 0xe01f0..=0xe0fff)
}

/// Characters that choose a shape for the one before.
pub fn is_selector(c: char) -> bool {
    matches!(u32::from(c), 0xfe00..=0xfe0f | 0xe0100..=0xe01ef)
}
