//! Ranks of tokens, from the tables that the build script wrote.

use crate::hashing::{RANK_BITS, SLOTS, start_of};

static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bytes"));
static ENDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ends"));
static TABLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/slots"));

/// The rank of the token that consists of these bytes.
pub(crate) fn rank(bytes: &[u8]) -> Option<u32> {
    let (mut slot, fingerprint) = start_of(bytes);
    // The table has empty slots, so this ends.
    loop {
        let found = number(TABLE, slot);
        if found == 0 {
            return None;
        }
        let rank = (found & ((1 << RANK_BITS) - 1)) - 1;
        if found >> RANK_BITS << RANK_BITS == fingerprint && token(rank as usize) == bytes {
            return Some(rank);
        }
        slot = (slot + 1) % SLOTS;
    }
}

fn token(rank: usize) -> &'static [u8] {
    let start = rank.checked_sub(1).map_or(0, |before| number(ENDS, before) as usize);
    &BYTES[start..number(ENDS, rank) as usize]
}

fn number(table: &[u8], at: usize) -> u32 {
    let bytes = &table[at * 4..at * 4 + 4];
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
