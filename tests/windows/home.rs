//! A home of its own for every case, with spaces and letters beyond ASCII in every path, and the programs run in it.

use std::{
    cell::RefCell,
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

/// Far more than a healthy run needs.
const LIMIT: Duration = Duration::from_secs(90);
const PAUSE: Duration = Duration::from_millis(50);
/// The process that counts tokens, which exits when its input ends. If the hub is killed just while it starts this
/// one, Wine neither runs nor ends it: it waits for Wine's own server, without having run any code.
const COUNTING: &str = "satchel.exe tokens";

/// A Windows installation under Wine, and the programs built for it.
pub(crate) struct Windows {
    programs: PathBuf,
    prefix: PathBuf,
}

/// Exit code and output of a program.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) ok: bool,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A running hub.
pub(crate) struct Hub {
    child: Child,
    pub(crate) url: String,
}

/// The directory of one case.
pub(crate) struct Home {
    pub(crate) dir: PathBuf,
    pub(crate) prefix: PathBuf,
    satchel: PathBuf,
    server: PathBuf,
    /// Satchel's directory; if empty, the usual directories of Windows.
    pub(crate) data: RefCell<String>,
}

/// A path in Windows' format.
pub(crate) fn on_windows(path: &Path) -> String {
    format!("Z:{}", path.display()).replace('/', "\\")
}

/// Wine sometimes kills a program that is exiting: its exit code is lost then, and only its output tells.
pub(crate) fn is_good(status: ExitStatus, err: &str) -> bool {
    status.code().map_or(err.is_empty(), |code| code == 0)
}

/// Polls until there is a value, and panics with `what` if it never comes.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(answer) = probe() {
            return answer;
        }
        assert!(Instant::now() < end, "waited in vain: {what}");
        thread::sleep(PAUSE);
    }
}

impl Windows {
    pub(crate) fn new(programs: &Path) -> Self {
        let prefix = std::env::var_os("WINEPREFIX").expect("scripts/windows.sh sets WINEPREFIX");
        Self { programs: programs.to_owned(), prefix: prefix.into() }
    }

    pub(crate) fn home(&self) -> Home {
        static COUNTER: AtomicUsize = AtomicUsize::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("sätchel {} {number} 日本", std::process::id()));
        let programs = dir.join("Program Files (ä)");
        fs::create_dir_all(&programs).expect("a directory can be made");
        let copied = |name: &str, to: &str| {
            let (from, copy) = (self.programs.join(name), programs.join(to));
            let linked = fs::hard_link(&from, &copy).or_else(|_| fs::copy(&from, &copy).map(drop));
            linked.expect("`make windows` builds it");
            copy
        };
        Home {
            satchel: copied("satchel.exe", "satchel.exe"),
            server: copied("satchel-windows-server.exe", "my-server.exe"),
            data: RefCell::new(on_windows(&dir.join("däta here"))),
            prefix: self.prefix.clone(),
            dir,
        }
    }
}

impl Home {
    /// The programs' directory, as Windows names it.
    pub(crate) fn programs(&self) -> String {
        on_windows(self.server.parent().expect("it lies in a directory"))
    }

    /// The server's program.
    pub(crate) fn server(&self) -> String {
        on_windows(&self.server)
    }

    /// A Windows program, with only Satchel's home in its environment.
    pub(crate) fn command(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new("wine");
        command.arg(program).args(words).current_dir(&self.dir);
        command.env("WINEDEBUG", "-all").env("LC_ALL", "C.UTF-8");
        let data = self.data.borrow();
        match data.is_empty() {
            true => command.env_remove("SATCHEL_HOME"),
            false => command.env("SATCHEL_HOME", data.as_str()),
        };
        command
    }

    /// Runs the command line.
    pub(crate) fn satchel(&self, words: &[&str]) -> Ran {
        self.satchel_told("", words)
    }

    /// Runs the command line with this on standard input.
    pub(crate) fn satchel_told(&self, input: &str, words: &[&str]) -> Ran {
        self.run(self.command(&self.satchel, words), input)
    }

    /// Runs the command line, which must succeed, and returns its output.
    #[track_caller]
    pub(crate) fn does(&self, words: &[&str]) -> String {
        let ran = self.satchel(words);
        assert!(ran.ok, "satchel {} failed: {}{}", words.join(" "), ran.out, ran.err);
        ran.out
    }

    /// Calls a tool of our server and returns its text.
    #[track_caller]
    pub(crate) fn calls(&self, tool: &str) -> String {
        self.does(&["call", tool, "{}"])
    }

    /// The environment as one of our servers reports it.
    #[track_caller]
    pub(crate) fn around(&self, server: &str) -> Value {
        let said = self.calls(&format!("{server}:around"));
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    pub(crate) fn run(&self, mut command: Command, input: &str) -> Ran {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("wine is installed");
        let mut stdin = child.stdin.take().expect("it is piped");
        // A program that does not read it may have exited already.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        let read = |mut stream: Box<dyn Read + Send>| {
            thread::spawn(move || {
                let mut bytes = vec![];
                let _ = stream.read_to_end(&mut bytes);
                String::from_utf8_lossy(&bytes).replace("\r\n", "\n")
            })
        };
        let out = read(Box::new(child.stdout.take().expect("it is piped")));
        let err = read(Box::new(child.stderr.take().expect("it is piped")));
        let status = eventually("a program ends", || child.try_wait().expect("it can be waited for"));
        let text = |reader: thread::JoinHandle<String>| reader.join().unwrap_or_default();
        let (out, err) = (text(out), text(err));
        Ran { ok: is_good(status, &err), out, err }
    }

    /// Starts a hub and waits until it listens.
    #[track_caller]
    pub(crate) fn serve(&self, words: &[&str]) -> Hub {
        let all = [&["serve", "--port", "0", "--json", "--log-format", "none"], words].concat();
        self.hub(self.command(&self.satchel, &all))
    }

    /// Starts a hub as Windows starts programs: with a search path called `Path`, and without `HOME`.
    #[track_caller]
    pub(crate) fn serve_with_path(&self, path: &str, words: &[&str]) -> Hub {
        let satchel = on_windows(&self.satchel);
        let all = ["path-alone", path, &satchel, "serve", "--port", "0", "--json", "--log-format", "none"];
        self.hub(self.command(&self.server, &[&all, words].concat()))
    }

    #[track_caller]
    pub(crate) fn hub(&self, mut command: Command) -> Hub {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("wine is installed");
        let mut first = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        let _ = BufReader::new(stdout).read_line(&mut first);
        let Ok(Value::Object(said)) = serde_json::from_str(&first) else {
            let mut errors = String::new();
            let _ = child.kill();
            let _ = child.stderr.take().expect("it is piped").read_to_string(&mut errors);
            panic!("the hub did not start: {first}{errors}");
        };
        Hub { child, url: said["url"].as_str().unwrap_or_default().to_owned() }
    }

    /// The command line as a bridge, with its two streams.
    pub(crate) fn bridge(&self, client: &str) -> (Child, BufReader<ChildStdout>) {
        let mut command = self.command(&self.satchel, &["bridge", "--client", client]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("wine is installed");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        (child, stdout)
    }

    /// The name of the running hub's pipe.
    pub(crate) fn pipe(&self) -> String {
        let file = self.dir.join("däta here/data/hub.json");
        let address: Value =
            serde_json::from_slice(&fs::read(file).expect("a hub runs")).expect("it is JSON");
        address["socket"].as_str().expect("it is text").to_owned()
    }

    /// The processes of this home with this word in their command line.
    pub(crate) fn processes(&self, word: &str) -> Vec<u32> {
        let own = self.dir.file_name().and_then(|name| name.to_str()).expect("it is UTF-8");
        let listed = fs::read_dir("/proc").expect("there is a /proc").flatten();
        let numbers = listed.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_ours = |pid: &u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.contains(own) && line.contains(word)
        };
        numbers.filter(is_ours).collect()
    }

    /// Waits until no process with this word is left.
    #[track_caller]
    pub(crate) fn has_no(&self, word: &str) {
        eventually(&format!("no process with {word} is left"), || {
            self.processes(word).is_empty().then_some(())
        });
    }

    /// Ends the remaining processes, and returns their number.
    pub(crate) fn end(&self) -> usize {
        if !self.processes("satchel.exe").is_empty() {
            let _ = self.satchel(&["quit"]);
        }
        for _ in 0..100 {
            if self.processes("").is_empty() {
                break;
            }
            thread::sleep(PAUSE);
        }
        let (left, counting) = (self.processes(""), self.processes(COUNTING));
        for pid in &left {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        }
        let _ = fs::remove_dir_all(&self.dir);
        left.len() - counting.len()
    }
}

impl Hub {
    /// Quits at the user's request. Its exit status must be success.
    #[track_caller]
    pub(crate) fn quit(mut self, home: &Home) {
        home.does(&["quit"]);
        let status = eventually("the hub ends", || self.child.try_wait().expect("it can be waited for"));
        assert!(is_good(status, ""), "the hub ended with {status}");
    }

    /// Kills it, like a crash or a power cut.
    pub(crate) fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
