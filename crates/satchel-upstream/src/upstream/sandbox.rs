//! The sandbox around a server: which files it may read and write, and whether it reaches the network. On Linux, by Landlock
//! and seccomp, which need no rights of their own and which nothing that the server starts can take down again. Off
//! unless the server's entry says otherwise; other systems have none of their own, and say so. A container as the
//! sandbox is another matter ([`super::container`]).
//!
//! Raised by the process that becomes the server: the subreaper ([`super::subreaper`]) starts our own program as
//! `sandboxed PROGRAM ARGUMENTS`, which raises them around itself and then turns into the server. Inside, a server has the system's
//! programs and libraries, its own program, a directory for temporary files, and what its entry names. It has no
//! sockets of this computer (over those of the session bus it could have others act for it), none of the network
//! unless its entry says so, no signals to and no memory of processes outside, and no keys of the kernel. What it is
//! not kept from: using up the processor and memory, and, where it may reach the network, programs of this computer
//! that listen there.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::lifecycle::Failure;
use crate::{
    files,
    model::{
        Code,
        cause::{FailureCause, SandboxFault},
        server::Sandbox,
    },
};

/// A resolved sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxPlan {
    /// Paths that may be read and executed, with everything below.
    read: Vec<PathBuf>,
    /// Paths that may also be changed.
    write: Vec<PathBuf>,
    /// May it access the network?
    network: bool,
}

/// What every program needs.
const SYSTEM: [&str; 22] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/snap",
    "/sys",
    // Information about the computer, not about processes: other programs' environments contain credentials.
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys",
    "/proc/uptime",
    "/proc/version",
    "/run/systemd/resolve",
    "/var/lib/ca-certificates",
];
/// Harmless devices.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
/// Where a user's programs and packages are, below the home directory. None of these contains credentials.
const PROGRAMS: [&str; 19] = [
    ".nvm",
    ".volta",
    ".asdf",
    ".pyenv",
    ".rbenv",
    ".bun",
    ".deno",
    ".rustup",
    ".cargo/bin",
    ".npm",
    ".npm-global",
    ".cache/uv",
    ".cache/pip",
    ".cache/deno",
    ".local/bin",
    ".local/lib",
    ".local/share/uv",
    ".local/share/pipx",
    ".local/share/mise",
];

impl From<SandboxFault> for Failure {
    fn from(fault: SandboxFault) -> Self {
        let code = match fault {
            SandboxFault::NoEngine(_) => Code::RuntimeMissing,
            _ => Code::SandboxUnusable,
        };
        Failure::new(code, fault.to_string()).because(FailureCause::Sandbox { fault })
    }
}

impl SandboxPlan {
    /// The sandbox of this entry for a server whose program is at `program`. Creates `temporary`, which is its own.
    ///
    /// # Errors
    /// [`SandboxFault`] if it cannot be set up. The server must not be started then.
    pub fn around(
        sandbox: &Sandbox,
        program: &Path,
        home: Option<&Path>,
        temporary: &Path,
    ) -> Result<Self, SandboxFault> {
        if !cfg!(target_os = "linux") {
            return Err(SandboxFault::Absent);
        }
        files::create_private_dir(temporary).map_err(|error| SandboxFault::Temporary(error.to_string()))?;
        let mut read: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        read.extend(home.into_iter().flat_map(|home| PROGRAMS.iter().map(|below| home.join(below))));
        read.extend(of_program(program, home));
        let mut write: Vec<PathBuf> = DEVICES.iter().map(PathBuf::from).collect();
        write.push(temporary.to_owned());
        for (allowed, places) in [(&sandbox.read, &mut read), (&sandbox.write, &mut write)] {
            for place in allowed {
                places.push(whole(place, home)?);
            }
        }
        Ok(Self { read, write, network: sandbox.network })
    }
}

/// The program and what is installed beside it: `…/bin/node` needs `…/lib`. Never the whole home directory.
fn of_program(program: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let real = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let mut places = vec![program.to_owned(), real.clone()];
    for place in [program, &real] {
        let bin = place.parent().filter(|dir| dir.ends_with("bin"));
        let prefix = bin.and_then(Path::parent).filter(|prefix| prefix.components().count() > 2);
        places.extend(
            prefix.filter(|prefix| home.is_none_or(|home| !home.starts_with(prefix))).map(Path::to_owned),
        );
    }
    places
}

fn whole(place: &str, home: Option<&Path>) -> Result<PathBuf, SandboxFault> {
    let path = match (place, place.strip_prefix("~/"), home) {
        ("~", _, Some(home)) => home.to_owned(),
        (_, Some(below), Some(home)) => home.join(below),
        _ => PathBuf::from(place),
    };
    let is_whole = path.is_absolute() && !path.components().any(|part| part.as_os_str() == "..");
    is_whole.then_some(path).ok_or_else(|| SandboxFault::Relative(place.to_owned()))
}

/// The variable in which the process that becomes the server finds its sandbox.
#[cfg(target_os = "linux")]
use satchel_reaper::subreaper::SANDBOX as VARIABLE;

#[cfg(target_os = "linux")]
pub use linux::main;

/// Sandboxed servers are not started on this system.
#[cfg(not(target_os = "linux"))]
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        collections::BTreeMap,
        io,
        os::unix::process::CommandExt,
        path::PathBuf,
        process::{Command, ExitCode},
    };

    use landlock::{
        ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetStatus, Scope, path_beneath_rules,
    };
    use nix::libc;
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, TargetArch,
    };

    use super::{SandboxPlan, VARIABLE};

    /// The files in `/proc/self` that a process may read. Excludes its network, which lists the sockets of all
    /// programs, its tasks, which include the same, and links, which would give access to their targets.
    const OWN: [&str; 24] = [
        "auxv",
        "cgroup",
        "cmdline",
        "comm",
        "environ",
        "fd",
        "fdinfo",
        "io",
        "limits",
        "maps",
        "mountinfo",
        "mounts",
        "oom_score",
        "oom_score_adj",
        "personality",
        "sched",
        "schedstat",
        "smaps",
        "smaps_rollup",
        "stat",
        "statm",
        "status",
        "uid_map",
        "gid_map",
    ];

    /// Applies the sandbox to this process and executes the server.
    pub fn main() -> ExitCode {
        let mut words = std::env::args_os().skip(2);
        let Some(program) = words.next() else { return ExitCode::from(126) };
        let plan = std::env::var(VARIABLE).map_err(io::Error::other);
        let plan = plan.and_then(|text| serde_json::from_str::<SandboxPlan>(&text).map_err(io::Error::other));
        let error = match plan.and_then(|plan| raise(&plan)) {
            // Returns only on failure.
            Ok(()) => Command::new(&program).arg0(&program).args(words).env_remove(VARIABLE).exec(),
            Err(error) => error,
        };
        eprintln!("{}: {error}", program.to_string_lossy());
        ExitCode::from(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 })
    }

    /// Applies the sandbox to this process and its future children. Irreversible.
    fn raise(plan: &SandboxPlan) -> io::Result<()> {
        files(plan).map_err(|error| {
            io::Error::other(format!("its access to files cannot be restricted: {error}"))
        })?;
        calls(plan.network)
    }

    fn files(plan: &SandboxPlan) -> Result<(), String> {
        let said = |error: &dyn std::fmt::Display| error.to_string();
        // With older kernels' features (5.13), a file that may not be written could still be truncated.
        let abi = ABI::V3;
        let own = OWN.map(|name| PathBuf::from(format!("/proc/{}/{name}", std::process::id())));
        let status = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(abi))
            .map_err(|error| said(&error))?
            .set_compatibility(CompatLevel::BestEffort)
            .scope(Scope::from_all(ABI::V6))
            .map_err(|error| said(&error))?
            .create()
            .map_err(|error| said(&error))?
            .add_rules(path_beneath_rules(&plan.read, AccessFs::from_read(abi)))
            .map_err(|error| said(&error))?
            // Information about itself.
            .add_rules(path_beneath_rules(own, AccessFs::from_read(abi)))
            .map_err(|error| said(&error))?
            .add_rules(path_beneath_rules(&plan.write, AccessFs::from_all(abi)))
            .map_err(|error| said(&error))?
            .restrict_self()
            .map_err(|error| said(&error))?;
        match status.ruleset {
            RulesetStatus::NotEnforced => Err("this kernel has no Landlock".to_owned()),
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        }
    }

    /// System calls that fail as if without permission.
    fn calls(network: bool) -> io::Result<()> {
        let broken =
            |error: &dyn std::fmt::Display| io::Error::other(format!("no filter of system calls: {error}"));
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = [
            // Sockets and files through io_uring, which no filter sees.
            libc::SYS_io_uring_setup,
            // Other processes' memory, and the kernel's keys.
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_process_vm_writev,
            libc::SYS_pidfd_getfd,
            libc::SYS_keyctl,
            libc::SYS_add_key,
            libc::SYS_request_key,
            // Needed by system programs only.
            libc::SYS_bpf,
            libc::SYS_perf_event_open,
            libc::SYS_userfaultfd,
            libc::SYS_mount,
            libc::SYS_open_by_handle_at,
        ]
        .into_iter()
        .map(|call| (call, Vec::new()))
        .collect();
        let families: &[i32] = match network {
            // Name resolution asks the kernel for the computer's addresses.
            true => &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
            false => &[],
        };
        let is_other = |family: &i32| {
            let family = u64::try_from(*family).unwrap_or(u64::MAX);
            SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
        };
        let others: Vec<_> =
            families.iter().map(is_other).collect::<Result<_, _>>().map_err(|error| broken(&error))?;
        // No condition at all would match every call.
        let socket = match others.is_empty() {
            true => Vec::new(),
            false => vec![SeccompRule::new(others).map_err(|error| broken(&error))?],
        };
        rules.insert(libc::SYS_socket, socket);
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| broken(&error))?;
        let denied = SeccompAction::Errno(u32::try_from(libc::EACCES).unwrap_or(13));
        let filter =
            SeccompFilter::new(rules, SeccompAction::Allow, denied, arch).map_err(|error| broken(&error))?;
        let program: BpfProgram = filter.try_into().map_err(|error| broken(&error))?;
        seccompiler::apply_filter(&program).map_err(|error| broken(&error))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_sandboxed_server_sees_the_files_its_entry_names_and_never_the_home() {
        let dir = tempfile::tempdir().unwrap();
        let home = Path::new("/home/x");
        let temporary = dir.path().join("tmp");
        let around = |read: &str, program: &str| {
            let sandbox = Sandbox { read: vec![read.into()], write: vec!["/w".into()], ..Sandbox::default() };
            SandboxPlan::around(&sandbox, Path::new(program), Some(home), &temporary)
        };
        let plan = around("~/notes", "/home/x/.tools/node/bin/npx").unwrap();
        assert!(plan.read.contains(&home.join("notes")) && plan.write.contains(&PathBuf::from("/w")));
        assert!(plan.read.contains(&home.join(".tools/node")) && plan.write.contains(&temporary));
        for program in ["/home/x/bin/server", "/home/x/server", "/bin/sh", "/usr/bin/node"] {
            let plan = around("~/notes", program).unwrap();
            assert!(!plan.read.iter().any(|place| home.starts_with(place)), "{program}: {plan:?}");
        }
        for place in ["notes", "../x", "~/../y", "/a/../b", ""] {
            assert!(matches!(around(place, "/bin/sh"), Err(SandboxFault::Relative(_))), "{place}");
        }
    }
}
