//! `import`: imports servers from other programs' files, pasted text, bundles and registry descriptions. At a terminal it
//! shows what they would run, and asks.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::anyhow;
use satchel_core::{
    clients::table,
    files::Places,
    model::{
        clients::{Findings, FoundServer, From, Imported, Need},
        left::Left,
        request::{FindServers, ImportServers},
        shell,
    },
};
use satchel_entry::launcher::{program_name, starts_servers};

use super::{approvals::text::Rest, clients::environment, read_input};
use crate::{
    Usage,
    args::Import,
    output::{Lines, one_line, say, say_aside, say_json},
    reach::{Reached, once, reach},
    terminal,
};

/// Maximum number of variables and headers of a server before a question.
const MOST_SET: usize = 20;
/// What the id of a need begins with that only a yes answers.
const ACCEPT: &str = "accept.";

pub(crate) async fn run(places: &Places, import: Import, json: bool) -> anyhow::Result<ExitCode> {
    let from = source(&import)?;
    let answers: BTreeMap<_, _> =
        import.set.iter().map(|(id, value)| (id.clone(), value.clone().into())).collect();
    let find = FindServers { from: from.clone(), answers: answers.clone(), environment: environment() };
    if import.dry_run {
        let findings: Findings = once(places, find).await?;
        match json {
            true => say_json(&findings)?,
            false => say(shown(&findings, Rest::Whole)),
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut request = ImportServers {
        from,
        names: (!import.only.is_empty()).then(|| import.only.clone()),
        answers,
        seen: None,
        take_out: import.take_out,
        dry_run: false,
        named: BTreeMap::new(),
        replace: vec![],
        off: false,
        environment: environment(),
    };
    let hub = reach(places).await?;
    let imported = reviewed(&hub, find, &mut request, import.yes).await;
    hub.leave().await;
    let Some(imported) = imported? else { return Err(anyhow!("nothing was changed")) };
    match json {
        true => say_json(&imported)?,
        false => tell(&imported),
    }
    let nothing = imported.added.is_empty() && imported.known.is_empty() && !imported.left.is_empty();
    Ok(if nothing { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Imports after a person at the terminal saw what would run and agreed; `None` if they did not. Without a terminal the hub
/// holds back what has never run here.
async fn reviewed(
    hub: &Reached,
    find: FindServers,
    request: &mut ImportServers,
    yes: bool,
) -> anyhow::Result<Option<Imported>> {
    if !terminal::is_there() {
        return Ok(Some(hub.ask(request.clone()).await?));
    }
    let mut findings: Findings = hub.ask(find).await?;
    if let Some(names) = &request.names {
        findings.servers.retain(|server| names.contains(&server.name));
    }
    let fresh = findings.servers.iter().filter(|server| server.known.is_none()).count();
    if fresh == 0 {
        return Ok(Some(hub.ask(request.clone()).await?));
    }
    say_aside(shown(&findings, Rest::Folded));
    let mut consented = 0;
    for server in findings.servers.iter().filter(|server| server.known.is_none()) {
        let risks: Vec<&Need> = server.needs.iter().filter(|need| need.id.starts_with(ACCEPT)).collect();
        for need in &risks {
            let says = need.description.split(". Type yes").next().unwrap_or_default();
            if !terminal::agrees(&format!("\"{}\": {says}. Import it all the same?", server.name))? {
                return Ok(None);
            }
            request.answers.insert(need.id.clone(), "yes".into());
        }
        consented += usize::from(!risks.is_empty());
    }
    // A server with risks was agreed to by name.
    let others = fresh - consented;
    if others > 0 && !yes && !terminal::agrees(&format!("Import {}?", count(others, "server")))? {
        return Ok(None);
    }
    request.seen = Some(findings.seen);
    Ok(Some(hub.ask_for_person(request.clone()).await?))
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
            if !import.dry_run {
                refuse_slip(text)?;
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
        "ruby", "cmd", "claude", "codex", "gemini", "code", "cursor", "env", "qwen", "amp", "goose", "kiro",
        "satchel",
    ];
    let text = text.trim();
    let is_block = text.starts_with(['{', '[', '"', '`', '/']) || text.contains('\n') || text.contains("://");
    let mut words = text.trim_start_matches("$ ").split_whitespace();
    let program = words.find(|word| !word.contains('='))?;
    let name = program_name(program);
    let is_usual = starts_servers(&name) || USUAL.contains(&name.as_str()) || name.contains("mcp");
    (!is_block && !is_usual).then_some(program)
}

/// Without a person to see what it would run, an unknown word is a slip rather than a program.
fn refuse_slip(text: &str) -> anyhow::Result<()> {
    if unusual_program(text).is_none() || terminal::is_there() {
        return Ok(());
    }
    let line = one_line(text);
    let message = format!(
        "\"{line}\" is not a file, a block or a known server command; to run it anyway, use `satchel add NAME -- {line}`"
    );
    Err(Usage(message).into())
}

/// What each server runs, never cut; what it is told below it.
fn shown(findings: &Findings, rest: Rest) -> Lines {
    let mut text: Lines = match findings.servers.as_slice() {
        [] => "No servers found.".into(),
        servers => servers.iter().map(|server| of_server(server, rest)).collect(),
    };
    let secrets: usize = findings.servers.iter().map(|server| server.secrets.len()).sum();
    if secrets > 0 {
        let credentials = count(secrets, "credential");
        text.push("");
        text.push(format!("{credentials} would move out of plain text, into the secret store."));
    }
    text.and(left(&findings.troubles)).and(left(&findings.skipped))
}

fn of_server(server: &FoundServer, rest: Rest) -> Lines {
    let what = if server.transport == "stdio" { "runs" } else { "connects" };
    let mut text = Lines::line(format!("{} ({})", server.name, state(server)))
        .and(format!("  {what:<10} {}", server.runs))
        .and(
            server
                .places
                .iter()
                .map(|place| format!("  found in   {}", place.trim_end_matches(": ")))
                .collect::<Lines>(),
        );
    let warnings = server.warnings.iter().map(|warning| &warning.text);
    text.push(warnings.map(|warning| format!("  ! {warning}")).collect::<Lines>());
    for need in server.needs.iter().filter(|need| !need.id.starts_with(ACCEPT)) {
        text.push(format!("  needs      --set {}=… {}", need.id, need.description));
    }
    text.push(
        server.omitted.iter().map(|remark| format!("  note       {}", remark.reason)).collect::<Lines>(),
    );
    // What has an address in it says where something goes.
    let (leads, others): (Vec<&String>, Vec<&String>) =
        server.sets.iter().partition(|value| value.contains("://"));
    text.push(leads.into_iter().collect::<Lines>().indented("  sets       "));
    let others: Lines = others.into_iter().collect();
    let (mut sets, more) = match rest {
        Rest::Folded => others.folded(MOST_SET),
        Rest::Whole => (others, 0),
    };
    if more > 0 {
        sets.push(format!("… {more} more; --dry-run shows them"));
    }
    text.and(sets.indented("  sets       "))
}

fn state(server: &FoundServer) -> String {
    match (&server.known, server.enabled) {
        (Some(known), _) => format!("here as \"{known}\""),
        (None, true) if server.switched_off == Some(true) => "off after the import".into(),
        (None, true) => "on".into(),
        (None, false) => "off".into(),
    }
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
    let left = left(&imported.left);
    if !left.is_empty() {
        say_aside(left);
    }
    if !imported.waiting.is_empty() {
        say(waiting(&imported.waiting));
    }
    imported.remarks.iter().for_each(|one| say_aside(format!("\"{}\": {}", one.place, one.reason)));
    if !imported.added.is_empty() {
        say_aside("`satchel undo` reverts all of this.");
    }
}

/// Says that servers were added and may not start yet.
pub(super) fn waiting(names: &[String]) -> Lines {
    let how = match names {
        [name] => format!("`satchel approve {}`", shell::word(name)),
        _ => "`satchel approve --all`".to_owned(),
    };
    let waits = match names {
        [name] => format!("{name} waits"),
        names => format!("{} wait", names.join(", ")),
    };
    Lines::line(format!("{waits} for your approval: {how} in a terminal shows what would run, and asks."))
}

fn left(all: &[Left]) -> Lines {
    all.iter().map(|one| format!("Left out {}: {}", one.place, one.reason)).collect()
}

fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The readings of these texts are tested with the hub (`hub/tests/pasted.rs`).
    #[test]
    fn a_pasted_text_is_handed_to_the_hub_as_it_is() {
        let texts = include_str!("../../../satchel-core/src/hub/tests/pasted.json");
        let texts: Vec<serde_json::Value> = serde_json::from_str(texts).unwrap();
        for text in texts.iter().filter_map(|one| one["text"].as_str()) {
            let import = Import {
                source: Some(text.to_owned()),
                from: None,
                project: None,
                dry_run: true,
                only: vec![],
                set: vec![],
                yes: false,
                take_out: false,
            };
            assert_eq!(source(&import).unwrap(), From::Text(text.to_owned()));
        }
    }

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
