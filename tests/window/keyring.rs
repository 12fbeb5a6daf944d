//! A real keychain on the private desktop: gnome-keyring behind the Secret Service, unlocked for the test.

use std::process::Stdio;

use satchel_tests::eventually;
use tokio::{io::AsyncWriteExt, process::Child};

use crate::desktop::Desktop;

impl Desktop {
    /// Starts the keychain and waits until it answers on the bus.
    pub(crate) async fn start_keyring(&self) -> Child {
        let mut command = self.command("gnome-keyring-daemon");
        command.args(["--unlock", "--foreground", "--components=secrets"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut daemon = command.spawn().expect("gnome-keyring is installed");
        let mut stdin = daemon.stdin.take().expect("its standard input is a pipe");
        // A line break would be part of the password.
        stdin.write_all(b"test-password").await.expect("the keyring reads its password");
        drop(stdin);

        let bus = zbus::connection::Builder::address(self.bus.as_str()).expect("the bus has an address");
        let bus = bus.build().await.expect("the bus can be reached");
        let names = zbus::fdo::DBusProxy::new(&bus).await.expect("the bus answers");
        eventually("the keychain is on the bus", async || {
            let name = "org.freedesktop.secrets".try_into().expect("the name is a name");
            names.name_has_owner(name).await.ok()?.then_some(())
        })
        .await;
        daemon
    }

    /// Everything that the independent `secret-tool` finds under these attributes.
    pub(crate) async fn secret_tool(&self, attributes: &[&str]) -> String {
        let mut command = self.command("secret-tool");
        let output = command.args(["search", "--all", "--unlock"]).args(attributes).output().await;
        let output = output.expect("libsecret-tools is installed");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}
