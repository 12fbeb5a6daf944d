//! `completions` and `man`: generates shell completions and manual pages from the grammar.

use std::{fs, path::Path, process::ExitCode};

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::{
    args::Args,
    output::{Lines, say, say_aside},
};

pub(crate) fn completions(shell: Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "satchel", &mut script);
    let script = String::from_utf8(script).context("the completions are not valid UTF-8")?;
    say(Lines::block("", &script));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(directory: &Path) -> anyhow::Result<ExitCode> {
    let shown = directory.display();
    fs::create_dir_all(directory).with_context(|| format!("cannot make {shown}"))?;
    clap_mangen::generate_to(Args::command(), directory)
        .with_context(|| format!("cannot write the manual into {shown}"))?;
    say_aside(format!("The manual is in {shown}."));
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::{fmt::Write, path::Path};

    use clap::{Arg, Command};

    use super::*;

    const REWRITE: &str = "SATCHEL_WRITE_DOCS";
    const HEAD: &str = "# Command line\n\n\
        For people who use the terminal. Generated from the program's help by `SATCHEL_WRITE_DOCS=1 cargo test -p \
        satchel-cli manual`.\n\n\
        Every command takes `--json`, for programs. Exit codes: 0 success, 1 failure, 2 usage error. If a hub \
        runs, commands talk to it over a socket that only you can open.\n";

    #[test]
    fn the_document_says_what_the_help_says() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
        let mut text = HEAD.to_owned();
        let mut program = Args::command();
        program.build();
        for command in program.get_subcommands().filter(|command| !hides(command)) {
            describe(command, "satchel", &mut text);
        }
        if std::env::var_os(REWRITE).is_some() {
            fs::write(&path, &text).expect("the document can be written");
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(written == text, "the help has changed: run the test with {REWRITE}=1");
    }

    fn hides(command: &Command) -> bool {
        command.is_hide_set() || command.get_name() == "help"
    }

    fn describe(command: &Command, parent: &str, text: &mut String) {
        let name = format!("{parent} {}", command.get_name());
        let below: Vec<&Command> = command.get_subcommands().filter(|command| !hides(command)).collect();
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let mut usage = name.clone();
        let shown = |argument: &&Arg| {
            !argument.is_hide_set() && !argument.is_global_set() && argument.get_id() != "help"
        };
        let arguments: Vec<&Arg> = command.get_arguments().filter(shown).collect();
        for argument in arguments.iter().filter(|argument| argument.is_positional()) {
            let _ = write!(usage, " {argument}");
        }
        if below.is_empty() || !arguments.is_empty() {
            let _ = write!(text, "\n## `{usage}`\n\n{about}.\n");
        }
        let told = arguments.iter().filter(|argument| argument.get_help().is_some());
        let rows: Vec<String> = told
            .map(|argument| {
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                format!("| `{}` | {} |", cell(&argument.to_string()), cell(&help))
            })
            .collect();
        if !rows.is_empty() {
            let _ = write!(text, "\n| | |\n|---|---|\n{}\n", rows.join("\n"));
        }
        for command in below {
            describe(command, &name, text);
        }
    }

    fn cell(text: &str) -> String {
        text.replace('|', "\\|").replace('\n', " ")
    }
}
