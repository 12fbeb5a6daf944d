//! The task that owns the recorder: writes what came within a moment as one, has texts counted, keeps the ledger within
//! its bounds, and ends last.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{Arc, PoisonError, atomic::Ordering},
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use super::calendar::Calendar;

use crate::{
    catalog::tokens,
    clock::now_ms,
    hub::Hub,
    model::{Code, Notice, happening::Happening},
    stats::{Damaged, StoreError, event::Event, recorder::Recorder},
    tasks::may_fail_here,
};

/// What comes within this time is written as one.
const MOMENT: Duration = Duration::from_millis(100);
/// Events written as one, at most.
const BATCH: usize = 2048;
/// Texts are counted when nothing came for this time: counting starts a process that loads the whole encoding.
const QUIET: Duration = Duration::from_secs(3);
/// They are counted at the latest so long after the first of them came.
const COUNTING: Duration = Duration::from_secs(15);
/// So many bytes of texts are counted at once, whenever they came.
const MUCH: usize = 4 * 1024 * 1024;
/// How often what is too old is deleted.
const TIDYING: Duration = Duration::from_secs(3600);
/// How long the last counting may take when the hub ends: a desktop that logs out does not wait long.
const LAST_COUNTING: Duration = Duration::from_millis(1500);

/// What the task is told.
#[derive(Debug)]
pub(in crate::hub) enum Mail {
    /// Something to record.
    Event(Event),
    /// Write and count everything that came before, then answer.
    Flush(oneshot::Sender<()>),
    /// Write everything that came before, then answer.
    Write(oneshot::Sender<()>),
    /// Delete the history, and the sums too where it says so.
    Delete(bool, oneshot::Sender<Result<(), StoreError>>),
}

pub(in crate::hub) async fn run(hub: Hub, mail: mpsc::Receiver<Mail>) {
    let recorder = open(&hub).await;
    let (now, passive) = (Instant::now(), hub.inner.options.passive);
    Task {
        hub,
        mail,
        postponed: Vec::new(),
        recorder,
        count_at: None,
        count_by: None,
        tidy_at: now + MOMENT,
        checked: passive,
        calendar: Calendar::default(),
    }
    .run()
    .await;
}

async fn open(hub: &Hub) -> Option<Recorder> {
    let path = hub.ledger_file();
    match blocking(move || Recorder::open(&path, tokens::TOKENIZER, now_ms())).await {
        Some(Ok((recorder, damaged))) => {
            hub.say_damaged(damaged);
            Some(recorder)
        }
        Some(Err(error)) => {
            hub.say_unusable(&error);
            None
        }
        None => None,
    }
}

struct Task {
    hub: Hub,
    mail: mpsc::Receiver<Mail>,
    /// What came while texts were counted, and waits for that.
    postponed: Vec<Mail>,
    /// Gone where the ledger cannot be used; then everything is lost, and said so.
    recorder: Option<Recorder>,
    count_at: Option<Instant>,
    /// At the latest.
    count_by: Option<Instant>,
    tidy_at: Instant,
    checked: bool,
    calendar: Calendar,
}

/// What woke the task.
enum Woken {
    Mail(Vec<Mail>),
    Count,
    Tidy,
    End,
}

impl Task {
    async fn run(mut self) {
        loop {
            match self.wait().await {
                Woken::Mail(mail) => self.read(mail).await,
                Woken::Count => self.count().await,
                Woken::Tidy => self.tidy().await,
                Woken::End => break,
            }
        }
        let mut rest = Vec::new();
        self.mail.close();
        while let Ok(mail) = self.mail.try_recv() {
            rest.push(mail);
        }
        self.read(rest).await;
        if !self.hub.inner.options.passive
            && tokio::time::timeout(LAST_COUNTING, self.count_all()).await.is_err()
        {
            tracing::warn!("not everything in the ledger was counted before the hub ended");
        }
    }

    async fn wait(&mut self) -> Woken {
        let end = self.hub.inner.ledger.end.clone();
        let far = Instant::now() + TIDYING;
        let mut mail = Vec::new();
        let woken = tokio::select! {
            received = self.mail.recv_many(&mut mail, BATCH) => if received == 0 { Woken::End } else { Woken::Mail(mail) },
            () = tokio::time::sleep_until(self.count_at.unwrap_or(far)) => Woken::Count,
            () = tokio::time::sleep_until(self.tidy_at) => Woken::Tidy,
            () = end.cancelled() => return Woken::End,
        };
        let Woken::Mail(mut mail) = woken else { return woken };
        // Most calls come in company; whoever waits for an answer is not kept waiting for it.
        let company = tokio::time::sleep(MOMENT);
        tokio::pin!(company);
        while mail.len() < BATCH && mail.iter().all(|mail| matches!(mail, Mail::Event(_))) {
            let room = BATCH - mail.len();
            tokio::select! {
                received = self.mail.recv_many(&mut mail, room) => if received == 0 { break },
                () = &mut company => break,
                () = end.cancelled() => break,
            }
        }
        while mail.len() < BATCH
            && let Ok(next) = self.mail.try_recv()
        {
            mail.push(next);
        }
        Woken::Mail(mail)
    }

    async fn read(&mut self, mail: Vec<Mail>) {
        let mut events = Vec::new();
        let mut others = Vec::new();
        for mail in mail {
            match mail {
                Mail::Event(event) => events.push(event),
                other @ (Mail::Flush(_) | Mail::Write(_) | Mail::Delete(..)) => others.push(other),
            }
        }
        self.record(events).await;
        let mut others = VecDeque::from(others);
        while let Some(other) = others.pop_front() {
            match other {
                Mail::Event(_) => {}
                Mail::Flush(answer) => {
                    self.count_all().await;
                    let _ = answer.send(());
                }
                Mail::Write(answer) => {
                    let _ = answer.send(());
                }
                Mail::Delete(sums, answer) => {
                    let deleted = self.with(move |recorder| recorder.delete_history(sums)).await;
                    let _ = answer.send(deleted.unwrap_or(Ok(())));
                }
            }
            // What came while texts were counted.
            others.extend(self.postponed.drain(..));
        }
        self.show().await;
    }

    async fn record(&mut self, events: Vec<Event>) {
        let lost = self.hub.inner.ledger.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            tracing::warn!(lost, "calls came faster than they could be recorded");
            let _ = self.with(move |recorder| recorder.lost(lost)).await;
        }
        if events.is_empty() {
            return;
        }
        for event in &events {
            if let Event::Called(called) = event {
                self.hub.tell(Happening::Call {
                    client: called.visit.client.clone(),
                    server: called.server.clone(),
                    tool: called.tool.clone(),
                    outcome: called.end.outcome.to_owned(),
                    took_ms: called.time.whole().as_secs_f64() * 1000.0,
                });
            }
        }
        let recorded = self.with(move |recorder| recorder.record(&events)).await;
        match recorded {
            Some(Ok(damaged)) => {
                self.hub.say_damaged(damaged);
                self.hub.clear_notice(Code::LedgerUnusable);
            }
            Some(Err(error)) => self.hub.say_unusable(&error),
            None => {}
        }
        let waiting = self.recorder.as_ref().map_or(0, Recorder::uncounted_bytes);
        if waiting > MUCH {
            self.count_at = Some(Instant::now());
        } else if waiting > 0 {
            let latest = *self.count_by.get_or_insert_with(|| Instant::now() + COUNTING);
            self.count_at = Some(latest.min(Instant::now() + QUIET));
        }
    }

    /// Has everything counted that waits for it.
    async fn count_all(&mut self) {
        while self.recorder.as_ref().is_some_and(|recorder| recorder.uncounted_bytes() > 0) {
            if !self.count_portion().await {
                return;
            }
        }
    }

    async fn count(&mut self) {
        (self.count_at, self.count_by) = (None, None);
        if !self.hub.inner.options.passive {
            self.count_all().await;
        }
        let waits = self.recorder.as_ref().is_some_and(|recorder| recorder.uncounted_bytes() > 0);
        if waits && !self.hub.inner.options.passive {
            self.count_at = Some(Instant::now() + COUNTING);
        }
        let postponed = std::mem::take(&mut self.postponed);
        self.read(postponed).await;
    }

    /// False where nothing could be counted.
    async fn count_portion(&mut self) -> bool {
        let Some(recorder) = &self.recorder else { return false };
        let portion = recorder.uncounted();
        if portion.is_empty() {
            return false;
        }
        let (hub, texts) = (self.hub.clone(), portion.clone());
        let counting = async move {
            let texts: Vec<&str> = texts.iter().map(|(_, text)| &**text).collect();
            // One at a time: each loads the whole encoding.
            let _turn = hub.inner.counting.acquire().await;
            tokens::count_texts(&hub.inner.options.own_program, &texts).await
        };
        tokio::pin!(counting);
        // Counting may take many seconds on a busy computer. What is to be written meanwhile does not wait for it.
        let counted = loop {
            let mut mail = Vec::new();
            tokio::select! {
                counted = &mut counting => break counted,
                received = self.mail.recv_many(&mut mail, BATCH) => match received {
                    0 => break counting.await,
                    _ => self.write_meanwhile(mail).await,
                },
            }
        };
        match counted {
            Ok(counts) => {
                let counts: Vec<_> = portion.iter().map(|(hash, _)| *hash).zip(counts).collect();
                let written = self.with(move |recorder| recorder.counted(&counts)).await;
                if let Some(Err(error)) = &written {
                    self.hub.say_unusable(error);
                }
                matches!(written, Some(Ok(())))
            }
            Err(error) => {
                tracing::warn!(%error, "the ledger has calls without tokens");
                false
            }
        }
    }

    /// Writes events; what has to wait for the counting waits.
    async fn write_meanwhile(&mut self, mail: Vec<Mail>) {
        let (mut events, mut writes) = (Vec::new(), Vec::new());
        for mail in mail {
            match mail {
                Mail::Event(event) => events.push(event),
                Mail::Write(answer) => writes.push(answer),
                later @ (Mail::Flush(_) | Mail::Delete(..)) => self.postponed.push(later),
            }
        }
        self.record(events).await;
        for answer in writes {
            let _ = answer.send(());
        }
    }

    async fn tidy(&mut self) {
        self.tidy_at = Instant::now() + TIDYING;
        if self.hub.inner.options.passive {
            return;
        }
        if !std::mem::replace(&mut self.checked, true) {
            match self.with(Recorder::check).await {
                Some(Ok(damaged)) => self.hub.say_damaged(damaged),
                Some(Err(error)) => self.hub.say_unusable(&error),
                None => {}
            }
        }
        if !self.calendar.is_reliable(Instant::now(), now_ms()) {
            tracing::warn!(
                "the date jumped ahead; nothing is deleted for its age until that has lasted a day"
            );
            return;
        }
        let history = self.hub.inner.config.borrow().history();
        let tidied = self.with(move |recorder| recorder.retain(now_ms(), history.days, history.bytes)).await;
        if let Some(Err(error)) = tidied {
            tracing::warn!(%error, "the history could not be shortened");
        }
        self.show().await;
    }

    /// Tells the snapshot.
    async fn show(&mut self) {
        let view = self.with(|recorder| recorder.view(now_ms())).await;
        if let Some(Ok(view)) = view {
            let ledger = &self.hub.inner.ledger;
            *ledger.view.lock().unwrap_or_else(PoisonError::into_inner) = view;
            self.hub.inner.compose.notify_one();
        }
    }

    /// Does something with the recorder where it may block. `None` where there is no recorder.
    async fn with<T: Send + 'static>(
        &mut self,
        act: impl FnOnce(&mut Recorder) -> T + Send + 'static,
    ) -> Option<T> {
        let mut recorder = self.recorder.take()?;
        let acted = blocking(move || {
            may_fail_here("ledger");
            let done = act(&mut recorder);
            (recorder, done)
        })
        .await;
        let Some((recorder, done)) = acted else {
            // What it was about is lost; what comes next is not.
            self.recorder = open(&self.hub).await;
            return None;
        };
        self.recorder = Some(recorder);
        Some(done)
    }
}

/// `None` where it panicked.
async fn blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(act)
        .await
        // Without the panic's message, which may quote what was being worked on.
        .inspect_err(|error| tracing::error!(panicked = error.is_panic(), "the ledger failed"))
        .ok()
}

impl Hub {
    /// Where the ledger is.
    pub(in crate::hub) fn ledger_file(&self) -> PathBuf {
        self.places().data.join("ledger.db")
    }

    fn say_damaged(&self, damaged: Option<Damaged>) {
        if let Some(Damaged { aside }) = damaged {
            let message = format!("the history of calls was damaged and set aside as {}", aside.display());
            tracing::warn!("{message}");
            self.notice(Notice::new(Code::SetAside, message));
        }
    }

    fn say_unusable(&self, error: &StoreError) {
        tracing::warn!(%error, "calls are not recorded");
        self.notice(Notice::new(Code::LedgerUnusable, format!("calls are not recorded: {error}")));
    }

    /// Waits until everything that was called so far is written and counted, or for long enough.
    pub(super) async fn flush(&self) {
        let (answer, flushed) = oneshot::channel();
        if self.inner.ledger.mail.send(Mail::Flush(answer)).await.is_ok() {
            let _ = tokio::time::timeout(FLUSHING, flushed).await;
        }
    }

    /// Waits until everything that happened so far is written, or for long enough.
    pub(in crate::hub) async fn written(&self) {
        let (answer, written) = oneshot::channel();
        if self.inner.ledger.mail.send(Mail::Write(answer)).await.is_ok() {
            let _ = tokio::time::timeout(FLUSHING, written).await;
        }
    }

    pub(super) async fn delete_history(&self, sums: bool) -> Result<(), String> {
        let gone = || "the ledger is not open".to_owned();
        let (answer, deleted) = oneshot::channel();
        self.inner.ledger.mail.send(Mail::Delete(sums, answer)).await.map_err(|_| gone())?;
        deleted.await.map_err(|_| gone())?.map_err(|error| error.to_string())
    }

    /// Reads the ledger beside its writer.
    pub(in crate::hub) async fn read_ledger<T: Send + 'static>(
        &self,
        read: impl FnOnce(Arc<std::path::Path>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, String> {
        let path: Arc<std::path::Path> = self.ledger_file().into();
        let read = blocking(move || read(path)).await.ok_or("the ledger could not be read")?;
        read.map_err(|error| error.to_string())
    }
}

/// How long a report waits for what came just before it to be counted.
const FLUSHING: Duration = Duration::from_secs(20);
