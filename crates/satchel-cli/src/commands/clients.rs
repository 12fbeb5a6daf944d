//! `clients`, `connect`, `disconnect`, `undo`, `hide`, `show`, `surface`: manages clients and our entry in their files.

use std::{collections::BTreeMap, process::ExitCode};

use anyhow::bail;
use satchel_core::{
    clients::{
        seen::Facts,
        seen_page::{self, SeenRow},
        table,
    },
    files::Places,
    model::{
        clients::{ClientChange, ClientList, ClientState, FileChange, KnownClient, Over, Surface, Undone},
        request::{ConnectClient, DisconnectClient, ListClients, SetHidden, SetSurface, Undo},
    },
    platform::{Environment, Platform},
};

use super::done;
use crate::{
    args::{Connect, ConnectOver},
    output::{Lines, say, say_json, table as columns},
    reach::once,
};

/// This process's variables that determine where files are: the hub may have been started with others.
pub(super) fn environment() -> BTreeMap<String, String> {
    let ours = Environment::of_this_process();
    let named = table::variables().into_iter();
    named.filter_map(|name| ours.get(&name).map(ToOwned::to_owned).map(|value| (name, value))).collect()
}

pub(crate) async fn list(places: &Places, all: bool, json: bool) -> anyhow::Result<ExitCode> {
    let request = ListClients { environment: environment() };
    let mut list: ClientList = once(places, request).await?;
    if !all {
        let counts = |client: &KnownClient| {
            client.installed || !matches!(client.state, ClientState::NotConnected | ClientState::Paste)
        };
        list.clients.retain(counts);
    }
    if json {
        say_json(&list)?;
        return Ok(ExitCode::SUCCESS);
    }
    if list.clients.is_empty() {
        say("No clients found. `satchel clients --all` lists every supported client.");
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<[String; 4]> = list
        .clients
        .iter()
        .map(|client| {
            let file = client.file.clone().unwrap_or_default();
            [client.id.clone(), state(client), client.effective_word().to_owned(), file]
        })
        .collect();
    say(columns(["CLIENT", "STATE", "SEES", "FILE"], &rows));
    for client in list.clients.iter().filter(|client| !client.hidden.is_empty()) {
        say("");
        say(format!("{} does not see {}.", client.name, client.hidden.join(", ")));
    }
    for client in &list.clients {
        if let Some(profile) = &client.profile {
            say("");
            say(format!("{} is bound to the profile {profile}.", client.name));
        }
        for twice in &client.duplicates {
            say("");
            say(twice_told(client, &twice.there, &twice.here));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What a client or library was seen to do. Of a client from the table, its state too.
pub(crate) async fn one(places: &Places, id: &str, json: bool) -> anyhow::Result<ExitCode> {
    let Some(name) = seen_page::name(id) else {
        bail!("there is no client \"{id}\". See `satchel clients --all`, and docs/clients.md for libraries.")
    };
    let rows = seen_page::rows(Facts::of_client(id));
    let client = match table::client(id) {
        Some(_) => {
            let list: ClientList = once(places, ListClients { environment: environment() }).await?;
            list.clients.into_iter().find(|client| client.id == id)
        }
        None => None,
    };
    if json {
        say_json(&serde_json::json!({ "id": id, "name": name, "client": client, "seen": rows }))?;
        return Ok(ExitCode::SUCCESS);
    }
    match &client {
        Some(client) => {
            say(format!(
                "{name}: {}. It sees: {}; {}.",
                state(client),
                client.effective_word(),
                client.reason
            ));
        }
        None => say(format!("{name}: connects by hand, with `satchel connect --client {id}`.")),
    }
    if rows.is_empty() {
        say("Nothing else is known of what it does.");
    }
    for SeenRow { seen, satchel, version, date, by } in rows {
        say("");
        say(format!("It {}.", seen.replace('`', "\"")));
        if !satchel.is_empty() {
            say(format!("  Satchel {}.", satchel.replace('`', "\"")));
        }
        let version =
            if version.is_empty() { "version unknown".to_owned() } else { format!("version {version}") };
        say(format!("  {version}, {date}, {by}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// A server that a client starts beside Satchel. It can be removed there only once the client is connected.
fn twice_told(client: &KnownClient, there: &str, here: &str) -> String {
    let (name, id) = (&client.name, &client.id);
    let first = match client.state {
        ClientState::Added | ClientState::Connected { .. } => String::new(),
        ClientState::Paste => {
            format!("add Satchel there (`satchel connect {id}` shows how), then remove it by hand")
        }
        ClientState::NotConnected | ClientState::NeedsYou { .. } | ClientState::Unreadable { .. } => {
            format!("`satchel connect {id}` first, then ")
        }
    };
    let way = match client.state {
        ClientState::Paste => format!("To have it once, {first}."),
        _ => format!("To have it once: {first}`satchel import --from {id} --move` removes it there."),
    };
    format!("{name} still starts \"{there}\" itself, which is \"{here}\" here. {way}")
}

/// Sets a client's surface.
pub(crate) async fn see(
    places: &Places,
    client: String,
    surface: Surface,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let sentence = match surface {
        Surface::Direct => format!("{client} sees every tool of every server."),
        Surface::Script => {
            format!("{client} runs scripts that find and use all tools.{}", unsealed(Platform::current()))
        }
        Surface::Router => format!("{client} sees four tools that find and use all others."),
        Surface::Auto => format!("{client} sees what suits it; `satchel clients` shows which."),
    };
    let answer = once(places, SetSurface { client, surface }).await?;
    done(&sentence, &answer, json)
}

/// The note for systems without a sandbox for scripts.
fn unsealed(platform: Platform) -> &'static str {
    match platform {
        Platform::Linux | Platform::MacOs => "",
        Platform::Windows => {
            " On Windows only the script engine confines them: its process has your account's rights."
        }
    }
}

/// Hides something from a client, or shows it again.
pub(crate) async fn hide(
    places: &Places,
    client: String,
    path: String,
    hidden: bool,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let sentence = match hidden {
        true => format!("{client} no longer sees {path}."),
        false => format!("{client} sees {path} again."),
    };
    let answer = once(places, SetHidden { client, path, hidden }).await?;
    done(&sentence, &answer, json)
}

trait ClientWords {
    fn effective_word(&self) -> &'static str;
}

impl ClientWords for KnownClient {
    fn effective_word(&self) -> &'static str {
        match self.effective {
            Surface::Direct => "all tools",
            Surface::Script => "scripts",
            Surface::Router | Surface::Auto => "router",
        }
    }
}

fn state(client: &KnownClient) -> String {
    let said = match &client.state {
        ClientState::NotConnected if client.installed => "not connected".into(),
        ClientState::NotConnected => "not installed".into(),
        ClientState::Added => "added, no request yet".into(),
        ClientState::Connected { .. } => "connected".into(),
        ClientState::NeedsYou { message, .. } => format!("needs you: {message}"),
        ClientState::Unreadable { message } => format!("cannot be connected: {message}"),
        ClientState::Paste => "by pasting".into(),
    };
    if client.tier == "B" && matches!(client.state, ClientState::NotConnected) {
        return format!("{said} (not tested)");
    }
    said
}

pub(crate) async fn connect(
    places: &Places,
    connect: &Connect,
    client: &str,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let over = connect.over.map(|over| match over {
        ConnectOver::Http => Over::Http,
        ConnectOver::Bridge => Over::Bridge,
    });
    let request = ConnectClient {
        client: client.to_owned(),
        dry_run: connect.dry_run,
        over,
        keep_mode: connect.keep_mode,
        environment: environment(),
    };
    let change: ClientChange = once(places, request).await?;
    show(&change, connect.dry_run, json, "Added our entry to")
}

pub(crate) async fn disconnect(
    places: &Places,
    client: String,
    dry_run: bool,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let request = DisconnectClient { client, dry_run, environment: environment() };
    let change: ClientChange = once(places, request).await?;
    show(&change, dry_run, json, "Removed our entry from")
}

fn show(change: &ClientChange, dry_run: bool, json: bool, done: &str) -> anyhow::Result<ExitCode> {
    match json {
        true => say_json(change)?,
        false => tell(change, dry_run, done),
    }
    Ok(ExitCode::SUCCESS)
}

/// Reports the changes to a client's files.
pub(super) fn tell(change: &ClientChange, dry_run: bool, done: &str) {
    for warning in &change.warnings {
        say(warning);
    }
    if let Some(snippet) = &change.snippet {
        say(Lines::from("").and(Lines::block("", snippet)));
    }
    for file in &change.files {
        say(sentence(file, dry_run, done));
        // Untested changes are shown even if they were requested.
        if dry_run || !change.warnings.is_empty() {
            say(Lines::block("", &file.diff));
        }
    }
    if let (Some(next), true) = (&change.next, change.done) {
        say(next);
    }
}

fn sentence(file: &FileChange, dry_run: bool, done: &str) -> String {
    match (file.what.as_str(), dry_run) {
        ("unchanged", _) => format!("{} needs no change.", file.path),
        ("gone", _) => format!("Our entry is no longer in {}.", file.path),
        (_, true) => format!("{} would become:", file.path),
        ("restored", _) => format!("{} is exactly what it was before.", file.path),
        ("deleted", _) => format!("{} was created by Satchel and was deleted.", file.path),
        ("removed", _) => format!("{done} {}; what others changed since stays.", file.path),
        (_, false) => format!("{done} {} as \"{}\".", file.path, file.entry),
    }
}

pub(crate) async fn undo(places: &Places, json: bool) -> anyhow::Result<ExitCode> {
    let request = Undo { environment: environment() };
    let undone: Undone = once(places, request).await?;
    if json {
        say_json(&undone)?;
    } else {
        say(&undone.what);
        undone.remarks.iter().for_each(|remark| say(format!("  {remark}")));
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_keeps_a_script_in_but_its_engine_people_are_told() {
        assert_eq!([Platform::Linux, Platform::MacOs].map(unsealed), ["", ""]);
        assert!(unsealed(Platform::Windows).contains("your account's rights"));
    }
}
