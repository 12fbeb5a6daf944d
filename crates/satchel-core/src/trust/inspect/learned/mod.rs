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

/// So many weights there are; signs share them by a hash.
const SIGNS: u32 = 1 << 18;
/// From here on a text is a finding.
const ENOUGH: f32 = 0.6;
/// What the words and their pairs of a stretch have to weigh by themselves. What they lack counts against it: that a
/// text is about keys, messages and files says little, for so are most tools.
const LITERALLY: f32 = 0.9;
/// Below this a clause is no order, whatever pattern fits it.
const TOO_LITTLE: f32 = -1.0;
/// From here on a clause that a pattern fits is what the pattern says.
const CLEARLY: f32 = 0.0;
/// And from here on even where no single sign of it would be enough.
const PLAINLY: f32 = 1.6;
/// Of a text whose words are mostly unknown nothing can be said.
const KNOWN: f32 = 0.6;
/// Who looks at many stretches finds something by accident: each doubling has to weigh so much more.
const DOUBLING: f32 = 0.6;
/// But not for ever, or a long text could hide anything.
const DOUBLINGS: f32 = 3.0;
/// The same for all stretches of a definition that has more than a few, in hundredths.
const FEW: usize = 2;
const DEFINITION_DOUBLING: u16 = 10;
const DEFINITION_DOUBLINGS: u32 = 4;
/// Bytes before the weights: how much a step is, what a text without any sign weighs, and of which texts they come.
const HEAD: usize = 12;

/// What was learned.
struct Weights {
    /// How much a step is.
    step: f32,
    /// What a stretch without any sign weighs.
    bias: f32,
    /// By where a sign has its weight, in steps.
    of: &'static [u8],
}

static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| Weights::read(include_bytes!("weights.bin")));

impl Weights {
    /// Numbers are little-endian. What is missing weighs nothing.
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

    /// How much the words and pairs of words of a stretch weigh.
    fn literal(&self, stretch: &Stretch) -> f32 {
        let literal = stretch.signs.iter().filter(|sign| Stretch::is_literal(sign));
        literal.map(|sign| f32::from(self.of(sign.at)) * self.step * stretch.share(sign)).sum()
    }

    /// How much a stretch weighs, and which of its sentences weighs most.
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

    /// Which part of its words was seen when the weights were learned.
    fn known(&self, stretch: &Stretch) -> f32 {
        let words = stretch.signs.iter().filter(|sign| Stretch::is_word(sign));
        let (known, all) = words.fold((0.0_f32, 0.0_f32), |(known, all), sign| {
            (known + f32::from(u8::from(self.of(sign.at) != 0)), all + 1.0)
        });
        known / all.max(1.0)
    }
}

/// What the model says of a text.
pub(super) enum Resemblance {
    /// It resembles texts that mislead models, most of all here in the original, and by so many hundredths more than
    /// enough.
    Resembles(Range<usize>, u16),
    /// It does not, or not enough.
    Nothing,
}

/// How many hundredths more than enough it has to be in a definition of so many stretches: the more there are, the more
/// likely one of them resembles something by accident.
pub(super) fn wanted_of(stretches: usize) -> u16 {
    let doublings = (stretches / FEW).max(1).ilog2().min(DEFINITION_DOUBLINGS);
    u16::try_from(doublings).unwrap_or_default() * DEFINITION_DOUBLING
}

/// How many stretches a text has.
pub(super) fn stretches(text: &str) -> usize {
    let folded = Folded::of(text);
    if is_no_prose(&folded.text) { 0 } else { signs::count(&folded.text) }
}

/// Weighs a text by its heaviest stretch.
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
    // A number beyond the range becomes its end.
    Resemblance::Resembles(folded.original(sentence), (more * 100.0) as u16)
}

/// What the model says of a clause that something was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Clause {
    /// It misleads nobody.
    Harmless,
    /// Nothing.
    Unsure,
    /// What was found may well be there.
    Likely,
    /// It would be noticed by its words alone.
    Plain,
}

/// Weighs a clause. Where its words are unknown, whatever was found is believed.
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

/// The heaviest stretch, how much it weighs, and which of its sentences weighs most.
fn heaviest(stretches: Vec<Stretch>) -> Option<((f32, usize), Stretch)> {
    let weighed = stretches.into_iter().map(|stretch| (WEIGHTS.weigh(&stretch), stretch));
    weighed.max_by(|((a, _), _), ((b, _), _)| a.total_cmp(b))
}

/// Regular expressions and the like have signs for words, and no blanks.
fn is_no_prose(text: &str) -> bool {
    text.is_ascii() && text.split_ascii_whitespace().nth(2).is_none()
}

fn allowance(stretches: usize) -> f32 {
    let stretches = u16::try_from(stretches.max(1)).unwrap_or(u16::MAX);
    f32::from(stretches).log2().min(DOUBLINGS) * DOUBLING
}
