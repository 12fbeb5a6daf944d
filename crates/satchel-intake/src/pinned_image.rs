//! Resolves the tag of an image to a digest, because a tag can be moved to another image. Asks the container engine, which
//! fetches the image for it, so a person agrees first.

use std::{path::PathBuf, process::Stdio, time::Duration};

use tokio::{process::Command, time::timeout};

use crate::{
    house::House,
    model::{Code, caution::CautionCode, control::Refusal},
};

/// Timeout for pulling an image, which may be large.
const FETCHING: Duration = Duration::from_secs(600);
const ENGINES: [&str; 2] = ["docker", "podman"];

/// Finds a program.
pub(crate) async fn program(house: &dyn House, name: &str) -> Option<PathBuf> {
    files_named(house.search_path().dirs(house.environment()).await, name).find(|path| path.is_file())
}

/// Is this program in one of these directories?
pub(crate) fn is_program(dirs: &[PathBuf], name: &str) -> bool {
    files_named(dirs, name).any(|path| path.is_file())
}

fn files_named(dirs: &[PathBuf], name: &str) -> impl Iterator<Item = PathBuf> {
    let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd"] } else { &[""] };
    dirs.iter().flat_map(move |dir| endings.iter().map(move |end| dir.join(format!("{name}{end}"))))
}

/// The installed container engine.
pub(crate) async fn engine(house: &dyn House) -> Option<&'static str> {
    for name in ENGINES {
        if program(house, name).await.is_some() {
            return Some(name);
        }
    }
    None
}

/// Pulls an image and returns its name with its digest.
pub(crate) async fn pinned(house: &dyn House, engine: &str, image: &str) -> Result<String, Refusal> {
    let failed = |why: String| {
        Refusal::because(
            Code::NoDigest,
            CautionCode::ImageUnknown.with([image, &why]),
            "See whether it can be fetched, or choose another way with --way.",
        )
    };
    let path = program(house, engine).await.ok_or_else(|| failed(format!("{engine} is not installed")))?;
    let run = async |words: &[&str]| -> Result<String, Refusal> {
        let mut command = Command::new(&path);
        command.args(words).envs(house.environment().iter()).stdin(Stdio::null()).kill_on_drop(true);
        let output =
            timeout(FETCHING, command.output()).await.map_err(|_| failed("it took too long".into()))?;
        let output = output.map_err(|error| failed(error.to_string()))?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        match output.status.success() {
            true => Ok(said(&output.stdout)),
            false => Err(failed(said(&output.stderr).lines().last().unwrap_or_default().to_owned())),
        }
    };
    run(&["pull", image]).await?;
    let digests = run(&["image", "inspect", "--format", "{{join .RepoDigests \"\\n\"}}", image]).await?;
    let bare = image.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')).map_or(image, |(bare, _)| bare);
    let digest = digests.lines().find_map(|line| line.trim().rsplit_once('@').map(|(_, digest)| digest));
    let digest = digest.filter(|digest| digest.len() == 71 && digest.starts_with("sha256:"));
    digest.map(|digest| format!("{bare}@{digest}")).ok_or_else(|| failed("it has no digest".into()))
}
