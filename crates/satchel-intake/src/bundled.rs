//! The server in a bundle, as it will be after unpacking.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use crate::{
    bundles,
    clients::{
        import::{FoundEntry, Origin, Target, TransportKind},
        machine::Machine,
    },
    described::bare,
    house::House,
    model::{Code, clients::Need, control::Refusal},
    offers::{ImportOffers, existing, offered},
    platform::Platform,
    registry::{
        bundle,
        manifest::{Around, Manifest, ManifestError, Setting},
    },
    remarks::refuse_risks,
};

pub(crate) fn in_bundle(
    house: &dyn House,
    bytes: Vec<u8>,
    answers: &BTreeMap<String, Value>,
    machine: &Machine,
) -> Result<ImportOffers, Refusal> {
    let refused = |error: bundle::BundleError| Refusal::new(Code::BadBundle, error.to_string(), "");
    let (manifest, signature) = bundle::look(&bytes).map_err(refused)?;
    let directory = bundle_directory(house, &bytes, &manifest, answers, machine);
    let (server, needs) = bundled(&manifest, &directory, answers, machine)?;
    refuse_risks(&manifest.name, &without_own_paths(&server, &directory), answers)?;
    let origin = Origin {
        client: "bundle".into(),
        path: directory,
        scope: "bundle".into(),
        name: manifest.name.clone(),
    };
    let mut offers =
        ImportOffers { offers: offered(house, vec![(origin, server)], answers), ..ImportOffers::default() };
    for offer in &mut offers.offers {
        offer.needs.clone_from(&needs);
        offer.warnings.clear();
        offer.bundle = Some(bytes.clone());
        offer.warnings.extend(signature.caution());
    }
    Ok(offers)
}

/// The server in a bundle, the directory to unpack it to, and its missing inputs.
pub(crate) fn bundle_found(
    house: &dyn House,
    bytes: &[u8],
    answers: &BTreeMap<String, Value>,
    machine: &Machine,
) -> Result<(FoundEntry, PathBuf, Vec<String>), Refusal> {
    let refused = |error: bundle::BundleError| Refusal::new(Code::BadBundle, error.to_string(), "");
    let (manifest, _) = bundle::look(bytes).map_err(refused)?;
    let directory = bundle_directory(house, bytes, &manifest, answers, machine);
    let (server, needs) = bundled(&manifest, &directory, answers, machine)?;
    refuse_risks(&manifest.name, &without_own_paths(&server, &directory), answers)?;
    Ok((server, directory, needs.into_iter().map(|need| need.id).collect()))
}

fn bundle_directory(
    house: &dyn House,
    bytes: &[u8],
    manifest: &Manifest,
    answers: &BTreeMap<String, Value>,
    machine: &Machine,
) -> PathBuf {
    let here = existing(house);
    let is_known = |directory: &Path| {
        let found = bundled(manifest, directory, answers, machine);
        found.is_ok_and(|(server, _)| here.known(&server).is_some())
    };
    bundles::directory(house, bytes, is_known)
}

/// Libraries in a bundle are its own code.
fn without_own_paths(server: &FoundEntry, directory: &Path) -> FoundEntry {
    let mut server = server.clone();
    if let Target::Program { env, .. } = &mut server.target {
        let directory = format!("{}{}", directory.display(), std::path::MAIN_SEPARATOR);
        let separator = if cfg!(windows) { ';' } else { ':' };
        env.retain(|name, value| {
            let paths = matches!(name.as_str(), "PYTHONPATH" | "NODE_PATH");
            let is_inside = |path: &str| path.starts_with(&directory) && !path.contains("..");
            !(paths && value.as_str().is_some_and(|value| value.split(separator).all(is_inside)))
        });
    }
    server
}

/// The server in a bundle as it will be after unpacking.
fn bundled(
    manifest: &Manifest,
    directory: &Path,
    answers: &BTreeMap<String, Value>,
    machine: &Machine,
) -> Result<(FoundEntry, Vec<Need>), Refusal> {
    let home = machine.variable("HOME").unwrap_or_default();
    let separator = if machine.platform() == Platform::Windows { '\\' } else { '/' };
    let below = |name: &str| format!("{home}{separator}{name}");
    let around = Around {
        platform: match machine.platform() {
            Platform::Linux => "linux",
            Platform::MacOs => "darwin",
            Platform::Windows => "win32",
        }
        .into(),
        bundle: directory.display().to_string(),
        directories: [
            ("HOME".to_owned(), home.clone()),
            ("DESKTOP".to_owned(), below("Desktop")),
            ("DOCUMENTS".to_owned(), below("Documents")),
            ("DOWNLOADS".to_owned(), below("Downloads")),
        ]
        .into(),
    };
    let mut given: Map<String, Value> = answers.clone().into_iter().collect();
    let run = match manifest.run(&around, &given) {
        Ok(run) => (run, vec![]),
        Err(ManifestError::Missing(names)) => {
            // Shown with its missing inputs; it cannot be imported like this.
            for name in &names {
                given.insert(name.clone(), format!("({name})").into());
            }
            let run = manifest
                .run(&around, &given)
                .map_err(|error| Refusal::new(Code::BadBundle, error.to_string(), ""))?;
            (run, names)
        }
        Err(error) => return Err(Refusal::new(Code::BadBundle, error.to_string(), "")),
    };
    let (run, missing) = run;
    let mut env = run.env;
    // A credential that the bundle declares under a harmless name is treated as one too.
    env.retain(|_, value| value.as_str().is_some_and(|value| !value.is_empty()));
    let settings = manifest.user_config.as_ref().map(|settings| settings.0.as_slice()).unwrap_or_default();
    let needs = missing
        .into_iter()
        .map(|id| {
            let setting = settings.iter().find(|(name, _)| *name == id).map(|(_, setting)| setting);
            Need {
                description: setting.map(|setting| setting.description.clone()).unwrap_or_default(),
                secret: setting.is_some_and(|setting| setting.sensitive),
                format: setting.map(Setting::format).unwrap_or_default().to_owned(),
                choices: vec![],
                default: None,
                id,
            }
        })
        .collect();
    let target = Target::Program {
        command: run.command,
        args: run.args,
        env,
        cwd: run.cwd.or_else(|| Some(around.bundle.clone())),
        env_file: None,
    };
    let name = manifest.display_name.clone().unwrap_or_else(|| manifest.name.clone());
    let found = FoundEntry { secret_fields: run.secret_fields, ..bare(name, TransportKind::Stdio, target) };
    Ok((found, needs))
}
