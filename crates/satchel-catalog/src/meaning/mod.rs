//! Embeds tools and queries with the built-in model or the configured source. Where neither is available, fails or is
//! late, search uses words alone.
//!
//! Theory of operation: one task follows the catalog and the configuration, embeds new texts a few at a time and stores
//! the vectors in a file by the hash of their text. The built-in model runs on a blocking thread, one text after
//! another with pauses; its file may appear while the hub runs. A search waits for its query's vectors up to a bound;
//! after a failure the source is left alone for a while.

mod sentences;

use std::{
    collections::{HashSet, VecDeque},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

pub use sentences::{MODEL_VARIABLE, ModelFile, model_file, model_place};

use crate::{
    catalog::{
        Catalog,
        embedding::{EmbedError, EmbeddingClient},
        search::{Meaning, Vector, Vectors},
    },
    config::{
        Config,
        file::{EmbeddingSource, SearchModel},
    },
    files::{self, Places},
};
use sentences::Sentences;

const FORMAT: u32 = 2;
/// How long a search waits for the vectors of a source on the network.
const ASKED: Duration = Duration::from_millis(400);
/// How long a search waits for the built-in model. It takes 20 ms for the longest request, and 30 ms more to load.
const COMPUTED: Duration = Duration::from_millis(150);
/// The same for the multilingual model, which is several times slower. Words find little across languages.
const COMPUTED_IN_ANY_LANGUAGE: Duration = ASKED;
/// Timeout for a batch of tools: the source may have to load its model first.
const PORTION_TIME: Duration = Duration::from_secs(120);
/// Texts per batch.
const PORTION: usize = 32;
/// After each text the built-in model pauses for this share of the time the text took.
const REST: f64 = 0.4;
/// Batches between two writes of the vectors to disk.
const WRITTEN: usize = 32;
/// How long a failed source is left alone.
const PAUSE: Duration = Duration::from_secs(30);
/// Interval of checking whether a missing model has appeared and whether an idle one can be unloaded.
const LOOK: Duration = Duration::from_secs(10);
/// Changes within this time are handled together.
const MOMENT: Duration = Duration::from_millis(300);
/// Number of recent searches whose vectors are cached.
const QUERIES: usize = 64;
/// Maximum characters of a search that are embedded; word search reads the same number, so both see the same parts.
const LONGEST: usize = 2_000;
/// A request with more parts is sent to a configured source as a whole. The built-in model limits its work itself.
const PARTS: usize = 6;
/// Maximum number of vectors that are kept for tools that are no longer offered.
const SPARE: usize = 5_000;

/// The vectors and the source that computes them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Meanings(Arc<Embedder>);

#[derive(Debug)]
struct Embedder {
    places: Places,
    /// Set for a single command: only what it asks for is computed.
    passive: bool,
    config: watch::Receiver<Arc<Config>>,
    catalog: watch::Receiver<Catalog>,
    end: CancellationToken,
    known: Mutex<KnownVector>,
}

#[derive(Debug, Default)]
struct KnownVector {
    giver: Option<Giver>,
    vectors: Arc<Vectors>,
    queries: VecDeque<(String, Vec<Vec<f32>>)>,
    not_before: Option<Instant>,
}

/// Turns texts into vectors.
#[derive(Debug, Clone)]
enum Giver {
    Named(EmbeddingSource, EmbeddingClient),
    BuiltIn(Sentences),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct VectorOrigin {
    /// Empty for the built-in model.
    url: String,
    model: String,
}

#[derive(Serialize, Deserialize)]
struct VectorFile {
    format: u32,
    #[serde(flatten)]
    origin: VectorOrigin,
    /// The hash of each text, and its vector in base64.
    vectors: Vec<(u64, String)>,
}

impl Giver {
    fn named(named: &EmbeddingSource) -> Option<Self> {
        let source = EmbeddingClient::new(named).inspect_err(|error| tracing::warn!(%error, "no embeddings"));
        Some(Self::Named(named.clone(), source.ok()?))
    }

    fn built_in(file: &Path, chosen: SearchModel) -> Option<Self> {
        let sentences = Sentences::open(file, chosen)
            .inspect_err(|error| tracing::warn!(%error, "searching by words only"));
        Some(Self::BuiltIn(sentences.ok()?))
    }

    /// Identifies the model that computed the vectors; vectors of other models cannot be compared with its own.
    fn origin(&self) -> VectorOrigin {
        match self {
            Self::Named(EmbeddingSource { url, model }, _) => {
                VectorOrigin { url: url.clone(), model: model.clone() }
            }
            Self::BuiltIn(sentences) => VectorOrigin {
                url: String::new(),
                model: format!("{} {:016x}", sentences.chosen.name(), sentences.id),
            },
        }
    }

    /// Whether it is known to read English only. What a named source reads is not known.
    fn reads_english(&self) -> bool {
        matches!(self, Self::BuiltIn(sentences) if !sentences.any_language)
    }

    /// The request's meaning, if its vectors are usable.
    fn meaning(&self, request: &[Vec<f32>], vectors: Arc<Vectors>) -> Option<Meaning> {
        let meaning = Meaning::of(request, vectors)?;
        Some(if self.reads_english() { meaning.by_english_model() } else { meaning })
    }

    /// Whether requests may be in other languages than the tools' descriptions.
    fn any_language(&self) -> bool {
        matches!(self, Self::BuiltIn(sentences) if sentences.any_language)
    }

    async fn of_request(&self, parts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        match self {
            Self::Named(_, source) => {
                let asked = if parts.len() > PARTS + 1 { &parts[..1] } else { parts };
                let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
                source.embed(&asked, ASKED).await
            }
            Self::BuiltIn(sentences) => {
                let most = if sentences.any_language { COMPUTED_IN_ANY_LANGUAGE } else { COMPUTED };
                let late = || EmbedError::Answer(format!("nothing within {most:?}"));
                let computed = compute(sentences, parts, Sentences::of_request);
                tokio::time::timeout(most, computed).await.map_err(|_| late())?
            }
        }
    }

    async fn of_tools(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        match self {
            Self::Named(_, source) => {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                source.embed(&texts, PORTION_TIME).await
            }
            Self::BuiltIn(sentences) => {
                let mut vectors = Vec::new();
                for text in texts {
                    let began = Instant::now();
                    let text = std::slice::from_ref(text);
                    vectors.append(&mut compute(sentences, text, Sentences::of_tools).await?);
                    tokio::time::sleep(began.elapsed().mul_f64(REST)).await;
                }
                Ok(vectors)
            }
        }
    }
}

/// Computes one vector per text; `None` without a model.
type Embedding = fn(&Sentences, &[String]) -> Option<Vec<Vec<f32>>>;

async fn compute(
    sentences: &Sentences,
    texts: &[String],
    how: Embedding,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let (sentences, texts) = (sentences.clone(), texts.to_vec());
    let computed = tokio::task::spawn_blocking(move || how(&sentences, &texts)).await;
    computed.ok().flatten().ok_or_else(|| EmbedError::Answer("nothing: its file cannot be used".to_owned()))
}

impl Meanings {
    /// Computes nothing until [`Self::run`] is polled.
    pub fn new(
        places: Places,
        passive: bool,
        config: watch::Receiver<Arc<Config>>,
        catalog: watch::Receiver<Catalog>,
        end: CancellationToken,
    ) -> Self {
        Self(Arc::new(Embedder { places, passive, config, catalog, end, known: Mutex::default() }))
    }

    fn known(&self) -> MutexGuard<'_, KnownVector> {
        self.0.known.lock()
    }
}

impl KnownVector {
    fn failed(&mut self, error: &EmbedError) {
        tracing::debug!(%error, "searching by words only");
        // The built-in model may be loaded by now, and a search waits for it only briefly.
        if matches!(self.giver, Some(Giver::Named(..))) {
            self.not_before = Some(Instant::now() + PAUSE);
        }
    }

    fn rests(&self) -> bool {
        self.not_before.is_some_and(|moment| moment > Instant::now())
    }

    fn origin(&self) -> Option<VectorOrigin> {
        self.giver.as_ref().map(Giver::origin)
    }
}

impl Meanings {
    /// The vectors of a search, if they are computed in time. `parts` splits a request that asks for several things;
    /// its flag says that the model reads any language and the text is to stay as written.
    pub async fn of(&self, query: &str, parts: impl FnOnce(&str, bool) -> Vec<String>) -> Option<Meaning> {
        let query: String = query.trim().chars().take(LONGEST).collect();
        let (giver, vectors) = {
            let known = self.known();
            let giver = known.giver.clone().filter(|_| !known.vectors.is_empty() && !query.is_empty())?;
            if let Some((_, parts)) = known.queries.iter().find(|(asked, _)| *asked == query) {
                return giver.meaning(parts, known.vectors.clone());
            }
            if known.rests() {
                return None;
            }
            (giver, known.vectors.clone())
        };
        let answer = giver.of_request(&parts(&query, giver.any_language())).await;
        let mut known = self.known();
        match answer {
            Ok(answer) => {
                let meaning = giver.meaning(&answer, vectors);
                known.queries.push_back((query, answer));
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

    /// Keeps the vectors up to date until shutdown.
    pub async fn run(&self) {
        let (mut catalog, mut config) = (self.0.catalog.clone(), self.0.config.clone());
        loop {
            let wanted = config.borrow_and_update().clone();
            catalog.mark_unchanged();
            self.choose_giver(&wanted).await;
            let giver = self.known().giver.clone();
            let done = match &giver {
                None => true,
                Some(giver) => self.follow_catalog(giver).await,
            };
            loop {
                let looks = wanted.searches_by_meaning() && wanted.embedding().is_none();
                tokio::select! {
                    changed = config.changed() => if changed.is_err() { return } else { break },
                    // Without a model, only the configuration matters.
                    changed = catalog.changed(), if giver.is_some() => if changed.is_err() { return } else { break },
                    () = tokio::time::sleep(PAUSE), if !done => break,
                    () = tokio::time::sleep(LOOK), if looks => match &giver {
                        None => break,
                        Some(Giver::BuiltIn(sentences)) => { sentences.rest(); }
                        Some(Giver::Named(..)) => {}
                    },
                    () = self.0.end.cancelled() => return,
                }
            }
            tokio::select! {
                () = tokio::time::sleep(MOMENT) => {}
                () = self.0.end.cancelled() => return,
            }
        }
    }

    /// Selects the configured source, otherwise the built-in model if its file exists.
    async fn choose_giver(&self, config: &Config) {
        let named = config.embedding().filter(|_| config.searches_by_meaning());
        let keeps = match (&self.known().giver, named) {
            (Some(Giver::Named(before, _)), Some(named)) => before == named,
            (Some(Giver::BuiltIn(sentences)), None) => {
                config.searches_by_meaning() && sentences.chosen == config.search_model()
            }
            _ => false,
        };
        if keeps {
            return;
        }
        let giver = match named {
            Some(named) => Giver::named(named),
            None if config.searches_by_meaning() => {
                let (places, model) = (self.0.places.clone(), config.search_model());
                let open = move || match model_file(&places, model) {
                    ModelFile::At(file) => Giver::built_in(&file, model),
                    ModelFile::Missing | ModelFile::Off => None,
                };
                tokio::task::spawn_blocking(open).await.ok().flatten()
            }
            None => None,
        };
        let vectors = match giver.as_ref().map(Giver::origin) {
            Some(origin) => {
                let path = self.vectors_file();
                tokio::task::spawn_blocking(move || read(&path, &origin)).await.unwrap_or_default()
            }
            None => Vectors::default(),
        };
        *self.known() = KnownVector { giver, vectors: Arc::new(vectors), ..KnownVector::default() };
    }

    /// Embeds the tools that have no vector yet. Returns false if some are left.
    async fn follow_catalog(&self, giver: &Giver) -> bool {
        let known = self.known().vectors.clone();
        let texts = self.0.catalog.borrow().meaning_texts();
        let missing: Vec<&(u64, String)> = texts.iter().filter(|(number, _)| !known.knows(*number)).collect();
        // A single command exits before anything could be computed.
        if missing.is_empty() || self.0.passive {
            return true;
        }
        let mut vectors = Vectors::clone(&known);
        if vectors.len() > texts.len() + SPARE {
            let wanted: HashSet<u64> = texts.iter().map(|(number, _)| *number).collect();
            vectors = vectors.only(|number| wanted.contains(&number));
        }
        let mut failed = false;
        for (at, portion) in (1..).zip(missing.chunks(PORTION)) {
            let asked: Vec<String> = portion.iter().map(|(_, text)| text.clone()).collect();
            let answer = tokio::select! {
                answer = giver.of_tools(&asked) => answer,
                () = self.0.end.cancelled() => return true,
            };
            match answer {
                Ok(answer) => {
                    for ((number, _), vector) in portion.iter().zip(answer) {
                        vectors.put(*number, Vector::of(&vector).unwrap_or_else(Vector::nowhere));
                    }
                }
                Err(error) => {
                    self.known().failed(&error);
                    failed = true;
                    break;
                }
            }
            // The configuration may have changed meanwhile.
            if !self.is_wanted(giver) {
                return true;
            }
            if at % WRITTEN == 0 {
                self.take_in(giver, &vectors).await;
            }
        }
        self.take_in(giver, &vectors).await;
        if let Giver::BuiltIn(sentences) = giver {
            sentences.rest_after_tools();
        }
        !failed
    }

    fn is_wanted(&self, giver: &Giver) -> bool {
        let config = self.0.config.borrow().clone();
        let named = config.embedding();
        config.searches_by_meaning()
            && match giver {
                Giver::Named(ours, _) => named == Some(ours),
                Giver::BuiltIn(sentences) => named.is_none() && sentences.chosen == config.search_model(),
            }
    }

    /// Publishes these vectors to searches and writes them to disk.
    async fn take_in(&self, giver: &Giver, vectors: &Vectors) {
        let (vectors, origin) = (Arc::new(vectors.clone()), giver.origin());
        {
            let mut known = self.known();
            if known.origin().as_ref() != Some(&origin) {
                return;
            }
            known.vectors = vectors.clone();
        }
        let path = self.vectors_file();
        let written = tokio::task::spawn_blocking(move || write(&path, origin, &vectors)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(%error, "cannot store the vectors of tools");
        }
    }

    fn vectors_file(&self) -> PathBuf {
        self.0.places.data.join("vectors.json")
    }
}

/// Reads the stored vectors of this origin. An unreadable file is ignored, because vectors can be computed again.
fn read(path: &Path, origin: &VectorOrigin) -> Vectors {
    let mut vectors = Vectors::default();
    let stored =
        files::read_data(path).ok().and_then(|bytes| serde_json::from_slice::<VectorFile>(&bytes).ok());
    let is_its = |stored: &VectorFile| stored.format == FORMAT && stored.origin == *origin;
    for (number, text) in stored.filter(is_its).into_iter().flat_map(|stored| stored.vectors) {
        let bytes = BASE64_STANDARD.decode(text).unwrap_or_default();
        Vector::from_bytes(&bytes).into_iter().for_each(|vector| vectors.put(number, vector));
    }
    vectors
}

fn write(path: &Path, origin: VectorOrigin, vectors: &Vectors) -> std::io::Result<()> {
    let coded = |(number, vector): (u64, Vector)| (number, BASE64_STANDARD.encode(vector.to_bytes()));
    let mut vectors: Vec<(u64, String)> = vectors.all().map(coded).collect();
    vectors.sort_unstable();
    files::replace(path, &serde_json::to_vec(&VectorFile { format: FORMAT, origin, vectors })?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn vectors_come_back_for_the_source_they_are_from_and_for_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("vectors.json");
        let origin = |model: &str| VectorOrigin { url: "http://x".into(), model: model.into() };
        let vector = Vector::of(&[3.0, 4.0]).unwrap();
        let mut vectors = Vectors::default();
        vectors.put(7, vector.clone());
        write(&path, origin("m"), &vectors).unwrap();
        let back = read(&path, &origin("m"));
        let all: Vec<(u64, Vector)> = back.all().collect();
        assert_eq!(all, [(7, vector)]);
        assert!(read(&path, &origin("other")).is_empty());
        std::fs::write(&path, "{\"format\":2").unwrap();
        assert!(read(&path, &origin("m")).is_empty());
    }

    /// Waits until a search for this has a meaning, and the vectors on disk are of that model.
    async fn taken_in(meanings: &Meanings, text: &str, model: &str) {
        let kept = || std::fs::read_to_string(meanings.vectors_file()).unwrap_or_default();
        let parts = |query: &str, _| vec![query.to_owned()];
        while meanings.of(text, parts).await.is_none() || !kept().contains(model) {
            tokio::time::sleep(MOMENT).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_search_goes_by_the_model_that_is_chosen_and_by_words_until_its_vectors_are_there() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::below(home.path());
        std::fs::create_dir_all(&places.data).unwrap();
        let english = satchel_embed::toy(&[&["echo", "parrot"]]);
        std::fs::write(places.data.join(SearchModel::English.file_name()), english).unwrap();
        let catalog = Catalog::new(BTreeMap::from([("birds".parse().unwrap(), Arc::new(echo()))]));
        let (config, followed) = watch::channel(Arc::new(Config::default()));
        let (_catalog, offered) = watch::channel(catalog);
        let end = CancellationToken::new();
        let meanings = Meanings::new(places.clone(), false, followed, offered, end.clone());
        let switched = async {
            taken_in(&meanings, "parrot", "all-MiniLM-L6-v2").await;
            let chosen = Config::parse(r#"{"search": {"model": "multilingual"}}"#).unwrap();
            config.send_replace(Arc::new(chosen));
            // Its file is missing.
            while meanings.of("parrot", |query, _| vec![query.to_owned()]).await.is_some() {
                tokio::time::sleep(MOMENT).await;
            }
            let pieces = satchel_embed::toy_cutting(satchel_embed::Cutting::Pieces, &[&["echo", "鸚鵡"]]);
            std::fs::write(model_place(&places, SearchModel::Multilingual), pieces).unwrap();
            taken_in(&meanings, "鸚鵡", "multilingual-e5-small").await;
            end.cancel();
        };
        tokio::join!(meanings.run(), switched);
    }

    fn echo() -> crate::catalog::Offer {
        let raw =
            satchel_mcp::Raw::from_string(r#"{"name": "echo", "description": "echo"}"#.to_owned()).unwrap();
        let fields = satchel_mcp::RawObject::parse(&raw).unwrap();
        let tool = crate::catalog::ToolEntry::new("echo".to_owned(), &fields, raw);
        crate::catalog::Offer { tools: vec![tool], ..Default::default() }
    }
}
