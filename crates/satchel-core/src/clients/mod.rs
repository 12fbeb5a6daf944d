//! The programs that connect to us: who they are, by the token each was given.

pub mod token;
