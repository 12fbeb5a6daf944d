//! Keeps the guarded settings that a person accepted. A setting in the configuration file that loosens protection takes
//! effect only after a person has accepted exactly that value.

use std::{
    collections::BTreeSet,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use parking_lot::{Mutex, MutexGuard};

use serde_json::{Value, json};

use super::{Hub, registry};
use crate::{
    config::{
        Config,
        file::text_of,
        guarded::{Guarded, readable},
    },
    files::{self, Places},
    model::{
        Code, Notice,
        approvals::SettingsChange,
        audit::AuditKind,
        control::{Change, Refusal},
    },
    review::Accepted,
    trust::{Fingerprint, diff, fingerprint::Tree},
};

/// The key of what was accepted in that file.
const ACCEPTED: &str = "accepted";

/// The accepted settings, once loaded.
#[derive(Debug)]
pub(super) struct AcceptedSettings {
    file: PathBuf,
    /// The last configuration in effect, for data directories of versions that did not ask.
    last_good: PathBuf,
    known: Mutex<Option<Guarded>>,
    /// Held while the configuration, or what of it is in effect, changes.
    pub(super) turn: tokio::sync::Mutex<()>,
}

impl AcceptedSettings {
    pub(super) fn new(places: &Places) -> Self {
        Self {
            file: places.approvals().join("settings.accepted"),
            last_good: places.last_good_config(),
            known: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// The settings in effect for a configuration that was just read or written.
    pub(super) fn in_force(&self, file: &Config, accepted: Accepted<'_>) -> Config {
        let wanted = Guarded::of(file);
        let known = self.known();
        let takes_all = matches!(accepted, Accepted::File) || known.is_tightened_by(&wanted);
        let accepted = if takes_all { known.and(&wanted) } else { known };
        self.accept(accepted.clone());
        file.under(&accepted)
    }

    /// Records a change made through Satchel, which turns `before` into `after`. `by_person`: a person made it. The file
    /// that contains it is not in effect yet.
    pub(super) fn changed(&self, change: &Change, before: &Config, after: &Config, by_person: bool) {
        self.accept(self.known().after(change, before, after, by_person));
    }

    /// The settings, and the servers, of which something in the file is not accepted.
    pub(super) fn unaccepted(&self, config: &Config) -> (BTreeSet<String>, BTreeSet<String>) {
        self.known().waiting(&Guarded::of(config))
    }

    /// The settings of `config` that nobody has accepted.
    pub(super) fn waiting(&self, config: &Config) -> Option<SettingsChange> {
        let wanted = Guarded::of(config);
        let accepted = self.lock().clone().unwrap_or_default();
        if accepted.accepts(&wanted) {
            return None;
        }
        let accepted = accepted.beside(&wanted);
        Some(SettingsChange {
            fingerprint: print(&wanted).to_string(),
            diff: diff::words(&readable(&accepted), &readable(&wanted)),
        })
    }

    /// The notice that `config`, read from `file`, has settings that nobody has accepted. Callers put `config` into effect first, so
    /// that the file's restrictions apply by the time a person reads the notice.
    pub(super) fn held(&self, config: &Config, file: &Path) -> Option<Notice> {
        self.waiting(config)?;
        let file = file.display();
        let message =
            format!("{file} has settings that nobody has accepted; what they loosen is not in effect");
        Some(Notice::new(Code::SettingsHeld, message))
    }

    fn known(&self) -> Guarded {
        let known = self.lock().clone();
        known.unwrap_or_else(|| self.read())
    }

    /// The settings accepted before this run. For a version that did not ask, those that were in effect.
    fn read(&self) -> Guarded {
        let before = || {
            let text = text_of(&self.last_good).ok()?;
            Some(Guarded::of(&Config::parse(&text).ok()?))
        };
        let bytes = match files::read_data(&self.file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return before().unwrap_or_default(),
            Err(error) => {
                tracing::warn!(%error, "cannot read which settings were accepted");
                return Guarded::default();
            }
        };
        match serde_json::from_slice::<Value>(&bytes).unwrap_or_default() {
            Value::Object(mut kept) if kept.contains_key(ACCEPTED) => {
                kept.remove(ACCEPTED).and_then(Guarded::from_value).unwrap_or_default()
            }
            // Of a version that looked at fewer keys: of the others, those were accepted that were in effect.
            kept => match Guarded::from_value(kept) {
                Some(accepted) => accepted.completed_by(before().unwrap_or_default()),
                None => Guarded::default(),
            },
        }
    }

    fn accept(&self, accepted: Guarded) {
        if self.lock().replace(accepted.clone()).as_ref() == Some(&accepted) {
            return;
        }
        let stored = json!({ ACCEPTED: accepted.to_value() }).to_string();
        if let Err(error) = files::replace(&self.file, stored.as_bytes()) {
            tracing::warn!(%error, "cannot store which settings were accepted");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Guarded>> {
        self.known.lock()
    }
}

/// Accepts exactly these settings of the file.
///
/// # Errors
/// A [`Refusal`] if the file has changed in the meantime.
pub(super) async fn approve_settings(hub: &Hub, fingerprint: &str) -> Result<(), Refusal> {
    let _turn = hub.inner.configured.accepted.turn.lock().await;
    let config = hub.config();
    let wanted = Guarded::of(&config);
    if print(&wanted).as_str() != fingerprint {
        let message = "the settings in the file changed after they were shown";
        return Err(Refusal::new(Code::ChangedMeanwhile, message, "Review them again."));
    }
    let known = hub.inner.configured.accepted.known();
    hub.inner.configured.accepted.accept(known.and(&wanted));
    hub.did_here(AuditKind::Approval, "", format!("settings of the configuration file, {fingerprint}"));
    let in_force = hub.inner.configured.accepted.in_force(&config.as_written(), Accepted::Nothing);
    registry::reconcile(hub, in_force, Accepted::Nothing).await;
    Ok(())
}

fn print(settings: &Guarded) -> Fingerprint {
    let raw = serde_json::value::to_raw_value(&settings.to_value()).expect("a JSON value always serializes");
    Fingerprint::of_tree("settings", &Tree::of(&raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(dir.path());
        places.create().unwrap();
        (dir, places)
    }

    fn with(new_servers: &str) -> Config {
        Config::parse(&json!({ "newServers": new_servers, "mcpServers": {} }).to_string()).unwrap()
    }

    #[test]
    fn loosening_changes_wait_for_a_person_and_tightening_ones_do_not() {
        let (_dir, places) = home();
        let settings = AcceptedSettings::new(&places);
        let held = settings.in_force(&with("hold"), Accepted::Nothing);
        assert!(held.holds_new_servers(), "stricter than before");
        assert!(settings.waiting(&held).is_none());
        let kept = settings.in_force(&with("offer"), Accepted::Nothing);
        assert!(kept.holds_new_servers(), "the file does not loosen it by itself");
        assert!(settings.waiting(&kept).is_some());
        // A new hub knows what was accepted.
        let again = AcceptedSettings::new(&places);
        assert!(again.in_force(&with("offer"), Accepted::Nothing).holds_new_servers());
        let loose = again.in_force(&with("offer"), Accepted::File);
        assert!(!loose.holds_new_servers());
        assert!(again.waiting(&loose).is_none());
    }
}
