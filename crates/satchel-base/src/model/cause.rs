//! Why a server failed, in parts that a face can say in its own language. The English sentence beside it says the same.

use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};

use super::server::ContainerEngine;

/// Why a server failed. What a server, a launcher or the system wrote is verbatim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FailureCause {
    /// There is no such program.
    ProgramAbsent {
        /// Its path, or the name that was looked for.
        program: String,
        /// It was looked for in PATH.
        searched: bool,
    },
    /// Its working directory does not exist.
    DirectoryAbsent {
        /// The directory.
        directory: String,
    },
    /// The file of the program cannot be executed.
    NotExecutable {
        /// Its path.
        program: String,
    },
    /// The system does not allow this program to be started.
    NotPermitted {
        /// Its path.
        program: String,
    },
    /// An argument has a line break, which no batch file can be given.
    LineBreak {
        /// The path of the batch file.
        program: String,
    },
    /// The system could not start it.
    NotStarted {
        /// Its path.
        program: String,
        /// The system's error.
        error: String,
    },
    /// Secrets and variables that it needs have no value.
    Unset {
        /// Their names.
        names: Vec<String>,
    },
    /// Its command is a whole line: a program with its arguments.
    WholeLine {
        /// The line.
        line: String,
        /// The program in it.
        program: String,
    },
    /// Its entry has placeholders of another program, which mean nothing here.
    OtherPlaceholders {
        /// The placeholders.
        names: Vec<String>,
    },
    /// Its process ended.
    Exited {
        /// How.
        end: ProcessEnd,
        /// The line of its output that explains it best.
        wrote: Option<String>,
        /// It had answered requests.
        served: bool,
    },
    /// It closed its output and did not end.
    OutputClosed,
    /// It closed its input and did not end.
    InputClosed,
    /// It showed no sign of life before it was ready.
    Silent {
        /// For how long.
        seconds: u64,
        /// The line of its output that explains it best.
        wrote: Option<String>,
    },
    /// It did not answer a request in time.
    NoAnswer {
        /// The request's method; `None` for a client's call.
        method: Option<String>,
        /// The time.
        seconds: u64,
        /// The line of its output that explains it best.
        wrote: Option<String>,
    },
    /// It answered the handshake with an error.
    Refused {
        /// The error.
        said: String,
    },
    /// Its answer to a request is not what the protocol demands.
    Unusable {
        /// The request's method.
        method: String,
    },
    /// It speaks no protocol revision that Satchel supports.
    Revision {
        /// Those that it speaks, or its error.
        said: String,
    },
    /// It answered with an HTTP status instead of a result.
    Http {
        /// The status.
        status: u16,
        /// The beginning of the text that came with it.
        said: Option<String>,
        /// When it asks to be tried again, in seconds.
        retry_seconds: Option<u64>,
    },
    /// Its address redirects elsewhere.
    Redirected {
        /// The HTTP status.
        status: u16,
        /// The other address.
        target: String,
    },
    /// It cannot be reached.
    Unreached {
        /// The kind of trouble.
        trouble: Reach,
        /// The system's or the library's error.
        error: String,
    },
    /// It no longer knows its session.
    SessionExpired,
    /// Its sandbox cannot be set up.
    Sandbox {
        /// Why not.
        fault: SandboxFault,
    },
}

/// Why a sandbox cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SandboxFault {
    /// The entry names this relative path.
    #[error("\"{0}\" in its sandbox must be an absolute path, or begin with ~/")]
    Relative(String),
    /// Its temporary directory cannot be created, with the system's error.
    #[error("its directory for temporary files cannot be created: {0}")]
    Temporary(String),
    /// This system has no sandbox but containers.
    #[error(
        "this system has no sandbox of its own; name a \"container\" in it, or take \"sandbox\" out of its entry"
    )]
    Absent,
    /// A built-in server cannot run in a container.
    #[error("what is built in cannot run in a container")]
    BuiltIn,
    /// The program that runs containers is not installed.
    #[error("{} is installed, which its sandbox needs", match .0 {
        ContainerEngine::Auto => "neither podman nor docker",
        ContainerEngine::Podman => "no podman",
        ContainerEngine::Docker => "no docker",
    })]
    NoEngine(ContainerEngine),
    /// The container engine's client would obey this variable of the entry.
    #[error(
        "\"{0}\" in its env would steer the container's engine instead of the server; set it in the image"
    )]
    Steers(String),
    /// The path has a character that container engines read as a separator.
    #[error("\"{0}\" has a character that engines of containers take for a separator")]
    Unmountable(String),
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ProcessEnd {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// The system does not say.
    Unknown,
}

/// Why an address cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// Its host name is not known.
    Name,
    /// This computer has no route to its network.
    Network,
    /// No secure connection can be made.
    Security,
    /// Nothing listens there.
    Closed,
    /// Any other reason.
    Other,
}

impl FailureCause {
    /// The same with every text changed by `change`: secrets are redacted so, and long texts cut.
    #[must_use]
    pub fn with_texts(mut self, change: impl Fn(&str) -> String) -> Self {
        let alter = |text: &mut String| *text = change(text);
        match &mut self {
            Self::ProgramAbsent { program: text, .. }
            | Self::DirectoryAbsent { directory: text }
            | Self::NotExecutable { program: text }
            | Self::NotPermitted { program: text }
            | Self::LineBreak { program: text }
            | Self::Refused { said: text }
            | Self::Unusable { method: text }
            | Self::Revision { said: text }
            | Self::Redirected { target: text, .. }
            | Self::Unreached { error: text, .. } => alter(text),
            Self::WholeLine { line, program } => [line, program].into_iter().for_each(alter),
            Self::NotStarted { program, error } => [program, error].into_iter().for_each(alter),
            Self::Unset { names } | Self::OtherPlaceholders { names } => names.iter_mut().for_each(alter),
            Self::Exited { wrote: text, .. }
            | Self::Silent { wrote: text, .. }
            | Self::Http { said: text, .. } => text.iter_mut().for_each(alter),
            Self::NoAnswer { method, wrote, .. } => method.iter_mut().chain(wrote).for_each(alter),
            Self::Sandbox { fault } => fault.texts().for_each(alter),
            Self::OutputClosed | Self::InputClosed | Self::SessionExpired => {}
        }
        self
    }
}

impl SandboxFault {
    fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        match self {
            Self::Relative(text) | Self::Temporary(text) | Self::Steers(text) | Self::Unmountable(text) => {
                Some(text)
            }
            Self::Absent | Self::BuiltIn | Self::NoEngine(_) => None,
        }
        .into_iter()
    }
}

/// Reads a cause that another version may have written: one that is unknown here is none, and the sentence beside it
/// remains.
///
/// # Errors
/// If it is not even a value.
pub fn if_known<'de, D: Deserializer<'de>, C: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<C>, D::Error> {
    let written = Option::<serde_json::Value>::deserialize(deserializer)?;
    Ok(written.and_then(|written| serde_json::from_value(written).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Kept {
        #[serde(default, deserialize_with = "if_known", skip_serializing_if = "Option::is_none")]
        cause: Option<FailureCause>,
    }

    #[test]
    fn a_cause_is_read_back_and_an_unknown_one_is_none() {
        for cause in [
            FailureCause::Exited { end: ProcessEnd::Code(3), wrote: Some("no key".into()), served: false },
            FailureCause::Unreached { trouble: Reach::Name, error: "x".into() },
            FailureCause::OutputClosed,
            FailureCause::Sandbox { fault: SandboxFault::Absent },
        ] {
            let kept = Kept { cause: Some(cause) };
            let text = serde_json::to_string(&kept).unwrap();
            assert_eq!(serde_json::from_str::<Kept>(&text).unwrap(), kept, "{text}");
        }
        for text in [r#"{"cause":{"kind":"of_later","x":1}}"#, r#"{"cause":null}"#, "{}", r#"{"cause":7}"#] {
            assert_eq!(serde_json::from_str::<Kept>(text).unwrap(), Kept { cause: None }, "{text}");
        }
    }

    #[test]
    fn every_text_of_a_cause_can_be_redacted() {
        let hide = |text: &str| text.replace("s3cret", "***");
        let said = || "of s3cret".to_owned();
        for cause in [
            FailureCause::NotStarted { program: said(), error: said() },
            FailureCause::Unset { names: vec![said()] },
            FailureCause::Exited { end: ProcessEnd::Unknown, wrote: Some(said()), served: true },
            FailureCause::NoAnswer { method: Some(said()), seconds: 1, wrote: Some(said()) },
            FailureCause::Http { status: 500, said: Some(said()), retry_seconds: None },
            FailureCause::Unreached { trouble: Reach::Other, error: said() },
            FailureCause::Sandbox { fault: SandboxFault::Steers(said()) },
        ] {
            let text = serde_json::to_string(&cause.with_texts(hide)).unwrap();
            assert!(text.contains("***") && !text.contains("s3cret"), "{text}");
        }
    }
}
