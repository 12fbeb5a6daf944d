//! Types of the audit log: tamper-evident records of what was started, allowed, refused, read and changed. Times are
//! milliseconds since the Unix epoch.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::ledger::csv_cell;

/// Selects records, oldest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditQuery {
    /// Only records after this one.
    #[serde(default)]
    pub after: u64,
    /// Maximum number; 0 means 1,000.
    #[serde(default)]
    pub limit: u32,
}

/// A page of the audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditPage {
    /// The records.
    pub records: Vec<AuditRecord>,
    /// Are there more?
    pub more: bool,
}

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AuditKind {
    /// A server's process was started, or a hosted server was connected to.
    Started,
    /// A person allowed a call.
    Consent,
    /// A person approved a definition, or reviewed a server's definitions.
    Approval,
    /// A definition is held back, by the hub or by a person.
    Held,
    /// A secret was read from its store.
    SecretRead,
    /// A secret was stored, replaced or removed, or the store was opened or changed.
    SecretChanged,
    /// The configuration was changed: servers, rules, surfaces of clients.
    Policy,
    /// A client was granted or lost access.
    Access,
    /// A request was refused.
    Denied,
    /// Older records were deleted.
    Pruned,
    /// Records are missing.
    Gap,
}

impl AuditKind {
    /// Every kind.
    pub const ALL: [AuditKind; 11] = [
        AuditKind::Started,
        AuditKind::Consent,
        AuditKind::Approval,
        AuditKind::Held,
        AuditKind::SecretRead,
        AuditKind::SecretChanged,
        AuditKind::Policy,
        AuditKind::Access,
        AuditKind::Denied,
        AuditKind::Pruned,
        AuditKind::Gap,
    ];

    /// The name used in JSON and in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            AuditKind::Started => "started",
            AuditKind::Consent => "consent",
            AuditKind::Approval => "approval",
            AuditKind::Held => "held",
            AuditKind::SecretRead => "secret_read",
            AuditKind::SecretChanged => "secret_changed",
            AuditKind::Policy => "policy",
            AuditKind::Access => "access",
            AuditKind::Denied => "denied",
            AuditKind::Pruned => "pruned",
            AuditKind::Gap => "gap",
        }
    }
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditRecord {
    /// Its sequence number; consecutive.
    pub seq: u64,
    /// When it was written, in milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// The name of an [`AuditKind`].
    pub kind: String,
    /// Who: a client, a server, `satchel`, or the [`super::Origin`] of a request (`person in the window`, `person at a
    /// terminal (pid 7)`, `program node (pid 7)`). Records of earlier versions say `person` for all of these.
    pub who: String,
    /// The object: a tool, a server, a secret's name.
    pub subject: String,
    /// Details, as text.
    pub detail: String,
    /// SHA-256 of the previous record's hash and all other fields of this one, in hexadecimal.
    pub hash: String,
}

/// The header line of a CSV export.
pub const AUDIT_CSV_HEAD: &str = "seq,time_ms,kind,who,subject,detail,hash";

impl AuditRecord {
    /// One line of a CSV export, with the columns of [`AUDIT_CSV_HEAD`].
    pub fn to_csv(&self) -> String {
        let cells =
            [&self.kind, &self.who, &self.subject, &self.detail, &self.hash].map(|text| csv_cell(text));
        format!("{},{},{}", self.seq, self.time_ms, cells.join(","))
    }
}

/// The end of an audit log. Stored elsewhere, it later proves that no record up to it was altered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditHead {
    /// The sequence number of the last record.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
}

impl fmt::Display for AuditHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for AuditHead {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "a head of the audit log is a number, a colon and 64 hexadecimal digits".to_owned();
        let (seq, hash) = text.trim().split_once(':').ok_or_else(wrong)?;
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let seq = seq.parse().map_err(|_| wrong())?;
        is_hash.then(|| Self { seq, hash: hash.to_ascii_lowercase() }).ok_or_else(wrong)
    }
}

/// The result of verifying the audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditVerdict {
    /// Number of records checked.
    pub records: u64,
    /// The sequence number of the oldest stored record; older ones were deleted by age or by a person.
    pub first: u64,
    /// The last record; `None` if the log is empty.
    pub head: Option<AuditHead>,
    /// Inconsistencies; empty if the log is intact.
    pub problems: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_it_is_written() {
        let head = AuditHead { seq: 7, hash: "0a".repeat(32) };
        assert_eq!(head.to_string().parse(), Ok(head));
        for text in ["", "7", ":", "x:00", "7:zz", "-1:00"] {
            assert!(text.parse::<AuditHead>().is_err(), "{text}");
        }
    }
}
