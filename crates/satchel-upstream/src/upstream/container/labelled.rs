//! Containers that a server's own entry starts: `docker run …`, alone or behind `env`, `sh -c` and the like. Each is given a
//! name of Satchel's, or a file for its number where the entry names it, so that it can be ended; and a label, by which the next
//! run of the hub finds it. Starts nothing.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use satchel_entry::launcher::{
    containers::{ContainerRun, with_options},
    program_name,
};
use satchel_reaper::watchdog::Orphan;
use sha2::{Digest, Sha256};

use super::{OF_ENGINES, RUN, name_of};
use crate::{model::shell, platform::Environment, upstream::environment};

/// The label that has a word for the hub's data directory, which is safe in any shell.
const DATA: &str = "satchel.data";

/// What the containers of one start depend on.
#[derive(Debug)]
pub(in crate::upstream) struct EntryContainers<'a> {
    /// The mark of the start.
    pub(in crate::upstream) mark: &'a str,
    /// The hub's data directory.
    pub(in crate::upstream) data: &'a Path,
    /// The environment of the engine's client.
    pub(in crate::upstream) client: BTreeMap<String, String>,
    /// The number of an instance that not all callers share: its container cannot have the name that the first one has.
    pub(in crate::upstream) instance: Option<u64>,
}

impl EntryContainers<'_> {
    /// The label of every container of this home.
    pub(in crate::upstream) fn label_of_home(&self) -> String {
        let digest = Sha256::digest(self.data.to_string_lossy().as_bytes());
        let word: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        format!("{DATA}={word}")
    }

    /// The arguments in which each container can be found again, and how each is ended. `locate` finds an engine's client.
    pub(in crate::upstream) fn named(
        &self,
        program: &Path,
        args: &[String],
        locate: impl Fn(&str) -> Option<PathBuf>,
    ) -> (Vec<String>, Vec<Orphan>) {
        let mut orphans: Vec<Orphan> = Vec::new();
        let command = program.to_string_lossy();
        let args = &self.under_own_name(&command, args);
        let args = with_options(&command, args, |run| {
            let is_itself = !run.in_line && program_name(&run.engine) == program_name(&command);
            let engine = if is_itself { Some(program.to_owned()) } else { locate(&run.engine) };
            let Some(engine) = engine else { return vec![] };
            let (orphan, words) = self.of_one(run, engine, orphans.len());
            orphans.push(orphan);
            words
        });
        (args, orphans)
    }

    /// With the instance's number behind the name that the entry gives its container.
    fn under_own_name(&self, command: &str, args: &[String]) -> Vec<String> {
        let mut has_one = false;
        with_options(command, args, |run| {
            has_one |= run.name.is_some() && !run.in_line;
            vec![]
        });
        let Some(number) = self.instance.filter(|_| has_one) else { return args.to_vec() };
        let mut follows = false;
        let own = |arg: &String| {
            let is_name = std::mem::replace(&mut follows, arg == "--name");
            match is_name || arg.starts_with("--name=") {
                true => format!("{arg}-{number}"),
                false => arg.clone(),
            }
        };
        args.iter().map(own).collect()
    }

    fn of_one(&self, run: &ContainerRun, engine: PathBuf, number: usize) -> (Orphan, Vec<String>) {
        let name = match number {
            0 => name_of(self.mark),
            more => format!("{}-{}", name_of(self.mark), more + 1),
        };
        let run_of_hub = self.mark.split('.').next().unwrap_or_default();
        let mut words =
            vec![format!("--label={RUN}={run_of_hub}"), format!("--label={}", self.label_of_home())];
        // A container of another program may have the name of the entry, so that this one is ended by its number.
        let cidfile = match (&run.name, &run.cidfile) {
            (None, _) => {
                words.push(format!("--name={name}"));
                None
            }
            (Some(_), Some(file)) => Some(PathBuf::from(file)),
            (Some(_), None) => {
                let file = self.data.join(format!("{name}.cid"));
                let text = format!("--cidfile={}", file.display());
                words.push(if run.in_line { shell::word(&text).into_owned() } else { text });
                Some(file)
            }
        };
        let options = run.before.clone();
        (Orphan { name, cidfile, engine, options, env: self.client.clone() }, words)
    }
}

/// What an engine's client goes by, of the environment of a server that starts it.
pub(in crate::upstream) fn client_of(env: &Environment, ours: &Environment) -> BTreeMap<String, String> {
    let passed = environment::passed_on(ours);
    let is_of_engines = |name: &str| OF_ENGINES.iter().any(|prefix| name.starts_with(prefix));
    let fits = |name: &str| name == "PATH" || is_of_engines(name) || passed.get(name).is_some();
    env.iter()
        .filter(|(name, _)| fits(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(program: &str, args: &[&str]) -> (String, Vec<Orphan>) {
        let data = Path::new("/home/x/My Data");
        let entry = EntryContainers { mark: "run1.2.3", data, client: BTreeMap::new(), instance: None };
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let (args, orphans) =
            entry.named(Path::new(program), &args, |engine| Some(Path::new("/bin").join(engine)));
        (args.join(" ").replace(&entry.label_of_home(), "HOME"), orphans)
    }

    #[test]
    fn a_container_is_named_so_that_it_can_be_ended() {
        let (line, orphans) = named("/opt/docker", &["--context", "x", "run", "-i", "img"]);
        assert_eq!(line, "--context x run --label=satchel=run1 --label=HOME --name=satchel-run1.2.3 -i img");
        assert_eq!(orphans[0].engine, Path::new("/opt/docker"));
        assert_eq!(
            orphans[0].endings(),
            [
                vec!["--context", "x", "kill", "satchel-run1.2.3"],
                vec!["--context", "x", "rm", "--force", "satchel-run1.2.3"]
            ]
        );
        let (line, orphans) = named("/bin/sh", &["-c", "docker run a & exec podman run b"]);
        assert_eq!(
            line,
            "-c docker run --label=satchel=run1 --label=HOME --name=satchel-run1.2.3-2 a & exec podman run --label=satchel=run1 \
             --label=HOME --name=satchel-run1.2.3 b"
        );
        let engines: Vec<&Path> = orphans.iter().map(|orphan| orphan.engine.as_path()).collect();
        assert_eq!(engines, [Path::new("/bin/podman"), Path::new("/bin/docker")]);
        assert_eq!(named("/bin/npx", &["-y", "x"]), ("-y x".to_owned(), vec![]));
    }

    #[test]
    fn each_instance_has_a_container_with_a_name_of_its_own() {
        let data = Path::new("/home/x");
        let entry = EntryContainers { mark: "run1.2.3", data, client: BTreeMap::new(), instance: Some(4) };
        for (args, expected) in [
            (&["run", "--name", "notes", "img"][..], &["--name", "notes-4", "img"][..]),
            (&["run", "--name=notes", "img"], &["--name=notes-4", "img"]),
        ] {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            let (args, _) = entry.named(Path::new("/bin/docker"), &args, |_| None);
            assert!(
                args.ends_with(&expected.iter().map(ToString::to_string).collect::<Vec<_>>()),
                "{args:?}"
            );
        }
    }

    #[test]
    fn one_with_a_name_of_its_own_is_ended_by_its_number_alone() {
        let (line, orphans) = named("/bin/docker", &["run", "--name", "notes", "img"]);
        let file = "/home/x/My Data/satchel-run1.2.3.cid";
        assert_eq!(line, format!("run --label=satchel=run1 --label=HOME --cidfile={file} --name notes img"));
        assert_eq!(orphans[0].cidfile.as_deref(), Some(Path::new(file)));
        assert!(orphans[0].endings().is_empty(), "there is none yet");
        let (line, _) = named("/bin/sh", &["-c", "docker run --name notes img"]);
        assert!(line.contains(&format!("'--cidfile={file}'")), "{line}");
    }
}
