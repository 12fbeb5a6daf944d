//! Detects how this program was installed, which decides who replaces it. Looks only at the file system.

use std::path::{Path, PathBuf};

use super::moving::bundle_of;
use crate::platform::Platform;

/// How this program was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Installed {
    /// By Satchel's own installer or disk image: it replaces itself. The directory to replace; on macOS, the bundle.
    ByItself(PathBuf),
    /// By a package manager, which has to update it.
    By(Manager),
    /// Built here, or unpacked somewhere.
    Unknown,
}

/// A package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    /// Debian and Ubuntu.
    Apt,
    /// Fedora and openSUSE.
    Rpm,
    /// Arch.
    Pacman,
    /// Any system.
    Nix,
    /// macOS.
    Homebrew,
    /// Windows.
    Scoop,
}

impl Installed {
    /// How `program` was installed; `is_there` checks whether a file exists.
    pub fn of(program: &Path, platform: Platform, is_there: impl Fn(&str) -> bool) -> Self {
        let text = program.to_string_lossy();
        if text.starts_with("/nix/store/") {
            return Self::By(Manager::Nix);
        }
        match platform {
            Platform::Linux => on_linux(&text, is_there),
            Platform::MacOs => on_macos(program, &text, is_there),
            Platform::Windows => on_windows(&text),
        }
    }
}

fn on_linux(program: &str, is_there: impl Fn(&str) -> bool) -> Installed {
    // Files below these directories are managed manually.
    if !program.starts_with("/usr/") || program.starts_with("/usr/local/") {
        return Installed::Unknown;
    }
    let managers = [
        ("/var/lib/dpkg/info/satchel.list", Manager::Apt),
        ("/var/lib/pacman/local", Manager::Pacman),
        ("/usr/lib/sysimage/rpm", Manager::Rpm),
        ("/var/lib/rpm", Manager::Rpm),
    ];
    let found = managers.into_iter().find(|(file, _)| is_there(file));
    found.map_or(Installed::Unknown, |(_, manager)| Installed::By(manager))
}

fn on_macos(program: &Path, text: &str, is_there: impl Fn(&str) -> bool) -> Installed {
    let casks = ["/opt/homebrew/Caskroom/satchel", "/usr/local/Caskroom/satchel"];
    if text.contains("/Caskroom/") || casks.into_iter().any(is_there) {
        return Installed::By(Manager::Homebrew);
    }
    let bundle = bundle_of(program);
    bundle.map_or(Installed::Unknown, |bundle| Installed::ByItself(bundle.to_owned()))
}

/// Parses paths as text, so that it can be tested on other systems.
fn on_windows(text: &str) -> Installed {
    let lower = text.to_lowercase();
    if lower.contains(r"\scoop\apps\") {
        return Installed::By(Manager::Scoop);
    }
    // The installer's location; builds are in cargo's target directory.
    let cut = text.rfind('\\').filter(|_| !lower.contains(r"\target\"));
    cut.map_or(Installed::Unknown, |cut| Installed::ByItself(PathBuf::from(&text[..cut])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(platform: Platform, program: &str, there: &[&str], expected: Installed) {
        let found = Installed::of(Path::new(program), platform, |file| there.contains(&file));
        assert_eq!(found, expected, "{program}");
    }

    #[test]
    fn a_package_is_replaced_by_its_manager() {
        let dpkg = ["/var/lib/dpkg/info/satchel.list", "/var/lib/rpm"];
        for (platform, program, there, manager) in [
            (Platform::Linux, "/usr/bin/satchel-app", &dpkg[..], Manager::Apt),
            (Platform::Linux, "/usr/bin/satchel-app", &dpkg[1..], Manager::Rpm),
            (Platform::Linux, "/usr/bin/satchel-app", &["/var/lib/pacman/local"], Manager::Pacman),
            (Platform::Linux, "/nix/store/abc-satchel/bin/satchel-app", &dpkg, Manager::Nix),
            (
                Platform::MacOs,
                "/Applications/Satchel.app/Contents/MacOS/satchel-app",
                &["/opt/homebrew/Caskroom/satchel"],
                Manager::Homebrew,
            ),
            (
                Platform::Windows,
                r"C:\Users\a\scoop\apps\satchel\current\satchel-app.exe",
                &[],
                Manager::Scoop,
            ),
        ] {
            check(platform, program, there, Installed::By(manager));
        }
    }

    #[test]
    fn installations_by_our_own_installers_update_themselves() {
        let bundle = "/Applications/Satchel.app";
        check(
            Platform::MacOs,
            &format!("{bundle}/Contents/MacOS/satchel-app"),
            &[],
            Installed::ByItself(bundle.into()),
        );
        let dir = r"C:\Users\Jane Doe\AppData\Local\Satchel";
        check(Platform::Windows, &format!(r"{dir}\satchel-app.exe"), &[], Installed::ByItself(dir.into()));
    }

    #[test]
    fn manual_installations_do_not_update_themselves() {
        let dpkg = ["/var/lib/dpkg/info/satchel.list"];
        for (platform, program) in [
            (Platform::Linux, "/home/a/satchel/target/debug/satchel-app"),
            (Platform::Linux, "/usr/local/bin/satchel-app"),
            (Platform::MacOs, "/Users/a/satchel/target/debug/satchel-app"),
            (Platform::Windows, r"C:\src\satchel\target\debug\satchel-app.exe"),
        ] {
            check(platform, program, &dpkg, Installed::Unknown);
        }
    }
}
