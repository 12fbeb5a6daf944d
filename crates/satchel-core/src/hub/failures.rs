//! Persists each server's last failure across restarts: one file per server, written when the failure changes, removed
//! when the server works again, a person dismisses it, or the server is removed. A failure of another setup of the
//! server is ignored.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Hub;
use crate::{
    files::{self, file_stem},
    model::{ServerName, control::Refusal, snapshot::LastFailure},
};

#[derive(Serialize, Deserialize)]
struct FailureFile {
    setup: String,
    failure: LastFailure,
}

fn failure_file(hub: &Hub, name: &ServerName) -> PathBuf {
    hub.places().failures().join(format!("{}.json", file_stem(name.as_str())))
}

/// The failure of the previous run. An unreadable file is ignored.
pub(super) fn kept_failure(hub: &Hub, name: &ServerName, setup: &str) -> Option<LastFailure> {
    let kept: FailureFile = serde_json::from_slice(&files::read_data(&failure_file(hub, name)).ok()?).ok()?;
    (kept.setup == setup).then_some(kept.failure)
}

pub(super) async fn keep_failure(hub: &Hub, name: &ServerName, setup: &str, failure: Option<LastFailure>) {
    let path = failure_file(hub, name);
    let kept = failure.map(|failure| FailureFile { setup: setup.to_owned(), failure });
    let written = tokio::task::spawn_blocking(move || match kept {
        Some(kept) => files::replace(&path, &serde_json::to_vec(&kept)?),
        None => match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    });
    if let Ok(Err(error)) = written.await {
        tracing::warn!(server = %name, %error, "cannot store a server's failure");
    }
}

/// The server was removed.
pub(super) fn forget_failure(hub: &Hub, name: &ServerName) {
    let _ = std::fs::remove_file(failure_file(hub, name));
}

/// A person dismissed the last failure.
pub(super) fn dismiss_failure(hub: &Hub, server: &str) -> Result<(), Refusal> {
    let upstream = hub.servers().get(server).map(|known| known.upstream.clone());
    upstream.ok_or_else(|| Refusal::unknown_server(server))?.dismiss();
    Ok(())
}
