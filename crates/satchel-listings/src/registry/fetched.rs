//! Finds the packages that launchers fetched last, and the checksums they recorded, in the launchers' own caches.
//! Starts nothing and contacts nobody. A checksum says what was delivered, not that the files on disk are unchanged.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use satchel_entry::launcher::{Launch, Launcher, Package};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::pinning;
use crate::{files, model::TransportConfig};

/// Maximum size of a package's metadata file.
const LARGEST: u64 = 16 * 1024 * 1024;
/// Maximum number of directories examined and of packages per entry.
const MOST: usize = 20_000;
/// Maximum length of names, versions and digests.
const LONGEST: usize = 256;

/// A package in a launcher's cache.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fetched {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Distinguishes builds of one version for different systems; empty for a universal one.
    pub build: String,
    /// Its recorded digest: `sha512-…` by npm; for a wheel, `sha256:…` of its list of files with their digests. `None`
    /// if nothing is recorded, or it was built locally, which is not reproducible.
    pub digest: Option<String>,
    /// Requested by the entry itself; others are dependencies.
    pub asked_for: bool,
}

/// Does its launcher have a cache that Satchel can read?
pub fn is_kept(transport: &TransportConfig) -> bool {
    let TransportConfig::Stdio { command, args, .. } = transport else { return false };
    let launch = Launch::of(command, args);
    matches!(launch.launcher, Some(Launcher::Npx | Launcher::Uvx)) && launch.package().is_some()
}

/// The cached packages of this entry, including dependencies; empty if there is no readable cache. `variable` is the
/// environment of the server's process without the entry's own variables.
pub fn packages(transport: &TransportConfig, variable: impl Fn(&str) -> Option<String>) -> Vec<Fetched> {
    let TransportConfig::Stdio { command, args, env, .. } = transport else { return Vec::new() };
    let launch = Launch::of(command, args);
    let variable =
        |name: &str| env.get(name).cloned().or_else(|| variable(name)).filter(|text| !text.is_empty());
    let mut fetched = match (launch.launcher, launch.package()) {
        (Some(Launcher::Npx), Some(_)) => npm(&npm_cache(&variable), launch.packages()),
        (Some(Launcher::Uvx), Some(package)) => uv(&uv_cache(&variable), package),
        _ => Vec::new(),
    };
    fetched.retain(|one| one.name.len() + one.version.len() + one.build.len() <= LONGEST);
    fetched.sort();
    fetched.dedup();
    fetched
}

/// The cached versions of what this entry runs, if it names none exactly.
pub fn versions(transport: &TransportConfig, fetched: &[Fetched]) -> BTreeSet<String> {
    let Some(package) = pinning::floating(transport) else { return BTreeSet::new() };
    let meant =
        |one: &&Fetched| one.asked_for && is_called(&package, &one.name) && pinning::is_exact(&one.version);
    fetched.iter().filter(meant).map(|one| one.version.clone()).collect()
}

/// The package of an entry as written, and its exact version, if named. `None` if nothing is fetched.
pub fn asked_for(transport: &TransportConfig) -> Option<(String, Option<String>)> {
    let package = pinning::packages(transport).into_iter().next()?;
    let version = package.version().map(ToOwned::to_owned);
    Some((package.text, version))
}

/// Is this the launcher's name for the package of an entry?
pub fn is_called(package: &str, name: &str) -> bool {
    let end = |(at, c): &(usize, char)| *at > 0 && "@=<>!~ ;^[".contains(*c);
    let end = package.char_indices().find(end).map_or(package.len(), |(at, _)| at);
    plain(&package[..end]) == plain(name)
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

/// Excludes relative directories, which would mean a different place for every server.
fn below(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let read = directory.is_absolute().then(|| fs::read_dir(directory));
    read.into_iter().flatten().flatten().flatten().take(MOST).map(|entry| entry.path())
}

/// A package's name without version and extras.
fn bare(package: &Package) -> &str {
    let name = package.name();
    name.split('[').next().unwrap_or(name)
}

/// `_npx` has a directory for each request, which names the request and lists everything installed.
fn npm(cache: &Path, asked_for: &[Package]) -> Vec<Fetched> {
    let json = |path: PathBuf| -> Option<Value> {
        serde_json::from_slice(&files::read_plain(&path, LARGEST).ok()?).ok()
    };
    let wanted: BTreeSet<&str> = asked_for.iter().map(|package| package.text.as_str()).collect();
    let names: BTreeSet<&str> = asked_for.iter().map(bare).collect();
    let all = |directory: PathBuf| {
        let about = json(directory.join("package.json"))?;
        let noted: BTreeSet<&str> =
            about["_npx"]["packages"].as_array()?.iter().filter_map(Value::as_str).collect();
        if noted != wanted {
            return None;
        }
        let list = json(directory.join("node_modules").join(".package-lock.json"))?;
        let packages = list["packages"].as_object()?.iter().take(MOST);
        Some(packages.filter_map(|(place, about)| node_package(place, about, &names)).collect::<Vec<_>>())
    };
    below(&cache.join("_npx")).filter_map(all).flatten().collect()
}

/// `place` is its location: `node_modules/a`, or nested if versions conflict.
fn node_package(place: &str, about: &Value, names: &BTreeSet<&str>) -> Option<Fetched> {
    let (above, last) = place.rsplit_once("node_modules/")?;
    let text = |key: &str| about[key].as_str();
    // A package from a repository is packed locally, which is not reproducible.
    let packed_here = text("resolved").is_some_and(|from| from.starts_with("git"));
    let digests = text("integrity").filter(|_| !packed_here).unwrap_or_default();
    let strongest = ["sha512-", "sha384-", "sha256-", "sha1-"].iter().find_map(|kind| {
        digests.split_ascii_whitespace().find(|digest| digest.starts_with(kind) && digest.len() <= LONGEST)
    });
    Some(Fetched {
        name: text("name").unwrap_or(last).to_owned(),
        version: text("version")?.to_owned(),
        build: String::new(),
        digest: strongest.map(ToOwned::to_owned),
        asked_for: above.is_empty() && names.contains(last),
    })
}

/// A name in the normalized form of wheels.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace(['-', '.'], "_")
}

/// A package's name and version.
type Release = (String, String);

/// Every wheel is unpacked to a directory of its own, with a metadata directory that names it; an environment is
/// another such directory, with everything that runs together.
fn uv(cache: &Path, package: &Package) -> Vec<Fetched> {
    let name = plain(bare(package));
    let exact = package.version();
    let asked_for = |(other, version): &Release| *other == name && exact.is_none_or(|exact| exact == version);
    let mut wheels: BTreeMap<Release, Vec<PathBuf>> = BTreeMap::new();
    let mut wanted: BTreeSet<Release> = BTreeSet::new();
    for archive in below(&cache.join("archive-v0")) {
        for (release, about) in releases(&archive) {
            wanted.extend(asked_for(&release).then(|| release.clone()));
            wheels.entry(release).or_default().push(about);
        }
        let lib = below(&archive.join("lib")).map(|python| python.join("site-packages"));
        for packages in lib.chain([archive.join("Lib").join("site-packages")]) {
            // A package from a URL is not a release of an index.
            let of_index = |(_, about): &(Release, PathBuf)| !about.join("direct_url.json").exists();
            let together: Vec<Release> =
                releases(&packages).filter(of_index).map(|(release, _)| release).collect();
            if together.iter().any(asked_for) {
                wanted.extend(together);
            }
        }
    }
    let built_here = |(name, version): &Release| {
        let of = |index: PathBuf| index.join(name.replace('_', "-")).join(version).exists();
        below(cache)
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("sdists-")))
            .any(|built| of(built.join("pypi")) || below(&built.join("index")).any(of))
    };
    let fetched = |release: Release| {
        let asked_for = asked_for(&release);
        let mut newest: BTreeMap<String, (SystemTime, &PathBuf)> = BTreeMap::new();
        for about in wheels.get(&release).into_iter().flatten() {
            let unpacked = about.parent().and_then(|wheel| wheel.metadata().ok()?.modified().ok());
            let this = (unpacked.unwrap_or(SystemTime::UNIX_EPOCH), about);
            let known = newest.entry(build(about)).or_insert(this);
            *known = this.max(*known);
        }
        let built_here = built_here(&release);
        let (name, version) = release;
        let one = move |(build, (_, about)): (String, (SystemTime, &PathBuf))| {
            let list = files::read_plain(&about.join("RECORD"), LARGEST).ok().filter(|_| !built_here);
            let digest = list.map(|list| {
                let hex: String = Sha256::digest(&list).iter().map(|byte| format!("{byte:02x}")).collect();
                format!("sha256:{hex}")
            });
            Fetched { name: name.clone(), version: version.clone(), build, digest, asked_for }
        };
        newest.into_iter().map(one).collect::<Vec<_>>()
    };
    wanted.into_iter().flat_map(fetched).collect()
}

/// The packages in a directory.
fn releases(directory: &Path) -> impl Iterator<Item = (Release, PathBuf)> + use<> {
    below(directory).filter_map(|path| {
        let about = path.file_name()?.to_str()?.strip_suffix(".dist-info")?;
        let (name, version) = about.split_once('-')?;
        Some(((plain(name), version.to_owned()), path.clone()))
    })
}

/// The systems and interpreters that a wheel is for; empty if universal.
fn build(about: &Path) -> String {
    let text = files::read_plain(&about.join("WHEEL"), LARGEST).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let tags: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("Tag:")).map(str::trim).collect();
    match tags.iter().all(|tag| tag.ends_with("-none-any")) {
        true => String::new(),
        false => tags.into_iter().collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stdio(line: &str) -> TransportConfig {
        let mut words = line.split(' ').map(ToOwned::to_owned);
        let command = words.next().unwrap();
        TransportConfig::Stdio { command, args: words.collect(), env: Default::default(), cwd: None }
    }

    fn fetched(home: &Path, line: &str) -> Vec<Fetched> {
        packages(&stdio(line), |name| (name == "HOME").then(|| home.display().to_string()))
    }

    fn write(home: &Path, path: &str, text: &str) {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    #[cfg(not(windows))]
    fn the_caches_of_launchers_tell_which_version_was_fetched() {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path();
        for (at, asked, version) in [("a", "@s/server", "1.2.3"), ("b", "@s/server@next", "2.0.0-rc.1")] {
            write(
                home,
                &format!(".npm/_npx/{at}/package.json"),
                &format!(r#"{{"_npx":{{"packages":["{asked}"]}}}}"#),
            );
            let list = format!(".npm/_npx/{at}/node_modules/.package-lock.json");
            let came = format!(r#"{{"packages":{{"node_modules/@s/server":{{"version":"{version}"}}}}}}"#);
            write(home, &list, &came);
        }
        write(home, ".npm/_npx/c/package.json", "no JSON");
        for wheel in ["1/Mcp_Server.Git-2026.1.14", "2/other-1.0.0", "3/many-1.0.0", "4/many-1.1.0"] {
            write(home, &format!(".cache/uv/archive-v0/{wheel}.dist-info/METADATA"), "");
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
            let versions: Vec<String> = versions(&stdio(line), &fetched(home, line)).into_iter().collect();
            assert_eq!(versions, expected, "{line}");
        }
    }

    fn told(all: &[Fetched]) -> Vec<String> {
        let digest = |one: &Fetched| one.digest.as_ref().map_or("nothing".into(), |digest| digest.clone());
        let line = |one: &Fetched| {
            let mark = if one.asked_for { "*" } else { "" };
            format!("{mark}{} {} {} {}", one.name, one.version, one.build, digest(one)).replace("  ", " ")
        };
        all.iter().map(line).collect()
    }

    /// As npm 11 writes it, with and without `resolved`.
    #[test]
    fn the_npm_lockfile_gives_the_digests_of_a_package_and_its_dependencies() {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path();
        let npx = |at: &str, asked: &str, packages: &str| {
            write(
                home,
                &format!(".npm/_npx/{at}/package.json"),
                &format!(r#"{{"_npx":{{"packages":{asked}}}}}"#),
            );
            let list = format!(".npm/_npx/{at}/node_modules/.package-lock.json");
            write(home, &list, &format!(r#"{{"lockfileVersion":3,"packages":{packages}}}"#));
        };
        npx(
            "a",
            r#"["@s/server@1.0.0"]"#,
            r#"{"node_modules/@s/server":{"version":"1.0.0","integrity":"sha512-top"},
                "node_modules/zod":{"version":"4.0.0","integrity":"sha1-weak sha512-strong","resolved":"https://registry.example/zod.tgz"},
                "node_modules/@s/server/node_modules/zod":{"version":"3.0.0","integrity":"sha512-deep"},
                "node_modules/@s/server/node_modules/@s/server":{"version":"0.9.0","integrity":"sha512-inner"},
                "node_modules/other":{"name":"real","version":"2.0.0","integrity":"sha512-alias"},
                "node_modules/repository":{"version":"5.0.0","integrity":"sha512-packed","resolved":"git+ssh://git@x/y.git#abc"},
                "node_modules/bundled":{"version":"6.0.0","inBundle":true},
                "node_modules/linked":{"link":true},
                "node_modules/odd":7}"#,
        );
        npx(
            "b",
            r#"["@s/server@1.0.0","more"]"#,
            r#"{"node_modules/more":{"version":"1.0.0","integrity":"sha512-more"}}"#,
        );
        npx("c", r#"["broken"]"#, r#"["no object"]"#);
        assert_eq!(
            told(&fetched(home, "npx -y @s/server@1.0.0 --port 3")),
            [
                "@s/server 0.9.0 sha512-inner",
                "*@s/server 1.0.0 sha512-top",
                "bundled 6.0.0 nothing",
                "real 2.0.0 sha512-alias",
                "repository 5.0.0 nothing",
                "zod 3.0.0 sha512-deep",
                "zod 4.0.0 sha512-strong",
            ]
        );
        assert_eq!(told(&fetched(home, "npx -p more -p @s/server@1.0.0 x")), ["*more 1.0.0 sha512-more"]);
        assert_eq!(told(&fetched(home, "npx broken")), [""; 0]);
    }

    /// As uv 0.13 lays it out.
    #[test]
    #[cfg(not(windows))]
    fn the_digest_of_a_wheel_is_its_record_and_the_environment_lists_its_dependencies() {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path();
        let wheel = |at: &str, release: &str, tags: &[&str], record: &str| {
            let about = format!(".cache/uv/archive-v0/{at}/{release}.dist-info");
            let tags: String = tags.iter().map(|tag| format!("Tag: {tag}\n")).collect();
            write(home, &format!("{about}/WHEEL"), &format!("Wheel-Version: 1.0\n{tags}"));
            write(home, &format!("{about}/RECORD"), record);
        };
        wheel("a", "my_server-1.0.0", &["py2-none-any", "py3-none-any"], "server.py,sha256=a,1\n");
        wheel("b", "my_server-1.1.0", &["py3-none-any"], "server.py,sha256=b,1\n");
        wheel("c", "native-2.0.0", &["cp311-cp311-linux_x86_64"], "native.so,sha256=c,1\n");
        wheel("d", "built_here-3.0.0", &["py3-none-any"], "x.py,sha256=d,1\n");
        wheel("e", "stranger-1.0.0", &["py3-none-any"], "x.py,sha256=e,1\n");
        write(home, ".cache/uv/sdists-v11/pypi/built-here/3.0.0/revision.http", "");
        let environment = ".cache/uv/archive-v0/f/lib/python3.11/site-packages";
        for release in ["my_server-1.0.0", "native-2.0.0", "built_here-3.0.0", "absent-1.0.0"] {
            write(home, &format!("{environment}/{release}.dist-info/RECORD"), "elsewhere,sha256=x,1\n");
        }
        write(home, &format!("{environment}/stranger-1.0.0.dist-info/direct_url.json"), "{}");
        let digest = |record: &str| {
            let hex: String = Sha256::digest(record).iter().map(|byte| format!("{byte:02x}")).collect();
            format!("sha256:{hex}")
        };
        let top = format!("*my_server 1.0.0 {}", digest("server.py,sha256=a,1\n"));
        let native = format!("native 2.0.0 cp311-cp311-linux_x86_64 {}", digest("native.so,sha256=c,1\n"));
        let all = ["built_here 3.0.0 nothing".to_owned(), top.clone(), native];
        assert_eq!(told(&fetched(home, "uvx my-server==1.0.0")), all);
        let newer = format!("*my_server 1.1.0 {}", digest("server.py,sha256=b,1\n"));
        assert_eq!(told(&fetched(home, "uvx my-server@1.1.0")), [newer]);
        // The one that was unpacked last counts.
        wheel("g", "my_server-1.0.0", &["py3-none-any"], "server.py,sha256=other,1\n");
        let later = SystemTime::now() + std::time::Duration::from_secs(60);
        let unpacked = fs::File::open(home.join(".cache/uv/archive-v0/g")).unwrap();
        unpacked.set_modified(later).unwrap();
        let other = format!("*my_server 1.0.0 {}", digest("server.py,sha256=other,1\n"));
        let now = told(&fetched(home, "uvx my-server==1.0.0"));
        assert!(now.contains(&other) && !now.contains(&top), "{now:?}");
        // A relative directory is ignored, because it differs for every server.
        let relative = packages(&stdio("uvx my-server"), |name| (name == "HOME").then(|| ".".into()));
        assert_eq!(told(&relative), [""; 0]);
    }
}
