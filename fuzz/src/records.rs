//! A file where the ledger should be: opened, refused with a reason, or set aside whole with a new one begun.

use satchel_core::stats::store::Store;

/// The bytes are pairs of a position and a new value in a valid ledger, or a whole file.
pub(crate) fn run(data: &[u8]) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("ledger.db");
    let bytes = match data.split_first() {
        Some((0, changes)) => changed(changes),
        _ => data.to_owned(),
    };
    std::fs::write(&path, &bytes).expect("the directory can be written to");
    match Store::open(&path, "words", 1_700_000_000_000) {
        Ok((mut store, damaged)) => {
            if let Some(damaged) = damaged {
                // Some damage is found only after a write: the file then contains that as well.
                let aside = std::fs::read(&damaged.aside).expect("what was set aside is there");
                assert!(aside.len() >= bytes.len(), "of what was set aside something is gone");
            }
            let _ = store.view(1_700_000_000_000);
            let _ = store.check();
            let _ = store.retain(1_700_000_000_000, 30, 1 << 20);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Four bytes per change: two for the position, in steps of seven, one for the value, one for the number of
/// repetitions.
fn changed(changes: &[u8]) -> Vec<u8> {
    let mut bytes = sound().to_owned();
    for change in changes.chunks_exact(4) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) * 7 % bytes.len();
        let end = (at + usize::from(change[3]) + 1).min(bytes.len());
        bytes[at..end].fill(change[2]);
    }
    bytes
}

fn sound() -> &'static [u8] {
    static SOUND: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    SOUND.get_or_init(|| {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path().join("ledger.db");
        drop(Store::open(&path, "words", 1_700_000_000_000).expect("a ledger can be begun"));
        std::fs::read(&path).expect("it was begun")
    })
}
