//! Classifies failed starts and ends by their symptoms, and words them so that they say whose fault it is.

use crate::model::{
    Code,
    cause::{FailureCause, Reach},
};

/// Refines the code of a failed start by its circumstances.
pub(super) fn closer(code: Code, message: &str, hosted: bool, noisy: bool) -> Code {
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    match code {
        // A certificate, a name or a port may be the proxy's.
        Code::ExitedEarly if hosted && says(&["the proxy "]) => Code::Unreachable,
        Code::ExitedEarly if hosted && says(&["answered HTTP 5"]) => Code::Http5xx,
        Code::ExitedEarly if hosted && says(&["certificate", "tls", "handshake", "corrupt message"]) => {
            Code::Tls
        }
        Code::ExitedEarly if hosted && says(&["etwork is unreachable", "unreachable network"]) => {
            Code::Offline
        }
        Code::ExitedEarly if hosted && says(&["dns", "lookup address", "resolve"]) => Code::Dns,
        Code::ExitedEarly if hosted => Code::Unreachable,
        Code::ExitedEarly
            if says(&["Docker daemon", "docker daemon", "dockerDesktop", "connect to Podman"]) =>
        {
            Code::DockerDown
        }
        // The hub itself always says so when it kills a server.
        Code::ExitedEarly | Code::Crashed if says(&["ended by signal 9"]) => Code::OomKilled,
        Code::ExitedEarly if breaks_by_dependency(message) => Code::DependencyBroken,
        // Exit codes of a shell or `env` for a missing or non-executable program.
        Code::ExitedEarly if says(&["ended with exit code 127"]) => Code::SpawnNotFound,
        Code::ExitedEarly if says(&["ended with exit code 126"]) => Code::SpawnDenied,
        Code::HandshakeTimeout if noisy => Code::StdoutNoise,
        other => other,
    }
}

/// Does a library that it uses lack something, rather than an argument or a variable?
fn breaks_by_dependency(message: &str) -> bool {
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let of_python = says(&["ModuleNotFoundError: No module named", "ImportError: cannot import name"])
        || message.contains("AttributeError: ") && says(&["has no attribute"])
        || message.contains("TypeError: ") && says(&["got an unexpected keyword argument"]);
    let of_node = says(&[
        "ERR_PACKAGE_PATH_NOT_EXPORTED",
        "does not provide an export named",
        "ERR_REQUIRE_ESM",
        "Cannot find package '",
    ]) || message.split("Cannot find module '").nth(1).is_some_and(is_a_package);
    of_python || of_node
}

/// A package, and no file that an argument names.
fn is_a_package(name: &str) -> bool {
    let is_drive = name.as_bytes().get(1) == Some(&b':');
    !name.starts_with(['/', '.', '\\']) && !is_drive
}

/// What to do about a broken library, where it is known: servers that ask for any `mcp` break under its second version.
pub(super) fn cure(code: Code, message: &str) -> Option<&'static str> {
    let of_mcp = message.contains("'mcp")
        || message.contains("'Server' object")
        || message.contains("'FastMCP' object");
    (code == Code::DependencyBroken && of_mcp && !message.contains("'mcp'"))
        .then_some("the library mcp has changed since; `uvx --with 'mcp<2' …` keeps its earlier version")
}

/// Says why an address cannot be reached, by the code of the failed start.
pub(super) fn tell_trouble(cause: Option<&mut FailureCause>, code: Code) {
    let Some(FailureCause::Unreached { trouble, error }) = cause else { return };
    *trouble = match code {
        Code::Dns => Reach::Name,
        Code::Offline => Reach::Network,
        Code::Tls => Reach::Security,
        Code::Unreachable if is_refused(error) => Reach::Closed,
        _ => Reach::Other,
    };
}

fn is_refused(error: &str) -> bool {
    error.to_lowercase().contains("refused")
}

/// Why an address could not be used, as a sentence that says whose fault it is.
pub(super) fn unreached(code: Code, message: &str) -> String {
    let detail = message.strip_prefix("it cannot be reached: ").unwrap_or(message);
    let what = match code {
        Code::Dns => "it cannot be reached: its host name is not known",
        Code::Offline => "it cannot be reached: this computer has no route to its network",
        Code::Tls => "it cannot be reached: no secure connection can be made to it",
        Code::Unreachable if is_refused(detail) => "it cannot be reached: nothing listens at its address",
        Code::Http404 => "no MCP server answers at this path",
        Code::Http5xx => "the server itself fails",
        _ => return message.to_owned(),
    };
    format!("{what}: {detail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_start_is_classified_by_its_symptoms() {
        for (code, message, hosted, noisy, expected) in [
            (Code::ExitedEarly, "it cannot be reached: invalid peer certificate", true, false, Code::Tls),
            // Of rustls, where something else than TLS answers.
            (Code::ExitedEarly, "it cannot be reached: received corrupt message", true, false, Code::Tls),
            (Code::ExitedEarly, "it cannot be reached: failed to lookup address", true, false, Code::Dns),
            (Code::ExitedEarly, "it cannot be reached: Network is unreachable", true, false, Code::Offline),
            (Code::ExitedEarly, "it cannot be reached: Connection refused", true, false, Code::Unreachable),
            (Code::ExitedEarly, "it answered HTTP 503 Service Unavailable", true, false, Code::Http5xx),
            (
                Code::ExitedEarly,
                "docker: Cannot connect to the Docker daemon at x",
                false,
                false,
                Code::DockerDown,
            ),
            (Code::ExitedEarly, "the process was ended by signal 9", false, false, Code::OomKilled),
            (Code::ExitedEarly, "the process ended with exit code 1", false, true, Code::ExitedEarly),
            (Code::Crashed, "x (the process was ended by signal 9)", false, true, Code::OomKilled),
            (Code::Crashed, "the process was ended by signal 11", false, true, Code::Crashed),
            (Code::ExitedEarly, "x (the process ended with exit code 127)", false, true, Code::SpawnNotFound),
            (Code::ExitedEarly, "the process ended with exit code 126", false, true, Code::SpawnDenied),
            (
                Code::ExitedEarly,
                "it cannot be reached: the proxy p answered HTTP 503",
                true,
                false,
                Code::Unreachable,
            ),
            (
                Code::ExitedEarly,
                "ModuleNotFoundError: No module named 'mcp.server.fastmcp' (the process ended with exit code 1)",
                false,
                false,
                Code::DependencyBroken,
            ),
            (
                Code::ExitedEarly,
                "AttributeError: 'Server' object has no attribute 'list_resources'",
                false,
                false,
                Code::DependencyBroken,
            ),
            (
                Code::ExitedEarly,
                "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/a.mjs",
                false,
                false,
                Code::DependencyBroken,
            ),
            (Code::ExitedEarly, "Error: Cannot find module 'zod'", false, false, Code::DependencyBroken),
            (Code::ExitedEarly, "Error: Cannot find module '/srv/none.js'", false, false, Code::ExitedEarly),
            (Code::ExitedEarly, "KeyError: 'KEY'", false, false, Code::ExitedEarly),
            (Code::HandshakeTimeout, "silent", false, true, Code::StdoutNoise),
            (Code::HandshakeTimeout, "silent", false, false, Code::HandshakeTimeout),
        ] {
            assert_eq!(closer(code, message, hosted, noisy), expected, "{message}");
        }
    }

    #[test]
    fn a_known_break_has_a_cure() {
        let cured = |message: &str| cure(Code::DependencyBroken, message).is_some();
        assert!(cured("ModuleNotFoundError: No module named 'mcp.server.fastmcp'"));
        assert!(cured("AttributeError: 'Server' object has no attribute 'list_resources'"));
        assert!(!cured("ModuleNotFoundError: No module named 'requests'"));
        assert!(!cured("ModuleNotFoundError: No module named 'mcp'"), "it is not installed at all");
        assert_eq!(cure(Code::ExitedEarly, "'mcp.server"), None);
    }

    #[test]
    fn the_trouble_with_an_address_is_told_as_its_code_says() {
        for (code, error, expected) in [
            (Code::Dns, "failed to lookup address", Reach::Name),
            (Code::Offline, "Network is unreachable", Reach::Network),
            (Code::Tls, "invalid peer certificate", Reach::Security),
            (Code::Unreachable, "Connection refused (os error 111)", Reach::Closed),
            (Code::Unreachable, "operation timed out", Reach::Other),
        ] {
            let error = error.to_owned();
            let mut cause = FailureCause::Unreached { trouble: Reach::Other, error: error.clone() };
            tell_trouble(Some(&mut cause), code);
            assert_eq!(cause, FailureCause::Unreached { trouble: expected, error });
        }
    }
}
