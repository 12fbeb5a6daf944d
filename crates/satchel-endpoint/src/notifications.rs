//! Sends notifications to clients: changed lists, changed resources, and servers' messages that belong to no call.
//! Sessions get them on their stream, stateless clients on one they request with a filter.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use satchel_core::{
    catalog::Catalog,
    clients::seen::{Fact, ListChanges},
    config::profiles::Lens,
    hub::Hub,
    model::ServerName,
    tasks::{kept, may_fail_here},
    trust::clean,
    upstream::ServerNotification,
};
use satchel_mcp::{Message, Raw, RawObject};
use serde_json::{json, value::to_raw_value};
use tokio::{
    sync::{broadcast, watch},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    roots,
    session::Session,
    surface::{self, Surface, items_of},
};

/// Lists that can change, as named in `notifications/<name>/list_changed`.
pub(crate) const LISTS: [&str; 3] = ["tools", "resources", "prompts"];

/// Minimum interval between change notifications to a client; changes in between are merged.
const PACE: Duration = Duration::from_millis(500);

/// An item to report.
pub(crate) enum Told {
    /// A list changed: one of [`LISTS`].
    List(&'static str),
    /// A server's notification.
    Notification(ServerNotification),
}

/// Follows everything that happens on one surface.
pub(crate) struct Follower {
    hub: Hub,
    surface: Surface,
    notifications: broadcast::Receiver<ServerNotification>,
    catalog: watch::Receiver<Catalog>,
    choices: watch::Receiver<u64>,
    folders: watch::Receiver<Vec<String>>,
    seen: BTreeMap<&'static str, [u64; 3]>,
    /// The profiles it was computed with: with others, the meta-tools list other servers.
    lens: Lens,
    pending: BTreeSet<&'static str>,
    /// When the next list change may be reported.
    next_list: Instant,
    /// Lists whose change was noticed before the server's notification.
    ahead: BTreeSet<&'static str>,
}

impl Follower {
    /// Follows what is visible through this handle.
    pub(crate) fn new(hub: &Hub, surface: Surface) -> Self {
        let mut catalog = hub.watch_catalog();
        catalog.mark_unchanged();
        let choices = hub.watch_choices();
        let seen = lists(&surface, hub);
        Self {
            hub: hub.clone(),
            surface,
            notifications: hub.notifications(),
            catalog,
            choices,
            folders: hub.watch_folders(),
            seen,
            lens: hub.lens(),
            pending: BTreeSet::new(),
            next_list: Instant::now(),
            ahead: BTreeSet::new(),
        }
    }

    /// The next item; `None` when the hub stops.
    pub(crate) async fn next(&mut self) -> Option<Told> {
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(self.next_list), if !self.pending.is_empty() => {
                    self.next_list = Instant::now() + PACE;
                    return self.pending.pop_first().map(Told::List);
                }
                changed = self.catalog.changed() => {
                    changed.ok()?;
                    let changed = self.compare();
                    self.ahead.extend(&changed);
                    self.pending.extend(changed);
                }
                chosen = async { tokio::select! {
                    chosen = self.choices.changed() => chosen,
                    elsewhere = self.folders.changed() => elsewhere,
                } } => {
                    chosen.ok()?;
                    let changed = self.compare();
                    self.pending.extend(changed);
                }
                notification = self.notifications.recv() => match notification {
                    Ok(notification) if self.is_here(&notification.server) && self.hub.may_hear(&notification) => match changed_list(&notification) {
                        None => return Some(Told::Notification(notification)),
                        // Satchel's own tools stay the same; those that are pinned come with the catalog.
                        Some("tools") if self.surface.is_ours() => {}
                        Some(list) => {
                            let others = self.compare();
                            // Otherwise it was reported when the change was noticed.
                            if others.contains(&list) || !self.ahead.remove(list) {
                                self.pending.insert(list);
                            }
                            self.pending.extend(others);
                        }
                    },
                    // For others, or this follower was too slow: what it missed is gone.
                    Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                },
            }
        }
    }

    /// The lists that have changed.
    fn compare(&mut self) -> Vec<&'static str> {
        let now = lists(&self.surface, &self.hub);
        let turned = std::mem::replace(&mut self.lens, self.hub.lens()) != self.lens;
        let names_others = |list: &str| turned && list == "tools" && self.surface.is_ours();
        let differs = |list: &&'static str| now.get(list) != self.seen.get(list) || names_others(list);
        let changed = LISTS.into_iter().filter(differs).collect();
        self.seen = now;
        changed
    }

    /// A resource notification with the resource's address on this surface, and its own URI.
    pub(crate) fn as_shown(
        &self,
        mut notification: ServerNotification,
    ) -> (ServerNotification, Option<String>) {
        let Some(own) = updated(&notification) else { return (notification, None) };
        if !matches!(self.surface, Surface::Server(_)) {
            let shown = self.hub.catalog().flat().address(&notification.server, &own);
            if shown != own {
                let mut params = fields(&notification);
                // Strings always serialize.
                params.put("uri", &shown);
                notification.params = Some(params.to_raw().get().into());
            }
        }
        (notification, Some(own))
    }

    /// Switches to another surface.
    pub(crate) fn turn_to(&mut self, hub: &Hub, surface: Surface) {
        *self = Self::new(hub, surface);
    }

    /// Is the server visible here?
    pub(crate) fn shows(&self, server: &ServerName) -> bool {
        self.hub.shows(server.as_str())
    }

    pub(crate) fn surface(&self) -> &Surface {
        &self.surface
    }

    fn is_here(&self, server: &ServerName) -> bool {
        match &self.surface {
            Surface::Router | Surface::Script | Surface::Direct => self.hub.shows(server.as_str()),
            Surface::Server(own) => own == server && self.hub.shows(server.as_str()),
        }
    }
}

/// The list that the notification reports as changed.
fn changed_list(notification: &ServerNotification) -> Option<&'static str> {
    let named = notification.method.strip_prefix("notifications/")?.strip_suffix("/list_changed")?;
    LISTS.into_iter().find(|list| *list == named)
}

/// A mark for each list, to detect changes without keeping the lists in every session.
fn lists(surface: &Surface, hub: &Hub) -> BTreeMap<&'static str, [u64; 3]> {
    let catalog = hub.catalog();
    let of = |method: &str, key: &'static str| match surface {
        Surface::Router | Surface::Script if key == "tools" => pinned(hub),
        Surface::Router | Surface::Script | Surface::Direct => {
            catalog.mark(None, key, || catalog.flat().items(method))
        }
        Surface::Server(server) => {
            let offer = catalog.offer(server.as_str());
            let items = || offer.map(|offer| items_of(offer, method)).unwrap_or_default();
            catalog.mark(Some(server), key, items)
        }
    };
    let templates = of("resources/templates/list", "resourceTemplates");
    BTreeMap::from([
        ("tools", [of("tools/list", "tools"), 0, 0]),
        // A change of skills has no notification of its own.
        ("resources", [of("resources/list", "resources"), templates, of("skills/list", "skills")]),
        ("prompts", [of("prompts/list", "prompts"), 0, 0]),
    ])
}

/// A mark for the pinned tools: the rest of their list stays the same.
fn pinned(hub: &Hub) -> u64 {
    let mut hasher = DefaultHasher::new();
    surface::pinned_tools(hub).iter().for_each(|tool| tool.get().hash(&mut hasher));
    hasher.finish()
}

/// `notifications/<list>/list_changed`.
pub(crate) fn list_changed(list: &str) -> Message {
    Message::notification(&format!("notifications/{list}/list_changed"), None)
}

/// Tells a session that a list has changed, unless its client would hang.
pub(crate) fn tell_changed(session: &Session, list: &str) {
    if !session.caller().facts().has(&Fact::ListChanges(ListChanges::Deadlock)) {
        session.notifications.push(list_changed(list).to_json());
    }
}

/// The URI of the changed resource, if the notification contains one.
pub(crate) fn updated(notification: &ServerNotification) -> Option<String> {
    if &*notification.method != "notifications/resources/updated" {
        return None;
    }
    fields(notification).text("uri")
}

/// The parameters of the notification.
pub(crate) fn fields(notification: &ServerNotification) -> RawObject {
    notification.params.as_deref().and_then(|params| serde_json::from_str(params).ok()).unwrap_or_default()
}

/// The notification unchanged.
pub(crate) fn as_said(notification: &ServerNotification) -> Message {
    let params = notification.params.as_deref().and_then(|params| Raw::from_string(params.to_owned()).ok());
    // People and models read it like a result.
    let params = params.map(|params| clean::answer(&params).into_owned());
    Message::notification(&notification.method, params)
}

/// Forwards notifications to a session until it ends, or its stream was abandoned.
pub(crate) async fn pass_on(hub: Hub, session: Arc<Session>, tracker: TaskTracker, stop: CancellationToken) {
    let mut failed = false;
    let ask = || roots::ask(&hub, &session, false, &tracker, stop.clone());
    let passing =
        kept("notifications", || keep_passing_on(&hub, &session, std::mem::replace(&mut failed, true), &ask));
    // Otherwise it would continue while a stopping hub waits for calls.
    stop.run_until_cancelled(passing).await;
    session.unwatch_all();
    session.follows.store(false, std::sync::atomic::Ordering::Release);
}

/// `ask_for_roots` does so if it was not done before.
async fn keep_passing_on(hub: &Hub, session: &Session, again: bool, ask_for_roots: &(dyn Fn() + Sync)) {
    let hub = &session.hub(hub);
    // Before the client is told: whatever changes after it has read a list must be noticed.
    let mut follower = Follower::new(hub, session.look(hub));
    if again {
        // What was missed is unknown.
        LISTS.iter().for_each(|list| tell_changed(session, list));
    }
    let mut choices = hub.watch_choices();
    let mut abandoned = pin!(session.notifications.abandoned());
    loop {
        let told = tokio::select! {
            told = follower.next() => told,
            changed = choices.changed() => match changed {
                Ok(()) if session.look(hub) == follower.surface => {
                    ask_for_roots();
                    continue;
                }
                Ok(()) => {
                    follower.turn_to(hub, session.surface());
                    LISTS.iter().for_each(|list| tell_changed(session, list));
                    continue;
                }
                Err(_) => None,
            },
            () = session.ended.cancelled() => None,
            () = &mut abandoned => None,
        };
        match told {
            None => break,
            Some(Told::List(list)) => {
                session.unwatch_hidden(hub);
                tell_changed(session, list);
            }
            Some(Told::Notification(notification)) => {
                if let Some(message) =
                    for_session(session, &follower.surface, &follower.as_shown(notification))
                {
                    session.notifications.push(message.to_json());
                }
            }
        }
        may_fail_here("notifications");
    }
}

fn for_session(
    session: &Session,
    surface: &Surface,
    (notification, own): &(ServerNotification, Option<String>),
) -> Option<Message> {
    if let Some(uri) = own {
        return session.watches(&notification.server, uri).then(|| as_said(notification));
    }
    match &*notification.method {
        "notifications/message" => {
            let message = as_said(notification);
            let Message::Notification { params, .. } = &message else { return None };
            session.caller().wants_log(params.as_deref()).then_some(message)
        }
        // The hub's own to a stateless server; sessions do not need it.
        "notifications/subscriptions/acknowledged" => None,
        // A single server's surface gets all of its notifications; a summary of many servers gets none.
        _ => matches!(surface, Surface::Server(_)).then(|| as_said(notification)),
    }
}

/// Adds the id of the notification stream.
pub(crate) fn tagged(message: Message, subscription: &satchel_mcp::Id) -> Message {
    let Message::Notification { method, params } = message else { return message };
    let mut params = params.and_then(|params| RawObject::parse(&params).ok()).unwrap_or_default();
    let mut meta = satchel_mcp::meta::of(&params);
    if let Ok(id) = to_raw_value(&json!(subscription)) {
        meta.set(satchel_mcp::meta::SUBSCRIPTION, id);
    }
    params.set("_meta", meta.to_raw());
    Message::Notification { method, params: Some(params.to_raw()) }
}
