//! Tips for what people type out of habit with other programs: the command that does what they probably mean.

use std::ffi::OsString;

use clap::{
    Error, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};
use satchel_core::model::shell;

use crate::args::Args;

/// Parses a command line, the program's name first.
///
/// # Errors
/// What is wrong with it, with a tip where one is known.
pub(crate) fn parse(line: impl IntoIterator<Item = OsString>) -> Result<Args, Error> {
    let line: Vec<OsString> = line.into_iter().collect();
    Args::try_parse_from(&line).map_err(|mut error| {
        let words: Vec<&str> = line.iter().map(|word| word.to_str().unwrap_or_default()).collect();
        if let Some(tip) = tip(&error, &words) {
            error.remove(ContextKind::SuggestedSubcommand);
            error.remove(ContextKind::SuggestedArg);
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        }
        error
    })
}

fn tip(error: &Error, line: &[&str]) -> Option<String> {
    match (error.kind(), line) {
        (ErrorKind::InvalidSubcommand, [_, word]) => other_name(word).map(ToOwned::to_owned),
        (ErrorKind::MissingRequiredArgument, [_, "add", name]) => {
            let name = shell::word(name);
            Some(format!(
                "to add a server of the catalog: `satchel install {name}`; `satchel search WORDS` finds its name"
            ))
        }
        (ErrorKind::MissingRequiredArgument, [_, "connect" | "disconnect"]) => {
            Some("`satchel clients --all` lists the clients that Satchel knows".to_owned())
        }
        (ErrorKind::UnknownArgument, [_, "profile", "add", ..]) => unknown(error)?
            .starts_with("--server")
            .then(|| "servers follow the name: `satchel profile add NAME SERVER…`".to_owned()),
        (ErrorKind::UnknownArgument, [_, "add", given @ ..]) if !given.contains(&"--") => {
            let unknown = unknown(error).filter(|word| !word.starts_with('-'))?;
            // The server may have the program's name; it comes first.
            let at = 1 + given.iter().skip(1).position(|word| *word == unknown)?;
            let quoted = |words: &[&str]| {
                words.iter().map(|word| format!(" {}", shell::word(word))).collect::<String>()
            };
            let (options, command) = given.split_at(at);
            Some(format!(
                "put `--` before the command: `satchel add{} --{}`",
                quoted(options),
                quoted(command)
            ))
        }
        _ => None,
    }
}

/// The argument that the command does not take.
fn unknown(error: &Error) -> Option<&str> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => Some(word),
        _ => None,
    }
}

/// What does here what other programs have this subcommand for.
fn other_name(word: &str) -> Option<&'static str> {
    match word {
        "start" | "run" | "up" => {
            Some("`satchel serve` runs the hub; `satchel restart NAME` starts a server")
        }
        "stop" | "down" | "kill" => {
            Some("`satchel quit` ends the hub; `satchel disable NAME` stops a server")
        }
        "version" => Some("`satchel --version` prints the version"),
        "config" | "configure" | "edit" | "settings" => {
            Some("settings are in the configuration file; `satchel doctor` says where it is")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        let words = ["satchel"].into_iter().chain(line.split(' ')).map(OsString::from);
        parse(words).unwrap_err().to_string()
    }

    #[test]
    fn habits_of_other_programs_lead_to_the_command_that_is_meant() {
        for (line, command) in [
            ("add fs npx -y some-server /tmp", "`satchel add fs -- npx -y some-server /tmp`"),
            ("add fs --env A=b npx some-server", "`satchel add fs --env A=b -- npx some-server`"),
            ("add npx npx -y some-server", "`satchel add npx -- npx -y some-server`"),
            ("add github", "`satchel install github`"),
            ("profile add web --server notes", "`satchel profile add NAME SERVER…`"),
            ("connect", "`satchel clients --all`"),
            ("start", "`satchel serve`"),
            ("stop", "`satchel quit`"),
            ("version", "`satchel --version`"),
            ("config", "`satchel doctor`"),
        ] {
            let told = told(line);
            assert!(told.contains(command) && told.contains("Usage:"), "{line}: {told}");
        }
    }

    #[test]
    fn other_mistakes_keep_their_own_tips() {
        assert!(told("listt").contains("'list'"));
        let unknown = told("add fs --enf A=b -- npx");
        assert!(unknown.contains("--env") && !unknown.contains("put `--`"), "{unknown}");
    }

    #[test]
    fn short_names_of_commands_are_known() {
        for line in ["ls", "rm x", "log x", "tool"] {
            assert!(
                parse(["satchel"].into_iter().chain(line.split(' ')).map(OsString::from)).is_ok(),
                "{line}"
            );
        }
    }
}
