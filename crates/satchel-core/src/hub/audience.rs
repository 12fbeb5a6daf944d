//! Computes the catalog that one client sees: everything except what the user hid from it and what rules disable for
//! it and what its profile does not have. A hidden tool does not exist for the client; a disabled one is refused with the rule that disables it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;

use super::{
    Hub, instances, ruled,
    scope::{self, path},
};
use crate::{
    catalog::{Catalog, Offer},
    config::Config,
    model::ServerName,
    recorder,
    stats::event::{Offers, Visit},
    upstream::ServerNotification,
};

/// Cached catalogs by client and by the profiles that apply to it; under no name, the catalog of clients from whom
/// nothing is hidden.
pub(super) type Audiences = Mutex<BTreeMap<Option<(Arc<str>, Vec<String>)>, Arc<Sight>>>;

/// What a client sees, with the catalog it is derived from. Derived values are computed once, by the first who needs them
/// and without a lock that other clients need.
#[derive(Debug)]
pub(super) struct Sight {
    of: Catalog,
    by: Arc<Config>,
    hidden: BTreeSet<String>,
    /// The client's catalog before this one; what did not change is taken from it.
    before: Mutex<Option<Catalog>>,
    catalog: OnceLock<Catalog>,
    offers: OnceLock<Offers>,
    of_one: Mutex<BTreeMap<String, Offers>>,
}

impl Sight {
    fn new(of: Catalog, by: Arc<Config>, hidden: BTreeSet<String>, before: Option<Catalog>) -> Self {
        Self {
            of,
            by,
            hidden,
            before: Mutex::new(before),
            catalog: OnceLock::new(),
            offers: OnceLock::new(),
            of_one: Mutex::default(),
        }
    }

    /// The newest catalog that was computed for this client.
    fn latest(&self) -> Option<Catalog> {
        self.catalog.get().cloned().or_else(|| self.before.lock().clone())
    }

    /// One server's part of the offers.
    fn offers_of_one(&self, server: &str, all: &Offers) -> Offers {
        let Some(offered) = all.iter().find(|offered| offered.server == server) else {
            return Offers::default();
        };
        let mut of_one = self.of_one.lock();
        of_one.entry(server.to_owned()).or_insert_with(|| Arc::new(vec![offered.clone()])).clone()
    }
}

/// Is the server visible through this handle?
pub(super) fn shows(hub: &Hub, server: &str) -> bool {
    scope::knows(hub, server)
        && ruled::server_off(hub, server).is_none()
        && hub.lens().keeps_out(server).is_none()
}

/// The names of the enabled servers that are visible through this handle, including unusable ones.
pub(super) fn enabled_servers(hub: &Hub) -> Vec<String> {
    let config = hub.config();
    let enabled = config.servers().iter().filter(|(_, server)| server.enabled);
    let faulty = config.faults().keys().map(ToString::to_string);
    let all: BTreeSet<String> = enabled.map(|(name, _)| name.to_string()).chain(faulty).collect();
    all.into_iter().filter(|name| shows(hub, name)).collect()
}

/// May this notification of a server be delivered through this handle?
pub(super) fn may_hear(hub: &Hub, notification: &ServerNotification) -> bool {
    let is_own = |number| instances::is_own(hub, &notification.server, number);
    notification.instance.is_none_or(is_own)
        && hub.calls().owned.may_hear(hub.context.client().unwrap_or_default(), notification)
}

/// What the enabled servers offer, as far as it is visible through this handle.
pub(super) fn catalog(hub: &Hub) -> Catalog {
    sight(hub).1
}

/// The tool lists that a client would have received directly. Through a single-server endpoint, that server's list.
pub(super) fn offers_to(hub: &Hub, visit: &Visit) -> Offers {
    let (sight, catalog) = sight(hub);
    let all = sight.offers.get_or_init(|| {
        let enabled = sight.by.servers().iter().filter(|(_, server)| server.enabled);
        let names = enabled.map(|(name, _)| name.to_string()).filter(|name| shows(hub, name));
        recorder::offers(&catalog, names)
    });
    if visit.only.is_empty() { all.clone() } else { sight.offers_of_one(&visit.only, all) }
}

fn sight(hub: &Hub) -> (Arc<Sight>, Catalog) {
    let (whole, config, hidden) = (hub.inner.servers.catalog(), hub.config(), scope::hidden(hub));
    let lens = scope::lens_of(hub, &config);
    let sees_all = hidden.is_none() && !lens.narrows() && !ruled::may_be_off(hub, &config);
    // No client has an empty name.
    let viewer = hub.context.ruled_name();
    let through = || (viewer, lens.names().map(ToOwned::to_owned).collect());
    let (viewer, hidden) = ((!sees_all).then(through), hidden.unwrap_or_default());
    let sight = {
        let mut audiences = hub.inner.clients.audiences.lock();
        let known = audiences.get(&viewer);
        let is_this = |known: &&Arc<Sight>| {
            known.of.is_same(&whole) && Arc::ptr_eq(&known.by, &config) && known.hidden == hidden
        };
        match known.filter(is_this) {
            Some(known) => known.clone(),
            None => {
                let before = known.and_then(|known| known.latest());
                let sight = Arc::new(Sight::new(whole.clone(), config.clone(), hidden, before));
                audiences.insert(viewer, sight.clone());
                sight
            }
        }
    };
    let catalog = sight.catalog.get_or_init(|| {
        let before = sight.before.lock().take();
        if sees_all {
            return whole;
        }
        let mut gone = ruled::off_in(hub, &whole, &config, &lens);
        gone.extend(sight.hidden.iter().cloned());
        before.unwrap_or_default().followed_by(without(whole.servers(), &gone))
    });
    let catalog = catalog.clone();
    (sight, catalog)
}

/// Removes what is hidden: servers by their names in paths, and tools as `server:tool`.
fn without(
    servers: &BTreeMap<ServerName, Arc<Offer>>,
    hidden: &BTreeSet<String>,
) -> BTreeMap<ServerName, Arc<Offer>> {
    let shown = servers.iter().filter(|(server, _)| !hidden.contains(&*server.in_path()));
    shown
        .map(|(server, offer)| {
            let hides = |tool: &str| hidden.contains(&path(server.as_str(), tool));
            if !offer.tools.iter().any(|tool| hides(&tool.name)) {
                return (server.clone(), offer.clone());
            }
            let mut rest = Offer::clone(offer);
            rest.tools.retain(|tool| !hides(&tool.name));
            // The count included the hidden tools.
            rest.tokens.take();
            (server.clone(), Arc::new(rest))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use satchel_mcp::Raw;

    use super::*;
    use crate::catalog::validate;

    #[test]
    fn a_hidden_tool_is_left_out_and_the_others_are_unchanged() {
        let tool = |name: &str| {
            Raw::from_string(format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#)).unwrap()
        };
        let offer = |tools: &[&str]| {
            let (tools, _) = validate::tools(tools.iter().map(|name| tool(name)).collect());
            Arc::new(Offer { tools, ..Offer::default() })
        };
        let servers: BTreeMap<ServerName, _> = [
            ("forge".parse().unwrap(), offer(&["read", "delete"])),
            ("notes".parse().unwrap(), offer(&["read"])),
            ("bank".parse().unwrap(), offer(&["pay"])),
        ]
        .into();
        let hidden = ["bank", "forge:delete", "notes:other"].map(str::to_owned).into();
        let rest = without(&servers, &hidden);
        let names: Vec<String> = rest
            .iter()
            .flat_map(|(server, offer)| offer.tools.iter().map(|tool| path(server.as_str(), &tool.name)))
            .collect();
        assert_eq!(names, ["forge:read", "notes:read"]);
        assert!(Arc::ptr_eq(&rest["notes"], &servers["notes"]), "what nothing is hidden of stays the same");
    }
}
