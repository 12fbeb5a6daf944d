//! Reads secrets from where they are, at each start of a server: from a file, or from what a command prints. A command runs
//! without a shell, without input and for a bounded time; what it prints is bounded and stored nowhere.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use satchel_entry::source::SecretSource;
use tokio::{io::AsyncReadExt, process::Command, time::timeout};

use super::{
    connect::stdio,
    environment::{self, Located, expand_home},
    lifecycle::Failure,
    log::ServerLog,
    surroundings::Surroundings,
};
use crate::{files, model::Code, secrets::Secret};

/// How long a command may run, and the look at a file take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum length of a secret, in bytes.
const LARGEST: u64 = 64 * 1024;

/// The secret, without line breaks at its end.
///
/// # Errors
/// A [`Failure`] that says what is wrong with the file or the command.
pub(super) async fn read(
    source: &SecretSource,
    around: &Surroundings,
    log: &ServerLog,
) -> Result<Secret, Failure> {
    let (bytes, what) = match source.command() {
        None => of_file(source, around, log).await?,
        Some(words) => of_command(source, words, around).await?,
    };
    let failed = |why: &str| Err(failure(format!("{what} {why}")));
    if bytes.len() as u64 > LARGEST {
        return failed(&format!("has more than {LARGEST} bytes, which is no secret"));
    }
    match String::from_utf8(bytes) {
        Err(_) => failed("has something other than text"),
        Ok(text) => match text.trim_end_matches(['\n', '\r']) {
            "" => failed("has nothing in it"),
            text => Ok(Secret::new(text.to_owned())),
        },
    }
}

fn failure(message: String) -> Failure {
    Failure::new(Code::SecretSource, message)
}

async fn of_file(
    source: &SecretSource,
    around: &Surroundings,
    log: &ServerLog,
) -> Result<(Vec<u8>, String), Failure> {
    let SecretSource::File(written) = source else { return Err(failure(format!("{source} is no file"))) };
    let environment = &around.environment;
    let path = expand_home(written, environment.home().as_deref(), environment.platform());
    let shown = path.display().to_string();
    if !path.is_absolute() {
        return Err(failure(format!(
            "the file {shown} of its entry needs its whole path, which may begin with ~/"
        )));
    }
    let reading =
        tokio::task::spawn_blocking(move || (is_open_to_others(&path), files::read_plain(&path, LARGEST)));
    match timeout(PATIENCE, reading).await {
        Ok(Ok((open, Ok(bytes)))) => {
            if open {
                log.remark(&format!(
                    "other people of this computer can read the secret in {shown}; `chmod 600` ends that"
                ));
            }
            Ok((bytes, format!("the file {shown} of its entry")))
        }
        Ok(Ok((_, Err(error)))) => {
            Err(failure(format!("the file {shown} of its entry cannot be read: {error}")))
        }
        Ok(Err(_)) | Err(_) => {
            Err(failure(format!("the disk of the file {shown} of its entry does not answer")))
        }
    }
}

#[cfg(unix)]
fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o044 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_path: &Path) -> bool {
    // The rights of the folder decide, which are the user's alone below the home directory.
    false
}

async fn of_command(
    source: &SecretSource,
    words: Option<Vec<String>>,
    around: &Surroundings,
) -> Result<(Vec<u8>, String), Failure> {
    let shown = source.to_string();
    let Some(words) = words else {
        let why = "needs a shell, and none is started for it; write one command, or sh -c '…'";
        return Err(failure(format!("the command of ${{{shown}}} {why}")));
    };
    let (program, arguments) =
        words.split_first().ok_or_else(|| failure(format!("${{{shown}}} is empty")))?;
    let found = find(program, around).await?;
    let mut command = Command::new(found);
    command.args(arguments).env_clear().envs(around.environment.iter());
    let dirs = around.search_path.dirs(&around.environment).await;
    if let Ok(path) = std::env::join_paths(dirs) {
        command.env("PATH", path);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    stdio::without_a_window(&mut command);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command
        .spawn()
        .map_err(|error| failure(format!("the command of ${{{shown}}} could not be started: {error}")))?;
    // What it leaves behind ends with it, also where nobody waits for it any more.
    let _group = CommandGroup(child.id());
    let running = async {
        let mut bytes = Vec::new();
        if let Some(output) = child.stdout.take() {
            output.take(LARGEST + 1).read_to_end(&mut bytes).await?;
        }
        // One that prints more is told by its output.
        let status = if bytes.len() as u64 > LARGEST { None } else { Some(child.wait().await?) };
        Ok::<_, std::io::Error>((bytes, status))
    };
    match timeout(PATIENCE, running).await {
        Ok(Ok((_, Some(status)))) if !status.success() => Err(failure(format!(
            "the command of ${{{shown}}} failed ({status}); run it in a terminal to see why"
        ))),
        Ok(Ok((bytes, _))) => Ok((bytes, format!("what the command of ${{{shown}}} printed"))),
        Ok(Err(error)) => Err(failure(format!("the command of ${{{shown}}} could not be read: {error}"))),
        Err(_) => Err(failure(format!(
            "the command of ${{{shown}}} did not end within {} s; it has no terminal to ask at, so unlock what it reads first",
            PATIENCE.as_secs()
        ))),
    }
}

/// The processes that a command starts. They end when this is dropped.
struct CommandGroup(Option<u32>);

impl Drop for CommandGroup {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.0 {
            super::watchdog::kill_group(group);
        }
    }
}

async fn find(program: &str, around: &Surroundings) -> Result<PathBuf, Failure> {
    let environment = &around.environment;
    let dirs = around.search_path.dirs(environment).await;
    let named = expand_home(program, environment.home().as_deref(), environment.platform());
    let named = named.to_string_lossy();
    if environment::is_path(&named) && !Path::new(&*named).is_absolute() {
        return Err(failure(format!("the command {program} of its entry needs its whole path")));
    }
    match environment::find_program(&named, dirs, None, environment) {
        Located::At(found) => Ok(found),
        Located::NotExecutable(path) => {
            Err(failure(format!("the command {} of its entry cannot be executed", path.display())))
        }
        Located::Nowhere => Err(failure(format!(
            "the command {program} of its entry is not installed, or not in any searched directory"
        ))),
    }
}
