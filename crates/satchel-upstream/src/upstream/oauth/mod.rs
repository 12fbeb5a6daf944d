//! Signs in to hosted servers, for every revision from 2025-03-26 on.
//!
//! Theory of operation: everything that decides is pure, with neither clock nor network: [`challenge`] and
//! [`documents`] read what a server says, [`discovery`] says what to read next, [`client`] says who we are, [`request`]
//! makes the page for the browser and judges what comes back, [`tokens`] reads what the token endpoint answers.
//! [`door`] is the one way to the network; [`account`] owns the sign-in of one server and renews it.

pub mod account;
pub mod accounts;
pub mod address;
pub mod challenge;
pub mod client;
#[cfg(test)]
mod clocks;
pub mod discovery;
pub mod documents;
pub mod guarded_http;
#[cfg(test)]
mod histories;
mod members;
pub mod providers;
mod record;
#[cfg(test)]
mod replays;
pub mod request;
pub mod sign_in;
pub mod token_response;

/// Why a sign-in failed or is no longer valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// Something failed a check, described in one sentence.
    #[error("{0}")]
    Refused(String),
    /// The user declined in the browser.
    #[error("the sign-in was declined in the browser{}", with_words(.0))]
    Denied(String),
    /// The provider does not support dynamic registration: the user has to enter a client ID.
    #[error("{why}")]
    NeedsClientId {
        /// Why, in one sentence.
        why: String,
        /// The authorization server.
        issuer: String,
    },
    /// It may work later.
    #[error("{0}")]
    Later(String),
    /// The browser did not come back in time.
    #[error("nobody came back from the browser within five minutes")]
    TimedOut,
    /// A person cancelled it, or began another one.
    #[error("the sign-in was cancelled")]
    Cancelled,
}

fn with_words(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(": {words}") }
}
