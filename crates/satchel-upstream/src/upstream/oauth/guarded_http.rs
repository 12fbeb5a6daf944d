//! The only HTTP client of a sign-in. Servers choose its targets, so every address is checked before the request and
//! again after name resolution; no secret follows a redirect; every answer is bounded in time and size.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use reqwest::{
    Client, ClientBuilder, RequestBuilder, Response,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect,
};
use url::{Host, Url};

use super::{
    address::{Allowed, Zone, shown, zone, zone_of},
    challenge::{self, Challenge},
    discovery::Fetched,
    token_response::{self, Tokens, Unanswered},
};
use crate::{
    secrets::Secret,
    upstream::{decode::Decoding, outgoing},
};

/// Timeout of one request, including its body.
const TIME: Duration = Duration::from_secs(10);
/// Maximum size of a response, in bytes.
const LARGEST: usize = 1 << 20;
/// Maximum number of redirects, all within one origin, for a document.
const REDIRECTS: usize = 3;
/// Timeout of a DNS lookup.
const LOOKING_UP: Duration = Duration::from_secs(5);

/// An HTTP client restricted to what one server may refer to.
#[derive(Debug, Clone)]
pub struct GuardedHttp {
    allowed: Allowed,
    documents: Client,
    posts: Client,
    /// The same two without a proxy, for this computer. Only a server here may refer to it.
    here: Option<(Client, Client)>,
}

/// The response to a registration.
#[derive(Debug)]
pub enum Registration {
    /// Registered; the response text.
    Made(String),
    /// Refused; why.
    Refused(String),
    /// The endpoint must not be used, or redirects elsewhere; why.
    Unsafe(String),
    /// Temporarily unavailable; why.
    Later(String),
}

impl GuardedHttp {
    /// The client for a server. Resolves its host name to find its zone: a server in a company's network may use a sign-in
    /// page there; one on the internet may not.
    ///
    /// # Errors
    /// If no HTTP client can be created.
    pub async fn of(server: &Url) -> Result<Self, String> {
        Self::to(match zone_of(server) {
            Some(zone) => zone,
            None => zone_of_name(server.host_str().unwrap_or_default()).await,
        })
    }

    /// The client for a server in this zone.
    ///
    /// # Errors
    /// If no HTTP client can be created.
    pub fn to(zone: Zone) -> Result<Self, String> {
        let allowed = Allowed::around(zone);
        let client = |builder: ClientBuilder, policy: redirect::Policy| {
            builder
                .connect_timeout(TIME)
                .timeout(TIME)
                .dns_resolver(Arc::new(Checked { allowed }))
                .redirect(policy)
                .build()
                .map_err(|error| format!("cannot make an HTTP client: {error}"))
        };
        let same_origin = || {
            redirect::Policy::custom(move |attempt| {
                let from = attempt.previous().first().map(Url::origin);
                let stays = from == Some(attempt.url().origin()) && allowed.check(attempt.url()).is_ok();
                if stays && attempt.previous().len() <= REDIRECTS { attempt.follow() } else { attempt.stop() }
            })
        };
        let both = |builder: fn() -> ClientBuilder| {
            Ok::<_, String>((client(builder(), same_origin())?, client(builder(), redirect::Policy::none())?))
        };
        let (documents, posts) = both(outgoing::client)?;
        let here = (zone == Zone::Loopback).then(|| both(|| outgoing::client().no_proxy())).transpose()?;
        Ok(Self { allowed, documents, posts, here })
    }

    /// The client for reading documents at this address.
    fn documents(&self, url: &Url) -> &Client {
        self.here_for(url).map_or(&self.documents, |(documents, _)| documents)
    }

    /// The client for posting to this address.
    fn posts(&self, url: &Url) -> &Client {
        self.here_for(url).map_or(&self.posts, |(_, posts)| posts)
    }

    fn here_for(&self, url: &Url) -> Option<&(Client, Client)> {
        self.here.as_ref().filter(|_| outgoing::is_local(url))
    }

    /// The permitted zones.
    pub fn allowed(&self) -> Allowed {
        self.allowed
    }

    /// Reads a document.
    pub async fn read(&self, url: &Url) -> Fetched {
        if let Err(why) = self.allowed.check(url) {
            return Fetched::Refused(format!("{} {why}", shown(url.as_str())));
        }
        let response =
            match self.documents(url).get(url.clone()).header("accept", "application/json").send().await {
                Ok(response) => response,
                Err(error) => return Fetched::Down(unreached(url, &error)),
            };
        let status = response.status();
        if status.is_redirection() {
            return Fetched::Refused(format!(
                "{} redirects elsewhere, which is not followed",
                shown(url.as_str())
            ));
        }
        if status.is_server_error() || status.as_u16() == 429 {
            return Fetched::Down(format!("{} answered HTTP {}", shown(url.as_str()), status.as_u16()));
        }
        if !status.is_success() {
            return Fetched::Absent;
        }
        match bounded(response).await {
            Ok(text) => Fetched::Text(text),
            Err(why) => Fetched::Down(format!("{}: {why}", shown(url.as_str()))),
        }
    }

    /// Reads arbitrary content of at most `most` bytes, without identifying headers.
    ///
    /// # Errors
    /// Why it failed, in one sentence.
    pub async fn bytes(&self, url: &Url, most: usize) -> Result<Vec<u8>, String> {
        let host = shown(url.as_str());
        self.allowed.check(url).map_err(|why| format!("{host} {why}"))?;
        let mut response =
            self.documents(url).get(url.clone()).send().await.map_err(|error| unreached(url, &error))?;
        if !response.status().is_success() {
            return Err(format!("{host} answered HTTP {}", response.status().as_u16()));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreached(url, &error))? {
            if bytes.len() + chunk.len() > most {
                return Err(format!("{host} is larger than {} KiB", most / 1024));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// Registers a client.
    pub async fn register(&self, url: &Url, request: &serde_json::Value) -> Registration {
        if let Err(why) = self.allowed.check(url) {
            return Registration::Unsafe(format!("the registration endpoint {why}"));
        }
        let post = self
            .posts(url)
            .post(url.clone())
            .header("content-type", "application/json")
            .header("accept", "application/json")
            .body(request.to_string());
        let response = match post.send().await {
            Ok(response) => response,
            Err(error) => return Registration::Later(unreached(url, &error)),
        };
        let status = response.status();
        let text = bounded(response).await.unwrap_or_default();
        if status.is_redirection() {
            return Registration::Unsafe(
                "the registration endpoint redirects elsewhere, which is not followed".to_owned(),
            );
        }
        if status.is_server_error() || status.as_u16() == 429 {
            return Registration::Later(format!("the registration was answered by HTTP {}", status.as_u16()));
        }
        if status.is_success() {
            return Registration::Made(text);
        }
        let words = match text.trim() {
            text if text.is_empty() || text.starts_with('<') => String::new(),
            text => format!(": {}", shown(text)),
        };
        Registration::Refused(format!("the registration was answered by HTTP {}{words}", status.as_u16()))
    }

    /// Sends a form to a token endpoint.
    ///
    /// # Errors
    /// [`Unanswered`] if no tokens were returned.
    pub async fn tokens(
        &self,
        url: &Url,
        form: &[(&'static str, String)],
        proof: Option<&Secret>,
    ) -> Result<Tokens, Unanswered> {
        if let Err(why) = self.allowed.check(url) {
            return Err(Unanswered::Refused(format!("the token endpoint {why}")));
        }
        let response = match self.form(url, form, proof).send().await {
            Ok(response) => response,
            // A name that resolves to a forbidden address fails in the lookup, so nothing was sent either.
            Err(error) if error.is_connect() || error.is_builder() => {
                return Err(Unanswered::Unsent(unreached(url, &error)));
            }
            Err(error) => return Err(Unanswered::Lost(unreached(url, &error))),
        };
        let status = response.status().as_u16();
        let later = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let later = later.and_then(|value| value.trim().parse().ok());
        let text = bounded(response).await.map_err(Unanswered::Lost)?;
        token_response::read(status, later, &text)
    }

    /// Revokes a token (RFC 7009). Returns whether the provider did so.
    pub async fn revoke(&self, url: &Url, form: &[(&'static str, String)], proof: Option<&Secret>) -> bool {
        if self.allowed.check(url).is_err() {
            return false;
        }
        self.form(url, form, proof).send().await.is_ok_and(|response| response.status().is_success())
    }

    /// Deletes a registration (RFC 7592).
    pub async fn deregister(&self, url: &Url, token: &Secret) {
        if self.allowed.check(url).is_ok() {
            // The local copy is deleted in any case.
            let _ = self.posts(url).delete(url.clone()).bearer_auth(token.reveal()).send().await;
        }
    }

    /// Sends an unauthenticated request to obtain the server's challenge. `None` if it requires no sign-in.
    ///
    /// # Errors
    /// Why that failed, in one sentence.
    pub async fn challenge(&self, server: &Url) -> Result<Option<Challenge>, String> {
        let initialize = serde_json::json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": satchel_mcp::era::Era::SESSION.revision(),
                "capabilities": {},
                "clientInfo": { "name": "satchel", "version": env!("CARGO_PKG_VERSION") },
            },
        });
        let post = self
            .posts(server)
            .post(server.clone())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(initialize.to_string());
        let response = post.send().await.map_err(|error| unreached(server, &error))?;
        let challenge = challenge_of(&response);
        let session = response.headers().get("mcp-session-id").cloned();
        if response.status().is_success()
            && let Some(session) = session
        {
            // The session is not used.
            let _ = self.posts(server).delete(server.clone()).header("mcp-session-id", session).send().await;
        }
        Ok(match response.status().as_u16() {
            401 => Some(challenge.unwrap_or_default()),
            _ => challenge.filter(|challenge| challenge.resource_metadata.is_some()),
        })
    }

    fn form(&self, url: &Url, form: &[(&'static str, String)], proof: Option<&Secret>) -> RequestBuilder {
        let body: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let mut post = self
            .posts(url)
            .post(url.clone())
            .header("content-type", "application/x-www-form-urlencoded")
            // Some servers respond with a form otherwise.
            .header("accept", "application/json")
            .body(body);
        if let Some(proof) = proof
            && let Ok(mut value) = reqwest::header::HeaderValue::try_from(proof.reveal())
        {
            value.set_sensitive(true);
            post = post.header("authorization", value);
        }
        post
    }
}

/// The Bearer challenge of a response.
pub fn challenge_of(response: &Response) -> Option<Challenge> {
    let fields = response.headers().get_all("www-authenticate");
    challenge::bearer(fields.iter().filter_map(|field| field.to_str().ok()))
}

/// Resolves names, and returns only permitted addresses.
#[derive(Debug)]
struct Checked {
    allowed: Allowed,
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = self.allowed;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let all: Vec<SocketAddr> = found.collect();
            let good: Vec<SocketAddr> =
                all.iter().copied().filter(|address| allowed.permits(zone(address.ip()))).collect();
            if good.is_empty() && !all.is_empty() {
                return Err(format!(
                    "{} leads into a private network, and the server is not in it",
                    name.as_str()
                )
                .into());
            }
            let addresses: Addrs = Box::new(good.into_iter());
            Ok(addresses)
        })
    }
}

/// The zone of a name's addresses; if they differ, or there are none, it counts as public.
async fn zone_of_name(name: &str) -> Zone {
    let looked_up = tokio::time::timeout(LOOKING_UP, tokio::net::lookup_host((name, 0))).await;
    let Ok(Ok(found)) = looked_up else { return Zone::Public };
    let mut zones = found.map(|address| zone(address.ip()));
    let Some(first) = zones.next() else { return Zone::Public };
    if zones.all(|zone| zone == first) { first } else { Zone::Public }
}

async fn bounded(mut response: Response) -> Result<String, String> {
    let encoding = response.headers().get("content-encoding").and_then(|named| named.to_str().ok());
    let mut decoding = Decoding::of(encoding.unwrap_or_default());
    let mut bytes = Vec::new();
    loop {
        let chunk = response.chunk().await.map_err(|_| "its answer broke off")?;
        let last = chunk.is_none();
        let piece = match chunk {
            Some(chunk) => decoding.push(chunk.into()),
            None => decoding.finish(),
        };
        bytes.extend(piece.map_err(|why| format!("its answer {why}"))?);
        if bytes.len() > LARGEST {
            return Err("its answer is larger than 1 MiB".to_owned());
        }
        if last {
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}

/// The innermost cause, and the host: the whole URL may contain a secret.
fn unreached(url: &Url, error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let host = match url.host() {
        Some(Host::Domain(name)) => name.to_owned(),
        Some(Host::Ipv4(address)) => IpAddr::from(address).to_string(),
        Some(Host::Ipv6(address)) => IpAddr::from(address).to_string(),
        None => String::new(),
    };
    let text = cause.to_string();
    format!("{} cannot be reached: {}", shown(&host), text.split(" for url").next().unwrap_or_default())
}
