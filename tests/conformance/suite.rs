//! Runs the suite's own program and reads what it wrote down.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use satchel_tests::{Home, repository, target_directory};
use serde::Deserialize;
use tokio::process::Command;

/// One run takes seconds; with an unresponsive hub every scenario waits.
const LIMIT: Duration = Duration::from_secs(600);

/// The argument that makes this program the suite's client.
pub(crate) const DRIVER: &str = "client";
/// Not in the suite's frozen list, but relevant to the hub.
const MORE: &str = "json-schema-2020-12-preservation";

/// A version of the suite, and its scenarios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Generation {
    /// The active scenarios of 0.1.16.
    Stable,
    /// The scenarios that the newer suite requires for a revision.
    Dated(&'static str),
}

/// A suite that can be run.
pub(crate) struct Suite<'home> {
    pub(crate) home: &'home Home,
    pub(crate) generation: Generation,
    /// Its directory in the home.
    pub(crate) place: String,
}

/// A scenario's checks: each with its name, and the message of a failure. A name may occur more than once.
pub(crate) type Checks = Vec<(String, Result<(), String>)>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    id: String,
    status: String,
    error_message: Option<String>,
}

impl Generation {
    fn package(self) -> &'static str {
        match self {
            Self::Stable => "conformance-stable",
            Self::Dated(_) => "conformance",
        }
    }

    fn selection(self) -> [&'static str; 2] {
        match self {
            Self::Stable => ["--suite", "active"],
            Self::Dated(revision) => ["--requirements", revision],
        }
    }

    /// The required scenarios for a `server` or a `client`, if the suite lists them; a revision does not require
    /// others.
    pub(crate) fn required(self, side: &str) -> Option<Vec<String>> {
        let Self::Dated(revision) = self else { return None };
        let file = installed(&format!("node_modules/conformance/requirements/{revision}.yaml"));
        let text = fs::read_to_string(file).expect("the suite's requirements can be read");
        let server = text.lines().skip_while(|line| *line != format!("{side}:")).skip(1);
        let names = server.take_while(|line| line.starts_with([' ', '#']));
        Some(names.filter_map(|line| line.trim().strip_prefix("- ")).map(str::to_owned).collect())
    }
}

impl Suite<'_> {
    /// Runs the suite against an address; returns the checks by scenario.
    pub(crate) async fn run(&self, url: &str) -> BTreeMap<String, Checks> {
        let results = self.home.file(&self.place);
        let _ = fs::remove_dir_all(&results);
        let mut command = self.command();
        command
            .args(["server", "--url", url])
            .args(self.generation.selection())
            .arg("-o")
            .arg(&results)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let ended = tokio::time::timeout(LIMIT, command.status()).await;
        // It exits with 1 after a failure; its files have the details.
        ended.unwrap_or_else(|_| panic!("the suite is not done after {LIMIT:?}")).expect("it can be started");
        let runs = fs::read_dir(&results).expect("the suite wrote its results").flatten();
        let read = runs.map(|run| (scenario(&run.path()), checks(&run.path())));
        let scenarios: BTreeMap<_, _> = read.collect();
        assert!(scenarios.len() > 20, "the suite ran: {scenarios:?}");
        scenarios
    }
}

impl Suite<'_> {
    fn command(&self) -> Command {
        let mut command = self.home.command(node());
        command.arg("--import").arg(repository().join("tests/conformance/patience.mjs"));
        command.arg(installed(&format!("node_modules/{}/dist/index.js", self.generation.package())));
        command
    }

    /// Runs the suite as the server, one scenario after another; returns the checks by scenario.
    pub(crate) async fn run_clients(&self, not_asked: impl Fn(&str) -> bool) -> BTreeMap<String, Checks> {
        let Generation::Dated(revision) = self.generation else { return BTreeMap::new() };
        let own = std::env::current_exe().expect("a running program has a path");
        let mut scenarios = self.generation.required("client").unwrap_or_default();
        scenarios.push(MORE.to_owned());
        scenarios.retain(|scenario| !not_asked(scenario));
        let mut outcomes = BTreeMap::new();
        for scenario in scenarios {
            let results = self.home.file(&self.place).join(&scenario);
            let mut command = self.command();
            command
                .args(["client", "--command", &format!("{} {DRIVER}", own.display())])
                .args(["--scenario", &scenario, "--spec-version", revision, "--timeout", "120000", "-o"])
                .arg(&results)
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            let ended = tokio::time::timeout(LIMIT, command.status()).await;
            ended
                .unwrap_or_else(|_| panic!("{scenario} is not done after {LIMIT:?}"))
                .expect("it can be started");
            let run = fs::read_dir(&results).expect("the suite wrote its results").flatten().next();
            let run = run.unwrap_or_else(|| panic!("{scenario} has no results"));
            outcomes.insert(scenario, checks(&run.path()));
        }
        outcomes
    }
}

/// The name in `server-NAME-2026-11-21T13-27-58-610Z`.
fn scenario(run: &Path) -> String {
    let name = run.file_name().expect("a directory has a name").to_string_lossy();
    let name = name.strip_prefix("server-").unwrap_or(&name);
    name[..name.len() - "-2026-11-21T13-27-58-610Z".len()].to_owned()
}

fn checks(run: &Path) -> Checks {
    let text = fs::read_to_string(run.join("checks.json")).expect("a scenario writes its checks");
    let written: Vec<Written> = serde_json::from_str(&text).expect("checks are JSON");
    let counted = written.into_iter().filter_map(|check| match check.status.as_str() {
        "SUCCESS" => Some((check.id, Ok(()))),
        "FAILURE" => Some((check.id, Err(check.error_message.unwrap_or_default()))),
        // INFO, SKIPPED, WARNING: the suite does not count them.
        _ => None,
    });
    counted.collect()
}

fn installed(name: &str) -> PathBuf {
    let path = target_directory().join("conformance").join(name);
    assert!(path.exists(), "{} is not installed: run `make conformance`", path.display());
    path
}

/// The Node the suite needs: the pinned one if it exists for this computer.
fn node() -> PathBuf {
    let pinned = ["x64", "arm64"].map(|cpu| format!("conformance/node_modules/node-linux-{cpu}/bin/node"));
    let mut pinned = pinned.iter().map(|path| target_directory().join(path));
    pinned.find(|path| path.exists()).unwrap_or_else(|| "node".into())
}
