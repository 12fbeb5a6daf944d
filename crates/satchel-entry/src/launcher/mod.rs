//! What a command line runs: `npx`, `uvx`, `docker run` and the like, seen through shells and wrappers, with the package
//! and its version. Judges nothing: callers decide what they allow.

pub mod containers;
mod family;
mod options;
mod package;
mod unwrapped;

pub use family::{family, is_engine, starts_servers};
pub use options::{Flag, Spec};
pub use package::{Ecosystem, Package, is_exact};

pub use unwrapped::{command_of_windows, split, words};

use unwrapped::NameWord;

/// A program that starts servers, with the subcommand that does so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Launcher {
    /// `npx`, `npm exec`, `npm x`.
    Npx,
    /// `pnpm dlx`, `pnpx`.
    PnpmDlx,
    /// `yarn dlx`.
    YarnDlx,
    /// `bunx`, `bun x`.
    Bunx,
    /// `uvx`, `uv tool run`.
    Uvx,
    /// `uv run`.
    UvRun,
    /// `pipx run`.
    PipxRun,
    /// `docker run` and engines with the same options.
    Container,
    /// `dnx`, `dotnet dnx`, `dotnet tool exec`.
    Dnx,
    /// `deno run`.
    Deno,
    /// `node` and programs with the same options.
    Node,
    /// `bun run`, `bun FILE`.
    Bun,
    /// `python -m`, `python FILE`.
    Python,
    /// `go run`.
    GoRun,
    /// `java -jar`.
    Java,
    /// `dotnet FILE.dll`, `dotnet run`.
    Dotnet,
    /// A shell with its own line.
    Shell,
}

/// What is run in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runs {
    /// Packages that are fetched; the first contains the program. Never empty.
    Packages(Vec<Package>),
    /// A file or a directory of this computer.
    File(String),
    /// A module that the interpreter finds.
    Module(String),
    /// Code or a shell script that stands in the command line itself.
    Code(String),
    /// Code that is loaded from an address.
    Address(String),
    /// A program without a launcher that is known here.
    Program(String),
    /// The command line names nothing to run.
    Nothing,
}

/// A command line, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Who starts it; `None` for a program itself.
    pub launcher: Option<Launcher>,
    /// The launcher's name as written, without directory and extension: `podman` for a [`Launcher::Container`].
    pub program: String,
    /// The wrappers in front, outermost first: `cmd`, `env`, `sh`.
    pub through: Vec<String>,
    /// Variables that wrappers set.
    pub variables: Vec<(String, String)>,
    /// Its options before a subcommand: `docker -H HOST run`.
    pub before: Vec<Flag>,
    /// The launcher's own options.
    pub flags: Vec<Flag>,
    /// What it runs.
    pub runs: Runs,
    /// The arguments of what it runs.
    pub args: Vec<String>,
}

impl Launch {
    /// Reads a command and its arguments.
    pub fn of(command: &str, args: &[String]) -> Self {
        let unwrapped = unwrapped::of(command, args);
        if let Some(code) = unwrapped.code {
            return Self {
                launcher: Some(Launcher::Shell),
                program: unwrapped.through.last().cloned().unwrap_or_default(),
                through: unwrapped.through,
                variables: unwrapped.variables,
                before: vec![],
                flags: vec![],
                runs: Runs::Code(code),
                args: vec![],
            };
        }
        let (program, words) = match unwrapped.words.split_first() {
            Some((program, words)) => (program_name(&program.text), words),
            None => (String::new(), &[][..]),
        };
        let whole = unwrapped.words.first().map(|word| word.text.clone()).unwrap_or_default();
        let mut launch = Self {
            launcher: None,
            runs: if whole.is_empty() { Runs::Nothing } else { Runs::Program(whole) },
            args: words.iter().map(|word| word.text.clone()).collect(),
            program,
            through: unwrapped.through,
            variables: unwrapped.variables,
            before: vec![],
            flags: vec![],
        };
        if let Some((launcher, rest, before)) = subcommand(&launch.program, words) {
            launch.read(launcher, rest, before);
        }
        launch
    }

    fn read(&mut self, launcher: Launcher, words: &[NameWord], before: &[NameWord]) {
        self.launcher = Some(launcher);
        let spec = launcher.spec();
        let (flags, rest) = options::read(spec, words);
        let of_engine = if launcher == Launcher::Container { &options::ENGINE } else { spec };
        self.before = options::read(of_engine, before).0;
        (self.runs, self.args) = launcher.runs(&self.before, &flags, &rest);
        self.flags = flags;
    }

    /// The package that contains the program.
    pub fn package(&self) -> Option<&Package> {
        self.packages().first()
    }

    /// All packages that it names, the one with the program first.
    pub fn packages(&self) -> &[Package] {
        match &self.runs {
            Runs::Packages(packages) => packages,
            _ => &[],
        }
    }

    /// A name for the server: of its package, image, module or file, without scope, version and extension.
    pub fn name(&self) -> Option<String> {
        let text = match &self.runs {
            Runs::Packages(packages) => return packages.first().map(|package| package.short().to_owned()),
            Runs::File(path) | Runs::Program(path) => path,
            Runs::Module(module) => return module.split('.').next().map(ToOwned::to_owned),
            Runs::Address(url) => url.split(['?', '#']).next().unwrap_or(url),
            Runs::Code(_) | Runs::Nothing => return None,
        };
        let last = text.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(text);
        let endings = [".exe", ".cmd", ".bat", ".js", ".mjs", ".cjs", ".ts", ".py", ".jar", ".dll", ".sh"];
        let name = endings.iter().find_map(|ending| last.strip_suffix(ending)).unwrap_or(last);
        let usual =
            ["index", "main", "server", "dist", "build", "src", "__main__", "cli", "."].contains(&name);
        let common = usual && !matches!(self.runs, Runs::Program(_));
        let above = text.rsplit(['/', '\\']).skip(1).find(|part| {
            !matches!(*part, "" | "." | ".." | "dist" | "build" | "src" | "lib" | "bin" | "out")
        });
        Some(above.filter(|_| common).unwrap_or(name).to_owned()).filter(|name| !name.is_empty())
    }

    /// The program that may download or build what it starts, also one in a shell's script.
    pub fn fetcher(&self) -> Option<String> {
        let in_script = |line: &String| {
            let words = line.split(|c: char| c.is_whitespace() || ";|&()".contains(c));
            words.map(program_name).find(|word| family::fetches(word))
        };
        match &self.runs {
            Runs::Code(line) if self.launcher == Some(Launcher::Shell) => in_script(line),
            _ => Some(self.program.clone()).filter(|program| family::fetches(program)),
        }
    }

    /// Does it run what is written in the command line itself, or loaded from an address?
    pub fn runs_what_is_written(&self) -> bool {
        matches!(self.runs, Runs::Code(_) | Runs::Address(_))
    }

    /// The values of an option under any of its names.
    pub fn values<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let named = self.flags.iter().filter(|flag| names.contains(&flag.name.as_str()));
        named.filter_map(|flag| flag.value.as_deref())
    }
}

impl Launcher {
    /// Its options.
    pub fn spec(self) -> &'static Spec {
        match self {
            Launcher::Npx => &options::NPX,
            Launcher::PnpmDlx | Launcher::YarnDlx => &options::DLX,
            Launcher::Bunx => &options::BUNX,
            Launcher::Uvx | Launcher::UvRun => &options::UV,
            Launcher::PipxRun => &options::PIPX,
            Launcher::Container => &options::CONTAINER,
            Launcher::Dnx | Launcher::Dotnet => &options::DNX,
            Launcher::Deno => &options::DENO,
            Launcher::Node | Launcher::Bun => &options::NODE,
            Launcher::Python => &options::PYTHON,
            Launcher::GoRun => &options::GO,
            Launcher::Java => &options::JAVA,
            Launcher::Shell => &options::NONE,
        }
    }

    /// The naming scheme of its packages.
    pub fn ecosystem(self) -> Option<Ecosystem> {
        match self {
            Launcher::Npx | Launcher::PnpmDlx | Launcher::YarnDlx | Launcher::Bunx => Some(Ecosystem::Npm),
            Launcher::Uvx | Launcher::PipxRun => Some(Ecosystem::PyPi),
            Launcher::Container => Some(Ecosystem::Image),
            Launcher::Dnx => Some(Ecosystem::NuGet),
            Launcher::Deno => Some(Ecosystem::Npm),
            Launcher::GoRun => Some(Ecosystem::Go),
            Launcher::UvRun
            | Launcher::Node
            | Launcher::Bun
            | Launcher::Python
            | Launcher::Java
            | Launcher::Dotnet
            | Launcher::Shell => None,
        }
    }

    /// What it runs with these options, and that program's arguments.
    fn runs(self, before: &[Flag], flags: &[Flag], rest: &[NameWord]) -> (Runs, Vec<String>) {
        let values = |names: &[&str]| -> Vec<(String, Option<usize>)> {
            let named = flags.iter().chain(before).filter(|flag| names.contains(&flag.name.as_str()));
            named.filter_map(|flag| Some((flag.value.clone()?, flag.at))).collect()
        };
        let texts = |words: &[NameWord]| words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
        let first = rest.first();
        let after = || texts(rest.get(1..).unwrap_or_default());
        let code = |names: &[&str]| values(names).into_iter().next().map(|(code, _)| Runs::Code(code));
        let packages = |names: &[&str]| {
            let scheme = self.ecosystem()?;
            let mut named: Vec<Package> =
                values(names).into_iter().map(|(text, at)| Package::new(scheme, text, at)).collect();
            if named.is_empty() {
                named.extend(first.map(|word| Package::new(scheme, word.text.clone(), word.at)));
            }
            (!named.is_empty()).then_some(Runs::Packages(named))
        };
        let file = |word: &NameWord| match word.text.as_str() {
            // A script on standard input.
            "-" => Runs::Code(word.text.clone()),
            text if text.contains("://") || text.starts_with("data:") => Runs::Address(word.text.clone()),
            _ => Runs::File(word.text.clone()),
        };
        let runs = match self {
            Launcher::Npx => code(&["-c", "--call"]).or_else(|| packages(&["-p", "--package"])),
            Launcher::PnpmDlx | Launcher::YarnDlx | Launcher::Bunx => packages(&["-p", "--package"]),
            Launcher::Uvx => packages(&["--from"]),
            Launcher::PipxRun => packages(&["--spec"]),
            Launcher::Container | Launcher::Dnx | Launcher::GoRun => packages(&[]),
            Launcher::UvRun | Launcher::Python | Launcher::Bun | Launcher::Node | Launcher::Java => {
                let module = if self == Launcher::Java { &["--module"][..] } else { &["-m", "--module"] };
                let code = match self {
                    Launcher::Python => code(&["-c"]),
                    Launcher::Node | Launcher::Bun => code(&["-e", "--eval", "-p", "--print"]),
                    _ => None,
                };
                let named = values(module).into_iter().next().map(|(module, _)| Runs::Module(module));
                let jar = values(&["-jar"]).into_iter().next().map(|(jar, _)| match jar.contains("://") {
                    true => Runs::Address(jar),
                    false => Runs::File(jar),
                });
                if code.is_some() || named.is_some() || jar.is_some() {
                    return (code.or(named).or(jar).unwrap_or(Runs::Nothing), texts(rest));
                }
                first.map(|word| match self {
                    // `uv run server` runs a program of the environment.
                    Launcher::UvRun if !is_file(&word.text) => Runs::Program(word.text.clone()),
                    _ => file(word),
                })
            }
            Launcher::Deno => code(&["--eval"]).or_else(|| {
                first.map(|word| match word.text.split_once(':') {
                    Some(("npm" | "jsr", _)) => {
                        let text =
                            word.text.split_once(':').map_or("", |(_, text)| text).trim_start_matches('/');
                        Runs::Packages(vec![Package::new(Ecosystem::Npm, text.to_owned(), None)])
                    }
                    _ => file(word),
                })
            }),
            Launcher::Dotnet => first.map(file),
            Launcher::Shell => None,
        };
        (runs.unwrap_or(Runs::Nothing), after())
    }
}

fn is_file(text: &str) -> bool {
    text == "-"
        || text.contains(['/', '\\'])
        || [".py", ".pyw", ".js", ".ts"].iter().any(|ending| text.ends_with(ending))
}

/// The launcher, the words after its subcommand, and the options before that.
fn subcommand<'a>(
    program: &str,
    words: &'a [NameWord],
) -> Option<(Launcher, &'a [NameWord], &'a [NameWord])> {
    let whole = |launcher| Some((launcher, words, &words[..0]));
    let at = |names: &[&str], spec: &Spec| {
        let at = options::first_operand(spec, words)?;
        names.contains(&words[at].text.as_str()).then_some(at)
    };
    let after = |launcher, names: &[&str], spec: &Spec| {
        at(names, spec).map(|at| (launcher, &words[at + 1..], &words[..at]))
    };
    let nested = |launcher, outer: &[&str], inner: &str, spec: &Spec| {
        let at = at(outer, spec)?;
        (words.get(at + 1)?.text == inner).then(|| (launcher, &words[at + 2..], &words[..at]))
    };
    match program {
        "npx" => whole(Launcher::Npx),
        "pnpx" | "pnx" => whole(Launcher::PnpmDlx),
        "bunx" => whole(Launcher::Bunx),
        "uvx" => whole(Launcher::Uvx),
        "dnx" => whole(Launcher::Dnx),
        "npm" => after(Launcher::Npx, &["exec", "x"], &options::NPX),
        "pnpm" => after(Launcher::PnpmDlx, &["dlx"], &options::DLX),
        "yarn" | "yarnpkg" => after(Launcher::YarnDlx, &["dlx"], &options::DLX),
        "bun" => after(Launcher::Bunx, &["x"], &options::BUNX)
            .or_else(|| after(Launcher::Bun, &["run"], &options::NODE))
            .or_else(|| whole(Launcher::Bun)),
        "uv" => nested(Launcher::Uvx, &["tool"], "run", &options::UV)
            .or_else(|| after(Launcher::Uvx, &["x"], &options::UV))
            .or_else(|| after(Launcher::UvRun, &["run"], &options::UV)),
        "pipx" => after(Launcher::PipxRun, &["run"], &options::PIPX),
        "docker" | "podman" | "nerdctl" | "finch" => {
            nested(Launcher::Container, &["container"], "run", &options::ENGINE)
                .or_else(|| after(Launcher::Container, &["run", "create"], &options::ENGINE))
        }
        "dotnet" => nested(Launcher::Dnx, &["tool"], "exec", &options::DNX)
            .or_else(|| after(Launcher::Dnx, &["dnx"], &options::DNX))
            .or_else(|| after(Launcher::Dotnet, &["run", "exec"], &options::DNX))
            .or_else(|| whole(Launcher::Dotnet)),
        "deno" => {
            after(Launcher::Deno, &["run", "serve", "x", "install", "test", "bench", "repl"], &options::DENO)
                .or_else(|| whole(Launcher::Deno))
        }
        "node" | "nodejs" | "tsx" | "ts-node" => whole(Launcher::Node),
        "go" => after(Launcher::GoRun, &["run"], &options::GO),
        "java" => whole(Launcher::Java),
        _ if is_python(program) => whole(Launcher::Python),
        _ => None,
    }
}

/// `python`, `python3`, `python3.12`, `py`, `pypy3`.
fn is_python(program: &str) -> bool {
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(bare, "python" | "pythonw" | "py" | "pyw" | "pypy")
}

/// A program's name without directory and Windows extension, in lower case.
pub fn program_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    let endings = [".exe", ".cmd", ".bat", ".ps1"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).map_or(name.clone(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests;
