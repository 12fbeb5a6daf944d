//! The window: created when first needed, hidden when closed, and destroyed after a while out of sight.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use parking_lot::Mutex;

use tauri::{
    AppHandle, Emitter, Manager, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent,
    webview::{NewWindowResponse, PermissionResponse},
};

use crate::{
    alive, appearance,
    choices::{Chosen, Closing},
    dock, page_window, prompt,
    serving::Serving,
    tasks::Tasks,
    webkit,
};

/// The window's label in Tauri.
pub(crate) const LABEL: &str = "main";
/// How long a hidden window is kept; after that, only the hub stays in memory.
pub(crate) const KEPT_HIDDEN: Duration = Duration::from_secs(600);
/// By then, a window that was just hidden has nothing left to do.
const SETTLED: Duration = Duration::from_secs(15);
/// By then, a window that is to be destroyed is gone.
const UNTIL_DESTROYED: Duration = Duration::from_secs(2);

/// What a page should show. The page fetches it on an event and after loading, so that nothing is lost before it
/// listens.
#[derive(Default)]
pub(crate) struct WantedWindow {
    place: Mutex<Option<String>>,
    /// Show what closing the window means.
    closing: AtomicBool,
}

impl WantedWindow {
    /// The location to show, once.
    pub(crate) fn take_place(&self) -> Option<String> {
        self.place.lock().take()
    }

    /// Should it say what closing means? Once.
    pub(crate) fn take_closing(&self) -> bool {
        self.closing.swap(false, Ordering::Relaxed)
    }

    fn put_place(&self, place: &str) {
        *self.place.lock() = Some(place.to_owned());
    }
}

/// Where pages store their data.
pub(crate) struct Pages(pub(crate) PathBuf);

impl Pages {
    /// Exists once a person has been told that closing the window does not stop the hub.
    fn told(&self) -> PathBuf {
        self.0.join("told-that-closing-keeps-serving")
    }
}

/// Shows the window in front, at `place` (such as `/servers/github`) if given.
pub(crate) fn show(app: &AppHandle, place: Option<&str>) {
    if let Some(place) = place {
        app.state::<WantedWindow>().put_place(place);
        // An error means that no page listens; it asks when it has loaded.
        let _ = app.emit_to(LABEL, "go", ());
    }
    let window = app.get_webview_window(LABEL).map_or_else(|| open(app), Ok);
    if let Err(error) = window.and_then(|window| raise(&window)) {
        tracing::error!("cannot show the window: {error}");
    }
}

fn raise(window: &WebviewWindow) -> tauri::Result<()> {
    dock::follows(window.app_handle(), true);
    window.show()?;
    window.unminimize()?;
    window.set_focus()
}

fn open(app: &AppHandle) -> tauri::Result<WebviewWindow> {
    let window = WebviewWindowBuilder::new(app, LABEL, WebviewUrl::default())
        .title("Satchel")
        .inner_size(1180.0, 760.0)
        .min_inner_size(760.0, 520.0)
        .visible(false)
        .background_color(appearance::first_background(app))
        .zoom_hotkeys_enabled(true)
        .data_directory(pages(app))
        .on_navigation(is_ours)
        .on_permission_request(|_, _| PermissionResponse::Deny)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .build()?;
    appearance::paint(&window)?;
    alive::watch(&window)?;
    hide_when_closed(&window);
    crate::deep::take_drops(&window);
    Ok(window)
}

/// Where pages store their data.
pub(crate) fn pages(app: &AppHandle) -> PathBuf {
    app.state::<Pages>().0.clone()
}

/// The window shows only its own pages.
pub(crate) fn is_ours(url: &Url) -> bool {
    url.scheme() == "tauri" || url.host_str() == Some("tauri.localhost")
}

/// The first time, the page says what closing means and asks. After that, and if the page does not respond and is
/// closed again, the window closes immediately.
fn hide_when_closed(window: &WebviewWindow) {
    let own = window.clone();
    let asked = AtomicBool::new(own.state::<Pages>().told().exists());
    window.on_window_event(move |event| {
        if let WindowEvent::Destroyed = event {
            // Not only by us: any program of an X server may destroy it.
            own.state::<Tasks>().spawn(rest(own.app_handle().clone()));
            page_window::close_all(own.app_handle());
        }
        let WindowEvent::CloseRequested { api, .. } = event else { return };
        api.prevent_close();
        if own.state::<Chosen>().get().closing == Closing::Quit {
            let serving = own.state::<Serving>().inner().clone();
            own.state::<Tasks>().spawn(async move { serving.quit().await });
        } else if asked.swap(true, Ordering::Relaxed) {
            hide(&own);
        } else {
            own.state::<WantedWindow>().closing.store(true, Ordering::Relaxed);
            // An error means that no page listens; it asks when it has loaded, and the next close hides the window.
            let _ = own.emit_to(LABEL, "closing", ());
        }
    });
}

/// Hides the window; the person knows what that means.
pub(crate) fn close(window: &WebviewWindow) {
    if let Err(error) = std::fs::write(window.state::<Pages>().told(), "") {
        tracing::warn!("the window will ask again what closing means: {error}");
    }
    hide(window);
}

fn hide(window: &WebviewWindow) {
    window.state::<WantedWindow>().take_closing();
    if let Err(error) = window.hide() {
        tracing::error!("cannot hide the window: {error}");
    }
    page_window::close_all(window.app_handle());
    // A question within its page would be out of sight.
    prompt::follow_soon(window.app_handle(), Duration::ZERO);
    dock::follows(window.app_handle(), false);
    window.state::<Tasks>().spawn(give_back(window.clone()));
}

/// Closes a window that was hidden for a while; the next [`show`] creates a new one.
async fn give_back(window: WebviewWindow) {
    tokio::time::sleep(SETTLED).await;
    give_memory_back(window.app_handle());
    tokio::time::sleep(KEPT_HIDDEN.saturating_sub(SETTLED)).await;
    if window.is_visible().is_ok_and(|visible| !visible) {
        // An error means that it is gone already.
        let _ = window.destroy();
    }
}

/// Gives back the memory that a window needed which is gone.
async fn rest(app: AppHandle) {
    webkit::rest_after(app.clone(), UNTIL_DESTROYED).await;
    tokio::time::sleep(SETTLED).await;
    give_memory_back(&app);
}

/// Not while it is in front: what it shows next would come late.
fn give_memory_back(app: &AppHandle) {
    let shown = |window: WebviewWindow| window.is_visible().is_ok_and(|visible| visible);
    if !app.get_webview_window(LABEL).is_some_and(shown) {
        tokio::task::spawn_blocking(satchel_memory::give_back);
    }
}
