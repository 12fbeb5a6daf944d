//! The origin of a request, determined once at the border and passed to the hub with it.

use std::fmt;

/// Who sent a request to the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A person in Satchel's own window or tray.
    Window,
    /// A person who confirmed the request at a terminal.
    Terminal {
        /// The process that asked the person.
        pid: u32,
    },
    /// A program, or a command that did not ask a person.
    Program {
        /// Its process id, if the system tells.
        pid: Option<u32>,
        /// Its program's name; empty if unknown.
        name: String,
        /// For Satchel's own command line: the name of the program that started it.
        parent: Option<String>,
    },
}

impl Origin {
    /// Did a person confirm it?
    pub fn is_person(&self) -> bool {
        match self {
            Origin::Window | Origin::Terminal { .. } => true,
            Origin::Program { .. } => false,
        }
    }
}

/// The form used in the audit log.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Window => f.write_str("person in the window"),
            Origin::Terminal { pid } => write!(f, "person at a terminal (pid {pid})"),
            Origin::Program { pid, name, parent } => {
                f.write_str(if name.is_empty() { "unknown program" } else { "program " })?;
                f.write_str(name)?;
                if let Some(pid) = pid {
                    write!(f, " (pid {pid})")?;
                }
                parent.as_ref().map_or(Ok(()), |parent| write!(f, ", started by {parent}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_and_a_program_are_told_apart() {
        let program = |pid, name: &str, parent: Option<&str>| Origin::Program {
            pid,
            name: name.into(),
            parent: parent.map(Into::into),
        };
        for (origin, is_person, text) in [
            (Origin::Window, true, "person in the window"),
            (Origin::Terminal { pid: 7 }, true, "person at a terminal (pid 7)"),
            (program(Some(7), "curl", None), false, "program curl (pid 7)"),
            (
                program(Some(7), "satchel", Some("node (pid 3)")),
                false,
                "program satchel (pid 7), started by node (pid 3)",
            ),
            (program(None, "", None), false, "unknown program"),
        ] {
            assert_eq!((origin.is_person(), origin.to_string().as_str()), (is_person, text));
        }
    }
}
