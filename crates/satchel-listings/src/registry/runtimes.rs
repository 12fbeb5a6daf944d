//! The programs that packages are run with, and the command that installs each on this system. Pure: whoever asks says
//! which system it is and which programs are there. Installs nothing.

use crate::{model::listings::MissingRuntime, platform::Platform};

/// The package that contains a program, and its source.
struct Runtime {
    program: &'static str,
    part_of: &'static str,
    page: &'static str,
    /// Its name in Homebrew, in winget, and in the package managers of Linux, in the order of [`MANAGERS`].
    homebrew: &'static str,
    winget: &'static str,
    linux: [Option<&'static str>; 5],
    /// An installation that works on any Linux without a package for it.
    script: Option<&'static str>,
}

/// Package managers of Linux and their install commands.
const MANAGERS: [(&str, &str); 5] = [
    ("apt-get", "sudo apt-get install"),
    ("dnf", "sudo dnf install"),
    ("pacman", "sudo pacman -S"),
    ("zypper", "sudo zypper install"),
    ("apk", "sudo apk add"),
];

const RUNTIMES: [Runtime; 4] = [
    Runtime {
        program: "npx",
        part_of: "Node.js",
        page: "https://nodejs.org/en/download",
        homebrew: "node",
        winget: "OpenJS.NodeJS.LTS",
        linux: [
            Some("nodejs npm"),
            Some("nodejs npm"),
            Some("nodejs npm"),
            Some("nodejs npm"),
            Some("nodejs npm"),
        ],
        script: None,
    },
    Runtime {
        program: "uvx",
        part_of: "uv",
        page: "https://docs.astral.sh/uv/getting-started/installation/",
        homebrew: "uv",
        winget: "astral-sh.uv",
        linux: [None, Some("uv"), Some("uv"), None, Some("uv")],
        script: Some("curl -LsSf https://astral.sh/uv/install.sh | sh"),
    },
    Runtime {
        program: "docker",
        part_of: "Podman",
        page: "https://podman.io/docs/installation",
        homebrew: "podman",
        winget: "RedHat.Podman",
        linux: [Some("podman"), Some("podman"), Some("podman"), Some("podman"), Some("podman")],
        script: None,
    },
    Runtime {
        program: "dnx",
        part_of: ".NET 10",
        page: "https://dotnet.microsoft.com/download",
        homebrew: "--cask dotnet-sdk",
        winget: "Microsoft.DotNet.SDK.10",
        linux: [
            Some("dotnet-sdk-10.0"),
            Some("dotnet-sdk-10.0"),
            Some("dotnet-sdk"),
            None,
            Some("dotnet10-sdk"),
        ],
        script: None,
    },
];

/// Programs that most servers are started with.
pub const USUAL: [&str; 3] = ["npx", "uvx", "docker"];

/// How this program is installed on this system; `None` where it is none that runs packages. `is_here` says whether a
/// program is there.
pub fn how_to_install(
    program: &str,
    platform: Platform,
    is_here: impl Fn(&str) -> bool,
) -> Option<MissingRuntime> {
    let program = if program == "podman" { "docker" } else { program };
    let runtime = RUNTIMES.iter().find(|runtime| runtime.program == program)?;
    let on_linux = || {
        let manager = MANAGERS.iter().zip(runtime.linux).find(|((manager, _), _)| is_here(manager));
        let packaged = manager.and_then(|((_, words), name)| Some(format!("{words} {}", name?)));
        packaged.or_else(|| runtime.script.map(ToOwned::to_owned))
    };
    let command = match platform {
        Platform::MacOs if is_here("brew") => Some(format!("brew install {}", runtime.homebrew)),
        Platform::MacOs => runtime.script.map(ToOwned::to_owned),
        Platform::Windows => Some(format!("winget install {}", runtime.winget)),
        Platform::Linux => on_linux(),
    };
    let (program, part_of) = (runtime.program.to_owned(), runtime.part_of.to_owned());
    Some(MissingRuntime { program, part_of, command, page: runtime.page.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_installs_a_runtime_with_its_own_command() {
        let command = |program, platform, here: &[&str]| {
            how_to_install(program, platform, |name| here.contains(&name)).and_then(|how| how.command)
        };
        for (program, platform, here, expected) in [
            ("npx", Platform::Linux, &["apt-get"][..], Some("sudo apt-get install nodejs npm")),
            ("npx", Platform::Linux, &[], None),
            ("uvx", Platform::Linux, &["apt-get"], Some("curl -LsSf https://astral.sh/uv/install.sh | sh")),
            ("uvx", Platform::Linux, &["pacman"], Some("sudo pacman -S uv")),
            ("uvx", Platform::MacOs, &["brew"], Some("brew install uv")),
            ("uvx", Platform::MacOs, &[], Some("curl -LsSf https://astral.sh/uv/install.sh | sh")),
            ("npx", Platform::MacOs, &[], None),
            ("npx", Platform::Windows, &[], Some("winget install OpenJS.NodeJS.LTS")),
            ("dnx", Platform::Linux, &["dnf"], Some("sudo dnf install dotnet-sdk-10.0")),
            ("podman", Platform::Linux, &["zypper"], Some("sudo zypper install podman")),
        ] {
            assert_eq!(
                command(program, platform, here).as_deref(),
                expected,
                "{program} {platform:?} {here:?}"
            );
        }
        assert!(how_to_install("cargo", Platform::Linux, |_| true).is_none());
    }

    #[test]
    fn where_no_command_is_known_the_page_is_named() {
        for program in ["npx", "uvx", "docker", "dnx"] {
            let how = how_to_install(program, Platform::Linux, |_| false).expect("it runs packages");
            assert!(how.page.starts_with("https://") && how.to_string().contains(&how.page), "{how}");
        }
    }
}
