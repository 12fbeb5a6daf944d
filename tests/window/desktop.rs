//! A private desktop: its own session bus, display, and home. Nothing leaks to or from the machine's own session,
//! so tests run side by side.

use std::{path::Path, process::Stdio, sync::Mutex};

use satchel_tests::Home;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};
use x11rb::{
    connection::Connection as _,
    protocol::xproto::{ClientMessageEvent, ConnectionExt as _, EventMask},
};

/// A bus that starts nothing by itself: only what the test starts exists.
const BUS: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;

/// No animations: no blinking caret, no transitions.
const GTK: &str = "[Settings]\ngtk-cursor-blink=0\ngtk-enable-animations=0\n";

/// The desktop of one test.
pub(crate) struct Desktop {
    /// Configuration, data and everything else of this desktop.
    pub(crate) home: Home,
    /// The address of the session bus.
    pub(crate) bus: String,
    display: String,
    _services: Vec<Child>,
    others: Mutex<Vec<Child>>,
}

impl Desktop {
    /// A desktop on which Satchel has never run.
    pub(crate) async fn new() -> Self {
        Self::around(Home::empty()).await
    }

    /// A desktop whose Satchel has these servers.
    pub(crate) async fn with_servers(servers: Value) -> Self {
        Self::around(Home::with_servers(servers)).await
    }

    /// A desktop for an existing home.
    pub(crate) async fn around(home: Home) -> Self {
        for directory in ["run", ".config/gtk-3.0", ".local/share", ".cache"] {
            std::fs::create_dir_all(home.file(directory)).expect("the home can be written to");
        }
        std::fs::write(home.file(".config/gtk-3.0/settings.ini"), GTK).expect("the home can be written to");
        std::fs::write(home.file("bus.xml"), BUS).expect("the home can be written to");

        let mut bus = lasting(home.command("setpriv"), "dbus-daemon");
        bus.arg(format!("--config-file={}", home.file("bus.xml").display()));
        bus.args(["--nofork", "--nopidfile", "--print-address=1"]);
        let (bus, address) = first_line(bus).await;

        // -displayfd lets Xvfb choose a free number. Without -noreset it restarts whenever the last program has left,
        // and takes down those that are just connecting.
        let mut display = lasting(home.command("setpriv"), "Xvfb");
        display.args(["-displayfd", "1", "-screen", "0", "1280x860x24", "-nolisten", "tcp", "-noreset"]);
        let (xvfb, number) = first_line(display).await;
        Self {
            home,
            bus: address,
            display: format!(":{number}"),
            _services: vec![bus, xvfb],
            others: Mutex::default(),
        }
    }

    /// A command on this desktop.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = self.home.command(program);
        command
            .env("DISPLAY", &self.display)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus)
            .env("XDG_RUNTIME_DIR", self.home.file("run"))
            .env("XDG_CONFIG_HOME", self.home.file(".config"))
            .env("XDG_DATA_HOME", self.home.file(".local/share"))
            .env("XDG_CACHE_HOME", self.home.file(".cache"))
            // The test's own programs come before the machine's.
            .env("PATH", self.path())
            // A login shell begins with the machine's.
            .env_remove("SHELL")
            .env_remove("XDG_CURRENT_DESKTOP")
            .env_remove("DESKTOP_STARTUP_ID")
            .env("GDK_BACKEND", "x11")
            .env("NO_AT_BRIDGE", "1")
            // There is no GPU here: with CPU painting, frames do not lag seconds behind.
            .env("WEBKIT_SKIA_ENABLE_CPU_RENDERING", "1");
        command
    }

    fn path(&self) -> std::ffi::OsString {
        let of_machine = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(self.home.file("bin")).chain(std::env::split_paths(&of_machine));
        std::env::join_paths(all).expect("the home's path has no separator in it")
    }

    /// The names of the visible windows.
    pub(crate) async fn windows(&self) -> Vec<String> {
        let found = self.xdotool(&["search", "--onlyvisible", "--name", "."]).await;
        let mut names = Vec::new();
        for id in found.split_whitespace() {
            names.push(self.xdotool(&["getwindowname", id]).await.trim().to_owned());
        }
        names
    }

    /// Is Satchel's window visible?
    pub(crate) async fn shows_satchel(&self) -> bool {
        self.windows().await.iter().any(|name| name == "Satchel")
    }

    /// Starts a window manager, without which windows have no close button.
    pub(crate) async fn start_window_manager(&self) -> Child {
        let start = || {
            let mut openbox = self.command("openbox");
            openbox.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("openbox is installed")
        };
        let mut openbox = start();
        satchel_tests::eventually("a window manager runs", async || {
            if openbox.try_wait().expect("a child can be looked at").is_some() {
                openbox = start();
            }
            let root =
                self.command("xprop").args(["-root", "_NET_SUPPORTING_WM_CHECK"]).output().await.ok()?;
            String::from_utf8_lossy(&root.stdout).contains("window id").then_some(())
        })
        .await;
        openbox
    }

    /// Closes Satchel's window through the window manager, like a click on its close button. Sends no key, since keys
    /// go to whatever has the focus.
    pub(crate) async fn close_satchel(&self) {
        let found = self.xdotool(&["search", "--sync", "--onlyvisible", "--name", "^Satchel$"]).await;
        let window = found.split_whitespace().next().and_then(|id| id.parse().ok());
        let window: u32 = window.unwrap_or_else(|| panic!("no window of Satchel: {found:?}"));
        let (display, screen) = x11rb::connect(Some(&self.display)).expect("the display is there");
        let root = display.setup().roots[screen].root;
        let close = display.intern_atom(false, b"_NET_CLOSE_WINDOW").expect("the display listens");
        let close = close.reply().expect("the display knows names").atom;
        let asked = ClientMessageEvent::new(32, window, close, [0, 2, 0, 0, 0]);
        let managers = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
        let sent = display.send_event(false, root, managers, asked).expect("the display listens");
        sent.check().expect("the window manager is asked");
    }

    /// Resizes Satchel's window, in pixels.
    pub(crate) async fn resize_satchel(&self, width: u32, height: u32) {
        let (width, height) = (width.to_string(), height.to_string());
        let found = ["search", "--sync", "--onlyvisible", "--name", "^Satchel$"];
        self.xdotool(&[&found[..], &["windowsize", "--sync", &width, &height]].concat()).await;
    }

    /// The size of Satchel's window, in pixels.
    pub(crate) async fn size_of_satchel(&self) -> (u32, u32) {
        let found = ["search", "--onlyvisible", "--name", "^Satchel$"];
        let said = self.xdotool(&[&found[..], &["getwindowgeometry", "--shell"]].concat()).await;
        let number = |name: &str| {
            said.lines().find_map(|line| line.strip_prefix(name)?.parse().ok()).unwrap_or_default()
        };
        (number("WIDTH="), number("HEIGHT="))
    }

    /// Opens a window of another program, and returns its id in the window manager.
    pub(crate) async fn somebodys_window(&self, name: &str) -> String {
        let mut other = lasting(self.command("setpriv"), "xev");
        other.args(["-name", name]).stdout(Stdio::null());
        self.others.lock().expect("no holder panics").push(other.spawn().expect("x11-utils are installed"));
        let pattern = format!("^{name}$");
        let mut tried = 0;
        satchel_tests::eventually("somebody types in another window", async || {
            self.xdotool(&["search", "--onlyvisible", "--name", &pattern, "windowactivate"]).await;
            let active = self.active_window().await;
            if self.name_of(&active).await == name {
                return Some(active);
            }
            tried += 1;
            // A window that appeared while the window manager was starting stays unmanaged until it is mapped again.
            if tried % 20 == 0 {
                self.xdotool(&["search", "--name", &pattern, "windowunmap"]).await;
                self.xdotool(&["search", "--name", &pattern, "windowmap"]).await;
            }
            None
        })
        .await
    }

    /// The window that has the keyboard.
    pub(crate) async fn active_window(&self) -> String {
        self.xdotool(&["getactivewindow"]).await.trim().to_owned()
    }

    /// Gives the keyboard to a window.
    pub(crate) async fn activate(&self, window: &str) {
        self.xdotool(&["windowactivate", "--sync", window]).await;
    }

    /// The name of a window.
    pub(crate) async fn name_of(&self, window: &str) -> String {
        self.xdotool(&["getwindowname", window]).await.trim().to_owned()
    }

    /// Is the window with this name above all others?
    pub(crate) async fn is_above(&self, name: &str) -> bool {
        let found = self.xdotool(&["search", "--onlyvisible", "--name", &format!("^{name}$")]).await;
        let id = found.split_whitespace().next().unwrap_or_default().to_owned();
        let output = self.command("xprop").args(["-id", &id, "_NET_WM_STATE"]).output().await;
        let output = output.expect("x11-utils are installed");
        String::from_utf8_lossy(&output.stdout).contains("_NET_WM_STATE_ABOVE")
    }

    async fn xdotool(&self, arguments: &[&str]) -> String {
        let output = self.command("xdotool").args(arguments).output().await.expect("xdotool is installed");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// A service that ends with the test, even if the test is killed: `setpriv` asks the kernel for that.
pub(crate) fn lasting(mut setpriv: Command, program: &str) -> Command {
    setpriv.args(["--pdeathsig", "KILL", "--", program]);
    setpriv.stdout(Stdio::piped()).stderr(Stdio::null());
    setpriv
}

async fn first_line(mut command: Command) -> (Child, String) {
    let mut child = command.spawn().expect("the desktop's services are installed");
    let stdout = child.stdout.take().expect("its standard output is a pipe");
    let line = BufReader::new(stdout).lines().next_line().await.expect("its standard output can be read");
    let line = line.unwrap_or_else(|| panic!("it ended before it was ready: {command:?}"));
    (child, line.trim().to_owned())
}
