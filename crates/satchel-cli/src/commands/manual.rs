//! `completions` and `man`: what shells and manuals are told about this program, made from its own words.

use std::{fs, path::Path, process::ExitCode};

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::{
    args::Args,
    output::{say, say_aside},
};

pub(crate) fn completions(shell: Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "satchel", &mut script);
    say(String::from_utf8(script).context("the completions are no text")?.trim_end());
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(directory: &Path) -> anyhow::Result<ExitCode> {
    let shown = directory.display();
    fs::create_dir_all(directory).with_context(|| format!("cannot make {shown}"))?;
    clap_mangen::generate_to(Args::command(), directory)
        .with_context(|| format!("cannot write the manual into {shown}"))?;
    say_aside(&format!("The manual is in {shown}."));
    Ok(ExitCode::SUCCESS)
}
