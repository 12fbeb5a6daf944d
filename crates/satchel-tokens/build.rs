//! Writes the vocabulary of `o200k_base` as tables that are used in place: the bytes of all tokens, where each ends, and a hash
//! table of ranks. Also writes the expression that splits a text.

#[path = "src/hashing.rs"]
mod hashing;

use std::{env, error::Error, fs, path::Path};

use hashing::{RANK_BITS, SLOTS, start_of};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/hashing.rs");
    let encoding = tiktoken_rs::o200k_base()?;
    let (mut bytes, mut ends, mut slots) = (Vec::new(), Vec::new(), vec![0_u32; SLOTS]);
    // Ranks have no gaps before the special tokens.
    for rank in 0.. {
        let Ok(token) = encoding.decode_bytes(&[rank]) else { break };
        if encoding.special_tokens().iter().any(|special| special.as_bytes() == token) {
            break;
        }
        bytes.extend_from_slice(&token);
        ends.push(u32::try_from(bytes.len())?);
        let number = rank + 1;
        if number >> RANK_BITS != 0 || ends.len() >= SLOTS {
            return Err("the vocabulary is larger than its table".into());
        }
        let (mut slot, fingerprint) = start_of(&token);
        while slots[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        slots[slot] = fingerprint | number;
    }
    if ends.len() < 100_000 {
        return Err("the vocabulary ends too early".into());
    }
    let out = env::var_os("OUT_DIR").ok_or("cargo says where to write")?;
    let out = Path::new(&out);
    fs::write(out.join("bytes"), bytes)?;
    fs::write(out.join("ends"), little_endian(&ends))?;
    fs::write(out.join("slots"), little_endian(&slots))?;
    fs::write(out.join("pattern"), tiktoken_rs::O200K_BASE_PAT_STR)?;
    Ok(())
}

fn little_endian(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
