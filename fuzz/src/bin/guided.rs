//! What libFuzzer calls; `SATCHEL_FUZZ` names the target.

#![no_main]
#![allow(unsafe_code, reason = "libFuzzer looks for its entry point by an exported name")]

use std::sync::LazyLock;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let wanted = std::env::var("SATCHEL_FUZZ").unwrap_or_default();
    let found = satchel_fuzz::TARGETS.iter().find(|(name, _)| *name == wanted);
    found.unwrap_or_else(|| panic!("SATCHEL_FUZZ names no target: {wanted:?}")).1
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| TARGET(data));
