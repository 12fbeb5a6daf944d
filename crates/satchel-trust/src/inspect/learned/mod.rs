//! A small linear model beside the patterns: how much a text resembles those that mislead models.
//!
//! A few sentences at a time are taken apart into words, pairs of words, what the words are about (`classes.txt`), and
//! what a text only speaks of after its first sentence. Every such sign has a weight, learned by `train.rs` from the
//! texts in `texts/` and kept in `weights.bin`; sentences whose weights add up to enough are a finding, and a text that
//! weighs far too little is no order, whatever pattern fits it. Always the same answer, no network, time linear in the
//! length of the text. It knows words, and not what they mean.

mod signs;
#[cfg(test)]
mod train;

use std::{ops::Range, sync::LazyLock};

use super::fold::Folded;
use signs::Stretch;

/// Number of weights; signs share them by a hash.
const SIGNS: u32 = 1 << 18;
/// Score from which a text is a finding.
const ENOUGH: f32 = 0.6;
/// Minimum score of the words and word pairs alone; a deficit is subtracted. Merely mentioning keys, messages and
/// files means little, because most tools do.
const LITERALLY: f32 = 0.9;
/// Score below which a clause is not an order, whatever pattern matches it.
const TOO_LITTLE: f32 = -1.0;
/// Score from which a clause that a pattern matches is what the pattern says.
const CLEARLY: f32 = 0.0;
/// Score from which that is so even if no single sign suffices.
const PLAINLY: f32 = 1.6;
/// Minimum share of known words in a text; otherwise nothing can be said.
const KNOWN: f32 = 0.6;
/// The more stretches are scored, the likelier an accidental hit: each doubling requires this much more.
const DOUBLING: f32 = 0.6;
/// The limit of that, so that a long text cannot hide everything.
const DOUBLINGS: f32 = 3.0;
/// The same for all stretches of a definition with more than a few, in hundredths.
const FEW: usize = 2;
const DEFINITION_DOUBLING: u16 = 10;
const DEFINITION_DOUBLINGS: u32 = 4;
/// Size of the header: step, bias, and the digest of the training texts.
const HEAD: usize = 12;

/// The trained model.
struct Weights {
    /// The quantization step.
    step: f32,
    /// The bias of a stretch.
    bias: f32,
    /// The quantized weights, by a sign's index.
    of: &'static [u8],
}

static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| Weights::read(include_bytes!("weights.bin")));

impl Weights {
    /// Numbers are little-endian. Missing weights are zero.
    fn read(bytes: &'static [u8]) -> Self {
        let number = |at: usize| {
            let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
            four.map_or(0.0, f32::from_le_bytes)
        };
        Self { step: number(0), bias: number(4), of: bytes.get(HEAD..).unwrap_or_default() }
    }

    fn of(&self, at: u32) -> i8 {
        let byte = usize::try_from(at).ok().and_then(|at| self.of.get(at));
        byte.map_or(0, |byte| i8::from_le_bytes([*byte]))
    }

    /// The score of a stretch's words and word pairs.
    fn literal(&self, stretch: &Stretch) -> f32 {
        let literal = stretch.signs.iter().filter(|sign| Stretch::is_literal(sign));
        literal.map(|sign| f32::from(self.of(sign.at)) * self.step * stretch.share(sign)).sum()
    }

    /// The score of a stretch, and its highest-scoring sentence.
    fn weigh(&self, stretch: &Stretch) -> (f32, usize) {
        let mut sentences = vec![0.0_f32; stretch.sentences.len()];
        for sign in &stretch.signs {
            if let Some(sum) = sentences.get_mut(usize::from(sign.sentence)) {
                *sum += f32::from(self.of(sign.at)) * self.step * stretch.share(sign);
            }
        }
        let most = (0..sentences.len()).max_by(|a, b| sentences[*a].total_cmp(&sentences[*b])).unwrap_or(0);
        (self.bias + sentences.iter().sum::<f32>(), most)
    }

    /// The share of its words that occurred in training.
    fn known(&self, stretch: &Stretch) -> f32 {
        let words = stretch.signs.iter().filter(|sign| Stretch::is_word(sign));
        let (known, all) = words.fold((0.0_f32, 0.0_f32), |(known, all), sign| {
            (known + f32::from(u8::from(self.of(sign.at) != 0)), all + 1.0)
        });
        known / all.max(1.0)
    }
}

/// The model's verdict on a text.
pub(super) enum Resemblance {
    /// It resembles texts that mislead models: the range in the original, and the excess over the threshold in
    /// hundredths.
    Resembles(Range<usize>, u16),
    /// It does not, or not enough.
    Nothing,
}

/// The required excess in hundredths for a definition of this many stretches: the more, the likelier an accidental
/// hit.
pub(super) fn wanted_of(stretches: usize) -> u16 {
    let doublings = (stretches / FEW).max(1).ilog2().min(DEFINITION_DOUBLINGS);
    u16::try_from(doublings).unwrap_or_default() * DEFINITION_DOUBLING
}

/// Number of stretches in a text.
pub(super) fn stretches(text: &str) -> usize {
    let folded = Folded::of(text);
    if is_no_prose(&folded.text) { 0 } else { signs::count(&folded.text) }
}

/// Scores a text by its highest-scoring stretch.
pub(super) fn said(folded: &Folded) -> Resemblance {
    if is_no_prose(&folded.text) {
        return Resemblance::Nothing;
    }
    let stretches = signs::stretches(&folded.text);
    let count = stretches.len();
    let Some(((sum, most), stretch)) = heaviest(stretches) else { return Resemblance::Nothing };
    let lacking = (LITERALLY - WEIGHTS.literal(&stretch)).max(0.0);
    let more = sum - allowance(count) - lacking - ENOUGH;
    if more < 0.0 {
        return Resemblance::Nothing;
    }
    let sentence = stretch.sentences.get(most).cloned().unwrap_or_default();
    // Saturating conversion.
    Resemblance::Resembles(folded.original(sentence), (more * 100.0) as u16)
}

/// The model's verdict on a clause with a pattern match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Clause {
    /// It misleads nobody.
    Harmless,
    /// Undecided.
    Unsure,
    /// The match is plausible.
    Likely,
    /// The words alone would be a finding.
    Plain,
}

/// Scores a clause. If its words are unknown, the match stands.
pub(super) fn of_clause(folded: &Folded) -> Clause {
    let Some(((sum, _), stretch)) = heaviest(signs::stretches(&folded.text)) else { return Clause::Likely };
    let unknown = WEIGHTS.known(&stretch) < KNOWN;
    match sum {
        sum if sum >= PLAINLY => Clause::Plain,
        sum if unknown || sum >= CLEARLY => Clause::Likely,
        sum if sum >= TOO_LITTLE => Clause::Unsure,
        _ => Clause::Harmless,
    }
}

/// The highest-scoring stretch, its score, and its highest-scoring sentence.
fn heaviest(stretches: Vec<Stretch>) -> Option<((f32, usize), Stretch)> {
    let weighed = stretches.into_iter().map(|stretch| (WEIGHTS.weigh(&stretch), stretch));
    weighed.max_by(|((a, _), _), ((b, _), _)| a.total_cmp(b))
}

/// Regular expressions and the like consist of symbols, without blanks.
fn is_no_prose(text: &str) -> bool {
    text.is_ascii() && text.split_ascii_whitespace().nth(2).is_none()
}

fn allowance(stretches: usize) -> f32 {
    let stretches = u16::try_from(stretches.max(1)).unwrap_or(u16::MAX);
    f32::from(stretches).log2().min(DOUBLINGS) * DOUBLING
}
