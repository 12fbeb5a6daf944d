//! The kit's programs, in a home of their own and with a keychain of their own.

use satchel_tests::{Home, kit, program, python, target_directory};
use tokio::process::Command;

use crate::conformance;

/// A home, and what the kit wants to know.
pub(crate) struct Kit {
    pub(crate) home: Home,
}

impl Kit {
    pub(crate) fn new() -> Self {
        Self { home: Home::empty() }
    }

    /// The program that plays commands on Satchel, as a command line.
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
            .env("OIDC_PROVIDER", conformance::provider())
            .env("PYTHONPYCACHEPREFIX", target_directory().join("tmp/python"));
        command
    }

    /// Runs one of the kit's programs to its end; what it wrote.
    pub(crate) async fn run(&self, script: &str, arguments: &[&str]) -> String {
        let script = kit(script);
        let words: Vec<&str> = [python(), &script].into_iter().chain(arguments.iter().copied()).collect();
        let output = self.command(&words).output().await.expect("the kit runs");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }
}
