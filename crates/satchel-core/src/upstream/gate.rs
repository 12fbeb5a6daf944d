//! Asked before a program is started, and once more before anybody may use it: may what its launcher fetched run? What is
//! fetched and what is approved, others know.

use std::{fmt, sync::Arc};

use super::{handshake::failure, lifecycle::Failure};
use crate::{
    model::{Code, TransportConfig},
    registry::fetched,
    tasks::Panicked,
};

type Look = dyn Fn(&TransportConfig) -> Result<(), String> + Send + Sync;

/// Says of an entry, with every reference filled in, why it may not run. It reads files and may take a moment.
#[derive(Clone)]
pub struct Gate(pub Arc<Look>);

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gate")
    }
}

impl Gate {
    pub(super) async fn permits(&self, transport: &TransportConfig) -> Result<(), Failure> {
        if !fetched::is_kept(transport) {
            return Ok(());
        }
        let (look, transport) = (self.0.clone(), transport.clone());
        match tokio::task::spawn_blocking(move || look(&transport)).await {
            Ok(looked) => looked.map_err(|why| failure(Code::HeldBack, why)),
            Err(_) => Err(failure(Code::Crashed, Panicked.to_string())),
        }
    }
}
