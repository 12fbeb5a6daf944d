//! Undoes the compression of an HTTP body, piece by piece and within a limit. Believes the bytes rather than the
//! `Content-Encoding`: some servers compress what they do not say, say what they do not do, or do it twice.

use std::io::{self, Read, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::FrameDecoder;
use satchel_mcp::limits;

/// Maximum number of compressions, one around the other.
const LAYERS: usize = 4;
/// The number of bytes that show what a body is.
const MARK: usize = 4;
/// How much the pieces of one read may become.
const PIECE_BYTES: usize = limits::MESSAGE_BYTES + 64 * 1024;
/// The largest window of zstd; RFC 9659 allows 8 MiB.
const ZSTD_WINDOW: u64 = 16 * 1024 * 1024;

/// A compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Gzip,
    /// zlib, or bare deflate: servers mean either.
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    const ALL: [(&str, Coding); 6] = [
        ("gzip", Coding::Gzip),
        ("x-gzip", Coding::Gzip),
        ("deflate", Coding::Deflate),
        ("br", Coding::Brotli),
        ("zstd", Coding::Zstd),
        ("brotli", Coding::Brotli),
    ];

    fn named(name: &str) -> Option<Self> {
        let known = Self::ALL.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map(|(_, coding)| *coding)
    }

    /// What these first bytes are for certain. JSON, events and pages begin with none of them.
    fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x1f, 0x8b, ..] => Some(Coding::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Coding::Zstd),
            [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => Some(Coding::Deflate),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, coding)| *coding == self).map_or("", |(name, _)| name)
    }
}

/// The decoding of one body.
#[derive(Debug)]
pub(super) struct Decoding {
    layers: Vec<Layer>,
    /// Names of the header that mean nothing here.
    unknown: Vec<String>,
    /// Whether what comes out was looked at.
    settled: bool,
    /// What came out so far, while that is too little to look at.
    first: Vec<u8>,
    undeclared: bool,
}

impl Decoding {
    /// For a body with this `Content-Encoding`.
    pub(super) fn of(header: &str) -> Self {
        let names = header.split(',').map(str::trim).filter(|name| !name.is_empty());
        let (mut layers, mut unknown) = (Vec::new(), Vec::new());
        // The last one named was applied last.
        for name in names.collect::<Vec<_>>().into_iter().rev().take(LAYERS) {
            match Coding::named(name) {
                Some(coding) => layers.push(Layer::named(coding)),
                None if name.eq_ignore_ascii_case("identity") => {}
                None => unknown.push(name.chars().filter(char::is_ascii_graphic).take(40).collect()),
            }
        }
        Self { layers, unknown, settled: false, first: Vec::new(), undeclared: false }
    }

    /// Decodes the next bytes. Nothing may come out yet.
    ///
    /// # Errors
    /// Why they cannot be decoded, as the rest of a sentence.
    pub(super) fn push(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        self.pass(bytes, false)
    }

    /// What is left at the end of the body.
    ///
    /// # Errors
    /// See [`Self::push`].
    pub(super) fn finish(&mut self) -> Result<Vec<u8>, String> {
        self.pass(Vec::new(), true)
    }

    /// Whether it was compressed without saying so.
    pub(super) fn was_undeclared(&self) -> bool {
        self.undeclared
    }

    /// The name in the header that is no known compression, if there is one.
    pub(super) fn unknown(&self) -> Option<&str> {
        self.unknown.first().map(String::as_str)
    }

    fn pass(&mut self, mut bytes: Vec<u8>, last: bool) -> Result<Vec<u8>, String> {
        for layer in &mut self.layers {
            bytes = layer.pass(bytes, last)?;
        }
        if self.settled {
            return Ok(bytes);
        }
        self.first.extend_from_slice(&bytes);
        // What comes out may be compressed once more.
        while self.first.len() >= MARK || last {
            let first = std::mem::take(&mut self.first);
            let Some(coding) = Coding::of(&first).filter(|_| self.layers.len() < LAYERS) else {
                self.settled = true;
                return Ok(first);
            };
            self.undeclared = true;
            let mut layer = Layer::named(coding);
            self.first = layer.pass(first, last)?;
            self.layers.push(layer);
        }
        Ok(Vec::new())
    }
}

/// One compression around the body.
struct Layer {
    coding: Coding,
    state: LayerState,
}

impl std::fmt::Debug for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Layer").field(&self.coding).finish()
    }
}

enum LayerState {
    /// The first bytes are not there yet.
    Unseen(Vec<u8>),
    /// Decodes; whether something came out.
    Decoding(Box<Decoder>, bool),
    /// The bytes are what they are.
    Plain,
    /// It ended, or what followed is no part of it.
    Over,
}

impl Layer {
    fn named(coding: Coding) -> Self {
        Self { coding, state: LayerState::Unseen(Vec::new()) }
    }

    fn pass(&mut self, mut bytes: Vec<u8>, last: bool) -> Result<Vec<u8>, String> {
        if let LayerState::Unseen(first) = &mut self.state {
            first.append(&mut bytes);
            let enough = first.trim_ascii_start().len() >= MARK || first.len() >= SPACES;
            if first.is_empty() || !(enough || last) {
                return Ok(Vec::new());
            }
            bytes = std::mem::take(first);
            self.state = self.begin(&bytes);
        }
        match &mut self.state {
            LayerState::Plain => Ok(bytes),
            LayerState::Over | LayerState::Unseen(_) => Ok(Vec::new()),
            LayerState::Decoding(decoder, made) => match decoder.decode(&bytes, last) {
                Ok(out) => {
                    *made |= !out.is_empty();
                    Ok(out)
                }
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Err(format!(
                    "is larger than {} MiB when it is decoded ({})",
                    PIECE_BYTES / 1024 / 1024,
                    self.coding.name()
                )),
                Err(error) => {
                    let (out, made) = (decoder.taken(), *made);
                    self.state = LayerState::Over;
                    match made || !out.is_empty() {
                        // What follows a whole body is ignored; a body that is cut is found by its readers.
                        true => Ok(out),
                        false => Err(format!("cannot be decoded as {}: {error}", self.coding.name())),
                    }
                }
            },
        }
    }

    /// What the first bytes are, whatever the header says.
    fn begin(&mut self, first: &[u8]) -> LayerState {
        match (Coding::of(first), self.coding) {
            (Some(coding), _) => self.coding = coding,
            // These begin with a mark, and it is not there.
            (None, Coding::Gzip | Coding::Zstd) => return LayerState::Plain,
            (None, Coding::Deflate | Coding::Brotli) if begins_text(first) => return LayerState::Plain,
            (None, Coding::Deflate | Coding::Brotli) => {}
        }
        LayerState::Decoding(Box::new(Decoder::of(self.coding, first)), false)
    }
}

/// How much white space may stand before a text.
const SPACES: usize = 64;

/// Are these the first bytes of JSON, of an event or of a page?
fn begins_text(bytes: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 14] = [
        b"{\"", b"{ ", b"{\n", b"{\r", b"{}", b"[{", b"[ ", b"[\n", b"[]", b"data", b"even", b"id:", b"retr",
        b"<",
    ];
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes).trim_ascii_start();
    BEGINNINGS.iter().any(|beginning| bytes.starts_with(beginning)) || bytes.starts_with(b": ")
}

#[expect(clippy::large_enum_variant, reason = "one lives with each response, and is moved once")]
enum Decoder {
    Gzip(MultiGzDecoder<Sink>),
    Zlib(ZlibDecoder<Sink>),
    Deflate(DeflateDecoder<Sink>),
    Brotli(Box<DecompressorWriter<Sink>>),
    Zstd(Zstd),
}

impl Decoder {
    fn of(coding: Coding, first: &[u8]) -> Self {
        let sink = Sink::default();
        match coding {
            Coding::Gzip => Decoder::Gzip(MultiGzDecoder::new(sink)),
            Coding::Deflate if has_zlib_head(first) => Decoder::Zlib(ZlibDecoder::new(sink)),
            Coding::Deflate => Decoder::Deflate(DeflateDecoder::new(sink)),
            Coding::Brotli => Decoder::Brotli(Box::new(DecompressorWriter::new(sink, 4096))),
            Coding::Zstd => Decoder::Zstd(Zstd::new()),
        }
    }

    fn decode(&mut self, bytes: &[u8], last: bool) -> io::Result<Vec<u8>> {
        match self {
            Decoder::Gzip(decoder) => write(decoder, bytes)?,
            Decoder::Zlib(decoder) => write(decoder, bytes)?,
            Decoder::Deflate(decoder) => write(decoder, bytes)?,
            Decoder::Brotli(decoder) => write(&mut **decoder, bytes)?,
            Decoder::Zstd(decoder) => decoder.push(bytes, last)?,
        }
        match self {
            Decoder::Gzip(decoder) if last => decoder.try_finish()?,
            Decoder::Zlib(decoder) if last => decoder.try_finish()?,
            Decoder::Deflate(decoder) if last => decoder.try_finish()?,
            Decoder::Brotli(decoder) if last => decoder.close()?,
            _ => {}
        }
        Ok(self.taken())
    }

    /// What was decoded and not taken yet.
    fn taken(&mut self) -> Vec<u8> {
        let sink = match self {
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Zlib(decoder) => decoder.get_mut(),
            Decoder::Deflate(decoder) => decoder.get_mut(),
            Decoder::Brotli(decoder) => decoder.get_mut(),
            Decoder::Zstd(decoder) => &mut decoder.sink,
        };
        std::mem::take(&mut sink.0)
    }
}

/// RFC 1950: the method is 8, and the two bytes are a multiple of 31.
fn has_zlib_head(bytes: &[u8]) -> bool {
    let [first, second, ..] = bytes else { return false };
    first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)).is_multiple_of(31)
}

fn write(decoder: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    decoder.write_all(bytes)?;
    decoder.flush()
}

/// What comes out of one read, up to the limit.
#[derive(Default)]
struct Sink(Vec<u8>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > PIECE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decodes zstd one block at a time, so that no more than one is decoded beyond the limit.
struct Zstd {
    decoder: FrameDecoder,
    waiting: Vec<u8>,
    frame: Frame,
    sink: Sink,
}

enum Frame {
    Head,
    Blocks,
    /// Its last block was decoded; a checksum may follow.
    Tail,
}

/// The longest header of a frame.
const ZSTD_HEAD: usize = 18;

impl Zstd {
    fn new() -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(ZSTD_WINDOW);
        Self { decoder, waiting: Vec::new(), frame: Frame::Head, sink: Sink::default() }
    }

    fn push(&mut self, bytes: &[u8], last: bool) -> io::Result<()> {
        self.waiting.extend_from_slice(bytes);
        while self.step(last)? {}
        Ok(())
    }

    /// Returns false if more bytes are needed.
    fn step(&mut self, last: bool) -> io::Result<bool> {
        let used = match self.frame {
            Frame::Head if self.waiting.is_empty() || (self.waiting.len() < ZSTD_HEAD && !last) => {
                return Ok(false);
            }
            Frame::Head => {
                let mut rest = &self.waiting[..];
                self.decoder.reset(&mut rest).map_err(io::Error::other)?;
                self.frame = Frame::Blocks;
                self.waiting.len() - rest.len()
            }
            Frame::Blocks => {
                let Some((size, is_last)) = block(&self.waiting) else { return Ok(false) };
                let mut none = [];
                self.decoder.decode_from_to(&self.waiting[..size], &mut none).map_err(io::Error::other)?;
                if is_last {
                    self.frame = Frame::Tail;
                }
                size
            }
            Frame::Tail if self.decoder.is_finished() => {
                self.frame = Frame::Head;
                0
            }
            Frame::Tail if self.waiting.len() < 4 && !last => return Ok(false),
            // The checksum is for others: what is wrong is found by the reader of the text.
            Frame::Tail => {
                let used = self.waiting.len().min(4);
                let mut sum = [0; 4];
                sum[..used].copy_from_slice(&self.waiting[..used]);
                // Before it was read, the decoder keeps the end of the text back.
                self.decoder.decode_from_to(&sum, &mut []).map_err(io::Error::other)?;
                self.frame = Frame::Head;
                used
            }
        };
        self.waiting.drain(..used);
        io::copy(&mut Draining(&mut self.decoder), &mut self.sink)?;
        Ok(true)
    }
}

/// Reads what a decoder can give, which is everything only after the last block.
struct Draining<'a>(&'a mut FrameDecoder);

impl Read for Draining<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.can_collect() {
            0 => Ok(0),
            _ => self.0.read(buffer),
        }
    }
}

/// The size of the first block with its header, and whether it is the last (RFC 8878, section 3.1.1.2).
fn block(bytes: &[u8]) -> Option<(usize, bool)> {
    let [first, second, third, ..] = bytes else { return None };
    let head = u32::from_le_bytes([*first, *second, *third, 0]);
    let (is_last, kind, size) = (head & 1 == 1, (head >> 1) & 3, (head >> 3) as usize);
    // A block of one byte that is repeated.
    let size = 3 + if kind == 1 { 1 } else { size };
    (bytes.len() >= size).then_some((size, is_last))
}

#[cfg(test)]
mod tests {
    use flate2::{
        Compression,
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
    };

    use super::*;

    const TEXT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"text":"ééé aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}"#;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn deflate(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    /// The same with the checksum that other encoders add.
    fn zstd_with_checksum(bytes: &[u8]) -> Vec<u8> {
        const FLAG: u8 = 1 << 2;
        let mut frame = zstd(bytes);
        frame[4] |= FLAG;
        frame.extend([1, 2, 3, 4]);
        frame
    }

    /// [`TEXT`] by another program, because there is no encoder here.
    const BROTLI: &[u8] = include_bytes!("decode/text.br");

    fn decoded(header: &str, body: &[u8], piece: usize) -> Result<String, String> {
        let mut decoding = Decoding::of(header);
        let mut out = Vec::new();
        for piece in body.chunks(piece.max(1)) {
            out.extend(decoding.push(piece.to_vec())?);
        }
        out.extend(decoding.finish()?);
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    #[test]
    fn a_body_is_decoded_whatever_its_header_says() {
        let text = TEXT.as_bytes();
        let empty: &[u8] = b"";
        let cases: Vec<(&str, Vec<u8>, &str)> = vec![
            ("", text.to_vec(), TEXT),
            ("identity", text.to_vec(), TEXT),
            ("utf-8", text.to_vec(), TEXT),
            ("gzip", gzip(text), TEXT),
            ("X-Gzip", gzip(text), TEXT),
            ("deflate", zlib(text), TEXT),
            ("deflate", deflate(text), TEXT),
            ("br", BROTLI.to_vec(), TEXT),
            ("zstd", zstd(text), TEXT),
            ("zstd", zstd_with_checksum(text), TEXT),
            // Applied one after the other.
            ("gzip, br", gzip(text), TEXT),
            ("deflate, gzip", gzip(&zlib(text)), TEXT),
            ("gzip,gzip", gzip(&gzip(text)), TEXT),
            ("gzip, zstd", zstd(&gzip(text)), TEXT),
            ("identity, gzip", gzip(text), TEXT),
            // Twice, and said once; said, and not done; done, and not said; another one.
            ("gzip", gzip(&gzip(text)), TEXT),
            ("gzip", text.to_vec(), TEXT),
            ("br", text.to_vec(), TEXT),
            ("deflate", text.to_vec(), TEXT),
            ("zstd", text.to_vec(), TEXT),
            ("", gzip(text), TEXT),
            ("", zstd(text), TEXT),
            ("", zlib(text), TEXT),
            ("", gzip(&gzip(text)), TEXT),
            ("gzip", zstd(text), TEXT),
            ("br", gzip(text), TEXT),
            // Two members, and something behind.
            ("gzip", [gzip(&text[..9]), gzip(&text[9..])].concat(), TEXT),
            ("gzip", [gzip(text), b"tail".to_vec()].concat(), TEXT),
            ("zstd", [zstd(&text[..9]), zstd(&text[9..])].concat(), TEXT),
            ("gzip", empty.to_vec(), ""),
            ("", empty.to_vec(), ""),
            ("gzip", b"{}".to_vec(), "{}"),
        ];
        for (header, body, expected) in cases {
            for piece in [1, 2, 3, 7, body.len()] {
                let decoded = decoded(header, &body, piece);
                assert_eq!(decoded.as_deref(), Ok(expected), "{header:?} in pieces of {piece}: {body:x?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_decoded_is_told_with_its_compression() {
        assert!(decoded("gzip", &[0x1f, 0x8b, 9, 9, 9, 9, 9], 7).unwrap_err().contains("as gzip"));
        assert!(decoded("br", &[0xff, 0, 1, 2, 3, 4, 5, 6], 8).unwrap_err().contains("as br"));
        assert_eq!(Decoding::of("gzip, compress").unknown(), Some("compress"));
    }

    #[test]
    fn a_small_body_does_not_become_a_large_one() {
        let zeros = vec![b'a'; 4 * PIECE_BYTES];
        for (header, body) in [("gzip", gzip(&zeros)), ("deflate", zlib(&zeros)), ("zstd", zstd(&zeros))] {
            let told = decoded(header, &body, body.len()).unwrap_err();
            assert!(told.contains("larger than 16 MiB") && told.contains(header), "{told}");
        }
    }

    #[test]
    fn events_come_out_before_the_body_ends() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(b"data: 1\n\n").unwrap();
        encoder.flush().unwrap();
        let mut decoding = Decoding::of("gzip");
        let first = decoding.push(std::mem::take(encoder.get_mut())).unwrap();
        assert_eq!(first, b"data: 1\n\n");
    }
}
