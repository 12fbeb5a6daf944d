//! Gives up every right of this process but computing and using its open pipes: no files, no network, no other processes.
//! Linux: Landlock and a list of the few allowed system calls. Other Unix systems: resource limits, under which the
//! process can open nothing. Windows: no protection beyond the rights of the user.

use std::io;

/// The limit that ended a sealed process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// CPU time.
    Computing,
    /// Memory.
    Memory,
}

/// The limit that ended a process; `None` if it ended otherwise, or the system does not tell.
pub fn limit_of(status: std::process::ExitStatus) -> Option<Limit> {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;

        use nix::libc::{SIGABRT, SIGKILL, SIGXCPU};
        match status.signal() {
            // The first is sent at the limit, the second to a process that continues.
            Some(SIGXCPU | SIGKILL) => Some(Limit::Computing),
            // A program whose allocation fails aborts.
            Some(SIGABRT) => Some(Limit::Memory),
            _ => None,
        }
    }
    #[cfg(not(unix))]
    {
        let _ = status;
        None
    }
}

/// Seals this process irreversibly. `memory` in bytes and `computing` in seconds of CPU time limit it from now on,
/// where the system supports that.
///
/// # Errors
/// If the system refuses; no untrusted code may run then.
pub fn seal(memory: u64, computing: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    linux::no_files()?;
    #[cfg(unix)]
    limits(memory, computing)?;
    #[cfg(target_os = "linux")]
    linux::few_calls()?;
    #[cfg(not(unix))]
    let _ = (memory, computing);
    proven()
}

#[cfg(unix)]
fn limits(memory: u64, computing: u64) -> io::Result<()> {
    use nix::sys::resource::{Resource, setrlimit};
    // Only its three standard streams.
    const STREAMS: u64 = 3;
    let set = |resource, most| setrlimit(resource, most, most).map_err(io::Error::from);
    set(Resource::RLIMIT_CORE, 0)?;
    set(Resource::RLIMIT_FSIZE, 0)?;
    set(Resource::RLIMIT_CPU, computing)?;
    set(Resource::RLIMIT_NOFILE, STREAMS)?;
    set(Resource::RLIMIT_DATA, memory)
}

/// Verifies that it cannot open anything.
fn proven() -> io::Result<()> {
    match std::fs::File::open("/") {
        Ok(_) if cfg!(unix) => Err(io::Error::other("the process can still open files")),
        _ => Ok(()),
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{collections::BTreeMap, io};

    use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};
    use nix::libc;
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, SeccompRule, TargetArch};

    /// The system calls needed to compute, to use open streams, and to exit.
    const CALLS: [i64; 30] = [
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_readv,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_fstat,
        libc::SYS_lseek,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_futex,
        libc::SYS_clock_gettime,
        libc::SYS_clock_getres,
        libc::SYS_gettimeofday,
        libc::SYS_getrandom,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_rt_sigreturn,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_sigaltstack,
        libc::SYS_tgkill,
        libc::SYS_gettid,
        libc::SYS_getpid,
        libc::SYS_sched_yield,
        libc::SYS_restart_syscall,
        libc::SYS_getrusage,
    ];

    /// Denies files, addresses and signals to other processes. What the kernel's feature does not cover, the system
    /// call filter denies too.
    pub(super) fn no_files() -> io::Result<()> {
        let created = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI::V6))
            .and_then(|rules| rules.handle_access(AccessNet::from_all(ABI::V6)))
            .and_then(|rules| rules.scope(Scope::from_all(ABI::V6)))
            .and_then(|rules| rules.create())
            .map_err(io::Error::other)?;
        created.restrict_self().map(drop).map_err(io::Error::other)
    }

    pub(super) fn few_calls() -> io::Result<()> {
        let rules: BTreeMap<i64, Vec<SeccompRule>> = CALLS.map(|call| (call, Vec::new())).into();
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
        let denied = SeccompAction::Errno(u32::try_from(libc::EPERM).unwrap_or(1));
        let filter =
            SeccompFilter::new(rules, denied, SeccompAction::Allow, arch).map_err(io::Error::other)?;
        let program: BpfProgram = filter.try_into().map_err(io::Error::other)?;
        // Other threads, if any, would be a way around it.
        seccompiler::apply_filter_all_threads(&program).map_err(io::Error::other)
    }
}
