//! Links that begin with `satchel:`, and files dropped on the window: each only opens a place in the window, where a person
//! sees what would be added. Neither acts by itself.

use std::path::Path;

use tauri::{AppHandle, DragDropEvent, Manager, Url, WebviewWindow, WindowEvent};
use tauri_plugin_deep_link::DeepLinkExt;

use crate::{tasks::Tasks, window};

/// Maximum length of a link.
const LONGEST: usize = 32 * 1024;
/// Extensions of files that describe servers.
const ENDINGS: [&str; 3] = ["mcpb", "dxt", "json"];

/// Handles links that the system opens while the app runs.
pub(crate) fn follow(app: &AppHandle) {
    let own = app.clone();
    app.deep_link().on_open_url(move |event| {
        let Some(place) = event.urls().first().and_then(|link| place_of(link.as_str())) else { return };
        let handle = own.clone();
        own.state::<Tasks>().spawn(async move { window::show(&handle, Some(&place)) });
    });
}

/// The window's location for a link; `None` if it is not a valid one.
pub(crate) fn place_of(link: &str) -> Option<String> {
    let url = Url::parse(link).ok().filter(|_| link.len() <= LONGEST)?;
    let wanted = url.host_str().unwrap_or_else(|| url.path());
    let query = url.query().filter(|query| !query.is_empty())?;
    (url.scheme() == "satchel" && wanted.trim_matches('/') == "install").then(|| format!("/install?{query}"))
}

/// Shows what a file dropped on the window contains.
pub(crate) fn take_drops(window: &WebviewWindow) {
    let app = window.app_handle().clone();
    window.on_window_event(move |event| {
        let WindowEvent::DragDrop(DragDropEvent::Drop { paths, .. }) = event else { return };
        if let Some(place) = paths.first().and_then(|path| place_of_file(path)) {
            window::show(&app, Some(&place));
        }
    });
}

fn place_of_file(path: &Path) -> Option<String> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let mut place = Url::parse("satchel:/import").ok().filter(|_| ENDINGS.contains(&ending.as_str()))?;
    place.query_pairs_mut().append_pair("file", path.to_str()?);
    Some(format!("/import?{}", place.query()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_names_a_place_and_nothing_else() {
        for (link, place) in [
            ("satchel://install?name=io.github.a/b", Some("/install?name=io.github.a/b")),
            ("satchel:install?name=a/b", Some("/install?name=a/b")),
            ("satchel://install/?config=e30", Some("/install?config=e30")),
            ("satchel://install", None),
            ("satchel://quit?now", None),
            ("https://install?name=a", None),
            ("satchel", None),
        ] {
            assert_eq!(place_of(link).as_deref(), place, "{link}");
        }
        assert_eq!(place_of(&format!("satchel://install?config={}", "a".repeat(LONGEST))), None);
    }

    #[test]
    fn only_files_that_describe_servers_are_looked_at() {
        let place = |path: &str| place_of_file(Path::new(path));
        assert_eq!(place("/tmp/a b.mcpb").as_deref(), Some("/import?file=%2Ftmp%2Fa+b.mcpb"));
        assert_eq!(place("/tmp/server.JSON").as_deref(), Some("/import?file=%2Ftmp%2Fserver.JSON"));
        assert_eq!(place("/tmp/a.exe"), None);
        assert_eq!(place("/tmp/mcpb"), None);
    }
}
