//! The system's choosers for files and folders. The window gets the path that a person chose, and none of the plugin's
//! own commands.

use satchel_core::model::{Code, control::Refusal};
use serde::Deserialize;
use tauri::{AppHandle, Manager};
use tauri_plugin_dialog::{DialogExt, FileDialogBuilder, FilePath};
use tokio::sync::oneshot;

/// What to choose.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum WantedFile {
    /// An existing file with one of these extensions; any without one.
    Open { endings: Vec<String> },
    /// A file to write, with a suggested name.
    Save { name: String },
    /// A folder.
    Folder,
}

/// Shows the system's file dialog over the window.
///
/// # Errors
/// If the chosen path is not valid Unicode.
pub(crate) async fn choose(app: &AppHandle, wanted: WantedFile) -> Result<Option<String>, Refusal> {
    let (answer, chosen) = oneshot::channel();
    let answer = move |path: Option<FilePath>| drop(answer.send(path));
    let mut dialog: FileDialogBuilder<_> = app.dialog().file();
    if let Some(window) = app.get_webview_window(crate::window::LABEL) {
        dialog = dialog.set_parent(&window);
    }
    match wanted {
        WantedFile::Open { endings } => {
            let endings: Vec<&str> = endings.iter().map(String::as_str).collect();
            let dialog = match endings.as_slice() {
                [] => dialog,
                endings => dialog.add_filter(endings.join(", "), endings),
            };
            dialog.pick_file(answer);
        }
        WantedFile::Save { name } => dialog.set_file_name(name).save_file(answer),
        WantedFile::Folder => dialog.pick_folder(answer),
    }
    // A dialog that closes without an answer was cancelled.
    let Some(chosen) = chosen.await.ok().flatten() else { return Ok(None) };
    let path = chosen.into_path().ok().and_then(|path| path.into_os_string().into_string().ok());
    path.map(Some)
        .ok_or_else(|| Refusal::new(Code::Unreadable, "the path is not valid Unicode", "Choose another."))
}
