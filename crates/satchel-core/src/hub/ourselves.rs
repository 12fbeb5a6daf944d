//! How clients reach us: the address, and the program that carries standard streams to it.

use std::path::{Path, PathBuf};

use super::{Hub, USUAL_PORT};
use crate::clients::template::{NAME, Ourselves};

/// The bridge program: the command line beside the app, or this program if it is the command line.
pub(super) fn bridge_program(own: &Path) -> PathBuf {
    let beside = own.with_file_name(format!("satchel{}", std::env::consts::EXE_SUFFIX));
    if beside.is_file() { beside } else { own.to_owned() }
}

/// How clients reach Satchel.
pub(super) fn ourselves(hub: &Hub) -> Ourselves {
    let usual = || format!("http://127.0.0.1:{USUAL_PORT}/mcp");
    let url = hub.view().endpoint.clone().unwrap_or_else(usual);
    let bridge = bridge_program(&hub.inner.options.own_program).display().to_string();
    Ourselves { name: NAME.into(), url, bridge, bridge_words: vec!["bridge".into()] }
}
