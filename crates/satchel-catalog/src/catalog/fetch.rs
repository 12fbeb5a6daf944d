//! Reads a server's lists page by page, bounded in number and time. A malformed item is skipped alone.

use std::{collections::HashSet, time::Duration};

use satchel_mcp::{Raw, RawObject, errors, limits, meta};
use tokio::time::Instant;

use super::{
    Offer, ResourceEntry, Said, Skills, repair,
    skills::{self, SKILL},
    validate,
};
use crate::{
    model::{Code, cause::FailureCause},
    trust::clean::visible,
    upstream::{CallError, Hello, Link, answered_status, declared_apart, in_stateless_words},
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
/// [`ListError`] if the list cannot be read; `offer` is unchanged then, except that it says whether the question ended the
/// server.
pub async fn read(
    link: &Link,
    hello: &Hello,
    list: &str,
    (wait, hosted): (Duration, bool),
    offer: &mut Offer,
) -> Result<(), ListError> {
    let declared = hello.offers(list);
    if !declared && offer.fragile {
        offer.lists.insert(list.to_owned());
        return Ok(());
    }
    let began = Instant::now();
    let read = read_list(link, hello, list, (wait, hosted), offer).await;
    // With resources, it is asked for skills.
    let was_tried = !declared || list == "resources";
    if !was_tried || hosted || offer.fragile {
        return read;
    }
    let what = if has_exited(link).await {
        "its program ended"
    } else if began.elapsed() >= UNDECLARED && is_stuck(link, hello).await {
        link.end(format!("it has said nothing since it was asked for {list}, which it does not declare"));
        "it fell silent"
    } else {
        return read;
    };
    link.log().remark(&format!(
        "{what} when it was asked for {list}; from now on it is asked for what it declares alone"
    ));
    offer.fragile = true;
    read
}

/// Does it no longer answer anything? In the stateless revisions there is nothing to ask that costs nothing.
async fn is_stuck(link: &Link, hello: &Hello) -> bool {
    !hello.era.is_stateless()
        && !link.is_ending()
        && matches!(link.request("ping", None, UNDECLARED).await, Err(CallError::TimedOut(..)))
}

/// Did its program end by itself?
async fn has_exited(link: &Link) -> bool {
    if !link.is_ending() {
        return false;
    }
    let ended = tokio::time::timeout(UNDECLARED, link.wait_ended()).await;
    ended.is_ok_and(|end| matches!(end.cause.as_deref(), Some(FailureCause::Exited { .. })))
}

async fn read_list(
    link: &Link,
    hello: &Hello,
    list: &str,
    (wait, hosted): (Duration, bool),
    offer: &mut Offer,
) -> Result<(), ListError> {
    let declared = hello.offers(list);
    let only = !LISTS.iter().any(|other| *other != list && hello.offers(other));
    let (log, link) = (link.log(), ListAsking { link, wait, declared, only });
    let tell = |lines: Vec<String>| lines.iter().for_each(|line| log.remark(line));
    match list {
        "tools" => {
            let mut list = link.list("tools/list", "tools").await?.unframed("tools/list", offer);
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
            let of_others =
                |reason: &String| reason.starts_with(validate::PROMPT) || reason.starts_with(SKILL);
            offer.skipped.retain(of_others);
            offer.skipped.extend(list.skipped.into_iter().chain(skipped));
        }
        "resources" => {
            let began = Instant::now();
            let list = link.list("resources/list", "resources").await?;
            let is_silent = !declared && began.elapsed() >= UNDECLARED;
            // Templates were introduced after resources; many servers do not know the method.
            let templates = match link.declared || !list.items.is_empty() {
                true => link.list("resources/templates/list", "resourceTemplates").await?,
                false => List::default(),
            };
            match is_silent {
                // It may be stuck in that question.
                true => forget_skills(offer),
                false => read_skills(link, hello, hosted, offer).await,
            }
            offer.resources = resources(list.unframed("resources/list", offer), "uri");
            offer.templates = resources(templates.unframed("resources/templates/list", offer), "uriTemplate");
            tell(repair::resources(&mut offer.resources));
            tell(repair::resources(&mut offer.templates));
        }
        _ => {
            let mut items = link.list("prompts/list", "prompts").await?.unframed("prompts/list", offer).items;
            tell(repair::prompts(&mut items));
            let (prompts, skipped) = validate::prompts(items);
            offer.prompts = prompts;
            offer.skipped.retain(|reason| !reason.starts_with(validate::PROMPT));
            offer.skipped.extend(skipped);
        }
    }
    offer.lists.insert(list.to_owned());
    Ok(())
}

/// Timeout for all pages of a server's skills.
const SKILLS: Duration = Duration::from_secs(20);

/// Reads a server's skills, which are read with its resources: nothing else says when they change. Those known stay if
/// they cannot be read.
async fn read_skills(asking: ListAsking<'_>, hello: &Hello, hosted: bool, offer: &mut Offer) {
    let link = asking.link;
    let apart = match skills::declared(&hello.capabilities) {
        Some(_) => false,
        // Over HTTP, a server of both families was asked in the newer one.
        None if hosted || offer.fragile || hello.era.is_stateless() => return forget_skills(offer),
        None => match declared_apart(link, UNDECLARED).await.as_ref().and_then(skills::declared) {
            Some(declared) => {
                declare_skills(offer, &declared);
                true
            }
            None => return forget_skills(offer),
        },
    };
    let pages = all_pages((link, asking.wait.min(SKILLS), apart), "skills/list", "skills");
    let list = match tokio::time::timeout(SKILLS, pages).await {
        Ok(Ok(list)) => list,
        Ok(Err(error)) => return link.log().remark(&format!("its skills could not be read: {error}")),
        Err(_) => {
            return link.log().remark(&format!("its skills could not be read within {} s", SKILLS.as_secs()));
        }
    };
    let skills = Skills { apart, ..Skills::read(&list.items, true) }.with_unlisted_of(&offer.skills);
    offer.skipped.retain(|reason| !reason.starts_with(SKILL));
    offer.skipped.extend(list.skipped.into_iter().map(|reason| format!("{SKILL}list: {reason}")));
    let reasons =
        skills.faulty.iter().map(|faulty| format!("{SKILL}\"{}\": {}", visible(&faulty.uri), faulty.why));
    offer.skipped.extend(reasons);
    offer.skills = skills;
}

fn forget_skills(offer: &mut Offer) {
    offer.skills = Skills::default();
    offer.skipped.retain(|reason| !reason.starts_with(SKILL));
}

/// Declares the extension in a session too: the hub translates.
fn declare_skills(offer: &mut Offer, declared: &RawObject) {
    let Some(said) = &mut offer.hello else { return };
    let mut capabilities = RawObject::parse(&said.capabilities).unwrap_or_default();
    let extensions = capabilities.get("extensions").and_then(|raw| RawObject::parse(raw).ok());
    let mut extensions = extensions.unwrap_or_default();
    extensions.set(meta::SKILLS, declared.to_raw());
    capabilities.set("extensions", extensions.to_raw());
    said.capabilities = capabilities.to_raw();
}

/// How a server is asked for its lists.
#[derive(Clone, Copy)]
struct ListAsking<'a> {
    link: &'a Link,
    /// The timeout of one page.
    wait: Duration,
    /// Did it declare the list? Many servers that have one do not.
    declared: bool,
    /// Did it declare no other?
    only: bool,
}

/// How long a server may take to answer for a list that it did not declare, and again to show that it is still there.
pub const UNDECLARED: Duration = Duration::from_secs(5);

impl ListAsking<'_> {
    /// A whole list. It is empty if the server does not know the method; also if it did not declare the list and does
    /// not answer with one.
    async fn list(self, method: &'static str, key: &'static str) -> Result<List, ListError> {
        let wait = if self.declared { self.wait } else { self.wait.min(UNDECLARED) };
        let unknown = |error: &ListError| match error {
            ListError::Call(CallError::Answered(error)) => error.code == errors::METHOD_NOT_FOUND,
            ListError::Call(_) | ListError::Shape(..) => false,
        };
        match all_pages((self.link, wait, false), method, key).await {
            Ok(list) => {
                if !self.declared && !list.items.is_empty() {
                    self.link.log().remark(&format!("it does not declare {key}, and has some"));
                }
                Ok(list)
            }
            // The tools of a server that declares them, and nothing else, are worth an error.
            Err(error) if unknown(&error) && !(self.declared && self.only && key == "tools") => {
                if self.declared {
                    self.link.log().remark(&format!("it declares {key}, and does not know {method}"));
                }
                Ok(List::default())
            }
            Err(error) if !self.declared && !self.link.is_ending() && !is_sign_in(&error) => {
                Ok(List::default())
            }
            Err(error) => Err(error),
        }
    }
}

fn is_sign_in(error: &ListError) -> bool {
    match error {
        ListError::Call(CallError::SignIn(_)) => true,
        // Its session may have expired; then it is asked again in a new one.
        ListError::Call(error) => error.cause().is_some_and(|cause| *cause == FailureCause::SessionExpired),
        ListError::Shape(..) => false,
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
/// (`2025-11-25/server/utilities/pagination.mdx`); for some servers it, or the first page once more, means the end.
/// `apart`: in stateless words on the connection of a session.
async fn all_pages(
    (link, wait, apart): (&Link, Duration, bool),
    method: &'static str,
    key: &'static str,
) -> Result<List, ListError> {
    let mut list = List::default();
    let (mut cursor, mut seen): (Option<Box<Raw>>, HashSet<String>) = (None, HashSet::new());
    let (mut bytes, mut first) = (0, 0..0);
    for page in 0.. {
        if page == limits::LIST_PAGES {
            list.skipped
                .push(format!("{key} after page {page}: at most {} pages are read", limits::LIST_PAGES));
            break;
        }
        let params = cursor.as_deref().map(|cursor| {
            let mut params = RawObject::new();
            params.set("cursor", cursor.to_owned());
            params.to_raw()
        });
        let params = if apart { in_stateless_words(params.as_deref()) } else { params };
        let result = match link.request(method, params, wait).await {
            // What it gave before is good, though it refuses its own cursor.
            Err(CallError::Answered(error)) if page > 0 => {
                let visible = visible(&error.message);
                list.skipped
                    .push(format!("{key} after page {page}: the server refused its cursor: {visible}"));
                break;
            }
            answer => answer?,
        };
        let fields = RawObject::parse(&result).map_err(|_| ListError::Shape(method, key))?;
        let items = items(&fields, key).ok_or(ListError::Shape(method, key))?;
        bytes += result.get().len();
        if page == 0 {
            list.frame = frame(&fields, key);
            first = 0..items.len();
        } else if is_same(&items, &list.items[first.clone()]) {
            // Of an empty cursor, that is what it means by it.
            match cursor.as_deref().map(Raw::get) {
                Some("\"\"") => link.log().remark(&format!("an empty cursor of {method} is its end")),
                _ => list.skipped.push(format!("{key} after page {page}: the server repeats its first page")),
            }
            break;
        }
        list.items.extend(items);
        if list.items.len() > limits::TOOLS_PER_SERVER || bytes > limits::DEFINITIONS_BYTES {
            list.skipped.push(format!("{key} after page {}: the list is too large", page + 1));
            break;
        }
        match next_cursor(&fields) {
            None => break,
            Some(next) if !seen.insert(next.get().to_owned()) => {
                list.skipped.push(format!("{key} after page {}: the server repeats a cursor", page + 1));
                break;
            }
            Some(next) => cursor = Some(next),
        }
    }
    Ok(list)
}

/// The items of a page. A list whose keys had gaps is an object in PHP, and one without items null in Go; but a server
/// that had tools has lost them then, and says nothing that can be believed.
fn items(fields: &RawObject, key: &str) -> Option<Vec<Box<Raw>>> {
    let raw = fields.get(key)?;
    match raw.get().as_bytes().first()? {
        b'n' if key != "tools" => Some(Vec::new()),
        b'{' => {
            let items = RawObject::parse(raw).ok()?;
            let numbered = items.iter().all(|(place, _)| place.bytes().all(|byte| byte.is_ascii_digit()));
            numbered.then(|| items.iter().map(|(_, item)| item.to_owned()).collect())
        }
        _ => serde_json::from_str(raw.get()).ok(),
    }
}

/// The cursor as the server wrote it: some write a number.
fn next_cursor(fields: &RawObject) -> Option<Box<Raw>> {
    let cursor = fields.get("nextCursor")?;
    let is_one = matches!(cursor.get().as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'));
    is_one.then(|| cursor.to_owned())
}

/// Are these the same items, of which there are some?
fn is_same(items: &[Box<Raw>], others: &[Box<Raw>]) -> bool {
    let pairs = || items.iter().zip(others);
    !items.is_empty() && items.len() == others.len() && pairs().all(|(item, other)| item.get() == other.get())
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
            list = all_pages((&link, Duration::from_secs(45), false), "tools/list", "tools") => list.unwrap(),
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

    /// What a server's lists are, if it gives these answers; `null` stands for -32601.
    async fn offered(capabilities: &str, answer: impl Fn(&str, bool) -> serde_json::Value) -> (Offer, usize) {
        let (link, mut outbox) = Link::new(Box::new(Nobody), ServerLog::nowhere());
        let raw = |json: &str| Raw::from_string(json.to_owned()).unwrap();
        let hello = Hello {
            era: satchel_mcp::era::Era::SESSION,
            server_info: raw("{}"),
            capabilities: RawObject::parse(&raw(capabilities)).unwrap(),
            instructions: None,
        };
        let mut offer = unread(&hello, "x");
        let mut asked = 0;
        let answering = async {
            while let Some(request) = outbox.recv().await {
                asked += 1;
                let (id, method) = (request.id.unwrap(), request.method.unwrap());
                let answer = answer(&method, request.json.contains("cursor"));
                let outcome = match answer.is_null() {
                    true => Err(satchel_mcp::ErrorObject::new(errors::METHOD_NOT_FOUND, "no")),
                    false => Ok(serde_json::value::to_raw_value(&answer).unwrap()),
                };
                link.incoming(Message::Response { id: Some(id.into()), outcome });
            }
        };
        let reading = async {
            for list in LISTS {
                let timing = (Duration::from_secs(45), false);
                read(&link, &hello, list, timing, &mut offer).await.unwrap();
            }
        };
        tokio::select! {
            () = reading => {}
            () = answering => unreachable!("the link lives"),
        }
        (offer, asked)
    }

    #[tokio::test(start_paused = true)]
    async fn every_list_is_asked_for_whatever_is_declared() {
        use serde_json::json;
        let all = |method: &str, _| match method {
            "tools/list" => json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] }),
            "resources/list" => json!({ "resources": [{ "uri": "x://y", "name": "y" }] }),
            "resources/templates/list" => json!({ "resourceTemplates": [] }),
            _ => json!({ "prompts": [{ "name": "p" }] }),
        };
        for capabilities in ["{}", r#"{"tools":null,"resources":false}"#, r#"{"tools":{}}"#] {
            let (offer, _) = offered(capabilities, all).await;
            let counts = (offer.tools.len(), offer.resources.len(), offer.prompts.len());
            assert_eq!((counts, offer.lists.len()), ((1, 1, 1), 3), "{capabilities}");
        }
        let (offer, asked) = offered("{}", |_, _| json!(null)).await;
        // And once what it has in the stateless revisions.
        assert_eq!((offer.tools.len(), offer.lists.len(), asked), (0, 3, 4));
        let (offer, _) = offered("{}", |_, _| json!({ "own": 1 })).await;
        assert_eq!(offer.lists.len(), 3, "an answer without a list is none");
    }

    #[tokio::test(start_paused = true)]
    async fn skills_are_read_where_they_are_declared_and_stay_while_they_cannot_be_read() {
        use serde_json::json;
        let row = json!({ "uri": "skill://a/SKILL.md", "digest": format!("sha256:{}", "0f".repeat(32)), "size": 1 });
        let entry = json!({ "uri": "skill://a/SKILL.md", "frontmatter": { "name": "a", "description": "d" },
            "resources": [row] });
        let extension = json!({ "extensions": { "io.modelcontextprotocol/skills": {} } });
        let all = |method: &str, _| match method {
            "tools/list" => json!({ "tools": [] }),
            "server/discover" => json!({ "supportedVersions": ["2026-07-28"], "capabilities": extension }),
            "skills/list" => json!({ "skills": [entry, { "uri": "skill://b/SKILL.md" }] }),
            _ => json!(null),
        };
        for (capabilities, apart) in [(extension.to_string().as_str(), false), ("{}", true)] {
            let (offer, _) = offered(capabilities, all).await;
            assert_eq!((offer.skills.entries.len(), offer.skills.apart), (1, apart), "{capabilities}");
            assert!(offer.has_skills() && offer.skipped[0].starts_with("skill \"skill://b/SKILL.md\": "));
        }
        let plain = |method: &str, again| match method {
            "server/discover" => json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} }),
            method => all(method, again),
        };
        let (offer, _) = offered("{}", plain).await;
        assert!(offer.skills.entries.is_empty() && !offer.has_skills(), "it does not have the extension");
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_page_again_is_the_end_without_doubles() {
        use serde_json::json;
        for (cursor, told) in [(json!(""), 0), (json!("more"), 1), (json!(2), 1)] {
            let page = |method: &str, _| match method {
                "tools/list" => json!({
                    "tools": [{ "name": "t", "inputSchema": { "type": "object" } }], "nextCursor": cursor,
                }),
                _ => json!(null),
            };
            let (offer, _) = offered(r#"{"tools":{}}"#, page).await;
            assert_eq!((offer.tools.len(), offer.skipped.len()), (1, told), "{cursor}");
        }
        let numbered = |method: &str, again: bool| match method {
            "tools/list" if again => json!({ "tools": { "1": { "name": "b" } } }),
            "tools/list" => json!({ "tools": [{ "name": "a" }], "nextCursor": 2 }),
            "prompts/list" => json!({ "prompts": null }),
            _ => json!(null),
        };
        let (offer, _) = offered("{}", numbered).await;
        assert_eq!(offer.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }
}
