//! Decides who may read a client's file that gets a token: only this user, unless the person says otherwise. Writes nothing.

use std::path::Path;

use crate::{
    clients::{
        connect::{PRIVATE, Written, open_to_others},
        ledger::ConnectionRecord,
        table::Transport,
    },
    files::{self, Access},
    model::shell,
};

/// Who may use a client's file once it has our entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileAccess {
    /// The access to write it with.
    pub(super) access: Access,
    /// The permission bits to put back when the entry is removed.
    pub(super) bits_before: Option<u32>,
    /// The person wants it to stay as readable as it is.
    pub(super) shared: bool,
    /// The permission bits that others lose.
    lost: Option<u32>,
    differs: bool,
}

impl FileAccess {
    /// The access to a file that gets, or keeps, an entry over this transport. `shared`: what the person asks for now.
    pub(super) fn of(path: &Path, record: Option<&ConnectionRecord>, over: Transport, shared: bool) -> Self {
        let earlier = record.and_then(|record| record.files.iter().find(|file| file.path == path));
        let shared = shared || earlier.is_some_and(|file| file.shared);
        let differs = earlier.is_none_or(|file| file.shared != shared);
        let before = earlier.and_then(|file| file.bits_before);
        if shared {
            let access = earlier.map_or(Access::Kept, Written::access_before);
            return Self { access, bits_before: None, shared, lost: None, differs };
        }
        // A bridge is started by the client itself, without a token.
        if over != Transport::Http {
            return Self { access: Access::Kept, bits_before: before, shared, lost: None, differs };
        }
        let bits = files::bits_of(path).filter(|bits| *bits != PRIVATE).or(before);
        let lost = open_to_others(path);
        Self { access: Access::Private, bits_before: bits, shared, lost, differs: differs || lost.is_some() }
    }

    /// Is there nothing to change?
    pub(super) fn changes_nothing(&self) -> bool {
        !self.differs
    }

    /// What the person should know, as a sentence.
    pub(super) fn told(&self, path: &Path, client: &str) -> Option<String> {
        let (path, bits) = (path.display(), self.lost?);
        Some(format!(
            "{path} was readable by other accounts of this computer ({bits:04o}); because of the token in it, it is \
             readable by yours alone now ({PRIVATE:04o}). Undoing puts that back; `satchel connect {} --keep-mode` leaves it as it was.",
            shell::word(client)
        ))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn a_token_takes_a_file_from_others_and_nothing_else_does() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mcp.json");
        fs::write(&path, "{}").unwrap();
        let set = |bits| fs::set_permissions(&path, fs::Permissions::from_mode(bits)).unwrap();
        let of = |record: Option<&ConnectionRecord>, over, shared| {
            let found = FileAccess::of(&path, record, over, shared);
            (found.access, found.bits_before, found.told(&path, "cursor").is_some(), found.changes_nothing())
        };
        let record = |bits_before, shared| {
            let written = Written {
                path: path.clone(),
                name: "satchel".into(),
                entry: String::new(),
                created: 0,
                after: String::new(),
                backup: None,
                new_file: false,
                bits_before,
                shared,
            };
            ConnectionRecord { over: Transport::Http, added_ms: 0, seen_ms: None, files: vec![written] }
        };
        use Access::{Bits, Kept, Private};
        use Transport::{Http, Stdio};
        let (narrowed, shared) = (record(Some(0o644), false), record(None, true));
        for (bits, record, over, asked, expected) in [
            (0o644, None, Http, false, (Private, Some(0o644), true, false)),
            (0o660, None, Http, false, (Private, Some(0o660), true, false)),
            (0o600, None, Http, false, (Private, None, false, false)),
            (0o644, None, Stdio, false, (Kept, None, false, false)),
            (0o644, None, Http, true, (Kept, None, false, false)),
            (0o600, Some(&narrowed), Http, false, (Private, Some(0o644), false, true)),
            // Opened again by hand, or by the client's own program.
            (0o664, Some(&narrowed), Http, false, (Private, Some(0o664), true, false)),
            (0o600, Some(&narrowed), Http, true, (Bits(0o644), None, false, false)),
            (0o644, Some(&shared), Http, false, (Kept, None, false, true)),
        ] {
            set(bits);
            assert_eq!(of(record, over, asked), expected, "{bits:o} {over:?} {asked}");
        }
    }
}
