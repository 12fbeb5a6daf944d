//! Sends every state of the hub to the window and the tray.

use tauri::{AppHandle, Emitter, Manager};

use crate::{alive::Alive, language::LanguageChanges, prompt, serving::Serving, tray::Tray, window};

/// Runs until the hub has stopped. Only the newest state is sent; intermediate ones do not matter.
pub(crate) async fn carry(app: AppHandle, serving: Serving, tray: Option<Tray>) {
    let mut states = serving.state();
    let mut tray = tray;
    loop {
        let state = states.borrow_and_update().clone();
        prompt::follow(&app);
        // An error means that no window is open.
        let _ = app.emit_to(window::LABEL, "hub-state", &state);
        if let Some(tray) = &mut tray {
            tray.show(&state);
        }
        let next = tray.as_ref().and_then(Tray::changes_by_itself);
        let languages = app.state::<LanguageChanges>();
        let alive = app.state::<Alive>();
        let waits = async {
            match next {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let changed = tokio::select! {
            changed = states.changed() => changed.is_ok(),
            () = waits => true,
            () = languages.0.notified() => true,
            () = alive.changed.notified() => true,
        };
        if !changed {
            return;
        }
    }
}
