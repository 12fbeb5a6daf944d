//! Tells whether an entry names an exact package version. Launchers that fetch the newest version run code tomorrow
//! that nobody has seen today.

pub use satchel_entry::launcher::is_exact;
use satchel_entry::launcher::{Ecosystem, Launch, Package};

use crate::model::TransportConfig;

fn launch(transport: &TransportConfig) -> Option<Launch> {
    let TransportConfig::Stdio { command, args, .. } = transport else { return None };
    Some(Launch::of(command, args))
}

/// The package that a launcher fetches in its newest version; `None` if the version is exact, or nothing is fetched.
pub fn floating(transport: &TransportConfig) -> Option<String> {
    launch(transport)?.package().filter(|package| package.floats()).map(|package| package.text.clone())
}

/// An example of the package with an exact version.
pub fn example(transport: &TransportConfig) -> Option<String> {
    let launch = launch(transport)?;
    let package = launch.package()?;
    Some(match package.ecosystem {
        Ecosystem::PyPi if package.text.starts_with("git+") => format!("{}@…", package.name()),
        Ecosystem::Image => format!("{}@sha256:…", package.text),
        _ => at_version(package, "1.2.3"),
    })
}

/// The package with this version in place of its own.
fn at_version(package: &Package, version: &str) -> String {
    let name = package.name();
    match package.ecosystem {
        Ecosystem::Npm | Ecosystem::NuGet => format!("{name}@{version}"),
        Ecosystem::PyPi => format!("{name}=={version}"),
        Ecosystem::Image => format!("{}@{version}", package.text),
        Ecosystem::Go => format!("{name}@v{}", version.trim_start_matches('v')),
    }
}

/// All packages in a launcher's arguments, the one it runs first.
pub fn packages(transport: &TransportConfig) -> Vec<Package> {
    launch(transport).map(|launch| launch.packages().to_vec()).unwrap_or_default()
}

/// The arguments that pin this version; `None` if it is not exact, or there is nothing to pin.
pub fn pinned(transport: &TransportConfig, version: &str) -> Option<Vec<String>> {
    let launch = launch(transport)?;
    let package = launch.package().filter(|package| package.floats())?;
    let TransportConfig::Stdio { command, args, env, cwd } = transport else { return None };
    match package.ecosystem {
        Ecosystem::PyPi if package.text.starts_with("git+") => return None,
        Ecosystem::Image => {
            let digest = version.strip_prefix("sha256:")?;
            let whole = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
            whole.then_some(())?;
        }
        _ => {}
    }
    let at = package.at?;
    let mut args = args.clone();
    let before = args.get(at)?.strip_suffix(&package.text)?.to_owned();
    args[at] = before + &at_version(package, version);
    let (command, env, cwd) = (command.clone(), env.clone(), cwd.clone());
    let pinned = TransportConfig::Stdio { command, args: args.clone(), env, cwd };
    floating(&pinned).is_none().then_some(args)
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
            ("docker run -it --cpus 2 --hostname h mcp/fetch", Some("mcp/fetch")),
            ("cmd /c npx -y server", Some("server")),
            ("uvx --with mcp<2 server==1.0.0", None),
            ("uvx --index-strategy unsafe-best-match server", Some("server")),
            ("dnx Good.Mcp", Some("Good.Mcp")),
            ("deno run -A npm:server@1.0.0", None),
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
