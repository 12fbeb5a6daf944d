//! Reads a server's lists page by page, bounded in number and time. A malformed item is skipped alone.

use std::{collections::HashSet, time::Duration};

use satchel_mcp::{Raw, RawObject, errors, limits};

use super::{Offer, ResourceEntry, Said, repair, validate};
use crate::{
    model::{Code, cause::FailureCause},
    upstream::{CallError, Hello, Link, answered_status},
};

/// A list could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The request failed.
    #[error("{0}")]
    Call(#[from] CallError),
    /// The response is not a list.
    #[error("its answer to {0} has no list of {1}")]
    Shape(&'static str, &'static str),
}

impl ListError {
    /// The corresponding code.
    pub fn code(&self) -> Code {
        let status = match self {
            ListError::Call(CallError::SignIn(need)) => return need.code,
            ListError::Call(error) => answered_status(error),
            ListError::Shape(..) => None,
        };
        match status {
            Some(401) => Code::Http401,
            Some(403) => Code::Http403,
            _ => Code::ListFailed,
        }
    }

    /// Why, in parts, where it has some.
    pub fn cause(&self) -> Option<Box<FailureCause>> {
        match self {
            ListError::Call(error) => error.cause(),
            ListError::Shape(method, _) => {
                Some(Box::new(FailureCause::Unusable { method: (*method).to_owned() }))
            }
        }
    }
}

#[derive(Default)]
struct List {
    items: Vec<Box<Raw>>,
    skipped: Vec<String>,
    /// The fields beside the items on the first page.
    frame: Option<Box<Raw>>,
}

impl List {
    /// Stores the fields beside the items, and returns the items.
    fn unframed(self, method: &str, offer: &mut Offer) -> Self {
        match &self.frame {
            Some(frame) => offer.frames.insert(method.to_owned(), frame.clone()),
            None => offer.frames.remove(method),
        };
        self
    }
}

/// The lists of a server, in the order of their importance.
pub const LISTS: [&str; 3] = ["tools", "resources", "prompts"];

/// An offer of a server whose lists have not been read.
pub fn unread(hello: &Hello, setup: &str) -> Offer {
    let (setup, title, instructions) = (setup.to_owned(), title(hello), hello.instructions.clone());
    let said = Said {
        revision: hello.era.revision().to_owned(),
        server_info: hello.server_info.clone(),
        capabilities: hello.capabilities.to_raw(),
    };
    Offer { setup, title, instructions, hello: Some(said), ..Offer::default() }
}

/// Reads one of [`LISTS`] into `offer`; `wait` is the timeout of one page, and `hosted` means that the server
/// is reached over HTTP. A list that the server does not support is empty.
///
/// # Errors
/// [`ListError`] if the list cannot be read; `offer` is unchanged then.
pub async fn read(
    link: &Link,
    hello: &Hello,
    list: &str,
    (wait, hosted): (Duration, bool),
    offer: &mut Offer,
) -> Result<(), ListError> {
    let (offered, log, link) = (hello.offers(list), link.log(), (link, wait));
    let tell = |lines: Vec<String>| lines.iter().for_each(|line| log.hub(line));
    match list {
        "tools" => {
            let list = if offered { all_pages(link, "tools/list", "tools").await? } else { List::default() };
            let mut list = list.unframed("tools/list", offer);
            tell(repair::tools(&mut list.items, Some(hello.era)));
            let (mut tools, mut skipped) = validate::tools(list.items);
            if hosted && hello.era.is_stateless() {
                tools.retain(|tool| match tool.header_fault() {
                    Some(fault) => {
                        skipped.push(format!("{}: {fault}", tool.name));
                        false
                    }
                    None => true,
                });
            }
            offer.tools = tools;
            offer.skipped = [list.skipped, skipped].concat();
        }
        "resources" if offered => {
            let list = all_pages_if_known(link, "resources/list", "resources").await?;
            // Templates were introduced after resources; many servers do not know the method.
            let templates = all_pages_if_known(link, "resources/templates/list", "resourceTemplates").await?;
            offer.resources = resources(list.unframed("resources/list", offer), "uri");
            offer.templates = resources(templates.unframed("resources/templates/list", offer), "uriTemplate");
            tell(repair::resources(&mut offer.resources));
            tell(repair::resources(&mut offer.templates));
        }
        "resources" => {
            offer.resources.clear();
            offer.templates.clear();
        }
        _ if offered => {
            let list = all_pages_if_known(link, "prompts/list", "prompts").await?;
            offer.prompts = list.unframed("prompts/list", offer).items;
            tell(repair::prompts(&mut offer.prompts));
        }
        _ => offer.prompts.clear(),
    }
    offer.lists.insert(list.to_owned());
    Ok(())
}

/// Some servers announce a list without supporting the method: then it is empty.
async fn all_pages_if_known(
    link: (&Link, Duration),
    method: &'static str,
    key: &'static str,
) -> Result<List, ListError> {
    match all_pages(link, method, key).await {
        Err(ListError::Call(CallError::Answered(error))) if error.code == errors::METHOD_NOT_FOUND => {
            Ok(List::default())
        }
        read => read,
    }
}

/// A response without its items, whose position is kept; `None` if nothing else is in it.
fn frame(fields: &RawObject, key: &str) -> Option<Box<Raw>> {
    let mut frame = fields.clone();
    frame.remove("nextCursor");
    if frame.iter().all(|(name, _)| name == key) {
        return None;
    }
    frame.set(key, Raw::from_string("[]".to_owned()).ok()?);
    Some(frame.to_raw())
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

/// Follows `nextCursor` until the end, the limit, or a repeated cursor. An empty string is a valid cursor
/// (`2025-11-25/server/utilities/pagination.mdx`).
async fn all_pages(
    (link, wait): (&Link, Duration),
    method: &'static str,
    key: &'static str,
) -> Result<List, ListError> {
    let mut list = List::default();
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
        let result = link.request(method, params, wait).await?;
        let fields = RawObject::parse(&result).map_err(|_| ListError::Shape(method, key))?;
        let items: Vec<Box<Raw>> = fields.read(key).ok_or(ListError::Shape(method, key))?;
        bytes += result.get().len();
        if page == 0 {
            list.frame = frame(&fields, key);
        }
        list.items.extend(items);
        if list.items.len() > limits::TOOLS_PER_SERVER || bytes > limits::DEFINITIONS_BYTES {
            list.skipped.push(format!("{key} after page {}: the list is too large", page + 1));
            break;
        }
        match fields.text("nextCursor") {
            None => break,
            Some(next) if !seen.insert(next.clone()) => {
                list.skipped.push(format!("{key} after page {}: the server repeats a cursor", page + 1));
                break;
            }
            Some(next) => cursor = Some(next),
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use satchel_mcp::Message;

    use super::*;
    use crate::upstream::{link::OnChange, log::ServerLog};

    #[derive(Debug)]
    struct Nobody;
    impl OnChange for Nobody {
        fn list_changed(&self, _list: &str) {}
    }

    /// Reads the list of a server with one tool per page; `next` is the cursor after the page of that number.
    async fn read_pages(next: impl Fn(usize) -> Option<String>) -> (usize, Vec<String>) {
        let (link, mut outbox) = Link::new(Box::new(Nobody), ServerLog::nowhere());
        let answering = async {
            let mut page = 0;
            while let Some(asked) = outbox.recv().await {
                let mut answer = serde_json::json!({ "tools": [{ "name": format!("t{page}") }] });
                if let Some(next) = next(page) {
                    answer["nextCursor"] = next.into();
                }
                let answer = serde_json::value::to_raw_value(&answer).unwrap();
                link.incoming(Message::result(satchel_mcp::Id::from(asked.id.unwrap()), answer));
                page += 1;
            }
        };
        let list = tokio::select! {
            list = all_pages((&link, Duration::from_secs(45)), "tools/list", "tools") => list.unwrap(),
            () = answering => unreachable!("the link lives"),
        };
        (list.items.len(), list.skipped)
    }

    /// The limit of 500 pages, or a repeated cursor.
    #[tokio::test(start_paused = true)]
    async fn pages_are_read_up_to_a_limit_or_the_first_that_comes_again() {
        let of = |pages: usize| move |page: usize| (page + 1 < pages).then(|| page.to_string());
        assert_eq!(read_pages(of(limits::LIST_PAGES)).await, (limits::LIST_PAGES, vec![]));
        let (read, skipped) = read_pages(of(limits::LIST_PAGES + 1)).await;
        assert_eq!((read, skipped.len()), (limits::LIST_PAGES, 1));
        assert!(skipped[0].contains("at most 500 pages"), "{}", skipped[0]);
        let (read, skipped) = read_pages(|page| Some((page % 3).to_string())).await;
        assert_eq!(read, 4);
        assert!(skipped[0].contains("repeats a cursor"), "{}", skipped[0]);
        assert_eq!(
            read_pages(|page| (page == 0).then(String::new)).await,
            (2, vec![]),
            "an empty cursor is one"
        );
    }
}
