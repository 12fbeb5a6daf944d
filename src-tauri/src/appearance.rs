//! The theme that a person chose, and what a window shows in it before its page is drawn. The page itself follows the same
//! choice (`ui/public/theme.js`), which it keeps where only pages can read.

#[cfg(target_os = "linux")]
use satchel_core::platform::Environment;
use serde::{Deserialize, Serialize};
use tauri::{AppHandle, Manager, WebviewWindow, webview::Color};

use crate::choices::Chosen;

/// `--bg` of `ui/src/style/tokens.css`.
const LIGHT: Color = Color(247, 246, 243, 255);
const DARK: Color = Color(20, 19, 17, 255);

/// Which theme windows have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Appearance {
    /// That of the system.
    #[default]
    System,
    Light,
    Dark,
}

impl Appearance {
    fn of(app: &AppHandle) -> Self {
        app.state::<Chosen>().get().appearance
    }

    fn background(self, system_is_dark: bool) -> Color {
        match self {
            Self::System if system_is_dark => DARK,
            Self::System | Self::Light => LIGHT,
            Self::Dark => DARK,
        }
    }
}

/// The background that a window is created with: some systems take none later. Which theme the system has is known only
/// once there is a window, see [`paint`].
pub(crate) fn first_background(app: &AppHandle) -> Color {
    Appearance::of(app).background(false)
}

/// Sets the background of a window and of its page before anything is drawn.
pub(crate) fn paint(window: &WebviewWindow) -> tauri::Result<()> {
    let own = window.clone();
    window.run_on_main_thread(move || {
        let background = Appearance::of(own.app_handle()).background(system_is_dark(&own));
        if let Err(error) = own.set_background_color(Some(background)) {
            tracing::warn!("a window may flash before its page is drawn: {error}");
        }
    })
}

#[cfg(not(target_os = "linux"))]
fn system_is_dark(window: &WebviewWindow) -> bool {
    window.theme().is_ok_and(|theme| theme == tauri::Theme::Dark)
}

/// What the desktop calls this program, beside the tray icon for example. Before the first window.
#[cfg(target_os = "linux")]
pub(crate) fn name_the_program() {
    gtk::glib::set_application_name("Satchel");
}

/// By the same settings as WebKit, which decides for the page. Only on the main thread.
#[cfg(target_os = "linux")]
fn system_is_dark(_: &WebviewWindow) -> bool {
    use gtk::prelude::GtkSettingsExt;
    let Some(settings) = gtk::Settings::default() else { return false };
    let forced = Environment::of_this_process().get("GTK_THEME").is_some_and(names_a_dark_theme);
    let named = settings.gtk_theme_name().is_some_and(|name| names_a_dark_theme(&name));
    settings.is_gtk_application_prefer_dark_theme() || forced || named
}

#[cfg(target_os = "linux")]
fn names_a_dark_theme(name: &str) -> bool {
    ["-dark", "-Dark", ":dark"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_dark_before_its_page_is_there_where_a_person_chose_that_or_the_system_is() {
        for (appearance, system_is_dark, expected) in [
            (Appearance::System, false, LIGHT),
            (Appearance::System, true, DARK),
            (Appearance::Light, true, LIGHT),
            (Appearance::Dark, false, DARK),
        ] {
            assert_eq!(appearance.background(system_is_dark), expected, "{appearance:?} {system_is_dark}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_theme_is_dark_by_the_end_of_its_name() {
        for (name, expected) in
            [("Adwaita", false), ("Adwaita-dark", true), ("Adwaita:dark", true), ("darkly", false)]
        {
            assert_eq!(names_a_dark_theme(name), expected, "{name}");
        }
    }
}
