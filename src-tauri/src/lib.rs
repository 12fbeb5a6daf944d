//! The desktop face: one hub, a tray and a window. The hub is the same as that of `satchel serve`.
//!
//! Theory of operation: windows and menus live on the first thread, as every operating system wants it. The hub lives
//! on a runtime beside it ([`serving`]), and its state goes out to both ([`events`]). Quit, a signal, or a request from
//! another face ends the serving task; only then does the program end, with the exit code 0.

mod alive;
mod appearance;
mod args;
mod autostart;
mod choices;
mod chooser;
mod clipboard;
mod commands;
mod deep;
mod dock;
mod earlier;
mod events;
mod language;
mod links;
mod logging;
mod moving;
mod notices;
mod opening;
mod page_window;
mod pages;
mod prompt;
mod quoted;
mod serving;
mod signals;
mod state;
mod tasks;
mod tray;
#[cfg(test)]
mod typescript;
mod updates;
mod webkit;
mod window;

use std::{
    io::Write,
    path::PathBuf,
    process::{ExitCode, Stdio},
    sync::Arc,
};

use parking_lot::Mutex;

use satchel_core::files::{Places, keep_new_files_private};
use tauri::{AppHandle, Manager, RunEvent};
use tauri_plugin_window_state::StateFlags;

use crate::{
    alive::Alive,
    args::{Args, Invocation},
    choices::{Chosen, LookForUpdates},
    clipboard::Clipboard,
    commands::About,
    language::{Language, LanguageChanges},
    links::Shown,
    moving::Moved,
    page_window::{FittedPage, PageFlow},
    pages::AppPages,
    prompt::QuestionInPage,
    serving::{Options, Serving},
    state::HubState,
    tasks::Tasks,
    tray::Tray,
    updates::Updates,
    window::{Pages, WantedWindow},
};

/// The main function, apart from the program's other two roles.
pub fn main() -> ExitCode {
    keep_new_files_private();
    match args::read(std::env::args().skip(1)) {
        Ok(Invocation::Start(args)) => start(args),
        Ok(Invocation::Version) => say(concat!("satchel-app ", env!("CARGO_PKG_VERSION"))),
        Ok(Invocation::Help) => say(args::USAGE),
        Err(problem) => {
            complain(&format!("{problem}\n\n{}", args::USAGE));
            ExitCode::from(2)
        }
    }
}

fn start(args: Args) -> ExitCode {
    if cfg!(target_os = "linux")
        && ["DISPLAY", "WAYLAND_DISPLAY"].iter().all(|name| std::env::var_os(name).is_none())
    {
        return fail("there is no display; `satchel serve` runs the same hub without one");
    }
    let places = match Places::from_environment() {
        Ok(places) => places,
        Err(error) => return fail(&error.to_string()),
    };
    let own_program = match std::env::current_exe() {
        Ok(path) => helper(path),
        Err(error) => return fail(&format!("cannot locate this program: {error}")),
    };
    let updates = match std::env::current_exe() {
        Ok(program) => Updates::of_this_program(program, places.data.clone()),
        Err(error) => return fail(&format!("cannot locate this program: {error}")),
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("cannot start a runtime: {error}")),
    };
    let _log = logging::install(&places.logs);
    satchel_core::tasks::report_panics();
    if let Some(before) = updates.begin() {
        tracing::warn!("this version never served, so the previous one was restored");
        updates::start(&before);
        return ExitCode::SUCCESS;
    }
    // Before the hub adopts orphans.
    opening::begin(&own_program);
    tauri::async_runtime::set(runtime.handle().clone());
    let tasks = Tasks::on(runtime.handle().clone());
    let options =
        Options { places: places.clone(), own_program, port: args.port, trust_config: args.trust_config };
    let again = Again::default();
    let moved = Moved::default();
    let ended = run(args, &places, options, &tasks, &again, &moved, &updates);
    runtime.block_on(tasks.end());
    let unasked = Chosen::in_directory(places.data.join("window")).get().updates == LookForUpdates::On;
    // An update would change the copy that is left behind.
    let next = moved.take().or_else(|| runtime.block_on(updates.finish(unasked, again.is_asked())));
    match next {
        Some(next) => updates::start(&next),
        None => again.start(),
    }
    match ended {
        Ok(0) => ExitCode::SUCCESS,
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Err(error) => fail(&error.to_string()),
    }
}

/// The program the hub starts beside each server. The command line beside the app has the same roles and loads no web
/// view, which saves a dozen MB per running server. On Windows it would show a console.
fn helper(app: PathBuf) -> PathBuf {
    let beside = app.with_file_name("satchel");
    if cfg!(unix) && beside.is_file() { beside.canonicalize().unwrap_or(app) } else { app }
}

/// The arguments of a second instance that was started while this one was exiting, and left the start to it.
#[derive(Default, Clone)]
struct Again(Arc<Mutex<Option<Vec<String>>>>);

impl Again {
    fn ask(&self, words: Vec<String>) {
        *self.0.lock() = Some(words);
    }

    fn is_asked(&self) -> bool {
        self.0.lock().is_some()
    }

    /// Starts it after this instance has released everything.
    fn start(&self) {
        let asked = self.0.lock().take();
        let Some(words) = asked else { return };
        let started = std::env::current_exe()
            .and_then(|own| std::process::Command::new(own).args(words).stdin(Stdio::null()).spawn());
        if let Err(error) = started {
            tracing::error!("cannot start again: {error}");
        }
    }
}

/// Returns the exit code after everything has ended.
fn run(
    args: Args,
    places: &Places,
    options: Options,
    tasks: &Tasks,
    again: &Again,
    moved: &Moved,
    updates: &Updates,
) -> tauri::Result<i32> {
    let (serving, task) = Serving::new(options);
    #[cfg(target_os = "linux")]
    appearance::name_the_program();
    let mut context = tauri::generate_context!();
    if let Some(home) = std::env::var_os("SATCHEL_HOME").filter(|home| !home.is_empty()) {
        // Each home directory has its own single instance.
        let home = std::path::absolute(&home).unwrap_or_else(|_| home.into());
        let identifier = format!("{}.h{:016x}", context.config().identifier, mark(home.as_os_str()));
        context.config_mut().identifier = identifier;
    }
    let about = About {
        sandbox: cfg!(target_os = "linux"),
        version: env!("CARGO_PKG_VERSION"),
        config_file: places.config_file.display().to_string(),
        logs: places.logs.display().to_string(),
    };
    let app = tauri::Builder::default()
        .plugin(tauri_plugin_single_instance::init(|app, words, _| shown_again(app, &words)))
        .plugin(tauri_plugin_deep_link::init())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_autostart::Builder::new().app_name("Satchel").arg("--hidden").build())
        .plugin(
            tauri_plugin_window_state::Builder::new()
                .with_filename(places.data.join("window").join("place.json").display().to_string())
                .with_state_flags(StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED)
                .with_filter(|label| label == window::LABEL)
                .build(),
        )
        .manage(serving.clone())
        .manage(again.clone())
        .manage(moved.clone())
        .manage(tasks.clone())
        .manage(updates.clone())
        .manage(Clipboard::default())
        .manage(QuestionInPage::default())
        .manage(Alive::default())
        .manage(prompt::Following::default())
        .manage(prompt::PromptPosition::default())
        .manage(WantedWindow::default())
        .manage(Shown::default())
        .manage(LanguageChanges::default())
        .manage(AppPages::default())
        .manage(FittedPage::default())
        .manage(PageFlow::default())
        .register_uri_scheme_protocol(pages::SCHEME, |context, request| pages::serve(&context, &request))
        .manage(Chosen::in_directory(places.data.join("window")))
        .manage(Pages(places.data.join("window")))
        .manage(about)
        .invoke_handler(tauri::generate_handler![
            commands::about,
            commands::answer,
            commands::asks,
            commands::choices,
            commands::choose,
            commands::choose_file,
            commands::close_page,
            commands::close_window,
            commands::copy,
            commands::fit,
            commands::fit_page,
            commands::hub_state,
            commands::install_update,
            commands::look_for_update,
            commands::open_page,
            commands::open_page_link,
            commands::open_place,
            commands::page_says,
            commands::page_shown,
            commands::pictures,
            commands::question_in_page,
            commands::quit,
            commands::raise,
            commands::request,
            commands::set_starts_at_login,
            commands::show_page,
            commands::starts_at_login,
            commands::tell_page,
            commands::try_again,
            commands::updates,
            commands::wanted_closing,
            commands::wanted_place,
            commands::was_renewed,
        ])
        .build(context)?;

    // The plugin has ended this process if the desktop's session bus knows an earlier one.
    let asked = earlier::is_shown(places, args.hidden, args.link.clone());
    if tauri::async_runtime::block_on(asked) {
        app.cleanup_before_exit();
        std::process::exit(0);
    }
    deep::follow(app.handle());
    let tray = Tray::new(app.handle(), &places.data.join("tray"));
    let tray = tray.map_err(|error| tracing::warn!("continuing without a tray: {error}")).ok();
    tasks.spawn(events::carry(app.handle().clone(), serving.clone(), tray));
    let own = app.handle().clone();
    tasks.spawn(serving.clone().follow_window_requests(move |link| {
        window::show(&own, link.as_deref().and_then(deep::place_of).as_deref());
    }));
    tasks.spawn(notices::carry(app.handle().clone(), serving.clone()));
    tasks.spawn(announce(app.handle().clone(), serving.clone()));
    tasks.spawn(updates::follow(app.handle().clone(), serving.clone()));
    tasks.spawn(signals::end_in_order(serving, updates.clone()));
    let handle = app.handle().clone();
    let served = tasks.spawn_to_its_end(task.run());
    tasks.spawn_to_its_end(async move {
        // Even if the hub panicked, the tray must not remain without function.
        let code = if served.await.is_ok() { 0 } else { 1 };
        handle.exit(code);
    });
    if args.hidden {
        dock::follows(app.handle(), false);
    } else {
        let place = args.link.as_deref().and_then(deep::place_of);
        window::show(app.handle(), place.as_deref());
        moving::offer(app.handle());
    }
    Ok(app.run_return(|_, event| {
        // Closing the last window does not end the app; only an exit of its own has a code.
        if let RunEvent::ExitRequested { code: None, api, .. } = event {
            api.prevent_exit();
        }
    }))
}

/// A second start shows the first instance's window, whatever the tray does.
fn shown_again(app: &AppHandle, words: &[String]) {
    let words = words.get(1..).unwrap_or_default();
    if app.state::<Serving>().ends() {
        return app.state::<Again>().ask(words.to_vec());
    }
    let asked = args::read(words.iter().cloned());
    if matches!(&asked, Ok(Invocation::Start(Args { hidden: true, .. }))) {
        return;
    }
    let place = match asked {
        Ok(Invocation::Start(Args { link: Some(link), .. })) => deep::place_of(&link),
        _ => None,
    };
    let handle = app.clone();
    app.state::<Tasks>().spawn(async move { window::show(&handle, place.as_deref()) });
}

/// Prints where clients connect, and shows the window if the hub could not be opened.
async fn announce(app: AppHandle, serving: Serving) {
    let mut states = serving.state();
    loop {
        let state = states.borrow_and_update().clone();
        match (&state, state.endpoint()) {
            (HubState::Open { .. }, Some(url)) => {
                say(&format!(
                    "Satchel serves at {url}\nConnect a client: satchel connect --print --client NAME"
                ));
                return;
            }
            (HubState::Held { .. } | HubState::Stopped { .. }, _) => {
                complain(&tray::status(&state, Language::of(&app)));
                window::show(&app, Some("/servers"));
            }
            (HubState::Opening | HubState::Open { .. }, _) => {}
        }
        if states.changed().await.is_err() {
            return;
        }
    }
}

/// A short, stable hash of a path (FNV-1a).
fn mark(path: &std::ffi::OsStr) -> u64 {
    let bytes = path.as_encoded_bytes().iter();
    bytes.fold(0xcbf2_9ce4_8422_2325, |mark, byte| (mark ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

// A closed terminal is no reason to exit, so write errors are ignored.
fn say(text: &str) -> ExitCode {
    let _ = writeln!(std::io::stdout(), "{text}");
    ExitCode::SUCCESS
}

fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "satchel-app: {text}");
}

fn fail(text: &str) -> ExitCode {
    complain(text);
    ExitCode::FAILURE
}
