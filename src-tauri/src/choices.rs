//! Preferences about the program itself: notifications, what closing the window does, the tray icon, newer versions.

use std::path::PathBuf;

use satchel_core::model::{Code, control::Refusal};
use serde::{Deserialize, Serialize};

use crate::{appearance::Appearance, language::Language};

/// Which notifications are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Notify {
    #[default]
    All,
    Questions,
    None,
}

/// What closing the window does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Closing {
    /// The hub continues.
    #[default]
    Serve,
    /// The hub stops, and every server with it.
    Quit,
}

/// Whether to look for updates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub(crate) enum LookForUpdates {
    /// Not asked yet, so no.
    #[default]
    NotAsked,
    On,
    Off,
}

/// All choices. Missing ones have their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub(crate) struct Choices {
    pub(crate) notifications: Notify,
    pub(crate) closing: Closing,
    pub(crate) tray: bool,
    pub(crate) updates: LookForUpdates,
    /// The window's language, for tray and notifications; unknown before a window was open.
    pub(crate) language: Option<Language>,
    /// The window's theme, for what it shows before its page is drawn.
    pub(crate) appearance: Appearance,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            notifications: Notify::default(),
            closing: Closing::default(),
            tray: true,
            updates: LookForUpdates::default(),
            language: None,
            appearance: Appearance::default(),
        }
    }
}

/// The choices, stored in a file.
pub(crate) struct Chosen(PathBuf);

impl Chosen {
    pub(crate) fn in_directory(directory: PathBuf) -> Self {
        Self(directory.join("choices.json"))
    }

    /// The stored choices; defaults if the file is unreadable.
    pub(crate) fn get(&self) -> Choices {
        let read = satchel_core::files::read_data(&self.0).ok();
        read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    pub(crate) fn set(&self, choices: Choices) -> Result<(), Refusal> {
        let refused =
            |why: String| Refusal::new(Code::Unwritable, format!("the choice cannot be stored: {why}"), "");
        let bytes = serde_json::to_vec(&choices).map_err(|error| refused(error.to_string()))?;
        let directory = self.0.parent().map_or(Ok(()), std::fs::create_dir_all);
        directory.map_err(|error| refused(error.to_string()))?;
        satchel_core::files::replace(&self.0, &bytes).map_err(|error| refused(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_kept_and_a_broken_file_chooses_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let chosen = Chosen::in_directory(directory.path().join("new"));
        assert_eq!(chosen.get(), Choices::default());
        let wanted = Choices {
            notifications: Notify::Questions,
            closing: Closing::Quit,
            tray: false,
            updates: LookForUpdates::On,
            language: Some(Language::De),
            appearance: Appearance::Dark,
        };
        chosen.set(wanted).unwrap();
        assert_eq!(chosen.get(), wanted);
        std::fs::write(&chosen.0, r#"{"closing":"quit","later":1}"#).unwrap();
        assert_eq!(chosen.get(), Choices { closing: Closing::Quit, ..Choices::default() });
        std::fs::write(&chosen.0, "{").unwrap();
        assert_eq!(chosen.get(), Choices::default());
    }
}
