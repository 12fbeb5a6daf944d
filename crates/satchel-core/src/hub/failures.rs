//! Persists each server's last failure across restarts: one file per server, written when the failure changes, removed
//! when the server works again, a person dismisses it, or the server is removed. A failure of another setup of the
//! server is ignored.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Hub, requests::unknown_server};
use crate::{
    files::{self, file_stem},
    model::{ServerName, control::Refusal, snapshot::LastFailure},
};

#[derive(Serialize, Deserialize)]
struct FailureFile {
    setup: String,
    failure: LastFailure,
}

impl Hub {
    fn failure_file(&self, name: &ServerName) -> PathBuf {
        self.places().failures().join(format!("{}.json", file_stem(name.as_str())))
    }

    /// What went wrong in the run before. A file that cannot be read says nothing.
    pub(super) fn kept_failure(&self, name: &ServerName, setup: &str) -> Option<LastFailure> {
        let kept: FailureFile = serde_json::from_slice(&std::fs::read(self.failure_file(name)).ok()?).ok()?;
        (kept.setup == setup).then_some(kept.failure)
    }

    pub(super) async fn keep_failure(&self, name: &ServerName, setup: &str, failure: Option<LastFailure>) {
        let path = self.failure_file(name);
        let kept = failure.map(|failure| FailureFile { setup: setup.to_owned(), failure });
        let written = tokio::task::spawn_blocking(move || match kept {
            Some(kept) => files::replace(&path, &serde_json::to_vec(&kept)?),
            None => match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        });
        if let Ok(Err(error)) = written.await {
            tracing::warn!(server = %name, %error, "cannot keep what went wrong with a server");
        }
    }

    /// The server is gone.
    pub(super) fn forget_failure(&self, name: &ServerName) {
        let _ = std::fs::remove_file(self.failure_file(name));
    }

    /// A person knows of what went wrong last.
    pub(super) fn dismiss_failure(&self, server: &str) -> Result<(), Refusal> {
        let upstream = self.servers().get(server).map(|known| known.upstream.clone());
        upstream.ok_or_else(|| unknown_server(server))?.dismiss();
        Ok(())
    }
}
