//! The computer that clients are looked for on: its operating system, its variables, and the paths they make.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::table::{PerOs, Signs};

/// An operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Os {
    /// And everything like it.
    Linux,
    /// From Apple.
    Macos,
    /// From Microsoft.
    Windows,
}

impl Os {
    /// The one this program runs on.
    pub fn here() -> Self {
        if cfg!(windows) {
            Os::Windows
        } else if cfg!(target_os = "macos") {
            Os::Macos
        } else {
            Os::Linux
        }
    }
}

/// An operating system and the variables of its user.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Which system.
    pub os: Os,
    /// The environment.
    pub variables: BTreeMap<String, String>,
}

impl Machine {
    /// This computer, with some variables as somebody else sees them.
    pub fn here(others: &BTreeMap<String, String>) -> Self {
        let mut variables: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        variables.extend(others.iter().map(|(name, value)| (name.clone(), value.clone())));
        Self { os: Os::here(), variables }
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<String> {
        let set = |name: &str| self.variables.get(name).filter(|value| !value.is_empty()).cloned();
        let below_home = |path: &str| set("USERPROFILE").map(|home| format!("{home}{path}"));
        match (self.os, name) {
            (Os::Windows, "HOME" | "USERPROFILE") => set("USERPROFILE").or_else(|| set("HOME")),
            (Os::Windows, "APPDATA") => set(name).or_else(|| below_home("\\AppData\\Roaming")),
            (Os::Windows, "LOCALAPPDATA") => set(name).or_else(|| below_home("\\AppData\\Local")),
            _ => set(name),
        }
    }

    /// A text with its variables: `${X}`, `${X:-default}`, where the default may hold variables again. `None` where
    /// one without a default is not set.
    pub fn fill(&self, template: &str) -> Option<String> {
        let Some(start) = template.find("${") else { return Some(template.to_owned()) };
        let mut depth = 0;
        let length = template[start..].char_indices().find_map(|(offset, c)| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            (c == '}' && depth == 0).then_some(offset)
        })?;
        let inside = &template[start + 2..start + length];
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let value = match (self.variable(name), default) {
            (Some(value), _) => value,
            (None, Some(default)) => self.fill(default)?,
            (None, None) => return None,
        };
        let rest = self.fill(&template[start + length + 1..])?;
        Some(format!("{}{value}{rest}", &template[..start]))
    }

    /// The paths a template stands for: one, or with `*` every one that exists.
    pub fn paths(&self, template: &str) -> Vec<PathBuf> {
        let Some(path) = self.fill(template) else { return vec![] };
        if !path.contains('*') {
            return vec![PathBuf::from(path)];
        }
        let separator = if self.os == Os::Windows { &['\\', '/'][..] } else { &['/'][..] };
        let mut found = vec![PathBuf::new()];
        for (index, part) in path.split(separator).enumerate() {
            found = match part.split_once('*') {
                // The root, or a drive.
                None if index == 0 => vec![PathBuf::from(format!("{part}{}", std::path::MAIN_SEPARATOR))],
                None => found.into_iter().map(|base| base.join(part)).collect(),
                Some((start, end)) => found.iter().flat_map(|base| matching(base, start, end)).collect(),
            };
        }
        found.into_iter().filter(|path| path.exists()).collect()
    }

    /// All paths of a list, for this system.
    pub fn all_paths(&self, lists: &PerOs) -> Vec<PathBuf> {
        let own = match self.os {
            Os::Linux => &lists.linux,
            Os::Macos => &lists.macos,
            Os::Windows => &lists.windows,
        };
        lists.all.iter().chain(own).flat_map(|template| self.paths(template)).collect()
    }

    /// The first sign of a client that is there.
    pub fn sign(&self, signs: &Signs) -> Option<PathBuf> {
        let own = match self.os {
            Os::Linux => &signs.linux,
            Os::Macos => &signs.macos,
            Os::Windows => &signs.windows,
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

    /// A program in the search path.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let endings: &[&str] = if self.os == Os::Windows { &[".exe", ".cmd", ".bat"] } else { &[""] };
        let path = self.variable("PATH")?;
        std::env::split_paths(&path)
            .flat_map(|dir| endings.iter().map(move |ending| dir.join(format!("{name}{ending}"))))
            .find(|candidate| candidate.is_file())
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

    fn machine(os: Os, variables: &[(&str, &str)]) -> Machine {
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Machine { os, variables }
    }

    #[test]
    fn variables_and_their_defaults_make_a_path() {
        let linux = machine(Os::Linux, &[("HOME", "/home/zoë"), ("EMPTY", "")]);
        let check = |template: &str, expected: Option<&str>| {
            assert_eq!(linux.fill(template).as_deref(), expected, "{template}");
        };
        check("${HOME}/x", Some("/home/zoë/x"));
        check("${XDG_CONFIG_HOME:-${HOME}/.config}/a", Some("/home/zoë/.config/a"));
        check("${A:-${B:-${HOME}/.cline}/data}/s.json", Some("/home/zoë/.cline/data/s.json"));
        check("${EMPTY:-x}${GONE:-}", Some("x"));
        check("${GONE}/a", None);
        let windows = machine(Os::Windows, &[("USERPROFILE", "C:\\Users\\Z")]);
        assert_eq!(windows.fill("${APPDATA}\\Code").as_deref(), Some("C:\\Users\\Z\\AppData\\Roaming\\Code"));
        assert_eq!(windows.fill("${HOME}").as_deref(), Some("C:\\Users\\Z"));
    }

    #[test]
    fn a_star_stands_for_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["Claude_abc", "claude_x", "Other"] {
            std::fs::create_dir_all(dir.path().join(name).join("in")).unwrap();
        }
        let home = dir.path().to_str().unwrap();
        let found = machine(Os::Linux, &[("HOME", home)]).paths("${HOME}/Claude_*/in");
        assert_eq!(found, [dir.path().join("Claude_abc/in"), dir.path().join("claude_x/in")]);
    }
}
