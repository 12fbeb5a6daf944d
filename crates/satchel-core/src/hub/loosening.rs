//! Finds the changes that loosen a protection, which need a person.

/// What is loosened, and how a person can do it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Loosening {
    /// The action, as the start of a sentence.
    pub(super) what: String,
    /// The command that does it; empty if there is none.
    pub(super) command: String,
}

impl Loosening {
    pub(super) fn new(what: impl Into<String>, command: impl Into<String>) -> Self {
        Self { what: what.into(), command: command.into() }
    }
}
