//! Resolves the programs that Windows can start only through its command interpreter, such as `npx.cmd`, to the program
//! they start in the end. So `cmd.exe` parses no argument a second time, and no console window appears. Where a shim does
//! not follow one of the usual forms, the standard library quotes the arguments for `cmd.exe`; an argument that no quoting
//! preserves gets an error.
//!
//! Only Windows needs this. The code only parses text, so every system tests it.

use std::path::{Path, PathBuf};

use crate::{
    model::{Code, cause::FailureCause},
    upstream::lifecycle::Failure,
};

/// How batch files refer to their own directory.
const HERE: [&str; 2] = ["%dp0%", "%~dp0"];

/// An argument for this batch file has a line break.
#[derive(Debug, thiserror::Error)]
#[error("{0} is a batch file, and no argument with a line break can be handed to one")]
pub(in crate::upstream) struct LineBreak(String);

impl From<LineBreak> for Failure {
    fn from(refused: LineBreak) -> Self {
        let failure = Failure::new(Code::SpawnDenied, refused.to_string());
        failure.because(FailureCause::LineBreak { program: refused.0 })
    }
}

/// The program to start and its arguments.
///
/// # Errors
/// The batch file, if an argument cannot be passed to it unchanged.
pub(in crate::upstream) fn directly(
    program: PathBuf,
    args: Vec<String>,
    read: impl Fn(&Path) -> Option<String>,
    exists: impl Fn(&Path) -> bool,
) -> Result<(PathBuf, Vec<String>), LineBreak> {
    if !is_batch(&program) {
        return Ok((program, args));
    }
    if let Some((runtime, script)) = read(&program).and_then(|text| behind(&program, &text, &exists)) {
        return Ok((runtime, [vec![script], args].concat()));
    }
    match args.iter().find(|arg| arg.contains(['\0', '\r', '\n'])) {
        None => Ok((program, args)),
        Some(_) => Err(LineBreak(program.display().to_string())),
    }
}

fn is_batch(program: &Path) -> bool {
    let extension = program.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    ["cmd", "bat"].iter().any(|batch| batch.eq_ignore_ascii_case(extension))
}

/// What a batch file starts: the runtime and its script. `None` if its form is unknown.
fn behind(program: &Path, text: &str, exists: &impl Fn(&Path) -> bool) -> Option<(PathBuf, String)> {
    let here = program.parent()?;
    // The last line that passes all arguments on.
    let line = text.lines().rev().find(|line| line.contains("%*"))?;
    let parts: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
    let [.., runtime, script] = parts[..] else { return None };
    let script = match script {
        // The two that come with Node find their script through variables.
        "%NPX_CLI_JS%" => "%~dp0\\node_modules\\npm\\bin\\npx-cli.js",
        "%NPM_CLI_JS%" => "%~dp0\\node_modules\\npm\\bin\\npm-cli.js",
        script => script,
    };
    // What a package's installer wrote names the runtime only in a variable.
    if !["%_prog%", "%NODE_EXE%", "node"].contains(&runtime) && place(here, runtime).is_none() {
        return None;
    }
    let script = place(here, script).filter(|script| exists(script))?;
    let beside = here.join("node.exe");
    let is_node =
        script.extension().is_some_and(|extension| ["js", "cjs", "mjs"].iter().any(|js| extension == *js));
    let runtime = is_node.then(|| if exists(&beside) { beside } else { "node.exe".into() })?;
    Some((runtime, script.into_os_string().into_string().ok()?))
}

/// A path relative to the batch file's directory, without other variables.
fn place(here: &Path, written: &str) -> Option<PathBuf> {
    let rest = HERE.iter().find_map(|start| written.strip_prefix(start))?;
    let parts = rest.split(['\\', '/']).filter(|part| !part.is_empty());
    (!rest.contains('%')).then(|| parts.fold(here.to_owned(), |path, part| path.join(part)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// As npm writes it for an installed package.
    const SHIM: &str = "@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n\r\nIF EXIST \"%dp0%\\node.exe\" (\r\n  SET \"_prog=%dp0%\\node.exe\"\r\n) ELSE (\r\n  SET \"_prog=node\"\r\n  SET PATHEXT=%PATHEXT:;.JS;=;%\r\n)\r\n\r\nendLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & \"%_prog%\"  \"%dp0%\\node_modules\\tool\\cli.js\" %*\r\n";
    /// As it comes with Node.
    const NPX: &str = "@ECHO OFF\r\nSETLOCAL\r\nSET \"NODE_EXE=%~dp0\\node.exe\"\r\nSET \"NPX_CLI_JS=%~dp0\\node_modules\\npm\\bin\\npx-cli.js\"\r\n\"%NODE_EXE%\" \"%NPX_CLI_JS%\" %*\r\n";

    /// Arguments that are difficult for a shell but that people write.
    fn awkward() -> Vec<String> {
        let args =
            ["a b", "", "\"q\"", "%PATH%", "^&|<>", "!x!", "tail\\", "\\\\\"", "https://h/?a=1&b=2", "é漢"];
        args.map(str::to_owned).to_vec()
    }

    fn check(
        program: &str,
        files: &[(&str, &str)],
        args: Vec<String>,
    ) -> Result<(String, Vec<String>), String> {
        let files: BTreeMap<PathBuf, String> =
            files.iter().map(|(path, text)| (Path::new("/n").join(path), (*text).to_owned())).collect();
        let read = |path: &Path| files.get(path).cloned();
        let exists = |path: &Path| files.contains_key(path);
        let (program, args) = directly(Path::new("/n").join(program), args, read, exists)
            .map_err(|refused| refused.to_string())?;
        Ok((program.to_string_lossy().into_owned(), args))
    }

    #[test]
    fn a_batch_shim_is_replaced_by_its_program_with_unchanged_arguments() {
        let after =
            |script: &str| [vec![script.to_owned()], awkward(), vec!["two\nlines".to_owned()]].concat();
        let args = || [awkward(), vec!["two\nlines".to_owned()]].concat();
        let npx = [("npx.CMD", NPX), ("node.exe", ""), ("node_modules/npm/bin/npx-cli.js", "")];
        let expected = ("/n/node.exe".to_owned(), after("/n/node_modules/npm/bin/npx-cli.js"));
        assert_eq!(check("npx.CMD", &npx, args()), Ok(expected));
        let shim = [("tool.cmd", SHIM), ("node_modules/tool/cli.js", "")];
        let expected = ("node.exe".to_owned(), after("/n/node_modules/tool/cli.js"));
        assert_eq!(check("tool.cmd", &shim, args()), Ok(expected), "with the node of the search path");
    }

    #[test]
    fn another_batch_file_is_started_as_it_is_and_refused_what_cannot_be_quoted() {
        for text in [
            "@echo off\r\npython \"%~dp0\\x.py\" %*\r\n",
            "\"%_prog%\" \"%dp0%\\node_modules\\gone.js\" %*",
            "\"%_prog%\" \"%dp0%\\%1\\x.js\" %*",
            "echo %*",
            "",
        ] {
            let files = [("t.bat", text), ("x.py", "")];
            assert_eq!(check("t.bat", &files, awkward()), Ok(("/n/t.bat".to_owned(), awkward())), "{text}");
            for broken in ["a\nb", "a\r", "\0"] {
                let refused = check("t.bat", &files, vec![broken.to_owned()]).unwrap_err();
                assert!(refused.contains("t.bat is a batch file"), "{refused}");
            }
        }
    }

    #[test]
    fn a_program_is_no_batch_file() {
        let args = vec!["a\nb".to_owned()];
        for program in ["npx.exe", "npx", "cmd", "a.cmd.exe"] {
            assert_eq!(check(program, &[], args.clone()), Ok((format!("/n/{program}"), args.clone())));
        }
    }
}
