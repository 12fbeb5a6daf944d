//! Our identity at an authorization server: a client ID entered by the user, a published metadata document, or dynamic
//! registration (RFC 7591); and client authentication at the token endpoint (RFC 6749, section 2.3.1).

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::form_urlencoded;

use super::{
    Trouble,
    documents::Provider,
    members::{Members, Unreadable},
};
use crate::{
    model::oauth::{Grant, OAuth},
    secrets::Secret,
};

/// A client authentication method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// None: a public client.
    #[serde(rename = "none")]
    Public,
    /// HTTP Basic.
    #[serde(rename = "client_secret_basic")]
    Basic,
    /// ID and secret in the form.
    #[serde(rename = "client_secret_post")]
    Post,
}

/// A client at one authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Its ID.
    pub id: String,
    /// Its secret, if it has one.
    pub secret: Option<Secret>,
    /// Its authentication method.
    pub method: Method,
    /// The registered redirect address; any local one for a client that the user entered.
    pub redirect: String,
    /// Registered dynamically, so it can be registered again.
    pub registered: bool,
    /// The scopes it was registered for; empty if none were named.
    pub scopes: Vec<String>,
    /// When its secret expires, in seconds since the Unix epoch.
    pub secret_ends: Option<u64>,
    /// The URL and token for deleting the registration (RFC 7592).
    pub management: Option<(String, Secret)>,
}

/// How to obtain a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// Use this one.
    Known(Box<Client>),
    /// Send this to the registration endpoint.
    Register(Value),
}

/// The client for requesting `wanted`, in the order of the specification: the one the user entered, the one registered
/// before, a metadata document, a new registration for all of `scopes`.
///
/// # Errors
/// [`Trouble::NeedsClientId`] if only the user can provide one.
pub fn identity(
    settings: &OAuth,
    provider: &Provider,
    before: Option<&Client>,
    redirect: &str,
    (wanted, scopes): (&[String], &[String]),
) -> Result<Identity, Trouble> {
    if let Some(id) = &settings.client_id {
        return Ok(Identity::Known(Box::new(entered(id, settings, provider, redirect))));
    }
    let fits = |client: &&Client| {
        let allowed = |scope: &String| client.scopes.is_empty() || client.scopes.contains(scope);
        client.registered && client.redirect == redirect && wanted.iter().all(allowed)
    };
    if let Some(client) = before.filter(fits) {
        return Ok(Identity::Known(Box::new(client.clone())));
    }
    if let Some(document) = settings.client_metadata_url.as_ref().filter(|_| provider.takes_documents) {
        let client = Client {
            id: document.clone(),
            secret: None,
            method: Method::Public,
            redirect: redirect.to_owned(),
            registered: false,
            scopes: vec![],
            secret_ends: None,
            management: None,
        };
        return Ok(Identity::Known(Box::new(client)));
    }
    if provider.registration.is_none() {
        return Err(Trouble::NeedsClientId {
            why: format!("{} registers no apps by itself: a client ID has to be entered", provider.issuer),
            issuer: provider.issuer.clone(),
        });
    }
    Ok(Identity::Register(registration(redirect, scopes)))
}

/// A client that the user entered. The caller fills in its secret.
fn entered(id: &str, settings: &OAuth, provider: &Provider, redirect: &str) -> Client {
    let secret = settings.client_secret.as_deref().map(Secret::new);
    let method = match (&secret, &provider.methods) {
        (None, _) => Method::Public,
        // RFC 8414: a missing list means Basic.
        (Some(_), None) => Method::Basic,
        (Some(_), Some(methods)) => match methods.iter().any(|method| method == "client_secret_basic") {
            true => Method::Basic,
            false => Method::Post,
        },
    };
    Client {
        id: id.to_owned(),
        secret,
        method,
        redirect: redirect.to_owned(),
        registered: false,
        scopes: vec![],
        secret_ends: None,
        management: None,
    }
}

/// The registration request (RFC 7591, section 2; `2026-07-28`: `application_type` is required).
fn registration(redirect: &str, scopes: &[String]) -> Value {
    let mut request = json!({
        "client_name": "Satchel",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    });
    if !scopes.is_empty() {
        request["scope"] = scopes.join(" ").into();
    }
    request
}

/// The registration response. It overrides what was requested (RFC 7591, section 3.2.1).
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    client_secret_expires_at: Option<u64>,
    token_endpoint_auth_method: Option<String>,
    registration_access_token: Option<String>,
    registration_client_uri: Option<String>,
}

impl Registered {
    fn read(text: &str) -> Result<Self, String> {
        let members = Members::of(text).ok_or("it is no JSON object")?;
        let unreadable = |why: Unreadable| why.to_string();
        let text = |member| members.text(member).map_err(unreadable);
        Ok(Self {
            client_id: text("client_id")?.ok_or("it names no client ID")?,
            client_secret: text("client_secret")?,
            client_secret_expires_at: members.seconds("client_secret_expires_at").map_err(unreadable)?,
            token_endpoint_auth_method: text("token_endpoint_auth_method")?,
            registration_access_token: text("registration_access_token")?,
            registration_client_uri: text("registration_client_uri")?,
        })
    }
}

/// Parses a registration response.
///
/// # Errors
/// [`Trouble::Refused`] if it has no client ID, or an unknown authentication method.
pub fn registered(text: &str, redirect: &str, scopes: &[String]) -> Result<Client, Trouble> {
    let refused =
        |why: &str| Trouble::Refused(format!("the answer to the registration cannot be used: {why}"));
    let answer = Registered::read(text).map_err(|why| refused(&why))?;
    if answer.client_id.chars().any(char::is_control) {
        return Err(refused("its client ID cannot be used"));
    }
    let secret = answer.client_secret.map(Secret::new);
    let method = match (answer.token_endpoint_auth_method.as_deref(), &secret) {
        (Some("client_secret_basic"), Some(_)) => Method::Basic,
        (Some("client_secret_post"), Some(_)) => Method::Post,
        (Some("none") | None, None) => Method::Public,
        // If a secret was issued, it has to be sent, whatever method the response states.
        (Some("none"), Some(_)) => Method::Post,
        (None, Some(_)) => Method::Basic,
        (Some("client_secret_basic" | "client_secret_post"), None) => {
            return Err(refused("it gives no secret"));
        }
        (Some(other), _) => {
            return Err(refused(&format!(
                "it requires the client authentication method {}",
                super::address::shown(other)
            )));
        }
    };
    let management = answer.registration_client_uri.zip(answer.registration_access_token.map(Secret::new));
    Ok(Client {
        id: answer.client_id,
        secret,
        method,
        redirect: redirect.to_owned(),
        registered: true,
        scopes: scopes.to_vec(),
        secret_ends: answer.client_secret_expires_at.filter(|ends| *ends > 0),
        management,
    })
}

impl Client {
    /// Adds the client to the form of a token or revocation request; returns the `Authorization` header if it goes
    /// there instead. Never both: some servers reject that.
    pub fn prove(&self, form: &mut Vec<(&'static str, String)>) -> Option<Secret> {
        match (self.method, &self.secret) {
            (Method::Basic, Some(secret)) => {
                let encoded =
                    |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
                let pair = format!("{}:{}", encoded(&self.id), encoded(secret.reveal()));
                Some(Secret::new(format!("Basic {}", STANDARD.encode(pair))))
            }
            (Method::Post, Some(secret)) => {
                form.push(("client_id", self.id.clone()));
                form.push(("client_secret", secret.reveal().to_owned()));
                None
            }
            (Method::Public | Method::Basic | Method::Post, _) => {
                form.push(("client_id", self.id.clone()));
                None
            }
        }
    }
}

/// The client for the client credentials grant.
///
/// # Errors
/// What is missing.
pub fn machine(settings: &OAuth, provider: &Provider) -> Result<Client, Trouble> {
    debug_assert_eq!(settings.grant, Grant::ClientCredentials);
    let (Some(id), Some(_)) = (&settings.client_id, &settings.client_secret) else {
        let why = "\"grant\": \"client_credentials\" needs \"clientId\" and \"clientSecret\" in the entry's \"oauth\"";
        return Err(Trouble::NeedsClientId { why: why.to_owned(), issuer: provider.issuer.clone() });
    };
    Ok(entered(id, settings, provider, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use url::Url;

    fn provider() -> Provider {
        Provider::by_default_paths(&Url::parse("https://i.example").unwrap())
    }

    #[test]
    fn a_client_is_found_in_the_order_of_the_specification() {
        let (redirect, document) = ("http://127.0.0.1:4000/callback", "https://satchel.example/client.json");
        let by_user = OAuth {
            client_id: Some("app".into()),
            client_metadata_url: Some(document.into()),
            ..OAuth::default()
        };
        let takes = Provider { takes_documents: true, ..provider() };
        let known = |settings: &OAuth, provider: &Provider, before: Option<&Client>| match identity(
            settings,
            provider,
            before,
            redirect,
            (&[], &[]),
        )
        .unwrap()
        {
            Identity::Known(client) => client.id,
            Identity::Register(_) => "register".to_owned(),
        };
        let none = OAuth::default();
        let with_document = OAuth { client_id: None, ..by_user.clone() };
        let before = registered(r#"{"client_id":"dyn"}"#, redirect, &[]).unwrap();
        assert_eq!(known(&by_user, &takes, Some(&before)), "app");
        assert_eq!(known(&with_document, &takes, None), document);
        assert_eq!(known(&with_document, &provider(), None), "register");
        assert_eq!(known(&none, &takes, Some(&before)), "dyn");
        let elsewhere = Client { redirect: "http://127.0.0.1:5000/callback".into(), ..before };
        assert_eq!(known(&none, &takes, Some(&elsewhere)), "register", "its redirect address is another one");
        let narrow = registered(r#"{"client_id":"dyn"}"#, redirect, &["read".into()]).unwrap();
        for (wanted, is_known) in [("read", true), ("write", false)] {
            let scopes = [wanted.to_owned()];
            let asked = identity(&none, &takes, Some(&narrow), redirect, (&scopes, &scopes)).unwrap();
            assert_eq!(matches!(asked, Identity::Known(_)), is_known, "{wanted}");
        }
        let closed = Provider { registration: None, ..provider() };
        let asked = identity(&none, &closed, None, redirect, (&[], &[]));
        assert!(matches!(asked, Err(Trouble::NeedsClientId { .. })));
    }

    #[test]
    fn the_answer_to_a_registration_says_how_the_client_proves_itself() {
        for (answer, method) in [
            (r#"{"client_id":"a"}"#, Some(Method::Public)),
            (r#"{"client_id":"a","token_endpoint_auth_method":"none"}"#, Some(Method::Public)),
            (
                r#"{"client_id":"a","client_secret":"s","token_endpoint_auth_method":"none"}"#,
                Some(Method::Post),
            ),
            (r#"{"client_id":"a","client_secret":"s"}"#, Some(Method::Basic)),
            (r#"{"client_id":"a","client_secret":"s","token_endpoint_auth_method":""}"#, Some(Method::Basic)),
            (
                r#"{"client_id":"a","client_secret":"","token_endpoint_auth_method":null,"grant_types":null,"client_secret_expires_at":""}"#,
                Some(Method::Public),
            ),
            (r#"{"client_id":7,"client_secret_expires_at":"0"}"#, Some(Method::Public)),
            (r#"{"client_id":"a","client_secret":["s"]}"#, None),
            (
                r#"{"client_id":"a","client_secret":"s","token_endpoint_auth_method":"client_secret_post"}"#,
                Some(Method::Post),
            ),
            (r#"{"client_id":"a","token_endpoint_auth_method":"client_secret_basic"}"#, None),
            (r#"{"client_id":"a","token_endpoint_auth_method":"private_key_jwt"}"#, None),
            (r#"{"client_id":""}"#, None),
            ("<html>", None),
        ] {
            assert_eq!(registered(answer, "r", &[]).map(|client| client.method).ok(), method, "{answer}");
        }
    }

    #[test]
    fn a_secret_goes_one_way_and_is_encoded_for_it() {
        let client = |method| Client {
            id: "my app".into(),
            secret: Some(Secret::new("s3:c+r%t")),
            method,
            redirect: String::new(),
            registered: false,
            scopes: vec![],
            secret_ends: None,
            management: None,
        };
        let mut form = Vec::new();
        let header = client(Method::Basic).prove(&mut form).unwrap();
        assert_eq!(header.reveal(), format!("Basic {}", STANDARD.encode("my+app:s3%3Ac%2Br%25t")));
        assert!(form.is_empty(), "nothing of the client in the form");
        assert!(client(Method::Post).prove(&mut form).is_none());
        assert_eq!(form, [("client_id", "my app".to_owned()), ("client_secret", "s3:c+r%t".to_owned())]);
    }

    #[test]
    fn a_secret_that_the_user_entered_goes_as_the_server_lists_it() {
        let settings =
            OAuth { client_id: Some("a".into()), client_secret: Some("s".into()), ..OAuth::default() };
        for (methods, method) in [
            (None, Method::Basic),
            (Some(vec!["client_secret_post", "client_secret_basic"]), Method::Basic),
            (Some(vec!["client_secret_post"]), Method::Post),
        ] {
            let methods = methods.map(|methods| methods.into_iter().map(ToOwned::to_owned).collect());
            let provider = Provider { methods, ..provider() };
            assert_eq!(entered("a", &settings, &provider, "r").method, method);
        }
    }
}
