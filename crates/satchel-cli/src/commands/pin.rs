//! `pin`: pins an entry to one version of its package.

use std::process::ExitCode;

use satchel_core::{
    files::Places,
    model::{ServerName, package::Pinned, request::PinPackage},
};

use super::done;
use crate::reach::once;

pub(crate) async fn run(
    places: &Places,
    name: ServerName,
    version: Option<String>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let pinned: Pinned = once(places, PinPackage { server: name.to_string(), version }).await?;
    let Pinned { package, version } = &pinned;
    done(&format!("{name} runs {version} of {package} from now on, and no other."), &pinned, json)
}
