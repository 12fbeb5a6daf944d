//! Types of the audit log: tamper-evident records of what was started, allowed, refused, read and changed. Times are
//! milliseconds since the Unix epoch.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::ledger::csv_cell;

/// What of it is wanted, oldest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AuditQuery {
    /// Only records after this one.
    #[serde(default)]
    pub after: u64,
    /// At most so many; 1,000 where it is 0.
    #[serde(default)]
    pub limit: u32,
}

/// A page of the audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AuditPage {
    /// The records.
    pub records: Vec<AuditRecord>,
    /// Are there more?
    pub more: bool,
}

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AuditKind {
    /// A server's program was started, or a hosted server connected to.
    Started,
    /// A person allowed a call.
    Consent,
    /// A person approved a definition, or looked at a server's.
    Approval,
    /// A definition is held back, by the hub or by a person.
    Held,
    /// A secret was read from its store.
    SecretRead,
    /// A secret was stored, replaced or removed, or the store was opened or changed.
    SecretChanged,
    /// The configuration was changed: servers, rules, what clients see.
    Policy,
    /// A client was given access, or lost it.
    Access,
    /// A request was refused.
    Denied,
    /// Older records are no longer kept.
    Pruned,
    /// Records are missing that were there.
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

    /// As it is written in JSON and in the ledger.
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
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AuditRecord {
    /// Its number; each is one more than the one before.
    pub seq: u64,
    /// When.
    pub time_ms: u64,
    /// What it is about: a [`AuditKind`] as it is written.
    pub kind: String,
    /// Who: a client, a server, `satchel`, or the [`super::Origin`] of a request (`person in the window`, `person at a
    /// terminal (pid 7)`, `program node (pid 7)`). Records of earlier versions say `person` for all of these.
    pub who: String,
    /// What it was done to: a tool, a server, a secret's name.
    pub subject: String,
    /// More, in words.
    pub detail: String,
    /// SHA-256 over the record before it and all of this one, in hexadecimal digits.
    pub hash: String,
}

/// The first line of a table for other programs.
pub const AUDIT_CSV_HEAD: &str = "seq,time_ms,kind,who,subject,detail,hash";

impl AuditRecord {
    /// A line of a table for other programs, under [`AUDIT_CSV_HEAD`].
    pub fn to_csv(&self) -> String {
        let cells =
            [&self.kind, &self.who, &self.subject, &self.detail, &self.hash].map(|text| csv_cell(text));
        format!("{},{},{}", self.seq, self.time_ms, cells.join(","))
    }
}

/// The end of an audit log: whoever notes it elsewhere can prove later that nothing before it was altered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AuditHead {
    /// The last record.
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

/// Whether the audit log is as it was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AuditVerdict {
    /// Records that were checked.
    pub records: u64,
    /// The number of the oldest that is kept; older ones were deleted by age or by a person.
    pub first: u64,
    /// The last; `None` where there is none.
    pub head: Option<AuditHead>,
    /// What is not as it was written; empty where all is.
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
