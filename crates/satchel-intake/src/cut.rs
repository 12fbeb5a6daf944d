//! Another program's file without the entries that were taken in, and its way back.

use std::path::PathBuf;

use crate::{
    clients::{
        connect::{format_of, write},
        document::{Document, fingerprint, read_bytes},
        import::{Candidate, Moved, Source, credentials_in},
        ledger::TakenOut,
        machine::Machine,
        masked,
        table::Client,
    },
    edit::Spot,
    files::{self, Access},
    house::House,
    model::{Code, audit::AuditKind, clients::FileChange, control::Refusal},
    preview::Changed,
};

/// Another program's file, as it is and without the removed entries.
pub(crate) struct Cut {
    pub(crate) path: PathBuf,
    pub(crate) before: Vec<u8>,
    pub(crate) after: Vec<u8>,
    /// The entries to remove.
    pub(crate) names: Vec<String>,
}

impl Cut {
    pub(crate) fn shown(&self, client: &Client) -> FileChange {
        let (before, after) = (Some(self.before.as_slice()), self.after.as_slice());
        Changed { client, path: &self.path, before, after }.shown("removed", &self.names.join(", "))
    }

    /// The credentials that the file says it has.
    fn credentials_there(&self, client: Option<&Client>, text: &str) -> Vec<String> {
        let document = client.and_then(|client| format_of(client, &self.path).read(text).ok());
        document.map(|document| credentials_in(&document)).unwrap_or_default()
    }

    /// Stores a copy of the original file, without the credentials that leave it. Earlier copies lose them too.
    pub(crate) fn keep(
        &self,
        house: &dyn House,
        client: Option<&Client>,
        credentials: &[Moved],
    ) -> Result<TakenOut, Refusal> {
        let edits = &house.edits();
        let text = Document::decode(&self.before).map_err(Refusal::unwritable)?.text;
        let known = self.credentials_there(client, &text);
        let (here, elsewhere): (Vec<Moved>, Vec<Moved>) = credentials
            .iter()
            .cloned()
            .partition(|one| masked::masked(&self.before, std::slice::from_ref(one)).is_some());
        let remains = elsewhere.iter().any(|one| known.contains(&one.value));
        let credentials = here;
        let copy = masked::masked(&self.before, &credentials).filter(|_| !remains).ok_or_else(|| {
            let message = format!(
                "{}: a credential in it is written so that no copy without it can be made; remove the servers there by hand",
                self.path.display()
            );
            Refusal::new(Code::Unreadable, message, "")
        })?;
        edits
            .change_copies(&self.path, |earlier| masked::masked_further(earlier, &credentials))
            .map_err(Refusal::unwritable)?;
        Ok(TakenOut {
            path: self.path.clone(),
            backup: edits
                .keep(client.map_or("", |client| &client.id), &self.path, &copy)
                .map_err(Refusal::unwritable)?,
            after: fingerprint(&self.after),
            before: fingerprint(&self.before),
            secrets: credentials.into_iter().map(|secret| secret.name).collect(),
        })
    }
}

/// The client's own files without the imported servers.
pub(crate) fn to_take_out(
    client: &'static Client,
    machine: &Machine,
    here: &[Candidate],
) -> Result<Vec<Cut>, Refusal> {
    let mut cuts = Vec::new();
    for source in Source::of_user(client, machine).into_iter().filter(|source| source.scope == "user") {
        let from_here = here.iter().flat_map(|candidate| &candidate.origins);
        let there: Vec<&str> = from_here
            .filter(|origin| origin.path == source.path && origin.client == client.id)
            .map(|origin| origin.name.as_str())
            .collect();
        if there.is_empty() || source.key != client.key {
            continue;
        }
        let Ok(Some(before)) = read_bytes(&source.path) else { continue };
        let document = Document::decode(&before).map_err(Refusal::unwritable)?;
        let format = format_of(client, &source.path);
        let (mut text, mut names) = (document.text.clone(), Vec::new());
        for name in there {
            let spot = Spot { container: &client.key, list: client.list(), name };
            if let Ok(Some(without)) = format.take(&text, &spot, 0) {
                text = without;
                names.push(name.to_owned());
            }
        }
        let after = document.encode(&text);
        cuts.push(Cut { path: source.path.clone(), before, after, names });
    }
    Ok(cuts)
}

/// Restores servers that were removed from a file, with their credentials from the keychain.
pub async fn put_back(house: &dyn House, file: &TakenOut) -> Result<Option<String>, Refusal> {
    let path = &file.path;
    let now = read_bytes(path).map_err(Refusal::unwritable)?;
    let copy = files::read_data(&file.backup).map_err(Refusal::unwritable)?;
    let mut credentials = Vec::new();
    for name in &file.secrets {
        if let Some(value) = house.secrets().get(name).await.map_err(Refusal::from)? {
            house.record(AuditKind::SecretRead, name, "written back into another program's file");
            credentials.push(Moved { name: name.clone(), value: value.reveal().to_owned() });
        }
    }
    let before = masked::completed(&copy, &credentials).unwrap_or(copy);
    if now.as_ref() == Some(&before) {
        return Ok(None);
    }
    if now.as_deref().map(fingerprint).as_deref() != Some(file.after.as_str()) {
        let text = format!(
            "{} was changed since; its previous content is in {}",
            path.display(),
            file.backup.display()
        );
        return Ok(Some(text));
    }
    if !file.before.is_empty() && fingerprint(&before) != file.before {
        let text = format!(
            "{}: a credential that was in it ({}) was changed or removed since; its previous content without them is in {}",
            path.display(),
            file.secrets.join(", "),
            file.backup.display()
        );
        return Ok(Some(text));
    }
    write(path, now.as_deref(), &before, Access::Kept).map_err(Refusal::unwritable)?;
    house
        .edits()
        .change_copies(path, |earlier| masked::completed(earlier, &credentials))
        .map_err(Refusal::unwritable)?;
    Ok(None)
}
