//! The question window: small, on top, and open only while a question waits that is not shown within the main window.
//! It does not take keyboard focus, and its page can only answer, and show the pictures of the servers that ask.

use std::time::Duration;

use parking_lot::Mutex;

use satchel_core::{
    clock,
    model::{
        Code,
        asks::{Ask, AskAnswer, QuestionAnswer},
        control::Refusal,
        request::{
            AnswerAsk, AnswerQuestion, AnswerSecret, GetServerIcons, ReadingAsk, Request, ServerIcons,
            method_of,
        },
        trying::WINDOW,
    },
};
use serde_json::{Value, json};
use tauri::{
    AppHandle, Emitter, LogicalSize, Manager, Monitor, PhysicalPosition, WebviewUrl, WebviewWindow,
    WebviewWindowBuilder, WindowEvent,
};

use crate::{alive, appearance, language::Language, links, serving::Serving, tasks::Tasks, webkit, window};

/// The window's label in Tauri.
pub(crate) const LABEL: &str = "prompt";
const WIDTH: f64 = 460.0;
/// The height until the page reports its own, and its maximum on the smallest screens.
const HEIGHT: f64 = 320.0;
/// The window is shown after this time at the latest.
const UNFITTED: Duration = Duration::from_secs(2);
/// A click on a notification waits at most so long for the window, and opens the main window otherwise.
#[cfg(target_os = "linux")]
const RAISED_WITHIN: Duration = Duration::from_secs(10);
#[cfg(target_os = "linux")]
const LOOKING_EVERY: Duration = Duration::from_millis(50);
const LOW: f64 = 160.0;
const HIGH: f64 = 680.0;

/// How long the page in the main window may take to show the question about a tool that is tried there.
const PAGE_PATIENCE: Duration = Duration::from_secs(1);

/// The question that the page in the main window shows.
#[derive(Debug, Default)]
pub(crate) struct QuestionInPage(Mutex<Option<u64>>);

/// Takes from the page that it shows a question, or no longer does.
pub(crate) fn set_in_page(app: &AppHandle, id: u64, shown: bool) {
    let here = app.state::<QuestionInPage>();
    let mut here = here.0.lock();
    if shown || *here == Some(id) {
        *here = shown.then_some(id);
    }
    drop(here);
    follow_soon(app, Duration::ZERO);
}

/// The page is a new one.
pub(crate) fn forget_page(app: &AppHandle) {
    *app.state::<QuestionInPage>().0.lock() = None;
    follow_soon(app, Duration::ZERO);
}

/// Like [`follow`], from any thread.
pub(crate) fn follow_soon(app: &AppHandle, after: Duration) {
    let app = app.clone();
    app.state::<Tasks>().inner().clone().spawn(async move {
        tokio::time::sleep(after).await;
        follow(&app);
    });
}

/// One thread at a time opens and closes the window.
#[derive(Debug, Default)]
pub(crate) struct Following(Mutex<()>);

/// Shows waiting questions, or closes the window if there are none. Not on the main thread, which makes the window.
pub(crate) fn follow(app: &AppHandle) {
    let following = app.state::<Following>();
    let _alone = following.0.lock();
    let asks = elsewhere(app);
    match (app.get_webview_window(LABEL), asks.as_slice()) {
        (None, []) => {}
        (Some(window), []) => {
            // An error means that it is gone already.
            let _ = window.destroy();
        }
        (Some(_), asks) => {
            // An error means that no page listens yet; it asks when it has loaded.
            let _ = app.emit_to(LABEL, "asks", asks);
        }
        (None, _) => {
            if let Err(error) = open(app) {
                // Better in the main window than nowhere.
                tracing::error!("cannot show a question in a window of its own: {error}");
            }
        }
    }
}

/// The questions that are not, and will not soon be, within the page of the main window.
pub(crate) fn elsewhere(app: &AppHandle) -> Vec<Ask> {
    let mut asks = asks(&app.state::<Serving>());
    let main = app.get_webview_window(window::LABEL);
    if !main.is_some_and(|main| main.is_visible().unwrap_or(false)) {
        return asks;
    }
    let in_page = *app.state::<QuestionInPage>().0.lock();
    asks.retain(|ask| {
        if in_page == Some(ask.id) {
            return false;
        }
        let waited = Duration::from_millis(clock::now_ms().saturating_sub(ask.since_ms));
        let left = PAGE_PATIENCE.saturating_sub(waited);
        if ask.client != WINDOW || left.is_zero() {
            return true;
        }
        follow_soon(app, left);
        false
    });
    asks
}

/// The waiting questions.
fn asks(serving: &Serving) -> Vec<Ask> {
    serving.state().borrow().snapshot().map(|snapshot| snapshot.asks.clone()).unwrap_or_default()
}

/// The only requests that the prompt page may send.
const ANSWERS: [&str; 4] =
    [AnswerAsk::METHOD, AnswerQuestion::METHOD, AnswerSecret::METHOD, ReadingAsk::METHOD];

/// Forwards an answer of the prompt page to the hub.
pub(crate) async fn answer(serving: &Serving, message: Value) -> Result<(), Refusal> {
    if !method_of(&message).is_some_and(|method| ANSWERS.contains(&method)) {
        return Err(Refusal::new(Code::NotForWindows, "a window of questions may only answer them", ""));
    }
    links::handle(serving, message).await.map(drop)
}

/// The pictures of the servers that wait for an answer, where a person allowed pictures.
pub(crate) async fn pictures(serving: &Serving) -> Result<ServerIcons, Refusal> {
    let asking: Vec<String> = asks(serving).into_iter().map(|ask| ask.server).collect();
    let told = links::handle(serving, json!({ "do": GetServerIcons::METHOD })).await?;
    // What cannot be read is not shown.
    let mut known: ServerIcons = serde_json::from_value(told).unwrap_or_default();
    known.icons.retain(|server, _| asking.contains(server));
    Ok(known)
}

/// Sets the window's height as the page reports it, and shows the window.
pub(crate) fn fit(window: &WebviewWindow, height: f64) {
    let height = height.clamp(LOW, HIGH);
    if let Err(error) = window.set_size(LogicalSize::new(WIDTH, height)).and_then(|()| show(window, height)) {
        tracing::error!("cannot show a question: {error}");
    }
}

fn show(window: &WebviewWindow, height: f64) -> tauri::Result<()> {
    if !window.is_visible()? {
        let pointer = window.cursor_position().and_then(|at| window.monitor_from_point(at.x, at.y));
        let screen = match pointer {
            Ok(Some(screen)) => Some(screen),
            Ok(None) | Err(_) => window.primary_monitor()?,
        };
        place(window, screen, height)?;
        return window.show();
    }
    // The page knows its height only once it is shown. A window that a person moved stays there.
    if *window.state::<PromptPosition>().0.lock() == Some(window.outer_position()?) {
        return place(window, window.current_monitor()?, height);
    }
    Ok(())
}

/// Where the window was put.
#[derive(Debug, Default)]
pub(crate) struct PromptPosition(Mutex<Option<PhysicalPosition<i32>>>);

/// Centers the window on the screen. The system's own way would go by the size of a window that is not there yet.
fn place(window: &WebviewWindow, screen: Option<Monitor>, height: f64) -> tauri::Result<()> {
    let Some(screen) = screen else { return window.center() };
    let position = centered(&screen, height);
    *window.state::<PromptPosition>().0.lock() = Some(position);
    window.set_position(position)
}

fn centered(screen: &Monitor, height: f64) -> PhysicalPosition<i32> {
    let (area, size) =
        (screen.work_area(), LogicalSize::new(WIDTH, height).to_physical::<i32>(screen.scale_factor()));
    let middle = |start: i32, length: u32, own: i32| {
        start + i32::try_from(length).map_or(0, |length| (length - own).max(0) / 2)
    };
    PhysicalPosition::new(
        middle(area.position.x, area.size.width, size.width),
        middle(area.position.y, area.size.height, size.height),
    )
}

/// Brings the question to the front, with keyboard focus. Only Linux tells of a click on a notification.
#[cfg(target_os = "linux")]
pub(crate) async fn raise(app: &AppHandle) {
    // A window that is not visible yet takes no focus.
    for _ in 0..RAISED_WITHIN.as_millis() / LOOKING_EVERY.as_millis() {
        if let Some(window) = app.get_webview_window(LABEL).filter(|own| own.is_visible().unwrap_or(false)) {
            // An error means that the question was just answered.
            let _ = take_the_keyboard(&window);
            return;
        }
        if elsewhere(app).is_empty() {
            break;
        }
        tokio::time::sleep(LOOKING_EVERY).await;
    }
    if !asks(&app.state::<Serving>()).is_empty() {
        window::show(app, None);
    }
}

/// Gives the window the keyboard. tao lets a window that opened without focus take none until it is drawn, which takes
/// a busy computer a second.
#[cfg(target_os = "linux")]
fn take_the_keyboard(window: &WebviewWindow) -> tauri::Result<()> {
    use gtk::prelude::GtkWindowExt;
    let own = window.clone();
    window.run_on_main_thread(move || {
        // Errors mean that the window is gone.
        if let Ok(window) = own.gtk_window() {
            window.set_accept_focus(true);
        }
        let _ = own.set_focus();
    })
}

fn open(app: &AppHandle) -> tauri::Result<()> {
    let page = WebviewUrl::App("index.html#/ask".into());
    let window = WebviewWindowBuilder::new(app, LABEL, page)
        .title(Language::of(app).pick("Satchel asks", "Satchel fragt"))
        .inner_size(WIDTH, HEIGHT)
        .resizable(false)
        .maximizable(false)
        .minimizable(false)
        .always_on_top(true)
        .visible_on_all_workspaces(true)
        .focused(false)
        .visible(false)
        .background_color(appearance::first_background(app))
        .zoom_hotkeys_enabled(true)
        .data_directory(window::pages(app))
        .on_navigation(window::is_ours)
        .on_new_window(|_, _| tauri::webview::NewWindowResponse::Deny)
        .build()?;
    appearance::paint(&window)?;
    alive::close_with_page(&window)?;
    #[cfg(target_os = "linux")]
    leave_the_keyboard(&window)?;
    window.state::<Tasks>().spawn(show_in_any_case(window.clone()));
    let own = window.clone();
    window.on_window_event(move |event| match event {
        // Closing a question declines it.
        WindowEvent::CloseRequested { api, .. } => {
            api.prevent_close();
            let app = own.app_handle().clone();
            own.state::<Tasks>().spawn(async move { decline_first(&app).await });
        }
        // Questions that arrived while it was closing are shown in a new one.
        WindowEvent::Destroyed => {
            let app = own.app_handle().clone();
            let tasks = own.state::<Tasks>().inner().clone();
            tasks.spawn(webkit::rest_after(app.clone(), window::KEPT_HIDDEN));
            follow_soon(&app, Duration::ZERO);
        }
        _ => {}
    });
    Ok(())
}

/// Window managers give focus to new windows, unless a window declines it.
#[cfg(target_os = "linux")]
fn leave_the_keyboard(window: &WebviewWindow) -> tauri::Result<()> {
    use gtk::prelude::GtkWindowExt;
    let own = window.clone();
    window.run_on_main_thread(move || match own.gtk_window() {
        Ok(window) => window.set_focus_on_map(false),
        Err(error) => tracing::warn!("a question may take the keyboard: {error}"),
    })
}

/// Shows the window even if its page cannot report its height.
async fn show_in_any_case(window: WebviewWindow) {
    tokio::time::sleep(UNFITTED).await;
    if window.is_visible().is_ok_and(|visible| !visible) {
        fit(&window, HEIGHT);
    }
}

async fn decline_first(app: &AppHandle) {
    let Some(ask) = elsewhere(app).into_iter().next() else { return };
    let serving = app.state::<Serving>();
    // An error means that it was answered already.
    let _ = match ask.question {
        Some(_) => serving.ask(&AnswerQuestion { id: ask.id, answer: QuestionAnswer::Decline }).await,
        None => serving.ask(&AnswerAsk { id: ask.id, answer: AskAnswer::No }).await,
    };
}
