//! Against a server on this computer, with keys and signatures made here.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::TcpListener,
    sync::Arc,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use blake2::{Blake2b512, Digest};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::json;

use super::*;
use crate::{platform::Platform, updates::place::Successor};

const TARGET: &str = "darwin-aarch64";
const OWN: Version = Version::new(1, 2, 3);
const FILE: &str = "Satchel_1.3.0_universal.app.tar.gz";

struct Signer(Ed25519KeyPair);

impl Signer {
    fn of(seed: u8) -> Self {
        Self(Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap())
    }

    /// As in the public file of Tauri's signer.
    fn public(&self) -> String {
        let line = STANDARD.encode([b"Ed", &[7; 8][..], self.0.public_key().as_ref()].concat());
        STANDARD.encode(format!("untrusted comment: minisign public key\n{line}\n"))
    }

    /// As Tauri's signer writes it beside a file.
    fn sign(&self, bytes: &[u8], file: &str) -> String {
        let signature = self.0.sign(&Blake2b512::digest(bytes));
        let comment = format!("timestamp:1790000000\tfile:{file}");
        let line = STANDARD.encode([b"ED", &[7; 8][..], signature.as_ref()].concat());
        let global = self.0.sign(&[signature.as_ref(), comment.as_bytes()].concat());
        let global = STANDARD.encode(global.as_ref());
        STANDARD.encode(format!(
            "untrusted comment: signature from tauri secret key\n{line}\ntrusted comment: {comment}\n{global}\n"
        ))
    }
}

/// Serves its files until the test ends.
struct Site {
    address: String,
    held: Arc<parking_lot::Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl Site {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let held = Arc::new(parking_lot::Mutex::new(BTreeMap::<String, Vec<u8>>::new()));
        let answers = held.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut asked = [0; 4096];
                let read = stream.read(&mut asked).unwrap_or_default();
                let asked = String::from_utf8_lossy(&asked[..read]).into_owned();
                let path = asked.split(' ').nth(1).unwrap_or_default().to_owned();
                let body = answers.lock().get(&path).cloned();
                let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
                let body = body.unwrap_or_default();
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
            }
        });
        Self { address, held }
    }

    fn holds(&self, path: &str, body: impl Into<Vec<u8>>) {
        self.held.lock().insert(path.to_owned(), body.into());
    }

    fn source(&self, key: &Signer) -> UpdateSource {
        UpdateSource::new(&format!("{}/latest.json", self.address), &key.public()).unwrap()
    }

    /// Offers these bytes as 1.3.0.
    fn offers(&self, bytes: &[u8], signature: &str) {
        self.holds(&format!("/{FILE}"), bytes);
        self.tells("1.3.0", FILE, signature);
    }

    fn tells(&self, version: &str, file: &str, signature: &str) {
        let url = format!("{}/{file}", self.address);
        let list = json!({"version": version, "notes": "Faster.", "pub_date": "2026-11-01T00:00:00Z",
            "platforms": {TARGET: {"signature": signature, "url": url}}});
        self.holds("/latest.json", list.to_string());
    }

    async fn gets(&self, dir: &Path) -> Result<Option<Ready>, UpdateError> {
        let source = self.source(&Signer::of(1));
        match look(&source, &OWN, TARGET, dir).await? {
            Some(offer) => fetch(&source, offer, dir).await.map(Some),
            None => Ok(None),
        }
    }
}

#[tokio::test]
async fn a_newer_version_with_our_signature_is_fetched() {
    let (home, site) = (tempfile::tempdir().unwrap(), Site::new());
    site.offers(b"new", &Signer::of(1).sign(b"new", FILE));
    let ready = site.gets(home.path()).await.unwrap().unwrap();
    assert_eq!((ready.version.to_string().as_str(), ready.notes.as_str()), ("1.3.0", "Faster."));
    assert_eq!(fs::read(&ready.file).unwrap(), b"new");
}

/// Made by Tauri's own signer, with a key that no longer exists.
#[tokio::test]
async fn signatures_of_tauris_signer_are_accepted() {
    const KEY: &str = "dW50cnVzdGVkIGNvbW1lbnQ6IG1pbmlzaWduIHB1YmxpYyBrZXk6IEE5MzIxODg4MURDMDJGMDcKUldRSEw4QWRpQmd5cVFtZ2RDZHhCQStiR2p3dVgvQlZJMUp3a3cwOEVjblBKK3A4TkVEcVhhWVgK";
    const SIGNATURE: &str = "dW50cnVzdGVkIGNvbW1lbnQ6IHNpZ25hdHVyZSBmcm9tIHRhdXJpIHNlY3JldCBrZXkKUlVRSEw4QWRpQmd5cVdhcmhCejdINE5LTnBubHJWc3dIRjlpd052OVYrL3kvQXBhd2pGWkRkQkVWRko5M01DdEMxc3MwRDVUemZKUjA0bDVEWHFzQlF3ZkVFZDNuekc3UUFBPQp0cnVzdGVkIGNvbW1lbnQ6IHRpbWVzdGFtcDoxNzk1NDc1OTc1CWZpbGU6U2F0Y2hlbF8xLjMuMF91bml2ZXJzYWwuYXBwLnRhci5negpkS2RaczNvT3l5a05YL2o4UTlnaUprSm0vbVM1MzRpKzA4U1VEbDlhSzhkbHQ1VWIxUFZiWTJvcjFWekF6ZDRUbS9zNElhbE1GWVRqODI2MW8rNjJEQT09Cg==";
    let (home, site) = (tempfile::tempdir().unwrap(), Site::new());
    let source = UpdateSource::new(&format!("{}/latest.json", site.address), KEY).unwrap();
    site.offers(b"new", SIGNATURE);
    let offer = look(&source, &OWN, TARGET, home.path()).await.unwrap().unwrap();
    fetch(&source, offer.clone(), home.path()).await.unwrap();
    site.offers(b"new!", SIGNATURE);
    fetch(&source, offer, home.path()).await.unwrap_err();
}

#[tokio::test]
async fn the_same_version_and_an_older_one_are_no_update() {
    let (home, site) = (tempfile::tempdir().unwrap(), Site::new());
    for version in ["1.2.3", "1.2.3+later", "1.2.2", "1.2.3-rc.1", "0.9.0"] {
        site.tells(version, FILE, &Signer::of(1).sign(b"old", FILE));
        assert!(site.gets(home.path()).await.unwrap().is_none(), "{version}");
    }
    assert!(!home.path().join("fetched").exists());
}

#[tokio::test]
async fn nothing_is_kept_that_is_unsigned_changed_anothers_or_renamed() {
    let (home, site, ours) = (tempfile::tempdir().unwrap(), Site::new(), Signer::of(1));
    let old = "Satchel_1.2.0_universal.app.tar.gz";
    let cases = [
        ("unsigned", String::new(), "is not signed"),
        ("no signature", "aGVsbG8=".to_owned(), "is not signed"),
        ("changed", ours.sign(b"other", FILE), "was changed since"),
        ("another's", Signer::of(2).sign(b"new", FILE), "not signed by the makers"),
        ("an old file under a new name", ours.sign(b"new", old), "is signed under the name Satchel_1.2.0"),
    ];
    for (what, signature, why) in cases {
        site.offers(b"new", &signature);
        let error = site.gets(home.path()).await.unwrap_err();
        assert!(error.to_string().contains(why), "{what}: {error}");
        assert!(error.action().starts_with("Nothing was installed."), "{what}");
        assert!(!home.path().join("fetched").exists(), "{what}");
    }
    // An old version offered as new, with its own name and a valid signature.
    site.holds(&format!("/{old}"), "new");
    site.tells("1.3.0", old, &ours.sign(b"new", old));
    assert!(matches!(site.gets(home.path()).await, Err(UpdateError::Unusable(Unusable::Renamed(..)))));
}

#[tokio::test]
async fn a_list_that_is_none_and_a_file_that_is_gone_are_told() {
    let (home, site) = (tempfile::tempdir().unwrap(), Site::new());
    let told = |site: &Site| {
        let (site, home) = (site.source(&Signer::of(1)), home.path().to_owned());
        async move { look(&site, &OWN, TARGET, &home).await.map(|_| ()).unwrap_err().to_string() }
    };
    assert!(told(&site).await.contains("HTTP 404"));
    site.holds("/latest.json", "<html>");
    assert!(told(&site).await.contains("cannot be read"));
    for (url, why) in [
        ("http://example.com/a_1.3.0_b", "is not an https address"),
        ("https://example.com/", "names no file"),
        ("https://example.com/a%2f..%2fb", "names no file"),
    ] {
        let platforms = json!({TARGET: {"signature": "x", "url": url}});
        site.holds("/latest.json", json!({"version": "2.0.0", "platforms": platforms}).to_string());
        let said = told(&site).await;
        assert!(said.contains(why), "{url}: {said}");
    }
    site.holds("/latest.json", json!({"version": "2.0.0", "platforms": {}}).to_string());
    assert!(told(&site).await.contains("not available for this platform (darwin-aarch64)"));
    site.tells("1.3.0", FILE, &Signer::of(1).sign(b"new", FILE));
    let error = site.gets(home.path()).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot fetch the new version"), "{error}");
}

#[test]
fn a_source_without_encryption_or_key_is_none() {
    let key = Signer::of(1).public();
    for (address, key) in
        [("http://example.com/l", key.as_str()), ("no", &key), ("https://example.com/l", "key")]
    {
        assert!(UpdateSource::new(address, key).is_err(), "{address} {key}");
    }
}

/// A bundle of this version.
#[cfg(unix)]
fn bundle(at: &Path, version: &str) {
    let program = at.join("Contents/MacOS/satchel-app");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(program, version).unwrap();
}

#[cfg(unix)]
fn says(bundle: &Path) -> String {
    fs::read_to_string(bundle.join("Contents/MacOS/satchel-app")).unwrap()
}

/// An archive with a bundle of 1.3.0.
#[cfg(unix)]
fn archive(home: &Path) -> Vec<u8> {
    bundle(&home.join("made/Satchel.app"), "1.3.0");
    let file = home.join("made.tar.gz");
    let mut tar = std::process::Command::new("tar");
    tar.arg("-czf").arg(&file).arg("-C").arg(home.join("made")).arg("Satchel.app");
    assert!(tar.status().unwrap().success());
    fs::read(file).unwrap()
}

#[cfg(unix)] // tar
#[tokio::test]
async fn a_bundle_is_exchanged_tried_and_put_back() {
    let (home, site) = (tempfile::tempdir().unwrap(), Site::new());
    let (dir, place) = (home.path().join("updates"), home.path().join("Applications/Satchel.app"));
    bundle(&place, "1.2.3");
    let bytes = archive(home.path());
    site.offers(&bytes, &Signer::of(1).sign(&bytes, FILE));
    let ready = site.gets(&dir).await.unwrap().unwrap();
    let next = place::install(&place, Platform::MacOs, &ready, &dir, true).await.unwrap();
    let program = place.join("Contents/MacOS/satchel-app");
    assert_eq!(next, Some(Successor { program: program.clone(), arguments: vec![] }));
    assert_eq!(says(&place), "1.3.0");
    for _ in 0..3 {
        assert_eq!(trial::begin(&dir, &ready.version), trial::Start::Tried);
    }
    let trial::Start::GoBack(kept) = trial::begin(&dir, &ready.version) else { panic!("it never served") };
    place::go_back(&place, Platform::MacOs, &program, &kept).unwrap();
    assert_eq!(says(&place), "1.2.3");
    assert!(site.gets(&dir).await.unwrap().is_none(), "it is not offered again");
    let left: Vec<_> =
        fs::read_dir(place.parent().unwrap()).unwrap().flatten().map(|one| one.file_name()).collect();
    assert_eq!(left, ["Satchel.app"]);
}

#[cfg(unix)] // tar
#[tokio::test]
async fn an_archive_without_a_bundle_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let (dir, place) = (home.path().join("updates"), home.path().join("Satchel.app"));
    bundle(&place, "1.2.3");
    let file = home.path().join("broken");
    let ready = Ready { version: Version::new(1, 3, 0), notes: String::new(), file: file.clone() };
    fs::write(&file, "no archive").unwrap();
    place::install(&place, Platform::MacOs, &ready, &dir, true).await.unwrap_err();
    assert_eq!(says(&place), "1.2.3");
    assert_eq!(trial::begin(&dir, &ready.version), trial::Start::Usual, "nothing is tried");
}

#[tokio::test]
async fn on_windows_the_installer_runs_and_what_it_replaced_can_be_put_back() {
    let home = tempfile::tempdir().unwrap();
    let (dir, place) = (home.path().join("updates"), home.path().join("Satchel"));
    fs::create_dir(&place).unwrap();
    for name in ["satchel-app.exe", "satchel.exe"] {
        fs::write(place.join(name), "1.2.3").unwrap();
    }
    fs::write(place.join("satchel-old-1.exe"), "older").unwrap();
    let file = home.path().join("Satchel_1.3.0_x64-setup.exe");
    let ready = Ready { version: Version::new(1, 3, 0), notes: String::new(), file: file.clone() };
    let install = |again| place::install(&place, Platform::Windows, &ready, &dir, again);
    assert_eq!(
        install(false).await.unwrap(),
        Some(Successor { program: file.clone(), arguments: vec!["/S", "/UPDATE"] })
    );
    let next = install(true).await.unwrap().unwrap();
    assert_eq!(next.arguments, ["/S", "/UPDATE", "/R"]);
    // Simulates the installer.
    fs::write(place.join("satchel-app.exe"), "1.3.0").unwrap();
    let program = place.join("satchel-app.exe");
    place::go_back(&place, Platform::Windows, &program, &dir.join("kept")).unwrap();
    assert_eq!(fs::read_to_string(&program).unwrap(), "1.2.3");
    fs::remove_dir_all(dir.join("kept")).unwrap();
    place::go_back(&place, Platform::Windows, &program, &dir.join("kept")).unwrap_err();
}

#[tokio::test]
async fn packages_are_not_replaced_by_us() {
    let home = tempfile::tempdir().unwrap();
    let ready = Ready { version: OWN, notes: String::new(), file: home.path().join("x") };
    let error = place::install(home.path(), Platform::Linux, &ready, home.path(), true).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
}
