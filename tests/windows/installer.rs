//! What the installer calls, and what whoever leaves calls before removing it: the search path, entries, start at login.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{Case, home::Home};

pub(crate) const CASES: &[Case] = &[
    ("the search path gets our directory once, keeps its type, and loses it again", search_path),
    ("leaving takes back every entry and the start at login", leaving),
];

const ENVIRONMENT: &str = r"HKCU\Environment";
const RUN: &str = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run";

fn reg(home: &Home, words: &[&str]) -> String {
    home.run(home.command(Path::new("reg"), words), "").out
}

/// A directory on drive `C:` with a space, in this system's and in Windows' format. Output of `reg` can only be
/// compared in ASCII.
fn plain_directory(home: &Home, name: &str) -> (PathBuf, String) {
    let name = format!("{name} {}", std::process::id());
    (home.prefix.join("drive_c").join(&name), format!(r"C:\{name}"))
}

/// The user's search path as stored.
fn kept(home: &Home) -> String {
    reg(home, &["query", ENVIRONMENT, "/v", "Path"])
}

/// Sets one that contains a variable.
fn set(home: &Home) {
    reg(
        home,
        &["add", ENVIRONMENT, "/v", "Path", "/t", "REG_EXPAND_SZ", "/d", r"C:\a;%USERPROFILE%\b", "/f"],
    );
}

fn search_path(home: &Home) {
    let (place, directory) = plain_directory(home, "Jane Doe");
    fs::create_dir_all(&place).expect("it can be made");
    fs::copy(home.dir.join("Program Files (ä)/satchel.exe"), place.join("satchel.exe"))
        .expect("it can be copied");
    let satchel = PathBuf::from(format!(r"{directory}\satchel.exe"));
    let does = |act: &str| {
        let ran = home.run(home.command(&satchel, &["search-path", act]), "");
        assert!(ran.ok, "{ran:?}");
    };
    set(home);
    for _ in 0..2 {
        does("add");
        let path = kept(home);
        assert!(path.contains("REG_EXPAND_SZ"), "{path}");
        assert!(path.trim_end().ends_with(&format!(r"C:\a;%USERPROFILE%\b;{directory}")), "{path}");
    }
    for _ in 0..2 {
        does("remove");
        assert!(kept(home).trim_end().ends_with(r"C:\a;%USERPROFILE%\b"), "{}", kept(home));
    }
    reg(home, &["delete", ENVIRONMENT, "/v", "Path", "/f"]);
    does("add");
    assert!(kept(home).trim_end().ends_with(&format!("    {directory}")), "there was none: {}", kept(home));
    reg(home, &["delete", ENVIRONMENT, "/v", "Path", "/f"]);
    fs::remove_dir_all(&place).expect("it can be removed");
}

fn leaving(home: &Home) {
    let user = std::env::var("USER").unwrap_or_else(|_| "root".to_owned());
    let file = home.prefix.join(format!("drive_c/users/{user}/.cursor/mcp.json"));
    fs::create_dir_all(file.parent().expect("it lies in a directory")).expect("it can be made");
    let text = "{\r\n  \"mcpServers\": {\"own\": {\"command\": \"x\"}}\r\n}\r\n";
    fs::write(&file, text).expect("it is written");
    reg(home, &["add", RUN, "/v", "Satchel", "/d", "\"C:\\x y\\satchel-app.exe\" --hidden", "/f"]);
    let hub = home.serve(&[]);
    home.does(&["connect", "cursor"]);
    let read = || fs::read_to_string(&file).expect("it is text");
    assert!(read().contains("satchel"), "{}", read());
    let said = home.does(&["leave"]);
    assert!(said.contains("Satchel no longer starts at login."), "{said}");
    assert!(!read().contains("satchel") && read().contains("own"), "{}", read());
    assert!(!reg(home, &["query", RUN, "/v", "Satchel"]).contains("satchel-app"));
    assert!(home.does(&["leave"]).contains("No client has a Satchel entry."));
    hub.quit(home);
    fs::remove_file(&file).expect("it can be removed");
}
