//! Builds the authorization request for the browser and validates the response (RFC 6749, section 4.1; RFC 7636; RFC
//! 8252; RFC 9207).

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use url::{Url, form_urlencoded};

use super::{Trouble, address::shown, client::Client, discovery::Discovered};
use crate::{model::oauth::OAuth, secrets::Secret};

/// One sign-in, from the opened page to the returned code. Everything that is compared later was recorded before the
/// page was opened.
#[derive(Debug, Clone)]
pub struct Request {
    /// Where to sign in, and for what.
    pub found: Discovered,
    /// The client.
    pub client: Client,
    /// The requested scopes.
    pub scopes: Vec<String>,
    /// Those that a call lacked, if this sign-in was begun to get them.
    pub lacked: Option<Vec<String>>,
    state: Secret,
    verifier: Secret,
}

/// A request to the redirect address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Callback {
    /// Unrelated: ignored.
    Foreign,
    /// The response, with a code to redeem.
    Code(Secret),
    /// The response, without a code.
    Ended(Trouble),
}

/// 32 random bytes as text.
///
/// # Errors
/// If the system has no random numbers.
pub fn random() -> Result<Secret, Trouble> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| Trouble::Later(format!("cannot get random numbers from this computer: {error}")))?;
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(bytes)))
}

impl Request {
    /// Creates a sign-in. `state` and `verifier` are two values of [`random`].
    pub fn new(
        found: Discovered,
        client: Client,
        scopes: Vec<String>,
        (state, verifier): (Secret, Secret),
    ) -> Self {
        Self { found, client, scopes, lacked: None, state, verifier }
    }

    /// The same sign-in for another page. No `state` is used twice: a provider, and a browser that goes back to the first
    /// page, could take the second for a replay.
    pub fn anew(&self, (state, verifier): (Secret, Secret)) -> Self {
        Self { state, verifier, ..self.clone() }
    }

    /// The URL to open.
    ///
    /// # Errors
    /// If the provider has no authorization endpoint.
    pub fn page(&self, settings: &OAuth) -> Result<Url, Trouble> {
        let Some(mut url) = self.found.provider.authorization.clone() else {
            return Err(Trouble::Refused("its metadata names no authorization endpoint".to_owned()));
        };
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier.reveal().as_bytes()));
        let mut parameters: Vec<(&str, &str)> = vec![
            ("response_type", "code"),
            ("client_id", &self.client.id),
            ("redirect_uri", &self.client.redirect),
            ("state", self.state.reveal()),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        if let Some(resource) = &self.found.resource {
            parameters.push(("resource", resource));
        }
        let scopes = self.scopes.join(" ");
        if !scopes.is_empty() {
            parameters.push(("scope", &scopes));
        }
        // OpenID Connect Core, section 11.
        if self.scopes.iter().any(|scope| scope == "offline_access") {
            parameters.push(("prompt", "consent"));
        }
        for (name, value) in &settings.authorize_parameters {
            match parameters.iter_mut().find(|(known, _)| known == name) {
                // Parameters that protect the sign-in cannot be overridden.
                Some((known, there)) if *known == "prompt" || *known == "scope" => *there = value,
                Some(_) => {}
                None => parameters.push((name, value)),
            }
        }
        // Some providers put parameters of their own into the URL.
        let kept: Vec<(String, String)> = url
            .query_pairs()
            .filter(|(name, _)| !parameters.iter().any(|(known, _)| known == name))
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        url.query_pairs_mut().clear().extend_pairs(kept).extend_pairs(parameters);
        Ok(url)
    }

    /// Judges a request to the redirect address by its query. `iss` is compared before anything else, even for errors
    /// (RFC 9207, section 2.4).
    pub fn judge(&self, query: &str) -> Callback {
        let field = |wanted: &str| {
            let mut found = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == wanted);
            let first = found.next().map(|(_, value)| value.into_owned());
            // A duplicate parameter is ambiguous.
            first.filter(|_| found.next().is_none())
        };
        if field("state").is_none_or(|state| !is_same(&state, self.state.reveal())) {
            return Callback::Foreign;
        }
        let refused = |why: String| Callback::Ended(Trouble::Refused(why));
        let provider = &self.found.provider;
        match field("iss") {
            Some(iss) if iss != provider.issuer => {
                let (iss, issuer) = (shown(&iss), shown(&provider.issuer));
                return refused(format!(
                    "the answer came from another authorization server: {iss} instead of {issuer}"
                ));
            }
            None if provider.promises_iss => {
                return refused(
                    "the answer does not say which authorization server it is from (iss), \
                                although that was promised"
                        .to_owned(),
                );
            }
            Some(_) | None => {}
        }
        if let Some(error) = field("error") {
            let words = shown(&field("error_description").unwrap_or_default());
            return match error.as_str() {
                "access_denied" => Callback::Ended(Trouble::Denied(words)),
                error if words.is_empty() => refused(format!("the provider answered {}", shown(error))),
                error => refused(format!("the provider answered {}: {words}", shown(error))),
            };
        }
        match field("code").filter(|code| !code.is_empty()) {
            Some(code) => Callback::Code(Secret::new(code)),
            None => refused("the answer has no code".to_owned()),
        }
    }

    /// The form for redeeming a code.
    pub fn exchange(&self, code: &Secret) -> Vec<(&'static str, String)> {
        let mut form = vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code.reveal().to_owned()),
            ("redirect_uri", self.client.redirect.clone()),
            ("code_verifier", self.verifier.reveal().to_owned()),
        ];
        form.extend(self.found.resource.clone().map(|resource| ("resource", resource)));
        form
    }

    /// Values that must not be logged.
    pub fn secrets(&self) -> [Secret; 2] {
        [self.state.clone(), self.verifier.clone()]
    }
}

/// In constant time.
fn is_same(one: &str, other: &str) -> bool {
    Sha256::digest(one.as_bytes()) == Sha256::digest(other.as_bytes())
}

/// The query of a pasted text: a whole URL, or just its query.
pub fn pasted(text: &str) -> Option<String> {
    let text = text.trim().trim_matches(['"', '\'']);
    let query = match text.split_once('?') {
        Some((_, query)) => query,
        None if text.contains("://") => return None,
        None => text,
    };
    let query = query.split('#').next().unwrap_or_default();
    query.contains("state=").then(|| query.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{
        super::{client, documents::Provider},
        *,
    };

    fn request(promises_iss: bool) -> Request {
        let server = Url::parse("https://i.example").unwrap();
        let provider = Provider { promises_iss, offline_access: true, ..Provider::by_default_paths(&server) };
        let found = Discovered {
            provider,
            resource: Some("https://a.example/mcp".into()),
            scopes: vec!["read".into()],
            known: vec![],
        };
        let client =
            client::registered(r#"{"client_id":"me"}"#, "http://127.0.0.1:4000/callback", &[]).unwrap();
        let scopes = found.asked(&["write".into(), "read".into()]);
        Request::new(found, client, scopes, (Secret::new("s-t"), Secret::new("v")))
    }

    #[test]
    fn the_page_has_everything_that_protects_the_sign_in_and_keeps_it() {
        let settings = OAuth {
            authorize_parameters: [
                ("access_type", "offline"),
                ("state", "mine"),
                ("code_challenge_method", "plain"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
            ..OAuth::default()
        };
        let mut request = request(true);
        request.found.provider.authorization =
            Url::parse("https://i.example/authorize?tenant=1&state=theirs").ok();
        let page = request.page(&settings).unwrap();
        let pairs: Vec<(String, String)> = page.query_pairs().into_owned().collect();
        let get = |wanted: &str| {
            let all: Vec<&str> =
                pairs.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value.as_str()).collect();
            all.join("|")
        };
        for (name, value) in [
            ("response_type", "code"),
            ("client_id", "me"),
            ("redirect_uri", "http://127.0.0.1:4000/callback"),
            ("state", "s-t"),
            ("code_challenge_method", "S256"),
            ("code_challenge", "TJTQ3Oj6gY85fgEQGaDEefk0jG_C2jsJNH99p2cw4Vk"),
            ("resource", "https://a.example/mcp"),
            ("scope", "read write offline_access"),
            ("prompt", "consent"),
            ("access_type", "offline"),
            ("tenant", "1"),
        ] {
            if name == "code_challenge" {
                assert_eq!(get(name).len(), 43);
            } else {
                assert_eq!(get(name), value, "{name}");
            }
        }
    }

    /// The table of RFC 9207, section 2.4, as in revision 2026-07-28.
    #[test]
    fn an_answer_is_believed_only_from_where_the_page_was() {
        let ok = Callback::Code(Secret::new("c"));
        for (promised, query, expected) in [
            (true, "state=s-t&code=c&iss=https%3A%2F%2Fi.example", Some(&ok)),
            (false, "state=s-t&code=c&iss=https%3A%2F%2Fi.example", Some(&ok)),
            (false, "state=s-t&code=c", Some(&ok)),
            (true, "state=s-t&code=c", None),
            (true, "state=s-t&code=c&iss=https%3A%2F%2Fi.example%2F", None),
            (false, "state=s-t&code=c&iss=https%3A%2F%2Fj.example", None),
            (false, "state=s-t", None),
            (false, "state=other&code=c", Some(&Callback::Foreign)),
            (false, "code=c", Some(&Callback::Foreign)),
            (false, "state=s-t&state=s-t&code=c", Some(&Callback::Foreign)),
            (false, "error=access_denied&state=evil", Some(&Callback::Foreign)),
            (false, "", Some(&Callback::Foreign)),
        ] {
            match (request(promised).judge(query), expected) {
                (judged, Some(expected)) => assert_eq!(judged, *expected, "{query}"),
                (Callback::Ended(Trouble::Refused(_)), None) => {}
                (other, None) => panic!("{query}: {other:?}"),
            }
        }
        let denied =
            request(false).judge("state=s-t&error=access_denied&error_description=%3Cb%3Eno%3C%2Fb%3E%0A");
        assert_eq!(denied, Callback::Ended(Trouble::Denied("<b>no</b>".into())));
        let Callback::Ended(Trouble::Refused(why)) =
            request(true).judge("state=s-t&error=x&error_description=secret-words&iss=https%3A%2F%2Fevil")
        else {
            panic!("it was believed");
        };
        assert!(!why.contains("secret-words"), "nothing of an answer from elsewhere is shown: {why}");
    }

    #[test]
    fn a_page_that_is_opened_again_has_a_state_and_a_challenge_of_its_own() {
        let first = request(false);
        let second = first.anew((Secret::new("s2"), Secret::new("v2")));
        let pages = [&first, &second].map(|request| request.page(&OAuth::default()).unwrap());
        let of = |page: &Url, wanted: &str| {
            page.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
        };
        for name in ["state", "code_challenge"] {
            assert_ne!(of(&pages[0], name), of(&pages[1], name), "{name}");
        }
        for name in ["client_id", "redirect_uri", "scope", "resource"] {
            assert_eq!(of(&pages[0], name), of(&pages[1], name), "{name}");
        }
        assert_eq!(first.judge("state=s2&code=c"), Callback::Foreign);
        assert_eq!(second.judge("state=s2&code=c"), Callback::Code(Secret::new("c")));
    }

    #[test]
    fn a_person_pastes_an_address_or_its_query() {
        for (text, query) in [
            ("http://127.0.0.1:4000/callback?code=c&state=s\n", Some("code=c&state=s")),
            ("  \"http://localhost/callback?code=c&state=s#x\" ", Some("code=c&state=s")),
            ("code=c&state=s", Some("code=c&state=s")),
            ("http://127.0.0.1:4000/callback", None),
            ("hello", None),
        ] {
            assert_eq!(pasted(text).as_deref(), query, "{text:?}");
        }
    }
}
