//! The task that owns the store: batches writes, has texts counted, enforces retention, and ends last.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::PoisonError,
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

/// What comes within this time is written as one.
const MOMENT: Duration = Duration::from_millis(100);
/// So many events are written without waiting for more, and at most so many as one.
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

pub(super) async fn run(recorder: Recorder, mailbox: Mailbox) {
    let store = recorder.open_store().await;
    let (now, passive) = (Instant::now(), recorder.0.settings.passive);
    Writer {
        recorder,
        mailbox,
        came: Came::default(),
        postponed: Vec::new(),
        store,
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
    /// What was taken from it, and waits for company.
    came: Came,
    /// What was asked for while texts were counted, and waits for that.
    postponed: Vec<Order>,
    /// Gone where the ledger cannot be used; then everything is lost, and said so.
    store: Option<Store>,
    count_at: Option<Instant>,
    /// At the latest.
    count_by: Option<Instant>,
    tidy_at: Instant,
    checked: bool,
    calendar: Calendar,
}

/// What is written as one, and what is to be done after that.
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
    /// The next that came, with its company: most calls come in some, and whoever asks for something is not kept waiting
    /// for it. Nothing wakes this for each event. May be given up: what was taken stays in `came`. False at the end.
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

    /// What is there already: all of it where somebody asked for something, which is about what came before.
    fn take(&mut self, came: &mut Came) {
        let most = if came.asked.is_empty() { BATCH } else { usize::MAX };
        while came.events.len() < most
            && let Ok((event, _)) = self.events.try_recv()
        {
            came.events.push(event);
        }
    }

    /// Everything there is; nothing comes after it.
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
                    let deleted = self.with(move |store| store.delete_history(sums)).await;
                    let _ = answer.send(deleted.unwrap_or(Ok(())));
                }
            }
            // What came while texts were counted.
            others.extend(self.postponed.drain(..));
        }
        self.show().await;
    }

    async fn record(&mut self, events: Vec<Event>) {
        let lost = self.recorder.0.outbox.take_lost();
        if lost > 0 {
            tracing::warn!(lost, "calls came faster than they could be recorded");
            let _ = self.with(move |store| store.lost(lost)).await;
        }
        if events.is_empty() {
            return;
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
        let recorded = self.with(move |store| store.record(&events)).await;
        match recorded {
            Some(Ok(damaged)) => {
                self.recorder.tell_damaged(damaged);
                self.recorder.tell_usable();
            }
            Some(Err(error)) => self.recorder.tell_unusable(&error),
            None => {}
        }
        let waiting = self.store.as_ref().map_or(0, Store::uncounted_bytes);
        if waiting > MUCH {
            self.count_at = Some(Instant::now());
        } else if waiting > 0 {
            let latest = *self.count_by.get_or_insert_with(|| Instant::now() + COUNTING);
            self.count_at = Some(latest.min(Instant::now() + QUIET));
        }
    }

    /// Has everything counted that waits for it.
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

    /// False where nothing could be counted.
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
        // Counting may take many seconds on a busy computer. What is to be written meanwhile does not wait for it.
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

    /// Writes events; what has to wait for the counting waits.
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
            tracing::warn!(
                "the date jumped ahead; nothing is deleted for its age until that has lasted a day"
            );
            return;
        }
        let history = self.recorder.0.settings.config.borrow().history();
        let tidied = self.with(move |store| store.retain(now_ms(), history.days, history.bytes)).await;
        if let Some(Err(error)) = tidied {
            tracing::warn!(%error, "the history could not be shortened");
        }
        self.show().await;
    }

    /// Tells the snapshot.
    async fn show(&mut self) {
        let view = self.with(|store| store.view(now_ms())).await;
        if let Some(Ok(view)) = view {
            *self.recorder.0.view.lock().unwrap_or_else(PoisonError::into_inner) = view;
            self.recorder.0.health.send_modify(|health| health.views += 1);
        }
    }

    /// Does something with the store where it may block. `None` where there is no store.
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
            // What it was about is lost; what comes next is not.
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

/// `None` where it panicked.
async fn blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(act)
        .await
        // Without the panic's message, which may quote what was being worked on.
        .inspect_err(|error| tracing::error!(panicked = error.is_panic(), "the ledger failed"))
        .ok()
}

impl Recorder {
    /// Where the ledger is.
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
        tracing::warn!(%error, "calls are not recorded");
        self.0.health.send_modify(|health| health.unusable = Some(error.to_string()));
    }

    fn tell_usable(&self) {
        let usable = |health: &mut Health| health.unusable.take().is_some();
        self.0.health.send_if_modified(usable);
    }

    /// Waits until everything that was called so far is written and counted, or for long enough.
    pub async fn flush(&self) {
        let (answer, flushed) = oneshot::channel();
        if self.0.asked.send(Order::Flush(answer)).await.is_ok() {
            let _ = tokio::time::timeout(FLUSHING, flushed).await;
        }
    }

    /// Waits until everything that happened so far is written, or for long enough.
    pub async fn written(&self) {
        let (answer, written) = oneshot::channel();
        if self.0.asked.send(Order::Write(answer)).await.is_ok() {
            let _ = tokio::time::timeout(FLUSHING, written).await;
        }
    }

    /// Deletes the history, and the sums too where `sums` says so.
    ///
    /// # Errors
    /// Why it could not be deleted, as a sentence's end.
    pub async fn delete_history(&self, sums: bool) -> Result<(), String> {
        let gone = || "the ledger is not open".to_owned();
        let (answer, deleted) = oneshot::channel();
        self.0.asked.send(Order::Delete(sums, answer)).await.map_err(|_| gone())?;
        deleted.await.map_err(|_| gone())?.map_err(|error| error.to_string())
    }

    /// Reads the ledger beside its writer.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Path) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, String> {
        let path = self.ledger_file();
        let read = blocking(move || read(&path)).await.ok_or("the ledger could not be read")?;
        read.map_err(|error| error.to_string())
    }
}
