//! Configures logging: to standard error, and for a hub also to a file that is kept for a week.

use std::{fmt::Debug, io::IsTerminal, path::Path};

use anyhow::Context;
use tracing::field::Field;
use tracing_appender::{
    non_blocking::{NonBlockingBuilder, WorkerGuard},
    rolling::{RollingFileAppender, Rotation},
};
use tracing_subscriber::{
    Layer,
    field::MakeExt,
    filter::Targets,
    fmt::{
        self,
        format::{FormatFields, Writer, debug_fn},
    },
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

use crate::{
    args::LogFormat,
    output::{self, Lines},
};

/// Number of daily log files kept.
const KEPT_FILES: usize = 7;
/// Number of lines that wait to be written; more are dropped. The space for them is allocated at once.
const BUFFERED_LINES: usize = 4096;
/// The variable that sets the log filter, for example `debug` or `satchel_core=trace`.
const VARIABLE: &str = "SATCHEL_LOG";

/// The log of a hub. Buffered lines are written when the guard is dropped.
pub(crate) fn for_hub(logs: &Path, format: LogFormat) -> anyhow::Result<WorkerGuard> {
    satchel_core::files::create_private_dir(logs)
        .with_context(|| format!("cannot create the log directory {}", logs.display()))?;
    let (file, guard) =
        NonBlockingBuilder::default().buffered_lines_limit(BUFFERED_LINES).finish(rotating_file(logs)?);
    let to_file = fmt::layer().with_ansi(false).fmt_fields(fields()).with_writer(file);
    tracing_subscriber::registry().with(filter("info")).with(to_stderr(format)).with(to_file).init();
    Ok(guard)
}

/// The log of a command: warnings on standard error.
pub(crate) fn for_command() {
    tracing_subscriber::registry().with(filter("warn")).with(to_stderr(LogFormat::Human)).init();
}

fn rotating_file(logs: &Path) -> anyhow::Result<RollingFileAppender> {
    move_odd_aside(logs);
    let builder = || {
        RollingFileAppender::builder()
            .rotation(Rotation::DAILY)
            .filename_prefix("satchel")
            .filename_suffix("log")
            .max_log_files(KEPT_FILES)
    };
    // On Windows, only administrators can create symbolic links.
    let linked = if cfg!(unix) { builder().latest_symlink("satchel.log") } else { builder() };
    // Another hub starting at this moment creates the same link. The log does not decide which of them may run.
    let file = linked.build(logs).or_else(|_| builder().build(logs));
    file.with_context(|| format!("cannot write logs to {}", logs.display()))
}

/// Moves aside what stands in the place of a log, today's or another day's, and is no file: opening a pipe would wait.
fn move_odd_aside(logs: &Path) {
    for entry in std::fs::read_dir(logs).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with("satchel.") && name.ends_with(".log")) {
            // What cannot be moved is reported by whoever opens it.
            let _ = satchel_core::files::set_odd_aside(&entry.path());
        }
    }
}

fn to_stderr<S>(format: LogFormat) -> Option<Box<dyn Layer<S> + Send + Sync>>
where
    S: tracing::Subscriber + for<'span> tracing_subscriber::registry::LookupSpan<'span>,
{
    let layer = fmt::layer();
    match format {
        LogFormat::Human => {
            let ansi = std::io::stderr().is_terminal();
            let layer = layer.with_target(false).with_ansi(ansi).fmt_fields(fields());
            Some(layer.with_writer(output::aside).boxed())
        }
        LogFormat::Json => Some(layer.json().with_writer(output::json_aside).boxed()),
        LogFormat::None => None,
    }
}

/// The values of a record, in which nothing can hide; the style of its time and level is the layer's own.
fn fields() -> impl for<'writer> FormatFields<'writer> + Send + Sync + 'static {
    let field = |writer: &mut Writer<'_>, field: &Field, value: &dyn Debug| {
        let value = Lines::line(format!("{value:?}"));
        match field.name() {
            "message" => write!(writer, "{value}"),
            name => write!(writer, "{name}={value}"),
        }
    };
    debug_fn(field).delimited(" ")
}

fn filter(usual: &str) -> Targets {
    let chosen = std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok());
    chosen.unwrap_or_else(|| usual.parse().expect("the usual level is a valid filter"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_directory_in_the_place_of_a_log_is_moved_aside() {
        let logs = tempfile::tempdir().unwrap();
        let place = logs.path().join("satchel.2026-01-01.log");
        std::fs::create_dir(&place).unwrap();
        std::fs::write(logs.path().join("satchel.2026-01-02.log"), "kept").unwrap();
        move_odd_aside(logs.path());
        assert!(!place.exists() && logs.path().join("satchel.2026-01-02.log").is_file());
        assert_eq!(std::fs::read_dir(logs.path()).unwrap().count(), 2, "nothing is lost");
    }
}
