//! Re-encodes an untrusted picture as a small square PNG, so that none of its bytes reach a window.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, ImageReader, Limits, imageops::FilterType};

/// Maximum side length of the result, in pixels.
pub(super) const SIDE: u32 = 64;
/// Maximum side length of the input.
const LARGEST: u32 = 2048;
/// Maximum memory for decoding, in bytes.
const MEMORY: u64 = 32 * 1024 * 1024;

/// Re-encodes an image to at most [`SIDE`]. Blocks.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn redrawn(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut reader =
        ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| error.to_string())?;
    let known = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Ico];
    if !reader.format().is_some_and(|format| known.contains(&format)) {
        return Err("its image format is not supported".to_owned());
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(LARGEST);
    limits.max_image_height = Some(LARGEST);
    limits.max_alloc = Some(MEMORY);
    reader.limits(limits);
    let picture = reader.decode().map_err(|error| error.to_string())?;
    let small = match picture.width().max(picture.height()) > SIDE {
        true => picture.resize(SIDE, SIDE, FilterType::Lanczos3),
        false => picture,
    };
    let mut drawn = Cursor::new(Vec::new());
    // Pixels only: no metadata, no color profile, no further images.
    DynamicImage::ImageRgba8(small.to_rgba8())
        .write_to(&mut drawn, ImageFormat::Png)
        .map_err(|error| error.to_string())?;
    Ok(drawn.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(side: u32, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        DynamicImage::new_rgb8(side, side / 2).write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn a_picture_becomes_small_and_keeps_nothing_but_its_pixels() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
            let mut bytes = written(200, format);
            bytes.extend_from_slice(b"canary behind the picture");
            let drawn = redrawn(&bytes).unwrap();
            let again = image::load_from_memory(&drawn).unwrap();
            assert_eq!((again.width(), again.height()), (SIDE, SIDE / 2), "{format:?}");
            assert!(!drawn.windows(6).any(|part| part == b"canary"));
        }
        assert_eq!(
            image::load_from_memory(&redrawn(&written(10, ImageFormat::Png)).unwrap()).unwrap().width(),
            10
        );
    }

    #[test]
    fn invalid_or_far_too_large_pictures_are_refused() {
        for bytes in [b"".to_vec(), b"<svg/>".to_vec(), b"GIF89a".to_vec(), written(4000, ImageFormat::Png)] {
            assert!(redrawn(&bytes).is_err());
        }
        let mut cut = written(100, ImageFormat::Png);
        cut.truncate(40);
        assert!(redrawn(&cut).is_err());
    }
}
