//! The opener: starts what a person opens from the window (an editor, a browser) outside of the hub's process tree, so that
//! it is not taken for a program that a server started. Serves one app and exits with it; knows no address and no file by
//! itself.
//!
//! Theory of operation: the app starts this program as `opener`, which starts itself as `opens` and exits. The second
//! process belongs to the session then, provided that the app is not a reaper yet, and so does what it starts.

use std::{
    io::{self, BufRead, Write},
    process::{Command, ExitCode, Stdio},
};

/// The role of the first process.
pub const ROLE: &str = "opener";
/// The role of the second.
pub const SECOND: &str = "opens";

/// Starts the second process with the same input and output.
pub fn main() -> ExitCode {
    let started = std::env::current_exe().and_then(|own| Command::new(own).arg(SECOND).spawn());
    match started {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Serves requests until the input ends.
pub fn serve() -> ExitCode {
    match answer_all(io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// A request is a line: the command lines to try, as a JSON list of lists. The answer is a line: `null`, or why none started.
fn answer_all(requests: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    for line in requests.lines() {
        let answer = match serde_json::from_str::<Vec<Vec<String>>>(&line?) {
            Ok(lines) => first_that_starts(&lines),
            Err(error) => Some(error.to_string()),
        };
        writeln!(answers, "{}", serde_json::json!(answer))?;
        answers.flush()?;
    }
    Ok(())
}

/// `None` if one of them started, else why the last did not.
fn first_that_starts(lines: &[Vec<String>]) -> Option<String> {
    let mut why = "there is no program that opens it".to_owned();
    for words in lines {
        let [program, args @ ..] = words.as_slice() else { continue };
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.spawn() {
            Ok(mut child) => {
                // Takes its exit status, however long it runs.
                std::thread::spawn(move || child.wait());
                return None;
            }
            Err(error) => why = format!("{program}: {error}"),
        }
    }
    Some(why)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_first_program_that_is_there_is_started_and_what_is_wrong_is_answered() {
        let requests =
            "[[\"no-such-program-here\",\"x\"],[\"true\"]]\n[[\"no-such-program-here\"]]\n[[],[]]\nodd\n";
        let mut answers = vec![];
        answer_all(requests.as_bytes(), &mut answers).unwrap();
        let answers = String::from_utf8(answers).unwrap();
        let answers: Vec<Option<String>> =
            answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(answers.len(), 4);
        assert_eq!(answers[0], None);
        assert!(answers[1].as_ref().is_some_and(|why| why.starts_with("no-such-program-here: ")));
        assert_eq!(answers[2].as_deref(), Some("there is no program that opens it"));
        assert!(answers[3].is_some());
    }
}
