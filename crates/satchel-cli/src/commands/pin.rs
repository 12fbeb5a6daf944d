//! `pin`: has an entry name the one version of its package that may run.

use std::process::ExitCode;

use anyhow::bail;
use satchel_core::{
    files::Places,
    model::{
        ServerName, TransportConfig,
        control::{Change, Wish},
    },
    registry::{fetched, pinning},
};
use serde_json::{Value, json};

use super::done;
use crate::reach::once;

pub(crate) async fn run(
    places: &Places,
    name: ServerName,
    version: Option<String>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let mut entry = once(places, Wish::Entry { server: name.to_string() }).await?;
    let transport = transport(&entry);
    let Some((transport, package)) =
        transport.and_then(|transport| pinning::floating(&transport).map(|package| (transport, package)))
    else {
        bail!("{name} fetches no package, or names its version exactly already; nothing was changed");
    };
    let version = match version {
        Some(version) => version,
        None => the_one_here(&name, &transport, &package)?,
    };
    let Some(arguments) = pinning::pinned(&transport, &version) else {
        bail!(
            "\"{version}\" is no exact version of {package}; name one like 1.2.3, or a whole digest of an image"
        );
    };
    entry["args"] = json!(arguments);
    let answer = once(places, Wish::Change(Change::Edit { name: name.to_string(), entry })).await?;
    done(&format!("{name} runs {version} of {package} from now on, and no other."), &answer, json)
}

fn transport(entry: &Value) -> Option<TransportConfig> {
    let words = |value: &Value| -> Vec<String> {
        value
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|word| word.as_str().map(ToOwned::to_owned))
            .collect()
    };
    let set = entry["env"].as_object().into_iter().flatten();
    let env = set.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
    let command = entry["command"].as_str()?.to_owned();
    Some(TransportConfig::Stdio { command, args: words(&entry["args"]), env, cwd: None })
}

fn the_one_here(name: &ServerName, transport: &TransportConfig, package: &str) -> anyhow::Result<String> {
    let here = fetched::packages(transport, |name| std::env::var(name).ok());
    let here = fetched::versions(transport, &here);
    let mut versions = here.iter();
    match (versions.next(), versions.next()) {
        (Some(version), None) => Ok(version.clone()),
        (None, _) => bail!(
            "which version of {package} was fetched is not known here; name one: `satchel pin {name} VERSION`"
        ),
        (Some(_), Some(_)) => {
            let all = here.iter().cloned().collect::<Vec<_>>().join(", ");
            bail!("several versions of {package} are here ({all}); name one: `satchel pin {name} VERSION`")
        }
    }
}
