//! `on-a-terminal TERMINAL PROGRAM ARGUMENTS…`: becomes the program, as a person starts it in a terminal: with a session of
//! its own whose terminal this is, and with its three streams there.

use std::{fs::File, os::unix::process::CommandExt, process::Command};

use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

fn main() -> std::io::Result<()> {
    let mut words = std::env::args_os().skip(1);
    let (Some(terminal), Some(program)) = (words.next(), words.next()) else {
        return Err(std::io::Error::other("which terminal, and which program?"));
    };
    rustix::process::setsid()?;
    // The first terminal that a session leader opens becomes the session's controlling terminal.
    let terminal = File::options().read(true).write(true).open(terminal)?;
    dup2_stdin(&terminal)?;
    dup2_stdout(&terminal)?;
    dup2_stderr(&terminal)?;
    drop(terminal);
    Err(Command::new(program).args(words).exec())
}
