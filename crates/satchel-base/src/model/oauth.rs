//! Types for signing in to hosted servers: the user's settings, and states for faces.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ServerName, control::Refusal};

/// The `oauth` block of a hosted server's entry. Every field is optional; by default Satchel discovers all it needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OAuth {
    /// `"oauth": false`: never sign in; HTTP 401 is an error.
    pub never: bool,
    /// The client ID of an app that the user registered with the provider.
    pub client_id: Option<String>,
    /// Its client secret, as a reference.
    pub client_secret: Option<String>,
    /// The scopes to request instead of those that the server names.
    pub scopes: Option<Vec<String>>,
    /// The value of the `resource` parameter (RFC 8707).
    pub resource: Resource,
    /// The host of the redirect address.
    pub redirect: RedirectHost,
    /// The port of the redirect address, for providers that compare it.
    pub port: Option<u16>,
    /// Additional parameters of the authorization request.
    pub authorize_parameters: BTreeMap<String, String>,
    /// The URL of a client ID metadata document for this installation.
    pub client_metadata_url: Option<String>,
    /// The only authorization server that Satchel may use.
    pub issuer: Option<String>,
    /// Accept an authorization server that does not announce PKCE with S256. Satchel still uses PKCE.
    pub allow_no_pkce_announcement: bool,
    /// The OAuth grant type.
    pub grant: Grant,
}

impl OAuth {
    /// The settings that differ from the defaults, by configuration key.
    pub fn told(&self) -> Vec<(String, String)> {
        let (Ok(serde_json::Value::Object(mine)), Ok(usual)) =
            (serde_json::to_value(self), serde_json::to_value(OAuth::default()))
        else {
            return vec![];
        };
        let differs = mine.into_iter().filter(|(key, value)| usual.get(key) != Some(value));
        let text =
            |value: serde_json::Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        differs.map(|(key, value)| (key, text(value))).collect()
    }
}

/// The name under which the client secret of a user-registered app is stored, for `${secret:NAME}`.
pub fn client_secret_name(server: &ServerName) -> String {
    let valid = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = server.as_str().chars().map(valid).take(100).collect();
    format!("{name}_CLIENT_SECRET")
}

/// The value of the `resource` parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Resource {
    /// As named in the server's metadata.
    #[default]
    Named,
    /// Omitted: some authorization servers reject the parameter.
    Off,
    /// This value.
    Value(String),
}

/// The host of the redirect address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RedirectHost {
    /// `127.0.0.1`
    #[default]
    #[serde(rename = "127.0.0.1")]
    Ip,
    /// `localhost`, for providers that accept nothing else.
    #[serde(rename = "localhost")]
    Localhost,
}

impl RedirectHost {
    /// As written in a URL.
    pub fn as_str(self) -> &'static str {
        match self {
            RedirectHost::Ip => "127.0.0.1",
            RedirectHost::Localhost => "localhost",
        }
    }
}

/// The OAuth grant type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// A person signs in through a browser.
    #[default]
    AuthorizationCode,
    /// Client ID and secret, without a person.
    ClientCredentials,
}

/// The sign-in state of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SignInView {
    /// The state.
    #[serde(flatten)]
    pub state: SignInState,
    /// The account, where the provider named one.
    #[serde(default)]
    pub account: Option<String>,
    /// The authorization server's host, once known.
    #[serde(default)]
    pub provider: Option<String>,
    /// The scopes that were granted.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Since when it is in this state, in milliseconds since the Unix epoch.
    pub since_ms: u64,
}

/// The states of a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "sign_in", rename_all = "snake_case")]
pub enum SignInState {
    /// Nobody has signed in, or the user signed out.
    SignedOut,
    /// It was signed in; a new sign-in is needed.
    NeedsSignIn {
        /// The reason, in one sentence.
        reason: String,
    },
    /// The sign-in page is open in a browser.
    SigningIn {
        /// When the sign-in times out, in milliseconds since the Unix epoch.
        until_ms: u64,
    },
    /// Signed in.
    SignedIn {
        /// When the access token expires, in milliseconds since the Unix epoch; `None` if unknown.
        ends_ms: Option<u64>,
        /// It can be renewed without a person.
        renews: bool,
    },
    /// A tool needs scopes that were not granted.
    NeedsMoreRights {
        /// The scopes that are missing.
        missing: Vec<String>,
        /// The tool or request that needs them.
        wanted_by: String,
    },
    /// The provider does not support dynamic registration: the user has to enter a client ID.
    NeedsClientId {
        /// The redirect address to register at the provider.
        redirect: String,
        /// The page where apps are registered, if known.
        page: Option<String>,
        /// What to do there, if known.
        #[serde(default)]
        hint: String,
    },
    /// The token could not be renewed for now.
    RenewalDelayed {
        /// The reason, in one sentence.
        reason: String,
        /// The time of the next attempt, in milliseconds since the Unix epoch.
        retry_at_ms: u64,
    },
}

impl SignInView {
    /// Should a person act?
    pub fn needs_you(&self) -> bool {
        match self.state {
            SignInState::SignedOut
            | SignInState::NeedsSignIn { .. }
            | SignInState::NeedsMoreRights { .. }
            | SignInState::NeedsClientId { .. } => true,
            SignInState::SigningIn { .. }
            | SignInState::SignedIn { .. }
            | SignInState::RenewalDelayed { .. } => false,
        }
    }

    /// Is the server unusable until a person acts?
    pub fn keeps_out(&self) -> bool {
        self.needs_you() && !matches!(self.state, SignInState::NeedsMoreRights { .. })
    }

    /// A short sentence for the interface.
    pub fn sentence(&self) -> String {
        match &self.state {
            SignInState::SignedOut => "Signed out".into(),
            SignInState::NeedsSignIn { reason } if reason.is_empty() => "Needs a sign-in".into(),
            SignInState::NeedsSignIn { reason } => format!("Needs a sign-in: {reason}"),
            SignInState::SigningIn { .. } => "Signing in: finish in your browser".into(),
            SignInState::SignedIn { .. } => match &self.account {
                Some(account) => format!("Signed in as {account}"),
                None => "Signed in".into(),
            },
            SignInState::NeedsMoreRights { missing, wanted_by } => {
                format!("{wanted_by} needs more rights: {}", missing.join(", "))
            }
            SignInState::NeedsClientId { .. } => "Needs a client ID".into(),
            SignInState::RenewalDelayed { reason, .. } => {
                format!("The sign-in could not be renewed yet: {reason}")
            }
        }
    }
}

/// The page to open for a sign-in. Answer to [`super::request::BeginSignIn`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SignInPage {
    /// Its address. The caller opens it, passing the browser nothing else.
    pub url: String,
    /// Its host, shown so that people can check it.
    pub host: String,
    /// The redirect address.
    pub redirect: String,
    /// When the sign-in times out, in milliseconds since the Unix epoch.
    pub until_ms: u64,
    /// Why the window could not open the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_opened: Option<Refusal>,
}

/// One sign-in in the list of accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AccountLine {
    /// The server's name.
    pub server: String,
    /// Its sign-in state.
    #[serde(flatten)]
    pub view: SignInView,
}
