//! The kit's programs, in a home of their own and with a keychain of their own.

use satchel_tests::{Home, kit, program, python};
use tokio::process::Command;

use crate::conformance;

/// A home, and the inputs of the kit.
pub(crate) struct Kit {
    pub(crate) home: Home,
}

impl Kit {
    pub(crate) fn new() -> Self {
        Self { home: Home::empty() }
    }

    /// The command line of the program that drives Satchel.
    pub(crate) fn driver(&self) -> String {
        format!("{} {}", python(), kit("satchel.py"))
    }

    /// A program with the kit's environment, on a session bus with a keychain.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.home.command(kit("keychain.sh"));
        let runtime = self.home.file("runtime");
        std::fs::create_dir_all(&runtime).expect("the home can be written");
        command
            .args(words)
            .env("SATCHEL", program("satchel"))
            .env("XDG_RUNTIME_DIR", runtime)
            .env("OIDC_PROVIDER", conformance::provider());
        command
    }

    /// Runs one of the kit's programs and returns its output.
    pub(crate) async fn run(&self, script: &str, arguments: &[&str]) -> String {
        let script = kit(script);
        let words: Vec<&str> = [python(), &script].into_iter().chain(arguments.iter().copied()).collect();
        let output = self.command(&words).output().await.expect("the kit runs");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }
}
