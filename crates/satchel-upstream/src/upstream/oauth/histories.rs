//! Random histories of three sign-ins at one address: no request carries another account's token, no refresh token is
//! used twice, and nobody is signed out against their will.

#![allow(clippy::disallowed_methods, reason = "tests wait for their tasks by joining them")]

use std::{collections::HashMap, ops::RangeInclusive, path::Path, sync::Arc};

use parking_lot::Mutex;

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_util::task::TaskTracker;
use url::Url;

use super::{
    account::Credential, accounts::Accounts, client, discovery::Discovered, documents::Provider,
    record::Record, token_response::Tokens,
};
use crate::{
    clock::Clock,
    model::{ServerName, oauth::OAuth},
    secrets::{Secret, Secrets},
};

const NAMES: [&str; 3] = ["one", "two", "three"];
const STEPS: usize = 12;

/// A deterministic random number generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// A token endpoint that rotates refresh tokens and repeats a lost response once.
#[derive(Debug, Default)]
pub(super) struct Authority {
    /// Number of renewals by account.
    pub(super) renewed: HashMap<String, u64>,
    pub(super) reused: usize,
    lose_next: bool,
}

impl Authority {
    /// `None`: the response is lost.
    fn answer(&mut self, form: &str) -> Option<(u16, String)> {
        let sent: HashMap<String, String> =
            url::form_urlencoded::parse(form.as_bytes()).into_owned().collect();
        let refresh = sent.get("refresh_token").cloned().unwrap_or_default();
        let (account, number) = refresh.strip_prefix("refresh-")?.rsplit_once('-')?;
        let number: u64 = number.parse().ok()?;
        let now = self.renewed.entry(account.to_owned()).or_default();
        match number {
            number if number == *now => *now += 1,
            // The previous response was lost.
            number if number + 1 == *now => {}
            _ => {
                self.reused += 1;
                return Some((400, json!({ "error": "invalid_grant" }).to_string()));
            }
        }
        if std::mem::take(&mut self.lose_next) {
            return None;
        }
        let Tokens { access, refresh, .. } = tokens(account, *now);
        let refresh = refresh.map(|refresh| refresh.reveal().to_owned());
        let body = json!({
            "access_token": access.reveal(), "refresh_token": refresh, "token_type": "Bearer", "expires_in": 3600,
        });
        Some((200, body.to_string()))
    }
}

fn tokens(account: &str, number: u64) -> Tokens {
    Tokens {
        access: Secret::new(format!("access-{account}-{number}")),
        refresh: Some(Secret::new(format!("refresh-{account}-{number}"))),
        expires_in: Some(3600),
        scopes: None,
        account: Some(account.to_owned()),
    }
}

pub(super) async fn serve(listener: TcpListener, authority: Arc<Mutex<Authority>>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(converse(stream, authority.clone()));
    }
}

/// One request per connection.
async fn converse(mut stream: TcpStream, authority: Arc<Mutex<Authority>>) {
    let (mut read, mut buffer) = (Vec::new(), [0; 4096]);
    let body = loop {
        let Ok(count) = stream.read(&mut buffer).await else { return };
        if count == 0 {
            return;
        }
        read.extend(&buffer[..count]);
        let text = String::from_utf8_lossy(&read).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        if body.len() >= length.unwrap_or(0) {
            break body.to_owned();
        }
    };
    let answer = authority.lock().answer(&body);
    if let Some((status, body)) = answer {
        let head = format!(
            "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
    }
}

fn opened(data: &Path, secrets: &Secrets, clock: &Clock) -> (Accounts, TaskTracker) {
    let tracker = TaskTracker::new();
    (Accounts::open_at(data, secrets.clone(), tracker.clone(), clock.clone()).0, tracker)
}

/// One computer with three entries for the same server.
pub(super) struct World {
    data: tempfile::TempDir,
    pub(super) secrets: Secrets,
    accounts: Accounts,
    tracker: TaskTracker,
    clock: Clock,
    server: Url,
    /// The account signed in under each name, from the person's view.
    signed_in: HashMap<&'static str, String>,
    people: u64,
}

impl World {
    pub(super) fn new(secrets: &Secrets, server: &Url, clock: Clock) -> Self {
        let data = tempfile::tempdir().unwrap();
        let (accounts, tracker) = opened(data.path(), secrets, &clock);
        let (secrets, server) = (secrets.clone(), server.clone());
        Self { data, secrets, accounts, tracker, clock, server, signed_in: HashMap::new(), people: 0 }
    }

    pub(super) fn credential(&self, name: &str) -> Credential {
        let name: ServerName = name.parse().unwrap();
        Credential {
            account: self.accounts.of(&name),
            settings: OAuth::default(),
            server: self.server.clone(),
        }
    }

    /// Restarts the hub.
    pub(super) async fn restart(&mut self) {
        self.tracker.close();
        self.tracker.wait().await;
        (self.accounts, self.tracker) = opened(self.data.path(), &self.secrets, &self.clock);
    }

    pub(super) async fn sign_in(&mut self, name: &'static str) {
        self.people += 1;
        let person = format!("p{}-{name}", self.people);
        let found = Discovered {
            provider: Provider::by_default_paths(&self.server),
            resource: None,
            scopes: vec![],
            known: vec![],
        };
        let us = client::registered(r#"{"client_id":"me"}"#, "http://127.0.0.1:4000/callback", &[]).unwrap();
        let account = self.credential(name).account;
        let mut state = account.state.lock().await;
        state.record = Some(Record::new(&self.server, &found, us));
        account.take(&mut state, tokens(&person, 0), false).await;
        self.signed_in.insert(name, person);
    }

    async fn sign_out(&mut self, name: &str) {
        self.credential(name).account.leave(true, None).await;
        self.signed_in.remove(name);
    }

    /// The tokens that requests under this name are sent with; `refuse`: the server rejects the first token, and all
    /// request another.
    pub(super) async fn calls(&self, name: &str, refuse: bool, count: usize) {
        let calls = (0..count).map(|_| {
            let credential = self.credential(name);
            tokio::spawn(async move {
                let bearer = match credential.bearer().await.unwrap() {
                    Some(bearer) if refuse => Some(credential.refused(Some(bearer), None).await.unwrap()),
                    bearer => bearer,
                };
                // The server accepts the next one.
                bearer.inspect(|bearer| credential.taken(bearer))
            })
        });
        let expected = self.signed_in.get(name);
        for call in calls.collect::<Vec<_>>() {
            let header = call.await.unwrap().map(|bearer| bearer.header());
            match (&header, expected) {
                (None, None) => {}
                (Some(header), Some(person)) => {
                    let its = header.starts_with(&format!("Bearer access-{person}-"));
                    assert!(its, "{name} is {person}, and sent {header}");
                }
                _ => panic!("{name} is {expected:?}, and sent {header:?}"),
            }
        }
    }
}

async fn history(seed: u64, secrets: &Secrets, server: &Url, authority: &Mutex<Authority>) {
    let mut dice = Dice(seed);
    let mut world = World::new(secrets, server, Clock::system());
    *authority.lock() = Authority::default();
    for _ in 0..STEPS {
        let name = NAMES[usize::try_from(dice.roll(3)).unwrap()];
        match dice.roll(8) {
            0 | 1 => world.sign_in(name).await,
            2 => world.sign_out(name).await,
            3 => world.restart().await,
            4 => {
                authority.lock().lose_next = world.signed_in.contains_key(name);
                world.calls(name, true, 1).await;
                authority.lock().lose_next = false;
            }
            5 => {
                let before: u64 = authority.lock().renewed.values().sum();
                world.calls(name, true, 4).await;
                let renewed = authority.lock().renewed.values().sum::<u64>() - before;
                assert!(renewed <= 1, "{renewed} refreshes for four calls");
            }
            _ => world.calls(name, false, 2).await,
        }
    }
    for name in NAMES {
        world.calls(name, false, 1).await;
    }
    assert_eq!(authority.lock().reused, 0, "a refresh token was used twice");
    // All histories share one file of secrets.
    for name in NAMES {
        world.credential(name).account.leave(false, None).await;
    }
}

/// The seeds: more in a soak, or the one in `SATCHEL_SEED`.
fn histories() -> RangeInclusive<u64> {
    if let Some(seed) = std::env::var("SATCHEL_SEED").ok().and_then(|seed| seed.parse().ok()) {
        return seed..=seed;
    }
    let soak = std::env::var_os("SATCHEL_SOAK").is_some_and(|value| !value.is_empty() && value != "0");
    1..=if soak { 1_000 } else { 60 }
}

/// A11. A soak plays a thousand of them.
#[tokio::test]
async fn no_request_carries_another_accounts_token_after_any_history() {
    let dir = tempfile::tempdir().unwrap();
    let secrets = Secrets::open(dir.path());
    secrets.use_vault(Secret::new("correct horse")).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Url::parse(&format!("http://{}/mcp", listener.local_addr().unwrap())).unwrap();
    let authority = Arc::new(Mutex::new(Authority::default()));
    let serving = tokio::spawn(serve(listener, authority.clone()));
    for seed in histories() {
        println!("history {seed}");
        history(seed, &secrets, &server, &authority).await;
    }
    serving.abort();
}

/// A14: starting does not access the keychain, and the first use of a sign-in accesses it once.
#[tokio::test]
async fn fifty_sign_ins_are_known_without_the_keychain_and_each_is_read_once() {
    let dir = tempfile::tempdir().unwrap();
    let secrets = Secrets::open(dir.path());
    secrets.use_vault(Secret::new("correct horse")).await.unwrap();
    let server = Url::parse("http://127.0.0.1:9/mcp").unwrap();
    let mut world = World::new(&secrets, &server, Clock::system());
    let names: Vec<&'static str> = (0..50).map(|at| &*format!("s{at}").leak()).collect();
    for name in &names {
        world.sign_in(name).await;
    }
    let before = secrets.reads();
    world.restart().await;
    for name in &names {
        assert!(world.credential(name).account.shared.is_signed_in(&name.parse().unwrap()), "{name}");
    }
    assert_eq!(secrets.reads() - before, 0, "at the start");
    for (name, reads) in [("s0", 1), ("s0", 1), ("s49", 2)] {
        world.calls(name, false, 8).await;
        assert_eq!(secrets.reads() - before, reads, "after eight calls of {name}");
    }
}
