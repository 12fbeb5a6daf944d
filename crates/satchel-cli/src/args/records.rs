//! Defines the arguments of the commands that show and export what the hub recorded: figures, calls, the audit log and
//! the logs of servers.

use clap::{Args as Group, Subcommand, ValueEnum};
use satchel_core::model::{
    ServerName,
    audit::AuditHead,
    ledger::{By, ReportAsk},
};

use super::{OnOff, at_least_one};

#[derive(Debug, Group)]
pub(crate) struct Stats {
    /// What to group by
    #[arg(long, value_enum, default_value_t = Division::Server)]
    pub(crate) by: Division,
    /// Period: days including today (`7d`), hours (`12h`), `today`, or `all`
    #[arg(long, value_name = "TIME", value_parser = since, default_value = "all")]
    pub(crate) since: Since,
    /// Only calls through this profile
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Print CSV, for spreadsheets
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Explain how the figures are computed
    #[arg(long)]
    pub(crate) how: bool,
}

#[derive(Debug, Group)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) act: Option<AuditAct>,
    #[command(flatten)]
    pub(crate) table: Table,
}

/// The period and format of an export.
#[derive(Debug, Group)]
pub(crate) struct Table {
    /// Period: days (`7d`), hours (`12h`), `today` for 24 hours, or `all`
    #[arg(long, value_name = "TIME", value_parser = since, default_value = "all")]
    pub(crate) since: Since,
    /// Print CSV, for spreadsheets
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditAct {
    /// The former name of `satchel audit`
    #[command(hide = true)]
    Trail(Table),
    /// Verify that no record of the audit log was changed, moved or deleted
    Verify {
        /// Head of the audit log that an earlier run of this command printed
        #[arg(long, value_name = "NUMBER:HASH")]
        head: Option<AuditHead>,
    },
}

/// [`By`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Division {
    Client,
    Server,
    Tool,
    Day,
}

impl From<Division> for By {
    fn from(division: Division) -> Self {
        match division {
            Division::Client => By::Client,
            Division::Server => By::Server,
            Division::Tool => By::Tool,
            Division::Day => By::Day,
        }
    }
}

/// The start of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    All,
    Days(u32),
    Hours(u32),
}

impl Since {
    /// The start in milliseconds since the Unix epoch; `None` for all time.
    pub(crate) fn begins_at(self, now_ms: u64) -> Option<u64> {
        let hours = match self {
            Since::All => return None,
            Since::Days(days) => u64::from(days) * 24,
            Since::Hours(hours) => u64::from(hours),
        };
        Some(now_ms.saturating_sub(hours * 3_600_000))
    }
}

impl Stats {
    pub(crate) fn ask(&self) -> ReportAsk {
        let (days, hours) = match self.since {
            Since::All => (None, None),
            Since::Days(days) => (Some(days), None),
            Since::Hours(hours) => (None, Some(hours)),
        };
        ReportAsk { by: self.by.into(), days, hours, profile: self.profile.clone() }
    }
}

fn since(text: &str) -> Result<Since, &'static str> {
    let wrong = "write it as 7d, 12h, today or all";
    let number =
        |digits: &str| digits.parse().ok().filter(|number| (1..=36_500).contains(number)).ok_or(wrong);
    match (text, text.strip_suffix('d'), text.strip_suffix('h')) {
        ("all", ..) => Ok(Since::All),
        ("today", ..) => Ok(Since::Days(1)),
        (_, Some(days), _) => Ok(Since::Days(number(days)?)),
        (_, _, Some(hours)) => Ok(Since::Hours(number(hours)?)),
        _ => Err(wrong),
    }
}

#[derive(Debug, Group)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct History {
    #[command(subcommand)]
    pub(crate) act: Option<HistoryAct>,
    /// Only failed calls
    #[arg(long)]
    pub(crate) problems: bool,
    /// Only this server
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Only this client
    #[arg(long, value_name = "ID")]
    pub(crate) client: Option<String>,
    /// Only calls through this profile
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Maximum number, at least 1
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryAct {
    /// Show one call in full
    Show { id: i64 },
    /// Call the tool again; the same rules apply
    Again {
        id: i64,
        /// Other arguments, as a JSON object
        #[arg(value_name = "JSON")]
        arguments: Option<String>,
    },
    /// Export every recorded call in order: client, tool, rule and result
    Export(Table),
    /// Delete all calls and what was learned from searches; keeps totals
    Clear {
        /// Also delete totals
        #[arg(long)]
        sums: bool,
    },
    /// Delete what was learned from searches; keeps calls
    Forget,
    /// Turn learning from searches on or off
    Learn {
        #[arg(value_enum, value_name = "ON|OFF")]
        state: OnOff,
    },
    /// Keep arguments and results of a server's calls from now on, with secrets removed
    Keep { server: ServerName },
    /// Stop keeping them
    Drop { server: ServerName },
}

#[derive(Debug, Group)]
pub(crate) struct Logs {
    pub(crate) name: ServerName,
    /// Number of lines, at least 1
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one, default_value_t = 50)]
    pub(crate) lines: usize,
}

#[cfg(test)]
mod tests {
    use crate::args::{Command, tests::parsed};

    use super::*;

    #[test]
    fn a_span_of_time_is_days_or_hours() {
        let of = |line: &[&str]| match parsed(&[&["stats"], line].concat()) {
            Command::Stats(stats) => stats.ask(),
            other => panic!("{other:?}"),
        };
        let ask = |by, days, hours| ReportAsk { by, days, hours, profile: None };
        assert_eq!(of(&[]), ask(By::Server, None, None));
        assert_eq!(of(&["--by", "tool", "--since", "7d"]), ask(By::Tool, Some(7), None));
        assert_eq!(of(&["--by", "day", "--since", "12h"]), ask(By::Day, None, Some(12)));
        assert_eq!(of(&["--since", "today"]), ask(By::Server, Some(1), None));
        assert_eq!(of(&["--profile", "work"]).profile.as_deref(), Some("work"));
    }
}
