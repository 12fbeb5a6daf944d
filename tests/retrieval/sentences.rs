//! The sentence model, and its vectors of tools: kept below the target directory, so that only the first run waits.

use std::{
    cell::RefCell,
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use satchel_core::catalog::{
    Catalog,
    search::{TOKENS, Vector, Vectors},
};
use satchel_embed::{Cutting, HEAD, Model, Role};

/// Vectors are computed on so many threads.
const THREADS: usize = 4;

pub(crate) struct Sentences {
    model: Model,
    pub(crate) any_language: bool,
    known: RefCell<HashMap<String, Vec<f32>>>,
    requests: RefCell<HashMap<Vec<String>, Vec<Vec<f32>>>>,
    file: PathBuf,
    read: usize,
}

impl Sentences {
    /// The file that SATCHEL_MODEL names, or else what `make model` makes.
    pub(crate) fn read() -> Option<Self> {
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
        let usual = || target.join("model/all-MiniLM-L6-v2.int8");
        let file = std::env::var_os("SATCHEL_MODEL").map_or_else(usual, PathBuf::from);
        let bytes = fs::read(file).ok()?;
        let (_, cutting) = satchel_embed::id(bytes.first_chunk::<HEAD>()?).ok()?;
        let model = Model::read(bytes).ok()?;
        let file = target.join(format!("retrieval-{:x}.vectors", model.id()));
        let known = fs::read(&file).map(|bytes| unpack(&bytes, model.length())).unwrap_or_default();
        Some(Self {
            read: known.len(),
            known: RefCell::new(known),
            requests: RefCell::default(),
            model,
            any_language: cutting == Cutting::Pieces,
            file,
        })
    }

    /// Computes the vectors of those texts that have none, on several threads.
    fn learn<'a>(&self, texts: impl Iterator<Item = &'a str>) {
        let missing: Vec<&str> = {
            let known = self.known.borrow();
            texts.filter(|text| !known.contains_key(*text)).collect()
        };
        let (model, share) = (&self.model, missing.len().div_ceil(THREADS).max(1));
        let embed = move |text: &&str| ((*text).to_owned(), model.embed(Role::Passage, text, TOKENS));
        let vectors: Vec<(String, Vec<f32>)> = std::thread::scope(|scope| {
            let running: Vec<_> = missing
                .chunks(share)
                .map(|texts| scope.spawn(move || texts.iter().map(embed).collect::<Vec<_>>()))
                .collect();
            running.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        self.known.borrow_mut().extend(vectors);
    }

    /// A request's vectors as the hub makes them.
    pub(crate) fn of_new_request(&self, parts: &[String]) -> Vec<Vec<f32>> {
        self.model.embed_request(parts)
    }

    /// The same; several tables ask for each request.
    pub(crate) fn of_request(&self, parts: &[String]) -> Vec<Vec<f32>> {
        let mut requests = self.requests.borrow_mut();
        requests.entry(parts.to_vec()).or_insert_with(|| self.of_new_request(parts)).clone()
    }

    pub(crate) fn of_tools(&self, catalog: &Catalog) -> Vectors {
        let texts = catalog.meaning_texts();
        self.learn(texts.iter().map(|(_, text)| text.as_str()));
        let (mut vectors, known) = (Vectors::default(), self.known.borrow());
        for (number, text) in &texts {
            if let Some(vector) = known.get(text).and_then(|vector| Vector::of(vector)) {
                vectors.put(*number, vector);
            }
        }
        vectors
    }

    /// For the next run.
    pub(crate) fn keep(&self) {
        let known = self.known.borrow();
        if known.len() > self.read {
            let mut bytes = Vec::new();
            for (text, vector) in known.iter() {
                bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
                bytes.extend_from_slice(text.as_bytes());
                vector.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
            }
            if let Err(error) = fs::write(&self.file, bytes) {
                eprintln!("vectors are not kept: {error}");
            }
        }
    }
}

fn unpack(mut bytes: &[u8], length: usize) -> HashMap<String, Vec<f32>> {
    let mut known = HashMap::new();
    while let Some((size, rest)) = bytes.split_first_chunk::<4>() {
        let size = u32::from_le_bytes(*size) as usize;
        let Some((text, rest)) = rest.split_at_checked(size) else { break };
        let Some((vector, rest)) = rest.split_at_checked(4 * length) else { break };
        let numbers = vector.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        known.insert(String::from_utf8_lossy(text).into_owned(), numbers.collect());
        bytes = rest;
    }
    known
}
