//! The language of tray, notifications and titles: that of the window. Before a window was ever open, that of the system.

use satchel_core::{model::trying::WINDOW, platform::Environment};
use serde::{Deserialize, Serialize};
use tauri::{AppHandle, Manager};

use crate::choices::Chosen;

/// The languages there are; the window has the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Language {
    #[default]
    En,
    De,
}

/// Wakes what speaks another language from now on.
#[derive(Debug, Default)]
pub(crate) struct LanguageChanges(pub(crate) tokio::sync::Notify);

impl Language {
    /// The language in use.
    pub(crate) fn of(app: &AppHandle) -> Self {
        let chosen = app.state::<Chosen>().get().language;
        chosen.unwrap_or_else(|| Self::of_system(&Environment::of_this_process()))
    }

    /// Where the environment states none, as on Windows and macOS, the window tells it when it first opens.
    fn of_system(environment: &Environment) -> Self {
        let names = ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"];
        let stated = names.iter().filter_map(|name| environment.get(name)).find(|value| !value.is_empty());
        match stated {
            Some(stated) if stated.to_ascii_lowercase().starts_with("de") => Self::De,
            Some(_) | None => Self::En,
        }
    }

    /// What the client is called to a person.
    pub(crate) fn client(self, client: &str) -> &str {
        if client == WINDOW { self.pick(WINDOW, "Satchel-Fenster") } else { client }
    }

    /// The text in this language.
    pub(crate) fn pick<T>(self, english: T, german: T) -> T {
        match self {
            Self::En => english,
            Self::De => german,
        }
    }
}

#[cfg(test)]
mod tests {
    use satchel_core::platform::Platform;

    use super::*;

    #[test]
    fn the_system_says_the_language_before_a_window_does() {
        let of = |set: &[(&str, &str)]| {
            Language::of_system(&Environment::new(Platform::Linux, set.iter().copied()))
        };
        assert_eq!(of(&[]), Language::En);
        assert_eq!(of(&[("LANG", "de_AT.UTF-8")]), Language::De);
        assert_eq!(of(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C.UTF-8")]), Language::En);
        assert_eq!(of(&[("LANG", "en_US.UTF-8"), ("LANGUAGE", "de:en")]), Language::De);
    }

    #[test]
    fn calls_from_the_window_have_a_client_in_each_language() {
        assert_eq!(Language::En.client(WINDOW), "Satchel window");
        assert_eq!(Language::De.client(WINDOW), "Satchel-Fenster");
        assert_eq!(Language::De.client("cursor"), "cursor");
    }
}
