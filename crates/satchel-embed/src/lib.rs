//! Turns sentences into vectors that are close when the sentences mean the same: the forward pass of a small BERT
//! (all-MiniLM-L6-v2, or multilingual-e5-small) with eight-bit weights. Pure: bytes in, numbers out. Callers decide where the file lies, which
//! threads compute, and what is cached.
//!
//! `weights_file` reads and writes the weights, `wordpiece` and `unigram` cut texts, `forward` is the network, `kernel` the loops that take the
//! time, `budget` shares a bounded number of tokens among the parts of a request.
//!
//! A test to copy: `wordpiece.rs::words_are_cut_into_the_longest_known_pieces`.

#![warn(missing_docs)]

mod budget;
mod forward;
mod kernel;
mod unigram;
mod weights_file;
mod wordpiece;

pub use budget::REQUEST_TOKENS;
pub use forward::{Model, Role};
pub use kernel::dot;
pub use weights_file::{
    Cutting, HEAD, ModelError, Tensors, id, quantise, quantise_multilingual, toy, toy_cutting,
};

/// Maximum number of tokens read of a text, including the first and last special token.
pub const MOST_TOKENS: usize = 256;
