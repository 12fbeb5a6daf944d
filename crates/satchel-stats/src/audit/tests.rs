//! S32: whatever is done to the records behind our back is found.

use super::*;
use crate::{event::Event, store::Store};

const DAY: u64 = 24 * 3600 * 1000;

fn audited(number: u64) -> Event {
    let kind = AuditKind::ALL[usize::try_from(number % 9).unwrap()];
    let subject = format!("server:tool-{number}");
    Event::Audit(AuditEvent {
        at_ms: 1_000 + number,
        kind,
        who: "zed".into(),
        subject,
        detail: "by a rule".into(),
    })
}

/// A closed ledger with this many records.
fn ledger(dir: &Path, records: u64) -> PathBuf {
    let path = dir.join("ledger.db");
    let (mut store, _) = Store::open(&path, "none", 0).unwrap();
    // In several batches, as they arrive.
    for chunk in (0..records).map(audited).collect::<Vec<_>>().chunks(7) {
        store.record(chunk).unwrap();
    }
    path
}

fn problems(path: &Path) -> Vec<String> {
    verify(path, None).unwrap().problems
}

/// An attacker who can write to the file and knows the triggers.
fn tamper(path: &Path, words: &str) {
    let connection = Connection::open(path).unwrap();
    // What is read back at once need not reach the disk.
    connection.execute_batch("PRAGMA synchronous = OFF; BEGIN;").unwrap();
    connection.execute_batch("DROP TRIGGER trail_is_not_changed; DROP TRIGGER trail_is_not_cut;").unwrap();
    connection.execute_batch(words).unwrap();
    connection.execute_batch("COMMIT;").unwrap();
}

#[test]
fn the_written_log_is_complete_and_continues_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let path = ledger(dir.path(), 30);
    let (mut store, _) = Store::open(&path, "none", 0).unwrap();
    store.record(&[audited(30)]).unwrap();
    drop(store);
    let verdict = verify(&path, None).unwrap();
    assert_eq!((verdict.records, verdict.first, verdict.problems), (31, 1, vec![]));
    let page = page(&path, &AuditQuery { after: 29, limit: 1 }).unwrap();
    assert!(page.more);
    assert_eq!((page.records[0].seq, page.records[0].subject.as_str()), (30, "server:tool-29"));
    // A noted end: this one, an earlier one, and one of another log.
    let head = verdict.head.unwrap();
    let noted = |head: &AuditHead| verify(&path, Some(head)).unwrap().problems.len();
    assert_eq!(noted(&head), 0);
    assert_eq!(noted(&AuditHead { seq: 30, hash: page.records[0].hash.clone() }), 0);
    assert_eq!(noted(&AuditHead { seq: 29, ..head.clone() }), 1);
    assert_eq!(noted(&AuditHead { seq: 99, ..head }), 1);
}

#[test]
fn a_hundred_times_each_way_of_tampering_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let whole = ledger(dir.path(), 60);
    let found = |name: &str, words: &dyn Fn(u64) -> String| {
        let times = (0..100u64).filter(|time| {
            let one = tempfile::tempdir().unwrap();
            let path = one.path().join("ledger.db");
            std::fs::copy(&whole, &path).unwrap();
            std::fs::copy(head_file(&whole), head_file(&path)).unwrap();
            assert_eq!(problems(&path), Vec::<String>::new(), "the copy is whole");
            tamper(&path, &words(*time));
            let found = !problems(&path).is_empty();
            // It does not look intact again when the hub appends to it. Checked occasionally, because each append
            // waits for the disk.
            if time % 10 > 0 {
                return found;
            }
            let (mut store, _) = Store::open(&path, "none", 0).unwrap();
            store.record(&[audited(*time)]).unwrap();
            found && !problems(&path).is_empty()
        });
        let times = times.count();
        println!("{name}: found {times} of 100");
        assert_eq!(times, 100, "{name}");
    };
    let at = |time: u64| 1 + time * 7 % 60;
    found("deleted", &|time| format!("DELETE FROM trail WHERE seq = {}", at(time)));
    found("deleted from the front", &|time| format!("DELETE FROM trail WHERE seq <= {}", at(time)));
    found("deleted from the front, with a base of its own", &|time| {
        format!(
            "UPDATE trail_base SET seq = {0}, hash = (SELECT hash FROM trail WHERE seq = {0});
             DELETE FROM trail WHERE seq <= {0}",
            1 + time * 7 % 59
        )
    });
    found("deleted, and the rest moved up", &|time| {
        format!("DELETE FROM trail WHERE seq = {0}; UPDATE trail SET seq = seq - 1 WHERE seq > {0}", at(time))
    });
    found("cut off", &|time| format!("DELETE FROM trail WHERE seq > {}", at(time) - 1));
    let columns = ["time_ms", "kind", "who", "subject", "detail", "hash"];
    found("edited", &|time| {
        let column = columns[usize::try_from(time).unwrap() % columns.len()];
        let value = match column {
            "time_ms" => "time_ms + 1",
            "hash" => "randomblob(32)",
            "kind" => "CASE kind WHEN 'held' THEN 'approval' ELSE 'held' END",
            _ => "'x'",
        };
        format!("UPDATE trail SET {column} = {value} WHERE seq = {}", at(time))
    });
    found("moved", &|time| {
        let (one, other) = (at(time), 1 + (at(time) + time % 59) % 60);
        let other = if one == other { other % 60 + 1 } else { other };
        format!(
            "UPDATE trail SET seq = -1 WHERE seq = {one}; UPDATE trail SET seq = {one} WHERE seq = {other};
             UPDATE trail SET seq = {other} WHERE seq = -1"
        )
    });
    found("a part moved into the next field", &|time| {
        format!(
            "UPDATE trail SET who = who || substr(subject, 1, 1), subject = substr(subject, 2) WHERE seq = {}",
            at(time)
        )
    });
    found("one put in", &|time| {
        format!(
            "UPDATE trail SET seq = -seq - 1 WHERE seq >= {0}; UPDATE trail SET seq = -seq WHERE seq < 0;
             INSERT INTO trail SELECT {0}, time_ms, kind, who, subject, detail, hash FROM trail WHERE seq = {0} + 1",
            at(time)
        )
    });
}

#[test]
fn a_ledger_that_is_gone_or_without_its_head_is_told_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    let path = ledger(dir.path(), 20);
    std::fs::remove_file(head_file(&path)).unwrap();
    assert_eq!(problems(&path).len(), 1);
    for _ in 0..2 {
        drop(Store::open(&path, "none", 5).unwrap());
        assert_eq!(problems(&path).len(), 1, "{:?}", problems(&path));
    }
    let path = ledger(dir.path(), 20);
    std::fs::remove_file(&path).unwrap();
    for _ in 0..2 {
        drop(Store::open(&path, "none", 5).unwrap());
        let said = problems(&path);
        assert!(said.len() == 1 && said[0].contains("ended at record"), "{said:?}");
    }
}

#[test]
fn a_record_that_was_written_just_before_the_power_went_is_no_tampering() {
    let dir = tempfile::tempdir().unwrap();
    let path = ledger(dir.path(), 20);
    let before = std::fs::read(head_file(&path)).unwrap();
    let (mut store, _) = Store::open(&path, "none", 0).unwrap();
    store.record(&[audited(20), audited(21)]).unwrap();
    std::fs::write(head_file(&path), &before).unwrap();
    assert_eq!(problems(&path), Vec::<String>::new());
    drop(store);
    drop(Store::open(&path, "none", 0).unwrap());
    assert_eq!(problems(&path), Vec::<String>::new());
}

#[test]
fn expired_entries_are_removed_and_the_rest_stays_verifiable() {
    let dir = tempfile::tempdir().unwrap();
    let path = ledger(dir.path(), 40);
    let (mut store, _) = Store::open(&path, "none", 0).unwrap();
    // The first half is older.
    store.retain(1_020 + DAYS * DAY, 36_500, u64::MAX).unwrap();
    let verdict = verify(&path, None).unwrap();
    assert_eq!((verdict.records, verdict.first, verdict.problems), (21, 21, vec![]));
    store.record(&[audited(41)]).unwrap();
    store.retain(1_020 + DAYS * DAY, 36_500, u64::MAX).unwrap();
    assert_eq!(problems(&path), Vec::<String>::new());
    // A person deletes the history: nothing of it is left, and what follows is verifiable.
    store.delete_history(true).unwrap();
    store.record(&[audited(42)]).unwrap();
    drop(store);
    drop(Store::open(&path, "none", 0).unwrap());
    let verdict = verify(&path, None).unwrap();
    assert_eq!((verdict.records, verdict.first, verdict.problems), (2, 43, vec![]));
    let bytes = std::fs::read(&path).unwrap();
    assert!(!bytes.windows(7).any(|window| window == b"tool-20"));
    // Pruning is distinguished from truncation.
    tamper(&path, "DELETE FROM trail WHERE kind = 'pruned'");
    assert!(!problems(&path).is_empty());
}

#[test]
fn by_mistake_nothing_is_changed_or_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let path = ledger(dir.path(), 5);
    let connection = Connection::open(&path).unwrap();
    for words in ["DELETE FROM trail", "UPDATE trail SET who = 'x'", "DELETE FROM trail WHERE seq = 5"] {
        assert!(connection.execute(words, []).is_err(), "{words}");
    }
}
