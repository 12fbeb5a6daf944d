//! Parses answers of the token endpoint (RFC 6749, sections 5 and 6) and decides when to renew a token.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;
use url::form_urlencoded;

use super::address::shown;
use crate::secrets::Secret;

/// The longest accepted lifetime, in seconds.
const YEAR: u64 = 365 * 24 * 3600;
/// How long before its expiry a token is renewed, in seconds: a fifth of its lifetime, within these limits.
const AHEAD: (u64, u64) = (30, 600);
/// Tokens with a shorter lifetime are renewed at their expiry.
const SHORT: u64 = 60;

/// Tokens, as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// Sent with every request to the server.
    pub access: Secret,
    /// Exchanged for the next tokens.
    pub refresh: Option<Secret>,
    /// Lifetime of the access token in seconds; `None` if unknown.
    pub expires_in: Option<u64>,
    /// The granted scopes; `None`: as requested.
    pub scopes: Option<Vec<String>>,
    /// The account, if the provider names it.
    pub account: Option<String>,
}

/// Why no tokens were received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// The grant is invalid or expired (`invalid_grant`).
    Grant(String),
    /// The client is unknown there (`invalid_client`, `unauthorized_client`).
    Client(String),
    /// Refused for another reason.
    Refused(String),
    /// Temporarily unavailable; the requested pause, in seconds.
    Busy(String, Option<u64>),
    /// The connection was lost after sending: the grant may be used up.
    Lost(String),
    /// Nothing was sent.
    Unsent(String),
}

impl Unanswered {
    /// The reason, in one sentence.
    pub fn message(&self) -> &str {
        match self {
            Unanswered::Grant(why)
            | Unanswered::Client(why)
            | Unanswered::Refused(why)
            | Unanswered::Busy(why, _)
            | Unanswered::Lost(why)
            | Unanswered::Unsent(why) => why,
        }
    }
}

/// Parses a token response.
///
/// # Errors
/// [`Unanswered`]; also for an error with status 200.
pub fn read(status: u16, retry_after: Option<u64>, body: &str) -> Result<Tokens, Unanswered> {
    if status == 429 || status >= 500 {
        return Err(Unanswered::Busy(format!("the provider answered HTTP {status}"), retry_after));
    }
    if (300..400).contains(&status) {
        return Err(Unanswered::Refused(
            "its token endpoint redirects elsewhere, which is not followed".to_owned(),
        ));
    }
    let fields = fields(body);
    // The empty text is absent, as null is.
    let text = |name: &str| {
        let text = fields.as_ref().and_then(|fields| fields.get(name)).and_then(Value::as_str);
        text.filter(|text| !text.trim().is_empty())
    };
    if let Some(error) = text("error") {
        let words = shown(text("error_description").unwrap_or_default());
        let why = match words.as_str() {
            "" => format!("the provider answered {}", shown(error)),
            words => format!("the provider answered {}: {words}", shown(error)),
        };
        return Err(match error {
            "invalid_grant" => Unanswered::Grant(why),
            "invalid_client" | "unauthorized_client" => Unanswered::Client(why),
            "temporarily_unavailable" | "server_error" | "slow_down" => Unanswered::Busy(why, retry_after),
            _ => Unanswered::Refused(why),
        });
    }
    if !(200..300).contains(&status) {
        return Err(match status {
            401 => Unanswered::Client(format!("the provider answered HTTP {status}")),
            _ => Unanswered::Refused(format!("the provider answered HTTP {status}")),
        });
    }
    let refused = |why: &str| Unanswered::Refused(format!("the provider's answer cannot be used: {why}"));
    let access =
        text("access_token").filter(|token| !token.is_empty()).ok_or_else(|| refused("it has no token"))?;
    if let Some(kind) = text("token_type").filter(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(refused(&format!("its token is of type {} instead of Bearer", shown(kind))));
    }
    let refresh = text("refresh_token").filter(|token| !token.is_empty());
    for token in [Some(access), refresh].into_iter().flatten() {
        // It would inject a header.
        if token.chars().any(|c| c.is_control() || !c.is_ascii()) {
            return Err(refused("its token holds signs that cannot be sent"));
        }
    }
    let field = |name: &str| fields.as_ref().and_then(|fields| fields.get(name));
    Ok(Tokens {
        access: Secret::new(access),
        refresh: refresh.map(Secret::new),
        expires_in: field("expires_in").and_then(seconds),
        scopes: field("scope").and_then(scopes).filter(|scopes| !scopes.is_empty()),
        account: text("id_token").and_then(account),
    })
}

/// A JSON object, or a form: some servers return one although JSON was requested.
fn fields(body: &str) -> Option<Value> {
    match serde_json::from_str::<Value>(body) {
        Ok(value) => value.is_object().then_some(value),
        Err(_) if body.contains('=') && !body.trim_start().starts_with('<') => {
            let pairs = form_urlencoded::parse(body.trim().as_bytes()).into_owned();
            Some(Value::Object(pairs.map(|(name, value)| (name, Value::String(value))).collect()))
        }
        Err(_) => None,
    }
}

/// A number, or digits in a string; a negative one counts as 0.
fn seconds(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    // Clamped, so neither fractional nor too large.
    Some(number.clamp(0.0, YEAR as f64) as u64)
}

/// Separated by spaces or commas, or a list.
fn scopes(value: &Value) -> Option<Vec<String>> {
    let clean = |scope: &str| shown(scope);
    let list: Vec<String> = match value {
        Value::String(text) => text.split([' ', ',']).filter(|scope| !scope.is_empty()).map(clean).collect(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(clean).collect(),
        _ => return None,
    };
    Some(list)
}

/// The account named in an ID token. Its signature is not checked: it came over TLS from the token endpoint (OpenID
/// Connect Core, section 3.1.3.7), and nothing depends on it.
fn account(id_token: &str) -> Option<String> {
    let claims = id_token.split('.').nth(1)?;
    let claims: Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims.trim_end_matches('=')).ok()?).ok()?;
    let named = ["email", "preferred_username", "name"].iter().find_map(|claim| claims.get(*claim)?.as_str());
    named.map(shown).filter(|name| !name.is_empty())
}

/// When a token received at `now_ms` is renewed and when it expires, in milliseconds since the Unix epoch. A token
/// without a stated lifetime, or with one of no time, is used until it is rejected.
pub fn times(now_ms: u64, expires_in: Option<u64>) -> Option<(u64, u64)> {
    let life = expires_in.filter(|life| *life > 0)?;
    let ahead = if life < SHORT { 0 } else { (life / 5).clamp(AHEAD.0, AHEAD.1) };
    let at = |seconds: u64| now_ms.saturating_add(seconds.saturating_mul(1000));
    Some((at(life - ahead), at(life)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn good(change: Value) -> Result<Tokens, Unanswered> {
        let mut answer = json!({ "access_token": "at", "token_type": "Bearer" });
        for (key, value) in change.as_object().unwrap() {
            answer[key] = value.clone();
        }
        read(200, None, &answer.to_string())
    }

    #[test]
    fn answers_of_real_providers_are_read() {
        assert_eq!(good(json!({ "expires_in": 3600 })).unwrap().expires_in, Some(3600));
        assert_eq!(good(json!({ "expires_in": "3600" })).unwrap().expires_in, Some(3600));
        assert_eq!(good(json!({ "expires_in": -5 })).unwrap().expires_in, Some(0));
        assert_eq!(good(json!({ "expires_in": 1e12 })).unwrap().expires_in, Some(YEAR));
        assert_eq!(good(json!({})).unwrap().expires_in, None);
        assert_eq!(good(json!({ "scope": "a,b c" })).unwrap().scopes.unwrap(), ["a", "b", "c"]);
        assert_eq!(good(json!({ "scope": ["a"] })).unwrap().scopes.unwrap(), ["a"]);
        let empty = json!({ "error": "", "token_type": "", "scope": "", "refresh_token": "", "expires_in": "", "id_token": "" });
        let read_empty = good(empty).unwrap();
        assert_eq!((read_empty.scopes, read_empty.refresh, read_empty.expires_in), (None, None, None));
        assert!(
            good(json!({ "token_type": "bearer" })).is_ok() && good(json!({ "token_type": null })).is_ok()
        );
        let form = read(200, None, "access_token=at&scope=repo%2Cuser&token_type=bearer").unwrap();
        assert_eq!((form.access.reveal(), form.scopes.unwrap().len()), ("at", 2));
        let id = format!("x.{}.y", URL_SAFE_NO_PAD.encode(r#"{"email":"me@x.example"}"#));
        assert_eq!(good(json!({ "id_token": id })).unwrap().account.as_deref(), Some("me@x.example"));
    }

    #[test]
    fn answers_that_must_not_be_used_are_not() {
        for change in [
            json!({ "token_type": "mac" }),
            json!({ "token_type": "DPoP" }),
            json!({ "access_token": "a\r\nX-Evil: 1" }),
            json!({ "refresh_token": "a\u{7}" }),
            json!({ "access_token": "" }),
            json!({ "access_token": 7 }),
        ] {
            assert!(matches!(good(change.clone()), Err(Unanswered::Refused(_))), "{change}");
        }
    }

    #[test]
    fn every_refusal_is_classified() {
        let error =
            |status, error: &str| read(status, None, &json!({ "error": error }).to_string()).unwrap_err();
        assert!(matches!(error(400, "invalid_grant"), Unanswered::Grant(_)));
        assert!(matches!(error(401, "invalid_client"), Unanswered::Client(_)));
        assert!(matches!(error(400, "unauthorized_client"), Unanswered::Client(_)));
        assert!(matches!(error(400, "invalid_target"), Unanswered::Refused(_)));
        assert!(matches!(error(200, "bad_verification_code"), Unanswered::Refused(_)));
        assert!(matches!(read(503, Some(7), "<h1>"), Err(Unanswered::Busy(_, Some(7)))));
        assert!(matches!(read(429, None, "{}"), Err(Unanswered::Busy(_, None))));
        assert!(matches!(read(307, None, ""), Err(Unanswered::Refused(_))));
        assert!(matches!(read(401, None, "<html>"), Err(Unanswered::Client(_))));
        assert!(matches!(read(200, None, "<html>a=b</html>"), Err(Unanswered::Refused(_))));
    }

    #[test]
    fn a_token_is_renewed_ahead_of_its_end() {
        for (life, renewed, ends) in
            [(3600, 3000, 3600), (100, 70, 100), (60, 30, 60), (59, 59, 59), (5, 5, 5), (86400, 85800, 86400)]
        {
            assert_eq!(times(1000, Some(life)), Some((1000 + renewed * 1000, 1000 + ends * 1000)), "{life}");
        }
        assert_eq!(times(1000, None), None);
        assert_eq!(times(1000, Some(0)), None, "it would be renewed at every call");
        assert_eq!(times(u64::MAX, Some(5)), Some((u64::MAX, u64::MAX)));
    }
}
