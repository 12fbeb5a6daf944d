//! The audit log: hash-chained records of what was started, allowed, refused, read and changed. The last hash is also
//! kept in a file beside the ledger, so deleted, altered, moved or truncated records are detected. Whoever can write
//! both files can forge both; note the head elsewhere to detect that.
//!
//! Records are deleted only from the front, by age, by number, or at a person's request. The last deleted hash stays as
//! the base of the rest, and a record says so; a base that no record mentions was forged.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::{
    retention,
    schema::{self, StoreError},
    store::sql,
};
use crate::{
    files,
    model::audit::{AuditHead, AuditKind, AuditPage, AuditQuery, AuditRecord, AuditVerdict},
};

/// Default and maximum page size.
const PAGE: u32 = 1_000;
/// Maximum age and number of records.
const DAYS: u64 = 400;
const RECORDS: i64 = 200_000;
/// Maximum length of a text, in bytes.
const TEXT: usize = 500;
/// Maximum number of problems listed individually.
const NAMED: usize = 20;

/// An event for the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEvent {
    /// When it happened, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// What it is about.
    pub kind: AuditKind,
    /// The actor.
    pub who: String,
    /// The object.
    pub subject: String,
    /// Details, as text; never a secret or an argument.
    pub detail: String,
}

/// Accepts audit events in order, without blocking.
#[derive(Clone)]
pub struct AuditSink(pub Arc<dyn Fn(AuditEvent) + Send + Sync>);

impl fmt::Debug for AuditSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditSink")
    }
}

type Hash = [u8; 32];

/// A position in the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ChainMark {
    seq: i64,
    hash: Hash,
}

impl ChainMark {
    fn words(&self) -> String {
        format!("record {} ({})", self.seq, hex(&self.hash))
    }
}

/// The file with the last position.
fn head_file(ledger: &Path) -> PathBuf {
    ledger.with_file_name("trail.head")
}

/// Appends a record.
pub(super) fn append(connection: &Connection, event: &AuditEvent) -> rusqlite::Result<()> {
    let last = last(connection)?;
    let [who, subject, detail] =
        [&event.who, &event.subject, &event.detail].map(|text| retention::cut(text, TEXT));
    let (seq, time_ms) = (last.seq + 1, sql(event.at_ms));
    let hash = chained(&last.hash, seq, time_ms, [event.kind.as_str(), &who, &subject, &detail]);
    connection
        .prepare_cached("INSERT INTO trail (seq, time_ms, kind, who, subject, detail, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
        .execute(params![seq, time_ms, event.kind.as_str(), who, subject, detail, hash])?;
    Ok(())
}

/// Texts are preceded by their lengths, so that different records never hash the same bytes.
fn chained(before: &Hash, seq: i64, time_ms: i64, texts: [&str; 4]) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(b"satchel trail 1\0");
    hasher.update(before);
    hasher.update(seq.to_le_bytes());
    hasher.update(time_ms.to_le_bytes());
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().into()
}

fn base(connection: &Connection) -> rusqlite::Result<ChainMark> {
    let base = connection.query_row("SELECT seq, hash FROM trail_base", [], mark_of).optional()?;
    // If that was deleted too, nothing matches, which is then reported.
    Ok(base.unwrap_or(ChainMark { seq: 0, hash: [0; 32] }))
}

fn last(connection: &Connection) -> rusqlite::Result<ChainMark> {
    let last = "SELECT seq, hash FROM trail ORDER BY seq DESC LIMIT 1";
    let last = connection.prepare_cached(last)?.query_row([], mark_of).optional()?;
    last.map_or_else(|| base(connection), Ok)
}

fn mark_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<ChainMark> {
    let hash: Vec<u8> = row.get(1)?;
    // A hash of another length was tampered with; then nothing matches it.
    Ok(ChainMark { seq: row.get(0)?, hash: hash.try_into().unwrap_or([0xff; 32]) })
}

/// Stores the end of the audit log outside the ledger.
pub(super) fn remember_head(connection: &Connection, ledger: &Path) -> Result<(), StoreError> {
    let last = last(connection)?;
    files::replace(&head_file(ledger), format!("{}:{}\n", last.seq, hex(&last.hash)).as_bytes())?;
    Ok(())
}

/// The stored end; `Ok(None)` if there is none.
fn remembered(ledger: &Path) -> Result<Option<AuditHead>, String> {
    let path = head_file(ledger);
    match files::read_data(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes)
            .parse()
            .map(Some)
            .map_err(|error| format!("{}: {error}", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
    }
}

/// Checks that the audit log ends at or after its stored end. If not, a permanent record says so: a truncated log must
/// not look intact again after more is appended.
pub(super) fn resume(connection: &Connection, ledger: &Path, now_ms: u64) -> Result<(), StoreError> {
    let missing = match remembered(ledger) {
        Ok(Some(head)) => missing(connection, &head)?,
        Ok(None) if last(connection)?.seq == 0 => None,
        Ok(None) => Some("the file that stores where the audit log ends is missing".to_owned()),
        Err(trouble) => Some(trouble),
    };
    if let Some(missing) = missing {
        tracing::warn!("the audit log is not whole: {missing}");
        let (who, subject) = ("satchel".to_owned(), String::new());
        append(
            connection,
            &AuditEvent { at_ms: now_ms, kind: AuditKind::Gap, who, subject, detail: missing },
        )?;
        remember_head(connection, ledger)?;
    }
    Ok(())
}

/// What is missing from an audit log that once ended at `head`.
fn missing(connection: &Connection, head: &AuditHead) -> rusqlite::Result<Option<String>> {
    let (base, last) = (base(connection)?, last(connection)?);
    let wanted = sql(head.seq);
    let at = "SELECT seq, hash FROM trail WHERE seq = ?1";
    let found = match connection.query_row(at, [wanted], mark_of).optional()? {
        None if base.seq == wanted => Some(base),
        found => found,
    };
    Ok(match found {
        Some(found) if hex(&found.hash) == head.hash => None,
        Some(_) => Some(format!("record {wanted} is not the one that was written")),
        None if wanted < base.seq => None,
        None => Some(format!("it ended at record {wanted}, and ends at {} now", last.seq)),
    })
}

/// Deletes records that are too old or too many.
pub(super) fn retain(connection: &Connection, now_ms: u64) -> Result<bool, StoreError> {
    let oldest = sql(now_ms.saturating_sub(DAYS * 24 * 3600 * 1000));
    let last = last(connection)?.seq;
    let too_old = "SELECT coalesce(min(seq) - 1, ?2) FROM trail WHERE time_ms >= ?1";
    let too_old: i64 = connection.query_row(too_old, [oldest, last], |row| row.get(0))?;
    prune(connection, now_ms, too_old.max(last - RECORDS), "they were too old, or too many")
}

/// Deletes all records at a person's request.
pub(super) fn delete(connection: &Connection, now_ms: u64) -> Result<bool, StoreError> {
    let last = last(connection)?.seq;
    prune(connection, now_ms, last, "a person deleted the history")
}

/// Deletes the records up to this one, and writes a record about it. False if there are none.
fn prune(connection: &Connection, now_ms: u64, until: i64, why: &str) -> Result<bool, StoreError> {
    let mark = "SELECT seq, hash FROM trail WHERE seq = ?1";
    let Some(mark) = connection.query_row(mark, [until], mark_of).optional()? else { return Ok(false) };
    let transaction = connection.unchecked_transaction()?;
    let (who, subject) = ("satchel".to_owned(), mark.words());
    let detail = format!("earlier records are no longer kept: {why}");
    append(&transaction, &AuditEvent { at_ms: now_ms, kind: AuditKind::Pruned, who, subject, detail })?;
    transaction.execute("UPDATE trail_base SET seq = ?1, hash = ?2", params![mark.seq, mark.hash])?;
    transaction.execute("DELETE FROM trail WHERE seq <= ?1", [mark.seq])?;
    transaction.commit()?;
    Ok(true)
}

/// A page of the audit log of the ledger at `path`, oldest first.
///
/// # Errors
/// [`StoreError`] if it cannot be read.
pub fn page(path: &Path, ask: &AuditQuery) -> Result<AuditPage, StoreError> {
    let connection = schema::open_to_read(path)?;
    let limit = if ask.limit == 0 { PAGE } else { ask.limit.min(PAGE) };
    let text = "SELECT seq, time_ms, kind, who, subject, detail, hash FROM trail WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    let mut rows = connection.prepare(text)?;
    let rows = rows.query_map([sql(ask.after), i64::from(limit) + 1], record_of)?;
    let mut records = rows.collect::<Result<Vec<_>, _>>()?;
    let more = records.len() > limit as usize;
    records.truncate(limit as usize);
    Ok(AuditPage { records, more })
}

fn record_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<AuditRecord> {
    let (seq, time_ms): (i64, i64) = (row.get(0)?, row.get(1)?);
    Ok(AuditRecord {
        seq: seq.unsigned_abs(),
        time_ms: time_ms.unsigned_abs(),
        kind: row.get(2)?,
        who: row.get(3)?,
        subject: row.get(4)?,
        detail: row.get(5)?,
        hash: hex(&row.get::<_, Vec<u8>>(6)?),
    })
}

/// Verifies every record of the ledger at `path`, that the audit log ends at its stored end, and that it contains
/// `noted`, an end stored elsewhere.
///
/// # Errors
/// [`StoreError`] if it cannot be read.
pub fn verify(path: &Path, noted: Option<&AuditHead>) -> Result<AuditVerdict, StoreError> {
    let connection = schema::open_to_read(path)?;
    // A consistent view, unaffected by concurrent writes.
    let connection = connection.unchecked_transaction()?;
    // The file is read first: a record written in between makes the audit log longer, never shorter.
    let remembered = remembered(path);
    let base = base(&connection)?;
    let mut found = Found { before: base, records: 0, problems: Vec::new(), more: 0, vouched: base.seq == 0 };
    let mut rows = connection
        .prepare("SELECT seq, hash, time_ms, kind, who, subject, detail FROM trail ORDER BY seq")?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        found.check(row, &base);
    }
    if base.seq == 0 && base.hash != [0; 32] || !found.vouched {
        found.problem("the oldest records are missing, and no record says that they were deleted".to_owned());
    }
    match remembered {
        Ok(Some(head)) => missing(&connection, &head)?.into_iter().for_each(|problem| found.problem(problem)),
        Ok(None) if found.before.seq == 0 => {}
        Ok(None) => found.problem("the file that stores where the audit log ends is missing".to_owned()),
        Err(trouble) => found.problem(trouble),
    }
    if let Some(noted) = noted {
        let problem = missing(&connection, noted)?;
        problem
            .into_iter()
            .for_each(|problem| found.problem(format!("compared with what you noted: {problem}")));
        if sql(noted.seq) < base.seq {
            found.problem(format!("record {}, which you noted, is no longer kept", noted.seq));
        }
    }
    Ok(found.verdict(&base))
}

/// The result of reading the audit log from its start.
struct Found {
    before: ChainMark,
    records: u64,
    problems: Vec<String>,
    more: usize,
    /// A record states that what preceded the base was deleted.
    vouched: bool,
}

impl Found {
    fn problem(&mut self, words: String) {
        match self.problems.len() < NAMED {
            true => self.problems.push(words),
            false => self.more += 1,
        }
    }

    fn check(&mut self, row: &rusqlite::Row<'_>, base: &ChainMark) {
        // The key is always a number; anything else that is unreadable was altered.
        let Ok(mark) = mark_of(row) else {
            return self.problem("a record cannot be read".to_owned());
        };
        self.records += 1;
        if mark.seq != self.before.seq + 1 {
            let words =
                format!("between record {} and record {} something is missing", self.before.seq, mark.seq);
            self.problem(words);
        }
        let texts = (|| {
            let text = |at: usize| row.get::<_, String>(at);
            Ok::<_, rusqlite::Error>((row.get::<_, i64>(2)?, [text(3)?, text(4)?, text(5)?, text(6)?]))
        })();
        let fits = texts.as_ref().is_ok_and(|(time_ms, texts)| {
            let texts = [&texts[0], &texts[1], &texts[2], &texts[3]].map(String::as_str);
            chained(&self.before.hash, mark.seq, *time_ms, texts) == mark.hash
        });
        match texts {
            Ok((_, [kind, _, subject, detail])) if fits => {
                self.vouched |= kind == AuditKind::Pruned.as_str() && subject == base.words();
                if kind == AuditKind::Gap.as_str() {
                    self.problem(format!("record {} says: {detail}", mark.seq));
                }
            }
            _ => self.problem(format!("record {} is not as it was written", mark.seq)),
        }
        self.before = mark;
    }

    fn verdict(mut self, base: &ChainMark) -> AuditVerdict {
        if self.more > 0 {
            self.problems.push(format!("and {} more", self.more));
        }
        let head = (self.before.seq > 0)
            .then(|| AuditHead { seq: self.before.seq.unsigned_abs(), hash: hex(&self.before.hash) });
        AuditVerdict {
            records: self.records,
            first: (base.seq + 1).unsigned_abs(),
            head,
            problems: self.problems,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
