//! Another program's file, as bytes and as text.

use std::{io, path::Path};

use sha2::{Digest, Sha256};

use crate::files;

/// Maximum size of a file.
pub const LARGEST: u64 = 10 * 1024 * 1024;

/// The byte order mark that some editors write.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The encoding of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8 {
        /// Has a byte order mark.
        mark: bool,
    },
    /// UTF-16. Read, never written.
    Utf16,
}

/// A file's text, and what is needed to write it back in the same encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Without the byte order mark.
    pub text: String,
    /// The encoding on disk.
    pub encoding: Encoding,
}

/// Why a file cannot be read as text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// It cannot be read.
    #[error("cannot read it: {0}")]
    Unreadable(String),
    /// It is too large.
    #[error("it is larger than {} MB", LARGEST / 1024 / 1024)]
    TooLarge,
    /// It is not valid text.
    #[error("it is not valid UTF-8 (byte {0})")]
    NotText(usize),
}

/// The bytes of a file; `None` where there is none.
pub fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, DocumentError> {
    match files::read_plain(path, LARGEST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Err(DocumentError::TooLarge),
        Err(error) => Err(DocumentError::Unreadable(error.to_string())),
    }
}

impl Document {
    /// Decodes UTF-8, or UTF-16 with a byte order mark.
    ///
    /// # Errors
    /// [`DocumentError::NotText`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DocumentError> {
        let wide = |big_endian: bool| {
            let pairs = bytes[2..].chunks(2).map(|pair| {
                let pair = [pair[0], pair.get(1).copied().unwrap_or(0)];
                if big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
            });
            let text = char::decode_utf16(pairs).collect::<Result<String, _>>();
            text.map(|text| Self { text, encoding: Encoding::Utf16 }).map_err(|_| DocumentError::NotText(2))
        };
        match bytes {
            [0xff, 0xfe, ..] => return wide(false),
            [0xfe, 0xff, ..] => return wide(true),
            _ => {}
        }
        let (mark, rest) = match bytes.strip_prefix(MARK) {
            Some(rest) => (true, rest),
            None => (false, bytes),
        };
        let text = std::str::from_utf8(rest).map_err(|error| DocumentError::NotText(error.valid_up_to()))?;
        Ok(Self { text: text.to_owned(), encoding: Encoding::Utf8 { mark } })
    }

    /// Encodes a changed text like the original file.
    pub fn encode(&self, text: &str) -> Vec<u8> {
        match self.encoding {
            Encoding::Utf8 { mark: true } => [MARK, text.as_bytes()].concat(),
            Encoding::Utf8 { mark: false } | Encoding::Utf16 => text.as_bytes().to_vec(),
        }
    }
}

/// A fingerprint of content.
pub fn fingerprint(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_is_read_and_the_mark_is_written_again() {
        let marked = Document::decode(b"\xef\xbb\xbf{}").unwrap();
        assert_eq!((marked.text.as_str(), marked.encoding), ("{}", Encoding::Utf8 { mark: true }));
        assert_eq!(marked.encode("{1}"), b"\xef\xbb\xbf{1}");
        assert_eq!(Document::decode("ü".as_bytes()).unwrap().encode("ü"), "ü".as_bytes());
        for bytes in [&b"\xff\xfe{\0}\0"[..], b"\xfe\xff\0{\0}"] {
            let wide = Document::decode(bytes).unwrap();
            assert_eq!((wide.text.as_str(), wide.encoding), ("{}", Encoding::Utf16));
        }
        assert_eq!(Document::decode(b"ab\xff"), Err(DocumentError::NotText(2)));
    }
}
