//! Checks an entry before its server starts and again before anybody may use it: may it run, and is what its launcher
//! fetched approved? The decision comes from outside.

use std::{fmt, pin::Pin, sync::Arc};

use super::{handshake::failure, lifecycle::Failure};
use crate::{
    model::{Code, TransportConfig},
    tasks::caught,
};

type Look = dyn Fn(&TransportConfig) -> Pin<Box<dyn Future<Output = Result<(), (Code, String)>> + Send>>
    + Send
    + Sync;

/// Decides whether a resolved entry may run, and why not. Reads files, so it may take a moment.
#[derive(Clone)]
pub struct Preflight(pub Arc<Look>);

impl fmt::Debug for Preflight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Preflight")
    }
}

impl Preflight {
    pub(super) async fn permits(&self, transport: &TransportConfig) -> Result<(), Failure> {
        match caught((self.0)(transport)).await {
            Ok(looked) => looked.map_err(|(code, why)| failure(code, why)),
            Err(panicked) => Err(failure(Code::Crashed, panicked.to_string())),
        }
    }
}
