//! What a server prints: however it arrives, the same messages are found in it, and each of them is one.

use satchel_mcp::{
    Message,
    framing::{Frame, Framer},
};

/// Small, so that inputs reach the limit.
const LIMIT: usize = 4096;

pub(crate) fn run(data: &[u8]) {
    let Some((whole, pieces)) = crate::pieces(data) else { return };
    let at_once = frames([whole].into_iter());
    let bit_by_bit = frames(pieces);
    assert_eq!(shown(&at_once, true), shown(&bit_by_bit, true), "the size of pieces changed what was read");
    for frame in &at_once {
        if let Frame::Message(message) = frame {
            let text = message.to_json();
            let again = Message::parse(&text).expect("what was written is a message");
            assert_eq!(again.to_json(), text);
            assert!(!text.contains('\n'), "a message is one line");
        }
    }
}

fn frames<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Frame> {
    let mut framer = Framer::new(LIMIT);
    let mut out = Vec::new();
    for piece in pieces {
        framer.push(piece, &mut out);
    }
    framer.finish(&mut out);
    out
}

/// The length at which a line became too long may depend on the chunks.
fn shown(frames: &[Frame], without_length: bool) -> Vec<String> {
    frames
        .iter()
        .map(|frame| match frame {
            Frame::TooLong { head, .. } if without_length => format!("too long: {head}"),
            frame => format!("{frame:?}"),
        })
        .collect()
}
