//! Replays documents of well-known providers, written by hand after their publications, and checks the next step of
//! each (A13).

use std::collections::BTreeMap;

use url::Url;

use super::{
    Trouble,
    address::{Allowed, Zone},
    client::{self, Identity},
    discovery::{Discovered, Discovery, Fetched, Next},
    providers,
    request::Request,
};
use crate::{model::oauth::OAuth, secrets::Secret};

/// The expected next step.
#[derive(Debug, PartialEq)]
enum Then {
    /// Register, then open a page.
    Register,
    /// Ask for a client ID, with this provider's page.
    Ask(&'static str),
}

struct Replay {
    server: &'static str,
    /// The issuer in the server's document.
    named: &'static str,
    /// The issuer in its metadata.
    issuer: &'static str,
    registers: bool,
    s256: bool,
    then: Then,
}

const REPLAYS: [Replay; 15] = [
    replay(
        "https://api.githubcopilot.com/mcp/",
        "https://github.com/login/oauth",
        false,
        Then::Ask("GitHub"),
    ),
    Replay {
        issuer: "https://accounts.google.com",
        ..replay(
            "https://gmailmcp.googleapis.com/mcp",
            "https://accounts.google.com/",
            false,
            Then::Ask("Google"),
        )
    },
    replay("https://mcp.slack.com/mcp", "https://mcp.slack.com", false, Then::Ask("Slack")),
    replay("https://mcp.asana.com/v2/mcp", "https://app.asana.com", false, Then::Ask("Asana")),
    replay("https://mcp.hubspot.com/", "https://mcp.hubspot.com", false, Then::Ask("HubSpot")),
    replay("https://mcp.atlassian.com/v1/mcp", "https://cf.mcp.atlassian.com", true, Then::Register),
    replay("https://mcp.notion.com/mcp", "https://mcp.notion.com", true, Then::Register),
    replay("https://mcp.linear.app/mcp", "https://mcp.linear.app", true, Then::Register),
    replay("https://mcp.sentry.dev/mcp", "https://mcp.sentry.dev", true, Then::Register),
    replay(
        "https://bindings.mcp.cloudflare.com/mcp",
        "https://bindings.mcp.cloudflare.com",
        true,
        Then::Register,
    ),
    replay("https://mcp.supabase.com/mcp", "https://api.supabase.com", true, Then::Register),
    replay("https://mcp.stripe.com/", "https://access.stripe.com/mcp", true, Then::Register),
    replay("https://mcp.figma.com/mcp", "https://api.figma.com", true, Then::Register),
    Replay {
        s256: false,
        ..replay(
            "https://mcp.dev.azure.com/contoso",
            "https://login.microsoftonline.com/common/v2.0",
            false,
            Then::Ask("Microsoft Entra ID"),
        )
    },
    Replay {
        issuer: "https://tenant.eu.auth0.com/",
        ..replay("https://mcp.example.com/mcp", "https://tenant.eu.auth0.com/", false, Then::Ask("Auth0"))
    },
];

const fn replay(server: &'static str, issuer: &'static str, registers: bool, then: Then) -> Replay {
    Replay { server, named: issuer, issuer, registers, s256: true, then }
}

fn discovered(replay: &Replay) -> Discovered {
    let server = Url::parse(replay.server).unwrap();
    let settings = OAuth::default();
    let mut discovery = Discovery::new(&server, None, &settings, Allowed::around(Zone::Public));
    let mut next = discovery.begin();
    loop {
        next = match next {
            Next::Done(found) => return *found,
            Next::Ended(trouble) => panic!("{}: {trouble}", replay.server),
            Next::Read(url) => discovery.read(document(replay, &url)),
        };
    }
}

fn document(replay: &Replay, url: &Url) -> Fetched {
    let text = if url.path().starts_with("/.well-known/oauth-protected-resource") {
        serde_json::json!({ "resource": replay.server, "authorization_servers": [replay.named] })
    } else if url.as_str().contains("/.well-known/") {
        let endpoint = |path: &str| format!("{}{path}", replay.issuer.trim_end_matches('/'));
        let mut metadata = serde_json::json!({
            "issuer": replay.issuer,
            "authorization_endpoint": endpoint("/authorize"),
            "token_endpoint": endpoint("/token"),
        });
        if replay.s256 {
            metadata["code_challenge_methods_supported"] = serde_json::json!(["S256"]);
        }
        if replay.registers {
            metadata["registration_endpoint"] = endpoint("/register").into();
        }
        metadata
    } else {
        return Fetched::Absent;
    };
    Fetched::Text(text.to_string())
}

#[test]
fn every_well_known_provider_leads_to_the_right_next_step() {
    for replay in &REPLAYS {
        let found = discovered(replay);
        let server = Url::parse(replay.server).unwrap();
        let known = providers::of_server(&server).or_else(|| providers::of_issuer(&found.provider.issuer));
        let settings = known.map_or_else(OAuth::default, |known| known.complete(&OAuth::default()));
        let then = match client::identity(
            &settings,
            &found.provider,
            None,
            "http://127.0.0.1:7412/callback",
            (&[], &[]),
        ) {
            Ok(Identity::Register(_)) => Then::Register,
            Err(Trouble::NeedsClientId { .. }) => {
                Then::Ask(known.map_or("nobody", |known| known.name.as_str()))
            }
            other => panic!("{}: {other:?}", replay.server),
        };
        assert_eq!(then, replay.then, "{}", replay.server);
        let is_entra = known.is_some_and(|known| known.name.starts_with("Microsoft"));
        assert_eq!(found.resource.is_none(), is_entra, "{}", replay.server);
        // Once an app is entered, every provider yields a page, with its additional parameters.
        let mine = OAuth { client_id: Some("app".into()), ..settings.clone() };
        let redirect = format!("http://{}:{}/callback", mine.redirect.as_str(), mine.port.unwrap_or(7412));
        let client = match client::identity(&mine, &found.provider, None, &redirect, (&[], &[])) {
            Ok(Identity::Known(client)) => *client,
            other => panic!("{}: {other:?}", replay.server),
        };
        let random = (Secret::new("state"), Secret::new("verifier"));
        let page = Request::new(found, client, vec![], random).page(&mine).unwrap();
        let sent: BTreeMap<String, String> = page.query_pairs().into_owned().collect();
        let offline = sent.get("access_type").is_some_and(|kind| kind == "offline");
        assert_eq!(offline, replay.server.contains("googleapis"), "{}", replay.server);
        let localhost = ["slack", "asana", "dev.azure"].iter().any(|host| replay.server.contains(host));
        assert_eq!(sent["redirect_uri"].contains("//localhost:7412/"), localhost, "{}", replay.server);
        assert_eq!(sent["code_challenge_method"], "S256", "{}", replay.server);
    }
}
