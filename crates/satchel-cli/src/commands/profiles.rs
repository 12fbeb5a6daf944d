//! `profile`: manages profiles and their bindings.

use std::{
    path::{Component, Path, PathBuf},
    process::ExitCode,
};

use anyhow::anyhow;
use satchel_core::{
    files::Places,
    model::{
        Snapshot,
        control::Change,
        profiles::{Profile, ProfileView, ProfilesView},
        request::{BindClient, GetStatus},
        shell,
    },
};

use super::done;
use crate::{
    Usage,
    args::{ProfileAct, ProfileEdit},
    output::{Lines, say, say_json, table},
    reach::{Reached, once, reach},
};

pub(crate) async fn run(places: &Places, act: ProfileAct, json: bool) -> anyhow::Result<ExitCode> {
    match act {
        ProfileAct::List => list(places, json).await,
        ProfileAct::Use { name, everything: _ } => {
            let sentence = match &name {
                Some(name) => format!("Clients without a profile of their own see {name} now."),
                None => "Clients without a profile of their own see everything now.".to_owned(),
            };
            changed(places, Change::UseProfile { name }, &sentence, json).await
        }
        ProfileAct::Add { name, servers, only, except } => {
            let sentence = format!("Added {name}. Use it with `satchel profile use {}`.", shell::word(&name));
            let profile = Profile { servers, only, except };
            let hub = reach(places).await?;
            let answer = put(&hub, name, None, profile).await;
            hub.leave().await;
            said(&sentence, &answer?, json)
        }
        ProfileAct::Remove { name } => {
            let sentence = format!("Removed {name}.");
            changed(places, Change::RemoveProfile { name }, &sentence, json).await
        }
        ProfileAct::Edit(edit) => change(places, edit, json).await,
        ProfileAct::Bind { client, folder, name } => match (client, folder) {
            (Some(client), _) => bound(places, client, Some(name), json).await,
            (None, folder) => folder_bound(places, folder.unwrap_or_default(), Some(name), json).await,
        },
        ProfileAct::Unbind { client, folder } => match (client, folder) {
            (Some(client), _) => bound(places, client, None, json).await,
            (None, folder) => folder_bound(places, folder.unwrap_or_default(), None, json).await,
        },
    }
}

async fn changed(places: &Places, change: Change, sentence: &str, json: bool) -> anyhow::Result<ExitCode> {
    let answer = once(places, change).await?;
    done(sentence, &answer, json)
}

async fn list(places: &Places, json: bool) -> anyhow::Result<ExitCode> {
    let snapshot: Snapshot = once(places, GetStatus {}).await?;
    match json {
        true => say_json(&snapshot.profiles)?,
        false => say(listed(&snapshot.profiles)),
    }
    Ok(ExitCode::SUCCESS)
}

async fn change(places: &Places, edit: ProfileEdit, json: bool) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let answer = async {
        let snapshot = hub.ask(GetStatus {}).await?;
        let known = snapshot.profiles.all.into_iter().find(|profile| profile.name == edit.name);
        let known = known.ok_or_else(|| anyhow!("there is no profile \"{}\"", edit.name))?;
        let name = edit.rename.clone().unwrap_or_else(|| edit.name.clone());
        let profile = edited(known.profile, &edit);
        put(&hub, name, Some(edit.name.clone()), profile).await
    };
    let answer = answer.await;
    hub.leave().await;
    said(&format!("Changed {}.", edit.name), &answer?, json)
}

/// Writes a profile and returns its state.
async fn put(
    hub: &Reached,
    name: String,
    was: Option<String>,
    profile: Profile,
) -> anyhow::Result<ProfileView> {
    hub.ask(Change::PutProfile { name: name.clone(), was, profile }).await?;
    let snapshot = hub.ask(GetStatus {}).await?;
    let written = snapshot.profiles.all.into_iter().find(|profile| profile.name == name);
    written.ok_or_else(|| anyhow!("the profile \"{name}\" was removed in the meantime"))
}

/// Reports success, and names that are probably misspelled.
fn said(sentence: &str, profile: &ProfileView, json: bool) -> anyhow::Result<ExitCode> {
    let misspelled = match profile.unknown.as_slice() {
        [] => String::new(),
        names => format!(" There is no server {} here; `satchel list` shows them.", names.join(", ")),
    };
    done(&format!("{sentence}{misspelled}"), profile, json)
}

fn edited(mut profile: Profile, edit: &ProfileEdit) -> Profile {
    profile.servers.retain(|server| !edit.without.contains(server));
    for server in &edit.with {
        if !profile.servers.contains(server) {
            profile.servers.push(server.clone());
        }
    }
    if edit.all_tools {
        profile.only.clear();
        profile.except.clear();
    }
    profile.only.extend(edit.only.iter().cloned());
    profile.except.extend(edit.except.iter().cloned());
    profile
}

async fn bound(
    places: &Places,
    client: String,
    profile: Option<String>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let sentence = match &profile {
        Some(name) => format!("{client} sees {name} from now on, whichever profile is active."),
        None => format!("{client} sees whatever profile is active."),
    };
    let answer = once(places, BindClient { client, profile }).await?;
    done(&sentence, &answer, json)
}

async fn folder_bound(
    places: &Places,
    folder: PathBuf,
    profile: Option<String>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let folder = absolute(&folder)?;
    let sentence = match &profile {
        Some(name) => format!("Clients that report {folder} as a root see {name}."),
        None => format!("{folder} no longer has a profile of its own."),
    };
    changed(places, Change::BindFolder { folder, profile }, &sentence, json).await
}

/// An absolute path without `..`, as clients report it. It need not exist.
fn absolute(folder: &Path) -> anyhow::Result<String> {
    let whole = std::env::current_dir().map(|here| here.join(folder)).unwrap_or_else(|_| folder.to_owned());
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    let text = plain.to_str().map(ToOwned::to_owned);
    text.ok_or_else(|| Usage(format!("the path {} is not valid Unicode", plain.display())).into())
}

fn listed(profiles: &ProfilesView) -> Lines {
    let mut lines = Lines::default();
    match profiles.all.as_slice() {
        [] => lines.push("No profiles. `satchel profile add NAME SERVER…` makes one."),
        all => {
            let rows: Vec<[String; 4]> = all.iter().map(|one| row(one, profiles)).collect();
            lines.push(table(["PROFILE", "USED BY", "SERVERS", "TOOLS"], &rows));
        }
    }
    let known = |name: &str| profiles.all.iter().any(|profile| profile.name == name);
    match &profiles.active {
        None => lines.push("Active: everything."),
        Some(name) if known(name) => lines.push(format!("Active: {name}.")),
        Some(name) => lines.push(format!(
            "Active: {name}, which does not exist: clients without a profile of their own see nothing."
        )),
    }
    for profile in &profiles.all {
        if let Some(fault) = &profile.fault {
            lines.push(format!("{} cannot be used: {fault}.", profile.name));
        }
        if !profile.unknown.is_empty() {
            lines.push(format!("{} names missing servers: {}.", profile.name, profile.unknown.join(", ")));
        }
    }
    for folder in &profiles.folders {
        lines.push(match &folder.fault {
            Some(fault) => format!("Folder {}: {fault}.", folder.folder),
            None => format!("Folder {}: {}.", folder.folder, folder.profile),
        });
    }
    lines
}

fn row(one: &ProfileView, profiles: &ProfilesView) -> [String; 4] {
    let active = (profiles.active.as_ref() == Some(&one.name)).then(|| "everyone else".to_owned());
    let users: Vec<String> = one.clients.iter().cloned().chain(active).collect();
    let Profile { servers, only, except } = &one.profile;
    let only = (!only.is_empty()).then(|| format!("only {}", only.join(", ")));
    let except = (!except.is_empty()).then(|| format!("not {}", except.join(", ")));
    let tools: Vec<String> = only.into_iter().chain(except).collect();
    let tools = if tools.is_empty() { "all".to_owned() } else { tools.join("; ") };
    let servers = if servers.is_empty() { "none".to_owned() } else { servers.join(", ") };
    [one.name.clone(), if users.is_empty() { "-".into() } else { users.join(", ") }, servers, tools]
}

#[cfg(test)]
mod tests {
    use satchel_core::model::profiles::FolderProfile;

    use super::*;

    fn profile(name: &str, servers: &[&str]) -> ProfileView {
        let servers = servers.iter().map(ToString::to_string).collect();
        let profile = Profile { servers, ..Profile::default() };
        ProfileView { name: name.into(), profile, ..ProfileView::default() }
    }

    #[test]
    fn profiles_are_listed_with_who_uses_them_and_what_is_wrong() {
        let mut web = profile("web", &["browser", "gone"]);
        web.profile.except = vec!["browser:pay".into()];
        web.unknown = vec!["gone".into()];
        web.clients = vec!["cursor".into()];
        let broken = ProfileView { fault: Some("line 3, column 5: no".into()), ..profile("broken", &[]) };
        let folder = FolderProfile { folder: "/work".into(), profile: "web".into(), fault: None };
        let profiles =
            ProfilesView { active: Some("web".into()), all: vec![broken, web], folders: vec![folder] };
        let expected = "\
PROFILE  USED BY                SERVERS        TOOLS
broken   -                      none           all
web      cursor, everyone else  browser, gone  not browser:pay
Active: web.
broken cannot be used: line 3, column 5: no.
web names missing servers: gone.
Folder /work: web.";
        assert_eq!(listed(&profiles).to_string(), expected);
        let lost = ProfilesView { active: Some("x".into()), ..ProfilesView::default() };
        let said = listed(&lost).to_string();
        assert!(said.contains("x, which does not exist"), "{said}");
    }

    #[test]
    fn an_edit_adds_takes_out_and_clears() {
        let edit = ProfileEdit {
            name: "a".into(),
            with: vec!["y".into(), "x".into()],
            without: vec!["z".into()],
            only: vec!["x:*".into()],
            except: vec![],
            all_tools: true,
            rename: None,
        };
        let before = Profile {
            servers: vec!["x".into(), "z".into()],
            only: vec!["z:*".into()],
            except: vec!["x:y".into()],
        };
        let after =
            Profile { servers: vec!["x".into(), "y".into()], only: vec!["x:*".into()], except: vec![] };
        assert_eq!(edited(before, &edit), after);
    }

    #[test]
    #[cfg(unix)]
    fn a_folder_is_written_from_the_root_without_steps_back() {
        assert_eq!(absolute(Path::new("/work/./a/../b/")).unwrap(), "/work/b");
        assert!(absolute(Path::new("here")).unwrap().starts_with('/'));
    }
}
