//! The folders that a client says it works in (`roots/list`), asked for while a folder has a profile of its own. They are
//! kept with the session and reach no server.
//!
//! Stateless clients are not asked: their revision has requests of ours only within a call, and lists come before calls.
//! They choose a profile by their address.

use std::sync::{Arc, atomic::Ordering};

use percent_encoding::percent_decode_str;
use satchel_core::hub::Hub;
use satchel_mcp::{Raw, RawObject};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::session::Session;

const METHOD: &str = "roots/list";
/// Folders of one client that are looked at.
const MOST: usize = 64;
/// The longest address of a folder, in bytes.
const LONGEST: usize = 4_096;

/// Asks the client, where anybody wants to know and it can say; `again` where its answer has changed.
pub(crate) fn ask(
    hub: &Hub,
    session: &Arc<Session>,
    again: bool,
    tracker: &TaskTracker,
    stop: CancellationToken,
) {
    let wanted = hub.binds_folders() && session.caller().can_answer(METHOD, None).is_ok();
    if !wanted || session.asks_roots.swap(true, Ordering::AcqRel) && !again {
        return;
    }
    let (message, asked) = session.ask(METHOD, None);
    session.news.push(message.to_json());
    let hub = session.hub(hub);
    // It ends with the session: then nobody will answer any more.
    tracker.spawn(async move {
        if let Some(Some(Ok(answer))) = stop.run_until_cancelled(asked.answer()).await {
            hub.works_in(folders(&answer));
        }
    });
}

/// The folders in an answer, as absolute paths.
fn folders(answer: &Raw) -> Vec<String> {
    let roots: Vec<Box<Raw>> =
        RawObject::parse(answer).ok().and_then(|answer| answer.read("roots")).unwrap_or_default();
    let uris = roots.iter().take(MOST).filter_map(|root| RawObject::parse(root).ok()?.text("uri"));
    uris.filter_map(|uri| path_of(&uri)).collect()
}

/// The path of a `file://` address on this computer (RFC 8089).
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
    fn what_is_no_folder_in_an_answer_is_passed_over() {
        let answer = r#"{"roots":[{"uri":"file:///a","name":"x"},{"name":"y"},7,{"uri":"file:///b"}]}"#;
        let read = |text: &str| folders(&Raw::from_string(text.to_owned()).unwrap());
        assert_eq!(read(answer), ["/a", "/b"]);
        assert!(read("{}").is_empty() && read("[]").is_empty());
    }
}
