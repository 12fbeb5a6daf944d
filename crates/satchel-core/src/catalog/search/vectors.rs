//! Compares queries and tools by sentence vectors. Pure; `meaning` supplies the vectors, and `rank` combines similarity
//! with word evidence.

use std::{collections::HashMap, sync::Arc};

/// So many tokens of a request are read, and so many of what stands for a tool.
pub const TOKENS: usize = 128;

/// Numbers that are multiplied side by side.
const LANES: usize = 16;

/// Vectors of length one, by the number of the text they stand for.
#[derive(Debug, Clone, Default)]
pub struct Vectors(HashMap<u64, Arc<Vector>>);

/// A vector with eight bits a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    scale: f32,
    numbers: Box<[i8]>,
}

/// A request's vectors, and those of the tools.
#[derive(Debug, Clone)]
pub struct Meaning {
    whole: Arc<[f32]>,
    /// One for each part of a request that has several.
    parts: Vec<Arc<[f32]>>,
    vectors: Arc<Vectors>,
}

/// How much each tool is meant, by its position: 1 for the one that is meant most, 0 for what is meant no more than usual.
#[derive(Debug)]
pub(in crate::catalog) struct Meant {
    pub(super) whole: Vec<f32>,
    pub(super) parts: Vec<Vec<f32>>,
}

impl Vector {
    /// `None` for one that points nowhere.
    pub fn of(vector: &[f32]) -> Option<Self> {
        let vector = unit(vector)?;
        let scale = vector.iter().fold(0.0f32, |greatest, number| greatest.max(number.abs())) / 127.0;
        Some(Self { scale, numbers: vector.iter().map(|number| (number / scale).round() as i8).collect() })
    }

    /// Stands for a text whose vector points nowhere, so that nobody asks for it again. It is like no request.
    pub fn nowhere() -> Self {
        Self { scale: 0.0, numbers: Box::default() }
    }

    /// As it is kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = self.numbers.iter().map(|number| number.cast_unsigned());
        self.scale.to_le_bytes().into_iter().chain(numbers).collect()
    }

    /// What [`to_bytes`](Self::to_bytes) made.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (scale, numbers) = bytes.split_first_chunk::<4>()?;
        let scale = f32::from_le_bytes(*scale);
        let numbers: Box<[i8]> = numbers.iter().map(|number| number.cast_signed()).collect();
        if numbers.is_empty() {
            return (scale == 0.0).then(Self::nowhere);
        }
        (scale.is_finite() && scale > 0.0).then_some(Self { scale, numbers })
    }

    fn likeness(&self, query: &[f32]) -> f32 {
        let (numbers, rest) = self.numbers.as_chunks::<LANES>();
        let (query, query_rest) = query.as_chunks::<LANES>();
        let mut sums = [0.0f32; LANES];
        for (numbers, query) in numbers.iter().zip(query) {
            for ((sum, number), query) in sums.iter_mut().zip(numbers).zip(query) {
                *sum += f32::from(*number) * query;
            }
        }
        let rest = rest.iter().zip(query_rest).map(|(number, query)| f32::from(*number) * query);
        self.scale * (sums.iter().sum::<f32>() + rest.sum::<f32>())
    }
}

impl Vectors {
    /// Takes in a vector.
    pub fn put(&mut self, text: u64, vector: Vector) {
        self.0.insert(text, Arc::new(vector));
    }

    /// Is it known?
    pub fn knows(&self, text: u64) -> bool {
        self.0.contains_key(&text)
    }

    /// Is none known?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All of them, in no order.
    pub fn all(&self) -> impl Iterator<Item = (u64, &Vector)> {
        self.0.iter().map(|(text, vector)| (*text, &**vector))
    }

    /// Forgets those of other texts.
    pub fn keep(&mut self, is_wanted: impl Fn(u64) -> bool) {
        self.0.retain(|text, _| is_wanted(*text));
    }
}

impl Meaning {
    /// Of the vectors of [`Catalog::parts`](crate::catalog::Catalog::parts): the request as a whole, then its parts.
    /// `None` where one points nowhere.
    pub fn of(request: &[Vec<f32>], vectors: Arc<Vectors>) -> Option<Self> {
        let units: Option<Vec<Arc<[f32]>>> = request.iter().map(|vector| unit(vector)).collect();
        let mut units = units?.into_iter();
        Some(Self { whole: units.next()?, parts: units.collect(), vectors })
    }

    /// How much the tools are meant whose texts have these numbers; `None` where nothing is known of any.
    pub(in crate::catalog) fn meant(&self, texts: &[Option<u64>]) -> Option<Meant> {
        let known: Vec<Option<&Vector>> = texts
            .iter()
            .map(|text| {
                let vector = self.vectors.0.get(&(*text)?)?;
                (vector.numbers.len() == self.whole.len()).then_some(&**vector)
            })
            .collect();
        known.iter().any(Option::is_some).then(|| Meant {
            whole: stand_out(&self.whole, &known),
            parts: self.parts.iter().map(|part| stand_out(part, &known)).collect(),
        })
    }
}

/// Models differ in what is much, and so do queries: what counts is how far a tool stands out.
fn stand_out(query: &[f32], vectors: &[Option<&Vector>]) -> Vec<f32> {
    let alike: Vec<Option<f32>> =
        vectors.iter().map(|vector| vector.map(|vector| vector.likeness(query))).collect();
    let known = || alike.iter().copied().flatten();
    let usual = known().sum::<f32>() / known().count().max(1) as f32;
    let most = known().fold(f32::MIN, f32::max);
    let far = |alike: Option<f32>| match alike {
        Some(alike) if most > usual => ((alike - usual) / (most - usual)).clamp(0.0, 1.0),
        _ => 0.0,
    };
    alike.into_iter().map(far).collect()
}

fn unit(vector: &[f32]) -> Option<Arc<[f32]>> {
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
    fn what_stands_out_is_meant() {
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
        assert!((vector.likeness(&unit(&numbers).unwrap()) - 1.0).abs() < 0.001);
    }
}
