//! Decides how a registry's list is read: page after page; only a complete list replaces the known one. No I/O, no
//! clock.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    known::{Known, PageTag, Partial},
    page::{Page, Release},
};

/// Maximum total size of a reading, in bytes.
pub const BYTES: usize = 32 * 1024 * 1024;
/// Maximum number of pages of a reading.
const PAGES: usize = 1_000;
/// Number of attempts for a page of a busy registry.
pub const TRIES: u32 = 3;
/// Maximum length of an `ETag`.
const TAG: usize = 256;
/// Maximum pause that a registry can request, in seconds.
pub const PATIENCE: u64 = 10;

/// Why a list could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Unreachable, or disconnected.
    #[error("it cannot be reached: {0}")]
    Unreached(String),
    /// An HTTP error.
    #[error("it answered with HTTP {0}")]
    Status(u16),
    /// Busy for this many seconds.
    #[error("it is busy and asks to retry in {0} seconds")]
    Busy(u64),
    /// A redirect, which is not followed.
    #[error("it redirects to another address, which is not followed")]
    Moved,
    /// Not a list: an error page, a captive portal, half a response.
    #[error("its answer is not a list of servers")]
    NoList,
    /// A cursor that repeats.
    #[error("its list has no end")]
    Endless,
    /// Larger than the limit.
    #[error("its answer is larger than Satchel accepts")]
    TooLarge,
    /// Timed out.
    #[error("it did not answer in time")]
    TooSlow,
}

impl Fault {
    /// A long list continues in the next reading.
    fn is_length(&self) -> bool {
        matches!(self, Fault::TooLarge | Fault::TooSlow)
    }
}

/// One reading of a registry.
#[derive(Debug)]
pub struct Reading {
    since: Option<String>,
    releases: Vec<Release>,
    refused: BTreeMap<String, String>,
    cursor: Option<String>,
    cursors: BTreeSet<String>,
    bytes: usize,
    tag: Option<PageTag>,
}

impl Reading {
    /// Starts a reading, or continues the last one.
    pub fn of(known: &Known, now_ms: u64) -> Self {
        let since = known.since(now_ms);
        let Partial { releases, refused, cursor } = known.partial.as_deref().cloned().unwrap_or_default();
        let cursor = Some(cursor).filter(|cursor| !cursor.is_empty());
        let cursors = cursor.iter().cloned().collect();
        let mut reading = Self { since, releases, refused, cursors, cursor, bytes: 0, tag: None };
        let asked = reading.asked();
        reading.tag = known.tag.clone().filter(|tag| tag.query == asked);
        reading
    }

    fn asked(&self) -> String {
        self.query().iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("&")
    }

    /// The `ETag` of the next page, if known.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_ref().filter(|tag| tag.query == self.asked()).map(|tag| tag.tag.as_str())
    }

    /// Stores the ETag of the last page, if that is the whole list.
    pub fn tagged(&mut self, tag: Option<String>) {
        let is_whole = self.cursor.is_none();
        let tag = tag.filter(|tag| is_whole && tag.len() <= TAG);
        self.tag = tag.map(|tag| PageTag { query: self.asked(), tag });
    }

    /// The query parameters of the next page.
    pub fn query(&self) -> Vec<(&'static str, String)> {
        let mut query = vec![("limit", "100".to_owned())];
        match &self.since {
            Some(since) => query.push(("updated_since", since.clone())),
            // Deleted entries are included, so that users can see what happened to them.
            None => query.push(("include_deleted", "true".to_owned())),
        }
        query.extend(self.cursor.iter().map(|cursor| ("cursor", cursor.clone())));
        query
    }

    /// How many more bytes may be read.
    pub fn room(&self) -> usize {
        BYTES - self.bytes.min(BYTES)
    }

    /// Adds a page. Returns whether it was the last one.
    ///
    /// # Errors
    /// [`Fault`] if it is not a page, or the list cannot end.
    pub fn take(&mut self, body: &[u8]) -> Result<bool, Fault> {
        self.bytes += body.len();
        let page = Page::read(body)?;
        let is_empty = page.releases.is_empty() && page.refused.is_empty();
        self.releases.extend(page.releases);
        self.refused.extend(page.refused);
        let Some(next) = page.next else { return Ok(true) };
        if is_empty || self.cursors.len() >= PAGES || !self.cursors.insert(next.clone()) {
            return Err(Fault::Endless);
        }
        self.cursor = Some(next);
        Ok(false)
    }

    /// The list after a complete reading.
    pub fn complete(self, known: &Known, now_ms: u64) -> Known {
        Known { tag: self.tag, ..known.with(self.releases, self.refused, now_ms) }
    }

    /// The list after an incomplete one: unchanged, unless the list is just long.
    pub fn broken(self, known: &Known, fault: &Fault) -> Option<Known> {
        let cursor = self.cursor.filter(|_| fault.is_length() && !self.releases.is_empty())?;
        // No progress: the next reading starts again.
        if known.partial.as_ref().is_some_and(|partial| partial.cursor == cursor) {
            return Some(Known { partial: None, ..known.clone() });
        }
        let partial = Partial { releases: self.releases, refused: self.refused, cursor };
        Some(Known { partial: Some(Box::new(partial)), ..known.clone() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn body(names: &[&str], next: Option<&str>) -> Vec<u8> {
        let server = |name: &&str| {
            json!({ "server": { "name": name, "version": "1.0.0",
                "remotes": [{ "type": "streamable-http", "url": "https://x.example/mcp" }] } })
        };
        let servers: Vec<Value> = names.iter().map(server).collect();
        json!({ "servers": servers, "metadata": { "nextCursor": next } }).to_string().into_bytes()
    }

    #[test]
    fn pages_follow_each_other_and_the_next_time_only_changes_are_asked_for() {
        let mut reading = Reading::of(&Known::default(), 0);
        assert_eq!(reading.asked(), "limit=100&include_deleted=true");
        assert_eq!(reading.take(&body(&["a/b"], Some("c1"))), Ok(false));
        assert_eq!(reading.asked(), "limit=100&include_deleted=true&cursor=c1");
        assert_eq!(reading.take(&body(&["a/c"], None)), Ok(true));
        let known = reading.complete(&Known::default(), 1_800_000_000_000);
        assert_eq!(known.servers().count(), 2);
        let next = Reading::of(&known, 1_800_000_000_000);
        assert_eq!(next.asked(), "limit=100&updated_since=2027-01-15T07:00:00Z");
    }

    #[test]
    fn a_page_that_is_the_whole_list_is_asked_for_by_its_tag_the_next_time() {
        let tag = || Some("\"t1\"".to_owned());
        let (nothing, now_ms) = (Known::default(), 1_800_000_000_000);
        let mut reading = Reading::of(&nothing, now_ms);
        assert_eq!(reading.take(&body(&["a/b"], Some("c1"))), Ok(false));
        reading.tagged(tag());
        assert_eq!(reading.tag(), None, "the rest of the list has a tag of its own");
        assert_eq!(reading.take(&body(&["a/c"], None)), Ok(true));
        reading.tagged(tag());
        let known = reading.complete(&nothing, now_ms);
        let mut reading = Reading::of(&known, now_ms);
        assert_eq!(reading.tag(), None, "the last page of several says nothing of the first");
        assert_eq!(reading.take(&body(&["a/c"], None)), Ok(true));
        reading.tagged(tag());
        let known = reading.complete(&known, now_ms);
        let same = Reading::of(&known, now_ms);
        assert_eq!(same.tag(), Some("\"t1\""));
        // Not modified: nothing was received, and everything stays.
        let known = same.complete(&known, now_ms);
        assert_eq!((known.servers().count(), Reading::of(&known, now_ms).tag()), (2, Some("\"t1\"")));
        assert_eq!(Reading::of(&known, now_ms - 7_200_000).tag(), None, "something else is asked for");
        let mut reading = Reading::of(&known, now_ms);
        reading.tagged(Some("x".repeat(300)));
        assert_eq!(reading.tag(), None);
    }

    #[test]
    fn an_endless_or_invalid_list_leaves_the_known_one_in_place() {
        let known = Known::default().with(vec![], BTreeMap::new(), 7);
        let mut reading = Reading::of(&known, 7);
        assert_eq!(reading.take(&body(&["a/b"], Some("c1"))), Ok(false));
        let fault = reading.take(&body(&["a/c"], Some("c1"))).unwrap_err();
        assert_eq!((&fault, reading.broken(&known, &fault)), (&Fault::Endless, None));
        let mut endless = Reading::of(&known, 7);
        let pages = (0..).take_while(|page| endless.take(&body(&["a/b"], Some(&format!("c{page}")))).is_ok());
        assert!(pages.count() <= PAGES, "also where every page names another place");
        assert_eq!(Reading::of(&known, 7).take(&body(&[], Some("c1"))), Err(Fault::Endless));
        assert_eq!(Reading::of(&known, 7).take(b"<html>"), Err(Fault::NoList));
    }

    #[test]
    fn a_list_that_is_only_long_goes_on_the_next_time() {
        let nothing = Known::default();
        let mut reading = Reading::of(&nothing, 7);
        assert_eq!(reading.take(&body(&["a/b"], Some("c1"))), Ok(false));
        let known = reading.broken(&nothing, &Fault::TooSlow).unwrap();
        assert_eq!((known.servers().count(), known.complete_ms), (0, None), "half of a list is none");
        let mut reading = Reading::of(&known, 7);
        assert_eq!(reading.asked(), "limit=100&include_deleted=true&cursor=c1");
        assert_eq!(reading.take(&body(&["a/c"], None)), Ok(true));
        assert_eq!(reading.complete(&known, 7).servers().count(), 2);
        let stuck = Reading::of(&known, 7).broken(&known, &Fault::TooSlow).unwrap();
        assert_eq!(stuck.partial, None, "a cursor that leads nowhere is given up");
        let mut reading = Reading::of(&nothing, 7);
        reading.take(&body(&["a/b"], Some("c1"))).unwrap();
        assert_eq!(reading.broken(&nothing, &Fault::Status(500)), None);
    }
}
