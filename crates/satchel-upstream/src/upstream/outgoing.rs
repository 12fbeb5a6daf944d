//! What every HTTP connection of the hub has in common: its name, the roots it trusts, and when it takes no proxy. Does not
//! decide what may be reached.

use std::path::Path;

use reqwest::{Certificate, Client, ClientBuilder, Url};

use super::oauth::address::{Zone, zone_of};
use crate::{files, platform::Environment};

/// The variable that clients' documentation tells people to set for a company's root certificate. `SSL_CERT_FILE` and
/// `SSL_CERT_DIR` are read by the TLS library.
const MORE_ROOTS: &str = "NODE_EXTRA_CA_CERTS";
/// Maximum size of its file, in bytes.
const LARGEST: u64 = 4 * 1024 * 1024;

/// For requests to this address. This computer is never reached through a proxy, whatever the environment says: the proxy
/// would look for the address at its own, and would read what is sent.
pub fn client_for(url: &Url) -> ClientBuilder {
    if is_local(url) { client().no_proxy() } else { client() }
}

/// For requests to addresses elsewhere.
pub fn client() -> ClientBuilder {
    // Fails only if one is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder().user_agent(concat!("satchel/", env!("CARGO_PKG_VERSION")));
    let environment = Environment::of_this_process();
    builder
        .tls_certs_merge(environment.variable(MORE_ROOTS).map(|path| more_roots(&path)).unwrap_or_default())
}

/// The proxy that requests to this address go through, without its login: what comes back may be its own answer.
pub fn proxy_of(url: &Url, environment: &Environment) -> Option<String> {
    if is_local(url) {
        return None;
    }
    let variable = |names: &[&str]| names.iter().find_map(|name| environment.variable(name));
    let host = url.host_str()?.trim_end_matches('.').to_ascii_lowercase();
    let is_spared = |spared: &str| {
        let spared = spared.trim().trim_start_matches('.').to_ascii_lowercase();
        spared == "*" || host == spared || !spared.is_empty() && host.ends_with(&format!(".{spared}"))
    };
    if variable(&["NO_PROXY", "no_proxy"]).is_some_and(|all| all.split(',').any(is_spared)) {
        return None;
    }
    let named = match url.scheme() {
        "https" => variable(&["HTTPS_PROXY", "https_proxy"]),
        _ => variable(&["HTTP_PROXY", "http_proxy"]),
    };
    let proxy = named.or_else(|| variable(&["ALL_PROXY", "all_proxy"]))?;
    let rest = proxy.split_once("://").map_or(proxy.as_str(), |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    Some(rest.split(['/', '?', '#']).next().unwrap_or(rest).to_owned())
}

/// Is it an address of this computer?
pub fn is_local(url: &Url) -> bool {
    zone_of(url) == Some(Zone::Loopback)
}

/// The certificates in that file. Like Node.js, Satchel goes on without a file that it cannot read; a block that is none takes
/// no other with it.
fn more_roots(path: &str) -> Vec<Certificate> {
    let (roots, faults) = roots_in(path);
    for fault in faults {
        tracing::warn!(path, fault, "cannot read all certificates that {MORE_ROOTS} names");
    }
    roots
}

/// What is wrong with the certificates that the environment names, in a sentence; `None` if all can be read.
pub fn faulty_roots(environment: &Environment) -> Option<String> {
    let path = environment.variable(MORE_ROOTS)?;
    let (roots, faults) = roots_in(&path);
    let fault = faults.first()?;
    let rest = match roots.len() {
        0 => "so none of its certificates is trusted".to_owned(),
        read => format!("the other {read} of its certificates are trusted"),
    };
    Some(format!("{MORE_ROOTS} names {path}: {fault}; {rest}"))
}

fn roots_in(path: &str) -> (Vec<Certificate>, Vec<String>) {
    const BEGIN: &str = "-----BEGIN ";
    let pem = match files::read_plain(Path::new(path), LARGEST) {
        Ok(pem) => String::from_utf8_lossy(&pem).into_owned(),
        Err(error) => return (Vec::new(), vec![error.to_string()]),
    };
    let (mut roots, mut faults) = (Vec::new(), Vec::new());
    for (at, _) in pem.match_indices(BEGIN) {
        let block = &pem[at..];
        let end = block[BEGIN.len()..].find(BEGIN).map_or(block.len(), |end| BEGIN.len() + end);
        match Certificate::from_pem_bundle(&block.as_bytes()[..end]) {
            Ok(read) => roots.extend(read),
            Err(_) => {
                let line = pem[..at].lines().count() + 1;
                faults.push(format!("the block at line {line} is no certificate"));
            }
        }
    }
    if roots.is_empty() && faults.is_empty() {
        faults.push("it has no certificates in PEM (\"-----BEGIN CERTIFICATE-----\")".to_owned());
    }
    (roots, faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root that signs nothing.
    const ROOT: &str = "-----BEGIN CERTIFICATE-----\n\
        MIIBhTCCASugAwIBAgIUT2NIxxaSnKgQHJPqYX4Z/+KjTOUwCgYIKoZIzj0EAwIw\n\
        FzEVMBMGA1UEAwwMRXhhbXBsZSBSb290MCAXDTI2MTEyOTA5MjUyNVoYDzIxMjYx\n\
        MTA1MDkyNTI1WjAXMRUwEwYDVQQDDAxFeGFtcGxlIFJvb3QwWTATBgcqhkjOPQIB\n\
        BggqhkjOPQMBBwNCAAT6eKyv+BcFkePBLjS76L/RJr65AwfAw/8rLr3iA4O1xcxR\n\
        YEyN7/JzRyRLsEXzHkkVYKC2OArZCvakZuA1zf6No1MwUTAdBgNVHQ4EFgQUR7cg\n\
        ub87VxM/7Xlt0W3QELuxlyowHwYDVR0jBBgwFoAUR7cgub87VxM/7Xlt0W3QELux\n\
        lyowDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiBLRk55nATMUYzs\n\
        FIjbJGUxYLf5Cwe3LeJfVvKnOHk/hAIhAPXevSBYHr+kFCGxmLPeSad3UUn9FkNx\n\
        ljCLumEzTXD0\n\
        -----END CERTIFICATE-----\n";

    #[test]
    fn this_computer_has_many_names() {
        for (url, expected) in [
            ("http://127.0.0.1:1/x", true),
            ("http://127.8.9.1/x", true),
            ("http://[::1]:1/x", true),
            ("http://localhost:3000/mcp", true),
            ("https://LOCALHOST./mcp", true),
            ("http://app.localhost/mcp", true),
            ("http://[::ffff:127.0.0.1]/mcp", true),
            ("https://localhost.example.com/mcp", false),
            ("http://10.0.0.1/mcp", false),
            ("https://example.com/mcp", false),
        ] {
            assert_eq!(is_local(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn what_goes_through_a_proxy_is_known() {
        let environment = Environment::new(
            crate::platform::Platform::Linux,
            [("HTTPS_PROXY", "http://me:pw@proxy.example:3128/"), ("NO_PROXY", "inner.example, .corp")],
        );
        for (url, expected) in [
            ("https://a.example/mcp", Some("proxy.example:3128")),
            ("http://a.example/mcp", None),
            ("https://inner.example/mcp", None),
            ("https://x.inner.example/mcp", None),
            ("https://x.corp/mcp", None),
            ("https://notcorp/mcp", Some("proxy.example:3128")),
            ("https://127.0.0.1/mcp", None),
        ] {
            assert_eq!(proxy_of(&Url::parse(url).unwrap(), &environment).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn a_file_without_certificates_is_no_obstacle() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("roots.pem");
        assert!(more_roots(path.to_str().unwrap()).is_empty(), "it is not there");
        std::fs::write(&path, "no certificate").unwrap();
        assert!(more_roots(path.to_str().unwrap()).is_empty());
    }

    #[test]
    fn one_block_that_is_no_certificate_takes_no_other_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("roots.pem");
        let bad = "-----BEGIN CERTIFICATE-----\nnot base64!\n-----END CERTIFICATE-----\n";
        std::fs::write(&path, format!("# ours\n{bad}{ROOT}")).unwrap();
        let (roots, faults) = roots_in(path.to_str().unwrap());
        assert_eq!((roots.len(), faults), (1, vec!["the block at line 2 is no certificate".to_owned()]));
    }
}
