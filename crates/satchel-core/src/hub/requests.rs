//! The table of requests: the handler of each, whether a page of the window may send it, and which protection it loosens. The
//! only entrance from the control channel, the tray and the window into the hub.

use std::{future::Future, pin::Pin, sync::atomic::Ordering};

use serde_json::Value;

use super::{
    Hub, USUAL_PORT, approved,
    authorize::{self, nothing},
    binding, by_hand, clients, credential, doctor, failures, icons, instances, launch, listings, offered,
    own_skills, packages, pause, permission, review, search, server_entry, settings, setup, sign_in, trying,
    undo, usage, view,
};
use crate::{
    intake::{
        entering, offers,
        taking::{self, Selection},
    },
    model::{
        Code, Origin, ServerName,
        audit::{AuditKind, AuditQuery},
        call_log::CallLogQuery,
        control::{Change, Connection, Refusal},
        ledger::{ActivityAsk, ReportAsk},
        listings::InstallAsk,
        oauth::SignInPage,
        request::*,
    },
    secrets::{Cleared, Secret},
    upstream::log,
};

/// Maximum number of log lines.
const LOG_LINES: usize = 10_000;

type Handling<'a, Answer> = Pin<Box<dyn Future<Output = Result<Answer, Refusal>> + Send + 'a>>;

/// A request that the hub handles.
pub trait Handle: Request {
    /// May pages of the window send it? The window displays foreign text and gets minimal rights: it cannot issue
    /// tokens, and calls tools under the rules for clients.
    const FOR_WINDOWS: bool;

    /// May this handle's caller make the request?
    ///
    /// # Errors
    /// A [`Refusal`] if it loosens a protection and does not come from a person.
    fn authorize(&self, hub: &Hub) -> Result<(), Refusal>;

    /// Executes the request.
    fn handle(self, hub: &Hub) -> Handling<'_, Self::Answer>;
}

/// One row of the table.
pub struct RequestMethod {
    name: &'static str,
    /// May pages of the window send it?
    pub for_windows: bool,
    answer: for<'a> fn(&'a Hub, &'a Value) -> Handling<'a, Value>,
}

impl RequestMethod {
    const fn of<R: Handle>() -> Self {
        Self { name: R::METHOD, for_windows: R::FOR_WINDOWS, answer: answer_message::<R> }
    }

    /// The method of a message.
    ///
    /// # Errors
    /// A [`Refusal`] if the message names no known method.
    pub fn of_message(message: &Value) -> Result<&'static Self, Refusal> {
        let name = method_of(message).ok_or_else(|| unreadable_request("it names no method under \"do\""))?;
        let known = METHODS.iter().find(|method| method.name == name);
        known.ok_or_else(|| unreadable_request(format!("there is no method \"{name}\"")))
    }
}

fn answer_message<'a, R: Handle>(hub: &'a Hub, message: &'a Value) -> Handling<'a, Value> {
    Box::pin(async move {
        let request = R::deserialize(message).map_err(unreadable_request)?;
        let answer = hub.answer(request).await?;
        serde_json::to_value(answer).map_err(|error| {
            Refusal::new(Code::Unreadable, format!("the answer cannot be written: {error}"), "")
        })
    })
}

fn unreadable_request(why: impl std::fmt::Display) -> Refusal {
    let message = format!("the request cannot be read: {why}; the other side may be of another version");
    Refusal::new(Code::BadRequest, message, "")
}

/// `Request { fields }, whether the window may send it, what it loosens, its handler`.
macro_rules! methods {
    ($($request:ident, $for_windows:expr, $loosening:path, |$hub:ident, $fields:pat_param| $handling:expr;)*) => {
        $(impl Handle for $request {
            const FOR_WINDOWS: bool = $for_windows;

            fn authorize(&self, hub: &Hub) -> Result<(), Refusal> {
                authorize::refuse_to_loosen(hub, $loosening(hub, self))
            }

            fn handle(self, $hub: &Hub) -> Handling<'_, Self::Answer> {
                let $fields = self;
                Box::pin(async move { $handling })
            }
        })*

        const METHODS: &[RequestMethod] = &[$(RequestMethod::of::<$request>()),*];

        #[cfg(test)]
        pub(super) fn describe(to: &mut super::typescript::Contract) {
            $(to.add::<$request>();)*
        }
    };
}

const WINDOWS: bool = true;
const CHANNEL: bool = false;

methods! {
    // Reading.
    GetStatus, WINDOWS, nothing, |hub, _| {
        usage::measure(hub).await;
        Ok(view::compose(hub))
    };
    ListTools, WINDOWS, nothing, |hub, ListTools { query, server, limit }| {
        if hub.inner.options.passive {
            launch::learn_all(hub).await;
        }
        search::tool_list(hub, &query, server.as_deref(), limit).await
    };
    GetEntry, WINDOWS, nothing, |hub, GetEntry { server }| entering::entry_to_edit(hub, &server).map(Entry);
    ListOwnSecrets, WINDOWS, nothing, |hub, ListOwnSecrets { server }| server_entry::own_secrets(hub, &server);
    GetPackage, WINDOWS, nothing, |hub, GetPackage { server }| packages::package(hub, &server).await;
    SearchListing, WINDOWS, nothing, |_hub, SearchListing { query }| Ok(crate::registry::find(&query));
    ListSecrets, WINDOWS, nothing, |hub, _| hub.stored_secrets().await;
    ReadLog, WINDOWS, nothing, |hub, ReadLog { server, lines }| hub.server_log(&server, lines);
    ReportAsk, WINDOWS, nothing, |hub, ask| hub.recorder().report(ask).await;
    ActivityAsk, WINDOWS, nothing, |hub, ask| hub.recorder().activity(ask).await;
    GetLastDay, WINDOWS, nothing, |hub, _| hub.recorder().last_day().await;
    GetServerDay, WINDOWS, nothing, |hub, GetServerDay { server }| hub.recorder().server_day(server).await;
    ListOffered, WINDOWS, nothing, |hub, ListOffered { server }| offered::list(hub, &server);
    RunDoctor, WINDOWS, nothing, |hub, RunDoctor { environment }| doctor::examine(hub, environment).await;
    CallLogQuery, CHANNEL, nothing, |hub, ask| hub.recorder().call_log(ask).await;
    AuditQuery, CHANNEL, nothing, |hub, ask| hub.recorder().audit_page(ask).await;
    VerifyAudit, CHANNEL, nothing, |hub, VerifyAudit { noted }| hub.recorder().verify_audit(noted).await;
    GetCall, WINDOWS, nothing, |hub, GetCall { id }| hub.recorder().call_detail(id).await;
    ListApprovals, WINDOWS, nothing, |hub, ListApprovals { server }| review::approvals(hub, server).await;
    ListAsks, WINDOWS, nothing, |hub, ListAsks { wait }| Ok(hub.inner.prompts.asks(wait).await);
    ReadingAsk, WINDOWS, nothing, |hub, ReadingAsk { id }| {
        hub.inner.prompts.reading_ask(id);
        done(())
    };
    GetDebugStatus, CHANNEL, nothing, |hub, _| hub.debug_status();
    ListClients, WINDOWS, nothing, |hub, ListClients { environment }| Ok(clients::list_clients(hub, &environment));
    FindServers, WINDOWS, nothing, |hub, FindServers { from, answers, environment }| {
        offers::find_servers(hub, &from, &answers, &environment)
    };
    ListAccounts, WINDOWS, nothing, |hub, _| Ok(sign_in::accounts(hub));

    // Registries. A server that a program installs is new and reviewed; one that it updates is held back (`apply`).
    SearchListed, WINDOWS, nothing, |hub, wanted| listings::search_listed(hub, wanted).await;
    GetListed, WINDOWS, nothing, |hub, wanted| listings::listed_server(hub, wanted).await;
    InstallAsk, WINDOWS, nothing, |hub, wanted| listings::plan(hub, wanted).await;
    InstallListed, WINDOWS, nothing, |hub, wanted| listings::install(hub, wanted).await;
    ListInstalled, WINDOWS, nothing, |hub, wanted| listings::list_installed(hub, wanted).await;
    KeepDeleted, WINDOWS, authorize::of_kept, |hub, KeepDeleted { server }| {
        listings::keep_deleted(hub, &server).await.and_then(done)
    };

    // Calls by scripts and commands.
    CallTool, CHANNEL, nothing, |hub, CallTool { tool_path, arguments }| by_hand::call_as_given(hub, &tool_path, &arguments).await;
    RunAgain, CHANNEL, nothing, |hub, RunAgain { id, arguments }| by_hand::run_again(hub, id, arguments).await;

    // Calls by a person in the window.
    GetTool, WINDOWS, nothing, |hub, GetTool { tool_path }| trying::tool(hub, &tool_path);
    TryTool, WINDOWS, nothing, |hub, wanted| trying::try_tool(hub, wanted).await;
    TryScript, WINDOWS, nothing, |hub, wanted| trying::try_script(hub, wanted).await;
    ReadOffered, WINDOWS, nothing, |hub, ReadOffered { server, what }| offered::read(hub, &server, what).await;
    // Whoever shows it keeps it from the window's own script.
    ReadPage, CHANNEL, nothing, |hub, ReadPage { server, uri }| offered::page(hub, &server, uri).await;
    FollowTry, WINDOWS, nothing, |hub, FollowTry { run, seen }| Ok(hub.calls().tries.follow(&run, seen).await);
    CancelTry, WINDOWS, nothing, |hub, CancelTry { run }| {
        hub.calls().tries.cancel(&run);
        done(())
    };

    // Lifecycle of servers.
    Restart, WINDOWS, nothing, |hub, Restart { server }| hub.restart(&server).await.and_then(done);
    Rest, WINDOWS, nothing, |hub, Rest { server }| hub.rest(&server).and_then(done);
    DismissFailure, WINDOWS, nothing, |hub, DismissFailure { server }| failures::dismiss_failure(hub, &server).and_then(done);
    Pause, WINDOWS, nothing, |hub, Pause { until_ms }| {
        pause::pause(hub, until_ms);
        done(())
    };
    Resume, WINDOWS, authorize::of_resume, |hub, _| {
        pause::resume(hub);
        done(())
    };
    ShowWindow, CHANNEL, nothing, |hub, ShowWindow { link, dry_run }| hub.inner.life.show_window(link, dry_run);
    Quit, CHANNEL, nothing, |hub, _| {
        hub.inner.life.quit().cancel();
        done(())
    };

    // A program's change to an accepted server is held back (`apply`).
    Change, WINDOWS, authorize::of_change, |hub, change| entering::change(hub, change).await.and_then(done);
    PinPackage, WINDOWS, nothing, |hub, PinPackage { server, version }| packages::pin(hub, &server, version).await;
    PutBack, WINDOWS, nothing, |hub, PutBack { server }| hub.put_back(&server).await.and_then(done);

    // Secrets are only written. Which server receives one is decided elsewhere.
    SetSecret, WINDOWS, nothing, |hub, SetSecret { name, value }| {
        credential::store_secret(hub, &name, Secret::new(value)).await?;
        done(())
    };
    EnterVariable, WINDOWS, nothing, |hub, EnterVariable { server, variable, value }| {
        entering::enter_variable(hub, &server, &variable, &value).await.and_then(done)
    };
    RemoveSecret, WINDOWS, nothing, |hub, RemoveSecret { name }| hub.remove_secret(&name).await.and_then(done);
    UseVault, WINDOWS, nothing, |hub, UseVault { passphrase }| hub.use_vault(passphrase).await.and_then(done);
    UnlockVault, WINDOWS, nothing, |hub, UnlockVault { passphrase }| hub.unlock_vault(passphrase).await.and_then(done);
    AnswerSecret, CHANNEL, nothing, |hub, AnswerSecret { id, value }| {
        credential::answer_secret(hub, id, Secret::new(value)).await?;
        done(())
    };

    // Decisions of people.
    Approve, WINDOWS, authorize::of_approval, |hub, Approve { server, items }| {
        review::decide(hub, &server, items, true).await.and_then(done)
    };
    KeepHeld, WINDOWS, nothing, |hub, KeepHeld { server, items }| review::decide(hub, &server, items, false).await.and_then(done);
    LookedAt, WINDOWS, authorize::of_look, |hub, LookedAt { server }| review::looked_at(hub, &server).await.and_then(done);
    ApproveSettings, WINDOWS, authorize::of_settings, |hub, ApproveSettings { fingerprint }| {
        settings::approve_settings(hub, &fingerprint).await.and_then(done)
    };
    AnswerAsk, WINDOWS, authorize::of_answer, |hub, AnswerAsk { id, answer }| {
        permission::answer_ask(hub, id, answer).await.and_then(done)
    };
    AnswerQuestion, WINDOWS, authorize::of_question, |hub, AnswerQuestion { id, answer }| {
        hub.inner.prompts.answer_question(id, answer).and_then(done)
    };
    // Records.
    DeleteHistory, WINDOWS, authorize::of_history, |hub, DeleteHistory { sums }| hub.recorder().forget(sums).await.and_then(done);
    ForgetHabits, WINDOWS, nothing, |hub, _| hub.recorder().forget_habits().await.and_then(done);

    // Access, for scripts and the bridge.
    MakeToken, CHANNEL, nothing, |hub, MakeToken { client, ephemeral }| {
        blocking(hub, move |hub| hub.connect(&client, ephemeral)).await
    };
    ListOwnSkills, WINDOWS, nothing, |hub, ListOwnSkills { environment }| {
        blocking(hub, move |hub| Ok(own_skills::list(hub, &environment))).await
    };
    GetSkill, WINDOWS, nothing, |hub, GetSkill { name, environment }| {
        blocking(hub, move |hub| own_skills::details(hub, &name, &environment)).await
    };
    AddSkill, WINDOWS, nothing, |hub, AddSkill { from, replace, environment }| {
        own_skills::add(hub, from, replace, environment).await
    };
    GiveSkill, WINDOWS, authorize::of_given_skill, |hub, GiveSkill { name, agents, fingerprint, environment }| {
        blocking(hub, move |hub| own_skills::give(hub, &name, &agents, &fingerprint, &environment)).await
    };
    TakeSkill, WINDOWS, nothing, |hub, TakeSkill { name, agents, leave, environment }| {
        blocking(hub, move |hub| own_skills::take(hub, &name, &agents, leave, &environment)).await
    };
    RemoveSkill, WINDOWS, nothing, |hub, RemoveSkill { name }| {
        blocking(hub, move |hub| own_skills::remove(hub, &name)).await.and_then(done)
    };
    ConnectClient, WINDOWS, nothing, |hub, connect| clients::connect_client(hub, &connect).await;
    DisconnectClient, WINDOWS, nothing, |hub, DisconnectClient { client, dry_run, environment }| {
        blocking(hub, move |hub| clients::disconnect_client(hub, &client, dry_run, &environment)).await
    };
    LeaveClients, CHANNEL, nothing, |hub, LeaveClients { dry_run, environment }| {
        // Reads the files of every client.
        blocking(hub, move |hub| Ok(clients::leave_clients(hub, dry_run, &environment))).await
    };
    Undo, WINDOWS, authorize::of_undo, |hub, Undo { environment }| undo::undo(hub, &environment).await;
    ImportServers, WINDOWS, nothing, |hub, ImportServers { from, names, answers, seen, take_out, dry_run, named, replace, off, environment }| {
        let wanted = Selection { from, names, answers, seen, take_out, dry_run, named, replace, off };
        taking::import_servers(hub, wanted, &environment).await
    };
    SetSurface, WINDOWS, nothing, |hub, SetSurface { client, surface }| {
        blocking(hub, move |hub| clients::set_surface(hub, &client, surface)).await.and_then(done)
    };
    SetHidden, WINDOWS, authorize::of_hidden, |hub, SetHidden { client, path, hidden }| {
        blocking(hub, move |hub| clients::set_hidden(hub, &client, path, hidden)).await.and_then(done)
    };

    BindClient, WINDOWS, binding::of_binding, |hub, BindClient { client, profile }| {
        blocking(hub, move |hub| binding::bind(hub, &client, profile)).await.and_then(done)
    };

    GetServerIcons, WINDOWS, nothing, |hub, _| Ok(icons::all(hub));

    // Setups. Another setup has no effect until a person has reviewed it.
    WriteSetup, WINDOWS, authorize::of_written_setup, |hub, WriteSetup { path, passphrase }| {
        setup::write(hub, path, passphrase.map(Secret::new)).await
    };
    ReadSetup, WINDOWS, nothing, |hub, ReadSetup { from }| setup::review(hub, &from).await;
    TakeSetup, WINDOWS, authorize::of_taken_setup, |hub, TakeSetup { from, parts, passphrase }| {
        setup::take(hub, &from, parts, passphrase.map(Secret::new)).await
    };
    KeepSetup, WINDOWS, authorize::of_kept_setup, |hub, KeepSetup { computer, parts }| {
        setup::keep(hub, &computer, parts).await.and_then(done)
    };
    FollowSetup, WINDOWS, authorize::of_followed_setup, |hub, FollowSetup { folder }| setup::follow(hub, folder).await;
    GetFollowedSetup, WINDOWS, nothing, |hub, _| setup::followed(hub).await;

    // Sign-ins, which a person consents to in the browser.
    BeginSignIn, WINDOWS, nothing, |hub, BeginSignIn { server, again }| sign_in::begin(hub, &server, again).await;
    WaitForSignIn, WINDOWS, nothing, |hub, WaitForSignIn { server }| sign_in::wait(hub, &server).await;
    PasteSignIn, WINDOWS, nothing, |hub, PasteSignIn { server, text }| {
        sign_in::paste(hub, &server, &text).await.and_then(done)
    };
    CancelSignIn, WINDOWS, nothing, |hub, CancelSignIn { server }| sign_in::cancel(hub, &server).and_then(done);
    SignOut, WINDOWS, nothing, |hub, SignOut { server, keep_registration }| {
        sign_in::sign_out(hub, &server, keep_registration).await
    };
    EnterClient, WINDOWS, nothing, |hub, EnterClient { server, client_id, client_secret }| {
        sign_in::enter_client(hub, &server, &client_id, client_secret).await.and_then(done)
    };
}

fn done((): ()) -> Result<Done, Refusal> {
    Ok(Done {})
}

/// Runs a handler that waits for a disk on a thread that no call needs.
async fn blocking<T: Send + 'static>(
    hub: &Hub,
    handle: impl FnOnce(&Hub) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let owned = hub.clone();
    hub.inner.life.blocking(move || handle(&owned)).await?
}

impl Hub {
    /// Handles a request of this origin.
    ///
    /// # Errors
    /// A [`Refusal`] with a stable code, a message and an action.
    pub async fn request<R: Handle>(&self, request: R, origin: &Origin) -> Result<R::Answer, Refusal> {
        self.on_record(origin, async |hub| hub.answer(request).await).await
    }

    /// Handles a request message: its fields, and its method under `"do"`.
    ///
    /// # Errors
    /// As for [`Self::request`]; also if the message is not a valid request.
    pub async fn handle(&self, message: Value, origin: &Origin) -> Result<Value, Refusal> {
        let message = Cleared::new(message);
        let method = RequestMethod::of_message(&message)?;
        self.on_record(origin, async |hub| (method.answer)(hub, &message).await).await
    }

    async fn answer<R: Handle>(&self, request: R) -> Result<R::Answer, Refusal> {
        request.authorize(self)?;
        request.handle(self).await
    }

    /// Returns only after the audit records are written, so that a reported success is always on record.
    async fn on_record<T>(
        &self,
        origin: &Origin,
        handle: impl AsyncFnOnce(&Hub) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let (context, recorded) = self.context.on_record(origin);
        let answer = handle(&self.with(context)).await;
        if recorded.load(Ordering::Relaxed) > 0 {
            self.recorder().written().await;
        }
        answer
    }

    /// Resolves a sign-in page that a person opened: the server, and the provider's page.
    ///
    /// # Errors
    /// A [`Refusal`] if the page is unknown or expired, or no sign-in can begin.
    pub async fn sign_in_page(&self, ticket: &str) -> Result<(ServerName, SignInPage), Refusal> {
        Box::pin(sign_in::visit(self, ticket)).await
    }

    async fn restart(&self, server: &str) -> Result<(), Refusal> {
        let known = self.servers().get_key_value(server).map(|(name, known)| (name.clone(), known.clone()));
        let (name, known) = known.ok_or_else(|| Refusal::unknown_server(server))?;
        if self.inner.review.holds_packages(&name) {
            launch::look_again(self, &name, &known.config.transport).await;
        }
        approved::refuse_held_launch(self, &name)?;
        instances::end_all(self, known.instances.take_all());
        // What runs in the folder of a session only is started by the session's next call.
        if !known.sharing.needs_folder() {
            known.upstream.restart();
        }
        Ok(())
    }

    fn rest(&self, server: &str) -> Result<(), Refusal> {
        let known = self.servers().get(server).cloned().ok_or_else(|| Refusal::unknown_server(server))?;
        instances::rest(self, &known.upstream, &known.instances);
        Ok(())
    }

    async fn stored_secrets(&self) -> Result<StoredSecrets, Refusal> {
        let (store, names) = self.inner.around.secrets.names().await?;
        let locked = self.inner.around.secrets.is_locked().await?;
        Ok(StoredSecrets { names: names.into_iter().collect(), store, locked })
    }

    async fn remove_secret(&self, name: &str) -> Result<(), Refusal> {
        match self.inner.around.secrets.remove(name).await? {
            true => {
                self.did_here(AuditKind::SecretChanged, name, "removed");
                Ok(())
            }
            false => Err(Refusal::new(Code::UnknownSecret, format!("there is no secret \"{name}\""), "")),
        }
    }

    async fn use_vault(&self, passphrase: String) -> Result<(), Refusal> {
        self.inner.around.secrets.use_vault(Secret::new(passphrase)).await?;
        self.did_here(AuditKind::SecretChanged, "", "the encrypted file was chosen");
        launch::renew(self);
        Ok(())
    }

    async fn unlock_vault(&self, passphrase: String) -> Result<(), Refusal> {
        self.inner.around.secrets.unlock(Secret::new(passphrase)).await?;
        self.did_here(AuditKind::SecretChanged, "", "the encrypted file was opened");
        self.clear_notice(Code::VaultLocked);
        launch::renew(self);
        Ok(())
    }

    fn server_log(&self, server: &str, lines: usize) -> Result<ServerLog, Refusal> {
        if !self.servers().contains_key(server) {
            return Err(Refusal::unknown_server(server));
        }
        let path = self.places().server_log(server);
        let lines = log::read_tail(&path, lines.min(LOG_LINES))
            .map_err(|error| Refusal::new(Code::Unreadable, error.to_string(), ""))?;
        Ok(ServerLog { path: path.display().to_string(), lines })
    }

    fn connect(&self, client: &str, ephemeral: bool) -> Result<Connection, Refusal> {
        let token = self
            .inner
            .clients
            .tokens
            .make(client, ephemeral)
            .map_err(|error| Refusal::new(Code::BadClient, error.to_string(), ""))?;
        let what = if ephemeral { "a token until the hub ends" } else { "a token" };
        self.did_here(AuditKind::Access, client, what);
        // Before anything listens, assume the default port.
        let usual = || format!("http://127.0.0.1:{USUAL_PORT}/mcp");
        let url = self.view().endpoint.clone().unwrap_or_else(usual);
        let headers = [("Authorization".to_owned(), format!("Bearer {token}"))].into();
        Ok(Connection { url, headers })
    }

    /// Restores a server that was removed since the hub started.
    async fn put_back(&self, name: &str) -> Result<(), Refusal> {
        let entry = server_entry::removed(self).get(name).cloned().ok_or_else(|| {
            let message = format!("no server \"{name}\" was removed since the hub started");
            Refusal::new(Code::NothingRemoved, message, "Add it again.")
        })?;
        self.apply(Change::Put { name: name.to_owned(), entry, replace: false, rules: vec![] }).await?;
        server_entry::removed(self).remove(name);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn no_two_requests_have_the_same_method() {
        let names: BTreeSet<&str> = METHODS.iter().map(|method| method.name).collect();
        assert_eq!(names.len(), METHODS.len());
    }

    #[test]
    fn a_message_without_a_known_method_is_refused() {
        for message in [json!({}), json!({ "do": 1 }), json!({ "do": "cook" }), json!(null), json!([])] {
            let refusal = RequestMethod::of_message(&message).err().unwrap();
            assert_eq!(refusal.code, Code::BadRequest, "{message}");
        }
        assert_eq!(RequestMethod::of_message(&json!({ "do": "quit" })).unwrap().name, "quit");
    }
}
