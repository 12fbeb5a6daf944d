//! Classifies failed starts and ends by their symptoms, and words them so that they say whose fault it is.

use crate::model::{
    Code,
    cause::{FailureCause, Reach},
};

/// Refines the code of a failed start by its circumstances.
pub(super) fn closer(code: Code, message: &str, hosted: bool, noisy: bool) -> Code {
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    match code {
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
        // Exit codes of a shell or `env` for a missing or non-executable program.
        Code::ExitedEarly if says(&["ended with exit code 127"]) => Code::SpawnNotFound,
        Code::ExitedEarly if says(&["ended with exit code 126"]) => Code::SpawnDenied,
        Code::HandshakeTimeout if noisy => Code::StdoutNoise,
        other => other,
    }
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
            (Code::HandshakeTimeout, "silent", false, true, Code::StdoutNoise),
            (Code::HandshakeTimeout, "silent", false, false, Code::HandshakeTimeout),
        ] {
            assert_eq!(closer(code, message, hosted, noisy), expected, "{message}");
        }
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
