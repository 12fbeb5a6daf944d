//! The task that owns the store: batches writes, has texts counted, enforces retention, and ends last.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{sync::oneshot, time::Instant};

use super::{FLUSHING, Health, Mailbox, Order, Recorder, calendar::Calendar};
use crate::{
    catalog::tokens,
    clock::now_ms,
    model::event::HubEvent,
    stats::{Damaged, StoreError, event::Event, store::Store},
    tasks::may_fail_here,
};

/// Events within this interval are written together.
const MOMENT: Duration = Duration::from_millis(100);
/// Maximum size of a batch; a full one is written without waiting.
const BATCH: usize = 2048;
/// Texts are counted after this long without events, because counting starts a process.
const QUIET: Duration = Duration::from_secs(3);
/// Maximum delay of counting after the first text arrived.
const COUNTING: Duration = Duration::from_secs(15);
/// Counting starts immediately when this many bytes are waiting.
const MUCH: usize = 4 * 1024 * 1024;
/// The same for this many amounts, which calls with the same texts wait for.
const MANY: usize = 10_000;
/// Interval of deleting old records.
const TIDYING: Duration = Duration::from_secs(3600);
/// Interval of trying to open a ledger that could not be opened, because its disk was full, for example.
pub(super) const REOPENING: Duration = Duration::from_secs(30);
/// Maximum duration of the last counting at shutdown: a desktop that logs out does not wait long.
const LAST_COUNTING: Duration = Duration::from_millis(1500);

pub(super) async fn run(recorder: Recorder, mailbox: Mailbox) {
    let store = recorder.open_store().await;
    let (now, passive) = (Instant::now(), recorder.0.settings.passive);
    Writer {
        recorder,
        mailbox,
        came: Came::default(),
        postponed: Vec::new(),
        store,
        reopen_at: now + REOPENING,
        lost: 0,
        count_at: None,
        count_by: None,
        tidy_at: now + MOMENT,
        checked: passive,
        calendar: Calendar::default(),
    }
    .run()
    .await;
}

struct Writer {
    recorder: Recorder,
    mailbox: Mailbox,
    /// Received events that wait for a batch.
    came: Came,
    /// Requests that arrived during counting, and wait for it.
    postponed: Vec<Order>,
    /// `None` while the ledger cannot be opened. Events that come meanwhile are lost, and counted.
    store: Option<Store>,
    reopen_at: Instant,
    /// Lost events, until a ledger has their number.
    lost: u64,
    count_at: Option<Instant>,
    /// The deadline.
    count_by: Option<Instant>,
    tidy_at: Instant,
    checked: bool,
    calendar: Calendar,
}

/// A batch, and the requests to handle after it.
#[derive(Default)]
struct Came {
    events: Vec<Event>,
    asked: Vec<Order>,
}

/// What woke the task.
enum Woken {
    Came(Came),
    Count,
    Tidy,
    End,
}

impl Mailbox {
    /// Receives the next batch: most calls come in groups, and requests are handled without delay. Avoids waking up
    /// for every event. Cancel safe: received events stay in `came`. Returns false at the end.
    async fn gather(&mut self, came: &mut Came) -> bool {
        if came.events.is_empty() && came.asked.is_empty() {
            tokio::select! {
                event = self.events.recv() => match event {
                    Some((event, _)) => came.events.push(event),
                    None => return false,
                },
                asked = self.asked.recv() => match asked {
                    Some(asked) => came.asked.push(asked),
                    None => return false,
                },
            }
        }
        if came.asked.is_empty() && self.events.len() < BATCH {
            tokio::select! {
                () = tokio::time::sleep(MOMENT) => {}
                asked = self.asked.recv() => came.asked.extend(asked),
            }
        }
        self.take(came);
        true
    }

    /// Takes what is queued: everything, if a request arrived, because it applies to all earlier events.
    fn take(&mut self, came: &mut Came) {
        let most = if came.asked.is_empty() { BATCH } else { usize::MAX };
        while came.events.len() < most
            && let Ok((event, _)) = self.events.try_recv()
        {
            came.events.push(event);
        }
    }

    /// Takes everything that is queued at the end.
    fn close(&mut self, came: &mut Came) {
        self.events.close();
        self.asked.close();
        while let Ok(asked) = self.asked.try_recv() {
            came.asked.push(asked);
        }
        while let Ok((event, _)) = self.events.try_recv() {
            came.events.push(event);
        }
    }
}

impl Writer {
    async fn run(mut self) {
        loop {
            match self.wait().await {
                Woken::Came(came) => self.read(came).await,
                Woken::Count => self.count().await,
                Woken::Tidy => self.tidy().await,
                Woken::End => break,
            }
        }
        let mut rest = std::mem::take(&mut self.came);
        self.mailbox.close(&mut rest);
        self.read(rest).await;
        if !self.passive() && tokio::time::timeout(LAST_COUNTING, self.count_all()).await.is_err() {
            tracing::warn!("not everything in the ledger was counted before the hub ended");
        }
    }

    async fn wait(&mut self) -> Woken {
        let end = self.recorder.0.end.clone();
        let far = Instant::now() + TIDYING;
        let came = tokio::select! {
            came = self.mailbox.gather(&mut self.came) => came,
            () = tokio::time::sleep_until(self.count_at.unwrap_or(far)) => return Woken::Count,
            () = tokio::time::sleep_until(self.tidy_at) => return Woken::Tidy,
            () = end.cancelled() => return Woken::End,
        };
        if came { Woken::Came(std::mem::take(&mut self.came)) } else { Woken::End }
    }

    async fn read(&mut self, came: Came) {
        self.record(came.events).await;
        let mut others = VecDeque::from(came.asked);
        while let Some(other) = others.pop_front() {
            match other {
                Order::Flush(answer) => {
                    self.count_all().await;
                    let _ = answer.send(());
                }
                Order::Write(answer) => {
                    let _ = answer.send(());
                }
                Order::Delete(sums, answer) => {
                    self.reopen_at = Instant::now();
                    self.reopen().await;
                    // Without a ledger the task deletes nothing, and drops `answer` to tell the caller so.
                    if let Some(deleted) = self.with(move |store| store.delete_history(sums)).await {
                        let _ = answer.send(deleted);
                    }
                }
            }
            // Events that arrived during counting.
            others.extend(self.postponed.drain(..));
        }
        self.show().await;
    }

    async fn record(&mut self, events: Vec<Event>) {
        let overflowed = self.recorder.0.outbox.take_lost();
        if overflowed > 0 {
            tracing::warn!(lost = overflowed, "calls came faster than they could be recorded");
            self.lost += overflowed;
        }
        if events.is_empty() {
            return;
        }
        self.reopen().await;
        if events.iter().any(|event| !matches!(event, Event::Measured(_))) {
            self.recorder.0.worked.send_replace(());
        }
        for event in events.iter().filter(|_| self.recorder.events().are_heard()) {
            if let Event::Called(called) = event {
                self.recorder.events().tell(HubEvent::Call {
                    client: called.visit.client.clone(),
                    server: called.server.clone(),
                    tool: called.tool.clone(),
                    outcome: called.end.outcome.to_owned(),
                    took_ms: called.time.whole().as_secs_f64() * 1000.0,
                });
            }
        }
        let came = events.len() as u64;
        let recorded = self.with(move |store| store.record(&events)).await;
        match recorded {
            Some(Ok(damaged)) => {
                self.recorder.tell_damaged(damaged);
                self.recorder.tell_usable();
                self.write_lost().await;
            }
            Some(Err(error)) => {
                self.lost += came;
                self.recorder.tell_unusable(&error);
            }
            None => self.lost += came,
        }
        let waiting = self.store.as_ref().map_or(0, Store::uncounted_bytes);
        let amounts = self.store.as_ref().map_or(0, Store::uncounted_amounts);
        if waiting > MUCH || amounts > MANY {
            self.count_at = Some(Instant::now());
        } else if waiting > 0 {
            let latest = *self.count_by.get_or_insert_with(|| Instant::now() + COUNTING);
            self.count_at = Some(latest.min(Instant::now() + QUIET));
        }
    }

    /// Opens the ledger if it could not be opened before; the next attempt comes after [`REOPENING`].
    async fn reopen(&mut self) {
        if self.store.is_none() && Instant::now() >= self.reopen_at {
            self.store = self.recorder.open_store().await;
            self.reopen_at = Instant::now() + REOPENING;
        }
    }

    async fn write_lost(&mut self) {
        let lost = self.lost;
        if lost > 0 && matches!(self.with(move |store| store.lost(lost)).await, Some(Ok(()))) {
            self.lost = 0;
        }
    }

    /// Counts everything that waits.
    async fn count_all(&mut self) {
        while self.store.as_ref().is_some_and(|store| store.uncounted_bytes() > 0) {
            if !self.count_portion().await {
                return;
            }
        }
    }

    async fn count(&mut self) {
        (self.count_at, self.count_by) = (None, None);
        if !self.passive() {
            self.count_all().await;
        }
        let waits = self.store.as_ref().is_some_and(|store| store.uncounted_bytes() > 0);
        if waits && !self.passive() {
            self.count_at = Some(Instant::now() + COUNTING);
        }
        let asked = std::mem::take(&mut self.postponed);
        self.read(Came { events: vec![], asked }).await;
    }

    /// Returns false if nothing could be counted.
    async fn count_portion(&mut self) -> bool {
        let Some(store) = &self.store else { return false };
        let portion = store.uncounted();
        if portion.is_empty() {
            return false;
        }
        let (recorder, texts) = (self.recorder.clone(), portion.clone());
        let counting = async move {
            let texts: Vec<&str> = texts.iter().map(|(_, text)| &**text).collect();
            let _turn = recorder.0.settings.counting.acquire().await;
            tokens::count_texts(&recorder.0.settings.own_program, &texts).await
        };
        tokio::pin!(counting);
        // Counting may take many seconds on a busy computer, and must not delay writing.
        let counted = loop {
            tokio::select! {
                counted = &mut counting => break counted,
                came = self.mailbox.gather(&mut self.came) => match came {
                    false => break counting.await,
                    true => self.write_meanwhile().await,
                },
            }
        };
        match counted {
            Ok(counts) => {
                let counts: Vec<_> = portion.iter().map(|(hash, _)| *hash).zip(counts).collect();
                let written = self.with(move |store| store.counted(&counts)).await;
                if let Some(Err(error)) = &written {
                    self.recorder.tell_unusable(error);
                }
                matches!(written, Some(Ok(())))
            }
            Err(error) => {
                tracing::warn!(%error, "the ledger has calls without tokens");
                false
            }
        }
    }

    /// Writes events during counting; requests that need the counts wait.
    async fn write_meanwhile(&mut self) {
        let came = std::mem::take(&mut self.came);
        self.record(came.events).await;
        for asked in came.asked {
            match asked {
                Order::Write(answer) => {
                    let _ = answer.send(());
                }
                later @ (Order::Flush(_) | Order::Delete(..)) => self.postponed.push(later),
            }
        }
        // The newest calls are shown before their tokens are known.
        self.show().await;
    }

    async fn tidy(&mut self) {
        self.tidy_at = Instant::now() + TIDYING;
        if self.passive() {
            return;
        }
        if !std::mem::replace(&mut self.checked, true) {
            match self.with(Store::check).await {
                Some(Ok(damaged)) => self.recorder.tell_damaged(damaged),
                Some(Err(error)) => self.recorder.tell_unusable(&error),
                None => {}
            }
        }
        if !self.calendar.is_reliable(Instant::now(), now_ms()) {
            tracing::warn!("the date jumped ahead; nothing is deleted by age until that has lasted a day");
            return;
        }
        let history = self.recorder.0.settings.config.borrow().history();
        let tidied = self.with(move |store| store.retain(now_ms(), history.days, history.bytes)).await;
        if let Some(Err(error)) = tidied {
            tracing::warn!(%error, "the history could not be shortened");
        }
        self.show().await;
    }

    /// Updates the snapshot.
    async fn show(&mut self) {
        let view = self.with(|store| store.view(now_ms())).await;
        if let Some(Ok(view)) = view {
            *self.recorder.0.view.lock() = view;
            self.recorder.0.health.send_modify(|health| health.views += 1);
        }
    }

    /// Runs a blocking operation on the store. `None` if there is no store.
    async fn with<T: Send + 'static>(
        &mut self,
        act: impl FnOnce(&mut Store) -> T + Send + 'static,
    ) -> Option<T> {
        let mut store = self.store.take()?;
        let acted = blocking(move || {
            may_fail_here("ledger");
            let done = act(&mut store);
            (store, done)
        })
        .await;
        let Some((store, done)) = acted else {
            // The present operation is lost; later ones are not.
            self.store = self.recorder.open_store().await;
            return None;
        };
        self.store = Some(store);
        Some(done)
    }

    fn passive(&self) -> bool {
        self.recorder.0.settings.passive
    }
}

/// `None` if it panicked.
async fn blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(act)
        .await
        // Without the panic's message, which may quote the data.
        .inspect_err(|error| tracing::error!(panicked = error.is_panic(), "the ledger failed"))
        .ok()
}

impl Recorder {
    /// The ledger's path.
    fn ledger_file(&self) -> PathBuf {
        self.0.settings.places.data.join("ledger.db")
    }

    async fn open_store(&self) -> Option<Store> {
        let path = self.ledger_file();
        match blocking(move || Store::open(&path, tokens::TOKENIZER, now_ms())).await? {
            Ok((store, damaged)) => {
                self.tell_damaged(damaged);
                Some(store)
            }
            Err(error) => {
                self.tell_unusable(&error);
                None
            }
        }
    }

    fn tell_damaged(&self, damaged: Option<Damaged>) {
        if let Some(Damaged { aside }) = damaged {
            tracing::warn!(aside = %aside.display(), "the history of calls was damaged and set aside");
            self.0.health.send_modify(|health| health.damaged = Some(aside));
        }
    }

    fn tell_unusable(&self, error: &StoreError) {
        let error = error.to_string();
        self.0.health.send_if_modified(|health| {
            let is_new = health.unusable.as_deref() != Some(&error);
            if is_new {
                tracing::warn!(%error, "calls are not recorded");
                health.unusable = Some(error);
            }
            is_new
        });
    }

    fn tell_usable(&self) {
        let usable = |health: &mut Health| health.unusable.take().is_some();
        self.0.health.send_if_modified(usable);
    }

    /// Waits until all earlier calls are written and counted, or until a timeout.
    pub async fn flush(&self) {
        let (answer, flushed) = oneshot::channel();
        if self.0.asked.send(Order::Flush(answer)).await.is_ok() {
            let _ = tokio::time::timeout(FLUSHING, flushed).await;
        }
    }

    /// Waits until all earlier events are written, or until a timeout.
    pub async fn written(&self) {
        let (answer, written) = oneshot::channel();
        if self.0.asked.send(Order::Write(answer)).await.is_ok() {
            let _ = tokio::time::timeout(FLUSHING, written).await;
        }
    }

    /// Deletes the history, and totals if `sums` is set.
    ///
    /// # Errors
    /// Why it could not be deleted, as the end of a sentence.
    pub async fn delete_history(&self, sums: bool) -> Result<(), String> {
        let gone = || "the ledger is not open".to_owned();
        let (answer, deleted) = oneshot::channel();
        self.0.asked.send(Order::Delete(sums, answer)).await.map_err(|_| gone())?;
        deleted.await.map_err(|_| gone())?.map_err(|error| error.to_string())
    }

    /// Reads the ledger concurrently with its writer.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Path) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, String> {
        let path = self.ledger_file();
        let read = blocking(move || read(&path)).await.ok_or("the ledger could not be read")?;
        read.map_err(|error| error.to_string())
    }
}
