//! Sends notifications to clients: changed lists, changed resources, and servers' messages that belong to no call.
//! Sessions get them on their stream, stateless clients on one they request with a filter.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use satchel_core::{
    catalog::Catalog,
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
    surface::{Surface, items_of},
};

/// The lists that can change, by the name that `notifications/<name>/list_changed` has for them.
pub(crate) const LISTS: [&str; 3] = ["tools", "resources", "prompts"];

/// A client is told that lists changed at most this often; what changes meanwhile is one.
const PACE: Duration = Duration::from_millis(500);

/// What there is to tell.
pub(crate) enum Told {
    /// A list changed: one of [`LISTS`].
    List(&'static str),
    /// A server said something.
    Notification(ServerNotification),
}

/// Everything that happens on one surface.
pub(crate) struct Follower {
    hub: Hub,
    surface: Surface,
    notifications: broadcast::Receiver<ServerNotification>,
    catalog: watch::Receiver<Catalog>,
    choices: watch::Receiver<u64>,
    folders: watch::Receiver<Vec<String>>,
    seen: BTreeMap<&'static str, [u64; 2]>,
    /// What it was seen through: the meta-tools name other servers through another.
    lens: Lens,
    pending: BTreeSet<&'static str>,
    /// When the next list may be told of.
    next_list: Instant,
    /// Lists whose change was seen before their server said so.
    ahead: BTreeSet<&'static str>,
}

impl Follower {
    /// What happens as far as it is seen through this handle.
    pub(crate) fn new(hub: &Hub, surface: Surface) -> Self {
        let mut catalog = hub.watch_catalog();
        catalog.mark_unchanged();
        let choices = hub.watch_choices();
        let seen = lists(&surface, &hub.catalog());
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

    /// The next thing to tell; `None` when the hub ends.
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
                        Some(list) => {
                            let others = self.compare();
                            // Otherwise it was said already, when it was seen.
                            if others.contains(&list) || !self.ahead.remove(list) {
                                self.pending.insert(list);
                            }
                            self.pending.extend(others);
                        }
                    },
                    // Somebody else's, or we were too slow: what was missed is gone.
                    Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                },
            }
        }
    }

    /// The lists that are not as they were.
    fn compare(&mut self) -> Vec<&'static str> {
        let now = lists(&self.surface, &self.hub.catalog());
        let turned = std::mem::replace(&mut self.lens, self.hub.lens()) != self.lens;
        let names_others = |list: &str| turned && list == "tools" && self.surface.is_ours();
        let differs = |list: &&'static str| now.get(list) != self.seen.get(list) || names_others(list);
        let changed = LISTS.into_iter().filter(differs).collect();
        self.seen = now;
        changed
    }

    /// ServerNotification of a resource with the address that it has on this surface, and the server's own.
    pub(crate) fn as_shown(
        &self,
        mut notification: ServerNotification,
    ) -> (ServerNotification, Option<String>) {
        let Some(own) = updated(&notification) else { return (notification, None) };
        if self.surface == Surface::Direct {
            let shown = self.hub.catalog().flat().address(&notification.server, &own);
            if shown != own {
                let mut params = fields(&notification);
                // A string always serializes.
                let _ = params.put("uri", &shown);
                notification.params = Some(params.to_raw().get().into());
            }
        }
        (notification, Some(own))
    }

    /// Looks at another surface from now on.
    pub(crate) fn turn_to(&mut self, hub: &Hub, surface: Surface) {
        *self = Self::new(hub, surface);
    }

    /// Is the server seen here?
    pub(crate) fn shows(&self, server: &ServerName) -> bool {
        self.hub.shows(server.as_str())
    }

    pub(crate) fn surface(&self) -> &Surface {
        &self.surface
    }

    fn is_here(&self, server: &ServerName) -> bool {
        match &self.surface {
            Surface::Router | Surface::Script => false,
            Surface::Direct => self.hub.shows(server.as_str()),
            Surface::Server(own) => own == server && self.hub.shows(server.as_str()),
        }
    }
}

/// The list that the notification says has changed.
fn changed_list(notification: &ServerNotification) -> Option<&'static str> {
    let named = notification.method.strip_prefix("notifications/")?.strip_suffix("/list_changed")?;
    LISTS.into_iter().find(|list| *list == named)
}

/// What stands for each list, to see whether it changed. The lists themselves would be held by each session.
fn lists(surface: &Surface, catalog: &Catalog) -> BTreeMap<&'static str, [u64; 2]> {
    let of = |method: &str, key: &'static str| match surface {
        Surface::Router | Surface::Script => 0,
        Surface::Direct => catalog.mark(None, key, || catalog.flat().items(method)),
        Surface::Server(server) => {
            let offer = catalog.offer(server.as_str());
            let items = || offer.map(|offer| items_of(offer, method)).unwrap_or_default();
            catalog.mark(Some(server), key, items)
        }
    };
    let resources = of("resources/list", "resources");
    BTreeMap::from([
        ("tools", [of("tools/list", "tools"), 0]),
        ("resources", [resources, of("resources/templates/list", "resourceTemplates")]),
        ("prompts", [of("prompts/list", "prompts"), 0]),
    ])
}

/// `notifications/<list>/list_changed`.
pub(crate) fn list_changed(list: &str) -> Message {
    Message::notification(&format!("notifications/{list}/list_changed"), None)
}

/// The address of the resource that changed, where the notification says so.
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

/// The notification as a message, word for word.
pub(crate) fn as_said(notification: &ServerNotification) -> Message {
    let params = notification.params.as_deref().and_then(|params| Raw::from_string(params.to_owned()).ok());
    // Read by people and models as results are.
    let params = params.map(|params| clean::answer(&params).into_owned());
    Message::notification(&notification.method, params)
}

/// Passes notifications on to a session until it ends, or until nobody has read them for a while.
pub(crate) async fn pass_on(hub: Hub, session: Arc<Session>, tracker: TaskTracker, stop: CancellationToken) {
    let mut failed = false;
    let ask = || roots::ask(&hub, &session, false, &tracker, stop.clone());
    let passing =
        kept("notifications", || keep_passing_on(&hub, &session, std::mem::replace(&mut failed, true), &ask));
    // Else it would go on for as long as a hub that ends waits for calls.
    stop.run_until_cancelled(passing).await;
    session.unwatch_all();
    session.follows.store(false, std::sync::atomic::Ordering::Release);
}

/// `ask_for_roots` does so where it was not done before.
async fn keep_passing_on(hub: &Hub, session: &Session, again: bool, ask_for_roots: &(dyn Fn() + Sync)) {
    let hub = &session.hub(hub);
    if again {
        // What was missed meanwhile is not known.
        LISTS.iter().for_each(|list| session.notifications.push(list_changed(list).to_json()));
    }
    let mut follower = Follower::new(hub, session.look(hub));
    let opened_as = follower.surface.clone();
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
                    // Whoever was not told of other lists at the beginning does not ask for them.
                    let lists = if opened_as.is_ours() { &LISTS[..1] } else { &LISTS[..] };
                    lists.iter().for_each(|list| session.notifications.push(list_changed(list).to_json()));
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
                session.notifications.push(list_changed(list).to_json());
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
        // Ours to a server that speaks a stateless revision; nothing to a session.
        "notifications/subscriptions/acknowledged" => None,
        // All of a server's notifications are for a client that sees the server itself; a summary of many servers has none.
        _ => matches!(surface, Surface::Server(_)).then(|| as_said(notification)),
    }
}

/// A notification that says which stream of notifications it belongs to.
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
