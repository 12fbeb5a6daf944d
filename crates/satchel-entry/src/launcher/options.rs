//! Which options of a launcher take a value, and which of its words come before what it runs.

use super::unwrapped::NameWord;

/// The options of a launcher.
#[derive(Debug)]
pub struct Spec {
    /// Options with a value.
    values: &'static [&'static str],
    /// Options after which the rest belongs to what runs: `-m`, `-c`.
    last: &'static [&'static str],
    /// If not empty, these take no value and every other option does.
    switches: &'static [&'static str],
    /// Single letters may be written together: `-it`, `-eNAME=1`.
    letters: bool,
}

/// An option as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// Its name, with dashes.
    pub name: String,
    /// Its value, if it has one.
    pub value: Option<String>,
    /// The position of the value among the arguments of the entry; `None` inside a shell's line.
    pub at: Option<usize>,
}

const PLAIN: Spec = Spec { values: &[], last: &[], switches: &[], letters: false };
pub(super) const NONE: Spec = PLAIN;
pub(super) const NPX: Spec = Spec {
    values: &[
        "-p",
        "--package",
        "-c",
        "--call",
        "-w",
        "--workspace",
        "--registry",
        "--cache",
        "--prefix",
        "--userconfig",
        "--globalconfig",
        "--script-shell",
        "--shell",
        "--node-options",
        "--node-arg",
        "-n",
        "--loglevel",
        "--npm",
        "--before",
        "--tag",
        "--https-proxy",
        "--proxy",
        "--cafile",
        "--ca",
        "--otp",
        "--fetch-timeout",
        "--fetch-retries",
        "-C",
    ],
    ..PLAIN
};
pub(super) const DLX: Spec = Spec {
    values: &[
        "-p",
        "--package",
        "--registry",
        "-C",
        "--dir",
        "--store-dir",
        "--reporter",
        "--loglevel",
        "--filter",
        "-F",
        "--allow-build",
        "--config",
        "--cwd",
    ],
    ..PLAIN
};
pub(super) const BUNX: Spec =
    Spec { values: &["-p", "--package", "--registry", "--cwd", "-c", "--config", "--env-file"], ..PLAIN };
pub(super) const UV: Spec = Spec {
    values: &[
        "--from",
        "--with",
        "-w",
        "--with-editable",
        "--with-requirements",
        "--with-executables-from",
        "--constraints",
        "-c",
        "--build-constraints",
        "-b",
        "--overrides",
        "--excludes",
        "--env-file",
        "--python",
        "-p",
        "--python-platform",
        "--python-preference",
        "--index",
        "--default-index",
        "--index-url",
        "-i",
        "--extra-index-url",
        "--find-links",
        "-f",
        "--index-strategy",
        "--keyring-provider",
        "--upgrade-package",
        "-P",
        "--upgrade-group",
        "--resolution",
        "--prerelease",
        "--fork-strategy",
        "--exclude-newer",
        "--exclude-newer-package",
        "--refresh-package",
        "--reinstall-package",
        "--link-mode",
        "--config-setting",
        "-C",
        "--config-settings-package",
        "--no-build-isolation-package",
        "--no-build-package",
        "--no-binary-package",
        "--no-sources-package",
        "--torch-backend",
        "--extra",
        "--no-extra",
        "--group",
        "--no-group",
        "--only-group",
        "--package",
        "--cache-dir",
        "--color",
        "--directory",
        "--project",
        "--config-file",
        "--allow-insecure-host",
        "--trusted-host",
    ],
    last: &["-m", "--module"],
    letters: true,
    ..PLAIN
};
pub(super) const PIPX: Spec = Spec {
    values: &[
        "--spec",
        "--python",
        "--pip-args",
        "--index-url",
        "-i",
        "--with",
        "--backend",
        "--fetch-missing-python",
    ],
    ..PLAIN
};
/// Options of an engine before `run`.
pub(super) const ENGINE: Spec = Spec {
    values: &[
        "-H",
        "--host",
        "-c",
        "--context",
        "--config",
        "-l",
        "--log-level",
        "--tlscacert",
        "--tlscert",
        "--tlskey",
        "--url",
        "--connection",
        "--identity",
        "--root",
        "--runroot",
        "--storage-driver",
        "--storage-opt",
        "-n",
        "--namespace",
        "-a",
        "--address",
        "--data-root",
    ],
    ..PLAIN
};
pub(super) const CONTAINER: Spec = Spec {
    switches: &[
        "-i",
        "-t",
        "-d",
        "-q",
        "-P",
        "--interactive",
        "--tty",
        "--detach",
        "--rm",
        "--init",
        "--read-only",
        "--quiet",
        "--no-healthcheck",
        "--publish-all",
        "--sig-proxy",
        "--oom-kill-disable",
        "--disable-content-trust",
        "--replace",
        "--help",
        "--privileged",
        "--no-hosts",
        "--rmi",
        "--tls-verify",
        "--read-only-tmpfs",
        "--env-host",
        "--http-proxy",
        "--passwd",
        "--use-api-socket",
    ],
    letters: true,
    ..PLAIN
};
pub(super) const DNX: Spec = Spec {
    values: &[
        "--version",
        "--source",
        "--add-source",
        "--configfile",
        "--framework",
        "-f",
        "-v",
        "--verbosity",
        "-c",
        "--configuration",
        "--project",
        "-p",
        "--launch-profile",
        "--runtime",
        "-r",
        "--arch",
        "-a",
        "--os",
        "--depsfile",
        "--runtimeconfig",
        "--additionalprobingpath",
        "--additional-deps",
        "--fx-version",
        "--roll-forward",
    ],
    ..PLAIN
};
pub(super) const DENO: Spec = Spec {
    values: &[
        "-c",
        "--config",
        "--import-map",
        "--lock",
        "--cert",
        "--location",
        "--seed",
        "-L",
        "--log-level",
        "--ext",
        "--node-modules-dir",
        "--preload",
        "--require",
        "--env-file",
        "--port",
        "--host",
        "--conditions",
    ],
    ..PLAIN
};
pub(super) const NODE: Spec = Spec {
    values: &[
        "-r",
        "--require",
        "--import",
        "--loader",
        "--experimental-loader",
        "-C",
        "--conditions",
        "--env-file",
        "--title",
        "--input-type",
        "--tsconfig",
        "-P",
        "--project",
        "--cwd",
        "--preload",
        "--diagnostic-dir",
        "--icu-data-dir",
        "--openssl-config",
    ],
    last: &["-e", "--eval", "-p", "--print"],
    ..PLAIN
};
pub(super) const PYTHON: Spec =
    Spec { values: &["-W", "-X", "--check-hash-based-pycs"], last: &["-c", "-m"], letters: true, ..PLAIN };
pub(super) const GO: Spec = Spec {
    values: &[
        "-C",
        "-exec",
        "-tags",
        "-mod",
        "-modfile",
        "-ldflags",
        "-gcflags",
        "-asmflags",
        "-overlay",
        "-p",
        "-o",
    ],
    ..PLAIN
};
pub(super) const JAVA: Spec = Spec {
    values: &["-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules", "--add-opens"],
    last: &["-jar", "--module"],
    ..PLAIN
};

impl Spec {
    /// Does this option take the next word, where its value is not written with `=`?
    pub fn takes_value(&self, name: &str) -> bool {
        match self.switches.is_empty() {
            true => self.values.contains(&name) || self.last.contains(&name),
            false => !self.switches.contains(&name),
        }
    }

    /// `-it`, `-eNAME=1`, `-v/:/host`: a letter with a value takes the rest of the word.
    fn split_letters(&self, word: &NameWord) -> Option<(Vec<Flag>, Option<String>)> {
        let letters = word.text.strip_prefix('-').filter(|rest| self.letters && !rest.starts_with('-'))?;
        if letters.chars().count() < 2 {
            return None;
        }
        let mut flags = Vec::new();
        for (at, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            if !self.takes_value(&name) {
                flags.push(Flag { name, value: None, at: None });
                continue;
            }
            let rest = &letters[at + letter.len_utf8()..];
            if rest.is_empty() {
                return Some((flags, Some(name)));
            }
            let value = rest.strip_prefix('=').unwrap_or(rest).to_owned();
            flags.push(Flag { name, value: Some(value), at: word.at });
            return Some((flags, None));
        }
        Some((flags, None))
    }
}

/// The options before what runs, and the words from there on.
pub(super) fn read(spec: &Spec, words: &[NameWord]) -> (Vec<Flag>, Vec<NameWord>) {
    let (flags, at) = options(spec, words);
    (flags, words.get(at..).unwrap_or_default().to_vec())
}

/// The position of the first word that is neither an option nor its value.
pub(super) fn first_operand(spec: &Spec, words: &[NameWord]) -> Option<usize> {
    let (_, at) = options(spec, words);
    (at < words.len()).then_some(at)
}

fn options(spec: &Spec, words: &[NameWord]) -> (Vec<Flag>, usize) {
    let (mut flags, mut at) = (Vec::new(), 0);
    while let Some(word) = words.get(at) {
        if word.text == "--" {
            return (flags, at + 1);
        }
        if !word.text.starts_with('-') || word.text.len() < 2 {
            break;
        }
        at += 1;
        let waiting = match word.text.split_once('=') {
            Some((name, value)) if word.text.starts_with("--") || spec.takes_value(name) => {
                flags.push(Flag { name: name.into(), value: Some(value.into()), at: word.at });
                continue;
            }
            _ => match spec.split_letters(word) {
                Some((letters, waiting)) => {
                    flags.extend(letters);
                    waiting
                }
                None if spec.takes_value(&word.text) => Some(word.text.clone()),
                None => {
                    flags.push(Flag { name: word.text.clone(), value: None, at: None });
                    None
                }
            },
        };
        if let Some(name) = waiting {
            let value = words.get(at);
            let ends = spec.last.contains(&name.as_str());
            flags.push(Flag {
                name,
                value: value.map(|word| word.text.clone()),
                at: value.and_then(|word| word.at),
            });
            at += 1;
            if ends {
                return (flags, at.min(words.len()));
            }
        }
    }
    (flags, at.min(words.len()))
}
