//! Start at login, hidden. The operating system's entry is the only record of it.

use satchel_core::{
    model::{Code, control::Refusal},
    platform::{Environment, Passing},
};
use tauri::AppHandle;
use tauri_plugin_autostart::ManagerExt;

/// Is there an entry?
pub(crate) fn is_on(app: &AppHandle) -> Result<bool, Refusal> {
    app.autolaunch().is_enabled().map_err(refusal)
}

/// Writes or removes the entry, and says what is true afterwards.
pub(crate) fn set(app: &AppHandle, on: bool) -> Result<bool, Refusal> {
    if on {
        will_last()?;
    }
    let entry = app.autolaunch();
    if on { entry.enable() } else { entry.disable() }.map_err(refusal)?;
    is_on(app)
}

/// The entry names the path of this program, or for an AppImage the file that it came in.
fn will_last() -> Result<(), Refusal> {
    let own = std::env::current_exe().unwrap_or_default();
    match Passing::of(&own, &Environment::of_this_process()) {
        None | Some(Passing::AppImage) => Ok(()),
        Some(passing) => {
            let message = format!("the system could not start it later: {passing}");
            Err(Refusal::new(Code::PassingPath, message, passing.action()))
        }
    }
}

fn refusal(error: tauri_plugin_autostart::Error) -> Refusal {
    Refusal::new(Code::Autostart, format!("cannot change what starts at login: {error}"), "")
}
