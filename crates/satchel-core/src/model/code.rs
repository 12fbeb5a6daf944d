//! Stable error codes for servers, the hub and requests of faces. Codes are for programs, messages for people.

use serde::{Deserialize, Serialize};

/// Declares the codes, each with its spelling.
macro_rules! codes {
    ($($(#[$about:meta])* $code:ident = $spelling:literal,)*) => {
        /// What went wrong, as one of a fixed list. A code never changes its meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS))]
        pub enum Code {
            $($(#[$about])* #[serde(rename = $spelling)] $code,)*
        }

        impl Code {
            /// Every code, for tables and tests.
            pub const ALL: &[Code] = &[$(Code::$code),*];

            /// The code as it is written in JSON, logs and documentation.
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
    /// The program that runs many servers (node, uv, docker, …) is not installed, or not where we look.
    RuntimeMissing = "runtime_missing",
    /// Docker is installed, but its engine does not run.
    DockerDown = "docker_down",
    /// The program exists but may not be started.
    SpawnDenied = "spawn_denied",
    /// The process ended before it was ready.
    ExitedEarly = "exited_early",
    /// The process or endpoint did not answer the handshake in time.
    HandshakeTimeout = "handshake_timeout",
    /// The process printed text where only protocol belongs, and never answered.
    StdoutNoise = "stdout_noise",
    /// The process was killed from outside, most often because memory ran out.
    OomKilled = "oom_killed",
    /// The server answered the handshake with an error or with nonsense.
    HandshakeRefused = "handshake_refused",
    /// Server and hub share no protocol revision.
    ProtocolVersion = "protocol_version",
    /// The connection ended while the server was in use.
    Crashed = "crashed",
    /// The server's lists could not be read.
    ListFailed = "list_failed",
    /// A tool failed several times in a row and is not called for a moment.
    ToolPaused = "tool_paused",
    /// A credential or variable the server needs is not set.
    NeedsCredential = "needs_credential",
    /// The host name of a hosted server cannot be resolved.
    Dns = "dns",
    /// A hosted server refuses connections or does not answer.
    Unreachable = "unreachable",
    /// The hosted server's certificate cannot be verified.
    Tls = "tls",
    /// The hosted server wants a sign-in.
    Http401 = "http_401",
    /// The hosted server refuses this identity.
    Http403 = "http_403",
    /// The hosted server has nothing at this path.
    Http404 = "http_404",
    /// The hosted server failed.
    Http5xx = "http_5xx",
    /// The keychain is locked.
    KeychainLocked = "keychain_locked",
    /// This computer runs no keychain service.
    KeychainAbsent = "keychain_absent",
    /// The encrypted secrets file needs its passphrase.
    VaultLocked = "vault_locked",
    /// The configuration file cannot be used as it is.
    ConfigInvalid = "config_invalid",
    /// The usual port was taken by another program.
    PortTaken = "port_taken",
    /// A client's own socket cannot be opened.
    SocketNotOpened = "socket_not_opened",
    /// The server runs and offers nothing.
    NoTools = "no_tools",
    /// This computer has no network.
    Offline = "offline",
    /// Nobody is signed in to a hosted server that wants it.
    NeedsSignIn = "needs_sign_in",
    /// A tool wants more than the sign-in was granted.
    NeedsMoreRights = "needs_more_rights",
    /// The provider registers no apps by itself; the user has to enter a client ID.
    NeedsClientId = "needs_client_id",
    /// A sign-in did not pass a check, or the provider refused it.
    OauthRefused = "oauth_refused",
    /// A person declined a sign-in in the browser.
    OauthDenied = "oauth_denied",
    /// Where to sign in to a hosted server cannot be found out.
    OauthDiscovery = "oauth_discovery",
    /// A sign-in could not be renewed for the moment.
    OauthRefresh = "oauth_refresh",
    /// Nobody finished the sign-in in the browser in time.
    OauthCallbackTimeout = "oauth_callback_timeout",
    /// A file of ours was damaged and set aside.
    SetAside = "set_aside",
    /// Calls cannot be recorded.
    LedgerUnusable = "ledger_unusable",
    /// A definition changed or came later, and nobody has approved it.
    HeldBack = "held_back",
    /// What was approved of a server cannot be read any more.
    ApprovalsLost = "approvals_lost",
    /// A rule or a person does not allow a call.
    Denied = "denied",
    /// The configuration file has settings that nobody accepted.
    SettingsHeld = "settings_held",
    /// There is no such profile.
    UnknownProfile = "unknown_profile",
    /// Another computer's setup, in the followed folder, differs from ours.
    SetupDiffers = "setup_differs",
    /// The profile that a client looks through does not have this.
    NotInProfile = "not_in_profile",

    // Requests of faces, and calls.

    /// There is no such server.
    UnknownServer = "unknown_server",
    /// There is no such secret.
    UnknownSecret = "unknown_secret",
    /// There is no such client.
    UnknownClient = "unknown_client",
    /// Servers are moved out of one client only, and none was named.
    WhichClient = "which_client",
    /// There is no such call in the history.
    UnknownCall = "unknown_call",
    /// There is no such server or tool.
    UnknownPath = "unknown",
    /// A page of ours was used already, or is too old.
    UnknownPage = "unknown_page",
    /// Nobody can tell who asks.
    UnknownOrigin = "unknown_origin",
    /// The message is no request that is known.
    BadRequest = "bad_request",
    /// A parameter of an address is not understood.
    BadQuery = "bad_query",
    /// A tool's arguments are no JSON object.
    BadArguments = "bad_arguments",
    /// A name has characters that it may not have.
    BadName = "bad_name",
    /// An entry of a server is wrong.
    BadServer = "bad_server",
    /// A client's id has characters that it may not have.
    BadClient = "bad_client",
    /// What was pasted is not what the browser shows after a sign-in.
    BadPaste = "bad_paste",
    /// No rule can be written for this.
    BadRule = "bad_rule",
    /// An answer does not fit the question.
    BadAnswer = "bad_answer",
    /// A bundle cannot be used.
    BadBundle = "bad_bundle",
    /// A description of a server cannot be used.
    BadDescription = "bad_description",
    /// An image's digest cannot be found out.
    NoDigest = "no_digest",
    /// A server was not installed from a registry.
    NotFromARegistry = "not_from_a_registry",
    /// No registry lists this.
    UnknownListing = "unknown_listing",
    /// A registry lists other contents under the version that runs here.
    ChangedInPlace = "changed_in_place",
    /// No newer version is offered.
    UpToDate = "up_to_date",
    /// An update names another package than the one that runs here.
    PackageSwapped = "package_swapped",
    /// An update has no such way to run the server any more.
    WayGone = "way_gone",
    /// A person has to say yes to something by itself.
    NeedsConsent = "needs_consent",
    /// A registry has deleted this.
    Deleted = "deleted",
    /// A server cannot be run in this way.
    UnknownWay = "unknown_way",
    /// A text is no TOML.
    NotToml = "not_toml",
    /// A text is no server.
    NotAServer = "not_a_server",
    /// A server of this name exists.
    ServerExists = "server_exists",
    /// A profile of this name exists.
    ProfileExists = "profile_exists",
    /// Somebody uses a profile.
    ProfileInUse = "profile_in_use",
    /// Something is needed first that was not said.
    Needs = "needs",
    /// Nothing was given.
    Empty = "empty",
    /// A file or an answer cannot be read.
    Unreadable = "unreadable",
    /// A file cannot be written.
    Unwritable = "unwritable",
    /// The ledger cannot be read or changed.
    Ledger = "ledger",
    /// The store of secrets failed.
    SecretStore = "secret_store",
    /// The passphrase is not that of the encrypted file.
    WrongPassphrase = "wrong_passphrase",
    /// A server answered a call with an error.
    UpstreamError = "upstream_error",
    /// A call failed.
    CallFailed = "call_failed",
    /// A call in the history was not one of a tool.
    NotRepeatable = "not_repeatable",
    /// The arguments of a call in the history were not kept.
    ArgumentsNotKept = "arguments_not_kept",
    /// A person cancelled a call.
    Cancelled = "cancelled",
    /// More calls are under way than may be.
    TooMany = "too_many",
    /// The hub is ending.
    Closing = "closing",
    /// The hub is not open.
    NotOpen = "not_open",
    /// A part of the hub failed in a way that nobody thought of.
    Panicked = "panicked",
    /// The configuration does not allow it.
    SwitchedOff = "switched_off",
    /// Only a person may have this done.
    NeedsPerson = "needs_person",
    /// Whoever asks was started by a server.
    FromAServer = "from_a_server",
    /// A page of the window may not ask this.
    NotForWindows = "not_for_windows",
    /// What was looked at is not what is there by now.
    ChangedMeanwhile = "changed_meanwhile",
    /// Nobody has read yet what a server offers.
    Unread = "unread",
    /// Nothing was removed that could be put back.
    NothingRemoved = "nothing_removed",
    /// Nothing was done that could be taken back.
    NothingToUndo = "nothing_to_undo",
    /// A question is not asked any more.
    NotAsked = "not_asked",
    /// The question is of another kind than the answer.
    OtherQuestion = "other_question",
    /// A question has been in view too short a time to be answered with yes.
    TooSoon = "too_soon",
    /// There is nothing to sign in to, or nobody has.
    NoSignIn = "no_sign_in",
    /// A client has no entry of ours.
    NotConnected = "not_connected",
    /// A client is not on this computer.
    NotInstalled = "not_installed",
    /// A client takes an entry from a person's hand only.
    Paste = "paste",
    /// A client cannot be connected in this way.
    NoWay = "no_way",
    /// A client's file cannot be changed as it is.
    ClientFile = "client_file",
    /// A client's file was changed by somebody else in the meantime.
    Changed = "changed",
    /// Which version of a package was fetched is not known.
    VersionUnknown = "version_unknown",
    /// Several versions of a package are here.
    VersionsSeveral = "versions_several",
    /// An entry names one version already.
    PinnedAlready = "pinned_already",
    /// A text names no version.
    NoVersion = "no_version",
    /// A page could not be opened in the browser.
    NotOpened = "not_opened",
    /// A program would be started later from a path that will not be there then.
    PassingPath = "passing_path",
    /// What starts at login cannot be changed.
    Autostart = "autostart",
    /// There is no newer version of this program to install.
    NoUpdate = "no_update",
    /// The clipboard cannot be written to.
    Clipboard = "clipboard",
}

impl Code {
    /// Does a person have to sign in, or say more about how, before it can go on?
    pub fn is_sign_in(self) -> bool {
        matches!(self, Code::NeedsSignIn | Code::NeedsMoreRights | Code::NeedsClientId)
    }

    /// The same for a server behind an address.
    pub fn action_at_address(self) -> &'static str {
        match self {
            Code::HandshakeTimeout => {
                "Check that its \"url\" is right and that the service answers; then call again."
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

    /// What a person can do about it where it is about this server.
    pub fn action_for(self, server: &str) -> String {
        if self.is_sign_in() { self.action().replace("NAME", server) } else { self.action().to_owned() }
    }

    /// What a person can do about it, in one sentence; empty where that differs from case to case.
    pub fn action(self) -> &'static str {
        match self {
            Code::NoUpdate => "Look for a newer version first.",
            Code::SpawnNotFound => "Install the program, or write its full path as \"command\".",
            Code::RuntimeMissing => {
                "Install it (Node for npx, uv for uvx), or write its full path as \"command\"; `satchel doctor` lists where it looked."
            }
            Code::DockerDown => "Start Docker, then use `satchel restart`.",
            Code::StdoutNoise => {
                "Look at the lines marked stdout_noise in its log; an option such as --quiet or --stdio often helps."
            }
            Code::OomKilled => {
                "Close something that needs memory, or give this server less to do; then use `satchel restart`."
            }
            Code::Dns => "Check the host name in its \"url\", and that this computer is online.",
            Code::SpawnDenied => "Make the file executable, or correct \"command\".",
            Code::ExitedEarly => "Read the last lines of its log, then correct its arguments or environment.",
            Code::HandshakeTimeout => {
                "Start it by hand to see what it is waiting for; a first download may need a second try."
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
            Code::Tls => "Check the address and this computer's certificates and clock.",
            Code::Http401 => "Set a token in its \"headers\", for example \"Bearer ${secret:NAME}\".",
            Code::Http403 => "Check the rights of the token in its \"headers\".",
            Code::Http404 => "Check the path of its \"url\"; many servers answer at /mcp.",
            Code::Http5xx => "The fault is on the server's side; the next call tries again.",
            Code::KeychainLocked => "Unlock the keychain, then try again.",
            Code::KeychainAbsent => {
                "Start a keychain service such as gnome-keyring, or choose an encrypted file with `satchel secrets use-file`."
            }
            Code::VaultLocked => "Unlock it with `satchel secrets unlock`.",
            Code::ConfigInvalid => {
                "Fix the file at the place named; the last valid configuration stays in use meanwhile."
            }
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
                "Try again in a moment; if it stays so, check its \"url\", or set a token in its \"headers\"."
            }
            Code::OauthRefresh => "Satchel tries again by itself; you are still signed in.",
            Code::OauthCallbackTimeout => "Sign in again, and finish in the browser within five minutes.",
            Code::SetAside => "Nothing to do: it was rebuilt. The damaged copy is next to it.",
            Code::LedgerUnusable => {
                "Check that the disk is not full and that Satchel may write to its data directory. Calls keep working."
            }
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
                "Choose another with `satchel profile use` or in Satchel's window; `satchel profile list` shows them."
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
            // What to do differs from case to case, and stands in each refusal.
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
            | Code::BadDescription
            | Code::NoDigest
            | Code::NotFromARegistry
            | Code::UnknownListing
            | Code::ChangedInPlace
            | Code::UpToDate
            | Code::PackageSwapped
            | Code::WayGone
            | Code::NeedsConsent
            | Code::Deleted
            | Code::UnknownWay
            | Code::NotToml
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

    use super::Code;

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

    /// All Rust but this file.
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
