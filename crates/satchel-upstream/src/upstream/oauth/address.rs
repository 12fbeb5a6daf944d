//! Decides which addresses a sign-in may contact and open. Documents that a server names can point anywhere; they must
//! not lead into the private network or have a secret sent unencrypted.

pub use satchel_entry::zone::{Zone, zone};
use url::{Host, Url};

/// The zone of a URL's host, if it is an IP address; `None` for a name.
pub fn zone_of(url: &Url) -> Option<Zone> {
    match url.host()? {
        Host::Ipv4(four) => Some(zone(four.into())),
        Host::Ipv6(six) => Some(zone(six.into())),
        Host::Domain(name) => is_localhost(name).then_some(Zone::Loopback),
    }
}

fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
}

/// The zones that a server may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed {
    server: Zone,
}

impl Allowed {
    /// For a server in this zone.
    pub fn around(server: Zone) -> Self {
        Self { server }
    }

    /// May an address in this zone be connected to? The internet always; another zone only if the user's own address
    /// of the server is in it.
    pub fn permits(self, zone: Zone) -> bool {
        zone == Zone::Public || zone == self.server
    }

    /// May this URL be requested, or opened in a browser? Names are checked again when they are resolved.
    ///
    /// # Errors
    /// Why not, in words that follow the name of the address.
    pub fn check(self, url: &Url) -> Result<(), String> {
        let zone = zone_of(url);
        match url.scheme() {
            "https" => {}
            "http" if zone == Some(Zone::Loopback) && self.server == Zone::Loopback => {}
            "http" => return Err("is not encrypted (http)".to_owned()),
            other => return Err(format!("is no web address ({}:)", shown(other))),
        }
        if url.host().is_none() {
            return Err("names no host".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("has a user name or a password in it".to_owned());
        }
        if url.fragment().is_some() {
            return Err("has a fragment (#)".to_owned());
        }
        match zone {
            Some(zone) if !self.permits(zone) => Err(match zone {
                Zone::Loopback => "is on this computer, and the server is not".to_owned(),
                Zone::Private | Zone::Public => "is in a private network, and the server is not".to_owned(),
            }),
            _ => Ok(()),
        }
    }
}

/// Foreign text for display: one line, without invisible characters, at most 300 characters.
pub fn shown(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    let line: String =
        text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !hidden(*c)).collect();
    let mut short: String = line.trim().chars().take(300).collect();
    if short.chars().count() < line.trim().chars().count() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_server_leads_only_to_the_internet_or_to_where_it_is_itself() {
        let (public, local) = (Allowed::around(Zone::Public), Allowed::around(Zone::Loopback));
        for (address, at_public, at_local) in [
            ("https://login.example/authorize", true, true),
            ("http://login.example/authorize", false, false),
            ("http://127.0.0.1:9/x", false, true),
            ("http://localhost:9/x", false, true),
            ("https://localhost/x", false, true),
            ("https://10.0.0.5/x", false, false),
            ("http://169.254.169.254/latest", false, false),
            ("https://0x7f.1/x", false, true),
            ("https://user:pw@login.example/", false, false),
            ("https://login.example/#x", false, false),
            ("javascript:alert(1)", false, false),
            ("file:///etc/passwd", false, false),
            ("data:text/html,x", false, false),
        ] {
            assert_eq!(public.check(&url(address)).is_ok(), at_public, "{address}");
            assert_eq!(local.check(&url(address)).is_ok(), at_local, "{address}");
        }
    }

    #[test]
    fn a_text_from_outside_is_one_short_line() {
        assert_eq!(shown(" a\n\u{202e}b\u{7} "), "a b");
        assert_eq!(shown(&"x".repeat(400)).chars().count(), 301);
    }
}
