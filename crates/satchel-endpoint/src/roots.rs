//! A client's folders (`roots/list`), requested while a folder has its own profile, or a server runs once for each session or
//! folder. Kept with the session; an instance that serves that session alone sees them.
//!
//! Stateless clients are not asked: their revision has requests of ours only within a call, and lists come before calls.
//! They choose a profile by their address.

use std::sync::Arc;

use parking_lot::Mutex;

use percent_encoding::percent_decode_str;
use satchel_core::hub::Hub;
use satchel_mcp::{Raw, RawObject};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::session::Session;

const METHOD: &str = "roots/list";
/// Maximum number of a client's folders.
const MOST: usize = 64;
/// Maximum length of a folder's URI, in bytes.
const LONGEST: usize = 4_096;

/// The state of asking a client for its roots. At most one request is open, however often the roots change.
#[derive(Debug, Default)]
pub(crate) struct Standing(Mutex<RootsRequest>);

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum RootsRequest {
    #[default]
    Never,
    /// Asked.
    Open,
    /// Asked, and the roots changed in the meantime.
    Stale,
    Answered,
}

impl Standing {
    /// Should it be asked now? `again`: its roots have changed.
    fn begin(&self, again: bool) -> bool {
        self.turn(|asked| match (asked, again) {
            (RootsRequest::Never, _) | (RootsRequest::Answered, true) => RootsRequest::Open,
            (RootsRequest::Open, true) => RootsRequest::Stale,
            (asked, _) => asked,
        })
    }

    /// Records the answer. Should it be asked again immediately?
    fn answered(&self) -> bool {
        self.turn(
            |asked| if asked == RootsRequest::Stale { RootsRequest::Open } else { RootsRequest::Answered },
        )
    }

    /// Changes the state; returns whether a request was opened.
    fn turn(&self, turn: impl FnOnce(RootsRequest) -> RootsRequest) -> bool {
        let mut asked = self.0.lock();
        let before = *asked;
        *asked = turn(before);
        before != RootsRequest::Open && *asked == RootsRequest::Open
    }
}

/// Asks the client if its folders matter and the client supports roots; `again` if its roots have changed.
pub(crate) fn ask(
    hub: &Hub,
    session: &Arc<Session>,
    again: bool,
    tracker: &TaskTracker,
    stop: CancellationToken,
) {
    let wanted = hub.wants_folders() && session.caller().can_answer(METHOD, None).is_ok();
    if !wanted || !session.roots.begin(again) {
        return;
    }
    let (hub, session) = (session.hub(hub), session.clone());
    hub.asks_folders();
    // Ends with the session, because nobody can answer then.
    let asking = async move {
        loop {
            let (message, asked) = session.ask(METHOD, None);
            session.notifications.push(message.to_json());
            let Some(outcome) = asked.answer().await else { return };
            hub.works_in(outcome.map(|answer| folders(&answer)).unwrap_or_default());
            if !session.roots.answered() {
                return;
            }
        }
    };
    tracker.spawn(async move { stop.run_until_cancelled(asking).await });
}

/// The folders in an answer, as absolute paths.
fn folders(answer: &Raw) -> Vec<String> {
    let roots: Vec<Box<Raw>> =
        RawObject::parse(answer).ok().and_then(|answer| answer.read("roots")).unwrap_or_default();
    let uris = roots.iter().take(MOST).filter_map(|root| RawObject::parse(root).ok()?.text("uri"));
    uris.filter_map(|uri| path_of(&uri)).collect()
}

/// The path of a local `file://` URI (RFC 8089).
fn path_of(uri: &str) -> Option<String> {
    if uri.len() > LONGEST {
        return None;
    }
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = percent_decode_str(rest).decode_utf8().ok()?;
    let drive = path.strip_prefix('/').filter(|path| {
        let mut letters = path.chars();
        letters.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && letters.next() == Some(':')
    });
    path.starts_with('/').then(|| drive.unwrap_or(&path).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_paths_of_this_computer() {
        for (uri, path) in [
            ("file:///home/me/my%20web", Some("/home/me/my web")),
            ("file://localhost/srv", Some("/srv")),
            ("file:///C:/Code/web", Some("C:/Code/web")),
            ("file:///c%3A/Code", Some("c:/Code")),
            ("file://server/share", None),
            ("file:///%ff", None),
            ("https://example.com/", None),
            ("/home/me", None),
        ] {
            assert_eq!(path_of(uri).as_deref(), path, "{uri}");
        }
        assert_eq!(path_of(&format!("file:///{}", "a".repeat(LONGEST))), None);
    }

    #[test]
    fn one_question_is_open_at_a_time_and_a_change_meanwhile_is_asked_for_once() {
        let standing = Standing::default();
        assert!(standing.begin(false) && !standing.begin(false));
        assert!(!standing.begin(true) && !standing.begin(true), "it is being asked");
        assert!(standing.answered(), "and once more");
        assert!(!standing.answered());
        assert!(!standing.begin(false) && standing.begin(true));
    }

    #[test]
    fn roots_without_a_uri_are_ignored() {
        let answer = r#"{"roots":[{"uri":"file:///a","name":"x"},{"name":"y"},7,{"uri":"file:///b"}]}"#;
        let read = |text: &str| folders(&Raw::from_string(text.to_owned()).unwrap());
        assert_eq!(read(answer), ["/a", "/b"]);
        assert!(read("{}").is_empty() && read("[]").is_empty());
    }
}
