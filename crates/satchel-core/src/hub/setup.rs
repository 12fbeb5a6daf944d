//! The whole setup as a file, and the followed folder: writes ours, shows what differs, takes what a person chose. Merges
//! nothing by itself.
//!
//! Theory of operation: one task follows the folder. It writes our file there after every change and reads the others'
//! when the folder changes, or once a minute where the system tells nothing; what differs is a notice until a person
//! takes it or keeps ours.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use satchel_entry::template::secrets_in;
use serde_json::{Map, Value, json};

use super::{Hub, change, clients, registry};
use crate::{
    clients::ledger::Choices,
    config::{self, Config, guarded::Guarded, profiles::PROFILES, watch::FileWatch},
    intake::entry_secrets,
    model::{
        Code, Notice,
        approvals::Part,
        audit::AuditKind,
        control::{Change, Refusal},
        left::{Left, LeftCause},
        profiles::Profile,
        setup::{
            FollowedSetup, SetupChoice, SetupDifference, SetupPart, SetupReview, SetupSource, SetupStanding,
            TakenSetup, WrittenSetup,
        },
    },
    registry::launch_risks,
    secrets::{SealedSecrets, Secret, UnsealError, check_new_passphrase},
    setup::{self, Agreed, FolderContents, PartId, Parts, Portable, SetupError, SetupFile},
    trust::{Fingerprint, diff, fingerprint::Tree},
};

/// How often the folder is read without a change notification.
const LOOK: Duration = Duration::from_secs(60);
/// How long to wait for further changes before writing.
const SETTLE: Duration = Duration::from_millis(500);
/// Timeout for operations on the folder.
const PATIENCE: Duration = Duration::from_secs(15);
/// Maximum number of parts in one request.
const MOST: usize = 20_000;

/// Exports the complete setup into a file.
///
/// # Errors
/// A [`Refusal`] if the file is something else, or cannot be written.
pub(super) async fn write(
    hub: &Hub,
    path: PathBuf,
    passphrase: Option<Secret>,
) -> Result<WrittenSetup, Refusal> {
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    if !path.is_absolute() || !is_json {
        let message = format!("\"{}\" cannot be a setup file", path.display());
        return Err(Refusal::new(Code::Unwritable, message, "Choose a name that ends in .satchel.json."));
    }
    if let Some(passphrase) = &passphrase {
        check_new_passphrase(passphrase)?;
    }
    let Portable { parts, moved } = portable(hub);
    let (mut values, mut left) = (BTreeMap::new(), Vec::new());
    if passphrase.is_some() {
        values.extend(moved.into_iter().map(|moved| (moved.name, Secret::new(moved.value))));
        let named = names_in(&parts);
        let (_, stored) = hub.inner.around.secrets.names().await?;
        left.extend(stored.difference(&named).map(|name| {
            Left::refused(name, Refusal::new(Code::Unreferenced, "no server references it", ""))
        }));
        for name in named {
            if values.contains_key(&name) {
                continue;
            }
            match hub.inner.around.secrets.get(&name).await {
                Ok(Some(value)) => {
                    hub.did_here(AuditKind::SecretRead, &name, "sealed into the file of a setup");
                    values.insert(name, value);
                }
                Ok(None) => {
                    let refusal = Refusal::new(Code::UnknownSecret, "no value is stored for it", "");
                    left.push(Left::refused(name, refusal));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
    let faults = hub.config().faults().keys().cloned().collect::<Vec<_>>();
    left.extend(faults.into_iter().map(|place| Left::because(place, LeftCause::Faulty)));
    let servers = parts.keys().filter(|id| id.part == SetupPart::Server).count();
    let written = WrittenSetup {
        path: path.display().to_string(),
        servers,
        others: parts.len() - servers,
        secrets: values.len(),
        left,
    };
    let turn = hub.inner.configured.following.turn.lock().await;
    let computer = hub.inner.configured.following.name().map_err(Refusal::unwritable)?;
    drop(turn);
    let seal = move || {
        let sealed = passphrase.map(|passphrase| SealedSecrets::seal(&values, &passphrase)).transpose();
        let sealed = sealed.map_err(Refusal::from)?;
        let setup = SetupFile { computer, written_ms: crate::clock::now_ms(), parts, sealed };
        setup.write(&path).map_err(|error| {
            Refusal::new(Code::Unwritable, format!("cannot write {}: {error}", path.display()), "")
        })
    };
    hub.inner.life.blocking(seal).await??;
    hub.did_here(
        AuditKind::Policy,
        &written.path,
        format!("setup written, {} secrets in it", written.secrets),
    );
    Ok(written)
}

/// Compares another setup with this one.
///
/// # Errors
/// A [`Refusal`] if it cannot be read.
pub(super) async fn review(hub: &Hub, from: &SetupSource) -> Result<SetupReview, Refusal> {
    let (setup, agreed) = read(hub, from).await?;
    let ours = portable(hub);
    let mut review = compared(&ours.parts, &setup, agreed.as_ref());
    let config = hub.config().as_written();
    for difference in &mut review.differences {
        difference.warnings.extend(loosened(&config, &setup, difference));
    }
    review.differences.extend(missing_secrets(hub, &ours, &setup).await.as_ref().map(of_secrets));
    Ok(review)
}

/// What a setting or profile of another setup would loosen here.
fn loosened(config: &Config, theirs: &SetupFile, difference: &SetupDifference) -> Option<String> {
    let id: PartId = difference.id.parse().ok()?;
    let value = theirs.parts.get(&id).cloned();
    let change = match id.part {
        SetupPart::Setting => Change::TakeSetting { key: id.name, value },
        SetupPart::Profile => {
            let was = config.profiles().has(&id.name).then(|| id.name.clone());
            Change::PutProfile { name: id.name, was, profile: read_as(value?).ok()? }
        }
        SetupPart::Server | SetupPart::Client | SetupPart::Secrets => return None,
    };
    let after = config::change::apply(config, &change).ok()?;
    let waits = !Guarded::of(config).is_tightened_by(&Guarded::of(&after));
    waits.then(|| "it loosens a protection; that waits for `satchel approve --settings`".to_owned())
}

/// Names of encrypted secrets that our parts reference too, and that have no value here. Empty if the secret store
/// does not say.
async fn missing_secrets(hub: &Hub, ours: &Portable, theirs: &SetupFile) -> Option<BTreeSet<String>> {
    theirs.sealed.as_ref()?;
    let (_, stored) = hub.inner.around.secrets.names().await.ok()?;
    let (here, there) = (names_in(&ours.parts), names_in(&theirs.parts));
    let has_value =
        |name: &String| stored.contains(name) || ours.moved.iter().any(|moved| moved.name == *name);
    let missing: BTreeSet<String> =
        here.intersection(&there).filter(|name| !has_value(name)).cloned().collect();
    (!missing.is_empty()).then_some(missing)
}

fn of_secrets(missing: &BTreeSet<String>) -> SetupDifference {
    let (id, names) = (PartId::secrets(), json!(missing));
    SetupDifference {
        id: id.to_string(),
        part: id.part,
        name: id.name,
        standing: SetupStanding::New,
        diff: diff::words("", &readable(Some(&names))),
        folds_from: None,
        warnings: vec![],
        seen: seen(None, Some(&names)),
    }
}

/// Applies the chosen parts of another setup.
///
/// # Errors
/// A [`Refusal`] if the setup cannot be read, or its secrets cannot be decrypted. Parts that cannot be applied are
/// listed with the reason.
pub(super) async fn take(
    hub: &Hub,
    from: &SetupSource,
    chosen: Vec<SetupChoice>,
    passphrase: Option<Secret>,
) -> Result<TakenSetup, Refusal> {
    let _turn = hub.inner.configured.following.turn.lock().await;
    let (setup, agreed) = read(hub, from).await?;
    let has_passphrase = passphrase.is_some();
    let sealed = match (&setup.sealed, passphrase) {
        (Some(sealed), Some(passphrase)) => {
            let sealed = sealed.clone();
            hub.inner.life.blocking(move || sealed.unseal(&passphrase)).await?.map_err(
                |error| match error {
                    UnsealError::WrongPassphrase => Refusal::new(
                        Code::WrongPassphrase,
                        "this passphrase does not open the secrets of the setup",
                        "If it is the right one, the file was changed after it was written: export it again.",
                    ),
                    UnsealError::Damaged(_) => Refusal::new(Code::Unreadable, error.to_string(), ""),
                },
            )?
        }
        _ => BTreeMap::new(),
    };
    let ours = portable(hub);
    let mut taken = TakenSetup::default();
    let missing = missing_secrets(hub, &ours, &setup).await;
    let mut review = compared(&ours.parts, &setup, agreed.as_ref());
    review.differences.extend(missing.as_ref().map(of_secrets));
    let (seen, stale) = as_seen(&review, chosen);
    taken.left.extend(stale);
    let before = seen.iter().map(|id| (id.to_string(), as_it_is(hub, id).unwrap_or(Value::Null))).collect();
    let (mut stored, mut parts) = (Vec::new(), Vec::new());
    for id in seen {
        if id.part == SetupPart::Secrets {
            if !has_passphrase {
                taken.left.push(Left::because(id.to_string(), LeftCause::Encrypted));
                continue;
            }
            match with_missing(hub, missing.as_ref(), &sealed, &mut stored).await {
                Ok(()) => parts.push((id, None)),
                Err(refusal) => {
                    taken.left.push(Left::refused(id.to_string(), refusal));
                }
            }
            continue;
        }
        let mut value = setup.parts.get(&id).cloned();
        if let Some(Value::Object(entry)) = value.as_mut().filter(|_| id.part == SetupPart::Server) {
            switched_as_here(entry, as_it_is(hub, &id).as_ref());
            // Plain-text values of the local entry are stored where its reference expects them.
            let own = ours.moved.iter().map(|moved| (moved.name.clone(), Secret::new(moved.value.clone())));
            let values: BTreeMap<String, Secret> = own.chain(sealed.clone()).collect();
            if let Err(refusal) = entry_secrets::store_named(hub, entry, &values, &mut stored).await {
                taken.left.push(Left::refused(id.to_string(), refusal));
                continue;
            }
        }
        parts.push((id, value));
    }
    // Recorded before the change, so that it can be undone after a crash.
    if !parts.is_empty() {
        hub.inner.clients.edits.set_up(before, stored.clone()).map_err(Refusal::unwritable)?;
    }
    for (id, value) in parts {
        let is_new = id.part == SetupPart::Server && hub.config().entry(&id.name).is_none();
        match Box::pin(put(hub, &id, value, Taking::Theirs)).await {
            Ok(()) => {
                taken.off.extend(is_new.then(|| id.name.clone()));
                taken.taken.push(id.to_string());
            }
            Err(refusal) => taken.left.push(Left::refused(id.to_string(), refusal)),
        }
    }
    taken.secrets = stored.len();
    taken.waits = hub.inner.configured.accepted.waiting(&hub.config()).is_some();
    drop(_turn);
    hub.inner.configured.following.due.notify_one();
    Ok(taken)
}

/// Keeps the local version of parts that differ in the followed folder.
///
/// # Errors
/// A [`Refusal`] if there is no such computer, or the decision cannot be stored.
pub(super) async fn keep(hub: &Hub, computer: &str, chosen: Vec<SetupChoice>) -> Result<(), Refusal> {
    let turn = hub.inner.configured.following.turn.lock().await;
    let (setup, agreed) = read(hub, &SetupSource::Computer(computer.to_owned())).await?;
    let (seen, stale) = as_seen(&compared(&portable(hub).parts, &setup, agreed.as_ref()), chosen);
    let mut known = hub.inner.configured.following.known();
    let agreed = known.agreed.entry(computer.to_owned()).or_default();
    for id in &seen {
        agreed.settle(id, setup.parts.get(id));
    }
    hub.inner.configured.following.remember(known).map_err(Refusal::unwritable)?;
    drop(turn);
    hub.inner.configured.following.due.notify_one();
    match stale.is_empty() {
        true => Ok(()),
        false => Err(changed_meanwhile()),
    }
}

/// Starts or stops following a folder.
///
/// # Errors
/// A [`Refusal`] if there is no such folder, or it is not writable.
pub(super) async fn follow(hub: &Hub, folder: Option<PathBuf>) -> Result<FollowedSetup, Refusal> {
    let following = &hub.inner.configured.following;
    let turn = following.turn.lock().await;
    let mut known = following.known();
    match folder {
        Some(folder) => {
            let looked = folder.clone();
            let is_folder = hub.inner.life.blocking(move || looked.is_absolute() && looked.is_dir()).await?;
            if !is_folder {
                let message = format!("{} is not a folder", folder.display());
                return Err(Refusal::new(Code::Unreadable, message, "Choose a folder that exists."));
            }
            known.follow(folder);
        }
        None => known.folder = None,
    }
    let detail = match &known.folder {
        Some(folder) => format!("the setup follows {}", folder.display()),
        None => "the setup follows no folder".to_owned(),
    };
    following.remember(known).map_err(Refusal::unwritable)?;
    drop(turn);
    hub.did_here(AuditKind::Policy, "", detail);
    following.due.notify_one();
    followed(hub).await
}

/// The followed folder and its differences. Updates this computer's file first.
///
/// # Errors
/// A [`Refusal`] if the folder does not respond.
pub(super) async fn followed(hub: &Hub) -> Result<FollowedSetup, Refusal> {
    let _turn = hub.inner.configured.following.turn.lock().await;
    let mut known = hub.inner.configured.following.known();
    let Some(folder) = known.folder.clone() else {
        hub.clear_notice(Code::SetupDiffers);
        return Ok(FollowedSetup { computer: known.computer, ..FollowedSetup::default() });
    };
    let ours = portable(hub).parts;
    let FolderContents { others, troubles } = visit(hub, &folder).await?;
    let mut reviews = Vec::new();
    for (computer, setup) in &others {
        let agreed = known.agreed.entry(computer.clone()).or_default();
        agreed.learn(&ours, &setup.parts);
        reviews.push(compared(&ours, setup, Some(agreed)));
    }
    let shown = FollowedSetup {
        folder: Some(folder.display().to_string()),
        computer: known.computer.clone(),
        others: reviews,
        troubles,
    };
    hub.inner.configured.following.remember(known).map_err(Refusal::unwritable)?;
    tell(hub, &shown);
    Ok(shown)
}

/// Follows the folder while the hub runs.
pub(super) async fn keep_following(hub: &Hub) {
    if hub.inner.options.passive {
        return;
    }
    let following = &hub.inner.configured.following;
    let mut choices = hub.inner.clients.follow_choices();
    let mut watch: Option<(PathBuf, FileWatch)> = None;
    loop {
        let folder = following.known().folder;
        if watch.as_ref().map(|(watched, _)| watched) != folder.as_ref() {
            let started = folder.clone().map(|folder| {
                hub.inner
                    .life
                    .blocking(move || FileWatch::of_folder(&folder).ok().map(|watch| (folder, watch)))
            });
            watch = match started {
                Some(started) => started.await.ok().flatten(),
                None => None,
            };
        }
        if folder.is_some()
            && let Err(refusal) = followed(hub).await
        {
            tracing::warn!(refusal = refusal.message, "the followed folder cannot be read");
        }
        let woken = async {
            tokio::select! {
                changed = choices.changed() => changed.is_ok(),
                () = told(watch.as_mut()) => true,
                () = following.due.notified() => true,
                () = tokio::time::sleep(LOOK), if folder.is_some() => true,
                () = hub.inner.life.end().cancelled() => false,
            }
        };
        if !woken.await {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(SETTLE) => {}
            () = hub.inner.life.end().cancelled() => return,
        }
    }
}

async fn told(watch: Option<&mut (PathBuf, FileWatch)>) {
    match watch {
        Some((_, watch)) => watch.changed().await,
        None => std::future::pending().await,
    }
}

fn tell(hub: &Hub, shown: &FollowedSetup) {
    let differing: Vec<&SetupReview> =
        shown.others.iter().filter(|other| !other.differences.is_empty()).collect();
    let count: usize = differing.iter().map(|other| other.differences.len()).sum();
    let computers = differing.iter().map(|other| other.computer.as_str()).collect::<Vec<_>>().join(", ");
    match count {
        0 => hub.clear_notice(Code::SetupDiffers),
        1 => {
            hub.notice(Notice::new(Code::SetupDiffers, format!("1 part of the setup differs on {computers}")))
        }
        _ => {
            let message = format!("{count} parts of the setup differ on {computers}");
            hub.notice(Notice::new(Code::SetupDiffers, message));
        }
    }
}

/// Restores parts; returns those that cannot be restored.
pub(super) async fn put_back(hub: &Hub, before: &BTreeMap<String, Value>) -> Vec<String> {
    let mut remarks = Vec::new();
    // In reverse order: profiles reference servers and must not block their removal.
    for (id, value) in before.iter().rev() {
        let Ok(id) = id.parse::<PartId>() else { continue };
        let value = Some(value.clone()).filter(|value| !value.is_null());
        if let Err(refusal) = Box::pin(put(hub, &id, value, Taking::Back)).await {
            remarks.push(format!("{id}: {}", refusal.sentence()));
        }
    }
    remarks
}

fn portable(hub: &Hub) -> Portable {
    portable_of(hub, &hub.config())
}

fn portable_of(hub: &Hub, config: &Config) -> Portable {
    Portable::of(&config.as_written(), &hub.inner.clients.edits.all_choices())
}

/// The local part, including its secrets.
fn as_it_is(hub: &Hub, id: &PartId) -> Option<Value> {
    let config = hub.config();
    match id.part {
        SetupPart::Server => config.entry(&id.name).cloned(),
        SetupPart::Profile => config.profiles().all().get(&id.name).map(|filter| json!(filter.profile())),
        SetupPart::Setting => config.setting(&id.name).cloned(),
        SetupPart::Client => {
            let choices = hub.inner.clients.edits.choices(&id.name);
            (choices != Choices::default()).then(|| json!(choices))
        }
        SetupPart::Secrets => None,
    }
}

/// Why a part is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taking {
    /// It comes from another setup: what it loosens waits.
    Theirs,
    /// It was here before.
    Back,
}

/// Switches an entry of another setup as it is switched here; a new server comes switched off.
fn switched_as_here(entry: &mut Map<String, Value>, here: Option<&Value>) {
    const SWITCHES: [&str; 2] = ["enabled", "disabled"];
    for key in SWITCHES {
        match here.and_then(|here| here.get(key)) {
            Some(value) => drop(entry.insert(key.into(), value.clone())),
            None => drop(entry.shift_remove(key)),
        }
    }
    if here.is_none() {
        entry.insert("enabled".into(), Value::Bool(false));
    }
}

async fn put(hub: &Hub, id: &PartId, value: Option<Value>, taking: Taking) -> Result<(), Refusal> {
    let name = id.name.clone();
    let change = match (id.part, value) {
        (SetupPart::Server, Some(entry)) => Change::Put { name, entry, replace: true, rules: vec![] },
        (SetupPart::Server, None) => Change::Remove { name },
        (SetupPart::Profile, Some(value)) => {
            let profile: Profile = read_as(value)?;
            let was = hub.config().profiles().has(&name).then(|| name.clone());
            Change::PutProfile { name, was, profile }
        }
        (SetupPart::Profile, None) => Change::RemoveProfile { name },
        (SetupPart::Setting, value) => Change::TakeSetting { key: name, value },
        (SetupPart::Client, value) => {
            let choices: Choices = value.map(read_as).transpose()?.unwrap_or_default();
            clients::choose_for(hub, &name, |own| match taking {
                Taking::Back => *own = choices,
                // What is hidden here stays so, and a client stays in its profile.
                Taking::Theirs => {
                    own.surface = choices.surface;
                    own.hidden.extend(choices.hidden);
                    own.profile = own.profile.take().or(choices.profile);
                }
            })?;
            hub.did_here(AuditKind::Policy, &name, "choices taken from another setup");
            return Ok(());
        }
        // Their values are stored before, and removed by name when this is undone.
        (SetupPart::Secrets, _) => return Ok(()),
    };
    match taking {
        Taking::Theirs => change::take(hub, change).await,
        Taking::Back => change::change(hub, change).await,
    }
}

fn read_as<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, Refusal> {
    serde_json::from_value(value).map_err(|error| Refusal::new(Code::Unreadable, error.to_string(), ""))
}

/// Stores the secrets that our parts reference and that have no value here.
async fn with_missing(
    hub: &Hub,
    missing: Option<&BTreeSet<String>>,
    values: &BTreeMap<String, Secret>,
    stored: &mut Vec<String>,
) -> Result<(), Refusal> {
    for name in missing.into_iter().flatten() {
        let Some(value) = values.get(name) else { continue };
        stored.push(entry_secrets::store(hub, name, value.reveal()).await?);
    }
    Ok(())
}

fn names_in(parts: &Parts) -> BTreeSet<String> {
    secrets_in(parts.values())
}

async fn read(hub: &Hub, from: &SetupSource) -> Result<(SetupFile, Option<Agreed>), Refusal> {
    match from {
        SetupSource::File(path) => {
            let path = path.clone();
            let shown = path.display().to_string();
            let read = hub.inner.life.blocking(move || SetupFile::read(&path)).await?;
            let setup = read.map_err(|error| {
                let action = match error {
                    SetupError::Other(_) => "`satchel setup export FILE` writes such a file.",
                    SetupError::File(_) | SetupError::Newer | SetupError::Taken => "",
                };
                Refusal::new(Code::Unreadable, format!("{shown}: {error}"), action)
            })?;
            Ok((setup, None))
        }
        SetupSource::Computer(computer) => {
            let known = hub.inner.configured.following.known();
            let gone = || {
                let message = format!("no computer \"{computer}\" has written into a followed folder");
                Refusal::new(Code::Unreadable, message, "`satchel setup` shows those that have.")
            };
            let folder = known.folder.clone().ok_or_else(gone)?;
            let setup = visit(hub, &folder).await?.others.remove(computer).ok_or_else(gone)?;
            let mut agreed = known.agreed.get(computer).cloned().unwrap_or_default();
            agreed.learn(&portable(hub).parts, &setup.parts);
            Ok((setup, Some(agreed)))
        }
    }
}

async fn visit(hub: &Hub, folder: &Path) -> Result<FolderContents, Refusal> {
    let silent = || {
        let message = format!("the folder {} does not answer", folder.display());
        Refusal::new(Code::Unreadable, message, "Check that its drive or network is available.")
    };
    let visit = async {
        // One at a time: a folder that hangs must not occupy another thread every minute.
        let one = hub.inner.configured.following.visits.clone().acquire_owned().await;
        let one = one.map_err(|_| silent())?;
        let known = hub.inner.configured.following.known();
        let config = hub.config();
        let ours = portable_of(hub, &config).parts;
        let is_held = |id: &&PartId| {
            id.part == SetupPart::Server && !registry::is_accepted(hub, &config, id.name.as_str())
        };
        let (settings, servers) = hub.inner.configured.accepted.unaccepted(&config);
        let waits = |id: &&PartId| match id.part {
            SetupPart::Server => servers.contains(&id.name),
            SetupPart::Setting => settings.contains(&id.name),
            SetupPart::Profile => settings.contains(PROFILES),
            SetupPart::Client | SetupPart::Secrets => false,
        };
        let held: Vec<PartId> = ours.keys().filter(|id| is_held(id) || waits(id)).cloned().collect();
        let folder = folder.to_owned();
        let look = move || {
            let found = known.visit(&folder, ours, &held);
            drop(one);
            found
        };
        hub.inner.life.blocking(look).await
    };
    tokio::time::timeout(PATIENCE, visit).await.map_err(|_| silent())?
}

fn compared(ours: &Parts, theirs: &SetupFile, agreed: Option<&Agreed>) -> SetupReview {
    let ids: BTreeSet<&PartId> = ours.keys().chain(theirs.parts.keys()).collect();
    let mut review = SetupReview {
        computer: theirs.computer.clone(),
        written_ms: theirs.written_ms,
        sealed: theirs.sealed.is_some(),
        ..SetupReview::default()
    };
    for id in ids {
        let (own, other) = (ours.get(id), theirs.parts.get(id));
        if own.is_some() && own == other {
            review.same += 1;
        }
        let Some(standing) = setup::difference(id, own, other, agreed) else {
            if other.is_none() {
                *review.only_here.get_or_insert_default() += 1;
            }
            continue;
        };
        let (diff, folds_from) = shown(id, own, other);
        review.differences.push(SetupDifference {
            id: id.to_string(),
            part: id.part,
            name: id.name.clone(),
            standing,
            diff,
            folds_from,
            warnings: other.map(|other| warnings(id, other)).unwrap_or_default(),
            seen: seen(own, other),
        });
    }
    review
}

/// Side effects of an entry's launch.
fn warnings(id: &PartId, value: &Value) -> Vec<String> {
    if id.part != SetupPart::Server {
        return vec![];
    }
    let fields = |key: &str| value.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let risks = match (text("command"), text("url")) {
        (Some(command), _) => {
            let args = value.get("args").and_then(Value::as_array).into_iter().flatten();
            let args: Vec<String> = args.filter_map(Value::as_str).map(ToOwned::to_owned).collect();
            launch_risks::of_program(command, &args, &fields("env"), &[])
        }
        (None, Some(url)) => launch_risks::of_address(url, &fields("headers")),
        (None, None) => vec![],
    };
    risks.into_iter().map(|risk| format!("it {risk}")).collect()
}

/// The diff, and where its rest begins. Of a server, what runs, where it goes and what it may reach come first, in whatever
/// order the file has them.
fn shown(id: &PartId, own: Option<&Value>, other: Option<&Value>) -> (Vec<Part>, Option<usize>) {
    if id.part != SetupPart::Server {
        return (diff::words(&readable(own), &readable(other)), None);
    }
    let (own, other) = (own.map(decisive_first), other.map(decisive_first));
    let first = |entry: &Option<(Value, Value)>| readable(entry.as_ref().map(|(first, _)| first));
    let rest = |entry: &Option<(Value, Value)>| match entry {
        Some((_, Value::Object(rest))) if !rest.is_empty() => format!("\n{}", readable(Some(&json!(rest)))),
        _ => String::new(),
    };
    let mut parts = diff::words(&first(&own), &first(&other));
    let folds_from = parts.len();
    let rest = diff::words(&rest(&own), &rest(&other));
    let folds_from = (!rest.is_empty()).then_some(folds_from);
    parts.extend(rest);
    (parts, folds_from)
}

/// Keys of an entry that decide what runs, where it goes and what it may reach, as they are shown.
const DECISIVE: [&str; 7] = ["command", "args", "cwd", "url", "sandbox", "startup", "enabled"];

/// An entry in two: what decides, and the variables and headers that only tell the server something. A variable that
/// decides what code is loaded, or where something goes, stays with what decides.
fn decisive_first(entry: &Value) -> (Value, Value) {
    let Value::Object(fields) = entry else { return (entry.clone(), Value::Null) };
    let known = DECISIVE.iter().filter_map(|key| fields.get_key_value(*key));
    let others = fields.iter().filter(|(key, _)| !DECISIVE.contains(&key.as_str()));
    let (mut first, mut rest) = (Map::new(), Map::new());
    for (key, value) in known.chain(others) {
        let Some(values) = value.as_object().filter(|_| matches!(key.as_str(), "env" | "headers")) else {
            first.insert(key.clone(), value.clone());
            continue;
        };
        let decides = |(name, value): &(&String, &Value)| {
            let leads = value.as_str().is_none_or(|text| text.contains("://"));
            leads || key == "env" && launch_risks::decides_what_is_loaded(name)
        };
        for (into, values) in [
            (&mut first, values.iter().filter(decides).collect::<Vec<_>>()),
            (&mut rest, values.iter().filter(|one| !decides(one)).collect()),
        ] {
            if !values.is_empty() {
                let values: Map<String, Value> =
                    values.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                into.insert(key.clone(), values.into());
            }
        }
    }
    (first.into(), rest.into())
}

fn readable(value: Option<&Value>) -> String {
    value.map(|value| serde_json::to_string_pretty(value).unwrap_or_default()).unwrap_or_default()
}

/// The fingerprint of both versions.
fn seen(ours: Option<&Value>, theirs: Option<&Value>) -> String {
    let both =
        serde_json::value::to_raw_value(&json!([ours, theirs])).expect("a JSON value always serializes");
    Fingerprint::of_tree("setup", &Tree::of(&both)).to_string()
}

/// Splits the chosen parts into those that are unchanged since the review, in the order of application, and the rest.
fn as_seen(review: &SetupReview, chosen: Vec<SetupChoice>) -> (Vec<PartId>, Vec<Left>) {
    let (mut seen, mut stale) = (BTreeSet::new(), Vec::new());
    for SetupChoice { id, seen: print } in chosen.into_iter().take(MOST) {
        let known = review.differences.iter().find(|one| one.id == id && one.seen == print);
        match known.and_then(|_| id.parse().ok()) {
            Some(part) => drop(seen.insert(part)),
            None => stale.push(Left::refused(id, changed_meanwhile())),
        }
    }
    (seen.into_iter().collect(), stale)
}

fn changed_meanwhile() -> Refusal {
    Refusal::new(Code::ChangedMeanwhile, "it changed after it was shown", "Review it again.")
}
