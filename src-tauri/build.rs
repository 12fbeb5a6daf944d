//! Tells Tauri which of our commands exist, so that a window may call none that its capability does not name.

fn main() {
    let commands = tauri_build::AppManifest::new().commands(&[
        "about",
        "answer",
        "asks",
        "choices",
        "choose_file",
        "choose",
        "close_page",
        "close_window",
        "copy",
        "fit",
        "fit_page",
        "hub_state",
        "install_update",
        "look_for_update",
        "open_page",
        "open_page_link",
        "open_place",
        "page_says",
        "page_shown",
        "pictures",
        "question_in_page",
        "quit",
        "raise",
        "request",
        "set_starts_at_login",
        "show_page",
        "starts_at_login",
        "tell_page",
        "try_again",
        "updates",
        "wanted_closing",
        "wanted_place",
        "was_renewed",
    ]);
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(commands))
        .expect("tauri.conf.json and the capabilities are valid");
}
