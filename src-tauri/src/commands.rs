//! The commands that the window may call. Three lines each; the work is done elsewhere.

use satchel_core::{
    hub::RequestMethod,
    model::{
        Code,
        asks::Ask,
        control::Refusal,
        request::{ReadOffered, ReadPage, Request, RunDoctor, ServerIcons, TryScript, TryTool, method_of},
    },
};
use serde::Serialize;
use serde_json::Value;
use tauri::{AppHandle, Manager, State, WebviewWindow};

use crate::{
    alive::Alive,
    appearance, autostart,
    choices::{Choices, Chosen},
    chooser::{self, WantedFile},
    clipboard::Clipboard,
    language::LanguageChanges,
    links::{self, OwnPlace, Shown},
    page_window::{self, PageSaid, PageTold},
    pages::{AppPages, PageFrame},
    prompt,
    serving::Serving,
    state::HubState,
    tasks::Tasks,
    tray,
    updates::{Updates, UpdatesView},
    window::{self, WantedWindow},
};

/// Facts about this program.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct About {
    pub(crate) version: &'static str,
    pub(crate) config_file: String,
    pub(crate) logs: String,
    /// Are sandboxes available on this system?
    pub(crate) sandbox: bool,
}

#[tauri::command]
pub(crate) fn hub_state(app: AppHandle, serving: State<'_, Serving>) -> HubState {
    // A page that begins anew shows no question, and no page of a server.
    prompt::forget_page(&app);
    page_window::close_all(&app);
    serving.state().borrow().clone()
}

#[tauri::command]
pub(crate) async fn request(
    serving: State<'_, Serving>,
    shown: State<'_, Shown>,
    request: Value,
) -> Result<Value, Refusal> {
    if !RequestMethod::of_message(&request)?.for_windows {
        return Err(Refusal::new(Code::NotForWindows, "the window may not ask for this", ""));
    }
    let method = method_of(&request).unwrap_or_default().to_owned();
    let answer = links::handle(&serving, request).await?;
    match method.as_str() {
        TryTool::METHOD | TryScript::METHOD | ReadOffered::METHOD => shown.remember(&answer),
        RunDoctor::METHOD => shown.remember_texts(&answer),
        _ => {}
    }
    Ok(answer)
}

/// Opens a page named in a tool's result, after a person agreed.
#[tauri::command]
pub(crate) fn open_page(shown: State<'_, Shown>, page: String) -> Result<(), Refusal> {
    shown.open(&page)
}

/// Reads the page of a tool, and shows it in a window of its own.
#[tauri::command]
pub(crate) async fn show_page(
    app: AppHandle,
    serving: State<'_, Serving>,
    pages: State<'_, AppPages>,
    server: String,
    uri: String,
) -> Result<PageFrame, Refusal> {
    let page = serving.ask(&ReadPage { server: server.clone(), uri }).await?;
    let frame = pages.hold(server, page);
    page_window::open(&app, &frame).map_err(|error| Refusal::new(Code::NotOpened, error.to_string(), ""))?;
    Ok(frame)
}

#[tauri::command]
pub(crate) fn tell_page(app: AppHandle, id: String, told: PageTold) {
    page_window::told(&app, &id, &told);
}

#[tauri::command]
pub(crate) fn close_page(app: AppHandle, id: String) {
    page_window::close(&app, &id);
}

/// Brings the window of a page to the front, or the main one.
#[tauri::command]
pub(crate) fn raise(app: AppHandle, page: Option<String>) {
    match page {
        Some(id) => page_window::raise(&app, &id),
        None => window::show(&app, None),
    }
}

/// What the window of a page shows.
#[tauri::command]
pub(crate) fn page_shown(window: WebviewWindow, pages: State<'_, AppPages>) -> Option<PageFrame> {
    pages.frame(page_window::page_of(window.label())?)
}

#[tauri::command]
pub(crate) fn page_says(window: WebviewWindow, said: PageSaid) {
    page_window::said(&window, said);
}

#[tauri::command]
pub(crate) fn fit_page(window: WebviewWindow, height: f64) {
    page_window::fit(&window, height);
}

/// A page of the web that such a page wants opened, when a person has agreed to visit it.
#[tauri::command]
pub(crate) fn open_page_link(
    pages: State<'_, AppPages>,
    shown: State<'_, Shown>,
    id: String,
    address: String,
) -> Result<(), Refusal> {
    pages.open(&shown, &id, &address)
}

/// Opens one of Satchel's own files or folders, after a person clicked it.
#[tauri::command]
pub(crate) async fn open_place(
    serving: State<'_, Serving>,
    about: State<'_, About>,
    place: OwnPlace,
) -> Result<(), Refusal> {
    links::open_place(&serving, &about, place).await
}

#[tauri::command]
pub(crate) fn wanted_closing(wanted: State<'_, WantedWindow>) -> bool {
    wanted.take_closing()
}

/// Was the page made anew because its process ended? Once.
#[tauri::command]
pub(crate) fn was_renewed(alive: State<'_, Alive>) -> bool {
    alive.take_renewed()
}

#[tauri::command]
pub(crate) fn wanted_place(wanted: State<'_, WantedWindow>) -> Option<String> {
    wanted.take_place()
}

#[tauri::command]
pub(crate) fn close_window(window: WebviewWindow) {
    window::close(&window);
}

#[tauri::command]
pub(crate) fn about(about: State<'_, About>) -> About {
    about.inner().clone()
}

#[tauri::command]
pub(crate) fn asks(app: AppHandle) -> Vec<Ask> {
    prompt::elsewhere(&app)
}

#[tauri::command]
pub(crate) fn question_in_page(app: AppHandle, id: u64, shown: bool) {
    prompt::set_in_page(&app, id, shown);
}

#[tauri::command]
pub(crate) async fn answer(serving: State<'_, Serving>, request: Value) -> Result<(), Refusal> {
    prompt::answer(&serving, request).await
}

#[tauri::command]
pub(crate) async fn pictures(serving: State<'_, Serving>) -> Result<ServerIcons, Refusal> {
    prompt::pictures(&serving).await
}

#[tauri::command]
pub(crate) fn fit(window: WebviewWindow, height: f64) {
    prompt::fit(&window, height);
}

#[tauri::command]
pub(crate) fn choices(chosen: State<'_, Chosen>) -> Choices {
    chosen.get()
}

#[tauri::command]
pub(crate) fn choose(app: AppHandle, chosen: State<'_, Chosen>, choices: Choices) -> Result<(), Refusal> {
    let before = chosen.get();
    chosen.set(choices)?;
    tray::appear(&app, choices.tray);
    if before.language != choices.language {
        app.state::<LanguageChanges>().0.notify_one();
    }
    if before.appearance != choices.appearance {
        for window in app.webview_windows().values() {
            appearance::paint(window)
                .map_err(|error| Refusal::new(Code::Unwritable, error.to_string(), ""))?;
        }
    }
    if before.updates != choices.updates {
        app.state::<Updates>().wake();
    }
    Ok(())
}

/// Lets a person choose a file or folder; `None` if they cancel.
#[tauri::command]
pub(crate) async fn choose_file(app: AppHandle, wanted: WantedFile) -> Result<Option<String>, Refusal> {
    chooser::choose(&app, wanted).await
}

#[tauri::command]
pub(crate) fn starts_at_login(app: AppHandle) -> Result<bool, Refusal> {
    autostart::is_on(&app)
}

#[tauri::command]
pub(crate) fn set_starts_at_login(app: AppHandle, on: bool) -> Result<bool, Refusal> {
    autostart::set(&app, on)
}

#[tauri::command]
pub(crate) fn copy(clipboard: State<'_, Clipboard>, text: String) -> Result<(), Refusal> {
    clipboard.copy(&text)
}

#[tauri::command]
pub(crate) fn updates(updates: State<'_, Updates>) -> UpdatesView {
    updates.view()
}

/// Looks for an update at a person's request.
#[tauri::command]
pub(crate) async fn look_for_update(updates: State<'_, Updates>) -> Result<UpdatesView, Refusal> {
    updates.look().await;
    Ok(updates.view())
}

#[tauri::command]
pub(crate) fn install_update(
    updates: State<'_, Updates>,
    tasks: State<'_, Tasks>,
    serving: State<'_, Serving>,
) -> Result<UpdatesView, Refusal> {
    updates.install(&tasks, &serving)?;
    Ok(updates.view())
}

#[tauri::command]
pub(crate) fn try_again(serving: State<'_, Serving>) {
    serving.try_again();
}

#[tauri::command]
pub(crate) async fn quit(serving: State<'_, Serving>) -> Result<(), Refusal> {
    serving.quit().await;
    Ok(())
}
