//! The sign-in of one server: owns its tokens, renews them before they expire, and says what is missing.
//!
//! Theory of operation: a request takes the token from a watch, without a lock. Everything that changes the tokens holds
//! [`Account::state`], so one renewal serves everybody who waits. It runs in a task of its own: a caller that goes away
//! must not take a refresh token with it that is already spent. The next refresh token is stored before the access token
//! that came with it is used.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;

use tokio::sync::watch;
use url::Url;

use super::{
    Trouble,
    accounts::{Accounts, Shared},
    challenge::Challenge,
    client,
    discovery::{Discovered, Discovery, Next},
    documents::Provider,
    guarded_http::GuardedHttp,
    record::{Kept, Record, address_of},
    sign_in::Signing,
    token_response::{self, Tokens, Unanswered},
};
use crate::{
    model::{
        Code, ServerName,
        oauth::{Grant, OAuth, SignInState, SignInView},
    },
    secrets::{Secret, SecretError},
    upstream::log::ServerLog,
};

/// Maximum number of requests of a discovery, and its total timeout.
const READS: usize = 20;
const DISCOVERY: Duration = Duration::from_secs(30);
/// Pauses between renewal attempts after consecutive failures, in seconds. Only calls renew, and all of them share one
/// attempt, so recovery is noticed quickly.
const BACK_OFF: [u64; 3] = [1, 2, 5];
/// The pause after the provider refused a renewal for reasons other than the token.
const REFUSED_MS: u64 = 5_000;
/// The longest pause that a call waits for.
const PATIENCE_MS: u64 = 3_000;

/// An access token for requests.
#[derive(Debug, Clone)]
pub struct Bearer {
    pub(super) token: Secret,
    /// When to renew it and when it expires, in milliseconds since the Unix epoch.
    times: Option<(u64, u64)>,
    /// Obtained by a renewal. If the server rejects it immediately, renewing again does not help.
    renewed: bool,
    /// The server has accepted it.
    proved: Arc<AtomicBool>,
}

impl Bearer {
    /// The value of the header `Authorization`.
    pub fn header(&self) -> String {
        format!("Bearer {}", self.token.reveal())
    }

    /// Records that the server accepted it; true the first time.
    fn prove(&self) -> bool {
        !self.proved.swap(true, Ordering::Relaxed)
    }

    fn is(&self, other: &Bearer) -> bool {
        self.token == other.token
    }
}

/// What a request lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The kind.
    pub code: Code,
    /// The message, in one sentence.
    pub message: String,
}

impl Need {
    fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// The sign-in of one server: its account, and its present settings.
#[derive(Debug, Clone)]
pub struct Credential {
    /// The account.
    pub account: Arc<Account>,
    /// The entry's `oauth` block, with references resolved.
    pub settings: OAuth,
    /// The server's address.
    pub server: Url,
}

/// The sign-in of one server.
#[derive(Debug)]
pub struct Account {
    pub(super) server: ServerName,
    pub(super) shared: Arc<Shared>,
    bearer: watch::Sender<Option<Bearer>>,
    pub(super) state: tokio::sync::Mutex<State>,
    challenge: Mutex<Option<Challenge>>,
    pub(super) signing: Mutex<Option<Signing>>,
    renewing: AtomicBool,
    /// The server's log, which must not contain tokens.
    log: Mutex<Option<ServerLog>>,
}

/// State that is changed under a lock.
#[derive(Debug, Default)]
pub(super) struct State {
    loaded: bool,
    pub(super) record: Option<Record>,
    door: Option<GuardedHttp>,
    failures: usize,
    pause: Option<Pause>,
}

/// No requests to the provider until this ends.
#[derive(Debug, Clone, Copy)]
struct Pause {
    since_ms: u64,
    ms: u64,
}

impl Pause {
    /// The remaining pause in milliseconds. If the clock was set back before its start, it is over.
    fn left(self, now_ms: u64) -> u64 {
        now_ms.checked_sub(self.since_ms).map_or(0, |passed| self.ms.saturating_sub(passed))
    }

    fn ends_ms(self) -> u64 {
        self.since_ms.saturating_add(self.ms)
    }
}

impl Account {
    pub(super) fn new(server: ServerName, shared: Arc<Shared>) -> Self {
        Self {
            server,
            shared,
            bearer: watch::Sender::new(None),
            state: tokio::sync::Mutex::default(),
            challenge: Mutex::default(),
            signing: Mutex::default(),
            renewing: AtomicBool::new(false),
            log: Mutex::default(),
        }
    }

    /// Its state; `None` for a server that never required a sign-in.
    pub fn view(&self) -> Option<SignInView> {
        self.shared.view(&self.server)
    }

    /// Resolves when the state matches.
    pub async fn wait_for(&self, wanted: impl Fn(&SignInState) -> bool) {
        let mut changes = self.shared.made.subscribe();
        while !self.view().is_some_and(|view| wanted(&view.state)) {
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    pub(super) fn show(&self, state: SignInState, with: impl FnOnce(&mut SignInView)) {
        self.shared.show(&self.server, state, with);
    }

    /// Is there a token to send?
    pub(super) fn is_in(&self) -> bool {
        self.bearer.borrow().is_some()
    }

    pub(super) fn last_challenge(&self) -> Option<Challenge> {
        self.challenge.lock().clone()
    }

    fn note(&self, challenge: Option<Challenge>) {
        // Keep the more informative one.
        if let Some(challenge) = challenge.filter(|challenge| *challenge != Challenge::default()) {
            *self.challenge.lock() = Some(challenge);
        }
    }

    /// Reads the keychain once, and uses what is stored for this address.
    pub(super) async fn load(&self, state: &mut State, server: &Url) -> Result<(), SecretError> {
        if state.loaded && state.record.as_ref().is_none_or(|record| record.server == address_of(server)) {
            return Ok(());
        }
        let item = self.shared.secrets.get_item(&self.shared.item(&self.server)).await?;
        let record = item.as_ref().and_then(Record::read);
        // Tokens for another address are not used.
        state.record = record.filter(|record| record.server == address_of(server));
        state.loaded = true;
        self.publish(state, false);
        Ok(())
    }

    /// Writes the record, or deletes it.
    pub(super) async fn store(&self, state: &State) -> Result<(), SecretError> {
        let item = self.shared.item(&self.server);
        match state.record.as_ref().and_then(Record::to_item) {
            Some(value) => self.shared.secrets.set_item(&item, value).await,
            None => self.shared.secrets.remove_item(&item).await,
        }
    }

    /// Makes the record's token available to requests.
    pub(super) fn publish(&self, state: &State, renewed: bool) {
        let tokens = state.record.as_ref().and_then(|record| record.tokens.as_ref());
        if let Some((tokens, log)) = tokens.zip(self.log.lock().clone()) {
            [&tokens.access, &tokens.refresh]
                .into_iter()
                .flatten()
                .for_each(|token| log.redact_token(token.clone()));
        }
        let bearer = tokens.and_then(|tokens| {
            let token = tokens.access.clone()?;
            Some(Bearer { token, times: tokens.times, renewed, proved: Arc::default() })
        });
        self.bearer.send_replace(bearer);
    }

    /// Stores new tokens, and only then makes them available to requests.
    pub(super) async fn take(&self, state: &mut State, tokens: Tokens, renewed: bool) {
        let Some(record) = &mut state.record else { return };
        state.loaded = true;
        let before = record.tokens.take();
        let scopes = match (&tokens.scopes, &before) {
            (Some(granted), _) => granted.clone(),
            (None, Some(before)) if renewed => before.scopes.clone(),
            (None, _) => record.asked.clone(),
        };
        // Some responses contain no new refresh token: keep the old one.
        let refresh = tokens.refresh.or_else(|| before.filter(|_| renewed).and_then(|before| before.refresh));
        let times = token_response::times(self.shared.clock.now_ms(), tokens.expires_in);
        let renews = refresh.is_some();
        record.tokens = Some(Kept { access: Some(tokens.access), refresh, times, scopes: scopes.clone() });
        let provider = host_of(&record.issuer);
        (state.failures, state.pause) = (0, None);
        if let Err(error) = self.store(state).await {
            tracing::warn!(server = %self.server, %error, "the sign-in cannot be stored and ends with this hub");
            self.shared.unstored(&self.server, &error);
        }
        self.publish(state, renewed);
        let ends_ms = times.map(|(_, ends)| ends);
        self.show(SignInState::SignedIn { ends_ms, renews }, |view| {
            view.provider = Some(provider);
            view.scopes = scopes;
            if let Some(account) = tokens.account {
                view.account = Some(account);
            }
        });
        // So that after a crash, the sign-in is known.
        self.shared.saved().await;
    }

    /// Ends the sign-in.
    async fn lose(&self, state: &mut State, reason: String, keep_client: bool) {
        if keep_client && let Some(record) = &mut state.record {
            record.tokens = None;
        } else {
            state.record = None;
        }
        if let Err(error) = self.store(state).await {
            tracing::warn!(server = %self.server, %error, "a sign-in that is over cannot be deleted");
        }
        self.publish(state, false);
        self.show(SignInState::NeedsSignIn { reason }, |_| {});
    }

    pub(super) async fn door(&self, state: &mut State, server: &Url) -> Result<GuardedHttp, Trouble> {
        if let Some(door) = &state.door {
            return Ok(door.clone());
        }
        let door = GuardedHttp::of(server).await.map_err(Trouble::Later)?;
        state.door = Some(door.clone());
        Ok(door)
    }

    pub(super) fn forget_door(state: &mut State) {
        state.door = None;
    }

    fn needs_sign_in(&self) -> Need {
        let server = &self.server;
        let why = match self.view().map(|view| view.state) {
            Some(SignInState::NeedsSignIn { reason }) if !reason.is_empty() => format!(" ({reason})"),
            _ => String::new(),
        };
        Need::new(Code::NeedsSignIn, format!("\"{server}\" needs a sign-in{why}"))
    }
}

impl Credential {
    /// The sign-in of a server. `None` if it sends its own `Authorization` header, or disables sign-in.
    pub fn of(
        accounts: &Accounts,
        name: &ServerName,
        url: &str,
        headers: &BTreeMap<String, String>,
        settings: OAuth,
        log: &ServerLog,
    ) -> Option<Self> {
        let has_own = headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        let server = Url::parse(url).ok().filter(|_| !settings.never && !has_own)?;
        let account = accounts.of(name);
        *account.log.lock() = Some(log.clone());
        Some(Self { account, settings, server })
    }

    /// The token for a request; none if nobody has signed in.
    ///
    /// # Errors
    /// What is missing, if there is a sign-in that cannot be used.
    pub async fn bearer(&self) -> Result<Option<Bearer>, Need> {
        let current = self.account.bearer.borrow().clone();
        let now = self.account.shared.clock.now_ms();
        match current {
            Some(bearer) => match bearer.times {
                Some((_, ends)) if now >= ends => self.with_lock(WantedToken::Renewed(Some(bearer))).await,
                Some((due, _)) if now >= due => {
                    self.renew_meanwhile(bearer.clone());
                    Ok(Some(bearer))
                }
                _ => Ok(Some(bearer)),
            },
            None if self.account.shared.is_signed_in(&self.account.server) => {
                self.with_lock(WantedToken::Current).await
            }
            None => Ok(None),
        }
    }

    /// Handles a rejected request. Returns the token to retry with.
    ///
    /// # Errors
    /// What is missing.
    pub async fn refused(&self, used: Option<Bearer>, challenge: Option<Challenge>) -> Result<Bearer, Need> {
        self.account.note(challenge);
        match self.with_lock(WantedToken::Renewed(used)).await? {
            Some(bearer) => Ok(bearer),
            None => Err(self.needs()),
        }
    }

    /// Handles a rejected retry.
    pub fn refused_again(&self) -> Need {
        let reason = "the server refuses the renewed sign-in".to_owned();
        self.account.show(SignInState::NeedsSignIn { reason }, |_| {});
        self.account.needs_sign_in()
    }

    /// Handles a response that requires more scopes. A sign-in that was made to get them, and got them, is not asked
    /// for again: the specification wants a limit, and the same sign-in would end in the same refusal.
    pub fn lacks_rights(&self, challenge: Challenge, wanted_by: &str) -> Need {
        let granted = self.account.view().map(|view| view.scopes).unwrap_or_default();
        let missing: Vec<String> =
            challenge.scopes.iter().filter(|scope| !granted.contains(scope)).cloned().collect();
        let server = &self.account.server;
        let answer = self.account.shared.last_answer(server);
        let was_for = |lacked: &Vec<String>| challenge.scopes.iter().all(|scope| lacked.contains(scope));
        if missing.is_empty() && answer.lacked.as_ref().is_some_and(was_for) {
            let rights = challenge.scopes.join(", ");
            let message =
                format!("\"{server}\" refuses this although the sign-in now has the rights: {rights}");
            return Need::new(Code::Http403, message);
        }
        let missing = if missing.is_empty() { challenge.scopes.clone() } else { missing };
        self.account.note(Some(challenge));
        let wanted_by = wanted_by.to_owned();
        let rights = missing.join(", ");
        let was_refused = missing.iter().any(|scope| answer.refused.contains(scope));
        self.account.show(SignInState::NeedsMoreRights { missing, wanted_by }, |_| {});
        let before =
            if was_refused { "; the provider did not grant them when it was asked last" } else { "" };
        Need::new(Code::NeedsMoreRights, format!("\"{server}\" needs more rights for this: {rights}{before}"))
    }

    /// Records that the server accepted this token, which clears an earlier rejection.
    pub fn taken(&self, bearer: &Bearer) {
        if !bearer.prove() {
            return;
        }
        if let Some(SignInState::NeedsSignIn { .. }) = self.account.view().map(|view| view.state)
            && self.account.bearer.borrow().as_ref().is_some_and(|current| current.is(bearer))
        {
            let ends_ms = bearer.times.map(|(_, ends)| ends);
            self.account.show(SignInState::SignedIn { ends_ms, renews: bearer.renewed }, |_| {});
        }
    }

    fn needs(&self) -> Need {
        match self.account.view().map(|view| view.state) {
            None => self.account.show(SignInState::SignedOut, |_| {}),
            // The keychain or the address has changed.
            Some(
                SignInState::SignedIn { .. }
                | SignInState::NeedsMoreRights { .. }
                | SignInState::RenewalDelayed { .. },
            ) => {
                let reason = "its tokens are not there any more".to_owned();
                self.account.show(SignInState::NeedsSignIn { reason }, |_| {});
            }
            Some(
                SignInState::SignedOut
                | SignInState::NeedsSignIn { .. }
                | SignInState::SigningIn { .. }
                | SignInState::NeedsClientId { .. },
            ) => {}
        }
        self.account.needs_sign_in()
    }

    /// Runs in a separate task, which continues if the caller goes away.
    async fn with_lock(&self, wanted: WantedToken) -> Result<Option<Bearer>, Need> {
        let credential = self.clone();
        let work = async move { credential.carry_out(wanted).await };
        match self.account.shared.tracker.spawn(work).await {
            Ok(done) => done,
            Err(error) => {
                Err(Need::new(Code::OauthRefresh, format!("the sign-in could not be renewed: {error}")))
            }
        }
    }

    fn renew_meanwhile(&self, due: Bearer) {
        if self.account.renewing.swap(true, Ordering::AcqRel) {
            return;
        }
        let credential = self.clone();
        self.account.shared.tracker.spawn(async move {
            // Callers that need it will get the error.
            let _ = credential.carry_out(WantedToken::Renewed(Some(due))).await;
            credential.account.renewing.store(false, Ordering::Release);
        });
    }

    async fn carry_out(&self, wanted: WantedToken) -> Result<Option<Bearer>, Need> {
        let account = &self.account;
        let mut state = account.state.lock().await;
        // If nobody ever signed in, a missing keychain does no harm.
        let kept = account.shared.is_signed_in(&account.server);
        if let Err(error) = account.load(&mut state, &self.server).await
            && kept
        {
            let code = error.code().unwrap_or(Code::OauthRefresh);
            let message = format!("the sign-in to \"{}\" cannot be read: {error}", account.server);
            return Err(Need::new(code, message));
        }
        let current = account.bearer.borrow().clone();
        let now = account.shared.clock.now_ms();
        match wanted {
            WantedToken::Current => {
                let is_over = |bearer: &Bearer| bearer.times.is_some_and(|(_, ends)| now >= ends);
                match &current {
                    Some(bearer) if !is_over(bearer) => return Ok(current),
                    _ => {}
                }
            }
            WantedToken::Renewed(used) => {
                // Another call renewed it in the meantime.
                if let Some(bearer) = &current
                    && used.as_ref().is_none_or(|used| !used.is(bearer))
                {
                    return Ok(current);
                }
                if let Some(bearer) = &current
                    && bearer.renewed
                    && !bearer.proved.load(Ordering::Relaxed)
                    && bearer.times.is_none_or(|(due, _)| now < due)
                {
                    return Err(self.refused_again());
                }
            }
        }
        if self.settings.grant == Grant::ClientCredentials {
            return self.as_machine(&mut state).await.map(Some);
        }
        let has_refresh =
            |record: &Record| record.tokens.as_ref().is_some_and(|tokens| tokens.refresh.is_some());
        if !state.record.as_ref().is_some_and(has_refresh) {
            if state.record.as_ref().is_some_and(|record| record.tokens.is_some()) {
                account
                    .lose(&mut state, "it ended, and the provider gave no way to renew it".to_owned(), true)
                    .await;
            }
            return Ok(None);
        }
        self.renew(&mut state).await.map(Some)
    }

    /// The record's client, with the secret that the user stores.
    fn client_of(&self, record: &Record) -> client::Client {
        let mut client = record.client.clone();
        if !client.registered {
            client.secret = self.settings.client_secret.as_deref().map(Secret::new);
        }
        client
    }

    async fn renew(&self, state: &mut State) -> Result<Bearer, Need> {
        let account = &self.account;
        let delayed = |reason: &str| {
            let message = format!("the sign-in to \"{}\" could not be renewed yet: {reason}", account.server);
            Need::new(Code::OauthRefresh, message)
        };
        let now_ms = || account.shared.clock.now_ms();
        let wait = state.pause.map_or(0, |pause| pause.left(now_ms()));
        if wait > PATIENCE_MS {
            return Err(delayed(&format!("it is tried again in {} s", wait.div_ceil(1000))));
        }
        tokio::time::sleep(Duration::from_millis(wait)).await;
        let (mut repeated, mut waited) = (false, false);
        loop {
            let door =
                account.door(state, &self.server).await.map_err(|error| delayed(&error.to_string()))?;
            let Some(record) = &state.record else { return Err(account.needs_sign_in()) };
            let Some(refresh) = record.tokens.as_ref().and_then(|tokens| tokens.refresh.clone()) else {
                return Err(account.needs_sign_in());
            };
            let client = self.client_of(record);
            let mut form = vec![
                ("grant_type", "refresh_token".to_owned()),
                ("refresh_token", refresh.reveal().to_owned()),
            ];
            form.extend(record.resource.clone().map(|resource| ("resource", resource)));
            let proof = client.prove(&mut form);
            match door.tokens(&record.token_endpoint.clone(), &form, proof.as_ref()).await {
                Ok(tokens) => {
                    account.take(state, tokens, true).await;
                    let bearer = account.bearer.borrow().clone();
                    return bearer.ok_or_else(|| account.needs_sign_in());
                }
                // A server with a grace period repeats its response.
                Err(Unanswered::Lost(_)) if !repeated => repeated = true,
                Err(unanswered @ (Unanswered::Lost(_) | Unanswered::Busy(..) | Unanswered::Unsent(_))) => {
                    let told = match &unanswered {
                        Unanswered::Busy(_, told) => *told,
                        _ => None,
                    };
                    let pause =
                        told.unwrap_or(BACK_OFF[state.failures.min(BACK_OFF.len() - 1)]).min(3600) * 1000;
                    state.failures += 1;
                    let asked_again = Pause { since_ms: now_ms(), ms: pause };
                    state.pause = Some(asked_again);
                    if pause <= PATIENCE_MS && !waited {
                        waited = true;
                        tokio::time::sleep(Duration::from_millis(pause)).await;
                        continue;
                    }
                    let reason = unanswered.message().to_owned();
                    let need = delayed(&reason);
                    let retry_at_ms = asked_again.ends_ms();
                    account.show(SignInState::RenewalDelayed { reason, retry_at_ms }, |_| {});
                    return Err(need);
                }
                Err(Unanswered::Grant(why)) => {
                    account.lose(state, why, true).await;
                    return Err(account.needs_sign_in());
                }
                Err(Unanswered::Client(why)) => {
                    let registered = client.registered;
                    let why =
                        if registered { why } else { format!("{why}; check the entered app and its secret") };
                    account.lose(state, why, !registered).await;
                    return Err(account.needs_sign_in());
                }
                Err(Unanswered::Refused(why)) => {
                    state.pause = Some(Pause { since_ms: now_ms(), ms: REFUSED_MS });
                    return Err(delayed(&why));
                }
            }
        }
    }

    /// Client credentials (`io.modelcontextprotocol/oauth-client-credentials`).
    async fn as_machine(&self, state: &mut State) -> Result<Bearer, Need> {
        let account = &self.account;
        let need = |trouble: Trouble| {
            let code = match &trouble {
                Trouble::NeedsClientId { .. } => Code::NeedsClientId,
                Trouble::Later(_) => Code::OauthRefresh,
                _ => Code::OauthDiscovery,
            };
            Need::new(code, format!("\"{}\" cannot sign in: {trouble}", account.server))
        };
        let found = self.discover(state).await.map_err(need)?;
        let client = client::machine(&self.settings, &found.provider).map_err(need)?;
        let door = account.door(state, &self.server).await.map_err(need)?;
        let mut form = vec![("grant_type", "client_credentials".to_owned())];
        form.extend(found.resource.clone().map(|resource| ("resource", resource)));
        if !found.scopes.is_empty() {
            form.push(("scope", found.scopes.join(" ")));
        }
        let proof = client.prove(&mut form);
        let tokens = door.tokens(&found.provider.token, &form, proof.as_ref()).await;
        let tokens = tokens.map_err(|unanswered| need(Trouble::Refused(unanswered.message().to_owned())))?;
        let mut record = Record::new(&self.server, &found, client);
        record.asked.clone_from(&found.scopes);
        state.record = Some(record);
        account.take(state, Tokens { refresh: None, ..tokens }, true).await;
        let bearer = account.bearer.borrow().clone();
        bearer.ok_or_else(|| account.needs_sign_in())
    }

    /// Discovers where to sign in.
    pub(super) async fn discover(&self, state: &mut State) -> Result<Discovered, Trouble> {
        let account = &self.account;
        Account::forget_door(state);
        let door = account.door(state, &self.server).await?;
        let challenge = match account.last_challenge() {
            Some(challenge) => Some(challenge),
            None => door.challenge(&self.server).await.map_err(Trouble::Later)?,
        };
        let mut discovery = Discovery::new(&self.server, challenge.as_ref(), &self.settings, door.allowed());
        let reading = async {
            let mut next = discovery.begin();
            for _ in 0..READS {
                match next {
                    Next::Read(url) => next = discovery.read(door.read(&url).await),
                    Next::Done(found) => return Ok(*found),
                    Next::Ended(trouble) => return Err(trouble),
                }
            }
            Err(Trouble::Refused(
                "too many documents have to be read to find out where to sign in".to_owned(),
            ))
        };
        let found = match tokio::time::timeout(DISCOVERY, reading).await {
            Ok(found) => found?,
            Err(_) => return Err(Trouble::Later("it took too long to find out where to sign in".to_owned())),
        };
        // A server without challenge and metadata does not support sign-in.
        if challenge.is_none() && found.provider == Provider::by_default_paths(&self.server) {
            return Err(Trouble::Refused("it asks for no sign-in".to_owned()));
        }
        Ok(found)
    }
}

/// The requested token.
#[derive(Debug)]
enum WantedToken {
    /// The present token, or a new one if it has expired.
    Current,
    /// A token other than this.
    Renewed(Option<Bearer>),
}

/// The host of an issuer, for display.
pub(super) fn host_of(issuer: &str) -> String {
    let url = Url::parse(issuer).ok();
    url.and_then(|url| url.host_str().map(ToOwned::to_owned)).unwrap_or_else(|| super::address::shown(issuer))
}

#[cfg(test)]
mod tests {
    use tokio_util::task::TaskTracker;

    use super::*;
    use crate::{
        secrets::Secrets,
        upstream::oauth::accounts::{Accounts, ScopeAnswer},
    };

    const HELD: SignInState = SignInState::SignedIn { ends_ms: None, renews: true };

    fn challenge(scope: &str) -> Challenge {
        let scopes = scope.split_whitespace().map(ToOwned::to_owned).collect();
        Challenge { scopes, error: Some("insufficient_scope".to_owned()), ..Challenge::default() }
    }

    #[tokio::test]
    async fn a_sign_in_that_got_the_rights_a_call_lacked_is_not_asked_for_once_more() {
        let dir = tempfile::tempdir().unwrap();
        let (accounts, _) = Accounts::open(dir.path(), Secrets::open(dir.path()), TaskTracker::new());
        let server: ServerName = "files".parse().unwrap();
        let credential = Credential {
            account: accounts.of(&server),
            settings: OAuth::default(),
            server: Url::parse("https://files.example/mcp").unwrap(),
        };
        let signed_in = |scopes: &[&str], answer: ScopeAnswer| {
            let scopes: Vec<String> = scopes.iter().map(|&scope| scope.to_owned()).collect();
            credential.account.show(HELD, |view| view.scopes = scopes);
            credential.account.shared.note_answer(&server, answer);
        };
        let state = || credential.account.view().map(|view| view.state);

        signed_in(&["read"], ScopeAnswer::default());
        assert_eq!(credential.lacks_rights(challenge("read"), "get").code, Code::NeedsMoreRights);
        signed_in(&["read"], ScopeAnswer::default());
        assert_eq!(credential.lacks_rights(challenge("write"), "put").code, Code::NeedsMoreRights);
        assert!(matches!(state(), Some(SignInState::NeedsMoreRights { .. })));

        let lacked = Some(vec!["write".to_owned()]);
        signed_in(&["read", "write"], ScopeAnswer { refused: vec![], lacked });
        let need = credential.lacks_rights(challenge("write"), "put");
        assert_eq!(need.code, Code::Http403);
        assert!(need.message.contains("although the sign-in now has the rights: write"), "{}", need.message);
        assert_eq!(state(), Some(HELD), "the sign-in itself is good");
        assert_eq!(credential.lacks_rights(challenge("admin"), "drop").code, Code::NeedsMoreRights);

        signed_in(&["read"], ScopeAnswer { refused: vec!["admin".to_owned()], lacked: None });
        let need = credential.lacks_rights(challenge("admin"), "drop");
        assert_eq!(need.code, Code::NeedsMoreRights);
        assert!(need.message.contains("did not grant them when it was asked last"), "{}", need.message);
    }
}
