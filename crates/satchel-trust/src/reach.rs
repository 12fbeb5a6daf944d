//! Which origins of the web the page of a server may reach: those it declares, where they are of the encrypted public web.
//! Pure. What a declared name stands for is not looked up.

/// More origins than this are not taken from one list.
const MOST: usize = 64;
/// The longest name of a host.
const HOST: usize = 253;
/// Endings of names that stand for this computer or its network.
const NEAR: &[&str] =
    &["localhost", "local", "internal", "intranet", "lan", "home", "corp", "arpa", "test", "onion"];

/// The declared origins that may be reached, in one spelling, and those that may not.
pub fn allowed(declared: &[String], schemes: &[&str]) -> (Vec<String>, Vec<String>) {
    let (mut allowed, mut refused) = (Vec::new(), Vec::new());
    for text in declared.iter().take(MOST) {
        match origin(text, schemes) {
            Some(origin) if allowed.contains(&origin) => {}
            Some(origin) => allowed.push(origin),
            None => refused.push(text.chars().take(HOST).collect()),
        }
    }
    (allowed, refused)
}

/// One source as policies of pages write it: `https://host`, with a port or with `*.` before the host.
fn origin(text: &str, schemes: &[&str]) -> Option<String> {
    let text = text.trim_end_matches('/').to_ascii_lowercase();
    // Without a scheme it would take that of the frame.
    let (scheme, place) = text.split_once("://").unwrap_or(("https", &text));
    if !schemes.contains(&scheme) {
        return None;
    }
    let (host, port) = match place.split_once(':') {
        Some((host, port)) => (host, Some(port.parse::<u16>().ok()?)),
        None => (place, None),
    };
    let name = host.strip_prefix("*.").unwrap_or(host);
    let labels: Vec<&str> = name.split('.').collect();
    let last = labels.last()?;
    let of_the_web = host.len() <= HOST
        && labels.len() > 1
        && labels.iter().all(|label| is_label(label))
        // No address, and no name of this computer or its network.
        && !is_number(last)
        && last.contains(|c: char| c.is_ascii_alphabetic())
        && !NEAR.contains(last);
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    of_the_web.then(|| format!("{scheme}://{host}{port}"))
}

/// Browsers read a host whose last label is a number as an IPv4 address, also in hexadecimal digits
/// (<https://url.spec.whatwg.org/#ends-in-a-number-checker>).
fn is_number(label: &str) -> bool {
    let hex = label.strip_prefix("0x").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_hexdigit()));
    hex || label.chars().all(|c| c.is_ascii_digit())
}

fn is_label(label: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    (1..=63).contains(&label.len()) && label.chars().all(is_sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_encrypted_web_are_reached() {
        for (declared, expected) in [
            ("https://api.example.com", Some("https://api.example.com")),
            ("https://API.example.com/", Some("https://api.example.com")),
            ("wss://live.example.com:8443", Some("wss://live.example.com:8443")),
            ("https://*.example.com", Some("https://*.example.com")),
            ("cdn.example.com", Some("https://cdn.example.com")),
            ("http://example.com", None),
            ("https://localhost:7411", None),
            ("https://x.localhost", None),
            ("https://ipc.localhost", None),
            ("https://127.0.0.1", None),
            ("https://10.1", None),
            ("https://0x7f.0.0.0x1", None),
            ("https://[::1]", None),
            ("https://router.lan", None),
            ("https://example.com/path", None),
            ("https://user@example.com", None),
            ("https://*", None),
            ("https://*.com", None),
            ("*", None),
            ("https:", None),
            ("data:", None),
            ("'unsafe-eval'", None),
            ("https://a.example.com; script-src *", None),
            ("https://a.example.com https://b.example.com", None),
            ("https://a..example.com", None),
            ("https://a.example.com:0x50", None),
            ("", None),
        ] {
            let (reached, refused) = allowed(&[declared.to_owned()], &["https", "wss"]);
            assert_eq!(
                reached,
                expected.map(ToOwned::to_owned).into_iter().collect::<Vec<_>>(),
                "{declared}"
            );
            assert_eq!(refused.len(), usize::from(expected.is_none()), "{declared}");
        }
    }

    #[test]
    fn each_is_named_once_and_a_list_ends() {
        let declared: Vec<String> = (0..200).map(|at| format!("https://h{}.example.com", at / 2)).collect();
        assert_eq!(allowed(&declared, &["https"]).0.len(), MOST / 2);
        let sockets = ["wss://a.example.com".to_owned()];
        assert_eq!(allowed(&sockets, &["https"]), (vec![], sockets.to_vec()));
    }
}
