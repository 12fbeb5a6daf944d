//! The protocol itself, pure.
