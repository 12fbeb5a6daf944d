//! `import`: imports servers from other programs' files, pasted text, bundles and registry descriptions.

use std::{
    collections::BTreeMap,
    io::IsTerminal,
    path::{Path, PathBuf},
    process::ExitCode,
};

use satchel_core::{
    clients::table,
    files::Places,
    model::{
        clients::{Findings, FoundServer, From, Imported},
        left::Left,
        request::{FindServers, ImportServers},
    },
};

use super::{clients::environment, read_input};
use crate::{
    Usage,
    args::Import,
    output::{self, one_line, say, say_aside, say_json},
    reach::once,
};

/// Maximum width of a command line.
const RUNS_WIDTH: usize = 60;

pub(crate) async fn run(places: &Places, import: Import, json: bool) -> anyhow::Result<ExitCode> {
    let from = source(&import)?;
    if import.dry_run {
        let request = FindServers { from, environment: environment() };
        let findings: Findings = once(places, request).await?;
        match json {
            true => say_json(&findings)?,
            false => show(&findings),
        }
        return Ok(ExitCode::SUCCESS);
    }
    let answers: BTreeMap<_, _> =
        import.set.iter().map(|(id, value)| (id.clone(), value.clone().into())).collect();
    let request = ImportServers {
        from,
        names: (!import.only.is_empty()).then_some(import.only),
        answers,
        take_out: import.take_out,
        dry_run: false,
        named: BTreeMap::new(),
        replace: vec![],
        off: false,
        environment: environment(),
    };
    let imported: Imported = once(places, request).await?;
    match json {
        true => say_json(&imported)?,
        false => tell(&imported),
    }
    let nothing = imported.added.is_empty() && imported.known.is_empty() && !imported.left.is_empty();
    Ok(if nothing { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn source(import: &Import) -> anyhow::Result<From> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Ok(match (&import.from, import.source.as_deref()) {
        (Some(client), None) => From::Client(client.clone()),
        (Some(client), Some(path)) => {
            From::ClientFile { client: client.clone(), path: absolute(Path::new(path)) }
        }
        (None, None) => From::Everywhere { project: import.project.as_deref().map(absolute) },
        (None, Some("-")) => From::Text(read_input()?),
        // Anything but a regular file is refused by name rather than taken for a command.
        (None, Some(text)) if std::fs::metadata(text).is_ok_and(|about| !about.is_dir()) => {
            From::File(absolute(&PathBuf::from(text)))
        }
        // A missing path is an error, not a command.
        (None, Some(text)) if is_place(text) => From::File(absolute(&PathBuf::from(text))),
        // The id of a client means its servers, not the program.
        (None, Some(text)) if table::client(text.trim()).is_some() => From::Client(text.trim().to_owned()),
        (None, Some(text)) => {
            if let Some(program) = unusual_program(text).filter(|_| !import.dry_run) {
                confirm(program, text)?;
            }
            From::Text(text.to_owned())
        }
    })
}

/// Does it look like a path or file name?
fn is_place(text: &str) -> bool {
    let text = text.trim();
    let starts = ["/", "./", "../", "~/", ".\\", "..\\", "file:"];
    let ends = [".json", ".jsonc", ".toml", ".yaml", ".yml", ".mcpb", ".dxt"];
    let one_word = !text.contains(char::is_whitespace);
    one_word
        && (starts.iter().any(|start| text.starts_with(start))
            || !text.contains("://") && ends.iter().any(|end| text.ends_with(end)))
}

/// The program of a command line, unless it is a known launcher.
fn unusual_program(text: &str) -> Option<&str> {
    const USUAL: &[&str] = &[
        "npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx", "deno", "node", "uv", "uvx", "pipx", "python",
        "python3", "py", "docker", "podman", "dnx", "dotnet", "java", "go", "ruby", "cmd", "claude", "codex",
        "gemini", "code", "cursor", "env", "qwen", "amp", "goose", "kiro", "satchel",
    ];
    let text = text.trim();
    let is_block = text.starts_with(['{', '[', '"', '`', '/']) || text.contains('\n') || text.contains("://");
    let mut words = text.trim_start_matches("$ ").split_whitespace();
    let program = words.find(|word| !word.contains('='))?;
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_lowercase();
    let name = name.trim_end_matches(".exe").trim_end_matches(".cmd");
    (!is_block && !USUAL.contains(&name) && !name.contains("mcp")).then_some(program)
}

/// Asks a person whether an unknown word is a program.
fn confirm(program: &str, text: &str) -> anyhow::Result<()> {
    if std::io::stdin().is_terminal() {
        say_aside(&format!("Add a server that runs \"{program}\", as in `{}`? Type yes:", one_line(text)));
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        if answer.trim() == "yes" {
            return Ok(());
        }
    }
    let message = format!(
        "\"{}\" is not a file, a block or a known server command; to run it anyway, use `satchel add NAME -- {}`",
        one_line(text),
        one_line(text)
    );
    Err(Usage(message).into())
}

fn show(findings: &Findings) {
    let rows: Vec<[String; 4]> = findings.servers.iter().map(row).collect();
    match rows.is_empty() {
        true => say("No servers found."),
        false => say(output::table(["SERVER", "RUNS", "STATE", "FOUND IN"], &rows)),
    }
    let secrets: usize = findings.servers.iter().map(|server| server.secrets.len()).sum();
    if secrets > 0 {
        say(format!(
            "\n{} would move out of plain text, into the secret store.",
            count(secrets, "credential")
        ));
    }
    for server in &findings.servers {
        // The table has no room for it, and nothing of it may stay unseen.
        if is_cut(&server.runs) {
            say(format!("\"{}\" runs {}", server.name, one_line(&server.runs)));
        }
        if !server.sets.is_empty() {
            say(format!("\"{}\" sets {}", server.name, one_line(&server.sets.join(", "))));
        }
        for need in &server.needs {
            say(format!("\"{}\" needs --set {}=… {}", server.name, need.id, need.description));
        }
        let told = server.warnings.iter().map(|warning| &warning.text);
        let told = told.chain(server.omitted.iter().map(|remark| &remark.reason));
        told.for_each(|text| say(format!("\"{}\": {text}", server.name)));
    }
    left(&findings.troubles);
    left(&findings.skipped);
}

fn is_cut(runs: &str) -> bool {
    runs.chars().count() > RUNS_WIDTH
}

fn row(server: &FoundServer) -> [String; 4] {
    let mut runs = one_line(&server.runs);
    if is_cut(&runs) {
        runs = runs.chars().take(RUNS_WIDTH - 1).chain(['…']).collect();
    }
    let state = match (&server.known, server.enabled) {
        (Some(known), _) => format!("here as \"{known}\""),
        (None, true) if server.switched_off == Some(true) => "off after the import".into(),
        (None, true) => "on".into(),
        (None, false) => "off".into(),
    };
    [server.name.clone(), runs, state, server.places.join(", ")]
}

fn tell(imported: &Imported) {
    match imported.added.as_slice() {
        [] => say("Nothing new was imported."),
        added => say(format!("Added {}: {}.", count(added.len(), "server"), added.join(", "))),
    }
    if !imported.known.is_empty() {
        say(format!("Already here: {}.", imported.known.join(", ")));
    }
    if imported.secrets > 0 {
        say(format!("Moved {} into the secret store.", count(imported.secrets, "credential")));
    }
    if !imported.taken_out.is_empty() {
        say(format!("Removed there: {}.", imported.taken_out.join(", ")));
    }
    left(&imported.left);
    imported.remarks.iter().for_each(|one| say_aside(&format!("\"{}\": {}", one.place, one.reason)));
    if !imported.added.is_empty() {
        say_aside("`satchel undo` reverts all of this.");
    }
}

fn left(all: &[Left]) {
    for one in all {
        say_aside(&format!("Left out {}: {}", one.place, one.reason));
    }
}

fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_no_server() {
        for text in ["/typo/path", "./x", "mcp.json", "~/.cursor/mcp.json", "C/x.toml"] {
            assert!(is_place(text), "{text}");
        }
        for text in ["https://x.example/mcp.json", "npx -y x", "/bin/server --flag", "{}"] {
            assert!(!is_place(text), "{text}");
        }
        assert_eq!(unusual_program("rm -rf /"), Some("rm"));
        assert_eq!(unusual_program("A=1 curl x"), Some("curl"));
        for text in [
            "npx -y x",
            "A=1 uvx y",
            "docker run x",
            "my-mcp --flag",
            "{\"a\": 1}",
            "https://x.example",
            "a:\n b",
        ] {
            assert_eq!(unusual_program(text), None, "{text}");
        }
    }
}
