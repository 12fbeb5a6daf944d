//! `list_mcp_resources`, and the answer of `read_mcp_resource`.

use std::sync::Arc;

use satchel_core::{
    catalog::{Offer, ResourceEntry, answer::qualified},
    hub::Hub,
    model::ServerName,
};
use satchel_mcp::{Raw, RawObject};

use serde_json::json;

use super::{fault, put, raw, text};

/// `list_mcp_resources`: from the catalog only.
pub(crate) fn list_resources(hub: &Hub) -> Box<Raw> {
    let catalog = hub.catalog();
    let all = |pick: fn(&Offer) -> &[ResourceEntry], key: &str| -> Vec<Box<Raw>> {
        let of = |(server, offer): (&ServerName, &Arc<Offer>)| {
            pick(offer).iter().map(|entry| qualified(server, &entry.raw, key)).collect::<Vec<_>>()
        };
        catalog.servers().iter().flat_map(of).collect()
    };
    let mut answer = RawObject::new();
    put(&mut answer, "resources", &all(|offer| &offer.resources, "uri"));
    let templates = all(|offer| &offer.templates, "uriTemplate");
    if !templates.is_empty() {
        put(&mut answer, "resourceTemplates", &templates);
    }
    text(answer.to_raw().get(), false)
}

/// A page of a cut result, as the result of `read_mcp_resource`.
pub(crate) async fn result_page(hub: &Hub, client: &str, address: &str) -> Box<Raw> {
    let page = match hub.calls().results.page(client, hub.result_cap(client), address).await {
        Ok(page) => page,
        Err(error) => return fault(&error.to_string()),
    };
    let mut content = vec![json!({ "type": "text", "text": page.text })];
    if let Some(next) = page.next {
        let rest = format!("[{} bytes in all. Read on with read_mcp_resource, uri {next:?}.]", page.total);
        content.push(json!({ "type": "text", "text": rest }));
    }
    raw(&json!({ "content": content, "isError": false }))
}

/// The content of a resource as the content of a tool result. The server's additions are kept.
pub(crate) fn resource_content(result: &Raw) -> Box<Raw> {
    let Ok(mut fields) = RawObject::parse(result) else {
        return fault("the server's response is not a resource");
    };
    let contents: Vec<Box<Raw>> = fields.read("contents").unwrap_or_default();
    fields.remove("contents");
    let block = |item: Box<Raw>| {
        let mut block = RawObject::new();
        put(&mut block, "type", &"resource");
        block.set("resource", item);
        block.to_raw()
    };
    let mut answer = RawObject::new();
    put(&mut answer, "content", &contents.into_iter().map(block).collect::<Vec<_>>());
    for (key, value) in fields.iter() {
        answer.set(key, value.to_owned());
    }
    answer.to_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contents_of_a_resource_become_content_unchanged() {
        let raw = Raw::from_string(r#"{"contents":[{"uri":"x","text":"t","k":1.0}],"_meta":{"a":1}}"#.into())
            .unwrap();
        assert_eq!(
            resource_content(&raw).get(),
            r#"{"content":[{"type":"resource","resource":{"uri":"x","text":"t","k":1.0}}],"_meta":{"a":1}}"#
        );
    }
}
