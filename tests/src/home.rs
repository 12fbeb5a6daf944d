//! A home of its own for every test: configuration, data and logs below one temporary directory.
//!
//! Everything started from it has it as `HOME` in its environment, and is killed when the home is dropped.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{io::AsyncWriteExt, process::Command};

use crate::{process, program, target_directory};

/// The home directory of one test. Two of them share nothing.
pub struct Home {
    directory: TempDir,
}

/// Exit code and output of a program.
#[derive(Debug)]
pub struct Ran {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Home {
    /// A home without any file, as on the first start.
    pub fn empty() -> Self {
        let directory = tempfile::Builder::new().prefix("satchel-test-").tempdir();
        Self { directory: directory.expect("a temporary directory can be made") }
    }

    /// A home whose configuration has these entries under `mcpServers`.
    pub fn with_servers(servers: Value) -> Self {
        let home = Self::empty();
        home.write_config(&json!({ "mcpServers": servers }));
        home
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A path below the home.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes the whole configuration.
    pub fn write_config(&self, config: &Value) {
        let text = serde_json::to_string_pretty(config).expect("a value can always be written");
        self.write_config_text(&text);
    }

    /// Writes the configuration file unchanged, valid or not.
    pub fn write_config_text(&self, text: &str) {
        fs::write(self.file("config.json"), text).expect("the home can be written to");
    }

    /// Writes a script that everything can start at once, below the home, and returns its path.
    ///
    /// A shell writes it: a process that another test starts meanwhile would inherit the file open for writing, and Linux refuses
    /// to run such a file.
    pub fn write_program(&self, name: &str, script: &str) -> PathBuf {
        let file = self.file(name);
        fs::create_dir_all(file.parent().expect("it is below the home")).expect("the home can be written to");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\""]).arg(&file).arg(script);
        assert!(shell.status().expect("there is a shell").success(), "{name} can be written");
        file
    }

    /// The text of the configuration file.
    pub fn config_text(&self) -> String {
        fs::read_to_string(self.file("config.json")).expect("the configuration can be read")
    }

    /// The configuration as JSON.
    pub fn config(&self) -> Value {
        serde_json::from_str(&self.config_text()).expect("the configuration is JSON")
    }

    /// Changes the configuration file, like a person with an editor.
    pub fn edit_config(&self, edit: impl FnOnce(&mut Value)) {
        let mut config = self.config();
        edit(&mut config);
        self.write_config(&config);
    }

    /// A command with this home, without the machine's keychain, display and settings.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(self.path())
            .env("SATCHEL_HOME", self.path())
            .env("HOME", self.path())
            // Removing it is not enough: the user's usual bus, with a real keychain, would be found.
            .env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", self.file("no-bus").display()))
            // Searches use words only: computing vectors takes time, and other tests cover them.
            .env("SATCHEL_MODEL", "")
            // Without compiled files, Python compiles its library at every start, which takes longer than most of its programs.
            .env("PYTHONPYCACHEPREFIX", target_directory().join("tmp/python"))
            .env_remove("PYTHONDONTWRITEBYTECODE")
            .env_remove("XDG_RUNTIME_DIR")
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("SATCHEL_LOG")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Runs `satchel` and waits for it.
    pub async fn satchel(&self, arguments: &[&str]) -> Ran {
        let output = self.command(program("satchel")).args(arguments).output().await;
        Ran::from(output.expect("satchel can be started"))
    }

    /// Runs `satchel` with this on standard input.
    pub async fn satchel_reading(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = self.command(program("satchel"));
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("satchel can be started");
        let mut stdin = child.stdin.take().expect("its standard input is a pipe");
        // It may exit without reading; its exit code is more useful than the broken pipe.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        Ran::from(child.wait_with_output().await.expect("satchel can be waited for"))
    }

    /// Every live process started from this home, directly or not: `HOME` is always inherited.
    pub fn processes(&self) -> Vec<process::Process> {
        process::marked("HOME", self.path().to_str().expect("temporary paths are UTF-8"))
    }

    /// Every file below the home with its contents.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut directories = vec![self.path().to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).expect("the home can be listed").flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => directories.push(entry.path()),
                    Ok(kind) if kind.is_file() => {
                        files.push((entry.path(), fs::read(entry.path()).unwrap_or_default()));
                    }
                    // Sockets and links have no contents, and a file may vanish meanwhile.
                    _ => {}
                }
            }
        }
        files
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for left in self.processes() {
            process::signal(left.pid, process::Signal::KILL);
        }
    }
}

impl Ran {
    /// Its standard output, which must be JSON, after exit code 0.
    #[track_caller]
    pub fn json(&self) -> Value {
        self.succeeded();
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("not JSON ({error}): {self:?}"))
    }

    /// Panics unless it exited with 0.
    #[track_caller]
    pub fn succeeded(&self) -> &Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Panics unless it exited with this code.
    #[track_caller]
    pub fn failed_with(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}
