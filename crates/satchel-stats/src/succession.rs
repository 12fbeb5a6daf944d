//! Detects which session continues which: a client that initializes anew for each call is one conversation, with one
//! tool list before the model. Uses no clock but the times it is given.
//!
//! A session continues the one that its client used last, within [`PAUSE`]. If the earlier one is used again
//! afterwards, both are open side by side (two windows of an editor) and are counted apart.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use super::{
    definitions::Definitions,
    event::{Offers, Visit},
    store::PAUSE,
};

/// Maximum number of chains; the least recently used is dropped first.
const CHAINS: usize = 1024;
/// Maximum number of sessions in a chain.
const OF_CHAIN: usize = 64;

/// A list of tools that a session received.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct List {
    pub(super) at_ms: u64,
    pub(super) definitions: Arc<Definitions>,
    pub(super) offers: Offers,
}

/// Sessions and the chain that each belongs to. A chain has the number of its first session.
#[derive(Debug, Default)]
pub(super) struct Succession {
    chains: HashMap<u64, Chain>,
    chain_of: HashMap<u64, u64>,
}

#[derive(Debug)]
struct Chain {
    speaker: [String; 4],
    sessions: VecDeque<u64>,
    /// The active session, and since when.
    newest: u64,
    since_ms: u64,
    last_ms: u64,
    /// The list it received, unless it was the first.
    list: Option<List>,
}

/// The chain of a session.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    pub(super) chain: u64,
    /// A later session that turned out to be concurrent with this one: it gets its own chain, with the list it
    /// received.
    pub(super) apart: Option<(u64, Option<List>)>,
}

impl Succession {
    /// The chain of this session, which becomes active.
    pub(super) fn find(&mut self, session: u64, visit: &Visit, at_ms: u64) -> Found {
        if let Some(&chain) = self.chain_of.get(&session) {
            return Found { chain, apart: self.again(session, chain, at_ms) };
        }
        let speaker = speaker(visit);
        let fresh =
            |chain: &&mut Chain| chain.speaker == speaker && at_ms.saturating_sub(chain.last_ms) <= PAUSE;
        let last = self.chains.iter_mut().map(|(first, chain)| (*first, chain));
        let last =
            last.filter(|(_, chain)| fresh(chain)).max_by_key(|(first, chain)| (chain.last_ms, *first));
        let Some((first, chain)) = last else {
            self.begin(session, speaker, at_ms);
            return Found { chain: session, apart: None };
        };
        (chain.newest, chain.since_ms, chain.list) = (session, at_ms, None);
        chain.last_ms = chain.last_ms.max(at_ms);
        chain.sessions.push_back(session);
        if chain.sessions.len() > OF_CHAIN
            && let Some(forgotten) = chain.sessions.pop_front()
        {
            self.chain_of.remove(&forgotten);
        }
        self.chain_of.insert(session, first);
        Found { chain: first, apart: None }
    }

    /// Records a session's list, for the case that it turns out to be independent.
    pub(super) fn listed(&mut self, session: u64, list: List) {
        let Some(chain) = self.chain_of.get(&session).copied() else { return };
        if let Some(of) = self.chains.get_mut(&chain)
            && of.newest == session
            && chain != session
        {
            of.list = Some(list);
        }
    }

    /// A session of this chain is active again. What it began before the newest one may finish later.
    fn again(&mut self, session: u64, chain: u64, at_ms: u64) -> Option<(u64, Option<List>)> {
        let of = self.chains.get_mut(&chain)?;
        of.last_ms = of.last_ms.max(at_ms);
        if of.newest == session || at_ms <= of.since_ms {
            return None;
        }
        let newer = std::mem::replace(&mut of.newest, session);
        of.since_ms = at_ms;
        let (list, speaker) = (of.list.take(), of.speaker.clone());
        of.sessions.retain(|other| *other != newer);
        self.begin(newer, speaker, at_ms);
        Some((newer, list))
    }

    fn begin(&mut self, session: u64, speaker: [String; 4], at_ms: u64) {
        if self.chains.len() >= CHAINS
            && let Some(oldest) =
                self.chains.iter().min_by_key(|(_, chain)| chain.last_ms).map(|(first, _)| *first)
        {
            self.chains.remove(&oldest);
            self.chain_of.retain(|_, chain| *chain != oldest);
        }
        self.chain_of.insert(session, session);
        let sessions = VecDeque::from([session]);
        let chain = Chain { speaker, sessions, newest: session, since_ms: at_ms, last_ms: at_ms, list: None };
        self.chains.insert(session, chain);
    }
}

/// What distinguishes one client's sessions from another's.
fn speaker(visit: &Visit) -> [String; 4] {
    [&visit.client, &visit.program, &visit.version, &visit.only].map(Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(client: &str, version: &str) -> Visit {
        let (client, version) = (client.to_owned(), version.to_owned());
        Visit {
            session: None,
            client,
            program: "p".into(),
            version,
            era: String::new(),
            only: String::new(),
            profile: String::new(),
            face: false,
            defers: false,
        }
    }

    fn alone(chain: u64) -> Found {
        Found { chain, apart: None }
    }

    #[test]
    fn sessions_one_after_the_other_are_one_until_there_is_a_pause() {
        let mut known = Succession::default();
        let a = visit("a", "1");
        for session in 1..200 {
            assert_eq!(known.find(session, &a, session * PAUSE), alone(1), "{session}");
        }
        assert_eq!(known.find(200, &a, 200 * PAUSE + 1), alone(200));
        assert_eq!(known.find(201, &visit("a", "2"), 200 * PAUSE + 1), alone(201), "another program");
        assert_eq!(known.find(202, &visit("b", "1"), 200 * PAUSE + 1), alone(202), "another client");
        assert!(known.chain_of.len() < 2 * OF_CHAIN, "it does not grow for ever");
    }

    #[test]
    fn sessions_that_are_open_at_once_count_apart_with_their_own_lists() {
        let mut known = Succession::default();
        let a = visit("a", "1");
        let list = List { at_ms: 20, definitions: Arc::new("list".into()), offers: Arc::default() };
        assert_eq!(known.find(1, &a, 10), alone(1));
        assert_eq!(known.find(2, &a, 20), alone(1));
        known.listed(2, list.clone());
        // A call of the first that began before and ended after the second started proves nothing.
        assert_eq!(known.find(1, &a, 19), alone(1));
        assert_eq!(known.find(1, &a, 21), Found { chain: 1, apart: Some((2, Some(list))) });
        assert_eq!(known.find(2, &a, 22), alone(2));
        assert_eq!(known.find(1, &a, 23), alone(1));
        assert_eq!(known.find(3, &a, 24), alone(1), "the one that was used last is carried on");
    }

    #[test]
    fn many_clients_are_not_remembered_for_ever() {
        let mut known = Succession::default();
        for session in 0..3 * CHAINS as u64 {
            known.find(session, &visit(&session.to_string(), "1"), session);
        }
        assert_eq!((known.chains.len(), known.chain_of.len()), (CHAINS, CHAINS));
    }
}
