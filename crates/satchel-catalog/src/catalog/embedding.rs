//! Client for the embedding source named in the configuration: Ollama (`/api/embed`) or any API compatible with
//! OpenAI's `/embeddings`. Without a source, no text leaves the computer.

use std::time::Duration;

use reqwest::{Client, Url, header::CONTENT_TYPE, redirect};
use serde::Deserialize;
use serde_json::json;

use crate::{config::file::EmbeddingSource, upstream::outgoing};

/// The largest answer, in bytes.
const ANSWER: usize = 64 * 1024 * 1024;
/// The longest vector.
const LONGEST: usize = 16 * 1024;
const CONNECTING: Duration = Duration::from_secs(2);

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// It cannot be asked, or did not answer in time.
    #[error("the embedding source cannot be reached: {0}")]
    Http(#[from] reqwest::Error),
    /// It answered something else than one vector a text.
    #[error("the embedding source answered {0}")]
    Answer(String),
}

/// A source of vectors.
#[derive(Debug, Clone)]
pub struct EmbeddingClient {
    client: Client,
    url: String,
    model: String,
    ollama: bool,
}

#[derive(Deserialize)]
struct OfOllama {
    embeddings: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
struct OfOpenAi {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl EmbeddingClient {
    /// A client for this source.
    ///
    /// # Errors
    /// [`EmbedError`] where no client can be made.
    pub fn new(named: &EmbeddingSource) -> Result<Self, EmbedError> {
        let (url, ollama) = address(&named.url);
        let parsed = Url::parse(&url).ok();
        let client = parsed.as_ref().map_or_else(outgoing::client, outgoing::client_for);
        // Only the configured address is asked; redirects are not followed.
        let client = client.connect_timeout(CONNECTING).redirect(redirect::Policy::none());
        Ok(Self { client: client.build()?, url, model: named.model.clone(), ollama })
    }

    /// A vector for each text, all of the same length.
    ///
    /// # Errors
    /// [`EmbedError`] where it has not given them within `time`.
    pub async fn embed(&self, texts: &[&str], time: Duration) -> Result<Vec<Vec<f32>>, EmbedError> {
        let asked = json!({ "model": self.model, "input": texts }).to_string();
        let request = self.client.post(&self.url).header(CONTENT_TYPE, "application/json");
        let mut response = request.timeout(time).body(asked).send().await?;
        if !response.status().is_success() {
            return Err(EmbedError::Answer(format!("HTTP {}", response.status().as_u16())));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > ANSWER {
                return Err(EmbedError::Answer(format!("more than {ANSWER} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        let vectors = if self.ollama { of_ollama(&body) } else { of_openai(&body) };
        let vectors = vectors.ok_or_else(|| EmbedError::Answer("no vectors".to_owned()))?;
        let length = vectors.first().map_or(0, Vec::len);
        let usable = (1..=LONGEST).contains(&length) && vectors.iter().all(|vector| vector.len() == length);
        if vectors.len() != texts.len() || !usable {
            return Err(EmbedError::Answer(format!("{} vectors for {} texts", vectors.len(), texts.len())));
        }
        Ok(vectors)
    }
}

fn of_ollama(body: &[u8]) -> Option<Vec<Vec<f32>>> {
    serde_json::from_slice::<OfOllama>(body).ok().map(|answer| answer.embeddings)
}

fn of_openai(body: &[u8]) -> Option<Vec<Vec<f32>>> {
    let mut data = serde_json::from_slice::<OfOpenAi>(body).ok()?.data;
    // Stable: where no index is given, the order counts.
    data.sort_by_key(|one| one.index);
    Some(data.into_iter().map(|one| one.embedding).collect())
}

/// The whole address, and whether it speaks Ollama's way. What ends in `/v1` or `/embeddings` speaks OpenAI's.
fn address(named: &str) -> (String, bool) {
    let named = named.trim().trim_end_matches('/');
    if named.ends_with("/embeddings") {
        (named.to_owned(), false)
    } else if named.ends_with("/v1") {
        (format!("{named}/embeddings"), false)
    } else if named.ends_with("/api/embed") {
        (named.to_owned(), true)
    } else {
        (format!("{named}/api/embed"), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_which_way_it_is_asked() {
        for (named, url, ollama) in [
            ("http://127.0.0.1:11434", "http://127.0.0.1:11434/api/embed", true),
            ("http://127.0.0.1:11434/api/embed", "http://127.0.0.1:11434/api/embed", true),
            ("http://localhost:1234/v1/", "http://localhost:1234/v1/embeddings", false),
            ("http://localhost:8080/embeddings", "http://localhost:8080/embeddings", false),
        ] {
            assert_eq!(address(named), (url.to_owned(), ollama), "{named}");
        }
    }

    #[test]
    fn both_kinds_of_answers_are_read_and_others_are_none() {
        let vectors = Some(vec![vec![1.0, 0.5], vec![0.0, 2.0]]);
        assert_eq!(of_ollama(br#"{"model":"m","embeddings":[[1,0.5],[0,2]]}"#), vectors);
        let data = br#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[1,0.5]}],"model":"m"}"#;
        assert_eq!(of_openai(data), vectors);
        assert_eq!(of_openai(br#"{"data":[{"embedding":[1,0.5]},{"embedding":[0,2]}]}"#), vectors);
        assert!(of_openai(b"{}").is_none() && of_ollama(b"<html>").is_none());
    }
}
