//! Remembers which server gave a client which address in a result, because such addresses need not be in any list
//! (`2025-11-25/server/tools.mdx#resource-links`). Bounded for each client and in all.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;

use crate::model::ServerName;

/// Addresses remembered for one client, and the longest of them in bytes; the oldest are dropped first.
const KEPT: usize = 1024;
const LONGEST: usize = 4 * 1024;
/// Clients with addresses; the one that was given none for the longest time is dropped first.
const CLIENTS: usize = 256;

/// The addresses that clients were given.
#[derive(Debug, Default)]
pub struct Given(Mutex<ByClient>);

#[derive(Debug, Default)]
struct ByClient {
    addresses: HashMap<String, VecDeque<(String, ServerName)>>,
    /// Least recently given first.
    order: VecDeque<String>,
}

impl Given {
    /// Remembers the addresses of a result.
    pub fn give(&self, client: &str, server: &ServerName, addresses: Vec<String>) {
        if addresses.is_empty() {
            return;
        }
        let mut all = self.0.lock();
        all.order.retain(|known| known != client);
        all.order.push_back(client.to_owned());
        if all.order.len() > CLIENTS
            && let Some(oldest) = all.order.pop_front()
        {
            all.addresses.remove(&oldest);
        }
        let own = all.addresses.entry(client.to_owned()).or_default();
        for address in addresses.into_iter().filter(|address| address.len() <= LONGEST) {
            own.retain(|(known, of)| *known != address || of != server);
            if own.len() == KEPT {
                own.pop_front();
            }
            own.push_back((address, server.clone()));
        }
    }

    /// The server that gave this address to this client last.
    pub fn giver(&self, client: &str, address: &str) -> Option<ServerName> {
        let all = self.0.lock();
        let own = all.addresses.get(client)?;
        own.iter().rev().find(|(known, _)| known == address).map(|(_, server)| server.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> ServerName {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_is_remembered_for_the_client_that_was_given_it() {
        let given = Given::default();
        given.give("editor", &name("notes"), vec!["note://1".into()]);
        given.give("editor", &name("other"), vec!["note://2".into(), "note://1".into()]);
        assert_eq!(given.giver("editor", "note://2"), Some(name("other")));
        assert_eq!(given.giver("editor", "note://1"), Some(name("other")), "the last one");
        assert_eq!((given.giver("editor", "note://3"), given.giver("shell", "note://1")), (None, None));
    }

    #[test]
    fn only_the_latest_addresses_of_the_latest_clients_are_remembered() {
        let given = Given::default();
        for at in 0..=KEPT {
            given.give("a", &name("s"), vec![format!("x://{at}")]);
        }
        assert_eq!(given.giver("a", "x://0"), None);
        assert!(given.giver("a", "x://1").is_some() && given.giver("a", &format!("x://{KEPT}")).is_some());
        given.give("a", &name("s"), vec!["y".repeat(LONGEST + 1)]);
        assert_eq!(given.giver("a", &"y".repeat(LONGEST + 1)), None);
        for at in 0..CLIENTS {
            given.give(&format!("c{at}"), &name("s"), vec!["z://".into()]);
        }
        assert_eq!(given.giver("a", "x://1"), None);
    }
}
