//! Tells whether a starting server makes progress while it writes nothing, as a launcher does during a download. Reads
//! the operating system's counters of a process tree; blocks for some milliseconds. The caller decides how long to
//! wait.

use std::{path::Path, time::Duration};

use satchel_entry::launcher::{Launch, is_engine};

/// A program that may download what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Launcher {
    /// Number of its processes before it starts the server.
    alone: usize,
    /// A daemon downloads for it.
    engine: bool,
}

impl Launcher {
    /// The launcher in this command line, if any.
    pub(super) fn of(command: &str, args: &[String]) -> Option<Self> {
        let launch = Launch::of(command, args);
        let program = launch.fetcher()?;
        Some(Self { alone: if launch.through.is_empty() { 1 } else { 2 }, engine: is_engine(&program) })
    }

    /// Is it still downloading, rather than waiting for the started server? `wrote` is its latest output.
    pub(super) fn fetches(self, sample: &Sample, wrote: &[String]) -> bool {
        if self.engine {
            let last = wrote.iter().rev().find_map(|line| {
                let says = |words: &[&str]| words.iter().any(|word| line.contains(word));
                if says(&["Status: Downloaded", "Status: Image is up to date", "Writing manifest"]) {
                    return Some(false);
                }
                says(&[
                    "Unable to find image",
                    "Pulling",
                    "Trying to pull",
                    "Copying blob",
                    "Waiting",
                    "Verifying",
                ])
                .then_some(true)
            });
            return last == Some(true);
        }
        sample.processes <= self.alone && (sample.connected || sample.moved_bytes > 0)
    }

    /// Was there progress between two samples?
    pub(super) fn gets_on(self, before: &Sample, now: &Sample, between: Duration, fetches: bool) -> bool {
        let ms = u64::try_from(between.as_millis()).unwrap_or(u64::MAX).max(1);
        let (cpu, moved) =
            (now.cpu_ms.saturating_sub(before.cpu_ms), now.moved_bytes.saturating_sub(before.moved_bytes));
        before.processes != now.processes
            || fetches && (self.engine || now.connected)
            // An idle server uses some too: less than 3 % of a core, less than 4 KB a second.
            || cpu.saturating_mul(100) >= ms.saturating_mul(3)
            || moved.saturating_mul(1000) >= ms.saturating_mul(4096)
    }
}

/// A sample of the process tree of a start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sample {
    /// Number of processes, without a subreaper.
    pub(super) processes: usize,
    /// CPU time.
    pub(super) cpu_ms: u64,
    /// Bytes read and written.
    pub(super) moved_bytes: u64,
    /// Does one of them have, or open, a connection to another computer?
    pub(super) connected: bool,
}

/// Samples the tree below `root`; `ours` is the hub's program, to recognize a subreaper.
#[cfg(target_os = "linux")]
pub(super) fn look(root: u32, ours: &Path) -> Sample {
    linux::look(root, ours)
}

/// Samples the tree below `root`; `ours` is the hub's program, to recognize a subreaper.
#[cfg(not(target_os = "linux"))]
pub(super) fn look(root: u32, ours: &Path) -> Sample {
    use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};
    let Ok(mut system) = System::new() else { return Sample::default() };
    let wanted =
        ProcessRefreshKind::nothing().with_cpu().with_disk_usage().with_exe(UpdateKind::OnlyIfNotSet);
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, wanted);
    let mut sample = Sample::default();
    let mut open = vec![Pid::from_u32(root)];
    while let Some(pid) = open.pop() {
        let Some(process) = system.process(pid) else { continue };
        let below = system.processes().iter().filter(|(_, other)| other.parent() == Some(pid));
        open.extend(below.map(|(pid, _)| *pid));
        if !process.exe().is_some_and(|exe| satchel_reaper::is_program(exe, ours)) {
            let disk = process.disk_usage();
            sample.processes += 1;
            sample.cpu_ms += process.accumulated_cpu_time();
            sample.moved_bytes += disk.total_read_bytes + disk.total_written_bytes;
        }
    }
    sample
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        collections::{HashMap, HashSet},
        fs,
        path::Path,
    };

    use super::Sample;

    /// The length of a kernel clock tick; there are 100 a second on all supported Linux platforms.
    const TICK_MS: u64 = 10;

    pub(super) fn look(root: u32, ours: &Path) -> Sample {
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut cpu: HashMap<u32, u64> = HashMap::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            // It exited in the meantime.
            let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
            let Some((parent, ticks)) = read_stat(&stat) else { continue };
            children.entry(parent).or_default().push(pid);
            cpu.insert(pid, ticks * TICK_MS);
        }
        let mut sample = Sample::default();
        let mut open = vec![root];
        while let Some(pid) = open.pop() {
            open.extend(children.get(&pid).into_iter().flatten());
            let Some(cpu_ms) = cpu.get(&pid) else { continue };
            let place = Path::new("/proc").join(pid.to_string());
            if fs::read_link(place.join("exe")).is_ok_and(|exe| satchel_reaper::is_program(&exe, ours)) {
                continue;
            }
            sample.processes += 1;
            sample.cpu_ms += cpu_ms;
            sample.moved_bytes += fs::read_to_string(place.join("io")).map_or(0, |io| moved(&io));
            sample.connected = sample.connected || is_connected(&place);
        }
        sample
    }

    /// The parent, and the CPU time including that of waited-for children. The name before may contain anything.
    pub(super) fn read_stat(stat: &str) -> Option<(u32, u64)> {
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11..15)?.iter().filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
        Some((fields.get(1)?.parse().ok()?, ticks))
    }

    pub(super) fn moved(io: &str) -> u64 {
        let of = |name: &str| io.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        of("rchar:").unwrap_or(0) + of("wchar:").unwrap_or(0)
    }

    fn is_connected(place: &Path) -> bool {
        let sockets: HashSet<String> = fs::read_dir(place.join("fd"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|fd| {
                let link = fs::read_link(fd.path()).ok()?;
                Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
            })
            .collect();
        !sockets.is_empty()
            && ["net/tcp", "net/tcp6"].iter().any(|table| {
                fs::read_to_string(place.join(table)).is_ok_and(|table| open_in(&table, &sockets))
            })
    }

    /// Is one of these sockets connected or connecting (see the kernel's `proc_net_tcp.rst`)?
    pub(super) fn open_in(table: &str, sockets: &HashSet<String>) -> bool {
        table.lines().skip(1).any(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            matches!(fields.get(3), Some(&"01" | &"02"))
                && fields.get(9).is_some_and(|inode| sockets.contains(*inode))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_is_known_also_behind_a_shell() {
        let of = |words: &[&str]| {
            let args: Vec<String> = words[1..].iter().map(ToString::to_string).collect();
            Launcher::of(words[0], &args).map(|launcher| (launcher.alone, launcher.engine))
        };
        assert_eq!(of(&["npx", "-y", "x"]), Some((1, false)));
        assert_eq!(of(&["/usr/bin/uvx.exe", "x"]), Some((1, false)));
        assert_eq!(of(&["docker", "run", "-i", "x"]), Some((1, true)));
        assert_eq!(of(&["cmd", "/c", "npx", "-y", "x"]), Some((2, false)));
        assert_eq!(of(&["bash", "-lc", "exec uvx x"]), Some((2, false)));
        assert_eq!(of(&["node", "npx"]), None);
        assert_eq!(of(&["sh", "-c", "./server"]), None);
    }

    #[test]
    fn a_starting_server_that_works_is_told_from_an_idle_one() {
        let npx = Launcher { alone: 1, engine: false };
        let idle = Sample { processes: 1, cpu_ms: 500, moved_bytes: 10_000, connected: false };
        let second = Duration::from_secs(1);
        let on = |now: Sample, fetches| npx.gets_on(&idle, &now, second, fetches);
        assert!(!on(idle, false) && !on(idle, true));
        assert!(!on(Sample { cpu_ms: 510, moved_bytes: 10_100, ..idle }, false), "it idles");
        assert!(on(Sample { cpu_ms: 540, ..idle }, false), "it computes");
        assert!(on(Sample { moved_bytes: 20_000, ..idle }, false), "it reads or writes");
        assert!(on(Sample { processes: 2, ..idle }, false), "it started another");
        let connected = Sample { connected: true, ..idle };
        assert!(on(connected, true), "it waits for the network");
        assert!(!on(connected, false), "the server does, which has been started");
    }

    #[test]
    fn a_launcher_fetches_while_it_runs_alone_or_its_engine_says_so() {
        let npx = Launcher { alone: 1, engine: false };
        let fetching = Sample { processes: 1, cpu_ms: 1, moved_bytes: 1, connected: true };
        assert!(npx.fetches(&fetching, &[]));
        assert!(!npx.fetches(&Sample { processes: 3, ..fetching }, &[]), "the server runs");
        let docker = Launcher { alone: 1, engine: true };
        let wrote = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
        let fetches = |lines: &[&str]| docker.fetches(&fetching, &wrote(lines));
        assert!(!fetches(&[]));
        assert!(fetches(&["Unable to find image 'x:latest' locally"]));
        assert!(fetches(&["latest: Pulling from x", "1f3e46996e29: Pulling fs layer"]));
        assert!(!fetches(&[
            "latest: Pulling from x",
            "Status: Downloaded newer image for x:latest",
            "hello"
        ]));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_tables_of_the_kernel_are_read() {
        let stat = "12 (a) b (c) S 7 12 12 0 -1 4194304 100 0 0 0 30 4 5 6 20 0 1 0 100";
        assert_eq!(linux::read_stat(stat), Some((7, 45)));
        assert_eq!(linux::moved("rchar: 100\nwchar: 20\nsyscr: 9\n"), 120);
        let sockets = std::collections::HashSet::from(["555".to_owned()]);
        let table = |state: &str| {
            format!(
                "  sl  local_address rem_address   st\n   0: 0100007F:1 0200007F:2 {state} 0:0 0:0 0 0 0 555 1 0\n"
            )
        };
        assert!(linux::open_in(&table("01"), &sockets) && !linux::open_in(&table("0A"), &sockets));
        let busy = look(std::process::id(), Path::new("/nowhere"));
        assert!(busy.processes >= 1 && busy.moved_bytes > 0, "{busy:?}");
    }
}
