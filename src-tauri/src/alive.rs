//! Keeps windows alive where their pages have a process of their own that can end or stop answering. On Linux: makes a page
//! anew where it was after its process ended, tells the page once, and tells the tray when a page does not answer. Other
//! systems do the first by themselves.

use std::sync::atomic::{AtomicBool, Ordering};

use tauri::{AppHandle, Manager, WebviewWindow};
use tokio::sync::Notify;

use crate::window;

/// What became of the main window's page.
#[derive(Debug, Default)]
pub(crate) struct Alive {
    /// It was made anew, and has not said so yet.
    renewed: AtomicBool,
    /// It does not answer.
    silent: AtomicBool,
    /// Wakes when it stops answering, or answers again.
    pub(crate) changed: Notify,
}

impl Alive {
    /// Was the page made anew? Once.
    pub(crate) fn take_renewed(&self) -> bool {
        self.renewed.swap(false, Ordering::Relaxed)
    }

    /// Does the page not answer?
    pub(crate) fn is_silent(&self) -> bool {
        self.silent.load(Ordering::Relaxed)
    }

    #[cfg(any(target_os = "linux", test))]
    fn became_silent(&self, silent: bool) {
        if self.silent.swap(silent, Ordering::Relaxed) != silent {
            self.changed.notify_one();
        }
    }

    #[cfg(any(target_os = "linux", test))]
    fn ended(&self) {
        self.renewed.store(true, Ordering::Relaxed);
        self.became_silent(false);
    }
}

/// Watches the page of the main window.
#[cfg(target_os = "linux")]
pub(crate) fn watch(window: &WebviewWindow) -> tauri::Result<()> {
    use webkit2gtk::{BackForwardListExt, WebViewExt};
    let own = window.clone();
    window.with_webview(move |webview| {
        let page = webview.inner();
        let app = own.app_handle().clone();
        let first = page.uri();
        page.connect_web_process_terminated(move |page, reason| {
            tracing::warn!("the window's page ended ({reason:?}) and is made anew");
            app.state::<Alive>().ended();
            crate::prompt::forget_page(&app);
            // Where it was: the address has the place in it. What ended before its first page was there has no place.
            let place = page.back_forward_list().and_then(|list| list.current_item());
            match page.uri().or_else(|| first.clone()).filter(|_| place.is_none()) {
                Some(address) => page.load_uri(&address),
                None => page.reload(),
            }
        });
        let app = own.app_handle().clone();
        // WebKit measures for three seconds from what a person did and the page has not taken.
        page.connect_is_web_process_responsive_notify(move |page| {
            app.state::<Alive>().became_silent(!page.is_web_process_responsive());
        });
    })
}

/// Closes a window whose page ended. That of questions is opened anew with what still waits.
#[cfg(target_os = "linux")]
pub(crate) fn close_with_page(window: &WebviewWindow) -> tauri::Result<()> {
    use webkit2gtk::WebViewExt;
    let own = window.clone();
    window.with_webview(move |webview| {
        webview.inner().connect_web_process_terminated(move |_, reason| {
            tracing::info!("the page of {} ended ({reason:?}), and its window with it", own.label());
            // An error means that it is gone already.
            let _ = own.destroy();
        });
    })
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn watch(_: &WebviewWindow) -> tauri::Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn close_with_page(_: &WebviewWindow) -> tauri::Result<()> {
    Ok(())
}

/// Ends the process of the main window's page, which makes the page anew.
pub(crate) fn renew(app: &AppHandle) {
    let Some(window) = app.get_webview_window(window::LABEL) else { return };
    if let Err(error) = end_page(&window) {
        tracing::error!("the window cannot be made anew: {error}");
    }
}

#[cfg(target_os = "linux")]
fn end_page(window: &WebviewWindow) -> tauri::Result<()> {
    use webkit2gtk::WebViewExt;
    window.with_webview(|webview| webview.inner().terminate_web_process())
}

#[cfg(not(target_os = "linux"))]
fn end_page(window: &WebviewWindow) -> tauri::Result<()> {
    window.reload()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_was_made_anew_is_told_so_once_and_answers_again() {
        let alive = Alive::default();
        assert!(!alive.take_renewed());
        alive.became_silent(true);
        assert!(alive.is_silent());
        alive.ended();
        assert!(!alive.is_silent());
        assert!(alive.take_renewed());
        assert!(!alive.take_renewed());
    }
}
