//! A container as the sandbox of a server: the words that an engine (podman or Docker) is started with, what the engine's
//! client gets in its environment, and the container's end. Wherever there is an engine, there is this sandbox. It
//! builds no image, and has none fetched whose digest is not part of its name.
//!
//! Theory of operation: `ENGINE run` is a client that carries the server's streams. Ending the client leaves the
//! container running, so a container has a name of ours: whoever ends the client ends the container by that name too
//! ([`Orphan`]), the watchdog does it when the hub is gone, and what both missed is found by its label before the first
//! container of the next run. There is no subreaper: what an engine starts for itself is to go on.

pub(super) mod labelled;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use satchel_reaper::watchdog::Orphan;
use tokio::{
    process::Command,
    sync::{Mutex, OnceCell},
    time::timeout,
};

use super::{
    connect::stdio,
    environment::{self, Located},
    handshake::failure,
    lifecycle::Failure,
    watchdog::MARK,
};
use crate::{
    model::{
        Code,
        cause::SandboxFault,
        server::{ContainerEngine, ContainerSandbox, Sandbox},
    },
    platform::{Environment, Platform},
};

/// How long an engine may take for a word of its own.
const PATIENCE: Duration = Duration::from_secs(10);
/// Processes at once; a server that starts more takes part of the computer with it.
const PROCESSES: &str = "256";
/// The label that has the run of the hub, and the one that has its data directory.
const RUN: &str = "satchel";
const HOME: &str = "satchel.home";
/// Variables by which engines find their settings, sockets and programs, besides those that every server gets.
pub(super) const OF_ENGINES: [&str; 10] = [
    "DOCKER_",
    "CONTAINER_",
    "CONTAINERS_",
    "PODMAN_",
    "STORAGE_",
    "BUILDAH_",
    "REGISTRY_",
    "_CONTAINERS_",
    "CONTAINERD_",
    "NERDCTL_",
];
/// The same by whole names, and by beginnings of names that any program obeys.
const STEERING: [&str; 14] = [
    "PATH",
    "HOME",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "SYSTEMROOT",
    "WINDIR",
    "TMPDIR",
    "TMP",
    "TEMP",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GODEBUG",
];
const STEERING_PREFIXES: [&str; 5] = ["LD_", "DYLD_", "XDG_", "DBUS_", "SATCHEL_"];

/// An engine that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundEngine {
    pub(super) is_podman: bool,
    pub(super) program: PathBuf,
}

/// Which engine runs it: podman first, because it needs no service with all rights.
pub(super) fn find(wanted: ContainerEngine, dirs: &[PathBuf], ours: &Environment) -> Option<FoundEngine> {
    let names: &[&str] = match wanted {
        ContainerEngine::Auto => &["podman", "docker"],
        ContainerEngine::Podman => &["podman"],
        ContainerEngine::Docker => &["docker"],
    };
    names.iter().find_map(|name| match environment::find_program(name, dirs, None, ours) {
        Located::At(program) => Some(FoundEngine { is_podman: *name == "podman", program }),
        Located::NotExecutable(_) | Located::Nowhere => None,
    })
}

/// Who the server is inside, so that what it writes is its user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inhabitant {
    /// Whoever the image says; the engine sees to the rest.
    OfImage,
    /// The user, by the engine's own means.
    Kept,
    /// The user, by number and group.
    Numbered(u32, u32),
}

impl Inhabitant {
    /// Outside of Linux an engine is in a virtual machine, which sees to whose the files are. On Linux the number zero of
    /// a rootless engine is the user; podman can keep the user's own number.
    pub(super) fn of(is_podman: bool, rootless: bool, data: &Path, platform: Platform) -> Self {
        match (platform, is_podman, rootless) {
            (Platform::Windows | Platform::MacOs, ..) => Self::OfImage,
            (Platform::Linux, true, true) => Self::Kept,
            (Platform::Linux, false, true) => Self::Numbered(0, 0),
            (Platform::Linux, _, false) => Self::owner_of(data),
        }
    }

    #[cfg(unix)]
    fn owner_of(data: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        // The hub has made its data directory itself.
        std::fs::metadata(data).map_or(Self::OfImage, |data| Self::Numbered(data.uid(), data.gid()))
    }

    #[cfg(not(unix))]
    fn owner_of(_data: &Path) -> Self {
        Self::OfImage
    }
}

/// Everything that the words depend on.
#[derive(Debug)]
pub(super) struct Inside<'a> {
    pub(super) sandbox: &'a Sandbox,
    pub(super) container: &'a ContainerSandbox,
    pub(super) engine: &'a FoundEngine,
    pub(super) inhabitant: Inhabitant,
    pub(super) command: &'a str,
    pub(super) args: &'a [String],
    /// The server's own variables.
    pub(super) variables: &'a BTreeMap<String, String>,
    pub(super) cwd: Option<&'a str>,
    pub(super) mark: &'a str,
    /// The hub's data directory.
    pub(super) data: &'a Path,
    pub(super) home: Option<&'a Path>,
    pub(super) platform: Platform,
    /// Does SELinux keep containers from files without its labels? Those of the user are not relabelled.
    pub(super) selinux: bool,
}

/// The container's name: of the mark, which no other start has.
pub(super) fn name_of(mark: &str) -> String {
    format!("satchel-{mark}")
}

impl Inside<'_> {
    /// The engine's arguments. No value of a variable is among them: those come from the client's environment.
    ///
    /// # Errors
    /// [`SandboxFault`] where the sandbox cannot be set up. The server must not be started then.
    pub(super) fn words(&self) -> Result<Vec<String>, SandboxFault> {
        let mut words: Vec<String> =
            ["run", "--rm", "--interactive", "--init", "--name"].map(Into::into).into();
        let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
        let run = self.mark.split('.').next().unwrap_or_default();
        let (of_run, of_home) = (format!("{RUN}={run}"), format!("{HOME}={}", self.data.display()));
        add(&[&name_of(self.mark), "--label", &of_run, "--label", &of_home]);
        add(&["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only"]);
        add(&["--pids-limit", PROCESSES]);
        // Whatever is fetched was named to the byte before somebody said yes to it.
        add(&["--pull", if self.container.is_pinned() { "missing" } else { "never" }]);
        if !self.sandbox.network {
            add(&["--network", "none"]);
            if self.engine.is_podman {
                // Addresses of proxies, and the passwords in them, are of no use there.
                add(&["--http-proxy=false"]);
            }
        }
        match self.inhabitant {
            Inhabitant::OfImage => {}
            Inhabitant::Kept => add(&["--userns", "keep-id"]),
            Inhabitant::Numbered(user, group) => add(&["--user", &format!("{user}:{group}")]),
        }
        let mounts = self.mounts()?;
        if !mounts.iter().any(|mount| mount.inside == "/tmp") {
            // Launchers run what they put there.
            add(&["--tmpfs", "/tmp:rw,exec,nosuid,nodev,mode=1777"]);
        }
        if self.selinux && !mounts.is_empty() {
            add(&["--security-opt", "label=disable"]);
        }
        // Nothing else can be written, and many programs want a home that can.
        add(&["--env", "HOME=/tmp", "--env", &format!("{MARK}={}", self.mark)]);
        for mount in &mounts {
            add(&["--mount", &mount.word()]);
        }
        if let Some(cwd) = self.cwd {
            add(&["--workdir", &inside(&whole(cwd, self.home, self.platform)?, self.platform)]);
        }
        for name in self.variables.keys() {
            if steers(name) {
                return Err(SandboxFault::Steers(name.clone()));
            }
            add(&["--env", name]);
        }
        add(&[&self.container.image, self.command]);
        words.extend(self.args.iter().cloned());
        Ok(words)
    }

    fn mounts(&self) -> Result<Vec<Mount>, SandboxFault> {
        let mut mounts: Vec<Mount> = Vec::new();
        for (places, writable) in [(&self.sandbox.write, true), (&self.sandbox.read, false)] {
            for place in places {
                let path = whole(place, self.home, self.platform)?;
                let mount = Mount { inside: inside(&path, self.platform), path, writable };
                // The words of a mount are separated by commas, and not every engine knows how to quote one.
                if mount.path.contains([',', '"', '\n', '\r']) {
                    return Err(SandboxFault::Unmountable(mount.path));
                }
                if !mounts.iter().any(|other| other.inside == mount.inside) {
                    mounts.push(mount);
                }
            }
        }
        Ok(mounts)
    }
}

struct Mount {
    path: String,
    inside: String,
    writable: bool,
}

impl Mount {
    fn word(&self) -> String {
        let rights = if self.writable { "" } else { ",readonly" };
        format!("type=bind,source={},target={}{rights}", self.path, self.inside)
    }
}

/// A whole path of this computer, as text.
fn whole(place: &str, home: Option<&Path>, platform: Platform) -> Result<String, SandboxFault> {
    let below = place.strip_prefix("~/").or_else(|| (place == "~").then_some(""));
    let path = match (below, home) {
        (Some(below), Some(home)) => {
            let home = home.to_string_lossy();
            let separator = if platform == Platform::Windows { '\\' } else { '/' };
            format!("{}{separator}{below}", home.trim_end_matches(separator))
        }
        _ => place.to_owned(),
    };
    let parts = path.split(|c| c == '/' || (platform == Platform::Windows && c == '\\'));
    let climbs = parts.into_iter().any(|part| part == "..");
    let is_whole = match platform {
        Platform::Windows => drive(&path).is_some(),
        Platform::Linux | Platform::MacOs => path.starts_with('/'),
    };
    let path = if path.len() > 1 { path.trim_end_matches('/').to_owned() } else { path };
    (is_whole && !climbs).then_some(path).ok_or_else(|| SandboxFault::Relative(place.to_owned()))
}

/// `C:\x` → `c` and `\x`.
fn drive(path: &str) -> Option<(char, &str)> {
    let letter = path.chars().next().filter(char::is_ascii_alphabetic)?;
    let rest = path.get(1..)?.strip_prefix(':').filter(|rest| rest.starts_with(['\\', '/']))?;
    Some((letter.to_ascii_lowercase(), rest))
}

/// Where a path of this computer is found inside, where everything is Linux: `C:\Users\x` at `/c/Users/x`.
fn inside(path: &str, platform: Platform) -> String {
    match (platform, drive(path)) {
        (Platform::Windows, Some((letter, rest))) => format!("/{letter}{}", rest.replace('\\', "/")),
        _ => path.to_owned(),
    }
}

/// Would this variable change what the engine's client does, in whose environment it is?
fn steers(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    STEERING.contains(&name.as_str())
        || OF_ENGINES.iter().chain(&STEERING_PREFIXES).any(|prefix| name.starts_with(prefix))
}

/// The environment of an engine's client: what every program gets, and what engines go by.
pub(super) fn client_environment(ours: &Environment) -> Environment {
    let mut client = environment::passed_on(ours);
    let is_of_engines = |name: &str| OF_ENGINES.iter().any(|prefix| name.starts_with(prefix));
    client.extend(ours.iter().filter(|(name, _)| is_of_engines(name)));
    client
}

/// Does the kernel compare labels of files?
pub(super) fn is_selinux_on() -> bool {
    cfg!(target_os = "linux")
        && std::fs::read("/sys/fs/selinux/enforce").is_ok_and(|text| text.starts_with(b"1"))
}

/// Where the engine is that a sandbox asks for, where one is installed.
pub fn installed_engine(wanted: ContainerEngine, dirs: &[PathBuf], ours: &Environment) -> Option<PathBuf> {
    find(wanted, dirs, ours).map(|engine| engine.program)
}

/// What a hub learns once of each engine that it uses.
#[derive(Debug, Default)]
pub struct Engines {
    podman: OnceCell<bool>,
    docker: OnceCell<bool>,
    /// The engines in which nothing of an earlier run is left: each program with its options.
    cleared: Mutex<BTreeSet<(PathBuf, Vec<String>)>>,
}

impl Engines {
    /// Ends what an earlier run of the hub left in this engine; once in each run, before its first container there.
    pub(super) async fn clear(&self, program: &Path, options: &[String], client: &Environment, label: &str) {
        // Held meanwhile: no container of this run may begin before that.
        let mut cleared = self.cleared.lock().await;
        if cleared.insert((program.to_owned(), options.to_vec())) {
            end_labelled(program, options, client, label).await;
        }
    }

    /// Does this engine run without all rights? Asked once in each run of the hub, which is when what an earlier run left
    /// behind is ended.
    ///
    /// # Errors
    /// A [`Failure`] that has what the engine said, mostly that its service does not run.
    pub(super) async fn is_rootless(
        &self,
        engine: &FoundEngine,
        client: &Environment,
        data: &Path,
    ) -> Result<bool, Failure> {
        let known = if engine.is_podman { &self.podman } else { &self.docker };
        let ask = async || {
            let format =
                if engine.is_podman { "{{.Host.Security.Rootless}}" } else { "{{json .SecurityOptions}}" };
            let said = ask(&engine.program, client, &["info", "--format", format]).await?;
            end_leftovers(engine, client, data).await;
            Ok(said.trim() == "true" || said.contains("name=rootless"))
        };
        known.get_or_try_init(ask).await.copied()
    }
}

async fn end_leftovers(engine: &FoundEngine, client: &Environment, data: &Path) {
    end_labelled(&engine.program, &[], client, &format!("{HOME}={}", data.display())).await;
}

/// Ends the containers with this label.
pub(super) async fn end_labelled(program: &Path, options: &[String], client: &Environment, label: &str) {
    let filter = format!("label={label}");
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let listing = [&options[..], &["ps", "--all", "--quiet", "--filter", &filter]].concat();
    let listed = ask(program, client, &listing).await.unwrap_or_default();
    let left: BTreeSet<&str> = listed.split_whitespace().collect();
    if !left.is_empty() {
        tracing::warn!(left = left.len(), "ending containers of an earlier run");
        let words: Vec<&str> = options.into_iter().chain(["rm", "--force"]).chain(left).collect();
        if let Err(failure) = ask(program, client, &words).await {
            tracing::warn!(said = failure.message, "containers of an earlier run may still be there");
        }
    }
}

/// What an engine answers.
async fn ask(program: &Path, client: &Environment, words: &[&str]) -> Result<String, Failure> {
    let mut command = Command::new(program);
    command.args(words).env_clear().envs(client.iter()).stdin(Stdio::null()).kill_on_drop(true);
    stdio::without_a_window(&mut command);
    let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let output = match timeout(PATIENCE, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => {
            return Err(failure(Code::SpawnDenied, format!("{name} could not be started: {error}")));
        }
        Err(_) => {
            let message = format!("{name} did not answer within {} s", PATIENCE.as_secs());
            return Err(failure(Code::DockerDown, message));
        }
    };
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(said(&output.stdout)),
        false => {
            let said = said(&output.stderr);
            let last = said.lines().last().unwrap_or("it said nothing");
            Err(failure(Code::DockerDown, format!("{name} cannot run containers: {last}")))
        }
    }
}

/// Ends a container, whose client has ended or is about to be. One that is gone already is fine.
pub(super) async fn end(orphan: &Orphan) {
    for words in orphan.endings() {
        let mut command = Command::new(&orphan.engine);
        command.args(words).env_clear().envs(&orphan.env).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        stdio::without_a_window(&mut command);
        match timeout(PATIENCE, command.status()).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(%error, name = orphan.name, "cannot end a container"),
            Err(_) => tracing::warn!(name = orphan.name, "the engine did not end a container in time"),
        }
    }
    orphan.forget();
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "node@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    /// The words of a container on this system, with some of its sandbox and its variables.
    fn words(
        platform: Platform,
        sandbox: &Sandbox,
        variables: &[(&str, &str)],
    ) -> Result<String, SandboxFault> {
        let windows = platform == Platform::Windows;
        let home = if windows { r"C:\Users\Zoë" } else { "/home/x" };
        let variables =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let inside = Inside {
            sandbox,
            container: sandbox.container.as_ref().unwrap(),
            engine: &FoundEngine { is_podman: true, program: "/usr/bin/podman".into() },
            inhabitant: Inhabitant::OfImage,
            command: "npx",
            args: &["-y".to_owned(), "server".to_owned()],
            variables: &variables,
            cwd: Some("~/notes"),
            mark: "0a1b.3.1",
            data: Path::new("/data"),
            home: Some(Path::new(home)),
            platform,
            selinux: false,
        };
        inside.words().map(|words| words.join(" "))
    }

    fn sandbox(read: &[&str], write: &[&str], image: &str) -> Sandbox {
        let all = |places: &[&str]| places.iter().map(|place| (*place).to_owned()).collect();
        let container = ContainerSandbox { image: image.into(), engine: ContainerEngine::Auto };
        Sandbox { read: all(read), write: all(write), network: false, container: Some(container) }
    }

    #[test]
    fn a_container_has_what_its_entry_names_and_no_value_on_its_command_line() {
        let sandbox = sandbox(&["~/notes", "/srv/out"], &["/srv/out"], DIGEST);
        let words = words(Platform::Linux, &sandbox, &[("TOKEN", "canary"), ("MODE", "canary")]).unwrap();
        let expected = format!(
            "run --rm --interactive --init --name satchel-0a1b.3.1 --label satchel=0a1b --label satchel.home=/data \
             --cap-drop ALL --security-opt no-new-privileges --read-only --pids-limit 256 --pull missing --network none \
             --http-proxy=false --tmpfs /tmp:rw,exec,nosuid,nodev,mode=1777 --env HOME=/tmp --env SATCHEL_TREE=0a1b.3.1 \
             --mount type=bind,source=/srv/out,target=/srv/out \
             --mount type=bind,source=/home/x/notes,target=/home/x/notes,readonly --workdir /home/x/notes \
             --env MODE --env TOKEN {DIGEST} npx -y server"
        );
        assert_eq!(words, expected);
    }

    #[test]
    fn an_image_that_is_not_named_to_the_byte_is_not_fetched() {
        for (image, pull) in [
            (DIGEST, "missing"),
            ("node:22", "never"),
            ("node:22@sha256:0123", "never"),
            (&DIGEST["node@".len()..], "missing"),
            (&format!("x{}", &DIGEST["node@".len()..]), "never"),
        ] {
            let words = words(Platform::Linux, &sandbox(&[], &[], image), &[]).unwrap();
            assert!(words.contains(&format!("--pull {pull} ")), "{image}: {words}");
        }
    }

    #[test]
    fn a_path_of_windows_is_found_inside_by_its_drive() {
        let sandbox = sandbox(&[r"D:\Data"], &[], DIGEST);
        let words = words(Platform::Windows, &sandbox, &[]).unwrap();
        assert!(words.contains(r"type=bind,source=D:\Data,target=/d/Data,readonly"), "{words}");
        assert!(words.contains("--workdir /c/Users/Zoë/notes"), "{words}");
    }

    #[test]
    fn engine_options_and_unmountable_paths_are_refused() {
        for name in [
            "PATH",
            "LD_PRELOAD",
            "DOCKER_HOST",
            "docker_context",
            "CONTAINERS_CONF",
            "HOME",
            "XDG_DATA_HOME",
        ] {
            let refused = words(Platform::Linux, &sandbox(&[], &[], DIGEST), &[(name, "x")]);
            assert!(matches!(refused, Err(SandboxFault::Steers(_))), "{name}: {refused:?}");
        }
        for (platform, place) in [
            (Platform::Linux, "notes"),
            (Platform::Linux, "~/../y"),
            (Platform::Linux, r"C:\x"),
            (Platform::Windows, "/x"),
            (Platform::Windows, r"\\server\share"),
            (Platform::Windows, r"C:\a\..\b"),
            (Platform::Windows, "é:x"),
        ] {
            let refused = words(platform, &sandbox(&[place], &[], DIGEST), &[]);
            assert!(matches!(refused, Err(SandboxFault::Relative(_))), "{place}: {refused:?}");
        }
        let refused = words(Platform::Linux, &sandbox(&["/a,readonly=false"], &[], DIGEST), &[]);
        assert!(matches!(refused, Err(SandboxFault::Unmountable(_))), "{refused:?}");
    }
}
