//! Builds a server's environment: what programs need to run, without secrets of others.

use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::time::Duration;

use crate::platform::{Environment, Platform};

/// Variables passed on. Everything else a server needs has to be in its own `env`.
const PASSED: [&str; 55] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_ADDRESS",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
    "TZ",
    "TERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    // Directories, by the specification.
    "XDG_CACHE_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    // Desktop: servers that open a browser or a window.
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    // Networks with a proxy or certificates of their own. A password in it is not passed on.
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
    "NODE_USE_SYSTEM_CA",
    "UV_NATIVE_TLS",
    "DENO_CERT",
    "AWS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NIX_SSL_CERT_FILE",
];
/// The same on Windows, where most programs do not start without the first of these, and native packages, PowerShell
/// and installers misbehave without the rest.
const PASSED_ON_WINDOWS: [&str; 27] = [
    "SystemRoot",
    "SystemDrive",
    "windir",
    "ComSpec",
    "PATHEXT",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramData",
    "ALLUSERSPROFILE",
    "PUBLIC",
    "ProgramFiles",
    "ProgramFiles(x86)",
    "ProgramW6432",
    "CommonProgramFiles",
    "CommonProgramFiles(x86)",
    "CommonProgramW6432",
    "USERPROFILE",
    "USERNAME",
    "USERDOMAIN",
    "HOMEDRIVE",
    "HOMEPATH",
    "COMPUTERNAME",
    "OS",
    "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
    "PROCESSOR_IDENTIFIER",
    "PSModulePath",
];
/// Those that may contain a login.
const PROXIES: [&str; 3] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
/// Where package and version managers install programs, searched last: a program started from a Dock, a Start menu or
/// a systemd unit has a minimal PATH.
const USUAL_DIRS: [&str; 4] =
    ["/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/usr/bin"];
const USUAL_HOME_DIRS: [&str; 13] = [
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
    "go/bin",
    ".npm-global/bin",
    ".dotnet/tools",
];
/// The same on Windows: a variable and a directory below it. This also finds programs that were installed after the
/// hub started.
const USUAL_DIRS_ON_WINDOWS: [(&str, &str); 14] = [
    ("USERPROFILE", ".local\\bin"),
    ("USERPROFILE", ".cargo\\bin"),
    ("USERPROFILE", ".bun\\bin"),
    ("USERPROFILE", ".deno\\bin"),
    ("USERPROFILE", "scoop\\shims"),
    ("APPDATA", "npm"),
    ("LOCALAPPDATA", "pnpm"),
    ("LOCALAPPDATA", "Volta\\bin"),
    ("LOCALAPPDATA", "mise\\shims"),
    ("LOCALAPPDATA", "Microsoft\\WinGet\\Links"),
    ("LOCALAPPDATA", "Microsoft\\WindowsApps"),
    ("ProgramData", "chocolatey\\bin"),
    ("ProgramFiles", "nodejs"),
    ("ProgramFiles", "Docker\\Docker\\resources\\bin"),
];
/// Node versions of nvm, which has no directory for the current one.
const NVM: &str = ".nvm/versions/node";
/// Timeout of the login shell, whose start-up files may do anything; on a computer that has just started, also slowly.
#[cfg(unix)]
const SHELL_TIME: Duration = Duration::from_secs(8);

/// The part of `ours` that every server gets. The SSH agent and the password of a proxy are for servers whose entry names
/// them: `"env": {"SSH_AUTH_SOCK": "${env:SSH_AUTH_SOCK}"}`.
pub fn passed_on(ours: &Environment) -> Environment {
    let platform = ours.platform();
    let of_windows: &[&str] = if platform == Platform::Windows { &PASSED_ON_WINDOWS } else { &[] };
    let passes =
        |name: &str| PASSED.iter().chain(of_windows).any(|passed| platform.is_same_variable(passed, name));
    let value = |name: &str, value: &str| match PROXIES.iter().any(|proxy| proxy.eq_ignore_ascii_case(name)) {
        true => without_login(value),
        false => value.to_owned(),
    };
    let passed = ours.iter().filter(|(name, _)| passes(name));
    Environment::new(platform, passed.map(|(name, text)| (name, value(name, text))))
}

/// The address of a proxy without user name and password.
fn without_login(proxy: &str) -> String {
    let (scheme, rest) =
        proxy.split_once("://").map_or(("", proxy), |(_, rest)| (&proxy[..proxy.len() - rest.len()], rest));
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("{scheme}{host}")
}

/// Where programs are searched, determined at first use and cached: the user's login shell knows best, and asking it
/// takes a moment.
#[derive(Debug, Default)]
pub struct SearchPath {
    known: tokio::sync::OnceCell<Vec<PathBuf>>,
}

impl SearchPath {
    /// The directories, in order.
    pub async fn dirs(&self, environment: &Environment) -> &[PathBuf] {
        self.known
            .get_or_init(|| async {
                let split = |path: &str| std::env::split_paths(path).collect::<Vec<_>>();
                let ours = environment.get("PATH").map(split).unwrap_or_default();
                let shells = login_shell_path(environment).await.map(|path| split(&path)).unwrap_or_default();
                merged(ours, shells, &usual_dirs(environment))
            })
            .await
    }
}

/// The shell's order if it includes all of this process's directories, as with a minimal environment; otherwise this
/// process's own first, as in a terminal with an activated environment. Then the usual directories.
fn merged(ours: Vec<PathBuf>, shells: Vec<PathBuf>, usual: &[PathBuf]) -> Vec<PathBuf> {
    let (first, then) =
        if ours.iter().all(|dir| shells.contains(dir)) { (shells, ours) } else { (ours, shells) };
    let mut dirs: Vec<PathBuf> = Vec::new();
    for dir in first.into_iter().chain(then).chain(usual.iter().cloned()) {
        // A relative directory would mean a different place for every server.
        if dir.is_absolute() && !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    dirs
}

/// The usual directories that exist.
fn usual_dirs(environment: &Environment) -> Vec<PathBuf> {
    let all: Vec<PathBuf> = match environment.platform() {
        Platform::Windows => {
            let dir = |(name, below): &(&str, &str)| {
                environment.variable(name).map(|base| Path::new(&base).join(below))
            };
            USUAL_DIRS_ON_WINDOWS.iter().filter_map(dir).collect()
        }
        Platform::Linux | Platform::MacOs => {
            let at_home = environment.home().into_iter().flat_map(|home| {
                let named: Vec<_> = USUAL_HOME_DIRS.iter().map(|dir| home.join(dir)).collect();
                named.into_iter().chain(newest_node(&home.join(NVM)))
            });
            at_home.chain(USUAL_DIRS.iter().map(PathBuf::from)).collect()
        }
    };
    all.into_iter().filter(|dir| dir.is_dir()).collect()
}

fn newest_node(versions: &Path) -> Option<PathBuf> {
    let number = |name: &str| -> Vec<u64> {
        name.trim_start_matches('v').split('.').map(|part| part.parse().unwrap_or(0)).collect()
    };
    let names =
        std::fs::read_dir(versions).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.max_by_key(|name| number(name)).map(|name| versions.join(name).join("bin"))
}

/// Asks the user's shell for its `PATH`, as a login shell and as terminals start it: bash reads other files then, and
/// programs may be in the directories of either.
#[cfg(unix)]
async fn login_shell_path(environment: &Environment) -> Option<String> {
    let (login, interactive) =
        tokio::join!(shell_path(environment, &["-l", "-i"]), shell_path(environment, &["-i"]));
    let (Some(login), Some(interactive)) = (&login, &interactive) else { return login.or(interactive) };
    // Only a login shell sets the path anew; the other one has inherited ours, which says nothing of its order.
    let ours = environment.get("PATH").unwrap_or_default();
    let is_in = |path: &str, dir: &str| path.split(':').any(|known| known == dir);
    let mut dirs: Vec<&str> = login.split(':').collect();
    dirs.extend(interactive.split(':').filter(|dir| !is_in(login, dir) && !is_in(ours, dir)));
    Some(dirs.join(":"))
}

/// Its start-up files may print, hang or fail; then there is no answer.
#[cfg(unix)]
async fn shell_path(environment: &Environment, options: &[&str]) -> Option<String> {
    let shell = environment.get("SHELL").filter(|shell| Path::new(shell).is_absolute())?;
    let mut command = tokio::process::Command::new(shell);
    // `env` prints the same in every shell; fish, for example, prints its own $PATH as a list.
    command.args(options).args(["-c", "/usr/bin/env"]);
    command.env_clear().envs(passed_on(environment).iter());
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null());
    // A separate group: an interactive shell takes over the terminal, and everything it started is killed with it.
    command.process_group(0).kill_on_drop(true);
    let child = command.spawn().ok()?;
    let group = child.id();
    let output = tokio::time::timeout(SHELL_TIME, child.wait_with_output()).await;
    if output.is_err()
        && let Some(group) = group
    {
        tracing::warn!(
            shell,
            ?options,
            "the shell did not say within {} s where programs are; those that only it knows are not found",
            SHELL_TIME.as_secs()
        );
        super::watchdog::kill_group(group);
    }
    path_in(&String::from_utf8_lossy(&output.ok()?.ok()?.stdout))
}

#[cfg(not(unix))]
async fn login_shell_path(_environment: &Environment) -> Option<String> {
    // On Windows, every program has the user's complete PATH.
    std::future::ready(None).await
}

/// The last line that sets it: start-up files may have printed before.
#[cfg(unix)]
fn path_in(output: &str) -> Option<String> {
    output.lines().rev().find_map(|line| line.strip_prefix("PATH=")).map(ToOwned::to_owned)
}

/// A path that may begin with `~/`.
pub(super) fn expand_home(path: &str, home: Option<&Path>, platform: Platform) -> PathBuf {
    let below = path.strip_prefix("~/");
    let below = below.or_else(|| path.strip_prefix("~\\").filter(|_| platform == Platform::Windows));
    match (below, home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => path.into(),
    }
}

/// The result of searching for a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Located {
    /// Here it is.
    At(PathBuf),
    /// The file exists but is not executable.
    NotExecutable(PathBuf),
    /// Not in these directories.
    Nowhere,
}

/// Is this command a path, which is not searched for in directories?
pub fn is_path(program: &str) -> bool {
    let given = Path::new(program);
    given.components().count() > 1 || given.is_absolute()
}

/// Finds `program` as a path (absolute, or relative to `cwd`) or by name in `dirs`. The environment determines
/// possible file extensions.
pub fn find_program(
    program: &str,
    dirs: &[PathBuf],
    cwd: Option<&Path>,
    environment: &Environment,
) -> Located {
    let given = Path::new(program);
    let candidates: Vec<PathBuf> = if is_path(program) {
        vec![cwd.map_or_else(|| given.to_owned(), |cwd| cwd.join(given))]
    } else {
        dirs.iter().map(|dir| dir.join(program)).collect()
    };
    let endings = environment.program_endings();
    let mut blocked = None;
    for candidate in candidates.iter().flat_map(|candidate| files_of(candidate, &endings)) {
        if candidate.is_file() {
            if executable(&candidate, &endings) {
                return Located::At(candidate);
            }
            blocked.get_or_insert(candidate);
        }
    }
    blocked.map_or(Located::Nowhere, Located::NotExecutable)
}

/// The candidate files: first the name as it is, which on Windows is executable only with an extension.
fn files_of(candidate: &Path, endings: &[String]) -> Vec<PathBuf> {
    let with = |ending: &String| {
        let mut name = candidate.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let mut all: Vec<PathBuf> = endings.iter().map(with).collect();
    if !all.iter().any(|file| file == candidate) {
        all.insert(0, candidate.to_owned());
    }
    all
}

fn executable(path: &Path, endings: &[String]) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    endings.iter().any(|ending| name.ends_with(ending.as_str())) && may_be_executed(path)
}

#[cfg(unix)]
fn may_be_executed(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn may_be_executed(_path: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn linux(variables: &[(&str, &str)]) -> Environment {
        Environment::new(Platform::Linux, variables.iter().copied())
    }

    #[test]
    fn secrets_of_the_hubs_own_environment_are_not_passed_on() {
        let check = |platform, ours: &[&str], expected: &[&str]| {
            let ours = Environment::new(platform, ours.iter().map(|name| (*name, "x")));
            let passed = passed_on(&ours);
            assert_eq!(passed.iter().map(|(name, _)| name).collect::<Vec<_>>(), expected, "{platform:?}");
        };
        let ours = [
            "PATH",
            "HOME",
            "LC_ALL",
            "XDG_RUNTIME_DIR",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "SATCHEL_HOME",
        ];
        check(Platform::Linux, &ours, &["HOME", "LC_ALL", "PATH", "XDG_RUNTIME_DIR"]);
        let like_them = ["LC_MY_TOKEN", "SSH_AUTH_SOCK", "XDG_SECRET_TOKEN", "XDG_STATE_HOME"];
        check(Platform::Linux, &like_them, &["XDG_STATE_HOME"]);
        let windows = [
            "Path",
            "PROCESSOR_ARCHITECTURE",
            "SYSTEMROOT",
            "systemdrive",
            "CommonProgramFiles(x86)",
            "PSModulePath",
            "Github_Token",
            "OneDrive",
        ];
        let passed = [
            "CommonProgramFiles(x86)",
            "PROCESSOR_ARCHITECTURE",
            "PSModulePath",
            "Path",
            "SYSTEMROOT",
            "systemdrive",
        ];
        check(Platform::Windows, &windows, &passed);
        check(Platform::Linux, &["Path", "OS", "SystemRoot"], &[]);
    }

    #[test]
    fn a_proxy_is_passed_on_without_its_password() {
        for (given, expected) in [
            ("http://me:pw@proxy.example:3128", "http://proxy.example:3128"),
            ("http://me:p@w@proxy.example/", "http://proxy.example/"),
            ("me:pw@proxy.example:3128", "proxy.example:3128"),
            ("http://proxy.example:3128", "http://proxy.example:3128"),
        ] {
            for name in ["HTTP_PROXY", "https_proxy"] {
                let passed = passed_on(&Environment::new(Platform::Linux, [(name, given)]));
                assert_eq!(passed.get(name), Some(expected), "{given}");
            }
        }
    }

    #[tokio::test]
    async fn programs_are_looked_for_where_each_system_says() {
        let dir = tempfile::tempdir().unwrap();
        let made = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        };
        let (named, npm, bun) = (made("named"), made("npm"), made(".bun/bin"));
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let windows = Environment::new(
            Platform::Windows,
            [("Path", text(&named)), ("APPDATA", text(dir.path())), ("USERPROFILE", "gone".to_owned())],
        );
        assert_eq!(SearchPath::default().dirs(&windows).await, [named.clone(), npm]);
        let mac = Environment::new(Platform::MacOs, [("PATH", text(&named)), ("HOME", text(dir.path()))]);
        let (search_path, expected) = (SearchPath::default(), [named, bun]);
        let dirs = search_path.dirs(&mac).await;
        assert_eq!(dirs[..2], expected, "{dirs:?}");
    }

    #[cfg(unix)]
    #[test]
    fn the_shells_order_counts_where_it_knows_all_of_ours() {
        let dirs = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let check = |ours: &[&str], shells: &[&str], expected: &[&str]| {
            let merged = merged(dirs(ours), dirs(shells), &[]);
            assert_eq!(merged[..expected.len()], dirs(expected), "{merged:?}");
        };
        check(&["/bin", "/usr/bin"], &["/nvm", "/usr/bin", "/bin"], &["/nvm", "/usr/bin", "/bin"]);
        check(&["/venv", "/bin"], &["/nvm", "/bin"], &["/venv", "/bin", "/nvm"]);
        check(&["/bin", "relative", ""], &[], &["/bin"]);
        assert!(
            merged(dirs(&["relative"]), vec![], &dirs(&["also/relative"]))
                .iter()
                .all(|dir| dir.is_absolute())
        );
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
        let dir = tempfile::tempdir().unwrap();
        let shell = |name: &str, script: &str| {
            let path = dir.path().join(name);
            // A shell writes it: a process that another test starts meanwhile would inherit the file open for writing, and Linux
            // refuses to run such a file.
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", "printf %s \"$1\" > \"$0\" && chmod 700 \"$0\""]).arg(&path).arg(script);
            assert!(shell.status().unwrap().success());
            linux(&[("SHELL", path.to_str().unwrap())])
        };
        let talking =
            shell("talking", "#!/bin/sh\necho PATH=wrong\necho Welcome\necho PATH=/right:/bin\necho bye\n");
        assert_eq!(login_shell_path(&talking).await.as_deref(), Some("/right:/bin"));
        let terminal = "#!/bin/sh\ncase $1 in -l) echo PATH=/bin;; *) echo PATH=/tools:/bin;; esac\n";
        assert_eq!(
            login_shell_path(&shell("terminal", terminal)).await.as_deref(),
            Some("/bin:/tools"),
            "as bash, which reads .bashrc in terminals alone"
        );
        let inheriting = "#!/bin/sh\ncase $1 in -l) echo PATH=/bin;; *) echo PATH=/tools:$PATH;; esac\n";
        let inheriting = shell("inheriting", inheriting);
        let own = linux(&[("SHELL", inheriting.get("SHELL").unwrap()), ("PATH", "/venv:/bin")]);
        assert_eq!(
            login_shell_path(&own).await.as_deref(),
            Some("/bin:/tools"),
            "what it inherited is not its own"
        );
        assert_eq!(login_shell_path(&shell("failing", "#!/bin/sh\nexit 3\n")).await, None);
        assert_eq!(login_shell_path(&shell("hanging", "#!/bin/sh\nsleep 600\n")).await, None);
        assert_eq!(login_shell_path(&linux(&[])).await, None);
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
        let here = linux(&[]);
        assert_eq!(find_program("runs", &dirs, None, &here), Located::At(runs.clone()));
        assert_eq!(
            find_program("./runs", &[], Some(dir.path()), &here),
            Located::At(dir.path().join("./runs"))
        );
        assert_eq!(find_program("plain", &dirs, None, &here), Located::NotExecutable(plain));
        assert_eq!(find_program("gone", &dirs, None, &here), Located::Nowhere);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_of_windows_has_an_ending_and_they_are_tried_in_the_order_of_the_user() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "npx",
            "npx.cmd",
            "npx.exe",
            "python3.11",
            "python3.12",
            "python3.12.exe",
            "run.ps1",
            "other.CMD",
        ] {
            let file = dir.path().join(name);
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let dirs = [dir.path().to_owned()];
        let check = |pathext: &str, program: &str, expected: Option<&str>| {
            let environment = Environment::new(Platform::Windows, [("PATHEXT", pathext)]);
            let found = match find_program(program, &dirs, None, &environment) {
                Located::At(file) => Some(file),
                Located::NotExecutable(_) | Located::Nowhere => None,
            };
            assert_eq!(found, expected.map(|name| dir.path().join(name)), "{program} by {pathext:?}");
        };
        check("", "npx", Some("npx.exe"));
        check(".CMD;.EXE", "npx", Some("npx.cmd"));
        check(".CMD;.EXE", "npx.exe", Some("npx.exe"));
        check("", "python3.12", Some("python3.12.exe"));
        check("", "python3.11", None);
        check(".PS1", "run.ps1", None);
        check("", "other.CMD", Some("other.CMD"));
    }
}
