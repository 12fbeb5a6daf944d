//! The folders that an instance may know (`roots/list`): those of the session that it serves. Comes from outside; asks no
//! client.

use std::{fmt, sync::Arc};

/// The URIs of the folders, at the time of asking; `None` where only a call's client can say.
#[derive(Clone)]
pub struct Roots(pub Arc<dyn Fn() -> Option<Vec<String>> + Send + Sync>);

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Roots")
    }
}
