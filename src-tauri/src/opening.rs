//! Opens files and pages with the desktop's programs. On Linux in a process beside the app ([`satchel_reaper::opener`]): a
//! program below the hub counts as one that a server started, and an editor that was opened here is a client. Looks at no
//! path and no address.

use std::{
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{ChildStdin, ChildStdout, Command, Stdio},
    sync::OnceLock,
};

use parking_lot::Mutex;
use satchel_reaper::opener;

/// The pipes to the process beside the app.
struct Beside {
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

static BESIDE: OnceLock<Mutex<Beside>> = OnceLock::new();

/// Starts that process. To be called before the hub opens: what loses its parent later stays below the hub.
pub(crate) fn begin(own_program: &Path) {
    if !cfg!(target_os = "linux") {
        return;
    }
    match start(own_program) {
        Ok(beside) => drop(BESIDE.set(Mutex::new(beside))),
        Err(error) => tracing::warn!("programs are opened below the hub: {error}"),
    }
}

fn start(own_program: &Path) -> io::Result<Beside> {
    let program = satchel_reaper::program(own_program);
    if program == own_program {
        return Err(io::Error::new(io::ErrorKind::NotFound, "satchel-reaper is not beside the app"));
    }
    let mut first = Command::new(program);
    first.arg(opener::ROLE).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut first = first.spawn()?;
    let pipes = first.stdin.take().zip(first.stdout.take());
    let (requests, answers) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
    match first.wait()?.success() {
        true => Ok(Beside { requests, answers: BufReader::new(answers) }),
        false => Err(io::Error::other("satchel-reaper cannot start itself")),
    }
}

/// Opens a file, a folder or a page with the program that the desktop has for it.
///
/// # Errors
/// If no program opens it.
pub(crate) fn open(what: &str) -> io::Result<()> {
    let beside = BESIDE.get().and_then(|beside| ask(&mut beside.lock(), what).ok());
    match beside {
        Some(None) => Ok(()),
        Some(Some(why)) => Err(io::Error::other(why)),
        None => open::that_detached(what),
    }
}

/// Why it could not be opened, if it could not.
fn ask(beside: &mut Beside, what: &str) -> io::Result<Option<String>> {
    let words = |command: &Command| -> Vec<String> {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    };
    let lines: Vec<Vec<String>> = open::commands(what).iter().map(words).collect();
    writeln!(beside.requests, "{}", serde_json::json!(lines))?;
    beside.requests.flush()?;
    let mut answer = String::new();
    if beside.answers.read_line(&mut answer)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_str(&answer)?)
}
