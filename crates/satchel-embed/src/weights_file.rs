//! The weights file: eight bits per weight with a scale per row, small tensors as they were. Validated once when read;
//! a damaged file is refused.

use super::kernel::{self, Narrow, Rows};

/// How a model's texts are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cutting {
    /// WordPiece: English words without case and accents.
    Words,
    /// SentencePiece's unigram pieces, of any language; requests and passages have a prefix.
    Pieces,
}

impl Cutting {
    /// The beginning of a file.
    const fn magic(self) -> &'static [u8; 8] {
        match self {
            Self::Words => b"SATCHEL1",
            Self::Pieces => b"SATCHEL2",
        }
    }
}

/// Offset of the vocabulary: after the magic, the id, and the seven sizes.
const VOCABULARY: usize = HEAD + 7 * 4;
/// Maximum of each size.
const MOST: usize = 1 << 22;

/// Number of bytes at the beginning of a file that identify the model.
pub const HEAD: usize = 16;

/// The model's id, and how it cuts texts, from the beginning of its file.
///
/// # Errors
/// [`ModelError::Kind`] if it is not a model.
pub fn id(head: &[u8; HEAD]) -> Result<(u64, Cutting), ModelError> {
    let (magic, id) = head.split_at(8);
    let cutting = [Cutting::Words, Cutting::Pieces].into_iter().find(|cutting| cutting.magic() == magic);
    let id = id.first_chunk::<8>().ok_or(ModelError::Kind)?;
    Ok((u64::from_le_bytes(*id), cutting.ok_or(ModelError::Kind)?))
}

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Not a model, or of another version.
    #[error("this is not a weights file that this version can read")]
    Kind,
    /// Truncated or damaged.
    #[error("the weights file is incomplete")]
    Damaged,
    /// The source weights lack this tensor, or its shape is wrong.
    #[error("the weights have no tensor {0:?} of the expected size")]
    Tensor(String),
}

/// Source of the weights to write: returns a tensor by name, in row-major order.
pub type Tensors<'a> = dyn Fn(&str) -> Option<Vec<f32>> + 'a;

/// The dimensions of a network.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    cutting: Cutting,
    words: usize,
    width: usize,
    inner: usize,
    layers: usize,
    heads: usize,
    positions: usize,
}

/// all-MiniLM-L6-v2.
const ENGLISH: Sizes = Sizes {
    cutting: Cutting::Words,
    words: 30_522,
    width: 384,
    inner: 1_536,
    layers: 6,
    heads: 12,
    positions: super::MOST_TOKENS,
};

/// multilingual-e5-small: the same with twice as many layers and eight times as many words.
const MULTILINGUAL: Sizes = Sizes { cutting: Cutting::Pieces, words: 250_002, layers: 12, ..ENGLISH };

#[derive(Debug)]
pub(crate) struct File {
    bytes: Vec<u8>,
    /// All weights that are not 8-bit, concatenated.
    floats: Vec<f32>,
    vocabulary: std::ops::Range<usize>,
    matrices: Vec<Matrix>,
    vectors: Vec<std::ops::Range<usize>>,
    pub(crate) id: u64,
    pub(crate) cutting: Cutting,
    pub(crate) width: usize,
    pub(crate) inner: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) positions: usize,
}

/// Position of a matrix: its scales among the floats, its weights among the bytes.
#[derive(Debug, Clone)]
struct Matrix {
    scales: std::ops::Range<usize>,
    bytes: std::ops::Range<usize>,
}

/// A matrix with its bias.
pub(crate) struct Linear<'a> {
    pub(crate) weights: Rows<'a>,
    pub(crate) bias: &'a [f32],
}

impl Linear<'_> {
    pub(crate) fn of(&self, input: &Narrow, output: &mut [f32]) {
        kernel::linear(input, self.weights, self.bias, output);
    }
}

pub(crate) struct Layer<'a> {
    pub(crate) query: Linear<'a>,
    pub(crate) key: Linear<'a>,
    pub(crate) value: Linear<'a>,
    pub(crate) mixed: Linear<'a>,
    pub(crate) mixed_norm: [&'a [f32]; 2],
    pub(crate) inner: Linear<'a>,
    pub(crate) outer: Linear<'a>,
    pub(crate) outer_norm: [&'a [f32]; 2],
}

/// How likely each piece is, of a vocabulary of pieces.
const SCORES: &str = "scores";

/// A tensor of the file, in file order.
enum TensorPart {
    Matrix(String, usize, usize),
    Vector(String, usize),
}

impl Sizes {
    /// Everything after the vocabulary, in file order.
    fn parts(&self) -> Vec<TensorPart> {
        let Self { words, width, inner, layers, positions, .. } = *self;
        let matrix = |name: &str, rows, columns| TensorPart::Matrix(name.to_owned(), rows, columns);
        let norm = |name: &str| {
            ["weight", "bias"].map(|half| TensorPart::Vector(format!("{name}.LayerNorm.{half}"), width))
        };
        let mut parts = vec![
            matrix("embeddings.word_embeddings.weight", words, width),
            matrix("embeddings.position_embeddings.weight", positions, width),
        ];
        parts.extend(norm("embeddings"));
        for layer in 0..layers {
            let layer = format!("encoder.layer.{layer}");
            let linear = |name: &str, rows, columns| {
                [
                    TensorPart::Matrix(format!("{layer}.{name}.weight"), rows, columns),
                    TensorPart::Vector(format!("{layer}.{name}.bias"), rows),
                ]
            };
            for name in ["query", "key", "value"] {
                parts.extend(linear(&format!("attention.self.{name}"), width, width));
            }
            parts.extend(linear("attention.output.dense", width, width));
            parts.extend(norm(&format!("{layer}.attention.output")));
            parts.extend(linear("intermediate.dense", inner, width));
            parts.extend(linear("output.dense", width, inner));
            parts.extend(norm(&format!("{layer}.output")));
        }
        if self.cutting == Cutting::Pieces {
            parts.push(TensorPart::Vector(SCORES.to_owned(), words));
        }
        parts
    }
}

/// Writes the weights of all-MiniLM-L6-v2 quantised to 8 bits. `vocabulary` has one word per line.
///
/// # Errors
/// [`ModelError::Tensor`] if one is missing.
pub fn quantise(vocabulary: &str, tensors: &Tensors<'_>) -> Result<Vec<u8>, ModelError> {
    write(ENGLISH, vocabulary, tensors)
}

/// Writes the weights of multilingual-e5-small, with each piece and how likely it is, quantised to 8 bits.
///
/// # Errors
/// [`ModelError::Tensor`] if one is missing.
pub fn quantise_multilingual(pieces: &[(&str, f32)], tensors: &Tensors<'_>) -> Result<Vec<u8>, ModelError> {
    write_pieces(MULTILINGUAL, pieces, tensors)
}

/// The tokenizer wants its pieces sorted: a piece's number is its place among them, and so the rows follow.
fn write_pieces(sizes: Sizes, pieces: &[(&str, f32)], tensors: &Tensors<'_>) -> Result<Vec<u8>, ModelError> {
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_unstable_by_key(|at| pieces[*at].0);
    let vocabulary: Vec<&str> = order.iter().map(|at| pieces[*at].0).collect();
    let sorted = |name: &str| match name {
        SCORES => Some(order.iter().map(|at| pieces[*at].1).collect()),
        "embeddings.word_embeddings.weight" => {
            let rows = tensors(name)?;
            let row = |at: &usize| rows.get(at * sizes.width..(at + 1) * sizes.width);
            Some(order.iter().map(row).collect::<Option<Vec<&[f32]>>>()?.concat())
        }
        name => tensors(name),
    };
    write(sizes, &vocabulary.join("\n"), &sorted)
}

/// A model that only knows which words are synonyms, for fast tests.
pub fn toy(synonyms: &[&[&str]]) -> Vec<u8> {
    toy_cutting(Cutting::Words, synonyms)
}

/// The same with a vocabulary of one's choice.
pub fn toy_cutting(cutting: Cutting, synonyms: &[&[&str]]) -> Vec<u8> {
    let (special, begins): (&[&str], &str) = match cutting {
        Cutting::Words => (&["[PAD]", "[UNK]", "[CLS]", "[SEP]"], ""),
        Cutting::Pieces => (&["<s>", "</s>", "<unk>"], "\u{2581}"),
    };
    let width = (4 + synonyms.len()).next_multiple_of(kernel::BLOCK);
    let meant = |(at, words): (usize, &&[&str])| {
        words.iter().map(|word| (format!("{begins}{word}"), Some(at))).collect::<Vec<_>>()
    };
    let words: Vec<(String, Option<usize>)> = special
        .iter()
        .map(|word| ((*word).to_owned(), None))
        .chain(synonyms.iter().enumerate().flat_map(meant))
        .collect();
    let sizes =
        Sizes { cutting, words: words.len(), width, inner: width, layers: 1, heads: 1, positions: 32 };
    let tensors = |name: &str| {
        let mut tensor = vec![0.0; width * width.max(sizes.words).max(sizes.positions)];
        if name.contains("word_embeddings") {
            for (row, (_, meaning)) in tensor.chunks_exact_mut(width).zip(&words) {
                meaning.iter().for_each(|at| row[*at] = 1.0);
            }
        } else if name.ends_with("LayerNorm.weight") {
            tensor.fill(1.0);
        }
        Some(tensor)
    };
    let vocabulary: Vec<&str> = words.iter().map(|(word, _)| word.as_str()).collect();
    let written = match cutting {
        Cutting::Words => write(sizes, &vocabulary.join("\n"), &tensors),
        Cutting::Pieces => {
            let pieces: Vec<(&str, f32)> = vocabulary.into_iter().map(|piece| (piece, -1.0)).collect();
            write_pieces(sizes, &pieces, &tensors)
        }
    };
    written.expect("all tensors are there")
}

fn write(sizes: Sizes, vocabulary: &str, tensors: &Tensors<'_>) -> Result<Vec<u8>, ModelError> {
    let tensor = |name: &str, count: usize| {
        let tensor = tensors(name).filter(|tensor| tensor.len() >= count);
        tensor.ok_or_else(|| ModelError::Tensor(name.to_owned()))
    };
    let vocabulary = vocabulary.trim_end_matches('\n');
    if vocabulary.lines().count() != sizes.words {
        return Err(ModelError::Tensor("vocabulary".to_owned()));
    }
    // All texts have token type 0, so its embedding is added to the position embeddings.
    let kind = tensor("embeddings.token_type_embeddings.weight", sizes.width)?;
    let mut body = Vec::new();
    let numbers =
        [sizes.words, sizes.width, sizes.inner, sizes.layers, sizes.heads, sizes.positions, vocabulary.len()];
    numbers.iter().for_each(|number| body.extend_from_slice(&(*number as u32).to_le_bytes()));
    body.extend_from_slice(vocabulary.as_bytes());
    for part in sizes.parts() {
        match part {
            TensorPart::Vector(name, count) => {
                tensor(&name, count)?[..count]
                    .iter()
                    .for_each(|value| body.extend_from_slice(&value.to_le_bytes()));
            }
            TensorPart::Matrix(name, rows, columns) => {
                let mut values = tensor(&name, rows * columns)?;
                values.truncate(rows * columns);
                if name.contains("position_embeddings") {
                    for row in values.chunks_exact_mut(columns) {
                        row.iter_mut().zip(&kind).for_each(|(value, kind)| *value += kind);
                    }
                }
                let rows = values.chunks_exact(columns);
                let scales: Vec<f32> = rows.clone().map(scale).collect();
                scales.iter().for_each(|scale| body.extend_from_slice(&scale.to_le_bytes()));
                for (row, scale) in rows.zip(scales) {
                    let narrow =
                        |value: &f32| ((value / scale).round().clamp(-127.0, 127.0) as i8).cast_unsigned();
                    body.extend(row.iter().map(narrow));
                }
            }
        }
    }
    let mut file = sizes.cutting.magic().to_vec();
    file.extend_from_slice(&fingerprint(&body).to_le_bytes());
    file.append(&mut body);
    Ok(file)
}

fn scale(row: &[f32]) -> f32 {
    row.iter().fold(f32::MIN_POSITIVE, |greatest, value| greatest.max(value.abs())) / 127.0
}

/// FNV-1a over eight bytes at a time: identifies models and detects damage; not a protection against attackers.
fn fingerprint(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let step = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
    let hash = words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| step(hash, u64::from_le_bytes(*word)));
    rest.iter().fold(hash, |hash, byte| step(hash, u64::from(*byte)))
}

impl File {
    pub(crate) fn read(bytes: Vec<u8>) -> Result<Self, ModelError> {
        let (id, cutting) = id(bytes.first_chunk().ok_or(ModelError::Kind)?)?;
        if fingerprint(&bytes[HEAD..]) != id {
            return Err(ModelError::Damaged);
        }
        let number = |at: usize| {
            let number =
                bytes.get(HEAD + 4 * at..HEAD + 4 * (at + 1))?.try_into().ok().map(u32::from_le_bytes)?;
            usize::try_from(number).ok().filter(|number| (1..=MOST).contains(number))
        };
        let number = |at: usize| number(at).ok_or(ModelError::Damaged);
        let sizes = Sizes {
            cutting,
            words: number(0)?,
            width: number(1)?,
            inner: number(2)?,
            layers: number(3)?,
            heads: number(4)?,
            positions: number(5)?,
        };
        let vocabulary = VOCABULARY..VOCABULARY + number(6)?;
        if !sizes.width.is_multiple_of(sizes.heads * kernel::BLOCK)
            || sizes.layers > 100
            || sizes.positions < 3
        {
            return Err(ModelError::Damaged);
        }
        let mut file = Self {
            floats: Vec::new(),
            matrices: Vec::new(),
            vectors: Vec::new(),
            id,
            cutting,
            width: sizes.width,
            inner: sizes.inner,
            layers: sizes.layers,
            heads: sizes.heads,
            positions: sizes.positions,
            vocabulary: vocabulary.clone(),
            bytes,
        };
        let mut at = vocabulary.end;
        for part in sizes.parts() {
            match part {
                TensorPart::Vector(_, count) => {
                    let range = file.take_floats(&mut at, count)?;
                    file.vectors.push(range);
                }
                TensorPart::Matrix(_, rows, columns) => {
                    let scales = file.take_floats(&mut at, rows)?;
                    let bytes = at..at + rows * columns;
                    at = bytes.end;
                    if file.bytes.len() < at {
                        return Err(ModelError::Damaged);
                    }
                    file.matrices.push(Matrix { scales, bytes });
                }
            }
        }
        let words = std::str::from_utf8(&file.bytes[vocabulary]).map_err(|_| ModelError::Damaged)?;
        let whole = file.bytes.len() == at && words.lines().count() == sizes.words;
        whole.then_some(()).ok_or(ModelError::Damaged)?;
        Ok(file)
    }

    fn take_floats(&mut self, at: &mut usize, count: usize) -> Result<std::ops::Range<usize>, ModelError> {
        let bytes = self.bytes.get(*at..*at + 4 * count).ok_or(ModelError::Damaged)?;
        let from = self.floats.len();
        self.floats.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        *at += 4 * count;
        Ok(from..from + count)
    }

    pub(crate) fn vocabulary(&self) -> &str {
        // Validated when the file was read.
        std::str::from_utf8(&self.bytes[self.vocabulary.clone()]).unwrap_or_default()
    }

    /// How likely each piece of the vocabulary is; of a vocabulary of pieces.
    pub(crate) fn scores(&self) -> &[f32] {
        self.vectors.last().map_or(&[], |range| &self.floats[range.clone()])
    }

    pub(crate) fn words(&self) -> Rows<'_> {
        self.matrix(0)
    }

    pub(crate) fn places(&self) -> Rows<'_> {
        self.matrix(1)
    }

    pub(crate) fn norm(&self) -> [&[f32]; 2] {
        [self.vector(0), self.vector(1)]
    }

    pub(crate) fn layer(&self, number: usize) -> Layer<'_> {
        // In the order of `Sizes::parts`: six matrices, and ten vectors, four of which belong to the two norms.
        let (matrix, vector) = (2 + 6 * number, 2 + 10 * number);
        let linear = |at: usize, bias: usize| Linear {
            weights: self.matrix(matrix + at),
            bias: self.vector(vector + bias),
        };
        let norm = |at: usize| [self.vector(vector + at), self.vector(vector + at + 1)];
        Layer {
            query: linear(0, 0),
            key: linear(1, 1),
            value: linear(2, 2),
            mixed: linear(3, 3),
            mixed_norm: norm(4),
            inner: linear(4, 6),
            outer: linear(5, 7),
            outer_norm: norm(8),
        }
    }

    fn matrix(&self, number: usize) -> Rows<'_> {
        let Matrix { scales, bytes } = &self.matrices[number];
        Rows { scales: &self.floats[scales.clone()], bytes: &self.bytes[bytes.clone()] }
    }

    fn vector(&self, number: usize) -> &[f32] {
        &self.floats[self.vectors[number].clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::forward::{Model, Role},
        *,
    };

    #[test]
    fn a_file_that_is_none_or_not_whole_is_refused() {
        assert!(matches!(File::read(vec![]), Err(ModelError::Kind)));
        assert!(matches!(File::read(b"SATCHEL1".to_vec()), Err(ModelError::Kind)));
        assert!(matches!(File::read(b"SATCHEL1 and more than that".to_vec()), Err(ModelError::Damaged)));
        let mut file = Cutting::Words.magic().to_vec();
        // Sizes that claim far more data than there is.
        let body = [0xff; 28];
        file.extend_from_slice(&fingerprint(&body).to_le_bytes());
        file.extend_from_slice(&body);
        assert!(matches!(File::read(file), Err(ModelError::Damaged)));
        assert!(matches!(quantise("a\nb", &|_| None), Err(ModelError::Tensor(_))));
    }

    #[test]
    fn texts_that_are_computed_together_do_not_see_each_other() {
        let sizes = Sizes {
            cutting: Cutting::Words,
            words: 6,
            width: 2 * kernel::BLOCK,
            inner: 2 * kernel::BLOCK,
            layers: 2,
            heads: 2,
            positions: 16,
        };
        let tensors = |name: &str| {
            let value = |at: usize| (((at + 131 * name.len()) * 7_919) % 2_001) as f32 / 1_000.0 - 1.0;
            Some((0..sizes.width * sizes.width).map(value).collect())
        };
        let file = write(sizes, "[PAD]\n[UNK]\n[CLS]\n[SEP]\nread\nfile", &tensors).unwrap();
        let model = Model::read(file).unwrap();
        let texts = ["read", "file read read", "file"].map(|text| model.tokens(Role::Request, text, 16));
        let alone: Vec<Vec<f32>> =
            texts.iter().flat_map(|text| model.forward(std::slice::from_ref(text))).collect();
        assert_eq!(model.forward(&texts), alone);
        assert_ne!(alone[0], alone[2]);
    }
}
