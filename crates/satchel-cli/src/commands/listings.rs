//! `search`, `info`, `outdated`: shows registry entries. Strangers wrote these texts, so they are printed as plain text.

use std::process::ExitCode;

use satchel_core::{
    clock::now_ms,
    files::Places,
    model::{
        listings::{
            AskRegistries, InstalledServer, ListedServer, ListedWay, ListingFilter, NameProof, RegistryState,
        },
        request::{GetListed, ListInstalled, SearchListed},
    },
};

use crate::{
    args::{Info, Outdated, Search},
    output::{Lines, counted, one_line, say, say_aside, say_json, shortened, table},
    reach::once,
};

/// Maximum width of a description.
const WIDTH: usize = 60;

pub(crate) async fn search(places: &Places, search: Search, json: bool) -> anyhow::Result<ExitCode> {
    let request = SearchListed {
        query: search.words.join(" "),
        all: search.all,
        limit: search.limit,
        offset: 0,
        filter: ListingFilter {
            place: search.place.map(Into::into),
            language: search.language.map(Into::into),
            without_key: search.without_key,
            from_registries: false,
            sort: search.sort.into(),
        },
        ask: if search.fresh { AskRegistries::Now } else { AskRegistries::IfDue },
    };
    let found = once(places, request).await?;
    if json {
        say_json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<[String; 4]> = found.servers.iter().map(row).collect();
    match rows.is_empty() {
        true => say("Nothing was found."),
        false => say(table(["SERVER", "VERSION", "STATE", "ABOUT"], &rows)),
    }
    if found.total > found.servers.len() {
        say_aside(format!("{} more; --limit shows them.", found.total - found.servers.len()));
    }
    for server in &found.servers {
        server
            .remarks
            .iter()
            .for_each(|remark| say_aside(format!("{}: {}", server.name, one_line(&remark.text))));
    }
    tell_registries(&found.registries);
    Ok(ExitCode::SUCCESS)
}

fn row(server: &ListedServer) -> [String; 4] {
    let state = match (&server.installed, server.status.as_str()) {
        (None, "active")
            if !server.ways.is_empty() && server.ways.iter().all(|way| way.refused.is_some()) =>
        {
            "cannot run here".to_owned()
        }
        (None, "active") => String::new(),
        (Some(name), "active") => format!("here as {name}"),
        (_, status) => status.to_owned(),
    };
    let about = match &server.status_message {
        Some(message) if server.status != "active" => message,
        _ => &server.description,
    };
    [server.name.clone(), server.version.clone(), state, shortened(about, WIDTH)]
}

/// Prints one line for each registry that could not be read.
fn tell_registries(registries: &[RegistryState]) {
    for registry in registries {
        if let Some(trouble) = &registry.trouble {
            let known = registry.read_ms.map_or_else(
                || "showing the bundled list".to_owned(),
                |ms| format!("showing its list from {} ago", ago(now_ms().saturating_sub(ms))),
            );
            say_aside(format!("{} could not be read ({}); {known}.", registry.url, one_line(trouble)));
        }
        if !registry.refused.is_empty() {
            let count = counted(registry.refused.len() as u64, "entry", "entries");
            say_aside(format!("{count} of {} could not be read.", registry.url));
        }
    }
}

fn ago(ms: u64) -> String {
    let minutes = ms / 60_000;
    match minutes {
        0..60 => counted(minutes, "minute", "minutes"),
        60..2880 => counted(minutes / 60, "hour", "hours"),
        _ => counted(minutes / 1440, "day", "days"),
    }
}

pub(crate) async fn info(places: &Places, info: Info, json: bool) -> anyhow::Result<ExitCode> {
    let (name, version) = split_version(&info.name);
    let details = once(places, GetListed { name, version }).await?;
    if json {
        say_json(&details)?;
        return Ok(ExitCode::SUCCESS);
    }
    say(described(&details.server));
    for way in &details.server.ways {
        say(of_way(way));
    }
    let versions: Vec<String> = details
        .releases
        .iter()
        .map(|(version, status)| match status.as_str() {
            "active" => one_line(version),
            other => format!("{} ({other})", one_line(version)),
        })
        .collect();
    if versions.len() > 1 {
        say(format!("  versions   {}", versions.join(", ")));
    }
    let later = afterwards(&details.afterwards);
    if !later.is_empty() {
        say(later);
    }
    Ok(ExitCode::SUCCESS)
}

/// The properties of a server.
pub(super) fn described(server: &ListedServer) -> Lines {
    let title = server.title.as_ref().map(|title| format!(" ({})", one_line(title))).unwrap_or_default();
    let mut text = Lines::line(format!("{}{title}", with_version(&server.name, &server.version)));
    if !server.description.is_empty() {
        text.push(format!("  {}", one_line(&server.description)));
    }
    if server.status != "active" {
        let message = server.status_message.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        text.push(format!("  {}{message}", server.status));
    }
    let publisher = match proved(server.proof) {
        "" => server.publisher.clone(),
        proof => format!("{} ({proof})", server.publisher),
    };
    let lines = [
        ("publisher", Some(&publisher)),
        ("listed by", Some(&server.registry)),
        ("repository", server.repository.as_ref()),
        ("page", server.website.as_ref()),
        ("licence", server.figures.license.as_ref()),
        ("published", server.published.as_ref()),
        ("here as", server.installed.as_ref()),
    ];
    for (what, value) in lines {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            text.push(format!("  {what:<10} {}", one_line(value)));
        }
    }
    let figures = [("stars", server.figures.stars), ("downloads", server.figures.downloads)];
    for (what, figure) in figures {
        if let Some(figure) = figure {
            text.push(format!("  {what:<10} {figure} (says its listing)"));
        }
    }
    if let Some(measured) = &server.measured {
        text.push(format!(
            "  measured   {} tools, {} tokens, in {}",
            measured.tools, measured.tokens, measured.version
        ));
    }
    text.and(server.remarks.iter().map(|remark| format!("  ! {}", one_line(&remark.text))).collect::<Lines>())
}

/// `NAME VERSION`, as far as there is a version.
pub(super) fn with_version(name: &str, version: &str) -> String {
    format!("{name} {}", one_line(version)).trim_end().to_owned()
}

/// Who checked the publisher's name.
fn proved(proof: NameProof) -> &'static str {
    match proof {
        NameProof::Account => "the registry checked this account at GitHub",
        NameProof::Domain => "the registry checked this domain",
        NameProof::Unknown => "not checked, as far as Satchel knows",
        NameProof::Bundled => "",
    }
}

pub(super) fn of_way(way: &ListedWay) -> String {
    let needs = match way.needs.as_slice() {
        [] => String::new(),
        needs => format!("; needs {}", needs.join(", ")),
    };
    match &way.refused {
        None => format!("  {:<10} {}{needs}", way.id, one_line(&way.runs)),
        Some(why) => format!("  {:<10} {}: not offered, it {}", way.id, one_line(&way.runs), one_line(why)),
    }
}

/// The publisher's instructions, which Satchel does not run.
pub(super) fn afterwards(texts: &[String]) -> Lines {
    let line = |text: &String| {
        format!("  its publisher says, for afterwards (Satchel does not run it): {}", one_line(text))
    };
    texts.iter().map(line).collect()
}

pub(crate) async fn outdated(places: &Places, outdated: Outdated, json: bool) -> anyhow::Result<ExitCode> {
    let request =
        ListInstalled { ask: if outdated.fresh { AskRegistries::Now } else { AskRegistries::IfDue } };
    let installed = once(places, request).await?;
    if json {
        say_json(&installed)?;
        return Ok(ExitCode::SUCCESS);
    }
    let is_notable = |one: &&InstalledServer| {
        one.newer.is_some() || !one.remarks.is_empty() || !matches!(one.status.as_str(), "active" | "unknown")
    };
    let notable: Vec<&InstalledServer> = installed.iter().filter(is_notable).collect();
    let row = |one: &&InstalledServer| {
        let status = match &one.status_message {
            Some(message) if one.status != "active" => format!("{}: {message}", one.status),
            _ => one.status.clone(),
        };
        [one.server.clone(), one.version.clone(), one.newer.clone().unwrap_or_else(|| "–".into()), status]
    };
    match (installed.is_empty(), notable.is_empty()) {
        (true, _) => say("No server was installed from a registry."),
        (false, true) => say("Every server runs the newest version that is offered."),
        (false, false) => {
            let rows: Vec<[String; 4]> = notable.iter().map(row).collect();
            say(table(["SERVER", "HERE", "OFFERED", "STATUS"], &rows));
            for one in &notable {
                one.remarks
                    .iter()
                    .for_each(|remark| say_aside(format!("{}: {}", one.server, one_line(&remark.text))));
            }
            say_aside("`satchel update NAME` shows what would change, and asks.");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `NAME@VERSION`.
pub(super) fn split_version(text: &str) -> (String, Option<String>) {
    match text.rsplit_once('@') {
        Some((name, version)) if !name.is_empty() && !version.is_empty() => {
            (name.into(), Some(version.into()))
        }
        _ => (text.to_owned(), None),
    }
}
