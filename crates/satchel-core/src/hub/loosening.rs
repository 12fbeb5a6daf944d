//! A change that loosens a protection and needs a person.

/// What is loosened, and how a person has it done.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Loosening {
    /// What is done, as the beginning of a sentence.
    pub(super) what: String,
    /// The command; empty where there is none.
    pub(super) command: String,
}

impl Loosening {
    pub(super) fn new(what: impl Into<String>, command: impl Into<String>) -> Self {
        Self { what: what.into(), command: command.into() }
    }
}
