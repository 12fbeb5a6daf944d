//! Other programs' files on Windows: connected at their places, and given back as they were.

use std::{
    fs,
    path::{Path, PathBuf},
};

use satchel_core::clients::table::{self, Client, Method, Transport};
use serde_json::json;

use crate::{
    Case,
    cases::configured,
    home::{Home, on_windows},
};

pub(crate) const CASES: &[Case] = &[
    ("every client's file is written at its place and given back byte for byte", connect_and_undo),
    ("a program in a temporary directory is written into no client's file", will_not_last),
];

/// If a client has several locations, the last is the usual one.
fn usual_place(client: &Client, profile: &str) -> Option<String> {
    let template =
        client.paths.windows.iter().rev().find(|path| !path.contains('*') && !path.contains("_ROOT"))?;
    // `${VARIABLE:-default}` with an unset variable is its default.
    let mut path = template.clone();
    while let Some(start) = path.rfind("${") {
        let end = start + path[start..].find('}')?;
        let inside = &path[start + 2..end];
        let value = match inside {
            "USERPROFILE" => profile.to_owned(),
            "APPDATA" => format!("{profile}\\AppData\\Roaming"),
            "LOCALAPPDATA" => format!("{profile}\\AppData\\Local"),
            _ => inside.split_once(":-")?.1.to_owned(),
        };
        path.replace_range(start..=end, &value);
    }
    Some(path)
}

fn connect_and_undo(home: &Home) {
    let user = std::env::var("USER").unwrap_or_else(|_| "root".to_owned());
    let profile = format!("C:\\users\\{user}");
    let hub = home.serve(&[]);
    let mut connected = 0;
    for client in table::clients().iter().filter(|client| client.connect == Method::Edit) {
        let Some(path) = usual_place(client, &profile) else { continue };
        let text = match path.rsplit('.').next() {
            Some("toml") => "# zoë's own\r\nmodel = \"x\"\r\n",
            Some("yaml") => "# zoë's own\r\nmodel: x\r\n",
            _ => "{\r\n    \"theme\": \"zoë\"\r\n}\r\n",
        };
        let file = in_prefix(home, &path);
        fs::create_dir_all(file.parent().expect("it lies in a directory")).expect("it can be made");
        fs::write(&file, text).expect("it is written");
        home.does(&["connect", &client.id]);
        let written = fs::read_to_string(&file).expect("it is text");
        let entry = match client.transport {
            Transport::Http => {
                hub.url.rsplit_once(':').map(|(_, end)| format!(":{end}")).expect("it has a port")
            }
            Transport::Stdio => on_windows(&home.dir.join("Program Files (ä)").join("satchel.exe")),
        };
        let plain = written.replace("\\\\", "\\");
        assert!(plain.contains(&entry), "{}: {path}: {written}", client.id);
        assert!(written.contains("zoë"), "{}: {written}", client.id);
        home.does(&["undo"]);
        assert_eq!(fs::read(&file).expect("it is there"), text.as_bytes(), "{}: {path}", client.id);
        fs::remove_file(&file).expect("it can be removed");
        connected += 1;
    }
    assert!(connected >= 10, "{connected} clients have a place on Windows");
    hub.quit(home);
}

fn will_not_last(home: &Home) {
    let hub = configured(home, &json!({}));
    let around = home.around("mine");
    let temporary = around["variables"]["TEMP"].as_str().expect("a server is told of it").to_owned();
    hub.quit(home);
    // As if it were started inside an archive.
    let unpacked = in_prefix(home, &temporary).join(home.dir.file_name().expect("it has a name"));
    fs::create_dir_all(&unpacked).expect("it can be made");
    let program = unpacked.join("satchel.exe");
    fs::copy(home.dir.join("Program Files (ä)/satchel.exe"), &program).expect("it can be copied");
    let inside = on_drive(home, &program);
    let hub = home.hub(home.command(&PathBuf::from(inside), &["serve", "--port", "0", "--json"]));
    let refused = home.satchel(&["connect", "claude-desktop"]);
    hub.quit(home);
    fs::remove_dir_all(&unpacked).expect("it can be removed");
    assert!(!refused.ok && refused.err.contains("temporary directory"), "{refused:?}");
    assert!(refused.err.contains("Unpack or install Satchel"), "{refused:?}");
}

/// A path on drive `C:` as this system names it.
fn in_prefix(home: &Home, path: &str) -> PathBuf {
    home.prefix.join("drive_c").join(path.trim_start_matches("C:\\").replace('\\', "/"))
}

/// A path below drive `C:` as Windows names it.
fn on_drive(home: &Home, path: &Path) -> String {
    let below = path.strip_prefix(home.prefix.join("drive_c")).expect("it lies on the drive");
    format!("C:\\{}", below.display()).replace('/', "\\")
}
