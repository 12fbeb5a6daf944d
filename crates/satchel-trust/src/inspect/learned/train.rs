//! Trains the weights: logistic regression over the features of each text's most suspicious part. `make learn` writes
//! them and they are committed; nothing learns at run time.

use serde_json::Value;

use super::{
    HEAD, SIGNS, Weights,
    signs::{self, Stretch},
};
use crate::inspect::fold::Folded;

/// If set, tests write the weights instead of comparing them.
const REWRITE: &str = "SATCHEL_WRITE_WEIGHTS";
/// Number of epochs.
const ROUNDS: usize = 20;
/// Number of initial epochs in which every stretch counts, because the highest-scoring one is not known yet.
const ALL: usize = 3;
/// Learning rate.
const PACE: f32 = 0.1;
/// Regularization of each weight, per text that contains its sign.
const DRAW: f32 = 0.004;
/// The weight of a harmless text.
const HARMLESS: f32 = 1.5;
/// The weight of a harmful text.
const HARMFUL: f32 = 1.8;

const TEXTS: [(bool, &str); 2] =
    [(true, include_str!("texts/harmful.jsonl")), (false, include_str!("texts/harmless.jsonl"))];

pub(super) struct Example {
    pub(super) harmful: bool,
    pub(super) stretches: Vec<Stretch>,
}

impl Example {
    pub(super) fn of(harmful: bool, text: &str) -> Self {
        Self { harmful, stretches: signs::stretches(&Folded::of(text).text) }
    }
}

pub(super) struct Learned {
    of: Vec<f32>,
    bias: f32,
}

impl Learned {
    pub(super) fn weigh(&self, stretch: &Stretch) -> f32 {
        let sum: f32 = stretch.signs.iter().map(|sign| self.of[sign.at as usize] * stretch.share(sign)).sum();
        self.bias + sum
    }

    pub(super) fn heaviest<'a>(&self, example: &'a Example) -> Option<(&'a Stretch, f32)> {
        let weighed = example.stretches.iter().map(|stretch| (stretch, self.weigh(stretch)));
        weighed.max_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    fn bytes(&self, digest: u32) -> Vec<u8> {
        let most = self.of.iter().fold(f32::MIN_POSITIVE, |most, weight| most.max(weight.abs()));
        let step = most / f32::from(i8::MAX);
        let mut bytes = Vec::with_capacity(HEAD + self.of.len());
        bytes.extend(step.to_le_bytes());
        bytes.extend(self.bias.to_le_bytes());
        bytes.extend(digest.to_le_bytes());
        bytes.extend(self.of.iter().map(|weight| ((weight / step).round() as i8).to_le_bytes()[0]));
        bytes
    }
}

/// AdaGrad, one text at a time.
pub(super) fn learn(examples: &[&Example]) -> Learned {
    let mut learned = Learned { of: vec![0.0; SIGNS as usize], bias: 0.0 };
    let mut squares = vec![0.01_f32; SIGNS as usize];
    let mut square = 0.01_f32;
    let mut random = fastrand::Rng::with_seed(5);
    let mut order: Vec<usize> = (0..examples.len()).collect();
    for round in 0..ROUNDS {
        random.shuffle(&mut order);
        for at in &order {
            let example = examples[*at];
            let chosen: Vec<&Stretch> = match round {
                0..ALL => example.stretches.iter().collect(),
                _ => learned.heaviest(example).map(|(stretch, _)| stretch).into_iter().collect(),
            };
            let (wanted, part) = if example.harmful { (1.0, HARMFUL) } else { (0.0, HARMLESS) };
            for stretch in &chosen {
                let likely = 1.0 / (1.0 + (-learned.weigh(stretch)).exp());
                let slope = (likely - wanted) * part / chosen.len() as f32;
                for sign in &stretch.signs {
                    let at = sign.at as usize;
                    let pull = slope * stretch.share(sign) + DRAW * learned.of[at];
                    squares[at] += pull * pull;
                    learned.of[at] -= PACE * pull / squares[at].sqrt();
                }
                square += slope * slope;
                learned.bias -= PACE * slope / square.sqrt();
            }
        }
    }
    learned
}

fn texts() -> Vec<(bool, String)> {
    let text = |line: &str| -> String {
        let line: Value = serde_json::from_str(line).expect("a line is an object");
        line["text"].as_str().expect("it has a text").to_owned()
    };
    TEXTS.iter().flat_map(|(harmful, of)| of.lines().map(|line| (*harmful, text(line)))).collect()
}

/// Identifies the training data: FNV-1a over texts and classes.
fn digest() -> u32 {
    let all = TEXTS.iter().flat_map(|(_, of)| of.bytes()).chain(include_str!("classes.txt").bytes());
    all.filter(|byte| *byte != b'\r')
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[test]
fn the_weights_are_those_of_these_texts() {
    if std::env::var_os(REWRITE).is_some() {
        let examples: Vec<Example> =
            texts().iter().map(|(harmful, text)| Example::of(*harmful, text)).collect();
        let learned = learn(&examples.iter().collect::<Vec<_>>());
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/trust/inspect/learned/weights.bin");
        std::fs::write(path, learned.bytes(digest())).expect("the source can be written");
        return;
    }
    let bytes = include_bytes!("weights.bin");
    assert_eq!(bytes.len(), HEAD + SIGNS as usize);
    assert_eq!(bytes[8..HEAD], digest().to_le_bytes(), "texts or classes have changed: run `make learn`");
}

#[test]
fn of_the_texts_they_were_learned_from_the_weights_know_nearly_all() {
    let weights = Weights::read(include_bytes!("weights.bin"));
    let heaviest = |text: &str| {
        let stretches = signs::stretches(&Folded::of(text).text);
        stretches.iter().map(|stretch| weights.weigh(stretch).0).fold(f32::NEG_INFINITY, f32::max)
    };
    for (harmful, enough) in [(true, 0.95), (false, 0.99)] {
        let texts: Vec<String> =
            texts().into_iter().filter(|(of, _)| *of == harmful).map(|(_, text)| text).step_by(5).collect();
        assert!(texts.len() >= 300, "{}", texts.len());
        let right = texts.iter().filter(|text| (heaviest(text) >= 0.0) == harmful).count();
        println!("measured: known of those learned from, harmful {harmful}: {right} of {}", texts.len());
        assert!(right as f32 >= enough * texts.len() as f32, "{right} of {}", texts.len());
    }
}
