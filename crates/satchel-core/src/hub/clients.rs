//! Handles requests about other programs: lists them, writes our entry into their files and removes it again. The room
//! `clients` computes what a file becomes; this file decides when, with which token, and records it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde_json::Value;
use tokio::{io::AsyncWriteExt, process::Command};

use super::{Hub, ourselves, route, token_files::FileAccess};
use crate::{
    clients::{
        connect::{self, ConnectError, Plan, Without, Written},
        document::{Document, fingerprint, read_bytes},
        import::Existing,
        ledger::{Choices, ConnectionRecord},
        machine::Machine,
        surface,
        table::{self, Client, Method, Tier, Transport},
        template::Ourselves,
        told,
    },
    clock::now_ms,
    config::{Config, file::RESULT_CAP},
    files,
    intake::{
        offers,
        preview::{Changed, TOKEN_TO_COME},
    },
    model::{
        Code, ToolPath,
        audit::AuditKind,
        clients::{
            ClientChange, ClientList, ClientState, Departure, Duplicate, FileChange, KnownClient, Over,
            Surface,
        },
        control::Refusal,
        left::Left,
        name::in_path,
        request::ConnectClient,
    },
    platform::Passing,
};

/// Timeout of a client's own command that adds or removes an entry.
const OWN_COMMAND_TIME: Duration = Duration::from_secs(30);
/// How often a file that another program changes meanwhile is read again, and when.
const ATTEMPTS: usize = 3;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(300);

type Environment = BTreeMap<String, String>;

/// Adds Satchel's entry to a client's files.
pub(super) async fn connect_client(hub: &Hub, asked: &ConnectClient) -> Result<ClientChange, Refusal> {
    let ConnectClient { client, dry_run, over, keep_mode, environment } = asked;
    add_to_client(
        hub,
        known(client)?,
        Adding { dry_run: *dry_run, over: *over, shared: *keep_mode },
        environment,
    )
    .await
}

/// Removes Satchel's entry from a client's files.
pub(super) fn disconnect_client(
    hub: &Hub,
    client: &str,
    dry_run: bool,
    environment: &Environment,
) -> Result<ClientChange, Refusal> {
    // A client that was connected manually and is not in the table.
    if known(client).is_err() && hub.inner.clients.tokens.holds(client) {
        return without_tokens(hub, client, client, dry_run);
    }
    let change = remove_from_client(hub, known(client)?, dry_run, environment, true)?;
    if !dry_run && let Err(error) = told::forget(&hub.places().data, client) {
        tracing::warn!("the port of {client} is not forgotten: {error}");
    }
    Ok(change)
}

/// Removes all entries and tokens from every client. A failure for one client does not affect the others.
pub(super) fn leave_clients(hub: &Hub, dry_run: bool, environment: &Environment) -> Departure {
    let mut departure = Departure::default();
    for client in table::clients() {
        match remove_from_client(hub, client, dry_run, environment, true) {
            Ok(change) => departure.changes.push(change),
            Err(refusal) if refusal.code == Code::NotConnected => {}
            Err(refusal) => {
                departure.troubles.push(Left::refused(client.title(), refusal));
            }
        }
    }
    // Clients that were connected manually and are not in the table.
    let by_hand = hub.inner.clients.tokens.holders().into_iter().filter(|id| known(id).is_err());
    for id in by_hand {
        match without_tokens(hub, &id, &id, dry_run) {
            Ok(change) => departure.changes.push(change),
            Err(refusal) => departure.troubles.push(Left::refused(id, refusal)),
        }
    }
    departure
}

/// Sets a client's surface.
pub(super) fn set_surface(hub: &Hub, client: &str, surface: Surface) -> Result<(), Refusal> {
    choose_for(hub, client, |choices| choices.surface = surface)
}

/// Hides something from a client, or shows it again.
pub(super) fn set_hidden(hub: &Hub, client: &str, path: String, hidden: bool) -> Result<(), Refusal> {
    is_a_client(hub, client)?;
    let path = hidden_path(hub, path, hidden)?;
    choose_for(hub, client, |choices| match hidden {
        true => drop(choices.hidden.insert(path)),
        false => drop(choices.hidden.remove(&path)),
    })
}

pub(super) fn choose_for(hub: &Hub, client: &str, change: impl FnOnce(&mut Choices)) -> Result<(), Refusal> {
    is_a_client(hub, client)?;
    hub.inner.clients.choose(client, change).map_err(Refusal::unwritable)?;
    hub.inner.faces.changed();
    Ok(())
}

/// A client from the table, or one that has a token or has made a request.
pub(super) fn is_a_client(hub: &Hub, id: &str) -> Result<(), Refusal> {
    let seen = hub.view().clients().iter().any(|client| client.id == id);
    if seen || hub.inner.clients.tokens.holds(id) || hub.inner.clients.edits.record(id).is_some() {
        return Ok(());
    }
    known(id).map(drop)
}

/// The surface in effect for a client, and why. Never [`Surface::Auto`].
pub(super) fn surface_of(hub: &Hub, client: &str) -> (Surface, String) {
    let chosen = hub.inner.clients.edits.choice(client, |chosen| chosen.surface).unwrap_or_default();
    surface::effective(table::client(client), chosen, || hub.catalog().tools_for_models())
}

/// Resolves a path that a person wants to hide or show. To be hidden, the server or tool must exist; any tool name is
/// accepted for a server whose list was never read.
fn hidden_path(hub: &Hub, path: String, hide: bool) -> Result<String, Refusal> {
    if hub.servers().contains_key(path.as_str()) {
        return Ok(in_path(&path).into_owned());
    }
    let meant = route::read_path(hub, &path).ok();
    let meant = meant.map_or(path, |path| path.to_string());
    if hide {
        is_there(hub, &meant)?;
    }
    Ok(meant)
}

pub(super) fn is_there(hub: &Hub, path: &str) -> Result<(), Refusal> {
    let known = hub.offers();
    let unknown = |what: String| {
        let action = "`satchel list` shows the servers, `satchel tools` their tools.";
        Err(Refusal::new(Code::UnknownPath, format!("there is no {what}"), action))
    };
    let parsed = path.parse::<ToolPath>().ok();
    let (server, tool) =
        parsed.as_ref().map_or((path, None), |parsed| (parsed.server.as_str(), Some(parsed.tool.as_str())));
    if !hub.servers().contains_key(server) {
        return unknown(format!("server \"{server}\""));
    }
    match (tool, known.get(server)) {
        (Some(tool), Some(offer)) if offer.tool(tool).is_none() => unknown(format!("tool \"{path}\"")),
        _ => Ok(()),
    }
}

/// The size limit of a result for a client, in bytes of text; 0 means none.
pub(super) fn result_cap(config: &Config, client: &str) -> usize {
    let is_set = config.setting(RESULT_CAP).is_some();
    surface::result_cap(client, config.result_cap(client), is_set)
}

pub(super) fn list_clients(hub: &Hub, environment: &Environment) -> ClientList {
    let machine = Machine::here(environment);
    let tools = hub.catalog().tools_for_models();
    let here = offers::existing(hub);
    let mut clients: Vec<KnownClient> =
        table::clients().iter().map(|client| view_of(hub, client, &machine, tools, &here)).collect();
    clients.sort_by_key(|client| (!client.installed, client.tier.clone()));
    ClientList { clients }
}

fn view_of(
    hub: &Hub,
    client: &'static Client,
    machine: &Machine,
    tools: usize,
    here: &Existing,
) -> KnownClient {
    let sign = machine.sign(&client.detect);
    let targets = connect::targets(client, machine);
    let file = targets.as_ref().ok().and_then(|targets| targets.first()).cloned();
    let exists = file.as_deref().is_some_and(Path::exists);
    let choices = hub.inner.clients.edits.choices(&client.id);
    let (effective, reason) = surface::effective(Some(client), choices.surface, || tools);
    let installed = sign.is_some() || exists;
    let duplicates = if installed { duplicates(hub, client, machine, here) } else { vec![] };
    KnownClient {
        id: client.id.clone(),
        name: client.title().to_owned(),
        tier: format!("{:?}", client.tier),
        confidence: format!("{:?}", client.evidence).to_lowercase(),
        installed,
        sign: sign.or_else(|| file.clone().filter(|_| exists)).map(|path| path.display().to_string()),
        file: file.map(|path| path.display().to_string()),
        state: state_of(hub, client, targets.unwrap_or_default().first().map(PathBuf::as_path)),
        duplicates,
        surface: choices.surface,
        effective,
        reason,
        hidden: choices.hidden.into_iter().collect(),
        profile: choices.profile,
        after_connect: client.after_connect.clone(),
    }
}

/// A client's file that has a token.
#[derive(Debug)]
pub(super) struct TokenFile {
    pub(super) client: &'static Client,
    pub(super) path: PathBuf,
    pub(super) bits_before: Option<u32>,
    pub(super) shared: bool,
}

/// The files of all clients that have a token of ours, whether Satchel or a person wrote it there.
pub(super) fn token_files(hub: &Hub, environment: &Environment) -> Vec<TokenFile> {
    let (machine, ourselves) = (Machine::here(environment), ourselves::ourselves(hub));
    let of_client = |client: &'static Client| {
        let files = hub
            .inner
            .clients
            .edits
            .record(&client.id)
            .map_or_else(|| pasted(hub, client, &ourselves, &machine), |record| record.files);
        let has_token = |file: &Written| {
            let entry = read_entry(client, file).ok().flatten();
            entry.as_ref().and_then(connect::token_in).is_some()
        };
        let file = move |file: Written| TokenFile {
            client,
            path: file.path,
            bits_before: file.bits_before,
            shared: file.shared,
        };
        files.into_iter().filter(has_token).map(file).collect::<Vec<_>>()
    };
    table::clients().iter().flat_map(of_client).collect()
}

fn duplicates(hub: &Hub, client: &'static Client, machine: &Machine, here: &Existing) -> Vec<Duplicate> {
    let found = offers::own_servers(client, machine, &ourselves::ourselves(hub));
    let on = found.into_iter().filter(|(_, server)| server.enabled);
    on.filter_map(|(_, server)| {
        let name = here.known(&server)?;
        Some(Duplicate { there: server.name, here: name.clone() })
    })
    .collect()
}

/// A client's state, from what Satchel wrote and what the file contains now.
fn state_of(hub: &Hub, client: &Client, file: Option<&Path>) -> ClientState {
    let ourselves = ourselves::ourselves(hub);
    let needs = |what: &str, message: String| ClientState::NeedsYou { what: what.into(), message };
    let Some(record) = hub.inner.clients.edits.record(&client.id) else {
        if client.connect == Method::Paste {
            return ClientState::Paste;
        }
        // The user may have pasted it.
        return match file.map(|path| entry_in(client, &ourselves, path)) {
            Some(Ok(Some((_, entry)))) if is_ours(hub, client, &ourselves, &entry) => ClientState::Added,
            Some(Err(error)) => ClientState::Unreadable { message: error.to_string() },
            Some(Ok(_)) | None => ClientState::NotConnected,
        };
    };
    for written in &record.files {
        let path = &written.path;
        let entry = match read_entry(client, written) {
            Ok(entry) => entry,
            Err(error) => return needs("unreadable", error.to_string()),
        };
        let Some(entry) = entry else {
            let message = format!("\"{}\" is no longer in {}", written.name, path.display());
            return needs("vanished", message);
        };
        let entry = without_notes(entry);
        if !connect::is_as_written(&entry, &written.entry) {
            let message = format!("\"{}\" in {} was edited", written.name, path.display());
            return needs("edited", message);
        }
        if record.over == Transport::Http && hub.view().endpoint.is_some() {
            let token = connect::token_in(&entry).unwrap_or_default();
            let now = ourselves.entry(client, record.over, &token, &written.name);
            if now.is_some_and(|now| now != entry) {
                let message = format!("{} has the old address; connect it again", client.title());
                return needs("moved", message);
            }
        }
    }
    match record.seen_ms {
        Some(since_ms) => ClientState::Connected { since_ms },
        None => ClientState::Added,
    }
}

/// The entry without what a client notes in it by itself: Cline writes the last failure of a sign-in.
fn without_notes(mut entry: Value) -> Value {
    if let Some(fields) = entry.as_object_mut()
        && fields.get("oauth").is_some_and(Value::is_object)
    {
        fields.shift_remove("oauth");
    }
    entry
}

/// Does the entry start this program, or use a token that was issued to this client?
fn is_ours(hub: &Hub, client: &Client, ourselves: &Ourselves, entry: &Value) -> bool {
    let token = connect::token_in(entry);
    let made = token.as_deref().and_then(|token| hub.inner.clients.tokens.owner(token));
    made.as_deref() == Some(client.id.as_str()) || (token.is_none() && ourselves.wrote(client, entry))
}

/// How an entry is added.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Adding {
    pub(super) dry_run: bool,
    /// `None` for what suits the client best.
    pub(super) over: Option<Over>,
    /// Others may go on reading the file.
    pub(super) shared: bool,
}

pub(super) async fn add_to_client(
    hub: &Hub,
    client: &'static Client,
    adding: Adding,
    environment: &Environment,
) -> Result<ClientChange, Refusal> {
    // A client that is started for the first time, by its own command too, writes its file meanwhile.
    for _ in 0..ATTEMPTS {
        match try_to_add(hub, client, adding, environment).await {
            Err(refusal) if refusal.code == Code::Changed => tokio::time::sleep(BETWEEN_ATTEMPTS).await,
            done => return done,
        }
    }
    try_to_add(hub, client, adding, environment).await
}

async fn try_to_add(
    hub: &Hub,
    client: &'static Client,
    Adding { dry_run, over, shared }: Adding,
    environment: &Environment,
) -> Result<ClientChange, Refusal> {
    let machine = Machine::here(environment);
    let ourselves = ourselves::ourselves(hub);
    let over = match over {
        Some(Over::Http) => Transport::Http,
        Some(Over::Bridge) => Transport::Stdio,
        None => client.transport,
    };
    if over == Transport::Stdio {
        will_last(Path::new(&ourselves.bridge), &machine)?;
    }
    let mut change = ClientChange {
        client: client.id.clone(),
        name: client.title().to_owned(),
        done: false,
        files: vec![],
        next: client.after_connect.clone(),
        warnings: warnings(client),
        snippet: None,
    };
    let targets = match connect::targets(client, &machine) {
        Ok(targets) => targets,
        // Nothing can be written; return the snippet to paste.
        Err(error @ (ConnectError::Paste(_) | ConnectError::NotThere { .. })) => {
            let token = if dry_run { TOKEN_TO_COME.to_owned() } else { token_for(hub, client)? };
            change.snippet = connect::snippet(client, &ourselves, over, &token);
            change.warnings.insert(0, format!("{error}; paste this where it keeps them"));
            return Ok(change);
        }
        Err(error) => return Err(refused(client, error)),
    };
    let token = token_there(hub, client, &ourselves, &targets);
    let token = match (token, dry_run || over == Transport::Stdio) {
        (Some(token), _) => token,
        (None, true) => TOKEN_TO_COME.to_owned(),
        (None, false) => token_for(hub, client)?,
    };
    let mut plans = Vec::new();
    for path in &targets {
        let before = read_bytes(path)
            .map_err(|error| refused(client, ConnectError::Document { path: path.clone(), error }))?;
        let plan = connect::plan(client, &ourselves, over, &token, path, before);
        plans.push(plan.map_err(|error| with_snippet(client, &ourselves, over, error))?);
    }
    change.files = plans.iter().map(|plan| file_change(client, plan)).collect();
    let record = hub.inner.clients.edits.record(&client.id);
    let of_file = |plan: &Plan| FileAccess::of(&plan.path, record.as_ref(), over, shared);
    let access: Vec<FileAccess> = plans.iter().map(of_file).collect();
    let told = plans.iter().zip(&access).filter_map(|(plan, access)| access.told(&plan.path, &client.id));
    change.warnings.extend(told);
    if dry_run {
        return Ok(change);
    }
    let is_done = plans.iter().all(Plan::changes_nothing) && access.iter().all(FileAccess::changes_nothing);
    if is_done && record.is_some() {
        change.done = true;
        return Ok(change);
    }
    let files = to_write(hub, client, &plans, &access, record.as_ref())?;
    // Store the record first: a crash in between would leave an entry without the file's original bytes.
    let mut written = ConnectionRecord { over, added_ms: now_ms(), seen_ms: None, files };
    hub.inner.clients.edits.connected(&client.id, written.clone()).map_err(Refusal::unwritable)?;
    if let Err(refusal) = write_all(client, &machine, &plans, &access, &mut written).await {
        written.files.retain(|file| read_entry(client, file).is_ok_and(|entry| entry.is_some()));
        let holds = record.or_else(|| (!written.files.is_empty()).then_some(written));
        hub.inner.clients.edits.not_connected(&client.id, holds).map_err(Refusal::unwritable)?;
        return Err(refusal);
    }
    hub.inner.clients.edits.connected(&client.id, written).map_err(Refusal::unwritable)?;
    if over == Transport::Http
        && let Err(error) = told::tell(&hub.places().data, &client.id, &ourselves.url)
    {
        tracing::warn!("the port of {} is not remembered: {error}", client.id);
    }
    hub.inner.faces.changed();
    change.done = true;
    Ok(change)
}

/// The files to write, with copies of their present content.
fn to_write(
    hub: &Hub,
    client: &Client,
    plans: &[Plan],
    access: &[FileAccess],
    record: Option<&ConnectionRecord>,
) -> Result<Vec<Written>, Refusal> {
    let mut files = Vec::new();
    for (plan, access) in plans.iter().zip(access) {
        // Removing the entry should restore the content from before the first connection.
        let earlier = record.and_then(|record| record.files.iter().find(|file| file.path == plan.path));
        let (backup, new_file, created) = match (earlier, &plan.before) {
            (Some(earlier), Some(before)) if fingerprint(before) == earlier.after => {
                (earlier.backup.clone(), earlier.new_file, earlier.created)
            }
            // A copy that contains Satchel's own entry is not a state to restore.
            (Some(earlier), Some(_)) if plan.replaces => (None, earlier.new_file, earlier.created),
            (None, Some(_)) if plan.replaces => (None, false, 0),
            (_, Some(before)) => {
                let copy = hub
                    .inner
                    .clients
                    .edits
                    .keep(&client.id, &plan.path, before)
                    .map_err(Refusal::unwritable)?;
                (Some(copy), false, plan.created)
            }
            (_, None) => (None, true, plan.created),
        };
        files.push(Written {
            path: plan.path.clone(),
            name: plan.name.clone(),
            entry: connect::entry_fingerprint(&plan.entry),
            created,
            after: fingerprint(&plan.after),
            backup,
            new_file,
            bits_before: access.bits_before,
            shared: access.shared,
        });
    }
    Ok(files)
}

/// The client's present token, if it is still valid.
fn token_there(hub: &Hub, client: &Client, ourselves: &Ourselves, targets: &[PathBuf]) -> Option<String> {
    targets.iter().find_map(|path| {
        let (_, entry) = entry_in(client, ourselves, path).ok()??;
        let token = connect::token_in(&entry)?;
        (hub.inner.clients.tokens.owner(&token).as_deref() == Some(client.id.as_str())).then_some(token)
    })
}

fn token_for(hub: &Hub, client: &Client) -> Result<String, Refusal> {
    let made = hub.inner.clients.tokens.make(&client.id, false);
    let made = made.map_err(|error| Refusal::new(Code::BadClient, error.to_string(), ""))?;
    hub.did_here(AuditKind::Access, &client.id, "a token");
    Ok(made)
}

/// The client's files contain no entry, so only its tokens are revoked.
fn without_tokens(hub: &Hub, client: &str, name: &str, dry_run: bool) -> Result<ClientChange, Refusal> {
    if !dry_run {
        revoke_tokens(hub, client)?;
    }
    Ok(ClientChange {
        client: client.to_owned(),
        name: name.to_owned(),
        done: !dry_run,
        files: vec![],
        next: Some(format!("Tokens that were issued to {name} are no longer valid.")),
        warnings: vec![],
        snippet: None,
    })
}

/// Revokes the client's tokens: requests with them are rejected, and open sessions end.
fn revoke_tokens(hub: &Hub, client: &str) -> Result<(), Refusal> {
    hub.inner.clients.tokens.revoke(client).map_err(Refusal::unwritable)?;
    hub.did_here(AuditKind::Access, client, "its tokens were revoked");
    hub.inner.clients.chosen();
    hub.inner.faces.changed();
    Ok(())
}

pub(super) fn remove_from_client(
    hub: &Hub,
    client: &'static Client,
    dry_run: bool,
    environment: &Environment,
    again: bool,
) -> Result<ClientChange, Refusal> {
    let machine = Machine::here(environment);
    let ourselves = ourselves::ourselves(hub);
    let record = hub.inner.clients.edits.record(&client.id);
    let files = match &record {
        Some(record) => record.files.clone(),
        None => pasted(hub, client, &ourselves, &machine),
    };
    if files.is_empty() && hub.inner.clients.tokens.holds(&client.id) {
        return without_tokens(hub, &client.id, client.title(), dry_run);
    }
    if files.is_empty() {
        let message = format!("{} has no Satchel entry", client.title());
        return Err(Refusal::new(Code::NotConnected, message, "See `satchel clients`."));
    }
    let mut changes = Vec::new();
    for written in &files {
        changes.push(take_out(client, written, dry_run)?);
    }
    if !dry_run {
        revoke_tokens(hub, &client.id)?;
        hub.inner.clients.edits.disconnected(&client.id, again).map_err(Refusal::unwritable)?;
        hub.inner.faces.changed();
    }
    Ok(ClientChange {
        client: client.id.clone(),
        name: client.title().to_owned(),
        done: !dry_run,
        files: changes,
        next: client.after_connect.as_ref().map(|_| format!("Restart {} if it is running.", client.title())),
        warnings: vec![],
        snippet: None,
    })
}

/// Satchel entries in files that Satchel did not write.
fn pasted(hub: &Hub, client: &Client, ourselves: &Ourselves, machine: &Machine) -> Vec<Written> {
    let targets = connect::targets(client, machine).unwrap_or_default();
    let found = targets.into_iter().filter_map(|path| {
        let (name, entry) = entry_in(client, ourselves, &path).ok()??;
        is_ours(hub, client, ourselves, &entry).then(|| Written {
            path,
            name,
            entry: String::new(),
            created: 0,
            after: String::new(),
            backup: None,
            new_file: false,
            bits_before: None,
            shared: false,
        })
    });
    found.collect()
}

pub(super) fn known(id: &str) -> Result<&'static Client, Refusal> {
    table::client(id).ok_or_else(|| {
        Refusal::new(
            Code::UnknownClient,
            format!("there is no client \"{id}\""),
            "See `satchel clients --all`.",
        )
    })
}

fn refused(client: &Client, error: ConnectError) -> Refusal {
    let code = match &error {
        ConnectError::Paste(_) => Code::Paste,
        ConnectError::NotThere { .. } | ConnectError::NotHere(_) => Code::NotInstalled,
        ConnectError::NoWay(_) => Code::NoWay,
        ConnectError::Document { .. } | ConnectError::Wide(_) | ConnectError::Edit { .. } => Code::ClientFile,
        ConnectError::Protected(_) | ConnectError::Files(_) => Code::Unwritable,
        ConnectError::Changed(_) => Code::Changed,
    };
    let action = match (&error, client.on_syntax_error.as_deref()) {
        (ConnectError::Edit { .. }, Some(_)) => {
            format!("Nothing was written. Correct the file first; {} reads it too.", client.title())
        }
        (ConnectError::Edit { .. } | ConnectError::Document { .. } | ConnectError::Wide(_), _) => {
            "Nothing was written. Correct the file, or paste the entry: see `satchel connect --print`."
                .to_owned()
        }
        _ => String::new(),
    };
    Refusal::new(code, error.to_string(), action)
}

/// Adds the snippet to paste to an error about a file.
fn with_snippet(client: &Client, ourselves: &Ourselves, over: Transport, error: ConnectError) -> Refusal {
    let mut refusal = refused(client, error);
    if let Some(snippet) = connect::snippet(client, ourselves, over, TOKEN_TO_COME) {
        refusal.action = format!("{}\nThe entry by hand:\n{snippet}", refusal.action);
    }
    refusal
}

fn warnings(client: &Client) -> Vec<String> {
    let untested = client.tier == Tier::B;
    untested
        .then(|| format!("Not tested with {}: review the change first.", client.title()))
        .into_iter()
        .collect()
}

fn file_change(client: &Client, plan: &Plan) -> FileChange {
    let what = if plan.changes_nothing() { "unchanged" } else { "added" };
    let (before, after) = (plan.before.as_deref(), plan.after.as_slice());
    Changed { client, path: &plan.path, before, after }.shown(what, &plan.name)
}

pub(super) fn remarks(files: &[FileChange]) -> Vec<String> {
    let said = files.iter().map(|file| match file.what.as_str() {
        "restored" => format!("{} is exactly what it was", file.path),
        "deleted" => format!("{} was created by Satchel and was deleted", file.path),
        "gone" => format!("our entry was no longer in {}", file.path),
        _ => format!("{} was changed since; only our entry was removed", file.path),
    });
    said.collect()
}

fn take_out(client: &Client, written: &Written, dry_run: bool) -> Result<FileChange, Refusal> {
    let path = &written.path;
    let now = read_bytes(path)
        .map_err(|error| refused(client, ConnectError::Document { path: path.clone(), error }))?;
    let backup = written.backup.as_ref().and_then(|copy| files::read_data(copy).ok());
    let without =
        connect::without(client, written, now.as_deref(), backup).map_err(|error| refused(client, error))?;
    let (what, after) = match &without {
        Without::Restored(bytes) => ("restored", Some(bytes.clone())),
        Without::Removed(bytes) => ("removed", Some(bytes.clone())),
        Without::Deleted => ("deleted", Some(vec![])),
        Without::Gone => ("gone", None),
    };
    let before = now.as_deref();
    if !dry_run && after.is_none() {
        files::grant(path, written.access_before()).map_err(Refusal::unwritable)?;
    }
    let Some(after) = after else {
        return Ok(FileChange {
            path: path.display().to_string(),
            what: what.into(),
            entry: written.name.clone(),
            diff: String::new(),
        });
    };
    if !dry_run {
        let done = match without {
            Without::Deleted => connect::remove(path, before.unwrap_or_default()),
            _ => connect::write(path, before, &after, written.access_before()),
        };
        done.map_err(|error| refused(client, error))?;
    }
    Ok(Changed { client, path, before, after: &after }.shown(what, &written.name))
}

/// Writes the planned files and completes the record.
async fn write_all(
    client: &Client,
    machine: &Machine,
    plans: &[Plan],
    access: &[FileAccess],
    record: &mut ConnectionRecord,
) -> Result<(), Refusal> {
    for ((plan, FileAccess { access, .. }), written) in plans.iter().zip(access).zip(&mut record.files) {
        match by_own_command(client, record.over, machine, plan).await {
            Some(after) => {
                written.after = fingerprint(&after);
                files::grant(&plan.path, *access).map_err(Refusal::unwritable)?;
            }
            None => connect::write(&plan.path, plan.before.as_deref(), &plan.after, *access)
                .map_err(|error| refused(client, error))?,
        }
        // Store it as it reads back: a format may not be able to express all of it.
        if let Some(entry) = read_entry(client, written).ok().flatten() {
            written.entry = connect::entry_fingerprint(&entry);
        }
    }
    Ok(())
}

/// The present content of the entry that Satchel wrote.
fn read_entry(client: &Client, written: &Written) -> Result<Option<Value>, ConnectError> {
    let Some(document) = read_document(client, &written.path)? else { return Ok(None) };
    let spot = crate::edit::Spot { container: &client.key, list: client.list(), name: &written.name };
    Ok(crate::edit::at(&document, &spot).cloned())
}

/// The Satchel entry in a file, and its name.
fn entry_in(
    client: &Client,
    ourselves: &Ourselves,
    path: &Path,
) -> Result<Option<(String, Value)>, ConnectError> {
    let document = read_document(client, path)?;
    Ok(document.and_then(|document| connect::find(client, ourselves, &document)))
}

fn read_document(client: &Client, path: &Path) -> Result<Option<Value>, ConnectError> {
    let in_document = |error| ConnectError::Document { path: path.to_owned(), error };
    let Some(bytes) = read_bytes(path).map_err(in_document)? else { return Ok(None) };
    let text = Document::decode(&bytes).map_err(in_document)?.text;
    let read = connect::format_of(client, path).read(&text);
    read.map(Some).map_err(|error| ConnectError::Edit { path: path.to_owned(), error: error.into() })
}

/// Checks that the bridge's path is permanent: the client starts it long after this process has exited.
fn will_last(bridge: &Path, machine: &Machine) -> Result<(), Refusal> {
    let Some(passing) = Passing::of(bridge, &machine.environment) else { return Ok(()) };
    let message = format!("the client could not start the bridge later: {passing}");
    Err(Refusal::new(Code::PassingPath, message, passing.action()))
}

/// Runs the client's own command to add the entry, if that is the documented way: a running client would overwrite a
/// file edit. Returns the file's new content if the entry is in it; `None` if Satchel has to write it.
async fn by_own_command(client: &Client, over: Transport, machine: &Machine, plan: &Plan) -> Option<Vec<u8>> {
    let own = client.own_command.as_ref()?;
    let program = machine.program(&own.program)?;
    if plan.changes_nothing() || over != Transport::Http {
        return None;
    }
    let read = || {
        let bytes = read_bytes(&plan.path).ok()??;
        let text = Document::decode(&bytes).ok()?.text;
        let document = client.format.read(&text).ok()?;
        let spot = crate::edit::Spot { container: &client.key, list: client.list(), name: &plan.name };
        Some((crate::edit::at(&document, &spot).cloned(), bytes))
    };
    let there = read().is_some_and(|(entry, _)| entry.is_some());
    let named = |words: &[String]| -> Vec<String> {
        words.iter().map(|word| word.replace("${NAME}", &plan.name)).collect()
    };
    if there {
        call(&program, &named(&own.remove), machine, "").await?;
    }
    if call(&program, &named(&own.add), machine, &plan.entry.to_string()).await.is_none() {
        tracing::info!(client = client.id, "its own program did not add Satchel; writing the file directly");
    }
    match read() {
        Some((Some(entry), bytes)) if entry == plan.entry => Some(bytes),
        _ => None,
    }
}

async fn call(program: &Path, words: &[String], machine: &Machine, input: &str) -> Option<()> {
    let mut command = Command::new(program);
    command.args(words).env_clear().envs(machine.environment.iter()).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    let done = async {
        stdin.write_all(input.as_bytes()).await.ok()?;
        drop(stdin);
        child.wait().await.ok().filter(std::process::ExitStatus::success)
    };
    tokio::time::timeout(OWN_COMMAND_TIME, done).await.ok()?.map(drop)
}
