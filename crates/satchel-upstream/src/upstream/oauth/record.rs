//! The keychain item of a sign-in: issuer, client and tokens.

use serde::{Deserialize, Serialize};
use url::Url;

use super::{
    client::{Client, Method},
    discovery::Discovered,
};
use crate::secrets::Secret;

const FORMAT: u8 = 1;

/// The stored sign-in of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// The server's URL without query: tokens are sent nowhere else.
    pub(super) server: String,
    pub(super) issuer: String,
    pub(super) token_endpoint: Url,
    pub(super) revocation_endpoint: Option<Url>,
    pub(super) resource: Option<String>,
    pub(super) client: Client,
    /// All scopes requested so far.
    pub(super) asked: Vec<String>,
    pub(super) tokens: Option<Kept>,
}

/// Stored tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    /// `None` in an item of an older version that had no room for it; the next use renews it.
    pub(super) access: Option<Secret>,
    pub(super) refresh: Option<Secret>,
    /// When to renew and when it expires, in milliseconds since the Unix epoch.
    pub(super) times: Option<(u64, u64)>,
    pub(super) scopes: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    v: u8,
    server: String,
    issuer: String,
    token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revocation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resource: Option<String>,
    client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    method: Method,
    redirect: String,
    registered: bool,
    #[serde(default)]
    client_scopes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_ends: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    management: Option<(String, String)>,
    #[serde(default)]
    asked: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens: Option<StoredTokens>,
}

#[derive(Serialize, Deserialize)]
struct StoredTokens {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    access: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<(u64, u64)>,
    #[serde(default)]
    scopes: Vec<String>,
}

/// A URL in the form used in records.
pub(super) fn address_of(server: &Url) -> String {
    format!("{}{}", server.origin().ascii_serialization(), server.path())
}

impl Record {
    pub(super) fn new(server: &Url, found: &Discovered, client: Client) -> Self {
        Self {
            server: address_of(server),
            issuer: found.provider.issuer.clone(),
            token_endpoint: found.provider.token.clone(),
            revocation_endpoint: found.provider.revocation.clone(),
            resource: found.resource.clone(),
            client,
            asked: vec![],
            tokens: None,
        }
    }

    /// Parses an item. `None` if it is foreign or of another version.
    pub(super) fn read(item: &Secret) -> Option<Self> {
        let stored: Stored =
            serde_json::from_str(item.reveal()).ok().filter(|stored: &Stored| stored.v == FORMAT)?;
        Some(Self {
            server: stored.server,
            issuer: stored.issuer,
            token_endpoint: Url::parse(&stored.token).ok()?,
            revocation_endpoint: stored.revocation.and_then(|url| Url::parse(&url).ok()),
            resource: stored.resource,
            client: Client {
                id: stored.client_id,
                secret: stored.client_secret.map(Secret::new),
                method: stored.method,
                redirect: stored.redirect,
                registered: stored.registered,
                scopes: stored.client_scopes,
                secret_ends: stored.secret_ends,
                management: stored.management.map(|(url, token)| (url, Secret::new(token))),
            },
            asked: stored.asked,
            tokens: stored.tokens.map(|tokens| Kept {
                access: tokens.access.map(Secret::new),
                refresh: tokens.refresh.map(Secret::new),
                times: tokens.times,
                scopes: tokens.scopes,
            }),
        })
    }

    /// Serializes it for the keychain. A secret that the user entered stays where the user stored it.
    pub(super) fn to_item(&self) -> Option<Secret> {
        let plain = |secret: &Secret| secret.reveal().to_owned();
        let client = &self.client;
        let stored = Stored {
            v: FORMAT,
            server: self.server.clone(),
            issuer: self.issuer.clone(),
            token: self.token_endpoint.to_string(),
            revocation: self.revocation_endpoint.as_ref().map(ToString::to_string),
            resource: self.resource.clone(),
            client_id: client.id.clone(),
            client_scopes: client.scopes.clone(),
            client_secret: client.secret.as_ref().filter(|_| client.registered).map(plain),
            method: client.method,
            redirect: client.redirect.clone(),
            registered: client.registered,
            secret_ends: client.secret_ends,
            management: client.management.as_ref().map(|(url, token)| (url.clone(), plain(token))),
            asked: self.asked.clone(),
            tokens: self.tokens.as_ref().map(|tokens| StoredTokens {
                access: tokens.access.as_ref().map(plain),
                refresh: tokens.refresh.as_ref().map(plain),
                times: tokens.times,
                scopes: tokens.scopes.clone(),
            }),
        };
        serde_json::to_string(&stored).ok().map(Secret::new)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::documents::Provider, *};

    #[test]
    fn a_record_comes_back_as_it_was_but_for_the_secret_that_the_user_keeps() {
        let server = Url::parse("https://a.example/mcp?key=x").unwrap();
        let found = Discovered {
            provider: Provider::by_default_paths(&server),
            resource: None,
            scopes: vec![],
            known: vec![],
        };
        let client = super::super::client::registered(
            r#"{"client_id":"me","client_secret":"s","token_endpoint_auth_method":"client_secret_post"}"#,
            "http://127.0.0.1:4000/callback",
            &["read".into()],
        )
        .unwrap();
        let mut record = Record::new(&server, &found, client);
        record.tokens = Some(Kept {
            access: Some(Secret::new("at")),
            refresh: Some(Secret::new("rt")),
            times: Some((1, 2)),
            scopes: vec!["read".into()],
        });
        assert_eq!(record.server, "https://a.example/mcp");
        let item = record.to_item().unwrap();
        assert_eq!(Record::read(&item).unwrap(), record);
        record.client.registered = false;
        assert!(!record.to_item().unwrap().reveal().contains("client_secret\""));
        for item in ["", "{}", r#"{"v":2}"#, "a token of somebody"] {
            assert!(Record::read(&Secret::new(item)).is_none());
        }
    }
}
