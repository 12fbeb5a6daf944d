//! The hot loops, compiled twice: for any processor (with the vector instructions the compiler finds; NEON on ARM) and
//! for AVX2. Detected once at run time.

#[cfg(target_arch = "x86_64")]
use std::{arch::x86_64::__m256i, sync::LazyLock};

#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;

/// The maximum weight.
const WEIGHT: f32 = 127.0;
/// Number of weights and activations multiplied at once: 256 bits hold this many of 16 bits.
#[cfg(target_arch = "x86_64")]
const STEP: usize = 16;
/// A tile of the product has this many rows of the matrix and this many tokens: each value read is used several times,
/// all sums stay in registers, and the rows' sums of one token are added up and stored together.
const ROWS: usize = 4;
const TOKENS: usize = 2;

#[cfg(target_arch = "x86_64")]
static AVX2: LazyLock<Option<V3>> = LazyLock::new(V3::try_new);

/// Calls a function whose first argument is the processor's features, compiled for those features.
macro_rules! dispatch {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        #[cfg(target_arch = "x86_64")]
        if let Some(processor) = *AVX2 {
            return processor.vectorize(
                #[inline(always)]
                || $function(processor, $($argument),*),
            );
        }
        $function(Any, $($argument),*)
    }};
}

/// What the compiler does not do well by itself.
trait Processor: Copy {
    /// For each token its dot products with some rows. All have the same length.
    fn tile<const R: usize, const T: usize>(self, rows: [&[u8]; R], tokens: [&[i16]; T]) -> [[i32; R]; T];

    /// `factor` times `value`, plus `sum`: in one step where the processor has one.
    fn add_product(self, factor: f32, value: f32, sum: f32) -> f32;
}

/// Any processor.
#[derive(Clone, Copy)]
struct Any;

impl Processor for Any {
    #[inline(always)]
    fn tile<const R: usize, const T: usize>(self, rows: [&[u8]; R], tokens: [&[i16]; T]) -> [[i32; R]; T] {
        tokens.map(|token| rows.map(|row| product(row, token)))
    }

    #[inline(always)]
    fn add_product(self, factor: f32, value: f32, sum: f32) -> f32 {
        factor * value + sum
    }
}

#[cfg(target_arch = "x86_64")]
impl Processor for V3 {
    #[inline(always)]
    fn tile<const R: usize, const T: usize>(self, rows: [&[u8]; R], tokens: [&[i16]; T]) -> [[i32; R]; T] {
        let (rows, row_rests) = split(rows);
        let (tokens, token_rests) = split(tokens);
        let steps = rows.first().map_or(0, |row| row.len());
        let (rows, tokens) = (rows.map(|row| &row[..steps]), tokens.map(|token| &token[..steps]));
        let mut sums = [[self.avx._mm256_setzero_si256(); R]; T];
        for step in 0..steps {
            let tokens = tokens.map(|token: &[[i16; STEP]]| pulp::cast(token[step]));
            for (at, row) in rows.iter().enumerate() {
                let row = self.avx2._mm256_cvtepi8_epi16(pulp::cast(row[step]));
                for (sums, token) in sums.iter_mut().zip(tokens) {
                    sums[at] = self.avx2._mm256_add_epi32(sums[at], self.avx2._mm256_madd_epi16(row, token));
                }
            }
        }
        let mut output = sums.map(|sums| totals(self, sums));
        if row_rests.iter().any(|rest| !rest.is_empty()) {
            for (output, token) in output.iter_mut().zip(token_rests) {
                for (output, row) in output.iter_mut().zip(row_rests) {
                    *output = output.wrapping_add(product(row, token));
                }
            }
        }
        output
    }

    #[inline(always)]
    fn add_product(self, factor: f32, value: f32, sum: f32) -> f32 {
        factor.mul_add(value, sum)
    }
}

/// The sum of the eight numbers in each of some registers.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn totals<const N: usize>(processor: V3, sums: [__m256i; N]) -> [i32; N] {
    let mut totals = [0; N];
    let (fours, rest) = sums.as_chunks::<4>();
    let (total_fours, total_rest) = totals.as_chunks_mut::<4>();
    for ([a, b, c, d], totals) in fours.iter().zip(total_fours) {
        let add = |one, other| processor.avx2._mm256_hadd_epi32(one, other);
        let [low, high]: [[i32; 4]; 2] = pulp::cast(add(add(*a, *b), add(*c, *d)));
        *totals = std::array::from_fn(|at| low[at].wrapping_add(high[at]));
    }
    for (sums, total) in rest.iter().zip(total_rest) {
        let sums: [i32; 8] = pulp::cast(*sums);
        *total = sums.into_iter().fold(0, i32::wrapping_add);
    }
    totals
}

/// Splits into full steps and the remainder.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn split<V, const N: usize>(lines: [&[V]; N]) -> ([&[[V; STEP]]; N], [&[V]; N]) {
    (lines.map(|line| line.as_chunks().0), lines.map(|line| line.as_chunks::<STEP>().1))
}

/// The dot product. Wrapping, because a check in each step would prevent vectorisation; [`Narrow`] ensures that it
/// cannot overflow.
#[inline(always)]
fn product(row: &[u8], token: &[i16]) -> i32 {
    let mut sum = 0i32;
    for (weight, value) in row.iter().zip(token) {
        sum = sum.wrapping_add(i32::from(weight.cast_signed()).wrapping_mul(i32::from(*value)));
    }
    sum
}

/// The sum of this many products of any byte and any value fits into 32 bits.
const SUMMED: usize = 480;

/// The dot product of signed bytes and any values, over the length of the shorter slice. Exact on every processor.
pub fn dot(bytes: &[u8], values: &[i16]) -> i64 {
    dispatch!(dot_on(bytes, values))
}

#[inline(always)]
fn dot_on(processor: impl Processor, bytes: &[u8], values: &[i16]) -> i64 {
    let chunks = bytes.chunks(SUMMED).zip(values.chunks(SUMMED));
    chunks
        .map(|(bytes, values)| {
            let length = bytes.len().min(values.len());
            let [[sum]] = processor.tile([&bytes[..length]], [&values[..length]]);
            i64::from(sum)
        })
        .sum()
}

/// A matrix with one scale per row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) scales: &'a [f32],
    /// Row-major; the bytes are signed.
    pub(crate) bytes: &'a [u8],
}

impl Rows<'_> {
    /// Adds a row to `sum`.
    pub(crate) fn add_row(&self, row: usize, sum: &mut [f32]) {
        let (scale, columns) = (self.scales[row], sum.len());
        for (sum, byte) in sum.iter_mut().zip(&self.bytes[row * columns..]) {
            *sum += f32::from(byte.cast_signed()) * scale;
        }
    }
}

/// Activations in 16 bits with one scale per token: precise enough that only the weights lose precision.
#[derive(Debug, Default)]
pub(crate) struct Narrow {
    columns: usize,
    values: Vec<i16>,
    scales: Vec<f32>,
}

impl Narrow {
    /// Replaces the contents.
    pub(crate) fn set(&mut self, input: &[f32], columns: usize) {
        self.columns = columns;
        self.values.resize(input.len(), 0);
        self.scales.resize(input.len() / columns.max(1), 0.0);
        dispatch!(narrow(self, input));
    }
}

#[inline(always)]
fn narrow(_: impl Processor, narrow: &mut Narrow, input: &[f32]) {
    let columns = narrow.columns;
    // The largest value with which the sum of a full row of maximum products does not overflow.
    let most = (i32::MAX as f32 / (WEIGHT * columns as f32)).min(f32::from(i16::MAX)).floor();
    let tokens = input.chunks_exact(columns).zip(narrow.values.chunks_exact_mut(columns));
    for ((token, values), scale) in tokens.zip(&mut narrow.scales) {
        let (chunks, rest) = token.as_chunks::<8>();
        let mut greatest = [0.0f32; 8];
        for chunk in chunks {
            for (greatest, value) in greatest.iter_mut().zip(chunk) {
                *greatest = if value.abs() > *greatest { value.abs() } else { *greatest };
            }
        }
        let greatest = greatest.iter().chain(rest).fold(0.0f32, |greatest, value| greatest.max(value.abs()));
        let up = if greatest > 0.0 { most / greatest } else { 0.0 };
        for (narrow, value) in values.iter_mut().zip(token) {
            *narrow = rounded(value * up) as i16;
        }
        *scale = if up > 0.0 { up.recip() } else { 0.0 };
    }
}

/// Each token times the matrix, plus the bias.
pub(crate) fn linear(input: &Narrow, weights: Rows<'_>, bias: &[f32], output: &mut [f32]) {
    dispatch!(linear_on(input, weights, bias, output));
}

#[inline(always)]
fn linear_on(processor: impl Processor, input: &Narrow, weights: Rows<'_>, bias: &[f32], output: &mut [f32]) {
    let mut row = 0;
    while row + ROWS <= bias.len() {
        rows::<ROWS>(processor, input, weights, bias, output, row);
        row += ROWS;
    }
    while row < bias.len() {
        rows::<1>(processor, input, weights, bias, output, row);
        row += 1;
    }
}

/// Some rows of the matrix with all tokens.
#[inline(always)]
fn rows<const R: usize>(
    processor: impl Processor,
    input: &Narrow,
    weights: Rows<'_>,
    bias: &[f32],
    output: &mut [f32],
    row: usize,
) {
    let columns = input.columns;
    let lines: [&[u8]; R] = std::array::from_fn(|at| &weights.bytes[(row + at) * columns..][..columns]);
    let values = |of: &[f32]| -> [f32; R] { std::array::from_fn(|at| of[row + at]) };
    let (scales, biases) = (values(weights.scales), values(bias));
    let token = |at: usize| &input.values[at * columns..][..columns];
    let mut put = |token: usize, sums: [i32; R]| {
        let (output, scale) = (&mut output[token * bias.len() + row..][..R], input.scales[token]);
        for at in 0..R {
            output[at] = sums[at] as f32 * scale * scales[at] + biases[at];
        }
    };
    let (tokens, mut first) = (input.scales.len(), 0);
    while first + TOKENS <= tokens {
        let sums = processor.tile(lines, std::array::from_fn::<_, TOKENS, _>(|at| token(first + at)));
        sums.into_iter().enumerate().for_each(|(at, sums)| put(first + at, sums));
        first += TOKENS;
    }
    for first in first..tokens {
        let [sums] = processor.tile(lines, [token(first)]);
        put(first, sums);
    }
}

/// The sum of `of` over all values.
#[inline(always)]
fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = values.as_chunks::<8>();
    let mut sums = [0.0f32; 8];
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += of(*value);
        }
    }
    sums.iter().sum::<f32>() + rest.iter().map(|value| of(*value)).sum::<f32>()
}

/// Multi-head self-attention.
pub(crate) struct Attention<'a> {
    pub(crate) queries: &'a [f32],
    pub(crate) keys: &'a [f32],
    pub(crate) values: &'a [f32],
    pub(crate) width: usize,
    pub(crate) heads: usize,
}

/// Number of lanes summed side by side. A head's size is a multiple of it.
pub(crate) const BLOCK: usize = 16;

/// This many tokens ask at once, so that each key and value that is read is used several times.
const ASKING: usize = 4;

/// Buffers for [`Attention::mix`]: the keys of one head, column by column, and the attention weights of the tokens that ask
/// at once.
#[derive(Debug, Default)]
pub(crate) struct Mixing {
    keys: Vec<f32>,
    weights: Vec<f32>,
}

impl Attention<'_> {
    /// The output has one row per token, as have all inputs.
    pub(crate) fn mix(&self, room: &mut Mixing, output: &mut [f32]) {
        let tokens = (self.queries.len() / self.width).next_multiple_of(BLOCK);
        room.keys.resize(tokens * (self.width / self.heads), 0.0);
        room.weights.resize(tokens * ASKING, 0.0);
        dispatch!(mix(self, room, output));
    }
}

#[inline(always)]
fn mix(processor: impl Processor, attention: &Attention<'_>, room: &mut Mixing, output: &mut [f32]) {
    let Attention { queries, keys, width, heads, .. } = *attention;
    let (tokens, size) = (queries.len() / width, width / heads);
    let scale = (size as f32).sqrt().recip();
    let padded = room.keys.len() / size;
    for head in 0..heads {
        for token in 0..tokens {
            let key = &keys[token * width + head * size..][..size];
            for (column, key) in room.keys.chunks_exact_mut(padded).zip(key) {
                column[token] = key * scale;
            }
        }
        let mut first = 0;
        while first + ASKING <= tokens {
            ask::<ASKING>(processor, attention, room, output, [head, first]);
            first += ASKING;
        }
        for first in first..tokens {
            ask::<1>(processor, attention, room, output, [head, first]);
        }
    }
}

/// Some tokens from `first` on ask all others, in one head.
#[inline(always)]
fn ask<const T: usize>(
    processor: impl Processor,
    attention: &Attention<'_>,
    room: &mut Mixing,
    output: &mut [f32],
    [head, first]: [usize; 2],
) {
    let Attention { queries, values, width, heads, .. } = *attention;
    let (tokens, size) = (queries.len() / width, width / heads);
    let padded = room.keys.len() / size;
    let start = |asking: usize| (first + asking) * width + head * size;
    let asked: [&[f32]; T] = std::array::from_fn(|asking| &queries[start(asking)..][..size]);
    for at in 0..padded / BLOCK {
        let sums = add_all(processor, asked, room.keys.as_chunks::<BLOCK>().0, at, padded / BLOCK);
        for (sums, weights) in sums.iter().zip(room.weights.chunks_exact_mut(padded)) {
            weights[at * BLOCK..][..BLOCK].copy_from_slice(sums);
        }
    }
    let mut shares = [0.0; T];
    for (share, weights) in shares.iter_mut().zip(room.weights.chunks_exact_mut(padded)) {
        let weights = &mut weights[..tokens];
        let greatest = weights.iter().copied().fold(f32::MIN, f32::max);
        for weight in &mut *weights {
            *weight = exp(*weight - greatest);
        }
        *share = sum(weights, |weight| weight).recip();
    }
    let weights: [&[f32]; T] = std::array::from_fn(|asking| &room.weights[asking * padded..][..tokens]);
    for at in 0..size / BLOCK {
        let block = head * size / BLOCK + at;
        let mixed = add_all(processor, weights, values.as_chunks::<BLOCK>().0, block, width / BLOCK);
        for asking in 0..T {
            let output = &mut output[start(asking) + at * BLOCK..][..BLOCK];
            for (output, mixed) in output.iter_mut().zip(mixed[asking]) {
                *output = mixed * shares[asking];
            }
        }
    }
}

/// For each row of factors the sum of blocks, each times its factor: from block `first`, in strides of `step`.
#[inline(always)]
fn add_all<const T: usize>(
    processor: impl Processor,
    factors: [&[f32]; T],
    blocks: &[[f32; BLOCK]],
    first: usize,
    step: usize,
) -> [[f32; BLOCK]; T] {
    let mut sums = [[0.0; BLOCK]; T];
    let count = factors.first().map_or(0, |factors| factors.len());
    let factors = factors.map(|factors| &factors[..count]);
    for (number, block) in blocks.iter().skip(first).step_by(step).take(count).enumerate() {
        for row in 0..T {
            let factor = factors[row][number];
            for lane in 0..BLOCK {
                sums[row][lane] = processor.add_product(factor, block[lane], sums[row][lane]);
            }
        }
    }
    sums
}

/// Adds `more`, then applies layer normalisation with these weights and bias to each token.
pub(crate) fn add_and_norm(state: &mut [f32], more: &[f32], [weights, bias]: [&[f32]; 2]) {
    dispatch!(add_and_norm_on(state, more, weights, bias));
}

#[inline(always)]
fn add_and_norm_on(
    processor: impl Processor,
    state: &mut [f32],
    more: &[f32],
    weights: &[f32],
    bias: &[f32],
) {
    for (state, more) in state.chunks_exact_mut(weights.len()).zip(more.chunks_exact(weights.len())) {
        state.iter_mut().zip(more).for_each(|(value, more)| *value += more);
        norm_on(processor, state, weights, bias);
    }
}

/// Layer normalisation of one token.
pub(crate) fn norm(state: &mut [f32], [weights, bias]: [&[f32]; 2]) {
    dispatch!(norm_on(state, weights, bias));
}

#[inline(always)]
fn norm_on(_: impl Processor, state: &mut [f32], weights: &[f32], bias: &[f32]) {
    let count = state.len() as f32;
    let mean = sum(state, |value| value) / count;
    let spread = sum(state, |value| (value - mean) * (value - mean)) / count;
    let scale = (spread + 1e-12).sqrt().recip();
    for ((value, weight), bias) in state.iter_mut().zip(weights).zip(bias) {
        *value = (*value - mean) * scale * weight + bias;
    }
}

/// The GELU activation: `x` times the normal distribution function at `x`.
pub(crate) fn gelu(values: &mut [f32]) {
    dispatch!(gelu_on(values));
}

#[inline(always)]
fn gelu_on(_: impl Processor, values: &mut [f32]) {
    for value in values {
        *value = 0.5 * *value * (1.0 + erf(*value * std::f32::consts::FRAC_1_SQRT_2));
    }
}

/// Abramowitz and Stegun 7.1.26, with an error below 1.5e-7.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let (size, t) = (x.abs(), 1.0 / (1.0 + 0.327_591_1 * x.abs()));
    let sum =
        ((((1.061_405_4 * t - 1.453_152_1) * t + 1.421_413_8) * t - 0.284_496_74) * t + 0.254_829_6) * t;
    (1.0 - sum * exp(-size * size)).copysign(x)
}

/// Adding this to a number of less than 22 bits shifts out the fraction: the lowest bits are then the nearest integer.
/// A conversion would check each number for NaN.
const ROUND: f32 = 12_582_912.0;

/// The nearest integer.
#[inline(always)]
fn rounded(x: f32) -> i32 {
    (x + ROUND).to_bits().wrapping_sub(ROUND.to_bits()).cast_signed()
}

/// The exponential function for arguments up to 0: a power of two times a polynomial of the remainder.
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
        // Neither rows nor columns nor tokens fill whole tiles.
        let (columns, tokens, rows) = (1531, 7, 5);
        let value = |at: usize| ((at * 7_919) % 2_001) as f32 / 1_000.0 - 1.0;
        let input: Vec<f32> = (0..columns * tokens).map(value).collect();
        let bytes: Vec<u8> =
            (0..rows * columns).map(|at| (((at * 31) % 255) as i16 - 127) as i8 as u8).collect();
        let (scales, bias) = ([0.01, 0.5, 0.2, 0.3, 0.1], [1.0, -2.0, 0.0, 3.0, 4.0]);
        let mut narrow = Narrow::default();
        narrow.set(&input, columns);
        let (mut output, mut anywhere) = (vec![0.0; tokens * rows], vec![0.0; tokens * rows]);
        let weights = Rows { scales: &scales, bytes: &bytes };
        linear(&narrow, weights, &bias, &mut output);
        linear_on(Any, &narrow, weights, &bias, &mut anywhere);
        assert_eq!(output, anywhere);
        for token in 0..tokens {
            for row in 0..rows {
                let sum: f64 = (0..columns)
                    .map(|at| {
                        let weight = f64::from(bytes[row * columns + at].cast_signed());
                        f64::from(input[token * columns + at]) * weight * f64::from(scales[row])
                    })
                    .sum();
                let (expected, got) = (sum + f64::from(bias[row]), f64::from(output[token * rows + row]));
                assert!((expected - got).abs() < 0.01 * f64::from(scales[row]) * 100.0, "{expected} {got}");
            }
        }
    }

    #[test]
    fn dot_products_are_exact_on_every_processor() {
        // Less than one step, whole steps with and without a rest, and more than one sum holds.
        for length in [0, 1, 15, 16, 17, 384, SUMMED, SUMMED + 1, 3 * SUMMED + 5] {
            let bytes: Vec<u8> = (0..length).map(|at| (((at * 31) % 256) as i16 - 128) as i8 as u8).collect();
            let values: Vec<i16> = (0..length).map(|at| ((at * 7_919) % 65_536) as u16 as i16).collect();
            let products = bytes.iter().zip(&values);
            let expected: i64 =
                products.map(|(byte, value)| i64::from(byte.cast_signed()) * i64::from(*value)).sum();
            assert_eq!(
                (dot(&bytes, &values), dot_on(Any, &bytes, &values)),
                (expected, expected),
                "{length}"
            );
        }
        let (bytes, values) = (vec![0x80; 2 * SUMMED], vec![i16::MIN; 2 * SUMMED]);
        assert_eq!(dot(&bytes, &values), 2 * SUMMED as i64 * 128 * 32_768, "the greatest sum");
        assert_eq!(dot(&bytes, &values[..3]), 3 * 128 * 32_768, "as long as the shorter one");
    }

    #[test]
    fn a_token_takes_from_those_that_it_asks_for() {
        // Two heads: the first attends to tokens of its own kind, the second to all equally.
        let (width, heads, tokens) = (2 * BLOCK, 2, BLOCK + 3);
        let kind = |token: usize| token % BLOCK;
        let mut queries = vec![0.0; tokens * width];
        let mut values = vec![0.0; tokens * width];
        for token in 0..tokens {
            queries[token * width + kind(token)] = 40.0;
            values[token * width + BLOCK - 1] = token as f32;
            values[token * width + BLOCK] = token as f32;
        }
        let mut mixed = vec![f32::NAN; tokens * width];
        let attention = Attention { queries: &queries, keys: &queries, values: &values, width, heads };
        attention.mix(&mut Mixing::default(), &mut mixed);
        for token in 0..tokens {
            let same: Vec<usize> = (0..tokens).filter(|other| kind(*other) == kind(token)).collect();
            let mean = |of: &[usize]| of.iter().sum::<usize>() as f32 / of.len() as f32;
            let expected = [mean(&same), mean(&(0..tokens).collect::<Vec<_>>())];
            let got = [mixed[token * width + BLOCK - 1], mixed[token * width + BLOCK]];
            assert!(got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-4), "{got:?}");
        }
    }

    #[test]
    fn the_greatest_numbers_do_not_run_over() {
        let columns = 1536;
        let input = vec![5.0; columns];
        let bytes = vec![127u8; columns];
        let (mut narrow, mut output) = (Narrow::default(), [0.0]);
        narrow.set(&input, columns);
        linear(&narrow, Rows { scales: &[1.0], bytes: &bytes }, &[0.0], &mut output);
        let expected = 5.0 * 127.0 * columns as f32;
        assert!((output[0] - expected).abs() < expected * 1e-3, "{output:?}");
    }
}
