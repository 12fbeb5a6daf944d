//! Logging: to standard error, and to a file that is kept for a week.

use std::{
    io::{IsTerminal, stderr},
    path::Path,
};

use tracing_appender::{
    non_blocking::{NonBlockingBuilder, WorkerGuard},
    rolling::{RollingFileAppender, Rotation},
};
use tracing_subscriber::{Layer, filter::Targets, fmt, layer::SubscriberExt, util::SubscriberInitExt};

/// Number of daily log files kept.
const KEPT_FILES: usize = 7;
/// Number of lines that wait to be written; more are dropped. The space for them is allocated at once.
const BUFFERED_LINES: usize = 4096;
/// The variable that sets the log filter, for example `debug` or `satchel_core=trace`.
const VARIABLE: &str = "SATCHEL_LOG";

/// Buffered lines are written when the guard is dropped. If there is no place for a file, the log is only displayed.
pub(crate) fn install(logs: &Path) -> Option<WorkerGuard> {
    let to_terminal = fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal()).with_target(false);
    let registry = tracing_subscriber::registry().with(filter()).with(to_terminal);
    match rotating_file(logs) {
        Ok(file) => {
            let (file, guard) =
                NonBlockingBuilder::default().buffered_lines_limit(BUFFERED_LINES).finish(file);
            registry.with(fmt::layer().with_ansi(false).with_writer(file).boxed()).init();
            Some(guard)
        }
        Err(error) => {
            registry.init();
            tracing::warn!("cannot write logs to {}: {error}", logs.display());
            None
        }
    }
}

fn rotating_file(logs: &Path) -> Result<RollingFileAppender, String> {
    satchel_core::files::create_private_dir(logs).map_err(|error| error.to_string())?;
    let builder = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("satchel")
        .filename_suffix("log")
        .max_log_files(KEPT_FILES);
    // On Windows, only administrators can create symbolic links.
    let builder = if cfg!(unix) { builder.latest_symlink("satchel.log") } else { builder };
    builder.build(logs).map_err(|error| error.to_string())
}

fn filter() -> Targets {
    let chosen = std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok());
    chosen.unwrap_or_else(|| "info".parse().expect("a level is a valid filter"))
}
