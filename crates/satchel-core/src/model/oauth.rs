//! Types for signing in to hosted servers: the user's settings, and states for faces.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ServerName, control::Refusal};

/// The `oauth` block of a hosted server's entry. Everything is optional; without it Satchel finds out by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OAuth {
    /// `"oauth": false`: never sign in; an answer 401 is an error.
    pub never: bool,
    /// The client ID of an app that the user registered with the provider.
    pub client_id: Option<String>,
    /// Its secret, as a reference.
    pub client_secret: Option<String>,
    /// The scopes to ask for, instead of those that the server names.
    pub scopes: Option<Vec<String>>,
    /// What goes into the `resource` parameter (RFC 8707).
    pub resource: Resource,
    /// The host of the redirect address.
    pub redirect: RedirectHost,
    /// The port of the redirect address, where the provider compares it.
    pub port: Option<u16>,
    /// Further parameters of the authorization request.
    pub authorize_parameters: BTreeMap<String, String>,
    /// The address of a client ID metadata document that describes this installation.
    pub client_metadata_url: Option<String>,
    /// The only authorization server that may be used.
    pub issuer: Option<String>,
    /// Accept an authorization server that does not announce PKCE with S256. It is used all the same.
    pub allow_no_pkce_announcement: bool,
    /// How tokens are had.
    pub grant: Grant,
}

impl OAuth {
    /// What differs from the usual, by the keys of the configuration.
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

/// The name under which the secret of an app that the user registered is stored, as `${secret:NAME}` refers to it.
pub fn client_secret_name(server: &ServerName) -> String {
    let valid = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = server.as_str().chars().map(valid).take(100).collect();
    format!("{name}_CLIENT_SECRET")
}

/// What goes into the `resource` parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Resource {
    /// What the server's metadata names.
    #[default]
    Named,
    /// Nothing: some authorization servers refuse the parameter.
    Off,
    /// This.
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
    /// As it stands in an address.
    pub fn as_str(self) -> &'static str {
        match self {
            RedirectHost::Ip => "127.0.0.1",
            RedirectHost::Localhost => "localhost",
        }
    }
}

/// How tokens are had.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// A person signs in with a browser.
    #[default]
    AuthorizationCode,
    /// A machine signs in with its client ID and secret.
    ClientCredentials,
}

/// How it stands with the sign-in to a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SignInView {
    /// What it is.
    #[serde(flatten)]
    pub state: SignInState,
    /// The account, where the provider named one.
    #[serde(default)]
    pub account: Option<String>,
    /// The host of the authorization server, once it is known.
    #[serde(default)]
    pub provider: Option<String>,
    /// The scopes that were granted.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Since when it is so, in milliseconds since the Unix epoch.
    pub since_ms: u64,
}

/// The states of a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "sign_in", rename_all = "snake_case")]
pub enum SignInState {
    /// Nobody has signed in, or somebody has signed out.
    SignedOut,
    /// It was signed in, and is no longer.
    NeedsSignIn {
        /// Why, in one sentence.
        reason: String,
    },
    /// A page is open in a browser.
    SigningIn {
        /// When it is given up, in milliseconds since the Unix epoch.
        until_ms: u64,
    },
    /// Signed in.
    SignedIn {
        /// When the access token ends, where that is known, in milliseconds since the Unix epoch.
        ends_ms: Option<u64>,
        /// It is renewed without anybody being asked.
        renews: bool,
    },
    /// A tool wants more than was granted.
    NeedsMoreRights {
        /// The scopes that are missing.
        missing: Vec<String>,
        /// The tool or request that wanted them.
        wanted_by: String,
    },
    /// The provider registers no apps by itself: the user has to enter a client ID.
    NeedsClientId {
        /// The redirect address to enter at the provider.
        redirect: String,
        /// Where an app is registered, where that is known.
        page: Option<String>,
        /// What to do there, where that is known.
        #[serde(default)]
        hint: String,
    },
    /// A token could not be renewed for the moment.
    RenewalDelayed {
        /// Why, in one sentence.
        reason: String,
        /// When it is tried again, in milliseconds since the Unix epoch.
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

    /// Can the server not be used at all before a person acts?
    pub fn keeps_out(&self) -> bool {
        self.needs_you() && !matches!(self.state, SignInState::NeedsMoreRights { .. })
    }

    /// One short sentence in the words of the interface.
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

/// The page that a person opens to sign in. Answer to the request that begins a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SignInPage {
    /// Its address. It is opened by whoever shows it, with exactly this one argument.
    pub url: String,
    /// Its host, for people to check.
    pub host: String,
    /// Where the browser comes back to.
    pub redirect: String,
    /// When the sign-in is given up, in milliseconds since the Unix epoch.
    pub until_ms: u64,
    /// Why the window could not open it in the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_opened: Option<Refusal>,
}

/// One line of the list of accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AccountLine {
    /// The server's name.
    pub server: String,
    /// How it stands with it.
    #[serde(flatten)]
    pub view: SignInView,
}
