//! Has tools and searches turned into vectors by the source that the configuration names, and keeps the vectors. Off
//! without one; when it fails, searches go by words alone and nobody waits for it.
//!
//! Theory of operation: one task follows the catalog and the configuration, has new texts turned into vectors and keeps
//! them in a file by the number of their text. A search asks for its own vector within a bound; after a failure nobody
//! is asked for a while.

use std::{
    collections::{HashSet, VecDeque},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::Hub;
use crate::{
    catalog::{
        embedding::{EmbedError, Source},
        search::{Meaning, Vectors},
    },
    config::file::EmbeddingSource,
    files,
};

const FORMAT: u32 = 1;
/// How long a search waits for its vector.
const QUERY: Duration = Duration::from_millis(400);
/// How long a portion of tools may take: the source may have to load its model first.
const PORTION_TIME: Duration = Duration::from_secs(120);
/// Texts that are asked for at once.
const PORTION: usize = 32;
/// After a failure nobody is asked for so long.
const PAUSE: Duration = Duration::from_secs(30);
/// Changes within this time are one.
const MOMENT: Duration = Duration::from_millis(300);
/// Searches whose vectors are remembered.
const QUERIES: usize = 64;
/// Characters of a search that are asked for.
const LONGEST: usize = 1_000;

/// The vectors, and who gives them.
#[derive(Debug, Default)]
pub(super) struct Meanings(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    named: Option<EmbeddingSource>,
    source: Option<Source>,
    vectors: Arc<Vectors>,
    queries: VecDeque<(String, Vec<f32>)>,
    not_before: Option<Instant>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    format: u32,
    url: String,
    model: String,
    /// The number of a text, and its vector as little-endian floats in base64.
    vectors: Vec<(u64, String)>,
}

impl Meanings {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn failed(&mut self, error: &EmbedError) {
        tracing::debug!(%error, "searches go by words alone");
        self.not_before = Some(Instant::now() + PAUSE);
    }

    fn rests(&self) -> bool {
        self.not_before.is_some_and(|moment| moment > Instant::now())
    }
}

impl Hub {
    /// What a search means, where a source says so in time.
    pub(super) async fn meaning(&self, query: &str) -> Option<Meaning> {
        let query: String = query.trim().chars().take(LONGEST).collect();
        let (source, vectors) = {
            let known = self.inner.meanings.known();
            let source = known.source.clone().filter(|_| !known.vectors.is_empty() && !query.is_empty())?;
            if let Some((_, vector)) = known.queries.iter().find(|(asked, _)| *asked == query) {
                return Meaning::of(vector, known.vectors.clone());
            }
            if known.rests() {
                return None;
            }
            (source, known.vectors.clone())
        };
        let answer = source.embed(&[&query], QUERY).await;
        let mut known = self.inner.meanings.known();
        match answer {
            Ok(mut answer) => {
                let vector = answer.pop()?;
                let meaning = Meaning::of(&vector, vectors);
                known.queries.push_back((query, vector));
                if known.queries.len() > QUERIES {
                    known.queries.pop_front();
                }
                meaning
            }
            Err(error) => {
                known.failed(&error);
                None
            }
        }
    }

    /// Keeps the vectors up to date for as long as the hub lives.
    pub(super) async fn keep_meanings(&self) {
        let (mut catalog, mut config) = (self.watch_catalog(), self.inner.config.subscribe());
        loop {
            let named = config.borrow_and_update().embedding().cloned();
            catalog.mark_unchanged();
            let done = match named {
                None => {
                    *self.inner.meanings.known() = Known::default();
                    true
                }
                Some(named) => self.follow_catalog(named).await,
            };
            // Without a source, only the configuration matters.
            let off = self.inner.meanings.known().named.is_none();
            tokio::select! {
                changed = config.changed() => if changed.is_err() { return },
                changed = catalog.changed(), if !off => if changed.is_err() { return },
                () = tokio::time::sleep(PAUSE), if !done => {}
                () = self.inner.end.cancelled() => return,
            }
            tokio::select! {
                () = tokio::time::sleep(MOMENT) => {}
                () = self.inner.end.cancelled() => return,
            }
        }
    }

    /// False where something is left to be asked for.
    async fn follow_catalog(&self, named: EmbeddingSource) -> bool {
        if self.inner.meanings.known().named.as_ref() != Some(&named) {
            let (path, wanted) = (self.vectors_file(), named.clone());
            let vectors = tokio::task::spawn_blocking(move || read(&path, &wanted)).await.unwrap_or_default();
            let source =
                Source::new(&named).inspect_err(|error| tracing::warn!(%error, "no embeddings")).ok();
            *self.inner.meanings.known() =
                Known { named: Some(named.clone()), source, vectors: Arc::new(vectors), ..Known::default() };
        }
        let (source, vectors) = {
            let known = self.inner.meanings.known();
            (known.source.clone(), known.vectors.clone())
        };
        let Some(source) = source else { return true };
        let texts = self.inner.catalog.borrow().meaning_texts();
        let missing: Vec<&(u64, String)> =
            texts.iter().filter(|(number, _)| !vectors.knows(*number)).collect();
        if missing.is_empty() {
            return true;
        }
        let mut vectors = Vectors::clone(&vectors);
        let wanted: HashSet<u64> = texts.iter().map(|(number, _)| *number).collect();
        vectors.keep(|number| wanted.contains(&number));
        let mut failed = false;
        for portion in missing.chunks(PORTION) {
            let asked: Vec<&str> = portion.iter().map(|(_, text)| text.as_str()).collect();
            let answer = tokio::select! {
                answer = source.embed(&asked, PORTION_TIME) => answer,
                () = self.inner.end.cancelled() => return true,
            };
            match answer {
                Ok(answer) => portion.iter().zip(answer).for_each(|((number, _), vector)| {
                    vectors.put(*number, &vector);
                }),
                Err(error) => {
                    self.inner.meanings.known().failed(&error);
                    failed = true;
                    break;
                }
            }
        }
        let vectors = Arc::new(vectors);
        {
            let mut known = self.inner.meanings.known();
            // The user may have named another meanwhile.
            if known.named.as_ref() != Some(&named) {
                return true;
            }
            known.vectors = vectors.clone();
        }
        let path = self.vectors_file();
        let written = tokio::task::spawn_blocking(move || write(&path, &named, &vectors)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(%error, "vectors of tools cannot be kept");
        }
        !failed
    }

    fn vectors_file(&self) -> PathBuf {
        self.places().data.join("vectors.json")
    }
}

/// What was kept for this source. What cannot be read is made anew: it is nobody's work.
fn read(path: &std::path::Path, named: &EmbeddingSource) -> Vectors {
    let mut vectors = Vectors::default();
    let stored = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Stored>(&bytes).ok());
    let is_its =
        |stored: &Stored| stored.format == FORMAT && stored.url == named.url && stored.model == named.model;
    for (number, text) in stored.filter(is_its).into_iter().flat_map(|stored| stored.vectors) {
        let Ok(bytes) = BASE64_STANDARD.decode(text) else { continue };
        let floats = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        vectors.put(number, &floats.collect::<Vec<_>>());
    }
    vectors
}

fn write(path: &std::path::Path, named: &EmbeddingSource, vectors: &Vectors) -> std::io::Result<()> {
    let coded = |(number, vector): (u64, &[f32])| {
        let bytes: Vec<u8> = vector.iter().flat_map(|part| part.to_le_bytes()).collect();
        (number, BASE64_STANDARD.encode(bytes))
    };
    let mut vectors: Vec<(u64, String)> = vectors.all().map(coded).collect();
    vectors.sort_unstable();
    let stored = Stored { format: FORMAT, url: named.url.clone(), model: named.model.clone(), vectors };
    files::replace(path, &serde_json::to_vec(&stored)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_back_for_the_source_they_are_from_and_for_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("vectors.json");
        let named = |model: &str| EmbeddingSource { url: "http://x".into(), model: model.into() };
        let mut vectors = Vectors::default();
        vectors.put(7, &[3.0, 4.0]);
        write(&path, &named("m"), &vectors).unwrap();
        let back = read(&path, &named("m"));
        let all: Vec<(u64, &[f32])> = back.all().collect();
        assert_eq!(all, [(7, &[0.6, 0.8][..])]);
        assert!(read(&path, &named("other")).is_empty());
        std::fs::write(&path, "{\"format\":1").unwrap();
        assert!(read(&path, &named("m")).is_empty());
    }
}
