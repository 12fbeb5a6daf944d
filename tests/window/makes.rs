//! Browsers of three makes, as people have them: no driver, a new profile, and nobody but this computer to talk to.

use std::{fs, path::PathBuf};

use satchel_tests::{eventually, process};
use serde_json::{Value, json};
use tokio::process::Child;

use crate::{
    careless::{Careless, PAGE},
    desktop::{Desktop, lasting},
};

/// How to start a browser.
pub(crate) struct Make {
    pub(crate) name: &'static str,
    /// The program's names on different systems; `ARCH` stands for the machine's architecture.
    programs: &'static [&'static str],
    /// `PROFILE` stands for a new directory.
    arguments: &'static [&'static str],
    /// The contents of the profile's `user.js`.
    settings: &'static [(&'static str, &'static str)],
}

/// Part of `webkit2gtk-driver`. It contacts nobody by itself.
pub(crate) const WEBKIT: Make = Make {
    name: "WebKit",
    programs: &[
        "/usr/lib/ARCH-linux-gnu/webkit2gtk-4.1/MiniBrowser",
        "/usr/libexec/webkit2gtk-4.1/MiniBrowser",
        "/usr/lib64/webkit2gtk-4.1/MiniBrowser",
        "/usr/lib/webkit2gtk-4.1/MiniBrowser",
    ],
    arguments: &[],
    settings: &[],
};

pub(crate) const CHROMIUM: Make = Make {
    name: "Chromium",
    programs: &["chromium", "chromium-browser"],
    arguments: &[
        "--headless",
        // Its own sandbox does not work as root or in most containers. The pages are ours.
        "--no-sandbox",
        "--user-data-dir=PROFILE",
        "--disable-background-networking",
        "--disable-breakpad",
        "--disable-component-update",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--disable-quic",
        "--disable-sync",
        "--no-first-run",
        "--no-proxy-server",
        "--password-store=basic",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.0.0.1",
    ],
    settings: &[],
};

pub(crate) const FIREFOX: Make = Make {
    name: "Firefox",
    programs: &["firefox-esr", "firefox"],
    arguments: &["--headless", "--no-remote", "--profile", "PROFILE"],
    settings: &[
        // It still resolves this computer's names.
        ("network.dns.disabled", "true"),
        ("network.proxy.type", "0"),
        ("network.captive-portal-service.enabled", "false"),
        ("network.connectivity-service.enabled", "false"),
        ("app.normandy.enabled", "false"),
        ("app.update.disabledForTesting", "true"),
        ("browser.aboutwelcome.enabled", "false"),
        ("browser.safebrowsing.malware.enabled", "false"),
        ("browser.safebrowsing.phishing.enabled", "false"),
        ("browser.shell.checkDefaultBrowser", "false"),
        ("browser.startup.homepage_override.mstone", "\"ignore\""),
        ("datareporting.healthreport.uploadEnabled", "false"),
        ("datareporting.policy.dataSubmissionEnabled", "false"),
        ("datareporting.policy.dataSubmissionPolicyBypassNotification", "true"),
        ("dom.push.connection.enabled", "false"),
        ("extensions.getAddons.cache.enabled", "false"),
        ("extensions.update.enabled", "false"),
        ("services.settings.server", "\"data:,\""),
        ("termsofuse.bypassNotification", "true"),
        ("toolkit.telemetry.server", "\"\""),
    ],
};

/// A browser with one page, which follows its server's orders.
pub(crate) struct Browser {
    stranger: Careless,
    process: Child,
}

impl Make {
    fn program(&self) -> PathBuf {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let names = self.programs.iter().map(|name| name.replace("ARCH", std::env::consts::ARCH));
        // A name that is a full path is used unchanged.
        let mut found = names.flat_map(|name| places.iter().map(move |place| place.join(&name)));
        let found = found.find(|program| program.is_file());
        found.unwrap_or_else(|| panic!("{} is not installed: run through `make test`", self.name))
    }

    /// Opens a page, which must be a [`PAGE`] from a server.
    pub(crate) async fn open(&self, desktop: &Desktop, address: &str) -> Browser {
        let stranger = Careless::start().await;
        let address = ordered_by(&stranger, address);
        self.start(desktop, stranger, &address, &address).await
    }

    /// Opens a page from a file on disk.
    pub(crate) async fn open_file(&self, desktop: &Desktop) -> Browser {
        let stranger = Careless::start().await;
        let file = desktop.home.file("page.html");
        // Not every browser can be started with a file and a fragment.
        let page = format!("<script>location.hash = {}</script>{PAGE}", stranger.port);
        fs::write(&file, page).expect("the home can be written to");
        let address = format!("file://{}", file.display());
        let there = ordered_by(&stranger, &address);
        self.start(desktop, stranger, &address, &there).await
    }

    async fn start(&self, desktop: &Desktop, stranger: Careless, address: &str, there: &str) -> Browser {
        let profile = tempfile::tempdir_in(desktop.home.path()).expect("the home can be written to").keep();
        let settings = self.settings.iter().map(|(name, value)| format!("user_pref(\"{name}\", {value});\n"));
        fs::write(profile.join("user.js"), settings.collect::<String>()).expect("the home can be written to");
        let profile = profile.to_str().expect("temporary paths are UTF-8");
        let program = self.program();
        let program = program.to_str().expect("programs have plain names");
        let mut command = lasting(desktop.command("setpriv"), program);
        command.args(self.arguments.iter().map(|argument| argument.replace("PROFILE", profile)));
        command.arg(address).stdout(desktop.output()).stderr(desktop.output());
        // Temporary files of a killed browser are deleted with the home.
        command.env("TMPDIR", desktop.home.path());
        let mut process = command.spawn().expect("setpriv is installed");
        eventually(&format!("{} is at {there}", self.name), async || {
            let ended = process.try_wait().expect("a child can be looked at");
            assert!(ended.is_none(), "{} ended: {}", self.name, desktop.said());
            stranger.has_page_at(there).then_some(())
        })
        .await;
        Browser { stranger, process }
    }
}

impl Browser {
    /// Navigates to another page, which must be a [`PAGE`].
    pub(crate) async fn go(&self, address: &str) {
        let address = ordered_by(&self.stranger, address);
        self.stranger.order(json!({ "go": address }));
        let arrived = async || self.stranger.has_page_at(&address).then_some(());
        eventually(&format!("the browser is at {address}"), arrived).await;
    }

    /// Runs a page's whole attack on an address.
    pub(crate) async fn attack(&self, base: &str, tokens: &[&str]) -> Value {
        self.stranger.order(json!({ "attack": [base, tokens] }));
        eventually(&format!("{base} was attacked"), async || self.stranger.found()).await
    }

    /// Ends it with every process it started.
    pub(crate) async fn close(mut self) {
        let others = process::descendants(self.process.id().expect("it was not waited for"));
        self.process.kill().await.expect("a child can be killed");
        for other in &others {
            process::signal(other.pid, process::Signal::KILL);
        }
        eventually("the browser has ended", async || {
            others.iter().all(|other| !process::is_alive(other.pid)).then_some(())
        })
        .await;
    }
}

/// The address of a page that asks this server for orders.
fn ordered_by(stranger: &Careless, address: &str) -> String {
    format!("{address}#{}", stranger.port)
}
