//! Applies configuration changes, one at a time, from any face or from the file: validate, write atomically, reconcile.
//! The only writer of the configuration file.

use std::{
    io,
    path::{Path, PathBuf},
};

use tokio::sync::{mpsc, oneshot};

use super::{Hub, approved, audit, registry, server_entry};
use crate::{
    config::{
        Config, ConfigError,
        change::{self, ChangeError},
        file::text_of,
        watch::FileWatch,
    },
    files,
    intake::{bundles, house::Hand},
    model::{
        Code, Notice,
        audit::AuditKind,
        control::{Change, Refusal},
    },
    review::{Accepted, Accepting},
    tasks::{Panicked, caught, may_fail_here},
};

/// Why a change was not applied. The configuration is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The change is invalid.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The file is currently invalid; rewriting it would lose the user's edits.
    #[error("{file} must be corrected before it can be changed: {error}")]
    Broken {
        /// The file.
        file: String,
        /// The fault.
        error: ConfigError,
    },
    /// The file cannot be read or written.
    #[error("{0}")]
    Files(String),
    /// The hub is stopping.
    #[error("the hub is shutting down")]
    Closing,
    /// An internal error. The file is either unchanged or completely written.
    #[error(transparent)]
    Panicked(#[from] Panicked),
}

/// A change, and the caller waiting for it.
#[derive(Debug)]
pub(super) struct Asked {
    change: Change,
    /// The caller's handle.
    by: Hub,
    hand: Hand,
    answer: oneshot::Sender<Result<(), ApplyError>>,
}

pub(super) async fn ask(hub: &Hub, change: Change, hand: Hand) -> Result<(), ApplyError> {
    let (answer, done) = oneshot::channel();
    let asked = Asked { change, by: hub.clone(), hand, answer };
    hub.inner.configured.ask(asked).await.map_err(|_| ApplyError::Closing)?;
    done.await.map_err(|_| ApplyError::Closing)?
}

/// Watches the file. To be called before it is first read, so that no change is missed in between; a command's hub does
/// not look at it again.
pub(super) fn watch(hub: &Hub) -> Option<FileWatch> {
    (!hub.inner.options.passive).then(|| FileWatch::new(&hub.places().config_file))
}

pub(super) async fn run(hub: Hub, mut asked: mpsc::Receiver<Asked>, mut watch: Option<FileWatch>) {
    loop {
        tokio::select! {
            next = asked.recv() => match next {
                Some(Asked { change, by, hand, answer }) => {
                    let turn = hub.inner.configured.accepted.turn.lock().await;
                    let made = caught(async { make(&by, &change, hand).await }).await;
                    drop(turn);
                    if matches!(made, Ok(Ok(()))) {
                        // A caller that gets a success finds the record in the audit log.
                        hub.recorder().written().await;
                    }
                    let _ = answer.send(made.unwrap_or_else(|error| Err(error.into())));
                }
                None => return,
            },
            () = changed(watch.as_mut()) => {
                let _turn = hub.inner.configured.accepted.turn.lock().await;
                if caught(async { reload(&hub).await }).await.is_err() {
                    tracing::error!("cannot read the changed configuration; the previous one stays in effect");
                }
            }
            () = hub.inner.life.end().cancelled() => return,
        }
    }
}

async fn changed(watch: Option<&mut FileWatch>) {
    match watch {
        Some(watch) => watch.changed().await,
        None => std::future::pending().await,
    }
}

/// The initial configuration: the file; if there is none, the built-in one, which is then written; if it is invalid,
/// the last valid one.
pub(super) async fn first_config(hub: &Hub, accepted: Accepted<'_>) -> Config {
    let places = hub.places();
    match read(&places.config_file) {
        Ok(Some(config)) => {
            let in_force = hub.inner.configured.accepted.in_force(&config, accepted);
            remember(hub, &config).await;
            in_force
        }
        Ok(None) => {
            let config = Config::first();
            if let Err(error) = replace(places.config_file.clone(), config.to_text()).await {
                hub.notice(Notice::new(Code::ConfigInvalid, error.to_string()));
            }
            remember(hub, &config).await;
            config
        }
        Err(trouble) => {
            hub.notice(Notice::new(Code::ConfigInvalid, trouble.to_string()));
            let last = read(&places.last_good_config()).ok().flatten().unwrap_or_default();
            hub.inner.configured.accepted.in_force(&last, accepted)
        }
    }
}

/// Applies changes made to the file.
async fn reload(hub: &Hub) {
    may_fail_here("file");
    match read(&hub.places().config_file) {
        Ok(config) => {
            hub.clear_notice(Code::ConfigInvalid);
            // A missing file does not mean that all servers were removed: editors delete and rename while saving.
            let Some(written) = config else { return };
            let config = hub.inner.configured.accepted.in_force(&written, Accepted::Nothing);
            if *hub.config() != config {
                tracing::info!("the configuration changed");
                let file = hub.places().config_file.display().to_string();
                hub.did(AuditKind::Policy, "", &file, "the file was changed from outside");
                remember(hub, &written).await;
                reconcile(hub, config, Accepted::Nothing).await;
            }
        }
        Err(trouble) => {
            tracing::warn!(%trouble, "the configuration is invalid; the previous one stays in effect");
            hub.notice(Notice::new(Code::ConfigInvalid, trouble.to_string()));
        }
    }
}

/// Reconciles, and finishes an acceptance that was interrupted after the file was written.
pub(super) async fn reconcile(hub: &Hub, config: Config, accepted: Accepted<'_>) {
    let unfinished = hub.inner.review.unfinished(&config).await;
    let accepted = match &unfinished {
        Some(Accepting { name, by_person, .. }) if matches!(accepted, Accepted::Nothing) => {
            Accepted::Entry { name, by_person: *by_person }
        }
        _ => accepted,
    };
    registry::reconcile(hub, config, accepted).await;
    hub.inner.review.end_accepting().await;
}

async fn make(hub: &Hub, change: &Change, hand: Hand) -> Result<(), ApplyError> {
    may_fail_here("change");
    let accepts = hand == Hand::Person;
    let path = &hub.places().config_file;
    // The file is authoritative: the user may have just edited it.
    let current = match read(path) {
        Ok(Some(config)) => config,
        Ok(None) => Config::clone(&hub.config()),
        Err(Trouble::Broken { file, error }) => return Err(ApplyError::Broken { file, error }),
        Err(trouble @ Trouble::Unreadable(_)) => return Err(ApplyError::Files(trouble.to_string())),
    };
    let config = change::apply(&current, change)?;
    let mut waits = false;
    if let Change::Remove { name } = change {
        waits = approved::holds_any(hub, name);
        server_entry::remember_removed(hub, name, current.entry(name));
    }
    // A server added by a program is new; a program's change to an accepted server has to be reviewed.
    let is_new = |name: &&str| current.entry(name).is_none() && !approved::has_approvals(hub, name);
    let writes = matches!(change, Change::Add { .. } | Change::Put { .. } | Change::Edit { .. });
    let counts = |name: &&str| match hand {
        Hand::Person => !exposes(hub, &current, &config, name),
        Hand::Program | Hand::Setup => !writes || is_new(name),
        Hand::Unseen => !writes,
    };
    let accepted = accepted(hub, &current, change).filter(counts);
    let accepted = accepted.map_or(Accepted::Nothing, |name| Accepted::Entry { name, by_person: accepts });
    // Before the file is written: a hub that is killed in between would hold back what a person has just accepted.
    approved::begin_accepting(hub, &config, accepted).await;
    if let Err(error) = replace(path.clone(), config.to_text()).await {
        hub.inner.review.end_accepting().await;
        return Err(ApplyError::Files(error.to_string()));
    }
    may_fail_here("written");
    hub.clear_notice(Code::ConfigInvalid);
    if hand != Hand::Setup || matches!(change, Change::Remove { .. }) {
        hub.inner.configured.accepted.changed(change, &current, &config, accepts);
    }
    let in_force = hub.inner.configured.accepted.in_force(&config, Accepted::Nothing);
    remember(hub, &config).await;
    audit::did_change(hub, change);
    if let Change::Add { name, .. } | Change::Put { name, .. } | Change::Duplicate { to: name, .. } = change
        && current.entry(name).is_none()
    {
        server_entry::begin_log(hub, name);
    }
    registry::reconcile(hub, in_force, accepted).await;
    hub.inner.review.end_accepting().await;
    if let Change::Remove { name } = change {
        // An entry that waits for review still waits after a program removes and re-adds it.
        if accepts || !waits {
            approved::forget_approvals(hub, name).await;
        }
        hub.recorder().forget_habits_of(name);
        bundles::remove_unused(hub);
    }
    Ok(())
}

/// Would this change let other people of this computer read a secret in the entry's arguments? That takes a yes to the
/// review which says so.
fn exposes(hub: &Hub, before: &Config, after: &Config, name: &str) -> bool {
    let secrets = |config: &Config| -> Vec<String> {
        let entry = config.servers().get(name).map(|entry| &entry.transport);
        entry.map(|entry| entry.secret_arguments()).unwrap_or_default().into_iter().map(Into::into).collect()
    };
    let now = secrets(after);
    hub.inner.options.others_see_arguments && !now.is_empty() && now != secrets(before)
}

/// The server whose entry a person wrote with this change. A change of the sandbox, or a repeated identical entry,
/// also accepts what runs, provided it is what the person saw.
fn accepted<'a>(hub: &Hub, before: &Config, change: &'a Change) -> Option<&'a str> {
    let seen = |name: &str| registry::is_accepted(hub, before, name);
    match change {
        Change::Add { name, .. } | Change::Put { name, .. } | Change::Edit { name, .. } => Some(name),
        Change::SetSandbox { name, .. } => seen(name).then_some(name),
        Change::Duplicate { name, to } => seen(name).then_some(to),
        _ => None,
    }
}

#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("{file}: {error}")]
    Broken { file: String, error: ConfigError },
    #[error("{0}")]
    Unreadable(String),
}

/// `None` if there is no file, or an empty one: editors create that state while saving.
fn read(path: &Path) -> Result<Option<Config>, Trouble> {
    let file = path.display().to_string();
    match text_of(path) {
        Ok(text) if text.trim_start_matches('\u{feff}').trim().is_empty() => Ok(None),
        Ok(text) => Config::parse(&text).map(Some).map_err(|error| Trouble::Broken { file, error }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Trouble::Unreadable(format!("cannot read {file}: {error}"))),
    }
}

async fn remember(hub: &Hub, config: &Config) {
    let path = hub.places().last_good_config();
    let text = config.to_text();
    let stored = path.clone();
    let stored = hub.inner.life.blocking(move || files::read_data(&stored).ok()).await;
    if stored.ok().flatten().as_deref() != Some(text.as_bytes())
        && let Err(error) = replace(path, text).await
    {
        tracing::warn!(%error, "cannot store a copy of the configuration");
    }
}

/// Replaces a file on a thread of its own, because a slow disk may take its time and calls need this one.
async fn replace(path: PathBuf, text: &str) -> io::Result<()> {
    let text = text.to_owned();
    tokio::task::spawn_blocking(move || files::replace(&path, text.as_bytes()))
        .await
        .map_err(io::Error::other)?
}

impl From<ApplyError> for Refusal {
    fn from(error: ApplyError) -> Self {
        let (code, action) = match &error {
            ApplyError::Change(ChangeError::Unknown(_)) => (Code::UnknownServer, "See `satchel list`."),
            ApplyError::Change(ChangeError::Exists(_)) => (Code::ServerExists, ""),
            ApplyError::Change(ChangeError::UnknownProfile(_)) => {
                (Code::UnknownProfile, Code::UnknownProfile.action())
            }
            ApplyError::Change(ChangeError::ProfileExists(_)) => (Code::ProfileExists, ""),
            ApplyError::Change(ChangeError::ProfileInUse { .. }) => {
                (Code::ProfileInUse, "Choose another one there first.")
            }
            ApplyError::Change(ChangeError::TooManyPinned) => {
                (Code::TooManyPinned, "Unpin one first: `satchel pin-tool --list`.")
            }
            ApplyError::Change(ChangeError::NotPinned(_)) => {
                (Code::UnknownPath, "See `satchel pin-tool --list`.")
            }
            ApplyError::Change(ChangeError::Name(_) | ChangeError::Alike { .. }) => (Code::BadName, ""),
            ApplyError::Change(ChangeError::Invalid(_)) => (Code::BadServer, ""),
            ApplyError::Broken { .. } => {
                (Code::ConfigInvalid, "Correct the file at the position given, then try again.")
            }
            ApplyError::Files(_) => (Code::Unwritable, ""),
            ApplyError::Closing => (Code::Closing, ""),
            ApplyError::Panicked(_) => (Code::Panicked, "Report it, with the log."),
        };
        Refusal::new(code, error.to_string(), action)
    }
}
