//! The house: real processes, real HTTP, no window.

mod floors;
