//! Start at login: the operating system starts us hidden. The system's own entry is the only memory of it.

use satchel_core::model::control::Refusal;
use tauri::AppHandle;
use tauri_plugin_autostart::ManagerExt;

/// Is there an entry?
pub(crate) fn is_on(app: &AppHandle) -> Result<bool, Refusal> {
    app.autolaunch().is_enabled().map_err(refusal)
}

/// Writes or removes the entry, and says what is true afterwards.
pub(crate) fn set(app: &AppHandle, on: bool) -> Result<bool, Refusal> {
    let entry = app.autolaunch();
    if on { entry.enable() } else { entry.disable() }.map_err(refusal)?;
    is_on(app)
}

fn refusal(error: tauri_plugin_autostart::Error) -> Refusal {
    Refusal::new("autostart", format!("cannot change what starts at login: {error}"), "")
}
