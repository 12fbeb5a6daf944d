//! The composition root: opens the rooms, wires them and shuts them down. Faces hold a [`Hub`] handle, send requests
//! through it and render the [`Snapshot`] it publishes.
//!
//! Theory of operation: one task applies configuration changes, one task per server reads its lists when they change,
//! one task publishes the catalog, one composes the snapshot. All end with [`Hub::shutdown`].

mod apply;
mod approved;
mod audience;
mod audit;
mod authorize;
mod binding;
mod by_hand;
mod call;
mod change;
mod clients;
mod configured;
mod connected;
mod context;
mod credential;
mod data_dir;
mod debug;
pub mod doctor;
mod execute;
mod faces;
mod failure;
mod failures;
mod fresh_lists;
mod hygiene;
mod icons;
mod idle;
mod instances;
mod instantiate;
mod launch;
mod lending;
mod lifetime;
mod links;
mod listings;
mod loosening;
mod measured;
mod offered;
mod ourselves;
mod own_skills;
mod packages;
mod page;
mod pause;
mod per_server;
mod permission;
mod pinned_tools;
mod profiles;
mod project;
mod publish;
mod question;
mod records;
mod refresh;
mod registry;
mod requests;
mod resting;
mod review;
mod route;
mod ruled;
mod scope;
mod script;
mod search;
mod server_entry;
mod servers;
mod settings;
mod setup;
mod sharing;
mod sign_in;
mod skill_entries;
mod skills;
mod state;
#[cfg(test)]
mod tests;
mod token_files;
mod trying;
#[cfg(test)]
mod typescript;
mod undo;
mod usage;
mod view;
mod visit;
mod watching;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use parking_lot::MutexGuard;

use satchel_mcp::{Raw, RawObject, era::Era};
use tokio::{
    sync::{broadcast, mpsc, watch},
    task::JoinHandle,
};

use crate::{
    bridge::Caller,
    calls::Calls,
    catalog::{
        Catalog, Offer, SkillEntry,
        answer::{Answer, Asked},
        lists::List,
    },
    clients::{ledger::Ledger as Edits, token::Tokens},
    config::{Config, profiles::Lens},
    files::Places,
    intake::{bundles, house::Hand},
    meaning::Meanings,
    model::{
        Notice, Origin, ServerName, Snapshot, ToolPath,
        audit::AuditKind,
        clients::Surface,
        control::{Change, Refusal},
        event::DebugStatus,
        ledger::CallKind,
    },
    own_skills::SkillStore,
    platform::{Environment, descriptors::Descriptors},
    prompts::Prompts,
    recorder::{self, Observer, Program, Recorder},
    review::{Accepted, Review},
    scripts::Scripts,
    secrets::Secrets,
    stats::event::Visit,
    tasks::kept,
    upstream::{
        Ending, Engines, ServerNotification, Surroundings, Upstream, ancestry,
        environment::SearchPath,
        oauth::{accounts::Accounts, sign_in::Callbacks},
        peer::{Peer, Peers},
    },
};

pub use apply::ApplyError;
pub use authorize::origin_here;
pub use call::{Running, Step};
use configured::Configured;
use connected::Clients;
use context::CallContext;
pub use data_dir::{OpenError, PIPES, RunningHub};
use faces::Faces;
pub use failure::{CallFailure, Failed};
use lifetime::Lifetime;
pub use requests::{Handle, RequestMethod};
pub use scope::{NamedFolder, Scope};
pub use script::{Script, Underway, Wanted};
use servers::{Registered, Servers};
pub use skill_entries::NoSkill;
pub use watching::Watched;

/// The default port, which clients are configured for.
pub const USUAL_PORT: u16 = 7411;
/// Capacity of the queue of configuration changes.
const CHANGES: usize = 16;
/// Number of server notifications buffered for a slow listener.
const NOTIFICATIONS: usize = 512;
/// Total timeout of a shutdown.
const SHUTDOWN: Duration = Duration::from_secs(15);

/// Options for opening a hub.
#[derive(Debug, Clone)]
pub struct HubOptions {
    /// Where its files are.
    pub places: Places,
    /// The path of this program: started as `toolbox` for the built-in server, as `watchdog` and as `tokens`.
    pub own_program: PathBuf,
    /// For a single command: starts only what the command needs, and does not watch the file.
    pub passive: bool,
    /// Accepts every entry in the configuration file as it is now, as if a person had reviewed it.
    pub trust_config: bool,
    /// Other people's accounts could read the arguments of what runs.
    pub others_see_arguments: bool,
    /// Receives browsers that return from a sign-in.
    pub callbacks: Arc<dyn Callbacks>,
}

/// A handle to a running hub. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Hub {
    inner: Arc<Inner>,
    /// The caller of requests made through this handle.
    context: CallContext,
}

/// The rooms that the hub wires together.
#[derive(Debug)]
struct Inner {
    options: HubOptions,
    around: Arc<Surroundings>,
    life: Lifetime,
    configured: Configured,
    servers: Servers,
    clients: Clients,
    review: Arc<Review>,
    prompts: Arc<Prompts>,
    calls: Calls,
    recorder: Recorder,
    meanings: Meanings,
    faces: Faces,
}

impl Hub {
    /// Opens the hub and starts the servers that start with it.
    ///
    /// # Errors
    /// [`OpenError`] if another hub uses the data directory, or the directories cannot be created.
    pub async fn open(options: HubOptions) -> Result<Self, OpenError> {
        options.places.create().map_err(OpenError::Files)?;
        let life = Lifetime::new(data_dir::lock(&options).await?);
        data_dir::clear_leftovers(&options.places);
        let run = data_dir::begin_run(&options.places)?;
        let tracker = life.tracker().clone();
        let watchdog = crate::watchdog::Watchdog::start(
            &options.own_program,
            &run,
            &tracker,
            life.watchdog_end().clone(),
        );
        if !options.passive {
            crate::upstream::reaper::start(&tracker, life.end().clone());
        }
        let (tokens, trouble) = Tokens::open(&options.places.data);
        let (edits, edits_trouble) = Edits::open(&options.places.data);
        data_dir::clear_leftovers_of_others(edits.files());
        let (own_skills, skills_trouble) = SkillStore::open(&options.places.data);
        let secrets = Secrets::open(&options.places.data);
        let (config, servers, faces) = (watch::Sender::default(), Servers::default(), Faces::default());
        let (recorder, mailbox, recorder_trouble) = Recorder::open(recorder::Settings {
            places: options.places.clone(),
            own_program: options.own_program.clone(),
            passive: options.passive,
            config: config.subscribe(),
            counting: servers.counting.clone(),
        });
        let (accounts, signed) = Accounts::open(&options.places.data, secrets.clone(), tracker.clone());
        let around = Arc::new(Surroundings {
            audit: recorder.audit(),
            places: options.places.clone(),
            secrets,
            accounts,
            own_program: options.own_program.clone(),
            watchdog,
            environment: Environment::of_this_process(),
            peers: Peers::default(),
            descriptors: Descriptors::raised(),
            search_path: SearchPath::default(),
            engines: Engines::default(),
            notifications: tokio::sync::broadcast::channel(NOTIFICATIONS).0,
            tracker: tracker.clone(),
            ending: Ending::default(),
        });
        let (changes, asked) = mpsc::channel(CHANGES);
        let (places, catalog) = (options.places.clone(), servers.follow_catalog());
        let meanings =
            Meanings::new(places, options.passive, config.subscribe(), catalog, life.end().clone());
        let scripts = Scripts::new(options.own_program.clone(), tracker.clone(), life.end().clone());
        let inner = Arc::new(Inner {
            around,
            configured: Configured::new(&options.places, config, changes),
            servers,
            clients: Clients::new(tokens, edits, own_skills, scripts),
            review: Review::new(options.places.approvals(), tracker),
            prompts: Prompts::new(faces.notify(), life.end().clone()),
            calls: Calls::default(),
            recorder,
            meanings,
            faces,
            life,
            options,
        });
        let hub = Self { inner, context: CallContext::default() };
        for trouble in [trouble, edits_trouble, skills_trouble, recorder_trouble].into_iter().flatten() {
            hub.notice(Notice::new(crate::model::Code::SetAside, trouble));
        }
        data_dir::open_vault(&hub).await;
        hub.inner.life.spawn(sign_in::follow(hub.clone(), signed));
        hub.begin(asked, mailbox).await;
        Ok(hub)
    }

    async fn begin(&self, asked: mpsc::Receiver<apply::Asked>, mailbox: recorder::Mailbox) {
        let accepted = if self.inner.options.trust_config { Accepted::File } else { Accepted::Nothing };
        let watch = apply::watch(self);
        let first = apply::first_config(self, accepted).await;
        let publishing = self.clone();
        self.inner.life.spawn(async move { publish::keep_publishing(&publishing).await });
        apply::reconcile(self, first, accepted).await;
        if !self.inner.options.passive {
            bundles::remove_unused(self);
        }
        view::renew_snapshot(self);
        let (applying, composing, measuring) = (self.clone(), self.clone(), self.clone());
        self.inner.life.spawn(async move { apply::run(applying, asked, watch).await });
        self.inner.life.spawn(async move {
            kept("the snapshot", async || view::keep_composing(&composing).await).await;
        });
        self.inner.life.spawn(async move {
            kept("measuring", async || usage::keep_measuring(&measuring).await).await;
        });
        let learning = self.clone();
        self.inner.life.spawn(async move {
            let (recorder, end) = (learning.recorder(), learning.inner.life.end());
            kept("learning from searches", async || recorder.keep_habits(end).await).await;
        });
        let resting = self.clone();
        self.inner.life.spawn(async move {
            kept("profiles", async || resting::keep_resting(&resting).await).await;
        });
        let idle = self.clone();
        self.inner.life.spawn(async move {
            kept("giving memory back", async || idle::keep_small(&idle).await).await;
        });
        let pictures = self.clone();
        self.inner.life.spawn(async move {
            kept("pictures of servers", async || icons::keep(&pictures).await).await;
        });
        let following = self.clone();
        self.inner.life.spawn(async move {
            kept("the followed setup", async || setup::keep_following(&following).await).await;
        });
        let meaning = self.clone();
        self.inner.life.spawn(async move {
            kept("embeddings", async || meaning.inner.meanings.run().await).await;
        });
        self.inner.life.spawn(self.recorder().clone().run(mailbox));
        self.inner.life.spawn(records::follow_health(self.clone()));
    }

    /// The current state of everything shown to people.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        view::renew_snapshot(self);
        self.inner.faces.snapshot()
    }

    /// Subscribes to snapshots. None are composed without subscribers.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        let watch = self.inner.faces.watch();
        // After subscribing, so that no later change is missed.
        view::renew_snapshot(self);
        watch
    }

    /// Where this hub's files are.
    pub fn places(&self) -> &Places {
        &self.inner.options.places
    }

    /// The client that a person allowed this origin of an app's page for.
    pub fn client_of_origin(&self, origin: &str) -> Option<String> {
        self.config().origins().get(origin).cloned()
    }

    /// Maximum size of a client's request, in bytes.
    pub fn request_bytes(&self) -> usize {
        self.config().request_bytes()
    }

    /// The client that this token belongs to.
    pub fn client_of(&self, token: &str) -> Option<String> {
        self.inner.clients.tokens.owner(token)
    }

    /// Sets the endpoint's address; `None` if it no longer listens.
    pub fn set_endpoint(&self, url: Option<String>) {
        self.view().endpoint = url;
        self.inner.faces.changed();
    }

    /// Adds a notice about the hub; replaces one with the same code.
    pub fn notice(&self, notice: Notice) {
        let mut view = self.view();
        view.notices.retain(|known| known.code != notice.code);
        view.notices.push(notice);
        drop(view);
        self.inner.faces.changed();
    }

    /// Removes the notice with this code.
    pub fn clear_notice(&self, code: crate::model::Code) {
        self.view().notices.retain(|known| known.code != code);
        self.inner.faces.changed();
    }

    /// Records a request of a client, or, within one, a call of the tool `call`.
    pub fn client_seen(&self, client: &str, call: Option<&str>) {
        self.view().client_seen(client, call);
        if self.inner.clients.edits.saw(client) {
            let hub = self.clone();
            self.inner.life.tracker().spawn_blocking(move || hub.inner.clients.edits.write_seen());
        }
        self.inner.faces.counted();
    }

    /// Notes that a client says it can ask its user, if it does.
    pub fn client_asks(&self, caller: &Caller) {
        permission::note_asking(self, caller);
    }

    /// Resolves when someone asks the hub to stop.
    pub async fn quit_requested(&self) {
        self.inner.life.quit().cancelled().await;
    }

    /// How many files the hub may have open.
    pub fn descriptors(&self) -> Descriptors {
        self.inner.around.descriptors
    }

    /// Requests to show the app's window, each with the link to show in it, if any. Only the app subscribes.
    pub fn window_requests(&self) -> broadcast::Receiver<Option<String>> {
        self.inner.life.window_requests()
    }

    /// Begins the shutdown: idle servers stop now, the others when their calls end or after a grace period. For
    /// programs that let calls finish before [`Hub::shutdown`].
    pub fn begin_to_end(&self) {
        self.inner.around.accounts.end();
        drop(self.end_servers());
    }

    fn end_servers(&self) -> Vec<JoinHandle<()>> {
        self.inner.around.ending.begin();
        let end = |upstream: Upstream| self.inner.life.spawn(async move { upstream.close().await });
        let all = |server: &Registered| {
            let own = server.instances.shut().into_iter().map(|instance| instance.upstream.clone());
            own.chain([server.upstream.clone()]).collect::<Vec<_>>()
        };
        self.servers().values().flat_map(all).map(end).collect()
    }

    /// Stops every server and task. Bounded in time: what does not stop is left to the watchdog.
    pub async fn shutdown(&self) {
        let all = async {
            self.inner.life.end().cancel();
            self.inner.around.accounts.end();
            for closed in self.end_servers() {
                let _ = closed.await;
            }
            self.inner.around.watchdog.sweep().await;
            // No calls arrive any more, and all their records have been sent.
            self.recorder().close_door();
            self.recorder().written().await;
            self.recorder().end();
            self.inner.life.watchdog_end().cancel();
            self.inner.life.tasks_ended().await;
        };
        if tokio::time::timeout(SHUTDOWN, all).await.is_err() {
            tracing::warn!("the shutdown did not finish in time");
            self.recorder().end();
            self.inner.life.watchdog_end().cancel();
        }
        self.inner.life.unlock();
    }

    /// Applies a change to the configuration, whoever requests it.
    ///
    /// # Errors
    /// [`ApplyError`] if it is invalid or cannot be written; the configuration is then unchanged.
    pub async fn apply(&self, change: Change) -> Result<(), ApplyError> {
        apply::ask(self, change, Hand::of(self)).await
    }

    /// The configuration in effect.
    fn config(&self) -> Arc<Config> {
        self.inner.configured.now()
    }

    fn view(&self) -> MutexGuard<'_, faces::Live> {
        self.inner.faces.live()
    }

    fn servers(&self) -> parking_lot::RwLockReadGuard<'_, BTreeMap<ServerName, Registered>> {
        self.inner.servers.all()
    }

    fn offers(&self) -> MutexGuard<'_, BTreeMap<ServerName, Arc<Offer>>> {
        self.inner.servers.offers()
    }

    /// State shared by calls.
    pub fn calls(&self) -> &Calls {
        &self.inner.calls
    }

    /// Records what happens, and reads records.
    pub fn recorder(&self) -> &Recorder {
        &self.inner.recorder
    }

    /// Changes whenever a choice about what a client sees changes.
    pub fn watch_choices(&self) -> watch::Receiver<u64> {
        self.inner.clients.follow_choices()
    }

    /// Subscribes to the catalog of enabled servers.
    pub fn watch_catalog(&self) -> watch::Receiver<Catalog> {
        self.inner.servers.follow_catalog()
    }

    /// Subscribes to server notifications that belong to no call.
    pub fn notifications(&self) -> broadcast::Receiver<ServerNotification> {
        self.inner.around.notifications.subscribe()
    }

    /// Sets whether some interface shows every question by itself.
    pub fn set_attended(&self, attended: bool) {
        self.inner.prompts.set_attended(attended);
    }

    /// The same hub for another caller.
    fn with(&self, context: CallContext) -> Self {
        Self { inner: self.inner.clone(), context }
    }

    /// A handle for a client with this scope.
    #[must_use]
    pub fn within(&self, scope: &Scope) -> Self {
        if let Some(profile) = scope.profile() {
            self.inner.clients.names_profile(profile);
        }
        self.with(self.context.within(scope))
    }

    /// A handle with this client's view.
    #[must_use]
    pub fn seen_by(&self, client: &str) -> Self {
        self.with(self.context.of_client(client))
    }

    /// A handle whose calls this observer records.
    #[must_use]
    pub fn observed(&self, observer: &Observer) -> Self {
        self.with(self.context.observed(observer))
    }

    /// Writes an audit record.
    fn did(&self, kind: AuditKind, who: &str, subject: &str, detail: impl Into<String>) {
        self.recorder().did(kind, who, subject, detail);
        self.context.count_records(1);
    }

    /// Writes an audit record with this handle's caller as the actor.
    fn did_here(&self, kind: AuditKind, subject: &str, detail: impl Into<String>) {
        self.did(kind, &self.context.actor(), subject, detail);
    }

    /// Is the server visible through this handle?
    pub fn shows(&self, server: &str) -> bool {
        audience::shows(self, server)
    }

    /// The names of the enabled servers that are visible through this handle, including unusable ones.
    pub fn enabled_servers(&self) -> Vec<String> {
        audience::enabled_servers(self)
    }

    /// May this notification of a server be delivered through this handle?
    pub fn may_hear(&self, notification: &ServerNotification) -> bool {
        audience::may_hear(self, notification)
    }

    /// What the enabled servers offer, as far as it is visible through this handle.
    pub fn catalog(&self) -> Catalog {
        audience::catalog(self)
    }

    /// The surface in effect for a client, and why. Never [`Surface::Auto`].
    pub fn surface_of(&self, client: &str) -> (Surface, String) {
        clients::surface_of(self, client)
    }

    /// Determines who sends the requests of a process on the control channel. `asked` is its claim that it asked a
    /// person at its terminal; it counts only if the process has one. Blocks.
    ///
    /// # Errors
    /// A [`Refusal`] if an MCP server started the process, or if it has exited.
    pub fn origin_of(&self, caller: ancestry::Caller, asked: bool) -> Result<Origin, Refusal> {
        authorize::origin_of(self, caller, asked)
    }

    /// May the other end of a connection act as a client? Not if an MCP server started it.
    ///
    /// # Errors
    /// A [`Refusal`] if a server started it, or if it cannot be told because it has gone.
    pub async fn admit_client(&self, client: &str, peer: Peer) -> Result<(), Refusal> {
        authorize::admit_client(self, client, peer).await
    }

    /// The name of a catalog server that this answer's query asks for and that is not here, if suggestions are enabled.
    pub async fn suggested_server(&self, query: &str, answer: &Answer) -> Option<String> {
        search::suggested_server(self, query, answer).await
    }

    /// Answers a client's search, and remembers it until one of the tools is used.
    pub async fn search(&self, visit: &Visit, asked: &Asked<'_>) -> Answer {
        search::search(self, visit, asked).await
    }

    /// What a server offers. A server that was never read is started for this; others are not.
    ///
    /// # Errors
    /// A [`CallFailure`] if there is no such server, or it cannot be read.
    pub async fn offer(&self, server: &ServerName) -> Result<Arc<Offer>, CallFailure> {
        per_server::offer(self, server).await
    }

    /// Tells a running server that a client's roots changed. Sleeping servers need no notification; stateless ones ask
    /// in each call.
    pub fn roots_changed(&self, server: &ServerName) {
        per_server::roots_changed(self, server);
    }

    /// Requests log messages of a server from this severity on. A sleeping server is told with its next call.
    pub async fn want_logs(&self, server: &ServerName, from: u8) {
        per_server::want_logs(self, server, from).await;
    }

    /// Subscribes to changes of a resource until the returned value is dropped; keeps the server running meanwhile.
    ///
    /// # Errors
    /// A [`CallFailure`] if the server is unavailable.
    pub async fn watch_resource(&self, server: &ServerName, uri: &str) -> Result<Watched, CallFailure> {
        per_server::watch_resource(self, server, uri).await
    }

    /// Records a request that was rejected before its client was known.
    pub fn turned_away(&self, why: &str, path: &str) {
        audit::turned_away(self, why, path);
    }

    /// Identifies a client's visit, which starts a session in revisions that have them.
    pub fn visit(
        &self,
        client: &str,
        program: Program<'_>,
        era: Era,
        only: Option<&ServerName>,
    ) -> Arc<Visit> {
        records::visit(self, client, program, era, only)
    }

    /// Records that a client received this list of tools.
    pub fn listed(&self, visit: &Arc<Visit>, list: &List) {
        records::listed(self, visit, list);
    }

    /// Observes a client's call; `request` is an object with name and arguments, as the client wrote it.
    pub fn observe(&self, visit: &Arc<Visit>, kind: CallKind, tool: &str, request: &str) -> Observer {
        records::observe(self, visit, kind, tool, request)
    }

    /// The configured OpenTelemetry endpoint.
    pub fn otlp_endpoint(&self) -> Option<String> {
        self.config().otlp_endpoint().map(ToOwned::to_owned)
    }

    /// Follows the configuration in force.
    pub fn watch_config(&self) -> watch::Receiver<Arc<Config>> {
        self.inner.configured.follow()
    }

    /// Records a call that was refused before it was made.
    pub fn tell_failure(&self, failure: &CallFailure) {
        records::tell_failure(self, failure);
    }

    /// The profiles that apply to this handle's caller.
    pub fn lens(&self) -> Lens {
        scope::lens(self)
    }

    /// The pinned tools that this handle's caller lists beside Satchel's own, in the order of the configuration.
    pub fn pinned_tools(&self) -> Vec<ToolPath> {
        pinned_tools::listed(self)
    }

    /// Is any tool pinned for anybody?
    pub fn has_pinned_tools(&self) -> bool {
        !self.config().pinned_tools().is_empty()
    }

    /// The skills of the person.
    fn own_skills(&self) -> &SkillStore {
        &self.inner.clients.own_skills
    }

    /// Is there a profile of this name?
    pub fn has_profile(&self, name: &str) -> bool {
        self.config().profiles().has(name)
    }

    /// Is any folder bound to a profile, or does a server run once for each session or folder? Otherwise clients need not
    /// be asked for their roots.
    pub fn wants_folders(&self) -> bool {
        !self.config().profiles().folders().is_empty() || per_server::use_folders(self)
    }

    /// The client is being asked for its folders: what needs one waits for the answer.
    pub fn asks_folders(&self) {
        self.context.scope.ask_folders();
    }

    /// Records the folders a client works in, as absolute paths.
    pub fn works_in(&self, folders: Vec<String>) {
        per_server::works_in(self, folders);
    }

    /// A client comes to look: reads what can be read only in its folder and never was.
    pub fn arrives(&self) {
        per_server::read_in_folder(self);
    }

    /// Subscribes to the folders of this handle's client.
    pub fn watch_folders(&self) -> watch::Receiver<Vec<String>> {
        self.context.scope.watch_folders()
    }

    /// Calls a tool by its path. `params` are the caller's parameters without the name; they are forwarded unchanged,
    /// except for what concerns only caller and hub.
    ///
    /// # Errors
    /// A [`CallFailure`] if nothing was sent.
    pub async fn call_tool_for(
        &self,
        caller: &Caller,
        path: &str,
        params: RawObject,
    ) -> Result<Running, CallFailure> {
        call::call_tool_for(self, caller, path, params).await
    }

    /// The same for a path that needs no reading.
    ///
    /// # Errors
    /// A [`CallFailure`] where nothing was sent.
    pub async fn call_tool_at(
        &self,
        caller: &Caller,
        path: ToolPath,
        params: RawObject,
    ) -> Result<Running, CallFailure> {
        call::call_tool_at(self, caller, path, params).await
    }

    /// Sends any request to one server.
    ///
    /// # Errors
    /// A [`CallFailure`] if nothing was sent.
    pub async fn ask(
        &self,
        caller: &Caller,
        server: &ServerName,
        method: &str,
        params: RawObject,
    ) -> Result<Running, CallFailure> {
        call::ask(self, caller, server, method, params).await
    }

    /// The skill with this address of its server.
    ///
    /// # Errors
    /// [`NoSkill`] if no skill has this address, or the skill cannot be used.
    pub async fn skill(&self, server: &ServerName, uri: &str) -> Result<SkillEntry, NoSkill> {
        skill_entries::skill(self, server, uri).await
    }

    /// The children of a skill's directory; `params` are the caller's.
    ///
    /// # Errors
    /// [`NoSkill`] if there is no such directory.
    pub async fn skill_directory(&self, server: &ServerName, params: RawObject) -> Result<Box<Raw>, NoSkill> {
        skill_entries::directory(self, server, params).await
    }

    /// The size limit of a result for a client, in bytes of text; 0 means no limit.
    pub fn result_cap(&self, client: &str) -> usize {
        clients::result_cap(&self.config(), client)
    }

    /// The server to ask for an address that is in no list, and its own address for it.
    pub fn unlisted_resource(&self, address: &str) -> Option<(ServerName, String)> {
        links::owner(self, self.context.client()?, address)
    }

    /// Reads a resource by its path, never from a cache. `params` are the caller's parameters without the URI.
    ///
    /// # Errors
    /// A [`CallFailure`] if nothing was sent.
    pub async fn read_resource(
        &self,
        caller: &Caller,
        path: &str,
        params: RawObject,
    ) -> Result<Running, CallFailure> {
        call::read_resource(self, caller, path, params).await
    }

    /// Internals of the hub.
    ///
    /// # Errors
    /// A [`Refusal`] if the configuration disables this.
    pub fn debug_status(&self) -> Result<DebugStatus, Refusal> {
        debug::debug_status(self)
    }

    /// Tools that exist but are unavailable: held back or switched off.
    pub fn hidden_tools(&self) -> Vec<ToolPath> {
        ruled::hidden_tools(self)
    }

    /// Refuses a tool that exists but is unavailable.
    ///
    /// # Errors
    /// A [`CallFailure`] if it is held back or switched off.
    pub fn refuse_hidden_tool(&self, path: &ToolPath) -> Result<(), CallFailure> {
        ruled::refuse_hidden_tool(self, path)
    }

    /// Calls a tool. Resolves a nearly correct path, checks the arguments against the schema, and cuts the result if it
    /// exceeds the caller's limit. `params` are the caller's parameters without the name.
    ///
    /// # Errors
    /// A [`CallFailure`] if nothing was sent: it lists every fault, the signature and a corrected skeleton.
    pub async fn execute_tool(
        &self,
        caller: &Caller,
        path: &str,
        params: RawObject,
    ) -> Result<Running, CallFailure> {
        execute::execute_tool(self, caller, path, params).await
    }

    /// Runs a script, whose calls pass the same checks. This handle observes the run.
    ///
    /// # Errors
    /// A [`CallFailure`] if it was not started.
    pub fn run_script(
        &self,
        caller: &Caller,
        visit: &Arc<Visit>,
        wanted: Wanted,
    ) -> Result<Script, CallFailure> {
        execute::run_script(self, caller, visit, wanted)
    }
}
