//! Who may read other programs' files once they have a token.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use serde_json::json;

use super::house::House;
use crate::{
    clients::{
        connect::{format_of, targets},
        machine::Machine,
        table::{self, Client},
    },
    edit::Format,
    model::{
        clients::{ClientChange, Over},
        control::Refusal,
        doctor::{Diagnosis, DoctorFinding},
        request::{ConnectClient, RunDoctor, Undo},
    },
};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// A user with empty files of clients.
struct Account {
    house: House,
    home: tempfile::TempDir,
}

impl Account {
    async fn new() -> Self {
        Self { house: House::open(json!({})).await, home: tempfile::tempdir().unwrap() }
    }

    fn environment(&self) -> BTreeMap<String, String> {
        let home = self.home.path().to_str().unwrap();
        let below = |name: &str, path: &str| (name.to_owned(), format!("{home}/{path}"));
        let xdg = [below("XDG_CONFIG_HOME", ".config"), below("XDG_DATA_HOME", ".local/share")];
        xdg.into_iter().chain([("HOME".to_owned(), home.to_owned()), below("PATH", "no-programs")]).collect()
    }

    /// The client's file with this mode; `None` where none can be written.
    fn file(&self, client: &Client, bits: u32) -> Option<PathBuf> {
        let path = Machine::here(&self.environment()).all_paths(&client.paths).into_iter().next()?;
        if !path.starts_with(self.home.path()) {
            return None;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = if format_of(client, &path) == Format::Json { "{}" } else { "" };
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(bits)).unwrap();
        targets(client, &Machine::here(&self.environment())).ok()?.contains(&path).then_some(path)
    }

    async fn connect(&self, client: &Client, keep_mode: bool) -> Result<ClientChange, Refusal> {
        let request = ConnectClient {
            client: client.id.clone(),
            dry_run: false,
            over: Some(Over::Http),
            keep_mode,
            environment: self.environment(),
        };
        self.house.ask(request).await
    }

    /// What the doctor says about tokens.
    async fn findings(&self) -> Vec<DoctorFinding> {
        let examined = self.house.ask(RunDoctor { environment: self.environment() }).await.unwrap();
        let is_token = |one: &DoctorFinding| {
            matches!(one.what, Diagnosis::TokenPrivate { .. } | Diagnosis::TokenReadable { .. })
        };
        examined.findings.into_iter().filter(is_token).collect()
    }

    async fn undo(&self) {
        self.house.ask(Undo { environment: self.environment() }).await.unwrap();
    }
}

#[tokio::test]
async fn a_file_that_gets_a_token_is_private_in_every_format_and_undoing_opens_it_again() {
    let account = Account::new().await;
    let mut formats = BTreeSet::new();
    for client in table::clients() {
        let Some(file) = account.file(client, 0o644) else { continue };
        let before = fs::read(&file).unwrap();
        let Ok(change) = account.connect(client, false).await else { continue };
        if !fs::read_to_string(&file).unwrap().contains("sat_") {
            continue;
        }
        formats.insert(format!("{:?}", format_of(client, &file)));
        assert_eq!(mode(&file), 0o600, "{}", client.id);
        let said = change.warnings.iter().any(|one| one.contains("0644") && one.contains("--keep-mode"));
        assert!(said, "{}: {:?}", client.id, change.warnings);
        let found = account.findings().await;
        assert!(matches!(&found[..], [one] if one.message.contains("0644")), "{}: {found:?}", client.id);
        account.undo().await;
        assert_eq!((mode(&file), fs::read(&file).unwrap()), (0o644, before), "{}", client.id);
        assert_eq!(account.findings().await, [], "{}", client.id);
        fs::remove_file(&file).unwrap();
    }
    assert_eq!(formats.len(), 3, "{formats:?}");
    // Neither a copy nor a temporary file of ours is readable by others.
    let mut places = vec![account.house.hub.places().data.clone(), account.home.path().to_owned()];
    while let Some(place) = places.pop() {
        for entry in fs::read_dir(&place).unwrap().flatten() {
            let path = entry.path();
            let about = fs::symlink_metadata(&path).unwrap();
            if about.is_dir() {
                places.push(path);
            } else if about.is_file() && fs::read(&path).unwrap().windows(4).any(|part| part == b"sat_") {
                assert_eq!(about.permissions().mode() & 0o077, 0, "{}", path.display());
            }
        }
    }
}

#[tokio::test]
async fn a_person_may_leave_a_file_as_it_is_and_the_doctor_says_so() {
    let account = Account::new().await;
    let cursor = table::client("cursor").unwrap();
    let file = account.file(cursor, 0o640).unwrap();
    let change = account.connect(cursor, true).await.unwrap();
    assert_eq!((mode(&file), change.warnings), (0o640, vec![]));
    let chosen = |found: &[DoctorFinding]| matches!(found, [one] if matches!(one.what, Diagnosis::TokenReadable { chosen: true, .. }));
    assert!(chosen(&account.findings().await));
    account.connect(cursor, false).await.unwrap();
    assert_eq!(mode(&file), 0o640, "it was chosen");
    account.undo().await;
    assert_eq!(mode(&file), 0o640);
    // Chosen afterwards.
    account.connect(cursor, false).await.unwrap();
    assert_eq!(mode(&file), 0o600);
    account.connect(cursor, true).await.unwrap();
    assert_eq!(mode(&file), 0o640);
}

#[tokio::test]
async fn a_file_that_was_opened_again_is_named_and_closed_by_connecting() {
    let account = Account::new().await;
    let cursor = table::client("cursor").unwrap();
    let file = account.file(cursor, 0o644).unwrap();
    fs::remove_file(&file).unwrap();
    account.connect(cursor, false).await.unwrap();
    assert_eq!(mode(&file), 0o600, "a new one");
    assert_eq!(account.findings().await, []);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o664)).unwrap();
    let found = account.findings().await;
    assert!(matches!(&found[..], [one] if one.action.contains("satchel connect cursor")), "{found:?}");
    let again = account.connect(cursor, false).await.unwrap();
    assert!(again.done && again.warnings.iter().any(|one| one.contains("0664")), "{again:?}");
    assert_eq!(mode(&file), 0o600);
    // Nothing else is in it, so undoing deletes it.
    account.undo().await;
    assert!(!file.exists());
}
