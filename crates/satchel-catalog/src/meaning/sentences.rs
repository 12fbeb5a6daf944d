//! Loads the built-in sentence model on first use and unloads it when idle.

use std::{
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use parking_lot::Mutex;

use satchel_embed::{Cutting, HEAD, Model, ModelError, Role};
use tokio::time::Instant;

use crate::{
    catalog::search::TOKENS,
    config::file::SearchModel,
    files::{self, Places},
};

/// Environment variable with the path of another file; empty means no model.
pub const MODEL_VARIABLE: &str = "SATCHEL_MODEL";
/// Maximum size of a model file, in bytes.
const LARGEST: u64 = 256 * 1024 * 1024;
/// The model is unloaded after this long without use. Loading it again takes 30 ms.
const IDLE: Duration = Duration::from_secs(60);
/// The same for the multilingual model, which takes half a second to load, longer than a search waits.
const IDLE_IN_ANY_LANGUAGE: Duration = Duration::from_secs(5 * 60);

/// Where the model file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelFile {
    /// At this path.
    At(PathBuf),
    /// In none of the usual places.
    Missing,
    /// The environment switches the model off.
    Off,
}

/// Finds a model file: the one that the environment names, otherwise in the data directory and beside the program.
pub fn model_file(places: &Places, model: SearchModel) -> ModelFile {
    let named = std::env::var_os(MODEL_VARIABLE);
    let places = match &named {
        Some(named) if named.is_empty() => return ModelFile::Off,
        Some(named) => vec![PathBuf::from(named)],
        None => usual_places(places, &model.file_name(), std::env::current_exe().ok().as_deref()),
    };
    places.into_iter().find(|place| place.is_file()).map_or(ModelFile::Missing, ModelFile::At)
}

/// Where users put the file of a model that no installer contains.
pub fn model_place(places: &Places, model: SearchModel) -> PathBuf {
    places.data.join(model.file_name())
}

fn usual_places(places: &Places, file: &str, program: Option<&Path>) -> Vec<PathBuf> {
    let beside = program.and_then(Path::parent).into_iter().flat_map(|directory| {
        // Beside the program, in the build directory, and where the installers for Linux and macOS put it.
        ["", "../model", "../lib/Satchel", "../Resources"].map(|place| directory.join(place).join(file))
    });
    std::iter::once(places.data.join(file)).chain(beside).collect()
}

/// Why the model cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SentencesError {
    #[error("the sentence model cannot be read: {0}")]
    Read(#[from] std::io::Error),
    #[error("the sentence model cannot be used: {0}")]
    Model(#[from] ModelError),
}

/// The model of one file. Cheap to clone; all clones share it.
#[derive(Debug, Clone)]
pub(super) struct Sentences {
    file: PathBuf,
    /// Which model it was chosen as.
    pub(super) chosen: SearchModel,
    /// Identifies the model, and with it the vectors it computed.
    pub(super) id: u64,
    /// Whether requests may be in other languages than the tools' descriptions.
    pub(super) any_language: bool,
    loaded: Arc<Mutex<Loaded>>,
}

#[derive(Debug, Default)]
struct Loaded {
    /// Loaded by the first caller that needs it; others wait.
    model: Arc<OnceLock<Option<Model>>>,
    used: Option<Instant>,
    /// A request used it, so the next one may come soon.
    requested: bool,
}

impl Sentences {
    /// Reads only the header of the file.
    pub(super) fn open(file: &Path, chosen: SearchModel) -> Result<Self, SentencesError> {
        let mut head = [0; HEAD];
        files::open_plain(file)?.read_exact(&mut head)?;
        let (id, cutting) = satchel_embed::id(&head)?;
        let any_language = cutting == Cutting::Pieces;
        Ok(Self { file: file.to_owned(), chosen, id, any_language, loaded: Arc::default() })
    }

    /// One vector per tool's text; `None` if the file has changed. CPU-bound, so call it on a blocking thread.
    pub(super) fn of_tools(&self, texts: &[String]) -> Option<Vec<Vec<f32>>> {
        self.with_model(false, |model| {
            texts.iter().map(|text| model.embed(Role::Passage, text, TOKENS)).collect()
        })
    }

    /// The same for a request: first the whole text, then its parts.
    pub(super) fn of_request(&self, request: &[String]) -> Option<Vec<Vec<f32>>> {
        self.with_model(true, |model| model.embed_request(request))
    }

    fn with_model<T>(&self, is_request: bool, compute: impl FnOnce(&Model) -> T) -> Option<T> {
        let model = {
            let mut loaded = self.loaded();
            loaded.used = Some(Instant::now());
            loaded.requested |= is_request;
            loaded.model.clone()
        };
        let model = model.get_or_init(|| {
            self.read().inspect_err(|error| tracing::warn!(%error, "searching by words only")).ok()
        });
        model.as_ref().map(compute)
    }

    fn read(&self) -> Result<Model, SentencesError> {
        let mut bytes = Vec::new();
        files::open_plain(&self.file)?.take(LARGEST).read_to_end(&mut bytes)?;
        let model = Model::read(bytes)?;
        if model.id() == self.id { Ok(model) } else { Err(ModelError::Kind.into()) }
    }

    /// Unloads the model if it has been idle. Returns whether it is still in memory.
    pub(super) fn rest(&self) -> bool {
        let idle = if self.any_language { IDLE_IN_ANY_LANGUAGE } else { IDLE };
        let mut loaded = self.loaded();
        if loaded.used.is_some_and(|used| used.elapsed() >= idle) {
            *loaded = Loaded::default();
        }
        loaded.used.is_some()
    }

    /// Unloads the model once the tools have their vectors, unless it serves requests or takes long to load.
    pub(super) fn rest_after_tools(&self) {
        let mut loaded = self.loaded();
        if !loaded.requested && !self.any_language {
            *loaded = Loaded::default();
        }
    }

    fn loaded(&self) -> parking_lot::MutexGuard<'_, Loaded> {
        self.loaded.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "all-MiniLM-L6-v2.int8";

    fn open(file: &Path) -> Result<Sentences, SentencesError> {
        Sentences::open(file, SearchModel::English)
    }

    /// A model that knows two words, in a directory that has to stay.
    fn toy() -> (tempfile::TempDir, Sentences) {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FILE);
        std::fs::write(&file, satchel_embed::toy(&[&["read"], &["file"]])).unwrap();
        let sentences = open(&file).unwrap();
        (home, sentences)
    }

    #[test]
    fn a_model_is_found_in_the_data_and_beside_the_program() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::below(home.path());
        let program = home.path().join("bin/satchel");
        let usual = usual_places(&places, FILE, Some(&program));
        for place in [places.data.join(FILE), home.path().join("bin").join(FILE)] {
            assert!(usual.contains(&place), "{usual:?}");
        }
        assert_eq!(usual_places(&places, FILE, None), [places.data.join(FILE)]);
    }

    #[test]
    fn a_file_that_is_no_model_is_refused_and_one_that_was_damaged_says_nothing() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FILE);
        assert!(matches!(open(&file), Err(SentencesError::Read(_))));
        std::fs::write(&file, "something else, and long enough").unwrap();
        assert!(matches!(open(&file), Err(SentencesError::Model(ModelError::Kind))));
        std::fs::write(&file, &satchel_embed::toy(&[&["read"]])[..200]).unwrap();
        assert_eq!(open(&file).unwrap().of_tools(&["read a file".to_owned()]), None);
    }

    #[tokio::test(start_paused = true)]
    async fn its_memory_is_given_back_and_it_is_read_again() {
        let (_home, sentences) = toy();
        assert!(!sentences.rest());
        let texts = ["read a file".to_owned()];
        let before = sentences.of_tools(&texts).unwrap();
        assert!(sentences.rest());
        tokio::time::advance(IDLE).await;
        assert!(!sentences.rest());
        assert_eq!(sentences.of_request(&texts).unwrap(), before);
    }

    #[tokio::test(start_paused = true)]
    async fn it_stays_for_requests_and_not_for_tools() {
        let (_home, sentences) = toy();
        let texts = ["read a file".to_owned()];
        sentences.of_tools(&texts).unwrap();
        sentences.rest_after_tools();
        assert!(!sentences.rest(), "nobody searched");
        sentences.of_request(&texts).unwrap();
        sentences.of_tools(&texts).unwrap();
        sentences.rest_after_tools();
        assert!(sentences.rest());
    }
}
