//! The operating system as a value, so that tests can choose it, and environment variables with that system's rules for
//! names. Reads nothing but the kind of system and this process's variables.

pub mod descriptors;
pub mod people;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// File extensions that Windows can execute directly, in default order. `PATHEXT` may name more, such as scripts of
/// the Windows Script Host, which require another program.
const WINDOWS_PROGRAMS: [&str; 4] = [".com", ".exe", ".bat", ".cmd"];

/// An operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux and other Unix systems.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// The system this program runs on.
    pub const fn current() -> Self {
        if cfg!(windows) {
            Platform::Windows
        } else if cfg!(target_os = "macos") {
            Platform::MacOs
        } else {
            Platform::Linux
        }
    }

    /// Are these names of the same variable? Windows ignores case, and usually spells `PATH` as `Path`.
    pub fn is_same_variable(self, one: &str, other: &str) -> bool {
        match self {
            Platform::Windows => one.eq_ignore_ascii_case(other),
            Platform::Linux | Platform::MacOs => one == other,
        }
    }

    /// The value of a variable in a map, such as a server's environment.
    pub fn variable<'a>(self, variables: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
        let found = variables.iter().find(|(other, _)| self.is_same_variable(other, name));
        found.map(|(_, value)| value.as_str())
    }
}

/// Why a program's present path is only temporary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Passing {
    /// It runs from a mounted disk image.
    #[error("Satchel runs from its disk image, which disappears when it is ejected")]
    DiskImage,
    /// macOS runs a copy at a random path, because it was not moved after the download.
    #[error("macOS runs a temporary copy of Satchel, because it was not moved after the download")]
    Translocated,
    /// An AppImage is mounted at another path at every start.
    #[error("Satchel runs from an AppImage, whose path changes at every start")]
    AppImage,
    /// It runs from an archive that was not unpacked.
    #[error("Satchel runs from a temporary directory")]
    Temporary,
}

impl Passing {
    /// Whether and why this program's path is temporary. `environment` is that of this process.
    pub fn of(program: &Path, environment: &Environment) -> Option<Self> {
        let text = program.to_string_lossy();
        match environment.platform() {
            Platform::MacOs if text.contains("/AppTranslocation/") => Some(Self::Translocated),
            Platform::MacOs if text.starts_with("/Volumes/") => Some(Self::DiskImage),
            Platform::Linux if text.starts_with("/tmp/.mount_") => Some(Self::AppImage),
            Platform::Windows => {
                // Explorer unpacks a program there that is started inside an archive.
                let lower = text.to_lowercase().replace('/', "\\");
                let temporary = |name: &&str| {
                    let dir = environment.variable(name).unwrap_or_default().to_lowercase();
                    let dir = dir.trim_end_matches('\\');
                    !dir.is_empty() && lower.strip_prefix(dir).is_some_and(|rest| rest.starts_with('\\'))
                };
                ["TEMP", "TMP"].iter().any(temporary).then_some(Self::Temporary)
            }
            Platform::Linux | Platform::MacOs => None,
        }
    }

    /// What to do about it.
    pub fn action(self) -> &'static str {
        match self {
            Passing::DiskImage | Passing::Translocated => {
                "Move Satchel to the Applications folder, start it from there and try again."
            }
            Passing::AppImage => {
                "Install the package for your system, or the command line alone, and try again."
            }
            Passing::Temporary => {
                "Unpack or install Satchel where it is to stay, start it from there and try again."
            }
        }
    }
}

/// The environment variables of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    platform: Platform,
    variables: BTreeMap<String, String>,
}

impl Environment {
    /// These variables on this system. Of two that are equal there, the later one counts.
    pub fn new<N: Into<String>, V: Into<String>>(
        platform: Platform,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let mut environment = Self { platform, variables: BTreeMap::new() };
        environment.extend(variables);
        environment
    }

    /// The variables of this process, except those that are not valid Unicode.
    pub fn of_this_process() -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self::new(Platform::current(), variables)
    }

    /// The system whose rules apply.
    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// The value of a variable; may be empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        // The fast path: spelled exactly like this.
        let exact = self.variables.get(name).map(String::as_str);
        exact.or_else(|| self.platform.variable(&self.variables, name))
    }

    /// The value of a variable that is set and not empty. Uses the system's equivalent: `HOME` is `USERPROFILE` on
    /// Windows.
    pub fn variable(&self, name: &str) -> Option<String> {
        let set = |name: &str| self.get(name).filter(|value| !value.is_empty()).map(ToOwned::to_owned);
        let below_home = |path: &str| set("USERPROFILE").map(|home| format!("{home}{path}"));
        let is = |other: &str| self.platform == Platform::Windows && name.eq_ignore_ascii_case(other);
        if is("HOME") || is("USERPROFILE") {
            return set("USERPROFILE").or_else(|| set("HOME"));
        }
        let usual = || match name {
            _ if is("APPDATA") => below_home("\\AppData\\Roaming"),
            _ if is("LOCALAPPDATA") => below_home("\\AppData\\Local"),
            _ => None,
        };
        set(name).or_else(usual)
    }

    /// The user's home directory.
    pub fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").map(PathBuf::from)
    }

    /// The possible extensions of a program's file name, in search order; lower case, with dot.
    pub fn program_endings(&self) -> Vec<String> {
        match self.platform {
            Platform::Linux | Platform::MacOs => vec![String::new()],
            Platform::Windows => {
                let named = self.variable("PATHEXT").unwrap_or_default().to_ascii_lowercase();
                let named = named.split(';').map(str::trim);
                let named: Vec<&str> = named.filter(|ending| WINDOWS_PROGRAMS.contains(ending)).collect();
                let endings = if named.is_empty() { WINDOWS_PROGRAMS.to_vec() } else { named };
                endings.into_iter().map(ToOwned::to_owned).collect()
            }
        }
    }

    /// Sets a variable. An existing spelling of its name is kept.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let name = name.into();
        let known = self.variables.keys().find(|known| self.platform.is_same_variable(known, &name));
        let name = known.cloned().unwrap_or(name);
        self.variables.insert(name, value.into());
    }

    /// All variables, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// All variables, for a process to be started.
    pub fn into_variables(self) -> BTreeMap<String, String> {
        self.variables
    }
}

impl<N: Into<String>, V: Into<String>> Extend<(N, V)> for Environment {
    fn extend<T: IntoIterator<Item = (N, V)>>(&mut self, variables: T) {
        for (name, value) in variables {
            self.set(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYSTEMS: [Platform; 3] = [Platform::Linux, Platform::MacOs, Platform::Windows];

    #[test]
    fn windows_ignores_the_case_of_a_name_and_others_do_not() {
        for platform in SYSTEMS {
            let on_windows = platform == Platform::Windows;
            let mut environment = Environment::new(platform, [("Path", "C:\\one")]);
            assert_eq!(environment.get("PATH"), on_windows.then_some("C:\\one"), "{platform:?}");
            assert_eq!(environment.variable("path").is_some(), on_windows);
            environment.set("PATH", "C:\\two");
            assert_eq!(environment.get("PATH"), Some("C:\\two"));
            let names: Vec<&str> = environment.iter().map(|(name, _)| name).collect();
            // With both, it would be undefined which one a program sees.
            assert_eq!(names, if on_windows { vec!["Path"] } else { vec!["PATH", "Path"] });
        }
    }

    #[test]
    fn home_is_where_each_system_says_it() {
        let both = [("HOME", "/home/zoë"), ("USERPROFILE", "C:\\Users\\Zoë")];
        let home = |platform| Environment::new(platform, both).home();
        assert_eq!(home(Platform::Linux), Some("/home/zoë".into()));
        assert_eq!(home(Platform::MacOs), Some("/home/zoë".into()));
        assert_eq!(home(Platform::Windows), Some("C:\\Users\\Zoë".into()));
        let windows = Environment::new(Platform::Windows, [("userprofile", "C:\\Users\\Z"), ("APPDATA", "")]);
        assert_eq!(windows.variable("HOME").as_deref(), Some("C:\\Users\\Z"));
        assert_eq!(windows.variable("APPDATA").as_deref(), Some("C:\\Users\\Z\\AppData\\Roaming"));
        assert_eq!(windows.variable("LOCALAPPDATA").as_deref(), Some("C:\\Users\\Z\\AppData\\Local"));
        assert_eq!(Environment::new(Platform::Linux, [("HOME", "")]).home(), None);
    }

    #[test]
    fn endings_of_programs_come_in_the_order_of_the_user() {
        let check = |platform, pathext: &str, expected: &[&str]| {
            let environment = Environment::new(platform, [("PathExt", pathext)]);
            assert_eq!(environment.program_endings(), expected, "{platform:?} {pathext}");
        };
        check(Platform::Linux, ".EXE", &[""]);
        check(Platform::MacOs, ".EXE", &[""]);
        check(Platform::Windows, "", &[".com", ".exe", ".bat", ".cmd"]);
        check(Platform::Windows, ".COM;.EXE;.BAT;.CMD;.VBS;.JS;.PY", &[".com", ".exe", ".bat", ".cmd"]);
        check(Platform::Windows, ".CMD; .exe", &[".cmd", ".exe"]);
        check(Platform::Windows, ".PY", &[".com", ".exe", ".bat", ".cmd"]);
    }

    #[test]
    fn a_path_that_will_not_last_is_known() {
        let check = |platform, program: &str, expected| {
            let environment = Environment::new(platform, [("Temp", "C:\\Users\\Z\\AppData\\Local\\Temp")]);
            assert_eq!(Passing::of(Path::new(program), &environment), expected, "{platform:?} {program}");
        };
        let translocated =
            "/private/var/folders/zz/x/T/AppTranslocation/A1/d/Satchel.app/Contents/MacOS/satchel";
        check(Platform::MacOs, translocated, Some(Passing::Translocated));
        check(
            Platform::MacOs,
            "/Volumes/Satchel/Satchel.app/Contents/MacOS/satchel",
            Some(Passing::DiskImage),
        );
        check(Platform::MacOs, "/Applications/Satchel.app/Contents/MacOS/satchel", None);
        check(Platform::Linux, "/tmp/.mount_SatchA1b2/usr/bin/satchel", Some(Passing::AppImage));
        check(Platform::Linux, "/Volumes/x/satchel", None);
        let zipped = r"C:\Users\Z\AppData\Local\Temp\Temp1_satchel.zip\satchel.exe";
        check(Platform::Windows, zipped, Some(Passing::Temporary));
        check(Platform::Windows, r"c:\users\z\appdata\local\temp\satchel.exe", Some(Passing::Temporary));
        check(Platform::Windows, r"C:\Users\Z\AppData\Local\Temporal\satchel.exe", None);
        check(Platform::Windows, r"C:\Users\Z\AppData\Local\Satchel\satchel.exe", None);
    }

    #[test]
    fn a_variable_of_an_entry_is_found_as_the_system_names_it() {
        let entry = BTreeMap::from([("Path".to_owned(), "x".to_owned())]);
        assert_eq!(Platform::Windows.variable(&entry, "PATH"), Some("x"));
        assert_eq!(Platform::Linux.variable(&entry, "PATH"), None);
    }
}
