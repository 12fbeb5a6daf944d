//! Clients of both eras with servers of both eras, on both transports: nothing that happens in the middle of a call, or
//! between calls, is lost on the way.
#![allow(clippy::disallowed_methods, reason = "every pair is a task of its own; the test waits for all")]

mod answers;
mod client;
mod pairs;
mod station;

mod calls;
mod changes;
mod fidelity;
mod hidden;
mod hosted;
mod permissions;
mod pinned;
mod profiles;
mod questions;
mod scripts;
mod sse;
mod surfaces;
mod tasks;
mod visits;
mod wrong;
