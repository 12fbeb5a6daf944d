//! Caches serialized lists per catalog, surface and revision, so that a list request is one write. The cache is dropped
//! with its catalog. Callers decide what a list contains.

use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;

use satchel_mcp::{Raw, era::Era, object};

use super::Catalog;
use crate::{model::ServerName, stats::definitions::Definitions};

/// Number of cached lists; the least recently used is dropped.
const KEPT: usize = 32;
/// Number of cached marks.
const MARKS: usize = 4096;

/// Identifies a list and its form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The server of a single-server list; `None` for the list of all under flat names.
    pub server: Option<ServerName>,
    /// The key of its items.
    pub key: &'static str,
    /// Whose form it has.
    pub era: Era,
}

/// A list as clients receive it: the complete result on one line.
#[derive(Debug)]
pub struct List {
    json: Arc<str>,
    definitions: OnceLock<Option<Arc<Definitions>>>,
}

impl List {
    /// Creates a list from this result.
    pub fn new(result: impl Into<Box<str>>) -> Self {
        let result: Box<str> = result.into();
        // Outside strings a line break is just white space, and inside it is always escaped.
        let breaks = result.contains(['\n', '\r']);
        let json = if breaks { result.replace(['\n', '\r'], " ").into() } else { result.into() };
        Self { json, definitions: OnceLock::new() }
    }

    /// The result.
    pub fn json(&self) -> &Arc<str> {
        &self.json
    }

    /// The tool definitions to record; `None` for any other list.
    pub fn definitions(&self) -> Option<Arc<Definitions>> {
        self.definitions.get_or_init(|| Some(Arc::new(self.tools()?))).clone()
    }

    fn tools(&self) -> Option<Definitions> {
        let fields = object::fields(&self.json).ok()?;
        let (_, tools) = fields.into_iter().find(|(key, _)| key == "tools")?;
        let begin = tools.get().as_ptr() as usize - self.json.as_ptr() as usize;
        Some(Definitions::within(self.json.clone(), begin..begin + tools.get().len()))
    }
}

/// A list, or a cell that will hold it when it has been written.
type ListCell = Arc<OnceLock<Arc<List>>>;
/// The key of a mark: server or all, list, content.
type Mark = (Option<ServerName>, &'static str, u64);

#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Most recently used first.
    made: Mutex<VecDeque<(Asked, ListCell)>>,
    marks: Mutex<Vec<Mark>>,
}

impl Lists {
    fn place(&self, asked: &Asked) -> ListCell {
        let mut made = self.made.lock();
        let known = made.iter().position(|(known, _)| known == asked).and_then(|at| made.remove(at));
        let (asked, place) = known.unwrap_or_else(|| (asked.clone(), Arc::default()));
        made.push_front((asked, place.clone()));
        made.truncate(KEPT);
        place
    }
}

impl Catalog {
    /// A list of this catalog. `make` writes the result on first use.
    pub fn list(&self, asked: &Asked, make: impl FnOnce() -> Box<str>) -> Arc<List> {
        // Concurrent requests wait for the one who writes it.
        self.0.lists.place(asked).get_or_init(|| Arc::new(List::new(make()))).clone()
    }

    /// A mark that changes when the items of a list change. Valid in this run of the program.
    pub fn mark<'a>(
        &'a self,
        server: Option<&ServerName>,
        key: &'static str,
        items: impl FnOnce() -> Vec<&'a Raw>,
    ) -> u64 {
        let known = |marks: &Vec<Mark>| {
            let known = marks.iter().find(|(of, list, _)| of.as_ref() == server && *list == key);
            known.map(|(_, _, mark)| *mark)
        };
        if let Some(mark) = known(&self.0.lists.marks.lock()) {
            return mark;
        }
        let mut hasher = DefaultHasher::new();
        items().iter().for_each(|item| item.get().hash(&mut hasher));
        let mark = hasher.finish();
        let mut marks = self.0.lists.marks.lock();
        if marks.len() < MARKS {
            marks.push((server.cloned(), key, mark));
        }
        mark
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(server: Option<&str>, era: Era) -> Asked {
        Asked { server: server.map(|name| name.parse().unwrap()), key: "tools", era }
    }

    #[test]
    fn a_list_is_written_once_and_anew_only_for_another_catalog() {
        let catalog = Catalog::default();
        let write = |text: &str| -> Box<str> { text.into() };
        let first = catalog.list(&asked(None, Era::SESSION), || write("{\"tools\":\n[1]}"));
        assert_eq!(&**first.json(), "{\"tools\": [1]}");
        let again = catalog.clone().list(&asked(None, Era::SESSION), || unreachable!("it is known"));
        assert!(Arc::ptr_eq(&first, &again), "the same bytes");
        for other in [asked(None, Era::STATELESS), asked(Some("s"), Era::SESSION)] {
            let other = catalog.list(&other, || write("{}"));
            assert_eq!((&**other.json(), other.definitions()), ("{}", None));
        }
        let next = catalog.followed_by(Default::default());
        assert_eq!(&**next.list(&asked(None, Era::SESSION), || write("{\"a\":0}")).json(), "{\"a\":0}");
    }

    #[test]
    fn no_more_lists_are_kept_than_a_few() {
        let catalog = Catalog::default();
        let of = |at: usize| asked(Some(&format!("s{at}")), Era::SESSION);
        for at in 0..=KEPT {
            catalog.list(&of(at), || "{}".into());
            catalog.list(&of(0), || unreachable!("it was asked for a moment ago"));
        }
        let mut made = 0;
        for at in 0..=KEPT {
            catalog.list(&of(at), || {
                made += 1;
                "{}".into()
            });
        }
        assert!(made > 0 && catalog.0.lists.made.lock().len() == KEPT);
    }

    #[test]
    fn a_list_that_is_reported_ten_times_is_kept_once() {
        let list = List::new(r#"{"a":1,"tools":[{"name":"x"}],"z":[]}"#);
        let told: Vec<_> = (0..10).filter_map(|_| list.definitions()).collect();
        assert_eq!((told.len(), told[0].text()), (10, r#"[{"name":"x"}]"#));
        assert!(told.iter().all(|definitions| Arc::ptr_eq(definitions, &told[0])));
        assert_eq!(Arc::strong_count(list.json()), 2);
    }

    #[test]
    fn a_mark_is_of_the_items_and_read_once() {
        let (one, two) = (Catalog::default(), Catalog::default());
        let item = Raw::from_string("{\"a\":1}".to_owned()).unwrap();
        let mark = one.mark(None, "tools", || vec![&item]);
        assert_eq!(one.mark(None, "tools", || unreachable!("it is known")), mark);
        assert_eq!(two.mark(None, "tools", || vec![&item]), mark);
        assert_ne!(Catalog::default().mark(None, "tools", || vec![&item, &item]), mark);
    }
}
