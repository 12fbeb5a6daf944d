//! What a server's process sees of our environment: what programs need to run, and no secrets of others.

#[cfg(unix)]
use std::time::Duration;
use std::{
    collections::{BTreeMap, HashMap},
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
/// Where package and version managers put programs, looked at last: a program started from a Dock, a Start menu or a
/// systemd unit knows little of them.
const USUAL_DIRS: [&str; 4] =
    ["/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/usr/bin"];
const USUAL_HOME_DIRS: [&str; 10] = [
    ".local/bin",
    ".cargo/bin",
    ".bun/bin",
    ".deno/bin",
    ".volta/bin",
    ".asdf/shims",
    ".local/share/mise/shims",
    ".pyenv/shims",
    ".local/share/fnm/aliases/default/bin",
    ".local/share/pnpm",
];
/// Node versions by nvm, which has no directory for "the current one".
const NVM: &str = ".nvm/versions/node";
/// How long the login shell may take. Its start-up files are the user's and may do anything.
#[cfg(unix)]
const SHELL_TIME: Duration = Duration::from_secs(5);

/// The part of `ours` that every server gets.
pub fn passed_on(ours: impl IntoIterator<Item = (String, String)>) -> BTreeMap<String, String> {
    let passes = |name: &str| {
        PASSED.iter().any(|passed| passed.eq_ignore_ascii_case(name) && (cfg!(windows) || *passed == name))
            || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    ours.into_iter().filter(|(name, _)| passes(name)).collect()
}

/// Where programs are looked for, worked out at first need and kept: the user's login shell knows it best, and asking
/// it takes a moment.
#[derive(Debug, Default)]
pub struct SearchPath {
    known: tokio::sync::OnceCell<Vec<PathBuf>>,
}

impl SearchPath {
    /// The directories, in order.
    pub async fn dirs(&self, environment: &HashMap<String, String>) -> &[PathBuf] {
        self.known
            .get_or_init(|| async {
                let split = |path: &str| std::env::split_paths(path).collect::<Vec<_>>();
                let ours = environment.get("PATH").map(|path| split(path)).unwrap_or_default();
                let shells = login_shell_path(environment).await.map(|path| split(&path)).unwrap_or_default();
                merged(ours, shells, environment.get("HOME").map(Path::new))
            })
            .await
    }
}

/// The shell's order where it knows all of ours, as when we were started with a bare environment; otherwise ours first,
/// as in a terminal with something activated. Then the usual places that exist.
fn merged(ours: Vec<PathBuf>, shells: Vec<PathBuf>, home: Option<&Path>) -> Vec<PathBuf> {
    let (first, then) =
        if ours.iter().all(|dir| shells.contains(dir)) { (shells, ours) } else { (ours, shells) };
    let at_home = home.into_iter().flat_map(|home| {
        USUAL_HOME_DIRS
            .iter()
            .map(|dir| home.join(dir))
            .chain(newest_node(&home.join(NVM)))
            .collect::<Vec<_>>()
    });
    let usual = if cfg!(windows) { &[][..] } else { &USUAL_DIRS[..] };
    let usual = at_home.chain(usual.iter().map(PathBuf::from)).filter(|dir| dir.is_dir());
    let mut dirs: Vec<PathBuf> = Vec::new();
    for dir in first.into_iter().chain(then).chain(usual) {
        // A relative directory would mean another place for every server.
        if dir.is_absolute() && !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    dirs
}

fn newest_node(versions: &Path) -> Option<PathBuf> {
    let number = |name: &str| -> Vec<u64> {
        name.trim_start_matches('v').split('.').map(|part| part.parse().unwrap_or(0)).collect()
    };
    let names =
        std::fs::read_dir(versions).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.max_by_key(|name| number(name)).map(|name| versions.join(name).join("bin"))
}

/// Asks the user's login shell for its `PATH`. Its start-up files may print, hang or fail; then there is no answer.
#[cfg(unix)]
async fn login_shell_path(environment: &HashMap<String, String>) -> Option<String> {
    let shell = environment.get("SHELL").filter(|shell| Path::new(shell).is_absolute())?;
    let mut command = tokio::process::Command::new(shell);
    // `env` prints the same in every shell; fish, for one, writes its own $PATH as a list.
    command.args(["-l", "-i", "-c", "/usr/bin/env"]);
    command.env_clear().envs(passed_on(environment.clone()));
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null());
    // A group of its own: an interactive shell reaches for the terminal, and all it started is ended with it.
    command.process_group(0).kill_on_drop(true);
    let child = command.spawn().ok()?;
    let group = child.id();
    let output = tokio::time::timeout(SHELL_TIME, child.wait_with_output()).await;
    if output.is_err()
        && let Some(group) = group
    {
        super::warden::kill_group(group);
    }
    path_in(&String::from_utf8_lossy(&output.ok()?.ok()?.stdout))
}

#[cfg(not(unix))]
async fn login_shell_path(_environment: &HashMap<String, String>) -> Option<String> {
    // Started from anywhere, a program has the user's whole PATH here.
    std::future::ready(None).await
}

/// The last line that sets it: start-up files may have printed before.
#[cfg(unix)]
fn path_in(output: &str) -> Option<String> {
    output.lines().rev().find_map(|line| line.strip_prefix("PATH=")).map(ToOwned::to_owned)
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
    fn the_shells_order_counts_where_it_knows_all_of_ours() {
        let dirs = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let check = |ours: &[&str], shells: &[&str], expected: &[&str]| {
            let merged = merged(dirs(ours), dirs(shells), None);
            assert_eq!(merged[..expected.len()], dirs(expected), "{merged:?}");
        };
        check(&["/bin", "/usr/bin"], &["/nvm", "/usr/bin", "/bin"], &["/nvm", "/usr/bin", "/bin"]);
        check(&["/venv", "/bin"], &["/nvm", "/bin"], &["/venv", "/bin", "/nvm"]);
        check(&["/bin", "relative", ""], &[], &["/bin"]);
        assert!(merged(dirs(&["relative"]), vec![], None).iter().all(|dir| dir.is_absolute()));
    }

    #[cfg(unix)]
    #[test]
    fn the_newest_node_is_found_by_number_and_not_by_name() {
        let dir = tempfile::tempdir().unwrap();
        for version in ["v9.1.0", "v20.2.0", "v18.30.1"] {
            std::fs::create_dir_all(dir.path().join(version).join("bin")).unwrap();
        }
        assert_eq!(newest_node(dir.path()), Some(dir.path().join("v20.2.0/bin")));
        assert_eq!(newest_node(&dir.path().join("none")), None);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_login_shell_that_talks_or_hangs_is_survived() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let shell = |name: &str, script: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, script).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            HashMap::from([("SHELL".to_owned(), path.to_string_lossy().into_owned())])
        };
        let talking =
            shell("talking", "#!/bin/sh\necho PATH=wrong\necho Welcome\necho PATH=/right:/bin\necho bye\n");
        assert_eq!(login_shell_path(&talking).await.as_deref(), Some("/right:/bin"));
        assert_eq!(login_shell_path(&shell("failing", "#!/bin/sh\nexit 3\n")).await, None);
        assert_eq!(login_shell_path(&shell("hanging", "#!/bin/sh\nsleep 600\n")).await, None);
        assert_eq!(login_shell_path(&HashMap::new()).await, None);
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
