//! Finds the packages that launchers (npx, uvx) fetched, has them compared with what was approved, and pins an entry to
//! one version.

use serde_json::json;

use super::{Hub, apply, approved, launch};
use crate::{
    intake::{entering::entry_to_edit, house::Hand},
    model::{
        Code, ServerName, TransportConfig,
        control::{Change, Refusal},
        package::{PackageView, Pinned},
        shell,
    },
    registry::{fetched, pinning},
};

/// The only fetched version.
fn one_of(versions: &[String], package: &str, server: &str) -> Result<String, Refusal> {
    let (code, message) = match versions {
        [version] => return Ok(version.clone()),
        [] => (Code::VersionUnknown, format!("the version of {package} that was fetched is unknown")),
        several => (
            Code::VersionsSeveral,
            format!("several versions of {package} are here ({})", several.join(", ")),
        ),
    };
    Err(Refusal::new(code, message, format!("Name one: `satchel pin {} VERSION`.", shell::word(server))))
}

/// The package that a server's launcher fetches; `None` if it fetches nothing with versions.
pub(super) async fn package(hub: &Hub, server: &str) -> Result<Option<PackageView>, Refusal> {
    let (name, transport) = configured(hub, server)?;
    let (floats, kept) = (pinning::floating(&transport).is_some(), fetched::is_kept(&transport));
    let asked_for = fetched::asked_for(&transport).filter(|(_, version)| floats || version.is_some());
    let Some(((package, version), example)) = asked_for.zip(pinning::example(&transport)) else {
        return Ok(None);
    };
    let digest = version.as_ref().and_then(|version| hub.inner.review.remembered(&name, &package, version));
    let fetched = if floats { versions(hub, transport).await } else { Vec::new() };
    Ok(Some(PackageView { package, version, digest, fetched, kept, example }))
}

/// Pins a server to one version of its package.
pub(super) async fn pin(hub: &Hub, server: &str, version: Option<String>) -> Result<Pinned, Refusal> {
    let (name, transport) = configured(hub, server)?;
    let package = pinning::floating(&transport).ok_or_else(|| {
        let message =
            format!("{server} fetches no package, or already names an exact version; nothing was changed");
        Refusal::new(Code::PinnedAlready, message, "")
    })?;
    // Pinning must not accept other changes that were made outside Satchel.
    approved::refuse_held_entry(hub, &name)?;
    // The version that was fetched last is what ran. Naming any other version accepts it.
    let hand = if version.is_none() { Hand::Person } else { Hand::of(hub) };
    let version = match version {
        Some(version) => version,
        None => one_of(&versions(hub, transport.clone()).await, &package, server)?,
    };
    let args = pinning::pinned(&transport, &version).ok_or_else(|| {
        let message = format!("\"{version}\" is not an exact version of {package}");
        Refusal::new(Code::NoVersion, message, "Name one like 1.2.3, or the full digest of an image.")
    })?;
    let mut entry = entry_to_edit(hub, server)?;
    entry["args"] = json!(args);
    apply::ask(hub, Change::Edit { name: server.to_owned(), entry: entry.into() }, hand).await?;
    Ok(Pinned { package, version })
}

fn configured(hub: &Hub, server: &str) -> Result<(ServerName, TransportConfig), Refusal> {
    let config = hub.config();
    let known = config.servers().get_key_value(server).ok_or_else(|| Refusal::unknown_server(server))?;
    Ok((known.0.clone(), known.1.transport.clone()))
}

async fn versions(hub: &Hub, transport: TransportConfig) -> Vec<String> {
    let owned = hub.clone();
    let read =
        move || fetched::versions(&transport, &launch::fetched(&owned, &transport)).into_iter().collect();
    hub.inner.life.tracker().spawn_blocking(read).await.unwrap_or_default()
}
