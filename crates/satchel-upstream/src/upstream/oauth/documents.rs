//! The two discovery documents: protected resource metadata (RFC 9728) and authorization server metadata (RFC 8414,
//! OpenID Connect Discovery). Where they are, and what they must contain.

use url::Url;

use super::{
    address::{Allowed, shown},
    members::{Members, Unreadable},
};

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// What was found where a document may be.
#[derive(Debug)]
pub enum Document<T> {
    /// The document.
    Read(T),
    /// Something else, such as a page.
    Another,
    /// The document, which cannot be read; why.
    Unreadable(String),
}

impl<T> Document<T> {
    /// What a text is that has no members.
    fn without_members(text: &str) -> Self {
        match text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('{') {
            true => Document::Unreadable("it is not valid JSON".to_owned()),
            false => Document::Another,
        }
    }

    fn of(read: Result<T, Unreadable>) -> Self {
        read.map_or_else(|why| Document::Unreadable(why.to_string()), Document::Read)
    }
}

/// Protected resource metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedResource {
    /// Its own URL; goes byte for byte into the `resource` parameter.
    pub resource: String,
    /// Its authorization servers.
    pub authorization_servers: Vec<String>,
    /// The scopes it supports.
    pub scopes_supported: Vec<String>,
}

impl ProtectedResource {
    /// Parses it.
    pub fn read(text: &str) -> Document<Self> {
        let Some(members) = Members::of(text) else { return Document::without_members(text) };
        if !members.has("resource") {
            return match members.has("authorization_servers") {
                true => Document::Unreadable("it has no \"resource\" (RFC 9728, section 2)".to_owned()),
                false => Document::Another,
            };
        }
        let read = || {
            Ok(Self {
                resource: members.text("resource")?.unwrap_or_default(),
                authorization_servers: members.texts("authorization_servers")?.unwrap_or_default(),
                scopes_supported: members.texts("scopes_supported")?.unwrap_or_default(),
            })
        };
        Document::of(read())
    }

    /// Does it apply to this server: the same URL, or a parent by whole path segments?
    pub fn is_of(&self, server: &Url) -> bool {
        let Ok(resource) = Url::parse(&self.resource) else { return false };
        let (parent, path) = (resource.path().trim_end_matches('/'), server.path().trim_end_matches('/'));
        let below = path.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        resource.origin() == server.origin() && below && resource.username().is_empty()
    }
}

/// The possible locations of a server's document, in order, starting with the one in its challenge.
pub fn resource_places(server: &Url, named: Option<&str>) -> Vec<Url> {
    let named = named.filter(|named| !named.trim().is_empty());
    let mut places: Vec<Url> = named.and_then(|named| server.join(named).ok()).into_iter().collect();
    let path = server.path().trim_end_matches('/');
    for place in [format!("{RESOURCE}{path}"), RESOURCE.to_owned()] {
        let place = at_origin(server, &place);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// The possible locations of an issuer's metadata, in order (`2025-11-25/basic/authorization.mdx`).
pub fn metadata_places(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    if path.is_empty() {
        return [OAUTH, OPENID].map(|place| at_origin(issuer, place)).into();
    }
    [format!("{OAUTH}{path}"), format!("{OPENID}{path}"), format!("{path}{OPENID}")]
        .map(|place| at_origin(issuer, &place))
        .into()
}

/// The URL's origin with this path.
pub fn at_origin(address: &Url, path: &str) -> Url {
    let mut url = address.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// Authorization server metadata, unchecked.
#[derive(Debug, Clone, Default)]
pub struct ServerMetadata {
    /// Its issuer.
    pub issuer: Option<String>,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    scopes_supported: Vec<String>,
    code_challenge_methods_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    client_id_metadata_document_supported: bool,
    authorization_response_iss_parameter_supported: bool,
}

/// A checked authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Its issuer; compared byte for byte with what comes back from the browser.
    pub issuer: String,
    /// The authorization endpoint. Machines need none.
    pub authorization: Option<Url>,
    /// The token endpoint.
    pub token: Url,
    /// The registration endpoint.
    pub registration: Option<Url>,
    /// The revocation endpoint.
    pub revocation: Option<Url>,
    /// Supported client authentication methods; `None` if not stated.
    pub methods: Option<Vec<String>>,
    /// Does it support `offline_access`?
    pub offline_access: bool,
    /// Does it support client ID metadata documents?
    pub takes_documents: bool,
    /// Does it promise `iss` in its responses (RFC 9207)?
    pub promises_iss: bool,
}

impl ServerMetadata {
    /// Parses it.
    pub fn read(text: &str) -> Document<Self> {
        let Some(members) = Members::of(text) else { return Document::without_members(text) };
        if !members.has("issuer") && !members.has("token_endpoint") {
            return Document::Another;
        }
        let read = || {
            Ok(Self {
                issuer: members.text("issuer")?,
                authorization_endpoint: members.text("authorization_endpoint")?,
                token_endpoint: members.text("token_endpoint")?,
                registration_endpoint: members.text("registration_endpoint")?,
                revocation_endpoint: members.text("revocation_endpoint")?,
                scopes_supported: members.texts("scopes_supported")?.unwrap_or_default(),
                code_challenge_methods_supported: members.texts("code_challenge_methods_supported")?,
                token_endpoint_auth_methods_supported: members
                    .texts("token_endpoint_auth_methods_supported")?,
                client_id_metadata_document_supported: members
                    .flag("client_id_metadata_document_supported")?,
                authorization_response_iss_parameter_supported: members
                    .flag("authorization_response_iss_parameter_supported")?,
            })
        };
        Document::of(read())
    }

    /// Checks it against the requested issuer.
    ///
    /// # Errors
    /// Why it must not be used, in one sentence.
    pub fn checked(self, asked: &str, allowed: Allowed, without_pkce: bool) -> Result<Provider, String> {
        let Some(issuer) = self.issuer else {
            return Err("its metadata names no issuer (RFC 8414, section 2)".to_owned());
        };
        if !is_same_issuer(asked, &issuer) {
            let (issuer, asked) = (shown(&issuer), shown(asked));
            return Err(format!("its metadata is for another issuer: {issuer} instead of {asked}"));
        }
        let has_s256 = self
            .code_challenge_methods_supported
            .as_ref()
            .is_some_and(|methods| methods.iter().any(|method| method == "S256"));
        if !has_s256 && !without_pkce {
            return Err(
                "its metadata does not announce PKCE with S256, without which a code could be stolen \
                        (\"allowNoPkceAnnouncement\" in the entry's \"oauth\" accepts that)"
                    .to_owned(),
            );
        }
        let endpoint = |what: &str, text: Option<String>| match text {
            None => Ok(None),
            Some(text) => match Url::parse(&text) {
                Err(_) => Err(format!("its {what} endpoint is not an address: {}", shown(&text))),
                Ok(url) => match allowed.check(&url) {
                    Ok(()) => Ok(Some(url)),
                    Err(why) => Err(format!("its {what} endpoint {} {why}", shown(&text))),
                },
            },
        };
        let token = endpoint("token", self.token_endpoint)?
            .ok_or_else(|| "its metadata names no token endpoint".to_owned())?;
        Ok(Provider {
            // What comes back from the browser is compared with the metadata.
            issuer,
            authorization: endpoint("authorization", self.authorization_endpoint)?,
            token,
            registration: endpoint("registration", self.registration_endpoint)?,
            revocation: endpoint("revocation", self.revocation_endpoint)?,
            methods: self.token_endpoint_auth_methods_supported,
            offline_access: self.scopes_supported.iter().any(|scope| scope == "offline_access"),
            takes_documents: self.client_id_metadata_document_supported,
            promises_iss: self.authorization_response_iss_parameter_supported,
        })
    }
}

impl Provider {
    /// The default endpoints of revision 2025-03-26 for a server without metadata.
    pub fn by_default_paths(server: &Url) -> Self {
        let at = |path: &str| at_origin(server, path);
        Self {
            issuer: server.origin().ascii_serialization(),
            authorization: Some(at("/authorize")),
            token: at("/token"),
            registration: Some(at("/register")),
            revocation: None,
            methods: None,
            offline_access: false,
            takes_documents: false,
            promises_iss: false,
        }
    }
}

/// Identical, except that a trailing slash after an empty path makes no difference: large providers are inconsistent
/// there.
fn is_same_issuer(asked: &str, said: &str) -> bool {
    let without =
        |text: &str| text.strip_suffix('/').map(ToOwned::to_owned).unwrap_or_else(|| text.to_owned());
    asked == said || (without(asked) == without(said) && Url::parse(asked).is_ok_and(|url| url.path() == "/"))
}

#[cfg(test)]
mod tests {
    use super::{super::address::Zone, *};

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn places(places: &[Url]) -> Vec<&str> {
        places.iter().map(Url::as_str).collect()
    }

    #[test]
    fn documents_are_looked_for_in_the_order_of_the_specification() {
        let server = url("https://a.example/v1/mcp?key=x");
        assert_eq!(
            places(&resource_places(&server, Some("https://a.example/prm"))),
            [
                "https://a.example/prm",
                "https://a.example/.well-known/oauth-protected-resource/v1/mcp",
                "https://a.example/.well-known/oauth-protected-resource",
            ]
        );
        assert_eq!(resource_places(&url("https://a.example/"), None).len(), 1);
        assert_eq!(
            places(&metadata_places(&url("https://i.example/t1/"))),
            [
                "https://i.example/.well-known/oauth-authorization-server/t1",
                "https://i.example/.well-known/openid-configuration/t1",
                "https://i.example/t1/.well-known/openid-configuration",
            ]
        );
        assert_eq!(metadata_places(&url("https://i.example")).len(), 2);
    }

    #[test]
    fn a_document_is_of_a_server_or_of_a_parent_by_whole_segments() {
        let server = url("https://a.example/v1/mcp");
        for (resource, of) in [
            ("https://a.example/v1/mcp", true),
            ("https://a.example/v1/mcp/", true),
            ("https://a.example/v1", true),
            ("https://a.example", true),
            ("https://A.example/", true),
            ("https://a.example/v1/mc", false),
            ("https://a.example/v2", false),
            ("https://a.example:8443/v1/mcp", false),
            ("http://a.example/v1/mcp", false),
            ("https://b.example/v1/mcp", false),
            ("nonsense", false),
        ] {
            let document = ProtectedResource {
                resource: resource.into(),
                authorization_servers: vec![],
                scopes_supported: vec![],
            };
            assert_eq!(document.is_of(&server), of, "{resource}");
        }
    }

    #[test]
    fn metadata_is_used_only_where_every_rule_holds() {
        let good = serde_json::json!({
            "issuer": "https://i.example",
            "authorization_endpoint": "https://login.example/authorize",
            "token_endpoint": "https://api.example/token",
            "code_challenge_methods_supported": ["plain", "S256"],
        });
        let check = |change: &dyn Fn(&mut serde_json::Value), asked: &str| {
            let mut document = good.clone();
            change(&mut document);
            let Document::Read(metadata) = ServerMetadata::read(&document.to_string()) else { panic!() };
            metadata.checked(asked, Allowed::around(Zone::Public), false)
        };
        let issuer = "https://i.example";
        assert!(check(&|_| {}, issuer).is_ok(), "endpoints may lie elsewhere");
        assert!(check(&|_| {}, "https://i.example/").is_ok(), "the one slash of an empty path");
        assert!(check(&|document| document["issuer"] = "https://i.example/".into(), issuer).is_ok());
        for (change, asked, why) in [
            (("issuer", "https://j.example".into()), issuer, "another issuer"),
            (("issuer", serde_json::Value::Null), issuer, "no issuer"),
            (("issuer", "https://i.example/t/".into()), "https://i.example/t", "another issuer"),
            (("code_challenge_methods_supported", serde_json::Value::Null), issuer, "PKCE"),
            (("code_challenge_methods_supported", serde_json::json!(["plain"])), issuer, "PKCE"),
            (("token_endpoint", "http://api.example/token".into()), issuer, "not encrypted"),
            (("token_endpoint", "https://10.0.0.5/token".into()), issuer, "private network"),
            (("token_endpoint", serde_json::Value::Null), issuer, "no token endpoint"),
            (("authorization_endpoint", "javascript:alert(1)//".into()), issuer, "no web address"),
            (("authorization_endpoint", "file:///etc/hostname".into()), issuer, "no web address"),
            (("registration_endpoint", "https://127.0.0.1/".into()), issuer, "on this computer"),
        ] {
            let (key, value): (&str, serde_json::Value) = change;
            let refused = check(&|document| document[key] = value.clone(), asked).unwrap_err();
            assert!(refused.contains(why), "{key}: {refused}");
        }
        for other in ["{}", "<html>", r#"{"issuer":null,"token_endpoint":""}"#] {
            assert!(matches!(ServerMetadata::read(other), Document::Another), "{other}");
        }
    }

    #[test]
    fn null_and_empty_members_are_absent_and_others_that_cannot_be_read_are_named() {
        let good = r#"{"resource":"https://a.example","authorization_servers":["https://i.example"]"#;
        for more in [
            r#","scopes_supported":null}"#,
            r#","scopes_supported":""}"#,
            r#","scopes_supported":[null]}"#,
            "}",
        ] {
            let Document::Read(read) = ProtectedResource::read(&[good, more].concat()) else {
                panic!("{more}")
            };
            assert_eq!((read.authorization_servers.len(), read.scopes_supported.len()), (1, 0), "{more}");
        }
        for (document, part) in [
            ([good, r#","scopes_supported":5}"#].concat(), "\"scopes_supported\" is 5"),
            (
                r#"{"resource":"","authorization_servers":["https://i.example"]}"#.to_owned(),
                "no \"resource\"",
            ),
            (r#"{"resource":{"a":1}}"#.to_owned(), "\"resource\" is {\"a\":1} instead of a text"),
        ] {
            let Document::Unreadable(why) = ProtectedResource::read(&document) else { panic!("{document}") };
            assert!(why.contains(part), "{why}");
        }
        let metadata = r#"{"issuer":"https://i.example","token_endpoint":"https://i.example/t","registration_endpoint":"","scopes_supported":null,"token_endpoint_auth_methods_supported":null,"client_id_metadata_document_supported":null,"code_challenge_methods_supported":["S256"]}"#;
        let Document::Read(metadata) = ServerMetadata::read(metadata) else { panic!() };
        let provider = metadata.checked("https://i.example", Allowed::around(Zone::Public), false).unwrap();
        assert_eq!((provider.registration, provider.methods, provider.takes_documents), (None, None, false));
        let wrong = r#"{"issuer":"https://i.example","token_endpoint":[]}"#;
        assert!(
            matches!(ServerMetadata::read(wrong), Document::Unreadable(why) if why.contains("\"token_endpoint\" is []"))
        );
    }
}
