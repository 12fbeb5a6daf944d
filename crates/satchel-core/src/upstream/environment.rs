//! What a server's process sees of our environment: what programs need to run, and no secrets of others.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

/// Variables passed on. Everything else a server needs stands in its own `env`.
const PASSED: [&str; 44] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    // Desktop: servers that open a browser or a window.
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
    // Networks with a proxy or certificates of their own.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    // Windows cannot start most programs without these.
    "SystemRoot",
    "SystemDrive",
    "windir",
    "ComSpec",
    "PATHEXT",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramData",
    "ProgramFiles",
    "ProgramFiles(x86)",
    "USERPROFILE",
    "USERNAME",
    "HOMEDRIVE",
    "HOMEPATH",
];
/// Families of variables passed on.
const PASSED_PREFIXES: [&str; 2] = ["LC_", "XDG_"];
/// Where package managers and people put programs that a desktop session's PATH often lacks.
const USUAL_DIRS: [&str; 3] = ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"];
const USUAL_HOME_DIRS: [&str; 5] = [".local/bin", ".cargo/bin", ".bun/bin", ".deno/bin", ".volta/bin"];

/// The part of `ours` that every server gets.
pub fn passed_on(ours: impl IntoIterator<Item = (String, String)>) -> BTreeMap<String, String> {
    let passes = |name: &str| {
        PASSED.iter().any(|passed| passed.eq_ignore_ascii_case(name) && (cfg!(windows) || *passed == name))
            || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    ours.into_iter().filter(|(name, _)| passes(name)).collect()
}

/// The search path for programs: ours, then the usual places that exist.
pub fn search_path(path: Option<OsString>, home: Option<&Path>) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = path.map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let at_home = home.into_iter().flat_map(|home| USUAL_HOME_DIRS.iter().map(move |dir| home.join(dir)));
    let usual = if cfg!(windows) { &[][..] } else { &USUAL_DIRS[..] };
    for dir in at_home.chain(usual.iter().map(PathBuf::from)) {
        if dir.is_dir() && !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    dirs.retain(|dir| dir.is_absolute());
    dirs
}

/// What became of looking for a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Here it is.
    At(PathBuf),
    /// There is such a file, but it may not be started.
    NotExecutable(PathBuf),
    /// Nowhere in these directories.
    Nowhere,
}

/// Finds `program` as a path (absolute, or relative to `cwd`) or by name in `dirs`.
pub fn find_program(program: &str, dirs: &[PathBuf], cwd: Option<&Path>) -> Found {
    let given = Path::new(program);
    let candidates: Vec<PathBuf> = if given.components().count() > 1 || given.is_absolute() {
        vec![cwd.map_or_else(|| given.to_owned(), |cwd| cwd.join(given))]
    } else {
        dirs.iter().map(|dir| dir.join(program)).collect()
    };
    let mut blocked = None;
    for candidate in candidates.iter().flat_map(|candidate| with_extensions(candidate)) {
        if candidate.is_file() {
            if executable(&candidate) {
                return Found::At(candidate);
            }
            blocked.get_or_insert(candidate);
        }
    }
    blocked.map_or(Found::Nowhere, Found::NotExecutable)
}

#[cfg(windows)]
fn with_extensions(candidate: &Path) -> Vec<PathBuf> {
    let mut all = vec![];
    if candidate.extension().is_some() {
        all.push(candidate.to_owned());
    }
    for extension in ["exe", "cmd", "bat", "com"] {
        let mut name = candidate.as_os_str().to_owned();
        name.push(".");
        name.push(extension);
        all.push(name.into());
    }
    all
}

#[cfg(not(windows))]
fn with_extensions(candidate: &Path) -> Vec<PathBuf> {
    vec![candidate.to_owned()]
}

#[cfg(unix)]
fn executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn executable(_path: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_the_hubs_own_environment_are_not_passed_on() {
        let ours = [
            "PATH",
            "HOME",
            "LC_ALL",
            "XDG_RUNTIME_DIR",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "SATCHEL_HOME",
        ];
        let passed = passed_on(ours.map(|name| (name.to_owned(), "x".to_owned())));
        assert_eq!(
            passed.keys().map(String::as_str).collect::<Vec<_>>(),
            ["HOME", "LC_ALL", "PATH", "XDG_RUNTIME_DIR"]
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_found_by_name_by_path_or_not() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (runs, plain) = (dir.path().join("runs"), dir.path().join("plain"));
        std::fs::write(&runs, "").unwrap();
        std::fs::write(&plain, "").unwrap();
        std::fs::set_permissions(&runs, std::fs::Permissions::from_mode(0o755)).unwrap();
        let dirs = [dir.path().to_owned()];
        assert_eq!(find_program("runs", &dirs, None), Found::At(runs.clone()));
        assert_eq!(find_program("./runs", &[], Some(dir.path())), Found::At(dir.path().join("./runs")));
        assert_eq!(find_program("plain", &dirs, None), Found::NotExecutable(plain));
        assert_eq!(find_program("gone", &dirs, None), Found::Nowhere);
    }
}
