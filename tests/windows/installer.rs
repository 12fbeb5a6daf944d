//! What the installer does of its own, and what it calls: the search path, programs that run while they are replaced, leaving.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use satchel_tests::repository;

use crate::{
    Case,
    home::{Home, eventually},
};

pub(crate) const CASES: &[Case] = &[
    ("the search path gets our directory once, keeps its type, and loses it again", search_path),
    ("leaving takes back every entry and the start at login", leaving),
];

/// Only where `makensis` is installed.
pub(crate) const INSTALLER: &[Case] =
    &[("an installer puts it on the search path and replaces it while a bridge runs", installer)];

const ENVIRONMENT: &str = r"HKCU\Environment";
const RUN: &str = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run";

fn reg(home: &Home, words: &[&str]) -> String {
    home.run(home.command(Path::new("reg"), words), "").out
}

/// A directory of drive `C:` with a space, here and as Windows names it. What `reg` prints can be compared in ASCII alone.
fn plain_directory(home: &Home, name: &str) -> (PathBuf, String) {
    let name = format!("{name} {}", std::process::id());
    (home.prefix.join("drive_c").join(&name), format!(r"C:\{name}"))
}

/// The search path of the user, as it is kept.
fn kept(home: &Home) -> String {
    reg(home, &["query", ENVIRONMENT, "/v", "Path"])
}

/// One that has a name to fill in.
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
    assert!(said.contains("does not start at login any more"), "{said}");
    assert!(!read().contains("satchel") && read().contains("own"), "{}", read());
    assert!(!reg(home, &["query", RUN, "/v", "Satchel"]).contains("satchel-app"));
    assert!(home.does(&["leave"]).contains("No client has anything of ours."));
    hub.quit(home);
    fs::remove_file(&file).expect("it can be removed");
}

fn installer(home: &Home) {
    let (source, built) = (repository(), home.dir.join("setup.exe"));
    let program = home.dir.join("Program Files (ä)").join("satchel.exe");
    let (place, directory) = plain_directory(home, "Installed Here");
    let define = |name: &str, path: &Path| format!("-D{name}={}", path.display());
    let words = [
        define("OUT", &built),
        define("WHERE", Path::new(&directory)),
        define("PROGRAM", &program),
        define("HOOKS", &source.join("src-tauri/installer.nsh")),
    ];
    let made = Command::new("makensis")
        .args(["-V2", "-INPUTCHARSET", "UTF8"])
        .args(words)
        .arg(source.join("tests/windows/installer.nsi"))
        .output()
        .expect("makensis is installed");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
    set(home);
    let install = || home.run(home.command(&built, &[]), "");
    let names = || {
        let mut names: Vec<String> = fs::read_dir(&place)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    };
    install();
    assert_eq!(names(), ["satchel.exe", "uninstall.exe"]);
    assert!(kept(home).trim_end().ends_with(&format!(r"%USERPROFILE%\b;{directory}")), "{}", kept(home));
    // A client has started it, and the hub with it.
    let satchel = PathBuf::from(format!("{directory}\\satchel.exe"));
    let bridge = |words: &[&str]| {
        let mut command = home.command(&satchel, words);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
        command.spawn().expect("wine is installed")
    };
    let mut held = bridge(&["bridge", "--client", "cursor"]);
    eventually("its hub runs", || {
        let status = home.run(home.command(&satchel, &["status"]), "");
        status.out.contains("The hub listens").then_some(())
    });
    install();
    assert!(names().contains(&"satchel.exe".to_owned()), "{:?}", names());
    let version = home.run(home.command(&satchel, &["--version"]), "");
    assert!(version.ok, "{version:?}");
    assert_eq!(kept(home).matches("Installed Here").count(), 1, "{}", kept(home));
    drop(held.stdin.take());
    eventually("the bridge ends", || held.try_wait().expect("it can be waited for"));
    home.run(home.command(&satchel, &["quit"]), "");
    let uninstall = PathBuf::from(format!("{directory}\\uninstall.exe"));
    home.run(home.command(&uninstall, &[]), "");
    eventually("the programs are gone", || names().is_empty().then_some(()));
    assert!(kept(home).trim_end().ends_with(r"C:\a;%USERPROFILE%\b"), "{}", kept(home));
    reg(home, &["delete", ENVIRONMENT, "/v", "Path", "/f"]);
}
