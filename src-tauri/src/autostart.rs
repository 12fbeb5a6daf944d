//! Start at login, hidden. The operating system's entry is the only record of it.

use satchel_core::{
    model::{Code, control::Refusal},
    platform::{Environment, Passing},
};
use tauri::AppHandle;
use tauri_plugin_autostart::ManagerExt;

/// Is there a login item?
pub(crate) fn is_on(app: &AppHandle) -> Result<bool, Refusal> {
    app.autolaunch().is_enabled().map_err(refusal)
}

/// Adds or removes the login item, and returns the resulting state.
pub(crate) fn set(app: &AppHandle, on: bool) -> Result<bool, Refusal> {
    if on {
        will_last()?;
    }
    let entry = app.autolaunch();
    if on { entry.enable() } else { entry.disable() }.map_err(refusal)?;
    #[cfg(windows)]
    if on {
        registry::quote().map_err(|error| refused(&error))?;
    }
    is_on(app)
}

/// The command of the login item on Windows. Quoted: otherwise Windows tries an unquoted path with a space at the
/// space first, and whoever can put a program there has it started.
#[cfg(any(windows, test))]
fn command(program: &std::path::Path) -> String {
    format!("\"{}\" --hidden", program.display())
}

/// The plugin writes the command unquoted, and for all users if permitted.
#[cfg(windows)]
mod registry {
    use windows_registry::{CURRENT_USER, LOCAL_MACHINE, Result};

    const KEY: &str = r"SOFTWARE\Microsoft\Windows\CurrentVersion\Run";
    const NAME: &str = "Satchel";

    /// Writes this user's login item, and removes what the plugin wrote for all users.
    pub(super) fn quote() -> Result<()> {
        let own = std::env::current_exe().unwrap_or_default();
        CURRENT_USER.create(KEY)?.set_string(NAME, super::command(&own))?;
        if let Ok(everybody) = LOCAL_MACHINE.options().write().open(KEY) {
            // Missing if the plugin was not permitted to write there.
            let _ = everybody.remove_value(NAME);
        }
        Ok(())
    }
}

/// The login item contains the path of this program, or for an AppImage that of its file.
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
    refused(&error)
}

fn refused(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(Code::Autostart, format!("cannot change what starts at login: {error}"), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_of_windows_cannot_be_read_as_another_program() {
        let entry = command(std::path::Path::new(r"C:\Users\Jane Doe\Satchel\satchel-app.exe"));
        assert_eq!(entry, r#""C:\Users\Jane Doe\Satchel\satchel-app.exe" --hidden"#);
    }
}
