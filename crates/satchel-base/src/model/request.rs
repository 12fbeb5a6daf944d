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
    own_skills::{OwnSkillDetails, OwnSkills, SkillChange},
    package::{PackageView, Pinned},
    setup::{FollowedSetup, SetupChoice, SetupReview, SetupSource, TakenSetup, WrittenSetup},
    trying::{AppPage, ToolDetails, Tried, TriedScript, TryProgress},
};

/// The key that holds the method, beside the fields of the request.
const METHOD: &str = "do";

/// A request to the hub.
pub trait Request: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The type of its answer.
    type Answer: Serialize + DeserializeOwned + Send;
    /// Its method name in a message. A method never changes its meaning.
    const METHOD: &'static str;

    /// Serializes the request: its fields, and its method under `"do"`.
    ///
    /// # Errors
    /// If a field cannot be represented in JSON.
    fn to_message(&self) -> Result<Value, serde_json::Error> {
        let mut message = serde_json::to_value(self)?;
        if let Some(fields) = message.as_object_mut() {
            fields.insert(METHOD.to_owned(), Self::METHOD.into());
        }
        Ok(message)
    }

    /// Deserializes this request; `None` if the message is a different one or invalid.
    fn from_message(message: &Value) -> Option<Self> {
        (method_of(message) == Some(Self::METHOD)).then(|| Self::deserialize(message).ok()).flatten()
    }
}

/// The method of a message, if it has one.
pub fn method_of(message: &Value) -> Option<&str> {
    message.get(METHOD)?.as_str()
}

/// Declares requests: method, fields, answer.
macro_rules! requests {
    ($(
        $(#[$about:meta])*
        $method:literal: $name:ident { $($(#[$about_field:meta])* $field:ident: $kind:ty,)* } -> $answer:ty;
    )*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        pub struct $name {
            $($(#[$about_field])* pub $field: $kind,)*
        }

        impl Request for $name {
            type Answer = $answer;
            const METHOD: &'static str = $method;
        }
    )*};
}

/// Implements the trait for types that have other uses too.
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
    // What an installation or update would do. Fetches and starts nothing.
    "plan_install": InstallAsk -> InstallPlan;
}

requests! {
    /// The complete state of the hub.
    "status": GetStatus {} -> Snapshot;

    /// Searches tools; an empty query lists all.
    "tools": ListTools {
        /// The query.
        query: String,
        /// Only tools of this server.
        server: Option<String>,
        /// Maximum number.
        limit: usize,
    } -> ToolList;

    /// Calls a tool.
    "call": CallTool {
        /// `server:tool`.
        tool_path: String,
        /// Its arguments: an object, or a string that contains a JSON object, which preserves every digit of its
        /// numbers. With a string, the answer is a string too.
        #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
        arguments: Value,
    } -> ToolResult;

    /// All details of one tool.
    "tool": GetTool {
        /// `server:tool`.
        tool_path: String,
    } -> ToolDetails;

    /// Calls a tool for a person in the window, as the client [`super::trying::WINDOW`]. Rules, approvals and records
    /// apply as for any client.
    "try_tool": TryTool {
        /// A run id that no other call in flight uses.
        run: String,
        /// `server:tool`.
        tool_path: String,
        /// Its arguments, as the text of a JSON object, which preserves every digit.
        arguments: String,
        /// The tool whose page asks for it, as `server:tool`; `None` where a person does. A page reaches only tools of its
        /// own server that are for pages.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional = nullable))]
        page_of: Option<String>,
    } -> Tried;

    /// Reads the page of a tool, as the client [`super::trying::WINDOW`].
    "read_page": ReadPage {
        /// Whose page.
        server: String,
        /// Its address; it begins with `ui://`.
        uri: String,
    } -> AppPage;

    /// Runs a script for a person in the window, as the client [`super::trying::WINDOW`]. Followed and cancelled like
    /// a call of [`TryTool`].
    "try_script": TryScript {
        /// A run id that no other call in flight uses.
        run: String,
        /// The body of an async JavaScript function.
        script: String,
        /// The value of `input`, as JSON text.
        input: String,
    } -> TriedScript;

    /// The progress of a [`TryTool`] or [`TryScript`]. Long poll: answers when there is something new, or after some seconds.
    "follow_try": FollowTry {
        /// The run id.
        run: String,
        /// [`TryProgress::seen`] of the previous answer; 0 at first.
        seen: u64,
    } -> TryProgress;

    /// Cancels a [`TryTool`] or [`TryScript`].
    "cancel_try": CancelTry {
        /// The run id.
        run: String,
    } -> Done;

    /// Searches the stored lists of registries.
    "search_listed": SearchListed {
        /// The query; empty for everything. It never leaves this computer.
        query: String,
        /// Include servers that the registry has deleted.
        #[serde(default)]
        all: bool,
        /// Maximum number, counted from `offset`.
        limit: usize,
        /// Number of results to skip.
        #[serde(default)]
        offset: usize,
        /// Filter and sort order.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        filter: ListingFilter,
        /// Whether to query the registries first.
        #[serde(default)]
        ask: AskRegistries,
    } -> ListedServers;

    /// Details of one server in a registry.
    "listed_server": GetListed {
        /// Its name in the registry or in the bundled list.
        name: String,
        /// The version; `None` for the one on offer.
        #[serde(default)]
        version: Option<String>,
    } -> ServerDetails;

    /// Installs or updates a server as planned.
    "install_listed": InstallListed {
        /// The request that was planned.
        #[serde(flatten)]
        ask: InstallAsk,
        /// [`InstallPlan::seen`] of the plan that a person saw. The request is refused if the plan has changed.
        seen: String,
    } -> Installed;

    /// Installed servers and their state in their registries.
    "installed": ListInstalled {
        /// Whether to query the registries first.
        #[serde(default)]
        ask: AskRegistries,
    } -> Vec<InstalledServer>;

    /// A person keeps a server running that its registry has deleted.
    "keep_deleted": KeepDeleted {
        /// Its name in Satchel.
        server: String,
    } -> Done;

    /// A server's configuration entry, for editing. Plain text that looks like a secret is replaced by
    /// [`super::control::HIDDEN`].
    "entry": GetEntry {
        /// The server.
        server: String,
    } -> Entry;

    /// The secrets that only this server uses.
    "own_secrets": ListOwnSecrets {
        /// The server.
        server: String,
    } -> OwnSecrets;

    /// The package that a server's launcher fetches; `None` if there is none.
    "package": GetPackage {
        /// The server.
        server: String,
    } -> Option<PackageView>;

    /// Pins a server to one version of its package.
    "pin": PinPackage {
        /// The server.
        server: String,
        /// The version; `None` for the one that was fetched last.
        version: Option<String>,
    } -> Pinned;

    /// Restores a server that was removed since the hub started.
    "put_back": PutBack {
        /// The server.
        server: String,
    } -> Done;

    /// Starts a server now, or restarts it if it is running.
    "restart": Restart {
        /// The server.
        server: String,
    } -> Done;

    /// Puts a server to sleep, or cancels its start. Calls in flight are finished.
    "rest": Rest {
        /// The server.
        server: String,
    } -> Done;

    /// Dismisses a server's last failure.
    "dismiss_failure": DismissFailure {
        /// The server.
        server: String,
    } -> Done;

    /// Pauses the hub until the given time or [`Resume`]: finishes calls in flight, puts servers to sleep and refuses
    /// new calls.
    "pause": Pause {
        /// When the pause ends by itself, in milliseconds since the Unix epoch.
        until_ms: Option<u64>,
    } -> Done;

    /// Ends a pause.
    "resume": Resume {} -> Done;

    /// Searches the bundled list; an empty query lists all.
    "listing": SearchListing {
        /// The query.
        query: String,
    } -> Listing;

    /// Issues a new bearer token for a client.
    "connect": MakeToken {
        /// The client's id, for example `cursor`.
        client: String,
        /// Valid only until the hub stops, and not written to disk.
        ephemeral: bool,
    } -> Connection;

    /// The names of stored secrets.
    "secret_names": ListSecrets {} -> StoredSecrets;

    /// Stores a secret.
    "set_secret": SetSecret {
        /// Its name, as in `${secret:NAME}`.
        name: String,
        /// Its value.
        value: String,
    } -> Done;

    /// Stores the value of an environment variable that a server lacks, as a secret, and lets the entry name that instead.
    "enter_variable": EnterVariable {
        /// The server.
        server: String,
        /// The variable, as in `${NAME}`.
        variable: String,
        /// Its value.
        value: String,
    } -> Done;

    /// Removes a secret.
    "remove_secret": RemoveSecret {
        /// Its name.
        name: String,
    } -> Done;

    /// Stores secrets in the encrypted file, creating it if necessary.
    "use_vault": UseVault {
        /// Its passphrase.
        passphrase: String,
    } -> Done;

    /// Unlocks the encrypted file until the hub stops.
    "unlock_vault": UnlockVault {
        /// Its passphrase.
        passphrase: String,
    } -> Done;

    /// The end of a server's log.
    "log": ReadLog {
        /// The server.
        server: String,
        /// Number of lines.
        lines: usize,
    } -> ServerLog;

    /// The use of every server in the last day.
    "last_day": GetLastDay {} -> LastDay;

    /// One server's last 24 hours: calls, durations, clients.
    "server_day": GetServerDay {
        /// The server.
        server: String,
    } -> ServerDay;

    /// The resources, templates and prompts that a server offers.
    "offered": ListOffered {
        /// The server.
        server: String,
    } -> Offered;

    /// Reads a resource or a prompt for a person in the window, as the client [`super::trying::WINDOW`].
    "read_offered": ReadOffered {
        /// The server.
        server: String,
        /// What to read.
        what: OfferedThing,
    } -> Tried;

    /// Runs every diagnosis that needs no server. Starts nothing.
    "doctor": RunDoctor {
        /// Environment variables of the caller.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> Examination;

    /// Accepts the held settings of the configuration file with this fingerprint.
    "approve_settings": ApproveSettings {
        /// From [`super::approvals::SettingsChange`].
        fingerprint: String,
    } -> Done;

    /// Verifies the complete audit log.
    "verify_audit": VerifyAudit {
        /// A head of the log that was stored elsewhere.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional = nullable))]
        noted: Option<AuditHead>,
    } -> AuditVerdict;

    /// All details of one call.
    "call_detail": GetCall {
        /// Its id.
        id: i64,
    } -> CallDetail;

    /// Repeats a tool call, under the present rules.
    "run_again": RunAgain {
        /// The call's id in the history.
        id: i64,
        /// Arguments that replace the stored ones; as for [`CallTool`].
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, type = "unknown"))]
        arguments: Option<Value>,
    } -> ToolResult;

    /// Deletes the history and what was learned from searches. Totals remain unless `sums` is set.
    "delete_history": DeleteHistory {
        /// Also delete totals.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        sums: bool,
    } -> Done;

    /// Deletes what was learned from searches, and nothing else.
    "forget_habits": ForgetHabits {} -> Done;

    /// Everything that waits for review.
    "approvals": ListApprovals {
        /// Only of this server.
        server: Option<String>,
    } -> ApprovalList;

    /// Approves exactly these definitions, which a person reviewed. If one has changed since, the request is refused
    /// and none is approved.
    "approve": Approve {
        /// The server.
        server: String,
        /// The reviewed definitions.
        items: Vec<Seen>,
    } -> Done;

    /// Marks a server's available definitions as reviewed; what is held back stays held back.
    "looked_at": LookedAt {
        /// The server.
        server: String,
    } -> Done;

    /// Keeps these reviewed definitions held back.
    "keep_held": KeepHeld {
        /// The server.
        server: String,
        /// The reviewed definitions.
        items: Vec<Seen>,
    } -> Done;

    /// Calls that wait for a person's decision.
    "asks": ListAsks {
        /// Long poll: answer when a call waits, or after some seconds.
        wait: bool,
    } -> AskList;

    /// Answers a permission question.
    "answer_ask": AnswerAsk {
        /// The question's id.
        id: u64,
        /// The answer.
        answer: AskAnswer,
    } -> Done;

    /// Answers a server's question.
    "answer_question": AnswerQuestion {
        /// The question's id.
        id: u64,
        /// The answer.
        answer: QuestionAnswer,
    } -> Done;

    /// Supplies a value that a server needs to start: stores it and continues the waiting call.
    "answer_secret": AnswerSecret {
        /// The question's id.
        id: u64,
        /// The value.
        value: String,
    } -> Done;

    /// Extends the time limit of a question that a person is reading.
    "reading_ask": ReadingAsk {
        /// The question's id.
        id: u64,
    } -> Done;

    /// Internals of the hub, for debugging.
    "debug_status": GetDebugStatus {} -> DebugStatus;

    /// Stops the hub.
    "quit": Quit {} -> Done;

    /// Shows the app's window. Refused where the hub runs without the app.
    "show_window": ShowWindow {
        /// A `satchel:` link to show in it.
        link: Option<String>,
        /// Only ask whether there is an app.
        dry_run: bool,
    } -> Done;

    /// All clients and their state. This request and the following ones may pass environment variables of the caller,
    /// because these determine where files are.
    "list_clients": ListClients {
        /// Environment variables of the caller.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> ClientList;

    /// The person's skills, and the agents that they can be given to.
    "own_skills": ListOwnSkills {
        /// Environment variables of the caller.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> OwnSkills;

    /// Everything about one of the person's skills.
    "own_skill": GetSkill {
        /// Its name.
        name: String,
        /// Environment variables of the caller.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> OwnSkillDetails;

    /// Adds a skill. It has no effect before it is given.
    "add_skill": AddSkill {
        /// An absolute path of a directory or an archive, or a server's skill as `server|uri`.
        from: String,
        /// Replace one of the same name; agents keep what they have.
        replace: bool,
        /// Environment variables of the caller.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> OwnSkillDetails;

    /// Copies a skill into agents' folders.
    "give_skill": GiveSkill {
        /// Its name.
        name: String,
        /// The ids of the agents.
        agents: Vec<String>,
        /// What the person saw.
        fingerprint: String,
        /// Environment variables of the caller.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> SkillChange;

    /// Removes a skill from agents' folders.
    "take_skill": TakeSkill {
        /// Its name.
        name: String,
        /// The ids of the agents.
        agents: Vec<String>,
        /// Remove nothing: what they have becomes the person's own.
        leave: bool,
        /// Environment variables of the caller.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> SkillChange;

    /// Removes a skill that no agent has.
    "remove_skill": RemoveSkill {
        /// Its name.
        name: String,
    } -> Done;

    /// Adds Satchel's entry to a client's files.
    "connect_client": ConnectClient {
        /// The client's id.
        client: String,
        /// Only return the change; write nothing.
        dry_run: bool,
        /// The transport; `None` for the one that suits the client best.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional = nullable))]
        over: Option<Over>,
        /// Leave the file readable by whoever can read it now, although it gets a token.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        keep_mode: bool,
        /// Environment variables of the caller.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> ClientChange;

    /// Removes Satchel's entry from a client's files.
    "disconnect_client": DisconnectClient {
        /// The client's id.
        client: String,
        /// Only return the change; write nothing.
        dry_run: bool,
        /// Environment variables of the caller.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> ClientChange;

    /// Removes Satchel's entries and tokens from every client.
    "leave_clients": LeaveClients {
        /// Only return the changes; write nothing.
        dry_run: bool,
        /// Environment variables of the caller.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> Departure;

    /// Undoes the last change to another program's file, or the last import.
    "undo": Undo {
        /// Environment variables of the caller.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> Undone;

    /// Finds servers in other programs' files.
    "find_servers": FindServers {
        /// Where to look.
        from: From,
        /// Values of inputs, by their ids in [`Findings`].
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, type = "Record<string, unknown>"))]
        answers: BTreeMap<String, Value>,
        /// Environment variables of the caller.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> Findings;

    /// Imports servers and moves their credentials to the keychain. What a stranger wrote waits for approval unless a person
    /// was asked.
    "import_servers": ImportServers {
        /// Where to look.
        from: From,
        /// Only these, by their names in [`Findings`]; `None` for all.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional = nullable))]
        names: Option<Vec<String>>,
        /// Values of inputs, by their ids in [`Findings`].
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, type = "Record<string, unknown>"))]
        answers: BTreeMap<String, Value>,
        /// [`Findings::seen`] of what a person was shown; anything else is refused.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional = nullable))]
        seen: Option<String>,
        /// Also remove them from the client's own file. Only for a connected client.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        take_out: bool,
        /// Only return the change to the client's own file; import and write nothing.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        dry_run: bool,
        /// Other names for them, by their names in [`Findings`].
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        named: BTreeMap<String, String>,
        /// Those that replace a server that has their name, by their names in [`Findings`].
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        replace: Vec<String>,
        /// Add them switched off.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        off: bool,
        /// Environment variables of the caller.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        environment: BTreeMap<String, String>,
    } -> Imported;

    /// Sets a client's surface.
    "set_surface": SetSurface {
        /// The client's id.
        client: String,
        /// The surface.
        surface: Surface,
    } -> Done;

    /// Hides a server, or a tool as `server:tool`, from a client, or shows it again.
    "set_hidden": SetHidden {
        /// The client's id.
        client: String,
        /// The server or tool.
        path: String,
        /// The new value.
        hidden: bool,
    } -> Done;

    /// The fetched icons of servers.
    "server_icons": GetServerIcons {} -> ServerIcons;

    /// Exports the complete setup into a file: a new one, or one that replaces an older setup.
    "write_setup": WriteSetup {
        /// The absolute path; ends in `.json`.
        path: PathBuf,
        /// Includes secrets, encrypted with this passphrase; `None` leaves them out.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional = nullable))]
        passphrase: Option<String>,
    } -> WrittenSetup;

    /// Compares another setup with this one. Changes nothing.
    "read_setup": ReadSetup {
        /// The other setup.
        from: SetupSource,
    } -> SetupReview;

    /// Applies reviewed parts of another setup.
    "take_setup": TakeSetup {
        /// The other setup.
        from: SetupSource,
        /// The reviewed parts; parts that changed since are skipped.
        parts: Vec<SetupChoice>,
        /// Decrypts its secrets, which are stored for the servers among the parts.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional = nullable))]
        passphrase: Option<String>,
    } -> TakenSetup;

    /// Keeps the local version of these parts until the other computer changes them again.
    "keep_setup": KeepSetup {
        /// The computer.
        computer: String,
        /// The reviewed parts.
        parts: Vec<SetupChoice>,
    } -> Done;

    /// Follows a folder: writes this setup there without secrets, and shows the setups of other computers.
    "follow_setup": FollowSetup {
        /// The absolute path; `None` stops following.
        folder: Option<PathBuf>,
    } -> FollowedSetup;

    /// The followed folder, and how the setups in it differ.
    "followed_setup": GetFollowedSetup {} -> FollowedSetup;

    /// Binds a client to a profile, or unbinds it.
    "bind_profile": BindClient {
        /// The client's id.
        client: String,
        /// The profile's name; `None` unbinds.
        profile: Option<String>,
    } -> Done;

    /// Begins a sign-in; the caller opens the page.
    "begin_sign_in": BeginSignIn {
        /// The server.
        server: String,
        /// Register again with the provider, if dynamic registration is used.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        again: bool,
    } -> SignInPage;

    /// Waits for the end of the running sign-in.
    "wait_for_sign_in": WaitForSignIn {
        /// The server.
        server: String,
    } -> SignInView;

    /// Completes a sign-in with the redirect address that a person pasted.
    "paste_sign_in": PasteSignIn {
        /// The server.
        server: String,
        /// The address, or its query.
        text: String,
    } -> Done;

    /// Cancels the running sign-in.
    "cancel_sign_in": CancelSignIn {
        /// The server.
        server: String,
    } -> Done;

    /// Signs out.
    "sign_out": SignOut {
        /// The server.
        server: String,
        /// Keep the registration at the provider for the next sign-in.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
        keep_registration: bool,
    } -> SignedOut;

    /// All sign-ins, current and past.
    "accounts": ListAccounts {} -> Vec<AccountLine>;

    /// Sets the client ID of a user-registered app. The secret is stored in the keychain.
    "enter_client": EnterClient {
        /// The server.
        server: String,
        /// The client ID.
        client_id: String,
        /// The client secret, if there is one.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional = nullable))]
        client_secret: Option<String>,
    } -> Done;
}

/// Icons of servers: small PNGs, re-encoded by Satchel, as data URLs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerIcons {
    /// By server name.
    pub icons: BTreeMap<String, String>,
}

/// An empty answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Done {}

/// A tool's result as the server sent it; as text if the arguments were text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct ToolResult(#[cfg_attr(feature = "typescript", ts(type = "unknown"))] pub Value);

/// A server's entry in the configuration, unknown fields included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct Entry(
    #[cfg_attr(feature = "typescript", ts(type = "Record<string, unknown>"))] pub Map<String, Value>,
);

/// The names of secrets that only one server uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OwnSecrets {
    /// Their names.
    pub names: Vec<String>,
}

/// The secrets that are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StoredSecrets {
    /// Their names.
    pub names: Vec<String>,
    /// The store.
    pub store: StoreKind,
    /// The encrypted file is in use and locked.
    #[serde(default)]
    pub locked: bool,
}

/// The kinds of secret stores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// The operating system's keychain.
    #[default]
    Keychain,
    /// Satchel's encrypted file.
    File,
}

impl StoreKind {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            StoreKind::Keychain => "keychain",
            StoreKind::File => "file",
        }
    }
}

/// The end of a server's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerLog {
    /// The file.
    pub path: String,
    /// Its last lines.
    pub lines: Vec<String>,
}

/// The result of signing out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SignedOut {
    /// Was anyone signed in?
    pub was_in: bool,
    /// Did the provider revoke the tokens? `None` if it does not support that.
    pub revoked: Option<bool>,
}

/// The hub's reply on a channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply<Answer> {
    /// The answer.
    Ok(Answer),
    /// The request was refused.
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
