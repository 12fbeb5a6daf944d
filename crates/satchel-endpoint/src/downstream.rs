//! Answers a client's requests: which methods exist on which surface, and what each does. [`crate::exchange`]
//! (sessions) and [`crate::modern`] (stateless requests) transport the answers.

use std::{borrow::Cow, sync::Arc};

use satchel_core::{
    bridge::Caller,
    calls::results::ADDRESS,
    catalog::{
        Offer, Said, ToolEntry,
        flat::Flat,
        labelled,
        lists::{Asked, List},
        skills,
    },
    clients::seen::{Errors, Fact, Objects},
    hub::{CallFailure, Failed, Hub, NoSkill, Running, Underway, Wanted},
    model::{ServerName, ToolPath},
    recorder::Observer,
    stats::event::Visit,
};
use satchel_mcp::{
    ErrorObject, Message, Raw, RawObject,
    era::Era,
    errors, limits, meta as metadata,
    methods::{Handling, KnownMethod, Sender, Served},
};
use serde_json::{json, value::to_raw_value};

use crate::{
    fitted::{self, Fit},
    meta, observe,
    params::Params,
    surface::{self, Hello, Surface},
};

/// How much of the name of an unknown method is logged, in characters.
const UNKNOWN_NAME: usize = 100;

/// The client and its view.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    pub(crate) caller: Caller,
    pub(crate) surface: Surface,
    /// The servers listed in the meta-tools' descriptions, if a session has fixed them; otherwise the present ones.
    pub(crate) servers: Option<Vec<String>>,
    /// Its identity in the ledger.
    pub(crate) visit: Arc<Visit>,
}

/// The reply to a request.
pub(crate) enum Reply {
    /// An immediate result.
    Result(Box<Raw>),
    /// A list, which clients may cache: finished in the client's revision.
    List(Arc<List>),
    /// An immediate error.
    Error(ErrorObject),
    /// A running call.
    Running(Underway, Kind),
}

/// How to present the end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// As a tool result.
    Tool,
    /// As a resource in a meta-tool's result.
    ResourceByTool,
    /// As the method's own result.
    Plain,
}

/// The introduction of a surface. Starts a server that was never read, for its own surface.
///
/// # Errors
/// If there is no such server, or it is unavailable.
pub(crate) async fn hello(hub: &Hub, surface: &Surface, era: Era) -> Result<Hello, CallFailure> {
    match surface {
        Surface::Router => Ok(Hello::router(hub)),
        Surface::Script => Ok(Hello::script(hub)),
        Surface::Direct => Ok(Hello::direct()),
        Surface::Server(server) => Ok(Hello::server(&*hub.offer(server).await?, era)),
    }
}

/// The row of a client's request on this surface; `None` for what is refused. A method that has no row at all is logged.
pub(crate) fn served(surface: &Surface, era: Era, method: &str) -> Option<&'static KnownMethod> {
    let known = KnownMethod::request(Sender::Client, era, method);
    if known.is_none() {
        let name: String = method.chars().take(UNKNOWN_NAME).collect();
        tracing::warn!(method = ?name, "refused a request: Satchel does not know this method");
    }
    known.filter(|known| match known.served {
        Served::Everywhere => true,
        Served::WithLogs => !surface.is_ours(),
        Served::ByOneServer => matches!(surface, Surface::Server(_)),
    })
}

/// Logs a client's notification that has no row. Nothing else happens to it.
pub(crate) fn notified(client: &str, era: Era, method: &str) {
    if KnownMethod::notification(Sender::Client, era, method).is_none() {
        let name: String = method.chars().take(UNKNOWN_NAME).collect();
        tracing::warn!(client, method = ?name, "ignored a notification: Satchel does not know it");
    }
}

/// Handles a request that only reads or calls. Session requests are handled before.
pub(crate) async fn answer(hub: &Hub, asker: &Asker, method: &str, params: Params) -> Reply {
    let hub = &hub.seen_by(&asker.caller.client);
    hub.client_seen(&asker.caller.client, None);
    hub.client_asks(&asker.caller);
    let Some(known) = served(&asker.surface, asker.caller.era, method) else { return unknown_method(method) };
    if params.unreadable {
        return bad(format!("the parameters of {method} must be an object"));
    }
    let Params { fields: mut params, meta: meta_of, .. } = params;
    if !matches!(asker.surface, Surface::Server(_)) {
        without_tasks(&mut params, &meta_of);
    }
    if surface::list_key(method).is_some() && names_a_page(&params) {
        return bad("unknown cursor: the list has only one page".to_owned());
    }
    if let (Surface::Server(server), "tools/call") = (&asker.surface, method)
        && let Some(offer) = hub.catalog().offer(server.as_str())
        && let Some(own) = surface::own_tool_name(offer, &params.text("name").unwrap_or_default())
    {
        put(&mut params, "name", &own);
    }
    let pinned = method == "tools/call"
        && asker.surface.is_ours()
        && surface::is_pinned(hub, &params.text("name").unwrap_or_default());
    // Calls of Satchel's own tools are recorded with what they call.
    let observer = match known.recorded && (pinned || !asker.surface.is_ours()) {
        true => observe::direct(hub, &asker.visit, &params, &meta_of),
        false => Observer::default(),
    };
    let hub = &hub.observed(&observer);
    let reply = match &asker.surface {
        Surface::Router | Surface::Script if !pinned => router(hub, asker, method, params, &meta_of).await,
        Surface::Router | Surface::Script | Surface::Direct => direct(hub, asker, method, params).await,
        Surface::Server(server) => server_itself(hub, asker, server, method, params).await,
    };
    match &reply {
        Reply::List(list) if method == "tools/list" => observe::listed(hub, &asker.visit, list),
        Reply::Result(result) => observer.answered(result, true),
        _ => {}
    }
    reply
}

async fn router(hub: &Hub, asker: &Asker, method: &str, params: RawObject, meta_of: &RawObject) -> Reply {
    match method {
        "tools/list" => {
            let now = || meta::menu::servers(hub);
            let servers = asker.servers.clone().unwrap_or_else(now);
            let mut definitions = match asker.surface {
                Surface::Script => meta::script_definitions(&servers),
                Surface::Router | Surface::Direct | Surface::Server(_) => meta::definitions(&servers),
            };
            let facts = asker.caller.facts();
            if facts.has(&Fact::Objects(Objects::Closed)) {
                meta::take_arguments_as_text(&mut definitions);
            }
            let own: Vec<Box<Raw>> = definitions.as_array().into_iter().flatten().map(raw).collect();
            let (pinned, fit) = (surface::pinned_tools(hub), Fit::of(facts));
            let pinned = pinned.iter().map(|tool| match &fit {
                Some(fit) => fit.tool(tool),
                None => Cow::Borrowed(&**tool),
            });
            let pinned: Vec<Cow<'_, Raw>> = pinned.collect();
            let tools: Vec<&Raw> =
                own.iter().map(|tool| &**tool).chain(pinned.iter().map(|tool| &**tool)).collect();
            let list = surface::list("tools", &tools);
            Reply::List(Arc::new(List::new(finished(hub, asker, "tools", list))))
        }
        "tools/call" => meta_tool(hub, asker, params, meta_of).await,
        // What people choose themselves: prompts and resources, under the names that they have at /mcp/direct.
        _ => direct(hub, asker, method, params).await,
    }
}

async fn meta_tool(hub: &Hub, asker: &Asker, params: RawObject, meta_of: &RawObject) -> Reply {
    let Some(name) = params.text("name") else { return bad("tools/call needs a name".to_owned()) };
    let runs = asker.surface == Surface::Script;
    if runs != (name == meta::RUN_SCRIPT) && name != meta::DISCOVER {
        return bad(format!("Unknown tool: {name}"));
    }
    let arguments = match params.get("arguments").map(|raw| (raw.get(), RawObject::parse(raw))) {
        None | Some(("null", _)) => RawObject::new(),
        Some((_, Ok(arguments))) => arguments,
        Some((_, Err(_))) => return bad("the arguments must be an object".to_owned()),
    };
    // What is forwarded besides the arguments: metadata, and answers to the server's earlier questions.
    let mut onward = RawObject::new();
    for key in ["_meta", "inputResponses", "requestState"] {
        if let Some(value) = params.get(key) {
            onward.set(key, value.to_owned());
        }
    }
    let facts = asker.caller.facts();
    let arguments = match facts.has(&Fact::TakesAll("arguments".to_owned())) {
        true => fitted::unnested(arguments),
        false => arguments,
    };
    let observer = observe::own(hub, &asker.visit, &name, (&params, meta_of), &arguments);
    let hub = &hub.observed(&observer);
    let reply = match name.as_str() {
        meta::DISCOVER => Reply::Result(meta::discover(hub, &asker.visit, &arguments, runs).await),
        meta::RUN_SCRIPT => match Wanted::of(&arguments) {
            Ok(wanted) => match hub.run_script(&asker.caller, &asker.visit, wanted) {
                Ok(script) => Reply::Running(Underway::Script(Box::new(script)), Kind::Tool),
                Err(failure) => Reply::Result(meta::failure(&failure)),
            },
            Err(fault) => Reply::Result(meta::fault(&fault)),
        },
        meta::LIST_RESOURCES => Reply::Result(meta::list_resources(hub, &asker.caller.client, &arguments)),
        meta::EXECUTE => match meta::execute_arguments(&arguments) {
            Ok((path, arguments)) => {
                hub.client_seen(&asker.caller.client, Some(&path));
                onward.set("arguments", arguments);
                started(hub.execute_tool(&asker.caller, &path, onward).await, Kind::Tool)
            }
            Err(fault) => Reply::Result(meta::fault(&fault)),
        },
        meta::READ_RESOURCE => match arguments.text("uri") {
            Some(uri) if uri.trim_start().starts_with(ADDRESS) => {
                Reply::Result(meta::result_page(hub, &asker.caller.client, &uri).await)
            }
            Some(uri) => started(hub.read_resource(&asker.caller, &uri, onward).await, Kind::ResourceByTool),
            None => Reply::Result(meta::fault("read_mcp_resource needs a uri of the form server|uri")),
        },
        other => bad(format!("Unknown tool: {other}")),
    };
    if let Reply::Result(result) = &reply {
        observer.answered(result, true);
    }
    match reply {
        Reply::Result(result) if facts.has(&Fact::Errors(Errors::SecondEndsTheRun)) => {
            Reply::Result(meta::not_called(result))
        }
        reply => reply,
    }
}

async fn direct(hub: &Hub, asker: &Asker, method: &str, mut params: RawObject) -> Reply {
    let catalog = hub.catalog();
    let flat = catalog.flat();
    let named = |params: &RawObject| params.text("name").unwrap_or_default();
    match method {
        "tools/call" => match flat.tool(&named(&params)) {
            Some(path) => {
                hub.client_seen(&asker.caller.client, Some(&path.to_string()));
                if let Some(fit) = Fit::of(asker.caller.facts()) {
                    let schema = catalog.tool(path).and_then(ToolEntry::input_schema);
                    let given = params.get("arguments");
                    let fitted = schema.zip(given).and_then(|(schema, given)| fit.arguments(&schema, given));
                    if let Some(arguments) = fitted {
                        params.set("arguments", arguments);
                    }
                }
                started(hub.call_tool_at(&asker.caller, path.clone(), params).await, Kind::Tool)
            }
            None => match surface::hidden(hub, &named(&params)) {
                Some(failure) => refused(hub, &failure),
                None => match flat.ambiguous_tool(&named(&params)) {
                    Some(message) => unsent(hub, message),
                    None => unknown_tool(hub, &named(&params)),
                },
            },
        },
        "prompts/get" => match flat.prompt(&named(&params)) {
            Some(path) => {
                put(&mut params, "name", &path.tool);
                let asked = hub.ask(&asker.caller, &path.server, method, params).await;
                started(asked.map(Running::under_own_addresses), Kind::Plain)
            }
            None => bad(flat
                .ambiguous_prompt(&named(&params))
                .unwrap_or_else(|| format!("Unknown prompt: {}", named(&params)))),
        },
        "resources/read" => match owner(hub, &asker.surface, &params.text("uri").unwrap_or_default()) {
            Some((server, uri)) => {
                put(&mut params, "uri", &uri);
                let asked = hub.ask(&asker.caller, &server, method, params).await;
                started(asked.map(Running::under_own_addresses), Kind::Plain)
            }
            None => match flat.ambiguous_resource(&params.text("uri").unwrap_or_default()) {
                Some(message) => bad(message),
                None => no_resource(&params),
            },
        },
        "completion/complete" => complete(hub, asker, flat, params).await,
        "skills/get" => match flat.skill(&params.text("uri").unwrap_or_default()) {
            Some((server, own)) => skill(hub, asker, &server, &own).await,
            None => no_skill(&params),
        },
        _ => match (surface::list_key(method), Fit::of(asker.caller.facts())) {
            (Some(key @ "tools"), Some(fit)) => {
                let tools: Vec<_> = flat.items(method).into_iter().map(|tool| fit.tool(tool)).collect();
                let tools: Vec<&Raw> = tools.iter().map(|tool| &**tool).collect();
                Reply::List(Arc::new(List::new(finished(hub, asker, key, surface::list(key, &tools)))))
            }
            (Some(key), _) => {
                let asked = Asked { server: None, key, era: asker.caller.era };
                let list = || finished(hub, asker, key, surface::list(key, &flat.items(method)));
                Reply::List(catalog.list(&asked, list))
            }
            (None, _) => unknown_method(method),
        },
    }
}

/// One server's list for this client.
fn list_of_server(
    hub: &Hub,
    asker: &Asker,
    server: &ServerName,
    offer: &Arc<Offer>,
    (method, key): (&str, &'static str),
) -> Arc<List> {
    let list = || {
        let list = surface::list_of(offer, method, key);
        let list = metadata::result_between(list, era_of(offer), asker.caller.era);
        finished(hub, asker, key, list)
    };
    let catalog = hub.catalog();
    // The offer may have changed; then the list is not shared.
    match catalog.offer(server.as_str()).is_some_and(|now| Arc::ptr_eq(now, offer)) {
        true => {
            let asked = Asked { server: Some(server.clone()), key, era: asker.caller.era };
            catalog.list(&asked, list)
        }
        false => Arc::new(List::new(list())),
    }
}

/// A list in the client's revision.
fn finished(hub: &Hub, asker: &Asker, key: &str, list: Box<Raw>) -> Box<str> {
    let list = metadata::list_for(asker.caller.era, key, list);
    match asker.caller.era.is_stateless() {
        true => {
            let server = surface::info_of(hub, &asker.surface);
            metadata::modern_result(&list, &server, Some(surface::FRESH)).into()
        }
        false => list.into(),
    }
}

/// A completion for an argument of the named prompt or template.
async fn complete(hub: &Hub, asker: &Asker, flat: &Flat, mut params: RawObject) -> Reply {
    let mut reference = params.get("ref").and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default();
    let server = if let Some(path) = reference.text("name").and_then(|name| flat.prompt(&name)) {
        put(&mut reference, "name", &path.tool);
        path.server.clone()
    } else if let Some((server, uri)) = reference.text("uri").and_then(|uri| flat.resource(&uri)) {
        put(&mut reference, "uri", &uri);
        server
    } else {
        return bad("unknown prompt or template".to_owned());
    };
    params.set("ref", reference.to_raw());
    started(hub.ask(&asker.caller, &server, "completion/complete", params).await, Kind::Plain)
}

async fn server_itself(
    hub: &Hub,
    asker: &Asker,
    server: &ServerName,
    method: &str,
    mut params: RawObject,
) -> Reply {
    if let Some(key) = surface::list_key(method) {
        return match hub.offer(server).await {
            Ok(offer) => Reply::List(list_of_server(hub, asker, server, &offer, (method, key))),
            Err(failure) => Reply::Error(refusal(&failure)),
        };
    }
    match method {
        "skills/get" => {
            return match params.text("uri") {
                Some(uri) => skill(hub, asker, server, &uri).await,
                None => no_skill(&params),
            };
        }
        "resources/directory/read" => return directory(hub, server, params).await,
        _ => {}
    }
    if method == "tools/call" {
        let name = params.text("name").unwrap_or_default();
        hub.client_seen(&asker.caller.client, Some(&format!("{}:{name}", server.in_path())));
        if let Some(task) = metadata::related_task(&params)
            && !hub.calls().owned.has_task(&asker.caller.client, server, &task)
        {
            return unknown_task();
        }
        match hub.offer(server).await {
            Ok(offer) if offer.tool(&name).is_none() => {
                let path = ToolPath { server: server.clone(), tool: name };
                return match hub.refuse_hidden_tool(&path) {
                    Err(failure) => refused(hub, &failure),
                    Ok(()) => unknown_tool(hub, &path.tool),
                };
            }
            Ok(_) => {}
            Err(failure) => return refused(hub, &failure),
        }
        return started(hub.ask(&asker.caller, server, method, params).await, Kind::Tool);
    }
    // These belong to the connection between server and hub; clients' own requests are handled elsewhere.
    if KnownMethod::request(Sender::Client, asker.caller.era, method)
        .is_none_or(|known| known.handling == Handling::Hub)
    {
        return unknown_method(method);
    }
    // Each era has its own tasks.
    if method.starts_with("tasks/")
        && let Ok(offer) = hub.offer(server).await
        && !era_of(&offer).shares_tasks_with(asker.caller.era)
    {
        return unknown_method(method);
    }
    if method == "tasks/list" {
        return own_tasks(hub, &asker.caller, server, &params).await;
    }
    let is_anothers = |task: &String| !hub.calls().owned.has_task(&asker.caller.client, server, task);
    if metadata::related_task(&params).as_ref().is_some_and(is_anothers) {
        return unknown_task();
    }
    let task = params.text("taskId").filter(|_| method.starts_with("tasks/"));
    if task.as_ref().is_some_and(is_anothers) {
        let Some(nobodys) = unowned_task() else { return unknown_task() };
        put(&mut params, "taskId", &nobodys);
        return refused_as_by(hub, &asker.caller, server, method, params).await;
    }
    started(hub.ask(&asker.caller, server, method, params).await, Kind::Plain)
}

/// One skill, under its address on this surface.
async fn skill(hub: &Hub, asker: &Asker, server: &ServerName, own: &str) -> Reply {
    let skill = match hub.skill(server, own).await {
        Ok(skill) => skill,
        Err(none) => return refused_skill(none),
    };
    let entry = match asker.surface {
        Surface::Server(_) => skill.raw,
        Surface::Router | Surface::Script | Surface::Direct => skill.under(|own| labelled(server, own)),
    };
    let mut result = RawObject::new();
    result.set("skill", entry);
    // Clients may keep it as long as a list.
    Reply::List(Arc::new(List::new(finished(hub, asker, "skill", result.to_raw()))))
}

/// The children of a directory of a skill, if its server lists directories.
async fn directory(hub: &Hub, server: &ServerName, params: RawObject) -> Reply {
    const METHOD: &str = "resources/directory/read";
    let catalog = hub.catalog();
    let said = catalog.offer(server.as_str()).and_then(|offer| offer.hello.as_ref());
    let capabilities = said.and_then(|said| RawObject::parse(&said.capabilities).ok());
    let declared = capabilities.as_ref().and_then(skills::declared);
    if declared.is_none_or(|declared| declared.read("directoryRead") != Some(true)) {
        return unknown_method(METHOD);
    }
    let mut asked = RawObject::new();
    for key in ["uri", "cursor"] {
        if let Some(value) = params.get(key) {
            asked.set(key, value.to_owned());
        }
    }
    match hub.skill_directory(server, asked).await {
        Ok(result) => Reply::Result(result),
        Err(none) => refused_skill(none),
    }
}

fn refused_skill(none: NoSkill) -> Reply {
    match none {
        NoSkill::Unknown(message) => bad(message),
        NoSkill::Answered(error) => Reply::Error(error),
        NoSkill::Failed(failure) => Reply::Error(refusal(&failure)),
    }
}

fn no_skill(params: &RawObject) -> Reply {
    match params.text("uri") {
        Some(uri) => bad(format!("No skill is served at {uri}")),
        None => bad("skills/get needs \"uri\": the address of a SKILL.md".to_owned()),
    }
}

/// One client's tasks from all of the server's pages: a single page could contain others' tasks, and so could its
/// cursor.
async fn own_tasks(hub: &Hub, caller: &Caller, server: &ServerName, params: &RawObject) -> Reply {
    if names_a_page(params) {
        return bad("unknown cursor: the list has only one page".to_owned());
    }
    let (mut own, mut params, mut frame) = (Vec::new(), params.clone(), None);
    let mut seen = std::collections::HashSet::new();
    for _ in 0..limits::LIST_PAGES {
        let page = match hub.ask(caller, server, "tasks/list", params.clone()).await {
            Ok(running) => running.finish().await,
            Err(failure) => return Reply::Error(refusal(&failure)),
        };
        let page = match page {
            Ok(page) => RawObject::parse(&page).unwrap_or_default(),
            Err(Failed::Upstream(error)) => return Reply::Error(error),
            Err(Failed::Hub(failure)) => return Reply::Error(refusal(&failure)),
        };
        own.extend(page.read::<Vec<Box<Raw>>>("tasks").unwrap_or_default().into_iter().filter(|task| {
            let id = RawObject::parse(task).ok().and_then(|task| task.text("taskId"));
            id.is_some_and(|id| hub.calls().owned.has_task(&caller.client, server, &id))
        }));
        let next = page.text("nextCursor");
        frame.get_or_insert(page);
        match next.filter(|next| seen.insert(next.clone())) {
            Some(next) => put(&mut params, "cursor", &next),
            None => break,
        }
    }
    let mut list = frame.unwrap_or_default();
    list.remove("nextCursor");
    // Raw values always serialize.
    list.put("tasks", &own);
    Reply::Result(list.to_raw())
}

/// Does a request ask for another page than the first? Some clients write an empty cursor for the first.
fn names_a_page(params: &RawObject) -> bool {
    params.get("cursor").is_some_and(|cursor| !matches!(cursor.get(), "null" | "\"\""))
}

/// The same error for another client's task as for a missing one.
fn unknown_task() -> Reply {
    bad("Unknown task".to_owned())
}

/// The server's own error for a missing task, because whether an unknown task or an unknown method is reported first
/// is up to it. A server that accepts any task id is not believed.
async fn refused_as_by(
    hub: &Hub,
    caller: &Caller,
    server: &ServerName,
    method: &str,
    params: RawObject,
) -> Reply {
    match hub.ask(caller, server, method, params).await {
        Err(failure) => refused(hub, &failure),
        Ok(running) => match running.finish().await {
            Err(Failed::Upstream(error)) => Reply::Error(error),
            Err(Failed::Hub(failure)) => refused(hub, &failure),
            Ok(_) => unknown_task(),
        },
    }
}

/// An id that no task has; `None` without random numbers.
fn unowned_task() -> Option<String> {
    let mut random = [0u8; 16];
    getrandom::fill(&mut random).ok()?;
    Some(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The server's era, as far as known: lists stored before introductions were are of sessions.
fn era_of(offer: &Offer) -> Era {
    offer.hello.as_ref().map_or(Era::SESSION, Said::era)
}

/// Tasks can be followed only on a single server's surface. Elsewhere the hub waits for the result.
fn without_tasks(params: &mut RawObject, meta: &RawObject) {
    params.remove("task");
    let named =
        |meta: &Raw| meta.get().contains(metadata::TASKS) || meta.get().contains(metadata::RELATED_TASK);
    if !params.get("_meta").is_some_and(named) {
        return;
    }
    let mut meta = meta.clone();
    meta.remove(metadata::RELATED_TASK);
    let part = |fields: &RawObject, key: &str| {
        fields.get(key).and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default()
    };
    let mut capabilities = part(&meta, metadata::CAPABILITIES);
    let mut extensions = part(&capabilities, "extensions");
    extensions.remove(metadata::TASKS);
    capabilities.set("extensions", extensions.to_raw());
    meta.set(metadata::CAPABILITIES, capabilities.to_raw());
    params.set("_meta", meta.to_raw());
}

/// The owner of a resource, and its own URI. It need not be in a list: a result may have led to it.
pub(crate) fn owner(hub: &Hub, surface: &Surface, uri: &str) -> Option<(ServerName, String)> {
    match surface {
        Surface::Router | Surface::Script | Surface::Direct => {
            let catalog = hub.catalog();
            match catalog.flat().ambiguous_resource(uri) {
                Some(_) => None,
                None => catalog.flat().resource(uri).or_else(|| hub.unlisted_resource(uri)),
            }
        }
        Surface::Server(server) => Some((server.clone(), uri.to_owned())),
    }
}

/// A refused tool call: for the client a failed tool, whose message its model should read.
fn refused(hub: &Hub, failure: &CallFailure) -> Reply {
    hub.tell_failure(failure);
    Reply::Result(meta::failure(failure))
}

/// There is no such tool. The record of the call says that nothing was sent; without a word it would say cancelled.
fn unknown_tool(hub: &Hub, name: &str) -> Reply {
    unsent(hub, format!("Unknown tool: {name}"))
}

fn unsent(hub: &Hub, message: String) -> Reply {
    let (server, code, action) = (None, None, String::new());
    let outcome = satchel_core::upstream::Outcome::NotSent;
    hub.tell_failure(&CallFailure { outcome, server, code, message: message.clone(), cause: None, action });
    bad(message)
}

fn started(started: Result<Running, CallFailure>, kind: Kind) -> Reply {
    match (started, kind) {
        (Ok(running), kind) => Reply::Running(Underway::Call(Box::new(running)), kind),
        // For the client a failed tool rather than a protocol error, so that its model reads it.
        (Err(failure), Kind::Tool | Kind::ResourceByTool) => Reply::Result(meta::failure(&failure)),
        (Err(failure), Kind::Plain) => Reply::Error(refusal(&failure)),
    }
}

/// The end of a call in the client's form.
pub(crate) fn end(
    kind: Kind,
    running: &Underway,
    end: Result<Box<Raw>, Failed>,
) -> Result<Box<Raw>, ErrorObject> {
    let ours = |result: Box<Raw>| {
        running.observer().answered(&result, true);
        Ok(result)
    };
    match (end, kind) {
        (Ok(result), Kind::ResourceByTool) if !metadata::asks_for_input(&result) => {
            let content = meta::resource_content(&result);
            Ok(match running {
                Underway::Call(call) => call.cut(content),
                Underway::Script(_) => content,
            })
        }
        (Ok(result), _) => Ok(result),
        (Err(Failed::Upstream(error)), Kind::ResourceByTool)
            if error.code != errors::MISSING_CAPABILITY
                && let Underway::Call(call) = running =>
        {
            let server = call.server();
            ours(meta::unreadable(server, &error))
        }
        (Err(Failed::Upstream(error)), _) => Err(error),
        (Err(Failed::Hub(failure)), Kind::Tool | Kind::ResourceByTool) => ours(meta::failure(&failure)),
        (Err(Failed::Hub(failure)), Kind::Plain) => Err(refusal(&failure)),
    }
}

/// A failure in the hub, for methods without error results.
pub(crate) fn refusal(failure: &CallFailure) -> ErrorObject {
    let message = format!("{}. {}", failure.message.trim_end_matches('.'), failure.action);
    ErrorObject::new(errors::HUB_REFUSED, message.trim()).with_data(failure)
}

/// A call's notification with the client's progress token. Without a token, no progress was requested.
pub(crate) fn note(token: Option<&Raw>, method: &str, params: Option<&Raw>) -> Option<Message> {
    if method != "notifications/progress" {
        return Some(Message::notification(method, params.map(ToOwned::to_owned)));
    }
    let mut params = RawObject::parse(params?).ok()?;
    params.set("progressToken", token?.to_owned());
    Some(Message::notification(method, Some(params.to_raw())))
}

fn no_resource(params: &RawObject) -> Reply {
    let uri = params.text("uri").unwrap_or_default();
    let error = ErrorObject::new(errors::RESOURCE_NOT_FOUND, format!("Resource not found: {uri}"));
    Reply::Error(error.with_data(&json!({ "uri": uri })))
}

fn unknown_method(method: &str) -> Reply {
    Reply::Error(ErrorObject::new(errors::METHOD_NOT_FOUND, format!("there is no method {method}")))
}

fn bad(message: String) -> Reply {
    Reply::Error(ErrorObject::new(errors::INVALID_PARAMS, message))
}

fn put(object: &mut RawObject, key: &str, value: &str) {
    // Strings always serialize.
    object.put(key, &value);
}

fn raw(value: &serde_json::Value) -> Box<Raw> {
    to_raw_value(value).expect("a JSON value always serializes")
}
