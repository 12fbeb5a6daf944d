//! Pages of MCP Apps (SEP-1865): held until the frame of their window fetches one, and locked in by the policy they are
//! served with. Each is served once, under a scheme of its own, from an origin that is nobody's; no script of ours has it,
//! and it reaches neither the windows nor what this program offers them. [`crate::page_window`] shows them.

use std::{
    collections::{VecDeque, hash_map::RandomState},
    hash::BuildHasher,
};

use parking_lot::{Mutex, MutexGuard};

use satchel_core::model::{
    Code,
    control::Refusal,
    trying::{AppPage, PageReach},
};
use serde::Serialize;
use tauri::{
    Manager, Runtime, UriSchemeContext, Url,
    http::{Request, Response, StatusCode, header},
};

use crate::{
    links::{self, Shown},
    page_window,
};

/// The scheme that they are served under.
pub(crate) const SCHEME: &str = "mcp-page";
/// So many are held; older ones are let go.
const HELD: usize = 4;

/// What windows are told of a page: everything but the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageFrame {
    /// Names it.
    pub(crate) id: String,
    /// The server that wrote it.
    pub(crate) server: String,
    /// Where the frame fetches it, once.
    pub(crate) address: String,
    /// The origins that it may ask and send to.
    pub(crate) connect: Vec<String>,
    /// Those from which its scripts, styles, fonts and pictures come.
    pub(crate) load: Vec<String>,
    /// What it declares and may not reach.
    pub(crate) refused: Vec<String>,
    /// Does it want a border? `null` leaves it to the window.
    pub(crate) border: Option<bool>,
}

/// The pages that are shown or about to be, the newest first.
#[derive(Default)]
pub(crate) struct AppPages(Mutex<VecDeque<HeldPage>>);

struct HeldPage {
    frame: PageFrame,
    page: AppPage,
    served: bool,
}

impl AppPages {
    /// Holds a page of a server for a frame.
    pub(crate) fn hold(&self, server: String, page: AppPage) -> PageFrame {
        let id = new_id();
        let PageReach { connect, load } = page.reach.clone();
        let (refused, border) = (page.refused.clone(), page.border);
        let address = if cfg!(windows) {
            format!("http://{SCHEME}.localhost/{id}")
        } else {
            format!("{SCHEME}://localhost/{id}")
        };
        let frame = PageFrame { id, server, address, connect, load, refused, border };
        let mut held = self.held();
        held.truncate(HELD - 1);
        held.push_front(HeldPage { frame: frame.clone(), page, served: false });
        frame
    }

    /// What is known of the page with this name.
    pub(crate) fn frame(&self, id: &str) -> Option<PageFrame> {
        self.held().iter().find(|held| held.frame.id == id).map(|held| held.frame.clone())
    }

    /// Opens a page of the web for one of them, where the page itself or a result names its origin.
    ///
    /// # Errors
    /// Where neither does, it is none of the web, or the browser cannot be started.
    pub(crate) fn open(&self, shown: &Shown, id: &str, address: &str) -> Result<(), Refusal> {
        let origin = links::origin_of(address);
        let named = origin.is_some_and(|origin| {
            let held = self.held();
            let html = held.iter().find(|held| held.frame.id == id).map(|held| held.page.html.as_str());
            html.is_some_and(|html| links::has_origin(html, origin) || shown.names(origin))
        });
        if !named {
            return Err(Refusal::new(
                Code::NotOpened,
                "neither the page nor a result names this address",
                "",
            ));
        }
        links::open(address)
    }

    /// The page of this name, where it was not served before, with its policy.
    fn take(&self, id: &str) -> Option<(String, String)> {
        let mut held = self.held();
        let held = held.iter_mut().find(|held| held.frame.id == id && !held.served)?;
        held.served = true;
        Some((held.page.html.clone(), policy(&held.page.reach)))
    }

    fn held(&self) -> MutexGuard<'_, VecDeque<HeldPage>> {
        self.0.lock()
    }
}

/// Nobody guesses it: each half is keyed by the system's own randomness.
fn new_id() -> String {
    let half = || RandomState::new().hash_one(SCHEME);
    format!("{:016x}{:016x}", half(), half())
}

/// What it may do: run what it brings along, reach what it may, and nothing else. Where an engine does not know one of
/// these words, it passes it over.
fn policy(reach: &PageReach) -> String {
    let all = |origins: &[String]| origins.join(" ");
    let load = all(&reach.load);
    let connect = if reach.connect.is_empty() { "'none'".to_owned() } else { all(&reach.connect) };
    [
        "default-src 'none'".to_owned(),
        // It is a stranger's program in any case: text that it runs may do no more than it.
        format!("script-src 'unsafe-inline' 'unsafe-eval' blob: {load}"),
        format!("style-src 'unsafe-inline' {load}"),
        format!("img-src data: blob: {load}"),
        format!("font-src data: {load}"),
        format!("media-src data: blob: {load}"),
        format!("connect-src {connect}"),
        "worker-src blob:".to_owned(),
        "frame-src 'none'".to_owned(),
        "object-src 'none'".to_owned(),
        "base-uri 'none'".to_owned(),
        "form-action 'none'".to_owned(),
        "webrtc 'block'".to_owned(),
        "sandbox allow-scripts allow-forms".to_owned(),
    ]
    .join("; ")
}

/// Is this where such a page is?
pub(crate) fn is_one(url: &Url) -> bool {
    url.scheme() == SCHEME
}

/// Answers the frame.
pub(crate) fn serve<R: Runtime>(
    context: &UriSchemeContext<'_, R>,
    request: &Request<Vec<u8>>,
) -> Response<Vec<u8>> {
    let id = request.uri().path().trim_start_matches('/');
    let of_its_window = page_window::page_of(context.webview_label()) == Some(id);
    let page = of_its_window.then(|| context.app_handle().state::<AppPages>().take(id)).flatten();
    respond(page)
}

fn respond(page: Option<(String, String)>) -> Response<Vec<u8>> {
    let status = if page.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let (html, policy) = page.unwrap_or_else(|| (String::new(), self::policy(&PageReach::default())));
    let response = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "text/html; charset=utf-8")
        .header(header::CONTENT_SECURITY_POLICY, policy)
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::REFERRER_POLICY, "no-referrer")
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::X_DNS_PREFETCH_CONTROL, "off")
        .body(html.into_bytes());
    // What stands in a policy was checked sign by sign; without one, nothing is served.
    response.unwrap_or_else(|_| Response::new(Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(html: &str) -> AppPage {
        let reach = PageReach {
            connect: vec!["https://api.example.com".into()],
            load: vec!["https://cdn.example.com".into()],
        };
        AppPage { html: html.into(), reach, ..AppPage::default() }
    }

    #[test]
    fn a_page_is_served_once_and_with_its_policy() {
        let pages = AppPages::default();
        let frame = pages.hold("panel".into(), page("<p>"));
        assert!(frame.address.ends_with(&format!("/{}", frame.id)) && frame.id.len() == 32, "{frame:?}");
        let response = respond(pages.take(&frame.id));
        assert_eq!((response.status(), response.body().as_slice()), (StatusCode::OK, &b"<p>"[..]));
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        for part in [
            "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob: https://cdn.example.com;",
            "connect-src https://api.example.com;",
            "sandbox allow-scripts allow-forms",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("allow-same-origin") && !policy.contains("allow-top"), "{policy}");
        assert_eq!(respond(pages.take(&frame.id)).status(), StatusCode::NOT_FOUND);
        assert_eq!(respond(pages.take("")).body().len(), 0);
        assert!(self::policy(&PageReach::default()).contains("connect-src 'none';"));
    }

    #[test]
    fn only_the_last_few_are_held_and_only_origins_they_name_are_opened() {
        let pages = AppPages::default();
        let first = pages.hold("panel".into(), page("<a href='https://example.com/a'>"));
        let refused =
            |id: &str, address: &str| pages.open(&Shown::default(), id, address).unwrap_err().message;
        for address in ["https://example.co/", "https://other.example/", "javascript:alert(1)", ""] {
            assert!(refused(&first.id, address).contains("neither the page"), "{address}");
        }
        assert!(refused("another", "https://example.com/a").contains("neither the page"));
        for _ in 0..HELD {
            pages.hold("panel".into(), page(""));
        }
        assert!(pages.take(&first.id).is_none(), "it was long ago");
    }
}
