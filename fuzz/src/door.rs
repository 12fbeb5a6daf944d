//! The door: a request is let in only where a model that knows nothing but the few good spellings would let it in too.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri};
use satchel_endpoint::{Guard, bearer};

const PORT: u16 = 7411;

/// The first line is the address, the others are headers.
pub(crate) fn run(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let Some(uri) = lines.next().and_then(|line| Uri::try_from(line).ok()) else { return };
    let mut headers = HeaderMap::new();
    for line in lines {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value =
            HeaderValue::from_bytes(line[colon + 1..].strip_prefix(b" ").unwrap_or(&line[colon + 1..]));
        if let (Ok(name), Ok(value)) = (name, value) {
            let _ = headers.try_append(name, value);
        }
    }
    let admitted = Guard::new(PORT).check(&uri, &headers).is_ok();
    assert_eq!(admitted, may_enter(&uri, &headers), "{uri} {headers:?}");
    if let Some(token) = bearer(&headers) {
        let all: Vec<_> = headers.get_all("authorization").iter().collect();
        assert_eq!(all.len(), 1, "of two tokens none counts");
        let said = all[0].as_bytes().to_ascii_lowercase();
        assert!(
            said.starts_with(b"bearer ")
                && said.trim_ascii_end().ends_with(token.to_ascii_lowercase().as_bytes())
        );
    }
}

fn may_enter(uri: &Uri, headers: &HeaderMap) -> bool {
    let ours = |text: &[u8]| {
        let text = text.to_ascii_lowercase();
        [&b"127.0.0.1:7411"[..], b"localhost:7411", b"[::1]:7411"].contains(&text.as_slice())
    };
    let values = |name: &str| headers.get_all(name).iter().map(HeaderValue::as_bytes).collect::<Vec<_>>();
    let hosts = values("host");
    hosts.len() == 1
        && ours(hosts[0])
        && uri.authority().is_none_or(|authority| ours(authority.as_str().as_bytes()))
        && values("origin").iter().all(|origin| origin.strip_prefix(b"http://").is_some_and(ours))
        && values("sec-fetch-site").iter().all(|site| [&b"none"[..], b"same-origin"].contains(site))
}
