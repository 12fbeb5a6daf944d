//! Admits only requests meant for this port on this computer. Keeps web pages out, DNS rebinding included.

use axum::http::{HeaderMap, HeaderValue, Uri, header};

/// The header by which browsers state who initiated a request.
const FETCH_SITE: &str = "sec-fetch-site";

/// Why a request is rejected before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Wrong host.
    Host,
    /// From a web page.
    Origin,
}

/// The host names under which this port may be addressed.
#[derive(Debug, Clone)]
pub struct Guard {
    hosts: Vec<String>,
}

impl Guard {
    /// For this port.
    pub fn new(port: u16) -> Self {
        let hosts = ["127.0.0.1", "localhost", "[::1]"];
        Self { hosts: hosts.iter().map(|host| format!("{host}:{port}")).collect() }
    }

    /// For a socket. No browser reaches one; whoever passes it on as a port still keeps web pages out.
    pub fn of_a_socket() -> Self {
        Self { hosts: vec!["localhost".to_owned()] }
    }

    /// Requires exactly one permitted `Host` with port, the same in an absolute request line, no foreign `Origin`, and no
    /// cross-site fetch metadata (W3C Fetch Metadata).
    ///
    /// # Errors
    /// [`Refused`]; the request must not be read further then.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).ok_or(Refused::Host)?;
        let addressed = uri.authority().map(|authority| authority.as_str());
        if hosts.next().is_some()
            || !self.is_ours(host)
            || addressed.is_some_and(|addressed| !self.is_ours(addressed))
        {
            return Err(Refused::Host);
        }
        let foreign = |site: &HeaderValue| !matches!(site.as_bytes(), b"none" | b"same-origin");
        if headers.get_all(FETCH_SITE).iter().any(foreign) {
            return Err(Refused::Origin);
        }
        for origin in headers.get_all(header::ORIGIN) {
            let ours = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
            if !ours.is_some_and(|host| self.is_ours(host)) {
                return Err(Refused::Origin);
            }
        }
        Ok(())
    }

    fn is_ours(&self, host: &str) -> bool {
        self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(uri: &str, headers: &[(&str, &str)]) -> Result<(), Refused> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(axum::http::HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        Guard::new(7411).check(&uri.parse().unwrap(), &map)
    }

    #[test]
    fn only_our_own_address_with_its_port_is_served() {
        for host in ["127.0.0.1:7411", "localhost:7411", "LOCALHOST:7411", "[::1]:7411"] {
            assert_eq!(check("/mcp", &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "",
            "127.0.0.1",
            "localhost",
            "127.0.0.1:7412",
            "evil.com",
            "evil.com:7411",
            "127.0.0.1.evil.com:7411",
            "localhost.:7411",
            "0.0.0.0:7411",
            "127.1:7411",
            "user@127.0.0.1:7411",
            "127.0.0.1:7411 ",
            "[::]:7411",
            "127.0.0.1:07411",
        ] {
            assert_eq!(check("/mcp", &[("host", host)]), Err(Refused::Host), "{host:?}");
        }
        assert_eq!(check("/mcp", &[]), Err(Refused::Host));
        let twice = [("host", "127.0.0.1:7411"), ("host", "127.0.0.1:7411")];
        assert_eq!(check("/mcp", &twice), Err(Refused::Host));
        assert_eq!(check("http://evil.com/mcp", &[("host", "127.0.0.1:7411")]), Err(Refused::Host));
    }

    #[test]
    fn requests_that_a_browser_sends_for_another_site_are_refused() {
        for (site, expected) in [
            ("none", Ok(())),
            ("same-origin", Ok(())),
            ("same-site", Err(Refused::Origin)),
            ("cross-site", Err(Refused::Origin)),
            ("", Err(Refused::Origin)),
        ] {
            let headers = [("host", "127.0.0.1:7411"), ("sec-fetch-site", site)];
            assert_eq!(check("/mcp", &headers), expected, "{site}");
        }
    }

    #[test]
    fn no_web_page_but_our_own_may_ask() {
        let with = |origin| check("/mcp", &[("host", "127.0.0.1:7411"), ("origin", origin)]);
        for origin in ["http://127.0.0.1:7411", "http://localhost:7411"] {
            assert_eq!(with(origin), Ok(()));
        }
        for origin in [
            "null",
            "",
            "https://evil.com",
            "http://evil.com",
            "http://localhost",
            "http://localhost:3000",
            "https://localhost:7411",
            "http://127.0.0.1:7411.evil.com",
            "file://",
            "http://localhost:7411/",
        ] {
            assert_eq!(with(origin), Err(Refused::Origin), "{origin:?}");
        }
    }
}
