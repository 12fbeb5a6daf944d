//! Transport over standard input and output: starts the server in its own process group and ends it with everything it
//! started.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use satchel_mcp::{
    Message,
    framing::{Frame, Framer},
};
use satchel_reaper::watchdog::Orphan;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{ChildStderr, ChildStdin, ChildStdout},
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Connection, Signs,
    stdin::{InputRefused, ServerInput},
    unasked::Unasked,
};
use crate::{
    model::{
        Code,
        cause::{FailureCause, ProcessEnd},
    },
    secrets::clear_text,
    tasks::may_fail_here,
    upstream::{
        container,
        ending::Ending,
        lifecycle::Failure,
        link::{CallError, EndReason, Link, OnChange, Outbox, Outcome},
        log::ServerLog,
        sandbox::SandboxPlan,
        subreaper::{Orders, Sandboxed, to_line},
        watchdog::{MARK, Watchdog},
    },
};

/// Maximum delay between the end of the output and the exit status.
const STATUS_LAG: Duration = Duration::from_secs(1);
/// Maximum delay between the end of the input and that of the process, whose last output is more informative.
const INPUT_LAG: Duration = Duration::from_millis(250);
/// How long to wait for the last output of an exited process. Callers are notified of the exit within a second.
const LAST_WORDS: Duration = Duration::from_millis(700);

/// Everything needed to start a process. The environment is complete: nothing is inherited. It has the values of secrets, so
/// it cannot be printed.
pub struct Program {
    /// The file to start.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its complete environment.
    pub env: BTreeMap<String, String>,
    /// Its working directory.
    pub cwd: Option<PathBuf>,
    /// The program that keeps its descendants within reach, if there is one ([`crate::upstream::subreaper`]).
    pub subreaper: Option<PathBuf>,
    /// The limit of open files that the subreaper gives it, if not the hub's own.
    pub open_files: Option<u64>,
    /// Its sandbox, if any, and the program that applies it.
    pub sandbox: Option<(PathBuf, SandboxPlan)>,
    /// The containers that end with it: their client is this program, or one that it starts.
    pub containers: Vec<Orphan>,
}

/// No console window may flash up for a program of the hub's own.
pub(in crate::upstream) fn without_a_window(command: &mut tokio::process::Command) {
    #[cfg(windows)]
    command.creation_flags(windows::Win32::System::Threading::CREATE_NO_WINDOW.0);
    #[cfg(not(windows))]
    let _ = command;
}

/// Starts a process and creates a link to it. The handshake follows.
///
/// # Errors
/// A [`Failure`] that says which program was tried and why it could not be started.
pub fn connect(
    mut program: Program,
    changed: Box<dyn OnChange>,
    log: ServerLog,
    watchdog: Watchdog,
    ending: Ending,
    tracker: &TaskTracker,
) -> Result<Connection, Failure> {
    let containers = std::mem::take(&mut program.containers);
    containers.iter().for_each(|container| watchdog.container_begins(container));
    let mut child = spawn(&program).inspect_err(|_| {
        containers.iter().for_each(|container| watchdog.container_gone(container));
    })?;
    let mark = program.env.get(MARK).cloned();
    let pid = child.id();
    if let Some(group) = pid {
        watchdog.begins(group);
    }
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin().take(), child.stdout().take(), child.stderr().take())
    else {
        let message = "its input and output could not be opened".to_owned();
        return Err(Failure::new(Code::SpawnDenied, message));
    };
    let (link, outbox) = Link::new(changed, log.clone());
    let (stop, done, signs) = (CancellationToken::new(), CancellationToken::new(), Signs::default());
    let (output_open, output_closed) = mpsc::channel(1);
    let (errors_open, errors_closed) = mpsc::channel(1);
    let orders = orders(&mut program);
    let (refuses, input_closed) = oneshot::channel();
    tracker.spawn(write(stdin, orders, (link.clone(), outbox), refuses, stop.clone()));
    tracker.spawn(read(stdout, link.clone(), log.clone(), signs.clone(), output_open));
    tracker.spawn(read_stderr(stderr, log.clone(), signs.clone(), errors_open));
    let keeper = Keeper {
        child,
        group: pid,
        containers,
        link: link.clone(),
        log,
        watchdog,
        ending,
        input_closed,
        output_closed,
        errors_closed,
    };
    let (stopped, finished) = (stop.clone(), done.clone());
    tracker.spawn(async move {
        // Even if the task panics: whoever stops the connection waits for this.
        let _finished = finished.drop_guard();
        keeper.keep(stopped, mark).await;
    });
    Ok(Connection { link, pid, signs, stop, done })
}

fn spawn(program: &Program) -> Result<Box<dyn ChildWrapper>, Failure> {
    let file = program.subreaper.as_ref().unwrap_or(&program.program);
    let mut command = CommandWrap::with_new(file, |command| {
        command.env_clear();
        match program.subreaper {
            // Only the mark, by which it is found; everything else goes through the pipe.
            Some(_) => {
                let mark = program.env.get(MARK).map(|mark| (MARK, mark));
                command.arg("subreaper").arg(&program.program).envs(mark);
            }
            None => {
                command.args(&program.args).envs(&program.env);
            }
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(cwd) = &program.cwd {
            command.current_dir(cwd);
        }
    });
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
    #[cfg(windows)]
    {
        // Prevents a console window for each server. The job object sets its own flags, and keeps only those that it
        // is given this way.
        use windows::Win32::System::Threading::CREATE_NO_WINDOW;
        command.wrap(process_wrap::tokio::CreationFlags(CREATE_NO_WINDOW));
        command.wrap(process_wrap::tokio::JobObject);
    }
    command.wrap(KillOnDrop);
    command.spawn().map_err(|error| not_started(program, &error))
}

/// The orders that a subreaper reads before anything goes to the server; empty without one.
fn orders(program: &mut Program) -> String {
    if program.subreaper.is_none() {
        return String::new();
    }
    let sandbox = program.sandbox.take().map(|(by, sandbox)| {
        // An unreadable sandbox is refused by the program that applies it, so the server is not started without one.
        Sandboxed { by, which: serde_json::to_string(&sandbox).unwrap_or_default() }
    });
    let (args, env) = (std::mem::take(&mut program.args), std::mem::take(&mut program.env));
    let mut orders = Orders { args, env, open_files: program.open_files, sandbox };
    // Strings always serialize. A subreaper without orders exits.
    let line = to_line(&orders).unwrap_or_default();
    // They may contain credentials.
    orders.args.iter_mut().chain(orders.env.values_mut()).for_each(clear_text);
    line
}

fn not_started(program: &Program, error: &std::io::Error) -> Failure {
    let name = program.program.display().to_string();
    let missing_cwd = program.cwd.as_deref().filter(|cwd| !cwd.is_dir()).map(Path::display);
    let (code, message, cause) = match (error.kind(), missing_cwd) {
        (std::io::ErrorKind::NotFound, Some(cwd)) => (
            Code::SpawnNotFound,
            format!("its working directory {cwd} does not exist"),
            FailureCause::DirectoryAbsent { directory: cwd.to_string() },
        ),
        (std::io::ErrorKind::NotFound, None) => (
            Code::SpawnNotFound,
            format!("{name} was not found"),
            FailureCause::ProgramAbsent { program: name, searched: false },
        ),
        (std::io::ErrorKind::PermissionDenied, _) => (
            Code::SpawnDenied,
            format!("{name} may not be started"),
            FailureCause::NotPermitted { program: name },
        ),
        _ => (
            Code::SpawnDenied,
            format!("{name} could not be started: {error}"),
            FailureCause::NotStarted { program: name, error: error.to_string() },
        ),
    };
    Failure::new(code, message).because(cause)
}

/// The process no longer reads its input. If it read nothing of the request, that was not executed.
#[derive(Debug)]
struct InputClosed(Option<u64>);

async fn write(
    stdin: ChildStdin,
    mut orders: String,
    (link, mut outbox): (Link, Outbox),
    refuses: oneshot::Sender<InputClosed>,
    stop: CancellationToken,
) {
    let input = tokio::select! {
        input = ServerInput::open(stdin, orders.as_bytes()) => match input {
            Ok(input) => input,
            Err(_) => {
                let _ = refuses.send(InputClosed(None));
                return;
            }
        },
        () = stop.cancelled() => return,
    };
    clear_text(&mut orders);
    link.write_by(Box::new(input.clone()));
    let _closed = InputCloser(&input);
    tokio::select! {
        carried = input.carry(&mut outbox) => if let Err(InputRefused(outgoing)) = carried {
            // It may still write, but cannot receive requests.
            let _ = refuses.send(InputClosed(outgoing.id.filter(|_| outgoing.begun == 0)));
        },
        () = stop.cancelled() => {}
    }
}

/// Closes a process's input when its writer ends, including by a panic.
struct InputCloser<'a>(&'a ServerInput);

impl Drop for InputCloser<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Holds `_open` until the output has ended and all of it was handled.
async fn read(mut stdout: ChildStdout, link: Link, log: ServerLog, signs: Signs, _open: mpsc::Sender<()>) {
    let (mut framer, mut frames) = (Framer::default(), Vec::new());
    let mut buffer = vec![0u8; SMALL];
    let mut unasked = Unasked::begin(Instant::now());
    loop {
        let count = stdout.read(&mut buffer).await.unwrap_or(0);
        if count == 0 {
            framer.finish(&mut frames);
        } else {
            signs.saw();
            may_fail_here("output");
            framer.push(&buffer[..count], &mut frames);
            resize(&mut buffer, count);
        }
        for frame in frames.drain(..) {
            if !matches!(frame, Frame::Message(Message::Response { .. }) | Frame::Departed(_))
                && let Some(until) = unasked.one_more(Instant::now())
            {
                tokio::time::sleep_until(until).await;
            }
            match frame {
                Frame::Message(message) => {
                    if matches!(message, Message::Response { outcome: Ok(_), .. }) {
                        log.served();
                    }
                    link.incoming(message);
                }
                Frame::Departed(departure) => log.remark(&format!("it {}", departure.told())),
                Frame::Noise(text) => log.noise(&text),
                Frame::TooLong { bytes, head } => too_long(&link, &log, bytes, &head),
                Frame::Broken { id, reason } => link.broken(&id, &reason),
            }
        }
        if count == 0 {
            return;
        }
    }
}

/// Size in bytes of a buffer for a process's output. Most processes are silent most of the time.
const SMALL: usize = 8 * 1024;
/// The same while a process writes more than that; pipes hold as much.
const LARGE: usize = 64 * 1024;

/// Grows the buffer for a process that filled it, and shrinks it after the last piece of its output.
fn resize(buffer: &mut Vec<u8>, last: usize) {
    if last == buffer.len() && last < LARGE {
        *buffer = vec![0; LARGE];
    } else if last <= SMALL && buffer.len() > SMALL {
        *buffer = vec![0; SMALL];
    }
}

/// A response on a line that is too long to keep. Its id is usually near the start.
fn too_long(link: &Link, log: &ServerLog, bytes: usize, head: &str) {
    log.hub(&format!("dropped a message of more than {bytes} bytes"));
    let id = head.split("\"id\":").nth(1).map(|rest| {
        rest.trim_start().trim_start_matches('"').chars().take_while(char::is_ascii_digit).collect::<String>()
    });
    if let Some(id) = id.and_then(|digits| digits.parse().ok()) {
        let message = format!("its answer was larger than {} MiB and was dropped", bytes / 1024 / 1024);
        link.fail(id, CallError::Ended(message.into(), Outcome::Unknown));
    }
}

async fn read_stderr(mut stderr: ChildStderr, log: ServerLog, signs: Signs, _open: mpsc::Sender<()>) {
    const LONGEST: usize = 8 * 1024;
    let (mut line, mut buffer) = (Vec::new(), vec![0u8; SMALL]);
    while let Some(bytes) = read_some(&mut stderr, &mut buffer).await {
        signs.saw();
        for byte in bytes {
            // A progress bar ends its line with a carriage return.
            if matches!(byte, b'\n' | b'\r') || line.len() >= LONGEST {
                flush_line(&mut line, &log);
            }
            if !matches!(byte, b'\n' | b'\r') {
                line.push(*byte);
            }
        }
    }
    flush_line(&mut line, &log);
}

async fn read_some<'a>(from: &mut (impl AsyncRead + Unpin), buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    match from.read(buffer).await {
        Ok(0) | Err(_) => None,
        Ok(count) => Some(&buffer[..count]),
    }
}

fn flush_line(line: &mut Vec<u8>, log: &ServerLog) {
    if !line.is_empty() {
        log.stderr(&String::from_utf8_lossy(line));
        line.clear();
    }
}

/// Waits for the process itself, not for its descendants in the group or job: a crashed server has ended even if a
/// helper still holds its pipes.
async fn leader(child: &mut Box<dyn ChildWrapper>) -> std::io::Result<ExitStatus> {
    child.inner_mut().wait().await
}

/// Owns the process: reports how it ended, and ensures that all of it ends.
struct Keeper {
    child: Box<dyn ChildWrapper>,
    group: Option<u32>,
    containers: Vec<Orphan>,
    link: Link,
    log: ServerLog,
    watchdog: Watchdog,
    ending: Ending,
    input_closed: oneshot::Receiver<InputClosed>,
    /// Never sent to; closed when all of the process's output has been read.
    output_closed: mpsc::Receiver<()>,
    errors_closed: mpsc::Receiver<()>,
}

impl Keeper {
    async fn keep(mut self, stop: CancellationToken, mark: Option<String>) {
        tokio::select! {
            status = leader(&mut self.child) => {
                // Let the readers finish the last output, which often contains the reason. A child process may hold
                // the pipes open, so this is bounded.
                let read = async { tokio::join!(self.output_closed.recv(), self.errors_closed.recv()) };
                let _ = tokio::time::timeout(LAST_WORDS, read).await;
                self.link.end(self.ended(status.ok()));
            }
            _ = self.output_closed.recv() => {
                let status = tokio::time::timeout(STATUS_LAG, leader(&mut self.child)).await;
                let _ = tokio::time::timeout(STATUS_LAG, self.errors_closed.recv()).await;
                let reason = match status {
                    Ok(status) => self.ended(status.ok()),
                    Err(_) => EndReason::new("it closed its output without ending", FailureCause::OutputClosed),
                };
                self.link.end(reason);
            }
            Ok(InputClosed(request)) = &mut self.input_closed => {
                let reason = match tokio::time::timeout(INPUT_LAG, leader(&mut self.child)).await {
                    Ok(status) => {
                        let _ = tokio::time::timeout(INPUT_LAG, self.errors_closed.recv()).await;
                        self.ended(status.ok())
                    }
                    Err(_) => EndReason::new("it closed its input", FailureCause::InputClosed),
                };
                if let Some(id) = request {
                    self.link.fail(id, CallError::Ended(reason.clone(), Outcome::NotExecuted));
                }
                self.link.end(reason);
            }
            () = stop.cancelled() => self.link.end("it was stopped"),
        }
        // The writer closes the process's input when told to stop.
        stop.cancel();
        self.end_tree(mark).await;
    }

    fn ended(&self, status: Option<ExitStatus>) -> EndReason {
        let (end, wrote, served) = (end_of(status), self.log.reason(), self.log.has_served());
        let how = match end {
            ProcessEnd::Code(code) => format!("ended with exit code {code}"),
            ProcessEnd::Signal(signal) => format!("was ended by signal {signal}"),
            ProcessEnd::Unknown => "ended".to_owned(),
        };
        let message = match &wrote {
            None if served => format!("the process {how}, without any output since its last answer"),
            None => format!("the process {how}, without any output"),
            Some(reason) => format!("{reason} (the process {how})"),
        };
        EndReason::new(message, FailureCause::Exited { end, wrote, served })
    }

    /// Input closed → wait → ask → wait → kill.
    #[cfg(unix)]
    async fn end_tree(mut self, mark: Option<String>) {
        use super::super::watchdog::{kill_below, kill_group, kill_marked, signal_group};
        use nix::sys::signal::Signal;
        let steps = self.ending.steps(Instant::now());
        if let Some(group) = self.group
            && !self.gone(group, steps.closed).await
        {
            signal_group(group, Signal::SIGTERM);
            if !self.gone(group, steps.asked).await {
                self.log.hub("it did not end when asked to, and was killed");
                self.end_containers().await;
                // First the descendants held by the subreaper, which cannot be found without it.
                let _ = tokio::task::spawn_blocking(move || kill_below(group, None)).await;
                kill_group(group);
            }
        }
        let _ = self.child.wait().await;
        if let Some(group) = self.group {
            self.watchdog.gone(group);
        }
        self.end_containers().await;
        // Processes in groups of their own are found by their mark. At shutdown, one search suffices for all.
        if let Some(mark) = mark
            && !self.ending.has_begun()
        {
            let stragglers = tokio::task::spawn_blocking(move || kill_marked(&mark)).await.unwrap_or(0);
            if stragglers > 0 {
                self.log.hub(&format!("killed {stragglers} process(es) it had left behind"));
            }
        }
    }

    /// Waits for the end of the whole group.
    #[cfg(unix)]
    async fn gone(&mut self, group: u32, deadline: Instant) -> bool {
        let _ = tokio::time::timeout_at(deadline, self.child.wait()).await;
        while super::super::watchdog::signal_group(group, None) {
            if Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        true
    }

    /// The job object contains the whole tree.
    #[cfg(windows)]
    async fn end_tree(mut self, _mark: Option<String>) {
        let closed = self.ending.steps(Instant::now()).closed;
        if tokio::time::timeout_at(closed, self.child.wait()).await.is_err() {
            self.log.hub("it did not end when its input closed, and was killed");
        }
        let _ = self.child.start_kill();
        let _ = self.child.wait().await;
        if let Some(group) = self.group {
            self.watchdog.gone(group);
        }
        self.end_containers().await;
    }

    /// Whatever became of its client: one that was killed, or that lost its engine, leaves the container behind.
    async fn end_containers(&mut self) {
        for container in std::mem::take(&mut self.containers) {
            container::end(&container).await;
            self.watchdog.container_gone(&container);
        }
    }
}

fn end_of(status: Option<ExitStatus>) -> ProcessEnd {
    #[cfg(unix)]
    if let Some(signal) = status.as_ref().and_then(std::os::unix::process::ExitStatusExt::signal) {
        return ProcessEnd::Signal(signal);
    }
    status.and_then(|status| status.code()).map_or(ProcessEnd::Unknown, ProcessEnd::Code)
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::Arc;

    use tokio::sync::Notify;

    use super::*;
    use crate::upstream::link::Event;

    /// Signalled by change notifications, which servers here use as messages.
    #[derive(Debug, Clone, Default)]
    struct Heard(Arc<Notify>);
    impl OnChange for Heard {
        fn list_changed(&self, _list: &str) {
            self.0.notify_one();
        }
    }

    /// A shell that runs this script, without a hub.
    fn shell(script: &str, heard: Heard) -> Connection {
        let program = Program {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            env: BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]),
            cwd: None,
            subreaper: None,
            open_files: None,
            sandbox: None,
            containers: vec![],
        };
        let (log, tracker) = (ServerLog::nowhere(), TaskTracker::new());
        connect(program, Box::new(heard), log, Watchdog::of_nobody(), Ending::default(), &tracker)
            .expect("there is a shell")
    }

    async fn end_of_a_call(connection: &Connection, wait: Duration) -> (String, Outcome) {
        let mut call = match connection.link.start("tools/call", None, wait).await {
            Ok(call) => call,
            Err(error) => return (error.to_string(), error.outcome()),
        };
        loop {
            match call.next(wait).await {
                Event::Final(Err(error)) => return (error.to_string(), error.outcome()),
                Event::Final(Ok(result)) => panic!("nobody could answer: {result}"),
                Event::Note { .. } | Event::Question { .. } | Event::Silent => {}
            }
        }
    }

    #[tokio::test]
    async fn the_end_of_a_server_that_had_answered_is_told_apart_from_a_failed_start() {
        const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        for (script, expected) in [
            (format!("echo '{ANSWER}'; exit 3"), "without any output since its last answer"),
            ("exit 3".to_owned(), "without any output"),
        ] {
            let connection = shell(&script, Heard::default());
            let told = connection.link.wait_ended().await;
            assert_eq!(told.message, format!("the process ended with exit code 3, {expected}"));
            let served = script.starts_with("echo");
            let cause = FailureCause::Exited { end: ProcessEnd::Code(3), wrote: None, served };
            assert_eq!(told.cause.as_deref(), Some(&cause));
        }
    }

    #[tokio::test]
    async fn a_server_that_closes_its_input_and_goes_on_is_given_up_at_the_first_write() {
        // It reports when its input is closed, and continues.
        let closed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        let script = format!("exec <&-; echo '{closed}'; exec sleep 60");
        let mut tries = 0;
        let (connection, told, outcome) = loop {
            tries += 1;
            let heard = Heard::default();
            let connection = shell(&script, heard.clone());
            heard.0.notified().await;
            let (told, outcome) = end_of_a_call(&connection, Duration::from_secs(5)).await;
            // A process that another test starts may keep the pipe open until it has begun.
            if outcome != Outcome::Unknown || tries == 10 {
                break (connection, told, outcome);
            }
        };
        assert!(told.contains("it closed its input"), "{told}");
        assert_eq!(outcome, Outcome::NotExecuted, "nothing of the request was taken");
        let ended = EndReason::new("it closed its input", FailureCause::InputClosed);
        assert_eq!(connection.link.ended(), Some(ended));
    }

    #[tokio::test]
    async fn a_server_that_ended_is_told_by_how_it_ended_and_not_by_its_input() {
        let connection = shell("exit 3", Heard::default());
        let (told, _) = end_of_a_call(&connection, Duration::from_secs(20)).await;
        assert!(told.contains("ended with exit code 3"), "{told}");
    }
}
