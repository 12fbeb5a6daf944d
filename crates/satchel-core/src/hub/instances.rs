//! Holds the instances of one server that not all callers share: at most [`MOST`], each of one client, one session or one
//! folder. One more takes the place of the one that was unused for longest. Starts nothing, and chooses none for a call.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Hub, project, scope::SessionMark, sharing::Sharing};
use crate::{
    model::{ServerName, server::Share},
    upstream::{Beginning, Upstream, lifecycle::State},
};

/// Maximum number of instances of one server beside the one that is shared.
pub(super) const MOST: usize = 8;
/// How long an instance stays for the caller that it was made for, before that has begun to start it.
const CLAIMED: Duration = Duration::from_secs(5);
/// Number of callers that are remembered because what they had open may be lost.
const ENDED: usize = 64;

/// Whose an instance is: of these callers, in this folder if there is one for each.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Owner {
    pub(super) callers: Callers,
    pub(super) folder: Option<Arc<str>>,
}

/// Who shares an instance.
#[derive(Debug, Clone)]
pub(super) enum Callers {
    /// All who work in its folder.
    InFolder,
    /// All sessions of this client.
    Client(Arc<str>),
    /// One session of this client.
    Session(Arc<str>, Arc<SessionMark>),
}

impl PartialEq for Callers {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::InFolder, Self::InFolder) => true,
            (Self::Client(one), Self::Client(other)) => one == other,
            (Self::Session(_, one), Self::Session(_, other)) => Arc::ptr_eq(one, other),
            (Self::InFolder | Self::Client(_) | Self::Session(..), _) => false,
        }
    }
}

impl Owner {
    /// Its client, if it is of one.
    pub(super) fn client(&self) -> Option<&Arc<str>> {
        match &self.callers {
            Callers::InFolder => None,
            Callers::Client(client) | Callers::Session(client, _) => Some(client),
        }
    }

    /// In a word or two, for the log.
    pub(super) fn told(&self) -> String {
        let folder = self.folder.as_deref().map(project::short);
        let parts = self.client().map(|client| client.to_string()).into_iter().chain(folder);
        parts.collect::<Vec<_>>().join(" in ")
    }

    pub(super) fn is_session(&self) -> bool {
        matches!(self.callers, Callers::Session(..))
    }

    /// Is it this session's alone?
    pub(super) fn is_of(&self, session: &Arc<SessionMark>) -> bool {
        matches!(&self.callers, Callers::Session(_, own) if Arc::ptr_eq(own, session))
    }
}

/// One instance.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) owner: Owner,
    /// Unique in this run of the hub.
    pub(super) number: u64,
    pub(super) upstream: Upstream,
    /// It was started while another instance ran.
    pub(super) beside_others: bool,
    /// Cancelled when it ends for good.
    pub(super) end: CancellationToken,
    used: Mutex<Instant>,
    /// The beginning after which it last answered a call.
    answered: Mutex<Option<Beginning>>,
    /// What its owner had open was lost before this one began.
    lost: AtomicBool,
    /// Connected sessions that used it.
    sessions: Mutex<Vec<Arc<SessionMark>>>,
}

impl Instance {
    pub(super) fn new(
        owner: Owner,
        number: u64,
        upstream: Upstream,
        beside_others: bool,
        end: CancellationToken,
    ) -> Self {
        Self {
            owner,
            number,
            upstream,
            beside_others,
            end,
            used: Mutex::new(Instant::now()),
            answered: Mutex::default(),
            lost: AtomicBool::new(false),
            sessions: Mutex::default(),
        }
    }

    /// Notes that it answered a call after this beginning. Has it begun anew since the last answer?
    pub(super) fn has_answered(&self, beginning: Beginning) -> bool {
        let before = self.answered.lock().replace(beginning);
        self.lost.swap(false, Ordering::Relaxed) || before.is_some_and(|before| before < beginning)
    }

    /// Notes that a session uses it; false if that is known.
    pub(super) fn attend(&self, session: &Arc<SessionMark>) -> bool {
        let mut sessions = self.sessions.lock();
        let is_new = !sessions.iter().any(|known| Arc::ptr_eq(known, session));
        if is_new {
            sessions.push(session.clone());
        }
        is_new
    }

    /// Notes that a session has ended. Was it the last one?
    pub(super) fn leave(&self, session: &Arc<SessionMark>) -> bool {
        let mut sessions = self.sessions.lock();
        sessions.retain(|known| !Arc::ptr_eq(known, session));
        sessions.is_empty()
    }

    /// Does a connected session use it?
    pub(super) fn is_attended(&self) -> bool {
        !self.sessions.lock().is_empty()
    }

    fn is_idle(&self) -> bool {
        let seen = self.upstream.seen();
        let is_awaited = match seen.state {
            State::Starting { waiting, .. } | State::Stopping { waiting, .. } => waiting > 0,
            State::BackingOff { waiting, .. } => waiting > 0,
            State::Off
            | State::Asleep
            | State::Ready { .. }
            | State::Broken { .. }
            | State::NeedsCredential { .. } => false,
        };
        seen.leases() == 0 && !is_awaited
    }

    /// Has it a process or a connection, now or soon?
    pub(super) fn is_up(&self) -> bool {
        match self.upstream.seen().state {
            State::Starting { .. } | State::Ready { .. } | State::Stopping { .. } => true,
            State::Off
            | State::Asleep
            | State::BackingOff { .. }
            | State::Broken { .. }
            | State::NeedsCredential { .. } => false,
        }
    }
}

/// Why there is no instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoInstance {
    /// All have calls in flight.
    Busy,
    /// The server ends.
    Ending,
}

/// The instances of one server.
#[derive(Debug, Default)]
pub(super) struct Instances(Mutex<HeldInstances>);

#[derive(Debug, Default)]
struct HeldInstances {
    all: Vec<Arc<Instance>>,
    /// Owners of instances that ended while they had something open.
    ended: Vec<Owner>,
    /// Clients that the shared instance answered, and after which beginning; the latest last.
    answered: VecDeque<(Arc<str>, Beginning)>,
    closed: bool,
}

impl Instances {
    /// All of them.
    pub(super) fn all(&self) -> Vec<Arc<Instance>> {
        self.lock().all.clone()
    }

    /// The instance of this owner, if there is one.
    pub(super) fn find(&self, owner: &Owner) -> Option<Arc<Instance>> {
        self.lock().all.iter().find(|instance| instance.owner == *owner).cloned()
    }

    /// The instance of this owner, made if necessary, and the one that ends for it.
    ///
    /// # Errors
    /// [`NoInstance`] if it cannot be made.
    pub(super) fn of(
        &self,
        owner: &Owner,
        make: impl FnOnce(bool) -> Instance,
    ) -> Result<(Arc<Instance>, Option<Arc<Instance>>), NoInstance> {
        let mut held = self.lock();
        if let Some(known) = held.all.iter().find(|instance| instance.owner == *owner) {
            *known.used.lock() = Instant::now();
            return Ok((known.clone(), None));
        }
        if held.closed {
            return Err(NoInstance::Ending);
        }
        let gone = match held.all.len() >= MOST {
            true => Some(held.first_to_go().ok_or(NoInstance::Busy)?),
            false => None,
        };
        let others = held.all.iter().any(|other| other.is_up());
        let instance = Arc::new(make(others));
        let was_reopened = matches!(&owner.callers, Callers::Session(_, session) if session.reopened);
        instance.lost.store(held.had_open(owner) || was_reopened, Ordering::Relaxed);
        held.all.push(instance.clone());
        Ok((instance, gone))
    }

    /// Notes that the instance that all share answered this client. Has it begun anew since it last did?
    pub(super) fn shared_has_answered(&self, client: &Arc<str>, beginning: Beginning) -> bool {
        let answered = &mut self.lock().answered;
        let known = answered.iter().position(|(known, _)| known == client);
        let before = known.and_then(|at| answered.remove(at));
        if answered.len() == ENDED {
            answered.pop_front();
        }
        answered.push_back((client.clone(), beginning));
        before.is_some_and(|(_, before)| before < beginning)
    }

    /// Takes an instance out.
    pub(super) fn remove(&self, instance: &Arc<Instance>) {
        self.lock().all.retain(|known| !Arc::ptr_eq(known, instance));
    }

    /// All of them, and there will be no others.
    pub(super) fn shut(&self) -> Vec<Arc<Instance>> {
        let mut held = self.lock();
        held.closed = true;
        held.all.clone()
    }

    /// Takes all out.
    pub(super) fn take_all(&self) -> Vec<Arc<Instance>> {
        let mut held = self.lock();
        let gone = std::mem::take(&mut held.all);
        gone.iter().for_each(|instance| held.remember(instance));
        gone
    }

    fn lock(&self) -> MutexGuard<'_, HeldInstances> {
        self.0.lock()
    }
}

impl HeldInstances {
    /// Takes out the idle instance that was unused for longest, a sleeping one first.
    fn first_to_go(&mut self) -> Option<Arc<Instance>> {
        let is_claimed = |instance: &Instance| !instance.is_up() && instance.used.lock().elapsed() < CLAIMED;
        let free = |instance: &Instance| instance.is_idle() && !is_claimed(instance);
        let idle = self.all.iter().enumerate().filter(|(_, instance)| free(instance));
        let first = idle.min_by_key(|(_, instance)| (instance.is_up(), *instance.used.lock()));
        let gone = self.all.remove(first?.0);
        self.remember(&gone);
        Some(gone)
    }

    /// Remembers that the owner of this instance had something open, if so.
    fn remember(&mut self, instance: &Instance) {
        if instance.answered.lock().is_none() && !instance.lost.load(Ordering::Relaxed) {
            return;
        }
        if self.ended.len() == ENDED {
            self.ended.remove(0);
        }
        self.ended.push(instance.owner.clone());
    }

    fn had_open(&mut self, owner: &Owner) -> bool {
        let before = self.ended.len();
        self.ended.retain(|ended| ended != owner);
        self.ended.len() != before
    }
}

/// Whose instance this handle's caller uses in this folder, if it works in one; `None` for the one that is shared, which is
/// also a person's.
pub(super) fn owner(hub: &Hub, sharing: Sharing, folder: Option<Arc<str>>) -> Option<Owner> {
    hub.context.ruled()?;
    let client = hub.context.ruled_name();
    let folder = folder.filter(|_| sharing.is_by_folder());
    let callers = match (sharing.share, hub.context.scope.session()) {
        (Share::All | Share::Project, _) if folder.is_none() => return None,
        (Share::All | Share::Project, _) => Callers::InFolder,
        (Share::Session, Some(session)) => Callers::Session(client, session.clone()),
        // A stateless client has no sessions.
        (Share::Session, None) | (Share::Client, _) => Callers::Client(client),
    };
    Some(Owner { callers, folder })
}

/// The same for the folder that this caller used last.
pub(super) fn known_owner(hub: &Hub, sharing: Sharing) -> Option<Owner> {
    let folder = if sharing.is_by_folder() { hub.context.scope.known_project() } else { None };
    owner(hub, sharing, folder)
}

/// Does this handle's caller use the instance of this number?
pub(super) fn is_own(hub: &Hub, server: &ServerName, number: u64) -> bool {
    let known = hub.servers().get(server).map(|known| (known.sharing, known.instances.clone()));
    let Some((sharing, all)) = known else { return false };
    let own = known_owner(hub, sharing).and_then(|owner| all.find(&owner));
    own.is_some_and(|instance| instance.number == number)
}

/// Ends an instance.
pub(super) fn end(hub: &Hub, instance: Arc<Instance>) {
    instance.end.cancel();
    hub.inner.faces.changed();
    hub.inner.life.spawn(async move { instance.upstream.close().await });
}

/// Ends these instances.
pub(super) fn end_all(hub: &Hub, instances: Vec<Arc<Instance>>) {
    instances.into_iter().for_each(|instance| end(hub, instance));
}

/// Puts the shared instance to sleep when its calls are finished, and ends the others.
pub(super) fn rest(hub: &Hub, shared: &Upstream, others: &Instances) {
    end_all(hub, others.take_all());
    shared.rest();
}
