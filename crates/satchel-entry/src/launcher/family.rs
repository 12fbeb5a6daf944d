//! Programs that start servers, in families: those of one family are installed together or replace each other. Knows nothing of
//! their options.

use super::program_name;

/// Programs of one family.
struct Family {
    /// May download or build before they start something.
    fetch: &'static [&'static str],
    /// Interpret a file.
    interpret: &'static [&'static str],
}

const FAMILIES: [Family; 7] = [
    Family {
        fetch: &["npx", "npm", "pnpm", "pnpx", "pnx", "yarn", "yarnpkg", "bun", "bunx", "deno"],
        interpret: &["node", "nodejs", "tsx", "ts-node"],
    },
    Family { fetch: &["uv", "uvx", "pipx"], interpret: &[] },
    Family { fetch: &[], interpret: &["python", "python3", "py"] },
    Family { fetch: ENGINES, interpret: &[] },
    Family { fetch: &["dnx", "dotnet"], interpret: &[] },
    Family { fetch: &["go"], interpret: &[] },
    Family { fetch: &[], interpret: &["java"] },
];
const ENGINES: &[&str] = &["docker", "podman", "nerdctl", "finch"];

/// The programs of the family that a program belongs to; empty for one that starts no servers.
pub fn family(program: &str) -> impl Iterator<Item = &'static str> + use<> {
    let name = program_name(program);
    let all = |family: &'static Family| family.fetch.iter().chain(family.interpret).copied();
    FAMILIES.iter().filter(move |family| all(family).any(|known| known == name)).flat_map(all)
}

/// Does a program start servers?
pub fn starts_servers(program: &str) -> bool {
    family(program).next().is_some()
}

/// Does a program run containers?
pub fn is_engine(program: &str) -> bool {
    ENGINES.contains(&program_name(program).as_str())
}

/// May a program download or build before it starts something?
pub(super) fn fetches(program: &str) -> bool {
    let name = program_name(program);
    FAMILIES.iter().any(|family| family.fetch.contains(&name.as_str()))
}
