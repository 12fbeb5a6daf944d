//! Stable error codes for servers, the hub and requests of faces. Codes are for programs, messages for people.

use serde::{Deserialize, Serialize};

use super::shell;

/// Declares the codes and their spellings.
macro_rules! codes {
    ($($(#[$about:meta])* $code:ident = $spelling:literal,)*) => {
        /// Every error and trouble, as a stable code. A code never changes its meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        pub enum Code {
            $($(#[$about])* #[serde(rename = $spelling)] $code,)*
        }

        impl Code {
            /// Every code, for tables and tests.
            pub const ALL: &[Code] = &[$(Code::$code),*];

            /// The name used in JSON, logs and documentation.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Code::$code => $spelling,)*
                }
            }
        }
    };
}

codes! {
    // Servers and the hub itself.

    /// The program to start was not found.
    SpawnNotFound = "spawn_not_found",
    /// The launcher (node, uv, docker, …) is not installed, or not in any searched directory.
    RuntimeMissing = "runtime_missing",
    /// Docker is installed, but its daemon is not running.
    DockerDown = "docker_down",
    /// The program exists but cannot be executed.
    SpawnDenied = "spawn_denied",
    /// The sandbox of the server cannot be set up, so the server was not started.
    SandboxUnusable = "sandbox_unusable",
    /// What the server's entry says cannot be run as it stands there, so nothing was started.
    EntryWrong = "entry_wrong",
    /// A secret cannot be read from the file or the command that the entry names.
    SecretSource = "secret_source",
    /// The process exited before it was ready.
    ExitedEarly = "exited_early",
    /// The process or endpoint did not answer the handshake in time.
    HandshakeTimeout = "handshake_timeout",
    /// The process wrote text other than JSON-RPC to its standard output, and never answered.
    StdoutNoise = "stdout_noise",
    /// A library that the server uses is missing or has changed.
    DependencyBroken = "dependency_broken",
    /// The process was killed from outside, most often because memory ran out.
    OomKilled = "oom_killed",
    /// The server answered the handshake with an error or an invalid message.
    HandshakeRefused = "handshake_refused",
    /// Server and hub have no protocol revision in common.
    ProtocolVersion = "protocol_version",
    /// The connection closed while the server was in use.
    Crashed = "crashed",
    /// The server's lists could not be read.
    ListFailed = "list_failed",
    /// A tool failed several times in a row; calls are refused for a moment.
    ToolPaused = "tool_paused",
    /// A credential or variable the server needs is not set.
    NeedsCredential = "needs_credential",
    /// The host name of a hosted server cannot be resolved.
    Dns = "dns",
    /// A hosted server refuses connections or does not answer.
    Unreachable = "unreachable",
    /// The hosted server's certificate cannot be verified.
    Tls = "tls",
    /// The hosted server requires a sign-in (HTTP 401).
    Http401 = "http_401",
    /// The hosted server rejects this identity (HTTP 403).
    Http403 = "http_403",
    /// The hosted server has no endpoint at this path (HTTP 404).
    Http404 = "http_404",
    /// The hosted server failed (HTTP 5xx).
    Http5xx = "http_5xx",
    /// The keychain is locked.
    KeychainLocked = "keychain_locked",
    /// This computer runs no keychain service.
    KeychainAbsent = "keychain_absent",
    /// The encrypted secrets file needs its passphrase.
    VaultLocked = "vault_locked",
    /// The configuration file is invalid.
    ConfigInvalid = "config_invalid",
    /// A rule over tools in the configuration is invalid.
    RuleInvalid = "rule_invalid",
    /// A setting beside the servers in the configuration is invalid.
    SettingInvalid = "setting_invalid",
    /// Another program uses the default port.
    PortTaken = "port_taken",
    /// A client's own socket cannot be opened.
    SocketNotOpened = "socket_not_opened",
    /// The server runs but offers nothing.
    NoTools = "no_tools",
    /// This computer has no network.
    Offline = "offline",
    /// The hosted server requires a sign-in, and nobody is signed in.
    NeedsSignIn = "needs_sign_in",
    /// A tool requires scopes that the sign-in was not granted.
    NeedsMoreRights = "needs_more_rights",
    /// The provider does not support dynamic registration; the user has to enter a client ID.
    NeedsClientId = "needs_client_id",
    /// A sign-in failed a check, or the provider refused it.
    OauthRefused = "oauth_refused",
    /// A person declined a sign-in in the browser.
    OauthDenied = "oauth_denied",
    /// The authorization server of a hosted server cannot be discovered.
    OauthDiscovery = "oauth_discovery",
    /// A sign-in could not be renewed for the moment.
    OauthRefresh = "oauth_refresh",
    /// Nobody finished the sign-in in the browser in time.
    OauthCallbackTimeout = "oauth_callback_timeout",
    /// One of Satchel's files was damaged and moved aside.
    SetAside = "set_aside",
    /// Calls cannot be recorded.
    LedgerUnusable = "ledger_unusable",
    /// A definition was changed or added, and nobody has approved it.
    HeldBack = "held_back",
    /// A server's stored approvals cannot be read.
    ApprovalsLost = "approvals_lost",
    /// A rule or a person refused a call.
    Denied = "denied",
    /// The configuration file has settings that nobody has accepted.
    SettingsHeld = "settings_held",
    /// There is no such profile.
    UnknownProfile = "unknown_profile",
    /// Another computer's setup in the followed folder differs from this one.
    SetupDiffers = "setup_differs",
    /// The client's profile does not include this.
    NotInProfile = "not_in_profile",

    // Requests of faces, and calls.

    /// There is no such server.
    UnknownServer = "unknown_server",
    /// There is no such secret.
    UnknownSecret = "unknown_secret",
    /// There is no such client.
    UnknownClient = "unknown_client",
    /// Servers can be moved out of one client only, and none was named.
    WhichClient = "which_client",
    /// There is no such call in the history.
    UnknownCall = "unknown_call",
    /// There is no such server or tool.
    UnknownPath = "unknown",
    /// This sign-in page was used already, or has expired.
    UnknownPage = "unknown_page",
    /// The caller cannot be identified.
    UnknownOrigin = "unknown_origin",
    /// The message is not a known request.
    BadRequest = "bad_request",
    /// A query parameter is invalid.
    BadQuery = "bad_query",
    /// A tool's arguments are not a JSON object.
    BadArguments = "bad_arguments",
    /// A name has invalid characters.
    BadName = "bad_name",
    /// A server's entry is invalid.
    BadServer = "bad_server",
    /// A client's id has invalid characters.
    BadClient = "bad_client",
    /// The pasted text is not the address a browser shows after a sign-in.
    BadPaste = "bad_paste",
    /// No rule can be written for this.
    BadRule = "bad_rule",
    /// An answer does not fit the question.
    BadAnswer = "bad_answer",
    /// A bundle cannot be used.
    BadBundle = "bad_bundle",
    /// A folder or an archive is not a skill that can be added.
    BadSkill = "bad_skill",
    /// There is no such skill.
    UnknownSkill = "unknown_skill",
    /// There is such a skill already, or an agent has it.
    SkillExists = "skill_exists",
    /// A client would list more pinned tools than it may.
    TooManyPinned = "too_many_pinned",
    /// A server description cannot be used.
    BadDescription = "bad_description",
    /// An image's digest cannot be resolved.
    NoDigest = "no_digest",
    /// A server was not installed from a registry.
    NotFromARegistry = "not_from_a_registry",
    /// No registry lists this.
    UnknownListing = "unknown_listing",
    /// A registry lists different content under the installed version.
    ChangedInPlace = "changed_in_place",
    /// No newer version is offered.
    UpToDate = "up_to_date",
    /// An update names a different package than the installed one.
    PackageSwapped = "package_swapped",
    /// An update no longer offers the installed package type.
    WayGone = "way_gone",
    /// A person has to consent to something explicitly.
    NeedsConsent = "needs_consent",
    /// A registry has deleted this server.
    Deleted = "deleted",
    /// A server does not offer this package type.
    UnknownWay = "unknown_way",
    /// A text does not describe a server.
    NotAServer = "not_a_server",
    /// A server of this name exists.
    ServerExists = "server_exists",
    /// A profile of this name exists.
    ProfileExists = "profile_exists",
    /// A profile is in use.
    ProfileInUse = "profile_in_use",
    /// A required input is missing.
    Needs = "needs",
    /// Nothing was entered.
    Empty = "empty",
    /// A file or a response cannot be read.
    Unreadable = "unreadable",
    /// A file cannot be written.
    Unwritable = "unwritable",
    /// The ledger cannot be read or written.
    Ledger = "ledger",
    /// The secret store failed.
    SecretStore = "secret_store",
    /// A new passphrase is too short.
    ShortPassphrase = "short_passphrase",
    /// No server references a stored secret.
    Unreferenced = "unreferenced",
    /// The passphrase does not open the encrypted file.
    WrongPassphrase = "wrong_passphrase",
    /// A server answered a call with an error.
    UpstreamError = "upstream_error",
    /// A call failed.
    CallFailed = "call_failed",
    /// A call in the history was not a tool call.
    NotRepeatable = "not_repeatable",
    /// The arguments of a call in the history were not stored.
    ArgumentsNotKept = "arguments_not_kept",
    /// A person cancelled a call.
    Cancelled = "cancelled",
    /// Too many calls are in flight.
    TooMany = "too_many",
    /// The hub is stopping.
    Closing = "closing",
    /// The hub is not open.
    NotOpen = "not_open",
    /// A task of the hub panicked.
    Panicked = "panicked",
    /// The configuration does not allow it.
    SwitchedOff = "switched_off",
    /// Only a person may do this.
    NeedsPerson = "needs_person",
    /// The caller was started by an MCP server.
    FromAServer = "from_a_server",
    /// Pages of the window may not send this request.
    NotForWindows = "not_for_windows",
    /// It changed after it was shown.
    ChangedMeanwhile = "changed_meanwhile",
    /// The server's lists have not been read yet.
    Unread = "unread",
    /// No server was removed that could be restored.
    NothingRemoved = "nothing_removed",
    /// There is nothing to undo.
    NothingToUndo = "nothing_to_undo",
    /// A question is no longer open.
    NotAsked = "not_asked",
    /// The answer is of the wrong kind for the question.
    OtherQuestion = "other_question",
    /// A question was approved too soon after it appeared.
    TooSoon = "too_soon",
    /// The server needs no sign-in, or nobody has signed in.
    NoSignIn = "no_sign_in",
    /// A client has no Satchel entry.
    NotConnected = "not_connected",
    /// A client is not on this computer.
    NotInstalled = "not_installed",
    /// The client's configuration can only be changed by a person.
    Paste = "paste",
    /// A client cannot be connected over this transport.
    NoWay = "no_way",
    /// A client's file cannot be changed in its present state.
    ClientFile = "client_file",
    /// Another program changed a client's file in the meantime.
    Changed = "changed",
    /// The fetched version of a package is unknown.
    VersionUnknown = "version_unknown",
    /// Several versions of a package are installed.
    VersionsSeveral = "versions_several",
    /// An entry already names an exact version.
    PinnedAlready = "pinned_already",
    /// A text does not name a version.
    NoVersion = "no_version",
    /// A page could not be opened in the browser.
    NotOpened = "not_opened",
    /// The path of the program that would be started later is temporary.
    PassingPath = "passing_path",
    /// The login item cannot be changed.
    Autostart = "autostart",
    /// There is no newer version of Satchel to install.
    NoUpdate = "no_update",
    /// The clipboard cannot be written to.
    Clipboard = "clipboard",
}

/// What a person can do about missing credentials and variables.
pub fn how_to_set(secrets: &[String], variables: &[String]) -> String {
    let mut ways: Vec<String> = secrets
        .iter()
        .map(|name| format!("Store it with `satchel secrets set {}`.", shell::word(name)))
        .collect();
    if !variables.is_empty() {
        let names = variables.join(", ");
        ways.push(format!("Set {names} in the environment that Satchel is started in."));
    }
    ways.join(" ")
}

impl Code {
    /// What a person can do about one invalid entry of an otherwise valid configuration.
    pub const INVALID_ENTRY: &str =
        "Correct its entry in the configuration; this server is off until then, and the others go on.";

    /// Does a person have to sign in or complete the sign-in settings?
    pub fn is_sign_in(self) -> bool {
        matches!(self, Code::NeedsSignIn | Code::NeedsMoreRights | Code::NeedsClientId)
    }

    /// What a person can do about it, for a hosted server.
    pub fn action_at_address(self) -> &'static str {
        match self {
            Code::HandshakeTimeout => {
                "Check that its \"url\" is right and that the service answers; if it only needs longer, raise \"discoveryTimeout\" in its entry. Then call again."
            }
            Code::HandshakeRefused => "Check that its \"url\" is the address of an MCP server.",
            Code::ExitedEarly => "Check the address and the network.",
            Code::Crashed => "The next call connects again.",
            Code::ProtocolVersion => {
                "Check whether the service offers an endpoint for a current protocol revision."
            }
            other => other.action(),
        }
    }

    /// What a person can do about it, for this server.
    pub fn action_for(self, server: &str) -> String {
        if self.is_sign_in() {
            self.action().replace("NAME", &shell::word(server))
        } else {
            self.action().to_owned()
        }
    }

    /// What a person can do about it, in one sentence; empty if it depends on the case.
    pub fn action(self) -> &'static str {
        match self {
            Code::NoUpdate => "Look for a newer version first.",
            Code::SpawnNotFound => "Install the program, or write its correct full path as \"command\".",
            Code::RuntimeMissing => {
                "Install it (Node for npx, uv for uvx), or write its full path as \"command\"; `satchel doctor` lists where it looked."
            }
            Code::DockerDown => "Start Docker, then use `satchel restart`.",
            Code::StdoutNoise => {
                "Look at the lines marked stdout_noise in its log; an option such as --quiet or --stdio often helps."
            }
            Code::DependencyBroken => {
                "Its entry may be right: a library that it uses is missing or has changed. Run another version of it, or keep the library's earlier version."
            }
            Code::OomKilled => {
                "Close something that needs memory, or give this server less to do; then use `satchel restart`."
            }
            Code::Dns => "Check the host name in its \"url\", and that this computer is online.",
            Code::SpawnDenied => "Make the file executable, or correct \"command\" or \"args\" in its entry.",
            Code::EntryWrong => "Correct its entry in the configuration, as the reason says.",
            Code::SecretSource => "Put it right there, or correct the entry. The next call reads it again.",
            Code::SandboxUnusable => "Correct \"sandbox\" in its entry.",
            Code::ExitedEarly => "Read the last lines of its log, then correct its arguments or environment.",
            Code::HandshakeTimeout => {
                "Start it by hand to see what it is waiting for; if it only needs longer, raise \"discoveryTimeout\" in its entry. A first download may need a second try."
            }
            Code::HandshakeRefused => {
                "Check that this program is an MCP server and that its arguments are right."
            }
            Code::ProtocolVersion => "Update the server to one that speaks a current protocol revision.",
            Code::Crashed => "Read its log; the next call starts it again.",
            Code::ListFailed => "Read its log; the last known tools are kept meanwhile.",
            Code::ToolPaused => {
                "Wait for the time given, then call it again; the server's log says what happened."
            }
            Code::NeedsCredential => "Set it with `satchel secrets set NAME`, or define the variable.",
            Code::Unreachable => "Check the address and the network.",
            Code::Tls => {
                "Check the address and this computer's clock; NODE_EXTRA_CA_CERTS names a file with further root certificates, such as a company's."
            }
            Code::Http401 => "Set a token in its \"headers\", for example \"Bearer ${secret:NAME}\".",
            Code::Http403 => {
                "Ask whoever runs it to allow this to your account, or to the token in its \"headers\"."
            }
            Code::Http404 => "Check the path of its \"url\"; many servers answer at /mcp.",
            Code::Http5xx => "The fault is on the server's side; the next call tries again.",
            Code::KeychainLocked => {
                "Unlock the keychain, then try again, or choose an encrypted file with `satchel secrets use-file`."
            }
            Code::KeychainAbsent => {
                "Start a keychain service such as gnome-keyring, or choose an encrypted file with `satchel secrets use-file`."
            }
            Code::VaultLocked => "Unlock it with `satchel secrets unlock`.",
            Code::ConfigInvalid => {
                "Fix the file at the place named; the last valid configuration stays in use meanwhile."
            }
            Code::RuleInvalid => {
                "Correct it in the file; until then, tools that it could be about are off, or each call asks."
            }
            Code::SettingInvalid => "Correct it in the file; until then, its most cautious value applies.",
            Code::SocketNotOpened => "Correct its path under \"sockets\" in the configuration.",
            Code::PortTaken => "Connect clients again with the new address, or free the port and restart.",
            Code::NoTools => {
                "Read its log and its documentation: many servers offer something only with an argument or a credential."
            }
            Code::Offline => "Connect this computer to a network; the next call tries again.",
            Code::NeedsSignIn => "Sign in, in Satchel's window or with `satchel login NAME`.",
            Code::NeedsMoreRights => "Allow it in the browser: Satchel's window, or `satchel login NAME`.",
            Code::NeedsClientId => {
                "Register an app at the provider, and enter its client ID in Satchel's window or as \"oauth\" in the entry."
            }
            Code::OauthRefused => "Read the reason; nothing was sent to a server that failed a check.",
            Code::OauthDenied => "Sign in again, and allow it in the browser.",
            Code::OauthDiscovery => {
                "Try again in a moment; if it persists, check its \"url\", or set a token in its \"headers\"."
            }
            Code::OauthRefresh => "Satchel tries again by itself; you are still signed in.",
            Code::OauthCallbackTimeout => "Sign in again, and finish in the browser within five minutes.",
            Code::SetAside => "Nothing to do: it was rebuilt. The damaged copy is next to it.",
            Code::LedgerUnusable => {
                "Check that the disk is not full and that Satchel may write to its data directory. Calls keep working."
            }
            Code::Deleted => "Remove it, or decide in Satchel's window that it may go on.",
            Code::HeldBack => {
                "A person must approve it first, in Satchel's window or with `satchel approve`."
            }
            Code::Denied => {
                "Do without it, or let the user do it or change the rule in \"toolRules\" of Satchel's configuration."
            }
            Code::SettingsHeld => {
                "Review them with `satchel approvals`, and accept them with `satchel approve --settings`."
            }
            Code::UnknownProfile => {
                "`satchel profile list` shows them; `satchel profile use` chooses the active one, `satchel profile bind` and `unbind` that of a client."
            }
            Code::SetupDiffers => {
                "Review it in Satchel's window, under Settings, or with `satchel setup`; it has no effect before that."
            }
            Code::NotInProfile => {
                "Do without it, or let the user choose another profile, in Satchel or with `satchel profile use`."
            }
            Code::ApprovalsLost => {
                "Review its tools again, in Satchel's window or with `satchel approve`; they are held back until then."
            }
            Code::ShortPassphrase => "Several words make a good one.",
            // Depends on the case; each refusal states its own action.
            Code::UnknownServer
            | Code::UnknownSecret
            | Code::UnknownClient
            | Code::WhichClient
            | Code::UnknownCall
            | Code::UnknownPath
            | Code::UnknownPage
            | Code::UnknownOrigin
            | Code::BadRequest
            | Code::BadQuery
            | Code::BadArguments
            | Code::BadName
            | Code::BadServer
            | Code::BadClient
            | Code::BadPaste
            | Code::BadRule
            | Code::BadAnswer
            | Code::BadBundle
            | Code::BadSkill
            | Code::UnknownSkill
            | Code::SkillExists
            | Code::TooManyPinned
            | Code::BadDescription
            | Code::NoDigest
            | Code::NotFromARegistry
            | Code::UnknownListing
            | Code::ChangedInPlace
            | Code::UpToDate
            | Code::PackageSwapped
            | Code::WayGone
            | Code::NeedsConsent
            | Code::UnknownWay
            | Code::NotAServer
            | Code::ServerExists
            | Code::ProfileExists
            | Code::ProfileInUse
            | Code::Needs
            | Code::Empty
            | Code::Unreadable
            | Code::Unwritable
            | Code::Ledger
            | Code::SecretStore
            | Code::Unreferenced
            | Code::WrongPassphrase
            | Code::UpstreamError
            | Code::CallFailed
            | Code::NotRepeatable
            | Code::ArgumentsNotKept
            | Code::Cancelled
            | Code::TooMany
            | Code::Closing
            | Code::NotOpen
            | Code::Panicked
            | Code::SwitchedOff
            | Code::NeedsPerson
            | Code::FromAServer
            | Code::NotForWindows
            | Code::ChangedMeanwhile
            | Code::Unread
            | Code::NothingRemoved
            | Code::NothingToUndo
            | Code::NotAsked
            | Code::OtherQuestion
            | Code::TooSoon
            | Code::NoSignIn
            | Code::NotConnected
            | Code::NotInstalled
            | Code::Paste
            | Code::NoWay
            | Code::ClientFile
            | Code::Changed
            | Code::VersionUnknown
            | Code::VersionsSeveral
            | Code::PinnedAlready
            | Code::NoVersion
            | Code::NotOpened
            | Code::PassingPath
            | Code::Autostart
            | Code::Clipboard => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::{Code, how_to_set};

    #[test]
    fn each_missing_credential_and_variable_is_named_with_its_own_way() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let secret = "Store it with `satchel secrets set TOK`.";
        let variable = "Set UNDEFINED_X in the environment that Satchel is started in.";
        assert_eq!(how_to_set(&names(&["TOK"]), &[]), secret);
        assert_eq!(how_to_set(&[], &names(&["UNDEFINED_X"])), variable);
        assert_eq!(how_to_set(&names(&["TOK"]), &names(&["UNDEFINED_X"])), format!("{secret} {variable}"));
    }

    #[test]
    fn no_code_is_one_that_nothing_produces() {
        let mut sources = String::new();
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for place in ["crates", "src-tauri/src"] {
            read_below(&repository.join(place), &mut sources);
        }
        for code in Code::ALL {
            assert!(sources.contains(&format!("Code::{code:?}")), "{code:?}");
        }
    }

    /// All Rust sources except this file.
    fn read_below(directory: &Path, sources: &mut String) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read_below(&path, sources);
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("model/code.rs") {
                sources.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }

    #[test]
    fn every_code_has_one_spelling_and_every_action_is_a_sentence() {
        let mut spellings = std::collections::BTreeSet::new();
        for &code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert!(spellings.insert(code.as_str()), "{} twice", code.as_str());
            let action = code.action();
            assert!(action.is_empty() || action.len() > 20 && action.ends_with('.'), "{code:?}: {action}");
        }
    }
}
