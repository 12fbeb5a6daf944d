//! Requests that faces make of a hub: one type per request, with the type of its answer. Not reachable from the MCP
//! port. The hub decides who may ask and who handles each.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{
    Snapshot,
    approvals::{ApprovalList, Seen},
    asks::{AskAnswer, AskList, QuestionAnswer},
    audit::{AuditHead, AuditPage, AuditQuery, AuditVerdict},
    call_log::{CallLogPage, CallLogQuery},
    clients::{ClientChange, ClientList, Departure, Findings, From, Imported, Over, Surface, Undone},
    control::{Change, Connection, Refusal, ToolList},
    doctor::Examination,
    event::DebugStatus,
    ledger::{ActivityAsk, ActivityPage, CallDetail, LastDay, Report, ReportAsk, ServerDay},
    listing::Listing,
    listings::{
        AskRegistries, InstallAsk, InstallPlan, Installed, InstalledServer, ListedServers, ListingFilter,
        ServerDetails,
    },
    oauth::{AccountLine, SignInPage, SignInView},
    offered::{Offered, OfferedThing},
    package::{PackageView, Pinned},
    setup::{FollowedSetup, SetupChoice, SetupReview, SetupSource, TakenSetup, WrittenSetup},
    trying::{AppPage, ToolDetails, Tried, TriedScript, TryProgress},
};

/// The key of a message under which its method stands, beside the fields of the request.
const METHOD: &str = "do";

/// One thing that a face asks of a hub.
pub trait Request: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// What it is answered with.
    type Answer: Serialize + DeserializeOwned + Send;
    /// Its name in a message. A method never changes its meaning.
    const METHOD: &'static str;

    /// The request as it goes over a channel: its fields, and its method under `"do"`.
    ///
    /// # Errors
    /// Where it has something that is no JSON.
    fn to_message(&self) -> Result<Value, serde_json::Error> {
        let mut message = serde_json::to_value(self)?;
        if let Some(fields) = message.as_object_mut() {
            fields.insert(METHOD.to_owned(), Self::METHOD.into());
        }
        Ok(message)
    }

    /// The request that this message is; `None` where it is another one, or cannot be read.
    fn from_message(message: &Value) -> Option<Self> {
        (method_of(message) == Some(Self::METHOD)).then(|| Self::deserialize(message).ok()).flatten()
    }
}

/// The method of a message, where it says one.
pub fn method_of(message: &Value) -> Option<&str> {
    message.get(METHOD)?.as_str()
}

/// Declares requests: the method, the fields, the answer.
macro_rules! requests {
    ($(
        $(#[$about:meta])*
        $method:literal: $name:ident { $($(#[$about_field:meta])* $field:ident: $kind:ty,)* } -> $answer:ty;
    )*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS))]
        pub struct $name {
            $($(#[$about_field])* pub $field: $kind,)*
        }

        impl Request for $name {
            type Answer = $answer;
            const METHOD: &'static str = $method;
        }
    )*};
}

/// The same for types that are more than a request.
macro_rules! also_requests {
    ($($method:literal: $name:ident -> $answer:ty;)*) => {$(
        impl Request for $name {
            type Answer = $answer;
            const METHOD: &'static str = $method;
        }
    )*};
}

also_requests! {
    "change": Change -> Done;
    "report": ReportAsk -> Report;
    "activity": ActivityAsk -> ActivityPage;
    "call_log": CallLogQuery -> CallLogPage;
    "audit": AuditQuery -> AuditPage;
    // What an installation or an update would do. Nothing is fetched or started.
    "plan_install": InstallAsk -> InstallPlan;
}

requests! {
    /// The whole state of the hub.
    "status": GetStatus {} -> Snapshot;

    /// Ranked tools; all of them for an empty query.
    "tools": ListTools {
        /// What to look for.
        query: String,
        /// Only this server's.
        server: Option<String>,
        /// At most so many.
        limit: usize,
    } -> ToolList;

    /// Calls a tool.
    "call": CallTool {
        /// `server:tool`.
        tool_path: String,
        /// Its arguments, an object; or a text that is one, where every digit of its numbers counts. Then the answer is
        /// such a text, too.
        #[cfg_attr(test, ts(type = "unknown"))]
        arguments: Value,
    } -> ToolResult;

    /// Everything about one tool.
    "tool": GetTool {
        /// `server:tool`.
        tool_path: String,
    } -> ToolDetails;

    /// Has a person in the window try a tool, as the client [`super::trying::WINDOW`]: rules, approvals and records are
    /// as for any other.
    "try_tool": TryTool {
        /// A name for it that no other call under way has.
        run: String,
        /// `server:tool`.
        tool_path: String,
        /// Its arguments: the text of a JSON object, in which every digit counts.
        arguments: String,
        /// The tool whose page asks for it, as `server:tool`; `None` where a person does. A page reaches only tools of its
        /// own server that are for pages.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        page_of: Option<String>,
    } -> Tried;

    /// Reads the page of a tool, as the client [`super::trying::WINDOW`].
    "read_page": ReadPage {
        /// Whose page.
        server: String,
        /// Its address; it begins with `ui://`.
        uri: String,
    } -> AppPage;

    /// Has a person in the window run a script, as the client [`super::trying::WINDOW`]. It is followed and cancelled as
    /// a call of [`TryTool`].
    "try_script": TryScript {
        /// A name for it that no other call under way has.
        run: String,
        /// The body of an async function, in JavaScript.
        script: String,
        /// What it is given as `input`: a JSON text.
        input: String,
    } -> TriedScript;

    /// How a call of [`TryTool`] or [`TryScript`] gets on. Answered when there is news, or after some seconds.
    "follow_try": FollowTry {
        /// Which.
        run: String,
        /// [`TryProgress::seen`] of the last answer; 0 at first.
        seen: u64,
    } -> TryProgress;

    /// Cancels a call of [`TryTool`] or [`TryScript`].
    "cancel_try": CancelTry {
        /// Which.
        run: String,
    } -> Done;

    /// Looks for servers in what is known here of registries.
    "search_listed": SearchListed {
        /// What they should be about; everything for an empty one. It never leaves this computer.
        query: String,
        /// Those too that the registry has deleted.
        #[serde(default)]
        all: bool,
        /// At most so many, from `offset` on.
        limit: usize,
        /// So many are left out.
        #[serde(default)]
        offset: usize,
        /// What it is narrowed to.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        filter: ListingFilter,
        /// How the registries are asked before.
        #[serde(default)]
        ask: AskRegistries,
    } -> ListedServers;

    /// Everything about one server of a registry.
    "listed_server": GetListed {
        /// Its name in the registry, or in the list that comes with Satchel.
        name: String,
        /// Which version; the one that is offered without it.
        #[serde(default)]
        version: Option<String>,
    } -> ServerDetails;

    /// Installs or updates a server as it was planned.
    "install_listed": InstallListed {
        /// As it was planned.
        #[serde(flatten)]
        ask: InstallAsk,
        /// [`InstallPlan::seen`] of the plan that a person saw: anything else is refused.
        seen: String,
    } -> Installed;

    /// Installed servers of which a registry says something.
    "installed": ListInstalled {
        /// How the registries are asked before.
        #[serde(default)]
        ask: AskRegistries,
    } -> Vec<InstalledServer>;

    /// A person lets a server go on that its registry has deleted.
    "keep_deleted": KeepDeleted {
        /// Its name here.
        server: String,
    } -> Done;

    /// A server's entry as it stands in the configuration, to be edited. Plain text that looks like a secret is
    /// [`super::control::HIDDEN`] in it.
    "entry": GetEntry {
        /// Which.
        server: String,
    } -> Entry;

    /// The secrets that a server names and no other one does.
    "own_secrets": ListOwnSecrets {
        /// Which.
        server: String,
    } -> OwnSecrets;

    /// What a server's launcher fetches for it; `None` where it fetches nothing.
    "package": GetPackage {
        /// Which.
        server: String,
    } -> Option<PackageView>;

    /// Has a server run one version of its package.
    "pin": PinPackage {
        /// Which.
        server: String,
        /// The version; the one that was fetched last where it is `None`.
        version: Option<String>,
    } -> Pinned;

    /// Adds a server again that was removed since the hub started, as it was.
    "put_back": PutBack {
        /// Which.
        server: String,
    } -> Done;

    /// Starts a server now, or again if it is running.
    "restart": Restart {
        /// Which.
        server: String,
    } -> Done;

    /// Lets a server sleep now, or gives its start up. A call under way is not cut off.
    "rest": Rest {
        /// Which.
        server: String,
    } -> Done;

    /// A person knows of what went wrong last with a server: it is not shown any more.
    "dismiss_failure": DismissFailure {
        /// Which.
        server: String,
    } -> Done;

    /// Finishes running calls, puts servers to sleep and refuses new calls, until the time named or [`Resume`].
    "pause": Pause {
        /// When it ends by itself, in milliseconds since the Unix epoch.
        until_ms: Option<u64>,
    } -> Done;

    /// Ends a pause.
    "resume": Resume {} -> Done;

    /// Servers that can be added, best first; all of them for an empty query.
    "listing": SearchListing {
        /// What they should be able to do.
        query: String,
    } -> Listing;

    /// Makes a new bearer token for a client.
    "connect": MakeToken {
        /// The client's id, for example `cursor`.
        client: String,
        /// Valid only until the hub ends, and not written to disk.
        ephemeral: bool,
    } -> Connection;

    /// The names of the secrets that are stored.
    "secret_names": ListSecrets {} -> StoredSecrets;

    /// Stores a secret.
    "set_secret": SetSecret {
        /// Its name, as in `${secret:NAME}`.
        name: String,
        /// Its value.
        value: String,
    } -> Done;

    /// Removes a secret.
    "remove_secret": RemoveSecret {
        /// Its name.
        name: String,
    } -> Done;

    /// Chooses the encrypted file as the place of secrets, and makes it if there is none.
    "use_vault": UseVault {
        /// Its passphrase.
        passphrase: String,
    } -> Done;

    /// Opens the encrypted file for as long as the hub runs.
    "unlock_vault": UnlockVault {
        /// Its passphrase.
        passphrase: String,
    } -> Done;

    /// The last lines of a server's log.
    "log": ReadLog {
        /// Which server.
        server: String,
        /// How many lines.
        lines: usize,
    } -> ServerLog;

    /// How much each server was used in the last day.
    "last_day": GetLastDay {} -> LastDay;

    /// One server's last 24 hours: calls, how long they took, who made them.
    "server_day": GetServerDay {
        /// Which server.
        server: String,
    } -> ServerDay;

    /// The resources, templates and prompts that a server offers.
    "offered": ListOffered {
        /// Which server.
        server: String,
    } -> Offered;

    /// Reads a resource or a prompt for a person in the window, as the client [`super::trying::WINDOW`].
    "read_offered": ReadOffered {
        /// Which server.
        server: String,
        /// What to read.
        what: OfferedThing,
    } -> Tried;

    /// Looks at everything that can be wrong from outside. Starts nothing.
    "doctor": RunDoctor {
        /// Variables of the asker.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> Examination;

    /// Accepts the settings of the configuration file that wait, named by their fingerprint.
    "approve_settings": ApproveSettings {
        /// As it stands in [`super::approvals::SettingsChange`].
        fingerprint: String,
    } -> Done;

    /// Checks the whole audit log.
    "verify_audit": VerifyAudit {
        /// An end of it that somebody noted elsewhere.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        noted: Option<AuditHead>,
    } -> AuditVerdict;

    /// Everything known of one call.
    "call_detail": GetCall {
        /// Its number.
        id: i64,
    } -> CallDetail;

    /// Calls a tool again, by the same rules as the first time.
    "run_again": RunAgain {
        /// The call's number in the history.
        id: i64,
        /// Other arguments than the ones that were kept; as for [`CallTool`].
        #[serde(default)]
        #[cfg_attr(test, ts(optional, type = "unknown"))]
        arguments: Option<Value>,
    } -> ToolResult;

    /// Deletes the history for good, and what was learned from searches. Sums stay, unless `sums` says that they go too.
    "delete_history": DeleteHistory {
        /// Everything, sums included.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        sums: bool,
    } -> Done;

    /// Forgets what was learned from searches, and nothing else.
    "forget_habits": ForgetHabits {} -> Done;

    /// What there is to look at before clients may use it.
    "approvals": ListApprovals {
        /// Only of this server.
        server: Option<String>,
    } -> ApprovalList;

    /// A person looked at these definitions, and approves exactly them. One that has changed since is refused, and then
    /// none is approved.
    "approve": Approve {
        /// Whose they are.
        server: String,
        /// What was looked at.
        items: Vec<Seen>,
    } -> Done;

    /// A person looked at what this server has on offer; what is held back stays so.
    "looked_at": LookedAt {
        /// Which.
        server: String,
    } -> Done;

    /// A person looked at these definitions, and wants them held back.
    "keep_held": KeepHeld {
        /// Whose they are.
        server: String,
        /// What was looked at.
        items: Vec<Seen>,
    } -> Done;

    /// Calls that wait for a person's word.
    "asks": ListAsks {
        /// Answer when one waits, or after some seconds.
        wait: bool,
    } -> AskList;

    /// A person's word about a call.
    "answer_ask": AnswerAsk {
        /// Which.
        id: u64,
        /// The word.
        answer: AskAnswer,
    } -> Done;

    /// A person's answer to a server's question.
    "answer_question": AnswerQuestion {
        /// Which.
        id: u64,
        /// The answer.
        answer: QuestionAnswer,
    } -> Done;

    /// A person's answer where a value is missing that a server cannot start without: it is stored, and the call that
    /// waits for it goes on.
    "answer_secret": AnswerSecret {
        /// Which.
        id: u64,
        /// The value.
        value: String,
    } -> Done;

    /// Somebody is reading a question right now; it is not taken away meanwhile.
    "reading_ask": ReadingAsk {
        /// Which.
        id: u64,
    } -> Done;

    /// The hub's inside, for whoever looks for a fault.
    "debug_status": GetDebugStatus {} -> DebugStatus;

    /// Ends the hub.
    "quit": Quit {} -> Done;

    /// Every client and how it stands. Variables of the asking process may go with this request and the next ones, for
    /// they say where files are.
    "list_clients": ListClients {
        /// Variables of the asker.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> ClientList;

    /// Puts our entry into a client's files.
    "connect_client": ConnectClient {
        /// The client's id.
        client: String,
        /// Only show what would be written.
        dry_run: bool,
        /// Let it start the bridge, or ask the endpoint, instead of what suits it best.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        over: Option<Over>,
        /// Variables of the asker.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> ClientChange;

    /// Takes our entry out again.
    "disconnect_client": DisconnectClient {
        /// The client's id.
        client: String,
        /// Only show what would be written.
        dry_run: bool,
        /// Variables of the asker.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> ClientChange;

    /// Takes our entries and tokens out of every client.
    "leave_clients": LeaveClients {
        /// Only show what would be written.
        dry_run: bool,
        /// Variables of the asker.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> Departure;

    /// Takes back the last thing that was done to another program's file, or imported.
    "undo": Undo {
        /// Variables of the asker.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> Undone;

    /// The servers in other programs' files.
    "find_servers": FindServers {
        /// Where to look.
        from: From,
        /// Variables of the asker.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> Findings;

    /// Takes servers over, their credentials into the keychain.
    "import_servers": ImportServers {
        /// Where to look.
        from: From,
        /// Only these, by the names in [`Findings`]; all without it.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        names: Option<Vec<String>>,
        /// What was asked for, by the ids in [`Findings`].
        #[serde(default)]
        #[cfg_attr(test, ts(optional, type = "Record<string, unknown>"))]
        answers: BTreeMap<String, Value>,
        /// Take them out of the client's own file too. Only for a client that is connected.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        take_out: bool,
        /// Only show what would be taken out of the client's own file: nothing comes in and nothing is written.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        dry_run: bool,
        /// Variables of the asker.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> Imported;

    /// Chooses what a client sees of us.
    "set_surface": SetSurface {
        /// The client's id.
        client: String,
        /// The choice.
        surface: Surface,
    } -> Done;

    /// Hides a server, or a tool as `server:tool`, from one client, or shows it again.
    "set_hidden": SetHidden {
        /// The client's id.
        client: String,
        /// What.
        path: String,
        /// The choice.
        hidden: bool,
    } -> Done;

    /// The pictures of servers that were fetched.
    "server_icons": GetServerIcons {} -> ServerIcons;

    /// Writes the whole setup into a file: a new one, or one in the place of an older setup.
    "write_setup": WriteSetup {
        /// The file, absolute; its name ends in `.json`.
        path: PathBuf,
        /// Put the secrets in, sealed under this; none without it.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        passphrase: Option<String>,
    } -> WrittenSetup;

    /// What differs between a setup and ours. Changes nothing.
    "read_setup": ReadSetup {
        /// Where it is.
        from: SetupSource,
    } -> SetupReview;

    /// Takes parts of a setup that a person saw, in the place of ours.
    "take_setup": TakeSetup {
        /// Where it is.
        from: SetupSource,
        /// What was seen; what has changed since is left.
        parts: Vec<SetupChoice>,
        /// Opens its secrets, which the servers among the parts then get.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        passphrase: Option<String>,
    } -> TakenSetup;

    /// Keeps ours where a computer in the followed folder has something else, until it changes again there.
    "keep_setup": KeepSetup {
        /// The computer.
        computer: String,
        /// What was seen.
        parts: Vec<SetupChoice>,
    } -> Done;

    /// Follows a folder: our setup is written there without secrets, and what others write there is shown.
    "follow_setup": FollowSetup {
        /// The folder, absolute; `None` follows none any more.
        folder: Option<PathBuf>,
    } -> FollowedSetup;

    /// The followed folder, and what differs in what other computers wrote there.
    "followed_setup": GetFollowedSetup {} -> FollowedSetup;

    /// Binds a client to a profile, or lets it out of one.
    "bind_profile": BindClient {
        /// The client's id.
        client: String,
        /// The profile's name; `None` for whichever is active.
        profile: Option<String>,
    } -> Done;

    /// Begins a sign-in; whoever asked opens the page.
    "begin_sign_in": BeginSignIn {
        /// Which server.
        server: String,
        /// Register anew at the provider, where that is how we are known there.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        again: bool,
    } -> SignInPage;

    /// Waits for the end of the sign-in that is under way.
    "wait_for_sign_in": WaitForSignIn {
        /// Which server.
        server: String,
    } -> SignInView;

    /// What a person pasted instead of the browser's coming back.
    "paste_sign_in": PasteSignIn {
        /// Which server.
        server: String,
        /// The address, or its query.
        text: String,
    } -> Done;

    /// Gives up the sign-in that is under way.
    "cancel_sign_in": CancelSignIn {
        /// Which server.
        server: String,
    } -> Done;

    /// Signs out.
    "sign_out": SignOut {
        /// Which server.
        server: String,
        /// Keep the registration at the provider for the next sign-in.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        keep_registration: bool,
    } -> SignedOut;

    /// Every server that was ever signed in to.
    "accounts": ListAccounts {} -> Vec<AccountLine>;

    /// The app that a person registered with the provider. The secret goes into the keychain.
    "enter_client": EnterClient {
        /// Which server.
        server: String,
        /// Its client ID.
        client_id: String,
        /// Its secret, where it has one.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        client_secret: Option<String>,
    } -> Done;
}

/// Pictures of servers: small PNGs that Satchel drew, as addresses of data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ServerIcons {
    /// By the server's name.
    pub icons: BTreeMap<String, String>,
}

/// The answer to a request that is only done: nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Done {}

/// The result of a server's tool as it came, or as a text where the arguments were one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(transparent)]
pub struct ToolResult(#[cfg_attr(test, ts(type = "unknown"))] pub Value);

/// A server's entry in the configuration, unknown fields included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(transparent)]
pub struct Entry(#[cfg_attr(test, ts(type = "Record<string, unknown>"))] pub Map<String, Value>);

/// The names of secrets that only one server names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OwnSecrets {
    /// Their names.
    pub names: Vec<String>,
}

/// The secrets that are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StoredSecrets {
    /// Their names.
    pub names: Vec<String>,
    /// Where they are.
    pub store: StoreKind,
    /// The encrypted file is used and not open.
    #[serde(default)]
    pub locked: bool,
}

/// Which store of secrets is in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// The operating system's.
    #[default]
    Keychain,
    /// Our encrypted file.
    File,
}

impl StoreKind {
    /// As it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            StoreKind::Keychain => "keychain",
            StoreKind::File => "file",
        }
    }
}

/// The end of a server's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ServerLog {
    /// The file.
    pub path: String,
    /// Its last lines.
    pub lines: Vec<String>,
}

/// What became of a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SignedOut {
    /// Was anybody signed in?
    pub was_in: bool,
    /// Did the provider take the tokens back? `None` where it cannot.
    pub revoked: Option<bool>,
}

/// What a hub answers on a channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply<Answer> {
    /// It was done.
    Ok(Answer),
    /// It was not.
    Refusal(Refusal),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_is_read_as_the_request_that_it_says_it_is() {
        let change = Change::SetEnabled { name: "git".into(), enabled: true };
        let message = change.to_message().unwrap();
        let written = json!({ "do": "change", "change": "set_enabled", "name": "git", "enabled": true });
        assert_eq!(message, written);
        assert_eq!(Change::from_message(&message), Some(change));
        assert_eq!(Quit::from_message(&message), None);
        assert_eq!(Quit {}.to_message().unwrap(), json!({ "do": "quit" }));
        assert_eq!(Quit::from_message(&json!({ "do": "quit" })), Some(Quit {}));
        assert_eq!(Restart::from_message(&json!({ "do": "restart" })), None);
    }
}
