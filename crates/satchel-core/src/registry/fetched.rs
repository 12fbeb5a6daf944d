//! Which version of a package a launcher fetched last, by the files that it keeps. Nothing is started and nobody is asked.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::pinning;
use crate::{files, model::TransportConfig};

/// No description of a package is as large.
const LARGEST: u64 = 4 * 1024 * 1024;

/// The versions of what this entry runs that its launcher has here; empty where it keeps none that we can read.
pub fn versions(transport: &TransportConfig, variable: impl Fn(&str) -> Option<String>) -> BTreeSet<String> {
    let TransportConfig::Stdio { command, env, .. } = transport else { return BTreeSet::new() };
    let Some(package) = pinning::floating(transport) else { return BTreeSet::new() };
    let variable =
        |name: &str| env.get(name).cloned().or_else(|| variable(name)).filter(|text| !text.is_empty());
    match pinning::launcher(command) {
        "npx" | "npm" => npm(&npm_cache(&variable), &package),
        "uvx" | "uv" => uv(&uv_cache(&variable), &package),
        _ => BTreeSet::new(),
    }
}

fn home(variable: &impl Fn(&str) -> Option<String>) -> PathBuf {
    variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from).unwrap_or_default()
}

fn npm_cache(variable: &impl Fn(&str) -> Option<String>) -> PathBuf {
    let set = variable("npm_config_cache").or_else(|| variable("NPM_CONFIG_CACHE")).map(PathBuf::from);
    let usual = || match variable("LOCALAPPDATA") {
        Some(local) if cfg!(windows) => Path::new(&local).join("npm-cache"),
        _ => home(variable).join(".npm"),
    };
    set.unwrap_or_else(usual)
}

fn uv_cache(variable: &impl Fn(&str) -> Option<String>) -> PathBuf {
    let set = variable("UV_CACHE_DIR").map(PathBuf::from);
    let usual = || match (variable("LOCALAPPDATA"), variable("XDG_CACHE_HOME")) {
        (Some(local), _) if cfg!(windows) => Path::new(&local).join("uv").join("cache"),
        (_, Some(cache)) => Path::new(&cache).join("uv"),
        _ => home(variable).join(".cache").join("uv"),
    };
    set.unwrap_or_else(usual)
}

fn below(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// `_npx` has a directory for each thing that was asked for, which says what that was.
fn npm(cache: &Path, package: &str) -> BTreeSet<String> {
    let json = |path: &Path| -> Option<Value> {
        serde_json::from_slice(&files::read_plain(path, LARGEST).ok()?).ok()
    };
    let version = |directory: PathBuf| {
        let about = json(&directory.join("package.json"))?;
        let asked_for = about["_npx"]["packages"].as_array()?;
        if !asked_for.iter().any(|one| one == package) {
            return None;
        }
        let (name, _) = pinning::name_and_rest(package);
        let installed = json(&directory.join("node_modules").join(name).join("package.json"))?;
        installed["version"].as_str().filter(|version| pinning::is_exact(version)).map(ToOwned::to_owned)
    };
    below(&cache.join("_npx")).filter_map(version).collect()
}

/// Every wheel is unpacked to a directory of its own, with one whose name says what it is.
fn uv(cache: &Path, package: &str) -> BTreeSet<String> {
    let plain = |name: &str| name.to_ascii_lowercase().replace(['-', '.'], "_");
    let (name, _) = pinning::name_and_rest(package);
    let wanted = plain(name.split('[').next().unwrap_or(name));
    let version = |path: PathBuf| {
        let file = path.file_name()?.to_str()?.strip_suffix(".dist-info")?.to_owned();
        let (name, version) = file.split_once('-')?;
        (plain(name) == wanted && pinning::is_exact(version)).then(|| version.to_owned())
    };
    below(&cache.join("archive-v0")).flat_map(|wheel| below(&wheel)).filter_map(version).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetched(home: &Path, line: &str) -> Vec<String> {
        let mut words = line.split(' ').map(ToOwned::to_owned);
        let command = words.next().unwrap();
        let transport =
            TransportConfig::Stdio { command, args: words.collect(), env: Default::default(), cwd: None };
        let variable = |name: &str| (name == "HOME").then(|| home.display().to_string());
        versions(&transport, variable).into_iter().collect()
    }

    #[test]
    #[cfg(not(windows))]
    fn what_launchers_keep_says_which_version_they_fetched() {
        let home = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for (at, asked, version) in [("a", "@s/server", "1.2.3"), ("b", "@s/server@next", "2.0.0-rc.1")] {
            write(
                &format!(".npm/_npx/{at}/package.json"),
                &format!(r#"{{"_npx":{{"packages":["{asked}"]}}}}"#),
            );
            let installed = format!(".npm/_npx/{at}/node_modules/@s/server/package.json");
            write(&installed, &format!(r#"{{"version":"{version}"}}"#));
        }
        write(".npm/_npx/c/package.json", "no JSON");
        for wheel in ["1/Mcp_Server.Git-2026.1.14", "2/other-1.0.0", "3/many-1.0.0", "4/many-1.1.0"] {
            write(&format!(".cache/uv/archive-v0/{wheel}.dist-info/METADATA"), "");
        }
        for (line, expected) in [
            ("npx -y @s/server", &["1.2.3"][..]),
            ("npx -y @s/server@next", &["2.0.0-rc.1"]),
            ("npx -y @s/server@1.2.3", &[]),
            ("npx -y @s/unknown", &[]),
            ("uvx mcp-server-git", &["2026.1.14"]),
            ("uvx --from mcp_server_git[x]>=1 tool", &["2026.1.14"]),
            ("uvx many", &["1.0.0", "1.1.0"]),
            ("docker run mcp/fetch", &[]),
        ] {
            assert_eq!(fetched(home.path(), line), expected, "{line}");
        }
    }
}
