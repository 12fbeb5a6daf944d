//! `list_mcp_resources`, and the answer of `read_mcp_resource`.

use std::sync::Arc;

use satchel_core::{
    catalog::{Offer, ResourceEntry, answer::qualified},
    hub::Hub,
    model::ServerName,
};
use satchel_mcp::{Raw, RawObject};

use serde_json::json;

use super::{discover::unusable, fault, raw, text};

/// `list_mcp_resources`: from the catalog only. A long list is cut like a long result.
pub(crate) fn list_resources(hub: &Hub, client: &str, arguments: &RawObject) -> Box<Raw> {
    let server = arguments.text("server").filter(|server| !server.is_empty());
    if let Some(fault) = server.as_deref().and_then(|server| unusable(hub, server)) {
        return fault;
    }
    let filter = ResourceFilter { server, words: words(&arguments.text("query").unwrap_or_default()) };
    let catalog = hub.catalog();
    let all = |pick: fn(&Offer) -> &[ResourceEntry], key: &str| -> Vec<Box<Raw>> {
        let of = |(server, offer): (&ServerName, &Arc<Offer>)| {
            let entries = pick(offer).iter().filter(|entry| filter.fits(server, entry));
            entries.map(|entry| qualified(server, &entry.raw, key)).collect::<Vec<_>>()
        };
        catalog.servers().iter().flat_map(of).collect()
    };
    let mut answer = RawObject::new();
    let resources = all(|offer| &offer.resources, "uri");
    answer.put("resources", &resources);
    let templates = all(|offer| &offer.templates, "uriTemplate");
    if !templates.is_empty() {
        answer.put("resourceTemplates", &templates);
    }
    let list = answer.to_raw();
    let (cap, count) = (hub.result_cap(client), resources.len() + templates.len());
    let result = hub.calls().results.capped(client, cap, text(list.get(), false));
    match cap > 0 && list.get().len() > cap {
        true => with_advice(&result, &format!("[{count} resources. Narrow the list with server or query.]")),
        false => result,
    }
}

/// Which resources are listed.
struct ResourceFilter {
    server: Option<String>,
    words: Vec<String>,
}

impl ResourceFilter {
    /// It belongs to the server, and every word occurs in its address, names or description.
    fn fits(&self, server: &ServerName, entry: &ResourceEntry) -> bool {
        if self.server.as_deref().is_some_and(|wanted| wanted != server.as_str()) {
            return false;
        }
        if self.words.is_empty() {
            return true;
        }
        let fields = RawObject::parse(&entry.raw).unwrap_or_default();
        let texts = ["name", "title", "description"].iter().filter_map(|key| fields.text(key));
        let about = texts.chain([entry.uri.clone()]).collect::<Vec<_>>().join("\n").to_lowercase();
        self.words.iter().all(|word| about.contains(word))
    }
}

fn words(query: &str) -> Vec<String> {
    query.to_lowercase().split_whitespace().map(ToOwned::to_owned).collect()
}

fn with_advice(result: &Raw, advice: &str) -> Box<Raw> {
    let mut result = RawObject::parse(result).unwrap_or_default();
    let mut content: Vec<Box<Raw>> = result.read("content").unwrap_or_default();
    content.push(raw(&json!({ "type": "text", "text": advice })));
    result.put("content", &content);
    result.to_raw()
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
        block.put("type", "resource");
        block.set("resource", item);
        block.to_raw()
    };
    let mut answer = RawObject::new();
    answer.put("content", &contents.into_iter().map(block).collect::<Vec<_>>());
    for (key, value) in fields.iter() {
        answer.set(key, value.to_owned());
    }
    answer.to_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_narrowed_by_server_and_words() {
        let raw =
            r#"{"uri":"file:///Notes/a.md","name":"a","title":"Shopping List","mimeType":"text/plain"}"#;
        let raw = Raw::from_string(raw.into()).unwrap();
        let entry = ResourceEntry { uri: "file:///Notes/a.md".to_owned(), raw };
        let server: ServerName = "files".parse().unwrap();
        for (wanted, query, fits) in [
            (None, "", true),
            (Some("files"), " ", true),
            (Some("other"), "", false),
            (None, "shopping notes", true),
            (Some("files"), "LIST a.md", true),
            (None, "shopping elsewhere", false),
            (None, "text/plain", false),
        ] {
            let filter = ResourceFilter { server: wanted.map(ToOwned::to_owned), words: words(query) };
            assert_eq!(filter.fits(&server, &entry), fits, "{query}");
        }
    }

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
