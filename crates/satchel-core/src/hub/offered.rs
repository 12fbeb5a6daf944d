//! Lists the resources and prompts of a server for the window, and reads one as any client does: by approvals, and
//! recorded. Wakes a server only to read.

use std::time::Duration;

use satchel_mcp::{Raw, RawObject};
use serde::Deserialize;
use tokio::time::Instant;

use super::{Hub, page};
use crate::{
    bridge::Caller,
    catalog::{ResourceEntry, entry::shorten},
    model::{
        Code, ResourcePath, ServerName,
        control::Refusal,
        ledger::CallKind,
        offered::{MOST, Offered, OfferedItem, OfferedThing, PromptArgument},
        trying::{AppPage, Tried, WINDOW},
    },
    recorder,
    stats::event::Visit,
    trust::clean,
};

/// Maximum length of a name, title or description, in characters.
const TEXT: usize = 400;
/// Maximum length of an address; a longer one could not be read anyway.
const ADDRESS: usize = 4_096;
/// Timeout for a person's request.
const PATIENCE: Duration = Duration::from_secs(120);

/// An item as the server sent it. Invalid items are left out.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct OfferedText {
    name: String,
    title: String,
    description: String,
    mime_type: Option<String>,
    arguments: Vec<WrittenArgument>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WrittenArgument {
    name: String,
    description: String,
    required: bool,
}

/// What a server offers besides tools, as last read.
pub(super) fn list(hub: &Hub, server: &str) -> Result<Offered, Refusal> {
    if !hub.servers().contains_key(server) {
        return Err(Refusal::unknown_server(server));
    }
    let catalog = hub.inner.servers.catalog();
    let Some(offer) = catalog.offer(server) else { return Ok(Offered::default()) };
    let resource = |entry: &ResourceEntry| item(&entry.uri, &entry.raw);
    let prompt = |raw: &Raw| item(&RawObject::parse(raw).ok()?.text("name")?, raw);
    let sizes = [offer.resources.len(), offer.templates.len(), offer.prompts.len()];
    Ok(Offered {
        resources: offer.resources.iter().take(MOST).filter_map(resource).collect(),
        templates: offer.templates.iter().take(MOST).filter_map(resource).collect(),
        prompts: offer.prompts.iter().take(MOST).filter_map(|raw| prompt(raw)).collect(),
        more: sizes.iter().map(|size| size.saturating_sub(MOST)).sum(),
    })
}

fn item(id: &str, raw: &Raw) -> Option<OfferedItem> {
    let written: OfferedText = serde_json::from_str(raw.get()).unwrap_or_default();
    let text = |text: &str| clean::visible(&shorten(text, TEXT));
    let argument = |one: WrittenArgument| PromptArgument {
        description: text(&one.description),
        name: one.name,
        required: one.required,
    };
    let title = [&written.title, &written.name].into_iter().find(|title| !title.is_empty());
    (id.len() <= ADDRESS).then(|| OfferedItem {
        id: id.to_owned(),
        title: text(title.map_or(id, String::as_str)),
        description: text(&written.description),
        mime_type: written.mime_type.as_deref().map(text),
        arguments: written.arguments.into_iter().take(MOST).map(argument).collect(),
    })
}

/// Reads one of them for a person in the window.
pub(super) async fn read(hub: &Hub, server: &str, what: OfferedThing) -> Result<Tried, Refusal> {
    let began = Instant::now();
    let result = fetch(hub, server, what).await?;
    Ok(Tried {
        took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        result: clean::raw(&result).get().to_owned(),
    })
}

/// The page of one of its tools. Nothing in it is changed: it is a program, and no model reads it.
pub(super) async fn page(hub: &Hub, server: &str, uri: String) -> Result<AppPage, Refusal> {
    if !page::is_address(&uri) {
        return Err(page::refused(format!("\"{uri}\" is not the address of a page")));
    }
    let result = fetch(hub, server, OfferedThing::Resource(uri)).await?;
    page::of_result(&result)
}

pub(super) async fn fetch(hub: &Hub, server: &str, what: OfferedThing) -> Result<Box<Raw>, Refusal> {
    let name: ServerName = server.parse().map_err(|_| Refusal::unknown_server(server))?;
    if !hub.servers().contains_key(&name) {
        return Err(Refusal::unknown_server(server));
    }
    let reading = tokio::time::timeout(PATIENCE, Box::pin(carried_out(hub, &name, what))).await;
    let late = || {
        let message = format!("\"{name}\" did not answer within {} s", PATIENCE.as_secs());
        Refusal::new(Code::CallFailed, message, "Look at its log.")
    };
    reading.map_err(|_| late())?
}

async fn carried_out(hub: &Hub, server: &ServerName, what: OfferedThing) -> Result<Box<Raw>, Refusal> {
    let caller = Caller::alone(WINDOW);
    let mut params = RawObject::new();
    let running = match what {
        OfferedThing::Resource(uri) => {
            let path = ResourcePath { server: server.clone(), uri: uri.clone() }.to_string();
            let visit =
                Visit { face: true, ..recorder::visit(WINDOW, recorder::Program::default(), "", None) };
            params.put("uri", &uri);
            let observer = hub.observe(&visit.into(), CallKind::Read, &path, params.to_raw().get());
            if page::is_address(&uri) {
                observer.unread();
            }
            hub.observed(&observer).read_resource(&caller, &path, params).await?
        }
        OfferedThing::Prompt { name, arguments } => {
            params.put("name", &name);
            params.put("arguments", &arguments);
            hub.ask(&caller, server, "prompts/get", params).await?
        }
    };
    Ok(running.finish().await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_read_as_far_as_it_can_be_and_hidden_signs_are_written_out() {
        let raw = |text: &str| Raw::from_string(text.to_owned()).unwrap();
        let prompt = raw(
            r#"{"name":"review","description":"Reviews\u200b code","arguments":[{"name":"file","required":true}]}"#,
        );
        let read = item("review", &prompt).unwrap();
        let argument = PromptArgument { name: "file".into(), description: String::new(), required: true };
        let expected = OfferedItem {
            id: "review".into(),
            title: "review".into(),
            description: "Reviews⟨U+200B⟩ code".into(),
            mime_type: None,
            arguments: vec![argument],
        };
        assert_eq!(read, expected);
        let odd = item("file:///a", &raw(r#"{"uri":"file:///a","name":7,"mimeType":[]}"#)).unwrap();
        assert_eq!((odd.title.as_str(), odd.mime_type), ("file:///a", None));
        assert_eq!(item(&"a".repeat(ADDRESS + 1), &prompt), None);
    }
}
