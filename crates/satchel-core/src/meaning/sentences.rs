//! Loads the built-in sentence model on first use and unloads it when idle.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use parking_lot::Mutex;

use satchel_embed::{Cutting, HEAD, Model, ModelError, Role};
use tokio::time::Instant;

use crate::{catalog::search::TOKENS, config::file::SearchModel, files::Places};

impl SearchModel {
    /// How it is called.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::English => "all-MiniLM-L6-v2",
            Self::Multilingual => "multilingual-e5-small",
        }
    }

    /// The name of its file.
    pub(crate) fn file_name(self) -> String {
        format!("{}.int8", self.name())
    }
}

/// Names another file; empty, there is to be none.
pub const MODEL_VARIABLE: &str = "SATCHEL_MODEL";
/// Nobody ships a larger one.
const LARGEST: u64 = 256 * 1024 * 1024;
/// Its memory is given back when it was not needed for so long: to read it again takes 30 ms, …
const IDLE: Duration = Duration::from_secs(60);
/// … and half a second where it reads any language, which is more than a search waits.
const IDLE_IN_ANY_LANGUAGE: Duration = Duration::from_secs(5 * 60);

/// Where the model lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelFile {
    /// Here.
    At(PathBuf),
    /// Nowhere that was looked at.
    Missing,
    /// It was switched off by the environment.
    Off,
}

/// Looks for a model: where the environment says, else in the data directory and beside the program.
pub fn model_file(places: &Places, model: SearchModel) -> ModelFile {
    let named = std::env::var_os(MODEL_VARIABLE);
    let places = match &named {
        Some(named) if named.is_empty() => return ModelFile::Off,
        Some(named) => vec![PathBuf::from(named)],
        None => usual_places(places, &model.file_name(), std::env::current_exe().ok().as_deref()),
    };
    places.into_iter().find(|place| place.is_file()).map_or(ModelFile::Missing, ModelFile::At)
}

/// Where a person puts the file of a model that installers do not carry.
pub fn model_place(places: &Places, model: SearchModel) -> PathBuf {
    places.data.join(model.file_name())
}

fn usual_places(places: &Places, file: &str, program: Option<&Path>) -> Vec<PathBuf> {
    let beside = program.and_then(Path::parent).into_iter().flat_map(|directory| {
        // Beside the program; where a build keeps it; where the installers of Linux and of macOS put it.
        ["", "../model", "../lib/Satchel", "../Resources"].map(|place| directory.join(place).join(file))
    });
    std::iter::once(places.data.join(file)).chain(beside).collect()
}

/// Why the model says nothing.
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
    /// What tells its vectors from those of other models.
    pub(super) id: u64,
    /// Does it read requests in other languages than the tools'?
    pub(super) any_language: bool,
    loaded: Arc<Mutex<Loaded>>,
}

#[derive(Debug, Default)]
struct Loaded {
    /// Whoever needs it first reads it; others wait for that.
    model: Arc<OnceLock<Option<Model>>>,
    used: Option<Instant>,
}

impl Sentences {
    /// Looks at the beginning of the file only.
    pub(super) fn open(file: &Path, chosen: SearchModel) -> Result<Self, SentencesError> {
        let mut head = [0; HEAD];
        File::open(file)?.read_exact(&mut head)?;
        let (id, cutting) = satchel_embed::id(&head)?;
        let any_language = cutting == Cutting::Pieces;
        Ok(Self { file: file.to_owned(), chosen, id, any_language, loaded: Arc::default() })
    }

    /// A vector for each tool's text, or none where the file is no longer what it was. Computes; not for async workers.
    pub(super) fn of_tools(&self, texts: &[String]) -> Option<Vec<Vec<f32>>> {
        self.with_model(|model| texts.iter().map(|text| model.embed(Role::Passage, text, TOKENS)).collect())
    }

    /// The same for a request, which has the whole first, then its parts.
    pub(super) fn of_request(&self, request: &[String]) -> Option<Vec<Vec<f32>>> {
        self.with_model(|model| model.embed_request(request))
    }

    fn with_model<T>(&self, compute: impl FnOnce(&Model) -> T) -> Option<T> {
        let model = {
            let mut loaded = self.loaded();
            loaded.used = Some(Instant::now());
            loaded.model.clone()
        };
        let model = model.get_or_init(|| {
            self.read().inspect_err(|error| tracing::warn!(%error, "searching by words only")).ok()
        });
        model.as_ref().map(compute)
    }

    fn read(&self) -> Result<Model, SentencesError> {
        let mut bytes = Vec::new();
        File::open(&self.file)?.take(LARGEST).read_to_end(&mut bytes)?;
        let model = Model::read(bytes)?;
        if model.id() == self.id { Ok(model) } else { Err(ModelError::Kind.into()) }
    }

    /// Gives its memory back where it has been idle. True while it is in memory.
    pub(super) fn rest(&self) -> bool {
        let idle = if self.any_language { IDLE_IN_ANY_LANGUAGE } else { IDLE };
        let mut loaded = self.loaded();
        if loaded.used.is_some_and(|used| used.elapsed() >= idle) {
            *loaded = Loaded::default();
        }
        loaded.used.is_some()
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
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FILE);
        std::fs::write(&file, satchel_embed::toy(&[&["read"], &["file"]])).unwrap();
        let sentences = open(&file).unwrap();
        assert!(!sentences.rest());
        let texts = ["read a file".to_owned()];
        let before = sentences.of_tools(&texts).unwrap();
        assert!(sentences.rest());
        tokio::time::advance(IDLE).await;
        assert!(!sentences.rest());
        assert_eq!(sentences.of_request(&texts).unwrap(), before);
    }
}
