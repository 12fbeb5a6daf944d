//! The server of a description, as a registry has it or somebody pastes it.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::{Map, Value};

use crate::{
    clients::import::{FoundEntry, Origin, Target, TransportKind, Words},
    house::House,
    model::{Code, clients::Need, control::Refusal},
    offers::{ImportOffers, offered},
    registry::{
        plan::{self, Choice, Way},
        server_json::ServerDocument,
    },
    remarks::refuse_risks,
};

pub(crate) fn in_description(
    house: &dyn House,
    document: &ServerDocument,
    answers: &BTreeMap<String, Value>,
) -> Result<ImportOffers, Refusal> {
    let wrong = |message: String| Refusal::new(Code::BadDescription, message, "");
    let remotes = (0..document.remotes.len()).map(Choice::Remote);
    let packages = (0..document.packages.len()).map(Choice::Package);
    let mut plans = remotes.chain(packages).map(|choice| plan::plan(document, choice, answers));
    let mut last = None;
    let plan = plans.find_map(|plan| match plan {
        // A bundle has to be downloaded and imported as a file; Satchel starts no separate server process for an
        // address.
        Ok(plan) if matches!(plan.way, Way::Stdio(_) | Way::Http { spawn: None, .. }) => Some(plan),
        Ok(_) => None,
        Err(error) => {
            last = Some(error.to_string());
            None
        }
    });
    let plan = plan.ok_or_else(|| {
        wrong(last.unwrap_or_else(|| "none of the ways to run this server is supported".into()))
    })?;
    let name = document.name.clone();
    let server = described(&name, &plan).ok_or_else(|| wrong("bundles are imported as files".into()))?;
    refuse_risks(&name, &server, answers)?;
    let origin = Origin { client: "pasted".into(), path: PathBuf::new(), scope: "pasted".into(), name };
    let mut offers =
        ImportOffers { offers: offered(house, vec![(origin, server)], answers), ..ImportOffers::default() };
    let needs: Vec<Need> = plan
        .prompts
        .iter()
        .filter(|prompt| plan.missing.contains(&prompt.id))
        .map(|prompt| Need {
            id: prompt.id.clone(),
            description: prompt.description.clone().unwrap_or_default(),
            secret: prompt.secret,
            format: prompt.format.clone().unwrap_or_default(),
            choices: prompt.choices.clone(),
            default: prompt.default.clone().filter(|_| !prompt.secret),
        })
        .collect();
    for offer in &mut offers.offers {
        offer.needs.clone_from(&needs);
        offer.warnings.extend(plan.warnings.iter().cloned());
    }
    Ok(offers)
}

/// The server of a description, as far as it is answered; `None` for a bundle.
pub(crate) fn described(name: &str, plan: &plan::Plan) -> Option<FoundEntry> {
    let (transport, target) = match &plan.way {
        Way::Stdio(run) => (
            TransportKind::Stdio,
            Target::Program {
                command: run.command.clone(),
                args: run.args.clone(),
                env: run.env.clone(),
                cwd: None,
                env_file: None,
            },
        ),
        Way::Http { url, headers, sse, .. } => (
            if *sse { TransportKind::Sse } else { TransportKind::Http },
            Target::Address { url: url.clone(), headers: headers.clone() },
        ),
        Way::Bundle { .. } => return None,
    };
    let fields = plan.secrets.iter().filter_map(|id| match id.split_once('.') {
        Some(("env", name)) => Some(format!("env.{name}")),
        Some(("header", name)) => Some(format!("headers.{name}")),
        // A credential within the address makes the whole address one.
        None if id == "url" => Some(id.clone()),
        _ => None,
    });
    let fields = fields.chain(plan.secret_args.iter().map(|at| format!("args[{at}]")));
    Some(FoundEntry {
        enabled: plan.missing.is_empty(),
        secret_fields: fields.collect(),
        ..bare(name.to_owned(), transport, target)
    })
}

/// A server of which only the name is known.
pub(crate) fn described_nothing(name: &str) -> FoundEntry {
    let target =
        Target::Program { command: String::new(), args: vec![], env: Map::new(), cwd: None, env_file: None };
    bare(name.to_owned(), TransportKind::Stdio, target)
}

/// A server from a description or bundle: how to reach it, without client-specific settings.
pub(crate) fn bare(name: String, transport: TransportKind, target: Target) -> FoundEntry {
    FoundEntry {
        name,
        transport,
        enabled: true,
        target,
        secret_fields: vec![],
        timeout_ms: None,
        tools_allow: None,
        tools_deny: vec![],
        auto_approve: vec![],
        refs: vec![],
        unwrap: None,
        keychain_env: vec![],
        scope: None,
        project: None,
        disabled_in_projects: vec![],
        unknown: Map::new(),
        remarks: vec![],
        words: Words::Described,
    }
}
