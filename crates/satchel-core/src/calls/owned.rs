//! Tracks which client owns the tasks and elicitation pages that servers name by ids of their own, so that an id
//! reaches only its owner.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use parking_lot::Mutex;

use satchel_mcp::{ErrorObject, Raw, RawObject, errors, meta};

use crate::{model::ServerName, upstream::ServerNotification};

/// Ids remembered for one client at one server; the oldest are dropped first.
const KEPT: usize = 1024;

/// The kind of thing an id names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Named {
    Task,
    Elicitation,
}

/// The ids of each client, oldest first.
type ByClient = HashMap<Arc<str>, VecDeque<String>>;

/// All ids, by kind and owner.
#[derive(Debug, Default)]
pub struct Owned(Mutex<HashMap<(ServerName, Named), ByClient>>);

impl Owned {
    /// Assigns the id to this client or to nobody, replacing an earlier owner: a restarted server may reuse ids.
    fn give(&self, server: &ServerName, named: Named, id: &str, client: Option<&Arc<str>>) {
        let mut all = self.0.lock();
        let of_server = all.entry((server.clone(), named)).or_default();
        of_server.values_mut().for_each(|ids| ids.retain(|known| known != id));
        let Some(client) = client else { return };
        let ids = of_server.entry(client.clone()).or_default();
        if ids.len() == KEPT {
            ids.pop_front();
        }
        ids.push_back(id.to_owned());
    }

    /// Does it belong to this client?
    fn has(&self, client: &str, server: &ServerName, named: Named, id: &str) -> bool {
        let all = self.0.lock();
        let ids = all.get(&(server.clone(), named)).and_then(|of_server| of_server.get(client));
        ids.is_some_and(|ids| ids.iter().any(|known| known == id))
    }

    /// Forgets a server: the next one of that name is a different server.
    pub fn forget(&self, server: &ServerName) {
        let mut all = self.0.lock();
        all.retain(|(known, _), _| known != server);
    }
}

impl Owned {
    /// Did this client begin the task?
    pub fn has_task(&self, client: &str, server: &ServerName, task: &str) -> bool {
        self.has(client, server, Named::Task, task)
    }

    /// May this client receive a notification that belongs to no call? Not if it names something that belongs to
    /// another client or to the hub.
    pub fn may_hear(&self, client: &str, notification: &ServerNotification) -> bool {
        let Some(params) = notification.params.as_deref() else { return true };
        let Ok(params) = serde_json::from_str::<RawObject>(params) else { return false };
        if params.get("requestId").is_some() || params.get("progressToken").is_some() {
            return false;
        }
        let owns = |named: Named, id: &str| self.has(client, &notification.server, named, id);
        let mut tasks = params.text("taskId").into_iter().chain(meta::related_task(&params));
        let mut pages = params.text("elicitationId").into_iter();
        tasks.all(|id| owns(Named::Task, &id)) && pages.all(|id| owns(Named::Elicitation, &id))
    }

    /// Assigns the task that a call began, if any, to this client.
    pub fn begun(&self, client: Option<&Arc<str>>, server: &ServerName, result: &Raw) {
        if let Some(task) = begun_task(result) {
            self.give(server, Named::Task, &task, client);
        }
    }

    /// Assigns the pages in a question to this client.
    pub fn page(&self, client: &Arc<str>, server: &ServerName, question: Option<&Raw>) {
        let fields = question.and_then(|raw| RawObject::parse(raw).ok());
        if let Some(id) = fields.and_then(|fields| fields.text("elicitationId")) {
            self.give(server, Named::Elicitation, &id, Some(client));
        }
    }

    /// The same for pages named in an error (`2025-11-25/client/elicitation.mdx#url-elicitation-required-error`).
    pub fn pages_of(&self, client: &Arc<str>, server: &ServerName, error: &ErrorObject) {
        if error.code != errors::URL_ELICITATION_REQUIRED {
            return;
        }
        let data = error.data.as_deref().and_then(|data| RawObject::parse(data).ok()).unwrap_or_default();
        let pages: Vec<Box<Raw>> = data.read("elicitations").unwrap_or_default();
        pages.iter().for_each(|page| self.page(client, server, Some(page)));
    }
}

/// The task that a result reports as begun, in either era's form.
fn begun_task(result: &Raw) -> Option<String> {
    if !result.get().contains("taskId") {
        return None;
    }
    let fields = RawObject::parse(result).ok()?;
    let inside = fields.get("task").and_then(|task| RawObject::parse(task).ok()?.text("taskId"));
    inside.or_else(|| fields.text("taskId").filter(|_| fields.text("resultType").as_deref() == Some("task")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_last_clients_that_it_was_given_to() {
        let (owned, server) = (Owned::default(), "s".parse::<ServerName>().unwrap());
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let has = |client: &str, id: &str| owned.has(client, &server, Named::Task, id);
        owned.give(&server, Named::Task, "1", Some(&a));
        assert!(has("a", "1") && !has("b", "1") && !has("a", "2"));
        assert!(!owned.has("a", &server, Named::Elicitation, "1"));
        assert!(!owned.has("a", &"t".parse().unwrap(), Named::Task, "1"));
        owned.give(&server, Named::Task, "1", Some(&b));
        assert!(!has("a", "1") && has("b", "1"));
        owned.give(&server, Named::Task, "1", None);
        assert!(!has("b", "1"));
        (0..=KEPT).for_each(|id| owned.give(&server, Named::Task, &id.to_string(), Some(&a)));
        assert!(!has("a", "0") && has("a", "1"), "a client's own oldest go first");
        owned.forget(&server);
        assert!(!has("a", "1"));
    }

    #[test]
    fn a_begun_task_is_found_in_both_families_and_a_tools_own_words_are_none() {
        for (result, expected) in [
            (r#"{"task":{"taskId":"1","status":"working"}}"#, Some("1")),
            (r#"{"resultType":"task","taskId":"2"}"#, Some("2")),
            (r#"{"taskId":"3","status":"completed"}"#, None),
            (r#"{"content":[{"type":"text","text":"taskId"}]}"#, None),
        ] {
            let raw = Raw::from_string(result.to_owned()).unwrap();
            assert_eq!(begun_task(&raw).as_deref(), expected, "{result}");
        }
    }
}
