//! Copies text to the clipboard when a person asks for it.
//!
//! On X11 a copied text lives in the program it came from, so ours is held as long as we run.

use parking_lot::Mutex;
use satchel_core::model::{Code, control::Refusal};

/// Opened at first use: a hub in the tray may never need it.
#[derive(Default)]
pub(crate) struct Clipboard(Mutex<Option<arboard::Clipboard>>);

impl Clipboard {
    /// Replaces the content of the clipboard.
    pub(crate) fn copy(&self, text: &str) -> Result<(), Refusal> {
        let mut held = self.0.lock();
        let clipboard = match held.take() {
            Some(clipboard) => held.insert(clipboard),
            None => held.insert(arboard::Clipboard::new().map_err(refusal)?),
        };
        clipboard.set_text(text).map_err(refusal)
    }
}

fn refusal(error: arboard::Error) -> Refusal {
    Refusal::new(Code::Clipboard, format!("cannot copy: {error}"), "")
}
