//! The only HTTP client for registries and the bundles they name. Follows no redirect, bounds every answer in time and
//! size, and sends only our name, our version and a configured token.

use std::time::Duration;

pub use reqwest::Url;
use reqwest::{Client, Response, StatusCode, header, redirect};
use tokio::time::{Instant, timeout_at};

use super::reading::{Fault, PATIENCE, Reading, TRIES};
use crate::{secrets::Secret, upstream::outgoing};

const CONNECTING: Duration = Duration::from_secs(5);
/// Timeout of reading a list.
const TIME: Duration = Duration::from_secs(30);
/// Timeout of fetching a bundle.
const BUNDLE_TIME: Duration = Duration::from_secs(300);
/// Release downloads redirect; at most this many redirects are followed, and only to https.
const REDIRECTS: usize = 4;

/// Reads as much of a registry's list as necessary. `reading` is complete afterwards.
///
/// # Errors
/// [`Fault`]
pub async fn read(url: &Url, token: Option<&Secret>, reading: &mut Reading) -> Result<(), Fault> {
    let client = client(url, redirect::Policy::none())?;
    let end = Instant::now() + TIME;
    loop {
        let mut page = url.clone();
        let path = format!("{}/v0.1/servers", url.path().trim_end_matches('/'));
        page.set_path(&path);
        page.query_pairs_mut().clear().extend_pairs(reading.query());
        let fetched = timeout_at(end, fetch(&client, &page, token, reading.tag(), reading.room()));
        let PageFetch::Page { body, tag } = fetched.await.map_err(|_| Fault::TooSlow)?? else {
            return Ok(());
        };
        let is_last = reading.take(&body)?;
        reading.tagged(tag);
        if is_last {
            return Ok(());
        }
    }
}

/// Fetches a bundle of at most `largest` bytes.
///
/// # Errors
/// [`Fault`]
pub async fn bundle(url: &Url, largest: usize) -> Result<Vec<u8>, Fault> {
    let https = redirect::Policy::custom(|attempt| {
        let far = attempt.previous().len() > REDIRECTS || attempt.url().scheme() != "https";
        if far { attempt.stop() } else { attempt.follow() }
    });
    let client = client(url, https)?;
    let end = Instant::now() + BUNDLE_TIME;
    match timeout_at(end, fetch(&client, url, None, None, largest)).await.map_err(|_| Fault::TooSlow)?? {
        PageFetch::Page { body, .. } => Ok(body),
        PageFetch::Unchanged => Err(Fault::Status(StatusCode::NOT_MODIFIED.as_u16())),
    }
}

/// The result of fetching a page.
enum PageFetch {
    /// A body and its ETag.
    Page { body: Vec<u8>, tag: Option<String> },
    /// Not modified.
    Unchanged,
}

fn client(url: &Url, redirects: redirect::Policy) -> Result<Client, Fault> {
    let client = outgoing::client_for(url).connect_timeout(CONNECTING).referer(false).redirect(redirects);
    client.build().map_err(|error| unreached(&error))
}

/// Is it an address of this computer?
pub fn is_this_computer(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    host == "localhost"
        || host == "[::1]"
        || host.parse().is_ok_and(|ip: std::net::Ipv4Addr| ip.is_loopback())
}

async fn fetch(
    client: &Client,
    url: &Url,
    token: Option<&Secret>,
    known: Option<&str>,
    room: usize,
) -> Result<PageFetch, Fault> {
    let mut tries = 0;
    let mut response = loop {
        let mut request = client.get(url.clone()).header(header::ACCEPT, "application/json");
        if let Some(token) = token
            && let Ok(mut value) = header::HeaderValue::try_from(format!("Bearer {}", token.reveal()))
        {
            value.set_sensitive(true);
            request = request.header(header::AUTHORIZATION, value);
        }
        if let Some(tag) = known {
            request = request.header(header::IF_NONE_MATCH, tag);
        }
        let response = request.send().await.map_err(|error| unreached(&error))?;
        tries += 1;
        match response.status() {
            StatusCode::OK => break response,
            // Only valid in response to an ETag.
            StatusCode::NOT_MODIFIED if known.is_some() => return Ok(PageFetch::Unchanged),
            StatusCode::TOO_MANY_REQUESTS => {
                let seconds = seconds_to_wait(&response);
                if tries >= TRIES || seconds > PATIENCE {
                    return Err(Fault::Busy(seconds));
                }
                tokio::time::sleep(Duration::from_secs(seconds)).await;
            }
            status if status.is_redirection() => return Err(Fault::Moved),
            status => return Err(Fault::Status(status.as_u16())),
        }
    };
    let tag = response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok()).map(ToOwned::to_owned);
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| unreached(&error))? {
        if body.len() + chunk.len() > room {
            return Err(Fault::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(PageFetch::Page { body, tag })
}

fn seconds_to_wait(response: &Response) -> u64 {
    let said = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    said.and_then(|value| value.trim().parse().ok()).unwrap_or(1).max(1)
}

/// The innermost cause: the rest repeats the address.
fn unreached(error: &reqwest::Error) -> Fault {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    Fault::Unreached(cause.to_string().split(" for url").next().unwrap_or_default().to_owned())
}
