//! Opens the ledger's database, migrates it, and sets it aside when it is damaged.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::files;

/// Why the ledger could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A database error.
    #[error("the ledger cannot be used: {0}")]
    Sql(#[from] rusqlite::Error),
    /// Written by a newer version of Satchel.
    #[error("the ledger was written by a newer version of Satchel ({found}, known is {known})")]
    Newer {
        /// The file's schema version.
        found: i64,
        /// The newest known version.
        known: i64,
    },
    /// The file cannot be moved, created or secured.
    #[error("the ledger cannot be used: {0}")]
    Files(#[from] std::io::Error),
}

impl StoreError {
    /// Is the file itself damaged, so that only a new one helps?
    pub fn is_damage(&self) -> bool {
        match self {
            StoreError::Sql(error) => {
                let code = error.sqlite_error_code();
                matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
            }
            StoreError::Newer { .. } | StoreError::Files(_) => false,
        }
    }
}

/// A damaged ledger was moved aside, and a new one created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// The new path of the damaged file.
    pub aside: PathBuf,
}

/// All schema changes, in order; the database's `user_version` is the number of those applied.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/0001.sql"),
    include_str!("schema/0002.sql"),
    include_str!("schema/0003.sql"),
    include_str!("schema/0004.sql"),
    include_str!("schema/0005.sql"),
    include_str!("schema/0006.sql"),
    include_str!("schema/0007.sql"),
];

/// Opens the ledger for writing, creating it if necessary. A damaged one is moved aside.
///
/// # Errors
/// [`StoreError`] if the directory is not writable, or the file is of a newer version.
pub(super) fn open(path: &Path) -> Result<(Connection, Option<Damaged>), StoreError> {
    for suffix in ["-wal", "-shm", "-journal"] {
        files::set_odd_aside(&beside(path, suffix))?;
    }
    if let Some(aside) = files::set_odd_aside(path)? {
        return Ok((open_at(path)?, Some(Damaged { aside })));
    }
    match open_at(path) {
        Ok(connection) => Ok((connection, None)),
        Err(error) if error.is_damage() => {
            let aside = set_aside(path)?;
            Ok((open_at(path)?, Some(Damaged { aside })))
        }
        Err(error) => Err(error),
    }
}

/// Opens the ledger read-only.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -8000")?;
    Ok(connection)
}

/// Moves the database and its companion files aside; returns the new path.
pub(super) fn set_aside(path: &Path) -> std::io::Result<PathBuf> {
    let aside = files::set_aside(path)?;
    for suffix in ["-wal", "-shm"] {
        // They are created again; their content belongs to the damaged file.
        let _ = std::fs::remove_file(beside(path, suffix));
    }
    Ok(aside)
}

/// The path of a companion file.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(suffix);
    beside.into()
}

/// Is every page of the database intact? Reads all of it.
pub(super) fn is_sound(connection: &Connection) -> bool {
    let verdict = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match verdict {
        Ok(verdict) => verdict == "ok",
        Err(error) => !StoreError::from(error).is_damage(),
    }
}

fn open_at(path: &Path) -> Result<Connection, StoreError> {
    private(path)?;
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    // Deleted content is overwritten, so that a deleted history is gone from the disk too.
    connection.execute_batch(
        "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;
         PRAGMA journal_size_limit = 4000000; PRAGMA cache_size = -4000",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    migrate(&mut connection)?;
    Ok(connection)
}

/// Creates the file so that only this user can ever read it.
fn private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(|_| ())
}

fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    for (version, sql) in (1i64..).zip(MIGRATIONS).skip(usize::try_from(found).unwrap_or_default()) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", version)?;
        transaction.commit()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_ledger_keeps_its_sums() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ledger.db");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(MIGRATIONS[0]).unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        for (hour, calls) in [(2026112113, 2), (2026112123, 3), (2026112200, 7)] {
            old.execute(
                "INSERT INTO hours (hour, client, server, tool, kind, calls, failures, request_bytes, result_bytes,
                   uncounted, wait_us, start_us, upstream_us, ours_us)
                 VALUES (?1, 'zed', 'github', 'search', 'call', ?2, 0, 0, 0, 0, 0, 0, 0, 0)",
                [hour, calls],
            )
            .unwrap();
        }
        drop(old);
        let (connection, damaged) = open(&path).unwrap();
        assert_eq!(damaged, None);
        let mut days = connection.prepare("SELECT hour, calls FROM days ORDER BY hour").unwrap();
        let days = days.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let days: Vec<(i64, i64)> = days.map(Result::unwrap).collect();
        assert_eq!(days, [(2026112100, 5), (2026112200, 7)]);
        let none: i64 = connection
            .query_row("SELECT sum(calls) FROM hours WHERE profile = ''", [], |row| row.get(0))
            .unwrap();
        assert_eq!(none, 12, "what is older belongs to no profile");
    }

    #[test]
    fn a_damaged_ledger_is_set_aside_and_a_newer_one_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ledger.db");
        std::fs::write(&path, "this is no database, but it is long enough to be taken for one".repeat(99))
            .unwrap();
        let (connection, damaged) = open(&path).unwrap();
        assert!(damaged.is_some_and(|damaged| damaged.aside.exists()));
        assert!(is_sound(&connection));
        connection.pragma_update(None, "user_version", 99).unwrap();
        drop(connection);
        assert!(matches!(open(&path), Err(StoreError::Newer { found: 99, .. })));
    }
}
