//! One log per server: its standard error, stray output, and our own notes about it. Bounded on disk and in memory;
//! known secrets are redacted before anything is stored.

use std::{
    collections::{HashSet, VecDeque},
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};
use tokio::time::{Duration, Instant};

use super::reason;
use crate::{
    files,
    model::characters::{is_format, is_selector},
    secrets::{
        Secret,
        redact::{Open, Redactor},
    },
};

/// Number of one server's tokens that are redacted: those of its last renewals.
const TOKENS_KEPT: usize = 6;
/// Maximum number of different remarks.
const REMARKS: usize = 256;
/// Half of the disk limit: a full file is renamed to `.1`, replacing the previous one.
const FILE_BYTES: u64 = 5 * 1024 * 1024;
/// Number of lines kept in memory for error messages.
const TAIL_LINES: usize = 40;
/// The end of a server explains an answer this shortly before as well: its output and its errors arrive through two
/// pipes, in any order.
const ORDER_UNKNOWN: Duration = Duration::from_secs(1);
/// Maximum length of a line: a server that never ends its line must not fill the log.
const LINE_BYTES: usize = 8 * 1024;
/// These hide nothing, and many servers write them.
const EMOJI_STYLES: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];
const LINE_ENDS: [char; 2] = ['\u{2028}', '\u{2029}'];

/// The log of one server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ServerLog {
    inner: Arc<LogInner>,
}

#[derive(Debug)]
struct LogInner {
    /// The log that its lines go to, and what they are marked with there.
    within: Option<(ServerLog, String)>,
    path: Option<PathBuf>,
    state: Mutex<LogFile>,
    noise: AtomicU64,
}

#[derive(Debug, Default)]
struct LogFile {
    file: Option<File>,
    bytes: u64,
    tail: VecDeque<(Instant, String)>,
    /// The same for non-protocol output on standard output.
    noise_tail: VecDeque<(Instant, String)>,
    /// When it last answered a request successfully in this run.
    served: Option<Instant>,
    redactor: Redactor,
    /// The secrets of its entry.
    filled: Vec<Secret>,
    /// Its recent access tokens.
    tokens: VecDeque<Secret>,
    /// Secrets that may have begun on the last line of standard error.
    begun: Open,
    /// The same for standard output.
    begun_in_noise: Open,
    /// The remarks that were made.
    remarks: HashSet<String>,
}

impl LogFile {
    fn renew_redactor(&mut self) {
        let all: Vec<Secret> = self.filled.iter().chain(&self.tokens).cloned().collect();
        self.redactor = Redactor::of(&all);
    }
}

impl ServerLog {
    /// Appends to `path`.
    pub fn at(path: &Path) -> Self {
        Self::with(Some(path.to_owned()))
    }

    /// Keeps only the tail in memory.
    pub fn nowhere() -> Self {
        Self::with(None)
    }

    /// Writes to the log of the same server, each line marked. Remembers only its own.
    pub fn within(main: &Self, mark: &str) -> Self {
        Self::of(Some((main.clone(), mark.to_owned())), None)
    }

    fn with(path: Option<PathBuf>) -> Self {
        Self::of(None, path)
    }

    fn of(within: Option<(ServerLog, String)>, path: Option<PathBuf>) -> Self {
        let inner = LogInner { within, path, state: Mutex::default(), noise: AtomicU64::new(0) };
        Self { inner: Arc::new(inner) }
    }

    /// Redacts these values, in every spelling in which programs write them. Replaces the previous set.
    pub fn redact(&self, secrets: Vec<Secret>) {
        if let Some((main, _)) = &self.inner.within {
            main.redact(secrets.clone());
        }
        let mut state = self.state();
        state.filled = secrets;
        state.renew_redactor();
        (state.begun, state.begun_in_noise) = (Open::default(), Open::default());
    }

    /// Redacts a token too; the most recent ones are kept.
    pub fn redact_token(&self, token: Secret) {
        if let Some((main, _)) = &self.inner.within {
            main.redact_token(token.clone());
        }
        let mut state = self.state();
        if state.tokens.contains(&token) {
            return;
        }
        if state.tokens.len() == TOKENS_KEPT {
            state.tokens.pop_front();
        }
        state.tokens.push_back(token);
        state.renew_redactor();
    }

    /// Logs a line of the server's standard error.
    pub fn stderr(&self, line: &str) {
        let line = {
            let mut state = self.state();
            let LogFile { redactor, begun, .. } = &mut *state;
            redactor.hide_line(line, begun)
        };
        let line = self.write("stderr", &line);
        remember(&mut self.state().tail, line);
    }

    /// Logs non-protocol text on standard output.
    pub fn noise(&self, text: &str) {
        self.inner.noise.fetch_add(1, Ordering::Relaxed);
        if let Some((main, _)) = &self.inner.within {
            main.inner.noise.fetch_add(1, Ordering::Relaxed);
        }
        for line in text.lines() {
            let line = {
                let mut state = self.state();
                let LogFile { redactor, begun_in_noise, .. } = &mut *state;
                redactor.hide_line(line, begun_in_noise)
            };
            let line = self.write("stdout_noise", &line);
            remember(&mut self.state().noise_tail, line);
        }
    }

    /// Logs a log message that the server sent over MCP.
    pub fn message(&self, params: &str) {
        self.write("message", params);
    }

    /// Logs a message of the hub.
    pub fn hub(&self, line: &str) {
        self.write("satchel", line);
    }

    /// Logs how the server departs from the protocol, though nothing is lost by it: each line once in this run of the
    /// hub, because such a server does it in every message.
    pub fn remark(&self, line: &str) {
        {
            let mut state = self.state();
            if state.remarks.len() == REMARKS || !state.remarks.insert(line.to_owned()) {
                return;
            }
        }
        self.hub(line);
    }

    /// Number of non-protocol lines.
    pub fn noise_count(&self) -> u64 {
        self.inner.noise.load(Ordering::Relaxed)
    }

    /// The last lines of standard error, oldest first.
    pub fn tail(&self, lines: usize) -> Vec<String> {
        let state = self.state();
        let last = state.tail.iter().skip(state.tail.len().saturating_sub(lines));
        last.map(|(_, line)| line.clone()).collect()
    }

    /// Why it exited, as far as its last output says. What it wrote before it last answered is not the reason: it went
    /// on working.
    pub fn reason(&self) -> Option<String> {
        let state = self.state();
        let since = state.served.map(|served| match served.elapsed() <= ORDER_UNKNOWN {
            true => served.checked_sub(ORDER_UNKNOWN).unwrap_or(served),
            false => served,
        });
        let said = |tail: &VecDeque<(Instant, String)>| {
            let recent = tail.iter().filter(|(at, _)| since.is_none_or(|since| *at >= since));
            reason::reason(&recent.map(|(_, line)| line).collect::<Vec<_>>())
        };
        said(&state.tail).or_else(|| said(&state.noise_tail))
    }

    /// Notes that it answered a request successfully.
    pub fn served(&self) {
        self.state().served = Some(Instant::now());
    }

    /// Has it answered a request successfully in this run?
    pub fn has_served(&self) -> bool {
        self.state().served.is_some()
    }

    /// Forgets the lines in memory, so that an error after a restart does not quote the previous run.
    pub fn begin_run(&self) {
        let mut state = self.state();
        state.tail.clear();
        state.noise_tail.clear();
        state.served = None;
    }

    /// Redacts the server's secrets in a text.
    pub fn redacted(&self, text: &str) -> String {
        self.state().redactor.hide(text)
    }

    fn write(&self, kind: &str, line: &str) -> String {
        let mut state = self.state();
        let line = clean(line, &state.redactor);
        if let Some((main, mark)) = &self.inner.within {
            drop(state);
            main.write(kind, &format!("[{mark}] {line}"));
            return line;
        }
        if let Some(path) = &self.inner.path {
            // A log that cannot be written must not stop the server; its lines are then only in memory.
            let _ = state.append(path, &format!("{} {kind}: {line}\n", now()));
        }
        line
    }

    fn state(&self) -> MutexGuard<'_, LogFile> {
        self.inner.state.lock()
    }
}

/// Skips stack frames: they say nothing by themselves, and there may be more of them than lines are kept.
fn remember(tail: &mut VecDeque<(Instant, String)>, line: String) {
    if reason::is_frame(&line) {
        return;
    }
    if tail.len() == TAIL_LINES {
        tail.pop_front();
    }
    tail.push_back((Instant::now(), line));
}

impl LogFile {
    fn append(&mut self, path: &Path, line: &str) -> std::io::Result<()> {
        if self.bytes + line.len() as u64 > FILE_BYTES {
            self.file = None;
            files::rename(path, &path.with_extension("log.1"))?;
        }
        if self.file.is_none() {
            let file = files::append_private(path)?;
            self.bytes = file.metadata()?.len();
            self.file = Some(file);
        }
        if let Some(file) = &mut self.file {
            file.write_all(line.as_bytes())?;
            self.bytes += line.len() as u64;
        }
        Ok(())
    }
}

/// Redacts secrets, cuts long lines, removes control characters that could affect a terminal, and escapes invisible
/// ones.
fn clean(line: &str, redactor: &Redactor) -> String {
    let mut line = redactor.hide(line);
    if line.len() > LINE_BYTES {
        let mut end = LINE_BYTES;
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        line.truncate(end);
        line.push('…');
    }
    let mut shown = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\t' => shown.push(c),
            c if c.is_control() => shown.push('\u{fffd}'),
            // Invisible control of text layout: a line must not read as something else.
            c if is_format(c) || is_selector(c) && !EMOJI_STYLES.contains(&c) || LINE_ENDS.contains(&c) => {
                shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(c)));
            }
            c => shown.push(c),
        }
    }
    shown
}

/// The last `lines` lines of a log file, reading no more of it than necessary.
pub fn read_tail(path: &Path, lines: usize) -> std::io::Result<Vec<String>> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = match files::open_plain(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    let window = (lines as u64 * 512).clamp(64 * 1024, FILE_BYTES).min(length);
    file.seek(SeekFrom::Start(length - window))?;
    let mut bytes = Vec::new();
    file.take(window).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut all: Vec<&str> = text.lines().collect();
    if window < length && !all.is_empty() {
        all.remove(0); // begins in the middle
    }
    Ok(all.iter().skip(all.len().saturating_sub(lines)).map(|line| (*line).to_owned()).collect())
}

/// UTC, to the millisecond.
fn now() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let (days, rest) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60,
        since.subsec_millis()
    )
}

/// Days since 1970-01-01 as a date, by counting in eras of 400 years that begin on 1 March.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_never_reach_the_log_and_controls_never_a_terminal() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.log");
        let log = ServerLog::at(&path);
        log.redact(vec![Secret::new("canary-1"), Secret::new("ab")]);
        log.stderr("token=canary-1 \u{1b}[31mred");
        log.noise("one\ntwo canary-1");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("canary-1") && !text.contains('\u{1b}'), "{text}");
        assert!(text.contains("stderr: token=*** \u{fffd}[31mred"), "{text}");
        assert_eq!(text.lines().filter(|line| line.contains("stdout_noise: ")).count(), 2);
        assert_eq!((log.tail(9), log.noise_count()), (vec!["token=*** \u{fffd}[31mred".to_owned()], 1));
    }

    #[test]
    fn a_secret_that_is_spelled_otherwise_or_cut_in_two_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.log");
        let log = ServerLog::at(&path);
        log.redact(vec![Secret::new("canary-1/ä\"x")]);
        for line in
            ["hex 63616e6172792d312fc3a42278.", "cut: canary-", "1/ä\"x rest", "url canary-1%2F%C3%A4%22x"]
        {
            log.stderr(line);
        }
        log.noise("canary\n-1/ä\nnot it");
        log.noise("canary-1/");
        log.stderr("ä\"x is another stream");
        log.noise("ä\"x");
        let text = std::fs::read_to_string(&path).unwrap();
        let kept: Vec<&str> =
            text.lines().filter_map(|line| line.split_once(' ')).map(|(_, rest)| rest).collect();
        assert_eq!(
            kept,
            [
                "stderr: hex ***.",
                "stderr: cut: ***",
                "stderr: *** rest",
                "stderr: url ***",
                "stdout_noise: ***",
                "stdout_noise: ***",
                "stdout_noise: not it",
                "stdout_noise: ***",
                "stderr: ä\"x is another stream",
                "stdout_noise: ***",
            ]
        );
    }

    #[test]
    fn the_log_writes_out_characters_that_reorder_or_hide_text() {
        let log = ServerLog::nowhere();
        log.redact(vec![Secret::new("canary-1")]);
        log.stderr(
            "run \u{202e}gpj.exe\u{202c} z\u{200b}w \u{2066}x\u{2069} \u{e0041}\u{2028}end \u{2764}\u{fe0f}",
        );
        log.stderr("can\u{200b}ary\u{202e}-1");
        assert_eq!(
            log.tail(2),
            [
                "run ⟨U+202E⟩gpj.exe⟨U+202C⟩ z⟨U+200B⟩w ⟨U+2066⟩x⟨U+2069⟩ ⟨U+E0041⟩⟨U+2028⟩end \u{2764}\u{fe0f}",
                "***"
            ]
        );
    }

    #[test]
    fn a_flood_keeps_bounded_disk_and_memory() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.log");
        let log = ServerLog::at(&path);
        let line = "x".repeat(LINE_BYTES * 2);
        for _ in 0..2_000 {
            log.stderr(&line);
        }
        let bytes: u64 =
            std::fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
        assert!(bytes <= 2 * FILE_BYTES, "{bytes}");
        assert_eq!(log.tail(usize::MAX).len(), TAIL_LINES);
        assert_eq!(read_tail(&path, 3).unwrap().len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_server_wrote_before_it_went_on_working_does_not_explain_its_end() {
        let pause = async || tokio::time::sleep(Duration::from_secs(60)).await;
        let log = ServerLog::nowhere();
        log.stderr("Error: no API key");
        assert_eq!(log.reason().as_deref(), Some("Error: no API key"), "it never started");
        pause().await;
        log.served();
        pause().await;
        assert_eq!(log.reason(), None, "it went on without a key");
        log.stderr("heap is full");
        assert_eq!(log.reason().as_deref(), Some("heap is full"));
        pause().await;
        // Its last words and its last answer arrive in any order.
        log.stderr("Error: gone");
        log.served();
        assert_eq!(log.reason().as_deref(), Some("Error: gone"));
        log.begin_run();
        assert!(!log.has_served());
    }

    #[test]
    fn dates_are_right_over_leap_years() {
        for (days, date) in
            [(0, (1970, 1, 1)), (11_016, (2000, 2, 29)), (19_782, (2024, 2, 29)), (20_778, (2026, 11, 21))]
        {
            assert_eq!(civil(days), date);
        }
    }
}
