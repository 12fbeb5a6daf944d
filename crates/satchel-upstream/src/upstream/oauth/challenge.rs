//! Parses the challenge of a refused request: `WWW-Authenticate` (RFC 9110, section 11.6.1), with several fields and
//! schemes. Only the Bearer scheme counts.

/// A Bearer challenge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    /// The URL of the protected resource metadata (RFC 9728, section 5.1).
    pub resource_metadata: Option<String>,
    /// The required scopes.
    pub scopes: Vec<String>,
    /// `invalid_token`, `insufficient_scope`, … (RFC 6750, section 3.1).
    pub error: Option<String>,
}

impl Challenge {
    /// Does the token lack scopes?
    pub fn wants_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// The first Bearer challenge that names its metadata, otherwise the first one. `None` if there is none.
pub fn bearer<'a>(fields: impl IntoIterator<Item = &'a str>) -> Option<Challenge> {
    let mut all = fields.into_iter().flat_map(challenges);
    let mut first: Option<Challenge> = None;
    all.find(|challenge| {
        first.get_or_insert_with(|| challenge.clone());
        challenge.resource_metadata.is_some()
    })
    .or(first)
}

/// The Bearer challenges of one header field, in a single pass.
fn challenges(field: &str) -> Vec<Challenge> {
    let mut rest = field;
    let mut found: Vec<Challenge> = Vec::new();
    let mut in_bearer = false;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        let end = rest
            .find(|c: char| c.is_ascii_whitespace() || matches!(c, ',' | '=' | '"'))
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if word.is_empty() {
            if after.is_empty() {
                return found;
            }
            // An unexpected character.
            rest = after.get(1..).unwrap_or_default();
            continue;
        }
        match after.trim_start().strip_prefix('=') {
            Some(value) => {
                let (value, left) = value_of(value);
                rest = left;
                if let Some(challenge) = found.last_mut().filter(|_| in_bearer) {
                    note(challenge, word, value);
                }
            }
            None => {
                in_bearer = word.eq_ignore_ascii_case("bearer");
                if in_bearer {
                    found.push(Challenge::default());
                }
                rest = after;
            }
        }
    }
}

/// A token or a quoted string, and what follows it.
fn value_of(text: &str) -> (String, &str) {
    let text = text.trim_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let (mut value, mut escaped) = (String::new(), false);
    for (at, c) in quoted.char_indices() {
        match c {
            _ if escaped => {
                value.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return (value, &quoted[at + 1..]),
            c => value.push(c),
        }
    }
    (value, "")
}

fn note(challenge: &mut Challenge, name: &str, value: String) {
    if name.eq_ignore_ascii_case("resource_metadata") {
        challenge.resource_metadata.get_or_insert(value);
    } else if name.eq_ignore_ascii_case("scope") && challenge.scopes.is_empty() {
        challenge.scopes = value.split_ascii_whitespace().map(ToOwned::to_owned).collect();
    } else if name.eq_ignore_ascii_case("error") {
        challenge.error.get_or_insert(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bearer_scheme_is_read() {
        for (fields, metadata, scopes, error) in [
            (vec![r#"Bearer resource_metadata="https://a/x""#], Some("https://a/x"), "", None),
            (vec!["bearer"], None, "", None),
            (vec![r#"BEARER Scope="a b", ERROR=invalid_token"#], None, "a b", Some("invalid_token")),
            (
                vec![
                    r#"DPoP algs="ES256 PS256", error="no, \"quoted\" x", resource_metadata="https://bad/""#,
                    r#"Basic realm="a, b=c", bearer Realm = "x" , resource_metadata="https://good/", scope="s""#,
                ],
                Some("https://good/"),
                "s",
                None,
            ),
            (vec!["Negotiate abc==, Bearer error=x"], None, "", Some("x")),
            (vec!["Bearer realm=\"open"], None, "", None),
            (vec!["Bearer, Bearer resource_metadata=https://b/"], Some("https://b/"), "", None),
        ] {
            let challenge = bearer(fields.iter().copied()).unwrap();
            assert_eq!(challenge.resource_metadata.as_deref(), metadata, "{fields:?}");
            assert_eq!(challenge.scopes.join(" "), scopes, "{fields:?}");
            assert_eq!(challenge.error.as_deref(), error, "{fields:?}");
        }
        assert_eq!(bearer([r#"Basic realm="Bearer x=y""#]), None);
        assert_eq!(bearer([]), None);
    }
}
