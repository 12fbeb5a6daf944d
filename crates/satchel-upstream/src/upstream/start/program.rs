//! Finds the program of a local server, and composes its arguments, environment, sandbox or container.

use std::path::{Path, PathBuf};

use satchel_entry::{
    launcher::program_name,
    launcher::starts_servers,
    slips::{self, Meant, Slip, Spoilt},
};
use satchel_reaper::watchdog::Orphan;

use super::Start;
use crate::{
    config::file::OWN_COMMAND,
    model::{
        Code,
        cause::{FailureCause, SandboxFault},
        server::{ContainerSandbox, Sandbox},
    },
    platform::{Environment, Platform},
    upstream::{
        connect::{batch, stdio},
        container::{self, Inhabitant, Inside, labelled::EntryContainers},
        environment::{self, Located},
        handshake::failure,
        lifecycle::Failure,
        locations::Locations,
        sandbox::SandboxPlan,
        watchdog::MARK,
    },
};

impl Start {
    /// Sandboxes are applied by the subreaper; without one, a sandboxed server is not started.
    fn sandbox(
        &self,
        sandbox: &Sandbox,
        program: &Path,
        home: Option<&Path>,
        has_subreaper: bool,
        env: &mut Environment,
    ) -> Result<SandboxPlan, Failure> {
        if !has_subreaper {
            return Err(SandboxFault::Absent.into());
        }
        let temporary = self.around.places.sandbox(self.name.as_str());
        let sandbox = SandboxPlan::around(sandbox, program, home, &temporary)?;
        for name in ["TMPDIR", "TMP", "TEMP"] {
            env.set(name, temporary.to_string_lossy());
        }
        Ok(sandbox)
    }

    /// The program of a local server with its environment, found as a shell would find it.
    pub(super) async fn program(
        &self,
        command: &str,
        args: Vec<String>,
        own: std::collections::BTreeMap<String, String>,
        cwd: Option<String>,
    ) -> Result<stdio::Program, Failure> {
        let (ours, home) = (&self.around.environment, self.around.environment.home());
        let (command, args) = self.on_this_system(command, args);
        let command = command.as_str();
        let cwd = cwd.map(|cwd| environment::expand_home(&cwd, home.as_deref(), ours.platform()));
        let path = ours
            .platform()
            .variable(&own, "PATH")
            .map(|path| std::env::split_paths(path).collect::<Vec<_>>());
        // The built-in server needs no search, and must not wait for the login shell.
        let known = match command {
            OWN_COMMAND => &[][..],
            _ => self.around.search_path.dirs(ours).await,
        };
        let dirs = path.as_deref().unwrap_or(known);
        let program = match command {
            OWN_COMMAND => self.around.own_program.clone(),
            _ => self.find(command, dirs, path.is_some(), cwd.as_deref())?,
        };
        let (program, args) = if ours.platform() == Platform::Windows {
            let text = |path: &Path| {
                std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            };
            batch::directly(program, args, text, Path::is_file)?
        } else {
            (program, args)
        };
        let mut env = environment::passed_on(ours);
        if !known.is_empty() {
            env.set("PATH", join(known));
        }
        let own = Environment::new(ours.platform(), own);
        let locations = Locations::of(command, &args, ours, &own);
        locations.remark().iter().for_each(|remark| self.log.remark(remark));
        env.extend(locations.passed);
        env.extend(own.into_variables());
        env.set(MARK, self.mark.as_str());
        let cwd = cwd.or_else(|| home.clone()).filter(|cwd| !cwd.as_os_str().is_empty());
        // The built-in server starts no processes that could escape.
        let subreaper = (cfg!(target_os = "linux") && command != OWN_COMMAND)
            .then(|| satchel_reaper::program(&self.around.own_program))
            .filter(|subreaper| subreaper.is_file());
        let sandbox = match &self.config.sandbox {
            None => None,
            Some(sandbox) => {
                let sandbox =
                    self.sandbox(sandbox, &program, home.as_deref(), subreaper.is_some(), &mut env)?;
                Some((self.around.own_program.clone(), sandbox))
            }
        };
        let (args, containers) = self.with_containers(&program, args, &env, known).await;
        let (env, open_files) = (env.into_variables(), self.around.descriptors.before);
        Ok(stdio::Program { program, args, env, cwd, subreaper, open_files, sandbox, containers })
    }

    /// The arguments with a name or a file for each container that they start, and how each ends: `docker run` is a client
    /// whose end leaves the container running.
    async fn with_containers(
        &self,
        program: &Path,
        args: Vec<String>,
        env: &Environment,
        dirs: &[PathBuf],
    ) -> (Vec<String>, Vec<Orphan>) {
        let entry = EntryContainers {
            mark: &self.mark,
            data: &self.around.places.data,
            client: container::labelled::client_of(env, &self.around.environment),
            instance: self.instance.as_ref().map(|(number, _)| *number),
        };
        let locate =
            |engine: &str| match environment::find_program(engine, dirs, None, &self.around.environment) {
                Located::At(found) => Some(found),
                Located::NotExecutable(_) | Located::Nowhere => None,
            };
        let (args, orphans) = entry.named(program, &args, locate);
        for orphan in &orphans {
            orphan.forget();
            let client = Environment::new(env.platform(), orphan.env.iter());
            let label = entry.label_of_home();
            self.around.engines.clear(&orphan.engine, &orphan.options, &client, &label).await;
        }
        (args, orphans)
    }

    /// Away from Windows, `cmd /c npx` is `npx`.
    fn on_this_system(&self, command: &str, args: Vec<String>) -> (String, Vec<String>) {
        let windows = self.around.environment.platform() == Platform::Windows;
        if let Some(path) = args.iter().find(|arg| !windows && slips::is_path_of_windows(arg)) {
            self.log.remark(&format!(
                "its argument {path} is a path of Windows, which this computer does not have"
            ));
        }
        match slips::meant(command, &args, windows, |_| true) {
            Some((Meant::Program { command, args }, Slip::OfWindows)) => {
                self.log.hub(&format!("runs {command} without the wrapper of Windows in its entry"));
                (command, args)
            }
            _ => (command.to_owned(), args),
        }
    }

    /// Finds the program that a command names. `dirs` may be the PATH of its entry.
    fn find(
        &self,
        command: &str,
        dirs: &[PathBuf],
        own_path: bool,
        cwd: Option<&Path>,
    ) -> Result<PathBuf, Failure> {
        let ours = &self.around.environment;
        let command = environment::expand_home(command, ours.home().as_deref(), ours.platform());
        match environment::find_program(&command.to_string_lossy(), dirs, cwd, ours) {
            Located::At(program) => Ok(program),
            Located::NotExecutable(path) => {
                let program = path.display().to_string();
                let told = failure(Code::SpawnDenied, format!("{program} is not executable"));
                Err(told.because(FailureCause::NotExecutable { program }))
            }
            Located::Nowhere => {
                let program = command.display().to_string();
                let misread = whole_line(&program).or_else(|| of_elsewhere(&program, ours.platform()));
                if let Some(failure) = misread {
                    return Err(failure);
                }
                let searched = !environment::is_path(&command.to_string_lossy());
                let message = match searched {
                    false => format!("{program} does not exist"),
                    true => format!("{program} was not found in PATH"),
                };
                if own_path {
                    self.log.hub("looked in the PATH of its entry");
                }
                let code = if is_runtime(&command) { Code::RuntimeMissing } else { Code::SpawnNotFound };
                Err(failure(code, message).because(FailureCause::ProgramAbsent { program, searched }))
            }
        }
    }

    /// The client of an engine that runs this command in a container.
    pub(super) async fn in_container(
        &self,
        sandbox: &Sandbox,
        container: &ContainerSandbox,
        command: &str,
        args: &[String],
        variables: std::collections::BTreeMap<String, String>,
        cwd: Option<String>,
    ) -> Result<stdio::Program, Failure> {
        let (ours, data) = (&self.around.environment, &self.around.places.data);
        if command == OWN_COMMAND {
            return Err(SandboxFault::BuiltIn.into());
        }
        let dirs = self.around.search_path.dirs(ours).await;
        let engine =
            container::find(container.engine, dirs, ours).ok_or(SandboxFault::NoEngine(container.engine))?;
        let mut client = container::client_environment(ours);
        client.set("PATH", join(dirs));
        let rootless = self.around.engines.is_rootless(&engine, &client, data).await?;
        let home = ours.home();
        let command = environment::expand_home(command, home.as_deref(), ours.platform())
            .to_string_lossy()
            .into_owned();
        let inside = Inside {
            sandbox,
            container,
            engine: &engine,
            inhabitant: Inhabitant::of(engine.is_podman, rootless, data, ours.platform()),
            command: &command,
            args,
            variables: &variables,
            cwd: cwd.as_deref(),
            mark: self.mark.as_str(),
            data,
            home: home.as_deref(),
            platform: ours.platform(),
            selinux: container::is_selinux_on(),
        };
        let args = inside.words()?;
        let name = container::name_of(&self.mark);
        let env = client.clone().into_variables();
        let (cidfile, options) = (None, vec![]);
        let containers = vec![Orphan { name, cidfile, engine: engine.program.clone(), options, env }];
        client.extend(variables);
        let (program, env, cwd) = (engine.program, client.into_variables(), home);
        Ok(stdio::Program {
            program,
            args,
            env,
            cwd,
            subreaper: None,
            open_files: None,
            sandbox: None,
            containers,
        })
    }
}

/// The failure of a command that is a program with its arguments, or is written as no program can be called. There is no such
/// file.
fn whole_line(line: &str) -> Option<Failure> {
    let wrong = |message: String| Some(failure(Code::EntryWrong, message));
    if line.contains(slips::is_curly) {
        return wrong(format!("\"command\" is {line:?}; {}", Spoilt::CurlyQuote.advice()));
    }
    if line.trim() != line && !line.trim().contains(char::is_whitespace) {
        return wrong(format!(
            "\"command\" has a blank before or after the program; write \"{}\"",
            line.trim()
        ));
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_set =
        |word: &&str| word.split_once('=').is_some_and(|(name, _)| !name.contains(['/', '\\', '.', '-']));
    if words.len() > 1 && words.first().is_some_and(is_set) {
        return wrong(format!(
            "\"command\" is a line for a shell (\"{line}\"): write its variables in \"env\", the program alone in \
             \"command\", and each of its arguments as an item of \"args\""
        ));
    }
    if words.iter().any(|word| matches!(*word, "&&" | "||" | "|" | ";")) {
        return wrong(format!(
            "\"command\" is a line for a shell (\"{line}\"), and one program is started without one; write \"sh\" with \
             \"-c\" and the line as \"args\" if you want it"
        ));
    }
    let (meant, _) = slips::meant(line, &[], true, |path| Path::new(path).is_file())?;
    let Meant::Program { command: program, .. } = meant else { return None };
    let message = format!(
        "there is no program called \"{line}\"; \"command\" takes the program alone (\"{program}\"), and each of its arguments \
         is an item of \"args\""
    );
    let line = line.to_owned();
    Some(failure(Code::EntryWrong, message).because(FailureCause::WholeLine { line, program }))
}

/// The failure of a command that only a shell, or only Windows, can start.
fn of_elsewhere(program: &str, platform: Platform) -> Option<Failure> {
    let wrong = |message: String| Some(failure(Code::EntryWrong, message));
    let variable = program.strip_prefix('$').filter(|name| !name.starts_with('{'));
    if let Some(name) = variable {
        let name: String = name.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        return wrong(format!(
            "\"command\" is \"{program}\", and a variable of the environment is written with braces: ${{{name}}}"
        ));
    }
    if platform == Platform::Windows {
        return None;
    }
    let name = program_name(program);
    let lower = program.to_ascii_lowercase();
    let is_shell = matches!(name.as_str(), "cmd" | "powershell" | "wsl" | "%comspec%");
    let is_file = [".exe", ".bat", ".cmd", ".ps1"].iter().any(|end| lower.ends_with(end));
    let has_variable = lower.starts_with('%');
    (is_shell || is_file || has_variable || slips::is_path_of_windows(program)).then(|| {
        failure(
            Code::EntryWrong,
            format!("\"{program}\" is a command of Windows, and this computer has another system; write its command here"),
        )
    })
}

/// The failure of one argument that is several, such as `-y some-server`: its launcher would take all of it for one option.
pub(super) fn joined_arguments(command: &str, args: &[String]) -> Option<Failure> {
    let is_launcher = matches!(program_name(command).as_str(), "npx" | "uvx" | "bunx" | "pnpx");
    let is_joined = |arg: &&String| arg.starts_with('-') && arg.contains(' ') && !arg.contains('=');
    let joined = args.iter().take(3).find(is_joined).filter(|_| is_launcher)?;
    let message = format!("the argument \"{joined}\" is several: each is an item of \"args\" of its own");
    Some(failure(Code::EntryWrong, message))
}

/// The sandbox with its container, where it is one.
pub(super) fn contained(sandbox: &Sandbox) -> Option<(&Sandbox, &ContainerSandbox)> {
    sandbox.container.as_ref().map(|container| (sandbox, container))
}

fn is_runtime(command: &Path) -> bool {
    command.components().count() == 1 && command.to_str().is_some_and(starts_servers)
}

fn join(dirs: &[PathBuf]) -> String {
    std::env::join_paths(dirs).map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_line_as_command_is_said_to_be_one() {
        let failure = whole_line("npx -y some-server").unwrap();
        let cause =
            FailureCause::WholeLine { line: "npx -y some-server".to_owned(), program: "npx".to_owned() };
        assert_eq!((failure.code, failure.cause), (Code::EntryWrong, Some(Box::new(cause))));
        assert!(failure.message.contains("\"args\""), "{}", failure.message);
        for (line, says) in [
            ("API_KEY=abc npx -y x", "\"env\""),
            ("npx -y x | tee log", "a line for a shell"),
            ("npx ", "a blank before or after"),
            ("\u{201c}npx\u{201d}", "curly quotes"),
            ("/bin/sh -c x", "\"args\""),
        ] {
            let failure = whole_line(line).unwrap();
            assert!(
                failure.code == Code::EntryWrong && failure.message.contains(says),
                "{}",
                failure.message
            );
        }
        let joined = |command: &str, args: &[&str]| {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            joined_arguments(command, &args).is_some()
        };
        assert!(joined("npx", &["-y some-server --stdio"]) && joined("/usr/bin/uvx", &["--from x", "y"]));
        assert!(!joined("npx", &["-y", "x", "--say=a b"]) && !joined("python3", &["-c print(1)"]));
        for path in ["/opt/My App/run", "C:\\Program Files\\x.exe", "npx"] {
            assert_eq!(whole_line(path), None, "{path}");
        }
    }

    #[test]
    fn a_command_of_another_system_or_of_a_shell_is_said_to_be_that() {
        let told = |program: &str, platform| of_elsewhere(program, platform).map(|failure| failure.message);
        for program in ["powershell.exe", "wsl", "start.bat", "%COMSPEC%", "C:\\tools\\run", "cmd"] {
            let message = told(program, Platform::Linux).unwrap();
            assert!(message.contains("a command of Windows"), "{message}");
            assert_eq!(told(program, Platform::Windows), None, "{program}");
        }
        assert!(told("$HOME/bin/x", Platform::Windows).unwrap().ends_with("${HOME}"));
        for program in ["my-server", "/opt/x", "pwsh", "commander"] {
            assert_eq!(told(program, Platform::MacOs), None, "{program}");
        }
    }

    #[test]
    fn a_missing_runtime_is_told_from_a_missing_program() {
        for (command, runtime) in
            [("npx", true), ("python3", true), ("docker", true), ("my-server", false), ("/opt/npx", false)]
        {
            assert_eq!(is_runtime(Path::new(command)), runtime, "{command}");
        }
    }
}
