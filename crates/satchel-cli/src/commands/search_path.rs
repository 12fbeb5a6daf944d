//! `search-path`: adds the program's directory to the user's PATH or removes it, for the Windows installer. Elsewhere packages
//! install into directories on PATH. Touches only that variable.

use std::process::ExitCode;

use crate::{args::SearchPathAct, output::say};

/// Maximum length on Windows.
const LONGEST: usize = 32_000;

/// PATH with a directory appended; `None` if it is included already.
fn with(path: &str, directory: &str) -> Option<String> {
    if path.split(';').any(|part| is_same(part, directory)) {
        return None;
    }
    let before = path.trim_end_matches(';');
    Some(if before.is_empty() { directory.to_owned() } else { format!("{before};{directory}") })
}

/// PATH without a directory; `None` if it is not included.
fn without(path: &str, directory: &str) -> Option<String> {
    let parts: Vec<&str> = path.split(';').collect();
    let kept: Vec<&str> = parts.iter().copied().filter(|part| !is_same(part, directory)).collect();
    (kept.len() < parts.len()).then(|| kept.join(";"))
}

fn is_same(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.trim().trim_matches('"').trim_end_matches('\\').to_lowercase();
    plain(one) == plain(other)
}

/// The new value, if it has to change.
fn changed(path: &str, directory: &str, act: SearchPathAct) -> anyhow::Result<Option<String>> {
    let changed = match act {
        SearchPathAct::Add => with(path, directory),
        SearchPathAct::Remove => without(path, directory),
    };
    match changed {
        Some(path) if path.len() > LONGEST => {
            anyhow::bail!(
                "PATH has no room for {directory}; remove what you do not need from it and try again"
            )
        }
        changed => Ok(changed),
    }
}

#[cfg(windows)]
pub(crate) fn run(act: SearchPathAct) -> anyhow::Result<ExitCode> {
    use anyhow::Context;
    use windows_registry::{CURRENT_USER, Type};
    const NAME: &str = "Path";
    let own = std::env::current_exe().context("cannot locate this program")?;
    let directory =
        own.parent().context("this program's path has no parent directory")?.display().to_string();
    let variables =
        CURRENT_USER.create("Environment").context("cannot open this user's environment variables")?;
    // Missing if the user has no PATH of their own.
    let path = variables.get_string(NAME).unwrap_or_default();
    let Some(path) = changed(&path, &directory, act)? else {
        say("PATH needs no change.");
        return Ok(ExitCode::SUCCESS);
    };
    // Names such as %USERPROFILE% are expanded only in values of the expandable type, which is the default.
    match variables.get_type(NAME) {
        Ok(Type::String) => variables.set_string(NAME, &path),
        Ok(_) | Err(_) => variables.set_expand_string(NAME, &path),
    }
    .context("cannot write this user's PATH")?;
    say("Changed PATH. Open terminals do not see it yet.");
    Ok(ExitCode::SUCCESS)
}

#[cfg(not(windows))]
pub(crate) fn run(act: SearchPathAct) -> anyhow::Result<ExitCode> {
    let own = std::env::current_exe()?;
    let directory = own.parent().map(|dir| dir.display().to_string()).unwrap_or_default();
    let path = std::env::var("PATH").unwrap_or_default().replace(':', ";");
    match changed(&path, &directory, act)? {
        None => say("PATH needs no change."),
        Some(_) => anyhow::bail!(
            "on this system, packages set PATH; for this program alone, add it in your shell's startup \
             file: {directory}"
        ),
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_added_once_and_taken_off_again() {
        let own = r"C:\Users\Jane Doe\Satchel";
        for (before, after) in [
            ("", Some(own.to_owned())),
            (r"C:\a;%USERPROFILE%\b", Some(format!(r"C:\a;%USERPROFILE%\b;{own}"))),
            (r"C:\a;", Some(format!(r"C:\a;{own}"))),
            (r"C:\a;c:\users\jane doe\SATCHEL\;C:\b", None),
            (r#""C:\Users\Jane Doe\Satchel";C:\b"#, None),
        ] {
            assert_eq!(with(before, own), after, "{before}");
        }
        assert_eq!(without(&format!(r"C:\a;{own}\;C:\b"), own).as_deref(), Some(r"C:\a;C:\b"));
        assert_eq!(without(own, own).as_deref(), Some(""));
        assert_eq!(without(r"C:\a;C:\b", own), None);
    }

    #[test]
    fn a_path_without_room_is_left_as_it_is() {
        let full = "C:\\a;".repeat(LONGEST / 5);
        assert!(changed(&full, "C:\\satchel", SearchPathAct::Add).is_err());
        assert_eq!(changed(&full, "C:\\satchel", SearchPathAct::Remove).unwrap(), None);
    }
}
