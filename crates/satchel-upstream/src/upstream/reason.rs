//! Chooses the line of a process's last output that explains why it ended. Knows how common runtimes and launchers
//! report errors. Pure.

use std::ops::ControlFlow;

/// Maximum length of a reason, in characters.
const LONGEST: usize = 300;

/// How informative a line is, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// A process reports another one's failure, or a log file.
    Wrapper,
    /// Anything else.
    Plain,
    /// It contains a word typical of errors.
    Suspicious,
    /// Logged as an error.
    Logged,
    /// It starts like an error message.
    Error,
}

/// The line of `lines` (oldest first) that best explains the failure; `None` if there is none.
pub(super) fn reason<T: AsRef<str>>(lines: &[T]) -> Option<String> {
    let lines: Vec<String> = lines.iter().map(|line| plain(line.as_ref())).collect();
    let mut best: Option<(Weight, String)> = None;
    let mut usage = false;
    let mut npm_said = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim();
        if is_usage(text) {
            usage = true;
            continue;
        }
        if usage && (text.is_empty() || line.starts_with([' ', '\t', '-'])) {
            continue;
        }
        usage = false;
        // It already follows the line that it explains.
        let explained = text.starts_with("Because ") && at > 0 && lines[at - 1].trim_end().ends_with(':');
        if explained || is_skipped(line) {
            continue;
        }
        let rest = &lines[at + 1..];
        let (weight, words) = match npm(text) {
            // What npm says after its first sentence is advice.
            Some(_) if npm_said => continue,
            Some(None) => continue,
            Some(Some(said)) => {
                npm_said = true;
                (Weight::Error, said.to_owned())
            }
            None => weighed(text, rest),
        };
        if best.as_ref().is_none_or(|(known, _)| weight >= *known) {
            best = Some((weight, words));
        }
    }
    best.map(|(_, words)| shortened(&words)).filter(|words| !words.is_empty())
}

/// Can this line never be the reason, whatever surrounds it? Stacks can be longer than what is kept.
pub(super) fn is_frame(line: &str) -> bool {
    let text = line.trim_start();
    let indented = text.len() < line.len();
    let numbered = || {
        let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
        digits.len() < text.len() && digits.starts_with(": ")
    };
    let is_place =
        || text.starts_with("at ") || text.starts_with("from ") || numbered() || text.contains(".go:");
    indented && is_place()
        || text.starts_with("goroutine ") && text.ends_with(':')
        || text.starts_with('#') && text[1..].starts_with(|c: char| c.is_ascii_digit())
        || indented && text.starts_with("... ") && text.ends_with(" more")
        || text.starts_with("created by ") && text.contains("goroutine")
        || text.starts_with("main.main()")
}

/// Without colors and box-drawing frames around messages.
fn plain(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // The log replaces control characters by U+FFFD.
            '\u{1b}' | '\u{fffd}' if chars.peek() == Some(&'[') => {
                chars.next();
                for next in chars.by_ref() {
                    if next.is_ascii_alphabetic() {
                        break;
                    }
                }
            }
            '\u{fffd}' => {}
            '\u{2500}'..='\u{257f}' | '▶' | '×' | '✖' | '✘' | '❌' | '✗' => plain.push(' '),
            c if c.is_control() && c != '\t' => {}
            c => plain.push(c),
        }
    }
    plain.trim_end().to_owned()
}

fn is_usage(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["usage:", "options:", "commands:", "flags:", "arguments:", "examples:", "positional arguments:"]
        .iter()
        .any(|head| lower.starts_with(head))
}

/// Uninformative: blank, part of a stack, a source excerpt, a notice.
fn is_skipped(line: &str) -> bool {
    const BEGINS: [&str; 22] = [
        "Node.js v",
        "Bun v",
        "(node:",
        "(Use `node",
        "npm notice",
        "npm warn",
        "npm WARN",
        "warning:",
        "Warning:",
        "note:",
        "See 'docker",
        "Run 'docker",
        "Try '",
        "Try `",
        "For more information",
        "Traceback (most recent call last)",
        "The above exception was the direct cause",
        "During handling of the above exception",
        "Stack trace:",
        "Require stack:",
        "stack backtrace:",
        "[Previous line repeated",
    ];
    const IS: [&str; 7] = [
        "Error",
        "Error:",
        "error:",
        "[signal",
        "Waiting for the debugger to disconnect...",
        "For help, see:",
        "Caused by:",
    ];
    let text = line.trim();
    text.is_empty()
        || is_frame(line)
        || text
            .chars()
            .all(|c| matches!(c, '^' | '~' | '|' | ' ' | '.' | '-' | '=' | '{' | '}' | '[' | ']' | ',' | ';'))
        || BEGINS.iter().any(|begin| text.starts_with(begin))
        || IS.contains(&text)
        // It follows what it causes, and is reported with that.
        || line.starts_with([' ', '\t']) && text.starts_with("Caused by:")
        || text.starts_with("[signal ")
        || text.starts_with("File \"") && text.contains("line ")
        || text.starts_with("throw ")
        || is_source(text)
        || is_property(line)
        || text.starts_with("thrown in ") && text.contains(" on line ")
        || text.starts_with("error Command failed with exit code")
}

/// `/x/y.js:12`, `file:///x.mjs:3`, `12 | code`: a source location or excerpt.
fn is_source(text: &str) -> bool {
    let numbered = text.split_once(" | ").or_else(|| text.split_once('|'));
    if numbered.is_some_and(|(number, _)| {
        !number.trim().is_empty() && number.trim().bytes().all(|byte| byte.is_ascii_digit())
    }) {
        return true;
    }
    let place = text.rsplit_once(':').is_some_and(|(path, line)| {
        !line.is_empty()
            && line.bytes().all(|byte| byte.is_ascii_digit())
            && !path.contains(' ')
            && (path.contains('/') || path.contains('\\'))
    });
    place && !text.contains("://localhost") && !text.starts_with("http")
}

/// `  code: 'MODULE_NOT_FOUND',` as Node prints an error's properties.
fn is_property(line: &str) -> bool {
    const NAMES: [&str; 12] = [
        "code",
        "errno",
        "syscall",
        "path",
        "requireStack",
        "hostname",
        "address",
        "port",
        "dest",
        "spawnargs",
        "triggerUncaughtException",
        "[cause]",
    ];
    let text = line.trim_start();
    text.len() < line.len() && text.split_once(':').is_some_and(|(name, _)| NAMES.contains(&name))
        || text.starts_with("- /")
}

/// npm's message: `None` if the line is not npm's, `Some(None)` if it is uninformative.
fn npm(text: &str) -> Option<Option<&str>> {
    const META: [&str; 13] = [
        "code ",
        "syscall ",
        "path ",
        "errno ",
        "dest ",
        "signal ",
        "command ",
        "A complete log",
        "Log files",
        "This is probably not a problem with npm",
        "notarget a package version",
        "notarget In most cases",
        "cwd ",
    ];
    let said = text.strip_prefix("npm error").or_else(|| text.strip_prefix("npm ERR!"))?.trim_start();
    // The code is repeated before each line.
    let said = match said.split_once(' ') {
        Some((word, rest)) if word == "404" || word == "enoent" || word == "notarget" || word == "EACCES" => {
            rest.trim_start()
        }
        None if said.bytes().all(|byte| byte.is_ascii_alphanumeric()) => "",
        _ => said,
    };
    let meta = said.is_empty() || said.starts_with('\'') || META.iter().any(|meta| said.starts_with(meta));
    Some((!meta).then_some(said))
}

/// A line with its weight, and the text to show. `rest` is what follows it.
fn weighed(text: &str, rest: &[String]) -> (Weight, String) {
    if let Some(logged) = json_log(text) {
        return logged;
    }
    if let Some(words) = panicked(text, rest) {
        return (Weight::Error, words);
    }
    let bare = without_stamp(text);
    let weight = match bare {
        bare if is_wrapper(bare) => Weight::Wrapper,
        bare if begins_as_error(bare) => Weight::Error,
        bare if is_logged_error(bare) => Weight::Logged,
        bare if is_suspicious(bare) => Weight::Suspicious,
        _ => Weight::Plain,
    };
    (weight, continued(bare, rest))
}

/// `thread 'main' panicked at src/main.rs:3:5:`, with the message on the next line; before Rust 1.73 on the same one.
fn panicked(text: &str, rest: &[String]) -> Option<String> {
    let (_, at) = text.strip_prefix("thread '").and_then(|thread| thread.split_once(" panicked at "))?;
    if let Some(message) = at.strip_prefix('\'')
        && let Some((message, _)) = message.rsplit_once("', ")
    {
        return Some(message.to_owned());
    }
    rest.iter().map(|line| line.trim()).find(|line| !line.is_empty()).map(ToOwned::to_owned)
}

/// One line of a structured log (pino, winston, zap, slog).
fn json_log(text: &str) -> Option<(Weight, String)> {
    if !text.starts_with('{') || !text.ends_with('}') {
        return None;
    }
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).ok()?;
    let said = |name: &str| match fields.get(name)? {
        serde_json::Value::String(words) => Some(words.clone()),
        serde_json::Value::Object(inner) => inner.get("message")?.as_str().map(ToOwned::to_owned),
        _ => None,
    };
    let message = ["msg", "message", "err", "error", "text"].into_iter().find_map(said)?;
    let level = fields.get("level").or_else(|| fields.get("severity")).or_else(|| fields.get("levelname"));
    let is_error = match level {
        Some(serde_json::Value::String(level)) => {
            ["error", "fatal", "critical", "panic", "crit"].contains(&level.to_lowercase().as_str())
        }
        Some(serde_json::Value::Number(level)) => level.as_u64().is_some_and(|level| level >= 50),
        _ => false,
    };
    Some((if is_error { Weight::Error } else { Weight::Plain }, message))
}

/// Without the time stamp and program name that precede messages in many logs.
fn without_stamp(text: &str) -> &str {
    let mut rest = text;
    for _ in 0..3 {
        let Some((word, after)) = rest.split_once(' ') else { break };
        let bare = word.trim_matches(['[', ']', ',']);
        let digits = bare.bytes().filter(u8::is_ascii_digit).count();
        let is_stamp = digits >= 4
            && bare.bytes().all(|byte| byte.is_ascii_digit() || b"-/:.,TZ+".contains(&byte))
            && bare.contains(['-', '/', ':']);
        if !is_stamp {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

fn is_wrapper(text: &str) -> bool {
    const WRAPPERS: [&str; 8] = [
        "exit status ",
        "exit code ",
        "exited with code",
        "exit code: ",
        "exited with exit code",
        "Command failed with exit code",
        "returned non-zero exit status",
        "ELIFECYCLE",
    ];
    WRAPPERS.iter().any(|words| text.contains(words)) || text.starts_with("make: ***")
}

/// `Error: …`, `TypeError: …`, `java.lang.IllegalStateException: …`, `error: …`, `panic: …`, `docker: …`, `x: error: …`
fn begins_as_error(text: &str) -> bool {
    const BEGINS: [&str; 15] = [
        "error:",
        "error[",
        "fatal:",
        "fatal error:",
        "panic:",
        "uncaught ",
        "unhandled ",
        "caused by:",
        "exception in ",
        "docker:",
        "error response from daemon",
        "php fatal error:",
        "** (",
        "critical:",
        "error -",
    ];
    let lower = text.to_lowercase();
    if BEGINS.iter().any(|begin| lower.starts_with(begin)) {
        return true;
    }
    // An exception class, with a code in brackets: `Error [ERR_X]: …`.
    let head = text.split_once(':').map_or(text, |(head, _)| head);
    let class = head.split([' ', '[', '(']).next().unwrap_or_default();
    let is_class = class.len() > 4
        && class.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$' | '/'))
        && ["Error", "Exception", "Exit", "Interrupt", "Failure"].iter().any(|end| class.ends_with(end));
    if is_class
        && (text.len() == class.len() || head.len() < text.len() && brackets_only(&head[class.len()..]))
    {
        return true;
    }
    // `server.py: error: the following arguments are required`, `sh: 1: mcp-x: not found`.
    let program = text.split_once(": ").filter(|(program, _)| !program.contains(' '));
    program.is_some_and(|(_, said)| {
        let said = said.to_lowercase();
        said.starts_with("error:")
            || said.starts_with("fatal")
            || said.ends_with("not found")
            || said.ends_with("no such file or directory")
            || said.ends_with("permission denied")
            || said.contains("cannot execute")
    })
}

fn brackets_only(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.starts_with(['[', '(']) && text.ends_with([']', ')'])
}

/// `ERROR server: …`, `[error] …`, `level=error msg=…`.
fn is_logged_error(text: &str) -> bool {
    const LEVELS: [&str; 9] =
        ["ERROR", "FATAL", "CRITICAL", "PANIC", "[error]", "[fatal]", "level=error", "level=fatal", "ERR"];
    let mut words = text.split([' ', ':', '|']).filter(|word| !word.is_empty()).take(4);
    words.any(|word| {
        LEVELS.contains(&word) || LEVELS.contains(&word.trim_matches(['[', ']', '(', ')', '<', '>']))
    })
}

fn is_suspicious(text: &str) -> bool {
    const WORDS: [&str; 26] = [
        "error",
        "fail",
        "cannot",
        "can't",
        "could not",
        "couldn't",
        "unable",
        "missing",
        "required",
        "must ",
        "not set",
        "not found",
        "no such",
        "denied",
        "invalid",
        "unauthorized",
        "forbidden",
        "refused",
        "expired",
        "unknown",
        "unexpected",
        "already in use",
        "not installed",
        "please set",
        "please provide",
        "exception",
    ];
    let lower = text.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word)) || lower.starts_with("no ")
}

/// Joins a line that ends with a colon, or is followed by its cause, with the next one.
fn continued(text: &str, rest: &[String]) -> String {
    let said = |line: &&String| !is_skipped(line) && !is_usage(line.trim());
    let cause = rest.iter().filter(|line| !line.trim().is_empty()).try_fold(false, |inside, line| {
        let text = line.trim();
        if inside {
            return ControlFlow::Break(Some(without_number(text)));
        }
        match text.strip_prefix("Caused by:") {
            Some("") => ControlFlow::Continue(true),
            // Java's causes have a class of their own and are weighed separately.
            Some(cause) if line.starts_with([' ', '\t']) => ControlFlow::Break(Some(cause.trim())),
            _ => ControlFlow::Break(None),
        }
    });
    if let ControlFlow::Break(Some(cause)) = cause {
        return format!("{}: {cause}", text.trim_end_matches(':'));
    }
    // uv explains below a line that it draws.
    let next = rest.iter().take(1).find(said).map(|line| line.trim());
    match next {
        Some(next) if text.ends_with(':') => format!("{text} {next}"),
        Some(next) if next.starts_with("Because ") => format!("{text}: {next}"),
        _ => text.to_owned(),
    }
}

/// `0: no such file`, as anyhow numbers causes.
fn without_number(text: &str) -> &str {
    match text.split_once(": ") {
        Some((number, cause)) if number.bytes().all(|byte| byte.is_ascii_digit()) => cause,
        _ => text,
    }
}

fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, expected: &str) {
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(reason(&lines).unwrap_or_default(), expected, "of\n{output}");
    }

    #[test]
    fn node_deno_and_bun() {
        check(
            "/srv/x.js:3\n    throw new Error(\"no API key\");\n    ^\n\nError: no API key\n    at Object.<anonymous> (/srv/x.js:3:11)\n    at node:internal/main/run_main_module:28:49\n\nNode.js v22.11.0",
            "Error: no API key",
        );
        check(
            "node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module '/srv/none.js'\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15) {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v22.11.0",
            "Error: Cannot find module '/srv/none.js'",
        );
        check(
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/a.mjs\n    at packageResolve (node:internal/modules/esm/resolve:839:9) {\n  code: 'ERR_MODULE_NOT_FOUND'\n}\n\nNode.js v20.1.0",
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/a.mjs",
        );
        check(
            "Error: listen EADDRINUSE: address already in use :::3000\n    at Server.setupListenHandle [as _listen2] (node:net:1817:16)\n  code: 'EADDRINUSE',\n  errno: -98,\n  port: 3000\n}",
            "Error: listen EADDRINUSE: address already in use :::3000",
        );
        check(
            "TypeError: Cannot read properties of undefined (reading 'x')\n    at f (a.js:1:1)",
            "TypeError: Cannot read properties of undefined (reading 'x')",
        );
        check(
            "error: Uncaught (in promise) Error: no API key\n    throw new Error(\"no API key\");\n          ^\n    at file:///srv/x.ts:1:7",
            "error: Uncaught (in promise) Error: no API key",
        );
        check(
            "1 | throw new Error(\"no API key\");\n          ^\nerror: no API key\n      at /srv/x.js:1:7\n\nBun v1.1.0 (Linux x64)",
            "error: no API key",
        );
        check(
            "(node:12) ExperimentalWarning: x\n(Use `node --trace-warnings ...` to show)\nGITHUB_TOKEN environment variable is required",
            "GITHUB_TOKEN environment variable is required",
        );
    }

    #[test]
    fn npm_and_uv() {
        check(
            "npm warn exec The following package was not found\nnpm error code E404\nnpm error 404 Not Found - GET https://registry.example/none - Not found\nnpm error 404\nnpm error 404  'none@*' is not in this registry.\nnpm error A complete log of this run can be found in: /home/u/.npm/_logs/x.log\nnpm notice New major version of npm available!",
            "Not Found - GET https://registry.example/none - Not found",
        );
        check(
            "npm ERR! code ENOENT\nnpm ERR! syscall open\nnpm ERR! path /srv/package.json\nnpm ERR! errno -2\nnpm ERR! enoent Could not read package.json: Error: ENOENT",
            "Could not read package.json: Error: ENOENT",
        );
        check(
            "npm error could not determine executable to run\nnpm error A complete log",
            "could not determine executable to run",
        );
        check(
            "  × No solution found when resolving tool dependencies:\n  ╰─▶ Because none was not found in the package registry and you require none,\n      we can conclude that your requirements are unsatisfiable.",
            "No solution found when resolving tool dependencies: Because none was not found in the package registry and you require none,",
        );
        check(
            "error: Failed to fetch: `https://x/none`\n  Caused by: dns error",
            "error: Failed to fetch: `https://x/none`: dns error",
        );
    }

    #[test]
    fn python_ends_with_the_right_line() {
        check(
            "Traceback (most recent call last):\n  File \"/srv/x.py\", line 3, in <module>\n    raise RuntimeError(\"no API key\")\nRuntimeError: no API key",
            "RuntimeError: no API key",
        );
        check(
            "Traceback (most recent call last):\n  File \"a\", line 1, in f\n    g()\n    ~^^\nKeyError: 'KEY'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a\", line 2\nmy.pkg.ConfigError: KEY is not set",
            "my.pkg.ConfigError: KEY is not set",
        );
        check(
            "Traceback (most recent call last):\n  File \"a\", line 1, in <module>\n    import mcp\nModuleNotFoundError: No module named 'mcp'",
            "ModuleNotFoundError: No module named 'mcp'",
        );
        check(
            "usage: server [-h] --key KEY\nserver: error: the following arguments are required: --key",
            "server: error: the following arguments are required: --key",
        );
        check("ERROR:root:no API key\nINFO:root:bye", "ERROR:root:no API key");
    }

    #[test]
    fn java_go_rust_and_others() {
        check(
            "Exception in thread \"main\" java.lang.IllegalStateException: no API key\n\tat com.example.Main.main(Main.java:5)\n\t... 3 more",
            "Exception in thread \"main\" java.lang.IllegalStateException: no API key",
        );
        check(
            "Exception in thread \"main\" a.BeanException: cannot make x\n\tat a.B.c(B.java:5)\nCaused by: java.lang.IllegalArgumentException: TOKEN is empty\n\tat a.B.d(B.java:9)\n\t... 12 more",
            "Caused by: java.lang.IllegalArgumentException: TOKEN is empty",
        );
        check(
            "panic: no API key\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/x.go:4 +0x25\nexit status 2",
            "panic: no API key",
        );
        check("2026/11/22 18:00:00 no API key\nexit status 1", "no API key");
        check(
            "thread 'main' panicked at src/main.rs:3:5:\nno API key\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
            "no API key",
        );
        check(
            "thread 'main' panicked at 'no API key', src/main.rs:2:5\nnote: run with `RUST_BACKTRACE=1`",
            "no API key",
        );
        check(
            "Error: cannot start\n\nCaused by:\n    0: no API key\n    1: gone",
            "Error: cannot start: no API key",
        );
        check(
            "error: the following required arguments were not provided:\n  --api-key <KEY>\n\nUsage: server --api-key <KEY>\n\nFor more information, try '--help'.",
            "error: the following required arguments were not provided: --api-key <KEY>",
        );
        check(
            "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\nSee 'docker run --help'.",
            "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        );
        check(
            "Unable to find image 'none:latest' locally\ndocker: Error response from daemon: pull access denied for none.\nSee 'docker run --help'.",
            "docker: Error response from daemon: pull access denied for none.",
        );
        check(
            "Unhandled exception. System.InvalidOperationException: no API key\n   at Program.Main()",
            "Unhandled exception. System.InvalidOperationException: no API key",
        );
        check("sh: 1: mcp-none: not found", "sh: 1: mcp-none: not found");
        check("env: 'node': No such file or directory", "env: 'node': No such file or directory");
    }

    #[test]
    fn text_around_the_reason_is_left_out() {
        check(
            "no API key given\n\nUsage: server --key KEY\n  --key   the key\n  --help  show this",
            "no API key given",
        );
        check(
            "Usage: cmd [OPTIONS]\nTry 'cmd --help' for help.\n\nError: Missing option '--key'.",
            "Error: Missing option '--key'.",
        );
        check(
            "╭─ Error ─────────────────────╮\n│ Missing option '--key'.     │\n╰─────────────────────────────╯",
            "Missing option '--key'.",
        );
        check("\n\n   \u{fffd}[31mError: no API key\u{fffd}[39m\n\n", "Error: no API key");
        check(r#"{"level":50,"time":1,"msg":"no API key"}"#, "no API key");
        check(
            "{\"level\":\"error\",\"message\":\"no API key\"}\n{\"level\":\"info\",\"message\":\"bye\"}",
            "no API key",
        );
        check("starting\nMissing API key\nshutting down", "Missing API key");
        check("hello\nbye", "bye");
        check("Error: no API key\nerror Command failed with exit code 1.", "Error: no API key");
        check("2026-11-22T18:00:00.123Z [error] no API key", "[error] no API key");
        check("", "");
        check("Node.js v22.1.0\n\n    ^", "");
        let long = format!("Error: {}", "x".repeat(900));
        assert_eq!(reason(&[long]).unwrap().chars().count(), LONGEST + 1);
    }
}
