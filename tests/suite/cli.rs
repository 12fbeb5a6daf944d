//! The command line: what scripts rely on. Codes, JSON, and the same answers with and without a running hub.

use std::process::Stdio;

use satchel_tests::{Fake, Home, Ran, program};
use serde_json::json;

#[tokio::test]
async fn the_first_call_works_on_an_empty_home() {
    let home = Home::empty();
    let _hub = home.start_hub().await;
    assert_eq!(
        home.config()["mcpServers"],
        json!({ "toolbox": { "command": "satchel", "args": ["toolbox"] } })
    );
    let called = home.satchel(&["call", "toolbox:hash_text", r#"{"text": "hello"}"#]).await;
    called.succeeded();
    let sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    assert!(called.stdout.contains(sha256), "{called:?}");
}

#[tokio::test]
async fn every_command_works_without_a_running_hub_too() {
    let home = Home::empty();
    let called =
        home.satchel(&["call", "toolbox:encode_base64", r#"{"text": "hello"}"#, "--json"]).await.json();
    assert!(called.to_string().contains("aGVsbG8="), "{called}");
    assert!(home.satchel(&["list", "--json"]).await.json().to_string().contains("toolbox"));
    home.satchel(&["add", "more", "--", "some-program", "--flag", "x y"]).await.succeeded();
    assert_eq!(home.config()["mcpServers"]["more"]["args"], json!(["--flag", "x y"]));
    home.satchel(&["disable", "more"]).await.succeeded();
    home.satchel(&["remove", "more"]).await.succeeded();
    assert!(home.config()["mcpServers"].get("more").is_none());
    assert!(home.processes().is_empty(), "and leaves nothing running");
}

#[tokio::test]
async fn servers_are_added_and_removed_while_the_hub_runs() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let program = satchel_tests::program("fake-mcp-server");
    let program = program.to_str().unwrap();
    home.satchel(&["add", "fake", "--", program, "--tools", "2"]).await.succeeded();
    home.satchel(&["add", "far", "--url", "http://127.0.0.1:9/mcp", "--header", "X-Key: a: b"])
        .await
        .succeeded();
    let servers = &home.config()["mcpServers"];
    assert_eq!(servers["fake"]["command"], program);
    assert_eq!(servers["fake"]["args"], json!(["--tools", "2"]));
    assert_eq!(servers["far"], json!({ "url": "http://127.0.0.1:9/mcp", "headers": { "X-Key": "a: b" } }));

    crate::offered(&hub.client("one").await, "fake:extra_2").await;
    let again = home.satchel(&["add", "fake", "--", program]).await;
    again.failed_with(1);
    assert!(again.stderr.contains("fake"), "{again:?}");
    home.satchel(&["remove", "fake"]).await.succeeded();
    assert!(!home.satchel(&["list", "--json"]).await.json().to_string().contains("\"fake\""));
}

#[tokio::test]
async fn codes_tell_success_failure_and_misuse_apart() {
    let home = Home::empty();
    let _hub = home.start_hub().await;
    for misuse in [&["no-such-command"][..], &["call"], &["add"], &["enable"], &["add", "a\nb", "--", "x"]] {
        let ran = home.satchel(misuse).await;
        ran.failed_with(2);
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{misuse:?}: {ran:?}");
    }
    for failing in [
        &["enable", "nobody"][..],
        &["remove", "nobody"],
        &["call", "nobody:nothing"],
        &["call", "toolbox:hash_tex"],
    ] {
        let ran = home.satchel(failing).await;
        ran.failed_with(1);
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{failing:?}: {ran:?}");
    }
    let near = home.satchel(&["call", "toolbox:hash_tex"]).await;
    assert!(near.stderr.contains("toolbox:hash_text"), "{near:?}");
    home.satchel(&["call", "toolbox:hash_text", "not json"]).await.failed_with(2);
    for fine in [&["--help"][..], &["--version"], &["status"], &["list"], &["tools"], &["doctor"]] {
        assert!(!home.satchel(fine).await.succeeded().stdout.is_empty(), "{fine:?}");
    }
}

#[tokio::test]
async fn status_and_connect_print_json_for_scripts() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    hub.client("one").await.execute("fake:echo", json!({ "text": "x" })).await.text();
    let fake = hub.server("fake").await;
    assert_eq!((&fake["state"], &fake["tools"]), (&json!("ready"), &json!(8)));
    assert!(fake["pid"].is_u64(), "{fake}");

    let printed = home.satchel(&["connect", "--print", "--client", "editor", "--json"]).await.json();
    assert_eq!(printed["url"], hub.url);
    assert!(printed["headers"]["Authorization"].as_str().unwrap().starts_with("Bearer "), "{printed}");
    let words = home.satchel(&["connect", "--print", "--client", "editor"]).await;
    assert!(words.succeeded().stdout.contains(&hub.url), "{words:?}");
}

#[tokio::test]
async fn a_result_that_reports_a_failure_fails_the_command() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let _hub = home.start_hub().await;
    let ran = home.satchel(&["call", "fake:odd", r#"{"which": "failure"}"#]).await;
    ran.failed_with(1);
    assert!((ran.stdout + &ran.stderr).contains("it did not work"));
}

#[tokio::test]
async fn an_answer_that_cannot_be_written_fails_the_command() {
    let home = Home::empty();
    for arguments in [&["--help"][..], &["--version"], &["help", "add"], &["completions", "bash"], &["list"]]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("the device is there");
        let mut command = home.command(program("satchel"));
        command.args(arguments).stdout(full).stderr(Stdio::piped());
        let child = command.spawn().expect("satchel can be started");
        let ran = Ran::from(child.wait_with_output().await.expect("it ends"));
        ran.failed_with(1);
        assert!(ran.stderr.contains("cannot write to standard output"), "{arguments:?}: {ran:?}");
    }
}

#[tokio::test]
async fn an_import_says_what_a_server_still_needs_before_its_start() {
    let home = Home::empty();
    let block = json!({ "mcpServers": {
        "mail": { "command": "npx", "args": ["-y", "mail-mcp@1.0.0"], "env": { "KEY": "${input:mail_key}" } },
    } });
    let imported = home.satchel_agreeing(&["import", &block.to_string()]).await;
    let way = "`satchel secrets set mail.mail_key`";
    assert!(imported.succeeded().stdout.contains(way), "{imported:?}");
    let looked = home.satchel(&["doctor"]).await;
    assert!(looked.stdout.contains("Needs mail_key") && looked.stdout.contains(way), "{looked:?}");
}
