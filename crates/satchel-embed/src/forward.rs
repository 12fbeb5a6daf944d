//! The network: embeddings, six layers of attention and mixing, the mean of all tokens, brought to length one.

use super::{
    MOST_TOKENS,
    file::{File, Layer, ModelError},
    kernel,
    tokens::Tokens,
};

/// A model that was read and is ready.
#[derive(Debug)]
pub struct Model {
    file: File,
    tokens: Tokens,
}

impl Model {
    /// Reads a file that [`quantise`](super::quantise) wrote.
    ///
    /// # Errors
    /// [`ModelError`] where it is none, or not whole.
    pub fn read(bytes: Vec<u8>) -> Result<Self, ModelError> {
        let file = File::read(bytes)?;
        let tokens = Tokens::new(file.vocabulary());
        Ok(Self { file, tokens })
    }

    /// What tells its vectors from those of other models.
    pub fn id(&self) -> u64 {
        self.file.id
    }

    /// How long its vectors are.
    pub fn length(&self) -> usize {
        self.file.width
    }

    /// The vector of a text, of length one. What comes after `most` tokens is not read.
    pub fn embed(&self, text: &str, most: usize) -> Vec<f32> {
        self.forward(&self.tokens.of(text, most.clamp(3, MOST_TOKENS.min(self.file.positions))))
    }

    /// The numbers that a text is cut into.
    pub fn tokens(&self, text: &str, most: usize) -> Vec<u32> {
        self.tokens.of(text, most)
    }

    fn forward(&self, tokens: &[u32]) -> Vec<f32> {
        let (file, width) = (&self.file, self.file.width);
        let mut state = vec![0.0; tokens.len() * width];
        let [weights, bias] = file.norm();
        for (place, (token, state)) in tokens.iter().zip(state.chunks_exact_mut(width)).enumerate() {
            file.words().add_row(*token as usize, state);
            file.places().add_row(place, state);
            kernel::norm(state, weights, bias);
        }
        for number in 0..file.layers {
            layer(&mut state, &file.layer(number), width, file.heads);
        }
        let mut mean = vec![0.0; width];
        for token in state.chunks_exact(width) {
            mean.iter_mut().zip(token).for_each(|(mean, value)| *mean += value);
        }
        let length = mean.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        mean.iter_mut().for_each(|value| *value /= length);
        mean
    }
}

fn layer(state: &mut [f32], layer: &Layer<'_>, width: usize, heads: usize) {
    let [queries, keys, values] =
        [&layer.query, &layer.key, &layer.value].map(|part| kernel::linear(state, part.weights, part.bias));
    let mixed = kernel::attention(&queries, &keys, &values, width, heads);
    let mixed = kernel::linear(&mixed, layer.mixed.weights, layer.mixed.bias);
    kernel::add_and_norm(state, &mixed, layer.mixed_norm[0], layer.mixed_norm[1]);
    let mut inner = kernel::linear(state, layer.inner.weights, layer.inner.bias);
    kernel::gelu(&mut inner);
    let outer = kernel::linear(&inner, layer.outer.weights, layer.outer.bias);
    kernel::add_and_norm(state, &outer, layer.outer_norm[0], layer.outer_norm[1]);
}
