//! Takes back the last step: a connection, an import, an update, or parts of another setup.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Hub, clients,
    clients::{known, remarks},
    own_skills, server_entry, setup,
};
use crate::{
    clients::{
        ledger::{Step, TakenOut},
        table::Transport,
    },
    intake::{bundles, cut},
    model::{
        Code,
        audit::AuditKind,
        clients::{Over, Undone},
        control::{Change, Refusal},
    },
};

type Environment = BTreeMap<String, String>;

/// Undoes the last step.
///
/// # Errors
/// A [`Refusal`] if there is none, or it cannot be undone completely.
pub(super) async fn undo(hub: &Hub, environment: &Environment) -> Result<Undone, Refusal> {
    let Some(step) = hub.inner.clients.edits.last() else {
        return Err(Refusal::new(Code::NothingToUndo, "there is nothing to undo", ""));
    };
    let undone = match &step {
        // Removes the step itself.
        Step::Connected { client } => return disconnect(hub, client, environment),
        Step::Disconnected { client, over } => connect_again(hub, client, *over, environment).await?,
        Step::Imported { servers, secrets, taken_out } => {
            take_import_back(hub, servers, secrets, taken_out).await?
        }
        Step::SkillGiven { skill, folder } | Step::SkillTaken { skill, folder } => {
            let (skill, folder) = (skill.clone(), folder.clone());
            let given = matches!(step, Step::SkillGiven { .. });
            let owned = hub.clone();
            let undo = move || own_skills::undo(&owned, &skill, &folder, given);
            hub.inner.life.blocking(undo).await??
        }
        Step::SetUp { before, secrets } => take_setup_back(hub, before, secrets).await,
        Step::Updated { server, before, secrets } => take_update_back(hub, server, before, secrets).await?,
    };
    hub.inner.clients.edits.forget(&step).map_err(Refusal::unwritable)?;
    bundles::remove_unused(hub);
    Ok(undone)
}

fn disconnect(hub: &Hub, client: &str, environment: &Environment) -> Result<Undone, Refusal> {
    let client = known(client)?;
    let change = clients::remove_from_client(hub, client, false, environment, false)?;
    Ok(Undone { what: format!("Disconnected {}.", client.title()), remarks: remarks(&change.files) })
}

async fn connect_again(
    hub: &Hub,
    client: &str,
    over: Transport,
    environment: &Environment,
) -> Result<Undone, Refusal> {
    let client = known(client)?;
    let over = if over == Transport::Http { Over::Http } else { Over::Bridge };
    let adding = clients::Adding { over: Some(over), ..clients::Adding::default() };
    Box::pin(clients::add_to_client(hub, client, adding, environment)).await?;
    Ok(Undone { what: format!("Connected {} again.", client.title()), remarks: vec![] })
}

async fn take_import_back(
    hub: &Hub,
    servers: &[String],
    secrets: &[String],
    taken_out: &[TakenOut],
) -> Result<Undone, Refusal> {
    let mut remarks = Vec::new();
    for file in taken_out {
        remarks.extend(cut::put_back(hub, file).await?);
    }
    if !remarks.is_empty() {
        // Otherwise these servers would exist nowhere.
        return Ok(Undone { what: "What was removed stays in Satchel.".into(), remarks });
    }
    for name in servers {
        if let Err(error) = hub.apply(Change::Remove { name: name.clone() }).await {
            remarks.push(error.to_string());
        }
        // What was undone is not put back.
        server_entry::removed(hub).remove(name);
    }
    remarks.extend(remove_secrets(hub, secrets).await);
    let what = match servers {
        [] => "Restored what was removed from other programs' files.".to_owned(),
        [one] => format!("Removed {one}, which was imported."),
        many => format!("Removed {} imported servers: {}.", many.len(), many.join(", ")),
    };
    Ok(Undone { what, remarks })
}

async fn take_setup_back(hub: &Hub, before: &BTreeMap<String, Value>, secrets: &[String]) -> Undone {
    let mut remarks = setup::put_back(hub, before).await;
    remarks.extend(remove_secrets(hub, secrets).await);
    let what = match before.len() {
        1 => "Reverted 1 part of the setup.".to_owned(),
        count => format!("Reverted {count} parts of the setup."),
    };
    Undone { what, remarks }
}

async fn take_update_back(
    hub: &Hub,
    server: &str,
    before: &Value,
    secrets: &[String],
) -> Result<Undone, Refusal> {
    let change = Change::Put { name: server.to_owned(), entry: before.clone(), replace: true, rules: vec![] };
    hub.apply(change).await?;
    let remarks = remove_secrets(hub, secrets).await;
    Ok(Undone { what: format!("Reverted the update of {server}."), remarks })
}

/// Returns the failures, one sentence each.
async fn remove_secrets(hub: &Hub, names: &[String]) -> Vec<String> {
    let mut remarks = Vec::new();
    for name in names {
        hub.did_here(AuditKind::SecretChanged, name, "removed");
        if let Err(error) = hub.inner.around.secrets.remove(name).await {
            remarks.push(error.to_string());
        }
    }
    remarks
}
