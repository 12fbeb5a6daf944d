//! The table of providers that deviate from the specification, as data in `providers.json`. The user's entry takes
//! precedence.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use url::Url;

use crate::model::oauth::{OAuth, RedirectHost, Resource};

/// A known provider.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Known {
    /// Its display name.
    pub name: String,
    /// Hosts of its servers; `*.` matches any prefix.
    hosts: Vec<String>,
    /// Hosts of its authorization servers.
    issuers: Vec<String>,
    /// The page where apps are registered.
    pub page: String,
    /// What to do there.
    pub hint: String,
    #[serde(default)]
    authorize_parameters: BTreeMap<String, String>,
    #[serde(default)]
    redirect: Option<RedirectHost>,
    #[serde(default)]
    port: Option<u16>,
    /// Does it accept the `resource` parameter?
    #[serde(default = "yes")]
    resource: bool,
    /// It supports PKCE with S256 without announcing it.
    #[serde(default)]
    pkce: bool,
}

fn yes() -> bool {
    true
}

static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("providers.json")).expect("the built-in table is valid")
});

/// The known provider of a server.
pub fn of_server(server: &Url) -> Option<&'static Known> {
    let host = server.host_str()?;
    KNOWN.iter().find(|known| known.hosts.iter().any(|pattern| fits(pattern, host)))
}

/// The known provider of an authorization server.
pub fn of_issuer(issuer: &str) -> Option<&'static Known> {
    let url = Url::parse(issuer).ok()?;
    let host = url.host_str()?;
    KNOWN.iter().find(|known| known.issuers.iter().any(|pattern| fits(pattern, host)))
}

fn fits(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(end) => host.len() > end.len() && host.ends_with(end),
        None => pattern == host,
    }
}

impl Known {
    /// The user's settings, completed with what this provider requires.
    pub fn complete(&self, settings: &OAuth) -> OAuth {
        let mut settings = settings.clone();
        for (name, value) in &self.authorize_parameters {
            settings.authorize_parameters.entry(name.clone()).or_insert_with(|| value.clone());
        }
        if settings.redirect == RedirectHost::default() {
            settings.redirect = self.redirect.unwrap_or_default();
        }
        settings.port = settings.port.or(self.port);
        if !self.resource && settings.resource == Resource::Named {
            settings.resource = Resource::Off;
        }
        settings.allow_no_pkce_announcement |= self.pkce;
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_known_by_its_hosts() {
        for (server, name) in [
            ("https://api.githubcopilot.com/mcp/", Some("GitHub")),
            ("https://gmailmcp.googleapis.com/mcp", Some("Google")),
            ("https://googleapis.com.evil.example/mcp", None),
            ("https://evilgoogleapis.com/mcp", None),
            ("https://mcp.notion.com/mcp", None),
        ] {
            let known = of_server(&Url::parse(server).unwrap()).map(|known| known.name.as_str());
            assert_eq!(known, name, "{server}");
        }
        for (issuer, name) in [
            ("https://login.microsoftonline.com/common/v2.0", Some("Microsoft Entra ID")),
            ("https://dev-1.okta.com/oauth2/default", Some("Okta")),
            ("https://accounts.google.com/", Some("Google")),
            ("https://okta.com.evil.example", None),
            ("nonsense", None),
        ] {
            assert_eq!(of_issuer(issuer).map(|known| known.name.as_str()), name, "{issuer}");
        }
    }

    #[test]
    fn the_users_parameters_override_the_providers() {
        let google = of_issuer("https://accounts.google.com").unwrap();
        let mine = OAuth {
            authorize_parameters: [("prompt".to_owned(), "login".to_owned())].into(),
            ..OAuth::default()
        };
        let both = google.complete(&mine).authorize_parameters;
        assert_eq!((both["prompt"].as_str(), both["access_type"].as_str()), ("login", "offline"));
        let entra = of_issuer("https://login.microsoftonline.com/x").unwrap();
        assert_eq!(entra.complete(&OAuth::default()).resource, Resource::Off);
        let value = Resource::Value("api://x".into());
        let mine = OAuth { resource: value.clone(), ..OAuth::default() };
        assert_eq!(entra.complete(&mine).resource, value);
        let slack = of_issuer("https://slack.com").unwrap();
        let mine = OAuth { port: Some(9000), ..OAuth::default() };
        assert_eq!(slack.complete(&mine).port, Some(9000));
    }

    /// The documentation has an example for each, which the configuration parser and this table accept.
    #[test]
    fn each_provider_is_documented_with_an_example_that_works() {
        let docs = include_str!("../../../../../docs/configuration.md");
        let (_, section) = docs.split_once("### Providers that need more").unwrap();
        let (_, example) = section.split_once("```json\n").unwrap();
        let (example, _) = example.split_once("```").unwrap();
        let config = crate::config::Config::parse(&format!(r#"{{"mcpServers":{example}}}"#)).unwrap();
        assert!(config.faults().is_empty(), "{:?}", config.faults());
        assert_eq!(config.servers().len(), KNOWN.len());
        let mut known_by_host = 0;
        for server in config.servers().values() {
            let crate::model::TransportConfig::Http { url, oauth, .. } = &server.transport else { panic!() };
            assert!(oauth.client_id.is_some());
            known_by_host += usize::from(of_server(&Url::parse(url).unwrap()).is_some());
        }
        assert_eq!(known_by_host, KNOWN.iter().filter(|known| !known.hosts.is_empty()).count());
        for known in KNOWN.iter() {
            assert!(section.contains(&format!("| {} | <{}> |", known.name, known.page)), "{}", known.name);
        }
    }

    #[test]
    fn every_page_is_one_to_visit() {
        for known in KNOWN.iter() {
            assert!(known.page.starts_with("https://") && known.hint.ends_with('.'), "{}", known.name);
            assert!(!known.issuers.is_empty(), "{}", known.name);
        }
    }
}
