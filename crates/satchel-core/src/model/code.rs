//! Stable names of what can be wrong with a server or the hub. Text is for people, codes are for programs.

use serde::{Deserialize, Serialize};

/// What went wrong, as one of a fixed list. A code never changes its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The program to start was not found.
    SpawnNotFound,
    /// The program that runs many servers (node, uv, docker, …) is not installed, or not where we look.
    RuntimeMissing,
    /// Docker is installed, but its engine does not run.
    DockerDown,
    /// The program exists but may not be started.
    SpawnDenied,
    /// The process ended before it was ready.
    ExitedEarly,
    /// The process or endpoint did not answer the handshake in time.
    HandshakeTimeout,
    /// The process printed text where only protocol belongs, and never answered.
    StdoutNoise,
    /// The process was killed from outside, most often because memory ran out.
    OomKilled,
    /// The server answered the handshake with an error or with nonsense.
    HandshakeRefused,
    /// Server and hub share no protocol revision.
    ProtocolVersion,
    /// The connection ended while the server was in use.
    Crashed,
    /// The server failed too often and is left alone for a while.
    CrashLoop,
    /// The server's lists could not be read.
    ListFailed,
    /// A tool failed several times in a row and is not called for a moment.
    ToolPaused,
    /// A credential or variable the server needs is not set.
    NeedsCredential,
    /// The host name of a hosted server cannot be resolved.
    Dns,
    /// A hosted server refuses connections or does not answer.
    Unreachable,
    /// The hosted server's certificate cannot be verified.
    Tls,
    /// The hosted server wants a sign-in.
    #[serde(rename = "http_401")]
    Http401,
    /// The hosted server refuses this identity.
    #[serde(rename = "http_403")]
    Http403,
    /// The hosted server has nothing at this path.
    #[serde(rename = "http_404")]
    Http404,
    /// The hosted server failed.
    #[serde(rename = "http_5xx")]
    Http5xx,
    /// The keychain is locked.
    KeychainLocked,
    /// This computer runs no keychain service.
    KeychainAbsent,
    /// The encrypted secrets file needs its passphrase.
    VaultLocked,
    /// The configuration file cannot be used as it is.
    ConfigInvalid,
    /// The usual port was taken by another program.
    PortTaken,
    /// The server runs and offers nothing.
    NoTools,
    /// This computer has no network.
    Offline,
    /// Where to sign in to a hosted server cannot be found out.
    OauthDiscovery,
    /// A sign-in that was good can no longer be renewed.
    OauthRefresh,
    /// Nobody finished the sign-in in the browser in time.
    OauthCallbackTimeout,
    /// An answer was larger than the limit.
    TooBig,
    /// A file of ours was damaged and set aside.
    SetAside,
    /// Calls cannot be recorded.
    LedgerUnusable,
    /// A definition changed or came later, and nobody has approved it.
    HeldBack,
    /// What was approved of a server cannot be read any more.
    ApprovalsLost,
    /// A rule or a person does not allow a call.
    Denied,
    /// The configuration file has settings that nobody accepted.
    SettingsHeld,
}

impl Code {
    /// Every code, for tables and tests.
    pub const ALL: [Code; 39] = [
        Code::SpawnNotFound,
        Code::RuntimeMissing,
        Code::DockerDown,
        Code::SpawnDenied,
        Code::ExitedEarly,
        Code::HandshakeTimeout,
        Code::StdoutNoise,
        Code::OomKilled,
        Code::HandshakeRefused,
        Code::ProtocolVersion,
        Code::Crashed,
        Code::CrashLoop,
        Code::ListFailed,
        Code::ToolPaused,
        Code::NeedsCredential,
        Code::Dns,
        Code::Unreachable,
        Code::Tls,
        Code::Http401,
        Code::Http403,
        Code::Http404,
        Code::Http5xx,
        Code::KeychainLocked,
        Code::KeychainAbsent,
        Code::VaultLocked,
        Code::ConfigInvalid,
        Code::PortTaken,
        Code::NoTools,
        Code::Offline,
        Code::OauthDiscovery,
        Code::OauthRefresh,
        Code::OauthCallbackTimeout,
        Code::TooBig,
        Code::SetAside,
        Code::LedgerUnusable,
        Code::HeldBack,
        Code::ApprovalsLost,
        Code::Denied,
        Code::SettingsHeld,
    ];

    /// The code as it is written in JSON, logs and documentation.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::SpawnNotFound => "spawn_not_found",
            Code::RuntimeMissing => "runtime_missing",
            Code::DockerDown => "docker_down",
            Code::SpawnDenied => "spawn_denied",
            Code::ExitedEarly => "exited_early",
            Code::HandshakeTimeout => "handshake_timeout",
            Code::StdoutNoise => "stdout_noise",
            Code::OomKilled => "oom_killed",
            Code::HandshakeRefused => "handshake_refused",
            Code::ProtocolVersion => "protocol_version",
            Code::Crashed => "crashed",
            Code::CrashLoop => "crash_loop",
            Code::ListFailed => "list_failed",
            Code::ToolPaused => "tool_paused",
            Code::NeedsCredential => "needs_credential",
            Code::Dns => "dns",
            Code::Unreachable => "unreachable",
            Code::Tls => "tls",
            Code::Http401 => "http_401",
            Code::Http403 => "http_403",
            Code::Http404 => "http_404",
            Code::Http5xx => "http_5xx",
            Code::KeychainLocked => "keychain_locked",
            Code::KeychainAbsent => "keychain_absent",
            Code::VaultLocked => "vault_locked",
            Code::ConfigInvalid => "config_invalid",
            Code::PortTaken => "port_taken",
            Code::NoTools => "no_tools",
            Code::Offline => "offline",
            Code::OauthDiscovery => "oauth_discovery",
            Code::OauthRefresh => "oauth_refresh",
            Code::OauthCallbackTimeout => "oauth_callback_timeout",
            Code::TooBig => "too_big",
            Code::SetAside => "set_aside",
            Code::LedgerUnusable => "ledger_unusable",
            Code::HeldBack => "held_back",
            Code::ApprovalsLost => "approvals_lost",
            Code::Denied => "denied",
            Code::SettingsHeld => "settings_held",
        }
    }

    /// The same for a server behind an address.
    pub fn action_at_address(self) -> &'static str {
        match self {
            Code::HandshakeTimeout => {
                "Check that its \"url\" is right and that the service answers; then call again."
            }
            Code::HandshakeRefused => "Check that its \"url\" is the address of an MCP server.",
            Code::ExitedEarly => "Check the address and the network.",
            Code::Crashed => "It is connected to again at the next call.",
            Code::CrashLoop => "Check its service, then use `satchel restart`.",
            Code::ProtocolVersion => {
                "Look whether its service has an address for a current protocol revision."
            }
            other => other.action(),
        }
    }

    /// What a person can do about it, in one sentence.
    pub fn action(self) -> &'static str {
        match self {
            Code::SpawnNotFound => "Install the program, or write its full path as \"command\".",
            Code::RuntimeMissing => {
                "Install it (Node for npx, uv for uvx), or write its full path as \"command\"; `satchel doctor` says where was looked."
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
                "Start it by hand to see what it waits for; a first download may need a second try."
            }
            Code::HandshakeRefused => {
                "Check that this program is an MCP server and that its arguments are right."
            }
            Code::ProtocolVersion => "Update the server to one that speaks a current protocol revision.",
            Code::Crashed => "Read its log; it is started again at the next call.",
            Code::CrashLoop => "Read its log, correct the cause, then use `satchel restart`.",
            Code::ListFailed => "Read its log; the last known tools are kept meanwhile.",
            Code::ToolPaused => {
                "Wait for the time named, then call it again; its server's log says what happened."
            }
            Code::NeedsCredential => "Set it with `satchel secrets set NAME`, or define the variable.",
            Code::Unreachable => "Check the address and the network.",
            Code::Tls => "Check the address and this computer's certificates and clock.",
            Code::Http401 => "Set a token in its \"headers\", for example \"Bearer ${secret:NAME}\".",
            Code::Http403 => "Check the rights of the token in its \"headers\".",
            Code::Http404 => "Check the path of its \"url\"; many servers answer at /mcp.",
            Code::Http5xx => "The fault is on the other side; it is tried again at the next call.",
            Code::KeychainLocked => "Unlock the keychain, then try again.",
            Code::KeychainAbsent => {
                "Start a keychain service such as gnome-keyring, or choose an encrypted file with `satchel secrets use-file`."
            }
            Code::VaultLocked => "Unlock it with `satchel secrets unlock`.",
            Code::ConfigInvalid => "Correct the file at the place named; what ran before goes on meanwhile.",
            Code::PortTaken => "Connect clients again with the new address, or free the port and restart.",
            Code::NoTools => {
                "Read its log and its documentation: many servers offer something only with an argument or a credential."
            }
            Code::Offline => "Connect this computer to a network; it is tried again at the next call.",
            Code::OauthDiscovery => {
                "Check its \"url\"; if it is right, set a token in its \"headers\" instead of signing in."
            }
            Code::OauthRefresh => "Sign in to this server again.",
            Code::OauthCallbackTimeout => "Sign in again, and finish in the browser within five minutes.",
            Code::TooBig => "Ask the tool for less, for example with a limit or a filter.",
            Code::SetAside => "Nothing; it was rebuilt. The damaged copy lies beside it.",
            Code::LedgerUnusable => {
                "Calls work as before. Look whether the disk is full, and whether Satchel may write to its data directory."
            }
            Code::HeldBack => {
                "A person has to look at it first, in Satchel's window or with `satchel approve`."
            }
            Code::Denied => {
                "Do without it, or let the user do it or change the rule in \"toolRules\" of Satchel's configuration."
            }
            Code::SettingsHeld => {
                "Look at them with `satchel approvals`, and accept them with `satchel approve --settings`."
            }
            Code::ApprovalsLost => {
                "Look at its tools again, in Satchel's window or with `satchel approve`; until then they are held back."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    /// The failures that are told apart, as the design of the window lists them.
    #[test]
    fn the_catalogue_of_failures_is_complete() {
        let catalogue = [
            "spawn_not_found",
            "spawn_denied",
            "exited_early",
            "handshake_timeout",
            "stdout_noise",
            "runtime_missing",
            "docker_down",
            "port_taken",
            "dns",
            "tls",
            "http_401",
            "http_403",
            "http_404",
            "http_5xx",
            "oauth_discovery",
            "oauth_refresh",
            "oauth_callback_timeout",
            "keychain_locked",
            "keychain_absent",
            "protocol_version",
            "no_tools",
            "too_big",
            "crash_loop",
            "oom_killed",
            "offline",
        ];
        for code in catalogue {
            assert!(Code::ALL.iter().any(|known| known.as_str() == code), "{code} is missing");
        }
    }

    #[test]
    fn every_code_has_one_spelling_and_at_least_one_action() {
        let mut spellings = std::collections::BTreeSet::new();
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert!(spellings.insert(code.as_str()), "{} twice", code.as_str());
            assert!(code.action().len() > 20 && code.action().ends_with('.'), "{code:?}: {}", code.action());
        }
    }
}
