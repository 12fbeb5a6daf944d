//! Measured tokens. The encoding is loaded when something is to be counted and dropped afterwards: it takes tens of
//! megabytes, and lists change rarely.

use std::sync::Arc;

use super::Offer;

/// The encoding all counts are made with.
pub const ENCODING: &str = "o200k_base";

/// Counts what has not been counted yet, and says whether there was anything. Slow; call it where blocking is allowed.
pub fn count(offers: &[Arc<Offer>]) -> bool {
    if offers.iter().all(|offer| offer.tokens.get().is_some()) {
        return false;
    }
    let Ok(encoding) = tiktoken_rs::o200k_base() else {
        tracing::warn!("cannot load the {ENCODING} encoding; tokens are not counted");
        return false;
    };
    for offer in offers {
        for tool in &offer.tools {
            tool.tokens.get_or_init(|| encoding.count_ordinary(tool.raw.get()));
        }
        offer.tokens.get_or_init(|| encoding.count_ordinary(&offer.definitions()));
    }
    true
}
