//! Writes what was done, and by whom, to the audit log. It holds no arguments of calls and no values of secrets.

use super::Hub;
use crate::model::{audit::AuditKind, control::Change, server::Share};

/// Records a request that was rejected before its client was known.
pub(super) fn turned_away(hub: &Hub, why: &str, path: &str) {
    turned_away_from(hub, "", why, path);
}

/// Records a rejected request of a known client.
pub(super) fn turned_away_from(hub: &Hub, who: &str, why: &str, path: &str) {
    hub.context.count_records(hub.recorder().turned_away(who, why, path));
}

/// Records a configuration change. Values of variables and headers are left out.
pub(super) fn did_change(hub: &Hub, change: &Change) {
    let (subject, detail) = match change {
        Change::Add { name, replace, .. } | Change::Put { name, replace, .. } => {
            (name.clone(), if *replace { "server added or replaced" } else { "server added" }.to_owned())
        }
        Change::Edit { name, .. } => (name.clone(), "server reconfigured".to_owned()),
        Change::Duplicate { name, to } => (to.clone(), format!("server added, set up as \"{name}\" is")),
        Change::Remove { name } => (name.clone(), "server removed".to_owned()),
        Change::SetEnabled { name, enabled } => {
            (name.clone(), format!("server switched {}", if *enabled { "on" } else { "off" }))
        }
        Change::SetPermit { tool, client, permit } => {
            let permit = permit.map_or("as usual".to_owned(), |permit| format!("{permit:?}").to_lowercase());
            let client = client.as_ref().map(|client| format!(" for {client}")).unwrap_or_default();
            (tool.clone(), format!("rule{client}: {permit}"))
        }
        Change::SetKeepCalls { name, keep } => (name.clone(), format!("arguments and results kept: {keep}")),
        Change::SetShare { name, share } => {
            (name.clone(), format!("an instance is shared by: {}", share.map_or("as usual", Share::word)))
        }
        Change::SetSandbox { name, sandbox } => {
            (name.clone(), format!("sandbox {}", if sandbox.is_some() { "on" } else { "off" }))
        }
        Change::SetLearning { learn } => (String::new(), format!("learning from searches: {learn}")),
        Change::SetPictures { show } => (String::new(), format!("pictures of servers: {show}")),
        Change::PinTool { pin, pinned } => {
            let whose = [("client", &pin.client), ("profile", &pin.profile)];
            let whose =
                whose.iter().filter_map(|(what, name)| Some(format!(" for the {what} {}", name.as_ref()?)));
            let what = if *pinned { "tool pinned" } else { "tool unpinned" };
            (pin.tool.clone(), format!("{what}{}", whose.collect::<String>()))
        }
        Change::UseProfile { name } => (
            name.clone().unwrap_or_default(),
            if name.is_some() { "profile in use" } else { "no profile in use" }.into(),
        ),
        Change::PutProfile { name, was, .. } => {
            (name.clone(), if was.is_some() { "profile changed" } else { "profile added" }.into())
        }
        Change::TakeSetting { key, value } => {
            let done =
                if value.is_some() { "taken from another setup" } else { "taken out, as in another setup" };
            (key.clone(), format!("setting {done}"))
        }
        Change::RemoveProfile { name } => (name.clone(), "profile removed".to_owned()),
        Change::BindFolder { folder, profile } => {
            let profile = profile.as_ref().map(|name| format!("the profile \"{name}\""));
            (folder.clone(), format!("folder bound to {}", profile.unwrap_or("no profile".into())))
        }
    };
    hub.did_here(AuditKind::Policy, &subject, detail);
}
