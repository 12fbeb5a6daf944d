//! What is measured: what servers cost this computer.

pub mod usage;
