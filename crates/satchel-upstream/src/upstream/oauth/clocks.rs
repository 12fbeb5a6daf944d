//! A12: tests that a sign-in survives what happens to a laptop: a clock set forward or back, sleep past the end of a token,
//! an unreachable provider, a locked keychain.

#![allow(clippy::disallowed_methods, reason = "tests wait for their tasks by joining them")]

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use tokio::{
    net::{TcpListener, TcpSocket},
    task::JoinHandle,
};
use url::Url;

use super::histories::{Authority, World, serve};
use crate::{
    clock::Clock,
    model::{Code, oauth::SignInState},
    secrets::{Secret, Secrets},
};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;

/// A computer whose clock can be set, and a provider that can be switched off.
struct Laptop {
    world: World,
    now: Arc<AtomicU64>,
    authority: Arc<Mutex<Authority>>,
    address: SocketAddr,
    serving: JoinHandle<()>,
    _dir: tempfile::TempDir,
}

impl Laptop {
    async fn with_a_sign_in() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let secrets = Secrets::open(dir.path());
        secrets.use_vault(Secret::new("correct horse")).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Url::parse(&format!("http://{address}/mcp")).unwrap();
        let authority = Arc::new(Mutex::new(Authority::default()));
        let serving = tokio::spawn(serve(listener, authority.clone()));
        let now = Arc::new(AtomicU64::new(1_800_000_000_000));
        let clock = Clock::of({
            let now = now.clone();
            move || now.load(Ordering::SeqCst)
        });
        let mut world = World::new(&secrets, &server, clock);
        world.sign_in("one").await;
        Self { world, now, authority, address, serving, _dir: dir }
    }

    fn forward(&self, ms: u64) {
        self.now.fetch_add(ms, Ordering::SeqCst);
    }

    fn back(&self, ms: u64) {
        self.now.fetch_sub(ms, Ordering::SeqCst);
    }

    fn renewals(&self) -> u64 {
        self.authority.lock().renewed.values().sum()
    }

    async fn switch_the_provider_off(&mut self) {
        self.serving.abort();
        while !self.serving.is_finished() {
            tokio::task::yield_now().await;
        }
    }

    fn switch_the_provider_on(&mut self) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(self.address).unwrap();
        let listener = socket.listen(64).unwrap();
        self.serving = tokio::spawn(serve(listener, self.authority.clone()));
    }

    fn state(&self) -> SignInState {
        self.world.credential("one").account.view().unwrap().state
    }
}

#[tokio::test]
async fn a_clock_that_is_set_forward_or_back_costs_one_renewal_at_most() {
    let laptop = Laptop::with_a_sign_in().await;
    laptop.world.calls("one", false, 4).await;
    assert_eq!(laptop.renewals(), 0);
    laptop.forward(HOUR);
    laptop.world.calls("one", false, 4).await;
    assert_eq!(laptop.renewals(), 1, "it has ended, as far as anybody here can tell");
    laptop.back(2 * HOUR);
    laptop.world.calls("one", false, 4).await;
    assert_eq!(laptop.renewals(), 1);
    // The token is valid for three hours here, for one hour at the server.
    laptop.world.calls("one", true, 4).await;
    assert_eq!((laptop.renewals(), laptop.authority.lock().reused), (2, 0));
}

#[tokio::test]
async fn after_a_night_in_the_bag_many_calls_renew_once() {
    let laptop = Laptop::with_a_sign_in().await;
    for night in 1..=3 {
        laptop.forward(9 * HOUR);
        laptop.world.calls("one", false, 20).await;
        assert_eq!((laptop.renewals(), laptop.authority.lock().reused), (night, 0));
    }
}

#[tokio::test]
async fn a_provider_that_is_unreachable_for_ten_minutes_signs_no_account_out() {
    let mut laptop = Laptop::with_a_sign_in().await;
    laptop.forward(2 * HOUR);
    laptop.switch_the_provider_off().await;
    for _ in 0..2 {
        let need = laptop.world.credential("one").bearer().await.unwrap_err();
        assert_eq!(need.code, Code::OauthRefresh, "{need:?}");
        assert!(matches!(laptop.state(), SignInState::RenewalDelayed { .. }), "{:?}", laptop.state());
        laptop.forward(5 * MINUTE);
    }
    laptop.switch_the_provider_on();
    laptop.world.calls("one", false, 4).await;
    assert_eq!((laptop.renewals(), laptop.authority.lock().reused), (1, 0));
    assert!(matches!(laptop.state(), SignInState::SignedIn { .. }), "{:?}", laptop.state());
}

#[tokio::test]
async fn a_clock_set_back_while_the_provider_was_gone_delays_nothing() {
    let mut laptop = Laptop::with_a_sign_in().await;
    laptop.forward(3 * HOUR);
    laptop.switch_the_provider_off().await;
    laptop.world.credential("one").bearer().await.unwrap_err();
    // The token has still expired; the pause started in the future.
    laptop.back(HOUR);
    laptop.switch_the_provider_on();
    laptop.world.calls("one", false, 1).await;
    assert_eq!(laptop.renewals(), 1);
}

#[tokio::test]
async fn a_locked_keychain_is_reported_as_such_and_signs_no_account_out() {
    let mut laptop = Laptop::with_a_sign_in().await;
    laptop.world.secrets = Secrets::open(laptop._dir.path());
    laptop.world.restart().await;
    let need = laptop.world.credential("one").bearer().await.unwrap_err();
    assert_eq!(need.code, Code::VaultLocked, "{need:?}");
    assert!(matches!(laptop.state(), SignInState::SignedIn { .. }), "{:?}", laptop.state());
    laptop.world.secrets.unlock(Secret::new("correct horse")).await.unwrap();
    laptop.world.calls("one", false, 2).await;
    assert_eq!(laptop.renewals(), 0);
}
