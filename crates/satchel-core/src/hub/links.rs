//! Links and embedded resources in results. What the hub passes out it takes back: a client can read it at the address
//! where it got it, though it is in no list. Reads nothing itself.

use satchel_mcp::{Raw, RawObject};

use super::Hub;
use crate::model::{ResourcePath, ServerName};

/// Where a result goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goes {
    /// To a client of the four tools, whose addresses are `server|uri`.
    ByPath,
    /// To a client of all servers' own addresses.
    Flat,
}

/// Notes the addresses in a result, and rewrites those that would not lead back to its server. `None` if it stays.
pub(super) fn passed_out(
    hub: &Hub,
    client: &str,
    server: &ServerName,
    (goes, exact): (Goes, bool),
    result: &Raw,
) -> Option<Box<Raw>> {
    let text = result.get();
    if !text.contains("\"uri\"") {
        return None;
    }
    let mut seen = Vec::new();
    let rewritten = each_address(result, &mut |kind, own| {
        seen.push(own.to_owned());
        match (goes, kind) {
            (Goes::ByPath, Holds::Link) => by_path(server, own),
            // Its content is there; read again, its address leads back too.
            (Goes::ByPath, Holds::Content) => None,
            (Goes::Flat, Holds::Link | Holds::Content) => flat(hub, server, own),
        }
    });
    hub.calls().given.give(client, server, seen);
    rewritten.filter(|_| !exact)
}

/// Clients open pages themselves, and the content of `data:` is in the address.
fn by_path(server: &ServerName, own: &str) -> Option<String> {
    const OPENED: [&str; 3] = ["https:", "http:", "data:"];
    let opened =
        OPENED.iter().any(|scheme| own.get(..scheme.len()).is_some_and(|is| is.eq_ignore_ascii_case(scheme)));
    (!opened).then(|| ResourcePath { server: server.clone(), uri: own.to_owned() }.to_string())
}

/// An address that another server has too leads back only with its server's name.
fn flat(hub: &Hub, server: &ServerName, own: &str) -> Option<String> {
    let catalog = hub.catalog();
    let address = match catalog.flat().resource(own) {
        Some((owner, _)) if owner != *server => {
            ResourcePath { server: server.clone(), uri: own.to_owned() }.to_string()
        }
        Some(_) | None => catalog.flat().address(server, own),
    };
    (address != own).then_some(address)
}

/// The server to ask for an address that no list has, and its own address for it: the one that gave it to this client,
/// or the only one whose scheme it is.
pub(super) fn owner(hub: &Hub, client: &str, address: &str) -> Option<(ServerName, String)> {
    let given = hub.calls().given.giver(client, address);
    let server = given.or_else(|| hub.catalog().flat().of_scheme(address))?;
    Some((server, address.to_owned()))
}

/// What stands at an address in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Link,
    Content,
}

/// Offers each address in a result to `change`, which returns another one or nothing. `None` if all stay.
fn each_address(result: &Raw, change: &mut impl FnMut(Holds, &str) -> Option<String>) -> Option<Box<Raw>> {
    let mut fields = RawObject::parse(result).ok()?;
    let mut changed = false;
    // Of tools, of resources and of prompts.
    if let Some(blocks) =
        list(&fields, "content").and_then(|blocks| each(blocks, &mut |block| in_block(block, change)))
    {
        fields.put("content", &blocks);
        changed = true;
    }
    if let Some(contents) = list(&fields, "contents")
        .and_then(|all| each(all, &mut |item| in_field(item, Holds::Content, change)))
    {
        fields.put("contents", &contents);
        changed = true;
    }
    if let Some(messages) =
        list(&fields, "messages").and_then(|all| each(all, &mut |item| in_message(item, change)))
    {
        fields.put("messages", &messages);
        changed = true;
    }
    changed.then(|| fields.to_raw())
}

fn list(fields: &RawObject, key: &str) -> Option<Vec<Box<Raw>>> {
    fields.read(key)
}

/// The items with those that `change` replaces; `None` if there are none.
fn each(items: Vec<Box<Raw>>, change: &mut impl FnMut(&Raw) -> Option<Box<Raw>>) -> Option<Vec<Box<Raw>>> {
    let mut changed = false;
    let replaced = items.into_iter().map(|item| match change(&item) {
        Some(other) => {
            changed = true;
            other
        }
        None => item,
    });
    let replaced = replaced.collect();
    changed.then_some(replaced)
}

fn in_block(block: &Raw, change: &mut impl FnMut(Holds, &str) -> Option<String>) -> Option<Box<Raw>> {
    let mut fields = RawObject::parse(block).ok()?;
    match fields.text("type")?.as_str() {
        "resource_link" => in_field(block, Holds::Link, change),
        "resource" => {
            let inner = in_field(fields.get("resource")?, Holds::Content, change)?;
            fields.set("resource", inner);
            Some(fields.to_raw())
        }
        _ => None,
    }
}

fn in_message(message: &Raw, change: &mut impl FnMut(Holds, &str) -> Option<String>) -> Option<Box<Raw>> {
    let mut fields = RawObject::parse(message).ok()?;
    if let Some(blocks) = list(&fields, "content") {
        let blocks = each(blocks, &mut |block| in_block(block, change))?;
        fields.put("content", &blocks);
    } else {
        let block = in_block(fields.get("content")?, change)?;
        fields.set("content", block);
    }
    Some(fields.to_raw())
}

/// The `uri` of an object.
fn in_field(
    raw: &Raw,
    kind: Holds,
    change: &mut impl FnMut(Holds, &str) -> Option<String>,
) -> Option<Box<Raw>> {
    let mut fields = RawObject::parse(raw).ok()?;
    let address = change(kind, &fields.text("uri")?)?;
    fields.put("uri", &address);
    Some(fields.to_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_in_a_result_is_found_and_everything_else_stays() {
        let result = r#"{"content":[{"type":"text","text":"a://0","uri":"no"},{"type":"resource_link","uri":"a://1","n":1.0},{"type":"resource","resource":{"uri":"a://2","text":"\u0041"}}],"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a://3","blob":""}}},{"role":"user","content":[{"type":"resource_link","uri":"a://4"}]}],"contents":[{"uri":"a://5"}],"x":1.0}"#;
        let raw = Raw::from_string(result.to_owned()).unwrap();
        let mut seen = Vec::new();
        let kept = each_address(&raw, &mut |_, address| {
            seen.push(address.to_owned());
            None
        });
        assert!(kept.is_none());
        assert_eq!(seen, ["a://1", "a://2", "a://5", "a://3", "a://4"]);
        let changed = each_address(&raw, &mut |_, address| Some(format!("s|{address}"))).unwrap();
        let expected = (1..=5)
            .fold(result.to_owned(), |text, at| text.replace(&format!("a://{at}"), &format!("s|a://{at}")));
        assert_eq!(changed.get(), expected);
    }

    #[test]
    fn an_address_that_clients_open_themselves_stays() {
        let server: ServerName = "a:b".parse().unwrap();
        assert_eq!(by_path(&server, "note://1").as_deref(), Some("a%3Ab|note://1"));
        for own in ["https://a", "HTTP://a", "data:,x"] {
            assert_eq!(by_path(&server, own), None, "{own}");
        }
    }
}
