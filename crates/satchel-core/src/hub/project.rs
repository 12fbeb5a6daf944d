//! The folder that a session works in, as its client names it: a stranger's text, so it counts only if it is a directory that
//! exists, and is used in its canonical form. Puts it into an entry in place of `${project}`. Chooses no instance.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use satchel_entry::template::{ProjectUse, is_plain, project_use, with_project};

use super::Hub;
use crate::model::ServerConfig;

/// How long a client may take to name its folders before a call that needs one goes on without them.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// How long a look at a folder may take: it may be on a disk that does not answer.
const LOOK_TIME: Duration = Duration::from_secs(5);
/// Maximum length of a path, in bytes.
const LONGEST: usize = 4_096;
/// How a path of the sandbox begins that is in the folder.
const IN_FOLDER: &str = "${project}";

/// Why a session has no folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoFolder {
    #[error("its client names none")]
    Unnamed,
    #[error("the client named none in time")]
    Late,
    #[error("a person's call belongs to none")]
    ByHand,
    #[error("{0} is your home directory, not a project")]
    Home(String),
    #[error("{0} contains your home directory, so it is no project")]
    AboveHome(String),
    #[error("{0} has files of Satchel, so it is no project")]
    OfSatchel(String),
    #[error("{0} is a directory of the system, not a project")]
    OfSystem(String),
    #[error("{0} is the root of the disk, not a project")]
    Root(String),
    #[error(
        "a $, {{ or }} in the path {0} could be read as part of a reference in the entry; work in a folder without them"
    )]
    Reference(String),
    #[error("{0} is not an absolute path")]
    Relative(String),
    #[error("the path has control characters, or is longer than {LONGEST} bytes")]
    Odd,
    #[error("there is no folder {0}")]
    Missing(String),
    #[error("the disk of {0} does not answer")]
    Silent(String),
}

/// How an entry uses the folder of a session.
pub(super) fn uses(config: &ServerConfig) -> ProjectUse {
    let mut transport = config.transport.clone();
    let in_texts = transport.project_texts().map(|text| project_use(text)).max();
    let sandbox = config.sandbox.as_ref();
    let in_sandbox = sandbox.is_some_and(|sandbox| {
        sandbox.read.iter().chain(&sandbox.write).any(|path| path.starts_with(IN_FOLDER))
    });
    let in_sandbox = if in_sandbox { ProjectUse::Needed } else { ProjectUse::None };
    in_texts.unwrap_or(ProjectUse::None).max(in_sandbox)
}

/// Puts a folder into an entry.
pub(super) fn put(config: &mut ServerConfig, folder: &str) {
    config.transport.project_texts().for_each(|text| *text = with_project(text, folder));
    let Some(sandbox) = &mut config.sandbox else { return };
    for path in sandbox.read.iter_mut().chain(&mut sandbox.write) {
        if let Some(rest) = path.strip_prefix(IN_FOLDER) {
            *path = format!("{folder}{rest}");
        }
    }
}

/// The folder of this handle's session. Waits for a client that was just asked.
///
/// # Errors
/// [`NoFolder`] if the client names no folder, or Satchel does not use the one it names.
pub(super) async fn folder(hub: &Hub) -> Result<Arc<str>, NoFolder> {
    let scope = &hub.context.scope;
    if hub.context.ruled().is_none() {
        return Err(NoFolder::ByHand);
    }
    let in_time = scope.named_folder().is_some() || scope.asked(ANSWER_TIME).await;
    let Some(named) = scope.claimed_folder() else {
        return Err(if in_time { NoFolder::Unnamed } else { NoFolder::Late });
    };
    if let Some(known) = scope.project(&named) {
        return Ok(known);
    }
    let (home, path) = (hub.inner.around.environment.home(), named.clone());
    let places = hub.places();
    // Where the configuration is in the home directory itself, the projects are too.
    let beside =
        places.config_file.parent().filter(|dir| home.as_ref().is_none_or(|home| !home.starts_with(dir)));
    let own = [beside.map(Path::to_owned), Some(places.data.clone()), Some(places.logs.clone())];
    let own: Vec<PathBuf> = own.into_iter().flatten().collect();
    let looking = tokio::task::spawn_blocking(move || canonical(&path, home.as_deref(), &own));
    let looked = tokio::time::timeout(LOOK_TIME, looking).await;
    let folder: Arc<str> = match looked {
        Ok(Ok(found)) => found?.into(),
        Ok(Err(_)) | Err(_) => return Err(NoFolder::Silent(named)),
    };
    scope.works_in_project(named, folder.clone());
    Ok(folder)
}

/// Directories in which the system shows itself.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

fn canonical(named: &str, home: Option<&Path>, own: &[PathBuf]) -> Result<String, NoFolder> {
    if named.len() > LONGEST || named.contains(char::is_control) {
        return Err(NoFolder::Odd);
    }
    let path = Path::new(named);
    if !path.is_absolute() {
        return Err(NoFolder::Relative(named.to_owned()));
    }
    let missing = || NoFolder::Missing(named.to_owned());
    let real = std::fs::canonicalize(path).map_err(|_| missing())?;
    if !real.is_dir() {
        return Err(missing());
    }
    if real.parent().is_none() {
        return Err(NoFolder::Root(named.to_owned()));
    }
    let home = home.map(|home| std::fs::canonicalize(home).unwrap_or_else(|_| home.to_owned()));
    match home {
        Some(home) if home == real => return Err(NoFolder::Home(named.to_owned())),
        Some(home) if home.starts_with(&real) => return Err(NoFolder::AboveHome(named.to_owned())),
        Some(_) | None => {}
    }
    let overlaps = |own: &PathBuf| {
        let own = std::fs::canonicalize(own).unwrap_or_else(|_| own.clone());
        own.starts_with(&real) || real.starts_with(&own)
    };
    if own.iter().any(overlaps) {
        return Err(NoFolder::OfSatchel(named.to_owned()));
    }
    if cfg!(unix) && SYSTEM.iter().any(|system| real.starts_with(system)) {
        return Err(NoFolder::OfSystem(named.to_owned()));
    }
    let text = real.into_os_string().into_string().map_err(|_| NoFolder::Odd)?;
    if text.contains(char::is_control) {
        return Err(NoFolder::Odd);
    }
    match is_plain(&text) {
        true => Ok(as_usual(text)),
        false => Err(NoFolder::Reference(text)),
    }
}

/// Without the prefix that Windows puts before canonical paths, which many programs do not understand.
fn as_usual(path: String) -> String {
    match path.strip_prefix(r"\\?\") {
        Some(plain) if plain.as_bytes().get(1) == Some(&b':') => plain.to_owned(),
        Some(_) | None => path,
    }
}

/// The `file://` URI of a folder (RFC 8089).
pub(super) fn uri_of(folder: &str) -> String {
    let plain =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~' | b'.' | b'/' | b':');
    let folder = folder.replace(std::path::MAIN_SEPARATOR, "/");
    let start = if folder.starts_with('/') { "file://" } else { "file:///" };
    let path = folder.bytes().map(|byte| match plain(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    path.fold(start.to_owned(), |uri, part| uri + &part)
}

/// The last part of a folder's path, for a short mark.
pub(super) fn short(folder: &str) -> String {
    let name = PathBuf::from(folder).file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Config;

    #[test]
    fn a_folder_that_a_client_names_is_canonical_and_there() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let web = home.join("web");
        std::fs::create_dir(&web).unwrap();
        std::fs::write(home.join("file"), "").unwrap();
        let (own, odd) = (home.join(".satchel"), home.join("x${cmd:touch a"));
        std::fs::create_dir_all(own.join("data")).unwrap();
        std::fs::create_dir(&odd).unwrap();
        let look = |path: &Path| canonical(&path.to_string_lossy(), Some(&home), std::slice::from_ref(&own));
        let text = |path: &Path| path.to_string_lossy().into_owned();
        assert_eq!(look(&web), Ok(as_usual(text(&web))));
        assert_eq!(look(&home.join("web/../web/.")), Ok(as_usual(text(&web))));
        assert_eq!(look(&home), Err(NoFolder::Home(text(&home))));
        assert_eq!(look(&home.join("gone")), Err(NoFolder::Missing(text(&home.join("gone")))));
        assert_eq!(look(&home.join("file")), Err(NoFolder::Missing(text(&home.join("file")))));
        let above = home.parent().unwrap();
        assert_eq!(look(above), Err(NoFolder::AboveHome(text(above))));
        assert_eq!(look(&own), Err(NoFolder::OfSatchel(text(&own))));
        assert_eq!(look(&own.join("data")), Err(NoFolder::OfSatchel(text(&own.join("data")))));
        assert_eq!(look(&odd), Err(NoFolder::Reference(text(&odd))));
        assert_eq!(canonical("--config=/x", None, &[]), Err(NoFolder::Relative("--config=/x".into())));
        assert_eq!(canonical("/a\nb", None, &[]), Err(NoFolder::Odd));
        let root = home.ancestors().last().unwrap();
        assert_eq!(look(root), Err(NoFolder::Root(text(root))));
    }

    #[cfg(unix)]
    #[test]
    fn links_to_a_folder_are_one_folder() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, dir.path().join("link")).unwrap();
        let link = dir.path().join("link");
        assert_eq!(canonical(&link.to_string_lossy(), None, &[]), Ok(real.to_string_lossy().into_owned()));
    }

    #[test]
    fn a_folder_stands_in_arguments_variables_directory_and_sandbox() {
        let entry = json!({ "mcpServers": {
            "all": { "command": "${project}/x", "args": ["${project}/src"], "env": { "A": "${project}" }, "cwd": "${project}",
                "sandbox": { "read": ["${project}/a", "/srv"] } },
            "default": { "command": "x", "cwd": "${project:-/srv}" },
            "none": { "command": "x", "args": ["$${project}"] },
            "hosted": { "url": "https://x.example/${project}" },
        } });
        let config = Config::parse(&entry.to_string()).unwrap();
        let use_of = |name: &str| uses(&config.servers()[name]);
        assert_eq!(
            ["all", "default", "none", "hosted"].map(use_of),
            [ProjectUse::Needed, ProjectUse::Optional, ProjectUse::None, ProjectUse::None]
        );
        let mut all = config.servers()["all"].clone();
        put(&mut all, "/home/ada/web");
        let texts: Vec<&str> = all.transport.texts().collect();
        assert_eq!(texts, ["${project}/x", "/home/ada/web/src", "/home/ada/web", "/home/ada/web"]);
        assert_eq!(all.sandbox.unwrap().read, ["/home/ada/web/a", "/srv"]);
    }

    #[test]
    fn a_folder_has_a_uri() {
        assert_eq!(uri_of("/home/ada/my web"), "file:///home/ada/my%20web");
        assert_eq!(uri_of("C:/Code/é"), "file:///C:/Code/%C3%A9");
    }
}
