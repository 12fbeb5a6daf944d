//! Hashes everything that decides what runs and where it connects into one short name.

use sha2::{Digest, Sha256};

use crate::model::{TransportConfig, oauth::OAuth};

/// The fingerprint of everything that determines what runs and where it connects, without the values of secrets.
pub fn setup_of(transport: &TransportConfig) -> String {
    let text = match transport {
        TransportConfig::Stdio { command, args, env, cwd } => {
            serde_json::json!(["stdio", command, args, env, cwd])
        }
        TransportConfig::Http { url, headers, oauth } if **oauth == OAuth::default() => {
            serde_json::json!(["http", url, headers])
        }
        TransportConfig::Http { url, headers, oauth } => serde_json::json!(["http", url, headers, oauth]),
    };
    Sha256::digest(text.to_string().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
