//! The loops that take the time, written so that the compiler turns them into vector instructions. They are compiled twice:
//! for every processor, and for those with AVX2; which ones run is found out once. On ARM, NEON is always there.

use std::sync::LazyLock;

use pulp::Arch;

static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// The greatest weight.
const WEIGHT: f32 = 127.0;

/// A matrix with a scale for each row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) scales: &'a [f32],
    /// Row by row; the bytes are signed.
    pub(crate) bytes: &'a [u8],
}

impl Rows<'_> {
    pub(crate) fn columns(&self) -> usize {
        self.bytes.len() / self.scales.len().max(1)
    }

    /// Adds a row to `sum`.
    pub(crate) fn add_row(&self, row: usize, sum: &mut [f32]) {
        let (scale, columns) = (self.scales[row], sum.len());
        for (sum, byte) in sum.iter_mut().zip(&self.bytes[row * columns..]) {
            *sum += f32::from(byte.cast_signed()) * scale;
        }
    }
}

/// Activations in sixteen bits, with a scale for each token: so fine that only the weights lose anything.
struct Narrow {
    values: Vec<i16>,
    scales: Vec<f32>,
}

impl Narrow {
    #[inline(always)]
    fn of(input: &[f32], columns: usize) -> Self {
        // As large as the sum of a whole row of the greatest products can be without running over.
        let most = (i32::MAX as f32 / (WEIGHT * columns as f32)).min(f32::from(i16::MAX)).floor();
        let mut narrow = Self { values: Vec::with_capacity(input.len()), scales: Vec::new() };
        for token in input.chunks_exact(columns) {
            let greatest = token.iter().fold(0.0f32, |greatest, value| greatest.max(value.abs()));
            let scale = if greatest > 0.0 { most / greatest } else { 0.0 };
            for value in token {
                narrow.values.push(rounded(value * scale) as i16);
            }
            narrow.scales.push(if scale > 0.0 { scale.recip() } else { 0.0 });
        }
        narrow
    }
}

/// `input` has a row for each token; so has what comes out: each times the matrix, plus the bias.
pub(crate) fn linear(input: &[f32], weights: Rows<'_>, bias: &[f32]) -> Vec<f32> {
    ARCH.dispatch(
        #[inline(always)]
        || linear_here(input, weights, bias),
    )
}

#[inline(always)]
fn linear_here(input: &[f32], weights: Rows<'_>, bias: &[f32]) -> Vec<f32> {
    let (columns, outputs) = (weights.columns(), bias.len());
    let narrow = Narrow::of(input, columns);
    let tokens = narrow.scales.len();
    let mut output = vec![0.0; tokens * outputs];
    let mut row = vec![0i16; columns];
    let matrix = weights.bytes.chunks_exact(columns).zip(weights.scales).zip(bias).enumerate();
    for (at, ((bytes, scale), bias)) in matrix {
        for (wide, byte) in row.iter_mut().zip(bytes) {
            *wide = i16::from(byte.cast_signed());
        }
        for (number, token) in narrow.values.chunks_exact(columns).enumerate() {
            output[number * outputs + at] =
                product(&row, token) as f32 * narrow.scales[number] * scale + bias;
        }
    }
    output
}

/// The sum of all products. Wrapping, because a check for each step would keep the compiler from taking several at once;
/// [`Narrow`] sees to it that nothing runs over.
#[inline(always)]
fn product(row: &[i16], token: &[i16]) -> i32 {
    let mut sum = 0i32;
    for (weight, value) in row.iter().zip(token) {
        sum = sum.wrapping_add(i32::from(*weight).wrapping_mul(i32::from(*value)));
    }
    sum
}

/// Eight sums side by side, which the compiler may add at once.
#[inline(always)]
fn dot(one: &[f32], other: &[f32]) -> f32 {
    let (ones, others) = (one.as_chunks::<8>(), other.as_chunks::<8>());
    let mut sums = [0.0f32; 8];
    for (one, other) in ones.0.iter().zip(others.0) {
        for at in 0..8 {
            sums[at] += one[at] * other[at];
        }
    }
    let rest: f32 = ones.1.iter().zip(others.1).map(|(one, other)| one * other).sum();
    sums.iter().sum::<f32>() + rest
}

/// What every token takes from all others, head by head. The three inputs have a row for each token.
pub(crate) fn attention(
    queries: &[f32],
    keys: &[f32],
    values: &[f32],
    width: usize,
    heads: usize,
) -> Vec<f32> {
    ARCH.dispatch(
        #[inline(always)]
        || attention_here(queries, keys, values, width, heads),
    )
}

#[inline(always)]
fn attention_here(queries: &[f32], keys: &[f32], values: &[f32], width: usize, heads: usize) -> Vec<f32> {
    let tokens = queries.len() / width;
    let size = width / heads;
    let scale = (size as f32).sqrt().recip();
    let mut output = vec![0.0; queries.len()];
    let mut weights = vec![0.0f32; tokens];
    for head in 0..heads {
        let part = |token: usize| token * width + head * size..token * width + (head + 1) * size;
        for token in 0..tokens {
            let query = &queries[part(token)];
            for (other, weight) in weights.iter_mut().enumerate() {
                *weight = dot(query, &keys[part(other)]) * scale;
            }
            let greatest = weights.iter().copied().fold(f32::MIN, f32::max);
            for weight in &mut weights {
                *weight = exp(*weight - greatest);
            }
            let whole: f32 = weights.iter().sum();
            let sum = &mut output[part(token)];
            for (other, weight) in weights.iter().enumerate() {
                for (sum, value) in sum.iter_mut().zip(&values[part(other)]) {
                    *sum += weight / whole * value;
                }
            }
        }
    }
    output
}

/// Adds `more` and brings each token to mean 0 and spread 1, then to the weights and the bias.
pub(crate) fn add_and_norm(state: &mut [f32], more: &[f32], weights: &[f32], bias: &[f32]) {
    for (state, more) in state.chunks_exact_mut(weights.len()).zip(more.chunks_exact(weights.len())) {
        state.iter_mut().zip(more).for_each(|(value, more)| *value += more);
        norm(state, weights, bias);
    }
}

/// The same for one token, with nothing to add.
pub(crate) fn norm(state: &mut [f32], weights: &[f32], bias: &[f32]) {
    let count = state.len() as f32;
    let mean = state.iter().sum::<f32>() / count;
    let spread = state.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / count;
    let scale = (spread + 1e-12).sqrt().recip();
    for ((value, weight), bias) in state.iter_mut().zip(weights).zip(bias) {
        *value = (*value - mean) * scale * weight + bias;
    }
}

/// `x` times how much of a bell curve lies below it.
pub(crate) fn gelu(values: &mut [f32]) {
    ARCH.dispatch(
        #[inline(always)]
        || gelu_here(values),
    );
}

#[inline(always)]
fn gelu_here(values: &mut [f32]) {
    for value in values {
        *value = 0.5 * *value * (1.0 + erf(*value * std::f32::consts::FRAC_1_SQRT_2));
    }
}

/// Abramowitz and Stegun 7.1.26, right to 1.5e-7.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let (size, t) = (x.abs(), 1.0 / (1.0 + 0.327_591_1 * x.abs()));
    let sum =
        ((((1.061_405_4 * t - 1.453_152_1) * t + 1.421_413_8) * t - 0.284_496_74) * t + 0.254_829_6) * t;
    (1.0 - sum * exp(-size * size)).copysign(x)
}

/// Added to a number of less than 22 bits, it leaves no room for what is behind the point: the lowest bits are then the
/// nearest whole number. A conversion would look for numbers that are none, one by one.
const ROUND: f32 = 12_582_912.0;

/// The nearest whole number.
#[inline(always)]
fn rounded(x: f32) -> i32 {
    (x + ROUND).to_bits().wrapping_sub(ROUND.to_bits()).cast_signed()
}

/// For what is at most 0: two to the nearest whole number, times a polynomial of the rest.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = x.max(-80.0) * std::f32::consts::LOG2_E;
    let rest = (x - ((x + ROUND) - ROUND)) * std::f32::consts::LN_2;
    let sum = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (0.166_666_67
                                + rest * (0.041_666_67 + rest * (0.008_333_334 + rest * 0.001_388_889)))));
    sum * f32::from_bits((rounded(x).wrapping_add(127).cast_unsigned()) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_and_the_error_function_are_right() {
        for (x, expected) in [(0.0, 1.0), (-0.5, 0.606_530_66), (-1.0, 0.367_879_44), (-20.0, 2.061_153_6e-9)]
        {
            assert!((exp(x) - expected).abs() <= expected * 1e-5, "{x}: {}", exp(x));
        }
        for (x, expected) in [(0.0, 0.0), (0.5, 0.520_499_9), (-1.0, -0.842_700_8), (3.0, 0.999_977_9)] {
            assert!((erf(x) - expected).abs() < 1e-6, "{x}: {}", erf(x));
        }
    }

    #[test]
    fn a_product_is_that_of_the_numbers_it_stands_for() {
        let (columns, tokens) = (1536, 7);
        let value = |at: usize| ((at * 7_919) % 2_001) as f32 / 1_000.0 - 1.0;
        let input: Vec<f32> = (0..columns * tokens).map(value).collect();
        let bytes: Vec<u8> =
            (0..2 * columns).map(|at| (((at * 31) % 255) as i16 - 127) as i8 as u8).collect();
        let (scales, bias) = ([0.01, 0.5], [1.0, -2.0]);
        let output = linear(&input, Rows { scales: &scales, bytes: &bytes }, &bias);
        for token in 0..tokens {
            for row in 0..2 {
                let sum: f64 = (0..columns)
                    .map(|at| {
                        let weight = f64::from(bytes[row * columns + at].cast_signed());
                        f64::from(input[token * columns + at]) * weight * f64::from(scales[row])
                    })
                    .sum();
                let (expected, got) = (sum + f64::from(bias[row]), f64::from(output[token * 2 + row]));
                assert!((expected - got).abs() < 0.01 * f64::from(scales[row]) * 100.0, "{expected} {got}");
            }
        }
    }

    #[test]
    fn the_greatest_numbers_do_not_run_over() {
        let columns = 1536;
        let input = vec![5.0; columns];
        let bytes = vec![127u8; columns];
        let output = linear(&input, Rows { scales: &[1.0], bytes: &bytes }, &[0.0]);
        let expected = 5.0 * 127.0 * columns as f32;
        assert!((output[0] - expected).abs() < expected * 1e-3, "{output:?}");
    }
}
