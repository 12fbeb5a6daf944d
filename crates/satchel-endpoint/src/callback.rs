//! The redirect target of a sign-in: a listener on this computer that lives as long as the sign-in and serves one path.
//! It answers with a page without script, in the browser's language, once the outcome is known.

use std::{io, net::Ipv6Addr, pin::Pin, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use satchel_core::{
    hub::Hub,
    model::oauth::RedirectHost,
    upstream::oauth::{
        Trouble,
        sign_in::{Arrival, Callbacks, Listening, Shown},
    },
};
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Capacity of the request queue; further requests are rejected.
const WAITING: usize = 16;
/// How long a browser waits for the end of the sign-in.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long the last response may take.
const LAST_ANSWER: Duration = Duration::from_secs(2);
/// Maximum length of a query.
const QUERY: usize = 16 * 1024;

/// Listens on the loopback interface.
#[derive(Debug)]
pub(crate) struct Loopback;

impl Callbacks for Loopback {
    fn listen(
        &self,
        host: RedirectHost,
        port: u16,
        tracker: TaskTracker,
    ) -> Pin<Box<dyn Future<Output = io::Result<Listening>> + Send + '_>> {
        Box::pin(listen(host, port, tracker))
    }
}

#[derive(Debug, Clone)]
struct CallbackDoor {
    port: u16,
    arrivals: mpsc::Sender<Arrival>,
}

async fn listen(host: RedirectHost, port: u16, tracker: TaskTracker) -> io::Result<Listening> {
    let four = TcpListener::bind(("127.0.0.1", port)).await?;
    let port = four.local_addr()?.port();
    // A browser may resolve the name to either address; without IPv6, it uses the other.
    let six = match host {
        RedirectHost::Localhost => TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await.ok(),
        RedirectHost::Ip => None,
    };
    let (arrivals, arrived) = mpsc::channel(WAITING);
    let stop = CancellationToken::new();
    let router = Router::new().route("/callback", get(callback)).with_state(CallbackDoor { port, arrivals });
    for listener in [Some(four), six].into_iter().flatten() {
        tracker.spawn(serve(listener, router.clone(), stop.clone()));
    }
    Ok(Listening { port, arrivals: arrived, stop: stop.drop_guard() })
}

async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    let stopped = stop.clone();
    let serving =
        axum::serve(listener, router).with_graceful_shutdown(async move { stopped.cancelled().await });
    let bounded = async {
        stop.cancelled().await;
        tokio::time::sleep(LAST_ANSWER).await;
    };
    tokio::select! {
        served = serving.into_future() => {
            if let Err(error) = served {
                tracing::warn!(%error, "the sign-in callback server stopped");
            }
        }
        // Slow senders are not waited for.
        () = bounded => {}
    }
}

async fn callback(
    State(door): State<CallbackDoor>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let words = PageWords::of(&headers);
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let ours = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{}", door.port));
    let query = query.unwrap_or_default();
    if !ours.iter().any(|ours| ours == host) || query.len() > QUERY {
        return page(StatusCode::BAD_REQUEST, words, words.foreign());
    }
    let (show, shown) = oneshot::channel();
    if door.arrivals.try_send(Arrival { query, show }).is_err() {
        return page(StatusCode::SERVICE_UNAVAILABLE, words, words.foreign());
    }
    match tokio::time::timeout(PATIENCE, shown).await {
        Ok(Ok(Shown::Done(server))) => page(StatusCode::OK, words, words.done(&server)),
        Ok(Ok(Shown::Failed(server, trouble))) => {
            page(StatusCode::OK, words, words.failed(&server, &trouble))
        }
        Ok(Ok(Shown::Foreign)) => page(StatusCode::BAD_REQUEST, words, words.foreign()),
        Ok(Err(_)) | Err(_) => page(StatusCode::GONE, words, words.foreign()),
    }
}

/// The page on which a person begins a sign-in that a call waits for. It links to the provider's page, and opens
/// nothing itself.
pub(crate) async fn sign_in_page(hub: &Hub, ticket: &str, headers: &HeaderMap) -> Response {
    let words = PageWords::of(headers);
    match hub.sign_in_page(ticket).await {
        Ok((server, page)) => {
            let (heading, sentence, link) = words.begins(server.as_str(), &page.host);
            let link = format!(
                "<p><a rel=\"noreferrer\" id=\"go\" href=\"{}\">{}</a></p>",
                escaped(&page.url),
                escaped(&link)
            );
            page_with(StatusCode::OK, words, &heading, &sentence, &link)
        }
        Err(refusal) => {
            let (heading, ..) = words.foreign();
            let todo = format!("<p class=\"todo\">{}</p>", escaped(&refusal.action));
            page_with(StatusCode::BAD_REQUEST, words, &heading, &refusal.message, &todo)
        }
    }
}

/// The supported languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageWords {
    English,
    German,
}

/// The text of a page: heading, sentence, what to do.
type PageText = (String, String, String);

impl PageWords {
    /// The browser's preferred supported language.
    fn of(headers: &HeaderMap) -> Self {
        let wanted =
            headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let known = wanted.split(',').find_map(|language| match language.trim().get(..2) {
            Some("de") => Some(PageWords::German),
            Some("en") => Some(PageWords::English),
            _ => None,
        });
        known.unwrap_or(PageWords::English)
    }

    fn done(self, server: &str) -> PageText {
        match self {
            PageWords::English => (
                format!("Signed in to {server}"),
                "Satchel stays signed in for all your clients.".into(),
                "You can close this page.".into(),
            ),
            PageWords::German => (
                format!("Bei {server} angemeldet"),
                "Satchel bleibt für alle deine Clients angemeldet.".into(),
                "Du kannst diese Seite schließen.".into(),
            ),
        }
    }

    fn failed(self, server: &str, trouble: &Trouble) -> PageText {
        match self {
            PageWords::English => (
                format!("Not signed in to {server}"),
                format!("{trouble}."),
                "Close this page, then sign in again from Satchel.".into(),
            ),
            PageWords::German => (
                format!("Nicht bei {server} angemeldet"),
                german(trouble),
                "Schließe diese Seite und melde dich in Satchel noch einmal an.".into(),
            ),
        }
    }

    fn begins(self, server: &str, host: &str) -> PageText {
        match self {
            PageWords::English => (
                format!("Sign in to {server}"),
                format!(
                    "One of your clients wants to use {server}. You sign in at {host}; Satchel then stays signed in."
                ),
                format!("Continue to {host}"),
            ),
            PageWords::German => (
                format!("Bei {server} anmelden"),
                format!(
                    "Einer deiner Clients möchte {server} benutzen. Du meldest dich bei {host} an; danach bleibt Satchel angemeldet."
                ),
                format!("Weiter zu {host}"),
            ),
        }
    }

    fn foreign(self) -> PageText {
        match self {
            PageWords::English => (
                "Satchel is not waiting for this sign-in".into(),
                "Nothing was changed.".into(),
                "If you have just signed in, start again from Satchel.".into(),
            ),
            PageWords::German => (
                "Auf diese Anmeldung wartet Satchel nicht".into(),
                "Es wurde nichts geändert.".into(),
                "Wenn du dich gerade angemeldet hast, beginne in Satchel von vorn.".into(),
            ),
        }
    }

    fn code(self) -> &'static str {
        match self {
            PageWords::English => "en",
            PageWords::German => "de",
        }
    }
}

/// Why the sign-in failed, in German. The exact message of a check or provider is quoted in its own language.
fn german(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Refused(why) => {
            format!("Die Antwort des Anbieters hat eine Prüfung nicht bestanden: „{why}“.")
        }
        Trouble::Denied(words) if words.is_empty() => "Die Anmeldung wurde im Browser abgelehnt.".into(),
        Trouble::Denied(words) => format!("Die Anmeldung wurde im Browser abgelehnt: „{words}“."),
        Trouble::NeedsClientId { issuer, .. } => {
            format!("{issuer} registriert Apps nicht von selbst; trage in Satchel eine Client-ID ein.")
        }
        Trouble::Later(why) => format!("Der Anbieter hat sie gerade nicht zu Ende gebracht: „{why}“."),
        Trouble::TimedOut => "Innerhalb von fünf Minuten kam niemand aus dem Browser zurück.".into(),
        Trouble::Cancelled => "Die Anmeldung wurde abgebrochen.".into(),
    }
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;color-scheme:light dark;display:grid;\
place-content:center;min-height:calc(100vh - 4rem);margin:0;padding:2rem;text-align:center}h1{font-size:1.5rem;margin:0 0 .5rem}\
p{margin:.25rem auto;max-width:34rem;overflow-wrap:anywhere}.todo{opacity:.75}";

/// A page with text.
fn page(status: StatusCode, words: PageWords, (heading, sentence, todo): PageText) -> Response {
    page_with(status, words, &heading, &sentence, &format!("<p class=\"todo\">{}</p>", escaped(&todo)))
}

/// A page without external resources or referrer. `rest` is HTML.
fn page_with(status: StatusCode, words: PageWords, heading: &str, sentence: &str, rest: &str) -> Response {
    let (language, heading, sentence) = (words.code(), escaped(heading), escaped(sentence));
    let html = format!(
        "<!doctype html><html lang=\"{language}\"><head><meta charset=\"utf-8\"><title>{heading}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head>\
         <body><main><h1>{heading}</h1><p>{sentence}</p>{rest}</main></body></html>"
    );
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::X_FRAME_OPTIONS, "DENY".to_owned()),
    ];
    (status, headers, Html(html)).into_response()
}

/// Loads nothing, and allows only its own style.
fn policy() -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use sha2::{Digest, Sha256};
    let style = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The listener for returning browsers.
pub fn callbacks() -> Arc<dyn Callbacks> {
    Arc::new(Loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_german_page_gives_reasons_in_german_and_quotes_servers_unchanged() {
        let said = || "state <b>missing</b>".to_owned();
        for (trouble, quotes) in [
            (Trouble::Refused(said()), true),
            (Trouble::Denied(said()), true),
            (Trouble::Denied(String::new()), false),
            (Trouble::NeedsClientId { why: said(), issuer: "https://id.example".to_owned() }, false),
            (Trouble::Later(said()), true),
            (Trouble::TimedOut, false),
            (Trouble::Cancelled, false),
        ] {
            let (_, sentence, _) = PageWords::German.failed("notes", &trouble);
            let own = sentence.replace(&said(), "");
            assert_eq!(sentence.contains(&format!("„{}“", said())), quotes, "{sentence}");
            assert!(own.ends_with('.') && !own.contains("sign-in") && !own.contains(" the "), "{own}");
        }
    }
}
