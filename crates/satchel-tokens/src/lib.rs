//! Counts the tokens of `o200k_base`. The vocabulary lies in the program as tables that are used in place: nothing is read at the
//! start, and pages that no text needs are never loaded. Special tokens are ordinary text here. Tokens themselves are not
//! returned.
//!
//! A test to copy: `tests.rs::every_count_is_that_of_the_reference`.

mod hashing;
mod merge;
mod vocabulary;

use fancy_regex::Regex;

/// The text cannot be split; carries the reason.
#[derive(Debug, thiserror::Error)]
#[error("cannot split a text into words: {0}")]
pub struct SplitError(#[from] Box<fancy_regex::Error>);

impl From<fancy_regex::Error> for SplitError {
    fn from(error: fancy_regex::Error) -> Self {
        Self(Box::new(error))
    }
}

/// Counts tokens.
#[derive(Debug)]
pub struct TokenEncoding {
    words: Regex,
}

impl TokenEncoding {
    /// Compiles the expression that splits a text.
    ///
    /// # Errors
    /// [`SplitError`] if it cannot be compiled.
    pub fn new() -> Result<Self, SplitError> {
        Ok(Self { words: Regex::new(include_str!(concat!(env!("OUT_DIR"), "/pattern")))? })
    }

    /// The number of tokens of a text.
    ///
    /// # Errors
    /// [`SplitError`] if splitting it exceeds the limits of the regular expression.
    pub fn count(&self, text: &str) -> Result<usize, SplitError> {
        let mut tokens = 0;
        for word in self.words.find_iter(text) {
            tokens += tokens_of(word?.as_str().as_bytes());
        }
        Ok(tokens)
    }
}

fn tokens_of(word: &[u8]) -> usize {
    match vocabulary::rank(word) {
        Some(_) => 1,
        None => merge::parts(word, vocabulary::rank),
    }
}

#[cfg(test)]
mod tests;
