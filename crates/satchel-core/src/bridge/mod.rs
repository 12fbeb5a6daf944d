//! Translates between the legacy and the stateless protocol revisions: which client can be asked what, and how a
//! question of one family is put in the other.

pub mod caller;
pub mod form;
pub mod pages;
pub mod rounds;

pub use caller::Caller;
pub use rounds::{Question, Round};
