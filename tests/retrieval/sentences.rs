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
use satchel_embed::Model;

pub(crate) struct Sentences {
    model: Model,
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
        let model = Model::read(fs::read(file).ok()?).ok()?;
        let file = target.join(format!("retrieval-{:x}.vectors", model.id()));
        let known = fs::read(&file).map(|bytes| unpack(&bytes, model.length())).unwrap_or_default();
        Some(Self {
            read: known.len(),
            known: RefCell::new(known),
            requests: RefCell::default(),
            model,
            file,
        })
    }

    fn of(&self, text: &str) -> Vec<f32> {
        let known = self.known.borrow().get(text).cloned();
        known.unwrap_or_else(|| {
            let vector = self.model.embed(text, TOKENS);
            self.known.borrow_mut().insert(text.to_owned(), vector.clone());
            vector
        })
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
        let mut vectors = Vectors::default();
        for (number, text) in catalog.meaning_texts() {
            if let Some(vector) = Vector::of(&self.of(&text)) {
                vectors.put(number, vector);
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
