//! Start at login: the switch writes the desktop's own file, and takes it away again.

use satchel_tests::eventually;

use crate::{app::satchel_app, desktop::Desktop};

const LOGIN: &str = "[role=switch][aria-label='Start at login']";

#[tokio::test]
async fn the_switch_writes_a_file_and_takes_it_away() {
    let desktop = Desktop::new().await;
    let page = desktop.open_window(&[]).await;
    page.click("a[href='#/settings']").await;
    page.has(LOGIN, "aria-checked", "false").await;

    page.click(LOGIN).await;
    page.has(LOGIN, "aria-checked", "true").await;
    let file = desktop.home.file(".config/autostart/Satchel.desktop");
    let entry = std::fs::read_to_string(&file).expect("the file is there");
    let program = satchel_app().canonicalize().unwrap();
    assert!(entry.contains(&format!("Exec={} --hidden", program.display())), "{entry}");

    page.click(LOGIN).await;
    page.has(LOGIN, "aria-checked", "false").await;
    eventually("the file is gone", async || (!file.exists()).then_some(())).await;
    page.close().await;
}
