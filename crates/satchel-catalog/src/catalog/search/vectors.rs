//! Compares queries and tools by sentence vectors. Pure; `meaning` supplies the vectors, and `rank` combines similarity
//! with word evidence.

use std::{collections::hash_map::Entry, sync::Arc};

use satchel_embed::dot;

use super::index::ByHash;

/// Maximum tokens read of a tool's text.
pub const TOKENS: usize = 128;

/// Maximum component of a request's vector.
const MOST: i16 = 32_000;

/// Vectors of length one, by the hash of their text. Components are stored contiguously: a search reads all of them, and is
/// limited by memory bandwidth.
#[derive(Debug, Clone, Default)]
pub struct Vectors {
    rows: ByHash<VectorRow>,
    /// The bytes are signed.
    numbers: Vec<u8>,
}

/// Position of a vector's components.
#[derive(Debug, Clone, Copy)]
struct VectorRow {
    scale: f32,
    length: u32,
    at: usize,
}

/// A vector with 8 bits per component.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    scale: f32,
    /// The bytes are signed.
    numbers: Box<[u8]>,
}

/// The vectors of a request and of the tools.
#[derive(Debug, Clone)]
pub struct Meaning {
    /// First the request as a whole, then each part if it has several.
    request: Vec<Arc<RequestVector>>,
    vectors: Arc<Vectors>,
    reads_english: bool,
}

/// A request's vector as integers, because processors multiply and add those of 16 bits at once.
#[derive(Debug)]
struct RequestVector {
    scale: f32,
    numbers: Box<[i16]>,
}

/// Similarity of each tool by its position: 1 for the most similar one, 0 for an average one.
#[derive(Debug)]
pub(in crate::catalog) struct Meant {
    /// Whether a vector says so. Without one, it is a tool whose vector is not computed yet.
    pub(super) known: Vec<bool>,
    pub(super) whole: Vec<f32>,
    pub(super) parts: Vec<Vec<f32>>,
    /// Whether the model reads English only.
    pub(super) reads_english: bool,
}

impl Vector {
    /// `None` for a zero vector.
    pub fn of(vector: &[f32]) -> Option<Self> {
        let vector = unit(vector)?;
        let scale = vector.iter().fold(0.0f32, |greatest, number| greatest.max(number.abs())) / 127.0;
        let numbers = vector.iter().map(|number| ((number / scale).round() as i8).cast_unsigned()).collect();
        Some(Self { scale, numbers })
    }

    /// The zero vector, stored so that its text is not embedded again. It matches no request.
    pub fn nowhere() -> Self {
        Self { scale: 0.0, numbers: Box::default() }
    }

    /// Serialises the vector.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.scale.to_le_bytes(), &*self.numbers].concat()
    }

    /// Parses the output of [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (scale, numbers) = bytes.split_first_chunk::<4>()?;
        let scale = f32::from_le_bytes(*scale);
        if numbers.is_empty() {
            return (scale == 0.0).then(Self::nowhere);
        }
        (scale.is_finite() && scale > 0.0).then_some(Self { scale, numbers: numbers.into() })
    }
}

impl RequestVector {
    /// Unscaled dot product with a vector of the same length.
    fn likeness(&self, numbers: &[u8]) -> f32 {
        self.scale * dot(numbers, &self.numbers) as f32
    }

    fn of(vector: &[f32]) -> Option<Self> {
        let vector = unit(vector)?;
        let greatest = vector.iter().fold(0.0f32, |greatest, number| greatest.max(number.abs()));
        let scale = greatest / f32::from(MOST);
        Some(Self { scale, numbers: vector.iter().map(|number| (number / scale).round() as i16).collect() })
    }
}

impl Vectors {
    /// Adds a vector for a text that has none.
    pub fn put(&mut self, text: u64, Vector { scale, numbers }: Vector) {
        let Ok(length) = u32::try_from(numbers.len()) else { return };
        if let Entry::Vacant(entry) = self.rows.entry(text) {
            entry.insert(VectorRow { scale, length, at: self.numbers.len() });
            self.numbers.extend_from_slice(&numbers);
        }
    }

    /// Whether the text has a vector.
    pub fn knows(&self, text: u64) -> bool {
        self.rows.contains_key(&text)
    }

    /// Whether there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// All vectors in no particular order.
    pub fn all(&self) -> impl Iterator<Item = (u64, Vector)> {
        self.rows
            .iter()
            .map(|(text, row)| (*text, Vector { scale: row.scale, numbers: self.numbers_of(row).into() }))
    }

    /// Only the vectors of these texts.
    #[must_use]
    pub fn only(&self, is_wanted: impl Fn(u64) -> bool) -> Self {
        let mut only = Self::default();
        self.all().filter(|(text, _)| is_wanted(*text)).for_each(|(text, vector)| only.put(text, vector));
        only
    }

    fn numbers_of(&self, row: &VectorRow) -> &[u8] {
        &self.numbers[row.at..][..row.length as usize]
    }
}

impl Meaning {
    /// From the vectors of [`Catalog::parts`](crate::catalog::Catalog::parts): first the whole request, then its parts.
    /// `None` if one is a zero vector.
    pub fn of(request: &[Vec<f32>], vectors: Arc<Vectors>) -> Option<Self> {
        let asked = |vector: &Vec<f32>| RequestVector::of(vector).map(Arc::new);
        let request: Option<Vec<Arc<RequestVector>>> = request.iter().map(asked).collect();
        let request = request.filter(|request| !request.is_empty())?;
        Some(Self { request, vectors, reads_english: false })
    }

    /// The same by a model that reads English only: it counts less for requests in other languages.
    #[must_use]
    pub fn by_english_model(self) -> Self {
        Self { reads_english: true, ..self }
    }

    /// Similarity of the tools with these text hashes; `None` if none has a vector.
    pub(in crate::catalog) fn meant(&self, texts: &[Option<u64>]) -> Option<Meant> {
        let length = self.request.first()?.numbers.len();
        let mut alike = vec![vec![None; texts.len()]; self.request.len()];
        // All rows are looked up first, so that the processor fetches many of them from memory at once.
        let row = |text: &Option<u64>| self.vectors.rows.get(text.as_ref()?);
        let rows: Vec<Option<&VectorRow>> = texts.iter().map(row).collect();
        // A tool without a text, and one whose text means nothing, never get a vector.
        let settled = |(text, row): (&Option<u64>, &Option<&VectorRow>)| {
            text.is_none() || row.is_some_and(|row| row.length as usize == length || row.length == 0)
        };
        let settled: Vec<bool> = texts.iter().zip(&rows).map(settled).collect();
        for (at, row) in rows.into_iter().enumerate() {
            let Some(row) = row.filter(|row| row.length as usize == length) else { continue };
            // A tool's numbers are read from memory once for all parts.
            let numbers = self.vectors.numbers_of(row);
            for (alike, asked) in alike.iter_mut().zip(&self.request) {
                alike[at] = Some(row.scale * asked.likeness(numbers));
            }
        }
        let known = alike.first()?.iter().any(Option::is_some);
        let mut meant = alike.into_iter().map(stand_out);
        let (whole, parts) = (meant.next()?, meant.collect());
        known.then_some(Meant { known: settled, whole, parts, reads_english: self.reads_english })
    }
}

/// Models and queries differ in their usual similarity, so only the distance from the average counts.
fn stand_out(alike: Vec<Option<f32>>) -> Vec<f32> {
    let known = || alike.iter().copied().flatten();
    let usual = known().sum::<f32>() / known().count().max(1) as f32;
    let most = known().fold(f32::MIN, f32::max);
    let far = |alike: Option<f32>| match alike {
        Some(alike) if most > usual => ((alike - usual) / (most - usual)).clamp(0.0, 1.0),
        _ => 0.0,
    };
    alike.iter().copied().map(far).collect()
}

fn unit(vector: &[f32]) -> Option<Box<[f32]>> {
    let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
    (length.is_finite() && length > 0.0).then(|| vector.iter().map(|part| part / length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(query: &[f32], tools: &[&[f32]]) -> (Meaning, Vec<Option<u64>>) {
        let mut vectors = Vectors::default();
        for (text, vector) in (0..).zip(tools) {
            vectors.put(text, Vector::of(vector).unwrap());
        }
        let meaning = Meaning::of(&[query.to_vec()], Arc::new(vectors)).unwrap();
        (meaning, (0..tools.len() as u64).map(Some).collect())
    }

    #[test]
    fn only_texts_whose_likeness_stands_out_get_a_score() {
        let (meaning, mut texts) =
            meaning(&[1.0, 0.0], &[&[0.0, 3.0], &[2.0, 0.1], &[0.1, 1.0], &[0.0, -1.0]]);
        texts.push(None);
        let meant = meaning.meant(&texts).unwrap().whole;
        assert_eq!(meant, [0.0, 1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn without_vectors_of_the_same_kind_nothing_is_known() {
        let (meaning, texts) = meaning(&[1.0, 0.0, 0.0], &[&[0.0, 1.0], &[1.0, 0.0]]);
        assert!(meaning.meant(&texts).is_none());
    }

    #[test]
    fn long_vectors_of_great_numbers_do_not_run_over() {
        let numbers = vec![1.0; 16 * 1_024];
        let (meaning, texts) =
            meaning(&numbers, &[&numbers, &[&[-1.0; 8 * 1_024][..], &[1.0; 8 * 1_024]].concat()]);
        assert_eq!(meaning.meant(&texts).unwrap().whole, [1.0, 0.0]);
    }

    #[test]
    fn vectors_of_other_texts_are_left_out_and_the_rest_stays_the_same() {
        let mut vectors = Vectors::default();
        for (text, vector) in [(1, [1.0, 0.0]), (2, [0.0, 1.0]), (3, [1.0, 1.0])] {
            vectors.put(text, Vector::of(&vector).unwrap());
        }
        let only = vectors.only(|text| text != 2);
        let mut all: Vec<(u64, Vector)> = only.all().collect();
        all.sort_by_key(|(text, _)| *text);
        assert_eq!(all, [(1, Vector::of(&[1.0, 0.0]).unwrap()), (3, Vector::of(&[1.0, 1.0]).unwrap())]);
        assert!(only.knows(3) && !only.knows(2) && only.len() == 2);
    }

    #[test]
    fn a_vector_that_points_nowhere_is_none() {
        for vector in [&[0.0, 0.0][..], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[]] {
            assert!(
                Vector::of(vector).is_none() && Meaning::of(&[vector.to_vec()], Arc::default()).is_none()
            );
        }
        assert!(Meaning::of(&[], Arc::default()).is_none());
        assert!(
            Vector::from_bytes(&[1, 2, 3, 4]).is_none() && Vector::from_bytes(&[0, 0, 0, 0, 1]).is_none()
        );
    }

    #[test]
    fn a_vector_is_kept_with_eight_bits_and_stays_the_same() {
        let numbers: Vec<f32> = (0..100).map(|at| ((at * 37) % 41) as f32 - 20.0).collect();
        let vector = Vector::of(&numbers).unwrap();
        assert_eq!(Vector::from_bytes(&vector.to_bytes()).as_ref(), Some(&vector));
        let likeness = vector.scale * RequestVector::of(&numbers).unwrap().likeness(&vector.numbers);
        assert!((likeness - 1.0).abs() < 0.001, "{likeness}");
    }
}
