//! Canonicalizes addresses, so that an item held back under one spelling is held back under all.
//!
//! This is coarser than RFC 3986 on purpose, because servers are: it also takes addresses for the same that differ in case
//! or in slashes. Only what is not on offer under its own spelling is looked for in this way.

use super::clean;
use crate::model::address::{fits_template, percent_decoded};

/// Default ports by scheme.
const USUAL_PORTS: [(&str, &str); 5] =
    [("http", ":80"), ("https", ":443"), ("ws", ":80"), ("wss", ":443"), ("ftp", ":21")];

/// A canonical form, equal for all spellings of an address: decoded, lower case, without fragment, empty query,
/// default port, dot segments and redundant slashes.
pub fn key(uri: &str) -> String {
    let mut text = clean::text(uri).into_owned();
    // Some servers decode more than once; none more than three times.
    for _ in 0..3 {
        let decoded = String::from_utf8_lossy(&percent_decoded(&text)).into_owned();
        if decoded == text {
            break;
        }
        text = decoded;
    }
    let text: String = clean::text(&text).chars().filter(|c| !c.is_control()).collect();
    let text = text.trim().replace('\\', "/").to_lowercase();
    let text = text.split('#').next().unwrap_or_default();
    let (place, query) = text.split_once('?').map_or((text, ""), |(place, query)| (place, query));
    let (scheme, rest) = place.split_once(':').map_or(("", place), |(scheme, rest)| (scheme, rest));
    let mut segments: Vec<&str> = Vec::new();
    for segment in rest.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    let mut path = segments.join("/");
    if let Some((_, port)) = USUAL_PORTS.iter().find(|(usual, _)| *usual == scheme) {
        let (host, rest) = path.split_once('/').map_or((path.as_str(), ""), |(host, rest)| (host, rest));
        let host = host.strip_suffix(port).unwrap_or(host).trim_end_matches('.');
        path = if rest.is_empty() { host.to_owned() } else { format!("{host}/{rest}") };
    }
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    format!("{scheme}:{path}{query}")
}

/// Can this address, in any spelling, be an expansion of the template?
pub fn fits(template: &str, uri: &str) -> bool {
    // Variables are kept while the rest is normalized.
    fits_template(&key(template), &key(uri))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_address_are_one_and_other_addresses_are_others() {
        for (one, same) in [
            ("note://1", "note://1#"),
            ("note://1", "note://1#part"),
            ("note://1", "NOTE://1"),
            ("note://1", "note://%31"),
            ("note://1", "note://%2531"),
            ("note://1", "note://1?"),
            ("note://1", " note://1 "),
            ("note://1", "note://1/"),
            ("note://1", "note://x/../1"),
            ("note://1", "note://./1"),
            ("note://1", "note:\\\\1"),
            ("note://1", "note://1\u{200b}"),
            ("note://a/b", "note://A//b"),
            ("http://a.example/x", "http://A.example:80/x"),
            ("https://a.example", "https://a.example.:443/"),
            ("file:///a/b", "file:///a/./c/../b"),
            ("file:///ä", "file:///%C3%A4"),
        ] {
            assert_eq!(key(one), key(same), "{same}");
        }
        for (one, other) in [
            ("note://1", "note://2"),
            ("note://1", "memo://1"),
            ("note://1", "note://1?x=2"),
            ("note://1", "note://1/2"),
            ("http://a.example/x", "http://a.example:81/x"),
            ("http://a.example/x", "https://a.example/x"),
            ("db://a:80/x", "db://a/x"),
        ] {
            assert_ne!(key(one), key(other), "{other}");
        }
    }

    #[test]
    fn an_address_fits_its_template_in_any_spelling() {
        for (template, uri, expected) in [
            ("note://t/{id}", "note://t/5", true),
            ("note://t/{id}", "NOTE://t//%35#x", true),
            ("note://t/{id}", "note://u/5", false),
            ("note://{id}/data", "note://7/data", true),
            ("note://{id}/data", "note://7/other", false),
        ] {
            assert_eq!(fits(template, uri), expected, "{template} {uri}");
        }
    }
}
