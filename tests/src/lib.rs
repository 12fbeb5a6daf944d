//! What the tests share: a home of their own for every test, hubs, raw clients, processes, bounded waiting.
//!
//! Helpers panic with a sentence that says what was expected: a test has no use for their errors.
//! Nothing here uses the product's own code, so a mistake there cannot hide itself here.

mod client;
mod fake;
mod fixture;
mod home;
mod hub;
pub mod odd;
pub mod process;
mod programs;
mod protected;
mod registry;
mod terminal;
mod tokens;
mod wait;

pub use client::{Answer, Client, Events, Notes, RpcError, plain_http};
pub use fake::{Fake, FakeHttp, Ledger};
pub use fixture::{LEGACY, MODERN, fixture};
pub use home::{Home, Ran};
pub use hub::{Connection, Hub, host_of};
pub use programs::{program, python, repository, target_directory};
pub use protected::{Protected, browse, browser, kit, protected};
pub use registry::Registry;
pub use wait::eventually;
