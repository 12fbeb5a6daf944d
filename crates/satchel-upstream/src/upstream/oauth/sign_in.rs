//! One sign-in with a browser, from a person's click to tokens. The face opens the page.

use std::{collections::VecDeque, io, pin::Pin, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use url::Url;

use super::{
    Trouble,
    account::{Account, Credential, State, host_of},
    accounts::ScopeAnswer,
    client::{self, Client, Identity},
    documents::Provider,
    guarded_http::Registration,
    providers,
    record::Record,
    request::{Callback, Request, pasted, random},
    token_response::Unanswered,
};
use crate::model::oauth::{RedirectHost, SignInPage, SignInState};

/// Timeout of a sign-in.
const WAITING: Duration = Duration::from_secs(5 * 60);
/// The default port of the redirect address for user-registered apps.
const USUAL_PORT: u16 = 7412;
/// Maximum pause before a busy provider is asked once more.
const BUSY: Duration = Duration::from_secs(3);

/// What the browser shows when it comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// Signed in to this server.
    Done(String),
    /// Failed, for this reason.
    Failed(String, Trouble),
    /// An unknown request.
    Foreign,
}

/// A request to the redirect address.
#[derive(Debug)]
pub struct Arrival {
    /// Its query.
    pub query: String,
    /// Receives what to show, once known.
    pub show: oneshot::Sender<Shown>,
}

/// A listener at a redirect address. Stops when dropped.
#[derive(Debug)]
pub struct Listening {
    /// Its port.
    pub port: u16,
    /// The requests to it.
    pub arrivals: mpsc::Receiver<Arrival>,
    /// Stops it.
    pub stop: tokio_util::sync::DropGuard,
}

/// Listens at redirect addresses.
pub trait Callbacks: std::fmt::Debug + Send + Sync {
    /// Listens on this local host; port 0 means any free port. Its tasks are tracked.
    fn listen(
        &self,
        host: RedirectHost,
        port: u16,
        tracker: TaskTracker,
    ) -> Pin<Box<dyn Future<Output = io::Result<Listening>> + Send + '_>>;
}

/// A sign-in that waits for a browser.
#[derive(Debug, Clone)]
pub(super) struct Signing {
    page: SignInPage,
    /// One for each page that was opened: the browser may come back from any of them.
    requests: Requests,
    paste: mpsc::Sender<Arrival>,
    end: watch::Receiver<Option<Result<(), Trouble>>>,
    cancel: CancellationToken,
}

type Requests = Arc<Mutex<VecDeque<Request>>>;

/// Of more pages, the first ones are forgotten.
const PAGES: usize = 8;

impl Signing {
    /// The page once more, with a state of its own.
    fn opened_again(&self, credential: &Credential) -> Result<SignInPage, Trouble> {
        let first = self.requests.lock().front().cloned();
        let Some(first) = first else { return Ok(self.page.clone()) };
        let request = first.anew((random()?, random()?));
        let url = request.page(&credential.completed(&request.found.provider.issuer).settings)?;
        let mut requests = self.requests.lock();
        requests.push_back(request);
        if requests.len() > PAGES {
            requests.pop_front();
        }
        Ok(SignInPage { url: url.to_string(), ..self.page.clone() })
    }
}

/// The result of signing out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Was anyone signed in?
    pub was_in: bool,
    /// Did the provider revoke the tokens? `None` if it does not support that.
    pub revoked: Option<bool>,
}

impl Credential {
    /// Begins a sign-in: discovery, client, page. A running one continues, unless `again` requests a new registration.
    ///
    /// # Errors
    /// [`Trouble`]; nothing was opened then.
    pub async fn begin(&self, callbacks: &dyn Callbacks, again: bool) -> Result<SignInPage, Trouble> {
        let account = &self.account;
        if let Some(signing) = account.waiting() {
            if !again {
                return signing.opened_again(self);
            }
            signing.cancel.cancel();
        }
        let mut state = account.state.lock().await;
        // A double click counts once.
        if let Some(signing) = account.waiting().filter(|_| !again) {
            return signing.opened_again(self);
        }
        // Without a keychain, the sign-in lasts as long as the hub.
        if let Err(error) = account.load(&mut state, &self.server).await
            && account.shared.is_signed_in(&account.server)
        {
            return Err(Trouble::Later(format!("the sign-in cannot be read: {error}")));
        }
        let begun = self.prepare(&mut state, callbacks, again).await;
        if let Err(Trouble::NeedsClientId { issuer, .. }) = &begun {
            let known = self.known(issuer);
            let me = self.completed(issuer);
            let redirect = me.redirect(me.settings.port.unwrap_or(USUAL_PORT));
            let page = known.map(|known| known.page.clone());
            let hint = known.map(|known| known.hint.clone()).unwrap_or_default();
            account.show(SignInState::NeedsClientId { redirect, page, hint }, |view| {
                view.provider = Some(host_of(issuer));
            });
        }
        let (request, listening, page) = begun?;
        drop(state);
        let (paste, pasted) = mpsc::channel(4);
        let (ended, end) = watch::channel(None);
        let cancel = account.shared.end.child_token();
        let shown = page.clone();
        let provider = host_of(&request.found.provider.issuer);
        let requests: Requests = Arc::new(Mutex::new([request].into()));
        *account.signing.lock() = Some(Signing {
            page: page.clone(),
            requests: requests.clone(),
            paste,
            end,
            cancel: cancel.clone(),
        });
        let before = account.view().map(|view| view.state);
        account.show(SignInState::SigningIn { until_ms: page.until_ms }, |view| {
            view.provider = Some(provider);
        });
        let credential = self.clone();
        account.shared.tracker.spawn(async move {
            let (outcome, show) = credential.wait(&requests, listening, pasted, &cancel).await;
            credential.settle(&outcome, &requests, before);
            if let Some(show) = show {
                let server = credential.account.server.to_string();
                let _ = show.send(match &outcome {
                    Ok(()) => Shown::Done(server),
                    Err(trouble) => Shown::Failed(server, trouble.clone()),
                });
            }
            ended.send_replace(Some(outcome));
        });
        Ok(shown)
    }

    /// The known provider with this issuer.
    fn known(&self, issuer: &str) -> Option<&'static providers::Known> {
        providers::of_server(&self.server).or_else(|| providers::of_issuer(issuer))
    }

    /// The settings, completed with this provider's requirements.
    fn completed(&self, issuer: &str) -> Self {
        match self.known(issuer) {
            Some(known) => Self { settings: known.complete(&self.settings), ..self.clone() },
            None => self.clone(),
        }
    }

    fn redirect(&self, port: u16) -> String {
        format!("http://{}:{port}/callback", self.settings.redirect.as_str())
    }

    /// Everything up to the page. Nothing is sent to an unchecked address.
    async fn prepare(
        &self,
        state: &mut State,
        callbacks: &dyn Callbacks,
        again: bool,
    ) -> Result<(Request, Listening, SignInPage), Trouble> {
        let account = &self.account;
        let found = self.discover(state).await?;
        let me = self.completed(&found.provider.issuer);
        // What one authorization server issued is never shown to another.
        let (record, was_in) = (state.record.take(), account.is_in());
        let kept = record.filter(|record| record.issuer == found.provider.issuer);
        if kept.is_none() && was_in {
            account.publish(state, false);
            if let Err(error) = account.store(state).await {
                tracing::warn!(server = %account.server, %error, "a sign-in that is over cannot be deleted");
            }
        }
        let before = kept.as_ref().map(|record| record.client.clone()).filter(|_| !again);
        let now_ms = account.shared.clock.now_ms();
        let is_over =
            |client: &Client| client.secret_ends.is_some_and(|ends| ends.saturating_mul(1000) <= now_ms);
        let before = before.filter(|client| !is_over(client));
        state.record = kept;
        let asked = state.record.as_ref().map(|record| record.asked.clone()).unwrap_or_default();
        let lacked = match account.view().map(|view| view.state) {
            Some(SignInState::NeedsMoreRights { missing, .. }) => Some(missing),
            _ => None,
        };
        let more = lacked.as_ref().map(|lacked| [lacked.clone(), asked].concat()).unwrap_or_default();
        let wanted = found.asked(&more);
        let scopes = found.registered_for(&wanted);
        let listening = me.listen(callbacks, before.as_ref()).await?;
        let redirect = me.redirect(listening.port);
        let client = match client::identity(
            &me.settings,
            &found.provider,
            before.as_ref(),
            &redirect,
            (&wanted, &scopes),
        )? {
            Identity::Known(client) => *client,
            Identity::Register(request) => {
                let Some(endpoint) = &found.provider.registration else {
                    return Err(Trouble::Refused("its metadata names no registration endpoint".to_owned()));
                };
                let door = account.door(state, &self.server).await?;
                match door.register(endpoint, &request).await {
                    Registration::Made(answer) => client::registered(&answer, &redirect, &scopes)?,
                    Registration::Refused(_)
                        if found.provider == Provider::by_default_paths(&self.server) =>
                    {
                        let why = "it answers HTTP 401 and names no place to sign in; \
                                   give it a token in its \"headers\" instead";
                        return Err(Trouble::Refused(why.to_owned()));
                    }
                    Registration::Refused(why) => {
                        return Err(Trouble::NeedsClientId {
                            why: format!("{why}: a client ID has to be entered"),
                            issuer: found.provider.issuer.clone(),
                        });
                    }
                    Registration::Unsafe(why) => return Err(Trouble::Refused(why)),
                    Registration::Later(why) => return Err(Trouble::Later(why)),
                }
            }
        };
        let mut request = Request::new(found, client, wanted, (random()?, random()?));
        request.lacked = lacked;
        let url = request.page(&me.settings)?;
        let door = account.door(state, &self.server).await?;
        door.allowed().check(&url).map_err(|why| Trouble::Refused(format!("its sign-in page {why}")))?;
        // Stored now with its redirect address, so that an unfinished page costs no second registration. Existing
        // tokens are still renewed by the client they were issued to, until they are replaced.
        if state.record.as_ref().is_none_or(|record| record.tokens.is_none()) {
            let mut record = Record::new(&self.server, &request.found, request.client.clone());
            record.asked.clone_from(&request.scopes);
            state.record = Some(record);
        }
        let until_ms = account.shared.clock.now_ms() + u64::try_from(WAITING.as_millis()).unwrap_or(u64::MAX);
        let host = url.host_str().unwrap_or_default().to_owned();
        let page = SignInPage { url: url.to_string(), host, redirect, until_ms, not_opened: None };
        Ok((request, listening, page))
    }

    /// Listens at the registered port, if there is one.
    async fn listen(&self, callbacks: &dyn Callbacks, before: Option<&Client>) -> Result<Listening, Trouble> {
        let registered = before.filter(|client| client.registered).and_then(|client| {
            let redirect = Url::parse(&client.redirect).ok()?;
            (redirect.host_str() == Some(self.settings.redirect.as_str())).then_some(redirect.port()?)
        });
        // A user-registered app has one redirect address.
        let usual = self.settings.client_id.as_ref().map_or(0, |_| USUAL_PORT);
        let port = self.settings.port.or(registered).unwrap_or(usual);
        let tracker = || self.account.shared.tracker.clone();
        match callbacks.listen(self.settings.redirect, port, tracker()).await {
            Ok(listening) => Ok(listening),
            // Register again with another one.
            Err(_) if self.settings.port.is_none() && port != 0 => {
                let any = callbacks.listen(self.settings.redirect, 0, tracker()).await;
                any.map_err(|error| {
                    Trouble::Later(format!("no port is free for the browser to come back to: {error}"))
                })
            }
            Err(error) => Err(Trouble::Refused(format!(
                "port {port}, to which the browser comes back, cannot be used: {error}; stop the program \
                 that uses it"
            ))),
        }
    }

    /// Waits for the browser, or for a pasted address.
    async fn wait(
        &self,
        requests: &Requests,
        mut listening: Listening,
        mut pasted: mpsc::Receiver<Arrival>,
        cancel: &CancellationToken,
    ) -> (Result<(), Trouble>, Option<oneshot::Sender<Shown>>) {
        let deadline = tokio::time::Instant::now() + WAITING;
        loop {
            let arrival = tokio::select! {
                Some(arrival) = listening.arrivals.recv() => arrival,
                Some(arrival) = pasted.recv() => arrival,
                () = cancel.cancelled() => return (Err(Trouble::Cancelled), None),
                () = tokio::time::sleep_until(deadline) => return (Err(Trouble::TimedOut), None),
            };
            let opened: Vec<Request> = requests.lock().iter().cloned().collect();
            let judged = opened.into_iter().find_map(|request| match request.judge(&arrival.query) {
                Callback::Foreign => None,
                Callback::Ended(trouble) => Some(Err(trouble)),
                Callback::Code(code) => Some(Ok((request, code))),
            });
            let outcome = match judged {
                None => {
                    let _ = arrival.show.send(Shown::Foreign);
                    continue;
                }
                Some(Err(trouble)) => Err(trouble),
                Some(Ok((request, code))) => self.redeem(&request, &code).await,
            };
            return (outcome, Some(arrival.show));
        }
    }

    async fn redeem(&self, request: &Request, code: &crate::secrets::Secret) -> Result<(), Trouble> {
        let account = &self.account;
        let mut state = account.state.lock().await;
        let door = account.door(&mut state, &self.server).await?;
        let mut form = request.exchange(code);
        let proof = request.client.prove(&mut form);
        let endpoint = &request.found.provider.token;
        let mut answer = door.tokens(endpoint, &form, proof.as_ref()).await;
        // A code that was not processed can be presented once more.
        if let Err(Unanswered::Busy(_, told)) = &answer {
            let pause = Duration::from_secs(told.unwrap_or(1)).min(BUSY);
            tokio::time::sleep(pause).await;
            answer = door.tokens(endpoint, &form, proof.as_ref()).await;
        }
        match answer {
            Ok(tokens) => {
                let granted = tokens.scopes.clone();
                let mut record = Record::new(&self.server, &request.found, request.client.clone());
                record.asked.clone_from(&request.scopes);
                state.record = Some(record);
                account.take(&mut state, tokens, false).await;
                let not_granted = |scope: &&String| {
                    granted.as_ref().is_some_and(|granted| !granted.contains(scope))
                        && *scope != "offline_access"
                };
                let refused: Vec<String> = request.scopes.iter().filter(not_granted).cloned().collect();
                let lacked = request.lacked.clone();
                account.shared.note_answer(&account.server, ScopeAnswer { refused, lacked });
                Ok(())
            }
            Err(Unanswered::Client(why)) => {
                if request.client.registered {
                    state.record = None;
                }
                Err(Trouble::Refused(why))
            }
            Err(Unanswered::Grant(why) | Unanswered::Refused(why)) => Err(Trouble::Refused(why)),
            Err(Unanswered::Busy(why, _) | Unanswered::Lost(why) | Unanswered::Unsent(why)) => {
                Err(Trouble::Later(why))
            }
        }
    }

    /// Shows the result. On failure, the previous state is restored, unless another sign-in has begun.
    fn settle(&self, outcome: &Result<(), Trouble>, own: &Requests, before: Option<SignInState>) {
        let account = &self.account;
        let Err(trouble) = outcome else { return };
        if account.waiting().is_some_and(|signing| !Arc::ptr_eq(&signing.requests, own)) {
            return;
        }
        let as_before = match before {
            Some(SignInState::SigningIn { .. }) | None => SignInState::SignedOut,
            Some(before) => before,
        };
        let after = match (as_before, trouble) {
            (
                SignInState::SignedOut | SignInState::NeedsSignIn { .. },
                Trouble::Refused(why) | Trouble::Later(why),
            ) => SignInState::NeedsSignIn { reason: why.clone() },
            (before, _) => before,
        };
        account.show(after, |_| {});
    }

    /// Revokes the tokens at the provider, and deletes them here.
    pub async fn sign_out(&self, keep_client: bool) -> Left {
        self.account.leave(keep_client, self.settings.client_secret.as_deref()).await
    }
}

impl Account {
    fn waiting(&self) -> Option<Signing> {
        self.signing.lock().clone().filter(|signing| signing.end.borrow().is_none())
    }

    /// Waits for the end of the latest sign-in; `None` if there was none.
    pub async fn outcome(&self) -> Option<Result<(), Trouble>> {
        let mut end = self.signing.lock().clone()?.end;
        match end.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone(),
            Err(_) => Some(Err(Trouble::Cancelled)),
        }
    }

    /// Handles an address that a person pasted.
    ///
    /// # Errors
    /// Why it cannot be used. The sign-in continues then.
    pub async fn paste(&self, text: &str) -> Result<(), String> {
        let Some(signing) = self.waiting() else { return Err("no sign-in is under way".to_owned()) };
        let query = pasted(text).filter(|_| is_of(&signing.page.redirect, text)).ok_or_else(|| {
            format!(
                "that is not the address the browser was sent to; it begins with {}",
                signing.page.redirect
            )
        })?;
        let (show, shown) = oneshot::channel();
        if signing.paste.send(Arrival { query, show }).await.is_err() {
            return Err("no sign-in is under way".to_owned());
        }
        match shown.await {
            Ok(Shown::Foreign) => Err("that address does not belong to this sign-in".to_owned()),
            Ok(Shown::Done(_) | Shown::Failed(..)) | Err(_) => Ok(()),
        }
    }

    /// Cancels the running sign-in.
    pub fn cancel(&self) {
        if let Some(signing) = &*self.signing.lock() {
            signing.cancel.cancel();
        }
    }

    /// Revokes the tokens at the provider if possible, and deletes them here in any case.
    pub(super) async fn leave(self: &Arc<Self>, keep_client: bool, secret: Option<&str>) -> Left {
        self.cancel();
        let mut state = self.state.lock().await;
        let kept = match state.record.take() {
            Some(record) => Some(record),
            None => {
                let item = self.shared.secrets.get_item(&self.shared.item(&self.server)).await;
                item.ok().flatten().as_ref().and_then(Record::read)
            }
        };
        let Some(mut record) = kept else {
            self.show(SignInState::SignedOut, |_| {});
            return Left { was_in: false, revoked: None };
        };
        if !record.client.registered {
            record.client.secret = secret.map(crate::secrets::Secret::new);
        }
        let revoked = self.revoke(&mut state, &record).await;
        let was_in = record.tokens.is_some();
        if keep_client {
            state.record = Some(Record { tokens: None, asked: vec![], ..record });
        } else if let Some((url, token)) = &record.client.management
            && let Ok(url) = Url::parse(url)
            && let Ok(server) = Url::parse(&record.server)
            && let Ok(door) = self.door(&mut state, &server).await
        {
            door.deregister(&url, token).await;
        }
        if let Err(error) = self.store(&state).await {
            tracing::warn!(server = %self.server, %error, "a sign-in cannot be deleted from the keychain");
        }
        self.publish(&state, false);
        self.shared.note_answer(&self.server, ScopeAnswer::default());
        self.show(SignInState::SignedOut, |view| {
            view.account = None;
            view.scopes.clear();
        });
        Left { was_in, revoked }
    }

    async fn revoke(&self, state: &mut State, record: &Record) -> Option<bool> {
        let endpoint = record.revocation_endpoint.as_ref()?;
        let tokens = record.tokens.as_ref()?;
        let server = Url::parse(&record.server).ok()?;
        let door = self.door(state, &server).await.ok()?;
        let mut all = true;
        let both = [("refresh_token", &tokens.refresh), ("access_token", &tokens.access)];
        for (hint, token) in both.into_iter().filter_map(|(hint, token)| Some((hint, token.as_ref()?))) {
            let mut form = vec![("token", token.reveal().to_owned()), ("token_type_hint", hint.to_owned())];
            let proof = record.client.prove(&mut form);
            all &= door.revoke(endpoint, &form, proof.as_ref()).await;
        }
        Some(all)
    }
}
/// Is a pasted address the one that the browser is sent to? The query alone may be pasted too.
fn is_of(redirect: &str, pasted: &str) -> bool {
    let place = |address: &str| {
        let address = address.trim().trim_matches(['"', '\'']).split(['?', '#']).next().unwrap_or_default();
        address.replacen("://localhost", "://127.0.0.1", 1).trim_end_matches('/').to_owned()
    };
    let is_address = place(pasted).starts_with("http");
    !is_address || place(pasted) == place(redirect)
}
