//! The network: embeddings, layers of attention and feed-forward, mean pooling, normalization.

use std::ops::Range;

use super::{
    MOST_TOKENS,
    kernel::{self, Attention, Mixing, Narrow},
    unigram,
    weights_file::{Cutting, File, Layer, ModelError},
    wordpiece,
};

/// What a text is to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Something that is looked for.
    Request,
    /// Something that is found.
    Passage,
}

/// Cuts texts as the model was trained.
#[derive(Debug)]
enum Tokenizer {
    Words(wordpiece::Tokenizer),
    Pieces(unigram::Tokenizer),
}

impl Tokenizer {
    fn of(&self, role: Role, text: &str, most: usize) -> Vec<u32> {
        match (self, role) {
            (Self::Words(tokenizer), _) => tokenizer.of(text, most),
            (Self::Pieces(tokenizer), Role::Request) => tokenizer.of("query: ", text, most),
            (Self::Pieces(tokenizer), Role::Passage) => tokenizer.of("passage: ", text, most),
        }
    }
}

/// A loaded model.
#[derive(Debug)]
pub struct Model {
    file: File,
    tokens: Tokenizer,
}

impl Model {
    /// Reads a file written by [`quantise`](super::quantise).
    ///
    /// # Errors
    /// [`ModelError`] if it is not a model or incomplete.
    pub fn read(bytes: Vec<u8>) -> Result<Self, ModelError> {
        let file = File::read(bytes)?;
        let tokens = match file.cutting {
            Cutting::Words => Tokenizer::Words(wordpiece::Tokenizer::new(file.vocabulary())),
            Cutting::Pieces => Tokenizer::Pieces(unigram::Tokenizer::new(file.vocabulary(), file.scores())),
        };
        Ok(Self { file, tokens })
    }

    /// Identifies the model its vectors come from.
    pub fn id(&self) -> u64 {
        self.file.id
    }

    /// Dimension of its vectors.
    pub fn length(&self) -> usize {
        self.file.width
    }

    /// The vector of a text, normalised to length 1. Only the first `most` tokens count.
    pub fn embed(&self, role: Role, text: &str, most: usize) -> Vec<f32> {
        self.forward(&[self.tokens(role, text, most)]).pop().unwrap_or_default()
    }

    /// The token ids of a text, the first `most` of them.
    pub fn tokens(&self, role: Role, text: &str, most: usize) -> Vec<u32> {
        self.tokens.of(role, text, most.clamp(3, MOST_TOKENS.min(self.file.positions)))
    }

    /// The vectors of some texts, as token ids: the weights are read from memory once for all of them.
    pub(crate) fn forward(&self, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
        let (file, width) = (&self.file, self.file.width);
        let mut pass = Pass::new(file, texts.iter().map(Vec::len).collect());
        let tokens = texts.iter().flat_map(|text| text.iter().enumerate());
        for ((place, token), state) in tokens.zip(pass.state.chunks_exact_mut(width)) {
            file.words().add_row(*token as usize, state);
            file.places().add_row(place, state);
            kernel::norm(state, file.norm());
        }
        for number in 0..file.layers {
            pass.layer(&file.layer(number));
        }
        pass.texts().map(|text| mean(&pass.state[text], width)).collect()
    }
}

/// The mean of some vectors, normalised to length 1.
fn mean(vectors: &[f32], width: usize) -> Vec<f32> {
    let mut mean = vec![0.0; width];
    for vector in vectors.chunks_exact(width) {
        mean.iter_mut().zip(vector).for_each(|(mean, value)| *mean += value);
    }
    let length = mean.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    mean.iter_mut().for_each(|value| *value /= length);
    mean
}

/// The state of some texts on their way through the layers, with the buffers they share.
struct Pass {
    /// Number of tokens of each text.
    lengths: Vec<usize>,
    width: usize,
    heads: usize,
    state: Vec<f32>,
    narrow: Narrow,
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    mixed: Vec<f32>,
    inner: Vec<f32>,
    mixing: Mixing,
}

impl Pass {
    fn new(file: &File, lengths: Vec<usize>) -> Self {
        let tokens: usize = lengths.iter().sum();
        let room = || vec![0.0; tokens * file.width];
        Self {
            lengths,
            width: file.width,
            heads: file.heads,
            state: room(),
            narrow: Narrow::default(),
            queries: room(),
            keys: room(),
            values: room(),
            mixed: room(),
            inner: vec![0.0; tokens * file.inner],
            mixing: Mixing::default(),
        }
    }

    /// Where each text stands in a buffer of one vector per token.
    fn texts(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (lengths, width) = (self.lengths.clone(), self.width);
        lengths.into_iter().scan(0, move |end, length| {
            let start = *end;
            *end += length * width;
            Some(start..*end)
        })
    }

    fn layer(&mut self, layer: &Layer<'_>) {
        let texts = self.texts();
        let Self { width, heads, ref mut state, ref mut narrow, .. } = *self;
        narrow.set(state, width);
        for (part, output) in [
            (&layer.query, &mut self.queries),
            (&layer.key, &mut self.keys),
            (&layer.value, &mut self.values),
        ] {
            part.of(narrow, output);
        }
        for text in texts {
            let [queries, keys, values] =
                [&self.queries, &self.keys, &self.values].map(|values| &values[text.clone()]);
            Attention { queries, keys, values, width, heads }.mix(&mut self.mixing, &mut self.mixed[text]);
        }
        narrow.set(&self.mixed, width);
        layer.mixed.of(narrow, &mut self.queries);
        kernel::add_and_norm(state, &self.queries, layer.mixed_norm);
        narrow.set(state, width);
        layer.inner.of(narrow, &mut self.inner);
        kernel::gelu(&mut self.inner);
        narrow.set(&self.inner, layer.inner.bias.len());
        layer.outer.of(narrow, &mut self.mixed);
        kernel::add_and_norm(state, &self.mixed, layer.outer_norm);
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{toy, toy_cutting},
        *,
    };

    #[test]
    fn synonyms_have_equal_vectors_and_other_words_different_ones() {
        let model = Model::read(toy(&[&["echo", "parrot"], &["file"]])).unwrap();
        let alike = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|text| model.embed(Role::Passage, text, MOST_TOKENS));
            one.iter().zip(other).map(|(one, other)| one * other).sum::<f32>()
        };
        assert!((alike("echo", "parrot") - 1.0).abs() < 1e-3);
        assert!(alike("echo", "file") < 0.1 && alike("echo", "echo file") > 0.5);
        assert_eq!(model.embed(Role::Passage, "nobody knows", MOST_TOKENS), vec![0.0; model.length()]);
        let many = |count: usize| "file ".repeat(count);
        let [long, short] = [(1_000, MOST_TOKENS), (30, 32)]
            .map(|(count, most)| model.embed(Role::Request, &many(count), most));
        assert_eq!(long, short);
    }

    #[test]
    fn a_model_of_pieces_reads_words_of_any_script_after_the_prefix_of_their_role() {
        let model =
            Model::read(toy_cutting(Cutting::Pieces, &[&["query:"], &["file", "文件"], &["mail"]])).unwrap();
        let vector = |role, text| model.embed(role, text, MOST_TOKENS);
        assert_eq!(vector(Role::Passage, "file"), vector(Role::Passage, "文件"));
        assert_ne!(vector(Role::Passage, "file"), vector(Role::Passage, "mail"));
        assert_ne!(vector(Role::Passage, "file"), vector(Role::Request, "file"));
        assert_eq!(model.tokens(Role::Request, "file", MOST_TOKENS).len(), 4);
    }
}
