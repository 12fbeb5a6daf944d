//! The window of a server's own page (MCP Apps). It has a process of its own, as every window has with WebKit: a page that
//! never ends stops nothing else, and ends with its window. Its outer page is ours: it frames the server's, and passes
//! messages between that and the main window, which decides. It can do nothing else.

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tauri::{
    AppHandle, Emitter, LogicalSize, Manager, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent,
    webview::{NewWindowResponse, PermissionResponse},
};
use tokio::time::Instant;

use crate::{
    alive, appearance,
    language::Language,
    pages::{self, PageFrame},
    window,
};

/// Its label in Tauri is this and the name of its page.
const LABEL: &str = "page-";
const WIDTH: f64 = 760.0;
/// The height until the page reports its own.
const HEIGHT: f64 = 480.0;
const LOW: f64 = 160.0;
const HIGH: f64 = 860.0;

/// The name of the page in the window with this label.
pub(crate) fn page_of(label: &str) -> Option<&str> {
    label.strip_prefix(LABEL)
}

/// What the main window hears of a page.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub(crate) enum PageSaid {
    /// A message of the server's page, as it was sent.
    Message(#[cfg_attr(test, ts(type = "unknown"))] Value),
    /// How wide it is.
    Width(f64),
    /// Its window is gone.
    Closed,
}

/// One of them, and which page it is about.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageEvent {
    pub(crate) id: String,
    pub(crate) said: PageSaid,
}

/// What the main window tells the window of a page.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub(crate) enum PageTold {
    /// A message for the server's page.
    Message(#[cfg_attr(test, ts(type = "unknown"))] Value),
    /// How high its content is.
    Height(f64),
}

/// How much of what pages say is still passed on. One that never stops talking must not keep the main window from drawing.
#[derive(Debug, Default)]
pub(crate) struct PageFlow(Mutex<Option<(Instant, f64)>>);

impl PageFlow {
    /// In bytes, each second and at once. It holds the longest answer of a tool that a page may pass on.
    const EACH_SECOND: f64 = 4e6;
    /// What a message costs however short it is: some 250 in a second.
    const EACH_MESSAGE: f64 = 16e3;

    fn lets_through(&self, now: Instant, bytes: usize) -> bool {
        let mut last = self.0.lock();
        let (since, left) = last.unwrap_or((now, Self::EACH_SECOND));
        let gained = now.saturating_duration_since(since).as_secs_f64() * Self::EACH_SECOND;
        let bytes = u32::try_from(bytes).map_or(f64::INFINITY, f64::from);
        let left = (left + gained).min(Self::EACH_SECOND);
        let rest = left - bytes - Self::EACH_MESSAGE;
        *last = Some((now, if rest < 0.0 { left } else { rest }));
        rest >= 0.0
    }
}

/// Opens a window for a page. Not on the main thread, which makes the window.
pub(crate) fn open(app: &AppHandle, frame: &PageFrame) -> tauri::Result<()> {
    let title = Language::of(app).pick("Page of", "Seite von");
    let window = WebviewWindowBuilder::new(
        app,
        format!("{LABEL}{}", frame.id),
        WebviewUrl::App("index.html#/page".into()),
    )
    .title(format!("{title} {}", frame.server))
    .inner_size(WIDTH, HEIGHT)
    .background_color(appearance::first_background(app))
    .zoom_hotkeys_enabled(true)
    .data_directory(window::pages(app))
    // Its frame asks here, too.
    .on_navigation(|url| window::is_ours(url) || pages::is_one(url))
    .on_permission_request(|_, _| PermissionResponse::Deny)
    .on_new_window(|_, _| NewWindowResponse::Deny)
    .build()?;
    appearance::paint(&window)?;
    alive::close_with_page(&window)?;
    let own = window.clone();
    window.on_window_event(move |event| match event {
        WindowEvent::CloseRequested { api, .. } => {
            api.prevent_close();
            end(&own);
        }
        WindowEvent::Destroyed => tell(own.app_handle(), own.label(), PageSaid::Closed),
        _ => {}
    });
    Ok(())
}

/// Ends the page and its window, whatever the page does: without its window, WebKit ends its process.
fn end(window: &WebviewWindow) {
    // An error means that it is gone already.
    let _ = window.destroy();
}

/// Closes the window of one page.
pub(crate) fn close(app: &AppHandle, id: &str) {
    if let Some(window) = of(app, id) {
        end(&window);
    }
}

/// Closes all of them: the page of the main window that they belong to is gone, or out of sight.
pub(crate) fn close_all(app: &AppHandle) {
    for (label, window) in app.webview_windows() {
        if page_of(&label).is_some() {
            end(&window);
        }
    }
}

/// Brings the window of a page to the front.
pub(crate) fn raise(app: &AppHandle, id: &str) {
    if let Some(window) = of(app, id) {
        // Errors mean that it is gone.
        let _ = window.unminimize().and_then(|()| window.set_focus());
    }
}

/// Tells the window of a page something.
pub(crate) fn told(app: &AppHandle, id: &str, told: &PageTold) {
    if let Some(window) = of(app, id) {
        // An error means that it is gone.
        let _ = app.emit_to(window.label(), "page-told", told);
    }
}

/// Passes on what the window of a page says.
pub(crate) fn said(window: &WebviewWindow, said: PageSaid) {
    let bytes = match &said {
        PageSaid::Message(message) => message.to_string().len(),
        PageSaid::Width(_) | PageSaid::Closed => 0,
    };
    if window.state::<PageFlow>().lets_through(Instant::now(), bytes) {
        tell(window.app_handle(), window.label(), said);
    }
}

fn tell(app: &AppHandle, label: &str, said: PageSaid) {
    let Some(id) = page_of(label) else { return };
    // An error means that the main window is gone.
    let _ = app.emit_to(window::LABEL, "page-said", PageEvent { id: id.to_owned(), said });
}

/// Sets the height that the content has, unless a person has chosen another one.
pub(crate) fn fit(window: &WebviewWindow, height: f64) {
    if let Err(error) = try_to_fit(window, height) {
        tracing::debug!("the window of a page keeps its height: {error}");
    }
}

fn try_to_fit(window: &WebviewWindow, height: f64) -> tauri::Result<()> {
    let size = window.inner_size()?.to_logical::<f64>(window.scale_factor()?);
    let fitted = window.state::<FittedPage>();
    let mut fitted = fitted.0.lock();
    let last =
        fitted.as_ref().filter(|(label, _)| label == window.label()).map_or(HEIGHT, |(_, height)| *height);
    if (size.height - last).abs() < 2.0 && !window.is_maximized()? {
        let height = height.clamp(LOW, HIGH);
        window.set_size(LogicalSize::new(size.width, height))?;
        *fitted = Some((window.label().to_owned(), height));
    }
    Ok(())
}

/// The window that was fitted last, and its height then.
#[derive(Debug, Default)]
pub(crate) struct FittedPage(Mutex<Option<(String, f64)>>);

fn of(app: &AppHandle, id: &str) -> Option<WebviewWindow> {
    app.get_webview_window(&format!("{LABEL}{id}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_page_that_never_stops_talking_is_passed_on_in_part_and_later_again() {
        let flow = PageFlow::default();
        let begin = Instant::now();
        let passed = (0..10_000).filter(|_| flow.lets_through(begin, 100)).count();
        assert!((200..=300).contains(&passed), "{passed}");
        assert!(!flow.lets_through(begin, 0));
        let later = begin + Duration::from_millis(100);
        let passed = (0..10_000).filter(|_| flow.lets_through(later, 100)).count();
        assert!((20..=30).contains(&passed), "{passed}");
        let rested = later + Duration::from_secs(60);
        assert!(!flow.lets_through(rested, 5_000_000), "longer than may be");
        assert!(flow.lets_through(rested, 3_900_000), "what was held back costs nothing");
    }

    #[test]
    fn only_windows_of_pages_have_one() {
        assert_eq!(page_of("page-0123"), Some("0123"));
        assert_eq!((page_of(window::LABEL), page_of(crate::prompt::LABEL)), (None, None));
    }
}
