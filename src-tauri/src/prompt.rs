//! The question window: small, on top, and open only while a question waits. It does not take keyboard focus, and its
//! page can only answer.

use std::time::Duration;

use satchel_core::model::{
    Code,
    asks::{Ask, AskAnswer, QuestionAnswer},
    control::Refusal,
    request::{AnswerAsk, AnswerQuestion, AnswerSecret, ReadingAsk, Request, method_of},
};
use serde_json::Value;
use tauri::{
    AppHandle, Emitter, LogicalSize, Manager, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent,
};

use crate::{links, serving::Serving, tasks::Tasks, window};

/// The window's name within Tauri.
pub(crate) const LABEL: &str = "prompt";
const WIDTH: f64 = 460.0;
/// Until the page says how high it is; and what it may be on the smallest screens we know.
const HEIGHT: f64 = 320.0;
/// It is shown after so long at the latest.
const UNFITTED: Duration = Duration::from_secs(2);
const LOW: f64 = 160.0;
const HIGH: f64 = 680.0;

/// Shows what waits, or takes the window down where nothing does.
pub(crate) fn follow(app: &AppHandle, asks: &[Ask]) {
    match (app.get_webview_window(LABEL), asks) {
        (None, []) => {}
        (Some(window), []) => {
            // An error means that it is gone already.
            let _ = window.destroy();
        }
        (Some(_), asks) => {
            // An error means that no page listens yet; it asks when it is there.
            let _ = app.emit_to(LABEL, "asks", asks);
        }
        (None, _) => {
            if let Err(error) = open(app) {
                // Better in the other window than nowhere.
                tracing::error!("cannot show a question in a window of its own: {error}");
            }
        }
    }
}

/// What waits now.
pub(crate) fn asks(serving: &Serving) -> Vec<Ask> {
    serving.state().borrow().snapshot().map(|snapshot| snapshot.asks.clone()).unwrap_or_default()
}

/// What the page of questions may ask for, and nothing else.
const ANSWERS: [&str; 4] =
    [AnswerAsk::METHOD, AnswerQuestion::METHOD, AnswerSecret::METHOD, ReadingAsk::METHOD];

/// Brings the hub an answer from the page of questions.
pub(crate) async fn answer(serving: &Serving, message: Value) -> Result<(), Refusal> {
    if !method_of(&message).is_some_and(|method| ANSWERS.contains(&method)) {
        return Err(Refusal::new(Code::NotForWindows, "a window of questions may only answer them", ""));
    }
    links::handle(serving, message).await.map(drop)
}

/// The page knows how high it is: so high is the window, and only now it is shown.
pub(crate) fn fit(window: &WebviewWindow, height: f64) {
    let fitted = window.set_size(LogicalSize::new(WIDTH, height.clamp(LOW, HIGH))).and_then(|()| {
        if window.is_visible()? { Ok(()) } else { window.center().and_then(|()| window.show()) }
    });
    if let Err(error) = fitted {
        tracing::error!("cannot show a question: {error}");
    }
}

/// A person wants to see it, and the keyboard may go there.
pub(crate) fn raise(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(LABEL) {
        let _ = window.show().and_then(|()| window.set_focus());
    }
}

fn open(app: &AppHandle) -> tauri::Result<()> {
    let page = WebviewUrl::App("index.html#/ask".into());
    let window = WebviewWindowBuilder::new(app, LABEL, page)
        .title("Satchel asks")
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
        // Whoever closes a question has said no to it.
        WindowEvent::CloseRequested { api, .. } => {
            api.prevent_close();
            let serving = own.state::<Serving>().inner().clone();
            own.state::<Tasks>().spawn(async move { decline_first(&serving).await });
        }
        // What came while it was taken down is asked in a new one.
        WindowEvent::Destroyed => {
            let app = own.app_handle().clone();
            let tasks = own.state::<Tasks>().inner().clone();
            tasks.spawn(async move { follow(&app, &asks(&app.state::<Serving>())) });
        }
        _ => {}
    });
    Ok(())
}

/// Window managers give the keyboard to whatever comes up, unless a window says that it wants none then.
#[cfg(target_os = "linux")]
fn leave_the_keyboard(window: &WebviewWindow) -> tauri::Result<()> {
    use gtk::prelude::GtkWindowExt;
    let own = window.clone();
    window.run_on_main_thread(move || match own.gtk_window() {
        Ok(window) => window.set_focus_on_map(false),
        Err(error) => tracing::warn!("a question may take the keyboard: {error}"),
    })
}

/// A page that cannot say how high it is must not keep a question from being seen.
async fn show_in_any_case(window: WebviewWindow) {
    tokio::time::sleep(UNFITTED).await;
    if window.is_visible().is_ok_and(|visible| !visible) {
        fit(&window, HEIGHT);
    }
}

async fn decline_first(serving: &Serving) {
    let Some(ask) = asks(serving).into_iter().next() else { return };
    // An error means that it is answered already.
    let _ = match ask.question {
        Some(_) => serving.ask(&AnswerQuestion { id: ask.id, answer: QuestionAnswer::Decline }).await,
        None => serving.ask(&AnswerAsk { id: ask.id, answer: AskAnswer::No }).await,
    };
}
