//! The watchdog: tracks process groups and containers that begin and end, and ends those that remain when the hub is gone.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::BufRead,
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::processes::{kill_below, kill_group, kill_marked};

/// The environment variable that tells the watchdog which processes to end.
pub const RUN: &str = "SATCHEL_RUN";

/// What lines about containers begin with.
const CONTAINER_BEGINS: &str = "container ";
const CONTAINER_GONE: &str = "gone ";

/// How long an engine may take to end containers.
const PATIENCE: Duration = Duration::from_secs(20);

/// A container, which goes on when the client that started it has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orphan {
    /// Its name; where it has one of its own, a word of Satchel for it.
    pub name: String,
    /// The file that its client writes its number to, where it has a name of its own: another container may have that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cidfile: Option<PathBuf>,
    /// The program that ends it.
    pub engine: PathBuf,
    /// The program's options, for example the address of the engine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// That program's environment, in which there is nothing of a server.
    pub env: BTreeMap<String, String>,
}

impl Orphan {
    /// The engine's arguments that end it, one list after the other: at once, and without leaving anything behind. None
    /// where it never began.
    pub fn endings(&self) -> Vec<Vec<String>> {
        let Some(called) = self.called() else { return vec![] };
        let words = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned());
            self.options.iter().cloned().chain(words).chain([called.clone()]).collect()
        };
        // The second alone would give it ten seconds first.
        vec![words(&["kill"]), words(&["rm", "--force"])]
    }

    /// Its name, or its number.
    fn called(&self) -> Option<String> {
        let Some(file) = &self.cidfile else { return Some(self.name.clone()) };
        let number = std::fs::read_to_string(file).ok()?;
        let number = number.trim();
        (!number.is_empty() && number.chars().all(|c| c.is_ascii_alphanumeric())).then(|| number.to_owned())
    }

    /// Removes the file with its number.
    pub fn forget(&self) {
        if let Some(file) = &self.cidfile {
            let _ = std::fs::remove_file(file);
        }
    }

    /// What tells a watchdog that it begins.
    ///
    /// # Errors
    /// Where it cannot be written as JSON.
    pub fn begins(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|json| format!("{CONTAINER_BEGINS}{json}\n"))
    }

    /// What tells a watchdog that it is gone.
    pub fn gone(&self) -> String {
        format!("{CONTAINER_GONE}{}\n", self.name)
    }
}

/// Main function of `<program> watchdog`.
pub fn main() -> ExitCode {
    let run = std::env::var(RUN).unwrap_or_default();
    let mut groups = BTreeSet::new();
    let mut containers = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if let Some(orphan) = line.strip_prefix(CONTAINER_BEGINS) {
            if let Ok(orphan) = serde_json::from_str::<Orphan>(orphan) {
                containers.insert(orphan.name.clone(), orphan);
            }
            continue;
        }
        if let Some(name) = line.strip_prefix(CONTAINER_GONE) {
            containers.remove(name);
            continue;
        }
        match (line.get(..1), line.get(1..).and_then(|group| group.parse::<u32>().ok())) {
            (Some("+"), Some(group)) => {
                groups.insert(group);
            }
            (Some("-"), Some(group)) => {
                groups.remove(&group);
            }
            _ => {}
        }
    }
    for group in groups {
        kill_below(group, None);
        kill_group(group);
    }
    // An empty run would match every mark.
    if !run.is_empty() {
        kill_marked(&format!("{run}."));
    }
    end_containers(containers.values());
    ExitCode::SUCCESS
}

/// All of them at the same time; what their engines say interests nobody any more.
#[expect(clippy::disallowed_methods, reason = "a small program without a runtime, whose clock nobody pauses")]
fn end_containers<'a>(orphans: impl Iterator<Item = &'a Orphan> + Clone) {
    for step in 0..2 {
        let start = |orphan: &Orphan| {
            let mut command = Command::new(&orphan.engine);
            command.args(orphan.endings().get(step)?).env_clear().envs(&orphan.env);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
        };
        let mut ending: Vec<_> = orphans.clone().filter_map(start).collect();
        let until = Instant::now() + PATIENCE;
        while !ending.is_empty() && Instant::now() < until {
            ending.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
            std::thread::sleep(Duration::from_millis(20));
        }
        for mut child in ending {
            let _ = child.kill();
        }
    }
    orphans.for_each(Orphan::forget);
}
