//! Addresses of skills where several servers are reachable: `skill://LABEL/rest` is `skill://rest` of the server with that
//! label. The label always comes first, so no server can choose an address that leads to another one. At its own address
//! a server's skills keep their addresses.

use std::collections::{BTreeMap, BTreeSet};

use super::{Offer, number, skills::is_below};
use crate::{model::ServerName, trust::uri};

/// The labels of the servers that have skills.
#[derive(Debug, Default)]
pub(super) struct Labels {
    servers: BTreeMap<String, ServerName>,
    places: BTreeMap<ServerName, SkillPlaces>,
}

/// Where one server's skills are.
#[derive(Debug)]
struct SkillPlaces {
    roots: Vec<String>,
    schemes: BTreeSet<String>,
}

impl Labels {
    pub(super) fn of<'a>(servers: impl Iterator<Item = (&'a ServerName, &'a Offer)>) -> Self {
        let mut labels = Self::default();
        for (server, offer) in servers.filter(|(_, offer)| offer.has_skills()) {
            labels.servers.insert(label(server), server.clone());
            let schemes = offer.skills.entries.iter().filter_map(|entry| entry.uri.split_once("://"));
            let schemes = schemes.map(|(scheme, _)| scheme.to_owned()).chain(["skill".to_owned()]).collect();
            let places = SkillPlaces { roots: offer.skills.roots().cloned().collect(), schemes };
            labels.places.insert(server.clone(), places);
        }
        labels
    }

    /// Where a server's address is found, if it is one of its skills.
    pub(super) fn labelled(&self, server: &ServerName, own: &str) -> Option<String> {
        let (places, key) = (self.places.get(server)?, uri::key(own));
        places.roots.iter().any(|root| is_below(&key, root)).then(|| labelled(server, own))
    }

    /// The server and its own address, if this is one with a label.
    pub(super) fn own(&self, address: &str) -> Option<(ServerName, String)> {
        let (scheme, rest) = address.split_once("://")?;
        let (label, path) = rest.split_once('/')?;
        let server = self.servers.get(label).filter(|_| !path.is_empty())?;
        let of_skills = self.places.get(server)?.schemes.contains(scheme);
        of_skills.then(|| (server.clone(), format!("{scheme}://{path}")))
    }
}

/// The address of a server's skill among those of all servers.
pub fn labelled(server: &ServerName, own: &str) -> String {
    match own.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}/{rest}", label(server)),
        None => own.to_owned(),
    }
}

/// The name of a server as a host name; `~` is in no other label, so that two servers never have the same.
fn label(server: &ServerName) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    let name = server.as_str();
    if name.chars().all(is_plain) && !name.trim_matches('.').is_empty() {
        return name.to_owned();
    }
    let kept: String =
        name.to_lowercase().chars().map(|c| if is_plain(c) { c } else { '-' }).take(40).collect();
    format!("{kept}~{:016x}", number(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_has_a_label_of_its_own() {
        let of = |name: &str| label(&name.parse().unwrap());
        assert_eq!(of("git-hub_2.x"), "git-hub_2.x");
        let odd = ["Git", "GIT", "my git", "@a/b", "..", "a:b", "\u{5929}"].map(of);
        assert_eq!(odd.iter().collect::<BTreeSet<_>>().len(), odd.len(), "{odd:?}");
        for label in odd {
            assert!(
                label.contains('~') && label.is_ascii() && !label.contains(['/', ':', ' ', '%']),
                "{label}"
            );
        }
    }
}
