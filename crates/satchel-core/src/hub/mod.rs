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
mod entry;
mod execute;
mod faces;
mod failure;
mod failures;
mod hygiene;
mod icons;
mod import;
mod launch;
mod lifetime;
mod listings;
mod lists;
mod loosening;
mod measured;
mod offered;
mod ourselves;
mod packages;
mod pause;
mod permission;
mod preview;
mod profiles;
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
mod servers;
mod settings;
mod setup;
mod sign_in;
mod state;
mod surface;
mod trying;
#[cfg(test)]
mod typescript;
mod undo;
mod usage;
mod view;
mod visit;
mod watching;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, MutexGuard},
    time::Duration,
};

use satchel_mcp::RawObject;
use tokio::{
    sync::{broadcast, mpsc, watch},
    task::JoinHandle,
};

use crate::{
    bridge::Caller,
    calls::Calls,
    catalog::{
        Catalog, Offer,
        answer::{Answer, Asked},
        lists::List,
    },
    clients::{ledger::Ledger as Edits, token::Tokens},
    config::{Config, profiles::Lens},
    files::Places,
    meaning::Meanings,
    model::{
        Notice, Origin, ServerName, Snapshot, ToolPath,
        audit::AuditKind,
        clients::Surface,
        control::{Change, Refusal},
        event::DebugStatus,
        ledger::CallKind,
    },
    platform::Environment,
    prompts::Prompts,
    recorder::{self, Observer, Program, Recorder},
    review::{Accepted, Review},
    scripts::Scripts,
    secrets::Secrets,
    stats::event::Visit,
    tasks::kept,
    upstream::{
        Ending, ServerNotification, Surroundings, ancestry,
        environment::SearchPath,
        oauth::{accounts::Accounts, sign_in::Callbacks},
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
pub use scope::Scope;
pub use script::{Script, Underway, Wanted};
use servers::{Registered, Servers};
pub use watching::Watched;

/// The port clients expect us at.
pub const USUAL_PORT: u16 = 7411;
/// Changes of the configuration that wait for their turn.
const CHANGES: usize = 16;
/// ServerNotification of servers kept for a listener that is slow.
const NOTIFICATIONS: usize = 512;
/// How long a shutdown may take in all.
const SHUTDOWN: Duration = Duration::from_secs(15);

/// How a hub is opened.
#[derive(Debug, Clone)]
pub struct HubOptions {
    /// Where its files are.
    pub places: Places,
    /// Our own program: started as `toolbox` for the embedded server, as `watchdog` and as `tokens`.
    pub own_program: PathBuf,
    /// For one command: nothing is started that the command does not need, and the file is not watched.
    pub passive: bool,
    /// Accept every entry that stands in the configuration file now, as if a person had looked at each.
    pub trust_config: bool,
    /// Listens where browsers come back to after a sign-in.
    pub callbacks: Arc<dyn Callbacks>,
}

/// The handle of a running hub. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Hub {
    inner: Arc<Inner>,
    /// Who makes what is carried out through this handle.
    context: CallContext,
}

/// The rooms that the hub wires.
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
    /// Opens the hub of these places and starts what is to run from the start.
    ///
    /// # Errors
    /// [`OpenError`] where another hub has the data directory, or the directories cannot be made.
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
            search_path: SearchPath::default(),
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
            clients: Clients::new(tokens, edits, scripts),
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
        for trouble in [trouble, edits_trouble, recorder_trouble].into_iter().flatten() {
            hub.notice(Notice::new(crate::model::Code::SetAside, trouble));
        }
        data_dir::open_vault(&hub).await;
        hub.inner.life.spawn(sign_in::follow(hub.clone(), signed));
        hub.begin(asked, mailbox).await;
        Ok(hub)
    }

    async fn begin(&self, asked: mpsc::Receiver<apply::Asked>, mailbox: recorder::Mailbox) {
        let accepted = if self.inner.options.trust_config { Accepted::File } else { Accepted::Nothing };
        let first = apply::first_config(self, accepted);
        let publishing = self.clone();
        self.inner.life.spawn(async move { publish::keep_publishing(&publishing).await });
        registry::reconcile(self, first, accepted).await;
        view::renew_snapshot(self);
        let (applying, composing, measuring) = (self.clone(), self.clone(), self.clone());
        self.inner.life.spawn(async move { apply::run(applying, asked).await });
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

    /// Everything a face may show, now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        view::renew_snapshot(self);
        self.inner.faces.snapshot()
    }

    /// Follows the snapshot, from now on. While nobody does, none is composed.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        let watch = self.inner.faces.watch();
        // After it was subscribed to: what changes from here on is told.
        view::renew_snapshot(self);
        watch
    }

    /// Where this hub's files are.
    pub fn places(&self) -> &Places {
        &self.inner.options.places
    }

    /// The largest request of a client, in bytes.
    pub fn request_bytes(&self) -> usize {
        self.config().request_bytes()
    }

    /// Whose token this is, where it is anybody's.
    pub fn client_of(&self, token: &str) -> Option<String> {
        self.inner.clients.tokens.owner(token)
    }

    /// The endpoint listens at `url`, or no longer.
    pub fn set_endpoint(&self, url: Option<String>) {
        self.view().endpoint = url;
        self.inner.faces.changed();
    }

    /// Tells people something about the hub itself; replaces what was said under the same code.
    pub fn notice(&self, notice: Notice) {
        let mut view = self.view();
        view.notices.retain(|known| known.code != notice.code);
        view.notices.push(notice);
        drop(view);
        self.inner.faces.changed();
    }

    /// Takes back what was said under a code.
    pub fn clear_notice(&self, code: crate::model::Code) {
        self.view().notices.retain(|known| known.code != code);
        self.inner.faces.changed();
    }

    /// A client made a request; or, within one it has made, called the tool named by `call`.
    pub fn client_seen(&self, client: &str, call: Option<&str>) {
        self.view().client_seen(client, call);
        self.inner.clients.edits.saw(client);
        self.inner.faces.counted();
    }

    /// Resolves when a face wants the hub to end.
    pub async fn quit_requested(&self) {
        self.inner.life.quit().cancelled().await;
    }

    /// The hub is about to end: servers without calls end from now on, the others when their calls have ended, or soon.
    /// For faces that give calls their time before they call [`Hub::shutdown`].
    pub fn begin_to_end(&self) {
        drop(self.end_servers());
    }

    fn end_servers(&self) -> Vec<JoinHandle<()>> {
        self.inner.around.ending.begin();
        let end = |server: &Registered| {
            let upstream = server.upstream.clone();
            self.inner.life.spawn(async move { upstream.close().await })
        };
        self.servers().values().map(end).collect()
    }

    /// Ends every server and every task. Bounded: what resists is left to the watchdog.
    pub async fn shutdown(&self) {
        let all = async {
            self.inner.life.end().cancel();
            for closed in self.end_servers() {
                let _ = closed.await;
            }
            self.inner.around.watchdog.sweep().await;
            // Nobody calls any more; what they did is all told.
            self.recorder().close_door();
            self.recorder().end();
            self.inner.life.watchdog_end().cancel();
            self.inner.life.tasks_ended().await;
        };
        if tokio::time::timeout(SHUTDOWN, all).await.is_err() {
            tracing::warn!("not everything ended in time");
            self.recorder().end();
            self.inner.life.watchdog_end().cancel();
        }
        self.inner.life.unlock();
    }

    /// Carries out one change of the configuration, from whichever face.
    ///
    /// # Errors
    /// [`ApplyError`] where it makes no sense or cannot be written; nothing has changed then.
    pub async fn apply(&self, change: Change) -> Result<(), ApplyError> {
        let accepts = self.context.is_for_a_person();
        apply::ask(self, change, accepts).await
    }

    /// The configuration in force.
    fn config(&self) -> Arc<Config> {
        self.inner.configured.now()
    }

    fn view(&self) -> MutexGuard<'_, faces::Live> {
        self.inner.faces.live()
    }

    fn servers(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<ServerName, Registered>> {
        self.inner.servers.all()
    }

    fn offers(&self) -> MutexGuard<'_, BTreeMap<ServerName, Arc<Offer>>> {
        self.inner.servers.offers()
    }

    /// What calls share.
    pub fn calls(&self) -> &Calls {
        &self.inner.calls
    }

    /// Records what happens, and reads what was recorded.
    pub fn recorder(&self) -> &Recorder {
        &self.inner.recorder
    }

    /// Changes whenever it was chosen what some client sees.
    pub fn watch_choices(&self) -> watch::Receiver<u64> {
        self.inner.clients.follow_choices()
    }

    /// Follows what the enabled servers offer.
    pub fn watch_catalog(&self) -> watch::Receiver<Catalog> {
        self.inner.servers.follow_catalog()
    }

    /// What servers say that belongs to no call.
    pub fn notifications(&self) -> broadcast::Receiver<ServerNotification> {
        self.inner.around.notifications.subscribe()
    }

    /// From now on, or no longer, a face shows every question by itself.
    pub fn set_attended(&self, attended: bool) {
        self.inner.prompts.set_attended(attended);
    }

    /// The same hub, for this caller.
    fn with(&self, context: CallContext) -> Self {
        Self { inner: self.inner.clone(), context }
    }

    /// A handle for a client that looks from there.
    #[must_use]
    pub fn within(&self, scope: &Scope) -> Self {
        if let Some(profile) = scope.profile() {
            self.inner.clients.names_profile(profile);
        }
        self.with(self.context.within(scope))
    }

    /// A handle that sees what this client may see.
    #[must_use]
    pub fn seen_by(&self, client: &str) -> Self {
        self.with(self.context.of_client(client))
    }

    /// A handle whose calls this observer sees.
    #[must_use]
    pub fn observed(&self, observer: &Observer) -> Self {
        self.with(self.context.observed(observer))
    }

    /// Something for the audit log.
    fn did(&self, kind: AuditKind, who: &str, subject: &str, detail: impl Into<String>) {
        self.recorder().did(kind, who, subject, detail);
        self.context.count_records(1);
    }

    /// Something for the audit log that whoever makes the request did that this handle carries out.
    fn did_here(&self, kind: AuditKind, subject: &str, detail: impl Into<String>) {
        self.did(kind, &self.context.actor(), subject, detail);
    }

    /// May whoever looks through this handle see the server?
    pub fn shows(&self, server: &str) -> bool {
        audience::shows(self, server)
    }

    /// The servers that are on and may be seen through this handle, by name; those that cannot be used are among them.
    pub fn enabled_servers(&self) -> Vec<String> {
        audience::enabled_servers(self)
    }

    /// May whoever looks through this handle hear what a server said unasked?
    pub fn may_hear(&self, notification: &ServerNotification) -> bool {
        audience::may_hear(self, notification)
    }

    /// What the enabled servers offer, as far as it may be seen through this handle.
    pub fn catalog(&self) -> Catalog {
        audience::catalog(self)
    }

    /// What a client sees of us, and why. Never [`Surface::Auto`].
    pub fn surface_of(&self, client: &str) -> (Surface, String) {
        clients::surface_of(self, client)
    }

    /// Where the requests of a process come from that has connected to the control channel. `asked` says that it asked a
    /// person at its terminal, which is believed where it has one. Blocks.
    ///
    /// # Errors
    /// A [`Refusal`] for whatever a server started, and for what is gone already.
    pub fn origin_of(&self, caller: ancestry::Caller, asked: bool) -> Result<Origin, Refusal> {
        authorize::origin_of(self, caller, asked)
    }

    /// The name of a server in the catalog that this could be done with, where a model may be told of one. Blocks for a
    /// moment the first time.
    pub fn suggested_server(&self, query: &str) -> Option<String> {
        search::suggested_server(self, query)
    }

    /// Answers a search of a client, and remembers it until one of the tools is used.
    pub async fn search(&self, visit: &Visit, asked: &Asked<'_>) -> Answer {
        search::search(self, visit, asked).await
    }

    /// What a server offers. One that was never read is woken for it; any other is not.
    ///
    /// # Errors
    /// A [`CallFailure`] where there is no such server, or it cannot be read.
    pub async fn offer(&self, server: &ServerName) -> Result<Arc<Offer>, CallFailure> {
        surface::offer(self, server).await
    }

    /// Tells a server that runs that a client's roots changed; one that sleeps has nothing to do with it, and a stateless
    /// one asks for them anew in each call.
    pub fn roots_changed(&self, server: &ServerName) {
        surface::roots_changed(self, server);
    }

    /// Somebody wants log messages of a server from this severity on. One that sleeps is told with its next call.
    pub async fn want_logs(&self, server: &ServerName, from: u8) {
        surface::want_logs(self, server, from).await;
    }

    /// Hears of changes of a resource until the answer is dropped. Keeps its server awake for so long.
    ///
    /// # Errors
    /// A [`CallFailure`] where the server cannot be had.
    pub async fn watch_resource(&self, server: &ServerName, uri: &str) -> Result<Watched, CallFailure> {
        surface::watch_resource(self, server, uri).await
    }

    /// A request was turned away at the door, before it was anybody's.
    pub fn turned_away(&self, why: &str, path: &str) {
        audit::turned_away(self, why, path);
    }

    /// Who asks. A session begins where `with_session` says so: in the revisions that have some, with `initialize`.
    pub fn visit(
        &self,
        client: &str,
        program: Program<'_>,
        era: &str,
        only: Option<&ServerName>,
        with_session: bool,
    ) -> Arc<Visit> {
        records::visit(self, client, program, era, only, with_session)
    }

    /// A client was given this list of tools.
    pub fn listed(&self, visit: &Arc<Visit>, list: &List) {
        records::listed(self, visit, list);
    }

    /// Observes a call of a client, which wrote `request`: an object with a name and arguments.
    pub fn observe(&self, visit: &Arc<Visit>, kind: CallKind, tool: &str, request: &str) -> Observer {
        records::observe(self, visit, kind, tool, request)
    }

    /// Where the configuration wants traces to go.
    pub fn otlp_endpoint(&self) -> Option<String> {
        self.config().otlp_endpoint().map(ToOwned::to_owned)
    }

    /// A call was refused before it was one.
    pub fn tell_failure(&self, failure: &CallFailure) {
        records::tell_failure(self, failure);
    }

    /// What is in the way of whoever looks through this handle.
    pub fn lens(&self) -> Lens {
        scope::lens(self)
    }

    /// Is there a profile of this name?
    pub fn has_profile(&self, name: &str) -> bool {
        self.config().profiles().has(name)
    }

    /// Has any folder a profile of its own? Otherwise nobody need ask clients for theirs.
    pub fn binds_folders(&self) -> bool {
        !self.config().profiles().folders().is_empty()
    }

    /// The client says that it works in these folders, as absolute paths.
    pub fn works_in(&self, folders: Vec<String>) {
        self.context.scope.works_in(folders);
    }

    /// Follows the folders of whoever looks through this handle.
    pub fn watch_folders(&self) -> watch::Receiver<Vec<String>> {
        self.context.scope.watch_folders()
    }

    /// Calls a tool by its path. `params` are those of the caller's request without the name; they travel on as they
    /// are, but for what is between the caller and us alone.
    ///
    /// # Errors
    /// A [`CallFailure`] where nothing was sent.
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

    /// Makes any request to one server.
    ///
    /// # Errors
    /// A [`CallFailure`] where nothing was sent.
    pub async fn ask(
        &self,
        caller: &Caller,
        server: &ServerName,
        method: &str,
        params: RawObject,
    ) -> Result<Running, CallFailure> {
        call::ask(self, caller, server, method, params).await
    }

    /// How many bytes of text a client takes of one result; 0 for any number.
    pub fn result_cap(&self, client: &str) -> usize {
        self.config().result_cap(client)
    }

    /// Reads a resource by its path; never from a cache. `params` are those of the caller's request without the URI.
    ///
    /// # Errors
    /// A [`CallFailure`] where nothing was sent.
    pub async fn read_resource(
        &self,
        caller: &Caller,
        path: &str,
        params: RawObject,
    ) -> Result<Running, CallFailure> {
        call::read_resource(self, caller, path, params).await
    }

    /// The inside of this hub.
    ///
    /// # Errors
    /// A [`Refusal`] where the configuration switches it off.
    pub fn debug_status(&self) -> Result<DebugStatus, Refusal> {
        debug::debug_status(self)
    }

    /// Tools that there are and that are not on offer: held back, or off.
    pub fn hidden_tools(&self) -> Vec<ToolPath> {
        ruled::hidden_tools(self)
    }

    /// Says why a tool that is not on offer may not be used.
    ///
    /// # Errors
    /// A [`CallFailure`] where it is held back or switched off.
    pub fn refuse_hidden_tool(&self, path: &ToolPath) -> Result<(), CallFailure> {
        ruled::refuse_hidden_tool(self, path)
    }

    /// Calls a tool by a path that may be nearly right, with arguments that are checked against its schema; its result
    /// is cut where it is too long for the caller. `params` are those of the caller's request without the name.
    ///
    /// # Errors
    /// A [`CallFailure`] where nothing was sent: it names every fault, the signature and a corrected skeleton.
    pub async fn execute_tool(
        &self,
        caller: &Caller,
        path: &str,
        params: RawObject,
    ) -> Result<Running, CallFailure> {
        execute::execute_tool(self, caller, path, params).await
    }

    /// Runs a script, whose calls go the same way. This handle observes the run.
    ///
    /// # Errors
    /// A [`CallFailure`] where it did not begin.
    pub fn run_script(
        &self,
        caller: &Caller,
        visit: &Arc<Visit>,
        wanted: Wanted,
    ) -> Result<Script, CallFailure> {
        execute::run_script(self, caller, visit, wanted)
    }
}
