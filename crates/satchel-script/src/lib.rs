//! Runs one short script of a model, in a process that can do nothing but compute and ask the hub for tool calls. Holds
//! the engine, the words it exchanges with the hub, and the body of that process. Knows no tool, no permission and no
//! record: what a call does, and whether it may be made, is the hub's matter.
//!
//! The engine is QuickJS (quickjs-ng, through `rquickjs`): small, ES2023, with a bound for its memory, a bound for its
//! stack and a handler that can stop any loop. `boa` was looked at: it is Rust throughout, but it bounds loops and
//! recursion only, not the memory a script may take, and it brings a date and locale library many times the size.
//!
//! A test to copy: `protocol.rs::a_message_is_one_line_whatever_its_value_contains`.

mod clock;
mod engine;
mod process;
pub mod protocol;

pub use clock::cpu_time;
pub use engine::{Bounds, Host, run};
pub use process::speak;
