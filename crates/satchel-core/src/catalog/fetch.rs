//! Reads a server's lists: all pages, bounded in number and time, one faulty item never losing the others.

use std::{collections::HashSet, time::Duration};

use satchel_mcp::{Raw, RawObject, errors, limits};

use super::{Offer, ResourceEntry, validate};
use crate::upstream::{CallError, Dirty, Hello, Link};

/// How long one page may take.
const PAGE: Duration = Duration::from_secs(45);

/// A list could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The request failed.
    #[error("{0}")]
    Call(#[from] CallError),
    /// The answer is no list.
    #[error("its answer to {0} has no list of {1}")]
    Shape(&'static str, &'static str),
}

struct List {
    items: Vec<Box<Raw>>,
    skipped: Vec<String>,
}

/// Reads the lists named by `lists` (bits of [`Dirty`]) and keeps the others from `known`.
///
/// # Errors
/// [`ListError`] where a list the server offers cannot be read; nothing is replaced then.
pub async fn offer(
    link: &Link,
    hello: &Hello,
    setup: &str,
    lists: u8,
    known: Option<&Offer>,
) -> Result<Offer, ListError> {
    let known = known.filter(|known| known.setup == setup);
    let wanted = |list: &str| known.is_none() || lists & Dirty::bit(list) != 0;
    let mut offer = Offer {
        setup: setup.to_owned(),
        title: title(hello),
        instructions: hello.instructions.clone(),
        ..Offer::default()
    };
    if wanted("tools") {
        if hello.offers("tools") {
            let list = all_pages(link, "tools/list", "tools").await?;
            let (tools, skipped) = validate::tools(list.items);
            offer.tools = tools;
            offer.skipped = [list.skipped, skipped].concat();
        }
    } else if let Some(known) = known {
        offer.tools = known.tools.iter().filter_map(copy_tool).collect();
        offer.skipped.clone_from(&known.skipped);
    }
    if wanted("resources") {
        if hello.offers("resources") {
            offer.resources = resources(all_pages(link, "resources/list", "resources").await?, "uri");
            // Templates came later than resources; many servers do not know the method.
            offer.templates = match all_pages(link, "resources/templates/list", "resourceTemplates").await {
                Ok(list) => resources(list, "uriTemplate"),
                Err(ListError::Call(CallError::Answered(error)))
                    if error.code == errors::METHOD_NOT_FOUND =>
                {
                    vec![]
                }
                Err(error) => return Err(error),
            };
        }
    } else if let Some(known) = known {
        let copy = |entry: &ResourceEntry| ResourceEntry { uri: entry.uri.clone(), raw: entry.raw.clone() };
        offer.resources = known.resources.iter().map(copy).collect();
        offer.templates = known.templates.iter().map(copy).collect();
    }
    if wanted("prompts") {
        if hello.offers("prompts") {
            offer.prompts = all_pages(link, "prompts/list", "prompts").await?.items;
        }
    } else if let Some(known) = known {
        offer.prompts.clone_from(&known.prompts);
    }
    Ok(offer)
}

fn copy_tool(tool: &super::ToolEntry) -> Option<super::ToolEntry> {
    let fields = RawObject::parse(&tool.raw).ok()?;
    Some(super::ToolEntry::new(tool.name.clone(), &fields, tool.raw.clone()))
}

fn title(hello: &Hello) -> Option<String> {
    let info = RawObject::parse(&hello.server_info).ok()?;
    info.text("title").or_else(|| info.text("name")).filter(|title| !title.trim().is_empty())
}

fn resources(list: List, key: &str) -> Vec<ResourceEntry> {
    let entry = |raw: Box<Raw>| {
        let uri = RawObject::parse(&raw).ok()?.text(key).filter(|uri| !uri.is_empty())?;
        Some(ResourceEntry { uri, raw })
    };
    list.items.into_iter().filter_map(entry).collect()
}

/// Follows `nextCursor` to its end, the limit, or the first cursor that comes again. An empty cursor is a cursor
/// (`2025-11-25/server/utilities/pagination.mdx`).
async fn all_pages(link: &Link, method: &'static str, key: &'static str) -> Result<List, ListError> {
    let mut list = List { items: vec![], skipped: vec![] };
    let (mut cursor, mut seen): (Option<String>, HashSet<String>) = (None, HashSet::new());
    let mut bytes = 0;
    for page in 0.. {
        if page == limits::LIST_PAGES {
            list.skipped
                .push(format!("{key} after page {page}: at most {} pages are read", limits::LIST_PAGES));
            break;
        }
        let params = cursor.as_ref().and_then(|cursor| {
            serde_json::value::to_raw_value(&serde_json::json!({ "cursor": cursor })).ok()
        });
        let result = link.request(method, params, PAGE).await?;
        let fields = RawObject::parse(&result).map_err(|_| ListError::Shape(method, key))?;
        let items: Vec<Box<Raw>> = fields.read(key).ok_or(ListError::Shape(method, key))?;
        bytes += result.get().len();
        list.items.extend(items);
        if list.items.len() > limits::TOOLS_PER_SERVER || bytes > limits::DEFINITIONS_BYTES {
            list.skipped.push(format!("{key} after page {}: the list is larger than is kept", page + 1));
            break;
        }
        match fields.text("nextCursor") {
            None => break,
            Some(next) if !seen.insert(next.clone()) => {
                list.skipped.push(format!(
                    "{key} after page {}: the server names the same next page again",
                    page + 1
                ));
                break;
            }
            Some(next) => cursor = Some(next),
        }
    }
    Ok(list)
}
