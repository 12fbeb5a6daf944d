//! How the app begins and ends: shown, hidden, started twice, quit, killed.

use satchel_tests::{eventually, process};
use serde_json::json;

use crate::{app::until_offered, desktop::Desktop, page::switch};

#[tokio::test]
async fn closing_the_window_keeps_serving_and_starting_again_shows_it() {
    let desktop = Desktop::new().await;
    let _manager = desktop.start_window_manager().await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    page.find(&switch("toolbox")).await;
    shown(&desktop, true).await;

    // The first time, it explains what closing means.
    desktop.close_satchel().await;
    page.says("dialog", "Satchel keeps serving").await;
    // Pressed a moment later: the driver would wait for a response from the closing page.
    page.run("setTimeout(() => document.querySelector('dialog button:last-child').click(), 100)").await;
    shown(&desktop, false).await;
    until_offered(&client, "toolbox", true).await;

    let second = desktop.app(&[]).status().await.expect("the app can be started twice");
    assert!(second.success(), "{second}");
    shown(&desktop, true).await;

    // From now on it just closes.
    desktop.close_satchel().await;
    shown(&desktop, false).await;
    until_offered(&client, "toolbox", true).await;
    page.close().await;
}

#[tokio::test]
async fn a_hidden_start_shows_nothing_until_it_is_started_again() {
    let desktop = Desktop::new().await;
    let panel = desktop.panel().await;
    let mut app = desktop.start(&["--hidden"]).await;
    let icon = panel.icon().await;
    icon.line("Satchel is on").await;
    assert_eq!(desktop.windows().await, Vec::<String>::new());
    // Started at login while it already runs: still no window.
    assert!(desktop.app(&["--hidden"]).status().await.unwrap().success());
    assert_eq!(desktop.windows().await, Vec::<String>::new());

    assert!(desktop.app(&[]).status().await.unwrap().success());
    shown(&desktop, true).await;
    icon.click("Quit Satchel").await;
    assert!(app.ended().await.success());
}

#[tokio::test]
async fn quit_in_the_tray_ends_the_app_and_everything_it_started() {
    let desktop = Desktop::new().await;
    let panel = desktop.panel().await;
    let mut app = desktop.start(&[]).await;
    let icon = panel.icon().await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;
    let made = client.execute("toolbox:generate_uuid", json!({})).await;
    assert_ne!(made.value()["isError"], true, "{}", made.text());
    shown(&desktop, true).await;
    let started = process::descendants(app.pid);
    assert!(started.iter().any(|process| process.command.ends_with("toolbox")), "{started:?}");

    icon.click("Quit Satchel").await;
    let status = app.ended().await;
    assert_eq!(status.code(), Some(0), "{}", desktop.said());
    all_gone(&started).await;
    assert!(
        !desktop.home.file("data/hub.json").exists(),
        "the address of a hub that is gone is not left behind"
    );
}

#[tokio::test]
async fn open_in_the_tray_shows_the_window_and_settings_too() {
    let desktop = Desktop::new().await;
    let panel = desktop.panel().await;
    let _app = desktop.start(&["--hidden"]).await;
    let icon = panel.icon().await;
    icon.click("Open Satchel").await;
    shown(&desktop, true).await;
}

#[tokio::test]
async fn a_quit_from_the_command_line_ends_the_app_in_order() {
    let desktop = Desktop::new().await;
    let mut app = desktop.start(&["--hidden"]).await;
    desktop.home.satchel(&["quit"]).await.succeeded();
    assert_eq!(app.ended().await.code(), Some(0), "{}", desktop.said());
}

#[tokio::test]
async fn started_while_it_still_quits_it_comes_again() {
    // It takes time to exit: it goes on when its input is closed, and when it is asked to end.
    let program = satchel_tests::program("fake-mcp-server");
    let stubborn = format!("trap '' TERM; '{}'; exec sleep 60", program.display());
    let servers = json!({ "slow": { "command": "sh", "args": ["-c", stubborn], "startup": "eager" } });
    let desktop = Desktop::with_servers(servers).await;
    let mut app = desktop.start(&["--hidden"]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "slow", true).await;
    desktop.home.satchel(&["quit"]).await.succeeded();
    // It finds the instance that is exiting, and leaves it at that.
    let mut second = desktop.app(&["--port", "0"]).kill_on_drop(true).spawn().unwrap();
    let ended = eventually("the second start ends", async || second.try_wait().unwrap()).await;
    assert!(ended.success(), "{}", desktop.said());
    assert_eq!(app.ended().await.code(), Some(0), "{}", desktop.said());
    shown(&desktop, true).await;
    desktop.serves().await;
    desktop.home.satchel(&["quit"]).await.succeeded();
    shown(&desktop, false).await;
}

#[tokio::test]
async fn a_killed_app_leaves_no_process_behind() {
    let desktop = Desktop::new().await;
    let mut app = desktop.start(&[]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;
    let made = client.execute("toolbox:generate_uuid", json!({})).await;
    assert_ne!(made.value()["isError"], true, "{}", made.text());
    shown(&desktop, true).await;
    let started = process::descendants(app.pid);
    app.signal(process::Signal::KILL);
    app.ended().await;
    all_gone(&started).await;
    // The next one starts normally.
    let _next = desktop.start(&["--hidden"]).await;
}

#[tokio::test]
async fn an_icon_finds_its_panel_when_the_panel_comes_later() {
    // As at login, where the app may start before the desktop.
    let desktop = Desktop::new().await;
    let _app = desktop.start(&["--hidden"]).await;
    let panel = desktop.panel().await;
    panel.icon().await.line("toolbox").await;
}

#[tokio::test]
async fn two_homes_on_one_desktop_are_two_apps() {
    let desktop = Desktop::new().await;
    let mut first = desktop.start(&["--hidden"]).await;
    let other = satchel_tests::Home::empty();
    let mut second =
        desktop.app(&["--hidden", "--port", "0"]).env("SATCHEL_HOME", other.path()).spawn().unwrap();
    eventually("the other home is served too", async || other.file("data/hub.json").exists().then_some(()))
        .await;
    assert!(second.try_wait().unwrap().is_none());
    first.signal(process::Signal::TERM);
    assert!(first.ended().await.success());
    assert!(second.try_wait().unwrap().is_none());
}

#[tokio::test]
async fn without_a_session_bus_a_second_start_shows_the_window_of_the_first() {
    let desktop = Desktop::new().await;
    let start = |arguments: &[&str]| {
        let mut app = desktop.app(arguments);
        app.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
        app
    };
    let mut first = start(&["--hidden", "--port", "0"]).spawn().unwrap();
    desktop.serves().await;
    // Started at login while it already runs: still no window.
    assert!(start(&["--hidden"]).status().await.unwrap().success());
    assert_eq!(desktop.windows().await, Vec::<String>::new());
    assert!(start(&[]).status().await.unwrap().success());
    shown(&desktop, true).await;
    assert!(first.try_wait().unwrap().is_none());
    desktop.home.satchel(&["quit"]).await;
    assert!(first.wait().await.unwrap().success());
}

/// The app that the window's driver started.
fn driven(desktop: &Desktop) -> process::Process {
    let marked = process::marked("SATCHEL_HOME", &desktop.home.path().display().to_string());
    marked.into_iter().find(|one| one.command.contains("satchel-app")).expect("the app runs")
}

async fn shown(desktop: &Desktop, wanted: bool) {
    let what = if wanted { "the window is shown" } else { "the window is hidden" };
    eventually(what, async || (desktop.shows_satchel().await == wanted).then_some(())).await;
}

async fn all_gone(processes: &[process::Process]) {
    eventually(&format!("none of {processes:?} lives"), async || {
        processes.iter().all(|process| !process::is_alive(process.pid)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn closing_quits_and_hides_the_icon_if_chosen() {
    let desktop = Desktop::new().await;
    let _manager = desktop.start_window_manager().await;
    let panel = desktop.panel().await;
    let page = desktop.open_window(&[]).await;
    let icon = panel.icon().await;
    let stands = async |wanted: &str| {
        eventually(&format!("the icon is {wanted}"), async || (icon.status().await == wanted).then_some(()))
            .await;
    };
    stands("Active").await;
    page.run("location.hash = '#/settings/window'").await;
    let tray = "[role=switch][aria-label='Icon in the tray']";
    page.click(tray).await;
    stands("Passive").await;
    page.click(tray).await;
    stands("Active").await;
    page.click(tray).await;
    page.click("label:has(input[value=quit])").await;
    let chosen = json!({ "notifications": "all", "closing": "quit", "tray": false, "updates": "not_asked", "language": "en", "appearance": "system" });
    eventually("the choices are kept", async || {
        (page.invoke("choices", json!({})).await == Ok(chosen.clone())).then_some(())
    })
    .await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;
    assert_eq!(client.execute("toolbox:generate_uuid", json!({})).await.text().len(), 36);
    let app = driven(&desktop);
    let started = process::descendants(app.pid);
    assert!(started.iter().any(|process| process.command.ends_with("toolbox")), "{started:?}");
    desktop.close_satchel().await;
    eventually("the app has ended", async || (!process::is_alive(app.pid)).then_some(())).await;
    all_gone(&started).await;
    assert!(!desktop.home.file("data/hub.json").exists(), "it ended in order: {}", desktop.said());
}

#[tokio::test]
async fn the_window_reopens_with_its_size() {
    let desktop = Desktop::new().await;
    let _manager = desktop.start_window_manager().await;
    let page = desktop.open_window(&[]).await;
    page.find(&switch("toolbox")).await;
    desktop.resize_satchel(900, 610).await;
    let width = async || page.run("return innerWidth").await.as_u64();
    eventually("the window knows how large it is", async || (width().await? == 900).then_some(())).await;
    let app = driven(&desktop);
    desktop.home.satchel(&["quit"]).await.succeeded();
    eventually("the app has ended", async || (!process::is_alive(app.pid)).then_some(())).await;

    let _next = desktop.start(&[]).await;
    shown(&desktop, true).await;
    eventually("it is as large as before", async || {
        (desktop.size_of_satchel().await == (900, 610)).then_some(())
    })
    .await;
}
