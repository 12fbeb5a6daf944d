//! Identifies the process behind a request to the hub, and whether a server started it.
//!
//! Theory of operation: the hub is the reaper of everything that loses its parent below it ([`super::reaper`]), and the
//! subreaper beside each server ([`super::subreaper`]) of everything below that server. So on Linux whatever a server started
//! stays below the hub, wherever it moves to and whatever it takes out of its environment, also when it ends its subreaper.
//! Elsewhere a process that left its parent behind is known by the mark in its environment alone ([`super::watchdog`]).
//! A process is named by its id and the time of its start: an id is given to another process later.

use super::watchdog::MARK;
use crate::platform::Platform;

/// A process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    pid: u32,
    started: u64,
}

/// The process at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// A running process.
    Process(Process),
    /// It exited before it could be inspected.
    Gone,
    /// Unknown to the system: in another container, or on Windows.
    Unknown,
}

/// More ancestors than any process has.
const DEEPEST: usize = 1_000;

impl Caller {
    /// The process that opened a connection, by the system's report.
    pub fn of(pid: Option<i32>) -> Self {
        match pid.and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0) {
            None => Caller::Unknown,
            Some(pid) => Process::of(pid).map_or(Caller::Gone, Caller::Process),
        }
    }
}

impl Process {
    /// The process of this id, if it is running.
    pub fn of(pid: u32) -> Option<Self> {
        system::look_at(pid).filter(|seen| !seen.dead).map(|seen| Self { pid, started: seen.started })
    }

    /// This process.
    pub fn own() -> Option<Self> {
        Self::of(std::process::id())
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    fn lives(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }

    /// Was it started, directly or indirectly, by a server of Satchel? Every process below `hub` counts, and
    /// `is_server` knows the processes that this hub started as servers. `None` if it exited. Blocks.
    pub fn is_of_a_server(&self, hub: Option<u32>, is_server: impl Fn(u32) -> bool) -> Option<bool> {
        let lineage = self.lineage()?;
        let is_one = |pid: &u32| Some(*pid) == hub || is_server(*pid) || system::is_marked(*pid, MARK);
        let found = lineage.iter().any(is_one) || system::groups(self.pid).into_iter().any(&is_server);
        (found || self.lives()).then_some(found)
    }

    /// The process and its ancestors, nearest first.
    fn lineage(&self) -> Option<Vec<u32>> {
        lineage(self.pid, Platform::current(), system::look_at)
    }

    /// The file name of its program; empty if unknown. Blocks.
    pub fn name(&self) -> String {
        system::name(self.pid)
    }

    /// The nearest ancestor that is a different program, by name and id. Blocks.
    pub fn starter(&self) -> Option<(String, u32)> {
        let own = self.name();
        let lineage = self.lineage()?;
        let mut others = lineage.iter().skip(1).map(|pid| (system::name(*pid), *pid));
        others.find(|(name, _)| !name.is_empty() && *name != own)
    }

    /// Is it interactive: reads from a terminal, writes errors to it, and is in its foreground? Assumed on systems
    /// that do not tell. Blocks.
    pub fn is_at_a_terminal(&self) -> bool {
        system::is_at_a_terminal(self.pid) && self.lives()
    }
}

/// A process and its visible ancestors, nearest first; `None` if it exited.
fn lineage(pid: u32, platform: Platform, look_at: impl Fn(u32) -> Option<SeenProcess>) -> Option<Vec<u32>> {
    let mut lineage = vec![pid];
    let mut born = vec![];
    let mut gone = None;
    while lineage.len() < DEEPEST {
        let child = *lineage.last()?;
        let Some(seen) = look_at(child) else {
            if lineage.len() == 1 {
                return None;
            }
            // It exited during the walk. Its child has a new parent now, on systems that reassign it.
            gone = lineage.pop();
            born.pop();
            continue;
        };
        // Windows does not reassign parents, and may have reused the parent's id for a later process.
        let is_another =
            platform == Platform::Windows && born.last().is_some_and(|child| seen.started > *child);
        if is_another {
            lineage.pop();
            return Some(lineage);
        }
        let parent = seen.parent;
        if parent == 0 || gone == Some(parent) || lineage.contains(&parent) {
            return Some(lineage);
        }
        // Re-examine what was removed.
        born.truncate(lineage.len() - 1);
        born.push(seen.started);
        lineage.push(parent);
    }
    // Not possible.
    None
}

/// The relevant facts about a process.
#[derive(Clone, Copy)]
pub(super) struct SeenProcess {
    pub(super) parent: u32,
    /// In the system's own unit.
    pub(super) started: u64,
    pub(super) dead: bool,
}

#[cfg(target_os = "linux")]
pub(super) mod system {
    use std::{fs, io::Read, path::Path};

    use super::SeenProcess;

    /// Longer than any `/proc/PID/stat`.
    const STAT: usize = 1_024;

    /// The fields of `/proc/PID/stat` after the name, which is in parentheses and may contain anything.
    fn stat(pid: u32) -> Option<Vec<String>> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        Some(stat.rsplit_once(") ")?.1.split_whitespace().map(ToOwned::to_owned).collect())
    }

    pub(in crate::upstream) fn look_at(pid: u32) -> Option<SeenProcess> {
        // Read for every process of the computer, so without copies.
        let mut stat = [0; STAT];
        let length = fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut stat).ok()?;
        let stat = stat.get(..length)?;
        let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
        let fields = str::from_utf8(stat.get(name_ends + 2..)?).ok()?;
        let mut fields = fields.split_ascii_whitespace();
        Some(SeenProcess {
            dead: matches!(fields.next()?, "Z" | "X"),
            parent: fields.next()?.parse().ok()?,
            // The 19th of those that follow the parent's id.
            started: fields.nth(17)?.parse().ok()?,
        })
    }

    /// Its process group and session, whose leaders may have exited.
    pub(super) fn groups(pid: u32) -> Vec<u32> {
        stat(pid).iter().flat_map(|fields| fields.iter().skip(2).take(2)).flat_map(|id| id.parse()).collect()
    }

    /// Does its initial environment contain this variable?
    pub(in crate::upstream) fn is_marked(pid: u32, mark: &str) -> bool {
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
            environment.split(|byte| *byte == 0).any(|variable| {
                variable.strip_prefix(mark.as_bytes()).is_some_and(|rest| rest.starts_with(b"="))
            })
        })
    }

    pub(super) fn name(pid: u32) -> String {
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok();
        let name = program.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        let name = name.or_else(|| fs::read_to_string(format!("/proc/{pid}/comm")).ok());
        // The kernel's suffix for a program that was replaced while running.
        name.map(|name| name.trim().trim_end_matches(" (deleted)").to_owned()).unwrap_or_default()
    }

    pub(super) fn is_at_a_terminal(pid: u32) -> bool {
        let is_terminal = |descriptor: u32| {
            let open = fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).unwrap_or_default();
            open.starts_with("/dev/pts")
                || open.parent() == Some(Path::new("/dev"))
                    && open.file_name().is_some_and(|name| {
                        ["tty", "console", "hvc", "lxc"]
                            .iter()
                            .any(|kind| name.to_string_lossy().starts_with(kind))
                    })
        };
        stat(pid).is_some_and(|fields| {
            let field = |at: usize| fields.get(at).and_then(|field| field.parse::<i64>().ok());
            let (group, terminal, foreground) = (field(2), field(4), field(5));
            terminal.is_some_and(|terminal| terminal != 0) && group.is_some() && group == foreground
        }) && is_terminal(0)
            && is_terminal(2)
    }
}

/// Process information on other systems, which do not tell whether a process has a terminal.
#[cfg(not(target_os = "linux"))]
mod system {
    use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

    use super::SeenProcess;

    fn with<T>(pid: u32, wanted: ProcessRefreshKind, look: impl FnOnce(&sysinfo::Process) -> T) -> Option<T> {
        let mut system = System::new().ok()?;
        let pid = Pid::from_u32(pid);
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, wanted);
        system.process(pid).map(look)
    }

    pub(super) fn look_at(pid: u32) -> Option<SeenProcess> {
        with(pid, ProcessRefreshKind::nothing(), |process| SeenProcess {
            parent: process.parent().map_or(0, Pid::as_u32),
            started: process.start_time(),
            dead: matches!(process.status(), sysinfo::ProcessStatus::Zombie | sysinfo::ProcessStatus::Dead),
        })
    }

    pub(super) fn groups(_pid: u32) -> Vec<u32> {
        vec![]
    }

    pub(super) fn is_marked(pid: u32, mark: &str) -> bool {
        let wanted = ProcessRefreshKind::nothing().with_environ(UpdateKind::Always);
        let is_mark = |variable: &std::ffi::OsString| {
            variable.to_string_lossy().strip_prefix(mark).is_some_and(|rest| rest.starts_with('='))
        };
        with(pid, wanted, |process| process.environ().iter().any(is_mark)).unwrap_or_default()
    }

    pub(super) fn name(pid: u32) -> String {
        with(pid, ProcessRefreshKind::nothing(), |process| process.name().to_string_lossy().into_owned())
            .unwrap_or_default()
    }

    pub(super) fn is_at_a_terminal(_pid: u32) -> bool {
        true
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn start(command: &mut Command) -> (Child, Process) {
        let child = command.stdin(Stdio::null()).spawn().expect("it can be started");
        let process = Process::of(child.id()).expect("it runs");
        (child, process)
    }

    fn end(mut child: Child) {
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
    }

    #[test]
    fn only_processes_with_our_ancestor_or_mark_belong_to_a_server() {
        let nobody = |_: u32| false;
        let (child, plain) = start(Command::new("sleep").arg("60"));
        assert_eq!(plain.is_of_a_server(None, nobody), Some(false));
        assert_eq!(plain.is_of_a_server(Some(std::process::id()), nobody), Some(true), "an ancestor");
        assert_eq!(plain.is_of_a_server(None, |pid| pid == plain.pid()), Some(true), "itself");
        end(child);
        assert_eq!(plain.is_of_a_server(None, nobody), None, "it is gone, and nobody knows");
        let (child, marked) = start(Command::new("sleep").arg("60").env(MARK, "1.2.3"));
        let started = (0..10_000).any(|_| marked.is_of_a_server(None, nobody) == Some(true));
        assert!(started, "the mark");
        end(child);
        let other = format!("{MARK}S");
        let (child, unmarked) = start(Command::new("sleep").arg("60").env(other, "1.2.3").env_remove(MARK));
        assert_eq!(unmarked.is_of_a_server(None, nobody), Some(false), "another variable");
        end(child);
    }

    #[test]
    fn ancestors_are_followed_to_where_they_can_be_seen_and_no_longer() {
        let seen = |parent: u32, started: u64| SeenProcess { parent, started, dead: false };
        let check = |platform, processes: &[(u32, SeenProcess)], expected: Option<&[u32]>| {
            let looks = std::cell::Cell::new(0);
            let look_at = |pid: u32| {
                looks.set(looks.get() + 1);
                assert!(looks.get() < 100, "it goes round in circles");
                processes.iter().find(|(id, _)| *id == pid).map(|(_, seen)| *seen)
            };
            assert_eq!(lineage(9, platform, look_at).as_deref(), expected, "{platform:?}");
        };
        for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
            check(platform, &[(9, seen(5, 30)), (5, seen(1, 20)), (1, seen(0, 10))], Some(&[9, 5, 1]));
            // The parent of the Windows desktop has always exited, and other users' processes may be hidden.
            check(platform, &[(9, seen(5, 30)), (5, seen(4, 20))], Some(&[9, 5]));
            check(platform, &[(9, seen(5, 30))], Some(&[9]));
            check(platform, &[(9, seen(5, 30)), (5, seen(9, 20))], Some(&[9, 5]));
            check(platform, &[], None);
        }
        // The id of an exited parent, reused by a younger process.
        let reused = [(9, seen(5, 30)), (5, seen(7, 40)), (7, seen(0, 1))];
        check(Platform::Windows, &reused, Some(&[9]));
        check(Platform::Linux, &reused, Some(&[9, 5, 7]));
    }

    #[test]
    fn a_child_that_lost_its_parent_meanwhile_is_followed_to_the_next() {
        let looks = std::cell::Cell::new(0);
        let look_at = |pid: u32| {
            looks.set(looks.get() + 1);
            let parent = match (pid, looks.get()) {
                (9, 1) => 5,
                (9, _) => 1,
                (1, _) => 0,
                _ => return None,
            };
            Some(SeenProcess { parent, started: 0, dead: false })
        };
        assert_eq!(lineage(9, Platform::Linux, look_at), Some(vec![9, 1]));
    }

    #[test]
    fn an_id_that_another_process_has_by_now_is_not_the_one_that_asked() {
        let own = Process::own().unwrap();
        let before = Process { started: own.started - 1, ..own };
        assert!(own.lives() && !before.lives());
        assert_eq!(before.is_of_a_server(None, |_| false), None);
        assert!(!before.is_at_a_terminal());
    }

    #[test]
    fn a_caller_whom_the_system_does_not_name_is_unknown() {
        assert_eq!([None, Some(0), Some(-1)].map(Caller::of), [Caller::Unknown; 3]);
        assert!(matches!(Caller::of(i32::try_from(std::process::id()).ok()), Caller::Process(_)));
        assert_eq!(Caller::of(Some(i32::MAX)), Caller::Gone);
    }

    #[test]
    fn a_process_without_a_terminal_has_none() {
        let (child, process) = start(Command::new("sleep").arg("60"));
        assert!(!process.is_at_a_terminal());
        assert_eq!(process.starter().map(|(_, pid)| pid), Some(std::process::id()));
        end(child);
    }
}
