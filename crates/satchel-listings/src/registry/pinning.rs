//! Tells whether an entry names an exact package version. Launchers that fetch the newest version run code tomorrow
//! that nobody has seen today.

use crate::model::TransportConfig;

/// Launcher options with a value.
const WITH_VALUE: [&str; 14] = [
    "--package",
    "-p",
    "--from",
    "--with",
    "--python",
    "--index-url",
    "--registry",
    "--cache",
    "-c",
    "--call",
    "--name",
    "--network",
    "--platform",
    "--spec",
];
/// Options of `docker run` with a value.
const DOCKER_WITH_VALUE: [&str; 16] = [
    "-e",
    "--env",
    "--env-file",
    "-v",
    "--volume",
    "--mount",
    "-p",
    "--publish",
    "--name",
    "--network",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "--platform",
    "--entrypoint",
];

/// A package naming scheme.
#[derive(Debug, Clone, Copy)]
enum Family {
    Node,
    Python,
    Image,
}

/// The packages in a launcher's arguments, the one it runs first; empty if nothing is fetched.
fn asked_for(transport: &TransportConfig) -> Option<(Family, Vec<&str>)> {
    let TransportConfig::Stdio { command, args, .. } = transport else { return None };
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let node = |rest| (Family::Node, named(rest, &["--package", "-p"], &WITH_VALUE));
    let python = |rest| (Family::Python, named(rest, &["--from", "--spec"], &WITH_VALUE));
    match (launcher(command), words.as_slice()) {
        ("npx" | "bunx" | "pnpx", rest) | ("npm", ["exec" | "x", rest @ ..]) | ("bun", ["x", rest @ ..]) => {
            Some(node(rest))
        }
        ("pnpm" | "yarn", ["dlx", rest @ ..]) => Some(node(rest)),
        ("uvx", rest) | ("uv", ["tool", "run", rest @ ..]) | ("uv", ["x", rest @ ..]) => Some(python(rest)),
        ("pipx", ["run", rest @ ..]) => Some(python(rest)),
        ("docker" | "podman" | "nerdctl", ["run", rest @ ..]) => {
            Some((Family::Image, named(rest, &[], &DOCKER_WITH_VALUE)))
        }
        _ => None,
    }
}

/// The package that a launcher fetches in its newest version; `None` if the version is exact, or nothing is fetched.
pub fn floating(transport: &TransportConfig) -> Option<String> {
    let (family, packages) = asked_for(transport)?;
    let package = packages.first()?;
    let floats = match family {
        Family::Node => node_floats(package),
        Family::Python => python_floats(package),
        // A tag is movable; a digest is not.
        Family::Image => !package.contains("@sha256:"),
    };
    floats.then(|| (*package).to_owned())
}

/// An example of the package with an exact version.
pub fn example(transport: &TransportConfig) -> Option<String> {
    let (family, packages) = asked_for(transport)?;
    let package = packages.first()?;
    let (name, _) = name_and_rest(package);
    Some(match family {
        Family::Node => format!("{name}@1.2.3"),
        Family::Python if package.starts_with("git+") => {
            format!("{}@…", package.rsplit_once('@').map_or(*package, |(repository, _)| repository))
        }
        Family::Python => format!("{name}==1.2.3"),
        Family::Image => format!("{package}@sha256:…"),
    })
}

/// The exact version in an entry, if it names one.
pub(super) fn version(package: &str) -> Option<&str> {
    let (_, rest) = name_and_rest(package);
    Some(rest.trim_start_matches(['=', '@'])).filter(|version| is_exact(version))
}

/// All packages in a launcher's arguments as written, the one it runs first.
pub fn packages(transport: &TransportConfig) -> Vec<&str> {
    asked_for(transport).map(|(_, packages)| packages).unwrap_or_default()
}

/// A program's name without directory and Windows extension.
pub(super) fn launcher(command: &str) -> &str {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    name.strip_suffix(".cmd").or_else(|| name.strip_suffix(".exe")).unwrap_or(name)
}

/// A package's name, and its version part.
pub(super) fn name_and_rest(package: &str) -> (&str, &str) {
    let ends = |(at, c): &(usize, char)| *at > 0 && "@=<>!~ ;".contains(*c);
    let end = package.char_indices().find(ends).map_or(package.len(), |(at, _)| at);
    package.split_at(end)
}

/// The arguments that pin this version; `None` if it is not exact, or there is nothing to pin.
pub fn pinned(transport: &TransportConfig, version: &str) -> Option<Vec<String>> {
    let package = floating(transport)?;
    let TransportConfig::Stdio { command, args, env, cwd } = transport else { return None };
    let (name, _) = name_and_rest(&package);
    let exact = match launcher(command) {
        "docker" | "podman" | "nerdctl" => {
            let digest = version.strip_prefix("sha256:")?;
            let whole = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
            whole.then(|| format!("{package}@{version}"))?
        }
        "uv" | "uvx" | "pipx" if package.starts_with("git+") => return None,
        "uv" | "uvx" | "pipx" => format!("{name}=={version}"),
        _ => format!("{name}@{version}"),
    };
    let with = |at: usize| {
        let mut args = args.clone();
        let before = args[at].strip_suffix(&package)?.to_owned();
        args[at] = before + &exact;
        Some(args)
    };
    let is_pinned = |args: &Vec<String>| {
        let (command, args) = (command.clone(), args.clone());
        floating(&TransportConfig::Stdio { command, args, env: env.clone(), cwd: cwd.clone() }).is_none()
    };
    (0..args.len()).filter_map(with).find(is_pinned)
}

/// The first argument, or everything named by `--package`.
fn named<'a>(words: &[&'a str], options: &[&str], with_value: &[&str]) -> Vec<&'a str> {
    let mut words = words.iter().copied();
    let (mut named, mut first) = (Vec::new(), None);
    while let Some(word) = words.next() {
        let (option, value) =
            word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
        if word == "--" {
            first = words.next();
            break;
        }
        if !word.starts_with('-') {
            first = Some(word);
            break;
        }
        if options.contains(&option) {
            named.extend(value.or_else(|| words.next()));
        } else if with_value.contains(&word) {
            words.next();
        }
    }
    if named.is_empty() { first.into_iter().collect() } else { named }
}

fn node_floats(package: &str) -> bool {
    // A path or URL has no version.
    if package.starts_with(['.', '/', '~']) || package.contains("://") {
        return false;
    }
    let at = package.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
    !at.is_some_and(|at| is_exact(&package[at + 1..]))
}

fn python_floats(package: &str) -> bool {
    if package.starts_with(['.', '/', '~']) {
        return false;
    }
    if let Some((_, commit)) =
        package.strip_prefix("git+").map(|rest| rest.rsplit_once('@').unwrap_or((rest, "")))
    {
        return !(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
    let version =
        package.split_once("==").or_else(|| package.split_once('@')).map_or("", |(_, version)| version);
    !is_exact(version)
}

/// `1.2.3`, possibly with a suffix; no range, no tag.
pub fn is_exact(version: &str) -> bool {
    let numbers = version.trim_start_matches('v').split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = numbers.split('.').collect();
    parts.len() >= 2
        && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_pinned_to_one_version_and_the_rest_of_it_stays() {
        let digest = format!("sha256:{}", "ab".repeat(32));
        for (line, version, expected) in [
            ("npx -y @scope/server --port 3", "1.2.3", Some("npx -y @scope/server@1.2.3 --port 3")),
            ("npx @scope/server@latest", "1.2.3", Some("npx @scope/server@1.2.3")),
            ("npx --package=server@^1 tool", "1.0.0-beta.2", Some("npx --package=server@1.0.0-beta.2 tool")),
            ("npx --cache server server", "1.0.0", Some("npx --cache server server@1.0.0")),
            ("uvx --from server[x]>=1 tool", "1.0.0", Some("uvx --from server[x]==1.0.0 tool")),
            ("uvx server", "2026.1", Some("uvx server==2026.1")),
            (
                "docker run -i mcp/fetch:1.2 x",
                &digest,
                Some(&*format!("docker run -i mcp/fetch:1.2@{digest} x")),
            ),
            ("docker run -i mcp/fetch", "1.2.3", None),
            ("docker run -i mcp/fetch", "sha256:ab", None),
            ("npx server", "latest", None),
            ("npx server", "^1.2.3", None),
            ("npx server@1.0.0", "1.2.3", None),
            ("uvx git+https://github.com/a/b", "1.2.3", None),
            ("node server.js", "1.2.3", None),
        ] {
            let mut words = line.split(' ').map(ToOwned::to_owned);
            let command = words.next().unwrap();
            let transport = TransportConfig::Stdio {
                command: command.clone(),
                args: words.collect(),
                env: Default::default(),
                cwd: None,
            };
            let pinned = pinned(&transport, version).map(|args| format!("{command} {}", args.join(" ")));
            assert_eq!(pinned.as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_request_to_name_a_version_comes_with_an_example() {
        for (line, expected) in [
            ("npx -y @scope/server@latest", Some("@scope/server@1.2.3")),
            ("uvx --from server[x]>=1 tool", Some("server[x]==1.2.3")),
            ("uvx git+https://github.com/a/b", Some("git+https://github.com/a/b@…")),
            ("docker run -i mcp/fetch:1.2", Some("mcp/fetch:1.2@sha256:…")),
            ("node server.js", None),
        ] {
            let mut words = line.split(' ').map(ToOwned::to_owned);
            let command = words.next().unwrap();
            let transport =
                TransportConfig::Stdio { command, args: words.collect(), env: Default::default(), cwd: None };
            assert_eq!(example(&transport).as_deref(), expected, "{line}");
        }
    }

    /// S33.
    #[test]
    fn a_package_without_an_exact_version_is_named() {
        for (line, expected) in [
            ("npx -y @scope/server", Some("@scope/server")),
            ("npx -y @scope/server@1.2.3", None),
            ("npx @scope/server@latest", Some("@scope/server@latest")),
            ("npx server@^1.2.3", Some("server@^1.2.3")),
            ("npx server@1", Some("server@1")),
            ("npx server@next --port 3", Some("server@next")),
            ("npx --package=server@1.0.0 tool", None),
            ("npx -p server tool", Some("server")),
            ("/usr/bin/npx.cmd -y server@1.0.0-beta.2", None),
            ("npx ./server", None),
            ("npm exec -- server", Some("server")),
            ("pnpm dlx server@2.0.1", None),
            ("bunx server", Some("server")),
            ("uvx mcp-server-git", Some("mcp-server-git")),
            ("uvx mcp-server-git==2026.1.14", None),
            ("uvx mcp-server-git@1.0", None),
            ("uvx --from server==1.0.0 tool", None),
            ("uvx --from server>=1 tool", Some("server>=1")),
            ("uvx --from git+https://github.com/a/b tool", Some("git+https://github.com/a/b")),
            ("uvx --python 3.12 server", Some("server")),
            ("pipx run server", Some("server")),
            ("uv run server.py", None),
            ("docker run -i --rm -e TOKEN mcp/fetch", Some("mcp/fetch")),
            ("docker run -i mcp/fetch:1.2", Some("mcp/fetch:1.2")),
            ("docker run -i mcp/fetch@sha256:ab", None),
            ("node server.js", None),
            ("python -m server", None),
        ] {
            let mut words = line.split(' ').map(ToOwned::to_owned);
            let command = words.next().unwrap();
            let transport =
                TransportConfig::Stdio { command, args: words.collect(), env: Default::default(), cwd: None };
            assert_eq!(floating(&transport).as_deref(), expected, "{line}");
        }
    }
}
