//! Our entry in a client's file and a client's servers with us, by the words a person types.

use std::{fs, path::Path};

use satchel_tests::{Client, Connection, Home, eventually};
use serde_json::{Value, json};

const CURSOR: &str = "// mine\n{\n\t\"mcpServers\": {\n\t\t\"fs\": { \"command\": \"npx\", \"args\": [\"-y\", \"fs\"] }, // keep\n\t}\n}\n";

fn write(home: &Home, path: &str, text: &str) -> std::path::PathBuf {
    let path = home.file(path);
    fs::create_dir_all(path.parent().expect("it lies in a directory")).expect("it can be made");
    fs::write(&path, text).expect("the home can be written to");
    path
}

async fn state(home: &Home, id: &str) -> Value {
    let list = home.satchel(&["clients", "--all", "--json"]).await.json();
    let mut clients = list["clients"].as_array().into_iter().flatten();
    clients.find(|client| client["id"] == id).cloned().unwrap_or_else(|| panic!("no {id} in {list}"))
}

fn connection(file: &Path, read: impl Fn(&str) -> (String, String)) -> Connection {
    let (url, header) = read(&fs::read_to_string(file).expect("the client's file is text"));
    Connection { url, headers: [("Authorization".to_owned(), header)].into() }
}

#[tokio::test]
async fn a_client_is_added_then_connected_and_leaves_without_a_trace() {
    let home = Home::empty();
    let file = write(&home, ".codeium/windsurf/mcp_config.json", "{\n    \"mcpServers\": {}\n}");
    let before = fs::read(&file).unwrap();
    let _hub = home.start_hub().await;
    assert_eq!(state(&home, "windsurf").await["state"], "not_connected");

    let shown = home.satchel(&["connect", "windsurf", "--dry-run"]).await;
    assert!(shown.succeeded().stdout.contains("+        \"satchel\": {"), "{shown:?}");
    assert_eq!(fs::read(&file).unwrap(), before, "a preview writes nothing");

    home.satchel(&["connect", "windsurf"]).await.succeeded();
    let added = fs::read(&file).unwrap();
    assert_eq!(state(&home, "windsurf").await["state"], "added");
    home.satchel(&["connect", "windsurf"]).await.succeeded();
    assert_eq!(fs::read(&file).unwrap(), added, "a second time changes nothing");

    let connection = connection(&file, |text| {
        let entry: Value = serde_json::from_str(text).unwrap();
        let entry = &entry["mcpServers"]["satchel"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&entry["serverUrl"]), text(&entry["headers"]["Authorization"]))
    });
    let client = Client::open(&connection, "2025-11-25").await;
    assert!(client.paths("hash").await.contains(&"toolbox:hash_text".to_owned()));
    assert_eq!(state(&home, "windsurf").await["state"], "connected");

    home.satchel(&["disconnect", "windsurf"]).await.succeeded();
    assert_eq!(fs::read(&file).unwrap(), before);
    let refused = satchel_tests::plain_http().post(&connection.url).bearer_auth("x").send().await.unwrap();
    assert_eq!(refused.status(), 401);
    let mut old = satchel_tests::plain_http().post(&connection.url).body("{}");
    for (name, value) in &connection.headers {
        old = old.header(name, value);
    }
    assert_eq!(old.send().await.unwrap().status(), 401, "its token is worth nothing any more");

    home.satchel(&["undo"]).await.succeeded();
    assert!(fs::read_to_string(&file).unwrap().contains("satchel"), "the disconnecting was taken back");
    home.satchel(&["undo"]).await.succeeded();
    assert_eq!(fs::read(&file).unwrap(), before);
    home.satchel(&["undo"]).await.failed_with(1);
}

#[tokio::test]
async fn leaving_gives_every_client_its_file_back_and_says_what_stays() {
    let home = Home::empty();
    let cursor = write(&home, ".cursor/mcp.json", CURSOR);
    let codex = write(&home, ".codex/config.toml", "model = \"x\"\n");
    let login = write(&home, ".config/autostart/Satchel.desktop", "[Desktop Entry]\n");
    let hub = home.start_hub().await;
    for client in ["cursor", "codex"] {
        home.satchel(&["connect", client]).await.succeeded();
    }
    let by_hand = hub.connection("by-hand").await;
    let asked = async || {
        let mut request = satchel_tests::plain_http().post(&by_hand.url).body("{}");
        for (name, value) in &by_hand.headers {
            request = request.header(name, value);
        }
        request.send().await.unwrap().status().as_u16()
    };
    let here = |text: &str| text.contains("satchel");
    home.satchel(&["leave", "--dry-run"]).await.succeeded();
    assert!(here(&fs::read_to_string(&cursor).unwrap()) && login.exists(), "a preview writes nothing");
    assert_ne!(asked().await, 401);

    // A client with a damaged file is reported and does not stop the others.
    let connected = fs::read_to_string(&codex).unwrap();
    fs::write(&codex, "[mcp_servers").unwrap();
    let left = home.satchel(&["leave"]).await;
    left.failed_with(1);
    assert!(left.stderr.contains("Codex"), "{left:?}");
    assert_eq!(fs::read_to_string(&cursor).unwrap(), CURSOR);
    assert_eq!((asked().await, login.exists()), (401, false));

    fs::write(&codex, connected).unwrap();
    let left = home.satchel(&["leave", "--json"]).await.succeeded().json();
    assert_eq!(fs::read_to_string(&codex).unwrap(), "model = \"x\"\n");
    let changes = left["changes"].as_array().unwrap().iter();
    let names: Vec<&str> = changes.map(|change| change["client"].as_str().unwrap()).collect();
    assert_eq!((names, &left["stays"]["servers"]), (vec!["codex"], &json!(1)), "{left}");
    let again = home.satchel(&["leave"]).await;
    assert!(again.succeeded().stdout.starts_with("No client has a Satchel entry."), "{again:?}");
}

#[tokio::test]
async fn a_changed_entry_of_ours_is_reported_and_only_it_is_removed() {
    let home = Home::empty();
    let file = write(&home, ".cursor/mcp.json", CURSOR);
    home.satchel(&["connect", "cursor"]).await.succeeded();
    let added = fs::read_to_string(&file).unwrap();
    assert!(added.starts_with("// mine\n") && added.contains("}, // keep\n\t\t\"satchel\": {\n"), "{added}");

    fs::write(&file, added.replace("\"headers\"", "\"timeout\": 5, \"headers\"")).unwrap();
    let edited = state(&home, "cursor").await;
    assert_eq!((&edited["state"], &edited["what"]), (&json!("needs_you"), &json!("edited")), "{edited}");

    fs::write(&file, added.replace("// mine\n", "// mine, and more\n")).unwrap();
    assert_eq!(state(&home, "cursor").await["state"], "added");
    let left = home.satchel(&["disconnect", "cursor"]).await;
    assert!(left.succeeded().stdout.contains("changed since"), "{left:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), CURSOR.replace("// mine\n", "// mine, and more\n"));

    home.satchel(&["connect", "cursor"]).await.succeeded();
    fs::write(&file, "{}").unwrap();
    assert_eq!(state(&home, "cursor").await["what"], "vanished");
    fs::write(&file, "{\"mcpServers\": ").unwrap();
    assert_eq!(state(&home, "cursor").await["what"], "unreadable");
    let refused = home.satchel(&["connect", "cursor"]).await;
    assert!(refused.stderr.contains("line 1, column "), "{refused:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"mcpServers\": ", "a damaged file is never written");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_stays_and_a_file_with_a_token_is_its_users_alone() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = Home::empty();
    let real = write(&home, "dotfiles/config.toml", "model = \"x\"\n");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(home.file(".codex")).unwrap();
    symlink(&real, home.file(".codex/config.toml")).unwrap();
    home.satchel(&["connect", "codex"]).await.succeeded();
    assert!(fs::symlink_metadata(home.file(".codex/config.toml")).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("[mcp_servers.satchel]"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600, "it has a token now");
    home.satchel(&["connect", "gemini-cli"]).await.succeeded();
    let new = fs::metadata(home.file(".gemini/settings.json")).unwrap();
    assert_eq!(new.permissions().mode() & 0o777, 0o600, "a file with a token is for its user only");
    home.satchel(&["disconnect", "gemini-cli"]).await.succeeded();
    assert!(!home.file(".gemini/settings.json").exists());
}

#[tokio::test]
async fn servers_come_in_once_with_their_credentials_moved_and_go_again() {
    let home = Home::empty();
    let block = |name: &str, extra: &str| {
        format!(
            "{{\"mcpServers\": {{\"{name}\": {{\"command\": \"npx\", \"args\": [\"-y\", \"gh\"]{extra}}}}}}}"
        )
    };
    let cursor = write(
        &home,
        ".cursor/mcp.json",
        &block("gh", ", \"env\": {\"API_KEY\": \"s3cr3t-value\"}, \"mine\": 1"),
    );
    // Without the variable it is another server, and this one is found twice.
    for path in [".kiro/settings/mcp.json", ".codeium/windsurf/mcp_config.json"] {
        write(&home, path, &block("github", ", \"disabled\": true"));
    }
    write(&home, ".codex/config.toml", "[mcp_servers.off]\ncommand = \"uvx\"\nenabled = false\n");
    let before = home.satchel(&["import", "--dry-run", "--json"]).await.json();
    let names: Vec<&str> =
        before["servers"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["gh", "github", "off"], "{before}");
    assert_eq!(before["servers"][1]["places"].as_array().map(Vec::len), Some(2), "{before}");
    assert!(!before.to_string().contains("s3cr3t"), "{before}");

    // Without a credential store, no server with credentials is imported.
    home.satchel_reading(&["secrets", "use-file"], "passphrase for tests\n").await.succeeded();
    let _hub = home.start_hub().await;
    home.satchel_reading(&["secrets", "unlock"], "passphrase for tests\n").await.succeeded();
    let came = home.satchel(&["import", "--json"]).await.json();
    assert_eq!((&came["added"], &came["secrets"]), (&json!(["gh", "github", "off"]), &json!(1)), "{came}");
    let list = home.satchel(&["list", "--json"]).await.json();
    let waits = |server: &serde_json::Value| !server["not_started"].is_null();
    assert!(!list["servers"].as_array().unwrap().iter().any(waits), "an import is the yes to it: {list}");
    let config = home.config();
    assert_eq!(config["mcpServers"]["gh"]["env"]["API_KEY"], "${secret:gh.API_KEY}", "{config}");
    assert_eq!(config["mcpServers"]["gh"]["mine"], 1, "unknown fields are kept");
    assert_eq!(config["mcpServers"]["off"]["enabled"], false, "{config}");
    for (path, bytes) in home.files() {
        let has = String::from_utf8_lossy(&bytes).contains("s3cr3t");
        assert!(!has || path == cursor, "{} holds the credential", path.display());
    }
    let again = home.satchel(&["import", "--json"]).await.json();
    assert_eq!((&again["added"], &again["known"]), (&json!([]), &json!(["gh", "github", "off"])), "{again}");

    // A duplicate server is shown, and moved in one step, and back.
    home.satchel(&["connect", "cursor"]).await.succeeded();
    let twice = state(&home, "cursor").await;
    assert_eq!(twice["duplicates"], json!([{ "there": "gh", "here": "gh" }]), "{twice}");
    let with_both = fs::read(&cursor).unwrap();
    home.satchel(&["import", "--from", "cursor", "--move"]).await.succeeded();
    let alone: Value = serde_json::from_slice(&fs::read(&cursor).unwrap()).unwrap();
    assert_eq!(alone["mcpServers"].as_object().unwrap().keys().collect::<Vec<_>>(), ["satchel"]);
    assert_eq!(state(&home, "cursor").await["duplicates"], json!([]));
    // Neither does a copy that undoing needs.
    for (path, bytes) in home.files() {
        assert!(
            !String::from_utf8_lossy(&bytes).contains("s3cr3t"),
            "{} holds the credential",
            path.display()
        );
    }
    home.satchel(&["undo"]).await.succeeded();
    assert_eq!(fs::read(&cursor).unwrap(), with_both);
    home.satchel(&["undo"]).await.succeeded();
    home.satchel(&["undo"]).await.succeeded();
    eventually("the imported servers are gone", async || {
        home.config()["mcpServers"].as_object().is_some_and(|all| !all.contains_key("gh")).then_some(())
    })
    .await;
    let secrets = home.satchel(&["secrets", "list", "--json"]).await.json();
    assert!(!secrets.to_string().contains("gh.API_KEY"), "{secrets}");
}

#[tokio::test]
async fn settings_that_are_not_imported_are_named_before_and_after() {
    let home = Home::empty();
    let entry =
        json!({ "command": "npx", "args": ["files"], "envFile": "/srv/app/.env", "dev": { "watch": "src" } });
    write(&home, ".config/Code/User/mcp.json", &json!({ "servers": { "files": entry } }).to_string());
    write(&home, "work/.env", "TOKEN=s3cr3t-value\n");
    let before = home.satchel(&["import", "--dry-run"]).await;
    let told =
        |text: &str| text.contains("variables in /srv/app/.env") && text.contains("\"dev\" has no effect");
    assert!(told(&before.succeeded().stdout), "{before:?}");
    let came = home.satchel(&["import"]).await;
    assert!(told(&came.succeeded().stderr), "{came:?}");
    assert_eq!(home.config()["mcpServers"]["files"]["envFile"], Value::Null);
}

#[tokio::test]
async fn servers_moved_from_a_file_that_changed_since_stay_in_satchel() {
    let home = Home::empty();
    let file = write(&home, ".cursor/mcp.json", CURSOR);
    home.satchel(&["connect", "cursor"]).await.succeeded();
    home.satchel(&["import", "--from", "cursor", "--move"]).await.succeeded();
    let moved = fs::read_to_string(&file).unwrap();
    assert!(!moved.contains("\"fs\""), "{moved}");
    fs::write(&file, moved.replace("// mine", "// mine, and more")).unwrap();
    let undone = home.satchel(&["undo"]).await;
    let said = &undone.succeeded().stdout;
    assert!(said.contains("stays in Satchel") && said.contains("was changed since"), "{undone:?}");
    assert_eq!(home.config()["mcpServers"]["fs"]["command"], "npx", "it would be nowhere any more");
    assert!(fs::read_to_string(&file).unwrap().contains("// mine, and more"));
    home.satchel(&["undo"]).await.succeeded();
}

#[tokio::test]
async fn pasted_texts_and_bundles_come_in() {
    let home = Home::empty();
    home.satchel(&["import", "uvx mcp-server-time --local-timezone=Europe/Zürich"]).await.succeeded();
    let added =
        home.satchel_reading(&["import", "-"], "[mcp_servers.docs]\nurl = \"https://d.example/mcp\"\n").await;
    added.succeeded();
    let bad = super::cases("mcpb").join("bundles/bad-zip-slip.mcpb");
    home.satchel(&["import", bad.to_str().unwrap(), "--set", "folders=/tmp"]).await.failed_with(1);
    let bundle = super::cases("mcpb").join("bundles/good-node.mcpb");
    let needs = home.satchel(&["import", bundle.to_str().unwrap()]).await;
    assert!(needs.failed_with(1).stderr.contains("--set"), "{needs:?}");
    let bundle = [bundle.to_str().unwrap(), "--set", "folders=/tmp", "--set", "write=false"];
    home.satchel(&[&["import"], &bundle[..]].concat()).await.succeeded();
    let config = home.config();
    let servers = config["mcpServers"].as_object().unwrap();
    assert_eq!(servers["time"]["args"][1], "--local-timezone=Europe/Zürich", "{config}");
    assert_eq!(servers["docs"]["url"], "https://d.example/mcp", "{config}");
    let bundled =
        servers.values().find(|entry| entry["command"] == "node").unwrap_or_else(|| panic!("{config}"));
    assert!(Path::new(bundled["args"][0].as_str().unwrap()).is_file(), "{config}");
}

#[tokio::test]
async fn a_described_name_that_is_not_taken_as_it_is_says_why() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "github": { "command": "x" } } }));
    let described = |name: &str| {
        let package = json!({ "registryType": "npm", "identifier": "x", "version": "1.0.0", "transport": { "type": "stdio" } });
        json!({ "name": name, "description": "d", "version": "1.0.0", "packages": [package] }).to_string()
    };
    for (given, name, because) in [
        ("io.x/server", "server", None),
        ("io.x/../../server", "server", Some("it is a path")),
        ("io.x/gіthub", "g-thub", Some("letters that look like others")),
        ("io.x/GitHub", "GitHub-2", Some("another server is called")),
    ] {
        let found =
            home.satchel_reading(&["import", "-", "--dry-run", "--json"], &described(given)).await.json();
        assert_eq!(found["servers"][0]["name"], name, "{found}");
        let said = found["servers"][0]["warnings"].to_string();
        match because {
            Some(because) => assert!(
                said.contains(&format!("{name:?}").replace('"', "\\\"")) && said.contains(because),
                "{said}"
            ),
            None => assert!(!said.contains("was changed to"), "{said}"),
        }
    }
    let came = home.satchel_reading(&["import", "-"], &described("io.x/GitHub")).await;
    assert!(came.succeeded().stderr.contains("was changed to \"GitHub-2\""), "{came:?}");
}

#[tokio::test]
async fn an_entry_of_before_is_renewed_and_the_last_one_leaves_nothing() {
    let home = Home::empty();
    let old = "{\"mcpServers\": {\"satchel\": {\"url\": \"http://127.0.0.1:1/mcp\", \"headers\": {}}, \"x\": {\"command\": \"x\"}}}";
    let file = write(&home, ".cursor/mcp.json", old);
    home.satchel(&["connect", "cursor"]).await.succeeded();
    assert_eq!(state(&home, "cursor").await["state"], "added");
    // Another program rewrites the file and the address changes: then the entry is ours again, and only ours.
    let text = fs::read_to_string(&file).unwrap().replace("\"x\"", "\"y\"");
    fs::write(&file, text).unwrap();
    let hub = home.start_hub().await;
    assert_eq!(state(&home, "cursor").await["what"], "moved", "it has the usual port, the hub another");
    home.satchel(&["connect", "cursor"]).await.succeeded();
    assert!(fs::read_to_string(&file).unwrap().contains(&hub.url));
    assert_eq!(state(&home, "cursor").await["state"], "added");
    home.satchel(&["disconnect", "cursor"]).await.succeeded();
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"mcpServers\": {\"y\": {\"command\": \"y\"}}}");

    // Another entry has our name; it stays, and ours gets another name.
    fs::write(&file, "{\"mcpServers\": {\"satchel\": {\"command\": \"other\"}}}").unwrap();
    home.satchel(&["connect", "cursor"]).await.succeeded();
    let both: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(both["mcpServers"]["satchel"], json!({"command": "other"}));
    assert_eq!(both["mcpServers"]["satchel-2"]["url"], json!(hub.url));
}
