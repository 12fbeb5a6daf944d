//! macOS alone: an icon in the Dock, and a place in the row of programs, only while a window can be seen. The bundle says
//! that there is none at first (`LSUIElement` in Info.plist).

use tauri::AppHandle;

/// Shows or hides the Dock icon along with the window, on macOS.
#[cfg(target_os = "macos")]
pub(crate) fn follows(app: &AppHandle, seen: bool) {
    let policy = if seen { tauri::ActivationPolicy::Regular } else { tauri::ActivationPolicy::Accessory };
    if let Err(error) = app.set_activation_policy(policy) {
        tracing::warn!("cannot change whether the Dock shows Satchel: {error}");
    }
}

/// Other systems show no such icon without a window.
#[cfg(not(target_os = "macos"))]
pub(crate) fn follows(_app: &AppHandle, _seen: bool) {}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    #[test]
    fn the_bundle_begins_without_an_icon_in_the_dock_and_is_not_slowed_down() {
        let plist = include_str!("../Info.plist");
        for key in ["LSUIElement", "NSAppSleepDisabled"] {
            let said = plist.split_once(&format!("<key>{key}</key>")).map(|(_, rest)| rest.trim_start());
            assert!(said.is_some_and(|rest| rest.starts_with("<true/>")), "{key}");
        }
        let config: Value = serde_json::from_str(include_str!("../tauri.conf.json")).unwrap();
        assert_eq!(config["bundle"]["macOS"]["minimumSystemVersion"], "12.0");
    }
}
