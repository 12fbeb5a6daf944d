//! Computes the place of a token in the hash table: shared by the build script, which writes the table, and the
//! counter, which reads it.

/// Slots of the hash table: a power of two, so that about three of four are used.
pub(crate) const SLOTS: usize = 1 << 18;
/// Bits of a slot that hold the rank plus one; the others hold a fingerprint. An empty slot is 0.
pub(crate) const RANK_BITS: u32 = 18;

/// The slot to start looking at for these bytes, and their fingerprint in its place within a slot.
pub(crate) fn start_of(bytes: &[u8]) -> (usize, u32) {
    // FNV-1a, mixed once more, because its upper bits vary little for texts of two bytes.
    let fnv = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let slot = (mixed >> 40) as usize % SLOTS;
    (slot, (mixed as u32) >> RANK_BITS << RANK_BITS)
}
