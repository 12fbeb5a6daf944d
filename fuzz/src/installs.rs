//! What people are given to install: pasted blocks and commands, addresses, descriptions of the registry, bundles.
//! Nothing of it is carried out, and a name that comes out of it is one.

use satchel_core::{
    clients::import::read_pasted,
    registry::{bundle, manifest::Manifest, server_json::ServerDocument},
};

pub(crate) fn run(data: &[u8]) {
    match bundle::look(data) {
        Ok((manifest, signature)) => {
            assert!(!manifest.name.is_empty());
            let _ = signature.caution();
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let _ = Manifest::read(data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(value) = serde_json::from_str(text) {
        let _ = ServerDocument::read(&value);
    }
    match read_pasted(text) {
        Ok(found) => assert!(!found.is_empty(), "nothing was found, and nothing was said"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
