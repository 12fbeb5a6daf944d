//! The question window: small, on top, and open only while a question waits. It does not take keyboard focus, and its
//! page can only answer, and show the pictures of the servers that ask.

use std::time::Duration;

use satchel_core::model::{
    Code,
    asks::{Ask, AskAnswer, QuestionAnswer},
    control::Refusal,
    request::{
        AnswerAsk, AnswerQuestion, AnswerSecret, GetServerIcons, ReadingAsk, Request, ServerIcons, method_of,
    },
};
use serde_json::{Value, json};
use tauri::{
    AppHandle, Emitter, LogicalSize, Manager, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent,
};

use crate::{language::Language, links, serving::Serving, tasks::Tasks, webkit, window};

/// The window's label in Tauri.
pub(crate) const LABEL: &str = "prompt";
const WIDTH: f64 = 460.0;
/// The height until the page reports its own, and its maximum on the smallest screens.
const HEIGHT: f64 = 320.0;
/// The window is shown after this time at the latest.
const UNFITTED: Duration = Duration::from_secs(2);
const LOW: f64 = 160.0;
const HIGH: f64 = 680.0;

/// Shows waiting questions, or closes the window if there are none.
pub(crate) fn follow(app: &AppHandle, asks: &[Ask]) {
    match (app.get_webview_window(LABEL), asks) {
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

/// The waiting questions.
pub(crate) fn asks(serving: &Serving) -> Vec<Ask> {
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
    let fitted = window.set_size(LogicalSize::new(WIDTH, height.clamp(LOW, HIGH))).and_then(|()| {
        if window.is_visible()? { Ok(()) } else { window.center().and_then(|()| window.show()) }
    });
    if let Err(error) = fitted {
        tracing::error!("cannot show a question: {error}");
    }
}

/// Brings the window to the front, with keyboard focus. Only Linux tells of a click on a notification.
#[cfg(target_os = "linux")]
pub(crate) fn raise(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(LABEL) {
        let _ = window.show().and_then(|()| window.set_focus());
    }
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
        .zoom_hotkeys_enabled(true)
        .data_directory(window::pages(app))
        .on_navigation(window::is_ours)
        .on_new_window(|_, _| tauri::webview::NewWindowResponse::Deny)
        .build()?;
    window::paint(&window)?;
    #[cfg(target_os = "linux")]
    leave_the_keyboard(&window)?;
    window.state::<Tasks>().spawn(show_in_any_case(window.clone()));
    let own = window.clone();
    window.on_window_event(move |event| match event {
        // Closing a question declines it.
        WindowEvent::CloseRequested { api, .. } => {
            api.prevent_close();
            let serving = own.state::<Serving>().inner().clone();
            own.state::<Tasks>().spawn(async move { decline_first(&serving).await });
        }
        // Questions that arrived while it was closing are shown in a new one.
        WindowEvent::Destroyed => {
            let app = own.app_handle().clone();
            let tasks = own.state::<Tasks>().inner().clone();
            tasks.spawn(webkit::rest_after(app.clone(), window::KEPT_HIDDEN));
            tasks.spawn(async move { follow(&app, &asks(&app.state::<Serving>())) });
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

async fn decline_first(serving: &Serving) {
    let Some(ask) = asks(serving).into_iter().next() else { return };
    // An error means that it was answered already.
    let _ = match ask.question {
        Some(_) => serving.ask(&AnswerQuestion { id: ask.id, answer: QuestionAnswer::Decline }).await,
        None => serving.ask(&AnswerAsk { id: ask.id, answer: AskAnswer::No }).await,
    };
}
