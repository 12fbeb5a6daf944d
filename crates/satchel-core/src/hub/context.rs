//! The context of requests and calls through a handle: the client and its location, the face and the person behind it, and
//! the observer of the call. Made once at the border.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use satchel_mcp::RawObject;

use super::scope::Scope;
use crate::{model::Origin, recorder::Observer};

/// The caller of a request. Cheap to clone. The default is the hub itself, without client and origin.
#[derive(Debug, Clone, Default)]
pub(super) struct CallContext {
    /// Observes the caller's calls.
    pub(super) observer: Observer,
    /// The client's profile and folders.
    pub(super) scope: Scope,
    client: Option<Arc<str>>,
    origin: Option<Arc<Origin>>,
    by_hand: bool,
    /// Counts the audit records that the request causes, if the caller waits for them.
    recorded: Option<Arc<AtomicUsize>>,
}

impl CallContext {
    /// The same caller as this client.
    pub(super) fn of_client(&self, client: &str) -> Self {
        match &self.client {
            Some(known) if **known == *client => self.clone(),
            _ => Self { client: Some(client.into()), ..self.clone() },
        }
    }

    /// The same caller with this scope.
    pub(super) fn within(&self, scope: &Scope) -> Self {
        Self { scope: scope.clone(), ..self.clone() }
    }

    /// The same caller with this observer.
    pub(super) fn observed(&self, observer: &Observer) -> Self {
        Self { observer: observer.clone(), ..self.clone() }
    }

    /// The same caller as a person, who needs no permission question.
    pub(super) fn by_hand(&self) -> Self {
        Self { by_hand: true, ..self.clone() }
    }

    /// The same caller for a request of this origin, and the counter of the audit records it causes.
    pub(super) fn on_record(&self, origin: &Origin) -> (Self, Arc<AtomicUsize>) {
        let recorded = Arc::<AtomicUsize>::default();
        let origin = Some(Arc::new(origin.clone()));
        (Self { origin, recorded: Some(recorded.clone()), ..self.clone() }, recorded)
    }

    /// The calling client, or the name a person calls under.
    pub(super) fn client(&self) -> Option<&str> {
        self.client.as_deref()
    }

    /// The client whose rules, profile and record apply; `None` for a person.
    pub(super) fn ruled(&self) -> Option<&str> {
        self.client().filter(|_| !self.by_hand)
    }

    /// The name of that client; empty, which no client is called, for a person.
    pub(super) fn ruled_name(&self) -> Arc<str> {
        self.client.clone().filter(|_| !self.by_hand).unwrap_or_default()
    }

    /// Is the caller a person?
    pub(super) fn is_by_hand(&self) -> bool {
        self.by_hand
    }

    /// The request's origin; `None` for the hub's own actions.
    pub(super) fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// The actor as recorded in the audit log.
    pub(super) fn actor(&self) -> String {
        self.origin.as_ref().map_or_else(|| "satchel".to_owned(), |origin| origin.to_string())
    }

    /// Is the request made by a person or by the hub itself?
    pub(super) fn is_for_a_person(&self) -> bool {
        self.origin.as_ref().is_none_or(|origin| origin.is_person())
    }

    /// Adds to the count of audit records.
    pub(super) fn count_records(&self, made: usize) {
        if let Some(recorded) = &self.recorded {
            recorded.fetch_add(made, Ordering::Relaxed);
        }
    }

    /// A message about a call, with the script that made it.
    pub(super) fn with_cause(&self, said: &str) -> String {
        match self.observer.script() {
            Some(trace) => format!("{said} (in a script, trace {trace})"),
            None => said.to_owned(),
        }
    }

    /// The parameters for the server, with the call's span if traces are exported.
    pub(super) fn in_trace(&self, mut params: RawObject) -> RawObject {
        let Some(traceparent) = self.observer.traceparent() else { return params };
        let meta = params.get("_meta").and_then(|meta| RawObject::parse(meta).ok());
        let mut meta = meta.unwrap_or_default();
        // Strings always serialize.
        meta.put("traceparent", &traceparent);
        params.set("_meta", meta.to_raw());
        params
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hubs_own_requests_have_no_user_and_need_no_approval() {
        let hub = CallContext::default();
        assert_eq!((hub.client(), hub.origin()), (None, None));
        assert_eq!(hub.actor(), "satchel");
        assert!(hub.is_for_a_person());
        assert_eq!(hub.with_cause("refused"), "refused");
    }

    #[test]
    fn a_person_who_calls_by_hand_sees_as_a_client_and_is_not_ruled_as_one() {
        let client = CallContext::default().of_client("editor");
        assert_eq!(client.ruled(), Some("editor"));
        let hand = client.by_hand();
        assert_eq!((hand.client(), hand.ruled()), (Some("editor"), None));
        assert!(hand.is_by_hand() && !client.is_by_hand());
        assert_eq!((&*client.ruled_name(), &*hand.ruled_name()), ("editor", ""));
    }

    #[test]
    fn a_request_counts_its_own_records_and_no_others() {
        let window = CallContext::default().on_record(&Origin::Window);
        let other = CallContext::default().on_record(&Origin::Window);
        window.0.of_client("editor").count_records(2);
        CallContext::default().count_records(1);
        let count = |recorded: &AtomicUsize| recorded.load(Ordering::Relaxed);
        assert_eq!((count(&window.1), count(&other.1)), (2, 0));
        assert_eq!((window.0.origin(), window.0.is_for_a_person()), (Some(&Origin::Window), true));
    }

    #[test]
    fn the_same_client_shares_its_name() {
        let once = CallContext::default().of_client("editor");
        let again = once.of_client("editor");
        assert!(Arc::ptr_eq(&once.ruled_name(), &again.ruled_name()));
        assert_eq!(again.of_client("agent").client(), Some("agent"));
    }
}
