//! State machine from a server's address to its authorization server. Decides what to read next; reads nothing itself.
//!
//! One way serves every revision, because a client learns the server's revision only after it is signed in: the newest
//! rules first; where a server publishes no protected resource metadata at all, those of 2025-03-26.

use std::collections::VecDeque;

use url::Url;

use super::{
    Trouble,
    address::{Allowed, shown},
    challenge::Challenge,
    documents::{
        Document, ProtectedResource, Provider, ServerMetadata, at_origin, metadata_places, resource_places,
    },
    providers,
};
use crate::model::oauth::{OAuth, Resource};

/// Maximum number of authorization servers to try.
const SERVERS: usize = 5;

/// The result of reading a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// A text.
    Text(String),
    /// Not found.
    Absent,
    /// It must not be read, or redirected elsewhere; why.
    Refused(String),
    /// It was unreachable or failed; why.
    Down(String),
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Read this, and pass on the result.
    Read(Url),
    /// Discovered.
    Done(Box<Discovered>),
    /// Failed.
    Ended(Trouble),
}

/// Where to sign in, and what to request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered {
    /// The authorization server.
    pub provider: Provider,
    /// The `resource` parameter; `None` to omit it.
    pub resource: Option<String>,
    /// The scopes that the server requires, if stated.
    pub scopes: Vec<String>,
    /// All scopes it supports.
    pub known: Vec<String>,
}

impl Discovered {
    /// The scopes to request; `extra` were requested before or are needed now.
    pub fn asked(&self, extra: &[String]) -> Vec<String> {
        let mut scopes = united(&self.scopes, extra);
        // Where supported, a refresh token requires this scope (`2026-07-28`, Refresh Tokens).
        if self.provider.offline_access && !scopes.is_empty() {
            scopes = united(&scopes, &["offline_access".to_owned()]);
        }
        scopes
    }

    /// The scopes to register for: requested now or possibly later. Empty if the server names none.
    pub fn registered_for(&self, asked: &[String]) -> Vec<String> {
        if asked.is_empty() { vec![] } else { united(asked, &self.known) }
    }
}

/// The union, without duplicates.
fn united(one: &[String], other: &[String]) -> Vec<String> {
    let mut all = one.to_vec();
    for scope in other {
        if !all.contains(scope) {
            all.push(scope.clone());
        }
    }
    all
}

/// The stage of a discovery.
#[derive(Debug)]
enum DiscoveryStage {
    Resource {
        places: VecDeque<Url>,
    },
    Server {
        issuer: String,
        places: VecDeque<Url>,
        others: VecDeque<String>,
        reason: Option<String>,
    },
    /// At the server's own origin, as in 2025-03-26.
    Origin {
        places: VecDeque<Url>,
    },
}

/// A discovery.
#[derive(Debug)]
pub struct Discovery<'a> {
    server: &'a Url,
    settings: &'a OAuth,
    allowed: Allowed,
    challenged: Vec<String>,
    resource: Option<ProtectedResource>,
    stage: DiscoveryStage,
    /// Where the server says that its document is.
    named: Option<Url>,
    /// Why a document of this stage that is there cannot be read.
    unreadable: Option<String>,
}

impl<'a> Discovery<'a> {
    /// Starts from this challenge of the server, if any.
    pub fn new(
        server: &'a Url,
        challenge: Option<&Challenge>,
        settings: &'a OAuth,
        allowed: Allowed,
    ) -> Self {
        let named = challenge.and_then(|challenge| challenge.resource_metadata.as_deref());
        let places: VecDeque<Url> = resource_places(server, named).into();
        let named = named.and_then(|_| places.front().cloned());
        let challenged = challenge.map(|challenge| challenge.scopes.clone()).unwrap_or_default();
        Self {
            server,
            settings,
            allowed,
            challenged,
            resource: None,
            stage: DiscoveryStage::Resource { places },
            named,
            unreadable: None,
        }
    }

    /// The first URL to read.
    pub fn begin(&self) -> Next {
        self.next()
    }

    /// Handles the result of reading a URL.
    pub fn read(&mut self, fetched: Fetched) -> Next {
        match fetched {
            Fetched::Refused(why) => Next::Ended(Trouble::Refused(why)),
            Fetched::Down(why) => Next::Ended(Trouble::Later(why)),
            Fetched::Text(text) => self.take(&text),
            Fetched::Absent => self.pass_over(),
        }
    }

    /// Where the next document may be.
    fn place(&self) -> Option<&Url> {
        match &self.stage {
            DiscoveryStage::Resource { places }
            | DiscoveryStage::Server { places, .. }
            | DiscoveryStage::Origin { places } => places.front(),
        }
    }

    fn next(&self) -> Next {
        match self.place() {
            None => Next::Ended(Trouble::Refused("it could not be found out where to sign in".to_owned())),
            Some(place) => match self.allowed.check(place) {
                Ok(()) => Next::Read(place.clone()),
                Err(why) => Next::Ended(Trouble::Refused(format!("{} {why}", shown(place.as_str())))),
            },
        }
    }

    fn take(&mut self, text: &str) -> Next {
        match &self.stage {
            DiscoveryStage::Resource { .. } => match ProtectedResource::read(text) {
                // Elsewhere, pages that answer everything are no document.
                Document::Another if self.place() == self.named.as_ref() => self.pass_over_unreadable(
                    "it is something else than such a document (RFC 9728, section 3.2)",
                ),
                Document::Another => self.pass_over(),
                Document::Unreadable(why) => self.pass_over_unreadable(&why),
                Document::Read(document) if !document.is_of(self.server) => Next::Ended(Trouble::Refused(
                    format!("its metadata is for another resource: {}", shown(&document.resource)),
                )),
                Document::Read(document) => {
                    let servers = document.authorization_servers.iter().take(SERVERS);
                    let pinned = self.settings.issuer.as_deref();
                    let wanted = |server: &&String| pinned.is_none_or(|pinned| pinned == server.as_str());
                    let servers: VecDeque<String> = servers.filter(wanted).cloned().collect();
                    let names_any = !document.authorization_servers.is_empty();
                    self.resource = Some(document);
                    match (names_any, servers.is_empty()) {
                        (true, true) => Next::Ended(Trouble::Refused(
                            "it names another authorization server than \"issuer\" in the entry's \"oauth\""
                                .to_owned(),
                        )),
                        (false, _) => self.at_own_origin(),
                        (true, false) => self.next_server(servers, None),
                    }
                }
            },
            DiscoveryStage::Server { issuer, .. } => {
                let issuer = issuer.clone();
                let metadata = match ServerMetadata::read(text) {
                    Document::Read(metadata) => metadata,
                    Document::Another => {
                        return self.pass_over_unreadable(
                            "it is something else than such a document (RFC 8414, section 3.2)",
                        );
                    }
                    Document::Unreadable(why) => return self.pass_over_unreadable(&why),
                };
                match metadata.checked(
                    &issuer,
                    self.allowed,
                    self.settings_at(&issuer).allow_no_pkce_announcement,
                ) {
                    Ok(provider) => self.found(provider),
                    Err(why) => self.give_up(format!("{} cannot be used to sign in: {why}", shown(&issuer))),
                }
            }
            DiscoveryStage::Origin { .. } => {
                let metadata = match ServerMetadata::read(text) {
                    Document::Read(metadata) => metadata,
                    Document::Another => return self.pass_over(),
                    Document::Unreadable(why) => return self.pass_over_unreadable(&why),
                };
                let origin = self.server.origin().ascii_serialization();
                match metadata.checked(&origin, self.allowed, self.settings.allow_no_pkce_announcement) {
                    Ok(provider) => self.found(provider),
                    Err(why) => Next::Ended(Trouble::Refused(format!("it cannot be used to sign in: {why}"))),
                }
            }
        }
    }

    /// The settings, with the known requirements of this authorization server.
    fn settings_at(&self, issuer: &str) -> OAuth {
        providers::of_issuer(issuer)
            .map_or_else(|| self.settings.clone(), |known| known.complete(self.settings))
    }

    /// The document is there, but cannot be read. Another place may have a better one.
    fn pass_over_unreadable(&mut self, why: &str) -> Next {
        let place = self.place().map(Url::as_str).unwrap_or_default();
        let told = format!("the document at {} cannot be read: {why}", shown(place));
        self.unreadable.get_or_insert(told);
        self.pass_over()
    }

    /// Nothing usable was found there.
    fn pass_over(&mut self) -> Next {
        match &mut self.stage {
            DiscoveryStage::Resource { places } => {
                places.pop_front();
                match (places.is_empty(), &self.unreadable) {
                    (false, _) => self.next(),
                    // Rules for servers without documents do not fit one that has them.
                    (true, Some(why)) => Next::Ended(Trouble::Refused(why.clone())),
                    (true, None) => self.at_own_origin(),
                }
            }
            DiscoveryStage::Server { issuer, places, .. } => {
                places.pop_front();
                if !places.is_empty() {
                    return self.next();
                }
                let none = format!("{} publishes no metadata", shown(issuer));
                let why = self.unreadable.take().unwrap_or(none);
                self.give_up(why)
            }
            DiscoveryStage::Origin { places } => {
                places.pop_front();
                if !places.is_empty() {
                    return self.next();
                }
                match self.unreadable.take() {
                    Some(why) => Next::Ended(Trouble::Refused(why)),
                    None => self.found(Provider::by_default_paths(self.server)),
                }
            }
        }
    }

    /// Gives up on this authorization server and tries the next.
    fn give_up(&mut self, why: String) -> Next {
        let DiscoveryStage::Server { others, reason, .. } = &mut self.stage else {
            return Next::Ended(Trouble::Refused(why));
        };
        let first = reason.take().unwrap_or(why);
        let others = std::mem::take(others);
        self.next_server(others, Some(first))
    }

    fn next_server(&mut self, mut servers: VecDeque<String>, reason: Option<String>) -> Next {
        let Some(issuer) = servers.pop_front() else {
            let why = reason.unwrap_or_else(|| "it names no authorization server".to_owned());
            return Next::Ended(Trouble::Refused(why));
        };
        let place = Url::parse(&issuer).map_err(|_| "is no address".to_owned());
        match place.and_then(|url| self.allowed.check(&url).map(|()| url)) {
            Ok(url) => {
                let places = metadata_places(&url).into();
                self.unreadable = None;
                self.stage = DiscoveryStage::Server { issuer, places, others: servers, reason };
                self.next()
            }
            Err(why) => {
                let why = format!("its authorization server {} {why}", shown(&issuer));
                self.next_server(servers, Some(reason.unwrap_or(why)))
            }
        }
    }

    fn at_own_origin(&mut self) -> Next {
        let places = metadata_places(&at_origin(self.server, "/")).into_iter().take(1).collect();
        self.unreadable = None;
        self.stage = DiscoveryStage::Origin { places };
        self.next()
    }

    fn found(&self, provider: Provider) -> Next {
        if let Some(pinned) = self.settings.issuer.as_deref()
            && pinned.trim_end_matches('/') != provider.issuer.trim_end_matches('/')
        {
            return Next::Ended(Trouble::Refused(format!(
                "{} is not the \"issuer\" in the entry's \"oauth\"",
                shown(&provider.issuer)
            )));
        }
        let scopes = match (&self.settings.scopes, self.challenged.is_empty(), &self.resource) {
            (Some(configured), _, _) => configured.clone(),
            (None, false, _) => self.challenged.clone(),
            (None, true, Some(document)) => document.scopes_supported.clone(),
            (None, true, None) => vec![],
        };
        let named = self.resource.as_ref().map(|document| document.resource.clone());
        let resource = match &self.settings_at(&provider.issuer).resource {
            Resource::Named => named,
            Resource::Off => None,
            Resource::Value(value) => Some(value.clone()),
        };
        let known =
            self.resource.as_ref().map(|document| document.scopes_supported.clone()).unwrap_or_default();
        Next::Done(Box::new(Discovered { provider, resource, scopes, known }))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::address::Zone, *};

    const SERVER: &str = "https://a.example/mcp";

    /// Plays a discovery against these documents.
    fn play(web: &[(&str, &str)], challenge: Option<&Challenge>, settings: &OAuth) -> (Next, Vec<String>) {
        let server = Url::parse(SERVER).unwrap();
        let mut discovery = Discovery::new(&server, challenge, settings, Allowed::around(Zone::Public));
        let (mut next, mut read) = (discovery.begin(), Vec::new());
        while let Next::Read(url) = &next {
            read.push(url.to_string());
            let document = web.iter().find(|(at, _)| *at == url.as_str());
            next = discovery.read(match document {
                None => Fetched::Absent,
                Some((_, "down")) => Fetched::Down("it is down".into()),
                Some((_, "elsewhere")) => Fetched::Refused("it leads elsewhere".into()),
                Some((_, text)) => Fetched::Text((*text).to_owned()),
            });
            assert!(read.len() <= 20);
        }
        (next, read)
    }

    fn found(next: Next) -> Discovered {
        match next {
            Next::Done(found) => *found,
            other => panic!("{other:?}"),
        }
    }

    fn refused(next: Next) -> String {
        match next {
            Next::Ended(Trouble::Refused(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    const PRM: &str = "https://a.example/.well-known/oauth-protected-resource/mcp";
    const META: &str = "https://i.example/.well-known/oauth-authorization-server";
    const DOCUMENT: &str = r#"{"resource":"https://a.example/mcp","authorization_servers":["https://i.example"],"scopes_supported":["all"]}"#;
    const METADATA: &str = r#"{"issuer":"https://i.example","authorization_endpoint":"https://i.example/a","token_endpoint":"https://i.example/t","code_challenge_methods_supported":["S256"]}"#;

    #[test]
    fn the_challenge_s_scopes_win_and_the_document_s_resource_is_sent() {
        let web = [(PRM, DOCUMENT), (META, METADATA)];
        let plain = found(play(&web, None, &OAuth::default()).0);
        assert_eq!((plain.scopes, plain.resource.as_deref()), (vec!["all".to_owned()], Some(SERVER)));
        let challenge = Challenge { scopes: vec!["read".into()], ..Challenge::default() };
        assert_eq!(found(play(&web, Some(&challenge), &OAuth::default()).0).scopes, ["read"]);
        let settings = OAuth { scopes: Some(vec![]), resource: Resource::Off, ..OAuth::default() };
        let own = found(play(&web, Some(&challenge), &settings).0);
        assert!(own.scopes.is_empty() && own.resource.is_none());
    }

    #[test]
    fn a_server_without_documents_is_one_of_2025_03_26() {
        let at_origin = "https://a.example/.well-known/oauth-authorization-server";
        let own = METADATA.replace("https://i.example", "https://a.example");
        let (next, read) = play(&[(at_origin, &own)], None, &OAuth::default());
        let with_metadata = found(next);
        assert_eq!(with_metadata.provider.token.as_str(), "https://a.example/t");
        assert_eq!((with_metadata.resource, read.len()), (None, 3));
        let bare = found(play(&[], None, &OAuth::default()).0).provider;
        assert_eq!(bare.registration.unwrap().as_str(), "https://a.example/register");
    }

    #[test]
    fn a_failing_metadata_server_ends_discovery_and_a_missing_document_does_not() {
        let (next, _) = play(&[(PRM, "down")], None, &OAuth::default());
        assert_eq!(next, Next::Ended(Trouble::Later("it is down".into())));
        let root = "https://a.example/.well-known/oauth-protected-resource";
        let (next, read) =
            play(&[(PRM, "<html>"), (root, DOCUMENT), (META, METADATA)], None, &OAuth::default());
        assert_eq!(found(next).provider.issuer, "https://i.example");
        assert_eq!(read.len(), 3);
        assert!(refused(play(&[(PRM, "elsewhere")], None, &OAuth::default()).0).contains("elsewhere"));
    }

    #[test]
    fn a_document_that_cannot_be_read_is_said_to_be_that() {
        let settings = OAuth::default();
        let null = DOCUMENT.replace(r#"["all"]"#, "null");
        let found_it = found(play(&[(PRM, &null), (META, METADATA)], None, &settings).0);
        assert_eq!((found_it.scopes.len(), found_it.known.len()), (0, 0));
        let five = DOCUMENT.replace(r#"["all"]"#, "5");
        let why = refused(play(&[(PRM, &five), (META, METADATA)], None, &settings).0);
        assert!(why.contains("cannot be read: \"scopes_supported\" is 5") && why.contains(PRM), "{why}");
        let wrong = METADATA.replace(r#"["S256"]"#, "7");
        let why = refused(play(&[(PRM, DOCUMENT), (META, &wrong)], None, &settings).0);
        assert!(why.contains("\"code_challenge_methods_supported\" is 7") && why.contains(META), "{why}");
        let openid = "https://i.example/.well-known/openid-configuration";
        let (next, _) = play(&[(PRM, DOCUMENT), (META, &wrong), (openid, METADATA)], None, &settings);
        assert_eq!(found(next).provider.issuer, "https://i.example", "another place has a better one");
        let why = refused(play(&[(PRM, DOCUMENT)], None, &settings).0);
        assert!(why.contains("publishes no metadata"), "{why}");
        let cut = &DOCUMENT[..40];
        let why = refused(play(&[(PRM, cut)], None, &settings).0);
        assert!(why.contains("it is not valid JSON") && why.contains(PRM), "{why}");
        let why = refused(play(&[(PRM, DOCUMENT), (META, "<html>")], None, &settings).0);
        assert!(why.contains("something else") && why.contains(META), "{why}");
        let named = Challenge { resource_metadata: Some(PRM.to_owned()), ..Challenge::default() };
        let why = refused(play(&[(PRM, "<html>")], Some(&named), &settings).0);
        assert!(why.contains("something else") && why.contains(PRM), "{why}");
    }

    #[test]
    fn several_authorization_servers_are_tried_until_one_is_good() {
        let document = r#"{"resource":"https://a.example/mcp","authorization_servers":["http://10.0.0.5","https://gone.example","https://i.example"]}"#;
        let (next, read) = play(&[(PRM, document), (META, METADATA)], None, &OAuth::default());
        assert_eq!(found(next).provider.issuer, "https://i.example");
        assert!(!read.iter().any(|url| url.contains("10.0.0.5")), "{read:?}");
        let only = r#"{"resource":"https://a.example/mcp","authorization_servers":["http://10.0.0.5:8080"]}"#;
        assert!(refused(play(&[(PRM, only)], None, &OAuth::default()).0).contains("http://10.0.0.5:8080"));
        let pinned = OAuth { issuer: Some("https://other.example".into()), ..OAuth::default() };
        assert!(refused(play(&[(PRM, DOCUMENT)], None, &pinned).0).contains("issuer"));
    }

    #[test]
    fn forbidden_addresses_end_it_before_any_request() {
        let challenge = Challenge {
            resource_metadata: Some("http://169.254.169.254/latest/meta-data".into()),
            ..Challenge::default()
        };
        let (next, read) = play(&[], Some(&challenge), &OAuth::default());
        assert!(refused(next).contains("169.254.169.254") && read.is_empty());
        let other = DOCUMENT.replace("https://a.example/mcp", "https://b.example/mcp");
        assert!(refused(play(&[(PRM, &other)], None, &OAuth::default()).0).contains("another resource"));
    }
}
