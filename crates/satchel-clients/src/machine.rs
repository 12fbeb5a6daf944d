//! The computer that clients are looked for on: its operating system, its variables, and the paths that follow from
//! them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use satchel_entry::template::{Template, Values};

use super::table::{PerOs, Signs};
use crate::platform::{Environment, Platform};

/// An operating system and a user's environment.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The environment, which includes the system.
    pub environment: Environment,
}

impl Machine {
    /// This computer, with some variables from another process.
    pub fn here(others: &BTreeMap<String, String>) -> Self {
        let mut environment = Environment::of_this_process();
        environment.extend(others.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        Self { environment }
    }

    /// The operating system.
    pub fn platform(&self) -> Platform {
        self.environment.platform()
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.environment.variable(name)
    }

    /// Expands variables: `${X}`, `${X:-default}`, where the default may contain variables. `None` if one without a
    /// default is not set.
    pub fn fill(&self, template: &str) -> Option<String> {
        let mut missing = BTreeSet::new();
        let filled = Template::parse(template).fill(self, &mut missing);
        missing.is_empty().then_some(filled)
    }

    /// The paths that match a template: one, or with `*` all that exist.
    pub fn paths(&self, template: &str) -> Vec<PathBuf> {
        let Some(path) = self.fill(template) else { return vec![] };
        if !path.contains('*') {
            return vec![PathBuf::from(path)];
        }
        let separator = if self.platform() == Platform::Windows { &['\\', '/'][..] } else { &['/'][..] };
        let mut found = vec![PathBuf::new()];
        for (index, part) in path.split(separator).enumerate() {
            found = match part.split_once('*') {
                // The root or a drive.
                None if index == 0 => vec![PathBuf::from(format!("{part}{}", std::path::MAIN_SEPARATOR))],
                None => found.into_iter().map(|base| base.join(part)).collect(),
                Some((start, end)) => found.iter().flat_map(|base| matching(base, start, end)).collect(),
            };
        }
        found.into_iter().filter(|path| path.exists()).collect()
    }

    /// All paths of a list, for this system.
    pub fn all_paths(&self, lists: &PerOs) -> Vec<PathBuf> {
        let own = match self.platform() {
            Platform::Linux => &lists.linux,
            Platform::MacOs => &lists.macos,
            Platform::Windows => &lists.windows,
        };
        lists.all.iter().chain(own).flat_map(|template| self.paths(template)).collect()
    }

    /// The first existing sign of a client.
    pub fn sign(&self, signs: &Signs) -> Option<PathBuf> {
        let own = match self.platform() {
            Platform::Linux => &signs.linux,
            Platform::MacOs => &signs.macos,
            Platform::Windows => &signs.windows,
        };
        let files = signs.all.iter().chain(own).flat_map(|template| self.paths(template));
        let extensions = signs.extension.iter().flat_map(|name| {
            ["HOME", "USERPROFILE"].iter().filter_map(|home| self.variable(home)).flat_map(move |home| {
                [".vscode", ".vscode-insiders", ".cursor", ".windsurf", ".vscode-oss"].iter().flat_map(
                    move |editor| {
                        let base = Path::new(&home).join(editor).join("extensions");
                        matching(&base, &format!("{}-", name.to_lowercase()), "")
                    },
                )
            })
        });
        let found = files.chain(extensions).find(|path| path.exists());
        found.or_else(|| signs.commands.iter().find_map(|command| self.program(command)))
    }

    /// Finds a program in PATH.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let (endings, path) = (self.environment.program_endings(), self.variable("PATH")?);
        std::env::split_paths(&path)
            .flat_map(|dir| endings.iter().map(move |ending| dir.join(format!("{name}{ending}"))))
            .find(|candidate| candidate.is_file())
    }
}

impl Values for Machine {
    fn variable(&self, name: &str) -> Option<String> {
        self.variable(name)
    }
    fn secret(&self, _name: &str) -> Option<String> {
        None
    }
}

fn matching(base: &Path, start: &str, end: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(base) else { return vec![] };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.len() >= start.len() + end.len()
                && name.to_lowercase().starts_with(&start.to_lowercase())
                && name.ends_with(end)
        })
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(platform: Platform, variables: &[(&str, &str)]) -> Machine {
        Machine { environment: Environment::new(platform, variables.iter().copied()) }
    }

    #[test]
    fn variables_and_their_defaults_make_a_path() {
        let linux = machine(Platform::Linux, &[("HOME", "/home/zoë"), ("EMPTY", "")]);
        let check = |template: &str, expected: Option<&str>| {
            assert_eq!(linux.fill(template).as_deref(), expected, "{template}");
        };
        check("${HOME}/x", Some("/home/zoë/x"));
        check("${XDG_CONFIG_HOME:-${HOME}/.config}/a", Some("/home/zoë/.config/a"));
        check("${A:-${B:-${HOME}/.cline}/data}/s.json", Some("/home/zoë/.cline/data/s.json"));
        check("${EMPTY:-x}${GONE:-}", Some("x"));
        check("${GONE}/a", None);
        let windows = machine(Platform::Windows, &[("USERPROFILE", "C:\\Users\\Z")]);
        assert_eq!(windows.fill("${APPDATA}\\Code").as_deref(), Some("C:\\Users\\Z\\AppData\\Roaming\\Code"));
        assert_eq!(windows.fill("${HOME}").as_deref(), Some("C:\\Users\\Z"));
    }

    #[test]
    fn a_star_matches_existing_directories() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["Claude_abc", "claude_x", "Other"] {
            std::fs::create_dir_all(dir.path().join(name).join("in")).unwrap();
        }
        let home = dir.path().to_str().unwrap();
        let found = machine(Platform::Linux, &[("HOME", home)]).paths("${HOME}/Claude_*/in");
        assert_eq!(found, [dir.path().join("Claude_abc/in"), dir.path().join("claude_x/in")]);
    }

    #[test]
    fn a_program_is_found_where_each_system_names_its_search_path() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["code.cmd", "code", "claude.exe"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let path = dir.path().to_str().unwrap();
        let check = |platform, variable, name: &str, expected: Option<&str>| {
            let found = machine(platform, &[(variable, path)]).program(name);
            assert_eq!(found, expected.map(|name| dir.path().join(name)), "{platform:?} {variable} {name}");
        };
        check(Platform::Windows, "Path", "code", Some("code.cmd"));
        check(Platform::Windows, "PATH", "claude", Some("claude.exe"));
        check(Platform::Linux, "PATH", "code", Some("code"));
        check(Platform::Linux, "Path", "code", None);
        check(Platform::Linux, "PATH", "claude", None);
    }
}
