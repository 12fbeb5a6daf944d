//! Sessions of legacy clients: opened by `initialize`, named by `Mcp-Session-Id`, ended by DELETE or by disuse.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use satchel_mcp::Id;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Sessions kept; the one unused for longest goes first.
const KEPT: usize = 256;
/// How long a session may be unused.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// One session.
#[derive(Debug)]
pub(crate) struct Session {
    /// Whose it is; nobody else can use it.
    pub(crate) client: String,
    /// The revision agreed on.
    pub(crate) revision: &'static str,
    /// The names of the servers when it was opened: the tool descriptions that mention them do not change under it.
    pub(crate) servers: Vec<String>,
    /// Cancelled when it ends.
    pub(crate) ended: CancellationToken,
    running: Mutex<HashMap<Id, CancellationToken>>,
}

impl Session {
    pub(crate) fn new(client: String, revision: &'static str, servers: Vec<String>) -> Self {
        Self { client, revision, servers, ended: CancellationToken::new(), running: Mutex::default() }
    }

    /// Notes that a request runs, so that it can be cancelled. Over when the guard is dropped.
    pub(crate) fn begin(self: &Arc<Self>, id: &Id) -> InFlight {
        let cancelled = self.ended.child_token();
        self.running().insert(id.clone(), cancelled.clone());
        InFlight { session: self.clone(), id: id.clone(), cancelled }
    }

    /// The client no longer wants the answer to a request.
    pub(crate) fn cancel(&self, id: &Id) {
        if let Some(running) = self.running().remove(id) {
            running.cancel();
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<Id, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that runs.
#[derive(Debug)]
pub(crate) struct InFlight {
    session: Arc<Session>,
    id: Id,
    /// Cancelled when the client no longer wants the answer.
    pub(crate) cancelled: CancellationToken,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.session.running().remove(&self.id);
    }
}

/// All sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<String, (Arc<Session>, Instant)>>,
}

impl Sessions {
    /// Opens one and names it.
    pub(crate) fn open(&self, session: Session) -> Result<String, getrandom::Error> {
        let mut random = [0u8; 24];
        getrandom::fill(&mut random)?;
        let id = URL_SAFE_NO_PAD.encode(random);
        let mut open = self.lock();
        let now = Instant::now();
        open.retain(|_, (session, used)| {
            let fresh = now - *used < IDLE;
            if !fresh {
                session.ended.cancel();
            }
            fresh
        });
        if open.len() >= KEPT
            && let Some(oldest) = open.iter().min_by_key(|(_, (_, used))| *used).map(|(id, _)| id.clone())
            && let Some((session, _)) = open.remove(&oldest)
        {
            session.ended.cancel();
        }
        open.insert(id.clone(), (Arc::new(session), now));
        Ok(id)
    }

    /// The session of that name, if it is this client's.
    pub(crate) fn get(&self, id: &str, client: &str) -> Option<Arc<Session>> {
        let mut open = self.lock();
        let (session, used) = open.get_mut(id)?;
        if session.client != client || used.elapsed() >= IDLE {
            return None;
        }
        *used = Instant::now();
        Some(session.clone())
    }

    /// Ends a session; false where this client has none of that name.
    pub(crate) fn close(&self, id: &str, client: &str) -> bool {
        let mut open = self.lock();
        if open.get(id).is_none_or(|(session, _)| session.client != client) {
            return false;
        }
        if let Some((session, _)) = open.remove(id) {
            session.ended.cancel();
        }
        true
    }

    /// Ends all of them.
    pub(crate) fn close_all(&self) {
        for (_, (session, _)) in self.lock().drain() {
            session.ended.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (Arc<Session>, Instant)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(client: &str) -> Session {
        Session::new(client.into(), "2025-11-25", vec![])
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_is_its_clients_alone_and_ends_by_disuse() {
        let sessions = Sessions::default();
        let id = sessions.open(session("a")).unwrap();
        assert!(sessions.get(&id, "b").is_none() && !sessions.close(&id, "b"));
        tokio::time::advance(IDLE - Duration::from_secs(1)).await;
        assert!(sessions.get(&id, "a").is_some());
        tokio::time::advance(IDLE).await;
        assert!(sessions.get(&id, "a").is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_sessions_ends_the_oldest() {
        let sessions = Sessions::default();
        let first = sessions.open(session("a")).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        for _ in 1..KEPT {
            sessions.open(session("a")).unwrap();
        }
        assert!(sessions.lock().contains_key(&first));
        let ended = sessions.lock()[&first].0.ended.clone();
        sessions.open(session("a")).unwrap();
        assert!(!sessions.lock().contains_key(&first) && ended.is_cancelled());
        assert_eq!(sessions.lock().len(), KEPT);
    }
}
