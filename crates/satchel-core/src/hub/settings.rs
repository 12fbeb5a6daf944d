//! The guarded settings that a person accepted, kept beside the approvals: what another hand makes laxer in the
//! configuration file is not in force before a person has accepted exactly that.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::Hub;
use crate::{
    config::{
        Config,
        guarded::{Guarded, readable},
    },
    files,
    model::{
        Code, Notice,
        approvals::SettingsChange,
        control::{Change, Refusal},
        trail::DeedKind,
    },
    review::Accepted,
    trust::{Fingerprint, diff, fingerprint::Tree},
};

/// The largest file of accepted settings, in bytes.
const LARGEST: u64 = 4 * 1024 * 1024;

/// What was accepted, once it is known.
#[derive(Debug, Default)]
pub(super) struct AcceptedSettings {
    known: Mutex<Option<Guarded>>,
    /// Whoever changes the configuration or what of it is in force does so in turn.
    pub(super) turn: tokio::sync::Mutex<()>,
}

impl Hub {
    fn accepted_settings(&self) -> MutexGuard<'_, Option<Guarded>> {
        self.inner.settings.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is in force of a configuration file that was just read or written.
    pub(super) fn in_force(&self, file: &Config, accepted: Accepted<'_>) -> Config {
        let wanted = Guarded::of(file);
        let known = self.accepted_settings().clone().unwrap_or_else(|| self.known_settings());
        let takes_all = matches!(accepted, Accepted::File) || known.is_tightened_by(&wanted);
        let accepted = if takes_all { wanted.clone() } else { known };
        self.accept_settings(accepted.clone());
        match accepted == wanted {
            true => self.clear_notice(Code::SettingsHeld),
            false => {
                let file = self.places().config_file.display();
                let message =
                    format!("{file} has settings that nobody accepted; what they loosen is not in force");
                self.notice(Notice::new(Code::SettingsHeld, message));
            }
        }
        file.under(&accepted)
    }

    /// A person changed a setting through Satchel; `file` is not in force yet.
    pub(super) fn settings_changed(&self, change: &Change) {
        let known = self.accepted_settings().clone().unwrap_or_else(|| self.known_settings());
        self.accept_settings(known.after(change));
    }

    /// What was accepted before this hub started. A version that did not ask left what was in force then.
    fn known_settings(&self) -> Guarded {
        let kept = files::read_plain(&self.settings_file(), LARGEST).ok();
        let kept =
            kept.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok()).and_then(Guarded::from_value);
        let before = || {
            let text = files::read_plain(&self.places().last_good_config(), LARGEST).ok()?;
            let config = Config::parse(&String::from_utf8(text).ok()?).ok()?;
            (!self.settings_file().exists()).then(|| Guarded::of(&config))
        };
        kept.or_else(before).unwrap_or_default()
    }

    fn accept_settings(&self, accepted: Guarded) {
        if self.accepted_settings().replace(accepted.clone()).as_ref() == Some(&accepted) {
            return;
        }
        let text = accepted.to_value().to_string();
        if let Err(error) = files::replace(&self.settings_file(), text.as_bytes()) {
            tracing::warn!(%error, "cannot keep which settings were accepted");
        }
    }

    fn settings_file(&self) -> std::path::PathBuf {
        self.places().approvals().join("settings.accepted")
    }

    /// What the file wants of settings and nobody has accepted.
    pub(super) fn waiting_settings(&self) -> Option<SettingsChange> {
        let wanted = Guarded::of(&self.inner.config.borrow());
        let accepted = self.accepted_settings().clone().unwrap_or_default();
        if wanted == accepted {
            return None;
        }
        Some(SettingsChange {
            fingerprint: print(&wanted).to_string(),
            diff: diff::words(&readable(&accepted), &readable(&wanted)),
        })
    }

    /// A person accepts exactly these settings of the file.
    ///
    /// # Errors
    /// A [`Refusal`] where the file has others by now.
    pub(super) async fn approve_settings(&self, fingerprint: &str) -> Result<Value, Refusal> {
        let _turn = self.inner.settings.turn.lock().await;
        let config = self.inner.config.borrow().clone();
        let wanted = Guarded::of(&config);
        if print(&wanted).as_str() != fingerprint {
            let message = "the settings in the file are not what was looked at any more";
            return Err(Refusal::new("changed_meanwhile", message, "Look at them again."));
        }
        self.accept_settings(wanted);
        self.did_here(DeedKind::Approval, "", format!("settings of the configuration file, {fingerprint}"));
        let in_force = self.in_force(&config.as_written(), Accepted::Nothing);
        self.reconcile(in_force, Accepted::Nothing).await;
        Ok(json!({}))
    }
}

fn print(settings: &Guarded) -> Fingerprint {
    let raw = serde_json::value::to_raw_value(&settings.to_value()).expect("a JSON value always serializes");
    Fingerprint::of_tree("settings", &Tree::of(&raw))
}
